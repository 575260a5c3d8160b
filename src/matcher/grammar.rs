//! The tables that a matcher reads by: the regions of a dialect, the patterns that count in each, and the tries that find them.
//! A dialect is compiled to this; neither files nor streams are known here.

use super::bytes::{ByteSet, contains};
use crate::channel::Channel;

/// Conditions that must hold where a pattern begins, and that text clears. They are bits of the scanner's state.
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
    /// There is no room for another content span.
    pub const FULL: u16 = 1 << 7;
    /// A thinking span was closed by force, and only blank content has come since.
    pub const FORCED: u16 = 1 << 8;
    /// No span yet in this stream.
    pub const ALONE: u16 = 1 << 9;
    /// The innermost span has just opened, and nothing has come since.
    pub const OPENED: u16 = 1 << 10;
    /// The host takes a stray closer for text, whatever the dialect says.
    pub const LITERAL: u16 = 1 << 11;
    /// The host has a stray closer removed alone, whatever the dialect says.
    pub const DROPPED: u16 = 1 << 12;
    /// Nothing but blanks yet in this stream, or in a prompt since its last marker.
    pub const LEADING: u16 = 1 << 13;
    /// In the body of a message whose header says that it has no calls.
    pub const ADDRESSED: u16 = 1 << 14;

    /// The flags that the first byte clears, whatever it is.
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
/// Spans that may be open at once: those, thinking, and a tool call that pauses it.
pub const MAX_DEPTH: usize = MOST_NESTED + 2;

/// All that decides which bytes are markers.
#[derive(Default)]
pub struct Grammar {
    /// Literals and tag names match in any ASCII case.
    pub fold: bool,
    /// Markers inside code are text.
    pub guards: bool,
    /// Tags and tokens that the text only mentions are text.
    pub guards_prose: bool,
    /// Openers and tags of the thinking in the strings of an answer in JSON are text.
    pub guards_json: bool,
    /// The first one is the content's, outside all spans.
    pub regions: Vec<Region>,
    pub nodes: Vec<Node>,
    /// Framing that follows a marker. A pattern names one by its index plus one.
    pub framings: Vec<Framing>,
    pub tag: TagRule,
    pub header: Option<HeaderRule>,
    /// The region of thinking that a leading tag has opened, where those count.
    pub leading: Option<u8>,
}

impl Grammar {
    /// The region of the content outside all spans.
    pub const ROOT: u8 = 0;

    pub fn region(&self, number: u8) -> &Region {
        &self.regions[usize::from(number)]
    }

    /// Returns the framing with this number, which is not 0.
    pub fn framing(&self, number: u16) -> &[u8] {
        &self.framings[usize::from(number) - 1].bytes
    }

    /// Returns the framing that may follow this one, or 0.
    pub fn next_framing(&self, number: u16) -> u16 {
        self.framings.get(usize::from(number).wrapping_sub(1)).map_or(0, |framing| framing.next)
    }

    /// Returns whether the framing with this number stays where the content before it ends in a word.
    pub fn separates(&self, number: u16) -> bool {
        self.framings.get(usize::from(number).wrapping_sub(1)).is_some_and(|framing| framing.separates)
    }

    /// Returns the number of bytes at the beginning of a text that are those of a literal.
    pub fn same(&self, literal: &[u8], text: &[u8]) -> usize {
        literal.iter().zip(text).take_while(|(a, b)| self.fold(**a) == self.fold(**b)).count()
    }

    pub fn fold(&self, byte: u8) -> u8 {
        if self.fold { byte.to_ascii_lowercase() } else { byte }
    }

    /// Returns the child of a node for this byte through which one of the patterns can be reached; 0 is none.
    pub fn child(&self, node: u32, byte: u8, active: PatternSet) -> u32 {
        let byte = self.fold(byte);
        let mut child = self.nodes[node as usize].child;
        while child != 0 {
            let it = &self.nodes[child as usize];
            if it.byte == byte {
                return if it.reach & active != 0 { child } else { 0 };
            }
            child = it.next;
        }
        0
    }
}

/// Framing that follows a marker.
#[derive(PartialEq)]
pub struct Framing {
    pub bytes: Box<[u8]>,
    /// The framing that may follow this one, as a number, or 0.
    pub next: u16,
    /// It follows thinking, and separates the words around it.
    pub separates: bool,
}

/// The largest number of line breaks before a tag that are its framing.
pub const MOST_LINES: usize = 2;

/// A stretch of text in which the same patterns count: the content, or the inside of one kind of span.
pub struct Region {
    pub channel: Channel,
    /// This region is for streams that start inside this channel.
    pub started: Option<Channel>,
    pub patterns: Vec<Pattern>,
    /// The patterns that always count together: one of them, and the bits of all.
    pub groups: Vec<(Pattern, PatternSet)>,
    /// Roots of the tries of literals, of tag names after `<` and of tag names after `</`; 0 where there is none.
    pub literals: u32,
    pub open_names: u32,
    pub close_names: u32,
    /// The tags before which that many line breaks are framing.
    pub lines_before: [PatternSet; MOST_LINES + 1],
    /// The bytes with which its markers begin.
    pub first_bytes: ByteSet,
    /// The patterns that ask for a special token.
    pub special: PatternSet,
    /// The patterns that count in a fenced block too, and those of them that also count between backticks.
    pub in_fences: PatternSet,
    pub in_code_spans: PatternSet,
    /// The patterns that count in the strings of an answer in JSON.
    pub in_strings: PatternSet,
    /// Flags that some pattern of this region asks for.
    pub used: u16,
    /// Flags that non-blank text of this region takes away.
    pub cleared: u16,
    pub lines: LineRule,
    /// The pattern of the fence line that closes this region.
    pub fence_close: Option<u8>,
    /// A marker may say that all of it was the answer.
    pub is_answered: bool,
    /// The pattern of a header whose beginning is missing.
    pub header_name: Option<u8>,
}

impl Region {
    /// Returns the patterns that count now, by the flags that are set, the spans of which a block was closed, and the name
    /// of the innermost tag.
    pub fn active(&self, flags: u16, closed: u64, tag: u8) -> PatternSet {
        let groups = self.groups.iter().filter(|(pattern, _)| pattern.counts(flags, closed, tag));
        groups.fold(0, |all, (_, bits)| all | bits)
    }

    /// Returns whether the markers of the region depend on the lines of its text.
    #[inline]
    pub fn has_lines(&self) -> bool {
        self.lines != LineRule::Ignore
    }

    /// Returns whether a marker may begin with this byte, which is outside code.
    pub fn may_begin(&self, byte: u8) -> bool {
        contains(&self.first_bytes, byte) || self.fence_close.is_some() && matches!(byte, b' ' | b'`')
    }
}

/// The treatment of code, and so of lines, in a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineRule {
    Ignore,
    /// Markers inside code fences, or inside code spans, are text. Where neither is so, no fence opens after a backtick.
    /// `words`: whether a line has text before an opener is asked.
    Guard {
        fences: bool,
        inline: bool,
        words: bool,
    },
    /// Inside a fence span: nested code blocks are opaque, and so are code spans with `inline`.
    Fence {
        inline: bool,
    },
}

impl LineRule {
    /// Returns whether it follows whether a line has text.
    pub fn has_words(self) -> bool {
        matches!(self, LineRule::Guard { words: true, .. })
    }

    /// Returns whether it follows code spans.
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
    /// … and, where the caller distinguishes special tokens from others, where one of those begins the marker …
    pub special: bool,
    /// … and, for a token that is not special there, where no blank and letter come after it …
    pub spares_prose: bool,
    /// … and outside this code.
    pub guarded: Guarded,
    pub action: Action,
    /// The number of bytes of the literal that are framing before the marker.
    pub before: u16,
    /// The literal's length, framing included; 0 of tags.
    pub len: u16,
    /// The number of its last bytes that do not belong to the marker, but must follow it.
    pub ahead: u16,
    /// Framing that may follow; an index into `framings` plus one, or 0.
    pub after: u16,
}

impl Pattern {
    /// Returns a pattern that counts everywhere.
    pub fn of(action: Action) -> Pattern {
        Pattern {
            needs: 0,
            avoids: 0,
            same: None,
            once: None,
            special: false,
            spares_prose: false,
            guarded: Guarded::InCode,
            action,
            before: 0,
            len: 0,
            ahead: 0,
            after: 0,
        }
    }

    /// Returns whether it counts now. See `Region::active`.
    fn counts(&self, flags: u16, closed: u64, tag: u8) -> bool {
        flags & self.needs == self.needs
            && flags & self.avoids == 0
            && self.same.is_none_or(|name| name == tag)
            && self.once.is_none_or(|rule| closed >> rule & 1 == 0)
    }

    /// Returns whether both always count together, by the same fields.
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
    /// Opens the thinking by a tag in place of the dialect's own opener; inside thinking that was open at the start, the tag
    /// is removed. `rule` and `tag` name it.
    Lead { rule: u8, tag: u8 },
    /// Removes an opener that is written again.
    Absorb,
    /// Removes a marker that opens and closes nothing.
    Drop,
    /// Removes such a marker where nothing comes after it; elsewhere it is text.
    DropLast,
    /// Removes a closer: the text after it follows a close.
    DropClose,
    /// Removes a closer of span `rule`, which says that all content before it was thinking.
    Reclassify { rule: u8 },
    /// Closes the innermost span, which is thinking, but was the answer if it is the first span. `rule` as above.
    Answer { rule: u8 },
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
    /// At the start of a stream that starts inside a header: a name and an end, without the literal that begins it.
    HeaderName,
}

/// A trie node; siblings are a list. `reach` has a bit for each pattern that ends here or below.
pub struct Node {
    pub byte: u8,
    pub child: u32,
    pub next: u32,
    pub accept: PatternSet,
    pub reach: PatternSet,
}

/// The grammar that all tags of a dialect share.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct TagRule {
    /// White space allowed in each gap.
    pub space: u32,
    /// Bytes that may directly follow the name: a colon and a word.
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
    /// Root of the trie of texts that a `<` inside a header may begin: ends are bits from 0, keys from 32.
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
    /// A call may be in the body.
    pub calls: bool,
}

#[cfg(test)]
mod tests {
    use samples::Random;

    use crate::Dialect;

    #[test]
    fn patterns_count_in_their_groups_as_each_does_alone() {
        let mut random = Random::new(3);
        for name in Dialect::names() {
            for region in &Dialect::find(name).unwrap().compiled.grammar.regions {
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
