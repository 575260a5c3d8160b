/* Tests the C functions for tool results: one result and its report, streams, filters and caches of the host, and every detectable
 * misuse. No order of calls may crash or change a report. */
#include "check.h"
#include <aside_unstable.h>

#define HUGE_LEN ((size_t)-1)

static aside_bytes text(const char *at)
{
    aside_bytes bytes;

    bytes.at = at;
    bytes.len = at == NULL ? 0 : strlen(at);
    return bytes;
}

static aside_invocation invocation_of(const char *input)
{
    aside_invocation invocation;

    memset(&invocation, 0, sizeof invocation);
    invocation.size = sizeof invocation;
    invocation.tool_id = text("bash");
    invocation.input = text(input);
    invocation.now = 1000;
    return invocation;
}

static aside_registry *registry_new(void)
{
    aside_registry *registry = aside_registry_new(1);

    CHECK(registry != NULL);
    return registry;
}

/* Returns a compressor of a registry, and frees the registry. */
static aside_compressor *compressor_new(aside_registry *registry, uint64_t budget)
{
    aside_compressor_options options;
    aside_compressor *compressor;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.budget = budget;
    options.switch_off = text("Set compress = false.");
    compressor = aside_compressor_new(registry, &options);
    CHECK(compressor != NULL);
    aside_registry_free(registry);
    return compressor;
}

static aside_compressed *compress(const aside_compressor *compressor, const aside_invocation *invocation,
                                  const aside_bytes *parts, size_t count)
{
    aside_compressed *compressed = aside_compress(compressor, invocation, parts, count);

    CHECK(compressed != NULL);
    return compressed;
}

/* Checks that aside_compress() refuses these arguments with this status. */
static void refused(const aside_compressor *compressor, const aside_invocation *invocation, const aside_bytes *parts,
                    size_t count, aside_status status)
{
    CHECK(aside_compress(compressor, invocation, parts, count) == NULL && aside_last_status() == status);
}

/* Returns a log of 4,016 bytes whose middle repeats. */
static const char *noise(void)
{
    static char log[4017];
    size_t i;

    for (i = 0; i < 4000; i += 10)
        memcpy(log + i, "the noise\n", 10);
    memcpy(log + 4000, "error: the end.\n", 17);
    return log;
}

static aside_report report_of(const aside_compressed *compressed)
{
    aside_report report;

    report.size = sizeof report;
    CHECK_STATUS(aside_compressed_report(compressed, &report), ASIDE_OK);
    CHECK(report.size == sizeof report && report.unexplained == 0);
    CHECK(is_address(report.filters) && is_address(report.hit.at));
    return report;
}

static int same(aside_bytes bytes, const char *expected)
{
    return bytes.len == strlen(expected) && memcmp(bytes.at, expected, bytes.len) == 0;
}

static aside_failed failed_of(const aside_compressed *compressed, size_t index)
{
    aside_failed failed;

    failed.size = sizeof failed;
    CHECK_STATUS(aside_compressed_failed(compressed, index, &failed), ASIDE_OK);
    return failed;
}

/* Returns how many bytes of the part are in no stretch, and counts the stretches. */
static size_t left_of(const aside_compressed *compressed, size_t index, aside_part_report *part, size_t *stretches)
{
    aside_stretch stretch;
    uint64_t at = 0;
    aside_bytes slice;

    part->size = sizeof *part;
    CHECK_STATUS(aside_compressed_part_report(compressed, index, part), ASIDE_OK);
    stretch.size = sizeof stretch;
    for (*stretches = 0; aside_compressed_stretch(compressed, index, *stretches, &stretch) == ASIDE_OK; ++*stretches) {
        CHECK(stretch.size == sizeof stretch && stretch.start == at && stretch.len > 0);
        at += stretch.len;
        CHECK((stretch.change == ASIDE_CHANGE_KEPT) == (stretch.filter == ASIDE_NO_FILTER));
        if (stretch.change != ASIDE_CHANGE_LEFT_OUT)
            continue;
        CHECK(stretch.filter == 0);
        CHECK_STATUS(aside_compressed_slice(compressed, part->part, noise(), 4016, stretch.start, stretch.len, &slice),
                     ASIDE_OK);
        CHECK(slice.at == noise() + stretch.start && slice.len == stretch.len);
    }
    CHECK(aside_last_status() == ASIDE_ERROR_RANGE);
    return (size_t)(part->len - at);
}

static void one_call(void)
{
    aside_compressor *compressor = compressor_new(registry_new(), 0);
    aside_invocation invocation = invocation_of("{\"command\": \"make\", \"exit_code\": 2}");
    aside_bytes parts[3], result, slice = {NULL, 77};
    aside_compressed *compressed;
    aside_part_report part;
    aside_stretch stretch = {.size = sizeof stretch};
    aside_failed failed = {.size = sizeof failed};
    aside_report report;
    size_t stretches;

    parts[0] = text(NULL);
    parts[1] = text(noise());
    parts[2] = text("short \xc3\xa9");
    compressed = compress(compressor, &invocation, parts, 3);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result), ASIDE_NONE);
    CHECK_STATUS(aside_compressed_part(compressed, 2, &result), ASIDE_NONE);
    CHECK_STATUS(aside_compressed_part(compressed, 3, &result), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_part(compressed, 1, &result), ASIDE_OK);
    CHECK(result.len < 200 && memcmp(result.at, "[Output compressed by repeats (4016 \xe2\x86\x92 ", 39) == 0);
    CHECK(memcmp(result.at + result.len - 16, "error: the end.\n", 16) == 0);

    /* The report counts bytes, and units, of which a character of several bytes is one. The second part has one character of two
     * bytes, and the banner has some of three bytes. */
    report = report_of(compressed);
    CHECK(report.before == 4024 && report.before_units == 4023 && report.after == result.len + 8);
    CHECK(report.after_units < report.after && report.after_units + 10 > report.after);
    CHECK(report.failed_count == 0 && report.hit.len == 0);
    CHECK(report.filter_count == 1 && same(report.filters[0], "repeats"));
    CHECK(report.part_count == 1 && left_of(compressed, 0, &part, &stretches) == 0);
    CHECK(part.part == 1 && part.len == 4016 && part.stretch_count == stretches && stretches > 2);
    CHECK_STATUS(aside_compressed_part_report(compressed, 1, &part), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_stretch(compressed, 1, 0, &stretch), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_failed(compressed, 0, &failed), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, noise() + 1, 4015, 0, 1, &slice), ASIDE_ERROR_ORIGINAL);
    CHECK_STATUS(aside_compressed_slice(compressed, 2, "short", 5, 0, 1, &slice), ASIDE_ERROR_ORIGINAL);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, noise(), 4016, 4016, 1, &slice), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, noise(), 4016, 1, (uint64_t)-1, &slice), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_slice(NULL, 1, noise(), 4016, 0, 1, &slice), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, NULL, 4016, 0, 1, &slice), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, noise(), 4016, 0, 1, NULL), ASIDE_ERROR_NULL);
    CHECK(slice.at == NULL && slice.len == 77);

    CHECK_STATUS(aside_compressed_part(NULL, 0, &result), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_part(compressed, 1, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_report(NULL, &report), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_report(compressed, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_failed(NULL, 0, &failed), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_failed(compressed, 0, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_part_report(NULL, 0, &part), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_part_report(compressed, 0, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_stretch(NULL, 0, 0, &stretch), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_stretch(compressed, 0, 0, NULL), ASIDE_ERROR_NULL);
    /* Pointers borrowed from it are valid without its compressor. */
    aside_compressor_free(compressor);
    CHECK(memcmp(result.at + result.len - 16, "error: the end.\n", 16) == 0);
    aside_compressed_free(compressed);
    aside_compressed_free(NULL);
}

/* The arguments that a host's callbacks have received. */
struct seen {
    aside_compressor *compressor;
    aside_tool_stream *stream;
    int matches, applies, observes, lookups, records, releases;
    int verdict;
    char recorded[8192];
    size_t recorded_len;
};

/* Checks the invocation that every callback receives: it must have the size of this header. */
static void check_invocation(const aside_invocation *invocation, const char *input)
{
    CHECK(invocation->size == sizeof *invocation && invocation->now == 1000);
    CHECK(same(invocation->tool_id, "bash"));
    CHECK(input == NULL || same(invocation->input, input));
}

static int32_t matches(void *user, const aside_invocation *invocation, aside_reply *reply)
{
    struct seen *seen = (struct seen *)user;

    seen->matches++;
    check_invocation(invocation, NULL);
    if (seen->verdict == -9) {
        CHECK_STATUS(aside_reply_write(reply, "who knows", 9), ASIDE_OK);
        return -1;
    }
    return same(invocation->input, "{\"command\":\"make\"}");
}

static int32_t apply(void *user, const aside_invocation *invocation, const char *bytes, size_t len, aside_reply *reply)
{
    struct seen *seen = (struct seen *)user;
    aside_invocation own = invocation_of(NULL);
    aside_bytes out = {NULL, 77};

    seen->applies++;
    check_invocation(invocation, "{\"command\":\"make\"}");
    CHECK(bytes != NULL && len >= 1024);
    /* A callback must not call into the compressor that runs it, nor free it. */
    refused(seen->compressor, &own, NULL, 0, ASIDE_ERROR_BUSY);
    CHECK(aside_tool_stream_new(seen->compressor, &own, 1 << 20) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_BUSY);
    aside_compressor_free(seen->compressor);
    CHECK(aside_last_status() == ASIDE_ERROR_BUSY);
    if (seen->stream != NULL) {
        CHECK_STATUS(aside_tool_stream_feed(seen->stream, "x", 1, &out), ASIDE_ERROR_BUSY);
        CHECK_STATUS(aside_tool_stream_finish(seen->stream, &out), ASIDE_ERROR_BUSY);
        CHECK(aside_tool_stream_report(seen->stream) == NULL && aside_last_status() == ASIDE_ERROR_BUSY);
        aside_tool_stream_free(seen->stream);
        CHECK(aside_last_status() == ASIDE_ERROR_BUSY && out.len == 77);
    }
    CHECK_STATUS(aside_reply_write(NULL, "x", 1), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_reply_write(reply, NULL, 1), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_reply_write(reply, NULL, 0), ASIDE_OK);
    CHECK_STATUS(aside_reply_write(reply, seen->verdict < 0 ? "no " : "shor", seen->verdict < 0 ? 3 : 4), ASIDE_OK);
    CHECK_STATUS(aside_reply_write(reply, seen->verdict < 0 ? "luck" : "ter\n", 4), ASIDE_OK);
    return seen->verdict;
}

static int32_t observe(void *user, const aside_invocation *invocation, aside_reply *reply)
{
    struct seen *seen = (struct seen *)user;

    check_invocation(invocation, "null");
    seen->observes++;
    if (seen->verdict >= 0)
        return 0;
    CHECK_STATUS(aside_reply_write(reply, "blind", 5), ASIDE_OK);
    return -1;
}

static int32_t lookup(void *user, const aside_invocation *invocation, aside_reply *reply, uint64_t *timestamp)
{
    struct seen *seen = (struct seen *)user;

    check_invocation(invocation, "null");
    seen->lookups++;
    if (seen->verdict <= 0)
        return seen->verdict;
    CHECK_STATUS(aside_reply_write(reply, seen->recorded, seen->recorded_len), ASIDE_OK);
    *timestamp = 60;
    return 1;
}

static int32_t record(void *user, const aside_invocation *invocation, const char *bytes, size_t len, aside_reply *reply)
{
    struct seen *seen = (struct seen *)user;

    check_invocation(invocation, "null");
    CHECK(len < sizeof seen->recorded);
    memcpy(seen->recorded, bytes, len);
    seen->recorded_len = len;
    seen->records++;
    if (seen->verdict >= 0)
        return 0;
    CHECK_STATUS(aside_reply_write(reply, "full", 4), ASIDE_OK);
    return -1;
}

static void release(void *user) { ((struct seen *)user)->releases++; }

static aside_filter filter_of(struct seen *seen)
{
    aside_filter filter;

    memset(&filter, 0, sizeof filter);
    filter.size = sizeof filter;
    filter.id = text("mine");
    filter.matches = matches;
    filter.apply = apply;
    filter.release = release;
    filter.user = seen;
    return filter;
}

static void filters(void)
{
    static struct seen seen;
    aside_registry *registry = aside_registry_new(0);
    aside_filter filter = filter_of(&seen);
    aside_invocation invocation = invocation_of("{ \"command\": \"make\" }"), other = invocation_of("{}");
    aside_bytes tools[1], part = text(noise());
    aside_compressed *compressed;
    aside_report report;
    aside_bytes result, out;
    aside_failed failed;

    tools[0] = text("bash");
    filter.tool_ids = tools;
    filter.tool_id_count = 1;
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    /* A filter replaces the earlier filter with the same id. */
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    CHECK(seen.releases == 1);
    seen.compressor = compressor_new(registry, 0);

    seen.verdict = 1;
    compressed = compress(seen.compressor, &invocation, &part, 1);
    CHECK(seen.matches == 1 && seen.applies == 1);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result), ASIDE_OK);
    CHECK(memcmp(result.at, "[Output compressed by mine (4016", 32) == 0);
    CHECK(memcmp(result.at + result.len - 31, "Set compress = false.]\nshorter\n", 31) == 0);
    aside_compressed_free(compressed);

    /* The report must name a filter that fails, with its reason. */
    seen.verdict = -5;
    compressed = compress(seen.compressor, &invocation, &part, 1);
    report = report_of(compressed);
    failed = failed_of(compressed, 0);
    CHECK(report.failed_count == 1 && same(failed.id, "mine") && same(failed.reason, "no luck"));
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result), ASIDE_NONE);
    aside_compressed_free(compressed);

    compressed = compress(seen.compressor, &other, &part, 1);
    CHECK(seen.matches == 3 && seen.applies == 2);
    aside_compressed_free(compressed);

    /* The report must also name a filter whose `matches` fails. */
    seen.verdict = -9;
    compressed = compress(seen.compressor, &invocation, &part, 1);
    CHECK(seen.matches == 4 && seen.applies == 2);
    report = report_of(compressed);
    failed = failed_of(compressed, 0);
    CHECK(report.failed_count == 1 && same(failed.id, "mine") && same(failed.reason, "who knows"));
    aside_compressed_free(compressed);

    seen.verdict = 1;
    seen.stream = aside_tool_stream_new(seen.compressor, &invocation, 8192);
    CHECK(seen.stream != NULL);
    CHECK_STATUS(aside_tool_stream_feed(seen.stream, noise(), 4016, &out), ASIDE_OK);
    CHECK(out.len == 0 && is_address(out.at));
    aside_compressor_free(seen.compressor);
    CHECK(seen.releases == 1);
    /* The compressor was freed, but the stream keeps its data. The callbacks must not use the freed handle now. */
    seen.compressor = compressor_new(registry_new(), 0);
    aside_compressor_free(seen.compressor);
    aside_tool_stream_free(seen.stream);
    CHECK(seen.releases == 2);
}

/* A filter that calls into the stream that runs it. */
static void stream_reentry(void)
{
    static struct seen seen;
    aside_registry *registry = aside_registry_new(0);
    aside_filter filter = filter_of(&seen);
    aside_invocation invocation = invocation_of("{\"command\": \"make\"}");
    aside_compressed *compressed;
    aside_report report;
    aside_bytes out;

    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    seen.compressor = compressor_new(registry, 0);
    seen.verdict = 1;
    seen.stream = aside_tool_stream_new(seen.compressor, &invocation, 8192);
    CHECK(aside_tool_stream_report(seen.stream) == NULL && aside_last_status() == ASIDE_ERROR_ORDER);
    CHECK_SAYS("not finished");
    CHECK_STATUS(aside_tool_stream_feed(seen.stream, noise(), 4016, &out), ASIDE_OK);
    CHECK(aside_tool_stream_report(seen.stream) == NULL && aside_last_status() == ASIDE_ERROR_ORDER);
    CHECK_STATUS(aside_tool_stream_finish(seen.stream, &out), ASIDE_OK);
    CHECK(same(out, "shorter\n") && seen.applies == 1);
    CHECK_STATUS(aside_tool_stream_feed(seen.stream, "x", 1, &out), ASIDE_ERROR_ORDER);
    CHECK_STATUS(aside_tool_stream_finish(seen.stream, &out), ASIDE_ERROR_ORDER);
    compressed = aside_tool_stream_report(seen.stream);
    CHECK(compressed != NULL);
    CHECK(aside_tool_stream_report(seen.stream) == NULL && aside_last_status() == ASIDE_ERROR_ORDER);
    CHECK_SAYS("taken before");
    CHECK(same(out, "shorter\n"));
    aside_tool_stream_free(seen.stream);
    aside_compressor_free(seen.compressor);
    CHECK(seen.releases == 1);
    /* The report must not need the compressor or the registry. */
    report = report_of(compressed);
    CHECK(report.before == 4016 && report.after == 8 && report.part_count == 1);
    CHECK(aside_compressed_part(compressed, 0, &out) == ASIDE_ERROR_RANGE);
    aside_compressed_free(compressed);
}

/* The data of a filter whose `release` runs while its owner is being freed. */
static struct {
    aside_registry *registry;
    aside_tool_stream *stream;
    int releases;
} going;

static void release_that_calls(void *user)
{
    aside_bytes out;

    (void)user;
    going.releases++;
    if (going.registry != NULL) {
        CHECK_STATUS(aside_registry_minify_json(going.registry), ASIDE_ERROR_BUSY);
        CHECK(aside_compressor_new(going.registry, NULL) == NULL && aside_last_status() == ASIDE_ERROR_BUSY);
        aside_registry_free(going.registry);
    } else {
        CHECK_STATUS(aside_tool_stream_feed(going.stream, "x", 1, &out), ASIDE_ERROR_BUSY);
        aside_tool_stream_free(going.stream);
    }
    CHECK(aside_last_status() == ASIDE_ERROR_BUSY);
}

static aside_registry *registry_of_two(void)
{
    aside_registry *registry = aside_registry_new(0);
    aside_filter filter = filter_of(NULL);

    filter.release = release_that_calls;
    filter.id = text("first");
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    filter.id = text("second");
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    return registry;
}

static void release_reentry(void)
{
    aside_invocation invocation = invocation_of("{}");
    aside_compressor *compressor;

    going.registry = registry_of_two();
    aside_registry_free(going.registry);
    CHECK(going.releases == 2);

    going.registry = NULL;
    compressor = compressor_new(registry_of_two(), 0);
    going.stream = aside_tool_stream_new(compressor, &invocation, 8192);
    CHECK(going.stream != NULL);
    aside_compressor_free(compressor);
    CHECK(going.releases == 2);
    aside_tool_stream_free(going.stream);
    CHECK(going.releases == 4);
}

/* Frees a registry, two compressors and a stream in every order. The host's data must be released once, with the last object that
 * needs it. */
static void releases(void)
{
    enum { REGISTRY, FIRST, SECOND, STREAM, COUNT };
    int turn, i;

    for (turn = 0; turn < 24; turn++) {
        static struct seen seen;
        aside_registry *registry = aside_registry_new(0);
        aside_filter filter = filter_of(&seen);
        aside_cache cache = {.size = sizeof cache, .id = {"kept", 4}, .lookup = lookup, .record = record};
        aside_invocation invocation = invocation_of("{}");
        aside_compressor *compressors[COUNT];
        aside_tool_stream *stream;
        int order = turn, left[] = {REGISTRY, FIRST, SECOND, STREAM}, holders = 15;

        memset(&seen, 0, sizeof seen);
        cache.release = release;
        cache.user = &seen;
        CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
        CHECK_STATUS(aside_registry_add_cache(registry, &cache), ASIDE_OK);
        CHECK((compressors[FIRST] = aside_compressor_new(registry, NULL)) != NULL);
        CHECK((compressors[SECOND] = aside_compressor_new(registry, NULL)) != NULL);
        CHECK((stream = aside_tool_stream_new(compressors[SECOND], &invocation, 8192)) != NULL);
        for (i = COUNT; i > 0; i--) {
            int at = order % i, object = left[at];

            order /= i;
            left[at] = left[i - 1];
            if (object == REGISTRY)
                aside_registry_free(registry);
            else if (object == STREAM)
                aside_tool_stream_free(stream);
            else
                aside_compressor_free(compressors[object]);
            holders &= ~(1 << object);
            CHECK(seen.releases == (holders == 0 ? 2 : 0));
        }
    }
}

/* Compressors of one registry must share its cache, and each must have the filters that the registry had when it was made. */
static void one_registry(void)
{
    static struct seen seen;
    aside_registry *registry = aside_registry_new(0);
    aside_filter filter = filter_of(&seen);
    aside_invocation invocation = invocation_of("{\"command\": \"make\"}");
    aside_bytes part = text(noise()), result;
    aside_compressor *before, *after;
    aside_compressed *compressed;

    CHECK_STATUS(aside_registry_add_last_run(registry, 1 << 20), ASIDE_OK);
    CHECK((before = aside_compressor_new(registry, NULL)) != NULL);
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    CHECK((after = aside_compressor_new(registry, NULL)) != NULL);
    aside_registry_free(registry);
    seen.verdict = 1;
    seen.compressor = after;

    compressed = compress(after, &invocation, &part, 1);
    CHECK(seen.applies == 1 && report_of(compressed).filter_count == 1);
    aside_compressed_free(compressed);
    compressed = compress(before, &invocation, &part, 1);
    CHECK(seen.applies == 1 && same(report_of(compressed).hit, "last-run"));
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result), ASIDE_OK);
    CHECK(memcmp(result.at, "Same output as last run (1970-01-01T00:16:40Z)", 46) == 0);
    aside_compressed_free(compressed);
    aside_compressor_free(after);
    CHECK(seen.releases == 1);
    aside_compressor_free(before);
    CHECK(seen.releases == 1);
}

static void caches(void)
{
    static struct seen seen;
    aside_registry *registry = aside_registry_new(0);
    aside_invocation invocation = invocation_of(NULL);
    aside_bytes part = text(noise());
    aside_cache cache;
    aside_compressor *compressor;
    aside_compressed *compressed;
    aside_report report;
    aside_bytes result;

    memset(&cache, 0, sizeof cache);
    cache.size = sizeof cache;
    cache.id = text("kept");
    cache.observe = observe;
    cache.lookup = lookup;
    cache.record = record;
    cache.release = release;
    cache.user = &seen;
    CHECK_STATUS(aside_registry_add_cache(registry, &cache), ASIDE_OK);
    compressor = compressor_new(registry, 0);

    compressed = compress(compressor, &invocation, &part, 1);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result), ASIDE_NONE);
    aside_compressed_free(compressed);
    seen.verdict = 1;
    compressed = compress(compressor, &invocation, &part, 1);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result), ASIDE_OK);
    CHECK(result.len < 200 && memcmp(result.at, "Same output as last run (1970-01-01T00:01:00Z)", 46) == 0);
    report = report_of(compressed);
    CHECK(same(report.hit, "kept") && report.failed_count == 0);
    aside_compressed_free(compressed);
    seen.verdict = -1;
    compressed = compress(compressor, &invocation, &part, 1);
    report = report_of(compressed);
    CHECK(report.failed_count == 3 && same(failed_of(compressed, 0).reason, "blind") && report.hit.len == 0);
    CHECK(same(failed_of(compressed, 1).reason, "it returned -1") && same(failed_of(compressed, 2).reason, "full"));
    aside_compressed_free(compressed);
    CHECK(seen.observes == 3 && seen.lookups == 3 && seen.records == 3);
    aside_compressor_free(compressor);
    CHECK(seen.releases == 1);
}

static void exit_codes_and_memory(void)
{
    aside_invocation invocation = invocation_of("{\"command\": \"pytest\"}");
    aside_compressor_options options;
    aside_compressor *compressor;
    aside_compressed *compressed;
    aside_report report;
    aside_bytes part, out;
    aside_registry *registry = registry_new();
    char *long_text;
    size_t i;
    int64_t code;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.budget = 2000;
    options.memory = 8192;
    compressor = aside_compressor_new(registry, &options);
    CHECK(compressor != NULL);
    aside_registry_free(registry);
    for (code = 0; code <= 2; code += 2) {
        aside_tool_stream *stream = aside_tool_stream_new(compressor, &invocation, 8192);

        CHECK_STATUS(aside_tool_stream_set_exit_code(NULL, code), ASIDE_ERROR_NULL);
        CHECK_STATUS(aside_tool_stream_feed(stream, "==== 3 passed in 0.1s ====\n", 27, &out), ASIDE_OK);
        CHECK_STATUS(aside_tool_stream_set_exit_code(stream, code), ASIDE_OK);
        CHECK_STATUS(aside_tool_stream_finish(stream, &out), ASIDE_OK);
        CHECK((compressed = aside_tool_stream_report(stream)) != NULL);
        report.size = sizeof report;
        CHECK_STATUS(aside_compressed_report(compressed, &report), ASIDE_OK);
        CHECK(report.unexplained == (code == 2));
        CHECK_STATUS(aside_tool_stream_set_exit_code(stream, code), ASIDE_ERROR_ORDER);
        aside_compressed_free(compressed);
        aside_tool_stream_free(stream);
    }
    long_text = malloc(1000000);
    CHECK(long_text != NULL);
    for (i = 0; i < 1000000; i += 10)
        memcpy(long_text + i, "the noise\n", 10);
    part.at = long_text;
    part.len = 1000000;
    compressed = compress(compressor, &invocation, &part, 1);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &out), ASIDE_OK);
    CHECK(out.len <= 2000 && report_of(compressed).part_count == 0);
    aside_compressed_free(compressed);
    aside_compressor_free(compressor);
    free(long_text);
}

static void streams(void)
{
    aside_compressor *compressor = compressor_new(registry_new(), 2000);
    aside_invocation invocation = invocation_of("{\"command\": \"make\"}");
    aside_tool_stream *stream;
    aside_compressed *compressed;
    char line[64];
    aside_bytes out = {NULL, 77};
    size_t i;

    CHECK(aside_tool_stream_new(compressor, &invocation, 7999) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("8000");
    CHECK(aside_tool_stream_new(NULL, &invocation, 8000) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_tool_stream_new(compressor, NULL, 8000) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    stream = aside_tool_stream_new(compressor, &invocation, 8000);
    CHECK(stream != NULL);
    aside_compressor_free(compressor);
    for (i = 0; i < 10000; i++) {
        sprintf(line, "step %lu is done\n", (unsigned long)i);
        CHECK_STATUS(aside_tool_stream_feed(stream, line, strlen(line), &out), ASIDE_OK);
        CHECK(out.len == 0);
    }
    CHECK_STATUS(aside_tool_stream_feed(stream, NULL, 1, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_feed(stream, "x", 1, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_feed(NULL, "x", 1, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_finish(NULL, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_finish(stream, NULL), ASIDE_ERROR_NULL);
    CHECK(aside_tool_stream_report(NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_finish(stream, &out), ASIDE_OK);
    CHECK(out.len <= 2000 && memcmp(out.at, "step 0 is done\n", 15) == 0);
    CHECK(memcmp(out.at + out.len - 18, "step 9999 is done\n", 18) == 0);
    CHECK((compressed = aside_tool_stream_report(stream)) != NULL);
    CHECK(report_of(compressed).before == 178890 && report_of(compressed).after == out.len);
    CHECK(report_of(compressed).before_units == 178890 && report_of(compressed).part_count == 0);
    aside_compressed_free(compressed);
    aside_tool_stream_free(stream);
    aside_tool_stream_free(NULL);
}

static const char *const GOOD =
    "id = \"rows\"\ntools = [\"bash\"]\n[[rule]]\ndrop = ['^same']\n"
    "[[test]]\nname = \"a\"\nkind = \"pass\"\ncommand = \"x\"\n"
    "input = \"\"\"same old thing, and the same old thing again and again\nb\n\"\"\"\n"
    "output = \"\"\"[\xe2\x80\xa6 1 line, 55 bytes left out]\nb\n\"\"\"\n"
    "[[test]]\nname = \"b\"\nkind = \"fail\"\ncommand = \"x\"\ninput = \"error: x\"\noutput = \"error: x\"\n"
    "[[test]]\nname = \"c\"\nkind = \"look-alike\"\ncommand = \"x\"\ninput = \"the same\"\n";

static void misuse(void)
{
    aside_registry *registry = registry_new();
    aside_compressor *compressor;
    aside_compressor_options options;
    aside_invocation invocation = invocation_of(NULL);
    aside_filter filter;
    aside_cache cache;
    aside_bytes part = text(noise());

    CHECK(aside_registry_new(2) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    aside_registry_free(NULL);
    aside_compressor_free(NULL);
    CHECK_STATUS(aside_registry_add_toml(NULL, "", 0), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_add_toml(registry, NULL, 3), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_add_toml(registry, "a", HUGE_LEN), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_registry_add_toml(registry, "id = 3\n", 7), ASIDE_ERROR_FILTER);
    CHECK_SAYS("line 1");
    CHECK_STATUS(aside_registry_add_toml(registry, "id = \"a\"\n\xff", 10), ASIDE_ERROR_FILTER);
    CHECK_SAYS("line 2");
    CHECK_STATUS(aside_registry_add_toml(registry, GOOD, strlen(GOOD)), ASIDE_OK);
    CHECK_STATUS(aside_registry_minify_json(registry), ASIDE_OK);
    CHECK_STATUS(aside_registry_minify_json(NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_add_last_run(NULL, 1), ASIDE_ERROR_NULL);

    memset(&filter, 0, sizeof filter);
    CHECK_STATUS(aside_registry_add_filter(registry, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_ERROR_SIZE);
    filter.size = sizeof filter;
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_ERROR_NULL);
    filter.apply = apply;
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_ERROR_OPTION);
    filter.id = text("two\nlines");
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_ERROR_OPTION);
    filter.id = text("x");
    filter.tool_id_count = 1;
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_ERROR_NULL);
    memset(&cache, 0, sizeof cache);
    CHECK_STATUS(aside_registry_add_cache(registry, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_add_cache(registry, &cache), ASIDE_ERROR_SIZE);
    cache.size = sizeof cache;
    CHECK_STATUS(aside_registry_add_cache(registry, &cache), ASIDE_ERROR_NULL);

    memset(&options, 0, sizeof options);
    CHECK(aside_compressor_new(NULL, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_compressor_new(registry, &options) == NULL && aside_last_status() == ASIDE_ERROR_SIZE);
    options.size = sizeof options;
    CHECK(aside_unstable_version() == 1);
    options.budget = 1023;
    CHECK(aside_compressor_new(registry, &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    compressor = aside_compressor_new(registry, NULL);
    CHECK(compressor != NULL);
    aside_registry_free(registry);

    refused(NULL, &invocation, &part, 1, ASIDE_ERROR_NULL);
    refused(compressor, NULL, &part, 1, ASIDE_ERROR_NULL);
    refused(compressor, &invocation, NULL, 1, ASIDE_ERROR_NULL);
    refused(compressor, &invocation, &part, HUGE_LEN, ASIDE_ERROR_LENGTH);
    part.len = HUGE_LEN;
    refused(compressor, &invocation, &part, 1, ASIDE_ERROR_LENGTH);
    invocation.input = text("{");
    refused(compressor, &invocation, NULL, 0, ASIDE_ERROR_OPTION);
    CHECK_SAYS("invocation->input: the input is not JSON");
    aside_compressor_free(compressor);
}

/* Lets `call` fill `*to`, which is not aligned, as a struct that is smaller than in any header, one of this header, and a larger
 * one of a later header. */
#define FILLS_EVERY_SIZE(type, call)                           \
    do {                                                       \
        unsigned char room[1 + sizeof(type) + 40];             \
        type *to = (type *)(void *)(room + 1);                 \
        static const unsigned char zero[40];                   \
        size_t size = sizeof(type) - 1, i;                     \
                                                               \
        memset(room, 77, sizeof room);                         \
        memcpy(room + 1, &size, sizeof size);                  \
        CHECK_STATUS(call, ASIDE_ERROR_SIZE);                  \
        size = HUGE_LEN;                                       \
        memcpy(room + 1, &size, sizeof size);                  \
        CHECK_STATUS(call, ASIDE_ERROR_SIZE);                  \
        for (i = 1 + sizeof size; i < sizeof room; i++)        \
            CHECK(room[i] == 77);                              \
        size = sizeof(type);                                   \
        memcpy(room + 1, &size, sizeof size);                  \
        CHECK_STATUS(call, ASIDE_OK);                          \
        CHECK(memcmp(room + 1, &size, sizeof size) == 0);      \
        for (i = 1 + sizeof(type); i < sizeof room; i++)       \
            CHECK(room[i] == 77);                              \
        size += 40;                                            \
        memcpy(room + 1, &size, sizeof size);                  \
        CHECK_STATUS(call, ASIDE_OK);                          \
        CHECK(memcmp(room + 1, &size, sizeof size) == 0);      \
        CHECK(memcmp(room + 1 + sizeof(type), zero, 40) == 0); \
    } while (0)

/* Lets `call` read `*from` as a struct that is smaller and one that is larger than in this header. `call` returns a status, which
 * must be `smaller` for a struct without its last 8 bytes. */
#define READS_EVERY_SIZE(type, good, call, smaller)                 \
    do {                                                            \
        struct {                                                    \
            type given;                                             \
            unsigned char later[40];                                \
        } room;                                                     \
        type *from = &room.given;                                   \
                                                                    \
        memset(&room, 0, sizeof room);                              \
        room.given = (good);                                        \
        from->size = sizeof(type) - 8;                              \
        CHECK_STATUS(call, smaller);                                \
        from->size = sizeof(type) - 4;                              \
        CHECK_STATUS(call, ASIDE_ERROR_SIZE);                       \
        from->size = 0;                                             \
        CHECK_STATUS(call, ASIDE_ERROR_SIZE);                       \
        from->size = sizeof room;                                   \
        CHECK_STATUS(call, ASIDE_OK);                               \
        /* A field of a later version is refused unless it is 0. */ \
        room.later[39] = 1;                                         \
        CHECK_STATUS(call, ASIDE_ERROR_OPTION);                     \
        CHECK_SAYS("does not know");                                \
    } while (0)

static aside_status try_options(const aside_registry *registry, const aside_compressor_options *options)
{
    aside_compressor *compressor = aside_compressor_new(registry, options);

    aside_compressor_free(compressor);
    return compressor == NULL ? aside_last_status() : ASIDE_OK;
}

static aside_status try_invocation(const aside_compressor *compressor, const aside_invocation *invocation)
{
    aside_compressed *compressed = aside_compress(compressor, invocation, NULL, 0);

    aside_compressed_free(compressed);
    return compressed == NULL ? aside_last_status() : ASIDE_OK;
}

static aside_status try_stream(const aside_compressor *compressor, const aside_invocation *invocation)
{
    aside_tool_stream *stream = aside_tool_stream_new(compressor, invocation, 8192);

    aside_tool_stream_free(stream);
    return stream == NULL ? aside_last_status() : ASIDE_OK;
}

struct counting {
    int64_t factor; /* tokens for four bytes; below 0: the counter fails */
    int asked, released;
};

static int64_t count_tokens(void *user, const char *text, size_t text_len, aside_reply *reply)
{
    struct counting *counting = user;

    CHECK(text != NULL && text_len > 0);
    counting->asked++;
    if (counting->factor < 0)
        CHECK_STATUS(aside_reply_write(reply, "no tokenizer", 12), ASIDE_OK);
    return counting->factor < 0 ? -7 : (int64_t)text_len * counting->factor / 4;
}

static void count_released(void *user) { ((struct counting *)user)->released++; }

/* Tests a budget in tokens, estimated by the library or counted by the host: with a counter that works, one that fails, and one
 * that returns wrong numbers. */
static void token_budgets(void)
{
    static const int64_t factors[] = {0, 2, -1, 1000000};
    aside_compressor_options options = {.size = sizeof options, .budget_tokens = 600};
    aside_invocation invocation = invocation_of("{\"command\":\"make\"}");
    aside_registry *registry = registry_new();
    aside_bytes part, out;
    char *log = malloc(100001);
    size_t i;

    CHECK(log != NULL);
    for (i = 0; i < 100000; i += 20)
        snprintf(log + i, 21, "step %5u is ended\n", (unsigned)(i % 100000));
    part.at = log;
    part.len = 100000;
    for (i = 0; i < sizeof factors / sizeof *factors; i++) {
        struct counting counting = {factors[i], 0, 0};
        aside_compressor *compressor;
        aside_compressed *compressed;
        aside_failed failed = {.size = sizeof failed};

        options.count = i == 0 ? NULL : count_tokens;
        options.release = count_released;
        options.user = &counting;
        CHECK((compressor = aside_compressor_new(registry, &options)) != NULL);
        compressed = compress(compressor, &invocation, &part, 1);
        CHECK_STATUS(aside_compressed_part(compressed, 0, &out), ASIDE_OK);
        CHECK(out.len <= 3600 && counting.asked <= 8 && (i == 0) == (counting.asked == 0));
        CHECK(factors[i] != 2 || out.len / 2 <= 600);
        CHECK(report_of(compressed).failed_count == (i >= 2));
        if (i >= 2) {
            CHECK_STATUS(aside_compressed_failed(compressed, 0, &failed), ASIDE_OK);
            CHECK(failed.id.len == 5 && memcmp(failed.id.at, "count", 5) == 0);
        }
        aside_compressed_free(compressed);
        aside_compressor_free(compressor);
        CHECK(counting.released == (i > 0));
    }
    options.budget_tokens = 511;
    CHECK(aside_compressor_new(registry, &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.budget_tokens is below 512");
    aside_registry_free(registry);
    free(log);
}

static void sizes(void)
{
    static struct seen seen;
    aside_registry *registry = registry_new(), *caches = registry_new();
    aside_filter filter = filter_of(&seen);
    aside_cache cache = {.size = sizeof cache, .id = {"kept", 4}, .lookup = lookup, .record = record};
    aside_compressor_options options = {.size = sizeof options, .budget = 2000};
    aside_invocation invocation = invocation_of("{\"command\":\"make\"}");
    aside_bytes part = text(noise());
    aside_compressor *compressor;
    aside_compressed *compressed;

    READS_EVERY_SIZE(aside_filter, filter, aside_registry_add_filter(registry, from), ASIDE_ERROR_SIZE);
    READS_EVERY_SIZE(aside_cache, cache, aside_registry_add_cache(caches, from), ASIDE_ERROR_SIZE);
    aside_registry_free(caches);
    /* The struct may end before any option, which is then 0. */
    READS_EVERY_SIZE(aside_compressor_options, options, try_options(registry, from), ASIDE_OK);
    options.size = offsetof(aside_compressor_options, budget);
    options.budget = 1;
    CHECK_STATUS(try_options(registry, &options), ASIDE_OK);
    options.size = offsetof(aside_compressor_options, switch_off);
    CHECK_STATUS(try_options(registry, &options), ASIDE_ERROR_OPTION);

    seen.compressor = compressor = compressor_new(registry, 0);
    READS_EVERY_SIZE(aside_invocation, invocation, try_invocation(compressor, from), ASIDE_ERROR_SIZE);
    READS_EVERY_SIZE(aside_invocation, invocation, try_stream(compressor, from), ASIDE_ERROR_SIZE);
    seen.verdict = -5;
    invocation.tool_id = text("bash");
    compressed = compress(compressor, &invocation, &part, 1);
    CHECK(report_of(compressed).failed_count > 0 && report_of(compressed).part_count == 1);
    FILLS_EVERY_SIZE(aside_report, aside_compressed_report(compressed, to));
    FILLS_EVERY_SIZE(aside_failed, aside_compressed_failed(compressed, 0, to));
    FILLS_EVERY_SIZE(aside_part_report, aside_compressed_part_report(compressed, 0, to));
    FILLS_EVERY_SIZE(aside_stretch, aside_compressed_stretch(compressed, 0, 0, to));
    aside_compressed_free(compressed);
    aside_compressor_free(compressor);
}

int main(void)
{
    one_call();
    filters();
    stream_reentry();
    release_reentry();
    token_budgets();
    releases();
    one_registry();
    caches();
    streams();
    exit_codes_and_memory();
    misuse();
    sizes();
    return 0;
}
