//! The table, and the reading of text by it. Each byte must be read only once, and no code here may depend on a dialect's file.

use super::{
    accel::{Accel, Accels, SOFT},
    classes::ByteClasses,
    config::Config,
    state::{Exit, Origin, StateId, StateInfo},
};
use crate::matcher::{bytes::ByteSet, code::CodeTracker};

/// From this length on, searching for the bytes that matter is cheaper than a look-up of every byte.
const LONG: usize = 16;

pub struct Automaton {
    pub(super) classes: ByteClasses,
    /// For each state, one cell for each class. A cell below the number of states is a state; every other cell is an exit.
    pub(super) cells: Vec<u16>,
    pub(super) states: Vec<StateInfo>,
    /// For each state, the position of a stream that leaves the table there.
    pub(super) origins: Vec<Origin>,
    pub(super) exits: Vec<Exit>,
    /// The start states of each region.
    pub(super) starts: Vec<Vec<Starts>>,
    pub(super) accels: Accels,
}

/// The progress of reading a text.
pub struct Run {
    /// The number of bytes that led from state to state.
    pub read: usize,
    /// The state after these bytes.
    pub state: StateId,
    /// The exit to which the next byte leads, if it was read.
    pub exit: Option<Exit>,
}

/// The states of one configuration in which nothing is held, by the number of the code tracker and by the framing.
pub(super) struct Starts {
    pub(super) config: Config,
    pub(super) has_lines: bool,
    pub(super) list: Vec<((u64, u16), StateId)>,
}

impl Automaton {
    /// Returns the cell of a state for a byte.
    #[inline]
    pub(super) fn cell(&self, state: u16, byte: u8) -> u16 {
        self.cell_of_class(state, self.classes.of(byte))
    }

    #[inline]
    pub(super) fn cell_of_class(&self, state: StateId, class: usize) -> u16 {
        self.cells[usize::from(state) * self.classes.len() + class]
    }

    #[inline]
    pub(super) fn exit(&self, cell: u16) -> Option<Exit> {
        self.exits.get(usize::from(cell).wrapping_sub(self.states.len())).copied()
    }

    #[inline]
    pub fn info(&self, state: StateId) -> StateInfo {
        self.states.get(usize::from(state)).copied().unwrap_or(StateInfo::FALLBACK)
    }

    #[inline]
    pub fn origin(&self, state: StateId) -> &Origin {
        &self.origins[usize::from(state)]
    }

    /// Returns the state of a place in a text where nothing is held.
    pub fn enter(&self, config: &Config, code: &CodeTracker, framing: u16) -> StateInfo {
        let of_region = self.starts.get(usize::from(config.region)).map_or(&[][..], Vec::as_slice);
        let Some(starts) = of_region.iter().find(|starts| starts.config == *config) else {
            return StateInfo::FALLBACK;
        };
        let code = if starts.has_lines { code } else { &CodeTracker::NEW };
        let Some(number) = code.number() else { return StateInfo::FALLBACK };
        let found = starts.list.binary_search_by_key(&(number, framing), |&(key, _)| key);
        found.map_or(StateInfo::FALLBACK, |at| self.info(starts.list[at].1))
    }

    /// Reads a text byte by byte. Returns the state at its end and whether it is ASCII, or `None` if a byte leads to an exit.
    #[inline(always)]
    pub fn walk(&self, from: StateId, text: &[u8]) -> Option<(StateId, bool)> {
        let (cells, width) = (&self.cells[..], self.classes.len());
        let (mut state, mut all) = (usize::from(from), 0);
        for &byte in text {
            // Exits have no cells, so the look-up of the byte after an exit fails.
            state = usize::from(*cells.get(state * width + self.classes.of(byte))?);
            all |= byte;
        }
        (state < self.states.len()).then_some((state as u16, all.is_ascii()))
    }

    /// Reads a text, to its end or to the first exit.
    pub fn run(&self, from: StateId, text: &[u8]) -> Run {
        let (mut state, mut at) = (from, 0);
        while at < text.len() {
            let mut stop = at;
            if text.len() - at >= LONG
                && let Some(accel) = self.accels.of(state)
            {
                let (from, first) = accel.find(&text[at..]);
                stop += first;
                let back = stop - accel.blanks(&text[at + from..stop]);
                if back > at {
                    (at, state) = (back, accel.state);
                }
            }
            // Read past the found byte, up to a place where nothing is held.
            while at < text.len() && (at <= stop || self.info(state).held() > 0) {
                let cell = self.cell(state, text[at]);
                if let Some(exit) = self.exit(cell) {
                    return Run { read: at, state, exit: Some(exit) };
                }
                state = cell;
                at += 1;
            }
        }
        Run { read: at, state, exit: None }
    }

    /// For a text without bytes that leave the state: returns the state at its end, if nothing is held there, and whether the text
    /// is ASCII.
    #[inline(always)]
    pub fn pass(&self, state: StateId, text: &[u8]) -> Option<(StateId, bool)> {
        let accel = self.accels.of(state)?;
        let is_ascii = accel.is_passed(text)?;
        let ends_at_home = !accel.is_soft || text.last().is_some_and(|last| !SOFT.contains(last));
        let end = if ends_at_home { accel.state } else { self.after_blanks(accel, text)? };
        Some((end, is_ascii))
    }

    /// Returns the state to which the blanks at the end of a text lead from an accelerated state, if nothing is held there.
    #[inline(never)]
    fn after_blanks(&self, accel: &Accel, text: &[u8]) -> Option<StateId> {
        let (text, blanks) = text.split_at_checked(text.len() - accel.blanks(text))?;
        let (end, _) = self.walk(accel.state, blanks)?;
        Some(end).filter(|&end| !text.is_empty() && self.info(end).held() == 0)
    }

    /// Returns the number of bytes after which nothing is held, or `None` if an exit is reached before.
    pub fn first_free(&self, mut state: StateId, text: &[u8]) -> Option<usize> {
        for (at, &byte) in text.iter().enumerate() {
            state = *self.cells.get(usize::from(state) * self.classes.len() + self.classes.of(byte))?;
            if usize::from(state) < self.states.len() && self.info(state).held() == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Returns the ASCII bytes that lead directly back to this state, if it is accelerated: texts of only these bytes do not
    /// change it.
    #[cfg(feature = "c-api")]
    #[inline]
    pub fn self_loop(&self, state: StateId) -> Option<&ByteSet> {
        self.accels.of(state).filter(|accel| accel.state == state).map(|accel| &accel.self_loop)
    }

    /// Returns the loop mask of a place outside the table that these ASCII bytes do not change.
    pub fn loop_mask(&mut self, set: &ByteSet) -> u32 {
        self.accels.loop_mask(set)
    }

    /// Returns, for each byte, the bits of the self-loops that do not include it; see `StateInfo::loop_mask`.
    #[inline]
    pub fn loop_sets(&self) -> &[u32; 256] {
        self.accels.loop_sets()
    }
}
