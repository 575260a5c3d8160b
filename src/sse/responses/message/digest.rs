//! Digests of texts, to recognise a text that arrives in pieces and again as a whole, without keeping it.

use std::hash::Hasher;

use twox_hash::XxHash64;

/// A digest of a text without its white space, since servers trim that where they repeat a text.
#[derive(Clone, Default)]
pub struct Digest {
    len: u64,
    /// The state of this hash has 88 bytes. XXH3, which hashes whole texts here, needs 544 bytes for pieces.
    hash: XxHash64,
    /// Whether the text ends with white space.
    ends_blank: bool,
}

impl PartialEq for Digest {
    fn eq(&self, other: &Digest) -> bool {
        self.len == other.len && self.hash.finish() == other.hash.finish()
    }
}

impl Digest {
    /// Adds the next piece of the text. The bytes are hashed in pieces of several words: each call of the hash function costs more
    /// than hashing the bytes of a word.
    pub fn add(&mut self, text: &[u8]) {
        let mut piece = [0; 64];
        for part in text.chunks(piece.len()) {
            let mut len = 0;
            for &byte in part.iter().filter(|byte| !byte.is_ascii_whitespace()) {
                piece[len] = byte;
                len += 1;
            }
            self.len += len as u64;
            self.hash.write(&piece[..len]);
        }
        self.ends_blank = text.last().map_or(self.ends_blank, u8::is_ascii_whitespace);
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the rest of a text that begins with this text, or `None` if it begins differently.
    pub fn rest<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let is_word = |&(_, byte): &(usize, &u8)| !byte.is_ascii_whitespace();
        let last = self.len.checked_sub(1).map(|last| text.iter().enumerate().filter(is_word).nth(last as usize));
        let (begins, rest) = match last {
            None => text.split_at(0),
            Some(found) => text.split_at(found?.0 + 1),
        };
        let mut digest = Digest::default();
        digest.add(begins);
        let rest = if self.ends_blank { rest.trim_ascii_start() } else { rest };
        (digest == *self).then_some(rest)
    }
}
