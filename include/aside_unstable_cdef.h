uint32_t aside_unstable_version(void);
struct aside_dialect *aside_dialect_from_response_template(const char *json, size_t len);
enum {
    ASIDE_GRAMMAR_FORMAT_XGRAMMAR = 0,
    ASIDE_GRAMMAR_FORMAT_LARK = 1,
};
typedef uint32_t aside_grammar_format;
char *aside_dialect_grammar(const struct aside_dialect *dialect,
                            aside_grammar_format format,
                            const char *tools,
                            size_t tools_len,
                            const char *choice,
                            size_t choice_len,
                            aside_start start,
                            size_t *out_len);
int32_t aside_scanner_quiet(const struct aside_scanner *scanner, uint64_t *bytes);
aside_status aside_scanner_skip(struct aside_scanner *scanner, uint64_t len, uint32_t last);
enum {
    ASIDE_THINKS_UNKNOWN = 0,
    ASIDE_THINKS_ON = 1,
    ASIDE_THINKS_OFF = 2,
};
typedef uint32_t aside_thinks;
typedef struct aside_request {
    size_t size;
    aside_thinks thinks;
    aside_thinking thinking;
    struct aside_bytes tools;
} aside_request;
aside_status aside_request_read(const struct aside_exchange *exchange,
                                const char *body,
                                size_t len,
                                struct aside_request *request);
enum {
    ASIDE_HISTORY_NAME_AS_IS = 0,
    ASIDE_HISTORY_NAME_REASONING_CONTENT = 1,
    ASIDE_HISTORY_NAME_REASONING = 2,
    ASIDE_HISTORY_NAME_THINKING = 3,
    ASIDE_HISTORY_NAME_REASONING_DETAILS = 4,
    ASIDE_HISTORY_NAME_PARTS = 5,
    ASIDE_HISTORY_NAME_REASONING_TEXT = 6,
    ASIDE_HISTORY_NAME_SUMMARY = 7,
    ASIDE_HISTORY_NAME_TEXT = 8,
};
typedef uint32_t aside_history_name;
enum {
    ASIDE_HISTORY_TURNS_ALL = 0,
    ASIDE_HISTORY_TURNS_SINCE_USER = 1,
    ASIDE_HISTORY_TURNS_NONE = 2,
};
typedef uint32_t aside_history_turns;
enum {
    ASIDE_HISTORY_MISSING_LEAVE = 0,
    ASIDE_HISTORY_MISSING_EMPTY = 1,
    ASIDE_HISTORY_MISSING_REMOVE = 2,
};
typedef uint32_t aside_history_missing;
enum {
    ASIDE_HISTORY_MADE_KEEP = 0,
    ASIDE_HISTORY_MADE_REMOVE = 1,
};
typedef uint32_t aside_history_made;
typedef struct aside_history_options {
    size_t size;
    const struct aside_dialect *dialect;
    uint64_t max_body;
    aside_formats format;
    aside_history_name name;
    aside_history_turns turns;
    aside_history_missing missing;
    aside_history_made made;
    uint32_t reserved;
} aside_history_options;
enum {
    ASIDE_HISTORY_OUTCOME_READ = 0,
    ASIDE_HISTORY_OUTCOME_TOO_LONG = 1,
    ASIDE_HISTORY_OUTCOME_NOT_UTF8 = 2,
    ASIDE_HISTORY_OUTCOME_NOT_REQUEST = 3,
    ASIDE_HISTORY_OUTCOME_REPEATED = 4,
    ASIDE_HISTORY_OUTCOME_STORED = 5,
};
typedef uint32_t aside_history_outcome;
typedef struct aside_history_report {
    size_t size;
    uint64_t changed;
    uint64_t refused;
    uint64_t unread;
    aside_history_outcome outcome;
    uint32_t thinking_off;
} aside_history_report;
aside_status aside_history_format(const char *path, size_t len, aside_formats *format);
aside_status aside_history_server_find(const char *name,
                                       size_t len,
                                       aside_formats format,
                                       struct aside_history_options *options);
aside_status aside_history_server_load(const char *toml,
                                       size_t len,
                                       aside_formats format,
                                       struct aside_history_options *options);
const char *aside_history_server_name_at(size_t index, size_t *len);
char *aside_history_rewrite(const struct aside_history_options *options,
                            const char *body,
                            size_t len,
                            struct aside_history_report *report,
                            size_t *out_len);
typedef int32_t (*aside_observe_fn)(void *user, const struct aside_invocation *invocation, struct aside_reply *reply);
typedef int32_t (*aside_lookup_fn)(void *user,
                                   const struct aside_invocation *invocation,
                                   struct aside_reply *reply,
                                   uint64_t *timestamp);
typedef int32_t (*aside_record_fn)(void *user,
                                   const struct aside_invocation *invocation,
                                   const char *text,
                                   size_t text_len,
                                   struct aside_reply *reply);
typedef struct aside_cache {
    size_t size;
    struct aside_bytes id;
    const struct aside_bytes *tool_ids;
    size_t tool_id_count;
    aside_observe_fn observe;
    aside_lookup_fn lookup;
    aside_record_fn record;
    aside_release_fn release;
    void *user;
} aside_cache;
aside_status aside_registry_add_cache(struct aside_registry *registry, const struct aside_cache *cache);
aside_status aside_registry_add_last_run(struct aside_registry *registry, size_t size);
aside_status aside_registry_minify_json(struct aside_registry *registry);
typedef struct aside_failed {
    size_t size;
    struct aside_bytes id;
    struct aside_bytes reason;
} aside_failed;
aside_status aside_compressed_failed(const struct aside_compressed *compressed, size_t index, struct aside_failed *failed);
typedef struct aside_part_report {
    size_t size;
    size_t part;
    uint64_t len;
    uint64_t hash;
    size_t stretch_count;
} aside_part_report;
aside_status aside_compressed_part_report(const struct aside_compressed *compressed,
                                          size_t index,
                                          struct aside_part_report *report);
enum { ASIDE_NO_FILTER = -1 };
enum {
    ASIDE_CHANGE_KEPT = 0,
    ASIDE_CHANGE_REPLACED = 1,
    ASIDE_CHANGE_LEFT_OUT = 2,
};
typedef uint32_t aside_change;
typedef struct aside_stretch {
    size_t size;
    uint64_t start;
    uint64_t len;
    uint64_t hash;
    aside_change change;
    int32_t filter;
} aside_stretch;
aside_status aside_compressed_stretch(const struct aside_compressed *compressed,
                                      size_t part_index,
                                      size_t index,
                                      struct aside_stretch *stretch);
aside_status aside_compressed_slice(const struct aside_compressed *compressed,
                                    size_t part,
                                    const char *original,
                                    size_t original_len,
                                    uint64_t start,
                                    uint64_t len,
                                    struct aside_bytes *out);
