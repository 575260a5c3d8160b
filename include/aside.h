/* aside.h - what a language model says, told apart from what it thinks
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Generated from src/ffi: do not edit. Link with -laside.
 *
 * A model's output is one stream of bytes that carries several channels: thinking, content, narration, tool calls.
 * A scanner takes that stream in pieces, cut anywhere, and gives events: a span opens, text of a channel, a span
 * closes. Which bytes are markers is a dialect's affair: one for each family of models, built in or loaded from a file.
 *
 * A whole program. It prints what is meant for the reader, and leaves the thinking out:
 *
 *     #include <aside.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *
 *     static int32_t show(void *user, const aside_event *event, const char *bytes)
 *     {
 *         (void)user;
 *         if (event->kind == ASIDE_TEXT && event->channel == ASIDE_CONTENT)
 *             fwrite(bytes, 1, (size_t)event->len, stdout);
 *         return 0;
 *     }
 *
 *     int main(void)
 *     {
 *         const char *chunks[] = { "<thi", "nk>Twice 21", " is 42.</th", "ink>It is 42.\n" };
 *         const aside_dialect *dialect = aside_dialect_find("inline-think", strlen("inline-think"));
 *         aside_scanner *scanner = aside_scanner_new(dialect, NULL);
 *         int32_t status = scanner == NULL ? aside_last_status() : ASIDE_OK;
 *         size_t i;
 *
 *         for (i = 0; i < 4 && status == ASIDE_OK; i++)
 *             status = aside_scanner_feed(scanner, chunks[i], strlen(chunks[i]), show, NULL);
 *         if (status == ASIDE_OK)
 *             status = aside_scanner_finish(scanner, show, NULL);
 *         if (status != ASIDE_OK)
 *             fprintf(stderr, "aside: %s\n", aside_last_error());
 *         aside_scanner_free(scanner);
 *         return status == ASIDE_OK ? 0 : 1;
 *     }
 *
 * What is promised. However the stream is cut, the joined text of each channel, the spans and the attributes are the
 * same. Every byte is in exactly one event, in order. A byte is held back only while it may be part of a marker or of a
 * character whose end has not come. Time is linear in the length of the stream, whatever it says; memory is constant.
 * No text cuts a character of valid UTF-8; bytes that are not UTF-8 and NULs pass through.
 *
 * Text. All text that comes in is a pointer and a length, and needs no NUL. NULL is good where the length is 0.
 *
 * Errors. Functions that can fail return an `aside_status`, or NULL where they return a pointer; the message is then in
 * `aside_last_error()`. Outputs are written on success only. No misuse that can be seen ends the process: NULLs, wrong
 * sizes, calls from inside a callback and defects of the library come back as a status. A scanner that ran out of memory
 * says so at each later call until it is reset; one that met a defect, for ever.
 *
 * Pauses. A callback that returns something else than 0, or an event array that is full, pauses the call; this is no
 * error. Nothing is lost or repeated: the next call goes on where the last one stopped.
 *
 * Memory. What `_new` and `_load` return is freed by `_free`. Bytes given to a callback are good until it returns; other
 * memory that a scanner lends is good as long as its description says. Bytes and arrays that are lent are never NULL:
 * where there are none, their length or count is 0, and nothing may be read there. Once a scanner is made, feeding it
 * allocates nothing, except for headers, for tags with attributes, for the first tokens, and for thoughts where it
 * collects them. If memory runs out in making or feeding a scanner or a rewriter, that is a status; in finding and loading
 * dialects, and in what makes tool results shorter, it ends the process.
 *
 * Threads. Dialects and compressors never change, a compressor's caches apart: any number of threads may use one. A scanner
 * is used by one thread at a time, not always the same one; two scanners never touch each other. Messages are kept for
 * each thread. Behind `fork()` the child may use what no other thread was using just then: a compressor's caches, and a
 * dialect that is being found for the first time, may be locked for ever there.
 *
 * Versions. `ASIDE_VERSION` is the version of this header, `aside_version()` that of the library that runs. Functions
 * and constants are added, never changed; structs that a caller fills begin with their size, so that they can grow.
 * Numbers that a later library may give (kinds of events, statuses) are to be passed over where they are not known.
 */


#ifndef ASIDE_H
#define ASIDE_H

#include <stddef.h>
#include <stdint.h>

/** The version of this header. */
#define ASIDE_VERSION "0.1.0"

/** The function of that version: a call of it does not link with an older library. */
#define ASIDE_VERSION_SYMBOL aside_version_0_1_0

/** The version of the binary interface that this header describes; compare with `aside_abi_version()`. */
#define ASIDE_ABI_VERSION 1

/* ========================================================================== *
 * Statuses
 * ========================================================================== */

/** Done. */
#define ASIDE_OK 0

/**
 * A pause: the callback returned something else than 0. The event that it was called with counts as delivered.
 * `aside_scanner_consumed()` bytes of the buffer are done; the next call goes on behind them.
 */
#define ASIDE_STOPPED 1

/**
 * A pause: the event array is full, or `attributes` has grown to its limit. What is in `*out` is good. Call again with
 * what is left of the buffer, `out.consumed` bytes further on; call again too where nothing is left of it.
 */
#define ASIDE_MORE 2

/** No failure: there is nothing to take. */
#define ASIDE_NONE 3

/** A pointer that is needed is NULL. */
#define ASIDE_ERROR_NULL (-1001)

/**
 * A length is above PTRDIFF_MAX: no object is that large. Or the lengths of tokens do not add up to the buffer's, or no
 * array of tokens can be where they are said to be.
 */
#define ASIDE_ERROR_LENGTH (-1002)

/** No dialect of that name is built in (the message names the nearest ones), or known for that model or template. */
#define ASIDE_ERROR_UNKNOWN (-1003)

/** A dialect's text is not one. The message names line and key. */
#define ASIDE_ERROR_DIALECT (-1004)

/** An option has a value that it cannot have, or that the dialect has no use for. */
#define ASIDE_ERROR_OPTION (-1005)

/** A `size` field, an `event_size` or a `capacity` cannot be right. */
#define ASIDE_ERROR_SIZE (-1006)

/**
 * The scanner, rewriter, registry, compressor or stream is in use: it was called from its own callback, or, as far as that
 * can be noticed, from two threads at once where that is not allowed. Nothing has changed.
 */
#define ASIDE_ERROR_BUSY (-1007)

/**
 * Calls in the wrong order: a feed or flush after a `finish` that was paused (go on with `finish`, or `reset`), a start
 * that is said behind the stream's first byte, bytes skipped where none can have passed, or output of a tool behind its
 * end.
 */
#define ASIDE_ERROR_ORDER (-1008)

/**
 * Memory ran out. A scanner that says so stays in error until `aside_scanner_reset()`, a rewriter until
 * `aside_sse_reset()`.
 */
#define ASIDE_ERROR_MEMORY (-1009)

/** An index is not below the count. */
#define ASIDE_ERROR_RANGE (-1010)

/**
 * A defect of the library, caught at the boundary. The scanner says so for ever; it can only be freed. (A library that
 * was built with `panic = "abort"` ends the process instead.)
 */
#define ASIDE_ERROR_PANIC (-1011)

/**
 * A text cannot be joined or escaped. The message says which part and which byte of it would be read as something else,
 * or what the dialect lacks.
 */
#define ASIDE_ERROR_JOIN (-1012)

/** A filter's text is not one, or does not pass its own tests. The message names line and key. */
#define ASIDE_ERROR_FILTER (-1013)

/** The text is not the one that the report is about. */
#define ASIDE_ERROR_ORIGINAL (-1014)

/* ========================================================================== *
 * What an event says
 * ========================================================================== */

/** `event.kind`: a span begins. The bytes are its opening marker; none where the stream starts inside the span. */
#define ASIDE_OPEN 1

/** `event.kind`: an attribute of the marker that has just opened a span. It has no bytes of the stream. */
#define ASIDE_ATTRIBUTE 2

/** `event.kind`: text of the channel. Never empty, and never cuts a character of valid UTF-8. */
#define ASIDE_TEXT 3

/** `event.kind`: bytes that belong to no text, such as the newline that a family puts around its markers. */
#define ASIDE_FRAMING 4

/** `event.kind`: a span ends. The bytes are its closing marker; none where it ends without one. */
#define ASIDE_CLOSE 5

/**
 * `event.kind`: all content so far was thinking. The closer of a thinking has come without an opener before it, in a
 * dialect with `stray_close = "reclassify"`. It has no bytes of the stream, and comes once in it at most.
 */
#define ASIDE_RECLASSIFY 6

/**
 * `event.kind`: the thinking goes beyond `options.budget` here. It has no bytes of the stream and stands between two
 * characters. Once for each span or stream, as `options.budget_scope` says.
 */
#define ASIDE_BUDGET 7

/** `event.channel`: what the reader is meant to see. */
#define ASIDE_CONTENT 0

/** `event.channel`: what the model thinks (`reasoning`, `reasoning_content` in some interfaces). */
#define ASIDE_THINKING 1

/** `event.channel`: what the model says about what it is doing. */
#define ASIDE_NARRATION 2

/** `event.channel`: tool calls. */
#define ASIDE_TOOL 3

/**
 * Of `aside_scanner_feed_text()`, which gives a channel otherwise: nothing was fed. Of `aside_scanner_quiet()`: nothing may
 * pass outside.
 */
#define ASIDE_NOT_TEXT (-1)

/** `event.cause`, of an `ASIDE_CLOSE`: the closing marker came. */
#define ASIDE_CAUSE_MARKER 0

/** `event.cause`, of an `ASIDE_CLOSE`: something else came that ends such a span. */
#define ASIDE_CAUSE_IMPLIED 1

/** `event.cause`, of an `ASIDE_CLOSE`: the stream ended inside the span. */
#define ASIDE_CAUSE_END 2

/** `event.cause`, of an `ASIDE_CLOSE`: `aside_scanner_force_close()`. */
#define ASIDE_CAUSE_FORCED 3

/** `event.cause`, of a tool call: its text broke its grammar. No span ends so. */
#define ASIDE_CAUSE_MALFORMED 4

/* ========================================================================== *
 * Where a stream starts
 * ========================================================================== */

/** `options.start`: as the dialect says. */
#define ASIDE_START_DEFAULT 0

/** `options.start`: no span is open. */
#define ASIDE_START_CONTENT 1

/** `options.start`: the stream begins inside a thinking span, whose opener was in the prompt. */
#define ASIDE_START_THINKING 2

/** `options.start`: the stream begins inside a narration span. */
#define ASIDE_START_NARRATION 3

/** `options.start`: the stream begins inside a tool span. */
#define ASIDE_START_TOOL 4

/** `options.start`: the stream begins inside a channel header, of a dialect that has headers. */
#define ASIDE_START_HEADER 5

/* ========================================================================== *
 * Closers without an opener
 * ========================================================================== */

/** `options.stray_close`: what the dialect says. */
#define ASIDE_STRAY_CLOSE_DIALECT 0

/**
 * `options.stray_close`: a closer of the thinking that stands in the content after other text is text, for a host that is
 * sure that its model does not think.
 */
#define ASIDE_STRAY_CLOSE_TEXT 1

/* ========================================================================== *
 * Budgets
 * ========================================================================== */

/** `options.budget_unit`: bytes. */
#define ASIDE_BUDGET_BYTES 0

/** `options.budget_unit`: characters. */
#define ASIDE_BUDGET_CHARACTERS 1

/** `options.budget_scope`: each thinking span has the budget. */
#define ASIDE_BUDGET_SPAN 0

/** `options.budget_scope`: all thinking of the stream has it together. */
#define ASIDE_BUDGET_STREAM 1

/* ========================================================================== *
 * What `aside_join()` does with markers in its parts
 * ========================================================================== */

/** `markers`: it fails with `ASIDE_ERROR_JOIN`. */
#define ASIDE_MARKERS_REFUSE 0

/** `markers`: it breaks them, as `aside_escape()` does. */
#define ASIDE_MARKERS_ESCAPE 1

/* ========================================================================== *
 * What an event stream is rewritten to
 * ========================================================================== */

/** `sse_options.field`: the thinking becomes `reasoning_content`. */
#define ASIDE_FIELD_REASONING_CONTENT 0

/** `sse_options.field`: the thinking becomes `reasoning`. */
#define ASIDE_FIELD_REASONING 1

/** `sse_options.field`: the thinking becomes `thinking`. */
#define ASIDE_FIELD_THINKING 2

/** `sse_options.body`: the first byte that is not blank says it. JSON begins with `{`, an event stream never does. */
#define ASIDE_BODY_UNKNOWN 0

/** `sse_options.body`: an event stream, `text/event-stream`. */
#define ASIDE_BODY_EVENTS 1

/** `sse_options.body`: one JSON object, `application/json`. */
#define ASIDE_BODY_JSON 2

/* ========================================================================== *
 * What tool results are measured by, and what becomes of them
 * ========================================================================== */

/** Texts shorter than this, in UTF-16 code units, are never touched. */
#define ASIDE_MIN_COMPRESSIBLE_LENGTH 1024

/** The smallest budget of a compressor, in bytes. */
#define ASIDE_MIN_BUDGET 1024

/** `stretch.change`: it is in the result, byte for byte. */
#define ASIDE_KEPT 0

/** `stretch.change`: other bytes stand for it. */
#define ASIDE_REPLACED 1

/** `stretch.change`: it is not there; a marker line may stand for it. */
#define ASIDE_LEFT_OUT 2

/** `stretch.filter` of what was kept. */
#define ASIDE_NO_FILTER 4294967295

/* ========================================================================== *
 * Types
 * ========================================================================== */

/**
 * The commands of a command line. It never changes. From `aside_command_line_parse()`; freed by
 * `aside_command_line_free()`.
 */
typedef struct aside_command_line aside_command_line;

/**
 * What came out of one call, and its report. It never changes. From `aside_compress()` or `aside_tool_stream_finish()`;
 * freed by `aside_compressed_free()`.
 */
typedef struct aside_compressed aside_compressed;

/**
 * Makes tool results shorter. It never changes, its caches apart: any number of threads may use one at once. From
 * `aside_compressor_new()`; freed by `aside_compressor_free()`.
 */
typedef struct aside_compressor aside_compressor;

/**
 * A dialect: which bytes are markers, and of what. It never changes, so any number of threads may use one at once.
 * From `aside_dialect_find()` (built in: never freed) or `aside_dialect_load()` (freed by `aside_dialect_free()`).
 */
typedef struct aside_dialect aside_dialect;

/**
 * Filters and caches on their way into a compressor. From `aside_registry_new()`; freed by `aside_registry_free()`, or
 * taken over by `aside_compressor_new()`. One thread at a time may use it.
 */
typedef struct aside_registry aside_registry;

/**
 * What a host's callback says, beside the number that it returns: `aside_reply_write()`. It belongs to the library and is
 * good until the callback returns.
 */
typedef struct aside_reply aside_reply;

/**
 * The state of one stream. From `aside_scanner_new()`; freed by `aside_scanner_free()`. One thread at a time may use
 * it, whichever that is; different scanners share nothing that changes.
 */
typedef struct aside_scanner aside_scanner;

/**
 * What rewrites one event stream. From `aside_sse_new()`; freed by `aside_sse_free()`. One thread at a time may use it,
 * whichever that is; different rewriters share nothing that changes.
 */
typedef struct aside_sse aside_sse;

/**
 * The output of one tool, compressed as it comes. From `aside_tool_stream_new()`; freed by `aside_tool_stream_free()`. One
 * thread at a time may use it.
 */
typedef struct aside_tool_stream aside_tool_stream;

/**
 * What a function returns: 0 is done, above 0 is a pause and no error, below 0 is a failure. Failures lie far from
 * any value of `errno`. `aside_last_error()` has the message of a failure, `aside_status_text()` the general sentence.
 */
typedef int32_t aside_status;

/** Options of a scanner. Set all of it to zero, then `size`; fields may be added at the end in later versions. */
typedef struct aside_options {
    /** `sizeof(aside_options)` of the caller's header. */
    size_t size;
    /** What is open at the first byte: an `ASIDE_START_` value. */
    uint32_t start;
    /** What becomes of a closer of the thinking without an opener, after content: an `ASIDE_STRAY_CLOSE_` value. */
    uint32_t stray_close;
    /**
     * Collect whole thoughts for `aside_scanner_take_thought()`: the most bytes of them to hold at a time, text, types and
     * attributes, of which each counts as 48 at least. What has no room is cut off, the text last. 0: off.
     */
    uint64_t collect;
    /** The most thinking before an `ASIDE_BUDGET` event. 0 where `has_budget` is not 1. */
    uint64_t budget;
    /** 1: there is a budget. */
    uint32_t has_budget;
    /** What the budget counts: an `ASIDE_BUDGET_` value, bytes or characters. */
    uint32_t budget_unit;
    /** What has the budget: an `ASIDE_BUDGET_` value, span or stream. */
    uint32_t budget_scope;
    /** 0. */
    uint32_t reserved;
} aside_options;

/**
 * One event: 64 bytes without a pointer. Every byte of the stream is in exactly one event; together, in order, the
 * events are the stream.
 */
typedef struct aside_event {
    /**
     * `ASIDE_OPEN`, `ASIDE_ATTRIBUTE`, `ASIDE_TEXT`, `ASIDE_FRAMING`, `ASIDE_CLOSE`, `ASIDE_RECLASSIFY` or
     * `ASIDE_BUDGET`. Pass over others: there may be more one day.
     */
    uint32_t kind;
    /**
     * `ASIDE_CONTENT`, `ASIDE_THINKING`, `ASIDE_NARRATION` or `ASIDE_TOOL`: of the span that opens or closes, or of
     * the text; of framing, the channel around it.
     */
    uint32_t channel;
    /** Of `ASIDE_CLOSE`, an `ASIDE_CAUSE_` value; otherwise 0. */
    uint32_t cause;
    /** Of `ASIDE_OPEN`, which `[[span]]` of the dialect's file, from 0; the number of spans stands for a header. */
    uint32_t rule;
    /** Where the bytes stand in the stream: its first byte has offset 0. Of `ASIDE_ATTRIBUTE`, where the marker does. */
    uint64_t offset;
    /** How many bytes. Of `ASIDE_ATTRIBUTE`, 0. */
    uint64_t len;
    /** Of `ASIDE_OPEN`, which of the span's opening literals or names, from 0: `aside_dialect_opener()` has the words. */
    uint32_t tag;
    /** Of `ASIDE_ATTRIBUTE` in an event array: where its name begins in `aside_fed.attributes`. Otherwise 0. */
    uint32_t text_at;
    /** Of `ASIDE_ATTRIBUTE`: the length of its name. */
    uint32_t name_len;
    /** Of `ASIDE_ATTRIBUTE`: the length of its decoded value, which stands directly behind the name. */
    uint32_t value_len;
    /** Of `ASIDE_ATTRIBUTE`: where the name stands in the marker, counted from the marker's first byte. */
    uint32_t raw_name_at;
    /** Its length there; 0 where the marker has no name for it. */
    uint32_t raw_name_len;
    /** Of `ASIDE_ATTRIBUTE`: where the value stands in the marker, not decoded, counted from the marker's first byte. */
    uint32_t raw_value_at;
    /** Its length there. */
    uint32_t raw_value_len;
} aside_event;

/**
 * Called for each event. `user` is what the feeding function was given. `bytes` has `event->len` bytes, except for
 * `ASIDE_ATTRIBUTE`: there it has the name and directly behind it the decoded value, `event->name_len` and
 * `event->value_len` bytes. It is never NULL and has no NUL at its end. `event` and `bytes` may be used until the
 * callback returns; whoever needs them longer copies them.
 *
 * Return 0 to go on; anything else pauses: the feeding function returns `ASIDE_STOPPED`.
 *
 * The callback runs in the thread that feeds. It may use other scanners and any dialect; every function that is given
 * the scanner that is feeding says `ASIDE_ERROR_BUSY` and does nothing. No C++ exception and no `longjmp` may leave it:
 * catch there, return 1, and throw again behind the call. Nor may its thread end in it.
 */
typedef int32_t (*aside_event_fn)(void *user, const struct aside_event *event, const char *bytes);

/** A token of the model's, as the caller's tokenizer knows it. Of zero bytes, it counts nowhere. */
typedef struct aside_token {
    /** How many bytes of the buffer. */
    uint32_t len;
    /** 1: it is one of the tokenizer's added tokens. 0: it is text, whatever it looks like. */
    uint32_t special;
} aside_token;

/**
 * What a call with an event array says beside the events. Filled by the library, on success and on `ASIDE_MORE` only.
 *
 * The bytes of an event stand at `buf[event.offset - offset]`, as many as `event.len`. Where `event.offset` is below
 * `offset`, the event begins in bytes that an earlier call had held back: these are the last ones of `held`. The rest
 * of it, if any, is at the start of `buf`.
 */
typedef struct aside_fed {
    /** How many events were written. */
    size_t count;
    /** How many bytes of `buf` are done: fed, and not to be fed again. */
    size_t consumed;
    /** The offset in the stream of `buf[0]`. */
    uint64_t offset;
    /**
     * What stood directly before `buf[0]` and had been held back. Never NULL; memory of the scanner, good until the
     * next call with this scanner. After `aside_scanner_start_from_prompt()` it may begin with bytes of the prompt, which
     * are in no event.
     */
    const char *held;
    /** Its length. */
    size_t held_len;
    /**
     * Names and decoded values of the attributes, at `event.text_at`. Never NULL; memory of the scanner, good until
     * the next call with this scanner.
     */
    const char *attributes;
    /** Its length. */
    size_t attributes_len;
} aside_fed;

/** What a channel has had of a stream. Set `size` before each call; fields may be added at the end in later versions. */
typedef struct aside_counts {
    /** `sizeof(aside_counts)` of the caller's header. */
    size_t size;
    /** Bytes of text. Markers and framing count nowhere. */
    uint64_t bytes;
    /** Characters of text; of invalid UTF-8, the bytes that do not continue a character. */
    uint64_t characters;
    /** Spans that were opened. */
    uint64_t spans;
    /** Tokens whose first byte is text of the channel, of those from `aside_scanner_feed_tokens()`. */
    uint64_t tokens;
} aside_counts;

/** An attribute of a thought. */
typedef struct aside_attribute {
    /** Its name. Never NULL, no NUL at its end. */
    const char *name;
    /** The length of the name. */
    size_t name_len;
    /** Its decoded value. Never NULL, no NUL at its end. */
    const char *value;
    /** The length of the value. */
    size_t value_len;
} aside_attribute;

/**
 * A whole thought. Set `size` before each call; fields may be added at the end in later versions. What the pointers
 * lead to is memory of the scanner, good until the next `aside_scanner_take_thought()`, `aside_scanner_reset()` or
 * `aside_scanner_free()` of this scanner. Feeding leaves it alone.
 */
typedef struct aside_thought {
    /** `sizeof(aside_thought)` of the caller's header. */
    size_t size;
    /** The text. Never NULL, no NUL at its end. */
    const char *text;
    /** The length of the text. */
    size_t text_len;
    /** The offset in the stream of the marker that opened it. */
    uint64_t offset;
    /** Why it ended: an `ASIDE_CAUSE_` value. `ASIDE_CAUSE_END`: it was cut off. */
    uint32_t cause;
    /** 1 where `options.collect` was too small for all of it, otherwise 0. */
    uint32_t truncated;
    /** 1 where the marker had a type, otherwise 0. */
    uint32_t has_thought_type;
    /** 1 where the marker had a confidence, otherwise 0. */
    uint32_t has_confidence;
    /** The type. Never NULL, no NUL at its end. */
    const char *thought_type;
    /** The length of the type. */
    size_t thought_type_len;
    /** The confidence, from 0 to 1; 0 where there is none. */
    double confidence;
    /** The marker's attributes, in their order. Never NULL. */
    const struct aside_attribute *attributes;
    /** How many there are. */
    size_t attribute_count;
} aside_thought;

/** Options of `aside_sse_new()`. Set all of it to zero, then `size`; fields may be added at the end in later versions. */
typedef struct aside_sse_options {
    /** `sizeof(aside_sse_options)` of the caller's header. */
    size_t size;
    /** What is open at the first byte of each choice's text: an `ASIDE_START_` value. */
    uint32_t start;
    /** What the field for the thinking is called: an `ASIDE_FIELD_` value. */
    uint32_t field;
    /** What comes in: an `ASIDE_BODY_` value. */
    uint32_t body;
    /** 1: nothing is split, what comes in goes out. 0: the text is split. */
    uint32_t off;
    /** The most bytes of an event, or of a JSON body, that are read: longer ones pass as they are. 0: 16 MiB. */
    uint64_t max_event;
    /** What becomes of a closer of the thinking without an opener, after content: an `ASIDE_STRAY_CLOSE_` value. */
    uint32_t stray_close;
    /** 0. */
    uint32_t reserved;
} aside_sse_options;

/** Some bytes. `at` may be NULL where `len` is 0. */
typedef struct aside_bytes {
    /** The first byte. */
    const char *at;
    /** How many there are. */
    size_t len;
} aside_bytes;

/** Whether a host's filter is for this call: 1 or 0; below 0 for a failure, as of `apply`. `input` is JSON, UTF-8. */
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
 * Called once, when nothing needs `user` any more: in whichever thread frees the last that did. It must not use what is
 * being freed.
 */
typedef void (*aside_release_fn)(void *user);

/**
 * A host's own filter. Set all of it to zero, then `size`. It promises only that what it calls compressed is shorter; that is
 * checked. Its callbacks run in the threads that compress, several at once if the host does so. They may use the library,
 * but for the compressor that called them: that says `ASIDE_ERROR_BUSY`. No C++ exception and no `longjmp` may leave them,
 * nor may their thread end in them.
 */
typedef struct aside_filter {
    /** `sizeof(aside_filter)` of the caller's header. */
    size_t size;
    /** Its name in banners and reports: UTF-8 without control characters, at least one byte. */
    struct aside_bytes id;
    /** Ids of the tools whose results it is for. */
    const struct aside_bytes *tool_ids;
    /** How many. 0: all tools. */
    size_t tool_id_count;
    /** Whether it is for a call. NULL: always. */
    aside_matches_fn matches;
    /** Makes a text shorter. Not NULL. */
    aside_apply_fn apply;
    /** May be NULL. */
    aside_release_fn release;
    /** Given to each callback. */
    void *user;
} aside_filter;

/**
 * Sees every call of a cache's tools, before any cache looks up. `input` is JSON with sorted keys and no white space:
 * equal inputs are equal bytes. Return 0; below 0 for a failure, with its reason in `reply`.
 */
typedef int32_t (*aside_observe_fn)(void *user,
                                    const char *tool_id,
                                    size_t tool_id_len,
                                    const char *input,
                                    size_t input_len,
                                    struct aside_reply *reply);

/**
 * The recorded result of a call. Return 1 with its raw text in `reply` and its time in `*timestamp`; 0 if there is none;
 * below 0 for a failure, with its reason in `reply`.
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
 * A host's own cache: remembers results. It is trusted only where the fresh text is the recorded one. Set all of it to
 * zero, then `size`. For its callbacks holds what `aside_filter` says.
 */
typedef struct aside_cache {
    /** `sizeof(aside_cache)` of the caller's header. */
    size_t size;
    /** Its name in reports, as of a filter. */
    struct aside_bytes id;
    /** Ids of the tools whose results it is for. */
    const struct aside_bytes *tool_ids;
    /** How many. 0: all tools. */
    size_t tool_id_count;
    /** Sees every call. May be NULL. */
    aside_observe_fn observe;
    /** Gives a recorded result. Not NULL. */
    aside_lookup_fn lookup;
    /** Records one. Not NULL. */
    aside_record_fn record;
    /** May be NULL. */
    aside_release_fn release;
    /** Given to each callback. */
    void *user;
} aside_cache;

/** Options of a compressor. Set all of it to zero, then `size`; fields may be added at the end in later versions. */
typedef struct aside_compressor_options {
    /** `sizeof(aside_compressor_options)` of the caller's header. */
    size_t size;
    /**
     * How many bytes the text parts of a result may have together, banners and markers included; at least
     * `ASIDE_MIN_BUDGET`. 0: no budget. Text that is never touched stays whole all the same, and each other text part has
     * at least `ASIDE_MIN_BUDGET` for itself: 100 of them may come to 100 KiB, however small the budget is. The built-in
     * filter `budget` sees to it: without that one, only a stream that outgrows its memory keeps to a budget.
     */
    uint64_t budget;
    /**
     * The banner's last sentence, UTF-8: how a user of this host switches compression off. Without bytes: a general one.
     */
    struct aside_bytes switch_off;
} aside_compressor_options;

/** One tool call whose result is to be compressed. Set all of it to zero, then `size`. */
typedef struct aside_call {
    /** `sizeof(aside_call)` of the caller's header. */
    size_t size;
    /** The tool's id, UTF-8. */
    struct aside_bytes tool_id;
    /**
     * What the tool was called with: JSON. A terminal tool's has `command`, and may have `cwd` and `exit_code`. Without
     * bytes: null.
     */
    struct aside_bytes input;
    /** The time in seconds since 1970, for caches. The library has no clock of its own. */
    uint64_t now;
} aside_call;

/** A filter or cache that failed in a call and was passed over. */
typedef struct aside_failed {
    /** Its id. */
    struct aside_bytes id;
    /** What went wrong. */
    struct aside_bytes reason;
} aside_failed;

/** A stretch of an original. All of them together, in order, are the original. */
typedef struct aside_stretch {
    /** Its offset in the original. */
    uint64_t start;
    /** Its length. */
    uint64_t len;
    /** XXH3 (64 bits, seed 0) of its bytes. */
    uint64_t hash;
    /** `ASIDE_KEPT`, `ASIDE_REPLACED` or `ASIDE_LEFT_OUT`. */
    uint32_t change;
    /** Who did it: an index into `report.filters`; `ASIDE_NO_FILTER` for what was kept. */
    uint32_t filter;
} aside_stretch;

/** What became of a text part that filters changed. */
typedef struct aside_part_report {
    /** The part's place in the result that came in. */
    size_t part;
    /** Bytes of the original. */
    uint64_t len;
    /** XXH3 (64 bits, seed 0) of the original. */
    uint64_t hash;
    /** The original, tiled. */
    const struct aside_stretch *stretches;
    /** How many there are. */
    size_t stretch_count;
} aside_part_report;

/**
 * What one call did. Set `size` before. What the pointers lead to is memory of the `aside_compressed`, good as long as that
 * is; fields may be added at the end in later versions.
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
    /** The cache that had the same output; without bytes if none had. */
    struct aside_bytes hit;
    /**
     * 1 where text of a machine format was cut, because it outgrew a stream's memory and there was a budget; otherwise 0.
     */
    uint32_t cut_protected;
    /** 0. */
    uint32_t reserved;
} aside_report;

/** A command of a command line. Its texts are UTF-8. */
typedef struct aside_command {
    /** The program, without its folder and version: `git`; `pytest` of `python -m pytest`, `gradle` of `./gradlew`. */
    struct aside_bytes name;
    /**
     * The first argument that is no option nor an option's value: `diff` of `git -C dir diff`; the script of `npm run`.
     * Without bytes where there is none.
     */
    struct aside_bytes subcommand;
    /** All words behind the program, their quotes taken off. */
    const struct aside_bytes *words;
    /** How many there are. */
    size_t word_count;
    /**
     * 1 where its output is seen: not of `cd` and the like, nor where it goes to a file or into a program that writes
     * something of its own. Otherwise 0.
     */
    uint32_t prints;
    /** 1 where its output goes through `head`, `grep` and the like, so that it may be only a part. Otherwise 0. */
    uint32_t piped;
} aside_command;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/* ========================================================================== *
 * Dialects
 * ========================================================================== */

/**
 * Finds a built-in dialect by its name or an alias of it. `name` has `len` bytes and needs no NUL.
 *
 * Returns the dialect, the same pointer each time. It lives as long as the library: never free it. NULL where there is
 * none (`aside_last_status()` is `ASIDE_ERROR_UNKNOWN`, and the message names the nearest ones), where `name` is NULL,
 * or where there is no memory for the handle (`ASIDE_ERROR_MEMORY`).
 *
 * Threads: any, at any time. Memory: the first call for a dialect loads it; if memory runs out in loading, the process
 * ends. A dialect that `aside_dialect_preload()` has loaded takes none, and neither does a name that is not known.
 */
const struct aside_dialect *aside_dialect_find(const char *name,
                                               size_t len);

/**
 * Finds the built-in dialect that a model writes, by the model's name: of a hub, a registry or an interface, or a file's
 * path, in any case (`Qwen/Qwen3-32B-AWQ`, `deepseek-r1:14b`, `openai/gpt-oss-120b:free`). `model` has `len` bytes and
 * needs no NUL.
 *
 * Returns as `aside_dialect_find()`. Where the model's prompt opens the thinking and that of its siblings does not (or the
 * other way round), this is another handle than `aside_dialect_find()` returns for the same name: scanners that are made
 * from it start as the model does. `aside_dialect_start()` reads that.
 *
 * NULL where no dialect is known for the model, or several fit equally well (`aside_last_status()` is
 * `ASIDE_ERROR_UNKNOWN`). The message then names those, or the nearest known models with their dialects, or says that the
 * model is known to write no thinking in its text.
 *
 * Threads: any, at any time. Memory: as of `aside_dialect_find()`.
 */
const struct aside_dialect *aside_dialect_find_for_model(const char *model,
                                                         size_t len);

/**
 * Finds the built-in dialects that a chat template (Jinja, UTF-8) is written for, by the markers that it writes and the
 * framing around them. `text` has `len` bytes and needs no NUL.
 *
 * A library that was built with the feature `templates` renders the template, with one user message and without the
 * variables that a host may leave out; rendering is bounded in time and memory. Any other library reads the template's
 * text, and so does this one where the template cannot be rendered.
 *
 * Returns how many dialects fit equally well. 1: it is found, and `*start` becomes an `ASIDE_START_` value: where
 * generation starts after the template's generation prompt. Where several fit that differ in nothing that the template
 * has, the first by name is found. More than 1: the template does not tell them apart, and `*start` is left alone. 0: it
 * has the markers of none (`aside_last_status()` is `ASIDE_ERROR_UNKNOWN`), or another failure (`ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`).
 *
 * The first `capacity` of them, sorted by name, are written to `dialects`; as those of `aside_dialect_find()` they are
 * never freed. `dialects` may be NULL where `capacity` is 0; `start` may be NULL.
 *
 * Threads: any, at any time. Memory: running out is `ASIDE_ERROR_MEMORY`, but in the first call, which reads the
 * dialects, and in rendering; there the process ends.
 */
size_t aside_dialect_find_for_template(const char *text,
                                       size_t len,
                                       const struct aside_dialect **dialects,
                                       size_t capacity,
                                       uint32_t *start);

/**
 * Finds the built-in dialects that a chat template (Jinja, UTF-8) is written for, and where generation starts after the
 * prompt of the request at hand. `text` has `len` bytes, `variables` has `variables_len`; neither needs a NUL.
 *
 * `variables` is a JSON object: the variables that the template is rendered with for that request, such as
 * `{"enable_thinking": true, "tools": []}`; `reasoning_effort` and `messages` are others. What it leaves out is as in
 * `aside_dialect_find_for_template()`. Without variables (a length of 0) this is that function.
 *
 * Returns as that function, and writes `dialects` and `start` alike. 0 also where `variables` is no JSON object, where
 * the template cannot be rendered with them, and where the library was built without the feature `templates`: then
 * `aside_last_status()` is `ASIDE_ERROR_OPTION`, and the message says why.
 *
 * Threads: any, at any time. Memory: if it runs out here, the process ends.
 */
size_t aside_dialect_find_for_template_with(const char *text,
                                            size_t len,
                                            const char *variables,
                                            size_t variables_len,
                                            const struct aside_dialect **dialects,
                                            size_t capacity,
                                            uint32_t *start);

/**
 * Makes a dialect from the text of a dialect file (TOML, UTF-8). `toml` has `len` bytes and needs no NUL; it is not
 * used after the call.
 *
 * `*out` is the new dialect, which the caller owns: `aside_dialect_free()`. It is written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_DIALECT` with a message that names line and key; `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`; `ASIDE_ERROR_MEMORY` where there is no memory for the handle.
 *
 * Threads: any, at any time. Memory: if it runs out while the text is read, the process ends.
 */
aside_status aside_dialect_load(const char *toml,
                                size_t len,
                                struct aside_dialect **out);

/**
 * Loads built-in dialects, so that finding them later, by name or by model, takes no memory. A host calls it once, before
 * it serves. `names` has `len` bytes and needs no NUL: names or aliases with blanks between them (`"qwen3 harmony"`). Where
 * it holds no name, or is NULL with a `len` of 0, all built-in dialects are loaded.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_UNKNOWN` for a name that is not known: the dialects before it are loaded, and the message
 * names the nearest ones; `ASIDE_ERROR_MEMORY` where there is no memory for a handle; `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`.
 *
 * Threads: any, at any time. Memory: all built-in dialects take some 20 MB, and half a second to load;
 * if memory runs out in loading, the process ends.
 */
aside_status aside_dialect_preload(const char *names,
                                   size_t len);

/**
 * Frees a dialect from `aside_dialect_load()`. Scanners that were made from it go on: they keep what they need. NULL
 * and built-in dialects are left alone.
 *
 * Threads: no other thread may be using this handle.
 */
void aside_dialect_free(struct aside_dialect *dialect);

/**
 * The name of a dialect, UTF-8, with a NUL at its end. `*len` becomes its length without the NUL; `len` may be NULL.
 *
 * Returns memory of the dialect, good as long as that is. NULL where `dialect` is NULL.
 *
 * Threads: any, at any time.
 */
const char *aside_dialect_name(const struct aside_dialect *dialect,
                               size_t *len);

/**
 * The family of a rule of the dialect, as `ASIDE_OPEN` events number them: what the span or header names in the file
 * as its family, or else the dialect's name. UTF-8, with a NUL at its end. `*len` becomes its length without the NUL;
 * `len` may be NULL.
 *
 * Returns memory of the dialect, good as long as that is. NULL where `dialect` is NULL, or where there is no such rule
 * (`aside_last_status()` is `ASIDE_ERROR_RANGE`).
 *
 * Threads: any, at any time.
 */
const char *aside_dialect_family(const struct aside_dialect *dialect,
                                 uint32_t rule,
                                 size_t *len);

/**
 * What an `ASIDE_OPEN` event's rule and tag stand for, as the dialect's file has it: the literal, the tag's name, the
 * fence's info string, the beginning of the header (the first one, where a header begins with none). UTF-8, with a NUL
 * at its end. `*len` becomes its length without the NUL; `len` may be NULL.
 *
 * Returns memory of the dialect, good as long as that is. NULL where `dialect` is NULL, or where there is no such rule
 * or tag (`aside_last_status()` is `ASIDE_ERROR_RANGE`).
 *
 * Threads: any, at any time.
 */
const char *aside_dialect_opener(const struct aside_dialect *dialect,
                                 uint32_t rule,
                                 uint32_t tag,
                                 size_t *len);

/**
 * The most bytes that a scanner of this dialect holds back for what may come. 0 where `dialect` is NULL.
 *
 * Threads: any, at any time.
 */
size_t aside_dialect_max_hold(const struct aside_dialect *dialect);

/**
 * Returns where a stream of this dialect starts if `aside_options.start` is `ASIDE_START_DEFAULT`: another `ASIDE_START_`
 * value. For a dialect from `aside_dialect_find_for_model()` it is the start of that model.
 * `ASIDE_START_DEFAULT` where `dialect` is NULL.
 *
 * Threads: any, at any time.
 */
uint32_t aside_dialect_start(const struct aside_dialect *dialect);

/**
 * How many dialects are built in.
 *
 * Threads: any, at any time.
 */
size_t aside_dialect_count(void);

/**
 * The name of the built-in dialect number `index`, sorted, from 0: UTF-8 with a NUL at its end. `*len` becomes its
 * length without the NUL; `len` may be NULL.
 *
 * Returns memory that lives as long as the library. NULL where `index` is not below `aside_dialect_count()`.
 *
 * Threads: any, at any time.
 */
const char *aside_dialect_name_at(size_t index,
                                  size_t *len);

/* ========================================================================== *
 * Scanners
 * ========================================================================== */

/**
 * Makes a scanner, at the start of a stream. `options` may be NULL: as the dialect says, nothing collected, no
 * budget. Neither is used after the call: the dialect may be freed before the scanner.
 *
 * Returns a scanner that the caller owns: `aside_scanner_free()`. NULL where that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have) or
 * `ASIDE_ERROR_MEMORY`.
 *
 * Threads: any, at any time.
 */
struct aside_scanner *aside_scanner_new(const struct aside_dialect *dialect,
                                        const struct aside_options *options);

/**
 * Makes a second scanner in the same state, in mid-stream too: for beams, and for trying again from here. What is fed
 * to one does not change the other. Thoughts that were not taken are in both. What the first one lent is not the
 * second one's.
 *
 * Returns a scanner that the caller owns: `aside_scanner_free()`. NULL where that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY` (also of a scanner that is in that error) or
 * `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for the first scanner.
 */
struct aside_scanner *aside_scanner_clone(const struct aside_scanner *scanner);

/**
 * Frees a scanner and all that it lent. NULL is left alone. What it held back is lost: `aside_scanner_finish()` first.
 *
 * Inside a callback of the same scanner nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`): free it
 * behind the call that feeds.
 *
 * Threads: no other thread may be using this scanner.
 */
void aside_scanner_free(struct aside_scanner *scanner);

/**
 * Says where the next stream starts, before its first byte: behind a rendered prompt that ends in the `len` bytes of
 * `tail`. Of those, what stands behind the dialect's last turn marker counts; it is read as if the model had written
 * it, so that the stream may start inside a span or a header, and framing of which the prompt has a part goes on in the
 * stream. Spans that are open open at offset 0, without bytes, when the first byte is fed. Finishing or resetting the
 * scanner goes back to its own start; so does a `len` of 0. `tail` is not used after the call; it must not be memory that the
 * scanner lent.
 *
 * `*start` becomes an `ASIDE_START_` value, what is open at byte 0; `start` may be NULL. It is written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` where the
 * stream has begun (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one scanner. Memory: the first such call makes room for what it must remember.
 */
aside_status aside_scanner_start_from_prompt(struct aside_scanner *scanner,
                                             const char *tail,
                                             size_t len,
                                             uint32_t *start);

/**
 * Feeds the next `len` bytes of the stream, cut anywhere, and calls `callback` for each event that they settle. `buf`
 * may be NULL where `len` is 0; such a call delivers only what is still due after a pause. `buf` must not change during
 * the call and is not used after it; it must not be memory that the scanner lent.
 *
 * Returns `ASIDE_OK`: all of `buf` is done. `ASIDE_STOPPED`: the callback paused; feed what is left, from
 * `buf + aside_scanner_consumed(scanner)` on, and events that are still due come first. Below 0: `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` (nothing has changed after these);
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the scanner stays in error).
 *
 * Threads: one at a time for one scanner. Memory: none is allocated, but for collecting, headers, and tags with attributes.
 */
aside_status aside_scanner_feed(struct aside_scanner *scanner,
                                const char *buf,
                                size_t len,
                                aside_event_fn callback,
                                void *user);

/**
 * Ends the stream: settles what is held back, closes what is open. After `ASIDE_OK` the scanner is as new, and the
 * next feed begins a new stream at offset 0.
 *
 * Returns as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again until it says `ASIDE_OK`: a feed in between
 * fails with `ASIDE_ERROR_ORDER`.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_finish(struct aside_scanner *scanner,
                                  aside_event_fn callback,
                                  void *user);

/**
 * Releases what is held back as text of its channel, and keeps the state: the stream goes on. For a host that must
 * show everything now; a marker of which a part was flushed is no marker any more.
 *
 * Returns as `aside_scanner_feed()`.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_flush(struct aside_scanner *scanner,
                                 aside_event_fn callback,
                                 void *user);

/**
 * `aside_scanner_feed()` for bytes whose tokens are known: `tokens` has `count` of them, and their lengths add up to
 * `len`. Markers that a dialect calls special then count only where a special token begins them, so that a marker typed
 * as ordinary text stays text, and `aside_scanner_counts()` tells the tokens of each channel. Feeds with and without
 * tokens may be mixed.
 *
 * Returns as `aside_scanner_feed()`; `ASIDE_ERROR_LENGTH` also where the lengths do not add up: nothing has changed
 * then. After `ASIDE_STOPPED` call it again with what is left of the buffer and the tokens that are not wholly done, the
 * first of them with the length that is left of it.
 *
 * Threads: one at a time for one scanner. Memory: the first such call makes room for what it must remember.
 */
aside_status aside_scanner_feed_tokens(struct aside_scanner *scanner,
                                       const char *buf,
                                       size_t len,
                                       const struct aside_token *tokens,
                                       size_t count,
                                       aside_event_fn callback,
                                       void *user);

/**
 * Closes the thinking that is open: releases what is held back as text, and ends the span with `ASIDE_CAUSE_FORCED`.
 * Where the innermost span is no thinking, nothing happens; nor before the first byte, where a prompt has opened one.
 * A closer that comes next, with only blanks before it, is removed (a fence's is not: it is text). For a host that ends
 * a thinking which has become too long.
 *
 * Returns as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again; a feed in between goes on with the thinking,
 * if the close has not been delivered.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_force_close(struct aside_scanner *scanner,
                                       aside_event_fn callback,
                                       void *user);

/* ========================================================================== *
 * Scanners, without a callback
 * ========================================================================== */

/**
 * `aside_scanner_feed()` for hosts where a callback is dear: writes the events into `events`, which has room for
 * `capacity` (at least 1) of `event_size` bytes each. `event_size` is `sizeof(aside_event)` of the caller's header; a
 * library of another version fills what both know, and zeroes the rest. Events have no pointers: `aside_fed` says
 * where their bytes are.
 *
 * Returns `ASIDE_OK`: all of `buf` is done. `ASIDE_MORE`: the array is full, or `out->attributes` has reached 64 KiB (it is
 * longer where the last attribute is); take the events, then call again with what is left of `buf`, `out->consumed` bytes
 * further on (nothing left: with `len` 0). Below 0 as `aside_scanner_feed()`, and `ASIDE_ERROR_SIZE`; `*out` is not
 * written then, what is in `events` means nothing, and `aside_scanner_consumed()` says how far it came.
 *
 * Threads: one at a time for one scanner. Memory: none is allocated, but for collecting, headers, and tags with attributes.
 */
aside_status aside_scanner_feed_into(struct aside_scanner *scanner,
                                     const char *buf,
                                     size_t len,
                                     struct aside_event *events,
                                     size_t capacity,
                                     size_t event_size,
                                     struct aside_fed *out);

/**
 * `aside_scanner_finish()` into an array, as `aside_scanner_feed_into()`. All bytes of its events are in `out->held`.
 * After `ASIDE_MORE` call it again until it says `ASIDE_OK`.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_finish_into(struct aside_scanner *scanner,
                                       struct aside_event *events,
                                       size_t capacity,
                                       size_t event_size,
                                       struct aside_fed *out);

/**
 * `aside_scanner_flush()` into an array, as `aside_scanner_feed_into()`. All bytes of its events are in `out->held`.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_flush_into(struct aside_scanner *scanner,
                                      struct aside_event *events,
                                      size_t capacity,
                                      size_t event_size,
                                      struct aside_fed *out);

/**
 * `aside_scanner_feed_tokens()` into an array, as `aside_scanner_feed_into()`. After `ASIDE_MORE` call it again with
 * what is left of the buffer and the tokens that are not wholly done, the first of them with the length that is left.
 *
 * Threads: one at a time for one scanner. Memory: the first such call makes room for what it must remember.
 */
aside_status aside_scanner_feed_tokens_into(struct aside_scanner *scanner,
                                            const char *buf,
                                            size_t len,
                                            const struct aside_token *tokens,
                                            size_t count,
                                            struct aside_event *events,
                                            size_t capacity,
                                            size_t event_size,
                                            struct aside_fed *out);

/**
 * `aside_scanner_force_close()` into an array, as `aside_scanner_feed_into()`. All bytes of its events are in
 * `out->held`.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_force_close_into(struct aside_scanner *scanner,
                                            struct aside_event *events,
                                            size_t capacity,
                                            size_t event_size,
                                            struct aside_fed *out);

/**
 * The cheapest way to feed, for hosts where even an event array is dear: takes `buf` if all of it is text of one
 * channel and nothing else happens, as with most tokens. Otherwise nothing is fed, and the same `buf` goes to
 * `aside_scanner_feed_into()` or `aside_scanner_feed()`. They give the same events: such a feed is one event
 * `ASIDE_TEXT`, at the offset that `aside_scanner_offset()` had before.
 *
 * Returns the channel (`ASIDE_CONTENT` and the others, 0 or above), or `ASIDE_NOT_TEXT` where nothing was fed: also
 * where something is wrong, of which the other two say what.
 *
 * Threads: one at a time for one scanner. Memory: none is allocated.
 */
int32_t aside_scanner_feed_text(struct aside_scanner *scanner,
                                const char *buf,
                                size_t len);

/**
 * Which bytes change nothing where the stream now stands, so that a host for which a call is dear need not make one for
 * each token. A chunk that is made of these bytes alone, all of them ASCII, is text of one channel, and the stream stands
 * behind it where it stood. The host may pass over such chunks, as many as come, and adds up their lengths: what it would
 * be told of each is one event `ASIDE_TEXT` with all its bytes. The first chunk with another byte it feeds, and asks
 * again: with any feed the bytes may change.
 *
 * `bytes` is a set: byte `b` is in it where `bytes[b / 64] >> b % 64 & 1` is 1; there are four numbers. Passed chunks
 * are not the scanner's until `aside_scanner_skip()` has said how long they are together.
 *
 * Returns the channel (`ASIDE_CONTENT` and the others, 0 or above) with `bytes` filled, or `ASIDE_NOT_TEXT` where every
 * chunk has to be fed, and nothing is written: before the first byte, with bytes held back or events due, with a budget
 * for this channel, in text that is collected, once tokens have come, and where something is wrong.
 *
 * Threads: one at a time for one scanner. Memory: none is allocated.
 */
int32_t aside_scanner_quiet(const struct aside_scanner *scanner,
                            uint64_t *bytes);

/**
 * Says that chunks of `len` bytes in all have passed outside that `aside_scanner_quiet()` allowed: offset and counts go
 * on as if they had been fed. Call it before any other call for this scanner, but for `aside_scanner_feed_text()` and
 * `aside_scanner_quiet()`, and for those that ask what is held and take thoughts.
 *
 * Returns `ASIDE_OK`, for a `len` of 0 anywhere; `ASIDE_ERROR_ORDER` where no such chunk can have passed, and for more
 * bytes than any stream has; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. After an
 * error nothing has changed. Whether the bytes were those that it said, and were told as text of that channel, nobody but
 * the host can see.
 *
 * Threads: one at a time for one scanner. Memory: none is allocated.
 */
aside_status aside_scanner_skip(struct aside_scanner *scanner,
                                uint64_t len);

/* ========================================================================== *
 * The state of a scanner
 * ========================================================================== */

/**
 * Drops everything, and makes the scanner as new: what was held back, thoughts not taken, and every error but
 * `ASIDE_ERROR_PANIC`. Memory that it lent is no longer good.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_reset(struct aside_scanner *scanner);

/**
 * How many bytes of the last feed's buffer are done. Inside a callback of the same scanner, and after
 * `ASIDE_ERROR_PANIC`, 0 with a message; the same for NULL.
 *
 * Threads: one at a time for one scanner.
 */
size_t aside_scanner_consumed(const struct aside_scanner *scanner);

/**
 * How many bytes are held back now, because they may still become part of a marker or of a character. 0 as
 * `aside_scanner_consumed()`.
 *
 * Threads: one at a time for one scanner.
 */
size_t aside_scanner_held(const struct aside_scanner *scanner);

/**
 * The most bytes that this scanner holds back for what may come. In a pause, a marker whose events are still due is held
 * too. 0 as `aside_scanner_consumed()`.
 *
 * Threads: one at a time for one scanner.
 */
size_t aside_scanner_max_hold(const struct aside_scanner *scanner);

/**
 * The offset in the stream of the next byte to be fed. 0 as `aside_scanner_consumed()`.
 *
 * Threads: one at a time for one scanner.
 */
uint64_t aside_scanner_offset(const struct aside_scanner *scanner);

/**
 * How much of a channel's text was reported since the stream began; of the stream that was finished last, until
 * another begins. What is held back counts when it is reported. `channel` is `ASIDE_CONTENT`, `ASIDE_THINKING`,
 * `ASIDE_NARRATION` or `ASIDE_TOOL`. Set `counts->size` to `sizeof(aside_counts)` before.
 *
 * After the stream is finished they tell an answer that was thinking to its end: `ASIDE_THINKING` has bytes, `ASIDE_CONTENT`
 * and `ASIDE_TOOL` have none. Either the model broke off, or the stream was started in the thinking although that was off; a
 * host that knows it was off can show the text as the answer.
 *
 * Returns `ASIDE_OK` with `*counts` filled, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE` (no such channel),
 * `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_counts(const struct aside_scanner *scanner,
                                  uint32_t channel,
                                  struct aside_counts *counts);

/* ========================================================================== *
 * Whole thoughts
 * ========================================================================== */

/**
 * Takes the oldest thought that has ended and was not taken yet, of a scanner that was made with `options.collect`.
 * Set `thought->size` to `sizeof(aside_thought)` before. The memory that `*thought` leads to is the scanner's; see
 * `aside_thought` for how long it is good.
 *
 * Returns `ASIDE_OK` with `*thought` filled; `ASIDE_NONE` where there is none (`*thought` is not written, and the one
 * taken before is no longer good); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`,
 * `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one scanner.
 */
aside_status aside_scanner_take_thought(struct aside_scanner *scanner,
                                        struct aside_thought *thought);

/**
 * How many thoughts were lost since the start or the last reset, because 1,024 were waiting. 0 as
 * `aside_scanner_consumed()`.
 *
 * Threads: one at a time for one scanner.
 */
uint64_t aside_scanner_lost_thoughts(const struct aside_scanner *scanner);

/* ========================================================================== *
 * Event streams
 * ========================================================================== */

/**
 * Makes a rewriter: the bytes of an OpenAI-style answer go in, an event stream or a JSON body, and the same bytes come
 * out with the thinking moved from `content` to a field of its own. `options` may be NULL: `reasoning_content`, and the
 * start that the dialect says. Neither is used after the call: the dialect may be freed before the rewriter.
 *
 * Returns a rewriter that the caller owns: `aside_sse_free()`. NULL where that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have) or
 * `ASIDE_ERROR_MEMORY`.
 *
 * Threads: any, at any time.
 */
struct aside_sse *aside_sse_new(const struct aside_dialect *dialect,
                                const struct aside_sse_options *options);

/**
 * Frees a rewriter and what it lent. NULL is left alone. What it held back is lost: `aside_sse_finish()` first.
 *
 * Threads: no other thread may be using this rewriter.
 */
void aside_sse_free(struct aside_sse *sse);

/**
 * Says where the next stream starts, before its first byte: what is open at the first byte of each choice's text, an
 * `ASIDE_START_` value. For a host that learns it from the request: one rewriter then serves a model with thinking on and
 * off. Finishing or resetting the rewriter goes back to its own start.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have),
 * `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` where the stream has begun (nothing has changed after these);
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error).
 *
 * Threads: one at a time for one rewriter.
 */
aside_status aside_sse_start_at(struct aside_sse *sse,
                                uint32_t start);

/**
 * Reads the next stream by another dialect, and says where it starts, before its first byte: an `ASIDE_START_` value, where
 * `ASIDE_START_DEFAULT` is that dialect's own start. What `aside_dialect_find_for_template()` finds goes here. Finishing or
 * resetting the rewriter goes back to its own dialect and start. The dialect may be freed after the call.
 *
 * Returns as `aside_sse_start_at()`.
 *
 * Threads: one at a time for one rewriter; the dialect may be used by any threads meanwhile.
 */
aside_status aside_sse_use_dialect(struct aside_sse *sse,
                                   const struct aside_dialect *dialect,
                                   uint32_t start);

/**
 * Says where the next stream starts, before its first byte: the text of each choice goes on behind a rendered prompt that
 * ends in the `len` bytes of `tail`, read as by `aside_scanner_start_from_prompt()`. Finishing or resetting the rewriter goes
 * back to its own start; a `len` of 0 takes back what an earlier prompt said. `tail` is not used after the call; it must not
 * be memory that the rewriter lent.
 *
 * `*start` becomes an `ASIDE_START_` value, what is open at the first byte of each choice's text; `start` may be NULL. It is
 * written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` where the stream has
 * begun (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error).
 *
 * Threads: one at a time for one rewriter.
 */
aside_status aside_sse_start_from_prompt(struct aside_sse *sse,
                                         const char *tail,
                                         size_t len,
                                         uint32_t *start);

/**
 * Takes the next `len` bytes, cut anywhere: one call for each read from the network. `*out` becomes `*out_len` bytes to
 * send on: all events that are whole, perhaps none. `buf` may be NULL where `len` is 0, and is not used after the call; it
 * must not be memory that the rewriter lent.
 *
 * `*out` is never NULL and has no NUL at its end; it is memory of the rewriter, good until the next call with it. Both
 * are written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY` (nothing has changed after these);
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error). What cannot be read passes as it came and is
 * no error.
 *
 * Threads: one at a time for one rewriter. Memory: it grows with the largest event, up to a small multiple of
 * `options.max_event`, and by 1 MiB at most for chunks that one event becomes; by what is held back of each of at most 128
 * choices, up to twice `aside_dialect_max_hold()`; and `*out` is what came out, which may be 150 times what went in, where
 * each event has many choices and a long `id`.
 */
aside_status aside_sse_feed(struct aside_sse *sse,
                            const char *buf,
                            size_t len,
                            const char **out,
                            size_t *out_len);

/**
 * Ends the stream. `*out` becomes what was held back: an event without the blank line behind it, text that might have
 * become a marker. The rewriter is then as new, but for what `aside_sse_too_long()` and `aside_sse_encoded()` say, and the
 * next feed begins a new stream.
 *
 * Returns as `aside_sse_feed()`.
 *
 * Threads: one at a time for one rewriter.
 */
aside_status aside_sse_finish(struct aside_sse *sse,
                              const char **out,
                              size_t *out_len);

/**
 * Drops everything, and makes the rewriter as new: what was held back, the count, and every error but
 * `ASIDE_ERROR_PANIC`. Memory that it lent is no longer good.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one rewriter.
 */
aside_status aside_sse_reset(struct aside_sse *sse);

/**
 * How many events and bodies passed unread since the start or the last reset, because they were longer than
 * `options.max_event`. 0 with a message for NULL, after `ASIDE_ERROR_PANIC`, and while a call is under way.
 *
 * Threads: one at a time for one rewriter.
 */
uint64_t aside_sse_too_long(const struct aside_sse *sse);

/**
 * Whether the stream passes unread because its first bytes are no text: it is compressed (gzip, zstd, zlib or Brotli), or in
 * another encoding than UTF-8. 1 or 0, of the stream that was finished last until another begins. Ask the server for
 * `Accept-Encoding: identity`, or decode the body before it is fed. 0 with a message for NULL, after `ASIDE_ERROR_PANIC`, and
 * while a call is under way.
 *
 * Threads: one at a time for one rewriter.
 */
int32_t aside_sse_encoded(const struct aside_sse *sse);

/* ========================================================================== *
 * Tool results: what a compressor is made of
 * ========================================================================== */

/**
 * A registry with every built-in filter (`built_in` 1), or with nothing (0). It has no cache.
 *
 * Returns a registry that the caller owns, until `aside_compressor_new()` takes it: `aside_registry_free()`. NULL where
 * `built_in` is neither.
 *
 * Threads: any, at any time. Memory: in all of this half of the library, if it runs out, the process ends. Where a
 * function names `ASIDE_ERROR_MEMORY`, that is for want of a place for what it returns.
 */
struct aside_registry *aside_registry_new(uint32_t built_in);

/**
 * Frees a registry that no compressor has taken. NULL is left alone.
 *
 * Threads: no other thread may be using it.
 */
void aside_registry_free(struct aside_registry *registry);

/**
 * Adds a filter from the text of a filter file (TOML, UTF-8). It replaces one of the same id. Its tests are read, not
 * run: `aside_filter_check()`.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_FILTER` with a message that names line and key; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`,
 * `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one registry.
 */
aside_status aside_registry_add_toml(struct aside_registry *registry,
                                     const char *toml,
                                     size_t len);

/**
 * Adds a host's filter. It replaces one of the same id. `*filter` and the texts that it leads to are not used after
 * the call; the callbacks and `user` are, until `release` is called.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for a text that is not UTF-8 or no id; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`. After a failure `release` is not called.
 *
 * Threads: one at a time for one registry.
 */
aside_status aside_registry_add_filter(struct aside_registry *registry,
                                       const struct aside_filter *filter);

/**
 * Adds a host's cache. It replaces one of the same id. What is used after the call, and what is returned: as of
 * `aside_registry_add_filter()`.
 *
 * Threads: one at a time for one registry.
 */
aside_status aside_registry_add_cache(struct aside_registry *registry,
                                      const struct aside_cache *cache);

/**
 * Adds the library's own cache, `last-run`: the last result of each call, in at most `size` bytes. An entry counts its tool
 * id, input and text, and 256 bytes more. Those recorded longest ago make place for new ones.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one registry.
 */
aside_status aside_registry_add_last_run(struct aside_registry *registry,
                                         size_t size);

/**
 * Adds the filter `minify-json`, the only one for text that is protected.
 *
 * Returns as `aside_registry_add_last_run()`.
 *
 * Threads: one at a time for one registry.
 */
aside_status aside_registry_minify_json(struct aside_registry *registry);

/**
 * Takes out the filter or cache of this id.
 *
 * Returns `ASIDE_OK`; `ASIDE_NONE` where there is none; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION`,
 * `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one registry.
 */
aside_status aside_registry_remove(struct aside_registry *registry,
                                   const char *id,
                                   size_t len);

/**
 * Reads a filter file and runs its own tests, of which it must have one of each kind.
 *
 * Returns as `aside_registry_add_toml()`.
 *
 * Threads: any, at any time.
 */
aside_status aside_filter_check(const char *toml, size_t len);

/**
 * Appends to what a callback says: the shorter text, the recorded text, or the reason of a failure.
 *
 * Returns `ASIDE_OK`, `ASIDE_ERROR_NULL` or `ASIDE_ERROR_LENGTH`.
 *
 * Threads: the one in which the callback runs.
 */
aside_status aside_reply_write(struct aside_reply *reply, const char *buf, size_t len);

/* ========================================================================== *
 * Tool results: one call
 * ========================================================================== */

/**
 * Makes a compressor of a registry, which it takes over: `registry` must not be used any more, nor freed. `options` may be
 * NULL: no budget.
 *
 * Returns a compressor that the caller owns: `aside_compressor_free()`. NULL where that fails, and the registry is still
 * the caller's; `aside_last_status()` is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`,
 * `ASIDE_ERROR_BUSY` or `ASIDE_ERROR_OPTION` (a budget that is too small, or a sentence that is not UTF-8).
 *
 * Threads: no other thread may be using the registry.
 */
struct aside_compressor *aside_compressor_new(struct aside_registry *registry,
                                              const struct aside_compressor_options *options);

/**
 * Frees a compressor. NULL is left alone. Streams that were made from it go on.
 *
 * Inside a callback of its filters and caches nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
 *
 * Threads: no other thread may be using it.
 */
void aside_compressor_free(struct aside_compressor *compressor);

/**
 * Compresses the parts of one tool's result: `count` texts, in order. A part whose `at` is NULL is something else than text
 * and passed over. Neither `*call` nor the parts are used after the call.
 *
 * `*out` becomes the outcome of each part, and a report, which the caller owns: `aside_compressed_free()`. It is written on
 * success only. What filters and caches fail in stands in the report and is no failure of the call.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for an id that is not UTF-8 or an input that is not JSON; `ASIDE_ERROR_BUSY`
 * inside a callback of the same compressor; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`,
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: any, at any time.
 */
aside_status aside_compress(const struct aside_compressor *compressor,
                            const struct aside_call *call,
                            const struct aside_bytes *parts,
                            size_t count,
                            struct aside_compressed **out);

/**
 * What becomes of the part number `index`. `*text` and `*len` are written where it changes: memory of `compressed`, good as
 * long as that is, without a NUL at its end. A length of 0 says that the part goes, because another says what it said.
 *
 * Returns `ASIDE_OK` where the part changes; `ASIDE_NONE` where it stays as it is; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE`.
 *
 * Threads: any, at any time.
 */
aside_status aside_compressed_part(const struct aside_compressed *compressed,
                                   size_t index,
                                   const char **text,
                                   size_t *len);

/**
 * What was done: fills `*report`, whose `size` is set before.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: any, at any time.
 */
aside_status aside_compressed_report(const struct aside_compressed *compressed,
                                     struct aside_report *report);

/**
 * `len` bytes at `start` of a part's original, to give back what was left out. `original` is the text of the part number
 * `part` as it came in: `original_len` bytes. `*out` becomes a pointer into it.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_ORIGINAL` where this is another text, or no filter changed that part;
 * `ASIDE_ERROR_RANGE`, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`.
 *
 * Threads: any, at any time.
 */
aside_status aside_compressed_slice(const struct aside_compressed *compressed,
                                    size_t part,
                                    const char *original,
                                    size_t original_len,
                                    uint64_t start,
                                    uint64_t len,
                                    const char **out);

/**
 * Frees what came out of a call, and all that it lent. NULL is left alone.
 *
 * Threads: no other thread may be using it.
 */
void aside_compressed_free(struct aside_compressed *compressed);

/**
 * Whether a text is of a machine format and so passes untouched: 1 or 0; a status below 0 where `text` cannot be read.
 *
 * Threads: any, at any time.
 */
int32_t aside_is_protected(const char *text,
                           size_t len);

/**
 * The line that a compressed text begins with, without a line end: by which filters, from how many UTF-16 code units to how
 * many.
 *
 * `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes and a NUL behind them. Both are
 * written on success only.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` (an id that is not UTF-8),
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: any, at any time.
 */
aside_status aside_format_banner(const struct aside_bytes *filter_ids,
                                 size_t count,
                                 uint64_t before,
                                 uint64_t after,
                                 char **out,
                                 size_t *out_len);

/* ========================================================================== *
 * Tool results: command lines
 * ========================================================================== */

/**
 * Takes a command line apart as a shell would, for hosts that choose filters by it as the library does. Nothing is run.
 * `line` has `len` bytes of UTF-8.
 *
 * Returns the commands, which the caller owns: `aside_command_line_free()`. NULL where that fails; `aside_last_status()` is
 * then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH` or `ASIDE_ERROR_OPTION` (not UTF-8).
 *
 * Threads: any, at any time.
 */
struct aside_command_line *aside_command_line_parse(const char *line,
                                                    size_t len);

/**
 * The commands of a line, in their order; for a shell with `-c` those that it runs. Wrappers (`sudo`, `timeout`, `npx` …),
 * assignments and redirections are not among them. None where the line is better left alone: with `case`, or with shells in
 * shells more than eight deep.
 *
 * Returns the first of `*count` commands: memory of `line`, good as long as that is. NULL where `line` or `count` is.
 *
 * Threads: any, at any time.
 */
const struct aside_command *aside_command_line_commands(const struct aside_command_line *line,
                                                        size_t *count);

/**
 * Frees a command line and the commands that it lent. NULL is left alone.
 *
 * Threads: no other thread may be using it.
 */
void aside_command_line_free(struct aside_command_line *line);

/* ========================================================================== *
 * Tool results: as they come
 * ========================================================================== */

/**
 * Makes a stream for one tool's output, with `memory` bytes for it: at least four times the budget, and at least 4,096. While
 * the text fits into that, the result is that of one call, without a banner, and comes at the end. A longer text without
 * a budget comes out as it goes, less its repeats; with one it comes at the end: head, tail and error regions.
 *
 * The stream holds at most 2.5 times `memory` between its calls, and what `*out` was; inside a call 128 KiB and 5 times
 * `memory` as a rule, at most 26 times, where all lines are of one or two bytes.
 *
 * Returns a stream that the caller owns: `aside_tool_stream_free()`. NULL where that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_OPTION` (too little memory, an id that is not UTF-8, an input that is not JSON), `ASIDE_ERROR_BUSY` inside a
 * callback of the same compressor, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE` or `ASIDE_ERROR_LENGTH`.
 *
 * Threads: any, at any time.
 */
struct aside_tool_stream *aside_tool_stream_new(const struct aside_compressor *compressor,
                                                const struct aside_call *call,
                                                size_t memory);

/**
 * Frees a stream. NULL is left alone. Inside a callback of a filter that it has called nothing is freed
 * (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
 *
 * Threads: no other thread may be using it.
 */
void aside_tool_stream_free(struct aside_tool_stream *stream);

/**
 * Takes the next `len` bytes of the output, cut anywhere. `*out` becomes what is decided, `*out_len` bytes, often none:
 * memory of the stream, good until its next call. `buf` is not used after the call; it must not be memory that the stream lent.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`,
 * `ASIDE_ERROR_PANIC`.
 *
 * Threads: one at a time for one stream.
 */
aside_status aside_tool_stream_feed(struct aside_tool_stream *stream,
                                    const char *buf,
                                    size_t len,
                                    const char **out,
                                    size_t *out_len);

/**
 * Ends the output. `*out` becomes the rest of the result, as of `aside_tool_stream_feed()`. `*report` becomes what was done,
 * without parts of its own: `aside_compressed_report()`, `aside_compressed_slice()`, `aside_compressed_free()`; `report` may
 * be NULL. The stream takes no more text then.
 *
 * Returns as `aside_tool_stream_feed()`, or `ASIDE_ERROR_MEMORY`, where the report has no place: then nothing is written.
 *
 * Threads: one at a time for one stream.
 */
aside_status aside_tool_stream_finish(struct aside_tool_stream *stream,
                                      const char **out,
                                      size_t *out_len,
                                      struct aside_compressed **report);

/* ========================================================================== *
 * One call
 * ========================================================================== */

/**
 * The content of a whole text: what a reader is meant to see of it, ASCII white space trimmed at both ends. `text` has
 * `len` bytes.
 *
 * `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes and a NUL behind them.
 * Both are written on success only.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: any, at any time.
 */
aside_status aside_strip(const struct aside_dialect *dialect,
                         const char *text,
                         size_t len,
                         char **out,
                         size_t *out_len);

/**
 * Puts thinking and content into one text, as a model of the dialect writes them: the text splits back into the same,
 * byte for byte. `thinking` has `thinking_len` bytes and `content` has `content_len`; any bytes will do. Without
 * thinking no block of it is written, unless the text starts inside one.
 *
 * `start` is what is open where the text begins, and must be given to the scanner that splits it:
 * `ASIDE_START_DEFAULT`, `ASIDE_START_CONTENT`, `ASIDE_START_HEADER`, or `ASIDE_START_THINKING`, where no opener is
 * written. `markers` says what happens where a part holds what would be read as a marker: `ASIDE_MARKERS_REFUSE` or
 * `ASIDE_MARKERS_ESCAPE`. Escaping changes a part only where it must, as `aside_escape()` does; where that is not enough,
 * U+200B stands before and behind the part, and thinking in a code fence gets its lines of fences broken and a line
 * end. The text then splits back into the escaped parts.
 *
 * `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes and a NUL behind them.
 * Both are written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_JOIN` with a message that names the part and the byte, or says what the dialect does not
 * write: no text is joined from `ASIDE_START_NARRATION` and `ASIDE_START_TOOL`; `ASIDE_ERROR_OPTION`, also for a start
 * that the dialect does not have; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: any, at any time.
 */
aside_status aside_join(const struct aside_dialect *dialect,
                        const char *thinking,
                        size_t thinking_len,
                        const char *content,
                        size_t content_len,
                        uint32_t start,
                        uint32_t markers,
                        char **out,
                        size_t *out_len);

/**
 * A text without the dialect's markers, for a prompt that a user's text goes into: behind the first character of each
 * marker, those where a turn begins among them, stands U+200B (zero width space, 3 bytes), so that it reads the same and
 * is no marker. A marker that counts at the first byte of a stream alone gets it in front, where the text begins with it.
 * A text that was escaped is not changed again. Escape a text whole: a marker that is put together from two texts is seen
 * in neither. Special tokens that the dialect does not name are the host's to keep out. `text` has `len` bytes; any bytes
 * will do.
 *
 * `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes and a NUL behind them.
 * Both are written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_JOIN` where the dialect has a marker that nothing can break (a single character, or
 * one that holds U+200B); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 *
 * Threads: any, at any time.
 */
aside_status aside_escape(const struct aside_dialect *dialect,
                          const char *text,
                          size_t len,
                          char **out,
                          size_t *out_len);

/* ========================================================================== *
 * Errors and versions
 * ========================================================================== */

/**
 * The message of the last failure in this thread: UTF-8 with a NUL at its end, never NULL, empty where nothing has
 * failed. It has at most 2,047 bytes: a longer one is cut and ends in `…`. Success leaves it alone. Good until the next
 * failure in this thread.
 *
 * Where a function fails because a handle is NULL that the failure before did not make (a misspelled dialect, say), the
 * message of that failure stays: it says why there is no handle. The status becomes `ASIDE_ERROR_NULL`.
 *
 * Threads: any, at any time; each has a message of its own. Memory: no message takes any.
 */
const char *aside_last_error(void);

/**
 * The status of the last failure in this thread: why a function failed that returns NULL or 0. `ASIDE_OK` where nothing
 * has failed.
 *
 * Threads: any, at any time; each has a status of its own.
 */
aside_status aside_last_status(void);

/**
 * The general sentence of a status, for any number: with a NUL at its end, never NULL, never freed.
 *
 * Threads: any, at any time.
 */
const char *aside_status_text(aside_status status);

/**
 * The version of the library that runs, as `ASIDE_VERSION` is the version of this header: "MAJOR.MINOR.PATCH" with a
 * NUL at its end, never freed.
 *
 * Threads: any, at any time.
 */
const char *aside_version(void);

/**
 * The version of the binary interface that the library has. A program fits where this is `ASIDE_ABI_VERSION`: it grows
 * only when something that was there changes.
 *
 * Threads: any, at any time.
 */
uint32_t aside_abi_version(void);

/**
 * Carries the version in its name and does nothing. Whoever calls it by `ASIDE_VERSION_SYMBOL` does not link with a
 * library that is older than this header: such a one has no function of that name. `aside.hpp` does so. Later libraries
 * with the same binary interface keep it.
 *
 * Threads: any, at any time.
 */
void aside_version_0_1_0(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ASIDE_H */
