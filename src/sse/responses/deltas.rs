//! Rewrites the events in which the parts of a message begin and their texts grow.

use std::mem;

use super::calls::{prefix, unique, write_number};
use super::fields::{Fields, Kind, Object};
use super::message::{Carrier, Message, OpenItem, PartState, TextConfig, TextPart, extract};
use super::{Incoming, PARTS, Responses};
use crate::Error;
use crate::answer::{CallPart, Input, Target};
use crate::json::decode;
use crate::memory::{self, append, push};
use crate::sse::protocol::Context;

impl Responses {
    /// Writes an event of a message that has not ended.
    pub(super) fn of_message(
        &mut self,
        context: &mut Context<'_>,
        incoming: Incoming<'_>,
        message: usize,
    ) -> Result<bool, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let content = Fields::number(&fields.content_index, data);
        let object = fields.part.clone().map(|at| Object::read(data, at));
        let is_text = match fields.kind {
            Kind::PartAdded | Kind::PartDone => object.as_ref().is_some_and(|part| part.is(data, b"output_text")),
            Kind::TextDelta => fields.delta.is_some(),
            Kind::TextDone => fields.text.is_some(),
            Kind::Annotation => true,
            _ => false,
        };
        if fields.kind == Kind::ItemDone
            && let Some(item) = fields.item.clone().map(|at| Object::read(data, at))
        {
            return self.item_done(context, incoming, message, &item);
        }
        let known = self.part(message, data, fields);
        let part = match (known, content) {
            (Some(_), _) if fields.kind == Kind::PartAdded => None,
            (Some(part), _) => Some(part),
            (None, Some(content)) if is_text => {
                let part = self.begin_part(context, message, content, None)?;
                if let Some(part) = part.filter(|_| !matches!(fields.kind, Kind::PartAdded | Kind::Annotation)) {
                    self.messages[message].announce_part(part, &mut self.outgoing)?;
                }
                part
            }
            (None, _) => None,
        };
        if let Some(part) = part.filter(|_| is_text) {
            let state = self.messages[message].parts[part].state;
            match fields.kind {
                Kind::PartAdded => {
                    if self.messages[message].hold_part(part, event, &mut self.outgoing)? {
                        return Ok(false);
                    }
                    // The start cannot be held, so the message is opened now.
                    self.messages[message].open_part(part, &mut self.outgoing, context)?;
                }
                Kind::TextDelta if state == PartState::Growing => {
                    return self.delta(context, incoming, message, part);
                }
                Kind::TextDone if state == PartState::Growing => {
                    return self.text_done(context, incoming, message, part);
                }
                Kind::PartDone if state != PartState::Over => {
                    return self.part_done(context, incoming, message, part);
                }
                Kind::Annotation if self.messages[message].parts[part].len > 0 => {
                    let is_kept = self.messages[message].annotate(part, event, fields, &mut self.outgoing, context)?;
                    self.outgoing.renumbers |= !is_kept;
                    return Ok(is_kept);
                }
                _ => {}
            }
        }
        // The event is not about text, or arrives out of order.
        self.promotion.close();
        let message = &mut self.messages[message];
        message.open_message(content.unwrap_or(0), &mut self.outgoing, context)?;
        if let Some(content) = content {
            message.note_other(content)?;
        }
        if let (Kind::PartDone, Some(object)) = (fields.kind, &object) {
            message.keep_done(content.unwrap_or(0), Some(&data[object.whole.clone()]), &mut self.outgoing)?;
        }
        message.pass(event, fields, content, &mut self.outgoing, context)?;
        Ok(true)
    }

    /// Begins a text part of a message, with the settings of the part that it repeats, if it repeats one. Returns `None` if the
    /// message has too many parts.
    pub(super) fn begin_part(
        &mut self,
        context: &mut Context<'_>,
        message: usize,
        content: u64,
        known: Option<TextConfig>,
    ) -> Result<Option<usize>, Error> {
        let parts = &mut self.messages[message].parts;
        if parts.len() == PARTS {
            return Ok(None);
        }
        let config = known.unwrap_or(TextConfig { number: self.outgoing.texts, server: self.server });
        self.outgoing.texts += u64::from(known.is_none());
        let is_split = config.server.thinking && !context.setup.reads_split();
        let text = if is_split { None } else { Some(config.start(context.setup)?) };
        push(parts, TextPart::new(content, config, text))?;
        Ok(Some(parts.len() - 1))
    }

    /// Writes a delta of a text.
    fn delta(
        &mut self,
        context: &mut Context<'_>,
        incoming: Incoming<'_>,
        message: usize,
        part: usize,
    ) -> Result<bool, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let Some(delta) = fields.delta.clone() else { return Ok(true) };
        let mut decoded = mem::take(&mut context.scratch.decoded);
        let said = decode(&data[delta], &mut decoded)?;
        context.scratch.parts.clear();
        if said.is_empty() && !incoming.is_last {
            let here = &mut self.messages[message];
            context.scratch.decoded = decoded;
            if matches!(here.open, OpenItem::Reasoning | OpenItem::Call { .. }) {
                self.outgoing.renumbers = true;
                return Ok(false);
            }
            if !here.is_part_open(part) && here.hold_empty(part, event, &mut self.outgoing)? {
                return Ok(false);
            }
            let index = here.parts[part].index;
            here.open_part(part, &mut self.outgoing, context)?;
            here.pass(event, fields, Some(index), &mut self.outgoing, context)?;
            return Ok(true);
        }
        let Message { id, parts, .. } = &mut self.messages[message];
        let here = &mut parts[part];
        here.take(said);
        match &mut here.text {
            Some(text) => {
                let number = here.config.number;
                if !said.is_empty() {
                    context.setup.look_for_calls(text, || prefix(id, number), false)?;
                    context.setup.scan(text, Input::Feed(said), &mut context.scratch.parts)?;
                }
                if incoming.is_last {
                    context.setup.scan(text, Input::Finish, &mut context.scratch.parts)?;
                    here.text = None;
                }
            }
            None => context.scratch.parts.push_content(said)?,
        }
        let is_same = match context.scratch.parts.runs() {
            [run] => run.target() == Target::Content && context.scratch.parts.text_of(run) == said,
            [] => said.is_empty(),
            _ => false,
        };
        let is_undecided = context.scratch.parts.runs().is_empty() && here.holds_all();
        here.is_changed |= !is_same && !is_undecided;
        let is_written = if said.is_empty() && context.scratch.parts.runs().is_empty() {
            let here = &mut self.messages[message];
            let index = here.parts[part].index;
            here.open_part(part, &mut self.outgoing, context)?;
            here.pass(event, fields, Some(index), &mut self.outgoing, context)?;
            true
        } else {
            self.write_runs(context, message, part, Some(Carrier { event, fields, is_same }))?
        };
        context.scratch.decoded = decoded;
        self.outgoing.renumbers |= !is_written;
        Ok(is_written)
    }

    /// Writes the scanner's results, the last stretch in the carrier, if there is a carrier. Returns whether the carrier is
    /// written.
    pub(super) fn write_runs(
        &mut self,
        context: &mut Context<'_>,
        message: usize,
        part: usize,
        carrier: Option<Carrier<'_>>,
    ) -> Result<bool, Error> {
        let parts = mem::take(&mut context.scratch.parts);
        self.promotion.see(&parts);
        extract(&parts, &mut self.messages[message].parts[part].extracted);
        let runs = parts.runs();
        let (single, joined) = runs.split_at(runs.len().min(context.scratch.alone));
        context.scratch.alone -= single.len();
        let mut is_written = false;
        for (number, run) in single.iter().enumerate() {
            let carrier = carrier.as_ref().filter(|_| number + 1 == runs.len());
            match parts.call_part(run) {
                Some(call) => self.call(context, message, &call)?,
                None => {
                    let target = run.target();
                    self.text(context, message, part, target, parts.text_of(run), carrier)?;
                    let is_left_out = target == Target::Reasoning && self.outgoing.drops_thinking;
                    is_written |= carrier.is_some() && !is_left_out;
                }
            }
        }
        for target in [Target::Reasoning, Target::Content] {
            let mut text = Vec::new();
            for run in joined.iter().filter(|run| run.target() == target) {
                append(&mut text, parts.text_of(run))?;
            }
            if !text.is_empty() {
                self.text(context, message, part, target, &text, None)?;
            }
        }
        for call in joined.iter().filter_map(|run| parts.call_part(run)) {
            self.call(context, message, &call)?;
        }
        context.scratch.parts = parts;
        Ok(is_written)
    }

    fn text(
        &mut self,
        context: &mut Context<'_>,
        message: usize,
        part: usize,
        target: Target,
        text: &[u8],
        carrier: Option<&Carrier<'_>>,
    ) -> Result<(), Error> {
        let is_thinking = target == Target::Reasoning;
        match is_thinking {
            false => self.promotion.close(),
            true if self.promotion.is_closed() => {}
            // Text that is kept for promotion counts towards the limit of all kept texts.
            true if self.outgoing.take_room(text) < text.len() => self.promotion.give_up(),
            true => self.promotion.take_thinking(text)?,
        }
        let message = &mut self.messages[message];
        match is_thinking {
            true => message.reasoning(text, carrier, &mut self.outgoing, context),
            false => message.content(part, text, carrier, &mut self.outgoing, context),
        }
    }

    fn call(&mut self, context: &mut Context<'_>, message: usize, call: &CallPart<'_>) -> Result<(), Error> {
        self.promotion.close();
        let message = &mut self.messages[message];
        match *call {
            CallPart::Begin { id, name } => {
                let number = unique(id, &mut self.outgoing)?;
                let mut id = memory::copy(id)?;
                write_number(number, &mut id)?;
                message.open_call(id, name, &mut self.outgoing, context)
            }
            CallPart::Arguments(text) => message.arguments(text, &mut self.outgoing, context),
        }
    }
}
