//! Finds out whether a state is accelerated, when its row is filled.

use std::array;

use super::{
    accel::{Accel, SOFT},
    build::Builder,
    state::{FALLBACK, StateId},
};
use crate::matcher::{
    bytes::{ByteSet, contains},
    finder::{self, ByteSetFinder},
};

/// The set of all bytes.
const EVERY_BYTE: ByteSet = [u64::MAX; 4];

/// The maximum number of states to which blanks lead from an accelerated state, and of states to which escapes lead from these.
const MOST_NEAR: usize = 64;

/// A short list of different states. It allocates nothing.
struct Near {
    list: [StateId; MOST_NEAR],
    count: usize,
}

impl Near {
    const NONE: Near = Near { list: [FALLBACK; MOST_NEAR], count: 0 };

    fn states(&self) -> &[StateId] {
        &self.list[..self.count]
    }

    /// Adds a state. Returns `None` if there is no room.
    fn add(&mut self, state: StateId) -> Option<()> {
        if !self.states().contains(&state) {
            *self.list.get_mut(self.count)? = state;
            self.count += 1;
        }
        Some(())
    }
}

impl Builder<'_> {
    /// Accelerates a state in which nothing is held, if text loops in it.
    pub(super) fn accelerate(&mut self, state: StateId) {
        let table = self.table;
        let info = table.info(state).filled();
        if table.info(state).is_filled() {
            return;
        }
        let found = match table.origin(state).framing {
            0 if info.held() == 0 => self.accel_among(state, &SOFT).or_else(|| self.accel_among(state, &[])),
            _ => None,
        };
        let Some((accel, around)) = found else { return table.change(info) };
        let mask = table.accels.loop_mask(&accel.self_loop);
        table.accels.add(accel, around.states().iter().copied().filter(|&near| table.info(near).held() == 0));
        table.change(info.with_loop_mask(mask));
    }

    /// Returns the state that a byte leads to, with its row filled, or the fallback.
    fn next(&mut self, state: StateId, byte: u8) -> StateId {
        let cell = self.table.cell(state, byte);
        let next = if self.table.is_state(cell) { cell } else { FALLBACK };
        self.row(next);
        next
    }

    /// Adds to a set the bytes that lead from a state to a state other than `home`.
    fn add_elsewhere(&self, set: ByteSet, from: StateId, home: StateId) -> ByteSet {
        let more = self.table.classes.set_of(|byte| self.table.cell(from, byte) != home);
        array::from_fn(|word| set[word] | more[word])
    }

    fn accel_among(&mut self, state: StateId, soft: &[u8]) -> Option<(Accel, Near)> {
        let table = self.table;
        let mut around = Near::NONE;
        around.add(state)?;
        let (mut at, mut elsewhere) = (0, [0; 4]);
        let (mut list, mut count) = ([0; finder::MOST], 0);
        // For most states that cannot be accelerated, the first round already finds too many escapes.
        while at < around.count {
            elsewhere = self.add_elsewhere(elsewhere, around.list[at], state);
            let escapes = (0..=u8::MAX).filter(|byte| contains(&elsewhere, *byte) && !soft.contains(byte));
            count = 0;
            for byte in escapes {
                *list.get_mut(count)? = byte;
                count += 1;
            }
            for &byte in soft {
                let next = self.next(around.list[at], byte);
                if next == FALLBACK {
                    return None;
                }
                around.add(next)?;
            }
            at += 1;
        }
        let list = &list[..count];
        let mut after = Near::NONE;
        let mut one = [0; 4];
        for (&from, &byte) in around.states().iter().flat_map(|from| list.iter().map(move |byte| (from, byte))) {
            if one == EVERY_BYTE {
                break;
            }
            let next = self.next(from, byte);
            after.add(next)?;
            one = self.add_elsewhere(one, next, state);
        }
        // If no byte surely leads back directly after an escape, examining the second byte would help few texts.
        let mut two = if one == EVERY_BYTE { EVERY_BYTE } else { [0; 4] };
        for &byte in table.classes.bytes().iter().filter(|&&byte| contains(&one, byte)) {
            for &from in after.states() {
                if two == EVERY_BYTE {
                    break;
                }
                let next = self.next(from, byte);
                two = self.add_elsewhere(two, next, state);
            }
        }
        let accel = Accel {
            state,
            escapes: ByteSetFinder::new(list)?,
            is_soft: soft.iter().any(|&byte| table.cell(state, byte) != state),
            self_loop: self.self_loop(state),
            onward: [one, two],
        };
        Some((accel, around))
    }
}
