// One request of an inference server: turns the model's tokens into an OpenAI-style event stream. The thinking is sent in
// `reasoning_content`, and everything else in `content`. A host with a parser for tool calls would pass the text of Channel::tool
// to it.
#ifndef DELTAS_HPP
#define DELTAS_HPP

#include <aside.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>

class Deltas {
public:
    Deltas(const aside::Dialect &dialect, std::string id, std::string model)
        : scanner_(dialect), id_(std::move(id)), model_(std::move(model))
    {}

    /// Appends the events before the first token.
    void begin(std::string &out) const { append(out, {{"role", "assistant"}}); }

    /// Appends the deltas that can be sent after this token: often one, and none while the text may belong to a marker. A token may
    /// end anywhere, even inside a marker or a character.
    void feed(std::string_view token, std::string &out)
    {
        scanner_.feed(token, [&](const aside::Event &event) { hear(event, out); });
    }

    /// Appends the held text, and the end of the stream.
    void finish(std::string &out)
    {
        scanner_.finish([&](const aside::Event &event) { hear(event, out); });
        append(out, nlohmann::json::object(), "stop");
        out += "data: [DONE]\n\n";
    }

private:
    void hear(const aside::Event &event, std::string &out) const
    {
        if (event.kind == aside::Kind::text)
            append(out, {{event.channel == aside::Channel::thinking ? "reasoning_content" : "content", event.bytes}});
    }

    void append(std::string &out, nlohmann::json delta, nlohmann::json finish_reason = nullptr) const
    {
        const nlohmann::ordered_json chunk = {
            {"id", id_},
            {"object", "chat.completion.chunk"},
            {"model", model_},
            {"choices", {{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish_reason)}}}},
        };
        // An event never cuts a character. JSON cannot contain bytes that are not valid UTF-8, so they are replaced.
        out += "data: " + chunk.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n\n";
    }

    aside::Scanner scanner_;
    std::string id_, model_;
};

#endif
