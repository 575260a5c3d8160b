// Runs the project's vectors (tests/vectors/README.md) through aside.hpp: cut as they say, byte by byte, and at every split into
// two, with a callable and in a loop. ASIDE_VECTORS names another folder of vectors.
#include "heard.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

using aside::Channel;
using nlohmann::json;

namespace {

struct Said {
    std::string text;
    std::optional<std::string> type;
    std::optional<double> confidence;
};

std::string from_base64(const std::string &text)
{
    static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char digit : text) {
        if (digit == '=')
            break;
        const std::size_t value = digits.find(digit);
        if (value == std::string::npos)
            throw std::runtime_error("not base64: " + text);
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count & 0xff);
        }
    }
    return bytes;
}

aside::Start start_of(const json &fields)
{
    const std::string start = fields.value("start", "dialect");
    if (start == "dialect")
        return aside::Start::dialect;
    if (start == "content")
        return aside::Start::content;
    if (start == "thinking")
        return aside::Start::thinking;
    if (start == "narration")
        return aside::Start::narration;
    if (start == "tool")
        return aside::Start::tool;
    if (start == "header")
        return aside::Start::header;
    throw std::runtime_error("no such start: " + start);
}

struct Case {
    json fields;
    std::vector<std::string> chunks;
    std::string text;

    explicit Case(const std::string &line) : fields(json::parse(line))
    {
        // A null says nothing.
        for (auto field = fields.begin(); field != fields.end();)
            field = field->is_null() ? fields.erase(field) : std::next(field);
        const bool is_text = fields.contains("chunks");
        for (const json &chunk : fields.at(is_text ? "chunks" : "chunks_b64"))
            chunks.push_back(is_text ? chunk.get<std::string>() : from_base64(chunk.get<std::string>()));
        for (const std::string &chunk : chunks)
            text += chunk;
    }

    /// Returns the expectations of the case that the stream does not meet; empty if it meets them all.
    std::string judge(const Stream &stream, const std::vector<Said> &thoughts) const
    {
        for (const Channel channel : {Channel::content, Channel::thinking, Channel::narration, Channel::tool}) {
            const std::string key(aside::name(channel));
            if (fields.contains(key) && fields[key].get<std::string>() != stream.text(channel))
                return key;
            if (fields.contains(key + "_b64") && from_base64(fields[key + "_b64"]) != stream.text(channel))
                return key;
        }
        json attributes = json::array(), causes = json::array();
        for (const Heard &event : stream.events) {
            static const char *const names[] = {"marker", "implied", "end of stream"};
            if (event.kind == aside::Kind::attribute)
                attributes.push_back({event.name, event.value});
            if (event.kind == aside::Kind::close)
                causes.push_back(names[static_cast<int>(event.cause)]);
        }
        if (fields.contains("attributes") && fields["attributes"] != attributes)
            return "attributes";
        if (fields.contains("causes") && fields["causes"] != causes)
            return "causes";
        if (!fields.contains("thoughts"))
            return "";
        const json &wanted = fields["thoughts"];
        const auto is = [](const json &thought, const Said &said) {
            if (thought.is_string())
                return thought.get<std::string>() == said.text;
            return thought.at("thought") == said.text
                   && thought.at("thought_type") == (said.type ? json(*said.type) : json())
                   && thought.at("confidence") == (said.confidence ? json(*said.confidence) : json());
        };
        const bool same = std::equal(wanted.begin(), wanted.end(), thoughts.begin(), thoughts.end(), is);
        return same ? "" : "thoughts";
    }
};

std::vector<Said> take(aside::Scanner &scanner)
{
    std::vector<Said> thoughts;
    while (const std::optional<aside::Thought> thought = scanner.take_thought()) {
        thoughts.push_back({std::string(thought->text), {}, thought->confidence});
        if (thought->type)
            thoughts.back().type = std::string(*thought->type);
    }
    return thoughts;
}

/// Returns the faults of the case; empty if there are none.
std::string check(const Case &of)
{
    aside::ScannerOptions options;
    options.start = start_of(of.fields);
    options.collect = 1 << 26;
    aside::Scanner scanner(aside::Dialect::find(of.fields.at("dialect").get<std::string>()), options);

    const Stream whole = by_callable(scanner, {of.text});
    if (const std::string wrong = of.judge(whole, take(scanner)); !wrong.empty())
        return wrong + ", whole";
    const std::string_view text = of.text;
    std::vector<std::vector<std::string_view>> ways = {{of.chunks.begin(), of.chunks.end()}, {}};
    for (std::size_t at = 0; at < text.size(); at++)
        ways[1].push_back(text.substr(at, 1));
    for (std::size_t at = 0; at <= text.size(); at++)
        ways.push_back({text.substr(0, at), text.substr(at)});
    for (std::size_t way = 0; way < ways.size(); way++)
        for (const bool by_loop : {false, true}) {
            const Stream stream = by_loop ? by_loops(scanner, ways[way]) : by_callable(scanner, ways[way]);
            std::string wrong = of.judge(stream, take(scanner));
            if (wrong.empty() && !(stream == whole))
                wrong = "the events";
            if (!wrong.empty())
                return wrong + ", way " + std::to_string(way) + (by_loop ? " by loop" : " by callable");
        }
    return "";
}

TEST(Vectors, AreRight)
{
    const char *const named = std::getenv("ASIDE_VECTORS");
    int cases = 0;
    for (const auto &file : std::filesystem::directory_iterator(named != nullptr ? named : VECTORS)) {
        if (file.path().extension() != ".jsonl")
            continue;
        std::ifstream lines(file.path());
        int number = 0;
        for (std::string line; std::getline(lines, line);) {
            number++;
            if (line.empty())
                continue;
            cases++;
            EXPECT_EQ(check(Case(line)), "") << file.path().filename() << ", line " << number;
        }
    }
    EXPECT_GT(cases, 0);
}

// Checks that this test program finds a fault if there is one.
TEST(Vectors, ThatAreWrongFail)
{
    EXPECT_EQ(check(Case(R"({"dialect": "qwen3", "chunks": ["a"], "content": "b"})")), "content, whole");
    EXPECT_EQ(check(Case(R"({"dialect": "qwen3", "chunks_b64": ["YQ=="], "content_b64": "Yg=="})")), "content, whole");
    EXPECT_EQ(check(Case(R"({"dialect": "qwen3", "chunks": ["<think>a"], "thoughts": []})")), "thoughts, whole");
    EXPECT_EQ(check(Case(R"({"dialect": "qwen3", "chunks": ["<think>a"], "causes": ["marker"]})")), "causes, whole");
    EXPECT_EQ(check(Case(R"({"dialect": "qwen3", "chunks": ["<think>a"], "attributes": [["a", "b"]]})")),
              "attributes, whole");
    EXPECT_EQ(check(Case(R"({"dialect": "qwen3", "chunks": ["<think>", "a"], "thinking": "a", "content": ""})")), "");
}

} // namespace
