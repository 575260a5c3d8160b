/* aside_compress.h - makes tool results shorter before a model reads them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Generated from src/ffi: do not edit. Link with -laside.
 *
 * A compressor shortens what a tool printed, and never hides the line that matters: repeats, progress bars and lines that
 * say nothing are left out, and lines that report a failure are kept. A marker line replaces omitted text, a banner
 * says which filters ran, and a report has every byte of the original, so that a host can show what is not there.
 *
 * In order of use: a registry collects filters; compressors are made from it; `aside_compress()` takes a whole result,
 * `aside_tool_stream_feed()` one that is still being printed. The rules of aside.h hold here: texts, statuses, messages,
 * structs that begin with their size. Caches and reports in full are in aside_unstable.h.
 *
 * Memory. If it runs out in these functions, the process ends. A function that names `ASIDE_ERROR_MEMORY` returns it if
 * the result object itself could not be allocated.
 *
 * Threads. A compressor never changes, except for its caches, which lock themselves: any number of threads may use one at
 * the same time. After `fork()`, these caches may be locked forever in the child.
 */

#ifndef ASIDE_COMPRESS_H
#define ASIDE_COMPRESS_H

#include "aside.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ========================================================================== *
 * Types
 * ========================================================================== */

/** Filters and caches for compressors. From `aside_registry_new()`; freed by `aside_registry_free()`. */
typedef struct aside_registry aside_registry;

/**
 * Makes tool results shorter. It never changes, except for its caches. From `aside_compressor_new()`; freed by
 * `aside_compressor_free()`.
 */
typedef struct aside_compressor aside_compressor;

/**
 * The result of one call or stream, and its report. It is immutable. From `aside_compress()` or
 * `aside_tool_stream_report()`; freed by `aside_compressed_free()`.
 */
typedef struct aside_compressed aside_compressed;

/**
 * The output of one tool, compressed while it arrives. From `aside_tool_stream_new()`; freed by `aside_tool_stream_free()`.
 */
typedef struct aside_tool_stream aside_tool_stream;

/**
 * The reply of a host's callback, in addition to its return value: write it with `aside_reply_write()`. It belongs to the
 * library and is valid until the callback returns.
 */
typedef struct aside_reply aside_reply;

/* ========================================================================== *
 * Invocations: what was run
 * ========================================================================== */

/**
 * One run of a tool, whose result is compressed. Set all of it to zero, then `size`; later versions may add fields at the end.
 * In a callback of the host, the struct comes from the library, and `size` is the number of bytes that may be read.
 */
typedef struct aside_invocation {
    /** `sizeof(aside_invocation)` of the caller's header; in a callback, that of the library. */
    size_t size;
    /** The id of the tool, UTF-8. */
    struct aside_bytes tool_id;
    /**
     * The input of the tool: JSON, UTF-8. The input of a terminal tool has `command`, and may have `cwd` and `exit_code`. If
     * empty: null. In a callback, its keys are sorted and it has no white space, so that equal inputs are equal bytes.
     */
    struct aside_bytes input;
    /** The time in seconds since 1970, for caches and filters of the host. The library does not read a clock. */
    uint64_t now;
} aside_invocation;

/* ========================================================================== *
 * Registries: what a compressor is made of
 *
 * Threads: one at a time for one registry.
 * ========================================================================== */

/**
 * Makes a registry with every built-in filter (`built_in` 1), or with nothing (0). It has no cache.
 *
 * Returns a registry that the caller owns: `aside_registry_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_OPTION` (`built_in` is neither 0 nor 1) or `ASIDE_ERROR_MEMORY`.
 *
 * Threads: any thread may call this at any time.
 */
struct aside_registry *aside_registry_new(uint32_t built_in);

/**
 * Frees a registry. Does nothing for NULL. Compressors that were made from it remain usable.
 *
 * Threads: no other thread may be using it.
 */
void aside_registry_free(struct aside_registry *registry);

/**
 * Adds a filter from the text of a filter file (TOML, UTF-8). It replaces a filter with the same id. Its tests are read but not
 * run: the program runs them (`aside check FILE`).
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_FILTER` with a message that names the line and the key; `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_registry_add_toml(struct aside_registry *registry, const char *toml, size_t len);

/* ========================================================================== *
 * Registries: filters of the host
 *
 * Threads: one at a time for one registry. The callbacks run in the threads that compress.
 * ========================================================================== */

/**
 * Decides whether a host's filter is for the result of an invocation: return 1 or 0; below 0 for a failure, as for `apply`. In
 * each of these callbacks, `*invocation` is valid until the callback returns.
 */
typedef int32_t (*aside_matches_fn)(void *user, const struct aside_invocation *invocation, struct aside_reply *reply);

/**
 * Makes a text shorter. Return 1 with the shorter text in `reply`; 0 if there is nothing to do; below 0 for a failure,
 * with its reason in `reply`: the report has the reason, and the other filters are still used.
 */
typedef int32_t (*aside_apply_fn)(void *user,
                                  const struct aside_invocation *invocation,
                                  const char *text,
                                  size_t text_len,
                                  struct aside_reply *reply);

/**
 * Called once, when `user` is no longer needed: in the thread that frees the last object with it. It must not use the object that
 * is being freed.
 */
typedef void (*aside_release_fn)(void *user);

/**
 * A filter of the host. Set all of it to zero, then `size`; later versions may add fields at the end. The only promise of a
 * filter is that a compressed text is shorter, which is checked. Its callbacks run in the threads that compress, several at the
 * same time if the host does so. They may use the library, except for the compressor that called them, which returns
 * `ASIDE_ERROR_BUSY`. No C++ exception and no `longjmp` may leave them, and no thread may end inside them.
 */
typedef struct aside_filter {
    /** `sizeof(aside_filter)` of the caller's header. */
    size_t size;
    /** The name of the filter in banners and reports: UTF-8 without control characters, at least one byte. */
    struct aside_bytes id;
    /** Ids of the tools whose results it is for. */
    const struct aside_bytes *tool_ids;
    /** The number of ids. 0: all tools. */
    size_t tool_id_count;
    /** Decides whether the filter is for the result of an invocation. NULL: always. */
    aside_matches_fn matches;
    /** Makes a text shorter. Not NULL. */
    aside_apply_fn apply;
    /** May be NULL. */
    aside_release_fn release;
    /** Passed to each callback. */
    void *user;
} aside_filter;

/**
 * Adds a filter of the host. It replaces a filter with the same id. `*filter` and its texts are not used after the call; the
 * callbacks and `user` are used until `release` is called.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for a text that is not UTF-8 or an id that is not allowed;
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`. After a
 * failure `release` is not called.
 */
aside_status aside_registry_add_filter(struct aside_registry *registry, const struct aside_filter *filter);

/**
 * Appends to a callback's reply: the shorter text, the recorded text, or the reason of a failure.
 *
 * Returns `ASIDE_OK`, `ASIDE_ERROR_NULL` or `ASIDE_ERROR_LENGTH`.
 *
 * Threads: only the thread in which the callback runs may call this.
 */
aside_status aside_reply_write(struct aside_reply *reply, const char *buf, size_t len);

/* ========================================================================== *
 * Compressors: whole results
 *
 * Threads: any thread may call these functions at any time, with the same compressor or result too.
 * ========================================================================== */

/**
 * Counts the tokens of a text, for a budget in tokens. Return the number; below 0 for a failure, with its reason in `reply`. Runs
 * in the threads that compress, several at the same time if the host does so. No C++ exception and no `longjmp` may leave it.
 */
typedef int64_t (*aside_count_fn)(void *user, const char *text, size_t text_len, struct aside_reply *reply);

/** Options of a compressor. Set all of it to zero, then `size`; later versions may add fields at the end. */
typedef struct aside_compressor_options {
    /** `sizeof(aside_compressor_options)` of the caller's header. */
    size_t size;
    /**
     * The largest number of bytes that the text parts of a result may have together, banners and markers included; at
     * least 1,024. 0: no budget. Text that is never changed stays whole in any
     * case, and every other text part may have 1,024 bytes: 100 parts may have 100 KiB together, however small the budget is. The
     * built-in filter `budget` enforces the budget; without that filter, only a stream that outgrows its memory does.
     */
    uint64_t budget;
    /**
     * The banner's last sentence, UTF-8, which says how a user of this host switches compression off. If empty: a general
     * sentence.
     */
    struct aside_bytes switch_off;
    /**
     * The longest text, in bytes, that is processed as a whole. A longer text is read window by window, as in a stream with that
     * much memory: its repeats are removed, or, under a budget, everything except its head, its tail and its error regions;
     * filters for a tool do not read it, and the report has no stretches of it. A value below 4,096, or below four times the
     * budget, is raised to that. 0: a text of any length is worked on as a whole, which needs several times its length in
     * memory.
     */
    uint64_t memory;
    /**
     * The largest number of tokens that the text parts of a result may have together, at least 512, estimated from the shape of
     * the text; for nine of ten texts, the estimate is within 15 %. It also sets a budget of 6 bytes for each token. If `budget`
     * is set too, both apply. 0: no budget in tokens.
     */
    uint64_t budget_tokens;
    /**
     * Counts tokens in place of the estimate, which still chooses the lines that are kept. It is called at most 8 times for one
     * result, with all its text parts as one text. If it fails, the estimate is used; if no result has few enough tokens, the
     * result with the fewest is returned. In both cases the report has a failure of `count`. May be NULL.
     */
    aside_count_fn count;
    /**
     * Called once if `count` is set, when `user` is no longer needed, unless `aside_compressor_new()` failed. May be NULL.
     */
    aside_release_fn release;
    /** Passed to `count` and `release`. */
    void *user;
} aside_compressor_options;

/**
 * Makes a compressor with the filters and caches that a registry has now. The caller still owns the registry: it may be freed at
 * once, or be changed and used for further compressors. All these compressors share its caches and the host's callbacks; `release`
 * is called when the registry, the compressors and their streams are all freed. `options` may be NULL: no budget, and no limit to
 * a text.
 *
 * Returns a compressor that the caller owns: `aside_compressor_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_OPTION` (a budget that
 * is too small, or a sentence that is not UTF-8) or `ASIDE_ERROR_MEMORY`.
 *
 * Threads: no other thread may be using the registry.
 */
struct aside_compressor *aside_compressor_new(const struct aside_registry *registry,
                                              const struct aside_compressor_options *options);

/**
 * Frees a compressor. Does nothing for NULL. Streams that were made from it remain usable.
 *
 * Inside a callback of its filters and caches, nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
 *
 * Threads: no other thread may be using it.
 */
void aside_compressor_free(struct aside_compressor *compressor);

/**
 * Compresses the parts of one tool's result: `count` texts, in order. A part whose `at` is NULL is not text, and is
 * skipped. Neither `*invocation` nor the parts are used after the call.
 *
 * Returns the outcome of each part and a report, which the caller owns: `aside_compressed_free()`. Failures of filters
 * and caches are in the report and do not fail the call. NULL if the call fails; `aside_last_status()` is then
 * `ASIDE_ERROR_OPTION` for an id that is not UTF-8 or an input that is not JSON; `ASIDE_ERROR_BUSY` inside a callback of
 * the same compressor; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY` or
 * `ASIDE_ERROR_PANIC`.
 */
struct aside_compressed *aside_compress(const struct aside_compressor *compressor,
                                        const struct aside_invocation *invocation,
                                        const struct aside_bytes *parts,
                                        size_t count);

/**
 * Returns the new text of the part number `index`. `*text` is written if the part changes; it points to memory of `compressed` and
 * is valid as long as `compressed`. An empty text removes the part, because another part has the same text.
 *
 * Returns `ASIDE_OK` if the part changes; `ASIDE_NONE` if it stays unchanged; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE`.
 */
aside_status aside_compressed_part(const struct aside_compressed *compressed, size_t index, struct aside_bytes *text);

/**
 * A report on one call or stream. Set `size` before the call; later versions may add fields at the end. The pointers are to memory
 * of the `aside_compressed`, valid as long as the `aside_compressed`.
 */
typedef struct aside_report {
    /** `sizeof(aside_report)` of the caller's header. */
    size_t size;
    /** Bytes of the text parts before. */
    uint64_t before;
    /** Bytes of the text parts after, banners included. */
    uint64_t after;
    /** UTF-16 code units of the text parts before, as in banners. */
    uint64_t before_units;
    /** UTF-16 code units of the text parts after, banners included. */
    uint64_t after_units;
    /** The ids of the filters that changed something, in the order of their first change. */
    const struct aside_bytes *filters;
    /** The number of these ids. */
    size_t filter_count;
    /** The number of filters and caches that failed: `aside_compressed_failed()` of aside_unstable.h names them. */
    size_t failed_count;
    /**
     * The number of parts that filters changed: `aside_compressed_part_report()` of aside_unstable.h describes them. 0 for a
     * stream that outgrew its memory.
     */
    size_t part_count;
    /** The cache that had the same output; empty if no cache had it. */
    struct aside_bytes hit;
    /**
     * 1 if text in a machine format, or text that was compressed before, was cut, because it did not fit into the budget;
     * otherwise 0.
     */
    uint32_t cut_protected;
    /**
     * 1 if the command failed, by the `exit_code` of its input, and the remaining text says only that it passed; otherwise
     * 0.
     */
    uint32_t unexplained;
} aside_report;

/**
 * Fills `*report`. Set `report->size` before the call.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_compressed_report(const struct aside_compressed *compressed, struct aside_report *report);

/**
 * Frees the result of a call, and all memory that C has borrowed from it. Does nothing for NULL.
 *
 * Threads: no other thread may be using it.
 */
void aside_compressed_free(struct aside_compressed *compressed);

/* ========================================================================== *
 * Tool streams: results that are still being printed
 *
 * Threads: one at a time for one stream.
 * ========================================================================== */

/**
 * Makes a stream for the output of one run of a tool, with `memory` bytes for it: at least four times the budget, and at least
 * 4,096. If the text fits into `memory`, the result is that of one call, without a banner, and is returned at the end. A longer
 * text without a budget is returned while it arrives, without its repeats; with a budget, its head, tail and error regions are
 * returned at the end.
 *
 * Between calls, the stream holds its last output and at most 2.5 times `memory`. Inside a call, it needs 128 KiB plus usually 5
 * times `memory`; at most 26 times, if all lines have one or two bytes.
 *
 * Returns a stream that the caller owns: `aside_tool_stream_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_OPTION` (too little memory, an id that is not UTF-8, an input that is not JSON), `ASIDE_ERROR_BUSY`
 * inside a callback of the same compressor, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH` or
 * `ASIDE_ERROR_MEMORY`.
 *
 * Threads: any thread may call this at any time.
 */
struct aside_tool_stream *aside_tool_stream_new(const struct aside_compressor *compressor,
                                                const struct aside_invocation *invocation,
                                                size_t memory);

/**
 * Frees a stream. Does nothing for NULL. Inside a callback of one of its filters, nothing is freed (`aside_last_status()` is then
 * `ASIDE_ERROR_BUSY`).
 *
 * Threads: no other thread may be using it.
 */
void aside_tool_stream_free(struct aside_tool_stream *stream);

/**
 * Feeds the next `len` bytes of the output, cut anywhere. `*out` becomes the text that is decided, which is often empty. It is
 * memory of the stream, valid until its next call. It is written on success only. `buf` is not used after the call; it must not be
 * memory of the stream.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`,
 * `ASIDE_ERROR_PANIC`.
 */
aside_status aside_tool_stream_feed(struct aside_tool_stream *stream, const char *buf, size_t len, struct aside_bytes *out);

/**
 * Sets the exit code of the command, which is known when the command has ended: after the last byte, before
 * `aside_tool_stream_finish()`. Until then, a command without an exit code counts as failed.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_tool_stream_set_exit_code(struct aside_tool_stream *stream, int64_t code);

/**
 * Ends the output. `*out` becomes the rest of the result, as for `aside_tool_stream_feed()`. The stream accepts no more text after
 * that; `aside_tool_stream_report()` returns the report.
 *
 * Returns the same as `aside_tool_stream_feed()`.
 */
aside_status aside_tool_stream_finish(struct aside_tool_stream *stream, struct aside_bytes *out);

/**
 * Returns the report of a stream that is finished. Call this at most once for a stream.
 *
 * Returns the report, without parts, which the caller owns: `aside_compressed_report()`, `aside_compressed_free()`. It
 * may be freed after the stream. NULL if that fails; `aside_last_status()` is then `ASIDE_ERROR_ORDER` before the end of the
 * output, and if the report was already taken; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY` or
 * `ASIDE_ERROR_PANIC`.
 */
struct aside_compressed *aside_tool_stream_report(struct aside_tool_stream *stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ASIDE_COMPRESS_H */
