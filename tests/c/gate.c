/* Tests the functions that decide which answers a rewriter must read and which requests change the answer. Every misuse must return
 * a status. */
#include "check.h"
#include <aside_unstable.h>

#define HUGE_LEN ((size_t)-1)
#define TEXT(text) (text), strlen(text)

static aside_bytes text(const char *at)
{
    aside_bytes bytes;

    bytes.at = at;
    bytes.len = at == NULL ? 0 : strlen(at);
    return bytes;
}

static aside_exchange exchange(uint32_t status, const char *path, const char *type, const char *encoding, uint32_t formats)
{
    aside_exchange exchange;

    memset(&exchange, 0, sizeof exchange);
    exchange.size = sizeof exchange;
    exchange.status = status;
    exchange.formats = formats;
    exchange.path = text(path);
    exchange.content_type = text(type);
    exchange.content_encoding = text(encoding);
    return exchange;
}

/* Returns the kind of an answer's body, or 77 if the answer must be passed on unread. */
static uint32_t wants(uint32_t status, const char *path, const char *type, const char *encoding, uint32_t formats)
{
    unsigned char room[1 + sizeof(aside_exchange)], body_room[1 + sizeof(uint32_t)]; /* not aligned */
    aside_exchange given = exchange(status, path, type, encoding, formats);
    uint32_t body = 77;
    aside_status got;

    memcpy(room + 1, &given, sizeof given);
    memcpy(body_room + 1, &body, sizeof body);
    got = aside_rewriter_wants((aside_exchange *)(void *)(room + 1), (uint32_t *)(void *)(body_room + 1));
    memcpy(&body, body_room + 1, sizeof body);
    CHECK_STATUS(got, body == 77 ? ASIDE_NONE : ASIDE_OK);
    return body;
}

/* Returns the hint for a request, or 77 if it needs none. */
static uint32_t hint_of(const char *path, const char *method, uint32_t formats)
{
    /* The fields about the answer must not matter, so they have wrong values. */
    aside_exchange given = exchange(500, path, NULL, "gzip", formats);
    uint32_t hint = 77;

    given.method = text(method);
    CHECK_STATUS(aside_request_hint(&given, &hint), hint == 77 ? ASIDE_NONE : ASIDE_OK);
    return hint;
}

static void answers(void)
{
    static const struct {
        const char *path;
        uint32_t format;
    } paths[] = {
        {"/v1/chat/completions", ASIDE_FORMAT_CHAT},
        {"/v1/completions?stream", ASIDE_FORMAT_COMPLETIONS},
        {"/v1/responses", ASIDE_FORMAT_RESPONSES},
        {"/v1/messages?beta=true", ASIDE_FORMAT_MESSAGES},
        {"/api/chat", ASIDE_FORMAT_OLLAMA},
        {"/api/generate", ASIDE_FORMAT_OLLAMA},
        {"/v1/messages/count_tokens", 0},
        {"/v1/models", 0},
    };
    uint32_t bits, formats;
    size_t at;

    for (at = 0; at < sizeof paths / sizeof *paths; at++)
        for (bits = 0; bits < 33; bits++) {
            int fits;

            formats = bits == 32 ? ASIDE_FORMAT_ALL : bits;
            /* 0 is all. */
            fits = ((bits == 0 ? ASIDE_FORMAT_ALL : formats) & paths[at].format) != 0;
            CHECK(wants(200, paths[at].path, "application/json", NULL, formats) == (fits ? ASIDE_BODY_JSON : 77));
            CHECK(hint_of(paths[at].path, "POST", formats) == (fits ? ASIDE_HINT_IDENTITY : 77));
            CHECK(hint_of(paths[at].path, "GET", formats) == 77);
        }
    CHECK(wants(200, NULL, "Text/Event-Stream; charset=utf-8", " Identity ", ASIDE_FORMAT_ALL) == ASIDE_BODY_EVENTS);
    CHECK(wants(200, NULL, "application/x-ndjson", "", ASIDE_FORMAT_ALL) == ASIDE_BODY_LINES);
    CHECK(wants(200, NULL, "application/jsonl", NULL, ASIDE_FORMAT_ALL) == ASIDE_BODY_LINES);
    CHECK(wants(200, NULL, "text/event-stream-x", NULL, ASIDE_FORMAT_ALL) == 77);
    CHECK(wants(200, NULL, "application/json-patch+json", NULL, ASIDE_FORMAT_ALL) == 77);
    CHECK(wants(200, NULL, NULL, NULL, ASIDE_FORMAT_ALL) == ASIDE_BODY_JSON);
    CHECK(wants(200, NULL, "text/plain", NULL, ASIDE_FORMAT_ALL) == ASIDE_BODY_JSON);
    CHECK(wants(200, NULL, "application/json", "gzip", ASIDE_FORMAT_ALL) == 77);
    CHECK(wants(500, NULL, "application/json", NULL, ASIDE_FORMAT_ALL) == 77);
}

/* Searches for the model in a body that is fed byte by byte. Returns the length of its name, or 77 if the body names none. */
static size_t model_of(const char *body, size_t room, const char *wanted)
{
    unsigned char place[1 + sizeof(size_t)]; /* not aligned */
    size_t len, model_len = 77;
    char model[64];
    aside_status got = ASIDE_MORE;

    memset(model, '!', sizeof model);
    memcpy(place + 1, &model_len, sizeof model_len);
    for (len = 0; got == ASIDE_MORE && len <= strlen(body); len++) {
        got = aside_request_model(body, len, room == 0 ? NULL : model, room, (size_t *)(void *)(place + 1));
        memcpy(&model_len, place + 1, sizeof model_len);
        CHECK(got == ASIDE_OK || model_len == 77);
    }
    CHECK_STATUS(got, wanted == NULL ? ASIDE_NONE : ASIDE_OK);
    CHECK(model[room] == '!');
    CHECK(wanted == NULL || (model_len == strlen(wanted) && memcmp(model, wanted, model_len) == 0));
    return model_len;
}

static void models(void)
{
    static const char body[] = "{\"messages\":[{\"model\":1}],\"model\":\"Qwen\\/Qwen3\",\"model\":\"b\"} more";
    char model[8];
    size_t model_len = 77;

    CHECK(model_of(body, 63, "Qwen/Qwen3") == 10 && model_of(body, 10, "Qwen/Qwen3") == 10);
    CHECK(model_of(body, 9, NULL) == 77 && model_of(body, 0, NULL) == 77);
    CHECK(model_of("{\"model\":\"\"}", 0, "") == 0);
    CHECK(model_of("{\"model\":null}", 63, NULL) == 77 && model_of("{}", 63, NULL) == 77 && model_of("[", 63, NULL) == 77);
    CHECK_STATUS(aside_request_model(NULL, 0, model, sizeof model, &model_len), ASIDE_MORE);
    CHECK_STATUS(aside_request_model(NULL, 1, model, sizeof model, &model_len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_request_model(TEXT(body), NULL, 1, &model_len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_request_model(TEXT(body), model, sizeof model, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_request_model(body, HUGE_LEN, model, sizeof model, &model_len), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_request_model(TEXT(body), model, HUGE_LEN, &model_len), ASIDE_ERROR_LENGTH);
    CHECK(model_len == 77);
}

static aside_request read_of(const char *path, const char *body)
{
    aside_exchange exchanged = exchange(0, path, NULL, NULL, 0);
    aside_request request = {.size = sizeof request};

    CHECK_STATUS(aside_request_read(&exchanged, TEXT(body), &request), ASIDE_OK);
    return request;
}

static void requests(void)
{
    static const char body[] = "{\"enable_thinking\":false,\"tools\":[{\"name\":\"f\"}]}";
    aside_exchange exchanged = exchange(0, "/v1/messages", NULL, NULL, 0);
    aside_request request = read_of("/v1/chat/completions", body);

    CHECK(request.thinks == ASIDE_THINKS_OFF && request.thinking == ASIDE_THINKING_KEEP);
    CHECK(request.tools.len == 14 && request.tools.at == strchr(body, '['));
    CHECK(read_of("/v1/messages", "{}").thinking == ASIDE_THINKING_DROP);
    CHECK(read_of("/v1/messages", "{\"thinking\":{\"type\":\"enabled\"}}").thinks == ASIDE_THINKS_ON);
    request = read_of("/v1/chat/completions", "");
    CHECK(request.thinks == ASIDE_THINKS_UNKNOWN && request.thinking == ASIDE_THINKING_KEEP);
    CHECK(request.tools.len == 2 && memcmp(request.tools.at, "[]", 2) == 0);

    request.tools.len = 77;
    CHECK_STATUS(aside_request_read(NULL, TEXT("{}"), &request), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_request_read(&exchanged, NULL, 1, &request), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_request_read(&exchanged, "{}", HUGE_LEN, &request), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_request_read(&exchanged, TEXT("{}"), NULL), ASIDE_ERROR_NULL);
    request.size = 8;
    CHECK_STATUS(aside_request_read(&exchanged, TEXT("{}"), &request), ASIDE_ERROR_SIZE);
    exchanged.size = 1;
    CHECK_STATUS(aside_request_read(&exchanged, TEXT("{}"), &request), ASIDE_ERROR_SIZE);
    CHECK(request.tools.len == 77);
}

static void misuse(void)
{
    aside_exchange good = exchange(200, "/v1/messages", "application/json", NULL, 0), bad;
    struct {
        aside_exchange exchange;
        unsigned char later[40];
    } newer;
    aside_bytes *texts[] = {&bad.method, &bad.path, &bad.content_type, &bad.content_encoding};
    uint32_t out = 77;
    size_t at;

    good.method = text("POST");
    for (at = 0; at < sizeof texts / sizeof *texts; at++) {
        bad = good;
        texts[at]->at = NULL;
        texts[at]->len = 1;
        CHECK_STATUS(aside_rewriter_wants(&bad, &out), ASIDE_ERROR_NULL);
        CHECK_STATUS(aside_request_hint(&bad, &out), ASIDE_ERROR_NULL);
        texts[at]->at = "/";
        texts[at]->len = HUGE_LEN;
        CHECK_STATUS(aside_rewriter_wants(&bad, &out), ASIDE_ERROR_LENGTH);
        CHECK_STATUS(aside_request_hint(&bad, &out), ASIDE_ERROR_LENGTH);
    }
    bad = good;
    bad.formats = 32;
    CHECK_STATUS(aside_rewriter_wants(&bad, &out), ASIDE_ERROR_OPTION);
    CHECK_SAYS("formats 32");
    CHECK_STATUS(aside_request_hint(&bad, &out), ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_rewriter_wants(NULL, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_request_hint(NULL, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_rewriter_wants(&good, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_request_hint(&good, NULL), ASIDE_ERROR_NULL);

    /* A smaller struct is refused, as no header had one. A struct of a later header is refused unless its unknown fields are
     * zero. */
    bad = good;
    bad.size--;
    CHECK_STATUS(aside_rewriter_wants(&bad, &out), ASIDE_ERROR_SIZE);
    CHECK_STATUS(aside_request_hint(&bad, &out), ASIDE_ERROR_SIZE);
    memset(&newer, 0, sizeof newer);
    newer.exchange = good;
    newer.exchange.size = sizeof newer;
    newer.later[39] = 1;
    CHECK_STATUS(aside_rewriter_wants(&newer.exchange, &out), ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_request_hint(&newer.exchange, &out), ASIDE_ERROR_OPTION);
    CHECK_SAYS("does not know");
    CHECK(out == 77);
    newer.later[39] = 0;
    CHECK_STATUS(aside_rewriter_wants(&newer.exchange, &out), ASIDE_OK);
    CHECK(out == ASIDE_BODY_JSON);
    CHECK_STATUS(aside_request_hint(&newer.exchange, &out), ASIDE_OK);
    CHECK(out == ASIDE_HINT_IDENTITY);
}

int main(void)
{
    answers();
    models();
    requests();
    misuse();
    return 0;
}
