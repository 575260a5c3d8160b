//! Changes to a JSON text, or to bytes that contain one: all other bytes stay unchanged.

use std::borrow::Borrow;
use std::mem;

use super::read::Span;
use crate::memory::{self, append, append_all, push};

/// The changes: for each, a range, and the stretch of `text` that replaces it.
#[derive(Default)]
pub struct Edits {
    pub list: Vec<(Span, Span)>,
    pub text: Vec<u8>,
}

impl Edits {
    pub fn clear(&mut self) {
        memory::clear(&mut self.list);
        memory::clear(&mut self.text);
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Forgets all changes after the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    pub fn replace(&mut self, at: Span, write: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>) -> memory::Result<()> {
        let start = self.text.len();
        write(&mut self.text)?;
        push(&mut self.list, (at, start..self.text.len()))?;
        Ok(())
    }

    /// Replaces a range, which may be empty, by the joined parts.
    pub fn put(&mut self, at: Span, parts: &[&[u8]]) -> memory::Result<()> {
        self.replace(at, |out| append_all(out, parts))
    }

    /// Removes some members of an object, or values of a list, each with a comma. `spans` are the spans of all members or values.
    pub fn remove(
        &mut self,
        spans: impl IntoIterator<Item = impl Borrow<Span>>,
        is_removed: impl Fn(usize) -> bool,
    ) -> memory::Result<()> {
        // The end of the last value that stays, and the range that is removed after it.
        let (mut kept, mut gap) = (None, None::<Span>);
        for (at, span) in spans.into_iter().enumerate() {
            let Span { start, end } = *span.borrow();
            if is_removed(at) {
                gap = Some(gap.map_or(kept.unwrap_or(start), |gap| gap.start)..end);
                continue;
            }
            if let Some(gap) = gap.take() {
                self.put(gap.start..if kept.is_none() { start } else { gap.end }, &[])?;
            }
            kept = Some(end);
        }
        gap.map_or(Ok(()), |gap| self.put(gap, &[]))
    }

    /// Replaces the value that an edit has written by `empty`, and returns the place of the old value in the text.
    pub fn take(&mut self, edit: usize, empty: &[u8]) -> memory::Result<Span> {
        let start = self.text.len();
        append(&mut self.text, empty)?;
        Ok(mem::replace(&mut self.list[edit].1, start..self.text.len()))
    }

    /// Writes a part of `raw` with its edits. `place` returns the range of a stretch of the data in `raw`.
    pub fn apply(
        &mut self,
        raw: &[u8],
        part: Span,
        place: impl Fn(&Span) -> Span,
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        // Most changes are added in order. An insertion at the beginning of a changed range precedes that range.
        if !self.list.is_sorted_by_key(|(at, _)| (at.start, at.end)) {
            self.list.sort_unstable_by_key(|(at, text)| (at.start, at.end, text.start));
        }
        let mut from = part.start;
        for (at, text) in &self.list {
            let at = place(at);
            let is_inside = at.start <= at.end && at.end <= part.end;
            debug_assert!(is_inside && from <= at.start, "{at:?} of {part:?} after {from}");
            // A change that was measured on a different text is left out, and its range stays unchanged.
            let Some(before) = raw.get(from..at.start).filter(|_| is_inside) else { continue };
            append(out, before)?;
            append(out, &self.text[text.clone()])?;
            from = at.end;
        }
        append(out, &raw[from..part.end])
    }
}
