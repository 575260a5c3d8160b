/* The C functions of tool results: nothing that a host does with them, in any order, may crash or change what the report says.
 * One call, its report, streams, filters and caches of the host, and every misuse that can be detected. */
#include "check.h"
#include <aside_compress.h>

#define HUGE_LEN ((size_t)-1)

static aside_bytes text(const char *at)
{
    aside_bytes bytes;

    bytes.at = at;
    bytes.len = at == NULL ? 0 : strlen(at);
    return bytes;
}

static aside_invocation call_of(const char *input)
{
    aside_invocation call;

    memset(&call, 0, sizeof call);
    call.size = sizeof call;
    call.tool_id = text("bash");
    call.input = text(input);
    call.now = 1000;
    return call;
}

static aside_registry *registry_new(void)
{
    aside_registry *registry = aside_registry_new(1);

    CHECK(registry != NULL);
    return registry;
}

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
    return compressor;
}

/* A log of 4,016 bytes whose middle repeats. */
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
    CHECK(is_address(report.filters) && is_address(report.failed) && is_address(report.parts));
    return report;
}

static int same(aside_bytes bytes, const char *expected)
{
    return bytes.len == strlen(expected) && memcmp(bytes.at, expected, bytes.len) == 0;
}

static void one_call(void)
{
    aside_compressor *compressor = compressor_new(registry_new(), 0);
    aside_invocation call = call_of("{\"command\": \"make\", \"exit_code\": 2}");
    aside_bytes parts[3];
    aside_compressed *compressed;
    aside_report report;
    const char *result, *slice;
    size_t len, i;
    uint64_t at = 0;

    parts[0] = text(NULL);
    parts[1] = text(noise());
    parts[2] = text("short");
    CHECK_STATUS(aside_compress(compressor, &call, parts, 3, &compressed), ASIDE_OK);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result, &len), ASIDE_NONE);
    CHECK_STATUS(aside_compressed_part(compressed, 2, &result, &len), ASIDE_NONE);
    CHECK_STATUS(aside_compressed_part(compressed, 3, &result, &len), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_part(compressed, 1, &result, &len), ASIDE_OK);
    CHECK(len < 200 && memcmp(result, "[Output compressed by repeats (4016 \xe2\x86\x92 ", 39) == 0);
    CHECK(memcmp(result + len - 16, "error: the end.\n", 16) == 0);

    report = report_of(compressed);
    CHECK(report.before == 4021 && report.after < 200 && report.failed_count == 0 && report.hit.len == 0);
    CHECK(report.filter_count == 1 && same(report.filters[0], "repeats"));
    CHECK(report.part_count == 1 && report.parts[0].part == 1 && report.parts[0].len == 4016);
    for (i = 0; i < report.parts[0].stretch_count; i++) {
        aside_stretch stretch = report.parts[0].stretches[i];

        CHECK(stretch.start == at);
        at += stretch.len;
        CHECK((stretch.change == ASIDE_CHANGE_KEPT) == (stretch.filter == ASIDE_NO_FILTER));
        if (stretch.change == ASIDE_CHANGE_LEFT_OUT) {
            CHECK(stretch.filter == 0);
            CHECK_STATUS(aside_compressed_slice(compressed, 1, noise(), 4016, stretch.start, stretch.len, &slice), ASIDE_OK);
            CHECK(slice == noise() + stretch.start);
        }
    }
    CHECK(at == 4016);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, noise() + 1, 4015, 0, 1, &slice), ASIDE_ERROR_ORIGINAL);
    CHECK_STATUS(aside_compressed_slice(compressed, 2, "short", 5, 0, 1, &slice), ASIDE_ERROR_ORIGINAL);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, noise(), 4016, 4016, 1, &slice), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, noise(), 4016, 1, (uint64_t)-1, &slice), ASIDE_ERROR_RANGE);
    CHECK_STATUS(aside_compressed_slice(NULL, 1, noise(), 4016, 0, 1, &slice), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, NULL, 4016, 0, 1, &slice), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_slice(compressed, 1, noise(), 4016, 0, 1, NULL), ASIDE_ERROR_NULL);

    CHECK_STATUS(aside_compressed_part(NULL, 0, &result, &len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_part(compressed, 1, NULL, &len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_report(NULL, &report), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compressed_report(compressed, NULL), ASIDE_ERROR_NULL);
    report.size = 8;
    CHECK_STATUS(aside_compressed_report(compressed, &report), ASIDE_ERROR_SIZE);
    /* What was borrowed from it is valid without its compressor. */
    aside_compressor_free(compressor);
    CHECK(memcmp(result + len - 16, "error: the end.\n", 16) == 0);
    aside_compressed_free(compressed);
    aside_compressed_free(NULL);
}

/* What a host's callbacks have seen. */
struct seen {
    aside_compressor *compressor;
    aside_tool_stream *stream;
    int matches, applies, observes, lookups, records, releases;
    int verdict;
    char recorded[8192];
    size_t recorded_len;
};

static int32_t matches(void *user, const char *tool_id, size_t tool_id_len, const char *input, size_t input_len,
                       aside_reply *reply)
{
    struct seen *seen = (struct seen *)user;

    seen->matches++;
    CHECK(tool_id_len == 4 && memcmp(tool_id, "bash", 4) == 0);
    if (seen->verdict == -9) {
        CHECK_STATUS(aside_reply_write(reply, "who knows", 9), ASIDE_OK);
        return -1;
    }
    return input_len == 18 && memcmp(input, "{\"command\":\"make\"}", 18) == 0;
}

static int32_t apply(void *user, const char *bytes, size_t len, const char *input, size_t input_len, aside_reply *reply)
{
    struct seen *seen = (struct seen *)user;
    aside_invocation call = call_of(NULL);
    aside_compressed *compressed = NULL;
    const char *out;
    size_t out_len;

    seen->applies++;
    CHECK(input_len == 18 && input[0] == '{' && len >= 1024);
    /* Whoever is inside cannot come in again, nor be freed. */
    CHECK_STATUS(aside_compress(seen->compressor, &call, NULL, 0, &compressed), ASIDE_ERROR_BUSY);
    CHECK(compressed == NULL);
    CHECK(aside_tool_stream_new(seen->compressor, &call, 1 << 20) == NULL);
    CHECK(aside_last_status() == ASIDE_ERROR_BUSY);
    aside_compressor_free(seen->compressor);
    CHECK(aside_last_status() == ASIDE_ERROR_BUSY);
    if (seen->stream != NULL) {
        CHECK_STATUS(aside_tool_stream_feed(seen->stream, "x", 1, &out, &out_len), ASIDE_ERROR_BUSY);
        CHECK_STATUS(aside_tool_stream_finish(seen->stream, &out, &out_len, NULL), ASIDE_ERROR_BUSY);
        aside_tool_stream_free(seen->stream);
        CHECK(aside_last_status() == ASIDE_ERROR_BUSY);
    }
    CHECK(aside_is_protected(bytes, len) == 0);
    CHECK_STATUS(aside_reply_write(NULL, "x", 1), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_reply_write(reply, NULL, 1), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_reply_write(reply, NULL, 0), ASIDE_OK);
    CHECK_STATUS(aside_reply_write(reply, seen->verdict < 0 ? "no " : "shor", seen->verdict < 0 ? 3 : 4), ASIDE_OK);
    CHECK_STATUS(aside_reply_write(reply, seen->verdict < 0 ? "luck" : "ter\n", 4), ASIDE_OK);
    return seen->verdict;
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
    aside_invocation call = call_of("{ \"command\": \"make\" }"), other = call_of("{}");
    aside_bytes tools[1], part = text(noise());
    aside_compressed *compressed;
    aside_report report;
    const char *result, *out;
    size_t len;

    tools[0] = text("bash");
    filter.tool_ids = tools;
    filter.tool_id_count = 1;
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    /* The second of the same id takes the first one's place. */
    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    CHECK(seen.releases == 1);
    seen.compressor = compressor_new(registry, 0);

    seen.verdict = 1;
    CHECK_STATUS(aside_compress(seen.compressor, &call, &part, 1, &compressed), ASIDE_OK);
    CHECK(seen.matches == 1 && seen.applies == 1);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result, &len), ASIDE_OK);
    CHECK(memcmp(result, "[Output compressed by mine (4016", 32) == 0);
    CHECK(memcmp(result + len - 9, "\nshorter\n", 9) == 0 && strstr(result, "Set compress = false.]") != NULL);
    aside_compressed_free(compressed);

    /* One that fails is reported, with its reason. */
    seen.verdict = -5;
    CHECK_STATUS(aside_compress(seen.compressor, &call, &part, 1, &compressed), ASIDE_OK);
    report = report_of(compressed);
    CHECK(report.failed_count == 1 && same(report.failed[0].id, "mine") && same(report.failed[0].reason, "no luck"));
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result, &len), ASIDE_NONE);
    aside_compressed_free(compressed);

    CHECK_STATUS(aside_compress(seen.compressor, &other, &part, 1, &compressed), ASIDE_OK);
    CHECK(seen.matches == 3 && seen.applies == 2);
    aside_compressed_free(compressed);

    /* So is one that cannot say whether it is for a call. */
    seen.verdict = -9;
    CHECK_STATUS(aside_compress(seen.compressor, &call, &part, 1, &compressed), ASIDE_OK);
    CHECK(seen.matches == 4 && seen.applies == 2);
    report = report_of(compressed);
    CHECK(report.failed_count == 1 && same(report.failed[0].id, "mine") && same(report.failed[0].reason, "who knows"));
    aside_compressed_free(compressed);

    seen.verdict = 1;
    seen.stream = aside_tool_stream_new(seen.compressor, &call, 8192);
    CHECK(seen.stream != NULL);
    CHECK_STATUS(aside_tool_stream_feed(seen.stream, noise(), 4016, &out, &len), ASIDE_OK);
    CHECK(len == 0 && out != NULL);
    aside_compressor_free(seen.compressor);
    CHECK(seen.releases == 1);
    /* The compressor's handle is gone; the stream still has what it needs, and its callback asks for no handle. */
    seen.compressor = compressor_new(registry_new(), 0);
    aside_compressor_free(seen.compressor);
    aside_tool_stream_free(seen.stream);
    CHECK(seen.releases == 2);
}

/* A filter that asks for its own stream. */
static void stream_reentry(void)
{
    static struct seen seen;
    aside_registry *registry = aside_registry_new(0);
    aside_filter filter = filter_of(&seen);
    aside_invocation call = call_of("{\"command\": \"make\"}");
    aside_compressed *compressed;
    aside_report report;
    const char *out;
    size_t len;

    CHECK_STATUS(aside_registry_add_filter(registry, &filter), ASIDE_OK);
    seen.compressor = compressor_new(registry, 0);
    seen.verdict = 1;
    seen.stream = aside_tool_stream_new(seen.compressor, &call, 8192);
    CHECK_STATUS(aside_tool_stream_feed(seen.stream, noise(), 4016, &out, &len), ASIDE_OK);
    CHECK_STATUS(aside_tool_stream_finish(seen.stream, &out, &len, &compressed), ASIDE_OK);
    CHECK(len == 8 && memcmp(out, "shorter\n", 8) == 0 && seen.applies == 1);
    report = report_of(compressed);
    CHECK(report.before == 4016 && report.after == 8 && report.part_count == 1);
    CHECK_STATUS(aside_tool_stream_feed(seen.stream, "x", 1, &out, &len), ASIDE_ERROR_ORDER);
    CHECK_STATUS(aside_tool_stream_finish(seen.stream, &out, &len, NULL), ASIDE_ERROR_ORDER);
    aside_compressed_free(compressed);
    aside_tool_stream_free(seen.stream);
    aside_compressor_free(seen.compressor);
    CHECK(seen.releases == 1);
}

/* What a filter's release uses: that what it belongs to is being freed. */
static struct {
    aside_registry *registry;
    aside_tool_stream *stream;
    int releases;
} going;

static void release_that_calls(void *user)
{
    const char *out;
    size_t len;

    (void)user;
    going.releases++;
    if (going.registry != NULL) {
        CHECK_STATUS(aside_registry_remove(going.registry, "second", 6), ASIDE_ERROR_BUSY);
        aside_registry_free(going.registry);
    } else {
        CHECK_STATUS(aside_tool_stream_feed(going.stream, "x", 1, &out, &len), ASIDE_ERROR_BUSY);
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
    aside_invocation call = call_of("{}");
    aside_compressor *compressor;

    going.registry = registry_of_two();
    aside_registry_free(going.registry);
    CHECK(going.releases == 2);

    going.registry = NULL;
    compressor = compressor_new(registry_of_two(), 0);
    going.stream = aside_tool_stream_new(compressor, &call, 8192);
    CHECK(going.stream != NULL);
    aside_compressor_free(compressor);
    CHECK(going.releases == 2);
    aside_tool_stream_free(going.stream);
    CHECK(going.releases == 4);
}

static int32_t observe(void *user, const char *tool_id, size_t tool_id_len, const char *input, size_t input_len,
                       aside_reply *reply)
{
    struct seen *seen = (struct seen *)user;

    (void)tool_id;
    (void)input;
    CHECK(tool_id_len == 4 && input_len == 4);
    seen->observes++;
    if (seen->verdict >= 0)
        return 0;
    CHECK_STATUS(aside_reply_write(reply, "blind", 5), ASIDE_OK);
    return -1;
}

static int32_t lookup(void *user, const char *tool_id, size_t tool_id_len, const char *input, size_t input_len,
                      aside_reply *reply, uint64_t *timestamp)
{
    struct seen *seen = (struct seen *)user;

    (void)tool_id;
    (void)tool_id_len;
    (void)input;
    (void)input_len;
    seen->lookups++;
    if (seen->verdict <= 0)
        return seen->verdict;
    CHECK_STATUS(aside_reply_write(reply, seen->recorded, seen->recorded_len), ASIDE_OK);
    *timestamp = 60;
    return 1;
}

static int32_t record(void *user, const char *tool_id, size_t tool_id_len, const char *input, size_t input_len,
                      const char *bytes, size_t len, uint64_t now, aside_reply *reply)
{
    struct seen *seen = (struct seen *)user;

    (void)tool_id;
    (void)tool_id_len;
    (void)input;
    (void)input_len;
    CHECK(now == 1000 && len < sizeof seen->recorded);
    memcpy(seen->recorded, bytes, len);
    seen->recorded_len = len;
    seen->records++;
    if (seen->verdict >= 0)
        return 0;
    CHECK_STATUS(aside_reply_write(reply, "full", 4), ASIDE_OK);
    return -1;
}

static void caches(void)
{
    static struct seen seen;
    aside_registry *registry = aside_registry_new(0);
    aside_invocation call = call_of(NULL);
    aside_bytes part = text(noise());
    aside_cache cache;
    aside_compressor *compressor;
    aside_compressed *compressed;
    aside_report report;
    const char *result;
    size_t len;

    memset(&cache, 0, sizeof cache);
    cache.size = sizeof cache;
    cache.id = text("kept");
    cache.observe = observe;
    cache.lookup = lookup;
    cache.record = record;
    cache.release = release;
    cache.user = &seen;
    CHECK_STATUS(aside_registry_add_cache(registry, &cache), ASIDE_OK);
    CHECK_STATUS(aside_registry_add_last_run(registry, 1 << 20), ASIDE_OK);
    CHECK_STATUS(aside_registry_remove(registry, "last-run", 8), ASIDE_OK);
    CHECK_STATUS(aside_registry_remove(registry, "last-run", 8), ASIDE_NONE);
    compressor = compressor_new(registry, 0);

    CHECK_STATUS(aside_compress(compressor, &call, &part, 1, &compressed), ASIDE_OK);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result, &len), ASIDE_NONE);
    aside_compressed_free(compressed);
    seen.verdict = 1;
    CHECK_STATUS(aside_compress(compressor, &call, &part, 1, &compressed), ASIDE_OK);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &result, &len), ASIDE_OK);
    CHECK(len < 200 && memcmp(result, "Same output as last run (1970-01-01T00:01:00Z)", 46) == 0);
    report = report_of(compressed);
    CHECK(same(report.hit, "kept") && report.failed_count == 0);
    aside_compressed_free(compressed);
    seen.verdict = -1;
    CHECK_STATUS(aside_compress(compressor, &call, &part, 1, &compressed), ASIDE_OK);
    report = report_of(compressed);
    CHECK(report.failed_count == 3 && same(report.failed[0].reason, "blind") && report.hit.len == 0);
    CHECK(same(report.failed[1].reason, "it returned -1") && same(report.failed[2].reason, "full"));
    aside_compressed_free(compressed);
    CHECK(seen.observes == 3 && seen.lookups == 3 && seen.records == 3);
    aside_compressor_free(compressor);
    CHECK(seen.releases == 1);
}

static void exit_codes_and_memory(void)
{
    aside_invocation call = call_of("{\"command\": \"pytest\"}");
    aside_compressor_options options;
    aside_compressor *compressor;
    aside_compressed *compressed;
    aside_report report;
    aside_bytes part;
    const char *out;
    char *long_text;
    size_t len, i;
    int64_t code;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.budget = 2000;
    options.memory = 8192;
    compressor = aside_compressor_new(registry_new(), &options);
    CHECK(compressor != NULL);
    for (code = 0; code <= 2; code += 2) {
        aside_tool_stream *stream = aside_tool_stream_new(compressor, &call, 8192);

        CHECK_STATUS(aside_tool_stream_set_exit_code(NULL, code), ASIDE_ERROR_NULL);
        CHECK_STATUS(aside_tool_stream_feed(stream, "==== 3 passed in 0.1s ====\n", 27, &out, &len), ASIDE_OK);
        CHECK_STATUS(aside_tool_stream_set_exit_code(stream, code), ASIDE_OK);
        CHECK_STATUS(aside_tool_stream_finish(stream, &out, &len, &compressed), ASIDE_OK);
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
    CHECK_STATUS(aside_compress(compressor, &call, &part, 1, &compressed), ASIDE_OK);
    CHECK_STATUS(aside_compressed_part(compressed, 0, &out, &len), ASIDE_OK);
    CHECK(len <= 2000 && report_of(compressed).part_count == 0);
    aside_compressed_free(compressed);
    aside_compressor_free(compressor);
    free(long_text);
}

static void streams(void)
{
    aside_compressor *compressor = compressor_new(registry_new(), 2000);
    aside_invocation call = call_of("{\"command\": \"make\"}");
    aside_tool_stream *stream;
    aside_compressed *compressed;
    char line[64];
    const char *out;
    size_t len, i;

    CHECK(aside_tool_stream_new(compressor, &call, 7999) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("8000");
    CHECK(aside_tool_stream_new(NULL, &call, 8000) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_tool_stream_new(compressor, NULL, 8000) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    stream = aside_tool_stream_new(compressor, &call, 8000);
    CHECK(stream != NULL);
    aside_compressor_free(compressor);
    for (i = 0; i < 10000; i++) {
        sprintf(line, "step %lu is done\n", (unsigned long)i);
        CHECK_STATUS(aside_tool_stream_feed(stream, line, strlen(line), &out, &len), ASIDE_OK);
        CHECK(len == 0);
    }
    CHECK_STATUS(aside_tool_stream_feed(stream, NULL, 1, &out, &len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_feed(stream, "x", 1, NULL, &len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_feed(NULL, "x", 1, &out, &len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_finish(NULL, &out, &len, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_tool_stream_finish(stream, &out, &len, &compressed), ASIDE_OK);
    CHECK(len <= 2000 && memcmp(out, "step 0 is done\n", 15) == 0);
    CHECK(memcmp(out + len - 18, "step 9999 is done\n", 18) == 0);
    CHECK(report_of(compressed).before == 178890 && report_of(compressed).part_count == 0);
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
    aside_invocation call = call_of(NULL);
    aside_filter filter;
    aside_cache cache;
    aside_bytes part = text(noise());
    aside_compressed *mark = (aside_compressed *)&filter, *out = mark;
    struct {
        aside_invocation call;
        uint64_t field;
    } later;
    char *banner = NULL;
    size_t len = 77;

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
    CHECK_STATUS(aside_filter_check(GOOD, strlen(GOOD)), ASIDE_OK);
    CHECK_STATUS(aside_filter_check(GOOD, 60), ASIDE_ERROR_FILTER);
    CHECK_STATUS(aside_filter_check(NULL, 60), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_minify_json(registry), ASIDE_OK);
    CHECK_STATUS(aside_registry_minify_json(NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_add_last_run(NULL, 1), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_remove(NULL, "a", 1), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_registry_remove(registry, "\xff", 1), ASIDE_ERROR_OPTION);

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
    options.budget = ASIDE_MIN_BUDGET - 1;
    CHECK(aside_compressor_new(registry, &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    compressor = aside_compressor_new(registry, NULL);
    CHECK(compressor != NULL);
    aside_registry_free(aside_registry_new(0));

    CHECK_STATUS(aside_compress(NULL, &call, &part, 1, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compress(compressor, NULL, &part, 1, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compress(compressor, &call, NULL, 1, &out), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compress(compressor, &call, &part, 1, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_compress(compressor, &call, &part, HUGE_LEN, &out), ASIDE_ERROR_LENGTH);
    part.len = HUGE_LEN;
    CHECK_STATUS(aside_compress(compressor, &call, &part, 1, &out), ASIDE_ERROR_LENGTH);
    call.input = text("{");
    CHECK_STATUS(aside_compress(compressor, &call, NULL, 0, &out), ASIDE_ERROR_OPTION);
    CHECK_SAYS("JSON");
    /* A field of a later version is refused, unless it says nothing. */
    memset(&later, 0, sizeof later);
    later.call = call_of(NULL);
    later.call.size = sizeof later;
    later.field = 1;
    CHECK_STATUS(aside_compress(compressor, &later.call, NULL, 0, &out), ASIDE_ERROR_OPTION);
    CHECK_SAYS("does not know");
    later.field = 0;
    CHECK_STATUS(aside_compress(compressor, &later.call, NULL, 0, &out), ASIDE_OK);
    aside_compressed_free(out);
    out = mark;
    call.size = 0;
    CHECK_STATUS(aside_compress(compressor, &call, NULL, 0, &out), ASIDE_ERROR_SIZE);
    CHECK(out == mark);
    aside_compressor_free(compressor);

    CHECK(aside_is_protected("[1]", 3) == 1 && aside_is_protected("[1", 2) == 0 && aside_is_protected(NULL, 0) == 0);
    CHECK_STATUS(aside_is_protected(NULL, 1), ASIDE_ERROR_NULL);
    part = text("a");
    CHECK_STATUS(aside_format_banner(&part, 1, 10, 5, NULL, &len), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_format_banner(NULL, 1, 10, 5, &banner, &len), ASIDE_ERROR_NULL);
    CHECK(banner == NULL && len == 77);
    CHECK_STATUS(aside_format_banner(&part, 1, 10, 5, &banner, &len), ASIDE_OK);
    CHECK(strlen(banner) == len && strncmp(banner, "[Output compressed by a (10 \xe2\x86\x92 5 chars). ", 41) == 0);
    free(banner);
    CHECK(ASIDE_MIN_COMPRESSIBLE_LENGTH == 1024);
}

/* The words of a command, with spaces between them. */
static const char *words_of(const aside_command *command)
{
    static char words[256];
    size_t i, at = 0;

    for (i = 0; i < command->word_count; i++) {
        CHECK(at + command->words[i].len + 2 < sizeof words);
        memcpy(words + at, command->words[i].at, command->words[i].len);
        at += command->words[i].len;
        words[at++] = ' ';
    }
    words[at] = 0;
    return words;
}

static void command_lines(void)
{
    static const char line[] = "cd app && sudo -u bob git -C 'a b' diff --stat | head -5; bash -c 'A=1 make >log'";
    aside_command_line *parsed = aside_command_line_parse(line, strlen(line));
    const aside_command *commands;
    size_t count = 77;

    CHECK(parsed != NULL);
    commands = aside_command_line_commands(parsed, &count);
    CHECK(count == 4);
    CHECK(same(commands[0].name, "cd") && same(commands[0].subcommand, "app") && commands[0].prints == 0);
    CHECK(same(commands[1].name, "git") && same(commands[1].subcommand, "diff"));
    CHECK(strcmp(words_of(&commands[1]), "-C a b diff --stat ") == 0);
    CHECK(commands[1].prints == 1 && commands[1].piped == 1);
    CHECK(same(commands[2].name, "head") && commands[2].prints == 0 && commands[2].piped == 0);
    CHECK(same(commands[3].name, "make") && commands[3].subcommand.len == 0 && commands[3].word_count == 0);
    CHECK(is_address(commands[3].words));
    CHECK(commands[3].prints == 0);
    CHECK(aside_command_line_commands(NULL, &count) == NULL && aside_last_status() == ASIDE_ERROR_NULL && count == 4);
    CHECK(aside_command_line_commands(parsed, NULL) == NULL);
    aside_command_line_free(parsed);

    parsed = aside_command_line_parse("case $x in a) ls;; esac", 23);
    CHECK(is_address(aside_command_line_commands(parsed, &count)) && count == 0);
    aside_command_line_free(parsed);
    aside_command_line_free(NULL);
    parsed = aside_command_line_parse(NULL, 0);
    CHECK(parsed != NULL);
    aside_command_line_free(parsed);
    CHECK(aside_command_line_parse(NULL, 1) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    CHECK(aside_command_line_parse("a", HUGE_LEN) == NULL && aside_last_status() == ASIDE_ERROR_LENGTH);
    CHECK(aside_command_line_parse("\xff", 1) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
}

int main(void)
{
    one_call();
    command_lines();
    filters();
    stream_reentry();
    release_reentry();
    caches();
    streams();
    exit_codes_and_memory();
    misuse();
    return 0;
}
