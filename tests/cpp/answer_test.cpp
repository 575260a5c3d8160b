// Tests the answers of aside.hpp: the parts must be the same however the text is cut, and text that is not a call must be content.
#include "heard.hpp"

#include <aside.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>
#include <type_traits>

using aside::Answer;
using aside::AnswerOptions;
using aside::Dialect;
using aside::EndReason;
using aside::Event;
using aside::Kind;
using aside::Part;
using aside::PartKind;
using aside::Parts;
using aside::Scanner;
using aside::Status;

namespace {

static_assert(!std::is_copy_constructible_v<Answer> && std::is_nothrow_move_constructible_v<Answer>);

const std::string_view tools = R"([{"type": "function", "function": {"name": "add", "parameters":
    {"properties": {"a": {"type": "integer"}, "note": {"type": "string"}}}}}])";

// Two calls, a call of an unknown tool, and a broken call.
const std::string_view text =
    "Hm.<tool_call><function=add><parameter=a>\n2\n</parameter><parameter=note>\n\"x\" </tool_call>\n"
    "</parameter></function></tool_call>\n"
    R"(<tool_call>{"name": "add", "id": "own", "arguments": {"a": 40, "b": "é"}}</tool_call>)"
    R"(<tool_call>{"name": "rm", "arguments": {"a": 1}}</tool_call>)"
    R"(<tool_call>{"name": "add", "arguments": {"a": [1}}</tool_call>.)";

// The thinking and the content; for each call, its number, id (with `*` if it was made), name and arguments, the cause of its end, and
// whether it is whole.
const std::string_view told = R"(|Hm.
<tool_call>{"name": "rm", "arguments": {"a": 1}}</tool_call>}}.|
0 call_0* add {"a":2,"note":"\"x\" </tool_call>"} 0 1
1 own add {"a": 40, "b": "é"} 0 1
2 call_2* add {"a": [1 4 0
)";

Dialect load(const std::string &name)
{
    std::ostringstream toml;
    toml << std::ifstream(DIALECTS "/" + name).rdbuf();
    return Dialect::load(toml.str());
}

/// The thinking, content and calls that a host has received.
struct Message {
    std::string thinking{}, content{}, calls{};
    int budgets = 0;

    void add(const Parts &parts)
    {
        for (const Part &part : parts)
            add(part);
    }

    void add(const Part &part)
    {
        std::ostringstream out;
        switch (part.kind) {
        case PartKind::thinking: thinking += part.text; break;
        case PartKind::content: content += part.text; break;
        case PartKind::call:
            EXPECT_TRUE(part.text.empty() && part.late_id.empty());
            out << part.index << ' ' << part.id << (part.is_made ? "* " : " ") << part.name << ' ';
            break;
        case PartKind::arguments: out << part.text; break;
        case PartKind::call_end:
            EXPECT_TRUE(part.id.empty() && part.name.empty());
            out << ' ' << static_cast<int>(part.cause) << ' ' << part.is_whole << (part.is_repaired ? " repaired" : "")
                << (part.late_id.empty() ? "" : " ") << part.late_id << '\n';
            break;
        case PartKind::moved:
            if (part.to == aside::Channel::thinking) {
                EXPECT_EQ(part.from, aside::Channel::content);
                thinking += content;
                content.clear();
            } else {
                EXPECT_EQ(part.from, aside::Channel::thinking);
                content = thinking + content;
                thinking.clear();
            }
            break;
        case PartKind::budget: budgets++; break;
        }
        calls += out.str();
    }

    std::string all() const { return thinking + '|' + content + '|' + (calls.empty() ? "" : "\n") + calls; }
};

std::string read(Answer &answer, std::string_view stream, std::size_t size, EndReason reason = EndReason::ended)
{
    Message message;
    for (std::size_t at = 0; at < stream.size(); at += size)
        message.add(answer.feed(stream.substr(at, size)));
    message.add(answer.finish(reason));
    return message.all();
}

// Reads a text in one piece and byte by byte, which must be the same.
std::string read(const Dialect &dialect, std::string_view stream, const AnswerOptions &options = {},
                 EndReason reason = EndReason::ended)
{
    Answer answer(dialect, options);
    const std::string whole = read(answer, stream, stream.size(), reason);
    EXPECT_EQ(read(answer, stream, 1, reason), whole);
    return whole;
}

TEST(Answer, ReadsTheSameHoweverItIsCut)
{
    Dialect dialect = load("calls-tags.toml");
    AnswerOptions options;
    options.tools = tools;
    Answer answer(dialect, options);
    dialect = {}; // the dialect goes first
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, text.size()})
        EXPECT_EQ(read(answer, text, size, EndReason::unknown), told) << size;
}

TEST(Answer, HasAsContentWhatIsNoCall)
{
    const Dialect qwen3 = Dialect::find("qwen3");
    const std::string good = "<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n</tool_call>\n";
    const std::string broken = "<tool_call>\n{\"nme\":\"f\"}\n</tool_call>";
    for (const std::string &none : {std::string("<tool_call>\n{\"name\": 5, \"arguments\": {}}\n</tool_call>"),
                                    std::string("Yes.\n<tool_call>\n{\"name\": \"f\", \"argum"), broken})
        EXPECT_EQ(read(qwen3, none), '|' + none + '|');
    EXPECT_EQ(read(qwen3, good + broken), '|' + broken + "|\n0 call_0* f {\"a\":1} 0 1\n");
}

TEST(Answer, PutsTheThinkingWhereItsOptionsSay)
{
    const Dialect qwen3 = Dialect::find("qwen3"), guess = Dialect::find("deepseek-r1");
    const std::string_view stream = "<think>\nhm\n</think>\n\nYes.<tool_call>{\"name\": \"f\"}</tool_call>";
    const std::string call = "\n0 call_0* f {} 0 1\n";
    AnswerOptions options;
    EXPECT_EQ(read(qwen3, stream, options), "hm|Yes.|" + call);
    options.thinking = aside::Thinking::drop;
    EXPECT_EQ(read(qwen3, stream, options), "|Yes.|" + call);
    options.thinking = aside::Thinking::inlined;
    EXPECT_EQ(read(qwen3, stream, options), "|<think>\nhm\n</think>\n\nYes.|" + call);

    options = {};
    EXPECT_EQ(read(qwen3, "<think>42", options), "42||");
    EXPECT_EQ(read(guess, "42", options), "42|42|");
    EXPECT_EQ(read(guess, "42", options, EndReason::unknown), "42||");
    options.promote_empty = true;
    EXPECT_EQ(read(qwen3, "<think>42", options), "42|42|");
    options.may_take_back = true;
    EXPECT_EQ(read(qwen3, "<think>42", options), "|42|");
    EXPECT_EQ(read(guess, "42", options), "|42|");
    EXPECT_EQ(read(qwen3, "hm</think>Yes.", options), "hm|Yes.|");
}

// The parts of calls that are reported, which calls, and what is mended.
TEST(Answer, ObeysItsPolicies)
{
    const Dialect dialect = load("calls-tags.toml");
    const std::string cut = "<tool_call><function=add><parameter=a>2</parameter>";
    const std::string rm = R"(<tool_call>{"name":"rm","arguments":{"b":"C:\D"}}</tool_call>)";
    const std::string two = R"(<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>)" + rm;
    const std::string add = "\n0 call_0* add {\"a\":1} 0 1\n";
    AnswerOptions options;
    EXPECT_EQ(read(dialect, cut, options), "||\n0 call_0* add {\"a\":2} 1 1\n");
    options.implied_end = aside::ImpliedEnd::off;
    EXPECT_EQ(read(dialect, cut, options), "||\n0 call_0* add {\"a\":2 2 0\n");
    options.not_whole = aside::NotWhole::hold;
    EXPECT_EQ(read(dialect, cut, options), '|' + cut + '|');
    options = {};
    options.max_calls = 1;
    EXPECT_EQ(read(dialect, two, options), '|' + rm + '|' + add);
    options = {};
    options.tools = "[]";
    EXPECT_EQ(read(dialect, two, options), '|' + two + '|');
    options.tools = tools;
    options.unknown_tool = aside::UnknownTool::tell;
    EXPECT_EQ(read(dialect, two, options), "||" + add + "1 call_1* rm {\"b\":\"C:\\D\"} 4 0\n");
    options.repair_arguments = true;
    EXPECT_EQ(read(dialect, two, options), "||" + add + "1 call_1* rm {\"b\":\"C:\\\\D\"} 0 1 repaired\n");
    options = {};
    options.start_call = "add";
    options.id_prefix = "c-";
    EXPECT_EQ(read(dialect, "{\"a\": 1}", options), "||\n0 c-0* add {\"a\": 1} 1 1\n");
    EXPECT_EQ(read(dialect, R"(<tool_call>{"name": "f", "arguments": {}, "id": "late"}</tool_call>)"),
              "||\n0 call_0* f {} 0 1 late\n");
}

TEST(Answer, RefusesWrongOptions)
{
    const Dialect dialect = load("calls-tags.toml");
    AnswerOptions options;
    // No list of tools, which is not the same as an empty one.
    options.tools = std::string_view();
    EXPECT_THROW(Answer(dialect, options), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::option);
    EXPECT_STREQ(aside::last_error(), "options.tools: not JSON, or nested too deep, at line 1, column 1");
    options.tools = tools;
    options.max_tools = tools.size();
    EXPECT_TRUE(Answer(dialect, options));
    options.max_tools--;
    EXPECT_THROW(Answer(dialect, options), aside::Error);
    EXPECT_NE(std::string_view(aside::last_error()).find("or set `max_tools` higher"), std::string_view::npos);
    options = {};
    options.not_whole = static_cast<aside::NotWhole>(3);
    EXPECT_THROW(Answer(dialect, options), aside::Error);
    options = {};
    options.start = aside::Start::header;
    EXPECT_THROW(Answer(dialect, options), aside::Error);
    EXPECT_EQ(thrown([] { Answer answer{Dialect()}; }), Status::null);
}

TEST(Answer, ServesOneRequestAfterAnother)
{
    const std::string call = "<tool_call>{\"name\": \"add\"}</tool_call>", told_call = "||\n0 call_0* add {} 0 1\n";
    AnswerOptions options;
    options.tools = tools;
    Answer answer(Dialect::find("qwen3"), options);
    EXPECT_EQ(answer.start_from_prompt("<|im_start|>assistant\n<think>\n"), aside::Start::thinking);
    answer.use_tools("[]");
    EXPECT_EQ(read(answer, "hm</think>" + call, 3), "hm|" + call + '|');
    EXPECT_EQ(answer.counts(aside::Channel::thinking).bytes, 2U);
    EXPECT_EQ(read(answer, call, 3), told_call);
    EXPECT_EQ(thrown([&] { answer.use_tools("[{"); }), Status::option);
    answer.use_tools(std::nullopt);
    EXPECT_EQ(read(answer, "<tool_call>{\"name\": \"rm\"}</tool_call>", 3), "||\n0 call_0* rm {} 0 1\n");

    // In the middle of a text.
    Message message;
    message.add(answer.feed("<think>hm<tool"));
    EXPECT_EQ(answer.held(), 5U);
    EXPECT_EQ(thrown([&] { answer.use_tools("[]"); }), Status::order);
    EXPECT_EQ(thrown([&] { (void)answer.start_from_prompt(""); }), Status::order);
    message.add(answer.flush());
    message.add(answer.force_close());
    message.add(answer.feed("Yes."));
    EXPECT_EQ(message.all(), "hm<tool|Yes.|");
    answer.reset();
    EXPECT_EQ(answer.counts(aside::Channel::content).bytes, 0U);
    EXPECT_EQ(read(answer, call, 3), told_call);
    EXPECT_EQ(thrown([&] { (void)answer.finish(static_cast<EndReason>(3)); }), Status::option);
    EXPECT_THROW(static_cast<void>(answer.counts(static_cast<aside::Channel>(4))), aside::Error);
}

TEST(Answer, ReadsTokensAndReportsItsBudget)
{
    AnswerOptions options;
    options.budget = 2;
    Answer answer(Dialect::find("qwen3"), options);
    const std::vector<aside::Token> tokens = {{7, 1}, {3, 0}, {8, 1}, {4, 0}};
    Message message;
    message.add(answer.feed_tokens("<think>hmm</think>Yes.", tokens));
    EXPECT_EQ(answer.counts(aside::Channel::thinking).tokens, 1U);
    message.add(answer.finish());
    EXPECT_EQ(message.all(), "hmm|Yes.|");
    EXPECT_EQ(message.budgets, 1);
    try {
        answer.feed_tokens("<think>", tokens);
        FAIL();
    } catch (const aside::Error &error) {
        EXPECT_EQ(error.status(), Status::length);
    }
    // A marker that is special must be a special token.
    const aside::Token plain[] = {{7, 0}};
    message = {};
    message.add(answer.feed_tokens("<think>", plain));
    message.add(answer.finish());
    EXPECT_EQ(message.all(), "|<think>|");
}

TEST(Answer, IsEmptyOnceItIsMoved)
{
    Answer answer(Dialect::find("qwen3"));
    Answer other = std::move(answer);
    EXPECT_FALSE(answer); // NOLINT: a moved-from answer may be asked
    EXPECT_TRUE(other);
    try {
        answer.feed("a");
        FAIL();
    } catch (const aside::Error &error) {
        EXPECT_EQ(error.status(), Status::null);
        EXPECT_STREQ(error.what(), "the object is empty: it was moved from, or could not be made");
    }
    Parts parts = other.feed("a");
    EXPECT_EQ(thrown([&] { (void)answer.feed("b"); }), Status::null);
    EXPECT_EQ(parts.size(), 1U); // as before
    EXPECT_EQ((*parts.begin()).text, "a");
    EXPECT_EQ(answer.held(), 0U);
}

TEST(Answer, MayBeUsedByOneThreadAfterAnother)
{
    Answer answer(load("calls-tags.toml"));
    Message message;
    for (std::size_t at = 0; at < text.size(); at += 50)
        std::thread([&] { message.add(answer.feed(text.substr(at, 50))); }).join();
    std::thread([&, other = std::move(answer)]() mutable { message.add(other.finish()); }).join();
    EXPECT_EQ(message.content, "Hm.\n}}.");
}

TEST(Dialect, MakesAGrammarOfCalls)
{
    const std::string_view tools = R"([{"name": "f", "parameters": {"type": "object", "properties": {
        "x": {"type": "string", "minLength": 2}, "y": {"type": "string", "pattern": "a"}}}}])";
    const Dialect dialect = Dialect::find("glm-4.5");
    const aside::ToolGrammar grammar = dialect.grammar(aside::GrammarFormat::lark, tools, "f");
    EXPECT_EQ(grammar.text.rfind("%llguidance {}\nstart: \"<tool_call>\"", 0), 0U) << grammar.text;
    EXPECT_EQ(grammar.limits,
              (std::vector<std::string>{"f.x: `minLength` is not in the grammar", "f.y: `pattern` is not in the grammar"}));
    const std::string tag = Dialect::find("qwen3").grammar(aside::GrammarFormat::xgrammar, tools).text;
    EXPECT_EQ(tag.rfind(R"({"type":"structural_tag",)", 0), 0U) << tag;
    const std::string thinking = dialect.grammar(aside::GrammarFormat::lark, tools, "f", aside::Start::content).text;
    EXPECT_EQ(thinking.rfind("%llguidance {}\nstart: (\"<think>\" ", 0), 0U) << thinking;
    EXPECT_EQ(thrown([&] { (void)dialect.grammar(aside::GrammarFormat::lark, tools, "f", aside::Start::header); }),
              Status::option);
    EXPECT_EQ(thrown([&] { (void)dialect.grammar(aside::GrammarFormat::lark, tools, "g"); }), Status::option);
    EXPECT_EQ(thrown([&] { (void)Dialect().grammar(aside::GrammarFormat::lark, tools); }), Status::null);
}

TEST(Join, WritesCallsThatAreReadBack)
{
    const Dialect dialect = load("calls-tags.toml");
    const aside::JoinCall calls[] = {{"add", R"({"a": 1, "n": "x"})"}, {"g", "{}", "7"}};
    const std::string joined = aside::join(dialect, "hm", "Adding.", aside::JoinOptions().set_calls(calls));
    EXPECT_EQ(read(dialect, joined), "hm|Adding.|\n0 call_0* add {\"a\": 1, \"n\": \"x\"} 0 1\n1 7 g {} 0 1\n") << joined;
    EXPECT_EQ(aside::join(dialect, "", "a", aside::JoinOptions().set_calls(std::vector<aside::JoinCall>{})), "a");

    const std::vector<aside::JoinCall> broken = {{"add", "{"}};
    EXPECT_EQ(thrown([&] { (void)aside::join(dialect, "", "", aside::JoinOptions().set_calls(broken)); }), Status::join);
}

TEST(Scanner, HasTheNameOfACallFromAHeader)
{
    const Dialect dialect = load("calls-header.toml");
    const std::string_view stream = R"( to=functions.f<|message|>{"x": 1}<|call|>)";
    EXPECT_EQ(read(dialect, stream), "||\n0 call_0* f {\"x\": 1} 1 1\n");
    aside::ScannerOptions options;
    options.calls = true;
    Scanner scanner(dialect, options);
    for (const Event &event : scanner.events(stream))
        if (event.kind == Kind::call_name) {
            EXPECT_EQ(event.name, "f");
            EXPECT_TRUE(event.bytes.empty());
        }
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
    aside::ScannerOptions options;
    options.calls = true;
    Scanner scanner(dialect, options);
    scanner.feed(stream, hear);
    scanner.finish(hear);
    EXPECT_EQ(heard, "call 0 of table 1;f;k;end 0 by 0;call 1 of table 0;end 1 by 4;");

    heard.clear();
    scanner = Scanner(dialect);
    scanner.feed(stream, hear);
    scanner.finish(hear);
    EXPECT_EQ(heard, "");

    options.calls_in_thinking = aside::CallsInThinking::never;
    scanner = Scanner(dialect, options);
    scanner.feed(stream, hear);
    scanner.finish(hear);
    EXPECT_EQ(heard, "");
}

} // namespace
