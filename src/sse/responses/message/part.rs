//! A text part of a message.

use super::digest::{Digest, SentDigest};
use crate::Error;
use crate::answer::{Setup, TextStream};
use crate::sse::protocol::ServerDoes;
use crate::sse::responses::annotations::chars;

/// The settings for reading a text.
#[derive(Clone, Copy)]
pub struct TextConfig {
    /// The number of the text in the response. The first text, 0, starts where the stream does; the others start in the content.
    pub number: u64,
    pub server: ServerDoes,
}

impl TextConfig {
    /// Returns the stream that reads the text.
    pub fn start(self, setup: &Setup) -> Result<TextStream, Error> {
        let mut text = TextStream::new(if self.number == 0 { setup.scanner()? } else { setup.split_scanner()? }, true);
        if self.server.thinking {
            setup.split(&mut text, true)?;
        }
        text.has_own_calls = self.server.calls;
        Ok(text)
    }
}

/// The stage of a part, which never returns to an earlier one.
#[derive(Clone, Copy, PartialEq)]
pub enum PartState {
    /// The part's text grows.
    Growing,
    /// The part's text is over.
    Ended,
    /// The part itself is over.
    Over,
}

/// A text part of a message.
pub struct TextPart {
    /// The index of the part in the server's message.
    pub index: u64,
    pub config: TextConfig,
    /// The event that began the part, and the empty deltas after that event.
    pub added: Vec<u8>,
    /// Whether text of the part arrived before that event.
    pub is_unannounced: bool,
    pub empty: Vec<Vec<u8>>,
    /// The stream that reads the text; `None` if the text is over or is sent unchanged.
    pub text: Option<TextStream>,
    /// The digest of all text that has arrived.
    pub digest: Digest,
    /// The digest of everything sent for this text.
    pub sent: SentDigest,
    pub chars: u64,
    /// The number of the text's characters in the open item.
    pub item_chars: u64,
    pub is_changed: bool,
    pub state: PartState,
    /// Whether the part's start was sent in the open item.
    pub is_open: bool,
    /// Whether the end of its text was sent in the open item.
    pub is_text_done: bool,
    pub has_logprobs: bool,
    /// The annotations of the open item.
    pub annotations: Vec<u8>,
    pub annotated: u64,
}

impl TextPart {
    pub fn new(index: u64, config: TextConfig, text: Option<TextStream>) -> TextPart {
        TextPart {
            index,
            config,
            added: Vec::new(),
            is_unannounced: false,
            empty: Vec::new(),
            text,
            digest: Digest::default(),
            sent: SentDigest::default(),
            chars: 0,
            item_chars: 0,
            is_changed: false,
            state: PartState::Growing,
            is_open: false,
            is_text_done: false,
            has_logprobs: false,
            annotations: Vec::new(),
            annotated: 0,
        }
    }

    /// Returns whether this whole text equals the text that arrived in pieces.
    pub fn agrees(&self, said: &[u8]) -> bool {
        self.digest == Digest::of(said)
    }

    /// Returns whether all text of the part so far is held.
    pub fn holds_all(&self) -> bool {
        self.text.as_ref().is_some_and(|text| text.held() as u64 == self.digest.len)
    }

    /// Notes text that has arrived.
    pub fn take(&mut self, said: &[u8]) {
        self.digest.add(said);
        self.chars += chars(said);
    }
}
