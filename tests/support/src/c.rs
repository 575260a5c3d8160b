//! The library as C sees it: declared by hand from the header, so that a test finds what C would. Tool results are in
//! `compress`.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

// Linked for what it exports.
use aside as _;

#[cfg(feature = "compress")]
pub mod compress;

#[repr(C)]
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
    pub reserved: u32,
}

#[repr(C)]
pub struct CallWriterOptions {
    pub size: usize,
    pub tools: *const u8,
    pub tools_len: usize,
    pub id_prefix: *const u8,
    pub id_prefix_len: usize,
    pub max_held: u64,
    pub max_tools: u64,
}

#[repr(C)]
pub struct CallDelta {
    pub size: usize,
    pub call: u64,
    pub index: u64,
    pub id: *const u8,
    pub id_len: usize,
    pub name: *const u8,
    pub name_len: usize,
    pub arguments: *const u8,
    pub arguments_len: usize,
    pub late_id: *const u8,
    pub late_id_len: usize,
    pub is_first: u32,
    pub is_last: u32,
    pub cause: u32,
    pub is_whole: u32,
}

impl CallDelta {
    /// Returns an empty one whose size is set.
    pub fn new() -> CallDelta {
        CallDelta {
            size: size_of::<CallDelta>(),
            call: 0,
            index: 0,
            id: ptr::null(),
            id_len: 0,
            name: ptr::null(),
            name_len: 0,
            arguments: ptr::null(),
            arguments_len: 0,
            late_id: ptr::null(),
            late_id_len: 0,
            is_first: 0,
            is_last: 0,
            cause: 0,
            is_whole: 0,
        }
    }
}

impl Default for CallDelta {
    fn default() -> CallDelta {
        CallDelta::new()
    }
}

#[repr(C)]
pub struct RewriterOptions {
    pub size: usize,
    pub start: u32,
    pub field: u32,
    pub body: u32,
    pub off: u32,
    pub max_event: u64,
    pub stray_close: u32,
    pub calls: u32,
    pub tools: *const u8,
    pub tools_len: usize,
    pub max_held: u64,
    pub calls_in_thinking: u32,
    pub formats: u32,
    pub responses_as: u32,
    pub repair: u32,
    pub promote_empty: u32,
    pub merge: u32,
    pub max_tools: u64,
}

/// Its size, and the counts in the order of the header.
pub type SseStats = [u64; 13];

#[repr(C)]
pub struct JoinCall {
    pub name: *const u8,
    pub name_len: usize,
    pub arguments: *const u8,
    pub arguments_len: usize,
    pub id: *const u8,
    pub id_len: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
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
}

impl Event {
    /// Returns whether its bytes are not of the stream: an attribute's, and a name that stands in a header.
    pub fn is_apart(&self) -> bool {
        self.kind == ATTRIBUTE || self.kind == CALL_NAME && self.len == 0
    }

    /// Returns how many bytes come with it: with an attribute, its name and its value.
    pub fn byte_count(&self) -> usize {
        if self.is_apart() { (self.name_len + self.value_len) as usize } else { self.len as usize }
    }
}

#[repr(C)]
pub struct Token {
    pub len: u32,
    pub special: u32,
}

#[repr(C)]
pub struct Fed {
    pub count: usize,
    pub consumed: usize,
    pub offset: u64,
    pub held: *const u8,
    pub held_len: usize,
    pub attributes: *const u8,
    pub attributes_len: usize,
}

impl Fed {
    pub const NOTHING: Fed = Fed {
        count: 0,
        consumed: 0,
        offset: 0,
        held: ptr::null(),
        held_len: 0,
        attributes: ptr::null(),
        attributes_len: 0,
    };
}

#[repr(C)]
pub struct Thought {
    pub size: usize,
    pub text: *const u8,
    pub text_len: usize,
    pub offset: u64,
    pub flags: [u32; 4],
    pub thought_type: *const u8,
    pub thought_type_len: usize,
    pub confidence: f64,
    pub attributes: *const [usize; 4],
    pub attribute_count: usize,
}

/// Returns whether a byte is in a set of `aside_scanner_quiet`.
pub fn is_in(set: &[u64; 4], byte: u8) -> bool {
    set[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
}

pub type Callback = Option<unsafe extern "C" fn(*mut c_void, *const Event, *const u8) -> i32>;
/// A dialect, a scanner, or whatever else there is only a pointer of.
pub type Handle = *mut c_void;

unsafe extern "C" {
    pub fn aside_abi_version() -> u32;
    pub fn aside_call_writer_feed(writer: Handle, event: *const Event, bytes: *const u8, delta: *mut CallDelta) -> i32;
    pub fn aside_call_writer_free(writer: Handle);
    pub fn aside_call_writer_new(dialect: Handle, options: *const CallWriterOptions) -> Handle;
    pub fn aside_call_writer_reset(writer: Handle) -> i32;
    pub fn aside_dialect_count() -> usize;
    pub fn aside_dialect_family(dialect: Handle, rule: u32, len: *mut usize) -> *const u8;
    pub fn aside_dialect_find(name: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_find_for_model(name: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_find_for_template(
        text: *const u8,
        len: usize,
        to: *mut Handle,
        most: usize,
        start: *mut u32,
    ) -> usize;
    pub fn aside_dialect_find_for_template_with(
        text: *const u8,
        len: usize,
        variables: *const u8,
        variables_len: usize,
        to: *mut Handle,
        most: usize,
        start: *mut u32,
    ) -> usize;
    pub fn aside_dialect_free(dialect: Handle);
    pub fn aside_dialect_load(toml: *const u8, len: usize, out: *mut Handle) -> i32;
    pub fn aside_dialect_max_hold(dialect: Handle) -> usize;
    pub fn aside_dialect_name(dialect: Handle, len: *mut usize) -> *const u8;
    pub fn aside_dialect_name_at(index: usize, len: *mut usize) -> *const c_char;
    pub fn aside_dialect_opener(dialect: Handle, rule: u32, tag: u32, len: *mut usize) -> *const u8;
    pub fn aside_dialect_preload(names: *const u8, len: usize) -> i32;
    pub fn aside_dialect_start(dialect: Handle) -> u32;
    pub fn aside_escape(
        dialect: Handle,
        text: *const u8,
        len: usize,
        out: *mut *mut c_void,
        out_len: *mut usize,
    ) -> i32;
    pub fn aside_join(
        dialect: Handle,
        thinking: *const u8,
        thinking_len: usize,
        content: *const u8,
        content_len: usize,
        start: u32,
        markers: u32,
        out: *mut *mut c_void,
        out_len: *mut usize,
    ) -> i32;
    pub fn aside_join_with_calls(
        dialect: Handle,
        thinking: *const u8,
        thinking_len: usize,
        content: *const u8,
        content_len: usize,
        calls: *const JoinCall,
        count: usize,
        start: u32,
        markers: u32,
        out: *mut *mut c_void,
        out_len: *mut usize,
    ) -> i32;
    pub fn aside_last_error() -> *const c_char;
    pub fn aside_last_status() -> i32;
    pub fn aside_request_hint(
        path: *const u8,
        path_len: usize,
        method: *const u8,
        method_len: usize,
        formats: u32,
        hint: *mut u32,
    ) -> i32;
    pub fn aside_request_model(body: *const u8, len: usize, model: *mut u8, room: usize, model_len: *mut usize) -> i32;
    pub fn aside_scanner_clone(scanner: Handle) -> Handle;
    pub fn aside_scanner_consumed(scanner: Handle) -> usize;
    pub fn aside_scanner_counts(scanner: Handle, channel: u32, counts: *mut [u64; 5]) -> i32;
    pub fn aside_scanner_feed(
        scanner: Handle,
        buf: *const u8,
        len: usize,
        callback: Callback,
        user: *mut c_void,
    ) -> i32;
    pub fn aside_scanner_feed_into(
        scanner: Handle,
        buf: *const u8,
        len: usize,
        events: *mut Event,
        capacity: usize,
        event_size: usize,
        out: *mut Fed,
    ) -> i32;
    pub fn aside_scanner_feed_text(scanner: Handle, buf: *const u8, len: usize) -> i32;
    pub fn aside_scanner_feed_tokens(
        scanner: Handle,
        buf: *const u8,
        len: usize,
        tokens: *const Token,
        count: usize,
        callback: Callback,
        user: *mut c_void,
    ) -> i32;
    pub fn aside_scanner_feed_tokens_into(
        scanner: Handle,
        buf: *const u8,
        len: usize,
        tokens: *const Token,
        count: usize,
        events: *mut Event,
        capacity: usize,
        event_size: usize,
        out: *mut Fed,
    ) -> i32;
    pub fn aside_scanner_finish(scanner: Handle, callback: Callback, user: *mut c_void) -> i32;
    pub fn aside_scanner_finish_into(
        scanner: Handle,
        events: *mut Event,
        capacity: usize,
        event_size: usize,
        out: *mut Fed,
    ) -> i32;
    pub fn aside_scanner_flush(scanner: Handle, callback: Callback, user: *mut c_void) -> i32;
    pub fn aside_scanner_flush_into(
        scanner: Handle,
        events: *mut Event,
        capacity: usize,
        event_size: usize,
        out: *mut Fed,
    ) -> i32;
    pub fn aside_scanner_force_close(scanner: Handle, callback: Callback, user: *mut c_void) -> i32;
    pub fn aside_scanner_force_close_into(
        scanner: Handle,
        events: *mut Event,
        capacity: usize,
        event_size: usize,
        out: *mut Fed,
    ) -> i32;
    pub fn aside_scanner_free(scanner: Handle);
    pub fn aside_scanner_held(scanner: Handle) -> usize;
    pub fn aside_scanner_lost_thoughts(scanner: Handle) -> u64;
    pub fn aside_scanner_max_hold(scanner: Handle) -> usize;
    pub fn aside_scanner_new(dialect: Handle, options: *const ScannerOptions) -> Handle;
    pub fn aside_scanner_offset(scanner: Handle) -> u64;
    pub fn aside_scanner_quiet(scanner: Handle, bytes: *mut [u64; 4]) -> i32;
    pub fn aside_scanner_reset(scanner: Handle) -> i32;
    pub fn aside_scanner_skip(scanner: Handle, len: u64) -> i32;
    pub fn aside_scanner_start_from_prompt(scanner: Handle, tail: *const u8, len: usize, start: *mut u32) -> i32;
    pub fn aside_scanner_take_thought(scanner: Handle, thought: *mut Thought) -> i32;
    pub fn aside_rewriter_encoded(sse: Handle) -> i32;
    pub fn aside_rewriter_feed(
        sse: Handle,
        buf: *const u8,
        len: usize,
        out: *mut *const u8,
        out_len: *mut usize,
    ) -> i32;
    pub fn aside_rewriter_finish(sse: Handle, out: *mut *const u8, out_len: *mut usize) -> i32;
    pub fn aside_rewriter_free(sse: Handle);
    pub fn aside_rewriter_new(dialect: Handle, options: *const RewriterOptions) -> Handle;
    pub fn aside_rewriter_reset(sse: Handle) -> i32;
    pub fn aside_rewriter_start_at(sse: Handle, start: u32) -> i32;
    pub fn aside_rewriter_start_from_prompt(sse: Handle, tail: *const u8, len: usize, start: *mut u32) -> i32;
    pub fn aside_rewriter_get_stats(sse: Handle, stats: *mut SseStats) -> i32;
    pub fn aside_rewriter_too_long(sse: Handle) -> u64;
    pub fn aside_rewriter_use_dialect(sse: Handle, dialect: Handle, start: u32) -> i32;
    pub fn aside_rewriter_use_tools(sse: Handle, tools: *const u8, len: usize) -> i32;
    pub fn aside_rewriter_wants(
        status: u32,
        path: *const u8,
        path_len: usize,
        content_type: *const u8,
        content_type_len: usize,
        content_encoding: *const u8,
        content_encoding_len: usize,
        formats: u32,
        body: *mut u32,
    ) -> i32;
    pub fn aside_status_text(status: i32) -> *const c_char;
    pub fn aside_strip(dialect: Handle, text: *const u8, len: usize, out: *mut *mut c_void, out_len: *mut usize)
    -> i32;
    pub fn aside_version() -> *const c_char;
    pub fn aside_version_0_1_0();
    pub fn free(memory: *mut c_void);
}

/// Of the header.
pub const VERSION: &CStr = c"0.1.0";

pub const OK: i32 = 0;
pub const STOPPED: i32 = 1;
pub const MORE: i32 = 2;
pub const NONE: i32 = 3;
pub const NOT_TEXT: i32 = -1;
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
pub const JOIN: i32 = -1012;
pub const FILTER: i32 = -1013;
pub const ORIGINAL: i32 = -1014;

/// Kinds of events.
pub const ATTRIBUTE: u32 = 2;
pub const TEXT: u32 = 3;
pub const CALL: u32 = 8;
pub const CALL_NAME: u32 = 9;
pub const CALL_KEY: u32 = 11;
/// The last one.
pub const CALL_END: u32 = 15;

/// The numbers of options.
pub const START_DEFAULT: u32 = 0;
pub const START_CONTENT: u32 = 1;
pub const START_THINKING: u32 = 2;
pub const START_NARRATION: u32 = 3;
pub const START_TOOL: u32 = 4;
pub const START_HEADER: u32 = 5;
pub const MARKERS_REFUSE: u32 = 0;
pub const MARKERS_ESCAPE: u32 = 1;
pub const CALLS_IN_THINKING_DIALECT: u32 = 0;
pub const CALLS_IN_THINKING_NEVER: u32 = 1;
pub const STRAY_CLOSE_DIALECT: u32 = 0;
pub const STRAY_CLOSE_TEXT: u32 = 1;
pub const BUDGET_UNIT_BYTES: u32 = 0;
pub const BUDGET_UNIT_CHARACTERS: u32 = 1;
pub const BUDGET_SCOPE_SPAN: u32 = 0;
pub const BUDGET_SCOPE_STREAM: u32 = 1;
pub const CHANNEL_CONTENT: u32 = 0;
pub const CHANNEL_THINKING: u32 = 1;
pub const CHANNEL_NARRATION: u32 = 2;
pub const CHANNEL_TOOL: u32 = 3;
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
pub const FORMAT_ALL: u32 = 31;
pub const RESPONSES_AS_REASONING_TEXT: u32 = 0;
pub const RESPONSES_AS_SUMMARY: u32 = 1;
pub const HINT_IDENTITY: u32 = 1;
