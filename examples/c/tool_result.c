/* Reads a command's output from standard input and prints the text for the model: at most 2,000 bytes, with priority for failures.
 * The arguments are the command line and its exit code.
 *
 *     cc -I include examples/c/tool_result.c target/release/libaside.a -lutil -lrt -lpthread -lm -ldl -o tool_result
 *     make 2>&1 | ./tool_result make 2
 *
 * The report is printed to standard error. A host that runs the command itself knows the exit code, and can feed a stream while the
 * command prints, with `aside_tool_stream_feed()`.
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

/* Returns the input of a terminal tool as JSON, which the caller frees. A command line may contain any bytes except NUL. Bytes
 * other than printable ASCII are left out. */
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

/* Returns standard input, up to MOST bytes, which the caller frees. */
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

/* Prints the report: how much shorter the result is, and which filters shortened it. */
static void tell(const aside_compressed *compressed)
{
    aside_report report = {.size = sizeof report};
    size_t at;

    if (aside_compressed_report(compressed, &report) != ASIDE_OK)
        return;
    fprintf(stderr, "%lu to %lu bytes", (unsigned long)report.before, (unsigned long)report.after);
    for (at = 0; at < report.filter_count; at++)
        fprintf(stderr, "%s %.*s", at == 0 ? ", by" : ",", (int)report.filters[at].len, report.filters[at].at);
    fprintf(stderr, "\n");
    if (report.failed_count > 0)
        fprintf(stderr, "%lu filters failed and were skipped\n", (unsigned long)report.failed_count);
}

int main(int argc, char **argv)
{
    aside_compressor_options options = {.size = sizeof options, .budget = BUDGET};
    aside_invocation invocation = {.size = sizeof invocation, .tool_id = {"bash", 4}};
    aside_registry *registry;
    aside_compressor *compressor;
    aside_compressed *compressed = NULL;
    aside_bytes part = {NULL, 0};
    char *input, *text;
    int status = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: tool_result COMMAND EXIT-CODE < output\n");
        return 2;
    }
    registry = aside_registry_new(1); /* with every built-in filter */
    compressor = aside_compressor_new(registry, &options);
    aside_registry_free(registry); /* the compressor has copied the registry */
    input = input_of(argv[1], argv[2]);
    text = read_all(&part.len);
    if (compressor == NULL || input == NULL || text == NULL) {
        status = compressor == NULL ? fail("the compressor") : 1;
    } else {
        part.at = text;
        invocation.input.at = input;
        invocation.input.len = strlen(input);
        compressed = aside_compress(compressor, &invocation, &part, 1);
        if (compressed == NULL) {
            status = fail(argv[1]);
        } else {
            /* An unchanged part has no new text. */
            aside_compressed_part(compressed, 0, &part);
            fwrite(part.at, 1, part.len, stdout);
            tell(compressed);
        }
    }
    aside_compressed_free(compressed);
    aside_compressor_free(compressor);
    free(input);
    free(text);
    return status;
}
