//! Anthropic Messages: a message is a list of blocks, and each text block becomes blocks of thinking, text and calls. The
//! result must be as valid as a server's: blocks begin, grow and end in order, and no index is missing.
//!
//! A text block of the server, and the output for each of its events:
//!
//! | state | thinking arrives | content arrives | a call arrives | its end arrives |
//! |---|---|---|---|---|
//! | waits: only its start has arrived | a thinking block's start | its own start | a call's start | its start and end |
//! | open, for text of this kind | a delta | a delta | a delta of arguments | the end |
//! | open, for text of another kind | the end, and a start | the end, and a start | the end, and a start | the end |
//!
//! After a start, the block is open for text of that kind. A thinking block gets a signature before its end. A start that waits is
//! sent before an event of another block. The start of another block, and events of the message, also release held text.
//!
//! Laws: an event or body without changes is copied, but a block's start is held until its text shows which blocks it becomes. Each
//! part of a text is written once. The text blocks of a body are read like those of a stream. Without the thinking, the other blocks
//! are the same, with indexes that leave no gap.

mod block;
mod body;
mod fields;
mod message;
mod outgoing;

use std::mem;

use super::event::EventPart;
use super::hide;
use super::options::Options;
use super::protocol::{Context, Protocol, Scratch};
use crate::Error;
use crate::answer::{CallPart, Input, Promotes, Run, Setup, Target};
use crate::json::{Span, decode, write_string};
use crate::memory::{TryBox, append, push};
use block::{OpenBlock, TextBlock, set_index, set_text};
pub use fields::{BlockFields, Fields, Kind, is_read};
use message::Message;
use outgoing::{Delta, Outgoing, empty, text_block};

/// The maximum number of text blocks that are open at once.
const BLOCKS: usize = 128;

/// The stop reasons of a message that has ended by itself, and of one with a call.
const END_TURN: &[u8] = b"\"end_turn\"";
const TOOL_USE: &[u8] = b"\"tool_use\"";

/// The message that is read.
pub struct Messages {
    message: Message,
    outgoing: Outgoing,
    promotes: Promotes,
}

impl Messages {
    pub fn new(options: &Options) -> Messages {
        let promotes = Promotes::new(&options.answer, options.max_event_bytes());
        Messages { message: Message::new(promotes.of_stream()), outgoing: Outgoing::new(options), promotes }
    }

    /// Resets the state after a message, for the next message of the same stream.
    fn begin_message(&mut self, setup: &mut Setup) {
        for block in &mut self.message.texts {
            setup.take_calls(&mut block.text);
        }
        self.begin();
    }

    fn release_some(&mut self, context: &mut Context<'_>, input: Input<'_>, without: Option<u64>) -> Result<(), Error> {
        let Context { setup, scratch: Scratch { parts, alone, .. }, out } = context;
        let Messages { message: Message { texts, promotion, .. }, outgoing, .. } = self;
        for block in texts.iter_mut().filter(|block| Some(block.index) != without) {
            parts.clear();
            if !block.text.over {
                setup.scan(&mut block.text, input, parts)?;
                block.text.over = matches!(input, Input::Finish);
            }
            promotion.take(parts)?;
            block.write(parts, parts.runs(), alone, outgoing, out)?;
            block.make_way(outgoing, out)?;
        }
        setup.stats.added += mem::take(&mut outgoing.added);
        Ok(())
    }

    /// Begins a new message, perhaps in a new stream.
    pub fn begin(&mut self) {
        self.message = Message::new(self.promotes.of_stream());
        self.outgoing.begin_message();
    }

    /// Writes the held starts of text blocks, because the next event must not precede them.
    fn write_starts(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let Messages { message, outgoing, .. } = self;
        message.texts.iter_mut().try_for_each(|block| block.make_way(outgoing, out))
    }

    /// Reads the start of a block. Returns whether the event is sent now.
    fn block_start(
        &mut self,
        context: &mut Context<'_>,
        is_last: bool,
        index: u64,
        fields: &Fields,
        event: &EventPart<'_>,
    ) -> Result<bool, Error> {
        let data = event.data();
        if let Some(at) = self.message.text(index) {
            // The server has not ended the block that was open before. The end of that block is written here only if the rewriter
            // began the block.
            if let Some(open) = self.end_text(context, at)?
                && (open.index != self.outgoing.index_of(index) || open.target != Target::Content)
            {
                self.outgoing.stop(open.index, context.out)?;
            }
        }
        let is_text = fields.block.is(data, b"\"text\"");
        let is_thinking = fields.block.is(data, b"\"thinking\"") || fields.block.is(data, b"\"redacted_thinking\"");
        let is_call = fields.block.is(data, b"\"tool_use\"");
        self.release_some(context, if is_thinking { Input::Finish } else { Input::Flush }, None)?;
        self.outgoing.begin_block(index);
        let message = &mut self.message;
        if is_text && message.texts.len() < BLOCKS && !message.passes_texts(context.setup) {
            return self.text_start(context, is_last, index, fields, event);
        }
        let Context { setup, scratch: Scratch { parts, edits, decoded, alone, .. }, out } = context;
        if is_call && setup.has_calls() {
            for block in &mut message.texts {
                parts.clear();
                message.has_emitted_call |= block.text.has_emitted_call();
                setup.give_up_calls(&mut block.text, parts)?;
                block.write(parts, parts.runs(), alone, &mut self.outgoing, out)?;
            }
            (message.server.calls, message.calls) = (true, TryBox::NONE);
        }
        if !is_thinking && !is_text {
            message.promotion.close();
        }
        message.take_passing(&fields.block, data, setup, decoded)?;
        let to = self.outgoing.take_index(is_thinking);
        message.know(index, to)?;
        Ok(set_index(fields, to, edits)?)
    }

    /// Reads the start of a text block. Returns whether the event is sent now: only if it is the last event or has text.
    fn text_start(
        &mut self,
        context: &mut Context<'_>,
        is_last: bool,
        index: u64,
        fields: &Fields,
        event: &EventPart<'_>,
    ) -> Result<bool, Error> {
        let Context { setup, scratch: Scratch { parts, edits, decoded, alone, .. }, out } = context;
        let Messages { message, outgoing, .. } = self;
        let mut block = TextBlock::new(index, message.begin_text(setup)?);
        let mut said = &b""[..];
        parts.clear();
        if let Some((_, text)) = fields.block.text.as_ref().filter(|(_, text)| text.len() > 2) {
            said = decode(&event.data()[text.clone()], decoded)?;
            block.has_text = true;
            setup.look_for_calls(&mut block.text, || Message::id_prefix(&message.id_prefix), false)?;
            setup.scan(&mut block.text, Input::Feed(said), parts)?;
        }
        if is_last {
            setup.scan(&mut block.text, Input::Finish, parts)?;
            block.text.over = true;
        }
        message.promotion.take(parts)?;
        // A start cannot be held at the last event, because no later event would release it.
        let is_kept = !is_last && block.keep(event)?;
        let mut runs = parts.runs();
        let first = runs.first().filter(|run| run.target() == Target::Content);
        let goes = match runs.len() {
            0 => !is_kept && said.is_empty(),
            1 => first.is_some() || !is_last && !is_kept,
            _ => !is_last && (first.is_some() || !is_kept),
        };
        block.waits = is_kept && !goes;
        if goes {
            let to = outgoing.take_index(false);
            block.open = Some(OpenBlock { index: to, target: Target::Content });
            set_index(fields, to, edits)?;
            match (first, &fields.block.text) {
                (Some(run), _) => {
                    set_text(fields, parts, run, said, edits)?;
                    runs = &runs[1..];
                }
                (None, Some((_, text))) if text.len() > 2 => edits.replace(text.clone(), empty)?,
                _ => {}
            }
        }
        let is_all = runs.is_empty();
        if goes && !is_all {
            event.write(edits, out)?;
        }
        block.write(parts, runs, alone, outgoing, out)?;
        push(&mut message.texts, block)?;
        Ok(goes && is_all)
    }

    /// Reads a delta of a block. Returns whether the event is sent.
    fn block_delta(
        &mut self,
        context: &mut Context<'_>,
        is_last: bool,
        index: u64,
        fields: &Fields,
        event: &EventPart<'_>,
    ) -> Result<bool, Error> {
        let data = event.data();
        let is_thinking = fields.block.is(data, b"\"thinking_delta\"") || fields.block.is(data, b"\"signature_delta\"");
        let is_left_out = is_thinking && self.outgoing.drops_thinking;
        let Some(at) = self.message.text(index) else {
            let Context { setup, scratch, .. } = context;
            self.message.take_passing(&fields.block, data, setup, &mut scratch.decoded)?;
            let to = match self.message.other(index) {
                // The server adds text to a block of thinking.
                Some(None) if fields.added().is_some_and(|text| text.len() > 2) => {
                    self.write_starts(context.out)?;
                    let to = self.outgoing.take_index(false);
                    self.message.know(index, to)?;
                    self.outgoing.start(to, context.out, |out| text_block(out, empty))?;
                    to
                }
                Some(to) => {
                    self.write_starts(context.out)?;
                    to
                }
                None => {
                    // The server left out the start of this block.
                    self.message.promotion.close();
                    self.release_some(context, Input::Flush, None)?;
                    self.outgoing.begin_block(index);
                    let to = self.outgoing.take_index(is_thinking);
                    self.message.know(index, to)?;
                    to
                }
            };
            return Ok(set_index(fields, to, &mut context.scratch.edits)? && !is_left_out);
        };
        match &fields.block.text {
            Some((_, text)) if fields.block.is(data, b"\"text_delta\"") => {
                self.text_delta(context, is_last, at, text.clone(), fields, event)
            }
            _ => {
                // A delta of another kind, such as a citation, belongs to the content.
                let block = &mut self.message.texts[at];
                let to = match block.open {
                    Some(OpenBlock { index, target: Target::Calls }) => index,
                    _ => block.open(Target::Content, &mut self.outgoing, context.out)?,
                };
                self.message.promotion.close();
                Ok(set_index(fields, to, &mut context.scratch.edits)? && !is_left_out)
            }
        }
    }

    /// Reads text that is added to a text block. Returns whether the event is sent.
    fn text_delta(
        &mut self,
        context: &mut Context<'_>,
        is_last: bool,
        at: usize,
        text: Span,
        fields: &Fields,
        event: &EventPart<'_>,
    ) -> Result<bool, Error> {
        let Context { setup, scratch: Scratch { parts, edits, decoded, alone, .. }, out } = context;
        let Messages { message, outgoing, .. } = self;
        let block = &mut message.texts[at];
        let said = decode(&event.data()[text], decoded)?;
        if said.is_empty() && !is_last {
            return match block.open {
                _ if block.waits => {
                    // A block of content must not begin in the middle of a call.
                    if block.keep(event)? || block.open.is_some() {
                        return Ok(false);
                    }
                    let to = block.open(Target::Content, outgoing, out)?;
                    Ok(set_index(fields, to, edits)?)
                }
                Some(OpenBlock { index, target: Target::Content }) => Ok(set_index(fields, index, edits)?),
                _ => Ok(false),
            };
        }
        block.has_text |= !said.is_empty();
        parts.clear();
        if block.text.over {
            parts.push_content(said)?;
        } else {
            setup.look_for_calls(&mut block.text, || Message::id_prefix(&message.id_prefix), false)?;
            setup.scan(&mut block.text, Input::Feed(said), parts)?;
            if is_last {
                setup.scan(&mut block.text, Input::Finish, parts)?;
                block.text.over = true;
            }
        }
        message.promotion.take(parts)?;

        // The last stretch stays in the event, with the event's other members.
        let runs = parts.runs();
        let stays = |run: &Run| match run.target() {
            Target::Content => true,
            Target::Reasoning => !fields.block.is_crowded,
            Target::Calls => !fields.block.is_crowded && matches!(parts.call_part(run), Some(CallPart::Arguments(_))),
        };
        let (inside, before) = match runs.split_last() {
            Some((inside, before)) if stays(inside) => (Some(inside), before),
            _ => (None, runs),
        };
        block.write(parts, before, alone, outgoing, out)?;
        let Some(run) = inside else { return Ok(false) };
        let to = block.open(run.target(), outgoing, out)?;
        if !set_index(fields, to, edits)? {
            return Ok(false);
        }
        set_text(fields, parts, run, said, edits)?;
        Ok(true)
    }

    /// Ends the text of a text block. The block that is then open in the output stays open.
    fn end_text(&mut self, context: &mut Context<'_>, at: usize) -> Result<Option<OpenBlock>, Error> {
        let Context { setup, scratch: Scratch { parts, alone, .. }, out } = context;
        let Messages { message, outgoing, .. } = self;
        let mut block = message.texts.remove(at);
        parts.clear();
        if !block.text.over {
            setup.scan(&mut block.text, Input::Finish, parts)?;
        }
        message.promotion.take(parts)?;
        block.write(parts, parts.runs(), alone, outgoing, out)?;
        message.end_text(setup, &mut block.text);
        block.make_way(outgoing, out)?;
        let open = block.open.take();
        if let Some(open) = open {
            block.before_stop(open, outgoing, out)?;
            message.know(block.index, open.index)?;
        }
        Ok(open)
    }

    /// Reads the end of a block. Returns whether the event is sent.
    fn block_stop(&mut self, context: &mut Context<'_>, index: u64, fields: &Fields) -> Result<bool, Error> {
        let to = match self.message.text(index) {
            Some(at) => self.end_text(context, at)?.and_then(|open| open.index),
            None => {
                self.write_starts(context.out)?;
                self.message.other(index).unwrap_or(Some(index))
            }
        };
        Ok(set_index(fields, to, &mut context.scratch.edits)?)
    }

    /// Notes the changes of the event that says why the message stops, and writes the events before it.
    fn message_delta(&mut self, context: &mut Context<'_>, fields: &Fields, data: &[u8]) -> Result<(), Error> {
        let Context { setup, scratch: Scratch { edits, .. }, out } = context;
        let message = &mut self.message;
        let has_emitted_call =
            message.has_emitted_call || message.texts.iter().any(|block| block.text.has_emitted_call());
        let Some(stop) = fields.block.stop_reason.clone().filter(|stop| data[stop.clone()] == *END_TURN) else {
            return Ok(());
        };
        if has_emitted_call {
            edits.replace(stop, |out| append(out, TOOL_USE))?;
        }
        let thinking = message.promotion.counted(&mut setup.stats);
        if !thinking.is_empty() {
            for block in &mut message.texts {
                block.close(&mut self.outgoing, out)?;
            }
            let to = self.outgoing.take_index(false);
            self.outgoing.start(to, out, |out| text_block(out, empty))?;
            self.outgoing.delta(to, Delta::Text, out, |out| write_string(thinking, out))?;
            self.outgoing.stop(to, out)?;
            message.promotion.close();
        }
        Ok(())
    }

    /// Writes an event with its changes. With `is_last`, no text continues after the event. Returns whether there are changes.
    pub fn event(
        &mut self,
        context: &mut Context<'_>,
        is_last: bool,
        event: &EventPart<'_>,
        fields: &Fields,
    ) -> Result<bool, Error> {
        let data = event.data();
        let start = context.out.len();
        self.outgoing.is_named = !event.name().is_empty();
        self.outgoing.line_end = event.event.line_end;
        let index = fields.index.as_ref().map(|(index, _)| *index);
        if is_last {
            self.release_some(context, Input::Finish, index)?;
        }
        let passes = match (fields.kind, index) {
            (Kind::Ping, _) => true,
            (Kind::BlockStart, Some(index)) => self.block_start(context, is_last, index, fields, event)?,
            (Kind::BlockDelta, Some(index)) => self.block_delta(context, is_last, index, fields, event)?,
            (Kind::BlockStop, Some(index)) => self.block_stop(context, index, fields)?,
            (Kind::MessageStart, _) => {
                self.release_some(context, Input::Finish, None)?;
                self.begin_message(context.setup);
                if let Some(id) = &fields.id {
                    self.message.set_id(&data[id.clone()])?;
                    self.outgoing.set_id(&self.message.id_prefix);
                }
                if self.outgoing.drops_thinking {
                    hide::blocks(data, &[b"message", b"content"], &mut context.scratch.edits)?;
                }
                true
            }
            (Kind::MessageDelta, _) => {
                self.release_some(context, Input::Flush, None)?;
                self.message_delta(context, fields, data)?;
                true
            }
            (Kind::MessageStop, _) => {
                self.release_some(context, Input::Finish, None)?;
                self.begin_message(context.setup);
                true
            }
            _ => {
                self.write_starts(context.out)?;
                true
            }
        };
        let Context { setup, scratch: Scratch { edits, .. }, out } = context;
        setup.stats.added += mem::take(&mut self.outgoing.added);
        if !passes {
            context.scratch.leave_out(event);
            return Ok(true);
        }
        let changes = out.len() > start || !edits.list.is_empty();
        event.write(edits, out)?;
        Ok(changes)
    }
}

impl Protocol for Messages {
    /// Returns the number of bytes that are held back: text, and starts of blocks.
    fn held(&self) -> usize {
        self.message.texts.iter().map(TextBlock::held).sum()
    }

    /// Writes the held text of all text blocks, and the starts of those that have no text yet.
    fn release(&mut self, context: &mut Context<'_>, input: Input<'_>) -> Result<(), Error> {
        // The next event is sent unread, and may have content.
        self.message.promotion.close();
        self.release_some(context, input, None)
    }

    fn make_way(&mut self, context: &mut Context<'_>, is_last: bool, event: &EventPart<'_>) -> Result<(), Error> {
        if self.message.texts.is_empty() {
            return Ok(());
        }
        if is_last {
            return self.release(context, Input::Finish);
        }
        // An event that only keeps the connection alive may overtake held text.
        let is_quiet = event.name() == b"ping" || matches!(event.data().trim_ascii(), b"" | b"{}");
        if is_quiet { Ok(()) } else { self.write_starts(context.out) }
    }

    fn restart(&mut self, _: &Setup) -> Result<(), Error> {
        self.begin();
        Ok(())
    }
}
