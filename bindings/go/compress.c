/* Forwards the callbacks of filters and caches to Go. A handle is passed as an integer, because Go must never treat it as a
 * pointer. */
#include "_cgo_export.h"

/* The handle of the compressor's call that this thread runs. Errors of callbacks are stored in that call, and not in the reply.
 * */
static _Thread_local uintptr_t inside;

uintptr_t aside_go_inside(uintptr_t call)
{
    uintptr_t before = inside;

    inside = call;
    return before;
}

static int32_t matches(void *user, const aside_invocation *invocation, aside_reply *reply)
{
    (void)reply;
    return asideGoMatches(inside, (uintptr_t)user, invocation->tool_id, invocation->input);
}

static int32_t apply(void *user, const aside_invocation *invocation, const char *text, size_t text_len, aside_reply *reply)
{
    aside_bytes bytes = {text, text_len};

    return asideGoApply(inside, (uintptr_t)user, bytes, invocation->input, reply);
}

static int32_t observe(void *user, const aside_invocation *invocation, aside_reply *reply)
{
    (void)reply;
    return asideGoObserve(inside, (uintptr_t)user, invocation->tool_id, invocation->input);
}

static int32_t lookup(void *user, const aside_invocation *invocation, aside_reply *reply, uint64_t *timestamp)
{
    return asideGoLookup(inside, (uintptr_t)user, invocation->tool_id, invocation->input, reply, timestamp);
}

static int32_t record(void *user, const aside_invocation *invocation, const char *text, size_t text_len, aside_reply *reply)
{
    aside_bytes bytes = {text, text_len};

    (void)reply;
    return asideGoRecord(inside, (uintptr_t)user, invocation->tool_id, invocation->input, bytes, invocation->now);
}

static int64_t count_tokens(void *user, const char *text, size_t text_len, aside_reply *reply)
{
    aside_bytes bytes = {text, text_len};

    (void)reply;
    return asideGoCount(inside, (uintptr_t)user, bytes);
}

static void release(void *user) { asideGoRelease((uintptr_t)user); }

aside_status aside_go_add_filter(aside_registry *registry, aside_bytes id, const aside_bytes *tool_ids, size_t count,
                                 uintptr_t user)
{
    aside_filter filter = {sizeof filter, id, tool_ids, count, matches, apply, release, (void *)user};

    return aside_registry_add_filter(registry, &filter);
}

aside_status aside_go_add_cache(aside_registry *registry, aside_bytes id, const aside_bytes *tool_ids, size_t count,
                                uintptr_t user)
{
    aside_cache cache = {sizeof cache, id, tool_ids, count, observe, lookup, record, release, (void *)user};

    return aside_registry_add_cache(registry, &cache);
}

aside_compressor *aside_go_compressor_new(const aside_registry *registry, aside_compressor_options options, uintptr_t count)
{
    options.size = sizeof options;
    if (count != 0) {
        options.count = count_tokens;
        options.release = release;
        options.user = (void *)count;
    }
    return aside_compressor_new(registry, &options);
}
