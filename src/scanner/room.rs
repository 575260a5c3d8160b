//! Bytes in memory of which all is set, so that a few more are stored like numbers: without a call, and without growing.

use alloc::{boxed::Box, vec::Vec};
use core::{cell::Cell, ops::Deref};

use super::Error;

/// The most bytes that `append` takes.
const FEW: usize = 16;

#[derive(Default)]
pub struct Room {
    bytes: Box<[u8]>,
    len: usize,
}

impl Deref for Room {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl Room {
    pub fn new(capacity: usize) -> Result<Room, Error> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(capacity)?;
        bytes.resize(capacity, 0);
        Ok(Room { bytes: bytes.into(), len: 0 })
    }

    pub fn try_clone(&self) -> Result<Room, Error> {
        let mut room = Room::new(self.capacity())?;
        room.extend(self);
        Ok(room)
    }

    pub fn capacity(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends one byte at least, and few; false where there is no room for them. Cannot panic.
    #[inline(always)]
    pub fn append(&mut self, few: &[u8]) -> bool {
        let end = self.len + few.len();
        let is_done = self.bytes.get_mut(self.len..end).is_some_and(|to| copy_few(to, few).is_some());
        if is_done {
            self.len = end;
        }
        is_done
    }

    /// Appends any bytes, for which `try_reserve` has made room.
    pub fn extend(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    /// Moves all behind the first `count` bytes to the front. Cannot panic.
    #[inline(always)]
    pub fn drop_front(&mut self, count: usize) {
        if !self.drop_before_few(count) {
            let left = self.len.saturating_sub(count);
            self.move_to_front(count, left);
            self.len = left;
        }
    }

    /// The same where few are behind them; false where they are more, or stand at the end of the room. Cannot panic.
    #[inline(always)]
    pub fn drop_before_few(&mut self, count: usize) -> bool {
        let left = self.len.saturating_sub(count);
        let few = self.bytes.get(count..).and_then(|bytes| bytes.first_chunk::<8>()).copied();
        let (Some(few), Some(front)) = (few.filter(|_| left <= 8), self.bytes.first_chunk_mut()) else { return false };
        *front = few;
        self.len = left;
        true
    }

    /// One by one, through cells: `copy_within` may panic.
    #[inline(never)]
    fn move_to_front(&mut self, count: usize, left: usize) {
        let cells = Cell::from_mut(&mut self.bytes[..]).as_slice_of_cells();
        for (to, from) in cells.iter().zip(cells.get(count..).unwrap_or_default()).take(left) {
            to.set(from.get());
        }
    }

    pub fn try_reserve(&mut self, more: usize) -> Result<(), Error> {
        if more <= self.capacity() - self.len {
            return Ok(());
        }
        // What comes byte by byte is not to be moved with each.
        let mut room = Room::new((self.len + more).max(2 * self.capacity()))?;
        room.extend(self);
        *self = room;
        Ok(())
    }
}

/// Both have as many bytes: up to three are stored one by one, more as fours or eights from both ends.
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

    #[test]
    fn a_few_bytes_are_appended_where_there_is_room() {
        let all = b"abcdefghijklmnopqrs";
        for start in 0..3 {
            for len in 1..=FEW {
                let mut room = Room::new(start + len).unwrap();
                room.extend(&all[..start]);
                assert!(room.append(&all[..len]));
                assert_eq!(*room, [&all[..start], &all[..len]].concat());
                assert!(!room.append(b"x"), "{start}, {len}");
                assert_eq!(room.len(), start + len);
            }
        }
        assert!(!Room::new(20).unwrap().append(&all[..=FEW]), "more than a few");
    }

    #[test]
    fn what_is_behind_moves_to_the_front() {
        let all: Vec<u8> = (0..30).collect();
        for capacity in 0..30 {
            for len in 0..=capacity {
                for count in 0..=len {
                    let mut room = Room::new(capacity).unwrap();
                    room.extend(&all[..len]);
                    room.drop_front(count);
                    assert_eq!(*room, all[count..len], "{count} of {len} in {capacity}");
                }
            }
        }
    }

    #[test]
    fn it_grows_by_more_than_is_asked_for() {
        let mut room = Room::new(2).unwrap();
        let mut moves = 0;
        for byte in 0..200 {
            let before = room.capacity();
            room.try_reserve(1).unwrap();
            room.extend(&[byte]);
            moves += usize::from(room.capacity() > before);
        }
        assert!((0..200).eq(room.iter().copied()));
        assert!(moves < 9, "{moves}");
        let copy = room.try_clone().unwrap();
        room.truncate(3);
        assert_eq!((&room[..], copy.len()), (&[0, 1, 2][..], 200));
    }
}
