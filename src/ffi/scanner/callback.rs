//! Feeding with a callback.

use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, c_void, size_t};
use safer_ffi::prelude::*;

use super::feed::feed;
use super::sink::{Sink, Work, append, clear, feed_of_tokens, record, text_record};
use super::{Stream, enter, failed};
use crate::Kind;
use crate::ffi::gate::{BUSY, READY, is_ready};
use crate::ffi::memory::lend;
use crate::ffi::status::fail_null;
use crate::ffi::types::*;
use crate::scanner::Text;

/// A function that each event is handed to.
#[derive(Clone, Copy)]
struct Callback {
    function: aside_event_fn,
    user: *mut c_void,
}

impl Sink for Callback {
    const IN_PARTS: bool = true;

    #[inline(always)]
    fn is_sound(self) -> bool {
        self.function.is_some()
    }

    #[inline(always)]
    unsafe fn text(self, scanner: *mut aside_scanner, chunk: &[u8], text: Text) -> aside_status {
        let Some(function) = self.function.filter(|_| text.len > 0) else { return ASIDE_OK };
        // SAFETY: the caller's promise: the record and the text outlive the call, and the state is BUSY while it runs.
        unsafe {
            let scanner_inside = &(*(*scanner).gate.inner.get()).scanner;
            let record = text_record(scanner_inside.channel(), text.offset, text.len);
            let bytes = scanner_inside.bytes(&text, chunk).as_ptr();
            (*scanner).gate.state.store(BUSY, Relaxed);
            let verdict = function(self.user, &record, bytes.cast());
            (*scanner).gate.state.store(READY, Relaxed);
            if verdict == 0 { ASIDE_OK } else { ASIDE_STOPPED }
        }
    }

    #[inline(never)]
    unsafe fn events(self, scanner: *mut aside_scanner, work: Work<'_>, fed: usize) -> aside_status {
        let Some(function) = self.function else {
            return fail_null("callback");
        };
        let body = |stream: &mut Stream| {
            if let Some((chunk, text)) = work.advance(&mut stream.scanner) {
                stream.consumed = chunk.len();
                let record = text_record(stream.scanner.channel(), text.offset, text.len);
                // SAFETY: the caller's promise; the record and the bytes outlive the call.
                let verdict = unsafe { function(self.user, &record, lend(chunk)) };
                return if verdict == 0 { ASIDE_OK } else { ASIDE_STOPPED };
            }
            let mut events = match work.start(&mut stream.scanner) {
                Ok(events) => events,
                Err(error) => return failed(error),
            };
            let status = loop {
                let event = match events.next() {
                    Ok(Some(event)) => event,
                    Ok(None) => break ASIDE_OK,
                    Err(error) => break failed(error),
                };
                let record = record(&event);
                let text = match &event.kind {
                    Kind::Attribute(attribute) => {
                        clear(&mut stream.lent);
                        match append(&mut stream.lent, attribute.name, attribute.value) {
                            Ok((_, text)) => text,
                            Err(status) => break status,
                        }
                    }
                    _ => event.bytes,
                };
                // SAFETY: the caller's promise; record and text outlive the call.
                if unsafe { function(self.user, &record, lend(text)) } != 0 {
                    break ASIDE_STOPPED;
                }
            };
            stream.consumed = fed + events.consumed();
            status
        };
        // SAFETY: the caller's promise.
        unsafe { enter(scanner, is_ready, body) }
    }
}

/// Feeds the next `len` bytes of the stream, cut anywhere, and calls `callback` for each event that they settle. `buf`
/// may be NULL where `len` is 0; such a call delivers only what is still due after a pause. `buf` must not change during
/// the call and is not used after it; it must not be memory that the scanner lent.
///
/// Returns `ASIDE_OK`: all of `buf` is done. `ASIDE_STOPPED`: the callback paused; feed what is left, from
/// `buf + aside_scanner_consumed(scanner)` on, and events that are still due come first. Below 0: `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` (nothing has changed after these);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the scanner stays in error).
///
/// Threads: one at a time for one scanner. Memory: none is allocated, but for collecting, headers, and tags with attributes.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_feed(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and a callback that fits.
    unsafe { feed(scanner, buf, len, Callback { function: callback, user }) }
}

/// Ends the stream: settles what is held back, closes what is open. After `ASIDE_OK` the scanner is as new, and the
/// next feed begins a new stream at offset 0.
///
/// Returns as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again until it says `ASIDE_OK`: a feed in between
/// fails with `ASIDE_ERROR_ORDER`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_finish(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and a callback that fits.
    unsafe { Callback { function: callback, user }.events(scanner, Work::Finish, 0) }
}

/// Releases what is held back as text of its channel, and keeps the state: the stream goes on. For a host that must
/// show everything now; a marker of which a part was flushed is no marker any more.
///
/// Returns as `aside_scanner_feed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_flush(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and a callback that fits.
    unsafe { Callback { function: callback, user }.events(scanner, Work::Flush, 0) }
}

/// `aside_scanner_feed()` for bytes whose tokens are known: `tokens` has `count` of them, and their lengths add up to
/// `len`. Markers that a dialect calls special then count only where a special token begins them, so that a marker typed
/// as ordinary text stays text, and `aside_scanner_counts()` tells the tokens of each channel. Feeds with and without
/// tokens may be mixed.
///
/// Returns as `aside_scanner_feed()`; `ASIDE_ERROR_LENGTH` also where the lengths do not add up: nothing has changed
/// then. After `ASIDE_STOPPED` call it again with what is left of the buffer and the tokens that are not wholly done, the
/// first of them with the length that is left of it.
///
/// Threads: one at a time for one scanner. Memory: the first such call makes room for what it must remember.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_feed_tokens(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    count: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes and `count` tokens, a scanner that is there, and a callback that fits.
    unsafe {
        match feed_of_tokens(buf, len, tokens, count) {
            Ok(work) => Callback { function: callback, user }.events(scanner, work, 0),
            Err(status) => status,
        }
    }
}

/// Closes the thinking that is open: releases what is held back as text, and ends the span with `ASIDE_CAUSE_FORCED`.
/// Where the innermost span is no thinking, nothing happens; nor before the first byte, where a prompt has opened one.
/// A closer that comes next, with only blanks before it, is removed (a fence's is not: it is text). For a host that ends
/// a thinking which has become too long.
///
/// Returns as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again; a feed in between goes on with the thinking,
/// if the close has not been delivered.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_force_close(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and a callback that fits.
    unsafe { Callback { function: callback, user }.events(scanner, Work::ForceClose, 0) }
}
