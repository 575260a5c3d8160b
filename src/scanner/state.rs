//! The engine. A stream is read from left to right. Where a marker may begin, an attempt reads on; if it fails, its
//! first byte is text and the search goes on at the next one. Bytes of an attempt that the chunk's end interrupts are
//! copied to `held`; all others are reported where they stand, in the caller's chunk.

use alloc::vec::Vec;
use core::{cell::Cell, ops::Range};

use crate::dialect::{
    Channel, Start,
    attempt::{self, Attempt, Mark, Verdict},
    calm::{ByteSet, LOST, Spot},
    lines::{Lines, is_blank},
    starts::{at_fence_line, may_begin, next_start},
    tables::{Action, HeaderRule, LineRule, MAX_DEPTH, MOST_NESTED, Region, Tables, flag},
};
use crate::utf8::incomplete_tail;

use super::{
    Error, Options,
    attributes::{Attributes, fits, same},
    chunk::Chunk,
    counts::{Counts, Limit, Meter, all_to_thinking},
    event::{Attribute, Cause},
    extra::{Extra, Prompt},
    lazy::Lazy,
    thoughts::Thoughts,
};

/// In this order: what a calm call needs comes first, so that it is in one line of the processor's cache, or two.
#[repr(C)]
pub struct State {
    /// Of the next byte to be reported.
    offset: u64,
    /// Up to here, text that completes no marker changes nothing but the line and what is held, and is within the budget.
    calm_end: u64,
    /// Where the stream stands while it is calm: `lines` and the attempt are behind then. LOST where the table has no such
    /// place.
    spot: Spot,
    /// Of the innermost span, or content.
    channel: Channel,
    region: u8,
    depth: u8,
    flags: u16,
    /// Framing that may follow the marker before: a number of the tables' framings, or 0.
    after: u16,
    /// What is held back is `held[done..]`; the first `before` bytes were there when the call began. Calls that neither find
    /// nor leave anything held do not look here: what is done may then be an earlier call's, and `before` too.
    held: Vec<u8>,
    done: usize,
    before: usize,
    /// Text before here is in `meter`.
    metered: u64,
    meter: Meter,
    /// Patterns of the region that count now.
    active: u64,
    /// Spans of which a block was closed.
    closed: u64,
    stack: [Frame; MAX_DEPTH],
    pending: Pending,
    lines: Lines,
    start: Start,
    is_finishing: bool,
    /// A byte has come.
    has_begun: bool,
    /// What is held has been read, and only more bytes can decide it.
    waits: bool,
    has_tokens: bool,
    attributes: Attributes,
    extra: Lazy<Extra>,
}

/// An open span.
#[derive(Clone, Copy)]
struct Frame {
    rule: u8,
    tag: u8,
    region: u8,
    /// Of the flags `ENDED`, and `BLANK` as it was when another span began inside this one.
    flags: u8,
}

impl Frame {
    /// Of the text outside all spans.
    const NONE: Frame = Frame { rule: 0, tag: 0, region: Tables::ROOT, flags: 0 };
    const ENDED: u8 = flag::ENDED as u8;
    const BLANK: u8 = flag::BLANK as u8;
}

/// What is under way where the stream stands.
#[derive(Clone, Copy)]
enum Pending {
    Nothing,
    /// Has read all that is held.
    Attempt(Attempt),
    /// The marker behind the text that was reported last.
    Found(Found),
    /// Events of a marker that are still due.
    Due(Due),
}

/// A marker that was read, and what of it is still to be reported. No marker is as long as 4 GiB.
#[derive(Clone, Copy)]
struct Due {
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
    fn len(&self) -> usize {
        usize::from(self.before) + self.main as usize
    }

    fn take_main(&mut self) -> usize {
        core::mem::take(&mut self.main) as usize
    }
}

#[derive(Clone, Copy)]
enum Step {
    Before,
    Implied,
    Marker,
    Kept,
    Attributes,
    Close,
}

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
    fn is_nothing(&self) -> bool {
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

/// A marker in a text.
#[derive(Clone, Copy)]
struct Found {
    pattern: u8,
    len: u32,
    /// A header that broke off: its fields have been read.
    is_broken: bool,
}

/// What a stretch of text holds.
enum Scan {
    Text,
    /// An attempt that began here is still alive at the end.
    Hold(usize),
    Match(usize, Found),
}

/// What a calm chunk comes to.
pub struct Calm {
    pub offset: u64,
    /// Bytes that were held before.
    pub before: usize,
    /// How many of those are text.
    pub held: usize,
    /// Bytes of the chunk that are text, behind those. The rest is held.
    pub len: usize,
    /// Where the stream then stands.
    to: Spot,
    /// There may be characters of several bytes.
    is_wide: bool,
}

impl Calm {
    /// Where its text in the chunk stands in the stream.
    #[inline]
    pub fn text_offset(&self) -> u64 {
        self.offset + self.held as u64
    }

    /// Its text in the chunk.
    #[inline]
    pub fn text<'a>(&self, chunk: &'a [u8]) -> &'a [u8] {
        chunk.get(..self.len).unwrap_or_default()
    }
}

enum Progress {
    Event(Raw),
    GoOn,
    Wait,
}

impl State {
    pub fn new(tables: &Tables, options: &Options) -> Result<State, Error> {
        let start = options.start.unwrap_or(tables.start);
        let is_known = match start {
            Start::Header => tables.header.is_some(),
            Start::Channel(Channel::Content) => true,
            Start::Channel(channel) => tables.started(channel).is_some(),
        };
        if !is_known {
            return Err(Error::NoSuchStart);
        }
        let mut held = Vec::new();
        // What was held when a call began stays while it lasts, and as much may have to be held when it ends. Tags with
        // attributes may be very long, but are not: room for a longer one is made when it comes.
        held.try_reserve_exact(2 * (tables.room + 1))?;
        let mut state = State {
            start,
            active: 0,
            flags: 0,
            closed: 0,
            region: Tables::ROOT,
            channel: Channel::Content,
            depth: 0,
            is_finishing: false,
            has_begun: false,
            waits: false,
            after: 0,
            stack: [Frame::NONE; MAX_DEPTH],
            lines: Lines::NEW,
            pending: Pending::Nothing,
            offset: 0,
            metered: 0,
            calm_end: 0,
            spot: Spot::LOST,
            meter: Meter::default(),
            held,
            has_tokens: false,
            done: 0,
            before: 0,
            attributes: Attributes::NONE,
            extra: Lazy::NONE,
        };
        if options.collect.is_some() || options.budget.is_some() {
            let extra = state.extra.made()?;
            extra.thoughts = options.collect.map(Thoughts::new);
            extra.limit = options.budget.map(Limit::new);
        }
        state.begin_stream(tables);
        Ok(state)
    }

    pub fn begin_stream(&mut self, tables: &Tables) {
        let header = if self.start == Start::Header { flag::HEADER } else { 0 };
        self.flags = (flag::START | flag::LEAD | flag::FRESH | flag::BLANK | flag::ALONE | header) & tables.used;
        self.closed = 0;
        self.depth = 0;
        self.is_finishing = false;
        self.has_begun = false;
        self.be_alert();
        self.waits = false;
        self.after = 0;
        self.lines = Lines::NEW;
        self.pending = Pending::Nothing;
        // The counts stay until the next stream begins.
        self.meter_plain();
        self.offset = 0;
        self.metered = 0;
        // The bytes stay where they are until the next call, for whoever reads the last events in `before`.
        self.done = self.held.len();
        self.attributes.clear();
        if let Some(extra) = self.extra.get_mut() {
            extra.begin_stream();
        }
        self.settle_frame(tables);
    }

    /// Forgets counts, and thoughts that were not taken, besides the stream.
    pub fn reset(&mut self, tables: &Tables) {
        self.begin_stream(tables);
        self.clear_counts();
        if let Some(thoughts) = self.thoughts_mut() {
            thoughts.clear();
        }
    }

    pub fn try_clone(&self) -> Result<State, Error> {
        let mut held = Vec::new();
        held.try_reserve_exact(self.held.capacity())?;
        held.extend_from_slice(&self.held);
        let extra = match self.extra.get() {
            Some(extra) => Lazy::new(extra.try_clone()?)?,
            None => Lazy::NONE,
        };
        Ok(State { held, extra, attributes: self.attributes.try_clone()?, meter: self.meter.clone(), ..*self })
    }

    /// Reads what the prompt has written of the model's turn, as if it had been generated, and begins a stream behind it.
    pub fn begin_behind(&mut self, tables: &Tables, turn: &[u8]) -> Result<Start, Error> {
        // A model whose messages have headers begins its turn in one; all others in the content.
        let start = if tables.start == Start::Header { Start::Header } else { Start::Channel(Channel::Content) };
        // Thoughts and counts are the stream's alone.
        let extra = self.extra.made()?;
        let (thoughts, limit, tokens) = (extra.thoughts.take(), extra.limit.take(), extra.tokens);
        let meter = self.meter.clone();
        let own_start = core::mem::replace(&mut self.start, start);
        self.begin_stream(tables);
        self.begin_call(tables);
        let mut pos = 0;
        let read = loop {
            match self.next_of_feed(tables, &Chunk::plain(turn), &mut pos, false) {
                Ok(Some(_)) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.start = own_start;
        self.metered = self.offset;
        self.meter = meter;
        let extra = self.extra.made()?;
        (extra.thoughts, extra.limit, extra.tokens) = (thoughts, limit, tokens);
        if let Err(error) = read {
            self.begin_stream(tables);
            return Err(error);
        }
        if self.offset > 0 {
            self.lose(tables, flag::START | flag::HEADER);
        }
        // A header that has begun, or can still begin, is where the stream starts.
        let in_header = self.depth == 0 && self.offset == 0 && start == Start::Header;
        self.has_begun = false;
        let early = self.held().len();
        self.extra.made()?.prompt = Prompt { open: Some(0), early, is_settled: false, marker: usize::MAX };
        self.be_alert();
        self.offset = 0;
        self.metered = 0;
        Ok(if in_header { Start::Header } else { Start::Channel(self.channel) })
    }

    /// The next span that the prompt left open, as a span that opens at byte 0; the innermost one with its attributes.
    fn open_prompted(&mut self, tables: &Tables, number: u8) -> Result<Option<Raw>, Error> {
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
            thoughts.begin(0, &self.attributes, tables.thought(frame.rule).is_some())?;
        }
        let kind = RawKind::Open { rule: frame.rule, tag: frame.tag };
        Ok(Some(Raw { kind, channel, offset: 0, len: 0, place: Place::Held(self.done) }))
    }

    /// What is held moves to the front, where it stays until the next call.
    pub fn begin_call(&mut self, tables: &Tables) {
        self.let_go();
        self.waits = false;
        self.wake(tables);
        self.forget_found();
        self.meter_plain();
    }

    /// A marker that was found is looked for anew.
    fn forget_found(&mut self) {
        if matches!(self.pending, Pending::Found(_)) {
            self.pending = Pending::Nothing;
        }
    }

    /// Of bytes that come with their tokens, what is known of each is kept as long as the byte is held.
    pub fn begin_tokens(&mut self) -> Result<(), Error> {
        if !self.has_tokens {
            let marks = &mut self.extra.made()?.marks;
            marks.try_reserve_exact(self.held.capacity())?;
            marks.resize(self.held.len(), Mark::PLAIN);
            self.has_tokens = true;
        }
        Ok(())
    }

    pub fn has_tokens(&self) -> bool {
        self.has_tokens
    }

    pub fn in_token(&self) -> bool {
        self.extra.get().is_some_and(|extra| extra.in_token)
    }

    /// `in_token`: what was fed ends inside a token.
    pub fn end_tokens(&mut self, in_token: bool) {
        if let Some(extra) = self.extra.get_mut() {
            extra.in_token = in_token;
        }
    }

    pub fn counts(&self, channel: Channel) -> Counts {
        let more = if channel == self.channel { self.offset - self.metered } else { 0 };
        let tokens = self.extra.get().map_or(0, |extra| extra.tokens[channel as usize]);
        Counts { tokens, ..self.meter.counts(channel, more) }
    }

    /// Of a chunk that was one text.
    #[inline]
    pub fn add_plain_tokens(&mut self, tokens: u64) {
        if let Some(extra) = self.extra.get_mut() {
            extra.tokens[self.channel as usize] += tokens;
        }
    }

    /// A call has read all there is: may the next one be calm?
    fn settle(&mut self, tables: &Tables, calm_end: u64) {
        self.be_alert();
        // Of bytes with tokens, more must be known than the table says.
        let is_read = self.held().is_empty() || matches!(self.pending, Pending::Attempt(_)) && !self.has_tokens;
        if calm_end > 0 && is_read && self.is_calm(tables) {
            self.calm_end = calm_end;
            self.be_at(tables, tables.calm.enter(self.region, self.active, &self.lines, self.held()));
        }
    }

    fn be_at(&mut self, tables: &Tables, row: u16) {
        self.spot = tables.calm.row(row).spot;
    }

    /// What comes next is not calm.
    fn be_alert(&mut self) {
        self.calm_end = 0;
        self.spot = Spot::LOST;
    }

    /// The same where the stream may have been calm: `lines` and the attempt catch up.
    fn wake(&mut self, tables: &Tables) {
        if self.spot.row != LOST {
            let region = &tables.regions[usize::from(self.region)];
            self.lines = tables.calm.row(self.spot.row).lines;
            self.pending = Pending::Nothing;
            if !self.held().is_empty() {
                let mut attempt = Attempt::begin(region, self.active, at_fence_line(region, &self.lines));
                attempt.run(tables, region, self.held(), &mut 0, |_| Mark::PLAIN);
                self.pending = Pending::Attempt(attempt);
            }
        }
        self.be_alert();
    }

    /// Text of calm calls.
    fn meter_plain(&mut self) {
        self.meter.add_plain(self.channel, self.offset - self.metered);
        self.metered = self.offset;
    }

    /// Does text change nothing but the line?
    fn is_calm(&self, tables: &Tables) -> bool {
        let region = &tables.regions[usize::from(self.region)];
        self.after == 0
            && self.has_begun
            && self.flags & (flag::START | flag::HEADER | region.cleared) == 0
            && self.extra.get().is_none_or(|extra| extra.is_calm(self.channel))
    }

    /// The common case, made cheap: a short chunk of ASCII in which nothing begins and no line ends is one event. Gives its
    /// channel and offset. Cannot panic.
    #[inline(always)]
    pub fn short_text(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64)> {
        // In this order: the other keeps more registers in use.
        if !is_plain(tables.calm.kinds(), self.spot.plain_mask, chunk) {
            return None;
        }
        let end = self.offset.wrapping_add(chunk.len() as u64);
        if end > self.calm_end {
            return None;
        }
        let offset = core::mem::replace(&mut self.offset, end);
        Some((self.channel, offset))
    }

    /// The same for longer ones, with line ends and other characters too. Cannot panic.
    #[inline(always)]
    pub fn long_text(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64)> {
        let end = self.offset.wrapping_add(chunk.len() as u64);
        if end > self.calm_end || chunk.len() > LONGEST {
            return None;
        }
        let (row, is_ascii) = tables.calm.pass(self.spot.row, chunk)?;
        if !is_ascii && !self.count_whole(chunk) {
            return None;
        }
        if row != self.spot.row {
            self.be_at(tables, row);
        }
        let offset = core::mem::replace(&mut self.offset, end);
        Some((self.channel, offset))
    }

    /// Counts the characters of a text that is about to be passed; false where it ends inside one.
    #[inline(never)]
    fn count_whole(&mut self, text: &[u8]) -> bool {
        let is_whole = incomplete_tail(text) == 0;
        if is_whole {
            self.meter.add_continuations(self.channel, text);
        }
        is_whole
    }

    /// The bytes of which a text may be, as long and in any order, that changes nothing where the stream stands; with the
    /// channel. Cannot panic.
    #[inline]
    pub fn quiet(&self, tables: &Tables) -> Option<(Channel, ByteSet)> {
        let may_pass = self.calm_end == u64::MAX && !self.has_tokens;
        let quiet = tables.calm.quiet(self.spot.row).filter(|_| may_pass)?;
        Some((self.channel, *quiet))
    }

    /// Such a text has passed; plain text may have been fed behind it. Says whether that can be. Cannot panic.
    pub fn skip(&mut self, len: u64) -> bool {
        let end = self.offset.checked_add(len).filter(|&end| end < MOST_SKIPPED);
        let can_be = self.calm_end == u64::MAX && self.spot.row != LOST && self.held().is_empty();
        let end = end.filter(|_| can_be);
        self.offset = end.unwrap_or(self.offset);
        end.is_some()
    }

    /// What a chunk comes to that completes no marker: text at most, and what is held behind it. Changes nothing: see
    /// `take` and `take_held`. None where only the engine can tell. Cannot panic.
    #[inline(always)]
    pub fn calm(&self, tables: &Tables, chunk: &[u8]) -> Option<Calm> {
        // The bytes that are held are elsewhere in memory.
        let from = self.spot;
        let before = usize::from(from.held);
        let all = before + chunk.len();
        if self.offset.wrapping_add(all as u64) > self.calm_end || chunk.is_empty() {
            return None;
        }
        let (row, is_ascii) = tables.calm.through(from.row, chunk);
        if row == LOST {
            return None;
        }
        let to = tables.calm.row(row).spot;
        let keep = usize::from(to.held);
        let text = all.checked_sub(keep)?;
        let (held, len) = (text.min(before), text.saturating_sub(before));
        if keep > 0 && (self.has_tokens || all - len > self.held.capacity()) {
            return None;
        }
        // No event cuts a character.
        let is_wide = from.is_wide || !is_ascii;
        if is_wide {
            let was_wide = held == before && from.is_wide;
            let ends_wide = keep == 0 && !chunk.last()?.is_ascii();
            if was_wide && incomplete_tail(self.held()) > 0 || ends_wide && incomplete_tail(chunk) > 0 {
                return None;
            }
        }
        Some(Calm { offset: self.offset, before, held, len, to, is_wide })
    }

    /// Feeds the chunk that `calm` was asked about. Its first event then is `all_held()[..held]`. Cannot panic.
    #[inline(always)]
    pub fn take(&mut self, chunk: &[u8], calm: &Calm) {
        if calm.is_wide {
            self.count_calm(calm.held, calm.text(chunk));
        }
        if calm.before > 0 || calm.len < chunk.len() {
            // Once tokens have come, nothing is held here: `calm` sees to that, and that there is room.
            self.let_go_of_bytes(calm.before);
            self.held.extend_from_slice(chunk.get(calm.len..).unwrap_or_default());
            self.done = calm.held;
        }
        self.offset += (calm.held + calm.len) as u64;
        self.spot = calm.to;
    }

    #[inline(never)]
    fn count_calm(&mut self, held: usize, text: &[u8]) {
        let held = self.held.get(self.done..).and_then(|all| all.get(..held)).unwrap_or_default();
        self.meter.add_continuations(self.channel, held);
        self.meter.add_continuations(self.channel, text);
    }

    /// The same where the caller stops between the two events: the held text has gone, and the chunk is not fed.
    pub fn take_held(&mut self, tables: &Tables, len: usize) {
        self.wake(tables);
        self.let_go();
        self.pending = Pending::Nothing;
        self.meter.add_continuations(self.channel, &self.held[..len]);
        for at in 0..len {
            self.pass(tables, self.held[at]);
        }
        self.done = len;
        self.offset += len as u64;
    }

    /// The bytes kept for whoever read the last events are let go; what is held is what the call begins with.
    fn let_go(&mut self) {
        let done = self.done;
        self.let_go_of_bytes(self.held.len() - done);
        if let Some(marks) = self.marks() {
            marks.drain(..done.min(marks.len()));
        }
    }

    /// The same without the marks. `left`: how many bytes are held. One by one, through cells: `copy_within` may panic.
    #[inline]
    fn let_go_of_bytes(&mut self, left: usize) {
        if left > 0 && self.done > 0 {
            let cells = Cell::from_mut(&mut self.held[..]).as_slice_of_cells();
            for (to, from) in cells.iter().zip(cells.get(self.done..).unwrap_or_default()) {
                to.set(from.get());
            }
        }
        self.held.truncate(left);
        self.done = 0;
        self.before = left;
    }

    pub fn channel(&self) -> Channel {
        self.channel
    }

    pub fn thoughts(&self) -> Option<&Thoughts> {
        self.extra.get()?.thoughts.as_ref()
    }

    pub fn thoughts_mut(&mut self) -> Option<&mut Thoughts> {
        thoughts(&mut self.extra)
    }

    /// Bytes at the front of what is held that are a prompt's.
    fn early(&self) -> usize {
        self.extra.get().map_or(0, |extra| extra.prompt.early)
    }

    /// What may come within the budget, in bytes at least; none where nothing limits it.
    fn left(&self) -> Option<u64> {
        self.extra.get()?.limit.as_ref()?.left(&self.meter, self.channel)
    }

    /// How many of the bytes of a text are within the budget.
    fn fitting(&self, text: &[u8]) -> usize {
        let limit = self.extra.get().and_then(|extra| extra.limit.as_ref());
        limit.map_or(text.len(), |limit| limit.fitting(&self.meter, self.channel, text))
    }

    fn add_span(&mut self, channel: Channel) {
        self.meter.add_span(channel);
        let limit = self.extra.get_mut().and_then(|extra| extra.limit.as_mut());
        if let Some(limit) = limit.filter(|_| channel == Channel::Thinking) {
            limit.begin_span(&self.meter);
        }
    }

    fn clear_counts(&mut self) {
        self.meter = Meter::default();
        if let Some(extra) = self.extra.get_mut() {
            extra.clear_counts();
        }
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Where streams start of which no prompt has said it.
    pub fn start(&self) -> Start {
        self.start
    }

    pub fn is_finishing(&self) -> bool {
        self.is_finishing
    }

    pub fn held(&self) -> &[u8] {
        self.held.get(self.done..).unwrap_or_default()
    }

    /// The same without what is the prompt's.
    pub fn held_of_stream(&self) -> &[u8] {
        &self.held()[self.early()..]
    }

    pub fn all_held(&self) -> &[u8] {
        &self.held
    }

    pub fn before(&self) -> &[u8] {
        &self.held[..self.before]
    }

    /// Bytes of the stream so far, held ones included.
    pub fn fed(&self) -> u64 {
        self.offset + self.held_of_stream().len() as u64
    }

    pub fn attribute(&self, index: usize) -> Option<Attribute<'_>> {
        let mut attribute = self.attributes.get(index)?;
        let early = self.extra.get().map_or(0, |extra| extra.prompt.marker);
        for range in [&mut attribute.raw_name, &mut attribute.raw_value] {
            *range = range.start.saturating_sub(early)..range.end.saturating_sub(early);
        }
        Some(attribute)
    }

    pub fn next_of_feed(
        &mut self,
        tables: &Tables,
        chunk: &Chunk<'_>,
        pos: &mut usize,
        at_end: bool,
    ) -> Result<Option<Raw>, Error> {
        let whole = chunk;
        loop {
            if matches!(self.pending, Pending::Due(_)) {
                if let Some(raw) = self.report(tables, whole, pos)?.filter(|raw| !raw.is_nothing()) {
                    return Ok(Some(raw));
                }
                continue;
            }
            if let Some(&Extra { known, prompt, .. }) = self.extra.get() {
                if known > 0 {
                    let raw = self.report_known(known, whole, pos)?;
                    if raw.is_nothing() {
                        continue;
                    }
                    return Ok(Some(raw));
                }
                if let (Some(number), true) = (prompt.open, self.has_begun) {
                    match self.open_prompted(tables, number)? {
                        Some(raw) => return Ok(Some(raw)),
                        None => continue,
                    }
                }
            }
            // No text from the chunk may go beyond the budget, so that only what is held may have to be divided.
            let left = self.left().and_then(|left| usize::try_from(left).ok());
            let end = left.map_or(whole.len(), |left| whole.len().min(pos.saturating_add(left.max(1))));
            let head;
            let chunk = if end < whole.len() {
                head = whole.head(end);
                &head
            } else {
                whole
            };
            let is_held = self.done < self.held.len();
            let has_more = *pos < chunk.len();
            // More bytes may decide what was held for want of them.
            self.waits &= !has_more;
            if !has_more && (!is_held || self.waits || !self.has_begun) {
                let end = left.map_or(u64::MAX, |left| self.offset.saturating_add(left as u64));
                self.settle(tables, if at_end { 0 } else { end });
                return Ok(None);
            }
            if !self.has_begun {
                self.has_begun = true;
                self.begin_counts()?;
                if self.extra.get().is_none_or(|extra| extra.prompt.open.is_none()) {
                    self.open_start(tables);
                }
                continue;
            }
            if self.offset > 0 || self.extra.get().is_some_and(|extra| extra.prompt.is_settled) {
                self.lose(tables, flag::START | flag::HEADER);
            }
            let progress = if self.after != 0 {
                self.follow(tables, chunk, pos, at_end)?
            } else if is_held && self.done >= self.before && left.is_none_or(|left| left >= whole.len()) {
                // All that is held came from this very chunk, where it can be read in place.
                *pos -= self.held().len();
                self.truncate(self.done);
                self.pending = Pending::Nothing;
                Progress::GoOn
            } else if is_held {
                self.read_held(tables, chunk, pos, at_end)?
            } else {
                self.read_chunk(tables, chunk, pos)?
            };
            match progress {
                Progress::Event(raw) if !raw.is_nothing() => return Ok(Some(raw)),
                Progress::Wait => self.waits = true,
                Progress::Event(_) | Progress::GoOn => {}
            }
        }
    }

    pub fn next_of_flush(&mut self, tables: &Tables) -> Result<Option<Raw>, Error> {
        // What is settled comes first: only the rest is released.
        if let Some(raw) = self.next_of_feed(tables, &Chunk::EMPTY, &mut 0, false)? {
            return Ok(Some(raw));
        }
        self.be_alert();
        if self.held().is_empty() || !self.has_begun {
            return Ok(None);
        }
        self.pending = Pending::Nothing;
        self.after = 0;
        for at in self.done..self.held.len() {
            self.pass(tables, self.held[at]);
        }
        let known = self.held().len();
        Ok(Some(self.report_known(known, &Chunk::EMPTY, &mut 0)?).filter(|raw| !raw.is_nothing()))
    }

    pub fn next_of_force(&mut self, tables: &Tables) -> Result<Option<Raw>, Error> {
        if let Some(raw) = self.next_of_feed(tables, &Chunk::EMPTY, &mut 0, false)? {
            return Ok(Some(raw));
        }
        self.be_alert();
        if self.channel != Channel::Thinking || !self.has_begun {
            return Ok(None);
        }
        if let Some(raw) = self.next_of_flush(tables)? {
            return Ok(Some(raw));
        }
        self.after = 0;
        // No marker stands between: what comes begins a line of its own.
        self.lines = Lines::NEW;
        let raw = self.close(tables, 0, Cause::Forced, &mut 0)?;
        self.flags |= flag::FORCED & tables.used;
        self.refresh(tables);
        Ok(Some(raw))
    }

    pub fn next_of_finish(&mut self, tables: &Tables) -> Result<Option<Raw>, Error> {
        self.is_finishing = true;
        if let Some(raw) = self.next_of_feed(tables, &Chunk::EMPTY, &mut 0, true)? {
            return Ok(Some(raw));
        }
        if self.depth > 0 && self.has_begun {
            return self.close(tables, 0, Cause::EndOfStream, &mut 0).map(Some);
        }
        self.begin_stream(tables);
        Ok(None)
    }

    /// Copies the rest of a marker whose events are not all reported: the caller will not feed it again.
    #[inline]
    pub fn park(&mut self, chunk: &Chunk<'_>, pos: &mut usize) {
        if let Pending::Due(due) = self.pending
            && self.held().is_empty()
        {
            let end = *pos + due.len();
            self.forget_done();
            self.copy(chunk, *pos..end);
            *pos = end;
        }
    }

    /// A caller that stops between two events of a marker leaves the rest to be held, where nothing may fail any more.
    fn make_room_to_park(&mut self) -> Result<(), Error> {
        let Pending::Due(due) = self.pending else { return Ok(()) };
        let has_more = matches!(
            due.what,
            What::Open { keep: true, .. } | What::Open { ends: true, .. } | What::Close { keep: true }
        );
        if due.before > 0 || has_more {
            self.forget_done();
            self.reserve(due.len())?;
        }
        Ok(())
    }

    /// A new stream: what the counts and the thoughts begin with.
    fn begin_counts(&mut self) -> Result<(), Error> {
        self.clear_counts();
        match thoughts(&mut self.extra) {
            Some(thoughts) if self.flags & flag::ALONE != 0 => thoughts.guess(),
            _ => Ok(()),
        }
    }

    /// Opens the span that the stream starts in.
    fn open_start(&mut self, tables: &Tables) {
        let Start::Channel(channel) = self.start else { return };
        if channel == Channel::Content {
            return;
        }
        if let Some((region, rule)) = tables.started(channel) {
            let frame = Frame { rule, region, ..Frame::NONE };
            self.pending = Pending::Due(Due::new(Step::Marker, What::Open { frame, keep: false, ends: false }));
        }
    }

    /// Takes the framing that may follow the marker before, if it is there.
    fn follow(&mut self, tables: &Tables, chunk: &Chunk<'_>, pos: &mut usize, at_end: bool) -> Result<Progress, Error> {
        let framing = &*tables.framings[usize::from(self.after) - 1];
        let (held, rest) = (self.held(), &chunk.bytes[*pos..]);
        let (in_held, in_chunk) = framing.split_at(framing.len().min(held.len()));
        let common = in_chunk.len().min(rest.len());
        let is_whole = common == in_chunk.len();
        let is_begun = same(tables.fold, &held[..in_held.len()], in_held)
            && same(tables.fold, &rest[..common], &in_chunk[..common]);
        if !is_begun || (at_end && !is_whole) {
            self.after = 0;
            return Ok(Progress::GoOn);
        }
        if !is_whole {
            self.hold(chunk, pos, common)?;
            return Ok(Progress::Wait);
        }
        if !in_held.is_empty() {
            self.hold(chunk, pos, common)?;
        }
        self.after = 0;
        self.lines.pass_marker(framing[framing.len() - 1]);
        Ok(Progress::Event(self.raw(RawKind::Framing, framing.len(), pos)))
    }

    /// Reads on in the chunk, nothing being held.
    fn read_chunk(&mut self, tables: &Tables, chunk: &Chunk<'_>, pos: &mut usize) -> Result<Progress, Error> {
        let rest = &chunk.bytes[*pos..];
        let scan = match self.pending {
            Pending::Found(found) => Scan::Match(0, found),
            _ => self.scan(tables, rest, |at| chunk.mark(*pos + at), false, false)?,
        };
        let (text, held) = match scan {
            Scan::Match(0, found) => {
                self.begin_marker(tables, found, rest)?;
                self.make_room_to_park()?;
                return Ok(Progress::GoOn);
            }
            Scan::Match(at, found) => {
                self.pending = Pending::Found(found);
                (at, 0)
            }
            Scan::Hold(at) => (at, rest.len() - at),
            Scan::Text => {
                let tail = incomplete_tail(rest);
                (rest.len() - tail, tail)
            }
        };
        if self.fitting(&rest[..text]) < text {
            self.hold(chunk, pos, text + held)?;
            self.extra.made()?.known = text;
            self.forget_found();
            return Ok(Progress::GoOn);
        }
        let progress = match text {
            0 => Progress::Wait,
            _ => Progress::Event(self.text(text, chunk, pos)?),
        };
        self.waits = held > 0;
        if held > 0 {
            self.hold(chunk, pos, held)?;
        }
        Ok(progress)
    }

    /// Reads on in what is held, taking bytes from the chunk as far as that needs them.
    fn read_held(
        &mut self,
        tables: &Tables,
        chunk: &Chunk<'_>,
        pos: &mut usize,
        at_end: bool,
    ) -> Result<Progress, Error> {
        let Pending::Attempt(attempt) = &mut self.pending else {
            return self.scan_held(tables, chunk, pos, false, at_end);
        };
        let region = &tables.regions[usize::from(self.region)];
        let mut end = *pos;
        let verdict = match attempt.run(tables, region, chunk.bytes, &mut end, |at| chunk.mark(at)) {
            Verdict::More if at_end => attempt.end(region),
            verdict => verdict,
        };
        self.lines.nest_if(attempt.nests());
        self.hold(chunk, pos, end - *pos)?;
        let read = self.held().len();
        match verdict {
            Verdict::More => return Ok(Progress::Wait),
            Verdict::HeaderEnd { .. } => self.hold(chunk, pos, 1)?,
            Verdict::Match { len, .. } if len > read => self.hold(chunk, pos, 1)?,
            _ => {}
        }
        self.pending = Pending::Nothing;
        let is_marker = self.with_held(|state, held, _| match state.judge(tables, verdict, held, read)? {
            Some(found) => state.begin_marker(tables, found, held).map(|()| true),
            None => Ok(false),
        })?;
        if is_marker { Ok(Progress::GoOn) } else { self.scan_held(tables, chunk, pos, true, at_end) }
    }

    /// Looks for a marker in what is held. `skip`: none begins at its first byte.
    fn scan_held(
        &mut self,
        tables: &Tables,
        chunk: &Chunk<'_>,
        pos: &mut usize,
        skip: bool,
        at_end: bool,
    ) -> Result<Progress, Error> {
        let len = self.held().len();
        let scan = self.with_held(|state, held, marks| {
            let mark = |at: usize| marks.get(at).copied().unwrap_or(Mark::PLAIN);
            state.scan(tables, held, mark, skip, at_end)
        });
        let text = match scan? {
            Scan::Match(0, found) => {
                self.with_held(|state, held, _| state.begin_marker(tables, found, held))?;
                return Ok(Progress::GoOn);
            }
            Scan::Hold(0) => return Ok(Progress::GoOn),
            Scan::Match(at, _) | Scan::Hold(at) => at,
            Scan::Text if at_end => len,
            Scan::Text => len - incomplete_tail(self.held()),
        };
        if text > 0 {
            return self.report_known(text, chunk, pos).map(Progress::Event);
        }
        // The beginning of a character, and nothing else.
        if *pos == chunk.len() {
            return Ok(Progress::Wait);
        }
        self.hold(chunk, pos, 1)?;
        Ok(Progress::GoOn)
    }

    /// Lends out what is held beside the rest of the state.
    fn with_held<T>(&mut self, read: impl FnOnce(&mut State, &[u8], &[Mark]) -> T) -> T {
        let held = core::mem::take(&mut self.held);
        let marks = self.extra.get_mut().map(|extra| core::mem::take(&mut extra.marks)).unwrap_or_default();
        let result = read(self, &held[self.done..], marks.get(self.done..).unwrap_or(&[]));
        self.held = held;
        if let Some(extra) = self.extra.get_mut() {
            extra.marks = marks;
        }
        result
    }

    /// Takes the next `len` bytes of the chunk to what is held.
    fn hold(&mut self, chunk: &Chunk<'_>, pos: &mut usize, len: usize) -> Result<(), Error> {
        self.forget_done();
        self.reserve(len)?;
        self.copy(chunk, *pos..*pos + len);
        *pos += len;
        Ok(())
    }

    fn reserve(&mut self, len: usize) -> Result<(), Error> {
        self.held.try_reserve(len)?;
        if let Some(marks) = self.marks() {
            marks.try_reserve(len)?;
        }
        Ok(())
    }

    /// What is known of each held byte, where bytes come with their tokens.
    fn marks(&mut self) -> Option<&mut Vec<Mark>> {
        self.extra.get_mut().filter(|_| self.has_tokens).map(|extra| &mut extra.marks)
    }

    fn copy(&mut self, chunk: &Chunk<'_>, range: Range<usize>) {
        self.held.extend_from_slice(&chunk.bytes[range.clone()]);
        if let Some(marks) = self.marks() {
            marks.extend(range.map(|at| chunk.mark(at)));
        }
    }

    /// Makes room where nothing is held any more. What the call began with stays.
    fn forget_done(&mut self) {
        if self.done == self.held.len() {
            self.truncate(self.before);
            self.done = self.held.len();
        }
    }

    fn truncate(&mut self, len: usize) {
        self.held.truncate(len);
        if let Some(extra) = self.extra.get_mut() {
            extra.marks.truncate(len);
        }
    }

    /// Looks for the leftmost marker. `skip`: none begins at the first byte. What it passes is text.
    fn scan(
        &mut self,
        tables: &Tables,
        text: &[u8],
        mark: impl Fn(usize) -> Mark,
        skip: bool,
        at_end: bool,
    ) -> Result<Scan, Error> {
        let region = &tables.regions[usize::from(self.region)];
        let mut at = 0;
        if skip {
            self.pass(tables, text[0]);
            at = 1;
        }
        while let Some(start) = self.find(tables, region, text, at) {
            let mut attempt = Attempt::begin(region, self.active, at_fence_line(region, &self.lines));
            let mut read = start;
            let verdict = match attempt.run(tables, region, text, &mut read, &mark) {
                Verdict::More if at_end => attempt.end(region),
                Verdict::More => {
                    self.pending = Pending::Attempt(attempt);
                    return Ok(Scan::Hold(start));
                }
                verdict => verdict,
            };
            match self.judge(tables, verdict, &text[start..], read - start)? {
                Some(found) => return Ok(Scan::Match(start, found)),
                None => {
                    self.lines.nest_if(attempt.nests());
                    self.pass(tables, text[start]);
                    at = start + 1;
                }
            }
        }
        Ok(Scan::Text)
    }

    /// The marker at the start of `text`, if the attempt found one. `read`: bytes before the one that decided.
    fn judge(&mut self, tables: &Tables, verdict: Verdict, text: &[u8], read: usize) -> Result<Option<Found>, Error> {
        Ok(match (verdict, &tables.header) {
            (Verdict::Match { pattern, len }, _) => Some(Found { pattern, len: len as u32, is_broken: false }),
            (Verdict::HeaderEnd { pattern }, _) => Some(Found { pattern, len: read as u32 + 1, is_broken: false }),
            (Verdict::HeaderBreak { pattern, pending, torn }, Some(rule)) => {
                let text = &text[..read - pending as usize];
                let end = self.attributes.read_broken_header(rule, text, torn)?;
                end.map(|len| Found { pattern, len: len as u32, is_broken: true })
            }
            _ => None,
        })
    }

    /// The next place from `at` on where a marker may begin. What it passes is text.
    fn find(&mut self, tables: &Tables, region: &Region, text: &[u8], mut at: usize) -> Option<usize> {
        while self.flags & (flag::START | flag::HEADER | region.cleared) != 0 {
            if may_begin(region, &region.first_triggers, self.active, &self.lines, text, at)? {
                return Some(at);
            }
            self.pass(tables, text[at]);
            at += 1;
        }
        loop {
            let row = tables.calm.enter(self.region, self.active, &self.lines, &[]);
            if row != LOST {
                let (read, row) = tables.calm.run(row, text.get(at..)?);
                let row = tables.calm.row(row);
                at += read - usize::from(row.spot.held);
                self.lines = row.lines;
            }
            // Behind this line, the table may know the place again.
            let mut end = text.len();
            if region.lines != LineRule::Ignore {
                let near = text.get(at..end.min(at + NEAR))?;
                end = at + memchr::memchr(b'\n', near).map_or(near.len(), |line| line + 1);
            }
            match next_start(region, self.active, &mut self.lines, &text[..end], at) {
                None if end < text.len() => at = end,
                start => return start,
            }
        }
    }

    /// A byte has turned out to be text.
    fn pass(&mut self, tables: &Tables, byte: u8) {
        let region = &tables.regions[usize::from(self.region)];
        if region.lines != LineRule::Ignore {
            self.lines.pass(byte, region.lines);
        }
        let cleared = if is_blank(byte) { 0 } else { region.cleared };
        self.lose(tables, flag::START | flag::HEADER | cleared);
    }

    fn lose(&mut self, tables: &Tables, flags: u16) {
        let lost = self.flags & flags;
        self.flags &= !flags;
        if lost & tables.regions[usize::from(self.region)].used != 0 {
            self.refresh(tables);
        }
    }

    /// Which patterns count follows from the region, the flags and the innermost tag.
    fn refresh(&mut self, tables: &Tables) {
        let tag = self.top().map_or(0, |frame| frame.tag);
        self.active = attempt::active(&tables.regions[usize::from(self.region)], self.flags, self.closed, tag);
    }

    fn top(&self) -> Option<&Frame> {
        self.stack[..usize::from(self.depth)].last()
    }

    /// A marker stands at the read position, where `text` begins: prepares its events.
    fn begin_marker(&mut self, tables: &Tables, found: Found, text: &[u8]) -> Result<(), Error> {
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
        self.lines.pass_marker(marker[marker.len() - 1]);
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
    fn report(&mut self, tables: &Tables, chunk: &Chunk<'_>, pos: &mut usize) -> Result<Option<Raw>, Error> {
        let Pending::Due(mut due) = self.pending else { return Ok(None) };
        let raw = match (due.step, due.what) {
            (Step::Before, _) => {
                due.step = Step::Implied;
                let framing = usize::from(core::mem::take(&mut due.before));
                (framing > 0).then(|| self.raw(RawKind::Framing, framing, pos))
            }
            (Step::Implied, What::Open { ends: true, .. }) => {
                due.step = Step::Marker;
                Some(self.close(tables, 0, Cause::Implied, pos)?)
            }
            (Step::Implied, What::Reclassify { rule }) => {
                due.step = Step::Marker;
                Some(self.reclassify(tables, rule, pos)?)
            }
            (Step::Implied, _) => {
                due.step = Step::Marker;
                None
            }
            (Step::Marker, What::Open { frame, keep, .. }) => {
                due.step = Step::Kept;
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
            (Step::Marker, What::Close { keep: true }) | (Step::Kept, _) => {
                due.step = if matches!(due.what, What::Close { .. }) { Step::Close } else { Step::Attributes };
                let kept = due.take_main();
                let raw = if kept > 0 { Some(self.text(kept, chunk, pos)?) } else { None };
                due.passed += raw.as_ref().map_or(0, |raw| raw.len as u32);
                raw
            }
            (Step::Marker, What::Close { keep: false }) => {
                return self.end_marker(due).close(tables, due.take_main(), Cause::Marker, pos).map(Some);
            }
            (Step::Marker, What::Drop { is_close }) => {
                let main = due.take_main();
                if is_close {
                    self.flags = self.flags & !flag::FORCED | flag::FRESH & tables.used;
                    self.refresh(tables);
                }
                return Ok(Some(self.end_marker(due).raw(RawKind::Framing, main, pos)));
            }
            (Step::Marker, What::Reclassify { .. }) => {
                let main = due.take_main();
                return Ok(Some(self.end_marker(due).raw(RawKind::Framing, main, pos)));
            }
            (Step::Marker, What::Quote) => {
                self.flags = self.flags & !flag::BLANK ^ flag::QUOTED;
                self.refresh(tables);
                let main = due.take_main();
                return self.end_marker(due).text(main, chunk, pos).map(Some);
            }
            (Step::Attributes, _) if (due.attributes as usize) < self.attributes.len() => {
                let kind = RawKind::Attribute(due.attributes as usize);
                let raw = Raw { offset: self.offset - u64::from(due.passed), ..self.raw(kind, 0, pos) };
                due.attributes += 1;
                Some(raw)
            }
            (Step::Attributes, _) => {
                due.step = Step::Close;
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
    fn raw(&mut self, kind: RawKind, len: usize, pos: &mut usize) -> Raw {
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

    fn text(&mut self, len: usize, chunk: &Chunk<'_>, pos: &mut usize) -> Result<Raw, Error> {
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

    /// What has turned out to be text and is held; where it is more than the budget has left, that is said first.
    fn report_known(&mut self, known: usize, chunk: &Chunk<'_>, pos: &mut usize) -> Result<Raw, Error> {
        let early = self.early().min(known);
        let fitting = self.fitting(&self.held()[early..known]);
        let is_beyond = fitting == 0 && early < known;
        let len = if is_beyond { 0 } else { early + fitting };
        if let Some(extra) = self.extra.get_mut() {
            extra.known = known - len;
            if let Some(limit) = extra.limit.as_mut().filter(|_| is_beyond) {
                limit.exceed();
            }
        }
        if is_beyond { Ok(self.raw(RawKind::Budget, 0, pos)) } else { self.text(len, chunk, pos) }
    }

    /// All content so far was thinking, which the closer that stands here ends.
    fn reclassify(&mut self, tables: &Tables, rule: u8, pos: &mut usize) -> Result<Raw, Error> {
        let raw = Raw { channel: Channel::Thinking, ..self.raw(RawKind::Reclassify, 0, pos) };
        self.meter.reclassify();
        if let Some(extra) = self.extra.get_mut() {
            all_to_thinking(&mut extra.tokens);
        }
        self.closed |= 1 << rule;
        self.flags = self.flags & !flag::ALONE | (flag::LEAD | flag::FRESH) & tables.used;
        self.refresh(tables);
        if let Some(thoughts) = self.thoughts_mut() {
            thoughts.end(Cause::Marker, tables.thought(rule))?;
        }
        Ok(raw)
    }

    fn open(&mut self, tables: &Tables, frame: Frame) -> Result<(), Error> {
        if let Some(around) = self.stack[..usize::from(self.depth)].last_mut() {
            around.flags = around.flags & !Frame::BLANK | self.flags as u8 & Frame::BLANK;
        }
        self.stack[usize::from(self.depth)] = frame;
        self.depth += 1;
        self.flags = self.flags & !(flag::QUOTED | flag::ALONE | flag::FORCED) | flag::BLANK & tables.used;
        self.settle_frame(tables);
        self.add_span(self.channel);
        match thoughts(&mut self.extra) {
            Some(thoughts) if self.channel == Channel::Thinking => {
                thoughts.begin(self.offset, &self.attributes, tables.thought(frame.rule).is_some())
            }
            Some(thoughts) => {
                thoughts.drop_guess();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Closes the innermost span by the next `len` bytes.
    fn close(&mut self, tables: &Tables, len: usize, cause: Cause, pos: &mut usize) -> Result<Raw, Error> {
        let raw = self.raw(RawKind::Close(cause), len, pos);
        self.depth -= 1;
        let closed = self.stack[usize::from(self.depth)];
        let channel = self.channel;
        self.closed |= 1 << closed.rule;
        let blank = self.top().map_or(0, |around| u16::from(around.flags & Frame::BLANK));
        self.flags = self.flags & !(flag::QUOTED | flag::BLANK) | flag::FRESH & tables.used | blank;
        self.settle_frame(tables);
        if let Some(thoughts) = self.thoughts_mut().filter(|_| channel == Channel::Thinking) {
            thoughts.end(cause, tables.thought(closed.rule))?;
        }
        Ok(raw)
    }

    /// The innermost span is another one: what follows from it alone.
    fn settle_frame(&mut self, tables: &Tables) {
        let frame = self.top().copied().unwrap_or(Frame::NONE);
        self.region = frame.region;
        self.channel = tables.regions[usize::from(frame.region)].channel;
        let ended = u16::from(frame.flags & Frame::ENDED);
        let full = if usize::from(self.depth) >= MOST_NESTED { flag::FULL } else { 0 };
        self.flags = self.flags & !(flag::ENDED | flag::FULL) | ended | full;
        self.refresh(tables);
    }
}

fn thoughts(extra: &mut Lazy<Extra>) -> Option<&mut Thoughts> {
    extra.get_mut()?.thoughts.as_mut()
}

/// Tokens that begin in these bytes.
fn tokens_in(marks: &[Mark]) -> u64 {
    marks.iter().filter(|mark| mark.begins_token()).count() as u64
}

fn header_rule(tables: &Tables) -> &HeaderRule {
    tables.header.as_ref().unwrap_or_else(|| unreachable!("a header in a dialect without a header rule"))
}

/// Where skipping ends: no stream comes so far, and what is fed then has room for its offsets.
const MOST_SKIPPED: u64 = 1 << 63;

/// Chunks up to here are looked at as a whole: to stop at the first byte that matters would cost more than it saves.
const LONGEST: usize = 256;
/// So far, of a long line, the engine reads on without the table.
const NEAR: usize = 256;
/// Chunks up to here are short: they are looked at by the byte.
pub const SHORT: usize = 16;

/// Is a short chunk plain? Looks at four or eight bytes from each end, some of them twice, each four on their own, so that
/// hardly a register has to be saved for them; of less than four bytes at the first, the middle and the last one.
#[inline(always)]
fn is_plain(kinds: &[u32; 256], mask: u32, chunk: &[u8]) -> bool {
    let kind = |byte: u8| kinds[usize::from(byte)];
    let is_plain = |four: &[u8; 4]| four.iter().fold(0, |all, &byte| all | kind(byte)) & mask == 0;
    if let (Some(first), Some(last)) = (chunk.first_chunk(), chunk.last_chunk()) {
        if chunk.len() > SHORT || !is_plain(first) || !is_plain(last) {
            return false;
        }
        return match (chunk.first_chunk::<8>(), chunk.last_chunk::<8>()) {
            (Some([_, _, _, _, first @ ..]), Some([last @ .., _, _, _, _])) => is_plain(first) && is_plain(last),
            _ => true,
        };
    }
    let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { return false };
    (kind(*first) | kind(chunk[chunk.len() / 2]) | kind(*last)) & mask == 0
}
