//! Finds the dialects whose patterns fit a model's name best. The name is read once, by the table of all patterns. For single
//! patterns, `model_names` compares the text after a `*`, and whether a pattern of an earlier release fits at another place.

use std::cmp::Reverse;

use super::model_names::{Cursor, Model, Part, PatternMatch, fit, goes_on, has_rest, is_word_over};
use super::model_table::{CLASSED, Known, Leaf, NOWHERE, State, Stop, Table};

/// The maximum number of dialects that are returned if several fit.
pub const MOST_NAMED: usize = 3;

/// The best match so far.
#[derive(Clone, Copy)]
struct Best {
    place: usize,
    said: u8,
    /// The first pattern with this rank.
    pattern: u16,
    /// If patterns of several dialects fit equally well, the first of these dialects.
    dialects: [u8; MOST_NAMED],
    count: u8,
}

impl Best {
    #[inline]
    fn fitting<'a>(&self, table: &Table<'a>) -> Fitting<'a> {
        if self.count < 2 {
            return Fitting::One(table.patterns[usize::from(self.pattern)]);
        }
        let mut dialects = self.dialects[..usize::from(self.count)].iter().copied();
        Fitting::Several([(); MOST_NAMED].map(|()| dialects.next()))
    }

    fn add(&mut self, dialect: u8) {
        let dialects = &self.dialects[..usize::from(self.count)];
        let at = dialects.partition_point(|known| *known < dialect);
        if at < MOST_NAMED && dialects.get(at) != Some(&dialect) {
            self.count = (self.count + 1).min(MOST_NAMED as u8);
            self.dialects[at..usize::from(self.count)].rotate_right(1);
            self.dialects[at] = dialect;
        }
    }
}

/// The result of a search. Dialects are given by their index in the catalogue.
pub enum Fitting<'a> {
    /// One dialect fits best. The pattern is the first of those patterns of the dialect that fit best.
    One(Known<'a>),
    /// These dialects fit equally well. There may be more of them than can be returned.
    Several([Option<u8>; MOST_NAMED]),
    /// No dialect fits; or a pattern fits only to the right of an unknown release, and so names a different family.
    None,
}

/// Finds the dialects that fit best. `WORDS` is the number of 64-bit words for one bit of each pattern.
#[inline(always)]
pub fn find<'a, const WORDS: usize>(table: &Table<'a>, model: &Model<'_>) -> Fitting<'a> {
    let mut search = Search {
        table,
        model,
        best: None,
        later: usize::MAX,
        point_releases: PointReleases::NoneSeen,
        settled: [0; WORDS],
    };
    search.read_all(&table.roots, model.last);
    if model.last.class(0).is_some_and(|class| table.tails[class]) {
        search.read_slashed();
    }
    match search.best {
        Some(best) if best.place <= search.later => best.fitting(table),
        _ => Fitting::None,
    }
}

/// The state of a search while a name is read.
struct Search<'a, const WORDS: usize> {
    table: &'a Table<'a>,
    model: &'a Model<'a>,
    best: Option<Best>,
    /// The offset of an unknown release in the name.
    later: usize,
    /// The treatment of patterns whose number continues in the name as a point release. The name may then be of a later release.
    point_releases: PointReleases,
    /// The patterns that need not be compared again. Without this list, the time could grow with the square of the name's length.
    settled: [u64; WORDS],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PointReleases {
    NoneSeen,
    Seen,
    /// The whole name was compared with these patterns.
    Settled,
}

impl<'a, const WORDS: usize> Search<'a, WORDS> {
    /// Reads patterns with a slash.
    #[cold]
    fn read_slashed(&mut self) {
        if let Some(last_two) = self.model.last_two() {
            self.read_all(&self.table.slashed, last_two);
        }
    }

    /// Reads patterns at each word, from left to right. A pattern that fits further right has a lower rank.
    #[inline(always)]
    fn read_all(&mut self, roots: &[State; CLASSED], part: Part<'_>) {
        let mut place = 0;
        while let Some(class) = part.class(place) {
            self.point_releases = PointReleases::NoneSeen;
            self.read(roots[class], part, place);
            if self.best.is_some_and(|best| best.place <= place) {
                break;
            }
            if self.point_releases == PointReleases::Seen {
                self.settle_at(roots[class], part, place);
            }
            place = part.next_word(place);
        }
    }

    /// Compares the whole name with the patterns whose number continues at an index as a point release.
    #[cold]
    fn settle_at(&mut self, state: State, part: Part<'_>, place: usize) {
        self.point_releases = PointReleases::Settled;
        self.read(state, part, place);
    }

    /// Reads the patterns that begin with the letter at a place.
    #[inline(always)]
    fn read(&mut self, mut state: State, part: Part<'_>, place: usize) {
        let Table { edges, stops, .. } = *self.table;
        let mut at = place + 1;
        loop {
            while state.stop == NOWHERE.stop {
                let Some(class) = part.class(at) else { return };
                let edge = &edges[usize::from(state.edges) + class];
                if edge.of != state.edges {
                    return;
                }
                state = edge.next;
                at += 1;
            }
            let stop = &stops[usize::from(state.stop)];
            if stop.numbers.0 < stop.numbers.1 && goes_on(stop.has_point, part, at) {
                self.goes_on(stop, part, at);
                state = stop.otherwise;
                continue;
            }
            let (least, letter) = stop.needs;
            if part.len() - at >= usize::from(least) && (letter == 0 || part.has_from(at, letter)) {
                self.take_all(stop, part, place, at);
            }
            state.stop = NOWHERE.stop;
        }
    }

    /// Handles patterns that were read to their ends, or to their first `*`. If the text after the `*` does not fit now, it does
    /// not fit after a later place either.
    #[inline]
    fn take_all(&mut self, stop: &Stop, part: Part<'_>, place: usize, at: usize) {
        for leaf in range(self.table.leaves, stop.leaves) {
            let fits = match leaf.star {
                0 => is_word_over(part, at),
                star => self.has_rest(leaf.pattern, part, Cursor::until(star.into(), at)),
            };
            if fits {
                self.take(leaf, place);
            }
        }
    }

    #[inline(never)]
    fn has_rest(&mut self, pattern: u16, part: Part<'_>, read: Cursor) -> bool {
        self.is_new(pattern) && has_rest(self.table.patterns[usize::from(pattern)].text.as_bytes(), part, read)
    }

    /// Compares patterns whose number continues in the name as a point release, or notes that there are any.
    #[cold]
    fn goes_on(&mut self, stop: &Stop, part: Part<'_>, at: usize) {
        if part.is_digit(at) {
            return;
        }
        if self.point_releases == PointReleases::Settled {
            range(self.table.numbers, stop.numbers).iter().for_each(|pattern| self.settle(*pattern));
        } else {
            self.point_releases = PointReleases::Seen;
        }
    }

    fn settle(&mut self, pattern: u16) {
        if !self.is_new(pattern) {
            return;
        }
        match fit(self.table.patterns[usize::from(pattern)].text, self.model) {
            PatternMatch::Fits((Reverse(place), said)) => {
                self.take(&Leaf { pattern, said: said as u8, star: 0 }, place)
            }
            PatternMatch::Later(place) => self.later = self.later.min(place),
            PatternMatch::Nothing => {}
        }
    }

    /// Returns whether a pattern was not handled before, and marks it as handled.
    fn is_new(&mut self, pattern: u16) -> bool {
        let (word, bit) = (&mut self.settled[usize::from(pattern / 64)], 1 << (pattern % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Keeps a pattern that fits if it is the best so far.
    #[inline]
    fn take(&mut self, leaf: &Leaf, place: usize) {
        let Leaf { pattern, said, .. } = *leaf;
        match self.best {
            Some(best) if (best.place, said) == (place, best.said) => self.tie(pattern),
            Some(best) if (best.place, said) < (place, best.said) => {}
            _ => self.best = Some(Best { place, said, pattern, dialects: [0; MOST_NAMED], count: 0 }),
        }
    }

    /// Adds the dialect of a pattern whose rank equals the best so far.
    #[cold]
    fn tie(&mut self, pattern: u16) {
        let Some(best) = &mut self.best else { return };
        for pattern in [best.pattern, pattern] {
            best.add(self.table.patterns[usize::from(pattern)].dialect);
        }
        best.pattern = best.pattern.min(pattern);
    }
}

fn range<T>(list: &[T], (begin, end): (u16, u16)) -> &[T] {
    &list[usize::from(begin)..usize::from(end)]
}
