// Copies of events for the C++ tests, which can be compared however the stream was cut.
#ifndef HEARD_HPP
#define HEARD_HPP

#include <aside.hpp>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

/// Returns the status of the error that a call throws, or Status::ok.
template <class F>
aside::Status thrown(F call)
{
    try {
        call();
    } catch (const aside::Error &error) {
        return error.status();
    }
    return aside::Status::ok;
}

struct Heard {
    aside::Kind kind;
    aside::Channel channel;
    aside::Cause cause;
    std::uint32_t rule, tag;
    std::uint64_t offset;
    std::uint64_t first_token, tokens;
    std::string bytes, name, value, raw_value;

    bool operator==(const Heard &other) const
    {
        return kind == other.kind && channel == other.channel && cause == other.cause && rule == other.rule
               && tag == other.tag && offset == other.offset && first_token == other.first_token && tokens == other.tokens
               && bytes == other.bytes && name == other.name && value == other.value && raw_value == other.raw_value;
    }
};

inline std::ostream &operator<<(std::ostream &out, const Heard &heard)
{
    static const char *const kinds[] = {"?",          "open",       "attribute", "text",      "framing", "close",
                                        "reclassify", "budget",     "call",      "call name", "call id", "call key",
                                        "call type",  "call value", "value end", "call end"};
    out << heard.offset << ' ' << kinds[static_cast<int>(heard.kind)] << ' ' << aside::name(heard.channel) << " \""
        << heard.bytes << "\", tokens " << heard.first_token << '+' << heard.tokens;
    if (heard.kind == aside::Kind::attribute)
        out << ' ' << heard.name << '=' << heard.value;
    return out;
}

/// The events of a stream, with neighbouring text joined.
struct Stream {
    std::vector<Heard> events;
    std::string opener; // the last opening marker

    void hear(const aside::Event &event)
    {
        if (event.kind == aside::Kind::open)
            opener = event.bytes;
        if (event.kind == aside::Kind::text && !events.empty() && events.back().kind == aside::Kind::text
            && events.back().channel == event.channel) {
            events.back().bytes += event.bytes;
            events.back().tokens += event.tokens;
            return;
        }
        std::string raw_value;
        if (event.kind == aside::Kind::attribute)
            raw_value = opener.substr(event.raw_value.at, event.raw_value.len);
        events.push_back({event.kind, event.channel, event.cause, event.rule, event.tag, event.offset, event.first_token,
                          event.tokens, std::string(event.bytes), std::string(event.name), std::string(event.value),
                          raw_value});
    }

    std::string text(aside::Channel channel) const
    {
        std::string texts[4];
        for (const Heard &event : events) {
            if (event.kind == aside::Kind::text)
                texts[static_cast<int>(event.channel)] += event.bytes;
            // The content so far becomes thinking. No span precedes it in these tests, so all of it does.
            if (event.kind == aside::Kind::reclassify)
                texts[static_cast<int>(aside::Channel::thinking)].swap(texts[static_cast<int>(aside::Channel::content)]);
        }
        return texts[static_cast<int>(channel)];
    }

    /// Every byte.
    std::string all() const
    {
        std::string all;
        for (const Heard &event : events)
            all += event.bytes;
        return all;
    }

    bool operator==(const Stream &other) const { return events == other.events; }
};

inline std::ostream &operator<<(std::ostream &out, const Stream &stream)
{
    for (const Heard &event : stream.events)
        out << "\n  " << event;
    return out;
}

/// Returns all events of one stream, read with a callable.
inline Stream by_callable(aside::Scanner &scanner, const std::vector<std::string_view> &chunks)
{
    Stream stream;
    const auto hear = [&](const aside::Event &event) { stream.hear(event); };
    for (const std::string_view chunk : chunks)
        scanner.feed(chunk, hear);
    scanner.finish(hear);
    return stream;
}

/// Returns all events of one stream, read in loops.
inline Stream by_loops(aside::Scanner &scanner, const std::vector<std::string_view> &chunks)
{
    Stream stream;
    for (const std::string_view chunk : chunks)
        for (const aside::Event &event : scanner.events(chunk))
            stream.hear(event);
    for (const aside::Event &event : scanner.finish_events())
        stream.hear(event);
    return stream;
}

#endif
