//! Records what a host sees of a call, in types that belong to neither library, so that the results of both can be compared.

use std::fmt;
use std::ops::Range;

/// Bytes that are shown as text.
#[derive(Clone, Default, PartialEq)]
pub struct Bytes(pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{}\"", self.0.escape_ascii())
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        Bytes(bytes.to_vec())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Open { rule: u32, tag: u32, family: Option<String>, opener: Option<String> },
    Attribute { name: Bytes, value: Bytes, raw_name: Range<usize>, raw_value: Range<usize> },
    Text,
    Framing,
    Close(&'static str),
    Reclassify,
    Budget,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub what: What,
    pub channel: &'static str,
    pub offset: u64,
    pub bytes: Bytes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Thought {
    pub offset: u64,
    pub text: Bytes,
    pub attributes: Vec<(Bytes, Bytes)>,
    pub thought_type: Option<Bytes>,
    pub confidence: Option<f64>,
    pub cause: &'static str,
    pub truncated: bool,
}

/// A call's results, and the state of the scanner after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Neighbouring text of one channel is joined.
    pub events: Vec<Event>,
    /// How often the test stopped reading the events before their end.
    pub stops: u64,
    pub error: Option<String>,
    /// If the events were read in a loop: how much of the chunk was consumed, and the bytes held before it.
    pub consumed: Option<usize>,
    pub before: Option<Bytes>,
    /// The start of the stream according to the prompt.
    pub start: Option<&'static str>,
    pub thoughts: Vec<Thought>,
    pub held: Bytes,
    pub offset: u64,
    /// Bytes, characters, spans and tokens of each channel.
    pub counts: [[u64; 4]; 4],
    pub lost_thoughts: u64,
}

impl Seen {
    /// No call has this many events, so with more, they would never end.
    const MOST: usize = 1_000_000;

    pub fn push(&mut self, event: Event) {
        if let (What::Text, Some(last)) = (&event.what, self.events.last_mut())
            && last.what == What::Text
            && last.channel == event.channel
            && last.offset + last.bytes.0.len() as u64 == event.offset
            && !event.bytes.0.is_empty()
        {
            last.bytes.0.extend_from_slice(&event.bytes.0);
            return;
        }
        assert!(self.events.len() < Seen::MOST, "a call without end");
        self.events.push(event);
    }

    /// Removes the held bytes from the observations.
    pub fn forget_held(&mut self) {
        self.offset -= self.held.0.len() as u64;
        self.held = Bytes::default();
    }

    /// Returns the fields in which the two differ, for a message.
    pub fn difference(&self, other: &Seen) -> String {
        let fields = |seen: &Seen| -> Vec<(&'static str, String)> {
            vec![
                ("stops", format!("{:?}", seen.stops)),
                ("error", format!("{:?}", seen.error)),
                ("consumed", format!("{:?}", seen.consumed)),
                ("before", format!("{:?}", seen.before)),
                ("start", format!("{:?}", seen.start)),
                ("thoughts", format!("{:?}", seen.thoughts)),
                ("held", format!("{:?}", seen.held)),
                ("offset", format!("{:?}", seen.offset)),
                ("counts", format!("{:?}", seen.counts)),
                ("lost thoughts", format!("{:?}", seen.lost_thoughts)),
            ]
        };
        let mut text = String::new();
        let same = self.events.iter().zip(&other.events).take_while(|(a, b)| a == b).count();
        if self.events != other.events {
            let show = |seen: &Seen| seen.events.get(same).map_or("none".into(), |event| format!("{event:?}"));
            text += &format!("  event {same}\n    before {}\n    now    {}\n", show(self), show(other));
        }
        for ((name, before), (_, now)) in fields(self).into_iter().zip(fields(other)) {
            if before != now {
                text += &format!("  {name}\n    before {before}\n    now    {now}\n");
            }
        }
        text
    }
}
