//! Tests the contract of the scanner, point by point. Each test is named after its rule. Other files test linear work
//! (`linear.rs`), allocations (`allocations.rs`) and equal results at every split (`splits.rs`).

use aside::{
    Budget, BudgetScope, BudgetUnit, Cause, Channel, Dialect, Error, Kind, Scanner, ScannerOptions, Start, StrayClose,
};
use reference::{Event, Part, What};
use samples::{CallPieces, Random, Texts};
use support::Pair;

// ------------------------------------------------------------------------------------------------ 1. chunk-invariant

#[test]
fn point_1_chunks_change_nothing() {
    support::samples("point_1_chunks_change_nothing", 40, |pair, start, text, random| {
        let whole = support::run(&mut support::scanner(&pair.library, Some(start), None), &[text]);
        for chunks in [support::bytes(text), support::random_cuts(random, text, 4)] {
            let got = support::run(&mut support::scanner(&pair.library, Some(start), None), &chunks);
            pair.same(Some(start), &chunks, &whole, &got);
        }
    });
}

#[test]
fn point_1_empty_chunks_change_nothing() {
    support::samples("point_1_empty_chunks_change_nothing", 40, |pair, start, text, random| {
        let wanted = reference::read(&pair.reference, text, Some(start));
        let mut chunks: Vec<&[u8]> = vec![b"", b""];
        for chunk in support::random_cuts(random, text, 3) {
            chunks.extend([chunk, b"", b""]);
        }
        pair.check(Some(start), &chunks, &wanted);
    });
}

// ------------------------------------------------------------------------------------------------------ 2. lossless

/// Checks a stream's events in order, not joined, and fails at the first one that is not allowed there.
struct Inspector {
    at: u64,
    open: Vec<Channel>,
    /// The offset and the bytes of the last opening marker, while attributes may follow it.
    marker: Option<(u64, Vec<u8>)>,
    /// It is a header.
    is_header: bool,
    spans: usize,
}

impl Inspector {
    fn new(pair: &Pair) -> Inspector {
        Inspector { at: 0, open: Vec::new(), marker: None, is_header: false, spans: pair.reference.spans.len() }
    }

    fn see(&mut self, event: &aside::Event<'_>, finishing: bool) {
        let length = event.bytes.len();
        let around = self.open.last().copied().unwrap_or(Channel::Content);
        if let Kind::Attribute(attribute) = &event.kind {
            let (offset, marker) = self.marker.as_ref().expect("an attribute that follows no open");
            assert_eq!(event.offset, *offset, "an attribute's offset is its marker's");
            assert_eq!(length, 0, "an attribute carries no bytes");
            assert_eq!(event.channel, around);
            assert!(!attribute.name.is_empty());
            let raw_value = &marker[attribute.raw_value.clone()];
            let raw_name = &marker[attribute.raw_name.clone()];
            if self.is_header {
                assert_eq!(raw_value, attribute.value, "a header's values are not decoded");
            } else {
                assert_eq!(raw_name, attribute.name);
            }
            if !raw_value.contains(&b'&') {
                assert_eq!(raw_value, attribute.value);
            }
            return;
        }
        assert_eq!(event.offset, self.at, "{event:?} does not follow the event before it");
        self.at += length as u64;
        self.marker = None;
        match event.kind {
            Kind::Open { rule, .. } => {
                self.open.push(event.channel);
                self.is_header = rule as usize == self.spans;
                self.marker = Some((event.offset, event.bytes.to_vec()));
            }
            Kind::Text => {
                assert!(length > 0, "an empty text");
                assert_eq!(event.channel, around);
            }
            Kind::Framing => {
                assert!(length > 0, "empty framing");
                assert_eq!(event.channel, around);
            }
            Kind::Close(cause) => {
                assert_eq!(self.open.pop(), Some(event.channel), "a close of no span, or of another");
                assert!(length == 0 || cause == Cause::Marker, "{cause:?} has no bytes");
                assert!(cause != Cause::EndOfStream || finishing, "the end of the stream before it");
            }
            Kind::Reclassify | Kind::Budget => assert_eq!(length, 0, "{event:?}"),
            ref other => unreachable!("{other:?}"),
        }
    }
}

#[test]
fn point_2_every_byte_is_in_one_event_in_order() {
    support::samples("point_2_every_byte_is_in_one_event_in_order", 40, |pair, start, text, random| {
        for chunks in [vec![text], support::bytes(text), support::random_cuts(random, text, 7)] {
            let mut scanner = support::scanner(&pair.library, Some(start), None);
            let mut inspector = Inspector::new(pair);
            let mut joined = Vec::new();
            for chunk in chunks {
                let see = |event: aside::Event<'_>| {
                    inspector.see(&event, false);
                    joined.extend_from_slice(event.bytes);
                };
                scanner.feed(chunk, see).unwrap();
                assert_eq!(joined.len() + scanner.held().len(), scanner.offset() as usize);
            }
            let see = |event: aside::Event<'_>| {
                inspector.see(&event, true);
                joined.extend_from_slice(event.bytes);
            };
            scanner.finish(see).unwrap();
            assert_eq!(joined.escape_ascii().to_string(), text.escape_ascii().to_string());
            assert!(inspector.open.is_empty(), "a span without a close");
        }
    });
}

#[test]
fn point_2_a_self_closing_tag_is_an_open_and_an_empty_close() {
    let pair = Pair::find("thought-stream");
    let events = support::run(&mut support::scanner(&pair.library, None, None), &[b"a<thinking x='&lt;'/>b"]);
    assert_eq!(events[1].what, What::Open { rule: 0, tag: 0 });
    assert_eq!(events[1].bytes, b"<thinking x='&lt;'/>");
    let (name, value, raw) = (b"x".to_vec(), b"<".to_vec(), 13..17);
    assert_eq!(events[2].what, What::Attribute { name, value, raw });
    assert_eq!((events[3].what.clone(), events[3].bytes.len()), (What::Close(reference::MARKER), 0));
    assert_eq!((events[3].offset, events[4].offset), (21, 21));
}

// ------------------------------------------------------------------------------------------------------ 3. earliest

#[test]
fn point_3_max_hold_of_the_seeds() {
    let seeds = [
        ("inline-think", 7),
        ("thinking-tags", 204),
        ("thought-narrate", 204),
        ("fenced-thinking", 132),
        ("thought-stream", 65_535),
    ];
    for (name, wanted) in seeds {
        let dialect = Dialect::find(name).unwrap();
        assert_eq!(dialect.max_hold(), wanted, "{name}");
        assert_eq!(Scanner::new(&dialect).max_hold(), wanted, "{name}");
    }
    for name in Dialect::names() {
        assert!(Dialect::find(name).unwrap().max_hold() >= 3, "{name} cannot hold a character");
    }
}

#[test]
fn point_3_no_more_is_held_than_max_hold_and_it_is_the_end_of_the_input() {
    let watch = |pair: &Pair, start: &str, text: &[u8]| {
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        for (at, byte) in text.chunks(1).enumerate() {
            scanner.feed(byte, |_| {}).unwrap();
            let held = scanner.held();
            assert!(held.len() <= scanner.max_hold(), "{}: {} bytes held", pair.reference.name, held.len());
            assert_eq!(held, &text[at + 1 - held.len()..=at]);
        }
    };
    support::samples("point_3_no_more_is_held", 40, |pair, start, text, _| watch(pair, start, text));
    let gap = " ".repeat(64);
    let name = "reflection";
    let longest = [
        ("inline-think", "<think>a</think>".to_string(), 7),
        ("thinking-tags", format!("<think></{gap}{name}{gap}{gap}<{gap}/{gap}{name}{gap}>"), 204),
        ("fenced-thinking", format!("```thinking\n   {}{}\r\n", "`".repeat(64), "w".repeat(64)), 132),
        ("thought-stream", format!("<thinking a='{}>", "b".repeat(70_000)), 65_535),
        ("harmony", format!("<|channel|>analysis{}<|message|>", " ".repeat(250)), 200),
    ];
    for (name, text, reached) in longest {
        let pair = Pair::find(name);
        watch(&pair, "content", text.as_bytes());
        let mut scanner = Scanner::new(&pair.library);
        let mut most = 0;
        for byte in text.as_bytes().chunks(1) {
            scanner.feed(byte, |_| {}).unwrap();
            most = most.max(scanner.held().len());
        }
        assert!(most >= reached, "{name}: at most {most} of {reached} bytes were held where all must be");
    }
}

/// Texts after which the held bytes could turn out to be a marker.
fn continuations(dialect: &reference::Dialect) -> Vec<Vec<u8>> {
    let mut whole: Vec<String> = Vec::new();
    for span in &dialect.spans {
        let framing = &span.framing;
        for literal in &span.open {
            whole.push(format!("{}{literal}{}", framing.before_open, framing.after_open));
        }
        for literal in &span.close {
            whole.push(format!("{}{literal}{}", framing.before_close, framing.after_close));
            whole.push(format!("{}{literal}", framing.after_open.trim_end()));
        }
        whole.extend(span.close.iter().map(|close| format!("\n\n{close}")));
        whole.extend(span.quote.clone());
        if let Some(tag) = &span.tag {
            for name in &tag.names {
                whole.extend([format!("<{name}>"), format!("</{name}>")]);
            }
            if tag.attributes.is_some() {
                // A tag with an attribute is never a type's parameter.
                whole.extend(tag.names.iter().map(|name| format!("<{name} a=''>")));
                whole.extend(["a=''>", "\">", "'>", "/>", "=\"\">"].map(str::to_string));
            }
        }
        if let Some(word) = &span.fence {
            whole.extend([format!("   ```{word}\r\n"), "```\n".to_string(), " x\n".to_string()]);
        }
    }
    let dropped = dialect.drop.iter().chain(&dialect.drop_ends).chain(&dialect.drop_last);
    whole.extend(dropped.map(|dropped| dropped.marker().to_string()));
    for name in dialect.leading_tags() {
        whole.extend([format!("<{name}>"), format!("\n</{name}>")]);
    }
    if let Some(torn) = &dialect.torn {
        let closers = dialect.spans.iter().flat_map(|span| &span.close);
        let dropped = dialect.drop.iter().chain(&dialect.drop_ends).map(reference::Dropped::marker);
        for front in closers.map(String::as_str).chain(dropped).filter_map(|close| close.strip_suffix(&torn.end)) {
            whole.extend(torn.before.iter().map(|next| format!("{front}{next}")));
            whole.push(format!("{front}{}{}", &torn.end[..torn.end.len() - 1], torn.end));
        }
    }
    // After these, the text only mentions a marker.
    whole.extend(["'", "\"", "`", " ", " a", "示"].map(str::to_string));
    whole.extend(dialect.spans.iter().map(|span| format!("{} a", span.framing.after_open.trim_end())));
    if let Some(header) = &dialect.header {
        let end = &header.end[0];
        whole.extend(header.close.iter().cloned());
        for key in header.begin.iter().chain(header.keys.values()) {
            whole.push(format!("{key}v{end}"));
        }
        whole.extend(header.end.iter().cloned());
        whole.extend(header.end.iter().filter(|_| header.keys.is_empty()).map(|end| format!("v{end}")));
    }
    let mut out: Vec<Vec<u8>> = vec![Vec::new(), b"zz\n".to_vec()];
    for text in whole {
        for from in 0..text.len() {
            out.push(text.as_bytes()[from..].to_vec());
        }
    }
    out.sort_by_key(Vec::len);
    out.dedup();
    out
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fate {
    Text,
    /// Part of a marker that was complete before the continuation.
    Complete,
    /// Part of a marker whose end is in the continuation.
    Pending,
}

/// Returns the role of the byte at `at`, which was held when `prefix` bytes of the text had arrived.
fn fate(events: &[Event], at: usize, prefix: usize) -> Option<Fate> {
    let reaches = |event: &Event| event.offset <= at && at < event.offset + event.bytes.len();
    let index = events.iter().position(reaches)?;
    let event = &events[index];
    if event.what == What::Text && event.part == Part::None {
        return Some(Fate::Text);
    }
    if event.offset != at {
        return None;
    }
    let mut end = event.offset + event.bytes.len();
    if event.part == Part::Before {
        let marker = events[index..].iter().find(|event| event.part == Part::Marker && !event.bytes.is_empty())?;
        end = marker.offset + marker.bytes.len();
    }
    Some(if end > prefix { Fate::Pending } else { Fate::Complete })
}

#[test]
fn point_3_nothing_is_held_without_need() {
    let mut random = Random::announced("point_3_nothing_is_held_without_need");
    // Dialects with tables of calls have a separate test below, because a whole call may decide their held bytes.
    for pair in Pair::all().into_iter().filter(|pair| !pair.has_calls()) {
        let continuations = continuations(&pair.reference);
        let texts = Texts::new(&pair.reference);
        for start in pair.reference.starts() {
            let mut inputs: Vec<Vec<u8>> = (0..10).map(|_| texts.next(&mut random, 45)).collect();
            inputs.extend(pair.reference.examples.iter().map(|example| example.input.as_bytes().to_vec()));
            for text in inputs {
                let mut scanner = support::scanner(&pair.library, Some(start), None);
                for end in 1..=text.len() {
                    scanner.feed(&text[end - 1..end], |_| {}).unwrap();
                    let held = scanner.held().to_vec();
                    assert!(
                        held.is_empty() || needed(&pair, start, &text[..end], &held, &continuations),
                        "{} from {start}: after \"{}\" there is no need to hold \"{}\"",
                        pair.reference.name,
                        text[..end].escape_ascii(),
                        held.escape_ascii()
                    );
                }
            }
        }
    }
}

fn needed(pair: &Pair, start: &str, prefix: &[u8], held: &[u8], continuations: &[Vec<u8>]) -> bool {
    if unfinished(held) {
        return true;
    }
    let at = prefix.len() - held.len();
    let (mut as_text, mut as_marker) = (false, false);
    for continuation in continuations {
        let text = [prefix, continuation].concat();
        match fate(&reference::events(&pair.reference, &text, Some(start)), at, prefix.len()) {
            Some(Fate::Pending) => return true,
            Some(Fate::Complete) => as_marker = true,
            Some(Fate::Text) => as_text = true,
            None => {}
        }
        if as_text && as_marker {
            return true;
        }
    }
    false
}

/// Returns the role of the byte at `at` for a host that wants calls: its kind of event, its channel, and whether a marker with it
/// is complete.
fn fate_of_call(
    events: &[Event],
    at: usize,
    prefix: usize,
) -> Option<(std::mem::Discriminant<What>, &'static str, Fate)> {
    let event = events.iter().find(|event| event.offset <= at && at < event.offset + event.bytes.len())?;
    let fate = match event.what {
        What::Text | What::Framing | What::Call(reference::Call::Value) => Fate::Text,
        _ if event.offset + event.bytes.len() > prefix => Fate::Pending,
        _ => Fate::Complete,
    };
    Some((std::mem::discriminant(&event.what), event.channel, fate))
}

/// Checks the same for tables of calls: some continuation must change the role of the first held byte, unless the byte belongs to a
/// word that is reported whole.
#[test]
fn point_3_nothing_of_a_call_is_held_without_need() {
    let mut random = Random::announced("point_3_nothing_of_a_call_is_held_without_need");
    // Only dialects of the tests are checked, because models' dialects have heads that no piece of this test completes.
    let is_own = |pair: &Pair| pair.reference.name.starts_with("calls-") && pair.reference.header.is_none();
    for pair in Pair::all().into_iter().filter(is_own) {
        let tables = CallPieces::of_spans(&pair.reference);
        let mut ends: Vec<String> =
            continuations(&pair.reference).into_iter().filter_map(|end| String::from_utf8(end).ok()).collect();
        for table in &tables {
            for piece in table.whole.iter().chain(&table.all) {
                ends.extend(piece.char_indices().map(|(at, _)| piece[at..].to_string()));
            }
        }
        ends.sort_by_key(String::len);
        ends.dedup();
        let texts = Texts::new(&pair.reference);
        let starts = tables.iter().flat_map(|table| &table.begins);
        let texts: Vec<Vec<u8>> =
            starts.map(|begin| [begin.as_bytes(), &texts.next(&mut random, 20)].concat()).collect();
        for text in texts {
            let options = ScannerOptions::new().start(Start::Channel(Channel::Content)).calls(true);
            let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
            for end in 1..=text.len() {
                scanner.feed(&text[end - 1..end], |_| {}).unwrap();
                let (held, prefix) = (scanner.held(), &text[..end]);
                // If a character is cut, only its other bytes can decide, but the texts in `ends` have whole characters.
                if std::str::from_utf8(held).is_err_and(|error| error.error_len().is_none()) {
                    continue;
                }
                assert!(
                    held.is_empty()
                        || unfinished(held)
                        || is_state(&pair, held)
                        || needed_for_call(&pair, prefix, held.len(), &ends),
                    "{}: after \"{}\" there is no need to hold \"{}\"",
                    pair.reference.name,
                    prefix.escape_ascii(),
                    held.escape_ascii()
                );
            }
        }
    }
}

/// Returns whether these held bytes have the same role in any case, but decide the role of the next bytes. They are the key of a
/// member, which is framing with or without a meaning; the framing before a closer, which is also framing between calls; a raw
/// quote, which belongs to the value like the quoted text; and the end of a call that broke its grammar, which is text.
fn is_state(pair: &Pair, held: &[u8]) -> bool {
    let spans = || pair.reference.spans.iter().filter(|span| !span.calls.is_empty());
    let closers =
        spans().flat_map(|span| span.close.iter().map(|close| format!("{}{close}", span.framing.before_close)));
    let quotes = spans().flat_map(|span| &span.calls).map(|table| table.raw_quote.clone());
    let ends = spans().flat_map(|span| &span.calls).map(|table| table.end.clone());
    let mut words = closers.chain(quotes).chain(ends);
    held[0] == b'"' && held.len() <= 258 || words.any(|word| word.as_bytes().starts_with(held))
}

fn needed_for_call(pair: &Pair, prefix: &[u8], held: usize, ends: &[String]) -> bool {
    let mut first = None;
    for end in ends {
        let text = [prefix, end.as_bytes()].concat();
        let events = reference::read_with_calls(&pair.reference, &text, Some("content"));
        match (fate_of_call(&events, prefix.len() - held, prefix.len()), first) {
            (Some((.., Fate::Pending)), _) => return true,
            (Some(fate), Some(first)) if fate != first => return true,
            (fate, _) => first = first.or(fate),
        }
    }
    false
}

/// Returns whether bytes of the last character are still missing.
fn unfinished(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

#[test]
fn point_3_a_complete_marker_is_out_at_once() {
    let cases = [
        ("qwen3", "<think>", ""),
        ("qwen3", "<think>\na\n</think>", ""),
        ("qwen3", "<think>a</think>\n", ""),
        ("qwen3", "<think>a</think>\n\n", ""),
        ("qwen3", "a\n", "\n"),
        ("qwen3", "<think>a</think>b\n", ""),
        ("qwen3", "</think>", ""),
        ("inline-think", "a<think", ""),
        ("inline-think", "<think>a</thinx", ""),
        ("thinking-tags", "< \tthought ", "< \tthought "),
        ("thinking-tags", "< \tthought x", ""),
        ("thought-stream", "<thinking a='b'", "<thinking a='b'"),
        ("thought-stream", "<thinking a=b", ""),
        ("thought-stream", "<thinking a='<thinking'x", "<thinking'x".split_at(11).1),
        ("fenced-thinking", "   ```rs", ""),
        ("fenced-thinking", "a``", "``"),
        ("fenced-thinking", "a```thinking \t", "```thinking \t"),
        ("fenced-thinking", "````", ""),
        ("harmony", "<|channel|>analysis<|message|>", ""),
        ("harmony", "<|channel|>analysis", "<|channel|>analysis"),
        ("glm-4.5", "a\n", "\n"),
        ("glm-4.5", "a\n\n", "\n"),
        ("gemma-4", "though", "though"),
        ("gemma-4", "x though", ""),
    ];
    for (name, text, wanted) in cases {
        let mut scanner = Scanner::new(&Dialect::find(name).unwrap());
        scanner.feed(text.as_bytes(), |_| {}).unwrap();
        assert_eq!(scanner.held().escape_ascii().to_string(), wanted.escape_default().to_string(), "{name}: {text:?}");
    }
}

// ------------------------------------------------------------------------------------------------------ 5. zero-copy

#[test]
fn point_5_events_point_into_the_callers_buffer() {
    support::samples("point_5_events_point_into_the_callers_buffer", 40, |pair, start, text, random| {
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        let mut fed = 0;
        for chunk in support::random_cuts(random, text, 30) {
            let see = |event: aside::Event<'_>| {
                let offset = event.offset as usize;
                if offset >= fed && !event.bytes.is_empty() {
                    assert_eq!(event.bytes.as_ptr(), chunk[offset - fed..].as_ptr(), "a copy: {event:?}");
                }
            };
            scanner.feed(chunk, see).unwrap();
            fed += chunk.len();
        }
    });
}

#[test]
fn point_5_framing_that_was_held_is_no_reason_to_copy_the_marker_behind_it() {
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    scanner.feed(b"<think>a\n", |_| {}).unwrap();
    let chunk = b"</think>b";
    let mut closes = 0;
    let see = |event: aside::Event<'_>| {
        if let Kind::Close(_) = event.kind {
            assert_eq!(event.bytes.as_ptr(), chunk.as_ptr(), "a copy: {event:?}");
            closes += 1;
        }
    };
    scanner.feed(chunk, see).unwrap();
    assert_eq!(closes, 1);
}

// ---------------------------------------------------------------------------------------- 6. UTF-8 safe, byte tolerant

#[test]
fn point_6_text_never_cuts_a_character() {
    support::samples("point_6_text_never_cuts_a_character", 40, |pair, start, text, random| {
        let text = String::from_utf8_lossy(text).into_owned();
        let text = text.as_bytes();
        for chunks in
            [support::bytes(text), support::random_cuts(random, text, 3), support::random_cuts(random, text, 60)]
        {
            let mut scanner = support::scanner(&pair.library, Some(start), None);
            let whole = |event: aside::Event<'_>| {
                assert!(
                    !matches!(event.kind, Kind::Text) || std::str::from_utf8(event.bytes).is_ok(),
                    "{} from {start}: {event:?} of {}",
                    pair.reference.name,
                    text.escape_ascii()
                );
            };
            for chunk in chunks {
                scanner.feed(chunk, whole).unwrap();
            }
            scanner.finish(whole).unwrap();
        }
    });
}

/// Checks that a long chunk is reported as text at once if a marker only seems to begin in it. Its last character may still be cut.
#[test]
fn point_6_a_chunk_that_is_all_text_cuts_no_character() {
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for chunk in [&b"Yes. "[..], b"If a < b, all is well \xE6", b"\x97\xA5."] {
        scanner.feed(chunk, |event| texts.push(event.bytes.to_vec())).unwrap();
    }
    assert!(texts.iter().all(|text| std::str::from_utf8(text).is_ok()), "{texts:x?}");
    assert_eq!(scanner.counts(Channel::Content).characters, 29);
}

#[test]
fn point_6_invalid_bytes_and_nul_pass_through_at_once() {
    for pair in Pair::all() {
        for start in pair.reference.starts() {
            for broken in
                [&b"\xff"[..], b"\xc0", b"\xc1\x80", b"\xf5\x80", b"\xed\xa0", b"\xe0\x9f", b"\xf4\x90", b"\x80"]
            {
                let mut scanner = support::scanner(&pair.library, Some(start), None);
                scanner.feed(b"x\0", |_| {}).unwrap();
                scanner.feed(broken, |_| {}).unwrap();
                assert_eq!(scanner.held(), b"", "{}: {broken:?} stalls", pair.reference.name);
            }
            let text = b"x\0\xff\xc3\xe2\x82y\xf0\x9f\xa7\0\xc3";
            let events = support::run(&mut support::scanner(&pair.library, Some(start), None), &support::bytes(text));
            let channel = if start == "header" { "content" } else { start };
            assert_eq!(reference::channel(&events, channel), text, "{} from {start}", pair.reference.name);
        }
    }
}

// ------------------------------------------------------------------------------------------ 7. nothing lost at the end

#[test]
fn point_7_a_stream_without_a_byte_has_no_events() {
    for pair in Pair::all() {
        for start in pair.reference.starts() {
            let mut scanner = support::scanner(&pair.library, Some(start), Some(1000));
            let none = |event: aside::Event<'_>| panic!("{event:?}");
            scanner.feed(b"", none).unwrap();
            scanner.flush(none).unwrap();
            scanner.finish(none).unwrap();
            scanner.finish(none).unwrap();
            assert!(scanner.take_thought().is_none());
        }
    }
}

#[test]
fn point_7_after_finish_the_scanner_is_as_new() {
    support::samples("point_7_after_finish_the_scanner_is_as_new", 40, |pair, start, text, random| {
        let wanted = reference::read(&pair.reference, text, Some(start));
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        for _ in 0..3 {
            let chunks = support::random_cuts(random, text, 9);
            let got = support::run(&mut scanner, &chunks);
            pair.same(Some(start), &chunks, &wanted, &got);
            assert_eq!((scanner.offset(), scanner.held()), (0, &b""[..]));
        }
    });
}

#[test]
fn point_7_after_reset_the_scanner_is_as_new() {
    support::samples("point_7_after_reset_the_scanner_is_as_new", 40, |pair, start, text, random| {
        let wanted = reference::read(&pair.reference, text, Some(start));
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        for _ in 0..3 {
            let part = &text[..random.below(text.len() + 1)];
            scanner.feed(part, |_| {}).unwrap();
            scanner.reset();
            assert_eq!((scanner.offset(), scanner.held()), (0, &b""[..]));
            let chunks = support::random_cuts(random, text, 9);
            let got = support::run(&mut scanner, &chunks);
            pair.same(Some(start), &chunks, &wanted, &got);
        }
    });
}

#[test]
fn point_7_reset_clears_events_still_due() {
    let dialect = Dialect::find("thought-stream").unwrap();
    let mut scanner = Scanner::new(&dialect);
    let mut events = scanner.events(b"a<thinking x='1'>b</thinking>c");
    events.next().unwrap();
    events.next().unwrap();
    drop(events);
    scanner.reset();
    let got = support::run(&mut scanner, &[b"d"]);
    assert_eq!(got.len(), 1);
    assert_eq!((got[0].offset, &got[0].bytes[..]), (0, &b"d"[..]));
}

#[test]
fn point_7_flush_releases_what_is_held_and_keeps_the_state() {
    support::samples("point_7_flush_releases_what_is_held", 40, |pair, start, text, random| {
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        let mut inspector = Inspector::new(pair);
        let mut joined = Vec::new();
        let mut events = Vec::new();
        for chunk in support::random_cuts(random, text, 20) {
            let mut see = |event: aside::Event<'_>| {
                inspector.see(&event, false);
                joined.extend_from_slice(event.bytes);
                support::push(&mut events, event);
            };
            scanner.feed(chunk, &mut see).unwrap();
            let held = scanner.held().to_vec();
            // A whole marker that waits for the next bytes also counts.
            let reference = &pair.reference;
            let of_spans = reference.spans.iter().flat_map(|span| span.open.iter().chain(&span.close));
            let tokens = reference.drop.iter().chain(&reference.drop_ends).map(|it| it.marker());
            let mut markers = of_spans.map(String::as_str).chain(tokens);
            let is_tag = held.starts_with(b"<") && held.contains(&b'>');
            let begins =
                |marker: &str| held.get(..marker.len()).is_some_and(|it| it.eq_ignore_ascii_case(marker.as_bytes()));
            let is_whole = is_tag || markers.any(begins);
            let state = |event: aside::Event<'_>| {
                assert!(is_whole || matches!(event.kind, Kind::Text), "flush gives text, not {event:?}");
                see(event);
            };
            scanner.flush(state).unwrap();
            assert_eq!(scanner.held(), b"");
            assert!(joined.ends_with(&held));
            assert_eq!(joined.len(), scanner.offset() as usize);
        }
        scanner.finish(|event| joined.extend_from_slice(event.bytes)).unwrap();
        assert_eq!(joined, text);
    });
}

#[test]
fn point_7_a_flush_with_nothing_held_changes_nothing() {
    support::samples("point_7_a_flush_with_nothing_held_changes_nothing", 40, |pair, start, text, _| {
        let wanted = reference::read(&pair.reference, text, Some(start));
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        let mut got = Vec::new();
        for byte in text.chunks(1) {
            scanner.feed(byte, |event| support::push(&mut got, event)).unwrap();
            // After a marker, before framing that may follow it, nothing is held, but a flush would decide that no framing follows.
            if scanner.held().is_empty() && got.last().is_some_and(|event| event.what == What::Text) {
                scanner.flush(|event| panic!("{event:?}")).unwrap();
            }
        }
        scanner.finish(|event| support::push(&mut got, event)).unwrap();
        pair.same(Some(start), &support::bytes(text), &wanted, &got);
    });
}

#[test]
fn point_7_what_flush_releases_is_text_like_any_other() {
    let cases: [(&str, &str, &[&str], &str, &str); 9] = [
        // dialect, start, chunks with a flush between them, content, thinking
        ("inline-think", "content", &["<thi", "nk>x</think>y"], "<think>x</think>y", ""),
        ("inline-think", "content", &["<thi", "<think>x</think>y"], "<thi<think>x</think>y", ""),
        ("inline-think", "content", &["<think>a</thi", "nk>b</think>c"], "c", "a</think>b"),
        ("qwen3", "content", &["<think>a\n", "</think>b"], "b", "a\n"),
        ("glm-4.5", "content", &["a\n", "<think>b</think>c"], "a\nc", "b"),
        ("qwen3", "content", &["<", "</think>b"], "b", "<"),
        ("fenced-thinking", "thinking", &["a\n``", "`\nb"], "", "a\n```\nb"),
        ("fenced-thinking", "content", &["a``", "`thinking\nb"], "a```thinking\nb", ""),
        ("thought-stream", "content", &["<thinking a='", "'><thinking>b</thinking>c"], "<thinking a=''>c", "b"),
    ];
    for (name, start, chunks, content, thinking) in cases {
        let pair = Pair::find(name);
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        let mut events = Vec::new();
        for (number, chunk) in chunks.iter().enumerate() {
            if number > 0 {
                scanner.flush(|event| support::push(&mut events, event)).unwrap();
            }
            scanner.feed(chunk.as_bytes(), |event| support::push(&mut events, event)).unwrap();
        }
        scanner.finish(|event| support::push(&mut events, event)).unwrap();
        let text = |channel| String::from_utf8(reference::channel(&events, channel)).unwrap();
        assert_eq!(
            (text("content"), text("thinking")),
            (content.to_string(), thinking.to_string()),
            "{name}: {chunks:?}"
        );
    }
}

#[test]
fn point_7_spans_still_open_close_innermost_first() {
    let dialect = Dialect::find("glm-4.5").unwrap();
    let events = support::run(&mut Scanner::new(&dialect), &[b"<|begin_of_box|>a<think>b"]);
    let closes: Vec<(&str, What)> = events[events.len() - 2..].iter().map(|e| (e.channel, e.what.clone())).collect();
    assert_eq!(closes, [("thinking", What::Close(reference::END)), ("content", What::Close(reference::END))]);
}

// ------------------------------------------------------------------------------------------------ stopping and resuming

#[test]
fn stopped_at_every_event_the_rest_is_the_same() {
    support::samples("stopped_at_every_event_the_rest_is_the_same", 40, |pair, start, text, random| {
        let wanted = reference::read(&pair.reference, text, Some(start));
        for chunks in [vec![text], support::bytes(text), support::random_cuts(random, text, 12)] {
            let mut scanner = support::scanner(&pair.library, Some(start), None);
            let got = support::run_stopping(&mut scanner, &chunks);
            pair.same(Some(start), &chunks, &wanted, &got);
            let again = support::run_stopping(&mut scanner, &chunks);
            pair.same(Some(start), &chunks, &wanted, &again);
        }
    });
}

#[test]
fn stopped_and_fed_on_in_other_chunks() {
    support::samples("stopped_and_fed_on_in_other_chunks", 40, |pair, start, text, random| {
        let wanted = reference::read(&pair.reference, text, Some(start));
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        let mut got = Vec::new();
        let mut rest = text;
        loop {
            let length = random.below(rest.len() + 1);
            let mut events = scanner.events(&rest[..length]);
            let mut pulls = 1 + random.below(3);
            while pulls > 0
                && let Some(event) = events.next().unwrap()
            {
                support::push(&mut got, event);
                pulls -= 1;
            }
            rest = &rest[events.consumed()..];
            drop(events);
            if rest.is_empty() {
                break;
            }
        }
        // Pending events are still reported, with the next feed or at the end.
        scanner.finish(|event| support::push(&mut got, event)).unwrap();
        pair.same(Some(start), &[text], &wanted, &got);
    });
}

/// Checks a marker after more held bytes than a scanner's first buffer can contain.
#[test]
fn stopped_behind_a_long_hold_the_rest_is_the_same() {
    let span = "tag = { names = [\"thinking\"], closer = \"same\", attributes = 65536 }\n";
    let kept =
        "[[span]]\nchannel = \"tool\"\nopen = [\"<call>\"]\nclose = [\"</call>\"]\nkeep = true\nends = \"thinking\"\n";
    let dialects = [
        own(span),
        own(&format!("{span}{kept}")),
        Dialect::load(&format!("name = \"x\"\nstray_close = \"reclassify\"\n[[span]]\nchannel = \"thinking\"\n{span}"))
            .unwrap(),
    ];
    let closers = ["</thinking>z", "<call>z</call>", "><thinking a='b' c/></thinking>", "<thinking><call>"];
    for dialect in &dialects {
        for gap in [0, 100, 500, 1_100, 3_000, 70_000] {
            for closer in closers {
                let head = format!("<thinking{}", " ".repeat(gap));
                for stop_after in 1..6 {
                    let mut scanner = Scanner::new(dialect);
                    let mut all = Vec::new();
                    scanner.feed(head.as_bytes(), |event| all.extend_from_slice(event.bytes)).unwrap();
                    let mut rest = closer.as_bytes();
                    while {
                        let mut events = scanner.events(rest);
                        let mut count = 0;
                        while count < stop_after
                            && let Some(event) = events.next().unwrap()
                        {
                            all.extend_from_slice(event.bytes);
                            count += 1;
                        }
                        rest = &rest[events.consumed()..];
                        count == stop_after
                    } {}
                    scanner.finish(|event| all.extend_from_slice(event.bytes)).unwrap();
                    assert!(all == [head.as_bytes(), closer.as_bytes()].concat(), "{gap}, {closer}, {stop_after}");
                }
            }
        }
    }
}

#[test]
fn what_is_held_anew_was_not_there_before() {
    let mut scanner = Scanner::new(&Dialect::find("qwen3").unwrap());
    let steps = [
        ("a <th", "", "<th"),
        ("in", "<th", "<thin"),
        ("x", "<thin", ""),
        ("b <", "", "<"),
        ("t", "<", "<t"),
        ("x", "<t", ""),
    ];
    for (chunk, before, held) in steps {
        scanner.feed(chunk.as_bytes(), |_| ()).unwrap();
        assert_eq!((scanner.before(), scanner.held()), (before.as_bytes(), held.as_bytes()), "{chunk}");
    }
}

#[test]
fn a_feed_after_half_a_finish_is_refused() {
    let dialect = Dialect::find("glm-4.5").unwrap();
    let mut scanner = Scanner::new(&dialect);
    scanner.feed(b"<|begin_of_box|>a<think>b</th", |_| {}).unwrap();
    assert!(scanner.finish_events().next().unwrap().is_some());
    let refused = scanner.feed(b"c", |event| panic!("{event:?}"));
    assert!(matches!(refused, Err(Error::FinishPending)), "{refused:?}");
    assert!(matches!(scanner.events(b"c").next(), Err(Error::FinishPending)));
    let mut rest = Vec::new();
    scanner.finish(|event| support::push(&mut rest, event)).unwrap();
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!(support::run(&mut scanner, &[b"c"])[0].offset, 0);
}

#[test]
fn a_start_that_the_dialect_has_not_is_refused() {
    let refused = |name: &str, start: Start| {
        let options = ScannerOptions::new().start(start);
        matches!(Scanner::with_options(&Dialect::find(name).unwrap(), &options), Err(Error::NoSuchStart))
    };
    assert!(refused("inline-think", Start::Channel(Channel::Tool)));
    assert!(refused("inline-think", Start::Channel(Channel::Narration)));
    assert!(refused("qwen3", Start::Header));
    assert!(!refused("qwen3", Start::Channel(Channel::Tool)));
    assert!(!refused("qwen3", Start::Channel(Channel::Content)));
    assert!(!refused("harmony", Start::Header));
}

#[test]
fn dialects_are_shared_between_threads_and_scanners_may_move() {
    fn shared<T: Send + Sync>() {}
    fn moved<T: Send>() {}
    shared::<Dialect>();
    moved::<Scanner>();
}

// ------------------------------------------------------------------------------------------------------- whole thoughts

fn with_cap(name: &str, cap: usize) -> Scanner {
    support::scanner(&Dialect::find(name).unwrap(), None, Some(cap))
}

#[test]
fn thoughts_come_whole_with_attributes_and_cause() {
    support::samples("thoughts_come_whole_with_attributes_and_cause", 40, |pair, start, text, random| {
        let events = reference::read(&pair.reference, text, Some(start));
        let wanted = reference::thoughts(&pair.reference, &events);
        for chunks in [vec![text], support::bytes(text), support::random_cuts(random, text, 8)] {
            let mut scanner = support::scanner(&pair.library, Some(start), Some(1 << 20));
            let (_, got) = support::collect_whole(&mut scanner, &chunks);
            assert_eq!(got, wanted, "{} from {start}: {}", pair.reference.name, text.escape_ascii());
            assert_eq!(scanner.lost_thoughts(), 0);
        }
    });
}

#[test]
fn thoughts_are_not_collected_unless_asked_for() {
    let mut scanner = Scanner::new(&Dialect::find("thinking-tags").unwrap());
    support::run(&mut scanner, &[b"<thought>a</thought>"]);
    assert!(scanner.take_thought().is_none());
    assert_eq!(scanner.lost_thoughts(), 0);
}

#[test]
fn a_thought_above_the_cap_is_cut_at_a_characters_end() {
    let text = "<thought>日本語日本</thought>b<thought>é</thought><thought>x</thought>".as_bytes();
    for chunks in [vec![text], support::bytes(text), text.chunks(4).collect()] {
        // The cap is 11 bytes. Of a text of 15 bytes, nine fit, then a character of two bytes, and then nothing.
        let mut scanner = with_cap("thinking-tags", 11);
        let events = support::run(&mut scanner, &chunks);
        assert_eq!(reference::channel(&events, "thinking"), "日本語日本éx".as_bytes(), "its deltas go on");
        let thoughts: Vec<(String, bool)> = std::iter::from_fn(|| scanner.take_thought())
            .map(|thought| (String::from_utf8(thought.text).unwrap(), thought.truncated))
            .collect();
        let wanted = [("日本語", true), ("é", false), ("", true)].map(|(text, cut)| (text.to_string(), cut));
        assert_eq!(thoughts, wanted);
    }
}

#[test]
fn blanks_behind_a_thought_that_is_trimmed_need_no_room() {
    let cases: [(&str, usize, &str, bool); 9] = [
        ("<thinking>x </thinking>", 1, "x", false),
        ("<thinking>x\n \t\n</thinking>", 2, "x", false),
        ("<thinking>x y</thinking>", 1, "x", true),
        ("<thinking>x y</thinking>", 2, "x ", true),
        ("<thinking>x\né</thinking>", 3, "x\n", true),
        ("<thinking thought=\"x\né\"></thinking>", 3, "x\n", true),
        ("<thinking>x\n\né</thinking>", 4, "x\n\n", true),
        ("<thinking>  é </thinking>", 1, "", true),
        ("<thinking>x  é", 3, "x  ", true),
    ];
    for (text, cap, wanted, truncated) in cases {
        for chunks in [vec![text.as_bytes()], support::bytes(text.as_bytes()), text.as_bytes().chunks(4).collect()] {
            let mut scanner = with_cap("thought-stream", cap);
            support::run(&mut scanner, &chunks);
            let thought = scanner.take_thought().unwrap();
            let got = (core::str::from_utf8(&thought.text).unwrap(), thought.truncated);
            assert_eq!(got, (wanted, truncated), "{text:?} under {cap}");
        }
    }
    // If room becomes free while a thought is written, the missing part of the thought stays missing.
    let mut scanner = with_cap("thought-stream", 4);
    scanner.feed(b"<thinking>ab</thinking><thinking>x   ", |_| {}).unwrap();
    assert_eq!(scanner.take_thought().unwrap().text, b"ab");
    scanner.feed(b"y</thinking>", |_| {}).unwrap();
    let second = scanner.take_thought().unwrap();
    assert_eq!((&second.text[..], second.truncated), (&b"x "[..], true));
}

#[test]
fn taking_a_thought_makes_room() {
    let mut scanner = with_cap("thinking-tags", 4);
    scanner.feed(b"<thought>abc</thought>", |_| {}).unwrap();
    assert_eq!(scanner.take_thought().unwrap().text, b"abc");
    scanner.feed(b"<thought>defg</thought>", |_| {}).unwrap();
    let second = scanner.take_thought().unwrap();
    assert_eq!((&second.text[..], second.truncated), (&b"defg"[..], false));
}

#[test]
fn with_no_entry_free_a_thought_is_lost_and_none_is_overwritten() {
    let mut scanner = with_cap("thinking-tags", 1 << 20);
    let mut text = Vec::new();
    for number in 0..1030 {
        text.extend_from_slice(format!("<thought>{number}</thought>").as_bytes());
    }
    let mut deltas = Vec::new();
    scanner.feed(&text, |event| support::push(&mut deltas, event)).unwrap();
    assert_eq!(scanner.lost_thoughts(), 6);
    let all: String = (0..1030).map(|number| number.to_string()).collect();
    assert_eq!(reference::channel(&deltas, "thinking"), all.as_bytes());
    assert_eq!(scanner.take_thought().unwrap().text, b"0");
    scanner.feed(b"<thought>again</thought>", |_| {}).unwrap();
    assert_eq!(scanner.lost_thoughts(), 6);
    for number in 1..1024 {
        assert_eq!(scanner.take_thought().unwrap().text, number.to_string().as_bytes());
    }
    assert_eq!(scanner.take_thought().unwrap().text, b"again");
    assert!(scanner.take_thought().is_none());
}

#[test]
fn an_unterminated_thought_survives_the_end() {
    let mut scanner = with_cap("thinking-tags", 100);
    support::run(&mut scanner, &[b"a<thought>b</tho"]);
    let thought = scanner.take_thought().unwrap();
    assert_eq!((&thought.text[..], thought.cause, thought.offset), (&b"b</tho"[..], Cause::EndOfStream, 1));
    assert!(scanner.take_thought().is_none());
}

// -------------------------------------------------------------------------------------------------- stray closers

/// Returns the events of a text in the content, fed byte by byte, for a host that lets stray closers be removed.
fn dropping(dialect: &Dialect, text: &str) -> Vec<Event> {
    let mut scanner = support::scanner_with_stray(dialect, "content", StrayClose::Drop);
    support::run(&mut scanner, &support::bytes(text.as_bytes()))
}

#[test]
fn a_host_has_the_stray_closers_of_every_dialect_removed_alone() {
    let mut closers = 0;
    for pair in Pair::all() {
        let spans = pair.reference.spans.iter().filter(|span| span.channel == "thinking" && span.fence.is_none());
        for span in spans {
            let tags = span.tag.iter().flat_map(|tag| &tag.names).map(|name| format!("</{name}>"));
            for closer in span.close.iter().cloned().chain(tags) {
                let name = &pair.reference.name;
                let text = format!("First answer.\n{closer}\n\nFinal answer.{closer} End.");
                let events = dropping(&pair.library, &text);
                let content = String::from_utf8(reference::channel(&events, "content")).unwrap();
                assert_eq!(content, "First answer.\n\n\nFinal answer. End.", "{name}: {closer}");
                let kinds: Vec<_> = events.iter().map(|event| event.what.clone()).collect();
                assert_eq!(kinds, [What::Text, What::Framing, What::Text, What::Framing, What::Text], "{name}");
                closers += 1;
            }
        }
    }
    assert!(closers > 50, "{closers} closers");
}

#[test]
fn a_removed_stray_closer_is_one_after_other_text() {
    let qwen3 = Dialect::find("qwen3").unwrap();
    let content = |dialect: &Dialect, text: &str| {
        String::from_utf8(reference::channel(&dropping(dialect, text), "content")).unwrap()
    };
    // At the beginning of an answer or after a span, the closer is removed as the dialect says, with its framing.
    for text in ["</think>\n\nYes.", "<think>hm</think>\n\n</think>\n\nYes."] {
        assert_eq!(content(&qwen3, text), "Yes.", "{text}");
    }
    let keeping = own("open = [\"<think>\"]\nclose = [\"</think>\"]");
    for text in ["</think>\n\nYes.", "<think>hm</think>\n</think>Yes."] {
        assert_eq!(content(&keeping, text), text.trim_start_matches("<think>hm</think>"), "{text}");
    }
    assert_eq!(content(&keeping, "a</think>\nb</think"), "a\nb</think");
    // In code, the closer is text, and it closes an open span.
    assert_eq!(content(&qwen3, "Write `</think>`: a</think>b"), "Write `</think>`: ab");
    assert_eq!(content(&qwen3, "a<think>hm</think>b"), "ab");
    // The same holds after the only block.
    let once = own("open = [\"<think>\"]\nclose = [\"</think>\"]\nrepeat = false\nstray_close = \"reclassify\"");
    assert_eq!(content(&once, "<think>hm</think>a</think>b"), "ab");
}

/// Checks that a removed stray closer does not affect the text before it: not its events, its counts or its thoughts.
#[test]
fn a_removed_stray_closer_reclassifies_nothing() {
    let qwen3 = Dialect::find("qwen3").unwrap();
    let options = ScannerOptions::new().collect(100);
    for (stray_close, content, thoughts) in [(StrayClose::Dialect, 1, 1), (StrayClose::Drop, 2, 0)] {
        let mut scanner = Scanner::with_options(&qwen3, &options.stray_close(stray_close)).unwrap();
        let (events, collected) = support::collect(&mut scanner, &[b"a</thi", b"nk>b"]);
        assert_eq!(scanner.counts(Channel::Content).bytes, content);
        assert_eq!(collected.len(), thoughts);
        assert_eq!(events.iter().any(|event| event.what == What::Reclassify), thoughts > 0);
    }
}

/// Checks that a closer that is also another marker counts as the other marker, as it does without the option.
#[test]
fn a_removed_stray_closer_gives_way_to_another_marker() {
    let file =
        |line: &str| format!("name = 'x'\n{line}[[span]]\nchannel = 'thinking'\nopen = ['<a>']\nclose = ['</a>']\n");
    for line in ["drop = ['</a>b']\n", "drop = ['</a>']\n"] {
        let dialect = Dialect::load(&file(line)).unwrap();
        for text in ["x</a>y", "x</a>by"] {
            let plain = support::run(&mut support::scanner(&dialect, None, None), &[text.as_bytes()]);
            assert_eq!(dropping(&dialect, text), plain, "{text} with {line}");
        }
    }
}

// ------------------------------------------------------------------------------------- what was wrong at some time

fn own(span: &str) -> Dialect {
    Dialect::load(&format!("name = \"own\"\n[[span]]\nchannel = \"thinking\"\n{span}")).unwrap()
}

/// Returns the text of a channel, fed byte by byte.
fn text_of(dialect: &Dialect, start: Option<&str>, text: &str, channel: Channel) -> String {
    let events = support::run(&mut support::scanner(dialect, start, None), &support::bytes(text.as_bytes()));
    String::from_utf8(reference::channel(&events, channel.as_str())).unwrap()
}

#[test]
fn in_a_span_open_at_the_start_any_name_closes() {
    let dialect = own("tag = { names = [\"think\", \"thinking\"], closer = \"same\" }");
    assert_eq!(text_of(&dialect, Some("thinking"), "a</thinking>b", Channel::Content), "b");
    assert_eq!(text_of(&dialect, None, "<think>a</thinking>b</think>c", Channel::Content), "c");
    assert_eq!(text_of(&dialect, Some("thinking"), "<think>a</think>b", Channel::Thinking), "a");
}

#[test]
fn a_tool_that_ended_a_tag_is_closed_by_that_tags_closer() {
    let tool = "[[span]]\nchannel = \"tool\"\nopen = [\"<tool>\"]\nclose = [\"</tool>\"]\nends = \"thinking\"";
    let dialect = own(&format!("tag = {{ names = [\"think\", \"thinking\"], closer = \"same\" }}\n{tool}"));
    assert_eq!(text_of(&dialect, None, "<thinking>a<tool>b</thinking>c", Channel::Content), "c");
}

#[test]
fn white_space_before_a_name_hides_no_attribute() {
    let dialect = own("tag = { names = [\"think\"], space = 4, attributes = 100 }");
    let mut names = Vec::new();
    let see = |event: aside::Event<'_>| {
        if let Kind::Attribute(attribute) = event.kind {
            names.push((attribute.name.to_vec(), attribute.value.to_vec()));
        }
    };
    Scanner::new(&dialect).feed(b"< think a=\"b\" c=\"d\">", see).unwrap();
    assert_eq!(names, [(b"a".to_vec(), b"b".to_vec()), (b"c".to_vec(), b"d".to_vec())]);
}

#[test]
fn a_flush_after_a_stop_releases_only_what_is_not_settled() {
    let dialect = Dialect::find("thought-stream").unwrap();
    let mut scanner = Scanner::new(&dialect);
    scanner.feed(b"<thinking a=\"<thinking b='x'>secret</thinking>y", |_| {}).unwrap();
    let mut content = Vec::new();
    let mut keep = |event: aside::Event<'_>| {
        if event.kind == Kind::Text && event.channel == Channel::Content {
            content.extend_from_slice(event.bytes);
        }
    };
    let chunk = b"\"!z";
    let mut events = scanner.events(chunk);
    keep(events.next().unwrap().unwrap());
    let consumed = events.consumed();
    drop(events);
    scanner.flush(&mut keep).unwrap();
    scanner.feed(&chunk[consumed..], &mut keep).unwrap();
    scanner.finish(&mut keep).unwrap();
    assert_eq!(String::from_utf8_lossy(&content), "<thinking a=\"y\"!z");
}

#[test]
fn a_small_cap_cuts_a_typed_thought_and_never_hides_it() {
    let thought = |cap: usize, text: &str| {
        let mut scanner = support::scanner(&Dialect::find("thought-stream").unwrap(), None, Some(cap));
        let (_, mut thoughts) = support::collect(&mut scanner, &[text.as_bytes()]);
        assert_eq!(thoughts.len(), 1, "{text:?} under a cap of {cap}");
        thoughts.remove(0)
    };
    let padded = thought(10, &format!("<thinking>{}abc</thinking>", " ".repeat(20)));
    assert_eq!((&padded.text[..], padded.truncated), (&b"abc"[..], false));
    for cap in [3, 20, 21, 22, 23, 1000] {
        for tag in
            ["<thinking thought=\"abc\" confidence=\"0.75\"/>", "<thinking confidence=\"0.75\" thought=\"abc\"/>"]
        {
            let thought = thought(cap, tag);
            assert_eq!((&thought.text[..], thought.confidence), (&b"abc"[..], Some(0.75)), "{tag} under {cap}");
            assert_eq!(thought.truncated, cap < 1000);
        }
    }
    let kind = thought(10, "<thinking thought=\"abc\" thought_type=\"reflection\"/>");
    assert_eq!((kind.thought_type, kind.truncated), (None, true));
}

#[test]
fn wrappers_however_deep_hide_no_thinking() {
    let dialect = Dialect::find("glm-4.5").unwrap();
    let text = format!("{}<think>secret</think>a", "<|begin_of_box|>".repeat(20));
    assert_eq!(text_of(&dialect, None, &text, Channel::Thinking), "secret");
}

#[test]
fn point_3_with_a_budget_no_whole_character_is_held() {
    let budget = Some(Budget::new(1, BudgetUnit::Bytes, BudgetScope::Span));
    let options = ScannerOptions::new().budget(budget);
    let text = "<think>é".as_bytes();
    for cut in 1..=text.len() {
        let mut scanner = Scanner::with_options(&Dialect::find("qwen3").unwrap(), &options).unwrap();
        let mut exceeded = 0;
        for chunk in text.chunks(cut) {
            scanner.feed(chunk, |event| exceeded += usize::from(event.kind == Kind::Budget)).unwrap();
        }
        assert_eq!((scanner.held(), exceeded), (&b""[..], 1), "chunks of {cut}");
    }
}
