//! Feeding with a callback. The handle must be BUSY while the callback runs, because the callback may call the library.

use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, c_void, size_t};

use super::borrowed::{Borrowed, append, clear};
use super::event::{aside_event, aside_event_fn, record, text_record};
use super::feed::feed;
use super::handle::{Stream, aside_scanner, enter};
use super::sink::{Input, Sink, kind};
use super::token::{aside_token, feed_of_tokens};
use crate::ffi::constants::*;
use crate::ffi::handle_guard::{BUSY, READY, is_ready};
use crate::ffi::memory::as_c_ptr;
use crate::ffi::status::{fail_null, failed};
use crate::scanner::{Part, Take};
use crate::{Event, Kind};

/// A function that is called with each event.
#[derive(Clone, Copy)]
struct Callback {
    function: aside_event_fn,
    user: *mut c_void,
}

impl Sink for Callback {
    const TAKE: Take = Take::Parts;

    #[inline(always)]
    unsafe fn is_sound(self) -> bool {
        self.function.is_some()
    }

    #[inline(always)]
    unsafe fn part(self, scanner: *mut aside_scanner, chunk: &[u8], part: Part) -> aside_status {
        let Some(function) = self.function.filter(|_| part.len > 0) else { return ASIDE_OK };
        // SAFETY: the caller's promise: the record and the text outlive the call, and the state is BUSY while it runs.
        unsafe {
            let scanner_inside = &(*(*scanner).guard.inner.get()).scanner;
            let Part { piece, offset, len, .. } = part;
            let record = text_record(scanner_inside.channel(), offset, len, scanner_inside.first_token());
            let record = aside_event { kind: kind(piece), ..record };
            let bytes = scanner_inside.bytes(&part, chunk).as_ptr();
            (*scanner).guard.state.store(BUSY, Relaxed);
            let verdict = function(self.user, &record, bytes.cast());
            (*scanner).guard.state.store(READY, Relaxed);
            if verdict == 0 { ASIDE_OK } else { ASIDE_STOPPED }
        }
    }

    #[inline(never)]
    unsafe fn events(self, scanner: *mut aside_scanner, input: Input<'_>, fed: usize) -> aside_status {
        let Some(function) = self.function else {
            return fail_null("callback");
        };
        let body = |stream: &mut Stream| {
            let Stream { scanner, borrowed, consumed } = stream;
            let mut status = ASIDE_OK;
            let mut hear = |event: Event<'_>| {
                // SAFETY: the caller meets this function's conditions.
                status = unsafe { hand_over(function, self.user, borrowed, &event) };
                status == ASIDE_OK
            };
            let (done, result) = if let Input::Feed(chunk) = input {
                scanner.push::<true>(chunk, 0, hear)
            } else if let Input::FeedTokens(chunk, tokens) = input
                && let Some(event) = scanner.feed_whole_tokens(chunk, tokens)
            {
                let len = event.bytes.len();
                hear(event);
                (len, Ok(()))
            } else {
                match input.start(scanner) {
                    Ok(mut events) => events.until(hear),
                    Err(error) => return failed(error),
                }
            };
            *consumed = fed + done;
            match result {
                Ok(()) => status,
                Err(error) => failed(error),
            }
        };
        // SAFETY: the caller meets this function's conditions.
        unsafe { enter(scanner, is_ready, body) }
    }
}

/// Calls the function with an event.
///
/// # Safety
/// The function's caller promises that the callback fits `user`.
#[inline(always)]
unsafe fn hand_over(
    function: unsafe extern "C" fn(*mut c_void, *const aside_event, *const c_char) -> i32,
    user: *mut c_void,
    borrowed: &mut Option<Box<Borrowed>>,
    event: &Event<'_>,
) -> aside_status {
    let record = record(event);
    let text = match &event.kind {
        Kind::Attribute(attribute) => {
            clear(borrowed);
            match append(borrowed, attribute.name, attribute.value) {
                Ok((_, text)) => text,
                Err(status) => return status,
            }
        }
        Kind::CallName(Some(name)) => name,
        _ => event.bytes,
    };
    // SAFETY: the caller's promise; record and text outlive the call.
    let verdict = unsafe { function(user, &record, as_c_ptr(text)) };
    if verdict == 0 { ASIDE_OK } else { ASIDE_STOPPED }
}

/// Feeds the next `len` bytes of the stream, cut anywhere, and calls `callback` for each event that they complete.
/// `buf` may be NULL if `len` is 0; such a call delivers only the pending events of a pause. `buf` must not change during the call
/// and is not used after it; it must not be memory of the scanner.
///
/// Returns `ASIDE_OK`: all of `buf` is consumed. `ASIDE_STOPPED`: the callback paused; feed the rest, from `buf +
/// aside_scanner_consumed(scanner)` on. Pending events are then delivered first. Below 0: `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`,
/// `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the
/// scanner stays in error).
///
/// Memory: nothing is allocated, except for collected thoughts, headers, and tags with attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_feed(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is valid, and a callback that fits.
    unsafe { feed(scanner, buf, len, Callback { function: callback, user }) }
}

/// Ends the stream: decides the held bytes, and closes open spans. After `ASIDE_OK` the scanner is reset, and the
/// next feed begins a new stream at offset 0.
///
/// Returns the same as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again until it returns `ASIDE_OK`: a feed in
/// between fails with `ASIDE_ERROR_ORDER`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_finish(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is valid, and a callback that fits.
    unsafe { Callback { function: callback, user }.events(scanner, Input::Finish, 0) }
}

/// Releases the bytes that are held back as text of their channel, and keeps the state: the stream continues. Use it if the host
/// must show everything now. If a part of a marker was flushed, the rest of the marker is text too.
///
/// Returns the same as `aside_scanner_feed()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_flush(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is valid, and a callback that fits.
    unsafe { Callback { function: callback, user }.events(scanner, Input::Flush, 0) }
}

/// Feeds bytes whose tokens are known, like `aside_scanner_feed()`: `tokens` has `count` tokens, and their lengths add up to `len`.
/// Markers that a dialect calls special then count only if a special token begins them, so that a marker typed as ordinary text
/// stays text; `first_token` and `tokens` of each event say which tokens begin in it, and `aside_scanner_counts()` counts the
/// tokens of each channel. Feeds with and without tokens may be mixed.
///
/// Returns the same as `aside_scanner_feed()`; `ASIDE_ERROR_LENGTH` also if the lengths do not add up: nothing has changed
/// then. After `ASIDE_STOPPED` call it again with the rest of the buffer and the tokens that are not completely consumed, the first
/// of them with its remaining length.
///
/// Memory: the first such call allocates the memory that it needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_feed_tokens(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    count: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes and `count` tokens, a scanner that is valid, and a callback that fits.
    unsafe {
        match feed_of_tokens(buf, len, tokens, count) {
            Ok(input) => Callback { function: callback, user }.events(scanner, input, 0),
            Err(status) => status,
        }
    }
}

/// Closes the open thinking: releases the held bytes as text, and ends the span with `ASIDE_CAUSE_FORCED`. A tool span whose calls
/// the dialect describes is closed too, and so is the call in it. Nothing happens if the innermost span is neither of these, or
/// before the first byte if a prompt has opened the span. A closer that follows, with only blanks before it, is removed, except for
/// a fence's closer, which is text. Use it to end thinking that has become too long.
///
/// Returns the same as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again; a feed in between continues the thinking if
/// the close has not been delivered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_force_close(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is valid, and a callback that fits.
    unsafe { Callback { function: callback, user }.events(scanner, Input::ForceClose, 0) }
}
