enum { ASIDE_ABI_VERSION = 1 };
const char *aside_version(void);
uint32_t aside_abi_version(void);
void aside_version_0_1_0(void);
enum {
    ASIDE_OK = 0,
    ASIDE_STOPPED = 1,
    ASIDE_MORE = 2,
    ASIDE_NONE = 3,
    ASIDE_ERROR_NULL = -1001,
    ASIDE_ERROR_LENGTH = -1002,
    ASIDE_ERROR_UNKNOWN = -1003,
    ASIDE_ERROR_DIALECT = -1004,
    ASIDE_ERROR_OPTION = -1005,
    ASIDE_ERROR_SIZE = -1006,
    ASIDE_ERROR_BUSY = -1007,
    ASIDE_ERROR_ORDER = -1008,
    ASIDE_ERROR_MEMORY = -1009,
    ASIDE_ERROR_RANGE = -1010,
    ASIDE_ERROR_PANIC = -1011,
    ASIDE_ERROR_JOIN = -1012,
    ASIDE_ERROR_FILTER = -1013,
    ASIDE_ERROR_ORIGINAL = -1014,
    ASIDE_ERROR_AMBIGUOUS = -1015,
};
typedef int32_t aside_status;
const char *aside_last_error(void);
aside_status aside_last_status(void);
const char *aside_status_text(aside_status status);
typedef struct aside_dialect aside_dialect;
typedef struct aside_scanner aside_scanner;
typedef struct aside_answer aside_answer;
typedef struct aside_rewriter aside_rewriter;
typedef struct aside_bytes {
    const char *at;
    size_t len;
} aside_bytes;
void aside_free(void *memory);
const struct aside_dialect *aside_dialect_find(const char *name, size_t len);
const struct aside_dialect *aside_dialect_find_for_model(const char *model, size_t len);
char *aside_strip(const struct aside_dialect *dialect, const char *text, size_t len, size_t *out_len);
typedef struct aside_join_call {
    struct aside_bytes name;
    struct aside_bytes arguments;
    struct aside_bytes id;
} aside_join_call;
enum {
    ASIDE_START_DEFAULT = 0,
    ASIDE_START_CONTENT = 1,
    ASIDE_START_THINKING = 2,
    ASIDE_START_NARRATION = 3,
    ASIDE_START_TOOL = 4,
    ASIDE_START_HEADER = 5,
    ASIDE_START_CALLS = 6,
};
typedef uint32_t aside_start;
enum {
    ASIDE_MARKERS_REFUSE = 0,
    ASIDE_MARKERS_ESCAPE = 1,
};
typedef uint32_t aside_markers;
typedef struct aside_join_options {
    size_t size;
    struct aside_bytes thinking;
    struct aside_bytes content;
    const struct aside_join_call *calls;
    size_t call_count;
    size_t call_size;
    aside_start start;
    aside_markers markers;
} aside_join_options;
char *aside_join(const struct aside_dialect *dialect, const struct aside_join_options *options, size_t *out_len);
char *aside_escape(const struct aside_dialect *dialect, const char *text, size_t len, size_t *out_len);
typedef struct aside_template_match {
    size_t size;
    const struct aside_dialect **dialects;
    size_t capacity;
    size_t count;
    aside_start start;
    uint32_t reserved;
} aside_template_match;
const struct aside_dialect *aside_dialect_find_for_template(const char *text,
                                                            size_t len,
                                                            struct aside_template_match *found);
struct aside_dialect *aside_dialect_load(const char *toml, size_t len);
void aside_dialect_free(struct aside_dialect *dialect);
aside_status aside_dialect_preload(const char *names, size_t len);
const char *aside_dialect_name(const struct aside_dialect *dialect, size_t *len);
aside_start aside_dialect_start(const struct aside_dialect *dialect);
size_t aside_dialect_max_hold(const struct aside_dialect *dialect);
const char *aside_dialect_family(const struct aside_dialect *dialect, uint32_t rule, size_t *len);
const char *aside_dialect_opener(const struct aside_dialect *dialect, uint32_t rule, uint32_t tag, size_t *len);
const char *aside_dialect_name_at(size_t index, size_t *len);
enum {
    ASIDE_CALLS_IN_THINKING_DIALECT = 0,
    ASIDE_CALLS_IN_THINKING_NEVER = 1,
    ASIDE_CALLS_IN_THINKING_ALWAYS = 2,
};
typedef uint32_t aside_calls_in_thinking;
enum {
    ASIDE_STRAY_CLOSE_DIALECT = 0,
    ASIDE_STRAY_CLOSE_TEXT = 1,
    ASIDE_STRAY_CLOSE_DROP = 2,
};
typedef uint32_t aside_stray_close;
enum {
    ASIDE_LEADING_TAGS_DIALECT = 0,
    ASIDE_LEADING_TAGS_TEXT = 1,
};
typedef uint32_t aside_leading_tags;
enum {
    ASIDE_BUDGET_UNIT_BYTES = 0,
    ASIDE_BUDGET_UNIT_CHARACTERS = 1,
};
typedef uint32_t aside_budget_unit;
enum {
    ASIDE_BUDGET_SCOPE_SPAN = 0,
    ASIDE_BUDGET_SCOPE_STREAM = 1,
};
typedef uint32_t aside_budget_scope;
typedef struct aside_scanner_options {
    size_t size;
    aside_start start;
    aside_stray_close stray_close;
    uint64_t collect;
    uint64_t budget;
    uint32_t has_budget;
    aside_budget_unit budget_unit;
    aside_budget_scope budget_scope;
    uint32_t calls;
    aside_calls_in_thinking calls_in_thinking;
    aside_leading_tags leading_tags;
} aside_scanner_options;
struct aside_scanner *aside_scanner_new(const struct aside_dialect *dialect, const struct aside_scanner_options *options);
void aside_scanner_free(struct aside_scanner *scanner);
aside_status aside_scanner_start_from_prompt(struct aside_scanner *scanner,
                                             const char *tail,
                                             size_t len,
                                             aside_start *start);
aside_status aside_scanner_start(const struct aside_scanner *scanner, aside_start *start, uint32_t *is_guessed);
enum {
    ASIDE_END_REASON_UNKNOWN = 0,
    ASIDE_END_REASON_ENDED = 1,
    ASIDE_END_REASON_CUT_OFF = 2,
};
typedef uint32_t aside_end_reason;
aside_status aside_scanner_end_reason(struct aside_scanner *scanner, aside_end_reason reason);
enum {
    ASIDE_KIND_OPEN = 1,
    ASIDE_KIND_ATTRIBUTE = 2,
    ASIDE_KIND_TEXT = 3,
    ASIDE_KIND_FRAMING = 4,
    ASIDE_KIND_CLOSE = 5,
    ASIDE_KIND_RECLASSIFY = 6,
    ASIDE_KIND_BUDGET = 7,
    ASIDE_KIND_CALL = 8,
    ASIDE_KIND_CALL_NAME = 9,
    ASIDE_KIND_CALL_ID = 10,
    ASIDE_KIND_CALL_KEY = 11,
    ASIDE_KIND_CALL_TYPE = 12,
    ASIDE_KIND_CALL_VALUE = 13,
    ASIDE_KIND_CALL_VALUE_END = 14,
    ASIDE_KIND_CALL_END = 15,
};
typedef uint32_t aside_kind;
enum {
    ASIDE_CHANNEL_CONTENT = 0,
    ASIDE_CHANNEL_THINKING = 1,
    ASIDE_CHANNEL_NARRATION = 2,
    ASIDE_CHANNEL_TOOL = 3,
};
typedef uint32_t aside_channel;
enum {
    ASIDE_CAUSE_MARKER = 0,
    ASIDE_CAUSE_IMPLIED = 1,
    ASIDE_CAUSE_END_OF_STREAM = 2,
    ASIDE_CAUSE_FORCED = 3,
    ASIDE_CAUSE_MALFORMED = 4,
    ASIDE_CAUSE_ENDED = 5,
};
typedef uint32_t aside_cause;
typedef struct aside_event {
    aside_kind kind;
    aside_channel channel;
    aside_cause cause;
    uint32_t rule;
    uint64_t offset;
    uint64_t len;
    uint32_t tag;
    uint32_t text_at;
    uint32_t name_len;
    uint32_t value_len;
    uint32_t raw_name_at;
    uint32_t raw_name_len;
    uint32_t raw_value_at;
    uint32_t raw_value_len;
    uint32_t call;
    uint32_t tokens;
    uint64_t first_token;
} aside_event;
typedef int32_t (*aside_event_fn)(void *user, const struct aside_event *event, const char *bytes);
aside_status aside_scanner_feed(struct aside_scanner *scanner,
                                const char *buf,
                                size_t len,
                                aside_event_fn callback,
                                void *user);
aside_status aside_scanner_finish(struct aside_scanner *scanner, aside_event_fn callback, void *user);
aside_status aside_scanner_flush(struct aside_scanner *scanner, aside_event_fn callback, void *user);
aside_status aside_scanner_force_close(struct aside_scanner *scanner, aside_event_fn callback, void *user);
typedef struct aside_token {
    uint32_t len;
    uint32_t special;
} aside_token;
aside_status aside_scanner_feed_tokens(struct aside_scanner *scanner,
                                       const char *buf,
                                       size_t len,
                                       const struct aside_token *tokens,
                                       size_t count,
                                       aside_event_fn callback,
                                       void *user);
aside_status aside_scanner_reset(struct aside_scanner *scanner);
struct aside_scanner *aside_scanner_clone(const struct aside_scanner *scanner);
size_t aside_scanner_consumed(const struct aside_scanner *scanner);
size_t aside_scanner_held(const struct aside_scanner *scanner);
size_t aside_scanner_max_hold(const struct aside_scanner *scanner);
uint64_t aside_scanner_offset(const struct aside_scanner *scanner);
typedef struct aside_counts {
    size_t size;
    uint64_t bytes;
    uint64_t characters;
    uint64_t spans;
    uint64_t tokens;
    uint64_t lost_thoughts;
} aside_counts;
aside_status aside_scanner_counts(const struct aside_scanner *scanner, aside_channel channel, struct aside_counts *counts);
typedef struct aside_thought {
    size_t size;
    struct aside_bytes text;
    uint64_t offset;
    aside_cause cause;
    uint32_t truncated;
    uint32_t has_thought_type;
    uint32_t has_confidence;
    struct aside_bytes thought_type;
    double confidence;
    size_t attribute_count;
} aside_thought;
aside_status aside_scanner_take_thought(struct aside_scanner *scanner, struct aside_thought *thought);
typedef struct aside_attribute {
    size_t size;
    struct aside_bytes name;
    struct aside_bytes value;
} aside_attribute;
aside_status aside_scanner_thought_attribute(const struct aside_scanner *scanner,
                                             size_t index,
                                             struct aside_attribute *attribute);
enum {
    ASIDE_NOT_WHOLE_TELL = 0,
    ASIDE_NOT_WHOLE_HOLD = 1,
    ASIDE_NOT_WHOLE_TEXT = 2,
};
typedef uint32_t aside_not_whole;
enum {
    ASIDE_UNKNOWN_TOOL_TEXT = 0,
    ASIDE_UNKNOWN_TOOL_DROP = 1,
    ASIDE_UNKNOWN_TOOL_TELL = 2,
};
typedef uint32_t aside_unknown_tool;
enum {
    ASIDE_IMPLIED_END_ON = 0,
    ASIDE_IMPLIED_END_OFF = 1,
};
typedef uint32_t aside_implied_end;
enum {
    ASIDE_THINKING_KEEP = 0,
    ASIDE_THINKING_DROP = 1,
    ASIDE_THINKING_INLINE = 2,
};
typedef uint32_t aside_thinking;
typedef struct aside_answer_options {
    size_t size;
    aside_start start;
    aside_stray_close stray_close;
    aside_calls_in_thinking calls_in_thinking;
    aside_leading_tags leading_tags;
    aside_thinking thinking;
    aside_not_whole not_whole;
    aside_unknown_tool unknown_tool;
    aside_implied_end implied_end;
    struct aside_bytes tools;
    struct aside_bytes start_call;
    struct aside_bytes id_prefix;
    uint64_t max_tools;
    uint64_t max_held;
    uint64_t max_calls;
    uint64_t budget;
    aside_budget_unit budget_unit;
    aside_budget_scope budget_scope;
    uint32_t repair_arguments;
    uint32_t promote_empty;
    uint32_t keep_guessed;
    uint32_t may_take_back;
    uint32_t inline_calls;
    uint32_t reserved;
} aside_answer_options;
enum {
    ASIDE_PART_KIND_THINKING = 0,
    ASIDE_PART_KIND_CONTENT = 1,
    ASIDE_PART_KIND_CALL = 2,
    ASIDE_PART_KIND_ARGUMENTS = 3,
    ASIDE_PART_KIND_CALL_END = 4,
    ASIDE_PART_KIND_MOVED = 5,
    ASIDE_PART_KIND_BUDGET = 6,
};
typedef uint32_t aside_part_kind;
typedef struct aside_part {
    aside_part_kind kind;
    aside_cause cause;
    aside_channel from;
    aside_channel to;
    uint32_t is_made;
    uint32_t is_whole;
    uint32_t is_repaired;
    uint32_t reserved;
    uint64_t index;
    struct aside_bytes text;
    struct aside_bytes id;
} aside_part;
struct aside_answer *aside_answer_new(const struct aside_dialect *dialect, const struct aside_answer_options *options);
void aside_answer_free(struct aside_answer *answer);
aside_status aside_answer_start_from_prompt(struct aside_answer *answer, const char *tail, size_t len, aside_start *start);
aside_status aside_answer_use_tools(struct aside_answer *answer, const char *tools, size_t len);
aside_status aside_answer_feed(struct aside_answer *answer,
                               const char *buf,
                               size_t len,
                               const struct aside_part **parts,
                               size_t *count);
aside_status aside_answer_feed_tokens(struct aside_answer *answer,
                                      const char *buf,
                                      size_t len,
                                      const struct aside_token *tokens,
                                      size_t token_count,
                                      const struct aside_part **parts,
                                      size_t *count);
aside_status aside_answer_flush(struct aside_answer *answer, const struct aside_part **parts, size_t *count);
aside_status aside_answer_force_close(struct aside_answer *answer, const struct aside_part **parts, size_t *count);
aside_status aside_answer_finish(struct aside_answer *answer,
                                 aside_end_reason reason,
                                 const struct aside_part **parts,
                                 size_t *count);
aside_status aside_answer_reset(struct aside_answer *answer);
size_t aside_answer_held(const struct aside_answer *answer);
aside_status aside_answer_counts(const struct aside_answer *answer, aside_channel channel, struct aside_counts *counts);
enum {
    ASIDE_FIELD_REASONING_CONTENT = 0,
    ASIDE_FIELD_REASONING = 1,
    ASIDE_FIELD_THINKING = 2,
};
typedef uint32_t aside_field;
enum {
    ASIDE_BODY_UNKNOWN = 0,
    ASIDE_BODY_EVENTS = 1,
    ASIDE_BODY_JSON = 2,
    ASIDE_BODY_LINES = 3,
};
typedef uint32_t aside_body;
enum {
    ASIDE_FORMAT_CHAT = 1,
    ASIDE_FORMAT_COMPLETIONS = 2,
    ASIDE_FORMAT_RESPONSES = 4,
    ASIDE_FORMAT_MESSAGES = 8,
    ASIDE_FORMAT_OLLAMA = 16,
    ASIDE_FORMAT_ALL = 2147483647,
};
typedef uint32_t aside_formats;
enum {
    ASIDE_SHAPE_NONE = 0,
    ASIDE_SHAPE_FIELD = 1,
    ASIDE_SHAPE_LISTS = 2,
    ASIDE_SHAPE_CHUNKS = 4,
    ASIDE_SHAPE_CONTENT = 8,
    ASIDE_SHAPE_ALL = 2147483647,
};
typedef uint32_t aside_shapes;
enum {
    ASIDE_RESPONSES_AS_REASONING_TEXT = 0,
    ASIDE_RESPONSES_AS_SUMMARY = 1,
};
typedef uint32_t aside_responses_as;
enum {
    ASIDE_COMMENTS_KEEP = 0,
    ASIDE_COMMENTS_DROP = 1,
    ASIDE_COMMENTS_CHUNK = 2,
};
typedef uint32_t aside_comments;
typedef struct aside_rewriter_options {
    size_t size;
    const struct aside_answer_options *answer;
    aside_field field;
    aside_body body;
    uint32_t off;
    uint32_t calls;
    uint64_t max_event;
    aside_formats formats;
    aside_responses_as responses_as;
    uint32_t repair;
    uint32_t merge;
    aside_shapes normalise;
    uint32_t label;
    aside_comments comments;
    uint32_t reserved;
} aside_rewriter_options;
struct aside_rewriter *aside_rewriter_new(const struct aside_dialect *dialect, const struct aside_rewriter_options *options);
void aside_rewriter_free(struct aside_rewriter *rewriter);
aside_status aside_rewriter_use_dialect(struct aside_rewriter *rewriter,
                                        const struct aside_dialect *dialect,
                                        aside_start start);
aside_status aside_rewriter_use_tools(struct aside_rewriter *rewriter, const char *tools, size_t len);
aside_status aside_rewriter_start_from_prompt(struct aside_rewriter *rewriter,
                                              const char *tail,
                                              size_t len,
                                              aside_start *start);
aside_status aside_rewriter_feed(struct aside_rewriter *rewriter, const char *buf, size_t len, struct aside_bytes *out);
aside_status aside_rewriter_finish(struct aside_rewriter *rewriter, struct aside_bytes *out);
aside_status aside_rewriter_reset(struct aside_rewriter *rewriter);
typedef struct aside_rewriter_stats {
    size_t size;
    uint64_t events;
    uint64_t changed;
    uint64_t added;
    uint64_t repaired;
    uint64_t too_long;
    uint64_t unread;
    uint64_t unpromoted;
    uint64_t truncated;
    uint64_t thinking_bytes;
    uint64_t content_bytes;
    uint64_t held;
    uint64_t split_by_server;
    uint32_t encoded;
    uint32_t reserved;
    uint64_t calls;
    uint64_t contradicted;
} aside_rewriter_stats;
aside_status aside_rewriter_get_stats(const struct aside_rewriter *rewriter, struct aside_rewriter_stats *stats);
typedef struct aside_exchange {
    size_t size;
    uint32_t status;
    aside_formats formats;
    struct aside_bytes method;
    struct aside_bytes path;
    struct aside_bytes content_type;
    struct aside_bytes content_encoding;
} aside_exchange;
aside_status aside_rewriter_wants(const struct aside_exchange *exchange, aside_body *body);
enum {
    ASIDE_HINT_IDENTITY = 1,
};
typedef uint32_t aside_hint;
aside_status aside_request_hint(const struct aside_exchange *exchange, aside_hint *hint);
aside_status aside_request_model(const char *body, size_t len, char *model, size_t room, size_t *model_len);
typedef struct aside_event_array {
    size_t size;
    struct aside_event *events;
    size_t event_size;
    size_t capacity;
    size_t count;
    size_t consumed;
    uint64_t offset;
    struct aside_bytes held;
    struct aside_bytes attributes;
} aside_event_array;
aside_status aside_scanner_feed_into(struct aside_scanner *scanner,
                                     const char *buf,
                                     size_t len,
                                     struct aside_event_array *array);
aside_status aside_scanner_finish_into(struct aside_scanner *scanner, struct aside_event_array *array);
aside_status aside_scanner_flush_into(struct aside_scanner *scanner, struct aside_event_array *array);
aside_status aside_scanner_feed_tokens_into(struct aside_scanner *scanner,
                                            const char *buf,
                                            size_t len,
                                            const struct aside_token *tokens,
                                            size_t count,
                                            struct aside_event_array *array);
aside_status aside_scanner_force_close_into(struct aside_scanner *scanner, struct aside_event_array *array);
enum { ASIDE_NOT_TEXT = -1 };
int32_t aside_scanner_feed_text(struct aside_scanner *scanner, const char *buf, size_t len);
typedef struct aside_registry aside_registry;
typedef struct aside_compressor aside_compressor;
typedef struct aside_compressed aside_compressed;
typedef struct aside_tool_stream aside_tool_stream;
typedef struct aside_reply aside_reply;
typedef struct aside_invocation {
    size_t size;
    struct aside_bytes tool_id;
    struct aside_bytes input;
    uint64_t now;
} aside_invocation;
struct aside_registry *aside_registry_new(uint32_t built_in);
void aside_registry_free(struct aside_registry *registry);
aside_status aside_registry_add_toml(struct aside_registry *registry, const char *toml, size_t len);
typedef int32_t (*aside_matches_fn)(void *user, const struct aside_invocation *invocation, struct aside_reply *reply);
typedef int32_t (*aside_apply_fn)(void *user,
                                  const struct aside_invocation *invocation,
                                  const char *text,
                                  size_t text_len,
                                  struct aside_reply *reply);
typedef void (*aside_release_fn)(void *user);
typedef struct aside_filter {
    size_t size;
    struct aside_bytes id;
    const struct aside_bytes *tool_ids;
    size_t tool_id_count;
    aside_matches_fn matches;
    aside_apply_fn apply;
    aside_release_fn release;
    void *user;
} aside_filter;
aside_status aside_registry_add_filter(struct aside_registry *registry, const struct aside_filter *filter);
aside_status aside_reply_write(struct aside_reply *reply, const char *buf, size_t len);
typedef int64_t (*aside_count_fn)(void *user, const char *text, size_t text_len, struct aside_reply *reply);
typedef struct aside_compressor_options {
    size_t size;
    uint64_t budget;
    struct aside_bytes switch_off;
    uint64_t memory;
    uint64_t budget_tokens;
    aside_count_fn count;
    aside_release_fn release;
    void *user;
} aside_compressor_options;
struct aside_compressor *aside_compressor_new(const struct aside_registry *registry,
                                              const struct aside_compressor_options *options);
void aside_compressor_free(struct aside_compressor *compressor);
struct aside_compressed *aside_compress(const struct aside_compressor *compressor,
                                        const struct aside_invocation *invocation,
                                        const struct aside_bytes *parts,
                                        size_t count);
aside_status aside_compressed_part(const struct aside_compressed *compressed, size_t index, struct aside_bytes *text);
typedef struct aside_report {
    size_t size;
    uint64_t before;
    uint64_t after;
    uint64_t before_units;
    uint64_t after_units;
    const struct aside_bytes *filters;
    size_t filter_count;
    size_t failed_count;
    size_t part_count;
    struct aside_bytes hit;
    uint32_t cut_protected;
    uint32_t unexplained;
} aside_report;
aside_status aside_compressed_report(const struct aside_compressed *compressed, struct aside_report *report);
void aside_compressed_free(struct aside_compressed *compressed);
struct aside_tool_stream *aside_tool_stream_new(const struct aside_compressor *compressor,
                                                const struct aside_invocation *invocation,
                                                size_t memory);
void aside_tool_stream_free(struct aside_tool_stream *stream);
aside_status aside_tool_stream_feed(struct aside_tool_stream *stream, const char *buf, size_t len, struct aside_bytes *out);
aside_status aside_tool_stream_set_exit_code(struct aside_tool_stream *stream, int64_t code);
aside_status aside_tool_stream_finish(struct aside_tool_stream *stream, struct aside_bytes *out);
struct aside_compressed *aside_tool_stream_report(struct aside_tool_stream *stream);
