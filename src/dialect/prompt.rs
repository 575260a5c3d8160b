//! Finds where the model's own turn begins in a rendered prompt.

use memchr::memmem;

use super::compiled::Compiled;

impl Compiled {
    /// Returns the part of the model's turn in a prompt that ends in `tail`: all text after the turn marker that ends last.
    /// Where there is none, the model's turn began before the tail.
    pub fn own_turn<'a>(&self, tail: &'a [u8]) -> &'a [u8] {
        let ends = self.turns.iter().filter_map(|turn| Some(memmem::rfind(tail, turn)? + turn.len()));
        &tail[ends.max().unwrap_or(0)..]
    }
}
