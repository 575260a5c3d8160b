//! Reads to the next marker: the automaton moves from state to state until a marker is complete. If it cannot decide, a recogniser
//! reads one marker. Bytes that are found to be text are only counted here; `pull` reports them.

use super::{
    engine::SHORT,
    error::Error,
    pending::Pending,
    window::{Match, Pull, rest},
};
use crate::channel::Channel;
use crate::matcher::{
    automaton::Exit,
    bytes::is_blank,
    grammar::{Action, LineRule, Pattern, PatternSet, flag},
    prose::{self, Before},
    recogniser::{Outcome, Recogniser},
};

#[derive(Clone, Copy, PartialEq)]
pub enum ReadOutcome {
    Found,
    /// The text so far must be reported before more is read, for example because the budget may end in it.
    Part,
    /// More bytes are needed for the next event.
    End,
}

impl Pull<'_> {
    /// Reads to the next marker or framing. `left` is a lower bound of the rest of the budget, in bytes. Reading must not
    /// continue far beyond the budget, because text that exceeds it is divided.
    #[inline(never)] // See `report_text`.
    pub(super) fn read(&mut self, at_end: bool, left: Option<usize>) -> Result<ReadOutcome, Error> {
        self.give_back();
        let compiled = self.compiled;
        if self.engine.body().is_some() {
            if let Some(read) = self.read_framing_of_body(at_end)? {
                return Ok(read);
            }
            return self.read_body(at_end);
        }
        if let Pending::Held(_) = self.engine.pending {
            self.engine.pending = Pending::Unread;
        }
        let by_tokens = self.engine.hold.has_marks() && self.region().special != 0;
        let all = self.unreported();
        let is_long = self.chunk.len() - self.pos > SHORT;
        let first = self.engine.text + self.engine.undecided();
        let limit = left.map_or(all, |left| all.min(first + left.saturating_sub(first).max(1)));
        // The last position at which the reader has checked whether a body of calls begins without an opener.
        let mut asked = None;
        loop {
            if let Pending::Marker { pattern, len, opens_calls, .. } = self.engine.pending {
                let counts = match opens_calls {
                    true => self.decide_opener(pattern, len, at_end)?,
                    false => self.decide_mention(pattern, len, at_end),
                };
                let Some(counts) = counts else {
                    let seen = self.unreported() - self.engine.text;
                    self.engine.pending = Pending::Marker { pattern, len, seen, opens_calls };
                    return Ok(ReadOutcome::End);
                };
                self.engine.pending = Pending::Unread;
                if counts {
                    self.found = Some(Match::Marker { pattern, len, is_broken: false });
                    return Ok(ReadOutcome::Found);
                }
                for _ in 0..if opens_calls { 1 } else { len } {
                    let next = self.byte(0);
                    self.engine.pass(compiled, next);
                }
                if !opens_calls {
                    self.note_mention(pattern);
                }
            }
            let read = self.engine.text + self.engine.undecided();
            // Text that begins in the held bytes is reported as soon as it is decided, so that later text of a long chunk need
            // not be copied.
            let held = self.engine.hold.unreported().len();
            let begins_in_held = held > 0 && read >= held && is_long;
            if begins_in_held && read > first && self.engine.undecided() == 0 {
                return Ok(ReadOutcome::Part);
            }
            if read >= limit {
                if limit < all {
                    return Ok(ReadOutcome::Part);
                }
                if !at_end {
                    return Ok(ReadOutcome::End);
                }
                match self.engine.pending {
                    Pending::Undecided(recogniser) => {
                        if self.decide(
                            recogniser.end(&compiled.grammar, self.region()),
                            recogniser,
                            recogniser.len(),
                        )? {
                            return Ok(ReadOutcome::Found);
                        }
                    }
                    _ if self.engine.state.held() > 0 => {
                        self.engine.leave(compiled);
                        self.begin_recogniser();
                    }
                    _ => return Ok(ReadOutcome::End),
                }
                continue;
            }
            if let Pending::Undecided(recogniser) = self.engine.pending {
                if self.run_recogniser(recogniser, read, limit)? {
                    return Ok(ReadOutcome::Found);
                }
                continue;
            }
            if self.engine.state.is_fallback() {
                self.engine.enter_table(compiled);
                let may_be_bare = self.engine.may_be_bare(compiled);
                if may_be_bare && self.engine.framing == 0 && asked != Some(read) {
                    asked = Some(read);
                    match self.decide_bare(at_end)? {
                        Some(Some(rule)) => {
                            self.found = Some(Match::Bare { rule });
                            return Ok(ReadOutcome::Found);
                        }
                        Some(None) => {}
                        None => return Ok(self.wait()),
                    }
                } else if self.engine.state.is_fallback() {
                    self.skip(read, if may_be_bare { read + 1 } else { limit });
                }
                continue;
            }
            let mut text = self.unread(read, limit);
            if begins_in_held && let Some(part) = compiled.automaton.first_free(self.engine.state.state(), text) {
                text = &text[..part];
            }
            let run = compiled.automaton.run(self.engine.state.state(), text);
            let state = run.state;
            let engine = &mut *self.engine;
            engine.text = read + run.read - state.held();
            let is_unknown = run.exit.map_or(!state.is_filled(), |exit| exit == Exit::Unknown);
            let is_filled = is_unknown && compiled.automaton.fill(&compiled.grammar, state.state());
            let found = match run.exit {
                None if by_tokens && state.held() > 0 => None,
                _ if run.exit.is_none() || is_filled => {
                    engine.state = compiled.automaton.info(state.state());
                    continue;
                }
                Some(Exit::Marker { pattern, len }) if !by_tokens => {
                    Some(Match::Marker { pattern, len: len.into(), is_broken: false })
                }
                Some(Exit::Framing) => Some(Match::Framing { len: state.held() + 1 }),
                _ => None,
            };
            engine.leave_at(compiled, &compiled.automaton.origin(state.state()));
            match found {
                Some(Match::Marker { pattern, len, .. }) if self.waits(pattern, len, false) => continue,
                Some(found) => {
                    self.found = Some(found);
                    return Ok(ReadOutcome::Found);
                }
                None => {}
            }
            self.begin_recogniser();
        }
    }

    /// Returns the contiguous bytes from the index `read` up to the index `limit`.
    fn unread(&self, read: usize, limit: usize) -> &[u8] {
        let rest = self.rest(read);
        &rest[..rest.len().min(limit - read)]
    }

    /// Starts reading the bytes after the text as a marker.
    pub(super) fn begin_recogniser(&mut self) {
        let first = self.byte(0);
        let engine = &self.engine;
        let region = self.region();
        let in_strings = if engine.in_json_string(first) { region.in_strings } else { PatternSet::MAX };
        let recogniser = match engine.framing {
            0 => Recogniser::of_marker(region, engine.spans.active() & in_strings, &engine.code, first),
            framing => Recogniser::of_framing(framing),
        };
        self.engine.pending = Pending::Undecided(recogniser);
    }

    /// Skips text in which no marker can begin, and then begins to read a marker. Called only outside the table, when nothing is
    /// undecided.
    fn skip(&mut self, read: usize, limit: usize) {
        let text = self.unread(read, limit.min(read + SHORT));
        let region = self.region();
        let is_plain = |byte: u8| match region.lines {
            LineRule::Ignore => !region.may_begin(byte),
            _ => !region.may_begin(byte) && !matches!(byte, b'\n' | b'`') && self.engine.code.is_settled(region.lines),
        };
        let first = text[0];
        if self.engine.framing != 0 || !is_plain(first) {
            return self.begin_recogniser();
        }
        // An answer in JSON may begin at the first byte of the content.
        let is_first = self.engine.may_be_json(self.compiled) && !self.engine.json.is_open();
        let most = if is_first { 1 } else { text.len() };
        let len = text[..most].iter().position(|&byte| !is_plain(byte)).unwrap_or(most);
        let is_visible = text[..len].iter().any(|&byte| !is_blank(byte));
        let cleared = if is_visible { region.cleared } else { 0 };
        let mut plain = [0; SHORT];
        plain[..len].copy_from_slice(&text[..len]);
        self.engine.pass(self.compiled, first);
        plain[1..len].iter().for_each(|&byte| self.engine.pass_json(self.compiled, byte));
        self.engine.spans.lose(&self.compiled.grammar, cleared);
        self.engine.text += len - 1;
    }

    /// Continues to read a marker at the index `read`. Returns whether the marker was found. If the bytes are not a marker, the
    /// first of them is text.
    fn run_recogniser(&mut self, mut recogniser: Recogniser, read: usize, limit: usize) -> Result<bool, Error> {
        let text = self.unread(read, limit);
        let outcome = recogniser.run(&self.compiled.grammar, self.region(), text, |at| self.mark(read + at));
        self.engine.pending = Pending::Undecided(recogniser);
        match outcome {
            Outcome::More => Ok(false),
            outcome => self.decide(outcome, recogniser, recogniser.len() - 1),
        }
    }

    /// Acts on the outcome of a recogniser. Returns whether something was found. `before` is the number of bytes before the
    /// deciding byte.
    fn decide(&mut self, outcome: Outcome, recogniser: Recogniser, before: usize) -> Result<bool, Error> {
        self.engine.pending = Pending::Unread;
        let found = match outcome {
            Outcome::Match { pattern, len } => Some((pattern, len, false)),
            Outcome::HeaderEnd { pattern } => Some((pattern, recogniser.len(), false)),
            Outcome::HeaderBreak { pattern, pending, torn } => {
                let len = before - pending as usize;
                self.read_broken_header(len, torn)?.map(|len| (pattern, len, true))
            }
            Outcome::Framing => {
                self.found = Some(Match::Framing { len: recogniser.len() });
                return Ok(true);
            }
            Outcome::More | Outcome::Fail if recogniser.is_of_framing() => {
                self.engine.framing = 0;
                return Ok(false);
            }
            Outcome::More | Outcome::Fail => None,
        };
        let Some((pattern, len, is_broken)) = found else {
            self.engine.code.nest_if(recogniser.nests());
            let first = self.byte(0);
            self.engine.pass(self.compiled, first);
            return Ok(false);
        };
        let len = len as u32;
        if self.waits(pattern, len, is_broken) {
            return Ok(false);
        }
        self.found = Some(Match::Marker { pattern, len, is_broken });
        Ok(true)
    }

    /// Holds a marker of `len` bytes, if the bytes after it decide whether it counts. Returns whether it is held.
    fn waits(&mut self, pattern: u8, len: u32, is_broken: bool) -> bool {
        let opens_calls = self.opener_of(pattern).is_some();
        let waits = opens_calls || !is_broken && self.may_be_mention(pattern, len);
        if waits {
            self.engine.pending = Pending::Marker { pattern, len, seen: len as usize, opens_calls };
        }
        waits
    }

    /// Returns the byte at an index after the text.
    fn byte(&self, at: usize) -> u8 {
        self.rest(self.engine.text + at)[0]
    }

    /// Returns the context before the current position.
    pub(super) fn before(&self) -> Before {
        let Some(last) = self.engine.text.checked_sub(1) else { return self.engine.before };
        let byte = self.rest(last)[0];
        if byte.is_ascii() {
            return byte;
        }
        // A quote mark has at most three bytes.
        let first = last.saturating_sub(2);
        let mut few = [0; 3];
        few.iter_mut().zip(first..=last).for_each(|(byte, at)| *byte = self.rest(at)[0]);
        prose::after(self.engine.before, &few[..=last - first])
    }

    /// Returns whether the text may only mention a marker of `len` bytes, so that the bytes after it decide.
    #[inline(never)]
    fn may_be_mention(&self, pattern: u8, len: u32) -> bool {
        let region = self.region();
        let is_fence = region.fence_close == Some(pattern);
        let pattern = &region.patterns[usize::from(pattern)];
        if !self.compiled.grammar.guards_prose || pattern.before > 0 || is_fence {
            return false;
        }
        if self.engine.hold.has_marks() && self.mark(self.engine.text).is_special_token() {
            return false;
        }
        match (region.channel, pattern.action) {
            (Channel::Thinking, Action::Close { .. }) => prose::is_mark(self.before()),
            (
                Channel::Content,
                Action::Open { .. } | Action::HeaderBegin { .. } | Action::HeaderEnd | Action::HeaderWhole,
            ) => {
                let has_begun = self.engine.spans.flags() & flag::LEAD == 0;
                has_begun
                    && (prose::may_be_prose(self.before()) || self.is_generic(len))
                    && (self.is_word_tag(len) || self.is_token(pattern.action))
            }
            (Channel::Content, Action::Drop) if pattern.spares_prose => self.engine.spans.flags() & flag::LEAD == 0,
            (Channel::Content, Action::Drop | Action::DropLast | Action::DropClose | Action::Reclassify { .. }) => {
                let is_stray =
                    self.engine.spans.flags() & flag::FRESH == 0 && prose::is_word_tag(b"</", self.marker_bytes(len));
                let before = self.before();
                self.closes_mentioned(len) || is_stray && (prose::is_space(before) || prose::is_mark(before))
            }
            _ => false,
        }
    }

    /// Returns whether the next opener is a tag without blanks and attributes.
    fn is_word_tag(&self, len: u32) -> bool {
        prose::is_word_tag(b"<", self.marker_bytes(len))
    }

    /// Returns whether the next marker, which has this action, is a token that opens a span or a message. Returns false for
    /// wrappers of the content, because they may be inside a sentence.
    fn is_token(&self, action: Action) -> bool {
        let is_wrapper = match action {
            Action::Open { rule, .. } => self.compiled.spans[usize::from(rule)].channel == Channel::Content,
            _ => false,
        };
        !is_wrapper && prose::begins_token(self.byte(0))
    }

    /// Returns whether the next tag is the first text of its line after two blanks or more, as in code, and other text precedes
    /// it after the last closer.
    fn is_indented(&self) -> bool {
        let engine = &*self.engine;
        let is_after_text = engine.spans.flags() & flag::FRESH == 0;
        is_after_text && engine.code.is_indented(self.region().lines) && prose::is_space(self.before())
    }

    /// Returns the bytes of the next marker.
    fn marker_bytes(&self, len: u32) -> impl Iterator<Item = u8> {
        (0..len as usize).map(|at| self.byte(at))
    }

    /// Returns whether the next tag is the parameter of a generic type: it has a capital letter and is directly after a letter
    /// or digit. This matters only in dialects whose tags match in any case.
    fn is_generic(&self, len: u32) -> bool {
        let is_capital = |byte: u8| self.compiled.grammar.fold(byte) != byte;
        self.before().is_ascii_alphanumeric() && self.marker_bytes(len).any(is_capital) && self.is_word_tag(len)
    }

    /// Returns the closer of an opener, or nothing.
    fn closer(&self, (rule, tag): (u8, u8)) -> &[u8] {
        let closers = self.compiled.labels.get(usize::from(rule)).map(|labels| &labels.closers);
        closers.and_then(|closers| closers.get(usize::from(tag))).map_or(b"", |closer| closer.as_bytes())
    }

    /// Returns whether the next marker is the closer, perhaps with a suffix, of the last opener that the text only mentioned.
    /// Unless thinking has ended, the closer must be on the line of the opener, or be indented.
    fn closes_mentioned(&self, len: u32) -> bool {
        let engine = &*self.engine;
        let is_asked = engine.code.mentions_tag() || engine.has_closed || self.is_indented();
        let closer = engine.mentioned.filter(|_| is_asked).map_or(&b""[..], |opener| self.closer(opener));
        let Some((last, front)) = closer.split_last() else { return false };
        let fold = |byte: u8| self.compiled.grammar.fold(byte);
        let (count, len) = (front.len(), len as usize);
        len > count
            && front.iter().enumerate().all(|(at, byte)| fold(*byte) == fold(self.byte(at)))
            && (self.byte(count) == *last && len == count + 1 || self.byte(count) == b':')
    }

    /// Returns whether this literal is at `at`. Returns `None` if more bytes are needed.
    fn is_literal(&self, literal: &[u8], at: usize, at_end: bool) -> Option<bool> {
        let known = self.unreported() - at;
        let grammar = &self.compiled.grammar;
        for (after, byte) in literal.iter().enumerate() {
            if after == known {
                return at_end.then_some(false);
            }
            if grammar.fold(self.rest(at + after)[0]) != grammar.fold(*byte) {
                return Some(false);
            }
        }
        Some(!literal.is_empty())
    }

    /// Returns up to two bytes at `at`, and their number.
    fn few(&self, at: usize) -> ([u8; 2], usize) {
        let mut few = [0; 2];
        let count = few.len().min(self.unreported() - at);
        few.iter_mut().zip(0..count).for_each(|(byte, after)| *byte = self.rest(at + after)[0]);
        (few, count)
    }

    /// Decides whether a marker that the text may only mention counts. Returns `None` if more bytes are needed.
    fn decide_mention(&self, pattern: u8, len: u32, at_end: bool) -> Option<bool> {
        let at = self.engine.text + len as usize;
        let (next, count) = self.few(at);
        let (before, next) = (self.before(), &next[..count]);
        let pattern = &self.region().patterns[usize::from(pattern)];
        match pattern.action {
            Action::Drop if pattern.spares_prose => prose::is_in_sentence(next, at_end).map(|is_prose| !is_prose),
            Action::Close { .. } => prose::is_quoted(before, next, at_end).map(|is_quoted| !is_quoted),
            Action::Open { .. } if self.is_generic(len) => Some(false),
            Action::Open { .. } | Action::HeaderBegin { .. } | Action::HeaderEnd | Action::HeaderWhole => {
                self.is_opener_in_prose(pattern, len, at_end).map(|is_prose| !is_prose)
            }
            _ if self.closes_mentioned(len) => Some(false),
            _ if prose::is_mark(before) => prose::is_quoted(before, next, at_end).map(|is_quoted| !is_quoted),
            _ => prose::continues_sentence(next, at_end).map(|continues| !continues),
        }
    }

    /// Returns whether the text only mentions an opener of `len` bytes. Returns `None` if more bytes are needed.
    fn is_opener_in_prose(&self, pattern: &Pattern, len: u32, at_end: bool) -> Option<bool> {
        let (before, mut at) = (self.before(), self.engine.text + len as usize);
        if let Action::Open { rule, tag, .. } = pattern.action
            && prose::may_be_in_sentence(before)
            && self.is_literal(self.closer((rule, tag)), at, at_end)?
        {
            return Some(true);
        }
        let is_tag = self.is_word_tag(len);
        if !is_tag && pattern.after > 0 {
            // The label of a token belongs to it.
            let label = self.compiled.grammar.framing(pattern.after).trim_ascii_end();
            at += if self.is_literal(label, at, at_end)? { label.len() } else { 0 };
        }
        let (next, count) = self.few(at);
        match next[..count].first() {
            _ if !is_tag => prose::is_token_in_prose(before, &next[..count], at_end),
            Some(&next) => Some(prose::is_prose(before, next) || self.is_indented() && !prose::is_line_end(next)),
            None => at_end.then_some(false),
        }
    }

    /// Notes a marker that the text only mentions. If it is an opener, its closer on the same line is text too.
    fn note_mention(&mut self, pattern: u8) {
        let region = self.region();
        let (channel, pattern) = (region.channel, region.patterns[usize::from(pattern)]);
        match pattern.action {
            Action::Open { rule, tag, .. } => {
                self.engine.mentioned = Some((rule, tag));
                self.engine.code.set_mentions_tag(true);
            }
            Action::Drop if pattern.spares_prose => {}
            Action::HeaderBegin { .. } | Action::HeaderEnd | Action::HeaderWhole => {}
            _ if channel == Channel::Content => self.engine.code.set_mentions_tag(false),
            _ => {}
        }
    }

    /// Reads the fields of a header that broke off after `len` bytes. Returns the end of the last field, if there is one.
    fn read_broken_header(&mut self, len: usize, torn: bool) -> Result<Option<usize>, Error> {
        let Some(rule) = &self.compiled.grammar.header else { return Ok(None) };
        self.join(self.engine.text, len)?;
        let engine = &mut *self.engine;
        let text = &rest(&engine.hold, &self.chunk.bytes[self.pos..], engine.text)[..len];
        engine.attributes.read_broken_header(rule, text, torn)
    }
}
