//! Helpers for the test files: feed a text to a scanner in chunks, and compare the result with the reference.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use aside::{Cause, Channel, Dialect, EndReason, Error, Kind, Scanner, ScannerOptions, StrayClose, Thought, Token};
use reference::{Call, Event, Part, Stray, What};
use samples::{Random, Texts};

pub mod accounts;
pub mod c;
pub mod callgrind;
pub mod calls;
pub mod client;
pub mod columns;
pub mod hostile;
pub mod messages;
pub mod program;
#[cfg(feature = "compress")]
pub mod report;
pub mod rewriting;
pub mod told;

/// The project's folder.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the scanner's event in the form of the reference.
pub fn owned(event: &aside::Event<'_>) -> Event {
    let what = match &event.kind {
        Kind::Open { rule, tag } => What::Open { rule: *rule as usize, tag: *tag as usize },
        Kind::Attribute(attribute) => What::Attribute {
            name: attribute.name.to_vec(),
            value: attribute.value.to_vec(),
            raw: attribute.raw_value.clone(),
        },
        Kind::Text => What::Text,
        Kind::Framing => What::Framing,
        Kind::Close(Cause::Marker) => What::Close(reference::MARKER),
        Kind::Close(Cause::Implied) => What::Close(reference::IMPLIED),
        Kind::Close(Cause::EndOfStream) => What::Close(reference::END),
        Kind::Close(Cause::Forced) => What::Close(reference::FORCED),
        Kind::Close(Cause::Malformed) => unreachable!("no span ends so"),
        Kind::Reclassify => What::Reclassify,
        Kind::Budget => What::Budget,
        Kind::Call { table, index, .. } => What::Call(Call::Begin { table: *table as usize, index: *index as usize }),
        Kind::CallName(name) => What::Call(Call::Name(name.map(<[u8]>::to_vec))),
        Kind::CallId => What::Call(Call::Id),
        Kind::CallKey => What::Call(Call::Key),
        Kind::CallType => What::Call(Call::Type),
        Kind::CallValue => What::Call(Call::Value),
        Kind::CallValueEnd { is_repaired } => What::Call(Call::ValueEnd { is_repaired: *is_repaired }),
        Kind::CallEnd { index, cause, is_repaired } => {
            let cause = match cause {
                Cause::Malformed => reference::MALFORMED,
                cause => cause.as_str(),
            };
            What::Call(Call::End { index: *index as usize, cause, is_repaired: *is_repaired })
        }
        other => unreachable!("an event of a new kind: {other:?}"),
    };
    Event {
        what,
        channel: event.channel.as_str(),
        offset: event.offset as usize,
        bytes: event.bytes.to_vec(),
        part: Part::None,
    }
}

/// Counts the spans of a channel. Content that turns out to be thinking counts as one span, and thinking that turns out to be
/// content does not count.
pub fn spans(events: &[Event], channel: Channel) -> u64 {
    let is_answer = |event: &Event| event.what == What::Reclassify && event.channel == "content";
    let answer = events.iter().position(is_answer).filter(|_| channel == Channel::Thinking);
    let here = events[answer.unwrap_or(0)..].iter().filter(|event| event.channel == channel.as_str());
    let counts = |event: &&Event| match event.what {
        What::Open { .. } => true,
        What::Reclassify => channel == Channel::Thinking,
        _ => false,
    };
    here.filter(counts).count() as u64
}

/// Adds an event. Text is joined with the text before it.
pub fn push(events: &mut Vec<Event>, event: aside::Event<'_>) {
    if let (Kind::Text, Some(last)) = (&event.kind, events.last_mut())
        && last.what == What::Text
        && last.channel == event.channel.as_str()
        && last.offset + last.bytes.len() == event.offset as usize
        && !event.bytes.is_empty()
    {
        last.bytes.extend_from_slice(event.bytes);
        return;
    }
    events.push(owned(&event));
}

pub fn scanner(dialect: &Dialect, start: Option<&str>, collect: Option<usize>) -> Scanner {
    let start = start.map(|start| start.parse().unwrap());
    let options = ScannerOptions::new().start(start).collect(collect);
    Scanner::with_options(dialect, &options)
        .unwrap_or_else(|error| panic!("{} from {start:?}: {error:?}", dialect.name()))
}

/// The options for stray closers, for the library and for the reference.
pub const STRAYS: [(StrayClose, Stray); 2] = [(StrayClose::Text, Stray::Text), (StrayClose::Drop, Stray::Drop)];

/// Returns a scanner for a host that sets the treatment of stray closers.
pub fn scanner_with_stray(dialect: &Dialect, start: &str, stray_close: StrayClose) -> Scanner {
    let options = ScannerOptions::new().start(start.parse::<aside::Start>().unwrap()).stray_close(stray_close);
    Scanner::with_options(dialect, &options).unwrap()
}

/// Returns all events of a stream that the model has ended, with neighbouring text joined.
pub fn run_ended(scanner: &mut Scanner, chunks: &[&[u8]]) -> Vec<Event> {
    scanner.end_reason(EndReason::Ended);
    run(scanner, chunks)
}

/// Returns all events of a stream, with neighbouring text joined.
pub fn run(scanner: &mut Scanner, chunks: &[&[u8]]) -> Vec<Event> {
    let mut events = Vec::new();
    for chunk in chunks {
        scanner.feed(chunk, |event| push(&mut events, event)).unwrap();
    }
    scanner.finish(|event| push(&mut events, event)).unwrap();
    events
}

/// Returns all events of one stream, and its whole thoughts.
pub fn collect(scanner: &mut Scanner, chunks: &[&[u8]]) -> (Vec<Event>, Vec<Thought>) {
    let mut events = Vec::new();
    let mut thoughts = Vec::new();
    for chunk in chunks {
        scanner.feed(chunk, |event| push(&mut events, event)).unwrap();
        thoughts.extend(std::iter::from_fn(|| scanner.take_thought()));
    }
    scanner.finish(|event| push(&mut events, event)).unwrap();
    thoughts.extend(std::iter::from_fn(|| scanner.take_thought()));
    (events, thoughts)
}

/// Collects events and thoughts, the thoughts in the form of the reference. Checks that no thought was truncated.
pub fn collect_whole(scanner: &mut Scanner, chunks: &[&[u8]]) -> (Vec<Event>, Vec<reference::Thought>) {
    let (events, thoughts) = collect(scanner, chunks);
    let whole = |thought: Thought| {
        assert!(!thought.truncated);
        reference::Thought {
            text: thought.text,
            attributes: thought.attributes,
            cause: thought.cause.as_str(),
            thought_type: thought.thought_type,
            confidence: thought.confidence,
            offset: thought.offset as usize,
        }
    };
    (events, thoughts.into_iter().map(whole).collect())
}

/// Makes random tokens for a text: sometimes a tag is one token, and any token may be special.
pub fn tokens(text: &[u8], random: &mut Random) -> Vec<Token> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let tag = text[at..].iter().position(|&byte| byte == b'>').filter(|_| text[at] == b'<');
        let len = match tag {
            Some(end) if !random.one_in(3) => end + 1,
            _ => (1 + random.below(4)).min(text.len() - at),
        };
        list.push(if random.one_in(2) { Token::special(len as u32) } else { Token::text(len as u32) });
        at += len;
    }
    list
}

/// Returns each token with its position.
pub fn begins(tokens: &[Token]) -> impl Iterator<Item = (usize, &Token)> {
    tokens.iter().scan(0, |end, token| {
        let at = *end;
        *end += token.len() as usize;
        Some((at, token))
    })
}

/// Returns the positions of special tokens.
pub fn special(tokens: &[Token]) -> BTreeSet<usize> {
    begins(tokens).filter(|(_, token)| token.is_special()).map(|(at, _)| at).collect()
}

/// Returns a text with a `§` before each special token.
pub fn with_special(text: &[u8], special: &BTreeSet<usize>) -> String {
    let sign = |at: usize| if special.contains(&at) { "§" } else { "" };
    text.iter().enumerate().map(|(at, byte)| format!("{}{}", sign(at), byte.escape_ascii())).collect()
}

/// Returns all events of a stream that is fed with these tokens, with neighbouring text joined.
pub fn feed_tokens(
    scanner: &mut Scanner,
    text: &[u8],
    tokens: &[Token],
    random: &mut Random,
    stops: bool,
) -> Vec<Event> {
    let mut events = Vec::new();
    feed_some_tokens(scanner, text, tokens, random, stops, &mut events);
    scanner.finish(|event| push(&mut events, event)).unwrap();
    reference::joined(&events)
}

/// Feeds the text with its tokens, a few tokens in each call. With `stops`, most calls are stopped after every event, and
/// events may still be pending at the end.
pub fn feed_some_tokens(
    scanner: &mut Scanner,
    text: &[u8],
    tokens: &[Token],
    random: &mut Random,
    stops: bool,
    events: &mut Vec<Event>,
) {
    let (mut text, mut tokens) = (text, tokens.to_vec());
    while !tokens.is_empty() {
        let count = 1 + random.below(tokens.len());
        let length: usize = tokens[..count].iter().map(|token| token.len() as usize).sum();
        if !stops || random.one_in(4) {
            scanner.feed_tokens(&text[..length], &tokens[..count], |event| push(events, event)).unwrap();
            text = &text[length..];
            tokens.drain(..count);
            continue;
        }
        let mut pulled = scanner.token_events(&text[..length], &tokens[..count]).unwrap();
        match pulled.next().unwrap() {
            Some(event) => push(events, event),
            None => assert_eq!(pulled.consumed(), length, "no event left, but bytes are"),
        }
        let mut consumed = pulled.consumed();
        drop(pulled);
        // Pending events may be reported by an empty feed, which must not end the token.
        if random.one_in(4) {
            scanner.feed(b"", |event| push(events, event)).unwrap();
        }
        text = &text[consumed..];
        while consumed > 0 {
            let token = tokens.remove(0);
            if let Some(rest) = (token.len() as usize).checked_sub(consumed).filter(|&rest| rest > 0) {
                let rest = rest as u32;
                tokens.insert(0, if token.is_special() { Token::special(rest) } else { Token::text(rest) });
            }
            consumed = consumed.saturating_sub(token.len() as usize);
        }
    }
}

/// Reads one event at a time: the iterator is dropped after each event, and the rest of the chunk is fed again.
pub fn run_stopping(scanner: &mut Scanner, chunks: &[&[u8]]) -> Vec<Event> {
    let mut events = Vec::new();
    for chunk in chunks {
        let mut rest: &[u8] = chunk;
        loop {
            let mut pulled = scanner.events(rest);
            let done = match pulled.next().unwrap() {
                Some(event) => {
                    push(&mut events, event);
                    false
                }
                None => true,
            };
            rest = &rest[pulled.consumed()..];
            if done {
                assert!(rest.is_empty(), "no event left, but {} bytes are", rest.len());
                break;
            }
        }
    }
    loop {
        let mut pulled = scanner.finish_events();
        match pulled.next() {
            Ok(Some(event)) => push(&mut events, event),
            Ok(None) => return events,
            Err(error) => panic!("finish: {error:?}"),
        }
        drop(pulled);
        // A paused finish must be completed before anything else is fed.
        let pending = scanner.feed(b"x", |_| panic!("an event of a refused feed"));
        match pending {
            Err(Error::FinishPending) => {}
            other => panic!("a feed after half a finish: {other:?}"),
        }
    }
}

pub fn cut<'a>(text: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    let mut from = 0;
    for &cut in cuts {
        chunks.push(&text[from..cut]);
        from = cut;
    }
    chunks.push(&text[from..]);
    chunks
}

pub fn bytes(text: &[u8]) -> Vec<&[u8]> {
    text.chunks(1).collect()
}

/// Returns ways to cut a text: each place is cut once, with the other cuts 256 bytes away; then all places are cut; then every 251st
/// place alone, so that chunks are long. Two chunks for each place would take time that grows with the square of the length.
pub fn cuts(text: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    const APART: usize = 256;
    let far = (0..text.len().min(APART)).map(|at| {
        let (first, rest) = text.split_at(at);
        std::iter::once(first).chain(rest.chunks(APART)).collect()
    });
    let alone = (0..text.len()).step_by(251).map(|at| <[_; 2]>::from(text.split_at(at)).to_vec());
    far.chain([bytes(text)]).chain(alone)
}

/// Cuts a text into pieces of 1 to `most` bytes, and sometimes an empty piece.
pub fn random_cuts<'a>(random: &mut Random, text: &'a [u8], most: usize) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    let mut from = 0;
    while from < text.len() {
        let length = random.below(most + 1).min(text.len() - from);
        chunks.push(&text[from..from + length]);
        from += length;
    }
    chunks
}

/// Describes the first place at which two lists of events differ.
pub fn difference(wanted: &[Event], got: &[Event]) -> Option<String> {
    if wanted == got {
        return None;
    }
    let same = wanted.iter().zip(got).take_while(|(a, b)| a == b).count();
    let show = |events: &[Event]| match events.get(same) {
        Some(event) => format!("{event:?}"),
        None => "nothing".to_string(),
    };
    let before = match same {
        0 => "at the first event".to_string(),
        _ => format!("after {:?}", wanted[same - 1]),
    };
    Some(format!("{before}\n  wanted {}\n  got    {}", show(wanted), show(got)))
}

pub fn shown(chunks: &[&[u8]]) -> String {
    let chunks: Vec<String> = chunks.iter().map(|chunk| format!("\"{}\"", chunk.escape_ascii())).collect();
    chunks.join(" · ")
}

/// Returns a file or folder of `../shared`, which is not part of the project. If it is missing, prints on standard error that
/// the test is skipped, even if the test's output is captured.
pub fn shared(path: &str) -> Option<PathBuf> {
    let place = Path::new(ROOT).join("../shared").join(path);
    let is_there = place.exists();
    if !is_there {
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped in {test}: ../shared/{path} is not here");
    }
    is_there.then_some(place)
}

/// Lists a folder of `../shared` like `files`; returns nothing if it is missing.
pub fn shared_files(folder: &str) -> Vec<PathBuf> {
    shared(folder).map(files).unwrap_or_default()
}

/// Lists the contents of a folder in order, so that a seed has the same result everywhere.
pub fn files(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let folder = folder.as_ref();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs `each` with random texts and the examples of every dialect, from each of its starts.
pub fn samples(test: &str, rounds: usize, each: impl Fn(&Pair, &str, &[u8], &mut Random)) {
    let mut random = Random::announced(test);
    for pair in Pair::all() {
        for example in &pair.reference.examples {
            let start = example.start.as_ref().or(pair.reference.start.as_ref());
            each(&pair, start.map_or("content", String::as_str), example.input.as_bytes(), &mut random);
        }
        let texts = Texts::new(&pair.reference);
        for start in pair.reference.starts() {
            for _ in 0..rounds {
                let length = 1 + random.below(150);
                let text = texts.next(&mut random, length);
                each(&pair, start, &text, &mut random);
            }
        }
    }
}

/// A dialect, read by the library and by the reference.
pub struct Pair {
    pub library: Dialect,
    pub reference: reference::Dialect,
}

impl Pair {
    pub fn new(reference: reference::Dialect) -> Pair {
        let library = Dialect::find(&reference.name).unwrap();
        Pair { library, reference }
    }

    pub fn parse(text: &str) -> Pair {
        let library = Dialect::load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Pair { library, reference: reference::Dialect::parse(text).unwrap() }
    }

    /// Returns the built-in dialects, and those of `tests/dialects`, which combine features that no model needs together.
    pub fn all() -> Vec<Pair> {
        let own = files(Path::new(ROOT).join("tests/dialects"));
        let own = own.iter().map(|file| Pair::parse(&std::fs::read_to_string(file).unwrap()));
        reference::all().into_iter().map(Pair::new).chain(own).collect()
    }

    pub fn find(name: &str) -> Pair {
        Pair::new(reference::find(name).unwrap())
    }

    /// Compares the result for these chunks with the reference's result for the whole text.
    pub fn check(&self, start: Option<&str>, chunks: &[&[u8]], wanted: &[Event]) {
        let got = run(&mut scanner(&self.library, start, None), chunks);
        self.same(start, chunks, wanted, &got);
    }

    pub fn same(&self, start: Option<&str>, chunks: &[&[u8]], wanted: &[Event], got: &[Event]) {
        if let Some(difference) = difference(wanted, got) {
            panic!(
                "{} from {}: {difference}\n  chunks {}",
                self.reference.name,
                start.unwrap_or("its own start"),
                shown(chunks)
            );
        }
    }

    /// Compares the result for these chunks with the reference's, for a host that wants calls.
    pub fn check_calls(&self, start: Option<&str>, chunks: &[&[u8]], wanted: &[Event]) {
        if let Some(difference) = self.difference_of_calls(start, chunks, wanted) {
            let (name, start) = (&self.reference.name, start.unwrap_or("its own start"));
            panic!("{name} from {start}: {difference}\n  chunks {}", shown(chunks));
        }
    }

    /// Describes the first place at which the results for a host that wants calls differ.
    pub fn difference_of_calls(&self, start: Option<&str>, chunks: &[&[u8]], wanted: &[Event]) -> Option<String> {
        let options = ScannerOptions::new().start(start.map(|start| start.parse().unwrap())).calls(true);
        let mut scanner = Scanner::with_options(&self.library, &options).unwrap();
        difference(wanted, &reference::joined_with_calls(&run(&mut scanner, chunks)))
    }

    /// Returns whether the dialect describes the form of calls.
    pub fn has_calls(&self) -> bool {
        let header = self.reference.header.iter().flat_map(|header| &header.calls);
        self.reference.spans.iter().flat_map(|span| &span.calls).chain(header).next().is_some()
    }

    /// Checks every way to cut a text in two.
    pub fn check_twos(&self, start: Option<&str>, text: &[u8], wanted: &[Event]) {
        for at in 0..=text.len() {
            self.check(start, &[&text[..at], &text[at..]], wanted);
        }
    }

    /// Checks every way to cut a text in three.
    pub fn check_threes(&self, start: Option<&str>, text: &[u8], wanted: &[Event]) {
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let chunks = [&text[..first], &text[first..second], &text[second..]];
                self.check(start, &chunks, wanted);
            }
        }
    }
}
