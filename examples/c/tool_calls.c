/* Reads a model's output from standard input, a few bytes at a time, and prints its tool calls as they are sent to a
 * client: one entry of OpenAI's `tool_calls` per line. The arguments are a file with the request's `tools`, and the name or the
 * file of a dialect.
 *
 *     cc -I include examples/c/tool_calls.c target/release/libaside.a -lutil -lrt -lpthread -lm -ldl -o tool_calls
 *     echo '[{"name": "add"}]' >tools.json
 *     printf '<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>' | ./tool_calls tools.json qwen3
 *
 * prints
 *
 *     {"index":0,"id":"call_0","type":"function","function":{"name":"add","arguments":""}}
 *     {"index":0,"function":{"arguments":"{\"a\""}}
 *     {"index":0,"function":{"arguments":": 2}"}}
 */
#include <aside.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a text of the library as a JSON string. The text is UTF-8. */
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

static void print_part(const aside_part *part)
{
    if (part->kind == ASIDE_PART_KIND_CALL) {
        printf("{\"index\":%lu,\"id\":", (unsigned long)part->index);
        print_string(part->id);
        printf(",\"type\":\"function\",\"function\":{\"name\":");
        print_string(part->text);
        puts(",\"arguments\":\"\"}}");
    } else if (part->kind == ASIDE_PART_KIND_ARGUMENTS) {
        printf("{\"index\":%lu,\"function\":{\"arguments\":", (unsigned long)part->index);
        print_string(part->text);
        puts("}}");
    }
}

/* Returns a file's bytes, or ends the program. */
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
    aside_answer_options options = {.size = sizeof options};
    const aside_dialect *dialect;
    const aside_part *parts;
    aside_answer *answer;
    aside_status status;
    char chunk[4];
    char *tools;
    size_t len, count, i;

    if (argc != 3) {
        fputs("usage: tool_calls TOOLS.json DIALECT <text\n", stderr);
        return 2;
    }
    tools = read_file(argv[1], &options.tools.len);
    options.tools.at = tools;
    dialect = dialect_of(argv[2]);
    answer = dialect == NULL ? NULL : aside_answer_new(dialect, &options);
    if (answer == NULL) {
        fprintf(stderr, "tool_calls: %s\n", aside_last_error());
        return 2;
    }
    free(tools);
    aside_dialect_free((aside_dialect *)dialect); /* the answer keeps the data that it needs */

    do {
        len = fread(chunk, 1, sizeof chunk, stdin);
        if (len > 0)
            status = aside_answer_feed(answer, chunk, len, &parts, &count);
        else /* a server knows why the text ends, by its `finish_reason` */
            status = aside_answer_finish(answer, ASIDE_END_REASON_UNKNOWN, &parts, &count);
        for (i = 0; status == ASIDE_OK && i < count; i++)
            print_part(&parts[i]);
    } while (status == ASIDE_OK && len > 0);
    if (status != ASIDE_OK)
        fprintf(stderr, "tool_calls: %s\n", aside_last_error());
    aside_answer_free(answer);
    return status == ASIDE_OK && !ferror(stdin) && fflush(stdout) == 0 ? 0 : 1;
}
