//! The last event that needed no change. An event that differs from it only in the string of its content needs no change either, so
//! it is not read: servers write the same envelope around each token.

use crate::json::{Reader, Span};
use crate::memory::{self, append};

/// The longest event that is kept.
const MOST: usize = 4096;

/// An event that was passed unchanged.
#[derive(Default)]
pub struct Clean {
    /// The event; it is empty if none is known.
    raw: Vec<u8>,
    /// The string of its content.
    content: Span,
}

impl Clean {
    /// Returns whether an event needs no change.
    pub fn fits(&self, raw: &[u8]) -> bool {
        let (before, after) = (&self.raw[..self.content.start], &self.raw[self.content.end..]);
        if after.is_empty() || raw.len() < before.len() + after.len() {
            return false;
        }
        let content = before.len()..raw.len() - after.len();
        raw.ends_with(after) && raw.starts_with(before) && Reader::at(raw, content.start).text() == Some(content)
    }

    /// Takes note of an event that was read, and where its content is if that is all that may differ.
    pub fn note(&mut self, raw: &[u8], content: Option<Span>) -> memory::Result<()> {
        self.raw.clear();
        self.content = 0..0;
        let Some(content) = content.filter(|content| raw.len() <= MOST && content.end < raw.len()) else {
            return Ok(());
        };
        append(&mut self.raw, raw)?;
        self.content = content;
        Ok(())
    }
}
