/* Two threads that use one rewriter, call writer, registry or tool stream at once, which no host may do, are kept apart: a call
 * passes and does its work, or it is refused. A scanner is not among them: its cheapest calls only look whether it is in use. */
#define _DEFAULT_SOURCE
#include "check.h"
#include <aside_unstable.h>
#include <pthread.h>

/* The function that a thread of a duel calls again and again with the shared handle. Returns whether the call passed: it
 * does, or it is refused because the other thread is inside. */
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

/* Two threads, one handle, until each has passed that often. */
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

/* Both threads' texts, whatever the order. The result of a call is gone with the other thread's next call: only its length is
 * this thread's own. */
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

static aside_status feed_call(aside_call_writer *writer, aside_kind kind, const char *text, aside_call_delta *delta)
{
    aside_event event;

    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.channel = ASIDE_CHANNEL_TOOL;
    event.cause = kind == ASIDE_KIND_CALL_END ? ASIDE_CAUSE_MARKER : 0;
    event.len = strlen(text);
    memset(delta, 0, sizeof *delta);
    delta->size = sizeof *delta;
    return aside_call_writer_feed(writer, &event, sizeof event, text, delta);
}

static int feed_writer(void *handle)
{
    aside_call_delta delta;
    int pass = passed(feed_call((aside_call_writer *)handle, ASIDE_KIND_CALL_VALUE, "more of a value, ", &delta));

    CHECK(delta.arguments.len == (pass ? 17 : 0) && !delta.is_last);
    return pass;
}

static int reset_writer(void *handle)
{
    aside_call_delta delta;

    CHECK(feed_call((aside_call_writer *)handle, ASIDE_KIND_CALL, "", &delta) <= ASIDE_NONE);
    return passed(aside_call_writer_reset((aside_call_writer *)handle));
}

static void one_call_writer(void)
{
    aside_call_writer *writer = aside_call_writer_new(dialect_named("qwen3"), NULL);
    aside_call_delta delta;

    CHECK(writer != NULL);
    CHECK_STATUS(feed_call(writer, ASIDE_KIND_CALL, "", &delta), ASIDE_NONE);
    CHECK_STATUS(feed_call(writer, ASIDE_KIND_CALL_NAME, "f", &delta), ASIDE_NONE);
    CHECK_STATUS(feed_call(writer, ASIDE_KIND_CALL_VALUE, "{\"x\": \"", &delta), ASIDE_OK);
    duel(feed_writer, writer);
    CHECK_STATUS(feed_call(writer, ASIDE_KIND_CALL_VALUE, "\"}", &delta), ASIDE_OK);
    CHECK_STATUS(feed_call(writer, ASIDE_KIND_CALL_END, "", &delta), ASIDE_OK);
    CHECK(delta.is_last && delta.is_whole);
    duel(reset_writer, writer);
    aside_call_writer_free(writer);
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
    one_call_writer();
    one_registry();
    one_tool_stream();
    return 0;
}
