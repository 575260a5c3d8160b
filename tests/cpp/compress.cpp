// aside_compress.hpp must wrap every exported function for tool results: calls, reports, filters and caches of the host, streams.
// Exceptions of callables must not pass through the library.
#include <aside_compress.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>

using aside::Compressed;
using aside::Compressor;
using aside::Invocation;
using aside::Registry;
using aside::Report;
using aside::Status;
using aside::ToolStream;

static_assert(std::is_nothrow_move_constructible_v<Registry> && !std::is_copy_constructible_v<Registry>);
static_assert(std::is_nothrow_move_assignable_v<Compressor> && !std::is_copy_constructible_v<Compressor>);
static_assert(std::is_nothrow_move_assignable_v<ToolStream> && !std::is_copy_constructible_v<ToolStream>);

namespace {

std::string repeated(const std::string &text, int times)
{
    std::string all;
    while (times-- > 0)
        all += text;
    return all;
}

const std::string noise = repeated("the noise\n", 400) + "error: the end.\n";
const Invocation make{"bash", R"({ "command": "make" })", 1000};

template <class F>
Status status_of(F run)
{
    try {
        run();
        return Status::ok;
    } catch (const aside::Error &error) {
        return error.status();
    }
}

std::optional<std::string> half(const Invocation &, std::string_view text)
{
    return std::string(text.substr(0, text.size() / 2));
}

bool ends_with(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

TEST(Compress, KeepsToABudgetInTokens)
{
    std::string log;
    for (int i = 0; i < 5000; i++)
        log += "step " + std::to_string(i) + " is done\n";
    aside::CompressorOptions options;
    options.budget_tokens = 600;
    const auto shown = [&] {
        const Compressed result = Compressor(Registry(), options).compress(make, {log});
        return std::pair(std::string(result.text(0, log)), result.report().failed.size());
    };
    const auto [estimated, none] = shown();
    EXPECT_TRUE(estimated.size() <= 3600 && none == 0);
    options.count = [](std::string_view text) { return text.size() / 2; };
    EXPECT_LE(shown().first.size(), 1201U);
    options.count = [](std::string_view) -> std::size_t { throw std::runtime_error("no tokenizer"); };
    EXPECT_EQ(shown(), std::pair(estimated, std::size_t{1}));
    options.budget_tokens = 511;
    EXPECT_EQ(status_of([&] { Compressor(Registry(), options); }), Status::option);
}

TEST(Compress, MakesATextShorterAndReports)
{
    const Compressor compressor;
    const Compressed result = compressor.compress(make, {noise, std::nullopt, "short", std::string_view()});
    const std::string_view text = result.text(0, noise);
    EXPECT_EQ(text.find("[Output compressed by repeats (4016 "), 0u);
    EXPECT_TRUE(ends_with(text, "\nerror: the end.\n"));
    EXPECT_EQ(result.text(2, "short"), "short");
    EXPECT_EQ(status_of([&] { static_cast<void>(result.text(4, "")); }), Status::range);

    const Report report = result.report();
    EXPECT_EQ(report.before, 4021u);
    EXPECT_LT(report.after, 400u);
    ASSERT_EQ(report.filters.size(), 1u);
    EXPECT_EQ(report.filters[0], "repeats");
    EXPECT_TRUE(report.failed.empty() && report.hit.empty() && !report.cut_protected && !report.unexplained);
    ASSERT_EQ(report.parts.size(), 1u);
    EXPECT_EQ(report.parts[0].len, noise.size());
    std::uint64_t at = 0;
    for (const aside::Stretch &stretch : report.parts[0].stretches) {
        EXPECT_EQ(stretch.start, at);
        EXPECT_EQ(stretch.change == aside::Change::kept, stretch.filter.empty());
        EXPECT_EQ(result.slice(0, noise, stretch.start, stretch.len), noise.substr(stretch.start, stretch.len));
        at += stretch.len;
    }
    EXPECT_EQ(at, noise.size());
    EXPECT_EQ(status_of([&] { static_cast<void>(result.slice(0, "other", 0, 1)); }), Status::original);
    EXPECT_EQ(status_of([&] { static_cast<void>(result.slice(0, noise, 1, noise.size())); }), Status::range);
    EXPECT_EQ(status_of([] { static_cast<void>(Compressed().report()); }), Status::null);
}

TEST(Compress, TakesOptions)
{
    EXPECT_TRUE(aside::has_unstable());
    aside::CompressorOptions options;
    options.budget = 1023;
    EXPECT_EQ(status_of([&] { Compressor(Registry(), options); }), Status::option);
    Registry registry;
    registry.minify_json();
    EXPECT_EQ(status_of([&] { registry.add_toml("="); }), Status::filter);
    options.budget = 0;
    options.switch_off = "Ask me not.";
    const Compressor compressor(registry, options);
    const std::string json = "{" + std::string(2000, ' ') + "\"a\": 1.50}";
    EXPECT_TRUE(ends_with(compressor.compress({"x"}, {json}).text(0, json), "Ask me not.]\n{\"a\":1.50}"));
    EXPECT_EQ(status_of([&] { compressor.compress({"x", "{"}, {json}); }), Status::option);

    const Compressor nothing{Registry(Registry::From::nothing)};
    EXPECT_EQ(nothing.compress(make, {noise}).text(0, noise).data(), noise.data());
}

struct Speechless : std::exception {
    const char *what() const noexcept override { return nullptr; }
};

TEST(Compress, ReportsWhatCallablesThrow)
{
    auto held = std::make_shared<int>(0);
    Registry registry(Registry::From::nothing);
    registry.add_filter(
        {"throws", {}, {}, [](auto, auto) -> std::optional<std::string> { throw std::runtime_error("broken"); }});
    registry.add_filter({"throws 7", {}, {}, [](auto, auto) -> std::optional<std::string> { throw 7; }});
    registry.add_filter({"throws nothing", {}, {}, [](auto, auto) -> std::optional<std::string> { throw Speechless(); }});
    registry.add_filter({"no match", {}, [](auto &) -> bool { throw std::runtime_error("unmatched"); }, half});
    registry.add_filter({"other tool", {"fish"}, {}, half});
    registry.add_filter({"idle", {}, {}, [](auto, auto) { return std::nullopt; }});
    registry.add_filter({"half",
                         {"bash"},
                         [](auto &run) { return run.input == R"({"command":"make"})"; },
                         [held](auto &run, auto text) { return half(run, text); }});
    EXPECT_EQ(status_of([&] { registry.add_filter({"none", {}, {}, {}}); }), Status::null);
    EXPECT_EQ(status_of([&] {
                  registry.add_filter({"", {}, {}, [held](auto, auto) { return std::nullopt; }});
              }),
              Status::option);
    EXPECT_EQ(held.use_count(), 2);
    {
        const Compressor compressor(registry);
        registry = Registry(Registry::From::nothing);
        EXPECT_EQ(held.use_count(), 2);
        for (int turn = 0; turn < 2; turn++) {
            const Compressed result = compressor.compress(make, {noise});
            const Report report = result.report();
            ASSERT_EQ(report.filters.size(), 1u);
            EXPECT_EQ(report.filters[0], "half");
            ASSERT_EQ(report.failed.size(), 4u);
            EXPECT_EQ(report.failed[0].reason, "broken");
            EXPECT_EQ(report.failed[1].reason, "an exception");
            EXPECT_EQ(report.failed[2].reason, "an exception");
            EXPECT_EQ(report.failed[3].id, "no match");
            EXPECT_EQ(report.failed[3].reason, "unmatched");
            EXPECT_TRUE(ends_with(result.text(0, noise), noise.substr(0, noise.size() / 2)));
        }
    }
    EXPECT_EQ(held.use_count(), 1);
}

TEST(Compress, RefusesCallsFromItsOwnCallables)
{
    const Compressor *self = nullptr;
    Status inner = Status::ok;
    Registry registry(Registry::From::nothing);
    registry.add_filter({"calls", {}, {}, [&](const Invocation &, std::string_view text) -> std::optional<std::string> {
                             inner = status_of([&] { self->compress(make, {text}); });
                             return std::nullopt;
                         }});
    const Compressor compressor(registry);
    self = &compressor;
    compressor.compress(make, {noise});
    EXPECT_EQ(inner, Status::busy);
}

TEST(Compress, AsksCaches)
{
    std::optional<aside::Hit> recorded;
    int seen = 0;
    std::string thrower;
    const auto fail = [&](const char *where) {
        if (thrower == where)
            throw std::runtime_error(where);
    };
    Registry own;
    own.add_cache({"own",
                   {"bash"},
                   [&](auto &) {
                       fail("observe");
                       seen++;
                   },
                   [&](auto &) {
                       fail("lookup");
                       return recorded;
                   },
                   [&](auto &run, auto text) {
                       fail("record");
                       recorded = aside::Hit{std::string(text), run.now};
                   }});
    EXPECT_EQ(status_of([&] { own.add_cache({"none", {}, {}, {}, {}}); }), Status::null);
    const Compressor compressor(own);
    EXPECT_TRUE(compressor.compress(make, {noise}).report().hit.empty());
    EXPECT_EQ(seen, 1);
    for (const char *where : {"observe", "lookup", "record"}) {
        recorded.reset();
        thrower = where;
        const Compressed failed = compressor.compress(make, {noise});
        const Report report = failed.report();
        ASSERT_EQ(report.failed.size(), 1u) << where;
        EXPECT_EQ(report.failed[0].id, "own");
        EXPECT_EQ(report.failed[0].reason, where);
        EXPECT_EQ(report.filters.size(), 1u);
    }
    thrower.clear();
    recorded.reset();
    compressor.compress(make, {noise});
    const Compressed hit = compressor.compress(make, {noise});
    EXPECT_EQ(hit.report().hit, "own");
    EXPECT_EQ(hit.text(0, noise).find("Same output as last run (1970-01-01T00:16:40"), 0u);

    Registry last;
    last.add_last_run(1 << 20);
    const Compressor remembers(last);
    remembers.compress(make, {noise});
    EXPECT_EQ(remembers.compress(make, {noise}).report().hit, "last-run");
}

TEST(Compress, Streams)
{
    std::string expected;
    {
        const Compressor compressor;
        const Compressed result = compressor.compress(make, {noise});
        const std::string_view text = result.text(0, noise);
        expected = text.substr(text.find('\n') + 1);
    }
    for (const std::size_t step : {std::size_t(1), std::size_t(7), noise.size()}) {
        auto compressor = std::make_unique<Compressor>();
        ToolStream stream(*compressor, make, 1 << 16);
        compressor.reset();
        std::string out;
        for (std::size_t at = 0; at < noise.size(); at += step)
            out += stream.feed(std::string_view(noise).substr(at, step));
        Compressed result;
        EXPECT_FALSE(result);
        out += stream.finish(result);
        EXPECT_EQ(out, expected);
        ASSERT_TRUE(result);
        EXPECT_EQ(result.report().filters.size(), 1u);
        EXPECT_EQ(status_of([&] { stream.feed("a"); }), Status::order);
    }
    EXPECT_EQ(status_of([] { ToolStream(Compressor(), make, 10); }), Status::option);
}

TEST(Compress, TakesTheExitCodeOfAStreamLast)
{
    for (const std::int64_t code : {0, 2}) {
        const Invocation pytest{"bash", "{\"command\": \"pytest\"}"};
        ToolStream stream(Compressor(), pytest, 1 << 16);
        stream.feed("==== 3 passed in 0.1s ====\n");
        stream.set_exit_code(code);
        Compressed result;
        stream.finish(result);
        EXPECT_EQ(result.report().unexplained, code == 2);
        EXPECT_EQ(status_of([&] { stream.set_exit_code(1); }), Status::order);
    }
}

TEST(Compress, BoundsWhatATextMayTake)
{
    std::string text;
    for (int line = 0; line < 100000; line++)
        text += "the same line\n";
    aside::CompressorOptions options;
    options.budget = 2000;
    options.memory = 8192;
    const Compressed result = Compressor(Registry(), options).compress(make, {text});
    EXPECT_LE(result.text(0, text).size(), 2000u);
    EXPECT_TRUE(result.report().parts.empty());
}

TEST(Compress, RunsInManyThreads)
{
    Registry registry(Registry::From::nothing);
    registry.add_filter({"odd", {}, [](auto &run) -> bool { throw std::runtime_error(std::string(run.input)); }, half});
    const Compressor compressor(registry);
    std::vector<int> wrong(4, 0);
    std::vector<std::thread> threads;
    for (std::size_t at = 0; at < wrong.size(); at++)
        threads.emplace_back([&, at] {
            for (int turn = 0; turn < 20; turn++) {
                const std::string input = std::to_string(turn * 10 + static_cast<int>(at));
                const Compressed result = compressor.compress({"x", input}, {noise});
                const Report report = result.report();
                wrong[at] += report.failed.size() != 1 || report.failed[0].reason != input;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

} // namespace
