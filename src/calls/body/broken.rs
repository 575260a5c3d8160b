//! The rest of a call that broke its grammar. It may quote whole calls, so no call begins in it: it ends with the bracket that closes the
//! call's object, with the call's `end`, or before a closer of the region. A string ends with its line, so that a single quote that
//! is never closed does not hide all calls after it; a closer inside a string counts where nothing but the end of the region can be meant.

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
    /// Returns the position in the rest of the call, if it breaks here.
    pub(super) fn rest(&self) -> Rest {
        Rest::new(match self.state {
            // In a call that is an object, that has a brace too.
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
