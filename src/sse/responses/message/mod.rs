//! A message of the server, and the items that are sent for it. The start of an item is held until there is something to put
//! into the item. When an item is closed, all of its text is repeated.

mod close;
mod digest;
mod emit;
mod part;

use super::changes::{put, put_string};
use super::fields::{Fields, Object};
use super::outgoing::{Outgoing, Target, write_index};
use crate::Error;
use crate::answer::TextStream;
use crate::json::Edits;
use crate::memory::{self, append, append_all, push};
use crate::sse::event::EventPart;
pub use digest::SentDigest;
pub use part::{PartState, TextConfig, TextPart};

/// The most pieces of a message that are remembered. With more, the text is split anew where the server repeats it.
const PIECES: usize = 4096;

/// The most empty deltas that are held with the start of a part.
const EMPTY: usize = 16;

/// The kind of an item with text of a message.
#[derive(Clone, Copy, PartialEq)]
pub enum ItemKind {
    Reasoning,
    Message,
    /// A part other than text, which was sent unchanged.
    Verbatim,
    /// A call. The number makes its id unique.
    Call(u64),
}

/// A stretch of a part's text, and the item in which it was sent.
pub struct Piece {
    pub kind: ItemKind,
    /// The index of the part in the server's message.
    pub part: u64,
    pub out: u64,
    pub pair: u64,
    /// The length of the stretch in the text of the deltas. Where the server repeats the text differently, the stretch may end
    /// inside a character.
    pub len: usize,
}

/// The event of the server that carries the last stretch of a text.
pub struct Carrier<'a> {
    pub event: &'a EventPart<'a>,
    pub fields: &'a Fields,
    /// Whether the stretch is the whole text of the event.
    pub is_same: bool,
}

/// The open item of a message.
#[derive(Default)]
pub enum OpenItem {
    #[default]
    Nothing,
    Reasoning,
    Message,
    /// A call.
    Call {
        id: Vec<u8>,
        name: Vec<u8>,
    },
}

/// Whether the server's place for a message among the items is used.
#[derive(PartialEq)]
enum Stage {
    /// The place is free.
    Reserved,
    /// An item of the message has the place, or the place was given up.
    Placed,
    /// The message is over.
    Over,
}

/// The contents of a pair of items so far. A pair is at most one reasoning item, and then a message.
#[derive(PartialEq)]
enum Pair {
    Nothing,
    Reasoning,
    Message,
}

/// The text that is repeated when an item is closed, as far as there was room to keep it.
#[derive(Default)]
struct Kept {
    text: Vec<u8>,
    is_cut: bool,
}

impl Kept {
    fn clear(&mut self, outgoing: &mut Outgoing) {
        outgoing.forget(&mut self.text);
        self.is_cut = false;
    }
}

/// A message of the server.
pub struct Message {
    /// The server's index of the message.
    pub index: u64,
    /// The message's id as JSON.
    pub id: Vec<u8>,
    /// The event that began the message.
    added: Vec<u8>,
    /// Whether a part or a text of the message arrived before that event.
    pub is_unannounced: bool,
    pub open: OpenItem,
    /// The index of the open item, or of the item that was open last.
    pub place: u64,
    /// The number of the current pair of a reasoning item and a message.
    pub pair: u64,
    pair_has: Pair,
    stage: Stage,
    /// The number of the server's parts that are not in the open message.
    left_out: u64,
    /// The text of the open part or item.
    text: Kept,
    /// The finished parts of the open message, as JSON.
    done: Kept,
    pub parts: Vec<TextPart>,
    /// The pieces that were sent; `None` if there are more than are remembered.
    pub pieces: Option<Vec<Piece>>,
}

impl Message {
    pub fn new(index: u64, id: &[u8]) -> Result<Message, Error> {
        Ok(Message {
            index,
            id: memory::copy(id)?,
            added: Vec::new(),
            is_unannounced: false,
            open: OpenItem::Nothing,
            place: 0,
            pair: 1,
            pair_has: Pair::Nothing,
            stage: Stage::Reserved,
            left_out: 0,
            text: Kept::default(),
            done: Kept::default(),
            parts: Vec::new(),
            pieces: Some(Vec::new()),
        })
    }

    /// Begins a message that the server has not announced, or `None` if there is no room for its start.
    pub fn announced(index: u64, id: &[u8], outgoing: &mut Outgoing) -> Result<Option<Message>, Error> {
        let added = outgoing.left_out("response.output_item.added", |out| {
            write_index(b",\"output_index\":", index, out)?;
            append_all(out, &[b",\"item\":{\"id\":\"", id, b"\",\"type\":\"message\",\"role\":\"assistant\""])?;
            append(out, b",\"status\":\"in_progress\",\"content\":[]}")
        })?;
        let message = Message { added, is_unannounced: true, ..Message::new(index, id)? };
        Ok(Some(message).filter(|message| !message.added.is_empty()))
    }

    /// Makes the start of a part whose first text has arrived, because the server has sent none.
    pub fn announce_part(&mut self, part: usize, outgoing: &mut Outgoing) -> memory::Result<()> {
        let content = self.parts[part].index;
        let added = outgoing.left_out("response.content_part.added", |out| {
            append_all(out, &[b",\"item_id\":\"", &self.id, b"\""])?;
            write_index(b",\"output_index\":", self.index, out)?;
            write_index(b",\"content_index\":", content, out)?;
            append(out, b",\"part\":{\"type\":\"output_text\",\"text\":\"\",\"annotations\":[]}")
        })?;
        self.parts[part].is_unannounced = !added.is_empty();
        self.parts[part].added = added;
        Ok(())
    }

    /// Returns the place of the open item.
    fn target(&self) -> Target<'_> {
        Target { out: self.place, id: &self.id, pair: self.pair }
    }

    /// Holds the event that begins the message. Returns whether there was room.
    pub fn hold(&mut self, event: &EventPart<'_>, outgoing: &mut Outgoing) -> memory::Result<bool> {
        hold(&mut self.added, event, outgoing)
    }

    /// Holds the event that begins a part. Returns whether there was room.
    pub fn hold_part(&mut self, part: usize, event: &EventPart<'_>, outgoing: &mut Outgoing) -> memory::Result<bool> {
        hold(&mut self.parts[part].added, event, outgoing)
    }

    /// Holds a delta without text with the start of its part. Returns whether there was room.
    pub fn hold_empty(&mut self, part: usize, event: &EventPart<'_>, outgoing: &mut Outgoing) -> memory::Result<bool> {
        let part = &mut self.parts[part];
        if part.empty.len() == EMPTY {
            return Ok(false);
        }
        let mut held = Vec::new();
        let has_room = hold(&mut held, event, outgoing)?;
        push(&mut part.empty, held)?;
        Ok(has_room)
    }

    /// Returns the number of bytes of the message that are held back.
    pub fn held(&self) -> usize {
        let text: usize = self.parts.iter().filter_map(|part| part.text.as_ref()).map(TextStream::held).sum();
        let starts: usize = self.parts.iter().map(|part| part.added.len()).sum();
        text + if self.may_release_start() { self.added.len() + starts } else { 0 }
    }

    /// Returns whether the start of the message is held, and nothing was removed from the text so far.
    pub fn may_release_start(&self) -> bool {
        self.holds_start() && !self.parts.iter().any(|part| part.is_changed)
    }

    /// Returns whether the start of the message is held, and nothing of the message has been sent.
    pub fn holds_start(&self) -> bool {
        self.keeps_place() && matches!(self.open, OpenItem::Nothing) && self.pair_has != Pair::Reasoning
    }

    /// Returns whether the message is open, and its place is still free.
    pub fn keeps_place(&self) -> bool {
        self.stage == Stage::Reserved
    }

    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Uses the message's place. Returns whether it was free.
    fn take_place(&mut self) -> bool {
        let is_free = self.keeps_place();
        if is_free {
            self.stage = Stage::Placed;
        }
        is_free
    }

    /// Gives up the message's place, if it is free, to another item.
    pub fn give_up_place(&mut self, outgoing: &mut Outgoing) {
        if self.take_place() {
            outgoing.places.leave_out();
        }
    }

    /// Notes that text of a part was sent in the open item.
    fn note(&mut self, kind: ItemKind, part: u64, len: usize, is_new: bool) -> memory::Result<()> {
        let (out, pair) = (self.place, self.pair);
        let Some(pieces) = &mut self.pieces else { return Ok(()) };
        match pieces.last_mut() {
            Some(last) if !is_new && last.kind == kind && last.part == part && last.out == out => last.len += len,
            _ => {
                push(pieces, Piece { kind, part, out, pair, len })?;
                if pieces.len() > PIECES {
                    self.pieces = None;
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, text: &[u8], outgoing: &mut Outgoing) -> memory::Result<()> {
        self.text.is_cut |= !outgoing.keep(&mut self.text.text, text)?;
        Ok(())
    }

    /// Counts events that lack text, if the kept text is not complete.
    fn count_cut(&self, events: u64, outgoing: &mut Outgoing) {
        outgoing.truncated += if self.text.is_cut { events } else { 0 };
    }

    /// Returns whether the message had thinking, and only reasoning items were sent for it.
    pub fn is_thinking_alone(&self) -> bool {
        self.pair_has == Pair::Reasoning || self.pair > 1 && self.pair_has == Pair::Nothing
    }

    fn next_pair(&mut self) {
        self.pair += 1;
        self.pair_has = Pair::Nothing;
    }

    /// Returns whether the open item is a message.
    pub fn has_message_open(&self) -> bool {
        matches!(self.open, OpenItem::Message)
    }

    /// Returns whether the start of this part was sent in the open message.
    pub fn is_part_open(&self, part: usize) -> bool {
        self.has_message_open() && self.parts[part].is_open
    }

    /// Returns the length of a part's content that was sent before the open item.
    pub fn len_before(&self, part: usize) -> usize {
        let index = self.parts[part].index;
        let pieces = self.pieces.iter().flatten();
        pieces
            .filter(|piece| piece.part == index && piece.kind == ItemKind::Message && piece.out != self.place)
            .map(|piece| piece.len)
            .sum()
    }

    /// Returns the kept text of the open part. If some is missing, counts an event that lacks text.
    pub fn text_of_open(&self, outgoing: &mut Outgoing) -> &[u8] {
        self.count_cut(1, outgoing);
        &self.text.text
    }

    /// Keeps the JSON of a finished part of the open message.
    pub fn keep_done(&mut self, json: &[u8], outgoing: &mut Outgoing) -> memory::Result<()> {
        self.done.is_cut |= !outgoing.keep_whole(&mut self.done.text, json)?;
        Ok(())
    }

    /// Notes the changes of the item that repeats the open message, for a message with too many pieces to remember.
    pub fn put_done(&self, data: &[u8], item: &Object, edits: &mut Edits) -> memory::Result<()> {
        if let Some(id) = &item.id {
            put_string(edits, data, id, |out| self.target().write_id("", out))?;
        }
        if let Some(content) = &item.content {
            put(edits, data, content.clone(), |out| append_all(out, &[b"[", &self.done.text, b"]"]))?;
        }
        Ok(())
    }

    /// Ends a part of the open message. Its text is not needed any more.
    pub fn end_part(&mut self, part: usize, outgoing: &mut Outgoing) {
        let is_open = self.is_part_open(part);
        self.parts[part].state = PartState::Over;
        if self.has_message_open() && !is_open {
            // The indexes of later parts become lower.
            self.left_out += 1;
        }
        if is_open {
            self.text.clear(outgoing);
        }
    }

    /// Notes that a part other than text was sent in the open message. If the part `content` is text, nothing is noted.
    pub fn note_verbatim(&mut self, content: u64) -> memory::Result<()> {
        let is_text = self.parts.iter().any(|part| part.index == content);
        if is_text || self.has_verbatim(content) { Ok(()) } else { self.note(ItemKind::Verbatim, content, 0, true) }
    }

    /// Returns whether this part is other than text. Without remembered pieces, returns true.
    pub fn has_verbatim(&self, content: u64) -> bool {
        let is_it = |piece: &Piece| piece.kind == ItemKind::Verbatim && piece.part == content;
        self.pieces.as_ref().is_none_or(|pieces| pieces.iter().rev().any(is_it))
    }

    /// Ends the message, and keeps the data that is needed when its text is repeated.
    pub fn end(&mut self, outgoing: &mut Outgoing) {
        outgoing.forget(&mut self.text.text);
        outgoing.forget(&mut self.done.text);
        outgoing.forget(&mut self.added);
        for part in &mut self.parts {
            outgoing.forget(&mut part.added);
            outgoing.forget(&mut part.annotations);
            part.empty.iter_mut().for_each(|empty| outgoing.forget(empty));
            (part.empty, part.text) = (Vec::new(), None);
        }
        (self.stage, self.open) = (Stage::Over, OpenItem::Nothing);
    }
}

/// Holds an event.
fn hold(held: &mut Vec<u8>, event: &EventPart<'_>, outgoing: &mut Outgoing) -> memory::Result<bool> {
    let mut has_room = true;
    let name = event.name();
    if !name.is_empty() && !event.part.contains(&event.event.name.start) {
        for part in [b"event: ", name, event.event.line_end] {
            has_room &= outgoing.keep(held, part)?;
        }
    }
    for part in [&event.raw[event.part.clone()], event.missing_end()] {
        has_room &= outgoing.keep(held, part)?;
    }
    if !has_room {
        outgoing.forget(held);
    }
    Ok(has_room)
}
