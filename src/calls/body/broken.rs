//! Reads the rest of a call that broke its grammar. The rest may quote whole calls, so no call begins in it. It ends with the
//! bracket that closes the call's object, with the call's `end`, or before a closer of the region. A string ends at the end of
//! its line, so that an unclosed quote does not hide all later calls. A closer inside a string counts only if the text after it
//! shows that the region ends.

use super::{
    around::Around,
    rest::{NONE, Rest},
    state::{Body, Piece, Role, State, Transition},
};
use crate::calls::{
    table::{BodyRule, CallTables},
    view::{Decision, View},
};

impl Body {
    /// Returns the brackets and strings that are open if the call breaks here.
    pub(super) fn rest(&self) -> Rest {
        Rest::new(match self.state {
            // If the call is an object, the call's own brace is open too.
            State::Json { role } => self.json.open_objects() + u8::from(self.has_arguments || role != Role::Arguments),
            State::Arguments | State::Ended => 0,
            State::Literal { .. } => 1 + self.brackets.count(self.bracket),
            _ => 1,
        })
    }

    pub(super) fn broken(&mut self, tables: &CallTables, view: &View, mut rest: Rest) -> Transition {
        let table = tables.table(self.table);
        let around = Around { tables, view };
        let raw: &[u8] = match &table.body {
            BodyRule::Literal(rule) => &rule.raw_quote,
            _ => b"",
        };
        let is_tags = matches!(table.body, BodyRule::Tags(_));
        let mut at = 0;
        while at < view.text.len() {
            let closer = match rest.quote {
                NONE => view.closer(at),
                _ => around.closes_broken(at),
            };
            let begin = match rest.quote == NONE && rest.depth == 0 && !is_tags {
                true => Decision::of(view.longest(at, &tables.begins)),
                false => Decision::No,
            };
            match closer.or(begin) {
                Decision::Yes => return self.ends_at(at, Piece::Text, State::Broken(rest), State::Between),
                Decision::More => break,
                Decision::No => {}
            }
            match if rest.quote == NONE { view.marker(at, &table.end) } else { Decision::No } {
                Decision::Yes => return self.some(Piece::Text, at + table.end.len(), State::Between),
                Decision::More => break,
                Decision::No if view.marker(at, raw) == Decision::More => break,
                Decision::No => {}
            }
            let was_open = rest.depth > 0;
            at += rest.step(&table.body, &view.text[at..]);
            if was_open && rest.depth == 0 && table.end.is_empty() {
                return self.some(Piece::Text, at, State::Opaque { is_new: false });
            }
        }
        self.run(view, Piece::Text, at, State::Broken(rest))
    }
}
