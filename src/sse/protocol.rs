//! The interface that the code of every format implements, and the data that it shares. The formats do not know each other:
//! [`rewrite`](super::rewrite) hands each event to the code of one format.
//! That code writes each part of a text once, and keeps the laws of the [module](super).

use super::event::{EventPart, OwedLineFeed};
use crate::Error;
use crate::answer::{Input, Parts, Setup};
use crate::json::Edits;
use crate::memory;

/// The maximum number of stretches of an event that are sent separately; the rest is joined by field. Otherwise a few bytes of text
/// could become many times as many bytes of events.
pub const ALONE: usize = 32;

/// The code for a group of formats that are rewritten alike. Each implementation also has a function `event`, which writes an
/// event from the parts that were read, and a function `body`, which writes an answer that is not a stream.
pub trait Protocol {
    /// Returns the number of bytes that are held back.
    fn held(&self) -> usize;

    /// Writes the text that is held back. `input` decides whether texts continue.
    fn release(&mut self, context: &mut Context<'_>, input: Input<'_>) -> Result<(), Error>;

    /// Releases text that must precede an event of another format. With `is_last`, no text continues after that event.
    fn make_way(&mut self, context: &mut Context<'_>, is_last: bool, event: &EventPart<'_>) -> Result<(), Error>;

    /// Resets the state after `[DONE]` or an error.
    fn restart(&mut self, setup: &Setup) -> Result<(), Error>;
}

/// The data for rewriting an event or a body.
pub struct Context<'a> {
    pub setup: &'a mut Setup,
    pub scratch: &'a mut Scratch,
    pub out: &'a mut Vec<u8>,
}

/// Buffers for one event or body.
pub struct Scratch {
    /// The last results of the scanner.
    pub parts: Parts,
    /// The changes of the event or body.
    pub edits: Edits,
    /// The decoded text of a string with escapes.
    pub decoded: Vec<u8>,
    /// The number of stretches of the event that may still be sent separately.
    pub alone: usize,
    pub line_feed: OwedLineFeed,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            parts: Parts::default(),
            edits: Edits::default(),
            decoded: Vec::new(),
            alone: ALONE,
            line_feed: OwedLineFeed::default(),
        }
    }
}

impl Scratch {
    /// Resets what holds for a whole event.
    pub fn begin_event(&mut self) {
        (self.alone, self.line_feed) = (ALONE, OwedLineFeed::default());
    }

    /// Notes that an event, or the last part of an event, is left out.
    pub fn leave_out(&mut self, event: &EventPart<'_>) {
        self.line_feed.leave_out(&event.raw[..event.part.end]);
    }

    /// Prepares for the next data of an event, and frees the memory of a large event.
    pub fn begin_data(&mut self) {
        self.parts.clear();
        self.edits.clear();
        memory::clear(&mut self.decoded);
    }
}

/// The work that a server does itself, so that the rewriter need not do it.
#[derive(Clone, Copy, Default)]
pub struct ServerDoes {
    /// Whether the server splits the thinking, so that only calls are looked for.
    pub thinking: bool,
    /// Whether the server has made a call, so that the text is not searched for calls.
    pub calls: bool,
}
