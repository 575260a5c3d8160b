/* Memory that runs out must not end the process: while a scanner collects, a call writer holds a value, or a rewriter reads, it is a
 * status, which stays until reset. And dialects that were loaded before are found without any. */
#define _DEFAULT_SOURCE
#include "check.h"
#include <sys/resource.h>

static const char calls_toml[] = "name = \"calls\"\n"
                                 "[[span]]\n"
                                 "channel = \"tool\"\n"
                                 "open = [\"<tool_call>\"]\n"
                                 "close = [\"</tool_call>\"]\n"
                                 "[[span.call]]\n"
                                 "body = \"tags\"\n"
                                 "begin = \"<function=\"\n"
                                 "name_end = [\">\"]\n"
                                 "key = [\"<parameter=\", \">\"]\n"
                                 "value = [\"\", \"</parameter>\"]\n"
                                 "end = \"</function>\"\n";

static int32_t ignore(void *user, const aside_event *event, const char *bytes)
{
    (void)user;
    (void)event;
    (void)bytes;
    return 0;
}

/* A value without end, whose type nobody has said, and without a limit; memory is limited by now. */
static void endless_value(const aside_dialect *dialect, const char *block, size_t len)
{
    aside_call_writer_options options = {.size = sizeof options, .max_held = (uint64_t)-1};
    aside_call_writer *writer = aside_call_writer_new(dialect, &options);
    aside_call_delta delta = {.size = sizeof delta};
    aside_event call = {.kind = ASIDE_KIND_CALL, .channel = ASIDE_CHANNEL_TOOL};
    aside_event name = {.kind = ASIDE_KIND_CALL_NAME, .channel = ASIDE_CHANNEL_TOOL, .len = 1};
    aside_event key = {.kind = ASIDE_KIND_CALL_KEY, .channel = ASIDE_CHANNEL_TOOL, .len = 1};
    aside_event value = {.kind = ASIDE_KIND_CALL_VALUE, .channel = ASIDE_CHANNEL_TOOL, .len = len};
    static const char closer[] = "</parameter>";
    aside_event end = {.kind = ASIDE_KIND_CALL_VALUE_END, .channel = ASIDE_CHANNEL_TOOL, .len = sizeof closer - 1};
    aside_status status = ASIDE_NONE;
    int i;

    CHECK(writer != NULL);
    CHECK_STATUS(aside_call_writer_feed(writer, &call, sizeof(aside_event), "", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &name, sizeof(aside_event), "f", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &key, sizeof(aside_event), "k", &delta), ASIDE_NONE);
    for (i = 0; i < 1024 && status == ASIDE_NONE; i++)
        status = aside_call_writer_feed(writer, &value, sizeof(aside_event), block, &delta);
    CHECK_STATUS(status, ASIDE_ERROR_MEMORY);
    CHECK_STATUS(aside_call_writer_feed(writer, &end, sizeof(aside_event), closer, &delta), ASIDE_ERROR_MEMORY);
    CHECK_STATUS(aside_call_writer_reset(writer), ASIDE_OK);

    /* The key is sent with its value, and all of a block as one string. */
    CHECK_STATUS(aside_call_writer_feed(writer, &call, sizeof(aside_event), "", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &name, sizeof(aside_event), "f", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &key, sizeof(aside_event), "k", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &value, sizeof(aside_event), block, &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &end, sizeof(aside_event), closer, &delta), ASIDE_OK);
    CHECK(delta.arguments.len == len + 7 && memcmp(delta.arguments.at, "{\"k\":\"", 6) == 0);
    CHECK(memcmp(delta.arguments.at + 6, block, len) == 0 && delta.arguments.at[len + 6] == '"');
    aside_call_writer_free(writer);
}

/* An event without end and without a limit; memory is limited by now. */
static void endless_event(const char *block, size_t len)
{
    aside_rewriter_options options;
    aside_rewriter *sse;
    aside_status status = ASIDE_OK;
    aside_bytes out;
    int i;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.max_event = (uint64_t)-1;
    sse = aside_rewriter_new(dialect_named("inline-think"), &options);
    CHECK(sse != NULL);
    for (i = 0; i < 1024 && status == ASIDE_OK; i++)
        status = aside_rewriter_feed(sse, block, len, &out);
    CHECK_STATUS(status, ASIDE_ERROR_MEMORY);
    CHECK_STATUS(aside_rewriter_feed(sse, "a", 1, &out), ASIDE_ERROR_MEMORY);
    CHECK_STATUS(aside_rewriter_finish(sse, &out), ASIDE_ERROR_MEMORY);
    CHECK_STATUS(aside_rewriter_reset(sse), ASIDE_OK);
    CHECK_STATUS(aside_rewriter_feed(sse, "data: 1\n\n", 9, &out), ASIDE_OK);
    CHECK(out.len == 9 && memcmp(out.at, "data: 1\n\n", 9) == 0);
    aside_rewriter_free(sse);
}

/* Each has put out a block once and then a little: the blocks of all would not fit. */
static void many_that_wait(char *block, size_t len)
{
    enum { COUNT = 512 };
    static aside_rewriter *all[COUNT];
    aside_bytes out;
    size_t i;

    for (i = 0; i < len; i += 4)
        memcpy(block + i, ":a\n\n", 4);
    for (i = 0; i < COUNT; i++) {
        all[i] = aside_rewriter_new(dialect_named("inline-think"), NULL);
        CHECK(all[i] != NULL);
        CHECK_STATUS(aside_rewriter_feed(all[i], block, len, &out), ASIDE_OK);
        CHECK(out.len == len && memcmp(out.at, block, len) == 0);
        CHECK_STATUS(aside_rewriter_feed(all[i], ":b\n\n", 4, &out), ASIDE_OK);
        CHECK(out.len == 4);
    }
    for (i = 0; i < COUNT; i++)
        aside_rewriter_free(all[i]);
}

struct piece {
    struct piece *next;
};

/* Takes all memory that there is. */
static struct piece *take_all(void)
{
    struct piece *all = NULL, *piece;
    size_t size;

    for (size = (size_t)16 << 20; size >= sizeof *piece; size /= 2) {
        while ((piece = (struct piece *)malloc(size)) != NULL) {
            piece->next = all;
            all = piece;
        }
    }
    return all;
}

static void give_back(struct piece *all)
{
    while (all != NULL) {
        struct piece *piece = all;

        all = all->next;
        free(piece);
    }
}

/* All memory is gone, and a thread fails for the first time: that takes none. */
static void first_failure(void)
{
    aside_scanner *scanner = aside_scanner_new(dialect_named("inline-think"), NULL);
    struct piece *all = take_all();
    aside_scanner *clone;
    aside_status memory, order;

    clone = aside_scanner_clone(scanner);
    memory = aside_last_status();
    order = aside_scanner_finish(NULL, ignore, NULL);
    give_back(all);
    CHECK(clone == NULL);
    CHECK(memory == ASIDE_ERROR_MEMORY && order == ASIDE_ERROR_NULL);
    CHECK(aside_last_status() == order && strcmp(aside_last_error(), "scanner is NULL") == 0);
    aside_scanner_free(scanner);
}

/* Dialects were loaded before memory ran out; unknown names are still reported. */
static void lookups(void)
{
    static const char *models[] = {"Qwen/Qwen3-32B", "kimi-k2.5", "kimi-k2", "gpt-oss:20b", "openai/gpt-4o", "qwen3.9", "x"};
    static char messages[7][512], unknown[512];
    const aside_dialect *found[7], *kimi, *none;
    struct piece *all;
    size_t i;

    CHECK_STATUS(aside_dialect_preload("qwen3 kimi-k2 harmony", 21), ASIDE_OK);
    all = take_all();
    for (i = 0; i < 7; i++) {
        found[i] = aside_dialect_find_for_model(models[i], strlen(models[i]));
        if (found[i] == NULL)
            strncpy(messages[i], aside_last_error(), sizeof messages[i] - 1);
    }
    kimi = aside_dialect_find("kimi-k2", 7);
    none = aside_dialect_find("kimi-k22", 8);
    strncpy(unknown, aside_last_error(), sizeof unknown - 1);
    give_back(all);

    CHECK(found[0] != NULL && found[3] != NULL && kimi != NULL && found[2] == kimi && found[1] != kimi);
    CHECK(aside_dialect_start(found[1]) == ASIDE_START_THINKING);
    CHECK(found[4] == NULL && strstr(messages[4], "no thinking") != NULL);
    CHECK(found[5] == NULL && strstr(messages[5], "its elder qwen3.8") != NULL);
    CHECK(found[6] == NULL && strstr(messages[6], "no dialect is known for `x`") != NULL);
    CHECK(none == NULL && strstr(unknown, "kimi-k2") != NULL);
}

int main(void)
{
    static char block[1 << 20];
    static struct heard heard;
    struct rlimit limit;
    aside_scanner_options options;
    aside_thought thought;
    aside_scanner *scanner;
    aside_status status = ASIDE_OK;
    aside_dialect *calls;
    int i;

    calls = aside_dialect_load(calls_toml, sizeof calls_toml - 1);
    CHECK(calls != NULL);
    memset(block, 'a', sizeof block);
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.collect = (uint64_t)-1;
    scanner = aside_scanner_new(dialect_named("inline-think"), &options);
    CHECK(scanner != NULL);
    CHECK_STATUS(aside_scanner_feed(scanner, "<think>", 7, ignore, NULL), ASIDE_OK);

    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = (rlim_t)256 << 20;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    first_failure();
    lookups();
    for (i = 0; i < 1024 && status == ASIDE_OK; i++)
        status = aside_scanner_feed(scanner, block, sizeof block, ignore, NULL);
    CHECK_STATUS(status, ASIDE_ERROR_MEMORY);
    CHECK_STATUS(aside_scanner_feed(scanner, "a", 1, ignore, NULL), ASIDE_ERROR_MEMORY);
    CHECK_STATUS(aside_scanner_finish(scanner, ignore, NULL), ASIDE_ERROR_MEMORY);
    CHECK_STATUS(aside_scanner_flush(scanner, ignore, NULL), ASIDE_ERROR_MEMORY);
    /* One can still look. */
    CHECK(aside_scanner_max_hold(scanner) == 7);
    thought.size = sizeof thought;
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_NONE);
    CHECK_STATUS(aside_scanner_feed(scanner, "a", 1, ignore, NULL), ASIDE_ERROR_MEMORY);

    CHECK_STATUS(aside_scanner_reset(scanner), ASIDE_OK);
    feed(scanner, &heard, "<think>a</think>b", 17);
    finish(scanner, &heard);
    CHECK(strcmp(heard.text[ASIDE_CHANNEL_THINKING], "a") == 0 && strcmp(heard.text[ASIDE_CHANNEL_CONTENT], "b") == 0);
    CHECK_STATUS(aside_scanner_take_thought(scanner, &thought), ASIDE_OK);
    CHECK(thought.text.len == 1);
    aside_scanner_free(scanner);

    endless_value(calls, block, sizeof block);
    aside_dialect_free(calls);
    endless_event(block, sizeof block);
    many_that_wait(block, sizeof block);
    return 0;
}
