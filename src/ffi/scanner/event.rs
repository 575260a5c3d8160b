//! Events in C's form. `aside_event` has no pointers, because Go may not keep pointers in memory that C writes to.

use std::ffi::c_void;
use std::mem::offset_of;

use libc::{c_char, size_t};

use crate::ffi::constants::*;
use crate::ffi::memory::{is_struct_size, layout};
use crate::ffi::status::fail_with;
use crate::{Channel, Event, Kind};

/// One event: 80 bytes without a pointer. Every byte of the stream is in exactly one event; joined in order, the events
/// are the stream. Later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_event {
    /// The kind of the event. Ignore values that you do not know: later versions may add some.
    pub kind: aside_kind,
    /// The channel of the span that opens or closes, or of the text; for framing, the channel around it.
    pub channel: aside_channel,
    /// For `ASIDE_KIND_CLOSE` and `ASIDE_KIND_CALL_END`, why the span or the call ended; otherwise 0.
    pub cause: aside_cause,
    /// For `ASIDE_KIND_OPEN` and `ASIDE_KIND_CALL`, the index of the `[[span]]` in the dialect's file, from 0; an index equal to
    /// the number of spans means a header.
    pub rule: u32,
    /// The offset of the bytes in the stream, whose first byte has offset 0. For `ASIDE_KIND_ATTRIBUTE`, the offset of the marker.
    pub offset: u64,
    /// The number of bytes. For `ASIDE_KIND_ATTRIBUTE`, 0.
    pub len: u64,
    /// For `ASIDE_KIND_OPEN`, the index of the span's opening literal or name, from 0: `aside_dialect_opener()` returns the
    /// words. For `ASIDE_KIND_CALL`, the index of the span's table, from 0. For `ASIDE_KIND_CALL_VALUE_END`, 1 if the value ended
    /// without its closer or with a misspelt one; for `ASIDE_KIND_CALL_END`, 1 if a value of the call ended in this way.
    /// Otherwise 0.
    pub tag: u32,
    /// In an event array: for `ASIDE_KIND_ATTRIBUTE`, and for an `ASIDE_KIND_CALL_NAME` that has `value_len`, the offset of the
    /// name in `aside_event_array.attributes`. Otherwise 0.
    pub text_at: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, the length of its name.
    pub name_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, the length of its decoded value, which follows the name directly. For an `ASIDE_KIND_CALL_NAME`
    /// that is the value of a header's field, the length of that value.
    pub value_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, the offset of the name in the marker.
    pub raw_name_at: u32,
    /// The length of the name in the marker; 0 if the marker does not write the name.
    pub raw_name_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, the offset of the undecoded value in the marker.
    pub raw_value_at: u32,
    /// The length of the undecoded value in the marker.
    pub raw_value_len: u32,
    /// For `ASIDE_KIND_CALL` and `ASIDE_KIND_CALL_END`, the number of the call in the stream, from 0. Otherwise 0.
    pub call: u32,
    /// The number of tokens of `aside_scanner_feed_tokens()` that begin inside the event's bytes. A token that begins in one event
    /// and ends in another belongs to the first, so that each token with bytes is in exactly one event. In bytes that were fed
    /// without tokens, no token begins.
    pub tokens: u32,
    /// The number of tokens of the stream that begin before the event: for the next event it is `first_token + tokens`. For
    /// `ASIDE_KIND_ATTRIBUTE`, the tokens of its marker are included.
    pub first_token: u64,
}

/// Called for each event. `user` is the argument of the feeding function. `bytes` has `event->len` bytes, with two exceptions: for
/// `ASIDE_KIND_ATTRIBUTE`, it has the name and, directly after it, the decoded value, `event->name_len` and `event->value_len`
/// bytes; for an `ASIDE_KIND_CALL_NAME` with `event->value_len`, it has the name. It is never NULL and has no NUL at its end.
/// `event` and `bytes` are valid until the callback returns; copy anything that is needed longer.
///
/// Return 0 to continue; non-zero pauses: the feeding function returns `ASIDE_STOPPED`.
///
/// The callback runs in the thread that feeds. It may use other scanners and any dialect; a function that is called with the
/// feeding scanner returns `ASIDE_ERROR_BUSY` and does nothing. No C++ exception and no `longjmp` may leave the callback: catch the
/// exception, return 1, and throw it again after the call. The thread must not end inside the callback.
pub type aside_event_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, event: *const aside_event, bytes: *const c_char) -> i32>;

// The layouts never change; tests/c/layout.c checks them in C.
const _: () = {
    layout!(aside_event 80: kind 0, channel 4, cause 8, rule 12, offset 16, len 24, tag 32, text_at 36, name_len 40,
        value_len 44, raw_name_at 48, raw_name_len 52, raw_value_at 56, raw_value_len 60, call 64, tokens 68,
        first_token 72);
};

/// The fields of an event up to `len`, which every host reads: an array's entries have at least these.
const FIRST_FIELDS: usize = offset_of!(aside_event, tag);

/// Returns an event of text for C, in which no token begins.
#[inline]
pub(super) fn text_record(channel: Channel, offset: u64, len: usize, first_token: u64) -> aside_event {
    aside_event {
        kind: ASIDE_KIND_TEXT,
        channel: channel.to_number(),
        cause: 0,
        rule: 0,
        offset,
        len: len as u64,
        tag: 0,
        text_at: 0,
        name_len: 0,
        value_len: 0,
        raw_name_at: 0,
        raw_name_len: 0,
        raw_value_at: 0,
        raw_value_len: 0,
        call: 0,
        tokens: 0,
        first_token,
    }
}

/// Returns an event for C, without an attribute's names and values.
#[inline]
pub(super) fn record(event: &Event<'_>) -> aside_event {
    let mut record = text_record(event.channel, event.offset, event.bytes.len(), event.first_token);
    record.kind = event.kind.to_number();
    record.tokens = event.tokens;
    match &event.kind {
        Kind::Open { rule, tag } => {
            record.rule = *rule;
            record.tag = *tag;
        }
        Kind::Close(cause) => {
            record.cause = cause.to_number();
        }
        Kind::Attribute(attribute) => {
            // The limit for a tag is itself a u32, and no decoded value is longer than its raw form.
            record.name_len = attribute.name.len() as u32;
            record.value_len = attribute.value.len() as u32;
            record.raw_name_at = attribute.raw_name.start as u32;
            record.raw_name_len = attribute.raw_name.len() as u32;
            record.raw_value_at = attribute.raw_value.start as u32;
            record.raw_value_len = attribute.raw_value.len() as u32;
        }
        Kind::Call { rule, table, index } => {
            record.rule = *rule;
            record.tag = *table;
            record.call = number(*index);
        }
        Kind::CallName(name) => {
            // The limit for a header is far smaller.
            record.value_len = name.map_or(0, |name| name.len() as u32);
        }
        Kind::CallValueEnd { is_repaired } => record.tag = (*is_repaired).into(),
        Kind::CallEnd { index, cause, is_repaired } => {
            record.cause = cause.to_number();
            record.tag = (*is_repaired).into();
            record.call = number(*index);
        }
        _ => {} // these events have no further fields
    }
    record
}

/// Refuses a size that no version of the struct has.
pub(super) fn check_event_size(event_size: size_t) -> Result<(), aside_status> {
    match is_struct_size(event_size, FIRST_FIELDS) {
        true => Ok(()),
        false => Err(fail_with(ASIDE_ERROR_SIZE, "event_size is not sizeof(aside_event) of any version")),
    }
}

/// Returns the number of a call, or the largest `u32` if the number is larger, which no stream reaches.
fn number(index: u64) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
