/* The events must be the same however a text is cut, whichever function feeds it, and wherever the listener pauses. */
#include "check.h"
#include "texts.h"

static struct heard whole, heard;

/* Feeds `len` bytes with one of the feeding functions, in two pieces, or byte by byte if `cut` is greater than `len`. */
static void play(aside_scanner *scanner, const char *text, size_t len, size_t cut, int way)
{
    static const size_t capacities[] = {0, 0, 1, 2, 64};
    size_t capacity = capacities[way];
    size_t at, next;

    memset(&heard, 0, sizeof heard);
    heard.stop = way == 1;
    for (at = 0; at < len; at = next) {
        next = cut > len ? at + 1 : at < cut ? cut : len;
        if (capacity > 0)
            feed_into(scanner, &heard, text + at, next - at, capacity);
        else
            feed(scanner, &heard, text + at, next - at);
        CHECK(aside_scanner_held(scanner) <= aside_scanner_max_hold(scanner));
        CHECK(aside_scanner_offset(scanner) == next);
        CHECK(heard.all_len + aside_scanner_held(scanner) == next);
    }
    if (capacity > 0)
        finish_into(scanner, &heard, capacity);
    else
        finish(scanner, &heard);
}

int main(void)
{
    size_t i, cut;
    int way;

    for (i = 0; i < TEXTS; i++) {
        size_t len = strlen(texts[i].text);
        aside_scanner *scanner = scanner_named(texts[i].dialect);

        /* One scanner is enough, because each finish resets it. */
        play(scanner, texts[i].text, len, len, 0);
        whole = heard;
        CHECK(whole.all_len == len && memcmp(whole.all, texts[i].text, len) == 0);
        CHECK(strcmp(whole.text[ASIDE_CHANNEL_CONTENT], texts[i].content) == 0);
        CHECK(strcmp(whole.text[ASIDE_CHANNEL_THINKING], texts[i].thinking) == 0);
        for (way = 0; way < 5; way++)
            for (cut = 0; cut <= len + 1; cut++) {
                play(scanner, texts[i].text, len, cut, way);
                CHECK(heard_same(&heard, &whole));
                CHECK(aside_scanner_offset(scanner) == 0 && aside_scanner_held(scanner) == 0);
            }
        aside_scanner_free(scanner);
    }
    return 0;
}
