/* The smallest use from C: prints the content of a text, and the library's version. */
#include <aside.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *text = "<think>Twice 21.</think>It is 42.";
    char *content;
    size_t len;

    ASIDE_VERSION_SYMBOL();
    content = aside_strip(aside_dialect_find("inline-think", 12), text, strlen(text), &len);
    if (content == NULL)
        return 1;
    printf("%s (%s)\n", content, aside_version());
    aside_free(content);
    return 0;
}
