/* The functions of empty.h, in a shared library of their own, so that no compiler can inline them. */
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

int32_t empty_feed_into(aside_scanner *scanner, const char *buf, size_t len, aside_event *events, size_t capacity,
                        size_t event_size, aside_fed *out)
{
    (void)scanner, (void)buf, (void)len, (void)events, (void)capacity, (void)event_size, (void)out;
    return 0;
}

int32_t event_feed(aside_scanner *scanner, const char *buf, size_t len, aside_event_fn callback, void *user)
{
    aside_event event = {.kind = ASIDE_KIND_TEXT, .channel = ASIDE_CHANNEL_THINKING, .len = len};

    (void)scanner;
    return callback(user, &event, buf);
}

int32_t event_feed_into(aside_scanner *scanner, const char *buf, size_t len, aside_event *events, size_t capacity,
                        size_t event_size, aside_fed *out)
{
    (void)scanner, (void)buf, (void)capacity, (void)event_size;
    *events = (aside_event){.kind = ASIDE_KIND_TEXT, .channel = ASIDE_CHANNEL_THINKING, .len = len};
    *out = (aside_fed){.count = 1, .consumed = len, .held = "", .attributes = ""};
    return 0;
}
