//! Rewrites a whole message, which is an answer that is not a stream. Its list of content gets the blocks that a stream would
//! get.

use super::block::{pieces, string};
use super::fields::Part;
use super::message::Message;
use super::outgoing::{Letters, call_block, text_block, thinking_block};
use super::{END_TURN, Messages, TOOL_USE};
use crate::answer::{Input, Parts, Purpose, Run, Target};
use crate::json::{Edits, Reader, Span, decode, name};
use crate::memory::{self, TryBox, append};
use crate::sse::protocol::{ALONE, Context, Scratch};
use crate::{EndReason, Error};

/// The members of a message that are rewritten, and their positions.
#[derive(Default)]
struct Body {
    /// The list of blocks.
    content: Option<Span>,
    stop_reason: Option<Span>,
    id: Option<Span>,
}

impl Body {
    fn read(raw: &[u8]) -> Option<Body> {
        let mut body = Body::default();
        let mut reader = Reader::new(raw);
        reader.object(|reader, key| {
            let value = reader.value()?;
            match name(raw, &key, &mut [0; 24]) {
                b"content" => body.content = (raw[value.start] == b'[').then_some(value),
                b"stop_reason" => body.stop_reason = Some(value),
                b"id" => body.id = (raw[value.start] == b'"').then_some(value),
                _ => {}
            }
            Some(())
        })?;
        reader.end()?;
        Some(body)
    }
}

/// The list of blocks that is sent, as changes of the server's list.
#[derive(Default)]
struct List {
    /// The end of the last block that was read.
    end: usize,
    /// Whether a block that is sent precedes.
    has_blocks: bool,
    /// The position of the first block, if it and all blocks after it so far are left out.
    gap: Option<usize>,
}

impl List {
    /// Notes that the next block is sent, unchanged or as other blocks.
    fn keep(&mut self, block: &Span, edits: &mut Edits) -> Result<(), Error> {
        if let Some(from) = self.gap.take() {
            edits.replace(from..block.start, |_| Ok(()))?;
        }
        (self.end, self.has_blocks) = (block.end, true);
        Ok(())
    }

    /// Leaves the next block out.
    fn leave_out(&mut self, block: &Span, edits: &mut Edits) -> Result<(), Error> {
        if self.has_blocks {
            edits.replace(self.end..block.end, |_| Ok(()))?;
        } else {
            self.gap.get_or_insert(block.start);
        }
        self.end = block.end;
        Ok(())
    }

    /// Ends the list. Returns whether a block of it is sent.
    fn finish(&mut self, edits: &mut Edits) -> Result<bool, Error> {
        if let Some(from) = self.gap.take() {
            edits.replace(from..self.end, |_| Ok(()))?;
        }
        Ok(self.has_blocks)
    }
}

impl Messages {
    /// Writes a whole message with its changes. Returns whether there are any.
    pub fn whole(&mut self, context: &mut Context<'_>, raw: &[u8]) -> Result<bool, Error> {
        self.begin_message(context.setup);
        self.message.promotion = self.promotes.of_body();
        context.scratch.edits.clear();
        if let Some(body) = Body::read(raw) {
            self.content(context, &body, raw)?;
        }
        self.begin_message(context.setup);
        let edits = &mut context.scratch.edits;
        edits.apply(raw, 0..raw.len(), Span::clone, context.out)?;
        Ok(!edits.list.is_empty())
    }

    /// Notes the changes of a message.
    fn content(&mut self, context: &mut Context<'_>, body: &Body, raw: &[u8]) -> Result<(), Error> {
        let Some(content) = body.content.clone() else { return Ok(()) };
        if let Some(id) = &body.id {
            self.message.set_id(&raw[id.clone()])?;
            self.outgoing.set_id(&self.message.id_prefix);
        }
        let has_ended = body.stop_reason.clone().is_some_and(|stop| raw[stop] == *END_TURN);
        let mut list = List::default();
        let mut done = Ok(());
        let mut reader = Reader::new(&raw[content.clone()]);
        // This was parsed before, so it is a list.
        let _ = reader.array(|reader| {
            let block = reader.value()?;
            let block = content.start + block.start..content.start + block.end;
            done = self.block(context, raw, &block, has_ended, &mut list);
            done.is_ok().then_some(())
        });
        done?;
        let Context { setup, scratch: Scratch { edits, .. }, .. } = context;
        let has_blocks = list.finish(edits)?;
        let Some(stop) = body.stop_reason.clone().filter(|stop| raw[stop.clone()] == *END_TURN) else { return Ok(()) };
        let message = &self.message;
        if message.has_emitted_call {
            edits.replace(stop, |out| append(out, TOOL_USE))?;
        }
        let thinking = message.promotion.content();
        setup.stats.unpromoted += u64::from(thinking.is_none());
        let thinking = thinking.unwrap_or_default();
        if !thinking.is_empty() {
            let end = content.end - 1;
            edits.replace(end..end, |out| {
                append(out, if has_blocks { b"," } else { b"" })?;
                text_block(out, |out| string(thinking, out))
            })?;
        }
        Ok(())
    }

    /// Notes the changes of one block. `has_ended` means that the message has ended by itself.
    fn block(
        &mut self,
        context: &mut Context<'_>,
        raw: &[u8],
        block: &Span,
        has_ended: bool,
        list: &mut List,
    ) -> Result<(), Error> {
        let Context { setup, scratch: Scratch { parts, edits, decoded, .. }, .. } = context;
        let data = &raw[block.clone()];
        let part = Part::read(data, &mut Reader::new(data)).unwrap_or_default();
        let message = &mut self.message;
        if !part.is(data, b"\"text\"") {
            if !(part.is(data, b"\"thinking\"") || part.is(data, b"\"redacted_thinking\"")) {
                message.promotion.close();
            }
            if part.is(data, b"\"tool_use\"") {
                (message.server.calls, message.calls) = (true, TryBox::NONE);
            }
        }
        let label = self.outgoing.label;
        let text = part.text.clone().filter(|(_, text)| part.is(data, b"\"text\"") && text.len() > 2);
        let Some((_, text)) = text.filter(|_| !message.passes_texts(setup)) else {
            message.take_passing(&part, data, setup, decoded)?;
            return list.keep(block, edits);
        };
        let said = decode(&data[text.clone()], decoded)?;
        let mut stream = message.begin_text(setup)?;
        setup.look_for_objects(&mut stream, || Message::id_prefix(&message.id_prefix), true)?;
        parts.begin(Purpose::Body);
        setup.scan(&mut stream, Input::Feed(said), parts)?;
        if has_ended {
            stream.end_reason = EndReason::Ended;
        }
        setup.scan(&mut stream, Input::Finish, parts)?;
        if has_ended && self.promotes.is_guess_wanted && stream.was_answer {
            setup.answer(parts);
        }
        message.end_text(setup, &mut stream);
        message.promotion.take(parts)?;
        match parts.runs() {
            [] => return list.leave_out(block, edits),
            [run] if run.target() == Target::Content && parts.text_of(run) == said => {}
            runs => edits.replace(block.clone(), |out| write(parts, runs, data, &text, label, out))?,
        }
        list.keep(block, edits)
    }
}

/// Writes the blocks that replace a text block. The last block of content gets the other members of the text block.
fn write(
    parts: &Parts,
    runs: &[Run],
    data: &[u8],
    text: &Span,
    label: Option<Letters>,
    out: &mut Vec<u8>,
) -> memory::Result<()> {
    let mut contents = 0;
    pieces(parts, runs, &mut { ALONE }, |_, target| {
        contents += usize::from(target == Target::Content);
        memory::Result::Ok(())
    })?;
    let mut comma = &b""[..];
    pieces(parts, runs, &mut { ALONE }, |runs, target| {
        match target {
            Target::Calls => return write_calls(parts, runs, &mut comma, out),
            Target::Reasoning => {
                append(out, comma)?;
                thinking_block(label, out, |out| parts.write(runs, target, false, out))?;
            }
            Target::Content => {
                append(out, comma)?;
                contents -= 1;
                if contents > 0 {
                    text_block(out, |out| parts.write(runs, target, false, out))?;
                } else {
                    append(out, &data[..text.start])?;
                    parts.write(runs, target, false, out)?;
                    append(out, &data[text.end..])?;
                }
            }
        }
        comma = b",";
        Ok(())
    })
}

/// Writes the blocks of whole calls.
fn write_calls(parts: &Parts, runs: &[Run], comma: &mut &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    for [id, name, input] in runs.iter().filter_map(|run| parts.object(run)) {
        append(out, comma)?;
        call_block(id, name, input, out)?;
        *comma = b",";
    }
    Ok(())
}
