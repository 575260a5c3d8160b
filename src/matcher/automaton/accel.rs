//! Accelerated states: those to which almost every byte loops back. From there, only the few bytes that lead elsewhere are
//! looked for, which is most of why prose is cheap.

use super::state::{EVERY_BYTE, StateId};
use crate::matcher::{
    bytes::{ByteSet, contains},
    finder::ByteSetFinder,
};

/// Blanks that may lead away from an accelerated state for a while.
pub const SOFT: [u8; 2] = *b"\n ";

/// The accelerated states of an automaton.
pub struct Accels {
    pub(super) list: Vec<Accel>,
    /// Of each state, the number of the accelerated state that it is or, through blanks, is near to, plus one; 0 is none.
    pub(super) near: Vec<u16>,
    /// Of each byte, the self-loops that it is not in.
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
    /// Returns how many bytes at the end of a text may lead elsewhere for a while.
    #[inline]
    pub fn blanks(&self, text: &[u8]) -> usize {
        if self.is_soft { text.iter().rev().take_while(|byte| SOFT.contains(byte)).count() } else { 0 }
    }

    /// Finds the first escape that may lead elsewhere with the two bytes after it; the text's length if there is none.
    /// Before that, returns what comes after the last one that leads back.
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

    #[inline]
    pub fn loop_sets(&self) -> &[u32; 256] {
        &self.loop_sets
    }
}
