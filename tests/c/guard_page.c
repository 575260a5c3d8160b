/* The library must not read past its input: each input ends at an unreadable page, so that reading one byte too many ends this
 * test. */
#define _DEFAULT_SOURCE
#include "check.h"
#include "texts.h"
#include <sys/mman.h>
#include <unistd.h>

static char *end;

/* Returns a copy of the bytes that ends where readable memory ends. */
static const char *at_end(const char *bytes, size_t len)
{
    memcpy(end - len, bytes, len);
    return end - len;
}

int main(void)
{
    static struct heard whole, heard;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t i, cut;
    char *out;
    size_t out_len;
    aside_dialect *loaded;

    CHECK(pages != MAP_FAILED);
    CHECK(mprotect(pages + page, page, PROT_NONE) == 0);
    end = pages + page;

    for (i = 0; i < TEXTS; i++) {
        const char *name = texts[i].dialect, *text = texts[i].text;
        size_t len = strlen(text);
        const aside_dialect *dialect = aside_dialect_find(at_end(name, strlen(name)), strlen(name));
        aside_scanner *scanner = aside_scanner_new(dialect, NULL);

        CHECK(scanner != NULL);
        memset(&whole, 0, sizeof whole);
        feed(scanner, &whole, at_end(text, len), len);
        finish(scanner, &whole);
        for (cut = 0; cut <= len; cut++) {
            memset(&heard, 0, sizeof heard);
            feed(scanner, &heard, at_end(text, cut), cut);
            feed(scanner, &heard, at_end(text + cut, len - cut), len - cut);
            finish(scanner, &heard);
            CHECK(heard_same(&heard, &whole));

            memset(&heard, 0, sizeof heard);
            feed_into(scanner, &heard, at_end(text, cut), cut, 3);
            feed_into(scanner, &heard, at_end(text + cut, len - cut), len - cut, 3);
            finish_into(scanner, &heard, 3);
            CHECK(heard_same(&heard, &whole));

            out = aside_strip(dialect, at_end(text, cut), cut, &out_len);
            CHECK(out != NULL && out_len <= cut);
            aside_free(out);

            out = aside_escape(dialect, at_end(text, cut), cut, &out_len);
            CHECK(out != NULL && out_len >= cut);
            aside_free(out);
        }
        aside_scanner_free(scanner);
    }

    /* A dialect file, whole and cut short at each byte. */
    {
        static const char toml[] = "name = \"m\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<\"]\nclose = [\">\"]";
        size_t len = strlen(toml);

        for (cut = 0; cut <= len; cut++) {
            loaded = aside_dialect_load(at_end(toml, cut), cut);
            CHECK(loaded != NULL || cut < len);
            aside_dialect_free(loaded);
        }
    }
    return 0;
}
