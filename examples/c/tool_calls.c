/* Reads a model's output from standard input, a few bytes at a time, and prints its tool calls as they are sent to a
 * client: one entry of OpenAI's `tool_calls` per line. The arguments are a file with the request's `tools`, and a
 * dialect's name or file.
 *
 *     cc -I include examples/c/tool_calls.c target/release/libaside.a -lutil -lrt -lpthread -lm -ldl -o tool_calls
 *     echo '[{"name": "add"}]' >tools.json
 *     printf '<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>' | ./tool_calls tools.json qwen3
 *
 * prints
 *
 *     {"index":0,"id":"call_0","type":"function","function":{"name":"add","arguments":"{\"a\""}}
 *     {"index":0,"function":{"arguments":": 2}"}}
 */
#include <aside.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a text of the library, which is UTF-8, as a JSON string. */
static void print_string(aside_bytes text)
{
    size_t i;

    putchar('"');
    for (i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.at[i];

        if (byte == '"' || byte == '\\')
            printf("\\%c", byte);
        else if (byte < 0x20)
            printf("\\u%04x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

static void print_delta(const aside_call_delta *delta)
{
    if (delta->arguments.len == 0 && !delta->is_first)
        return; /* the end of a call: OpenAI has nothing that says so */
    printf("{\"index\":%lu", (unsigned long)delta->index);
    if (delta->is_first) {
        printf(",\"id\":");
        print_string(delta->id);
        printf(",\"type\":\"function\"");
    }
    printf(",\"function\":{");
    if (delta->is_first) {
        printf("\"name\":");
        print_string(delta->name);
        putchar(',');
    }
    printf("\"arguments\":");
    print_string(delta->arguments);
    puts("}}");
}

/* Called for each event. The call writer picks out the events of calls. */
static int32_t on_event(void *user, const aside_event *event, const char *bytes)
{
    aside_call_delta delta = {.size = sizeof delta};
    aside_status status = aside_call_writer_feed(user, event, sizeof *event, bytes, &delta);

    if (status == ASIDE_OK)
        print_delta(&delta);
    return status < 0; /* non-zero pauses the scanner */
}

/* Returns a file's bytes, or exits. */
static char *read_file(const char *path, size_t *len)
{
    static const size_t most = 1 << 20;
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(most);

    *len = file == NULL || bytes == NULL ? 0 : fread(bytes, 1, most, file);
    if (*len == 0) {
        perror(path);
        exit(2);
    }
    fclose(file);
    return bytes;
}

/* Returns a dialect by its name, or from a file if the name ends in `.toml`; NULL if that fails. */
static const aside_dialect *dialect_of(const char *name)
{
    aside_dialect *loaded;
    char *toml;
    size_t len = strlen(name);

    if (len < 5 || strcmp(name + len - 5, ".toml") != 0)
        return aside_dialect_find(name, len);
    toml = read_file(name, &len);
    loaded = aside_dialect_load(toml, len);
    free(toml);
    return loaded;
}

int main(int argc, char **argv)
{
    aside_scanner_options options = {.size = sizeof options, .calls = 1};
    aside_call_writer_options writing = {.size = sizeof writing};
    const aside_dialect *dialect;
    aside_scanner *scanner;
    aside_call_writer *writer;
    aside_status status = ASIDE_OK;
    char chunk[4];
    char *tools;
    size_t len;

    if (argc != 3) {
        fputs("usage: tool_calls TOOLS.json DIALECT <text\n", stderr);
        return 2;
    }
    tools = read_file(argv[1], &writing.tools.len);
    writing.tools.at = tools;
    dialect = dialect_of(argv[2]);
    scanner = dialect == NULL ? NULL : aside_scanner_new(dialect, &options);
    writer = scanner == NULL ? NULL : aside_call_writer_new(dialect, &writing);
    if (writer == NULL) {
        fprintf(stderr, "tool_calls: %s\n", aside_last_error());
        return 2;
    }
    free(tools);
    aside_dialect_free((aside_dialect *)dialect); /* scanner and writer keep what they need */

    while (status == ASIDE_OK && (len = fread(chunk, 1, sizeof chunk, stdin)) > 0)
        status = aside_scanner_feed(scanner, chunk, len, on_event, writer);
    if (status == ASIDE_OK)
        status = aside_scanner_finish(scanner, on_event, writer);
    if (status != ASIDE_OK)
        fprintf(stderr, "tool_calls: %s\n", aside_last_error());
    aside_call_writer_free(writer);
    aside_scanner_free(scanner);
    return status == ASIDE_OK && !ferror(stdin) && fflush(stdout) == 0 ? 0 : 1;
}
