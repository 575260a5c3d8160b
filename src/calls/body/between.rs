//! Reads the text between calls: closers, framing, text outside calls, and the heads of calls.

use super::state::{Body, Brackets, CallEnd, ElementContent, Piece, State, Step, Transition};
use crate::{
    calls::{
        head::{self, Head},
        table::{BodyRule, CallTable, CallTables},
        view::{Decision, View},
    },
    matcher::bytes::{contains, is_blank},
};

impl Body {
    pub(super) fn between(&mut self, tables: &CallTables, view: &View) -> Transition {
        match view.closer(0) {
            Decision::Yes => return Ok(Some(Step::Closer)),
            Decision::More => return Err(Decision::More),
            Decision::No => {}
        }
        match head::pick(tables, view, 0) {
            Ok(table) => return self.begin(tables, view, table, false),
            Err(Decision::No) => {}
            Err(seen) => return Err(seen),
        }
        match view.longest(0, &tables.skips) {
            Ok(len) => return self.some(Piece::Framing, len, State::Between),
            Err(Decision::No) => {}
            Err(seen) => return Err(seen),
        }
        if is_blank(view.text[0]) || contains(&tables.between, view.text[0]) {
            let is_framing = |at: usize| {
                // Blanks are framing unless a call begins with them, as with an id that begins with a blank.
                is_blank(view.text[at])
                    && view.closer_or_begin(at, &tables.begins) == Decision::No
                    && Decision::of(view.longest(at, &tables.skips)) == Decision::No
                    && Decision::of(head::pick(tables, view, at)) == Decision::No
            };
            let len = (1..view.text.len()).find(|&at| !is_framing(at)).unwrap_or(view.text.len());
            return self.some(Piece::Framing, len, State::Between);
        }
        self.go(State::Opaque { is_new: true })
    }

    /// Begins a call by this table. `is_begun` means that the call's `begin` was read already, as part of the opener.
    pub(super) fn begin(&mut self, tables: &CallTables, view: &View, number: u8, is_begun: bool) -> Transition {
        let table = tables.table(number);
        (self.table, self.is_repaired) = (number, false);
        (self.has_name, self.has_arguments, self.has_id, self.has_other) = (false, false, false, false);
        if let BodyRule::Literal(rule) = &table.body {
            self.bracket =
                Brackets::OPEN.iter().position(|&open| open == rule.open).unwrap_or(Brackets::OPEN.len()) as u8;
        }
        let has_begin = !is_begun && view.literal(0, &table.begin) == Decision::Yes;
        let begin = if has_begin { table.begin.len() } else { 0 };
        let (len, state) = match &table.body {
            BodyRule::Object(_) if begin > 0 => return self.some(Piece::Framing, begin, State::Between),
            BodyRule::Object(_) => (1, State::Member { is_first: true }),
            _ => {
                self.head = match &table.head.name_from {
                    Some(_) => Head::default(),
                    None => head::read_head(table, view, begin)?,
                };
                (begin, State::Head { piece: 0 })
            }
        };
        Ok(Some(self.piece(Piece::Call { table: number }, len, state)))
    }

    /// Reads text outside calls, up to the next closer or `begin`.
    pub(super) fn opaque(&mut self, tables: &CallTables, view: &View, is_new: bool) -> Transition {
        let state = State::Opaque { is_new: false };
        let seen = |at: usize| view.closer_or_begin(at, &tables.begins);
        let first = (usize::from(is_new)..view.text.len()).find(|&at| seen(at) != Decision::No);
        match first {
            Some(at) if seen(at) == Decision::Yes => self.ends_at(at, Piece::Text, state, State::Between),
            _ => self.run(view, Piece::Text, first.unwrap_or(view.text.len()), state),
        }
    }

    pub(super) fn piece_of_head(&mut self, table: &CallTable, piece: u8) -> Transition {
        let arguments = match &table.body {
            BodyRule::Json | BodyRule::Object(_) => State::Arguments,
            BodyRule::Tags(rule) if rule.nested.is_some() => State::Element { content: ElementContent::Done },
            BodyRule::Tags(_) => State::Pair { is_first: true },
            BodyRule::Literal(_) => State::Argument { is_first: true },
        };
        if table.head.name_from.is_some() {
            return Ok(Some(self.piece(Piece::NameOfHeader, 0, arguments)));
        }
        let number = usize::from(piece);
        let len = usize::from(self.head.lens[number]);
        let state = if number + 1 == Head::PIECES { arguments } else { State::Head { piece: piece + 1 } };
        let kind = match number {
            Head::NAME => Piece::Name,
            _ if Head::is_id(number, table.head.is_id) => Piece::Id,
            _ => Piece::Framing,
        };
        self.some(kind, len, state)
    }

    /// Reads the call's `end` after its arguments, or text that implies the end.
    pub(super) fn ended(&mut self, tables: &CallTables, table: &CallTable, view: &View) -> Transition {
        if let Some(step) = self.blanks(view, State::Ended) {
            return Ok(Some(step));
        }
        match view.marker(0, &table.end) {
            Decision::Yes => return Ok(Some(self.end(CallEnd::Marker, table.end.len()))),
            Decision::More => return Err(Decision::More),
            Decision::No => {}
        }
        view.closer_or_begin(0, &tables.begins).ok()?;
        Ok(Some(self.end(CallEnd::Implied, 0)))
    }
}
