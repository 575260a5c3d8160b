# frozen_string_literal: true

# Generated from src/ffi by tests/header: do not edit.

module Aside
  module Native # :nodoc:
    # The values of a status.
    OK = 0
    STOPPED = 1
    MORE = 2
    NONE = 3
    ERROR_NULL = -1001
    ERROR_LENGTH = -1002
    ERROR_UNKNOWN = -1003
    ERROR_DIALECT = -1004
    ERROR_OPTION = -1005
    ERROR_SIZE = -1006
    ERROR_BUSY = -1007
    ERROR_ORDER = -1008
    ERROR_MEMORY = -1009
    ERROR_RANGE = -1010
    ERROR_PANIC = -1011
    ERROR_JOIN = -1012
    ERROR_FILTER = -1013
    ERROR_ORIGINAL = -1014
    ERROR_AMBIGUOUS = -1015

    # The kind of an event.
    KIND = [nil, :open, :attribute, :text, :framing, :close, :reclassify, :budget, :call, :call_name, :call_id,
            :call_key, :call_type, :call_value, :call_value_end, :call_end].freeze

    # The purpose of a stretch of a stream.
    CHANNEL = %i[content thinking narration tool].freeze

    # The kind of a part of an answer. Later versions may add kinds: ignore those that you do not know.
    PART_KIND = %i[thinking content call arguments call_end moved budget].freeze

    # The cause of the end of a span or a call.
    CAUSE = %i[marker implied end_of_stream forced malformed ended].freeze

    # The start of a stream.
    START = { nil => 0, content: 1, thinking: 2, narration: 3, tool: 4, header: 5, calls: 6 }.freeze

    # The treatment of a tool call that begins inside the thinking.
    CALLS_IN_THINKING = { dialect: 0, never: 1, always: 2 }.freeze

    # The treatment of a closer of the thinking without an opener, after content.
    STRAY_CLOSE = { dialect: 0, text: 1, drop: 2 }.freeze

    # The reason why a stream ends, as far as its host knows it.
    END_REASON = { unknown: 0, ended: 1, cut_off: 2 }.freeze

    # The part of a call that is sent before the call is whole.
    NOT_WHOLE = { tell: 0, hold: 1, text: 2 }.freeze

    # The treatment of a call of a tool that the request does not list.
    UNKNOWN_TOOL = { text: 0, drop: 1, tell: 2 }.freeze

    # The language of a grammar.
    GRAMMAR_FORMAT = { xgrammar: 0, lark: 1 }.freeze

    # Whether the end of a text that has ended by itself may end a call.
    IMPLIED_END = { on: 0, off: 1 }.freeze

    # The reading of a tag of another family, such as `<think>`, at the beginning of a stream, after blanks at most.
    LEADING_TAGS = { dialect: 0, text: 1 }.freeze

    # The unit of a budget.
    BUDGET_UNIT = { bytes: 0, characters: 1 }.freeze

    # The scope of a budget.
    BUDGET_SCOPE = { span: 0, stream: 1 }.freeze

    # The treatment of a part that contains a marker, in a join.
    MARKERS = { refuse: 0, escape: 1 }.freeze

    # The name of the field for the thinking.
    FIELD = { reasoning_content: 0, reasoning: 1, thinking: 2 }.freeze

    # The kind of body that is fed to a rewriter.
    BODY = { unknown: 0, events: 1, json: 2, lines: 3 }.freeze

    # A set of formats of answers, each with the end of its path.
    FORMATS = { chat: 1, completions: 2, responses: 4, messages: 8, ollama: 16, all: 2_147_483_647 }.freeze

    # A set of differences between the shapes of servers' answers, which a rewriter removes.
    SHAPES = { none: 0, field: 1, lists: 2, chunks: 4, content: 8, all: 2_147_483_647 }.freeze

    # Whether the thinking is sent.
    THINKING = { keep: 0, drop: 1, inline: 2 }.freeze

    # Whether a request says that the model should think.
    THINKS = { unknown: 0, on: 1, off: 2 }.freeze

    # The form of the thinking in the items of OpenAI Responses.
    RESPONSES_AS = { reasoning_text: 0, summary: 1 }.freeze

    # The treatment of comments in a stream of events, which servers send to keep a connection open.
    COMMENTS = { keep: 0, drop: 1, chunk: 2 }.freeze

    # The change that a host should make to a request.
    HINT = { identity: 1 }.freeze

    # The place of the thinking of an earlier turn in its message.
    HISTORY_NAME = { as_is: 0, reasoning_content: 1, reasoning: 2, thinking: 3, reasoning_details: 4, parts: 5,
                     reasoning_text: 6, summary: 7, text: 8 }.freeze

    # The turns whose thinking stays in a request.
    HISTORY_TURNS = { all: 0, since_user: 1, none: 2 }.freeze

    # The change to an assistant message without thinking.
    HISTORY_MISSING = { leave: 0, empty: 1, remove: 2 }.freeze

    # The treatment of blocks and items that a rewriter made, and the server did not.
    HISTORY_MADE = { keep: 0, remove: 1 }.freeze

    # Whether the body of a request was read, or why it was returned unchanged.
    HISTORY_OUTCOME = { read: 0, too_long: 1, not_utf8: 2, not_request: 3, repeated: 4, stored: 5 }.freeze

    # The change of a stretch.
    CHANGE = %i[kept replaced left_out].freeze

    NOT_TEXT = -1
    ABI_VERSION = 1
    NO_FILTER = -1

    # Each struct's size and the offsets of its fields; the format that packs it, in which a text or an array is a String, or
    # nil; and the one that unpacks it without its size and what is reserved, in which they are addresses.

    ANSWER_OPTIONS_SIZE = 152
    ANSWER_OPTIONS_AT = { size: 0, start: 8, stray_close: 12, calls_in_thinking: 16, leading_tags: 20, thinking: 24,
                          not_whole: 28, unknown_tool: 32, implied_end: 36, tools: 40, start_call: 56, id_prefix: 72,
                          max_tools: 88, max_held: 96, max_calls: 104, budget: 112, budget_unit: 120, budget_scope: 124,
                          repair_arguments: 128, promote_empty: 132, keep_guessed: 136, may_take_back: 140,
                          inline_calls: 144, reserved: 148 }.freeze
    ANSWER_OPTIONS_PACK = "JL8pJpJpJQ4L8"

    PART_SIZE = 72
    PART_AT = { kind: 0, cause: 4, from: 8, to: 12, is_made: 16, is_whole: 20, is_repaired: 24, reserved: 28, index: 32,
                text: 40, id: 56 }.freeze
    PART_UNPACK = "L7x4QJ4"

    BYTES_SIZE = 16
    BYTES_AT = { at: 0, len: 8 }.freeze
    BYTES_PACK = "pJ"
    BYTES_UNPACK = "J2"

    TEMPLATE_MATCH_SIZE = 40
    TEMPLATE_MATCH_AT = { size: 0, dialects: 8, capacity: 16, count: 24, start: 32, reserved: 36 }.freeze
    TEMPLATE_MATCH_PACK = "JpJ2L2"
    TEMPLATE_MATCH_UNPACK = "x8J3Lx4"

    EXCHANGE_SIZE = 80
    EXCHANGE_AT = { size: 0, status: 8, formats: 12, method: 16, path: 32, content_type: 48, content_encoding: 64 }.freeze
    EXCHANGE_PACK = "JL2pJpJpJpJ"

    REQUEST_SIZE = 32
    REQUEST_AT = { size: 0, thinks: 8, thinking: 12, tools: 16 }.freeze
    REQUEST_UNPACK = "x8L2J2"

    HISTORY_OPTIONS_SIZE = 48
    HISTORY_OPTIONS_AT = { size: 0, dialect: 8, max_body: 16, format: 24, name: 28, turns: 32, missing: 36, made: 40,
                           reserved: 44 }.freeze
    HISTORY_OPTIONS_PACK = "J2QL6"
    HISTORY_OPTIONS_UNPACK = "x8JQL5x4"

    HISTORY_REPORT_SIZE = 40
    HISTORY_REPORT_AT = { size: 0, changed: 8, refused: 16, unread: 24, outcome: 32, thinking_off: 36 }.freeze
    HISTORY_REPORT_UNPACK = "x8Q3L2"

    REWRITER_OPTIONS_SIZE = 72
    REWRITER_OPTIONS_AT = { size: 0, answer: 8, field: 16, body: 20, off: 24, calls: 28, max_event: 32, formats: 40,
                            responses_as: 44, repair: 48, merge: 52, normalise: 56, label: 60, comments: 64,
                            reserved: 68 }.freeze
    REWRITER_OPTIONS_PACK = "JpL4QL8"

    REWRITER_STATS_SIZE = 128
    REWRITER_STATS_AT = { size: 0, events: 8, changed: 16, added: 24, repaired: 32, too_long: 40, unread: 48,
                          unpromoted: 56, truncated: 64, thinking_bytes: 72, content_bytes: 80, held: 88,
                          split_by_server: 96, encoded: 104, reserved: 108, calls: 112, contradicted: 120 }.freeze
    REWRITER_STATS_UNPACK = "x8Q12Lx4Q2"

    JOIN_CALL_SIZE = 48
    JOIN_CALL_AT = { name: 0, arguments: 16, id: 32 }.freeze
    JOIN_CALL_PACK = "pJpJpJ"

    JOIN_OPTIONS_SIZE = 72
    JOIN_OPTIONS_AT = { size: 0, thinking: 8, content: 24, calls: 40, call_count: 48, call_size: 56, start: 64,
                        markers: 68 }.freeze
    JOIN_OPTIONS_PACK = "JpJpJpJ2L2"

    COMPRESSOR_OPTIONS_SIZE = 72
    COMPRESSOR_OPTIONS_AT = { size: 0, budget: 8, switch_off: 16, memory: 32, budget_tokens: 40, count: 48, release: 56,
                              user: 64 }.freeze
    COMPRESSOR_OPTIONS_PACK = "JQpJQ2J3"

    FILTER_SIZE = 72
    FILTER_AT = { size: 0, id: 8, tool_ids: 24, tool_id_count: 32, matches: 40, apply: 48, release: 56, user: 64 }.freeze
    FILTER_PACK = "JpJpJ5"

    CACHE_SIZE = 80
    CACHE_AT = { size: 0, id: 8, tool_ids: 24, tool_id_count: 32, observe: 40, lookup: 48, record: 56, release: 64,
                 user: 72 }.freeze
    CACHE_PACK = "JpJpJ6"

    INVOCATION_SIZE = 48
    INVOCATION_AT = { size: 0, tool_id: 8, input: 24, now: 40 }.freeze
    INVOCATION_PACK = "JpJpJQ"
    INVOCATION_UNPACK = "x8J4Q"

    STRETCH_SIZE = 40
    STRETCH_AT = { size: 0, start: 8, len: 16, hash: 24, change: 32, filter: 36 }.freeze
    STRETCH_UNPACK = "x8Q3Ll"

    PART_REPORT_SIZE = 40
    PART_REPORT_AT = { size: 0, part: 8, len: 16, hash: 24, stretch_count: 32 }.freeze
    PART_REPORT_UNPACK = "x8JQ2J"

    FAILED_SIZE = 40
    FAILED_AT = { size: 0, id: 8, reason: 24 }.freeze
    FAILED_UNPACK = "x8J4"

    REPORT_SIZE = 96
    REPORT_AT = { size: 0, before: 8, after: 16, before_units: 24, after_units: 32, filters: 40, filter_count: 48,
                  failed_count: 56, part_count: 64, hit: 72, cut_protected: 88, unexplained: 92 }.freeze
    REPORT_UNPACK = "x8Q4J6L2"

    EVENT_ARRAY_SIZE = 88
    EVENT_ARRAY_AT = { size: 0, events: 8, event_size: 16, capacity: 24, count: 32, consumed: 40, offset: 48, held: 56,
                       attributes: 72 }.freeze
    EVENT_ARRAY_PACK = "JpJ4QpJpJ"
    EVENT_ARRAY_UNPACK = "x8J5QJ4"
    EVENT_ARRAY_COUNT_OFFSET = "@32J@48Q"
    EVENT_ARRAY_CONSUMED = "@40J"
    EVENT_ARRAY_HELD = "@56J2"
    EVENT_ARRAY_ATTRIBUTES = "@72J2"

    EVENT_SIZE = 80
    EVENT_AT = { kind: 0, channel: 4, cause: 8, rule: 12, offset: 16, len: 24, tag: 32, text_at: 36, name_len: 40,
                 value_len: 44, raw_name_at: 48, raw_name_len: 52, raw_value_at: 56, raw_value_len: 60, call: 64,
                 tokens: 68, first_token: 72 }.freeze
    EVENT_UNPACK = "L4Q2L10Q"
    EVENT_TEXT = "L2x8Q2x48"
    EVENT_RULE_TAG_CALL = "Lx16Lx28L"
    EVENT_NAME_VALUE = "L3"
    EVENT_TOKENS = "LQ"

    SCANNER_OPTIONS_SIZE = 56
    SCANNER_OPTIONS_AT = { size: 0, start: 8, stray_close: 12, collect: 16, budget: 24, has_budget: 32, budget_unit: 36,
                           budget_scope: 40, calls: 44, calls_in_thinking: 48, leading_tags: 52 }.freeze
    SCANNER_OPTIONS_PACK = "JL2Q2L6"

    COUNTS_SIZE = 48
    COUNTS_AT = { size: 0, bytes: 8, characters: 16, spans: 24, tokens: 32, lost_thoughts: 40 }.freeze
    COUNTS_UNPACK = "x8Q5"

    THOUGHT_SIZE = 80
    THOUGHT_AT = { size: 0, text: 8, offset: 24, cause: 32, truncated: 36, has_thought_type: 40, has_confidence: 44,
                   thought_type: 48, confidence: 64, attribute_count: 72 }.freeze
    THOUGHT_UNPACK = "x8J2QL4J2dJ"

    ATTRIBUTE_SIZE = 40
    ATTRIBUTE_AT = { size: 0, name: 8, value: 24 }.freeze
    ATTRIBUTE_UNPACK = "x8J4"

    TOKEN_SIZE = 8
    TOKEN_AT = { len: 0, special: 4 }.freeze
    TOKEN_PACK = "L2"

    # The options of a struct in their order, each with the kind of its value: the symbols of which it is one, an
    # Array with the symbols of which it is a set, or one of :flag, :count, :text, :zero and :struct, the bytes of another struct,
    # whose options are in a list.
    ANSWER_OPTIONS = { start: START, stray_close: STRAY_CLOSE, calls_in_thinking: CALLS_IN_THINKING,
                       leading_tags: LEADING_TAGS, thinking: THINKING, not_whole: NOT_WHOLE, unknown_tool: UNKNOWN_TOOL,
                       implied_end: IMPLIED_END, tools: :text, start_call: :text, id_prefix: :text, max_tools: :count,
                       max_held: :count, max_calls: :count, budget: :count, budget_unit: BUDGET_UNIT,
                       budget_scope: BUDGET_SCOPE, repair_arguments: :flag, promote_empty: :flag, keep_guessed: :flag,
                       may_take_back: :flag, inline_calls: :flag, reserved: :zero }.freeze

    REWRITER_OPTIONS = { answer: :struct, field: FIELD, body: BODY, off: :flag, calls: :flag, max_event: :count,
                         formats: [FORMATS].freeze, responses_as: RESPONSES_AS, repair: :flag, merge: :flag,
                         normalise: [SHAPES].freeze, label: :flag, comments: COMMENTS, reserved: :zero }.freeze
    REWRITER_OPTIONS_ANSWER = %i[start stray_close calls_in_thinking leading_tags thinking not_whole unknown_tool
                                 implied_end tools start_call max_tools max_held max_calls repair_arguments
                                 promote_empty keep_guessed].freeze

    # The parameters and the result of each function without a callback.
    FUNCTIONS = {
      aside_answer_new: [%i[address buffer_in], :address],
      aside_answer_free: [[:address], :void],
      aside_answer_start_from_prompt: [%i[address buffer_in size_t buffer_inout], :int32],
      aside_answer_use_tools: [%i[address buffer_in size_t], :int32],
      aside_answer_feed: [%i[address buffer_in size_t buffer_inout buffer_inout], :int32],
      aside_answer_feed_tokens: [%i[address buffer_in size_t buffer_in size_t buffer_inout buffer_inout], :int32],
      aside_answer_flush: [%i[address buffer_inout buffer_inout], :int32],
      aside_answer_force_close: [%i[address buffer_inout buffer_inout], :int32],
      aside_answer_finish: [%i[address uint32 buffer_inout buffer_inout], :int32],
      aside_answer_reset: [[:address], :int32],
      aside_answer_held: [[:address], :size_t],
      aside_answer_counts: [%i[address uint32 buffer_inout], :int32],
      aside_free: [[:address], :void],
      aside_dialect_find: [%i[buffer_in size_t], :address],
      aside_dialect_find_for_model: [%i[buffer_in size_t], :address],
      aside_dialect_find_for_template: [%i[buffer_in size_t buffer_inout], :address],
      aside_dialect_load: [%i[buffer_in size_t], :address],
      aside_dialect_from_response_template: [%i[buffer_in size_t], :address],
      aside_dialect_preload: [%i[buffer_in size_t], :int32],
      aside_dialect_free: [[:address], :void],
      aside_dialect_name: [%i[address buffer_inout], :address],
      aside_dialect_family: [%i[address uint32 buffer_inout], :address],
      aside_dialect_opener: [%i[address uint32 uint32 buffer_inout], :address],
      aside_dialect_max_hold: [[:address], :size_t],
      aside_dialect_start: [[:address], :uint32],
      aside_dialect_name_at: [%i[size_t buffer_inout], :address],
      aside_rewriter_wants: [%i[buffer_in buffer_inout], :int32],
      aside_request_hint: [%i[buffer_in buffer_inout], :int32],
      aside_request_model: [%i[buffer_in size_t buffer_inout size_t buffer_inout], :int32],
      aside_request_read: [%i[buffer_in buffer_in size_t buffer_inout], :int32],
      aside_dialect_grammar: [%i[address uint32 buffer_in size_t buffer_in size_t uint32 buffer_inout], :address],
      aside_history_rewrite: [%i[buffer_in buffer_in size_t buffer_inout buffer_inout], :address],
      aside_history_format: [%i[buffer_in size_t buffer_inout], :int32],
      aside_history_server_find: [%i[buffer_in size_t uint32 buffer_inout], :int32],
      aside_history_server_load: [%i[buffer_in size_t uint32 buffer_inout], :int32],
      aside_history_server_name_at: [%i[size_t buffer_inout], :address],
      aside_rewriter_new: [%i[address buffer_in], :address],
      aside_rewriter_free: [[:address], :void],
      aside_rewriter_use_dialect: [%i[address address uint32], :int32],
      aside_rewriter_use_tools: [%i[address buffer_in size_t], :int32],
      aside_rewriter_start_from_prompt: [%i[address buffer_in size_t buffer_inout], :int32],
      aside_rewriter_feed: [%i[address buffer_in size_t buffer_inout], :int32],
      aside_rewriter_finish: [%i[address buffer_inout], :int32],
      aside_rewriter_reset: [[:address], :int32],
      aside_rewriter_get_stats: [%i[address buffer_inout], :int32],
      aside_strip: [%i[address buffer_in size_t buffer_inout], :address],
      aside_join: [%i[address buffer_in buffer_inout], :address],
      aside_escape: [%i[address buffer_in size_t buffer_inout], :address],
      aside_last_error: [[], :string],
      aside_last_status: [[], :int32],
      aside_status_text: [[:int32], :string],
      aside_version: [[], :string],
      aside_abi_version: [[], :uint32],
      aside_unstable_version: [[], :uint32],
      aside_compressor_new: [%i[address buffer_in], :address],
      aside_compressor_free: [[:address], :void],
      aside_compress: [%i[address buffer_in buffer_in size_t], :address],
      aside_compressed_part: [%i[address size_t buffer_inout], :int32],
      aside_compressed_report: [%i[address buffer_inout], :int32],
      aside_compressed_failed: [%i[address size_t buffer_inout], :int32],
      aside_compressed_part_report: [%i[address size_t buffer_inout], :int32],
      aside_compressed_stretch: [%i[address size_t size_t buffer_inout], :int32],
      aside_compressed_slice: [%i[address size_t buffer_in size_t uint64 uint64 buffer_inout], :int32],
      aside_compressed_free: [[:address], :void],
      aside_reply_write: [%i[address buffer_in size_t], :int32],
      aside_registry_new: [[:uint32], :address],
      aside_registry_free: [[:address], :void],
      aside_registry_add_toml: [%i[address buffer_in size_t], :int32],
      aside_registry_add_filter: [%i[address buffer_in], :int32],
      aside_registry_add_cache: [%i[address buffer_in], :int32],
      aside_registry_add_last_run: [%i[address size_t], :int32],
      aside_registry_minify_json: [[:address], :int32],
      aside_tool_stream_new: [%i[address buffer_in size_t], :address],
      aside_tool_stream_free: [[:address], :void],
      aside_tool_stream_feed: [%i[address buffer_in size_t buffer_inout], :int32],
      aside_tool_stream_set_exit_code: [%i[address int64], :int32],
      aside_tool_stream_finish: [%i[address buffer_inout], :int32],
      aside_tool_stream_report: [[:address], :address],
      aside_scanner_feed_into: [%i[address buffer_in size_t buffer_inout], :int32],
      aside_scanner_finish_into: [%i[address buffer_inout], :int32],
      aside_scanner_flush_into: [%i[address buffer_inout], :int32],
      aside_scanner_feed_tokens_into: [%i[address buffer_in size_t buffer_in size_t buffer_inout], :int32],
      aside_scanner_force_close_into: [%i[address buffer_inout], :int32],
      aside_scanner_new: [%i[address buffer_in], :address],
      aside_scanner_clone: [[:address], :address],
      aside_scanner_free: [[:address], :void],
      aside_scanner_start_from_prompt: [%i[address buffer_in size_t buffer_inout], :int32],
      aside_scanner_start: [%i[address buffer_inout buffer_inout], :int32],
      aside_scanner_end_reason: [%i[address uint32], :int32],
      aside_scanner_reset: [[:address], :int32],
      aside_scanner_consumed: [[:address], :size_t],
      aside_scanner_held: [[:address], :size_t],
      aside_scanner_max_hold: [[:address], :size_t],
      aside_scanner_offset: [[:address], :uint64],
      aside_scanner_counts: [%i[address uint32 buffer_inout], :int32],
      aside_scanner_feed_text: [%i[address buffer_in size_t], :int32],
      aside_scanner_quiet: [%i[address buffer_inout], :int32],
      aside_scanner_skip: [%i[address uint64 uint32], :int32],
      aside_scanner_take_thought: [%i[address buffer_inout], :int32],
      aside_scanner_thought_attribute: [%i[address size_t buffer_inout], :int32]
    }.freeze
  end
end
