// One request of an inference server: turns the model's tokens into an OpenAI-style event stream. The thinking is sent in
// `reasoning_content`, the answer in `content`, and calls of the request's tools in `tool_calls`.
#ifndef DELTAS_HPP
#define DELTAS_HPP

#include <aside.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>

class Deltas {
public:
    /// `tools` is the request's list, as JSON; with `[]`, calls are content.
    Deltas(const aside::Dialect &dialect, std::string_view tools, std::string id, std::string model)
        : answer_(dialect, options(tools)), id_(std::move(id)), model_(std::move(model))
    {}

    /// Appends the events before the first token.
    void begin(std::string &out) const { append(out, {{"role", "assistant"}}); }

    /// Appends the deltas that can be sent after this token: often one, and none while the text may belong to a marker. A token may
    /// end anywhere, even inside a marker or a character.
    void feed(std::string_view token, std::string &out) { append(out, answer_.feed(token)); }

    /// Appends the held text, and the end of the stream.
    void finish(std::string &out)
    {
        append(out, answer_.finish(aside::EndReason::ended));
        append(out, nlohmann::json::object(), has_call_ ? "tool_calls" : "stop");
        out += "data: [DONE]\n\n";
    }

private:
    static aside::AnswerOptions options(std::string_view tools)
    {
        aside::AnswerOptions options;
        options.tools = tools;
        return options;
    }

    void append(std::string &out, const aside::Parts &parts)
    {
        for (const aside::Part &part : parts) {
            switch (part.kind) {
            case aside::PartKind::thinking: append(out, {{"reasoning_content", part.text}}); break;
            case aside::PartKind::content: append(out, {{"content", part.text}}); break;
            case aside::PartKind::call:
                append_call(out, {{"index", part.index},
                                  {"id", part.id},
                                  {"type", "function"},
                                  {"function", {{"name", part.name}, {"arguments", ""}}}});
                break;
            case aside::PartKind::arguments:
                append_call(out, {{"index", part.index}, {"function", {{"arguments", part.text}}}});
                break;
            case aside::PartKind::call_end: has_call_ |= part.is_whole; break;
            default: break;
            }
        }
    }

    void append_call(std::string &out, nlohmann::json call) const
    {
        append(out, {{"tool_calls", nlohmann::json::array({std::move(call)})}});
    }

    void append(std::string &out, nlohmann::json delta, nlohmann::json finish_reason = nullptr) const
    {
        const nlohmann::ordered_json chunk = {
            {"id", id_},
            {"object", "chat.completion.chunk"},
            {"model", model_},
            {"choices", {{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish_reason)}}}},
        };
        // A part never cuts a character. JSON cannot contain bytes that are not valid UTF-8, so they are replaced.
        out += "data: " + chunk.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n\n";
    }

    aside::Answer answer_;
    bool has_call_ = false;
    std::string id_, model_;
};

#endif
