//! Mixes all the ways to feed that C has over one stream: callbacks that stop, arrays of a few events, text alone, tokens,
//! chunks that pass without a call, and clones in between. The events must be those of the whole text, and what is told
//! between the calls must fit.

use aside::{Budget, BudgetScope, BudgetUnit, Channel, Scanner};
use reference::{Part, What};
use samples::{Random, Texts};
use std::ffi::c_void;
use std::ptr;
use support::{Pair, c::*};

/// What a callback hears, and after how many events it stops.
struct Heard {
    events: Vec<reference::Event>,
    patience: usize,
}

impl Heard {
    fn hear(&mut self, record: &Event, bytes: &[u8]) {
        let what = match record.kind {
            1 => What::Open { rule: record.rule as usize, tag: record.tag as usize },
            ATTRIBUTE => What::Attribute {
                name: bytes[..record.name_len as usize].to_vec(),
                value: bytes[record.name_len as usize..].to_vec(),
                raw: record.raw_value_at as usize..(record.raw_value_at + record.raw_value_len) as usize,
            },
            TEXT => What::Text,
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
            bytes: if record.kind == ATTRIBUTE { Vec::new() } else { bytes.to_vec() },
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

/// A scanner of C's in the middle of a stream.
struct Stream<'a> {
    handle: Handle,
    text: &'a [u8],
    /// How much of the text is fed.
    at: usize,
    /// How much of it has passed without a call.
    passed: usize,
    heard: Heard,
}

impl<'a> Stream<'a> {
    fn new(dialect: Handle, start: &str, budget: Option<Budget>, text: &'a [u8]) -> Stream<'a> {
        let starts = ["content", "thinking", "narration", "tool", "header"];
        let options = ScannerOptions {
            size: size_of::<ScannerOptions>(),
            start: 1 + starts.iter().position(|name| *name == start).unwrap() as u32,
            stray_close: 0,
            collect: 0,
            budget: budget.map_or(0, |budget| budget.limit),
            has_budget: budget.is_some().into(),
            budget_unit: budget.map_or(0, |budget| budget.unit as u32),
            budget_scope: budget.map_or(0, |budget| budget.scope as u32),
            calls: 0,
            calls_in_thinking: 0,
            reserved: 0,
        };
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

    /// Feeds some of the text in some way.
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
                // Where each byte may begin a special marker, they say nothing.
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
        self.heard.hear(&Event { kind: TEXT, channel, offset, len, ..Event::default() }, text);
    }

    /// As a host to which a call is expensive: chunks of quiet bytes pass, plain text between them is fed, and before anything
    /// else the scanner is told how much has passed.
    fn pass(&mut self, random: &mut Random, most: usize) {
        let (mut quiet, mut passed) = ([0; 4], 0);
        while self.at < self.text.len() && !random.one_in(8) {
            let mut channel = unsafe { aside_scanner_quiet(self.handle, &mut quiet) };
            if channel == NOT_TEXT {
                break;
            }
            let chunk = self.chunk(random, most);
            if chunk.iter().all(|&byte| is_in(&quiet, byte)) {
                passed += chunk.len();
            } else {
                channel = unsafe { aside_scanner_feed_text(self.handle, chunk.as_ptr(), chunk.len()) };
                if channel == NOT_TEXT {
                    break;
                }
            }
            self.hear_text(channel, self.at as u64, &chunk);
            self.at += chunk.len();
        }
        if passed > 0 {
            assert_eq!(unsafe { aside_scanner_skip(self.handle, passed as u64) }, OK);
        }
        self.passed += passed;
    }

    fn feed_array(&mut self, chunk: &[u8], capacity: usize) {
        let mut records = vec![Event::default(); capacity];
        let mut fed = Fed::NOTHING;
        let (events, size) = (records.as_mut_ptr(), size_of::<Event>());
        let status = unsafe {
            aside_scanner_feed_into(self.handle, chunk.as_ptr(), chunk.len(), events, capacity, size, &mut fed)
        };
        assert!(status == OK && fed.consumed == chunk.len() || status == MORE, "{status}");
        assert_eq!(fed.offset as usize, self.at);
        let (held, attributes) = unsafe {
            let attributes = std::slice::from_raw_parts(fed.attributes, fed.attributes_len);
            (std::slice::from_raw_parts(fed.held, fed.held_len), attributes)
        };
        for record in &records[..fed.count] {
            let (from, len) = (record.offset as usize, record.len as usize);
            let in_both = [held, &chunk[..fed.consumed]].concat();
            let bytes = match record.kind {
                ATTRIBUTE => &attributes[record.text_at as usize..][..record.byte_count()],
                _ if len == 0 => &[],
                _ => &in_both[from + held.len() - self.at..][..len],
            };
            self.heard.hear(record, bytes);
        }
        self.at += fed.consumed;
    }

    /// Holds what the scanner says between two calls against what was heard.
    fn check(&self) {
        let heard: usize = self.heard.events.iter().map(|event| event.bytes.len()).sum();
        unsafe {
            assert_eq!(aside_scanner_offset(self.handle) as usize, self.at);
            assert_eq!(aside_scanner_held(self.handle), self.at - heard);
        }
        for (number, channel) in (0..).zip(Channel::ALL) {
            let events = self.heard.events.iter().filter(|event| event.channel == channel.as_str());
            let wanted = reference::channel(&self.heard.events, channel.as_str());
            let spans = events.filter(|event| matches!(event.what, What::Open { .. } | What::Reclassify)).count();
            let mut counts = [size_of::<[u64; 5]>() as u64, 0, 0, 0, 0];
            assert_eq!(unsafe { aside_scanner_counts(self.handle, number, &mut counts) }, OK);
            let characters = wanted.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
            assert_eq!(counts[1..4], [wanted.len() as u64, characters as u64, spans as u64], "{channel:?}");
        }
    }
}

/// No event of text ends within a character, as far as the whole text is made of whole ones.
fn check_characters(text: &[u8], events: &[reference::Event]) {
    if std::str::from_utf8(text).is_ok() {
        let cut = events.iter().find(|event| event.what == What::Text && std::str::from_utf8(&event.bytes).is_err());
        assert!(cut.is_none(), "a character is cut: {cut:?}");
    }
}

/// A text that is nearly always on the brink of a marker.
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
    let mut dialect = ptr::null_mut();
    assert_eq!(unsafe { aside_dialect_load(toml.as_ptr(), toml.len(), &mut dialect) }, OK);
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
                let options = aside::ScannerOptions::new().start(start.parse::<aside::Start>().unwrap()).budget(budget);
                let wanted = match budget {
                    None => reference::read(&pair.reference, &text, Some(start)),
                    Some(_) => support::run(&mut Scanner::with_options(&pair.library, &options).unwrap(), &[&text]),
                };
                let mut stream = Stream::new(dialect, start, budget, &text);
                // A closer that is a special token counts inside the strings of calls too: there tokens say something.
                let has_tokens = !pair.has_calls() && random.one_in(4);
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
                    panic!("{} from {start} ({budget:?}): {difference}\n{}", pair.reference.name, text.escape_ascii());
                }
                check_characters(&text, &stream.heard.events);
                passed += stream.passed;
            }
        }
        unsafe { aside_dialect_free(dialect) };
    }
    assert!(passed > 10_000, "{passed} bytes passed without a call");
}

/// Chunks as long as what is looked at together, with one byte that may matter somewhere in them.
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
                let mut stream = Stream::new(dialect, start, None, &text);
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
