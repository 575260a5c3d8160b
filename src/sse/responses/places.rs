//! The places of items in the output. Clients use an item's index as a position in a list, so no index may be missing or used
//! twice.

use crate::memory::{self, push};

/// The maximum number of items whose places are remembered one by one.
const PLACES: usize = 4096;

/// The places of items in the output.
#[derive(Default)]
pub struct Places {
    /// The server's indexes of items, each with the index in the output, or `None` if the item is left out.
    known: Vec<(u64, Option<u64>)>,
    /// The place after the last used place.
    next: u64,
    /// The number of items that were sent in addition to those of the server.
    shift: i64,
}

impl Places {
    /// Returns the place of an item of the server.
    pub fn of(&mut self, index: u64) -> memory::Result<u64> {
        let known = self.known.iter().position(|(known, _)| *known == index);
        if let Some(out) = known.and_then(|known| self.known[known].1) {
            return Ok(out);
        }
        if let Some(known) = known {
            // The server reuses the index of an item that is left out, for another item.
            self.known.swap_remove(known);
        }
        let out = self.moved(index);
        if self.known.len() < PLACES {
            push(&mut self.known, (index, Some(out)))?;
        }
        self.next = self.next.max(out.saturating_add(1));
        Ok(out)
    }

    /// Returns the index of a place in the server's list after all changes before it.
    fn moved(&self, index: u64) -> u64 {
        let hidden = self.known.iter().filter(|(known, out)| *known < index && out.is_none()).count() as u64;
        index.saturating_add_signed(self.shift).saturating_sub(hidden)
    }

    /// Returns the place for an item that the rewriter adds, before the server's item `index` if possible.
    pub fn insert(&mut self, index: u64) -> u64 {
        let out = self.next.max(self.moved(index));
        self.next = out.saturating_add(1);
        self.shift = self.shift.saturating_add(1);
        out
    }

    /// Leaves out the server's item with this index, unless another item with this index was sent.
    pub fn hide(&mut self, index: u64) -> memory::Result<()> {
        if self.known.len() < PLACES && self.known.iter().all(|(known, _)| *known != index) {
            push(&mut self.known, (index, None))?;
        }
        Ok(())
    }

    /// Returns whether the server's item with this index is left out.
    pub fn hides(&self, index: u64) -> bool {
        self.known.contains(&(index, None))
    }

    /// Notes that an item of the server is left out, or sent at another place.
    pub fn leave_out(&mut self) {
        self.shift = self.shift.saturating_sub(1);
    }
}
