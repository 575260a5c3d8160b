//! The work that a pull may leave to the next pull, in addition to bytes: a marker that is partly read, or a marker with events
//! that are not reported yet. A host may stop between any two events, so unfinished work must not be kept only in a pull.

use super::spans::OpenSpan;
use crate::{dialect::compiled::Compiled, matcher::recogniser::Recogniser};

/// The unfinished work after the text of a stream.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub enum Pending {
    /// Bytes that were not read, or were read only by the automaton.
    Unread,
    /// Bytes that may be a marker, with the recogniser that has read them so far. Only outside the table.
    Undecided(Recogniser),
    /// A marker of `len` bytes. The bytes after it decide whether it counts or is text; `seen` bytes of the marker and of the bytes
    /// after it were read. An opener of calls (`opens_calls`) counts if a body begins after it. Any other marker counts unless the
    /// text only mentions it.
    Marker {
        pattern: u8,
        len: u32,
        seen: usize,
        opens_calls: bool,
    },
    /// The number of bytes of a body of calls that wait for later bytes to decide them.
    Held(usize),
    Due(PendingMarker),
}

/// The events that a marker may cause, in the order in which they are reported.
pub mod due {
    /// Framing before the marker.
    pub const BEFORE: u16 = 1;
    /// The thinking around the marker ends.
    pub const IMPLIED: u16 = 1 << 1;
    /// All content before the marker was thinking, or all thinking was content.
    pub const RECLASSIFY: u16 = 1 << 2;
    pub const OPEN: u16 = 1 << 3;
    /// An attribute that was not reported yet.
    pub const ATTRIBUTES: u16 = 1 << 4;
    /// The marker's bytes as text. Without this bit, the next event has them.
    pub const TEXT: u16 = 1 << 5;
    /// Not an event: the marker is a quote, and between two quotes no other marker counts.
    pub const QUOTE: u16 = 1 << 6;
    pub const CLOSE: u16 = 1 << 7;
    /// Not an event: a span of thinking is over, so a later closer cannot mean that the text before it was thinking.
    pub const OVER: u16 = 1 << 8;
    pub const FRAMING: u16 = 1 << 9;
    /// Not an event: the marker is a repeated opener.
    pub const AGAIN: u16 = 1 << 10;
}

/// A marker whose events are not all reported yet. Markers are shorter than 4 GiB.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub struct PendingMarker {
    /// The events that are still due, as bits of `due`.
    pub due: u16,
    /// The number of the framing that may follow the marker.
    pub after: u16,
    /// The span that the marker opens.
    pub span: OpenSpan,
    /// For `RECLASSIFY`: the rule of the thinking span.
    pub rule: u8,
    /// The numbers of bytes of the framing before the marker, and of the marker, that are still to be reported.
    pub before: u16,
    pub main: u32,
    /// The numbers of bytes of the opener, and of attributes, that were reported.
    pub passed: u32,
    pub attributes: u32,
}

impl PendingMarker {
    /// Returns a marker without bytes.
    pub fn new(due: u16, span: OpenSpan) -> PendingMarker {
        PendingMarker { due, after: 0, span, rule: 0, before: 0, main: 0, passed: 0, attributes: 0 }
    }

    /// Returns a marker that opens a span. Its bytes are text if the span keeps them. `ends` means that it ends the thinking
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

/// Returns `bits` if `is` is true, otherwise 0.
pub fn bits(is: bool, bits: u16) -> u16 {
    if is { bits } else { 0 }
}
