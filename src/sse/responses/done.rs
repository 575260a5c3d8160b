//! Rewrites the events that repeat the text of a part or a message. Clients compare them with the deltas, so they must agree
//! with the rewritten deltas.

use std::mem;

use super::annotations::{Annotations, chars};
use super::calls::prefix;
use super::changes::{put, put_string};
use super::fields::Object;
use super::message::PartState;
use super::outgoing::write_text;
use super::split::{self, Comparison};
use super::whole::{self, Items, Scope};
use super::{Incoming, Responses};
use crate::Error;
use crate::answer::{Input, Target};
use crate::json::{decode, values};
use crate::memory::{self, append, push};
use crate::sse::protocol::Context;

impl Responses {
    /// Ends the text of a part. `said` is the whole text in the server's event.
    fn end_text(&mut self, context: &mut Context<'_>, message: usize, part: usize, said: &[u8]) -> Result<(), Error> {
        let here = &mut self.messages[message];
        let id = &here.id;
        let here = &mut here.parts[part];
        if here.state != PartState::Growing {
            return Ok(());
        }
        here.state = PartState::Ended;
        context.scratch.parts.clear();
        let is_new = here.digest.len == 0 && !said.is_empty();
        if is_new {
            here.take(said);
        }
        match &mut here.text {
            Some(text) => {
                if is_new {
                    let number = here.config.number;
                    context.setup.look_for_calls(text, || prefix(id, number), false)?;
                    context.setup.scan(text, Input::Feed(said), &mut context.scratch.parts)?;
                }
                context.setup.scan(text, Input::Finish, &mut context.scratch.parts)?;
            }
            None if is_new => context.scratch.parts.push_content(said)?,
            None => {}
        }
        here.text = None;
        let is_same = matches!(context.scratch.parts.runs(), [run] if run.target() == Target::Content);
        if is_new && is_same && context.scratch.parts.text() == said {
            // There were no deltas, so the whole text is sent at once.
            here.sent.add(&context.scratch.parts);
            self.promotion.close();
            return self.messages[message].take_whole(part, said, &mut self.outgoing, context);
        }
        if is_new {
            here.is_changed = true;
            if here.added.is_empty() {
                self.messages[message].announce_part(part, &mut self.outgoing)?;
            }
        }
        self.write_runs(context, message, part, None)?;
        if self.messages[message].parts[part].digest.len == 0 {
            let message = &mut self.messages[message];
            message.open_message(Some(part), message.parts[part].index, &mut self.outgoing, context)?;
        }
        Ok(())
    }

    /// Returns the content of a whole text that belongs to the open message, or `None` if all of it does.
    fn text_of_open(
        &mut self,
        context: &mut Context<'_>,
        message: usize,
        part: usize,
        said: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let message = &self.messages[message];
        let here = &message.parts[part];
        if here.agrees(said) {
            if !here.is_changed {
                return Ok(None);
            }
            return Ok(Some(memory::copy(message.text_of_open(&mut self.outgoing))?));
        }
        let (content, comparison) = split::content_of(context.setup, &message.id, here, said)?;
        Ok(match comparison {
            Comparison::New => None,
            Comparison::NewContent => Some(content),
            Comparison::Same | Comparison::Known => {
                let before = message.len_before(part);
                let before = before + split::cut_off(&content, before);
                Some(memory::copy(content.get(before..).unwrap_or_default())?)
            }
        })
    }

    /// Returns whether a whole text has something that was not sent for its part.
    fn is_new(&self, context: &mut Context<'_>, message: usize, part: usize, said: &[u8]) -> Result<bool, Error> {
        let message = &self.messages[message];
        let here = &message.parts[part];
        Ok(!said.is_empty()
            && !here.agrees(said)
            && split::content_of(context.setup, &message.id, here, said)?.1.is_new())
    }

    /// Returns whether a part is open for an event that repeats its text. The part is opened if the event has new text.
    fn open_for(&mut self, context: &mut Context<'_>, message: usize, part: usize, said: &[u8]) -> Result<bool, Error> {
        if !self.messages[message].is_part_open(part) {
            if !self.is_new(context, message, part, said)? {
                return Ok(false);
            }
            self.promotion.close();
            let message = &mut self.messages[message];
            message.open_message(Some(part), message.parts[part].index, &mut self.outgoing, context)?;
        }
        Ok(true)
    }

    /// Writes the event that repeats the text of a part.
    pub(super) fn text_done(
        &mut self,
        context: &mut Context<'_>,
        incoming: Incoming<'_>,
        message: usize,
        part: usize,
    ) -> Result<bool, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let Some(at) = &fields.text else { return Ok(true) };
        let mut decoded = Vec::new();
        let said = decode(&data[at.clone()], &mut decoded)?;
        self.end_text(context, message, part, said)?;
        if !self.open_for(context, message, part, said)? {
            self.outgoing.renumbers = true;
            return Ok(false);
        }
        let text = self.text_of_open(context, message, part, said)?;
        if let Some(text) = text
            && text != said
        {
            put_string(&mut context.scratch.edits, data, at, |out| write_text(b"", &text, out))?;
            if let Some(logprobs) = &fields.logprobs {
                put(&mut context.scratch.edits, data, logprobs.value.clone(), |out| append(out, b"[]"))?;
            }
        }
        let message = &mut self.messages[message];
        message.parts[part].is_text_done = true;
        let index = message.parts[part].index;
        message.pass(event, fields, Some(index), &mut self.outgoing, context)?;
        Ok(true)
    }

    /// Writes the event that repeats a part.
    pub(super) fn part_done(
        &mut self,
        context: &mut Context<'_>,
        incoming: Incoming<'_>,
        message: usize,
        part: usize,
    ) -> Result<bool, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let object = fields.part.clone().map(|at| Object::read(data, at)).unwrap_or_default();
        let mut decoded = Vec::new();
        let said = match &object.text {
            Some(text) => decode(&data[text.clone()], &mut decoded)?,
            None => b"",
        };
        self.end_text(context, message, part, said)?;
        let is_open = self.open_for(context, message, part, said)?;
        let mut json = Vec::new();
        if is_open {
            let text = self.text_of_open(context, message, part, said)?;
            let here = &self.messages[message];
            let mut stretches = Vec::new();
            let mut place = Annotations::Before(0);
            let has_annotations = object.annotations.as_ref().is_some_and(|list| list.len() > 2);
            if let Some(text) = &text
                && has_annotations
            {
                let (content, _) = split::content_of(context.setup, &here.id, &here.parts[part], said)?;
                stretches = split::content_stretches(context.setup, here.parts[part].config, said, &content)?;
                let before = content.strip_suffix(&text[..]).or_else(|| content.get(..here.len_before(part)));
                let (before, len) = (before.unwrap_or_default(), chars(text));
                place = Annotations::In { stretches: &stretches, skip: chars(before), len };
            }
            whole::write_part(data, &object, said, text.as_deref().unwrap_or(said), place, &mut json)?;
            drop(stretches);
        }
        let message = &mut self.messages[message];
        if is_open {
            if json != data[object.whole.clone()] {
                put(&mut context.scratch.edits, data, object.whole, |out| append(out, &json))?;
            }
            let index = message.parts[part].index;
            message.pass(event, fields, Some(index), &mut self.outgoing, context)?;
        }
        message.end_part(part, &mut self.outgoing);
        if is_open {
            message.keep_done(&json, &mut self.outgoing)?;
            return Ok(true);
        }
        self.outgoing.renumbers = true;
        Ok(false)
    }

    /// Writes the event that repeats a message.
    pub(super) fn item_done(
        &mut self,
        context: &mut Context<'_>,
        incoming: Incoming<'_>,
        message: usize,
        item: &Object,
    ) -> Result<bool, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let mut texts = Vec::new();
        // Whether the event has something that was not sent, and the part whose text that is.
        let (mut is_new, mut new_text) = (false, None);
        let here = &self.messages[message];
        if let Some(content) = &item.content {
            let (mut index, mut memory) = (0, Ok(()));
            values(data, content.clone(), |at| {
                let part = Object::read(data, at);
                match part.text.clone().filter(|_| part.is(data, b"output_text")) {
                    Some(text) if memory.is_ok() => memory = push(&mut texts, (index, text)),
                    Some(_) => {}
                    None => is_new |= !here.has_verbatim(index),
                }
                index += 1;
            });
            memory?;
        }
        let mut decoded = Vec::new();
        for (index, text) in texts {
            let known = self.messages[message].parts.iter().position(|part| part.index == index);
            let part = match known {
                Some(part) => Some(part),
                None => self.begin_part(context, message, index)?,
            };
            let Some(part) = part else { continue };
            let said = decode(&data[text], &mut decoded)?;
            if known.is_some() || !said.is_empty() {
                self.end_text(context, message, part, said)?;
            }
            if self.is_new(context, message, part, said)? {
                (is_new, new_text) = (true, Some(part));
            }
        }
        for part in 0..self.messages[message].parts.len() {
            self.end_text(context, message, part, b"")?;
        }
        let status = item.status.clone().map_or(&b"\"completed\""[..], |at| &data[at]);
        if is_new {
            self.promotion.close();
        }
        let here = &mut self.messages[message];
        if is_new && !here.has_message_open() {
            let index = new_text.map_or(0, |part| here.parts[part].index);
            here.open_message(new_text, index, &mut self.outgoing, context)?;
        } else if !here.has_message_open() {
            let is_empty = here.holds_start() && here.parts.iter().all(|part| part.digest.len == 0);
            if !is_empty {
                here.close(status, &mut self.outgoing, context)?;
                here.give_up_place(&mut self.outgoing);
                here.end(&mut self.outgoing);
                self.outgoing.renumbers = true;
                return Ok(false);
            }
            here.open_message(None, 0, &mut self.outgoing, context)?;
        }
        here.close_unannounced(&mut self.outgoing, context)?;
        let place = here.place;
        if here.pieces.is_some() {
            let mut items = Items::new(context.setup, &mut self.outgoing, Scope::Item);
            items.add(data, item, here.index, Some(here))?;
            let found = items.list.iter().find(|(out, _)| *out == place).map(|(_, at)| at.clone());
            let json = mem::take(&mut items.json);
            if let Some(at) = found
                && json[at.clone()] != data[item.whole.clone()]
            {
                put(&mut context.scratch.edits, data, item.whole.clone(), |out| append(out, &json[at]))?;
            }
        } else if !is_new {
            here.put_done(data, item, &mut context.scratch.edits)?;
        }
        here.pass(event, fields, None, &mut self.outgoing, context)?;
        here.end(&mut self.outgoing);
        Ok(true)
    }
}
