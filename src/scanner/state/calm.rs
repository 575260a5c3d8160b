//! Calls that complete no marker: the table of `dialect::calm` says where the stream then stands, and the engine is not
//! asked. Most calls are such ones.

use crate::dialect::{
    Channel,
    attempt::{Attempt, Mark},
    calm::{ByteSet, LOST, Spot},
    starts::at_fence_line,
    tables::{Tables, flag},
};
use crate::utf8::incomplete_tail;

use super::{Pending, State};

/// Where skipping ends: no stream comes so far, and what is fed then has room for its offsets.
const MOST_SKIPPED: u64 = 1 << 63;

/// Chunks up to here are looked at as a whole: to stop at the first byte that matters would cost more than it saves.
const LONGEST: usize = 256;
/// Chunks up to here are short: they are looked at by the byte.
pub const SHORT: usize = 16;

/// What a calm chunk comes to.
pub struct Calm {
    pub offset: u64,
    /// Bytes that were held before.
    pub before: usize,
    /// How many of those are text.
    pub held: usize,
    /// Bytes of the chunk that are text, behind those. The rest is held.
    pub len: usize,
    /// Where the stream then stands.
    to: Spot,
    /// There may be characters of several bytes.
    is_wide: bool,
}

impl Calm {
    /// Where its text in the chunk stands in the stream.
    #[inline]
    pub fn text_offset(&self) -> u64 {
        self.offset + self.held as u64
    }
}

impl State {
    /// A call has read all there is: may the next one be calm?
    pub(super) fn settle(&mut self, tables: &Tables, calm_end: u64) {
        self.be_alert();
        // Of bytes with tokens, more must be known than the table says.
        let is_read = self.held().is_empty() || matches!(self.pending, Pending::Attempt(_)) && !self.has_tokens;
        if calm_end > 0 && is_read && self.is_calm(tables) {
            self.calm_end = calm_end;
            self.be_at(tables, tables.calm.enter(self.region, self.active, &self.lines, self.held()));
        }
    }

    fn be_at(&mut self, tables: &Tables, row: u16) {
        self.spot = tables.calm.spot(row);
    }

    /// What comes next is not calm.
    pub(super) fn be_alert(&mut self) {
        self.calm_end = 0;
        self.spot = Spot::LOST;
    }

    /// The same where the stream may have been calm: `lines` and the attempt catch up.
    pub(super) fn wake(&mut self, tables: &Tables) {
        if self.spot.row() != LOST {
            let region = &tables.regions[usize::from(self.region)];
            self.lines = tables.calm.lines(self.spot.row());
            self.pending = Pending::Nothing;
            if !self.held().is_empty() {
                let mut attempt = Attempt::begin(region, self.active, at_fence_line(region, &self.lines));
                attempt.run(tables, region, self.held(), &mut 0, |_| Mark::PLAIN);
                self.pending = Pending::Attempt(attempt);
            }
        }
        self.be_alert();
    }

    /// Text of calm calls.
    pub(super) fn meter_plain(&mut self) {
        self.meter.add_plain(self.channel, self.offset - self.metered);
        self.metered = self.offset;
    }

    /// Does text change nothing but the line?
    fn is_calm(&self, tables: &Tables) -> bool {
        let region = &tables.regions[usize::from(self.region)];
        self.after == 0
            && self.has_begun
            && self.flags & (flag::START | flag::HEADER | region.cleared) == 0
            && self.extra.get().is_none_or(|extra| extra.is_calm(self.channel))
    }

    /// The common case, made cheap: a short chunk of ASCII in which nothing begins and no line ends is one event. Gives its
    /// channel and offset. Cannot panic.
    #[inline(always)]
    pub fn short_text(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64)> {
        // In this order: the other keeps more registers in use.
        if !is_plain(tables.calm.kinds(), self.spot.plain_mask(), chunk) {
            return None;
        }
        let end = self.offset.wrapping_add(chunk.len() as u64);
        if end > self.calm_end {
            return None;
        }
        let offset = core::mem::replace(&mut self.offset, end);
        Some((self.channel, offset))
    }

    /// The same for longer ones, with line ends and other characters too. Cannot panic.
    #[inline(always)]
    pub fn long_text(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64)> {
        let end = self.offset.wrapping_add(chunk.len() as u64);
        if end > self.calm_end || chunk.len() > LONGEST {
            return None;
        }
        let (row, is_ascii) = tables.calm.pass(self.spot.row(), chunk)?;
        if !is_ascii && !self.count_whole(chunk) {
            return None;
        }
        if row != self.spot.row() {
            self.be_at(tables, row);
        }
        let offset = core::mem::replace(&mut self.offset, end);
        Some((self.channel, offset))
    }

    /// Is something held, where the table knows the place? What the engine holds elsewhere is not seen here.
    #[inline(always)]
    pub fn is_holding(&self) -> bool {
        self.spot.held() > 0
    }

    /// The same of a short chunk that completes no marker, where nothing was held: gives how much of it is text, too. The
    /// rest is held. Cannot panic.
    #[inline(always)]
    pub fn fresh_text(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64, usize)> {
        if self.spot.held() > 0 || self.offset.wrapping_add(chunk.len() as u64) > self.calm_end {
            return None;
        }
        let (row, is_ascii) = tables.calm.walk(self.spot.row(), chunk);
        let to = tables.calm.spot(row);
        let (text, rest) = chunk.split_at_checked(chunk.len().checked_sub(to.held())?)?;
        // LOST it is too where the engine holds something. And no event cuts a character.
        if row == LOST || !is_ascii && incomplete_tail(text) > 0 {
            return None;
        }
        if !rest.is_empty() {
            if self.has_tokens {
                return None;
            }
            self.let_go_of_bytes(0);
            if !self.held.append(rest) {
                return None;
            }
        }
        if !is_ascii {
            self.meter.add_continuations(self.channel, text);
        }
        self.spot = to;
        let offset = self.offset;
        self.offset += text.len() as u64;
        Some((self.channel, offset, text.len()))
    }

    /// The same of ASCII where something was held: the chunk goes there whole, so that all of it is one text,
    /// `all_held()[..len]`. Cannot panic.
    #[inline(always)]
    pub fn joined_text(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64, usize)> {
        let from = self.spot;
        let all = from.held() + chunk.len();
        if self.offset.wrapping_add(all as u64) > self.calm_end {
            return None;
        }
        let (row, is_ascii) = tables.calm.walk(from.row(), chunk);
        let to = tables.calm.spot(row);
        let len = all.checked_sub(to.held())?;
        // Once tokens have come, nothing is held where the stream is calm.
        if row == LOST || from.is_wide() || !is_ascii {
            return None;
        }
        if self.done > 0 {
            if !self.held.drop_before_few(self.done) {
                return None;
            }
            self.done = 0;
        }
        if !self.held.append(chunk) {
            return None;
        }
        self.done = len;
        self.before = from.held();
        self.spot = to;
        let offset = self.offset;
        self.offset += len as u64;
        Some((self.channel, offset, len))
    }

    /// Counts the characters of a text that is about to be passed; false where it ends inside one.
    #[inline(never)]
    fn count_whole(&mut self, text: &[u8]) -> bool {
        let is_whole = incomplete_tail(text) == 0;
        if is_whole {
            self.meter.add_continuations(self.channel, text);
        }
        is_whole
    }

    /// The bytes of which a text may be, as long and in any order, that changes nothing where the stream stands; with the
    /// channel. Cannot panic.
    #[inline]
    pub fn quiet(&self, tables: &Tables) -> Option<(Channel, ByteSet)> {
        let may_pass = self.calm_end == u64::MAX && !self.has_tokens;
        let quiet = tables.calm.quiet(self.spot.row()).filter(|_| may_pass)?;
        Some((self.channel, *quiet))
    }

    /// Such a text has passed; plain text may have been fed behind it. Says whether that can be. Cannot panic.
    pub fn skip(&mut self, len: u64) -> bool {
        let end = self.offset.checked_add(len).filter(|&end| end < MOST_SKIPPED);
        let can_be = self.calm_end == u64::MAX && self.spot.row() != LOST && self.held().is_empty();
        let end = end.filter(|_| can_be);
        self.offset = end.unwrap_or(self.offset);
        end.is_some() || len == 0
    }

    /// What a chunk comes to that completes no marker: text at most, and what is held behind it. Changes nothing: see
    /// `take` and `take_held`. None where only the engine can tell. Cannot panic.
    #[inline(always)]
    pub fn calm(&self, tables: &Tables, chunk: &[u8]) -> Option<Calm> {
        // The bytes that are held are elsewhere in memory.
        let from = self.spot;
        let before = from.held();
        let all = before + chunk.len();
        if self.offset.wrapping_add(all as u64) > self.calm_end || chunk.is_empty() {
            return None;
        }
        let (row, is_ascii) = tables.calm.through(from.row(), chunk);
        if row == LOST {
            return None;
        }
        let to = tables.calm.spot(row);
        let keep = to.held();
        let text = all.checked_sub(keep)?;
        let (held, len) = (text.min(before), text.saturating_sub(before));
        if keep > 0 && (self.has_tokens || all - len > self.held.capacity()) {
            return None;
        }
        // No event cuts a character.
        let is_wide = from.is_wide() || !is_ascii;
        if is_wide {
            let was_wide = held == before && from.is_wide();
            let ends_wide = keep == 0 && !chunk.last()?.is_ascii();
            if was_wide && incomplete_tail(self.held()) > 0 || ends_wide && incomplete_tail(chunk) > 0 {
                return None;
            }
        }
        Some(Calm { offset: self.offset, before, held, len, to, is_wide })
    }

    /// Feeds the chunk that `calm` was asked about. Its first event then is `all_held()[..held]`. Cannot panic: `calm` has seen
    /// that there is room.
    #[inline(always)]
    pub fn take(&mut self, chunk: &[u8], calm: &Calm) {
        if calm.is_wide {
            self.count_calm(calm.held, chunk.get(..calm.len).unwrap_or_default());
        }
        if calm.before > 0 || calm.len < chunk.len() {
            // Once tokens have come, nothing is held here: `calm` sees to that, and that there is room.
            self.let_go_of_bytes(calm.before);
            if let Some(rest) = chunk.get(calm.len..).filter(|rest| !rest.is_empty())
                && !self.held.append(rest)
            {
                self.held.extend(rest);
            }
            self.done = calm.held;
        }
        self.offset += (calm.held + calm.len) as u64;
        self.spot = calm.to;
    }

    #[inline(never)]
    fn count_calm(&mut self, held: usize, text: &[u8]) {
        let held = self.held.get(self.done..).and_then(|all| all.get(..held)).unwrap_or_default();
        self.meter.add_continuations(self.channel, held);
        self.meter.add_continuations(self.channel, text);
    }

    /// The same where the caller stops between the two events: the held text has gone, and the chunk is not fed.
    pub fn take_held(&mut self, tables: &Tables, len: usize) {
        self.wake(tables);
        self.let_go();
        self.pending = Pending::Nothing;
        self.meter.add_continuations(self.channel, &self.held[..len]);
        for at in 0..len {
            self.pass(tables, self.held[at]);
        }
        self.done = len;
        self.offset += len as u64;
    }
}

/// Is a short chunk plain? Looks at four or eight bytes from each end, some of them twice, each four on their own, so that
/// hardly a register has to be saved for them; of less than four bytes at the first, the middle and the last one.
#[inline(always)]
fn is_plain(kinds: &[u32; 256], mask: u32, chunk: &[u8]) -> bool {
    let kind = |byte: u8| kinds[usize::from(byte)];
    let is_plain = |four: &[u8; 4]| four.iter().fold(0, |all, &byte| all | kind(byte)) & mask == 0;
    if let (Some(first), Some(last)) = (chunk.first_chunk(), chunk.last_chunk()) {
        if chunk.len() > SHORT || !is_plain(first) || !is_plain(last) {
            return false;
        }
        return match (chunk.first_chunk::<8>(), chunk.last_chunk::<8>()) {
            (Some([_, _, _, _, first @ ..]), Some([last @ .., _, _, _, _])) => is_plain(first) && is_plain(last),
            _ => true,
        };
    }
    let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { return false };
    (kind(*first) | kind(chunk[chunk.len() / 2]) | kind(*last)) & mask == 0
}
