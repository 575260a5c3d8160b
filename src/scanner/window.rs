//! The window of a pull: the held bytes and then the chunk, as one stretch of bytes that are in no event yet. Events are taken from
//! the front of the window. The rest is held when the pull ends, so no byte may be removed without an event.

use super::{chunk::Chunk, engine::Engine, error::Error, event::Cause, hold::HoldBuffer, pending::Pending};
use crate::{
    calls::body::{Body, Piece},
    channel::Channel,
    dialect::compiled::Compiled,
    matcher::{grammar::Region, prose, recogniser::TokenMark},
};

/// Pulls the events of one chunk, or of a flush or the end, one at a time: holds the engine, its dialect, and the chunk.
pub struct Pull<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) engine: &'a mut Engine,
    pub(super) chunk: Chunk<'a>,
    /// The number of bytes of the chunk that are in events or held.
    pub(super) pos: usize,
    /// The match found after the engine's `text`. Its bytes are in no event yet: if the pull is stopped, they are read again.
    pub(super) found: Option<Match>,
    /// Whether an error was returned.
    pub(super) has_failed: bool,
    /// The number of bytes of the stream before the chunk. Only for assertions.
    before: u64,
}

/// A match after the text: a marker, framing, or a part of a body of calls.
#[derive(Clone, Copy)]
pub enum Match {
    Marker {
        pattern: u8,
        len: u32,
        /// Whether the marker is a header that broke off. Its fields have been read.
        is_broken: bool,
    },
    /// The framing that was expected.
    Framing { len: usize },
    /// The beginning of a body of calls that opens a span of this rule, without an opener.
    Bare { rule: u8 },
    /// A piece of a body of calls. The body is at `next` after it.
    Call { piece: Piece, len: usize, next: Body },
    /// The end of a body of calls. The recogniser reads the marker itself.
    Closer,
    /// No match. The host has asked for the held bytes, so the text before this place is reported even if it ends inside a
    /// character.
    Released,
}

/// An event that has the place of its bytes and does not borrow them.
pub struct EventRef {
    pub kind: KindRef,
    pub channel: Channel,
    pub offset: u64,
    pub len: usize,
    pub place: Place,
    /// The number of tokens that begin in the bytes.
    pub tokens: u32,
}

impl EventRef {
    /// Returns whether the event is empty text, framing or value, because all of its bytes belong to the prompt.
    pub(super) fn is_nothing(&self) -> bool {
        let has_bytes =
            matches!(self.kind, KindRef::Text | KindRef::Framing | KindRef::Call { piece: Piece::Value, .. });
        has_bytes && self.len == 0
    }
}

pub enum KindRef {
    Open {
        rule: u8,
        tag: u8,
    },
    Attribute(usize),
    Text,
    Framing,
    Close(Cause),
    Reclassify,
    Budget,
    /// A piece of a call, other than framing and text.
    Call {
        piece: Piece,
        index: u64,
    },
}

/// The beginning of an event's bytes: an index of the held bytes or of the chunk.
#[derive(Clone, Copy)]
pub enum Place {
    Held(usize),
    Chunk(usize),
}

impl Place {
    /// Returns the `len` bytes from this place on.
    #[inline]
    pub fn bytes<'a>(self, hold: &'a HoldBuffer, chunk: &'a [u8], len: usize) -> &'a [u8] {
        let (all, at) = match self {
            Place::Held(at) => (hold.all(), at),
            Place::Chunk(at) => (chunk, at),
        };
        &all[at..at + len]
    }
}

impl<'a> Pull<'a> {
    pub fn new(compiled: &'a Compiled, engine: &'a mut Engine, chunk: Chunk<'a>) -> Pull<'a> {
        engine.hold.carry_over();
        engine.ledger.count_plain(engine.spans.channel());
        // If this pull is stopped, the automaton alone must not continue.
        engine.ledger.set_table_until(0);
        let before = if cfg!(debug_assertions) { engine.fed() } else { 0 };
        Pull { compiled, engine, chunk, pos: 0, found: None, has_failed: false, before }
    }

    /// Returns the number of bytes of the chunk that are in events, held, or belong to a marker or a word of a call with events
    /// that are still due. Bytes that were read are held now. There is room for them, unless memory has run out in this pull;
    /// then the scanner must be reset.
    pub fn consumed(&mut self) -> usize {
        if self.hold_rest().is_ok() {
            self.check_end();
        }
        self.pos
    }

    /// Checks the invariants at each place where a pull may end, which is after each event. The rest of the chunk may never be fed,
    /// so no information about it may be kept.
    fn check_end(&self) {
        let (engine, is_sound) = (&*self.engine, !self.has_failed);
        if is_sound && engine.has_begun {
            debug_assert!(self.read_ahead() <= engine.hold.unreported().len(), "more was read than is held");
            debug_assert!(
                engine.fed() == self.before + self.pos as u64,
                "not all that was consumed is reported or held"
            );
        }
    }

    /// Returns the number of bytes that are in no event and that the next pull does not read again.
    fn read_ahead(&self) -> usize {
        match &self.engine.pending {
            Pending::Due(marker) => marker.len(),
            _ => self.engine.text + self.engine.undecided(),
        }
    }

    /// Returns whether a token continues at the end of the consumed bytes.
    pub fn is_inside_token(&self) -> bool {
        self.chunk.is_inside_token(self.pos)
    }

    /// Holds the bytes of the chunk that were read, and those of a marker with events that are still due: the caller will not
    /// feed them again.
    pub(super) fn hold_rest(&mut self) -> Result<(), Error> {
        if matches!(&self.engine.pending, Pending::Undecided(recogniser) if recogniser.len() == 0) {
            // A recogniser that has read nothing is dropped: it was made for the next byte of the chunk, and the caller may feed
            // a different byte.
            self.engine.pending = Pending::Unread;
        }
        self.gather(self.read_ahead())
    }

    /// Returns the number of bytes that are in no event yet: held bytes, and the rest of the chunk.
    pub(super) fn unreported(&self) -> usize {
        self.engine.hold.unreported().len() + self.chunk.len() - self.pos
    }

    pub(super) fn region(&self) -> &Region {
        self.compiled.grammar.region(self.engine.spans.region())
    }

    /// Moves bytes of this chunk that are held and in no event back to the chunk, so that they are reported without a copy.
    pub(super) fn give_back(&mut self) {
        self.pos -= self.engine.hold.give_back();
    }

    /// Holds bytes of the chunk until `len` bytes are held that are in no event.
    pub(super) fn gather(&mut self, len: usize) -> Result<(), Error> {
        // If memory has run out, more bytes may have been counted than exist.
        let more = len.saturating_sub(self.engine.hold.unreported().len()).min(self.chunk.len() - self.pos);
        if more > 0 {
            let pos = self.pos;
            let chunk = &self.chunk;
            self.engine.hold.append(&chunk.bytes[pos..pos + more], |at| chunk.mark(pos + at))?;
            self.pos += more;
        }
        Ok(())
    }

    /// If the `len` bytes from an index on begin in the held bytes, holds all of them, so that they are contiguous.
    pub(super) fn join(&mut self, at: usize, len: usize) -> Result<(), Error> {
        if at < self.engine.hold.unreported().len() { self.gather(at + len) } else { Ok(()) }
    }

    /// Returns bytes that are in no event yet, from an index on: the held bytes from there, or else bytes of the chunk.
    pub(super) fn rest(&self, at: usize) -> &[u8] {
        rest(&self.engine.hold, &self.chunk.bytes[self.pos..], at)
    }

    pub(super) fn mark(&self, at: usize) -> TokenMark {
        let hold = &self.engine.hold;
        match at.checked_sub(hold.unreported().len()) {
            Some(at) => self.chunk.mark(self.pos + at),
            None => hold.mark(hold.reported() + at),
        }
    }

    /// Reports as text as many of the next `len` bytes as are within the budget. If none of them is, reports that the budget is
    /// exceeded. Returns the event and its length. The bytes must be contiguous.
    pub(super) fn text_within_budget(&mut self, len: usize) -> Result<(EventRef, usize), Error> {
        let early = self.engine.early().min(len);
        let mut fitting = len - early;
        if let Some(budget) = self.engine.budget() {
            let text = &self.rest(0)[early..len];
            fitting = budget.fitting(self.engine.ledger.channel_counts(), self.engine.spans.channel(), text);
        }
        if fitting > 0 || early == len {
            return Ok((self.text(early + fitting)?, early + fitting));
        }
        if let Some(budget) = self.engine.budget_mut() {
            budget.exceed();
        }
        Ok((self.event(KindRef::Budget, 0), 0))
    }

    /// Reports the next `len` bytes as text.
    fn text(&mut self, len: usize) -> Result<EventRef, Error> {
        self.engine.before = prose::after(self.engine.before, &self.rest(0)[..len]);
        let event = self.event(KindRef::Text, len);
        let engine = &mut *self.engine;
        let bytes = event.place.bytes(&engine.hold, self.chunk.bytes, event.len);
        engine.ledger.add_text(event.channel, bytes);
        if let Some(optional) = engine.optional.get_mut() {
            optional.tokens[event.channel as usize] += u64::from(event.tokens);
            if let Some(thoughts) = optional.thoughts.get_mut().filter(|thoughts| thoughts.collects(event.channel)) {
                thoughts.text(bytes)?;
            }
        }
        Ok(event)
    }

    /// Returns the next `len` bytes, which must be contiguous, as an event of the innermost channel.
    pub(super) fn event(&mut self, kind: KindRef, len: usize) -> EventRef {
        self.give_back();
        let engine = &mut *self.engine;
        let place = if engine.hold.unreported().is_empty() {
            let at = self.pos;
            self.pos += len;
            Place::Chunk(at)
        } else {
            Place::Held(engine.hold.report(len))
        };
        let (place, len) = match engine.optional.get_mut() {
            Some(optional) if optional.prompt.early > 0 => {
                // Bytes of the prompt are not part of the event.
                let prompt = &mut optional.prompt;
                let early = prompt.early.min(len);
                prompt.early -= early;
                prompt.is_settled |= early > 0;
                match place {
                    Place::Held(at) => (Place::Held(at + early), len - early),
                    Place::Chunk(_) => (place, len),
                }
            }
            _ => (place, len),
        };
        let offset = engine.ledger.report(len);
        let tokens = match place {
            _ if !engine.hold.has_marks() => 0,
            Place::Held(at) => engine.hold.tokens_in(at, len),
            Place::Chunk(at) => self.chunk.tokens_in(at, len),
        };
        engine.ledger.add_tokens(tokens);
        EventRef { kind, channel: engine.spans.channel(), offset, len, place, tokens }
    }
}

/// Returns bytes that are in no event yet, from an index on: the held bytes from there, or else bytes of the chunk.
pub(super) fn rest<'a>(hold: &'a HoldBuffer, chunk: &'a [u8], at: usize) -> &'a [u8] {
    let held = hold.unreported();
    match held.get(at..) {
        Some(held) if !held.is_empty() => held,
        _ => &chunk[at - held.len()..],
    }
}
