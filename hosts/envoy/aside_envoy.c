/*
 * An HTTP filter for Envoy: splits the answers of a model's server into thinking, content and tool calls. It is a dynamic module,
 * one file over the installed library; README.md says how it is built and configured.
 *
 * Each answer that is to be split has a rewriter. Each piece of its body is fed, the output is appended, and the input is drained:
 * the filter buffers nothing.
 */
#include <aside.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The part of Envoy's interface for dynamic modules that is used here, as in version 1.39. ---- */

typedef struct {
    const char *ptr;
    size_t length;
} buffer;

enum { REQUEST_HEADERS = 0, RESPONSE_HEADERS = 2 };
enum { RECEIVED_REQUEST_BODY = 0, RECEIVED_RESPONSE_BODY = 2 };
enum { CONTINUE = 0, STOP_TRAILERS = 1, STOP_BODY = 3 };
enum { DYNAMIC_METADATA = 0 };
enum { LOCAL_RESET = 0 };

bool envoy_dynamic_module_callback_http_get_header(void *filter, int type, buffer key, buffer *value, size_t index,
                                                   size_t *count);
bool envoy_dynamic_module_callback_http_set_header(void *filter, int type, buffer key, buffer value);
size_t envoy_dynamic_module_callback_http_get_body_chunks_size(void *filter, int type);
bool envoy_dynamic_module_callback_http_get_body_chunks(void *filter, int type, buffer *chunks);
size_t envoy_dynamic_module_callback_http_get_body_size(void *filter, int type);
bool envoy_dynamic_module_callback_http_append_body(void *filter, int type, buffer data);
bool envoy_dynamic_module_callback_http_drain_body(void *filter, int type, size_t bytes);
bool envoy_dynamic_module_callback_http_get_metadata_string(void *filter, int source, buffer space, buffer key,
                                                            buffer *value);
void envoy_dynamic_module_callback_http_filter_reset_stream(void *filter, int reason, buffer details);
const void *envoy_dynamic_module_callback_get_most_specific_route_config(void *filter);
int envoy_dynamic_module_callback_http_filter_config_define_counter(void *config, buffer name, buffer *labels, size_t count,
                                                                    size_t *id);
int envoy_dynamic_module_callback_http_filter_increment_counter(void *filter, size_t id, buffer *labels, size_t count,
                                                                uint64_t value);

/* ---- Configuration ---- */

enum { THINKING_BYTES, CONTENT_BYTES, CHANGED, REPAIRED, UNKNOWN_DIALECT, COUNTERS };
static const char *const COUNTER_NAMES[COUNTERS] = {"aside.thinking_bytes", "aside.content_bytes", "aside.changed",
                                                    "aside.repaired", "aside.unknown_dialect"};

/* The maximum number of bytes of a request that are kept for its model. */
enum { MOST_KEPT = 64 << 10 };

typedef struct {
    char dialect[128];        /* the name of the dialect; "off": answers pass unchanged */
    char dialect_header[128]; /* a request's header that names the dialect */
    char model_header[128];   /* a request's header that names the model */
    char metadata_space[128]; /* where an earlier filter has named the dialect */
    char metadata_key[128];
    aside_answer_options answer;
    aside_rewriter_options options; /* without its answer */
    size_t counters[COUNTERS];
} config;

static buffer text(const char *text)
{
    buffer result = {text, strlen(text)};

    return result;
}

static bool copy(char *to, size_t room, const char *from, size_t len)
{
    if (len >= room)
        return false;
    memcpy(to, from, len);
    to[len] = 0;
    return true;
}

/* Reads one word, key=value. */
static bool read_word(config *made, const char *word, size_t len)
{
    const struct {
        const char *name;
        char *text;
        uint32_t *number;
    } keys[] = {
        {"dialect", made->dialect, NULL},
        {"dialect_header", made->dialect_header, NULL},
        {"model_header", made->model_header, NULL},
        {"repair", NULL, &made->options.repair},
        {"merge", NULL, &made->options.merge},
        {"promote_empty", NULL, &made->answer.promote_empty},
        {"keep_guessed", NULL, &made->answer.keep_guessed},
    };
    const char *equals = memchr(word, '=', len);
    size_t name = equals ? (size_t)(equals - word) : len;
    const char *value = equals ? equals + 1 : word + len;
    size_t left = (size_t)(word + len - value);

    if (name == strlen("comments") && memcmp(word, "comments", name) == 0) {
        static const char *const values[] = {"keep", "drop", "chunk"};

        for (uint32_t at = ASIDE_COMMENTS_KEEP; at <= ASIDE_COMMENTS_CHUNK; at++)
            if (strlen(values[at]) == left && memcmp(values[at], value, left) == 0) {
                made->options.comments = at;
                return true;
            }
        return false;
    }
    if (name == strlen("metadata") && memcmp(word, "metadata", name) == 0) {
        const char *colon = memchr(value, ':', left);

        return colon && copy(made->metadata_space, sizeof made->metadata_space, value, (size_t)(colon - value))
               && copy(made->metadata_key, sizeof made->metadata_key, colon + 1, (size_t)(value + left - colon - 1));
    }
    for (size_t at = 0; at < sizeof keys / sizeof *keys; at++) {
        if (strlen(keys[at].name) != name || memcmp(keys[at].name, word, name) != 0)
            continue;
        if (keys[at].text)
            return left > 0 && copy(keys[at].text, 128, value, left);
        *keys[at].number = left == 1 && *value == '1';
        return left == 1 && (*value == '0' || *value == '1');
    }
    return false;
}

static config *read_config(buffer words)
{
    config *made = calloc(1, sizeof *made);
    const char *at = words.ptr, *end = words.ptr + words.length;

    if (!made)
        return NULL;
    made->answer.size = sizeof made->answer;
    made->options.size = sizeof made->options;
    while (at < end) {
        const char *begin;

        while (at < end && (*at == ' ' || *at == '\n' || *at == '\t'))
            at++;
        for (begin = at; at < end && *at != ' ' && *at != '\n' && *at != '\t'; at++)
            ;
        if (at > begin && !read_word(made, begin, (size_t)(at - begin))) {
            fprintf(stderr,
                    "aside: %.*s is not a setting; there are dialect=NAME, dialect_header=NAME, model_header=NAME, "
                    "metadata=NAMESPACE:KEY, comments=keep, drop or chunk, and repair, merge, "
                    "promote_empty and keep_guessed, each =0 or =1\n",
                    (int)(at - begin), begin);
            free(made);
            return NULL;
        }
    }
    return made;
}

const char *envoy_dynamic_module_on_program_init(void) { return "v0.1.0"; }

const void *envoy_dynamic_module_on_http_filter_config_new(void *envoy, buffer name, buffer words)
{
    config *made = read_config(words);

    (void)name;
    for (size_t at = 0; made && at < COUNTERS; at++)
        envoy_dynamic_module_callback_http_filter_config_define_counter(envoy, text(COUNTER_NAMES[at]), NULL, 0,
                                                                        &made->counters[at]);
    return made;
}

void envoy_dynamic_module_on_http_filter_config_destroy(const void *made) { free((void *)made); }

const void *envoy_dynamic_module_on_http_filter_per_route_config_new(buffer name, buffer words)
{
    (void)name;
    return read_config(words);
}

void envoy_dynamic_module_on_http_filter_per_route_config_destroy(const void *made) { free((void *)made); }

/* ---- One exchange ---- */

typedef struct {
    const config *config; /* of the filter: it has the counters */
    const config *route;  /* of the route, or NULL */
    aside_rewriter *rewriter;
    const aside_dialect *dialect; /* that a header or metadata names */
    char *path;
    char *kept; /* the beginning of the request's body, while its model is not known */
    size_t kept_len;
    bool is_split; /* the answer may be one to split */
    bool passes;   /* it is not to be split, by a header */
} exchange;

static aside_bytes bytes(buffer from)
{
    aside_bytes result = {from.ptr, from.length};

    return result;
}

static buffer header(void *envoy, int type, const char *name)
{
    buffer value = {NULL, 0};

    envoy_dynamic_module_callback_http_get_header(envoy, type, text(name), &value, 0, NULL);
    return value;
}

static void remove_header(void *envoy, int type, const char *name)
{
    buffer none = {NULL, 0};

    envoy_dynamic_module_callback_http_set_header(envoy, type, text(name), none);
}

static void count(void *envoy, const exchange *of, int counter, uint64_t value)
{
    if (value)
        envoy_dynamic_module_callback_http_filter_increment_counter(envoy, of->config->counters[counter], NULL, 0, value);
}

const void *envoy_dynamic_module_on_http_filter_new(const void *made, void *envoy)
{
    exchange *new = calloc(1, sizeof *new);

    (void)envoy;
    if (new)
        new->config = made;
    return new;
}

/* Finds a dialect by its name. An unknown name is counted, and the answer stays unchanged. */
static void take_name(void *envoy, exchange *of, buffer name)
{
    if (name.length == 0 || of->dialect || of->passes)
        return;
    if (name.length == 3 && memcmp(name.ptr, "off", 3) == 0) {
        of->passes = true;
        return;
    }
    of->dialect = aside_dialect_find(name.ptr, name.length);
    if (!of->dialect) {
        of->passes = true;
        count(envoy, of, UNKNOWN_DIALECT, 1);
    }
}

int envoy_dynamic_module_on_http_filter_request_headers(void *envoy, const void *filter, bool is_last)
{
    exchange *of = (exchange *)filter;
    aside_exchange asked = {.size = sizeof asked};
    buffer path = header(envoy, REQUEST_HEADERS, ":path");
    buffer name = {NULL, 0};
    uint32_t hint = 0;

    (void)is_last;
    asked.method = bytes(header(envoy, REQUEST_HEADERS, ":method"));
    asked.path = bytes(path);
    if (aside_request_hint(&asked, &hint) != ASIDE_OK)
        return CONTINUE;
    of->path = malloc(path.length + 1);
    if (!of->path)
        return CONTINUE;
    copy(of->path, path.length + 1, path.ptr, path.length);
    of->is_split = true;
    of->route = envoy_dynamic_module_callback_get_most_specific_route_config(envoy);
    if (of->route && of->route->dialect[0])
        take_name(envoy, of, text(of->route->dialect));
    if (of->config->dialect_header[0]) {
        take_name(envoy, of, header(envoy, REQUEST_HEADERS, of->config->dialect_header));
        remove_header(envoy, REQUEST_HEADERS, of->config->dialect_header);
    }
    if (of->config->metadata_key[0]
        && envoy_dynamic_module_callback_http_get_metadata_string(envoy, DYNAMIC_METADATA, text(of->config->metadata_space),
                                                                  text(of->config->metadata_key), &name))
        take_name(envoy, of, name);
    if (of->config->model_header[0]) {
        buffer model = header(envoy, REQUEST_HEADERS, of->config->model_header);

        if (!of->dialect && !of->passes && model.length)
            of->dialect = aside_dialect_find_for_model(model.ptr, model.length);
        remove_header(envoy, REQUEST_HEADERS, of->config->model_header);
    }
    if (hint == ASIDE_HINT_IDENTITY)
        envoy_dynamic_module_callback_http_set_header(envoy, REQUEST_HEADERS, text("accept-encoding"), text("identity"));
    return CONTINUE;
}

/* Keeps the beginning of the request's body to read the model from it; the body itself stays unchanged. */
int envoy_dynamic_module_on_http_filter_request_body(void *envoy, const void *filter, bool is_last)
{
    exchange *of = (exchange *)filter;
    size_t count = envoy_dynamic_module_callback_http_get_body_chunks_size(envoy, RECEIVED_REQUEST_BODY);
    buffer *chunks;

    (void)is_last;
    if (!of->is_split || of->dialect || of->passes || count == 0 || of->kept_len == MOST_KEPT)
        return CONTINUE;
    if (!of->kept && !(of->kept = malloc(MOST_KEPT)))
        return CONTINUE;
    chunks = calloc(count, sizeof *chunks);
    if (chunks && envoy_dynamic_module_callback_http_get_body_chunks(envoy, RECEIVED_REQUEST_BODY, chunks)) {
        for (size_t at = 0; at < count; at++) {
            size_t room = MOST_KEPT - of->kept_len;
            size_t len = chunks[at].length < room ? chunks[at].length : room;

            memcpy(of->kept + of->kept_len, chunks[at].ptr, len);
            of->kept_len += len;
        }
    }
    free(chunks);
    return CONTINUE;
}

int envoy_dynamic_module_on_http_filter_request_trailers(void *envoy, const void *filter)
{
    (void)envoy;
    (void)filter;
    return CONTINUE;
}

/* Returns the dialect of an answer, or NULL if the answer must stay unchanged. */
static const aside_dialect *choose(void *envoy, exchange *of)
{
    char model[256];
    size_t len = 0;

    if (!of->dialect && !of->passes && of->kept
        && aside_request_model(of->kept, of->kept_len, model, sizeof model, &len) == ASIDE_OK)
        of->dialect = aside_dialect_find_for_model(model, len);
    take_name(envoy, of, text(of->config->dialect));
    if (!of->dialect && !of->passes)
        of->dialect = aside_dialect_find("any", 3);
    return of->passes ? NULL : of->dialect;
}

int envoy_dynamic_module_on_http_filter_response_headers(void *envoy, const void *filter, bool is_last)
{
    static const char *const of_the_body[] = {"content-length", "etag", "content-md5", "digest", "repr-digest"};
    exchange *of = (exchange *)filter;
    aside_exchange answered = {.size = sizeof answered};
    const config *settings = of->route ? of->route : of->config;
    aside_rewriter_options options = settings->options;
    const aside_dialect *dialect;
    buffer status = header(envoy, RESPONSE_HEADERS, ":status");

    if (!of->is_split || is_last)
        return CONTINUE;
    for (size_t at = 0; at < status.length; at++)
        answered.status = answered.status * 10 + (uint32_t)(status.ptr[at] - '0');
    answered.path.at = of->path;
    answered.path.len = strlen(of->path);
    answered.content_type = bytes(header(envoy, RESPONSE_HEADERS, "content-type"));
    answered.content_encoding = bytes(header(envoy, RESPONSE_HEADERS, "content-encoding"));
    if (aside_rewriter_wants(&answered, &options.body) != ASIDE_OK)
        return CONTINUE;
    dialect = choose(envoy, of);
    free(of->kept);
    of->kept = NULL;
    if (!dialect)
        return CONTINUE;
    options.answer = &settings->answer;
    of->rewriter = aside_rewriter_new(dialect, &options);
    if (!of->rewriter)
        return CONTINUE;
    for (size_t at = 0; at < sizeof of_the_body / sizeof *of_the_body; at++)
        remove_header(envoy, RESPONSE_HEADERS, of_the_body[at]);
    return CONTINUE;
}

/* Ends the exchange with an error, so that no answer is half rewritten. A hook that calls this returns the status, and Envoy stops
 * there. */
static int reset(void *envoy, int status)
{
    envoy_dynamic_module_callback_http_filter_reset_stream(envoy, LOCAL_RESET, text("aside"));
    return status;
}

static void report(void *envoy, exchange *of)
{
    aside_rewriter_stats stats = {.size = sizeof stats};

    if (aside_rewriter_get_stats(of->rewriter, &stats) != ASIDE_OK)
        return;
    count(envoy, of, THINKING_BYTES, stats.thinking_bytes);
    count(envoy, of, CONTENT_BYTES, stats.content_bytes);
    count(envoy, of, CHANGED, stats.changed);
    count(envoy, of, REPAIRED, stats.repaired);
}

int envoy_dynamic_module_on_http_filter_response_body(void *envoy, const void *filter, bool is_last)
{
    exchange *of = (exchange *)filter;
    size_t count, came;
    buffer *chunks, piece;
    aside_bytes out;

    if (!of->rewriter)
        return CONTINUE;
    count = envoy_dynamic_module_callback_http_get_body_chunks_size(envoy, RECEIVED_RESPONSE_BODY);
    came = envoy_dynamic_module_callback_http_get_body_size(envoy, RECEIVED_RESPONSE_BODY);
    chunks = calloc(count + 1, sizeof *chunks);
    if (!chunks || (count && !envoy_dynamic_module_callback_http_get_body_chunks(envoy, RECEIVED_RESPONSE_BODY, chunks))) {
        free(chunks);
        return reset(envoy, STOP_BODY);
    }
    /* Output is appended after all received bytes, which are drained afterwards. Appending may make Envoy move its bytes, so if
     * there are several pieces, they are fed from a copy. */
    piece.ptr = chunks[0].ptr;
    piece.length = came;
    char *whole = NULL;
    if (count > 1) {
        size_t at = 0;

        whole = malloc(came + 1);
        for (size_t number = 0; whole && number < count; at += chunks[number++].length)
            memcpy(whole + at, chunks[number].ptr, chunks[number].length);
        piece.ptr = whole;
    }
    free(chunks);
    if (came && !piece.ptr)
        return reset(envoy, STOP_BODY);
    if (aside_rewriter_feed(of->rewriter, piece.ptr, came, &out) != ASIDE_OK
        || (out.len
            && !envoy_dynamic_module_callback_http_append_body(envoy, RECEIVED_RESPONSE_BODY, (buffer){out.at, out.len}))) {
        free(whole);
        return reset(envoy, STOP_BODY);
    }
    free(whole);
    if (is_last) {
        if (aside_rewriter_finish(of->rewriter, &out) != ASIDE_OK
            || (out.len
                && !envoy_dynamic_module_callback_http_append_body(envoy, RECEIVED_RESPONSE_BODY,
                                                                   (buffer){out.at, out.len})))
            return reset(envoy, STOP_BODY);
        report(envoy, of);
    }
    if (came)
        envoy_dynamic_module_callback_http_drain_body(envoy, RECEIVED_RESPONSE_BODY, came);
    return CONTINUE;
}

/* Nothing can be added to a body before its trailers: if text is held, the client gets an error and not an incomplete answer. */
int envoy_dynamic_module_on_http_filter_response_trailers(void *envoy, const void *filter)
{
    exchange *of = (exchange *)filter;
    aside_rewriter_stats stats = {.size = sizeof stats};

    if (!of->rewriter)
        return CONTINUE;
    if (aside_rewriter_get_stats(of->rewriter, &stats) != ASIDE_OK || stats.held > 0)
        return reset(envoy, STOP_TRAILERS);
    report(envoy, of);
    return CONTINUE;
}

void envoy_dynamic_module_on_http_filter_stream_complete(void *envoy, const void *filter)
{
    (void)envoy;
    (void)filter;
}

void envoy_dynamic_module_on_http_filter_destroy(const void *filter)
{
    exchange *of = (exchange *)filter;

    aside_rewriter_free(of->rewriter);
    free(of->path);
    free(of->kept);
    free(of);
}

/* ---- Hooks that Envoy looks for in every module, and that have nothing to do here. ---- */

void envoy_dynamic_module_on_http_filter_http_callout_done(void) {}
void envoy_dynamic_module_on_http_filter_scheduled(void) {}
void envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(void) {}
void envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(void) {}
int envoy_dynamic_module_on_http_filter_local_reply(void) { return CONTINUE; }
void envoy_dynamic_module_on_http_filter_http_stream_headers(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_data(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_trailers(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_complete(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_reset(void) {}
void envoy_dynamic_module_on_http_filter_config_scheduled(void) {}
void envoy_dynamic_module_on_http_filter_config_http_callout_done(void) {}
void envoy_dynamic_module_on_http_filter_config_http_stream_headers(void) {}
void envoy_dynamic_module_on_http_filter_config_http_stream_data(void) {}
void envoy_dynamic_module_on_http_filter_config_http_stream_trailers(void) {}
void envoy_dynamic_module_on_http_filter_config_http_stream_complete(void) {}
void envoy_dynamic_module_on_http_filter_config_http_stream_reset(void) {}
