//! Finds the marker that counts at a position of the whole text, if there is one, by the text and the open spans. This code does
//! not change the state, and may examine a position many times.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::code::{Code, FenceLine, Hidden, Json, in_code_span, in_fence_info, is_inside};
use crate::events::{Event, blank, space};
use crate::file::{Dialect, Dropped, Route, Tag};

/// The maximum number of content spans that may be open at once.
pub(crate) const DEEPEST: usize = 6;

/// The maximum number of blanks from a line's end in a header to the next marker.
const HEADER_BLANKS: usize = 16;

/// A span that is open.
#[derive(Clone)]
pub(crate) struct Region {
    pub(crate) rule: usize,
    pub(crate) channel: &'static str,
    /// The name of the opener, if the closer must have the same name.
    pub(crate) name: Option<usize>,
    /// Whether the span was open at the start, and not opened by a marker.
    pub(crate) from_start: bool,
    /// Whether the region is the body of a message.
    pub(crate) body: bool,
    /// Whether the message has no calls, according to its header.
    pub(crate) addressed: bool,
    /// The leading tag that opened the span in place of the dialect's marker.
    pub(crate) lead: Option<&'static str>,
    /// Whether the span's opener ended a thinking span.
    pub(crate) ended_thinking: bool,
    /// Whether the span has only blanks so far.
    pub(crate) fresh: bool,
    /// Whether the span has nothing so far.
    pub(crate) untouched: bool,
    pub(crate) quoted: bool,
    /// The code block inside a fence's body: its character and run.
    pub(crate) nested: Option<(u8, usize)>,
}

impl Region {
    /// Returns a region that an opener without a name has just opened.
    pub(crate) fn new(rule: usize, channel: &'static str) -> Region {
        Region {
            rule,
            channel,
            name: None,
            from_start: false,
            body: false,
            addressed: false,
            lead: None,
            ended_thinking: false,
            fresh: true,
            untouched: true,
            quoted: false,
            nested: None,
        }
    }
}

/// The treatment of a stray closer that a host sets, whatever the dialect says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stray {
    Text,
    /// Only the closer is removed, without framing.
    Drop,
}

pub(crate) struct Reading<'a> {
    pub(crate) dialect: &'a Dialect,
    pub(crate) text: &'a [u8],
    /// The positions at which special tokens begin, if they are known.
    pub(crate) special: Option<&'a BTreeSet<usize>>,
    /// The host's choice for stray closers.
    pub(crate) stray: Option<Stray>,
    /// Whether the host wants calls.
    pub(crate) wants_calls: bool,
    /// The number of calls that have begun.
    pub(crate) calls: usize,
    pub(crate) at_start: String,
    pub(crate) events: Vec<Event>,
    pub(crate) open: Vec<Region>,
    /// For each span, whether a block of it was closed, and the span must not be repeated.
    pub(crate) spent: Vec<bool>,
    /// Whether the content has only blanks so far.
    pub(crate) lead: bool,
    /// Whether the content has only blanks since the start or since the last close.
    pub(crate) closed: bool,
    /// Whether there were only blanks since the beginning of the text, or since the last marker of the prompt.
    pub(crate) leading: bool,
    /// Whether tags of other families count at the beginning of the text.
    pub(crate) leads: bool,
    /// The beginning of the line that began after the last marker.
    pub(crate) line_from: usize,
    /// Whether the prompt has closed the thinking and not opened it again.
    pub(crate) prompt_closed: bool,
    /// The length of the prompt's part of the text.
    pub(crate) prompt: usize,
    /// Whether there was no span and no reclassification yet.
    pub(crate) alone: bool,
    /// Whether no span has ended yet, and nothing was reclassified.
    pub(crate) first: bool,
    /// Whether the text has ended by itself.
    pub(crate) ended: bool,
    /// Whether the thinking in which the text starts, or which words have opened, is a guess, because it had no real opener.
    pub(crate) guessed: bool,
    /// The tag that the text has mentioned last.
    pub(crate) spoken_of: Option<String>,
    /// Whether thinking has ended.
    pub(crate) has_closed: bool,
    pub(crate) code: Code,
    /// The code state of the text around the open tool call.
    pub(crate) around: Code,
    /// The position in the JSON, if the content is an answer in JSON.
    pub(crate) json: Option<Json>,
    /// Whether a call at the examined position is only part of a sentence.
    pub(crate) sentence: Cell<bool>,
}

/// A marker at a position: the framing before it, the marker itself, and its effect.
pub(crate) struct Found {
    pub(crate) before: usize,
    pub(crate) end: usize,
    pub(crate) does: Does,
}

pub(crate) enum Does {
    Open(Opening),
    /// A closer of the span `rule`, with the framing of that span. `own` means that it is the closer of the open
    /// region, not of thinking that the region ended.
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
        rule: Option<usize>,
    },
    /// A leading tag replaces the dialect's own opener.
    Lead {
        name: &'static str,
    },
    /// A marker that ends a turn, or the closer of a wrapper of the answer (`answer`), is inside the thinking and ends it.
    End {
        answer: bool,
    },
    /// The text only mentions the marker, so it stays as text. `closer` is the closer of the opener that the line has mentioned
    /// last.
    Prose {
        closer: Option<String>,
    },
    Drop,
    Quote,
}

pub(crate) struct Opening {
    pub(crate) rule: usize,
    pub(crate) tag: usize,
    pub(crate) channel: &'static str,
    pub(crate) attributes: Vec<(Vec<u8>, Range<usize>)>,
    pub(crate) decode: bool,
    pub(crate) self_closing: bool,
    pub(crate) body: bool,
    /// Whether the message has no calls, according to its header.
    pub(crate) addressed: bool,
    /// Whether the thinking around the span continues after it.
    pub(crate) pauses: bool,
}

impl Opening {
    pub(crate) fn plain(rule: usize, tag: usize, channel: &'static str) -> Opening {
        Opening {
            rule,
            tag,
            channel,
            attributes: Vec::new(),
            decode: false,
            self_closing: false,
            body: false,
            addressed: false,
            pauses: false,
        }
    }
}

pub(crate) fn fixed(channel: &str) -> &'static str {
    match channel {
        "content" => "content",
        "thinking" => "thinking",
        "narration" => "narration",
        "tool" => "tool",
        _ => panic!("no such channel: {channel}"),
    }
}

impl Reading<'_> {
    pub(crate) fn channel(&self) -> &'static str {
        self.open.last().map_or("content", |region| region.channel)
    }

    pub(crate) fn literal(&self, at: usize, literal: &str) -> bool {
        let end = at + literal.len();
        if literal.is_empty() || end > self.text.len() {
            return false;
        }
        self.equal(&self.text[at..end], literal)
    }

    /// Returns whether the text is a literal of the file, in the same case or, if the dialect folds, in any case.
    fn equal(&self, here: &[u8], spelt: &str) -> bool {
        match self.dialect.case.as_deref() {
            Some("ascii") => here.eq_ignore_ascii_case(spelt.as_bytes()),
            _ => here == spelt.as_bytes(),
        }
    }

    pub(crate) fn framing(&self, at: usize, framing: &str) -> bool {
        framing.is_empty() || self.literal(at, framing)
    }

    /// Looks for a literal, perhaps after framing. Returns the length of the framing.
    fn framed(&self, at: usize, before: &str, literal: &str, special: bool) -> Option<usize> {
        if self.framing(at, before) && self.marker_literal(at + before.len(), literal, special) {
            return Some(before.len());
        }
        self.marker_literal(at, literal, special).then_some(0)
    }

    /// Returns whether a literal that is a marker is at `at`. A special marker must begin with a special token.
    pub(crate) fn marker_literal(&self, at: usize, literal: &str, special: bool) -> bool {
        let counts = !special || self.special.is_none_or(|special| special.contains(&at));
        counts && self.literal(at, literal)
    }

    pub(crate) fn line_start(&self) -> bool {
        self.code.line.is_empty()
    }

    pub(crate) fn guards(&self, what: &str) -> bool {
        self.dialect.guard.iter().any(|guard| guard == what)
    }

    /// Returns the code that hides the byte at `at`, which is the next after `self.code`.
    fn hidden(&self, at: usize) -> Hidden {
        let line = &self.code.line;
        let next = self.text[at];
        let content = self.channel() == "content";
        if !content && self.channel() != "thinking" {
            return Hidden::No;
        }
        let blocks = content && self.guards("fences");
        let block = self.code.block;
        let in_block = is_inside(&[line, &[next][..]].concat(), block);
        if self.guards("inline") && !in_block && in_code_span(line, next) {
            return Hidden::InSpan;
        }
        if blocks && (in_block || in_fence_info(line, next, block)) {
            return Hidden::InBlock;
        }
        Hidden::No
    }

    /// Returns whether the next byte is in a string of an answer in JSON, where openers and tags of the thinking are text.
    fn in_json_string(&self, at: usize) -> bool {
        self.json.is_some_and(|json| json.in_string) && self.text[at] != b'\n'
    }

    /// Returns whether an opener is only part of a sentence: the family does not write this form by itself, and on its line, a
    /// blank and other text precede it, or another such call.
    fn in_sentence(&self, at: usize, rule: usize) -> bool {
        let is_special = self.special.is_some_and(|special| special.contains(&at));
        if !self.dialect.spans[rule].lenient || self.channel() != "content" || is_special {
            return false;
        }
        let text = &self.text[self.line_from.min(at)..at];
        let line = text.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let after_blank = line.last().is_some_and(|&last| blank(last) && last != b'\r');
        (after_blank || self.code.sentence) && !line.iter().all(|&byte| blank(byte))
    }

    pub(crate) fn line_end(&self, at: usize) -> usize {
        let length = self.text[at..].iter().position(|&byte| byte == b'\n');
        length.map_or(self.text.len(), |length| at + length + 1)
    }

    /// Returns the spans whose closers close a region.
    pub(crate) fn closers(&self, region: &Region) -> Vec<usize> {
        if region.lead.is_some() {
            return vec![];
        }
        if !region.from_start {
            return if region.body { vec![] } else { vec![region.rule] };
        }
        self.of_channel(region.channel)
    }

    pub(crate) fn of_channel(&self, channel: &str) -> Vec<usize> {
        (0..self.dialect.spans.len()).filter(|&rule| self.dialect.spans[rule].channel == channel).collect()
    }

    /// Returns the marker that begins at `at`, if it counts.
    pub(crate) fn marker(&self, at: usize) -> Option<Found> {
        let found = self.marker_or_prose(at)?;
        match self.prose(at, &found) {
            Some(closer) => Some(Found { before: 0, end: found.end, does: Does::Prose { closer } }),
            None => Some(found),
        }
    }

    /// Returns a result if the text only mentions a marker. If the marker is an opener, the result has its closer.
    fn prose(&self, at: usize, found: &Found) -> Option<Option<String>> {
        let is_special = self.special.is_some_and(|special| special.contains(&at));
        if !self.guards("inline") || found.before > 0 || is_special {
            return None;
        }
        let marker = String::from_utf8_lossy(&self.text[at..found.end]).to_string();
        let last = self.text[self.line_from.min(at)..at].last().copied();
        match &found.does {
            Does::Close { rule, own } if self.channel() == "thinking" => {
                let is_fence =
                    *own && rule.is_some_and(|rule| self.dialect.spans.get(rule).is_some_and(|it| it.fence.is_some()));
                (!is_fence && self.is_quoted(last, found.end)).then_some(None)
            }
            Does::End { answer: false } => self.is_quoted(last, found.end).then_some(None),
            Does::Open(opening) if self.channel() == "content" && !self.lead => {
                self.opener_in_prose(at..found.end, opening, &marker)
            }
            Does::Drop if self.channel() == "content" && self.is_dropped_token(at..found.end) => {
                let after = [found.end, found.end + 1].map(|at| self.text.get(at).copied());
                let letter = |byte: u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
                // The end of the prompt is treated like the end of the text, whatever follows the prompt.
                let is_cut = (found.end..=found.end + 1).contains(&self.prompt);
                if after[0].is_some_and(|first| b".,;:)".contains(&first)) {
                    return (found.end != self.prompt && !self.lead).then(|| self.code.mentioned.clone());
                }
                let [Some(first), Some(second)] = after else { return None };
                let is_prose = first == b' ' && letter(second);
                // The line's last mention does not change.
                (is_prose && !is_cut && !self.lead).then(|| self.code.mentioned.clone())
            }
            Does::DropCloser { .. } | Does::Reclassify { .. } | Does::Drop if self.channel() == "content" => {
                if self.closes_mentioned(at, &marker) {
                    return Some(None);
                }
                let word = marker.strip_prefix("</")?.strip_suffix('>')?;
                // A closer after only blanks is an extra closer, and never a mention.
                if self.closed || !is_word(word) {
                    return None;
                }
                if self.is_quoted(last, found.end) {
                    return Some(None);
                }
                let continues = match self.known_after(found.end) {
                    [next, ..] if b".,;:!?)]}".contains(next) => true,
                    [first, second, ..] => in_line(*first) && second.is_ascii_alphabetic(),
                    _ => false,
                };
                (last.is_some_and(in_line) && continues).then_some(None)
            }
            _ => None,
        }
    }

    /// Returns the text after the end of a marker. The end of the prompt is treated like the end of the text.
    fn known_after(&self, end: usize) -> &[u8] {
        &self.text[end..if end <= self.prompt { self.prompt } else { self.text.len() }]
    }

    /// Returns the result of `prose` for an opener of a span or of a message.
    fn opener_in_prose(&self, range: Range<usize>, opening: &Opening, marker: &str) -> Option<Option<String>> {
        let span = self.dialect.spans.get(opening.rule);
        let by_call = span.is_some_and(|span| !span.calls.is_empty() && span.sure != Some(false));
        let broken = opening.body && !opening.attributes.iter().any(|(name, _)| name == b"end");
        let word = marker.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).filter(|word| is_word(word));
        let token = marker.starts_with(['<', '[']) || !marker.starts_with(|first: char| first.is_ascii());
        let token = token && span.is_none_or(|span| span.channel != "content");
        if by_call || broken || word.is_none() && !token {
            return None;
        }
        let closer = match (span, span.and_then(|span| span.tag.as_ref()), word) {
            (_, Some(tag), _) => format!("</{}>", tag.names[opening.tag]),
            (Some(_), None, Some(word)) => format!("</{word}>"),
            (Some(span), None, None) => span.close.first().cloned().unwrap_or_default(),
            (None, ..) => String::new(),
        };
        let line = &self.text[self.line_from.min(range.start)..range.start];
        let last = line.last().copied();
        let after_blank = last.is_some_and(in_line);
        let after_wide = last_character(line).is_some_and(|letter| ('\u{3040}'..='\u{D7FF}').contains(&letter));
        let mentioned = if span.is_some() { Some(closer.clone()) } else { self.code.mentioned.clone() };
        let after = self.known_after(range.end);
        let generic = self.dialect.folds() && last.is_some_and(|last| last.is_ascii_alphanumeric());
        let generic = generic && word.is_some_and(|word| word.chars().any(|c| c.is_ascii_uppercase()));
        let pair = after.len() >= closer.len() && self.literal(range.end, &closer);
        if generic || pair && (after_blank || after_wide) {
            return Some(mentioned);
        }
        let label = span.filter(|_| word.is_none()).map_or("", |span| span.framing.after_open.trim_end());
        let has_label = after.len() >= label.len() && self.literal(range.end, label);
        let after = if has_label { &after[label.len()..] } else { after };
        let next = *after.first()?;
        let line_end = |byte: u8| byte == b'\n' || byte == b'\r';
        let letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
        let continues = match word {
            Some(_) => in_line(next) || b"()[]{}.,;:!?-/".contains(&next),
            None => b".,;:)".contains(&next) || next == b' ' && after.get(1).is_some_and(letter),
        };
        let quoted = quote(next) && (after_blank || word.is_none());
        let korean = (0xEA..=0xED).contains(&next);
        let wide = matches!(next, 0xE3..=0xED | 0xEF);
        let opening_marks = ["“", "‘", "„", "‚", "«", "‹", "「", "『", "（", "【", "《", "〈"];
        let opens = last.is_some_and(|last| quote(last) || b"([{".contains(&last))
            || opening_marks.iter().any(|mark| line.ends_with(mark.as_bytes()));
        let emphasised = last.is_some_and(|last| b"*_".contains(&last));
        // Without any of these before it, an opener is never a mention.
        let may_be = after_blank || after_wide || opens || emphasised;
        let is_prose = after_blank && (continues || korean)
            || may_be && quoted
            || after_wide && wide
            || opens && !line_end(next)
            || emphasised && last == Some(next)
            || word.is_some() && self.is_indented(range.start) && !line_end(next);
        is_prose.then_some(mentioned)
    }

    /// Returns whether a marker is the closer, perhaps with a suffix, of an opener that the text has mentioned: in this line, or
    /// earlier if this line is indented or thinking has ended.
    fn closes_mentioned(&self, at: usize, marker: &str) -> bool {
        let spoken_of = self.spoken_of.as_ref().filter(|_| self.has_closed || self.is_indented(at));
        let Some(closer) = self.code.mentioned.as_ref().or(spoken_of) else { return false };
        let (closer, marker) = (self.dialect.folded(closer), self.dialect.folded(marker));
        let front = closer.strip_suffix('>').unwrap_or(&closer);
        !closer.is_empty() && (marker == closer || marker.starts_with(&format!("{front}:")))
    }

    /// Returns whether the tag at `at` is the first text of its line after two blanks or more, as in code. Text must precede it
    /// since the last close.
    fn is_indented(&self, at: usize) -> bool {
        let text = &self.text[self.line_from.min(at)..at];
        let indent = text.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let after_space = indent.last().is_some_and(|&last| in_line(last));
        let deep = indent.len() > 1 || indent != b" ";
        // Only for such dialects, the lines of the text are followed.
        let lenient = self.dialect.spans.iter().any(|span| span.lenient);
        let counts = lenient && self.guards("fences") && !self.closed && self.code.block.is_none();
        counts && after_space && deep && indent.iter().all(|&byte| blank(byte))
    }

    /// Returns whether these bytes are a special token that the dialect drops.
    fn is_dropped_token(&self, bytes: Range<usize>) -> bool {
        let dropped = self.dialect.drop.iter().chain(&self.dialect.drop_ends).filter(|it| it.special());
        dropped.map(Dropped::marker).any(|marker| self.literal(bytes.start, marker) && marker.len() == bytes.len())
    }

    /// Returns whether a closer that ends at `end` is quoted: the same mark is before and after it, and no letter or digit
    /// follows.
    fn is_quoted(&self, before: Option<u8>, end: usize) -> bool {
        let Some(mark) = before.filter(|mark| b"'\"`*_".contains(mark)) else { return false };
        let next = |at: usize| self.text.get(at).copied();
        // The end of the prompt is treated like the end of the text, whatever follows the prompt.
        let is_cut = (end..=end + 1).contains(&self.prompt);
        !is_cut && next(end) == Some(mark) && !next(end + 1).is_some_and(|next| next.is_ascii_alphanumeric())
    }

    /// Returns the marker that begins at `at`, even if the text only mentions it.
    fn marker_or_prose(&self, at: usize) -> Option<Found> {
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
        if let Some(name) = region.lead {
            return self.in_lead(at, region, name);
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
            && let Some(found) = self.removed_in_thinking(at)
        {
            return Some(found);
        }
        if region.ended_thinking && region.channel != "content" {
            for rule in self.of_channel("thinking") {
                // Only lines of the thinking can be fences that close it, so a line of a tool call cannot.
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
        {
            for (rule, span) in self.dialect.spans.iter().enumerate() {
                let absorbs = match span.again.as_deref() {
                    None if region.from_start => span.channel == region.channel,
                    None => span.channel == "thinking" && rule == region.rule && !region.body,
                    Some("absorb" | "drop") if region.from_start => span.channel == region.channel,
                    Some("absorb" | "drop") => rule == region.rule && !region.body,
                    _ => false,
                };
                // A fence inside a fence is text.
                let absorbs = absorbs && span.fence.is_none();
                let absorbs = absorbs && (region.fresh || span.again.as_deref() == Some("drop"));
                // If texts start inside the thinking, a line break may precede the marker.
                let starts = region.from_start
                    && self.dialect.start.as_deref() == Some("thinking")
                    && matches!(span.place.as_deref(), None | Some("anywhere"));
                let begins_line = starts
                    && region.fresh
                    && span.channel == "thinking"
                    && span.again.as_deref() != Some("drop")
                    && span.framing.before_open.is_empty();
                let broken = |literal: &&String| begins_line && self.framed(at, "\n", literal, span.special) == Some(1);
                if absorbs && let Some(literal) = span.open.iter().find(broken) {
                    let does = Does::Absorb { rule: Some(rule) };
                    return Some(Found { before: 1, end: at + 1 + literal.len(), does });
                }
                if absorbs && let Some((before, end, _)) = self.opener(at, rule) {
                    let does = Does::Absorb { rule: Some(rule) };
                    return Some(Found { before, end, does });
                }
            }
        }
        if region.channel == "thinking"
            && let Some((name, end)) = self.leading_tag(at)
        {
            return Some(Found { before: 0, end, does: Does::Lead { name } });
        }
        if let Some(found) = self.opener_in_thinking(at, region) {
            return Some(found);
        }
        if region.body {
            return self.header(at);
        }
        None
    }

    /// Finds markers in thinking that a leading tag has opened: its closers, and the markers that count inside.
    fn in_lead(&self, at: usize, region: &Region, name: &str) -> Option<Found> {
        let close = |before: usize, end: usize, rule: Option<usize>| {
            Some(Found { before, end, does: Does::Close { rule, own: true } })
        };
        if let Some(before) = self.framed(at, "\n", &format!("</{name}>"), false) {
            return close(before, at + before + name.len() + 3, None);
        }
        for rule in self.of_channel("thinking") {
            if self.dialect.spans[rule].fence.is_some() {
                continue;
            }
            let found = self.bare_closer(at, rule);
            let framed = || self.literal(at, "\n").then(|| self.bare_closer(at + 1, rule)).flatten();
            if let Some((_, end)) = found {
                return close(0, end, None);
            }
            if let Some((_, end)) = framed() {
                return close(1, end, None);
            }
        }
        if let Some(end) = self.body_closer(at) {
            return close(0, end, None);
        }
        if let Some(found) = self.removed_in_thinking(at) {
            return Some(found);
        }
        if region.fresh && self.literal(at, &format!("<{name}>")) {
            let end = at + name.len() + 2;
            return Some(Found { before: 0, end, does: Does::Absorb { rule: None } });
        }
        self.opener_in_thinking(at, region).or_else(|| self.header(at))
    }

    /// Finds a leading tag, which opens the thinking at the beginning of a text in place of the dialect's own opener.
    fn leading_tag(&self, at: usize) -> Option<(&'static str, usize)> {
        let names = if self.leading { self.dialect.leading_tags() } else { Vec::new() };
        let name = names.into_iter().find(|name| self.literal(at, &format!("<{name}>")))?;
        Some((name, at + name.len() + 2))
    }

    /// Finds the markers that are removed inside the thinking. Some of them end it.
    fn removed_in_thinking(&self, at: usize) -> Option<Found> {
        if let Some(end) = self.dropped(at, &self.dialect.drop_ends) {
            return Some(Found { before: 0, end, does: Does::End { answer: false } });
        }
        let dropped: Vec<Dropped> = self.dialect.drop.iter().filter(|it| it.in_thinking()).cloned().collect();
        let end = self.dropped(at, &dropped)?;
        Some(Found { before: 0, end, does: Does::Drop })
    }

    /// Finds an opener that ends or pauses the thinking around it.
    fn opener_in_thinking(&self, at: usize, region: &Region) -> Option<Found> {
        let hidden = self.hidden(at) == Hidden::InSpan;
        for (rule, span) in self.dialect.spans.iter().enumerate().filter(|_| !hidden) {
            // Framing before such an opener counts only if the answer ends the thinking. The thinking that ends makes room for
            // one more span.
            if span.ends.as_deref() == Some(region.channel)
                && (self.open.len() <= DEEPEST || span.channel != "content")
                && let Some((before, end, opening)) = self.new_block(at, rule)
                && (before == 0 || span.channel == "content")
            {
                let does = Does::Open(opening);
                return Some(Found { before, end, does });
            }
            if region.channel == "thinking"
                && span.channel == "content"
                && span.ends.is_some()
                && let Some((0, end)) = self.bare_closer(at, rule)
            {
                return Some(Found { before: 0, end, does: Does::End { answer: true } });
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
        None
    }

    fn in_content(&self, at: usize) -> Option<Found> {
        let hidden = self.hidden(at);
        let in_string = self.in_json_string(at);
        for (rule, span) in self.dialect.spans.iter().enumerate().filter(|_| !in_string) {
            // A block does not hide a tool call.
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
        if hidden != Hidden::No {
            return None;
        }
        if let Some((name, end)) = self.leading_tag(at).filter(|_| !in_string) {
            return Some(Found { before: 0, end, does: Does::Lead { name } });
        }
        // A closer after only blanks is an extra closer, elsewhere a stray closer.
        for rule in self.of_channel("thinking").into_iter().filter(|_| !in_string) {
            let span = &self.dialect.spans[rule];
            // Outside its span, the closer of a fence is a fence line like any other.
            if span.fence.is_some() {
                continue;
            }
            let of_dialect = span.stray_close.as_deref().or(self.dialect.stray_close.as_deref()).unwrap_or("text");
            let by_prompt = (self.prompt_closed && at >= self.prompt).then_some(Stray::Drop);
            let rests = match self.stray.or(by_prompt) {
                _ if self.closed => self.dialect.extra_close.as_deref().unwrap_or("text"),
                None => of_dialect,
                Some(Stray::Text) => "text",
                Some(Stray::Drop) => "drop alone",
            };
            match rests {
                "reclassify" if self.alone => {
                    if let Some((before, end)) = self.closer(at, rule, None) {
                        return Some(Found { before, end, does: Does::Reclassify { rule } });
                    }
                }
                // Any other stray closer is removed alone, without its framing.
                "reclassify" if !self.spent[rule] => {
                    if let Some((0, end)) = self.bare_closer(at, rule) {
                        return Some(Found { before: 0, end, does: Does::Drop });
                    }
                }
                "drop alone" => {
                    if let Some((0, end)) = self.bare_closer(at, rule) {
                        return Some(Found { before: 0, end, does: Does::Drop });
                    }
                }
                // The blank lines before a marker at the beginning of an answer are removed with it.
                "drop" if self.closed && self.guards("inline") => {
                    let own = span.framing.before_close.as_str();
                    for before in [own, "\n\n", "\n", ""] {
                        if self.framing(at, before)
                            && (before.is_empty() || before == own || self.is_apart(before, rule))
                            && let Some((0, end)) = self.bare_closer(at + before.len(), rule)
                        {
                            return Some(Found { before: before.len(), end, does: Does::DropCloser { rule } });
                        }
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
        let dropped = self.dropped(at, &self.dialect.drop).or_else(|| self.dropped(at, &self.dialect.drop_ends));
        let is_last = |end: &usize| *end == self.text.len();
        let dropped = dropped.or_else(|| self.dropped(at, &self.dialect.drop_last).filter(is_last));
        if let Some(end) = dropped.filter(|&end| !self.closes_as(&self.text[at..end])) {
            return Some(Found { before: 0, end, does: Does::Drop });
        }
        if in_string {
            return None;
        }
        // A header ends the body around it, but is allowed in a wrapper.
        let deeper = self.open.last().is_some_and(|region| !region.body);
        if deeper && self.open.len() >= DEEPEST {
            return None;
        }
        self.header(at)
    }

    /// Returns whether no other marker of the content could be confused with a closer after these line breaks.
    fn is_apart(&self, lines: &str, rule: usize) -> bool {
        let dialect = self.dialect;
        let span = &dialect.spans[rule];
        let names = span.tag.iter().flat_map(|tag| &tag.names).map(|name| format!("</{name}>"));
        let forms: Vec<String> =
            span.close.iter().cloned().chain(names).map(|close| format!("{lines}{close}")).collect();
        let mut others: Vec<String> = Vec::new();
        for other in &dialect.spans {
            others.extend(
                other.open.iter().flat_map(|open| [open.clone(), format!("{}{open}", other.framing.before_open)]),
            );
            if other.channel == "thinking" {
                let framed = |close: &String| [close.clone(), format!("{}{close}", other.framing.before_close)];
                others.extend(other.close.iter().flat_map(framed));
            }
        }
        let dropped = [&dialect.drop, &dialect.drop_ends, &dialect.drop_last];
        others.extend(dropped.into_iter().flatten().map(|it| it.marker().to_string()));
        if let Some(header) = &dialect.header {
            others.extend(header.begin.iter().chain(&header.end).chain(header.keys.values()).cloned());
        }
        let fold = |text: &String| dialect.folded(text);
        let meets = |a: &String, b: &String| a.starts_with(b.as_str()) || b.starts_with(a.as_str());
        !forms.iter().map(fold).any(|form| others.iter().map(fold).any(|other| meets(&form, &other)))
    }

    // ---- openers and closers of spans

    /// Finds an opener that begins a block, unless its span had its only block already.
    fn new_block(&self, at: usize, rule: usize) -> Option<(usize, usize, Opening)> {
        if self.spent[rule] {
            return None;
        }
        let is_addressed = self.open.last().is_some_and(|region| region.addressed);
        if is_addressed && self.dialect.spans[rule].channel == "tool" {
            return None;
        }
        let found = self.opener(at, rule)?;
        if self.in_sentence(at, rule) {
            self.sentence.set(self.begins_call(&found));
            return None;
        }
        self.counts_as_opener(&found).then_some(found)
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

    /// Returns whether these are the bytes of a closer of the open region. A marker with these bytes is then not removed, even if
    /// the closer does not count because it is not a special token.
    fn closes_as(&self, bytes: &[u8]) -> bool {
        let Some(region) = self.open.last() else { return false };
        let spans = self.closers(region).into_iter().map(|rule| &self.dialect.spans[rule]);
        let mut forms = spans.flat_map(|span| {
            let framed = span.close.iter().map(|close| format!("{}{close}", span.framing.before_close));
            span.close.iter().cloned().chain(framed)
        });
        forms.any(|form| match self.dialect.case.as_deref() {
            Some("ascii") => form.as_bytes().eq_ignore_ascii_case(bytes),
            _ => form.as_bytes() == bytes,
        })
    }

    /// Returns the end of one of these markers.
    fn dropped(&self, at: usize, markers: &[Dropped]) -> Option<usize> {
        markers.iter().find_map(|it| self.torn_or_whole(at, it.marker(), it.special()))
    }

    /// Returns the end of a marker at `at`, as in its file or torn: without its end, if another marker begins directly after
    /// it, or with its end twice, the first time without the last byte.
    fn torn_or_whole(&self, at: usize, marker: &str, special: bool) -> Option<usize> {
        if self.marker_literal(at, marker, special) {
            return Some(at + marker.len());
        }
        let torn = self.dialect.torn.as_ref()?;
        let front = marker.strip_suffix(torn.end.as_str())?;
        if front.is_empty() || !self.marker_literal(at, front, special) {
            return None;
        }
        let end = at + front.len();
        let twice = format!("{}{}", &torn.end[..torn.end.len() - 1], torn.end);
        if self.literal(end, &twice) {
            return Some(end + twice.len());
        }
        torn.before.iter().any(|next| self.literal(end, next)).then_some(end)
    }

    /// Finds the label after the opener, without its line break, directly followed by a closer.
    pub(crate) fn labelled_closer(&self, at: usize, rule: usize) -> Option<(usize, usize)> {
        let span = &self.dialect.spans[rule];
        let label = span.framing.after_open.trim_end();
        if label.is_empty() || label == span.framing.after_open || !self.literal(at, label) {
            return None;
        }
        let from = at + label.len();
        let close = span.close.iter().find(|close| self.marker_literal(from, close, span.special))?;
        Some((label.len(), from + close.len()))
    }

    /// Finds the closer alone, without framing.
    fn bare_closer(&self, at: usize, rule: usize) -> Option<(usize, usize)> {
        let span = &self.dialect.spans[rule];
        if let Some(end) = span.close.iter().find_map(|close| self.torn_or_whole(at, close, span.special)) {
            return Some((0, end));
        }
        let alone = |found: &(usize, usize)| found.0 == 0;
        if span.tag.is_some() { self.closer(at, rule, None).filter(alone) } else { None }
    }

    /// Finds the closer of a span at `at`. Returns the length of the framing before it, and its end. `open` is the name of the
    /// tag that it must match, if any.
    pub(crate) fn closer(&self, at: usize, rule: usize, open: Option<usize>) -> Option<(usize, usize)> {
        let span = &self.dialect.spans[rule];
        for literal in &span.close {
            let framing = &span.framing.before_close;
            let framed =
                self.framing(at, framing).then(|| self.torn_or_whole(at + framing.len(), literal, span.special));
            if let Some(end) = framed.flatten() {
                return Some((framing.len(), end));
            }
            if let Some(end) = self.torn_or_whole(at, literal, span.special) {
                return Some((0, end));
            }
        }
        if let Some(tag) = &span.tag {
            for name in 0..tag.names.len() {
                let same = open.is_none_or(|open| open == name);
                let framing = &span.framing.before_close;
                for before in [framing.as_str(), ""] {
                    if (same || tag.closer == "any")
                        && self.framing(at, before)
                        && let Some(end) = self.tag_closer(at + before.len(), tag, name)
                    {
                        return Some((before.len(), end));
                    }
                }
            }
        }
        if span.fence.is_some() {
            return self.fence_closer(at).map(|end| (0, end));
        }
        None
    }

    /// Returns the end of the closer of a message's body, if that is at `at`.
    pub(crate) fn body_closer(&self, at: usize) -> Option<usize> {
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

    /// Returns the end of a gap of at most `bound` white space.
    fn gap(&self, at: usize, bound: usize) -> Option<usize> {
        let end = self.spaces(at);
        (end - at <= bound).then_some(end)
    }

    /// Returns the end of a suffix directly after a name: `:` and one or more letters. If the `:` does not begin a suffix,
    /// there is no tag.
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

    /// Reads NAME ws* = ws* value; ranges count from the marker's begin.
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

    /// Finds text of a line that begins, ends or is in a code block of a fence's body. Returns the end of the text in which no
    /// marker counts.
    pub(crate) fn code(&self, at: usize) -> Option<usize> {
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

    pub(crate) fn fence_line(&self, begin: usize) -> Option<FenceLine> {
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
        Some(FenceLine { mark, run, run_end, info: info.to_vec(), whole, line_end })
    }

    /// Finds exactly three backticks, the word, at most 64 spaces or tabs, and the line's end.
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

    pub(crate) fn header(&self, begin: usize) -> Option<Found> {
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
            // A header without a `begin` is possible only at the start of a stream.
            if !at_start {
                return self.whole_header(begin);
            }
            if header.keys.is_empty() {
                return self.header_without_begin();
            }
            // A space may precede the key, or be the key's first byte.
            at += usize::from(key_at(at).is_none() && self.byte(begin) == Some(b' '));
            let (name, key) = key_at(at)?;
            // If the key is also a `begin`, it must be a special token, which it is not here.
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
            // A line's end is a blank if a marker that begins with `<` follows.
            let run = self.text[at.min(self.text.len())..]
                .iter()
                .take(HEADER_BLANKS)
                .take_while(|&&byte| blank(byte))
                .count();
            let byte = self.byte(at);
            let is_line_end = byte == Some(b'\n') && self.byte(at + run) == Some(b'<');
            let next = if is_line_end { at + run } else { at };
            let end = end_at(next);
            let key = key_at(next).filter(|(_, key)| next + key.len() - middle <= most);
            let over = byte.is_none_or(|byte| byte == b'\n' || byte == b'<');
            if (over || end.is_some() || key.is_some() || byte.is_some_and(blank))
                && let Some((name, from)) = value.take()
                && at > from
            {
                fields.push((name.clone(), from..at));
            }
            if end.is_some() || key.is_some() {
                at = next;
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

    /// Finds a name and an end at the start of a text that starts inside a header, without the header's literal.
    fn header_without_begin(&self) -> Option<Found> {
        let header = self.dialect.header.as_ref()?;
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_:.-".contains(&byte);
        let letters = self.text.iter().take_while(|&&byte| letter(byte)).count();
        let is_name = self.text.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_');
        let end = header.end.iter().find(|end| self.literal(letters, end))?;
        if !is_name || letters > header.max.unwrap_or(256) {
            return None;
        }
        let end = letters + end.len();
        let fields = vec![("type".to_string(), 0..letters), ("end".to_string(), letters..end)];
        Some(self.header_found(0, end, 0, fields))
    }

    /// Finds a key that is in `whole`, a name and an end. A space before them is framing.
    fn whole_header(&self, begin: usize) -> Option<Found> {
        if self.byte(begin) == Some(b' ')
            && let Some(found) = self.whole_header_at(begin + 1)
        {
            return Some(Found { before: 1, ..found });
        }
        self.whole_header_at(begin)
    }

    fn whole_header_at(&self, begin: usize) -> Option<Found> {
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
                // If two fields have the same name, the last one counts.
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
        opening.addressed = route.is_some_and(|route| route.calls == Some(false));
        for (name, range) in fields {
            let range = range.start - begin..range.end - begin;
            opening.attributes.push((name.into_bytes(), range));
        }
        let does = Does::Open(opening);
        Found { before: 0, end, does }
    }
}

/// Decodes the references in an attribute's value, in one pass.
pub(crate) fn decoded(value: &[u8]) -> Vec<u8> {
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

/// Returns whether the byte is a blank within a line.
fn in_line(byte: u8) -> bool {
    blank(byte) && byte != b'\n' && byte != b'\r'
}

fn quote(byte: u8) -> bool {
    b"'\"`".contains(&byte)
}

/// Returns the character at the end of this text.
fn last_character(text: &[u8]) -> Option<char> {
    let tail = (1..=3.min(text.len())).map(|length| &text[text.len() - length..]);
    tail.filter_map(|tail| std::str::from_utf8(tail).ok()).find_map(|tail| tail.chars().next())
}

/// Returns whether this is the name of a tag without blanks and attributes.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
}
