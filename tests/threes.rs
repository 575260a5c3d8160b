//! The heart, without chance: every sequence of three pieces out of {markers, their proper prefixes, framing, one letter,
//! newline, a character of two bytes}, of every dialect from every start: whole, at every cut into two, and byte by byte,
//! against the reference. `ASIDE_EVERY=1` runs all sequences, for hours; without it, those of the most telling pieces.
//! `ASIDE_DIALECT=NAME` runs one dialect.

mod reference;
mod support;

use reference::{Dialect, Event, What};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use support::Pair;

/// What a dialect's texts are made of. `few` are the pieces that tell most: whole markers (of a tag, two names), their
/// first bytes, each without its last byte, and what stands between them.
struct Pieces {
    few: Vec<Vec<u8>>,
    all: Vec<Vec<u8>>,
}

impl Pieces {
    fn new(dialect: &Dialect) -> Pieces {
        let mut few: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut all: BTreeSet<Vec<u8>> = BTreeSet::new();
        for between in ["a", "\n", "é"] {
            few.insert(between.into());
        }
        for framing in dialect.spans.iter().map(|span| &span.framing) {
            let parts = [&framing.before_open, &framing.after_open, &framing.before_close, &framing.after_close];
            for part in parts.into_iter().filter(|part| !part.is_empty()) {
                few.insert(part.as_bytes().to_vec());
            }
        }
        for marker in markers(dialect, 2) {
            few.insert(marker[..1].to_vec());
            few.insert(marker[..(marker.len() - 1).max(1)].to_vec());
            few.insert(marker);
        }
        for marker in markers(dialect, usize::MAX) {
            let upper = marker.to_ascii_uppercase();
            for end in 1..=marker.len() {
                all.insert(marker[..end].to_vec());
                if dialect.case.as_deref() == Some("ascii") {
                    all.insert(upper[..end].to_vec());
                }
            }
        }
        all.extend(few.iter().cloned());
        Pieces { few: few.into_iter().collect(), all: all.into_iter().collect() }
    }
}

/// A dialect's markers, each form of a tag or fence that its file allows once; of a tag, so many names.
fn markers(dialect: &Dialect, names: usize) -> BTreeSet<Vec<u8>> {
    let mut markers = BTreeSet::new();
    let mut add = |text: String| {
        markers.insert(text.into_bytes());
    };
    dialect.drop.iter().cloned().for_each(&mut add);
    for span in &dialect.spans {
        span.open.iter().chain(&span.close).chain(&span.quote).cloned().for_each(&mut add);
        for (name, tag) in span.tag.iter().flat_map(|tag| tag.names.iter().take(names).map(move |name| (name, tag))) {
            add(format!("<{name}>"));
            add(format!("</{name}>"));
            if tag.space > 0 {
                add(format!("< / {name} >"));
            }
            if tag.suffix > 0 {
                add(format!("<{name}:x>"));
            }
            if tag.attributes.is_some() {
                add(format!("<{name} b=\"&lt;>\">"));
            }
            if tag.self_close {
                add(format!("<{name}/>"));
            }
        }
        if let Some(word) = &span.fence {
            add(format!("```{word}\n"));
            add("\n```\n".into());
        }
    }
    if let Some(header) = &dialect.header {
        header.begin.iter().chain(&header.end).chain(&header.close).cloned().for_each(&mut add);
        header.keys.values().cloned().for_each(&mut add);
    }
    if !dialect.guard.is_empty() {
        add("```\n".into());
    }
    markers
}

/// Holds events against those wanted, one by one; text may come in parts.
struct Check<'a> {
    wanted: &'a [Event],
    /// Bytes of the first wanted event that have come.
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
            // The bytes first: they need no copy.
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
    /// As new after each text's end: one serves for all.
    scanner: aside::Scanner,
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
            // Once more with a scanner of its own, which says what differs.
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
    }
}

/// One dialect from one start, all sequences that begin with one piece.
struct Job<'a> {
    pair: &'a Pair,
    start: &'a str,
    pieces: &'a [Vec<u8>],
    first: &'a [u8],
}

impl Job<'_> {
    fn run(&self) -> u64 {
        let scanner = support::scanner(&self.pair.library, Some(self.start), None);
        let mut runs = Runs { pair: self.pair, start: self.start, scanner };
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

#[test]
fn three_pieces_at_every_cut() {
    let every = std::env::var_os("ASIDE_EVERY").is_some();
    let only = std::env::var("ASIDE_DIALECT").ok();
    let pairs: Vec<Pair> =
        Pair::all().into_iter().filter(|pair| only.as_ref().is_none_or(|name| *name == pair.reference.name)).collect();
    let pieces: Vec<Pieces> = pairs.iter().map(|pair| Pieces::new(&pair.reference)).collect();
    let mut jobs = Vec::new();
    for (pair, pieces) in pairs.iter().zip(&pieces) {
        let pieces = if every { &pieces.all } else { &pieces.few };
        for start in pair.reference.starts() {
            println!(
                "{} from {start}: {} pieces, {} sequences",
                pair.reference.name,
                pieces.len(),
                pieces.len().pow(3)
            );
            jobs.extend(pieces.iter().map(|first| Job { pair, start, pieces, first }));
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
