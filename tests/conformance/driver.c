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

static void add_hex(text *to, const char *bytes, size_t len)
{
    char digits[3];
    size_t i;

    for (i = 0; i < len; i++) {
        snprintf(digits, sizeof digits, "%02x", (unsigned char)bytes[i]);
        add(to, digits, 2);
    }
    if (len == 0)
        add(to, "-", 1);
}

static void write_hex(const text *bytes)
{
    text hex = {0};

    add_hex(&hex, bytes->at, bytes->len);
    printf("%.*s", (int)hex.len, hex.at);
    free(hex.at);
}

/* Decodes a field in place. */
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

typedef struct answer {
    text thinking, content;
    text calls; /* as they are printed */
    text arguments;
} answer;

static void take_parts(answer *to, const aside_part *parts, size_t count)
{
    for (; count > 0; parts++, count--) {
        switch (parts->kind) {
        case ASIDE_PART_KIND_THINKING: add(&to->thinking, parts->text.at, parts->text.len); break;
        case ASIDE_PART_KIND_CONTENT: add(&to->content, parts->text.at, parts->text.len); break;
        case ASIDE_PART_KIND_CALL:
            add(&to->calls, " ", 1);
            add_hex(&to->calls, parts->text.at, parts->text.len);
            to->arguments.len = 0;
            break;
        case ASIDE_PART_KIND_ARGUMENTS: add(&to->arguments, parts->text.at, parts->text.len); break;
        case ASIDE_PART_KIND_CALL_END:
            add(&to->calls, " ", 1);
            add_hex(&to->calls, to->arguments.at, to->arguments.len);
            add(&to->calls, parts->is_whole ? " 1" : " 0", 2);
            break;
        }
    }
}

static int read_answer(const aside_dialect *dialect, const char *start, char *tools, char *rest)
{
    aside_answer_options options = {.size = sizeof options, .start = start_of(start)};
    answer to = {{0}, {0}, {0}, {0}};
    const aside_part *parts;
    aside_answer *reader;
    size_t count;
    char *chunk;

    if (strcmp(tools, "-") != 0)
        options.tools = bytes_of(tools);
    reader = aside_answer_new(dialect, &options);
    if (reader == NULL)
        return failed();
    while ((chunk = strtok(rest, " ")) != NULL) {
        aside_bytes bytes = bytes_of(chunk);

        rest = NULL;
        if (aside_answer_feed(reader, bytes.at, bytes.len, &parts, &count) != ASIDE_OK)
            return failed();
        take_parts(&to, parts, count);
    }
    if (aside_answer_finish(reader, ASIDE_END_REASON_UNKNOWN, &parts, &count) != ASIDE_OK)
        return failed();
    take_parts(&to, parts, count);
    write_hex(&to.thinking);
    printf(" ");
    write_hex(&to.content);
    printf("%.*s\n", (int)to.calls.len, to.calls.len > 0 ? to.calls.at : "");
    aside_answer_free(reader);
    free(to.thinking.at);
    free(to.content.at);
    free(to.calls.at);
    free(to.arguments.at);
    return 0;
}

static int rewrite(const aside_dialect *dialect, const char *start, char *rest)
{
    aside_answer_options answer = {.size = sizeof answer, .start = start_of(start)};
    aside_rewriter_options options = {.size = sizeof options, .answer = &answer};
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
        tools = strcmp(what, "answer") == 0 ? strtok(NULL, " ") : NULL;
        if (dialect == NULL)
            failed();
        else if (tools != NULL)
            read_answer(dialect, start, tools, NULL);
        else if (strcmp(what, "scan") == 0)
            scan(dialect, start, NULL);
        else
            rewrite(dialect, start, NULL);
        fflush(stdout);
    }
    free(line);
    return 0;
}
