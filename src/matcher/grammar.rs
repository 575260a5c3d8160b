//! The tables of a matcher: the regions of a dialect, the patterns that count in each, and the tries that find them. A dialect
//! is compiled to these tables; nothing here depends on files or streams.

use super::bytes::{ByteSet, contains};
use crate::channel::Channel;

/// Conditions on the place where a pattern begins, as bits of the scanner's state. Text clears them.
pub mod flag {
    /// At byte 0 of the stream.
    pub const START: u16 = 1;
    /// At byte 0 of a stream that the prompt left inside a header.
    pub const HEADER: u16 = 1 << 1;
    /// No non-blank content yet in this stream.
    pub const LEAD: u16 = 1 << 2;
    /// Only blank content since byte 0 or since the last close.
    pub const FRESH: u16 = 1 << 3;
    /// Only blanks so far in the innermost span.
    pub const BLANK: u16 = 1 << 4;
    /// The innermost span ended a thinking span that had not been closed.
    pub const ENDED: u16 = 1 << 5;
    /// Between two quotes of the innermost span.
    pub const QUOTED: u16 = 1 << 6;
    /// There is no room for another content span.
    pub const FULL: u16 = 1 << 7;
    /// A thinking span was closed by force, and since then there was only blank content.
    pub const FORCED: u16 = 1 << 8;
    /// No span yet in this stream.
    pub const ALONE: u16 = 1 << 9;
    /// The innermost span has just opened, and no byte has arrived since.
    pub const OPENED: u16 = 1 << 10;
    /// The host's options make a stray closer text, whatever the dialect says.
    pub const LITERAL: u16 = 1 << 11;
    /// The host's options remove only the stray closer, whatever the dialect says.
    pub const DROPPED: u16 = 1 << 12;
    /// Only blanks so far in this stream, or in a prompt since its last marker.
    pub const LEADING: u16 = 1 << 13;
    /// In the body of a message that has no calls, according to its header.
    pub const ADDRESSED: u16 = 1 << 14;

    /// The flags that the first byte clears, whatever it is.
    pub const FIRST: u16 = START | HEADER | OPENED;
}

/// A set of a region's patterns: one bit each.
pub type PatternSet = u128;

/// Limits of a fence line: of spaces before it, of backticks in a closer's run, and of bytes of blanks or of a language token.
pub const FENCE_INDENT: u32 = 3;
pub const FENCE_TICKS: u32 = 64;
pub const FENCE_INFO: u32 = 64;

/// The maximum number of blanks from a line's end in a header to the marker that continues the header.
pub const HEADER_BLANKS: u16 = 16;

/// The maximum number of content spans that may be open at once. Only content spans are nested in each other, and real text has far
/// fewer.
pub const MOST_NESTED: usize = 6;
/// The maximum number of spans that may be open at once: content spans, thinking, and a tool call that pauses the thinking.
pub const MAX_DEPTH: usize = MOST_NESTED + 2;

/// All rules that decide which bytes are markers.
#[derive(Default)]
pub struct Grammar {
    /// Whether literals and tag names match in any ASCII case.
    pub fold: bool,
    /// Whether markers inside code are text.
    pub guards: bool,
    /// Whether tags and tokens that the text only mentions are text.
    pub guards_prose: bool,
    /// Whether openers and tags of the thinking are text in the strings of an answer in JSON.
    pub guards_json: bool,
    /// The regions. The first is the content outside all spans.
    pub regions: Vec<Region>,
    pub nodes: Vec<Node>,
    /// Framings that follow markers. A pattern refers to a framing by the framing's index plus one.
    pub framings: Vec<Framing>,
    pub tag: TagRule,
    pub header: Option<HeaderRule>,
    /// The region of thinking that a leading tag has opened, if leading tags count.
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

    /// Returns whether the framing with this number is kept after content that ends in a word.
    pub fn separates(&self, number: u16) -> bool {
        self.framings.get(usize::from(number).wrapping_sub(1)).is_some_and(|framing| framing.separates)
    }

    /// Returns the number of bytes at the beginning of a text that agree with a literal.
    pub fn same(&self, literal: &[u8], text: &[u8]) -> usize {
        literal.iter().zip(text).take_while(|(a, b)| self.fold(**a) == self.fold(**b)).count()
    }

    pub fn fold(&self, byte: u8) -> u8 {
        if self.fold { byte.to_ascii_lowercase() } else { byte }
    }

    /// Returns the child of a node for this byte, if one of the patterns can be reached through it; otherwise 0.
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
    /// Whether the framing follows thinking and separates the words around it.
    pub separates: bool,
}

/// The maximum number of line breaks before a tag that are its framing.
pub const MOST_LINES: usize = 2;

/// A stretch of text in which the same patterns count: the content, or the inside of one kind of span.
pub struct Region {
    pub channel: Channel,
    /// The channel, if the region is for streams that start inside a channel.
    pub started: Option<Channel>,
    pub patterns: Vec<Pattern>,
    /// The groups of patterns that always count together: one pattern of the group, and the bits of all.
    pub groups: Vec<(Pattern, PatternSet)>,
    /// The roots of the tries of literals, of tag names after `<` and of tag names after `</`; 0 without a trie.
    pub literals: u32,
    pub open_names: u32,
    pub close_names: u32,
    /// For each number of line breaks, the tags before which that number of line breaks is framing.
    pub lines_before: [PatternSet; MOST_LINES + 1],
    /// The bytes with which markers of the region begin.
    pub first_bytes: ByteSet,
    /// The patterns that need a special token.
    pub special: PatternSet,
    /// The patterns that also count in a fenced block, and those that also count between backticks.
    pub in_fences: PatternSet,
    pub in_code_spans: PatternSet,
    /// The patterns that count in the strings of an answer in JSON.
    pub in_strings: PatternSet,
    /// The flags that some pattern of this region needs or avoids.
    pub used: u16,
    /// The flags that non-blank text of this region clears.
    pub cleared: u16,
    pub lines: LineRule,
    /// The pattern of the fence line that closes this region.
    pub fence_close: Option<u8>,
    /// Whether a marker may show that the whole region was the answer.
    pub is_answered: bool,
    /// The pattern of a header whose beginning is missing.
    pub header_name: Option<u8>,
}

impl Region {
    /// Returns the patterns that count with these flags, if spans of the rules in `closed` were closed, and the innermost tag has
    /// the name `tag`.
    pub fn active(&self, flags: u16, closed: u64, tag: u8) -> PatternSet {
        let groups = self.groups.iter().filter(|(pattern, _)| pattern.counts(flags, closed, tag));
        groups.fold(0, |all, (_, bits)| all | bits)
    }

    /// Returns whether the markers of the region depend on the lines of its text.
    #[inline]
    pub fn has_lines(&self) -> bool {
        self.lines != LineRule::Ignore
    }

    /// Returns whether a marker may begin with this byte outside code.
    pub fn may_begin(&self, byte: u8) -> bool {
        contains(&self.first_bytes, byte) || self.fence_close.is_some() && matches!(byte, b' ' | b'`')
    }
}

/// The treatment of code, and therefore of lines, in a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineRule {
    Ignore,
    /// Markers inside code fences, or inside code spans, are text. If neither is set, a fence still cannot open after a
    /// backtick. `words` means that text before an opener on its line matters.
    Guard {
        fences: bool,
        inline: bool,
        words: bool,
    },
    /// Inside a fence span. Markers in nested code blocks, and with `inline` in code spans, are text.
    Fence {
        inline: bool,
    },
}

impl LineRule {
    /// Returns whether the tracker must record if a line has text.
    pub fn has_words(self) -> bool {
        matches!(self, LineRule::Guard { words: true, .. })
    }

    /// Returns whether a tag on an indented line may be code.
    pub fn has_indents(self) -> bool {
        matches!(self, LineRule::Guard { fences: true, inline: true, words: true })
    }

    /// Returns whether code spans must be tracked.
    pub fn has_code_spans(self) -> bool {
        matches!(self, LineRule::Guard { inline: true, .. } | LineRule::Fence { inline: true })
    }
}

/// The kinds of code in which a marker is text, in a dialect that guards code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guarded {
    /// All kinds that `guard` names.
    InCode,
    /// Only code spans, because models write real calls into fences that they never close.
    InCodeSpans,
    Nowhere,
}

/// A marker in one region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// The marker counts only if all of these flags are set,
    pub needs: u16,
    /// and if none of these flags is set,
    pub avoids: u16,
    /// and, for the closer of a tag that must match its opener, if the opener had this name,
    pub same: Option<u8>,
    /// and if no span of this rule was closed yet,
    pub once: Option<u8>,
    /// and, if the caller distinguishes special tokens, if a special token begins the marker,
    pub special: bool,
    /// and, if the caller does not distinguish them, if no punctuation and no blank with a letter follow the token,
    pub spares_prose: bool,
    /// and only outside this kind of code.
    pub guarded: Guarded,
    pub action: Action,
    /// The number of bytes of the literal that are framing before the marker.
    pub before: u16,
    /// The literal's length, including framing; 0 for tags.
    pub len: u16,
    /// The number of the literal's last bytes that do not belong to the marker, but must follow it.
    pub ahead: u16,
    /// The framing that may follow, as an index into `framings` plus one, or 0.
    pub after: u16,
}

impl Pattern {
    /// Returns a pattern that counts everywhere outside code.
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

    /// Returns whether the pattern counts. See `Region::active`.
    fn counts(&self, flags: u16, closed: u64, tag: u8) -> bool {
        flags & self.needs == self.needs
            && flags & self.avoids == 0
            && self.same.is_none_or(|name| name == tag)
            && self.once.is_none_or(|rule| closed >> rule & 1 == 0)
    }

    /// Returns whether both patterns count under the same conditions.
    pub fn counts_with(&self, other: &Pattern) -> bool {
        let when = |it: &Pattern| (it.needs, it.avoids, it.same, it.once);
        when(self) == when(other)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Opens span `rule`; `tag` is the number of the literal or name. With `ends`, the thinking around it is closed.
    Open { rule: u8, tag: u8, ends: bool },
    /// Closes the innermost span. With `keep`, the bytes are text. `rule` is the span that has this closer.
    Close { rule: u8, keep: bool },
    /// Opens the thinking by a leading tag, which is not the dialect's own opener. In thinking that was open at the start, the
    /// tag is removed. `rule` and `tag` are reported as the opener.
    Lead { rule: u8, tag: u8 },
    /// Removes a repeated opener.
    Absorb,
    /// Removes a marker that opens and closes nothing.
    Drop,
    /// Removes a marker that opens and closes nothing at the end of the text; elsewhere it is text.
    DropLast,
    /// Removes a closer. The text after it is treated as the text after a span.
    DropClose,
    /// Removes a closer of span `rule`, which shows that all content before it was thinking.
    Reclassify { rule: u8 },
    /// Closes the innermost span, which is thinking. If it is the first span, it was the answer. `rule` is the span that has
    /// this closer.
    Answer { rule: u8 },
    /// A quote, which is text. Between two quotes no other marker counts.
    Quote,
    /// The literal begins a fence line that opens span `rule`; `ends` as in `Open`.
    FenceOpen { rule: u8, ends: bool },
    /// The literal begins a header; `tag` is the number of the literal.
    HeaderBegin { tag: u8 },
    /// The literal is a whole header.
    HeaderEnd,
    /// The literal is followed by a name and an end, which together are a whole header.
    HeaderWhole,
    /// A name and an end at the start of a stream that starts inside a header, whose beginning is missing.
    HeaderName,
}

/// A node of a trie, whose siblings are a list. `reach` has a bit for each pattern that ends in the node or below.
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
    /// The maximum number of bytes of white space in each gap.
    pub space: u32,
    /// The maximum number of bytes of a suffix of the name: a colon and a word.
    pub suffix: u32,
    /// The longest tag, if tags may have attributes; 0 if they may not.
    pub attributes: u32,
    pub self_close: bool,
}

pub struct HeaderRule {
    pub begins: Vec<Box<[u8]>>,
    pub ends: Vec<Box<[u8]>>,
    pub keys: Vec<HeaderKey>,
    /// Whether the header's literals, and the values of its routes, match in any ASCII case.
    pub fold: bool,
    /// The maximum number of bytes between the beginning and the end.
    pub max: u32,
    pub routes: Vec<Route>,
    /// The root of the trie of texts inside a header that begin with `<`: ends are bits from 0, keys from 32.
    pub inner: u32,
}

pub struct HeaderKey {
    pub name: Box<str>,
    pub literal: Box<[u8]>,
}

pub struct Route {
    /// Fields, each with the values that it may have; an empty list means any value.
    pub when: Vec<(Box<str>, Vec<Box<str>>)>,
    pub channel: Channel,
    /// Whether a call may be in the body.
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
