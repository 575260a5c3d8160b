//! Holds a compiled dialect: the matcher's tables, and the data for the scanner, the joiner and the host's questions. Nothing
//! here reads a file.

use super::{Channel, Start};
use crate::{
    calls::{body::Context, table::CallTables},
    matcher::{Automaton, grammar::Grammar},
};

pub struct Compiled {
    pub name: String,
    pub aliases: Vec<String>,
    /// The texts that a prompt has where a turn begins.
    pub turns: Vec<Box<[u8]>>,
    /// As the file says. A dialect that was found by a model may start elsewhere.
    pub start: Start,
    /// Ids that are made for calls are this many letters and digits.
    pub call_ids: Option<u8>,
    pub spans: Vec<SpanRule>,
    pub grammar: Grammar,
    pub automaton: Automaton,
    /// The form of calls in each region; none where calls are not parsed there. Empty if no region parses calls.
    pub calls: Vec<Option<CallTables>>,
    /// For each of those regions and each of its tables, the loop masks where most bytes change nothing.
    pub call_loops: Vec<Vec<[u32; Context::ALL.len()]>>,
    /// For each region, the loop masks of an answer in JSON, outside its strings and inside.
    pub json_loops: Vec<[u32; 2]>,
    pub templates: Templates,
    pub markers: Markers,
    /// The flags that some pattern of some region, or a span without an opener, asks for.
    pub used: u16,
    /// Those that the spans without an opener ask for.
    pub bare: u16,
    pub max_hold: usize,
    /// The capacity that a scanner reserves at once: the same, without long tags with attributes.
    pub room: usize,
    /// The labels of each span, then of the header.
    pub labels: Vec<Labels>,
}

impl Compiled {
    /// Returns the region inside span `rule`.
    pub fn inside(&self, rule: u8) -> u8 {
        rule + 1
    }

    /// Returns the form of calls in a region; none where they are not parsed.
    pub fn calls(&self, region: u8) -> Option<&CallTables> {
        self.calls.get(usize::from(region))?.as_ref()
    }

    /// Returns the loop mask of a table inside this.
    pub fn call_loop(&self, region: u8, table: u8, context: Context) -> Option<u32> {
        self.call_loops.get(usize::from(region))?.get(usize::from(table)).map(|masks| masks[context as usize])
    }

    /// Returns where span `rule` has its thoughts' text, type and confidence; none for a message's body.
    pub fn thought(&self, rule: u8) -> Option<&ThoughtRule> {
        self.spans.get(usize::from(rule))?.thought.as_ref()
    }

    /// Returns whether the openers of span `rule` are words.
    pub fn is_label(&self, rule: u8) -> bool {
        self.spans.get(usize::from(rule)).is_some_and(|span| span.is_label)
    }

    /// Returns whether an answer may begin with words that open the thinking.
    pub fn has_labels(&self) -> bool {
        self.spans.iter().any(|span| span.is_label)
    }

    /// Returns the region of a message's body, where there is a header rule.
    pub fn body(&self, channel: Channel) -> u8 {
        self.spans.len() as u8 + 1 + channel as u8
    }

    /// Returns the region of a stream that starts inside `channel`, and the rule that its span counts as.
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
    /// Its literals, names or info string, as the file has them.
    pub openers: Vec<String>,
}

/// One `[[span]]`.
pub struct SpanRule {
    pub channel: Channel,
    /// Its markers are text of its channel.
    pub keep: bool,
    /// It reads a form that the family does not write by itself.
    pub is_lenient: bool,
    /// Its openers are words: an answer may begin with them too.
    pub is_label: bool,
    /// The flag of the places at which a body of calls opens it without an opener; 0 where none does.
    pub bare: u16,
    pub thought: Option<ThoughtRule>,
}

/// Which attributes hold a thought, its type and its confidence.
#[derive(Clone)]
pub struct ThoughtRule {
    pub text: Box<str>,
    pub kind: Box<str>,
    pub confidence: Box<str>,
}

/// The markers to write around each channel's text; none where the dialect has no markers for it.
pub struct Templates {
    pub thinking: Option<Block>,
    /// For messages with headers only: other content has no markers.
    pub content: Option<Block>,
    /// The blocks of the regions that have tables of calls and an opener; the one that is written first.
    pub calls: Vec<CallBlock>,
}

pub struct Block {
    pub open: Box<[u8]>,
    pub close: Box<[u8]>,
    /// The closer is a fence line, and fence lines inside count.
    pub is_fence: bool,
}

/// The text around the calls of a region.
pub struct CallBlock {
    /// The span; the header counts as the one after the last.
    pub rule: u8,
    pub open: Box<[u8]>,
    /// Empty where nothing closes the region.
    pub close: Box<[u8]>,
    /// The text that models write after a call of each table that has a `begin` but no `end`.
    pub after_call: Vec<Box<[u8]>>,
    /// Where in the opener a header names the call, and the key that goes before the name.
    pub name: Option<(usize, Box<[u8]>)>,
}

/// Every marker of the dialect, without framing, for keeping a text free of them.
pub struct Markers {
    pub literals: Vec<Box<[u8]>>,
    /// Those that count at the beginning of a stream, after blanks at most.
    pub leading: Vec<Box<[u8]>>,
    /// Those that count at the first byte of a stream alone, or directly after a closer.
    pub first: Vec<Box<[u8]>>,
    /// Names of tags.
    pub names: Vec<Box<[u8]>>,
    /// A marker into which nothing can be put that would break it.
    pub unbreakable: Option<Box<str>>,
}
