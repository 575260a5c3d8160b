//! Calls that complete no marker: the table of `dialect::calm` says where the stream then stands, and the engine is not
//! asked. Most calls are such ones.

use crate::dialect::{
    Channel,
    attempt::{Attempt, Mark},
    calm::{LOST, Spot},
    tables::{ByteSet, Tables, flag},
};
use crate::utf8::incomplete_tail;

use super::{Pending, State};

/// Where skipping ends: no stream comes so far, and what is fed then has room for its offsets.
const MOST_SKIPPED: u64 = 1 << 63;

/// Chunks up to here are looked at as a whole: to stop at the first byte that matters would cost more than it saves.
const LONGEST: usize = 256;
/// Chunks up to here are short: they are looked at by the byte.
pub const SHORT: usize = 16;

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
                let mut attempt = Attempt::begin(region, self.active, &self.lines, self.held()[0]);
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
            && self.flags & (flag::FIRST | region.cleared) == 0
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
        if !is_ascii && !self.meter.add_whole(self.channel, chunk) {
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

    /// Feeds a short chunk that completes no marker, where nothing was held: gives channel, offset and how much of it is text.
    /// The rest is held. Cannot panic.
    #[inline(always)]
    pub fn fresh_text(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64, usize)> {
        if self.is_holding() {
            return None;
        }
        let (row, is_ascii) = tables.calm.walk(self.spot.row(), chunk);
        self.take(tables, 0, chunk, row, is_ascii)
    }

    /// The same of a longer one, where something may have been held: the text then begins with that, which stays in
    /// `before()`. Cannot panic.
    #[inline(always)]
    pub fn long_part(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64, usize)> {
        // A long text is not read for nothing.
        if self.calm_end <= self.offset || self.spot.is_wide() {
            return None;
        }
        let (row, is_ascii) = tables.calm.through_long(self.spot.row(), chunk);
        self.take(tables, self.spot.held(), chunk, row, is_ascii)
    }

    /// Feeds a chunk that leads to this row, `before` bytes being held.
    #[inline(always)]
    fn take(
        &mut self,
        tables: &Tables,
        before: usize,
        chunk: &[u8],
        row: u16,
        is_ascii: bool,
    ) -> Option<(Channel, u64, usize)> {
        if self.offset.wrapping_add((before + chunk.len()) as u64) > self.calm_end {
            return None;
        }
        let to = tables.calm.spot(row);
        let (text, rest) = chunk.split_at_checked(chunk.len().checked_sub(to.held())?)?;
        // LOST it is too where the engine holds something. And no event cuts a character.
        if row == LOST || !is_ascii && incomplete_tail(text) > 0 {
            return None;
        }
        if before > 0 || !rest.is_empty() {
            if self.has_tokens {
                return None;
            }
            self.let_go_of_bytes(before);
            if !rest.is_empty() && !self.held.append(rest) {
                return None;
            }
            self.done = before;
        }
        if !is_ascii {
            self.meter.add_continuations(self.channel, text);
        }
        self.spot = to;
        let offset = self.offset;
        let len = before + text.len();
        self.offset += len as u64;
        Some((self.channel, offset, len))
    }

    /// As `fresh_text`, where something was held: the chunk goes there whole, so that all of it is one text,
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
        if row == LOST || all > self.held.capacity() {
            return None;
        }
        // Once tokens have come, nothing is held where the stream is calm.
        if self.done > 0 {
            if !self.held.drop_before_few(self.done) {
                return None;
            }
            self.done = 0;
        }
        self.before = from.held();
        if !self.held.append(chunk) {
            return None;
        }
        let is_wide = from.is_wide() || !is_ascii;
        if is_wide && !self.meter.add_whole(self.channel, self.held.get(..len).unwrap_or_default()) {
            self.held.truncate(self.before);
            return None;
        }
        self.done = len;
        self.spot = to;
        let offset = self.offset;
        self.offset += len as u64;
        Some((self.channel, offset, len))
    }

    /// How much of a long chunk decides what is held, and is then best fed by itself: nothing is held behind it.
    #[inline(never)]
    pub fn first_part(&self, tables: &Tables, chunk: &[u8]) -> Option<usize> {
        let len = tables.calm.first_free(self.spot.row(), chunk)?;
        Some(len).filter(|&len| incomplete_tail(chunk.get(..len).unwrap_or_default()) == 0)
    }

    /// Feeds a chunk that is text to its end, where nothing was held: gives its channel and offset. Cannot panic.
    #[inline]
    pub fn whole_text(&mut self, tables: &Tables, chunk: &[u8]) -> Option<(Channel, u64)> {
        if chunk.is_empty() || self.is_holding() {
            return None;
        }
        let (row, is_ascii) = tables.calm.through(self.spot.row(), chunk);
        if tables.calm.spot(row).held() > 0 {
            return None;
        }
        self.take(tables, 0, chunk, row, is_ascii).map(|(channel, offset, _)| (channel, offset))
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
