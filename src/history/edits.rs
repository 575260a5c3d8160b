//! The changes of a body. All other bytes stay as they came.

use crate::json::Span;
use crate::memory::{self, append, append_all, push};

/// Ranges of the body, and the stretch of `text` that takes the place of each.
#[derive(Default)]
pub struct Edits {
    list: Vec<(Span, Span)>,
    text: Vec<u8>,
}

impl Edits {
    /// Returns how many changes there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Forgets the changes after the first ones.
    pub fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    /// Puts the joined parts in the place of a range, which may be empty.
    pub fn replace(&mut self, at: Span, parts: &[&[u8]]) -> memory::Result<()> {
        let start = self.text.len();
        append_all(&mut self.text, parts)?;
        push(&mut self.list, (at, start..self.text.len()))
    }

    /// Removes some of the members of an object, or of the values of a list, with a comma each. `spans` are those of all.
    pub fn remove(&mut self, spans: &[Span], is_removed: impl Fn(usize) -> bool) -> memory::Result<()> {
        let mut at = 0;
        while at < spans.len() {
            let count = (at..spans.len()).take_while(|&at| is_removed(at)).count();
            if count > 0 {
                let (next, last) = (at + count, spans[at + count - 1].end);
                let range = match at {
                    0 => spans[0].start..spans.get(next).map_or(last, |next| next.start),
                    _ => spans[at - 1].end..last,
                };
                self.replace(range, &[])?;
            }
            at += count + 1;
        }
        Ok(())
    }

    /// Returns the body with its changes.
    pub fn apply(mut self, body: &[u8]) -> memory::Result<Vec<u8>> {
        // What is inserted where a removed range begins stands before it.
        self.list.sort_by_key(|(at, _)| (at.start, at.end));
        let removed: usize = self.list.iter().map(|(at, _)| at.len()).sum();
        let mut out = Vec::new();
        out.try_reserve_exact((body.len() + self.text.len()).saturating_sub(removed))?;
        let mut from = 0;
        for (at, text) in &self.list {
            debug_assert!(from <= at.start, "two changes of the same bytes: {at:?} after {from}");
            append(&mut out, &body[from..at.start])?;
            append(&mut out, &self.text[text.clone()])?;
            from = at.end;
        }
        append(&mut out, &body[from..])?;
        Ok(out)
    }
}
