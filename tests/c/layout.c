/* Numbers and layouts that can never change: a program that was compiled against an older header relies on them. */
#include "check.h"
#include <aside_compress.h>
#include <stddef.h>

int main(void)
{
    CHECK(ASIDE_OK == 0 && ASIDE_STOPPED == 1 && ASIDE_MORE == 2 && ASIDE_NONE == 3);
    CHECK(ASIDE_ERROR_NULL == -1001 && ASIDE_ERROR_LENGTH == -1002 && ASIDE_ERROR_UNKNOWN == -1003);
    CHECK(ASIDE_ERROR_DIALECT == -1004 && ASIDE_ERROR_OPTION == -1005 && ASIDE_ERROR_SIZE == -1006);
    CHECK(ASIDE_ERROR_BUSY == -1007 && ASIDE_ERROR_ORDER == -1008 && ASIDE_ERROR_MEMORY == -1009);
    CHECK(ASIDE_ERROR_RANGE == -1010 && ASIDE_ERROR_PANIC == -1011);
    CHECK(ASIDE_ERROR_JOIN == -1012 && ASIDE_ERROR_FILTER == -1013 && ASIDE_ERROR_ORIGINAL == -1014);
    CHECK(ASIDE_CHANGE_KEPT == 0 && ASIDE_CHANGE_REPLACED == 1 && ASIDE_CHANGE_LEFT_OUT == 2 && ASIDE_NO_FILTER == -1);
    CHECK(ASIDE_KIND_OPEN == 1 && ASIDE_KIND_ATTRIBUTE == 2 && ASIDE_KIND_TEXT == 3 && ASIDE_KIND_FRAMING == 4
          && ASIDE_KIND_CLOSE == 5);
    CHECK(ASIDE_KIND_RECLASSIFY == 6 && ASIDE_KIND_BUDGET == 7);
    CHECK(ASIDE_KIND_CALL == 8 && ASIDE_KIND_CALL_NAME == 9 && ASIDE_KIND_CALL_ID == 10 && ASIDE_KIND_CALL_KEY == 11);
    CHECK(ASIDE_KIND_CALL_TYPE == 12 && ASIDE_KIND_CALL_VALUE == 13 && ASIDE_KIND_CALL_VALUE_END == 14
          && ASIDE_KIND_CALL_END == 15);
    CHECK(ASIDE_CALLS_IN_THINKING_DIALECT == 0 && ASIDE_CALLS_IN_THINKING_NEVER == 1);
    CHECK(ASIDE_CHANNEL_CONTENT == 0 && ASIDE_CHANNEL_THINKING == 1 && ASIDE_CHANNEL_NARRATION == 2
          && ASIDE_CHANNEL_TOOL == 3);
    CHECK(ASIDE_NOT_TEXT == -1);
    CHECK(ASIDE_CAUSE_MARKER == 0 && ASIDE_CAUSE_IMPLIED == 1 && ASIDE_CAUSE_END_OF_STREAM == 2);
    CHECK(ASIDE_CAUSE_FORCED == 3 && ASIDE_CAUSE_MALFORMED == 4);
    CHECK(ASIDE_BUDGET_UNIT_BYTES == 0 && ASIDE_BUDGET_UNIT_CHARACTERS == 1 && ASIDE_BUDGET_SCOPE_SPAN == 0
          && ASIDE_BUDGET_SCOPE_STREAM == 1);
    CHECK(ASIDE_START_DEFAULT == 0 && ASIDE_START_CONTENT == 1 && ASIDE_START_THINKING == 2);
    CHECK(ASIDE_START_NARRATION == 3 && ASIDE_START_TOOL == 4 && ASIDE_START_HEADER == 5);
    CHECK(ASIDE_STRAY_CLOSE_DIALECT == 0 && ASIDE_STRAY_CLOSE_TEXT == 1);

    CHECK(ASIDE_MARKERS_REFUSE == 0 && ASIDE_MARKERS_ESCAPE == 1);
    CHECK(ASIDE_MIN_COMPRESSIBLE_LENGTH == 1024 && ASIDE_MIN_BUDGET == 1024);
    CHECK(ASIDE_FIELD_REASONING_CONTENT == 0 && ASIDE_FIELD_REASONING == 1 && ASIDE_FIELD_THINKING == 2);
    CHECK(ASIDE_BODY_UNKNOWN == 0 && ASIDE_BODY_EVENTS == 1 && ASIDE_BODY_JSON == 2);
    CHECK(ASIDE_BODY_LINES == 3 && ASIDE_HINT_IDENTITY == 1);
    CHECK(ASIDE_FORMAT_CHAT == 1 && ASIDE_FORMAT_COMPLETIONS == 2 && ASIDE_FORMAT_RESPONSES == 4);
    CHECK(ASIDE_FORMAT_MESSAGES == 8 && ASIDE_FORMAT_OLLAMA == 16 && ASIDE_FORMAT_ALL == 31);
    CHECK(ASIDE_RESPONSES_AS_REASONING_TEXT == 0 && ASIDE_RESPONSES_AS_SUMMARY == 1);

    CHECK(sizeof(aside_token) == 8 && offsetof(aside_token, len) == 0 && offsetof(aside_token, special) == 4);
    CHECK(sizeof(aside_event) == 64 && offsetof(aside_event, kind) == 0 && offsetof(aside_event, channel) == 4);
    CHECK(offsetof(aside_event, cause) == 8 && offsetof(aside_event, rule) == 12);
    CHECK(offsetof(aside_event, offset) == 16 && offsetof(aside_event, len) == 24 && offsetof(aside_event, tag) == 32);
    CHECK(offsetof(aside_event, text_at) == 36 && offsetof(aside_event, name_len) == 40);
    CHECK(offsetof(aside_event, value_len) == 44 && offsetof(aside_event, raw_name_at) == 48);
    CHECK(offsetof(aside_event, raw_name_len) == 52 && offsetof(aside_event, raw_value_at) == 56);
    CHECK(offsetof(aside_event, raw_value_len) == 60);
    CHECK(sizeof(aside_stretch) == 32 && offsetof(aside_stretch, start) == 0 && offsetof(aside_stretch, len) == 8);
    CHECK(offsetof(aside_stretch, hash) == 16 && offsetof(aside_stretch, change) == 24);
    CHECK(offsetof(aside_stretch, filter) == 28);
    if (sizeof(void *) == 8) {
        CHECK(sizeof(aside_scanner_options) == 56 && offsetof(aside_scanner_options, size) == 0
              && offsetof(aside_scanner_options, start) == 8);
        CHECK(offsetof(aside_scanner_options, stray_close) == 12 && offsetof(aside_scanner_options, collect) == 16);
        CHECK(offsetof(aside_scanner_options, budget) == 24 && offsetof(aside_scanner_options, has_budget) == 32);
        CHECK(offsetof(aside_scanner_options, budget_unit) == 36 && offsetof(aside_scanner_options, budget_scope) == 40);
        CHECK(offsetof(aside_scanner_options, calls) == 44);
        CHECK(offsetof(aside_scanner_options, calls_in_thinking) == 48);
        CHECK(offsetof(aside_scanner_options, reserved) == 52);
        CHECK(sizeof(aside_counts) == 40 && offsetof(aside_counts, size) == 0 && offsetof(aside_counts, bytes) == 8);
        CHECK(offsetof(aside_counts, characters) == 16 && offsetof(aside_counts, spans) == 24);
        CHECK(offsetof(aside_counts, tokens) == 32);
        CHECK(sizeof(aside_rewriter_options) == 96 && offsetof(aside_rewriter_options, size) == 0);
        CHECK(offsetof(aside_rewriter_options, start) == 8 && offsetof(aside_rewriter_options, field) == 12);
        CHECK(offsetof(aside_rewriter_options, body) == 16 && offsetof(aside_rewriter_options, off) == 20);
        CHECK(offsetof(aside_rewriter_options, max_event) == 24 && offsetof(aside_rewriter_options, stray_close) == 32);
        CHECK(offsetof(aside_rewriter_options, calls) == 36 && offsetof(aside_rewriter_options, tools) == 40);
        CHECK(offsetof(aside_rewriter_options, tools_len) == 48 && offsetof(aside_rewriter_options, max_held) == 56);
        CHECK(offsetof(aside_rewriter_options, calls_in_thinking) == 64 && offsetof(aside_rewriter_options, formats) == 68);
        CHECK(offsetof(aside_rewriter_options, responses_as) == 72 && offsetof(aside_rewriter_options, repair) == 76);
        CHECK(offsetof(aside_rewriter_options, promote_empty) == 80 && offsetof(aside_rewriter_options, merge) == 84);
        CHECK(offsetof(aside_rewriter_options, max_tools) == 88);
        CHECK(sizeof(aside_rewriter_stats) == 104 && offsetof(aside_rewriter_stats, size) == 0
              && offsetof(aside_rewriter_stats, events) == 8);
        CHECK(offsetof(aside_rewriter_stats, changed) == 16 && offsetof(aside_rewriter_stats, added) == 24);
        CHECK(offsetof(aside_rewriter_stats, repaired) == 32 && offsetof(aside_rewriter_stats, too_long) == 40);
        CHECK(offsetof(aside_rewriter_stats, unread) == 48 && offsetof(aside_rewriter_stats, unpromoted) == 56);
        CHECK(offsetof(aside_rewriter_stats, truncated) == 64 && offsetof(aside_rewriter_stats, thinking_bytes) == 72);
        CHECK(offsetof(aside_rewriter_stats, content_bytes) == 80 && offsetof(aside_rewriter_stats, held) == 88);
        CHECK(offsetof(aside_rewriter_stats, split_by_server) == 96);
        CHECK(sizeof(aside_call_writer_options) == 56 && offsetof(aside_call_writer_options, size) == 0);
        CHECK(offsetof(aside_call_writer_options, tools) == 8 && offsetof(aside_call_writer_options, tools_len) == 16);
        CHECK(offsetof(aside_call_writer_options, id_prefix) == 24);
        CHECK(offsetof(aside_call_writer_options, id_prefix_len) == 32);
        CHECK(offsetof(aside_call_writer_options, max_held) == 40);
        CHECK(offsetof(aside_call_writer_options, max_tools) == 48);
        CHECK(sizeof(aside_call_delta) == 104 && offsetof(aside_call_delta, size) == 0);
        CHECK(offsetof(aside_call_delta, call) == 8 && offsetof(aside_call_delta, index) == 16);
        CHECK(offsetof(aside_call_delta, id) == 24 && offsetof(aside_call_delta, id_len) == 32);
        CHECK(offsetof(aside_call_delta, name) == 40 && offsetof(aside_call_delta, name_len) == 48);
        CHECK(offsetof(aside_call_delta, arguments) == 56 && offsetof(aside_call_delta, arguments_len) == 64);
        CHECK(offsetof(aside_call_delta, late_id) == 72 && offsetof(aside_call_delta, late_id_len) == 80);
        CHECK(offsetof(aside_call_delta, is_first) == 88 && offsetof(aside_call_delta, is_last) == 92);
        CHECK(offsetof(aside_call_delta, cause) == 96 && offsetof(aside_call_delta, is_whole) == 100);
        CHECK(sizeof(aside_join_call) == 48 && offsetof(aside_join_call, name) == 0);
        CHECK(offsetof(aside_join_call, name_len) == 8 && offsetof(aside_join_call, arguments) == 16);
        CHECK(offsetof(aside_join_call, arguments_len) == 24 && offsetof(aside_join_call, id) == 32);
        CHECK(offsetof(aside_join_call, id_len) == 40);
        CHECK(sizeof(aside_fed) == 56 && offsetof(aside_fed, count) == 0 && offsetof(aside_fed, consumed) == 8);
        CHECK(offsetof(aside_fed, offset) == 16 && offsetof(aside_fed, held) == 24);
        CHECK(offsetof(aside_fed, held_len) == 32 && offsetof(aside_fed, attributes) == 40);
        CHECK(offsetof(aside_fed, attributes_len) == 48);
        CHECK(sizeof(aside_attribute) == 32 && offsetof(aside_attribute, name) == 0);
        CHECK(offsetof(aside_attribute, name_len) == 8 && offsetof(aside_attribute, value) == 16);
        CHECK(offsetof(aside_attribute, value_len) == 24);
        CHECK(sizeof(aside_thought) == 88 && offsetof(aside_thought, size) == 0 && offsetof(aside_thought, text) == 8);
        CHECK(offsetof(aside_thought, text_len) == 16 && offsetof(aside_thought, offset) == 24);
        CHECK(offsetof(aside_thought, cause) == 32 && offsetof(aside_thought, truncated) == 36);
        CHECK(offsetof(aside_thought, has_thought_type) == 40 && offsetof(aside_thought, has_confidence) == 44);
        CHECK(offsetof(aside_thought, thought_type) == 48 && offsetof(aside_thought, thought_type_len) == 56);
        CHECK(offsetof(aside_thought, confidence) == 64 && offsetof(aside_thought, attributes) == 72);
        CHECK(offsetof(aside_thought, attribute_count) == 80);
        CHECK(sizeof(aside_bytes) == 16 && offsetof(aside_bytes, at) == 0 && offsetof(aside_bytes, len) == 8);
        CHECK(sizeof(aside_filter) == 72 && offsetof(aside_filter, size) == 0 && offsetof(aside_filter, id) == 8);
        CHECK(offsetof(aside_filter, tool_ids) == 24 && offsetof(aside_filter, tool_id_count) == 32);
        CHECK(offsetof(aside_filter, matches) == 40 && offsetof(aside_filter, apply) == 48);
        CHECK(offsetof(aside_filter, release) == 56 && offsetof(aside_filter, user) == 64);
        CHECK(sizeof(aside_cache) == 80 && offsetof(aside_cache, size) == 0 && offsetof(aside_cache, id) == 8);
        CHECK(offsetof(aside_cache, tool_ids) == 24 && offsetof(aside_cache, tool_id_count) == 32);
        CHECK(offsetof(aside_cache, observe) == 40 && offsetof(aside_cache, lookup) == 48);
        CHECK(offsetof(aside_cache, record) == 56 && offsetof(aside_cache, release) == 64);
        CHECK(offsetof(aside_cache, user) == 72);
        CHECK(sizeof(aside_compressor_options) == 40 && offsetof(aside_compressor_options, size) == 0);
        CHECK(offsetof(aside_compressor_options, budget) == 8 && offsetof(aside_compressor_options, switch_off) == 16);
        CHECK(offsetof(aside_compressor_options, memory) == 32);
        CHECK(sizeof(aside_invocation) == 48 && offsetof(aside_invocation, size) == 0
              && offsetof(aside_invocation, tool_id) == 8);
        CHECK(offsetof(aside_invocation, input) == 24 && offsetof(aside_invocation, now) == 40);
        CHECK(sizeof(aside_failed) == 32 && offsetof(aside_failed, id) == 0 && offsetof(aside_failed, reason) == 16);
        CHECK(sizeof(aside_part_report) == 40 && offsetof(aside_part_report, part) == 0);
        CHECK(offsetof(aside_part_report, len) == 8 && offsetof(aside_part_report, hash) == 16);
        CHECK(offsetof(aside_part_report, stretches) == 24 && offsetof(aside_part_report, stretch_count) == 32);
        CHECK(sizeof(aside_report) == 96 && offsetof(aside_report, size) == 0 && offsetof(aside_report, before) == 8);
        CHECK(offsetof(aside_report, after) == 16 && offsetof(aside_report, filters) == 24);
        CHECK(offsetof(aside_report, filter_count) == 32 && offsetof(aside_report, failed) == 40);
        CHECK(offsetof(aside_report, failed_count) == 48 && offsetof(aside_report, parts) == 56);
        CHECK(offsetof(aside_report, part_count) == 64 && offsetof(aside_report, hit) == 72);
        CHECK(offsetof(aside_report, cut_protected) == 88 && offsetof(aside_report, unexplained) == 92);
        CHECK(sizeof(aside_command) == 56 && offsetof(aside_command, name) == 0);
        CHECK(offsetof(aside_command, subcommand) == 16 && offsetof(aside_command, words) == 32);
        CHECK(offsetof(aside_command, word_count) == 40 && offsetof(aside_command, prints) == 48);
        CHECK(offsetof(aside_command, piped) == 52);
    }

    CHECK(strcmp(aside_version(), ASIDE_VERSION) == 0);
    ASIDE_VERSION_SYMBOL();
    aside_version_0_1_0();
    CHECK(aside_abi_version() == ASIDE_ABI_VERSION);
    return 0;
}
