/* No stream may affect the next one: tests empty feeds, finish, flush, reset, and a pause with nothing left to feed. */
#include "check.h"
#include <aside_unstable.h>

static struct heard heard;

static void clear(void) { memset(&heard, 0, sizeof heard); }

static int32_t ignore(void *user, const aside_event *event, const char *bytes)
{
    (void)user, (void)event, (void)bytes;
    return 0;
}

/* Tests the cheapest function, aside_scanner_feed_text(), which accepts plain text only. */
static void takes_text_alone(void)
{
    aside_scanner *scanner = scanner_named("qwen3");

    CHECK(aside_scanner_feed_text(scanner, "a", 1) == ASIDE_NOT_TEXT);
    CHECK_STATUS(aside_scanner_feed(scanner, "<think>\nhm", 10, ignore, NULL), ASIDE_OK);
    CHECK(aside_scanner_feed_text(scanner, "wide: \xe6\x97\xa5, and more than sixteen bytes", 38) == ASIDE_CHANNEL_THINKING);
    CHECK(aside_scanner_offset(scanner) == 48 && aside_scanner_consumed(scanner) == 38);
    CHECK(aside_scanner_feed_text(scanner, "", 0) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_feed_text(scanner, "\xe6\x97", 2) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_feed_text(scanner, "a</th", 5) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_offset(scanner) == 48);
    CHECK_STATUS(aside_scanner_feed(scanner, "</think>\n\nYes", 13, ignore, NULL), ASIDE_OK);
    CHECK(aside_scanner_feed_text(scanner, ", no", 4) == ASIDE_CHANNEL_CONTENT);
    aside_scanner_free(scanner);
}

static int in_set(const uint64_t bytes[4], char byte)
{
    return (bytes[(unsigned char)byte / 64] >> (unsigned char)byte % 64 & 1) != 0;
}

/* Bytes that cannot change the scanner's state are skipped, and counted afterwards. */
static void skips_what_is_quiet(void)
{
    aside_scanner *scanner = scanner_named("inline-think");
    uint64_t quiet[4], untouched[4];
    aside_counts counts = {sizeof counts, 0, 0, 0, 0, 0};

    memset(quiet, 0x5a, sizeof quiet);
    memcpy(untouched, quiet, sizeof quiet);
    CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_NOT_TEXT);
    CHECK_STATUS(aside_scanner_skip(scanner, 1, 'a'), ASIDE_ERROR_ORDER);
    CHECK_STATUS(aside_scanner_skip(scanner, 0, 'a'), ASIDE_OK);
    CHECK_STATUS(aside_scanner_feed(scanner, "<think>a", 8, ignore, NULL), ASIDE_OK);
    CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_CHANNEL_THINKING);
    CHECK(in_set(quiet, 'a') && in_set(quiet, ' ') && !in_set(quiet, '<') && !in_set(quiet, '\xc3'));
    CHECK_STATUS(aside_scanner_skip(scanner, 5, 'a'), ASIDE_OK);
    CHECK_STATUS(aside_scanner_skip(scanner, UINT64_MAX, 'a'), ASIDE_ERROR_ORDER);
    CHECK(aside_scanner_offset(scanner) == 13);
    CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_THINKING, &counts), ASIDE_OK);
    CHECK(counts.bytes == 6 && counts.characters == 6);

    CHECK(aside_scanner_feed_text(scanner, "\xc3\xa9", 2) == ASIDE_CHANNEL_THINKING);
    CHECK_STATUS(aside_scanner_skip(scanner, 3, 'a'), ASIDE_OK);
    CHECK(aside_scanner_offset(scanner) == 18);

    /* While a byte is held back, no byte may be skipped. */
    CHECK_STATUS(aside_scanner_feed(scanner, "<", 1, ignore, NULL), ASIDE_OK);
    memcpy(quiet, untouched, sizeof quiet);
    CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_NOT_TEXT && memcmp(quiet, untouched, sizeof quiet) == 0);
    CHECK_STATUS(aside_scanner_skip(scanner, 1, 'a'), ASIDE_ERROR_ORDER);
    CHECK_STATUS(aside_scanner_skip(scanner, 0, 'a'), ASIDE_OK);
    CHECK_STATUS(aside_scanner_feed(scanner, "/think>b", 8, ignore, NULL), ASIDE_OK);
    CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_CHANNEL_CONTENT && in_set(quiet, '<'));
    aside_scanner_free(scanner);
}

int main(void)
{
    aside_scanner *scanner = scanner_named("inline-think");
    aside_event events[8];
    aside_event_array array = array_of(events, 8);

    /* An empty stream has no events, and empty feeds change nothing. */
    CHECK_STATUS(aside_scanner_finish(scanner, listen, &heard), ASIDE_OK);
    CHECK_STATUS(aside_scanner_feed(scanner, NULL, 0, listen, &heard), ASIDE_OK);
    CHECK_STATUS(aside_scanner_feed(scanner, "", 0, listen, &heard), ASIDE_OK);
    CHECK_STATUS(aside_scanner_flush(scanner, listen, &heard), ASIDE_OK);
    CHECK_STATUS(aside_scanner_finish(scanner, listen, &heard), ASIDE_OK);
    CHECK(heard.events == 0);
    CHECK_STATUS(aside_scanner_feed_into(scanner, NULL, 0, &array), ASIDE_OK);
    CHECK(array.count == 0 && array.consumed == 0 && array.offset == 0 && array.held.len == 0 && array.attributes.len == 0);

    /* The held bytes are flushed as text, so the rest of the marker is text too. */
    feed(scanner, &heard, "<thi", 4);
    CHECK(heard.events == 0 && aside_scanner_held(scanner) == 4 && aside_scanner_offset(scanner) == 4);
    CHECK_STATUS(aside_scanner_flush(scanner, listen, &heard), ASIDE_OK);
    CHECK(aside_scanner_held(scanner) == 0 && strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "<thi") == 0);
    feed(scanner, &heard, "nk>x", 4);
    finish(scanner, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "<think>x") == 0);

    /* The same with an array. */
    clear();
    CHECK_STATUS(aside_scanner_feed_into(scanner, "<think>a</thin", 14, &array), ASIDE_OK);
    CHECK(array.offset == 0 && array.consumed == 14 && array.held.len == 0);
    hear_array(&heard, &array, "<think>a</thin");
    CHECK_STATUS(aside_scanner_flush_into(scanner, &array), ASIDE_OK);
    CHECK(array.count == 1 && array.offset == 14 && array.consumed == 0);
    CHECK(array.held.len == 6 && memcmp(array.held.at, "</thin", 6) == 0);
    hear_array(&heard, &array, "");
    CHECK_STATUS(aside_scanner_finish_into(scanner, &array), ASIDE_OK);
    hear_array(&heard, &array, "");
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "a</thin") == 0);
    CHECK(strcmp(heard.spans, "(1)2") == 0);
    CHECK(events[0].kind == ASIDE_KIND_CLOSE && events[0].cause == ASIDE_CAUSE_END_OF_STREAM && events[0].offset == 14);

    /* After finish, a new stream begins at offset 0, and a thought may begin it again. */
    clear();
    feed(scanner, &heard, "<think>b</think>c", 17);
    finish(scanner, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "b") == 0 && strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "c") == 0);
    CHECK(strcmp(heard.spans, "(1)0") == 0);

    /* Reset must drop held bytes and close open spans. */
    clear();
    feed(scanner, &heard, "<think>d</thi", 13);
    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_OK);
    CHECK(aside_scanner_held(scanner) == 0 && aside_scanner_offset(scanner) == 0);
    CHECK(aside_scanner_consumed(scanner) == 0);
    clear();
    feed(scanner, &heard, "e", 1);
    finish(scanner, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "e") == 0 && heard.spans_len == 0);

    /* The listener pauses at the end of the chunk while events are pending. An empty feed must deliver them, and so must finish. */
    clear();
    heard.stop = 1;
    CHECK_STATUS(aside_scanner_feed(scanner, "<think>f</think>", 16, listen, &heard), ASIDE_STOPPED);
    CHECK(aside_scanner_consumed(scanner) <= 16);
    {
        size_t at = aside_scanner_consumed(scanner);

        while (aside_scanner_feed(scanner, &"<think>f</think>"[at], 16 - at, listen, &heard) == ASIDE_STOPPED)
            at += aside_scanner_consumed(scanner);
    }
    CHECK(strcmp(heard.spans, "(1)0") == 0);

    /* The finish is not complete yet: only finish and reset are allowed. */
    clear();
    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_OK);
    heard.stop = 0;
    feed(scanner, &heard, "<think>g</", 10);
    heard.stop = 1;
    CHECK_STATUS(aside_scanner_finish(scanner, listen, &heard), ASIDE_STOPPED);
    CHECK_STATUS(aside_scanner_feed(scanner, "x", 1, listen, &heard), ASIDE_ERROR_ORDER);
    CHECK_SAYS("half-way");
    CHECK_STATUS(aside_scanner_feed_into(scanner, "x", 1, &array), ASIDE_ERROR_ORDER);
    heard.stop = 0;
    CHECK_STATUS(aside_scanner_finish(scanner, listen, &heard), ASIDE_OK);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "g</") == 0 && strcmp(heard.spans, "(1)2") == 0);
    feed(scanner, &heard, "<think>g</", 0);
    feed(scanner, &heard, "", 0);

    heard.stop = 1;
    clear();
    feed(scanner, &heard, "<think>h</", 10);
    heard.stop = 1;
    CHECK_STATUS(aside_scanner_finish(scanner, listen, &heard), ASIDE_STOPPED);
    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_OK);
    clear();
    feed(scanner, &heard, "i", 1);
    finish(scanner, &heard);
    CHECK(strcmp(heard.all, "i") == 0);

    aside_scanner_free(scanner);
    takes_text_alone();
    skips_what_is_quiet();
    return 0;
}
