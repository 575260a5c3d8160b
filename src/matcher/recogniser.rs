//! The recogniser reads one marker, byte by byte, from the place where it may begin. It decides as soon as the bytes are a
//! marker, or as soon as no continuation can make them a marker.
//!
//! A recogniser knows the whole grammar. The automaton's builder makes the table from the results of recognisers. Recognisers
//! also read constructs with unlimited forms, which a table cannot have: attributes, the values of headers, long fences,
//! suffixes.

use std::ops::Range;

use super::{
    bytes::{is_blank, is_language, is_name, is_name_start, is_suffix, is_tag_space},
    code::{COMMON_LANGUAGE, COMMON_RUN, Code, CodeTracker},
    grammar::{
        Action, FENCE_INDENT, FENCE_INFO, FENCE_TICKS, Grammar, HEADER_BLANKS, LineRule, PatternSet, Region, TagRule,
    },
};

/// The known facts about a byte's token. A byte of an unknown token may begin a special marker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenMark(u8);

impl TokenMark {
    pub const PLAIN: TokenMark = TokenMark(TokenMark::SPECIAL);
    pub const NONE: TokenMark = TokenMark(0);
    const SPECIAL: u8 = 1;
    const START: u8 = 2;

    /// Returns the mark of a token's first byte.
    pub fn start(is_special: bool) -> TokenMark {
        TokenMark(TokenMark::START | if is_special { TokenMark::SPECIAL } else { 0 })
    }

    pub fn may_be_special(self) -> bool {
        self.0 & TokenMark::SPECIAL != 0
    }

    /// Returns whether a token that is known to be special begins here.
    pub fn is_special_token(self) -> bool {
        self.may_be_special() && self.begins_token()
    }

    pub fn begins_token(self) -> bool {
        self.0 & TokenMark::START != 0
    }
}

/// The classification of the bytes so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// More bytes are needed.
    More,
    Fail,
    /// The first `len` bytes are the marker of this pattern of the region.
    Match {
        pattern: u8,
        len: usize,
    },
    /// All bytes are the framing that was expected.
    Framing,
    /// A header is complete.
    HeaderEnd {
        pattern: u8,
    },
    /// A header broke off before this byte. The last `pending` bytes do not belong to it. With `torn`, the value before
    /// them does not belong to it either, because the header became too long inside that value.
    HeaderBreak {
        pattern: u8,
        pending: u32,
        torn: bool,
    },
}

/// Up to three readings of the same bytes: as a literal, as a tag, and as a fence line that closes. Or one reading, as the
/// framing that may follow the last marker.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Recogniser {
    /// The number of bytes read so far.
    len: u32,
    /// The patterns that the bytes may become.
    active: PatternSet,
    literal: Literal,
    tag: Tag,
    close: FenceClose,
    /// The number of line breaks before a tag.
    lines: u8,
    /// The number of the framing that the bytes may be, or 0.
    framing: u16,
    /// Whether the line opens a nested block.
    nests: bool,
}

impl Recogniser {
    /// Returns a recogniser that has read nothing, for a marker that begins with `byte`. `code` is the byte's position in code,
    /// and `active` the patterns that count.
    pub fn of_marker(region: &Region, active: PatternSet, code: &CodeTracker, byte: u8) -> Recogniser {
        let is_tag = region.open_names != 0 || region.close_names != 0;
        let is_active = region.fence_close.is_some_and(|fence| active >> fence & 1 != 0);
        let is_fence_line = is_active && closes_by_line(region) && code.at_start() && !code.in_block();
        Recogniser {
            len: 0,
            active: active & unguarded(region, code, byte),
            literal: if region.literals != 0 { Literal::Trie(region.literals) } else { Literal::Dead },
            tag: if is_tag { Tag::Begin } else { Tag::Dead },
            close: if is_fence_line { FenceClose::Indent(0) } else { FenceClose::Dead },
            lines: 0,
            framing: 0,
            nests: false,
        }
    }

    /// Returns a recogniser for the framing with this number, which is not 0.
    pub fn of_framing(framing: u16) -> Recogniser {
        let (literal, tag, close) = (Literal::Dead, Tag::Dead, FenceClose::Dead);
        Recogniser { len: 0, active: 0, literal, tag, close, lines: 0, framing, nests: false }
    }

    /// Returns the number of bytes that were read, including the deciding byte.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn is_of_framing(&self) -> bool {
        self.framing != 0
    }

    /// Returns whether the recogniser failed because its line opens a nested block of a fence span.
    pub fn nests(&self) -> bool {
        self.nests
    }

    /// Returns whether the recogniser is in the fixed bytes of a marker. The variable parts (names, values and white space) have
    /// too many forms for the table. `read` are the bytes that were read.
    pub fn is_common(&self, read: &[u8]) -> bool {
        if let Some(token) = self.token(read) {
            return token.start <= COMMON_RUN as usize && token.len() <= COMMON_LANGUAGE as usize;
        }
        let in_space = matches!(read, [.., a, b, c] if [*a, *b, *c].into_iter().all(is_blank));
        let literal = matches!(self.literal, Literal::Dead | Literal::Trie(_) | Literal::FenceOpen { .. });
        let tag = match self.tag {
            Tag::Dead | Tag::Begin | Tag::Name { .. } => true,
            Tag::Lead { .. } | Tag::Tail { .. } | Tag::Gap(_) => !in_space,
            _ => false,
        };
        let close = match self.close {
            FenceClose::Dead | FenceClose::Indent(_) | FenceClose::Run { .. } => true,
            FenceClose::Blank { .. } => !in_space,
            _ => false,
        };
        literal && tag && close
    }

    /// Returns the range of the language token in the bytes that were read, if these can only be a fence line, which opens or
    /// closes a nested block. Only the length of the token matters.
    pub fn token(&self, read: &[u8]) -> Option<Range<usize>> {
        let (marker, end) = match self.close {
            FenceClose::Token { marker, .. } => (marker, read.len()),
            FenceClose::TokenReturn { marker } => (marker, read.len() - 1),
            _ => return None,
        };
        let is_alone = matches!((self.literal, self.tag), (Literal::Dead, Tag::Dead));
        is_alone.then_some(usize::from(marker)..end)
    }

    /// Removes the patterns that need a special token, because the next byte does not begin one.
    fn rule_out_special(&mut self, region: &Region) {
        let begins_here = |bit: &usize| {
            let is_special = (self.active & region.special) >> bit & 1 != 0;
            is_special && u32::from(region.patterns[*bit].before) == self.len
        };
        let here = (0..region.patterns.len()).filter(begins_here).fold(0, |here: PatternSet, bit| here | 1 << bit);
        self.active &= !here;
    }

    /// Continues in `text`, up to its end or to the deciding byte. Returns the classification of the bytes so far. `mark`
    /// returns the token mark of a byte.
    pub fn run(
        &mut self,
        grammar: &Grammar,
        region: &Region,
        text: &[u8],
        mark: impl Fn(usize) -> TokenMark,
    ) -> Outcome {
        for (at, &byte) in text.iter().enumerate() {
            if region.special != 0 && !mark(at).may_be_special() {
                self.rule_out_special(region);
            }
            let outcome = self.step(grammar, region, byte);
            if outcome != Outcome::More {
                return outcome;
            }
        }
        Outcome::More
    }

    fn step(&mut self, grammar: &Grammar, region: &Region, byte: u8) -> Outcome {
        self.len += 1;
        let (len, active) = (self.len, self.active);
        if self.framing != 0 {
            let framing = grammar.framing(self.framing);
            return match framing.get(len as usize - 1) {
                Some(&next) if grammar.fold(byte) != grammar.fold(next) => Outcome::Fail,
                Some(_) if (len as usize) < framing.len() => Outcome::More,
                Some(_) => Outcome::Framing,
                None => Outcome::Fail,
            };
        }
        let outcome = self.literal.step(grammar, region, active, byte, len);
        if outcome != Outcome::Fail && outcome != Outcome::More {
            return outcome;
        }
        let mut alive = outcome == Outcome::More;
        if matches!(self.tag, Tag::Begin) && byte == b'\n' && self.may_follow_lines(region) {
            self.lines += 1;
            alive = true;
        } else if !matches!(self.tag, Tag::Dead) {
            let active = active & region.lines_before[usize::from(self.lines)];
            match self.tag.step(grammar, region, active, byte, len) {
                Outcome::Fail => self.tag = Tag::Dead,
                Outcome::More => alive = true,
                done => return done,
            }
        }
        if !matches!(self.close, FenceClose::Dead) {
            let pattern = region.fence_close.unwrap_or(0);
            match self.close.step(pattern, byte) {
                Outcome::Fail => {
                    self.nests = self.close.in_token();
                    self.close = FenceClose::Dead;
                }
                Outcome::More => alive = true,
                done => return done,
            }
        }
        if alive { Outcome::More } else { Outcome::Fail }
    }

    /// Returns whether one more line break may precede a tag.
    fn may_follow_lines(&self, region: &Region) -> bool {
        let more = region.lines_before.iter().skip(usize::from(self.lines) + 1);
        more.fold(0, |all, patterns| all | patterns) & self.active != 0
    }

    /// Returns the classification of the bytes so far if no byte follows.
    pub fn end(&self, grammar: &Grammar, region: &Region) -> Outcome {
        if let Literal::Trie(node) = self.literal {
            let accepted = grammar.nodes[node as usize].accept & self.active;
            if accepted != 0 {
                return Outcome::Match { pattern: accepted.trailing_zeros() as u8, len: self.len() };
            }
        }
        if let Literal::Header { pattern, pending, .. } = self.literal {
            return Outcome::HeaderBreak { pattern, pending: pending.into(), torn: false };
        }
        self.close.end(region.fence_close.unwrap_or(0))
    }
}

/// Returns the patterns that may begin at this byte, considering the code around it.
fn unguarded(region: &Region, code: &CodeTracker, byte: u8) -> PatternSet {
    let code = match region.lines {
        LineRule::Ignore => Code::None,
        LineRule::Guard { .. } => code.code(byte, region.lines),
        LineRule::Fence { .. } if code.is_nested(byte) => return 0,
        LineRule::Fence { .. } => code.code(byte, region.lines),
    };
    match code {
        Code::None => PatternSet::MAX,
        Code::Block => region.in_fences,
        Code::Span => region.in_code_spans,
    }
}

fn closes_by_line(region: &Region) -> bool {
    matches!(region.lines, LineRule::Fence { .. })
}

/// Replaces the number of a node after a line's end in a header: a marker that begins with `<` may follow.
const LINE_END: u32 = u32::MAX;

/// The bits of header ends in a header's inner trie.
const ENDS: PatternSet = u32::MAX as PatternSet;

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Literal {
    #[default]
    Dead,
    Trie(u32),
    /// After the info string of an opening fence: blanks, and perhaps a carriage return.
    FenceOpen {
        pattern: u8,
        blanks: u8,
        cr: bool,
    },
    /// After the literal of a `HeaderWhole`: the number of bytes of the name, and the node of the end.
    Whole {
        pattern: u8,
        count: u16,
        node: u32,
    },
    /// After a header's beginning: the number of bytes after a `<`, or after a line's end before it, and the node to which they
    /// lead.
    Header {
        pattern: u8,
        pending: u16,
        node: u32,
    },
}

impl Literal {
    fn step(&mut self, grammar: &Grammar, region: &Region, active: PatternSet, byte: u8, len: u32) -> Outcome {
        match *self {
            Literal::Dead => Outcome::Fail,
            Literal::Trie(node) => {
                let node = grammar.child(node, byte, active);
                let accepted = grammar.nodes[node as usize].accept & active;
                let is_name = byte.is_ascii_alphabetic() || byte == b'_';
                if node == 0
                    && len == 1
                    && is_name
                    && let Some(pattern) = region.header_name.filter(|name| active >> name & 1 != 0)
                {
                    let node = grammar.header.as_ref().map_or(0, |header| header.inner);
                    *self = Literal::Whole { pattern, count: 1, node };
                    return Outcome::More;
                }
                if node == 0 {
                    *self = Literal::Dead;
                    return Outcome::Fail;
                }
                *self = Literal::Trie(node);
                if accepted == 0 {
                    return Outcome::More;
                }
                let pattern = accepted.trailing_zeros() as u8;
                match region.patterns[usize::from(pattern)].action {
                    Action::FenceOpen { .. } => *self = Literal::FenceOpen { pattern, blanks: 0, cr: false },
                    Action::HeaderBegin { .. } => {
                        let node = grammar.header.as_ref().map_or(0, |header| header.inner);
                        *self = Literal::Header { pattern, pending: 0, node };
                    }
                    Action::HeaderWhole => {
                        let node = grammar.header.as_ref().map_or(0, |header| header.inner);
                        *self = Literal::Whole { pattern, count: 0, node };
                    }
                    Action::HeaderEnd => return Outcome::HeaderEnd { pattern },
                    // Only the end of the text decides this marker.
                    Action::DropLast => {}
                    _ => {
                        let ahead = region.patterns[usize::from(pattern)].ahead;
                        return Outcome::Match { pattern, len: len as usize - usize::from(ahead) };
                    }
                }
                Outcome::More
            }
            Literal::FenceOpen { pattern, blanks, cr } => {
                match byte {
                    b'\n' => return Outcome::Match { pattern, len: len as usize },
                    b' ' | b'\t' if !cr && u32::from(blanks) < FENCE_INFO => {
                        *self = Literal::FenceOpen { pattern, blanks: blanks + 1, cr };
                    }
                    b'\r' if !cr => *self = Literal::FenceOpen { pattern, blanks, cr: true },
                    _ => {
                        *self = Literal::Dead;
                        return Outcome::Fail;
                    }
                }
                Outcome::More
            }
            Literal::Whole { pattern, count, node } => {
                let Some(rule) = &grammar.header else { return Outcome::Fail };
                let next = grammar.child(node, byte, ENDS);
                if grammar.nodes[next as usize].accept & ENDS != 0 {
                    return Outcome::HeaderEnd { pattern };
                }
                let action = region.patterns[usize::from(pattern)].action;
                let is_letter =
                    if action == Action::HeaderName { is_name(byte) } else { !is_blank(byte) && byte != b'<' };
                let is_name = node == rule.inner && u32::from(count) < rule.max && is_letter;
                *self = match next {
                    0 if is_name => Literal::Whole { pattern, count: count + 1, node },
                    0 => Literal::Dead,
                    _ if count == 0 => Literal::Dead,
                    node => Literal::Whole { pattern, count, node },
                };
                if matches!(self, Literal::Dead) { Outcome::Fail } else { Outcome::More }
            }
            Literal::Header { pattern, pending, node } => {
                // The length of the header's middle so far.
                let count = len - 1 - u32::from(region.patterns[usize::from(pattern)].len) - u32::from(pending);
                self.header(grammar, pattern, count, pending, node, byte)
            }
        }
    }

    fn header(&mut self, grammar: &Grammar, pattern: u8, count: u32, pending: u16, node: u32, byte: u8) -> Outcome {
        let Some(rule) = &grammar.header else { return Outcome::Fail };
        if byte == b'\n' && pending == 0 || node == LINE_END && is_blank(byte) && pending < HEADER_BLANKS {
            *self = Literal::Header { pattern, pending: pending + 1, node: LINE_END };
            return Outcome::More;
        }
        let node = if node == LINE_END { rule.inner } else { node };
        let next = grammar.child(node, byte, !0);
        let is_text = pending == 0 && next == 0;
        if is_text && byte == b'<' || pending > 0 && next == 0 {
            return Outcome::HeaderBreak { pattern, pending: pending.into(), torn: false };
        }
        let accepted = grammar.nodes[next as usize].accept;
        if accepted & ENDS != 0 {
            return Outcome::HeaderEnd { pattern };
        }
        let (count, begun, node) = if is_text {
            (count + 1, 0, rule.inner)
        } else if accepted != 0 {
            (count + u32::from(pending) + 1, 0, rule.inner)
        } else {
            (count, pending + 1, next)
        };
        // Bytes that may still be part of the header's end do not belong to its middle.
        let may_end = grammar.nodes[node as usize].reach & ENDS != 0;
        let middle = if may_end { count } else { count + u32::from(begun) };
        if middle > rule.max {
            return Outcome::HeaderBreak { pattern, pending: pending.into(), torn: is_text && !is_blank(byte) };
        }
        *self = Literal::Header { pattern, pending: begun, node };
        Outcome::More
    }
}

/// A tag: `<`, white space, perhaps `/` and white space, a name, and the text that the grammar allows after the name.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Tag {
    #[default]
    Dead,
    Begin,
    /// After `<`, or after `</`: white space so far.
    Lead {
        slash: bool,
        space: u32,
    },
    Name {
        slash: bool,
        node: u32,
    },
    /// A colon and a word after the name; the number of their bytes so far.
    Suffix {
        slash: bool,
        pattern: u8,
        count: u32,
    },
    /// In white space after the name, if no attributes may follow.
    Tail {
        slash: bool,
        pattern: u8,
        space: u32,
    },
    /// White space after the name or a value: an attribute may begin.
    Gap(u8),
    AttributeName(u8),
    BeforeEquals(u8),
    BeforeValue(u8),
    /// In a value, which ends at this quote mark.
    Value(u8, u8),
    AfterValue(u8),
    /// After the `/` of a tag that closes itself.
    Slash(u8),
}

impl Tag {
    fn step(&mut self, grammar: &Grammar, region: &Region, active: PatternSet, byte: u8, len: u32) -> Outcome {
        let rule = &grammar.tag;
        let is_space = is_tag_space(byte);
        let counts = |root: u32| grammar.nodes[root as usize].reach & active != 0;
        let done = |pattern| Outcome::Match { pattern, len: len as usize };
        let next = match *self {
            Tag::Begin if byte == b'<' && (counts(region.open_names) || counts(region.close_names)) => {
                Tag::Lead { slash: false, space: 0 }
            }
            Tag::Lead { slash, space } if is_space && space < rule.space => Tag::Lead { slash, space: space + 1 },
            Tag::Lead { slash: false, .. } if byte == b'/' && counts(region.close_names) => {
                Tag::Lead { slash: true, space: 0 }
            }
            Tag::Lead { slash, .. } => {
                let root = if slash { region.close_names } else { region.open_names };
                match grammar.child(root, byte, active) {
                    0 => return Outcome::Fail,
                    node => Tag::Name { slash, node },
                }
            }
            Tag::Name { slash, node } => match grammar.child(node, byte, active) {
                0 => match grammar.nodes[node as usize].accept & active {
                    0 => return Outcome::Fail,
                    accepted if byte == b':' && rule.suffix > 0 => {
                        Tag::Suffix { slash, pattern: accepted.trailing_zeros() as u8, count: 1 }
                    }
                    accepted => return self.after_name(rule, slash, accepted.trailing_zeros() as u8, byte, len),
                },
                node => Tag::Name { slash, node },
            },
            Tag::Suffix { slash, pattern, count } if is_suffix(byte) && count < rule.suffix => {
                Tag::Suffix { slash, pattern, count: count + 1 }
            }
            Tag::Suffix { slash, pattern, count } if count > 1 => {
                return self.after_name(rule, slash, pattern, byte, len);
            }
            Tag::Tail { pattern, .. } | Tag::Slash(pattern) if byte == b'>' => return done(pattern),
            Tag::Tail { slash, pattern, space } if is_space && space < rule.space => {
                Tag::Tail { slash, pattern, space: space + 1 }
            }
            Tag::Tail { slash: false, pattern, .. } if byte == b'/' && rule.self_close => Tag::Slash(pattern),
            Tag::Gap(pattern) | Tag::AfterValue(pattern) if byte == b'>' => return done(pattern),
            Tag::Gap(pattern) | Tag::AfterValue(pattern) if byte == b'/' && rule.self_close => Tag::Slash(pattern),
            Tag::Gap(pattern) | Tag::AfterValue(pattern) if is_space => Tag::Gap(pattern),
            Tag::Gap(pattern) if is_name_start(byte) => Tag::AttributeName(pattern),
            Tag::AttributeName(pattern) if is_name(byte) => Tag::AttributeName(pattern),
            Tag::AttributeName(pattern) | Tag::BeforeEquals(pattern) if is_space => Tag::BeforeEquals(pattern),
            Tag::AttributeName(pattern) | Tag::BeforeEquals(pattern) if byte == b'=' => Tag::BeforeValue(pattern),
            Tag::BeforeValue(pattern) if is_space => Tag::BeforeValue(pattern),
            Tag::BeforeValue(pattern) if byte == b'"' || byte == b'\'' => Tag::Value(pattern, byte),
            Tag::Value(pattern, quote) if byte == quote => Tag::AfterValue(pattern),
            Tag::Value(pattern, quote) => Tag::Value(pattern, quote),
            _ => return Outcome::Fail,
        };
        self.go(rule, next, len)
    }

    /// Continues after the name; `byte` is the first byte after it.
    fn after_name(&mut self, rule: &TagRule, slash: bool, pattern: u8, byte: u8, len: u32) -> Outcome {
        let has_attributes = rule.attributes > 0 && !slash;
        let next = match byte {
            b'>' => return Outcome::Match { pattern, len: len as usize },
            b'/' if rule.self_close && !slash => Tag::Slash(pattern),
            _ if !is_tag_space(byte) => return Outcome::Fail,
            _ if has_attributes => Tag::Gap(pattern),
            _ if rule.space > 0 => Tag::Tail { slash, pattern, space: 1 },
            _ => return Outcome::Fail,
        };
        self.go(rule, next, len)
    }

    fn go(&mut self, rule: &TagRule, next: Tag, len: u32) -> Outcome {
        let is_closer = matches!(
            next,
            Tag::Lead { slash: true, .. }
                | Tag::Name { slash: true, .. }
                | Tag::Suffix { slash: true, .. }
                | Tag::Tail { slash: true, .. }
        );
        if rule.attributes > 0 && len >= rule.attributes && !is_closer {
            return Outcome::Fail;
        }
        *self = next;
        Outcome::More
    }
}

/// A line that may close a fence span: indent, run of backticks, info string.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
enum FenceClose {
    #[default]
    Dead,
    Indent(u8),
    Run {
        indent: u8,
        ticks: u8,
    },
    /// A blank info string. The fence closes, and the blanks belong to the marker if the line ends within the limit.
    Blank {
        marker: u8,
        blanks: u8,
    },
    /// A language token. If the line has nothing else, it opens a nested block; otherwise it closes.
    Token {
        marker: u8,
        count: u8,
    },
    TokenReturn {
        marker: u8,
    },
}

impl FenceClose {
    fn in_token(&self) -> bool {
        matches!(self, FenceClose::Token { .. } | FenceClose::TokenReturn { .. })
    }

    fn step(&mut self, pattern: u8, byte: u8) -> Outcome {
        let closes = |len: u8| Outcome::Match { pattern, len: usize::from(len) };
        let next = match *self {
            FenceClose::Indent(indent) if byte == b' ' && u32::from(indent) < FENCE_INDENT => {
                FenceClose::Indent(indent + 1)
            }
            FenceClose::Indent(indent) if byte == b'`' => FenceClose::Run { indent, ticks: 1 },
            FenceClose::Run { indent, ticks } if byte == b'`' && u32::from(ticks) < FENCE_TICKS => {
                FenceClose::Run { indent, ticks: ticks + 1 }
            }
            FenceClose::Run { indent, ticks } if byte != b'`' && ticks >= 3 => {
                let marker = indent + ticks;
                match byte {
                    b'\n' => return closes(marker),
                    _ if is_blank(byte) => FenceClose::Blank { marker, blanks: 1 },
                    _ if is_language(byte) => FenceClose::Token { marker, count: 1 },
                    _ => return closes(marker),
                }
            }
            FenceClose::Blank { marker, blanks, .. } => {
                let is_full = u32::from(blanks) >= FENCE_INFO;
                match byte {
                    b'\n' => return closes(marker + blanks),
                    // One more byte is allowed if it is the carriage return of the line end.
                    b'\r' if u32::from(blanks) == FENCE_INFO => FenceClose::Blank { marker, blanks: blanks + 1 },
                    _ if is_blank(byte) && !is_full => FenceClose::Blank { marker, blanks: blanks + 1 },
                    _ => return closes(marker),
                }
            }
            FenceClose::Token { marker, count } => match byte {
                b'\n' => return Outcome::Fail,
                b'\r' => FenceClose::TokenReturn { marker },
                _ if is_language(byte) && u32::from(count) < FENCE_INFO => {
                    FenceClose::Token { marker, count: count + 1 }
                }
                _ => return closes(marker),
            },
            FenceClose::TokenReturn { .. } if byte == b'\n' => return Outcome::Fail,
            FenceClose::TokenReturn { marker } => return closes(marker),
            _ => return Outcome::Fail,
        };
        *self = next;
        Outcome::More
    }

    fn end(&self, pattern: u8) -> Outcome {
        let closes = |len: u8| Outcome::Match { pattern, len: usize::from(len) };
        match *self {
            FenceClose::Run { indent, ticks } if ticks >= 3 => closes(indent + ticks),
            FenceClose::Blank { marker, blanks, .. } if u32::from(blanks) <= FENCE_INFO => closes(marker + blanks),
            FenceClose::Blank { marker, .. }
            | FenceClose::Token { marker, .. }
            | FenceClose::TokenReturn { marker } => closes(marker),
            _ => Outcome::Fail,
        }
    }
}
