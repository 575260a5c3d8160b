//! The C interface, as a caller declares it. Texts are bytes, and an object is a `Handle`.
//! Generated from src/ffi by tests/header: do not edit.

use std::ffi::c_void;

/// A pointer to an object that the library keeps for itself.
pub type Handle = *mut c_void;

pub const OK: i32 = 0;
pub const STOPPED: i32 = 1;
pub const MORE: i32 = 2;
pub const NONE: i32 = 3;
pub const NULL: i32 = -1001;
pub const LENGTH: i32 = -1002;
pub const UNKNOWN: i32 = -1003;
pub const DIALECT: i32 = -1004;
pub const OPTION: i32 = -1005;
pub const SIZE: i32 = -1006;
pub const BUSY: i32 = -1007;
pub const ORDER: i32 = -1008;
pub const MEMORY: i32 = -1009;
pub const RANGE: i32 = -1010;
pub const PANIC: i32 = -1011;
pub const JOIN: i32 = -1012;
pub const FILTER: i32 = -1013;
pub const ORIGINAL: i32 = -1014;
pub const AMBIGUOUS: i32 = -1015;

pub const KIND_OPEN: u32 = 1;
pub const KIND_ATTRIBUTE: u32 = 2;
pub const KIND_TEXT: u32 = 3;
pub const KIND_FRAMING: u32 = 4;
pub const KIND_CLOSE: u32 = 5;
pub const KIND_RECLASSIFY: u32 = 6;
pub const KIND_BUDGET: u32 = 7;
pub const KIND_CALL: u32 = 8;
pub const KIND_CALL_NAME: u32 = 9;
pub const KIND_CALL_ID: u32 = 10;
pub const KIND_CALL_KEY: u32 = 11;
pub const KIND_CALL_TYPE: u32 = 12;
pub const KIND_CALL_VALUE: u32 = 13;
pub const KIND_CALL_VALUE_END: u32 = 14;
pub const KIND_CALL_END: u32 = 15;

pub const CHANNEL_CONTENT: u32 = 0;
pub const CHANNEL_THINKING: u32 = 1;
pub const CHANNEL_NARRATION: u32 = 2;
pub const CHANNEL_TOOL: u32 = 3;

pub const PART_KIND_THINKING: u32 = 0;
pub const PART_KIND_CONTENT: u32 = 1;
pub const PART_KIND_CALL: u32 = 2;
pub const PART_KIND_ARGUMENTS: u32 = 3;
pub const PART_KIND_CALL_END: u32 = 4;
pub const PART_KIND_MOVED: u32 = 5;
pub const PART_KIND_BUDGET: u32 = 6;

pub const CAUSE_MARKER: u32 = 0;
pub const CAUSE_IMPLIED: u32 = 1;
pub const CAUSE_END_OF_STREAM: u32 = 2;
pub const CAUSE_FORCED: u32 = 3;
pub const CAUSE_MALFORMED: u32 = 4;
pub const CAUSE_ENDED: u32 = 5;

pub const START_DEFAULT: u32 = 0;
pub const START_CONTENT: u32 = 1;
pub const START_THINKING: u32 = 2;
pub const START_NARRATION: u32 = 3;
pub const START_TOOL: u32 = 4;
pub const START_HEADER: u32 = 5;
pub const START_CALLS: u32 = 6;

pub const CALLS_IN_THINKING_DIALECT: u32 = 0;
pub const CALLS_IN_THINKING_NEVER: u32 = 1;
pub const CALLS_IN_THINKING_ALWAYS: u32 = 2;

pub const STRAY_CLOSE_DIALECT: u32 = 0;
pub const STRAY_CLOSE_TEXT: u32 = 1;
pub const STRAY_CLOSE_DROP: u32 = 2;

pub const END_REASON_UNKNOWN: u32 = 0;
pub const END_REASON_ENDED: u32 = 1;
pub const END_REASON_CUT_OFF: u32 = 2;

pub const NOT_WHOLE_TELL: u32 = 0;
pub const NOT_WHOLE_HOLD: u32 = 1;
pub const NOT_WHOLE_TEXT: u32 = 2;

pub const UNKNOWN_TOOL_TEXT: u32 = 0;
pub const UNKNOWN_TOOL_DROP: u32 = 1;
pub const UNKNOWN_TOOL_TELL: u32 = 2;

pub const GRAMMAR_FORMAT_XGRAMMAR: u32 = 0;
pub const GRAMMAR_FORMAT_LARK: u32 = 1;

pub const IMPLIED_END_ON: u32 = 0;
pub const IMPLIED_END_OFF: u32 = 1;

pub const LEADING_TAGS_DIALECT: u32 = 0;
pub const LEADING_TAGS_TEXT: u32 = 1;

pub const BUDGET_UNIT_BYTES: u32 = 0;
pub const BUDGET_UNIT_CHARACTERS: u32 = 1;

pub const BUDGET_SCOPE_SPAN: u32 = 0;
pub const BUDGET_SCOPE_STREAM: u32 = 1;

pub const MARKERS_REFUSE: u32 = 0;
pub const MARKERS_ESCAPE: u32 = 1;

pub const FIELD_REASONING_CONTENT: u32 = 0;
pub const FIELD_REASONING: u32 = 1;
pub const FIELD_THINKING: u32 = 2;

pub const BODY_UNKNOWN: u32 = 0;
pub const BODY_EVENTS: u32 = 1;
pub const BODY_JSON: u32 = 2;
pub const BODY_LINES: u32 = 3;

pub const FORMAT_CHAT: u32 = 1;
pub const FORMAT_COMPLETIONS: u32 = 2;
pub const FORMAT_RESPONSES: u32 = 4;
pub const FORMAT_MESSAGES: u32 = 8;
pub const FORMAT_OLLAMA: u32 = 16;
pub const FORMAT_ALL: u32 = 2147483647;

pub const SHAPE_NONE: u32 = 0;
pub const SHAPE_FIELD: u32 = 1;
pub const SHAPE_LISTS: u32 = 2;
pub const SHAPE_CHUNKS: u32 = 4;
pub const SHAPE_CONTENT: u32 = 8;
pub const SHAPE_ALL: u32 = 2147483647;

pub const THINKING_KEEP: u32 = 0;
pub const THINKING_DROP: u32 = 1;
pub const THINKING_INLINE: u32 = 2;

pub const THINKS_UNKNOWN: u32 = 0;
pub const THINKS_ON: u32 = 1;
pub const THINKS_OFF: u32 = 2;

pub const RESPONSES_AS_REASONING_TEXT: u32 = 0;
pub const RESPONSES_AS_SUMMARY: u32 = 1;

pub const COMMENTS_KEEP: u32 = 0;
pub const COMMENTS_DROP: u32 = 1;
pub const COMMENTS_CHUNK: u32 = 2;

pub const HINT_IDENTITY: u32 = 1;

pub const HISTORY_NAME_AS_IS: u32 = 0;
pub const HISTORY_NAME_REASONING_CONTENT: u32 = 1;
pub const HISTORY_NAME_REASONING: u32 = 2;
pub const HISTORY_NAME_THINKING: u32 = 3;
pub const HISTORY_NAME_REASONING_DETAILS: u32 = 4;
pub const HISTORY_NAME_PARTS: u32 = 5;
pub const HISTORY_NAME_REASONING_TEXT: u32 = 6;
pub const HISTORY_NAME_SUMMARY: u32 = 7;
pub const HISTORY_NAME_TEXT: u32 = 8;

pub const HISTORY_TURNS_ALL: u32 = 0;
pub const HISTORY_TURNS_SINCE_USER: u32 = 1;
pub const HISTORY_TURNS_NONE: u32 = 2;

pub const HISTORY_MISSING_LEAVE: u32 = 0;
pub const HISTORY_MISSING_EMPTY: u32 = 1;
pub const HISTORY_MISSING_REMOVE: u32 = 2;

pub const HISTORY_MADE_KEEP: u32 = 0;
pub const HISTORY_MADE_REMOVE: u32 = 1;

pub const HISTORY_OUTCOME_READ: u32 = 0;
pub const HISTORY_OUTCOME_TOO_LONG: u32 = 1;
pub const HISTORY_OUTCOME_NOT_UTF8: u32 = 2;
pub const HISTORY_OUTCOME_NOT_REQUEST: u32 = 3;
pub const HISTORY_OUTCOME_REPEATED: u32 = 4;
pub const HISTORY_OUTCOME_STORED: u32 = 5;

pub const CHANGE_KEPT: u32 = 0;
pub const CHANGE_REPLACED: u32 = 1;
pub const CHANGE_LEFT_OUT: u32 = 2;

pub const NOT_TEXT: i32 = -1;
pub const ABI_VERSION: i32 = 1;
pub const NO_FILTER: i32 = -1;

pub type MatchesFn = Option<unsafe extern "C" fn(*mut c_void, *const Invocation, Handle) -> i32>;

pub type ApplyFn = Option<unsafe extern "C" fn(*mut c_void, *const Invocation, *const u8, usize, Handle) -> i32>;

pub type ObserveFn = Option<unsafe extern "C" fn(*mut c_void, *const Invocation, Handle) -> i32>;

pub type LookupFn = Option<unsafe extern "C" fn(*mut c_void, *const Invocation, Handle, *mut u64) -> i32>;

pub type RecordFn = Option<unsafe extern "C" fn(*mut c_void, *const Invocation, *const u8, usize, Handle) -> i32>;

pub type CountFn = Option<unsafe extern "C" fn(*mut c_void, *const u8, usize, Handle) -> i64>;

pub type ReleaseFn = Option<unsafe extern "C" fn(*mut c_void)>;

pub type EventFn = Option<unsafe extern "C" fn(*mut c_void, *const Event, *const u8) -> i32>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct AnswerOptions {
    pub size: usize,
    pub start: u32,
    pub stray_close: u32,
    pub calls_in_thinking: u32,
    pub leading_tags: u32,
    pub thinking: u32,
    pub not_whole: u32,
    pub unknown_tool: u32,
    pub implied_end: u32,
    pub tools: Bytes,
    pub start_call: Bytes,
    pub id_prefix: Bytes,
    pub max_tools: u64,
    pub max_held: u64,
    pub max_calls: u64,
    pub budget: u64,
    pub budget_unit: u32,
    pub budget_scope: u32,
    pub repair_arguments: u32,
    pub promote_empty: u32,
    pub keep_guessed: u32,
    pub may_take_back: u32,
    pub inline_calls: u32,
    pub reserved: u32,
}

impl Default for AnswerOptions {
    /// Returns a value that is all 0 except for its size.
    fn default() -> AnswerOptions {
        AnswerOptions { size: size_of::<AnswerOptions>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    pub kind: u32,
    pub cause: u32,
    pub from: u32,
    pub to: u32,
    pub is_made: u32,
    pub is_whole: u32,
    pub is_repaired: u32,
    pub reserved: u32,
    pub index: u64,
    pub text: Bytes,
    pub id: Bytes,
}

impl Default for Part {
    /// Returns a value that is all 0.
    fn default() -> Part {
        unsafe { std::mem::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    pub at: *const u8,
    pub len: usize,
}

impl Default for Bytes {
    /// Returns a value that is all 0.
    fn default() -> Bytes {
        unsafe { std::mem::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TemplateMatch {
    pub size: usize,
    pub dialects: *mut Handle,
    pub capacity: usize,
    pub count: usize,
    pub start: u32,
    pub reserved: u32,
}

impl Default for TemplateMatch {
    /// Returns a value that is all 0 except for its size.
    fn default() -> TemplateMatch {
        TemplateMatch { size: size_of::<TemplateMatch>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Exchange {
    pub size: usize,
    pub status: u32,
    pub formats: u32,
    pub method: Bytes,
    pub path: Bytes,
    pub content_type: Bytes,
    pub content_encoding: Bytes,
}

impl Default for Exchange {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Exchange {
        Exchange { size: size_of::<Exchange>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Request {
    pub size: usize,
    pub thinks: u32,
    pub thinking: u32,
    pub tools: Bytes,
}

impl Default for Request {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Request {
        Request { size: size_of::<Request>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct HistoryOptions {
    pub size: usize,
    pub dialect: Handle,
    pub max_body: u64,
    pub format: u32,
    pub name: u32,
    pub turns: u32,
    pub missing: u32,
    pub made: u32,
    pub reserved: u32,
}

impl Default for HistoryOptions {
    /// Returns a value that is all 0 except for its size.
    fn default() -> HistoryOptions {
        HistoryOptions { size: size_of::<HistoryOptions>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct HistoryReport {
    pub size: usize,
    pub changed: u64,
    pub refused: u64,
    pub unread: u64,
    pub outcome: u32,
    pub thinking_off: u32,
}

impl Default for HistoryReport {
    /// Returns a value that is all 0 except for its size.
    fn default() -> HistoryReport {
        HistoryReport { size: size_of::<HistoryReport>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RewriterOptions {
    pub size: usize,
    pub answer: *const AnswerOptions,
    pub field: u32,
    pub body: u32,
    pub off: u32,
    pub calls: u32,
    pub max_event: u64,
    pub formats: u32,
    pub responses_as: u32,
    pub repair: u32,
    pub merge: u32,
    pub normalise: u32,
    pub label: u32,
    pub comments: u32,
    pub reserved: u32,
}

impl Default for RewriterOptions {
    /// Returns a value that is all 0 except for its size.
    fn default() -> RewriterOptions {
        RewriterOptions { size: size_of::<RewriterOptions>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RewriterStats {
    pub size: usize,
    pub events: u64,
    pub changed: u64,
    pub added: u64,
    pub repaired: u64,
    pub too_long: u64,
    pub unread: u64,
    pub unpromoted: u64,
    pub truncated: u64,
    pub thinking_bytes: u64,
    pub content_bytes: u64,
    pub held: u64,
    pub split_by_server: u64,
    pub encoded: u32,
    pub reserved: u32,
    pub calls: u64,
    pub contradicted: u64,
}

impl Default for RewriterStats {
    /// Returns a value that is all 0 except for its size.
    fn default() -> RewriterStats {
        RewriterStats { size: size_of::<RewriterStats>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct JoinCall {
    pub name: Bytes,
    pub arguments: Bytes,
    pub id: Bytes,
}

impl Default for JoinCall {
    /// Returns a value that is all 0.
    fn default() -> JoinCall {
        unsafe { std::mem::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct JoinOptions {
    pub size: usize,
    pub thinking: Bytes,
    pub content: Bytes,
    pub calls: *const JoinCall,
    pub call_count: usize,
    pub call_size: usize,
    pub start: u32,
    pub markers: u32,
}

impl Default for JoinOptions {
    /// Returns a value that is all 0 except for its size.
    fn default() -> JoinOptions {
        JoinOptions { size: size_of::<JoinOptions>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompressorOptions {
    pub size: usize,
    pub budget: u64,
    pub switch_off: Bytes,
    pub memory: u64,
    pub budget_tokens: u64,
    pub count: CountFn,
    pub release: ReleaseFn,
    pub user: *mut c_void,
}

impl Default for CompressorOptions {
    /// Returns a value that is all 0 except for its size.
    fn default() -> CompressorOptions {
        CompressorOptions { size: size_of::<CompressorOptions>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Filter {
    pub size: usize,
    pub id: Bytes,
    pub tool_ids: *const Bytes,
    pub tool_id_count: usize,
    pub matches: MatchesFn,
    pub apply: ApplyFn,
    pub release: ReleaseFn,
    pub user: *mut c_void,
}

impl Default for Filter {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Filter {
        Filter { size: size_of::<Filter>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cache {
    pub size: usize,
    pub id: Bytes,
    pub tool_ids: *const Bytes,
    pub tool_id_count: usize,
    pub observe: ObserveFn,
    pub lookup: LookupFn,
    pub record: RecordFn,
    pub release: ReleaseFn,
    pub user: *mut c_void,
}

impl Default for Cache {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Cache {
        Cache { size: size_of::<Cache>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Invocation {
    pub size: usize,
    pub tool_id: Bytes,
    pub input: Bytes,
    pub now: u64,
}

impl Default for Invocation {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Invocation {
        Invocation { size: size_of::<Invocation>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stretch {
    pub size: usize,
    pub start: u64,
    pub len: u64,
    pub hash: u64,
    pub change: u32,
    pub filter: i32,
}

impl Default for Stretch {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Stretch {
        Stretch { size: size_of::<Stretch>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PartReport {
    pub size: usize,
    pub part: usize,
    pub len: u64,
    pub hash: u64,
    pub stretch_count: usize,
}

impl Default for PartReport {
    /// Returns a value that is all 0 except for its size.
    fn default() -> PartReport {
        PartReport { size: size_of::<PartReport>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Failed {
    pub size: usize,
    pub id: Bytes,
    pub reason: Bytes,
}

impl Default for Failed {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Failed {
        Failed { size: size_of::<Failed>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Report {
    pub size: usize,
    pub before: u64,
    pub after: u64,
    pub before_units: u64,
    pub after_units: u64,
    pub filters: *const Bytes,
    pub filter_count: usize,
    pub failed_count: usize,
    pub part_count: usize,
    pub hit: Bytes,
    pub cut_protected: u32,
    pub unexplained: u32,
}

impl Default for Report {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Report {
        Report { size: size_of::<Report>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct EventArray {
    pub size: usize,
    pub events: *mut Event,
    pub event_size: usize,
    pub capacity: usize,
    pub count: usize,
    pub consumed: usize,
    pub offset: u64,
    pub held: Bytes,
    pub attributes: Bytes,
}

impl Default for EventArray {
    /// Returns a value that is all 0 except for its size.
    fn default() -> EventArray {
        EventArray { size: size_of::<EventArray>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Event {
    pub kind: u32,
    pub channel: u32,
    pub cause: u32,
    pub rule: u32,
    pub offset: u64,
    pub len: u64,
    pub tag: u32,
    pub text_at: u32,
    pub name_len: u32,
    pub value_len: u32,
    pub raw_name_at: u32,
    pub raw_name_len: u32,
    pub raw_value_at: u32,
    pub raw_value_len: u32,
    pub call: u32,
    pub tokens: u32,
    pub first_token: u64,
}

impl Default for Event {
    /// Returns a value that is all 0.
    fn default() -> Event {
        unsafe { std::mem::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ScannerOptions {
    pub size: usize,
    pub start: u32,
    pub stray_close: u32,
    pub collect: u64,
    pub budget: u64,
    pub has_budget: u32,
    pub budget_unit: u32,
    pub budget_scope: u32,
    pub calls: u32,
    pub calls_in_thinking: u32,
    pub leading_tags: u32,
}

impl Default for ScannerOptions {
    /// Returns a value that is all 0 except for its size.
    fn default() -> ScannerOptions {
        ScannerOptions { size: size_of::<ScannerOptions>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Counts {
    pub size: usize,
    pub bytes: u64,
    pub characters: u64,
    pub spans: u64,
    pub tokens: u64,
    pub lost_thoughts: u64,
}

impl Default for Counts {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Counts {
        Counts { size: size_of::<Counts>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Thought {
    pub size: usize,
    pub text: Bytes,
    pub offset: u64,
    pub cause: u32,
    pub truncated: u32,
    pub has_thought_type: u32,
    pub has_confidence: u32,
    pub thought_type: Bytes,
    pub confidence: f64,
    pub attribute_count: usize,
}

impl Default for Thought {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Thought {
        Thought { size: size_of::<Thought>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    pub size: usize,
    pub name: Bytes,
    pub value: Bytes,
}

impl Default for Attribute {
    /// Returns a value that is all 0 except for its size.
    fn default() -> Attribute {
        Attribute { size: size_of::<Attribute>(), ..unsafe { std::mem::zeroed() } }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Token {
    pub len: u32,
    pub special: u32,
}

impl Default for Token {
    /// Returns a value that is all 0.
    fn default() -> Token {
        unsafe { std::mem::zeroed() }
    }
}

unsafe extern "C" {
    pub fn aside_answer_new(dialect: Handle, options: *const AnswerOptions) -> Handle;
    pub fn aside_answer_free(answer: Handle);
    pub fn aside_answer_start_from_prompt(answer: Handle, tail: *const u8, len: usize, start: *mut u32) -> i32;
    pub fn aside_answer_use_tools(answer: Handle, tools: *const u8, len: usize) -> i32;
    pub fn aside_answer_feed(answer: Handle, buf: *const u8, len: usize, parts: *mut *const Part, count: *mut usize) -> i32;
    pub fn aside_answer_feed_tokens(answer: Handle, buf: *const u8, len: usize, tokens: *const Token, token_count: usize, parts: *mut *const Part, count: *mut usize) -> i32;
    pub fn aside_answer_flush(answer: Handle, parts: *mut *const Part, count: *mut usize) -> i32;
    pub fn aside_answer_force_close(answer: Handle, parts: *mut *const Part, count: *mut usize) -> i32;
    pub fn aside_answer_finish(answer: Handle, reason: u32, parts: *mut *const Part, count: *mut usize) -> i32;
    pub fn aside_answer_reset(answer: Handle) -> i32;
    pub fn aside_answer_held(answer: Handle) -> usize;
    pub fn aside_answer_counts(answer: Handle, channel: u32, counts: *mut Counts) -> i32;
    pub fn aside_free(memory: *mut c_void);
    pub fn aside_dialect_find(name: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_find_for_model(model: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_find_for_template(text: *const u8, len: usize, found: *mut TemplateMatch) -> Handle;
    pub fn aside_dialect_load(toml: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_from_response_template(json: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_preload(names: *const u8, len: usize) -> i32;
    pub fn aside_dialect_free(dialect: Handle);
    pub fn aside_dialect_name(dialect: Handle, len: *mut usize) -> *const u8;
    pub fn aside_dialect_family(dialect: Handle, rule: u32, len: *mut usize) -> *const u8;
    pub fn aside_dialect_opener(dialect: Handle, rule: u32, tag: u32, len: *mut usize) -> *const u8;
    pub fn aside_dialect_max_hold(dialect: Handle) -> usize;
    pub fn aside_dialect_start(dialect: Handle) -> u32;
    pub fn aside_dialect_name_at(index: usize, len: *mut usize) -> *const u8;
    pub fn aside_rewriter_wants(exchange: *const Exchange, body: *mut u32) -> i32;
    pub fn aside_request_hint(exchange: *const Exchange, hint: *mut u32) -> i32;
    pub fn aside_request_model(body: *const u8, len: usize, model: *mut u8, room: usize, model_len: *mut usize) -> i32;
    pub fn aside_request_read(exchange: *const Exchange, body: *const u8, len: usize, request: *mut Request) -> i32;
    pub fn aside_dialect_grammar(dialect: Handle, format: u32, tools: *const u8, tools_len: usize, choice: *const u8, choice_len: usize, start: u32, out_len: *mut usize) -> *mut u8;
    pub fn aside_history_rewrite(options: *const HistoryOptions, body: *const u8, len: usize, report: *mut HistoryReport, out_len: *mut usize) -> *mut u8;
    pub fn aside_history_format(path: *const u8, len: usize, format: *mut u32) -> i32;
    pub fn aside_history_server_find(name: *const u8, len: usize, format: u32, options: *mut HistoryOptions) -> i32;
    pub fn aside_history_server_load(toml: *const u8, len: usize, format: u32, options: *mut HistoryOptions) -> i32;
    pub fn aside_history_server_name_at(index: usize, len: *mut usize) -> *const u8;
    pub fn aside_rewriter_new(dialect: Handle, options: *const RewriterOptions) -> Handle;
    pub fn aside_rewriter_free(rewriter: Handle);
    pub fn aside_rewriter_use_dialect(rewriter: Handle, dialect: Handle, start: u32) -> i32;
    pub fn aside_rewriter_use_tools(rewriter: Handle, tools: *const u8, len: usize) -> i32;
    pub fn aside_rewriter_start_from_prompt(rewriter: Handle, tail: *const u8, len: usize, start: *mut u32) -> i32;
    pub fn aside_rewriter_feed(rewriter: Handle, buf: *const u8, len: usize, out: *mut Bytes) -> i32;
    pub fn aside_rewriter_finish(rewriter: Handle, out: *mut Bytes) -> i32;
    pub fn aside_rewriter_reset(rewriter: Handle) -> i32;
    pub fn aside_rewriter_get_stats(rewriter: Handle, stats: *mut RewriterStats) -> i32;
    pub fn aside_strip(dialect: Handle, text: *const u8, len: usize, out_len: *mut usize) -> *mut u8;
    pub fn aside_join(dialect: Handle, options: *const JoinOptions, out_len: *mut usize) -> *mut u8;
    pub fn aside_escape(dialect: Handle, text: *const u8, len: usize, out_len: *mut usize) -> *mut u8;
    pub fn aside_last_error() -> *const u8;
    pub fn aside_last_status() -> i32;
    pub fn aside_status_text(status: i32) -> *const u8;
    pub fn aside_version() -> *const u8;
    pub fn aside_abi_version() -> u32;
    pub fn aside_version_0_1_0();
    pub fn aside_unstable_version() -> u32;
    pub fn aside_compressor_new(registry: Handle, options: *const CompressorOptions) -> Handle;
    pub fn aside_compressor_free(compressor: Handle);
    pub fn aside_compress(compressor: Handle, invocation: *const Invocation, parts: *const Bytes, count: usize) -> Handle;
    pub fn aside_compressed_part(compressed: Handle, index: usize, text: *mut Bytes) -> i32;
    pub fn aside_compressed_report(compressed: Handle, report: *mut Report) -> i32;
    pub fn aside_compressed_failed(compressed: Handle, index: usize, failed: *mut Failed) -> i32;
    pub fn aside_compressed_part_report(compressed: Handle, index: usize, report: *mut PartReport) -> i32;
    pub fn aside_compressed_stretch(compressed: Handle, part_index: usize, index: usize, stretch: *mut Stretch) -> i32;
    pub fn aside_compressed_slice(compressed: Handle, part: usize, original: *const u8, original_len: usize, start: u64, len: u64, out: *mut Bytes) -> i32;
    pub fn aside_compressed_free(compressed: Handle);
    pub fn aside_reply_write(reply: Handle, buf: *const u8, len: usize) -> i32;
    pub fn aside_registry_new(built_in: u32) -> Handle;
    pub fn aside_registry_free(registry: Handle);
    pub fn aside_registry_add_toml(registry: Handle, toml: *const u8, len: usize) -> i32;
    pub fn aside_registry_add_filter(registry: Handle, filter: *const Filter) -> i32;
    pub fn aside_registry_add_cache(registry: Handle, cache: *const Cache) -> i32;
    pub fn aside_registry_add_last_run(registry: Handle, size: usize) -> i32;
    pub fn aside_registry_minify_json(registry: Handle) -> i32;
    pub fn aside_tool_stream_new(compressor: Handle, invocation: *const Invocation, memory: usize) -> Handle;
    pub fn aside_tool_stream_free(stream: Handle);
    pub fn aside_tool_stream_feed(stream: Handle, buf: *const u8, len: usize, out: *mut Bytes) -> i32;
    pub fn aside_tool_stream_set_exit_code(stream: Handle, code: i64) -> i32;
    pub fn aside_tool_stream_finish(stream: Handle, out: *mut Bytes) -> i32;
    pub fn aside_tool_stream_report(stream: Handle) -> Handle;
    pub fn aside_scanner_feed_into(scanner: Handle, buf: *const u8, len: usize, array: *mut EventArray) -> i32;
    pub fn aside_scanner_finish_into(scanner: Handle, array: *mut EventArray) -> i32;
    pub fn aside_scanner_flush_into(scanner: Handle, array: *mut EventArray) -> i32;
    pub fn aside_scanner_feed_tokens_into(scanner: Handle, buf: *const u8, len: usize, tokens: *const Token, count: usize, array: *mut EventArray) -> i32;
    pub fn aside_scanner_force_close_into(scanner: Handle, array: *mut EventArray) -> i32;
    pub fn aside_scanner_feed(scanner: Handle, buf: *const u8, len: usize, callback: EventFn, user: *mut c_void) -> i32;
    pub fn aside_scanner_finish(scanner: Handle, callback: EventFn, user: *mut c_void) -> i32;
    pub fn aside_scanner_flush(scanner: Handle, callback: EventFn, user: *mut c_void) -> i32;
    pub fn aside_scanner_feed_tokens(scanner: Handle, buf: *const u8, len: usize, tokens: *const Token, count: usize, callback: EventFn, user: *mut c_void) -> i32;
    pub fn aside_scanner_force_close(scanner: Handle, callback: EventFn, user: *mut c_void) -> i32;
    pub fn aside_scanner_new(dialect: Handle, options: *const ScannerOptions) -> Handle;
    pub fn aside_scanner_clone(scanner: Handle) -> Handle;
    pub fn aside_scanner_free(scanner: Handle);
    pub fn aside_scanner_start_from_prompt(scanner: Handle, tail: *const u8, len: usize, start: *mut u32) -> i32;
    pub fn aside_scanner_start(scanner: Handle, start: *mut u32, is_guessed: *mut u32) -> i32;
    pub fn aside_scanner_end_reason(scanner: Handle, reason: u32) -> i32;
    pub fn aside_scanner_reset(scanner: Handle) -> i32;
    pub fn aside_scanner_consumed(scanner: Handle) -> usize;
    pub fn aside_scanner_held(scanner: Handle) -> usize;
    pub fn aside_scanner_max_hold(scanner: Handle) -> usize;
    pub fn aside_scanner_offset(scanner: Handle) -> u64;
    pub fn aside_scanner_counts(scanner: Handle, channel: u32, counts: *mut Counts) -> i32;
    pub fn aside_scanner_feed_text(scanner: Handle, buf: *const u8, len: usize) -> i32;
    pub fn aside_scanner_quiet(scanner: Handle, bytes: *mut u64) -> i32;
    pub fn aside_scanner_skip(scanner: Handle, len: u64, last: u32) -> i32;
    pub fn aside_scanner_take_thought(scanner: Handle, thought: *mut Thought) -> i32;
    pub fn aside_scanner_thought_attribute(scanner: Handle, index: usize, attribute: *mut Attribute) -> i32;
}
