/* A host that loads the library by hand may unload it before its threads end: a thread's data in the library (the message of its
 * last failure) must not need code of the unloaded library. The argument is the library's path. */
#define _DEFAULT_SOURCE
#include <aside.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

enum { THREADS = 4, ROUNDS = 50 };

static pthread_barrier_t failed, unloaded;
static const aside_dialect *(*dialect_find)(const char *, size_t);
static const char *(*last_error)(void);

static void *fail(void *user)
{
    char name[1000];

    (void)user;
    memset(name, 'x', sizeof name);
    CHECK(dialect_find(name, sizeof name) == NULL);
    CHECK(strstr(last_error(), "xxxx") != NULL);
    CHECK(dialect_find("none", 4) == NULL);
    CHECK(strstr(last_error(), "`none`") != NULL);
    pthread_barrier_wait(&failed);
    pthread_barrier_wait(&unloaded);
    return NULL;
}

static void *function(void *library, const char *name)
{
    void *function = dlsym(library, name);

    CHECK(function != NULL);
    return function;
}

int main(int count, char **arguments)
{
    pthread_t threads[THREADS];
    void *library, *at;
    int round, i;

    CHECK(count == 2);
    CHECK(pthread_barrier_init(&failed, NULL, THREADS + 1) == 0 && pthread_barrier_init(&unloaded, NULL, THREADS + 1) == 0);
    for (round = 0; round < ROUNDS; round++) {
        library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        CHECK(library != NULL);
        /* POSIX allows an address to become a function pointer, but C has no cast for it. */
        at = function(library, "aside_dialect_find");
        memcpy(&dialect_find, &at, sizeof at);
        at = function(library, "aside_last_error");
        memcpy(&last_error, &at, sizeof at);
        for (i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, fail, NULL) == 0);
        pthread_barrier_wait(&failed);
        CHECK(dlclose(library) == 0);
        pthread_barrier_wait(&unloaded);
        for (i = 0; i < THREADS; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
    }
    return 0;
}
