// C++ must be able to use the C header as it is: with handles in smart pointers, a lambda as callback, and an exception that does
// not cross the library.
#include <aside.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct Free {
    void operator()(aside_scanner *scanner) const { aside_scanner_free(scanner); }
};

struct Heard {
    std::string content, thinking;
    std::exception_ptr thrown;
};

int failures = 0;

void check(bool good, const char *what)
{
    if (!good) {
        std::fprintf(stderr, "not so: %s (%s)\n", what, aside_last_error());
        failures++;
    }
}

} // namespace

int main()
{
    const std::string name = "inline-think", text = "<think>a</think>b!";
    std::unique_ptr<aside_scanner, Free> scanner(aside_scanner_new(aside_dialect_find(name.data(), name.size()), nullptr));
    check(scanner != nullptr, "a scanner");

    Heard heard;
    const aside_event_fn listen = [](void *user, const aside_event *event, const char *bytes) -> int32_t {
        auto &heard = *static_cast<Heard *>(user);
        try {
            const std::string piece(bytes, static_cast<size_t>(event->len));
            if (event->kind == ASIDE_KIND_TEXT)
                (event->channel == ASIDE_CHANNEL_THINKING ? heard.thinking : heard.content) += piece;
            if (piece.find('!') != std::string::npos)
                throw std::runtime_error("an exclamation mark");
            return 0;
        } catch (...) {
            heard.thrown = std::current_exception();
            return 1;
        }
    };
    check(aside_scanner_feed(scanner.get(), text.data(), text.size(), listen, &heard) == ASIDE_STOPPED, "stopped");
    bool caught = false;
    try {
        std::rethrow_exception(heard.thrown);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    check(caught, "the exception, behind the call");
    check(aside_scanner_finish(scanner.get(), listen, &heard) == ASIDE_OK, "finished");
    check(heard.thinking == "a" && heard.content == "b!", "both channels");
    return failures;
}
