//! Makes random texts in a dialect that both libraries have: markers and texts similar to markers, prose, runs of one character,
//! and parts with lengths at the dialect's limits.

use crate::{before, now};
use samples::{Pieces, Random, Texts};

pub struct Source {
    pub before: aside_before::Dialect,
    pub now: aside::Dialect,
    /// The dialect's file.
    pub toml: String,
    pub name: String,
    pub starts: Vec<&'static str>,
    /// Whether the dialect has headers, fences or thoughts in attributes, which are rare.
    pub is_rare: bool,
    texts: Texts,
    pieces: Pieces,
    examples: Vec<String>,
    turns: Vec<String>,
    /// Markers with a part of limited length.
    limits: Vec<Limit>,
    spans: Vec<Span>,
}

/// An opener and its closer.
struct Span {
    is_thinking: bool,
    open: String,
    close: String,
}

impl Source {
    /// Loads a file. Returns `None` if both libraries refuse it, and fails if only one does.
    pub fn new(toml: &str) -> Result<Option<Source>, String> {
        let before = aside_before::Dialect::load(toml).map_err(|error| error.to_string());
        let now = aside::Dialect::load(toml).map_err(|error| error.to_string());
        let said = (before.as_ref().map(before::side::dialect_seen), now.as_ref().map(now::side::dialect_seen));
        if said.0 != said.1 {
            return Err(format!("a dialect's file\n  before {:?}\n  now    {:?}\n{toml}", said.0, said.1));
        }
        let (Ok(before), Ok(now)) = (before, now) else { return Ok(None) };
        let dialect = reference::Dialect::parse(toml)?;
        Ok(Some(Source {
            before,
            now,
            toml: toml.to_owned(),
            starts: dialect.starts(),
            is_rare: dialect.header.is_some()
                || dialect.spans.iter().any(|span| span.fence.is_some() || span.thought.is_some()),
            texts: Texts::new(&dialect),
            pieces: Pieces::new(&dialect),
            examples: dialect.examples.iter().map(|example| example.input.clone()).collect(),
            turns: dialect.turns.clone(),
            limits: limits(&dialect),
            spans: spans(&dialect),
            name: dialect.name,
        }))
    }

    pub fn text(&self, random: &mut Random) -> Vec<u8> {
        let mut text = Vec::new();
        for _ in 0..1 + random.below(6) {
            self.add_part(random, &mut text);
        }
        text
    }

    /// Returns the text before a stream: earlier turns, and the beginning of the answer.
    pub fn prompt(&self, random: &mut Random) -> Vec<u8> {
        let mut text = Vec::new();
        for _ in 0..random.below(4) {
            if random.one_in(2) && !self.turns.is_empty() {
                text.extend_from_slice(random.pick(&self.turns).as_bytes());
            }
            let length = random.below(40);
            text.extend(self.texts.next(random, length));
        }
        text
    }

    /// Returns a whole thought, if the dialect has thinking spans.
    pub fn thought(&self, random: &mut Random) -> Vec<u8> {
        let thoughts: Vec<&Span> = self.spans.iter().filter(|span| span.is_thinking).collect();
        if thoughts.is_empty() {
            return self.texts.next(random, 20);
        }
        let span = random.pick(&thoughts);
        format!("{}x{}", span.open, span.close).into_bytes()
    }

    fn add_part(&self, random: &mut Random, text: &mut Vec<u8>) {
        match random.below(40) {
            0..=11 => {
                let most = *random.pick(&[10, 40, 150]);
                let length = random.below(most);
                text.extend(self.texts.next(random, length));
            }
            12..=17 if !self.spans.is_empty() => {
                let span = random.pick(&self.spans);
                text.extend_from_slice(span.open.as_bytes());
                if random.one_in(2) {
                    self.add_part(random, text);
                }
                text.extend_from_slice(span.close.as_bytes());
            }
            18..=22 => {
                let pieces = if random.one_in(3) { &self.pieces.all } else { &self.pieces.few };
                (0..1 + random.below(6)).for_each(|_| text.extend(random.pick::<Vec<u8>>(pieces)));
            }
            23..=30 => {
                let most = if random.one_in(40) { 3000 } else { *random.pick(&[10, 40, 200]) };
                let end = text.len() + random.below(most);
                while text.len() < end {
                    text.extend_from_slice(random.pick(&PROSE).as_bytes());
                }
            }
            31..=33 => {
                let piece = match random.below(RUNS.len() + 1) {
                    0 => random.pick(&self.pieces.few),
                    run => RUNS[run - 1].as_bytes(),
                };
                let most = if random.one_in(10) { 300 } else { 20 };
                text.extend(piece.repeat(random.below(most)));
            }
            34 | 35 if !self.examples.is_empty() => text.extend_from_slice(random.pick(&self.examples).as_bytes()),
            36 if !self.limits.is_empty() => random.pick(&self.limits).add(random, text),
            _ => (0..random.below(20)).for_each(|_| text.push(random.next() as u8)),
        }
    }
}

/// A marker with a part of at most `most` bytes.
struct Limit {
    begin: String,
    fill: u8,
    most: usize,
    end: String,
}

impl Limit {
    /// Adds the marker, with the part or the whole marker at about the maximum length.
    fn add(&self, random: &mut Random, text: &mut Vec<u8>) {
        // Very long markers are added rarely.
        if self.most > 1000 && !random.one_in(20) {
            return;
        }
        let around = if random.one_in(2) { self.begin.len() + self.end.len() } else { 0 };
        let length = (self.most + 2).saturating_sub(around + random.below(5));
        text.extend_from_slice(self.begin.as_bytes());
        text.extend(std::iter::repeat_n(self.fill, length));
        text.extend_from_slice(self.end.as_bytes());
    }
}

fn limits(dialect: &reference::Dialect) -> Vec<Limit> {
    let mut limits = Vec::new();
    let mut add = |begin: String, fill: u8, most: usize, end: &str| {
        limits.push(Limit { begin, fill, most, end: end.to_owned() });
    };
    for span in &dialect.spans {
        if let Some(tag) = &span.tag {
            let name = &tag.names[0];
            add("<".into(), b' ', tag.space, &format!("{name}>"));
            add(format!("<{name}"), b' ', tag.space, ">");
            add(format!("</{name}"), b' ', tag.space, ">");
            add(format!("<{name}:"), b's', tag.suffix, ">");
            let attributes = tag.attributes.unwrap_or_default();
            add(format!("<{name} a=\""), b'x', attributes, "\">");
            add(format!("<{name} a='b' "), b' ', attributes, "/>");
        }
        if let Some(word) = &span.fence {
            add("\n```".into(), b'`', 64, &format!("{word}\n"));
            add(format!("\n```{word}"), b' ', 64, "\n");
        }
    }
    if let Some(header) = &dialect.header {
        add(header.begin[0].clone(), b'v', header.max.unwrap_or(256), &header.end[0]);
        add(header.begin[0].clone(), b' ', header.max.unwrap_or(256), &header.close.concat());
    }
    if !dialect.guard.is_empty() {
        add("\n".into(), b'`', 64, "\n");
        add("\n```".into(), b'w', 64, "\n");
        add("\n~~~".into(), b' ', 64, "\n");
    }
    limits
}

fn spans(dialect: &reference::Dialect) -> Vec<Span> {
    let mut spans = Vec::new();
    for span in &dialect.spans {
        let mut add = |open: String, close: String| {
            spans.push(Span { is_thinking: span.channel == "thinking", open, close });
        };
        let framing = &span.framing;
        for (open, close) in span.open.iter().zip(&span.close) {
            add(open.clone(), close.clone());
            add(
                format!("{}{open}{}", framing.before_open, framing.after_open),
                format!("{}{close}{}", framing.before_close, framing.after_close),
            );
        }
        for (tag, name) in span.tag.iter().flat_map(|tag| tag.names.iter().map(move |name| (tag, name))) {
            add(format!("<{name}>"), format!("</{name}>"));
            if tag.attributes.is_some() {
                add(format!("<{name} a='b&lt;' c=\"\">"), format!("</{name}>"));
            }
            if let Some(keys) = &span.thought {
                let [text, kind, confidence] = [&keys.text, &keys.kind, &keys.confidence];
                add(format!("<{name} {text}=' hm' {kind}='plan' {confidence}='0.7'>"), format!("</{name}>"));
                add(format!("<{name} {kind}='plan'>"), format!("</{name}>"));
            }
        }
        if let Some(word) = &span.fence {
            add(format!("\n```{word}\n"), "\n```\n".into());
        }
    }
    if let Some(header) = &dialect.header {
        let begin = &header.begin[0];
        let close = header.close.concat();
        let fields = header.keys.values().map(|key| format!("{key}self")).chain(["analysis".into(), "final".into()]);
        for (field, end) in fields.flat_map(|field| header.end.iter().map(move |end| (field.clone(), end))) {
            spans.push(Span { is_thinking: false, open: format!("{begin}{field}{end}"), close: close.clone() });
        }
    }
    spans
}

/// The text between markers, with every byte that is special for the search.
const PROSE: [&str; 32] = [
    "So ",
    "the user ",
    "wants ",
    "it. ",
    "Yes, ",
    "a ",
    "I think that ",
    "42",
    ", ",
    ".\n",
    "\n\n",
    " - ",
    "# Title\n",
    "`x` ",
    "it's ",
    "\"quoted\" ",
    "schön ",
    "über ",
    "日本語",
    "、",
    "思考 ",
    "🧠 ",
    "\t",
    "if a < b && b > c ",
    "{\"k\": [1, 2]}",
    "f(x) = y|z ",
    "```\ncode\n```\n",
    "~~~\n",
    "\r\n",
    "[link](x) ",
    "a/b ",
    "<b>",
];

const RUNS: [&str; 12] = [" ", "\n", "`", "~", "<", "a", "é", "日", "\r\n", "\t", "<<|", "\u{feff}"];
