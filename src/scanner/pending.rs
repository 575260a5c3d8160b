//! The work that a pull may leave to the next one, besides bytes: a marker that is partly read, or one with events that are not
//! reported yet. A host may stop between any two events, so nothing that is still due may live in a pull alone.

use super::spans::OpenSpan;
use crate::{dialect::compiled::Compiled, matcher::recogniser::Recogniser};

/// The unfinished work after the text of a stream.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub enum Pending {
    /// Bytes that were not read, or only by the automaton.
    Unread,
    /// Bytes that may be a marker, as far as they were read. Only outside the table.
    Undecided(Recogniser),
    /// A marker of `len` bytes, which counts or is text by the bytes after it: of it and those, `seen` bytes. If it is an
    /// opener of calls (`opens_calls`), a body must begin after it. Otherwise the text may only mention it.
    Marker {
        pattern: u8,
        len: u32,
        seen: usize,
        opens_calls: bool,
    },
    /// The number of bytes of a body of calls that only more bytes can decide.
    Held(usize),
    Due(PendingMarker),
}

/// The events that a marker may have, in the order in which they come.
pub mod due {
    /// Framing before the marker.
    pub const BEFORE: u16 = 1;
    /// The thinking around it ends.
    pub const IMPLIED: u16 = 1 << 1;
    /// All content before it was thinking, or all thinking content.
    pub const RECLASSIFY: u16 = 1 << 2;
    pub const OPEN: u16 = 1 << 3;
    /// Only where there is an attribute that was not reported.
    pub const ATTRIBUTES: u16 = 1 << 4;
    /// The marker's bytes, if they are text. Otherwise the next event has them.
    pub const TEXT: u16 = 1 << 5;
    /// Not an event: between two quotes nothing else counts.
    pub const QUOTE: u16 = 1 << 6;
    pub const CLOSE: u16 = 1 << 7;
    /// Not an event: a span of thinking is over, so no later closer can say that the text before it was thinking.
    pub const OVER: u16 = 1 << 8;
    pub const FRAMING: u16 = 1 << 9;
    /// Not an event: it marked an opener.
    pub const AGAIN: u16 = 1 << 10;
}

/// A marker whose events are not all reported. No marker is as long as 4 GiB.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub struct PendingMarker {
    /// The events that are still due, a bit of `due` each.
    pub due: u16,
    /// The framing that may follow it.
    pub after: u16,
    /// The span that it opens.
    pub span: OpenSpan,
    /// The rule of the thinking that all content before it was.
    pub rule: u8,
    /// Bytes of framing before the marker, and of the marker, that are still to be reported.
    pub before: u16,
    pub main: u32,
    /// Bytes of the opener, and attributes, that were reported.
    pub passed: u32,
    pub attributes: u32,
}

impl PendingMarker {
    /// Returns a marker without bytes.
    pub fn new(due: u16, span: OpenSpan) -> PendingMarker {
        PendingMarker { due, after: 0, span, rule: 0, before: 0, main: 0, passed: 0, attributes: 0 }
    }

    /// Returns a marker that opens a span. Its bytes are text if the span keeps them. `ends` says whether it ends the thinking
    /// around it.
    pub fn open(compiled: &Compiled, span: OpenSpan, ends: bool) -> PendingMarker {
        let keep = compiled.spans.get(usize::from(span.rule)).is_some_and(|rule| rule.keep);
        PendingMarker::new(due::OPEN | bits(ends, due::IMPLIED) | bits(keep, due::TEXT), span)
    }

    /// Returns the number of bytes that are still to be reported.
    pub fn len(&self) -> usize {
        usize::from(self.before) + self.main as usize
    }

    pub fn take_main(&mut self) -> usize {
        std::mem::take(&mut self.main) as usize
    }
}

/// Returns the bits, or none.
pub fn bits(is: bool, bits: u16) -> u16 {
    if is { bits } else { 0 }
}
