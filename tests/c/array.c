/* Event arrays for programs with an older or a newer header: the library must fill a smaller struct as far as it goes, and zero
 * the rest of a larger one. And text of which a part was held back is still one event. */
#include "check.h"

/* Not const: gcc 12 folds a memcmp at a variable place in a constant wrongly. */
static char text[] = "<thinking a='1' bc=\"&lt;\">x</thinking>y";

/* Feeds `text` into entries of `size` bytes, which are laid out as an aside_event that is cut or continued. */
static void play(size_t size)
{
    static unsigned char array[16][4096];
    unsigned char *raw = &array[0][0];
    aside_scanner *scanner = scanner_named("thought-stream");
    aside_event event;
    aside_fed fed;
    size_t i, at;

    memset(array, 0xee, sizeof array);
    CHECK_STATUS(aside_scanner_feed_into(scanner, text, strlen(text), (aside_event *)(void *)array, 16, size, &fed),
                 ASIDE_OK);
    CHECK(fed.count >= 6 && fed.count <= 16 && fed.consumed == strlen(text));
    for (i = 0; i < fed.count; i++) {
        unsigned char *entry = raw + i * size;

        memset(&event, 0, sizeof event);
        memcpy(&event, entry, size < sizeof event ? size : sizeof event);
        CHECK(event.kind >= ASIDE_KIND_OPEN && event.kind <= ASIDE_KIND_CLOSE);
        for (at = sizeof event; at < size; at++)
            CHECK(entry[at] == 0);
        if (event.kind == ASIDE_KIND_ATTRIBUTE && size >= sizeof event) {
            const char *name = fed.attributes + event.text_at;

            CHECK(event.offset == 0 && event.len == 0);
            CHECK(memcmp(&text[event.raw_name_at], name, event.raw_name_len) == 0);
            CHECK(event.raw_name_len == event.name_len);
            if (event.name_len == 1)
                CHECK(memcmp(name, "a1", 2) == 0 && text[event.raw_value_at] == '1' && event.raw_value_len == 1);
            else
                CHECK(memcmp(name, "bc<", 3) == 0 && memcmp(&text[event.raw_value_at], "&lt;", 4) == 0);
        }
    }
    /* Nothing is written after the events. */
    for (at = fed.count * size; at < fed.count * size + 64; at++)
        CHECK(raw[at] == 0xee);
    aside_scanner_free(scanner);
}

/* Counts the events, of which none is a marker's. */
static int32_t count(void *user, const aside_event *event, const char *bytes)
{
    CHECK(event->kind == ASIDE_KIND_TEXT && bytes[0] != 0);
    ++*(int *)user;
    return 0;
}

/* After a `<` that comes to nothing: a short chunk is one text with it. Of a long one, only the byte that decides is, as
 * readers of arrays have to copy such a text. `most`: entries of the array. */
static void behind_held(size_t len, size_t most, size_t wanted)
{
    static char chunk[1000];
    aside_scanner *scanner = scanner_named("qwen3");
    aside_event events[4];
    aside_fed fed;
    size_t at, told = 0, done = 0;
    int calls = 0;

    memset(chunk, 'e', sizeof chunk);
    for (at = 0; at < 2; at++)
        CHECK_STATUS(aside_scanner_feed(scanner, "a <", 3, count, &calls), ASIDE_OK);
    CHECK(calls == 2);
    do {
        aside_status status = aside_scanner_feed_into(scanner, chunk + done, len - done, events, most, sizeof events[0],
                                                      &fed);

        CHECK(status == ASIDE_MORE || (status == ASIDE_OK && done + fed.consumed == len));
        for (at = 0; at < fed.count; at++) {
            uint64_t end = events[at].offset + events[at].len;

            CHECK(events[at].kind == ASIDE_KIND_TEXT && events[at].offset == (told > 0 ? 7 : 5));
            CHECK(end == 6 + len || (wanted == 2 && end == 7));
            told++;
        }
        done += fed.consumed;
    } while (done < len);
    CHECK(told == wanted);

    calls = 0;
    CHECK_STATUS(aside_scanner_feed(scanner, "<", 1, count, &calls), ASIDE_OK);
    CHECK_STATUS(aside_scanner_feed(scanner, chunk, len, count, &calls), ASIDE_OK);
    CHECK(calls == (len > 16 ? 2 : 1) && aside_scanner_consumed(scanner) == len);
    aside_scanner_free(scanner);
}

int main(void)
{
    size_t most;

    for (most = 1; most <= 3; most++) {
        behind_held(1, most, 1);
        behind_held(16, most, 1);
        behind_held(17, most, 2);
        behind_held(1000, most, 2);
    }
    play(sizeof(aside_event));
    play(32);
    play(40);
    play(96);
    /* No multiple of anything: entries are copied byte by byte. */
    play(33);
    play(101);
    play(4096);
    return 0;
}
