//! Events as C sees them. `aside_event` has no pointers: Go keeps none in memory that C writes to.

use std::ffi::c_void;

use libc::c_char;
use safer_ffi::prelude::*;

use crate::ffi::constants::*;
use crate::ffi::memory::{bytes as bytes_of, layout};
use crate::ffi::numbers::value;
use crate::ffi::status::fail;
use crate::{Channel, Event, Kind};

/// One event: 64 bytes without a pointer. Every byte of the stream is in exactly one event; joined in order, the events
/// are the stream.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_event {
    /// What it reports. Ignore values that you do not know: later versions may add some.
    pub kind: aside_kind,
    /// The channel of the span that opens or closes, or of the text; for framing, the channel around it.
    pub channel: aside_channel,
    /// For `ASIDE_KIND_CLOSE` and `ASIDE_KIND_CALL_END`, why the span or the call ended; otherwise 0.
    pub cause: aside_cause,
    /// For `ASIDE_KIND_OPEN` and `ASIDE_KIND_CALL`, which `[[span]]` of the dialect's file, from 0; the number of spans stands for a
    /// header.
    pub rule: u32,
    /// Where the bytes are in the stream, whose first byte has offset 0. For `ASIDE_KIND_ATTRIBUTE`, where the marker is.
    pub offset: u64,
    /// How many bytes. For `ASIDE_KIND_ATTRIBUTE`, 0.
    pub len: u64,
    /// For `ASIDE_KIND_OPEN`, which of the span's opening literals or names, from 0: `aside_dialect_opener()` returns it. For
    /// `ASIDE_KIND_CALL`, which of the span's tables, from 0.
    pub tag: u32,
    /// For `ASIDE_KIND_ATTRIBUTE` in an event array, where its name begins in `aside_fed.attributes`; so for an
    /// `ASIDE_KIND_CALL_NAME` that has `value_len`. For `ASIDE_KIND_CALL` and `ASIDE_KIND_CALL_END`, the number of the call in the
    /// stream, from 0. Otherwise 0.
    pub text_at: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, the length of its name.
    pub name_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, the length of its decoded value, which follows the name directly. For an `ASIDE_KIND_CALL_NAME`
    /// that is the value of a header's field, its length.
    pub value_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, where the name is in the marker, counted from the marker's first byte.
    pub raw_name_at: u32,
    /// Its length there; 0 if the marker has no name for it.
    pub raw_name_len: u32,
    /// For `ASIDE_KIND_ATTRIBUTE`, where the value is in the marker, not decoded, counted from the marker's first byte.
    pub raw_value_at: u32,
    /// Its length there.
    pub raw_value_len: u32,
}

/// Called for each event. `user` is what the feeding function was given. `bytes` has `event->len` bytes, except for
/// `ASIDE_KIND_ATTRIBUTE`: there it has the name and, directly after it, the decoded value, `event->name_len` and
/// `event->value_len` bytes; and for an `ASIDE_KIND_CALL_NAME` with `event->value_len`: there it has the name. It
/// is never NULL and has no NUL at its end. `event` and `bytes` are valid until the callback returns; copy what is needed
/// longer.
///
/// Return 0 to go on; non-zero pauses: the feeding function returns `ASIDE_STOPPED`.
///
/// The callback runs in the thread that feeds. It may use other scanners and any dialect; every function that is given
/// the scanner that is feeding returns `ASIDE_ERROR_BUSY` and does nothing. No C++ exception and no `longjmp` may leave
/// it: catch the exception, return 1, and throw it again after the call. Nor may its thread end in it.
pub type aside_event_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, event: *const aside_event, bytes: *const c_char) -> i32>;

// No layout ever changes; C checks the same in tests/c/layout.c.
const _: () = {
    layout!(aside_event 64: kind 0, channel 4, cause 8, rule 12, offset 16, len 24, tag 32, text_at 36, name_len 40,
        value_len 44, raw_name_at 48, raw_name_len 52, raw_value_at 56, raw_value_len 60);
};

/// An event of text as C sees it.
#[inline]
pub(super) fn text_record(channel: Channel, offset: u64, len: usize) -> aside_event {
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
    }
}

/// An event as C sees it, all but an attribute's names and values.
#[inline]
pub(super) fn record(event: &Event<'_>) -> aside_event {
    let mut record = text_record(event.channel, event.offset, event.bytes.len());
    record.kind = event.kind.to_number();
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
            record.text_at = number(*index);
        }
        Kind::CallName(name) => {
            // The limit for a header is far below.
            record.value_len = name.map_or(0, |name| name.len() as u32);
        }
        Kind::CallEnd { index, cause } => {
            record.cause = cause.to_number();
            record.text_at = number(*index);
        }
        _ => {} // the kind is all there is
    }
    record
}

/// Returns an event of C's that belongs to a tool call as the scanner reported it, None for all others. It has no field that
/// later versions may add, so that any version's event will do.
///
/// # Safety
/// `bytes` has as many bytes as an `aside_event_fn` is called with for the event.
pub(in crate::ffi) unsafe fn call_event<'a>(
    event: &aside_event,
    bytes: *const c_char,
) -> Result<Option<Event<'a>>, aside_status> {
    let is_of_call = (ASIDE_KIND_CALL..=ASIDE_KIND_CALL_END).contains(&event.kind) || event.kind == ASIDE_KIND_FRAMING;
    if !is_of_call || event.channel != ASIDE_CHANNEL_TOOL {
        return Ok(None);
    }
    let has_field = event.kind == ASIDE_KIND_CALL_NAME && event.value_len > 0;
    let len = if has_field { event.value_len.into() } else { event.len };
    let len = usize::try_from(len).map_err(|_| fail(ASIDE_ERROR_LENGTH))?;
    // SAFETY: the caller's promise.
    let text = unsafe { bytes_of(bytes, len, "bytes") }?;
    let index = event.text_at.into();
    let kind = match event.kind {
        ASIDE_KIND_CALL => Kind::Call { rule: event.rule, table: event.tag, index },
        ASIDE_KIND_CALL_NAME => Kind::CallName(has_field.then_some(text)),
        ASIDE_KIND_CALL_ID => Kind::CallId,
        ASIDE_KIND_CALL_KEY => Kind::CallKey,
        ASIDE_KIND_CALL_TYPE => Kind::CallType,
        ASIDE_KIND_CALL_VALUE => Kind::CallValue,
        ASIDE_KIND_CALL_VALUE_END => Kind::CallValueEnd,
        ASIDE_KIND_CALL_END => Kind::CallEnd { index, cause: value(event.cause, "event->cause")? },
        _ => Kind::Framing,
    };
    let bytes = if has_field { &[] } else { text };
    Ok(Some(Event { kind, channel: Channel::Tool, offset: event.offset, bytes }))
}

/// The number of a call, or the largest one: no stream has as many.
fn number(index: u64) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
