/* The driver of C: README.md says what it reads and writes. */
#include <aside.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *at;
    size_t len, room;
} text;

static void add(text *to, const char *bytes, size_t len)
{
    if (to->room - to->len < len) {
        to->room = 2 * to->room + len;
        to->at = realloc(to->at, to->room);
        if (to->at == NULL)
            abort();
    }
    if (len > 0)
        memcpy(to->at + to->len, bytes, len);
    to->len += len;
}

static void write_hex(const text *bytes)
{
    size_t i;

    for (i = 0; i < bytes->len; i++)
        printf("%02x", (unsigned char)bytes->at[i]);
    if (bytes->len == 0)
        printf("-");
}

/* Decodes a field in its place. */
static aside_bytes bytes_of(char *hex)
{
    aside_bytes bytes = {hex, 0};
    char digits[3] = {0};

    for (; hex[0] != 0 && hex[1] != 0; hex += 2) {
        memcpy(digits, hex, 2);
        ((char *)bytes.at)[bytes.len++] = (char)strtoul(digits, NULL, 16);
    }
    return bytes;
}

static int failed(void)
{
    printf("! %s\n", aside_last_error());
    return 1;
}

static aside_start start_of(const char *name)
{
    static const char *const names[] = {"-", "content", "thinking", "narration", "tool", "header"};
    aside_start start = 0;

    while (start < 6 && strcmp(name, names[start]) != 0)
        start++;
    return start;
}

static int32_t take_text(void *user, const aside_event *event, const char *bytes)
{
    text *texts = user, *to = &texts[event->channel];

    if (event->kind == ASIDE_KIND_TEXT)
        add(to, bytes, (size_t)event->len);
    if (event->kind == ASIDE_KIND_RECLASSIFY) {
        text *from = &texts[event->channel == ASIDE_CHANNEL_THINKING ? ASIDE_CHANNEL_CONTENT : ASIDE_CHANNEL_THINKING];

        add(to, from->at, from->len);
        from->len = 0;
    }
    return 0;
}

static int scan(const aside_dialect *dialect, const char *start, char *rest)
{
    aside_scanner_options options = {.size = sizeof options, .start = start_of(start)};
    aside_scanner *scanner = aside_scanner_new(dialect, &options);
    text texts[4] = {{0}};
    char *chunk;
    int i;

    if (scanner == NULL)
        return failed();
    while ((chunk = strtok(rest, " ")) != NULL) {
        aside_bytes bytes = bytes_of(chunk);

        rest = NULL;
        if (aside_scanner_feed(scanner, bytes.at, bytes.len, take_text, texts) != ASIDE_OK)
            return failed();
    }
    if (aside_scanner_finish(scanner, take_text, texts) != ASIDE_OK)
        return failed();
    aside_scanner_free(scanner);
    for (i = 0; i < 4; i++) {
        if (i > 0)
            printf(" ");
        write_hex(&texts[i]);
        free(texts[i].at);
    }
    printf("\n");
    return 0;
}

typedef struct calls {
    aside_call_writer *writer;
    text arguments;
    int count;
} calls;

static int32_t take_call(void *user, const aside_event *event, const char *bytes)
{
    calls *to = user;
    aside_call_delta delta = {.size = sizeof delta};
    aside_status status = aside_call_writer_feed(to->writer, event, sizeof *event, bytes, &delta);

    if (status < 0)
        return 1;
    if (status != ASIDE_OK)
        return 0;
    if (delta.is_first) {
        text name = {(char *)delta.name.at, delta.name.len, 0};

        printf("%s", to->count++ > 0 ? " " : "");
        write_hex(&name);
        printf(" ");
        to->arguments.len = 0;
    }
    add(&to->arguments, delta.arguments.at, delta.arguments.len);
    if (delta.is_last) {
        write_hex(&to->arguments);
        printf(" %u", (unsigned)delta.is_whole);
    }
    return 0;
}

static int read_calls(const aside_dialect *dialect, const char *start, char *tools, char *rest)
{
    aside_scanner_options options = {.size = sizeof options, .start = start_of(start), .calls = 1};
    aside_call_writer_options writing = {.size = sizeof writing};
    aside_scanner *scanner = aside_scanner_new(dialect, &options);
    calls to = {0};
    char *chunk;

    if (strcmp(tools, "-") != 0)
        writing.tools = bytes_of(tools);
    to.writer = aside_call_writer_new(dialect, &writing);
    if (scanner == NULL || to.writer == NULL)
        return failed();
    while ((chunk = strtok(rest, " ")) != NULL) {
        aside_bytes bytes = bytes_of(chunk);

        rest = NULL;
        if (aside_scanner_feed(scanner, bytes.at, bytes.len, take_call, &to) != ASIDE_OK)
            return failed();
    }
    if (aside_scanner_finish(scanner, take_call, &to) != ASIDE_OK)
        return failed();
    aside_scanner_free(scanner);
    aside_call_writer_free(to.writer);
    free(to.arguments.at);
    printf("\n");
    return 0;
}

static int rewrite(const aside_dialect *dialect, const char *start, char *rest)
{
    aside_rewriter_options options = {.size = sizeof options, .start = start_of(start)};
    aside_rewriter *rewriter = aside_rewriter_new(dialect, &options);
    text all = {0};
    aside_bytes out;
    char *chunk;

    if (rewriter == NULL)
        return failed();
    while ((chunk = strtok(rest, " ")) != NULL) {
        aside_bytes bytes = bytes_of(chunk);

        rest = NULL;
        if (aside_rewriter_feed(rewriter, bytes.at, bytes.len, &out) != ASIDE_OK)
            return failed();
        add(&all, out.at, out.len);
    }
    if (aside_rewriter_finish(rewriter, &out) != ASIDE_OK)
        return failed();
    add(&all, out.at, out.len);
    aside_rewriter_free(rewriter);
    write_hex(&all);
    free(all.at);
    printf("\n");
    return 0;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        char *end = strchr(line, '\n'), *what, *name, *start, *tools;
        const aside_dialect *dialect;

        if (end != NULL)
            *end = 0;
        what = strtok(line, " ");
        name = strtok(NULL, " ");
        start = strtok(NULL, " ");
        dialect = aside_dialect_find(name, strlen(name));
        tools = strcmp(what, "calls") == 0 ? strtok(NULL, " ") : NULL;
        if (dialect == NULL)
            failed();
        else if (tools != NULL)
            read_calls(dialect, start, tools, NULL);
        else if (strcmp(what, "scan") == 0)
            scan(dialect, start, NULL);
        else
            rewrite(dialect, start, NULL);
        fflush(stdout);
    }
    free(line);
    return 0;
}
