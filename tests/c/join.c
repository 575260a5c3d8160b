/* Texts joined for a model's history must split back into the same, and escaped user text must have no marker. */
#include "check.h"

#define ZWSP "\xe2\x80\x8b"

static aside_join_options options_of(const char *thinking, const char *content)
{
    aside_join_options options;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.thinking = bytes_of(thinking);
    options.content = bytes_of(content);
    return options;
}

static void join(const char *name, uint32_t start, uint32_t markers, const char *thinking, const char *content,
                 const char *text)
{
    aside_join_options options = options_of(thinking, content);
    size_t out_len = 77;
    char *out;

    options.start = start;
    options.markers = markers;
    out = aside_join(dialect_named(name), &options, &out_len);
    CHECK(out != NULL && out_len == strlen(text) && strcmp(out, text) == 0);
    aside_free(out);
}

/* Feeds a joined text to a scanner, which must report the same channels. */
static void there_and_back(const char *thinking, size_t thinking_len, const char *content, size_t content_len)
{
    static struct heard heard;
    const aside_dialect *dialect = dialect_named("qwen3");
    aside_scanner *scanner = aside_scanner_new(dialect, NULL);
    aside_join_options options = options_of("", "");
    size_t len = 0;
    char *text;

    CHECK(scanner != NULL);
    options.thinking.at = thinking;
    options.thinking.len = thinking_len;
    options.content.at = content;
    options.content.len = content_len;
    text = aside_join(dialect, &options, &len);
    CHECK(text != NULL);
    memset(&heard, 0, sizeof heard);
    feed(scanner, &heard, text, len);
    finish(scanner, &heard);
    CHECK(heard.text_len[ASIDE_CHANNEL_THINKING] == thinking_len && heard.text_len[ASIDE_CHANNEL_CONTENT] == content_len);
    CHECK(memcmp(heard.text[ASIDE_CHANNEL_THINKING], thinking, thinking_len) == 0);
    CHECK(memcmp(heard.text[ASIDE_CHANNEL_CONTENT], content, content_len) == 0);
    aside_free(text);
    aside_scanner_free(scanner);
}

/* Checks that the join is refused and nothing is written. */
static void fails(const aside_dialect *dialect, const aside_join_options *options, aside_status status)
{
    size_t len = 77;

    CHECK(aside_join(dialect, options, &len) == NULL && len == 77);
    CHECK_STATUS(aside_last_status(), status);
}

static void refuse(const char *thinking, const char *content, const char *says)
{
    aside_join_options options = options_of(thinking, content);

    fails(dialect_named("qwen3"), &options, ASIDE_ERROR_JOIN);
    CHECK_SAYS(says);
}

/* A scanner must return the joined calls unchanged, and an error must name a part that cannot be written. */
static void with_calls(void)
{
    static const char toml[] = "name = \"calls\"\n"
                               "[[span]]\n"
                               "channel = \"tool\"\n"
                               "open = [\"<t>\"]\n"
                               "close = [\"</t>\"]\n"
                               "[[span.call]]\n"
                               "body = \"tags\"\n"
                               "begin = \"<f=\"\n"
                               "name_end = [\">\"]\n"
                               "key = [\"<p=\", \">\"]\n"
                               "value = [\"\", \"</p>\"]\n"
                               "end = \"</f>\"\n";
    static const char wanted[] = "Adding.<t><f=add><p=a>1</p><p=n>x</p></f><f=g></f></t>";
    aside_join_call calls[] = {
        {bytes_of("add"), bytes_of("{\"a\": 1, \"n\": \"x\"}"), {NULL, 0}},
        {bytes_of("g"), bytes_of("{}"), bytes_of("1")},
    };
    /* Unknown fields of a newer header are ignored here, because each call has its own size. */
    struct {
        aside_join_call call;
        char later[24];
    } newer[2];
    aside_join_options options = options_of("", "Adding.");
    aside_dialect *dialect = aside_dialect_load(toml, strlen(toml));
    char *out;
    size_t len, i;

    CHECK(dialect != NULL);
    options.calls = calls;
    options.call_count = 2;
    options.call_size = sizeof *calls;
    out = aside_join(dialect, &options, &len);
    CHECK(out != NULL && len == strlen(wanted) && strcmp(out, wanted) == 0);
    aside_free(out);

    memset(newer, 0x5a, sizeof newer);
    for (i = 0; i < 2; i++)
        newer[i].call = calls[i];
    options.calls = &newer[0].call;
    options.call_size = sizeof *newer;
    out = aside_join(dialect, &options, &len);
    CHECK(out != NULL && strcmp(out, wanted) == 0);
    aside_free(out);
    options.calls = calls;
    options.call_size = sizeof *calls - 1;
    fails(dialect, &options, ASIDE_ERROR_SIZE);
    options.call_size = 4097;
    fails(dialect, &options, ASIDE_ERROR_SIZE);

    options = options_of("", "a");
    out = aside_join(dialect, &options, &len);
    CHECK(out != NULL && strcmp(out, "a") == 0);
    aside_free(out);

    options = options_of("", "");
    options.calls = calls;
    options.call_count = 2;
    options.call_size = sizeof *calls;
    calls[1].arguments = bytes_of("{\"k\": \"a </p></f> b\"}");
    options.markers = ASIDE_MARKERS_ESCAPE;
    fails(dialect, &options, ASIDE_ERROR_JOIN);
    CHECK_SAYS("call 1: the value of \"k\"");
    options.markers = ASIDE_MARKERS_REFUSE;
    calls[1].arguments.len = 3;
    fails(dialect, &options, ASIDE_ERROR_JOIN);
    calls[1].name.at = "\xff";
    fails(dialect, &options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("calls[1].name: not UTF-8");
    calls[1].name.at = NULL;
    fails(dialect, &options, ASIDE_ERROR_NULL);
    options.calls = NULL;
    fails(dialect, &options, ASIDE_ERROR_NULL);
    options.calls = calls;
    options.call_count = (size_t)-1;
    fails(dialect, &options, ASIDE_ERROR_LENGTH);
    options.call_count = 1;
    fails(NULL, &options, ASIDE_ERROR_NULL);
    aside_dialect_free(dialect);
}

/* Passes options of an older and of a newer header. */
static void versions(void)
{
    struct {
        aside_join_options options;
        unsigned char later[24];
    } newer;
    aside_join_options options = options_of("hm", "Yes.");
    const aside_dialect *dialect = dialect_named("qwen3");
    size_t len;
    char *out;

    options.size = offsetof(aside_join_options, content);
    options.start = 99;
    out = aside_join(dialect, &options, &len);
    CHECK(out != NULL && strncmp(out, "<think>\nhm\n</think>", 19) == 0 && strstr(out, "Yes.") == NULL);
    aside_free(out);
    options.size = sizeof(size_t) - 1;
    fails(dialect, &options, ASIDE_ERROR_SIZE);
    memset(&newer, 0, sizeof newer);
    newer.options = options_of("", "Yes.");
    newer.options.size = sizeof newer;
    out = aside_join(dialect, &newer.options, &len);
    CHECK(out != NULL && strcmp(out, "Yes.") == 0);
    aside_free(out);
    newer.later[0] = 1;
    fails(dialect, &newer.options, ASIDE_ERROR_OPTION);
}

static void escape(const char *name, const char *text, const char *wanted)
{
    size_t out_len = 77;
    char *out = aside_escape(dialect_named(name), text, strlen(text), &out_len);

    CHECK(out != NULL && out_len == strlen(wanted) && strcmp(out, wanted) == 0);
    aside_free(out);
}

static void unbreakable(void)
{
    static const char toml[] = "name = \"m\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"(\"]\nclose = [\")\"]";
    aside_dialect *dialect = aside_dialect_load(toml, strlen(toml));
    size_t len = 77;

    CHECK(dialect != NULL);
    CHECK(aside_escape(dialect, "a", 1, &len) == NULL && aside_last_status() == ASIDE_ERROR_JOIN && len == 77);
    CHECK_SAYS("(");
    aside_dialect_free(dialect);
}

int main(void)
{
    aside_join_options options = options_of("", "");

    with_calls();
    versions();
    join("qwen3", ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, "hm", "Yes.", "<think>\nhm\n</think>\n\nYes.");
    join("qwen3", ASIDE_START_THINKING, ASIDE_MARKERS_REFUSE, "hm", "Yes.", "hm\n</think>\n\nYes.");
    join("qwen3", ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, "", "Yes.", "Yes.");
    join("qwen3", ASIDE_START_DEFAULT, ASIDE_MARKERS_ESCAPE, "a</think>", "b", "<think>\na<" ZWSP "/think>\n</think>\n\nb");
    join("solar", ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, "", "Yes.", "<|begin|>assistant<|content|>Yes.<|end|>");
    there_and_back("a\0\xff", 3, "\n\xf0\x9f", 3);
    there_and_back("", 0, "", 0);
    refuse("ab</think>", "c", "byte 2 of it");
    refuse("ab", "<tool_call>{\"name\": \"f\"}", "the content");
    options.start = ASIDE_START_TOOL;
    fails(dialect_named("qwen3"), &options, ASIDE_ERROR_JOIN);
    CHECK_SAYS("how tool is written");
    fails(dialect_named("inline-think"), &options, ASIDE_ERROR_OPTION);
    escape("qwen3", "a <think> b", "a <" ZWSP "think> b");
    escape("qwen3", "", "");
    unbreakable();
    return 0;
}
