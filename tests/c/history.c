/* Tests the rewriting of a request's history. Every misuse must return a status. */
#include "check.h"
#include <aside_unstable.h>

#define HUGE_LEN ((size_t)-1)
#define TEXT(text) (text), strlen(text)

static aside_history_options options_for(aside_formats format)
{
    aside_history_options options;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.format = format;
    return options;
}

/* Checks the rewritten body, and the report about it. */
static aside_history_report rewritten(const aside_history_options *options, const char *body, const char *wanted)
{
    aside_history_report report;
    size_t len = 0;
    char *out;

    memset(&report, 77, sizeof report);
    report.size = sizeof report;
    out = aside_history_rewrite(options, TEXT(body), &report, &len);
    CHECK(out != NULL && len == strlen(wanted) && strcmp(out, wanted) == 0);
    aside_free(out);
    return report;
}

static void formats(void)
{
    aside_formats format = 77;

    CHECK_STATUS(aside_history_format(TEXT("/v1/chat/completions"), &format), ASIDE_OK);
    CHECK(format == ASIDE_FORMAT_CHAT);
    CHECK_STATUS(aside_history_format(TEXT("/v1/responses?x"), &format), ASIDE_OK);
    CHECK(format == ASIDE_FORMAT_RESPONSES);
    CHECK_STATUS(aside_history_format(TEXT("/v1/messages"), &format), ASIDE_OK);
    CHECK(format == ASIDE_FORMAT_MESSAGES);
    format = 77;
    CHECK_STATUS(aside_history_format(TEXT("/api/chat"), &format), ASIDE_NONE);
    CHECK_STATUS(aside_history_format(NULL, 0, &format), ASIDE_NONE);
    CHECK_STATUS(aside_history_format(NULL, 1, &format), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_history_format("/", HUGE_LEN, &format), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_history_format(TEXT("/v1/messages"), NULL), ASIDE_ERROR_NULL);
    CHECK(format == 77);
}

static void names(void)
{
    static const char *const placed[] = {
        "{\"messages\":[{\"role\":\"assistant\",\"reasoning\":\"a\",\"content\":\"b\"}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"reasoning_content\":\"a\",\"content\":\"b\"}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"reasoning\":\"a\",\"content\":\"b\"}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"thinking\":\"a\",\"content\":\"b\"}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"b\","
        "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\"}]}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":"
        "[{\"type\":\"text\",\"text\":\"a\"}]},{\"type\":\"text\",\"text\":\"b\"}]}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"reasoning\":\"a\",\"content\":\"b\"}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"reasoning\":\"a\",\"content\":\"b\"}]}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":\"<think>\\na\\n</think>\\n\\nb\"}]}",
    };
    aside_history_options options = options_for(ASIDE_FORMAT_CHAT);
    aside_history_report report;

    options.dialect = aside_dialect_find(TEXT("qwen3"));
    CHECK(options.dialect != NULL);
    for (options.name = 0; options.name < sizeof placed / sizeof *placed; options.name++) {
        report = rewritten(&options, placed[0], placed[options.name]);
        CHECK(report.outcome == ASIDE_HISTORY_OUTCOME_READ);
        CHECK(report.changed == (uint64_t)(strcmp(placed[options.name], placed[0]) != 0));
        CHECK(report.refused == 0 && report.unread == 0 && report.thinking_off == 0);
    }
}

static void reports(void)
{
    aside_history_options options = options_for(ASIDE_FORMAT_MESSAGES);
    aside_history_report report;
    const char *stored = "{\"conversation\":\"c\",\"input\":[]}";
    size_t len = 0;
    char *out;

    options.made = ASIDE_HISTORY_MADE_REMOVE;
    report = rewritten(&options,
                       "{\"thinking\":{\"type\":\"enabled\"},\"messages\":[{\"role\":\"assistant\",\"content\":"
                       "[{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"\"},{\"type\":\"tool_use\"}]}]}",
                       "{\"thinking\":{\"type\":\"disabled\"},\"messages\":[{\"role\":\"assistant\",\"content\":"
                       "[{\"type\":\"tool_use\"}]}]}");
    CHECK(report.changed == 1 && report.thinking_off == 1);
    options.max_body = 1;
    CHECK(rewritten(&options, "{}", "{}").outcome == ASIDE_HISTORY_OUTCOME_TOO_LONG);
    options.max_body = 0;
    CHECK(rewritten(&options, "\xff", "\xff").outcome == ASIDE_HISTORY_OUTCOME_NOT_UTF8);
    CHECK(rewritten(&options, "{}", "{}").outcome == ASIDE_HISTORY_OUTCOME_NOT_REQUEST);
    CHECK(rewritten(&options, "{\"a\":1,\"a\":1}", "{\"a\":1,\"a\":1}").outcome == ASIDE_HISTORY_OUTCOME_REPEATED);
    options.format = ASIDE_FORMAT_RESPONSES;
    CHECK(rewritten(&options, stored, stored).outcome == ASIDE_HISTORY_OUTCOME_STORED);
    /* No report is requested; the body is empty. */
    out = aside_history_rewrite(&options, NULL, 0, NULL, &len);
    CHECK(out != NULL && len == 0 && *out == 0);
    aside_free(out);
}

static void servers(void)
{
    static const char *const file = "name = \"mine\"\n[chat]\nname = \"thinking\"\nturns = \"none\"\nsources = []\n";
    aside_history_options options = options_for(0);
    size_t index, len = 0;
    const char *name;

    for (index = 0; (name = aside_history_server_name_at(index, &len)) != NULL; index++) {
        CHECK(len == strlen(name));
        options.name = 77;
        CHECK(aside_history_server_find(name, len, ASIDE_FORMAT_CHAT, &options) >= 0);
        CHECK(options.name == 77 || options.name <= ASIDE_HISTORY_NAME_TEXT);
    }
    CHECK(index > 8 && aside_history_server_name_at(HUGE_LEN, NULL) == NULL);

    CHECK_STATUS(aside_history_server_find(TEXT("deepseek"), ASIDE_FORMAT_CHAT, &options), ASIDE_OK);
    CHECK(options.name == ASIDE_HISTORY_NAME_REASONING_CONTENT && options.missing == ASIDE_HISTORY_MISSING_EMPTY);
    CHECK(options.format == ASIDE_FORMAT_CHAT && options.dialect == NULL);
    rewritten(&options, "{\"messages\":[{\"role\":\"assistant\"}]}",
              "{\"messages\":[{\"role\":\"assistant\",\"reasoning_content\":\"\"}]}");
    CHECK_STATUS(aside_history_server_find(TEXT("minimax"), ASIDE_FORMAT_CHAT, &options), ASIDE_OK);
    CHECK(options.name == ASIDE_HISTORY_NAME_TEXT && options.dialect == aside_dialect_find(TEXT("minimax-m2")));

    CHECK_STATUS(aside_history_server_load(TEXT(file), ASIDE_FORMAT_CHAT, &options), ASIDE_OK);
    CHECK(options.name == ASIDE_HISTORY_NAME_THINKING && options.turns == ASIDE_HISTORY_TURNS_NONE);
    options.name = 77;
    CHECK_STATUS(aside_history_server_load(TEXT(file), ASIDE_FORMAT_RESPONSES, &options), ASIDE_NONE);
    CHECK_STATUS(aside_history_server_load(TEXT("name = 3"), ASIDE_FORMAT_CHAT, &options), ASIDE_ERROR_DIALECT);
    CHECK_SAYS("line 1, name");
    CHECK_STATUS(aside_history_server_load("\xff", 1, ASIDE_FORMAT_CHAT, &options), ASIDE_ERROR_DIALECT);
    CHECK_STATUS(aside_history_server_load(NULL, 1, ASIDE_FORMAT_CHAT, &options), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_history_server_find(TEXT("vlm"), ASIDE_FORMAT_CHAT, &options), ASIDE_ERROR_UNKNOWN);
    CHECK_SAYS("vllm");
    CHECK_STATUS(aside_history_server_find(TEXT("vllm"), ASIDE_FORMAT_OLLAMA, &options), ASIDE_ERROR_OPTION);
    CHECK_SAYS("format 16");
    CHECK_STATUS(aside_history_server_find(TEXT("vllm"), ASIDE_FORMAT_CHAT, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_history_server_find("vllm", HUGE_LEN, ASIDE_FORMAT_CHAT, &options), ASIDE_ERROR_LENGTH);
    CHECK(options.name == 77);
}

/* A size that no version had is refused, and so is a larger struct unless its unknown fields are zero. */
static void sizes(void)
{
    struct {
        aside_history_options options;
        unsigned char later[24];
    } newer;
    struct {
        aside_history_report report;
        unsigned char later[24];
    } larger;
    aside_history_options options = options_for(ASIDE_FORMAT_CHAT);
    size_t len = 77;
    char *out;

    options.size--;
    CHECK(aside_history_rewrite(&options, TEXT("{}"), NULL, &len) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_SIZE);
    CHECK_STATUS(aside_history_server_find(TEXT("vllm"), ASIDE_FORMAT_CHAT, &options), ASIDE_ERROR_SIZE);
    memset(&newer, 0, sizeof newer);
    newer.options = options_for(ASIDE_FORMAT_CHAT);
    newer.options.size = sizeof newer;
    newer.later[23] = 1;
    CHECK(aside_history_rewrite(&newer.options, TEXT("{}"), NULL, &len) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_history_server_find(TEXT("vllm"), ASIDE_FORMAT_CHAT, &newer.options), ASIDE_OK);
    CHECK(newer.options.size == sizeof newer && newer.options.name == ASIDE_HISTORY_NAME_REASONING && newer.later[23] == 0);
    memset(&larger, 77, sizeof larger);
    larger.report.size = sizeof larger.report - 1;
    CHECK(aside_history_rewrite(&newer.options, TEXT("{}"), &larger.report, &len) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_SIZE && len == 77);
    larger.report.size = sizeof larger;
    out = aside_history_rewrite(&newer.options, TEXT("{}"), &larger.report, &len);
    CHECK(out != NULL && larger.report.size == sizeof larger && larger.report.outcome == ASIDE_HISTORY_OUTCOME_NOT_REQUEST);
    CHECK(larger.later[0] == 0 && larger.later[23] == 0);
    aside_free(out);
}

static void misuse(void)
{
    aside_history_options good = options_for(ASIDE_FORMAT_CHAT), bad;
    uint32_t *const fields[] = {&bad.format, &bad.name, &bad.turns, &bad.missing, &bad.made, &bad.reserved};
    size_t at, len = 77;

    for (at = 0; at < sizeof fields / sizeof *fields; at++) {
        bad = good;
        *fields[at] = 99;
        CHECK(aside_history_rewrite(&bad, TEXT("{}"), NULL, &len) == NULL);
        CHECK(aside_last_status() == ASIDE_ERROR_OPTION);
    }
    bad = good;
    bad.name = ASIDE_HISTORY_NAME_TEXT;
    CHECK(aside_history_rewrite(&bad, TEXT("{}"), NULL, &len) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_NULL);
    CHECK_SAYS("options->dialect");
    CHECK(aside_history_rewrite(NULL, TEXT("{}"), NULL, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_history_rewrite(&good, NULL, 1, NULL, &len) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_history_rewrite(&good, "{}", HUGE_LEN, NULL, &len) == NULL && aside_last_status() == ASIDE_ERROR_LENGTH);
    CHECK(aside_history_rewrite(&good, TEXT("{}"), NULL, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(len == 77);
}

int main(void)
{
    formats();
    names();
    reports();
    servers();
    sizes();
    misuse();
    return 0;
}
