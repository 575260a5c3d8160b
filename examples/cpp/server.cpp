// An inference server's streaming endpoint, with cpp-httplib: POST /v1/chat/completions answers with an event stream of
// `reasoning_content`, `content` and `tool_calls` deltas. There is no real model: the answer repeats the last message, in tokens of 4
// bytes. The request's `model` names the dialect.
//
//     server [PORT]                  on 127.0.0.1; 0 takes a free port, which is printed
//     curl -N localhost:8080/v1/chat/completions -d \
//         '{"model": "qwen3", "messages": [{"role": "user", "content": "<think>hm</think>Yes."}]}'
#include "deltas.hpp"

#include <httplib.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>

namespace {

/// A running request. Only the thread that serves it uses it.
struct Stream {
    Deltas deltas;
    std::string output;
    std::size_t said = 0;

    /// Appends the deltas that can be sent after the next token. Returns false after the last token.
    bool step(std::string &out)
    {
        if (said == 0)
            deltas.begin(out);
        const std::string_view token = std::string_view(output).substr(said, 4);
        deltas.feed(token, out);
        said += token.size();
        if (said < output.size())
            return true;
        deltas.finish(out);
        return false;
    }
};

void refuse(httplib::Response &response, int status, const std::string &message)
{
    const nlohmann::json error = {{"error", {{"message", message}}}};
    response.status = status;
    response.set_content(error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "application/json");
}

void complete(const httplib::Request &request, httplib::Response &response)
{
    static std::atomic<unsigned long> count{0};
    std::string model, output, tools;
    try {
        const nlohmann::json body = nlohmann::json::parse(request.body);
        model = body.at("model");
        output = body.at("messages").at(body.at("messages").size() - 1).at("content");
        tools = body.value("tools", nlohmann::json::array()).dump();
    } catch (const nlohmann::json::exception &error) {
        return refuse(response, 400, error.what());
    }
    const aside::Dialect dialect = aside::Dialect::try_find(model);
    if (!dialect)
        return refuse(response, 404, aside::last_error());
    const std::string id = "chatcmpl-" + std::to_string(++count);
    std::shared_ptr<Stream> stream;
    try {
        stream = std::make_shared<Stream>(Stream{Deltas(dialect, tools, id, model), std::move(output)});
    } catch (const aside::Error &error) {
        return refuse(response, 400, error.what());
    }
    response.set_chunked_content_provider("text/event-stream", [stream](std::size_t, httplib::DataSink &sink) {
        try {
            std::string out;
            const bool has_more = stream->step(out);
            // If the token may belong to a marker, nothing is sent yet.
            if (!out.empty() && !sink.write(out.data(), out.size()))
                return false; // the client has disconnected
            if (!has_more)
                sink.done();
            return true;
        } catch (const std::exception &) {
            return false; // ends only this connection and its stream
        }
    });
}

} // namespace

int main(int argc, char **argv)
{
    const char *const named = argc > 1 ? argv[1] : "8080";
    char *end = nullptr;
    const long number = std::strtol(named, &end, 10);
    if (end == named || *end != '\0' || number < 0 || number > 65535) {
        std::cerr << "usage: server [PORT]\n";
        return 2;
    }
    int port = static_cast<int>(number);

    httplib::Server server;
    // httplib serves each connection in a separate thread, so this is the largest number of streams at once.
    server.new_task_queue = [] { return new httplib::ThreadPool(128); };
    server.set_keep_alive_max_count(1);
    // httplib keeps a whole request in memory, which would otherwise have no limit.
    server.set_payload_max_length(8 << 20);
    socket_t listening = INVALID_SOCKET;
    server.set_socket_options([&](socket_t socket) {
        httplib::default_socket_options(socket);
        listening = socket;
    });
    server.Post("/v1/chat/completions", complete);

    const bool is_bound = port == 0 ? (port = server.bind_to_any_port("127.0.0.1")) > 0
                                    : server.bind_to_port("127.0.0.1", port);
    // httplib lets only 5 connections wait to be accepted. If many clients connect at once, the others would try again only seconds
    // later.
    if (!is_bound || listen(listening, 128) != 0) {
        std::cerr << "server: cannot listen on port " << port << '\n';
        return 1;
    }
    std::cout << "listening on 127.0.0.1:" << port << std::endl;
    return server.listen_after_bind() ? 0 : 1;
}
