// Handles several requests at once, like an inference server: the model's tokens for the requests arrive alternately, and each
// request has its own answer.
//
//     streams DIALECT FILE...        each file is what the model says to one request
//     streams qwen3 examples/recordings/qwen3.txt examples/recordings/qwen3-tool.txt
#include "deltas.hpp"

#include <deque>
#include <fstream>
#include <iostream>
#include <iterator>

namespace {

struct Request {
    Deltas deltas;
    std::string output; // the model's whole output
    std::size_t said = 0;
};

} // namespace

int main(int argc, char **argv)
try {
    if (argc < 3) {
        std::cerr << "usage: streams DIALECT FILE...\n";
        return 2;
    }
    const aside::Dialect dialect = aside::Dialect::find(argv[1]);
    std::deque<Request> batch;
    std::string out;
    for (int at = 2; at < argc; at++) {
        std::ifstream file(argv[at], std::ios::binary);
        if (!file)
            throw std::runtime_error(std::string("cannot read ") + argv[at]);
        std::string output{std::istreambuf_iterator<char>(file), {}};
        batch.push_back({Deltas(dialect, "[]", "chatcmpl-" + std::to_string(at - 1), argv[1]), std::move(output)});
        batch.back().deltas.begin(out);
    }
    // Feeds the next token of every request that has not ended.
    for (bool is_busy = true; is_busy;) {
        is_busy = false;
        for (Request &request : batch) {
            if (request.said == std::string::npos)
                continue;
            const std::string_view token = std::string_view(request.output).substr(request.said, 4);
            request.deltas.feed(token, out);
            request.said += token.size();
            if (request.said == request.output.size()) {
                request.deltas.finish(out);
                request.said = std::string::npos;
            }
            is_busy = true;
        }
        std::cout << out;
        out.clear();
    }
    return std::cout.flush() ? 0 : 1;
} catch (const std::exception &error) {
    std::cerr << "streams: " << error.what() << '\n';
    return 1;
}
