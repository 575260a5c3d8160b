/* Tests the rewriting of event streams: the bytes must be the same at every cut, options of all versions must be read, and every
 * misuse must return a status. */
#include "check.h"

#define HUGE_LEN ((size_t)-1)
#define CHUNK(delta) "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{" delta "}}]}\n\n"
#define EMPTY_CHUNK "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":null}]}\n\n"

static const char stream[] = CHUNK("\"role\":\"assistant\",\"content\":\"<thi\"") ": ping\r\n\r\n" CHUNK(
    "\"content\":\"nk>hm\"") CHUNK("\"content\":\"</think>It is 42.\"") "data: [DONE]\n\n";
static const char wanted[] = CHUNK("\"role\":\"assistant\",\"content\":\"\"") ": ping\r\n\r\n" CHUNK(
    "\"reasoning_content\":\"hm\"") CHUNK("\"content\":\"It is 42.\"") "data: [DONE]\n\n";

static const char without_comments[] = CHUNK("\"role\":\"assistant\",\"content\":\"\"") CHUNK("\"reasoning_content\":\"hm\"")
    CHUNK("\"content\":\"It is 42.\"") "data: [DONE]\n\n";

static const char with_chunks[] = CHUNK("\"role\":\"assistant\",\"content\":\"\"")
    EMPTY_CHUNK CHUNK("\"reasoning_content\":\"hm\"") CHUNK("\"content\":\"It is 42.\"") "data: [DONE]\n\n";

static char got[4096];
static size_t got_len;

static void take(aside_bytes out)
{
    CHECK(is_address(out.at) && got_len + out.len < sizeof got);
    memcpy(got + got_len, out.at, out.len);
    got_len += out.len;
    got[got_len] = 0;
}

static void give(aside_rewriter *sse, const char *buf, size_t len)
{
    aside_bytes out;

    CHECK_STATUS(aside_rewriter_feed(sse, buf, len, &out), ASIDE_OK);
    take(out);
}

static void end(aside_rewriter *sse)
{
    aside_bytes out;

    CHECK_STATUS(aside_rewriter_finish(sse, &out), ASIDE_OK);
    take(out);
}

static aside_rewriter_stats stats_of(const aside_rewriter *sse)
{
    aside_rewriter_stats stats;

    stats.size = sizeof stats;
    CHECK_STATUS(aside_rewriter_get_stats(sse, &stats), ASIDE_OK);
    return stats;
}

static aside_dialect *loaded(const char *toml)
{
    aside_dialect *dialect = aside_dialect_load(toml, strlen(toml));

    CHECK(dialect != NULL);
    return dialect;
}

static void cuts(void)
{
    aside_rewriter *sse = aside_rewriter_new(dialect_named("inline-think"), NULL);
    size_t at, len = strlen(stream);

    CHECK(sse != NULL);
    for (at = 0; at <= len; at++) {
        got_len = 0;
        give(sse, stream, at);
        give(sse, stream + at, len - at);
        end(sse);
        CHECK(strcmp(got, wanted) == 0);
    }
    got_len = 0;
    for (at = 0; at < len; at++)
        give(sse, stream + at, 1);
    give(sse, NULL, 0);
    end(sse);
    CHECK(strcmp(got, wanted) == 0);
    aside_rewriter_free(sse);
}

static void with_options(const aside_rewriter_options *options, const char *in, const char *expected)
{
    aside_rewriter *sse = aside_rewriter_new(dialect_named("inline-think"), options);

    CHECK(sse != NULL);
    got_len = 0;
    give(sse, in, strlen(in));
    end(sse);
    CHECK(strcmp(got, expected) == 0);
    aside_rewriter_free(sse);
}

static void refused(const aside_rewriter_options *options, aside_status status)
{
    CHECK(aside_rewriter_new(dialect_named("inline-think"), options) == NULL);
    CHECK(aside_last_status() == status && *aside_last_error() != 0);
}

static void options(void)
{
    struct {
        aside_rewriter_options options;
        unsigned char later[40];
    } newer;
    static const char stray[] = CHUNK("\"content\":\"a</think>b\"");
    static const char prompt[] = "<|im_start|>assistant\n<think>\n\n</think>\n\n";
    aside_answer_options answer = {.size = sizeof answer};
    aside_rewriter_options options;
    aside_rewriter *sse;
    int turn;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    with_options(&options, stream, wanted);
    options.answer = &answer;
    with_options(&options, stream, wanted);
    options.field = ASIDE_FIELD_REASONING;
    with_options(&options, CHUNK("\"content\":\"<think>a\""), CHUNK("\"reasoning\":\"a\""));
    options.field = ASIDE_FIELD_THINKING;
    answer.start = ASIDE_START_THINKING;
    options.body = ASIDE_BODY_EVENTS;
    with_options(&options, CHUNK("\"content\":\"a\""), CHUNK("\"thinking\":\"a\""));
    options.body = ASIDE_BODY_JSON;
    with_options(&options, "{\"choices\":[{\"message\":{\"content\":\"a</think>b\"}}]}",
                 "{\"choices\":[{\"message\":{\"thinking\":\"a\",\"content\":\"b\"}}]}");
    options.body = ASIDE_BODY_UNKNOWN;
    options.off = 1;
    with_options(&options, stream, stream);
    options.off = 2;
    refused(&options, ASIDE_ERROR_OPTION);
    options.off = 0;
    options.body = ASIDE_BODY_LINES + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.body = ASIDE_BODY_UNKNOWN;
    options.field = ASIDE_FIELD_THINKING + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.field = ASIDE_FIELD_REASONING_CONTENT;
    answer.start = ASIDE_START_TOOL;
    refused(&options, ASIDE_ERROR_OPTION);
    answer.start = 99;
    refused(&options, ASIDE_ERROR_OPTION);
    answer.start = ASIDE_START_DEFAULT;
    answer.id_prefix = bytes_of("x");
    refused(&options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.answer: a rewriter does not take id_prefix");
    answer.id_prefix.at = NULL;
    answer.budget_unit = ASIDE_BUDGET_UNIT_CHARACTERS;
    refused(&options, ASIDE_ERROR_OPTION);
    answer.budget_unit = ASIDE_BUDGET_UNIT_BYTES;
    answer.may_take_back = 1;
    refused(&options, ASIDE_ERROR_OPTION);
    answer.may_take_back = 0;
    answer.inline_calls = 1;
    refused(&options, ASIDE_ERROR_OPTION);
    answer.inline_calls = 0;
    answer.size = 0;
    refused(&options, ASIDE_ERROR_SIZE);
    answer.size = sizeof answer;
    options.reserved = 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.reserved = 0;
    options.size = HUGE_LEN;
    refused(&options, ASIDE_ERROR_SIZE);
    options.size = 0;
    refused(&options, ASIDE_ERROR_SIZE);

    /* By option, a closer without an opener makes the text before it thinking, or is text itself. */
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.answer = &answer;
    answer.stray_close = ASIDE_STRAY_CLOSE_DROP + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    answer.stray_close = ASIDE_STRAY_CLOSE_TEXT;
    sse = aside_rewriter_new(dialect_named("qwen3"), &options);
    CHECK(sse != NULL);
    for (turn = 0; turn < 5; turn++) {
        /* The option must hold for every stream, wherever the stream starts. */
        if (turn == 1)
            CHECK_STATUS(aside_rewriter_use_dialect(sse, NULL, ASIDE_START_CONTENT), ASIDE_OK);
        if (turn == 2)
            CHECK_STATUS(aside_rewriter_use_dialect(sse, dialect_named("glm-4.5"), ASIDE_START_DEFAULT), ASIDE_OK);
        if (turn == 3)
            CHECK_STATUS(aside_rewriter_start_from_prompt(sse, prompt, strlen(prompt), NULL), ASIDE_OK);
        if (turn == 4)
            CHECK_STATUS(aside_rewriter_reset(sse), ASIDE_OK);
        got_len = 0;
        give(sse, stray, strlen(stray));
        end(sse);
        CHECK(strcmp(got, stray) == 0);
    }
    aside_rewriter_free(sse);
    answer.stray_close = ASIDE_STRAY_CLOSE_DIALECT;
    sse = aside_rewriter_new(dialect_named("qwen3"), &options);
    CHECK(sse != NULL);
    got_len = 0;
    give(sse, stray, strlen(stray));
    end(sse);
    CHECK(strstr(got, "</think>") == NULL);
    aside_rewriter_free(sse);

    /* Events that are passed on unread must be counted. */
    options.max_event = 20;
    sse = aside_rewriter_new(dialect_named("inline-think"), &options);
    CHECK(sse != NULL && stats_of(sse).too_long == 0);
    got_len = 0;
    give(sse, stream, strlen(stream));
    CHECK(strcmp(got, stream) == 0 && stats_of(sse).too_long == 3);
    CHECK_STATUS(aside_rewriter_reset(sse), ASIDE_OK);
    CHECK(stats_of(sse).too_long == 0);
    aside_rewriter_free(sse);

    /* Sizes of an older and of a newer header. */
    options.size = offsetof(aside_rewriter_options, max_event);
    with_options(&options, stream, wanted);
    options.size = offsetof(aside_rewriter_options, formats);
    options.max_event = 0;
    options.formats = 99;
    with_options(&options, stream, wanted);
    memset(&newer, 0, sizeof newer);
    newer.options.size = sizeof newer;
    with_options(&newer.options, stream, wanted);
    newer.later[sizeof newer.later - 1] = 1;
    refused(&newer.options, ASIDE_ERROR_OPTION);
}

/* Each format and each switch must be accepted, and every other number refused. */
static void formats(void)
{
    static const char message[] =
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Yes.\"}]}";
    static const char thought[] =
        "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"<think>hm</think>Yes.\"}]}";
    static const char split[] =
        "{\"type\":\"message\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"\"},"
        "{\"type\":\"text\",\"text\":\"Yes.\"}]}";
    aside_answer_options answer = {.size = sizeof answer};
    aside_rewriter_options options;
    uint32_t bit;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.answer = &answer;
    for (bit = 0; bit < 33; bit++) {
        options.formats = bit == 32 ? ASIDE_FORMAT_ALL : bit;
        with_options(&options, message, message);
        /* 0 is all. */
        if (bit == 0 || (options.formats & ASIDE_FORMAT_CHAT) != 0)
            with_options(&options, stream, wanted);
        else
            with_options(&options, stream, stream);
        if (bit == 0 || (options.formats & ASIDE_FORMAT_MESSAGES) != 0)
            with_options(&options, thought, split);
        else
            with_options(&options, thought, thought);
    }
    options.formats = 32;
    refused(&options, ASIDE_ERROR_OPTION);
    options.formats = 0xFFFFFFFF;
    refused(&options, ASIDE_ERROR_OPTION);
    options.formats = ASIDE_FORMAT_ALL - 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.formats = 0x80000001;
    refused(&options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("formats 2147483649");
    options.formats = ASIDE_FORMAT_ALL;
    options.responses_as = ASIDE_RESPONSES_AS_SUMMARY;
    with_options(&options, stream, wanted);
    options.responses_as++;
    refused(&options, ASIDE_ERROR_OPTION);
    options.responses_as = 0;
    options.comments = ASIDE_COMMENTS_DROP;
    with_options(&options, stream, without_comments);
    options.comments = ASIDE_COMMENTS_CHUNK;
    with_options(&options, stream, with_chunks);
    options.comments++;
    refused(&options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("comments 3");
    options.comments = ASIDE_COMMENTS_KEEP;
    options.normalise = 16;
    refused(&options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("normalise 16");
    options.normalise = ASIDE_SHAPE_ALL;
    with_options(&options, stream, wanted);
    options.normalise = ASIDE_SHAPE_NONE;
    options.body = ASIDE_BODY_LINES;
    with_options(&options, message, message);
    options.body = ASIDE_BODY_UNKNOWN;
    {
        uint32_t *switches[] = {&options.repair, &answer.promote_empty, &options.merge, &options.label};
        size_t at;

        for (at = 0; at < sizeof switches / sizeof *switches; at++) {
            *switches[at] = 2;
            refused(&options, ASIDE_ERROR_OPTION);
            *switches[at] = 1;
            with_options(&options, message, message);
            *switches[at] = 0;
        }
    }
    for (answer.thinking = ASIDE_THINKING_KEEP; answer.thinking <= ASIDE_THINKING_INLINE; answer.thinking++)
        with_options(&options, message, message);
    refused(&options, ASIDE_ERROR_OPTION);
}

static void stats(void)
{
    struct {
        char before; /* makes the struct unaligned */
        unsigned char stats[sizeof(aside_rewriter_stats)];
    } odd;
    struct {
        aside_rewriter_stats stats;
        unsigned char later[40];
    } newer;
    static const unsigned char zero[sizeof(aside_rewriter_stats)];
    static const char wide[] = "data: {\"candidates\":[]}\n\n";
    aside_rewriter *sse = aside_rewriter_new(dialect_named("inline-think"), NULL);
    aside_rewriter_stats stats;

    CHECK(sse != NULL);
    memset(&stats, 77, sizeof stats);
    stats.size = sizeof stats;
    CHECK_STATUS(aside_rewriter_get_stats(sse, &stats), ASIDE_OK);
    CHECK(stats.size == sizeof stats
          && memcmp(&stats.events, zero, sizeof stats - offsetof(aside_rewriter_stats, events)) == 0);
    got_len = 0;
    give(sse, stream, strlen(stream));
    give(sse, wide, strlen(wide));
    give(sse, "data", 4);
    CHECK_STATUS(aside_rewriter_get_stats(sse, &stats), ASIDE_OK);
    CHECK(stats.events == 5 && stats.changed == 3 && stats.added == 0 && stats.unread == 1 && stats.held == 4);
    CHECK(stats.thinking_bytes == 2 && stats.content_bytes == strlen("It is 42.") && stats.too_long == 0);
    CHECK(stats.repaired == 0 && stats.unpromoted == 0 && stats.truncated == 0 && stats.split_by_server == 0);
    CHECK(stats.encoded == 0 && stats.reserved == 0);
    end(sse);

    /* The counts must stay after a finish. They are read into structs of all versions, one of them unaligned. */
    odd.before = 0;
    memcpy(odd.stats, &stats, sizeof stats);
    CHECK_STATUS(aside_rewriter_get_stats(sse, (aside_rewriter_stats *)(void *)odd.stats), ASIDE_OK);
    stats.held = 0;
    CHECK(odd.before == 0 && memcmp(odd.stats, &stats, sizeof stats) == 0);
    memset(&newer, 77, sizeof newer);
    newer.stats.size = sizeof newer;
    CHECK_STATUS(aside_rewriter_get_stats(sse, &newer.stats), ASIDE_OK);
    CHECK(newer.stats.events == 5 && memcmp(newer.later, zero, sizeof newer.later) == 0);

    CHECK_STATUS(aside_rewriter_get_stats(NULL, &stats), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_get_stats(sse, NULL), ASIDE_ERROR_NULL);
    stats.size--;
    CHECK_STATUS(aside_rewriter_get_stats(sse, &stats), ASIDE_ERROR_SIZE);
    stats.size = HUGE_LEN;
    CHECK_STATUS(aside_rewriter_get_stats(sse, &stats), ASIDE_ERROR_SIZE);
    CHECK(stats.events == 5);
    stats.size = sizeof stats;
    CHECK_STATUS(aside_rewriter_reset(sse), ASIDE_OK);
    CHECK_STATUS(aside_rewriter_get_stats(sse, &stats), ASIDE_OK);
    CHECK(memcmp(&stats.events, zero, sizeof stats - offsetof(aside_rewriter_stats, events)) == 0);
    aside_rewriter_free(sse);
}

/* Settings from the request must be made before the first byte, and hold for one stream. */
static void starts(void)
{
    static const char prompt[] = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n";
    static const char in[] = CHUNK("\"content\":\"hm</think>Yes.\"");
    static const char split[] =
        "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"},\"finish_reason\":null}]}\n\n" CHUNK(
            "\"content\":\"Yes.\"");
    static const char own[] = CHUNK("\"content\":\"<think>a\"");
    aside_rewriter *sse = aside_rewriter_new(dialect_named("qwen3"), NULL);
    aside_dialect *other;
    static const char toml[] = "name = \"x\"\nstart = \"thinking\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\n"
                               "close = [\"</think>\"]\n";
    uint32_t start = 99;
    int turn;

    CHECK(sse != NULL);
    other = loaded(toml);
    for (turn = 0; turn < 6; turn++) {
        switch (turn) {
        case 0: CHECK_STATUS(aside_rewriter_use_dialect(sse, NULL, ASIDE_START_THINKING), ASIDE_OK); break;
        case 1:
            CHECK_STATUS(aside_rewriter_start_from_prompt(sse, prompt, strlen(prompt), &start), ASIDE_OK);
            CHECK(start == ASIDE_START_THINKING);
            break;
        case 2:
            CHECK_STATUS(aside_rewriter_use_dialect(sse, dialect_named("qwen3-thinking"), ASIDE_START_DEFAULT), ASIDE_OK);
            break;
        case 3:
            /* The last call must win, and NULL means the rewriter's own dialect. */
            CHECK_STATUS(aside_rewriter_use_dialect(sse, other, ASIDE_START_CONTENT), ASIDE_OK);
            CHECK_STATUS(aside_rewriter_use_dialect(sse, dialect_named("harmony"), ASIDE_START_DEFAULT), ASIDE_OK);
            CHECK_STATUS(aside_rewriter_use_dialect(sse, NULL, ASIDE_START_THINKING), ASIDE_OK);
            break;
        case 4: CHECK_STATUS(aside_rewriter_start_from_prompt(sse, prompt, strlen(prompt), NULL), ASIDE_OK); break;
        default:
            /* A dialect may be freed as soon as the call has returned. */
            CHECK_STATUS(aside_rewriter_use_dialect(sse, other, ASIDE_START_DEFAULT), ASIDE_OK);
            aside_dialect_free(other);
        }
        got_len = 0;
        give(sse, in, strlen(in));
        CHECK_STATUS(aside_rewriter_use_dialect(sse, NULL, ASIDE_START_CONTENT), ASIDE_ERROR_ORDER);
        CHECK_STATUS(aside_rewriter_use_dialect(sse, dialect_named("any"), ASIDE_START_DEFAULT), ASIDE_ERROR_ORDER);
        CHECK_STATUS(aside_rewriter_start_from_prompt(sse, "", 0, &start), ASIDE_ERROR_ORDER);
        end(sse);
        CHECK(strcmp(got, split) == 0);
        got_len = 0;
        give(sse, own, strlen(own));
        end(sse);
        CHECK(strcmp(got, CHUNK("\"reasoning_content\":\"a\"")) == 0);
    }

    start = 99;
    CHECK_STATUS(aside_rewriter_use_dialect(sse, NULL, ASIDE_START_HEADER), ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_rewriter_use_dialect(sse, NULL, ASIDE_START_CALLS + 1), ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_rewriter_use_dialect(sse, dialect_named("inline-think"), ASIDE_START_TOOL), ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_rewriter_use_dialect(sse, dialect_named("inline-think"), ASIDE_START_CALLS + 1), ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_rewriter_use_dialect(NULL, dialect_named("any"), ASIDE_START_DEFAULT), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_start_from_prompt(NULL, prompt, 1, &start), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_start_from_prompt(sse, NULL, 1, &start), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_start_from_prompt(sse, prompt, HUGE_LEN, &start), ASIDE_ERROR_LENGTH);
    CHECK(start == 99);
    aside_rewriter_free(sse);
}

static void encoded(void)
{
    static const char gzip[] = "\x1F\x8B\x08\0\n\n";
    aside_rewriter *sse = aside_rewriter_new(dialect_named("qwen3"), NULL);
    size_t at;

    CHECK(sse != NULL && stats_of(sse).encoded == 0);
    got_len = 0;
    for (at = 0; at < sizeof gzip; at++)
        give(sse, gzip + at, 1);
    CHECK(got_len == sizeof gzip && memcmp(got, gzip, sizeof gzip) == 0 && stats_of(sse).encoded == 1);
    end(sse);
    CHECK(stats_of(sse).encoded == 1);
    got_len = 0;
    give(sse, stream, strlen(stream));
    CHECK(stats_of(sse).encoded == 0);
    aside_rewriter_free(sse);
}

/* Calls in the text must become tool_calls if the request offers their tools. */
static void calls(void)
{
    static const char toml[] = "name = \"calls\"\n"
                               "[[span]]\n"
                               "channel = \"thinking\"\n"
                               "open = [\"<think>\"]\n"
                               "close = [\"</think>\"]\n"
                               "[[span]]\n"
                               "channel = \"tool\"\n"
                               "open = [\"<t>\"]\n"
                               "close = [\"</t>\"]\n"
                               "ends = \"thinking\"\n"
                               "[[span.call]]\n"
                               "body = \"object\"\n";
    static const char in[] =
        "{\"id\":\"c1\",\"choices\":[{\"message\":{\"content\":\"<think>a<t>{\\\"name\\\":\\\"f\\\"}</t>\"},"
        "\"finish_reason\":\"stop\"}]}";
    static const char call[] = CHUNK("\"content\":\"<t>{\\\"name\\\":\\\"f\\\"}</t>\"");
    static const char told[] = "{\"id\":\"c1\",\"choices\":[{\"message\":{\"reasoning_content\":\"a\",\"content\":null,"
                               "\"tool_calls\":[{\"id\":\"call_c1_0_0\",\"type\":\"function\",\"function\":{\"name\":\"f\","
                               "\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}";
    static const char text[] = "{\"id\":\"c1\",\"choices\":[{\"message\":{\"reasoning_content\":\"a\",\"content\":\"<t>{"
                               "\\\"name\\\":\\\"f\\\"}</t>\"},\"finish_reason\":\"stop\"}]}";
    static const char thought[] = "{\"id\":\"c1\",\"choices\":[{\"message\":{\"reasoning_content\":\"a<t>{\\\"name\\\":"
                                  "\\\"f\\\"}</t>\",\"content\":\"\"},\"finish_reason\":\"stop\"}]}";
    struct {
        const char *tools; /* of the options */
        const char *used;  /* of the request, or none */
        uint32_t in_thinking;
        const char *wanted;
    } cases[] = {
        {NULL, "", ASIDE_CALLS_IN_THINKING_DIALECT, told},
        {"[]", "", ASIDE_CALLS_IN_THINKING_DIALECT, text},
        {"[{\"name\":\"f\"}]", "", ASIDE_CALLS_IN_THINKING_DIALECT, told},
        {"[{\"name\":\"f\"}]", "[]", ASIDE_CALLS_IN_THINKING_DIALECT, text},
        {"[]", "[{\"name\":\"f\"}]", ASIDE_CALLS_IN_THINKING_DIALECT, told},
        {"[]", NULL, ASIDE_CALLS_IN_THINKING_DIALECT, told},
        {NULL, "", ASIDE_CALLS_IN_THINKING_NEVER, thought},
    };
    aside_answer_options answer = {.size = sizeof answer};
    aside_rewriter_options options = {.size = sizeof options, .answer = &answer, .calls = 2};
    char long_tools[101];
    aside_dialect *dialect;
    aside_rewriter *sse;
    size_t i;

    dialect = loaded(toml);
    refused(&options, ASIDE_ERROR_OPTION);
    options.calls = 1;
    answer.calls_in_thinking = ASIDE_CALLS_IN_THINKING_ALWAYS + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    answer.calls_in_thinking = ASIDE_CALLS_IN_THINKING_DIALECT;
    answer.tools.at = "[1]";
    answer.tools.len = 3;
    refused(&options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.tools[0]: not a JSON object");
    answer.max_tools = 2;
    refused(&options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.tools: 3 bytes, more than 2: list fewer tools, or set `max_tools` higher");
    answer.max_tools = 100;
    answer.tools.len = HUGE_LEN;
    refused(&options, ASIDE_ERROR_LENGTH);
    answer.tools.at = NULL;
    answer.tools.len = 1;
    refused(&options, ASIDE_ERROR_NULL);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        answer.tools.at = cases[i].tools;
        answer.tools.len = cases[i].tools == NULL ? 0 : strlen(cases[i].tools);
        answer.calls_in_thinking = cases[i].in_thinking;
        sse = aside_rewriter_new(dialect, &options);
        CHECK(sse != NULL);
        if (cases[i].used == NULL)
            CHECK_STATUS(aside_rewriter_use_tools(sse, NULL, 0), ASIDE_OK);
        else if (*cases[i].used != 0)
            CHECK_STATUS(aside_rewriter_use_tools(sse, cases[i].used, strlen(cases[i].used)), ASIDE_OK);
        got_len = 0;
        give(sse, in, 7);
        CHECK_STATUS(aside_rewriter_use_tools(sse, "[]", 2), ASIDE_ERROR_ORDER);
        give(sse, in + 7, strlen(in) - 7);
        end(sse);
        if (strcmp(got, cases[i].wanted) != 0) {
            fprintf(stderr, "case %u: %s\n", (unsigned)i, got);
            exit(1);
        }
        CHECK_STATUS(aside_rewriter_use_tools(sse, "[", 1), ASIDE_ERROR_OPTION);
        CHECK_SAYS("tools: not JSON");
        memset(long_tools, ' ', sizeof long_tools);
        memcpy(long_tools, "[]", 2);
        CHECK_STATUS(aside_rewriter_use_tools(sse, long_tools, 100), ASIDE_OK);
        CHECK_STATUS(aside_rewriter_use_tools(sse, long_tools, 101), ASIDE_ERROR_OPTION);
        CHECK_SAYS("tools: 101 bytes, more than 100: ");
        CHECK_STATUS(aside_rewriter_use_tools(sse, "\xff", 1), ASIDE_ERROR_OPTION);
        CHECK_STATUS(aside_rewriter_use_tools(sse, NULL, 1), ASIDE_ERROR_NULL);
        CHECK_STATUS(aside_rewriter_use_tools(NULL, "[]", 2), ASIDE_ERROR_NULL);
        aside_rewriter_free(sse);
    }

    /* A call whose name comes too late must stay in the text. */
    answer = (aside_answer_options){.size = sizeof answer, .max_held = 4};
    sse = aside_rewriter_new(dialect, &options);
    CHECK(sse != NULL);
    got_len = 0;
    give(sse, call, strlen(call));
    end(sse);
    CHECK(strcmp(got, call) == 0);
    aside_rewriter_free(sse);
    aside_dialect_free(dialect);
}

/* Tests the options for calls that are too long for the client, calls of tools that it does not have, and calls without markers. */
static void policies(void)
{
#define BODY(CONTENT) "{\"id\":\"c1\",\"choices\":[{\"message\":{\"content\":\"" CONTENT "\"},\"finish_reason\":\"stop\"}]}"
#define TOLD(NAME)                                                                                                              \
    "{\"id\":\"c1\",\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[{\"id\":\"call_c1_0_0\",\"type\":\"function\"," \
    "\"function\":{\"name\":\"" NAME "\",\"arguments\":\"{\\\"x\\\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}"
#define CALL "{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{\\\"x\\\":1}}"
    static const char tagged[] = BODY("<tool_call>" CALL "</tool_call>");
    static const aside_answer_options wanted = {.size = sizeof wanted};
    aside_answer_options drop = wanted, tell = wanted, list = wanted, named = wanted, wrong = wanted;
    aside_rewriter_options options = {.size = sizeof options, .calls = 1};
    struct {
        const aside_answer_options *answer;
        const char *in, *out;
    } cases[] = {
        {&wanted, tagged, TOLD("f")},
        {&drop, tagged, BODY("")},
        {&tell, tagged, TOLD("f")},
        {&list, BODY("[" CALL "]"), TOLD("f")},
        {&named, BODY("{\\\"x\\\":1}"), TOLD("g")},
    };
    size_t i;

    drop.tools = tell.tools = bytes_of("[]");
    drop.unknown_tool = ASIDE_UNKNOWN_TOOL_DROP;
    tell.unknown_tool = ASIDE_UNKNOWN_TOOL_TELL;
    tell.not_whole = ASIDE_NOT_WHOLE_HOLD;
    tell.max_calls = 1;
    list.start = ASIDE_START_CALLS;
    named.start_call = bytes_of("g");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        aside_rewriter *sse;

        options.answer = cases[i].answer;
        sse = aside_rewriter_new(dialect_named("qwen3"), &options);
        CHECK(sse != NULL);
        got_len = 0;
        give(sse, cases[i].in, strlen(cases[i].in));
        end(sse);
        CHECK(strcmp(got, cases[i].out) == 0);
        aside_rewriter_free(sse);
    }
    options.answer = &wrong;
    wrong.not_whole = ASIDE_NOT_WHOLE_TEXT + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    wrong = wanted;
    wrong.unknown_tool = ASIDE_UNKNOWN_TOOL_TELL + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    wrong = wanted;
    wrong.implied_end = ASIDE_IMPLIED_END_OFF + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    wrong = wanted;
    wrong.repair_arguments = 2;
    refused(&options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.repair_arguments is neither 0 nor 1");
    wrong = wanted;
    wrong.start_call = bytes_of("\xFF");
    refused(&options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.start_call: not UTF-8");
    wrong.start_call = (aside_bytes){"f", HUGE_LEN};
    refused(&options, ASIDE_ERROR_LENGTH);
}

static void misuse(void)
{
    aside_rewriter *sse = aside_rewriter_new(dialect_named("inline-think"), NULL);
    aside_bytes out = {stream, 77};

    CHECK(aside_rewriter_new(NULL, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    aside_rewriter_free(NULL);
    CHECK_STATUS(aside_rewriter_feed(NULL, "a", 1, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_feed(sse, NULL, 1, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_feed(sse, "a", 1, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_feed(sse, "a", HUGE_LEN, &out), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_rewriter_finish(NULL, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_finish(sse, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_reset(NULL), ASIDE_ERROR_NULL);
    CHECK(out.at == stream && out.len == 77);

    /* The rewriter must work as if the refused calls had never been made, and a dialect may be freed before its rewriter. */
    got_len = 0;
    give(sse, stream, 20);
    CHECK_STATUS(aside_rewriter_reset(sse), ASIDE_OK);
    give(sse, stream, strlen(stream));
    end(sse);
    CHECK(strcmp(got, wanted) == 0);
    aside_rewriter_free(sse);
}

int main(void)
{
    cuts();
    options();
    formats();
    stats();
    starts();
    encoded();
    calls();
    policies();
    misuse();
    return 0;
}
