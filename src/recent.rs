//! A cache of the last texts that were read. A server gets the same few templates and lists of tools with each request, and
//! parsing such a text takes far longer than comparing it with the cached texts.

use std::sync::RwLock;

use crate::memory::copy_text;

/// The last texts with the values that were read from them, the oldest first. The texts themselves are compared, because hashes
/// can be forged.
///
/// No call waits for a lock: while another thread writes to the cache, or after a fork during such a write, the cache seems
/// empty.
pub struct Recent<T> {
    /// The maximum number of texts that are kept. Each further text replaces the oldest.
    most: usize,
    /// The longest text that is kept, in bytes.
    longest: usize,
    known: RwLock<Vec<(String, T)>>,
}

impl<T> Recent<T> {
    pub const fn new(most: usize, longest: usize) -> Recent<T> {
        Recent { most, longest, known: RwLock::new(Vec::new()) }
    }

    /// Returns a copy of the kept value for a text.
    pub fn recall<R>(&self, text: &str, copy: impl FnOnce(&T) -> R) -> Option<R> {
        let known = self.known.try_read().ok()?;
        known.iter().find(|(kept, _)| kept == text).map(|(_, value)| copy(value))
    }

    /// Keeps the value for a text, unless the text is too long, another thread has kept it before, or memory has run out.
    pub fn keep(&self, text: &str, value: impl FnOnce() -> Option<T>) {
        if text.len() > self.longest {
            return;
        }
        let (Ok(text), Some(value), Ok(mut known)) = (copy_text(text), value(), self.known.try_write()) else { return };
        if known.iter().any(|(kept, _)| *kept == text) {
            return;
        }
        // The oldest text is freed only at the end of the function, after the lock is released.
        let _oldest = (known.len() == self.most).then(|| known.remove(0));
        if known.try_reserve(1).is_ok() {
            known.push((text, value));
        }
        drop(known);
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn keeps_the_last_texts_that_are_not_too_long() {
        let recent = Recent::new(2, 3);
        let recall = |text| recent.recall(text, |value| *value);
        for (value, text) in ["a", "bb", "a", "cccc"].into_iter().enumerate() {
            recent.keep(text, || Some(value));
        }
        assert_eq!(["a", "bb", "cccc"].map(recall), [Some(0), Some(1), None]);
        recent.keep("ccc", || Some(4));
        assert_eq!(["a", "bb", "ccc"].map(recall), [None, Some(1), Some(4)]);
    }

    #[test]
    fn waits_for_no_lock() {
        let recent = Recent::new(2, 3);
        recent.keep("a", || Some(0));
        let writing = recent.known.write().unwrap();
        assert_eq!(recent.recall("a", |value| *value), None);
        recent.keep("b", || Some(1));
        drop(writing);
        assert_eq!(["a", "b"].map(|text| recent.recall(text, |value| *value)), [Some(0), None]);
    }
}
