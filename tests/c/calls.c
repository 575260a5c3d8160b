/* Tests tool calls through C: the events must be the same however a text is cut, whichever function feeds it, and wherever the
 * listener pauses. Without the option, the same bytes must be text. */
#include "check.h"

static const char tags[] = "name = \"tags\"\n"
                           "[[span]]\n"
                           "channel = \"tool\"\n"
                           "open = [\"<tool_call>\"]\n"
                           "close = [\"</tool_call>\"]\n"
                           "[[span.call]]\n"
                           "body = \"object\"\n"
                           "[[span.call]]\n"
                           "body = \"tags\"\n"
                           "begin = \"<function=\"\n"
                           "name_end = [\">\"]\n"
                           "key = [\"<parameter=\", \">\"]\n"
                           "value = [\"\", \"</parameter>\"]\n"
                           "end = \"</function>\"\n";

static const char headers[] = "name = \"headers\"\n"
                              "start = \"header\"\n"
                              "[header]\n"
                              "begin = [\"<|start|>\"]\n"
                              "end = [\"<|message|>\"]\n"
                              "close = [\"<|end|>\"]\n"
                              "keys = { role = \"<|start|>\", recipient = \"to=\" }\n"
                              "[[header.call]]\n"
                              "body = \"json\"\n"
                              "name_from = \"recipient\"\n"
                              "prefix = [\"functions.\"]\n"
                              "need_prefix = true\n"
                              "[[header.route]]\n"
                              "when = { recipient = \"*\" }\n"
                              "channel = \"tool\"\n"
                              "[[header.route]]\n"
                              "channel = \"content\"\n";

static const struct {
    const char *dialect, *text, *spans, *tool;
} cases[] = {
    {tags, "a<tool_call>{\"name\":\"f\",\"id\":\"7\",\"arguments\":{\"x\":\"</tool_call>\"}}</tool_call>b", "(3{00nfi7}00)0",
     "{\"x\":\"</tool_call>\"}"},
    {tags, "<tool_call><function=f><parameter=k>v\xC3\xA9</parameter></function>{\"name\":1}</tool_call>",
     "(3{01nfkke}00{10}14)0",
     "v\xC3\xA9"
     "1}"},
    {tags, "<tool_call>{\"name\":\"f\",\"arguments\":{\"x", "(3{00nf}02)2", "{\"x"},
    {headers, " to=functions.f<|message|>{\"x\":1}<|end|>", "(3recipient=functions.f;end=<|message|>;{00nf}01)0",
     "{\"x\":1}"},
};

static struct heard heard;

/* Feeds a text with one of the feeding functions, in two pieces, or byte by byte if `cut` is greater than its length. */
static void play(aside_scanner *scanner, const char *text, size_t cut, int way)
{
    static const size_t capacities[] = {0, 0, 1, 2, 64};
    size_t len = strlen(text), capacity = capacities[way], at, next;

    memset(&heard, 0, sizeof heard);
    heard.stop = way == 1;
    for (at = 0; at < len; at = next) {
        next = cut > len ? at + 1 : at < cut ? cut : len;
        if (capacity > 0)
            feed_into(scanner, &heard, text + at, next - at, capacity);
        else
            feed(scanner, &heard, text + at, next - at);
        CHECK(aside_scanner_held(scanner) <= aside_scanner_max_hold(scanner));
    }
    if (capacity > 0)
        finish_into(scanner, &heard, capacity);
    else
        finish(scanner, &heard);
    CHECK(heard.all_len == len && memcmp(heard.all, text, len) == 0);
}

int main(void)
{
    size_t i, cut;
    int way;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        aside_scanner_options options = {.size = sizeof options, .calls = 1};
        aside_dialect *dialect;
        aside_scanner *scanner;

        dialect = aside_dialect_load(cases[i].dialect, strlen(cases[i].dialect));
        CHECK(dialect != NULL);
        scanner = aside_scanner_new(dialect, &options);
        CHECK(scanner != NULL);
        for (way = 0; way < 5; way++)
            for (cut = 0; cut <= strlen(cases[i].text) + 1; cut++) {
                play(scanner, cases[i].text, cut, way);
                if (strcmp(heard.spans, cases[i].spans) != 0 || strcmp(heard.text[ASIDE_CHANNEL_TOOL], cases[i].tool) != 0) {
                    fprintf(stderr, "%s: cut %u, way %d: heard [%s] [%s]\n", cases[i].text, (unsigned)cut, way, heard.spans,
                            heard.text[ASIDE_CHANNEL_TOOL]);
                    return 1;
                }
            }
        aside_scanner_free(scanner);

        /* Without the option `calls`, no events of calls may come. */
        scanner = aside_scanner_new(dialect, NULL);
        CHECK(scanner != NULL);
        play(scanner, cases[i].text, 0, 0);
        CHECK(strchr(heard.spans, '{') == NULL);
        aside_scanner_free(scanner);
        aside_dialect_free(dialect);
    }
    return 0;
}
