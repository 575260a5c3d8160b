//! Tests that the scanner skips prose, and that the automaton reads prose without the recogniser. Both tests look inside the
//! engine, so they are not with the tests of the public interface.

use samples::Random;

use super::advance::Take;
use crate::{Channel, Counts, Dialect, Kind, Scanner, ScannerOptions, Start, StrayClose};

/// Channel, offset and bytes of each event; pieces of text are joined, and other events are recorded by their kind.
#[derive(Debug, Default, PartialEq)]
struct Recorded(Vec<(String, Channel, u64, Vec<u8>)>);

impl Recorded {
    fn add(&mut self, kind: String, channel: Channel, offset: u64, bytes: &[u8]) {
        match self.0.last_mut() {
            Some((last, of, _, text)) if *last == kind && kind == "Text" && *of == channel => text.extend(bytes),
            _ => self.0.push((kind, channel, offset, bytes.to_vec())),
        }
    }

    fn event(&mut self, event: crate::Event<'_>) {
        let kind = match &event.kind {
            Kind::Attribute(attribute) => format!("{:?}={:?}", attribute.name, attribute.value),
            kind => format!("{kind:?}"),
        };
        self.add(kind, event.channel, event.offset, event.bytes);
    }
}

/// Feeds like a host that skips quiet chunks; with `plainly`, it tries plain text first. Returns the number of bytes that were
/// skipped.
fn feed_quietly(scanner: &mut Scanner, recorded: &mut Recorded, chunks: &[&[u8]], plainly: bool) -> u64 {
    let (mut quiet, mut passed) = (None, 0);
    let mut skipped: Vec<u8> = Vec::new();
    let tell = |scanner: &mut Scanner, skipped: &mut Vec<u8>| {
        let is_told = skipped.last().is_none_or(|&last| scanner.skip(skipped.len() as u64, last));
        skipped.clear();
        is_told
    };
    for chunk in chunks {
        if let Some((channel, set)) = quiet
            && chunk.iter().all(|&byte| (set as [u64; 4])[usize::from(byte / 64)] >> (byte % 64) & 1 == 1)
        {
            recorded.add("Text".into(), channel, scanner.offset() + skipped.len() as u64, chunk);
            skipped.extend_from_slice(chunk);
            passed += chunk.len() as u64;
            continue;
        }
        assert!(tell(scanner, &mut skipped), "after {recorded:?}");
        if plainly && let Some(part) = scanner.advance(chunk, Take::WholeText) {
            recorded.add("Text".into(), scanner.channel(), part.offset, chunk);
        } else {
            scanner.feed(chunk, |event| recorded.event(event)).unwrap();
        }
        quiet = scanner.quiet();
    }
    assert!(tell(scanner, &mut skipped), "after {recorded:?}");
    passed
}

#[test]
fn what_is_quiet_may_be_skipped() {
    let mut random = Random::new(11);
    let starts = [Start::Channel(Channel::Content), Start::Channel(Channel::Thinking), Start::Header];
    let mut passed = 0;
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let file = format!("{}/dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let file: toml::Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let examples = file["example"].as_array().unwrap().iter().map(|example| example["input"].as_str().unwrap());
        let prose = "It is 42, and `so`:\n\n```\nlet a = b < c;\n```\n# Ja, schön < dort.\n - \"it\"'s\n~~~ 'a' = ";
        for input in examples {
            // The text is prose everywhere, also between markers.
            let words = input.split_inclusive(['>', '\n', ' ']);
            let mixed: String = words.map(|word| format!("{word}{}", &prose[..random.below(50)])).collect();
            for text in [input.as_bytes(), mixed.as_bytes(), format!("{input}{prose}{input}").as_bytes()] {
                for start in [None, Some(starts[0]), Some(starts[1]), Some(starts[2])] {
                    let options = ScannerOptions::new().start(start);
                    let (Ok(mut plain), Ok(mut quiet)) =
                        (Scanner::with_options(&dialect, &options), Scanner::with_options(&dialect, &options))
                    else {
                        continue;
                    };
                    let mut at = 0;
                    let mut chunks = Vec::new();
                    while at < text.len() {
                        let end = text.len().min(at + 1 + random.below(6));
                        chunks.push(&text[at..end]);
                        at = end;
                    }
                    let (mut wanted, mut got) = (Recorded::default(), Recorded::default());
                    plain.feed(text, |event| wanted.event(event)).unwrap();
                    passed += feed_quietly(&mut quiet, &mut got, &chunks, random.below(2) == 0);
                    assert_eq!((quiet.offset(), quiet.held()), (plain.offset(), plain.held()), "{name}");
                    plain.finish(|event| wanted.event(event)).unwrap();
                    quiet.finish(|event| got.event(event)).unwrap();
                    assert_eq!(got, wanted, "{name}, cut into {:?}", chunks);
                    let counts = |scanner: &Scanner| Channel::ALL.map(|channel| scanner.counts(channel));
                    assert_eq!(counts(&quiet), counts(&plain), "{name}");
                    assert_ne!(counts(&quiet), [Counts::default(); 4], "{name}");
                }
            }
        }
    }
    assert!(passed > 100_000, "{passed} bytes passed");
}

#[test]
fn prose_is_in_the_table_wherever_an_example_leads() {
    let mut places = 0;
    for name in Dialect::names() {
        let file = format!("{}/dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).unwrap();
        let file: toml::Table = toml::from_str(&text).unwrap();
        for example in file["example"].as_array().unwrap() {
            // All examples together need more states than a table has room for.
            let dialect = Dialect::load(&text).unwrap();
            let input = example["input"].as_str().unwrap().as_bytes();
            let start = example.get("start").map(|start| start.as_str().unwrap().parse().unwrap());
            for stray_close in [StrayClose::Dialect, StrayClose::Text, StrayClose::Drop] {
                for end in 0..=input.len() {
                    let options = ScannerOptions::new().start(start).stray_close(stray_close);
                    let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
                    scanner.feed(&input[..end], |_| {}).unwrap();
                    scanner.feed(b"\n Then comes prose, as most text is.", |_| {}).unwrap();
                    // A value in a tag continues, and so does an answer in JSON. The table has no states for code where streams are rare.
                    let is_rare = stray_close != StrayClose::Dialect && input[..end].contains(&b'`');
                    if scanner.held().is_empty() && !is_rare && !scanner.is_outside_table() {
                        let shown = input[..end].escape_ascii();
                        assert!(
                            scanner.advance(b"More", Take::WholeText).is_some(),
                            "{name}: not in the table after \"{shown}\""
                        );
                        places += 1;
                    }
                }
            }
        }
    }
    assert!(places > 20_000, "{places}");
}

#[test]
fn nothing_is_quiet_where_each_byte_counts() {
    let span = r#"channel = "thinking", open = ["<think>"], close = ["</think>"]"#;
    let dialect = Dialect::load(&format!("name = 'tags'\nspan = [{{ {span} }}]")).unwrap();
    let mut scanner = Scanner::new(&dialect);
    let refused = |scanner: &mut Scanner| {
        let offset = scanner.offset();
        scanner.quiet().is_none() && !scanner.skip(1, b'a') && scanner.offset() == offset
    };
    assert!(refused(&mut scanner), "before the first byte");
    scanner.feed(b"<think>a", |_| {}).unwrap();
    assert!(matches!(scanner.quiet(), Some((Channel::Thinking, set)) if set[0] >> b'<' & 1 == 0));
    assert!(!scanner.skip(u64::MAX, b'a') && !scanner.skip(1 << 63, b'a') && scanner.skip(2, b'a'));
    assert_eq!(scanner.offset(), 10);
    scanner.feed(b"b<", |_| {}).unwrap();
    assert!(refused(&mut scanner), "with a byte held back");
    scanner.finish(|_| {}).unwrap();
    assert!(refused(&mut scanner), "after the end");
    let budget = crate::Budget::new(100, crate::BudgetUnit::Bytes, crate::BudgetScope::Span);
    for options in [ScannerOptions::new().budget(budget), ScannerOptions::new().collect(9)] {
        let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
        scanner.feed(b"<think>a", |_| {}).unwrap();
        assert!(refused(&mut scanner), "{options:?}");
    }
}
