/* Several threads share a dialect and a compressor, and each has its own scanners. Two threads that use one scanner at the same
 * time must get a status and not crash. */
#define _DEFAULT_SOURCE
#include "check.h"
#include <aside_unstable.h>
#include <pthread.h>

static const aside_dialect *shared;
static aside_scanner *contested;

/* Feeds two scanners in turn, byte by byte, again and again. */
static void *interleave(void *user)
{
    static const char one[] = "<think>a b c</think>one", two[] = "<think>\xf0\x9f\xa7\xa0</think>two";
    struct heard *heard = (struct heard *)user;
    aside_scanner *first = aside_scanner_new(shared, NULL), *second = aside_scanner_new(shared, NULL);
    int round;
    size_t i;

    CHECK(first != NULL && second != NULL);
    CHECK(aside_last_status() == ASIDE_OK && *aside_last_error() == 0);
    for (round = 0; round < 300; round++) {
        memset(heard, 0, 2 * sizeof *heard);
        for (i = 0; i < sizeof one - 1 || i < sizeof two - 1; i++) {
            if (i < sizeof one - 1)
                feed(first, &heard[0], &one[i], 1);
            if (i < sizeof two - 1)
                feed(second, &heard[1], &two[i], 1);
        }
        finish(first, &heard[0]);
        finish(second, &heard[1]);
        CHECK(strcmp(heard[0].text[ASIDE_CHANNEL_THINKING], "a b c") == 0
              && strcmp(heard[0].text[ASIDE_CHANNEL_CONTENT], "one") == 0);
        CHECK(strcmp(heard[1].text[ASIDE_CHANNEL_THINKING], "\xf0\x9f\xa7\xa0") == 0);
        CHECK(strcmp(heard[1].text[ASIDE_CHANNEL_CONTENT], "two") == 0);
    }
    aside_scanner_free(first);
    aside_scanner_free(second);
    /* A thread must see only its own failures. */
    CHECK_STATUS(aside_scanner_reset(NULL), ASIDE_ERROR_NULL);
    return NULL;
}

/* Uses a scanner while another thread is feeding it. */
static void *intrude(void *user)
{
    CHECK_STATUS(aside_scanner_feed(contested, "x", 1, listen, user), ASIDE_ERROR_BUSY);
    aside_scanner_free(contested);
    CHECK(aside_last_status() == ASIDE_ERROR_BUSY);
    return NULL;
}

static int32_t let_in(void *user, const aside_event *event, const char *bytes)
{
    pthread_t thread;

    hear((struct heard *)user, event, bytes);
    CHECK(pthread_create(&thread, NULL, intrude, user) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}

/* A scanner that is made in one thread is used and freed in another. */
static void *take_over(void *user)
{
    feed(contested, (struct heard *)user, "ink>b", 5);
    finish(contested, (struct heard *)user);
    aside_scanner_free(contested);
    return NULL;
}

static aside_compressor *compressor;
#ifdef __SANITIZE_THREAD__
/* The thread sanitizer does not see the locks inside the library, and reports the guarded data as races. */
static const int has_cache = 0;
#else
static const int has_cache = 1;
#endif

/* A filter of the host that returns half of the text. It runs in several threads at the same time. */
static int32_t half(void *user, const aside_invocation *invocation, const char *text, size_t len, aside_reply *reply)
{
    (void)user;
    (void)invocation;
    return aside_reply_write(reply, text, len / 2) == ASIDE_OK ? 1 : -1;
}

/* Uses one compressor in all threads. Each result must be the same as in a single thread. */
static void *compress(void *user)
{
    char log[3000];
    aside_bytes part;
    aside_invocation invocation;
    aside_compressed *compressed;
    aside_bytes text;
    int round;

    memset(log, *(const char *)user, sizeof log);
    part.at = log;
    part.len = sizeof log;
    memset(&invocation, 0, sizeof invocation);
    invocation.size = sizeof invocation;
    invocation.tool_id.at = (const char *)user;
    invocation.tool_id.len = 1;
    for (round = 0; round < 50; round++) {
        invocation.now = (uint64_t)round;
        compressed = aside_compress(compressor, &invocation, &part, 1);
        CHECK(compressed != NULL);
        CHECK_STATUS(aside_compressed_part(compressed, 0, &text), ASIDE_OK);
        /* The second time, the cache recognises the text. */
        if (round == 0 || !has_cache)
            CHECK(text.len > 1500 && text.len < 2000 && text.at[text.len - 1] == *log);
        else
            CHECK(text.len < 200 && text.at[text.len - 1] != *log);
        aside_compressed_free(compressed);
    }
    return NULL;
}

static void share_a_compressor(void)
{
    static char names[] = "abcd";
    aside_registry *registry = aside_registry_new(0);
    aside_filter filter;
    pthread_t threads[4];
    int i;

    memset(&filter, 0, sizeof filter);
    filter.size = sizeof filter;
    filter.id.at = "half";
    filter.id.len = 4;
    filter.apply = half;
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    if (has_cache)
        CHECK_STATUS(aside_registry_add_last_run(registry, 1 << 20), ASIDE_OK);
    compressor = aside_compressor_new(registry, NULL);
    CHECK(compressor != NULL);
    aside_registry_free(registry);
    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, compress, &names[i]) == 0);
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    aside_compressor_free(compressor);
}

int main(void)
{
    static struct heard heard[4][2];
    pthread_t threads[4];
    int i;

    share_a_compressor();

    shared = dialect_named("inline-think");
    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, interleave, heard[i]) == 0);
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(aside_last_status() == ASIDE_OK);

    memset(heard, 0, sizeof heard);
    contested = scanner_named("inline-think");
    CHECK_STATUS(aside_scanner_feed(contested, "<think>a</th", 12, let_in, &heard[0][0]), ASIDE_OK);
    CHECK(aside_last_status() == ASIDE_OK);
    CHECK(pthread_create(&threads[0], NULL, take_over, &heard[0][0]) == 0);
    CHECK(pthread_join(threads[0], NULL) == 0);
    CHECK(strcmp(heard[0][0].text[ASIDE_CHANNEL_THINKING], "a") == 0);
    CHECK(strcmp(heard[0][0].text[ASIDE_CHANNEL_CONTENT], "b") == 0);
    return 0;
}
