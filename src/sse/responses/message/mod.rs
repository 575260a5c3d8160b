//! A message of the server, and the items that are sent for it. The start of an item is held until there is something to put
//! into the item. When an item is closed, all of its text is repeated.

mod close;
mod digest;
mod emit;
mod part;

use super::changes::{put, put_string};
use super::fields::{Fields, Object};
use super::outgoing::{ItemTarget, Outgoing, write_index};
use crate::Error;
use crate::answer::TextStream;
use crate::json::Edits;
use crate::memory::{self, append, append_all, push};
use crate::sse::event::EventPart;
pub use digest::Digest;
pub use part::{Kept, PartState, TextConfig, TextPart, extract};

/// The maximum number of empty deltas that are held with the start of a part.
const EMPTY: usize = 16;

/// A closed item, which the end of the response repeats.
pub struct Closed {
    pub out: u64,
    /// The number of the item's pair, if it is a message.
    pub pair: Option<u64>,
    /// The parts of a message, or another item, as JSON.
    pub json: Vec<u8>,
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

/// Whether the server's place for a message among the items is taken.
#[derive(PartialEq)]
enum Stage {
    /// The place is free.
    Reserved,
    /// An item of the message has the place, or the place was given up.
    Placed,
    /// The message is over.
    Over,
}

/// The contents of a pair of items so far: at most one reasoning item, and then a message.
#[derive(PartialEq)]
enum Pair {
    Nothing,
    Reasoning,
    Message,
}

/// The finished parts of a message, with their indexes. A part for which there was no room is missing.
#[derive(Default)]
struct Done {
    parts: Vec<(u64, Vec<u8>)>,
    is_cut: bool,
    /// The number of bytes that are counted as kept.
    room: usize,
}

impl Done {
    fn clear(&mut self, outgoing: &mut Outgoing) {
        outgoing.free_room(self.room);
        *self = Done::default();
    }

    fn keep(&mut self, index: u64, json: Vec<u8>, outgoing: &mut Outgoing) -> memory::Result<()> {
        if outgoing.keep_room(json.len()) {
            self.room += json.len();
            push(&mut self.parts, (index, json))?;
        } else {
            self.is_cut = true;
        }
        Ok(())
    }

    /// Returns the parts in their order, without the brackets of the list.
    fn content(&mut self) -> memory::Result<Vec<u8>> {
        self.parts.sort_by_key(|(index, _)| *index);
        let mut content = Vec::new();
        for (number, (_, json)) in self.parts.iter().enumerate() {
            append_all(&mut content, &[if number > 0 { b"," } else { b"" }, json])?;
        }
        Ok(content)
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
    /// Whether a part or a text of the message arrived before the event that began the message.
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
    /// The text of the open item, unless that is a message.
    text: Kept,
    /// The finished parts of the open message.
    done: Done,
    pub parts: Vec<TextPart>,
    /// The indexes of parts other than text, which are sent unchanged.
    others: Vec<u64>,
    /// The closed items, in their order. If not all of them could be kept, `is_cut` is true.
    pub closed: Vec<Closed>,
    pub is_cut: bool,
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
            done: Done::default(),
            parts: Vec::new(),
            others: Vec::new(),
            closed: Vec::new(),
            is_cut: false,
        })
    }

    /// Begins a message that the server has not announced. Returns `None` if there is no room for its start.
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
    fn target(&self) -> ItemTarget<'_> {
        ItemTarget { out: self.place, id: &self.id, pair: self.pair }
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

    /// Makes a message that has no place, because it repeats another.
    pub fn repeats(self) -> Message {
        Message { stage: Stage::Placed, ..self }
    }

    /// Returns whether something was sent for the message.
    pub fn was_sent(&self) -> bool {
        self.stage != Stage::Reserved || !self.closed.is_empty()
    }

    /// Returns whether the text of the message is in one item, and nothing was removed from it. Such a message stays as the server
    /// repeats it.
    pub fn is_plain(&self) -> bool {
        let is_first = |closed: &Closed| closed.pair == Some(1);
        self.pair == 1
            && self.closed.len() < 2
            && self.closed.iter().all(is_first)
            && self.parts.iter().all(|part| part.content_chars == part.chars)
    }

    /// Keeps an item that is closed for the end of the response.
    fn keep_closed(&mut self, pair: Option<u64>, json: Vec<u8>, outgoing: &mut Outgoing) -> memory::Result<()> {
        self.is_cut |= !outgoing.keep_room(json.len());
        let closed = Closed { out: self.place, pair, json: if self.is_cut { Vec::new() } else { json } };
        push(&mut self.closed, closed)
    }

    /// Keeps the open message, which is now closed, for the end of the response.
    pub fn keep_message(&mut self, outgoing: &mut Outgoing) -> memory::Result<()> {
        let (is_cut, content) = (self.done.is_cut, self.done.content()?);
        self.done.clear(outgoing);
        self.is_cut |= is_cut;
        self.keep_closed(Some(self.pair), content, outgoing)
    }

    /// Counts events that lack text, if the kept text of a reasoning item or a call is not complete.
    fn count_cut(&self, events: u64, outgoing: &mut Outgoing) {
        outgoing.truncated += if self.text.is_cut && !outgoing.is_silent { events } else { 0 };
    }

    /// Returns whether the message had thinking, and only reasoning items were sent in its place.
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

    /// Returns the kept text of an open part. If some of the text was not kept, counts an event that lacks text.
    pub fn text_of_open(&self, part: usize, outgoing: &mut Outgoing) -> &[u8] {
        let kept = &self.parts[part].kept;
        outgoing.truncated += u64::from(kept.is_cut);
        &kept.text
    }

    /// Keeps the JSON of a finished part of the open message, if there is one.
    pub fn keep_done(&mut self, index: u64, json: Option<&[u8]>, outgoing: &mut Outgoing) -> memory::Result<()> {
        match json {
            Some(json) => self.done.keep(index, memory::copy(json)?, outgoing),
            None => {
                self.done.is_cut = true;
                Ok(())
            }
        }
    }

    /// Returns whether some finished parts of the open message could not be kept.
    pub fn lacks_parts(&self) -> bool {
        self.done.is_cut
    }

    /// Notes the changes of the item that repeats the open message: it gets the parts that were sent.
    pub fn put_done(&mut self, data: &[u8], item: &Object, edits: &mut Edits) -> memory::Result<()> {
        let content = self.done.content()?;
        self.put_content(data, item, &content, edits)
    }

    /// Notes the changes of the item that repeats the open message, whose parts are `content`.
    pub fn put_content(&self, data: &[u8], item: &Object, content: &[u8], edits: &mut Edits) -> memory::Result<()> {
        if let Some(id) = &item.id {
            put_string(edits, data, id, |out| self.target().write_id("", out))?;
        }
        match item.content.clone().filter(|at| data[at.start + 1..at.end - 1] != *content) {
            Some(at) => put(edits, data, at, |out| append_all(out, &[b"[", content, b"]"])),
            None => Ok(()),
        }
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
            self.done.is_cut |= self.parts[part].kept.is_cut;
            self.parts[part].kept.clear(outgoing);
        }
    }

    /// Notes that a part other than text was sent in the open message. If the part `content` is text, nothing is noted.
    pub fn note_other(&mut self, content: u64) -> memory::Result<()> {
        let is_text = self.parts.iter().any(|part| part.index == content);
        if is_text || self.has_other(content) { Ok(()) } else { push(&mut self.others, content) }
    }

    /// Returns whether this part was sent, and is not text.
    pub fn has_other(&self, content: u64) -> bool {
        self.others.contains(&content)
    }

    /// Ends the message, and keeps the data that is needed when its text is repeated.
    pub fn end(&mut self, outgoing: &mut Outgoing) {
        self.text.clear(outgoing);
        self.done.clear(outgoing);
        outgoing.forget(&mut self.added);
        for part in &mut self.parts {
            outgoing.forget(&mut part.added);
            outgoing.forget(&mut part.annotations);
            part.kept.clear(outgoing);
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
