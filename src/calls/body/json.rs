//! JSON in a call: its strings and brackets, and what may break it, are all that is looked at. It is never parsed.

use super::state::{Body, JsonState, Piece, Role, State, Transition};
use crate::{
    calls::{
        table::{BodyRule, CallTable, CallTables},
        view::{Decision, View},
    },
    matcher::bytes::is_blank,
};

impl Body {
    pub(super) fn arguments(&mut self, table: &CallTable, view: &View) -> Transition {
        if let Some(step) = self.blanks(view, State::Arguments) {
            return Ok(Some(step));
        }
        match view.closer(0).or(view.marker(0, &table.end)) {
            Decision::Yes => {
                let state = self.after_json(table);
                return self.go(state);
            }
            Decision::More => return Err(Decision::More),
            Decision::No => {}
        }
        view.one_of(0, b"{")?;
        self.go(State::Json { state: JsonState::Start, role: Role::Arguments })
    }

    /// After the object of a call with a head.
    fn after_json(&self, table: &CallTable) -> State {
        if table.end.is_empty() { State::Implied } else { State::Ended }
    }

    /// A JSON value: its strings and brackets, and what may break it, are all that is looked at.
    pub(super) fn json(
        &mut self,
        tables: &CallTables,
        table: &CallTable,
        view: &View,
        state: JsonState,
        role: Role,
    ) -> Transition {
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
        let (mut state, mut at) = (state, 0);
        if state == JsonState::Start {
            match text[0] {
                b'"' => (state, at) = (JsonState::Text { is_escaped: false }, 1),
                b'{' | b'[' => state = JsonState::Nest,
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => state = JsonState::Word,
                _ => return Err(Decision::No),
            }
        }
        loop {
            let own = State::Json { state, role };
            if at == text.len() {
                return self.run(view, piece, at, own);
            }
            if let JsonState::Text { is_escaped } = state {
                let rest = &text[at..];
                match (is_escaped, memchr::memchr2(b'"', b'\\', rest)) {
                    (true, _) => (state, at) = (JsonState::Text { is_escaped: false }, at + 1),
                    (false, None) => at = text.len(),
                    (false, Some(len)) if rest[len] == b'\\' => {
                        (state, at) = (JsonState::Text { is_escaped: true }, at + len + 1);
                    }
                    (false, Some(len)) => {
                        at += len + 1;
                        state = JsonState::Nest;
                        if self.brackets.depth == 0 {
                            return self.some(piece, at, done);
                        }
                    }
                }
                continue;
            }
            let byte = text[at];
            let stop = if byte == b'"' { Decision::No } else { stops(at) };
            let is_outermost = self.brackets.depth == 0;
            match stop {
                Decision::More => return self.before(at, piece, own, Decision::More),
                Decision::Yes if !is_outermost => return self.before(at, piece, own, Decision::No),
                _ => {}
            }
            if is_outermost && (stop == Decision::Yes || matches!(byte, b'}' | b']' | b',') || is_blank(byte)) {
                return self.ends_at(at, piece, own, done);
            }
            match byte {
                b'"' => state = JsonState::Text { is_escaped: false },
                b'{' | b'[' => {
                    if !self.brackets.push(usize::from(byte == b'[')) {
                        return self.before(at, piece, own, Decision::No);
                    }
                    state = JsonState::Nest;
                }
                b'}' | b']' => {
                    if !self.brackets.pop(usize::from(byte == b']')) {
                        return self.before(at, piece, own, Decision::No);
                    }
                    if self.brackets.depth == 0 {
                        return self.some(piece, at + 1, done);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}
