//! Reads to the next marker: the automaton leads from state to state until a marker is complete. If it cannot decide, a
//! recogniser reads one marker. Bytes that are found to be text are only counted here; `pull` reports them.

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
    grammar::{Action, LineRule, PatternSet, flag},
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
    /// continue far beyond it, because text that exceeds the budget is divided.
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
        // The position for which it was last examined whether a body of calls begins without an opener.
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
                let first = self.byte(0);
                self.engine.pass(compiled, first);
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
            let state = compiled.automaton.info(run.state);
            let engine = &mut *self.engine;
            engine.text = read + run.read - state.held();
            let found = match run.exit {
                None if by_tokens && state.held() > 0 => None,
                None => {
                    engine.state = state;
                    continue;
                }
                Some(Exit::Marker { pattern, len, unread, origin }) if !by_tokens => {
                    let end = read + run.read + 1 - usize::from(unread);
                    engine.text = end - usize::from(len);
                    engine.leave_at(compiled, &origin);
                    Some(Match::Marker { pattern, len: len.into(), is_broken: false })
                }
                Some(Exit::Framing { len, origin }) => {
                    engine.text = read + run.read + 1 - usize::from(len);
                    engine.leave_at(compiled, &origin);
                    Some(Match::Framing { len: len.into() })
                }
                Some(_) => None,
            };
            match found {
                Some(Match::Marker { pattern, len, .. }) if self.waits(pattern, len, false) => continue,
                Some(found) => {
                    self.found = Some(found);
                    return Ok(ReadOutcome::Found);
                }
                None => {}
            }
            let engine = &mut *self.engine;
            engine.leave_at(compiled, compiled.automaton.origin(run.state));
            self.begin_recogniser();
        }
    }

    /// Returns the contiguous bytes from the index `read` up to the index `limit`.
    fn unread(&self, read: usize, limit: usize) -> &[u8] {
        let rest = self.rest(read);
        &rest[..rest.len().min(limit - read)]
    }

    /// Begins to read the bytes after the text as a marker.
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

    /// Skips text in which no marker can begin, and then begins to read a marker. Only outside the table, when nothing is
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
        // At the first byte of the content, an answer in JSON may begin.
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

    /// Continues to read a marker at the index `read`. Returns whether one was found. If the bytes are not a marker, the first
    /// of them is text.
    fn run_recogniser(&mut self, mut recogniser: Recogniser, read: usize, limit: usize) -> Result<bool, Error> {
        let text = self.unread(read, limit);
        let outcome = recogniser.run(&self.compiled.grammar, self.region(), text, |at| self.mark(read + at));
        self.engine.pending = Pending::Undecided(recogniser);
        match outcome {
            Outcome::More => Ok(false),
            outcome => self.decide(outcome, recogniser, recogniser.len() - 1),
        }
    }

    /// Acts on the outcome of a recogniser. Returns whether something was found. `before` is the number of its bytes before the
    /// one that decided.
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

    /// Makes a marker of `len` bytes wait, if the bytes after it decide whether it counts. Returns whether it waits.
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

    /// Returns the context before the current place.
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
            (Channel::Content, Action::Open { .. }) => {
                let has_begun = self.engine.spans.flags() & flag::LEAD == 0;
                has_begun
                    && (prose::may_be_prose(self.before()) || self.is_generic(len))
                    && prose::is_word_tag(b"<", self.marker_bytes(len))
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

    /// Returns the bytes of the next marker.
    fn marker_bytes(&self, len: u32) -> impl Iterator<Item = u8> {
        (0..len as usize).map(|at| self.byte(at))
    }

    /// Returns whether the next tag is the parameter of a generic type: it has a capital letter and is directly after a letter
    /// or digit. This matters only in dialects whose tags match in any case.
    fn is_generic(&self, len: u32) -> bool {
        let is_capital = |byte: u8| self.compiled.grammar.fold(byte) != byte;
        self.before().is_ascii_alphanumeric() && self.marker_bytes(len).any(is_capital)
    }

    /// Returns the name of an opener that is a tag.
    fn name_of_tag(&self, rule: u8, tag: u8) -> Option<&str> {
        let opener = self.compiled.labels.get(usize::from(rule))?.openers.get(usize::from(tag))?;
        Some(opener.trim_start_matches('<').trim_end_matches('>'))
    }

    /// Returns whether the next marker is the closer of a tag that the text has mentioned: in this line, or anywhere if
    /// thinking has ended.
    fn closes_mentioned(&self, len: u32) -> bool {
        let engine = &*self.engine;
        let mentioned = engine.mentioned.filter(|_| engine.code.mentions_tag() || engine.has_closed);
        let Some(name) = mentioned.and_then(|(rule, tag)| self.name_of_tag(rule, tag)) else { return false };
        let fold = |byte: u8| self.compiled.grammar.fold(byte);
        let closer = || b"</".iter().chain(name.as_bytes()).copied();
        let (count, len) = (name.len() + 2, len as usize);
        len > count
            && closer().enumerate().all(|(at, byte)| fold(byte) == fold(self.byte(at)))
            && (self.byte(count) == b'>' && len == count + 1 || self.byte(count) == b':')
    }

    /// Returns whether the closer of this tag is at `at`, so that the text only mentions both. Returns `None` if more bytes are
    /// needed.
    fn is_pair(&self, rule: u8, tag: u8, at: usize, at_end: bool) -> Option<bool> {
        let Some(name) = self.name_of_tag(rule, tag) else { return Some(false) };
        let closer = b"</".iter().chain(name.as_bytes()).chain(b">");
        let known = self.unreported() - at;
        let fold = |byte: u8| self.compiled.grammar.fold(byte);
        for (after, byte) in closer.enumerate() {
            if after == known {
                return at_end.then_some(false);
            }
            if fold(self.rest(at + after)[0]) != fold(*byte) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Decides whether a marker that the text may only mention counts. Returns `None` if more bytes are needed.
    fn decide_mention(&self, pattern: u8, len: u32, at_end: bool) -> Option<bool> {
        let at = self.engine.text + len as usize;
        let mut next = [0; 2];
        let few = next.len().min(self.unreported() - at);
        next.iter_mut().zip(0..few).for_each(|(byte, after)| *byte = self.rest(at + after)[0]);
        let (before, next) = (self.before(), &next[..few]);
        let pattern = &self.region().patterns[usize::from(pattern)];
        match pattern.action {
            Action::Drop if pattern.spares_prose => prose::is_in_sentence(next, at_end).map(|is_prose| !is_prose),
            Action::Close { .. } => prose::is_quoted(before, next, at_end).map(|is_quoted| !is_quoted),
            Action::Open { .. } if self.is_generic(len) => Some(false),
            Action::Open { rule, tag, .. } if next.first() == Some(&b'<') && prose::is_space(before) => {
                self.is_pair(rule, tag, at, at_end).map(|is_pair| !is_pair)
            }
            Action::Open { .. } => match next.first() {
                Some(&next) => Some(!prose::is_prose(before, next)),
                None => at_end.then_some(true),
            },
            _ if self.closes_mentioned(len) => Some(false),
            _ if prose::is_mark(before) => prose::is_quoted(before, next, at_end).map(|is_quoted| !is_quoted),
            _ => prose::continues_sentence(next, at_end).map(|continues| !continues),
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
