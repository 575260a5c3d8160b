//! Markers as events: what a marker that was found does, and its events, one after the other.

use super::{
    Error,
    attributes::{Attributes, fits},
    call::{Call, EventRef, KindRef, Place, rest},
    counts::all_to_thinking,
    event::Cause,
    spans::OpenSpan,
};
use crate::{
    channel::{Channel, Start},
    dialect::compiled::Compiled,
    matcher::{
        code::CodeTracker,
        grammar::{Action, HeaderRule, flag},
    },
};

/// A marker whose events are not all reported. No marker is as long as 4 GiB.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub struct PendingMarker {
    phase: Phase,
    effect: Effect,
    /// Framing that may follow.
    after: u16,
    closes_itself: bool,
    /// Bytes of framing before the marker, and of the marker, that are still to be reported.
    before: u16,
    main: u32,
    /// Bytes of the marker, and attributes, that were reported.
    passed: u32,
    attributes: u32,
}

impl PendingMarker {
    /// A marker that has no bytes.
    fn new(phase: Phase, effect: Effect) -> PendingMarker {
        PendingMarker { phase, effect, after: 0, closes_itself: false, before: 0, main: 0, passed: 0, attributes: 0 }
    }

    /// Bytes that are still to be reported.
    pub fn len(&self) -> usize {
        usize::from(self.before) + self.main as usize
    }

    fn take_main(&mut self) -> usize {
        core::mem::take(&mut self.main) as usize
    }
}

/// Which event comes next.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
enum Phase {
    Before,
    Implied,
    Marker,
    Attributes,
    /// The bytes of a marker that is text of its span.
    Kept,
    Close,
}

/// What a marker does.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
enum Effect {
    Open {
        span: OpenSpan,
        /// Its bytes are text.
        keep: bool,
        /// It ends the thinking around it.
        ends: bool,
    },
    Close {
        keep: bool,
    },
    Drop {
        is_close: bool,
    },
    /// Text, between two of which nothing else counts.
    Quote,
    /// It says that all content before it was thinking.
    Reclassify {
        rule: u8,
    },
}

impl Call<'_> {
    /// The next span that the prompt left open, as a span that opens at byte 0; the innermost one with its attributes.
    pub(super) fn open_prompted(&mut self, number: u8) -> Result<Option<EventRef>, Error> {
        let engine = &mut *self.engine;
        let span = engine.spans.open().get(usize::from(number)).copied();
        if let Some(optional) = engine.optional.get_mut() {
            optional.prompt.open = span.map(|_| number + 1);
        }
        let Some(span) = span else { return Ok(None) };
        let channel = self.compiled.grammar.region(span.region).channel;
        if usize::from(number) + 1 == engine.spans.open().len() {
            let pending = PendingMarker::new(Phase::Attributes, Effect::Drop { is_close: false });
            engine.pending = Some(PendingMarker { after: engine.framing, ..pending });
        }
        engine.add_span(channel);
        let rule = with_thought(self.compiled, span);
        if let Some(thoughts) = engine.optional.get_mut().and_then(|optional| optional.thoughts.as_mut())
            && channel == Channel::Thinking
        {
            thoughts.begin(0, &engine.attributes, rule)?;
        }
        let kind = KindRef::Open { rule: span.rule, tag: span.tag };
        Ok(Some(EventRef { kind, channel, offset: 0, len: 0, place: Place::Held(engine.hold.reported()) }))
    }

    /// Opens the span that the stream starts in, unless a prompt has said which that is.
    pub(super) fn open_start(&mut self) {
        let Start::Channel(channel) = self.engine.start() else { return };
        let is_prompted = self.engine.optional.get().is_some_and(|optional| optional.prompt.open.is_some());
        if channel == Channel::Content || is_prompted {
            return;
        }
        if let Some((region, rule)) = self.compiled.started(channel) {
            let span = OpenSpan::new(rule, 0, region, false);
            let effect = Effect::Open { span, keep: false, ends: false };
            self.engine.pending = Some(PendingMarker::new(Phase::Marker, effect));
        }
    }

    /// Reports the framing that comes next.
    pub(super) fn report_framing(&mut self, len: usize) -> Result<EventRef, Error> {
        self.join(0, len)?;
        let last = self.rest(0)[len - 1];
        self.engine.framing = 0;
        // In a dialect that guards code, the line stands as its marker left it.
        if !self.compiled.grammar.guards {
            self.engine.code = CodeTracker::after(last);
        }
        self.engine.spans.lose(&self.compiled.grammar, flag::OPENED);
        Ok(self.event(KindRef::Framing, len))
    }

    /// A marker comes next: prepares its events.
    #[inline(never)] // See `report_text`.
    pub(super) fn begin_marker(&mut self, pattern: u8, len: u32, is_broken: bool) -> Result<(), Error> {
        self.join(0, len as usize)?;
        let compiled = self.compiled;
        let region = self.region();
        let is_fence_close = region.fence_close == Some(pattern);
        let pattern = region.patterns[usize::from(pattern)];
        let (lines, has_lines) = (region.lines, region.has_lines());
        let engine = &mut *self.engine;
        let marker = &rest(&engine.hold, &self.chunk.bytes[self.pos..], 0)[..len as usize];
        if !is_broken {
            engine.attributes.clear();
        }
        if let Some(optional) = engine.optional.get_mut() {
            optional.prompt.marker = optional.prompt.early.saturating_sub(usize::from(pattern.before));
        }
        let open = |rule: u8, tag: u8, ends: bool| {
            let span = OpenSpan::new(rule, tag, compiled.inside(rule), ends);
            Effect::Open { span, keep: compiled.spans[usize::from(rule)].keep, ends }
        };
        let mut closes_itself = false;
        let effect = match pattern.action {
            Action::Open { rule, tag, ends } => {
                let is_tag = pattern.len == 0;
                if is_tag && compiled.grammar.tag.attributes > 0 {
                    engine.attributes.read_tag(marker)?;
                }
                closes_itself = is_tag && compiled.grammar.tag.self_close && marker.ends_with(b"/>");
                open(rule, tag, ends)
            }
            Action::FenceOpen { rule, ends } => open(rule, 0, ends),
            Action::HeaderBegin { tag } => {
                if !is_broken {
                    engine.attributes.read_header(header_rule(compiled), marker)?;
                }
                message(compiled, engine.spans.innermost(), &engine.attributes, tag)
            }
            Action::HeaderEnd => {
                engine.attributes.read_header(header_rule(compiled), marker)?;
                message(compiled, engine.spans.innermost(), &engine.attributes, 0)
            }
            Action::HeaderWhole => {
                engine.attributes.read_whole_header(header_rule(compiled), marker)?;
                message(compiled, engine.spans.innermost(), &engine.attributes, 0)
            }
            Action::Close { rule, keep } => {
                engine.spans.set_rule(rule);
                Effect::Close { keep }
            }
            Action::Drop => Effect::Drop { is_close: false },
            Action::DropClose => Effect::Drop { is_close: true },
            Action::Reclassify { rule } => Effect::Reclassify { rule },
            Action::Quote => Effect::Quote,
        };
        if let Effect::Open { span, ends, .. } = effect
            && compiled.spans.get(usize::from(span.rule)).is_some_and(|span| span.channel == Channel::Tool)
        {
            // What it ends ends as by a marker of its own.
            engine.code_around = if ends { CodeTracker::NEW } else { engine.code };
        }
        // Where the line stands after the marker.
        let after = CodeTracker::after(marker[marker.len() - 1]);
        let is_fence = is_fence_close || matches!(pattern.action, Action::FenceOpen { .. });
        match effect {
            // It is text like any other.
            Effect::Quote if has_lines => {
                marker.iter().for_each(|&byte| engine.code.pass(byte, lines));
            }
            Effect::Open { keep: true, .. } | Effect::Close { keep: true } | Effect::Quote => engine.code = after,
            // Where code is guarded, a line begins after what is removed.
            _ if compiled.grammar.guards && !is_fence => engine.code = CodeTracker::NEW,
            _ => engine.code = after,
        }
        // The phases that have nothing to say are passed over.
        let phase = match effect {
            _ if pattern.before > 0 => Phase::Before,
            Effect::Open { ends: true, .. } | Effect::Reclassify { .. } => Phase::Implied,
            _ => Phase::Marker,
        };
        let has_more = pattern.before > 0
            || matches!(
                effect,
                Effect::Open { keep: true, .. }
                    | Effect::Open { ends: true, .. }
                    | Effect::Close { keep: true }
                    | Effect::Quote
                    | Effect::Reclassify { .. }
            );
        engine.pending = Some(PendingMarker {
            before: pattern.before,
            main: len - u32::from(pattern.before),
            after: pattern.after,
            closes_itself,
            ..PendingMarker::new(phase, effect)
        });
        // A caller that stops between two events leaves the rest to be held, where nothing may fail any more.
        if has_more && engine.hold.unreported().is_empty() {
            engine.hold.make_room(len as usize)?;
        }
        Ok(())
    }

    /// The next event of the marker that is pending; none where there is nothing to say in this phase.
    #[inline(never)] // See `report_text`.
    pub(super) fn report_marker(&mut self) -> Result<Option<EventRef>, Error> {
        let Some(mut pending) = self.engine.pending else { return Ok(None) };
        let compiled = self.compiled;
        let event = match (pending.phase, pending.effect) {
            (Phase::Before, _) => {
                pending.phase = Phase::Implied;
                let framing = usize::from(core::mem::take(&mut pending.before));
                Some(self.event(KindRef::Framing, framing))
            }
            (Phase::Implied, Effect::Open { ends: true, .. }) => {
                pending.phase = Phase::Marker;
                Some(self.close(0, Cause::Implied)?)
            }
            (Phase::Implied, Effect::Reclassify { rule }) => {
                pending.phase = Phase::Marker;
                self.reclassify(rule, pending.len())?
            }
            (Phase::Implied, _) => {
                pending.phase = Phase::Marker;
                None
            }
            (Phase::Marker, Effect::Open { span, keep, .. }) => {
                pending.phase = Phase::Attributes;
                self.open(span)?;
                let len = if keep { 0 } else { pending.take_main() };
                let event = self.event(KindRef::Open { rule: span.rule, tag: span.tag }, len);
                if !keep && self.engine.attributes.len() == 0 && !pending.closes_itself {
                    self.end_marker(pending);
                    return Ok(Some(event));
                }
                pending.passed = event.len as u32;
                Some(event)
            }
            (Phase::Marker, Effect::Close { keep: true }) | (Phase::Kept, _) if pending.main > 0 => {
                let event = self.text_of_marker(&mut pending)?;
                pending.passed += event.len as u32;
                Some(event)
            }
            (Phase::Marker, Effect::Close { keep: true }) | (Phase::Kept, _) => {
                pending.phase = Phase::Close;
                None
            }
            (Phase::Marker, Effect::Close { keep: false }) => {
                let len = pending.take_main();
                self.end_marker(pending);
                return self.close(len, Cause::Marker).map(Some);
            }
            (Phase::Marker, Effect::Drop { is_close }) => {
                let main = pending.take_main();
                if self.engine.spans.channel() != Channel::Content {
                    // It was an opener that stood there again.
                    self.engine.spans.change(compiled, 0, flag::OPENED);
                }
                if is_close {
                    // It says that a thinking is over, so no closer to come says that of the text before it.
                    self.engine.spans.change(compiled, flag::FORCED | flag::ALONE, flag::FRESH);
                    if let Some(thoughts) = self.engine.thoughts_mut() {
                        thoughts.drop_guess();
                    }
                }
                self.end_marker(pending);
                return Ok(Some(self.event(KindRef::Framing, main)));
            }
            (Phase::Marker, Effect::Reclassify { .. }) => {
                let main = pending.take_main();
                self.end_marker(pending);
                return Ok(Some(self.event(KindRef::Framing, main)));
            }
            (Phase::Marker, Effect::Quote) if pending.main > 0 => Some(self.text_of_marker(&mut pending)?),
            (Phase::Marker, Effect::Quote) => {
                let cleared = self.region().cleared;
                self.engine.spans.pass_quote(compiled, cleared | flag::OPENED);
                self.end_marker(pending);
                return Ok(None);
            }
            (Phase::Attributes, _) if (pending.attributes as usize) < self.engine.attributes.len() => {
                let event = self.event(KindRef::Attribute(pending.attributes as usize), 0);
                let offset = event.offset - u64::from(pending.passed);
                pending.attributes += 1;
                Some(EventRef { offset, ..event })
            }
            (Phase::Attributes, _) => {
                pending.phase = Phase::Kept;
                None
            }
            (Phase::Close, effect) => {
                let closes = pending.closes_itself || matches!(effect, Effect::Close { .. });
                self.end_marker(pending);
                return if closes { self.close(0, Cause::Marker).map(Some) } else { Ok(None) };
            }
        };
        self.engine.pending = Some(pending);
        Ok(event)
    }

    fn end_marker(&mut self, pending: PendingMarker) {
        self.engine.pending = None;
        self.engine.framing = pending.after;
    }

    /// What is text of a marker that is pending.
    fn text_of_marker(&mut self, pending: &mut PendingMarker) -> Result<EventRef, Error> {
        let (event, len) = self.text_within_budget(pending.main as usize)?;
        pending.main -= len as u32;
        Ok(event)
    }

    /// All content so far was thinking, which the closer that comes next ends. `len`: the closer's; one that is the prompt's
    /// is none of this stream.
    fn reclassify(&mut self, rule: u8, len: usize) -> Result<Option<EventRef>, Error> {
        let engine = &mut *self.engine;
        engine.spans.set_closed(rule);
        engine.spans.change(self.compiled, flag::ALONE, flag::LEAD | flag::FRESH);
        if engine.early() >= len {
            return Ok(None);
        }
        engine.ledger.reclassify();
        if let Some(optional) = engine.optional.get_mut() {
            all_to_thinking(&mut optional.tokens);
        }
        if let Some(thoughts) = engine.thoughts_mut() {
            thoughts.end(Cause::Marker, self.compiled.thought(rule))?;
        }
        Ok(Some(EventRef { channel: Channel::Thinking, ..self.event(KindRef::Reclassify, 0) }))
    }

    fn open(&mut self, span: OpenSpan) -> Result<(), Error> {
        let engine = &mut *self.engine;
        engine.spans.push(self.compiled, span);
        let channel = engine.spans.channel();
        engine.add_span(channel);
        let offset = engine.ledger.offset();
        let rule = with_thought(self.compiled, span);
        match engine.optional.get_mut().and_then(|optional| optional.thoughts.as_mut()) {
            Some(thoughts) if channel == Channel::Thinking => thoughts.begin(offset, &engine.attributes, rule),
            Some(thoughts) => {
                thoughts.drop_guess();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Closes the innermost span by the next `len` bytes.
    pub(super) fn close(&mut self, len: usize, cause: Cause) -> Result<EventRef, Error> {
        let event = self.event(KindRef::Close(cause), len);
        let compiled = self.compiled;
        let engine = &mut *self.engine;
        let channel = engine.spans.channel();
        let closed = engine.spans.pop(compiled);
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

/// A header whose fields have been read: they say which channel its body is.
fn message(compiled: &Compiled, innermost: Option<&OpenSpan>, fields: &Attributes, tag: u8) -> Effect {
    let rule = header_rule(compiled);
    let route = rule.routes.iter().find(|route| fits(rule, route, fields));
    let channel = route.map_or(Channel::Content, |route| route.channel);
    let rule = compiled.spans.len() as u8;
    let span = OpenSpan::new(rule, tag, compiled.body(channel), false);
    // It ends what it may stand in, but for a wrapper of the content.
    let ends =
        innermost.is_some_and(|it| it.rule == rule || compiled.grammar.region(it.region).channel != Channel::Content);
    Effect::Open { span, keep: false, ends }
}

/// The span's rule, if its thoughts have a rule of their own.
fn with_thought(compiled: &Compiled, span: OpenSpan) -> Option<u8> {
    compiled.thought(span.rule).map(|_| span.rule)
}

fn header_rule(compiled: &Compiled) -> &HeaderRule {
    compiled.grammar.header.as_ref().unwrap_or_else(|| unreachable!("a header in a dialect without a header rule"))
}
