//! A call whose keys and values stand between markers.

use super::state::{Body, Piece, State, Transition};
use crate::calls::{
    table::{CDATA, CDATA_END, CallTable, TagsRule},
    view::{Decision, View},
};

impl Body {
    pub(super) fn tags(&mut self, table: &CallTable, rule: &TagsRule, view: &View) -> Transition {
        if let Some(mark) = &rule.nested {
            return self.elements(table, rule, mark, view);
        }
        match self.state {
            State::Pair => {
                if let Some(step) = self.blanks(view, State::Pair) {
                    return Ok(Some(step));
                }
                self.may(view, &rule.key[0], State::TagKey, State::Ended)
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
                if rule.key[1].ends_with(b">")
                    && let Some(step) = self.blanks(view, State::BeforeValue)
                {
                    return Ok(Some(step));
                }
                self.go(State::ValueOpen)
            }
            State::ValueOpen => self.must(view, &rule.value[0], State::ValueStart),
            State::ValueStart => self.value_start(rule, view),
            State::ValueLine { begins_line } => self.value_line(rule, view, begins_line),
            State::ValueText { is_cdata } => self.value_text(rule, view, is_cdata),
            State::ValueEnd { framing, len } if framing > 0 => {
                self.some(Piece::Framing, framing.into(), State::ValueEnd { framing: 0, len })
            }
            State::ValueEnd { len, .. } => {
                Ok(Some(self.piece(Piece::ValueEnd { is_repaired: false }, len.into(), State::Pair)))
            }
            _ => Err(Decision::No),
        }
    }

    /// What may stand before a value's text: CDATA, or framing.
    fn value_start(&mut self, rule: &TagsRule, view: &View) -> Transition {
        if rule.has_cdata {
            match view.literal(0, CDATA) {
                Decision::Yes => return self.some(Piece::Framing, CDATA.len(), State::ValueText { is_cdata: true }),
                Decision::More => return Err(Decision::More),
                Decision::No => {}
            }
        }
        let mut after = 0;
        // What stands before the value.
        let mut before = [&rule.value[0], &rule.key[1]].into_iter().find(|literal| !literal.is_empty());
        if !rule.after_open.is_empty() {
            match view.literal(0, &rule.after_open) {
                Decision::Yes => (after, before) = (rule.after_open.len(), Some(&rule.after_open)),
                Decision::More => return Err(Decision::More),
                Decision::No => {}
            }
        }
        let begins_line = before.is_some_and(|before| before.ends_with(b"\n"));
        self.some(Piece::Framing, after, State::ValueLine { begins_line })
    }

    /// Where a value begins: a stop may begin its first line.
    fn value_line(&mut self, rule: &TagsRule, view: &View, begins_line: bool) -> Transition {
        match stop_at(rule, view, 0) {
            Decision::Yes if begins_line => self.go(State::ValueEnd { framing: 0, len: 0 }),
            Decision::More if begins_line => Err(Decision::More),
            _ => self.go(State::ValueText { is_cdata: false }),
        }
    }

    fn value_text(&mut self, rule: &TagsRule, view: &View, is_cdata: bool) -> Transition {
        let closer = &rule.value[1];
        let own = State::ValueText { is_cdata };
        let mut at = 0;
        let before = if is_cdata { CDATA_END } else { &rule.before_close };
        // What an end begins with.
        let first = before.first().copied().unwrap_or(closer[0]);
        let line = if is_cdata || rule.stops.is_empty() { closer[0] } else { b'\n' };
        while let Some(len) = memchr::memchr3(closer[0], first, line, &view.text[at..]) {
            at += len;
            let mut seen = Decision::No;
            if !is_cdata && view.text[at] == closer[0] {
                match view.literal(at, closer) {
                    Decision::Yes => {
                        let end = State::ValueEnd { framing: 0, len: closer.len() as u16 };
                        return self.some(Piece::Value, at, end);
                    }
                    other => seen = seen.or(other),
                }
            }
            let both = match view.marker(at, before) {
                Decision::Yes => view.literal(at + before.len(), closer),
                other => other,
            };
            if both == Decision::Yes {
                let (framing, len) = match is_cdata {
                    true => (0, CDATA_END.len() + closer.len()),
                    false => (before.len(), closer.len()),
                };
                return self.some(Piece::Value, at, State::ValueEnd { framing: framing as u16, len: len as u16 });
            }
            seen = seen.or(both);
            if !is_cdata && view.text[at] == b'\n' {
                // A closer that begins here comes first.
                match stop_at(rule, view, at + 1) {
                    Decision::Yes if seen == Decision::No => {
                        return self.some(Piece::Value, at, State::ValueEnd { framing: 1, len: 0 });
                    }
                    Decision::No => {}
                    _ => seen = Decision::More,
                }
            }
            if seen == Decision::More {
                return self.before(at, Piece::Value, own, Decision::More);
            }
            at += 1;
        }
        self.run(view, Piece::Value, view.text.len(), own)
    }
}

/// Whether a stop begins the line at an index.
fn stop_at(rule: &TagsRule, view: &View, at: usize) -> Decision {
    rule.stops.iter().fold(Decision::No, |seen, stop| seen.or(view.literal(at, stop)))
}
