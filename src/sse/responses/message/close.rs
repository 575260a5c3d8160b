//! Closes the items of a message. The event that closes an item repeats all of its text.

use std::mem;

use super::{Message, OpenItem, PartState, TextPart};
use crate::Error;
use crate::json::{Edits, Span};
use crate::memory::{self, append, append_all};
use crate::sse::event::Event;
use crate::sse::protocol::Context;
use crate::sse::responses::fields::{Fields, Object};
use crate::sse::responses::outgoing::{Outgoing, Target, write_index, write_text};

impl Message {
    /// Closes the open item with this status, which includes the quotes.
    pub fn close(&mut self, status: &[u8], outgoing: &mut Outgoing, context: &mut Context<'_>) -> Result<(), Error> {
        match mem::take(&mut self.open) {
            OpenItem::Nothing => {}
            OpenItem::Reasoning if outgoing.drops_thinking => {}
            OpenItem::Reasoning => {
                self.count_cut(3, outgoing);
                outgoing.close_reasoning(self.target(), &self.text.text, status, context.out)?;
            }
            OpenItem::Message => self.close_message(status, outgoing, context)?,
            OpenItem::Call { id, name } => {
                self.count_cut(2, outgoing);
                outgoing.close_call(self.place, &id, &name, &self.text.text, context.out)?;
            }
        }
        self.text.clear(outgoing);
        Ok(())
    }

    /// Ends the parts of the open message whose start the server has not sent: it will not send their ends either.
    pub fn close_unannounced(&mut self, outgoing: &mut Outgoing, context: &mut Context<'_>) -> Result<(), Error> {
        self.close_parts(|part| part.is_unannounced, outgoing, context)
    }

    /// Ends those open parts of the open message for which `wanted` returns true.
    fn close_parts(
        &mut self,
        wanted: impl Fn(&TextPart) -> bool,
        outgoing: &mut Outgoing,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        let target = Target { out: self.place, id: &self.id, pair: self.pair };
        for part in self.parts.iter_mut().filter(|part| part.is_open && wanted(part)) {
            part.is_open = false;
            if part.state == PartState::Over {
                continue;
            }
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
            // Up to three events repeat the text: those that end the text, the part and the item.
            outgoing.truncated += if self.text.is_cut { 3 - u64::from(part.is_text_done) } else { 0 };
            if !part.is_text_done {
                outgoing.add("response.output_text.done", context.out, |out| {
                    place(out)?;
                    write_text(b",\"text\":", &self.text.text, out)?;
                    append(out, if has_logprobs { b",\"logprobs\":[]" } else { b"" })
                })?;
            }
            let mut json = Vec::new();
            write_part(data, &self.text.text, &part.annotations, &mut json)?;
            outgoing.add("response.content_part.done", context.out, |out| {
                place(out)?;
                append_all(out, &[b",\"part\":", &json])
            })?;
            let comma = if self.done.text.is_empty() { &b""[..] } else { b"," };
            append_all(&mut self.done.text, &[comma, &json])?;
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
        outgoing.truncated += u64::from(self.done.is_cut && !self.text.is_cut);
        self.close_parts(|_| true, outgoing, context)?;
        let target = Target { out: self.place, id: &self.id, pair: self.pair };
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
            edits.replace(content, |out| append_all(out, &[b"[", &self.done.text, b"]"]))?;
        }
        outgoing.add("response.output_item.done", context.out, |out| {
            write_index(b",\"output_index\":", target.out, out)?;
            append(out, b",\"item\":")?;
            edits.apply(data, item.whole, Span::clone, out)
        })?;
        outgoing.forget(&mut self.done.text);
        Ok(())
    }
}

/// Writes a finished text part with the other members of the part in the server's event.
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
