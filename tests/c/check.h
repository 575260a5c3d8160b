/* Helpers of the C tests: checks that also work with NDEBUG, and a listener that joins the events of a stream. */
#ifndef CHECK_H
#define CHECK_H

#include <aside.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                                  \
    do {                                                                                                                  \
        if (!(condition)) {                                                                                               \
            fprintf(stderr, "%s:%d: not so: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, aside_last_error()); \
            exit(1);                                                                                                      \
        }                                                                                                                 \
    } while (0)

/* Checks that a call returns this status, and after a failure, that the thread's last status is the same and has a message. */
#define CHECK_STATUS(call, expected)                                                                         \
    do {                                                                                                     \
        aside_status check_status = (call);                                                                  \
        if (check_status != (expected)) {                                                                    \
            fprintf(stderr, "%s:%d: %s gave %d (%s), not %s\n  last error: %s\n", __FILE__, __LINE__, #call, \
                    (int)check_status, aside_status_text(check_status), #expected, aside_last_error());      \
            exit(1);                                                                                         \
        }                                                                                                    \
        CHECK(check_status >= 0 || (aside_last_status() == check_status && *aside_last_error() != 0));       \
    } while (0)

/* Checks that the message of this thread's last failure contains this text. */
#define CHECK_SAYS(part) CHECK(strstr(aside_last_error(), part) != NULL)

/* Returns whether a borrowed pointer is a real address, which it must be even for zero bytes. NULL and made-up addresses are in the
 * first page of memory. */
static inline int is_address(const void *at) { return (size_t)at >= 4096; }

#define HEARD_MAX 16384

/* The events of one stream as a listener received them. */
struct heard {
    char text[4][HEARD_MAX]; /* by channel */
    size_t text_len[4];
    char all[HEARD_MAX]; /* every byte, in order */
    size_t all_len;
    /* "(1" for an open thinking span, ")0" for a close by its marker, "name=value;"; for calls "{", its number and that of its
     * table, a letter and the bytes of each word, "}", its number and its cause. Values are text of their channel. */
    char spans[HEARD_MAX];
    size_t spans_len;
    unsigned long events;
    unsigned long attributes;
    uint64_t tokens; /* that began in the events */
    int stop;        /* pause at each event */
};

static inline void heard_add(char *to, size_t *len, const char *bytes, size_t count)
{
    CHECK(*len + count < HEARD_MAX);
    memcpy(to + *len, bytes, count);
    *len += count;
    to[*len] = 0;
}

static inline void hear(struct heard *heard, const aside_event *event, const char *bytes)
{
    char mark[3];

    CHECK(bytes != NULL);
    CHECK(event->channel <= ASIDE_CHANNEL_TOOL);
    heard->events++;
    CHECK(event->first_token == heard->tokens);
    heard->tokens += event->tokens;
    if (event->kind == ASIDE_KIND_ATTRIBUTE) {
        heard->attributes++;
        CHECK(event->len == 0);
        heard_add(heard->spans, &heard->spans_len, bytes, event->name_len);
        heard_add(heard->spans, &heard->spans_len, "=", 1);
        heard_add(heard->spans, &heard->spans_len, bytes + event->name_len, event->value_len);
        heard_add(heard->spans, &heard->spans_len, ";", 1);
        /* In all dialects of these tests, a value is written in the marker as it is or escaped, which makes it longer. */
        CHECK(event->raw_value_len >= event->value_len);
        return;
    }
    CHECK(event->offset == heard->all_len);
    if (event->kind == ASIDE_KIND_CALL_NAME && event->value_len > 0) {
        CHECK(event->len == 0);
        heard_add(heard->spans, &heard->spans_len, "n", 1);
        heard_add(heard->spans, &heard->spans_len, bytes, event->value_len);
        return;
    }
    heard_add(heard->all, &heard->all_len, bytes, (size_t)event->len);
    switch (event->kind) {
    case ASIDE_KIND_TEXT:
        CHECK(event->len > 0);
        heard_add(heard->text[event->channel], &heard->text_len[event->channel], bytes, (size_t)event->len);
        break;
    case ASIDE_KIND_OPEN:
    case ASIDE_KIND_CLOSE:
        mark[0] = event->kind == ASIDE_KIND_OPEN ? '(' : ')';
        mark[1] = (char)('0' + (event->kind == ASIDE_KIND_OPEN ? event->channel : event->cause));
        heard_add(heard->spans, &heard->spans_len, mark, 2);
        break;
    case ASIDE_KIND_RECLASSIFY:
        /* The content so far becomes thinking. No span precedes it in these tests, so all of it does. */
        heard_add(heard->text[ASIDE_CHANNEL_THINKING], &heard->text_len[ASIDE_CHANNEL_THINKING],
                  heard->text[ASIDE_CHANNEL_CONTENT], heard->text_len[ASIDE_CHANNEL_CONTENT]);
        memset(heard->text[ASIDE_CHANNEL_CONTENT], 0, heard->text_len[ASIDE_CHANNEL_CONTENT]);
        heard->text_len[ASIDE_CHANNEL_CONTENT] = 0;
        /* fall through */
    case ASIDE_KIND_BUDGET:
        CHECK(event->len == 0);
        heard_add(heard->spans, &heard->spans_len, event->kind == ASIDE_KIND_BUDGET ? "!" : "<", 1);
        break;
    case ASIDE_KIND_CALL_VALUE:
        CHECK(event->len > 0);
        heard_add(heard->text[event->channel], &heard->text_len[event->channel], bytes, (size_t)event->len);
        break;
    case ASIDE_KIND_CALL:
    case ASIDE_KIND_CALL_END:
        mark[0] = event->kind == ASIDE_KIND_CALL ? '{' : '}';
        mark[1] = (char)('0' + event->call);
        mark[2] = (char)('0' + (event->kind == ASIDE_KIND_CALL ? event->tag : event->cause));
        heard_add(heard->spans, &heard->spans_len, mark, 3);
        break;
    case ASIDE_KIND_CALL_NAME:
    case ASIDE_KIND_CALL_ID:
    case ASIDE_KIND_CALL_KEY:
    case ASIDE_KIND_CALL_TYPE:
    case ASIDE_KIND_CALL_VALUE_END:
        mark[0] = "nikt e"[event->kind - ASIDE_KIND_CALL_NAME];
        heard_add(heard->spans, &heard->spans_len, mark, 1);
        if (event->kind != ASIDE_KIND_CALL_VALUE_END)
            heard_add(heard->spans, &heard->spans_len, bytes, (size_t)event->len);
        break;
    default: CHECK(event->kind == ASIDE_KIND_FRAMING);
    }
}

/* An aside_event_fn; `user` is a struct heard. */
static inline int32_t listen(void *user, const aside_event *event, const char *bytes)
{
    struct heard *heard = (struct heard *)user;

    hear(heard, event, bytes);
    return heard->stop ? 7 : 0;
}

/* Returns an array with room for this many events. */
static inline aside_event_array array_of(aside_event *events, size_t capacity)
{
    aside_event_array array;

    memset(&array, 0, sizeof array);
    array.size = sizeof array;
    array.events = events;
    array.event_size = sizeof *events;
    array.capacity = capacity;
    return array;
}

static inline aside_bytes bytes_of(const char *text)
{
    aside_bytes bytes;

    bytes.at = text;
    bytes.len = strlen(text);
    return bytes;
}

/* Adds the events of an array to what was heard. `buf` is the input. */
static inline void hear_array(struct heard *heard, const aside_event_array *array, const char *buf)
{
    static char bytes[HEARD_MAX];
    size_t i, at;

    CHECK(array->held.at != NULL && array->attributes.at != NULL);
    for (i = 0; i < array->count; i++) {
        const aside_event *event = &array->events[i];

        if (event->kind == ASIDE_KIND_ATTRIBUTE || (event->kind == ASIDE_KIND_CALL_NAME && event->value_len > 0)) {
            CHECK((size_t)event->text_at + event->name_len + event->value_len <= array->attributes.len);
            hear(heard, event, array->attributes.at + event->text_at);
            continue;
        }
        CHECK(event->len < sizeof bytes);
        for (at = 0; at < event->len; at++) {
            uint64_t offset = event->offset + at;

            if (offset >= array->offset) {
                CHECK(offset - array->offset < array->consumed);
                bytes[at] = buf[offset - array->offset];
            } else {
                CHECK(array->offset - offset <= array->held.len);
                bytes[at] = array->held.at[array->held.len - (array->offset - offset)];
            }
        }
        hear(heard, event, bytes);
    }
}

static inline int heard_same(const struct heard *a, const struct heard *b)
{
    int channel, same = strcmp(a->spans, b->spans) == 0;

    same &= a->all_len == b->all_len && memcmp(a->all, b->all, a->all_len) == 0;
    for (channel = 0; channel < 4; channel++)
        same &= a->text_len[channel] == b->text_len[channel]
                && memcmp(a->text[channel], b->text[channel], a->text_len[channel]) == 0;
    if (!same)
        fprintf(stderr, "heard [%s] [%s] [%s], not [%s] [%s] [%s]\n", a->text[0], a->text[1], a->spans, b->text[0],
                b->text[1], b->spans);
    return same;
}

static inline const aside_dialect *dialect_named(const char *name)
{
    const aside_dialect *dialect = aside_dialect_find(name, strlen(name));

    CHECK(dialect != NULL);
    return dialect;
}

static inline aside_scanner *scanner_named(const char *name)
{
    aside_scanner *scanner = aside_scanner_new(dialect_named(name), NULL);

    CHECK(scanner != NULL);
    return scanner;
}

/* Feeds `buf` with a callback, and continues after each pause. */
static inline void feed(aside_scanner *scanner, struct heard *heard, const char *buf, size_t len)
{
    aside_status status;

    for (;;) {
        unsigned long before = heard->events;
        size_t consumed;

        status = aside_scanner_feed(scanner, buf, len, listen, heard);
        consumed = aside_scanner_consumed(scanner);
        CHECK(consumed <= len);
        if (status == ASIDE_OK) {
            CHECK(consumed == len);
            return;
        }
        CHECK_STATUS(status, ASIDE_STOPPED);
        CHECK(heard->stop && heard->events == before + 1);
        buf += consumed;
        len -= consumed;
    }
}

static inline void finish(aside_scanner *scanner, struct heard *heard)
{
    aside_status status;

    while ((status = aside_scanner_finish(scanner, listen, heard)) != ASIDE_OK) {
        CHECK_STATUS(status, ASIDE_STOPPED);
        CHECK(heard->stop);
        /* The finish is not complete yet, so a feed must be refused and change nothing. */
        CHECK_STATUS(aside_scanner_feed(scanner, "x", 1, listen, heard), ASIDE_ERROR_ORDER);
    }
}

/* Does the same with an array of `capacity` events. */
static inline void feed_into(aside_scanner *scanner, struct heard *heard, const char *buf, size_t len, size_t capacity)
{
    static aside_event events[64];
    aside_event_array array = array_of(events, capacity);
    aside_status status;

    do {
        status = aside_scanner_feed_into(scanner, buf, len, &array);
        CHECK(status == ASIDE_OK || status == ASIDE_MORE);
        CHECK(array.count <= capacity && array.consumed <= len);
        CHECK(array.consumed == aside_scanner_consumed(scanner));
        CHECK(array.offset + array.consumed == aside_scanner_offset(scanner));
        hear_array(heard, &array, buf);
        buf += array.consumed;
        len -= array.consumed;
    } while (status == ASIDE_MORE);
    CHECK(len == 0);
}

static inline void finish_into(aside_scanner *scanner, struct heard *heard, size_t capacity)
{
    static aside_event events[64];
    aside_event_array array = array_of(events, capacity);
    aside_status status;

    do {
        status = aside_scanner_finish_into(scanner, &array);
        CHECK(status == ASIDE_OK || status == ASIDE_MORE);
        CHECK(array.count <= capacity && array.consumed == 0);
        hear_array(heard, &array, "");
    } while (status == ASIDE_MORE);
}

#endif
