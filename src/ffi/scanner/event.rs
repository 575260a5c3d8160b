//! Events as C sees them. `aside_event` has no pointers: Go keeps none in memory that C writes to.

use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr;

use libc::{c_char, size_t};

use crate::ffi::constants::*;
use crate::ffi::memory::{bytes as bytes_of, is_struct_size, layout};
use crate::ffi::numbers::value;
use crate::ffi::status::{fail, fail_null, fail_with};
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
    /// For `ASIDE_KIND_OPEN` and `ASIDE_KIND_CALL`, which `[[span]]` of the dialect's file, from 0; the number of spans means a
    /// header.
    pub rule: u32,
    /// Where the bytes are in the stream, whose first byte has offset 0. For `ASIDE_KIND_ATTRIBUTE`, where the marker is.
    pub offset: u64,
    /// The number of bytes. For `ASIDE_KIND_ATTRIBUTE`, 0.
    pub len: u64,
    /// For `ASIDE_KIND_OPEN`, which of the span's opening literals or names, from 0: `aside_dialect_opener()` returns it. For
    /// `ASIDE_KIND_CALL`, which of the span's tables, from 0. For `ASIDE_KIND_CALL_VALUE_END`, 1 if the value ended without its
    /// closer or with a misspelt one; for `ASIDE_KIND_CALL_END`, 1 if a value of the call did. Otherwise 0.
    pub tag: u32,
    /// In an event array: for `ASIDE_KIND_ATTRIBUTE`, and for an `ASIDE_KIND_CALL_NAME` that has `value_len`, where the name
    /// begins in `aside_event_array.attributes`. Otherwise 0.
    pub text_at: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, the length of its name.
    pub name_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, the length of its decoded value, which follows the name directly. For an
    /// `ASIDE_KIND_CALL_NAME` that is the value of a header's field, its length.
    pub value_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, where the name is in the marker, counted from the marker's first byte.
    pub raw_name_at: u32,
    /// The length of the name in the marker; 0 if the marker does not write the name.
    pub raw_name_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, where the value is in the marker, not decoded, counted from the marker's first byte.
    pub raw_value_at: u32,
    /// The length of the value in the marker.
    pub raw_value_len: u32,
    /// For `ASIDE_KIND_CALL` and `ASIDE_KIND_CALL_END`, the number of the call in the stream, from 0. Otherwise 0.
    pub call: u32,
    /// The number of tokens that begin inside the event's bytes, of those that were fed with `aside_scanner_feed_tokens()`. A token
    /// that begins in one event and ends in another belongs to the first, so that each token with bytes is in exactly one event.
    /// Bytes that were fed without tokens have none.
    pub tokens: u32,
    /// The number of tokens of the stream that begin before the event: the next event has `first_token + tokens`. For
    /// `ASIDE_KIND_ATTRIBUTE`, those of its marker are among them.
    pub first_token: u64,
}

/// Called for each event. `user` is the argument of the feeding function. `bytes` has `event->len` bytes, except for
/// `ASIDE_KIND_ATTRIBUTE`: there it has the name and, directly after it, the decoded value, `event->name_len` and
/// `event->value_len` bytes; and for an `ASIDE_KIND_CALL_NAME` with `event->value_len`: there it has the name. It
/// is never NULL and has no NUL at its end. `event` and `bytes` are valid until the callback returns; copy anything that is
/// needed longer.
///
/// Return 0 to continue; non-zero pauses: the feeding function returns `ASIDE_STOPPED`.
///
/// The callback runs in the thread that feeds. It may use other scanners and any dialect; every function that is given
/// the scanner that is feeding returns `ASIDE_ERROR_BUSY` and does nothing. No C++ exception and no `longjmp` may leave
/// it: catch the exception, return 1, and throw it again after the call. Nor may its thread end in it.
pub type aside_event_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, event: *const aside_event, bytes: *const c_char) -> i32>;

// The layouts never change; tests/c/layout.c checks them in C.
const _: () = {
    layout!(aside_event 80: kind 0, channel 4, cause 8, rule 12, offset 16, len 24, tag 32, text_at 36, name_len 40,
        value_len 44, raw_name_at 48, raw_name_len 52, raw_value_at 56, raw_value_len 60, call 64, tokens 68,
        first_token 72);
};

/// The fields of an event up to `len`, which every host reads: an array's entries have at least these.
pub(super) const FIRST_FIELDS: usize = offset_of!(aside_event, tag);
/// The fields up to `call`, which a call writer reads.
const FIELDS_OF_CALLS: usize = offset_of!(aside_event, tokens);

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
            // The limit for a tag is a u32 itself, and no decoded value is longer than its raw form.
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
            // The limit for a header is far below.
            record.value_len = name.map_or(0, |name| name.len() as u32);
        }
        Kind::CallValueEnd { is_repaired } => record.tag = (*is_repaired).into(),
        Kind::CallEnd { index, cause, is_repaired } => {
            record.cause = cause.to_number();
            record.tag = (*is_repaired).into();
            record.call = number(*index);
        }
        _ => {} // the kind is all there is
    }
    record
}

/// Returns an event from C as the scanner reported it if the event belongs to a tool call, None otherwise.
///
/// # Safety
/// `event` is NULL or has `event_size` bytes; `bytes` has as many as an `aside_event_fn` is called with for the event.
pub(in crate::ffi) unsafe fn call_event<'a>(
    event: *const aside_event,
    event_size: size_t,
    bytes: *const c_char,
) -> Result<Option<Event<'a>>, aside_status> {
    if event.is_null() {
        return Err(fail_null("event"));
    }
    check_event_size(event_size, FIELDS_OF_CALLS)?;
    // SAFETY: not NULL, and the caller promises that many bytes; the struct is made of plain numbers, and may be all zero.
    let event = unsafe {
        let mut read = std::mem::zeroed::<aside_event>();
        ptr::copy_nonoverlapping(event.cast::<u8>(), (&raw mut read).cast(), event_size.min(size_of::<aside_event>()));
        read
    };
    let is_of_call = (ASIDE_KIND_CALL..=ASIDE_KIND_CALL_END).contains(&event.kind) || event.kind == ASIDE_KIND_FRAMING;
    if !is_of_call || event.channel != ASIDE_CHANNEL_TOOL {
        return Ok(None);
    }
    let has_field = event.kind == ASIDE_KIND_CALL_NAME && event.value_len > 0;
    let len = if has_field { event.value_len.into() } else { event.len };
    let len = usize::try_from(len).map_err(|_| fail(ASIDE_ERROR_LENGTH))?;
    // SAFETY: the caller's promise.
    let text = unsafe { bytes_of(bytes, len, "bytes") }?;
    let (index, is_repaired) = (event.call.into(), event.tag != 0);
    let kind = match event.kind {
        ASIDE_KIND_CALL => Kind::Call { rule: event.rule, table: event.tag, index },
        ASIDE_KIND_CALL_NAME => Kind::CallName(has_field.then_some(text)),
        ASIDE_KIND_CALL_ID => Kind::CallId,
        ASIDE_KIND_CALL_KEY => Kind::CallKey,
        ASIDE_KIND_CALL_TYPE => Kind::CallType,
        ASIDE_KIND_CALL_VALUE => Kind::CallValue,
        ASIDE_KIND_CALL_VALUE_END => Kind::CallValueEnd { is_repaired },
        ASIDE_KIND_CALL_END => Kind::CallEnd { index, cause: value(event.cause, "event->cause")?, is_repaired },
        _ => Kind::Framing,
    };
    let bytes = if has_field { &[] } else { text };
    let aside_event { offset, first_token, tokens, .. } = event;
    Ok(Some(Event { kind, channel: Channel::Tool, offset, bytes, first_token, tokens }))
}

/// Refuses a size that no version of the struct has.
pub(super) fn check_event_size(event_size: size_t, least: usize) -> Result<(), aside_status> {
    match is_struct_size(event_size, least) {
        true => Ok(()),
        false => Err(fail_with(ASIDE_ERROR_SIZE, "event_size is not sizeof(aside_event) of any version")),
    }
}

/// Returns the number of a call, or the largest `u32` if the number is larger, which no stream reaches.
fn number(index: u64) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
