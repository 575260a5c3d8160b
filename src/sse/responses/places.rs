//! The places of items in the output. Clients use an item's index as a position in a list, so no index may be missing or used
//! twice.

use crate::memory::{self, push};

/// The most items whose places are remembered one by one.
const PLACES: usize = 4096;

/// The places of items in the output.
#[derive(Default)]
pub struct Places {
    /// The server's indexes of items, each with the index in the output.
    known: Vec<(u64, u64)>,
    /// The place after the last used one.
    next: u64,
    /// The number of items that were sent in addition to those of the server.
    shift: i64,
}

impl Places {
    /// Returns the place of an item of the server.
    pub fn of(&mut self, index: u64) -> memory::Result<u64> {
        if let Some((_, out)) = self.known.iter().find(|(known, _)| *known == index) {
            return Ok(*out);
        }
        let out = index.saturating_add_signed(self.shift);
        if self.known.len() < PLACES {
            push(&mut self.known, (index, out))?;
        }
        self.next = self.next.max(out.saturating_add(1));
        Ok(out)
    }

    /// Returns the place for an item that the rewriter adds, before the server's item `index` if possible.
    pub fn insert(&mut self, index: u64) -> u64 {
        let out = self.next.max(index.saturating_add_signed(self.shift));
        self.next = out.saturating_add(1);
        self.shift = self.shift.saturating_add(1);
        out
    }

    /// Notes that an item of the server is left out, or sent at another place.
    pub fn leave_out(&mut self) {
        self.shift = self.shift.saturating_sub(1);
    }
}
