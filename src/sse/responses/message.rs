//! A message of the server, and the items that it has become. The start of an item is held until it is known that there is
//! something to go into it, and each item is closed with all of its text.

use std::hash::Hasher;
use std::mem;

use twox_hash::XxHash64;

use super::fields::{Fields, Kind, Object, inside};
use super::outgoing::{Outgoing, Target, put, put_number, put_string, remove, write_index, write_text};
use super::place::{Annotations, chars};
use crate::Error;
use crate::json::Span;
use crate::memory::{self, TryBox, append, append_all, push};
use crate::sse::edits::Edits;
use crate::sse::event::{Event, EventPart};
use crate::sse::text::{self, CallPart, Parts, Setup, TextStream};

/// The most pieces of a response that are remembered. One with more is split anew where its text comes again.
const PIECES: usize = 4096;

/// The most empty deltas that are held with the start of a part.
const EMPTY: usize = 16;

/// The kind of an item that text has gone to.
#[derive(Clone, Copy, PartialEq)]
pub enum ItemKind {
    Reasoning,
    Message,
    /// Something other than text, which has gone out as it came.
    Verbatim,
    /// A call, whose id got this number to tell it from another's.
    Call(u64),
}

/// A stretch of a part's text, and the item that it has gone to.
pub struct Piece {
    pub kind: ItemKind,
    /// The index of the part in the server's message.
    pub part: u64,
    pub out: u64,
    pub pair: u64,
    /// Its length in the text of the events. In another text that the server says for it, this need not be a place between
    /// characters.
    pub len: usize,
}

/// A digest of a text: of one that comes in pieces, to know it again where it comes as a whole.
#[derive(Clone, Default)]
pub struct Digest {
    pub len: u64,
    /// Its state has 88 bytes. XXH3, which hashes whole texts here, has a state of 544 for pieces.
    hash: XxHash64,
}

impl PartialEq for Digest {
    fn eq(&self, other: &Digest) -> bool {
        self.len == other.len && self.hash.finish() == other.hash.finish()
    }
}

impl Digest {
    fn add(&mut self, text: &[u8]) {
        self.len += text.len() as u64;
        self.hash.write(text);
    }

    /// Adds a text without its white space.
    fn add_words(&mut self, text: &[u8]) {
        text.split(u8::is_ascii_whitespace).for_each(|word| self.add(word));
    }

    pub fn of(text: &[u8]) -> Digest {
        let mut digest = Digest::default();
        digest.add(text);
        digest
    }
}

/// A digest of what a text has become, without its white space, which servers trim where they repeat a text.
#[derive(Clone, Default, PartialEq)]
pub struct SentDigest {
    all: Digest,
    /// The thinking and the calls, which events that repeat the text leave out.
    extracted: Digest,
}

impl SentDigest {
    /// Adds what the next stretches of the text have become.
    pub fn add(&mut self, parts: &Parts) {
        for run in parts.runs() {
            let text = match parts.call_part(run) {
                // Its id may be made here, of an id that the server says otherwise elsewhere.
                Some(CallPart::Begin { name, .. }) => name,
                Some(CallPart::Arguments(text)) => text,
                None => parts.text_of(run),
            };
            self.all.add_words(text);
            if run.target() != text::Target::Content {
                self.extracted.add_words(text);
            }
        }
    }

    /// Returns whether a text that becomes this has no thinking and no calls but those of a text that has become `other`.
    pub fn has_only_content_more_than(&self, other: &SentDigest) -> bool {
        self.extracted.len == 0 || self.extracted == other.extracted
    }
}

/// How a text is read.
#[derive(Clone, Copy)]
pub struct TextConfig {
    /// Which text of the response it is. The first, 0, starts where the stream does, and the others in the content.
    pub number: u64,
    /// The server has split it: only calls are looked for.
    pub is_split: bool,
    /// Calls are left to the server.
    pub is_without_calls: bool,
}

impl TextConfig {
    /// Returns what reads the text.
    pub fn start(self, setup: &Setup) -> Result<TextStream, Error> {
        let mut text = TextStream::new(if self.number == 0 { setup.scanner()? } else { setup.split_scanner()? });
        if self.is_split {
            text.split = TryBox::new(setup.split_scanner()?)?;
        }
        text.has_own_calls = self.is_without_calls;
        Ok(text)
    }
}

/// The event of the server that carries the last stretch of a text.
pub struct Carrier<'a> {
    pub event: &'a EventPart<'a>,
    pub fields: &'a Fields,
    /// The stretch is all that the event says.
    pub is_same: bool,
}

/// A part of a message that has text.
pub struct TextPart {
    /// Its index in the server's message.
    pub index: u64,
    pub config: TextConfig,
    /// The event that began it, and the empty deltas after that.
    added: Vec<u8>,
    empty: Vec<Vec<u8>>,
    /// What reads it. `None`: it is over, or passes.
    pub text: Option<TextStream>,
    /// All that has come of it.
    pub digest: Digest,
    /// All that it has become.
    pub sent: SentDigest,
    chars: u64,
    /// How many characters of it are in the open item.
    item_chars: u64,
    pub is_changed: bool,
    /// Its text is over.
    pub has_ended: bool,
    /// It is over itself.
    pub is_over: bool,
    /// Its start has gone out in the open item.
    is_open: bool,
    has_logprobs: bool,
    /// The annotations of the open item.
    annotations: Vec<u8>,
    annotated: u64,
}

impl TextPart {
    pub fn new(index: u64, config: TextConfig, text: Option<TextStream>) -> TextPart {
        TextPart {
            index,
            config,
            added: Vec::new(),
            empty: Vec::new(),
            text,
            digest: Digest::default(),
            sent: SentDigest::default(),
            chars: 0,
            item_chars: 0,
            is_changed: false,
            has_ended: false,
            is_over: false,
            is_open: false,
            has_logprobs: false,
            annotations: Vec::new(),
            annotated: 0,
        }
    }

    /// Returns whether this whole text is what has come in pieces.
    pub fn agrees(&self, said: &[u8]) -> bool {
        self.digest == Digest::of(said)
    }

    /// Returns whether nothing of it is decided.
    pub fn holds_all(&self) -> bool {
        self.text.as_ref().is_some_and(|text| text.held() as u64 == self.digest.len)
    }

    /// Takes note of text that has come.
    pub fn take(&mut self, said: &[u8]) {
        self.digest.add(said);
        self.chars += chars(said);
    }
}

/// The kind of the item that a message has open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OpenItem {
    Nothing,
    Reasoning,
    Message,
    Call,
}

/// Writes events: the state of the stream that goes out, changes that are noted, and the output.
pub struct EventWriter<'a> {
    pub outgoing: &'a mut Outgoing,
    pub edits: &'a mut Edits,
    pub out: &'a mut Vec<u8>,
}

/// A message of the server.
pub struct Message {
    /// Its place, as the server says.
    pub index: u64,
    /// Its id, as it stands in the JSON.
    pub id: Vec<u8>,
    /// The event that began it.
    added: Vec<u8>,
    pub open: OpenItem,
    /// The place of the item that is open, or was last.
    pub place: u64,
    /// The number of the reasoning item and of the message that may come after it.
    pub pair: u64,
    has_reasoning: bool,
    has_message: bool,
    /// No item has gone to its own place.
    is_reserved: bool,
    /// How many of the server's parts are not in the open message.
    left_out: u64,
    /// The text of the part or item that is open, as much of it as is kept.
    text: Vec<u8>,
    is_cut: bool,
    /// The parts of the open message that are over, as JSON.
    done: Vec<u8>,
    is_done_cut: bool,
    call: OpenCall,
    pub parts: Vec<TextPart>,
    /// What has gone out. `None`: more than is remembered.
    pub pieces: Option<Vec<Piece>>,
    pub is_over: bool,
}

#[derive(Default)]
struct OpenCall {
    id: Vec<u8>,
    name: Vec<u8>,
}

impl Message {
    pub fn new(index: u64, id: &[u8]) -> Result<Message, Error> {
        Ok(Message {
            index,
            id: memory::copy(id)?,
            added: Vec::new(),
            open: OpenItem::Nothing,
            place: 0,
            pair: 1,
            has_reasoning: false,
            has_message: false,
            is_reserved: true,
            left_out: 0,
            text: Vec::new(),
            is_cut: false,
            done: Vec::new(),
            is_done_cut: false,
            call: OpenCall::default(),
            parts: Vec::new(),
            pieces: Some(Vec::new()),
            is_over: false,
        })
    }

    /// Returns where the open item is.
    fn target(&self) -> Target<'_> {
        Target { out: self.place, id: &self.id, pair: self.pair }
    }

    /// Holds the event that begins it. Returns whether there was room.
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

    /// Takes the `\n` of the line end whose `\r` ended the event that was held last.
    pub fn hold_line_feed(&mut self) -> memory::Result<bool> {
        let starts = self.parts.iter_mut().rev().filter(|part| !part.is_open);
        for part in starts {
            if let Some(held) = part.empty.last_mut().or(Some(&mut part.added).filter(|added| !added.is_empty())) {
                append(held, b"\n")?;
                return Ok(true);
            }
        }
        let is_held = self.holds_start();
        if is_held {
            append(&mut self.added, b"\n")?;
        }
        Ok(is_held)
    }

    /// Returns how many bytes of it are held back.
    pub fn held(&self) -> usize {
        let text: usize = self.parts.iter().filter_map(|part| part.text.as_ref()).map(TextStream::held).sum();
        let starts: usize = self.parts.iter().map(|part| part.added.len()).sum();
        text + if self.may_release_start() { self.added.len() + starts } else { 0 }
    }

    /// Returns whether its start is held, and it is not known yet that something is taken out of its text.
    pub fn may_release_start(&self) -> bool {
        self.holds_start() && !self.parts.iter().any(|part| part.is_changed)
    }

    /// Returns whether its start is held, and nothing of it has gone out.
    pub fn holds_start(&self) -> bool {
        !self.is_over && self.is_reserved && self.open == OpenItem::Nothing && !self.has_reasoning
    }

    /// Returns whether it is open, and its own place is still free.
    pub fn keeps_place(&self) -> bool {
        !self.is_over && self.is_reserved
    }

    /// Gives up its own place, which another item gets.
    pub fn give_up_place(&mut self, outgoing: &mut Outgoing) {
        if mem::take(&mut self.is_reserved) {
            outgoing.places.leave_out();
        }
    }

    /// Notes that text of a part has gone to the open item.
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
        self.is_cut |= !outgoing.keep(&mut self.text, text)?;
        Ok(())
    }

    /// Counts `events` that lack text, if some was not kept.
    fn count_cut(&self, events: u64, outgoing: &mut Outgoing) {
        outgoing.truncated += if self.is_cut { events } else { 0 };
    }

    fn begin_item(&mut self, outgoing: &mut Outgoing) {
        outgoing.forget(&mut self.text);
        self.is_cut = false;
    }

    /// Opens the message, and in it a text part, or room for the part of another kind with the index `content`.
    pub fn open_message(
        &mut self,
        part: Option<usize>,
        content: u64,
        writer: &mut EventWriter<'_>,
    ) -> Result<(), Error> {
        if self.open != OpenItem::Message {
            self.close(b"\"completed\"", writer)?;
            if self.has_message {
                self.next_pair();
            }
            self.place = match mem::take(&mut self.is_reserved) {
                true => writer.outgoing.places.of(self.index)?,
                false => writer.outgoing.places.insert(self.index),
            };
            self.has_message = true;
            // Earlier parts of which nothing has become anything else may still come.
            let is_left_out = |earlier: &TextPart| earlier.is_changed || earlier.has_ended || earlier.is_over;
            let mut earlier = self.parts.iter().filter(|earlier| earlier.index < content);
            let is_first = self.pair == 1 && !earlier.any(is_left_out);
            self.left_out = if is_first { 0 } else { content };
            self.open = OpenItem::Message;
            writer.outgoing.forget(&mut self.done);
            self.is_done_cut = false;
            let added = mem::take(&mut self.added);
            self.replay(&added, None, writer)?;
            self.added = added;
        }
        if let Some(place) = part
            && !self.parts[place].is_open
        {
            self.begin_item(writer.outgoing);
            let part = &mut self.parts[place];
            (part.is_open, part.item_chars, part.annotated) = (true, 0, 0);
            writer.outgoing.forget(&mut part.annotations);
            let (added, empty) = (mem::take(&mut part.added), mem::take(&mut part.empty));
            let index = part.index;
            self.replay(&added, Some(index), writer)?;
            for mut empty in empty {
                self.replay(&empty, Some(index), writer)?;
                writer.outgoing.forget(&mut empty);
            }
            self.parts[place].added = added;
            self.note(ItemKind::Message, index, 0, true)?;
        }
        Ok(())
    }

    /// Writes the start of a part of the open message whose text is over, unless something was taken out of it.
    pub fn release_part_start(&mut self, part: usize, writer: &mut EventWriter<'_>) -> Result<(), Error> {
        let here = &self.parts[part];
        let is_held = !here.is_open && !here.is_over && !here.is_changed && !here.added.is_empty();
        if self.open == OpenItem::Message && is_held {
            self.open_message(Some(part), here.index, writer)?;
        }
        Ok(())
    }

    /// Writes an event that was held, or once more.
    fn replay(&self, raw: &[u8], content: Option<u64>, writer: &mut EventWriter<'_>) -> Result<(), Error> {
        if raw.is_empty() {
            return Ok(());
        }
        let mut event = Event::new();
        event.read(raw)?;
        let event = EventPart { raw, part: 0..raw.len(), event: &event };
        let fields = Fields::read(event.data());
        if self.pair > 1 {
            writer.outgoing.added += 1;
            writer.outgoing.renumbers = true;
        }
        self.pass(&event, &fields, content, writer)
    }

    /// Writes an event of the server, whose changes may have been noted, with the place of the open message.
    pub fn pass(
        &self,
        event: &EventPart<'_>,
        fields: &Fields,
        content: Option<u64>,
        writer: &mut EventWriter<'_>,
    ) -> Result<(), Error> {
        let data = event.data();
        let (edits, target) = (&mut *writer.edits, self.target());
        if let Some(index) = &fields.output_index
            && index.number(data) != Some(target.out)
        {
            put_number(edits, data, &index.value, target.out)?;
        }
        if let (Some(content), Some(index)) = (content, &fields.content_index) {
            let place = content.saturating_sub(self.left_out);
            if index.number(data) != Some(place) {
                put_number(edits, data, &index.value, place)?;
            }
        }
        let id = match (fields.kind, &fields.item) {
            (Kind::ItemAdded, Some(item)) => Object::read(data, item.clone()).id,
            _ => fields.item_id.clone(),
        };
        if let Some(id) = id.filter(|id| target.pair > 1 && inside(data, id) == target.id) {
            put_string(edits, data, &id, |out| target.write_id("", out))?;
        }
        Ok(writer.outgoing.pass(event, fields, edits, None, writer.out)?)
    }

    /// Returns whether it was thinking, and no message has gone out for it.
    pub fn is_thinking_alone(&self) -> bool {
        (self.has_reasoning || self.pair > 1) && !self.has_message
    }

    fn next_pair(&mut self) {
        self.pair += 1;
        (self.has_reasoning, self.has_message) = (false, false);
    }

    fn open_reasoning(&mut self, writer: &mut EventWriter<'_>) -> Result<(), Error> {
        if self.open == OpenItem::Reasoning {
            return Ok(());
        }
        self.close(b"\"completed\"", writer)?;
        if self.has_message || self.has_reasoning {
            self.next_pair();
        }
        self.has_reasoning = true;
        self.place = writer.outgoing.places.insert(self.index);
        self.begin_item(writer.outgoing);
        self.open = OpenItem::Reasoning;
        Ok(writer.outgoing.open_reasoning(self.target(), writer.out)?)
    }

    /// Closes the item that is open, with this status, which has its quotes.
    pub fn close(&mut self, status: &[u8], writer: &mut EventWriter<'_>) -> Result<(), Error> {
        match mem::replace(&mut self.open, OpenItem::Nothing) {
            OpenItem::Nothing => {}
            OpenItem::Reasoning => {
                self.count_cut(3, writer.outgoing);
                let target = Target { out: self.place, id: &self.id, pair: self.pair };
                writer.outgoing.close_reasoning(target, &self.text, status, writer.out)?;
            }
            OpenItem::Message => self.close_message(status, writer)?,
            OpenItem::Call => {
                self.count_cut(2, writer.outgoing);
                let call = mem::take(&mut self.call);
                writer.outgoing.close_call(self.place, &call.id, &call.name, &self.text, writer.out)?;
            }
        }
        self.begin_item(writer.outgoing);
        Ok(())
    }

    /// Closes the open message before the server does.
    fn close_message(&mut self, status: &[u8], writer: &mut EventWriter<'_>) -> Result<(), Error> {
        let target = Target { out: self.place, id: &self.id, pair: self.pair };
        let mut cut = u64::from(self.is_done_cut && !self.is_cut);
        for part in self.parts.iter_mut().filter(|part| part.is_open) {
            part.is_open = false;
            if part.is_over {
                continue;
            }
            cut += if self.is_cut { 3 } else { 0 };
            let mut event = Event::new();
            event.read(&part.added)?;
            let data = event.data(&part.added);
            let has_logprobs = part.has_logprobs
                || Fields::read(data).part.is_some_and(|at| Object::read(data, at).logprobs.is_some());
            let place = |out: &mut Vec<u8>| {
                append(out, b",\"item_id\":")?;
                target.write_id("", out)?;
                write_index(b",\"output_index\":", target.out, out)?;
                write_index(b",\"content_index\":", part.index.saturating_sub(self.left_out), out)
            };
            writer.outgoing.add("response.output_text.done", writer.out, |out| {
                place(out)?;
                write_text(b",\"text\":", &self.text, out)?;
                append(out, if has_logprobs { b",\"logprobs\":[]" } else { b"" })
            })?;
            let mut json = Vec::new();
            write_part(data, &self.text, &part.annotations, &mut json)?;
            writer.outgoing.add("response.content_part.done", writer.out, |out| {
                place(out)?;
                append_all(out, &[b",\"part\":", &json])
            })?;
            let comma = if self.done.is_empty() { &b""[..] } else { b"," };
            append_all(&mut self.done, &[comma, &json])?;
        }
        writer.outgoing.truncated += cut;
        let mut event = Event::new();
        event.read(&self.added)?;
        let data = event.data(&self.added);
        let item = Fields::read(data).item.map(|at| Object::read(data, at)).unwrap_or_default();
        let mut edits = Edits::default();
        if let Some(id) = &item.id {
            edits.replace(id.clone(), |out| target.write_id("", out))?;
        }
        if let Some(at) = item.status {
            edits.replace(at, |out| append(out, status))?;
        }
        if let Some(content) = item.content {
            edits.replace(content, |out| append_all(out, &[b"[", &self.done, b"]"]))?;
        }
        writer.outgoing.add("response.output_item.done", writer.out, |out| {
            write_index(b",\"output_index\":", target.out, out)?;
            append(out, b",\"item\":")?;
            edits.apply(data, item.whole, Span::clone, out)
        })?;
        writer.outgoing.forget(&mut self.done);
        Ok(())
    }

    /// Writes thinking: in the event of the server, if that carries it.
    pub fn reasoning(
        &mut self,
        part: usize,
        text: &[u8],
        carrier: Option<&Carrier<'_>>,
        writer: &mut EventWriter<'_>,
    ) -> Result<(), Error> {
        let is_new = self.open != OpenItem::Reasoning;
        self.open_reasoning(writer)?;
        self.note(ItemKind::Reasoning, self.parts[part].index, text.len(), is_new)?;
        self.keep(text, writer.outgoing)?;
        let target = self.target();
        let Some(Carrier { event, fields, .. }) = carrier else {
            return Ok(writer.outgoing.reasoning(target, text, writer.out)?);
        };
        let Fields { name: Some(name), item_id: Some(id), delta: Some(delta), .. } = fields else {
            return Ok(writer.outgoing.reasoning(target, text, writer.out)?);
        };
        let (Some(index), Some(content)) = (&fields.output_index, &fields.content_index) else {
            return Ok(writer.outgoing.reasoning(target, text, writer.out)?);
        };
        let (data, edits, kind) = (event.data(), &mut *writer.edits, writer.outgoing.reasoning_delta());
        put_string(edits, data, name, |out| append_all(out, &[b"\"", kind.as_bytes(), b"\""]))?;
        put_string(edits, data, id, |out| target.write_id("rs_", out))?;
        put_number(edits, data, &index.value, target.out)?;
        if writer.outgoing.is_summary {
            let name = writer.outgoing.reasoning_index().as_bytes();
            put_string(edits, data, &content.key, |out| append_all(out, &[b"\"", name, b"\""]))?;
        }
        if content.number(data) != Some(0) {
            put_number(edits, data, &content.value, 0)?;
        }
        put_string(edits, data, delta, |out| write_text(b"", text, out))?;
        if let Some(logprobs) = &fields.logprobs {
            remove(edits, data, logprobs)?;
        }
        writer.outgoing.renumbers = true;
        Ok(writer.outgoing.pass(event, fields, edits, Some(kind), writer.out)?)
    }

    /// Writes content: in the event of the server, if that carries it.
    pub fn content(
        &mut self,
        part: usize,
        text: &[u8],
        carrier: Option<&Carrier<'_>>,
        writer: &mut EventWriter<'_>,
    ) -> Result<(), Error> {
        let index = self.parts[part].index;
        self.open_message(Some(part), index, writer)?;
        self.note(ItemKind::Message, index, text.len(), false)?;
        self.keep(text, writer.outgoing)?;
        self.parts[part].item_chars += chars(text);
        if let Some(Carrier { event, fields, is_same }) = carrier
            && let Some(delta) = &fields.delta
        {
            self.parts[part].has_logprobs |= fields.logprobs.is_some();
            if !is_same {
                put_string(writer.edits, event.data(), delta, |out| write_text(b"", text, out))?;
            }
            return self.pass(event, fields, Some(index), writer);
        }
        let (target, has_logprobs) = (self.target(), self.parts[part].has_logprobs);
        let content = index.saturating_sub(self.left_out);
        Ok(writer.outgoing.add("response.output_text.delta", writer.out, |out| {
            append(out, b",\"item_id\":")?;
            target.write_id("", out)?;
            write_index(b",\"output_index\":", target.out, out)?;
            write_index(b",\"content_index\":", content, out)?;
            write_text(b",\"delta\":", text, out)?;
            append(out, if has_logprobs { b",\"logprobs\":[]" } else { b"" })
        })?)
    }

    /// Opens the item of a call. `number` tells its id from another's.
    pub fn open_call(
        &mut self,
        part: usize,
        id: Vec<u8>,
        name: &[u8],
        number: u64,
        writer: &mut EventWriter<'_>,
    ) -> Result<(), Error> {
        self.close(b"\"completed\"", writer)?;
        self.call = OpenCall { id, name: memory::copy(name)? };
        self.place = writer.outgoing.places.insert(self.index);
        self.open = OpenItem::Call;
        self.note(ItemKind::Call(number), self.parts[part].index, 0, true)?;
        Ok(writer.outgoing.open_call(self.place, &self.call.id, name, writer.out)?)
    }

    /// Writes arguments of the call that is open.
    pub fn arguments(&mut self, text: &[u8], writer: &mut EventWriter<'_>) -> Result<(), Error> {
        self.keep(text, writer.outgoing)?;
        Ok(writer.outgoing.arguments(self.place, &self.call.id, text, writer.out)?)
    }

    /// Returns whether the start of this part stands in the message that is open.
    pub fn is_part_open(&self, part: usize) -> bool {
        self.open == OpenItem::Message && self.parts[part].is_open
    }

    /// Returns how much content of a part went out before the open item.
    pub fn len_before(&self, part: usize) -> usize {
        let index = self.parts[part].index;
        let pieces = self.pieces.iter().flatten();
        pieces
            .filter(|piece| piece.part == index && piece.kind == ItemKind::Message && piece.out != self.place)
            .map(|piece| piece.len)
            .sum()
    }

    /// Returns the text of the open part, and counts that some of it is missing in an event.
    pub fn text_of_open(&self, outgoing: &mut Outgoing) -> &[u8] {
        self.count_cut(1, outgoing);
        &self.text
    }

    /// Keeps the JSON of a part of the open message that is over.
    pub fn keep_done(&mut self, json: &[u8], outgoing: &mut Outgoing) -> memory::Result<()> {
        self.is_done_cut |= !outgoing.keep_whole(&mut self.done, json)?;
        Ok(())
    }

    /// Takes the text of a part that comes as a whole, and only so.
    pub fn take_whole(&mut self, part: usize, said: &[u8], writer: &mut EventWriter<'_>) -> Result<(), Error> {
        let index = self.parts[part].index;
        self.open_message(Some(part), index, writer)?;
        self.note(ItemKind::Message, index, said.len(), false)?;
        self.parts[part].item_chars += chars(said);
        self.keep(said, writer.outgoing).map_err(Into::into)
    }

    /// Notes the changes of the item that says the open message again, if it is not remembered what has become of its text.
    pub fn put_done(&self, data: &[u8], item: &Object, edits: &mut Edits) -> memory::Result<()> {
        if let Some(id) = &item.id {
            put_string(edits, data, id, |out| self.target().write_id("", out))?;
        }
        if let Some(content) = &item.content {
            put(edits, data, content.clone(), |out| append_all(out, &[b"[", &self.done, b"]"]))?;
        }
        Ok(())
    }

    /// Ends a part of the open message. Its text is not needed any more.
    pub fn end_part(&mut self, part: usize, outgoing: &mut Outgoing) {
        let is_open = self.is_part_open(part);
        self.parts[part].is_over = true;
        if self.open == OpenItem::Message && !is_open {
            // The parts after it move up.
            self.left_out += 1;
        }
        if is_open {
            self.begin_item(outgoing);
        }
    }

    /// Notes that something other than text goes into the open message. An event of a text that is over is not.
    pub fn note_verbatim(&mut self, content: u64) -> memory::Result<()> {
        let is_text = self.parts.iter().any(|part| part.index == content);
        if is_text || self.has_verbatim(content) { Ok(()) } else { self.note(ItemKind::Verbatim, content, 0, true) }
    }

    /// Returns whether something other than text has come of a part, as far as that is remembered.
    pub fn has_verbatim(&self, content: u64) -> bool {
        let is_it = |piece: &Piece| piece.kind == ItemKind::Verbatim && piece.part == content;
        self.pieces.as_ref().is_none_or(|pieces| pieces.iter().rev().any(is_it))
    }

    /// Ends it. What is needed where its text comes again stays.
    pub fn end(&mut self, outgoing: &mut Outgoing) {
        outgoing.forget(&mut self.text);
        outgoing.forget(&mut self.done);
        outgoing.forget(&mut self.added);
        for part in &mut self.parts {
            outgoing.forget(&mut part.added);
            outgoing.forget(&mut part.annotations);
            part.empty.iter_mut().for_each(|empty| outgoing.forget(empty));
            (part.empty, part.text) = (Vec::new(), None);
        }
        (self.is_over, self.is_reserved, self.open) = (true, false, OpenItem::Nothing);
    }

    /// Writes an annotation, if it is of the open message.
    pub fn annotate(
        &mut self,
        part: usize,
        event: &EventPart<'_>,
        fields: &Fields,
        writer: &mut EventWriter<'_>,
    ) -> Result<bool, Error> {
        if !self.is_part_open(part) {
            return Ok(false);
        }
        let data = event.data();
        let Some(at) = &fields.annotation else { return Ok(false) };
        let here = &mut self.parts[part];
        let held = here.text.as_ref().map_or(0, |text| chars(text.scanner.held()));
        let before = here.chars.saturating_sub(held + here.item_chars);
        let mut json = Vec::new();
        let is_kept = Annotations::Before(before).write(data, at.clone(), &mut json)?;
        if !is_kept {
            return Ok(false);
        }
        writer.outgoing.keep_whole(&mut here.annotations, &json)?;
        if json != data[at.clone()] {
            put(writer.edits, data, at.clone(), |out| append(out, &json))?;
        }
        if let Some(index) = &fields.annotation_index
            && here.is_changed
        {
            put_number(writer.edits, data, &index.value, here.annotated)?;
        }
        here.annotated += 1;
        let index = here.index;
        self.pass(event, fields, Some(index), writer)?;
        Ok(true)
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
    has_room &= outgoing.keep(held, &event.raw[event.part.clone()])?;
    if !has_room {
        outgoing.forget(held);
    }
    Ok(has_room)
}

/// Writes a text part that is over, like the one that an event began.
fn write_part(data: &[u8], text: &[u8], annotations: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    let Some(part) = Fields::read(data).part.map(|at| Object::read(data, at)) else {
        append_all(out, &[b"{\"type\":\"output_text\",\"annotations\":[", annotations, b"]"])?;
        write_text(b",\"text\":", text, out)?;
        return append(out, b"}");
    };
    let mut edits = Edits::default();
    if let Some(at) = part.text {
        edits.replace(at, |out| write_text(b"", text, out))?;
    }
    if let Some(at) = part.annotations {
        edits.replace(at, |out| append_all(out, &[b"[", annotations, b"]"]))?;
    }
    edits.apply(data, part.whole, Span::clone, out)
}
