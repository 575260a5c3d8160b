/* Texts joined for a model's history must split back into the same, and escaped user text must have no marker. */
#include "check.h"

#define ZWSP "\xe2\x80\x8b"

static void join(const char *name, uint32_t start, uint32_t markers, const char *thinking, const char *content,
                 const char *text)
{
    const aside_dialect *dialect = dialect_named(name);
    char *out = NULL;
    size_t out_len = 77;

    CHECK_STATUS(aside_join(dialect, thinking, strlen(thinking), content, strlen(content), start, markers, &out, &out_len),
                 ASIDE_OK);
    CHECK(out_len == strlen(text) && strcmp(out, text) == 0);
    free(out);
}

/* What was joined goes through a scanner and comes out in its channels. */
static void there_and_back(const char *thinking, size_t thinking_len, const char *content, size_t content_len)
{
    static struct heard heard;
    const aside_dialect *dialect = dialect_named("qwen3");
    aside_scanner *scanner = aside_scanner_new(dialect, NULL);
    char *text = NULL;
    size_t len = 0;

    CHECK(scanner != NULL);
    CHECK_STATUS(aside_join(dialect, thinking, thinking_len, content, content_len, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE,
                            &text, &len),
                 ASIDE_OK);
    memset(&heard, 0, sizeof heard);
    feed(scanner, &heard, text, len);
    finish(scanner, &heard);
    CHECK(heard.text_len[ASIDE_CHANNEL_THINKING] == thinking_len && heard.text_len[ASIDE_CHANNEL_CONTENT] == content_len);
    CHECK(memcmp(heard.text[ASIDE_CHANNEL_THINKING], thinking, thinking_len) == 0);
    CHECK(memcmp(heard.text[ASIDE_CHANNEL_CONTENT], content, content_len) == 0);
    free(text);
    aside_scanner_free(scanner);
}

static void refuse(const char *thinking, const char *content, const char *says)
{
    char mark, *out = &mark;
    size_t len = 77;

    CHECK_STATUS(aside_join(dialect_named("qwen3"), thinking, strlen(thinking), content, strlen(content),
                            ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, &out, &len),
                 ASIDE_ERROR_JOIN);
    CHECK_SAYS(says);
    CHECK(out == &mark && len == 77);
}

/* Calls come out of the scanner as they went in; what cannot be written is named. */
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
        {.name = "add", .name_len = 3, .arguments = "{\"a\": 1, \"n\": \"x\"}", .arguments_len = 18},
        {.name = "g", .name_len = 1, .arguments = "{}", .arguments_len = 2, .id = "1", .id_len = 1},
    };
    aside_dialect *dialect;
    char *out, mark;
    size_t len;

    CHECK_STATUS(aside_dialect_load(toml, strlen(toml), &dialect), ASIDE_OK);
    CHECK_STATUS(aside_join_with_calls(dialect, "", 0, "Adding.", 7, calls, 2, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE,
                                       &out, &len),
                 ASIDE_OK);
    CHECK(len == strlen(wanted) && strcmp(out, wanted) == 0);
    free(out);
    CHECK_STATUS(aside_join_with_calls(dialect, "", 0, "a", 1, NULL, 0, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, &out,
                                       &len),
                 ASIDE_OK);
    CHECK(strcmp(out, "a") == 0);
    free(out);

    out = &mark;
    len = 77;
    calls[1].arguments = "{\"k\": \"a </p> b\"}";
    calls[1].arguments_len = 17;
    CHECK_STATUS(aside_join_with_calls(dialect, "", 0, "", 0, calls, 2, ASIDE_START_DEFAULT, ASIDE_MARKERS_ESCAPE, &out,
                                       &len),
                 ASIDE_ERROR_JOIN);
    CHECK_SAYS("call 1: the value of \"k\"");
    calls[1].arguments_len = 3;
    CHECK_STATUS(aside_join_with_calls(dialect, "", 0, "", 0, calls, 2, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, &out,
                                       &len),
                 ASIDE_ERROR_JOIN);
    calls[1].name = "\xff";
    CHECK_STATUS(aside_join_with_calls(dialect, "", 0, "", 0, calls, 2, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, &out,
                                       &len),
                 ASIDE_ERROR_OPTION);
    CHECK_SAYS("calls[1].name: not UTF-8");
    calls[1].name = NULL;
    CHECK_STATUS(aside_join_with_calls(dialect, "", 0, "", 0, calls, 2, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, &out,
                                       &len),
                 ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_join_with_calls(dialect, "", 0, "", 0, NULL, 1, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, &out,
                                       &len),
                 ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_join_with_calls(dialect, "", 0, "", 0, calls, (size_t)-1, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE,
                                       &out, &len),
                 ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_join_with_calls(NULL, "", 0, "", 0, calls, 1, ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, &out, &len),
                 ASIDE_ERROR_NULL);
    CHECK(out == &mark && len == 77);
    aside_dialect_free(dialect);
}

static void escape(const char *name, const char *text, const char *wanted)
{
    char *out = NULL;
    size_t out_len = 77;

    CHECK_STATUS(aside_escape(dialect_named(name), text, strlen(text), &out, &out_len), ASIDE_OK);
    CHECK(out_len == strlen(wanted) && strcmp(out, wanted) == 0);
    free(out);
}

static void unbreakable(void)
{
    static const char toml[] = "name = \"m\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"(\"]\nclose = [\")\"]";
    aside_dialect *dialect = NULL;
    char mark, *out = &mark;
    size_t len = 77;

    CHECK_STATUS(aside_dialect_load(toml, strlen(toml), &dialect), ASIDE_OK);
    CHECK_STATUS(aside_escape(dialect, "a", 1, &out, &len), ASIDE_ERROR_JOIN);
    CHECK_SAYS("(");
    CHECK(out == &mark && len == 77);
    aside_dialect_free(dialect);
}

int main(void)
{
    with_calls();
    char *out = NULL;
    size_t out_len = 0;

    join("qwen3", ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, "hm", "Yes.", "<think>\nhm\n</think>\n\nYes.");
    join("qwen3", ASIDE_START_THINKING, ASIDE_MARKERS_REFUSE, "hm", "Yes.", "hm\n</think>\n\nYes.");
    join("qwen3", ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, "", "Yes.", "Yes.");
    join("qwen3", ASIDE_START_DEFAULT, ASIDE_MARKERS_ESCAPE, "a</think>", "b", "<think>\na<" ZWSP "/think>\n</think>\n\nb");
    join("solar", ASIDE_START_DEFAULT, ASIDE_MARKERS_REFUSE, "", "Yes.", "<|begin|>assistant<|content|>Yes.<|end|>");
    there_and_back("a\0\xff", 3, "\n\xf0\x9f", 3);
    there_and_back("", 0, "", 0);
    refuse("ab</think>", "c", "byte 2 of it");
    refuse("ab", "<tool_call>{\"name\": \"f\"}", "the content");
    CHECK_STATUS(aside_join(dialect_named("qwen3"), "", 0, "", 0, ASIDE_START_TOOL, ASIDE_MARKERS_REFUSE, &out, &out_len),
                 ASIDE_ERROR_JOIN);
    CHECK_SAYS("how tool is written");
    CHECK_STATUS(aside_join(dialect_named("inline-think"), "", 0, "", 0, ASIDE_START_TOOL, ASIDE_MARKERS_REFUSE, &out,
                            &out_len),
                 ASIDE_ERROR_OPTION);
    escape("qwen3", "a <think> b", "a <" ZWSP "think> b");
    escape("qwen3", "", "");
    unbreakable();
    return 0;
}
