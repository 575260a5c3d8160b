//! Removes the thinking from the output, for hosts that send none. This is the last step, so the earlier steps do not depend on it:
//! they split, promote, label and number in the same way with it and without it. Blocks of Messages and items of Responses move up,
//! since clients take their indexes for places in a list.

use std::mem;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;

use super::choices::{Layout, REASONING, says};
use super::event::{Event, EventFramer, EventPart, OwedLineFeed, split_mark};
use super::format::Format;
use super::messages;
use super::normalise::Thinking;
use super::options::{Formats, Options};
use super::responses;
use crate::Error;
use crate::json::{Edits, Span, decimal, members, objects, values};
use crate::memory::{self, TryBox, append, push};

/// The most hidden indexes that are remembered one by one.
const MOST: usize = 1024;

/// The types of thinking in Messages, of blocks and of their deltas.
const THINKING: [&[u8]; 2] = [b"\"thinking\"", b"\"redacted_thinking\""];
const THINKING_DELTAS: [&[u8]; 2] = [b"\"thinking_delta\"", b"\"signature_delta\""];

/// The types of parts of reasoning items in Responses.
const REASONING_PARTS: [&[u8]; 2] = [b"\"reasoning_text\"", b"\"summary_text\""];

/// Texts that an event has if it must be changed: names of thinking in all formats, types of Messages events with an index, and
/// escapes that names may contain. Without them, an event stays unchanged as long as nothing of its response was hidden.
const SIGNS: [&str; 7] =
    ["reasoning", "thinking", "content_block", "message_start", "signature_delta", "summary_text", "\\u"];
static FIND_SIGNS: LazyLock<[Finder<'_>; 7]> = LazyLock::new(|| SIGNS.map(Finder::new));

/// Reads an event or a line.
type Read = fn(&mut Event, &[u8]) -> Result<(), Error>;

/// Removes the thinking from the events, lines and bodies of a host's streams.
pub struct Hider {
    formats: Formats,
    /// The hidden blocks of a message, and the hidden items of a response.
    blocks: Hidden,
    items: Hidden,
    /// The index after the highest one that a block has had.
    next_block: u64,
    /// The number of events of the response that were left out.
    events: u64,
    /// Whether nothing has been written yet.
    fresh: bool,
    line_feed: OwedLineFeed,
    event: Event,
    edits: Edits,
    /// The bytes that an earlier step has written, while their thinking is removed.
    raw: Vec<u8>,
}

/// The indexes of hidden entries of a list.
#[derive(Default)]
struct Hidden {
    indexes: Vec<u64>,
    /// The number of hidden indexes that are not in `indexes`, all of them lower.
    more: u64,
}

impl Hidden {
    fn add(&mut self, index: u64) -> memory::Result<()> {
        if self.has(index) {
            return Ok(());
        }
        if self.indexes.len() == MOST {
            self.indexes.remove(0);
            self.more += 1;
        }
        push(&mut self.indexes, index)
    }

    /// Notes that an entry with this index is not hidden, because some servers use an index twice.
    fn remove(&mut self, index: u64) {
        self.indexes.retain(|hidden| *hidden != index);
    }

    fn has(&self, index: u64) -> bool {
        self.indexes.contains(&index)
    }

    /// Returns the index that an entry is sent with: lower by the number of hidden entries before it.
    fn moved(&self, index: u64) -> u64 {
        let before = self.indexes.iter().filter(|hidden| **hidden < index).count() as u64;
        index.saturating_sub(before + self.more)
    }
}

impl Hider {
    /// Returns the object that hides the thinking, if requested.
    pub fn new(options: &Options) -> memory::Result<TryBox<Hider>> {
        if options.thinking == Thinking::Keep { Ok(TryBox::NONE) } else { TryBox::new(Hider::of(options.formats)) }
    }

    fn of(formats: Formats) -> Hider {
        Hider {
            formats,
            blocks: Hidden::default(),
            items: Hidden::default(),
            next_block: 0,
            events: 0,
            fresh: true,
            line_feed: OwedLineFeed::default(),
            event: Event::new(),
            edits: Edits::default(),
            raw: Vec::new(),
        }
    }

    pub fn begin_stream(&mut self) {
        *self = Hider::of(self.formats);
    }

    /// Removes the thinking from the events in `out`, from `start` on.
    pub fn events(&mut self, start: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let raw = self.take(start, out)?;
        let is_first = !raw.is_empty() && mem::take(&mut self.fresh);
        let (mark, mut rest) = split_mark(&raw, is_first);
        append(out, mark)?;
        while !rest.is_empty() {
            let len = { EventFramer::START }.end(rest).unwrap_or(rest.len());
            let (one, after) = rest.split_at(len);
            self.one(one, Event::read, out)?;
            rest = after;
        }
        self.raw = raw;
        Ok(())
    }

    /// Removes the thinking from the lines in `out`, from `start` on.
    pub fn lines(&mut self, start: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let raw = self.take(start, out)?;
        let mut rest = &raw[..];
        while !rest.is_empty() {
            let len = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at(len);
            self.one(line, Event::read_data, out)?;
            rest = after;
        }
        self.raw = raw;
        Ok(())
    }

    /// Removes the thinking from the body in `out`, from `start` on.
    pub fn body(&mut self, start: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let raw = self.take(start, out)?;
        match Format::of(&raw, self.formats) {
            Some(Format::Messages) => self.list(&raw, &[b"content"], is_thinking)?,
            Some(Format::Responses) => self.list(&raw, &[b"output"], is_reasoning)?,
            Some(format) => self.choices(&raw, format)?,
            None => {}
        }
        self.edits.apply(&raw, 0..raw.len(), Span::clone, out)?;
        self.edits.clear();
        self.raw = raw;
        Ok(())
    }

    /// Moves the written bytes from the output to `raw`.
    fn take(&mut self, start: usize, out: &mut Vec<u8>) -> memory::Result<Vec<u8>> {
        let mut raw = mem::take(&mut self.raw);
        memory::clear(&mut raw);
        self.edits.clear();
        append(&mut raw, &out[start..])?;
        out.truncate(start);
        Ok(raw)
    }

    /// Writes an event or a line without its thinking, or nothing if nothing else is in it.
    fn one(&mut self, raw: &[u8], read: Read, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.line_feed.is(raw) {
            return Ok(());
        }
        if !self.may_change(raw) {
            return Ok(append(out, raw)?);
        }
        read(&mut self.event, raw)?;
        let event = mem::replace(&mut self.event, Event::new());
        let part = EventPart { raw, part: 0..raw.len(), event: &event };
        let data = part.data();
        let stays = match Format::of(data, self.formats) {
            Some(Format::Messages) => self.message_event(&part, out)?,
            Some(Format::Responses) => self.response_event(data)?,
            Some(format) => self.choices(data, format).map(|()| true)?,
            None => true,
        };
        if stays {
            part.write(&mut self.edits, out)?;
        } else {
            self.line_feed.leave_out(raw);
        }
        self.edits.clear();
        self.event = event;
        Ok(())
    }

    /// Returns whether an event or a line must be read, because it may have thinking, or numbers that must be changed.
    fn may_change(&self, raw: &[u8]) -> bool {
        let has_hidden_items = self.events > 0 || !self.items.indexes.is_empty();
        has_hidden_items || FIND_SIGNS.iter().any(|sign| sign.find(raw).is_some())
    }

    /// Returns whether an event of Messages is sent. If a server adds text to a thinking block, the start of a new block for
    /// the text is written to `out`.
    fn message_event(&mut self, event: &EventPart<'_>, out: &mut Vec<u8>) -> Result<bool, Error> {
        use messages::Kind;
        let data = event.data();
        let fields = messages::Fields::read(data);
        let Some((index, at)) = &fields.index else {
            if fields.kind == Kind::MessageStart {
                (self.blocks, self.next_block) = (Hidden::default(), 0);
                self.list(data, &[b"message", b"content"], is_thinking)?;
            }
            return Ok(true);
        };
        let is_new = *index >= self.next_block;
        self.next_block = self.next_block.max(index.saturating_add(1));
        let is_any = |kinds: &[&[u8]]| kinds.iter().any(|kind| fields.part.is(data, kind));
        let has_text = fields.added().is_some_and(|text| text.len() > 2);
        match fields.kind {
            Kind::BlockStart if is_any(&THINKING) => self.blocks.add(*index)?,
            Kind::BlockStart => self.blocks.remove(*index),
            Kind::BlockDelta if is_any(&THINKING_DELTAS) => {
                // The server may have left out the start of the block.
                if is_new {
                    self.blocks.add(*index)?;
                }
                return Ok(false);
            }
            Kind::BlockDelta if has_text && self.blocks.has(*index) => {
                self.blocks.remove(*index);
                let is_named = !event.name().is_empty();
                messages::write_text_start(self.blocks.moved(*index), is_named, event.event.line_end, out)?;
            }
            _ => {}
        }
        if self.blocks.has(*index) {
            return Ok(false);
        }
        self.put_number(at.clone(), *index, self.blocks.moved(*index))?;
        Ok(true)
    }

    /// Returns whether an event of Responses is sent.
    fn response_event(&mut self, data: &[u8]) -> Result<bool, Error> {
        use responses::Kind;
        let fields = responses::Fields::read(data);
        if fields.kind == Kind::Created {
            (self.items, self.events) = (Hidden::default(), 0);
        }
        if let Some(index) = responses::Fields::number(&fields.output_index, data) {
            let is_item = fields.item.clone().is_some_and(|item| is_reasoning(data, item));
            let is_part = fields.part.clone().is_some_and(|part| is_of(data, part, &REASONING_PARTS));
            match fields.kind {
                Kind::ItemAdded if is_item => self.items.add(index)?,
                Kind::PartAdded | Kind::PartDone if is_part => self.items.add(index)?,
                Kind::Reasoning => self.items.add(index)?,
                Kind::ItemAdded | Kind::TextDelta => self.items.remove(index),
                _ => {}
            }
            if self.items.has(index) {
                self.events += 1;
                return Ok(false);
            }
            if let Some(member) = &fields.output_index {
                self.put_number(member.value.clone(), index, self.items.moved(index))?;
            }
        }
        if let (Some(number), Some(member)) = (responses::Fields::number(&fields.sequence, data), &fields.sequence) {
            self.put_number(member.value.clone(), number, number.saturating_sub(self.events))?;
        }
        self.list(data, &[b"response", b"output"], is_reasoning)?;
        Ok(true)
    }

    fn put_number(&mut self, at: Span, old: u64, new: u64) -> memory::Result<()> {
        if old == new {
            return Ok(());
        }
        self.edits.put(at, &[decimal(new, &mut [0; 20]).as_bytes()])
    }

    /// Removes the values that are thinking from the list at the end of a path of members.
    fn list(&mut self, data: &[u8], path: &[&[u8]], is_thinking: fn(&[u8], Span) -> bool) -> Result<(), Error> {
        let mut at = 0..data.len();
        for &key in path {
            let mut found = None;
            members(data, at, |name, _, value| {
                if name == key {
                    found = Some(value);
                }
            });
            let Some(value) = found else { return Ok(()) };
            at = value;
        }
        if data[at.start] != b'[' {
            return Ok(());
        }
        let values = listed(data, at)?;
        Ok(self.edits.remove(&values, |at| is_thinking(data, values[at].clone()))?)
    }

    /// Removes the thinking from the choices of a chunk, a line or a body.
    fn choices(&mut self, data: &[u8], format: Format) -> Result<(), Error> {
        let Some(layout) = Layout::of(format) else { return Ok(()) };
        let mut done = Ok(());
        let mut choice = |choice: Span| {
            if layout.part.is_empty() {
                done = self.text(data, choice, layout);
                return;
            }
            // A chunk may have a `message` next to its delta.
            members(data, choice, |name, _, value| {
                let is_text = (name == layout.part || name == layout.whole_part) && data[value.start] == b'{';
                if is_text && done.is_ok() {
                    done = self.text(data, value, layout);
                }
            });
        };
        if !layout.has_list {
            choice(0..data.len());
            return done;
        }
        members(data, 0..data.len(), |name, _, value| {
            if name == b"choices" {
                objects(data, value, &mut choice);
            }
        });
        done
    }

    /// Removes the thinking from the object that has the text of a choice.
    fn text(&mut self, data: &[u8], object: Span, layout: &Layout) -> Result<(), Error> {
        let (mut spans, mut thinking, mut content, mut memory) = (Vec::new(), Vec::new(), None, Ok(()));
        let mut has_calls = false;
        members(data, object, |name, key, value| {
            let says = says(data, &value);
            if memory.is_ok() && REASONING.contains(&name) && says {
                memory = push(&mut thinking, spans.len());
            }
            if name == layout.text.as_bytes() {
                content = Some(value.clone());
            }
            has_calls |= says && matches!(name, b"tool_calls" | b"function_call");
            if memory.is_ok() {
                memory = push(&mut spans, key.start..value.end);
            }
        });
        memory?;
        let list = content.clone().filter(|content| data[content.start] == b'[');
        if let Some(list) = list {
            let parts = listed(data, list.clone())?;
            let is_thinking = |at: usize| is_thinking(data, parts[at].clone());
            match (0..parts.len()).all(is_thinking) {
                true if !parts.is_empty() => self.edits.put(list, &[b"\"\""])?,
                _ => self.edits.remove(&parts, is_thinking)?,
            }
        }
        let Some(&first) = thinking.first() else { return Ok(()) };
        let mut thinking = &thinking[..];
        match content {
            // An answer of thinking alone gets empty content, like an answer of a model that does not think.
            Some(content) if data[content.clone()] == *b"null" && !has_calls => self.edits.put(content, &[b"\"\""])?,
            None if !has_calls => {
                self.edits.put(spans[first].clone(), &[b"\"", layout.text.as_bytes(), b"\":\"\""])?;
                thinking = &thinking[1..];
            }
            _ => {}
        }
        Ok(self.edits.remove(&spans, |at| thinking.contains(&at))?)
    }
}

/// Lists the values of an array.
fn listed(data: &[u8], array: Span) -> memory::Result<Vec<Span>> {
    let (mut list, mut memory) = (Vec::new(), Ok(()));
    values(data, array, |value| {
        if memory.is_ok() {
            memory = push(&mut list, value);
        }
    });
    memory.map(|()| list)
}

/// Returns whether a block of Messages, or a part of content that is a list, is thinking.
fn is_thinking(data: &[u8], value: Span) -> bool {
    is_of(data, value, &THINKING)
}

/// Returns whether an item of Responses is reasoning.
fn is_reasoning(data: &[u8], value: Span) -> bool {
    is_of(data, value, &[b"\"reasoning\""])
}

fn is_of(data: &[u8], value: Span, kinds: &[&[u8]]) -> bool {
    let mut is = false;
    members(data, value, |name, _, value| {
        if name == b"type" {
            is = kinds.contains(&&data[value]);
        }
    });
    is
}
