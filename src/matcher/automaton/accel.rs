//! Accelerated states: almost every byte leads from such a state back to it. Only the few other bytes are searched for, which is
//! the main reason why reading prose is cheap.

use super::state::{EVERY_BYTE, StateId};
use crate::matcher::{
    bytes::{ByteSet, contains},
    finder::ByteSetFinder,
};

/// The maximum number of self-loops that have a bit in `loop_sets`; `EVERY_BYTE` is the next bit.
const MOST_SETS: usize = if cfg!(test) { 4 } else { 31 };

/// Blanks that may lead away from an accelerated state for a few bytes.
pub const SOFT: [u8; 2] = *b"\n ";

/// The accelerated states of an automaton.
pub struct Accels {
    pub(super) list: Vec<Accel>,
    /// For each state, 1 plus the number of its accelerated state, which is itself or a state from which blanks lead to it; 0
    /// without one.
    pub(super) near: Vec<u16>,
    /// For each byte, a bit for each self-loop that does not include it.
    pub(super) loop_sets: Box<[u32; 256]>,
}

impl Default for Accels {
    fn default() -> Accels {
        Accels { list: Vec::new(), near: Vec::new(), loop_sets: Box::new([EVERY_BYTE; 256]) }
    }
}

#[derive(Clone)]
pub struct Accel {
    pub state: StateId,
    /// The bytes that lead to other states …
    pub(super) escapes: ByteSetFinder,
    /// … and whether blanks, which lead to states with the same escapes, are examined only at the end of a text.
    pub is_soft: bool,
    /// The ASCII bytes that lead directly back.
    pub self_loop: ByteSet,
    /// Bytes that may not lead back after an escape; and bytes that may not lead back after an escape and one of these bytes.
    pub(super) onward: [ByteSet; 2],
}

impl Accel {
    /// Returns the number of blanks at the end of a text that may lead to another state.
    #[inline]
    pub fn blanks(&self, text: &[u8]) -> usize {
        if self.is_soft { text.iter().rev().take_while(|byte| SOFT.contains(byte)).count() } else { 0 }
    }

    /// Finds the first escape that, with the two bytes after it, may not lead back. Returns the index after the last escape that
    /// leads back, and the index of the escape that was found, or the text's length.
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
    #[inline]
    pub fn of(&self, state: StateId) -> Option<&Accel> {
        self.list.get(usize::from(*self.near.get(usize::from(state))?).wrapping_sub(1))
    }

    /// Returns the mask of a self-loop over these ASCII bytes. Self-loops over the same bytes share a bit. If no bit is left, the
    /// mask disables the loop.
    pub fn loop_mask(&mut self, set: &ByteSet) -> u32 {
        for mask in (0..MOST_SETS).map(|bit| 1 << bit) {
            // This byte is not ASCII, so it is in no self-loop.
            let is_free = self.loop_sets[usize::from(u8::MAX)] & mask == 0;
            let mut bytes = (0..=u8::MAX).zip(self.loop_sets.iter_mut());
            if is_free {
                bytes.filter(|(byte, _)| !contains(set, *byte)).for_each(|(_, others)| *others |= mask);
                return mask;
            }
            if bytes.all(|(byte, others)| contains(set, byte) == (*others & mask == 0)) {
                return mask;
            }
        }
        EVERY_BYTE
    }

    #[inline]
    pub fn loop_sets(&self) -> &[u32; 256] {
        &self.loop_sets
    }
}
