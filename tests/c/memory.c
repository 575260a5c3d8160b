/* When memory runs out, the process must not end: a scanner that collects thoughts, an answer and a rewriter that
 * read must return a status until they are reset. Dialects that were loaded before must be found even then. */
#define _DEFAULT_SOURCE
#include "check.h"
#include <sys/resource.h>

static int32_t ignore(void *user, const aside_event *event, const char *bytes)
{
    (void)user;
    (void)event;
    (void)bytes;
    return 0;
}

/* Feeds an endless event without a limit. The process's memory has been limited before. */
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

/* Every rewriter returns a large block and then a small one. If each kept its large block, they would not fit into memory. */
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

/* Allocates all available memory. */
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

/* The parts of a large block need memory that is not there. */
static void parts_without_memory(const char *block, size_t len)
{
    aside_answer *answer = aside_answer_new(dialect_named("inline-think"), NULL);
    const aside_part *parts = NULL;
    aside_status fed, again, finished;
    struct piece *all;
    size_t count = 0;

    CHECK(answer != NULL);
    CHECK_STATUS(aside_answer_feed(answer, "<think>", 7, &parts, &count), ASIDE_OK);
    parts = NULL;
    all = take_all();
    fed = aside_answer_feed(answer, block, len, &parts, &count);
    give_back(all);
    again = aside_answer_feed(answer, "a", 1, &parts, &count);
    finished = aside_answer_finish(answer, ASIDE_END_REASON_ENDED, &parts, &count);
    CHECK(fed == ASIDE_ERROR_MEMORY && again == ASIDE_ERROR_MEMORY && finished == ASIDE_ERROR_MEMORY);
    CHECK(parts == NULL && count == 0);

    CHECK_STATUS(aside_answer_reset(answer), ASIDE_OK);
    CHECK_STATUS(aside_answer_feed(answer, "<think>a</think>b", 17, &parts, &count), ASIDE_OK);
    CHECK(count == 2 && parts[0].kind == ASIDE_PART_KIND_THINKING && parts[1].kind == ASIDE_PART_KIND_CONTENT);
    aside_answer_free(answer);
}

/* A thread's first failure must not need memory. */
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

/* The dialects were loaded before memory ran out. Unknown names must still be reported. */
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
    int i;

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
    /* Functions that only read must still work. */
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

    parts_without_memory(block, sizeof block);
    endless_event(block, sizeof block);
    many_that_wait(block, sizeof block);
    return 0;
}
