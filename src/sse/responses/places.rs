//! The places of items in the output. Clients take an item's index for its place in a list, so there must be no gap, and no place
//! may be used twice.

use crate::memory::{self, push};

/// The most items whose places are remembered one by one.
const PLACES: usize = 4096;

/// The places of items in the output.
#[derive(Default)]
pub struct Places {
    /// The places of the server's items, and the places in the output.
    known: Vec<(u64, u64)>,
    /// The first place after all that are used.
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

    /// Returns the place of an item that the server has not sent, which may go before its item `index`.
    pub fn insert(&mut self, index: u64) -> u64 {
        let out = self.next.max(index.saturating_add_signed(self.shift));
        self.next = out.saturating_add(1);
        self.shift = self.shift.saturating_add(1);
        out
    }

    /// Takes note that an item of the server is not sent, or not in its own place.
    pub fn leave_out(&mut self) {
        self.shift = self.shift.saturating_sub(1);
    }
}
