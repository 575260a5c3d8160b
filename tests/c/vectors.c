/* The vectors of the project (tests/vectors/README.md) through the header: each must hold as it is cut and at every split into two,
 * with a callback and with an array. ASIDE_VECTORS names another folder of vectors. */
#include "check.h"
#include <cjson/cJSON.h>
#include <dirent.h>

/* Everything that a vector may compare in a stream. */
struct stream {
    struct heard heard;
    char causes[HEARD_MAX];
    size_t causes_len;
    char attributes[HEARD_MAX]; /* name=value; */
    size_t attributes_len;
};

static struct stream got;
static char wanted[HEARD_MAX];
static size_t wanted_len;

static const char *const cause_names[] = {"marker", "implied", "end of stream", "forced", "malformed"};

static void note(const aside_event *event, const char *bytes)
{
    hear(&got.heard, event, bytes);
    if (event->kind == ASIDE_KIND_CLOSE) {
        const char *name = cause_names[event->cause];

        heard_add(got.causes, &got.causes_len, name, strlen(name));
        heard_add(got.causes, &got.causes_len, ";", 1);
    } else if (event->kind == ASIDE_KIND_ATTRIBUTE) {
        heard_add(got.attributes, &got.attributes_len, bytes, event->name_len);
        heard_add(got.attributes, &got.attributes_len, "=", 1);
        heard_add(got.attributes, &got.attributes_len, bytes + event->name_len, event->value_len);
        heard_add(got.attributes, &got.attributes_len, ";", 1);
    }
}

static int32_t on_event(void *user, const aside_event *event, const char *bytes)
{
    (void)user;
    note(event, bytes);
    return 0;
}

/* Records the events of an array. Their bytes are partly in the held bytes and partly in the chunk. */
static void note_array(const aside_event_array *array, const char *chunk)
{
    static char bytes[HEARD_MAX];
    const aside_event *events = array->events;
    size_t i, at;

    for (i = 0; i < array->count; i++) {
        if (events[i].kind == ASIDE_KIND_ATTRIBUTE) {
            note(&events[i], array->attributes.at + events[i].text_at);
            continue;
        }
        CHECK(events[i].len < sizeof bytes);
        for (at = 0; at < events[i].len; at++) {
            uint64_t offset = events[i].offset + at;

            bytes[at] = offset >= array->offset ? chunk[offset - array->offset]
                                                : array->held.at[array->held.len - (array->offset - offset)];
        }
        note(&events[i], bytes);
    }
}

/* `into` is 0 to feed with a callback, 1 with an array, and 2 with aside_scanner_feed_text() and an array for bytes that it
 * refuses. */
static void feed_one(aside_scanner *scanner, const char *chunk, size_t len, int into)
{
    aside_event events[7];
    aside_event_array array = array_of(events, 7);
    aside_status status = ASIDE_MORE;
    int32_t channel = into == 2 ? aside_scanner_feed_text(scanner, chunk, len) : ASIDE_NOT_TEXT;

    if (channel != ASIDE_NOT_TEXT) {
        memset(events, 0, sizeof *events);
        events->kind = ASIDE_KIND_TEXT;
        events->channel = (uint32_t)channel;
        events->offset = aside_scanner_offset(scanner) - len;
        events->len = len;
        note(events, chunk);
        return;
    }

    if (!into) {
        CHECK_STATUS(aside_scanner_feed(scanner, chunk, len, on_event, NULL), ASIDE_OK);
        return;
    }
    while (status == ASIDE_MORE) {
        status = aside_scanner_feed_into(scanner, chunk, len, &array);
        CHECK(status == ASIDE_OK || status == ASIDE_MORE);
        note_array(&array, chunk);
        chunk += array.consumed;
        len -= array.consumed;
    }
}

static void finish_one(aside_scanner *scanner, int into)
{
    aside_event events[7];
    aside_event_array array = array_of(events, 7);
    aside_status status = ASIDE_MORE;

    if (!into) {
        CHECK_STATUS(aside_scanner_finish(scanner, on_event, NULL), ASIDE_OK);
        return;
    }
    while (status == ASIDE_MORE) {
        status = aside_scanner_finish_into(scanner, &array);
        CHECK(status == ASIDE_OK || status == ASIDE_MORE);
        note_array(&array, "");
    }
}

/* A string of cJSON ends at the first NUL, so a NUL is replaced by a character that no case contains; `plain` changes it back. */
static cJSON *parse(char *line)
{
    char *at;

    for (at = line; (at = strchr(at, '\\')) != NULL; at += 2)
        if (strncmp(at, "\\u0000", 6) == 0)
            memcpy(at, "\\uE000", 6);
    return cJSON_Parse(line);
}

/* Writes a parsed string's bytes; returns their number. */
static size_t plain(const char *text, char *to)
{
    char *end = to;

    CHECK(strlen(text) < HEARD_MAX);
    while (*text != 0) {
        int is_nul = strncmp(text, "\xEE\x80\x80", 3) == 0;

        *end++ = is_nul ? 0 : *text;
        text += is_nul ? 3 : 1;
    }
    return (size_t)(end - to);
}

/* Writes text or base64 into `to`; returns the length. */
static size_t decode(const char *text, int is_base64, char *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    int count = 0;
    char *end = to;

    if (!is_base64)
        return plain(text, to);
    CHECK(strlen(text) < HEARD_MAX);
    for (; *text != 0 && *text != '='; text++) {
        const char *digit = strchr(digits, *text);

        CHECK(digit != NULL);
        bits = bits << 6 | (uint32_t)(digit - digits);
        if ((count += 6) >= 8)
            *end++ = (char)(bits >> (count -= 8) & 0xFF);
    }
    return (size_t)(end - to);
}

static const cJSON *field(const cJSON *of, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(of, name);

    return item == NULL || cJSON_IsNull(item) ? NULL : item;
}

static void want(const char *text)
{
    static char bytes[HEARD_MAX];

    heard_add(wanted, &wanted_len, bytes, plain(text, bytes));
}

/* Returns whether a list of the case equals the result, when both are written as one string. */
static int same_list(const cJSON *list, const char *heard, size_t len)
{
    const cJSON *item;

    wanted_len = 0;
    wanted[0] = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsArray(item)) {
            want(cJSON_GetArrayItem(item, 0)->valuestring);
            want("=");
            want(cJSON_GetArrayItem(item, 1)->valuestring);
        } else {
            want(item->valuestring);
        }
        want(";");
    }
    return wanted_len == len && memcmp(wanted, heard, len) == 0;
}

static int same_bytes(const char *text, const char *bytes, size_t len)
{
    static char own[HEARD_MAX];

    return plain(text, own) == len && memcmp(own, bytes, len) == 0;
}

static int same_thought(const cJSON *of, const aside_thought *thought)
{
    const cJSON *type = field(of, "thought_type"), *confidence = field(of, "confidence");

    if (cJSON_IsString(of))
        return same_bytes(of->valuestring, thought->text.at, thought->text.len);
    return same_bytes(field(of, "thought")->valuestring, thought->text.at, thought->text.len)
           && (type != NULL) == (thought->has_thought_type == 1)
           && (type == NULL || same_bytes(type->valuestring, thought->thought_type.at, thought->thought_type.len))
           && (confidence != NULL) == (thought->has_confidence == 1)
           && (confidence == NULL || confidence->valuedouble == thought->confidence);
}

/* Returns the first key of the case that the result contradicts, or NULL. */
static const char *wrong(const cJSON *of, aside_scanner *scanner)
{
    static const char *const channels[] = {"content", "thinking", "narration", "tool"};
    static const char *const encoded[] = {"content_b64", "thinking_b64", "narration_b64", "tool_b64"};
    static char text[HEARD_MAX];
    const cJSON *thoughts = field(of, "thoughts"), *item;
    aside_thought thought;
    int channel, is_base64;

    for (channel = 0; channel < 4; channel++)
        for (is_base64 = 0; is_base64 < 2; is_base64++) {
            item = field(of, (is_base64 ? encoded : channels)[channel]);
            if (item != NULL) {
                size_t len = decode(item->valuestring, is_base64, text);

                if (len != got.heard.text_len[channel] || memcmp(text, got.heard.text[channel], len) != 0)
                    return channels[channel];
            }
        }
    if (field(of, "causes") != NULL && !same_list(field(of, "causes"), got.causes, got.causes_len))
        return "causes";
    if (field(of, "attributes") != NULL && !same_list(field(of, "attributes"), got.attributes, got.attributes_len))
        return "attributes";
    thought.size = sizeof thought;
    item = thoughts == NULL ? NULL : thoughts->child;
    while (aside_scanner_take_thought(scanner, &thought) == ASIDE_OK) {
        if (thoughts == NULL)
            continue;
        if (item == NULL || !same_thought(item, &thought))
            return "thoughts";
        item = item->next;
    }
    return item == NULL ? NULL : "thoughts";
}

static uint32_t start_of(const cJSON *of)
{
    static const char *const starts[] = {"", "content", "thinking", "narration", "tool", "header"};
    const cJSON *start = field(of, "start");
    uint32_t number;

    for (number = ASIDE_START_CONTENT; start != NULL && number <= ASIDE_START_HEADER; number++)
        if (strcmp(starts[number], start->valuestring) == 0)
            return number;
    CHECK(start == NULL);
    return ASIDE_START_DEFAULT;
}

/* Returns the first key of the case that the result contradicts at any split, or NULL. */
static const char *check(const cJSON *of)
{
    static char text[HEARD_MAX];
    const int is_base64 = field(of, "chunks") == NULL;
    const cJSON *chunks = field(of, is_base64 ? "chunks_b64" : "chunks"), *chunk;
    const char *fault = NULL;
    aside_scanner_options options;
    aside_scanner *scanner;
    size_t len = 0, at;
    int into;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.start = start_of(of);
    options.collect = 1 << 26;
    scanner = aside_scanner_new(dialect_named(field(of, "dialect")->valuestring), &options);
    CHECK(scanner != NULL);
    for (into = 0; into < 3 && fault == NULL; into++) {
        memset(&got, 0, sizeof got);
        len = 0;
        cJSON_ArrayForEach(chunk, chunks)
        {
            size_t here = decode(chunk->valuestring, is_base64, text + len);

            feed_one(scanner, text + len, here, into);
            len += here;
            CHECK(len < HEARD_MAX / 2);
        }
        finish_one(scanner, into);
        fault = wrong(of, scanner);
        for (at = 0; at <= len && fault == NULL; at++) {
            memset(&got.heard, 0, sizeof got.heard);
            got.causes_len = got.attributes_len = 0;
            feed_one(scanner, text, at, into);
            feed_one(scanner, text + at, len - at, into);
            finish_one(scanner, into);
            fault = wrong(of, scanner);
        }
    }
    aside_scanner_free(scanner);
    return fault;
}

/* Checks that this test program finds a fault if there is one. */
static void check_fault(const char *line, const char *key)
{
    cJSON *of = cJSON_Parse(line);
    const char *fault = check(of);

    CHECK(key == NULL ? fault == NULL : fault != NULL && strcmp(fault, key) == 0);
    cJSON_Delete(of);
}

static unsigned long check_file(const char *path)
{
    static char line[1 << 20];
    FILE *file = fopen(path, "r");
    unsigned long cases = 0;

    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        cJSON *of = parse(line);
        const char *fault;

        CHECK(of != NULL);
        fault = check(of);
        if (fault != NULL)
            fprintf(stderr, "%s: %s of %s", path, fault, line);
        CHECK(fault == NULL);
        cJSON_Delete(of);
        cases++;
    }
    fclose(file);
    return cases;
}

int main(int argc, char **argv)
{
    const char *named = getenv("ASIDE_VECTORS"), *folder;
    struct dirent *entry;
    unsigned long cases = 0;
    DIR *list;

    check_fault("{\"dialect\": \"qwen3\", \"chunks\": [\"a\"], \"content\": \"b\"}", "content");
    check_fault("{\"dialect\": \"qwen3\", \"chunks_b64\": [\"YQ==\"], \"content_b64\": \"Yg==\"}", "content");
    check_fault("{\"dialect\": \"qwen3\", \"chunks\": [\"<think>a\"], \"thoughts\": []}", "thoughts");
    check_fault("{\"dialect\": \"qwen3\", \"chunks\": [\"<think>a\"], \"causes\": [\"marker\"]}", "causes");
    check_fault("{\"dialect\": \"qwen3\", \"chunks\": [\"<think>a\"], \"attributes\": [[\"a\", \"b\"]]}", "attributes");
    check_fault("{\"dialect\": \"qwen3\", \"chunks\": [\"<think>\", \"a\"], \"thinking\": \"a\", \"content\": \"\"}", NULL);

    folder = named != NULL ? named : argc > 1 ? argv[1] : ".";
    list = opendir(folder);
    CHECK(list != NULL);
    while ((entry = readdir(list)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        char path[4096];

        if (end == NULL || strcmp(end, ".jsonl") != 0)
            continue;
        CHECK((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < sizeof path);
        cases += check_file(path);
    }
    closedir(list);
    CHECK(cases > 0);
    printf("%lu cases\n", cases);
    return 0;
}
