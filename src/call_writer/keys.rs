//! The keys of a call so far, to find a key that the model writes twice. Only hashes of the first keys are kept, so that a call
//! costs little. The hash function has a random seed for each process.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};

use crate::{Error, memory::push};

/// The maximum number of keys that are kept.
const MOST: usize = 256;

/// The keys of one call.
#[derive(Debug, Default)]
pub struct Keys {
    hasher: RandomState,
    /// The hash of the open key's bytes so far.
    open: Option<DefaultHasher>,
    seen: Vec<u64>,
    has_twice: bool,
}

impl Keys {
    /// Forgets the call.
    pub fn clear(&mut self) {
        self.open = None;
        self.seen.clear();
        self.has_twice = false;
    }

    /// Adds the next bytes of a key.
    pub fn write(&mut self, bytes: &[u8]) {
        self.open.get_or_insert_with(|| self.hasher.build_hasher()).write(bytes);
    }

    /// Ends the key.
    pub fn end(&mut self) -> Result<(), Error> {
        let hash = self.open.take().unwrap_or_else(|| self.hasher.build_hasher()).finish();
        if self.seen.contains(&hash) {
            self.has_twice = true;
        } else if self.seen.len() < MOST {
            push(&mut self.seen, hash)?;
        }
        Ok(())
    }

    /// Returns whether the call has this key, or has more than are kept.
    pub fn may_have(&self, key: &[u8]) -> bool {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        self.seen.len() == MOST || self.seen.contains(&hasher.finish())
    }

    /// Returns whether a key was written twice.
    pub fn has_twice(&self) -> bool {
        self.has_twice
    }

    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.seen.capacity() * size_of::<u64>()
    }
}
