//! Mixes all of C's functions for feeding in one stream: callbacks that stop, arrays of a few events, plain text, tokens, chunks
//! that are skipped without a call, and clones in between. The events must be those of the whole text, and the scanner's results
//! between the calls must agree with them.

use aside::{Budget, BudgetScope, BudgetUnit, Channel, Scanner};
use reference::{Part, Stray, What};
use samples::{Random, Texts};
use std::ffi::c_void;
use support::{Pair, c::*};

/// The events that a callback receives, and the number after which it stops.
struct Heard {
    events: Vec<reference::Event>,
    patience: usize,
}

impl Heard {
    fn hear(&mut self, record: &Event, bytes: &[u8]) {
        let what = match record.kind {
            1 => What::Open { rule: record.rule as usize, tag: record.tag as usize },
            KIND_ATTRIBUTE => What::Attribute {
                name: bytes[..record.name_len as usize].to_vec(),
                value: bytes[record.name_len as usize..].to_vec(),
                raw: record.raw_value_at as usize..(record.raw_value_at + record.raw_value_len) as usize,
            },
            KIND_TEXT => What::Text,
            4 => What::Framing,
            5 => What::Close(
                [reference::MARKER, reference::IMPLIED, reference::END, reference::FORCED][record.cause as usize],
            ),
            6 => What::Reclassify,
            7 => What::Budget,
            other => panic!("an event of kind {other}"),
        };
        assert!(what != What::Text || !bytes.is_empty(), "an empty text");
        self.events.push(reference::Event {
            channel: Channel::ALL[record.channel as usize].as_str(),
            offset: record.offset as usize,
            bytes: if record.kind == KIND_ATTRIBUTE { Vec::new() } else { bytes.to_vec() },
            part: Part::None,
            what,
        });
    }
}

unsafe extern "C" fn hear(user: *mut c_void, record: *const Event, bytes: *const u8) -> i32 {
    let (heard, record) = unsafe { (&mut *user.cast::<Heard>(), &*record) };
    heard.hear(record, unsafe { std::slice::from_raw_parts(bytes, record.byte_count()) });
    heard.patience = heard.patience.saturating_sub(1);
    i32::from(heard.patience == 0)
}

/// A C scanner in the middle of a stream.
struct Stream<'a> {
    handle: Handle,
    text: &'a [u8],
    /// How many bytes of the text are fed.
    at: usize,
    /// How many of these bytes were passed over without a call.
    passed: usize,
    heard: Heard,
}

impl<'a> Stream<'a> {
    /// Makes a stream. `start` replaces the start in `options`.
    fn new(dialect: Handle, start: &str, options: ScannerOptions, text: &'a [u8]) -> Stream<'a> {
        let starts = ["content", "thinking", "narration", "tool", "header"];
        let start = 1 + starts.iter().position(|name| *name == start).unwrap() as u32;
        let options = ScannerOptions { start, ..options };
        let handle = unsafe { aside_scanner_new(dialect, &options) };
        assert!(!handle.is_null());
        Stream { handle, text, at: 0, passed: 0, heard: Heard { events: Vec::new(), patience: 0 } }
    }

    fn finish(&mut self, random: &mut Random) {
        loop {
            self.heard.patience = 1 + random.below(4);
            let user = (&raw mut self.heard).cast();
            if unsafe { aside_scanner_finish(self.handle, Some(hear), user) } == OK {
                break;
            }
        }
        unsafe { aside_scanner_free(self.handle) };
    }

    /// Feeds a part of the text with a random function.
    fn feed(&mut self, random: &mut Random, most: usize, has_tokens: bool) {
        let chunk = self.chunk(random, most);
        self.feed_chunk(random, &chunk, most, has_tokens);
    }

    fn feed_chunk(&mut self, random: &mut Random, chunk: &[u8], most: usize, has_tokens: bool) {
        let (buf, len, user) = (chunk.as_ptr(), chunk.len(), (&raw mut self.heard).cast());
        self.heard.patience = if random.one_in(2) { usize::MAX } else { 1 + random.below(3) };
        let status = match random.below(if has_tokens { 5 } else { 4 }) {
            0 => return self.feed_array(chunk, 1 + random.below(4)),
            3 => return self.pass(random, most),
            1 => {
                let (offset, held) = unsafe { (aside_scanner_offset(self.handle), aside_scanner_held(self.handle)) };
                let channel = unsafe { aside_scanner_feed_text(self.handle, buf, len) };
                if channel >= 0 {
                    assert_eq!(held, 0, "text behind what is held");
                    self.hear_text(channel, offset, chunk);
                    OK
                } else {
                    unsafe { aside_scanner_feed(self.handle, buf, len, Some(hear), user) }
                }
            }
            2 => unsafe { aside_scanner_feed(self.handle, buf, len, Some(hear), user) },
            _ => {
                // Each byte is a special token, so the tokens have no effect on markers.
                let tokens: Vec<Token> = (0..len).map(|_| Token { len: 1, special: 1 }).collect();
                unsafe { aside_scanner_feed_tokens(self.handle, buf, len, tokens.as_ptr(), len, Some(hear), user) }
            }
        };
        let consumed = unsafe { aside_scanner_consumed(self.handle) };
        assert!(status == OK && consumed == len || status == STOPPED && consumed <= len, "{status}");
        self.at += consumed;
    }

    fn chunk(&self, random: &mut Random, most: usize) -> Vec<u8> {
        let len = (1 + random.below(most)).min(self.text.len() - self.at);
        self.text[self.at..self.at + len].to_vec()
    }

    fn hear_text(&mut self, channel: i32, offset: u64, text: &[u8]) {
        let (channel, len) = (channel as u32, text.len() as u64);
        self.heard.hear(&Event { kind: KIND_TEXT, channel, offset, len, ..Event::default() }, text);
    }

    /// Acts as a host for which a call is expensive: it passes over chunks of quiet bytes without a call, feeds plain text between
    /// them, and before any other call lets the scanner skip the passed bytes.
    fn pass(&mut self, random: &mut Random, most: usize) {
        let (mut quiet, mut passed) = ([0; 4], Vec::new());
        let mut all = 0;
        let tell = |handle, passed: &mut Vec<u8>| {
            let last = passed.last().copied().unwrap_or_default();
            assert_eq!(unsafe { aside_scanner_skip(handle, passed.len() as u64, last.into()) }, OK);
            passed.clear();
        };
        while self.at < self.text.len() && !random.one_in(8) {
            let mut channel = unsafe { aside_scanner_quiet(self.handle, quiet.as_mut_ptr()) };
            if channel == NOT_TEXT {
                break;
            }
            let chunk = self.chunk(random, most);
            if chunk.iter().all(|&byte| is_in(&quiet, byte)) {
                passed.extend_from_slice(&chunk);
                all += chunk.len();
            } else {
                tell(self.handle, &mut passed);
                channel = unsafe { aside_scanner_feed_text(self.handle, chunk.as_ptr(), chunk.len()) };
                if channel == NOT_TEXT {
                    break;
                }
            }
            self.hear_text(channel, self.at as u64, &chunk);
            self.at += chunk.len();
        }
        tell(self.handle, &mut passed);
        self.passed += all;
    }

    fn feed_array(&mut self, chunk: &[u8], capacity: usize) {
        let mut records = vec![Event::default(); capacity];
        let mut fed = EventArray::new(&mut records);
        let status = unsafe { aside_scanner_feed_into(self.handle, chunk.as_ptr(), chunk.len(), &mut fed) };
        assert!(status == OK && fed.consumed == chunk.len() || status == MORE, "{status}");
        assert_eq!(fed.offset as usize, self.at);
        let (held, attributes) = unsafe { (fed.held.get(), fed.attributes.get()) };
        for record in &records[..fed.count] {
            let (from, len) = (record.offset as usize, record.len as usize);
            let in_both = [held, &chunk[..fed.consumed]].concat();
            let bytes = match record.kind {
                KIND_ATTRIBUTE => &attributes[record.text_at as usize..][..record.byte_count()],
                _ if len == 0 => &[],
                _ => &in_both[from + held.len() - self.at..][..len],
            };
            self.heard.hear(record, bytes);
        }
        self.at += fed.consumed;
    }

    /// Compares the scanner's state between two calls with the events so far.
    fn check(&self) {
        let heard: usize = self.heard.events.iter().map(|event| event.bytes.len()).sum();
        unsafe {
            assert_eq!(aside_scanner_offset(self.handle) as usize, self.at);
            assert_eq!(aside_scanner_held(self.handle), self.at - heard);
        }
        for (number, channel) in (0..).zip(Channel::ALL) {
            let wanted = reference::channel(&self.heard.events, channel.as_str());
            let spans = support::spans(&self.heard.events, channel);
            let mut counts = Counts::default();
            assert_eq!(unsafe { aside_scanner_counts(self.handle, number, &mut counts) }, OK);
            let characters = wanted.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
            let counted = [counts.bytes, counts.characters, counts.spans];
            assert_eq!(counted, [wanted.len() as u64, characters as u64, spans], "{channel:?}");
        }
    }
}

/// Checks that no text event ends inside a character, if the whole text is valid UTF-8.
fn check_characters(text: &[u8], events: &[reference::Event]) {
    if std::str::from_utf8(text).is_ok() {
        let cut = events.iter().find(|event| event.what == What::Text && std::str::from_utf8(&event.bytes).is_err());
        assert!(cut.is_none(), "a character is cut: {cut:?}");
    }
}

/// Returns a text that nearly always looks like the beginning of a marker.
fn brink(texts: &Texts, random: &mut Random) -> Vec<u8> {
    const PIECES: &[&[u8]] = &[
        b"a",
        b" ",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"<",
        b"</",
        b"<|",
        b"`",
        b"```",
        b"\n```",
        b"`````",
        b"~~~",
        b"~~~~~",
        b"\0",
        "é".as_bytes(),
        "日".as_bytes(),
        "🧠".as_bytes(),
        b"            ",
        b"\t\t\t",
        b"\xE2",
        b"<\xEF\xBD",
        b"\xF0\x9F",
        b"\x80",
        b"\xFF",
        "\u{ff5c}".as_bytes(),
        "\u{25c1}".as_bytes(),
    ];
    let length = 1 + random.below(160);
    let mut text = Vec::new();
    while text.len() < length {
        if random.one_in(2) {
            let piece: &&[u8] = random.pick(PIECES);
            text.extend_from_slice(piece);
        } else {
            let length = 1 + random.below(30);
            text.extend(texts.next(random, length));
        }
    }
    text
}

fn load(toml: &str) -> Handle {
    let dialect = unsafe { aside_dialect_load(toml.as_ptr(), toml.len()) };
    assert!(!dialect.is_null());
    dialect
}

#[test]
fn all_ways_to_feed_give_the_same_events() {
    let mut random = Random::announced("all_ways_to_feed_give_the_same_events");
    let mut passed = 0;
    let folders = ["dialects", "tests/dialects"].map(|folder| format!("{}/{folder}", env!("CARGO_MANIFEST_DIR")));
    for file in folders.iter().flat_map(support::files) {
        let toml = std::fs::read_to_string(file).unwrap();
        let pair = Pair::parse(&toml);
        let texts = Texts::new(&pair.reference);
        let dialect = load(&toml);
        for start in pair.reference.starts() {
            for _ in 0..60 {
                let most = *random.pick(&[1, 3, 8, 40, 300]);
                let text: Vec<u8> = (0..1 + most / 100).flat_map(|_| brink(&texts, &mut random)).collect();
                let budget = random.one_in(3).then(|| {
                    let limit = random.below(40) as u64;
                    let unit = *random.pick(&[BudgetUnit::Bytes, BudgetUnit::Characters]);
                    let scope = *random.pick(&[BudgetScope::Span, BudgetScope::Stream]);
                    Budget::new(limit, unit, scope)
                });
                let stray = *random.pick(&[
                    None,
                    None,
                    Some((Stray::Text, STRAY_CLOSE_TEXT)),
                    Some((Stray::Drop, STRAY_CLOSE_DROP)),
                ]);
                let options = aside::ScannerOptions::new().start(start.parse::<aside::Start>().unwrap()).budget(budget);
                let (wanted, options) = match (budget, stray) {
                    (Some(budget), _) => {
                        let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
                        let options = ScannerOptions {
                            budget: budget.limit,
                            has_budget: 1,
                            budget_unit: budget.unit as u32,
                            budget_scope: budget.scope as u32,
                            ..ScannerOptions::default()
                        };
                        (support::run(&mut scanner, &[&text]), options)
                    }
                    (None, Some((stray, stray_close))) => {
                        let wanted = reference::read_with_stray(&pair.reference, &text, Some(start), stray);
                        (wanted, ScannerOptions { stray_close, ..ScannerOptions::default() })
                    }
                    (None, None) => (reference::read(&pair.reference, &text, Some(start)), ScannerOptions::default()),
                };
                let mut stream = Stream::new(dialect, start, options, &text);
                // Tokens are left out if they would matter: a special closer also counts inside the strings of calls, and a special
                // tag counts even if the text seems only to mention it.
                let is_spoken_of = pair.reference.guard.iter().any(|guard| guard == "inline");
                let has_tokens = !pair.has_calls() && !is_spoken_of && random.one_in(4);
                while stream.at < text.len() {
                    stream.feed(&mut random, most, has_tokens);
                    stream.check();
                    if random.one_in(8) {
                        let clone = unsafe { aside_scanner_clone(stream.handle) };
                        unsafe { aside_scanner_free(std::mem::replace(&mut stream.handle, clone)) };
                    }
                }
                stream.finish(&mut random);
                let got = reference::joined(&stream.heard.events);
                if let Some(difference) = support::difference(&wanted, &got) {
                    let (name, text) = (&pair.reference.name, text.escape_ascii());
                    panic!("{name} from {start} ({budget:?}, {stray:?}): {difference}\n{text}");
                }
                check_characters(&text, &stream.heard.events);
                passed += stream.passed;
            }
        }
        unsafe { aside_dialect_free(dialect) };
    }
    assert!(passed > 10_000, "{passed} bytes passed without a call");
}

/// Feeds chunks around the lengths that are examined at once, with one significant byte at each place.
#[test]
fn a_byte_counts_at_each_place_of_a_chunk_of_each_size() {
    const SIZES: [usize; 18] = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 33, 64, 65, 255, 256, 257];
    const BEFORE: [&[u8]; 8] = [b"", b"a. b", b"a.\n", b"a.\n\n", b"a ", b"a\n```rs\nb", b"x<", b"\xE6\x97"];
    let mut random = Random::announced("a_byte_counts_at_each_place_of_a_chunk_of_each_size");
    for file in support::files(format!("{}/dialects", env!("CARGO_MANIFEST_DIR"))) {
        let toml = std::fs::read_to_string(file).unwrap();
        let pair = Pair::parse(&toml);
        let mut bytes = b"\n \r<`~[|{}/>='\0\x80\xC3\xE6\xF0\xFF".to_vec();
        let inputs = || pair.reference.examples.iter().map(|example| example.input.as_bytes());
        bytes.extend(inputs().flatten().filter(|byte| !byte.is_ascii_alphanumeric()));
        let openings: Vec<&[u8]> = inputs().map(|input| &input[..input.len() / 2]).chain(BEFORE).collect();
        let dialect = load(&toml);
        for start in pair.reference.starts() {
            for size in SIZES.into_iter().flat_map(|size| [size; 6]) {
                let mut chunk = vec![*random.pick(b"eee "); size];
                chunk[random.below(size)] = *random.pick(&bytes);
                let before: [&[u8]; 2] = [*random.pick(&openings), *random.pick(&BEFORE)];
                let before = before.concat();
                let behind = random.pick::<&[u8]>(&openings);
                let text = [&before[..], &chunk, b"e", &chunk, behind].concat();
                let mut stream = Stream::new(dialect, start, ScannerOptions::default(), &text);
                for end in [before.len(), before.len() + size, before.len() + size + 1, text.len()] {
                    while stream.at < end {
                        stream.feed_chunk(&mut random, &text[stream.at..end], size, false);
                        stream.check();
                    }
                }
                stream.finish(&mut random);
                let (wanted, got) =
                    (reference::read(&pair.reference, &text, Some(start)), reference::joined(&stream.heard.events));
                if let Some(difference) = support::difference(&wanted, &got) {
                    panic!("{} from {start}: {difference}\n{}", pair.reference.name, text.escape_ascii());
                }
            }
        }
        unsafe { aside_dialect_free(dialect) };
    }
}

/// A chunk of a stream: where it ends, and its tokens if they are known.
struct Piece {
    end: usize,
    tokens: Option<Vec<Token>>,
}

/// Cuts a text into chunks, most of them with tokens, which are cut at random too. Returns the chunks, and the beginning of each
/// token.
fn pieces(text: &[u8], most: usize, random: &mut Random) -> (Vec<Piece>, Vec<usize>) {
    let (mut pieces, mut starts, mut at) = (Vec::new(), Vec::new(), 0);
    let has_plain = random.one_in(3);
    while at < text.len() {
        let end = (at + 1 + random.below(most)).min(text.len());
        if has_plain && random.one_in(3) {
            pieces.push(Piece { end, tokens: None });
            at = end;
            continue;
        }
        let mut tokens = Vec::new();
        while at < end {
            let len = random.below(7).min(end - at);
            tokens.push(Token { len: len as u32, special: random.below(2) as u32 });
            starts.extend((len > 0).then_some(at));
            at += len;
        }
        if random.one_in(4) {
            tokens.push(Token { len: 0, special: 0 });
        }
        pieces.push(Piece { end, tokens: Some(tokens) });
    }
    (pieces, starts)
}

/// Returns the tokens that are not completely consumed after `consumed` bytes. The first one has only its remaining length.
fn left_of(tokens: &[Token], mut consumed: usize) -> Vec<Token> {
    let mut left = tokens.to_vec();
    while let Some(first) = left.first_mut() {
        let len = first.len as usize;
        if len > consumed {
            first.len -= consumed as u32;
            break;
        }
        consumed -= len;
        left.remove(0);
    }
    left
}

/// Compares the tokens of each event with the beginnings of the tokens in the text.
struct Tokens<'a> {
    starts: &'a [usize],
    /// The number of bytes in the events so far.
    at: usize,
    patience: usize,
    about: &'a str,
}

impl Tokens<'_> {
    fn hear(&mut self, len: u64, first_token: u64, tokens: u32) {
        let before = |at: usize| self.starts.iter().filter(|&&start| start < at).count() as u64;
        let (first, end) = (before(self.at), before(self.at + len as usize));
        assert_eq!((first_token, u64::from(tokens)), (first, end - first), "at byte {} of {}", self.at, self.about);
        self.at += len as usize;
    }

    fn check_end(&self, text: &[u8]) {
        assert_eq!(self.at, text.len(), "{}", self.about);
    }
}

unsafe extern "C" fn hear_tokens(user: *mut c_void, record: *const Event, _: *const u8) -> i32 {
    let (heard, record) = unsafe { (&mut *user.cast::<Tokens<'_>>(), &*record) };
    heard.hear(record.len, record.first_token, record.tokens);
    heard.patience = heard.patience.saturating_sub(1);
    i32::from(heard.patience == 0)
}

/// Feeds with the Rust functions, and stops after some of the events.
fn feed_rust(scanner: &mut Scanner, text: &[u8], pieces: &[Piece], heard: &mut Tokens<'_>, random: &mut Random) {
    let mut at = 0;
    for piece in pieces {
        let mut tokens = piece.tokens.clone();
        loop {
            let chunk = &text[at..piece.end];
            let of_rust = |token: &Token| match token.special {
                0 => aside::Token::text(token.len),
                _ => aside::Token::special(token.len),
            };
            let rust: Option<Vec<aside::Token>> = tokens.as_ref().map(|tokens| tokens.iter().map(of_rust).collect());
            let mut hear = |event: aside::Event<'_>| {
                heard.hear(event.bytes.len() as u64, event.first_token, event.tokens);
            };
            if random.one_in(2) {
                match &rust {
                    Some(tokens) => scanner.feed_tokens(chunk, tokens, hear).unwrap(),
                    None => scanner.feed(chunk, hear).unwrap(),
                }
                at = piece.end;
                break;
            }
            let mut events = match &rust {
                Some(tokens) => scanner.token_events(chunk, tokens).unwrap(),
                None => scanner.events(chunk),
            };
            let mut patience = 1 + random.below(3);
            let is_done = loop {
                match events.next().unwrap() {
                    Some(event) => hear(event),
                    None => break true,
                }
                patience -= 1;
                if patience == 0 {
                    break false;
                }
            };
            let consumed = events.consumed();
            drop(events);
            at += consumed;
            tokens = tokens.map(|tokens| left_of(&tokens, consumed));
            if is_done {
                break;
            }
            if random.one_in(4) {
                *scanner = scanner.clone();
            }
        }
        assert_eq!(at, piece.end);
    }
    scanner.finish(|event| heard.hear(event.bytes.len() as u64, event.first_token, event.tokens)).unwrap();
}

/// Feeds with the C functions: with a callback that stops, into an array of a few events, or in both ways.
fn feed_c(scanner: Handle, text: &[u8], pieces: &[Piece], heard: &mut Tokens<'_>, ways: usize, random: &mut Random) {
    let mut records = vec![Event::default(); 1 + random.below(4)];
    let mut array = EventArray::new(&mut records);
    let mut at = 0;
    // Returns the status and the number of consumed bytes.
    let mut feed = |chunk: Option<&[u8]>, tokens: Option<&[Token]>, heard: &mut Tokens<'_>, random: &mut Random| {
        let (buf, len) = chunk.map_or((std::ptr::null(), 0), |chunk| (chunk.as_ptr(), chunk.len()));
        let is_called = [true, false, random.one_in(2)][ways];
        heard.patience = if random.one_in(2) { usize::MAX } else { 1 + random.below(3) };
        let user = std::ptr::from_mut(heard).cast();
        let status = unsafe {
            match (chunk, tokens, is_called) {
                (None, _, true) => aside_scanner_finish(scanner, Some(hear_tokens), user),
                (None, _, false) => aside_scanner_finish_into(scanner, &mut array),
                (_, None, true) => aside_scanner_feed(scanner, buf, len, Some(hear_tokens), user),
                (_, None, false) => aside_scanner_feed_into(scanner, buf, len, &mut array),
                (_, Some(tokens), true) => {
                    let (tokens, count) = (tokens.as_ptr(), tokens.len());
                    aside_scanner_feed_tokens(scanner, buf, len, tokens, count, Some(hear_tokens), user)
                }
                (_, Some(tokens), false) => {
                    aside_scanner_feed_tokens_into(scanner, buf, len, tokens.as_ptr(), tokens.len(), &mut array)
                }
            }
        };
        if is_called {
            return (status, unsafe { aside_scanner_consumed(scanner) });
        }
        let events = unsafe { std::slice::from_raw_parts(array.events, array.count) };
        events.iter().for_each(|event| heard.hear(event.len, event.first_token, event.tokens));
        (status, array.consumed)
    };
    for piece in pieces {
        let mut tokens = piece.tokens.clone();
        loop {
            let (status, consumed) = feed(Some(&text[at..piece.end]), tokens.as_deref(), heard, random);
            assert!([OK, STOPPED, MORE].contains(&status), "{status}");
            at += consumed;
            tokens = tokens.map(|tokens| left_of(&tokens, consumed));
            if status == OK {
                break;
            }
        }
        assert_eq!(at, piece.end);
    }
    while feed(None, None, heard, random).0 != OK {}
}

/// Checks that each event has the number of tokens that begin before it and in it, which must be the same for every way to feed, to
/// cut and to stop.
#[test]
fn every_token_begins_in_one_event() {
    let mut random = Random::announced("every_token_begins_in_one_event");
    let mut seen = 0;
    let folders = ["dialects", "tests/dialects"].map(|folder| format!("{}/{folder}", env!("CARGO_MANIFEST_DIR")));
    for file in folders.iter().flat_map(support::files) {
        let toml = std::fs::read_to_string(file).unwrap();
        let pair = Pair::parse(&toml);
        let texts = Texts::new(&pair.reference);
        let dialect = load(&toml);
        for start in pair.reference.starts() {
            for _ in 0..20 {
                let text = brink(&texts, &mut random);
                let most = *random.pick(&[1, 4, 20, 300]);
                let (pieces, starts) = pieces(&text, most, &mut random);
                let calls = random.one_in(2);
                let prompt = random.one_in(3).then(|| texts.next(&mut random, 20));
                let about = format!(
                    "{} from {start}, calls {calls}, prompt {:?}, tokens at {starts:?}: {}",
                    pair.reference.name,
                    prompt.as_ref().map(|prompt| prompt.escape_ascii().to_string()),
                    text.escape_ascii()
                );
                let heard = || Tokens { starts: &starts, at: 0, patience: 0, about: &about };

                let options = aside::ScannerOptions::new().start(start.parse::<aside::Start>().unwrap()).calls(calls);
                let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
                if let Some(prompt) = &prompt {
                    scanner.start_from_prompt(prompt).unwrap();
                }
                let mut rust = heard();
                feed_rust(&mut scanner, &text, &pieces, &mut rust, &mut random);
                rust.check_end(&text);

                for ways in 0..3 {
                    let options = ScannerOptions { calls: calls.into(), ..ScannerOptions::default() };
                    let stream = Stream::new(dialect, start, options, &text);
                    if let Some(prompt) = &prompt {
                        let begun = unsafe {
                            let (tail, len) = (prompt.as_ptr(), prompt.len());
                            aside_scanner_start_from_prompt(stream.handle, tail, len, std::ptr::null_mut())
                        };
                        assert_eq!(begun, OK);
                    }
                    let mut c = heard();
                    feed_c(stream.handle, &text, &pieces, &mut c, ways, &mut random);
                    c.check_end(&text);
                    unsafe { aside_scanner_free(stream.handle) };
                }
                seen += starts.len();
            }
        }
        unsafe { aside_dialect_free(dialect) };
    }
    assert!(seen > 10_000, "{seen} tokens");
}

/// Checks that a stream without tokens counts none, and that a new stream counts from 0.
#[test]
fn each_stream_counts_its_own_tokens() {
    let mut scanner = Scanner::new(&aside::Dialect::find("qwen3").unwrap());
    for _ in 0..2 {
        let mut seen = Vec::new();
        let mut hear = |event: aside::Event<'_>| seen.push((event.bytes.len(), event.first_token, event.tokens));
        let tokens = [aside::Token::special(7), aside::Token::text(1), aside::Token::text(3), aside::Token::text(4)];
        scanner.feed_tokens("<think>\nabc def", &tokens, &mut hear).unwrap();
        scanner.feed("more", &mut hear).unwrap();
        scanner.finish(&mut hear).unwrap();
        assert_eq!(seen, [(7, 0, 1), (1, 1, 1), (7, 2, 2), (4, 4, 0), (0, 4, 0)]);
    }
    let mut hear = |event: aside::Event<'_>| assert_eq!((event.first_token, event.tokens), (0, 0));
    scanner.feed("<think>abc</think>d", &mut hear).unwrap();
    scanner.finish(&mut hear).unwrap();
}
