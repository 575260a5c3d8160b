/* Tests streams that start after a prompt, with dialects found by model and by template: the scanner must start where the model
 * does. */
#include "check.h"

static const char *found(const aside_dialect *dialect)
{
    CHECK(dialect != NULL);
    return aside_dialect_name(dialect, NULL);
}

static void models(void)
{
    const char *model = "unsloth/Qwen3-32B-GGUF:Q4_K_M";

    CHECK(aside_dialect_find_for_model(model, strlen(model)) == dialect_named("qwen3"));
    CHECK(strcmp(found(aside_dialect_find_for_model("gpt-oss:20b", 11)), "harmony") == 0);
    CHECK(aside_dialect_find_for_model("gpt-4o", 6) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
    CHECK_SAYS("gpt-4o");
    CHECK(aside_dialect_find_for_model(NULL, 0) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_dialect_find_for_model("x", (size_t)-1) == NULL && aside_last_status() == ASIDE_ERROR_LENGTH);
    CHECK(aside_dialect_find_for_model("\xff\0", 2) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
}

/* For a model whose prompt opens the thinking, the library returns a separate handle, whose scanners start inside the thinking. */
static void starts(void)
{
    static struct heard inside, own;
    const aside_dialect *found = aside_dialect_find_for_model("moonshotai/Kimi-K2.5", 20);
    const aside_dialect *named = dialect_named("kimi-k2");
    aside_scanner *scanner;

    CHECK(strcmp(aside_dialect_name(found, NULL), "kimi-k2") == 0 && found != named);
    CHECK(found == aside_dialect_find_for_model("kimi-k2.6", 9) && named == aside_dialect_find_for_model("kimi-k2", 7));
    CHECK(aside_dialect_start(found) == ASIDE_START_THINKING && aside_dialect_start(named) == ASIDE_START_CONTENT);
    CHECK(aside_dialect_start(dialect_named("harmony")) == ASIDE_START_HEADER);
    CHECK(aside_dialect_start(NULL) == ASIDE_START_DEFAULT && aside_last_status() == ASIDE_ERROR_NULL);

    scanner = aside_scanner_new(found, NULL);
    feed(scanner, &inside, "hm</think>Yes.", 14);
    finish(scanner, &inside);
    CHECK(strcmp(inside.text[ASIDE_CHANNEL_THINKING], "hm") == 0 && strcmp(inside.text[ASIDE_CHANNEL_CONTENT], "Yes.") == 0);
    aside_scanner_free(scanner);
    scanner = aside_scanner_new(named, NULL);
    feed(scanner, &own, "hm", 2);
    finish(scanner, &own);
    CHECK(strcmp(own.text[ASIDE_CHANNEL_CONTENT], "hm") == 0);
    aside_scanner_free(scanner);
    /* It is built in, so freeing it must do nothing. */
    aside_dialect_free((aside_dialect *)found);
    CHECK(aside_dialect_start(found) == ASIDE_START_THINKING);
}

static void unknown(void)
{
    CHECK(aside_dialect_find_for_model("qwen3.9", 7) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
    CHECK_SAYS("no dialect is known for `qwen3.9`; its elder qwen3.8 writes qwen3-thinking; ");
    CHECK_SAYS("a dialect file");
    CHECK(aside_dialect_find_for_model("openai/gpt-4o", 13) == NULL && aside_last_status() == ASIDE_ERROR_UNKNOWN);
    CHECK_SAYS("known to write no thinking in its text");
    CHECK_SAYS("`any`");
}

static void preload(void)
{
    CHECK_STATUS(aside_dialect_preload(" qwen3\n gpt-oss ", 16), ASIDE_OK);
    CHECK_STATUS(aside_dialect_preload("qwen3 qwne3 harmony", 19), ASIDE_ERROR_UNKNOWN);
    CHECK_SAYS("qwne3");
    CHECK_STATUS(aside_dialect_preload(NULL, 1), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_dialect_preload("x", (size_t)-1), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_dialect_preload("", 0), ASIDE_OK);
    CHECK_STATUS(aside_dialect_preload(NULL, 0), ASIDE_OK);
}

static const char one[] = "{{ '<|turn>user\\n' }}{% if add_generation_prompt %}{{ '<|turn>model\\n<|channel>' }}{% endif %}";
static const char many[] = "{{ '[unused16]\xe2\x97\x81think\xe2\x96\xb7' }}";

/* Checks that no dialect is found and that nothing is written. */
static void no_template(const char *text, size_t len, aside_template_match *match, aside_status status)
{
    const aside_template_match before = *match;

    CHECK(aside_dialect_find_for_template(text, len, match) == NULL);
    CHECK_STATUS(aside_last_status(), status);
    CHECK(memcmp(&before, match, sizeof before) == 0);
}

static void templates(void)
{
    const aside_dialect *dialects[3] = {NULL, NULL, NULL}, *gemma = dialect_named("gemma-4");
    struct {
        aside_template_match match;
        unsigned char later[16];
    } newer;
    aside_template_match match;

    memset(&match, 0, sizeof match);
    match.size = sizeof match;
    CHECK(aside_dialect_find_for_template(one, strlen(one), NULL) == gemma);
    CHECK(aside_dialect_find_for_template(one, strlen(one), &match) == gemma);
    CHECK(match.count == 1 && match.start == ASIDE_START_THINKING && match.capacity == 0);
    match.dialects = dialects;
    match.capacity = 3;
    CHECK(aside_dialect_find_for_template(one, strlen(one), &match) == gemma);
    CHECK(match.count == 1 && dialects[0] == gemma && dialects[1] == NULL && match.dialects == dialects);

    /* Two dialects fit. Asks for them with room for both, for one, and for none. */
    dialects[0] = NULL;
    CHECK(aside_dialect_find_for_template(many, strlen(many), &match) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_AMBIGUOUS);
    CHECK(match.count == 2 && match.start == ASIDE_START_DEFAULT && dialects[2] == NULL);
    CHECK(strcmp(found(dialects[0]), found(dialects[1])) < 0);
    CHECK_SAYS(found(dialects[0]));
    CHECK_SAYS(found(dialects[1]));
    dialects[0] = dialects[1] = NULL;
    match.capacity = 1;
    CHECK(aside_dialect_find_for_template(many, strlen(many), &match) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_AMBIGUOUS);
    CHECK(match.count == 2 && dialects[0] != NULL && dialects[1] == NULL);
    CHECK(aside_dialect_find_for_template(many, strlen(many), NULL) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_AMBIGUOUS);

    match.start = 77;
    no_template("plain", 5, &match, ASIDE_ERROR_UNKNOWN);
    no_template(NULL, 0, &match, ASIDE_ERROR_UNKNOWN);
    no_template(NULL, 1, &match, ASIDE_ERROR_NULL);
    no_template(one, (size_t)-1, &match, ASIDE_ERROR_LENGTH);
    match.dialects = NULL;
    no_template(one, strlen(one), &match, ASIDE_ERROR_NULL);
    match.capacity = 0;
    match.reserved = 1;
    no_template(one, strlen(one), &match, ASIDE_ERROR_OPTION);
    match.reserved = 0;
    match.size = sizeof match - 1;
    no_template(one, strlen(one), &match, ASIDE_ERROR_SIZE);
    CHECK(aside_dialect_find_for_template("<think>\xff", 8, NULL) != NULL);

    /* In the larger struct of a newer header, unknown fields must be zero and stay zero. */
    memset(&newer, 0, sizeof newer);
    newer.match.size = sizeof newer;
    CHECK(aside_dialect_find_for_template(one, strlen(one), &newer.match) == gemma);
    CHECK(newer.match.count == 1 && newer.match.start == ASIDE_START_THINKING && newer.later[0] == 0);
    newer.later[15] = 1;
    CHECK(aside_dialect_find_for_template(one, strlen(one), &newer.match) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_OPTION && newer.later[15] == 1);
}

static void prompts(void)
{
    static struct heard inside, own;
    const char *prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>";
    aside_scanner *scanner = aside_scanner_new(dialect_named("qwen3"), NULL);
    uint32_t start = 77;

    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, prompt, strlen(prompt), &start), ASIDE_OK);
    CHECK(start == ASIDE_START_THINKING);
    feed(scanner, &inside, "\nhm\n</think>", 12);
    feed(scanner, &inside, "\n\nYes.", 6);
    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, prompt, strlen(prompt), &start), ASIDE_ERROR_ORDER);
    finish(scanner, &inside);
    CHECK(strcmp(inside.text[ASIDE_CHANNEL_THINKING], "hm") == 0 && strcmp(inside.text[ASIDE_CHANNEL_CONTENT], "Yes.") == 0);

    /* The next stream must start at the scanner's own start again. */
    feed(scanner, &own, "hm", 2);
    finish(scanner, &own);
    CHECK(strcmp(own.text[ASIDE_CHANNEL_CONTENT], "hm") == 0);

    start = 77;
    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, NULL, 0, &start), ASIDE_OK);
    CHECK(start == ASIDE_START_CONTENT);
    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, prompt, 5, NULL), ASIDE_OK);
    start = 77;
    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, NULL, 1, &start), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, prompt, (size_t)-1, &start), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_scanner_start_from_prompt(NULL, prompt, 5, &start), ASIDE_ERROR_NULL);
    CHECK(start == 77);
    aside_scanner_free(scanner);
}

/* If the prompt began a marker, its event in an array has only those bytes of it that are in the stream. */
static void array(void)
{
    static const char *chunks[] = {"i", "nk>h", "m</th", "ink>"};
    const char *prompt = "<|im_start|>assistant\n<th";
    aside_scanner *scanner = aside_scanner_new(dialect_named("think"), NULL);
    aside_event events[8];
    char all[32];
    size_t i, all_len = 0;

    CHECK_STATUS(aside_scanner_start_from_prompt(scanner, prompt, strlen(prompt), NULL), ASIDE_OK);
    CHECK(aside_scanner_offset(scanner) == 0);
    for (i = 0; i < 4; i++) {
        aside_event_array array = array_of(events, 8);
        size_t e, b;

        CHECK_STATUS(aside_scanner_feed_into(scanner, chunks[i], strlen(chunks[i]), &array), ASIDE_OK);
        for (e = 0; e < array.count; e++) {
            CHECK(events[e].offset == all_len);
            for (b = 0; b < events[e].len; b++) {
                uint64_t at = events[e].offset + b;

                all[all_len++] = at < array.offset ? array.held.at[array.held.len - (size_t)(array.offset - at)]
                                                   : chunks[i][(size_t)(at - array.offset)];
            }
        }
    }
    CHECK(all_len == 14 && memcmp(all, "ink>hm</think>", 14) == 0);
    aside_scanner_free(scanner);
}

int main(void)
{
    models();
    starts();
    unknown();
    preload();
    templates();
    prompts();
    array();
    return 0;
}
