/* Calls for a client through C: the same JSON leaves however the text is cut and whichever way it is fed; a tool that the request
 * does not have is not reported, and a broken body is reported as far as it went. */
#include "check.h"

#define HUGE_LEN ((size_t)-1)

static const char dialect_text[] = "name = \"calls\"\n"
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
                                   "end = \"</function>\"\n"
                                   "framing = { after_open = \"\\n\", before_close = \"\\n\" }\n";

static const char header_text[] = "name = \"headers\"\n"
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
                                  "[[header.route]]\n"
                                  "when = { recipient = \"*\" }\n"
                                  "channel = \"tool\"\n"
                                  "[[header.route]]\n"
                                  "channel = \"content\"\n";

static const char tools[] = "[{\"type\":\"function\",\"function\":{\"name\":\"add\",\"parameters\":{\"properties\":"
                            "{\"a\":{\"type\":\"integer\"},\"note\":{\"type\":\"string\"}}}}}]";

/* Two calls, one of an unknown tool, and a broken one. */
static const char text[] =
    "Hm.<tool_call><function=add><parameter=a>\n2\n</parameter><parameter=note>\n\"x\" </tool_call>\n</parameter></function>"
    "</tool_call>\n<tool_call>{\"name\": \"add\", \"id\": \"own\", \"arguments\": {\"a\": 40, \"b\": \"\xC3\xA9\"}}</tool_call>"
    "<tool_call>{\"name\": \"rm\", \"arguments\": {\"a\": 1}}</tool_call>"
    "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": [1}}</tool_call>.";

/* For each call: its numbers, id, name, arguments, cause, and whether it is whole. */
static const char told[] = "0/0 call_0 add {\"a\":2,\"note\":\"\\\"x\\\" </tool_call>\"} 0 1\n"
                           "1/1 own add {\"a\": 40, \"b\": \"\xC3\xA9\"} 0 1\n"
                           "3/2 call_2 add {\"a\": [1 4 0\n";

static char made[4096];
static size_t made_len;

static void put(const char *bytes, size_t len) { heard_add(made, &made_len, bytes, len); }

/* Writes down a delta. */
static void note(const aside_call_delta *delta)
{
    char numbers[64];

    CHECK(delta->size == sizeof *delta);
    CHECK(is_address(delta->id.at) && is_address(delta->name.at) && is_address(delta->arguments.at)
          && is_address(delta->late_id.at));
    CHECK(delta->is_first <= 1 && delta->is_last <= 1);
    CHECK(delta->is_first == 1 || delta->arguments.len > 0 || delta->is_last == 1);
    CHECK((delta->is_first == 1) == (delta->name.len > 0) && (delta->is_first == 1) == (delta->id.len > 0));
    if (delta->is_first) {
        put(numbers, (size_t)snprintf(numbers, sizeof numbers, "%u/%u ", (unsigned)delta->call, (unsigned)delta->index));
        put(delta->id.at, delta->id.len);
        put(" ", 1);
        put(delta->name.at, delta->name.len);
        put(" ", 1);
    }
    put(delta->arguments.at, delta->arguments.len);
    if (delta->is_last)
        put(numbers,
            (size_t)snprintf(numbers, sizeof numbers, " %u %u\n", (unsigned)delta->cause, (unsigned)delta->is_whole));
    else
        CHECK(delta->cause == 0 && delta->is_whole == 0 && delta->late_id.len == 0);
}

/* An aside_event_fn; `user` is the writer. */
static int32_t write_calls(void *user, const aside_event *event, const char *bytes)
{
    aside_call_delta delta = {.size = sizeof delta};
    aside_status status = aside_call_writer_feed(user, event, sizeof *event, bytes, &delta);

    if (status == ASIDE_OK)
        note(&delta);
    else
        CHECK_STATUS(status, ASIDE_NONE);
    return 0;
}

/* Feeds a text in pieces of `size` bytes, by callback, or into an array if there is a capacity. */
static void play(aside_scanner *scanner, aside_call_writer *writer, const char *stream, size_t size, size_t capacity)
{
    aside_event events[8];
    aside_event_array array = array_of(events, capacity);
    size_t len = strlen(stream), at = 0, next, i;

    made_len = 0;
    made[0] = 0;
    for (; capacity == 0 && at < len; at = next) {
        next = len - at < size ? len : at + size;
        CHECK_STATUS(aside_scanner_feed(scanner, stream + at, next - at, write_calls, writer), ASIDE_OK);
    }
    while (capacity > 0 && at < len) {
        next = len - at < size ? len : at + size;
        CHECK(aside_scanner_feed_into(scanner, stream + at, next - at, &array) >= 0);
        for (i = 0; i < array.count; i++) {
            static char bytes[4096];
            const char *from = array.attributes.at + events[i].text_at;

            if (events[i].kind != ASIDE_KIND_CALL_NAME || events[i].value_len == 0) {
                /* All bytes of the stream are still there: those before `at` are the ones that were held. */
                memcpy(bytes, stream + events[i].offset, (size_t)events[i].len);
                from = bytes;
            }
            write_calls(writer, &events[i], from);
        }
        at += array.consumed;
    }
    CHECK_STATUS(aside_scanner_finish(scanner, write_calls, writer), ASIDE_OK);
    CHECK_STATUS(aside_call_writer_reset(writer), ASIDE_OK);
}

static aside_dialect *loaded(const char *toml)
{
    aside_dialect *dialect = aside_dialect_load(toml, strlen(toml));
    CHECK(dialect != NULL);
    return dialect;
}

static aside_scanner *with_calls(const aside_dialect *dialect)
{
    aside_scanner_options options = {.size = sizeof options, .calls = 1};
    aside_scanner *scanner = aside_scanner_new(dialect, &options);

    CHECK(scanner != NULL);
    return scanner;
}

static void check_made(const char *wanted)
{
    if (strcmp(made, wanted) != 0) {
        fprintf(stderr, "made:\n%snot:\n%s", made, wanted);
        exit(1);
    }
}

/* However it is cut and fed, the same calls. */
static void pieces(const aside_dialect *dialect)
{
    static const size_t sizes[] = {1, 7, sizeof text}, capacities[] = {0, 1, 8};
    aside_call_writer_options options = {.size = sizeof options, .tools = {tools, sizeof tools - 1}};
    aside_call_writer *writer = aside_call_writer_new(dialect, &options);
    aside_scanner *scanner = with_calls(dialect);
    size_t i, j;

    CHECK(writer != NULL);
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++) {
            play(scanner, writer, text, sizes[i], capacities[j]);
            check_made(told);
        }
    aside_scanner_free(scanner);
    aside_call_writer_free(writer);
}

/* Each option, and no options. */
static void with_options(const aside_dialect *dialect)
{
    static const char cut[] = "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":1";
    static const char early[] = "<tool_call>{\"arguments\":{\"a\":1},\"name\":\"add\"}</tool_call>"
                                "<tool_call>{\"arguments\":\"0123456789\",\"name\":\"add\"}</tool_call>"
                                "<tool_call>{\"name\":\"f\",\"arguments\":{},\"id\":\"late\"}</tool_call>";
    aside_call_writer_options options = {.size = sizeof options, .max_held = 8};
    aside_scanner *scanner = with_calls(dialect);
    aside_call_writer *writer = aside_call_writer_new(dialect, NULL);
    aside_call_delta delta = {.size = sizeof delta};
    aside_event end = {.kind = ASIDE_KIND_CALL_END, .channel = ASIDE_CHANNEL_TOOL, .cause = ASIDE_CAUSE_MARKER};
    aside_event call = {.kind = ASIDE_KIND_CALL, .channel = ASIDE_CHANNEL_TOOL, .call = 7};
    aside_event id = {.kind = ASIDE_KIND_CALL_ID, .channel = ASIDE_CHANNEL_TOOL, .len = 4};
    aside_event name = {.kind = ASIDE_KIND_CALL_NAME, .channel = ASIDE_CHANNEL_TOOL, .len = 1};
    aside_event value = {.kind = ASIDE_KIND_CALL_VALUE, .channel = ASIDE_CHANNEL_TOOL, .len = 2};

    play(scanner, writer, cut, 1, 0);
    check_made("0/0 call_0 add {\"a\":1 2 0\n");

    /* An id that comes after the first delta. */
    CHECK_STATUS(aside_call_writer_feed(writer, &call, sizeof(aside_event), "", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &name, sizeof(aside_event), "f", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &value, sizeof(aside_event), "{}", &delta), ASIDE_OK);
    CHECK(delta.is_first && !delta.is_last && delta.call == 7 && delta.index == 0);
    CHECK_STATUS(aside_call_writer_feed(writer, &id, sizeof(aside_event), "late", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &end, sizeof(aside_event), "", &delta), ASIDE_OK);
    CHECK(!delta.is_first && delta.is_last && delta.is_whole && delta.late_id.len == 4);
    CHECK(memcmp(delta.late_id.at, "late", 4) == 0);
    aside_call_writer_free(writer);

    options.id_prefix = bytes_of("c-");
    writer = aside_call_writer_new(dialect, &options);
    play(scanner, writer, early, 3, 0);
    check_made("0/0 c-0 add {\"a\":1} 0 1\n2/1 c-1 f {} 0 1\n");
    aside_call_writer_free(writer);

    options = (aside_call_writer_options){.size = sizeof options, .tools = {"[]", 2}};
    writer = aside_call_writer_new(dialect, &options);
    play(scanner, writer, text, 7, 0);
    check_made("");
    aside_call_writer_free(writer);
    aside_scanner_free(scanner);
}

static void refused(const aside_dialect *dialect, const aside_call_writer_options *options)
{
    CHECK(aside_call_writer_new(dialect, options) == NULL);
    CHECK_STATUS(aside_last_status(), ASIDE_ERROR_OPTION);
}

/* The parts of calls that are sent, which calls, and mended calls: each option with the calls of the text. */
static void policies(const aside_dialect *dialect)
{
    static const char cut[] = "<tool_call><function=add><parameter=a>2</parameter>";
    static const char two[] = "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":1}}</tool_call>"
                              "<tool_call>{\"name\":\"rm\",\"arguments\":{\"b\":\"C:\\D\"}}</tool_call>";
    static const aside_call_writer_options none = {.size = sizeof none};
    aside_call_writer_options hold = none, tell = none, one = none, off = none, mend = none, wrong = none;
    struct {
        const aside_call_writer_options *options;
        const char *text, *told;
        aside_end_reason reason;
    } cases[] = {
        {&none, cut, "0/0 call_0 add {\"a\":2} 1 1\n", ASIDE_END_REASON_ENDED},
        {&none, cut, "0/0 call_0 add {\"a\":2 2 0\n", ASIDE_END_REASON_CUT_OFF},
        {&off, cut, "0/0 call_0 add {\"a\":2 2 0\n", ASIDE_END_REASON_ENDED},
        {&hold, cut, "", ASIDE_END_REASON_CUT_OFF},
        {&hold, cut, "0/0 call_0 add {\"a\":2} 1 1\n", ASIDE_END_REASON_ENDED},
        {&one, two, "0/0 call_0 add {\"a\":1} 0 1\n", ASIDE_END_REASON_ENDED},
        {&tell, two, "0/0 call_0 add {\"a\":1} 0 1\n1/1 call_1 rm {\"b\":\"C:\\D\"} 4 0\n", ASIDE_END_REASON_ENDED},
        {&mend, two, "0/0 call_0 add {\"a\":1} 0 1\n1/1 call_1 rm {\"b\":\"C:\\\\D\"} 0 1\n", ASIDE_END_REASON_ENDED},
    };
    size_t i;

    hold.not_whole = ASIDE_NOT_WHOLE_HOLD;
    one.max_calls = 1;
    off.implied_end = ASIDE_IMPLIED_END_OFF;
    tell.tools = bytes_of(tools);
    tell.unknown_tool = ASIDE_UNKNOWN_TOOL_TELL;
    mend.repair_arguments = 1;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        aside_scanner *scanner = with_calls(dialect);
        aside_call_writer *writer = aside_call_writer_new(dialect, cases[i].options);

        CHECK_STATUS(aside_scanner_end_reason(scanner, cases[i].reason), ASIDE_OK);
        play(scanner, writer, cases[i].text, 1 + i, 0);
        check_made(cases[i].told);
        aside_call_writer_free(writer);
        aside_scanner_free(scanner);
    }

    wrong.not_whole = ASIDE_NOT_WHOLE_TEXT + 1;
    refused(dialect, &wrong);
    CHECK_SAYS("options.not_whole 3 is not an ASIDE_NOT_WHOLE_ value");
    wrong = none;
    wrong.unknown_tool = ASIDE_UNKNOWN_TOOL_TELL + 1;
    refused(dialect, &wrong);
    wrong = none;
    wrong.implied_end = ASIDE_IMPLIED_END_OFF + 1;
    refused(dialect, &wrong);
    wrong = none;
    wrong.repair_arguments = 2;
    refused(dialect, &wrong);
    CHECK_SAYS("options.repair_arguments is neither 0 nor 1");
}

/* A name that is the value of a header's field. */
static void headers(void)
{
    aside_dialect *dialect = loaded(header_text);
    aside_scanner *scanner = with_calls(dialect);
    aside_call_writer *writer = aside_call_writer_new(dialect, NULL);
    size_t size;

    aside_dialect_free(dialect);
    for (size = 1; size < 50; size += 6) {
        play(scanner, writer, " to=functions.f<|message|>{\"x\": 1}<|end|>", size, size % 3);
        check_made("0/0 call_0 f {\"x\": 1} 1 1\n");
    }
    aside_scanner_free(scanner);
    aside_call_writer_free(writer);
}

/* Options, events and deltas of an older and of a newer header. */
static void versions(const aside_dialect *dialect)
{
    struct {
        aside_call_writer_options options;
        unsigned char later[24];
    } newer_options = {.options = {.size = sizeof newer_options, .id_prefix = {"c-", 2}}};
    struct {
        aside_event event;
        unsigned char later[16];
    } newer_event;
    struct {
        aside_call_delta delta;
        unsigned char later[24];
    } newer_delta;
    aside_call_writer_options options = {.size = offsetof(aside_call_writer_options, id_prefix), .tools = {"[]", 2}};
    aside_event call = {.kind = ASIDE_KIND_CALL, .channel = ASIDE_CHANNEL_TOOL, .call = 7};
    aside_event name = {.kind = ASIDE_KIND_CALL_NAME, .channel = ASIDE_CHANNEL_TOOL, .len = 1};
    aside_event end = {.kind = ASIDE_KIND_CALL_END, .channel = ASIDE_CHANNEL_TOOL, .cause = ASIDE_CAUSE_MARKER};
    aside_call_writer *writer;
    aside_call_delta delta = {.size = sizeof delta};
    size_t i;

    /* Only the tools of the older options are read. */
    options.id_prefix.len = HUGE_LEN;
    writer = aside_call_writer_new(dialect, &options);
    CHECK(writer != NULL);
    CHECK_STATUS(aside_call_writer_feed(writer, &call, sizeof call, "", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &name, sizeof name, "f", &delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &end, sizeof end, "", &delta), ASIDE_NONE);
    aside_call_writer_free(writer);

    writer = aside_call_writer_new(dialect, &newer_options.options);
    CHECK(writer != NULL);
    memset(&newer_delta, 0x5a, sizeof newer_delta);
    newer_delta.delta.size = sizeof newer_delta;
    memset(&newer_event, 0x5a, sizeof newer_event);
    newer_event.event = call;
    CHECK_STATUS(aside_call_writer_feed(writer, &newer_event.event, sizeof newer_event, "", &newer_delta.delta), ASIDE_NONE);
    /* The fields after the number of the call are not needed. */
    CHECK_STATUS(aside_call_writer_feed(writer, &name, 72, "f", &newer_delta.delta), ASIDE_NONE);
    CHECK_STATUS(aside_call_writer_feed(writer, &end, sizeof end, "", &newer_delta.delta), ASIDE_OK);
    CHECK(newer_delta.delta.call == 7 && newer_delta.delta.id.len == 3 && memcmp(newer_delta.delta.id.at, "c-0", 3) == 0);
    for (i = 0; i < sizeof newer_delta.later; i++)
        CHECK(newer_delta.later[i] == 0);
    CHECK_STATUS(aside_call_writer_feed(writer, &end, 68, "", &delta), ASIDE_ERROR_SIZE);
    CHECK_STATUS(aside_call_writer_feed(writer, &end, 64, "", &delta), ASIDE_ERROR_SIZE);
    CHECK_STATUS(aside_call_writer_feed(writer, &end, 4097, "", &delta), ASIDE_ERROR_SIZE);
    aside_call_writer_free(writer);
    newer_options.later[23] = 1;
    CHECK(aside_call_writer_new(dialect, &newer_options.options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
}

static void misuse(const aside_dialect *dialect)
{
    aside_call_writer *writer = aside_call_writer_new(dialect, NULL);
    aside_call_writer_options options = {.size = sizeof options};
    aside_call_delta delta = {.size = sizeof delta, .index = 77};
    aside_event event = {.kind = ASIDE_KIND_CALL_NAME, .channel = ASIDE_CHANNEL_TOOL, .len = 1};

    CHECK(aside_call_writer_new(NULL, NULL) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
    aside_call_writer_free(NULL);
    CHECK_STATUS(aside_call_writer_reset(NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_call_writer_feed(NULL, &event, sizeof(aside_event), "f", &delta), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_call_writer_feed(writer, NULL, sizeof(aside_event), "f", &delta), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_call_writer_feed(writer, &event, sizeof(aside_event), NULL, &delta), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_call_writer_feed(writer, &event, sizeof(aside_event), "f", NULL), ASIDE_ERROR_NULL);
    event.len = (uint64_t)-1;
    CHECK_STATUS(aside_call_writer_feed(writer, &event, sizeof(aside_event), "f", &delta), ASIDE_ERROR_LENGTH);
    event = (aside_event){.kind = ASIDE_KIND_CALL_END, .channel = ASIDE_CHANNEL_TOOL, .cause = 99};
    CHECK_STATUS(aside_call_writer_feed(writer, &event, sizeof(aside_event), "", &delta), ASIDE_ERROR_OPTION);
    delta.size = offsetof(aside_call_delta, is_repaired) - 1;
    CHECK_STATUS(aside_call_writer_feed(writer, &event, sizeof(aside_event), "", &delta), ASIDE_ERROR_SIZE);
    delta.size = sizeof delta;

    /* No table has these numbers, and no library this kind yet. */
    event = (aside_event){.kind = ASIDE_KIND_CALL, .channel = ASIDE_CHANNEL_TOOL, .rule = 1000, .tag = 1000};
    CHECK_STATUS(aside_call_writer_feed(writer, &event, sizeof(aside_event), "", &delta), ASIDE_NONE);
    event = (aside_event){.kind = ASIDE_KIND_CALL_END, .channel = ASIDE_CHANNEL_TOOL};
    CHECK_STATUS(aside_call_writer_feed(writer, &event, sizeof(aside_event), "", &delta), ASIDE_NONE);
    event = (aside_event){.kind = 1000, .channel = ASIDE_CHANNEL_TOOL, .len = (uint64_t)-1};
    CHECK_STATUS(aside_call_writer_feed(writer, &event, sizeof(aside_event), NULL, &delta), ASIDE_NONE);
    CHECK(delta.index == 77);
    aside_call_writer_free(writer);

    versions(dialect);
    options.size = 1;
    CHECK(aside_call_writer_new(dialect, &options) == NULL && aside_last_status() == ASIDE_ERROR_SIZE);
    options = (aside_call_writer_options){.size = sizeof options, .tools = {"[{\"name\": 1}]", 13}};
    CHECK(aside_call_writer_new(dialect, &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.tools[0]: `name` is not a string");
    options.max_tools = 12;
    CHECK(aside_call_writer_new(dialect, &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.tools: 13 bytes, more than 12: list fewer tools, or set `max_tools` higher");
    options.max_tools = 13;
    options.tools.len = 5;
    CHECK(aside_call_writer_new(dialect, &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.tools: not JSON, or nested too deep, at line 1, column 6");
    options.tools.len = 0;
    CHECK(aside_call_writer_new(dialect, &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    options.tools.len = HUGE_LEN;
    CHECK(aside_call_writer_new(dialect, &options) == NULL && aside_last_status() == ASIDE_ERROR_LENGTH);
    options = (aside_call_writer_options){.size = sizeof options, .id_prefix = {"\xff", 1}};
    CHECK(aside_call_writer_new(dialect, &options) == NULL && aside_last_status() == ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.id_prefix: not UTF-8");
    options = (aside_call_writer_options){.size = sizeof options, .tools = {NULL, 1}};
    CHECK(aside_call_writer_new(dialect, &options) == NULL && aside_last_status() == ASIDE_ERROR_NULL);
}

int main(void)
{
    aside_dialect *dialect = loaded(dialect_text);

    pieces(dialect);
    with_options(dialect);
    policies(dialect);
    headers();
    misuse(dialect);
    aside_dialect_free(dialect);
    return 0;
}
