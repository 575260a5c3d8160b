// The tool loop of an agent: runs each command that the model asks for, shortens its output while it is printed, and returns it to
// the model. There is no real model: the arguments are the commands that it asks for, in order.
//
//     tool_loop "ls -lR /usr/lib" "make -C somewhere"
//
// The budget holds for any output, and the memory is bounded too: a command's whole output is never kept in memory.
#include <aside_compress.hpp>
#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

constexpr std::size_t budget = 2'000; // the maximum size of a result in bytes
constexpr std::size_t memory = 1 << 20;

// Runs a command, and returns the text for the model.
std::string run(const aside::Compressor &compressor, const std::string &command)
{
    const auto replace = nlohmann::json::error_handler_t::replace;
    const std::string input = nlohmann::json{{"command", command}}.dump(-1, ' ', false, replace);
    aside::ToolStream stream(compressor, {"bash", input}, memory);

    // Reads both streams together, as a terminal shows them.
    std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(("{ " + command + "\n} 2>&1").c_str(), "r"), pclose);
    if (!pipe)
        throw std::runtime_error("cannot run " + command);
    std::string text;
    char chunk[4096];
    while (const std::size_t len = std::fread(chunk, 1, sizeof chunk, pipe.get()))
        text += stream.feed({chunk, len});
    const int status = pclose(pipe.release());

    aside::Compressed compressed;
    text += stream.finish(compressed);
    const aside::Report report = compressed.report();
    for (const aside::Failed &failed : report.failed)
        std::cerr << failed.id << " was skipped: " << failed.reason << '\n';
    if (!text.empty() && text.back() != '\n')
        text += '\n';
    const std::string ending = WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status)) : "killed by a signal";
    return text + '(' + ending + ", " + std::to_string(report.after) + " of " + std::to_string(report.before) + " bytes)\n";
}

} // namespace

int main(int argc, char **argv)
try {
    aside::CompressorOptions options;
    options.budget = budget;
    const aside::Compressor compressor(aside::Registry(), options);
    for (int at = 1; at < argc; at++)
        std::cout << "$ " << argv[at] << '\n' << run(compressor, argv[at]);
    return std::cout.flush() ? 0 : 1;
} catch (const std::exception &error) {
    std::cerr << "tool_loop: " << error.what() << '\n';
    return 1;
}
