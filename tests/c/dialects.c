/* Tests finding, listing and loading dialects, and aside_strip(). A scanner must outlive the dialect that it was made from, and
 * built-in dialects are never freed. */
#include "check.h"
#include <aside_unstable.h>

static const char mine[] = "name = \"mine\"\n"
                           "\n"
                           "[[span]]\n"
                           "channel = \"thinking\"\n"
                           "open = [\"((\"]\n"
                           "close = [\"))\"]\n";

static void list(void)
{
    size_t i, len;
    const char *last = "", *name;

    for (i = 0; (name = aside_dialect_name_at(i, &len)) != NULL; i++) {
        const aside_dialect *dialect;

        CHECK(strlen(name) == len && strcmp(last, name) < 0);
        CHECK(aside_dialect_name_at(i, NULL) == name);
        dialect = aside_dialect_find(name, len);
        CHECK(dialect != NULL && dialect == aside_dialect_find(name, len));
        CHECK(strcmp(aside_dialect_name(dialect, &len), name) == 0 && len == strlen(name));
        CHECK(aside_dialect_max_hold(dialect) >= 3);
        last = name;
    }
    /* The end of the list is not a failure. */
    CHECK(i >= 5 && aside_last_status() == ASIDE_OK);
    CHECK(aside_dialect_max_hold(dialect_named("inline-think")) == 7);
}

/* Checks the text that the rule and the tag of an open event identify. */
static void words(void)
{
    static const char toml[] = "name = \"mine\"\n[[span]]\nchannel = \"tool\"\nopen = [\"[a]\"]\n"
                               "[[span]]\nchannel = \"thinking\"\nfamily = \"yours\"\ntag = { names = [\"b\", \"cd\"] }\n";
    aside_dialect *dialect = NULL;
    size_t len = 77;

    dialect = aside_dialect_load(toml, strlen(toml));
    CHECK(dialect != NULL);
    CHECK(aside_dialect_family(dialect, 2, &len) == NULL && aside_last_status() == ASIDE_ERROR_RANGE && len == 77);
    CHECK(aside_dialect_opener(dialect, 1, 2, &len) == NULL && aside_last_status() == ASIDE_ERROR_RANGE && len == 77);
    CHECK(strcmp(aside_dialect_family(dialect, 0, NULL), "mine") == 0);
    CHECK(strcmp(aside_dialect_family(dialect, 1, &len), "yours") == 0 && len == 5);
    CHECK(strcmp(aside_dialect_opener(dialect, 0, 0, NULL), "[a]") == 0);
    CHECK(strcmp(aside_dialect_opener(dialect, 1, 1, &len), "cd") == 0 && len == 2);
    aside_dialect_free(dialect);
}

static void grammar(void)
{
    static const char tools[] = "[{\"name\": \"f\", \"parameters\": {\"type\": \"object\", \"properties\": {"
                                "\"x\": {\"type\": \"string\", \"minLength\": 2}}}}]";
    const aside_dialect *glm = dialect_named("glm-4.5");
    size_t len = 77;
    char *made = aside_dialect_grammar(glm, ASIDE_GRAMMAR_FORMAT_LARK, tools, strlen(tools), "f", 1, 0, &len);

    CHECK(made != NULL && strlen(made) == len && strncmp(made, "%llguidance {}\nstart: \"<tool_call>\"", 35) == 0);
    CHECK(strcmp(made + len + 1, "f.x: `minLength` is not in the grammar") == 0);
    aside_free(made);
    made = aside_dialect_grammar(glm, ASIDE_GRAMMAR_FORMAT_XGRAMMAR, tools, strlen(tools), "auto", 4, 0, &len);
    CHECK(made != NULL && strlen(made) == len && strncmp(made, "{\"type\":\"structural_tag\",", 25) == 0);
    aside_free(made);
    made = aside_dialect_grammar(glm, ASIDE_GRAMMAR_FORMAT_LARK, tools, strlen(tools), "f", 1, ASIDE_START_CONTENT, &len);
    CHECK(made != NULL && strncmp(made, "%llguidance {}\nstart: (\"<think>\" ", 33) == 0);
    aside_free(made);

    len = 77;
    CHECK(!aside_dialect_grammar(glm, 2, tools, strlen(tools), "f", 1, 0, &len)
          && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK(!aside_dialect_grammar(glm, 1, tools, strlen(tools), "g", 1, 0, &len)
          && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK(!aside_dialect_grammar(glm, 1, tools, strlen(tools), "f", 1, ASIDE_START_HEADER, &len));
    CHECK(aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK(!aside_dialect_grammar(glm, 1, tools, strlen(tools), "f", 1, 7, &len)
          && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK(!aside_dialect_grammar(glm, 1, "[", 1, "f", 1, 0, &len) && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK(!aside_dialect_grammar(glm, 1, "\xff", 1, "f", 1, 0, &len) && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK(!aside_dialect_grammar(glm, 1, NULL, 0, "f", 1, 0, &len) && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(!aside_dialect_grammar(NULL, 1, tools, strlen(tools), "f", 1, 0, &len) && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(!aside_dialect_grammar(glm, 1, tools, strlen(tools), "f", 1, 0, NULL) && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(len == 77);
}

static void load(void)
{
    static struct heard heard;
    aside_dialect *dialect = NULL;
    aside_scanner *scanner;
    size_t len;

    dialect = aside_dialect_load(mine, strlen(mine));
    CHECK(dialect != NULL);
    CHECK(strcmp(aside_dialect_name(dialect, &len), "mine") == 0 && len == 4);
    CHECK(aside_dialect_find("mine", 4) == NULL);
    scanner = aside_scanner_new(dialect, NULL);
    CHECK(scanner != NULL && aside_scanner_max_hold(scanner) == aside_dialect_max_hold(dialect));
    feed(scanner, &heard, "a((b", 4);
    aside_dialect_free(dialect);
    feed(scanner, &heard, "c))d", 4);
    finish(scanner, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "ad") == 0 && strcmp(heard.text[ASIDE_CHANNEL_THINKING], "bc") == 0);
    aside_scanner_free(scanner);
}

/* A response template must divide a text as its fields say. An error must name the part of the template that the library cannot
 * read. */
static void response_template(void)
{
    static const char json[] = "{\"start_anchor\": \"<a>\", \"fields\": {\"content\": {}, "
                               "\"thinking\": {\"open\": \"((\", \"close_pattern\": \"\\\\)\\\\)\\\\s*\"}}}";
    static const char wrong[] = "{\"start_anchor\": \"<a>\", \"fields\": {\"content\": {\"close_pattern\": \".*\"}}}";
    static struct heard heard;
    aside_dialect *dialect = aside_dialect_from_response_template(json, strlen(json));
    aside_scanner *scanner;

    CHECK(dialect != NULL);
    scanner = aside_scanner_new(dialect, NULL);
    CHECK(scanner != NULL);
    feed(scanner, &heard, "a((bc))d", 8);
    finish(scanner, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "ad") == 0 && strcmp(heard.text[ASIDE_CHANNEL_THINKING], "bc") == 0);
    aside_scanner_free(scanner);
    aside_dialect_free(dialect);
    CHECK(aside_dialect_from_response_template(wrong, strlen(wrong)) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_DIALECT);
    CHECK_SAYS("fields.content.close_pattern: the pattern `.*`");
    CHECK(aside_dialect_from_response_template(NULL, 1) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
}

/* The error must name the line and the key. */
static void refuse(const char *from, const char *to, const char *line, const char *key)
{
    char text[512];
    const char *at = strstr(mine, from);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - mine), mine, to, at + strlen(from));
    CHECK(aside_dialect_load(text, strlen(text)) == NULL && aside_last_status() == ASIDE_ERROR_DIALECT);
    CHECK_SAYS(line);
    CHECK_SAYS(key);
}

static void strip(const char *name, const char *text, size_t len, const char *content)
{
    size_t out_len = 77;
    char *out = aside_strip(dialect_named(name), text, len, &out_len);

    CHECK(out != NULL && out_len == strlen(content) && strcmp(out, content) == 0);
    aside_free(out);
}

int main(void)
{
    list();
    words();
    grammar();
    load();
    response_template();
    refuse("open = [\"((\"]", "opne = [\"((\"]", "line 5", "opne");
    refuse("close = [\"))\"]", "close = [\"\"]", "line 6", "close");
    refuse("channel = \"thinking\"", "channel = \"thikning\"", "line 4", "channel");
    refuse("open = [\"((\"]", "open = 5", "line 5", "open");
    refuse("open = [\"((\"]", "open = [\"((\"", "line 6", "");

    strip("inline-think", " <think>a</think>\n b\t", 21, "b");
    strip("inline-think", NULL, 0, "");
    strip("inline-think", "", 0, "");
    strip("inline-think", "<think>a", 8, "");
    strip("inline-think", "x <thi", 6, "x <thi");
    strip("thinking-tags", "a<thought>b</think> c", 21, "a c");
    return 0;
}
