//! The state of a message: its open text blocks, the indexes of its other blocks, and its calls.

use std::mem;

use super::block::TextBlock;
use super::fields::BlockFields;
use crate::Error;
use crate::answer::{Calls, Promotion, Setup, TextStream, ids};
use crate::json::decode;
use crate::memory::{TryBox, copy_text, push};
use crate::sse::protocol::ServerDoes;

/// The maximum number of blocks, apart from open texts, whose indexes are remembered.
const OTHERS: usize = 128;

/// The state of a message.
pub struct Message {
    pub texts: Vec<TextBlock>,
    others: Vec<OtherBlock>,
    /// Whether a text block has begun. Text blocks after it start in the content.
    has_text: bool,
    pub server: ServerDoes,
    /// Whether a call was emitted and has ended as it should.
    pub has_emitted_call: bool,
    /// The calls of the message's texts, while no text block is open.
    pub calls: TryBox<Calls>,
    /// The beginning of the ids of calls for which the model writes no id.
    pub id_prefix: String,
    pub promotion: Promotion,
}

/// A block that is not a text block, or a text block whose text is over.
struct OtherBlock {
    /// The server's index.
    index: u64,
    /// The index that is sent; `None` if the block is left out.
    out: Option<u64>,
}

impl Message {
    pub fn new(promotion: Promotion) -> Message {
        Message {
            texts: Vec::new(),
            others: Vec::new(),
            has_text: false,
            server: ServerDoes::default(),
            has_emitted_call: false,
            calls: TryBox::NONE,
            id_prefix: String::new(),
            promotion,
        }
    }

    /// Returns the position of the text block with this index.
    pub fn text(&self, index: u64) -> Option<usize> {
        self.texts.iter().position(|block| block.index == index)
    }

    /// Returns the index that is sent for a block other than an open text block: `None` if the block is unknown, and `Some(None)`
    /// if it is left out.
    pub fn other(&self, index: u64) -> Option<Option<u64>> {
        self.others.iter().find(|block| block.index == index).map(|block| block.out)
    }

    /// Notes the index with which a block is sent.
    pub fn know(&mut self, index: u64, out: Option<u64>) -> Result<(), Error> {
        self.others.retain(|block| block.index != index);
        if self.others.len() == OTHERS {
            self.others.remove(0);
        }
        Ok(push(&mut self.others, OtherBlock { index, out })?)
    }

    /// Sets the prefix of call ids, which is made from the message's id.
    pub fn set_id(&mut self, id: &[u8]) -> Result<(), Error> {
        self.id_prefix = ids::prefix(ids::TOOL_USE_ID, id, None)?;
        Ok(())
    }

    /// Begins the next text. The numbers of its calls continue those of the earlier text, so that no id is used twice.
    pub fn begin_text(&mut self, setup: &mut Setup) -> Result<TextStream, Error> {
        let is_first = !mem::replace(&mut self.has_text, true) && !self.server.thinking;
        let mut text = TextStream::new(if is_first { setup.scanner()? } else { setup.split_scanner()? }, true);
        if self.server.thinking {
            setup.split(&mut text, true)?;
        }
        text.has_own_calls = self.server.calls || !self.texts.is_empty();
        if !text.has_own_calls {
            setup.give_calls(&mut text, mem::replace(&mut self.calls, TryBox::NONE));
        }
        Ok(text)
    }

    /// Keeps the calls of a text that has finished.
    pub fn end_text(&mut self, setup: &mut Setup, text: &mut TextStream) {
        self.has_emitted_call |= text.has_emitted_call();
        if !text.has_own_calls {
            self.calls = setup.take_calls(text);
        }
    }

    /// Notes the thinking and text of a block that is not split. If the server sends thinking that is not empty, or a
    /// signature, it splits the thinking itself; an empty block does not show that.
    pub fn take_passing(
        &mut self,
        part: &BlockFields,
        data: &[u8],
        setup: &mut Setup,
        decoded: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let has_thinking = part.thinking.as_ref().is_some_and(|thinking| thinking.len() > 2);
        if (has_thinking || part.is_signed || part.is(data, b"\"redacted_thinking\""))
            && !mem::replace(&mut self.server.thinking, true)
        {
            setup.stats.split_by_server += 1;
        }
        if part.text.as_ref().is_some_and(|(_, text)| text.len() > 2) {
            self.promotion.close();
        }
        if let Some(thinking) = &part.thinking {
            self.promotion.take_of_server(decode(&data[thinking.clone()], decoded)?)?;
        }
        Ok(())
    }

    /// Returns whether the texts of the message are sent unchanged.
    pub fn passes_texts(&self, setup: &Setup) -> bool {
        self.server.thinking && !setup.reads_behind && (self.server.calls || !setup.has_calls())
    }

    /// Returns the beginning of the ids of calls for which the model writes no id: `prefix`, or a default if that is empty.
    pub fn id_prefix(prefix: &str) -> Result<String, Error> {
        Ok(copy_text(if prefix.is_empty() { ids::TOOL_USE_ID } else { prefix })?)
    }
}
