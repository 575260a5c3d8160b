/* A panic must not leave the library. It must become a status, which this scanner and no other returns from then on. This test
 * needs a library with the cargo feature `panic-hook`. */
#include "check.h"
#include <aside_unstable.h>

/* No header declares this function, because no release has it. */
aside_status aside_test_panic(aside_scanner *scanner);

int main(void)
{
    static struct heard heard;
    aside_scanner *scanner = scanner_named("inline-think"), *other = scanner_named("inline-think");
    aside_event events[2];
    aside_event_array array = array_of(events, 2);
    aside_attribute attribute;
    aside_thought thought;
    uint64_t quiet[4];

    feed(scanner, &heard, "<think>a", 8);
    feed(other, &heard, "", 0);
    CHECK_STATUS(aside_test_panic(NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_test_panic(scanner), ASIDE_ERROR_PANIC);
    CHECK_SAYS("asked for");
    CHECK_STATUS(aside_scanner_feed(scanner, "b", 1, listen, &heard), ASIDE_ERROR_PANIC);
    CHECK(aside_scanner_feed_text(scanner, "b", 1) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_NOT_TEXT);
    CHECK_STATUS(aside_scanner_skip(scanner, 1, 'a'), ASIDE_ERROR_PANIC);
    CHECK_STATUS(aside_scanner_finish(scanner, listen, &heard), ASIDE_ERROR_PANIC);
    CHECK_STATUS(aside_scanner_flush(scanner, listen, &heard), ASIDE_ERROR_PANIC);
    CHECK_STATUS(aside_scanner_feed_into(scanner, "b", 1, &array), ASIDE_ERROR_PANIC);
    CHECK_STATUS(aside_scanner_finish_into(scanner, &array), ASIDE_ERROR_PANIC);
    CHECK_STATUS(aside_scanner_flush_into(scanner, &array), ASIDE_ERROR_PANIC);
    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_ERROR_PANIC);
    CHECK_STATUS(aside_scanner_feed(scanner, "b", 1, listen, &heard), ASIDE_ERROR_PANIC);
    thought.size = sizeof thought;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_ERROR_PANIC);
    attribute.size = sizeof attribute;
    CHECK_STATUS(aside_scanner_thought_attribute(scanner, 0, &attribute), ASIDE_ERROR_PANIC);
    CHECK(aside_scanner_consumed(scanner) == 0 && aside_last_status() == ASIDE_ERROR_PANIC);
    CHECK(aside_scanner_held(scanner) == 0 && aside_scanner_offset(scanner) == 0);
    aside_scanner_free(scanner);

    memset(&heard, 0, sizeof heard);
    feed(other, &heard, "<think>c</think>d", 17);
    finish(other, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "c") == 0 && strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "d") == 0);
    aside_scanner_free(other);
    return 0;
}
