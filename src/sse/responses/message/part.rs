//! A text part of a message.

use super::digest::Digest;
use crate::Error;
use crate::answer::{CallPart, Parts, Setup, Target, TextStream};
use crate::memory;
use crate::sse::protocol::ServerDoes;
use crate::sse::responses::annotations::chars;
use crate::sse::responses::outgoing::Outgoing;

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
    /// The part has ended.
    Over,
}

/// The text that is repeated when an item is closed. If there was no room for all of it, its end is missing.
#[derive(Default)]
pub struct Kept {
    pub text: Vec<u8>,
    pub is_cut: bool,
}

impl Kept {
    pub fn clear(&mut self, outgoing: &mut Outgoing) {
        outgoing.forget(&mut self.text);
        self.is_cut = false;
    }

    pub fn add(&mut self, text: &[u8], outgoing: &mut Outgoing) -> memory::Result<()> {
        self.is_cut |= !outgoing.keep(&mut self.text, text)?;
        Ok(())
    }
}

/// A text part of a message.
pub struct TextPart {
    /// The index of the part in the server's message.
    pub index: u64,
    pub config: TextConfig,
    /// The event that began the part, and the empty deltas after that event.
    pub added: Vec<u8>,
    /// Whether text of the part arrived before the event that begins the part.
    pub is_unannounced: bool,
    pub empty: Vec<Vec<u8>>,
    /// The stream that reads the text; `None` if the text is over or is sent unchanged.
    pub text: Option<TextStream>,
    /// All text that has arrived, and its numbers of bytes and characters.
    pub came: Digest,
    pub len: u64,
    pub chars: u64,
    /// The thinking and the calls that were sent for this text. The events that repeat the text leave them out.
    pub extracted: Digest,
    /// The number of the text's characters that were sent as content.
    pub content_chars: u64,
    /// The text in the open item.
    pub kept: Kept,
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
    /// The stretches of a whole text that are content, if the part has annotations.
    pub stretches: Vec<(u64, u64)>,
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
            came: Digest::default(),
            len: 0,
            chars: 0,
            extracted: Digest::default(),
            content_chars: 0,
            kept: Kept::default(),
            item_chars: 0,
            is_changed: false,
            state: PartState::Growing,
            is_open: false,
            is_text_done: false,
            has_logprobs: false,
            annotations: Vec::new(),
            annotated: 0,
            stretches: Vec::new(),
        }
    }

    /// Returns whether this whole text equals the text that arrived in pieces, except for white space.
    pub fn agrees(&self, said: &[u8]) -> bool {
        self.came.rest(said).is_some_and(|rest| rest.trim_ascii().is_empty())
    }

    /// Returns whether all text of the part so far is held.
    pub fn holds_all(&self) -> bool {
        self.text.as_ref().is_some_and(|text| text.held() as u64 == self.len)
    }

    /// Notes text that has arrived.
    pub fn take(&mut self, said: &[u8]) {
        self.came.add(said);
        self.len += said.len() as u64;
        self.chars += chars(said);
    }

    /// Notes that content was sent in the open item.
    pub fn note_content(&mut self, text: &[u8], outgoing: &mut Outgoing) -> memory::Result<()> {
        let len = chars(text);
        self.content_chars += len;
        self.item_chars += len;
        self.kept.add(text, outgoing)
    }

    /// Returns whether the open item has all text of the part.
    pub fn is_plain(&self) -> bool {
        self.item_chars == self.chars
    }

    /// Returns the content in the open item, as the number of the text's content before it and its length, in characters.
    pub fn in_item(&self) -> (u64, u64) {
        (self.content_chars - self.item_chars, self.item_chars)
    }
}

/// Adds the thinking and the calls of a text to a digest.
pub fn extract(parts: &Parts, extracted: &mut Digest) {
    for run in parts.runs().iter().filter(|run| run.target() != Target::Content) {
        extracted.add(match parts.call_part(run) {
            // The id of the call is left out: it may be made from the server's id, which can differ between events.
            Some(CallPart::Begin { name, .. }) => name,
            Some(CallPart::Arguments(text)) => text,
            None => parts.text_of(run),
        });
    }
}
