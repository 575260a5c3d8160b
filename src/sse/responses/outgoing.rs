//! The output: it numbers the events, and writes events that the server itself does not send.

use super::changes::put_number;
use super::fields::Fields;
use super::places::Places;
use crate::answer::ids::Taken;
use crate::call_writer::Tools;
use crate::json::{self, Edits, Span, decimal, escape};
use crate::memory::{self, append, append_all};
use crate::sse::event::EventPart;
use crate::sse::options::{Options, ResponsesAs};

/// The largest buffer that a finished text leaves for the next text.
const KEPT: usize = 4096;

/// The item for a text: its index, the id of its message, and the number of its pair of items.
#[derive(Clone, Copy)]
pub struct ItemTarget<'a> {
    pub out: u64,
    pub id: &'a [u8],
    pub pair: u64,
}

impl ItemTarget<'_> {
    /// Writes an id as a JSON string, quotes included.
    pub fn write_id(&self, prefix: &str, out: &mut Vec<u8>) -> memory::Result<()> {
        append_all(out, &[b"\"", prefix.as_bytes(), self.id])?;
        if self.pair > 1 {
            append_all(out, &[b"_", decimal(self.pair, &mut [0; 20]).as_bytes()])?;
        }
        append(out, b"\"")
    }
}

/// The name of a call's tool, as the client has listed it.
#[derive(Clone, Copy)]
pub struct Name<'a> {
    namespace: Option<&'a [u8]>,
    own: &'a [u8],
}

impl<'a> Name<'a> {
    /// Returns the name of the tool that is called `flat` in the answer.
    pub fn of(flat: &'a [u8], tools: Option<&Tools>) -> Name<'a> {
        let split = tools.and_then(|tools| tools.in_namespace(str::from_utf8(flat).ok()?));
        match split {
            Some((namespace, own)) => Name { namespace: Some(namespace.as_bytes()), own: own.as_bytes() },
            None => Name { namespace: None, own: flat },
        }
    }
}

/// The state of the output for one response: indexes of items, numbers of events, and the server's way of writing them.
pub struct Outgoing {
    pub is_summary: bool,
    /// Whether items of thinking are left out of a stream.
    pub drops_thinking: bool,
    /// The beginning of the ids of reasoning items.
    pub prefix: &'static str,
    pub places: Places,
    /// The ids of calls that have been sent.
    pub ids: Taken,
    /// The number of texts that have begun.
    pub texts: u64,
    /// The number of events that were written in addition to those of the server.
    pub added: u64,
    /// The number of events that lack text because the text was not kept.
    pub truncated: u64,
    /// The number of the next event, if the server numbers its events.
    next: Option<u64>,
    /// Whether the server's numbers must be replaced.
    pub renumbers: bool,
    is_named: bool,
    pub line_end: &'static [u8],
    /// Whether no events are written, because only the closed items are wanted.
    pub is_silent: bool,
    /// The maximum number of bytes that are kept, and the number of bytes that are kept now.
    max_kept: usize,
    kept: usize,
}

impl Outgoing {
    pub fn new(options: &Options) -> Outgoing {
        let max_kept = options.max_event_bytes();
        let prefix = if options.label { "rs_aside_1_" } else { "rs_" };
        Outgoing::of(options.responses_as == ResponsesAs::Summary, options.drops_thinking(), prefix, max_kept)
    }

    fn of(is_summary: bool, drops_thinking: bool, prefix: &'static str, max_kept: usize) -> Outgoing {
        Outgoing {
            is_summary,
            drops_thinking,
            prefix,
            places: Places::default(),
            ids: Taken::default(),
            texts: 0,
            added: 0,
            truncated: 0,
            next: None,
            renumbers: false,
            is_named: false,
            line_end: b"\n",
            is_silent: false,
            max_kept,
            kept: 0,
        }
    }

    /// Returns the state at the start of another stream, with the same settings.
    pub fn fresh(&self) -> Outgoing {
        Outgoing::of(self.is_summary, self.drops_thinking, self.prefix, self.max_kept)
    }

    /// Forgets the items of a response. The count of events continues.
    pub fn end_response(&mut self) {
        (self.places, self.ids, self.texts, self.kept) = (Places::default(), Taken::default(), 0, 0);
    }

    /// Notes how the server writes its events.
    pub fn see(&mut self, event: &EventPart<'_>, fields: &Fields) {
        self.is_named = !event.name().is_empty();
        self.line_end = event.event.line_end;
        if self.next.is_none() {
            self.next = Fields::number(&fields.sequence, event.data());
        }
    }

    /// Returns the number that an event gets in place of the server's number `own`.
    fn number(&mut self, own: u64) -> u64 {
        let number = self.next.filter(|_| self.renumbers).unwrap_or(own);
        self.next = Some(number.saturating_add(1));
        number
    }

    /// Adds as much of `more` to the kept text as there is room for. Returns whether all of it fitted.
    pub fn keep(&mut self, text: &mut Vec<u8>, more: &[u8]) -> memory::Result<bool> {
        let len = self.take_room(more);
        append(text, &more[..len])?;
        Ok(len == more.len())
    }

    /// Counts a text that is kept elsewhere. Returns the number of its bytes that fit.
    pub fn take_room(&mut self, text: &[u8]) -> usize {
        let mut len = text.len().min(self.room());
        while len > 0 && len < text.len() && text[len] & 0xC0 == 0x80 {
            len -= 1;
        }
        self.kept += len;
        len
    }

    /// Counts JSON that is kept elsewhere. Returns whether there was room for it.
    pub fn keep_room(&mut self, len: usize) -> bool {
        let has_room = len <= self.room();
        self.kept += if has_room { len } else { 0 };
        has_room
    }

    /// Returns the number of bytes that may still be kept. There is no limit for a list of items, because the list itself is in memory
    /// too.
    fn room(&self) -> usize {
        if self.is_silent { usize::MAX } else { self.max_kept.saturating_sub(self.kept) }
    }

    /// Adds JSON to the kept list, if there is room for all of it. Returns whether there was room.
    pub fn keep_whole(&mut self, list: &mut Vec<u8>, json: &[u8]) -> memory::Result<bool> {
        let comma = if list.is_empty() { &b""[..] } else { b"," };
        let has_room = self.keep_room(comma.len() + json.len());
        if has_room {
            append_all(list, &[comma, json])?;
        }
        Ok(has_room)
    }

    /// Frees the room of a kept text.
    pub fn free_room(&mut self, len: usize) {
        self.kept = self.kept.saturating_sub(len);
    }

    /// Clears a kept text and frees its room.
    pub fn forget(&mut self, text: &mut Vec<u8>) {
        self.free_room(text.len());
        text.clear();
        if text.capacity() > KEPT {
            *text = Vec::new();
        }
    }

    /// Writes an event that the server has not sent. `rest` writes the members after the type and the number.
    pub fn add(
        &mut self,
        kind: &str,
        out: &mut Vec<u8>,
        rest: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        if self.is_silent {
            return Ok(());
        }
        self.renumbers = true;
        self.added += 1;
        self.write(kind, out, rest)?;
        self.next = self.next.map(|number| number.saturating_add(1));
        Ok(())
    }

    /// Returns an event that the server has left out, to be held as if it had arrived. It is empty if there is no room.
    pub fn left_out(
        &mut self,
        kind: &str,
        rest: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<Vec<u8>> {
        let (mut event, mut held) = (Vec::new(), Vec::new());
        self.write(kind, &mut event, rest)?;
        if self.keep(&mut held, &event)? {
            self.renumbers = true;
            self.added += 1;
        } else {
            self.forget(&mut held);
        }
        Ok(held)
    }

    /// Writes an event without a number, which is added when the event is sent.
    fn write(
        &self,
        kind: &str,
        out: &mut Vec<u8>,
        rest: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        if self.is_named {
            append_all(out, &[b"event: ", kind.as_bytes(), self.line_end])?;
        }
        append_all(out, &[b"data: {\"type\":\"", kind.as_bytes(), b"\""])?;
        if let Some(number) = self.next {
            append_all(out, &[b",\"sequence_number\":", decimal(number, &mut [0; 20]).as_bytes()])?;
        }
        let start = out.len();
        rest(out)?;
        json::join_lines(&mut out[start..]);
        append_all(out, &[b"}", self.line_end, self.line_end])
    }

    /// Writes an event of the server with its changes. With `kind`, the event gets that type.
    pub fn pass(
        &mut self,
        event: &EventPart<'_>,
        fields: &Fields,
        edits: &mut Edits,
        kind: Option<&str>,
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        let data = event.data();
        if let Some(sequence) = &fields.sequence
            && let Some(own) = sequence.number(data)
        {
            let number = self.number(own);
            if number != own {
                put_number(edits, data, &sequence.value, number)?;
            }
        }
        for (at, _) in &mut edits.list {
            *at = event.event.place(at);
        }
        let name = event.event.name.clone();
        if !name.is_empty() {
            let has_name = event.part.contains(&name.start);
            match kind {
                Some(kind) if has_name => edits.replace(name, |out| append(out, kind.as_bytes()))?,
                None if has_name => {}
                _ => {
                    let name = kind.map_or(event.name(), str::as_bytes);
                    append_all(out, &[b"event: ", name, event.event.line_end])?;
                }
            }
        }
        json::join_lines(&mut edits.text);
        edits.apply(event.raw, event.part.clone(), Span::clone, out)?;
        edits.clear();
        Ok(())
    }

    /// Opens an item for thinking.
    pub fn open_reasoning(&mut self, target: ItemTarget<'_>, out: &mut Vec<u8>) -> memory::Result<()> {
        let content = if self.is_summary { "" } else { ",\"content\":[]" };
        let prefix = self.prefix;
        self.add("response.output_item.added", out, |out| {
            write_index(b",\"output_index\":", target.out, out)?;
            append(out, b",\"item\":{\"id\":")?;
            target.write_id(prefix, out)?;
            append(out, b",\"type\":\"reasoning\",\"status\":\"in_progress\",\"summary\":[]")?;
            append_all(out, &[content.as_bytes(), b"}"])
        })?;
        let kind =
            if self.is_summary { "response.reasoning_summary_part.added" } else { "response.content_part.added" };
        self.of_reasoning(kind, target, out, |part, out| write_part(b",\"part\":", part, b"", out))
    }

    /// Writes thinking.
    pub fn reasoning(&mut self, target: ItemTarget<'_>, text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
        self.of_reasoning(self.reasoning_delta(), target, out, |_, out| write_text(b",\"delta\":", text, out))
    }

    /// Returns the type of a delta of thinking.
    pub fn reasoning_delta(&self) -> &'static str {
        if self.is_summary { "response.reasoning_summary_text.delta" } else { "response.reasoning_text.delta" }
    }

    /// Returns the name of the member with the index in a delta of thinking.
    pub fn reasoning_index(&self) -> &'static str {
        if self.is_summary { "summary_index" } else { "content_index" }
    }

    /// Closes an item of thinking that has this text. `item` is the item as JSON.
    pub fn close_reasoning(
        &mut self,
        target: ItemTarget<'_>,
        text: &[u8],
        item: &[u8],
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        let (text_done, part_done) = match self.is_summary {
            true => ("response.reasoning_summary_text.done", "response.reasoning_summary_part.done"),
            false => ("response.reasoning_text.done", "response.content_part.done"),
        };
        self.of_reasoning(text_done, target, out, |_, out| write_text(b",\"text\":", text, out))?;
        self.of_reasoning(part_done, target, out, |part, out| write_part(b",\"part\":", part, text, out))?;
        self.close(target.out, item, out)
    }

    /// Writes the event that closes an item.
    pub fn close(&mut self, at: u64, item: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
        self.add("response.output_item.done", out, |out| {
            write_index(b",\"output_index\":", at, out)?;
            append_all(out, &[b",\"item\":", item])
        })
    }

    fn of_reasoning(
        &mut self,
        kind: &str,
        target: ItemTarget<'_>,
        out: &mut Vec<u8>,
        rest: impl FnOnce(&str, &mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        let part = if self.is_summary { "summary_text" } else { "reasoning_text" };
        let (index, prefix) = (self.reasoning_index(), self.prefix);
        self.add(kind, out, |out| {
            append(out, b",\"item_id\":")?;
            target.write_id(prefix, out)?;
            write_index(b",\"output_index\":", target.out, out)?;
            append_all(out, &[b",\"", index.as_bytes(), b"\":0"])?;
            rest(part, out)
        })
    }

    /// Writes a message that repeats the thinking as content.
    pub fn promote(&mut self, target: ItemTarget<'_>, text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
        let place = |out: &mut Vec<u8>| {
            append(out, b",\"item_id\":")?;
            target.write_id("", out)?;
            write_index(b",\"output_index\":", target.out, out)?;
            append(out, b",\"content_index\":0")
        };
        self.add("response.output_item.added", out, |out| {
            write_index(b",\"output_index\":", target.out, out)?;
            append_all(out, &[b",\"item\":{\"id\":\"", target.id, b"\",\"type\":\"message\","])?;
            append(out, b"\"status\":\"in_progress\",\"content\":[],\"role\":\"assistant\"}")
        })?;
        self.add("response.content_part.added", out, |out| {
            place(out)?;
            append(out, b",\"part\":")?;
            write_promoted_part(b"", out)
        })?;
        self.add("response.output_text.delta", out, |out| {
            place(out)?;
            write_text(b",\"delta\":", text, out)?;
            append(out, b",\"logprobs\":[]")
        })?;
        self.add("response.output_text.done", out, |out| {
            place(out)?;
            write_text(b",\"text\":", text, out)?;
            append(out, b",\"logprobs\":[]")
        })?;
        self.add("response.content_part.done", out, |out| {
            place(out)?;
            append(out, b",\"part\":")?;
            write_promoted_part(text, out)
        })?;
        self.add("response.output_item.done", out, |out| {
            write_index(b",\"output_index\":", target.out, out)?;
            append(out, b",\"item\":")?;
            write_promoted(target.id, text, out)
        })
    }

    /// Opens the item of a call.
    pub fn open_call(&mut self, at: u64, id: &[u8], name: Name<'_>, out: &mut Vec<u8>) -> memory::Result<()> {
        self.add("response.output_item.added", out, |out| {
            write_index(b",\"output_index\":", at, out)?;
            append(out, b",\"item\":")?;
            write_call(id, name, b"", "in_progress", out)
        })
    }

    /// Writes arguments of a call.
    pub fn arguments(&mut self, at: u64, id: &[u8], text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
        self.add("response.function_call_arguments.delta", out, |out| {
            write_call_place(at, id, out)?;
            write_text(b",\"delta\":", text, out)
        })
    }

    /// Closes the item of a call. `item` is the item as JSON.
    pub fn close_call(
        &mut self,
        at: u64,
        id: &[u8],
        name: Name<'_>,
        arguments: &[u8],
        item: &[u8],
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        self.add("response.function_call_arguments.done", out, |out| {
            write_call_place(at, id, out)?;
            write_text(b",\"arguments\":", arguments, out)?;
            write_text(b",\"name\":", name.own, out)
        })?;
        self.close(at, item, out)
    }
}

/// Writes a message that repeats the thinking as content.
pub fn write_promoted(id: &[u8], text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    append_all(out, &[b"{\"id\":\"", id, b"\",\"type\":\"message\",\"status\":\"completed\",\"content\":["])?;
    write_promoted_part(text, out)?;
    append(out, b"],\"role\":\"assistant\"}")
}

fn write_promoted_part(text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    append(out, b"{\"type\":\"output_text\",\"annotations\":[]")?;
    write_text(b",\"text\":", text, out)?;
    append(out, b"}")
}

fn write_call_place(at: u64, id: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    append(out, b",\"item_id\":\"fc_")?;
    escape(id, out)?;
    append(out, b"\"")?;
    write_index(b",\"output_index\":", at, out)
}

/// Writes the item of a call.
pub fn write_call(id: &[u8], name: Name<'_>, arguments: &[u8], status: &str, out: &mut Vec<u8>) -> memory::Result<()> {
    append(out, b"{\"id\":\"fc_")?;
    escape(id, out)?;
    append_all(out, &[b"\",\"type\":\"function_call\",\"status\":\"", status.as_bytes(), b"\""])?;
    write_text(b",\"arguments\":", arguments, out)?;
    write_text(b",\"call_id\":", id, out)?;
    write_text(b",\"name\":", name.own, out)?;
    if let Some(namespace) = name.namespace {
        write_text(b",\"namespace\":", namespace, out)?;
    }
    append(out, b"}")
}

/// Writes a finished item of thinking. `status` includes the quotes.
pub fn write_reasoning(
    prefix: &str,
    target: ItemTarget<'_>,
    text: &[u8],
    status: &[u8],
    is_summary: bool,
    out: &mut Vec<u8>,
) -> memory::Result<()> {
    append(out, b"{\"id\":")?;
    target.write_id(prefix, out)?;
    append_all(out, &[b",\"type\":\"reasoning\",\"status\":", status, b",\"summary\":["])?;
    match is_summary {
        true => write_part(b"", "summary_text", text, out)?,
        false => {
            append(out, b"],\"content\":[")?;
            write_part(b"", "reasoning_text", text, out)?;
        }
    }
    append(out, b"]}")
}

fn write_part(key: &[u8], kind: &str, text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    append_all(out, &[key, b"{\"type\":\"", kind.as_bytes(), b"\""])?;
    write_text(b",\"text\":", text, out)?;
    append(out, b"}")
}

/// Writes a member: a key, and a text as a string.
pub fn write_text(key: &[u8], text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    append(out, key)?;
    json::write_string(text, out)
}

/// Writes a member: a key and a number.
pub fn write_index(key: &[u8], index: u64, out: &mut Vec<u8>) -> memory::Result<()> {
    append_all(out, &[key, decimal(index, &mut [0; 20]).as_bytes()])
}
