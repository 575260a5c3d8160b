//! What is reported: text, and the events of a marker that was found.

use crate::dialect::{
    Channel, Start,
    attempt::Mark,
    lines::Lines,
    tables::{Action, HeaderRule, LineRule, Tables, flag},
};

use super::{Found, Frame, Pending, State, thoughts};
use crate::scanner::{Error, attributes::fits, chunk::Chunk, counts::all_to_thinking, event::Cause, extra::Extra};

/// An event before it has bytes.
pub struct Raw {
    pub kind: RawKind,
    pub channel: Channel,
    pub offset: u64,
    pub len: usize,
    pub place: Place,
}

impl Raw {
    /// Text or framing that is all the prompt's.
    pub(super) fn is_nothing(&self) -> bool {
        self.len == 0 && matches!(self.kind, RawKind::Text | RawKind::Framing)
    }
}

pub enum RawKind {
    Open { rule: u8, tag: u8 },
    Attribute(usize),
    Text,
    Framing,
    Close(Cause),
    Reclassify,
    Budget,
}

/// Where an event's bytes begin.
#[derive(Clone, Copy)]
pub enum Place {
    Held(usize),
    Chunk(usize),
}

/// A marker that was read, and what of it is still to be reported. No marker is as long as 4 GiB.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub(super) struct Due {
    step: Step,
    what: What,
    /// Framing that may follow.
    after: u16,
    closes_itself: bool,
    /// Bytes of framing before the marker, and of the marker.
    before: u16,
    main: u32,
    /// Bytes of the marker, and attributes, that were reported.
    passed: u32,
    attributes: u32,
}

impl Due {
    /// Of a marker that has no bytes.
    fn new(step: Step, what: What) -> Due {
        Due { step, what, after: 0, closes_itself: false, before: 0, main: 0, passed: 0, attributes: 0 }
    }

    /// Bytes that are still to be reported.
    pub(super) fn len(&self) -> usize {
        usize::from(self.before) + self.main as usize
    }

    fn take_main(&mut self) -> usize {
        core::mem::take(&mut self.main) as usize
    }
}

#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
enum Step {
    Before,
    Implied,
    Marker,
    Kept,
    Attributes,
    Close,
}

#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
enum What {
    Open {
        frame: Frame,
        keep: bool,
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

impl State {
    /// The next span that the prompt left open, as a span that opens at byte 0; the innermost one with its attributes.
    pub(super) fn open_prompted(&mut self, tables: &Tables, number: u8) -> Result<Option<Raw>, Error> {
        let frame = self.stack[..usize::from(self.depth)].get(usize::from(number)).copied();
        if let Some(extra) = self.extra.get_mut() {
            extra.prompt.open = frame.map(|_| number + 1);
        }
        let Some(frame) = frame else { return Ok(None) };
        let channel = tables.regions[usize::from(frame.region)].channel;
        if number + 1 == self.depth {
            let due = Due::new(Step::Attributes, What::Drop { is_close: false });
            self.pending = Pending::Due(Due { after: self.after, ..due });
        }
        self.add_span(channel);
        if let Some(thoughts) = thoughts(&mut self.extra).filter(|_| channel == Channel::Thinking) {
            thoughts.begin(0, &self.attributes, with_thought(tables, frame))?;
        }
        let kind = RawKind::Open { rule: frame.rule, tag: frame.tag };
        Ok(Some(Raw { kind, channel, offset: 0, len: 0, place: Place::Held(self.done) }))
    }

    /// A caller that stops between two events of a marker leaves the rest to be held (`park`), where nothing may fail any
    /// more.
    pub(super) fn make_room_to_park(&mut self) -> Result<(), Error> {
        let Pending::Due(due) = self.pending else { return Ok(()) };
        let has_more = matches!(
            due.what,
            What::Open { keep: true, .. }
                | What::Open { ends: true, .. }
                | What::Close { keep: true }
                | What::Quote
                | What::Reclassify { .. }
        );
        if due.before > 0 || has_more {
            self.forget_done();
            self.reserve(due.len())?;
        }
        Ok(())
    }

    /// Opens the span that the stream starts in.
    pub(super) fn open_start(&mut self, tables: &Tables) {
        let Start::Channel(channel) = self.start else { return };
        if channel == Channel::Content {
            return;
        }
        if let Some((region, rule)) = tables.started(channel) {
            let frame = Frame { rule, region, ..Frame::NONE };
            self.pending = Pending::Due(Due::new(Step::Marker, What::Open { frame, keep: false, ends: false }));
        }
    }

    /// A marker stands at the read position, where `text` begins: prepares its events.
    pub(super) fn begin_marker(&mut self, tables: &Tables, found: Found, text: &[u8]) -> Result<(), Error> {
        let marker = &text[..found.len as usize];
        let region = &tables.regions[usize::from(self.region)];
        let pattern = &region.patterns[usize::from(found.pattern)];
        let open = |rule: u8, tag: u8, ends: bool| {
            let flags = if ends { Frame::ENDED } else { 0 };
            let frame = Frame { rule, tag, region: tables.inside(rule), flags };
            What::Open { frame, keep: tables.spans[usize::from(rule)].keep, ends }
        };
        if !found.is_broken {
            self.attributes.clear();
        }
        let before = usize::from(pattern.before);
        let early = self.early();
        if let Some(extra) = self.extra.get_mut() {
            extra.prompt.marker = early.saturating_sub(before);
        }
        let mut closes_itself = false;
        let what = match pattern.action {
            Action::Open { rule, tag, ends } => {
                let is_tag = pattern.len == 0;
                if is_tag && tables.tag.attributes > 0 {
                    self.attributes.read_tag(marker)?;
                }
                closes_itself = is_tag && tables.tag.self_close && marker.ends_with(b"/>");
                open(rule, tag, ends)
            }
            Action::FenceOpen { rule, ends } => open(rule, 0, ends),
            Action::HeaderBegin { tag } => {
                if !found.is_broken {
                    self.attributes.read_header(header_rule(tables), marker)?;
                }
                self.message(tables, tag)
            }
            Action::HeaderEnd => {
                self.attributes.read_header(header_rule(tables), marker)?;
                self.message(tables, 0)
            }
            Action::HeaderWhole => {
                self.attributes.read_whole_header(header_rule(tables), marker)?;
                self.message(tables, 0)
            }
            Action::Close { rule, keep } => {
                // A span that was open at the start is one of the rule whose closer comes.
                if let Some(top) = self.stack[..usize::from(self.depth)].last_mut() {
                    top.rule = rule;
                }
                What::Close { keep }
            }
            Action::Drop => What::Drop { is_close: false },
            Action::DropClose => What::Drop { is_close: true },
            Action::Reclassify { rule } => What::Reclassify { rule },
            Action::Quote => What::Quote,
        };
        self.pass_marker(tables, found, what, marker);
        // The steps that have nothing to say are passed over.
        let step = match what {
            _ if before > 0 => Step::Before,
            What::Open { ends: true, .. } | What::Reclassify { .. } => Step::Implied,
            _ => Step::Marker,
        };
        self.pending = Pending::Due(Due {
            before: pattern.before,
            main: found.len - u32::from(pattern.before),
            after: pattern.after,
            closes_itself,
            ..Due::new(step, what)
        });
        Ok(())
    }

    /// Where the line stands after a marker.
    fn pass_marker(&mut self, tables: &Tables, found: Found, what: What, marker: &[u8]) {
        let region = &tables.regions[usize::from(self.region)];
        let last = marker[marker.len() - 1];
        if let What::Open { frame, ends, .. } = what
            && tables.spans.get(usize::from(frame.rule)).is_some_and(|span| span.channel == Channel::Tool)
        {
            // What it ends ends as by a marker of its own.
            self.lines_around = if ends { Lines::NEW } else { self.lines };
        }
        let is_fence = matches!(region.patterns[usize::from(found.pattern)].action, Action::FenceOpen { .. })
            || region.fence_close == Some(found.pattern);
        match what {
            // It is text like any other.
            What::Quote if region.lines != LineRule::Ignore => {
                marker.iter().for_each(|&byte| self.lines.pass(byte, region.lines));
            }
            What::Open { keep: true, .. } | What::Close { keep: true } | What::Quote => self.lines = Lines::after(last),
            // Where code is guarded, a line begins after what is removed.
            _ if tables.guards && !is_fence => self.lines = Lines::NEW,
            _ => self.lines = Lines::after(last),
        }
    }

    /// A header whose fields have been read: they say which channel its body is.
    fn message(&self, tables: &Tables, tag: u8) -> What {
        let rule = header_rule(tables);
        let route = rule.routes.iter().find(|route| fits(rule, route, &self.attributes));
        let channel = route.map_or(Channel::Content, |route| route.channel);
        let rule = tables.spans.len() as u8;
        let frame = Frame { rule, tag, region: tables.body(channel), flags: 0 };
        // It ends what it may stand in, but for a wrapper of the content.
        let ends = self.top().is_some_and(|top| top.rule == rule || self.channel != Channel::Content);
        What::Open { frame, keep: false, ends }
    }

    /// The next event of the marker that is due; none where there is nothing to say at this step.
    #[inline(never)] // See `read_chunk`.
    pub(super) fn report(&mut self, tables: &Tables, chunk: &Chunk<'_>, pos: &mut usize) -> Result<Option<Raw>, Error> {
        let Pending::Due(mut due) = self.pending else { return Ok(None) };
        let raw = match (due.step, due.what) {
            (Step::Before, _) => {
                due.step = Step::Implied;
                let framing = usize::from(core::mem::take(&mut due.before));
                Some(self.raw(RawKind::Framing, framing, pos))
            }
            (Step::Implied, What::Open { ends: true, .. }) => {
                due.step = Step::Marker;
                Some(self.close(tables, 0, Cause::Implied, pos)?)
            }
            (Step::Implied, What::Reclassify { rule }) => {
                due.step = Step::Marker;
                self.reclassify(tables, rule, due.len(), pos)?
            }
            (Step::Implied, _) => {
                due.step = Step::Marker;
                None
            }
            (Step::Marker, What::Open { frame, keep, .. }) => {
                due.step = Step::Attributes;
                self.open(tables, frame)?;
                let len = if keep { 0 } else { due.take_main() };
                let raw = self.raw(RawKind::Open { rule: frame.rule, tag: frame.tag }, len, pos);
                if !keep && self.attributes.len() == 0 && !due.closes_itself {
                    self.end_marker(due);
                    return Ok(Some(raw));
                }
                due.passed = raw.len as u32;
                Some(raw)
            }
            (Step::Marker, What::Close { keep: true }) | (Step::Kept, _) if due.main > 0 => {
                let raw = self.text_of_marker(&mut due, chunk, pos)?;
                due.passed += raw.len as u32;
                Some(raw)
            }
            (Step::Marker, What::Close { keep: true }) | (Step::Kept, _) => {
                due.step = Step::Close;
                None
            }
            (Step::Marker, What::Close { keep: false }) => {
                return self.end_marker(due).close(tables, due.take_main(), Cause::Marker, pos).map(Some);
            }
            (Step::Marker, What::Drop { is_close }) => {
                let main = due.take_main();
                if self.channel != Channel::Content {
                    // It was an opener that stood there again.
                    self.flags |= flag::OPENED & tables.used;
                    self.refresh(tables);
                }
                if is_close {
                    // It says that a thinking is over, so no closer to come says that of the text before it.
                    self.flags = self.flags & !(flag::FORCED | flag::ALONE) | flag::FRESH & tables.used;
                    self.refresh(tables);
                    if let Some(thoughts) = self.thoughts_mut() {
                        thoughts.drop_guess();
                    }
                }
                return Ok(Some(self.end_marker(due).raw(RawKind::Framing, main, pos)));
            }
            (Step::Marker, What::Reclassify { .. }) => {
                let main = due.take_main();
                return Ok(Some(self.end_marker(due).raw(RawKind::Framing, main, pos)));
            }
            (Step::Marker, What::Quote) if due.main > 0 => Some(self.text_of_marker(&mut due, chunk, pos)?),
            (Step::Marker, What::Quote) => {
                let cleared = tables.regions[usize::from(self.region)].cleared;
                self.flags = self.flags & !(cleared | flag::OPENED) ^ flag::QUOTED;
                self.refresh(tables);
                self.end_marker(due);
                return Ok(None);
            }
            (Step::Attributes, _) if (due.attributes as usize) < self.attributes.len() => {
                let kind = RawKind::Attribute(due.attributes as usize);
                let raw = Raw { offset: self.offset - u64::from(due.passed), ..self.raw(kind, 0, pos) };
                due.attributes += 1;
                Some(raw)
            }
            (Step::Attributes, _) => {
                due.step = Step::Kept;
                None
            }
            (Step::Close, what) => {
                let closes = due.closes_itself || matches!(what, What::Close { .. });
                let state = self.end_marker(due);
                return if closes { state.close(tables, 0, Cause::Marker, pos).map(Some) } else { Ok(None) };
            }
        };
        self.pending = Pending::Due(due);
        Ok(raw)
    }

    fn end_marker(&mut self, due: Due) -> &mut State {
        self.pending = Pending::Nothing;
        self.after = due.after;
        self
    }

    /// The next `len` bytes, as an event of the innermost channel.
    pub(super) fn raw(&mut self, kind: RawKind, len: usize, pos: &mut usize) -> Raw {
        let is_held = self.done < self.held.len();
        let place = match is_held {
            true if self.done < self.before => Place::Held(self.done),
            // Taken from this chunk, where it still stands: nothing of the chunk was done since.
            true => Place::Chunk(*pos - self.held().len()),
            false => Place::Chunk(*pos),
        };
        *(if is_held { &mut self.done } else { pos }) += len;
        let (place, len) = if self.early() > 0 { self.without_early(place, len) } else { (place, len) };
        let offset = self.offset;
        self.offset += len as u64;
        self.metered = self.offset;
        Raw { kind, channel: self.channel, offset, len, place }
    }

    /// Takes the prompt's bytes off the front of an event.
    fn without_early(&mut self, place: Place, len: usize) -> (Place, usize) {
        let Some(Extra { prompt, .. }) = self.extra.get_mut() else { return (place, len) };
        let early = prompt.early.min(len);
        prompt.early -= early;
        prompt.is_settled |= early > 0;
        match place {
            Place::Held(at) => (Place::Held(at + early), len - early),
            Place::Chunk(_) => (place, len),
        }
    }

    pub(super) fn text(&mut self, len: usize, chunk: &Chunk<'_>, pos: &mut usize) -> Result<Raw, Error> {
        let raw = self.raw(RawKind::Text, len, pos);
        let bytes = match raw.place {
            Place::Held(at) => &self.held[at..at + raw.len],
            Place::Chunk(at) => &chunk.bytes[at..at + raw.len],
        };
        self.meter.add_text(raw.channel, bytes);
        if let Some(extra) = self.extra.get_mut() {
            if self.has_tokens {
                extra.tokens[raw.channel as usize] += match raw.place {
                    Place::Held(at) => tokens_in(&extra.marks[at..at + raw.len]),
                    Place::Chunk(at) => chunk.tokens_in(at, raw.len),
                };
            }
            if let Some(thoughts) = extra.thoughts.as_mut().filter(|thoughts| thoughts.collects(raw.channel)) {
                thoughts.text(bytes)?;
            }
        }
        Ok(raw)
    }

    /// What has turned out to be text and is held.
    pub(super) fn report_known(&mut self, known: usize, chunk: &Chunk<'_>, pos: &mut usize) -> Result<Raw, Error> {
        let (raw, len) = self.text_within(known, chunk, pos)?;
        if let Some(extra) = self.extra.get_mut() {
            extra.known = known - len;
        }
        Ok(raw)
    }

    /// What is text of a marker that is due.
    fn text_of_marker(&mut self, due: &mut Due, chunk: &Chunk<'_>, pos: &mut usize) -> Result<Raw, Error> {
        let (raw, len) = self.text_within(due.main as usize, chunk, pos)?;
        due.main -= len as u32;
        Ok(raw)
    }

    /// As much of the next `len` bytes as is within the budget, as text, and how much that is; where it is nothing, that the
    /// budget is exceeded.
    fn text_within(&mut self, len: usize, chunk: &Chunk<'_>, pos: &mut usize) -> Result<(Raw, usize), Error> {
        let early = self.early().min(len);
        let from = if self.held().is_empty() { &chunk.bytes[*pos..] } else { self.held() };
        let fitting = self.fitting(&from[early..len]);
        if fitting > 0 || early == len {
            return Ok((self.text(early + fitting, chunk, pos)?, early + fitting));
        }
        if let Some(limit) = self.extra.get_mut().and_then(|extra| extra.limit.as_mut()) {
            limit.exceed();
        }
        Ok((self.raw(RawKind::Budget, 0, pos), 0))
    }

    /// All content so far was thinking, which the closer that stands here ends. `len`: the closer's; one that is the prompt's
    /// is none of this stream.
    fn reclassify(&mut self, tables: &Tables, rule: u8, len: usize, pos: &mut usize) -> Result<Option<Raw>, Error> {
        self.closed |= 1 << rule;
        self.flags = self.flags & !flag::ALONE | (flag::LEAD | flag::FRESH) & tables.used;
        self.refresh(tables);
        if self.early() >= len {
            return Ok(None);
        }
        self.meter.reclassify();
        if let Some(extra) = self.extra.get_mut() {
            all_to_thinking(&mut extra.tokens);
        }
        if let Some(thoughts) = self.thoughts_mut() {
            thoughts.end(Cause::Marker, tables.thought(rule))?;
        }
        Ok(Some(Raw { channel: Channel::Thinking, ..self.raw(RawKind::Reclassify, 0, pos) }))
    }

    fn open(&mut self, tables: &Tables, frame: Frame) -> Result<(), Error> {
        if let Some(around) = self.stack[..usize::from(self.depth)].last_mut() {
            around.flags = around.flags & !Frame::BLANK | self.flags as u8 & Frame::BLANK;
        }
        self.stack[usize::from(self.depth)] = frame;
        self.depth += 1;
        self.flags &= !(flag::QUOTED | flag::ALONE | flag::FORCED);
        self.flags |= (flag::BLANK | flag::OPENED) & tables.used;
        self.settle_frame(tables);
        self.add_span(self.channel);
        match thoughts(&mut self.extra) {
            Some(thoughts) if self.channel == Channel::Thinking => {
                thoughts.begin(self.offset, &self.attributes, with_thought(tables, frame))
            }
            Some(thoughts) => {
                thoughts.drop_guess();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Closes the innermost span by the next `len` bytes.
    pub(super) fn close(&mut self, tables: &Tables, len: usize, cause: Cause, pos: &mut usize) -> Result<Raw, Error> {
        let raw = self.raw(RawKind::Close(cause), len, pos);
        self.depth -= 1;
        let closed = self.stack[usize::from(self.depth)];
        let channel = self.channel;
        self.closed |= 1 << closed.rule;
        let is_call = channel == Channel::Tool && usize::from(closed.rule) < tables.spans.len();
        if tables.guards && is_call && cause == Cause::Marker {
            self.lines = self.lines_around;
        }
        let blank = self.top().map_or(0, |around| u16::from(around.flags & Frame::BLANK));
        self.flags = self.flags & !(flag::QUOTED | flag::BLANK | flag::OPENED) | flag::FRESH & tables.used | blank;
        self.settle_frame(tables);
        if let Some(thoughts) = self.thoughts_mut().filter(|_| channel == Channel::Thinking) {
            let rule = thoughts.rule().and_then(|rule| tables.thought(rule));
            thoughts.end(cause, rule)?;
        }
        Ok(raw)
    }
}

/// The frame's rule, if its thoughts have a rule of their own.
fn with_thought(tables: &Tables, frame: Frame) -> Option<u8> {
    tables.thought(frame.rule).map(|_| frame.rule)
}

/// Tokens that begin in these bytes.
fn tokens_in(marks: &[Mark]) -> u64 {
    marks.iter().filter(|mark| mark.begins_token()).count() as u64
}

fn header_rule(tables: &Tables) -> &HeaderRule {
    tables.header.as_ref().unwrap_or_else(|| unreachable!("a header in a dialect without a header rule"))
}
