//! The thinking of a message that may have to be its answer, because no other comes. It is kept only while it may.

use crate::memory::{self, append};
use crate::sse::text::{Parts, Target};

pub struct Promotion {
    /// The most bytes that are kept.
    most: usize,
    /// There is something else to show, or the host does not want this.
    is_closed: bool,
    /// There was more thinking than may be kept.
    is_full: bool,
    thinking: Vec<u8>,
}

impl Promotion {
    /// Returns the state of a message that has not begun. `most` is `None` if the host does not want this.
    pub fn new(most: Option<usize>) -> Promotion {
        Promotion { most: most.unwrap_or(0), is_closed: most.is_none(), is_full: false, thinking: Vec::new() }
    }

    /// Takes what a text has come to.
    pub fn take(&mut self, parts: &Parts) -> memory::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        if parts.has(Target::Content) || parts.has(Target::Calls) {
            self.close();
            return Ok(());
        }
        parts.runs().iter().try_for_each(|run| self.take_thinking(parts.text_of(run)))
    }

    /// Takes thinking.
    pub fn take_thinking(&mut self, text: &[u8]) -> memory::Result<()> {
        self.is_full |= self.thinking.len() + text.len() > self.most;
        if self.is_full {
            self.thinking = Vec::new();
        }
        if self.is_closed || self.is_full {
            return Ok(());
        }
        append(&mut self.thinking, text)
    }

    /// Notes that the message has something else to show.
    pub fn close(&mut self) {
        (self.is_closed, self.thinking) = (true, Vec::new());
    }

    /// Returns whether the thinking would be the answer, but was too much to be kept.
    pub fn is_full(&self) -> bool {
        self.is_full && !self.is_closed
    }

    /// Returns the thinking that is to be the answer of a message that has ended by itself. It is empty if there is none.
    pub fn thinking(&self) -> &[u8] {
        &self.thinking
    }
}
