/* Functions that do nothing, with the arguments of libaside's feeding functions, to measure the cost of a call into a shared
 * library. Two more report an event of the whole chunk without reading it; further costs are the scanner's. These functions are
 * only for the benches. */
#ifndef ASIDE_BENCHES_EMPTY_H
#define ASIDE_BENCHES_EMPTY_H

#include <aside.h>

int32_t empty_feed(aside_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user);
int32_t empty_feed_text(aside_scanner *scanner, const char *buf, size_t len);
int32_t empty_feed_into(aside_scanner *scanner, const char *buf, size_t len, aside_event_array *array);

int32_t event_feed(aside_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user);
int32_t event_feed_into(aside_scanner *scanner, const char *buf, size_t len, aside_event_array *array);

/* The scanner of `minimal.c`. If all fields are 0, it is at the start of a stream. */
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
