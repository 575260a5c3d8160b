//! What C sees beside functions: statuses, the numbers in an event, and the structs that cross the boundary.
//! The doc comments of this file are the comments of `aside.h`.

use std::mem::offset_of;

use libc::{c_char, c_void, size_t};
use safer_ffi::prelude::*;

use super::gate::Gate;
use super::memory::{Versioned, layout};

/// The version of the binary interface that this header describes; compare with `aside_abi_version()`.
pub const ASIDE_ABI_VERSION: u32 = 1;

/// == Statuses ==
///
/// Done.
pub const ASIDE_OK: i32 = 0;

/// A pause: the callback returned something else than 0. The event that it was called with counts as delivered.
/// `aside_scanner_consumed()` bytes of the buffer are done; the next call goes on behind them.
pub const ASIDE_STOPPED: i32 = 1;

/// A pause: the event array is full, or `attributes` has grown to its limit. What is in `*out` is good. Call again with
/// what is left of the buffer, `out.consumed` bytes further on; call again too where nothing is left of it.
pub const ASIDE_MORE: i32 = 2;

/// No failure: there is nothing to take.
pub const ASIDE_NONE: i32 = 3;

/// A pointer that is needed is NULL.
pub const ASIDE_ERROR_NULL: i32 = -1001;

/// A length is above PTRDIFF_MAX: no object is that large. Or the lengths of tokens do not add up to the buffer's, or no
/// array of tokens can be where they are said to be.
pub const ASIDE_ERROR_LENGTH: i32 = -1002;

/// No dialect of that name is built in (the message names the nearest ones), or known for that model or template.
pub const ASIDE_ERROR_UNKNOWN: i32 = -1003;

/// A dialect's text is not one. The message names line and key.
pub const ASIDE_ERROR_DIALECT: i32 = -1004;

/// An option has a value that it cannot have, or that the dialect has no use for.
pub const ASIDE_ERROR_OPTION: i32 = -1005;

/// A `size` field, an `event_size` or a `capacity` cannot be right.
pub const ASIDE_ERROR_SIZE: i32 = -1006;

/// The scanner, rewriter, registry, compressor or stream is in use: it was called from its own callback, or, as far as that
/// can be noticed, from two threads at once where that is not allowed. Nothing has changed.
pub const ASIDE_ERROR_BUSY: i32 = -1007;

/// Calls in the wrong order: a feed or flush after a `finish` that was paused (go on with `finish`, or `reset`), a start
/// that is said behind the stream's first byte, bytes skipped where none can have passed, or output of a tool behind its
/// end.
pub const ASIDE_ERROR_ORDER: i32 = -1008;

/// Memory ran out. A scanner that says so stays in error until `aside_scanner_reset()`, a rewriter until
/// `aside_sse_reset()`.
pub const ASIDE_ERROR_MEMORY: i32 = -1009;

/// An index is not below the count.
pub const ASIDE_ERROR_RANGE: i32 = -1010;

/// A defect of the library, caught at the boundary. The scanner says so for ever; it can only be freed. (A library that
/// was built with `panic = "abort"` ends the process instead.)
pub const ASIDE_ERROR_PANIC: i32 = -1011;

/// A text cannot be joined or escaped. The message says which part and which byte of it would be read as something else,
/// or what the dialect lacks.
pub const ASIDE_ERROR_JOIN: i32 = -1012;

/// A filter's text is not one, or does not pass its own tests. The message names line and key.
pub const ASIDE_ERROR_FILTER: i32 = -1013;

/// The text is not the one that the report is about.
pub const ASIDE_ERROR_ORIGINAL: i32 = -1014;

/// == What an event says ==
///
/// `event.kind`: a span begins. The bytes are its opening marker; none where the stream starts inside the span.
pub const ASIDE_OPEN: u32 = 1;

/// `event.kind`: an attribute of the marker that has just opened a span. It has no bytes of the stream.
pub const ASIDE_ATTRIBUTE: u32 = 2;

/// `event.kind`: text of the channel. Never empty, and never cuts a character of valid UTF-8.
pub const ASIDE_TEXT: u32 = 3;

/// `event.kind`: bytes that belong to no text, such as the newline that a family puts around its markers.
pub const ASIDE_FRAMING: u32 = 4;

/// `event.kind`: a span ends. The bytes are its closing marker; none where it ends without one.
pub const ASIDE_CLOSE: u32 = 5;

/// `event.kind`: all content so far was thinking. The closer of a thinking has come without an opener before it, in a
/// dialect with `stray_close = "reclassify"`. It has no bytes of the stream, and comes once in it at most.
pub const ASIDE_RECLASSIFY: u32 = 6;

/// `event.kind`: the thinking goes beyond `options.budget` here. It has no bytes of the stream and stands between two
/// characters. Once for each span or stream, as `options.budget_scope` says.
pub const ASIDE_BUDGET: u32 = 7;

/// `event.channel`: what the reader is meant to see.
pub const ASIDE_CONTENT: u32 = 0;

/// `event.channel`: what the model thinks (`reasoning`, `reasoning_content` in some interfaces).
pub const ASIDE_THINKING: u32 = 1;

/// `event.channel`: what the model says about what it is doing.
pub const ASIDE_NARRATION: u32 = 2;

/// `event.channel`: tool calls.
pub const ASIDE_TOOL: u32 = 3;

/// Of `aside_scanner_feed_text()`, which gives a channel otherwise: nothing was fed. Of `aside_scanner_quiet()`: nothing may
/// pass outside.
pub const ASIDE_NOT_TEXT: i32 = -1;

/// `event.cause`, of an `ASIDE_CLOSE`: the closing marker came.
pub const ASIDE_CAUSE_MARKER: u32 = 0;

/// `event.cause`, of an `ASIDE_CLOSE`: something else came that ends such a span.
pub const ASIDE_CAUSE_IMPLIED: u32 = 1;

/// `event.cause`, of an `ASIDE_CLOSE`: the stream ended inside the span.
pub const ASIDE_CAUSE_END: u32 = 2;

/// `event.cause`, of an `ASIDE_CLOSE`: `aside_scanner_force_close()`.
pub const ASIDE_CAUSE_FORCED: u32 = 3;

/// `event.cause`, of a tool call: its text broke its grammar. No span ends so.
pub const ASIDE_CAUSE_MALFORMED: u32 = 4;

/// == Where a stream starts ==
///
/// `options.start`: as the dialect says.
pub const ASIDE_START_DEFAULT: u32 = 0;

/// `options.start`: no span is open.
pub const ASIDE_START_CONTENT: u32 = 1;

/// `options.start`: the stream begins inside a thinking span, whose opener was in the prompt.
pub const ASIDE_START_THINKING: u32 = 2;

/// `options.start`: the stream begins inside a narration span.
pub const ASIDE_START_NARRATION: u32 = 3;

/// `options.start`: the stream begins inside a tool span.
pub const ASIDE_START_TOOL: u32 = 4;

/// `options.start`: the stream begins inside a channel header, of a dialect that has headers.
pub const ASIDE_START_HEADER: u32 = 5;

/// == Closers without an opener ==
///
/// `options.stray_close`: what the dialect says.
pub const ASIDE_STRAY_CLOSE_DIALECT: u32 = 0;

/// `options.stray_close`: a closer of the thinking that stands in the content after other text is text, for a host that is
/// sure that its model does not think.
pub const ASIDE_STRAY_CLOSE_TEXT: u32 = 1;

/// == Budgets ==
///
/// `options.budget_unit`: bytes.
pub const ASIDE_BUDGET_BYTES: u32 = 0;

/// `options.budget_unit`: characters.
pub const ASIDE_BUDGET_CHARACTERS: u32 = 1;

/// `options.budget_scope`: each thinking span has the budget.
pub const ASIDE_BUDGET_SPAN: u32 = 0;

/// `options.budget_scope`: all thinking of the stream has it together.
pub const ASIDE_BUDGET_STREAM: u32 = 1;

/// == What `aside_join()` does with markers in its parts ==
///
/// `markers`: it fails with `ASIDE_ERROR_JOIN`.
pub const ASIDE_MARKERS_REFUSE: u32 = 0;

/// `markers`: it breaks them, as `aside_escape()` does.
pub const ASIDE_MARKERS_ESCAPE: u32 = 1;

/// == What an event stream is rewritten to ==
///
/// `sse_options.field`: the thinking becomes `reasoning_content`.
pub const ASIDE_FIELD_REASONING_CONTENT: u32 = 0;

/// `sse_options.field`: the thinking becomes `reasoning`.
pub const ASIDE_FIELD_REASONING: u32 = 1;

/// `sse_options.field`: the thinking becomes `thinking`.
pub const ASIDE_FIELD_THINKING: u32 = 2;

/// `sse_options.body`: the first byte that is not blank says it. JSON begins with `{`, an event stream never does.
pub const ASIDE_BODY_UNKNOWN: u32 = 0;

/// `sse_options.body`: an event stream, `text/event-stream`.
pub const ASIDE_BODY_EVENTS: u32 = 1;

/// `sse_options.body`: one JSON object, `application/json`.
pub const ASIDE_BODY_JSON: u32 = 2;

/// A dialect: which bytes are markers, and of what. It never changes, so any number of threads may use one at once.
/// From `aside_dialect_find()` (built in: never freed) or `aside_dialect_load()` (freed by `aside_dialect_free()`).
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_dialect {
    pub(super) dialect: crate::Dialect,
    /// With a NUL behind it, as the words below.
    pub(super) name: Vec<u8>,
    pub(super) words: Vec<Words>,
    pub(super) built_in: bool,
}

/// Of one rule: its family, and what its tags stand for.
pub(super) struct Words {
    pub(super) family: Vec<u8>,
    pub(super) openers: Vec<Vec<u8>>,
}

/// The state of one stream. From `aside_scanner_new()`; freed by `aside_scanner_free()`. One thread at a time may use
/// it, whichever that is; different scanners share nothing that changes.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_scanner {
    pub(super) gate: Gate<super::scanner::Stream>,
}

/// What rewrites one event stream. From `aside_sse_new()`; freed by `aside_sse_free()`. One thread at a time may use it,
/// whichever that is; different rewriters share nothing that changes.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_sse {
    pub(super) gate: Gate<super::sse::Stream>,
}

/// What a function returns: 0 is done, above 0 is a pause and no error, below 0 is a failure. Failures lie far from
/// any value of `errno`. `aside_last_error()` has the message of a failure, `aside_status_text()` the general sentence.
pub type aside_status = i32;

/// Options of a scanner. Set all of it to zero, then `size`; fields may be added at the end in later versions.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_options {
    /// `sizeof(aside_options)` of the caller's header.
    pub size: size_t,
    /// What is open at the first byte: an `ASIDE_START_` value.
    pub start: u32,
    /// What becomes of a closer of the thinking without an opener, after content: an `ASIDE_STRAY_CLOSE_` value.
    pub stray_close: u32,
    /// Collect whole thoughts for `aside_scanner_take_thought()`: the most bytes of them to hold at a time, text, types and
    /// attributes, of which each counts as 48 at least. What has no room is cut off, the text last. 0: off.
    pub collect: u64,
    /// The most thinking before an `ASIDE_BUDGET` event. 0 where `has_budget` is not 1.
    pub budget: u64,
    /// 1: there is a budget.
    pub has_budget: u32,
    /// What the budget counts: an `ASIDE_BUDGET_` value, bytes or characters.
    pub budget_unit: u32,
    /// What has the budget: an `ASIDE_BUDGET_` value, span or stream.
    pub budget_scope: u32,
    /// 0.
    pub reserved: u32,
}

impl Versioned for aside_options {
    const FIRST: usize = size_of::<size_t>();
}

/// A token of the model's, as the caller's tokenizer knows it. Of zero bytes, it counts nowhere.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_token {
    /// How many bytes of the buffer.
    pub len: u32,
    /// 1: it is one of the tokenizer's added tokens. 0: it is text, whatever it looks like.
    pub special: u32,
}

/// What a channel has had of a stream. Set `size` before each call; fields may be added at the end in later versions.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_counts {
    /// `sizeof(aside_counts)` of the caller's header.
    pub size: size_t,
    /// Bytes of text. Markers and framing count nowhere.
    pub bytes: u64,
    /// Characters of text; of invalid UTF-8, the bytes that do not continue a character.
    pub characters: u64,
    /// Spans that were opened.
    pub spans: u64,
    /// Tokens whose first byte is text of the channel, of those from `aside_scanner_feed_tokens()`.
    pub tokens: u64,
}

impl Versioned for aside_counts {
    const FIRST: usize = offset_of!(aside_counts, tokens) + size_of::<u64>();
}

/// Options of `aside_sse_new()`. Set all of it to zero, then `size`; fields may be added at the end in later versions.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_sse_options {
    /// `sizeof(aside_sse_options)` of the caller's header.
    pub size: size_t,
    /// What is open at the first byte of each choice's text: an `ASIDE_START_` value.
    pub start: u32,
    /// What the field for the thinking is called: an `ASIDE_FIELD_` value.
    pub field: u32,
    /// What comes in: an `ASIDE_BODY_` value.
    pub body: u32,
    /// 1: nothing is split, what comes in goes out. 0: the text is split.
    pub off: u32,
    /// The most bytes of an event, or of a JSON body, that are read: longer ones pass as they are. 0: 16 MiB.
    pub max_event: u64,
    /// What becomes of a closer of the thinking without an opener, after content: an `ASIDE_STRAY_CLOSE_` value.
    pub stray_close: u32,
    /// 0.
    pub reserved: u32,
}

impl Versioned for aside_sse_options {
    const FIRST: usize = size_of::<size_t>();
}

/// One event: 64 bytes without a pointer. Every byte of the stream is in exactly one event; together, in order, the
/// events are the stream.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_event {
    /// `ASIDE_OPEN`, `ASIDE_ATTRIBUTE`, `ASIDE_TEXT`, `ASIDE_FRAMING`, `ASIDE_CLOSE`, `ASIDE_RECLASSIFY` or
    /// `ASIDE_BUDGET`. Pass over others: there may be more one day.
    pub kind: u32,
    /// `ASIDE_CONTENT`, `ASIDE_THINKING`, `ASIDE_NARRATION` or `ASIDE_TOOL`: of the span that opens or closes, or of
    /// the text; of framing, the channel around it.
    pub channel: u32,
    /// Of `ASIDE_CLOSE`, an `ASIDE_CAUSE_` value; otherwise 0.
    pub cause: u32,
    /// Of `ASIDE_OPEN`, which `[[span]]` of the dialect's file, from 0; the number of spans stands for a header.
    pub rule: u32,
    /// Where the bytes stand in the stream: its first byte has offset 0. Of `ASIDE_ATTRIBUTE`, where the marker does.
    pub offset: u64,
    /// How many bytes. Of `ASIDE_ATTRIBUTE`, 0.
    pub len: u64,
    /// Of `ASIDE_OPEN`, which of the span's opening literals or names, from 0: `aside_dialect_opener()` has the words.
    pub tag: u32,
    /// Of `ASIDE_ATTRIBUTE` in an event array: where its name begins in `aside_fed.attributes`. Otherwise 0.
    pub text_at: u32,
    /// Of `ASIDE_ATTRIBUTE`: the length of its name.
    pub name_len: u32,
    /// Of `ASIDE_ATTRIBUTE`: the length of its decoded value, which stands directly behind the name.
    pub value_len: u32,
    /// Of `ASIDE_ATTRIBUTE`: where the name stands in the marker, counted from the marker's first byte.
    pub raw_name_at: u32,
    /// Its length there; 0 where the marker has no name for it.
    pub raw_name_len: u32,
    /// Of `ASIDE_ATTRIBUTE`: where the value stands in the marker, not decoded, counted from the marker's first byte.
    pub raw_value_at: u32,
    /// Its length there.
    pub raw_value_len: u32,
}

/// Called for each event. `user` is what the feeding function was given. `bytes` has `event->len` bytes, except for
/// `ASIDE_ATTRIBUTE`: there it has the name and directly behind it the decoded value, `event->name_len` and
/// `event->value_len` bytes. It is never NULL and has no NUL at its end. `event` and `bytes` may be used until the
/// callback returns; whoever needs them longer copies them.
///
/// Return 0 to go on; anything else pauses: the feeding function returns `ASIDE_STOPPED`.
///
/// The callback runs in the thread that feeds. It may use other scanners and any dialect; every function that is given
/// the scanner that is feeding says `ASIDE_ERROR_BUSY` and does nothing. No C++ exception and no `longjmp` may leave it:
/// catch there, return 1, and throw again behind the call. Nor may its thread end in it.
pub type aside_event_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, event: *const aside_event, bytes: *const c_char) -> i32>;

/// What a call with an event array says beside the events. Filled by the library, on success and on `ASIDE_MORE` only.
///
/// The bytes of an event stand at `buf[event.offset - offset]`, as many as `event.len`. Where `event.offset` is below
/// `offset`, the event begins in bytes that an earlier call had held back: these are the last ones of `held`. The rest
/// of it, if any, is at the start of `buf`.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_fed {
    /// How many events were written.
    pub count: size_t,
    /// How many bytes of `buf` are done: fed, and not to be fed again.
    pub consumed: size_t,
    /// The offset in the stream of `buf[0]`.
    pub offset: u64,
    /// What stood directly before `buf[0]` and had been held back. Never NULL; memory of the scanner, good until the
    /// next call with this scanner. After `aside_scanner_start_from_prompt()` it may begin with bytes of the prompt, which
    /// are in no event.
    pub held: *const c_char,
    /// Its length.
    pub held_len: size_t,
    /// Names and decoded values of the attributes, at `event.text_at`. Never NULL; memory of the scanner, good until
    /// the next call with this scanner.
    pub attributes: *const c_char,
    /// Its length.
    pub attributes_len: size_t,
}

/// An attribute of a thought.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_attribute {
    /// Its name. Never NULL, no NUL at its end.
    pub name: *const c_char,
    /// The length of the name.
    pub name_len: size_t,
    /// Its decoded value. Never NULL, no NUL at its end.
    pub value: *const c_char,
    /// The length of the value.
    pub value_len: size_t,
}

/// A whole thought. Set `size` before each call; fields may be added at the end in later versions. What the pointers
/// lead to is memory of the scanner, good until the next `aside_scanner_take_thought()`, `aside_scanner_reset()` or
/// `aside_scanner_free()` of this scanner. Feeding leaves it alone.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_thought {
    /// `sizeof(aside_thought)` of the caller's header.
    pub size: size_t,
    /// The text. Never NULL, no NUL at its end.
    pub text: *const c_char,
    /// The length of the text.
    pub text_len: size_t,
    /// The offset in the stream of the marker that opened it.
    pub offset: u64,
    /// Why it ended: an `ASIDE_CAUSE_` value. `ASIDE_CAUSE_END`: it was cut off.
    pub cause: u32,
    /// 1 where `options.collect` was too small for all of it, otherwise 0.
    pub truncated: u32,
    /// 1 where the marker had a type, otherwise 0.
    pub has_thought_type: u32,
    /// 1 where the marker had a confidence, otherwise 0.
    pub has_confidence: u32,
    /// The type. Never NULL, no NUL at its end.
    pub thought_type: *const c_char,
    /// The length of the type.
    pub thought_type_len: size_t,
    /// The confidence, from 0 to 1; 0 where there is none.
    pub confidence: f64,
    /// The marker's attributes, in their order. Never NULL.
    pub attributes: *const aside_attribute,
    /// How many there are.
    pub attribute_count: size_t,
}

impl Versioned for aside_thought {
    const FIRST: usize = offset_of!(aside_thought, attribute_count) + size_of::<size_t>();
}

// What the layout is can never change; C checks the same in tests/c/layout.c.
const _: () = {
    layout!(aside_token 8: len 0, special 4);
    layout!(aside_event 64: kind 0, channel 4, cause 8, rule 12, offset 16, len 24, tag 32, text_at 36, name_len 40,
        value_len 44, raw_name_at 48, raw_name_len 52, raw_value_at 56, raw_value_len 60);
};
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_options 48: size 0, start 8, stray_close 12, collect 16, budget 24, has_budget 32, budget_unit 36,
        budget_scope 40, reserved 44);
    layout!(aside_counts 40: size 0, bytes 8, characters 16, spans 24, tokens 32);
    layout!(aside_sse_options 40: size 0, start 8, field 12, body 16, off 20, max_event 24, stray_close 32,
        reserved 36);
    layout!(aside_fed 56: count 0, consumed 8, offset 16, held 24, held_len 32, attributes 40, attributes_len 48);
    layout!(aside_attribute 32: name 0, name_len 8, value 16, value_len 24);
    layout!(aside_thought 88: size 0, text 8, text_len 16, offset 24, cause 32, truncated 36, has_thought_type 40,
        has_confidence 44, thought_type 48, thought_type_len 56, confidence 64, attributes 72, attribute_count 80);
    assert!(aside_options::FIRST == 8);
    assert!(aside_counts::FIRST == 40);
    assert!(aside_sse_options::FIRST == 8);
    assert!(aside_thought::FIRST == 88);
};
