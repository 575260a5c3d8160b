//! The engine. Where a marker may begin, an attempt reads on; if it fails, its first byte is text and the search goes on at
//! the next one. Bytes of an attempt that the chunk's end interrupts are copied to what is held; all others are reported
//! where they stand, in the caller's chunk.

use crate::dialect::{
    Channel,
    attempt::{Attempt, Mark, Verdict},
    calm::LOST,
    lines::Lines,
    starts::{may_begin, next_start},
    tables::{LineRule, Region, Tables, flag},
};
use crate::utf8::incomplete_tail;

use super::{Found, Pending, Raw, RawKind, State};
use crate::scanner::{Error, attributes::same, chunk::Chunk, event::Cause, extra::Extra};

/// So far into a long line the engine reads before it asks the table again.
const NEAR: usize = 256;

/// What a stretch of text holds.
enum Scan {
    Text,
    /// An attempt that began here is still alive at the end.
    Hold(usize),
    Match(usize, Found),
}

enum Progress {
    Event(Raw),
    GoOn,
    Wait,
}

impl State {
    /// The next event of a chunk that has been read up to `pos`; none where all that can be decided has been. `at_end`:
    /// nothing comes behind it.
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

    /// The next event where what is held is let go as text.
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

    /// The next event where the thinking that is open is closed.
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

    /// The next event of the stream's end; behind the last one, a new stream begins.
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

    /// Takes the framing that may follow the marker before, if it is there.
    #[inline(never)] // See `read_chunk`.
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
        // In a dialect that guards code, the line stands as its marker left it.
        if !tables.guards {
            self.lines = Lines::after(framing[framing.len() - 1]);
        }
        self.lose(tables, flag::OPENED);
        Ok(Progress::Event(self.raw(RawKind::Framing, framing.len(), pos)))
    }

    /// Reads on in the chunk, nothing being held.
    // Out of line, as the other parts of the engine: in one function, each event saves registers for all of them.
    #[inline(never)]
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
    #[inline(never)] // See `read_chunk`.
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
            if !has_come(text, 0, at_end) {
                return Ok(Scan::Text);
            }
            self.pass(tables, text[0]);
            at = 1;
        }
        while let Some(start) = self.find(tables, region, text, at, at_end) {
            let mut attempt = Attempt::begin(region, self.active, &self.lines, text[start]);
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
                None if !has_come(text, start, at_end) => return Ok(Scan::Text),
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

    /// A marker that was found is looked for anew.
    pub(super) fn forget_found(&mut self) {
        if matches!(self.pending, Pending::Found(_)) {
            self.pending = Pending::Nothing;
        }
    }

    /// The next place from `at` on where a marker may begin. What it passes is text.
    fn find(&mut self, tables: &Tables, region: &Region, text: &[u8], mut at: usize, at_end: bool) -> Option<usize> {
        while self.flags & (flag::FIRST | region.cleared) != 0 {
            if may_begin(region, &region.first_triggers, self.active, &self.lines, text, at)? {
                return Some(at);
            }
            if !has_come(text, at, at_end) {
                return None;
            }
            self.pass(tables, text[at]);
            at += 1;
        }
        loop {
            let row = tables.calm.enter(self.region, self.active, &self.lines, &[]);
            if row != LOST {
                let (read, row) = tables.calm.run(row, text.get(at..)?);
                at += read - tables.calm.spot(row).held();
                self.lines = tables.calm.lines(row);
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
}

/// Whether all of the character at `at` has come, or no more will: what is held to be read again has not passed.
fn has_come(text: &[u8], at: usize, at_end: bool) -> bool {
    at_end || at < text.len() - incomplete_tail(text)
}
