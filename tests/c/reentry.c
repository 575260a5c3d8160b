/* A callback must not call into the scanner that feeds it: each such call must be refused, and the stream must continue as if it
 * had not been made. */
#include "check.h"
#include <aside_unstable.h>

static aside_scanner *scanner, *other;
static struct heard heard, heard_other;
static int calls;

static int32_t meddle(void *user, const aside_event *event, const char *bytes)
{
    aside_event events[2];
    aside_event_array array = array_of(events, 2);
    aside_attribute attribute;
    aside_thought thought;
    aside_counts counts;
    aside_token token = {1, 0};
    uint32_t start = 99;
    uint64_t quiet[4];

    calls++;
    CHECK_STATUS(aside_scanner_feed(scanner, "x", 1, listen, user), ASIDE_ERROR_BUSY);
    CHECK(aside_scanner_feed_text(scanner, "x", 1) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_NOT_TEXT);
    CHECK_STATUS(aside_scanner_skip(scanner, 1, 'a'), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_finish(scanner, listen, user), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_flush(scanner, listen, user), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_feed_into(scanner, "x", 1, &array), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_finish_into(scanner, &array), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_flush_into(scanner, &array), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_feed_tokens(scanner, "x", 1, &token, 1, listen, user), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_feed_tokens_into(scanner, "x", 1, &token, 1, &array), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_force_close(scanner, listen, user), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_force_close_into(scanner, &array), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, "x", 1, &start), ASIDE_ERROR_BUSY);
    CHECK(start == 99);
    CHECK(aside_scanner_clone(scanner) == NULL && aside_last_status() == ASIDE_ERROR_BUSY);
    counts.size = sizeof counts;
    CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_CONTENT, &counts), ASIDE_ERROR_BUSY);
    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_ERROR_BUSY);
    thought.size = sizeof thought;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_ERROR_BUSY);
    attribute.size = sizeof attribute;
    CHECK_STATUS(aside_scanner_thought_attribute(scanner, 0, &attribute), ASIDE_ERROR_BUSY);

    /* Functions that return a number must return 0 and set a message. */
    CHECK(aside_dialect_find("no such one", 11) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
    CHECK(aside_scanner_consumed(scanner) == 0 && aside_last_status() == ASIDE_ERROR_BUSY);
    CHECK(aside_scanner_held(scanner) == 0 && aside_scanner_max_hold(scanner) == 0);
    CHECK(aside_scanner_offset(scanner) == 0);

    /* Nothing is freed. */
    CHECK(aside_dialect_find("no such one", 11) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
    aside_scanner_free(scanner);
    CHECK(aside_last_status() == ASIDE_ERROR_BUSY);

    /* Another scanner may be used. */
    if (event->kind != ASIDE_KIND_ATTRIBUTE)
        feed(other, &heard_other, bytes, (size_t)event->len);

    hear((struct heard *)user, event, bytes);
    return 0;
}

int main(void)
{
    static const char text[] = "<think>a</think>b<thin";

    scanner = scanner_named("inline-think");
    other = scanner_named("inline-think");
    CHECK_STATUS(aside_scanner_feed(scanner, text, strlen(text), meddle, &heard), ASIDE_OK);
    CHECK_STATUS(aside_scanner_flush(scanner, meddle, &heard), ASIDE_OK);
    CHECK_STATUS(aside_scanner_feed(scanner, "<think>", 7, meddle, &heard), ASIDE_OK);
    CHECK_STATUS(aside_scanner_finish(scanner, meddle, &heard), ASIDE_OK);
    finish(other, &heard_other);
    CHECK(calls >= 4);
    CHECK(strcmp(heard.all, "<think>a</think>b<thin<think>") == 0);
    CHECK(heard_same(&heard_other, &heard));
    aside_scanner_free(scanner);
    aside_scanner_free(other);
    return 0;
}
