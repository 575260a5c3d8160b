//! Writes the items of a whole response: of a body, or of the event that ends a stream. A body is treated as a stream in which each
//! text arrives in one delta: its messages are processed by the code for streams, which then writes no events, and the items that this
//! code closes are the items of the body. At the end of a stream, the items that were closed are repeated. If the server contradicts
//! its earlier events there, or if the items were too long to be kept, its message is split as in a body.

use std::mem;

use super::Responses;
use super::annotations::chars;
use super::calls::prefix;
use super::fields::{Object, inside};
use super::message::{Closed, Message, PartState, TextPart};
use super::outgoing::ItemTarget;
use super::repeat::write_message;
use super::split;
use crate::answer::{Input, Purpose};
use crate::json::{Span, Value, decode};
use crate::memory::{self, append, append_all, push};
use crate::sse::protocol::{ALONE, Context};
use crate::{EndReason, Error};

/// The items of a whole response as they are written.
pub struct List {
    /// The indexes of the items, and the items as JSON.
    items: Vec<(u64, Vec<u8>)>,
    is_changed: bool,
    /// The id of the last message with thinking.
    pub thought: Vec<u8>,
    /// Whether the response is not a stream.
    is_body: bool,
    /// The reason why the response ends, if that is known.
    end_reason: EndReason,
    /// Whether unclosed thinking at the start of a text becomes content.
    may_answer: bool,
}

impl List {
    pub fn of_stream() -> List {
        List {
            items: Vec::new(),
            is_changed: false,
            thought: Vec::new(),
            is_body: false,
            end_reason: EndReason::Unknown,
            may_answer: false,
        }
    }

    pub fn of_body(end_reason: EndReason, may_answer: bool) -> List {
        List { is_body: true, end_reason, may_answer, ..List::of_stream() }
    }

    /// Adds an item that stays unchanged.
    fn copy(&mut self, data: &[u8], object: &Object, out: u64) -> memory::Result<()> {
        push(&mut self.items, (out, memory::copy(&data[object.whole.clone()])?))
    }

    /// Adds the items of a message. Each message among them gets the other members of the server's message.
    fn add(&mut self, data: &[u8], object: &Object, message: &Message) -> memory::Result<()> {
        self.is_changed = true;
        for (number, Closed { out, pair, json }) in message.closed.iter().enumerate() {
            let mut item = Vec::new();
            match *pair {
                None => append(&mut item, json)?,
                Some(pair) => {
                    // Only the last item has the status of the response: earlier items are complete.
                    let is_last = number + 1 == message.closed.len();
                    let status =
                        object.status.clone().filter(|_| is_last).map_or(&b"\"completed\""[..], |at| &data[at]);
                    let target = ItemTarget { out: *out, id: &message.id, pair };
                    write_message(target, data, object, status, json, &mut item)?;
                }
            }
            push(&mut self.items, (*out, item))?;
        }
        Ok(())
    }

    /// Adds an item that the server does not have.
    pub fn add_made(&mut self, out: u64, json: Vec<u8>) -> memory::Result<()> {
        self.is_changed = true;
        push(&mut self.items, (out, json))
    }

    /// Returns the list as JSON, or `None` if it equals the server's list.
    pub fn written(mut self) -> Result<Option<Vec<u8>>, Error> {
        if !self.is_changed {
            return Ok(None);
        }
        // Items with one index keep their order.
        self.items.sort_by_key(|(out, _)| *out);
        let mut json = Vec::new();
        append(&mut json, b"[")?;
        for (number, (_, item)) in self.items.iter().enumerate() {
            append_all(&mut json, &[if number > 0 { b"," } else { b"" }, item])?;
        }
        append(&mut json, b"]")?;
        Ok(Some(json))
    }
}

/// Reads the objects of an array. Other values become objects without members.
pub fn objects(data: &[u8], array: Span) -> memory::Result<Vec<Object>> {
    let (mut list, mut memory) = (Vec::new(), Ok(()));
    Value { text: data, span: array }.items(|item| {
        if memory.is_ok() {
            memory = push(&mut list, Object::read(data, item.span));
        }
    });
    memory.map(|()| list)
}

/// A whole message.
struct Whole<'a> {
    data: &'a [u8],
    object: &'a Object,
    parts: Vec<Object>,
    /// The message of the stream that this item repeats.
    known: Option<usize>,
}

impl Responses {
    /// Adds the item at this place in the server's list.
    pub(super) fn add_item(
        &mut self,
        context: &mut Context<'_>,
        list: &mut List,
        data: &[u8],
        object: &Object,
        index: u64,
    ) -> Result<(), Error> {
        if object.has_reasoning(data) && !mem::replace(&mut self.server.thinking, true) && list.is_body {
            context.setup.stats.split_by_server += 1;
        }
        let (Some(id), Some(content)) = (&object.id, object.content.as_ref().filter(|_| object.is(data, b"message")))
        else {
            let is_reasoning = object.is(data, b"reasoning");
            if is_reasoning && self.outgoing.drops_thinking {
                list.is_changed = true;
                return Ok(self.outgoing.places.hide(index)?);
            }
            if !is_reasoning && !object.is(data, b"message") {
                self.promotion.close();
                self.server.calls = true;
            }
            let out = self.outgoing.places.of(index)?;
            return Ok(list.copy(data, object, out)?);
        };
        let id = inside(data, id);
        let known = self.messages.iter().rposition(|message| message.id == id && message.was_sent());
        let whole = Whole { data, object, parts: objects(data, content.clone())?, known };
        if let Some(known) = known
            && self.agrees(known, &whole)?
        {
            let message = &self.messages[known];
            if message.is_plain() {
                return Ok(list.copy(data, object, message.place)?);
            }
            if !message.is_cut {
                return Ok(list.add(data, object, message)?);
            }
        }
        let message = self.whole_message(context, list, &whole, Message::new(index, id)?)?;
        let has_extracted = |part: &TextPart| !part.extracted.is_empty();
        if message.is_thinking_alone() || message.parts.iter().any(has_extracted) {
            list.thought = memory::copy(&message.id)?;
        }
        if !message.is_plain() {
            return Ok(list.add(data, object, &message)?);
        }
        let out = match known {
            Some(known) if self.messages[known].is_plain() => self.messages[known].place,
            None if whole.parts.is_empty() => self.outgoing.places.of(index)?,
            _ => message.place,
        };
        Ok(list.copy(data, object, out)?)
    }

    /// Returns whether the parts of a repeated message have the text of its deltas.
    fn agrees(&self, message: usize, &Whole { data, ref parts, .. }: &Whole<'_>) -> Result<bool, Error> {
        let message = &self.messages[message];
        let mut decoded = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let index = index as u64;
            let agrees = match part.text_of(data) {
                None => message.has_other(index),
                Some(text) => {
                    let said = decode(&data[text], &mut decoded)?;
                    let known = message.parts.iter().find(|known| known.index == index);
                    known.map_or(said.is_empty(), |known| known.agrees(said))
                }
            };
            if !agrees {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Splits a whole message. Returns it with its closed items.
    fn whole_message(
        &mut self,
        context: &mut Context<'_>,
        list: &List,
        whole: &Whole<'_>,
        message: Message,
    ) -> Result<Message, Error> {
        let Whole { data, object, parts, known } = whole;
        let at = self.messages.len();
        push(&mut self.messages, if known.is_some() { message.repeats() } else { message })?;
        for (content, part) in parts.iter().enumerate() {
            if let Some(text) = part.text_of(data)
                && self.whole_text(context, list, whole, text, at, content)?
            {
                continue;
            }
            self.promotion.close();
            let message = &mut self.messages[at];
            message.open_message(content as u64, &mut self.outgoing, context)?;
            message.keep_done(content as u64, Some(&data[part.whole.clone()]), &mut self.outgoing)?;
        }
        let status = object.status.clone().map_or(&b"\"completed\""[..], |at| &data[at]);
        let message = &mut self.messages[at];
        message.close(status, &mut self.outgoing, context)?;
        if !parts.is_empty() {
            message.give_up_place(&mut self.outgoing);
        }
        Ok(self.messages.remove(at))
    }

    /// Splits the text of the part `content` of a whole message. Returns false if the message has too many parts.
    fn whole_text(
        &mut self,
        context: &mut Context<'_>,
        list: &List,
        &Whole { data, ref parts, known, .. }: &Whole<'_>,
        text: Span,
        message: usize,
        content: usize,
    ) -> Result<bool, Error> {
        let (object, index) = (&parts[content], content as u64);
        let of_known = |known: usize| self.messages[known].parts.iter().find(|part| part.index == index);
        let config = known.and_then(of_known).map(|part| part.config);
        let Some(part) = self.begin_part(context, message, index, config)? else { return Ok(false) };
        let mut decoded = Vec::new();
        let said = decode(&data[text], &mut decoded)?;
        let stats = context.setup.stats;
        let Message { id, parts, .. } = &mut self.messages[message];
        let here = &mut parts[part];
        here.added = memory::copy(&data[object.whole.clone()])?;
        here.state = PartState::Ended;
        here.take(said);
        let result = &mut context.scratch.parts;
        result.begin(if list.is_body { Purpose::Body } else { Purpose::Stream });
        // A closer after the thinking of a server that splits is left out of a whole text.
        let text = here.text.insert(here.config.start(context.setup)?);
        context.setup.look_for_calls(text, || prefix(id, here.config.number), list.is_body)?;
        context.setup.scan(text, Input::Feed(said), result)?;
        text.end_reason = list.end_reason;
        context.setup.scan(text, Input::Finish, result)?;
        if list.may_answer && text.was_answer {
            context.setup.answer(result);
        }
        if !list.is_body {
            // The text was counted when it arrived in pieces.
            context.setup.stats = stats;
            context.setup.stats.contradicted += u64::from(known.is_some());
        }
        if object.annotations.as_ref().is_some_and(|list| list.len() > 2) {
            let chars = chars(&split::content(result)?);
            here.stretches = split::content_stretches(context.setup, here.config, said, chars)?;
        }
        here.text = None;
        context.scratch.alone = ALONE;
        self.write_runs(context, message, part, None)?;
        let message = &mut self.messages[message];
        if said.is_empty() {
            message.open_part(part, &mut self.outgoing, context)?;
        }
        message.close_parts(|part| part.index == index, &mut self.outgoing, context)?;
        message.end_part(part, &mut self.outgoing);
        Ok(true)
    }
}
