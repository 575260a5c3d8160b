/* Tests event arrays for programs with an older or a newer header: the library must fill a smaller struct up to its size, and zero
 * the rest of a larger one. Text of which a part was held back must still be one event. */
#include "check.h"

/* Not const, because gcc 12 miscompiles a memcmp at a variable offset in a constant array. */
static char text[] = "<thinking a='1' bc=\"&lt;\">x</thinking>y";

/* Feeds `text` into an array whose entries have `size` bytes: an aside_event that is truncated or extended to that size. */
static void play(size_t size)
{
    static unsigned char room[16][4096];
    unsigned char *raw = &room[0][0];
    aside_scanner *scanner = scanner_named("thought-stream");
    aside_event event;
    aside_event_array array = array_of((aside_event *)(void *)room, 16);
    size_t i, at;

    memset(room, 0xee, sizeof room);
    array.event_size = size;
    CHECK_STATUS(aside_scanner_feed_into(scanner, text, strlen(text), &array), ASIDE_OK);
    CHECK(array.count >= 6 && array.count <= 16 && array.consumed == strlen(text));
    for (i = 0; i < array.count; i++) {
        unsigned char *entry = raw + i * size;

        memset(&event, 0, sizeof event);
        memcpy(&event, entry, size < sizeof event ? size : sizeof event);
        CHECK(event.kind >= ASIDE_KIND_OPEN && event.kind <= ASIDE_KIND_CLOSE);
        for (at = sizeof event; at < size; at++)
            CHECK(entry[at] == 0);
        if (event.kind == ASIDE_KIND_ATTRIBUTE && size >= sizeof event) {
            const char *name = array.attributes.at + event.text_at;

            CHECK(event.offset == 0 && event.len == 0);
            CHECK(memcmp(&text[event.raw_name_at], name, event.raw_name_len) == 0);
            CHECK(event.raw_name_len == event.name_len);
            if (event.name_len == 1)
                CHECK(memcmp(name, "a1", 2) == 0 && text[event.raw_value_at] == '1' && event.raw_value_len == 1);
            else
                CHECK(memcmp(name, "bc<", 3) == 0 && memcmp(&text[event.raw_value_at], "&lt;", 4) == 0);
        }
    }
    /* Nothing may be written after the events. */
    for (at = array.count * size; at < array.count * size + 64; at++)
        CHECK(raw[at] == 0xee);
    aside_scanner_free(scanner);
}

/* Counts the events, all of which must be text. */
static int32_t count(void *user, const aside_event *event, const char *bytes)
{
    CHECK(event->kind == ASIDE_KIND_TEXT && bytes[0] != 0);
    ++*(int *)user;
    return 0;
}

/* Feeds a chunk after a held `<` that turns out not to begin a marker. A short chunk must become one text event together with the
 * `<`. Of a long chunk, only the first byte may join the `<`, because the reader of an array has to copy such a text. `most` is the
 * number of entries in the array. */
static void behind_held(size_t len, size_t most, size_t wanted)
{
    static char chunk[1000];
    aside_scanner *scanner = scanner_named("qwen3");
    aside_event events[4];
    aside_event_array array = array_of(events, most);
    size_t at, told = 0, done = 0;
    int calls = 0;

    memset(chunk, 'e', sizeof chunk);
    for (at = 0; at < 2; at++)
        CHECK_STATUS(aside_scanner_feed(scanner, "a <", 3, count, &calls), ASIDE_OK);
    CHECK(calls == 2);
    do {
        aside_status status = aside_scanner_feed_into(scanner, chunk + done, len - done, &array);

        CHECK(status == ASIDE_MORE || (status == ASIDE_OK && done + array.consumed == len));
        for (at = 0; at < array.count; at++) {
            uint64_t end = events[at].offset + events[at].len;

            CHECK(events[at].kind == ASIDE_KIND_TEXT && events[at].offset == (told > 0 ? 7 : 5));
            CHECK(end == 6 + len || (wanted == 2 && end == 7));
            told++;
        }
        done += array.consumed;
    } while (done < len);
    CHECK(told == wanted);

    calls = 0;
    CHECK_STATUS(aside_scanner_feed(scanner, "<", 1, count, &calls), ASIDE_OK);
    CHECK_STATUS(aside_scanner_feed(scanner, chunk, len, count, &calls), ASIDE_OK);
    CHECK(calls == (len > 16 ? 2 : 1) && aside_scanner_consumed(scanner) == len);
    aside_scanner_free(scanner);
}

/* Passes aside_event_array structs of other versions: unknown fields of a larger struct must be zero, and a smaller struct is
 * refused. */
static void versions(void)
{
    struct {
        aside_event_array array;
        unsigned char later[24];
    } newer;
    aside_event events[2];
    aside_scanner *scanner = scanner_named("qwen3");
    size_t at;

    memset(&newer, 0, sizeof newer);
    newer.array = array_of(events, 2);
    newer.array.size = sizeof newer;
    CHECK_STATUS(aside_scanner_feed_into(scanner, "a<", 2, &newer.array), ASIDE_OK);
    CHECK(newer.array.count == 1 && newer.array.consumed == 2 && newer.array.size == sizeof newer);
    CHECK_STATUS(aside_scanner_feed_into(scanner, "b", 1, &newer.array), ASIDE_OK);
    CHECK(newer.array.count == 1 && events[0].len == 2 && newer.array.held.len == 1 && *newer.array.held.at == '<');
    for (at = 0; at < sizeof newer.later; at++)
        CHECK(newer.later[at] == 0);
    newer.later[0] = 1;
    CHECK_STATUS(aside_scanner_feed_into(scanner, "c", 1, &newer.array), ASIDE_ERROR_OPTION);
    CHECK(newer.array.count == 1 && aside_scanner_offset(scanner) == 3);
    newer.array.size = sizeof newer.array - 1;
    CHECK_STATUS(aside_scanner_feed_into(scanner, "c", 1, &newer.array), ASIDE_ERROR_SIZE);
    newer.array.size = sizeof newer.array;
    CHECK_STATUS(aside_scanner_feed_into(scanner, "c", 1, &newer.array), ASIDE_OK);
    aside_scanner_free(scanner);
}

int main(void)
{
    size_t most;

    versions();

    for (most = 1; most <= 3; most++) {
        behind_held(1, most, 1);
        behind_held(16, most, 1);
        behind_held(17, most, 2);
        behind_held(1000, most, 2);
    }
    play(sizeof(aside_event));
    play(32);
    play(40);
    play(72);
    play(96);
    play(104);
    play(4096);
    return 0;
}
