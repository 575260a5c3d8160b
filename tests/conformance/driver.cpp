// The driver of C++: README.md says what it reads and writes.
#include <aside.hpp>

#include <array>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>

namespace {

std::string bytes_of(const std::string &hex)
{
    std::string bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
        bytes += static_cast<char>(std::stoul(hex.substr(at, 2), nullptr, 16));
    return bytes;
}

std::string hex_of(std::string_view bytes)
{
    static const char digits[] = "0123456789abcdef";
    std::string hex;
    for (const char byte : bytes) {
        hex += digits[static_cast<unsigned char>(byte) >> 4];
        hex += digits[static_cast<unsigned char>(byte) & 15];
    }
    return hex.empty() ? "-" : hex;
}

aside::Start start_of(const std::string &name)
{
    static const std::map<std::string, aside::Start> starts = {
        {"-", aside::Start::dialect},           {"content", aside::Start::content}, {"thinking", aside::Start::thinking},
        {"narration", aside::Start::narration}, {"tool", aside::Start::tool},       {"header", aside::Start::header}};
    return starts.at(name);
}

using Chunks = std::vector<std::string>;

std::string scan(const aside::Dialect &dialect, aside::Start start, const Chunks &chunks)
{
    aside::ScannerOptions options;
    options.start = start;
    aside::Scanner scanner(dialect, options);
    std::array<std::string, 4> texts;
    const auto take = [&](const aside::Event &event) {
        std::string &to = texts.at(static_cast<std::size_t>(event.channel));
        if (event.kind == aside::Kind::text)
            to += event.bytes;
        if (event.kind == aside::Kind::reclassify) {
            const bool is_thinking = event.channel == aside::Channel::thinking;
            std::string &from = texts.at(
                static_cast<std::size_t>(is_thinking ? aside::Channel::content : aside::Channel::thinking));
            to += from;
            from.clear();
        }
    };
    for (const std::string &chunk : chunks)
        scanner.feed(chunk, take);
    scanner.finish(take);
    return hex_of(texts[0]) + ' ' + hex_of(texts[1]) + ' ' + hex_of(texts[2]) + ' ' + hex_of(texts[3]);
}

std::string read(const aside::Dialect &dialect, aside::Start start, const std::string &tools, const Chunks &chunks)
{
    const std::string json = bytes_of(tools);
    aside::AnswerOptions options;
    options.start = start;
    if (tools != "-")
        options.tools = json;
    aside::Answer answer(dialect, options);
    std::string thinking, content, calls, arguments;
    const auto take = [&](const aside::Parts &parts) {
        for (const aside::Part &part : parts) {
            switch (part.kind) {
            case aside::PartKind::thinking: thinking += part.text; break;
            case aside::PartKind::content: content += part.text; break;
            case aside::PartKind::call:
                calls += ' ' + hex_of(part.name) + ' ';
                arguments.clear();
                break;
            case aside::PartKind::arguments: arguments += part.text; break;
            case aside::PartKind::call_end: calls += hex_of(arguments) + (part.is_whole ? " 1" : " 0"); break;
            default: break;
            }
        }
    };
    for (const std::string &chunk : chunks)
        take(answer.feed(chunk));
    take(answer.finish());
    return hex_of(thinking) + ' ' + hex_of(content) + calls;
}

std::string rewrite(const aside::Dialect &dialect, aside::Start start, const Chunks &chunks)
{
    aside::RewriterOptions options;
    options.start = start;
    aside::Rewriter rewriter(dialect, options);
    std::string out;
    for (const std::string &chunk : chunks)
        out += rewriter.feed(chunk);
    out += rewriter.finish();
    return hex_of(out);
}

// Returns the error of a method of a moved-from object. Another failure with another message precedes it.
std::string gone(const aside::Dialect &dialect)
{
    aside::Scanner scanner(dialect);
    const aside::Scanner other = std::move(scanner);
    (void)aside::Dialect::try_find("nobody");
    try {
        scanner.feed("a", [](const aside::Event &) {});
    } catch (const aside::Error &error) {
        const char *name = error.status() == aside::Status::null ? "Error with Status::null" : "Error";
        return hex_of(name) + ' ' + hex_of(error.what());
    }
    return "";
}

std::string answer(std::istringstream fields)
{
    std::string what, name, start, tools, chunk;
    Chunks chunks;
    fields >> what >> name >> start;
    if (what == "answer")
        fields >> tools;
    while (fields >> chunk)
        chunks.push_back(bytes_of(chunk));
    const aside::Dialect dialect = aside::Dialect::find(name);
    if (what == "gone")
        return gone(dialect);
    if (what == "answer")
        return read(dialect, start_of(start), tools, chunks);
    return what == "scan" ? scan(dialect, start_of(start), chunks) : rewrite(dialect, start_of(start), chunks);
}

} // namespace

int main()
{
    for (std::string line; std::getline(std::cin, line);) {
        try {
            std::cout << answer(std::istringstream(line)) << std::endl;
        } catch (const std::exception &error) {
            std::cout << "! " << error.what() << std::endl;
        }
    }
}
