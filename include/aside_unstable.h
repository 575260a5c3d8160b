/* aside_unstable.h - what may still change
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Generated from src/ffi: do not edit. Link with -laside.
 *
 * The functions and structs of this header may change or be removed in any version of the library, also where `ASIDE_ABI_VERSION`
 * stays. A program that uses one compares `aside_unstable_version()` with the number that it was written for, and does
 * without them if the two differ. The rules of aside.h and aside_compress.h hold here: texts, statuses, messages,
 * structs that begin with their size.
 */

#ifndef ASIDE_UNSTABLE_H
#define ASIDE_UNSTABLE_H

#include "aside_compress.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ========================================================================== *
 * The version of this header
 * ========================================================================== */

/**
 * Returns the version of `aside_unstable.h`. It grows with each change of that header that a program could notice. The version
 * that this header describes is 1.
 */
uint32_t aside_unstable_version(void);

/* ========================================================================== *
 * Dialects: response templates, and grammars of calls
 *
 * Threads: any thread may call these functions at any time, with the same dialect too.
 * ========================================================================== */

/**
 * Makes a dialect from a response template (JSON, UTF-8): the `response_template` of a model's `tokenizer_config.json`, which
 * describes how its text is divided. `json` is the template or that file; it has `len` bytes and needs no NUL, and is not used
 * after the call.
 *
 * Returns a dialect that the caller owns: `aside_dialect_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_DIALECT` with a message that names the part of the template and its pattern; `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`; `ASIDE_ERROR_MEMORY` if there is no memory for the handle.
 *
 * Memory: if it runs out while the text is read, the process ends.
 */
struct aside_dialect *aside_dialect_from_response_template(const char *json, size_t len);

/** The language of a grammar: the values of `aside_grammar_format`. */
enum {
    /** A structural tag of xgrammar, as JSON. */
    ASIDE_GRAMMAR_FORMAT_XGRAMMAR = 0,
    /** A Lark grammar of llguidance. */
    ASIDE_GRAMMAR_FORMAT_LARK = 1,
};

/** An `ASIDE_GRAMMAR_FORMAT_` value. */
typedef uint32_t aside_grammar_format;

/**
 * Returns a grammar that makes a model of the dialect write calls of these tools. `tools` has the tools of a request, as JSON.
 * `choice` is `auto` for free text with any number of calls in it, `required` for one call or several and nothing else, or the name
 * of a tool for one call of that tool and nothing else. Neither text needs a NUL. `docs/tool-calls.md` describes the grammars.
 *
 * `start` is the place at which the text begins that the grammar constrains. `ASIDE_START_DEFAULT`: after the thinking, so that no
 * thinking may come. `ASIDE_START_CONTENT`: before the thinking, which may come; `ASIDE_START_HEADER`: the same in a dialect with
 * headers, if the prompt has begun the header. `ASIDE_START_THINKING`: in the thinking, whose opener is in the prompt.
 *
 * The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. After this NUL, at
 * `result + *out_len + 1`, is a second text that ends in a NUL. It lists, in English, what the schemas of the tools demand and the
 * grammar cannot express, one line for each demand. NULL if that fails; `aside_last_status()` is then `ASIDE_ERROR_OPTION` with a message if the tools cannot
 * be read or are an empty list, if no tool has the name, if the format is unknown, if the dialect does not describe how calls are
 * written (with `auto`: nothing shows where a call begins), or if no grammar of the dialect starts there; `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. `*out_len` is written on success only.
 *
 * Memory: if it runs out while the grammar is made, the process ends.
 */
char *aside_dialect_grammar(const struct aside_dialect *dialect,
                            aside_grammar_format format,
                            const char *tools,
                            size_t tools_len,
                            const char *choice,
                            size_t choice_len,
                            aside_start start,
                            size_t *out_len);

/* ========================================================================== *
 * Scanners: chunks that need no feed
 *
 * Threads: one at a time for one scanner.
 * ========================================================================== */

/**
 * Writes the set of bytes that change nothing in the current state of the stream, so that a host for which calls are expensive
 * need not call for each token. A chunk of these bytes only, which are all ASCII, is text of one channel, and does not change
 * the state. The host may skip any number of such chunks, and adds up their lengths; each of them would be one event
 * `ASIDE_KIND_TEXT` with all its bytes. The host feeds the first chunk that has any other byte, and then calls this again, because
 * any feed may change the set.
 *
 * `bytes` is a set of four numbers: byte `b` is in it if `bytes[b / 64] >> b % 64 & 1` is 1. The scanner does not know of
 * skipped chunks until `aside_scanner_skip()` is called with their total length and last byte.
 *
 * Returns the channel (`ASIDE_CHANNEL_CONTENT` and the others, 0 or above) with `bytes` filled, or `ASIDE_NOT_TEXT` if every
 * chunk has to be fed, and nothing is written: before the first byte, with bytes held back or events pending, with a
 * budget for this channel, in text that is collected, after tokens were fed, and after an error.
 *
 * Memory: nothing is allocated.
 */
int32_t aside_scanner_quiet(const struct aside_scanner *scanner, uint64_t *bytes);

/**
 * Notes that `len` bytes were skipped, as `aside_scanner_quiet()` allows: offset and counts continue as if the bytes had been
 * fed. `last` is the last skipped byte (0 to 255), because it may decide whether a tag after it is a marker. Call this before any
 * other function of this scanner, except for `aside_scanner_quiet()`, and for the functions that return held bytes and take
 * thoughts.
 *
 * Returns `ASIDE_OK`, for a `len` of 0 in any state; `ASIDE_ERROR_ORDER` if no such chunk can have been skipped, and for more
 * bytes than any stream has; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. After an error
 * nothing has changed. Only the host knows whether the bytes were in the set, and were reported as text of that channel.
 *
 * Memory: nothing is allocated.
 */
aside_status aside_scanner_skip(struct aside_scanner *scanner, uint64_t len, uint32_t last);

/* ========================================================================== *
 * Requests: whether the thinking is wanted in the answer
 *
 * Threads: any thread may call this function at any time.
 * ========================================================================== */

/** Whether a request says that the model should think: the values of `aside_thinks`. */
enum {
    /** The request does not say, so the model decides. */
    ASIDE_THINKS_UNKNOWN = 0,
    /** The model should think. */
    ASIDE_THINKS_ON = 1,
    /** The model should not think. */
    ASIDE_THINKS_OFF = 2,
};

/** An `ASIDE_THINKS_` value. */
typedef uint32_t aside_thinks;

/** The facts of a request that concern its answer. Set `size` before each call; later versions may add fields at the end. */
typedef struct aside_request {
    /** `sizeof(aside_request)` of the caller's header. */
    size_t size;
    /** Whether the model should think. */
    aside_thinks thinks;
    /** Whether the client wants the thinking in the answer, for `aside_rewriter_options.thinking`. */
    aside_thinking thinking;
    /**
     * The JSON text of `tools`, for the options of an answer or a rewriter. It is a part of `body`. If the request offers no tools,
     * it is `[]`, so that no call is reported.
     */
    struct aside_bytes tools;
} aside_request;

/**
 * Reads the facts of a request that concern its answer. Of `*exchange`, only `path` is read; `body` is the whole body of the
 * request. An incomplete body, or one that is not a JSON object, decides nothing. Set `request->size` to `sizeof(aside_request)`
 * before the call.
 *
 * The model should think or not, if one of these says so; the first one counts: a variable of the chat template
 * (`chat_template_kwargs`: `enable_thinking`, `thinking`, `thinking_mode`), `enable_thinking` or `think` as a boolean, the type
 * of `thinking`, an effort (`think`, `reasoning_effort`, also as a variable, and `reasoning.effort`), which is off as `none` or
 * `no_think`.
 *
 * The client wants no thinking if the request has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or `"think":
 * false`, or if it is a Messages request whose `thinking` is absent or `disabled`.
 *
 * Returns `ASIDE_OK` with `*request` filled; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` for
 * an unknown bit, `ASIDE_ERROR_PANIC`.
 *
 * Memory: it allocates nothing.
 */
aside_status aside_request_read(const struct aside_exchange *exchange,
                                const char *body,
                                size_t len,
                                struct aside_request *request);

/* ========================================================================== *
 * Requests: the thinking of earlier turns, where the server reads it
 *
 * Threads: any thread may call these functions at any time.
 * ========================================================================== */

/** The place of the thinking of an earlier turn in its message: the values of `aside_history_name`. */
enum {
    /** The thinking stays where it is. */
    ASIDE_HISTORY_NAME_AS_IS = 0,
    /** Chat: the member `reasoning_content`. */
    ASIDE_HISTORY_NAME_REASONING_CONTENT = 1,
    /** Chat: the member `reasoning`. */
    ASIDE_HISTORY_NAME_REASONING = 2,
    /** Chat: the member `thinking`. */
    ASIDE_HISTORY_NAME_THINKING = 3,
    /** Chat: the member `reasoning_details`, a list with one entry of the type `reasoning.text`. */
    ASIDE_HISTORY_NAME_REASONING_DETAILS = 4,
    /** Chat: a part of the type `thinking` at the beginning of the content, which becomes a list. */
    ASIDE_HISTORY_NAME_PARTS = 5,
    /** Responses: the `content` of a reasoning item, as `reasoning_text`. */
    ASIDE_HISTORY_NAME_REASONING_TEXT = 6,
    /** Responses: the `summary` of a reasoning item, as `summary_text`. */
    ASIDE_HISTORY_NAME_SUMMARY = 7,
    /**
     * All formats: the text of the message, with the markers of `options.dialect`. A message for which that cannot be done
     * stays unchanged.
     */
    ASIDE_HISTORY_NAME_TEXT = 8,
};

/** A name that does not exist in the request's format changes nothing. */
typedef uint32_t aside_history_name;

/** The turns whose thinking stays in a request: the values of `aside_history_turns`. */
enum {
    /** All turns. */
    ASIDE_HISTORY_TURNS_ALL = 0,
    /** The turns since the last message of the user: the loop of tool calls that is running. */
    ASIDE_HISTORY_TURNS_SINCE_USER = 1,
    /** None: all thinking is removed. */
    ASIDE_HISTORY_TURNS_NONE = 2,
};

/** An `ASIDE_HISTORY_TURNS_` value. */
typedef uint32_t aside_history_turns;

/** The change to an assistant message without thinking: the values of `aside_history_missing`. */
enum {
    /** The message stays unchanged. */
    ASIDE_HISTORY_MISSING_LEAVE = 0,
    /**
     * The message gets an empty string under the name of the thinking, if its value is a string; in Messages, an empty
     * thinking block.
     */
    ASIDE_HISTORY_MISSING_EMPTY = 1,
    /** The member, block or item of empty thinking is removed. */
    ASIDE_HISTORY_MISSING_REMOVE = 2,
};

/** An `ASIDE_HISTORY_MISSING_` value. */
typedef uint32_t aside_history_missing;

/** The treatment of blocks and items that a rewriter made, and the server did not: the values of `aside_history_made`. */
enum {
    /** The blocks and items stay unchanged. */
    ASIDE_HISTORY_MADE_KEEP = 0,
    /**
     * In Messages, unsigned thinking blocks are removed; if the server would then refuse the request, its thinking is turned
     * off. In Responses, made items lose their `id`, and references to them are removed.
     */
    ASIDE_HISTORY_MADE_REMOVE = 1,
};

/** An `ASIDE_HISTORY_MADE_` value. */
typedef uint32_t aside_history_made;

/**
 * The options of `aside_history_rewrite()`. Set all of it to zero, then `size` and `format`; or let
 * `aside_history_server_find()` fill in the options of a server. Later versions may add fields at the end.
 */
typedef struct aside_history_options {
    /** `sizeof(aside_history_options)` of the caller's header. */
    size_t size;
    /** With `ASIDE_HISTORY_NAME_TEXT`, the dialect whose markers are written. Otherwise not read. */
    const struct aside_dialect *dialect;
    /** The length of the longest body that is read, in bytes; a longer body is returned unchanged. 0: 32 MiB. */
    uint64_t max_body;
    /** The format of the request: `ASIDE_FORMAT_CHAT`, `ASIDE_FORMAT_RESPONSES` or `ASIDE_FORMAT_MESSAGES`. */
    aside_formats format;
    /** The place of the thinking of an earlier turn. */
    aside_history_name name;
    /** The turns whose thinking stays. */
    aside_history_turns turns;
    /** The change to an assistant message without thinking. */
    aside_history_missing missing;
    /** The treatment of blocks and items that a rewriter made and the server did not. */
    aside_history_made made;
    /** Reserved: 0. */
    uint32_t reserved;
} aside_history_options;

/** Whether the body of a request was read, or why it was returned unchanged: the values of `aside_history_outcome`. */
enum {
    /** The body was read, and may be unchanged. */
    ASIDE_HISTORY_OUTCOME_READ = 0,
    /** The body is longer than `options.max_body`. */
    ASIDE_HISTORY_OUTCOME_TOO_LONG = 1,
    /** The body is not UTF-8. */
    ASIDE_HISTORY_OUTCOME_NOT_UTF8 = 2,
    /** The body is not a JSON object with a list of messages or items, or its nesting is deeper than 128. */
    ASIDE_HISTORY_OUTCOME_NOT_REQUEST = 3,
    /** A member appears twice, and servers differ in which of the two they read. */
    ASIDE_HISTORY_OUTCOME_REPEATED = 4,
    /** The server has the history: `previous_response_id` or `conversation`. */
    ASIDE_HISTORY_OUTCOME_STORED = 5,
};

/** An `ASIDE_HISTORY_OUTCOME_` value. */
typedef uint32_t aside_history_outcome;

/** The report of `aside_history_rewrite()`. Set `size` before the call; later versions may add fields at the end. */
typedef struct aside_history_report {
    /** `sizeof(aside_history_report)` of the caller's header. */
    size_t size;
    /** The number of messages or items that were changed or removed. */
    uint64_t changed;
    /**
     * The number of messages or items with thinking that cannot be written into their text. The thinking stays where it is,
     * unless `ASIDE_HISTORY_MADE_REMOVE` removes it.
     */
    uint64_t refused;
    /**
     * The number of messages or items with thinking that is signed, encrypted or in a form that is not known. The thinking
     * stays where it is.
     */
    uint64_t unread;
    /** Whether the body was read, or why it was returned unchanged. */
    aside_history_outcome outcome;
    /** 1: thinking was turned off in the request, see `ASIDE_HISTORY_MADE_REMOVE`. 0: it was not. */
    uint32_t thinking_off;
} aside_history_report;

/**
 * Finds the format of the requests to a path, with or without a query: the path ends in `/chat/completions`, `/responses` or
 * `/messages`. `path` has `len` bytes.
 *
 * Returns `ASIDE_OK` and writes `ASIDE_FORMAT_CHAT`, `ASIDE_FORMAT_RESPONSES` or `ASIDE_FORMAT_MESSAGES` to `*format`. Returns
 * `ASIDE_NONE` for any other path; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_history_format(const char *path, size_t len, aside_formats *format);

/**
 * Fills `*options` for a built-in server and requests of a format. `name` has `len` bytes and needs no NUL. Set
 * `options->size` before the call.
 *
 * Returns `ASIDE_OK`; `ASIDE_NONE` if requests of that format need no change, and `*options` is unchanged; `ASIDE_ERROR_UNKNOWN`
 * with a message that names the known servers; `ASIDE_ERROR_OPTION` for a format without a history; `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_PANIC`.
 *
 * Memory: if it runs out, the process ends. A host calls this before it serves.
 */
aside_status aside_history_server_find(const char *name,
                                       size_t len,
                                       aside_formats format,
                                       struct aside_history_options *options);

/**
 * Fills `*options` from the text of a server file, for requests of a format. `toml` has `len` bytes and needs no NUL.
 * Set `options->size` before the call.
 *
 * Returns the same as `aside_history_server_find()`, and `ASIDE_ERROR_DIALECT`, with a message that names the line and the
 * key, if the file has an error.
 *
 * Memory: if it runs out, the process ends. A host calls this before it serves.
 */
aside_status aside_history_server_load(const char *toml,
                                       size_t len,
                                       aside_formats format,
                                       struct aside_history_options *options);

/**
 * Returns the name of the built-in server number `index`, in sorted order, from 0: UTF-8 with a NUL at its end. `*len` becomes
 * its length without the NUL; `len` may be NULL.
 *
 * The memory lives as long as the library. NULL past the last name, which is not a failure.
 */
const char *aside_history_server_name_at(size_t index, size_t *len);

/**
 * Returns the body of a request with the thinking of earlier turns where the server reads it. `body` is all `len` bytes of
 * the request. Everything that the options do not name stays unchanged, byte for byte; a body that cannot be read is returned
 * unchanged, and `*report` says why. `report` may be NULL. Rewriting the result again changes nothing.
 *
 * The host must then set `Content-Length` again, and any digest or signature of the body.
 *
 * The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
 * `aside_last_status()` is then `ASIDE_ERROR_NULL`, also if the dialect is missing, `ASIDE_ERROR_OPTION`, `ASIDE_ERROR_SIZE`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY` or `ASIDE_ERROR_PANIC`. `*report` and `*out_len` are written on success only.
 */
char *aside_history_rewrite(const struct aside_history_options *options,
                            const char *body,
                            size_t len,
                            struct aside_history_report *report,
                            size_t *out_len);

/* ========================================================================== *
 * Registries: caches, and more filters
 *
 * Threads: one at a time for one registry. The callbacks run in the threads that compress.
 * ========================================================================== */

/**
 * Called with every invocation of a cache's tools, before any cache looks it up. Return 0; below 0 for a failure, with its reason
 * in `reply`.
 */
typedef int32_t (*aside_observe_fn)(void *user, const struct aside_invocation *invocation, struct aside_reply *reply);

/**
 * Looks up the recorded result of an invocation. Return 1 with its raw text in `reply` and its time in `*timestamp`, in
 * seconds since 1970; 0 if there is none; below 0 for a failure, with its reason in `reply`.
 */
typedef int32_t (*aside_lookup_fn)(void *user,
                                   const struct aside_invocation *invocation,
                                   struct aside_reply *reply,
                                   uint64_t *timestamp);

/**
 * Records the result of an invocation: its raw text parts, joined with line feeds. Return 0; below 0 for a failure, with
 * its reason in `reply`.
 */
typedef int32_t (*aside_record_fn)(void *user,
                                   const struct aside_invocation *invocation,
                                   const char *text,
                                   size_t text_len,
                                   struct aside_reply *reply);

/**
 * A cache of the host: it remembers results. A recorded result is used only if its text equals the fresh text. Set all of it to
 * zero, then `size`; later versions may add fields at the end. The rules of `aside_filter` for callbacks apply here too.
 */
typedef struct aside_cache {
    /** `sizeof(aside_cache)` of the caller's header. */
    size_t size;
    /** The name of the cache in reports, with the same rules as for a filter. */
    struct aside_bytes id;
    /** Ids of the tools whose results it is for. */
    const struct aside_bytes *tool_ids;
    /** The number of ids. 0: all tools. */
    size_t tool_id_count;
    /** Called with every invocation. May be NULL. */
    aside_observe_fn observe;
    /** Returns a recorded result. Not NULL. */
    aside_lookup_fn lookup;
    /** Records a result. Not NULL. */
    aside_record_fn record;
    /** May be NULL. */
    aside_release_fn release;
    /** Passed to each callback. */
    void *user;
} aside_cache;

/**
 * Adds a cache of the host. It replaces a cache with the same id. Lifetimes and results are those of
 * `aside_registry_add_filter()`.
 */
aside_status aside_registry_add_cache(struct aside_registry *registry, const struct aside_cache *cache);

/**
 * Adds the library's own cache, `last-run`: the last result of each invocation, in at most `size` bytes. The size of an entry is
 * that of its tool id, input and text, plus 256 bytes. The oldest entries are dropped to make room.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_registry_add_last_run(struct aside_registry *registry, size_t size);

/**
 * Adds the filter `minify-json`, the only filter that changes protected text.
 *
 * Returns the same as `aside_registry_add_last_run()`.
 */
aside_status aside_registry_minify_json(struct aside_registry *registry);

/* ========================================================================== *
 * Reports in full: what happened to each byte
 *
 * Threads: any thread may call these functions at any time, with the same result too.
 * ========================================================================== */

/**
 * A filter or cache that failed and was skipped, from `aside_compressed_failed()`. Set `size` before the call. The texts are
 * memory of the `aside_compressed`, valid as long as the `aside_compressed`.
 */
typedef struct aside_failed {
    /** `sizeof(aside_failed)` of the caller's header. */
    size_t size;
    /** The id of the filter or cache. */
    struct aside_bytes id;
    /** The reason of the failure. */
    struct aside_bytes reason;
} aside_failed;

/**
 * Fills `*failed` with the filter or cache number `index` of those that failed: `failed_count` of the report. Set `failed->size`
 * before the call.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_RANGE` past the last one; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_compressed_failed(const struct aside_compressed *compressed, size_t index, struct aside_failed *failed);

/** The report on a text part that filters changed, from `aside_compressed_part_report()`. Set `size` before the call. */
typedef struct aside_part_report {
    /** `sizeof(aside_part_report)` of the caller's header. */
    size_t size;
    /** The part's index in the original result. */
    size_t part;
    /** Bytes of the original. */
    uint64_t len;
    /** XXH3 (64 bits, seed 0) of the original. */
    uint64_t hash;
    /** The number of stretches of the original: `aside_compressed_stretch()`. */
    size_t stretch_count;
} aside_part_report;

/**
 * Fills `*report` with the report on one of the parts that filters changed: number `index` of the report's `part_count`.
 * Set `report->size` before the call.
 *
 * Returns the same as `aside_compressed_failed()`.
 */
aside_status aside_compressed_part_report(const struct aside_compressed *compressed,
                                          size_t index,
                                          struct aside_part_report *report);

/** No filter: the stretch was kept. */
enum { ASIDE_NO_FILTER = -1 };

/** The change of a stretch: the values of `aside_change`. */
enum {
    /** The stretch is in the result, byte for byte. */
    ASIDE_CHANGE_KEPT = 0,
    /** Other bytes replace the stretch. */
    ASIDE_CHANGE_REPLACED = 1,
    /** The stretch is not in the result; a marker line may replace it. */
    ASIDE_CHANGE_LEFT_OUT = 2,
};

/** An `ASIDE_CHANGE_` value. */
typedef uint32_t aside_change;

/**
 * A stretch of an original, from `aside_compressed_stretch()`. All stretches, joined in order, are the original. Set `size` before
 * the call.
 */
typedef struct aside_stretch {
    /** `sizeof(aside_stretch)` of the caller's header. */
    size_t size;
    /** The offset of the stretch in the original, in bytes. */
    uint64_t start;
    /** The length of the stretch, in bytes. */
    uint64_t len;
    /** XXH3 (64 bits, seed 0) of its bytes. */
    uint64_t hash;
    /** The change of the stretch: an `ASIDE_CHANGE_` value. */
    aside_change change;
    /**
     * The filter that changed the stretch: an index into `filters` of the report. `ASIDE_NO_FILTER` if the stretch was kept.
     */
    int32_t filter;
} aside_stretch;

/**
 * Fills `*stretch` with the stretch number `index` of a part's original. `part_index` is the index that
 * `aside_compressed_part_report()` takes. Set `stretch->size` before the call.
 *
 * Returns the same as `aside_compressed_failed()`.
 */
aside_status aside_compressed_stretch(const struct aside_compressed *compressed,
                                      size_t part_index,
                                      size_t index,
                                      struct aside_stretch *stretch);

/**
 * Finds `len` bytes at `start` of a part's original, to show omitted text. `original` is the unchanged text of the part number
 * `part` (`part` of its `aside_part_report`): `original_len` bytes. `*out` becomes a range of it.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_ORIGINAL` if `original` is a different text, or no filter changed that part;
 * `ASIDE_ERROR_RANGE`, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`.
 */
aside_status aside_compressed_slice(const struct aside_compressed *compressed,
                                    size_t part,
                                    const char *original,
                                    size_t original_len,
                                    uint64_t start,
                                    uint64_t len,
                                    struct aside_bytes *out);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ASIDE_UNSTABLE_H */
