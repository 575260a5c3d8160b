//! Feeding with a callback.

use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, c_void, size_t};
use safer_ffi::prelude::*;

use super::feed::{Work, append, clear, feed_of_tokens, record, text_record};
use super::{Lent, Stream, enter, failed, inside, ready};
use crate::ffi::gate::{BUSY, READY, is_ready};
use crate::ffi::memory::{bytes, lend};
use crate::ffi::status::fail_null;
use crate::ffi::types::*;
use crate::scanner::SHORT;
use crate::{Events, Kind};

/// An `aside_event_fn` that is not NULL.
type EventFn = unsafe extern "C" fn(*mut c_void, *const aside_event, *const c_char) -> i32;

/// Calls `callback` for each event until it stops or there are none.
///
/// # Safety
/// `callback` is a function of that type, and `user` is what it expects.
#[inline]
unsafe fn deliver(
    events: &mut Events<'_>,
    place: &mut Option<Box<Lent>>,
    callback: EventFn,
    user: *mut c_void,
) -> aside_status {
    loop {
        let event = match events.next() {
            Ok(Some(event)) => event,
            Ok(None) => return ASIDE_OK,
            Err(error) => return failed(error),
        };
        let record = record(&event);
        let text = match &event.kind {
            Kind::Attribute(attribute) => {
                clear(place);
                match append(place, attribute.name, attribute.value) {
                    Ok((_, text)) => text,
                    Err(status) => return status,
                }
            }
            _ => event.bytes,
        };
        // SAFETY: the caller's promise; record and text outlive the call.
        if unsafe { callback(user, &record, lend(text)) } != 0 {
            return ASIDE_STOPPED;
        }
    }
}

/// The callback form of all of it.
///
/// # Safety
/// `scanner` is NULL or there; `callback` fits `user`.
#[inline]
unsafe fn with_callback(
    scanner: *mut aside_scanner,
    work: Work<'_>,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    let Some(callback) = callback else {
        return fail_null("callback");
    };
    let body = |stream: &mut Stream| {
        if let Some((channel, offset, text)) = work.plain(&mut stream.scanner) {
            stream.consumed = text.len();
            // SAFETY: the caller's promise; the record and the bytes outlive the call.
            let verdict = unsafe { callback(user, &text_record(channel, offset, text.len()), lend(text)) };
            return if verdict == 0 { ASIDE_OK } else { ASIDE_STOPPED };
        }
        let mut events = match work.start(&mut stream.scanner) {
            Ok(events) => events,
            Err(error) => return failed(error),
        };
        // SAFETY: the caller's promise.
        let status = unsafe { deliver(&mut events, &mut stream.lent, callback, user) };
        stream.consumed = events.consumed();
        status
    };
    // SAFETY: the caller's promise.
    unsafe { enter(scanner, is_ready, body) }
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
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and a callback that fits. The state is BUSY while the
    // callback runs, and `stream` is not used behind it.
    unsafe {
        if let Some(call) = callback
            && let Some((stream, chunk)) = ready(scanner, buf, len, SHORT)
        {
            if let Some((_, offset)) = stream.scanner.short_text(chunk) {
                stream.consumed = len;
                return call_back(scanner, chunk, call, user, offset);
            }
            return match stream.scanner.is_holding() {
                true => feed_joined(scanner, buf, len, call, user),
                false => feed_fresh(scanner, buf, len, call, user),
            };
        }
        feed_long(scanner, buf, len, callback, user)
    }
}

/// `aside_scanner_feed` of longer chunks, and of what is wrong. From here to `feed_by_engine`, all are of C's kind, which
/// cannot unwind, and have the same arguments: so the way there is a jump, and short text saves no registers for it.
///
/// # Safety
/// As of `aside_scanner_feed`.
#[inline(never)]
unsafe extern "C" fn feed_long(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and a callback that fits. The state is BUSY while the
    // callback runs, and `stream` is not used behind it.
    unsafe {
        if let Some(call) = callback
            && let Some((stream, chunk)) = ready(scanner, buf, len, isize::MAX as usize)
        {
            if let Some((_, offset)) = stream.scanner.long_text(chunk) {
                stream.consumed = len;
                return call_back(scanner, chunk, call, user, offset);
            }
            if stream.scanner.is_holding() {
                return feed_in_two(scanner, buf, len, call, user);
            }
            if let Some((_, offset, text)) = stream.scanner.long_part(chunk) {
                stream.consumed = len;
                return call_back_if_any(scanner, chunk.get(..text), call, user, offset);
            }
        }
        feed_by_engine(scanner, buf, len, callback, user)
    }
}

/// The same of long chunks where something is held: what decides that goes first.
///
/// # Safety
/// `ready` gives the stream and the chunk; `call` fits `user`.
#[inline(never)]
unsafe extern "C" fn feed_in_two(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    call: EventFn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller's promise. No `&mut Stream` is used behind a call that makes another.
    unsafe {
        let (stream, chunk) = inside(scanner, buf, len);
        let Some(part) = stream.scanner.first_part(chunk) else {
            return feed_by_engine(scanner, buf, len, Some(call), user);
        };
        let status = feed_joined(scanner, buf, part, call, user);
        if status != ASIDE_OK {
            return status;
        }
        let (rest, left) = (buf.add(part), len - part);
        let (stream, _) = inside(scanner, rest, left);
        let status = match left <= SHORT || stream.scanner.is_holding() {
            true => feed_fresh(scanner, rest, left, call, user),
            false => feed_long(scanner, rest, left, Some(call), user),
        };
        let (stream, _) = inside(scanner, rest, left);
        stream.consumed += part;
        status
    }
}

/// The same of short chunks that are not one plain text, where nothing is held that is calm.
///
/// # Safety
/// `ready` gives the stream and the chunk; `call` fits `user`.
#[inline(never)]
unsafe extern "C" fn feed_fresh(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    call: EventFn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller's promise. The state is BUSY while the callback runs, and `stream` is not used behind it.
    unsafe {
        let (stream, chunk) = inside(scanner, buf, len);
        if let Some((_, offset, text)) = stream.scanner.fresh_text(chunk) {
            stream.consumed = len;
            return call_back_if_any(scanner, chunk.get(..text), call, user, offset);
        }
        feed_by_engine(scanner, buf, len, Some(call), user)
    }
}

/// The same where something is held, which the text then begins with.
///
/// # Safety
/// `ready` gives the stream and the chunk; `call` fits `user`.
#[inline(never)]
unsafe extern "C" fn feed_joined(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    call: EventFn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller's promise. The state is BUSY while the callback runs, and `stream` is not used behind it.
    unsafe {
        let (stream, chunk) = inside(scanner, buf, len);
        if let Some((_, offset, text)) = stream.scanner.joined_text(chunk) {
            stream.consumed = len;
            return call_back_if_any(scanner, Some(text), call, user, offset);
        }
        feed_by_engine(scanner, buf, len, Some(call), user)
    }
}

/// The same where only the engine can tell; what is wrong comes here too.
///
/// # Safety
/// As of `aside_scanner_feed`.
#[inline(never)]
unsafe extern "C" fn feed_by_engine(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and a callback that fits.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => with_callback(scanner, Work::Feed(chunk), callback, user),
            Err(status) => status,
        }
    }
}

/// Calls the callback with a text of the innermost channel.
///
/// # Safety
/// The scanner is there, and READY; `callback` fits `user`. A `&mut Stream` from before is not used again.
#[inline(never)]
unsafe fn call_back(
    scanner: *mut aside_scanner,
    text: &[u8],
    callback: EventFn,
    user: *mut c_void,
    offset: u64,
) -> aside_status {
    // SAFETY: the caller's promise; the record and the text outlive the call.
    unsafe {
        let channel = (*(*scanner).gate.inner.get()).scanner.channel();
        (*scanner).gate.state.store(BUSY, Relaxed);
        let verdict = callback(user, &text_record(channel, offset, text.len()), text.as_ptr().cast());
        (*scanner).gate.state.store(READY, Relaxed);
        if verdict == 0 { ASIDE_OK } else { ASIDE_STOPPED }
    }
}

/// The same where there is text.
///
/// # Safety
/// As of `call_back`.
#[inline(always)]
unsafe fn call_back_if_any(
    scanner: *mut aside_scanner,
    text: Option<&[u8]>,
    call: EventFn,
    user: *mut c_void,
    offset: u64,
) -> aside_status {
    match text {
        // SAFETY: the caller's promise.
        Some(text) if !text.is_empty() => unsafe { call_back(scanner, text, call, user, offset) },
        _ => ASIDE_OK,
    }
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
    unsafe { with_callback(scanner, Work::Finish, callback, user) }
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
    unsafe { with_callback(scanner, Work::Flush, callback, user) }
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
            Ok(work) => with_callback(scanner, work, callback, user),
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
    unsafe { with_callback(scanner, Work::ForceClose, callback, user) }
}
