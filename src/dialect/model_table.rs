//! The patterns of all dialects in one automaton, so that a name is read once, and not once for each pattern. `build.rs` makes
//! it from the dialects' files, and `model_search` reads names with it.

use std::array;
use std::collections::{HashMap, HashSet};

use super::spelling::{BYTES, Symbol, Taken};

/// A pattern, with the index of its dialect in the catalogue, and its own index in the dialect.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub text: &'a str,
    pub dialect: u8,
    pub number: u8,
}

/// A pattern that was read to its end or to its first `*`.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    pub pattern: u16,
    /// The number of bytes of the pattern without its `*`.
    pub said: u8,
    /// The index of the first `*`; 0 without one.
    pub star: u8,
}

/// A state: its edges, and the action before an edge is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The edge of a class of bytes is at this index plus the class.
    pub edges: u16,
    /// The index of the action; 0 without one.
    pub stop: u16,
}

/// The state without edges.
pub const NOWHERE: State = State { edges: 0, stop: 0 };

/// An edge. The edges of all states are in one list, in which they fill each other's gaps.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The `edges` of the state to which the edge belongs.
    pub of: u16,
    pub next: State,
}

/// The value of a gap. No state has this value as its `edges`.
const GAP: Edge = Edge { of: u16::MAX, next: NOWHERE };

/// The action of a state.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// A range of `leaves`.
    pub leaves: (u16, u16),
    /// The minimum number of bytes that must follow so that one of these patterns can fit, and a letter that must be among them,
    /// or 0.
    pub needs: (u8, u8),
    /// A range of `numbers`, perhaps empty: the patterns with a number that ends here, without conditions on the text after it.
    pub numbers: (u16, u16),
    pub has_point: bool,
    /// The state for a name in which the number continues: the same state without these patterns.
    pub otherwise: State,
}

#[derive(Debug)]
pub struct Table<'a> {
    pub patterns: &'a [Known<'a>],
    pub edges: &'a [Edge],
    pub stops: &'a [Stop],
    pub leaves: &'a [Leaf],
    /// Indexes of patterns.
    pub numbers: &'a [u16],
    /// The states after the first letter of a pattern without a slash, by the letter's class.
    pub roots: [State; CLASSED],
    /// The states after the first letter of a pattern with a slash, by the letter's class.
    pub slashed: [State; CLASSED],
    /// Whether a pattern with a slash may fit a name whose last part begins with a byte of this class.
    pub tails: [bool; CLASSED],
}

/// The number of classes of bytes.
pub const CLASSED: usize = BYTES.len() + 1;

/// The progress of a name in a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Item {
    pattern: u16,
    at: usize,
    /// Whether the name has a dash before the next digit.
    is_behind_dash: bool,
}

/// Makes a table. It is used by `build.rs`, whose table the crate contains.
#[cfg_attr(not(test), allow(dead_code))]
pub struct Builder<'a> {
    patterns: Vec<Known<'a>>,
    edges: Vec<Edge>,
    /// The `edges` of all states.
    rows: HashSet<u16>,
    stops: Vec<Stop>,
    leaves: Vec<Leaf>,
    numbers: Vec<u16>,
    roots: [[State; CLASSED]; 2],
    made: HashMap<Vec<Item>, State>,
}

#[cfg_attr(not(test), allow(dead_code))]
impl<'a> Builder<'a> {
    /// Takes the patterns of each dialect, in the order of the catalogue.
    pub fn new(dialects: impl IntoIterator<Item = impl IntoIterator<Item = &'a str>>) -> Builder<'a> {
        let mut builder = Builder {
            patterns: Vec::new(),
            edges: vec![GAP; CLASSED],
            rows: HashSet::from([NOWHERE.edges]),
            stops: vec![Stop { leaves: (0, 0), needs: (0, 0), numbers: (0, 0), has_point: false, otherwise: NOWHERE }],
            leaves: Vec::new(),
            numbers: Vec::new(),
            roots: [[NOWHERE; CLASSED]; 2],
            made: HashMap::from([(Vec::new(), NOWHERE)]),
        };
        for (dialect, patterns) in (0..).zip(dialects) {
            let patterns = (0..).zip(patterns).map(|(number, text)| Known { text, dialect, number });
            builder.patterns.extend(patterns);
        }
        for has_slash in [false, true] {
            let patterns = (0..).zip(&builder.patterns).filter(|(_, known)| known.text.contains('/') == has_slash);
            let items: Vec<_> = patterns.map(|(pattern, _)| Item { pattern, at: 0, is_behind_dash: false }).collect();
            for (class, byte) in (1..).zip(BYTES) {
                let next = builder.after(&items, byte);
                builder.roots[usize::from(has_slash)][class] = builder.state(next);
            }
        }
        builder
    }

    pub fn table(&self) -> Table<'_> {
        // A slash and the letter after it are spelt in the same way in names and patterns.
        let tails = self.patterns.iter().filter_map(|known| Some(known.text.split_once('/')?.1.bytes().next()));
        let may_begin =
            |byte| tails.clone().any(|tail| !tail.is_some_and(|tail| tail.is_ascii_lowercase() && tail != byte));
        Table {
            patterns: &self.patterns,
            edges: &self.edges,
            stops: &self.stops,
            leaves: &self.leaves,
            numbers: &self.numbers,
            roots: self.roots[0],
            slashed: self.roots[1],
            tails: array::from_fn(|class| may_begin(class.checked_sub(1).map_or(0, |place| BYTES[place]))),
        }
    }

    fn symbol(&self, item: &Item, at: usize) -> Option<Symbol> {
        Symbol::at(self.patterns[usize::from(item.pattern)].text.as_bytes(), at)
    }

    /// Returns the state for this progress in patterns, and makes it and all states after it if there is none.
    fn state(&mut self, items: Vec<Item>) -> State {
        if let Some(state) = self.made.get(&items) {
            return *state;
        }
        let mut nexts = Vec::new();
        for (class, byte) in (1..).zip(BYTES) {
            let next = self.after(&items, byte);
            if !next.is_empty() {
                nexts.push((class, self.state(next)));
            }
        }
        let stop = self.stop(&items);
        let state = State { edges: self.row(&nexts), stop };
        self.made.insert(items, state);
        state
    }

    /// Puts the edges of a state into gaps of the list. Returns their position.
    fn row(&mut self, nexts: &[(usize, State)]) -> u16 {
        if nexts.is_empty() {
            return NOWHERE.edges;
        }
        let has_room = |row: &u16| {
            let is_free =
                |class: &usize| self.edges.get(usize::from(*row) + *class).is_none_or(|edge| edge.of == GAP.of);
            !self.rows.contains(row) && nexts.iter().all(|(class, _)| is_free(class))
        };
        let row = (1..GAP.of).find(has_room).expect("room for all edges");
        self.rows.insert(row);
        // Any class of a row may be looked up, so the list must reach the row's end.
        self.edges.resize(self.edges.len().max(usize::from(row) + CLASSED), GAP);
        for (class, next) in nexts {
            self.edges[usize::from(row) + class] = Edge { of: row, next: *next };
        }
        row
    }

    /// Returns the action for this progress in patterns.
    fn stop(&mut self, items: &[Item]) -> u16 {
        // If a number with a point continues, a number without a point does too, so numbers without a point have precedence.
        let first = items.iter().filter_map(|item| self.number_end(item)).min();
        let (numbers, others): (Vec<Item>, Vec<Item>) =
            items.iter().partition(|item| first.is_some() && self.number_end(item) == first);
        let read: Vec<Item> = items.iter().filter(|item| self.symbol(item, item.at).is_none()).copied().collect();
        if numbers.is_empty() && read.is_empty() {
            return NOWHERE.stop;
        }
        let otherwise = if numbers.is_empty() { NOWHERE } else { self.state(others) };
        let text = |item: &Item| self.patterns[usize::from(item.pattern)].text;
        let leaves: Vec<Leaf> = read.iter().map(|item| leaf(item.pattern, text(item))).collect();
        let letter = read.iter().map(|item| rarest(text(item)));
        let letter = letter.reduce(|one, other| if one == other { one } else { 0 }).unwrap_or_default();
        let least = read.iter().map(|item| least(text(item))).min().unwrap_or_default();
        self.stops.push(Stop {
            leaves: appended(&mut self.leaves, leaves),
            needs: (least, letter),
            numbers: appended(&mut self.numbers, numbers.iter().map(|item| item.pattern)),
            has_point: first.unwrap_or_default(),
            otherwise,
        });
        (self.stops.len() - 1) as u16
    }

    /// Returns the progress in patterns after one more byte of a name.
    fn after(&self, items: &[Item], byte: u8) -> Vec<Item> {
        items.iter().filter_map(|item| self.next(*item, byte)).collect()
    }

    fn next(&self, item: Item, byte: u8) -> Option<Item> {
        let symbol = self.symbol(&item, item.at)?;
        let read = Item { at: item.at + 1, is_behind_dash: false, ..item };
        if item.is_behind_dash {
            return symbol.is(byte).then_some(read);
        }
        match symbol.take(byte) {
            Taken::Read => Some(read),
            Taken::LeftOut => self.next(read, byte),
            Taken::Dash => Some(Item { is_behind_dash: true, ..item }),
            Taken::Differs => None,
        }
    }

    /// Returns whether a number of the pattern ends here, and if so, whether it has a point.
    fn number_end(&self, item: &Item) -> Option<bool> {
        let last = item.at.checked_sub(1).filter(|_| !item.is_behind_dash)?;
        Some(self.symbol(item, last)?.end?.has_point)
    }
}

#[cfg_attr(not(test), allow(dead_code))]
fn leaf(pattern: u16, text: &str) -> Leaf {
    let said = text.bytes().filter(|byte| *byte != b'*').count();
    Leaf { pattern, said: said as u8, star: text.find('*').unwrap_or_default() as u8 }
}

/// Appends entries to a list. Returns their range.
#[cfg_attr(not(test), allow(dead_code))]
fn appended<T>(list: &mut Vec<T>, entries: impl IntoIterator<Item = T>) -> (u16, u16) {
    let begin = list.len() as u16;
    list.extend(entries);
    (begin, list.len() as u16)
}

/// Returns the minimum number of bytes in a name after a pattern's `*`. A name may leave out dashes.
#[cfg_attr(not(test), allow(dead_code))]
fn least(text: &str) -> u8 {
    let behind = text.split_once('*').map_or("", |(_, behind)| behind);
    behind.bytes().filter(|byte| !b"-*".contains(byte)).count() as u8
}

/// Returns the letter after a pattern's `*` that the fewest names have, or 0 without letters.
#[cfg_attr(not(test), allow(dead_code))]
fn rarest(text: &str) -> u8 {
    const BY_FREQUENCY: &[u8] = b"aeintrosldcmgbpuhfvqwkxyzj";
    let behind = text.split_once('*').map_or("", |(_, behind)| behind);
    let place = |letter: &u8| BY_FREQUENCY.iter().position(|known| known == letter);
    behind.bytes().filter(u8::is_ascii_lowercase).max_by_key(place).unwrap_or_default()
}
