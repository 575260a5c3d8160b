// aside_compress.hpp - makes tool results shorter before a model reads them: the C interface for C++17 and later
//
// SPDX-License-Identifier: MIT OR Apache-2.0
// Header-only, next to aside.hpp, over aside_compress.h and aside_unstable.h, which say more about each call. Needs
// exceptions. Anything marked as unstable may change in any version: has_unstable() returns whether the loaded library still
// has it.
//
// This whole program prints a banner, the first of the equal lines, and the number of its repeats:
//
//     #include <aside_compress.hpp>
//     #include <iostream>
//
//     int main()
//     {
//         aside::CompressorOptions options;
//         options.budget = 8192;
//         const aside::Compressor compressor(aside::Registry(), options);
//         std::string output;
//         for (int i = 0; i < 100; i++)
//             output += "waiting for the server\n";
//         const aside::Compressed result = compressor.compress({"bash", R"({"command": "make"})"}, {output});
//         std::cout << result.text(0, output);
//     }
//
// Ownership. Registry, Compressor, Compressed and ToolStream own their contents, can be moved and not copied, and free it
// when they are destroyed. A stream remains usable without its compressor. Views of a Compressed are valid as long as the
// Compressed; the output of a stream, until its next call.
//
// Errors. Functions that fail throw Error. A filter or cache that fails does not fail the call: it is skipped in that call,
// and the report says so. If the library runs out of memory, the process ends.
//
// Callables of filters and caches run in the threads that compress, at the same time if several threads do. An exception does not
// pass through the library: it is caught, and its what() becomes the reason in the report. The thread must not end in a callable,
// by pthread_exit or by being cancelled. If a callable uses the compressor that called it, the call fails with Status::busy; if it
// destroys that compressor, the memory is never freed.
//
// Threads. A compressor never changes, except for its caches: any number of threads may use one. A registry or a stream may
// be used by one thread at a time.

#ifndef ASIDE_COMPRESS_HPP
#define ASIDE_COMPRESS_HPP

#include <aside.hpp>
#include <aside_unstable.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace aside {

// Generated from src/ffi by tests/header: do not edit.

/// The change of a stretch.
enum class Change : std::uint32_t {
    /// The stretch is in the result, byte for byte.
    kept = ASIDE_CHANGE_KEPT,
    /// Other bytes replace the stretch.
    replaced = ASIDE_CHANGE_REPLACED,
    /// The stretch is not in the result; a marker line may replace it.
    left_out = ASIDE_CHANGE_LEFT_OUT,
};

// End of the generated part.

/// Returns whether the loaded library has the functions that are marked as unstable, as this header declares them. Otherwise do not
/// call them; reports then have no `failed` and no `parts`.
inline bool has_unstable() noexcept { return aside_unstable_version() == 1; }

/// One run of a tool, whose result is compressed.
struct Invocation {
    std::string_view tool_id;
    /// JSON. The input of a terminal tool has "command", and may have "cwd" and "exit_code". Empty: null.
    std::string_view input = {};
    std::uint64_t now = 0; ///< the time in seconds since 1970, for caches
};

/// A filter of the host. Its result must be shorter than the text, which the library checks; nothing else is required.
struct Filter {
    std::string id;                    ///< its name in banners and reports, without control characters
    std::vector<std::string> tool_ids; ///< the tools whose results it is for; none: all
    /// Returns whether the filter applies to an invocation. Empty: the filter applies to every invocation.
    std::function<bool(const Invocation &)> matches;
    /// Returns a shorter text, or nothing to leave the text unchanged.
    std::function<std::optional<std::string>(const Invocation &, std::string_view text)> apply;
};

/// A recorded result. Unstable.
struct Hit {
    std::string text;
    std::uint64_t timestamp; ///< seconds since 1970
};

/// A cache of the host. A recorded result is used only if its text is the fresh text. The input of an invocation has sorted
/// keys and no white space. Unstable.
struct Cache {
    std::string id;
    std::vector<std::string> tool_ids;
    /// Receives every invocation, before any cache's `lookup` is called. May be empty.
    std::function<void(const Invocation &)> observe;
    /// Returns the recorded result of an invocation, if there is one.
    std::function<std::optional<Hit>(const Invocation &)> lookup;
    /// Records a result: its raw text parts, joined with line feeds.
    std::function<void(const Invocation &, std::string_view text)> record;
};

namespace detail {

/// Returns a text part for C. Its pointer is not NULL even for an empty text, because NULL marks a part that is not text.
inline aside_bytes lend(std::string_view text) noexcept { return {text.data() == nullptr ? "" : text.data(), text.size()}; }

inline std::vector<aside_bytes> lend(const std::vector<std::string> &texts)
{
    std::vector<aside_bytes> all;
    for (const std::string &text : texts)
        all.push_back(lend(text));
    return all;
}

inline std::int32_t answer(aside_reply *reply, std::string_view text)
{
    return aside_reply_write(reply, text.data(), text.size()) == ASIDE_OK ? 1 : -1;
}

/// Runs a callable. The message of its exception is not copied to a string, because copying could throw again.
template <class F>
std::int32_t run(aside_reply *reply, F callable) noexcept
{
    try {
        return callable();
    } catch (const std::exception &error) {
        const char *what = error.what();
        static_cast<void>(answer(reply, what != nullptr ? what : "an exception"));
    } catch (...) {
        static_cast<void>(answer(reply, "an exception"));
    }
    return -1;
}

inline Invocation view(const aside_invocation &invocation) noexcept
{
    return {view(invocation.tool_id), view(invocation.input), invocation.now};
}

inline std::int32_t on_matches(void *user, const aside_invocation *invocation, aside_reply *reply) noexcept
{
    const Filter &filter = *static_cast<Filter *>(user);
    return run(reply, [&]() -> std::int32_t { return !filter.matches || filter.matches(view(*invocation)); });
}

inline std::int32_t on_apply(void *user, const aside_invocation *invocation, const char *text, std::size_t text_len,
                             aside_reply *reply) noexcept
{
    const Filter &filter = *static_cast<Filter *>(user);
    return run(reply, [&] {
        const std::optional<std::string> shorter = filter.apply(view(*invocation), {text, text_len});
        return shorter ? answer(reply, *shorter) : 0;
    });
}

inline std::int32_t on_observe(void *user, const aside_invocation *invocation, aside_reply *reply) noexcept
{
    const Cache &cache = *static_cast<Cache *>(user);
    return run(reply, [&] {
        if (cache.observe)
            cache.observe(view(*invocation));
        return 0;
    });
}

inline std::int32_t on_lookup(void *user, const aside_invocation *invocation, aside_reply *reply,
                              std::uint64_t *timestamp) noexcept
{
    const Cache &cache = *static_cast<Cache *>(user);
    return run(reply, [&] {
        const std::optional<Hit> hit = cache.lookup(view(*invocation));
        if (!hit)
            return 0;
        *timestamp = hit->timestamp;
        return answer(reply, hit->text);
    });
}

inline std::int32_t on_record(void *user, const aside_invocation *invocation, const char *text, std::size_t text_len,
                              aside_reply *reply) noexcept
{
    const Cache &cache = *static_cast<Cache *>(user);
    return run(reply, [&] {
        cache.record(view(*invocation), {text, text_len});
        return 0;
    });
}

/// The host's function that counts tokens.
using Count = std::function<std::size_t(std::string_view)>;

inline std::int64_t on_count(void *user, const char *text, std::size_t text_len, aside_reply *reply) noexcept
{
    const Count &count = *static_cast<Count *>(user);
    std::size_t tokens = 0;
    const std::int32_t failed = run(reply, [&]() -> std::int32_t {
        tokens = count({text, text_len});
        return 0;
    });
    const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return failed < 0 ? failed : static_cast<std::int64_t>(std::min<std::uint64_t>(tokens, most));
}

template <class T>
void on_release(void *user) noexcept
{
    delete static_cast<T *>(user);
}

} // namespace detail

/// The filters and caches for a compressor. An added filter or cache replaces the one with the same id.
class Registry {
public:
    enum class From { built_in, nothing };

    /// Makes a registry with every built-in filter, or with nothing. It has no cache.
    explicit Registry(From from = From::built_in) : handle_(aside_registry_new(from == From::built_in ? 1 : 0))
    {
        ASIDE_VERSION_SYMBOL();
        if (!handle_)
            throw Error(last_status(), last_error());
    }

    /// Adds a filter from the text of a filter file (TOML). Status::filter if the file has an error; the message
    /// names the line and the key.
    void add_toml(std::string_view toml)
    {
        detail::check_status(aside_registry_add_toml(handle_.get(), toml.data(), toml.size()));
    }

    /// Adds a filter of the host.
    void add_filter(Filter filter)
    {
        if (!filter.apply)
            throw Error(Status::null, "a filter has no apply");
        aside_filter raw{};
        raw.matches = detail::on_matches;
        raw.apply = detail::on_apply;
        add(raw, std::move(filter), aside_registry_add_filter);
    }

    /// Adds a cache of the host. Unstable.
    void add_cache(Cache cache)
    {
        if (!cache.lookup || !cache.record)
            throw Error(Status::null, "a cache has no lookup or no record");
        aside_cache raw{};
        raw.observe = detail::on_observe;
        raw.lookup = detail::on_lookup;
        raw.record = detail::on_record;
        add(raw, std::move(cache), aside_registry_add_cache);
    }

    /// Adds the library's own cache, `last-run`: the last result of each invocation, in at most `size` bytes. Unstable.
    void add_last_run(std::size_t size) { detail::check_status(aside_registry_add_last_run(handle_.get(), size)); }

    /// Adds the filter `minify-json`, the only filter that changes protected text. Unstable.
    void minify_json() { detail::check_status(aside_registry_minify_json(handle_.get())); }

private:
    /// Adds a filter or cache whose callbacks are set.
    template <class Raw, class Host>
    void add(Raw raw, Host host, aside_status (*to)(aside_registry *, const Raw *))
    {
        auto own = std::make_unique<Host>(std::move(host));
        const std::vector<aside_bytes> tools = detail::lend(own->tool_ids);
        raw.size = sizeof raw;
        raw.id = detail::lend(own->id);
        raw.tool_ids = tools.data();
        raw.tool_id_count = tools.size();
        raw.release = detail::on_release<Host>;
        raw.user = own.get();
        detail::check_status(to(handle_.get(), &raw));
        static_cast<void>(own.release());
    }

    friend class Compressor;
    struct Free {
        void operator()(aside_registry *registry) const noexcept { aside_registry_free(registry); }
    };
    std::unique_ptr<aside_registry, Free> handle_;
};

/// A stretch of an original. All stretches, joined in order, are the original. Unstable.
struct Stretch {
    std::uint64_t start, len;
    std::uint64_t hash; ///< XXH3 (64 bits, seed 0) of its bytes
    Change change;
    std::string_view filter; ///< that changed it; empty if it was kept
};

/// The report on a text part that filters changed. Unstable.
struct PartReport {
    std::size_t part;   ///< its index in the result that came in
    std::uint64_t len;  ///< bytes of the original
    std::uint64_t hash; ///< XXH3 (64 bits, seed 0) of the original
    std::vector<Stretch> stretches;
};

/// A filter or cache that failed in a call and was skipped. Unstable.
struct Failed {
    std::string_view id, reason;
};

/// The report on one call. Its views point into the Compressed.
struct Report {
    std::uint64_t before, after;             ///< length of the text parts in bytes, banners included
    std::uint64_t before_units, after_units; ///< the same in UTF-16 code units, as a banner has them
    std::vector<std::string_view> filters;   ///< those that changed something, in the order of their first change
    std::vector<Failed> failed;
    std::vector<PartReport> parts; ///< that filters changed. None for a stream that outgrew its memory
    std::string_view hit;          ///< the cache that had the same output; empty if none had
    bool cut_protected;            ///< text that should stay whole was cut: it did not fit into the budget
    bool unexplained;              ///< the command failed, and what is left says only that it passed
};

/// The result of a call, and its report. Empty until a result is moved into it.
class Compressed {
public:
    Compressed() noexcept = default;

    /// Returns the text of the part number `index` after the call: `original`, which must be the part before the call, if nothing
    /// changed it. Empty if the part is removed because another part has the same text.
    std::string_view text(std::size_t index, std::string_view original) const
    {
        aside_bytes text{};
        const Status status = static_cast<Status>(aside_compressed_part(handle_.get(), index, &text));
        return detail::check(status) == Status::none ? original : detail::view(text);
    }

    /// Returns the report.
    Report report() const
    {
        aside_report raw{};
        raw.size = sizeof raw;
        detail::check_status(aside_compressed_report(handle_.get(), &raw));
        Report report{raw.before, raw.after, raw.before_units,      raw.after_units,        {},
                      {},         {},        detail::view(raw.hit), raw.cut_protected != 0, raw.unexplained != 0};
        for (std::size_t at = 0; at < raw.filter_count; at++)
            report.filters.push_back(detail::view(raw.filters[at]));
        if (!has_unstable())
            return report;
        for (std::size_t at = 0; at < raw.failed_count; at++) {
            aside_failed failed{};
            failed.size = sizeof failed;
            detail::check_status(aside_compressed_failed(handle_.get(), at, &failed));
            report.failed.push_back({detail::view(failed.id), detail::view(failed.reason)});
        }
        for (std::size_t at = 0; at < raw.part_count; at++)
            report.parts.push_back(part_report(at, report.filters));
        return report;
    }

    /// Returns `len` bytes at `start` of a part's original, to show omitted text: a view of `original`, which must be the part
    /// before the call. Fails with Status::original for a different text, and for a part that no filter changed. Unstable.
    std::string_view slice(std::size_t part, std::string_view original, std::uint64_t start, std::uint64_t len) const
    {
        aside_bytes slice{};
        detail::check_status(
            aside_compressed_slice(handle_.get(), part, original.data(), original.size(), start, len, &slice));
        return detail::view(slice);
    }

    /// Returns whether the object is not empty.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    friend class Compressor;
    friend class ToolStream;
    struct Free {
        void operator()(aside_compressed *compressed) const noexcept { aside_compressed_free(compressed); }
    };
    explicit Compressed(aside_compressed *handle) : handle_(handle)
    {
        if (!handle_)
            throw Error(last_status(), last_error());
    }

    PartReport part_report(std::size_t at, const std::vector<std::string_view> &filters) const
    {
        aside_part_report raw{};
        raw.size = sizeof raw;
        detail::check_status(aside_compressed_part_report(handle_.get(), at, &raw));
        PartReport part{raw.part, raw.len, raw.hash, {}};
        for (std::size_t of = 0; of < raw.stretch_count; of++) {
            aside_stretch s{};
            s.size = sizeof s;
            detail::check_status(aside_compressed_stretch(handle_.get(), at, of, &s));
            part.stretches.push_back(
                {s.start, s.len, s.hash, static_cast<Change>(s.change),
                 s.filter == ASIDE_NO_FILTER ? std::string_view() : filters[static_cast<std::size_t>(s.filter)]});
        }
        return part;
    }

    std::unique_ptr<aside_compressed, Free> handle_;
};

namespace detail {

inline aside_invocation lend(const Invocation &invocation) noexcept
{
    return {sizeof(aside_invocation), lend(invocation.tool_id), lend(invocation.input), invocation.now};
}

} // namespace detail

/// The options of a compressor.
struct CompressorOptions {
    /// The largest number of bytes that the text parts of a result may have together, banners and markers included; at least 1,024.
    /// 0: no budget. Text that is never changed stays whole in any case, and every other text part may have 1,024 bytes: 100 parts
    /// may have 100 KiB together, however small the budget is.
    std::uint64_t budget = 0;
    /// The banner's last sentence, which says how a user of this host switches compression off. Empty: a general sentence.
    std::string_view switch_off = {};
    /// The longest text, in bytes, that one call works on as a whole. A longer text is read window by window, as in a ToolStream
    /// with that much memory, and the report has no stretches of it. 0: a text of any length is worked on as a whole, which needs
    /// several times its length in memory.
    std::uint64_t memory = 0;
    /// The largest number of tokens that the text parts of a result may have together, at least 512, estimated from the shape of
    /// the text. It also sets a budget of 6 bytes for each token. If `budget` is set too, both apply. 0: no budget in tokens.
    std::uint64_t budget_tokens = 0;
    /// Counts tokens in place of the estimate, which still chooses the lines that are kept. It is called at most 8 times for one
    /// result, by any thread that compresses. If it throws, the estimate counts, and the report has a failure of `count`. May be
    /// empty.
    std::function<std::size_t(std::string_view)> count = {};
};

/// Makes tool results shorter.
class Compressor {
public:
    /// Makes a compressor with the current contents of the registry; the registry may be used for further compressors.
    explicit Compressor(const Registry &registry = Registry(), const CompressorOptions &options = {})
    {
        aside_compressor_options raw{};
        raw.size = sizeof raw;
        raw.budget = options.budget;
        raw.switch_off = detail::lend(options.switch_off);
        raw.memory = options.memory;
        raw.budget_tokens = options.budget_tokens;
        std::unique_ptr<detail::Count> count;
        if (options.count) {
            count = std::make_unique<detail::Count>(options.count);
            raw.count = detail::on_count;
            raw.release = detail::on_release<detail::Count>;
            raw.user = count.get();
        }
        handle_.reset(aside_compressor_new(registry.handle_.get(), &raw));
        if (!handle_)
            throw Error(last_status(), last_error());
        static_cast<void>(count.release()); // the library owns it now
    }

    /// Compresses the parts of one tool's result. Skips a part that is nullopt, which is not text.
    Compressed compress(const Invocation &invocation, const std::vector<std::optional<std::string_view>> &parts) const
    {
        const aside_invocation raw = detail::lend(invocation);
        std::vector<aside_bytes> all;
        for (const std::optional<std::string_view> &part : parts)
            all.push_back(part ? detail::lend(*part) : aside_bytes{nullptr, 0});
        return Compressed(aside_compress(handle_.get(), &raw, all.data(), all.size()));
    }

private:
    friend class ToolStream;
    struct Free {
        void operator()(aside_compressor *compressor) const noexcept { aside_compressor_free(compressor); }
    };
    std::unique_ptr<aside_compressor, Free> handle_;
};

/// The output of one tool, compressed while it arrives.
class ToolStream {
public:
    /// Makes a stream that holds up to `memory` bytes of its text: at least four times the budget, and at least 4,096. A text
    /// that fits is returned at the end, as Compressor::compress() returns it but without a banner. Of a longer text, a
    /// compressor without a budget removes repeats and returns the rest as it arrives; with a budget, it returns head, tail and
    /// error regions at the end.
    ToolStream(const Compressor &compressor, const Invocation &invocation, std::size_t memory)
    {
        const aside_invocation raw = detail::lend(invocation);
        handle_.reset(aside_tool_stream_new(compressor.handle_.get(), &raw, memory));
        if (!handle_)
            throw Error(last_status(), last_error());
    }

    /// Feeds the next bytes of the output, cut anywhere; returns the decided text, which is often empty.
    std::string_view feed(std::string_view chunk)
    {
        aside_bytes out{};
        detail::check_status(aside_tool_stream_feed(handle_.get(), chunk.data(), chunk.size(), &out));
        return detail::view(out);
    }

    /// Sets the exit code of the command, which is known when the command has ended: after the last byte, before `finish`. Until
    /// then, a command without an exit code counts as failed. Status::order after `finish`.
    void set_exit_code(std::int64_t code) { detail::check_status(aside_tool_stream_set_exit_code(handle_.get(), code)); }

    /// Ends the output; returns the rest, and in `compressed` the report, without parts. The stream accepts no more text after
    /// that: Status::order.
    std::string_view finish(Compressed &compressed)
    {
        aside_bytes out{};
        detail::check_status(aside_tool_stream_finish(handle_.get(), &out));
        compressed = Compressed(aside_tool_stream_report(handle_.get()));
        return detail::view(out);
    }

private:
    struct Free {
        void operator()(aside_tool_stream *stream) const noexcept { aside_tool_stream_free(stream); }
    };
    std::unique_ptr<aside_tool_stream, Free> handle_;
};

} // namespace aside

#endif
