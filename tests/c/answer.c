/* Tests answers through C: the parts must be the same however the text is cut, text that is not a call must be content, and a broken
 * call must be reported up to the place where it broke. */
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

/* Two calls, a call of an unknown tool, and a broken call. */
static const char text[] =
    "Hm.<tool_call><function=add><parameter=a>\n2\n</parameter><parameter=note>\n\"x\" </tool_call>\n</parameter></function>"
    "</tool_call>\n<tool_call>{\"name\": \"add\", \"id\": \"own\", \"arguments\": {\"a\": 40, \"b\": \"\xC3\xA9\"}}</tool_call>"
    "<tool_call>{\"name\": \"rm\", \"arguments\": {\"a\": 1}}</tool_call>"
    "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": [1}}</tool_call>.";

/* For each call: its number, id (with `*` if it was made), name and arguments, the cause of its end, and whether it is whole. */
static const char told[] = "0 call_0* add {\"a\":2,\"note\":\"\\\"x\\\" </tool_call>\"} 0 1\n"
                           "1 own add {\"a\": 40, \"b\": \"\xC3\xA9\"} 0 1\n"
                           "2 call_2* add {\"a\": [1 4 0\n";
static const char said[] = "Hm.\n<tool_call>{\"name\": \"rm\", \"arguments\": {\"a\": 1}}</tool_call>}}.";

/* The thinking, content and calls that a host has received. */
static struct {
    char thinking[HEARD_MAX], content[HEARD_MAX], calls[HEARD_MAX];
    size_t thinking_len, content_len, calls_len;
    uint64_t count; /* of calls */
    int is_open;    /* a call has no end yet */
    int budgets;
} message;

static void forget(void)
{
    message.thinking_len = message.content_len = message.calls_len = 0;
    message.thinking[0] = message.content[0] = message.calls[0] = 0;
    message.count = 0;
    message.is_open = message.budgets = 0;
}

static void put(const char *bytes, size_t len) { heard_add(message.calls, &message.calls_len, bytes, len); }

static void note(const aside_part *part)
{
    static char moved[HEARD_MAX];
    char numbers[64];
    const int is_call = part->kind == ASIDE_PART_KIND_CALL, is_end = part->kind == ASIDE_PART_KIND_CALL_END;

    CHECK(is_address(part->text.at) && is_address(part->id.at));
    CHECK(part->reserved == 0 && part->is_made <= (uint32_t)is_call);
    CHECK(is_end || (part->cause == 0 && part->is_whole == 0 && part->is_repaired == 0));
    CHECK(part->kind == ASIDE_PART_KIND_MOVED || (part->from == 0 && part->to == 0));
    CHECK(is_call || is_end || part->id.len == 0);
    switch (part->kind) {
    case ASIDE_PART_KIND_THINKING: heard_add(message.thinking, &message.thinking_len, part->text.at, part->text.len); break;
    case ASIDE_PART_KIND_CONTENT: heard_add(message.content, &message.content_len, part->text.at, part->text.len); break;
    case ASIDE_PART_KIND_CALL:
        CHECK(!message.is_open && part->index == message.count && part->text.len > 0 && part->id.len > 0);
        put(numbers, (size_t)snprintf(numbers, sizeof numbers, "%u ", (unsigned)part->index));
        put(part->id.at, part->id.len);
        put("* ", part->is_made ? 2 : 0);
        put(" ", part->is_made ? 0 : 1);
        put(part->text.at, part->text.len);
        put(" ", 1);
        message.is_open = 1;
        break;
    case ASIDE_PART_KIND_ARGUMENTS:
        CHECK(message.is_open && part->index == message.count && part->text.len > 0);
        put(part->text.at, part->text.len);
        break;
    case ASIDE_PART_KIND_CALL_END:
        CHECK(message.is_open && part->index == message.count && part->text.len == 0);
        put(numbers, (size_t)snprintf(numbers, sizeof numbers, " %u %u", (unsigned)part->cause, (unsigned)part->is_whole));
        put(" repaired", part->is_repaired ? 9 : 0);
        put(" ", part->id.len > 0);
        put(part->id.at, part->id.len);
        put("\n", 1);
        message.is_open = 0;
        message.count++;
        break;
    case ASIDE_PART_KIND_MOVED:
        CHECK(part->from + part->to == ASIDE_CHANNEL_CONTENT + ASIDE_CHANNEL_THINKING);
        memcpy(moved, message.content, sizeof moved);
        if (part->to == ASIDE_CHANNEL_THINKING) {
            heard_add(message.thinking, &message.thinking_len, moved, message.content_len);
            message.content_len = 0;
            message.content[0] = 0;
        } else {
            memcpy(message.content, message.thinking, message.thinking_len);
            heard_add(message.content, &message.thinking_len, moved, message.content_len);
            message.content_len = message.thinking_len;
            message.thinking_len = 0;
            message.thinking[0] = 0;
        }
        break;
    default: CHECK(part->kind == ASIDE_PART_KIND_BUDGET); message.budgets++;
    }
}

static void note_all(const aside_part *parts, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        note(&parts[i]);
}

static void feed_answer(aside_answer *answer, const char *bytes, size_t len)
{
    const aside_part *parts = NULL;
    size_t count = HUGE_LEN;

    CHECK_STATUS(aside_answer_feed(answer, bytes, len, &parts, &count), ASIDE_OK);
    note_all(parts, count);
}

static void finish_answer(aside_answer *answer, aside_end_reason reason)
{
    const aside_part *parts = NULL;
    size_t count = HUGE_LEN;

    CHECK_STATUS(aside_answer_finish(answer, reason, &parts, &count), ASIDE_OK);
    note_all(parts, count);
    CHECK(!message.is_open && aside_answer_held(answer) == 0);
}

/* Reads a text in pieces of `size` bytes. */
static void play(aside_answer *answer, const char *stream, size_t size, aside_end_reason reason)
{
    size_t len = strlen(stream), at;

    forget();
    for (at = 0; at < len; at += size)
        feed_answer(answer, stream + at, len - at < size ? len - at : size);
    finish_answer(answer, reason);
}

static aside_dialect *loaded(const char *toml)
{
    aside_dialect *dialect = aside_dialect_load(toml, strlen(toml));
    CHECK(dialect != NULL);
    return dialect;
}

static aside_answer *made(const aside_dialect *dialect, const aside_answer_options *options)
{
    aside_answer *answer = aside_answer_new(dialect, options);
    CHECK(answer != NULL);
    return answer;
}

static void check_message(const char *thinking, const char *content, const char *calls)
{
    if (strcmp(message.thinking, thinking) != 0 || strcmp(message.content, content) != 0
        || strcmp(message.calls, calls) != 0) {
        fprintf(stderr, "read: [%s] [%s]\n%snot: [%s] [%s]\n%s", message.thinking, message.content, message.calls, thinking,
                content, calls);
        exit(1);
    }
}

/* The parts must be the same however the text is cut. */
static void pieces(const aside_dialect *dialect)
{
    static const size_t sizes[] = {1, 7, sizeof text};
    aside_answer_options options = {.size = sizeof options, .tools = {tools, sizeof tools - 1}};
    aside_answer *answer = made(dialect, &options);
    size_t i;

    for (i = 0; i < 3; i++) {
        play(answer, text, sizes[i], ASIDE_END_REASON_UNKNOWN);
        check_message("", said, told);
    }
    aside_answer_free(answer);
}

/* Reads a text with these options in one piece and byte by byte. */
static void reads(const aside_dialect *dialect, const aside_answer_options *options, aside_end_reason reason,
                  const char *stream, const char *thinking, const char *content, const char *calls)
{
    aside_answer *answer = made(dialect, options);

    play(answer, stream, strlen(stream), reason);
    check_message(thinking, content, calls);
    play(answer, stream, 1, reason);
    check_message(thinking, content, calls);
    aside_answer_free(answer);
}

/* Text that is not a call is content, in its place. */
static void no_calls(void)
{
    static const char *const good = "<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n</tool_call>\n";
    static const char *const texts[] = {
        "<tool_call>\n{\"name\": 5, \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>",
        "Yes.\n<tool_call>\n{\"name\": \"f\", \"argum",
        "<tool_call>\n{\"nme\":\"f\"}\n</tool_call>",
    };
    const aside_dialect *qwen3 = dialect_named("qwen3");
    char both[256];
    size_t i;

    for (i = 0; i < 3; i++)
        reads(qwen3, NULL, ASIDE_END_REASON_ENDED, texts[i], "", texts[i], "");
    snprintf(both, sizeof both, "%s%s", good, texts[2]);
    reads(qwen3, NULL, ASIDE_END_REASON_ENDED, both, "", texts[2], "0 call_0* f {\"a\":1} 0 1\n");
}

/* Tests the options that decide where the thinking goes. */
static void thinking(void)
{
    static const char stream[] = "<think>\nhm\n</think>\n\nYes.<tool_call>{\"name\": \"f\"}</tool_call>";
    static const char empty[] = "<think>The answer is 42.", answer[] = "The answer is 42.";
    static const aside_answer_options none = {.size = sizeof none};
    const aside_dialect *qwen3 = dialect_named("qwen3"), *guess = dialect_named("deepseek-r1");
    aside_answer_options drop = none, in_line = none, promote = none, take_back = none, both = none, keep = none,
                         as_text = none;
    struct {
        const aside_dialect *dialect;
        const aside_answer_options *options;
        const char *text, *thinking, *content, *calls;
    } cases[] = {
        {qwen3, &none, stream, "hm", "Yes.", "0 call_0* f {} 0 1\n"},
        {qwen3, &drop, stream, "", "Yes.", "0 call_0* f {} 0 1\n"},
        {qwen3, &in_line, stream, "", "<think>\nhm\n</think>\n\nYes.", "0 call_0* f {} 0 1\n"},
        {qwen3, &as_text, stream, "hm", "Yes.<tool_call>{\"name\": \"f\"}</tool_call>", ""},
        {qwen3, &none, empty, answer, "", ""},
        {qwen3, &promote, empty, answer, answer, ""},
        {qwen3, &both, empty, "", answer, ""},
        {guess, &none, answer, answer, answer, ""},
        {guess, &take_back, answer, "", answer, ""},
        {guess, &keep, answer, answer, "", ""},
        {qwen3, &none, "hm</think>Yes.", "", "hmYes.", ""},
        {qwen3, &take_back, "hm</think>Yes.", "hm", "Yes.", ""},
    };
    size_t i;

    drop.thinking = ASIDE_THINKING_DROP;
    in_line.thinking = ASIDE_THINKING_INLINE;
    promote.promote_empty = both.promote_empty = 1;
    take_back.may_take_back = both.may_take_back = 1;
    keep.keep_guessed = 1;
    as_text.inline_calls = 1;
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        reads(cases[i].dialect, cases[i].options, ASIDE_END_REASON_ENDED, cases[i].text, cases[i].thinking, cases[i].content,
              cases[i].calls);
    reads(guess, &none, ASIDE_END_REASON_UNKNOWN, answer, answer, "", "");
}

static void refused(const aside_dialect *dialect, const aside_answer_options *options, aside_status status)
{
    CHECK(aside_answer_new(dialect, options) == NULL);
    CHECK_STATUS(aside_last_status(), status);
}

/* Tests the options that choose which calls and which parts of them are reported and whether calls are mended, each on the same
 * text. */
static void policies(const aside_dialect *dialect)
{
#define ADD "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":1}}</tool_call>"
#define RM "<tool_call>{\"name\":\"rm\",\"arguments\":{\"b\":\"C:\\D\"}}</tool_call>"
    static const char cut[] = "<tool_call><function=add><parameter=a>2</parameter>";
    static const char late[] = "<tool_call>{\"name\":\"f\",\"arguments\":{},\"id\":\"late\"}</tool_call>";
    static const char add[] = "0 call_0* add {\"a\":1} 0 1\n";
    static const aside_answer_options none = {.size = sizeof none};
    aside_answer_options hold = none, tell = none, drop = none, one = none, off = none, mend = none, empty = none, id = none;
    aside_answer_options call = none;
    struct {
        const aside_answer_options *options;
        aside_end_reason reason;
        const char *text, *content, *calls;
    } cases[] = {
        {&none, ASIDE_END_REASON_ENDED, cut, "", "0 call_0* add {\"a\":2} 1 1\n"},
        {&none, ASIDE_END_REASON_CUT_OFF, cut, "", "0 call_0* add {\"a\":2 2 0\n"},
        {&off, ASIDE_END_REASON_ENDED, cut, "", "0 call_0* add {\"a\":2 2 0\n"},
        {&hold, ASIDE_END_REASON_CUT_OFF, cut, cut, ""},
        {&one, ASIDE_END_REASON_ENDED, ADD RM, RM, add},
        {&drop, ASIDE_END_REASON_ENDED, ADD RM, "", add},
        {&tell, ASIDE_END_REASON_ENDED, ADD RM, "", "0 call_0* add {\"a\":1} 0 1\n1 call_1* rm {\"b\":\"C:\\D\"} 4 0\n"},
        {&mend, ASIDE_END_REASON_ENDED, ADD RM, "",
         "0 call_0* add {\"a\":1} 0 1\n1 call_1* rm {\"b\":\"C:\\\\D\"} 0 1 repaired\n"},
        {&empty, ASIDE_END_REASON_ENDED, ADD RM, ADD RM, ""},
        {&id, ASIDE_END_REASON_ENDED, late, "", "0 c-0* f {} 0 1 late\n"},
        {&call, ASIDE_END_REASON_ENDED, "{\"a\": 1}", "", "0 call_0* add {\"a\": 1} 1 1\n"},
    };
    size_t i;

    hold.not_whole = ASIDE_NOT_WHOLE_HOLD;
    one.max_calls = 1;
    off.implied_end = ASIDE_IMPLIED_END_OFF;
    tell.tools = drop.tools = bytes_of(tools);
    tell.unknown_tool = ASIDE_UNKNOWN_TOOL_TELL;
    drop.unknown_tool = ASIDE_UNKNOWN_TOOL_DROP;
    mend.repair_arguments = 1;
    empty.tools = bytes_of("[]");
    id.id_prefix = bytes_of("c-");
    call.start_call = bytes_of("add");
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        reads(dialect, cases[i].options, cases[i].reason, cases[i].text, "", cases[i].content, cases[i].calls);
}

/* Tests a dialect whose calls have their name in a field of the message header. */
static void headers(void)
{
    aside_dialect *dialect = loaded(header_text);
    aside_answer *answer = made(dialect, NULL);
    size_t size;

    aside_dialect_free(dialect);
    for (size = 1; size < 50; size += 6) {
        play(answer, " to=functions.f<|message|>{\"x\": 1}<|end|>", size, ASIDE_END_REASON_ENDED);
        check_message("", "", "0 call_0* f {\"x\": 1} 1 1\n");
    }
    aside_answer_free(answer);
}

/* An answer serves one request after another: the prompt and the tools of one text are not those of the next. */
static void requests(void)
{
    static const char prompt[] = "<|im_start|>assistant\n<think>\n", call[] = "<tool_call>{\"name\": \"add\"}</tool_call>";
    aside_answer_options options = {.size = sizeof options, .tools = {tools, sizeof tools - 1}};
    aside_answer *answer = made(dialect_named("qwen3"), &options);
    aside_counts counts = {.size = sizeof counts};
    aside_start start = 77;
    const aside_part *parts;
    size_t count;

    forget();
    CHECK_STATUS(aside_answer_start_from_prompt(answer, prompt, sizeof prompt - 1, &start), ASIDE_OK);
    CHECK(start == ASIDE_START_THINKING);
    CHECK_STATUS(aside_answer_use_tools(answer, "[]", 2), ASIDE_OK);
    feed_answer(answer, "hm</think>", 10);
    CHECK_STATUS(aside_answer_counts(answer, ASIDE_CHANNEL_THINKING, &counts), ASIDE_OK);
    CHECK(counts.bytes == 2 && counts.spans == 1);
    start = 77;
    CHECK_STATUS(aside_answer_start_from_prompt(answer, "", 0, &start), ASIDE_ERROR_ORDER);
    CHECK_STATUS(aside_answer_use_tools(answer, "[]", 2), ASIDE_ERROR_ORDER);
    CHECK(start == 77);
    feed_answer(answer, call, sizeof call - 1);
    finish_answer(answer, ASIDE_END_REASON_ENDED);
    check_message("hm", call, "");
    CHECK_STATUS(aside_answer_counts(answer, ASIDE_CHANNEL_THINKING, &counts), ASIDE_OK);
    CHECK(counts.bytes == 2);
    play(answer, call, 1, ASIDE_END_REASON_ENDED);
    check_message("", "", "0 call_0* add {} 0 1\n");

    /* Tools that are refused change nothing, and NULL means that every call is reported. */
    CHECK_STATUS(aside_answer_use_tools(answer, "[{", 2), ASIDE_ERROR_OPTION);
    CHECK_SAYS("tools: not JSON, or nested too deep, at line 1, column 3");
    CHECK_STATUS(aside_answer_start_from_prompt(answer, NULL, 0, NULL), ASIDE_OK);
    CHECK_STATUS(aside_answer_use_tools(answer, NULL, 0), ASIDE_OK);
    play(answer, "<tool_call>{\"name\": \"rm\"}</tool_call>", 5, ASIDE_END_REASON_ENDED);
    check_message("", "", "0 call_0* rm {} 0 1\n");

    /* A reset drops the text and its counts. */
    feed_answer(answer, "<think>hm<tool", 14);
    CHECK(aside_answer_held(answer) == 5);
    CHECK_STATUS(aside_answer_reset(answer), ASIDE_OK);
    CHECK(aside_answer_held(answer) == 0);
    CHECK_STATUS(aside_answer_counts(answer, ASIDE_CHANNEL_THINKING, &counts), ASIDE_OK);
    CHECK(counts.bytes == 0);

    /* Held text that is flushed, and thinking that is closed. */
    forget();
    feed_answer(answer, "<think>hm<tool", 14);
    CHECK_STATUS(aside_answer_flush(answer, &parts, &count), ASIDE_OK);
    CHECK(count == 1 && aside_answer_held(answer) == 0);
    note_all(parts, count);
    CHECK_STATUS(aside_answer_force_close(answer, &parts, &count), ASIDE_OK);
    note_all(parts, count);
    feed_answer(answer, "Yes.", 4);
    finish_answer(answer, ASIDE_END_REASON_ENDED);
    check_message("hm<tool", "Yes.", "");
    aside_answer_free(answer);
}

/* Tests the budget, and bytes whose tokens are known. */
static void tokens_and_budget(void)
{
    static const char stream[] = "<think>hmm</think>Yes.";
    static const aside_token right[] = {{7, 1}, {3, 0}, {8, 1}, {4, 0}}, text_only[] = {{7, 0}, {3, 0}, {8, 0}, {4, 0}};
    aside_answer_options options = {.size = sizeof options, .budget = 2};
    aside_answer *answer = made(dialect_named("qwen3"), &options);
    aside_counts counts = {.size = sizeof counts};
    const aside_part *parts;
    size_t count;

    forget();
    CHECK_STATUS(aside_answer_feed_tokens(answer, stream, sizeof stream - 1, right, 4, &parts, &count), ASIDE_OK);
    note_all(parts, count);
    CHECK_STATUS(aside_answer_counts(answer, ASIDE_CHANNEL_THINKING, &counts), ASIDE_OK);
    CHECK(counts.tokens == 1);
    CHECK_STATUS(aside_answer_feed_tokens(answer, stream, sizeof stream - 1, right, 3, &parts, &count), ASIDE_ERROR_LENGTH);
    finish_answer(answer, ASIDE_END_REASON_ENDED);
    check_message("hmm", "Yes.", "");
    CHECK(message.budgets == 1);

    /* A marker that is special must be a special token. */
    forget();
    CHECK_STATUS(aside_answer_feed_tokens(answer, stream, sizeof stream - 1, text_only, 4, &parts, &count), ASIDE_OK);
    note_all(parts, count);
    finish_answer(answer, ASIDE_END_REASON_ENDED);
    check_message("", stream, "");
    CHECK_STATUS(aside_answer_feed_tokens(answer, "", 0, NULL, 0, &parts, &count), ASIDE_OK);
    CHECK(count == 0);
    aside_answer_free(answer);
}

/* Passes options of older and newer headers, and options that are refused. */
static void options_of_other_headers(const aside_dialect *dialect)
{
    static const aside_answer_options none = {.size = sizeof none};
    struct {
        aside_answer_options options;
        unsigned char later[24];
    } newer = {.options = {.size = sizeof newer, .id_prefix = {"c-", 2}}};
    aside_answer_options options = {.size = offsetof(aside_answer_options, start_call), .tools = {"[]", 2}};
    aside_answer_options wrong = none;

    /* From the smaller struct, only the tools may be read. */
    options.id_prefix.len = HUGE_LEN;
    reads(dialect, &options, ASIDE_END_REASON_ENDED, ADD, "", ADD, "");
    reads(dialect, &newer.options, ASIDE_END_REASON_ENDED, ADD, "", "", "0 c-0* add {\"a\":1} 0 1\n");
    newer.later[23] = 1;
    refused(dialect, &newer.options, ASIDE_ERROR_OPTION);
    options.size = 1;
    refused(dialect, &options, ASIDE_ERROR_SIZE);

    options = (aside_answer_options){.size = sizeof options, .tools = {"[{\"name\": 1}]", 13}};
    refused(dialect, &options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.tools[0]: `name` is not a string");
    options.max_tools = 12;
    refused(dialect, &options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.tools: 13 bytes, more than 12: list fewer tools, or set `max_tools` higher");
    options.max_tools = 13;
    options.tools.len = 5;
    refused(dialect, &options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.tools: not JSON, or nested too deep, at line 1, column 6");
    options.tools.len = 0;
    refused(dialect, &options, ASIDE_ERROR_OPTION);
    options.tools.len = HUGE_LEN;
    refused(dialect, &options, ASIDE_ERROR_LENGTH);
    options = none;
    options.tools.len = 1;
    refused(dialect, &options, ASIDE_ERROR_NULL);
    options = none;
    options.id_prefix = bytes_of("\xff");
    refused(dialect, &options, ASIDE_ERROR_OPTION);
    CHECK_SAYS("options.id_prefix: not UTF-8");

#define REFUSED(field, value)                           \
    do {                                                \
        wrong = none;                                   \
        wrong.field = (value);                          \
        refused(dialect, &wrong, ASIDE_ERROR_OPTION);   \
        CHECK(strstr(aside_last_error(), #field) != 0); \
    } while (0)
    REFUSED(start, ASIDE_START_THINKING);
    REFUSED(start, 99);
    REFUSED(stray_close, ASIDE_STRAY_CLOSE_DROP + 1);
    REFUSED(calls_in_thinking, ASIDE_CALLS_IN_THINKING_ALWAYS + 1);
    REFUSED(leading_tags, ASIDE_LEADING_TAGS_TEXT + 1);
    REFUSED(thinking, ASIDE_THINKING_INLINE + 1);
    REFUSED(not_whole, ASIDE_NOT_WHOLE_TEXT + 1);
    REFUSED(unknown_tool, ASIDE_UNKNOWN_TOOL_TELL + 1);
    REFUSED(implied_end, ASIDE_IMPLIED_END_OFF + 1);
    REFUSED(budget_unit, ASIDE_BUDGET_UNIT_CHARACTERS + 1);
    REFUSED(budget_scope, ASIDE_BUDGET_SCOPE_STREAM + 1);
    REFUSED(repair_arguments, 2);
    REFUSED(promote_empty, 2);
    REFUSED(keep_guessed, 2);
    REFUSED(may_take_back, 2);
    REFUSED(inline_calls, 2);
    REFUSED(reserved, 1);
}

/* Calls that must fail, and change neither the answer nor the results. */
static void misuse(const aside_dialect *dialect)
{
    aside_answer *answer = made(dialect, NULL);
    aside_counts counts = {.size = sizeof counts};
    aside_token token = {1, 0};
    const aside_part *parts = NULL;
    size_t count = 77;

    refused(NULL, NULL, ASIDE_ERROR_NULL);
    aside_answer_free(NULL);
    CHECK_STATUS(aside_answer_reset(NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_feed(NULL, "a", 1, &parts, &count), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_feed(answer, NULL, 1, &parts, &count), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_feed(answer, "a", 1, NULL, &count), ASIDE_ERROR_NULL);
    CHECK_SAYS("parts is NULL");
    CHECK_STATUS(aside_answer_feed(answer, "a", 1, &parts, NULL), ASIDE_ERROR_NULL);
    CHECK_SAYS("count is NULL");
    CHECK_STATUS(aside_answer_feed(answer, "a", HUGE_LEN, &parts, &count), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_answer_feed_tokens(NULL, "a", 1, &token, 1, &parts, &count), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_feed_tokens(answer, "a", 1, NULL, 1, &parts, &count), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_feed_tokens(answer, "a", 1, &token, HUGE_LEN, &parts, &count), ASIDE_ERROR_LENGTH);
    CHECK_STATUS(aside_answer_flush(NULL, &parts, &count), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_force_close(answer, NULL, &count), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_finish(answer, ASIDE_END_REASON_CUT_OFF + 1, &parts, &count), ASIDE_ERROR_OPTION);
    CHECK_STATUS(aside_answer_finish(NULL, ASIDE_END_REASON_ENDED, &parts, &count), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_start_from_prompt(NULL, "", 0, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_start_from_prompt(answer, NULL, 1, NULL), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_use_tools(NULL, "[]", 2), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_use_tools(answer, NULL, 2), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_counts(NULL, ASIDE_CHANNEL_CONTENT, &counts), ASIDE_ERROR_NULL);
    CHECK_STATUS(aside_answer_counts(answer, ASIDE_CHANNEL_TOOL + 1, &counts), ASIDE_ERROR_RANGE);
    counts.size = 1;
    CHECK_STATUS(aside_answer_counts(answer, ASIDE_CHANNEL_CONTENT, &counts), ASIDE_ERROR_SIZE);
    CHECK(parts == NULL && count == 77);
    CHECK(aside_answer_held(NULL) == 0 && aside_last_status() == ASIDE_ERROR_NULL);
    play(answer, ADD, 1, ASIDE_END_REASON_ENDED);
    check_message("", "", "0 call_0* add {\"a\":1} 0 1\n");
    CHECK_STATUS(aside_answer_feed(answer, NULL, 0, &parts, &count), ASIDE_OK);
    CHECK(count == 0);
    aside_answer_free(answer);
}

int main(void)
{
    aside_dialect *dialect = loaded(dialect_text);

    pieces(dialect);
    no_calls();
    thinking();
    policies(dialect);
    headers();
    requests();
    tokens_and_budget();
    options_of_other_headers(dialect);
    misuse(dialect);
    aside_dialect_free(dialect);
    return 0;
}
