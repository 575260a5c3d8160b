//! Accelerated states: those to which almost every byte loops back. From there, only the few bytes that lead elsewhere are
//! looked for, which is most of why prose is cheap.

use super::state::{EVERY_BYTE, StateId};
use crate::matcher::{
    bytes::{ByteSet, contains},
    finder::ByteSetFinder,
};

/// Self-loops that have a bit in `loop_sets`; `EVERY_BYTE` is the bit after those.
const MOST_SETS: usize = if cfg!(test) { 4 } else { 31 };

/// Blanks that may lead away from an accelerated state for a while.
pub const SOFT: [u8; 2] = *b"\n ";

/// The accelerated states of an automaton.
pub struct Accels {
    pub(super) list: Vec<Accel>,
    /// For each state, the number of the accelerated state that it is or, through blanks, is near to, plus one; 0 is none.
    pub(super) near: Vec<u16>,
    /// For each byte, the self-loops that it is not in.
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
    /// The bytes that lead elsewhere …
    pub(super) escapes: ByteSetFinder,
    /// … and whether blanks lead to states of which the same is true, so that they can be looked at later.
    pub is_soft: bool,
    /// The ASCII that leads back at once.
    pub self_loop: ByteSet,
    /// Bytes that, after an escape, may lead elsewhere than back; and those that may after an escape and one of these.
    pub(super) onward: [ByteSet; 2],
}

impl Accel {
    /// Returns the number of bytes at the end of a text that may lead elsewhere for a while.
    #[inline]
    pub fn blanks(&self, text: &[u8]) -> usize {
        if self.is_soft { text.iter().rev().take_while(|byte| SOFT.contains(byte)).count() } else { 0 }
    }

    /// Finds the first escape that may lead elsewhere with the two bytes after it; the text's length if there is none.
    /// Before that, returns the index after the last one that leads back.
    #[inline(never)]
    pub fn find(&self, text: &[u8]) -> (usize, usize) {
        let [after_one, after_two] = &self.onward;
        self.escapes.find(text, |hit| match text.get(hit + 1) {
            Some(&next) if !contains(after_one, next) => Some(2),
            _ => text.get(hit + 2).filter(|&&next| !contains(after_two, next)).map(|_| 3),
        })
    }

    /// Returns whether a text that has no escape is ASCII; none where it has one.
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

    /// Returns the mask of a self-loop over these bytes, all of them ASCII. Those of the same bytes have a bit in common. Where
    /// all bits are taken, nothing loops.
    pub fn loop_mask(&mut self, set: &ByteSet) -> u32 {
        for mask in (0..MOST_SETS).map(|bit| 1 << bit) {
            // No self-loop has this byte.
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
