//! The definition of right: a dialect applied to a whole text by the plainest code that does it. It is written from the
//! specification alone, reads the dialect's file itself and shares nothing with the library that it judges.
#![allow(dead_code)] // each test file uses a part of it

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

// ---------------------------------------------------------------------------------------------- the dialect's file

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub models: Vec<ModelPattern>,
    #[serde(default)]
    pub turns: Vec<String>,
    #[serde(default)]
    pub templates: Vec<String>,
    pub start: Option<String>,
    pub case: Option<String>,
    #[serde(default)]
    pub drop: Vec<Dropped>,
    #[serde(default)]
    pub drop_ends: Vec<Dropped>,
    pub extra_close: Option<String>,
    pub stray_close: Option<String>,
    #[serde(default)]
    pub guard: Vec<String>,
    #[serde(default, rename = "span")]
    pub spans: Vec<Span>,
    pub header: Option<Header>,
    #[serde(default, rename = "example")]
    pub examples: Vec<Example>,
}

/// Looked up by nobody here: only the form is read.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum ModelPattern {
    Plain(String),
    Started(StartedPattern),
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct StartedPattern {
    pub pattern: String,
    pub start: String,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Span {
    pub channel: String,
    pub family: Option<String>,
    #[serde(default)]
    pub open: Vec<String>,
    #[serde(default)]
    pub close: Vec<String>,
    pub tag: Option<Tag>,
    pub fence: Option<String>,
    #[serde(rename = "where")]
    pub place: Option<String>,
    pub repeat: Option<bool>,
    pub again: Option<String>,
    pub stray_close: Option<String>,
    pub ends: Option<String>,
    pub pauses: Option<String>,
    #[serde(default)]
    pub keep: bool,
    #[serde(default)]
    pub special: bool,
    pub quote: Option<String>,
    #[serde(default)]
    pub framing: Framing,
    pub thought: Option<ThoughtKeys>,
}

/// A marker without a span, which may be special.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Dropped {
    Plain(String),
    Table(DroppedTable),
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct DroppedTable {
    pub marker: String,
    #[serde(default)]
    pub special: bool,
}

impl Dropped {
    pub fn marker(&self) -> &str {
        match self {
            Dropped::Plain(marker) => marker,
            Dropped::Table(table) => &table.marker,
        }
    }

    pub fn special(&self) -> bool {
        matches!(self, Dropped::Table(table) if table.special)
    }
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    pub names: Vec<String>,
    #[serde(default)]
    pub closer: String,
    #[serde(default)]
    pub space: usize,
    #[serde(default)]
    pub suffix: usize,
    pub attributes: Option<usize>,
    #[serde(default)]
    pub self_close: bool,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Framing {
    pub before_open: String,
    pub after_open: String,
    pub before_close: String,
    pub after_close: String,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct ThoughtKeys {
    pub text: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub confidence: String,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub family: Option<String>,
    pub begin: Vec<String>,
    pub end: Vec<String>,
    #[serde(default)]
    pub close: Vec<String>,
    #[serde(default)]
    pub whole: Vec<String>,
    #[serde(default)]
    pub keys: BTreeMap<String, String>,
    pub max: Option<usize>,
    #[serde(default)]
    pub special: bool,
    #[serde(default, rename = "route")]
    pub routes: Vec<Route>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Route {
    #[serde(default)]
    pub when: BTreeMap<String, Values>,
    pub channel: String,
    pub write: Option<String>,
}

/// What a field may be.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Values {
    One(String),
    Several(Vec<String>),
}

impl Values {
    fn all(&self) -> &[String] {
        match self {
            Values::One(value) => std::slice::from_ref(value),
            Values::Several(values) => values,
        }
    }
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub about: Option<String>,
    pub input: String,
    pub start: Option<String>,
    #[serde(default)]
    pub content: String,
    #[serde(default)]
    pub thinking: String,
    #[serde(default)]
    pub narration: String,
    #[serde(default)]
    pub tool: String,
    pub thoughts: Option<Vec<ExampleThought>>,
    pub attributes: Option<Vec<(String, String)>>,
    pub causes: Option<Vec<String>>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum ExampleThought {
    Plain(String),
    Typed { thought: String, thought_type: Option<String>, confidence: Option<f64> },
}

impl Dialect {
    pub fn parse(text: &str) -> Result<Dialect, String> {
        let mut dialect: Dialect = toml::from_str(text).map_err(|error| error.to_string())?;
        dialect.known()?;
        // None is what the format calls 0.
        for tag in dialect.spans.iter_mut().filter_map(|span| span.tag.as_mut()) {
            tag.attributes = tag.attributes.filter(|&bound| bound > 0);
        }
        Ok(dialect)
    }

    /// An unknown value is as wrong as an unknown key.
    fn known(&self) -> Result<(), String> {
        let one_of = |key: &str, value: &Option<String>, known: &[&str]| match value {
            Some(value) if !known.contains(&value.as_str()) => Err(format!("{}: {key} = {value:?}", self.name)),
            _ => Ok(()),
        };
        one_of("case", &self.case, &["exact", "ascii"])?;
        for pattern in &self.models {
            if let ModelPattern::Started(started) = pattern {
                one_of("start", &Some(started.start.clone()), &["content", "thinking", "narration", "tool", "header"])?;
            }
        }
        one_of("extra_close", &self.extra_close, &["text", "drop"])?;
        one_of("stray_close", &self.stray_close, &["text", "drop", "reclassify"])?;
        for guard in &self.guard {
            one_of("guard", &Some(guard.clone()), &["fences", "inline"])?;
        }
        for span in &self.spans {
            one_of("where", &span.place, &["anywhere", "start", "lead"])?;
            one_of("again", &span.again, &["absorb", "text"])?;
            one_of("stray_close", &span.stray_close, &["text", "drop", "reclassify"])?;
            one_of("ends", &span.ends, &["thinking"])?;
            one_of("pauses", &span.pauses, &["thinking"])?;
            let closer = span.tag.as_ref().map(|tag| tag.closer.clone());
            one_of("closer", &closer, &["", "same", "any"])?;
        }
        let keys = self.header.iter().flat_map(|header| header.keys.values());
        let keys: Vec<&str> = keys.map(String::as_str).collect();
        for literal in self.header.iter().flat_map(|header| &header.whole) {
            one_of("whole", &Some(literal.clone()), &keys)?;
        }
        Ok(())
    }

    /// The channels (and `header`) that a text of this dialect may start in.
    pub fn starts(&self) -> Vec<&'static str> {
        let mut starts = vec!["content"];
        for channel in ["thinking", "narration", "tool"] {
            let header = self.header.iter().flat_map(|header| &header.routes);
            if self.spans.iter().any(|span| span.channel == channel)
                || header.into_iter().any(|route| route.channel == channel)
            {
                starts.push(channel);
            }
        }
        if self.header.is_some() {
            starts.push("header");
        }
        starts
    }
}

/// Every file of `dialects/`, by name.
pub fn all() -> Vec<Dialect> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("dialects");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            Dialect::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect()
}

/// The file of that name or alias.
pub fn find(name: &str) -> Option<Dialect> {
    all().into_iter().find(|dialect| dialect.name == name || dialect.aliases.iter().any(|alias| alias == name))
}

// ------------------------------------------------------------------------------------------------------- the events

#[derive(Clone, PartialEq, Debug)]
pub enum What {
    Open {
        rule: usize,
        tag: usize,
    },
    /// `raw` is where the value stands inside the marker.
    Attribute {
        name: Vec<u8>,
        value: Vec<u8>,
        raw: Range<usize>,
    },
    Text,
    Framing,
    Close(&'static str),
    Reclassify,
    Budget,
}

/// What an event's bytes are to the marker that they belong to. Only the reference knows it; it is not compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Part {
    None,
    Before,
    Marker,
    After,
    /// Of a reclassifying, the span whose closer it is.
    Closer(usize),
}

#[derive(Clone)]
pub struct Event {
    pub what: What,
    pub channel: &'static str,
    pub offset: usize,
    pub bytes: Vec<u8>,
    pub part: Part,
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.what == other.what
            && self.channel == other.channel
            && self.offset == other.offset
            && self.bytes == other.bytes
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match &self.what {
            What::Open { rule, tag } => format!("open({rule}, {tag})"),
            What::Attribute { name, value, raw } => {
                format!("attribute({} = {}, {raw:?})", name.escape_ascii(), value.escape_ascii())
            }
            What::Text => "text".to_string(),
            What::Framing => "framing".to_string(),
            What::Close(cause) => format!("close({cause})"),
            What::Reclassify => "reclassify".to_string(),
            What::Budget => "budget".to_string(),
        };
        let bytes = self.bytes.escape_ascii();
        write!(out, "{:>4} {:9} {what} \"{bytes}\"", self.offset, self.channel)
    }
}

pub const MARKER: &str = "marker";
pub const IMPLIED: &str = "implied";
pub const END: &str = "end of stream";
pub const FORCED: &str = "forced";

/// Neighbouring text of one channel becomes one event: how text is cut into events is the scanner's own affair.
pub fn joined(events: &[Event]) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::new();
    for event in events {
        if let Some(last) = out.last_mut() {
            let both = last.what == What::Text && event.what == What::Text;
            if both && last.channel == event.channel {
                last.bytes.extend_from_slice(&event.bytes);
                continue;
            }
        }
        out.push(event.clone());
    }
    out
}

/// Each text with its channel. What was taken for content may turn out to be thinking.
pub fn texts(events: &[Event]) -> impl Iterator<Item = (&'static str, &Event)> {
    let turn = events.iter().position(|event| event.what == What::Reclassify).unwrap_or(0);
    let texts = events.iter().enumerate().filter(|(_, event)| event.what == What::Text);
    texts.map(move |(index, event)| {
        let was_content = index < turn && event.channel == "content";
        (if was_content { "thinking" } else { event.channel }, event)
    })
}

/// The joined text of one channel.
pub fn channel(events: &[Event], name: &str) -> Vec<u8> {
    texts(events).filter(|(channel, _)| *channel == name).flat_map(|(_, event)| event.bytes.clone()).collect()
}

/// Why each span ended, in order.
pub fn causes(events: &[Event]) -> Vec<&'static str> {
    let mut out = Vec::new();
    for event in events {
        if let What::Close(cause) = event.what {
            out.push(cause);
        }
    }
    out
}

/// All attributes of the text as `(name, decoded value)`, in order.
pub fn attributes(events: &[Event]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut out = Vec::new();
    for event in events {
        if let What::Attribute { name, value, .. } = &event.what {
            out.push((name.clone(), value.clone()));
        }
    }
    out
}

#[derive(Clone, PartialEq, Debug)]
pub struct Thought {
    pub text: Vec<u8>,
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
    pub cause: &'static str,
    pub thought_type: Option<Vec<u8>>,
    pub confidence: Option<f64>,
    pub offset: usize,
}

/// The whole thoughts of the text: one for each thinking span.
pub fn thoughts(dialect: &Dialect, events: &[Event]) -> Vec<Thought> {
    let mut out = Vec::new();
    let mut now: Option<(usize, Thought)> = None;
    for event in events {
        if event.channel != "thinking" {
            continue;
        }
        match &event.what {
            What::Open { rule, .. } => {
                let thought = Thought {
                    text: Vec::new(),
                    attributes: Vec::new(),
                    cause: END,
                    thought_type: None,
                    confidence: None,
                    offset: event.offset,
                };
                now = Some((*rule, thought));
            }
            What::Attribute { name, value, .. } => {
                let (_, thought) = now.as_mut().unwrap();
                thought.attributes.push((name.clone(), value.clone()));
            }
            What::Text => {
                let (_, thought) = now.as_mut().unwrap();
                thought.text.extend_from_slice(&event.bytes);
            }
            What::Framing | What::Budget => {}
            What::Reclassify => {
                let before = events.iter().take_while(|event| event.what != What::Reclassify);
                let text = before.filter(|event| event.what == What::Text).flat_map(|event| event.bytes.clone());
                let (attributes, thought_type, confidence) = (Vec::new(), None, None);
                let (text, cause) = (text.collect(), MARKER);
                let thought = Thought { text, attributes, cause, thought_type, confidence, offset: 0 };
                let Part::Closer(rule) = event.part else { unreachable!() };
                out.extend(finished(dialect, rule, thought));
            }
            What::Close(cause) => {
                let (rule, mut thought) = now.take().unwrap();
                thought.cause = cause;
                out.extend(finished(dialect, rule, thought));
            }
        }
    }
    out
}

/// The thought of a span; none where the span's thoughts have attributes and this one is blank.
fn finished(dialect: &Dialect, rule: usize, mut thought: Thought) -> Option<Thought> {
    let keys = dialect.spans.get(rule).and_then(|span| span.thought.as_ref());
    keys.is_none_or(|keys| typed(&mut thought, keys)).then_some(thought)
}

/// Fills in what the attributes say. False where the thought is blank and so is none.
fn typed(thought: &mut Thought, keys: &ThoughtKeys) -> bool {
    let first = |wanted: &str| {
        thought.attributes.iter().find(|(name, _)| name == wanted.as_bytes()).map(|(_, value)| value.clone())
    };
    let text = first(&keys.text);
    let kind = first(&keys.kind);
    let confidence = first(&keys.confidence);
    if let Some(text) = text
        && !trimmed(&text).is_empty()
    {
        thought.text = text;
    }
    thought.text = trimmed(&thought.text).to_vec();
    thought.thought_type = kind;
    thought.confidence = confidence.map(|value| number(trimmed(&value)));
    !thought.text.is_empty()
}

/// `[+-]?(D+(\.D*)?|\.D+)([eE][+-]?D+)?` as a whole, clamped to 0…1; anything else is 0.5.
fn number(value: &[u8]) -> f64 {
    let digits = |mut at: usize| {
        while at < value.len() && value[at].is_ascii_digit() {
            at += 1;
        }
        at
    };
    let is = |at: usize, any: &[u8]| at < value.len() && any.contains(&value[at]);
    let begin = usize::from(is(0, b"+-"));
    let whole = digits(begin);
    let mut at = whole;
    let mut fraction = 0;
    if is(at, b".") {
        at = digits(at + 1);
        fraction = at - whole - 1;
    }
    if whole == begin && fraction == 0 {
        return 0.5;
    }
    if is(at, b"eE") {
        at += 1;
        if is(at, b"+-") {
            at += 1;
        }
        let exponent = digits(at);
        if exponent == at {
            return 0.5;
        }
        at = exponent;
    }
    if at != value.len() {
        return 0.5;
    }
    let number: f64 = std::str::from_utf8(value).unwrap().parse().unwrap();
    number.clamp(0.0, 1.0)
}

pub fn blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// White space inside tags: blank but for the vertical tab.
fn space(byte: u8) -> bool {
    blank(byte) && byte != 0x0b
}

pub fn trimmed(text: &[u8]) -> &[u8] {
    let begin = text.iter().position(|&byte| !blank(byte));
    let Some(begin) = begin else { return b"" };
    let end = text.iter().rposition(|&byte| !blank(byte)).unwrap();
    &text[begin..=end]
}

/// References in an attribute's value, decoded in one pass.
fn decoded(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < value.len() {
        match reference(&value[at..]) {
            Some((character, length)) => {
                let mut buffer = [0; 4];
                out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                at += length;
            }
            None => {
                out.push(value[at]);
                at += 1;
            }
        }
    }
    out
}

fn reference(text: &[u8]) -> Option<(char, usize)> {
    let named = [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"'), ("&apos;", '\'')];
    for (name, character) in named {
        if text.starts_with(name.as_bytes()) {
            return Some((character, name.len()));
        }
    }
    let hexadecimal = text.starts_with(b"&#x") || text.starts_with(b"&#X");
    let (begin, radix, most) = if hexadecimal { (3, 16, 6) } else { (2, 10, 7) };
    if !text.starts_with(b"&#") {
        return None;
    }
    let length = text[begin..].iter().position(|&byte| byte == b';')?;
    let digits = std::str::from_utf8(&text[begin..begin + length]).ok()?;
    if length == 0 || length > most || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let character = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    (character != '\0').then_some((character, begin + length + 1))
}

// ------------------------------------------------------------------------------------------------------ the reading

/// What the dialect makes of the whole text. `start` overrides the dialect's own.
pub fn events(dialect: &Dialect, text: &[u8], start: Option<&str>) -> Vec<Event> {
    reading(dialect, text, start, None, false)
}

/// The same for a host that wants stray closers as text.
pub fn read_keeping_stray(dialect: &Dialect, text: &[u8], start: Option<&str>) -> Vec<Event> {
    joined(&reading(dialect, text, start, None, true))
}

/// The same of a text whose tokens are known. `special`: where special tokens begin. Neighbouring text is joined.
pub fn read_tokens(dialect: &Dialect, text: &[u8], start: Option<&str>, special: &BTreeSet<usize>) -> Vec<Event> {
    joined(&reading(dialect, text, start, Some(special), false))
}

fn reading(
    dialect: &Dialect,
    text: &[u8],
    start: Option<&str>,
    special: Option<&BTreeSet<usize>>,
    keeps_stray: bool,
) -> Vec<Event> {
    let start = start.or(dialect.start.as_deref()).unwrap_or("content");
    let mut reading = Reading {
        dialect,
        text,
        special,
        keeps_stray,
        at_start: start.to_string(),
        events: Vec::new(),
        open: Vec::new(),
        spent: vec![false; dialect.spans.len()],
        lead: true,
        closed: true,
        alone: true,
        code: Code::default(),
        around: Code::default(),
    };
    reading.read();
    reading.events
}

/// As `events`, with neighbouring text joined.
pub fn read(dialect: &Dialect, text: &[u8], start: Option<&str>) -> Vec<Event> {
    joined(&events(dialect, text, start))
}

/// What the prompt has written of the model's turn: all behind the turn marker that ends last.
pub fn own_turn<'a>(dialect: &Dialect, prompt: &'a [u8]) -> &'a [u8] {
    let ends = |at: &usize| dialect.turns.iter().any(|turn| prompt[..*at].ends_with(turn.as_bytes()));
    &prompt[(0..=prompt.len()).rev().find(ends).unwrap_or(0)..]
}

/// A text behind a prompt: the whole turn is read, then all that is the prompt's is taken off. The spans that its
/// markers left open open at byte 0.
pub fn read_behind(dialect: &Dialect, prompt: &[u8], text: &[u8]) -> Vec<Event> {
    if text.is_empty() {
        return Vec::new();
    }
    let turn = own_turn(dialect, prompt);
    let cut = turn.len();
    let start = if dialect.start.as_deref() == Some("header") { "header" } else { "content" };
    let whole = events(dialect, &[turn, text].concat(), Some(start));
    let end = |index: usize| {
        let event: &Event = &whole[index];
        let kept = whole.get(index + 1).filter(|next| {
            next.what == What::Text && next.part == Part::Marker && matches!(event.what, What::Open { .. })
        });
        event.offset + event.bytes.len() + kept.map_or(0, |kept| kept.bytes.len())
    };
    let mut open: Vec<Vec<Event>> = Vec::new();
    let mut out = Vec::new();
    // The last marker of the prompt opened the innermost span.
    let mut just_opened = false;
    for (index, event) in whole.iter().enumerate() {
        // A marker belongs to where it ends; an implied close to the opener that implies it, behind its framing.
        let marker = (index..whole.len()).find(|&at| matches!(whole[at].what, What::Open { .. })).unwrap_or(index);
        let is_prompts = match event.what {
            What::Close(IMPLIED) => end(marker) <= cut,
            What::Close(END) | What::Budget => false,
            // It stands before its marker.
            What::Reclassify => end(index + 1) <= cut,
            What::Open { .. } | What::Close(_) => end(index) <= cut,
            What::Attribute { .. } => out.is_empty(),
            What::Text | What::Framing => end(index) <= cut && !event.bytes.is_empty(),
        };
        if is_prompts {
            match event.what {
                What::Open { .. } => open.push(vec![event.clone()]),
                What::Close(_) => drop(open.pop()),
                What::Attribute { .. } => open.last_mut().unwrap().push(event.clone()),
                What::Text | What::Framing | What::Reclassify | What::Budget => {}
            }
            just_opened = match event.what {
                What::Open { .. } => true,
                What::Close(_) | What::Reclassify | What::Budget => false,
                What::Attribute { .. } | What::Text | What::Framing => just_opened && event.part != Part::Marker,
            };
            continue;
        }
        let early = cut.saturating_sub(event.offset);
        let mut event = event.clone();
        event.bytes.drain(..early.min(event.bytes.len()));
        event.offset = event.offset.saturating_sub(cut);
        if let What::Attribute { raw, .. } = &mut event.what {
            *raw = raw.start.saturating_sub(early)..raw.end.saturating_sub(early);
        }
        if !event.bytes.is_empty() || !matches!(event.what, What::Text | What::Framing) {
            out.push(event);
        }
    }
    let innermost = open.len();
    let announced = open.into_iter().enumerate().flat_map(|(index, events)| {
        let with_attributes = just_opened && index + 1 == innermost;
        events.into_iter().take(if with_attributes { usize::MAX } else { 1 })
    });
    let announced = announced.map(|mut event| {
        event.bytes.clear();
        event.offset = 0;
        if let What::Attribute { raw, .. } = &mut event.what {
            *raw = 0..0;
        }
        event
    });
    let announced: Vec<Event> = announced.collect();
    joined(&announced.into_iter().chain(out).collect::<Vec<_>>())
}

/// Content spans open at once.
const DEEPEST: usize = 6;

/// A span that is open.
#[derive(Clone)]
struct Region {
    rule: usize,
    channel: &'static str,
    /// The names or literals that may close it: of one name only where the closer must be the same.
    name: Option<usize>,
    /// Open since the start, not opened by a marker.
    from_start: bool,
    /// A body of the header rule.
    body: bool,
    /// Its opener ended a thinking.
    ended_thinking: bool,
    /// No byte but blank ones so far.
    fresh: bool,
    /// Nothing at all so far.
    untouched: bool,
    quoted: bool,
    /// The code block inside a fence's body: its character and run.
    nested: Option<(u8, usize)>,
}

struct Reading<'a> {
    dialect: &'a Dialect,
    text: &'a [u8],
    /// Where special tokens begin, if that is known.
    special: Option<&'a BTreeSet<usize>>,
    /// A stray closer is text, whatever the dialect says.
    keeps_stray: bool,
    at_start: String,
    events: Vec<Event>,
    open: Vec<Region>,
    /// The spans of which a block was closed and that do not repeat.
    spent: Vec<bool>,
    /// No content but blank so far.
    lead: bool,
    /// No content but blank since the start or since the last close.
    closed: bool,
    /// No span and no reclassifying yet.
    alone: bool,
    code: Code,
    /// Of the text around the tool call that is open.
    around: Code,
}

/// Where in code the text of the innermost channel stands.
#[derive(Clone, Default)]
struct Code {
    /// What has come of the line: text, since a marker was removed.
    line: Vec<u8>,
    /// The character and run of the fence that opened the block around it.
    block: Option<(u8, usize)>,
}

impl Code {
    /// After text that ended with this byte.
    fn after(last: u8) -> Code {
        let line = if last == b'\n' { vec![] } else { vec![b'.'] };
        Code { line, block: None }
    }
}

/// What code hides the next byte in.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Hidden {
    No,
    InBlock,
    InSpan,
}

/// What stands at a position: framing before it, the marker itself, and what it does.
struct Found {
    before: usize,
    end: usize,
    does: Does,
}

enum Does {
    Open(Opening),
    /// The span whose closer it is: its framing belongs to it. `own`: the closer is the region's, not that of a
    /// thinking that was ended.
    Close {
        rule: Option<usize>,
        own: bool,
    },
    DropCloser {
        rule: usize,
    },
    Reclassify {
        rule: usize,
    },
    Absorb {
        rule: usize,
    },
    /// An end of the turn inside the thinking.
    End,
    Drop,
    Quote,
}

struct Opening {
    rule: usize,
    tag: usize,
    channel: &'static str,
    attributes: Vec<(Vec<u8>, Range<usize>)>,
    decode: bool,
    self_closing: bool,
    body: bool,
    /// The thinking around it goes on.
    pauses: bool,
}

impl Opening {
    fn plain(rule: usize, tag: usize, channel: &'static str) -> Opening {
        Opening {
            rule,
            tag,
            channel,
            attributes: Vec::new(),
            decode: false,
            self_closing: false,
            body: false,
            pauses: false,
        }
    }
}

fn fixed(channel: &str) -> &'static str {
    match channel {
        "content" => "content",
        "thinking" => "thinking",
        "narration" => "narration",
        "tool" => "tool",
        _ => panic!("no such channel: {channel}"),
    }
}

impl Reading<'_> {
    fn read(&mut self) {
        if self.text.is_empty() {
            return;
        }
        if self.at_start != "content" && self.at_start != "header" {
            self.open_at_start();
        }
        let mut at = 0;
        while at < self.text.len() {
            if let Some(end) = self.code(at) {
                self.push_text(at..end);
                at = end;
            } else if let Some(found) = self.marker(at) {
                at = self.apply(at, found);
            } else {
                self.push_text(at..at + 1);
                at += 1;
            }
        }
        while !self.open.is_empty() {
            self.push_close(at..at, END, Part::None);
        }
    }

    fn open_at_start(&mut self) {
        let channel = fixed(&self.at_start);
        let spans = &self.dialect.spans;
        let rule = spans.iter().position(|span| span.channel == channel);
        let rule = rule.unwrap_or(spans.len());
        self.alone = false;
        self.push(What::Open { rule, tag: 0 }, channel, 0..0, Part::None);
        self.open.push(Region {
            rule,
            channel,
            name: None,
            from_start: true,
            body: self.dialect.header.is_some(),
            ended_thinking: false,
            fresh: true,
            untouched: true,
            quoted: false,
            nested: None,
        });
    }

    // ---- what stands in the text

    fn literal(&self, at: usize, literal: &str) -> bool {
        let end = at + literal.len();
        if literal.is_empty() || end > self.text.len() {
            return false;
        }
        self.equal(&self.text[at..end], literal)
    }

    /// Whether the text has what the file spells, in its case or in any.
    fn equal(&self, here: &[u8], spelt: &str) -> bool {
        match self.dialect.case.as_deref() {
            Some("ascii") => here.eq_ignore_ascii_case(spelt.as_bytes()),
            _ => here == spelt.as_bytes(),
        }
    }

    fn framing(&self, at: usize, framing: &str) -> bool {
        framing.is_empty() || self.literal(at, framing)
    }

    /// A literal, or framing and the literal: the length of the framing.
    fn framed(&self, at: usize, before: &str, literal: &str, special: bool) -> Option<usize> {
        if self.framing(at, before) && self.marker_literal(at + before.len(), literal, special) {
            return Some(before.len());
        }
        self.marker_literal(at, literal, special).then_some(0)
    }

    /// A literal that is a marker: one that is special begins with a special token.
    fn marker_literal(&self, at: usize, literal: &str, special: bool) -> bool {
        let counts = !special || self.special.is_none_or(|special| special.contains(&at));
        counts && self.literal(at, literal)
    }

    fn line_start(&self) -> bool {
        self.code.line.is_empty()
    }

    fn guards(&self, what: &str) -> bool {
        self.dialect.guard.iter().any(|guard| guard == what)
    }

    /// The code that hides the byte at `at`, which comes after `self.code`.
    fn hidden(&self, at: usize) -> Hidden {
        let line = &self.code.line;
        let next = self.text[at];
        let content = self.channel() == "content";
        if !content && self.channel() != "thinking" {
            return Hidden::No;
        }
        let blocks = content && self.guards("fences");
        if self.guards("inline") && self.code.block.is_none() && in_code_span(line, next) {
            return Hidden::InSpan;
        }
        if blocks && (self.code.block.is_some() || in_fence_info(line, next)) {
            return Hidden::InBlock;
        }
        Hidden::No
    }

    fn line_end(&self, at: usize) -> usize {
        let length = self.text[at..].iter().position(|&byte| byte == b'\n');
        length.map_or(self.text.len(), |length| at + length + 1)
    }

    /// The spans whose closers close a region.
    fn closers(&self, region: &Region) -> Vec<usize> {
        if !region.from_start {
            return if region.body { vec![] } else { vec![region.rule] };
        }
        self.of_channel(region.channel)
    }

    fn of_channel(&self, channel: &str) -> Vec<usize> {
        (0..self.dialect.spans.len()).filter(|&rule| self.dialect.spans[rule].channel == channel).collect()
    }

    /// The marker that begins at `at`, if one that counts here does.
    fn marker(&self, at: usize) -> Option<Found> {
        let Some(region) = self.open.last() else {
            return self.in_content(at);
        };
        let quotes: Vec<&String> =
            self.closers(region).iter().filter_map(|&rule| self.dialect.spans[rule].quote.as_ref()).collect();
        for quote in quotes {
            if self.literal(at, quote) {
                let end = at + quote.len();
                let does = Does::Quote;
                return Some(Found { before: 0, end, does });
            }
        }
        if region.quoted {
            return None;
        }
        for rule in self.closers(region) {
            if region.untouched
                && let Some((before, end)) = self.labelled_closer(at, rule)
            {
                let does = Does::Close { rule: Some(rule), own: true };
                return Some(Found { before, end, does });
            }
            if let Some((before, end)) = self.closer(at, rule, region.name) {
                let rule = Some(rule);
                let does = Does::Close { rule, own: true };
                return Some(Found { before, end, does });
            }
        }
        if region.body
            && let Some(end) = self.body_closer(at)
        {
            let does = Does::Close { rule: None, own: true };
            return Some(Found { before: 0, end, does });
        }
        if region.channel == "thinking"
            && let Some(end) = self.dropped(at, &self.dialect.drop_ends)
        {
            return Some(Found { before: 0, end, does: Does::End });
        }
        if region.ended_thinking && region.channel != "content" {
            for rule in self.of_channel("thinking") {
                // A fence's closer is a line of the thinking, and a tool call has no such lines.
                if self.dialect.spans[rule].fence.is_some() {
                    continue;
                }
                if let Some((before, end)) = self.closer(at, rule, None) {
                    let rule = Some(rule);
                    let does = Does::Close { rule, own: false };
                    return Some(Found { before, end, does });
                }
            }
            if let Some(end) = self.body_closer(at) {
                let does = Does::Close { rule: None, own: false };
                return Some(Found { before: 0, end, does });
            }
        }
        if region.channel == "content" {
            return self.in_content(at);
        }
        if region.fresh {
            for (rule, span) in self.dialect.spans.iter().enumerate() {
                let absorbs = match span.again.as_deref() {
                    None if region.from_start => span.channel == region.channel,
                    None => span.channel == "thinking" && rule == region.rule && !region.body,
                    Some("absorb") if region.from_start => span.channel == region.channel,
                    Some("absorb") => rule == region.rule && !region.body,
                    _ => false,
                };
                // A fence inside a fence is a line of its own text.
                let absorbs = absorbs && span.fence.is_none();
                if absorbs && let Some((before, end, _)) = self.opener(at, rule) {
                    let does = Does::Absorb { rule };
                    return Some(Found { before, end, does });
                }
            }
        }
        let hidden = self.hidden(at) == Hidden::InSpan;
        for (rule, span) in self.dialect.spans.iter().enumerate().filter(|_| !hidden) {
            // Framing never stands before an implied close. What it ends makes room.
            if span.ends.as_deref() == Some(region.channel)
                && (self.open.len() <= DEEPEST || span.channel != "content")
                && let Some((0, end, opening)) = self.new_block(at, rule)
            {
                let does = Does::Open(opening);
                return Some(Found { before: 0, end, does });
            }
            if span.pauses.as_deref() == Some(region.channel)
                && (self.open.len() < DEEPEST || span.channel != "content")
                && let Some((before, end, mut opening)) = self.new_block(at, rule)
            {
                opening.pauses = true;
                let does = Does::Open(opening);
                return Some(Found { before, end, does });
            }
        }
        if region.body {
            return self.header(at);
        }
        None
    }

    fn in_content(&self, at: usize) -> Option<Found> {
        let hidden = self.hidden(at);
        for (rule, span) in self.dialect.spans.iter().enumerate() {
            // A block hides no tool call.
            let counts = match hidden {
                Hidden::No => true,
                Hidden::InBlock => span.channel == "tool",
                Hidden::InSpan => false,
            };
            if counts
                && (self.open.len() < DEEPEST || span.channel != "content")
                && let Some((before, end, opening)) = self.new_block(at, rule)
            {
                let does = Does::Open(opening);
                return Some(Found { before, end, does });
            }
        }
        // Behind nothing but blanks a closer is an extra one, elsewhere a stray one.
        if hidden != Hidden::No {
            return None;
        }
        for rule in self.of_channel("thinking") {
            let span = &self.dialect.spans[rule];
            // A fence's closer is a fence line like any other out here.
            if span.fence.is_some() {
                continue;
            }
            let stray = span.stray_close.as_deref().or(self.dialect.stray_close.as_deref()).unwrap_or("text");
            let rests = if self.closed {
                self.dialect.extra_close.as_deref().unwrap_or("text")
            } else if self.keeps_stray {
                "text"
            } else {
                stray
            };
            match rests {
                "reclassify" if self.alone => {
                    if let Some((before, end)) = self.closer(at, rule, None) {
                        return Some(Found { before, end, does: Does::Reclassify { rule } });
                    }
                }
                // Any other one goes alone, without its framing.
                "reclassify" if !self.spent[rule] => {
                    if let Some((0, end)) = self.bare_closer(at, rule) {
                        return Some(Found { before: 0, end, does: Does::Drop });
                    }
                }
                "drop" => {
                    if let Some((before, end)) = self.closer(at, rule, None) {
                        return Some(Found { before, end, does: Does::DropCloser { rule } });
                    }
                }
                _ => {}
            }
        }
        if let Some(end) = self.dropped(at, &self.dialect.drop).or_else(|| self.dropped(at, &self.dialect.drop_ends)) {
            return Some(Found { before: 0, end, does: Does::Drop });
        }
        // A header ends the body around it, but stands in a wrapper.
        let deeper = self.open.last().is_some_and(|region| !region.body);
        if deeper && self.open.len() >= DEEPEST {
            return None;
        }
        self.header(at)
    }

    // ---- openers and closers of spans

    /// An opener that begins a block: not one of a span that had its only block.
    fn new_block(&self, at: usize, rule: usize) -> Option<(usize, usize, Opening)> {
        if self.spent[rule] {
            return None;
        }
        self.opener(at, rule)
    }

    fn opener(&self, at: usize, rule: usize) -> Option<(usize, usize, Opening)> {
        let span = &self.dialect.spans[rule];
        let counts = match span.place.as_deref() {
            None | Some("anywhere") => true,
            Some("start") => at == 0,
            Some("lead") => self.lead,
            Some(other) => panic!("where = {other}"),
        };
        if !counts {
            return None;
        }
        let channel = fixed(&span.channel);
        for (tag, literal) in span.open.iter().enumerate() {
            if let Some(before) = self.framed(at, &span.framing.before_open, literal, span.special) {
                let end = at + before + literal.len();
                return Some((before, end, Opening::plain(rule, tag, channel)));
            }
        }
        if let Some(tag) = &span.tag {
            for name in 0..tag.names.len() {
                let mut opening = Opening::plain(rule, name, channel);
                opening.decode = true;
                if let Some(end) = self.tag_opener(at, tag, name, &mut opening) {
                    return Some((0, end, opening));
                }
            }
        }
        if let Some(word) = &span.fence
            && let Some(end) = self.fence_opener(at, word)
        {
            return Some((0, end, Opening::plain(rule, 0, channel)));
        }
        None
    }

    /// The end of one of these markers.
    fn dropped(&self, at: usize, markers: &[Dropped]) -> Option<usize> {
        let here = markers.iter().find(|it| self.marker_literal(at, it.marker(), it.special()))?;
        Some(at + here.marker().len())
    }

    /// The label of the framing after the opener, without its line break, and directly after it a closer.
    fn labelled_closer(&self, at: usize, rule: usize) -> Option<(usize, usize)> {
        let span = &self.dialect.spans[rule];
        let label = span.framing.after_open.trim_end();
        if label.is_empty() || label == span.framing.after_open || !self.literal(at, label) {
            return None;
        }
        let from = at + label.len();
        let close = span.close.iter().find(|close| self.marker_literal(from, close, span.special))?;
        Some((label.len(), from + close.len()))
    }

    /// The closer alone, without framing.
    fn bare_closer(&self, at: usize, rule: usize) -> Option<(usize, usize)> {
        let span = &self.dialect.spans[rule];
        if let Some(close) = span.close.iter().find(|close| self.marker_literal(at, close, span.special)) {
            return Some((0, at + close.len()));
        }
        if span.tag.is_some() { self.closer(at, rule, None) } else { None }
    }

    /// The closer of a span at `at`: the length of the framing before it, and its end. `open`: the name of the tag
    /// that it has to match, if any.
    fn closer(&self, at: usize, rule: usize, open: Option<usize>) -> Option<(usize, usize)> {
        let span = &self.dialect.spans[rule];
        for literal in &span.close {
            if let Some(before) = self.framed(at, &span.framing.before_close, literal, span.special) {
                return Some((before, at + before + literal.len()));
            }
        }
        if let Some(tag) = &span.tag {
            for name in 0..tag.names.len() {
                let same = open.is_none_or(|open| open == name);
                if (same || tag.closer == "any")
                    && let Some(end) = self.tag_closer(at, tag, name)
                {
                    return Some((0, end));
                }
            }
        }
        if span.fence.is_some() {
            return self.fence_closer(at).map(|end| (0, end));
        }
        None
    }

    /// The end of what closes a message's body, if that stands at `at`.
    fn body_closer(&self, at: usize) -> Option<usize> {
        let header = self.dialect.header.as_ref()?;
        let literal = header.close.iter().find(|literal| self.marker_literal(at, literal, header.special))?;
        Some(at + literal.len())
    }

    // ---- tags

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn spaces(&self, at: usize) -> usize {
        let here = self.text.get(at..).unwrap_or_default();
        at + here.iter().take_while(|&&byte| space(byte)).count()
    }

    /// The end of a gap of at most `bound` white space.
    fn gap(&self, at: usize, bound: usize) -> Option<usize> {
        let end = self.spaces(at);
        (end - at <= bound).then_some(end)
    }

    /// The end of what may stand directly behind a name: `:` and one or more letters. A `:` that begins no such
    /// thing is no part of a tag.
    fn suffix(&self, at: usize, tag: &Tag) -> Option<usize> {
        if tag.suffix == 0 || self.byte(at) != Some(b':') {
            return Some(at);
        }
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        let letters = self.text[at + 1..].iter().take_while(|&&byte| letter(byte)).count();
        (letters > 0 && letters < tag.suffix).then_some(at + 1 + letters)
    }

    fn tag_opener(&self, begin: usize, tag: &Tag, name: usize, opening: &mut Opening) -> Option<usize> {
        if self.byte(begin) != Some(b'<') {
            return None;
        }
        let mut at = self.gap(begin + 1, tag.space)?;
        let name = &tag.names[name];
        if !self.literal(at, name) {
            return None;
        }
        at = self.suffix(at + name.len(), tag)?;
        if tag.attributes.is_none() {
            at = self.gap(at, tag.space)?;
        } else {
            loop {
                let next = self.spaces(at);
                let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b':';
                if next == at || !self.byte(next).is_some_and(letter) {
                    at = next;
                    break;
                }
                at = self.attribute(next, begin, opening)?;
            }
        }
        if tag.self_close && self.byte(at) == Some(b'/') {
            opening.self_closing = true;
            at += 1;
        }
        if self.byte(at) != Some(b'>') {
            return None;
        }
        let end = at + 1;
        let short = tag.attributes.is_none_or(|bound| end - begin <= bound);
        short.then_some(end)
    }

    /// NAME ws* = ws* value; ranges count from the marker's begin.
    fn attribute(&self, begin: usize, marker: usize, opening: &mut Opening) -> Option<usize> {
        let more = |byte: u8| byte.is_ascii_alphanumeric() || b"_:.-".contains(&byte);
        let mut at = begin;
        while self.byte(at).is_some_and(more) {
            at += 1;
        }
        let name = self.text[begin..at].to_vec();
        at = self.spaces(at);
        if self.byte(at) != Some(b'=') {
            return None;
        }
        at = self.spaces(at + 1);
        let quote = self.byte(at).filter(|byte| b"\"'".contains(byte))?;
        let value = at + 1;
        let length = self.text[value..].iter().position(|&byte| byte == quote)?;
        let end = value + length;
        opening.attributes.push((name, value - marker..end - marker));
        Some(end + 1)
    }

    fn tag_closer(&self, begin: usize, tag: &Tag, name: usize) -> Option<usize> {
        if self.byte(begin) != Some(b'<') {
            return None;
        }
        let slash = self.gap(begin + 1, tag.space)?;
        if self.byte(slash) != Some(b'/') {
            return None;
        }
        let at = self.gap(slash + 1, tag.space)?;
        let name = &tag.names[name];
        if !self.literal(at, name) {
            return None;
        }
        let at = self.suffix(at + name.len(), tag)?;
        let at = self.gap(at, tag.space)?;
        (self.byte(at) == Some(b'>')).then_some(at + 1)
    }

    // ---- fences

    /// Text of a line that begins, ends or stands in a code block of a fence's body: to where nothing counts.
    fn code(&self, at: usize) -> Option<usize> {
        if !self.line_start() {
            return None;
        }
        match self.open.last() {
            Some(region) if region.channel != "content" => {
                let fence = self.closers(region).iter().any(|&rule| self.dialect.spans[rule].fence.is_some());
                let line = self.fence_line(at);
                let opens = line.as_ref().is_some_and(|line| line.nests());
                (fence && (region.nested.is_some() || opens)).then(|| self.line_end(at))
            }
            _ => None,
        }
    }

    fn fence_line(&self, begin: usize) -> Option<FenceLine> {
        let count = |at: usize, mark: u8| self.text[at..].iter().take_while(|&&byte| byte == mark).count();
        let spaces = count(begin, b' ');
        let indent = begin + spaces;
        let mark = self.byte(indent)?;
        if spaces > 3 || (mark != b'`' && mark != b'~') {
            return None;
        }
        let run = count(indent, mark);
        if run < 3 {
            return None;
        }
        let run_end = indent + run;
        let next_line = self.line_end(run_end);
        let whole = self.text[next_line - 1] == b'\n';
        let line_end = if whole { next_line - 1 } else { next_line };
        let mut info = &self.text[run_end..line_end];
        if whole {
            info = info.strip_suffix(b"\r").unwrap_or(info);
        }
        Some(FenceLine { indent, mark, run, run_end, info: info.to_vec(), whole, line_end })
    }

    /// Exactly three backticks, the word, at most 64 spaces or tabs, the line's end.
    fn fence_opener(&self, begin: usize, word: &str) -> Option<usize> {
        if begin > 0 && self.text[begin - 1] == b'`' {
            return None;
        }
        if !self.framing(begin, "```") || !self.framing(begin + 3, word) {
            return None;
        }
        let mut at = begin + 3 + word.len();
        let gap = self.text[at..].iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
        at += gap;
        if gap > 64 {
            None
        } else if self.framing(at, "\n") {
            Some(at + 1)
        } else if self.framing(at, "\r\n") {
            Some(at + 2)
        } else {
            None
        }
    }

    fn fence_closer(&self, at: usize) -> Option<usize> {
        if !self.line_start() || self.open.last().is_some_and(|region| region.nested.is_some()) {
            return None;
        }
        let line = self.fence_line(at)?;
        if line.mark != b'`' || line.run > 64 || line.nests() {
            return None;
        }
        let blanks = line.info.iter().all(|&byte| blank(byte));
        Some(if blanks && line.info.len() <= 64 { line.line_end } else { line.run_end })
    }

    // ---- headers

    fn header(&self, begin: usize) -> Option<Found> {
        let header = self.dialect.header.as_ref()?;
        let at_start = begin == 0 && self.at_start == "header";
        let key_at = |at: usize| header.keys.iter().find(|(_, key)| self.literal(at, key));
        let end_at = |at: usize| header.end.iter().find(|end| self.literal(at, end));

        let mut tag = 0;
        let mut middle = begin; // where the bytes that `max` bounds begin
        let mut at = begin;
        let mut value: Option<(&String, usize)> = None; // the key whose value we are in, and where it begins
        let first = header.begin.iter().position(|literal| self.marker_literal(begin, literal, header.special));
        if let Some(first) = first {
            tag = first;
            at += header.begin[first].len();
            middle = at;
            value = key_at(begin).map(|(name, _)| (name, at));
        } else if !header.end.iter().any(|end| self.marker_literal(begin, end, header.special)) {
            // Neither a `begin` nor an `end` alone: only the very start may begin with a key.
            if !at_start {
                return self.whole_header(begin);
            }
            // A space may stand before the key, or be its first byte.
            at += usize::from(key_at(at).is_none() && self.byte(begin) == Some(b' '));
            let (name, key) = key_at(at)?;
            // It would have been a `begin`, but for the token.
            if at == begin && header.begin.contains(key) {
                return None;
            }
            at += key.len();
            middle = at;
            value = Some((name, at));
        }

        let mut fields: Vec<(String, Range<usize>)> = Vec::new();
        let mut word: Option<Range<usize>> = None; // the last bare word
        let mut in_word = false;
        let found = loop {
            let most = header.max.unwrap_or(256);
            if at - middle > most {
                break None; // a value that is not over by now is none
            }
            let byte = self.byte(at);
            let end = end_at(at);
            let key = key_at(at).filter(|(_, key)| at + key.len() - middle <= most);
            let over = byte.is_none_or(|byte| byte == b'\n' || byte == b'<');
            if (over || end.is_some() || key.is_some() || byte.is_some_and(blank))
                && let Some((name, from)) = value.take()
                && at > from
            {
                fields.push((name.clone(), from..at));
            }
            if end.is_some() {
                break end;
            }
            if let Some((name, key)) = key {
                at += key.len();
                value = Some((name, at));
                word = None;
                in_word = false;
                continue;
            }
            if over {
                break None;
            }
            match byte {
                Some(byte) if blank(byte) => in_word = false,
                _ if value.is_some() => {}
                _ if in_word => word.as_mut().unwrap().end = at + 1,
                _ => {
                    word = Some(at..at + 1);
                    in_word = true;
                }
            }
            at += 1;
        };
        match found {
            Some(end) => {
                if let Some(word) = word
                    && !fields.iter().any(|(name, _)| name == "type")
                {
                    fields.push(("type".to_string(), word));
                }
                fields.push(("end".to_string(), at..at + end.len()));
                at += end.len();
            }
            None => at = fields.last()?.1.end,
        }
        Some(self.header_found(begin, at, tag, fields))
    }

    /// A key that is in `whole`, a name and an end.
    fn whole_header(&self, begin: usize) -> Option<Found> {
        let header = self.dialect.header.as_ref()?;
        let whole = |key: &String| header.whole.contains(key) && self.literal(begin, key);
        let (name, key) = header.keys.iter().find(|(_, key)| whole(key))?;
        let from = begin + key.len();
        let letters = self.text[from..].iter().take_while(|&&byte| !blank(byte) && byte != b'<').count();
        if letters == 0 || letters > header.max.unwrap_or(256) {
            return None;
        }
        let to = from + letters;
        let end = header.end.iter().find(|end| self.literal(to, end))?;
        let fields = vec![(name.clone(), from..to), ("end".to_string(), to..to + end.len())];
        Some(self.header_found(begin, to + end.len(), 0, fields))
    }

    fn header_found(&self, begin: usize, end: usize, tag: usize, fields: Vec<(String, Range<usize>)>) -> Found {
        let header = self.dialect.header.as_ref().unwrap();
        let fits = |route: &&Route| {
            route.when.iter().all(|(wanted, value)| {
                // Of a field that is there twice, the last one counts.
                let field = fields.iter().rfind(|(name, _)| name == wanted);
                let is =
                    |range: &Range<usize>, value: &String| value == "*" || self.equal(&self.text[range.clone()], value);
                field.is_some_and(|(_, range)| value.all().iter().any(|value| is(range, value)))
            })
        };
        let route = header.routes.iter().find(fits);
        let channel = route.map_or("content", |route| fixed(&route.channel));
        let mut opening = Opening::plain(self.dialect.spans.len(), tag, channel);
        opening.body = true;
        for (name, range) in fields {
            let range = range.start - begin..range.end - begin;
            opening.attributes.push((name.into_bytes(), range));
        }
        let does = Does::Open(opening);
        Found { before: 0, end, does }
    }

    // ---- what a marker does

    fn apply(&mut self, at: usize, found: Found) -> usize {
        let Found { before, end, does } = found;
        let begin = at + before;
        match does {
            Does::Open(opening) => self.apply_open(at, begin, end, opening),
            Does::Close { rule, own } => {
                self.push_framing(at..begin, Part::Before);
                let closed = self.block_of(begin..end, rule);
                let keep = rule.is_some_and(|rule| own && self.dialect.spans[rule].keep);
                let is_fence = rule.is_some_and(|rule| own && self.closes_as_fence(rule));
                let call = self.open.last().is_some_and(|region| is_call(self.dialect, region));
                let around = call.then(|| std::mem::take(&mut self.around));
                self.pass_marker(end, keep || is_fence);
                if keep {
                    self.push_marker_text(begin..end);
                    self.push_close(end..end, MARKER, Part::None);
                } else {
                    self.push_close(begin..end, MARKER, Part::Marker);
                }
                self.spend(closed);
                if let Some(around) = around.filter(|_| !self.dialect.guard.is_empty()) {
                    self.code = around;
                }
                self.after(end, rule, |framing| &framing.after_close)
            }
            Does::End => {
                let region = self.open.last().unwrap();
                let first = || self.of_channel("thinking").first().copied();
                let closed = if region.from_start { first().unwrap_or(region.rule) } else { region.rule };
                self.push_close(begin..end, MARKER, Part::Marker);
                self.pass_marker(end, false);
                self.spend(closed);
                end
            }
            Does::DropCloser { rule } => {
                self.push_framing(at..begin, Part::Before);
                self.push_framing(begin..end, Part::Marker);
                self.pass_marker(end, false);
                // It says that a thinking is over.
                (self.alone, self.closed) = (false, true);
                self.after(end, Some(rule), |framing| &framing.after_close)
            }
            Does::Reclassify { rule } => {
                self.push_framing(at..begin, Part::Before);
                self.push(What::Reclassify, "thinking", begin..begin, Part::Closer(rule));
                self.push_framing(begin..end, Part::Marker);
                self.pass_marker(end, false);
                (self.alone, self.lead, self.closed) = (false, true, true);
                self.spend(rule);
                self.after(end, Some(rule), |framing| &framing.after_close)
            }
            Does::Absorb { rule } => {
                self.push_framing(at..begin, Part::Before);
                self.push_framing(begin..end, Part::Marker);
                self.pass_marker(end, false);
                // It stands for the opener.
                self.open.last_mut().unwrap().untouched = true;
                self.after(end, Some(rule), |framing| &framing.after_open)
            }
            Does::Drop => {
                self.push_framing(begin..end, Part::Marker);
                self.pass_marker(end, false);
                end
            }
            Does::Quote => {
                self.push_text(begin..end);
                self.events.last_mut().unwrap().part = Part::Marker;
                let region = self.open.last_mut().unwrap();
                region.quoted = !region.quoted;
                end
            }
        }
    }

    fn apply_open(&mut self, at: usize, begin: usize, end: usize, opening: Opening) -> usize {
        let mut ended_thinking = false;
        let around = self.open.last().filter(|_| !opening.pauses);
        if let Some(region) = around
            && (region.channel != "content" || (region.body && opening.body))
        {
            let closed = region.rule;
            ended_thinking = !opening.body;
            self.push_close(at..at, IMPLIED, Part::None);
            self.spend(closed);
        }
        self.push_framing(at..begin, Part::Before);
        let span = self.dialect.spans.get(opening.rule);
        let keep = span.is_some_and(|span| span.keep);
        if span.is_some_and(|span| span.channel == "tool") {
            self.around = if ended_thinking { Code::default() } else { self.code.clone() };
        }
        self.pass_marker(end, keep || span.is_some_and(|span| span.fence.is_some()));
        let what = What::Open { rule: opening.rule, tag: opening.tag };
        let channel = opening.channel;
        let marker = if keep { begin..begin } else { begin..end };
        self.alone = false;
        self.push(what, channel, marker, Part::Marker);
        for (name, raw) in opening.attributes {
            let value = &self.text[begin + raw.start..begin + raw.end];
            let value = if opening.decode { decoded(value) } else { value.to_vec() };
            let what = What::Attribute { name, value, raw };
            self.push(what, channel, begin..begin, Part::None);
        }
        self.open.push(Region {
            rule: opening.rule,
            channel,
            name: span.and_then(|span| span.tag.as_ref()).map(|_| opening.tag),
            from_start: false,
            body: opening.body,
            ended_thinking,
            fresh: true,
            untouched: true,
            quoted: false,
            nested: None,
        });
        if keep {
            self.push_marker_text(begin..end);
        }
        if opening.self_closing {
            self.push_close(end..end, MARKER, Part::None);
            self.spend(opening.rule);
            if channel == "tool" && !self.dialect.guard.is_empty() {
                self.code = std::mem::take(&mut self.around);
            }
            return end;
        }
        let rule = (!opening.body).then_some(opening.rule);
        self.after(end, rule, |framing| &framing.after_open)
    }

    /// The span that the open region is a block of, now that the marker there closes it. What was open at the start is
    /// a block of the first span of its channel that has this closer, or a body of the header's.
    fn block_of(&self, marker: Range<usize>, closer: Option<usize>) -> usize {
        let region = self.open.last().unwrap();
        if !region.from_start {
            return region.rule;
        }
        let has = |rule: &usize| {
            let mut literals = self.dialect.spans[*rule].close.iter();
            literals.any(|literal| literal.len() == marker.len() && self.literal(marker.start, literal))
        };
        self.of_channel(region.channel).into_iter().find(has).or(closer).unwrap_or(self.dialect.spans.len())
    }

    /// A block of that span was closed; what is past the spans is a body of the header's.
    fn spend(&mut self, rule: usize) {
        if self.dialect.spans.get(rule).is_some_and(|span| span.repeat == Some(false)) {
            self.spent[rule] = true;
        }
    }

    /// Framing behind a marker: all of it or nothing.
    fn after(&mut self, at: usize, rule: Option<usize>, which: impl Fn(&Framing) -> &String) -> usize {
        let Some(rule) = rule else { return at };
        let length = which(&self.dialect.spans[rule].framing).len();
        if !self.framing(at, which(&self.dialect.spans[rule].framing)) {
            return at;
        }
        self.push_framing(at..at + length, Part::After);
        if self.dialect.guard.is_empty() && length > 0 {
            self.code = Code::after(self.text[at + length - 1]);
        }
        at + length
    }

    /// Where the text stands after a marker. `text`: it is not removed, or it is a fence line.
    fn pass_marker(&mut self, end: usize, text: bool) {
        let starts_line = !self.dialect.guard.is_empty() && !text;
        self.code = if starts_line { Code::default() } else { Code::after(self.text[end - 1]) };
    }

    /// Is what closes a region of this span here a fence line?
    fn closes_as_fence(&self, rule: usize) -> bool {
        self.dialect.spans[rule].fence.is_some()
    }

    /// The line goes on, and where it ends, it may begin or end a block.
    fn pass_text(&mut self, range: Range<usize>) {
        let blocks = self.channel() == "content" && self.guards("fences");
        for at in range {
            self.code.line.push(self.text[at]);
            if self.text[at] == b'\n' {
                let line = std::mem::take(&mut self.code.line);
                if blocks {
                    self.code.block = block_after(&line, self.code.block);
                }
            }
        }
    }

    // ---- writing events

    fn channel(&self) -> &'static str {
        self.open.last().map_or("content", |region| region.channel)
    }

    fn push(&mut self, what: What, channel: &'static str, range: Range<usize>, part: Part) {
        self.events.push(Event { what, channel, offset: range.start, bytes: self.text[range].to_vec(), part });
    }

    fn push_text(&mut self, range: Range<usize>) {
        let channel = self.channel();
        if !self.text[range.clone()].iter().all(|&byte| blank(byte)) {
            if let Some(region) = self.open.last_mut() {
                region.fresh = false;
            }
            if channel == "content" {
                self.lead = false;
                self.closed = false;
            }
        }
        if self.line_start() {
            self.push_line(range.start);
        }
        self.pass_text(range.clone());
        self.touch();
        self.push(What::Text, channel, range, Part::None);
    }

    /// Something has come in the innermost span.
    fn touch(&mut self) {
        if let Some(region) = self.open.last_mut() {
            region.untouched = false;
        }
    }

    /// A line of text of a fence's body: does it begin or end a code block in there?
    fn push_line(&mut self, at: usize) {
        let line = self.fence_line(at);
        let Some(region) = self.open.last() else { return };
        let fence = self.closers(region).iter().any(|&rule| self.dialect.spans[rule].fence.is_some());
        if !fence {
            return;
        }
        let region = self.open.last_mut().unwrap();
        match (region.nested, line) {
            (Some((mark, run)), Some(line)) if line.ends(mark, run) => region.nested = None,
            (None, Some(line)) if line.nests() => region.nested = Some((line.mark, line.run)),
            _ => {}
        }
    }

    /// A marker that stays in its channel's text.
    fn push_marker_text(&mut self, range: Range<usize>) {
        let channel = self.channel();
        self.push(What::Text, channel, range, Part::Marker);
    }

    fn push_framing(&mut self, range: Range<usize>, part: Part) {
        if !range.is_empty() {
            let channel = self.channel();
            self.touch();
            self.push(What::Framing, channel, range, part);
        }
    }

    fn push_close(&mut self, range: Range<usize>, cause: &'static str, part: Part) {
        let region = self.open.pop().unwrap();
        self.push(What::Close(cause), region.channel, range, part);
        self.closed = true;
    }
}

/// A block of the channel `tool` that has markers of its own, not a header.
fn is_call(dialect: &Dialect, region: &Region) -> bool {
    region.channel == "tool" && region.rule < dialect.spans.len()
}

/// A line's fence: at most three spaces, a run of three or more, and what follows.
fn fence_of(line: &[u8]) -> Option<(u8, usize, &[u8])> {
    let indent = line.iter().take_while(|&&byte| byte == b' ').count();
    let mark = *line.get(indent).filter(|&&byte| byte == b'`' || byte == b'~')?;
    let run = line[indent..].iter().take_while(|&&byte| byte == mark).count();
    (indent <= 3 && run >= 3).then(|| (mark, run, &line[indent + run..]))
}

/// Is what comes after this beginning of a line the info of a fence?
fn in_fence_info(line: &[u8], next: u8) -> bool {
    fence_of(line).is_some_and(|(mark, _, info)| mark == b'~' || !info.contains(&b'`') && next != b'`')
}

/// The block after a whole line.
fn block_after(line: &[u8], block: Option<(u8, usize)>) -> Option<(u8, usize)> {
    let Some((mark, run, info)) = fence_of(line) else { return block };
    match block {
        Some((opened, length)) if mark == opened && run >= length && info.iter().all(|&byte| blank(byte)) => None,
        Some(_) => block,
        None if mark == b'~' || !info.contains(&b'`') => Some((mark, run)),
        None => None,
    }
}

/// Is what comes after this beginning of a line between backticks? A run of them that is not over opens or closes
/// nothing yet.
fn in_code_span(line: &[u8], next: u8) -> bool {
    let mut open = None;
    let mut at = 0;
    while at < line.len() {
        let run = line[at..].iter().take_while(|&&byte| byte == b'`').count();
        at += run.max(1);
        let goes_on = at == line.len() && next == b'`';
        if run == 0 || goes_on {
            continue;
        }
        match open {
            None => open = Some(run),
            Some(length) if length == run => open = None,
            Some(_) => {}
        }
    }
    open.is_some() && next != b'\n'
}

/// At most three spaces, three or more backticks or tildes, and what follows on the line.
struct FenceLine {
    indent: usize,
    mark: u8,
    run: usize,
    run_end: usize,
    /// Without the line's end.
    info: Vec<u8>,
    /// It has a line end.
    whole: bool,
    /// The position of its `\n`, or the end of the text.
    line_end: usize,
}

impl FenceLine {
    /// Does it begin a code block inside a fence's body?
    fn nests(&self) -> bool {
        let letter = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_+#-".contains(&byte);
        let token = (1..=64).contains(&self.info.len()) && self.info.iter().all(letter);
        match self.mark {
            b'`' => self.run <= 64 && self.whole && token,
            _ => true,
        }
    }

    /// Does it end a code block that a run of `run` times `mark` began?
    fn ends(&self, mark: u8, run: usize) -> bool {
        self.mark == mark && self.run >= run && self.info.iter().all(|&byte| blank(byte))
    }
}
