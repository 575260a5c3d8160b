//! Feeds a scanner, whatever the sink: parts that the scanner's fast path consumes at once are passed directly to the sink; for
//! everything else, the sink enters the scanner's guard.

use std::hint::assert_unchecked;

use libc::{c_char, size_t};

use super::handle::{aside_scanner, inside, ready};
use super::sink::{Input, Sink};
use crate::calls::body::Piece;
use crate::ffi::constants::*;
use crate::ffi::memory::bytes;
use crate::scanner::{Part, SHORT, Take};

/// Feeds a chunk. Most chunks are short and do not leave a state of the automaton: their text is passed directly to the sink.
///
/// # Safety
/// `scanner` is NULL or a scanner that is not freed yet; a `buf` that is not NULL points to `len` bytes; the sink's pointers keep
/// the promises of its function's caller.
#[inline(always)]
pub(super) unsafe fn feed<S: Sink>(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    sink: S,
) -> aside_status {
    // SAFETY: the caller meets this function's conditions. `stream` is not used after the sink has the text.
    unsafe {
        if sink.is_sound()
            && let Some((stream, chunk)) = ready(scanner, buf, len, SHORT)
        {
            if let Some(part) = stream.scanner.advance_in_loop(chunk) {
                stream.consumed = len;
                return sink.part(scanner, chunk, part);
            }
            return feed_at_once::<S, true>(scanner, buf, len, sink);
        }
        feed_at_once::<S, false>(scanner, buf, len, sink)
    }
}

/// Feeds a chunk in one step, which is possible for most chunks. The code for short chunks is separate, so that the code for long
/// chunks does not slow it down.
///
/// # Safety
/// The same as for `feed`; if `IS_SHORT`, `ready` has returned the stream and a short chunk, and otherwise it has not.
#[inline(never)]
unsafe fn feed_at_once<S: Sink, const IS_SHORT: bool>(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    sink: S,
) -> aside_status {
    // SAFETY: the caller meets this function's conditions. `stream` is not used after the sink has the part.
    unsafe {
        let is_ready = IS_SHORT || sink.is_sound() && ready(scanner, buf, len, isize::MAX as usize).is_some();
        if !is_ready {
            return feed_guarded(scanner, buf, len, sink, 0);
        }
        let (stream, chunk) = inside(scanner, buf, len);
        assert_unchecked(!chunk.is_empty() && (chunk.len() <= SHORT) == IS_SHORT);
        let Some(part) = stream.scanner.advance(chunk, S::TAKE.min(Take::Whole)) else {
            return match S::TAKE {
                Take::Parts if !IS_SHORT => feed_parts(scanner, buf, len, sink),
                _ => feed_guarded(scanner, buf, len, sink, 0),
            };
        };
        stream.consumed = len;
        match part.piece {
            // A part of text is passed with a constant kind, so that the sink need not compare it.
            Piece::Text => sink.part(scanner, chunk, Part { piece: Piece::Text, ..part }),
            _ => sink.part(scanner, chunk, part),
        }
    }
}

/// Feeds a chunk part by part.
///
/// # Safety
/// The same as for `feed_at_once`.
#[inline(never)]
unsafe fn feed_parts<S: Sink>(scanner: *mut aside_scanner, buf: *const c_char, len: size_t, sink: S) -> aside_status {
    // SAFETY: the caller meets this function's conditions. `stream` is not used after the sink has a part: the next part gets it
    // again.
    unsafe {
        let mut fed = 0;
        loop {
            let (stream, chunk) = inside(scanner, buf.add(fed), len - fed);
            let Some(part) = stream.scanner.advance(chunk, S::TAKE) else { break };
            let is_last = part.is_last;
            fed += part.fed;
            stream.consumed = fed;
            let status = sink.part(scanner, chunk, part);
            if is_last || status != ASIDE_OK {
                return status;
            }
        }
        feed_guarded(scanner, buf, len, sink, fed)
    }
}

/// Feeds chunks with several events, and reports errors. The first `fed` bytes were fed before.
///
/// # Safety
/// The same as for `feed`.
#[inline(never)]
unsafe fn feed_guarded<S: Sink>(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    sink: S,
    fed: usize,
) -> aside_status {
    if S::TAKE == Take::WholeText {
        // The caller then feeds in the general way, which reports the error.
        return ASIDE_NOT_TEXT;
    }
    // SAFETY: the caller meets this function's conditions.
    unsafe {
        match bytes(buf.wrapping_add(fed), len - fed, "buf") {
            Ok(chunk) => sink.events(scanner, Input::Feed(chunk), fed),
            Err(status) => status,
        }
    }
}
