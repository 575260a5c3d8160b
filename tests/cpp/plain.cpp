// Uses the templates of aside.hpp, which must compile without run-time types in every standard of C++. It does not use a test
// library.
#include <aside.hpp>

#include <cstdio>

#if __cplusplus >= 202002L
#include <ranges>
static_assert(std::ranges::input_range<aside::EventRange>);
static_assert(std::ranges::input_range<aside::Parts>);
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
    const aside::Dialect dialect = aside::Dialect::find("thought-stream");
    aside::ScannerOptions options;
    options.budget = 1;
    aside::Scanner scanner(dialect, options);
    std::string content;
    const auto hear = [&](const aside::Event &event) {
        if (event.is_text(aside::Channel::content))
            content += event.bytes;
    };
    check(scanner.feed("a<thin", hear) && scanner.feed("king x='1'>b</thinking>c<", hear), "fed");
    check(scanner.flush(hear) && scanner.finish(hear) && content == "ac<", "finished");
    check(!scanner.feed("d", [](const aside::Event &) { return aside::Flow::pause; }), "paused");
    scanner.reset();

    content.clear();
    auto range = scanner.events("e<thinking>f");
    for (const aside::Event &event : range)
        content += event.bytes;
    check(range.status() == Status::ok && content == "e<thinking>f", "a loop");
    for (const aside::Event &event : scanner.finish_events())
        check(event.cause == aside::Cause::end_of_stream || event.bytes.empty(), "the end");

    check(scanner.start_from_prompt("<thinking>") == aside::Start::thinking, "a prompt");
    const aside::Token tokens[] = {{2, 0}, {1, 0}};
    check(scanner.feed_tokens("abc", tokens, hear), "tokens");
    aside::Scanner other = scanner.clone();
    for (const aside::Event &event : other.token_events("def", tokens))
        check(event.is_text(aside::Channel::thinking), "a clone continues");
    check(scanner.force_close(hear), "closed");
    for (const aside::Event &event : other.force_close_events())
        check(event.cause == aside::Cause::forced, "closed in a loop");

    aside::Answer answer(aside::Dialect::find("qwen3"));
    content.clear();
    for (const aside::Part &part : answer.feed("<think>hm</think>Yes."))
        content += std::string(part.text) + ';';
    check(content == "hm;Yes.;", content.c_str());
    check(answer.feed_tokens("abc", tokens).size() == 1, "tokens of an answer");
    return failures;
}
