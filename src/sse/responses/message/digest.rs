//! Digests of texts, to recognise a text that arrives in pieces and again as a whole, without keeping it.

use std::hash::Hasher;

use twox_hash::XxHash64;

use crate::answer::{self, CallPart, Parts};

/// A digest of a text, fed with pieces of it and compared with the whole.
#[derive(Clone, Default)]
pub struct Digest {
    pub len: u64,
    /// The state of this hash has 88 bytes. XXH3, which hashes whole texts here, needs 544 bytes for pieces.
    hash: XxHash64,
}

impl PartialEq for Digest {
    fn eq(&self, other: &Digest) -> bool {
        self.len == other.len && self.hash.finish() == other.hash.finish()
    }
}

impl Digest {
    pub fn add(&mut self, text: &[u8]) {
        self.len += text.len() as u64;
        self.hash.write(text);
    }

    pub fn of(text: &[u8]) -> Digest {
        let mut digest = Digest::default();
        digest.add(text);
        digest
    }
}

/// A digest of a rewritten text without its white space, since servers trim that where they repeat a text.
#[derive(Clone, Default, PartialEq)]
pub struct SentDigest {
    all: Digest,
    /// The thinking and the calls of the text. Events that repeat the text leave them out.
    extracted: Digest,
}

impl SentDigest {
    /// Adds the next rewritten stretches of the text.
    pub fn add(&mut self, parts: &Parts) {
        for run in parts.runs() {
            let text = match parts.call_part(run) {
                // The id of the call is left out: it may be made from the server's id, which can differ between events.
                Some(CallPart::Begin { name, .. }) => name,
                Some(CallPart::Arguments(text)) => text,
                None => parts.text_of(run),
            };
            words(text, |words| {
                self.all.add(words);
                if run.target() != answer::Target::Content {
                    self.extracted.add(words);
                }
            });
        }
    }

    /// Returns whether this output has no thinking and calls, or the same as `other`, so that only their content can differ.
    pub fn has_only_content_more_than(&self, other: &SentDigest) -> bool {
        self.extracted.len == 0 || self.extracted == other.extracted
    }
}

/// Calls `take` with the text without its white space, in pieces of several words: each call of the hash function costs more
/// than hashing the bytes of a word.
fn words(text: &[u8], mut take: impl FnMut(&[u8])) {
    let mut piece = [0; 64];
    for part in text.chunks(piece.len()) {
        let mut len = 0;
        for &byte in part.iter().filter(|byte| !byte.is_ascii_whitespace()) {
            piece[len] = byte;
            len += 1;
        }
        take(&piece[..len]);
    }
}
