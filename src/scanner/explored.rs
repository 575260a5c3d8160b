//! Tests the engine state by state. In every state that a dialect's pieces lead to, each piece is read in one call, byte by
//! byte, and with a stop after each event. Events, counts and next state must be the same. A state that the engine keeps in
//! several forms must continue in the same way from each. If all states were visited, the test proves that cuts make no difference in
//! texts of any length.
//!
//! Which rows of the table are filled, and which states have room, depends on the texts that other streams have read before. So
//! the same states are visited in two orders, and with room for a few states only: each must continue in the same way.
//!
//! `ASIDE_STATES` is the maximum number of states that are visited from each start. States that shorter texts lead to are visited
//! first. `ASIDE_EVERY=1` uses all pieces, `ASIDE_DIALECT=NAME` one dialect.

use std::{
    collections::{BTreeSet, HashMap, HashSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    sync::{atomic::AtomicUsize, atomic::Ordering},
};

use samples::{Pieces, Random, made};

use super::engine::Engine;
use crate::matcher::{code::CodeTracker, prose};
use crate::{Channel, Dialect, Event, Kind, Scanner, ScannerOptions, StrayClose};

/// The events of some feeds. Of text events only the bytes are recorded, so that the cuts do not matter.
#[derive(Hash, PartialEq)]
struct Recorded(Vec<u8>);

impl Recorded {
    fn event(&mut self, event: Event<'_>) {
        let channel = event.channel as u8;
        if event.kind == Kind::Text {
            self.0.extend(event.bytes.iter().flat_map(|&byte| [channel, byte]));
        } else {
            self.0.extend(format!("{:?}{channel}{:?}", event.kind, event.bytes).into_bytes());
        }
    }
}

/// A hasher that keeps its input, so that states can be compared directly.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the bytes are compared")
    }
}

/// Returns the parts of a state that later events depend on, except the position in a body, offsets and counts.
fn kept(engine: &Engine) -> Vec<u8> {
    let mut bytes = Bytes(Vec::with_capacity(160));
    let Engine { ledger, state, text, before, spans, hold, pending, code, json, framing, has_begun, .. } = engine;
    (ledger.table_until(), state.state(), text, spans, hold.unreported(), has_begun, json).hash(&mut bytes);
    // For a tag, it only matters whether a mark, a blank or a letter precedes the tag.
    let mark = prose::is_mark(*before).then_some(*before);
    let in_sentence = prose::may_be_in_sentence(*before);
    let asked =
        (prose::may_be_prose(*before), in_sentence, prose::is_space(*before), before.is_ascii_alphanumeric(), mark);
    // Inside calls, the byte before does not matter.
    matches!(spans.channel(), Channel::Content | Channel::Thinking).then_some(asked).hash(&mut bytes);
    if state.is_fallback() {
        (pending, code, framing).hash(&mut bytes);
        engine.mentioned.hash(&mut bytes);
    }
    bytes.0
}

/// Returns the result of `kept` and the position in a body. The engine may keep the same position in several forms, which
/// continue in the same way.
fn kept_with_body(engine: &Engine) -> Vec<u8> {
    let mut bytes = Bytes(kept(engine));
    engine.body().hash(&mut bytes);
    bytes.0
}

/// Returns a copy of the scanner's engine that has left the table.
fn left(scanner: &Scanner) -> Engine {
    let mut engine = scanner.engine.try_clone().unwrap();
    engine.leave(&scanner.dialect.compiled);
    if !scanner.dialect.compiled.grammar.region(engine.spans.region()).has_lines() {
        // Nothing reads the code tracker here, and the end of the span sets it.
        engine.code = CodeTracker::NEW;
    }
    engine
}

/// A function that feeds a chunk.
type FeedFn = fn(&mut Scanner, &[u8], &mut Recorded);

fn whole(scanner: &mut Scanner, chunk: &[u8], recorded: &mut Recorded) {
    scanner.feed(chunk, |event| recorded.event(event)).unwrap();
}

fn by_bytes(scanner: &mut Scanner, chunk: &[u8], recorded: &mut Recorded) {
    chunk.chunks(1).for_each(|byte| whole(scanner, byte, recorded));
}

fn stopping(scanner: &mut Scanner, mut chunk: &[u8], recorded: &mut Recorded) {
    loop {
        let mut events = scanner.events(chunk);
        let event = events.next().unwrap().map(|event| recorded.event(event));
        chunk = &chunk[events.consumed()..];
        if event.is_none() {
            return;
        }
    }
}

struct Node {
    scanner: Scanner,
    /// The earlier node from which this node was found, and the number of the step.
    from: (usize, usize),
    depth: usize,
}

/// The steps that are possible in each state: a chunk, or one of two method calls.
struct Steps(Vec<Vec<u8>>);

impl Steps {
    const FLUSH: usize = usize::MAX;
    const FORCE_CLOSE: usize = usize::MAX - 1;

    fn new(pieces: &[Vec<u8>]) -> Steps {
        let mut chunks = BTreeSet::new();
        for piece in pieces {
            chunks.extend((0..piece.len()).map(|at| piece[at..].to_vec()));
            chunks.extend(piece.iter().map(|&byte| vec![byte]));
        }
        Steps(chunks.into_iter().collect())
    }

    fn shown(&self, step: usize) -> String {
        match step {
            Steps::FLUSH => "(flush)".to_owned(),
            Steps::FORCE_CLOSE => "(force close)".to_owned(),
            chunk => self.0[chunk].escape_ascii().to_string(),
        }
    }
}

struct Explorer {
    steps: Steps,
    /// The maximum number of nodes that are visited. One more node is kept, which shows that not all were visited.
    most: usize,
    nodes: Vec<Node>,
    found: HashSet<Vec<u8>>,
    /// The outcome of each state, and the first node that was visited in this state. The key is the state outside the table.
    outcomes: HashMap<Vec<u8>, (u64, usize)>,
}

impl Explorer {
    fn new(scanner: Scanner, pieces: &[Vec<u8>], most: usize) -> Explorer {
        let nodes = vec![Node { scanner, from: (0, 0), depth: 0 }];
        let found = HashSet::from([kept_with_body(&nodes[0].scanner.engine)]);
        Explorer { steps: Steps::new(pieces), most, nodes, found, outcomes: HashMap::new() }
    }

    fn add(&mut self, scanner: Scanner, from: (usize, usize)) {
        if self.nodes.len() <= self.most && self.found.insert(kept_with_body(&scanner.engine)) {
            let depth = self.nodes[from.0].depth + 1;
            self.nodes.push(Node { scanner, from, depth });
        }
    }

    /// Returns the steps that lead to a node.
    fn path(&self, mut node: usize) -> String {
        let mut steps = Vec::new();
        while node > 0 {
            let (from, step) = self.nodes[node].from;
            steps.push(self.steps.shown(step));
            node = from;
        }
        steps.reverse();
        steps.join(" · ")
    }

    fn visit(&mut self, node: usize) {
        let scanner = self.nodes[node].scanner.clone();
        // The sum does not depend on the order of the steps.
        let mut outcomes = 0;
        for step in 0..self.steps.0.len() {
            let read = |feed: FeedFn| {
                let (mut scanner, mut recorded) = (scanner.clone(), Recorded(Vec::new()));
                feed(&mut scanner, &self.steps.0[step], &mut recorded);
                let counts = Channel::ALL.map(|channel| scanner.counts(channel));
                let state = kept(&left(&scanner));
                (scanner, (recorded, state, counts))
            };
            let (one, wanted) = read(whole);
            let others = [by_bytes as FeedFn, stopping].map(|feed| {
                let (scanner, got) = read(feed);
                let shown = || format!("{} · {}", self.path(node), self.steps.shown(step));
                assert!(got.0 == wanted.0, "other events of {}", shown());
                assert!(got.1 == wanted.1, "another state after {}", shown());
                assert_eq!(got.2, wanted.2, "after {}", shown());
                scanner
            });
            let mut outcome = DefaultHasher::new();
            (&self.steps.0[step], wanted.0, wanted.1).hash(&mut outcome);
            outcomes = outcome.finish().wrapping_add(outcomes);
            self.add(one, (node, step));
            others.into_iter().for_each(|other| self.add(other, (node, step)));
        }
        let mut recorded = Recorded(Vec::new());
        scanner.clone().finish(|event| recorded.event(event)).unwrap();
        let (mut flushed, mut closed) = (scanner.clone(), scanner.clone());
        flushed.flush(|event| recorded.event(event)).unwrap();
        closed.force_close(|event| recorded.event(event)).unwrap();
        let mut outcome = DefaultHasher::new();
        (recorded, kept(&left(&flushed)), kept(&left(&closed)), outcomes).hash(&mut outcome);
        self.add(flushed, (node, Steps::FLUSH));
        self.add(closed, (node, Steps::FORCE_CLOSE));
        let outcome = outcome.finish();
        let (first, other) = *self.outcomes.entry(kept_with_body(&left(&scanner))).or_insert((outcome, node));
        assert!(first == outcome, "{} continues differently from {}", self.path(node), self.path(other));
    }
}

/// Visits up to `most` states of each dialect, from each start, and reports the results.
fn explore(files: &[String], every: bool, most: usize, say: fn(&str)) {
    let dialects: Vec<_> = files
        .iter()
        .filter_map(|toml| Some((Dialect::load(toml).ok()?, reference::Dialect::parse(toml).unwrap())))
        .collect();
    let options = |file: &reference::Dialect| {
        let starts = file.starts().into_iter().map(|start| (start, StrayClose::Dialect));
        starts.chain([("content", StrayClose::Drop)]).collect::<Vec<_>>()
    };
    let jobs = dialects.iter().flat_map(|(dialect, file)| options(file).into_iter().map(move |it| (dialect, file, it)));
    let jobs: Vec<_> = jobs.collect();
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(&(dialect, file, (start, stray_close))) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let options = ScannerOptions::new().start(start.parse::<crate::Start>().unwrap()).stray_close(stray_close);
            let pieces = Pieces::new(file);
            let pieces = if every { &pieces.all } else { &pieces.few };
            let mut explorer = Explorer::new(Scanner::with_options(dialect, &options).unwrap(), pieces, most);
            let mut visited = 0;
            while visited < most && visited < explorer.nodes.len() {
                explorer.visit(visited);
                visited += 1;
            }
            let extent = match explorer.nodes.get(visited) {
                Some(next) => format!("{visited} states, all that {} chunks lead to", next.depth - 1),
                None => format!("all {visited} states"),
            };
            say(&format!("{} from {start}, {stray_close:?}: {extent}; {} chunks", file.name, explorer.steps.0.len()));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(run);
        }
    });
}

/// Visits states of a dialect, from a start in the content. Returns each state outside the table, with its outcome.
fn outcomes(toml: &str, most: usize, is_reversed: bool, room: Option<usize>) -> Option<HashMap<Vec<u8>, u64>> {
    let dialect = Dialect::load(toml).ok()?;
    if let Some(room) = room {
        dialect.compiled.automaton.limit(room);
    }
    let pieces = Pieces::new(&reference::Dialect::parse(toml).unwrap());
    let mut explorer = Explorer::new(Scanner::new(&dialect), &pieces.few, most);
    if is_reversed {
        explorer.steps.0.reverse();
    }
    let mut visited = 0;
    while visited < most && visited < explorer.nodes.len() {
        explorer.visit(visited);
        visited += 1;
    }
    Some(explorer.outcomes.into_iter().map(|(state, (outcome, _))| (state, outcome)).collect())
}

#[test]
fn states_continue_in_the_same_way_whichever_rows_are_filled() {
    let mut random = Random::announced("orders");
    let mut files: Vec<String> = (0..number("ASIDE_MADE").unwrap_or(3000) / 10).map(|_| made(&mut random)).collect();
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/dialects")).unwrap();
    let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    // Some of the built-in dialects, too.
    files.extend(paths.iter().step_by(12).map(|path| std::fs::read_to_string(path).unwrap()));
    let (mut both, mut states) = (0, 0);
    for file in &files {
        let Some(wanted) = outcomes(file, 40, false, None) else { continue };
        for (is_reversed, room) in [(true, None), (false, Some(8)), (true, Some(8))] {
            for (state, outcome) in outcomes(file, 40, is_reversed, room).unwrap() {
                both += usize::from(wanted.get(&state).is_some_and(|wanted| {
                    assert_eq!(*wanted, outcome, "{is_reversed}, {room:?}: {state:?} of {file}");
                    true
                }));
                states += 1;
            }
        }
    }
    assert!(both > states / 4, "{both} of {states} states were visited in both orders");
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|number| number.parse().unwrap())
}

#[test]
fn each_piece_is_read_as_its_bytes_from_every_state() {
    let only = std::env::var("ASIDE_DIALECT").ok();
    let mut files = Vec::new();
    for folder in ["dialects", "tests/dialects"] {
        for entry in std::fs::read_dir(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap() {
            let toml = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let is_wanted = |name: &String| toml.contains(&format!("name = \"{name}\"\n"));
            if only.as_ref().is_none_or(is_wanted) {
                files.push(toml);
            }
        }
    }
    assert!(!files.is_empty(), "there is no dialect {only:?}");
    let every = std::env::var_os("ASIDE_EVERY").is_some();
    explore(&files, every, number("ASIDE_STATES").unwrap_or(60), |line| println!("{line}"));
}

#[test]
fn and_in_dialects_made_at_random() {
    let mut random = Random::announced("explored");
    let files: Vec<String> = (0..number("ASIDE_MADE").unwrap_or(3000)).map(|_| made(&mut random)).collect();
    explore(&files, false, number("ASIDE_STATES").unwrap_or(20), |_| ());
}
