//! One call for a stream: the engine, its dialect, and the chunk. It gives what it finds as events, one by one, and may be
//! stopped after each.

use super::{
    Error,
    chunk::Chunk,
    engine::Engine,
    event::Cause,
    hold::HoldBuffer,
    read::{Found, Read},
};
use crate::{
    channel::Channel,
    dialect::compiled::Compiled,
    matcher::{code::CodeTracker, grammar::flag, recogniser::TokenMark},
    utf8::incomplete_tail,
};

pub struct Call<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) engine: &'a mut Engine,
    pub(super) chunk: Chunk<'a>,
    /// Bytes of the chunk that are in events or held.
    pub(super) pos: usize,
}

/// An event before it has bytes.
pub struct EventRef {
    pub kind: KindRef,
    pub channel: Channel,
    pub offset: u64,
    pub len: usize,
    pub place: Place,
}

impl EventRef {
    /// Text or framing that is all the prompt's.
    pub(super) fn is_nothing(&self) -> bool {
        self.len == 0 && matches!(self.kind, KindRef::Text | KindRef::Framing)
    }
}

pub enum KindRef {
    Open { rule: u8, tag: u8 },
    Attribute(usize),
    Text,
    Framing,
    Close(Cause),
    Reclassify,
    Budget,
}

/// Where an event's bytes begin: in all that is held, or in the chunk.
#[derive(Clone, Copy)]
pub enum Place {
    Held(usize),
    Chunk(usize),
}

impl<'a> Call<'a> {
    pub fn new(compiled: &'a Compiled, engine: &'a mut Engine, chunk: Chunk<'a>) -> Call<'a> {
        engine.hold.begin_call();
        engine.ledger.count_plain(engine.spans.channel());
        // Where a call is stopped, the automaton's word is not enough.
        engine.ledger.set_table_until(0);
        // Of what was found, nothing is in an event: it is read again.
        engine.found = None;
        Call { compiled, engine, chunk, pos: 0 }
    }

    /// The next event of the chunk; none where all that can be decided has been. `at_end`: nothing comes after it.
    pub fn next_of_feed(&mut self, at_end: bool) -> Result<Option<EventRef>, Error> {
        loop {
            let event = if self.engine.pending.is_some() {
                self.report_marker()?
            } else if let Some(found) = self.engine.found {
                self.report_found(found)?
            } else if let Some(open) = self.prompted() {
                self.open_prompted(open)?
            } else if !self.engine.has_begun {
                if self.pos == self.chunk.len() {
                    return Ok(None);
                }
                self.engine.begin_counts()?;
                self.open_start();
                None
            } else {
                let left = self.engine.left();
                let read = self.read(at_end, left)?;
                let text = match read {
                    Read::Found => self.engine.text,
                    Read::End if at_end => self.engine.text,
                    _ => self.whole_text(),
                };
                match (read, text) {
                    (Read::Found, _) => None,
                    (_, 1..) => Some(self.report_text(text)?),
                    (Read::Part, _) => None,
                    (Read::End, _) => {
                        self.hold_rest()?;
                        self.settle(if at_end { Some(0) } else { left });
                        return Ok(None);
                    }
                }
            };
            if let Some(event) = event.filter(|event| !event.is_nothing()) {
                return Ok(Some(event));
            }
        }
    }

    /// The next event where what is held is let go as text.
    pub fn next_of_flush(&mut self) -> Result<Option<EventRef>, Error> {
        // What is settled comes first: only the rest is released.
        if let Some(event) = self.next_of_feed(false)? {
            return Ok(Some(event));
        }
        let held = self.engine.hold.unreported().len();
        self.engine.leave(self.compiled);
        if held == 0 || !self.engine.has_begun {
            return Ok(None);
        }
        self.engine.framing = 0;
        for at in self.engine.text..held {
            let byte = self.engine.hold.unreported()[at];
            self.engine.pass(self.compiled, byte);
        }
        Ok(Some(self.report_text(held)?).filter(|event| !event.is_nothing()))
    }

    /// The next event where the thinking that is open is closed.
    pub fn next_of_force_close(&mut self) -> Result<Option<EventRef>, Error> {
        if let Some(event) = self.next_of_feed(false)? {
            return Ok(Some(event));
        }
        self.engine.leave(self.compiled);
        if self.engine.spans.channel() != Channel::Thinking || !self.engine.has_begun {
            return Ok(None);
        }
        if let Some(event) = self.next_of_flush()? {
            return Ok(Some(event));
        }
        self.engine.framing = 0;
        // No marker stands between: what comes begins a line of its own.
        self.engine.code = CodeTracker::NEW;
        let event = self.close(0, Cause::Forced)?;
        self.engine.spans.change(self.compiled, 0, flag::FORCED);
        Ok(Some(event))
    }

    /// The next event of the stream's end; after the last one, a new stream begins.
    pub fn next_of_finish(&mut self) -> Result<Option<EventRef>, Error> {
        self.engine.is_finishing = true;
        if let Some(event) = self.next_of_feed(true)? {
            return Ok(Some(event));
        }
        if !self.engine.spans.open().is_empty() && self.engine.has_begun {
            return self.close(0, Cause::EndOfStream).map(Some);
        }
        self.engine.begin_stream(self.compiled);
        Ok(None)
    }

    /// Bytes of the chunk that are in events, held, or of a marker whose last events are still due. What was read goes to
    /// what is held. There is room for it, unless memory has run out in this call; nothing but a reset helps then.
    pub fn consumed(&mut self) -> usize {
        let _ = self.hold_rest();
        self.pos
    }

    /// Returns whether a token goes on where the chunk was consumed.
    pub fn is_inside_token(&self) -> bool {
        self.chunk.is_inside_token(self.pos)
    }

    /// All that can be decided has been: how far the automaton's word is enough for what comes.
    fn settle(&mut self, left: Option<usize>) {
        let engine = &mut *self.engine;
        if engine.state.is_fallback() && engine.recogniser.is_none() {
            engine.enter_table(self.compiled);
        }
        if engine.text > 0 {
            engine.state = engine.state.without_loop();
        }
        let channel = engine.spans.channel();
        let until = match left {
            _ if engine.optional.get().is_some_and(|optional| optional.reads_text(channel)) => 0,
            Some(left) => engine.ledger.offset().saturating_add(left as u64),
            None => u64::MAX,
        };
        engine.ledger.set_table_until(until);
    }

    /// Holds what was read of the chunk, and a marker whose events are not all reported: the caller will not feed it again.
    fn hold_rest(&mut self) -> Result<(), Error> {
        let engine = &*self.engine;
        let read = match &engine.pending {
            Some(pending) => pending.len(),
            None => engine.text + engine.undecided(),
        };
        self.gather(read)
    }

    /// What this call has taken from the chunk, and is in no event, can be read and reported where it stands.
    pub(super) fn give_back(&mut self) {
        self.pos -= self.engine.hold.give_back();
    }

    /// Takes bytes of the chunk to what is held, until `len` bytes are there that are in no event.
    pub(super) fn gather(&mut self, len: usize) -> Result<(), Error> {
        // Where memory ran out, more may have been counted than is there.
        let more = len.saturating_sub(self.engine.hold.unreported().len()).min(self.chunk.len() - self.pos);
        if more > 0 {
            let pos = self.pos;
            let chunk = &self.chunk;
            self.engine.hold.append(&chunk.bytes[pos..pos + more], |at| chunk.mark(pos + at))?;
            self.pos += more;
        }
        Ok(())
    }

    /// Takes `len` bytes from an index on to what is held, if they begin there, so that they stand in one place.
    pub(super) fn join(&mut self, at: usize, len: usize) -> Result<(), Error> {
        if at < self.engine.hold.unreported().len() { self.gather(at + len) } else { Ok(()) }
    }

    /// The bytes that are in no event yet, from an index on: of those that are held, or of the chunk.
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

    /// How much of the text is left without the beginning of a character whose end has not come.
    fn whole_text(&self) -> usize {
        let len = self.engine.text;
        if len == 0 || self.engine.undecided() > 0 {
            return len;
        }
        let mut last = [0; 3];
        let count = len.min(last.len());
        for (at, byte) in last[..count].iter_mut().enumerate() {
            *byte = self.rest(len - count + at)[0];
        }
        len - incomplete_tail(&last[..count])
    }

    /// Reports the next `len` bytes as text, or as much of them as is within the budget; or, where nothing is, that the budget
    /// is exceeded.
    // Out of line, as the other parts of a call: in one function, each event saves registers for all of them.
    #[inline(never)]
    fn report_text(&mut self, len: usize) -> Result<EventRef, Error> {
        self.give_back();
        // Text that begins in what is held ends with the byte that decides it, or before a marker: it is short.
        self.join(0, len)?;
        let (event, len) = self.text_within_budget(len)?;
        self.engine.text -= len;
        Ok(event)
    }

    /// As much of the next `len` bytes as is within the budget, as text, and how much that is; where it is nothing, that the
    /// budget is exceeded. The bytes stand in one place.
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
        let event = self.event(KindRef::Text, len);
        let engine = &mut *self.engine;
        let bytes = match event.place {
            Place::Held(at) => &engine.hold.all()[at..at + event.len],
            Place::Chunk(at) => &self.chunk.bytes[at..at + event.len],
        };
        engine.ledger.add_text(event.channel, bytes);
        if let Some(optional) = engine.optional.get_mut() {
            if engine.hold.has_marks() {
                optional.tokens[event.channel as usize] += match event.place {
                    Place::Held(at) => engine.hold.tokens_in(at, event.len),
                    Place::Chunk(at) => self.chunk.tokens_in(at, event.len),
                };
            }
            if let Some(thoughts) = optional.thoughts.as_mut().filter(|thoughts| thoughts.collects(event.channel)) {
                thoughts.text(bytes)?;
            }
        }
        Ok(event)
    }

    /// The next `len` bytes, which stand in one place, as an event of the innermost channel.
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
                // The prompt's bytes are in no event.
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
        EventRef { kind, channel: engine.spans.channel(), offset, len, place }
    }

    /// Of the spans that the prompt left open, the first one not yet reported.
    fn prompted(&self) -> Option<u8> {
        let open = self.engine.optional.get()?.prompt.open?;
        self.engine.has_begun.then_some(open)
    }

    /// Reports text that comes before what was found, and then that.
    fn report_found(&mut self, found: Found) -> Result<Option<EventRef>, Error> {
        if self.engine.text > 0 {
            return self.report_text(self.engine.text).map(Some);
        }
        self.engine.found = None;
        match found {
            Found::Framing { len } => self.report_framing(len).map(Some),
            Found::Marker { pattern, len, is_broken } => {
                self.begin_marker(pattern, len, is_broken)?;
                self.report_marker()
            }
        }
    }
}

/// The bytes that are in no event yet, from an index on: of those that are held, or of the chunk that follows them.
pub(super) fn rest<'a>(hold: &'a HoldBuffer, chunk: &'a [u8], at: usize) -> &'a [u8] {
    let held = hold.unreported();
    match held.get(at..) {
        Some(held) if !held.is_empty() => held,
        _ => &chunk[at - held.len()..],
    }
}
