//! Carries out the effects of a found marker, and reports its events one after the other. The host may stop after each event,
//! so after every step, the engine must be in a state from which the next pull can continue.

use super::{
    attributes::{Attributes, fits},
    counts::move_all,
    error::Error,
    event::Cause,
    pending::{Pending, PendingMarker, bits, due},
    spans::OpenSpan,
    window::{EventRef, KindRef, Place, Pull, rest},
};
use crate::{
    channel::{Channel, Start},
    dialect::compiled::Compiled,
    matcher::{
        answer::JsonAnswer,
        code::CodeTracker,
        grammar::{Action, Grammar, HeaderRule, flag},
        prose,
    },
};

impl Pull<'_> {
    /// Opens the next span that the prompt left open, at byte 0. The innermost span is reported with its attributes.
    pub(super) fn open_prompted(&mut self, number: u8) -> Result<Option<EventRef>, Error> {
        let engine = &mut *self.engine;
        let span = engine.spans.open().get(usize::from(number)).copied();
        if let Some(optional) = engine.optional.get_mut() {
            optional.prompt.open = span.map(|_| number + 1);
        }
        let Some(span) = span else { return Ok(None) };
        let channel = self.compiled.grammar.region(span.region).channel;
        if usize::from(number) + 1 == engine.spans.open().len() && engine.attributes.len() > 0 {
            let pending = PendingMarker::new(due::ATTRIBUTES, span);
            engine.pending = Pending::Due(PendingMarker { after: engine.framing, ..pending });
        }
        engine.add_span(channel);
        let rule = with_thought(self.compiled, span);
        if let Some(thoughts) = engine.optional.get_mut().and_then(|optional| optional.thoughts.get_mut())
            && channel == Channel::Thinking
        {
            thoughts.begin(0, &engine.attributes, rule)?;
        }
        let kind = KindRef::Open { rule: span.rule, tag: span.tag };
        Ok(Some(EventRef { kind, channel, offset: 0, len: 0, place: Place::Held(engine.hold.reported()), tokens: 0 }))
    }

    /// Opens the span that the stream starts in, unless a prompt decides the start.
    pub(super) fn open_start(&mut self) {
        let Start::Channel(channel) = self.engine.start else { return };
        if channel == Channel::Content || self.engine.prompted_start().is_some() {
            return;
        }
        if let Some((region, rule)) = self.compiled.started(channel) {
            let span = OpenSpan::new(rule, 0, region, false);
            self.engine.pending = Pending::Due(PendingMarker::new(due::OPEN, span));
            self.engine.is_guess = self.engine.guesses_start;
        }
    }

    /// Reports the next framing.
    pub(super) fn report_framing(&mut self, len: usize) -> Result<EventRef, Error> {
        self.join(0, len)?;
        let last = self.rest(0)[len - 1];
        self.engine.framing = self.compiled.grammar.next_framing(self.engine.framing);
        // In a dialect that guards code, the code tracker does not read framing.
        if !self.compiled.grammar.guards {
            self.engine.code = CodeTracker::after(last);
        }
        self.engine.spans.lose(&self.compiled.grammar, flag::OPENED);
        Ok(self.event(KindRef::Framing, len))
    }

    /// Prepares the events of the next marker.
    #[inline(never)] // See `report_text`.
    pub(super) fn begin_marker(&mut self, pattern: u8, len: u32, is_broken: bool) -> Result<(), Error> {
        self.join(0, len as usize)?;
        let compiled = self.compiled;
        let region = self.region();
        let is_fence_close = region.fence_close == Some(pattern);
        let pattern = region.patterns[usize::from(pattern)];
        let (lines, has_lines) = (region.lines, region.has_lines());
        let engine = &mut *self.engine;
        engine.pass_marker(compiled);
        engine.note_content();
        let marker = &rest(&engine.hold, &self.chunk.bytes[self.pos..], 0)[..len as usize];
        if !is_broken {
            engine.attributes.clear();
        }
        if let Some(optional) = engine.optional.get_mut() {
            optional.prompt.marker = optional.prompt.early.saturating_sub(usize::from(pattern.before));
        }
        let open = |rule: u8, tag: u8, ends: bool| {
            PendingMarker::open(compiled, OpenSpan::new(rule, tag, compiled.inside(rule), ends), ends)
        };
        let removed = |more: u16| PendingMarker::new(due::FRAMING | more, OpenSpan::NONE);
        let mut pending = match pattern.action {
            Action::Open { rule, tag, ends } => {
                engine.is_guess |= compiled.is_label(rule) && engine.spans.is_before_first();
                let is_tag = pattern.len == 0;
                if is_tag && compiled.grammar.tag.attributes > 0 {
                    engine.attributes.read_tag(marker)?;
                }
                let closes_itself = is_tag && compiled.grammar.tag.self_close && marker.ends_with(b"/>");
                let pending = open(rule, tag, ends);
                PendingMarker { due: pending.due | bits(closes_itself, due::CLOSE), ..pending }
            }
            Action::FenceOpen { rule, ends } => open(rule, 0, ends),
            Action::HeaderBegin { tag } => {
                if !is_broken {
                    engine.attributes.read_header(header_rule(compiled), marker)?;
                }
                message(compiled, engine.spans.innermost(), &engine.attributes, tag)
            }
            Action::HeaderEnd | Action::HeaderName => {
                engine.attributes.read_header(header_rule(compiled), marker)?;
                message(compiled, engine.spans.innermost(), &engine.attributes, 0)
            }
            Action::HeaderWhole => {
                engine.attributes.read_whole_header(header_rule(compiled), &marker[usize::from(pattern.before)..])?;
                message(compiled, engine.spans.innermost(), &engine.attributes, 0)
            }
            Action::Close { rule, keep } => {
                engine.spans.set_rule(rule);
                PendingMarker::new(due::CLOSE | bits(keep, due::TEXT), OpenSpan::NONE)
            }
            Action::Answer { rule } => {
                engine.spans.set_rule(rule);
                PendingMarker::new(due::RECLASSIFY | due::CLOSE, OpenSpan::NONE)
            }
            Action::Absorb => {
                // The model wrote the opener of guessed thinking, which confirms the guess, unless the opener consists of words.
                let rule = engine.spans.innermost().map(|span| span.rule);
                engine.is_guess &= rule.is_some_and(|rule| compiled.is_label(rule));
                removed(due::AGAIN)
            }
            Action::Drop | Action::DropLast => removed(0),
            Action::Lead { rule, tag } => {
                let region = compiled.grammar.leading.unwrap_or(Grammar::ROOT);
                if engine.spans.channel() == Channel::Thinking {
                    engine.spans.lead(compiled, region, tag);
                    engine.is_guess = false;
                    removed(due::AGAIN)
                } else {
                    PendingMarker::new(due::OPEN, OpenSpan::new(rule, tag, region, false))
                }
            }
            Action::DropClose => removed(due::OVER),
            Action::Reclassify { rule } => PendingMarker { rule, ..removed(due::RECLASSIFY) },
            Action::Quote => PendingMarker::new(due::TEXT | due::QUOTE, OpenSpan::NONE),
        };
        let region = if pending.due & due::OPEN != 0 { pending.span.region } else { engine.spans.region() };
        if engine.wants_calls() && compiled.calls(region).is_some() {
            // The markers around calls are not text, so that a host can remove them.
            pending.due &= !due::TEXT;
        }
        let has = |events: u16| pending.due & events != 0;
        let opens_call = |rule: u8| compiled.spans.get(usize::from(rule)).is_some_and(|it| it.channel == Channel::Tool);
        if has(due::OPEN) && opens_call(pending.span.rule) {
            // If the call ends the thinking, the text after the call begins a new line, as after the closer of the thinking.
            engine.code_around = if has(due::IMPLIED) { CodeTracker::NEW } else { engine.code };
        }
        let is_fence = is_fence_close || matches!(pattern.action, Action::FenceOpen { .. });
        // The state of the code tracker after the marker.
        if has(due::QUOTE) {
            // The quote is reported as ordinary text.
            for at in 0..len as usize {
                let byte = rest(&engine.hold, &self.chunk.bytes[self.pos..], 0)[at];
                if has_lines {
                    engine.code.pass(byte, lines);
                }
                engine.pass_json(compiled, byte);
            }
        } else if !has(due::TEXT) && compiled.grammar.guards && !is_fence {
            // After a marker that is removed, a new line begins for the code tracker.
            engine.code = CodeTracker::NEW;
        } else {
            engine.code = CodeTracker::after(marker[marker.len() - 1]);
        }
        let has_attributes = has(due::OPEN) && engine.attributes.len() > 0;
        engine.pending = Pending::Due(PendingMarker {
            due: pending.due | bits(pattern.before > 0, due::BEFORE) | bits(has_attributes, due::ATTRIBUTES),
            before: pattern.before,
            main: len - u32::from(pattern.before),
            // A tag that closes itself has no framing inside.
            after: if has(due::OPEN) && has(due::CLOSE) { 0 } else { pattern.after },
            ..pending
        });
        // If the caller stops between two events, the rest is held. Holding must not fail at that point, so room is made now.
        let may_be_held = pattern.before > 0 || has(due::IMPLIED | due::RECLASSIFY | due::TEXT);
        if may_be_held && engine.hold.unreported().is_empty() {
            engine.hold.make_room(len as usize)?;
        }
        Ok(())
    }

    /// Prepares the opening of a span that has no opener.
    pub(super) fn begin_bare(&mut self, rule: u8) {
        let engine = &mut *self.engine;
        engine.attributes.clear();
        engine.spans.lose(&self.compiled.grammar, flag::LEADING);
        engine.code_around = engine.code;
        let span = OpenSpan::new(rule, 0, self.compiled.inside(rule), false);
        engine.pending = Pending::Due(PendingMarker::new(due::OPEN, span));
    }

    /// Carries out the next step of the pending marker. Returns the event of the step, if it has one.
    #[inline(never)] // See `report_text`.
    pub(super) fn report_marker(&mut self, mut pending: PendingMarker) -> Result<Option<EventRef>, Error> {
        let compiled = self.compiled;
        let step = pending.due & pending.due.wrapping_neg();
        pending.due &= !step;
        let event = match step {
            due::BEFORE => {
                let framing = usize::from(std::mem::take(&mut pending.before));
                Some(self.event(KindRef::Framing, framing))
            }
            due::IMPLIED => Some(self.close(0, Cause::Implied)?),
            due::RECLASSIFY if self.engine.spans.channel() == Channel::Thinking => {
                self.thinking_to_content(pending.len())
            }
            due::RECLASSIFY => self.content_to_thinking(pending.rule, pending.len())?,
            due::OPEN => {
                let OpenSpan { rule, tag, .. } = pending.span;
                self.open(pending.span)?;
                let len = if pending.due & due::TEXT != 0 { 0 } else { pending.take_main() };
                let event = self.event(KindRef::Open { rule, tag }, len);
                pending.passed = event.len as u32;
                Some(event)
            }
            due::ATTRIBUTES => {
                let index = pending.attributes as usize;
                pending.attributes += 1;
                pending.due |= bits(index + 1 < self.engine.attributes.len(), due::ATTRIBUTES);
                let event = self.event(KindRef::Attribute(index), 0);
                Some(EventRef { offset: event.offset - u64::from(pending.passed), ..event })
            }
            due::TEXT => {
                let (event, len) = self.text_within_budget(pending.main as usize)?;
                pending.main -= len as u32;
                pending.due |= bits(pending.main > 0, due::TEXT);
                self.engine.note_content();
                Some(event)
            }
            due::QUOTE => {
                let cleared = self.region().cleared;
                self.engine.spans.pass_quote(compiled, cleared | flag::OPENED);
                None
            }
            due::CLOSE => Some(self.close(pending.take_main(), Cause::Marker)?),
            due::OVER => {
                self.engine.spans.change(compiled, flag::FORCED | flag::ALONE, flag::FRESH);
                self.engine.has_closed = true;
                if let Some(thoughts) = self.engine.thoughts_mut() {
                    thoughts.drop_guess();
                }
                None
            }
            due::FRAMING => {
                self.engine.spans.lose(&compiled.grammar, flag::OPENED);
                Some(self.event(KindRef::Framing, pending.take_main()))
            }
            _ => {
                self.engine.spans.change(compiled, 0, flag::OPENED);
                None
            }
        };
        if pending.due != 0 {
            self.engine.pending = Pending::Due(pending);
        } else {
            self.engine.pending = Pending::Unread;
            let stays = self.engine.ends_in_word && compiled.grammar.separates(pending.after);
            self.engine.framing = if stays { 0 } else { pending.after };
            // Directly after a marker, the context is the beginning of a line.
            self.engine.before = prose::LINE;
            self.engine.code.lose_words();
        }
        Ok(event)
    }

    /// Reports that all content so far was thinking, because a closer of `len` bytes is next. A closer that belongs
    /// to the prompt does not count for this stream.
    fn content_to_thinking(&mut self, rule: u8, len: usize) -> Result<Option<EventRef>, Error> {
        let engine = &mut *self.engine;
        engine.spans.set_closed(rule);
        engine.json = JsonAnswer::NONE;
        (engine.ends_in_word, engine.content_before) = (false, 0);
        engine.spans.change(self.compiled, flag::ALONE, flag::LEAD | flag::FRESH);
        engine.has_closed = true;
        if engine.early() >= len {
            return Ok(None);
        }
        if let Some(thoughts) = engine.thoughts_mut() {
            thoughts.end(Cause::Marker, self.compiled.thought(rule))?;
        }
        Ok(Some(self.reclassify(Channel::Thinking)))
    }

    /// Reports that the open thinking was the answer, if it is the first span. The next `len` bytes end it; a closer that
    /// belongs to the prompt does not count for this stream.
    pub(super) fn thinking_to_content(&mut self, len: usize) -> Option<EventRef> {
        let engine = &mut *self.engine;
        if !engine.spans.is_first() || len > 0 && engine.early() >= len {
            return None;
        }
        engine.is_guess = false;
        engine.spans.change(self.compiled, flag::LEAD, 0);
        if let Some(thoughts) = engine.thoughts_mut() {
            thoughts.drop_open();
        }
        Some(self.reclassify(Channel::Content))
    }

    /// Reports that all content so far was thinking, or that all thinking was content.
    fn reclassify(&mut self, to: Channel) -> EventRef {
        let event = self.event(KindRef::Reclassify, 0);
        self.engine.ledger.reclassify(to);
        if let Some(optional) = self.engine.optional.get_mut() {
            move_all(&mut optional.tokens, to);
        }
        EventRef { channel: to, ..event }
    }

    fn open(&mut self, span: OpenSpan) -> Result<(), Error> {
        let engine = &mut *self.engine;
        engine.json = JsonAnswer::NONE;
        engine.spans.push(self.compiled, span);
        engine.begin_body(self.compiled, span)?;
        let channel = engine.spans.channel();
        engine.add_span(channel);
        let offset = engine.ledger.offset();
        let rule = with_thought(self.compiled, span);
        match engine.optional.get_mut().and_then(|optional| optional.thoughts.get_mut()) {
            Some(thoughts) if channel == Channel::Thinking => thoughts.begin(offset, &engine.attributes, rule),
            Some(thoughts) => {
                thoughts.drop_guess();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Closes the innermost span, with the next `len` bytes as its closer.
    pub(super) fn close(&mut self, len: usize, cause: Cause) -> Result<EventRef, Error> {
        let event = self.event(KindRef::Close(cause), len);
        let compiled = self.compiled;
        let engine = &mut *self.engine;
        let channel = engine.spans.channel();
        engine.before = prose::LINE;
        engine.json = JsonAnswer::NONE;
        let closed = engine.spans.pop(compiled);
        if channel == Channel::Thinking {
            engine.has_closed = true;
        }
        engine.set_body(None);
        let is_call = channel == Channel::Tool && usize::from(closed.rule) < compiled.spans.len();
        if compiled.grammar.guards && is_call && cause == Cause::Marker {
            engine.code = engine.code_around;
        }
        if let Some(thoughts) = engine.thoughts_mut().filter(|_| channel == Channel::Thinking) {
            let rule = thoughts.rule().and_then(|rule| compiled.thought(rule));
            thoughts.end(cause, rule)?;
        }
        Ok(event)
    }
}

/// Returns the pending marker of a header. The header's fields decide the channel of the body.
fn message(compiled: &Compiled, innermost: Option<&OpenSpan>, fields: &Attributes, tag: u8) -> PendingMarker {
    let rule = header_rule(compiled);
    let route = rule.routes.iter().find(|route| fits(rule, route, fields));
    let channel = route.map_or(Channel::Content, |route| route.channel);
    let rule = compiled.spans.len() as u8;
    // The header ends the span around it, unless that span is a wrapper of the content.
    let ends =
        innermost.is_some_and(|it| it.rule == rule || compiled.grammar.region(it.region).channel != Channel::Content);
    let is_addressed = route.is_some_and(|route| !route.calls);
    let span = OpenSpan::of_message(rule, tag, compiled.body(channel), is_addressed);
    PendingMarker::open(compiled, span, ends)
}

/// Returns the rule of the span, if it has a `thought` rule.
fn with_thought(compiled: &Compiled, span: OpenSpan) -> Option<u8> {
    compiled.thought(span.rule).map(|_| span.rule)
}

fn header_rule(compiled: &Compiled) -> &HeaderRule {
    compiled.grammar.header.as_ref().unwrap_or_else(|| unreachable!("a header in a dialect without a header rule"))
}
