/* Functions that do nothing, with the arguments of those that feed: the cost of a call through a shared library. And two that
 * hand over an event of the whole chunk, and read neither it nor their arguments: the rest is the scanner's. For
 * the benches alone; libaside has none of them. */
#ifndef ASIDE_BENCHES_EMPTY_H
#define ASIDE_BENCHES_EMPTY_H

#include <aside.h>

int32_t empty_feed(aside_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user);
int32_t empty_feed_text(aside_scanner *scanner, const char *buf, size_t len);
int32_t empty_feed_into(aside_scanner *scanner, const char *buf, size_t len, aside_event_array *array);

int32_t event_feed(aside_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user);
int32_t event_feed_into(aside_scanner *scanner, const char *buf, size_t len, aside_event_array *array);

/* A scanner of `minimal.c`. All zero: at the start of a stream. */
typedef struct {
    uint64_t offset;
    uint32_t state;
    uint32_t held_len;
    uint32_t is_cut;
    char held[8];
} minimal_scanner;

int32_t minimal_feed(minimal_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user);
int32_t minimal_finish(minimal_scanner *scanner, aside_event_fn callback, void *user);

#endif
