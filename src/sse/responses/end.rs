//! Rewrites the event at the end of a response, which repeats all items, and responses that arrive whole.

use super::changes::put;
use super::fields::{Object, inside};
use super::list::{List, objects};
use super::message::OpenItem;
use super::outgoing;
use super::{Incoming, Responses};
use crate::answer::Input;
use crate::json::{Edits, Span};
use crate::memory::append;
use crate::sse::protocol::{Context, ServerDoes};
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
        let thinking = if is_complete { self.promotion.counted(&mut context.setup.stats) } else { b"" };
        if let (false, Some(message), Some(last)) = (thinking.is_empty(), thought, self.messages.last()) {
            let place = self.outgoing.places.insert(last.index);
            self.outgoing.promote(
                outgoing::ItemTarget { out: place, id: &message.id, pair: 1 },
                thinking,
                context.out,
            )?;
            let mut json = Vec::new();
            outgoing::write_promoted(&message.id, thinking, &mut json)?;
            promoted = Some((place, json));
        }
        if let Some(output) = response.output {
            let list = self.list_of_stream(context, data, output.clone(), promoted)?;
            if let Some(list) = list {
                put(&mut context.scratch.edits, data, output, |out| append(out, &list))?;
            }
        }
        self.outgoing.pass(event, fields, &mut context.scratch.edits, None, context.out)?;
        self.end_response();
        self.outgoing.end_response();
        Ok(())
    }

    /// Returns the list of items for the event that ends the response, or `None` if the server's list needs no change.
    fn list_of_stream(
        &mut self,
        context: &mut Context<'_>,
        data: &[u8],
        output: Span,
        promoted: Option<(u64, Vec<u8>)>,
    ) -> Result<Option<Vec<u8>>, Error> {
        self.promotion.close();
        self.server = ServerDoes::default();
        self.outgoing.is_silent = true;
        // A message that the server has not closed is repeated as far as it was sent.
        for message in self.messages.iter_mut().filter(|message| message.has_message_open() && !message.is_plain()) {
            message.close(b"\"incomplete\"", &mut self.outgoing, context)?;
        }
        let mut list = List::of_stream();
        for (index, object) in objects(data, output)?.iter().enumerate() {
            self.add_item(context, &mut list, data, object, index as u64)?;
        }
        self.outgoing.is_silent = false;
        if let Some((place, json)) = promoted {
            list.add_made(place, json)?;
        }
        list.written()
    }

    /// Writes a whole body, which is an answer that is not a stream, with its changes. Returns whether anything changed.
    pub fn body(&mut self, context: &mut Context<'_>, raw: &[u8]) -> Result<bool, Error> {
        let response = Object::read(raw, 0..raw.len());
        let Some(output) = response.output.clone() else {
            append(context.out, raw)?;
            return Ok(false);
        };
        self.begin();
        self.promotion = self.promotes.of_body();
        self.outgoing.is_silent = true;
        let is_complete = response.status.clone().is_none_or(|at| inside(raw, &at) == b"completed");
        let end_reason = if is_complete { EndReason::Ended } else { EndReason::Unknown };
        let mut list = List::of_body(end_reason, is_complete && self.promotes.is_guess_wanted);
        let objects = objects(raw, output.clone())?;
        for (index, object) in objects.iter().enumerate() {
            self.add_item(context, &mut list, raw, object, index as u64)?;
        }
        let thinking = self.promotion.content().unwrap_or_default();
        if is_complete && !thinking.is_empty() {
            let place = self.outgoing.places.insert(objects.len() as u64);
            let mut json = Vec::new();
            outgoing::write_promoted(&list.thought, thinking, &mut json)?;
            list.add_made(place, json)?;
        }
        self.begin();
        context.scratch.edits.clear();
        let list = list.written()?;
        let is_changed = list.is_some();
        if let Some(list) = list {
            context.scratch.edits.put(output, &[&list])?;
        }
        context.scratch.edits.apply(raw, 0..raw.len(), Span::clone, context.out)?;
        context.scratch.edits = Edits::default();
        Ok(is_changed)
    }
}
