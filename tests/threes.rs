//! Tests the scanner without random texts: with every sequence of three pieces, which are markers, proper prefixes of markers,
//! framing, a letter, a newline and a character of two bytes. Each sequence is read in every dialect from every start, whole, at
//! every cut into two and byte by byte, and compared with the reference. `ASIDE_EVERY=1` runs all sequences, which takes hours.
//! Without it, only the most significant pieces are used. If a dialect has more than 20 of them, only its own start is tested, and
//! only every third piece begins sequences. `ASIDE_DIALECT=NAME` runs one dialect from every start.

use aside::{Channel, Start, StrayClose};
use reference::{Event, Stray, What};
use samples::{CallPieces, Pieces};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use support::Pair;

/// Compares events with the expected ones, one by one. Text may arrive in parts.
struct Check<'a> {
    wanted: &'a [Event],
    /// The number of bytes of the first expected event that have arrived.
    had: usize,
    good: bool,
}

impl Check<'_> {
    fn see(&mut self, event: aside::Event<'_>) {
        let Some((first, rest)) = self.wanted.split_first() else {
            self.good = false;
            return;
        };
        if event.kind == aside::Kind::Text {
            let fits = first.what == What::Text
                && first.channel == event.channel.as_str()
                && (first.offset + self.had) as u64 == event.offset
                && !event.bytes.is_empty()
                && first.bytes[self.had..].starts_with(event.bytes);
            self.good &= fits;
            self.had += event.bytes.len();
            if fits && self.had == first.bytes.len() {
                (self.wanted, self.had) = (rest, 0);
            }
        } else {
            // Compares the bytes first, because that needs no copy.
            self.good &= self.had == 0
                && first.bytes == event.bytes
                && first.what == support::owned(&event).what
                && first.offset as u64 == event.offset
                && first.channel == event.channel.as_str();
            self.wanted = rest;
        }
    }
}

struct Runs<'a> {
    pair: &'a Pair,
    start: &'a str,
    /// The scanner of all texts. After each text it is in the state of a new scanner.
    scanner: aside::Scanner,
    /// A scanner for a host that lets stray closers be removed.
    dropping: aside::Scanner,
}

impl Runs<'_> {
    fn check(&mut self, wanted: &[Event], text: &[u8], first: usize, step: usize) {
        let mut check = Check { wanted, had: 0, good: true };
        let (head, tail) = text.split_at(first);
        let chunks = [head].into_iter().chain(tail.chunks(step));
        for chunk in chunks.clone() {
            self.scanner.feed(chunk, |event| check.see(event)).unwrap();
        }
        self.scanner.finish(|event| check.see(event)).unwrap();
        if !check.good || !check.wanted.is_empty() {
            // Checks the text again with a new scanner, which shows the difference.
            let chunks: Vec<&[u8]> = chunks.collect();
            self.pair.check(Some(self.start), &chunks, wanted);
            panic!("a scanner that was used before fails at {}", support::shown(&chunks));
        }
    }

    fn text(&mut self, text: &[u8]) {
        let wanted = reference::read(&self.pair.reference, text, Some(self.start));
        for at in 0..text.len() {
            self.check(&wanted, text, at, text.len());
        }
        self.check(&wanted, text, 0, 1);
        let wanted = reference::read_with_stray(&self.pair.reference, text, Some(self.start), Stray::Drop);
        let chunks = support::bytes(text);
        let mut check = Check { wanted: &wanted, had: 0, good: true };
        for chunk in &chunks {
            self.dropping.feed(chunk, |event| check.see(event)).unwrap();
        }
        self.dropping.finish(|event| check.see(event)).unwrap();
        if !check.good || !check.wanted.is_empty() {
            let mut scanner = support::scanner_with_stray(&self.pair.library, self.start, StrayClose::Drop);
            self.pair.same(Some(self.start), &chunks, &wanted, &support::run(&mut scanner, &chunks));
            panic!("a scanner that was used before fails at {}", support::shown(&chunks));
        }
    }
}

/// The sequences of a dialect from one start that begin with the same piece.
struct Job<'a> {
    pair: &'a Pair,
    start: &'a str,
    pieces: &'a [Vec<u8>],
    first: &'a [u8],
}

impl Job<'_> {
    fn run(&self) -> u64 {
        let scanner = support::scanner(&self.pair.library, Some(self.start), None);
        let dropping = support::scanner_with_stray(&self.pair.library, self.start, StrayClose::Drop);
        let mut runs = Runs { pair: self.pair, start: self.start, scanner, dropping };
        let mut text = self.first.to_vec();
        for second in self.pieces {
            text.truncate(self.first.len());
            text.extend_from_slice(second);
            let two = text.len();
            for third in self.pieces {
                text.truncate(two);
                text.extend_from_slice(third);
                runs.text(&text);
            }
        }
        (self.pieces.len() * self.pieces.len()) as u64
    }
}

/// With more pieces, other starts are only tested in longer runs, and only every third piece begins sequences, because the sequences
/// of `any` would take minutes.
const MANY: usize = 20;

#[test]
fn three_pieces_at_every_cut() {
    let every = std::env::var_os("ASIDE_EVERY").is_some();
    let only = std::env::var("ASIDE_DIALECT").ok();
    // Whole calls are long pieces, which take minutes, so a dialect with tables is only tested here if `ASIDE_DIALECT` names it.
    // The test below uses shorter pieces of calls.
    let is_wanted = |pair: &Pair| match &only {
        Some(name) => *name == pair.reference.name,
        None => !pair.has_calls(),
    };
    let pairs: Vec<Pair> = Pair::all().into_iter().filter(is_wanted).collect();
    assert!(!pairs.is_empty(), "there is no dialect {only:?}");
    let pieces: Vec<Pieces> = pairs.iter().map(|pair| Pieces::new(&pair.reference)).collect();
    let mut jobs = Vec::new();
    for (pair, pieces) in pairs.iter().zip(&pieces) {
        let pieces = if every { &pieces.all } else { &pieces.few };
        let mut starts = pair.reference.starts();
        let is_long = pieces.len() > MANY && !every && only.is_none();
        if is_long {
            starts.retain(|start| *start == pair.library.start().as_str());
        }
        for start in starts {
            println!(
                "{} from {start}: {} pieces, {} sequences",
                pair.reference.name,
                pieces.len(),
                pieces.len().pow(3)
            );
            let step = if is_long { 3 } else { 1 };
            jobs.extend(pieces.iter().step_by(step).map(|first| Job { pair, start, pieces, first }));
        }
    }
    let (next, sequences) = (AtomicUsize::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    sequences.fetch_add(job.run(), Ordering::Relaxed);
                }
            });
        }
    });
    println!("{} sequences of {} dialects", sequences.into_inner(), pairs.len());
}

/// Checks three pieces after each beginning of a call, in dialects with tables, for a host that wants calls.
#[test]
fn three_pieces_of_a_call_at_every_cut() {
    let every = std::env::var_os("ASIDE_EVERY").is_some();
    let only = std::env::var("ASIDE_DIALECT").ok();
    let is_wanted = |pair: &Pair| pair.has_calls() && only.as_ref().is_none_or(|name| *name == pair.reference.name);
    // Built-in dialects are left out: they would take minutes, and share most of their tables.
    let is_own = |pair: &Pair| every || only.is_some() || aside::Dialect::find(&pair.reference.name).is_err();
    let pairs: Vec<Pair> = Pair::all().into_iter().filter(|pair| is_wanted(pair) && is_own(pair)).collect();
    let mut jobs = Vec::new();
    for pair in &pairs {
        for table in CallPieces::of_spans(&pair.reference) {
            let pieces = if every { table.all } else { table.few };
            println!("{}: {} beginnings, {} pieces", pair.reference.name, table.begins.len(), pieces.len());
            jobs.extend(table.begins.into_iter().map(|begin| (pair, begin, pieces.clone())));
        }
    }
    let (next, sequences) = (AtomicUsize::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((pair, begin, pieces)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    three_after(pair, begin, pieces);
                    sequences.fetch_add(pieces.len().pow(3) as u64, Ordering::Relaxed);
                }
            });
        }
    });
    println!("{} sequences of {} dialects", sequences.into_inner(), pairs.len());
}

fn three_after(pair: &Pair, begin: &str, pieces: &[String]) {
    let mut scanner = aside::Scanner::with_options(
        &pair.library,
        &aside::ScannerOptions::new().start(Start::Channel(Channel::Content)).calls(true),
    )
    .unwrap();
    let mut text = begin.to_string();
    for first in pieces {
        for second in pieces {
            for third in pieces {
                text.truncate(begin.len());
                text.extend([first.as_str(), second, third]);
                let text = text.as_bytes();
                let wanted = reference::read_with_calls(&pair.reference, text, Some("content"));
                let bytes = support::bytes(text);
                let mut check = |chunks: &[&[u8]]| {
                    let got = reference::joined_with_calls(&support::run(&mut scanner, chunks));
                    if got != wanted {
                        pair.check_calls(Some("content"), chunks, &wanted);
                        panic!("a scanner that was used before fails at {}", support::shown(chunks));
                    }
                };
                check(&bytes);
                for at in begin.len()..text.len() {
                    check(&[&text[..at], &text[at..]]);
                }
            }
        }
    }
}
