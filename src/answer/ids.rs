//! Ids of calls. Clients distinguish calls by their ids, so no two calls of an answer may have the same id. If the model writes
//! no id, one is made from the answer's id.

use twox_hash::XxHash3_64;

use crate::json::decimal;
use crate::memory::{self, append_text, push};

/// The number of bytes of an answer's id in the ids of its calls.
const ID_LEN: usize = 24;

/// The beginnings of ids in the formats of OpenAI and Ollama, and in Messages.
pub const CALL: &str = "call_";
pub const TOOL_USE_ID: &str = "toolu_";

/// Returns the beginning of ids for calls without an id of the model: `word`, the last letters and digits of the answer's `id`,
/// and the number of the text if an answer has several.
pub fn prefix(word: &str, id: &[u8], text: Option<u64>) -> memory::Result<String> {
    let mut prefix = String::new();
    append_text(&mut prefix, word)?;
    let letters = id.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let skipped = letters.clone().count().saturating_sub(ID_LEN);
    for &letter in letters.skip(skipped) {
        append_text(&mut prefix, char::from(letter).encode_utf8(&mut [0; 4]))?;
    }
    if text.is_some() || prefix.len() > word.len() {
        append_text(&mut prefix, "_")?;
    }
    if let Some(text) = text {
        append_text(&mut prefix, decimal(text, &mut [0; 20]))?;
        append_text(&mut prefix, "_")?;
    }
    Ok(prefix)
}

/// Ids that are in use, as hashes.
#[derive(Default)]
pub struct Taken(Vec<u64>);

impl Taken {
    /// Returns the number of ids.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn has(&self, id: &[u8]) -> bool {
        self.0.contains(&hash(id))
    }

    pub fn add(&mut self, id: &[u8]) -> memory::Result<()> {
        push(&mut self.0, hash(id))
    }
}

/// Returns an id of `len` letters and digits, computed from a longer id.
pub fn short<'a>(id: &str, len: usize, room: &'a mut [u8; 11]) -> &'a str {
    let mut number = hash(id.as_bytes());
    for letter in &mut room[..len] {
        *letter = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(number % 62) as usize];
        number /= 62;
    }
    str::from_utf8(&room[..len]).unwrap_or_default()
}

fn hash(id: &[u8]) -> u64 {
    XxHash3_64::oneshot(id)
}
