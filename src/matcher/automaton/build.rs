//! The builder, which fills the table: a recogniser shows the effect of each byte in each state. States are added in the order
//! of their use by text: those that hold the fewest bytes first, and those near code late, because there are many and each is
//! rare. If there is no room for a state, the fallback is used.

use std::{array, collections::VecDeque, rc::Rc};

use rustc_hash::FxHashMap;

use super::{
    accel::Accels,
    classes::ByteClasses,
    config::{self, Config, Stage},
    state::{Exit, FALLBACK, Origin, StateId, StateInfo},
    table::{Automaton, Starts},
};
use crate::matcher::{
    bytes::is_blank,
    code::{self, CodeTracker},
    grammar::{Grammar, LineRule},
    recogniser::{Outcome, Recogniser, TokenMark},
};

/// The most states in all, and the most of one settled configuration. In a region with many configurations, each has fewer.
const MOST_STATES: usize = 21_000;
const MOST_OF_CONFIG: usize = 1024;
/// The most states of a configuration in which only code spans hide markers, as in most thinking; of one that the next byte
/// of text ends; and of one that few streams reach.
const MOST_OF_SPANS: usize = 512;
const MOST_OF_FRESH: usize = 96;
const MOST_OF_RARE: usize = 64;
/// The maximum number of exits, and configurations of one region.
const MOST_EXITS: usize = 40_000;
const MOST_CONFIGS: usize = 80;
/// The maximum number of bytes that a state may hold.
const MOST_HELD: usize = 24;

// `Item::key` packs the held bytes into three words. With more bytes, items that differ in the last ones would have one key.
const _: () = assert!(MOST_HELD == 3 * size_of::<u64>());

/// A state near a fence is added as late as a state that holds this many more bytes. This and the limits of a configuration
/// were chosen by W4 of `any` (BENCHMARKS.md).
const NEAR_FENCE: usize = 3;

impl Automaton {
    /// Builds the automaton of a grammar. `used` are the flags that some pattern needs or avoids.
    pub fn new(grammar: &Grammar, used: u16) -> Automaton {
        let mut builder = Builder::new(grammar);
        for number in 0..grammar.regions.len() as u8 {
            builder.seed(number, used);
        }
        builder.run();
        builder.finish()
    }
}

/// A place in a text: its origin, and the bytes held after the origin.
#[derive(Clone, Copy)]
struct Item {
    config: u16,
    framing: u16,
    code: CodeTracker,
    len: u8,
    held: [u8; MOST_HELD],
}

impl Item {
    fn held(&self) -> &[u8] {
        &self.held[..usize::from(self.len)]
    }

    /// Returns a unique key of the item, which is hashed faster than the fields.
    fn key(&self, code: u64) -> [u64; 5] {
        let [a, b, c] = array::from_fn(|word| array::from_fn(|byte| self.held[word * 8 + byte]));
        let place = u64::from(self.config) << 32 | u64::from(self.framing) << 8 | u64::from(self.len);
        [place, code, u64::from_le_bytes(a), u64::from_le_bytes(b), u64::from_le_bytes(c)]
    }
}

struct Place {
    item: Item,
    /// The recogniser that has read the held bytes.
    recogniser: Option<Recogniser>,
    state: StateId,
    /// The index in `rows` at which the place's cells begin.
    row: Option<usize>,
}

/// A configuration, the most states that it may have, and the number that it has.
struct Room {
    config: Config,
    most: usize,
    count: usize,
}

/// A cell, before states are numbered.
#[derive(Clone, Copy)]
enum Cell {
    To(u32),
    Exit(u16),
}

const TO_FALLBACK: Cell = Cell::Exit(0);

/// The effect of each byte class on the recogniser of a place. With classes in neither list, the recogniser fails.
struct Onward {
    /// The classes with which it can continue.
    survivors: Vec<usize>,
    /// The classes with which it fails and shows that its line opens a nested block.
    nesting: Vec<usize>,
}

/// The number of ranks that places can have; see `Builder::rank`.
const RANKS: usize = 2 * (MOST_HELD + NEAR_FENCE + 1);

struct Builder<'a> {
    grammar: &'a Grammar,
    classes: ByteClasses,
    rooms: Vec<Room>,
    numbers_of_configs: FxHashMap<Config, u16>,
    /// All places that were found.
    places: Vec<Place>,
    numbers: FxHashMap<[u64; 5], u32>,
    /// The last result for a place where nothing is held: most bytes lead to the same cell as the previous byte.
    last: Option<(Config, CodeTracker, u16, Cell)>,
    /// Places without a state, by their ranks.
    queue: [VecDeque<u32>; RANKS],
    /// The places with a state, in the order of the states.
    states: Vec<u32>,
    /// Rows of cells, in any order.
    rows: Vec<Cell>,
    /// The effects of bytes by region and recogniser, which most places share with others.
    onward: FxHashMap<(u8, Recogniser), Rc<Onward>>,
    exits: Vec<Exit>,
    numbers_of_exits: FxHashMap<Exit, u16>,
}

impl<'a> Builder<'a> {
    fn new(grammar: &'a Grammar) -> Builder<'a> {
        Builder {
            grammar,
            classes: ByteClasses::new(grammar),
            rooms: Vec::new(),
            numbers_of_configs: FxHashMap::default(),
            places: Vec::new(),
            numbers: FxHashMap::default(),
            last: None,
            queue: array::from_fn(|_| VecDeque::new()),
            states: Vec::new(),
            rows: Vec::new(),
            onward: FxHashMap::default(),
            exits: vec![Exit::Fallback],
            numbers_of_exits: FxHashMap::from_iter([(Exit::Fallback, 0)]),
        }
    }

    /// Adds the places of a region to which markers lead.
    fn seed(&mut self, number: u8, used: u16) {
        let region = self.grammar.region(number);
        let seeds = config::seeds(self.grammar, number, used);
        let framings = config::framings(self.grammar, number);
        let common = seeds.iter().filter(|seed| seed.config.stage == Stage::Settled && !seed.is_rare).count();
        for seed in seeds.into_iter().take(MOST_CONFIGS) {
            let most = match region.lines {
                _ if seed.is_rare => MOST_OF_RARE,
                _ if seed.config.stage != Stage::Settled => MOST_OF_FRESH,
                LineRule::Guard { fences: false, .. } => MOST_OF_SPANS,
                _ => MOST_OF_CONFIG,
            };
            // If a region has many configurations, each is used by fewer streams.
            let most = (2 * most / common.max(2)).max(MOST_OF_RARE);
            let config = self.number_of(seed.config, most);
            for is_blank in [true, false] {
                self.number_of(seed.config.after(is_blank), most);
            }
            let prose = CodeTracker::in_prose(region.lines);
            for code in [prose, CodeTracker::NEW, CodeTracker::IN_CODE] {
                self.find(config, code, 0, &[], None);
            }
            if !seed.is_rare {
                for &framing in &framings {
                    for code in [prose, CodeTracker::NEW] {
                        self.find(config, code, framing, &[], None);
                    }
                }
            }
        }
    }

    fn number_of(&mut self, config: Config, most: usize) -> u16 {
        *self.numbers_of_configs.entry(config).or_insert_with(|| {
            self.rooms.push(Room { config, most, count: 0 });
            (self.rooms.len() - 1) as u16
        })
    }

    fn run(&mut self) {
        while self.states.len() + 1 < MOST_STATES
            && let Some(number) = self.queue.iter_mut().find_map(VecDeque::pop_front)
        {
            let place = &mut self.places[number as usize];
            let room = &mut self.rooms[usize::from(place.item.config)];
            if room.count == room.most {
                continue;
            }
            room.count += 1;
            self.states.push(number);
            place.state = self.states.len() as StateId;
            self.row(number);
        }
    }

    /// Computes the cell of each class for a place. Returns the index in `rows` of the first.
    fn row(&mut self, number: u32) -> usize {
        if let Some(row) = self.places[number as usize].row {
            return row;
        }
        let row = match self.failed(number, false) {
            Some(Cell::To(failed)) => self.row_after(number, failed),
            _ => self.row_of_all(number),
        };
        self.places[number as usize].row = Some(row);
        row
    }

    /// Computes the cells of a place where bytes are held or framing may follow. If the recogniser fails with a byte, the byte
    /// has the effect that it has in the place `failed`.
    fn row_after(&mut self, number: u32, failed: u32) -> usize {
        let failed = self.row(failed);
        let onward = self.onward(number);
        let nesting = match onward.nesting[..] {
            [] => None,
            _ => self.failed(number, true),
        };
        let nesting = match nesting {
            Some(Cell::To(nesting)) => Some(self.row(nesting)),
            _ => None,
        };
        let row = self.rows.len();
        self.rows.extend_from_within(failed..failed + self.classes.len());
        for &class in &onward.nesting {
            self.rows[row + class] = match nesting {
                Some(nesting) => self.rows[nesting + class],
                None => self.step(number, self.classes.bytes()[class]),
            };
        }
        for &class in &onward.survivors {
            self.rows[row + class] = self.step(number, self.classes.bytes()[class]);
        }
        row
    }

    /// Computes the cells of a place one by one.
    fn row_of_all(&mut self, number: u32) -> usize {
        let row = self.rows.len();
        self.rows.resize(row + self.classes.len(), TO_FALLBACK);
        let Place { item, recogniser, .. } = &self.places[number as usize];
        let region = self.grammar.region(self.rooms[usize::from(item.config)].config.region);
        let is_free = recogniser.is_none() && item.framing == 0;
        // All bytes of a kind that cannot begin a marker lead to the same cell.
        let mut of_kinds = [None; code::KINDS];
        for class in 0..self.classes.len() {
            let byte = self.classes.bytes()[class];
            let mut step = || self.step(number, byte);
            self.rows[row + class] = match is_free && !region.may_begin(byte) {
                true => *of_kinds[code::kind(byte)].get_or_insert_with(step),
                false => step(),
            };
        }
        row
    }

    /// Returns the cell of a place if its held bytes are not framing, or if the first of them is text, which is in a line that
    /// opens a nested block if `nests`. Returns `None` if nothing is held and no framing may follow.
    fn failed(&mut self, number: u32, nests: bool) -> Option<Cell> {
        let Place { item, recogniser, .. } = &self.places[number as usize];
        let mut item = *item;
        if item.framing != 0 {
            item.framing = 0;
            return Some(self.replay(&item, item.held(), Some((None, 0))));
        }
        recogniser.as_ref()?;
        item.code.nest_if(nests);
        Some(self.replay(&item, item.held(), None))
    }

    /// Returns the effect of each byte class on the recogniser of a place.
    fn onward(&mut self, number: u32) -> Rc<Onward> {
        let Place { item, recogniser, .. } = self.places[number as usize];
        let recogniser = recogniser.unwrap_or_else(|| Recogniser::of_framing(item.framing));
        let region = self.rooms[usize::from(item.config)].config.region;
        let Builder { grammar, classes, onward, .. } = self;
        let onward = onward.entry((region, recogniser)).or_insert_with(|| {
            let mut onward = Onward { survivors: Vec::new(), nesting: Vec::new() };
            for (class, &byte) in classes.bytes().iter().enumerate() {
                let mut recogniser = recogniser;
                let outcome = recogniser.run(grammar, grammar.region(region), &[byte], |_| TokenMark::PLAIN);
                match outcome {
                    Outcome::Fail if recogniser.nests() => onward.nesting.push(class),
                    Outcome::Fail => {}
                    _ => onward.survivors.push(class),
                }
            }
            Rc::new(onward)
        });
        Rc::clone(onward)
    }

    fn finish(self) -> Automaton {
        let fallback = Origin { code: CodeTracker::NEW, stage: Stage::Settled, framing: 0 };
        let (mut states, mut origins) = (vec![StateInfo::FALLBACK], vec![fallback]);
        let mut lists: Vec<Vec<((u64, u16), StateId)>> = self.rooms.iter().map(|_| Vec::new()).collect();
        for place in self.states.iter().map(|&number| &self.places[number as usize]) {
            let item = &place.item;
            let is_wide = !item.held().is_ascii();
            states.push(StateInfo::new(place.state, item.len, is_wide));
            let stage = self.rooms[usize::from(item.config)].config.stage;
            origins.push(Origin { code: item.code, stage, framing: item.framing });
            if let (0, Some(number)) = (item.len, item.code.number()) {
                lists[usize::from(item.config)].push(((number, item.framing), place.state));
            }
        }
        let mut starts: Vec<Vec<Starts>> = self.grammar.regions.iter().map(|_| Vec::new()).collect();
        for (Room { config, .. }, mut list) in self.rooms.iter().zip(lists) {
            list.sort_unstable();
            let has_lines = self.grammar.region(config.region).has_lines();
            starts[usize::from(config.region)].push(Starts { config: *config, has_lines, list });
        }
        let first_exit = states.len();
        let of_places: Vec<StateId> = self.places.iter().map(|place| place.state).collect();
        let resolve = |cell: &Cell| match *cell {
            Cell::To(number) => match of_places[number as usize] {
                FALLBACK => first_exit as u16,
                state => state,
            },
            Cell::Exit(number) => first_exit as u16 + number,
        };
        let of_fallback = (0..self.classes.len()).map(|_| TO_FALLBACK);
        let mut cells = Vec::with_capacity(first_exit * self.classes.len());
        cells.extend(of_fallback.map(|cell| resolve(&cell)));
        for row in self.states.iter().filter_map(|&number| self.places[number as usize].row) {
            cells.extend(self.rows[row..row + self.classes.len()].iter().map(resolve));
        }
        let exits = self.exits;
        let accels = Accels::default();
        let mut automaton = Automaton { classes: self.classes, cells, states, origins, exits, starts, accels };
        automaton.accelerate();
        automaton
    }

    fn exit(&mut self, exit: Exit) -> Cell {
        if let Some(&number) = self.numbers_of_exits.get(&exit) {
            return Cell::Exit(number);
        }
        if self.exits.len() == MOST_EXITS {
            return TO_FALLBACK;
        }
        let number = self.exits.len() as u16;
        self.exits.push(exit);
        self.numbers_of_exits.insert(exit, number);
        Cell::Exit(number)
    }

    /// Returns the place where this text is held, if text reaches it often enough. `recogniser` has read the held text.
    fn find(
        &mut self,
        config: u16,
        mut code: CodeTracker,
        framing: u16,
        text: &[u8],
        recogniser: Option<Recogniser>,
    ) -> Cell {
        let region = self.grammar.region(self.rooms[usize::from(config)].config.region);
        let is_common = recogniser.as_ref().is_none_or(|it| it.is_common(text));
        if !region.has_lines() {
            code = CodeTracker::NEW;
        }
        // Directly after the sign of a block quote or a list item, a possible marker is rare.
        let is_common = is_common && (text.is_empty() && framing == 0 || !code.is_in_containers());
        let Some(code_number) = code.number().filter(|_| text.len() <= MOST_HELD && is_common) else {
            return TO_FALLBACK;
        };
        let mut held = [0; MOST_HELD];
        held[..text.len()].copy_from_slice(text);
        if let Some(token) = recogniser.as_ref().and_then(|it| it.token(text)) {
            if text[token.clone()].iter().any(|&byte| region.may_begin(byte)) {
                return TO_FALLBACK;
            }
            held[token].fill(b'a');
        }
        let item = Item { config, framing, code, len: text.len() as u8, held };
        let key = item.key(code_number);
        let number = *self.numbers.entry(key).or_insert(self.places.len() as u32);
        if (number as usize) < self.places.len() {
            return Cell::To(number);
        }
        self.places.push(Place { item, recogniser, state: FALLBACK, row: None });
        let rank = self.rank(&item);
        self.queue[rank].push_back(number);
        Cell::To(number)
    }

    /// Returns the rank by which a place gets its state: settled configurations first, and rare places late.
    fn rank(&self, item: &Item) -> usize {
        let is_rare = item.code.is_near_fence() || item.code.is_in_containers();
        let rank = usize::from(item.len) + if is_rare { NEAR_FENCE } else { 0 };
        let is_settled = self.rooms[usize::from(item.config)].config.stage == Stage::Settled;
        if is_settled { rank } else { RANKS / 2 + rank }
    }

    /// Returns the place with this data where nothing is held.
    fn find_free(&mut self, config: Config, code: CodeTracker, framing: u16) -> Cell {
        if let Some((.., cell)) = self.last.filter(|&(a, b, c, _)| (a, b, c) == (config, code, framing)) {
            return cell;
        }
        let number = self.number_of(config, MOST_OF_RARE);
        let cell = self.find(number, code, framing, &[], None);
        self.last = Some((config, code, framing, cell));
        cell
    }

    /// Returns the effect of a byte in a place.
    fn step(&mut self, number: u32, byte: u8) -> Cell {
        let Place { item, recogniser, .. } = &self.places[number as usize];
        let (item, alive) = (*item, *recogniser);
        let mut text = [0; MOST_HELD + 1];
        let len = usize::from(item.len);
        text[..len].copy_from_slice(item.held());
        text[len] = byte;
        self.replay(&item, &text[..=len], Some((alive, len)))
    }

    /// Returns the cell to which a text leads from the item's origin. `alive` is the recogniser that has read the item's held
    /// bytes, if there is one, and their number; `None` means that the first byte is text.
    fn replay(&mut self, item: &Item, text: &[u8], alive: Option<(Option<Recogniser>, usize)>) -> Cell {
        let mut config = self.rooms[usize::from(item.config)].config;
        let region = self.grammar.region(config.region);
        let (mut code, mut framing) = (item.code, item.framing);
        // A candidate begins at `at` and has been read up to `read`.
        let (mut at, mut read) = (0, 0);
        let pass = |code: &mut CodeTracker, config: &mut Config, at: &mut usize| {
            if region.has_lines() {
                code.pass(text[*at], region.lines);
            }
            *config = config.after(is_blank(text[*at]));
            *at += 1;
        };
        let mut alive = match alive {
            Some((alive, len)) => {
                read = len;
                alive
            }
            None => {
                pass(&mut code, &mut config, &mut at);
                None
            }
        };
        loop {
            if code.begins_json() {
                // In an answer in JSON, each byte is read outside the table.
                return TO_FALLBACK;
            }
            let mut recogniser = match (alive.take(), text.get(at)) {
                (Some(alive), _) => alive,
                (None, None) => return self.find_free(config, code, framing),
                (None, Some(&first)) if framing == 0 && !region.may_begin(first) => {
                    pass(&mut code, &mut config, &mut at);
                    continue;
                }
                (None, Some(&first)) => {
                    read = at;
                    match framing {
                        0 => Recogniser::of_marker(region, config.active(), &code, first),
                        framing => Recogniser::of_framing(framing),
                    }
                }
            };
            let outcome = recogniser.run(self.grammar, region, &text[read..], |_| TokenMark::PLAIN);
            let origin = Origin { code, stage: config.stage, framing };
            match outcome {
                Outcome::More => {
                    let config = self.number_of(config, MOST_OF_RARE);
                    return self.find(config, code, framing, &text[at..], Some(recogniser));
                }
                Outcome::Match { pattern, len } => {
                    let unread = (text.len() - at - len) as u8;
                    return self.exit(Exit::Marker { pattern, len: len as u16, unread, origin });
                }
                Outcome::Framing => return self.exit(Exit::Framing { len: recogniser.len() as u16, origin }),
                Outcome::HeaderEnd { .. } | Outcome::HeaderBreak { .. } => return TO_FALLBACK,
                Outcome::Fail if framing != 0 => framing = 0,
                Outcome::Fail => {
                    code.nest_if(recogniser.nests());
                    pass(&mut code, &mut config, &mut at);
                }
            }
        }
    }
}
