//! The sinks of events: a callback, an array, or a caller that wants only plain text. The same feeding code serves all three.

use super::handle::aside_scanner;
use crate::calls::body::Piece;
use crate::ffi::constants::*;
use crate::scanner::{Part, Take};
use crate::{Error, Events, Scanner, Token};

/// A receiver of the events of a call.
pub(super) trait Sink: Copy {
    /// The parts of a chunk that the sink accepts without a guard, because consuming them cannot panic.
    const TAKE: Take;

    /// Returns whether the sink can receive events without further checks.
    ///
    /// # Safety
    /// The sink's pointers keep the promises of its function's caller.
    unsafe fn is_sound(self) -> bool;

    /// Receives the event, if there is one, of a part of this chunk that has just been fed.
    ///
    /// # Safety
    /// The scanner is valid, and READY; the sink is sound. No `&mut Stream` from before is used again.
    unsafe fn part(self, scanner: *mut aside_scanner, chunk: &[u8], part: Part) -> aside_status;

    /// Runs a call that the fast path does not cover: receives its events one by one, or reports an error. `fed` is the number of
    /// bytes of the caller's buffer that were fed before.
    ///
    /// # Safety
    /// `scanner` is NULL or valid; the sink's pointers keep the promises of its function's caller.
    unsafe fn events(self, scanner: *mut aside_scanner, input: Input<'_>, fed: usize) -> aside_status;
}

/// Returns the kind of the event for a piece.
#[inline(always)]
pub(super) fn kind(piece: Piece) -> aside_kind {
    match piece {
        Piece::Value => ASIDE_KIND_CALL_VALUE,
        Piece::Framing => ASIDE_KIND_FRAMING,
        _ => ASIDE_KIND_TEXT,
    }
}

/// The input of a scanner from C.
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
