//! Code that the formats share: the turns that keep their thinking, thinking as a text with markers, and lists of parts.

use super::json::decode;
use super::options::Turns;
use crate::json::escape;
use crate::memory::{OutOfMemory, append_all};
use crate::{Channel, Dialect, JoinError, JoinOptions, Start};

/// The turns that keep their thinking. They depend on the place of the user's last message.
#[derive(Clone, Copy)]
pub struct Kept {
    turns: Turns,
    last_user: Option<usize>,
}

impl Kept {
    pub fn new(turns: Turns, last_user: Option<usize>) -> Kept {
        Kept { turns, last_user }
    }

    /// Returns whether the thinking of the message with this index stays.
    pub fn keeps(&self, at: usize) -> bool {
        match self.turns {
            Turns::All => true,
            Turns::SinceUser => self.last_user.is_none_or(|last| at > last),
            Turns::None => false,
        }
    }
}

/// Joins thinking and content, with the markers of a dialect, or returns `None` if the text cannot be read back. All texts are
/// insides of JSON strings.
pub fn join(dialect: &Dialect, thinking: &[u8], content: &[u8]) -> Result<Option<Vec<u8>>, OutOfMemory> {
    // In a dialect with headers, thinking is a separate message, so it cannot be part of a text.
    if dialect.start() == Start::Header {
        return Ok(None);
    }
    // A turn in a history includes its opener, even if the prompt has the opener for the next turn.
    let options = JoinOptions::new().start(Start::Channel(Channel::Content));
    match dialect.join(decode(thinking)?, decode(content)?, &options) {
        Ok(text) => {
            let mut out = Vec::new();
            escape(&text, &mut out)?;
            Ok(Some(out))
        }
        Err(JoinError::OutOfMemory) => Err(OutOfMemory),
        Err(_) => Ok(None),
    }
}

/// Appends the inside of one string to the inside of another, with a blank line between them.
pub fn add_text(text: &mut Vec<u8>, more: &[u8]) -> Result<(), OutOfMemory> {
    let between: &[u8] = if text.is_empty() || more.is_empty() { b"" } else { b"\\n\\n" };
    append_all(text, &[between, more])
}
