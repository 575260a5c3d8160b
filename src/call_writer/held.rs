//! A buffer of limited size for output that cannot be sent yet.

use crate::Error;

/// The memory that is kept from one call to the next.
const KEPT: usize = 1024;

/// Text of a bounded length.
#[derive(Debug, Default)]
pub struct HeldText {
    text: String,
    most: usize,
}

impl HeldText {
    pub fn new(most: usize) -> HeldText {
        HeldText { text: String::new(), most }
    }

    /// Sets the maximum number of bytes that may be held. Bytes that are already held stay.
    pub fn limit(&mut self, most: usize) {
        self.most = most;
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds text, unless the held text and `more`, the bytes of memory used elsewhere, would exceed the limit. Returns whether
    /// the text was added.
    pub fn add(&mut self, text: &str, more: usize) -> Result<bool, Error> {
        let len = self.text.len() + text.len();
        // Memory elsewhere may grow later, so its spare capacity counts.
        let counted = if more == 0 { len } else { len + len / 4 };
        if counted.saturating_add(more) > self.most {
            return Ok(false);
        }
        if len > self.text.capacity() {
            let room = (len + len / 4).min(self.most);
            self.text.try_reserve_exact(room - self.text.len())?;
        }
        self.text.push_str(text);
        Ok(true)
    }

    /// Drops the held text.
    pub fn clear(&mut self) {
        self.text.clear();
        if self.text.capacity() > KEPT {
            self.text = String::new();
        }
    }

    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.text.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::{HeldText, KEPT};

    #[test]
    fn takes_no_more_memory_than_it_may() {
        let mut held = HeldText::new(10_000);
        for _ in 0..10_000 {
            assert!(held.add("a", 0).unwrap());
            assert!(held.capacity() <= 10_000, "{}", held.capacity());
        }
        assert!(!held.add("a", 0).unwrap());
        assert_eq!(held.as_str().len(), 10_000);
        held.clear();
        assert!(held.capacity() <= KEPT);
        assert!(!held.add("ab", 9_999).unwrap());
        assert!(held.add("a", 9_999).unwrap());
    }
}
