//! The blocks that are sent: their indexes, and the events that the server has not sent itself. Clients use an index as a
//! position in a list, so no index may be missing. The server's own indexes are used until a block is added or left out.

use crate::answer::ids::short;
use crate::json::{decimal, escape};
use crate::memory::{self, append, append_all};
use crate::sse::options::Options;

/// The output of one message.
pub struct Outgoing {
    /// The next free index. Blocks that are left out count.
    next: u64,
    /// Whether blocks of thinking are left out. Such a block has no index, and nothing is written for it.
    pub drops_thinking: bool,
    /// The number of blocks of the message that were left out.
    left_out: u64,
    /// The index that follows the server's last index.
    server_next: u64,
    /// Whether the server also writes the type of an event on a separate line.
    pub is_named: bool,
    pub line_end: &'static [u8],
    /// The number of events that were written in addition to those of the server.
    pub added: u64,
    /// The letters of the label in signatures of this message; `None` without a label.
    pub label: Option<Letters>,
}

/// The letters of a label. They are computed from the message's id, so that they do not depend on how the stream is cut.
pub type Letters = [u8; 11];

impl Outgoing {
    pub fn new(options: &Options) -> Outgoing {
        let label = options.label.then(|| letters(""));
        Outgoing {
            next: 0,
            drops_thinking: options.drops_thinking(),
            left_out: 0,
            server_next: 0,
            is_named: false,
            line_end: b"\n",
            added: 0,
            label,
        }
    }

    /// Begins a message.
    pub fn begin_message(&mut self) {
        (self.next, self.left_out, self.server_next) = (0, 0, 0);
        self.set_id("");
    }

    /// Makes the label of a message that has this id.
    pub fn set_id(&mut self, id: &str) {
        self.label = self.label.map(|_| letters(id));
    }

    /// Notes that a block of the server begins. If no block was added or left out so far, the server's index is the next one.
    pub fn begin_block(&mut self, index: u64) {
        if self.next == self.server_next {
            self.next = index;
        }
        self.server_next = index.saturating_add(1);
    }

    /// Uses up the next free index and returns it, or `None` if this is a block of thinking that is left out.
    pub fn take_index(&mut self, is_thinking: bool) -> Option<u64> {
        let index = self.next;
        self.next = index.saturating_add(1);
        if is_thinking && self.drops_thinking {
            self.left_out += 1;
            return None;
        }
        Some(index.saturating_sub(self.left_out))
    }

    /// Returns the index of a block of the server, reduced by the number of blocks before it that were left out.
    pub fn index_of(&self, index: u64) -> Option<u64> {
        index.checked_sub(self.left_out)
    }

    /// Writes an event, if its block has an index. `rest` writes the members after type and index, and the closing brace.
    fn event(
        &mut self,
        kind: &str,
        index: Option<u64>,
        out: &mut Vec<u8>,
        rest: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        let Some(index) = index else { return Ok(()) };
        self.added += 1;
        if self.is_named {
            append_all(out, &[b"event: ", kind.as_bytes(), self.line_end])?;
        }
        let mut digits = [0; 20];
        let index = decimal(index, &mut digits).as_bytes();
        append_all(out, &[b"data: {\"type\":\"", kind.as_bytes(), b"\",\"index\":", index])?;
        rest(out)?;
        append_all(out, &[self.line_end, self.line_end])
    }

    /// Writes the start of a block. `block` is a JSON object.
    pub fn start(
        &mut self,
        index: Option<u64>,
        out: &mut Vec<u8>,
        block: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        self.event("content_block_start", index, out, |out| {
            append(out, b",\"content_block\":")?;
            block(out)?;
            append(out, b"}")
        })
    }

    /// Writes a delta of a block. `text` writes a string, with its quotes.
    pub fn delta(
        &mut self,
        index: Option<u64>,
        kind: Delta,
        out: &mut Vec<u8>,
        text: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        self.event("content_block_delta", index, out, |out| {
            let (kind, member) = (kind.kind(), kind.member());
            append_all(out, &[b",\"delta\":{\"type\":", kind, b",", member, b":"])?;
            text(out)?;
            append(out, b"}}")
        })
    }

    /// Writes the end of a block.
    pub fn stop(&mut self, index: Option<u64>, out: &mut Vec<u8>) -> memory::Result<()> {
        self.event("content_block_stop", index, out, |out| append(out, b"}"))
    }

    /// Writes the signature before the end of a thinking block: the label, or an empty string, since the model makes no
    /// signatures.
    pub fn signature(&mut self, index: Option<u64>, out: &mut Vec<u8>) -> memory::Result<()> {
        let label = self.label;
        self.delta(index, Delta::Signature, out, |out| signature(label, out))
    }
}

/// The kind of addition that an event makes to a block.
#[derive(Clone, Copy)]
pub enum Delta {
    Thinking,
    Signature,
    Text,
    Input,
}

impl Delta {
    /// Returns the type of the delta, with the quotes.
    pub fn kind(self) -> &'static [u8] {
        match self {
            Delta::Thinking => b"\"thinking_delta\"",
            Delta::Signature => b"\"signature_delta\"",
            Delta::Text => b"\"text_delta\"",
            Delta::Input => b"\"input_json_delta\"",
        }
    }

    /// Returns the name of the delta's member with the text, with the quotes.
    pub fn member(self) -> &'static [u8] {
        match self {
            Delta::Thinking => b"\"thinking\"",
            Delta::Signature => b"\"signature\"",
            Delta::Text => b"\"text\"",
            Delta::Input => b"\"partial_json\"",
        }
    }
}

/// Writes a thinking block. `text` writes a string, with its quotes.
pub fn thinking_block(
    label: Option<Letters>,
    out: &mut Vec<u8>,
    text: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
) -> memory::Result<()> {
    append(out, b"{\"type\":\"thinking\",\"thinking\":")?;
    text(out)?;
    append(out, b",\"signature\":")?;
    signature(label, out)?;
    append(out, b"}")
}

/// Writes a signature, with its quotes.
fn signature(label: Option<Letters>, out: &mut Vec<u8>) -> memory::Result<()> {
    match label {
        Some(letters) => append_all(out, &[b"\"aside:1:", &letters, b"\""]),
        None => empty(out),
    }
}

fn letters(id: &str) -> Letters {
    let mut letters = [0; 11];
    short(id, letters.len(), &mut letters);
    letters
}

/// Writes a text block. `text` writes a string, with its quotes.
pub fn text_block(out: &mut Vec<u8>, text: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>) -> memory::Result<()> {
    append(out, b"{\"type\":\"text\",\"text\":")?;
    text(out)?;
    append(out, b"}")
}

/// Writes an empty string.
pub fn empty(out: &mut Vec<u8>) -> memory::Result<()> {
    append(out, b"\"\"")
}

/// Writes the block of a call. `input` is JSON.
pub fn call_block(id: &[u8], name: &[u8], input: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    append(out, b"{\"type\":\"tool_use\",\"id\":\"")?;
    escape(id, out)?;
    append(out, b"\",\"name\":\"")?;
    escape(name, out)?;
    append_all(out, &[b"\",\"input\":", input, b"}"])
}
