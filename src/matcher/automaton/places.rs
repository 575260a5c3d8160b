//! The places in texts for which a table has states, and the memory for them, which is reserved when the table is made.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::matcher::{code::CodeTracker, recogniser::Recogniser};

/// The maximum number of bytes that a state may hold.
pub(super) const MOST_HELD: usize = 24;

/// A place in a text: its origin, and the bytes held after the origin.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Item {
    pub config: u16,
    pub framing: u16,
    pub code: CodeTracker,
    pub len: u8,
    pub held: [u8; MOST_HELD],
}

impl Item {
    pub fn held(&self) -> &[u8] {
        &self.held[..usize::from(self.len)]
    }
}

/// Returns the hash of a place.
pub(super) fn hash(origin: u64, held: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(origin);
    hasher.write(held);
    hasher.finish()
}

/// Returns whether few texts reach places with this state of the code tracker.
pub(super) fn is_rare(code: &CodeTracker) -> bool {
    code.is_near_fence() || code.is_in_containers()
}

/// The place of a state.
pub(super) struct Place {
    pub item: Item,
    /// The recogniser that has read the held bytes.
    pub recogniser: Option<Recogniser>,
    pub is_filled: bool,
}

/// The data of states that only the builder needs.
#[derive(Default)]
pub(super) struct Book {
    /// The places of all states except the fallback, in order.
    pub places: Vec<Place>,
    /// The maximum number of states, and the number of rare states so far.
    pub most: usize,
    pub rare: usize,
}

impl Book {
    pub fn with_capacity(most: usize) -> Book {
        let mut places = Vec::new();
        let is_reserved = places.try_reserve_exact(most).is_ok();
        Book { places, most: if is_reserved { most } else { 0 }, rare: 0 }
    }
}

/// Returns `count` zeros, or an empty list if there is no memory for them.
pub(super) fn zeros<T: Default>(count: usize) -> Vec<T> {
    let mut list = Vec::new();
    if list.try_reserve_exact(count).is_ok() {
        list.resize_with(count, T::default);
    }
    list
}
