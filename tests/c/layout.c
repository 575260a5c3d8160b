/* Numbers and layouts that can never change: a program that was compiled against an older header relies on them. */
#include "check.h"
#include <stddef.h>

int main(void)
{
    CHECK(ASIDE_OK == 0 && ASIDE_STOPPED == 1 && ASIDE_MORE == 2 && ASIDE_NONE == 3);
    CHECK(ASIDE_ERROR_NULL == -1001 && ASIDE_ERROR_LENGTH == -1002 && ASIDE_ERROR_UNKNOWN == -1003);
    CHECK(ASIDE_ERROR_DIALECT == -1004 && ASIDE_ERROR_OPTION == -1005 && ASIDE_ERROR_SIZE == -1006);
    CHECK(ASIDE_ERROR_BUSY == -1007 && ASIDE_ERROR_ORDER == -1008 && ASIDE_ERROR_MEMORY == -1009);
    CHECK(ASIDE_ERROR_RANGE == -1010 && ASIDE_ERROR_PANIC == -1011);
    CHECK(ASIDE_ERROR_FILTER == -1013 && ASIDE_ERROR_ORIGINAL == -1014);
    CHECK(ASIDE_KEPT == 0 && ASIDE_REPLACED == 1 && ASIDE_LEFT_OUT == 2 && ASIDE_NO_FILTER == 0xffffffff);
    CHECK(ASIDE_OPEN == 1 && ASIDE_ATTRIBUTE == 2 && ASIDE_TEXT == 3 && ASIDE_FRAMING == 4 && ASIDE_CLOSE == 5);
    CHECK(ASIDE_RECLASSIFY == 6 && ASIDE_BUDGET == 7);
    CHECK(ASIDE_CONTENT == 0 && ASIDE_THINKING == 1 && ASIDE_NARRATION == 2 && ASIDE_TOOL == 3);
    CHECK(ASIDE_CAUSE_MARKER == 0 && ASIDE_CAUSE_IMPLIED == 1 && ASIDE_CAUSE_END == 2);
    CHECK(ASIDE_CAUSE_FORCED == 3);
    CHECK(ASIDE_BUDGET_BYTES == 0 && ASIDE_BUDGET_CHARACTERS == 1 && ASIDE_BUDGET_SPAN == 0 && ASIDE_BUDGET_STREAM == 1);
    CHECK(ASIDE_START_DEFAULT == 0 && ASIDE_START_CONTENT == 1 && ASIDE_START_THINKING == 2);
    CHECK(ASIDE_START_NARRATION == 3 && ASIDE_START_TOOL == 4 && ASIDE_START_HEADER == 5);

    CHECK(ASIDE_FIELD_REASONING_CONTENT == 0 && ASIDE_FIELD_REASONING == 1 && ASIDE_FIELD_THINKING == 2);
    CHECK(ASIDE_BODY_UNKNOWN == 0 && ASIDE_BODY_EVENTS == 1 && ASIDE_BODY_JSON == 2);

    CHECK(sizeof(aside_event) == 64);
    CHECK(offsetof(aside_event, kind) == 0 && offsetof(aside_event, channel) == 4);
    CHECK(offsetof(aside_event, cause) == 8 && offsetof(aside_event, rule) == 12);
    CHECK(offsetof(aside_event, offset) == 16 && offsetof(aside_event, len) == 24);
    CHECK(offsetof(aside_event, tag) == 32 && offsetof(aside_event, text_at) == 36);
    CHECK(offsetof(aside_event, name_len) == 40 && offsetof(aside_event, value_len) == 44);
    CHECK(offsetof(aside_event, raw_name_at) == 48 && offsetof(aside_event, raw_name_len) == 52);
    CHECK(offsetof(aside_event, raw_value_at) == 56 && offsetof(aside_event, raw_value_len) == 60);

    CHECK(sizeof(aside_token) == 8 && offsetof(aside_token, special) == 4);
    CHECK(sizeof(aside_stretch) == 32 && offsetof(aside_stretch, hash) == 16 && offsetof(aside_stretch, filter) == 28);
    CHECK(offsetof(aside_options, size) == 0 && offsetof(aside_thought, size) == 0);
    if (sizeof(void *) == 8) {
        CHECK(sizeof(aside_options) == 48 && sizeof(aside_fed) == 56);
        CHECK(offsetof(aside_options, budget) == 24 && offsetof(aside_options, budget_scope) == 40);
        CHECK(sizeof(aside_counts) == 40 && offsetof(aside_counts, tokens) == 32);
        CHECK(sizeof(aside_sse_options) == 32);
        CHECK(sizeof(aside_attribute) == 32 && sizeof(aside_thought) == 88);
        CHECK(sizeof(aside_call) == 48 && sizeof(aside_filter) == 72 && sizeof(aside_cache) == 80);
        CHECK(sizeof(aside_command) == 56);
        CHECK(sizeof(aside_compressor_options) == 32 && sizeof(aside_report) == 96 && sizeof(aside_part_report) == 40);
    }

    CHECK(strcmp(aside_version(), ASIDE_VERSION) == 0);
    ASIDE_VERSION_SYMBOL();
    aside_version_0_1_0();
    CHECK(aside_abi_version() == ASIDE_ABI_VERSION);
    return 0;
}
