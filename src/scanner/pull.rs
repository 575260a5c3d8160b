//! The order of work in a pull: a found marker is reported (`report`), and then reading continues (`read`), until no more bytes can
//! be decided. A pull returns one event at a time and may be stopped after each, so no loop may continue after an event.

use std::mem;

use super::{
    chunk::Chunk,
    engine::Engine,
    error::Error,
    event::Cause,
    optional::Prompt,
    options::EndReason,
    pending::Pending,
    read::ReadOutcome,
    window::{EventRef, Match, Pull},
};
use crate::{
    channel::{Channel, Start},
    dialect::compiled::Compiled,
    matcher::{automaton::StateInfo, code::CodeTracker, grammar::flag},
    utf8::incomplete_tail,
};

impl Pull<'_> {
    /// Returns the next event of the chunk, or `None` if no more can be decided. `at_end` means that the stream ends after the
    /// chunk.
    pub fn next_of_feed(&mut self, at_end: bool) -> Result<Option<EventRef>, Error> {
        loop {
            let event = if let Pending::Due(marker) = self.engine.pending {
                self.report_marker(marker)?
            } else if let Some(found) = self.found {
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
                    ReadOutcome::Found => self.engine.text,
                    ReadOutcome::End if at_end => self.engine.text,
                    _ => self.whole_text(),
                };
                match (read, text) {
                    (ReadOutcome::Found, _) => None,
                    (_, 1..) => Some(self.report_text(text)?),
                    (ReadOutcome::Part, _) => None,
                    (ReadOutcome::End, _) => {
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

    /// Returns the next event of a flush, which reports the held bytes as text.
    pub fn next_of_flush(&mut self) -> Result<Option<EventRef>, Error> {
        loop {
            // Decided events are reported first, and only the rest is released.
            if let Some(event) = self.next_of_feed(false)? {
                return Ok(Some(event));
            }
            if !self.release() {
                return Ok(None);
            }
        }
    }

    /// Prepares to report the held bytes, or the first of them, as text or part of a value. Returns whether any are held.
    fn release(&mut self) -> bool {
        let held = self.engine.hold.unreported().len();
        // Before the first byte, all held bytes belong to the prompt.
        if held == 0 || !self.engine.has_begun {
            self.engine.leave(self.compiled);
            self.engine.code.forget_rest();
            return false;
        }
        if self.release_body() || self.count_held() {
            return true;
        }
        self.engine.leave(self.compiled);
        self.engine.framing = 0;
        for at in self.engine.text..held {
            let byte = self.engine.hold.unreported()[at];
            self.engine.pass(self.compiled, byte);
        }
        self.found = Some(Match::Released);
        true
    }

    /// If a marker is held because the text may only mention it, decides that it counts. Returns whether a marker was held for this
    /// reason.
    fn count_held(&mut self) -> bool {
        let Pending::Marker { pattern, len, opens_calls: false, .. } = self.engine.pending else { return false };
        self.engine.pending = Pending::Unread;
        self.found = Some(Match::Marker { pattern, len, is_broken: false });
        true
    }

    /// Returns the next event of a forced close, which closes an open call, its tool span, and the thinking.
    pub fn next_of_force_close(&mut self) -> Result<Option<EventRef>, Error> {
        if let Some(event) = self.next_of_feed(false)? {
            return Ok(Some(event));
        }
        let is_body = self.engine.body().is_some();
        if !is_body && self.engine.spans.channel() != Channel::Thinking || !self.engine.has_begun {
            self.engine.leave(self.compiled);
            return Ok(None);
        }
        if let Some(event) = self.next_of_flush()? {
            return Ok(Some(event));
        }
        if let Some(event) = self.end_call_by_force()? {
            return Ok(Some(event));
        }
        self.engine.framing = 0;
        // For the code tracker, the next text begins a new line, since there is no marker.
        self.engine.code = CodeTracker::NEW;
        let event = self.close(0, Cause::Forced)?;
        if event.channel == Channel::Thinking {
            self.engine.spans.change(self.compiled, 0, flag::FORCED);
        }
        Ok(Some(event))
    }

    /// Returns the next event of the stream's end. After the last event, a new stream begins.
    pub fn next_of_finish(&mut self) -> Result<Option<EventRef>, Error> {
        self.engine.is_finishing = true;
        if let Some(event) = self.next_of_feed(true)? {
            return Ok(Some(event));
        }
        if self.engine.is_guess && self.engine.end_reason == EndReason::Ended {
            self.engine.is_guess = false;
            if self.engine.spans.channel() == Channel::Thinking
                && let Some(event) = self.thinking_to_content(0)
            {
                return Ok(Some(event));
            }
        }
        if !self.engine.spans.open().is_empty() && self.engine.has_begun {
            return self.close(0, Cause::EndOfStream).map(Some);
        }
        self.engine.begin_stream(self.compiled);
        Ok(None)
    }

    /// Ends a pull that has decided as much as possible: notes the offset up to which the automaton alone may report text.
    fn settle(&mut self, left: Option<usize>) {
        let engine = &mut *self.engine;
        if engine.body().is_some() {
            engine.settle_body(self.compiled);
        } else if engine.state.is_fallback() {
            // The self-loop of an ended body must not be used any more.
            engine.state = StateInfo::FALLBACK;
            if matches!(engine.pending, Pending::Unread) {
                engine.enter_table(self.compiled);
                engine.settle_json(self.compiled);
            }
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

    /// Returns the length of the text without an incomplete character at its end.
    pub(super) fn whole_text(&self) -> usize {
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

    /// Reports the next `len` bytes as text, or as many as are within the budget. If none of them is, reports that the budget is
    /// exceeded. Like other parts of a pull, this function is not inlined: in one large function, each event would have to save
    /// registers for all parts.
    #[inline(never)]
    pub(super) fn report_text(&mut self, len: usize) -> Result<EventRef, Error> {
        self.give_back();
        // Text that begins in the held bytes is short: it ends with the byte that decides it, or before a marker.
        self.join(0, len)?;
        let (event, len) = self.text_within_budget(len)?;
        self.engine.text -= len;
        Ok(event)
    }

    /// Returns the number of the first span that the prompt left open and that is not reported yet.
    fn prompted(&self) -> Option<u8> {
        let open = self.engine.optional.get()?.prompt.open?;
        self.engine.has_begun.then_some(open)
    }

    /// Reports the text before the found marker, and then the marker.
    fn report_found(&mut self, found: Match) -> Result<Option<EventRef>, Error> {
        if self.engine.text > 0 {
            return self.report_text(self.engine.text).map(Some);
        }
        self.found = None;
        match found {
            Match::Framing { len } => self.report_framing(len).map(Some),
            Match::Call { piece, len, next } => {
                self.join(0, len)?;
                self.pass_first_in_body(len);
                self.report_piece(piece, len, next).map(Some)
            }
            Match::Released => Ok(None),
            Match::Closer => {
                self.engine.set_body(None);
                self.begin_recogniser();
                Ok(None)
            }
            Match::Bare { rule } => {
                self.begin_bare(rule);
                Ok(None)
            }
            Match::Marker { pattern, len, is_broken } => {
                self.begin_marker(pattern, len, is_broken)?;
                Ok(None)
            }
        }
    }
}

/// Reads the part of the model's turn that is in the prompt, as if it had been generated, and begins a stream after it.
pub fn begin_after(engine: &mut Engine, compiled: &Compiled, turn: &[u8]) -> Result<Start, Error> {
    // In a dialect with headers, a turn begins in a header. In all others, it begins in the content.
    let start = if compiled.start == Start::Header { Start::Header } else { Start::Channel(Channel::Content) };
    // The stream's thoughts, counts and numbers of calls do not include the prompt.
    let optional = engine.optional.made()?;
    let (thoughts, budget, tokens) =
        (mem::take(&mut optional.thoughts), mem::take(&mut optional.budget), optional.tokens);
    let own_start = mem::replace(&mut engine.start, start);
    engine.begin_stream(compiled);
    engine.is_in_prompt = true;
    let counts = engine.ledger.channel_counts().clone();
    let mut pull = Pull::new(compiled, engine, Chunk::plain(turn));
    let read = loop {
        match pull.next_of_feed(false) {
            Ok(Some(_)) => {}
            // A marker at the very end of the prompt counts.
            Ok(None) if pull.count_held() => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    engine.start = own_start;
    let optional = engine.optional.made()?;
    (optional.thoughts, optional.budget, optional.tokens) = (thoughts, budget, tokens);
    optional.calls.begin_after_prompt();
    let has_settled = engine.ledger.offset() > 0;
    engine.ledger.rewind(counts);
    if let Err(error) = read {
        engine.is_in_prompt = false;
        engine.begin_stream(compiled);
        return Err(error);
    }
    engine.leave(compiled);
    engine.end_prompt(compiled);
    if has_settled {
        engine.spans.lose(&compiled.grammar, flag::START | flag::HEADER);
    }
    // If a header has begun, or can still begin, the stream starts in it.
    let in_header = engine.spans.open().is_empty() && !has_settled && start == Start::Header;
    engine.has_begun = false;
    let early = engine.hold.unreported().len();
    let start = if in_header { Start::Header } else { Start::Channel(engine.spans.channel()) };
    engine.optional.made()?.prompt =
        Prompt { start: Some(start), open: Some(0), early, is_settled: false, marker: usize::MAX };
    Ok(start)
}
