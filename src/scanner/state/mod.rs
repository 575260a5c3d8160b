//! What a scanner remembers of its stream: how it begins, also behind a prompt, and what is counted. A stream is read from
//! left to right: calls that complete no marker go by the table (`calm`), all others through the engine (`read`), which
//! gives what it finds as events (`report`). What only the next bytes can decide is held back (`held`).

mod calm;
#[cfg(test)]
mod explored;
mod held;
mod read;
mod report;

use crate::dialect::{
    Channel, Start,
    attempt::{Attempt, Mark},
    calm::Spot,
    lines::{Lines, is_blank},
    tables::{Action, LineRule, MAX_DEPTH, MOST_NESTED, Pattern, PatternSet, Tables, flag},
};

pub use calm::SHORT;
use report::Due;
pub use report::{Place, Raw, RawKind};

use super::{
    Error, Options, StrayClose,
    attributes::Attributes,
    chunk::Chunk,
    counts::{Counts, Limit, Meter},
    event::Attribute,
    extra::{Extra, Prompt},
    lazy::Lazy,
    room::Room,
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
    /// Bytes of this stream have come with their tokens.
    has_tokens: bool,
    flags: u16,
    /// Framing that may follow the marker before: a number of the tables' framings, or 0.
    after: u16,
    /// What is held back is `held[done..]`; the first `before` bytes were there when the call began. Calls that neither find
    /// nor leave anything held do not look here: what is done may then be an earlier call's, and `before` too.
    held: Room,
    done: usize,
    before: usize,
    /// Text before here is in `meter`.
    metered: u64,
    meter: Meter,
    /// Patterns of the region that count now.
    active: PatternSet,
    /// Spans of which a block was closed.
    closed: u64,
    stack: [Frame; MAX_DEPTH],
    pending: Pending,
    lines: Lines,
    /// Where the text around a tool call stands, which goes on there after it; of dialects that guard code.
    lines_around: Lines,
    start: Start,
    /// `LITERAL` where the host asked for that.
    literal: u16,
    is_finishing: bool,
    /// A byte has come.
    has_begun: bool,
    /// What is held has been read, and only more bytes can decide it.
    waits: bool,
    attributes: Attributes,
    extra: Lazy<Extra>,
}

/// An open span.
#[cfg_attr(test, derive(Hash))]
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
#[cfg_attr(test, derive(Hash))]
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

/// A marker in a text.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
struct Found {
    pattern: u8,
    len: u32,
    /// A header that broke off: its fields have been read.
    is_broken: bool,
}

impl State {
    /// A stream that starts there, whatever the options say of it.
    pub fn new(tables: &Tables, start: Start, options: &Options) -> Result<State, Error> {
        let is_known = match start {
            Start::Header => tables.header.is_some(),
            Start::Channel(Channel::Content) => true,
            Start::Channel(channel) => tables.started(channel).is_some(),
        };
        if !is_known {
            return Err(Error::NoSuchStart);
        }
        // What was held when a call began stays while it lasts, and as much may have to be held when it ends, or a short chunk
        // be joined to it. Tags with attributes may be very long, but are not: room for a longer one is made when it comes.
        let most = tables.room + 1;
        let held = Room::new(most + most.max(SHORT))?;
        let mut state = State {
            start,
            literal: if options.stray_close == StrayClose::Text { flag::LITERAL } else { 0 },
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
            lines_around: Lines::NEW,
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
        let first = flag::START | flag::LEAD | flag::FRESH | flag::BLANK | flag::ALONE;
        self.flags = (first | header | self.literal) & tables.used;
        self.closed = 0;
        self.depth = 0;
        self.is_finishing = false;
        self.has_begun = false;
        self.has_tokens = false;
        self.be_alert();
        self.waits = false;
        self.after = 0;
        self.lines = Lines::NEW;
        self.lines_around = Lines::NEW;
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
        let held = self.held.try_clone()?;
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

    /// What is held moves to the front, where it stays until the next call.
    pub fn begin_call(&mut self, tables: &Tables) {
        self.let_go();
        self.waits = false;
        self.wake(tables);
        self.forget_found();
        self.meter_plain();
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

    /// The innermost span is a thinking that a tool call of the dialect ends.
    pub fn is_ended_by_calls(&self, tables: &Tables) -> bool {
        let ends = |pattern: &Pattern| match pattern.action {
            Action::Open { rule, ends, .. } | Action::FenceOpen { rule, ends } => {
                ends && tables.spans[usize::from(rule)].channel == Channel::Tool
            }
            _ => false,
        };
        self.channel == Channel::Thinking && tables.regions[usize::from(self.region)].patterns.iter().any(ends)
    }

    /// In the content, a closer of the thinking that comes next, with only blanks before it, is removed.
    pub fn expect_closer(&mut self, tables: &Tables) {
        if self.channel == Channel::Content {
            self.be_alert();
            // A call was there, so no closer says that all before it was thinking.
            self.flags = self.flags & !flag::ALONE | (flag::FRESH | flag::FORCED) & tables.used;
            self.refresh(tables);
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

    /// A new stream: what the counts and the thoughts begin with.
    fn begin_counts(&mut self) -> Result<(), Error> {
        self.clear_counts();
        match thoughts(&mut self.extra) {
            Some(thoughts) if self.flags & flag::ALONE != 0 => thoughts.guess(),
            _ => Ok(()),
        }
    }

    /// A byte has turned out to be text.
    fn pass(&mut self, tables: &Tables, byte: u8) {
        let region = &tables.regions[usize::from(self.region)];
        if region.lines != LineRule::Ignore {
            self.lines.pass(byte, region.lines);
        }
        let cleared = if is_blank(byte) { 0 } else { region.cleared };
        self.lose(tables, flag::FIRST | cleared);
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
        self.active = tables.regions[usize::from(self.region)].active(self.flags, self.closed, tag);
    }

    fn top(&self) -> Option<&Frame> {
        self.stack[..usize::from(self.depth)].last()
    }

    /// The innermost span is another one: what follows from it alone.
    fn settle_frame(&mut self, tables: &Tables) {
        let frame = self.top().copied().unwrap_or(Frame::NONE);
        self.region = frame.region;
        self.channel = tables.regions[usize::from(frame.region)].channel;
        let ended = u16::from(frame.flags & Frame::ENDED);
        // Content that ends a thinking takes its place.
        let around = usize::from(self.depth) - usize::from(self.channel == Channel::Thinking);
        let full = if around >= MOST_NESTED { flag::FULL } else { 0 };
        self.flags = self.flags & !(flag::ENDED | flag::FULL) | ended | full;
        self.refresh(tables);
    }
}

fn thoughts(extra: &mut Lazy<Extra>) -> Option<&mut Thoughts> {
    extra.get_mut()?.thoughts.as_mut()
}
