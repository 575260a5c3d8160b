//! Accelerated states: those to which almost every byte loops back. From there, only the few bytes that lead elsewhere
//! are looked for.

use std::collections::BTreeSet;

use super::{Automaton, FALLBACK, StateId, StateInfo, build::PROSE};
use crate::matcher::{
    bytes::{ByteSet, contains},
    finder::{self, ByteSetFinder},
};

/// Blanks that may lead away from an accelerated state for a while.
pub const SOFT: [u8; 2] = *b"\n ";

/// Self-loops that have a bit in `loop_sets`, and the bit after those.
const MOST_SETS: usize = if cfg!(test) { 4 } else { 31 };
pub const EVERY_BYTE: u32 = 1 << 31;

/// The accelerated states of an automaton.
pub struct Accels {
    list: Vec<Accel>,
    /// Of each state, the number of the accelerated state that it is or, through blanks, is near to, plus one; 0 is none.
    near: Vec<u16>,
    /// Of each byte, the self-loops that it is not in.
    loop_sets: Box<[u32; 256]>,
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
    escapes: ByteSetFinder,
    /// … and whether blanks lead to states of which the same is true, so that they can be looked at later.
    pub is_soft: bool,
    /// The ASCII that leads back at once.
    pub self_loop: ByteSet,
    /// Bytes that, after an escape, may lead elsewhere than back; and those that may after an escape and one of these.
    onward: [ByteSet; 2],
}

impl Accel {
    /// How many bytes at the end of a text may lead elsewhere for a while.
    #[inline]
    pub fn blanks(&self, text: &[u8]) -> usize {
        if self.is_soft { text.iter().rev().take_while(|byte| SOFT.contains(byte)).count() } else { 0 }
    }

    /// Where the first escape is that may lead elsewhere with the two bytes after it, the text's length if there is none;
    /// before that: what comes after the last one that leads back.
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

impl Automaton {
    /// Finds the accelerated states: of those where nothing is held, prose first.
    pub(super) fn accelerate(&mut self) {
        let prose = PROSE.number().map(|number| (number, 0));
        let is_prose = |key: &(u64, u16)| Some(*key) == prose;
        let all = || self.starts.iter().flatten().flat_map(|starts| starts.list.iter());
        let first = all().filter(|(key, _)| is_prose(key));
        let others = all().filter(|(key, _)| !is_prose(key));
        let states: Vec<StateId> = first.chain(others).map(|&(_, state)| state).collect();
        // States with the same self-loop have a bit in common.
        let mut loops: Vec<ByteSet> = Vec::new();
        let mut accels = Accels { near: vec![0; self.states.len()], ..Accels::default() };
        for state in states {
            let Some((accel, around)) = self.accel_at(state) else { continue };
            let bit = loops.iter().position(|set| *set == accel.self_loop).unwrap_or(loops.len());
            if bit == loops.len() && bit < MOST_SETS {
                loops.push(accel.self_loop);
            }
            accels.list.push(accel);
            let number = accels.list.len() as u16;
            for near in around {
                let is_empty = self.info(near).held() == 0;
                let near = &mut accels.near[usize::from(near)];
                if *near == 0 && is_empty {
                    *near = number;
                }
            }
            accels.near[usize::from(state)] = number;
            let info: &mut StateInfo = &mut self.states[usize::from(state)];
            *info = info.with_loop_mask(if bit < MOST_SETS { 1 << bit } else { EVERY_BYTE });
        }
        for byte in 0..=u8::MAX {
            let others = loops.iter().enumerate().filter(|(_, set)| !contains(set, byte));
            accels.loop_sets[usize::from(byte)] = others.fold(EVERY_BYTE, |all, (bit, _)| all | 1 << bit);
        }
        accels.list.shrink_to_fit();
        self.accels = accels;
    }

    /// The accelerated state that this state is, and the states that blanks lead to from it.
    fn accel_at(&self, state: StateId) -> Option<(Accel, Vec<StateId>)> {
        self.accel_among(state, &SOFT).or_else(|| self.accel_among(state, &[]))
    }

    /// The state that a byte leads to, or the fallback.
    fn next(&self, state: StateId, byte: u8) -> StateId {
        let cell = self.cell(state, byte);
        if usize::from(cell) < self.states.len() { cell } else { FALLBACK }
    }

    /// Where any of these bytes leads from any of these states.
    fn states_after(&self, states: &[StateId], bytes: &[u8]) -> Vec<StateId> {
        let all = states.iter().flat_map(|&from| bytes.iter().map(move |&byte| self.next(from, byte)));
        all.collect::<BTreeSet<StateId>>().into_iter().collect()
    }

    /// The bytes that lead from any of these states to another one than `home`.
    fn leads_elsewhere(&self, states: &[StateId], home: StateId) -> ByteSet {
        let width = self.classes.len();
        let mut is_onward = vec![false; width];
        for cells in states.iter().filter_map(|&from| self.cells.get(usize::from(from) * width..)) {
            is_onward.iter_mut().zip(cells).for_each(|(is_onward, &next)| *is_onward |= next != home);
        }
        self.classes.set_of(|byte| is_onward[self.classes.of(byte)])
    }

    fn accel_among(&self, state: StateId, soft: &[u8]) -> Option<(Accel, Vec<StateId>)> {
        let mut around = vec![state];
        let mut at = 0;
        while let Some(&from) = around.get(at) {
            for next in soft.iter().map(|&byte| self.next(from, byte)) {
                if next == FALLBACK || around.len() > usize::from(u8::MAX) {
                    return None;
                }
                if !around.contains(&next) {
                    around.push(next);
                }
            }
            at += 1;
        }
        let back = self.classes.set_of(|byte| around.iter().all(|&from| self.next(from, byte) == state));
        let is_escape = |byte: &u8| !soft.contains(byte) && !contains(&back, *byte);
        let list: Vec<u8> = (0..=u8::MAX).filter(is_escape).take(finder::MOST + 1).collect();
        let escapes = ByteSetFinder::new(&list)?;
        let [low, high, ..] = self.classes.set_of(|byte| self.next(state, byte) == state);
        let self_loop = [low, high, 0, 0];
        let is_soft = soft.iter().any(|&byte| self.next(state, byte) != state);
        let after = self.states_after(&around, &list);
        let one = self.leads_elsewhere(&after, state);
        let one_of_each = self.classes.bytes().iter().copied().filter(|&byte| contains(&one, byte));
        let after = self.states_after(&after, &one_of_each.collect::<Vec<u8>>());
        let onward = [one, self.leads_elsewhere(&after, state)];
        Some((Accel { state, escapes, is_soft, self_loop, onward }, around))
    }
}
