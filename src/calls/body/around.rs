//! Examines the text after a possible end of a call or of the region of calls, which decides whether the end counts or is text of a
//! value.

use crate::calls::{
    table::{CallTables, Literal},
    view::{Decision, View},
};

/// The literals around calls, and the text.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) tables: &'a CallTables,
    pub(super) view: &'a View<'a>,
}

impl Around<'_> {
    /// Returns whether the answer ends at an index: the text ends there, or after a marker that is dropped. A dropped marker with
    /// text after it is not enough, because it may be quoted.
    pub(super) fn ends_answer(&self, at: usize) -> Decision {
        let dropped = &self.tables.dropped;
        self.is_end(at).or(self.is_cut_at_end(at, dropped)).or(self.then(at, dropped, |at| self.is_end(at)))
    }

    fn is_end(&self, at: usize) -> Decision {
        self.view.byte(at).map_or_else(|more| more, |byte| Decision::from(byte.is_none()))
    }

    /// Returns whether the region of calls is over at an index: another region, a message, or the end of the answer is there.
    fn is_outside(&self, at: usize) -> Decision {
        self.begins_one_of(at, &self.tables.outside).or(self.ends_answer(at))
    }

    /// Returns whether the text at an index may follow a call. `is_whole` means that the call has all of its markers, so that
    /// any text may follow the region's closer.
    pub(super) fn follows_call(&self, at: usize, is_whole: bool) -> Decision {
        let CallTables { begins, closes, .. } = self.tables;
        self.is_or_follows_skip(at, |at| {
            let closer = match is_whole {
                true => self.view.closer(at).or(self.begins_one_of(at, closes)),
                false => self.last_closer(at, |at| self.is_outside(at)),
            };
            self.begins_one_of(at, begins).or(closer).or(self.is_outside(at))
        })
    }

    /// Returns whether `is_here` holds at an index, or after a literal there that is framing between calls.
    pub(super) fn is_or_follows_skip(&self, at: usize, is_here: impl Fn(usize) -> Decision) -> Decision {
        let skips = &self.tables.skips;
        is_here(at).or(self.then(at, skips, is_here)).or(self.is_cut_at_end(at, skips))
    }

    /// Returns whether a closer of the region is at an index and, after blanks, text for which `is_last` holds, or a closer of
    /// another region, such as the thinking.
    pub(super) fn last_closer(&self, at: usize, is_last: impl Fn(usize) -> Decision) -> Decision {
        let CallTables { closes, outside, .. } = self.tables;
        let is_own =
            |at| closes.iter().fold(Decision::No, |seen, closer| seen.or(self.view.is_this_closer(at, closer)));
        let is_outside = || Decision::of(self.view.longest(at, outside));
        match self.view.closer(at) {
            // A header ends a region too, but it may be quoted.
            Decision::Yes if self.view.comes(at, is_own).or(is_outside()) == Decision::No => Decision::Yes,
            closer => self.last_own_closer(at, closer, is_last),
        }
    }

    /// Returns whether one of the region's own closers is at an index and, after blanks, text for which `is_last` holds.
    /// `closer` decides whether a marker that ends the region is at the index.
    fn last_own_closer(&self, at: usize, closer: Decision, is_last: impl Fn(usize) -> Decision) -> Decision {
        let closes = &self.tables.closes;
        match closer {
            // A closer that does not begin with a special token does not count, unless the text ends inside it.
            Decision::No => closes.iter().fold(self.is_cut_at_end(at, closes), |seen, closer| {
                if self.view.literal(at, closer) == Decision::More { seen.or(Decision::More) } else { seen }
            }),
            Decision::More => Decision::More,
            Decision::Yes => self.then(at, closes, is_last),
        }
    }

    /// Returns whether a closer of the region counts inside a string of a broken call: the end of the text follows, another
    /// region, or a marker that is dropped.
    pub(super) fn closes_broken(&self, at: usize) -> Decision {
        let CallTables { outside, dropped, .. } = self.tables;
        let follows = |at| self.is_end(at).or(self.begins_one_of(at, outside)).or(self.begins_one_of(at, dropped));
        self.last_own_closer(at, self.view.closer(at), follows)
    }

    /// Returns whether one of these literals is at an index and, after blanks, text for which `is_here` holds.
    pub(super) fn then(&self, at: usize, literals: &[Literal], is_here: impl Fn(usize) -> Decision) -> Decision {
        literals.iter().fold(Decision::No, |seen, literal| match self.view.marker(at, literal) {
            Decision::Yes => seen.or(self.view.comes(at + literal.len(), &is_here)),
            other => seen.or(other),
        })
    }

    /// Returns whether one of these literals is at an index, whole or cut by the end of the text.
    fn begins_one_of(&self, at: usize, literals: &[Literal]) -> Decision {
        literals.iter().fold(Decision::No, |seen, literal| seen.or(self.view.begins(at, literal)))
    }

    /// Returns whether one of these literals is at an index and is cut by the end of the text.
    pub(super) fn is_cut_at_end(&self, at: usize, literals: &[Literal]) -> Decision {
        Decision::from(literals.iter().any(|literal| self.view.is_cut(at, literal)))
    }
}
