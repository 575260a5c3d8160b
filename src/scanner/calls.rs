//! Tool calls in a stream: decides whether an opener counts, and reads the body of a tool span with the tables of its dialect. The
//! end of a span does not depend on whether the host wants calls: without the option the same pieces are reported as text.

use super::{
    engine::Engine,
    error::Error,
    pending::Pending,
    read::ReadOutcome,
    spans::OpenSpan,
    window::{EventRef, KindRef, Match, Pull},
};
use crate::{
    calls::{
        body::{Body, Piece, Step},
        head::{begins_bare, begins_body},
        table::CallTables,
        view::{Decision, View},
    },
    channel::Channel,
    dialect::compiled::Compiled,
    matcher::{
        bytes::is_blank,
        code::CodeTracker,
        grammar::{Action, Grammar, PatternSet, Region, flag},
        prose,
        recogniser::{Outcome, Recogniser, TokenMark},
    },
};

/// The number of bytes of a chunk that are examined first, if a held word may continue in the chunk.
const FEW: usize = 64;

impl Engine {
    pub fn body(&self) -> Option<&Body> {
        self.optional.get()?.calls.body.as_ref()
    }

    pub fn wants_calls(&self) -> bool {
        self.optional.get().is_some_and(|optional| optional.calls.are_wanted)
    }

    /// Returns whether calls without an opener may open a span here, so that each position must be examined.
    pub fn may_be_bare(&self, compiled: &Compiled) -> bool {
        compiled.bare & self.spans.flags() != 0 && self.spans.open().is_empty()
    }

    /// Begins the body of a span that has opened, if tables describe the body.
    pub fn begin_body(&mut self, compiled: &Compiled, span: OpenSpan) -> Result<(), Error> {
        let Some(tables) = compiled.calls(span.region) else { return Ok(()) };
        let is_header = usize::from(span.rule) == compiled.spans.len();
        let is_started = compiled.grammar.region(span.region).started.is_some();
        let body = match (is_started, is_header) {
            (true, _) => Body::started(),
            (_, false) => Body::after_opener(span.tag),
            (_, true) if self.names_call(tables) => Body::after_header(),
            (_, true) => return Ok(()),
        };
        self.optional.made()?.calls.body = Some(body);
        Ok(())
    }

    pub fn set_body(&mut self, body: Option<Body>) {
        if let Some(optional) = self.optional.get_mut() {
            optional.calls.set_body(body);
        }
    }

    /// Returns the closers that end the body at the stream's position.
    pub(super) fn closers<'a>(&self, compiled: &'a Compiled) -> Option<Closers<'a>> {
        let (region, active) = (self.spans.region(), self.spans.active());
        let tables = compiled.calls(region)?;
        let innermost = self.optional.get().map_or(0, |optional| optional.calls.innermost());
        Some(Closers { grammar: &compiled.grammar, tables, region: compiled.grammar.region(region), active, innermost })
    }

    /// Returns whether the body has at most blanks so far and is in a region in which some markers count only at the beginning.
    pub fn is_first_in_body(&self, compiled: &Compiled) -> bool {
        let cleared = compiled.grammar.region(self.spans.region()).cleared;
        self.spans.flags() & (flag::FIRST | cleared) != 0
    }

    /// Notes that bytes of the body follow, so that the stream is no longer at the body's beginning.
    pub fn pass_first_in_body(&mut self, compiled: &Compiled, are_blank: bool) {
        let cleared = compiled.grammar.region(self.spans.region()).cleared;
        self.spans.lose(&compiled.grammar, flag::FIRST | if are_blank { 0 } else { cleared });
    }

    /// Returns whether the last header names a call, or no table requires a header to name calls.
    fn names_call(&self, tables: &CallTables) -> bool {
        tables.named_by_header().is_none() || self.name_of_header(tables).is_some()
    }

    /// Returns the index of the header's attribute with the call's name, and the length of the prefix to remove from it.
    pub fn name_of_header(&self, tables: &CallTables) -> Option<(usize, usize)> {
        let (_, table) = tables.named_by_header()?;
        let field = table.head.name_from.as_deref()?.as_bytes();
        let is_field = |&index: &usize| self.attributes.get(index).is_some_and(|it| it.name == field);
        let index = (0..self.attributes.len()).find(is_field)?;
        // A header that broke off does not name a call.
        self.attributes.value("end")?;
        let value = self.attributes.get(index)?.value;
        table.head.prefix_len(value).map(|prefix| (index, prefix))
    }
}

impl Pull<'_> {
    /// Returns whether tool openers are text here, because the host wants no calls in the thinking.
    fn ignores_calls(&self) -> bool {
        let never = self.engine.optional.get().is_some_and(|optional| optional.calls.never_in_thinking);
        never && self.engine.spans.channel() == Channel::Thinking
    }

    /// Returns the rule and the number of the opener if this pattern is an opener that counts only after a further check.
    pub(super) fn opener_of(&self, pattern: u8) -> Option<(u8, u8)> {
        let Action::Open { rule, tag, .. } = self.region().patterns[usize::from(pattern)].action else { return None };
        let in_thinking = self.engine.spans.channel() == Channel::Thinking;
        let tables = self.compiled.calls(self.compiled.inside(rule));
        let is_tool = self.compiled.spans[usize::from(rule)].channel == Channel::Tool;
        let asks = tables.is_some_and(|tables| tables.is_sure || in_thinking) || is_tool && self.ignores_calls();
        (asks || self.is_in_sentence(rule)).then_some((rule, tag))
    }

    /// Returns whether the next opener, of this rule, is text because it is in a sentence: text and a blank precede it on its line, or
    /// an earlier opener on the line was text for this reason. This concerns only rules for forms that the family itself does not
    /// write.
    fn is_in_sentence(&self, rule: u8) -> bool {
        let engine = &self.engine;
        self.compiled.spans[usize::from(rule)].is_lenient
            && engine.spans.channel() == Channel::Content
            && engine.code.has_words()
            && (prose::is_space(self.before()) || engine.code.is_sentence())
            && !(engine.hold.has_marks() && self.mark(engine.text).is_special_token())
    }

    /// Decides whether an opener of `len` bytes counts. Returns `None` if more bytes are needed.
    pub(super) fn decide_opener(&mut self, pattern: u8, len: u32, at_end: bool) -> Result<Option<bool>, Error> {
        let Some((rule, tag)) = self.opener_of(pattern) else { return Ok(Some(true)) };
        let compiled = self.compiled;
        let inside = compiled.inside(rule);
        let Some(tables) = compiled.calls(inside).filter(|_| !self.ignores_calls()) else { return Ok(Some(false)) };
        let seen =
            self.look(at_end, |lookahead| counts(compiled, tables, inside, tag, &lookahead.after(len as usize)))?;
        let seen = if at_end { Some(seen.unwrap_or(false)) } else { seen };
        if seen.is_none() || !self.is_in_sentence(rule) {
            return Ok(seen);
        }
        if seen == Some(true) {
            self.engine.code.set_sentence();
        }
        Ok(Some(false))
    }

    /// Decides whether a body of calls opens a span here without an opener, and returns the rule of the span if so. Returns
    /// `None` if more bytes are needed.
    pub(super) fn decide_bare(&mut self, at_end: bool) -> Result<Option<Option<u8>>, Error> {
        let compiled = self.compiled;
        let flags = self.engine.spans.flags();
        for (rule, span) in (0..).zip(&compiled.spans) {
            let inside = compiled.inside(rule);
            let Some(tables) = compiled.calls(inside).filter(|_| span.bare & flags != 0) else { continue };
            let closers = Closers::of_span(compiled, tables, inside, 0);
            let seen = self.look(at_end, |lookahead| closers.decide(&lookahead, |view| begins_bare(tables, view)))?;
            match seen {
                Some(false) => {}
                Some(true) => return Ok(Some(Some(rule))),
                None if at_end => {}
                None => return Ok(None),
            }
        }
        Ok(Some(None))
    }

    /// Reads the framing between an opener and its body. Returns `None` at its end.
    pub(super) fn read_framing_of_body(&mut self, at_end: bool) -> Result<Option<ReadOutcome>, Error> {
        if self.engine.framing == 0 {
            return Ok(None);
        }
        let grammar = &self.compiled.grammar;
        let framing = grammar.framing(self.engine.framing);
        let seen = self.look(at_end, |lookahead| {
            let same = grammar.same(framing, lookahead.text);
            let is_cut = same == lookahead.text.len() && same < framing.len() && !lookahead.is_end;
            (!is_cut).then_some(same == framing.len())
        })?;
        self.engine.pending = Pending::Unread;
        Ok(match seen {
            Some(true) => {
                self.found = Some(Match::Framing { len: framing.len() });
                Some(ReadOutcome::Found)
            }
            Some(false) => {
                self.engine.framing = 0;
                None
            }
            None => Some(self.wait()),
        })
    }

    /// Holds the bytes after the text until more bytes arrive.
    pub(super) fn wait(&mut self) -> ReadOutcome {
        let held = self.unreported() - self.engine.text;
        self.engine.pending = if held > 0 { Pending::Held(held) } else { Pending::Unread };
        ReadOutcome::End
    }

    /// Continues to read the body of a tool span, up to the next piece that is not text, or to its closer.
    #[inline(never)] // See `report_text`.
    pub(super) fn read_body(&mut self, at_end: bool) -> Result<ReadOutcome, Error> {
        let compiled = self.compiled;
        self.engine.pending = Pending::Unread;
        let wants = self.engine.wants_calls();
        loop {
            let Some(&body) = self.engine.body() else { return Ok(ReadOutcome::Part) };
            let has_held = !self.engine.hold.unreported().is_empty();
            let Some(closers) = self.engine.closers(compiled) else { return Ok(ReadOutcome::Part) };
            let step = self.look(at_end, |lookahead| closers.next(&body, lookahead))?;
            match step {
                None => return Ok(self.wait()),
                // The text must be reported before the empty piece: the piece depends on the bytes that follow, and if the host
                // stops after the text, it may feed other bytes.
                Some(Step::Piece { len: 0, .. }) if !wants && self.whole_text() > 0 => return Ok(ReadOutcome::Part),
                Some(Step::Piece { piece, len, next }) if !wants || piece == Piece::Text => {
                    self.pass_first_in_body(len);
                    self.engine.text += len;
                    self.engine.set_body(Some(next));
                    // Text that begins in the held bytes is reported separately, so that the rest of the chunk need not be held.
                    if has_held && len > 0 {
                        return Ok(ReadOutcome::Part);
                    }
                }
                Some(Step::Piece { piece, len, next }) => {
                    self.found = Some(Match::Call { piece, len, next });
                    return Ok(ReadOutcome::Found);
                }
                Some(Step::Closer) => {
                    self.found = Some(Match::Closer);
                    return Ok(ReadOutcome::Found);
                }
            }
        }
    }

    /// Notes that the next `len` bytes after the text belong to the body. These bytes must be contiguous.
    pub(super) fn pass_first_in_body(&mut self, len: usize) {
        if len > 0 && self.engine.is_first_in_body(self.compiled) {
            let are_blank = self.rest(self.engine.text).iter().take(len).all(|&byte| is_blank(byte));
            self.engine.pass_first_in_body(self.compiled, are_blank);
        }
    }

    /// Decides the role of the held bytes of a body, or of the first of them. In a value they are part of the value; in a word of a
    /// call they are text, and the call is malformed. Returns whether anything was decided.
    pub(super) fn release_body(&mut self) -> bool {
        let Some(&body) = self.engine.body() else { return false };
        let Some(tables) = self.compiled.calls(self.engine.spans.region()) else { return false };
        let Step::Piece { piece, len, next } = body.flush(tables, self.engine.hold.unreported()) else { return false };
        // Bytes that were already found to be text are decided together with the held bytes.
        self.engine.text = 0;
        self.engine.pending = Pending::Unread;
        self.engine.framing = 0;
        let has_event = piece != Piece::Text && (len > 0 || matches!(piece, Piece::End { .. }));
        self.found = Some(if has_event && self.engine.wants_calls() {
            Match::Call { piece, len, next }
        } else {
            self.pass_first_in_body(len);
            self.engine.text = len;
            self.engine.set_body(Some(next));
            Match::Released
        });
        true
    }

    /// Ends the open call, because the host closes its span. Returns `None` if no call is open, or calls are not wanted.
    pub(super) fn end_call_by_force(&mut self) -> Result<Option<EventRef>, Error> {
        match self.engine.body().and_then(Body::end_by_force) {
            Some(Step::Piece { piece, len, next }) if self.engine.wants_calls() => {
                self.report_piece(piece, len, next).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Reports a piece of a call.
    pub(super) fn report_piece(&mut self, piece: Piece, len: usize, next: Body) -> Result<EventRef, Error> {
        self.join(0, len)?;
        let index = self.engine.optional.made()?.calls.pass(piece, next);
        let kind = match piece {
            Piece::Framing => KindRef::Framing,
            piece => KindRef::Call { piece, index },
        };
        Ok(self.event(kind, len))
    }

    /// Calls `ask` with the bytes after the text, made contiguous. `ask` gets few bytes first, and more if it returns `None`, so
    /// that the whole chunk need not be copied into the hold buffer after a held word. Returns `None` if even all bytes are not
    /// enough.
    fn look<T>(&mut self, at_end: bool, mut ask: impl FnMut(Lookahead) -> Option<T>) -> Result<Option<T>, Error> {
        let by_tokens = self.engine.hold.has_marks();
        let mut more = FEW;
        loop {
            let start = self.engine.text;
            let held = self.engine.hold.unreported().len();
            if start < held {
                self.gather(held + more)?;
            }
            let rest = self.rest(start);
            // With tokens, the mark of each byte is looked up, so only few bytes are examined first.
            let text = if by_tokens { &rest[..rest.len().min(more)] } else { rest };
            let is_all = start + text.len() == self.unreported();
            let mark = |at: usize| self.mark(start + at);
            match ask(Lookahead { text, is_end: at_end && is_all, marks: by_tokens.then_some(&mark), from: 0 }) {
                Some(answer) => return Ok(Some(answer)),
                None if is_all => return Ok(None),
                None => more *= 2,
            }
        }
    }
}

/// Returns whether an opener followed by these bytes counts, or `None` if more bytes are needed.
pub(super) fn counts(
    compiled: &Compiled,
    tables: &CallTables,
    inside: u8,
    tag: u8,
    lookahead: &Lookahead,
) -> Option<bool> {
    Closers::of_span(compiled, tables, inside, tag).decide(lookahead, |view| begins_body(tables, tag, view))
}

/// The bytes after the text, and their token marks.
#[derive(Clone, Copy)]
pub(super) struct Lookahead<'a> {
    pub(super) text: &'a [u8],
    /// Whether the stream ends after these bytes.
    pub(super) is_end: bool,
    /// Returns the token mark of a byte by its index in the whole lookahead, of which `text` is a part; `None` if bytes are fed
    /// without tokens.
    pub(super) marks: Option<&'a dyn Fn(usize) -> TokenMark>,
    /// The index of `text` in the whole lookahead.
    pub(super) from: usize,
}

impl<'a> Lookahead<'a> {
    /// Returns the lookahead without its first `len` bytes.
    pub(super) fn after(self, len: usize) -> Lookahead<'a> {
        let len = len.min(self.text.len());
        Lookahead { text: &self.text[len..], from: self.from + len, ..self }
    }

    /// Returns the first `len` bytes of the lookahead, after which more may follow.
    fn first(self, len: usize) -> Lookahead<'a> {
        Lookahead { text: &self.text[..len], is_end: self.is_end && len == self.text.len(), ..self }
    }

    fn mark(&self, at: usize) -> TokenMark {
        self.marks.map_or(TokenMark::PLAIN, |marks| marks(self.from + at))
    }

    /// Returns whether a special token begins at an index.
    fn begins_special(&self, at: usize) -> bool {
        let mark = self.mark(at);
        mark.begins_token() && mark.may_be_special()
    }
}

/// The closers that end a body: those of its region that count.
pub(super) struct Closers<'a> {
    grammar: &'a Grammar,
    tables: &'a CallTables,
    region: &'a Region,
    /// The patterns of the region that count now.
    active: PatternSet,
    /// The hash of the innermost element's name.
    innermost: u32,
}

impl<'a> Closers<'a> {
    /// Returns the closers of the body that this opener would begin.
    fn of_span(compiled: &'a Compiled, tables: &'a CallTables, inside: u8, tag: u8) -> Closers<'a> {
        let region = compiled.grammar.region(inside);
        Closers { grammar: &compiled.grammar, tables, region, active: region.active(0, 0, tag), innermost: 0 }
    }

    /// Returns the next step of a body. A closer that is a special token ends the body even inside a string or a value; the call
    /// is then malformed.
    fn next(&self, body: &Body, lookahead: Lookahead) -> Option<Step> {
        let Some((at, len)) = self.special_closer(&lookahead) else { return self.step(body, &lookahead) };
        if let Some(step) = self.step(body, &lookahead.first(at)) {
            return Some(step);
        }
        // The bytes up to the closer's end are read as if no more followed, so that later bytes change nothing.
        let all = Lookahead { is_end: true, ..lookahead.first(at + len?) };
        Some(body.break_off(self.step(body, &all), at))
    }

    pub(super) fn step(&self, body: &Body, lookahead: &Lookahead) -> Option<Step> {
        self.view(lookahead, |view| body.next(self.tables, view))
    }

    /// Returns the result of `ask` for the bytes, or `None` if more bytes are needed.
    fn decide(&self, lookahead: &Lookahead, ask: impl FnOnce(&View) -> Decision) -> Option<bool> {
        match self.view(lookahead, ask) {
            Decision::More => None,
            seen => Some(seen == Decision::Yes),
        }
    }

    /// Calls `ask` with a view of the bytes in which these closers count.
    fn view<T>(&self, lookahead: &Lookahead, ask: impl FnOnce(&View) -> T) -> T {
        let closers = |at: usize, len: usize| self.closer(&lookahead.first(len), at);
        ask(&View { text: lookahead.text, is_end: lookahead.is_end, innermost: self.innermost, closers: &closers })
    }

    /// Returns the index of the first closer that is a special token, and its length. The length is `None` if more bytes are
    /// needed to decide whether it is a closer.
    fn special_closer(&self, lookahead: &Lookahead) -> Option<(usize, Option<usize>)> {
        let patterns = self.active & self.tables.closers & !self.tables.first_closers & self.region.special;
        if patterns == 0 || lookahead.marks.is_none() {
            return None;
        }
        (0..lookahead.text.len()).filter(|&at| lookahead.begins_special(at)).find_map(|at| {
            match self.recognise(patterns, lookahead, at) {
                // The closer itself must begin with the token, not the framing before the closer.
                Outcome::Match { pattern, len } if self.region.patterns[usize::from(pattern)].before == 0 => {
                    Some((at, Some(len)))
                }
                Outcome::More if !lookahead.is_end => Some((at, None)),
                _ => None,
            }
        })
    }

    /// Returns whether a closer is at an index of the text.
    fn closer(&self, lookahead: &Lookahead, at: usize) -> Decision {
        let Some(&first) = lookahead.text.get(at) else {
            return if lookahead.is_end { Decision::No } else { Decision::More };
        };
        if !self.region.may_begin(first) {
            return Decision::No;
        }
        let rest = &lookahead.text[at..];
        let mut seen = Decision::No;
        let may_be_header = !self.tables.has_special_header || lookahead.mark(at).may_be_special();
        for begin in self.tables.header_begins.iter().filter(|_| may_be_header) {
            let same = self.grammar.same(begin, rest);
            if same == begin.len() {
                return Decision::Yes;
            }
            if !lookahead.is_end && same == rest.len() {
                seen = Decision::More;
            }
        }
        // A label is part of a closer only at the beginning of the body.
        let active = if at > 0 { self.active & !self.tables.first_closers } else { self.active };
        match self.recognise(active & self.tables.closers, lookahead, at) {
            Outcome::Match { .. } | Outcome::HeaderEnd { .. } => Decision::Yes,
            Outcome::More if !lookahead.is_end => Decision::More,
            _ => seen,
        }
    }

    /// Tries to read a marker of these patterns at an index of the text.
    fn recognise(&self, patterns: PatternSet, lookahead: &Lookahead, at: usize) -> Outcome {
        let text = &lookahead.text[at..];
        let mut recogniser = Recogniser::of_marker(self.region, patterns, &CodeTracker::NEW, text[0]);
        let outcome = recogniser.run(self.grammar, self.region, text, |index| lookahead.mark(at + index));
        if outcome == Outcome::More && lookahead.is_end { recogniser.end(self.grammar, self.region) } else { outcome }
    }
}
