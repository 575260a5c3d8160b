// One request of an inference server: tokens of the model in, an OpenAI-style event stream out. The model's thinking goes
// into `reasoning_content`, everything else into `content`; a host with a parser for tool calls would give it Channel::tool.
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

    /// Appends the text before the first token.
    void begin(std::string &out) const { append(out, {{"role", "assistant"}}); }

    /// Appends the deltas that the token decides: often one, none while it may belong to a marker. A token may end anywhere,
    /// in the midst of a marker or a character too.
    void feed(std::string_view token, std::string &out)
    {
        scanner_.feed(token, [&](const aside::Event &event) { hear(event, out); });
    }

    /// Appends the text that was still held back, and the end of the stream.
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
        // An event never cuts a character. Bytes that are not characters cannot be in JSON: they are replaced.
        out += "data: " + chunk.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n\n";
    }

    aside::Scanner scanner_;
    std::string id_, model_;
};

#endif
