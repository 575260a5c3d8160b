//! Writes the start and the deltas of a rewritten message. Uses the server's events where these have the right kind.

use std::mem;

use super::{Carrier, Message, OpenItem, Pair, PartState, TextPart};
use crate::Error;
use crate::memory::{self, append, append_all};
use crate::sse::event::{Event, EventPart};
use crate::sse::protocol::Context;
use crate::sse::responses::annotations::{Annotations, chars};
use crate::sse::responses::changes::{put, put_number, put_string, remove};
use crate::sse::responses::fields::{Fields, Kind, Object, inside};
use crate::sse::responses::outgoing::{Name, Outgoing, write_index, write_text};

impl Message {
    /// Opens the message for a part with the index `content`.
    pub fn open_message(
        &mut self,
        content: u64,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        if self.has_message_open() {
            return Ok(());
        }
        self.close(b"\"completed\"", outgoing, context)?;
        if self.pair_has == Pair::Message {
            self.next_pair();
        }
        self.place = match self.take_place() {
            true => outgoing.places.of(self.index)?,
            false => outgoing.places.insert(self.index),
        };
        self.pair_has = Pair::Message;
        // Earlier parts without thinking or calls may still get text in this message.
        let is_left_out = |earlier: &TextPart| earlier.is_changed || earlier.state != PartState::Growing;
        let mut earlier = self.parts.iter().filter(|earlier| earlier.index < content);
        let is_first = self.pair == 1 && !earlier.any(is_left_out);
        self.left_out = if is_first { 0 } else { content };
        self.open = OpenItem::Message;
        self.done.clear(outgoing);
        let added = mem::take(&mut self.added);
        self.replay(&added, None, outgoing, context)?;
        self.added = added;
        Ok(())
    }

    /// Opens a text part, and the message.
    pub fn open_part(&mut self, part: usize, outgoing: &mut Outgoing, context: &mut Context<'_>) -> Result<(), Error> {
        let index = self.parts[part].index;
        self.open_message(index, outgoing, context)?;
        let here = &mut self.parts[part];
        if here.is_open {
            return Ok(());
        }
        here.kept.clear(outgoing);
        (here.is_open, here.is_text_done, here.item_chars, here.annotated) = (true, false, 0, 0);
        outgoing.forget(&mut here.annotations);
        let (added, empty) = (mem::take(&mut here.added), mem::take(&mut here.empty));
        self.replay(&added, Some(index), outgoing, context)?;
        for mut empty in empty {
            self.replay(&empty, Some(index), outgoing, context)?;
            outgoing.forget(&mut empty);
        }
        self.parts[part].added = added;
        Ok(())
    }

    /// Writes the held start of a part of the open message whose text is over, unless something was removed from the text.
    pub fn release_part_start(
        &mut self,
        part: usize,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let here = &self.parts[part];
        let is_held = !here.is_open && here.state != PartState::Over && !here.is_changed && !here.added.is_empty();
        if self.has_message_open() && is_held {
            self.open_part(part, outgoing, context)?;
        }
        Ok(())
    }

    /// Writes an event of the server that was kept.
    fn replay(
        &self,
        raw: &[u8],
        content: Option<u64>,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        if raw.is_empty() || outgoing.is_silent {
            return Ok(());
        }
        let mut event = Event::default();
        event.read(raw)?;
        let event = EventPart { raw, part: 0..raw.len(), event: &event };
        let fields = Fields::read(event.data());
        if self.pair > 1 {
            outgoing.added += 1;
            outgoing.renumbers = true;
        }
        self.pass(&event, &fields, content, outgoing, context)
    }

    /// Writes an event of the server with the position of the open message and the changes noted so far.
    pub fn pass(
        &self,
        event: &EventPart<'_>,
        fields: &Fields,
        content: Option<u64>,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let data = event.data();
        let (edits, target) = (&mut context.scratch.edits, self.target());
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
        Ok(outgoing.pass(event, fields, edits, None, context.out)?)
    }

    fn open_reasoning(&mut self, outgoing: &mut Outgoing, context: &mut Context<'_>) -> Result<(), Error> {
        if matches!(self.open, OpenItem::Reasoning) {
            return Ok(());
        }
        self.close(b"\"completed\"", outgoing, context)?;
        if self.pair_has != Pair::Nothing {
            self.next_pair();
        }
        self.pair_has = Pair::Reasoning;
        self.text.clear(outgoing);
        self.open = OpenItem::Reasoning;
        if outgoing.drops_thinking {
            return Ok(());
        }
        self.place = outgoing.places.insert(self.index);
        Ok(outgoing.open_reasoning(self.target(), context.out)?)
    }

    /// Writes thinking, in the server's event if there is a carrier, unless thinking is left out.
    pub fn reasoning(
        &mut self,
        text: &[u8],
        carrier: Option<&Carrier<'_>>,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        self.open_reasoning(outgoing, context)?;
        if outgoing.drops_thinking {
            return Ok(());
        }
        self.text.add(text, outgoing)?;
        let target = self.target();
        let Some(Carrier { event, fields, .. }) = carrier else {
            return Ok(outgoing.reasoning(target, text, context.out)?);
        };
        let Fields {
            name: Some(name),
            item_id: Some(id),
            delta: Some(delta),
            output_index: Some(index),
            content_index: Some(content),
            ..
        } = fields
        else {
            return Ok(outgoing.reasoning(target, text, context.out)?);
        };
        let (data, edits, kind) = (event.data(), &mut context.scratch.edits, outgoing.reasoning_delta());
        put_string(edits, data, name, |out| append_all(out, &[b"\"", kind.as_bytes(), b"\""]))?;
        put_string(edits, data, id, |out| target.write_id(outgoing.prefix, out))?;
        put_number(edits, data, &index.value, target.out)?;
        if outgoing.is_summary {
            let name = outgoing.reasoning_index().as_bytes();
            put_string(edits, data, &content.key, |out| append_all(out, &[b"\"", name, b"\""]))?;
        }
        if content.number(data) != Some(0) {
            put_number(edits, data, &content.value, 0)?;
        }
        put_string(edits, data, delta, |out| write_text(b"", text, out))?;
        if let Some(logprobs) = &fields.logprobs {
            remove(edits, data, logprobs)?;
        }
        outgoing.renumbers = true;
        Ok(outgoing.pass(event, fields, edits, Some(kind), context.out)?)
    }

    /// Writes content, in the server's event if there is a carrier.
    pub fn content(
        &mut self,
        part: usize,
        text: &[u8],
        carrier: Option<&Carrier<'_>>,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        self.open_part(part, outgoing, context)?;
        let index = self.parts[part].index;
        self.parts[part].note_content(text, outgoing)?;
        if let Some(Carrier { event, fields, is_same }) = carrier
            && let Some(delta) = &fields.delta
        {
            self.parts[part].has_logprobs |= fields.logprobs.is_some();
            if !is_same {
                put_string(&mut context.scratch.edits, event.data(), delta, |out| write_text(b"", text, out))?;
            }
            return self.pass(event, fields, Some(index), outgoing, context);
        }
        let (target, has_logprobs) = (self.target(), self.parts[part].has_logprobs);
        let content = index.saturating_sub(self.left_out);
        Ok(outgoing.add("response.output_text.delta", context.out, |out| {
            append(out, b",\"item_id\":")?;
            target.write_id("", out)?;
            write_index(b",\"output_index\":", target.out, out)?;
            write_index(b",\"content_index\":", content, out)?;
            write_text(b",\"delta\":", text, out)?;
            append(out, if has_logprobs { b",\"logprobs\":[]" } else { b"" })
        })?)
    }

    /// Opens the item of a call.
    pub fn open_call(
        &mut self,
        id: Vec<u8>,
        name: &[u8],
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        self.close(b"\"completed\"", outgoing, context)?;
        self.place = outgoing.places.insert(self.index);
        outgoing.open_call(self.place, &id, Name::of(name, context.setup.tools()), context.out)?;
        self.open = OpenItem::Call { id, name: memory::copy(name)? };
        Ok(())
    }

    /// Writes arguments of the open call, if a call is open.
    pub fn arguments(&mut self, text: &[u8], outgoing: &mut Outgoing, context: &mut Context<'_>) -> Result<(), Error> {
        let OpenItem::Call { id, .. } = &self.open else { return Ok(()) };
        outgoing.arguments(self.place, id, text, context.out)?;
        Ok(self.text.add(text, outgoing)?)
    }

    /// Notes the text of a part that arrives whole, without deltas.
    pub fn take_whole(
        &mut self,
        part: usize,
        said: &[u8],
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        self.open_part(part, outgoing, context)?;
        Ok(self.parts[part].note_content(said, outgoing)?)
    }

    /// Writes an annotation, if it belongs to the open message.
    pub fn annotate(
        &mut self,
        part: usize,
        event: &EventPart<'_>,
        fields: &Fields,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
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
        outgoing.keep_whole(&mut here.annotations, &json)?;
        if json != data[at.clone()] {
            put(&mut context.scratch.edits, data, at.clone(), |out| append(out, &json))?;
        }
        if let Some(index) = &fields.annotation_index
            && here.is_changed
        {
            put_number(&mut context.scratch.edits, data, &index.value, here.annotated)?;
        }
        here.annotated += 1;
        let index = here.index;
        self.pass(event, fields, Some(index), outgoing, context)?;
        Ok(true)
    }
}
