//! Where the events of a call go. Callbacks, arrays and plain text are three sinks of one feed, so that no way to feed is
//! written twice.

use libc::{c_char, size_t};

use super::handle::aside_scanner;
use crate::calls::body::Piece;
use crate::ffi::constants::*;
use crate::ffi::memory::bytes;
use crate::scanner::Text;
use crate::{Error, Event, Events, Scanner, Token};

/// Where the events of a call go.
pub(super) trait Sink: Copy {
    /// Whether a chunk may be fed in two parts, each with a text of its own: then what is held need not be copied together
    /// with a long chunk.
    const IN_PARTS: bool;

    /// Returns whether events can go there without a closer look.
    ///
    /// # Safety
    /// The sink's pointers are as its function's caller promises.
    unsafe fn is_sound(self) -> bool;

    /// Feeds a chunk of at most `SHORT` bytes that is text, if all that comes of it can go there.
    #[inline(always)]
    fn advance_short(scanner: &mut Scanner, chunk: &[u8]) -> Option<Text> {
        scanner.feed_short(chunk)
    }

    /// Feeds a chunk of at most `SHORT` bytes of ASCII inside of a value. Returns its kind and its offset.
    #[inline(always)]
    fn advance_in_value(scanner: &mut Scanner, chunk: &[u8]) -> Option<(aside_kind, u64)> {
        let (piece, offset) = scanner.feed_value(chunk)?;
        Some((kind(piece), offset))
    }

    /// Feeds a chunk of at most `SHORT` bytes that is one piece of a tool span. Returns its kind, and where it is.
    #[inline(always)]
    fn advance_in_piece(scanner: &mut Scanner, chunk: &[u8]) -> Option<(aside_kind, Text)> {
        let (piece, offset, len) = scanner.feed_piece(chunk)?;
        // Where nothing is reported, the chunk was appended to what was held.
        Some((kind(piece), Text { offset, is_held: len == 0, len }))
    }

    /// Feeds a longer chunk in the same way.
    #[inline(always)]
    fn advance_long(scanner: &mut Scanner, chunk: &[u8]) -> Option<Text> {
        scanner.feed_long(chunk)
    }

    /// Takes a text of the innermost channel, or of this other kind, which has just been fed: of the chunk, or of what was held.
    ///
    /// # Safety
    /// The scanner is there, and READY; the sink is sound. No `&mut Stream` from before is used again.
    unsafe fn text(self, scanner: *mut aside_scanner, kind: aside_kind, chunk: &[u8], text: Text) -> aside_status;

    /// Does all else: takes the events of a call one by one, or says what is wrong. `fed`: bytes of the caller's buffer that
    /// were fed before.
    ///
    /// # Safety
    /// `scanner` is NULL or there; the sink's pointers are as its function's caller promises.
    unsafe fn events(self, scanner: *mut aside_scanner, input: Input<'_>, fed: usize) -> aside_status;

    /// Does all else for a chunk, of which `fed` bytes were fed before.
    ///
    /// # Safety
    /// As of `events`; a `buf` that is not NULL leads to `len` bytes.
    unsafe fn rest(self, scanner: *mut aside_scanner, buf: *const c_char, len: size_t, fed: usize) -> aside_status {
        // SAFETY: the caller's promise.
        unsafe {
            match bytes(buf.wrapping_add(fed), len - fed, "buf") {
                Ok(chunk) => self.events(scanner, Input::Feed(chunk), fed),
                Err(status) => status,
            }
        }
    }
}

/// What a piece is as an event.
#[inline(always)]
fn kind(piece: Piece) -> aside_kind {
    match piece {
        Piece::Value => ASIDE_KIND_CALL_VALUE,
        Piece::Framing => ASIDE_KIND_FRAMING,
        _ => ASIDE_KIND_TEXT,
    }
}

/// What a scanner gets from C.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    Feed(&'a [u8]),
    /// The tokens' lengths add up to the chunk's.
    FeedTokens(&'a [u8], &'a [Token]),
    Finish,
    Flush,
    ForceClose,
}

impl Input<'_> {
    /// Feeds tokens that are text and nothing else, as most are.
    #[inline]
    pub(super) fn advance(&self, scanner: &mut Scanner) -> Option<Event<'_>> {
        let Input::FeedTokens(chunk, tokens) = self else { return None };
        scanner.feed_whole_tokens(chunk, tokens)
    }

    #[inline]
    pub(super) fn start<'a>(&'a self, scanner: &'a mut Scanner) -> Result<Events<'a>, Error> {
        Ok(match self {
            Input::Feed(chunk) => scanner.events(chunk),
            Input::FeedTokens(chunk, tokens) => scanner.summed_token_events(chunk, tokens)?,
            Input::Finish => scanner.finish_events(),
            Input::Flush => scanner.flush_events(),
            Input::ForceClose => scanner.force_close_events(),
        })
    }
}
