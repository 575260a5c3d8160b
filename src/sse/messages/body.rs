//! Rewrites a whole message, which is an answer that is not a stream. Its list of content gets the blocks that a stream would
//! get.

use super::block::pieces;
use super::fields::BlockFields;
use super::message::Message;
use super::outgoing::{Letters, call_block, text_block, thinking_block};
use super::{END_TURN, Messages, TOOL_USE};
use crate::answer::{Input, Parts, Purpose, Run, Target};
use crate::json::{Reader, Span, Value, decode, write_string};
use crate::memory::{self, TryBox, append, push};
use crate::sse::protocol::{ALONE, Context, Scratch};
use crate::{EndReason, Error};

impl Messages {
    /// Writes a whole message with its changes. Returns whether anything changed.
    pub fn body(&mut self, context: &mut Context<'_>, raw: &[u8]) -> Result<bool, Error> {
        self.begin_message(context.setup);
        self.message.promotion = self.promotes.of_body();
        context.scratch.edits.clear();
        self.content(context, &Value::of(raw))?;
        self.begin_message(context.setup);
        let edits = &mut context.scratch.edits;
        edits.apply(raw, 0..raw.len(), Span::clone, context.out)?;
        Ok(!edits.list.is_empty())
    }

    /// Notes the changes of a message.
    fn content(&mut self, context: &mut Context<'_>, body: &Value<'_>) -> Result<(), Error> {
        let [content, stop, id] = body.find([b"content", b"stop_reason", b"id"]);
        let Some(content) = content else { return Ok(()) };
        let Some(blocks) = content.list()? else { return Ok(()) };
        if let Some(id) = id.filter(|id| id.string().is_some()) {
            self.message.set_id(id.json())?;
            self.outgoing.set_id(&self.message.id_prefix);
        }
        let stop = stop.filter(|stop| stop.json() == END_TURN);
        let mut stays = Vec::new();
        for block in &blocks {
            push(&mut stays, self.block(context, block, stop.is_some())?)?;
        }
        let Context { setup, scratch: Scratch { edits, .. }, .. } = context;
        edits.remove(blocks.iter().map(|block| &block.span), |at| !stays[at])?;
        let Some(stop) = stop else { return Ok(()) };
        let message = &self.message;
        if message.has_emitted_call {
            edits.replace(stop.span, |out| append(out, TOOL_USE))?;
        }
        let thinking = message.promotion.counted(&mut setup.stats);
        if !thinking.is_empty() {
            let end = content.span.end - 1;
            edits.replace(end..end, |out| {
                append(out, if stays.contains(&true) { b"," } else { b"" })?;
                text_block(out, |out| write_string(thinking, out))
            })?;
        }
        Ok(())
    }

    /// Notes the changes of one block. `has_ended` means that the message has ended by itself. Returns whether the block is not left
    /// out entirely.
    fn block(&mut self, context: &mut Context<'_>, block: &Value<'_>, has_ended: bool) -> Result<bool, Error> {
        let Context { setup, scratch: Scratch { parts, edits, decoded, .. }, .. } = context;
        let data = block.json();
        let part = BlockFields::read(data, &mut Reader::new(data)).unwrap_or_default();
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
            return Ok(true);
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
            [] => return Ok(false),
            [run] if run.target() == Target::Content && parts.text_of(run) == said => {}
            runs => edits.replace(block.span.clone(), |out| write(parts, runs, data, &text, label, out))?,
        }
        Ok(true)
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
