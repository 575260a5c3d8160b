//! Reads JSON in a call. The call breaks at a byte that cannot continue the JSON, and outside strings at a possible end of the
//! call.

use super::state::{Body, Piece, Role, State, Transition};
use crate::{
    calls::{
        table::{BodyRule, CallTable, CallTables},
        view::{Decision, View},
    },
    json::{Seen, Syntax},
    matcher::bytes::is_blank,
};

impl Body {
    pub(super) fn arguments(&mut self, table: &CallTable, view: &View) -> Transition {
        if let Some(step) = self.blanks(view, State::Arguments) {
            return Ok(Some(step));
        }
        // If the table has an `end`, a call may have no arguments, provided that the `end` follows.
        let end = if table.end.is_empty() { view.closer(0) } else { view.marker(0, &table.end) };
        match end {
            Decision::Yes => {
                let state = self.after_json(table);
                return self.go(state);
            }
            Decision::More => return Err(Decision::More),
            Decision::No => {}
        }
        view.one_of(0, b"{")?;
        self.begin_json(Role::Arguments)
    }

    pub(super) fn begin_json(&mut self, role: Role) -> Transition {
        self.json = Syntax::START;
        self.go(State::Json { role })
    }

    /// Returns the state after the object of a call with a head.
    fn after_json(&self, table: &CallTable) -> State {
        if table.end.is_empty() { State::Implied } else { State::Ended }
    }

    pub(super) fn json(&mut self, tables: &CallTables, table: &CallTable, view: &View, role: Role) -> Transition {
        let text = view.text;
        let piece = if role == Role::Arguments { Piece::Value } else { Piece::Framing };
        let is_object = matches!(table.body, BodyRule::Object(_));
        let done = match is_object {
            true => State::Member { is_first: false },
            false => self.after_json(table),
        };
        let stops = |at: usize| match is_object {
            true => view.closer(at),
            false => view.closer_or_begin(at, &tables.begins).or(view.marker(at, &table.end)),
        };
        let own = State::Json { role };
        let mut at = 0;
        loop {
            if self.json.is_in_text() {
                at += memchr::memchr2(b'"', b'\\', &text[at..]).unwrap_or(text.len() - at);
            }
            let Some(&byte) = text.get(at) else { return self.run(view, piece, at, own) };
            let (before, is_text) = (self.json, self.json.is_text());
            let seen = self.json.step(byte);
            let stop = match seen {
                Seen::Inside | Seen::Last if is_text || byte == b'"' => Decision::No,
                Seen::Inside | Seen::Last => stops(at),
                Seen::After if is_blank(byte) || matches!(byte, b',' | b'}' | b']') => {
                    self.json = before;
                    return self.ends_at(at, piece, own, done);
                }
                Seen::After | Seen::Fault => Decision::Yes,
            };
            match (stop, seen) {
                (Decision::No, Seen::Last) => return self.some(piece, at + 1, done),
                (Decision::No, _) => at += 1,
                (stop, _) => {
                    self.json = before;
                    let seen = if stop == Decision::Yes { Decision::No } else { Decision::More };
                    return self.before(at, piece, own, seen);
                }
            }
        }
    }
}
