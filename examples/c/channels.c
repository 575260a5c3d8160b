/* Reads a model's output from standard input as it arrives, and prints each channel under its name.
 *
 *     cc -I include examples/c/channels.c target/release/libaside.a -lutil -lrt -lpthread -lm -ldl -o channels
 *     printf '<think>2 * 21</think>42.' | ./channels inline-think
 *
 * prints
 *
 *     [thinking] 2 * 21
 *     [content] 42.
 */
#include <aside.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct printer {
    int64_t channel; /* of the current line; -1: no line yet */
};

static const char *channel_name(uint32_t channel)
{
    switch (channel) {
    case ASIDE_CHANNEL_CONTENT: return "content";
    case ASIDE_CHANNEL_THINKING: return "thinking";
    case ASIDE_CHANNEL_NARRATION: return "narration";
    case ASIDE_CHANNEL_TOOL: return "tool";
    default: return "other";
    }
}

/* Called for each event. `bytes` is valid until the function returns. A return value other than 0 would pause the scanner. */
static int32_t print(void *user, const aside_event *event, const char *bytes)
{
    struct printer *printer = user;

    if (event->kind != ASIDE_KIND_TEXT)
        return 0; /* markers, framing, attributes: no text */
    if (printer->channel != event->channel) {
        if (printer->channel >= 0)
            putchar('\n');
        printf("[%s] ", channel_name(event->channel));
        printer->channel = event->channel;
    }
    fwrite(bytes, 1, (size_t)event->len, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "thinking-tags";
    const aside_dialect *dialect = aside_dialect_find(name, strlen(name));
    aside_scanner *scanner = dialect == NULL ? NULL : aside_scanner_new(dialect, NULL);
    struct printer printer = {-1};
    char chunk[4096];
    ssize_t len;
    aside_status status = ASIDE_OK;

    if (scanner == NULL) {
        fprintf(stderr, "channels: %s\n", aside_last_error());
        return 2;
    }
    /* read() returns the bytes that are available, so text is printed while the model still writes. The input may be cut
     * anywhere. */
    while (status == ASIDE_OK && (len = read(STDIN_FILENO, chunk, sizeof chunk)) > 0) {
        status = aside_scanner_feed(scanner, chunk, (size_t)len, print, &printer);
        fflush(stdout);
    }
    if (len < 0)
        perror("channels");
    if (status == ASIDE_OK)
        status = aside_scanner_finish(scanner, print, &printer);
    if (printer.channel >= 0)
        putchar('\n');
    if (status != ASIDE_OK)
        fprintf(stderr, "channels: %s\n", aside_last_error());
    aside_scanner_free(scanner);
    return status == ASIDE_OK && len == 0 && fflush(stdout) == 0 ? 0 : 1;
}
