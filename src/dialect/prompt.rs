//! Finds the beginning of the model's turn in a rendered prompt.

use memchr::memmem;

use super::compiled::Compiled;

impl Compiled {
    /// Returns the model's turn in a prompt that ends with `tail`: all text after the last turn marker. If there is no turn marker,
    /// returns the whole tail, since the turn began before it.
    pub fn own_turn<'a>(&self, tail: &'a [u8]) -> &'a [u8] {
        let ends = self.turns.iter().filter_map(|turn| Some(memmem::rfind(tail, turn)? + turn.len()));
        &tail[ends.max().unwrap_or(0)..]
    }
}
