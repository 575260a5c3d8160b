/* Tests the options of a scanner: every start must have its effect, and the struct of an older or a newer header must be read. */
#include "check.h"

static struct heard heard;

static void start(const char *name, uint32_t start, const char *text, const char *thinking, const char *content)
{
    aside_scanner_options options;
    aside_scanner *scanner;

    memset(&options, 0, sizeof options);
    memset(&heard, 0, sizeof heard);
    options.size = sizeof options;
    options.start = start;
    scanner = aside_scanner_new(dialect_named(name), &options);
    CHECK(scanner != NULL);
    feed(scanner, &heard, text, strlen(text));
    finish(scanner, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], thinking) == 0);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_CONTENT], content) == 0);
    aside_scanner_free(scanner);
}

static void refused(const aside_scanner_options *options, aside_status status)
{
    CHECK(aside_scanner_new(dialect_named("inline-think"), options) == NULL);
    CHECK(aside_last_status() == status && *aside_last_error() != 0);
}

int main(void)
{
    struct {
        aside_scanner_options options;
        unsigned char later[40];
    } newer;
    aside_scanner_options options;
    aside_scanner *scanner;
    uint32_t bad;

    start("inline-think", ASIDE_START_DEFAULT, "a</think>b", "", "a</think>b");
    start("inline-think", ASIDE_START_CONTENT, "a</think>b", "", "a</think>b");
    start("inline-think", ASIDE_START_THINKING, "a</think>b", "a", "b");
    CHECK(strcmp(heard.spans, "(1)0") == 0);
    start("thought-narrate", ASIDE_START_NARRATION, "a</narrate>b", "", "b");
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_NARRATION], "a") == 0);

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    for (bad = ASIDE_START_HEADER + 1; bad != 0; bad = bad < 100 ? bad + 1 : bad * 2) {
        options.start = bad;
        refused(&options, ASIDE_ERROR_OPTION);
    }
    /* This dialect has no span for these two starts. */
    options.start = ASIDE_START_TOOL;
    refused(&options, ASIDE_ERROR_OPTION);
    options.start = ASIDE_START_HEADER;
    refused(&options, ASIDE_ERROR_OPTION);
    options.start = ASIDE_START_DEFAULT;
    options.leading_tags = ASIDE_LEADING_TAGS_TEXT + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.leading_tags = ASIDE_LEADING_TAGS_DIALECT;
    options.stray_close = ASIDE_STRAY_CLOSE_DROP + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.stray_close = ASIDE_STRAY_CLOSE_DIALECT;
    options.calls = 2;
    refused(&options, ASIDE_ERROR_OPTION);
    options.calls = 0;
    options.calls_in_thinking = ASIDE_CALLS_IN_THINKING_ALWAYS + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.calls_in_thinking = ASIDE_CALLS_IN_THINKING_DIALECT;

    /* No version had these sizes. */
    options.size = 0;
    refused(&options, ASIDE_ERROR_SIZE);
    options.size = sizeof(size_t) - 1;
    refused(&options, ASIDE_ERROR_SIZE);
    options.size = offsetof(aside_scanner_options, collect) + sizeof options.collect / 2;
    refused(&options, ASIDE_ERROR_SIZE);
    options.size = (size_t)-1;
    refused(&options, ASIDE_ERROR_SIZE);

    /* The size of an older header: fields that it does not have must be ignored. */
    options.size = sizeof(size_t);
    options.start = 99;
    scanner = aside_scanner_new(dialect_named("inline-think"), &options);
    CHECK(scanner != NULL);
    aside_scanner_free(scanner);
    options.size = offsetof(aside_scanner_options, collect);
    options.start = ASIDE_START_THINKING;
    options.collect = (uint64_t)-1;
    scanner = aside_scanner_new(dialect_named("inline-think"), &options);
    CHECK(scanner != NULL);
    aside_scanner_free(scanner);

    /* The size of a newer header is accepted if the unknown fields are zero. */
    memset(&newer, 0, sizeof newer);
    newer.options.size = sizeof newer;
    scanner = aside_scanner_new(dialect_named("inline-think"), &newer.options);
    CHECK(scanner != NULL);
    aside_scanner_free(scanner);
    newer.later[sizeof newer.later - 1] = 1;
    refused(&newer.options, ASIDE_ERROR_OPTION);
    return 0;
}
