// Reading events must not allocate memory, with a callable or in a loop, and memory that runs out in a loop must become a status.
// This file replaces the operators new and delete, to count allocations and to let them fail.
#include "heard.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t made = 0;
thread_local bool is_out_of_memory = false;

void *make(std::size_t size) noexcept
{
    made++;
    return is_out_of_memory ? nullptr : std::malloc(size == 0 ? 1 : size);
}

} // namespace

// Not inlined, because gcc then warns that new and delete do not match.
[[gnu::noinline]] void *operator new(std::size_t size)
{
    if (void *memory = make(size))
        return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void *operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return make(size); }
[[gnu::noinline]] void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return make(size); }
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void *memory, std::size_t) noexcept { std::free(memory); }

namespace {

const std::string_view text = "Now <thinking thought='a'>bc</thinking> and d\xc3\xa4s. <thinkin";

TEST(Allocations, NoneByACallable)
{
    aside::Scanner scanner(aside::Dialect::find("thought-stream"));
    std::uint64_t sum = 0, other = 0, more = 0, yet_more = 0;
    const std::size_t before = made;
    for (int turn = 0; turn < 3; turn++) {
        for (std::size_t at = 0; at < text.size(); at++)
            // This lambda captures more than a std::function can hold without allocating.
            scanner.feed(text.substr(at, 1), [&](const aside::Event &event) {
                sum += event.bytes.size(), other += event.name.size(), more += event.offset, yet_more++;
            });
        scanner.finish([&](const aside::Event &event) { sum += event.bytes.size(); });
    }
    EXPECT_EQ(made, before);
    EXPECT_EQ(sum, 3 * text.size());
}

TEST(Allocations, OneByLoopsForAScanner)
{
    aside::Scanner scanner(aside::Dialect::find("thought-stream"));
    std::size_t sum = 0;
    const std::size_t before = made;
    for (int turn = 0; turn < 3; turn++) {
        for (std::size_t at = 0; at < text.size(); at += 3)
            for (const aside::Event &event : scanner.events(text.substr(at, 3)))
                sum += event.bytes.size();
        for (const aside::Event &event : scanner.finish_events())
            sum += event.bytes.size();
    }
    EXPECT_EQ(made, before + 1); // the room for events that span two chunks
    EXPECT_EQ(sum, 3 * text.size());
}

TEST(Allocations, OutOfMemoryIsAStatus)
{
    aside::Scanner scanner(aside::Dialect::find("thought-stream"));
    scanner.feed("<think", [](const aside::Event &) {});
    is_out_of_memory = true;
    auto range = scanner.events("ing>");
    bool has_failed = false;
    try {
        range.begin();
    } catch (const std::exception &) { // an Error, or the exception of its message, for which there is no memory
        has_failed = true;
    }
    is_out_of_memory = false;
    EXPECT_TRUE(has_failed);
    EXPECT_EQ(range.status(), aside::Status::memory);
    scanner.reset();
    EXPECT_EQ(by_loops(scanner, {"<think", "ing>a"}).text(aside::Channel::thinking), "a");
}

} // namespace
