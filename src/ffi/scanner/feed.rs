//! The one way to feed, whatever the sink: short and long chunks go apart, because most are short and must not pay for the
//! rest.

use libc::{c_char, size_t};

use super::handle::{aside_scanner, inside, ready};
use super::sink::Sink;
use crate::ffi::constants::*;
use crate::scanner::{SHORT, Text};

/// Feeds a chunk. Most are short, and loop in a state of the automaton: their text goes straight to the sink.
///
/// # Safety
/// `scanner` is NULL or a scanner that is still there; a `buf` that is not NULL leads to `len` bytes; the sink's pointers
/// are as its function's caller promises.
#[inline(always)]
pub(super) unsafe fn feed<S: Sink>(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    sink: S,
) -> aside_status {
    // SAFETY: the caller's promise. `stream` is not used after the sink has the text.
    unsafe {
        if sink.is_sound()
            && let Some((stream, chunk)) = ready(scanner, buf, len, SHORT)
        {
            if let Some((_, offset)) = stream.scanner.feed_loop(chunk) {
                stream.consumed = len;
                return sink.text(scanner, ASIDE_KIND_TEXT, chunk, Text { offset, is_held: false, len });
            }
            return match stream.scanner.is_outside_table() {
                true => feed_value(scanner, buf, len, sink),
                false => feed_short(scanner, buf, len, sink),
            };
        }
        feed_long(scanner, buf, len, sink)
    }
}

/// Feeds short chunks that go from state to state, and those that only a `Call` can take apart.
///
/// # Safety
/// As of `feed`; `ready` returns the stream and the chunk.
#[inline(never)]
unsafe fn feed_short<S: Sink>(scanner: *mut aside_scanner, buf: *const c_char, len: size_t, sink: S) -> aside_status {
    // SAFETY: the caller's promise. `stream` is not used after the sink has the text.
    unsafe {
        let (stream, chunk) = inside(scanner, buf, len);
        if let Some(text) = S::advance_short(&mut stream.scanner, chunk) {
            stream.consumed = len;
            return sink.text(scanner, ASIDE_KIND_TEXT, chunk, text);
        }
        sink.rest(scanner, buf, len, 0)
    }
}

/// Feeds short chunks where the automaton has no state: inside of a value, and others.
///
/// # Safety
/// As of `feed`; `ready` returns the stream and the chunk.
#[inline(never)]
unsafe fn feed_value<S: Sink>(scanner: *mut aside_scanner, buf: *const c_char, len: size_t, sink: S) -> aside_status {
    // SAFETY: the caller's promise. `stream` is not used after the sink has the value.
    unsafe {
        let (stream, chunk) = inside(scanner, buf, len);
        if let Some((kind, offset)) = S::advance_in_value(&mut stream.scanner, chunk) {
            stream.consumed = len;
            return sink.text(scanner, kind, chunk, Text { offset, is_held: false, len });
        }
        feed_piece(scanner, buf, len, sink)
    }
}

/// Feeds short chunks that are one piece inside the body of a tool span, and those that only a `Call` can take apart.
///
/// # Safety
/// As of `feed`; `ready` returns the stream and the chunk.
#[inline(never)]
unsafe fn feed_piece<S: Sink>(scanner: *mut aside_scanner, buf: *const c_char, len: size_t, sink: S) -> aside_status {
    // SAFETY: the caller's promise. `stream` is not used after the sink has the piece.
    unsafe {
        let (stream, chunk) = inside(scanner, buf, len);
        if let Some((kind, text)) = S::advance_in_piece(&mut stream.scanner, chunk) {
            stream.consumed = len;
            return sink.text(scanner, kind, chunk, text);
        }
        sink.rest(scanner, buf, len, 0)
    }
}

/// Feeds longer chunks, and reports what is wrong.
///
/// # Safety
/// As of `feed`.
#[inline(never)]
unsafe fn feed_long<S: Sink>(scanner: *mut aside_scanner, buf: *const c_char, len: size_t, sink: S) -> aside_status {
    // SAFETY: the caller's promise. `stream` is not used after the sink has a text: each part asks for it again.
    unsafe {
        if sink.is_sound()
            && let Some((stream, chunk)) = ready(scanner, buf, len, isize::MAX as usize)
        {
            if let Some(text) = S::advance_long(&mut stream.scanner, chunk) {
                stream.consumed = len;
                return sink.text(scanner, ASIDE_KIND_TEXT, chunk, text);
            }
            if S::IN_PARTS && stream.scanner.is_holding() {
                return feed_parts(scanner, buf, len, sink);
            }
        }
        sink.rest(scanner, buf, len, 0)
    }
}

/// Feeds a long chunk where something is held: what decides that is fed first, and the rest by itself.
///
/// # Safety
/// As of `feed`; `ready` returns the stream and the chunk.
#[inline(never)]
unsafe fn feed_parts<S: Sink>(scanner: *mut aside_scanner, buf: *const c_char, len: size_t, sink: S) -> aside_status {
    // SAFETY: the caller's promise. `stream` is not used after the sink has a text: each part asks for it again.
    unsafe {
        let mut fed = 0;
        let (mut stream, mut rest) = inside(scanner, buf, len);
        loop {
            let part = stream.scanner.first_part(rest);
            let Some((part, after)) = rest.split_at_checked(part.unwrap_or(rest.len())) else { break };
            let text = match part.len() <= SHORT {
                true => S::advance_short(&mut stream.scanner, part),
                false => S::advance_long(&mut stream.scanner, part),
            };
            let Some(text) = text else { break };
            fed += part.len();
            stream.consumed = fed;
            let status = sink.text(scanner, ASIDE_KIND_TEXT, part, text);
            if after.is_empty() || status != ASIDE_OK {
                return status;
            }
            rest = after;
            (stream, _) = inside(scanner, buf, len);
        }
        sink.rest(scanner, buf, len, fed)
    }
}
