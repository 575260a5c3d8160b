/* Combines work that would otherwise need several cgo calls into one. The state is in C's memory, so that the chunk is the
 * only Go memory passed to a call and cgo has no pointers to check. No function of this file may keep the chunk or call
 * back into Go. */
#ifndef ASIDE_GO_BRIDGE_H
#define ASIDE_GO_BRIDGE_H

#include <aside_unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASIDE_GO_EVENTS = 32, ASIDE_GO_MESSAGE = 256 };

/* aside_go_feed() returns ASIDE_GO_TEXT + channel if the whole chunk is text of that channel. */
enum { ASIDE_GO_TEXT = 64 };

typedef struct aside_go {
    aside_scanner *scanner;
    uint64_t offset; /* of the next byte to be fed */
    /* The bytes that Go need not feed: a chunk of these bytes only is text of that channel. The set is empty if every chunk
     * must be fed. passed counts the skipped bytes that were not yet reported to the scanner. */
    uint64_t quiet[4];
    uint64_t passed;
    uint8_t last; /* the last of those bytes */
    uint32_t channel;
    size_t holds; /* bytes held back */
    aside_event_array array;
    aside_counts counts;
    char message[ASIDE_GO_MESSAGE];
    aside_event events[ASIDE_GO_EVENTS];
} aside_go;

static inline void aside_go_free(aside_go *go)
{
    aside_scanner_free(go->scanner);
    free(go);
}

/* Updates the set of bytes that Go need not feed. */
static inline void aside_go_look(aside_go *go)
{
    int32_t channel = aside_scanner_quiet(go->scanner, go->quiet);

    if (channel == ASIDE_NOT_TEXT)
        memset(go->quiet, 0, sizeof go->quiet);
    else
        go->channel = (uint32_t)channel;
}

/* Tells the scanner to skip the bytes that Go did not feed, and returns the scanner. Every call must begin with this, except those
 * that aside_scanner_skip() lists. */
static inline aside_scanner *aside_go_synced(aside_go *go)
{
    if (go->passed > 0)
        aside_scanner_skip(go->scanner, go->passed, go->last);
    go->passed = 0;
    return go->scanner;
}

/* Copies the scanner's state after a call that may have changed it. */
static inline void aside_go_note(aside_go *go)
{
    aside_go_look(go);
    go->offset = aside_scanner_offset(go->scanner);
    go->holds = aside_scanner_held(go->scanner);
}

/* Takes ownership of a new scanner. NULL means that the scanner could not be made. */
static inline aside_status aside_go_own(aside_scanner *scanner, aside_go **out)
{
    aside_go *go;

    ASIDE_VERSION_SYMBOL(); /* with a library older than the header, this does not link */
    if (scanner == NULL)
        return aside_last_status();
    go = calloc(1, sizeof *go);
    if (go == NULL) {
        aside_scanner_free(scanner);
        return ASIDE_ERROR_MEMORY;
    }
    go->scanner = scanner;
    go->array.size = sizeof go->array;
    go->array.events = go->events;
    go->array.event_size = sizeof *go->events;
    go->array.capacity = ASIDE_GO_EVENTS;
    *out = go;
    aside_go_note(go);
    return ASIDE_OK;
}

static inline aside_status aside_go_new(const aside_dialect *dialect, const aside_scanner_options *options, aside_go **out)
{
    return aside_go_own(aside_scanner_new(dialect, options), out);
}

/* Copies the events too, because some may be pending. The clone must not use memory borrowed from the original scanner. */
static inline aside_status aside_go_clone(aside_go *go, aside_go **out)
{
    aside_status status = aside_go_own(aside_scanner_clone(aside_go_synced(go)), out);

    if (status == ASIDE_OK)
        memcpy((*out)->events, go->events, sizeof go->events);
    return status;
}

/* Copies the message of a failure. The message belongs to the thread, and the goroutine may be on a different thread at the
 * next cgo call. */
static inline aside_status aside_go_settle(char message[ASIDE_GO_MESSAGE], aside_status status)
{
    if (status < 0)
        snprintf(message, ASIDE_GO_MESSAGE, "%s", aside_last_error());
    return status;
}

static inline aside_status aside_go_fed(aside_go *go, aside_status status)
{
    aside_go_settle(go->message, status); /* before a further call can replace the message */
    aside_go_note(go);
    return status;
}

static inline aside_status aside_go_feed_events(aside_go *go, const char *buf, size_t len)
{
    return aside_go_fed(go, aside_scanner_feed_into(aside_go_synced(go), buf, len, &go->array));
}

/* Tries the common case first, in the same cgo call. The handle is a number, because cgo would follow a pointer. */
static inline int32_t aside_go_feed(uintptr_t handle, const char *buf, size_t len)
{
    aside_go *go = (aside_go *)handle;
    int32_t channel = aside_scanner_feed_text(aside_go_synced(go), buf, len);

    if (channel == ASIDE_NOT_TEXT)
        return aside_go_feed_events(go, buf, len);
    aside_go_look(go);
    go->offset += len;
    return ASIDE_GO_TEXT + channel;
}

static inline aside_status aside_go_feed_tokens(aside_go *go, const char *buf, size_t len, const aside_token *tokens,
                                                size_t count)
{
    return aside_go_fed(go, aside_scanner_feed_tokens_into(aside_go_synced(go), buf, len, tokens, count, &go->array));
}

static inline aside_status aside_go_finish(aside_go *go)
{
    return aside_go_fed(go, aside_scanner_finish_into(aside_go_synced(go), &go->array));
}

static inline aside_status aside_go_flush(aside_go *go)
{
    return aside_go_fed(go, aside_scanner_flush_into(aside_go_synced(go), &go->array));
}

static inline aside_status aside_go_force_close(aside_go *go)
{
    return aside_go_fed(go, aside_scanner_force_close_into(aside_go_synced(go), &go->array));
}

static inline aside_status aside_go_start_from_prompt(aside_go *go, const char *tail, size_t len, uint32_t *start)
{
    return aside_go_fed(go, aside_scanner_start_from_prompt(aside_go_synced(go), tail, len, start));
}

static inline aside_status aside_go_start(aside_go *go, uint32_t *start, uint32_t *is_guessed)
{
    return aside_go_settle(go->message, aside_scanner_start(aside_go_synced(go), start, is_guessed));
}

static inline aside_status aside_go_end_reason(aside_go *go, uint32_t reason)
{
    return aside_go_settle(go->message, aside_scanner_end_reason(aside_go_synced(go), reason));
}

static inline aside_status aside_go_counts(aside_go *go, uint32_t channel)
{
    go->counts.size = sizeof go->counts;
    return aside_go_settle(go->message, aside_scanner_counts(aside_go_synced(go), channel, &go->counts));
}

static inline aside_status aside_go_reset(aside_go *go)
{
    return aside_go_fed(go, aside_scanner_reset(aside_go_synced(go)));
}

/* The state of an answer. */
typedef struct aside_go_answer {
    aside_answer *answer;
    const aside_part *parts; /* of the last call */
    size_t count;
    size_t holds; /* bytes held back */
    char message[ASIDE_GO_MESSAGE];
} aside_go_answer;

static inline void aside_go_answer_free(aside_go_answer *go)
{
    aside_answer_free(go->answer);
    free(go);
}

static inline aside_status aside_go_answer_new(const aside_dialect *dialect, const aside_answer_options *options,
                                               aside_go_answer **out)
{
    aside_go_answer *go = calloc(1, sizeof *go);

    ASIDE_VERSION_SYMBOL();
    if (go == NULL)
        return ASIDE_ERROR_MEMORY;
    go->answer = aside_answer_new(dialect, options);
    if (go->answer == NULL) {
        free(go);
        return aside_last_status();
    }
    *out = go;
    return ASIDE_OK;
}

static inline aside_status aside_go_answer_read(aside_go_answer *go, aside_status status)
{
    aside_go_settle(go->message, status); /* before a further call can replace the message */
    go->holds = aside_answer_held(go->answer);
    return status;
}

static inline aside_status aside_go_answer_feed(aside_go_answer *go, const char *buf, size_t len)
{
    return aside_go_answer_read(go, aside_answer_feed(go->answer, buf, len, &go->parts, &go->count));
}

static inline aside_status aside_go_answer_feed_tokens(aside_go_answer *go, const char *buf, size_t len,
                                                       const aside_token *tokens, size_t token_count)
{
    return aside_go_answer_read(go,
                                aside_answer_feed_tokens(go->answer, buf, len, tokens, token_count, &go->parts, &go->count));
}

static inline aside_status aside_go_answer_flush(aside_go_answer *go)
{
    return aside_go_answer_read(go, aside_answer_flush(go->answer, &go->parts, &go->count));
}

static inline aside_status aside_go_answer_force_close(aside_go_answer *go)
{
    return aside_go_answer_read(go, aside_answer_force_close(go->answer, &go->parts, &go->count));
}

static inline aside_status aside_go_answer_finish(aside_go_answer *go, uint32_t reason)
{
    return aside_go_answer_read(go, aside_answer_finish(go->answer, reason, &go->parts, &go->count));
}

static inline aside_status aside_go_answer_reset(aside_go_answer *go)
{
    return aside_go_settle(go->message, aside_answer_reset(go->answer));
}

static inline aside_status aside_go_answer_counts(aside_go_answer *go, uint32_t channel, aside_counts *counts)
{
    counts->size = sizeof *counts;
    return aside_go_settle(go->message, aside_answer_counts(go->answer, channel, counts));
}

static inline aside_status aside_go_answer_use_tools(aside_go_answer *go, const char *tools, size_t len)
{
    return aside_go_settle(go->message, aside_answer_use_tools(go->answer, tools, len));
}

static inline aside_status aside_go_answer_start_from_prompt(aside_go_answer *go, const char *tail, size_t len,
                                                             uint32_t *start)
{
    return aside_go_settle(go->message, aside_answer_start_from_prompt(go->answer, tail, len, start));
}

/* The state of a rewriter. */
typedef struct aside_go_rewriter {
    aside_rewriter *rewriter;
    aside_bytes out;
    char message[ASIDE_GO_MESSAGE];
} aside_go_rewriter;

static inline void aside_go_rewriter_free(aside_go_rewriter *go)
{
    aside_rewriter_free(go->rewriter);
    free(go);
}

static inline aside_status aside_go_rewriter_new(const aside_dialect *dialect, const aside_rewriter_options *options,
                                                 aside_go_rewriter **out)
{
    aside_go_rewriter *go = calloc(1, sizeof *go);

    ASIDE_VERSION_SYMBOL();
    if (go == NULL)
        return ASIDE_ERROR_MEMORY;
    go->rewriter = aside_rewriter_new(dialect, options);
    if (go->rewriter == NULL) {
        free(go);
        return aside_last_status();
    }
    *out = go;
    return ASIDE_OK;
}

static inline aside_status aside_go_rewriter_feed(aside_go_rewriter *go, const char *buf, size_t len)
{
    return aside_go_settle(go->message, aside_rewriter_feed(go->rewriter, buf, len, &go->out));
}

static inline aside_status aside_go_rewriter_finish(aside_go_rewriter *go)
{
    return aside_go_settle(go->message, aside_rewriter_finish(go->rewriter, &go->out));
}

static inline aside_status aside_go_rewriter_reset(aside_go_rewriter *go)
{
    return aside_go_settle(go->message, aside_rewriter_reset(go->rewriter));
}

static inline aside_status aside_go_rewriter_use_dialect(aside_go_rewriter *go, const aside_dialect *dialect, uint32_t start)
{
    return aside_go_settle(go->message, aside_rewriter_use_dialect(go->rewriter, dialect, start));
}

static inline aside_status aside_go_rewriter_stats(aside_go_rewriter *go, aside_rewriter_stats *stats)
{
    stats->size = sizeof *stats;
    return aside_go_settle(go->message, aside_rewriter_get_stats(go->rewriter, stats));
}

static inline aside_status aside_go_rewriter_use_tools(aside_go_rewriter *go, const char *tools, size_t len)
{
    return aside_go_settle(go->message, aside_rewriter_use_tools(go->rewriter, tools, len));
}

static inline aside_status aside_go_rewriter_start_from_prompt(aside_go_rewriter *go, const char *tail, size_t len,
                                                               uint32_t *start)
{
    return aside_go_settle(go->message, aside_rewriter_start_from_prompt(go->rewriter, tail, len, start));
}

/* Checks a range. Go makes the slice itself, because the slice would be a pointer into Go's memory. */
static inline aside_status aside_go_slice(const aside_compressed *compressed, size_t part, const char *original,
                                          size_t original_len, uint64_t start, uint64_t len)
{
    aside_bytes slice;

    return aside_compressed_slice(compressed, part, original, original_len, start, len, &slice);
}

/* Filters and caches of the host, and the call that a thread is inside; see compress.c. */
uintptr_t aside_go_inside(uintptr_t call);
aside_compressor *aside_go_compressor_new(const aside_registry *registry, aside_compressor_options options, uintptr_t count);
aside_status aside_go_add_filter(aside_registry *registry, aside_bytes id, const aside_bytes *tool_ids, size_t count,
                                 uintptr_t user);
aside_status aside_go_add_cache(aside_registry *registry, aside_bytes id, const aside_bytes *tool_ids, size_t count,
                                uintptr_t user);

#endif
