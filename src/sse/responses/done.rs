//! Rewrites the events that repeat the text of a part or a message. Clients compare them with the deltas, so they must agree
//! with the rewritten deltas.

use super::annotations::{Annotations, chars};
use super::calls::prefix;
use super::changes::{put, put_string};
use super::fields::Object;
use super::list::objects;
use super::message::{Message, PartState};
use super::outgoing::write_text;
use super::repeat::write_text_part;
use super::split;
use super::{Incoming, Responses};
use crate::Error;
use crate::answer::{Input, Target};
use crate::json::decode;
use crate::memory::{self, append};
use crate::sse::protocol::Context;

impl Responses {
    /// Ends the text of a part. `said` is the whole text in the server's event. If it continues the deltas, the
    /// continuation is read too.
    fn end_text(&mut self, context: &mut Context<'_>, message: usize, part: usize, said: &[u8]) -> Result<(), Error> {
        let Message { id, parts, .. } = &mut self.messages[message];
        let here = &mut parts[part];
        if here.state != PartState::Growing {
            return Ok(());
        }
        here.state = PartState::Ended;
        context.scratch.parts.clear();
        let is_first = here.len == 0;
        let rest = here.came.rest(said).filter(|rest| is_first || !rest.trim_ascii().is_empty()).unwrap_or_default();
        here.take(rest);
        match &mut here.text {
            Some(text) => {
                if !rest.is_empty() {
                    context.setup.look_for_calls(text, || prefix(id, here.config.number), false)?;
                    context.setup.scan(text, Input::Feed(rest), &mut context.scratch.parts)?;
                }
                context.setup.scan(text, Input::Finish, &mut context.scratch.parts)?;
            }
            None if rest.is_empty() => {}
            None => context.scratch.parts.push_content(rest)?,
        }
        here.text = None;
        let is_same = matches!(context.scratch.parts.runs(), [run] if run.target() == Target::Content);
        if is_first && is_same && context.scratch.parts.text() == rest {
            // There were no deltas, so the whole text is sent at once.
            self.promotion.close();
            return self.messages[message].take_whole(part, rest, &mut self.outgoing, context);
        }
        if !rest.is_empty() {
            here.is_changed = true;
            if here.added.is_empty() {
                self.messages[message].announce_part(part, &mut self.outgoing)?;
            }
        }
        self.write_runs(context, message, part, None)?;
        if self.messages[message].parts[part].len == 0 {
            self.messages[message].open_part(part, &mut self.outgoing, context)?;
        }
        Ok(())
    }

    /// Returns whether a whole text contradicts the deltas of its part.
    fn contradicts(&self, message: usize, part: usize, said: &[u8]) -> bool {
        !said.is_empty() && !self.messages[message].parts[part].agrees(said)
    }

    /// Returns the content of a whole text for the open message, or `None` if the server's text stays: it needs no change, or has
    /// thinking or calls that were not sent.
    fn text_of_open(
        &mut self,
        context: &mut Context<'_>,
        message: usize,
        part: usize,
        said: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let contradicts = self.contradicts(message, part, said);
        let message = &self.messages[message];
        let here = &message.parts[part];
        match contradicts {
            true => split::content_of(context.setup, &message.id, here, said),
            false if here.is_plain() || said.is_empty() => Ok(None),
            false => Ok(Some(memory::copy(message.text_of_open(part, &mut self.outgoing))?)),
        }
    }

    /// Returns whether a part is open for an event that repeats its text. The part is opened if the event has new text.
    fn open_for(&mut self, context: &mut Context<'_>, message: usize, part: usize, said: &[u8]) -> Result<bool, Error> {
        if !self.messages[message].is_part_open(part) {
            if !self.contradicts(message, part, said) {
                return Ok(false);
            }
            self.promotion.close();
            self.messages[message].open_part(part, &mut self.outgoing, context)?;
        }
        Ok(true)
    }

    /// Returns a text part that repeats its text for the open message: with the content `text`, or unchanged.
    fn write_part(
        &self,
        context: &mut Context<'_>,
        data: &[u8],
        object: &Object,
        (message, part): (usize, usize),
        said: &[u8],
        text: Option<Vec<u8>>,
    ) -> Result<Vec<u8>, Error> {
        let Some(text) = text.filter(|text| *text != said) else {
            return Ok(memory::copy(&data[object.whole.clone()])?);
        };
        let here = &self.messages[message].parts[part];
        let mut annotations = Vec::new();
        if let Some(list) = object.annotations.clone().filter(|list| list.len() > 2) {
            let (before, in_item) = here.in_item();
            let len = chars(&text);
            let skip = if len == in_item && here.agrees(said) { before } else { 0 };
            let stretches = split::content_stretches(context.setup, here.config, said, skip + len)?;
            Annotations::In { stretches: &stretches, skip, len }.write_all(data, list, &mut annotations)?;
        }
        let mut json = Vec::new();
        write_text_part(data, object, &text, &annotations, &mut json)?;
        Ok(json)
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
        let contradicts = self.contradicts(message, part, said);
        let is_open = self.open_for(context, message, part, said)?;
        let mut json = Vec::new();
        if is_open {
            let text = self.text_of_open(context, message, part, said)?;
            json = self.write_part(context, data, &object, (message, part), said, text)?;
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
            // A part that contradicts the deltas does not repeat the text that was sent.
            let kept = if contradicts { None } else { Some(&json[..]) };
            message.keep_done(message.parts[part].index, kept, &mut self.outgoing)?;
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
        let parts = item.content.clone().map_or(Ok(Vec::new()), |content| objects(data, content))?;
        // Whether the event contradicts earlier events, and the part whose text contradicts its deltas.
        let (mut contradicts, mut new_text) = (false, None);
        let mut decoded = Vec::new();
        for (index, object) in parts.iter().enumerate() {
            let index = index as u64;
            let Some(text) = object.text_of(data) else {
                contradicts |= !self.messages[message].has_other(index);
                continue;
            };
            let known = self.messages[message].parts.iter().position(|part| part.index == index);
            let part = match known {
                Some(part) => Some(part),
                None => self.begin_part(context, message, index, None)?,
            };
            let Some(part) = part else { continue };
            let said = decode(&data[text], &mut decoded)?;
            if known.is_some() || !said.is_empty() {
                self.end_text(context, message, part, said)?;
            }
            if self.contradicts(message, part, said) {
                (contradicts, new_text) = (true, Some(part));
            }
        }
        for part in 0..self.messages[message].parts.len() {
            self.end_text(context, message, part, b"")?;
        }
        let status = item.status.clone().map_or(&b"\"completed\""[..], |at| &data[at]);
        if contradicts {
            self.promotion.close();
        }
        let here = &mut self.messages[message];
        if contradicts && !here.has_message_open() {
            match new_text {
                Some(part) => here.open_part(part, &mut self.outgoing, context)?,
                None => here.open_message(0, &mut self.outgoing, context)?,
            }
        } else if !here.has_message_open() {
            let is_empty = here.holds_start() && here.parts.iter().all(|part| part.len == 0);
            if !is_empty {
                here.close(status, &mut self.outgoing, context)?;
                here.give_up_place(&mut self.outgoing);
                here.end(&mut self.outgoing);
                self.outgoing.renumbers = true;
                return Ok(false);
            }
            here.open_message(0, &mut self.outgoing, context)?;
        }
        // The server has not sent the starts of these parts, so it will not send their ends either.
        here.close_parts(|part| part.is_unannounced, &mut self.outgoing, context)?;
        let is_plain = here.is_plain();
        if !contradicts && !is_plain {
            // Parts that the server has not ended are not in the kept content.
            self.outgoing.is_silent = true;
            here.close_parts(|_| true, &mut self.outgoing, context)?;
            self.outgoing.is_silent = false;
        }
        if contradicts || here.lacks_parts() && !is_plain {
            self.put_parts(context, data, item, &parts, message)?;
        } else if !is_plain {
            here.put_done(data, item, &mut context.scratch.edits)?;
        }
        let here = &mut self.messages[message];
        here.pass(event, fields, None, &mut self.outgoing, context)?;
        if !is_plain {
            here.keep_message(&mut self.outgoing)?;
        }
        here.end(&mut self.outgoing);
        Ok(true)
    }

    /// Notes the changes of an item that contradicts its earlier events, or whose parts were not kept: each text is split by itself.
    fn put_parts(
        &self,
        context: &mut Context<'_>,
        data: &[u8],
        item: &Object,
        parts: &[Object],
        message: usize,
    ) -> Result<(), Error> {
        let here = &self.messages[message];
        let (mut content, mut decoded) = (Vec::new(), Vec::new());
        for (index, object) in parts.iter().enumerate() {
            append(&mut content, if index > 0 { b"," } else { b"" })?;
            let known = here.parts.iter().position(|part| part.index == index as u64);
            let Some((part, text)) = known.zip(object.text_of(data)) else {
                append(&mut content, &data[object.whole.clone()])?;
                continue;
            };
            let said = decode(&data[text], &mut decoded)?;
            let text = split::content_of(context.setup, &here.id, &here.parts[part], said)?;
            append(&mut content, &self.write_part(context, data, object, (message, part), said, text)?)?;
        }
        Ok(here.put_content(data, item, &content, &mut context.scratch.edits)?)
    }
}
