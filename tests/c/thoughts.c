/* Tests collected thoughts: their text, attributes and cause must agree with the events, and so must the marks of cut thoughts and
 * the count of lost ones. Tests the lifetime of their memory. */
#include "check.h"

static struct heard heard;
static aside_thought thought;

static aside_scanner *collecting(const char *name, uint64_t cap)
{
    aside_scanner_options options;
    aside_scanner *scanner;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.collect = cap;
    scanner = aside_scanner_new(dialect_named(name), &options);
    CHECK(scanner != NULL);
    return scanner;
}

static int is(aside_bytes text, const char *expected)
{
    return is_address(text.at) && text.len == strlen(expected) && memcmp(text.at, expected, text.len) == 0;
}

static void play(aside_scanner *scanner, const char *text)
{
    memset(&heard, 0, sizeof heard);
    feed(scanner, &heard, text, strlen(text));
    finish(scanner, &heard);
}

static void take(aside_scanner *scanner)
{
    memset(&thought, 0x5a, sizeof thought);
    thought.size = sizeof thought;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_OK);
    CHECK(thought.size == sizeof thought);
    CHECK(is_address(thought.text.at) && is_address(thought.thought_type.at));
}

/* Returns an attribute of the thought that was taken last. */
static aside_attribute attribute(const aside_scanner *scanner, size_t index)
{
    aside_attribute found;

    memset(&found, 0x5a, sizeof found);
    found.size = sizeof found;
    CHECK_STATUS(aside_scanner_thought_attribute(scanner, index, &found), ASIDE_OK);
    CHECK(found.size == sizeof found);
    return found;
}

static void no_attribute(const aside_scanner *scanner, size_t index)
{
    aside_attribute found;

    found.size = sizeof found;
    CHECK_STATUS(aside_scanner_thought_attribute(scanner, index, &found), ASIDE_ERROR_RANGE);
}

static uint64_t lost(const aside_scanner *scanner, uint32_t channel)
{
    aside_counts counts;

    counts.size = sizeof counts;
    CHECK_STATUS(aside_scanner_counts(scanner, channel, &counts), ASIDE_OK);
    return counts.lost_thoughts;
}

static void none(aside_scanner *scanner)
{
    thought.size = sizeof thought;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_NONE);
}

/* Reads an attribute into structs of other versions. */
static void other_sizes(const aside_scanner *scanner)
{
    struct {
        aside_attribute attribute;
        unsigned char later[24];
    } newer;
    size_t i;

    memset(&newer, 0x5a, sizeof newer);
    newer.attribute.size = sizeof newer;
    CHECK_STATUS(aside_scanner_thought_attribute(scanner, 3, &newer.attribute), ASIDE_OK);
    CHECK(is(newer.attribute.name, "x"));
    for (i = 0; i < sizeof newer.later; i++)
        CHECK(newer.later[i] == 0);
    newer.attribute.size = sizeof newer.attribute - 1;
    CHECK_STATUS(aside_scanner_thought_attribute(scanner, 3, &newer.attribute), ASIDE_ERROR_SIZE);
    CHECK_STATUS(aside_scanner_thought_attribute(scanner, 3, NULL), ASIDE_ERROR_NULL);
    newer.attribute.size = sizeof newer.attribute;
    CHECK_STATUS(aside_scanner_thought_attribute(NULL, 3, &newer.attribute), ASIDE_ERROR_NULL);
}

int main(void)
{
    aside_scanner *scanner = collecting("thought-stream", 1 << 20);
    struct {
        aside_thought thought;
        unsigned char later[24];
    } newer;
    aside_bytes text;
    size_t i;

    none(scanner);
    no_attribute(scanner, 0);
    play(scanner, "<thinking thought=\"a &lt; b\" thought_type='reflection' confidence=\"0.75\" x='' />"
                  "y<thinking> body </thinking><thinking>cut off");
    CHECK(heard.attributes == 4);
    take(scanner);
    CHECK(is(thought.text, "a < b"));
    CHECK(thought.offset == 0 && thought.cause == ASIDE_CAUSE_MARKER && thought.truncated == 0);
    CHECK(thought.has_thought_type == 1 && is(thought.thought_type, "reflection"));
    CHECK(thought.has_confidence == 1 && thought.confidence == 0.75);
    CHECK(thought.attribute_count == 4);
    CHECK(is(attribute(scanner, 0).name, "thought") && is(attribute(scanner, 0).value, "a < b"));
    CHECK(is(attribute(scanner, 3).name, "x") && is(attribute(scanner, 3).value, ""));
    no_attribute(scanner, 4);
    no_attribute(scanner, (size_t)-1);
    other_sizes(scanner);

    /* A taken thought must stay valid while the scanner is fed. */
    text = thought.text;
    play(scanner, "<thinking>d</thinking>");
    CHECK(is(text, "a < b") && is(attribute(scanner, 0).value, "a < b"));

    take(scanner);
    CHECK(is(thought.text, "body") && thought.attribute_count == 0);
    CHECK(thought.has_thought_type == 0 && thought.thought_type.len == 0);
    CHECK(thought.has_confidence == 0 && thought.confidence == 0);
    take(scanner);
    CHECK(is(thought.text, "cut off") && thought.cause == ASIDE_CAUSE_END_OF_STREAM);
    take(scanner);
    CHECK(is(thought.text, "d"));
    none(scanner);
    none(scanner);
    no_attribute(scanner, 0);

    /* The end of a newer header's larger struct must be zeroed. */
    play(scanner, "<thinking>e</thinking>");
    memset(&newer, 0x5a, sizeof newer);
    newer.thought.size = sizeof newer;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &newer.thought), ASIDE_OK);
    CHECK(is(newer.thought.text, "e"));
    for (i = 0; i < sizeof newer.later; i++)
        CHECK(newer.later[i] == 0);

    /* Reset must drop thoughts that were not taken. */
    play(scanner, "<thinking>f</thinking>");
    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_OK);
    none(scanner);
    aside_scanner_free(scanner);

    /* A cap must cut the thought between two characters and mark it as cut, and the events must continue. */
    scanner = collecting("thinking-tags", 4);
    play(scanner, "<think>abc\xc3\xa4"
                  "def</think>");
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "abc\xc3\xa4"
                                                     "def")
          == 0);
    take(scanner);
    CHECK(is(thought.text, "abc") && thought.truncated == 1);
    aside_scanner_free(scanner);

    /* No more than 1,024 thoughts are kept; the lost ones are counted. */
    scanner = collecting("thinking-tags", 1 << 20);
    CHECK(lost(scanner, ASIDE_CHANNEL_THINKING) == 0);
    for (i = 0; i < 1030; i++)
        play(scanner, "<think>g</think>");
    CHECK(lost(scanner, ASIDE_CHANNEL_THINKING) == 6 && lost(scanner, ASIDE_CHANNEL_CONTENT) == 0);
    for (i = 0; i < 1024; i++)
        take(scanner);
    none(scanner);
    /* The scanner is freed while one thought is taken and another is waiting. */
    play(scanner, "<think>h</think><think>i</think>");
    take(scanner);
    aside_scanner_free(scanner);

    /* Without the option, no thoughts are collected. */
    scanner = scanner_named("thinking-tags");
    play(scanner, "<think>j</think>");
    none(scanner);
    aside_scanner_free(scanner);
    return 0;
}
