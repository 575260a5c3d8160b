/* Feeds a workload through libaside.so, with a callback and with an array of events, and through functions of another shared
 * library: functions that do nothing or only report an event, and a minimal scanner.
 *
 *     feed times DIALECT WORKLOAD FILE      ns per byte and per feed, a line for each way
 *     feed WAY DIALECT FILE                 one of `ways` once, for callgrind, which counts inside `counted`; prints how
 *                                           many feeds that was
 *
 * `figures write` makes FILE. The shortest time of several rounds counts, and the functions are measured alternately. */
#define _POSIX_C_SOURCE 199309L
#include "empty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, ROOM = 32 };

static const aside_dialect *dialect;
static unsigned char *file;
static size_t size;

static uint32_t length(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static int32_t look(void *sum, const aside_event *event, const char *bytes)
{
    (void)bytes;
    *(uint64_t *)sum += event->len;
    return 0;
}

static uint64_t callback(void)
{
    uint64_t sum = 0;
    aside_scanner *scanner = NULL;

    for (size_t at = 0; at < size;) {
        size_t len = length(file + at);
        at += 4;
        if (scanner == NULL)
            scanner = aside_scanner_new(dialect, NULL);
        if (len > 0) {
            aside_scanner_feed(scanner, (char *)file + at, len, look, &sum);
            at += len;
            continue;
        }
        aside_scanner_finish(scanner, look, &sum);
        aside_scanner_free(scanner);
        scanner = NULL;
    }
    return sum;
}

static uint64_t lengths(const aside_event *events, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += events[i].len;
    return sum;
}

static uint64_t into_array(void)
{
    uint64_t sum = 0;
    aside_scanner *scanner = NULL;
    aside_event events[ROOM];
    aside_event_array array = {.size = sizeof array, .events = events, .event_size = sizeof *events, .capacity = ROOM};
    aside_status status;

    for (size_t at = 0; at < size;) {
        size_t len = length(file + at);
        at += 4;
        if (scanner == NULL)
            scanner = aside_scanner_new(dialect, NULL);
        if (len > 0) {
            do {
                status = aside_scanner_feed_into(scanner, (char *)file + at, len, &array);
                sum += lengths(events, array.count);
                at += array.consumed;
                len -= array.consumed;
            } while (status == ASIDE_MORE);
            continue;
        }
        do {
            status = aside_scanner_finish_into(scanner, &array);
            sum += lengths(events, array.count);
        } while (status == ASIDE_MORE);
        aside_scanner_free(scanner);
        scanner = NULL;
    }
    return sum;
}

static uint64_t empty_callback(void)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < size;) {
        size_t len = length(file + at);
        at += 4 + len;
        if (len > 0)
            sum += len + (uint64_t)empty_feed(NULL, (char *)file + at - len, len, look, &sum);
    }
    return sum;
}

static uint64_t empty_array(void)
{
    uint64_t sum = 0;
    aside_event events[ROOM];
    aside_event_array array = {.size = sizeof array, .events = events, .event_size = sizeof *events, .capacity = ROOM};

    for (size_t at = 0; at < size;) {
        size_t len = length(file + at);
        at += 4 + len;
        if (len > 0)
            sum += len + (uint64_t)empty_feed_into(NULL, (char *)file + at - len, len, &array);
    }
    return sum;
}

static uint64_t event_callback(void)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < size;) {
        size_t len = length(file + at);
        at += 4 + len;
        if (len > 0)
            event_feed(NULL, (char *)file + at - len, len, look, &sum);
    }
    return sum;
}

static uint64_t event_array(void)
{
    uint64_t sum = 0;
    aside_event events[ROOM];
    aside_event_array array = {.size = sizeof array, .events = events, .event_size = sizeof *events, .capacity = ROOM};

    for (size_t at = 0; at < size;) {
        size_t len = length(file + at);
        at += 4 + len;
        if (len == 0)
            continue;
        event_feed_into(NULL, (char *)file + at - len, len, &array);
        sum += lengths(events, array.count);
    }
    return sum;
}

static uint64_t minimal_callback(void)
{
    uint64_t sum = 0;
    minimal_scanner *scanner = NULL;

    for (size_t at = 0; at < size;) {
        size_t len = length(file + at);
        at += 4;
        if (scanner == NULL)
            scanner = calloc(1, sizeof *scanner);
        if (len > 0) {
            minimal_feed(scanner, (char *)file + at, len, look, &sum);
            at += len;
            continue;
        }
        minimal_finish(scanner, look, &sum);
        free(scanner);
        scanner = NULL;
    }
    return sum;
}

static const struct {
    const char *name;
    uint64_t (*run)(void);
} ways[] = {
    {"callback", callback},
    {"array", into_array},
    {"empty callback", empty_callback},
    {"empty array", empty_array},
    {"event callback", event_callback},
    {"event array", event_array},
    {"minimal callback", minimal_callback},
};
enum { WAYS = sizeof ways / sizeof *ways };

__attribute__((noinline)) uint64_t counted(uint64_t (*run)(void)) { return run(); }

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    long end;

    if (in == NULL || fseek(in, 0, SEEK_END) != 0 || (end = ftell(in)) < 0)
        return 0;
    rewind(in);
    size = (size_t)end;
    file = malloc(size);
    return file != NULL && fread(file, 1, size, in) == size && fclose(in) == 0;
}

int main(int argc, char **argv)
{
    uint64_t bytes = 0, feeds = 0;
    double best[WAYS];

    if (argc < 4 || (dialect = aside_dialect_find(argv[2], strlen(argv[2]))) == NULL || !read_file(argv[argc - 1])) {
        fprintf(stderr, "feed: a way, a dialect and a file, please\n");
        return 2;
    }
    for (size_t at = 0; at < size; at += 4 + length(file + at)) {
        bytes += length(file + at);
        feeds += length(file + at) > 0;
    }
    if (strcmp(argv[1], "times") != 0) {
        for (size_t i = 0; i < WAYS; i++)
            if (strcmp(argv[1], ways[i].name) == 0 && counted(ways[i].run) != bytes)
                return 1;
        printf("%llu\n", (unsigned long long)feeds);
        return 0;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < WAYS; i++) {
            double start = seconds();
            if (ways[i].run() != bytes)
                return 1;
            start = seconds() - start;
            if (round == 0 || start < best[i])
                best[i] = start;
        }
    for (size_t i = 0; i < WAYS; i++)
        printf("time\t%s\t%s\t%s\t%.4f\t%.2f\n", ways[i].name, argv[2], argv[3], best[i] * 1e9 / (double)bytes,
               best[i] * 1e9 / (double)feeds);
    return 0;
}
