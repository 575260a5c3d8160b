//! The table, and the reading of text by it. Each byte must be read only once, and no code here may depend on a dialect's file.
//!
//! A builder adds states and fills rows while streams read. A cell may be read at any time: it is 0 until it is known. It may be
//! seen before the state that it leads to, so a reader always asks for the state's `StateInfo`, which is written last.

use std::sync::{
    Mutex,
    atomic::{
        AtomicU16, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use super::{
    accel::{Accel, Accels, SOFT},
    classes::ByteClasses,
    config::Config,
    places::{Book, hash, is_rare, zeros},
    state::{Exit, FALLBACK, Origin, StateId, StateInfo},
};
use crate::matcher::{bytes::ByteSet, code::CodeTracker, grammar::Grammar};

/// From this length on, searching for escapes is cheaper than a look-up of every byte.
const LONG: usize = 16;

/// The maximum number of states of a dialect, of which at most half are rare. A table has room for the fewest states and for a
/// number of states for each configuration, but not for more than the maximum.
pub(super) const MOST_STATES: usize = 4096;
const FEWEST_STATES: usize = 512;
const STATES_OF_CONFIG: usize = 16;

const _: () = assert!(MOST_STATES <= Exit::FIRST as usize);

pub struct Automaton {
    pub(super) classes: ByteClasses,
    /// For each state, one cell for each class: the next state, an exit, or 0 if the row is not filled. The fallback's row is
    /// never filled.
    cells: Vec<AtomicU16>,
    /// The `StateInfo` of each state; 0 without one.
    states: Vec<AtomicU64>,
    /// For each state, the numbers of its configuration, its framing and its code tracker.
    origins: Vec<AtomicU64>,
    /// A hash table of the states, to find the state of a place. Its length is a power of two.
    slots: Vec<AtomicU16>,
    pub(super) accels: Accels,
    pub(super) rooms: Vec<Room>,
    /// For each region, the index after its last room.
    pub(super) ends: Vec<u16>,
    pub(super) book: Mutex<Book>,
}

/// The progress of reading a text.
pub struct Run {
    /// The number of bytes that led from state to state.
    pub read: usize,
    /// The state after these bytes.
    pub state: StateInfo,
    /// The exit to which the next byte leads, if that byte was read; `Unknown` if the state's row must be filled.
    pub exit: Option<Exit>,
}

/// A configuration, and the room for its states, of which rare ones get no more than half.
pub(super) struct Room {
    pub(super) config: Config,
    pub(super) most: u16,
    /// The number of its states so far, and of the rare ones among them.
    counts: [AtomicU16; 2],
}

impl Room {
    pub(super) fn new(config: Config, most: u16) -> Room {
        Room { config, most, counts: Default::default() }
    }

    fn has_room(&self, is_rare: bool) -> bool {
        let [all, rare] = &self.counts;
        all.load(Relaxed) < self.most && (!is_rare || rare.load(Relaxed) < self.most / 2)
    }

    /// Counts one more state, and returns true, if there is room.
    pub(super) fn add(&self, is_rare: bool) -> bool {
        let has_room = self.has_room(is_rare);
        for count in self.counts.iter().take(if has_room { 1 + usize::from(is_rare) } else { 0 }) {
            count.fetch_add(1, Relaxed);
        }
        has_room
    }
}

impl Automaton {
    /// Returns the automaton of a grammar, with its first states and no rows. `used` are the flags that some pattern needs or
    /// avoids.
    pub fn new(grammar: &Grammar, used: u16) -> Automaton {
        let classes = ByteClasses::new(grammar);
        let (rooms, ends) = Automaton::rooms(grammar, used);
        let most = MOST_STATES.min(FEWEST_STATES + STATES_OF_CONFIG * rooms.len());
        let (states, origins) = (zeros(most), zeros(most));
        let (cells, slots) = (zeros(most * classes.len()), zeros((2 * most).next_power_of_two()));
        let accels = Accels::new(most);
        // If there is not enough memory for the whole table, it has no states, and a recogniser reads everything.
        let most = [states.len(), origins.len(), slots.len() / 2, cells.len() / classes.len(), accels.near.len()];
        let book = Mutex::new(Book::with_capacity(most.into_iter().min().unwrap_or(0)));
        let mut automaton = Automaton { classes, cells, states, origins, slots, accels, rooms, ends, book };
        automaton.add_common(grammar);
        automaton
    }

    /// Returns the cell of a state for a byte.
    #[inline]
    pub(super) fn cell(&self, state: u16, byte: u8) -> u16 {
        self.cell_of_class(state, self.classes.of(byte))
    }

    #[inline]
    pub(super) fn cell_of_class(&self, state: u16, class: usize) -> u16 {
        self.cells[usize::from(state) * self.classes.len() + class].load(Relaxed)
    }

    pub(super) fn set(&self, state: u16, class: usize, cell: u16) {
        self.cells[usize::from(state) * self.classes.len() + class].store(cell, Relaxed);
    }

    /// Returns whether a cell is a state other than the fallback.
    #[inline]
    pub(super) fn is_state(&self, cell: u16) -> bool {
        cell.wrapping_sub(1) < Exit::FIRST - 1
    }

    /// Returns a state, or `None` if the cell is an exit.
    #[inline]
    fn state(&self, cell: u16) -> Option<StateInfo> {
        StateInfo::of_number(self.states.get(usize::from(cell))?.load(Acquire))
    }

    #[inline]
    pub fn info(&self, state: StateId) -> StateInfo {
        self.state(state).unwrap_or(StateInfo::FALLBACK)
    }

    /// Returns a number for the place of a state where nothing is held, if text reaches it often enough.
    pub(super) fn origin_of(config: u16, code: &CodeTracker, framing: u16) -> Option<u64> {
        Some(u64::from(code.number()?) << 32 | u64::from(framing) << 16 | u64::from(config))
    }

    /// Returns the position of a stream that leaves the table in this state.
    #[inline]
    pub fn origin(&self, state: StateId) -> Origin {
        let origin = self.origins[usize::from(state)].load(Relaxed);
        let stage = self.config(state).stage;
        Origin { code: CodeTracker::of_number((origin >> 32) as u32), stage, framing: (origin >> 16) as u16 }
    }

    pub(super) fn config(&self, state: StateId) -> &Config {
        &self.rooms[usize::from(self.origins[usize::from(state)].load(Relaxed) as u16)].config
    }

    /// Returns the states that were added so far.
    pub(super) fn all_states(&self) -> impl Iterator<Item = StateId> {
        (1..self.states.len() as StateId).take_while(|&state| !self.info(state).is_fallback())
    }

    pub(super) fn number_of(&self, config: &Config) -> Option<u16> {
        let region = usize::from(config.region);
        let first = region.checked_sub(1).map_or(0, |before| self.ends[before]);
        let rooms = self.rooms.get(usize::from(first)..usize::from(*self.ends.get(region)?))?;
        rooms.iter().position(|room| room.config == *config).map(|at| first + at as u16)
    }

    /// Returns the state with this hash for which `is_it` is true, or the fallback; and the slot of the state, or for a new one.
    pub(super) fn find(&self, hash: u64, mut is_it: impl FnMut(StateId) -> bool) -> (StateId, usize) {
        let (mut slot, mask) = (hash as usize, self.slots.len().wrapping_sub(1));
        // No more than half of the slots are taken.
        loop {
            slot &= mask;
            match self.slots.get(slot).map_or(FALLBACK, |state| state.load(Relaxed)) {
                FALLBACK => return (FALLBACK, slot),
                state if is_it(state) => return (state, slot),
                _ => slot += 1,
            }
        }
    }

    /// Adds a state.
    pub(super) fn publish(&self, info: StateInfo, origin: u64, slot: usize) {
        let state = info.state();
        self.origins[usize::from(state)].store(origin, Relaxed);
        self.states[usize::from(state)].store(info.number(), Release);
        self.slots[slot].store(state, Relaxed);
    }

    /// Changes the `StateInfo` of a state.
    pub(super) fn change(&self, info: StateInfo) {
        self.states[usize::from(info.state())].store(info.number(), Release);
    }

    /// Returns the state of a place in a text where nothing is held.
    pub fn enter(&self, grammar: &Grammar, config: &Config, code: &CodeTracker, framing: u16) -> StateInfo {
        let Some(number) = self.number_of(config) else { return StateInfo::FALLBACK };
        let code = if grammar.region(config.region).has_lines() { code } else { &CodeTracker::NEW };
        let Some(origin) = Automaton::origin_of(number, code, framing) else { return StateInfo::FALLBACK };
        let is_it = |state: StateId| {
            self.state(state).is_some_and(|info| info.held() == 0)
                && self.origins[usize::from(state)].load(Relaxed) == origin
        };
        match self.find(hash(origin, &[]), is_it) {
            (FALLBACK, _) if self.rooms[usize::from(number)].has_room(is_rare(code)) => {
                self.add(grammar, number, *code, framing)
            }
            (state, _) => self.info(state),
        }
    }

    /// Reads a text byte by byte. Returns the state at its end and whether it is ASCII, or `None` if a byte leads to an exit, or
    /// if the row of the last state is not filled.
    #[inline(always)]
    pub fn walk(&self, from: StateId, text: &[u8]) -> Option<(StateInfo, bool)> {
        let (cells, width) = (&self.cells[..], self.classes.len());
        let (mut state, mut all) = (usize::from(from), 0);
        for &byte in text {
            // Exits have no cells, so the look-up of the byte after an exit fails. After a row that is not filled, all cells are 0.
            state = usize::from(cells.get(state * width + self.classes.of(byte))?.load(Relaxed));
            all |= byte;
        }
        Some((StateInfo::of_filled(self.states.get(state)?.load(Acquire))?, all.is_ascii()))
    }

    /// Reads a text up to its end, to the first exit, or to a state whose row must be filled.
    pub fn run(&self, from: StateId, text: &[u8]) -> Run {
        let (mut state, mut at) = (self.info(from), 0);
        while at < text.len() {
            if !state.is_filled() {
                return Run { read: at, state, exit: Some(Exit::Unknown) };
            }
            let mut stop = at;
            if text.len() - at >= LONG
                && let Some(accel) = self.accels.of(state.state())
            {
                let (from, first) = accel.find(&text[at..]);
                stop += first;
                let back = stop - accel.blanks(&text[at + from..stop]);
                if back > at {
                    (at, state) = (back, self.info(accel.state));
                }
            }
            // Read past the found byte, up to a place where nothing is held.
            while at < text.len() && (at <= stop || state.held() > 0) {
                let cell = self.cell(state.state(), text[at]);
                let Some(next) = self.state(cell) else {
                    return Run { read: at, state, exit: Some(Exit::of_cell(cell)) };
                };
                state = next;
                at += 1;
            }
        }
        Run { read: at, state, exit: None }
    }

    /// Returns the state at the end of a text without escapes, if nothing is held there, and whether the text is ASCII.
    #[inline(always)]
    pub fn pass(&self, state: StateId, text: &[u8]) -> Option<(StateInfo, bool)> {
        let accel = self.accels.of(state)?;
        let is_ascii = accel.is_passed(text)?;
        let ends_at_home = !accel.is_soft || text.last().is_some_and(|last| !SOFT.contains(last));
        let end = if ends_at_home { self.info(accel.state) } else { self.after_blanks(accel, text)? };
        Some((end, is_ascii))
    }

    /// Returns the state to which the blanks at the end of a text lead from an accelerated state, if nothing is held there.
    #[inline(never)]
    fn after_blanks(&self, accel: &Accel, text: &[u8]) -> Option<StateInfo> {
        let (text, blanks) = text.split_at_checked(text.len() - accel.blanks(text))?;
        let (end, _) = self.walk(accel.state, blanks)?;
        Some(end).filter(|end| !text.is_empty() && end.held() == 0)
    }

    /// Returns the number of bytes after which nothing is held, or `None` if an exit is reached before that.
    pub fn first_free(&self, mut state: StateId, text: &[u8]) -> Option<usize> {
        for (at, &byte) in text.iter().enumerate() {
            state = self.cell(state, byte);
            if self.state(state)?.held() == 0 {
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
    pub fn add_loop(&mut self, set: &ByteSet) -> u32 {
        self.accels.add_loop(set)
    }

    /// Returns, for each byte, the bits of the self-loops that do not include it; see `StateInfo::loop_mask`.
    #[inline]
    pub fn loop_sets(&self) -> &[u32; 256] {
        &self.accels.loop_sets
    }
}
