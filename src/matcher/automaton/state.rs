//! The states of the automaton and their transitions: the types that the table, its builder and its readers share.

use super::config::Stage;
use crate::matcher::code::CodeTracker;

/// The number of a state. `FALLBACK` is the state of all places that are not in the table: a recogniser must read them.
pub type StateId = u16;
pub const FALLBACK: StateId = 0;

/// A bit that is set for every byte in `loop_sets`, so that a state with this bit in its loop mask has no loop.
pub(super) const EVERY_BYTE: u32 = 1 << 31;

/// A state, with the data that most feeds need. Each stream keeps a copy, as one number that fits into a register.
#[derive(Clone, Copy)]
pub struct StateInfo(u64);

impl StateInfo {
    pub const FALLBACK: StateInfo = StateInfo(EVERY_BYTE as u64 | StateInfo::FILLED);
    /// Bits of a state: its row and loop are known; its held bytes include characters of several bytes.
    const FILLED: u64 = 1 << 57;
    const WIDE: u64 = 1 << 56;

    /// Returns a state whose row and loop are not known yet.
    pub(super) const fn new(state: StateId, held: u8, is_wide: bool) -> StateInfo {
        let wide = if is_wide { StateInfo::WIDE } else { 0 };
        StateInfo(EVERY_BYTE as u64 | (state as u64) << 32 | (held as u64) << 48 | wide)
    }

    /// Returns the state with this number, or `None` if the number is 0.
    #[inline]
    pub(super) fn of_number(number: u64) -> Option<StateInfo> {
        (number != 0).then_some(StateInfo(number))
    }

    /// Returns the state with this number, if its row and loop are known.
    #[inline]
    pub(super) fn of_filled(number: u64) -> Option<StateInfo> {
        Some(StateInfo(number)).filter(|state| state.is_filled())
    }

    pub(super) fn number(self) -> u64 {
        self.0
    }

    #[inline]
    pub fn state(self) -> StateId {
        (self.0 >> 32) as u16
    }

    #[inline]
    pub fn is_fallback(self) -> bool {
        self.state() == FALLBACK
    }

    /// Returns whether the state's row and loop are known.
    #[inline]
    pub fn is_filled(self) -> bool {
        self.0 & StateInfo::FILLED != 0
    }

    /// Returns the number of bytes that are held in this state, because they may be the beginning of a marker.
    #[inline]
    pub fn held(self) -> usize {
        usize::from((self.0 >> 48) as u8)
    }

    /// Returns whether the held bytes include characters of several bytes.
    #[inline]
    pub fn is_wide(self) -> bool {
        self.0 & StateInfo::WIDE != 0
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

    pub(super) fn filled(self) -> StateInfo {
        StateInfo(self.0 | StateInfo::FILLED)
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
    /// The row of the state is not filled.
    Unknown,
    /// A recogniser must decide.
    Fallback,
    /// The bytes that were held, and this byte, begin with a whole marker of `len` bytes.
    Marker { pattern: u8, len: u8 },
    /// The bytes that were held, and this byte, are the framing that was expected.
    Framing,
}

impl Exit {
    /// The first cell that is an exit. The cell of a marker contains its pattern, one of at most 128 in a region, and its length.
    pub(super) const FIRST: u16 = 0xE000;
    const LEN_BITS: u32 = 5;

    pub(super) fn cell(self) -> u16 {
        match self {
            Exit::Unknown => FALLBACK,
            Exit::Marker { pattern, len } => Exit::FIRST | u16::from(pattern) << Exit::LEN_BITS | u16::from(len),
            Exit::Framing => u16::MAX - 1,
            Exit::Fallback => u16::MAX,
        }
    }

    pub(super) fn of_cell(cell: u16) -> Exit {
        let len = cell & ((1 << Exit::LEN_BITS) - 1);
        match cell {
            ..Exit::FIRST => Exit::Unknown,
            0xFFFF => Exit::Fallback,
            0xFFFE => Exit::Framing,
            _ => Exit::Marker { pattern: ((cell - Exit::FIRST) >> Exit::LEN_BITS) as u8, len: len as u8 },
        }
    }
}
