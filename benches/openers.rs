//! Finds all texts that open a span of a dialect, by trying them, so that a bench can feed text inside each span.

use std::fs;
use std::path::Path;

use aside::{Cause, Channel, Dialect, Event, Kind, Scanner, ScannerOptions, Start};
use serde::Deserialize;
use serde::de::IgnoredAny;

pub struct Opener {
    pub channel: Channel,
    pub text: String,
}

/// The rule of a span, the number of its opener, and the channel, as a header's rule has several channels.
type Key = (u32, u32, Channel);

/// The parts of a dialect's file that are read here.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    span: Vec<IgnoredAny>,
    example: Vec<Example>,
}

#[derive(Deserialize)]
struct Example {
    input: String,
}

/// Returns the openers in the order of the dialect's file. Literals, tags with their brackets and lines of fences are taken from
/// the dialect. Whole headers are taken from the examples of its file, one for each beginning and channel.
pub fn openers(dialect: &Dialect) -> Vec<Opener> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../dialects/{}.toml", dialect.name()));
    let text = fs::read_to_string(path).expect("the file of a built-in dialect");
    let file: File = toml::from_str(&text).expect("the file of a built-in dialect is right");
    let mut found: Vec<(Key, String)> = Vec::new();
    for rule in 0..file.span.len() as u32 {
        for (tag, opener) in (0..).map_while(|tag| Some((tag, dialect.opener(rule, tag)?))) {
            let forms = [opener.to_owned(), format!("<{opener}>"), format!("```{opener}\n")];
            let opened = forms.into_iter().find_map(|text| Some((opens(dialect, &text)?, text)));
            found.extend(opened.filter(|(key, _)| (key.0, key.1) == (rule, tag)));
        }
    }
    for text in in_examples(dialect, &file) {
        let Some(key) = opens(dialect, &text) else { continue };
        if found.iter().all(|(other, _)| *other != key) {
            found.push((key, text));
        }
    }
    found.sort_by_key(|(key, _)| *key);
    found.into_iter().map(|((_, _, channel), text)| Opener { channel, text }).collect()
}

/// Returns the span that the text opens at its first byte and leaves open.
fn opens(dialect: &Dialect, text: &str) -> Option<Key> {
    let mut open = None;
    events(dialect, &[text, "a "].concat(), &mut |event| match event.kind {
        Kind::Open { rule, tag } if event.offset == 0 => open = Some((rule, tag, event.channel)),
        Kind::Close(cause) if cause != Cause::EndOfStream => open = None,
        _ => {}
    });
    open
}

/// Returns the openers of spans in the examples of the dialect's file, the last ones first, because the first ones have unusual
/// spellings.
fn in_examples(dialect: &Dialect, file: &File) -> Vec<String> {
    let mut openers = Vec::new();
    for example in file.example.iter().rev() {
        let mut see = |event: Event<'_>| {
            if matches!(event.kind, Kind::Open { .. }) {
                openers.push(String::from_utf8(event.bytes.to_vec()).expect("examples are UTF-8"));
            }
        };
        events(dialect, &example.input, &mut see);
    }
    openers
}

/// Returns whether only the end of the stream closes the span that the text opens.
pub fn stays_open(dialect: &Dialect, text: &str) -> bool {
    let (mut opened, mut closed) = (0, 0);
    events(dialect, text, &mut |event| match event.kind {
        Kind::Open { .. } => opened += 1,
        Kind::Close(cause) => closed += usize::from(cause != Cause::EndOfStream),
        _ => {}
    });
    (opened, closed) == (1, 0)
}

/// Returns a scanner that starts outside all spans, wherever its dialect starts.
pub fn scanner(dialect: &Dialect) -> Scanner {
    let options = ScannerOptions::new().start(Start::Channel(Channel::Content));
    Scanner::with_options(dialect, &options).expect("all dialects can start in the content")
}

fn events(dialect: &Dialect, text: &str, see: &mut dyn FnMut(Event<'_>)) {
    let mut scanner = scanner(dialect);
    scanner.feed(text.as_bytes(), &mut *see).expect("there is memory");
    scanner.finish(see).expect("there is memory");
}
