//! Rewrites the event at the end of a response, which repeats all items, and responses that arrive whole.

use std::mem;

use super::changes::put;
use super::fields::{Object, inside};
use super::message::OpenItem;
use super::outgoing;
use super::whole::{Items, Scope};
use super::{Incoming, Responses};
use crate::answer::Input;
use crate::json::{Edits, Span, values};
use crate::memory::{self, append};
use crate::sse::protocol::Context;
use crate::{EndReason, Error};

impl Responses {
    /// Writes the event that ends the response and repeats all items.
    pub(super) fn ended(&mut self, context: &mut Context<'_>, incoming: Incoming<'_>) -> Result<(), Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        self.release_but(context, Input::Finish, None)?;
        let response = fields.response.clone().map(|at| Object::read(data, at)).unwrap_or_default();
        let is_complete = fields.name.as_ref().is_some_and(|name| inside(data, name) == b"response.completed");
        let is_complete = is_complete && response.status.as_ref().is_none_or(|at| inside(data, at) == b"completed");
        for message in self.messages.iter_mut().filter(|message| match message.open {
            OpenItem::Nothing => false,
            OpenItem::Reasoning | OpenItem::Call { .. } => true,
            OpenItem::Message => message.is_unannounced,
        }) {
            let status = if is_complete { &b"\"completed\""[..] } else { b"\"incomplete\"" };
            message.close(status, &mut self.outgoing, context)?;
        }
        let mut promoted = None;
        // A message that was sent as thinking alone has not used its id, so the promoted message gets that id.
        let thought = self.messages.iter().rfind(|message| message.is_thinking_alone());
        let thinking = if is_complete { self.promotion.content() } else { Some(&b""[..]) };
        context.setup.stats.unpromoted += u64::from(thinking.is_none());
        let thinking = thinking.unwrap_or_default();
        if let (false, Some(message), Some(last)) = (thinking.is_empty(), thought, self.messages.last()) {
            let place = self.outgoing.places.insert(last.index);
            self.outgoing.promote(outgoing::Target { out: place, id: &message.id, pair: 1 }, thinking, context.out)?;
            promoted = Some(place);
        }
        if let Some(output) = response.output {
            let mut items = Items::new(context.setup, &mut self.outgoing, Scope::Stream);
            let mut index = 0;
            let mut added = Ok(());
            values(data, output.clone(), |at| {
                let object = Object::read(data, at);
                let id = object.id.as_ref().map(|id| inside(data, id));
                let record = self.messages.iter().rfind(|message| Some(&message.id[..]) == id);
                if added.is_ok() {
                    added = items.add(data, &object, index, record);
                }
                index += 1;
            });
            added?;
            if let (Some(place), Some(message)) = (promoted, thought) {
                items.promote(&message.id, place, thinking)?;
            }
            if items.is_changed {
                let mut list = Vec::new();
                items.write_list(&mut list)?;
                put(&mut context.scratch.edits, data, output, |out| append(out, &list))?;
            }
        }
        self.outgoing.pass(event, fields, &mut context.scratch.edits, None, context.out)?;
        self.end_response();
        self.outgoing.end_response();
        Ok(())
    }

    /// Writes a whole body, which is an answer that is not a stream, with its changes. Returns whether there are any.
    pub(super) fn whole(&mut self, context: &mut Context<'_>, raw: &[u8]) -> Result<bool, Error> {
        let response = Object::read(raw, 0..raw.len());
        let Some(output) = response.output.clone() else {
            append(context.out, raw)?;
            return Ok(false);
        };
        // The thinking of a body is removed later.
        let mut outgoing = self.outgoing.fresh();
        outgoing.drops_thinking = false;
        let mut items = Items::new(context.setup, &mut outgoing, Scope::Body);
        items.promotion = self.promotes.of_body();
        let is_complete = response.status.clone().is_none_or(|at| inside(raw, &at) == b"completed");
        items.end_reason = if is_complete { EndReason::Ended } else { EndReason::Unknown };
        items.may_answer = is_complete && self.promotes.is_guess_wanted;
        let (mut index, mut added) = (0, Ok(()));
        values(raw, output.clone(), |at| {
            let object = Object::read(raw, at);
            if added.is_ok() {
                added = items.add(raw, &object, index, None);
            }
            index += 1;
        });
        added?;
        let thinking = memory::copy(items.promotion.content().unwrap_or_default())?;
        if is_complete && !thinking.is_empty() {
            let place = items.outgoing.places.insert(index);
            let id = mem::take(&mut items.id);
            items.promote(&id, place, &thinking)?;
        }
        let is_changed = items.is_changed;
        context.scratch.edits.clear();
        if is_changed {
            let mut list = Vec::new();
            items.write_list(&mut list)?;
            context.scratch.edits.replace(output, |out| append(out, &list))?;
        }
        context.scratch.edits.apply(raw, 0..raw.len(), Span::clone, context.out)?;
        context.scratch.edits = Edits::default();
        Ok(is_changed)
    }
}
