// aside.hpp: the calls of a text are sent as the same JSON however it is cut, and whichever way its events are taken.
#include <aside.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <type_traits>

using aside::CallDelta;
using aside::CallWriter;
using aside::Dialect;
using aside::Event;
using aside::Kind;
using aside::Scanner;
using aside::Status;

namespace {

static_assert(!std::is_copy_constructible_v<CallWriter> && std::is_nothrow_move_constructible_v<CallWriter>);
static_assert(noexcept(CallWriter::try_make(std::declval<const Dialect &>())));

const std::string_view tools = R"([{"type": "function", "function": {"name": "add", "parameters":
    {"properties": {"a": {"type": "integer"}, "note": {"type": "string"}}}}}])";

// Two calls, one of an unknown tool, and a broken one.
const std::string_view text =
    "Hm.<tool_call><function=add><parameter=a>\n2\n</parameter><parameter=note>\n\"x\" </tool_call>\n"
    "</parameter></function></tool_call>\n"
    R"(<tool_call>{"name": "add", "id": "own", "arguments": {"a": 40, "b": "é"}}</tool_call>)"
    R"(<tool_call>{"name": "rm", "arguments": {"a": 1}}</tool_call>)"
    R"(<tool_call>{"name": "add", "arguments": {"a": [1}}</tool_call>.)";

// For each call: its numbers, id, name, arguments, cause, and whether it is whole.
const std::string_view told = R"(0/0 call_0 add {"a":2,"note":"\"x\" </tool_call>"} 0 1
1/1 own add {"a": 40, "b": "é"} 0 1
3/2 call_2 add {"a": [1 4 0
)";

Dialect load(const std::string &name)
{
    std::ostringstream toml;
    toml << std::ifstream(DIALECTS "/" + name).rdbuf();
    return Dialect::load(toml.str());
}

Scanner with_calls(const Dialect &dialect)
{
    aside::ScannerOptions options;
    options.calls = true;
    return Scanner(dialect, options);
}

/// Writes down the calls of events.
struct Notes {
    CallWriter &writer;
    std::string made{};

    void operator()(const Event &event)
    {
        const auto delta = writer.feed(event);
        if (!delta)
            return;
        std::ostringstream out;
        if (delta->is_first)
            out << delta->call << '/' << delta->index << ' ' << delta->id << ' ' << delta->name << ' ';
        out << delta->arguments;
        if (delta->is_last)
            out << ' ' << static_cast<int>(delta->cause) << ' ' << delta->is_whole << '\n';
        made += out.str();
    }
};

std::string written(Scanner &scanner, CallWriter &writer, std::string_view stream, std::size_t size)
{
    Notes notes{writer};
    for (std::size_t at = 0; at < stream.size(); at += size)
        scanner.feed(stream.substr(at, size), notes);
    scanner.finish(notes);
    writer.reset();
    return notes.made;
}

std::string written_by_loops(Scanner &scanner, CallWriter &writer, std::string_view stream, std::size_t size)
{
    Notes notes{writer};
    for (std::size_t at = 0; at < stream.size(); at += size)
        for (const Event &event : scanner.events(stream.substr(at, size)))
            notes(event);
    for (const Event &event : scanner.finish_events())
        notes(event);
    writer.reset();
    return notes.made;
}

TEST(CallWriter, WritesTheSameHoweverItIsCut)
{
    Dialect dialect = load("calls-tags.toml");
    Scanner scanner = with_calls(dialect);
    CallWriter writer(dialect, {tools});
    dialect = {}; // the dialect goes first
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, text.size()}) {
        EXPECT_EQ(written(scanner, writer, text, size), told) << size;
        EXPECT_EQ(written_by_loops(scanner, writer, text, size), told) << size;
    }
}

TEST(CallWriter, DoesAsItsOptionsSay)
{
    const Dialect dialect = load("calls-tags.toml");
    Scanner scanner = with_calls(dialect);
    CallWriter writer(dialect, {"[]"});
    EXPECT_EQ(written(scanner, writer, text, 7), "");

    aside::CallWriterOptions options;
    options.id_prefix = {};
    options.max_held = 8;
    writer = CallWriter(dialect, options);
    EXPECT_EQ(written(scanner, writer,
                      R"(<tool_call>{"arguments":"0123456789","name":"f"}</tool_call><tool_call>{"name":"f"}</tool_call>)",
                      3),
              "1/0 0 f {} 0 1\n");

    // No list of tools, which is not the same as an empty one.
    options.tools = std::string_view();
    EXPECT_FALSE(CallWriter::try_make(dialect, options));
    EXPECT_EQ(aside::last_status(), Status::option);
    EXPECT_STREQ(aside::last_error(), "options.tools: not JSON, or nested too deep, at line 1, column 1");
    EXPECT_THROW(CallWriter(dialect, options), aside::Error);
    options.tools = tools;
    options.max_tools = tools.size();
    EXPECT_TRUE(CallWriter::try_make(dialect, options));
    options.max_tools--;
    EXPECT_FALSE(CallWriter::try_make(dialect, options));
    EXPECT_NE(std::string_view(aside::last_error()).find("or set `max_tools` higher"), std::string_view::npos);
}

// The texts around a call, for the grammar of a server.
TEST(Dialect, HasToolTriggers)
{
    const std::vector<aside::ToolTrigger> triggers = Dialect::find("qwen3").tool_triggers();
    ASSERT_EQ(triggers.size(), 4U);
    EXPECT_EQ(triggers[0].trigger, "<tool_call>");
    EXPECT_EQ(triggers[0].begin, R"(<tool_call>{"name": ")");
    EXPECT_EQ(triggers[0].after_name, R"(", "arguments": )");
    EXPECT_EQ(triggers[0].end, "}</tool_call>");
    EXPECT_EQ(triggers[0].arguments, aside::ToolArguments::json);
    EXPECT_EQ(triggers[0].preserved, (std::vector<std::string_view>{"<tool_call>", "</tool_call>"}));
    EXPECT_EQ(triggers[2].arguments, aside::ToolArguments::tags);
    EXPECT_EQ(triggers[2].key_begin, "<parameter=");
    EXPECT_EQ(triggers[2].value_end, "\n</parameter>");
    EXPECT_TRUE(Dialect().tool_triggers().empty());
}

// The parts of calls that are sent, which calls, and what is mended.
TEST(CallWriter, ObeysItsPolicies)
{
    const Dialect dialect = load("calls-tags.toml");
    const std::string_view cut = "<tool_call><function=add><parameter=a>2</parameter>";
    const std::string_view two = R"(<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>)"
                                 R"(<tool_call>{"name":"rm","arguments":{"b":"C:\D"}}</tool_call>)";
    const auto check = [&](const aside::CallWriterOptions &options, std::string_view in, std::string_view wanted) {
        Scanner scanner = with_calls(dialect);
        CallWriter writer(dialect, options);
        Notes notes{writer};
        scanner.feed(in, notes);
        scanner.end_reason(aside::EndReason::ended);
        scanner.finish(notes);
        EXPECT_EQ(notes.made, wanted);
    };
    const std::string add = "0/0 call_0 add {\"a\":1} 0 1\n";
    aside::CallWriterOptions options;
    check(options, cut, "0/0 call_0 add {\"a\":2} 1 1\n");
    options.implied_end = aside::ImpliedEnd::off;
    check(options, cut, "0/0 call_0 add {\"a\":2 2 0\n");
    options.not_whole = aside::NotWhole::hold;
    check(options, cut, "");
    options = {};
    options.max_calls = 1;
    check(options, two, add);
    options = {};
    options.tools = tools;
    options.unknown_tool = aside::UnknownTool::tell;
    check(options, two, add + "1/1 call_1 rm {\"b\":\"C:\\D\"} 4 0\n");
    options.repair_arguments = true;
    check(options, two, add + "1/1 call_1 rm {\"b\":\"C:\\\\D\"} 0 1\n");
    options.not_whole = static_cast<aside::NotWhole>(3);
    EXPECT_FALSE(CallWriter::try_make(dialect, options));
}

TEST(CallWriter, TakesANameFromAHeader)
{
    const Dialect dialect = load("calls-header.toml");
    Scanner scanner = with_calls(dialect);
    CallWriter writer(dialect);
    const std::string_view stream = R"( to=functions.f<|message|>{"x": 1}<|call|>)";
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, stream.size()}) {
        EXPECT_EQ(written(scanner, writer, stream, size), "0/0 call_0 f {\"x\": 1} 1 1\n") << size;
        EXPECT_EQ(written_by_loops(scanner, writer, stream, size), "0/0 call_0 f {\"x\": 1} 1 1\n") << size;
    }
    for (const Event &event : scanner.events(stream))
        if (event.kind == Kind::call_name) {
            EXPECT_EQ(event.name, "f");
            EXPECT_TRUE(event.bytes.empty());
        }
}

TEST(CallWriter, TakesWordsForTypesAndFramingInElements)
{
    const Dialect types = load("calls-types.toml");
    Scanner scanner = with_calls(types);
    CallWriter writer(types);
    EXPECT_EQ(written(scanner, writer, "<call:7|f; !<k>a</k><t>int</t><v>1</v><k>b</k><t>string</t><v>1</v></call></calls>",
                      3),
              "0/0 7 f {\"a\":1,\"b\":\"1\"} 0 1\n");

    const Dialect nested = load("calls-nested.toml");
    scanner = with_calls(nested);
    const std::string_view stream = "<tools>|call f>|a> |b>y|/b> |/a>|/call></tools>";
    writer = CallWriter(nested);
    EXPECT_EQ(written(scanner, writer, stream, 3), "0/0 call_0 f {\"a\":{\"b\":\"y\"}} 0 1\n");
    writer = CallWriter(nested, {R"([{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}])"});
    EXPECT_EQ(written(scanner, writer, stream, 3), "0/0 call_0 f {\"a\":\" |b>y|/b> \"} 0 1\n");
}

TEST(CallWriter, HasALateIdInTheLastDelta)
{
    const Dialect dialect = load("calls-tags.toml");
    Scanner scanner = with_calls(dialect);
    CallWriter writer(dialect);
    std::string late;
    scanner.feed(R"(<tool_call>{"name": "f", "arguments": {}, "id": "late"}</tool_call>)", [&](const Event &event) {
        if (const auto delta = writer.feed(event); delta && delta->is_last)
            late = delta->late_id;
    });
    EXPECT_EQ(late, "late");
}

TEST(Join, WritesCallsThatAreReadBack)
{
    const Dialect dialect = load("calls-tags.toml");
    const aside::JoinCall calls[] = {{"add", R"({"a": 1, "n": "x"})"}, {"g", "{}", "7"}};
    const std::string text = aside::join(dialect, "hm", "Adding.", aside::JoinOptions().set_calls(calls));
    Scanner scanner = with_calls(dialect);
    CallWriter writer(dialect);
    EXPECT_EQ(written(scanner, writer, text, 7), "0/0 call_0 add {\"a\": 1, \"n\": \"x\"} 0 1\n1/1 7 g {} 0 1\n") << text;
    EXPECT_EQ(aside::join(dialect, "", "a", aside::JoinOptions().set_calls(std::vector<aside::JoinCall>{})), "a");

    const std::vector<aside::JoinCall> broken = {{"add", "{"}};
    EXPECT_FALSE(aside::try_join(dialect, "", "", aside::JoinOptions().set_calls(broken)));
    EXPECT_EQ(aside::last_status(), Status::join);
    EXPECT_THROW(aside::join(dialect, "", "", aside::JoinOptions().set_calls(broken)), aside::Error);
}

TEST(Scanner, ReportsTheCallsOfItsText)
{
    const Dialect dialect = load("calls-tags.toml");
    const std::string_view stream = "<think>a<tool_call><function=f><parameter=k>v</parameter></function></tool_call>"
                                    "<tool_call>{\"name\":1}</tool_call>";
    std::string heard;
    const auto hear = [&](const Event &event) {
        if (event.kind == Kind::call)
            heard += "call " + std::to_string(event.call) + " of table " + std::to_string(event.tag) + ';';
        if (event.kind == Kind::call_name || event.kind == Kind::call_key)
            heard += std::string(event.kind == Kind::call_name ? event.name : event.bytes) + ';';
        if (event.kind == Kind::call_end)
            heard += "end " + std::to_string(event.call) + " by " + std::to_string(static_cast<int>(event.cause)) + ';';
    };
    Scanner scanner = with_calls(dialect);
    scanner.feed(stream, hear);
    scanner.finish(hear);
    EXPECT_EQ(heard, "call 0 of table 1;f;k;end 0 by 0;call 1 of table 0;end 1 by 4;");

    heard.clear();
    scanner = Scanner(dialect);
    scanner.feed(stream, hear);
    scanner.finish(hear);
    EXPECT_EQ(heard, "");

    aside::ScannerOptions options;
    options.calls = true;
    options.calls_in_thinking = aside::CallsInThinking::never;
    scanner = Scanner(dialect, options);
    scanner.feed(stream, hear);
    scanner.finish(hear);
    EXPECT_EQ(heard, "");
}

} // namespace
