//! Parses the body of a tool span while it streams: calls, their names, ids, keys and values, and the framing between them. The
//! caller asks for one piece at a time. Bytes are classified as soon as no continuation could change the result.
//!
//! Values, framing and opaque text may have any length, and are reported in pieces. Everything else is a word of bounded
//! length, and is reported whole. This module keeps only the position in the body; the scanner keeps the bytes.
//!
//! `state` has the positions in a body, and the steps that all readers share. `between` reads the text between calls, and the
//! heads of calls. `broken` reads the rest of a call that broke its grammar, and `rest` keeps the position in it. `json`,
//! `object`, `tags`, `elements` and `brackets` each read one form of calls. `around` decides what may follow a call.
//! `self_loop` finds bytes that need not be read at all.

mod around;
mod between;
mod brackets;
mod broken;
mod elements;
mod json;
mod object;
mod rest;
mod self_loop;
mod state;
mod tags;
mod value;

use super::{
    head,
    table::{BodyRule, CallTables},
    view::{Decision, View},
};
pub use self_loop::{Context, SelfLoop};
pub use state::{Body, CallEnd, MOST_NESTED, Piece, Step};
use state::{ElementContent, Role, State, Transition};

impl Body {
    /// Returns the next step, or `None` if more bytes are needed to decide it, or if the text has ended.
    pub fn next(&self, tables: &CallTables, view: &View) -> Option<Step> {
        let mut body = *self;
        loop {
            match body.turn(tables, view) {
                // The word was complete in an earlier view, but this view ends inside the word.
                Ok(Some(Step::Piece { len, .. })) if len > view.text.len() => return body.more(view).ok().flatten(),
                Ok(Some(step)) => return Some(step),
                Ok(None) => {}
                Err(Decision::More) => return None,
                // The body breaks its grammar before the next byte.
                Err(_) => return Some(body.end(CallEnd::Malformed, 0)),
            }
        }
    }

    /// Returns the step for held bytes that the host wants at once: a piece with all of them, or with those before a closer. If
    /// the held bytes cannot be a piece, the call ends, and the bytes are text.
    pub fn flush(&self, tables: &CallTables, held: &[u8]) -> Step {
        let mut body = *self;
        if let (State::ValueText { .. }, BodyRule::Tags(rule)) = (self.state, &tables.table(self.table).body) {
            let (len, state) = self.flush_value(rule, held);
            return body.piece(Piece::Value, len, state);
        }
        let (piece, state) = match self.state {
            State::Json { role: Role::Arguments }
            | State::CData
            | State::Literal { .. }
            | State::Element { content: ElementContent::Blank | ElementContent::Text } => (Piece::Value, self.state),
            State::Json { .. } | State::OtherKey { .. } => (Piece::Framing, self.state),
            State::Broken(rest) => (Piece::Text, State::Broken(rest.after(&tables.table(self.table).body, held))),
            _ if self.is_in_call() => return body.end(CallEnd::Malformed, 0),
            _ => (Piece::Text, State::Opaque { is_new: false }),
        };
        body.piece(piece, held.len(), state)
    }

    /// Returns the step with which the host ends the open call; `None` if no call is open.
    pub fn end_by_force(&self) -> Option<Step> {
        let mut body = *self;
        body.is_in_call().then(|| body.end(CallEnd::Forced, 0))
    }

    /// Returns the step before a closer that is `len` bytes ahead and ends the body even inside a string or a value. `step` is
    /// the step for a text that ends after the closer.
    pub fn break_off(&self, step: Option<Step>, len: usize) -> Step {
        let mut body = *self;
        match step {
            Some(Step::Piece { piece: piece @ (Piece::Value | Piece::Framing | Piece::Text), len: all, .. })
                if all > len && len > 0 =>
            {
                // A call with a piece that would continue after the closer is broken, even if the call could otherwise end there.
                let state = if body.is_in_call() { State::Breaks } else { body.state };
                body.piece(piece, len, state)
            }
            Some(step) if step.len() <= len && !step.is_cut() => step,
            _ if body.is_in_call() => body.end(CallEnd::Malformed, 0),
            _ => body.piece(Piece::Text, len, State::Opaque { is_new: false }),
        }
    }

    fn turn(&mut self, tables: &CallTables, view: &View) -> Transition {
        if view.text.is_empty() && !self.has_empty_piece() {
            return if self.is_in_call() { self.more(view) } else { Err(Decision::More) };
        }
        match self.state {
            State::Opened { opener } => match head::pick_begun(tables, opener, view) {
                Ok(table) => self.begin(tables, view, table, true),
                Err(Decision::No) => self.go(State::Between),
                Err(seen) => Err(seen),
            },
            State::AfterHeader => match tables.named_by_header() {
                Some((table, _)) => self.begin(tables, view, table, true),
                None => self.go(State::Between),
            },
            State::Between => self.between(tables, view),
            State::Opaque { is_new } => self.opaque(tables, view, is_new),
            State::Broken(rest) => self.broken(tables, view, rest),
            State::Cut => Ok(Some(self.piece(Piece::Text, view.text.len(), State::Cut))),
            _ => self.turn_in_call(tables, view),
        }
    }

    /// Returns the number of the next bytes whose role is decided already, because they were needed to decide the piece before
    /// them.
    pub fn due(&self) -> usize {
        let of_state = match self.state {
            State::Head { piece } => self.head.lens[usize::from(piece)..].iter().map(|&len| usize::from(len)).sum(),
            // The closing quote is decided too.
            State::Quoted { len, .. } => usize::from(len) + 1,
            State::Unquote => 1,
            State::ValueEnd { framing, len } => usize::from(framing) + usize::from(len),
            _ => 0,
        };
        of_state.max(self.due.into())
    }

    /// Returns whether the next piece has no bytes.
    pub fn has_empty_piece(&self) -> bool {
        match self.state {
            State::Head { piece } => self.head.lens[usize::from(piece)..].iter().all(|&len| len == 0),
            State::AfterHeader | State::Implied | State::Breaks | State::ElementEnds | State::LiteralEnd => true,
            State::ValueEnd { framing: 0, len: 0 } => true,
            _ => false,
        }
    }

    fn turn_in_call(&mut self, tables: &CallTables, view: &View) -> Transition {
        let table = tables.table(self.table);
        match (self.state, &table.body) {
            (State::Head { piece }, _) => self.piece_of_head(table, piece),
            (State::Ended, _) => self.ended(tables, table, view),
            (State::Breaks, _) => Ok(Some(self.end(CallEnd::Malformed, 0))),
            (State::Implied, _) => Ok(Some(self.end(CallEnd::Implied, 0))),
            (State::Json { role }, _) => self.json(tables, table, view, role),
            (_, BodyRule::Object(rule)) => self.object(rule, table.is_bare, view),
            (_, BodyRule::Json) => self.arguments(table, view),
            (_, BodyRule::Tags(rule)) => self.tags(tables, table, rule, view),
            (_, BodyRule::Literal(rule)) => self.literal(tables, rule, view),
        }
    }
}
