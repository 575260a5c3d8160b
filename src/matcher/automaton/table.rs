//! The table, and how a text is read by it. Reading must look at each byte once, and must know nothing of a dialect's
//! file.

use super::{
    accel::{Accel, Accels, SOFT},
    classes::ByteClasses,
    config::Config,
    state::{Exit, Origin, StateId, StateInfo},
};
use crate::matcher::{bytes::ByteSet, code::CodeTracker};

/// In a text of this length or more, looking for the bytes that matter is cheaper than looking at every byte.
const LONG: usize = 16;

pub struct Automaton {
    pub(super) classes: ByteClasses,
    /// For each state, as many cells as there are classes. A cell is a state or, from the number of states on, an exit.
    pub(super) cells: Vec<u16>,
    pub(super) states: Vec<StateInfo>,
    /// For each state, the position of a stream that leaves the table there.
    pub(super) origins: Vec<Origin>,
    pub(super) exits: Vec<Exit>,
    /// Of each region.
    pub(super) starts: Vec<Vec<Starts>>,
    pub(super) accels: Accels,
}

/// The progress in a text.
pub struct Run {
    /// Bytes that led from state to state.
    pub read: usize,
    /// The state after those.
    pub state: StateId,
    /// The target of the byte after those, if it was read too.
    pub exit: Option<Exit>,
}

/// The states of one configuration in which nothing is held, by the number of their code and by the framing.
pub(super) struct Starts {
    pub(super) config: Config,
    pub(super) has_lines: bool,
    pub(super) list: Vec<((u64, u16), StateId)>,
}

impl Automaton {
    /// Returns the cell of a state for a byte; that of an exit leads nowhere.
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

    /// Reads a text byte by byte. Returns the state at its end, and whether it is ASCII; none where a byte leads to an exit.
    #[inline(always)]
    pub fn walk(&self, from: StateId, text: &[u8]) -> Option<(StateId, bool)> {
        let (cells, width) = (&self.cells[..], self.classes.len());
        let (mut state, mut all) = (usize::from(from), 0);
        for &byte in text {
            // Exits have no cells: the byte after one is not found.
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
            // Beyond the found marker, to a place where nothing is held.
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

    /// Returns where a text leads that has none of the bytes that matter here, if nothing is held after it, and whether it
    /// is ASCII.
    #[inline(always)]
    pub fn pass(&self, state: StateId, text: &[u8]) -> Option<(StateId, bool)> {
        let accel = self.accels.of(state)?;
        let is_ascii = accel.is_passed(text)?;
        let ends_at_home = !accel.is_soft || text.last().is_some_and(|last| !SOFT.contains(last));
        let end = if ends_at_home { accel.state } else { self.after_blanks(accel, text)? };
        Some((end, is_ascii))
    }

    /// Returns where the blanks at the end of a text lead from an accelerated state, if nothing is held after them.
    #[inline(never)]
    fn after_blanks(&self, accel: &Accel, text: &[u8]) -> Option<StateId> {
        let (text, blanks) = text.split_at_checked(text.len() - accel.blanks(text))?;
        let (end, _) = self.walk(accel.state, blanks)?;
        Some(end).filter(|&end| !text.is_empty() && self.info(end).held() == 0)
    }

    /// Returns how many bytes of a text lead to where nothing is held; none where an exit comes before that.
    pub fn first_free(&self, mut state: StateId, text: &[u8]) -> Option<usize> {
        for (at, &byte) in text.iter().enumerate() {
            state = *self.cells.get(usize::from(state) * self.classes.len() + self.classes.of(byte))?;
            if usize::from(state) < self.states.len() && self.info(state).held() == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Returns the ASCII that leads back to this state at once, if it is an accelerated one: texts of these bytes alone
    /// change nothing there.
    #[cfg(feature = "c-api")]
    #[inline]
    pub fn self_loop(&self, state: StateId) -> Option<&ByteSet> {
        self.accels.of(state).filter(|accel| accel.state == state).map(|accel| &accel.self_loop)
    }

    /// Returns the loop mask of a place outside the table where these bytes, all of them ASCII, change nothing.
    pub fn loop_mask(&mut self, set: &ByteSet) -> u32 {
        self.accels.loop_mask(set)
    }

    /// Returns, of each byte, the self-loops that it is not in; see `StateInfo::loop_mask`.
    #[inline]
    pub fn loop_sets(&self) -> &[u32; 256] {
        self.accels.loop_sets()
    }
}
