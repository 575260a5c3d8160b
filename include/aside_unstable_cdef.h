uint32_t aside_unstable_version(void);
int32_t aside_scanner_quiet(const struct aside_scanner *scanner, uint64_t *bytes);
aside_status aside_scanner_skip(struct aside_scanner *scanner, uint64_t len);
typedef struct aside_command_line aside_command_line;
int32_t aside_is_protected(const char *text, size_t len);
char *aside_format_banner(const struct aside_bytes *filter_ids,
                          size_t count,
                          uint64_t before,
                          uint64_t after,
                          size_t *out_len);
typedef struct aside_command {
    struct aside_bytes name;
    struct aside_bytes subcommand;
    const struct aside_bytes *words;
    size_t word_count;
    uint32_t prints;
    uint32_t piped;
} aside_command;
struct aside_command_line *aside_command_line_parse(const char *line, size_t len);
const struct aside_command *aside_command_line_commands(const struct aside_command_line *line, size_t *count);
void aside_command_line_free(struct aside_command_line *line);
