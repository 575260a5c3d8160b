/* aside_compress.h - makes tool results shorter before a model reads them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Generated from src/ffi: do not edit. Link with -laside.
 *
 * A compressor shortens what a tool printed, and never hides the line that matters: repeats, progress bars and lines that
 * say nothing are left out, and lines that report a failure are kept. A marker line stands for what was left out, a banner
 * says which filters ran, and a report has every byte of the original, so that a host can show what is not there.
 *
 * In order of use: a registry collects filters and caches; a compressor is made from it; `aside_compress()` takes a whole
 * result, `aside_tool_stream_feed()` one that is still being printed. What holds for aside.h holds here: texts, statuses,
 * messages, structs that begin with their size.
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

/**
 * Filters and caches for a compressor. From `aside_registry_new()`; freed by `aside_registry_free()`, or consumed by
 * `aside_compressor_new()`.
 */
typedef struct aside_registry aside_registry;

/**
 * Makes tool results shorter. It never changes, except for its caches. From `aside_compressor_new()`; freed by
 * `aside_compressor_free()`.
 */
typedef struct aside_compressor aside_compressor;

/**
 * What came out of one call, and its report. It never changes. From `aside_compress()` or
 * `aside_tool_stream_finish()`; freed by `aside_compressed_free()`.
 */
typedef struct aside_compressed aside_compressed;

/**
 * The output of one tool, compressed while it comes. From `aside_tool_stream_new()`; freed by
 * `aside_tool_stream_free()`.
 */
typedef struct aside_tool_stream aside_tool_stream;

/**
 * What a callback of the host replies, next to the number that it returns: `aside_reply_write()`. It belongs to the
 * library and is valid until the callback returns.
 */
typedef struct aside_reply aside_reply;

/* ========================================================================== *
 * Registries: what a compressor is made of
 *
 * Threads: one at a time for one registry.
 * ========================================================================== */

/**
 * Makes a registry with every built-in filter (`built_in` 1), or with nothing (0). It has no cache.
 *
 * Returns a registry that the caller owns, until `aside_compressor_new()` consumes it: `aside_registry_free()`. NULL
 * if `built_in` is neither.
 *
 * Threads: any thread may call this at any time.
 */
struct aside_registry *aside_registry_new(uint32_t built_in);

/**
 * Frees a registry that no compressor has consumed. Does nothing for NULL.
 *
 * Threads: no other thread may be using it.
 */
void aside_registry_free(struct aside_registry *registry);

/**
 * Adds a filter from the text of a filter file (TOML, UTF-8). It replaces one of the same id. Its tests are read but
 * not run: that is `aside_filter_check()`.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_FILTER` with a message that names line and key; `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_registry_add_toml(struct aside_registry *registry, const char *toml, size_t len);

/**
 * Adds the library's own cache, `last-run`: the last result of each call, in at most `size` bytes. An entry counts its
 * tool id, input and text, and 256 bytes more. The entries that were recorded first are dropped for new ones.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_registry_add_last_run(struct aside_registry *registry, size_t size);

/**
 * Adds the filter `minify-json`, the only one for text that is protected.
 *
 * Returns as `aside_registry_add_last_run()`.
 */
aside_status aside_registry_minify_json(struct aside_registry *registry);

/**
 * Removes the filter or cache of this id.
 *
 * Returns `ASIDE_OK`; `ASIDE_NONE` if there is none; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION`,
 * `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_registry_remove(struct aside_registry *registry, const char *id, size_t len);

/**
 * Reads a filter file and runs its own tests, of which it must have one of each kind.
 *
 * Returns as `aside_registry_add_toml()`.
 *
 * Threads: any thread may call this at any time.
 */
aside_status aside_filter_check(const char *toml, size_t len);

/* ========================================================================== *
 * Registries: filters and caches of the host
 *
 * Threads: one at a time for one registry. The callbacks run in the threads that compress.
 * ========================================================================== */

/**
 * Says whether a host's filter is for this call: return 1 or 0; below 0 for a failure, as for `apply`. `input` is
 * JSON, UTF-8.
 */
typedef int32_t (*aside_matches_fn)(void *user,
                                    const char *tool_id,
                                    size_t tool_id_len,
                                    const char *input,
                                    size_t input_len,
                                    struct aside_reply *reply);

/**
 * Makes a text shorter. Return 1 with the shorter text in `reply`; 0 if there is nothing to do; below 0 for a failure,
 * with its reason in `reply`: the report has it, and the other filters go on.
 */
typedef int32_t (*aside_apply_fn)(void *user,
                                  const char *text,
                                  size_t text_len,
                                  const char *input,
                                  size_t input_len,
                                  struct aside_reply *reply);

/**
 * Called once, when nothing needs `user` any more: in the thread that frees the last object that did. It must not use
 * what is being freed.
 */
typedef void (*aside_release_fn)(void *user);

/**
 * A filter of the host. Set all of it to zero, then `size`. It promises only that a text which it calls compressed is
 * shorter; that is checked. Its callbacks run in the threads that compress, several at the same time if the host does
 * so. They may use the library, except for the compressor that called them: that returns `ASIDE_ERROR_BUSY`. No C++
 * exception and no `longjmp` may leave them, nor may their thread end in them.
 */
typedef struct aside_filter {
    /** `sizeof(aside_filter)` of the caller's header. */
    size_t size;
    /** Its name in banners and reports: UTF-8 without control characters, at least one byte. */
    struct aside_bytes id;
    /** Ids of the tools whose results it is for. */
    const struct aside_bytes *tool_ids;
    /** How many there are. 0: all tools. */
    size_t tool_id_count;
    /** Says whether it is for a call. NULL: always. */
    aside_matches_fn matches;
    /** Makes a text shorter. Not NULL. */
    aside_apply_fn apply;
    /** May be NULL. */
    aside_release_fn release;
    /** Passed to each callback. */
    void *user;
} aside_filter;

/**
 * Adds a filter of the host. It replaces one of the same id. `*filter` and the texts that it leads to are not used
 * after the call; the callbacks and `user` are, until `release` is called.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for a text that is not UTF-8 or an id that is not allowed;
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`. After a
 * failure `release` is not called.
 */
aside_status aside_registry_add_filter(struct aside_registry *registry, const struct aside_filter *filter);

/**
 * Sees every call of a cache's tools, before any cache looks it up. `input` is JSON with sorted keys and no white
 * space: equal inputs are equal bytes. Return 0; below 0 for a failure, with its reason in `reply`.
 */
typedef int32_t (*aside_observe_fn)(void *user,
                                    const char *tool_id,
                                    size_t tool_id_len,
                                    const char *input,
                                    size_t input_len,
                                    struct aside_reply *reply);

/**
 * Looks up the recorded result of a call. Return 1 with its raw text in `reply` and its time in `*timestamp`; 0 if
 * there is none; below 0 for a failure, with its reason in `reply`.
 */
typedef int32_t (*aside_lookup_fn)(void *user,
                                   const char *tool_id,
                                   size_t tool_id_len,
                                   const char *input,
                                   size_t input_len,
                                   struct aside_reply *reply,
                                   uint64_t *timestamp);

/**
 * Records a result: its raw text parts, joined with line feeds. Return 0; below 0 for a failure, with its reason in
 * `reply`.
 */
typedef int32_t (*aside_record_fn)(void *user,
                                   const char *tool_id,
                                   size_t tool_id_len,
                                   const char *input,
                                   size_t input_len,
                                   const char *text,
                                   size_t text_len,
                                   uint64_t now,
                                   struct aside_reply *reply);

/**
 * A cache of the host: it remembers results. It is trusted only if the fresh text is the recorded one. Set all of it
 * to zero, then `size`. What `aside_filter` says of callbacks holds for these too.
 */
typedef struct aside_cache {
    /** `sizeof(aside_cache)` of the caller's header. */
    size_t size;
    /** Its name in reports, as for a filter. */
    struct aside_bytes id;
    /** Ids of the tools whose results it is for. */
    const struct aside_bytes *tool_ids;
    /** How many there are. 0: all tools. */
    size_t tool_id_count;
    /** Sees every call. May be NULL. */
    aside_observe_fn observe;
    /** Returns a recorded result. Not NULL. */
    aside_lookup_fn lookup;
    /** Records one. Not NULL. */
    aside_record_fn record;
    /** May be NULL. */
    aside_release_fn release;
    /** Passed to each callback. */
    void *user;
} aside_cache;

/**
 * Adds a cache of the host. It replaces one of the same id. What is used after the call, and what is returned: as for
 * `aside_registry_add_filter()`.
 */
aside_status aside_registry_add_cache(struct aside_registry *registry, const struct aside_cache *cache);

/**
 * Appends to what a callback replies: the shorter text, the recorded text, or the reason of a failure.
 *
 * Returns `ASIDE_OK`, `ASIDE_ERROR_NULL` or `ASIDE_ERROR_LENGTH`.
 *
 * Threads: only the one in which the callback runs.
 */
aside_status aside_reply_write(struct aside_reply *reply, const char *buf, size_t len);

/* ========================================================================== *
 * Compressors: whole results
 *
 * Threads: any thread may call these functions at any time, with the same compressor or result too.
 * ========================================================================== */

/** Texts shorter than this, in UTF-16 code units, are never changed. */
enum { ASIDE_MIN_COMPRESSIBLE_LENGTH = 1024 };

/** The smallest budget of a compressor, in bytes. */
enum { ASIDE_MIN_BUDGET = 1024 };

/** Options of a compressor. Set all of it to zero, then `size`; later versions may add fields at the end. */
typedef struct aside_compressor_options {
    /** `sizeof(aside_compressor_options)` of the caller's header. */
    size_t size;
    /**
     * The largest number of bytes that the text parts of a result may have together, banners and markers included; at
     * least `ASIDE_MIN_BUDGET`. 0: no budget. Text that is never changed stays whole in any case, and each other text
     * part has at least `ASIDE_MIN_BUDGET` for itself: 100 of them may have 100 KiB, however small the budget is. The
     * built-in filter `budget` keeps to it: without that filter, only a stream that outgrows its memory does.
     */
    uint64_t budget;
    /** The banner's last sentence, UTF-8: how a user of this host switches compression off. If empty: a general one. */
    struct aside_bytes switch_off;
    /**
     * The longest text, in bytes, that one call works on as a whole. A longer one goes window by window, as in a stream with that
     * much memory: it loses its repeats, or under a budget all but its head, its tail and its error regions; filters for a tool do
     * not see it, and the report has no stretches of it. At least 4,096 bytes count, and at least four times the budget. 0: a text
     * of any length is worked on as a whole, which takes some times as much memory as it has bytes.
     */
    uint64_t memory;
} aside_compressor_options;

/**
 * Makes a compressor of a registry, which it consumes: `registry` must not be used after that, nor freed. `options`
 * may be NULL: no budget, and no limit to a text.
 *
 * Returns a compressor that the caller owns: `aside_compressor_free()`. NULL if that fails, and the registry is still
 * the caller's; `aside_last_status()` is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`,
 * `ASIDE_ERROR_BUSY` or `ASIDE_ERROR_OPTION` (a budget that is too small, or a sentence that is not UTF-8).
 *
 * Threads: no other thread may be using the registry.
 */
struct aside_compressor *aside_compressor_new(struct aside_registry *registry,
                                              const struct aside_compressor_options *options);

/**
 * Frees a compressor. Does nothing for NULL. Streams that were made from it go on.
 *
 * Inside a callback of its filters and caches nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
 *
 * Threads: no other thread may be using it.
 */
void aside_compressor_free(struct aside_compressor *compressor);

/** One tool call whose result is compressed. Set all of it to zero, then `size`. */
typedef struct aside_invocation {
    /** `sizeof(aside_invocation)` of the caller's header. */
    size_t size;
    /** The tool's id, UTF-8. */
    struct aside_bytes tool_id;
    /**
     * What the tool was called with: JSON. That of a terminal tool has `command`, and may have `cwd` and `exit_code`.
     * If empty: null.
     */
    struct aside_bytes input;
    /** The time in seconds since 1970, for caches. The library has no clock of its own. */
    uint64_t now;
} aside_invocation;

/**
 * Compresses the parts of one tool's result: `count` texts, in order. A part whose `at` is NULL is not text, and is
 * skipped. Neither `*call` nor the parts are used after the call.
 *
 * `*out` becomes the outcome of each part, and a report, which the caller owns: `aside_compressed_free()`. It is
 * written on success only. Failures of filters and caches are in the report and do not fail the call.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for an id that is not UTF-8 or an input that is not JSON;
 * `ASIDE_ERROR_BUSY` inside a callback of the same compressor; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_compress(const struct aside_compressor *compressor,
                            const struct aside_invocation *call,
                            const struct aside_bytes *parts,
                            size_t count,
                            struct aside_compressed **out);

/**
 * Shows what becomes of the part number `index`. `*text` and `*len` are written if it changes: memory of
 * `compressed`, valid as long as that is, without a NUL at its end. A length of 0 means that the part is removed,
 * because another one says the same.
 *
 * Returns `ASIDE_OK` if the part changes; `ASIDE_NONE` if it stays as it is; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE`.
 */
aside_status aside_compressed_part(const struct aside_compressed *compressed, size_t index, const char **text, size_t *len);

/**
 * Frees what came out of a call, and all memory that C has borrowed from it. Does nothing for NULL.
 *
 * Threads: no other thread may be using it.
 */
void aside_compressed_free(struct aside_compressed *compressed);

/* ========================================================================== *
 * Reports: what was done
 *
 * Threads: any thread may call these functions at any time, with the same result too.
 * ========================================================================== */

/** No filter: the stretch was kept. */
enum { ASIDE_NO_FILTER = -1 };

/** What became of a stretch: the values of `aside_change`. */
enum {
    /** It is in the result, byte for byte. */
    ASIDE_CHANGE_KEPT = 0,
    /** Other bytes stand for it. */
    ASIDE_CHANGE_REPLACED = 1,
    /** It is not in the result; a marker line may stand for it. */
    ASIDE_CHANGE_LEFT_OUT = 2,
};

/** An `ASIDE_CHANGE_` value. */
typedef uint32_t aside_change;

/** A stretch of an original. All of them, joined in order, are the original. */
typedef struct aside_stretch {
    /** Its offset in the original. */
    uint64_t start;
    /** Its length. */
    uint64_t len;
    /** XXH3 (64 bits, seed 0) of its bytes. */
    uint64_t hash;
    /** What became of it: an `aside_change` value. */
    aside_change change;
    /** The filter that changed it: an index into `report.filters`. `ASIDE_NO_FILTER` if it was kept. */
    int32_t filter;
} aside_stretch;

/** What became of a text part that filters changed. */
typedef struct aside_part_report {
    /** The part's index in the result that came in. */
    size_t part;
    /** Bytes of the original. */
    uint64_t len;
    /** XXH3 (64 bits, seed 0) of the original. */
    uint64_t hash;
    /** The stretches of the original. */
    const struct aside_stretch *stretches;
    /** How many there are. */
    size_t stretch_count;
} aside_part_report;

/** A filter or cache that failed in a call and was skipped. */
typedef struct aside_failed {
    /** Its id. */
    struct aside_bytes id;
    /** What went wrong. */
    struct aside_bytes reason;
} aside_failed;

/**
 * What one call did. Set `size` before. The pointers lead to memory of the `aside_compressed`, valid as long as that
 * is; later versions may add fields at the end.
 */
typedef struct aside_report {
    /** `sizeof(aside_report)` of the caller's header. */
    size_t size;
    /** The text parts' length before, in UTF-16 code units. */
    uint64_t before;
    /** And after, banners included. */
    uint64_t after;
    /** The filters that changed something, in the order of their first change. */
    const struct aside_bytes *filters;
    /** How many there are. */
    size_t filter_count;
    /** Filters and caches that failed. */
    const struct aside_failed *failed;
    /** How many there are. */
    size_t failed_count;
    /** The parts that filters changed. None for a stream that outgrew its memory. */
    const struct aside_part_report *parts;
    /** How many there are. */
    size_t part_count;
    /** The cache that had the same output; empty if none had. */
    struct aside_bytes hit;
    /**
     * 1 if text of a machine format, or text that was compressed before, was cut, because it did not fit into the budget;
     * otherwise 0.
     */
    uint32_t cut_protected;
    /** 1 if the command failed, by the `exit_code` of its input, and what is left says only that it passed; otherwise 0. */
    uint32_t unexplained;
} aside_report;

/**
 * Fills `*report` with what was done. Set `report->size` before.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_compressed_report(const struct aside_compressed *compressed, struct aside_report *report);

/**
 * Finds `len` bytes at `start` of a part's original, to show what was left out. `original` is the text of
 * the part number `part` as it came in: `original_len` bytes. `*out` becomes a pointer into it.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_ORIGINAL` if this is another text, or no filter changed that part;
 * `ASIDE_ERROR_RANGE`, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`.
 */
aside_status aside_compressed_slice(const struct aside_compressed *compressed,
                                    size_t part,
                                    const char *original,
                                    size_t original_len,
                                    uint64_t start,
                                    uint64_t len,
                                    const char **out);

/* ========================================================================== *
 * Tool streams: results that are still being printed
 *
 * Threads: one at a time for one stream.
 * ========================================================================== */

/**
 * Makes a stream for one tool's output, with `memory` bytes for it: at least four times the budget, and at least
 * 4,096. If the text fits into that, the result is that of one call, without a banner, and comes at the end. A longer
 * text without a budget is put out while it comes, without its repeats; with a budget it is put out at the end: head,
 * tail and error regions.
 *
 * The stream holds at most 2.5 times `memory` between its calls, and the length of `*out`; inside a call 128 KiB and
 * usually 5 times `memory`, at most 26 times, if all lines are of one or two bytes.
 *
 * Returns a stream that the caller owns: `aside_tool_stream_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_OPTION` (too little memory, an id that is not UTF-8, an input that is not JSON), `ASIDE_ERROR_BUSY`
 * inside a callback of the same compressor, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE` or `ASIDE_ERROR_LENGTH`.
 *
 * Threads: any thread may call this at any time.
 */
struct aside_tool_stream *aside_tool_stream_new(const struct aside_compressor *compressor,
                                                const struct aside_invocation *call,
                                                size_t memory);

/**
 * Frees a stream. Does nothing for NULL. Inside a callback of a filter that it has called nothing is freed
 * (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
 *
 * Threads: no other thread may be using it.
 */
void aside_tool_stream_free(struct aside_tool_stream *stream);

/**
 * Feeds the next `len` bytes of the output, cut anywhere. `*out` becomes what is decided, `*out_len` bytes, often
 * none: memory of the stream, valid until its next call. `buf` is not used after the call; it must not be memory of
 * the stream.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`,
 * `ASIDE_ERROR_PANIC`.
 */
aside_status aside_tool_stream_feed(struct aside_tool_stream *stream,
                                    const char *buf,
                                    size_t len,
                                    const char **out,
                                    size_t *out_len);

/**
 * Sets the exit code of the command, which is known when the command has ended: after the last byte, before
 * `aside_tool_stream_finish()`. Until then, a command without one counts as failed.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_tool_stream_set_exit_code(struct aside_tool_stream *stream, int64_t code);

/**
 * Ends the output. `*out` becomes the rest of the result, as for `aside_tool_stream_feed()`. `*report` becomes what
 * was done, without parts of its own: `aside_compressed_report()`, `aside_compressed_slice()`,
 * `aside_compressed_free()`; `report` may be NULL. The stream takes no more text after that.
 *
 * Returns as `aside_tool_stream_feed()`, or `ASIDE_ERROR_MEMORY` if the report could not be allocated: then nothing is
 * written.
 */
aside_status aside_tool_stream_finish(struct aside_tool_stream *stream,
                                      const char **out,
                                      size_t *out_len,
                                      struct aside_compressed **report);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ASIDE_COMPRESS_H */
