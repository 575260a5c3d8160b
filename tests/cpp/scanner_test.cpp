// Tests the scanner of aside.hpp. No event may be lost or repeated, with callables and loops, pauses and exceptions. Tests also
// ownership, errors and thoughts.
#include "heard.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <type_traits>

using aside::Channel;
using aside::Dialect;
using aside::Event;
using aside::Flow;
using aside::Kind;
using aside::Scanner;
using aside::Status;

namespace {

// The texts have framing, a tag with attributes, characters of several bytes, invalid UTF-8, and spans with and without a closer.
struct Case {
    const char *dialect;
    std::string_view text;
};
const Case cases[] = {
    {"qwen3", "<think>\nTwice 21.\n</think>\n\nIt is \xe2\x80\x9c"
              "42\xe2\x80\x9d. <tool_call>{}</tool_call>"},
    {"thought-stream", "A <thinking thought=\"Ne&amp;ed\" confidence='0.9' /> B<thinking foo = \"1\">b\xc3\xa4h</thinking>"},
    {"fenced-thinking", "So:\n```thinking\nplan\n```rs\nfn main() {}\n```\n``` \nVisible \xff\xfe"},
    {"inline-think", "<think>still go</thin"},
};

Scanner scanner_of(const Case &of) { return Scanner(Dialect::find(of.dialect)); }

std::vector<std::string_view> bytes_of(std::string_view text)
{
    std::vector<std::string_view> chunks;
    for (std::size_t at = 0; at < text.size(); at++)
        chunks.push_back(text.substr(at, 1));
    return chunks;
}

void nothing(const Event &) noexcept {}

const auto careful = [](const Event &) noexcept {};

static_assert(!std::is_copy_constructible_v<Scanner> && !std::is_copy_assignable_v<Scanner>);
static_assert(std::is_nothrow_move_constructible_v<Scanner> && std::is_nothrow_move_assignable_v<Scanner>);
static_assert(!std::is_copy_constructible_v<Dialect> && !std::is_copy_assignable_v<Dialect>);
static_assert(std::is_nothrow_move_constructible_v<Dialect> && std::is_nothrow_move_assignable_v<Dialect>);

TEST(Dialect, IsFoundByNameAndAlias)
{
    const Dialect dialect = Dialect::find("qwen3");
    EXPECT_TRUE(dialect);
    EXPECT_EQ(dialect.name(), "qwen3");
    EXPECT_EQ(Dialect::find("gpt-oss").name(), "harmony");
    EXPECT_EQ(Dialect::find("inline-think").max_hold(), 7u);
    const std::vector<std::string_view> names = Dialect::names();
    ASSERT_GT(names.size(), 10u);
    for (std::size_t at = 0; at < names.size(); at++) {
        EXPECT_EQ(Dialect::find(names[at]).name(), names[at]);
        EXPECT_TRUE(at == 0 || names[at - 1] < names[at]) << names[at];
    }
}

TEST(Dialect, ThatIsNotThereIsAnError)
{
    try {
        (void)Dialect::find("inline-thimk");
        FAIL();
    } catch (const aside::Error &error) {
        EXPECT_EQ(error.status(), Status::unknown);
        EXPECT_NE(std::string(error.what()).find("inline-think"), std::string::npos) << error.what();
    }
    const Dialect none = Dialect::try_find("inline-thimk");
    EXPECT_FALSE(none);
    EXPECT_EQ(aside::last_status(), Status::unknown);
    EXPECT_STRNE(aside::last_error(), "");
    EXPECT_EQ(none.name(), "");
    EXPECT_EQ(none.max_hold(), 0u);
    EXPECT_THROW(Scanner{none}, aside::Error);
}

TEST(Dialect, IsLoadedFromText)
{
    const char *const toml = "name = \"own\"\nstart = \"content\"\n[[span]]\nchannel = \"thinking\"\n"
                             "open = [\"<<\"]\nclose = [\">>\"]\n";
    Scanner scanner;
    {
        Dialect own = Dialect::load(toml);
        EXPECT_EQ(own.name(), "own");
        const Dialect moved = std::move(own);
        scanner = Scanner(moved);
    } // the scanner keeps the dialect's data
    EXPECT_EQ(by_callable(scanner, {"a<", "<b>", ">c"}).text(Channel::thinking), "b");

    EXPECT_THROW((void)Dialect::load("name = \"own\"\nnmae = 1\n"), aside::Error);
    try {
        (void)Dialect::load("name = \"own\"\nnmae = 1\n");
        FAIL();
    } catch (const aside::Error &error) {
        EXPECT_EQ(error.status(), Status::dialect);
        EXPECT_NE(std::string(error.what()).find("nmae"), std::string::npos) << error.what();
    }
}

TEST(Scanner, TakesTextWithoutAnEvent)
{
    Scanner scanner(Dialect::find("qwen3"));
    EXPECT_EQ(scanner.feed_text("a"), std::nullopt);
    scanner.feed("<think>\nhm", nothing);
    EXPECT_EQ(scanner.feed_text(", so"), Channel::thinking);
    EXPECT_EQ(scanner.feed_text("</th"), std::nullopt);
    EXPECT_EQ(scanner.offset(), 14u);
}

TEST(Scanner, GivesTheSameEventsBothWaysAndHoweverItIsCut)
{
    for (const Case &of : cases) {
        Scanner scanner = scanner_of(of);
        const Stream whole = by_callable(scanner, {of.text});
        EXPECT_EQ(whole.all(), of.text);
        EXPECT_EQ(by_callable(scanner, bytes_of(of.text)), whole);
        EXPECT_EQ(by_loops(scanner, bytes_of(of.text)), whole);
        for (std::size_t one = 0; one <= of.text.size(); one++)
            for (std::size_t two = one; two <= of.text.size(); two++) {
                const std::vector<std::string_view> chunks = {of.text.substr(0, one), of.text.substr(one, two - one),
                                                              of.text.substr(two)};
                ASSERT_EQ(by_loops(scanner, chunks), whole) << of.dialect << ' ' << one << ' ' << two;
                if (one == two) {
                    ASSERT_EQ(by_callable(scanner, chunks), whole) << of.dialect << ' ' << one;
                }
            }
    }
}

TEST(Scanner, PointsIntoTheChunk)
{
    Scanner scanner = scanner_of(cases[0]);
    scanner.feed("Now ", nothing);
    const std::string_view chunk = "plain";
    scanner.feed(chunk, [&](const Event &event) { EXPECT_EQ(event.bytes.data(), chunk.data()); });
    for (const Event &event : scanner.events(chunk))
        EXPECT_EQ(event.bytes.data(), chunk.data());
    EXPECT_EQ(scanner.consumed(), chunk.size());
    EXPECT_EQ(scanner.offset(), 4 + 2 * chunk.size());
}

TEST(Scanner, TakesCallablesOfManyKinds)
{
    struct Counter {
        Counter() = default;
        Counter(const Counter &) = delete; // never copied
        int events = 0;
        void operator()(const Event &) { events++; }
    } counter;
    Scanner scanner(Dialect::find("inline-think"));
    scanner.feed("<think>a", counter);
    scanner.feed("b", counter);
    EXPECT_EQ(counter.events, 3);
    EXPECT_TRUE(scanner.feed("c", nothing));
    EXPECT_TRUE(scanner.feed("d", &nothing));
    EXPECT_TRUE(scanner.feed("e", [](Event event) { EXPECT_EQ(event.bytes, "e"); }));
    EXPECT_TRUE(scanner.finish([](const auto &) { return Flow::go_on; }));
}

TEST(Scanner, GoesOnBehindAPauseAtEveryEvent)
{
    for (const Case &of : cases) {
        Scanner scanner = scanner_of(of);
        const Stream whole = by_callable(scanner, {of.text});
        Stream stream;
        const auto pause = [&](const Event &event) {
            stream.hear(event);
            return Flow::pause;
        };
        std::string_view rest = of.text;
        while (!scanner.feed(rest, pause))
            rest.remove_prefix(scanner.consumed());
        EXPECT_EQ(thrown([&] { (void)scanner.finish(careful); }), Status::ok); // no event of the end is received
        scanner.reset();

        stream = {};
        rest = of.text;
        while (!scanner.feed(rest, pause))
            rest.remove_prefix(scanner.consumed());
        while (!scanner.finish(pause)) {
            EXPECT_EQ(thrown([&] { (void)scanner.feed("x", careful); }), Status::order);
        }
        EXPECT_EQ(stream, whole) << of.dialect;
    }
}

TEST(Scanner, GoesOnBehindALoopThatWasLeft)
{
    for (const Case &of : cases) {
        Scanner scanner = scanner_of(of);
        const Stream whole = by_callable(scanner, {of.text});

        Stream stream; // iterates the same range again
        auto range = scanner.events(of.text);
        while (range.status() == Status::more)
            for (const Event &event : range) {
                stream.hear(event);
                break;
            }
        EXPECT_EQ(range.rest(), "");
        auto end = scanner.finish_events();
        while (end.status() == Status::more)
            for (const Event &event : end) {
                stream.hear(event);
                break;
            }
        EXPECT_EQ(stream, whole) << of.dialect;

        stream = {}; // loops over ranges, and a callable for the end
        std::string_view rest = of.text;
        for (bool is_done = false; !is_done;) {
            auto part = scanner.events(rest);
            for (const Event &event : part) {
                stream.hear(event);
                break;
            }
            is_done = part.status() == Status::ok;
            rest = part.rest();
        }
        scanner.finish([&](const Event &event) { stream.hear(event); });
        EXPECT_EQ(stream, whole) << of.dialect;
    }
}

TEST(Scanner, ThrowsAgainWhatACallableThrewAtAnyEventAndGoesOn)
{
    for (const Case &of : cases) {
        Scanner scanner = scanner_of(of);
        const Stream whole = by_callable(scanner, {of.text});
        Stream stream;
        int thrown = 0;
        const auto fail = [&](const Event &event) {
            stream.hear(event);
            throw std::out_of_range("at " + std::to_string(event.offset));
        };
        std::string_view rest = of.text;
        for (bool is_done = false; !is_done;) {
            try {
                is_done = scanner.feed(rest, fail);
            } catch (const std::out_of_range &error) {
                EXPECT_EQ(std::string(error.what()).rfind("at ", 0), 0u);
                rest.remove_prefix(scanner.consumed());
                thrown++;
            }
        }
        for (bool is_done = false; !is_done;) {
            try {
                is_done = scanner.finish(fail);
            } catch (const std::out_of_range &) {
                thrown++;
            }
        }
        EXPECT_EQ(stream, whole) << of.dialect;
        EXPECT_GT(thrown, 2);
    }
}

TEST(Scanner, FlushesWhatIsHeld)
{
    Scanner scanner(Dialect::find("inline-think"));
    scanner.feed("<thi", nothing);
    EXPECT_EQ(scanner.held(), 4u);
    EXPECT_EQ(scanner.max_hold(), 7u);
    std::string text;
    EXPECT_TRUE(scanner.flush([&](const Event &event) { text += event.bytes; }));
    EXPECT_EQ(text, "<thi");
    EXPECT_EQ(scanner.held(), 0u);

    scanner.reset();
    scanner.feed("<thi", nothing);
    text.clear();
    for (const Event &event : scanner.flush_events())
        text += event.bytes;
    EXPECT_EQ(text, "<thi");
    EXPECT_THROW(
        {
            scanner.reset();
            scanner.feed("<thi", nothing);
            scanner.flush([](const Event &) { throw 7; });
        },
        int);
    EXPECT_TRUE(scanner.flush(nothing));
}

TEST(Scanner, IsAsNewAfterAResetAndAFinish)
{
    Scanner scanner(Dialect::find("inline-think"));
    scanner.feed("<think>a", nothing);
    scanner.reset();
    EXPECT_EQ(scanner.offset(), 0u);
    EXPECT_EQ(by_callable(scanner, {"b"}).text(Channel::content), "b");
    EXPECT_EQ(by_callable(scanner, {"<think>c"}).text(Channel::thinking), "c");
}

TEST(Scanner, StartsWhereItIsTold)
{
    aside::ScannerOptions options;
    options.start = aside::Start::thinking;
    Scanner scanner(Dialect::find("qwen3"), options);
    EXPECT_EQ(by_callable(scanner, {"hm</think>Yes."}).text(Channel::thinking), "hm");

    options.start = aside::Start::header;
    EXPECT_THROW(Scanner(Dialect::find("qwen3"), options), aside::Error);
    EXPECT_EQ(aside::last_status(), Status::option);
    try {
        Scanner refused(Dialect::find("qwen3"), options);
        FAIL();
    } catch (const aside::Error &error) {
        EXPECT_EQ(error.status(), Status::option);
    }
}

TEST(Scanner, RefusesCallsFromItsOwnCallable)
{
    Scanner scanner(Dialect::find("inline-think"));
    Status inner = Status::ok;
    scanner.feed("a", [&](const Event &) { inner = thrown([&] { scanner.feed("b", careful); }); });
    EXPECT_EQ(inner, Status::busy);
    scanner.feed("a", [&](const Event &) {
        auto range = scanner.events("b");
        EXPECT_THROW(range.begin(), aside::Error);
        inner = range.status();
    });
    EXPECT_EQ(inner, Status::busy);
    EXPECT_THROW(scanner.feed("a", [&](const Event &) { scanner.reset(); }), aside::Error);
    EXPECT_TRUE(scanner.finish(nothing));
}

TEST(Scanner, ThatIsEmptyFails)
{
    Scanner scanner(Dialect::find("inline-think"));
    Scanner moved = std::move(scanner);
    EXPECT_TRUE(moved);
    EXPECT_FALSE(scanner);
    EXPECT_EQ(thrown([&] { (void)scanner.feed("a", careful); }), Status::null);
    EXPECT_EQ(thrown([&] { (void)scanner.finish(careful); }), Status::null);
    EXPECT_EQ(thrown([&] { (void)scanner.flush(careful); }), Status::null);
    EXPECT_EQ(thrown([&] { scanner.reset(); }), Status::null);
    EXPECT_EQ(thrown([&] { (void)scanner.take_thought(); }), Status::null);
    auto range = scanner.events("a");
    EXPECT_THROW(range.begin(), aside::Error);
    EXPECT_EQ(range.status(), Status::null);
    // The message must not be that of the earlier failure.
    EXPECT_FALSE(Dialect::try_find("qwne3"));
    try {
        scanner.feed("a", careful);
        ADD_FAILURE();
    } catch (const aside::Error &error) {
        EXPECT_STREQ(error.what(), "the object is empty: it was moved from, or could not be made");
    }
    EXPECT_EQ(scanner.consumed() + scanner.held() + scanner.max_hold() + scanner.offset(), 0u);
    scanner = Scanner(Dialect::find("inline-think"));
    EXPECT_EQ(by_loops(scanner, {"<thi", "nk>a"}), by_loops(moved, {"<think>a"}));
}

TEST(Scanner, CollectsThoughtsWithTheirAttributes)
{
    aside::ScannerOptions options;
    options.collect = 1000;
    Scanner scanner(Dialect::find("thought-stream"), options);
    EXPECT_FALSE(scanner.take_thought());
    by_callable(scanner, {"a<thinking thought=\"A &amp; B\" thought_type='plan' confidence=\"0.25\"/>b<thinking>c"});
    std::optional<aside::Thought> thought = scanner.take_thought();
    ASSERT_TRUE(thought);
    EXPECT_EQ(thought->text, "A & B");
    EXPECT_EQ(thought->type, "plan");
    EXPECT_EQ(thought->confidence, 0.25);
    EXPECT_EQ(thought->offset, 1u);
    EXPECT_EQ(thought->cause, aside::Cause::marker);
    EXPECT_FALSE(thought->truncated);
    std::string attributes;
    for (const aside::Attribute &attribute : thought->attributes)
        attributes.append(attribute.name).append("=").append(attribute.value).append(";");
    EXPECT_EQ(attributes, "thought=A & B;thought_type=plan;confidence=0.25;");

    thought = scanner.take_thought();
    ASSERT_TRUE(thought);
    EXPECT_EQ(thought->text, "c");
    EXPECT_EQ(thought->cause, aside::Cause::end_of_stream);
    EXPECT_FALSE(thought->type || thought->confidence);
    EXPECT_TRUE(thought->attributes.empty());
    EXPECT_FALSE(scanner.take_thought());

    options.collect = 3;
    Scanner small(Dialect::find("thought-stream"), options);
    by_callable(small, {"<thinking>abcdef</thinking>"});
    thought = small.take_thought();
    ASSERT_TRUE(thought);
    EXPECT_EQ(thought->text, "abc");
    EXPECT_TRUE(thought->truncated);
}

TEST(Scanner, CountsThoughtsThatAreLost)
{
    aside::ScannerOptions options;
    options.collect = 1 << 20;
    Scanner scanner(Dialect::find("inline-think"), options);
    for (int at = 0; at < 1030; at++)
        scanner.feed("<think>a</think>", nothing);
    EXPECT_EQ(scanner.counts(Channel::thinking).lost_thoughts, 6u);
    EXPECT_EQ(scanner.counts(Channel::content).lost_thoughts, 0u);
}

TEST(Strip, GivesTheContent)
{
    const Dialect dialect = Dialect::find("inline-think");
    EXPECT_EQ(aside::strip(dialect, " <think>a</think>\n b "), "b");
    EXPECT_EQ(aside::strip(dialect, "<think>a</think>"), "");
    EXPECT_THROW((void)aside::strip(Dialect(), "a"), aside::Error);
}

TEST(Library, IsOfTheHeadersVersion)
{
    EXPECT_STREQ(aside::version(), ASIDE_VERSION);
    EXPECT_EQ(aside::abi_version(), ASIDE_ABI_VERSION);
    EXPECT_STREQ(aside::describe(Status::ok), "done");
    EXPECT_TRUE(aside::failed(Status::null) && !aside::failed(Status::more));
    EXPECT_EQ(aside::name(Channel::narration), "narration");
}

TEST(Threads, ShareADialectAndNothingElse)
{
    const Dialect dialect = Dialect::find(cases[1].dialect);
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    Scanner first(dialect);
    const Stream whole = by_callable(first, {cases[1].text});
    for (int at = 0; at < 4; at++)
        threads.emplace_back([&, at] {
            for (int turn = 0; turn < 50; turn++) {
                Scanner scanner(dialect);
                wrong[static_cast<std::size_t>(at)] += !(by_loops(scanner, bytes_of(cases[1].text)) == whole);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    for (const int count : wrong)
        EXPECT_EQ(count, 0);
}

} // namespace
