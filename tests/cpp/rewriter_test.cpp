// Tests the rewriter of aside.hpp, whose output must be the same however the event stream is cut, and the joining and escaping of
// texts.
#include "heard.hpp"
#include <algorithm>

#include <aside.hpp>

#include <gtest/gtest.h>

#include <type_traits>

using aside::Dialect;
using aside::Rewriter;
using aside::Status;

namespace {

#define CHUNK(delta) "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{" delta "}}]}\n\n"
#define ZWSP "\xe2\x80\x8b"

const std::string_view stream = CHUNK("\"role\":\"assistant\",\"content\":\"<thi\"") ": ping\r\n\r\n" CHUNK(
    "\"content\":\"nk>hm\"") CHUNK("\"content\":\"</think>It is 42.\"") "data: [DONE]\n\n";
const std::string_view wanted = CHUNK("\"role\":\"assistant\",\"content\":\"\"") ": ping\r\n\r\n" CHUNK(
    "\"reasoning_content\":\"hm\"") CHUNK("\"content\":\"It is 42.\"") "data: [DONE]\n\n";

static_assert(!std::is_copy_constructible_v<Rewriter> && std::is_nothrow_move_constructible_v<Rewriter>);

std::string rewritten(Rewriter &rewriter, std::string_view first, std::string_view second = {})
{
    std::string out(rewriter.feed(first));
    out += rewriter.feed(second);
    out += rewriter.finish();
    return out;
}

TEST(Rewriter, GivesTheSameHoweverItIsCut)
{
    Rewriter rewriter(Dialect::find("inline-think")); // the dialect is freed before the rewriter
    for (std::size_t at = 0; at <= stream.size(); at++)
        ASSERT_EQ(rewritten(rewriter, stream.substr(0, at), stream.substr(at)), wanted) << at;
    std::string out;
    for (const char byte : stream)
        out += rewriter.feed({&byte, 1});
    out += rewriter.finish();
    EXPECT_EQ(out, wanted);
}

TEST(Rewriter, DoesAsItsOptionsSay)
{
    const Dialect dialect = Dialect::find("inline-think");
    aside::RewriterOptions options;
    options.field = aside::Field::reasoning;
    Rewriter rewriter(dialect, options);
    EXPECT_EQ(rewritten(rewriter, CHUNK("\"content\":\"<think>a\"")), CHUNK("\"reasoning\":\"a\""));

    options.field = aside::Field::thinking;
    options.start = aside::Start::thinking;
    options.body = aside::Body::json;
    rewriter = Rewriter(dialect, options);
    EXPECT_EQ(rewritten(rewriter, "{\"choices\":[{\"message\":{\"content\":\"a</think>b\"}}]}"),
              "{\"choices\":[{\"message\":{\"thinking\":\"a\",\"content\":\"b\"}}]}");

    options = {};
    options.off = true;
    rewriter = Rewriter(dialect, options);
    EXPECT_EQ(rewritten(rewriter, stream), stream);

    options = {};
    options.max_event = 20;
    rewriter = Rewriter(dialect, options);
    EXPECT_EQ(rewriter.feed(stream), stream);
    EXPECT_EQ(rewriter.stats().too_long, 3u);
    rewriter.reset();
    EXPECT_EQ(rewriter.stats().too_long, 0u);

    options.start = aside::Start::header;
    EXPECT_THROW(Rewriter(dialect, options), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::option);
    EXPECT_THROW(Rewriter(dialect, options), aside::Error);
}

TEST(Rewriter, ReadsTheFormatsOfItsOptions)
{
    const Dialect dialect = Dialect::find("inline-think");
    aside::RewriterOptions options;
    for (const aside::Formats formats : {aside::Formats::all, aside::Formats::chat | aside::Formats::ollama}) {
        options.formats = formats;
        Rewriter rewriter(dialect, options);
        EXPECT_EQ(rewritten(rewriter, stream), wanted);
    }
    options.formats = aside::Formats::messages;
    Rewriter rewriter(dialect, options);
    EXPECT_EQ(rewritten(rewriter, stream), stream);
    options.comments = aside::Comments::chunk;
    Rewriter with_pings(dialect, options);
    EXPECT_EQ(rewritten(with_pings, ": a\n\n"), "event: ping\ndata: {\"type\": \"ping\"}\n\n");
    options.responses_as = aside::ResponsesAs::summary;
    options.repair = options.promote_empty = options.merge = true;
    EXPECT_TRUE(Rewriter(dialect, options));
    options.formats = static_cast<aside::Formats>(32);
    EXPECT_THROW(Rewriter(dialect, options), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::option);
}

TEST(Rewriter, Counts)
{
    Rewriter rewriter(Dialect::find("inline-think"));
    rewriter.feed(stream);
    rewriter.feed("data: {\"candidates\":[]}\n\ndata");
    const aside::Stats stats = rewriter.stats();
    EXPECT_EQ(stats.events, 5u);
    EXPECT_EQ(stats.changed, 3u);
    EXPECT_EQ(stats.unread, 1u);
    EXPECT_EQ(stats.thinking_bytes, 2u);
    EXPECT_EQ(stats.content_bytes, 9u);
    EXPECT_EQ(stats.held, 4u);
    EXPECT_EQ(stats.added + stats.repaired + stats.too_long + stats.unpromoted + stats.truncated + stats.split_by_server,
              0u);
    rewriter.reset();
    EXPECT_EQ(rewriter.stats().events, 0u);
    EXPECT_EQ(thrown([&] { (void)Rewriter().stats(); }), Status::null);
}

TEST(Gate, KnowsWhichAnswersAreForARewriter)
{
    using aside::Body;
    using aside::Formats;
    aside::Exchange exchange{200, "/v1/messages?beta=true", "text/event-stream; charset=utf-8"};
    EXPECT_EQ(aside::wants(exchange), Body::events);
    exchange.formats = Formats::chat;
    EXPECT_EQ(aside::wants(exchange), std::nullopt);
    exchange.formats = static_cast<Formats>(32);
    EXPECT_EQ(aside::wants(exchange), std::nullopt);
    exchange.formats = Formats::all;
    exchange.content_encoding = "gzip";
    EXPECT_EQ(aside::wants(exchange), std::nullopt);
    EXPECT_EQ(aside::wants({200, {}, "application/x-ndjson", {}, {}, Formats::ollama}), Body::lines);
    EXPECT_EQ(aside::wants({500, {}, "application/json"}), std::nullopt);
    exchange.method = "POST";
    EXPECT_EQ(aside::request_hint(exchange), aside::Hint::identity);
    exchange.method = "GET";
    EXPECT_EQ(aside::request_hint(exchange), std::nullopt);

    char room[10];
    std::string_view model;
    EXPECT_EQ(aside::request_model("{\"model\":\"Qwen\\/Qwe", room, model), Status::more);
    EXPECT_EQ(aside::request_model("{\"model\":\"Qwen\\/Qwen3\"", room, model), Status::ok);
    EXPECT_EQ(model, "Qwen/Qwen3");
    EXPECT_EQ(aside::request_model("{\"model\":\"Qwen\\/Qwen3.5\"", room, model), Status::none);
    EXPECT_EQ(model.size(), 10u);

    exchange.path = "/v1/messages";
    aside::Request request = aside::read_request(exchange, "{}");
    EXPECT_EQ(request.thinks, aside::Thinks::unknown);
    EXPECT_EQ(request.thinking, aside::Thinking::drop);
    EXPECT_EQ(request.tools, "[]");
    request = aside::read_request(exchange, "{\"thinking\":{\"type\":\"enabled\"},\"tools\":[{\"name\":\"f\"}]}");
    EXPECT_EQ(request.thinks, aside::Thinks::on);
    EXPECT_EQ(request.thinking, aside::Thinking::keep);
    EXPECT_EQ(request.tools, "[{\"name\":\"f\"}]");
}

TEST(Rewriter, MakesOneShapeOfServers)
{
    aside::RewriterOptions options;
    options.normalise = aside::Shapes::field | aside::Shapes::lists;
    options.field = aside::Field::reasoning;
    const std::string_view body =
        "{\"choices\":[{\"message\":{\"thinking\":\"A\",\"content\":[{\"type\":\"text\",\"text\":\"Hi.\"}]}}]}";
    aside::Rewriter rewriter(aside::Dialect::find("qwen3"), options);
    EXPECT_EQ(rewriter.feed(body), "{\"choices\":[{\"message\":{\"reasoning\":\"A\",\"content\":\"Hi.\"}}]}");
    options.thinking = aside::Thinking::drop;
    aside::Rewriter dropping(aside::Dialect::find("qwen3"), options);
    EXPECT_EQ(dropping.feed(body), "{\"choices\":[{\"message\":{\"content\":\"Hi.\"}}]}");
    options.thinking = static_cast<aside::Thinking>(3);
    EXPECT_THROW(aside::Rewriter(aside::Dialect::find("qwen3"), options), aside::Error);
}

TEST(History, GoesUnderTheNameThatTheServerReads)
{
    using aside::Formats;
    Formats format{};
    EXPECT_EQ(aside::history_format("/v1/models", format), Status::none);
    EXPECT_EQ(aside::history_format("/v1/chat/completions", format), Status::ok);
    EXPECT_EQ(format, Formats::chat);
    aside::HistoryOptions options;
    ASSERT_TRUE(aside::history_server("vllm", format, options));
    EXPECT_EQ(options.name, aside::HistoryName::reasoning);
    aside::HistoryReport report;
    const std::string_view body = R"({"messages":[{"role":"assistant","content":"b","thinking":"a"}]})";
    EXPECT_EQ(aside::rewrite_history(body, options, &report),
              R"({"messages":[{"role":"assistant","content":"b","reasoning":"a"}]})");
    EXPECT_EQ(report.changed, 1u);
    EXPECT_EQ(report.outcome, aside::HistoryOutcome::read);
    EXPECT_FALSE(report.thinking_off);

    const Dialect dialect = Dialect::find("qwen3");
    options.name = aside::HistoryName::text;
    EXPECT_THROW((void)aside::rewrite_history(body, options), aside::Error);
    options.dialect = dialect.handle();
    EXPECT_EQ(aside::rewrite_history(body, options),
              R"({"messages":[{"role":"assistant","content":"<think>\na\n</think>\n\nb"}]})");
    options.max_body = 4;
    EXPECT_EQ(aside::rewrite_history(body, options, &report), body);
    EXPECT_EQ(report.outcome, aside::HistoryOutcome::too_long);

    EXPECT_FALSE(aside::history_server("mistral", Formats::messages, options));
    EXPECT_EQ(thrown([&] { aside::history_server("mistrl", Formats::chat, options); }), Status::unknown);
    const std::string_view file = "name = \"mine\"\n[chat]\nmissing = \"empty\"\nsources = []\n";
    EXPECT_TRUE(aside::history_server_load(file, Formats::chat, options));
    EXPECT_EQ(options.missing, aside::HistoryMissing::empty);
    EXPECT_EQ(options.max_body, 0u);
    EXPECT_EQ(thrown([&] { aside::history_server_load("name = 3", Formats::chat, options); }), Status::dialect);
    const auto servers = aside::history_servers();
    EXPECT_NE(std::find(servers.begin(), servers.end(), "deepseek"), servers.end());
}

TEST(Rewriter, MakesToolCallsOfTheTextOfCalls)
{
    const Dialect dialect = Dialect::load(R"(
        name = "calls"
        [[span]]
        channel = "thinking"
        open = ["<think>"]
        close = ["</think>"]
        [[span]]
        channel = "tool"
        open = ["<t>"]
        close = ["</t>"]
        ends = "thinking"
        [[span.call]]
        body = "object"
    )");
    const std::string_view body =
        R"({"id":"c1","choices":[{"message":{"content":"<think>a<t>{\"name\":\"f\"}</t>"},"finish_reason":"stop"}]})";
    const std::string_view told =
        R"({"id":"c1","choices":[{"message":{"reasoning_content":"a","content":null,"tool_calls":[)"
        R"({"id":"call_c1_0_0","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
        R"("finish_reason":"tool_calls"}]})";
    const std::string_view text =
        R"({"id":"c1","choices":[{"message":{"reasoning_content":"a","content":"<t>{\"name\":\"f\"}</t>"},)"
        R"("finish_reason":"stop"}]})";
    aside::RewriterOptions options;
    options.calls = true;
    options.tools = "[]";
    Rewriter rewriter(dialect, options);
    EXPECT_EQ(rewritten(rewriter, body), text);
    rewriter.use_tools(R"([{"name": "f"}])");
    EXPECT_EQ(rewritten(rewriter, body.substr(0, 50), body.substr(50)), told);
    EXPECT_EQ(rewritten(rewriter, body), text);
    rewriter.use_tools(std::nullopt);
    EXPECT_EQ(rewritten(rewriter, body), told);
    EXPECT_THROW(rewriter.use_tools(std::string_view()), aside::Error);
    EXPECT_STREQ(aside::last_error(), "tools: not JSON, or nested too deep, at line 1, column 1");
    rewriter.feed(body.substr(0, 1));
    EXPECT_EQ(thrown([&] { rewriter.use_tools("[]"); }), Status::order);

    options.tools = std::nullopt;
    options.calls_in_thinking = aside::CallsInThinking::never;
    rewriter = Rewriter(dialect, options);
    EXPECT_EQ(rewritten(rewriter, body),
              R"({"id":"c1","choices":[{"message":{"reasoning_content":"a<t>{\"name\":\"f\"}</t>","content":""},)"
              R"("finish_reason":"stop"}]})");
    options.calls_in_thinking = aside::CallsInThinking::dialect;
    options.max_held = 4; // a region of which no name comes soon enough stays in the text
    rewriter = Rewriter(dialect, options);
    const std::string_view chunk = CHUNK("\"content\":\"<t>{\\\"name\\\":\\\"f\\\"}</t>\"");
    EXPECT_EQ(rewritten(rewriter, chunk), chunk);
    options.tools = "{}";
    EXPECT_THROW(Rewriter(dialect, options), aside::Error);
    EXPECT_STREQ(aside::last_error(), "options.tools: not a JSON array");
    options.tools = "[]";
    options.max_tools = 2;
    EXPECT_EQ(thrown([&] { Rewriter(dialect, options).use_tools("[ ]"); }), Status::option);
    EXPECT_STREQ(aside::last_error(), "tools: 3 bytes, more than 2: list fewer tools, or set `max_tools` higher");
}

TEST(Rewriter, ObeysItsPolicies)
{
    const auto body = [](const std::string &content) {
        return R"({"id":"c1","choices":[{"message":{"content":")" + content + R"("},"finish_reason":"stop"}]})";
    };
    const auto told = [](const std::string &name) {
        return R"({"id":"c1","choices":[{"message":{"content":null,"tool_calls":[{"id":"call_c1_0_0","type":"function",)"
               R"("function":{"name":")"
               + name + R"(","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"}]})";
    };
    const auto check = [&](aside::RewriterOptions options, const std::string &in, const std::string &wanted) {
        options.calls = true;
        Rewriter rewriter(Dialect::find("qwen3"), options);
        std::string out(rewriter.feed(in));
        out += rewriter.finish();
        EXPECT_EQ(out, wanted);
    };
    const std::string call = R"({\"name\":\"f\",\"arguments\":{\"x\":1}})";
    const std::string tagged = body("<tool_call>" + call + "</tool_call>");
    aside::RewriterOptions options;
    check(options, tagged, told("f"));
    options.tools = "[]";
    options.unknown_tool = aside::UnknownTool::drop;
    check(options, tagged, body(""));
    options.unknown_tool = aside::UnknownTool::tell;
    options.max_calls = 1;
    options.not_whole = aside::NotWhole::hold;
    options.implied_end = aside::ImpliedEnd::off;
    options.repair_arguments = true;
    check(options, tagged, told("f"));
    options = {};
    options.start = aside::Start::calls;
    check(options, body("[" + call + "]"), told("f"));
    options = {};
    options.start_call = "g";
    check(options, body(R"({\"x\":1})"), told("g"));
}

TEST(Rewriter, MakesOneShape)
{
    const Dialect qwen3 = Dialect::find("qwen3");
    constexpr std::string_view in = R"({"choices":[{"message":{"thinking":"A","content":[{"type":"text","text":"Hi."}]}}]})";
    const auto check = [&](const aside::RewriterOptions &options, std::string_view wanted) {
        Rewriter rewriter(qwen3, options);
        EXPECT_EQ(rewritten(rewriter, in), wanted);
    };
    aside::RewriterOptions options;
    options.normalise = aside::Shapes::all;
    check(options, R"({"choices":[{"message":{"reasoning_content":"A","content":"Hi."}}]})");
    options.thinking = aside::Thinking::drop;
    check(options, R"({"choices":[{"message":{"content":"Hi."}}]})");

    options = {};
    options.label = true;
    Rewriter rewriter(qwen3, options);
    const auto out = rewritten(rewriter, R"({"type":"message","content":[{"type":"text","text":"<think>a</think>b"}]})");
    EXPECT_NE(out.find("\"aside:1:"), std::string::npos) << out;
}

TEST(Rewriter, StartsWhereTheRequestSays)
{
    using aside::Start;
    const std::string_view in = CHUNK("\"content\":\"hm\"");
    const std::string_view thinking = CHUNK("\"reasoning_content\":\"hm\"");
    Rewriter rewriter(Dialect::find("qwen3"));
    rewriter.use_dialect(nullptr, Start::thinking);
    EXPECT_EQ(rewritten(rewriter, in), thinking);
    EXPECT_EQ(rewritten(rewriter, in), in);
    rewriter.use_dialect(Dialect::find("qwen3-thinking"));
    EXPECT_EQ(rewritten(rewriter, in), thinking);
    rewriter.use_dialect(Dialect::find("qwen3-thinking"), Start::content);
    EXPECT_EQ(rewritten(rewriter, in), in);
    EXPECT_EQ(rewriter.start_from_prompt("<|im_start|>assistant\n<think>\n"), Start::thinking);
    EXPECT_EQ(rewriter.feed(in), thinking);

    EXPECT_EQ(thrown([&] { (void)rewriter.start_from_prompt(""); }), Status::order);
    EXPECT_EQ(thrown([&] { rewriter.use_dialect(nullptr, Start::content); }), Status::order);
    EXPECT_EQ(thrown([&] { rewriter.use_dialect(Dialect::find("any")); }), Status::order);
    rewriter.reset();
    EXPECT_EQ(thrown([&] { rewriter.use_dialect(nullptr, Start::header); }), Status::option);
    EXPECT_EQ(rewritten(rewriter, in), in);
}

TEST(Rewriter, SaysWhatIsEncoded)
{
    Rewriter rewriter(Dialect::find("qwen3"));
    EXPECT_EQ(rewriter.feed("\x1f\x8b\x08"), "\x1f\x8b\x08");
    EXPECT_TRUE(rewriter.stats().encoded);
    rewriter.reset();
    EXPECT_EQ(rewriter.feed(stream).substr(0, 4), "data");
    EXPECT_FALSE(rewriter.stats().encoded);
}

TEST(Rewriter, ThatIsEmptyFails)
{
    Rewriter rewriter(Dialect::find("inline-think"));
    Rewriter moved = std::move(rewriter);
    EXPECT_TRUE(moved);
    EXPECT_FALSE(rewriter);
    EXPECT_EQ(thrown([&] { (void)rewriter.feed("a"); }), Status::null);
    EXPECT_EQ(thrown([&] { (void)rewriter.finish(); }), Status::null);
    EXPECT_EQ(thrown([&] { rewriter.reset(); }), Status::null);
    EXPECT_EQ(thrown([&] { rewriter.use_dialect(nullptr, aside::Start::content); }), Status::null);
    EXPECT_EQ(thrown([&] { rewriter.use_dialect(Dialect::find("any")); }), Status::null);
    EXPECT_EQ(thrown([&] { (void)rewriter.start_from_prompt("a"); }), Status::null);
    EXPECT_THROW(static_cast<void>(rewriter.stats()), aside::Error);
    EXPECT_EQ(rewritten(moved, stream), wanted);
}

TEST(Join, WritesAsTheModelDoes)
{
    const Dialect qwen3 = Dialect::find("qwen3");
    EXPECT_EQ(aside::join(qwen3, "hm", "Yes."), "<think>\nhm\n</think>\n\nYes.");
    EXPECT_EQ(aside::join(qwen3, {}, "Yes."), "Yes.");
    aside::JoinOptions options;
    options.start = aside::Start::thinking;
    EXPECT_EQ(aside::join(qwen3, "hm", "Yes.", options), "hm\n</think>\n\nYes.");
    options = {};
    options.markers = aside::Markers::escape;
    EXPECT_EQ(aside::join(qwen3, "a</think>", "b", options), "<think>\na<" ZWSP "/think>\n</think>\n\nb");

    EXPECT_THROW((void)aside::join(qwen3, "ab</think>", "c"), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::join);
    EXPECT_NE(std::string(aside::last_error()).find("byte 2 of it"), std::string::npos) << aside::last_error();
    EXPECT_THROW((void)aside::join(qwen3, "a", "<tool_call>{\"name\": \"f\"}"), aside::Error);
    options.start = aside::Start::tool;
    EXPECT_THROW((void)aside::join(qwen3, "a", "b", options), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::join);
    options.start = static_cast<aside::Start>(99);
    EXPECT_THROW((void)aside::join(qwen3, "a", "b", options), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::option);
}

TEST(Escape, BreaksMarkers)
{
    const Dialect qwen3 = Dialect::find("qwen3");
    EXPECT_EQ(aside::escape(qwen3, "a <think> b"), "a <" ZWSP "think> b");
    EXPECT_EQ(aside::escape(qwen3, ""), "");
    const Dialect single = Dialect::load("name = \"m\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"(\"]\nclose = [\")\"]");
    EXPECT_THROW((void)aside::escape(single, "a"), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::join);
    EXPECT_THROW((void)aside::escape(Dialect(), "a"), aside::Error);
}

} // namespace
