//! Finds the accelerated states of a table, as the last step of building it.

use std::collections::BTreeSet;

use super::{
    accel::{Accel, Accels, SOFT},
    state::{FALLBACK, StateId, StateInfo},
    table::Automaton,
};
use crate::matcher::{
    bytes::{ByteSet, contains},
    code::CodeTracker,
    finder::{self, ByteSetFinder},
    grammar::LineRule,
};

impl Automaton {
    /// Finds the accelerated states among the states in which nothing is held, those of prose first.
    pub(super) fn accelerate(&mut self) {
        let prose = [false, true].map(|words| {
            let code = CodeTracker::in_prose(LineRule::Guard { fences: false, inline: false, words });
            code.number().map(|number| (number, 0))
        });
        let is_prose = |key: &(u64, u16)| prose.contains(&Some(*key));
        let all = || self.starts.iter().flatten().flat_map(|starts| starts.list.iter());
        let first = all().filter(|(key, _)| is_prose(key));
        let others = all().filter(|(key, _)| !is_prose(key));
        let states: Vec<StateId> = first.chain(others).map(|&(_, state)| state).collect();
        let mut accels = Accels { near: vec![0; self.states.len()], ..Accels::default() };
        for state in states {
            let Some((accel, around)) = self.accel_at(state) else { continue };
            let mask = accels.loop_mask(&accel.self_loop);
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
            *info = info.with_loop_mask(mask);
        }
        accels.list.shrink_to_fit();
        self.accels = accels;
    }

    /// Returns the data of this state if it is accelerated, and the states to which blanks lead from it.
    fn accel_at(&self, state: StateId) -> Option<(Accel, Vec<StateId>)> {
        self.accel_among(state, &SOFT).or_else(|| self.accel_among(state, &[]))
    }

    /// Returns the state that a byte leads to, or the fallback.
    fn next(&self, state: StateId, byte: u8) -> StateId {
        let cell = self.cell(state, byte);
        if usize::from(cell) < self.states.len() { cell } else { FALLBACK }
    }

    /// Returns the states to which these bytes lead from these states.
    fn states_after(&self, states: &[StateId], bytes: &[u8]) -> Vec<StateId> {
        let all = states.iter().flat_map(|&from| bytes.iter().map(move |&byte| self.next(from, byte)));
        all.collect::<BTreeSet<StateId>>().into_iter().collect()
    }

    /// Returns the bytes that lead from any of these states to a state other than `home`.
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
        let is_escape = |&byte: &u8| !soft.contains(&byte) && around.iter().any(|&from| self.next(from, byte) != state);
        let list = self.classes.bytes().iter().copied().filter(is_escape).take(finder::MOST + 1);
        if list.count() > finder::MOST {
            return None;
        }
        let escaping = self.classes.set_of(|byte| is_escape(&byte));
        let list: Vec<u8> = (0..=u8::MAX).filter(|&byte| contains(&escaping, byte)).take(finder::MOST + 1).collect();
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
