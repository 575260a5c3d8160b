// aside.hpp must compile without exceptions and run-time types, in every standard: all of its noexcept half, with no test
// library.
#include <aside.hpp>

#include <cstdio>

#if __cplusplus >= 202002L
#include <ranges>
static_assert(std::ranges::input_range<aside::EventRange<false>>);
#endif

namespace {

int failures = 0;

void check(bool good, const char *what)
{
    if (!good) {
        std::fprintf(stderr, "not so: %s (%s)\n", what, aside::last_error());
        failures++;
    }
}

} // namespace

int main()
{
    using aside::Status;

    check(!aside::Dialect::try_find("inline-thimk") && aside::last_status() == Status::unknown, "no such dialect");
    check(!aside::Dialect::try_load("=") && aside::last_status() == Status::dialect, "no dialect at all");
    const aside::Dialect dialect = aside::Dialect::try_find("thought-stream");
    aside::ScannerOptions options;
    options.collect = 100;
    aside::Scanner scanner = aside::Scanner::try_make(dialect, options);
    check(static_cast<bool>(scanner), "a scanner");

    std::string content, thinking, name;
    const auto hear = [&](const aside::Event &event) {
        if (event.is_text(aside::Channel::content))
            content += event.bytes;
        if (event.is_text(aside::Channel::thinking))
            thinking += event.bytes;
        if (event.kind == aside::Kind::attribute)
            name = event.name;
    };
    check(scanner.try_feed("a<thin", hear) == Status::ok, "fed");
    check(scanner.try_feed("king x='1'>b</thinking>c<", hear) == Status::ok, "fed");
    check(scanner.try_flush(hear) == Status::ok, "flushed");
    check(scanner.try_finish(hear) == Status::ok, "finished");
    check(content == "ac<" && thinking == "b" && name == "x", "both channels");
    check(scanner.try_feed("d", [](const aside::Event &) { return aside::Flow::pause; }) == Status::stopped, "paused");
    check(scanner.consumed() == 1 && scanner.held() == 0 && scanner.offset() == 1, "behind the pause");
    aside::Thought thought;
    check(scanner.try_take_thought(thought) == Status::ok && thought.text == "b", "a thought");
    check(thought.attributes.size() == 1 && thought.attributes[0].value == "1", "its attribute");
    check(scanner.try_reset() == Status::ok, "reset");

    content.clear();
    auto range = scanner.try_events("e<thinking>f");
    for (const aside::Event &event : range)
        content += event.bytes;
    check(range.status() == Status::ok && content == "e<thinking>f", "a loop");
    for (const aside::Event &event : scanner.try_flush_events())
        check(event.bytes.empty(), "nothing is held");
    for (const aside::Event &event : scanner.try_finish_events())
        check(event.kind == aside::Kind::close && event.cause == aside::Cause::end_of_stream, "the end");
    check(scanner.try_take_thought(thought) == Status::ok && thought.text == "f", "another thought");
    check(scanner.try_take_thought(thought) == Status::none, "no more");
    check(aside::try_strip(dialect, "<thinking>a</thinking> b ").view() == "b", "stripped");
    check(aside::Scanner().try_feed("a", hear) == Status::null, "an empty scanner");

    check(aside::Dialect::try_find_for_model("Qwen/Qwen3-32B-AWQ").name() == "qwen3", "a dialect by its model");
    check(!aside::Dialect::try_find_for_template("plain") && aside::last_status() == Status::unknown, "no template");
    check(dialect.family(0) == "thought-stream" && dialect.opener(0, 0) == "thinking", "what an open stands for");
    options.budget = 1;
    scanner = aside::Scanner::try_make(dialect, options);
    aside::Start start = aside::Start::dialect;
    check(scanner.try_start_from_prompt("<thinking>", &start) == Status::ok && start == aside::Start::thinking, "a prompt");
    const aside::Token tokens[] = {{2, 0}, {1, 0}};
    bool is_over = false;
    const auto watch = [&](const aside::Event &event) { is_over = is_over || event.kind == aside::Kind::budget; };
    check(scanner.try_feed_tokens("abc", tokens, watch) == Status::ok && is_over, "tokens, and a budget");
    aside::Scanner other = scanner.try_clone();
    for (const aside::Event &event : other.try_token_events("def", tokens))
        check(event.is_text(aside::Channel::thinking), "a clone goes on");
    aside::Counts counts;
    check(scanner.try_counts(aside::Channel::thinking, counts) == Status::ok && counts.tokens == 2, "counted");
    check(scanner.try_force_close(watch) == Status::ok, "closed");
    for (const aside::Event &event : other.try_force_close_events())
        check(event.cause == aside::Cause::forced, "closed in a loop");
    check(aside::try_join(dialect, "a", "b").view() == "<thinking>a</thinking>b", "joined");
    const aside::JoinCall calls[] = {{"f", "{}"}};
    check(!aside::try_join(dialect, "a", "b", aside::JoinOptions().set_calls(calls)) && aside::last_status() == Status::join,
          "no calls here");
    check(aside::try_escape(dialect, "a").view() == "a", "escaped");
    aside::Rewriter rewriter = aside::Rewriter::try_make(dialect);
    std::string_view out;
    check(rewriter.try_feed("data: [DO", out) == Status::ok && out.empty(), "rewriting");
    check(rewriter.try_finish(out) == Status::ok && out == "data: [DO", "rewritten");
    check(rewriter.try_reset() == Status::ok, "as new");
    aside::CallWriter writer = aside::CallWriter::try_make(dialect);
    aside::CallDelta delta;
    const auto write = [&](const aside::Event &event) {
        check(writer.try_feed(event, delta) == Status::none, "text is no call");
    };
    check(scanner.try_feed("text", write) == Status::ok && writer.try_reset() == Status::ok, "a call writer");
    return failures;
}
