//! Finds the beginning of the model's turn in a rendered prompt.

use memchr::memmem;

use super::compiled::Compiled;

impl Compiled {
    /// Returns the model's turn in a prompt that ends with `tail`: all text after the last turn marker, or the whole tail
    /// without a turn marker, since the turn then began before it.
    pub fn own_turn<'a>(&self, tail: &'a [u8]) -> &'a [u8] {
        let ends = self.turns.iter().filter_map(|turn| Some(memmem::rfind(tail, turn)? + turn.len()));
        &tail[ends.max().unwrap_or(0)..]
    }
}
