//! Feeds the front of a chunk without a `Pull`. There are several ways, and the cheapest is tried first. Nearly all chunks
//! complete no marker, so the functions of this file must not allocate, and their cost is measured in instructions. A caller that
//! accepts only some kinds of parts names them by a `Take`, and may accept more kinds later in the same chunk.

use super::{
    engine::{Engine, SHORT},
    stream::Scanner,
};
use crate::{
    calls::body::Piece,
    dialect::compiled::Compiled,
    matcher::{automaton::StateInfo, prose},
    utf8::{incomplete_tail, is_continuation},
};

/// Chunks up to this length are examined as a whole: stopping at the first byte that changes the state would cost more than it saves.
const LONGEST_PASSED: usize = 256;
/// The kinds of parts of a chunk that the caller accepts. Each kind includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(not(feature = "c-api"), allow(dead_code))]
pub enum Take {
    /// The whole chunk, if all of it is text and no earlier bytes are held.
    WholeText,
    /// The whole chunk, if it completes at most one event.
    Whole,
    /// Text: the whole chunk, or the first bytes of it, up to the byte after which nothing is held. With this kind and those
    /// before it, feeding cannot panic.
    Parts,
    /// Text, or the next piece of a body of calls, for a caller that has already tried to feed a short chunk as a whole.
    Pieces,
}

/// The front of a chunk that was fed, and its event.
pub struct Part {
    /// The role of the event's bytes, in the innermost channel.
    pub piece: Piece,
    pub offset: u64,
    /// Whether the event's bytes are in the hold buffer, as the bytes that were reported last. If not, they are at the front of
    /// the chunk.
    pub is_held: bool,
    /// The number of the event's bytes. Text without bytes is not an event: all bytes that were fed are then held.
    pub len: usize,
    /// The number of bytes of the chunk that were fed.
    pub fed: usize,
    /// Whether the rest of the chunk needs neither feeding nor reporting.
    pub is_last: bool,
}

impl Part {
    /// Returns a whole chunk that is one event.
    #[inline(always)]
    pub fn whole(piece: Piece, offset: u64, chunk: &[u8]) -> Part {
        Part { piece, offset, is_held: false, len: chunk.len(), fed: chunk.len(), is_last: true }
    }

    #[inline(always)]
    pub fn has_event(&self) -> bool {
        self.len > 0 || self.piece != Piece::Text
    }
}

impl Scanner {
    /// Feeds a short chunk of ASCII that loops in the automaton's state, as most tokens do. `advance` does the same more slowly.
    /// Returns `None`, and feeds nothing, for any other chunk. Cannot panic.
    #[inline(always)]
    pub(crate) fn advance_in_loop(&mut self, chunk: &[u8]) -> Option<Part> {
        let Scanner { dialect, engine } = self;
        // This is checked first, because checking it later keeps more registers in use.
        let last = last_of_loop(dialect.compiled.automaton.loop_sets(), engine.state.loop_mask(), chunk)?;
        let end = engine.ledger.end_in_table(chunk.len())?;
        engine.before = last;
        Some(Part::whole(Piece::Text, engine.ledger.report_plain(end), chunk))
    }

    /// Feeds the front of a chunk. Returns `None`, and feeds nothing, if a `Pull` must read it.
    #[inline(always)]
    pub(crate) fn advance(&mut self, chunk: &[u8], take: Take) -> Option<Part> {
        let Scanner { dialect, engine } = self;
        let compiled = &*dialect.compiled;
        if !engine.state.is_fallback() {
            let front = match chunk.len() <= SHORT || !engine.is_holding() {
                true => chunk,
                // The first bytes decide whether the held bytes are text, and are fed separately from the rest.
                false if take >= Take::Parts => engine.first_part(compiled, chunk)?,
                false => return None,
            };
            let part = match front.len() <= SHORT {
                _ if front.is_empty() => return None,
                true => engine.advance_short(compiled, front, take)?,
                false => engine.advance_long(compiled, front, take)?,
            };
            return Some(Part { is_last: front.len() == chunk.len(), ..part });
        }
        match take {
            Take::Whole if chunk.len() <= SHORT => engine.advance_in_value(compiled, chunk),
            Take::Pieces => engine.advance_in_body(compiled, chunk),
            Take::WholeText | Take::Whole | Take::Parts => None,
        }
    }
}

impl Engine {
    /// Feeds a short chunk that leads from state to state of the automaton. Its text includes the bytes that were held before;
    /// the rest of the chunk is held. If a marker is complete, or if the automaton cannot decide, it returns `None` and feeds
    /// nothing. Cannot panic.
    #[inline(always)]
    fn advance_short(&mut self, compiled: &Compiled, chunk: &[u8], take: Take) -> Option<Part> {
        let from = self.state;
        let before = from.held() + self.text;
        self.ledger.end_in_table(before + chunk.len())?;
        let (to, is_ascii) = compiled.automaton.walk(from.state(), chunk)?;
        if before == 0 {
            return self.take_chunk(chunk, to, is_ascii, take);
        }
        // The whole chunk is appended to the held bytes, so that its text is one stretch.
        if take == Take::WholeText || self.hold.has_marks() || !self.hold.append_few(chunk) {
            return None;
        }
        let mut len = before + chunk.len() - to.held();
        self.state = to;
        if from.is_wide() || self.text > 0 || !is_ascii {
            len -= self.hold_character(to);
            self.ledger.add_continuations(self.spans.channel(), self.hold.all().get(..len)?);
        }
        self.hold.report(len);
        self.before = prose::after(self.before, self.hold.last_reported(len));
        let offset = self.ledger.report_plain(self.ledger.offset() + len as u64);
        Some(Part { len, is_held: true, ..Part::whole(Piece::Text, offset, chunk) })
    }

    /// Does the work of `advance_short` for a long chunk before which no bytes are held.
    #[inline(always)]
    fn advance_long(&mut self, compiled: &Compiled, chunk: &[u8], take: Take) -> Option<Part> {
        self.ledger.end_in_table(chunk.len())?;
        let (to, is_ascii) = self.lead(compiled, chunk)?;
        self.take_chunk(chunk, to, is_ascii, take)
    }

    /// Returns whether bytes are held while the matcher is in the table.
    #[inline(always)]
    pub fn is_holding(&self) -> bool {
        self.state.held() + self.text > 0
    }

    /// Feeds a chunk that leads to the state `to`, if no bytes are held before it.
    #[inline(always)]
    fn take_chunk(&mut self, chunk: &[u8], mut to: StateInfo, is_ascii: bool, take: Take) -> Option<Part> {
        let mut len = chunk.len();
        if !is_ascii || to.held() > 0 {
            // No event cuts a character.
            let tail = if is_ascii || to.held() > 0 { 0 } else { incomplete_tail(chunk) };
            let (text, rest) = chunk.split_at_checked(len.checked_sub(to.held() + tail)?)?;
            let may_hold = take != Take::WholeText && !self.hold.has_marks();
            let is_kept = rest.is_empty() || may_hold && self.hold.keep_few(rest);
            if !is_kept {
                return None;
            }
            if tail > 0 {
                (self.text, to) = (tail, to.without_loop());
            }
            if !is_ascii {
                self.ledger.add_continuations(self.spans.channel(), text);
            }
            len = text.len();
            self.before = prose::after(self.before, text);
        } else if let Some(&last) = chunk.last() {
            self.before = last;
        }
        self.state = to;
        let offset = self.ledger.report_plain(self.ledger.offset() + len as u64);
        Some(Part { len, ..Part::whole(Piece::Text, offset, chunk) })
    }

    /// If the held bytes end inside a character, keeps the character's first bytes held. Returns their number.
    #[inline(never)]
    fn hold_character(&mut self, to: StateInfo) -> usize {
        self.text = if to.held() == 0 { incomplete_tail(self.hold.all()) } else { 0 };
        if self.text > 0 {
            self.state = to.without_loop();
        }
        self.text
    }

    /// Returns the state that a long chunk leads to, and whether the chunk is ASCII. Returns `None` if a marker is complete, or
    /// if the automaton cannot decide.
    #[inline(always)]
    fn lead(&self, compiled: &Compiled, chunk: &[u8]) -> Option<(StateInfo, bool)> {
        if chunk.len() <= LONGEST_PASSED
            && let Some(passed) = compiled.automaton.pass(self.state.state(), chunk)
        {
            return Some(passed);
        }
        self.run_long(compiled, chunk)
    }

    #[inline(never)]
    fn run_long(&self, compiled: &Compiled, chunk: &[u8]) -> Option<(StateInfo, bool)> {
        let run = compiled.automaton.run(self.state.state(), chunk);
        (run.exit.is_none() && run.state.is_filled()).then(|| (run.state, chunk.is_ascii()))
    }

    /// Returns the first bytes of a long chunk, up to the byte after which nothing is held.
    #[inline(never)]
    fn first_part<'a>(&self, compiled: &Compiled, chunk: &'a [u8]) -> Option<&'a [u8]> {
        if self.text > 0 {
            // At most three bytes of a character are missing.
            let len = chunk.iter().take(3).take_while(|&&byte| is_continuation(byte)).count();
            return chunk.get(..len);
        }
        let part = chunk.get(..compiled.automaton.first_free(self.state.state(), chunk)?)?;
        (part.len() <= SHORT && incomplete_tail(part) == 0).then_some(part)
    }
}

/// Returns the last byte of a short chunk if the chunk loops in a state.
///
/// This reads four or eight bytes from each end, some of them twice. Groups of four are examined one after the other, so that
/// hardly any register has to be saved. If there are fewer than four bytes, the first, the middle and the last byte are read.
#[inline(always)]
pub(super) fn last_of_loop(sets: &[u32; 256], mask: u32, chunk: &[u8]) -> Option<u8> {
    let set = |byte: u8| sets[usize::from(byte)];
    let loops = |four: &[u8; 4]| four.iter().fold(0, |all, &byte| all | set(byte)) & mask == 0;
    if let (Some(first), Some(last)) = (chunk.first_chunk(), chunk.last_chunk()) {
        if chunk.len() > SHORT || !loops(first) || !loops(last) {
            return None;
        }
        return match (chunk.first_chunk::<8>(), chunk.last_chunk::<8>()) {
            (Some([_, _, _, _, first @ ..]), Some([before @ .., _, _, _, _])) if !loops(first) || !loops(before) => {
                None
            }
            _ => Some(last[3]),
        };
    }
    let (Some(first), Some(&last)) = (chunk.first(), chunk.last()) else { return None };
    ((set(*first) | set(chunk[chunk.len() / 2]) | set(last)) & mask == 0).then_some(last)
}
