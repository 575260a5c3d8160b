/* aside.h - separates what a language model says from what it thinks
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Generated from src/ffi: do not edit. Link with -laside. Tool results are in aside_compress.h; what may still change is in
 * aside_unstable.h.
 *
 * A model's output is one stream of bytes that carries several channels: thinking, content, narration, tool calls. A
 * scanner takes that stream in chunks, cut anywhere, and reports events: a span opens, text of a channel, a span closes.
 * A dialect decides which bytes are markers. There is one for each family of models, built in or loaded from a file.
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
 *         if (event->kind == ASIDE_KIND_TEXT && event->channel == ASIDE_CHANNEL_CONTENT)
 *             fwrite(bytes, 1, (size_t)event->len, stdout);
 *         return 0;
 *     }
 *
 *     int main(void)
 *     {
 *         const char *chunks[] = { "<thi", "nk>Twice 21", " is 42.</th", "ink>It is 42.\n" };
 *         const aside_dialect *dialect = aside_dialect_find("inline-think", strlen("inline-think"));
 *         aside_scanner *scanner = aside_scanner_new(dialect, NULL);
 *         aside_status status = scanner == NULL ? aside_last_status() : ASIDE_OK;
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
 * This header, in order of use: versions; statuses and errors; the opaque types; simple calls; dialects; scanners, with
 * events; answers; rewriters of event streams; and at the end what authors of bindings need.
 *
 * Promises. Chunking does not matter: the joined text of each channel, the spans and the attributes are the same for every
 * way to cut a stream. Every byte is in exactly one event, in order. Only bytes that could still become part of a marker,
 * or complete a character, are held back. Time is linear in the length of the stream, whatever it says; memory is constant.
 * No text event cuts a character of valid UTF-8; bytes that are not UTF-8 and NULs pass through.
 *
 * Text. Every text that is passed in is a pointer and a length, as two parameters or in an `aside_bytes`, and needs no NUL.
 * NULL is allowed if the length is 0.
 *
 * Errors. Functions that can fail return an `aside_status`, or NULL if they return a pointer; `aside_last_error()` then has
 * the message. Outputs are written on success only. No misuse that can be detected ends the process: NULLs, wrong sizes,
 * calls from inside a callback and defects of the library are reported as a status. A scanner that ran out of memory
 * reports that in each later call until it is reset; one that met a defect, forever.
 *
 * Pauses. A callback that returns non-zero, or an event array that is full, pauses the call; this is not an error. Nothing
 * is lost or repeated: the next call continues where the last one stopped.
 *
 * Memory. `_free` frees the results of `_new` and `_load`, and `aside_free()` a returned text. Bytes passed to a
 * callback are valid until it returns; other memory that a scanner owns is valid as long as its description says.
 * Pointers to bytes and arrays are never NULL in what the library fills: if there are none, the length or count is 0,
 * and nothing may be read there. Feeding a scanner allocates nothing, except for headers, for tags with attributes, for
 * the first tokens, and for thoughts if it collects them. If memory runs out while a scanner, answer or rewriter
 * is made or fed, that is a status; while dialects are found and loaded, and while a request's tools are read, it ends
 * the process.
 *
 * Threads. Dialects never change: any number of threads may use one at the same time. A scanner may be used by one
 * thread at a time, not always the same one; two scanners share nothing that changes, except tables that the library
 * fills, for which no thread waits. Each section says this for its functions, and each function that is an exception
 * says so. Where two threads call with one answer, rewriter, registry or tool stream at once, one gets
 * `ASIDE_ERROR_BUSY`, always; with one scanner, only where that costs nothing: do not rely on it. A pointer that a call
 * has returned into such an object is valid until the next call, whichever thread makes it; and no object may be freed
 * while another thread is about to use it. Messages are kept for each thread. After `fork()`, the child may use only
 * objects that no other thread was using; a dialect that was being found for the first time may be locked forever
 * there.
 *
 * Versions. `ASIDE_VERSION` is the version of this header, `aside_version()` that of the library that runs. Functions and
 * constants are added, never changed; structs that a caller fills begin with their size, so that they can grow. Ignore
 * numbers that you do not know (kinds of events, statuses): a later library may add some.
 *
 * Constants are enumerators, each with a type of fixed width after its `enum`. `aside_cdef.h` has the declarations of this
 * header and of `aside_compress.h` alone, as Python's cffi and LuaJIT read them.
 */

#ifndef ASIDE_H
#define ASIDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ========================================================================== *
 * Versions
 * ========================================================================== */

/** The version of this header. */
#define ASIDE_VERSION "0.1.0"

/** The function of that version: a program that calls it does not link with an older library. */
#define ASIDE_VERSION_SYMBOL aside_version_0_1_0

/** The version of the binary interface that this header describes; compare with `aside_abi_version()`. */
#define ASIDE_ABI_VERSION 1

/**
 * Returns the version of the loaded library, "MAJOR.MINOR.PATCH" with a NUL at its end, valid as long as the library.
 * `ASIDE_VERSION` is the version of this header.
 */
const char *aside_version(void);

/**
 * Returns the version of the library's binary interface. A program fits the library if the version is `ASIDE_ABI_VERSION`:
 * the version grows only when an existing part of the interface changes.
 */
uint32_t aside_abi_version(void);

/**
 * Does nothing; its name contains the version. A program that calls it, as `ASIDE_VERSION_SYMBOL`, does not link with a library
 * that is older than this header, because such a library has no function of that name. `aside.hpp` calls it. Later libraries with
 * the same binary interface keep it.
 */
void aside_version_0_1_0(void);

/* ========================================================================== *
 * Statuses and errors
 *
 * Threads: any thread may call these functions at any time; each has its own status and message.
 * ========================================================================== */

/** The result of a function: the values of `aside_status`. */
enum {
    /** Done. */
    ASIDE_OK = 0,
    /**
     * A pause: the callback returned non-zero. The event that it was called with counts as delivered.
     * `aside_scanner_consumed()` bytes of the buffer are consumed; the next call continues after them.
     */
    ASIDE_STOPPED = 1,
    /**
     * A pause: the event array is full, or `attributes` has grown to its limit. The contents of `*out` are valid. Call
     * again with the rest of the buffer, `out.consumed` bytes further on, even if it is empty. From
     * `aside_request_model()`: more of the body is needed.
     */
    ASIDE_MORE = 2,
    /** Not a failure: there is nothing to return, or nothing to do. */
    ASIDE_NONE = 3,
    /** A pointer that is needed is NULL. */
    ASIDE_ERROR_NULL = -1001,
    /**
     * A length is above PTRDIFF_MAX: no object is that large. Or the lengths of the tokens do not add up to the
     * buffer's length, or the address of the tokens is invalid.
     */
    ASIDE_ERROR_LENGTH = -1002,
    /**
     * No built-in dialect has that name (the message lists the nearest names), or no dialect is known for that model or
     * template.
     */
    ASIDE_ERROR_UNKNOWN = -1003,
    /** The text of a dialect file, or of a server file, has an error. The message names the line and the key. */
    ASIDE_ERROR_DIALECT = -1004,
    /** An option has a value that it cannot have, or that the dialect does not support. */
    ASIDE_ERROR_OPTION = -1005,
    /** A `size` field, an `event_size` or a `capacity` has an impossible value. */
    ASIDE_ERROR_SIZE = -1006,
    /**
     * The scanner, answer, rewriter, registry, compressor or stream is in use: it was called from its own
     * callback, or, as far as that can be detected, from two threads at the same time where that is not allowed.
     * Nothing has changed.
     */
    ASIDE_ERROR_BUSY = -1007,
    /**
     * Calls in the wrong order: a feed or flush after a `finish` that was paused (continue with `finish`, or `reset`), a
     * start that is set after the stream's first byte, bytes skipped in a state in which none may be skipped, or output of
     * a tool after its end.
     */
    ASIDE_ERROR_ORDER = -1008,
    /**
     * Memory ran out. A scanner that returns this stays in error until `aside_scanner_reset()`, a rewriter until
     * `aside_rewriter_reset()`, an answer until `aside_answer_reset()`.
     */
    ASIDE_ERROR_MEMORY = -1009,
    /** An index is not below the count, or a channel does not exist. */
    ASIDE_ERROR_RANGE = -1010,
    /**
     * A defect of the library, caught at the boundary. The scanner returns this forever; it can only be freed. (A
     * library that was built with `panic = "abort"` ends the process instead.)
     */
    ASIDE_ERROR_PANIC = -1011,
    /**
     * A text cannot be joined or escaped. The message says which byte of which part would be read as a marker, or the form
     * that the dialect lacks.
     */
    ASIDE_ERROR_JOIN = -1012,
    /** The text of a filter file has an error, or does not pass its own tests. The message names the line and the key. */
    ASIDE_ERROR_FILTER = -1013,
    /** The text is not the original that the report describes. */
    ASIDE_ERROR_ORIGINAL = -1014,
    /** Several dialects fit a template equally well. The message names them. */
    ASIDE_ERROR_AMBIGUOUS = -1015,
};

/**
 * 0 is done, above 0 is a pause and not an error, below 0 is a failure. Failures are far from any value of `errno`.
 * `aside_last_error()` has the message of a failure, `aside_status_text()` the general sentence.
 */
typedef int32_t aside_status;

/**
 * Returns the message of the last failure in this thread: UTF-8 with a NUL at its end, never NULL, empty if nothing
 * has failed. It has at most 2,047 bytes: a longer one is cut and ends in `…`. Success does not change it. Valid until
 * the next failure in this thread.
 *
 * If a function fails because a handle is NULL, and the failure before it is the reason why there is no handle (such as a
 * misspelled dialect), the message of that failure stays. The status becomes `ASIDE_ERROR_NULL`.
 *
 * Memory: no message needs an allocation.
 */
const char *aside_last_error(void);

/**
 * Returns the status of the last failure in this thread: why a function returned NULL. `ASIDE_OK` if nothing has
 * failed.
 */
aside_status aside_last_status(void);

/**
 * Returns the general sentence of a status, for any number: with a NUL at its end, never NULL, valid as long as the library.
 */
const char *aside_status_text(aside_status status);

/* ========================================================================== *
 * Opaque types
 * ========================================================================== */

/**
 * A dialect, which defines the byte sequences that are markers, and their effect. It never changes. From
 * `aside_dialect_find()` (built in: never freed) or `aside_dialect_load()` (freed by `aside_dialect_free()`).
 */
typedef struct aside_dialect aside_dialect;

/** The state of one stream. From `aside_scanner_new()`; freed by `aside_scanner_free()`. */
typedef struct aside_scanner aside_scanner;

/**
 * A model's answer that is being read: a text in, its parts out. From `aside_answer_new()`; freed by `aside_answer_free()`.
 */
typedef struct aside_answer aside_answer;

/** The state of one event stream that is rewritten. From `aside_rewriter_new()`; freed by `aside_rewriter_free()`. */
typedef struct aside_rewriter aside_rewriter;

/* ========================================================================== *
 * Texts and memory
 *
 * Threads: any thread may call these functions at any time.
 * ========================================================================== */

/**
 * A range of bytes. In a text that the library fills in, `at` is never NULL, and no NUL follows the last byte; in a text that
 * a caller passes, `at` may be NULL if `len` is 0. This struct never changes.
 */
typedef struct aside_bytes {
    /** The first byte. */
    const char *at;
    /** The number of bytes. */
    size_t len;
} aside_bytes;

/**
 * Frees memory that a function of this library returned for `aside_free()`, such as `aside_strip()`. Does nothing for
 * NULL. Do not free such memory with `free()`: the library may have a separate heap.
 *
 * Threads: any thread may call this at any time.
 */
void aside_free(void *memory);

/* ========================================================================== *
 * Simple calls: a whole text at once
 *
 * Threads: any thread may call these functions at any time, with the same dialect too.
 * ========================================================================== */

/**
 * Finds a built-in dialect by its name or an alias. `name` has `len` bytes and needs no NUL.
 *
 * Returns the dialect, the same pointer each time. It lives as long as the library: never free it. NULL if there is
 * none (`aside_last_status()` is `ASIDE_ERROR_UNKNOWN`, and the message names the nearest ones), if `name` is NULL, or
 * if there is no memory for the handle (`ASIDE_ERROR_MEMORY`).
 *
 * Memory: the first call for a dialect loads it; if memory runs out while it is loaded, the process ends. A dialect that
 * `aside_dialect_preload()` has loaded needs no memory, and neither does an unknown name.
 */
const struct aside_dialect *aside_dialect_find(const char *name, size_t len);

/**
 * Finds the built-in dialect that a model writes, by the model's name: on a hub, in a registry or an interface, or a
 * file's path, in upper or lower case (`Qwen/Qwen3-32B-AWQ`, `deepseek-r1:14b`, `openai/gpt-oss-120b:free`). `model`
 * has `len` bytes and needs no NUL.
 *
 * Returns the same as `aside_dialect_find()`. If the start of this model differs from the dialect's own, because its prompt opens
 * the thinking or does not, this handle differs from the one that `aside_dialect_find()` returns: scanners that are made from it
 * have the model's start. `aside_dialect_start()` returns that start. For a model that writes tool calls and no thinking, the
 * dialect of the calls is found.
 *
 * Returns NULL if no dialect is known for the model, or several fit equally well (`aside_last_status()` is
 * `ASIDE_ERROR_UNKNOWN`). The message then names the dialects that fit, or the nearest known models with their dialects,
 * or says that the model is known to write no thinking in its text, and no dialect of its calls is known.
 *
 * Memory: the same as for `aside_dialect_find()`.
 */
const struct aside_dialect *aside_dialect_find_for_model(const char *model, size_t len);

/**
 * Returns the content of a whole text: the text for the reader, with ASCII white space trimmed at both ends. `text` has
 * `len` bytes.
 *
 * The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
 * `aside_last_status()` is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY` or `ASIDE_ERROR_PANIC`.
 * `*out_len` is written on success only.
 */
char *aside_strip(const struct aside_dialect *dialect, const char *text, size_t len, size_t *out_len);

/** A tool call for `aside_join()`. Its texts are UTF-8. Later versions may add fields at the end. */
typedef struct aside_join_call {
    /** The name of the tool. */
    struct aside_bytes name;
    /** The arguments: a JSON object. */
    struct aside_bytes arguments;
    /** The call's id, which is written if the dialect has a place for one. `at` is NULL: no id. */
    struct aside_bytes id;
} aside_join_call;

/** The start of a stream: the values of `aside_start`. */
enum {
    /** The dialect decides. */
    ASIDE_START_DEFAULT = 0,
    /** No span is open. */
    ASIDE_START_CONTENT = 1,
    /** The stream begins inside a thinking span, whose opener was in the prompt. */
    ASIDE_START_THINKING = 2,
    /** The stream begins inside a narration span. */
    ASIDE_START_NARRATION = 3,
    /** The stream begins inside a tool span. */
    ASIDE_START_TOOL = 4,
    /** The stream begins inside a channel header, of a dialect that has headers. */
    ASIDE_START_HEADER = 5,
    /**
     * For a rewriter that looks for calls, and a request with `"tool_choice": "required"`: a grammar makes the model write a list
     * of tool calls without markers, after its thinking.
     */
    ASIDE_START_CALLS = 6,
};

/** An `ASIDE_START_` value. */
typedef uint32_t aside_start;

/** The treatment of a part that contains a marker, in a join: the values of `aside_markers`. */
enum {
    /** The call fails with `ASIDE_ERROR_JOIN`. */
    ASIDE_MARKERS_REFUSE = 0,
    /** The call breaks the markers, as `aside_escape()` does. */
    ASIDE_MARKERS_ESCAPE = 1,
};

/** An `ASIDE_MARKERS_` value. */
typedef uint32_t aside_markers;

/** The parts that `aside_join()` joins. Set all of it to zero, then `size`; later versions may add fields at the end. */
typedef struct aside_join_options {
    /** `sizeof(aside_join_options)` of the caller's header. */
    size_t size;
    /**
     * The thinking; any bytes are allowed. Without thinking, no thinking block is written, unless the text starts inside
     * one.
     */
    struct aside_bytes thinking;
    /** The content; any bytes are allowed. */
    struct aside_bytes content;
    /** The tool calls after the content. NULL if there are none. */
    const struct aside_join_call *calls;
    /** The number of calls. */
    size_t call_count;
    /** `sizeof(aside_join_call)` of the caller's header, if there are calls. */
    size_t call_size;
    /**
     * The span that is open where the text begins; give the same start to the scanner that splits the text:
     * `ASIDE_START_DEFAULT`, `ASIDE_START_CONTENT`, `ASIDE_START_HEADER`, or `ASIDE_START_THINKING`, for which no opener
     * is written.
     */
    aside_start start;
    /**
     * The treatment of a part that contains a marker: `ASIDE_MARKERS_REFUSE` or
     * `ASIDE_MARKERS_ESCAPE`. Escaping changes a part only where it must, like `aside_escape()`. If that is not enough, U+200B is
     * put before and after the part; in thinking in a code fence, lines that look like fences are broken, and a line end is added.
     * The text then splits back into the escaped parts.
     */
    aside_markers markers;
} aside_join_options;

/**
 * Joins thinking, content and the tool calls after them into one text, as a model of the dialect writes them: the text
 * splits back into the same bytes. A scanner with `options.calls` reads the same calls back. Not every dialect writes the types of
 * values, so an answer needs the tools to make the same arguments. Calls are never escaped: if a value contains the text that
 * ends it, the call cannot be written.
 *
 * The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
 * `aside_last_status()` is then `ASIDE_ERROR_JOIN` with a message that names the part and the byte, or the call and its part
 * that cannot be written, or the form that the dialect does not write (no text is joined from `ASIDE_START_NARRATION` and
 * `ASIDE_START_TOOL`); `ASIDE_ERROR_OPTION`, also for a start that the dialect does not have and a text of a call that is not
 * UTF-8; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. `*out_len`
 * is written on success only.
 */
char *aside_join(const struct aside_dialect *dialect, const struct aside_join_options *options, size_t *out_len);

/**
 * Returns a text in which the dialect's markers are broken, so that a user's text can go into a prompt: U+200B (zero width
 * space, 3 bytes) follows the first character of each marker, turn markers included, and the text looks the same. A marker
 * that counts only at the first byte of a stream has U+200B before it, if the text begins with that marker. Escaping a text again
 * does not change it. `text` has `len` bytes; any bytes are allowed.
 *
 * Escape a text as a whole: a marker that is split over two texts is not found. The host must remove special tokens that the
 * dialect does not name.
 *
 * The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
 * `aside_last_status()` is then `ASIDE_ERROR_JOIN` if the dialect has a marker that nothing can break (a single
 * character, or one that contains U+200B), or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`,
 * `ASIDE_ERROR_PANIC`. `*out_len` is written on success only.
 */
char *aside_escape(const struct aside_dialect *dialect, const char *text, size_t len, size_t *out_len);

/* ========================================================================== *
 * Dialects
 *
 * Threads: any thread may call these functions at any time, with the same dialect too.
 * ========================================================================== */

/**
 * The result of `aside_dialect_find_for_template()`. Set all of it to zero, then `size`, and `dialects` with `capacity` if you
 * want to see all dialects that fit; later versions may add fields at the end.
 */
typedef struct aside_template_match {
    /** `sizeof(aside_template_match)` of the caller's header. */
    size_t size;
    /**
     * Room for `capacity` dialects; NULL if `capacity` is 0. The first `capacity` dialects that fit equally well, sorted by
     * name, are written here. Like the dialects of `aside_dialect_find()`, they are never freed.
     */
    const struct aside_dialect **dialects;
    /** The number of dialects for which `dialects` has room. */
    size_t capacity;
    /** Filled: how many dialects fit equally well, also if there is room for fewer. */
    size_t count;
    /**
     * Filled: where generation starts after the template's generation prompt, if one dialect is found; otherwise
     * `ASIDE_START_DEFAULT`.
     */
    aside_start start;
    /** Reserved: 0. */
    uint32_t reserved;
} aside_template_match;

/**
 * Finds the built-in dialect that a chat template (Jinja, UTF-8) is written for, by the markers that the template writes
 * and the framing around them. The template is read, never rendered. `text` has `len` bytes and needs no NUL. `found` may
 * be NULL.
 *
 * Returns the dialect, like `aside_dialect_find()`; `found->start` is then where generation starts after the template's generation
 * prompt, with the branches that are taken by default. If several dialects fit whose differences do not concern the template, the
 * first by name is found.
 *
 * NULL if there is none; `aside_last_status()` is then `ASIDE_ERROR_AMBIGUOUS` if several fit and the template does not
 * distinguish them: the message names them, and `*found` is filled with them. `ASIDE_ERROR_UNKNOWN` if the template has the
 * markers of no dialect, or a marker that the nearest dialect lacks: the message names the marker and the dialect.
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION`, `ASIDE_ERROR_MEMORY`. `*found` is not
 * written after these.
 *
 * The results for the last 64 templates of up to 64 KiB are cached, so that a host may ask with each request.
 *
 * Memory: if it runs out, the status is `ASIDE_ERROR_MEMORY`, except in the first call, which reads the dialects: then the process
 * ends.
 */
const struct aside_dialect *aside_dialect_find_for_template(const char *text,
                                                            size_t len,
                                                            struct aside_template_match *found);

/**
 * Makes a dialect from the text of a dialect file (TOML, UTF-8). `toml` has `len` bytes and needs no NUL; it is not
 * used after the call.
 *
 * Returns a dialect that the caller owns: `aside_dialect_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_DIALECT` with a message that names the line and the key; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`;
 * `ASIDE_ERROR_MEMORY` if there is no memory for the handle.
 *
 * Memory: if it runs out while the text is read, the process ends.
 */
struct aside_dialect *aside_dialect_load(const char *toml, size_t len);

/**
 * Frees a dialect from `aside_dialect_load()`. Scanners that were made from it remain usable. Does nothing for NULL and for
 * built-in dialects.
 *
 * Threads: no other thread may be using this handle.
 */
void aside_dialect_free(struct aside_dialect *dialect);

/**
 * Loads built-in dialects, so that finding them later, by name or by model, allocates nothing. A host calls it once,
 * before it serves. `names` has `len` bytes and needs no NUL: names or aliases with blanks between them (`"qwen3
 * harmony"`). If it contains no name, or is NULL with a `len` of 0, all built-in dialects are loaded.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_UNKNOWN` for a name that is not known: the dialects before it are loaded, and the
 * message names the nearest ones; `ASIDE_ERROR_MEMORY` if there is no memory for a handle; `ASIDE_ERROR_NULL`,
 * `ASIDE_ERROR_LENGTH`.
 *
 * Memory: all built-in dialects need about 20 MB, and half a second to load; if memory runs out while they are loaded, the process
 * ends.
 */
aside_status aside_dialect_preload(const char *names, size_t len);

/**
 * Returns the name of a dialect, UTF-8, with a NUL at its end. `*len` becomes its length without the NUL; `len` may be
 * NULL.
 *
 * The memory belongs to the dialect and is valid as long as the dialect. NULL if `dialect` is NULL.
 */
const char *aside_dialect_name(const struct aside_dialect *dialect, size_t *len);

/**
 * Returns the start of a stream of this dialect if `aside_scanner_options.start` is `ASIDE_START_DEFAULT`, as a different
 * `ASIDE_START_` value. For a dialect from `aside_dialect_find_for_model()` it is the start of that model. `ASIDE_START_DEFAULT`
 * if `dialect` is NULL.
 */
aside_start aside_dialect_start(const struct aside_dialect *dialect);

/** Returns the largest number of bytes that a scanner of this dialect holds back. 0 if `dialect` is NULL. */
size_t aside_dialect_max_hold(const struct aside_dialect *dialect);

/**
 * Returns the family of a rule of the dialect, as `ASIDE_KIND_OPEN` events number the rules: the family that the span or
 * header has in the file, or else the dialect's name. UTF-8, with a NUL at its end. `*len` becomes its length without the NUL;
 * `len` may be NULL.
 *
 * The memory belongs to the dialect and is valid as long as the dialect. NULL if `dialect` is NULL, or if there is no such rule
 * (`aside_last_status()` is `ASIDE_ERROR_RANGE`).
 */
const char *aside_dialect_family(const struct aside_dialect *dialect, uint32_t rule, size_t *len);

/**
 * Returns the text that an `ASIDE_KIND_OPEN` event's rule and tag identify, as the dialect's file has it: the literal, the
 * tag's name, the fence's info string, the beginning of the header (the first one, if a header begins with none). UTF-8,
 * with a NUL at its end. `*len` becomes its length without the NUL; `len` may be NULL.
 *
 * The memory belongs to the dialect and is valid as long as the dialect. NULL if `dialect` is NULL, or if there is no such rule or
 * tag (`aside_last_status()` is `ASIDE_ERROR_RANGE`).
 */
const char *aside_dialect_opener(const struct aside_dialect *dialect, uint32_t rule, uint32_t tag, size_t *len);

/**
 * Returns the name of the built-in dialect number `index`, in sorted order, from 0: UTF-8 with a NUL at its end.
 * `*len` becomes its length without the NUL; `len` may be NULL.
 *
 * The memory lives as long as the library. NULL past the last name, which is not a failure.
 */
const char *aside_dialect_name_at(size_t index, size_t *len);

/* ========================================================================== *
 * Scanners
 *
 * Threads: one at a time for one scanner, in this section and those about scanners after it.
 * ========================================================================== */

/** The treatment of a tool call that begins inside the thinking: the values of `aside_calls_in_thinking`. */
enum {
    /** The dialect decides whether the call ends the thinking, interrupts it, or is text of it. */
    ASIDE_CALLS_IN_THINKING_DIALECT = 0,
    /** Every tool opener in the thinking is text. */
    ASIDE_CALLS_IN_THINKING_NEVER = 1,
    /**
     * The dialect decides, and a rewriter reports a call at once. Otherwise a rewriter waits until it is clear whether the
     * model means the call: text after the call shows that the call is part of the thinking.
     */
    ASIDE_CALLS_IN_THINKING_ALWAYS = 2,
};

/** An `ASIDE_CALLS_IN_THINKING_` value. */
typedef uint32_t aside_calls_in_thinking;

/** The treatment of a closer of the thinking without an opener, after content: the values of `aside_stray_close`. */
enum {
    /** The dialect decides. */
    ASIDE_STRAY_CLOSE_DIALECT = 0,
    /**
     * A closer of the thinking in the content, after other text, is text: for a host that is sure that its model does
     * not think.
     */
    ASIDE_STRAY_CLOSE_TEXT = 1,
    /**
     * Only the closer is removed, and the text on both sides of it stays content: for a host whose prompt has ended the
     * thinking.
     */
    ASIDE_STRAY_CLOSE_DROP = 2,
};

/** An `ASIDE_STRAY_CLOSE_` value. */
typedef uint32_t aside_stray_close;

/**
 * The reading of a tag of another family, such as `<think>`, at the beginning of a stream, after blanks at most: the values
 * of `aside_leading_tags`.
 */
enum {
    /**
     * In a dialect of a model, the tag opens the thinking, and either the tag's own closer or the dialect's closer ends
     * it.
     */
    ASIDE_LEADING_TAGS_DIALECT = 0,
    /** The tag is text: for a host that asks for such a tag in its prompt and looks for it itself. */
    ASIDE_LEADING_TAGS_TEXT = 1,
};

/** An `ASIDE_LEADING_TAGS_` value. */
typedef uint32_t aside_leading_tags;

/** The unit of a budget: the values of `aside_budget_unit`. */
enum {
    /** Bytes. */
    ASIDE_BUDGET_UNIT_BYTES = 0,
    /** Characters. */
    ASIDE_BUDGET_UNIT_CHARACTERS = 1,
};

/** An `ASIDE_BUDGET_UNIT_` value. */
typedef uint32_t aside_budget_unit;

/** The scope of a budget: the values of `aside_budget_scope`. */
enum {
    /** Each thinking span has the whole budget. */
    ASIDE_BUDGET_SCOPE_SPAN = 0,
    /** All thinking of the stream shares the budget. */
    ASIDE_BUDGET_SCOPE_STREAM = 1,
};

/** An `ASIDE_BUDGET_SCOPE_` value. */
typedef uint32_t aside_budget_scope;

/** Options of a scanner. Set all of it to zero, then `size`; later versions may add fields at the end. */
typedef struct aside_scanner_options {
    /** `sizeof(aside_scanner_options)` of the caller's header. */
    size_t size;
    /** The span that is open at the first byte. */
    aside_start start;
    /** The treatment of a closer of the thinking without an opener, after content. */
    aside_stray_close stray_close;
    /**
     * Non-zero: collect whole thoughts for `aside_scanner_take_thought()`, and hold at most this many bytes of them at a
     * time: text, types, and attributes, of which each counts as at least 48. If a thought does not fit, attributes are
     * dropped first, then the type, and then the end of the text.
     */
    uint64_t collect;
    /** The limit of the thinking, beyond which an `ASIDE_KIND_BUDGET` event is reported. 0 if `has_budget` is not 1. */
    uint64_t budget;
    /** 1: there is a budget. */
    uint32_t has_budget;
    /** The unit of the budget. */
    aside_budget_unit budget_unit;
    /** The scope of the budget. */
    aside_budget_scope budget_scope;
    /**
     * 1: report tool calls with their names and arguments, as the kinds from `ASIDE_KIND_CALL` on, if the dialect says how
     * they are written. 0: their bytes are text of the tool channel.
     */
    uint32_t calls;
    /** The treatment of a tool call that begins inside the thinking. */
    aside_calls_in_thinking calls_in_thinking;
    /** The reading of a tag that is not the dialect's own at the beginning of a stream. */
    aside_leading_tags leading_tags;
} aside_scanner_options;

/**
 * Makes a scanner, at the start of a stream. `options` may be NULL: the dialect decides, nothing is collected, and there is
 * no budget. `dialect` and `options` are not used after the call: the dialect may be freed before the scanner.
 *
 * Returns a scanner that the caller owns: `aside_scanner_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have) or
 * `ASIDE_ERROR_MEMORY`.
 *
 * Threads: any thread may call this at any time.
 */
struct aside_scanner *aside_scanner_new(const struct aside_dialect *dialect, const struct aside_scanner_options *options);

/**
 * Frees a scanner and all memory that C has borrowed from it. Does nothing for NULL. Bytes that are held back are
 * lost: call `aside_scanner_finish()` before.
 *
 * Inside a callback of the same scanner nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`): free it
 * after the call that feeds.
 *
 * Threads: no other thread may be using this scanner.
 */
void aside_scanner_free(struct aside_scanner *scanner);

/**
 * Sets the start of the next stream, for a model that continues a rendered prompt. The last `len` bytes of the prompt are `tail`.
 * Call this before the first byte of the stream. The bytes after the dialect's last turn marker are read as if the model had
 * written them, so that the stream may start inside a span or a header, and framing that the prompt has begun continues in the
 * stream. The events of open spans are reported at offset 0, without bytes, when the first byte is fed. Finishing or resetting
 * the scanner restores its own start, and a `len` of 0 restores it too. `tail` is not used after the call; it must not be memory
 * of the scanner.
 *
 * `*start` becomes an `ASIDE_START_` value, the span that is open at byte 0; `start` may be NULL. It is written on success
 * only. An undecided marker at the prompt's end opens no span: an incomplete marker, or an opener of a tool call that counts only
 * if a call follows. `*start` is then the span around the marker, and if the stream decides that the opener counts, the first
 * event opens its span.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` if the stream
 * has begun (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 *
 * Memory: the first such call allocates the memory that it needs.
 */
aside_status aside_scanner_start_from_prompt(struct aside_scanner *scanner,
                                             const char *tail,
                                             size_t len,
                                             aside_start *start);

/**
 * Writes the start of the current stream, or of the next one, which the prompt, the options or else the dialect determine.
 * `*start` becomes an `ASIDE_START_` value. `*is_guessed` becomes 1 if the dialect only guesses that its models start in the
 * thinking, and neither a prompt nor the options have confirmed the guess; otherwise 0. `start` and `is_guessed` may be NULL. They
 * are written on success only.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_scanner_start(const struct aside_scanner *scanner, aside_start *start, uint32_t *is_guessed);

/** The reason why a stream ends, as far as its host knows it: the values of `aside_end_reason`. */
enum {
    /** Not known. */
    ASIDE_END_REASON_UNKNOWN = 0,
    /** The model has ended its answer: `"finish_reason":"stop"`. */
    ASIDE_END_REASON_ENDED = 1,
    /** The answer was cut off, by a limit or an error: `"finish_reason":"length"`. */
    ASIDE_END_REASON_CUT_OFF = 2,
};

/** An `ASIDE_END_REASON_` value. */
typedef uint32_t aside_end_reason;

/**
 * Sets the reason why the stream ends. Call it before the stream is finished: finishing clears the reason, as a reset does.
 *
 * The reason matters if the stream was only guessed to start in the thinking (`aside_scanner_start()`). If the model ended its
 * answer, and the text has neither a closer nor an opener of the thinking, the thinking was the answer: finishing then reports
 * `ASIDE_KIND_RECLASSIFY` with the channel `ASIDE_CHANNEL_CONTENT`, before the span is closed.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_OPTION`, `ASIDE_ERROR_PANIC`; nothing has
 * changed after an error.
 */
aside_status aside_scanner_end_reason(struct aside_scanner *scanner, aside_end_reason reason);

/* ========================================================================== *
 * Scanners: events
 * ========================================================================== */

/** The kind of an event: the values of `aside_kind`. */
enum {
    /** A span begins. The bytes are its opening marker; there are none if the stream starts inside the span. */
    ASIDE_KIND_OPEN = 1,
    /** An attribute of the marker that has just opened a span. It has no bytes of the stream. */
    ASIDE_KIND_ATTRIBUTE = 2,
    /** Text of the channel. It is never empty, and never cuts a character of valid UTF-8. */
    ASIDE_KIND_TEXT = 3,
    /** Bytes that belong to no text, such as the newline that a family puts around its markers. */
    ASIDE_KIND_FRAMING = 4,
    /** A span ends. The bytes are the closing marker; there are none if the span ends without a closing marker. */
    ASIDE_KIND_CLOSE = 5,
    /**
     * All content so far was thinking, or all thinking so far was content: the event's channel is the right one. The content
     * was thinking if a closer of the thinking has come without an opener before it, in a dialect with `stray_close =
     * "reclassify"`. The thinking was content if the stream has ended in thinking that was only guessed
     * (`aside_scanner_end_reason()`), or if the closer of a wrapper of the answer ends the thinking. The event has no bytes
     * of the stream, and is reported at most once in a stream.
     */
    ASIDE_KIND_RECLASSIFY = 6,
    /**
     * The thinking exceeds its budget here. The event has no bytes of the stream and is between two characters. It is
     * reported once for each span or stream, as `options.budget_scope` says.
     */
    ASIDE_KIND_BUDGET = 7,
    /**
     * A tool call begins. This and the kinds after it are reported only with `options.calls`, from dialects that say how
     * calls are written. The bytes are the beginning of the call; there are none if the opener of its span was the
     * beginning.
     */
    ASIDE_KIND_CALL = 8,
    /** The name of the call, whole. If it has no bytes, the name is the value of a header's field. */
    ASIDE_KIND_CALL_NAME = 9,
    /**
     * An id of the call, whole. If the whole head of the call is its id, the id is reported in parts, with the name
     * between them.
     */
    ASIDE_KIND_CALL_ID = 10,
    /** A key of the arguments, whole. For arguments that are JSON, no keys are reported. */
    ASIDE_KIND_CALL_KEY = 11,
    /** The word for the type of the next value, whole. */
    ASIDE_KIND_CALL_TYPE = 12,
    /**
     * A value, or the arguments as JSON, as they are in the stream. It is reported in pieces that do not cut a character.
     */
    ASIDE_KIND_CALL_VALUE = 13,
    /**
     * The value ends. The bytes are the value's closer, if it has a closer. For arguments that are JSON, no end of a value
     * is reported.
     */
    ASIDE_KIND_CALL_VALUE_END = 14,
    /** The call ends. The bytes are the call's last marker, if it has such a marker. */
    ASIDE_KIND_CALL_END = 15,
};

/** An `ASIDE_KIND_` value. */
typedef uint32_t aside_kind;

/** The purpose of a stretch of a stream: the values of `aside_channel`. */
enum {
    /** Text for the reader. */
    ASIDE_CHANNEL_CONTENT = 0,
    /** The model's thinking. Some interfaces call it `reasoning` or `reasoning_content`. */
    ASIDE_CHANNEL_THINKING = 1,
    /** The model's remarks on what it is doing. */
    ASIDE_CHANNEL_NARRATION = 2,
    /** Tool calls. */
    ASIDE_CHANNEL_TOOL = 3,
};

/** An `ASIDE_CHANNEL_` value. */
typedef uint32_t aside_channel;

/** The cause of the end of a span or a call: the values of `aside_cause`. */
enum {
    /** The closing marker was read. */
    ASIDE_CAUSE_MARKER = 0,
    /** A text was read that ends the span without being its closer. */
    ASIDE_CAUSE_IMPLIED = 1,
    /** The stream ended inside the span. */
    ASIDE_CAUSE_END_OF_STREAM = 2,
    /** `aside_scanner_force_close()` ended the span. */
    ASIDE_CAUSE_FORCED = 3,
    /** The text of a tool call broke its grammar. No span ends with this cause. */
    ASIDE_CAUSE_MALFORMED = 4,
    /**
     * The answer ended by itself inside a tool call, as the host has reported with `aside_scanner_end_reason()`. No span ends
     * with this cause, and no part of an answer has it.
     */
    ASIDE_CAUSE_ENDED = 5,
};

/** An `ASIDE_CAUSE_` value. */
typedef uint32_t aside_cause;

/**
 * One event: 80 bytes without a pointer. Every byte of the stream is in exactly one event; joined in order, the events
 * are the stream. Later versions may add fields at the end.
 */
typedef struct aside_event {
    /** The kind of the event. Ignore values that you do not know: later versions may add some. */
    aside_kind kind;
    /** The channel of the span that opens or closes, or of the text; for framing, the channel around it. */
    aside_channel channel;
    /** For `ASIDE_KIND_CLOSE` and `ASIDE_KIND_CALL_END`, why the span or the call ended; otherwise 0. */
    aside_cause cause;
    /**
     * For `ASIDE_KIND_OPEN` and `ASIDE_KIND_CALL`, the index of the `[[span]]` in the dialect's file, from 0; an index equal to
     * the number of spans means a header.
     */
    uint32_t rule;
    /**
     * The offset of the bytes in the stream, whose first byte has offset 0. For `ASIDE_KIND_ATTRIBUTE`, the offset of the
     * marker.
     */
    uint64_t offset;
    /** The number of bytes. For `ASIDE_KIND_ATTRIBUTE`, 0. */
    uint64_t len;
    /**
     * For `ASIDE_KIND_OPEN`, the index of the span's opening literal or name, from 0: `aside_dialect_opener()` returns the
     * words. For `ASIDE_KIND_CALL`, the index of the span's table, from 0. For `ASIDE_KIND_CALL_VALUE_END`, 1 if the value ended
     * without its closer or with a misspelt one; for `ASIDE_KIND_CALL_END`, 1 if a value of the call ended in this way.
     * Otherwise 0.
     */
    uint32_t tag;
    /**
     * In an event array: for `ASIDE_KIND_ATTRIBUTE`, and for an `ASIDE_KIND_CALL_NAME` that has `value_len`, the offset of the
     * name in `aside_event_array.attributes`. Otherwise 0.
     */
    uint32_t text_at;
    /** For `ASIDE_KIND_ATTRIBUTE`, the length of its name. */
    uint32_t name_len;
    /**
     * For `ASIDE_KIND_ATTRIBUTE`, the length of its decoded value, which follows the name directly. For an `ASIDE_KIND_CALL_NAME`
     * that is the value of a header's field, the length of that value.
     */
    uint32_t value_len;
    /** For `ASIDE_KIND_ATTRIBUTE`, the offset of the name in the marker. */
    uint32_t raw_name_at;
    /** The length of the name in the marker; 0 if the marker does not write the name. */
    uint32_t raw_name_len;
    /** For `ASIDE_KIND_ATTRIBUTE`, the offset of the undecoded value in the marker. */
    uint32_t raw_value_at;
    /** The length of the undecoded value in the marker. */
    uint32_t raw_value_len;
    /** For `ASIDE_KIND_CALL` and `ASIDE_KIND_CALL_END`, the number of the call in the stream, from 0. Otherwise 0. */
    uint32_t call;
    /**
     * The number of tokens of `aside_scanner_feed_tokens()` that begin inside the event's bytes. A token that begins in one event
     * and ends in another belongs to the first, so that each token with bytes is in exactly one event. In bytes that were fed
     * without tokens, no token begins.
     */
    uint32_t tokens;
    /**
     * The number of tokens of the stream that begin before the event: for the next event it is `first_token + tokens`. For
     * `ASIDE_KIND_ATTRIBUTE`, the tokens of its marker are included.
     */
    uint64_t first_token;
} aside_event;

/**
 * Called for each event. `user` is the argument of the feeding function. `bytes` has `event->len` bytes, with two exceptions: for
 * `ASIDE_KIND_ATTRIBUTE`, it has the name and, directly after it, the decoded value, `event->name_len` and `event->value_len`
 * bytes; for an `ASIDE_KIND_CALL_NAME` with `event->value_len`, it has the name. It is never NULL and has no NUL at its end.
 * `event` and `bytes` are valid until the callback returns; copy anything that is needed longer.
 *
 * Return 0 to continue; non-zero pauses: the feeding function returns `ASIDE_STOPPED`.
 *
 * The callback runs in the thread that feeds. It may use other scanners and any dialect; a function that is called with the
 * feeding scanner returns `ASIDE_ERROR_BUSY` and does nothing. No C++ exception and no `longjmp` may leave the callback: catch the
 * exception, return 1, and throw it again after the call. The thread must not end inside the callback.
 */
typedef int32_t (*aside_event_fn)(void *user, const struct aside_event *event, const char *bytes);

/* ========================================================================== *
 * Scanners: feeding
 * ========================================================================== */

/**
 * Feeds the next `len` bytes of the stream, cut anywhere, and calls `callback` for each event that they complete.
 * `buf` may be NULL if `len` is 0; such a call delivers only the pending events of a pause. `buf` must not change during the call
 * and is not used after it; it must not be memory of the scanner.
 *
 * Returns `ASIDE_OK`: all of `buf` is consumed. `ASIDE_STOPPED`: the callback paused; feed the rest, from `buf +
 * aside_scanner_consumed(scanner)` on. Pending events are then delivered first. Below 0: `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`,
 * `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the
 * scanner stays in error).
 *
 * Memory: nothing is allocated, except for collected thoughts, headers, and tags with attributes.
 */
aside_status aside_scanner_feed(struct aside_scanner *scanner,
                                const char *buf,
                                size_t len,
                                aside_event_fn callback,
                                void *user);

/**
 * Ends the stream: decides the held bytes, and closes open spans. After `ASIDE_OK` the scanner is reset, and the
 * next feed begins a new stream at offset 0.
 *
 * Returns the same as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again until it returns `ASIDE_OK`: a feed in
 * between fails with `ASIDE_ERROR_ORDER`.
 */
aside_status aside_scanner_finish(struct aside_scanner *scanner, aside_event_fn callback, void *user);

/**
 * Releases the bytes that are held back as text of their channel, and keeps the state: the stream continues. Use it if the host
 * must show everything now. If a part of a marker was flushed, the rest of the marker is text too.
 *
 * Returns the same as `aside_scanner_feed()`.
 */
aside_status aside_scanner_flush(struct aside_scanner *scanner, aside_event_fn callback, void *user);

/**
 * Closes the open thinking: releases the held bytes as text, and ends the span with `ASIDE_CAUSE_FORCED`. A tool span whose calls
 * the dialect describes is closed too, and so is the call in it. Nothing happens if the innermost span is neither of these, or
 * before the first byte if a prompt has opened the span. A closer that follows, with only blanks before it, is removed, except for
 * a fence's closer, which is text. Use it to end thinking that has become too long.
 *
 * Returns the same as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again; a feed in between continues the thinking if
 * the close has not been delivered.
 */
aside_status aside_scanner_force_close(struct aside_scanner *scanner, aside_event_fn callback, void *user);

/** A token of the model, as the caller's tokenizer knows it. A token of zero bytes is not counted. */
typedef struct aside_token {
    /** The number of the token's bytes in the buffer. */
    uint32_t len;
    /** 1: one of the tokenizer's added tokens. 0: text, whatever it looks like. */
    uint32_t special;
} aside_token;

/**
 * Feeds bytes whose tokens are known, like `aside_scanner_feed()`: `tokens` has `count` tokens, and their lengths add up to `len`.
 * Markers that a dialect calls special then count only if a special token begins them, so that a marker typed as ordinary text
 * stays text; `first_token` and `tokens` of each event say which tokens begin in it, and `aside_scanner_counts()` counts the
 * tokens of each channel. Feeds with and without tokens may be mixed.
 *
 * Returns the same as `aside_scanner_feed()`; `ASIDE_ERROR_LENGTH` also if the lengths do not add up: nothing has changed
 * then. After `ASIDE_STOPPED` call it again with the rest of the buffer and the tokens that are not completely consumed, the first
 * of them with its remaining length.
 *
 * Memory: the first such call allocates the memory that it needs.
 */
aside_status aside_scanner_feed_tokens(struct aside_scanner *scanner,
                                       const char *buf,
                                       size_t len,
                                       const struct aside_token *tokens,
                                       size_t count,
                                       aside_event_fn callback,
                                       void *user);

/* ========================================================================== *
 * Scanners: state
 * ========================================================================== */

/**
 * Resets the scanner: drops the held bytes, thoughts not taken, and every error except `ASIDE_ERROR_PANIC`. Memory
 * that C has borrowed from it is no longer valid.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_scanner_reset(struct aside_scanner *scanner);

/**
 * Makes a second scanner in the same state, also in the middle of a stream: for beam search, and for trying again from here.
 * Feeding one scanner does not change the other. Thoughts that were not taken are in both. The second scanner does not share
 * the memory that C has borrowed from the first.
 *
 * Returns a scanner that the caller owns: `aside_scanner_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY` (also for a scanner that is in that error) or
 * `ASIDE_ERROR_PANIC`.
 */
struct aside_scanner *aside_scanner_clone(const struct aside_scanner *scanner);

/**
 * Returns the number of bytes of the last feed's buffer that are consumed. Returns 0 and sets a message for NULL, inside a
 * callback of the same scanner, and after `ASIDE_ERROR_PANIC`.
 *
 * After a pause the rest of the buffer need not be fed: the stream then continues as if the buffer had ended after the
 * consumed bytes. Delivered events are final, even if bytes in the rest of the buffer decided them.
 */
size_t aside_scanner_consumed(const struct aside_scanner *scanner);

/**
 * Returns the number of bytes that are held back now, because they could still become part of a marker or of a character.
 * Returns 0 where `aside_scanner_consumed()` fails.
 */
size_t aside_scanner_held(const struct aside_scanner *scanner);

/**
 * Returns the largest number of bytes that this scanner holds back. In a pause, a marker or a word of a call whose
 * events are pending is held too. Returns 0 where `aside_scanner_consumed()` fails.
 */
size_t aside_scanner_max_hold(const struct aside_scanner *scanner);

/** Returns the offset in the stream of the next byte to be fed. Returns 0 where `aside_scanner_consumed()` fails. */
uint64_t aside_scanner_offset(const struct aside_scanner *scanner);

/** The counts of a channel in a stream. Set `size` before each call; later versions may add fields at the end. */
typedef struct aside_counts {
    /** `sizeof(aside_counts)` of the caller's header. */
    size_t size;
    /** Bytes of text. Markers and framing are not counted. */
    uint64_t bytes;
    /** Characters of text; in invalid UTF-8, the bytes that do not continue a character. */
    uint64_t characters;
    /** Spans that were opened. */
    uint64_t spans;
    /** Tokens of `aside_scanner_feed_tokens()` whose first byte is text of the channel. */
    uint64_t tokens;
    /**
     * For `ASIDE_CHANNEL_THINKING`, the number of whole thoughts that were lost since the scanner was made or reset, because 1,024
     * earlier ones had not been taken. 0 for other channels, and without `options.collect`.
     */
    uint64_t lost_thoughts;
} aside_counts;

/**
 * Writes to `*counts` the counts of the text of a channel since the stream began. After the end of a stream, these are the counts
 * of that stream, until another begins. Held bytes count when they are reported. `channel` is an `aside_channel` value. Set
 * `counts->size` to `sizeof(aside_counts)` before the call.
 *
 * After a stream the counts show whether the whole answer was thinking: `ASIDE_CHANNEL_THINKING` has bytes,
 * `ASIDE_CHANNEL_CONTENT` and `ASIDE_CHANNEL_TOOL` have none. Either the model broke off, or the stream was started in the
 * thinking although the thinking was off; a host that knows that it was off can show the text as the answer.
 *
 * Returns `ASIDE_OK` with `*counts` filled, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE` (no such channel),
 * `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_scanner_counts(const struct aside_scanner *scanner, aside_channel channel, struct aside_counts *counts);

/* ========================================================================== *
 * Scanners: whole thoughts
 * ========================================================================== */

/**
 * A whole thought. Set `size` before each call; later versions may add fields at the end. Its texts are memory of the
 * scanner, valid until the next `aside_scanner_take_thought()`, `aside_scanner_reset()` or `aside_scanner_free()` of this
 * scanner. Feeding does not change them.
 */
typedef struct aside_thought {
    /** `sizeof(aside_thought)` of the caller's header. */
    size_t size;
    /** The text. */
    struct aside_bytes text;
    /** The offset in the stream of the opening marker. */
    uint64_t offset;
    /** Why the thought ended. `ASIDE_CAUSE_END_OF_STREAM`: it was cut off. */
    aside_cause cause;
    /** 1 if `options.collect` was too small for the whole thought, otherwise 0. */
    uint32_t truncated;
    /** 1 if the marker had a type, otherwise 0. */
    uint32_t has_thought_type;
    /** 1 if the marker had a confidence, otherwise 0. */
    uint32_t has_confidence;
    /** The type; empty if there is none. */
    struct aside_bytes thought_type;
    /** The confidence, from 0 to 1; 0 if there is none. */
    double confidence;
    /** The number of attributes of the marker: `aside_scanner_thought_attribute()` returns each. */
    size_t attribute_count;
} aside_thought;

/**
 * Removes the oldest thought that has ended from a scanner that was made with `options.collect`, and writes it to
 * `*thought`. Set `thought->size` to `sizeof(aside_thought)` before the call. The texts of `*thought` belong to the scanner;
 * `aside_thought` says how long they are valid.
 *
 * Returns `ASIDE_OK` with `*thought` filled; `ASIDE_NONE` if no thought is waiting (`*thought` is not written, and the previous
 * thought is no longer valid); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`,
 * `ASIDE_ERROR_PANIC`.
 */
aside_status aside_scanner_take_thought(struct aside_scanner *scanner, struct aside_thought *thought);

/**
 * An attribute of a thought. Set `size` before each call; later versions may add fields at the end. Its texts are valid
 * as long as the texts of the thought.
 */
typedef struct aside_attribute {
    /** `sizeof(aside_attribute)` of the caller's header. */
    size_t size;
    /** The name of the attribute. */
    struct aside_bytes name;
    /** The decoded value of the attribute. */
    struct aside_bytes value;
} aside_attribute;

/**
 * Fills `*attribute` with an attribute of the thought that `aside_scanner_take_thought()` took last: the one with this
 * `index`, in the order of the marker, from 0. Set `attribute->size` to `sizeof(aside_attribute)` before the call.
 *
 * Returns `ASIDE_OK` with `*attribute` filled; `ASIDE_ERROR_RANGE` if `index` is not below `attribute_count` of that
 * thought, or if no thought is taken; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 *
 * Memory: nothing is allocated.
 */
aside_status aside_scanner_thought_attribute(const struct aside_scanner *scanner,
                                             size_t index,
                                             struct aside_attribute *attribute);

/* ========================================================================== *
 * Answers: a text in, thinking, content and tool calls out
 *
 * Threads: one at a time for one answer.
 * ========================================================================== */

/** The part of a call that is sent before the call is whole: the values of `aside_not_whole`. */
enum {
    /** The arguments, as they arrive. If a call breaks off, the client keeps the part that was sent. */
    ASIDE_NOT_WHOLE_TELL = 0,
    /**
     * Nothing: a whole call is sent at once. A call that is not whole, was repaired, or is longer than may be held is
     * text.
     */
    ASIDE_NOT_WHOLE_HOLD = 1,
    /**
     * Nothing until the call is whole, or longer than may be held; from then on, its arguments as they arrive. A call that
     * is held, and is not whole or was repaired, is text.
     */
    ASIDE_NOT_WHOLE_TEXT = 2,
};

/** An `ASIDE_NOT_WHOLE_` value. */
typedef uint32_t aside_not_whole;

/** The treatment of a call of a tool that the request does not list: the values of `aside_unknown_tool`. */
enum {
    /** The call is text. */
    ASIDE_UNKNOWN_TOOL_TEXT = 0,
    /** The call is removed. */
    ASIDE_UNKNOWN_TOOL_DROP = 1,
    /** The call is emitted like a call of a listed tool. */
    ASIDE_UNKNOWN_TOOL_TELL = 2,
};

/** An `ASIDE_UNKNOWN_TOOL_` value. */
typedef uint32_t aside_unknown_tool;

/** Whether the end of a text that has ended by itself may end a call: the values of `aside_implied_end`. */
enum {
    /** A call written as keys and values between markers is whole if the text ends after a value. */
    ASIDE_IMPLIED_END_ON = 0,
    /** A call that the end of the text cuts off is never whole. */
    ASIDE_IMPLIED_END_OFF = 1,
};

/** An `ASIDE_IMPLIED_END_` value. */
typedef uint32_t aside_implied_end;

/** Whether the thinking is sent: the values of `aside_thinking`. */
enum {
    /** The thinking is sent. */
    ASIDE_THINKING_KEEP = 0,
    /**
     * The thinking is left out, also if a server has split it itself. An answer of thinking alone ends with empty content,
     * or with its thinking as content if `options.promote_empty` is set.
     */
    ASIDE_THINKING_DROP = 1,
    /**
     * The thinking stays in the content, with its markers: for hosts that pass the content to another parser. Calls are
     * taken out of the text, unless `options.inline_calls` is set, and so are markers of other channels. Thinking that a
     * server has split itself is sent as thinking.
     */
    ASIDE_THINKING_INLINE = 2,
};

/** An `ASIDE_THINKING_` value. */
typedef uint32_t aside_thinking;

/** Options of `aside_answer_new()`. Set all of it to zero, then `size`; later versions may add fields at the end. */
typedef struct aside_answer_options {
    /** `sizeof(aside_answer_options)` of the caller's header. */
    size_t size;
    /** The span that is open at the first byte. */
    aside_start start;
    /** The treatment of a closer of the thinking without an opener, after content. */
    aside_stray_close stray_close;
    /** The treatment of a tool call that begins inside the thinking. */
    aside_calls_in_thinking calls_in_thinking;
    /** The reading of a tag that is not the dialect's own at the beginning of the text. */
    aside_leading_tags leading_tags;
    /** Whether the thinking is reported. */
    aside_thinking thinking;
    /** The part of a call that is reported before the call is whole. At most `max_held` bytes of it are held. */
    aside_not_whole not_whole;
    /** The treatment of a call of a tool that is not in `tools`. */
    aside_unknown_tool unknown_tool;
    /** Whether the end of a text that has ended by itself (`ASIDE_END_REASON_ENDED`) may end a call. */
    aside_implied_end implied_end;
    /**
     * The request's `tools`: a JSON array of objects with `name` and `parameters`, which may also be inside `function`, or with
     * `name` and `input_schema`, as in Anthropic's Messages. Their schemas have the types of the arguments. `[]`: all calls are
     * content, which is right for a request without tools. NULL: every call is reported, and the types of its arguments are not
     * known.
     */
    struct aside_bytes tools;
    /**
     * The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a request names a tool
     * (`tool_choice`), a grammar makes the model write the arguments without markers. NULL: the text is read as usual.
     */
    struct aside_bytes start_call;
    /**
     * The beginning of the id that is made for a call without one; `index` of the call follows it. UTF-8. Ids are unique in a conversation
     * only if each answer has a different beginning. NULL: `call_`.
     */
    struct aside_bytes id_prefix;
    /**
     * The maximum number of bytes of `tools` that are read; a longer list is an error. Reading a list may need about 40 times its
     * length in memory. 0: 4 MiB.
     */
    uint64_t max_tools;
    /**
     * The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that are held
     * until its type is clear, at most 4 MiB of text. 0: 1 MiB.
     */
    uint64_t max_held;
    /**
     * The maximum number of calls that are reported, such as 1 for `"parallel_tool_calls": false`; later calls are content. 0:
     * 1,024, the maximum.
     */
    uint64_t max_calls;
    /** The limit of the thinking, beyond which `ASIDE_PART_KIND_BUDGET` is reported. 0: there is no limit. */
    uint64_t budget;
    /** The unit of the budget. */
    aside_budget_unit budget_unit;
    /** The scope of the budget. */
    aside_budget_scope budget_scope;
    /**
     * 1: mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a backslash that does not begin an
     * escape is escaped. If the schema asks for an array or an object and not for a string, a string that contains it as JSON is decoded,
     * and a Python literal between markers becomes JSON. 0: leave the arguments unchanged.
     */
    uint32_t repair_arguments;
    /**
     * 1: report the thinking as content if the text ends by itself and has neither content nor a call. At most 16 MiB of thinking
     * are kept for this. 0: such a text has no content.
     */
    uint32_t promote_empty;
    /**
     * 1: leave guessed thinking unchanged. 0: report thinking as content too, if the dialect only guessed that the text starts in the
     * thinking, and the text ends by itself in the thinking, without a marker that confirms the guess.
     */
    uint32_t keep_guessed;
    /**
     * 1: report `ASIDE_PART_KIND_MOVED` if reported text belongs to the other channel, for a host that builds a whole message.
     * 0: content that turns out to be thinking stays content, and thinking that turns out to be the answer is reported again as
     * content.
     */
    uint32_t may_take_back;
    /**
     * 1: leave calls in the content, as the model wrote them, for a host that passes the content to another parser; `tools`,
     * `start_call`, `id_prefix` and the policies for calls then have no effect. 0: report calls.
     */
    uint32_t inline_calls;
    /** Reserved: 0. */
    uint32_t reserved;
} aside_answer_options;

/**
 * The kind of a part of an answer. Later versions may add kinds: ignore those that you do not know: the values of
 * `aside_part_kind`.
 */
enum {
    /** The next text of the thinking. */
    ASIDE_PART_KIND_THINKING = 0,
    /** The next text of the answer itself. */
    ASIDE_PART_KIND_CONTENT = 1,
    /** A call begins: its id and its name. */
    ASIDE_PART_KIND_CALL = 2,
    /** The next part of the arguments of a call. Joined, they are a JSON object if the call is whole. */
    ASIDE_PART_KIND_ARGUMENTS = 3,
    /** A call ends. */
    ASIDE_PART_KIND_CALL_END = 4,
    /**
     * All text that was reported in one channel belongs at the end of the other channel's text: content that turned out to be
     * thinking, because a closer of the thinking came without an opener, or thinking that turned out to be the answer. Only
     * with `options.may_take_back`. If the thinking is dropped, leave out the content that moves to it.
     */
    ASIDE_PART_KIND_MOVED = 5,
    /** The thinking exceeds its budget here. */
    ASIDE_PART_KIND_BUDGET = 6,
};

/** An `ASIDE_PART_KIND_` value. */
typedef uint32_t aside_part_kind;

/**
 * A part of an answer. This struct never changes. Fields that a kind does not name are 0 or empty. All texts are in memory of the
 * answer, valid until the next call with it; names, ids and arguments are UTF-8.
 */
typedef struct aside_part {
    /** The kind of the part. */
    aside_part_kind kind;
    /** `ASIDE_PART_KIND_CALL_END`: why the call ended, or `ASIDE_CAUSE_MALFORMED` if its arguments are not a JSON object. */
    aside_cause cause;
    /** `ASIDE_PART_KIND_MOVED`: the channel in which the text was reported. */
    aside_channel from;
    /** `ASIDE_PART_KIND_MOVED`: the channel to which the text belongs. */
    aside_channel to;
    /**
     * `ASIDE_PART_KIND_CALL`: 1 if the library made the id: the model wrote none, or its id is taken or begins with
     * `options.id_prefix`.
     */
    uint32_t is_made;
    /** `ASIDE_PART_KIND_CALL_END`: 1 if the arguments are complete. Do not run a call that is not whole. */
    uint32_t is_whole;
    /**
     * `ASIDE_PART_KIND_CALL_END`: 1 if the call broke a rule of its grammar and was repaired: the model may have meant other
     * arguments.
     */
    uint32_t is_repaired;
    /** Reserved: 0. */
    uint32_t reserved;
    /** Parts of calls: the number of the call in the answer, from 0. */
    uint64_t index;
    /**
     * The text of `ASIDE_PART_KIND_THINKING` and `ASIDE_PART_KIND_CONTENT`, the name of `ASIDE_PART_KIND_CALL`, the JSON of
     * `ASIDE_PART_KIND_ARGUMENTS`.
     */
    struct aside_bytes text;
    /**
     * `ASIDE_PART_KIND_CALL`: an id that no other call of the answer has. `ASIDE_PART_KIND_CALL_END`: an id that the model wrote only after
     * the call was reported; use it in a whole message, and not for a client that got the call already.
     */
    struct aside_bytes id;
} aside_part;

/**
 * Makes an answer: it reads one text of a model as it streams, and reports thinking, content and tool calls with JSON arguments, as
 * parts without markers. Every byte of the text is in exactly one part, in a call that is reported, or is a marker or framing around
 * these: what turns out not to be a call is content, in its place. `options` may be NULL. `dialect` and `options` are not used after
 * the call: the dialect may be freed before the answer.
 *
 * Returns an answer that the caller owns: `aside_answer_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not
 * have, and for `tools` that are not JSON or not a list of tools, or too long; the message has the place of the fault) or
 * `ASIDE_ERROR_MEMORY`.
 *
 * Memory: if it runs out while `tools` is read, the process ends.
 *
 * Threads: any thread may call this at any time.
 *
 * ```c
 * aside_answer *answer = aside_answer_new(aside_dialect_find("qwen3", 5), NULL);
 * const aside_part *parts;
 * size_t count;
 * if (aside_answer_feed(answer, chunk, len, &parts, &count) == ASIDE_OK) {
 *     for (size_t i = 0; i < count; i++) {
 *         if (parts[i].kind == ASIDE_PART_KIND_CONTENT) fwrite(parts[i].text.at, 1, parts[i].text.len, stdout);
 *     }
 * }
 * ```
 */
struct aside_answer *aside_answer_new(const struct aside_dialect *dialect, const struct aside_answer_options *options);

/**
 * Frees an answer and the memory that C has borrowed from it. Does nothing for NULL.
 *
 * Threads: no other thread may be using this answer.
 */
void aside_answer_free(struct aside_answer *answer);

/**
 * Sets the start of the text, for a model that continues a rendered prompt. The last `len` bytes of the prompt are `tail`, which
 * are read as by `aside_scanner_start_from_prompt()`. Call this before the first byte of the text. Finishing or resetting the
 * answer restores its own start; a `len` of 0 undoes an earlier prompt. `tail` is not used after the call; it must not be memory
 * of the answer.
 *
 * `*start` becomes an `ASIDE_START_` value, the span that is open at the first byte; `start` may be NULL. It is written on success
 * only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` if the text has begun
 * (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the answer stays in error).
 */
aside_status aside_answer_start_from_prompt(struct aside_answer *answer, const char *tail, size_t len, aside_start *start);

/**
 * Sets the `tools` of the request, before the first byte of the text: `len` bytes of JSON, like `options.tools`. Use it for an answer
 * that serves one request after another; for a request without `tools`, pass `[]`. Finishing or resetting the answer restores its own
 * tools. `tools` is not used after the call; it must not be memory of the answer.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_OPTION` for tools that cannot be
 * read (the message has the place of the fault), `ASIDE_ERROR_ORDER` if the text has begun (nothing has changed after these);
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the answer stays in error).
 *
 * Memory: if it runs out while `tools` is read, the process ends.
 */
aside_status aside_answer_use_tools(struct aside_answer *answer, const char *tools, size_t len);

/**
 * Feeds the next `len` bytes of the text, cut anywhere. `*parts` and `*count` become the parts that are decided, which may be none.
 * `buf` may be NULL if `len` is 0, and is not used after the call; it must not be memory of the answer.
 *
 * `*parts` and their texts are memory of the answer, valid until the next call with it. They are written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY` (nothing has changed after these);
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the answer stays in error).
 *
 * Memory: it grows with the chunk, and with the held bytes: twice `aside_dialect_max_hold()`, and `options.max_held` while a call is
 * open. A byte of an argument becomes up to six bytes of JSON.
 */
aside_status aside_answer_feed(struct aside_answer *answer,
                               const char *buf,
                               size_t len,
                               const struct aside_part **parts,
                               size_t *count);

/**
 * Feeds `len` bytes whose `token_count` tokens are known, as `aside_scanner_feed_tokens()` does.
 *
 * Returns the same as `aside_answer_feed()`, and `ASIDE_ERROR_LENGTH` if the lengths of the tokens do not add up to `len` (nothing has
 * changed).
 */
aside_status aside_answer_feed_tokens(struct aside_answer *answer,
                                      const char *buf,
                                      size_t len,
                                      const struct aside_token *tokens,
                                      size_t token_count,
                                      const struct aside_part **parts,
                                      size_t *count);

/**
 * Reports the held bytes as text: those that may begin a marker, and those of an undecided call. Calls in the thinking still wait for
 * the text after them, which decides whether they are meant. The text continues.
 *
 * Returns the same as `aside_answer_feed()`.
 */
aside_status aside_answer_flush(struct aside_answer *answer, const struct aside_part **parts, size_t *count);

/**
 * Closes the open thinking, or the open call, as `aside_scanner_force_close()` does. A call without markers stays open.
 *
 * Returns the same as `aside_answer_feed()`.
 */
aside_status aside_answer_force_close(struct aside_answer *answer, const struct aside_part **parts, size_t *count);

/**
 * Ends the text, for this reason, and reports the parts that are left. The answer is then reset, except for its counts, and the next
 * feed begins a new text. The reason matters if a call, or thinking that may be the answer, is open at the end: only a text that ended
 * by itself (`ASIDE_END_REASON_ENDED`) may end a call that has no end, or turn out to be an answer without markers.
 *
 * Returns the same as `aside_answer_feed()`, and `ASIDE_ERROR_OPTION` for an unknown reason (nothing has changed).
 */
aside_status aside_answer_finish(struct aside_answer *answer,
                                 aside_end_reason reason,
                                 const struct aside_part **parts,
                                 size_t *count);

/**
 * Resets the answer: drops the bytes that are held back, the counts, and every error except `ASIDE_ERROR_PANIC`. Memory that C has
 * borrowed from it is no longer valid.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_answer_reset(struct aside_answer *answer);

/**
 * Returns the number of bytes of the text that are held back. Returns 0 and sets a message for NULL, if another call with the answer
 * has not ended, and after `ASIDE_ERROR_PANIC`.
 */
size_t aside_answer_held(const struct aside_answer *answer);

/**
 * Writes to `*counts` the counts of the text of a channel, as `aside_scanner_counts()` does: also those of thinking that was dropped,
 * and of text that was moved later. After the end of a text, these are the counts of that text, until another begins. Set
 * `counts->size` to `sizeof(aside_counts)` before the call.
 *
 * Returns `ASIDE_OK` with `*counts` filled, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE` (no such channel), `ASIDE_ERROR_SIZE`,
 * `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_answer_counts(const struct aside_answer *answer, aside_channel channel, struct aside_counts *counts);

/* ========================================================================== *
 * Rewriters: event streams with the thinking in a separate field
 *
 * Threads: one at a time for one rewriter.
 * ========================================================================== */

/** The name of the field for the thinking: the values of `aside_field`. */
enum {
    /** `reasoning_content`. */
    ASIDE_FIELD_REASONING_CONTENT = 0,
    /** `reasoning`. */
    ASIDE_FIELD_REASONING = 1,
    /** `thinking`. */
    ASIDE_FIELD_THINKING = 2,
};

/** An `ASIDE_FIELD_` value. */
typedef uint32_t aside_field;

/** The kind of body that is fed to a rewriter: the values of `aside_body`. */
enum {
    /** The first byte that is not white space decides. JSON begins with `{`, an event stream never does. */
    ASIDE_BODY_UNKNOWN = 0,
    /** An event stream, `text/event-stream`. */
    ASIDE_BODY_EVENTS = 1,
    /** One JSON object, `application/json`. */
    ASIDE_BODY_JSON = 2,
    /** JSON objects, each on a separate line, `application/x-ndjson`: Ollama's streams. */
    ASIDE_BODY_LINES = 3,
};

/** An `ASIDE_BODY_` value. */
typedef uint32_t aside_body;

/** A set of formats of answers, each with the end of its path: the bits of `aside_formats`. */
enum {
    /** Chat completions of OpenAI, `/chat/completions`. */
    ASIDE_FORMAT_CHAT = 1,
    /** Completions of OpenAI, `/completions`. */
    ASIDE_FORMAT_COMPLETIONS = 2,
    /** OpenAI Responses, `/responses`. */
    ASIDE_FORMAT_RESPONSES = 4,
    /** Anthropic Messages, `/messages`. */
    ASIDE_FORMAT_MESSAGES = 8,
    /** Ollama's own format, `/api/chat` and `/api/generate`. */
    ASIDE_FORMAT_OLLAMA = 16,
    /**
     * All formats, including the formats of later versions: all bits of an `int`. Any other value is refused if it has a bit
     * that belongs to no format.
     */
    ASIDE_FORMAT_ALL = 2147483647,
};

/** `ASIDE_FORMAT_` bits. */
typedef uint32_t aside_formats;

/** A set of differences between the shapes of servers' answers, which a rewriter removes: the bits of `aside_shapes`. */
enum {
    /** No shape: the answer of a server stays unchanged. */
    ASIDE_SHAPE_NONE = 0,
    /**
     * The thinking that a server sends as `reasoning_content`, `reasoning`, `thinking`, or as the text of
     * `reasoning_details`, is sent in the field `options.field`.
     */
    ASIDE_SHAPE_FIELD = 1,
    /** Content that is a list of texts and thinking becomes a string, with the thinking in its field. */
    ASIDE_SHAPE_LISTS = 2,
    /** A chunk of a stream with thinking and content becomes two, the thinking first. */
    ASIDE_SHAPE_CHUNKS = 4,
    /**
     * The content after thinking that the server has split is split too: markers are removed, and a second thinking is
     * moved. In a chat's stream this includes `ASIDE_SHAPE_CHUNKS`.
     */
    ASIDE_SHAPE_CONTENT = 8,
    /**
     * All shapes, including the shapes of later versions: all bits of an `int`. Any other value is refused if it has a bit
     * that belongs to no shape.
     */
    ASIDE_SHAPE_ALL = 2147483647,
};

/** The shapes apply to chat completions, and `ASIDE_SHAPE_CONTENT` to every format. */
typedef uint32_t aside_shapes;

/** The form of the thinking in the items of OpenAI Responses: the values of `aside_responses_as`. */
enum {
    /** The content of a reasoning item, as `reasoning_text`: right for clients that send items back. */
    ASIDE_RESPONSES_AS_REASONING_TEXT = 0,
    /** The summary of a reasoning item, as `summary_text`: for clients that show only summaries. */
    ASIDE_RESPONSES_AS_SUMMARY = 1,
};

/** An `ASIDE_RESPONSES_AS_` value. */
typedef uint32_t aside_responses_as;

/**
 * The treatment of comments in a stream of events, which servers send to keep a connection open: the values of
 * `aside_comments`.
 */
enum {
    /** Comments stay. */
    ASIDE_COMMENTS_KEEP = 0,
    /** Comments are left out. */
    ASIDE_COMMENTS_DROP = 1,
    /**
     * Each comment becomes an event without text: a chunk in chat and legacy completions, a `ping` in Messages. It is left
     * out in formats without such an event, such as Responses, and before the first event unless `options.formats` names
     * one format.
     */
    ASIDE_COMMENTS_CHUNK = 2,
};

/** An `ASIDE_COMMENTS_` value. */
typedef uint32_t aside_comments;

/** Options of `aside_rewriter_new()`. Set all of it to zero, then `size`; later versions may add fields at the end. */
typedef struct aside_rewriter_options {
    /** `sizeof(aside_rewriter_options)` of the caller's header. */
    size_t size;
    /**
     * How each choice's text is read, and what is wanted of it: options of an answer. `id_prefix`, `budget`, `budget_unit`,
     * `budget_scope`, `may_take_back` and `inline_calls` must be 0 in it. `promote_empty` and `keep_guessed` keep at most `max_event` bytes of
     * thinking, and calls are read only with `calls`. NULL: the defaults of an answer.
     */
    const struct aside_answer_options *answer;
    /** The name of the field for the thinking. */
    aside_field field;
    /** The kind of body that is fed. */
    aside_body body;
    /** 1: nothing is split, and the output equals the input. 0: the text is split. */
    uint32_t off;
    /**
     * 1: make `tool_calls` from the calls that the model writes as text, if the dialect says how they are written, and change
     * the `finish_reason` from `stop` to `tool_calls`. After the first call that the server itself makes in a choice, calls in
     * the text of that choice stay in the text. A body, and Ollama's format, have whole calls only. 0: calls stay in the text.
     */
    uint32_t calls;
    /**
     * The length of the longest event or JSON body that is read, in bytes; a longer one is forwarded unchanged. 0: 16 MiB.
     */
    uint64_t max_event;
    /** The formats of the answers that are read; an answer of a different format is forwarded unchanged. 0: all formats. */
    aside_formats formats;
    /** The form of the thinking in the items of OpenAI Responses. */
    aside_responses_as responses_as;
    /**
     * 1: mend faults in a stream of events that make clients fail or lose text: empty `data:` lines, comments inside an event,
     * an object over several lines, chunks without `choices`, and more. 0: leave the faults unchanged.
     */
    uint32_t repair;
    /**
     * 1: in chat completions, completions and Ollama's lines, send one chunk for each chunk of the server, the thinking before
     * the content, for clients that count chunks, even if `repair` or `normalise` would make two chunks. 0: each chunk has text
     * for one field.
     */
    uint32_t merge;
    /** The differences between servers' answers that are removed. 0: none. */
    aside_shapes normalise;
    /**
     * 1: label the thinking blocks of Messages and the reasoning items of Responses that the rewriter makes, so that they can
     * be removed from a history. 0: their signatures are empty, and their ids begin with `rs_`.
     */
    uint32_t label;
    /** The treatment of comments in a stream of events, for clients that fail on them. */
    aside_comments comments;
    /** Reserved: 0. */
    uint32_t reserved;
} aside_rewriter_options;

/**
 * Makes a rewriter. Its input is the bytes of an answer: an event stream, lines of JSON, or a JSON body, in one of
 * `options.formats`. Its output is the same bytes, with the thinking moved out of the content to the place that the format has for
 * it: a separate field, item or block; with `options.calls`, the tool calls too. `options` may be NULL: all formats,
 * `reasoning_content`, and the dialect's own start. Neither the dialect nor the options are used after the call: the dialect may be freed before the
 * rewriter.
 *
 * Returns a rewriter that the caller owns: `aside_rewriter_free()`. NULL if that fails; `aside_last_status()` is then
 * `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect
 * does not have, and for `tools` that cannot be read; the message has the place of the fault) or `ASIDE_ERROR_MEMORY`.
 *
 * Memory: if it runs out while `tools` is read, the process ends. While it writes an event, a rewriter borrows buffers from
 * the process, which keeps up to 256 sets of at most 40 kB.
 *
 * Threads: any thread may call this at any time.
 */
struct aside_rewriter *aside_rewriter_new(const struct aside_dialect *dialect, const struct aside_rewriter_options *options);

/**
 * Frees a rewriter and its output. Does nothing for NULL. Bytes that are held back are lost: call `aside_rewriter_finish()`
 * before.
 *
 * Threads: no other thread may be using this rewriter.
 */
void aside_rewriter_free(struct aside_rewriter *rewriter);

/**
 * Sets the dialect and the start of the next stream, before its first byte. `dialect` may be NULL: the rewriter's own dialect.
 * `start` is an `ASIDE_START_` value, the span that is open at the first byte of each choice's text; `ASIDE_START_DEFAULT` is the
 * dialect's own start, whatever `options.answer->start` is. Use it if the request determines the model, or whether the model thinks, and
 * for results of `aside_dialect_find_for_template()`. Finishing or resetting the rewriter restores its own dialect and start. The
 * dialect may be freed after the call.
 *
 * A dialect that was not found is NULL too: check for that before this call.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have),
 * `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` if the stream has begun (none of these changes anything);
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error).
 *
 * Threads: other threads may be using the dialect.
 */
aside_status aside_rewriter_use_dialect(struct aside_rewriter *rewriter,
                                        const struct aside_dialect *dialect,
                                        aside_start start);

/**
 * Sets the `tools` of the next stream's request, before its first byte: `len` bytes of JSON, like `tools` of an answer's options. Use it for a
 * rewriter that serves one request after another; for a request without `tools`, pass `[]`. Finishing or resetting the rewriter
 * restores its own tools. `tools` is not used after the call; it must not be memory of the rewriter.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_OPTION` for tools that cannot be
 * read (the message has the place of the fault), `ASIDE_ERROR_ORDER` if the stream has begun (none of these changes anything);
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error).
 *
 * Memory: if it runs out while `tools` is read, the process ends.
 */
aside_status aside_rewriter_use_tools(struct aside_rewriter *rewriter, const char *tools, size_t len);

/**
 * Sets the start of the next stream, for a model that continues a rendered prompt. The last `len` bytes of the prompt are `tail`,
 * which are read as by `aside_scanner_start_from_prompt()`. Call this before the first byte of the stream. Finishing or
 * resetting the rewriter restores its own start; a `len` of 0 undoes an earlier prompt. `tail` is not used after the call; it
 * must not be memory of the rewriter.
 *
 * `*start` becomes an `ASIDE_START_` value, the span that is open at the first byte of each choice's text; `start` may be
 * NULL. It is written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` if the stream
 * has begun (none of these changes anything); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in
 * error).
 */
aside_status aside_rewriter_start_from_prompt(struct aside_rewriter *rewriter,
                                              const char *tail,
                                              size_t len,
                                              aside_start *start);

/**
 * Feeds the next `len` bytes, cut anywhere: one call for each read from the network. `*out` becomes the bytes to forward: all
 * events or lines that are whole, which may be none. `buf` may be NULL if `len` is 0, and is not used after the call; it must not
 * be memory of the rewriter.
 *
 * `*out` is memory of the rewriter, valid until the next call with it. It is written on success only.
 *
 * Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY` (none of these changes anything);
 * `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error). Bytes that cannot be read are forwarded unchanged; that
 * is not an error.
 *
 * Memory: it grows with the largest event, up to a small multiple of `options.max_event`; by at most 1 MiB for the chunks that are
 * made from one event; and by the held bytes of each of at most 128 choices, up to twice `aside_dialect_max_hold()`. The output
 * may be 150 times as long as the input, if each event has many choices and a long `id`.
 */
aside_status aside_rewriter_feed(struct aside_rewriter *rewriter, const char *buf, size_t len, struct aside_bytes *out);

/**
 * Ends the stream. `*out` becomes the bytes that were held back: an event without the blank line after it, text that might
 * have become a marker. The rewriter is then reset, except for the counts of `aside_rewriter_get_stats()`, and the next feed
 * begins a new stream.
 *
 * Returns the same as `aside_rewriter_feed()`.
 */
aside_status aside_rewriter_finish(struct aside_rewriter *rewriter, struct aside_bytes *out);

/**
 * Resets the rewriter: drops the bytes that are held back, the counts, and every error except `ASIDE_ERROR_PANIC`. Memory that
 * C has borrowed from it is no longer valid.
 *
 * Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 */
aside_status aside_rewriter_reset(struct aside_rewriter *rewriter);

/**
 * The counts of a rewriter, from `aside_rewriter_get_stats()`. Set `size` before the call; later versions may add fields at
 * the end.
 */
typedef struct aside_rewriter_stats {
    /** `sizeof(aside_rewriter_stats)` of the caller's header. */
    size_t size;
    /** Events that have data, lines of JSON, and bodies that were read whole. */
    uint64_t events;
    /** The number of `events` that were sent changed, or with chunks before them. */
    uint64_t changed;
    /** Chunks and events that were written in addition to the server's. */
    uint64_t added;
    /** Faults of the stream that the option `repair` has mended. */
    uint64_t repaired;
    /** Events and bodies that were forwarded unread because they were longer than the option `max_event`. */
    uint64_t too_long;
    /** JSON objects that were forwarded unread because they are neither in a format that is read nor an error. */
    uint64_t unread;
    /** Answers whose thinking was to be sent as content too, and was too long for that. */
    uint64_t unpromoted;
    /** Events that repeat a whole text and lack some of it, because that text was longer than `max_event`. */
    uint64_t truncated;
    /** Bytes of text that were sent as thinking. Text that a server splits itself is not counted. */
    uint64_t thinking_bytes;
    /** Bytes of text that were sent as content. */
    uint64_t content_bytes;
    /** Bytes of text, and of an unfinished event or body, that are held now. A finish would return them. */
    uint64_t held;
    /** Texts whose thinking the server splits itself. */
    uint64_t split_by_server;
    /**
     * 1 if the stream is forwarded unread because its first bytes are not text: it is compressed (gzip, zstd, zlib or Brotli), or
     * not in UTF-8. Ask the server for `Accept-Encoding: identity`, or decode the body before it is fed. After the end of a
     * stream, this describes that stream, until another begins. Otherwise 0.
     */
    uint32_t encoded;
    /** Reserved: 0. */
    uint32_t reserved;
    /** Tool calls in the text that were sent as calls. Calls that the server itself has made are not counted. */
    uint64_t calls;
    /**
     * Texts that a server repeats in Responses and that were split again, because their message differs from what was sent
     * before, or was too long to be kept.
     */
    uint64_t contradicted;
} aside_rewriter_stats;

/**
 * Fills `*stats` with the rewriter's counts since it was made or last reset, and with the number of bytes that it holds now.
 * Set `stats->size` to `sizeof(aside_rewriter_stats)` before the call. This works after `ASIDE_ERROR_MEMORY` too.
 *
 * Returns `ASIDE_OK`, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
 *
 * Memory: it allocates nothing.
 */
aside_status aside_rewriter_get_stats(const struct aside_rewriter *rewriter, struct aside_rewriter_stats *stats);

/* ========================================================================== *
 * Which answers are for a rewriter
 *
 * Threads: any thread may call these functions at any time.
 * ========================================================================== */

/**
 * The HTTP facts about a request and its answer, as far as they are known. Set all of it to zero, then `size`; later versions
 * may add fields at the end. Texts are verbatim; the `len` of an absent text is 0.
 */
typedef struct aside_exchange {
    /** `sizeof(aside_exchange)` of the caller's header. */
    size_t size;
    /** The status of the answer, such as 200. */
    uint32_t status;
    /** The formats that the rewriter reads, as in its `options.formats`: `ASIDE_FORMAT_` bits. 0: all. */
    aside_formats formats;
    /** The method of the request. */
    struct aside_bytes method;
    /** The path of the request, with or without a query. If it is empty, it is not known, and any path fits. */
    struct aside_bytes path;
    /** The value of the answer's `Content-Type`. */
    struct aside_bytes content_type;
    /** The value of the answer's `Content-Encoding`. */
    struct aside_bytes content_encoding;
} aside_exchange;

/**
 * Finds whether an answer is for a rewriter, and the kind of its body, before the body arrives. `exchange->method` is not
 * read.
 *
 * An answer is for a rewriter if its status is 200; its encoding is absent, blank or `identity`; its media type is
 * `text/event-stream`, `application/json`, `application/x-ndjson`, `application/jsonl` or `text/plain`, with any parameters,
 * or absent; and its path ends in `/chat/completions`, `/completions`, `/responses`, `/messages`, `/api/chat` or `/api/generate`,
 * of which the longest that fits belongs to one of `exchange->formats`.
 *
 * Returns `ASIDE_OK` and writes an `ASIDE_BODY_` value for `options.body` to `*body`. The host then removes the headers
 * `Content-Length`, `ETag`, `Content-MD5`, `Digest` and `Repr-Digest`, feeds the body, and calls `aside_rewriter_finish()`
 * at its end. Returns `ASIDE_NONE` if the answer must stay unchanged; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
 * `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` for an unknown bit, `ASIDE_ERROR_PANIC`.
 *
 * Memory: it allocates nothing.
 */
aside_status aside_rewriter_wants(const struct aside_exchange *exchange, aside_body *body);

/** The change that a host should make to a request: the values of `aside_hint`. */
enum {
    /** Send `Accept-Encoding: identity` to the server: no compressed answer can be read. */
    ASIDE_HINT_IDENTITY = 1,
};

/** An `ASIDE_HINT_` value. */
typedef uint32_t aside_hint;

/**
 * Finds how a host should treat a request whose answer may be for a rewriter. Of `*exchange`, only `method`, `path` and
 * `formats` are read: the answer has not arrived yet.
 *
 * Returns `ASIDE_OK` and writes an `ASIDE_HINT_` value to `*hint`. Returns `ASIDE_NONE` if the request needs no change: it is not
 * a `POST`, or its path belongs to none of the formats; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`,
 * `ASIDE_ERROR_OPTION` for an unknown bit, `ASIDE_ERROR_PANIC`.
 *
 * Memory: it allocates nothing.
 */
aside_status aside_request_hint(const struct aside_exchange *exchange, aside_hint *hint);

/**
 * Finds the model that a request asks for, so that a host can choose a dialect: the first member `model` of the JSON
 * object `body`. `body` is all `len` bytes that have arrived so far: a host calls this after each piece of the body, each time
 * with all pieces so far, until the model is found, and keeps at most 64 KiB. Text after the model is not read.
 *
 * Returns `ASIDE_OK` and writes `*model_len` bytes of UTF-8 to `model`, without a NUL. Returns `ASIDE_MORE` while the model is not
 * known yet; `ASIDE_NONE` if there is no model: the body is not a JSON object, or its model is not a string, is longer than
 * `room`, or is not UTF-8. `model` may be changed then. Returns `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_PANIC`.
 * `model` must not be memory of `body`; it may be NULL if `room` is 0.
 *
 * Memory: it allocates nothing.
 */
aside_status aside_request_model(const char *body, size_t len, char *model, size_t room, size_t *model_len);

/* ========================================================================== *
 * For authors of bindings: scanners without a callback
 *
 * Where callbacks are expensive, the `_into` functions fill an array of events instead; and most chunks need not even that.
 * Threads: one at a time for one scanner.
 * ========================================================================== */

/**
 * The array that a call fills with events, and its other results. Set all of it to zero, then `size`, `events`, `event_size` and
 * `capacity`, once for all calls; later versions may add fields at the end. The fields after `capacity` are filled by the library,
 * on success and on `ASIDE_MORE` only.
 *
 * The bytes of an event begin at `buf[event.offset - offset]`, and there are `event.len` of them. If `event.offset` is
 * below `offset`, the event begins in bytes that an earlier call had held back: in the last `offset - event.offset` bytes
 * of `held`. The rest of the event, if any, is at the start of `buf`.
 */
typedef struct aside_event_array {
    /** `sizeof(aside_event_array)` of the caller's header. */
    size_t size;
    /** Room for `capacity` events, each `event_size` bytes after the one before. The library does not keep the pointer. */
    struct aside_event *events;
    /**
     * `sizeof(aside_event)` of the caller's header: at least 32. A library of a different version fills the fields that both have,
     * and sets the rest to 0.
     */
    size_t event_size;
    /** The number of events for which there is room, at least 1. */
    size_t capacity;
    /** The number of events that were written. */
    size_t count;
    /** The number of bytes of `buf` that are consumed and must not be fed again. */
    size_t consumed;
    /** The offset in the stream of `buf[0]`. */
    uint64_t offset;
    /**
     * The bytes directly before `buf[0]` that had been held back: memory of the scanner, valid until the next call with
     * this scanner. After `aside_scanner_start_from_prompt()`, they may begin with bytes of the prompt, which belong to no event.
     */
    struct aside_bytes held;
    /**
     * Names and decoded values of the attributes, at `event.text_at`: memory of the scanner, valid until the next call
     * with this scanner.
     */
    struct aside_bytes attributes;
} aside_event_array;

/**
 * Feeds like `aside_scanner_feed()`, for hosts where callbacks are expensive: writes the events into `array->events`, and next to
 * them the data that the host needs to find their bytes. Events have no pointers.
 *
 * Returns `ASIDE_OK`: all of `buf` is consumed. `ASIDE_MORE`: the array is full, or `array->attributes` has reached 64 KiB (or
 * more, with a long last attribute); read the events, then call again with the rest of `buf`, `array->consumed` bytes further on
 * (if it is empty, with `len` 0). Below 0: the errors of `aside_scanner_feed()`, and `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` for
 * an array with a field that this version does not know; then no field of `array` is written, the contents of `array->events` are
 * meaningless, and `aside_scanner_consumed()` returns the number of consumed bytes.
 *
 * Memory: nothing is allocated, except for collected thoughts, headers, and tags with attributes.
 */
aside_status aside_scanner_feed_into(struct aside_scanner *scanner,
                                     const char *buf,
                                     size_t len,
                                     struct aside_event_array *array);

/**
 * Finishes like `aside_scanner_finish()`, into an array like `aside_scanner_feed_into()`. All bytes of its events are in
 * `array->held`. After `ASIDE_MORE` call it again until it returns `ASIDE_OK`.
 */
aside_status aside_scanner_finish_into(struct aside_scanner *scanner, struct aside_event_array *array);

/**
 * Flushes like `aside_scanner_flush()`, into an array like `aside_scanner_feed_into()`. All bytes of its events are in
 * `array->held`.
 */
aside_status aside_scanner_flush_into(struct aside_scanner *scanner, struct aside_event_array *array);

/**
 * Feeds like `aside_scanner_feed_tokens()`, into an array like `aside_scanner_feed_into()`. After `ASIDE_MORE` call it again with
 * the rest of the buffer and the tokens that are not completely consumed, the first of them with its remaining length.
 *
 * Memory: the first such call allocates the memory that it needs.
 */
aside_status aside_scanner_feed_tokens_into(struct aside_scanner *scanner,
                                            const char *buf,
                                            size_t len,
                                            const struct aside_token *tokens,
                                            size_t count,
                                            struct aside_event_array *array);

/**
 * Closes the thinking like `aside_scanner_force_close()`, into an array like `aside_scanner_feed_into()`. All bytes of its events
 * are in `array->held`.
 */
aside_status aside_scanner_force_close_into(struct aside_scanner *scanner, struct aside_event_array *array);

/** From `aside_scanner_feed_text()`: nothing was fed. From `aside_scanner_quiet()`: no chunk may be skipped. */
enum { ASIDE_NOT_TEXT = -1 };

/**
 * Feeds `buf` if all of it is text of one channel and nothing else happens, as with most tokens: the cheapest way to
 * feed, for hosts where even an event array is expensive. Otherwise it feeds nothing: pass the same `buf` to
 * `aside_scanner_feed_into()` or `aside_scanner_feed()`. A feed of this kind is one event `ASIDE_KIND_TEXT`, at the
 * offset that `aside_scanner_offset()` had before.
 *
 * Returns the channel (an `ASIDE_CHANNEL_` value, 0 or above), or `ASIDE_NOT_TEXT` if nothing was fed, also after an error,
 * which the other two functions report.
 *
 * Memory: nothing is allocated.
 */
int32_t aside_scanner_feed_text(struct aside_scanner *scanner, const char *buf, size_t len);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ASIDE_H */
