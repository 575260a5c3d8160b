//! The builder, which fills rows: a recogniser shows the effect of each byte in a state. A row is filled when a stream first
//! needs it, because an answer enters some hundred of a dialect's many thousand states. If there is no room for a state, the
//! fallback is used.
//!
//! Other streams read the table meanwhile. All memory is reserved when the table is made, so filling allocates nothing. A stream that
//! does not get the lock uses its recogniser in place of the row, with the same results.

use std::{mem, sync::MutexGuard};

use super::{
    config::{self, Config, Stage},
    places::{Book, Item, MOST_HELD, Place, hash, is_rare},
    state::{Exit, FALLBACK, StateId, StateInfo},
    table::{Automaton, Room},
};
use crate::{
    channel::Channel,
    matcher::{
        answer::JsonAnswer,
        bytes::{ByteSet, is_blank},
        code::{self, CodeTracker},
        grammar::{Grammar, LineRule},
        recogniser::{Outcome, Recogniser, TokenMark},
    },
};

/// The maximum number of states of one settled configuration. In a region with many configurations, each has fewer.
const MOST_OF_CONFIG: u16 = 1024;
/// The maximum number of states of a configuration in which only code spans hide markers, as in most thinking; of a configuration
/// that the next byte of text ends; and of a configuration that few streams reach.
const MOST_OF_SPANS: u16 = 512;
const MOST_OF_FRESH: u16 = 96;
const MOST_OF_RARE: u16 = 64;
/// The maximum number of configurations of one region.
const MOST_CONFIGS: usize = 80;

impl Automaton {
    /// Returns a room for each configuration that markers lead to, and for each region the index after its last room.
    pub(super) fn rooms(grammar: &Grammar, used: u16) -> (Vec<Room>, Vec<u16>) {
        let (mut rooms, mut ends) = (Vec::new(), Vec::new());
        for number in 0..grammar.regions.len() as u8 {
            Automaton::add_rooms(&mut rooms, grammar, number, used);
            ends.push(rooms.len() as u16);
        }
        (rooms, ends)
    }

    fn add_rooms(rooms: &mut Vec<Room>, grammar: &Grammar, number: u8, used: u16) {
        let (region, first) = (grammar.region(number), rooms.len());
        let seeds = config::seeds(grammar, number, used);
        let common = seeds.iter().filter(|seed| seed.config.stage == Stage::Settled && !seed.is_rare).count();
        for seed in seeds.into_iter().take(MOST_CONFIGS) {
            let most = match region.lines {
                _ if seed.is_rare => MOST_OF_RARE,
                _ if seed.config.stage != Stage::Settled => MOST_OF_FRESH,
                LineRule::Guard { fences: false, .. } => MOST_OF_SPANS,
                _ => MOST_OF_CONFIG,
            };
            // If a region has many configurations, each is used by fewer streams.
            let most = (2 * most / (common as u16).max(2)).max(MOST_OF_RARE);
            for config in [seed.config, seed.config.after(true), seed.config.after(false)] {
                if rooms[first..].iter().all(|room| room.config != config) {
                    rooms.push(Room::new(config, most));
                }
            }
        }
    }

    /// Adds the states of prose and of beginnings of lines, so that a stream with rare text cannot take their room, and the loops
    /// of prose, outside code and in it.
    pub(super) fn add_common(&mut self, grammar: &Grammar) {
        let mut loops = Vec::new();
        let Some(mut builder) = self.builder(grammar) else { return };
        for (number, Room { config, most, .. }) in (0..).zip(&self.rooms) {
            let lines = grammar.region(config.region).lines;
            let mut in_code = CodeTracker::IN_CODE;
            in_code.pass(b'a', lines);
            let is_settled = config.stage == Stage::Settled;
            let codes = [CodeTracker::in_prose(lines), CodeTracker::NEW, in_code, CodeTracker::IN_CODE];
            for code in &codes[..if is_settled { 4 } else { 2 }] {
                let state = builder.find(number, *code, 0, &[], None);
                if is_settled && builder.table.is_state(state) && !code.at_start() && *most > MOST_OF_RARE {
                    builder.row(state);
                    loops.push((code.in_block(), builder.self_loop(state)));
                }
            }
        }
        drop(builder);
        loops.sort_by_key(|(in_block, _)| *in_block);
        for (_, set) in loops {
            self.accels.add_loop(&set);
        }
    }

    /// Returns the builder, if no other thread has it.
    fn builder<'a>(&'a self, grammar: &'a Grammar) -> Option<Builder<'a>> {
        Some(Builder { table: self, grammar, book: self.book.try_lock().ok()? })
    }

    /// Fills the row of a state, and accelerates the state if text loops in it. Returns false if another thread is filling a row.
    #[cold]
    pub fn fill(&self, grammar: &Grammar, state: StateId) -> bool {
        let Some(mut builder) = self.builder(grammar) else { return false };
        builder.row(state);
        builder.accelerate(state);
        true
    }

    /// Fills the rows of all states that any text leads to.
    #[cfg(test)]
    pub fn fill_all(&self, grammar: &Grammar) {
        while let Some(state) = self.all_states().find(|&state| !self.info(state).is_filled()) {
            // The lock may be held by another test.
            while !self.fill(grammar, state) {
                std::thread::yield_now();
            }
        }
    }

    /// Limits the room to this number of additional states.
    #[cfg(test)]
    pub fn limit(&self, more: usize) {
        let mut book = self.book.lock().unwrap();
        book.most = book.places.len() + 1 + more;
    }

    /// Adds the state of a place where nothing is held. Returns the fallback if there is no room.
    #[cold]
    pub(super) fn add(&self, grammar: &Grammar, config: u16, code: CodeTracker, framing: u16) -> StateInfo {
        let cell = self.builder(grammar).map(|mut builder| builder.find(config, code, framing, &[], None));
        cell.map_or(StateInfo::FALLBACK, |cell| self.info(cell))
    }
}

/// Fills rows, while it has the lock.
pub(super) struct Builder<'a> {
    pub(super) table: &'a Automaton,
    grammar: &'a Grammar,
    book: MutexGuard<'a, Book>,
}

impl Builder<'_> {
    fn place(&mut self, state: StateId) -> &mut Place {
        &mut self.book.places[usize::from(state) - 1]
    }

    fn room(&self, config: u16) -> &Config {
        &self.table.rooms[usize::from(config)].config
    }

    /// Returns the number of a configuration, which in most cases is the item's.
    fn number_of(&self, item: &Item, config: &Config) -> Option<u16> {
        if self.room(item.config) == config { Some(item.config) } else { self.table.number_of(config) }
    }

    /// Returns the ASCII bytes that lead from a state directly back.
    pub(super) fn self_loop(&self, state: StateId) -> ByteSet {
        let [low, high, ..] = self.table.classes.set_of(|byte| self.table.cell(state, byte) == state);
        [low, high, 0, 0]
    }

    /// Fills the row of a state, if it is not filled.
    pub(super) fn row(&mut self, state: StateId) {
        if state == FALLBACK || mem::replace(&mut self.place(state).is_filled, true) {
            return;
        }
        match self.failed(state) {
            Some(failed) if self.table.is_state(failed) => self.row_after(state, failed),
            _ => self.row_of_all(state),
        }
    }

    /// Fills the row of a state where bytes are held or framing may follow. If the recogniser fails at a byte, the byte leads
    /// where it leads from `failed`, the state in which the bytes are not this marker or framing.
    fn row_after(&mut self, state: StateId, failed: StateId) {
        self.row(failed);
        let Place { item, recogniser, .. } = *self.place(state);
        let recogniser = recogniser.unwrap_or_else(|| Recogniser::of_framing(item.framing));
        let region = self.grammar.region(self.room(item.config).region);
        for class in 0..self.table.classes.len() {
            let byte = self.table.classes.bytes()[class];
            let mut recogniser = recogniser;
            let outcome = recogniser.run(self.grammar, region, &[byte], |_| TokenMark::PLAIN);
            let cell = match outcome {
                Outcome::Fail if !recogniser.nests() => match self.table.cell_of_class(failed, class) {
                    // The byte completes a marker that begins after the first held byte.
                    cell if !self.table.is_state(cell) => Exit::Fallback.cell(),
                    cell => cell,
                },
                _ => self.step(state, byte),
            };
            self.table.set(state, class, cell);
        }
    }

    /// Fills the cells of a row one by one.
    fn row_of_all(&mut self, state: StateId) {
        let Place { item, recogniser, .. } = self.place(state);
        let (is_free, config) = (recogniser.is_none() && item.framing == 0, item.config);
        let region = self.grammar.region(self.room(config).region);
        // All bytes of a kind that cannot begin a marker lead to the same cell.
        let mut of_kinds = [None; code::KINDS];
        for class in 0..self.table.classes.len() {
            let byte = self.table.classes.bytes()[class];
            let mut step = || self.step(state, byte);
            let cell = match is_free && !region.may_begin(byte) {
                true => *of_kinds[code::kind(byte)].get_or_insert_with(step),
                false => step(),
            };
            self.table.set(state, class, cell);
        }
    }

    /// Returns the cell that a state's held bytes lead to if they are not the framing, or if the first of them is text. Returns
    /// `None` if nothing is held and no framing may follow.
    fn failed(&mut self, state: StateId) -> Option<u16> {
        let Place { mut item, recogniser, .. } = *self.place(state);
        if item.framing != 0 {
            item.framing = 0;
            return Some(self.replay(&item, item.held(), Some((None, 0))));
        }
        recogniser?;
        Some(self.replay(&item, item.held(), None))
    }

    /// Returns the cell of the place where this text is held, if streams reach it often enough and there is room. `recogniser`
    /// has read the held text.
    fn find(
        &mut self,
        config: u16,
        mut code: CodeTracker,
        framing: u16,
        text: &[u8],
        recogniser: Option<Recogniser>,
    ) -> u16 {
        let none = Exit::Fallback.cell();
        let region = self.grammar.region(self.room(config).region);
        let is_common = recogniser.as_ref().is_none_or(|it| it.is_common(text));
        if !region.has_lines() {
            code = CodeTracker::NEW;
        }
        // Directly after the sign of a block quote or a list item, a possible marker is rare.
        let is_common = is_common && (text.is_empty() && framing == 0 || !code.is_in_containers());
        let Some(origin) =
            Automaton::origin_of(config, &code, framing).filter(|_| text.len() <= MOST_HELD && is_common)
        else {
            return none;
        };
        let mut held = [0; MOST_HELD];
        held[..text.len()].copy_from_slice(text);
        if let Some(token) = recogniser.as_ref().and_then(|it| it.token(text)) {
            if text[token.clone()].iter().any(|&byte| region.may_begin(byte)) {
                return none;
            }
            held[token].fill(b'a');
        }
        let item = Item { config, framing, code, len: text.len() as u8, held };
        let is_it = |state: StateId| self.book.places[usize::from(state) - 1].item == item;
        let (found, slot) = self.table.find(hash(origin, item.held()), is_it);
        if found != FALLBACK {
            return found;
        }
        let is_rare = is_rare(&code);
        let state = self.book.places.len() + 1;
        let room = &self.table.rooms[usize::from(config)];
        let has_room = |count: usize, rare: usize, most: usize| count < most && (!is_rare || rare < most / 2);
        if !has_room(state, self.book.rare, self.book.most) || !room.add(is_rare) {
            return none;
        }
        self.book.rare += usize::from(is_rare);
        let is_wide = !text.is_ascii();
        self.book.places.push(Place { item, recogniser, is_filled: false });
        self.table.publish(StateInfo::new(state as StateId, item.len, is_wide), origin, slot);
        state as StateId
    }

    /// Returns the effect of a byte in a state.
    fn step(&mut self, state: StateId, byte: u8) -> u16 {
        let Place { item, recogniser: alive, .. } = *self.place(state);
        let mut text = [0; MOST_HELD + 1];
        let len = usize::from(item.len);
        text[..len].copy_from_slice(item.held());
        text[len] = byte;
        self.replay(&item, &text[..=len], Some((alive, len)))
    }

    /// Returns the cell to which a text leads from the item's origin. `alive` is the recogniser that has read the item's held
    /// bytes, if there is one, and their number; `None` means that the first byte is text.
    fn replay(&mut self, item: &Item, text: &[u8], alive: Option<(Option<Recogniser>, usize)>) -> u16 {
        let none = Exit::Fallback.cell();
        let mut config = *self.room(item.config);
        let region = self.grammar.region(config.region);
        let (mut code, mut framing) = (item.code, item.framing);
        let guards_json = self.grammar.guards_json && region.channel == Channel::Content;
        // A possible marker begins at `at` and has been read up to `read`.
        let (mut at, mut read) = (0, 0);
        // Reads a byte of text. Returns whether an answer in JSON may begin with it; before the first content, nothing is settled.
        let pass = |code: &mut CodeTracker, config: &mut Config, at: &mut usize| {
            let is_first = guards_json && config.stage != Stage::Settled && JsonAnswer::begins_with(text[*at]);
            if region.has_lines() {
                code.pass(text[*at], region.lines);
            }
            *config = config.after(is_blank(text[*at]));
            *at += 1;
            is_first || code.begins_json()
        };
        let mut begins_json = false;
        let mut alive = match alive {
            Some((alive, len)) => {
                read = len;
                alive
            }
            None => {
                begins_json = pass(&mut code, &mut config, &mut at);
                None
            }
        };
        loop {
            if begins_json {
                // In an answer in JSON, each byte is read outside the table.
                return none;
            }
            let mut recogniser = match (alive.take(), text.get(at)) {
                (Some(alive), _) => alive,
                (None, None) => {
                    let config = self.number_of(item, &config);
                    return config.map_or(none, |config| self.find(config, code, framing, &[], None));
                }
                (None, Some(&first)) if framing == 0 && !region.may_begin(first) => {
                    begins_json = pass(&mut code, &mut config, &mut at);
                    continue;
                }
                (None, Some(&first)) => {
                    read = at;
                    match framing {
                        0 => Recogniser::of_marker(region, config.active(), &code, first),
                        framing => Recogniser::of_framing(framing),
                    }
                }
            };
            let outcome = recogniser.run(self.grammar, region, &text[read..], |_| TokenMark::PLAIN);
            match outcome {
                Outcome::More => {
                    let config = self.number_of(item, &config);
                    return config
                        .map_or(none, |config| self.find(config, code, framing, &text[at..], Some(recogniser)));
                }
                // Only a marker or framing that begins at the state's origin can be an exit.
                _ if outcome != Outcome::Fail && (at, framing) != (0, item.framing) => return none,
                Outcome::Match { pattern, len } => return Exit::Marker { pattern, len: len as u8 }.cell(),
                Outcome::Framing => return Exit::Framing.cell(),
                Outcome::HeaderEnd { .. } | Outcome::HeaderBreak { .. } => return none,
                Outcome::Fail if framing != 0 => framing = 0,
                Outcome::Fail => {
                    code.nest_if(recogniser.nests());
                    begins_json = pass(&mut code, &mut config, &mut at);
                }
            }
        }
    }
}
