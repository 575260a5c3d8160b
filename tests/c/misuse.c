/* Passes NULL for every pointer and a wrong value for every number. Misuse must return a status, set a message and change
 * nothing. */
#include "check.h"
#include <aside_unstable.h>

#define HUGE_LEN ((size_t)-1)

static struct heard heard;

static void dialects(void)
{
    size_t len = 77, i;

    CHECK(aside_dialect_find(NULL, 0) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_dialect_find(NULL, 5) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_dialect_find("inline-think", HUGE_LEN) == NULL && aside_last_status() == ASIDE_ERROR_LENGTH);
    CHECK(aside_dialect_find("", 0) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
    CHECK(aside_dialect_find("inline-thimk", 12) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
    CHECK_SAYS("inline-thimk");
    CHECK_SAYS("inline-think");
    CHECK(aside_dialect_find("inline-think\0", 13) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
    CHECK(aside_dialect_find("\xff\xfe", 2) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);

    CHECK(aside_dialect_load(NULL, 5) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_dialect_load("", HUGE_LEN) == NULL && aside_last_status() == ASIDE_ERROR_LENGTH);
    CHECK(aside_dialect_load(NULL, 0) == NULL && aside_last_status() == ASIDE_ERROR_DIALECT);
    CHECK(aside_dialect_load("name = \"a\"\n\xff", 12) == NULL && aside_last_status() == ASIDE_ERROR_DIALECT);
    CHECK_SAYS("line 2");

    CHECK(aside_dialect_name(NULL, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL && len == 77);
    CHECK(aside_dialect_family(NULL, 0, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL && len == 77);
    CHECK(aside_dialect_opener(NULL, 0, 0, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL && len == 77);
    CHECK(aside_dialect_max_hold(NULL) == 0 && aside_last_status() == ASIDE_ERROR_NULL);
    aside_dialect_free(NULL);

    /* Freeing a built-in dialect must do nothing. */
    aside_dialect_free((aside_dialect *)(size_t)dialect_named("inline-think"));
    CHECK(strcmp(aside_dialect_name(dialect_named("inline-think"), NULL), "inline-think") == 0);

    for (i = 0; aside_dialect_name_at(i, NULL) != NULL; i++)
        ;
    CHECK(aside_dialect_name_at(i, &len) == NULL && len == 77);
    CHECK(aside_dialect_name_at(HUGE_LEN, NULL) == NULL);
}

/* Checks that each function refuses the array and writes nothing to it. */
static void no_array(aside_scanner *scanner, aside_event_array *array, aside_status status)
{
    const aside_event_array before = *array;
    const aside_token token = {1, 0};

    CHECK_STATUS(aside_scanner_feed_into(scanner, "a", 1, array), status);
    CHECK_STATUS(aside_scanner_feed_tokens_into(scanner, "a", 1, &token, 1, array), status);
    CHECK_STATUS(aside_scanner_finish_into(scanner, array), status);
    CHECK_STATUS(aside_scanner_flush_into(scanner, array), status);
    CHECK_STATUS(aside_scanner_force_close_into(scanner, array), status);
    CHECK(memcmp(&before, array, sizeof before) == 0);
}

static void scanners(void)
{
    aside_scanner *scanner = scanner_named("inline-think");
    aside_event events[4], before[4];
    uint64_t quiet[4];
    aside_event_array array;
    aside_thought thought;
    size_t size = sizeof *events;

    CHECK(aside_scanner_new(NULL, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    aside_scanner_free(NULL);
    CHECK_STATUS(aside_scanner_feed(NULL, "a", 1, listen, &heard), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_feed(scanner, NULL, 1, listen, &heard), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_feed(scanner, "a", 1, NULL, &heard), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_feed(scanner, "a", HUGE_LEN, listen, &heard), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_scanner_feed(scanner, "a", HUGE_LEN / 2 + 1, listen, &heard), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_scanner_finish(NULL, listen, &heard), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_finish(scanner, NULL, &heard), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_flush(NULL, listen, &heard), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_flush(scanner, NULL, &heard), ASIDE_ERROR_NULL);

    CHECK(aside_scanner_feed_text(NULL, "a", 1) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_feed_text(scanner, NULL, 1) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_feed_text(scanner, "a", HUGE_LEN) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_quiet(NULL, quiet) == ASIDE_NOT_TEXT);
    CHECK(aside_scanner_quiet(scanner, NULL) == ASIDE_NOT_TEXT);
    CHECK_STATUS(aside_scanner_skip(NULL, 1, 'a'), ASIDE_ERROR_NULL);

    memset(events, 0x5a, sizeof events);
    memcpy(before, events, sizeof events);
    array = array_of(events, 4);
    no_array(NULL, &array, ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_feed_into(scanner, NULL, 1, &array), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_feed_into(scanner, "a", HUGE_LEN, &array), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_scanner_feed_into(scanner, "a", 1, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_finish_into(scanner, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_flush_into(scanner, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_force_close_into(scanner, NULL), ASIDE_ERROR_NULL);
    array.events = NULL;
    no_array(scanner, &array, ASIDE_ERROR_NULL);
    array = array_of(events, 0);
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array.capacity = HUGE_LEN;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array.capacity = HUGE_LEN / size;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array = array_of(events, 4);
    array.event_size = 0;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array.event_size = 31;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array.event_size = 36;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array.event_size = HUGE_LEN;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array = array_of(events, 4);
    array.size = 0;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array.size = sizeof array - 1;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    array.size = HUGE_LEN;
    no_array(scanner, &array, ASIDE_ERROR_SIZE);
    CHECK(memcmp(events, before, sizeof events) == 0);

    CHECK_STATUS(aside_scanner_reset(NULL), ASIDE_ERROR_NULL);
    CHECK(aside_scanner_consumed(NULL) == 0 && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_scanner_held(NULL) == 0 && aside_scanner_max_hold(NULL) == 0);
    CHECK(aside_scanner_offset(NULL) == 0);

    memset(&thought, 0, sizeof thought);
    CHECK_STATUS(aside_scanner_take_thought(scanner, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_ERROR_SIZE);
    thought.size = sizeof thought - 1;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_ERROR_SIZE);
    thought.size = HUGE_LEN;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_ERROR_SIZE);
    thought.size = sizeof thought;
    CHECK_STATUS(aside_scanner_take_thought(NULL, &thought), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_NONE);

    /* The scanner must work as if the refused calls had never been made. */
    CHECK(heard.events == 0);
    feed(scanner, &heard, "<think>a</think>b", 17);
    finish(scanner, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "a") == 0 && strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "b") == 0);
    aside_scanner_free(scanner);
}

static void strips(void)
{
    const aside_dialect *dialect = dialect_named("inline-think");
    size_t len = 77;

    CHECK(aside_strip(NULL, "a", 1, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_strip(dialect, NULL, 1, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_strip(dialect, "a", 1, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_strip(dialect, "a", HUGE_LEN, &len) == NULL && aside_last_status() == ASIDE_ERROR_LENGTH);
    CHECK(len == 77);
    aside_free(NULL);
}

static void no_join(const aside_dialect *dialect, const aside_join_options *options, aside_status status)
{
    size_t len = 77;

    CHECK(aside_join(dialect, options, &len) == NULL && len == 77);
    CHECK_STATUS(aside_last_status(), status);
}

static void joins(void)
{
    const aside_dialect *dialect = dialect_named("inline-think");
    aside_join_options options, wrong;
    size_t len = 77;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.thinking = bytes_of("a");
    options.content = bytes_of("b");
    no_join(NULL, &options, ASIDE_ERROR_NULL);
    no_join(dialect, NULL, ASIDE_ERROR_NULL);
    CHECK(aside_join(dialect, &options, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    wrong = options;
    wrong.thinking.at = NULL;
    no_join(dialect, &wrong, ASIDE_ERROR_NULL);
    wrong = options;
    wrong.content.at = NULL;
    no_join(dialect, &wrong, ASIDE_ERROR_NULL);
    wrong = options;
    wrong.thinking.len = HUGE_LEN;
    no_join(dialect, &wrong, ASIDE_ERROR_LENGTH);
    wrong = options;
    wrong.content.len = HUGE_LEN;
    no_join(dialect, &wrong, ASIDE_ERROR_LENGTH);
    wrong = options;
    wrong.start = 99;
    no_join(dialect, &wrong, ASIDE_ERROR_OPTION);
    wrong.start = ASIDE_START_HEADER;
    no_join(dialect, &wrong, ASIDE_ERROR_OPTION);
    wrong = options;
    wrong.markers = 99;
    no_join(dialect, &wrong, ASIDE_ERROR_OPTION);
    CHECK(aside_escape(NULL, "a", 1, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_escape(dialect, NULL, 1, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_escape(dialect, "a", 1, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_escape(dialect, "a", HUGE_LEN, &len) == NULL && aside_last_status() == ASIDE_ERROR_LENGTH);
    CHECK(len == 77);
}

/* If a handle could not be made, the message must say why, even after another function got the NULL in its place. */
static void handles_that_were_not_made(void)
{
    size_t len;
    aside_bytes bytes;
    aside_scanner *scanner = aside_scanner_new(aside_dialect_find("inline-thimk", 12), NULL);
    aside_rewriter *sse;
    aside_dialect *dialect;

    CHECK(scanner == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK_SAYS("no dialect `inline-thimk`");
    CHECK_STATUS(aside_scanner_feed(scanner, "a", 1, listen, &heard), ASIDE_ERROR_NULL);
    CHECK(aside_scanner_clone(scanner) == NULL && aside_scanner_offset(scanner) == 0);
    CHECK_STATUS(aside_scanner_finish(scanner, listen, &heard), ASIDE_ERROR_NULL);
    aside_scanner_free(scanner);
    CHECK_SAYS("no dialect `inline-thimk`");

    sse = aside_rewriter_new(aside_dialect_find_for_model("nobody/knows-it", 15), NULL);
    CHECK(sse == NULL);
    CHECK_STATUS(aside_rewriter_feed(sse, "a", 1, &bytes), ASIDE_ERROR_NULL);
    CHECK_SAYS("nobody/knows-it");
    CHECK(aside_dialect_name(NULL, NULL) == NULL);
    CHECK_SAYS("nobody/knows-it");

    dialect = aside_dialect_load("name = 1", 8);
    CHECK(dialect == NULL && aside_last_status() == ASIDE_ERROR_DIALECT);
    CHECK(aside_strip(dialect, "a", 1, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK_SAYS("line 1, name");

    /* That reason is forgotten after another failure, and after a handle was made. */
    CHECK_STATUS(aside_scanner_feed(NULL, "a", HUGE_LEN, listen, &heard), ASIDE_ERROR_LENGTH);
    CHECK(aside_dialect_find("inline-thimk", 12) == NULL);
    scanner = scanner_named("inline-think");
    CHECK_STATUS(aside_scanner_reset(NULL), ASIDE_ERROR_NULL);
    CHECK_SAYS("scanner is NULL");
    CHECK(aside_dialect_find("inline-thimk", 12) == NULL);
    CHECK_STATUS(aside_scanner_feed(scanner, NULL, 1, listen, &heard), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_reset(NULL), ASIDE_ERROR_NULL);
    CHECK_SAYS("scanner is NULL");
    aside_scanner_free(scanner);
}

/* Every function that takes a dialect or a part of a compressor must keep that message. */
static void every_handle_that_was_not_made(void)
{
    aside_bytes bytes;
    size_t len;
    aside_join_options options;
    aside_scanner *scanner = scanner_named("inline-think");
    aside_rewriter *sse = aside_rewriter_new(aside_dialect_find("inline-think", 12), NULL);

    CHECK(sse != NULL && aside_dialect_find("inline-thimk", 12) == NULL);
#define SAYS_WHY(call)                           \
    do {                                         \
        CHECK_STATUS(call, ASIDE_ERROR_NULL);    \
        CHECK_SAYS("no dialect `inline-thimk`"); \
    } while (0)
#define MAKES_NOTHING(call) SAYS_WHY((call) == 0 ? aside_last_status() : ASIDE_OK)
    MAKES_NOTHING(aside_scanner_new(NULL, NULL));
    MAKES_NOTHING(aside_scanner_clone(NULL));
    MAKES_NOTHING(aside_rewriter_new(NULL, NULL));
    MAKES_NOTHING(aside_dialect_start(NULL));
    MAKES_NOTHING(aside_dialect_max_hold(NULL));
    MAKES_NOTHING(aside_dialect_name(NULL, &len));
    MAKES_NOTHING(aside_dialect_family(NULL, 0, &len));
    MAKES_NOTHING(aside_dialect_opener(NULL, 0, 0, &len));
    MAKES_NOTHING(aside_strip(NULL, "a", 1, &len));
    MAKES_NOTHING(aside_escape(NULL, "a", 1, &len));
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    MAKES_NOTHING(aside_join(NULL, &options, &len));
    SAYS_WHY(aside_rewriter_use_dialect(NULL, NULL, ASIDE_START_DEFAULT));
    MAKES_NOTHING(aside_scanner_new(NULL, NULL));
#undef SAYS_WHY
#define SAYS_WHY(call)                        \
    do {                                      \
        CHECK_STATUS(call, ASIDE_ERROR_NULL); \
        CHECK_SAYS("built_in is neither");    \
    } while (0)
    CHECK(aside_registry_new(7) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    SAYS_WHY(aside_registry_add_last_run(NULL, 1));
    MAKES_NOTHING(aside_compressor_new(NULL, NULL));
    MAKES_NOTHING(aside_compress(NULL, NULL, NULL, 0));
    MAKES_NOTHING(aside_tool_stream_new(NULL, NULL, 4096));
    SAYS_WHY(aside_tool_stream_feed(NULL, "a", 1, &bytes));
    SAYS_WHY(aside_compressed_part(NULL, 0, &bytes));
    MAKES_NOTHING(aside_tool_stream_report(NULL));
#undef SAYS_WHY
#undef MAKES_NOTHING
    aside_scanner_free(scanner);
    aside_rewriter_free(sse);
}

int main(void)
{
    int status;

    /* Nothing has failed yet. */
    CHECK(aside_last_status() == ASIDE_OK && strcmp(aside_last_error(), "") == 0);
    dialects();
    scanners();
    strips();
    handles_that_were_not_made();
    every_handle_that_was_not_made();
    joins();

    /* A call that succeeds must not change the last message. */
    CHECK(aside_last_status() == ASIDE_ERROR_LENGTH);
    CHECK(aside_dialect_name_at(0, NULL) != NULL && aside_dialect_name_at(HUGE_LEN, NULL) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_LENGTH && strcmp(aside_last_error(), "") != 0);

    for (status = -2000; status < 100; status++)
        CHECK(aside_status_text(status) != NULL && *aside_status_text(status) != 0);
    CHECK(strcmp(aside_status_text(-5), aside_status_text(12345)) == 0);
    CHECK(strcmp(aside_status_text(ASIDE_ERROR_BUSY), aside_status_text(12345)) != 0);
    return 0;
}
