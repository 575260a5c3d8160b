//! The keys of a call so far, to see whether the model writes one twice. Only hashes are kept, under a key of this process, and only of
//! the first keys, so that a call costs little.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};

use crate::{Error, memory::push};

/// The most keys that are kept.
const MOST: usize = 256;

/// The keys of one call.
#[derive(Debug, Default)]
pub struct Keys {
    hasher: RandomState,
    /// Of the key that is open: the bytes so far.
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

    /// Takes the next bytes of a key.
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

    /// Returns whether a key came twice.
    pub fn has_twice(&self) -> bool {
        self.has_twice
    }

    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.seen.capacity() * size_of::<u64>()
    }
}
