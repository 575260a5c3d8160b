//! Puts the chunks and bodies of chat completions into one shape for hosts that want no other repair: everything else stays as
//! the server sent it.

use super::chunk::{BODY, Chunk, DELTA, Portion};
use super::members::Wanted;
use super::object::Object;
use crate::Error;
use crate::json::{Edits, Span};
use crate::memory::{self, TryBox, append};
use crate::sse::event::{Event, EventPart, split_mark};
use crate::sse::known::KnownEvent;
use crate::sse::options::Options;

/// The shaper of one stream or body.
pub struct Shaper {
    /// Whether no event has arrived yet.
    fresh: bool,
    chunk: Chunk,
    /// The last event, if it was not changed.
    clean: KnownEvent,
    event: Event,
    edits: Edits,
    shaped: Vec<u8>,
}

impl Shaper {
    /// Returns the object that shapes events, if requested.
    pub fn new(options: &Options) -> memory::Result<TryBox<Shaper>> {
        let wanted = Wanted::new(options);
        TryBox::of(wanted.shapes().then(|| Shaper::of(Wanted { repairs: false, ..wanted })))
    }

    fn of(wanted: Wanted) -> Shaper {
        Shaper {
            fresh: true,
            chunk: Chunk::new(wanted),
            clean: KnownEvent::default(),
            event: Event::default(),
            edits: Edits::default(),
            shaped: Vec::new(),
        }
    }

    pub fn begin_stream(&mut self) {
        // Buffers that a large event has made large must not stay so in later streams.
        *self = Shaper::of(self.chunk.wanted());
    }

    /// Calls `pass` with each piece of an event's shaped form, and whether the piece is the last. With `last`, the event ends the
    /// stream and may lack its blank line, so it is not divided. Returns whether the event changes.
    pub fn event(
        &mut self,
        raw: &[u8],
        last: bool,
        mut pass: impl FnMut(&[u8], bool) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        if !last && self.clean.fits(raw, |_, _| Ok(()))? {
            pass(raw, true)?;
            return Ok(false);
        }
        let (mark, rest) = split_mark(raw, std::mem::take(&mut self.fresh));
        if !mark.is_empty() {
            pass(mark, false)?;
        }
        self.event.read(rest)?;
        let data = self.event.data(rest);
        let is_chunk = Object::read(data, DELTA, &mut self.chunk)?.is_some_and(|object| object.has_choices);
        let portions: &[Portion] = match self.chunk.portions(data) {
            _ if !is_chunk => &[],
            _ if last => &[Portion::ALL],
            portions => portions,
        };
        let mut changes = false;
        for &portion in portions {
            self.edits.clear();
            self.chunk.mend(data, portion, &mut self.edits)?;
            if self.edits.len() > 0 {
                changes = true;
                memory::clear(&mut self.shaped);
                let part = EventPart { raw: rest, part: 0..rest.len(), event: &self.event };
                part.write(&mut self.edits, &mut self.shaped)?;
                if portion == Portion::THINKING {
                    // The `\n` that arrives separately will end the second event.
                    append(&mut self.shaped, part.missing_end())?;
                }
                pass(&self.shaped, true)?;
            }
        }
        if !changes {
            let content = self.event.single().zip(self.chunk.content(data).filter(|_| is_chunk));
            let place = content.map(|(at, content)| (at.clone(), at.start + content.start..at.start + content.end));
            self.clean.keep(rest, place, |_| true)?;
            pass(rest, true)?;
        }
        Ok(changes)
    }

    /// Returns the shaped form of a body.
    pub fn body<'a>(&'a mut self, raw: &'a [u8]) -> memory::Result<&'a [u8]> {
        if Object::read(raw, BODY, &mut self.chunk)?.is_none() {
            return Ok(raw);
        }
        self.edits.clear();
        self.chunk.mend(raw, Portion::ALL, &mut self.edits)?;
        if self.edits.len() == 0 {
            return Ok(raw);
        }
        memory::clear(&mut self.shaped);
        self.edits.apply(raw, 0..raw.len(), Span::clone, &mut self.shaped)?;
        Ok(&self.shaped)
    }
}
