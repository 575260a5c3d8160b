//! The open spans of a stream, and the facts about earlier text: flags, and the rules whose spans were closed. Region, channel and
//! active patterns are derived from these, so no other file may set them.

use crate::{
    channel::Channel,
    dialect::compiled::Compiled,
    matcher::{
        automaton::Config,
        grammar::{Grammar, MAX_DEPTH, MOST_NESTED, PatternSet, flag},
    },
};

/// An open span.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub struct OpenSpan {
    pub rule: u8,
    pub tag: u8,
    pub region: u8,
    /// The number of the name that the closer must match: that of the span's tag, or of a leading tag in the span.
    name: u8,
    /// Whether the span ended a thinking span that had not been closed.
    pub has_ended: bool,
    /// Whether the span is the body of a message that is routed by its fields and has no calls.
    pub is_addressed: bool,
    /// The flag `BLANK` at the time when another span began inside this one.
    was_blank: bool,
}

impl OpenSpan {
    pub const NONE: OpenSpan = OpenSpan::new(0, 0, Grammar::ROOT, false);

    pub const fn new(rule: u8, tag: u8, region: u8, has_ended: bool) -> OpenSpan {
        OpenSpan { rule, tag, region, name: tag, has_ended, is_addressed: false, was_blank: false }
    }

    /// Returns the body of a message.
    pub const fn of_message(rule: u8, tag: u8, region: u8, is_addressed: bool) -> OpenSpan {
        OpenSpan { is_addressed, ..OpenSpan::new(rule, tag, region, false) }
    }
}

/// The stack of open spans. Region, channel and active patterns follow from it, and are cached.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Spans {
    /// The channel of the innermost span, or content.
    channel: Channel,
    region: u8,
    depth: u8,
    flags: u16,
    /// The patterns of the region that count at this place.
    active: PatternSet,
    /// The rules whose spans were closed before, one bit each.
    closed_once: u64,
    open: [OpenSpan; MAX_DEPTH],
}

impl Spans {
    /// Returns the spans of a stream that begins with these flags.
    pub fn new(compiled: &Compiled, flags: u16) -> Spans {
        let mut spans = Spans {
            channel: Channel::Content,
            region: Grammar::ROOT,
            depth: 0,
            flags: flags & compiled.used,
            active: 0,
            closed_once: 0,
            open: [OpenSpan::NONE; MAX_DEPTH],
        };
        spans.enter_innermost(compiled);
        spans
    }

    #[inline]
    pub fn channel(&self) -> Channel {
        self.channel
    }

    pub fn region(&self) -> u8 {
        self.region
    }

    pub fn flags(&self) -> u16 {
        self.flags
    }

    pub fn active(&self) -> PatternSet {
        self.active
    }

    pub fn open(&self) -> &[OpenSpan] {
        &self.open[..usize::from(self.depth)]
    }

    /// Returns whether exactly one span is open, the first of the stream.
    pub fn is_first(&self) -> bool {
        self.depth == 1 && self.closed_once == 0
    }

    /// Returns whether no span is open, and none was closed: the next one is the first of the stream.
    pub fn is_before_first(&self) -> bool {
        self.depth == 0 && self.closed_once == 0
    }

    pub fn innermost(&self) -> Option<&OpenSpan> {
        self.open().last()
    }

    /// Sets the rule of a span that was open at the start: its closer shows which rule it is.
    pub fn set_rule(&mut self, rule: u8) {
        if let Some(innermost) = self.open[..usize::from(self.depth)].last_mut() {
            innermost.rule = rule;
        }
    }

    /// Treats the innermost span, which has only blanks so far, as if this leading tag had opened it.
    pub fn lead(&mut self, compiled: &Compiled, region: u8, tag: u8) {
        if let Some(innermost) = self.open[..usize::from(self.depth)].last_mut() {
            (innermost.region, innermost.name) = (region, tag);
        }
        self.enter_innermost(compiled);
    }

    /// Returns the matcher's current configuration.
    pub fn config(&self, grammar: &Grammar) -> Config {
        let region = grammar.region(self.region);
        Config::new(self.region, region, self.flags, |flags| match flags == self.flags {
            true => self.active,
            false => region.active(flags, self.closed_once, self.tag()),
        })
    }

    /// Opens a span.
    pub fn push(&mut self, compiled: &Compiled, span: OpenSpan) {
        let blank = self.flags & flag::BLANK != 0;
        if let Some(around) = self.open[..usize::from(self.depth)].last_mut() {
            around.was_blank = blank;
        }
        self.open[usize::from(self.depth)] = span;
        self.depth += 1;
        self.flags &= !(flag::QUOTED | flag::ALONE | flag::FORCED);
        self.flags |= (flag::BLANK | flag::OPENED) & compiled.used;
        self.enter_innermost(compiled);
    }

    /// Closes the innermost span, and returns it.
    pub fn pop(&mut self, compiled: &Compiled) -> OpenSpan {
        self.depth -= 1;
        let closed = self.open[usize::from(self.depth)];
        self.closed_once |= 1 << closed.rule;
        let blank = if self.innermost().is_some_and(|around| around.was_blank) { flag::BLANK } else { 0 };
        self.flags &= !(flag::QUOTED | flag::BLANK | flag::OPENED);
        self.flags |= (flag::FRESH | blank) & compiled.used;
        self.enter_innermost(compiled);
        closed
    }

    /// Notes a closer of this rule whose span was not open.
    pub fn set_closed(&mut self, rule: u8) {
        self.closed_once |= 1 << rule;
    }

    /// Clears flags, and then sets others.
    pub fn change(&mut self, compiled: &Compiled, lost: u16, gained: u16) {
        self.flags = self.flags & !lost | gained & compiled.used;
        self.refresh(&compiled.grammar);
    }

    /// Notes a quote and clears flags. Between two quotes no other marker counts.
    pub fn pass_quote(&mut self, compiled: &Compiled, lost: u16) {
        self.flags = self.flags & !lost ^ flag::QUOTED;
        self.refresh(&compiled.grammar);
    }

    /// Clears flags.
    #[inline]
    pub fn lose(&mut self, grammar: &Grammar, flags: u16) {
        let lost = self.flags & flags;
        self.flags &= !flags;
        if lost & grammar.region(self.region).used != 0 {
            self.refresh(grammar);
        }
    }

    fn tag(&self) -> u8 {
        self.innermost().map_or(0, |span| span.name)
    }

    fn refresh(&mut self, grammar: &Grammar) {
        self.active = grammar.region(self.region).active(self.flags, self.closed_once, self.tag());
    }

    /// Updates the data derived from the innermost span, after a change of that span.
    fn enter_innermost(&mut self, compiled: &Compiled) {
        let innermost = self.innermost().copied();
        self.region = innermost.map_or(Grammar::ROOT, |span| span.region);
        self.channel = compiled.grammar.region(self.region).channel;
        let addressed = if innermost.is_some_and(|span| span.is_addressed) { flag::ADDRESSED } else { 0 };
        let ended = if innermost.is_some_and(|span| span.has_ended) { flag::ENDED } else { 0 };
        // A content span that opens in the thinking closes the thinking span, so that the depth stays the same.
        let around = usize::from(self.depth) - usize::from(self.channel == Channel::Thinking);
        let full = if around >= MOST_NESTED { flag::FULL } else { 0 };
        let derived = flag::ENDED | flag::FULL | flag::ADDRESSED;
        self.flags = self.flags & !derived | ended | full | addressed;
        self.refresh(&compiled.grammar);
    }
}

#[cfg(test)]
impl std::hash::Hash for Spans {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.flags, self.active, self.closed_once, self.region, self.depth, self.open()).hash(state);
    }
}
