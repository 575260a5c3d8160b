/* A scanner with minimal cost, written by hand for one pair of markers, `<think>` and `</think>`. Like libaside's scanner, it
 * reports events, holds bytes back that may still become a marker, and never cuts a character in an event. It has no dialects,
 * tokens, budgets, counts, stops or errors. BENCHMARKS.md shows its figures as a limit for libaside's. */
#include "empty.h"

#include <string.h>

enum { LEAD, THINKING, CONTENT };
enum { SHORT_CHUNK = 16 };

static const char *const markers[] = {"<think>", "</think>"};

static int32_t tell(minimal_scanner *scanner, uint32_t kind, size_t len, const char *bytes, aside_event_fn callback,
                    void *user)
{
    aside_event event = {.kind = kind,
                         .channel = scanner->state == THINKING ? ASIDE_CHANNEL_THINKING : ASIDE_CHANNEL_CONTENT,
                         .offset = scanner->offset,
                         .len = len};

    scanner->offset += len;
    return callback(user, &event, bytes);
}

static int is_blank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/* Returns how many bytes at the end belong to a character that is not complete yet. */
static size_t cut(const char *buf, size_t len)
{
    for (size_t back = 1; back <= len && back <= 3; back++) {
        unsigned char byte = (unsigned char)buf[len - back];
        if (byte < 0x80)
            return 0;
        if (byte >= 0xC0)
            return back < (byte >= 0xF0 ? 4u : byte >= 0xE0 ? 3u : 2u) ? back : 0;
    }
    return 0;
}

/* Returns the index of the first `<`, or `len`. */
static size_t find_opener(const char *buf, size_t len)
{
    if (len >= SHORT_CHUNK) {
        const char *found = memchr(buf, '<', len);
        return found != NULL ? (size_t)(found - buf) : len;
    }
    for (size_t at = 0; at < len; at++)
        if (buf[at] == '<')
            return at;
    return len;
}

/* Handles the rare cases: a marker, a part of a marker, a cut character, blanks at the start. */
static int32_t feed_slowly(minimal_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user)
{
    size_t from = 0;

    for (size_t at = 0; at < len;) {
        const char *marker = markers[scanner->state == THINKING];
        char byte = buf[at];

        if (scanner->is_cut) {
            if (((unsigned char)byte & 0xC0) == 0x80 && scanner->held_len < 4) {
                scanner->held[scanner->held_len++] = byte;
                from = ++at;
                if (cut(scanner->held, scanner->held_len) > 0)
                    continue;
            }
            tell(scanner, ASIDE_KIND_TEXT, scanner->held_len, scanner->held, callback, user);
            scanner->held_len = scanner->is_cut = 0;
            if (scanner->state == THINKING)
                at += find_opener(buf + at, len - at);
            continue;
        }
        if (scanner->state != CONTENT && (byte | (byte >= 'A' && byte <= 'Z' ? 0x20 : 0)) == marker[scanner->held_len]) {
            if (scanner->held_len == 0 && at > from)
                tell(scanner, ASIDE_KIND_TEXT, at - from, buf + from, callback, user);
            scanner->held[scanner->held_len++] = byte;
            from = ++at;
            if (marker[scanner->held_len] == '\0') {
                if (scanner->state == LEAD)
                    scanner->state = THINKING;
                tell(scanner, marker == markers[0] ? ASIDE_KIND_OPEN : ASIDE_KIND_CLOSE, scanner->held_len, scanner->held,
                     callback, user);
                if (marker == markers[1])
                    scanner->state = CONTENT;
                scanner->held_len = 0;
            }
            continue;
        }
        if (scanner->held_len > 0) {
            tell(scanner, ASIDE_KIND_TEXT, scanner->held_len, scanner->held, callback, user);
            scanner->held_len = 0;
            if (scanner->state == LEAD)
                scanner->state = CONTENT;
            continue;
        }
        if (scanner->state == LEAD && !is_blank(byte))
            scanner->state = CONTENT;
        if (scanner->state == CONTENT)
            break;
        at++;
        if (scanner->state == THINKING)
            at += find_opener(buf + at, len - at);
    }
    if (scanner->held_len == 0 && from < len) {
        size_t held = cut(buf + from, len - from);
        if (len - held > from)
            tell(scanner, ASIDE_KIND_TEXT, len - held - from, buf + from, callback, user);
        memcpy(scanner->held, buf + len - held, held);
        scanner->held_len = (uint32_t)held;
        scanner->is_cut = held > 0;
    }
    return 0;
}

int32_t minimal_feed(minimal_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user)
{
    if (scanner->state == LEAD || scanner->held_len > 0 || (unsigned char)buf[len - 1] >= 0x80
        || (scanner->state == THINKING && find_opener(buf, len) < len))
        return feed_slowly(scanner, buf, len, callback, user);
    return tell(scanner, ASIDE_KIND_TEXT, len, buf, callback, user);
}

int32_t minimal_finish(minimal_scanner *scanner, aside_event_fn callback, void *user)
{
    return scanner->held_len > 0 ? tell(scanner, ASIDE_KIND_TEXT, scanner->held_len, scanner->held, callback, user) : 0;
}
