/* Whole thoughts must be what the events said: text, attributes, cause, what is cut and what is lost, and how long the memory is
 * valid. */
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

static int is(const char *text, size_t len, const char *expected)
{
    return text != NULL && len == strlen(expected) && memcmp(text, expected, len) == 0;
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
    CHECK(thought.text != NULL && thought.thought_type != NULL && is_address(thought.attributes));
}

static void none(aside_scanner *scanner)
{
    thought.size = sizeof thought;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_NONE);
}

int main(void)
{
    aside_scanner *scanner = collecting("thought-stream", 1 << 20);
    struct {
        aside_thought thought;
        unsigned char later[24];
    } newer;
    const char *text;
    size_t i;

    none(scanner);
    play(scanner, "<thinking thought=\"a &lt; b\" thought_type='reflection' confidence=\"0.75\" x='' />"
                  "y<thinking> body </thinking><thinking>cut off");
    CHECK(heard.attributes == 4);
    take(scanner);
    CHECK(is(thought.text, thought.text_len, "a < b"));
    CHECK(thought.offset == 0 && thought.cause == ASIDE_CAUSE_MARKER && thought.truncated == 0);
    CHECK(thought.has_thought_type == 1 && is(thought.thought_type, thought.thought_type_len, "reflection"));
    CHECK(thought.has_confidence == 1 && thought.confidence == 0.75);
    CHECK(thought.attribute_count == 4);
    CHECK(is(thought.attributes[0].name, thought.attributes[0].name_len, "thought"));
    CHECK(is(thought.attributes[0].value, thought.attributes[0].value_len, "a < b"));
    CHECK(is(thought.attributes[3].name, thought.attributes[3].name_len, "x"));
    CHECK(is(thought.attributes[3].value, thought.attributes[3].value_len, ""));

    /* What was taken stays good while the scanner is fed. */
    text = thought.text;
    play(scanner, "<thinking>d</thinking>");
    CHECK(is(text, 5, "a < b"));

    take(scanner);
    CHECK(is(thought.text, thought.text_len, "body") && thought.attribute_count == 0);
    CHECK(thought.has_thought_type == 0 && thought.thought_type_len == 0);
    CHECK(thought.has_confidence == 0 && thought.confidence == 0);
    take(scanner);
    CHECK(is(thought.text, thought.text_len, "cut off") && thought.cause == ASIDE_CAUSE_END_OF_STREAM);
    take(scanner);
    CHECK(is(thought.text, thought.text_len, "d"));
    none(scanner);
    none(scanner);

    /* A newer header's struct: its tail is zeroed. */
    play(scanner, "<thinking>e</thinking>");
    memset(&newer, 0x5a, sizeof newer);
    newer.thought.size = sizeof newer;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &newer.thought), ASIDE_OK);
    CHECK(is(newer.thought.text, newer.thought.text_len, "e"));
    for (i = 0; i < sizeof newer.later; i++)
        CHECK(newer.later[i] == 0);

    /* Reset drops what was not taken. */
    play(scanner, "<thinking>f</thinking>");
    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_OK);
    none(scanner);
    aside_scanner_free(scanner);

    /* A cap cuts at a character, and says so; the deltas go on. */
    scanner = collecting("thinking-tags", 4);
    play(scanner, "<think>abc\xc3\xa4"
                  "def</think>");
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "abc\xc3\xa4"
                                                     "def")
          == 0);
    take(scanner);
    CHECK(is(thought.text, thought.text_len, "abc") && thought.truncated == 1);
    aside_scanner_free(scanner);

    /* No more than 1,024 wait; the others are counted. */
    scanner = collecting("thinking-tags", 1 << 20);
    CHECK(aside_scanner_lost_thoughts(scanner) == 0);
    for (i = 0; i < 1030; i++)
        play(scanner, "<think>g</think>");
    CHECK(aside_scanner_lost_thoughts(scanner) == 6);
    for (i = 0; i < 1024; i++)
        take(scanner);
    none(scanner);
    /* Freed with a thought in its hands and another waiting. */
    play(scanner, "<think>h</think><think>i</think>");
    take(scanner);
    aside_scanner_free(scanner);

    /* Without collecting there are none. */
    scanner = scanner_named("thinking-tags");
    play(scanner, "<think>j</think>");
    none(scanner);
    aside_scanner_free(scanner);
    return 0;
}
