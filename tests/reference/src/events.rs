//! The result for a text: its events, and functions for tests that extract, for example, the text of one channel or the whole
//! thoughts. Nothing here depends on how markers are found.

use std::ops::Range;

use crate::file::{Dialect, ThoughtKeys};

#[derive(Clone, PartialEq, Debug)]
pub enum What {
    Open {
        rule: usize,
        tag: usize,
    },
    /// `raw` is the range of the value inside the marker.
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
    Call(Call),
}

/// The role of bytes of the tool channel in a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Call {
    Begin {
        table: usize,
        index: usize,
    },
    /// The name of a call. It is given here if it is a field of the header.
    Name(Option<Vec<u8>>),
    Id,
    Key,
    Type,
    Value,
    ValueEnd {
        is_repaired: bool,
    },
    End {
        index: usize,
        cause: &'static str,
        is_repaired: bool,
    },
}

/// The role of an event's bytes in their marker. Only the reference uses it, and it is not compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Part {
    None,
    Before,
    Marker,
    After,
    /// The span whose closer reclassifies.
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
            What::Call(call) => format!("{call:?}"),
        };
        let bytes = self.bytes.escape_ascii();
        write!(out, "{:>4} {:9} {what} \"{bytes}\"", self.offset, self.channel)
    }
}

pub const MARKER: &str = "marker";
pub const IMPLIED: &str = "implied";
pub const END: &str = "end of stream";
pub const FORCED: &str = "forced";
pub const MALFORMED: &str = "malformed";

/// Joins neighbouring text of one channel to one event, because a scanner may cut text into events at any place.
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

/// Joins the events that a scanner may cut at any place when it reports calls: text, framing and values.
pub fn joined_with_calls(events: &[Event]) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::new();
    for event in events {
        let may_join = matches!(event.what, What::Text | What::Framing | What::Call(Call::Value));
        match out.last_mut() {
            Some(last) if may_join && last.what == event.what && last.channel == event.channel => {
                last.bytes.extend_from_slice(&event.bytes);
            }
            _ => out.push(event.clone()),
        }
    }
    out
}

/// Returns each text with its channel. Content that turned out to be thinking is returned as thinking, and thinking that turned
/// out to be content as content.
pub fn texts(events: &[Event]) -> impl Iterator<Item = (&'static str, &Event)> {
    let turn = events.iter().position(|event| event.what == What::Reclassify).unwrap_or(0);
    let to = events.get(turn).map_or("content", |event| event.channel);
    let from = if to == "content" { "thinking" } else { "content" };
    let texts = events.iter().enumerate().filter(|(_, event)| event.what == What::Text);
    texts.map(move |(index, event)| (if index < turn && event.channel == from { to } else { event.channel }, event))
}

/// Returns the joined text of one channel.
pub fn channel(events: &[Event], name: &str) -> Vec<u8> {
    texts(events).filter(|(channel, _)| *channel == name).flat_map(|(_, event)| event.bytes.clone()).collect()
}

/// Returns the cause of each span's end, in order.
pub fn causes(events: &[Event]) -> Vec<&'static str> {
    let mut out = Vec::new();
    for event in events {
        if let What::Close(cause) = event.what {
            out.push(cause);
        }
    }
    out
}

/// Returns all attributes of the text as `(name, decoded value)`, in order.
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

/// Returns the whole thoughts of the text: one for each thinking span.
pub fn thoughts(dialect: &Dialect, events: &[Event]) -> Vec<Thought> {
    let mut out = Vec::new();
    let mut now: Option<(usize, Thought)> = None;
    for event in events {
        if event.what == What::Reclassify && event.channel == "content" {
            // The thinking so far was the answer.
            now = None;
        }
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
            What::Framing | What::Budget | What::Call(_) => {}
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
                if let Some((rule, mut thought)) = now.take() {
                    thought.cause = cause;
                    out.extend(finished(dialect, rule, thought));
                }
            }
        }
    }
    out
}

/// Returns the thought of a span, or `None` if the span's thoughts have attributes and this thought is blank.
fn finished(dialect: &Dialect, rule: usize, mut thought: Thought) -> Option<Thought> {
    let keys = dialect.spans.get(rule).and_then(|span| span.thought.as_ref());
    keys.is_none_or(|keys| typed(&mut thought, keys)).then_some(thought)
}

/// Fills in the attributes. Returns false if the thought is blank and does not count.
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

/// Reads `[+-]?(D+(\.D*)?|\.D+)([eE][+-]?D+)?` as a whole, clamped to 0…1; anything else is 0.5.
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

/// Returns whether the byte is white space inside tags, which is every blank except the vertical tab.
pub(crate) fn space(byte: u8) -> bool {
    blank(byte) && byte != 0x0b
}

pub fn trimmed(text: &[u8]) -> &[u8] {
    let begin = text.iter().position(|&byte| !blank(byte));
    let Some(begin) = begin else { return b"" };
    let end = text.iter().rposition(|&byte| !blank(byte)).unwrap();
    &text[begin..=end]
}
