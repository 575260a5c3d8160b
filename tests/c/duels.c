/* Two threads use one rewriter, answer, registry or tool stream at the same time, which no host may do. Each call must either
 * do its work or be refused. Scanners are not tested here, because their cheapest functions only check whether the scanner is in
 * use and do not lock it. */
#define _DEFAULT_SOURCE
#include "check.h"
#include <aside_unstable.h>
#include <pthread.h>

/* The function that each of the two threads calls again and again with the shared handle. Returns true if the call did its work,
 * and false if it was refused because the other thread was using the handle. */
typedef int (*attack)(void *handle);

struct duel {
    attack attack;
    void *handle;
    pthread_barrier_t *begin;
};
enum { PASSES = 200000 };

static int passed(aside_status status)
{
    if (status == ASIDE_ERROR_BUSY)
        return 0;
    CHECK_STATUS(status, ASIDE_OK);
    return 1;
}

static void *fight(void *user)
{
    struct duel *duel = (struct duel *)user;
    int passes = 0;

    pthread_barrier_wait(duel->begin);
    while (passes < PASSES)
        passes += duel->attack(duel->handle);
    return NULL;
}

/* Runs two threads on one handle until the calls of each have succeeded often enough. */
static void duel(attack attack, void *handle)
{
    struct duel duels[2];
    pthread_barrier_t begin;
    pthread_t threads[2];
    int i;

    CHECK(pthread_barrier_init(&begin, NULL, 2) == 0);
    for (i = 0; i < 2; i++) {
        duels[i] = (struct duel){attack, handle, &begin};
        CHECK(pthread_create(&threads[i], NULL, fight, &duels[i]) == 0);
    }
    for (i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_barrier_destroy(&begin);
}

/* Both threads feed this event. The other thread's next call overwrites the result of a call, so only the length of the result is
 * checked. */
static const char event[] = "data: {\"choices\":[{\"delta\":{\"content\":\"some words of an answer\"}}]}\n\n";

static int feed_rewriter(void *handle)
{
    aside_bytes out = {NULL, 0};
    int pass = passed(aside_rewriter_feed((aside_rewriter *)handle, event, sizeof event - 1, &out));

    CHECK(out.len == (pass ? sizeof event - 1 : 0));
    return pass;
}

static int look_at_rewriter(void *handle)
{
    aside_rewriter_stats stats;

    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    if (!passed(aside_rewriter_get_stats((aside_rewriter *)handle, &stats)))
        return 0;
    CHECK(stats.content_bytes == stats.events * 23 && stats.held == 0);
    return feed_rewriter(handle);
}

static int reset_rewriter(void *handle)
{
    feed_rewriter(handle);
    return passed(aside_rewriter_reset((aside_rewriter *)handle));
}

static void one_rewriter(void)
{
    aside_rewriter *sse = aside_rewriter_new(dialect_named("qwen3"), NULL);
    aside_rewriter_stats stats;

    CHECK(sse != NULL);
    duel(feed_rewriter, sse);
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    CHECK_STATUS(aside_rewriter_get_stats(sse, &stats), ASIDE_OK);
    CHECK(stats.events == 2 * PASSES && stats.content_bytes == 2 * PASSES * 23);
    duel(look_at_rewriter, sse);
    duel(reset_rewriter, sse);
    aside_rewriter_free(sse);
}

static int feed_answer(void *handle)
{
    const aside_part *parts;
    size_t count = 0;
    int pass = passed(aside_answer_feed((aside_answer *)handle, "more of a value, ", 17, &parts, &count));

    CHECK(count == (pass ? 1U : 0U));
    return pass;
}

static int look_at_answer(void *handle)
{
    aside_counts counts;

    memset(&counts, 0, sizeof counts);
    counts.size = sizeof counts;
    if (!passed(aside_answer_counts((aside_answer *)handle, ASIDE_CHANNEL_CONTENT, &counts)))
        return 0;
    CHECK(counts.bytes % 17 == 0 && counts.bytes == counts.characters);
    return feed_answer(handle);
}

static int reset_answer(void *handle)
{
    feed_answer(handle);
    return passed(aside_answer_reset((aside_answer *)handle));
}

static void one_answer(void)
{
    static const char begin[] = "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"", end[] = "\"}}</tool_call>";
    aside_answer *answer = aside_answer_new(dialect_named("qwen3"), NULL);
    const aside_part *parts;
    size_t count;

    CHECK(answer != NULL);
    CHECK_STATUS(aside_answer_feed(answer, begin, sizeof begin - 1, &parts, &count), ASIDE_OK);
    duel(feed_answer, answer);
    CHECK_STATUS(aside_answer_feed(answer, end, sizeof end - 1, &parts, &count), ASIDE_OK);
    CHECK(count > 0 && parts[count - 1].kind == ASIDE_PART_KIND_CALL_END && parts[count - 1].is_whole);
    CHECK_STATUS(aside_answer_finish(answer, ASIDE_END_REASON_ENDED, &parts, &count), ASIDE_OK);
    duel(look_at_answer, answer);
    duel(reset_answer, answer);
    aside_answer_free(answer);
}

static int feed_stream(void *handle)
{
    aside_bytes out;

    return passed(aside_tool_stream_feed((aside_tool_stream *)handle, "a line of output\n", 17, &out));
}

static int add_to_registry(void *handle) { return passed(aside_registry_add_last_run((aside_registry *)handle, 1 << 10)); }

static void one_registry(void)
{
    aside_registry *registry = aside_registry_new(0);

    duel(add_to_registry, registry);
    aside_registry_free(registry);
}

static void one_tool_stream(void)
{
    aside_registry *registry = aside_registry_new(0);
    aside_compressor *compressor = aside_compressor_new(registry, NULL);
    aside_tool_stream *stream;
    aside_compressed *report;
    aside_report filled;
    aside_invocation invocation;
    aside_bytes out;

    aside_registry_free(registry);
    memset(&invocation, 0, sizeof invocation);
    invocation.size = sizeof invocation;
    stream = aside_tool_stream_new(compressor, &invocation, 1 << 16);
    CHECK(stream != NULL);
    duel(feed_stream, stream);
    CHECK_STATUS(aside_tool_stream_finish(stream, &out), ASIDE_OK);
    report = aside_tool_stream_report(stream);
    CHECK(report != NULL);
    memset(&filled, 0, sizeof filled);
    filled.size = sizeof filled;
    CHECK_STATUS(aside_compressed_report(report, &filled), ASIDE_OK);
    CHECK(filled.before == 2 * PASSES * 17);
    aside_compressed_free(report);
    aside_tool_stream_free(stream);
    aside_compressor_free(compressor);
}

int main(void)
{
    one_rewriter();
    one_answer();
    one_registry();
    one_tool_stream();
    return 0;
}
