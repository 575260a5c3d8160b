//! The states of the automaton and their transitions: the types that the table, its builder and its readers share.

use super::config::Stage;
use crate::matcher::code::CodeTracker;

/// The number of a state. `FALLBACK` is the state of all places that are not in the table: a recogniser must read them.
pub type StateId = u16;
pub const FALLBACK: StateId = 0;

/// The bit in a state's loop mask, and in the sets of all bytes, with which no text loops.
pub(super) const EVERY_BYTE: u32 = 1 << 31;

/// A state, with the data that most feeds need, of which each stream keeps a copy. It is one number, so that it stays in a
/// register.
#[derive(Clone, Copy)]
pub struct StateInfo(u64);

impl StateInfo {
    pub const FALLBACK: StateInfo = StateInfo::new(FALLBACK, 0, false);

    pub(super) const fn new(state: StateId, held: u8, is_wide: bool) -> StateInfo {
        StateInfo(EVERY_BYTE as u64 | (state as u64) << 32 | (held as u64) << 48 | (is_wide as u64) << 56)
    }

    #[inline]
    pub fn state(self) -> StateId {
        (self.0 >> 32) as u16
    }

    #[inline]
    pub fn is_fallback(self) -> bool {
        self.state() == FALLBACK
    }

    /// Returns the number of bytes that are held in this state, because they may be the beginning of a marker.
    #[inline]
    pub fn held(self) -> usize {
        usize::from((self.0 >> 48) as u8)
    }

    /// Returns whether the held bytes include characters of several bytes.
    #[inline]
    pub fn is_wide(self) -> bool {
        self.0 >> 56 != 0
    }

    /// Returns the loop mask: a text of ASCII bytes without these bits in `loop_sets` leads back to this state.
    #[inline]
    pub fn loop_mask(self) -> u32 {
        self.0 as u32
    }

    /// Returns this state, without its loop.
    #[inline]
    pub fn without_loop(self) -> StateInfo {
        self.with_loop_mask(EVERY_BYTE)
    }

    /// Returns this state for a stream that loops in it over the bytes of this mask.
    #[inline]
    pub fn with_loop_mask(self, mask: u32) -> StateInfo {
        StateInfo(self.0 >> 32 << 32 | u64::from(mask))
    }
}

/// The position of a stream that leaves the table, which is before the first held byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub code: CodeTracker,
    pub stage: Stage,
    /// The number of the framing that may begin here, or 0.
    pub framing: u16,
}

/// The result of a byte that does not lead to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// A recogniser must decide.
    Fallback,
    /// A marker is complete. It begins at `origin`; the last `unread` bytes that were read are after it.
    Marker { pattern: u8, len: u16, unread: u8, origin: Origin },
    /// The framing that was expected is complete.
    Framing { len: u16, origin: Origin },
}
