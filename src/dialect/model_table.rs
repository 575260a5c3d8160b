//! The patterns of all dialects in one automaton, so that a name is read once and not once for each pattern. `build.rs` makes
//! it of the dialects' files. `model_search` reads names with it.

use std::array;
use std::collections::{HashMap, HashSet};

use super::spelling::{BYTES, Symbol, Taken};

/// A pattern, and whose it is: the place of the dialect in the catalogue, and that of the pattern in the dialect.
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
    /// The number of bytes that it fixes.
    pub said: u8,
    /// Where the `*` is. 0: it has none.
    pub star: u8,
}

/// A state: its edges, and the action before they are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The edge of a class of bytes is at this index plus the class.
    pub edges: u16,
    /// The index of the action. 0: there is none.
    pub stop: u16,
}

/// The state without edges.
pub const NOWHERE: State = State { edges: 0, stop: 0 };

/// The edges of all states are in one list, in each other's gaps.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The `edges` of its state.
    pub of: u16,
    pub next: State,
}

/// No edge belongs to such a state.
const GAP: Edge = Edge { of: u16::MAX, next: NOWHERE };

/// The data of a state besides its edges.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// A range of `leaves`.
    pub leaves: (u16, u16),
    /// The least number of bytes that must follow for one of them to fit, and a letter that must be among these. 0: no letter must.
    pub needs: (u8, u8),
    /// Patterns with a number that ends here, and without conditions on the text after it: a range of `numbers`, perhaps none.
    pub numbers: (u16, u16),
    pub has_point: bool,
    /// The state without them, for a number that continues in a name.
    pub otherwise: State,
}

#[derive(Debug)]
pub struct Table<'a> {
    pub patterns: &'a [Known<'a>],
    pub edges: &'a [Edge],
    pub stops: &'a [Stop],
    pub leaves: &'a [Leaf],
    /// Places of patterns.
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
    /// The name has a dash before the digit that comes.
    is_behind_dash: bool,
}

/// Makes a table. The crate has the one that `build.rs` has made with it.
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
        // Names spell a slash and the letter after it as patterns do.
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

    /// Returns the state in which patterns were read as far as this, each by the same bytes of a name.
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

    /// Puts the edges of a state where there is room for them, and returns where.
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
        // A row is read for each class, so that its last place must be there.
        self.edges.resize(self.edges.len().max(usize::from(row) + CLASSED), GAP);
        for (class, next) in nexts {
            self.edges[usize::from(row) + class] = Edge { of: row, next: *next };
        }
        row
    }

    /// Returns the action after patterns were read as far as this.
    fn stop(&mut self, items: &[Item]) -> u16 {
        // A number without a point continues wherever one with a point would, so it takes precedence.
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

    /// Returns the items after one more byte of a name.
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

/// Returns the range that entries have in a list.
#[cfg_attr(not(test), allow(dead_code))]
fn appended<T>(list: &mut Vec<T>, entries: impl IntoIterator<Item = T>) -> (u16, u16) {
    let begin = list.len() as u16;
    list.extend(entries);
    (begin, list.len() as u16)
}

/// Returns the number of bytes that follow at least where a pattern's `*` comes. A name may leave out a dash.
#[cfg_attr(not(test), allow(dead_code))]
fn least(text: &str) -> u8 {
    let behind = text.split_once('*').map_or("", |(_, behind)| behind);
    behind.bytes().filter(|byte| !b"-*".contains(byte)).count() as u8
}

/// Returns the letter after a pattern's `*` that the fewest names have. 0: there is none.
#[cfg_attr(not(test), allow(dead_code))]
fn rarest(text: &str) -> u8 {
    const BY_FREQUENCY: &[u8] = b"aeintrosldcmgbpuhfvqwkxyzj";
    let behind = text.split_once('*').map_or("", |(_, behind)| behind);
    let place = |letter: &u8| BY_FREQUENCY.iter().position(|known| known == letter);
    behind.bytes().filter(u8::is_ascii_lowercase).max_by_key(place).unwrap_or_default()
}
