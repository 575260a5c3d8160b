/* Reads what a command printed from standard input and prints what a model is to read of it: at most 2,000 bytes, the failures first.
 * The arguments are the command line and its exit code.
 *
 *     cc -I include examples/c/tool_result.c target/release/libaside.a -lutil -lrt -lpthread -lm -ldl -o tool_result
 *     make 2>&1 | ./tool_result make 2
 *
 * What was left out is told on standard error, from the report. A host that runs the command itself knows the exit code, and can
 * feed a stream while the command prints: `aside_tool_stream_feed()`.
 */
#include <aside_compress.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUDGET = 2000, MOST = 64 << 20 };

static int fail(const char *what)
{
    fprintf(stderr, "tool_result: %s: %s\n", what, aside_last_error());
    return 2;
}

/* Returns the input of a terminal tool as JSON, which the caller frees. A command line may have any bytes but NUL; those that
 * are not printable ASCII are left out. */
static char *input_of(const char *command, const char *exit_code)
{
    char *json = malloc(2 * strlen(command) + strlen(exit_code) + 64);
    char *at = json;

    if (json == NULL)
        return NULL;
    at += sprintf(at, "{\"command\": \"");
    for (; *command != '\0'; command++) {
        if (*command == '"' || *command == '\\')
            *at++ = '\\';
        if (*command >= ' ' && *command <= '~')
            *at++ = *command;
    }
    sprintf(at, "\", \"exit_code\": %ld}", strtol(exit_code, NULL, 10));
    return json;
}

/* Returns what standard input has, up to MOST bytes, which the caller frees. */
static char *read_all(size_t *len)
{
    char *text = malloc(MOST);

    *len = text == NULL ? 0 : fread(text, 1, MOST, stdin);
    if (text == NULL || ferror(stdin)) {
        fprintf(stderr, "tool_result: %s\n", strerror(errno));
        free(text);
        return NULL;
    }
    return text;
}

/* Tells what was done, and how many bytes of the original are not in the result. */
static void tell(const aside_compressed *compressed)
{
    aside_report report = {.size = sizeof report};
    unsigned long left_out = 0;
    size_t part, at;

    if (aside_compressed_report(compressed, &report) != ASIDE_OK)
        return;
    for (part = 0; part < report.part_count; part++)
        for (at = 0; at < report.parts[part].stretch_count; at++)
            if (report.parts[part].stretches[at].change == ASIDE_CHANGE_LEFT_OUT)
                left_out += (unsigned long)report.parts[part].stretches[at].len;
    fprintf(stderr, "%lu to %lu characters; %lu bytes were left out\n", (unsigned long)report.before,
            (unsigned long)report.after, left_out);
    for (at = 0; at < report.failed_count; at++)
        fprintf(stderr, "%.*s was skipped\n", (int)report.failed[at].id.len, report.failed[at].id.at);
}

int main(int argc, char **argv)
{
    aside_compressor_options options = {.size = sizeof options, .budget = BUDGET};
    aside_invocation call = {.size = sizeof call, .tool_id = {"bash", 4}};
    aside_registry *registry;
    aside_compressor *compressor;
    aside_compressed *compressed = NULL;
    aside_bytes part = {NULL, 0};
    char *input, *text;
    const char *shown;
    int status = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: tool_result COMMAND EXIT-CODE < output\n");
        return 2;
    }
    registry = aside_registry_new(1); /* with every built-in filter */
    compressor = registry == NULL ? NULL : aside_compressor_new(registry, &options);
    input = input_of(argv[1], argv[2]);
    text = read_all(&part.len);
    if (compressor == NULL || input == NULL || text == NULL) {
        status = compressor == NULL ? fail("the compressor") : 1;
    } else {
        part.at = text;
        call.input.at = input;
        call.input.len = strlen(input);
        if (aside_compress(compressor, &call, &part, 1, &compressed) != ASIDE_OK) {
            status = fail(argv[1]);
        } else {
            /* A part that stays as it is has no new text. */
            shown = part.at;
            aside_compressed_part(compressed, 0, &shown, &part.len);
            fwrite(shown, 1, part.len, stdout);
            tell(compressed);
        }
    }
    aside_compressed_free(compressed);
    aside_compressor_free(compressor);
    free(input);
    free(text);
    return status;
}
