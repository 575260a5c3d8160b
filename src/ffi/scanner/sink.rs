//! Where the events of a call go. Callbacks, arrays and plain text are three sinks of one feed, so that no way to feed is
//! written twice.

use super::handle::aside_scanner;
use crate::calls::body::Piece;
use crate::ffi::constants::*;
use crate::scanner::{Part, Take};
use crate::{Error, Events, Scanner, Token};

/// Where the events of a call go.
pub(super) trait Sink: Copy {
    /// The part of a chunk that can be taken without a guard: taking it cannot panic.
    const TAKE: Take;

    /// Returns whether events can go there without a closer look.
    ///
    /// # Safety
    /// The sink's pointers are as its function's caller promises.
    unsafe fn is_sound(self) -> bool;

    /// Takes the event of a part of this chunk, if it has one, which has just been fed.
    ///
    /// # Safety
    /// The scanner is valid, and READY; the sink is sound. No `&mut Stream` from before is used again.
    unsafe fn part(self, scanner: *mut aside_scanner, chunk: &[u8], part: Part) -> aside_status;

    /// Does everything else: takes the events of a call one by one, or reports an error. `fed`: bytes of the
    /// caller's buffer that were fed before.
    ///
    /// # Safety
    /// `scanner` is NULL or valid; the sink's pointers are as its function's caller promises.
    unsafe fn events(self, scanner: *mut aside_scanner, input: Input<'_>, fed: usize) -> aside_status;
}

/// Returns the kind of event for a piece.
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
