//! The hold buffer: bytes that have arrived but are in no event yet, because they depend on the next bytes. All of its memory
//! is initialised, so that short appends compile to plain stores. Events point into the buffer, so bytes that were reported in
//! the current chunk must not be moved.

use std::cell::Cell;

use super::error::Error;
use crate::matcher::recogniser::TokenMark;

/// The maximum number of bytes for `append_few`.
const FEW: usize = 16;

/// Held bytes, in the order of the stream. At the front are reported bytes, which stay until the next chunk because the host may
/// still read them in events; bytes that are not reported follow. Bytes from earlier chunks precede bytes of the current chunk.
#[derive(Default)]
pub struct HoldBuffer {
    bytes: Box<[u8]>,
    len: usize,
    /// The number of bytes that are in events, at most `len`. Between chunks, if no bytes are held, this may still be the number
    /// for an earlier chunk.
    reported: usize,
    /// The number of bytes that were carried over from earlier chunks, at most `len`.
    carried: usize,
    /// The token mark of each byte, if bytes are fed with their tokens.
    marks: Option<Vec<TokenMark>>,
}

impl HoldBuffer {
    pub fn new(capacity: usize) -> Result<HoldBuffer, Error> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(capacity)?;
        bytes.resize(capacity, 0);
        Ok(HoldBuffer { bytes: bytes.into(), ..HoldBuffer::default() })
    }

    pub fn try_clone(&self) -> Result<HoldBuffer, Error> {
        let mut copy = HoldBuffer::new(self.bytes.len())?;
        copy.push(self.all());
        copy.marks = match &self.marks {
            Some(marks) => {
                let mut list = Vec::new();
                list.try_reserve_exact(marks.capacity())?;
                list.extend_from_slice(marks);
                Some(list)
            }
            None => None,
        };
        Ok(HoldBuffer { reported: self.reported, carried: self.carried, ..copy })
    }

    /// Returns all bytes, including reported ones.
    #[inline]
    pub fn all(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Returns the bytes that are in no event yet.
    #[inline]
    pub fn unreported(&self) -> &[u8] {
        self.bytes.get(self.reported..self.len).unwrap_or_default()
    }

    /// Returns the bytes that were carried over from earlier chunks.
    pub fn before(&self) -> &[u8] {
        self.bytes.get(..self.carried).unwrap_or_default()
    }

    /// Begins a chunk: drops reported bytes and moves the others to the front.
    #[inline]
    pub fn carry_over(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.drain(..self.reported.min(marks.len()));
        }
        self.drop_reported();
        self.carried = self.len;
    }

    /// Drops reported bytes, in a stream without tokens. It is fast for few bytes. Cannot panic.
    #[inline(always)]
    fn drop_reported(&mut self) {
        let left = self.len.saturating_sub(self.reported);
        if left > 0 && self.reported > 0 {
            let few = self.bytes.get(self.reported..).and_then(|bytes| bytes.first_chunk::<8>()).copied();
            match (few.filter(|_| left <= 8), self.bytes.first_chunk_mut()) {
                (Some(few), Some(front)) => *front = few,
                _ => self.move_to_front(left),
            }
        }
        (self.len, self.reported) = (left, 0);
    }

    /// Moves bytes one by one through cells, because `copy_within` may panic.
    #[inline(never)]
    fn move_to_front(&mut self, left: usize) {
        let cells = Cell::from_mut(&mut self.bytes[..]).as_slice_of_cells();
        for (to, from) in cells.iter().zip(cells.get(self.reported..).unwrap_or_default()).take(left) {
            to.set(from.get());
        }
    }

    /// Begins a chunk when nothing is held, and holds a few bytes of the chunk, at least one. If they do not fit, returns false and
    /// changes nothing. Cannot panic.
    #[inline(always)]
    pub fn keep_few(&mut self, few: &[u8]) -> bool {
        let is_done = self.bytes.get_mut(..few.len()).is_some_and(|to| copy_few(to, few).is_some());
        if is_done {
            (self.len, self.reported, self.carried) = (few.len(), 0, 0);
        }
        is_done
    }

    /// Begins a chunk, and appends a few bytes of it to the held bytes, at least one. Returns false if they do not fit. Cannot
    /// panic.
    #[inline(always)]
    pub fn append_few(&mut self, few: &[u8]) -> bool {
        if self.reported > 0 {
            self.drop_reported();
        }
        self.carried = self.len;
        let end = self.len + few.len();
        let is_done = self.bytes.get_mut(self.len..end).is_some_and(|to| copy_few(to, few).is_some());
        if is_done {
            self.len = end;
        }
        is_done
    }

    /// Removes the last `count` bytes, which must be from this chunk.
    pub fn take_back(&mut self, count: usize) {
        self.truncate(self.len.saturating_sub(count));
    }

    /// Marks the next `len` bytes, or all that are left, as reported. Returns the index of the first of them.
    #[inline]
    pub fn report(&mut self, len: usize) -> usize {
        let at = self.reported;
        self.reported += len;
        at
    }

    /// Returns the last `len` bytes that were reported. Cannot panic.
    #[inline(always)]
    pub fn last_reported(&self, len: usize) -> &[u8] {
        self.bytes.get(self.reported.wrapping_sub(len)..self.reported).unwrap_or_default()
    }

    /// Makes room for more bytes, after dropping reported bytes of this chunk if nothing else is held.
    pub fn make_room(&mut self, more: usize) -> Result<(), Error> {
        self.forget_reported();
        self.try_reserve(more)
    }

    fn try_reserve(&mut self, more: usize) -> Result<(), Error> {
        if let Some(marks) = &mut self.marks {
            marks.try_reserve(more)?;
        }
        if more <= self.bytes.len() - self.len {
            return Ok(());
        }
        // The buffer at least doubles: if bytes arrive one by one, its contents must not be moved for each byte.
        let mut grown = HoldBuffer::new((self.len + more).max(2 * self.bytes.len()))?;
        grown.push(self.all());
        self.bytes = grown.bytes;
        Ok(())
    }

    /// Appends bytes, each with its mark, and makes room for them. Reported bytes of this chunk are dropped first,
    /// if nothing else is held.
    pub fn append(&mut self, bytes: &[u8], mark: impl Fn(usize) -> TokenMark) -> Result<(), Error> {
        self.forget_reported();
        self.try_reserve(bytes.len())?;
        self.push(bytes);
        if let Some(marks) = &mut self.marks {
            marks.extend((0..bytes.len()).map(mark));
        }
        Ok(())
    }

    /// Drops reported bytes of this chunk if nothing else is held. Bytes of earlier chunks stay.
    fn forget_reported(&mut self) {
        if self.reported == self.len {
            self.truncate(self.carried);
            self.reported = self.len;
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        if let Some(marks) = &mut self.marks {
            marks.truncate(len);
        }
    }

    /// Removes the bytes that are in no event, if all of them were appended from this chunk. Returns their number.
    pub fn give_back(&mut self) -> usize {
        if self.reported < self.carried {
            return 0;
        }
        let count = self.unreported().len();
        self.truncate(self.reported);
        count
    }

    /// Marks all bytes as reported, so that the next chunk drops them.
    pub fn clear(&mut self) {
        self.reported = self.len;
        self.marks = None;
    }

    /// Begins to keep the mark of each byte.
    pub fn begin_marks(&mut self) -> Result<(), Error> {
        if self.marks.is_none() {
            let mut marks = Vec::new();
            marks.try_reserve_exact(self.bytes.len())?;
            marks.resize(self.len, TokenMark::PLAIN);
            self.marks = Some(marks);
        }
        Ok(())
    }

    #[inline]
    pub fn has_marks(&self) -> bool {
        self.marks.is_some()
    }

    /// Returns the mark of the byte at an index of `all`.
    pub fn mark(&self, at: usize) -> TokenMark {
        self.marks.as_ref().and_then(|marks| marks.get(at)).copied().unwrap_or(TokenMark::PLAIN)
    }

    /// Returns the number of tokens that begin in the `len` bytes from an index of `all` on.
    pub fn tokens_in(&self, at: usize, len: usize) -> u32 {
        (at..at + len).filter(|&at| self.mark(at).begins_token()).count() as u32
    }

    /// Returns the index in `all` of the first byte that is in no event.
    pub fn reported(&self) -> usize {
        self.reported
    }
}

/// Copies a few bytes. Up to three are stored one by one; more are stored in groups of four or eight from both ends.
#[inline(always)]
fn copy_few(to: &mut [u8], few: &[u8]) -> Option<()> {
    let (Some(first), Some(last)) = (few.first_chunk::<4>(), few.last_chunk::<4>()) else {
        let middle = few.len() / 2;
        *to.get_mut(middle)? = *few.get(middle)?;
        *to.first_mut()? = *few.first()?;
        *to.last_mut()? = *few.last()?;
        return Some(());
    };
    if few.len() <= 8 {
        *to.first_chunk_mut()? = *first;
        *to.last_chunk_mut()? = *last;
    } else if few.len() <= FEW {
        *to.first_chunk_mut()? = *few.first_chunk::<8>()?;
        *to.last_chunk_mut()? = *few.last_chunk::<8>()?;
    } else {
        return None;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(capacity: usize, bytes: &[u8]) -> HoldBuffer {
        let mut hold = HoldBuffer::new(capacity).unwrap();
        hold.push(bytes);
        hold
    }

    #[test]
    fn a_few_bytes_are_appended_where_there_is_room() {
        let all = b"abcdefghijklmnopqrs";
        for start in 0..3 {
            for len in 1..=FEW {
                let mut hold = held(start + len, &all[..start]);
                assert!(hold.append_few(&all[..len]));
                assert_eq!(hold.all(), [&all[..start], &all[..len]].concat());
                assert_eq!(hold.before(), &all[..start]);
                assert!(!hold.append_few(b"x"), "{start}, {len}");
                assert_eq!(hold.all().len(), start + len);
            }
        }
        assert!(!HoldBuffer::new(20).unwrap().append_few(&all[..=FEW]), "more than a few");
        assert!(!HoldBuffer::new(20).unwrap().keep_few(&all[..=FEW]), "more than a few");
    }

    #[test]
    fn what_is_not_reported_moves_to_the_front() {
        let all: Vec<u8> = (0..30).collect();
        for capacity in 0..30 {
            for len in 0..=capacity {
                for count in 0..=len {
                    let mut hold = held(capacity, &all[..len]);
                    assert_eq!(hold.report(count), 0);
                    hold.carry_over();
                    assert_eq!(hold.all(), &all[count..len], "{count} of {len} in {capacity}");
                    assert_eq!(hold.before(), hold.unreported());
                }
            }
        }
    }

    #[test]
    fn only_bytes_of_the_chunk_are_given_back() {
        let mut hold = held(20, b"before");
        hold.carry_over();
        hold.append(b"chunk", |_| TokenMark::PLAIN).unwrap();
        hold.report(3);
        assert_eq!(hold.give_back(), 0);
        hold.report(5);
        assert_eq!((hold.give_back(), hold.all()), (3, &b"beforech"[..]));
        assert_eq!(hold.before(), b"before");
    }

    #[test]
    fn it_grows_by_more_than_is_asked_for() {
        let mut hold = HoldBuffer::new(2).unwrap();
        let mut moves = 0;
        for byte in 0..200 {
            let before = hold.bytes.len();
            hold.append(&[byte], |_| TokenMark::PLAIN).unwrap();
            moves += usize::from(hold.bytes.len() > before);
        }
        assert!((0..200).eq(hold.all().iter().copied()));
        assert!(moves < 9, "{moves}");
        assert_eq!(hold.try_clone().unwrap().all(), hold.all());
    }
}
