//! A compiled dialect: the matcher's tables, and the data for the scanner, for joining and for the host's questions. This file
//! reads no files.

use super::{Channel, Start};
use crate::{
    calls::{body::Context, table::CallTables},
    matcher::{Automaton, grammar::Grammar},
};

pub struct Compiled {
    pub name: String,
    pub aliases: Vec<String>,
    /// The texts in a prompt where a turn begins.
    pub turns: Vec<Box<[u8]>>,
    /// The start according to the file. A dialect that was found by a model's name may have a different start.
    pub start: Start,
    /// The number of letters and digits of ids that are made for calls.
    pub call_ids: Option<u8>,
    pub spans: Vec<SpanRule>,
    pub grammar: Grammar,
    pub automaton: Automaton,
    /// The form of calls in each region; `None` if calls are not parsed in it. Empty if no region parses calls.
    pub calls: Vec<Option<CallTables>>,
    /// For each region and each of its tables of calls, the loop masks of the contexts in which most bytes change nothing.
    pub call_loops: Vec<Vec<[u32; Context::ALL.len()]>>,
    /// For each region, the loop masks of an answer in JSON, outside and inside strings.
    pub json_loops: Vec<[u32; 2]>,
    pub templates: Templates,
    pub markers: Markers,
    /// The flags that some pattern of a region, or a span without an opener, needs or avoids.
    pub used: u16,
    /// The flags that the spans without an opener need.
    pub bare: u16,
    pub max_hold: usize,
    /// The capacity that a scanner reserves when it is made: `max_hold` without long tags with attributes.
    pub room: usize,
    /// The labels of each span, then of the header.
    pub labels: Vec<Labels>,
}

impl Compiled {
    /// Returns the region inside span `rule`.
    pub fn inside(&self, rule: u8) -> u8 {
        rule + 1
    }

    /// Returns the form of calls in a region, or `None` if they are not parsed in it.
    pub fn calls(&self, region: u8) -> Option<&CallTables> {
        self.calls.get(usize::from(region))?.as_ref()
    }

    /// Returns the loop mask of a table in this context.
    pub fn call_loop(&self, region: u8, table: u8, context: Context) -> Option<u32> {
        self.call_loops.get(usize::from(region))?.get(usize::from(table)).map(|masks| masks[context as usize])
    }

    /// Returns the places of a thought's text, type and confidence in span `rule`, or `None` for a message's body.
    pub fn thought(&self, rule: u8) -> Option<&ThoughtRule> {
        self.spans.get(usize::from(rule))?.thought.as_ref()
    }

    /// Returns whether the openers of span `rule` are words.
    pub fn is_label(&self, rule: u8) -> bool {
        self.spans.get(usize::from(rule)).is_some_and(|span| span.is_label)
    }

    /// Returns whether an opener may lead to thinking that turns out to be the answer: a word with which an answer may begin, or
    /// the opener of a region in which the closer of an answer's wrapper counts.
    pub fn may_open_answer(&self) -> bool {
        self.spans.iter().any(|span| span.is_label) || self.grammar.regions.iter().any(|region| region.is_answered)
    }

    /// Returns the region of a message's body, for a dialect with headers.
    pub fn body(&self, channel: Channel) -> u8 {
        self.spans.len() as u8 + 1 + channel as u8
    }

    /// Returns the region of a stream that starts inside `channel`, and the rule of the open span.
    pub fn started(&self, channel: Channel) -> Option<(u8, u8)> {
        let Some(rule) = self.spans.iter().position(|span| span.channel == channel) else {
            return self.grammar.header.as_ref().map(|_| (self.body(channel), self.spans.len() as u8));
        };
        let region = self.grammar.regions.iter().position(|region| region.started == Some(channel))?;
        Some((region as u8, rule as u8))
    }
}

/// The names of a span or of the header.
pub struct Labels {
    pub family: String,
    /// The literals, names or info string of the openers, as in the file.
    pub openers: Vec<String>,
    /// The closer of each opener; empty if it has none.
    pub closers: Vec<String>,
}

/// One `[[span]]`.
pub struct SpanRule {
    pub channel: Channel,
    /// Whether the span's markers are text of its channel.
    pub keep: bool,
    /// Whether the span is a form that the family does not write by itself.
    pub is_lenient: bool,
    /// Whether the openers are words, with which an answer may begin too.
    pub is_label: bool,
    /// The flag of the places at which a body of calls opens the span without an opener, or 0.
    pub bare: u16,
    pub thought: Option<ThoughtRule>,
}

/// The attributes that hold a thought, its type and its confidence.
#[derive(Clone)]
pub struct ThoughtRule {
    pub text: Box<str>,
    pub kind: Box<str>,
    pub confidence: Box<str>,
}

/// The markers to write around each channel's text; `None` if the dialect has no markers for it.
pub struct Templates {
    pub thinking: Option<Block>,
    /// Set only for messages with headers; other content has no markers.
    pub content: Option<Block>,
    /// The opener and the closer of each span of the thinking, or of its message, without framing.
    pub thoughts: Vec<[Box<[u8]>; 2]>,
    /// The texts that end the thinking, besides openers of calls.
    pub thinking_ends: Vec<Box<[u8]>>,
    /// The blocks of the regions that have tables of calls. Joining uses the first block with an opener.
    pub calls: Vec<CallBlock>,
}

pub struct Block {
    pub open: Box<[u8]>,
    pub close: Box<[u8]>,
    /// Whether the closer is a fence line, so that fence lines in the text would close the block.
    pub is_fence: bool,
}

/// The text around the calls of a region.
pub struct CallBlock {
    /// The rule of the span. The header has the number after the last span.
    pub rule: u8,
    pub open: Box<[u8]>,
    /// The closer; empty if nothing closes the region.
    pub close: Box<[u8]>,
    /// All closers that models write.
    pub closes: Vec<Box<[u8]>>,
    /// For each table that has a `begin` but no `end`: the text that models write after a call.
    pub after_call: Vec<Box<[u8]>>,
    /// The index in `open` at which the name of the call is inserted, if a header names the call.
    pub name: Option<usize>,
}

/// Every marker of the dialect, without framing, for removing markers from a text.
pub struct Markers {
    pub literals: Vec<Box<[u8]>>,
    /// Markers that count at the beginning of a stream, perhaps after blanks.
    pub leading: Vec<Box<[u8]>>,
    /// Markers that count only at the first byte of a stream, or directly after a closer.
    pub first: Vec<Box<[u8]>>,
    /// Names of tags.
    pub names: Vec<Box<[u8]>>,
    /// A marker that cannot be broken by inserting a character, if there is one.
    pub unbreakable: Option<Box<str>>,
}
