//! The scanner as C sees it: declared by hand from the header, so that a test finds what C would.

use std::ffi::{c_char, c_void};
use std::ptr;

// Linked for what it exports.
use aside as _;

#[repr(C)]
pub struct Options {
    pub size: usize,
    pub start: u32,
    pub stray_close: u32,
    pub collect: u64,
    pub budget: u64,
    pub has_budget: u32,
    pub budget_unit: u32,
    pub budget_scope: u32,
    pub calls: u32,
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
    pub call: u32,
    pub tokens: u32,
    pub first_token: u64,
}

impl Event {
    /// Returns how many bytes come with it: an attribute has none of the stream, but its name and its value; so has the name
    /// of a call that is the value of a header's field.
    pub fn byte_count(&self) -> usize {
        if self.value_len > 0 || self.kind == ATTRIBUTE {
            (self.name_len + self.value_len) as usize
        } else {
            self.len as usize
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Token {
    pub len: u32,
    pub special: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    pub at: *const u8,
    pub len: usize,
}

impl Bytes {
    pub const NONE: Bytes = Bytes { at: ptr::null(), len: 0 };

    pub fn of(text: &[u8]) -> Bytes {
        Bytes { at: text.as_ptr(), len: text.len() }
    }

    /// # Safety
    /// The library has filled it, and its memory is still valid.
    pub unsafe fn get<'a>(self) -> &'a [u8] {
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

#[repr(C)]
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

impl EventArray {
    pub fn new(events: &mut [Event]) -> EventArray {
        EventArray {
            size: size_of::<EventArray>(),
            events: events.as_mut_ptr(),
            event_size: size_of::<Event>(),
            capacity: events.len(),
            count: 0,
            consumed: 0,
            offset: 0,
            held: Bytes::NONE,
            attributes: Bytes::NONE,
        }
    }
}

#[repr(C)]
pub struct Thought {
    pub size: usize,
    pub text: Bytes,
    pub offset: u64,
    pub flags: [u32; 4],
    pub thought_type: Bytes,
    pub confidence: f64,
    pub attribute_count: usize,
}

#[repr(C)]
pub struct Attribute {
    pub size: usize,
    pub name: Bytes,
    pub value: Bytes,
}

#[repr(C)]
pub struct TemplateMatch {
    pub size: usize,
    pub dialects: *mut Handle,
    pub capacity: usize,
    pub count: usize,
    pub start: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct JoinOptions {
    pub size: usize,
    pub thinking: Bytes,
    pub content: Bytes,
    pub calls: *const c_void,
    pub call_count: usize,
    pub call_size: usize,
    pub start: u32,
    pub markers: u32,
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
    pub fn aside_dialect_find(name: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_find_for_model(name: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_find_for_template(text: *const u8, len: usize, found: *mut TemplateMatch) -> Handle;
    pub fn aside_dialect_free(dialect: Handle);
    pub fn aside_dialect_load(toml: *const u8, len: usize) -> Handle;
    pub fn aside_dialect_name_at(index: usize, len: *mut usize) -> *const c_char;
    pub fn aside_dialect_opener(dialect: Handle, rule: u32, tag: u32, len: *mut usize) -> *const u8;
    pub fn aside_dialect_preload(names: *const u8, len: usize) -> i32;
    pub fn aside_dialect_start(dialect: Handle) -> u32;
    pub fn aside_free(memory: *mut c_void);
    pub fn aside_join(dialect: Handle, options: *const JoinOptions, out_len: *mut usize) -> *mut c_void;
    pub fn aside_last_error() -> *const c_char;
    pub fn aside_last_status() -> i32;
    pub fn aside_scanner_clone(scanner: Handle) -> Handle;
    pub fn aside_scanner_consumed(scanner: Handle) -> usize;
    pub fn aside_scanner_counts(scanner: Handle, channel: u32, counts: *mut [u64; 6]) -> i32;
    pub fn aside_scanner_feed(
        scanner: Handle,
        buf: *const u8,
        len: usize,
        callback: Callback,
        user: *mut c_void,
    ) -> i32;
    pub fn aside_scanner_feed_into(scanner: Handle, buf: *const u8, len: usize, array: *mut EventArray) -> i32;
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
        array: *mut EventArray,
    ) -> i32;
    pub fn aside_scanner_finish(scanner: Handle, callback: Callback, user: *mut c_void) -> i32;
    pub fn aside_scanner_finish_into(scanner: Handle, array: *mut EventArray) -> i32;
    pub fn aside_scanner_flush(scanner: Handle, callback: Callback, user: *mut c_void) -> i32;
    pub fn aside_scanner_flush_into(scanner: Handle, array: *mut EventArray) -> i32;
    pub fn aside_scanner_force_close(scanner: Handle, callback: Callback, user: *mut c_void) -> i32;
    pub fn aside_scanner_force_close_into(scanner: Handle, array: *mut EventArray) -> i32;
    pub fn aside_scanner_free(scanner: Handle);
    pub fn aside_scanner_held(scanner: Handle) -> usize;
    pub fn aside_scanner_max_hold(scanner: Handle) -> usize;
    pub fn aside_scanner_new(dialect: Handle, options: *const Options) -> Handle;
    pub fn aside_scanner_offset(scanner: Handle) -> u64;
    pub fn aside_scanner_quiet(scanner: Handle, bytes: *mut [u64; 4]) -> i32;
    pub fn aside_scanner_reset(scanner: Handle) -> i32;
    pub fn aside_scanner_skip(scanner: Handle, len: u64) -> i32;
    pub fn aside_scanner_start_from_prompt(scanner: Handle, tail: *const u8, len: usize, start: *mut u32) -> i32;
    pub fn aside_scanner_take_thought(scanner: Handle, thought: *mut Thought) -> i32;
    pub fn aside_scanner_thought_attribute(scanner: Handle, index: usize, attribute: *mut Attribute) -> i32;
    pub fn aside_strip(dialect: Handle, text: *const u8, len: usize, out_len: *mut usize) -> *mut c_void;
}

pub const OK: i32 = 0;
pub const STOPPED: i32 = 1;
pub const MORE: i32 = 2;
pub const NONE: i32 = 3;
pub const NOT_TEXT: i32 = -1;
pub const NULL: i32 = -1001;
pub const LENGTH: i32 = -1002;
pub const UNKNOWN: i32 = -1003;
pub const OPTION: i32 = -1005;
pub const SIZE: i32 = -1006;
pub const BUSY: i32 = -1007;
pub const ORDER: i32 = -1008;
pub const MEMORY: i32 = -1009;
pub const RANGE: i32 = -1010;
pub const JOIN: i32 = -1012;
pub const AMBIGUOUS: i32 = -1015;

/// Kinds of events.
pub const ATTRIBUTE: u32 = 2;
pub const TEXT: u32 = 3;
