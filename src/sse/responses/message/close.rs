//! Closes the items of a message. The event that closes an item repeats all of its text.

use std::mem;

use super::{Message, OpenItem, PartState, TextPart};
use crate::Error;
use crate::memory::{self, append, append_all};
use crate::sse::event::Event;
use crate::sse::protocol::Context;
use crate::sse::responses::annotations::Annotations;
use crate::sse::responses::fields::{Fields, Object};
use crate::sse::responses::outgoing::{
    ItemTarget, Name, Outgoing, write_call, write_index, write_reasoning, write_text,
};
use crate::sse::responses::repeat::{write_message, write_text_part};

impl Message {
    /// Closes the open item with this status, which includes the quotes.
    pub fn close(&mut self, status: &[u8], outgoing: &mut Outgoing, context: &mut Context<'_>) -> Result<(), Error> {
        let mut json = Vec::new();
        match mem::take(&mut self.open) {
            OpenItem::Nothing => return Ok(()),
            OpenItem::Reasoning if outgoing.drops_thinking => return Ok(()),
            OpenItem::Reasoning => {
                self.count_cut(3, outgoing);
                let (target, text) = (self.target(), &self.text.text);
                write_reasoning(outgoing.prefix, target, text, status, outgoing.is_summary, &mut json)?;
                outgoing.close_reasoning(target, text, &json, context.out)?;
            }
            OpenItem::Message => return self.close_message(status, outgoing, context),
            OpenItem::Call { id, name } => {
                self.count_cut(2, outgoing);
                let name = Name::of(&name, context.setup.tools());
                write_call(&id, name, &self.text.text, "completed", &mut json)?;
                outgoing.close_call(self.place, &id, name, &self.text.text, &json, context.out)?;
            }
        }
        let is_cut = self.text.is_cut;
        self.text.clear(outgoing);
        self.is_cut |= is_cut;
        Ok(self.keep_closed(None, json, outgoing)?)
    }

    /// Ends those open parts of the open message for which `wanted` returns true.
    pub fn close_parts(
        &mut self,
        wanted: impl Fn(&TextPart) -> bool,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let target = ItemTarget { out: self.place, id: &self.id, pair: self.pair };
        for part in self.parts.iter_mut().filter(|part| part.is_open && wanted(part)) {
            part.is_open = false;
            if part.state == PartState::Over {
                continue;
            }
            let mut json = Vec::new();
            let has_logprobs = write_part(part, &mut json)?;
            let place = |out: &mut Vec<u8>| {
                append(out, b",\"item_id\":")?;
                target.write_id("", out)?;
                write_index(b",\"output_index\":", target.out, out)?;
                write_index(b",\"content_index\":", part.index.saturating_sub(self.left_out), out)
            };
            // Up to two events repeat the text, those that end the text and the part, and then the item.
            let lacks_text = part.kept.is_cut && !outgoing.is_silent;
            outgoing.truncated += if lacks_text { 2 - u64::from(part.is_text_done) } else { 0 };
            if !part.is_text_done {
                outgoing.add("response.output_text.done", context.out, |out| {
                    place(out)?;
                    write_text(b",\"text\":", &part.kept.text, out)?;
                    append(out, if has_logprobs { b",\"logprobs\":[]" } else { b"" })
                })?;
            }
            outgoing.add("response.content_part.done", context.out, |out| {
                place(out)?;
                append_all(out, &[b",\"part\":", &json])
            })?;
            self.done.is_cut |= part.kept.is_cut;
            part.kept.clear(outgoing);
            self.done.keep(part.index, json, outgoing)?;
        }
        Ok(())
    }

    /// Closes the open message before the server does.
    fn close_message(
        &mut self,
        status: &[u8],
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        self.close_parts(|_| true, outgoing, context)?;
        if !outgoing.is_silent {
            outgoing.truncated += u64::from(self.done.is_cut);
            let target = ItemTarget { out: self.place, id: &self.id, pair: self.pair };
            let mut event = Event::default();
            event.read(&self.added)?;
            let data = event.data(&self.added);
            let item = Fields::read(data).item.map(|at| Object::read(data, at)).unwrap_or_default();
            let mut json = Vec::new();
            write_message(target, data, &item, status, &self.done.content()?, &mut json)?;
            outgoing.close(target.out, &json, context.out)?;
        }
        Ok(self.keep_message(outgoing)?)
    }
}

/// Writes a finished text part with the other members of the part in the server's event, or of the whole part. Returns whether it
/// has log probabilities.
fn write_part(part: &TextPart, out: &mut Vec<u8>) -> Result<bool, Error> {
    let text = &part.kept.text;
    let mut event = Event::default();
    let (data, object) = if part.added.starts_with(b"{") {
        if part.is_plain() {
            append(out, &part.added)?;
            return Ok(false);
        }
        (&part.added[..], Some(Object::read(&part.added, 0..part.added.len())))
    } else {
        event.read(&part.added)?;
        let data = event.data(&part.added);
        (data, Fields::read(data).part.map(|at| Object::read(data, at)))
    };
    let Some(object) = object else {
        append_all(out, &[b"{\"type\":\"output_text\",\"annotations\":[", &part.annotations, b"]"])?;
        write_text(b",\"text\":", text, out)?;
        append(out, b"}")?;
        return Ok(part.has_logprobs);
    };
    let mut annotations = memory::copy(&part.annotations)?;
    if let Some(list) = object.annotations.clone() {
        let (skip, len) = part.in_item();
        Annotations::In { stretches: &part.stretches, skip, len }.write_all(data, list, &mut annotations)?;
    }
    write_text_part(data, &object, text, &annotations, out)?;
    Ok(part.has_logprobs || object.logprobs.is_some())
}
