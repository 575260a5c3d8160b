//! Changes of an event or a body: all other bytes must stay as they came.

use std::mem;

use crate::Error;
use crate::json::{self, Span};
use crate::memory::{self, append, push};

/// The changes of an event or body: a range of it, and the stretch of `text` that is put there.
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

    pub fn replace(&mut self, at: Span, write: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>) -> memory::Result<()> {
        let start = self.text.len();
        write(&mut self.text)?;
        push(&mut self.list, (at, start..self.text.len()))?;
        Ok(())
    }

    /// Returns where the value is that an edit has written, and leaves an empty one in its place.
    pub fn take(&mut self, edit: usize, empty: &[u8]) -> memory::Result<Span> {
        let start = self.text.len();
        append(&mut self.text, empty)?;
        Ok(mem::replace(&mut self.list[edit].1, start..self.text.len()))
    }

    /// Writes a part of `raw` with its edits. `place` returns where in `raw` a stretch of the data stands.
    pub fn apply(
        &mut self,
        raw: &[u8],
        part: Span,
        place: impl Fn(&Span) -> Span,
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        // Most come in order.
        if !self.list.is_sorted_by_key(|(at, _)| at.start) {
            self.list.sort_unstable_by_key(|(at, _)| at.start);
        }
        let mut from = part.start;
        for (at, text) in &self.list {
            let at = place(at);
            let is_inside = at.start <= at.end && at.end <= part.end;
            debug_assert!(is_inside && from <= at.start, "{at:?} of {part:?} after {from}");
            // A change that was measured on another text is left out, and what it would change stays.
            let Some(before) = raw.get(from..at.start).filter(|_| is_inside) else { continue };
            append(out, before)?;
            append(out, &self.text[text.clone()])?;
            from = at.end;
        }
        append(out, &raw[from..part.end])
    }
}

/// Returns the text of a string that has its quotes.
pub fn decode<'a>(raw: &'a [u8], decoded: &'a mut Vec<u8>) -> Result<&'a [u8], Error> {
    let raw = &raw[1..raw.len() - 1];
    if memchr::memchr(b'\\', raw).is_none() {
        return Ok(raw);
    }
    memory::clear(decoded);
    // No text is longer than its JSON.
    decoded.try_reserve(raw.len())?;
    json::unescape(raw, |part| decoded.extend_from_slice(part));
    Ok(decoded)
}
