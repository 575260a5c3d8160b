//! Reads a call whose keys and values are between markers.

use super::state::{Body, Piece, State, Transition};
use crate::calls::{
    table::{CallTable, CallTables, TagsRule},
    view::{Decision, View},
};

impl Body {
    pub(super) fn tags(&mut self, tables: &CallTables, table: &CallTable, rule: &TagsRule, view: &View) -> Transition {
        if let Some(mark) = &rule.nested {
            return self.elements(table, rule, mark, view);
        }
        match self.state {
            State::Pair { is_first } => {
                let own = self.state;
                if let Some(step) = self.blanks(view, own) {
                    return Ok(Some(step));
                }
                let closer = &rule.value[1];
                match view.literal(0, closer) {
                    // A repeated closer of the value.
                    Decision::Yes if !is_first => return self.some(Piece::Framing, closer.len(), own),
                    Decision::More if !is_first => return Err(Decision::More),
                    _ => {}
                }
                self.may(view, &rule.key[0], State::TagKey, State::Ended)
            }
            // A repeated opener of the key.
            State::TagKey if view.literal(0, &rule.key[0]) != Decision::No => {
                self.must(view, &rule.key[0], State::TagKey)
            }
            State::TagKey => self.word(view, &rule.key[1], Piece::Key, State::AfterKey),
            State::AfterKey => self.word_end(view, &rule.key[1], State::BeforeType),
            State::BeforeType => {
                let Some(kind) = &rule.kind else { return self.go(State::BeforeValue) };
                if rule.key[1].ends_with(b">")
                    && let Some(step) = self.blanks(view, State::BeforeType)
                {
                    return Ok(Some(step));
                }
                self.may(view, &kind[0], State::TagType, State::BeforeValue)
            }
            State::TagType | State::AfterType => {
                let Some(kind) = &rule.kind else { return self.go(State::BeforeValue) };
                match self.state {
                    State::TagType => self.word(view, &kind[1], Piece::Type, State::AfterType),
                    _ => self.word_end(view, &kind[1], State::BeforeValue),
                }
            }
            State::BeforeValue => {
                if rule.value[0].is_empty() {
                    return self.go(State::ValueStart);
                }
                if rule.key[1].ends_with(b">") {
                    if let Some(step) = self.blanks(view, State::BeforeValue) {
                        return Ok(Some(step));
                    }
                    // A repeated closer of the key.
                    match view.literal(0, &rule.key[1]) {
                        Decision::Yes => return self.some(Piece::Framing, rule.key[1].len(), State::BeforeValue),
                        Decision::More => return Err(Decision::More),
                        Decision::No => {}
                    }
                }
                self.go(State::ValueOpen)
            }
            State::ValueOpen => self.must(view, &rule.value[0], State::ValueStart),
            State::ValueStart => self.value_start(rule, view),
            State::ValueText { has_closer, is_line } => self.value_text(tables, table, rule, view, has_closer, is_line),
            State::CData => self.cdata(rule, view),
            State::ValueEnd { framing, len } if framing > 0 => {
                self.some(Piece::Framing, framing.into(), State::ValueEnd { framing: 0, len })
            }
            State::ValueEnd { len, .. } => {
                let piece = Piece::ValueEnd { is_repaired: false };
                Ok(Some(self.piece(piece, len.into(), State::Pair { is_first: false })))
            }
            _ => Err(Decision::No),
        }
    }
}
