/* The functions of empty.h, in a separate shared library, so that no compiler can inline them. */
#include "empty.h"

int32_t empty_feed(aside_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user)
{
    (void)scanner, (void)buf, (void)len, (void)callback, (void)user;
    return 0;
}

int32_t empty_feed_text(aside_scanner *scanner, const char *buf, size_t len)
{
    (void)scanner, (void)buf, (void)len;
    return 0;
}

int32_t empty_feed_into(aside_scanner *scanner, const char *buf, size_t len, aside_event_array *array)
{
    (void)scanner, (void)buf, (void)len, (void)array;
    return 0;
}

int32_t event_feed(aside_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user)
{
    aside_event event = {.kind = ASIDE_KIND_TEXT, .channel = ASIDE_CHANNEL_THINKING, .len = len};

    (void)scanner;
    return callback(user, &event, buf);
}

int32_t event_feed_into(aside_scanner *scanner, const char *buf, size_t len, aside_event_array *array)
{
    (void)scanner, (void)buf;
    *array->events = (aside_event){.kind = ASIDE_KIND_TEXT, .channel = ASIDE_CHANNEL_THINKING, .len = len};
    array->count = 1;
    array->consumed = len;
    array->held = array->attributes = (aside_bytes){.at = "", .len = 0};
    return 0;
}
