//! A dialect as the scanner sees it: regions, the patterns that count in each, and the tries that find them.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{Channel, Start, calm::Calm};

/// What must hold where a pattern begins, and what text takes away. Bits of the scanner's state.
pub mod flag {
    /// At byte 0 of the stream.
    pub const START: u16 = 1;
    /// At byte 0 of a stream that the prompt left inside a header.
    pub const HEADER: u16 = 1 << 1;
    /// No non-blank content yet in this stream.
    pub const LEAD: u16 = 1 << 2;
    /// Only blank content since byte 0 or since the last close.
    pub const FRESH: u16 = 1 << 3;
    /// Only blanks yet in the innermost span.
    pub const BLANK: u16 = 1 << 4;
    /// The innermost span ended a thinking span that had not been closed.
    pub const ENDED: u16 = 1 << 5;
    /// Between two quotes of the innermost span.
    pub const QUOTED: u16 = 1 << 6;
    /// No room for another content span.
    pub const FULL: u16 = 1 << 7;
    /// A thinking span was closed by force, and only blank content has come since.
    pub const FORCED: u16 = 1 << 8;
    /// No span yet in this stream.
    pub const ALONE: u16 = 1 << 9;
    /// The innermost span has just opened, and nothing has come since.
    pub const OPENED: u16 = 1 << 10;
    /// The host takes a stray closer for text, whatever the dialect says.
    pub const LITERAL: u16 = 1 << 11;

    /// What the first byte takes away, whatever it is.
    pub const FIRST: u16 = START | HEADER | OPENED;
}

/// A set of a region's patterns: one bit each.
pub type PatternSet = u128;

/// Bounds of a fence line: spaces before it, backticks in a closer's run, and bytes of blanks or of a language token.
pub const FENCE_INDENT: u32 = 3;
pub const FENCE_TICKS: u32 = 64;
pub const FENCE_INFO: u32 = 64;

/// Content spans that may be open at once: only they nest in each other, and real text stays far below.
pub const MOST_NESTED: usize = 6;
/// Spans that may be open at once: those, a thinking, and a tool call that pauses it.
pub const MAX_DEPTH: usize = MOST_NESTED + 2;

pub struct Tables {
    pub name: String,
    pub aliases: Vec<String>,
    /// What a prompt writes where a turn begins.
    pub turns: Vec<Box<[u8]>>,
    /// As the file says. A dialect that was found by a model may start elsewhere.
    pub start: Start,
    /// Literals and tag names match in any ASCII case.
    pub fold: bool,
    /// Markers inside code are text.
    pub guards: bool,
    pub spans: Vec<SpanRule>,
    pub regions: Vec<Region>,
    pub nodes: Vec<Node>,
    /// What text does that has no marker.
    pub calm: Calm,
    /// Framing that follows a marker; a pattern names one by its index plus one.
    pub framings: Vec<Box<[u8]>>,
    pub tag: TagRule,
    pub header: Option<HeaderRule>,
    pub written: Written,
    pub markers: Markers,
    /// The flags that some pattern of some region asks for.
    pub used: u16,
    pub max_hold: usize,
    /// What a scanner makes room for at once: the same, but for long tags with attributes.
    pub room: usize,
    /// Of each span, then of the header.
    pub words: Vec<Words>,
}

/// What a span or the header is called.
pub struct Words {
    pub family: String,
    /// Its literals, names or info string, as the file has them.
    pub openers: Vec<String>,
}

impl Tables {
    pub const ROOT: u8 = 0;

    /// The region inside span `rule`.
    pub fn inside(&self, rule: u8) -> u8 {
        rule + 1
    }

    /// Where span `rule` has its thoughts' text, type and confidence; none for a message's body.
    pub fn thought(&self, rule: u8) -> Option<&ThoughtRule> {
        self.spans.get(usize::from(rule))?.thought.as_ref()
    }

    /// The region of a message's body, where there is a header rule.
    pub fn body(&self, channel: Channel) -> u8 {
        self.spans.len() as u8 + 1 + channel as u8
    }

    /// The region of a stream that starts inside `channel`, and the rule that its span counts as.
    pub fn started(&self, channel: Channel) -> Option<(u8, u8)> {
        let Some(rule) = self.spans.iter().position(|span| span.channel == channel) else {
            return self.header.as_ref().map(|_| (self.body(channel), self.spans.len() as u8));
        };
        let region = self.regions.iter().position(|region| region.started == Some(channel))?;
        Some((region as u8, rule as u8))
    }
}

/// One `[[span]]`.
pub struct SpanRule {
    pub channel: Channel,
    /// Its markers are text of its channel.
    pub keep: bool,
    pub thought: Option<ThoughtRule>,
}

/// Which attributes hold a thought, its type and its confidence.
#[derive(Clone)]
pub struct ThoughtRule {
    pub text: Box<str>,
    pub kind: Box<str>,
    pub confidence: Box<str>,
}

/// What stands around each channel's text where one is written; none where the dialect has no markers for it.
pub struct Written {
    pub thinking: Option<Block>,
    /// Of messages with headers alone: other content has no markers.
    pub content: Option<Block>,
}

pub struct Block {
    pub open: Box<[u8]>,
    pub close: Box<[u8]>,
    /// The closer is a fence line, and fence lines inside count.
    pub is_fence: bool,
}

/// Every marker of the dialect, without framing, for whoever must keep a text free of them.
pub struct Markers {
    pub literals: Vec<Box<[u8]>>,
    /// Those that count at the first byte of a stream alone.
    pub first: Vec<Box<[u8]>>,
    /// Names of tags.
    pub names: Vec<Box<[u8]>>,
    /// A marker into which nothing can be put that would break it.
    pub unbreakable: Option<Box<str>>,
}

/// A stretch of text in which the same patterns count: the content, or the inside of one kind of span.
pub struct Region {
    pub channel: Channel,
    /// This region is for streams that start inside this channel.
    pub started: Option<Channel>,
    pub patterns: Vec<Pattern>,
    /// The patterns that always count together: one of them, and the bits of all.
    pub groups: Vec<(Pattern, PatternSet)>,
    /// Roots of the tries of literals, of tag names behind `<` and of tag names behind `</`; 0 where there is none.
    pub literals: u32,
    pub open_names: u32,
    pub close_names: u32,
    /// The bytes with which its markers begin.
    pub first_triggers: Triggers,
    /// Those of the patterns that can count where text has taken away all that it can: most text stands there.
    pub triggers: Triggers,
    /// The patterns that ask for a special token.
    pub special: PatternSet,
    /// The patterns that count in a fenced block too, and those of them that also count between backticks.
    pub in_fences: PatternSet,
    pub in_code_spans: PatternSet,
    /// The bytes that a marker may have as its second.
    pub seconds: [bool; 256],
    /// Flags that some pattern of this region asks for.
    pub used: u16,
    /// Flags that non-blank text of this region takes away.
    pub cleared: u16,
    pub lines: LineRule,
    /// The pattern of the fence line that closes this region.
    pub fence_close: Option<u8>,
}

impl Region {
    /// The patterns that count now, by the flags that are set, the spans of which a block was closed, and the name of the
    /// innermost tag.
    pub fn active(&self, flags: u16, closed: u64, tag: u8) -> PatternSet {
        let groups = self.groups.iter().filter(|(pattern, _)| pattern.counts(flags, closed, tag));
        groups.fold(0, |all, (_, bits)| all | bits)
    }
}

/// What line structure a region needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineRule {
    Ignore,
    /// Markers inside code fences, or inside code spans, are text. Where neither is so, no fence opens behind a backtick.
    Guard {
        fences: bool,
        inline: bool,
    },
    /// The inside of a fence span: nested code blocks are opaque, and so are code spans with `inline`.
    Fence {
        inline: bool,
    },
}

impl LineRule {
    /// Does it follow code spans?
    pub fn has_code_spans(self) -> bool {
        matches!(self, LineRule::Guard { inline: true, .. } | LineRule::Fence { inline: true })
    }
}

/// In which code a marker is text, where a dialect guards code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guarded {
    /// In all that `guard` names.
    InCode,
    /// Between backticks alone: models write real calls into fences that they never close.
    InCodeSpans,
    Nowhere,
}

/// A marker, as far as one region is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Counts where all of these flags are set …
    pub needs: u16,
    /// … and none of these …
    pub avoids: u16,
    /// … and, for the closer of a tag that must match its opener, where that opener had this name.
    pub same: Option<u8>,
    /// … and where no block of this span was closed yet.
    pub once: Option<u8>,
    /// … and, where the caller tells special tokens from others, where one of those begins the marker …
    pub special: bool,
    /// … and outside of this code.
    pub guarded: Guarded,
    pub action: Action,
    /// How much of the literal is framing before the marker.
    pub before: u16,
    /// The literal's length, framing included; 0 of tags.
    pub len: u16,
    /// Framing that may follow; an index into `framings` plus one, or 0.
    pub after: u16,
}

impl Pattern {
    /// One that counts everywhere.
    pub fn of(action: Action) -> Pattern {
        Pattern {
            needs: 0,
            avoids: 0,
            same: None,
            once: None,
            special: false,
            guarded: Guarded::InCode,
            action,
            before: 0,
            len: 0,
            after: 0,
        }
    }

    /// Does it count now? See `Region::active`.
    fn counts(&self, flags: u16, closed: u64, tag: u8) -> bool {
        flags & self.needs == self.needs
            && flags & self.avoids == 0
            && self.same.is_none_or(|name| name == tag)
            && self.once.is_none_or(|rule| closed >> rule & 1 == 0)
    }

    /// Do both always count together? By the same fields.
    pub fn counts_with(&self, other: &Pattern) -> bool {
        let when = |it: &Pattern| (it.needs, it.avoids, it.same, it.once);
        when(self) == when(other)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Opens span `rule` by its literal or name number `tag`; `ends` closes the thinking around it.
    Open { rule: u8, tag: u8, ends: bool },
    /// Closes the innermost span; `keep`: its bytes are text. `rule` is the span that has this closer.
    Close { rule: u8, keep: bool },
    /// Removed without opening or closing anything.
    Drop,
    /// The same of a closer: what follows it follows a close.
    DropClose,
    /// The same of a closer of span `rule`, which says that all content before it was thinking.
    Reclassify { rule: u8 },
    /// Text; between two of them nothing else counts.
    Quote,
    /// The literal begins a fence line that opens span `rule`; `ends` as above.
    FenceOpen { rule: u8, ends: bool },
    /// The literal begins a header, `tag` saying which.
    HeaderBegin { tag: u8 },
    /// The literal is a whole header.
    HeaderEnd,
    /// The literal, a name and an end are a whole header.
    HeaderWhole,
}

/// A trie node; siblings are a list. `reach` has a bit for each pattern that ends here or below.
pub struct Node {
    pub byte: u8,
    pub child: u32,
    pub next: u32,
    pub accept: PatternSet,
    pub reach: PatternSet,
}

/// A set of bytes: bit `byte % 64` of the number at `byte / 64`.
pub type ByteSet = [u64; 4];

pub fn contains(set: &ByteSet, byte: u8) -> bool {
    set[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
}

pub fn insert(set: &mut ByteSet, byte: u8) {
    set[usize::from(byte / 64)] |= 1 << (byte % 64);
}

/// The bytes with which a region's markers begin.
#[derive(Default)]
pub struct Triggers {
    pub set: ByteSet,
    /// The same bytes, as far as there are at most three.
    pub few: [u8; 3],
    pub count: u16,
}

impl Triggers {
    pub fn insert(&mut self, byte: u8) {
        if !self.contains(byte) {
            insert(&mut self.set, byte);
            if let Some(slot) = self.few.get_mut(usize::from(self.count)) {
                *slot = byte;
            }
            self.count += 1;
        }
    }

    pub fn contains(&self, byte: u8) -> bool {
        contains(&self.set, byte)
    }
}

/// The grammar that all tags of a dialect share.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct TagRule {
    /// White space allowed in each gap.
    pub space: u32,
    /// Bytes that may stand directly behind the name: a colon and a word.
    pub suffix: u32,
    /// The longest tag, where tags may have attributes; 0 where they may not.
    pub attributes: u32,
    pub self_close: bool,
}

pub struct HeaderRule {
    pub begins: Vec<Box<[u8]>>,
    pub ends: Vec<Box<[u8]>>,
    pub keys: Vec<HeaderKey>,
    /// All of its literals, and the values that its routes ask for, match in any ASCII case.
    pub fold: bool,
    /// Bytes between the beginning and the end.
    pub max: u32,
    pub routes: Vec<Route>,
    /// Root of the trie of what a `<` inside a header may begin: ends are bits from 0, keys from 32.
    pub inner: u32,
}

pub struct HeaderKey {
    pub name: Box<str>,
    pub literal: Box<[u8]>,
}

pub struct Route {
    /// Field and the values that it may have; none are any value.
    pub when: Vec<(Box<str>, Vec<Box<str>>)>,
    pub channel: Channel,
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, support::random::Random};

    #[test]
    fn patterns_count_in_their_groups_as_each_does_alone() {
        let mut random = Random::new(3);
        for name in Dialect::names() {
            for region in &Dialect::find(name).unwrap().tables.regions {
                for _ in 0..1_000 {
                    let flags = random.below(1 << 16) as u16;
                    let closed = random.below(1 << 16) as u64;
                    let tag = random.below(16) as u8;
                    let alone = region.patterns.iter().map(|pattern| pattern.counts(flags, closed, tag));
                    let alone = alone.enumerate().fold(0, |all, (bit, counts)| all | u128::from(counts) << bit);
                    assert_eq!(region.active(flags, closed, tag), alone, "{name}: {flags:#x}, {closed:#x}, {tag}");
                }
            }
        }
    }
}
