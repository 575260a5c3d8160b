/* Runs from the start of the process to the first event, so that a whole cold start can be measured: the cost of a short-lived
 * program, such as a hook or a command in a pipe.
 *
 *     cold DIALECT      finds the dialect, makes a scanner, feeds it, and ends inside the first event
 *     cold none         ends at once: what the process and its libraries cost alone */
#define _POSIX_C_SOURCE 200112L
#include <aside.h>

#include <string.h>
#include <unistd.h>

static int32_t end(void *user, const aside_event *event, const char *bytes)
{
    (void)user, (void)event, (void)bytes;
    _exit(0);
}

int main(int argc, char **argv)
{
    static const char chunk[] = "<think>a";
    aside_scanner *scanner;

    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "none") == 0)
        _exit(0);
    scanner = aside_scanner_new(aside_dialect_find(argv[1], strlen(argv[1])), NULL);
    aside_scanner_feed(scanner, chunk, strlen(chunk), end, NULL);
    /* The program fails if no event arrives. */
    return 1;
}
