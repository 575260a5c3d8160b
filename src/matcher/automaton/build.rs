//! The builder: fills the table by asking a recogniser for the effect of each byte in each state. States are taken in the order
//! in which text comes to them: those that hold least first, and those near code late, because there are many and each is
//! rare. States that do not fit lead to the fallback.

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

/// The most states in all, and of one settled configuration. Configurations share their data where a region has many.
const MOST_STATES: usize = 21_000;
const MOST_OF_CONFIG: usize = 1024;
/// … of one where code spans alone hide markers, as in most thinking; of one that text leaves with its next byte; and of
/// one that few streams come to.
const MOST_OF_SPANS: usize = 512;
const MOST_OF_FRESH: usize = 96;
const MOST_OF_RARE: usize = 64;
/// The most exits, and configurations of one region.
const MOST_EXITS: usize = 40_000;
const MOST_CONFIGS: usize = 80;
/// The most bytes that are held in a state.
const MOST_HELD: usize = 24;

// `Item::key` packs the held bytes into three words. With more bytes, items that differ in the last ones would have one key.
const _: () = assert!(MOST_HELD == 3 * size_of::<u64>());

/// Near a fence, a state comes as late as one that holds this number of bytes more. This and the bounds of a configuration are
/// chosen by W4 of `any` (BENCHMARKS.md).
const NEAR_FENCE: usize = 3;

impl Automaton {
    /// Builds the automaton of a grammar. `used`: the flags that some pattern asks for.
    pub fn new(grammar: &Grammar, used: u16) -> Automaton {
        let mut builder = Builder::new(grammar);
        for number in 0..grammar.regions.len() as u8 {
            builder.seed(number, used);
        }
        builder.run();
        builder.finish()
    }
}

/// A place in a text: its origin, and the bytes held after that.
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

    /// Returns a key that is unique to the item, in one piece, which is hashed faster than the fields.
    fn key(&self, code: u64) -> [u64; 5] {
        let [a, b, c] = array::from_fn(|word| array::from_fn(|byte| self.held[word * 8 + byte]));
        let place = u64::from(self.config) << 32 | u64::from(self.framing) << 8 | u64::from(self.len);
        [place, code, u64::from_le_bytes(a), u64::from_le_bytes(b), u64::from_le_bytes(c)]
    }
}

struct Place {
    item: Item,
    /// It has read the held bytes.
    recogniser: Option<Recogniser>,
    state: StateId,
    /// Where in `rows` its cells begin.
    row: Option<usize>,
}

/// A configuration, and how many states it may have and has.
struct Room {
    config: Config,
    most: usize,
    count: usize,
}

/// A cell before the states have their numbers.
#[derive(Clone, Copy)]
enum Cell {
    To(u32),
    Exit(u16),
}

const TO_FALLBACK: Cell = Cell::Exit(0);

/// How the recogniser of a place takes each byte class: with those in neither list it fails.
struct Onward {
    /// It can read on.
    survivors: Vec<usize>,
    /// It fails, and has seen that its line opens a nested block.
    nesting: Vec<usize>,
}

/// The number of ranks that a place can have; see `Builder::rank`.
const RANKS: usize = 2 * (MOST_HELD + NEAR_FENCE + 1);

struct Builder<'a> {
    grammar: &'a Grammar,
    classes: ByteClasses,
    rooms: Vec<Room>,
    numbers_of_configs: FxHashMap<Config, u16>,
    /// Every place that was found, and the numbers of their items.
    places: Vec<Place>,
    numbers: FxHashMap<[u64; 5], u32>,
    /// Where nothing is held and that was asked for last: most bytes lead where the one before them did.
    last: Option<(Config, CodeTracker, u16, Cell)>,
    /// Places without a state, by their ranks.
    queue: [VecDeque<u32>; RANKS],
    /// The places with a state, in the order of the states from the first one on.
    states: Vec<u32>,
    /// Rows of cells, in no order.
    rows: Vec<Cell>,
    /// The data of a region and a recogniser: most places share theirs with others.
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

    /// Finds the places that markers lead to in a region.
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
            // Where many configurations share a region, each has fewer streams.
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

    /// Works out where each class leads from a place. Returns where its cells begin.
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

    /// Works out the cells of a place where something is held or framing may come. Where its recogniser fails, a byte has its
    /// effect in the place `failed`.
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

    /// Works out the cells of a place one by one.
    fn row_of_all(&mut self, number: u32) -> usize {
        let row = self.rows.len();
        self.rows.resize(row + self.classes.len(), TO_FALLBACK);
        let Place { item, recogniser, .. } = &self.places[number as usize];
        let region = self.grammar.region(self.rooms[usize::from(item.config)].config.region);
        let is_free = recogniser.is_none() && item.framing == 0;
        // Bytes that begin nothing lead where others of their kind do.
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

    /// Returns where the held bytes of a place lead if they are not framing, or if the first of them is text: of a line that
    /// opens a nested block, if `nests` is set. None where nothing is held and no framing may come.
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

    /// Returns how the recogniser of a place takes each byte class.
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

    /// Returns the place where this text is held, if it is one that text commonly comes to. `recogniser` has read the text.
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
        // After the sign of a quote or a list item, few texts begin with what may be a marker.
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

    /// Returns how late a place gets its state: after those of settled configurations, and by how rare it is.
    fn rank(&self, item: &Item) -> usize {
        let is_rare = item.code.is_near_fence() || item.code.is_in_containers();
        let rank = usize::from(item.len) + if is_rare { NEAR_FENCE } else { 0 };
        let is_settled = self.rooms[usize::from(item.config)].config.stage == Stage::Settled;
        if is_settled { rank } else { RANKS / 2 + rank }
    }

    /// Returns the place where nothing is held.
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

    /// Returns where a text leads that begins where the item does. `alive`: the recogniser that has read the item's held bytes,
    /// if any, and their number. None: the first byte is text.
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
                // In an answer in JSON each byte is looked at by itself.
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
