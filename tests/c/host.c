/* Tests the functions that a host calls besides feeding: budgets, forced closes, tokens, counts, clones. They must do the same with
 * callbacks and with arrays. */
#include "check.h"
#include <aside_unstable.h>

static const char special[] =
    "name = \"special\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\nclose = [\"</think>\"]\nspecial = true\n";
static const char late[] = "name = \"late\"\nstray_close = \"reclassify\"\n"
                           "[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\nclose = [\"</think>\"]\n";

static struct heard heard;

static aside_dialect *loaded(const char *toml)
{
    aside_dialect *dialect = aside_dialect_load(toml, strlen(toml));
    CHECK(dialect != NULL);
    return dialect;
}

static aside_scanner_options budget(uint64_t limit, uint32_t unit, uint32_t scope)
{
    aside_scanner_options options;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.budget = limit;
    options.has_budget = 1;
    options.budget_unit = unit;
    options.budget_scope = scope;
    return options;
}

static void check_budget(aside_scanner_options options, const char *spans)
{
    static const char text[] = "<think>\xC3\xA9\xC3\xA9x</think>a<think>bc</think>";
    size_t step, at;

    /* The text has two blocks of thinking, and inline-think allows only one. */
    for (step = 1; step < sizeof text; step++) {
        aside_scanner *scanner = aside_scanner_new(dialect_named("thinking-tags"), &options);

        CHECK(scanner != NULL);
        memset(&heard, 0, sizeof heard);
        for (at = 0; at + 1 < sizeof text; at += step) {
            size_t len = sizeof text - 1 - at < step ? sizeof text - 1 - at : step;

            if (step % 2)
                feed(scanner, &heard, text + at, len);
            else
                feed_into(scanner, &heard, text + at, len, 1);
        }
        finish(scanner, &heard);
        if (strcmp(heard.spans, spans) != 0)
            fprintf(stderr, "%s\n", heard.spans);
        CHECK(strcmp(heard.spans, spans) == 0);
        CHECK(strcmp(heard.all, text) == 0);
        aside_scanner_free(scanner);
    }
}

static void budgets(void)
{
    aside_scanner_options options;

    check_budget(budget(5, ASIDE_BUDGET_UNIT_BYTES, ASIDE_BUDGET_SCOPE_SPAN), "(1)0(1)0");
    check_budget(budget(4, ASIDE_BUDGET_UNIT_BYTES, ASIDE_BUDGET_SCOPE_SPAN), "(1!)0(1)0");
    check_budget(budget(1, ASIDE_BUDGET_UNIT_CHARACTERS, ASIDE_BUDGET_SCOPE_SPAN), "(1!)0(1!)0");
    check_budget(budget(4, ASIDE_BUDGET_UNIT_CHARACTERS, ASIDE_BUDGET_SCOPE_STREAM), "(1)0(1!)0");
    check_budget(budget(0, ASIDE_BUDGET_UNIT_BYTES, ASIDE_BUDGET_SCOPE_STREAM), "(1!)0(1)0");

    options = budget(1, 2, ASIDE_BUDGET_SCOPE_SPAN);
    CHECK(aside_scanner_new(dialect_named("qwen3"), &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("budget_unit");
    options = budget(1, ASIDE_BUDGET_UNIT_BYTES, 2);
    CHECK(aside_scanner_new(dialect_named("qwen3"), &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("budget_scope");
    options = budget(1, ASIDE_BUDGET_UNIT_BYTES, ASIDE_BUDGET_SCOPE_SPAN);
    options.has_budget = 0;
    CHECK(aside_scanner_new(dialect_named("qwen3"), &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("has_budget");
    options.has_budget = 2;
    CHECK(aside_scanner_new(dialect_named("qwen3"), &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
}

static void force(void)
{
    static const char text[] = "<think>ab</thi";
    aside_event events[8];
    aside_event_array array = array_of(events, 8);
    int into, stop;

    for (into = 0; into < 2; into++) {
        for (stop = 0; stop < 2; stop++) {
            aside_scanner *scanner = scanner_named("inline-think");
            aside_status status;

            memset(&heard, 0, sizeof heard);
            heard.stop = stop;
            feed(scanner, &heard, text, strlen(text));
            CHECK(aside_scanner_held(scanner) == 5);
            do {
                if (into) {
                    array.capacity = stop ? 1 : 8;
                    status = aside_scanner_force_close_into(scanner, &array);
                    hear_array(&heard, &array, "");
                    CHECK(status == ASIDE_OK || (stop && status == ASIDE_MORE));
                } else {
                    status = aside_scanner_force_close(scanner, listen, &heard);
                    CHECK(status == ASIDE_OK || (stop && status == ASIDE_STOPPED));
                }
            } while (status != ASIDE_OK);
            feed(scanner, &heard, " </think>c", 10);
            finish(scanner, &heard);
            CHECK(strcmp(heard.spans, "(1)3") == 0);
            CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "ab</thi") == 0);
            CHECK(strcmp(heard.text[ASIDE_CHANNEL_CONTENT], " c") == 0);
            /* No span is open, so nothing happens. */
            CHECK_STATUS(aside_scanner_force_close(scanner, listen, &heard), ASIDE_OK);
            aside_scanner_free(scanner);
        }
    }
    CHECK_STATUS(aside_scanner_force_close(NULL, listen, &heard), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_force_close_into(NULL, &array), ASIDE_ERROR_NULL);
}

static void reclassify(void)
{
    aside_dialect *dialect = loaded(late);
    aside_scanner *scanner = aside_scanner_new(dialect, NULL);
    aside_counts counts;

    CHECK(scanner != NULL);
    memset(&heard, 0, sizeof heard);
    feed_into(scanner, &heard, "hm</thi", 7, 1);
    feed_into(scanner, &heard, "nk>yes", 6, 1);
    CHECK(strcmp(heard.spans, "<") == 0);
    counts.size = sizeof counts;
    CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_THINKING, &counts), ASIDE_OK);
    CHECK(counts.bytes == 2 && counts.spans == 1);
    CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_CONTENT, &counts), ASIDE_OK);
    CHECK(counts.bytes == 3 && counts.spans == 0);
    aside_scanner_free(scanner);
    aside_dialect_free(dialect);
}

/* Tests both options for a stray closer: text, for a model that does not think, and drop, for a prompt that has ended the
 * thinking. */
static void stray_close(void)
{
    static const struct {
        aside_stray_close what;
        const char *content;
    } cases[] = {{ASIDE_STRAY_CLOSE_TEXT, "hm</think>yes"}, {ASIDE_STRAY_CLOSE_DROP, "hmyes"}};
    aside_dialect *dialect = loaded(late);
    aside_scanner_options options;
    aside_scanner *scanner;
    size_t at;

    for (at = 0; at < sizeof cases / sizeof *cases; at++) {
        memset(&options, 0, sizeof options);
        options.size = sizeof options;
        options.stray_close = cases[at].what;
        scanner = aside_scanner_new(dialect, &options);
        CHECK(scanner != NULL);
        memset(&heard, 0, sizeof heard);
        feed_into(scanner, &heard, "hm</thi", 7, 1);
        feed_into(scanner, &heard, "nk>yes", 6, 1);
        CHECK(strcmp(heard.spans, "") == 0 && strcmp(heard.text[ASIDE_CHANNEL_CONTENT], cases[at].content) == 0);
        aside_scanner_free(scanner);
    }
    aside_dialect_free(dialect);
}

/* The start inside the thinking is only a guess in this stream. */
static void guessed_start(void)
{
    aside_scanner *scanner = aside_scanner_new(dialect_named("qwen3-thinking"), NULL);
    aside_start start;
    aside_counts counts;
    uint32_t is_guessed, reason;

    CHECK_STATUS(aside_scanner_start(scanner, &start, &is_guessed), ASIDE_OK);
    CHECK(start == ASIDE_START_THINKING && is_guessed == 1);
    counts.size = sizeof counts;
    for (reason = ASIDE_END_REASON_UNKNOWN; reason <= ASIDE_END_REASON_CUT_OFF; reason++) {
        const int is_answer = reason == ASIDE_END_REASON_ENDED;

        memset(&heard, 0, sizeof heard);
        CHECK_STATUS(aside_scanner_end_reason(scanner, reason), ASIDE_OK);
        feed(scanner, &heard, "Yes.", 4);
        finish(scanner, &heard);
        CHECK(strcmp(heard.spans, is_answer ? "(1<)2" : "(1)2") == 0);
        CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_CONTENT, &counts), ASIDE_OK);
        CHECK(counts.bytes == (is_answer ? 4 : 0));
    }
    /* The reason holds for one stream only. */
    memset(&heard, 0, sizeof heard);
    CHECK_STATUS(aside_scanner_end_reason(scanner, ASIDE_END_REASON_ENDED), ASIDE_OK);
    finish(scanner, &heard);
    feed(scanner, &heard, "Yes.", 4);
    finish(scanner, &heard);
    CHECK(strcmp(heard.spans, "(1)2") == 0);
    CHECK_STATUS(aside_scanner_end_reason(scanner, 3), ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_scanner_end_reason(NULL, ASIDE_END_REASON_ENDED), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_start(NULL, &start, &is_guessed), ASIDE_ERROR_NULL);

    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, "<think>\n", 8, NULL), ASIDE_OK);
    CHECK_STATUS(aside_scanner_start(scanner, NULL, NULL), ASIDE_OK);
    CHECK_STATUS(aside_scanner_start(scanner, &start, &is_guessed), ASIDE_OK);
    CHECK(start == ASIDE_START_THINKING && is_guessed == 0);
    aside_scanner_free(scanner);
}

static void tokens(void)
{
    static const char text[] = "a <think>b<think>c";
    const aside_token list[] = {{2, 0}, {3, 0}, {4, 0}, {1, 0}, {7, 1}, {1, 0}};
    const size_t all = sizeof list / sizeof *list;
    aside_dialect *dialect = loaded(special);
    aside_counts counts;
    int into;

    for (into = 0; into < 2; into++) {
        aside_scanner *scanner = aside_scanner_new(dialect, NULL);
        aside_event events[16];
        aside_event_array array = array_of(events, 16);
        size_t first, at = 0;

        CHECK(scanner != NULL);
        memset(&heard, 0, sizeof heard);
        for (first = 0; first < all; at += list[first++].len) {
            if (into) {
                CHECK_STATUS(aside_scanner_feed_tokens_into(scanner, text + at, list[first].len, list + first, 1, &array),
                             ASIDE_OK);
                hear_array(&heard, &array, text + at);
            } else {
                CHECK_STATUS(aside_scanner_feed_tokens(scanner, text + at, list[first].len, list + first, 1, listen, &heard),
                             ASIDE_OK);
            }
        }
        CHECK(strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "a <think>b") == 0);
        CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "c") == 0);
        counts.size = sizeof counts;
        CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_CONTENT, &counts), ASIDE_OK);
        CHECK(counts.tokens == 4 && counts.bytes == 10 && counts.characters == 10);
        /* Each token is counted in the event in which it began. */
        CHECK(heard.tokens == all);

        CHECK_STATUS(aside_scanner_feed_tokens(scanner, "ab", 2, list + 1, 1, listen, &heard), ASIDE_ERROR_LENGTH);
        CHECK_STATUS(aside_scanner_feed_tokens(scanner, "ab", 2, NULL, 1, listen, &heard), ASIDE_ERROR_NULL);
        CHECK_STATUS(aside_scanner_feed_tokens(scanner, NULL, 0, NULL, 0, listen, &heard), ASIDE_OK);
        CHECK_STATUS(aside_scanner_feed_tokens(scanner, "ab", 2, list, (size_t)-1, listen, &heard), ASIDE_ERROR_LENGTH);
        CHECK_STATUS(aside_scanner_feed_tokens(scanner, "ab", 2, list, 1, NULL, NULL), ASIDE_ERROR_NULL);
        CHECK_STATUS(aside_scanner_feed_tokens_into(scanner, "ab", 2, list, 1, NULL), ASIDE_ERROR_NULL);
        aside_scanner_free(scanner);
    }
    aside_dialect_free(dialect);
}

static int32_t stop(void *user, const aside_event *event, const char *bytes)
{
    (void)user;
    (void)event;
    (void)bytes;
    return 1;
}

/* The counts of tokens belong to one stream. A refused call must not add to them, and the next stream must begin at 0. */
static void tokens_end(void)
{
    const aside_token token = {3, 0};
    int refused, accepted;

    for (refused = 0; refused < 2; refused++) {
        for (accepted = 0; accepted < 2; accepted++) {
            aside_scanner *scanner = scanner_named("inline-think");
            uint64_t quiet[4];

            memset(&heard, 0, sizeof heard);
            feed(scanner, &heard, "<think>abc<", 11);
            CHECK_STATUS(aside_scanner_finish(scanner, stop, NULL), ASIDE_STOPPED);
            heard.all_len++;
            if (refused)
                CHECK_STATUS(aside_scanner_feed_tokens(scanner, "abc", 3, &token, 1, listen, &heard), ASIDE_ERROR_ORDER);
            CHECK_STATUS(aside_scanner_finish(scanner, listen, &heard), ASIDE_OK);
            memset(&heard, 0, sizeof heard);
            feed(scanner, &heard, "hello there", 11);
            CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_CHANNEL_CONTENT);
            if (accepted) {
                CHECK_STATUS(aside_scanner_feed_tokens(scanner, "abc", 3, &token, 1, listen, &heard), ASIDE_OK);
                CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_NOT_TEXT);
                if (refused)
                    finish(scanner, &heard);
                else
                    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_OK);
                memset(&heard, 0, sizeof heard);
                feed(scanner, &heard, "hello there", 11);
                CHECK(aside_scanner_quiet(scanner, quiet) == ASIDE_CHANNEL_CONTENT);
            }
            aside_scanner_free(scanner);
        }
    }
}

static void bad_counts(void)
{
    aside_scanner *scanner = scanner_named("qwen3");
    struct {
        aside_counts counts;
        uint64_t later;
    } newer;
    aside_counts counts;

    counts.size = sizeof counts;
    CHECK_STATUS(aside_scanner_counts(NULL, ASIDE_CHANNEL_CONTENT, &counts), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_CONTENT, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_counts(scanner, 4, &counts), ASIDE_ERROR_RANGE);
    counts.size = sizeof counts - 1;
    CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_CONTENT, &counts), ASIDE_ERROR_SIZE);
    memset(&newer, 0xFF, sizeof newer);
    newer.counts.size = sizeof newer;
    CHECK_STATUS(aside_scanner_counts(scanner, ASIDE_CHANNEL_TOOL, &newer.counts), ASIDE_OK);
    CHECK(newer.counts.size == sizeof newer && newer.counts.bytes == 0 && newer.counts.lost_thoughts == 0
          && newer.later == 0);
    aside_scanner_free(scanner);
}

static void clones(void)
{
    static struct heard second_heard;
    aside_scanner *first = scanner_named("inline-think"), *second;

    memset(&heard, 0, sizeof heard);
    feed(first, &heard, "<think>a</th", 12);
    second = aside_scanner_clone(first);
    CHECK(second != NULL);
    second_heard = heard;
    feed(first, &heard, "ink>b", 5);
    finish(first, &heard);
    aside_scanner_free(first);
    feed(second, &second_heard, "is</think>c", 11);
    finish(second, &second_heard);
    aside_scanner_free(second);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "a") == 0 && strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "b") == 0);
    CHECK(strcmp(second_heard.text[ASIDE_CHANNEL_THINKING], "a</this") == 0);
    CHECK(strcmp(second_heard.text[ASIDE_CHANNEL_CONTENT], "c") == 0);
    CHECK(aside_scanner_clone(NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);

    /* A clone of a paused scanner must continue in the same chunk. */
    first = scanner_named("inline-think");
    CHECK_STATUS(aside_scanner_feed(first, "<think>a", 8, stop, NULL), ASIDE_STOPPED);
    second = aside_scanner_clone(first);
    CHECK(second != NULL);
    CHECK(aside_scanner_consumed(first) == 7 && aside_scanner_consumed(second) == 7);
    aside_scanner_free(first);
    aside_scanner_free(second);
}

int main(void)
{
    budgets();
    force();
    reclassify();
    stray_close();
    guessed_start();
    tokens();
    tokens_end();
    bad_counts();
    clones();
    return 0;
}
