/* Makes the calls of feed.js to the native library, so that its figures can be compared with those of WebAssembly. Prints one line
 * of JSON. */
#include <aside.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, COUNT = 200000 };

static const char FRAME[] =
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
    "\"delta\":{\"content\":\"word\"}}]}\n\n";

static int32_t ignore(void *user, const aside_event *event, const char *bytes)
{
    (void)user, (void)event, (void)bytes;
    return 0;
}

static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
    const aside_dialect *dialect = aside_dialect_find("qwen3", 5);
    aside_scanner *scanner = aside_scanner_new(dialect, NULL);
    aside_rewriter *rewriter = aside_rewriter_new(dialect, NULL);
    double feed = 1e9, frame = 1e9;
    int is_right = scanner != NULL && rewriter != NULL;

    for (int round = 0; round < ROUNDS && is_right; round++) {
        aside_bytes out;
        double before = nanoseconds();
        for (int count = 0; count < COUNT; count++)
            is_right &= aside_scanner_feed(scanner, "word", 4, ignore, NULL) == ASIDE_OK;
        double between = nanoseconds();
        for (int count = 0; count < COUNT; count++)
            is_right &= aside_rewriter_feed(rewriter, FRAME, strlen(FRAME), &out) == ASIDE_OK;
        double after = nanoseconds();
        feed = (between - before) / COUNT < feed ? (between - before) / COUNT : feed;
        frame = (after - between) / COUNT < frame ? (after - between) / COUNT : frame;
    }
    printf("{\"feed_ns\":%.0f,\"frame_ns\":%.0f}\n", feed, frame);
    aside_rewriter_free(rewriter);
    aside_scanner_free(scanner);
    return !is_right;
}
