//! The last event that needed no repair. Servers write the same envelope around each token: an event that differs only in the
//! string of its content needs no repair either, so it is not read.

use crate::json::{Reader, Span};
use crate::memory::{self, append};

/// The longest event that is kept.
const MOST: usize = 4096;

/// An event that was sent unchanged.
#[derive(Default)]
pub struct Clean {
    /// The event; empty if none is known.
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

    /// Notes an unchanged event, with the position of its content if only the content may differ in the next event.
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
