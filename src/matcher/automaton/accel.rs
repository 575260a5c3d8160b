//! Accelerated states: almost every byte leads from such a state back to it. Only the few other bytes are searched for, which is
//! the main reason why reading prose is cheap.

use std::sync::{
    OnceLock,
    atomic::{AtomicU16, Ordering::Relaxed},
};

use super::{
    places::zeros,
    state::{EVERY_BYTE, StateId},
};
use crate::matcher::{
    bytes::{ByteSet, contains},
    finder::ByteSetFinder,
};

/// The maximum number of self-loops that have a bit in `loop_sets`; `EVERY_BYTE` is the next bit.
const MOST_SETS: usize = if cfg!(test) { 4 } else { 31 };

/// The maximum number of accelerated states.
const MOST_ACCELS: usize = 512;

/// Blanks that may lead away from an accelerated state for a few bytes.
pub const SOFT: [u8; 2] = *b"\n ";

/// The accelerated states of an automaton. Only its builder, which has a lock, adds to them.
pub struct Accels {
    pub(super) list: Box<[OnceLock<Accel>]>,
    /// For each state, 0, or 1 plus the index in `list` of an accelerated state: this state, or one from which blanks lead to it.
    pub(super) near: Vec<AtomicU16>,
    /// For each byte, a bit for each self-loop that does not include it. The bits are set when the table is made and then stay:
    /// nearly all feeds read them, and a lock or an atomic read would be slower.
    pub(super) loop_sets: Box<[u32; 256]>,
    /// The bytes of each self-loop that has a bit, in the order of the bits.
    loops: Vec<ByteSet>,
}

#[derive(Clone)]
pub struct Accel {
    pub state: StateId,
    /// The bytes that lead to other states, without blanks if `is_soft`.
    pub(super) escapes: ByteSetFinder,
    /// Whether blanks lead to other states with the same escapes, so that blanks are examined only at the end of a text.
    pub is_soft: bool,
    /// The ASCII bytes that lead directly back.
    pub self_loop: ByteSet,
    /// The bytes that may not lead back directly after an escape; and the bytes that may not lead back after an escape and a byte of
    /// the first set.
    pub(super) onward: [ByteSet; 2],
}

impl Accel {
    /// Returns the number of blanks at the end of a text that may lead to another state.
    #[inline]
    pub fn blanks(&self, text: &[u8]) -> usize {
        if self.is_soft { text.iter().rev().take_while(|byte| SOFT.contains(byte)).count() } else { 0 }
    }

    /// Finds the first escape that may not lead back with one of the two bytes after it. Skips other escapes. Returns the index
    /// after the last skipped bytes, and the index of the escape that was found, or the text's length.
    #[inline(never)]
    pub fn find(&self, text: &[u8]) -> (usize, usize) {
        let [after_one, after_two] = &self.onward;
        self.escapes.find(text, |hit| match text.get(hit + 1) {
            Some(&next) if !contains(after_one, next) => Some(2),
            _ => text.get(hit + 2).filter(|&&next| !contains(after_two, next)).map(|_| 3),
        })
    }

    /// Returns whether a text without escapes is ASCII, or `None` if it has an escape.
    #[inline]
    pub fn is_passed(&self, text: &[u8]) -> Option<bool> {
        self.escapes.is_ascii_without(text)
    }
}

impl Accels {
    pub(super) fn new(states: usize) -> Accels {
        let list = (0..MOST_ACCELS).map(|_| OnceLock::new()).collect();
        Accels { list, near: zeros(states), loop_sets: Box::new([EVERY_BYTE; 256]), loops: Vec::new() }
    }

    #[inline]
    pub fn of(&self, state: StateId) -> Option<&Accel> {
        let number = self.near.get(usize::from(state))?.load(Relaxed);
        self.list.get(usize::from(number).wrapping_sub(1))?.get()
    }

    /// Adds an accelerated state and the states near it, if there is room.
    pub(super) fn add(&self, accel: Accel, near: impl Iterator<Item = StateId>) {
        let state = accel.state;
        let Some(free) = self.list.iter().position(|it| it.get().is_none()) else { return };
        let number = free as u16 + 1;
        if self.list[free].set(accel).is_ok() {
            for near in near.map(|near| &self.near[usize::from(near)]).filter(|near| near.load(Relaxed) == 0) {
                near.store(number, Relaxed);
            }
            self.near[usize::from(state)].store(number, Relaxed);
        }
    }

    /// Returns the mask of a self-loop over these ASCII bytes. Self-loops over the same bytes share a bit. If no bit is left, the
    /// mask disables the loop.
    pub fn add_loop(&mut self, set: &ByteSet) -> u32 {
        let mask = self.loop_mask(set);
        if mask != EVERY_BYTE || self.loops.len() >= MOST_SETS {
            return mask;
        }
        let mask = 1 << self.loops.len();
        self.loops.push(*set);
        let bytes = (0..=u8::MAX).zip(self.loop_sets.iter_mut());
        bytes.filter(|(byte, _)| !contains(set, *byte)).for_each(|(_, others)| *others |= mask);
        mask
    }

    /// Returns the mask of a self-loop over these ASCII bytes that was added before, or the mask that disables the loop.
    pub fn loop_mask(&self, set: &ByteSet) -> u32 {
        self.loops.iter().position(|known| known == set).map_or(EVERY_BYTE, |bit| 1 << bit)
    }
}
