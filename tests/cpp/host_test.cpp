// Tests the functions of aside.hpp other than feeding, which must work as aside.h says: dialects by model and template, prompts,
// budgets, tokens, counts, clones.
#include "heard.hpp"

#include <gtest/gtest.h>

#include <array>

using aside::Cause;
using aside::Channel;
using aside::Counts;
using aside::Dialect;
using aside::Event;
using aside::Flow;
using aside::Kind;
using aside::Scanner;
using aside::Start;
using aside::Status;
using aside::Token;

namespace {

void nothing(const Event &) noexcept {}

std::string_view find(const std::vector<Heard> &events, Kind kind, std::size_t at)
{
    for (const Heard &event : events)
        if (event.kind == kind && at-- == 0)
            return event.bytes;
    return "none";
}

std::size_t count(const Stream &stream, Kind kind)
{
    std::size_t count = 0;
    for (const Heard &event : stream.events)
        count += event.kind == kind;
    return count;
}

TEST(Dialect, IsFoundByModel)
{
    EXPECT_EQ(Dialect::find_for_model("unsloth/Qwen3-32B-GGUF:Q4_K_M").name(), "qwen3");
    EXPECT_EQ(Dialect::find_for_model("gpt-oss:20b").name(), "harmony");
    EXPECT_THROW((void)Dialect::find_for_model("gpt-4o"), aside::Error);
    EXPECT_NE(std::string(aside::last_error()).find("gpt-4o"), std::string::npos);
    EXPECT_EQ(aside::last_status(), Status::unknown);
}

TEST(Dialect, StartsAsTheModelThatItWasFoundBy)
{
    EXPECT_EQ(Dialect::find_for_model("moonshotai/Kimi-K2.5").start(), Start::thinking);
    EXPECT_EQ(Dialect::find("kimi-k2").start(), Start::content);
    EXPECT_EQ(Dialect::find("harmony").start(), Start::header);
    EXPECT_EQ(Dialect().start(), Start::dialect);
    EXPECT_EQ(aside::strip(Dialect::find_for_model("kimi-k2.5"), "hm</think>Yes."), "Yes.");
}

TEST(Dialect, IsLoadedBeforeItIsFound)
{
    Dialect::preload("qwen3 harmony");
    EXPECT_EQ(thrown([&] { Dialect::preload("qwen3 qwne3"); }), Status::unknown);
    EXPECT_EQ(thrown([] { Dialect::preload("qwne3"); }), Status::unknown);
    EXPECT_EQ(thrown([&] { Dialect::preload(); }), Status::ok);
}

TEST(Dialect, IsFoundByTemplate)
{
    const std::string_view gemma =
        "{{ '<|turn>user\\n' }}{% if add_generation_prompt %}{{ '<|turn>model\\n<|channel>' }}{% endif %}";
    aside::TemplateMatch match;
    EXPECT_EQ(Dialect::find_for_template(gemma, &match).name(), "gemma-4");
    ASSERT_EQ(match.dialects.size(), 1u);
    EXPECT_EQ(match.dialects[0].name(), "gemma-4");
    EXPECT_EQ(match.start, Start::thinking);
    EXPECT_EQ(Dialect::find_for_template(gemma).name(), "gemma-4");

    EXPECT_THROW((void)Dialect::find_for_template("plain", &match), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::unknown);
    EXPECT_EQ(match.start, Start::thinking); // not written
    EXPECT_EQ(thrown([] { (void)Dialect::find_for_template("plain"); }), Status::unknown);

    const std::string_view many = "{{ '[unused16]\xe2\x97\x81think\xe2\x96\xb7' }}";
    EXPECT_THROW((void)Dialect::find_for_template(many, &match), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::ambiguous);
    EXPECT_EQ(match.start, Start::dialect);
    ASSERT_EQ(match.dialects.size(), 2u);
    EXPECT_EQ(match.dialects[0].name(), "kimi-vl");
    EXPECT_EQ(match.dialects[1].name(), "openpangu");
    EXPECT_NE(std::string(aside::last_error()).find("kimi-vl, openpangu"), std::string::npos) << aside::last_error();
    EXPECT_EQ(thrown([&] { (void)Dialect::find_for_template(many); }), Status::ambiguous);
}

TEST(Dialect, SaysWhatAnOpenStandsFor)
{
    const Dialect dialect = Dialect::load("name = \"own\"\n[[span]]\nchannel = \"thinking\"\nfamily = \"old\"\n"
                                          "open = [\"<<\", \"[[\"]\nclose = [\">>\", \"]]\"]\n");
    Scanner scanner(dialect);
    std::vector<Heard> opens;
    for (const Heard &event : by_callable(scanner, {"[[a]]<<b>>"}).events)
        if (event.kind == Kind::open)
            opens.push_back(event);
    ASSERT_EQ(opens.size(), 2u);
    for (const Heard &open : opens) {
        EXPECT_EQ(dialect.opener(open.rule, open.tag), open.bytes);
        EXPECT_EQ(dialect.family(open.rule), "old");
    }
    EXPECT_EQ(dialect.opener(0, 2), "");
    EXPECT_EQ(aside::last_status(), Status::range);
    EXPECT_EQ(dialect.family(7), "");
    EXPECT_EQ(Dialect().family(0), "");
    EXPECT_EQ(Dialect::find("qwen3").family(0), "qwen3");
}

TEST(Scanner, StartsBehindAPrompt)
{
    Scanner scanner(Dialect::find("qwen3"));
    EXPECT_EQ(scanner.start_from_prompt("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>"), Start::thinking);
    const Stream inside = by_callable(scanner, {"\nhm\n</think>", "\n\nYes."});
    EXPECT_EQ(inside.text(Channel::thinking), "hm");
    EXPECT_EQ(inside.text(Channel::content), "Yes.");

    EXPECT_EQ(scanner.start_from_prompt(""), Start::content);
    scanner.feed("hm", nothing);
    EXPECT_EQ(thrown([&] { (void)scanner.start_from_prompt("<think>"); }), Status::order);
    EXPECT_EQ(by_callable(scanner, {"hm"}).text(Channel::content), "hm"); // its own start again
}

TEST(Scanner, SaysWhereABudgetEnds)
{
    const std::string_view text = "<think>\xc3\xa9\xc3\xa9x</think>a<think>bc</think>";
    const auto over = [&](std::uint64_t limit, aside::BudgetUnit unit, aside::BudgetScope scope) {
        aside::ScannerOptions options;
        options.budget = limit;
        options.budget_unit = unit;
        options.budget_scope = scope;
        Scanner scanner(Dialect::find("thinking-tags"), options);
        const Stream stream = by_callable(scanner, {text});
        EXPECT_EQ(by_loops(scanner, {text}), stream);
        EXPECT_EQ(stream.all(), text);
        std::vector<std::uint64_t> at;
        for (const Heard &event : stream.events)
            if (event.kind == Kind::budget)
                at.push_back(event.offset);
        return at;
    };
    using Unit = aside::BudgetUnit;
    using Scope = aside::BudgetScope;
    using At = std::vector<std::uint64_t>;
    EXPECT_EQ(over(aside::unlimited, Unit::characters, Scope::stream), At{});
    EXPECT_EQ(over(5, Unit::bytes, Scope::span), At{});
    EXPECT_EQ(over(4, Unit::bytes, Scope::span), At{11});
    EXPECT_EQ(over(1, Unit::characters, Scope::span), (At{9, 29}));
    EXPECT_EQ(over(4, Unit::characters, Scope::stream), At{29});
    EXPECT_EQ(over(0, Unit::bytes, Scope::stream), At{7});
}

TEST(Scanner, ClosesThinkingByForce)
{
    for (const bool by_loop : {false, true}) {
        Scanner scanner(Dialect::find("inline-think"));
        Stream stream;
        const auto hear = [&](const Event &event) { stream.hear(event); };
        scanner.feed("<think>ab</thi", hear);
        if (by_loop)
            for (const Event &event : scanner.force_close_events())
                stream.hear(event);
        else
            EXPECT_TRUE(scanner.force_close(hear));
        EXPECT_EQ(stream.events.back().kind, Kind::close);
        EXPECT_EQ(stream.events.back().cause, Cause::forced);
        EXPECT_TRUE(scanner.force_close([](const Event &) { ADD_FAILURE() << "nothing is open"; }));
        scanner.feed(" </think>c", hear);
        scanner.finish(hear);
        EXPECT_EQ(stream.text(Channel::thinking), "ab</thi");
        EXPECT_EQ(stream.text(Channel::content), " c");
    }
    Scanner paused(Dialect::find("inline-think"));
    paused.feed("<think>a<", nothing);
    std::size_t events = 1;
    while (!paused.force_close([](const Event &) { return Flow::pause; }))
        events++;
    EXPECT_GT(events, 2u);
}

TEST(Scanner, TakesBackContentThatWasThinking)
{
    Scanner scanner(Dialect::load("name = \"late\"\nstray_close = \"reclassify\"\n[[span]]\nchannel = \"thinking\"\n"
                                  "open = [\"<think>\"]\nclose = [\"</think>\"]\n"));
    for (const Stream &stream : {by_callable(scanner, {"hm</thi", "nk>yes"}), by_loops(scanner, {"hm</thi", "nk>yes"})})
        EXPECT_EQ(count(stream, Kind::reclassify), 1u) << stream;
    EXPECT_EQ(scanner.counts(Channel::thinking).bytes, 2u); // counts of the stream that was finished last
    EXPECT_EQ(scanner.counts(Channel::content).bytes, 3u);
}

TEST(Scanner, LeavesStrayClosersToAHostThatWantsThem)
{
    aside::ScannerOptions options;
    options.stray_close = aside::StrayClose::text;
    Scanner scanner(Dialect::find("qwen3"), options);
    const Stream stream = by_loops(scanner, {"a</thi", "nk>b"});
    EXPECT_EQ(stream.text(Channel::content), "a</think>b") << stream;

    aside::RewriterOptions same;
    same.stray_close = aside::StrayClose::text;
    aside::Rewriter rewriter(Dialect::find("qwen3"), same);
    const std::string chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a</think>b\"}}]}\n\n";
    const auto stays = [&] {
        std::string out(rewriter.feed(chunk));
        out += rewriter.finish();
        EXPECT_EQ(out, chunk);
    };
    stays();
    rewriter.use_dialect(nullptr, aside::Start::content);
    stays();
    rewriter.use_dialect(Dialect::find("glm-4.5"));
    stays();
    EXPECT_EQ(rewriter.start_from_prompt("<|im_start|>assistant\n<think>\n\n</think>\n\n"), aside::Start::content);
    stays();

    options.stray_close = aside::StrayClose::drop;
    Scanner dropping(Dialect::find("qwen3"), options);
    const Stream dropped = by_loops(dropping, {"a</thi", "nk>b"});
    EXPECT_EQ(dropped.text(Channel::content), "ab") << dropped;

    options.stray_close = static_cast<aside::StrayClose>(3);
    EXPECT_THROW(Scanner(Dialect::find("qwen3"), options), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::option);
    same.stray_close = static_cast<aside::StrayClose>(3);
    EXPECT_THROW(aside::Rewriter(Dialect::find("qwen3"), same), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::option);
}

TEST(Scanner, SaysThatAGuessedThinkingWasTheAnswer)
{
    Scanner scanner(Dialect::find("qwen3-thinking"));
    bool is_guessed = false;
    EXPECT_EQ(scanner.start(&is_guessed), aside::Start::thinking);
    EXPECT_TRUE(is_guessed);
    Channel was = Channel::thinking;
    scanner.feed("Yes.", [](const Event &) {});
    scanner.end_reason(aside::EndReason::ended);
    scanner.finish([&](const Event &event) {
        if (event.kind == Kind::reclassify)
            was = event.channel;
    });
    EXPECT_EQ(was, Channel::content);
    EXPECT_EQ(scanner.counts(Channel::content).bytes, 4u);
    EXPECT_EQ(thrown([&] { scanner.end_reason(static_cast<aside::EndReason>(3)); }), Status::option);
    scanner.start_from_prompt("<think>\n");
    static_cast<void>(scanner.start(&is_guessed));
    EXPECT_FALSE(is_guessed);

    const std::string body = "{\"choices\":[{\"message\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}";
    aside::RewriterOptions options;
    for (const bool keep : {false, true}) {
        options.keep_guessed = keep;
        aside::Rewriter rewriter(Dialect::find("qwen3-thinking"), options);
        std::string out(rewriter.feed(body));
        out += rewriter.finish();
        EXPECT_EQ(out == body, !keep) << out;
    }
}

// Markers must count only if a special token begins them: with a callable and in loops, at every cut into two, and with pauses.
TEST(Scanner, KnowsTokens)
{
    const Dialect dialect = Dialect::load("name = \"special\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\n"
                                          "close = [\"</think>\"]\nspecial = true\n");
    const std::string_view text = "a <think>b<think>c";
    const std::array<Token, 7> tokens = {{{2, 0}, {3, 0}, {4, 0}, {0, 1}, {1, 0}, {7, 1}, {1, 0}}};
    Scanner scanner(dialect);
    const auto check = [&](const Stream &stream) {
        EXPECT_EQ(stream.text(Channel::content), "a <think>b");
        EXPECT_EQ(stream.text(Channel::thinking), "c");
        EXPECT_EQ(stream.all(), text);
        const Counts counts = scanner.counts(Channel::content);
        EXPECT_EQ(counts.tokens, 4u);
        EXPECT_EQ(counts.bytes, 10u);
        EXPECT_EQ(counts.characters, 10u);
        EXPECT_EQ(scanner.counts(Channel::thinking).tokens, 1u);
        EXPECT_EQ(scanner.counts(Channel::thinking).spans, 1u);
        ASSERT_GE(stream.events.size(), 3u);
        std::uint64_t first = 0;
        for (const Heard &event : stream.events) {
            EXPECT_EQ(event.first_token, first) << stream;
            first += event.tokens;
        }
        EXPECT_EQ(first, 6u);
        EXPECT_EQ(stream.events[0].tokens, 4u); // the text before the marker
        EXPECT_EQ(stream.events[1].tokens, 1u); // the marker
    };

    std::size_t at = 0;
    for (std::size_t first = 0; first <= tokens.size(); at += first < tokens.size() ? tokens[first].len : 0, first++) {
        const auto middle = tokens.begin() + static_cast<std::ptrdiff_t>(first);
        const std::vector<Token> before(tokens.begin(), middle), behind(middle, tokens.end());
        Stream stream;
        const auto hear = [&](const Event &event) { stream.hear(event); };
        EXPECT_TRUE(scanner.feed_tokens(text.substr(0, at), before, hear));
        EXPECT_TRUE(scanner.feed_tokens(text.substr(at), behind, hear));
        scanner.finish(hear);
        check(stream);

        stream = {};
        for (const Event &event : scanner.token_events(text.substr(0, at), before))
            stream.hear(event);
        for (const Event &event : scanner.token_events(text.substr(at), behind))
            stream.hear(event);
        scanner.finish(hear);
        check(stream);
    }

    Stream stream; // iterates the same range again
    auto range = scanner.token_events(text, tokens);
    while (range.status() == Status::more)
        for (const Event &event : range) {
            stream.hear(event);
            break;
        }
    EXPECT_EQ(range.status(), Status::ok);
    EXPECT_EQ(range.rest(), "");
    scanner.finish([&](const Event &event) { stream.hear(event); });
    check(stream);

    EXPECT_EQ(thrown([&] { (void)scanner.feed_tokens("ab", tokens, nothing); }), Status::length);
    auto wrong = scanner.token_events("ab", tokens);
    EXPECT_THROW(wrong.begin(), aside::Error);
    EXPECT_EQ(wrong.status(), Status::length);
    EXPECT_THROW(scanner.feed_tokens("ab", tokens, nothing), aside::Error);
}

// If an event ends inside a token, the rest of the token is fed separately, and must not begin a marker.
TEST(Scanner, PullsEventsOutOfATokenOfSeveral)
{
    const std::string_view text = "<think>a</think>b<think>c";
    const Token tokens[] = {{17, 1}, {8, 0}};
    Scanner scanner(Dialect::find("think"));
    Stream pushed, pulled;
    scanner.feed_tokens(text, tokens, [&](const Event &event) { pushed.hear(event); });
    const Counts thinking = scanner.counts(Channel::thinking), content = scanner.counts(Channel::content);
    scanner.finish([&](const Event &event) { pushed.hear(event); });
    for (const Event &event : scanner.token_events(text, tokens))
        pulled.hear(event);
    EXPECT_EQ(scanner.counts(Channel::thinking).tokens, thinking.tokens);
    EXPECT_EQ(scanner.counts(Channel::content).tokens, content.tokens);
    scanner.finish([&](const Event &event) { pulled.hear(event); });
    EXPECT_EQ(pulled, pushed);
    EXPECT_EQ(pulled.all(), text);
    EXPECT_EQ(find(pulled.events, Kind::open, 0), "<think>");
}

TEST(Scanner, CountsWhatItHasReported)
{
    Scanner scanner(Dialect::find("inline-think"));
    scanner.feed("<think>\xc3\xa9</think>ab<", nothing);
    EXPECT_EQ(scanner.counts(Channel::thinking).characters, 1u);
    EXPECT_EQ(scanner.counts(Channel::thinking).bytes, 2u);
    EXPECT_EQ(thrown([&] { (void)scanner.counts(static_cast<Channel>(4)); }), Status::range);
    EXPECT_THROW((void)Scanner().counts(Channel::content), aside::Error);
}

TEST(Scanner, ThatIsClonedGoesOnTwice)
{
    Scanner scanner(Dialect::find("inline-think"));
    std::string of_first, of_second;
    scanner.feed("<think>a</thi", nothing);
    for (const Event &event : scanner.events("n")) // allocates memory that the clone must not share
        of_first += event.bytes;
    Scanner second = scanner.clone();
    EXPECT_EQ(second.held(), scanner.held());
    const auto first_hears = [&](const Event &event) { of_first += event.is_text(Channel::content) ? event.bytes : ""; };
    const auto second_hears = [&](const Event &event) { of_second += event.is_text(Channel::thinking) ? event.bytes : ""; };
    scanner.feed("k>b", first_hears);
    for (const Event &event : second.events("g"))
        second_hears(event);
    EXPECT_EQ(of_first, "b");
    EXPECT_EQ(of_second, "</thing");
    EXPECT_THROW((void)Scanner().clone(), aside::Error);
    scanner.feed("c", [&](const Event &) {
        EXPECT_THROW((void)scanner.clone(), aside::Error);
        EXPECT_EQ(aside::last_status(), Status::busy);
    });
}

} // namespace
