/* aside_unstable.h - what may still change
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Generated from src/ffi: do not edit. Link with -laside.
 *
 * The functions and structs of this header may change or go in any version of the library, also where `ASIDE_ABI_VERSION`
 * stays. A program that uses one compares `aside_unstable_version()` with the number that it was written for, and does
 * without them if the two differ. What holds for aside.h and aside_compress.h holds here: texts, statuses, messages,
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
 * Returns the version of what `aside_unstable.h` declares. It grows with each change there that a program could notice.
 * The version that this header describes is 1.
 */
uint32_t aside_unstable_version(void);

/* ========================================================================== *
 * Scanners: chunks that need no feed
 *
 * Threads: one at a time for one scanner.
 * ========================================================================== */

/**
 * Returns which bytes change nothing where the stream now is, so that a host for which calls are expensive need not
 * call for each token. A chunk that consists only of these bytes, all of them ASCII, is text of one channel, and
 * leaves the state as it was. The host may skip such chunks, as many as come, and adds up their lengths; each of them
 * would be one event `ASIDE_KIND_TEXT` with all its bytes. It feeds the first chunk with another byte, and asks again: any
 * feed may change the bytes.
 *
 * `bytes` is a set of four numbers: byte `b` is in it if `bytes[b / 64] >> b % 64 & 1` is 1. The scanner does not know
 * of skipped chunks until `aside_scanner_skip()` has told it their total length.
 *
 * Returns the channel (`ASIDE_CHANNEL_CONTENT` and the others, 0 or above) with `bytes` filled, or `ASIDE_NOT_TEXT` if every
 * chunk has to be fed, and nothing is written: before the first byte, with bytes held back or events pending, with a
 * budget for this channel, in text that is collected, after tokens were fed, and if something is wrong.
 *
 * Memory: none is allocated.
 */
int32_t aside_scanner_quiet(const struct aside_scanner *scanner, uint64_t *bytes);

/**
 * Tells the scanner that `len` bytes were skipped, as `aside_scanner_quiet()` allows: offset and counts go on as if
 * they had been fed. Call it before any other call for this scanner, except for `aside_scanner_feed_text()` and
 * `aside_scanner_quiet()`, and for those that return what is held and take thoughts.
 *
 * Returns `ASIDE_OK`, for a `len` of 0 anywhere; `ASIDE_ERROR_ORDER` if no such chunk can have been skipped, and for
 * more bytes than any stream has; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
 * After an error nothing has changed. Only the host knows whether the bytes were in the set, and were reported as text
 * of that channel.
 *
 * Memory: none is allocated.
 */
aside_status aside_scanner_skip(struct aside_scanner *scanner, uint64_t len);

/* ========================================================================== *
 * Parts of the compressor, for hosts that choose for themselves
 *
 * Threads: any thread may call these functions at any time, with the same command line too.
 * ========================================================================== */

/**
 * The commands of a command line. It never changes. From `aside_command_line_parse()`; freed by
 * `aside_command_line_free()`.
 */
typedef struct aside_command_line aside_command_line;

/**
 * Returns whether a text is of a machine format and so passes unchanged: 1 or 0; a status below 0 if `text` cannot be
 * read.
 */
int32_t aside_is_protected(const char *text, size_t len);

/**
 * Returns the first line of a compressed text, without a line end: by which filters, from how many UTF-16 code units to
 * how many.
 *
 * The text has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
 * `aside_last_status()` is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` (an id that is not
 * UTF-8), `ASIDE_ERROR_MEMORY` or `ASIDE_ERROR_PANIC`. `*out_len` is written on success only.
 */
char *aside_format_banner(const struct aside_bytes *filter_ids,
                          size_t count,
                          uint64_t before,
                          uint64_t after,
                          size_t *out_len);

/** A command of a command line. Its texts are UTF-8. */
typedef struct aside_command {
    /** The program, without its folder and version: `git`; `pytest` of `python -m pytest`, `gradle` of `./gradlew`. */
    struct aside_bytes name;
    /**
     * The first argument that is neither an option nor an option's value: `diff` of `git -C dir diff`; the script of
     * `npm run`. Empty if there is none.
     */
    struct aside_bytes subcommand;
    /** All words after the program, without their quotes. */
    const struct aside_bytes *words;
    /** How many there are. */
    size_t word_count;
    /**
     * 1 if its output is seen. 0 for `cd` and the like, and if it goes to a file or into a program that writes
     * something of its own.
     */
    uint32_t prints;
    /** 1 if its output goes through `head`, `grep` and the like, so that it may be only a part. Otherwise 0. */
    uint32_t piped;
} aside_command;

/**
 * Parses a command line as a shell would, for hosts that choose filters by it as the library does. Nothing is run.
 * `line` has `len` bytes of UTF-8.
 *
 * Returns the commands, which the caller owns: `aside_command_line_free()`. NULL if that fails; `aside_last_status()`
 * is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH` or `ASIDE_ERROR_OPTION` (not UTF-8).
 */
struct aside_command_line *aside_command_line_parse(const char *line, size_t len);

/**
 * Returns the commands of a line, in order; for a shell with `-c` those that it runs. Wrappers (`sudo`, `timeout`,
 * `npx` …), assignments and redirections are not among them. There are none if the line is better left alone: with
 * `case`, or with shells in shells more than eight deep.
 *
 * Returns the first of `*count` commands: memory of `line`, valid as long as that is. NULL if `line` or `count` is.
 */
const struct aside_command *aside_command_line_commands(const struct aside_command_line *line, size_t *count);

/**
 * Frees a command line and its commands. Does nothing for NULL.
 *
 * Threads: no other thread may be using it.
 */
void aside_command_line_free(struct aside_command_line *line);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ASIDE_UNSTABLE_H */
