//! A host may stop a call after any event and never feed the rest of the chunk, because it cancels the stream or closes it by
//! force. This test pauses at every event of every example, with every action of the host after the pause.
//!
//! After a pause, these properties must hold, where `P` is the consumed text:
//!
//! - The reported events, with those that an empty feed adds, are a prefix of the events of the whole text, and include at least
//!   the events of `P` fed alone. There may be more events, because the bytes after `P` may have decided that an opener counts or
//!   that a `<` is text. Such a decision is final.
//! - If there are no more events than those of `P` (after six of seven pauses), the scanner has the same state as after `P` alone.
//!   Whatever the host does next, the events, the counts and the held bytes are those of a scanner that was fed only `P`, and at
//!   the end those of the reference.
//! - If the additional events are only text, it is the text that a flush after `P` releases. So after a flush, both scanners have
//!   the same state.
//! - In every case, the events have all bytes in order, and at the end every open span and call is closed.
//! - If the host feeds the rest, it gets the remaining events of the whole text.

use std::ffi::c_void;
use std::path::Path;
use std::ptr;

use aside::{Channel, Scanner, ScannerOptions, Start, Token};
use reference::{Call, Event, Part, What};
use samples::Random;
use support::{Pair, c};

/// A text and how a host feeds it.
struct Case<'a> {
    pair: &'a Pair,
    start: Option<&'a str>,
    calls: bool,
    text: &'a [u8],
    tokens: Option<&'a [Token]>,
    /// How many bytes of the text an earlier call gets, before the call that is stopped.
    before: usize,
}

/// A host's action after it has stopped a call.
#[derive(Clone, Copy, Debug)]
enum After<'a> {
    Finish,
    Flush,
    ForceClose,
    Clone,
    Feed(&'a [u8]),
}

/// Returns the tokens of a part of the text. A token at an end of the part is cut to the bytes inside.
fn part(tokens: &[Token], from: usize, to: usize) -> Vec<Token> {
    let of = |(at, token): (usize, &Token)| {
        let len = (at + token.len() as usize).min(to).saturating_sub(at.max(from)) as u32;
        (len > 0).then(|| if token.is_special() { Token::special(len) } else { Token::text(len) })
    };
    support::begins(tokens).filter_map(of).collect()
}

impl Case<'_> {
    fn scanner(&self) -> Scanner {
        let start = self.start.map(|start| start.parse::<Start>().unwrap());
        let options = ScannerOptions::new().start(start).calls(self.calls);
        Scanner::with_options(&self.pair.library, &options).unwrap()
    }

    fn joined(&self, events: &[Event]) -> Vec<Event> {
        if self.calls { reference::joined_with_calls(events) } else { reference::joined(events) }
    }

    /// Feeds a part of the text, and stops after `most` events. Returns how much of the text is consumed.
    fn feed(&self, scanner: &mut Scanner, from: usize, to: usize, most: usize, events: &mut Vec<Event>) -> usize {
        let chunk = &self.text[from..to];
        let tokens = self.tokens.map(|tokens| part(tokens, from, to));
        let mut pulled = match &tokens {
            Some(tokens) => scanner.token_events(chunk, tokens).unwrap(),
            None => scanner.events(chunk),
        };
        for _ in 0..most {
            let Some(event) = pulled.next().unwrap() else { break };
            events.push(support::owned(&event));
        }
        from + pulled.consumed()
    }

    /// Returns the reference's result for the beginning of the text.
    fn wanted(&self, end: usize) -> Vec<Event> {
        let (dialect, text, start) = (&self.pair.reference, &self.text[..end], self.start);
        let special = self.tokens.map(|tokens| support::special(&part(tokens, 0, end)));
        match (self.calls, special) {
            (true, Some(special)) => reference::read_tokens_with_calls(dialect, text, start, &special),
            (false, Some(special)) => reference::read_tokens(dialect, text, start, &special),
            (true, None) => reference::read_with_calls(dialect, text, start),
            (false, None) => reference::read(dialect, text, start),
        }
    }

    fn shown(&self) -> String {
        let (before, text) = self.text.split_at(self.before);
        let (name, start) = (&self.pair.reference.name, self.start.unwrap_or("its own start"));
        let texts = support::shown(&[before, text]);
        format!("{name} from {start}, calls {}: {texts}, {:?}", self.calls, self.tokens)
    }
}

/// Performs the actions after the pause, and ends the stream.
fn follow(scanner: &mut Scanner, after: After, events: &mut Vec<Event>) {
    let mut push = |event: aside::Event<'_>| events.push(support::owned(&event));
    match after {
        After::Finish => {}
        After::Flush => scanner.flush(&mut push).unwrap(),
        After::ForceClose => scanner.force_close(&mut push).unwrap(),
        After::Clone => *scanner = scanner.clone(),
        After::Feed(text) => scanner.feed(text, &mut push).unwrap(),
    }
    scanner.finish(&mut push).unwrap();
}

fn counts(scanner: &Scanner) -> [aside::Counts; 4] {
    Channel::ALL.map(|channel| scanner.counts(channel))
}

/// Returns whether `of` begins with `events`. The last of `events` may be the beginning of its counterpart.
fn begins(events: &[Event], of: &[Event]) -> bool {
    let Some((last, before)) = events.split_last() else { return true };
    let Some(other) = of.get(before.len()) else { return false };
    let is_beginning = (&last.what, last.channel, last.offset) == (&other.what, other.channel, other.offset)
        && other.bytes.starts_with(&last.bytes);
    is_beginning && before == &of[..before.len()] && (last == other || before.len() < of.len())
}

/// Fails unless the events of a whole stream have all its bytes in order, and every span and call is closed.
fn check_whole(events: &[Event], text: &[u8], shown: &dyn Fn() -> String) {
    let mut at = 0;
    let (mut spans, mut calls) = (0, 0);
    for event in events {
        match &event.what {
            What::Open { .. } => spans += 1,
            What::Close(_) => spans -= 1,
            What::Call(Call::Begin { .. }) => calls += 1,
            What::Call(Call::End { .. }) => calls -= 1,
            _ => {}
        }
        assert!(spans >= 0 && (0..=1).contains(&calls), "{events:#?} of {}", shown());
        assert!(event.bytes.is_empty() || event.offset == at, "{events:#?} of {}", shown());
        assert!(text[at..].starts_with(&event.bytes), "{events:#?} of {}", shown());
        at += event.bytes.len();
    }
    assert_eq!((at, spans, calls), (text.len(), 0, 0), "{events:#?} of {}", shown());
}

#[derive(Default)]
struct Told {
    pauses: usize,
    /// The pauses after which the scanner has the same state as after the consumed bytes alone.
    same: usize,
    /// The pauses after which the scanner has the same state as after the consumed bytes and a flush.
    text: usize,
}

fn check_pauses(case: &Case, others: &[&[u8]], told: &mut Told) {
    let whole = case.joined(&case.wanted(case.text.len()));
    for most in 1.. {
        let (mut paused, mut events) = (case.scanner(), Vec::new());
        case.feed(&mut paused, 0, case.before, usize::MAX, &mut events);
        let before = events.len();
        let end = case.feed(&mut paused, case.before, case.text.len(), most, &mut events);
        if events.len() < before + most {
            break;
        }
        let shown = || format!("{}\nstopped after event {most}, {end} bytes are consumed", case.shown());
        assert_eq!(paused.offset() as usize, end, "{}", shown());

        // An empty feed reports the pending events.
        let (mut due, mut all) = (paused.clone(), events.clone());
        due.feed(b"", |event| all.push(support::owned(&event))).unwrap();
        let (mut alone, mut wanted) = (case.scanner(), Vec::new());
        case.feed(&mut alone, 0, end, usize::MAX, &mut wanted);
        let (all, beginning) = (case.joined(&all), case.joined(&wanted));
        assert!(begins(&all, &whole), "{all:#?} is no beginning of\n{whole:#?}: {}", shown());
        assert!(begins(&beginning, &all), "{all:#?} has less than\n{beginning:#?}: {}", shown());
        let is_same = all == beginning;
        let mut more = all.iter().filter(|event| !beginning.contains(event)).peekable();
        let is_text = more.peek().is_some() && more.all(|event| event.what == What::Text);
        told.pauses += 1;
        told.same += usize::from(is_same);
        told.text += usize::from(is_text);
        if is_same {
            assert_eq!((due.held(), counts(&due)), (alone.held(), counts(&alone)), "{}", shown());
        }

        let afters = [After::Finish, After::Flush, After::ForceClose, After::Clone];
        for after in afters.into_iter().chain(others.iter().map(|other| After::Feed(other))) {
            let shown = || format!("{}, then {after:?}", shown());
            let fed = match after {
                After::Feed(other) => [&case.text[..end], other].concat(),
                _ => case.text[..end].to_vec(),
            };
            let go_on = |scanner: &Scanner, before: &[Event], flushes: bool| {
                let (mut scanner, mut events) = (scanner.clone(), before.to_vec());
                if flushes {
                    scanner.flush(|event| events.push(support::owned(&event))).unwrap();
                }
                follow(&mut scanner, after, &mut events);
                (scanner, events)
            };
            let (mut next, got) = go_on(&paused, &events, false);
            check_whole(&got, &fed, &shown);
            if is_same || is_text {
                let (paused, got) = go_on(&paused, &events, is_text);
                let (alone, wanted) = go_on(&alone, &wanted, is_text);
                let difference = support::difference(&case.joined(&wanted), &case.joined(&got));
                assert!(difference.is_none(), "{}: {}", shown(), difference.unwrap());
                assert_eq!(counts(&paused), counts(&alone), "{}", shown());
                if is_same && matches!(after, After::Finish) {
                    let difference = support::difference(&case.wanted(end), &case.joined(&got));
                    assert!(difference.is_none(), "{}: {}", shown(), difference.unwrap());
                }
            }
            // Nothing of the earlier stream may remain in a new one.
            assert_eq!((next.offset(), next.held()), (0, &b""[..]), "{}", shown());
            if matches!(after, After::Finish) {
                check_next(case, &mut next, &whole, &shown);
            }
        }

        let mut reset = paused.clone();
        reset.reset();
        check_next(case, &mut reset, &whole, &shown);

        let mut rest = events;
        case.feed(&mut paused, end, case.text.len(), usize::MAX, &mut rest);
        follow(&mut paused, After::Finish, &mut rest);
        let difference = support::difference(&whole, &case.joined(&rest));
        assert!(difference.is_none(), "{}, then the rest: {}", shown(), difference.unwrap());
    }
}

/// Feeds the whole text as the next stream.
fn check_next(case: &Case, scanner: &mut Scanner, whole: &[Event], shown: &dyn Fn() -> String) {
    let mut events = Vec::new();
    case.feed(scanner, 0, case.text.len(), usize::MAX, &mut events);
    follow(scanner, After::Finish, &mut events);
    let difference = support::difference(whole, &case.joined(&events));
    assert!(difference.is_none(), "{}, the next stream: {}", shown(), difference.unwrap());
}

#[test]
fn a_pause_may_be_the_end_of_a_chunk() {
    let mut random = Random::announced("a_pause_may_be_the_end_of_a_chunk");
    let mut told = Told::default();
    for pair in &Pair::all() {
        for (example, calls) in pair.reference.examples.iter().flat_map(|example| [(example, false), (example, true)]) {
            let (start, text) = (example.start.as_deref(), example.input.as_bytes());
            let other = &text[random.below(text.len() + 1)..];
            let others: [&[u8]; 4] = [b"y", b"\n", b"</", other];
            let tokens = support::tokens(text, &mut random);
            let begins: Vec<usize> = support::begins(&tokens).map(|(at, _)| at).chain([0]).collect();
            let whole = Case { pair, start, calls, text, tokens: None, before: 0 };
            check_pauses(&whole, &others, &mut told);
            check_pauses(&Case { before: random.below(text.len() + 1), ..whole }, &others, &mut told);
            let with_tokens = Case { tokens: Some(&tokens), ..whole };
            check_pauses(&with_tokens, &others, &mut told);
            check_pauses(&Case { before: *random.pick(&begins), ..with_tokens }, &others, &mut told);
        }
    }
    let Told { pauses, same, text } = told;
    println!(
        "{pauses} pauses; after {same} the scanner is where the bytes alone lead, after {text} where a flush leads"
    );
    assert!(pauses > 50_000 && same * 10 > pauses * 8 && text > 100, "{pauses}, {same}, {text}");
}

// ------------------------------------------------------------------------------------------------------ through C

/// The events that a callback receives, and the number after which it stops.
struct Heard {
    events: Vec<Event>,
    patience: usize,
}

impl Heard {
    fn hear(&mut self, record: &c::Event, bytes: &[u8]) {
        let causes = [reference::MARKER, reference::IMPLIED, reference::END, reference::FORCED, reference::MALFORMED];
        let cause = causes[record.cause as usize];
        let (at, name) = (record.raw_value_at as usize, record.name_len as usize);
        let what = match record.kind {
            1 => What::Open { rule: record.rule as usize, tag: record.tag as usize },
            c::KIND_ATTRIBUTE => What::Attribute {
                name: bytes[..name].to_vec(),
                value: bytes[name..].to_vec(),
                raw: at..at + record.raw_value_len as usize,
            },
            c::KIND_TEXT => What::Text,
            4 => What::Framing,
            5 => What::Close(cause),
            6 => What::Reclassify,
            8 => What::Call(Call::Begin { table: record.tag as usize, index: record.call as usize }),
            9 => What::Call(Call::Name((record.value_len > 0).then(|| bytes.to_vec()))),
            10 => What::Call(Call::Id),
            11 => What::Call(Call::Key),
            12 => What::Call(Call::Type),
            13 => What::Call(Call::Value),
            14 => What::Call(Call::ValueEnd { is_repaired: record.tag == 1 }),
            15 => What::Call(Call::End { index: record.call as usize, cause, is_repaired: record.tag == 1 }),
            other => panic!("an event of kind {other}"),
        };
        let channel = Channel::ALL[record.channel as usize].as_str();
        let bytes = bytes[..record.len as usize].to_vec();
        self.events.push(Event { what, channel, offset: record.offset as usize, bytes, part: Part::None });
    }
}

fn byte_count(record: &c::Event) -> usize {
    match record.kind {
        9 => (record.len as usize).max(record.value_len as usize),
        _ => record.byte_count(),
    }
}

unsafe extern "C" fn hear(user: *mut c_void, record: *const c::Event, bytes: *const u8) -> i32 {
    let (heard, record) = unsafe { (&mut *user.cast::<Heard>(), &*record) };
    heard.hear(record, unsafe { std::slice::from_raw_parts(bytes, byte_count(record)) });
    heard.patience = heard.patience.saturating_sub(1);
    i32::from(heard.patience == 0)
}

/// Feeds a text until it has reported `most` events, with a callback that stops then or an array that is full then. Returns how
/// many bytes are consumed.
fn feed_some(scanner: c::Handle, text: &[u8], most: usize, is_array: bool, heard: &mut Heard) -> usize {
    if !is_array {
        heard.patience = most;
        let user = ptr::from_mut(heard).cast();
        let status = unsafe { c::aside_scanner_feed(scanner, text.as_ptr(), text.len(), Some(hear), user) };
        assert!(matches!(status, c::OK | c::STOPPED), "{status}");
        return unsafe { c::aside_scanner_consumed(scanner) };
    }
    let mut records = vec![c::Event::default(); most];
    let mut array = c::EventArray::new(&mut records);
    let status = unsafe { c::aside_scanner_feed_into(scanner, text.as_ptr(), text.len(), &mut array) };
    assert!(matches!(status, c::OK | c::MORE), "{status}");
    assert_eq!((array.offset, array.held.len), (0, 0), "the first call of a stream");
    let attributes = unsafe { array.attributes.get() };
    for record in &records[..array.count] {
        let is_attribute = record.kind == c::KIND_ATTRIBUTE || record.kind == c::KIND_CALL_NAME && record.value_len > 0;
        let (from, all) = match is_attribute {
            true => (record.text_at as usize, attributes),
            false => (record.offset as usize, text),
        };
        heard.hear(record, &all[from..from + byte_count(record)]);
    }
    array.consumed
}

/// Stops a C scanner after `most` events. Returns the number of consumed bytes, and all events for each of three next calls: an
/// empty feed, a finish, and a flush before the finish.
fn stopped_in_c(case: &Case, dialect: c::Handle, most: usize, is_array: bool) -> Option<(usize, [Vec<Event>; 3])> {
    let starts = ["content", "thinking", "narration", "tool", "header"];
    let start = case.start.map_or(0, |start| 1 + starts.iter().position(|name| *name == start).unwrap() as u32);
    let options = c::ScannerOptions { start, calls: case.calls.into(), ..c::ScannerOptions::default() };
    let mut heard = Heard { events: Vec::new(), patience: 0 };
    unsafe {
        let scanner = c::aside_scanner_new(dialect, &options);
        assert!(!scanner.is_null());
        let end = feed_some(scanner, case.text, most, is_array, &mut heard);
        if heard.events.len() < most {
            c::aside_scanner_free(scanner);
            return None;
        }
        let does: [unsafe extern "C" fn(c::Handle, c::EventFn, *mut c_void) -> i32; 2] =
            [c::aside_scanner_finish, c::aside_scanner_flush];
        let mut heard = [(); 3].map(|()| Heard { events: heard.events.clone(), patience: usize::MAX });
        let user = (&raw mut heard[0]).cast();
        let due = c::aside_scanner_clone(scanner);
        assert_eq!(c::aside_scanner_feed(due, ptr::null(), 0, Some(hear), user), c::OK);
        c::aside_scanner_free(due);
        for (does, heard) in does.iter().zip(&mut heard[1..]) {
            let (clone, user) = (c::aside_scanner_clone(scanner), ptr::from_mut(heard).cast());
            assert_eq!(does(clone, Some(hear), user), c::OK, "{}", case.shown());
            assert_eq!(c::aside_scanner_finish(clone, Some(hear), user), c::OK, "{}", case.shown());
            assert_eq!(c::aside_scanner_reset(clone), c::OK);
            c::aside_scanner_free(clone);
        }
        c::aside_scanner_free(scanner);
        Some((end, heard.map(|heard| heard.events)))
    }
}

#[test]
fn a_pause_may_be_the_end_of_a_chunk_in_c() {
    let (mut pauses, mut same) = (0, 0);
    for file in
        ["dialects", "tests/dialects"].iter().flat_map(|folder| support::files(Path::new(support::ROOT).join(folder)))
    {
        let toml = std::fs::read_to_string(file).unwrap();
        let pair = Pair::parse(&toml);
        let dialect = unsafe { c::aside_dialect_load(toml.as_ptr(), toml.len()) };
        assert!(!dialect.is_null());
        for (example, calls) in pair.reference.examples.iter().flat_map(|example| [(example, false), (example, true)]) {
            let (start, text) = (example.start.as_deref(), example.input.as_bytes());
            let case = Case { pair: &pair, start, calls, text, tokens: None, before: 0 };
            for is_array in [false, true] {
                for most in 1.. {
                    let Some((end, [due, finished, flushed])) = stopped_in_c(&case, dialect, most, is_array) else {
                        break;
                    };
                    let shown = || format!("{}\nstopped after event {most}, array {is_array}", case.shown());
                    let mut alone = Vec::new();
                    case.feed(&mut case.scanner(), 0, end, usize::MAX, &mut alone);
                    for events in [&finished, &flushed] {
                        check_whole(events, &text[..end], &shown);
                    }
                    pauses += 1;
                    if case.joined(&due) == case.joined(&alone) {
                        same += 1;
                        let difference = support::difference(&case.wanted(end), &case.joined(&finished));
                        assert!(difference.is_none(), "{}: {}", shown(), difference.unwrap());
                    }
                }
            }
        }
        unsafe { c::aside_dialect_free(dialect) };
    }
    assert!(pauses > 20_000 && same * 4 > pauses * 3, "{pauses}, {same}");
}
