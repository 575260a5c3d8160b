/* Event streams: every cut gives the same bytes; options of all versions; every misuse is a status. */
#include "check.h"

#define HUGE_LEN ((size_t)-1)
#define CHUNK(delta) "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{" delta "}}]}\n\n"

static const char stream[] = CHUNK("\"role\":\"assistant\",\"content\":\"<thi\"") ": ping\r\n\r\n" CHUNK("\"content\":\"nk>hm\"")
    CHUNK("\"content\":\"</think>It is 42.\"") "data: [DONE]\n\n";
static const char wanted[] = CHUNK("\"role\":\"assistant\",\"content\":\"\"") ": ping\r\n\r\n" CHUNK("\"reasoning_content\":\"hm\"")
    CHUNK("\"content\":\"It is 42.\"") "data: [DONE]\n\n";

static char got[4096];
static size_t got_len;

static void take(const char *out, size_t len)
{
    CHECK(out != NULL && got_len + len < sizeof got);
    memcpy(got + got_len, out, len);
    got_len += len;
    got[got_len] = 0;
}

static void give(aside_sse *sse, const char *buf, size_t len)
{
    const char *out;
    size_t out_len;

    CHECK_STATUS(aside_sse_feed(sse, buf, len, &out, &out_len), ASIDE_OK);
    take(out, out_len);
}

static void end(aside_sse *sse)
{
    const char *out;
    size_t out_len;

    CHECK_STATUS(aside_sse_finish(sse, &out, &out_len), ASIDE_OK);
    take(out, out_len);
}

static void cuts(void)
{
    aside_sse *sse = aside_sse_new(dialect_named("inline-think"), NULL);
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
    aside_sse_free(sse);
}

static void with_options(const aside_sse_options *options, const char *in, const char *expected)
{
    aside_sse *sse = aside_sse_new(dialect_named("inline-think"), options);

    CHECK(sse != NULL);
    got_len = 0;
    give(sse, in, strlen(in));
    end(sse);
    CHECK(strcmp(got, expected) == 0);
    aside_sse_free(sse);
}

static void refused(const aside_sse_options *options, aside_status status)
{
    CHECK(aside_sse_new(dialect_named("inline-think"), options) == NULL);
    CHECK(aside_last_status() == status && *aside_last_error() != 0);
}

static void options(void)
{
    struct {
        aside_sse_options options;
        unsigned char later[40];
    } newer;
    aside_sse_options options;
    aside_sse *sse;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    with_options(&options, stream, wanted);
    options.field = ASIDE_FIELD_REASONING;
    with_options(&options, CHUNK("\"content\":\"<think>a\""), CHUNK("\"reasoning\":\"a\""));
    options.field = ASIDE_FIELD_THINKING;
    options.start = ASIDE_START_THINKING;
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
    options.body = ASIDE_BODY_JSON + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.body = ASIDE_BODY_UNKNOWN;
    options.field = ASIDE_FIELD_THINKING + 1;
    refused(&options, ASIDE_ERROR_OPTION);
    options.field = ASIDE_FIELD_REASONING_CONTENT;
    options.start = ASIDE_START_TOOL;
    refused(&options, ASIDE_ERROR_OPTION);
    options.start = 99;
    refused(&options, ASIDE_ERROR_OPTION);
    options.start = ASIDE_START_DEFAULT;
    options.size = HUGE_LEN;
    refused(&options, ASIDE_ERROR_SIZE);
    options.size = 0;
    refused(&options, ASIDE_ERROR_SIZE);

    /* What passes unread is counted. */
    options.size = sizeof options;
    options.max_event = 20;
    sse = aside_sse_new(dialect_named("inline-think"), &options);
    CHECK(sse != NULL && aside_sse_too_long(sse) == 0);
    got_len = 0;
    give(sse, stream, strlen(stream));
    CHECK(strcmp(got, stream) == 0 && aside_sse_too_long(sse) == 3);
    CHECK_STATUS(aside_sse_reset(sse), ASIDE_OK);
    CHECK(aside_sse_too_long(sse) == 0);
    aside_sse_free(sse);

    /* An older and a newer header. */
    options.size = offsetof(aside_sse_options, max_event);
    with_options(&options, stream, wanted);
    memset(&newer, 0, sizeof newer);
    newer.options.size = sizeof newer;
    with_options(&newer.options, stream, wanted);
    newer.later[sizeof newer.later - 1] = 1;
    refused(&newer.options, ASIDE_ERROR_OPTION);
}

static void misuse(void)
{
    aside_sse *sse = aside_sse_new(dialect_named("inline-think"), NULL);
    const char *out = stream;
    size_t out_len = 77;

    CHECK(aside_sse_new(NULL, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    aside_sse_free(NULL);
    CHECK_STATUS(aside_sse_feed(NULL, "a", 1, &out, &out_len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_sse_feed(sse, NULL, 1, &out, &out_len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_sse_feed(sse, "a", 1, NULL, &out_len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_sse_feed(sse, "a", 1, &out, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_sse_feed(sse, "a", HUGE_LEN, &out, &out_len), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_sse_finish(NULL, &out, &out_len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_sse_finish(sse, NULL, &out_len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_sse_finish(sse, &out, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_sse_reset(NULL), ASIDE_ERROR_NULL);
    CHECK(aside_sse_too_long(NULL) == 0 && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(out == stream && out_len == 77);

    /* After all that, as if nothing had been; and a dialect may go before its rewriter. */
    got_len = 0;
    give(sse, stream, 20);
    CHECK_STATUS(aside_sse_reset(sse), ASIDE_OK);
    give(sse, stream, strlen(stream));
    end(sse);
    CHECK(strcmp(got, wanted) == 0);
    aside_sse_free(sse);
}

int main(void)
{
    cuts();
    options();
    misuse();
    return 0;
}
