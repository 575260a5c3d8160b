//! Answers of OpenAI Responses. The output is a list of items. Each item begins, grows and ends in separate events, and is
//! repeated as a whole. Thinking in the text of a message must become an item before the message, so all later items move. A
//! client must get the same items from the events and from the repeated whole.
//!
//! A message of the server, and the output for its open item:
//!
//! | open item | thinking arrives | content arrives | a call arrives | the message is done |
//! |---|---|---|---|---|
//! | nothing | a reasoning item's start | the message's start | a call's start | the message's start and end |
//! | reasoning | a delta | the end; the message's start | the end; a call's start | the end |
//! | message | the end; a reasoning item's start | a delta | the end; a call's start | the server's end, with the item's text |
//! | call | the end; a reasoning item's start | the end; the message's start | a delta, or the end and a start | the end |
//!
//! The first message that is sent has the place of the server's message, unless that place was given to another item. A pair is at
//! most one reasoning item and then one message; the ids of later pairs have a number. A part of the message grows, its text ends, and
//! the part is over (`PartState`). Each event that repeats a text is changed to repeat the deltas that were sent, or is left out if
//! its item is closed already. An added item moves all later items by one place, and after an added or omitted event all sequence
//! numbers are counted anew.
//!
//! Laws: an event or body without changes is copied, but a message's start is held until its text shows which items it becomes. Each
//! part of a text is written once as deltas, and repeated as it was sent. A message of a body is read like the deltas of a stream.
//! Without the thinking, the other items are the same, with indexes that leave no gap.

mod annotations;
mod calls;
mod changes;
mod deltas;
mod done;
mod end;
mod fields;
mod list;
mod message;
mod outgoing;
mod places;
mod repeat;
mod split;
mod unplaced;

use std::mem;

use super::event::{Event, EventPart};
use super::hide;
use super::options::Options;
use super::protocol::{Context, Protocol, ServerDoes};
use crate::Error;
use crate::answer::{Input, Promotes, Promotion, Setup};
use crate::memory::push;
use changes::put_number;
pub use fields::{Fields, Kind, is_read};
use fields::{Object, inside};
use message::{Message, PartState};
use outgoing::Outgoing;
use unplaced::Unplaced;

/// The maximum number of messages of a response whose text is split.
const MESSAGES: usize = 128;

/// The maximum number of parts of a message whose text is split.
const PARTS: usize = 128;

/// An event of the server.
#[derive(Clone, Copy)]
struct Incoming<'a> {
    event: &'a EventPart<'a>,
    fields: &'a Fields,
    /// Whether the event is the last.
    is_last: bool,
}

/// The stream of one response, or of several in succession.
pub struct Responses {
    outgoing: Outgoing,
    messages: Vec<Message>,
    unplaced: Unplaced,
    promotes: Promotes,
    promotion: Promotion,
    /// Whether events of a response have arrived.
    is_active: bool,
    server: ServerDoes,
}

impl Responses {
    pub fn new(options: &Options) -> Responses {
        // No limit here: `Outgoing` limits the memory of all kept texts together.
        let promotes = Promotes::new(&options.answer, options.max_event_bytes()).without_limit();
        Responses {
            outgoing: Outgoing::new(options),
            messages: Vec::new(),
            unplaced: Unplaced::default(),
            promotes,
            promotion: promotes.of_stream(),
            is_active: false,
            server: ServerDoes::default(),
        }
    }

    /// Forgets the response, perhaps for a new stream.
    pub fn begin(&mut self) {
        self.outgoing = self.outgoing.fresh();
        self.end_response();
        self.is_active = false;
    }

    /// Returns whether events of a response have arrived.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    fn end_response(&mut self) {
        self.messages.clear();
        self.unplaced.clear();
        self.promotion = self.promotes.of_stream();
        self.server = ServerDoes::default();
    }

    /// Returns an event of the server with the indexes that the server has left out, if they are known.
    pub fn complete(&mut self, raw: &[u8], event: &Event, fields: &Fields) -> Result<Option<Vec<u8>>, Error> {
        if fields.kind == Kind::Created {
            self.unplaced.clear();
        }
        event.single().map_or(Ok(None), |data| self.unplaced.complete(raw, data, fields))
    }

    fn release_but(
        &mut self,
        context: &mut Context<'_>,
        input: Input<'_>,
        but: Option<(usize, usize)>,
    ) -> Result<(), Error> {
        for message in 0..self.messages.len() {
            for part in 0..self.messages[message].parts.len() {
                if but != Some((message, part)) {
                    self.release_part(context, input, message, part)?;
                }
            }
            if but.is_none_or(|(other, _)| other != message) {
                self.release_start(context, message)?;
            }
        }
        Ok(())
    }

    fn release_part(
        &mut self,
        context: &mut Context<'_>,
        input: Input<'_>,
        message: usize,
        part: usize,
    ) -> Result<(), Error> {
        let here = &mut self.messages[message].parts[part];
        let Some(text) = &mut here.text else { return Ok(()) };
        context.scratch.parts.clear();
        context.setup.scan(text, input, &mut context.scratch.parts)?;
        let is_over = matches!(input, Input::Finish);
        if is_over {
            here.text = None;
        }
        self.write_runs(context, message, part, None)?;
        if is_over {
            self.messages[message].release_part_start(part, &mut self.outgoing, context)?;
        }
        Ok(())
    }

    /// Writes the held start of a message, unless something was already removed from its text.
    fn release_start(&mut self, context: &mut Context<'_>, message: usize) -> Result<(), Error> {
        let message = &mut self.messages[message];
        if !message.may_release_start() {
            return Ok(());
        }
        message.open_message(0, &mut self.outgoing, context)?;
        for part in 0..message.parts.len() {
            message.open_part(part, &mut self.outgoing, context)?;
        }
        Ok(())
    }

    fn count(&mut self, setup: &mut Setup) {
        setup.stats.added += mem::take(&mut self.outgoing.added);
        setup.stats.truncated += mem::take(&mut self.outgoing.truncated);
    }

    /// Returns the message of an event.
    fn find(&self, data: &[u8], fields: &Fields) -> Option<usize> {
        let index = Fields::number(&fields.output_index, data);
        let id = fields.item_id.as_ref().map(|id| inside(data, id));
        self.messages.iter().rposition(|message| match index {
            Some(index) => message.index == index,
            None => id.is_some_and(|id| message.id == id),
        })
    }

    /// Returns the text part of an event.
    fn part(&self, message: usize, data: &[u8], fields: &Fields) -> Option<usize> {
        let index = Fields::number(&fields.content_index, data)?;
        self.messages[message].parts.iter().position(|part| part.index == index)
    }

    /// Writes the held starts of all messages except `item`, because an event of `item` follows. A message whose start must stay held
    /// gives up its place.
    fn give_way(&mut self, context: &mut Context<'_>, item: Option<usize>) -> Result<(), Error> {
        for message in 0..self.messages.len() {
            if Some(message) != item {
                self.release_start(context, message)?;
                if self.messages[message].keeps_place() {
                    self.messages[message].give_up_place(&mut self.outgoing);
                }
            }
        }
        Ok(())
    }

    /// Writes an event, drops it, or holds it with a message. Returns whether the event is written.
    fn one(
        &mut self,
        context: &mut Context<'_>,
        incoming: Incoming<'_>,
        message: Option<usize>,
    ) -> Result<bool, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let item = fields.item.clone().map(|at| Object::read(data, at));
        let is_left_out = self.outgoing.drops_thinking && fields.is_thinking(data, item.as_ref());
        match (fields.kind, message.filter(|_| !is_left_out)) {
            (Kind::ItemAdded, None) => {
                if let Some(item) = &item
                    && item.is_message(data)
                    && self.hold_message(data, item, incoming)?
                {
                    return Ok(false);
                }
                if item.as_ref().is_some_and(|item| !item.is(data, b"message") && !item.is(data, b"reasoning")) {
                    self.see_other(context)?;
                }
            }
            (Kind::Reasoning, None) => {
                let text = fields.delta.as_ref().or(fields.text.as_ref());
                if text.is_some_and(|text| text.len() > 2) {
                    self.see_reasoning(context)?;
                }
            }
            (Kind::ItemDone, None) if item.as_ref().is_some_and(|item| item.has_reasoning(data)) => {
                self.see_reasoning(context)?;
            }
            // The event is the start of an item or part that the rewriter has already begun, and has no text.
            (Kind::ItemAdded, Some(message))
                if self.messages[message].is_unannounced
                    && item.as_ref().is_some_and(|item| item.begins(data, b"message")) =>
            {
                return Ok(false);
            }
            (Kind::PartAdded, Some(message))
                if self
                    .part(message, data, fields)
                    .is_some_and(|part| self.messages[message].parts[part].is_unannounced)
                    && fields.part.clone().is_some_and(|at| Object::read(data, at).begins(data, b"output_text")) =>
            {
                return Ok(false);
            }
            (Kind::Ended, _) => return self.ended(context, incoming).map(|()| true),
            (_, Some(message)) if !self.messages[message].is_over() => {
                return self.of_message(context, incoming, message);
            }
            (_, Some(message)) => {
                let content = Fields::number(&fields.content_index, data);
                self.messages[message].pass(event, fields, content, &mut self.outgoing, context)?;
                return Ok(true);
            }
            _ => {}
        }
        let number = Fields::number(&fields.output_index, data);
        // Events of an item that is left out are left out too, until the server uses its index for another item.
        let is_other = matches!(fields.kind, Kind::ItemAdded | Kind::TextDelta);
        if is_left_out || !is_other && number.is_some_and(|number| self.outgoing.places.hides(number)) {
            self.outgoing.renumbers = true;
            number.map_or(Ok(()), |number| self.outgoing.places.hide(number))?;
            return Ok(false);
        }
        if self.outgoing.drops_thinking {
            hide::items(data, &[b"response", b"output"], &mut context.scratch.edits)?;
        }
        if let Some(index) = &fields.output_index {
            if let Some(number) = number {
                let place = self.outgoing.places.of(number)?;
                if place != number {
                    put_number(&mut context.scratch.edits, data, &index.value, place)?;
                }
            }
        } else if self.messages.iter().any(Message::holds_start) {
            // This event is sent before the held text, so the order of numbers changes.
            self.outgoing.renumbers = true;
        }
        self.outgoing.pass(event, fields, &mut context.scratch.edits, None, context.out)?;
        Ok(true)
    }

    /// Holds the start of a message. Returns whether it is held.
    fn hold_message(&mut self, data: &[u8], item: &Object, incoming: Incoming<'_>) -> Result<bool, Error> {
        let Incoming { event, fields, .. } = incoming;
        let (Some(id), Some(index)) = (&item.id, Fields::number(&fields.output_index, data)) else { return Ok(false) };
        if self.messages.len() == MESSAGES {
            return Ok(false);
        }
        let mut message = Message::new(index, inside(data, id))?;
        let is_held = message.hold(event, &mut self.outgoing)?;
        if is_held {
            push(&mut self.messages, message)?;
        }
        Ok(is_held)
    }

    /// Begins the message of a text whose item the server has left out.
    fn announce(&mut self, data: &[u8], fields: &Fields) -> Result<Option<usize>, Error> {
        let is_text = match &fields.part {
            Some(part) => Object::read(data, part.clone()).is(data, b"output_text"),
            None => fields.kind == Kind::TextDelta,
        };
        let (Some(id), Some(index)) = (&fields.item_id, Fields::number(&fields.output_index, data)) else {
            return Ok(None);
        };
        if !is_text || self.messages.len() == MESSAGES {
            return Ok(None);
        }
        let Some(message) = Message::announced(index, inside(data, id), &mut self.outgoing)? else { return Ok(None) };
        push(&mut self.messages, message)?;
        Ok(Some(self.messages.len() - 1))
    }

    /// Notes that the server splits the thinking itself.
    fn see_reasoning(&mut self, context: &mut Context<'_>) -> Result<(), Error> {
        if mem::replace(&mut self.server.thinking, true) {
            return Ok(());
        }
        context.setup.stats.split_by_server += 1;
        for message in 0..self.messages.len() {
            for part in 0..self.messages[message].parts.len() {
                self.release_part(context, Input::Finish, message, part)?;
                let part = &mut self.messages[message].parts[part];
                part.config.server.thinking |= part.state == PartState::Growing;
            }
        }
        Ok(())
    }

    /// Notes an item that is neither a message nor thinking. If the server makes calls itself, the rewriter no longer looks for calls
    /// in the text.
    fn see_other(&mut self, context: &mut Context<'_>) -> Result<(), Error> {
        self.promotion.close();
        if mem::replace(&mut self.server.calls, true) || !context.setup.has_calls() {
            return Ok(());
        }
        for message in 0..self.messages.len() {
            for part in 0..self.messages[message].parts.len() {
                let here = &mut self.messages[message].parts[part];
                let Some(text) = &mut here.text else { continue };
                context.scratch.parts.clear();
                context.setup.give_up_calls(text, &mut context.scratch.parts)?;
                self.write_runs(context, message, part, None)?;
            }
        }
        Ok(())
    }

    /// Writes an event with its changes, or holds it. With `is_last`, nothing follows the event. Returns whether there are
    /// changes.
    pub fn event(
        &mut self,
        context: &mut Context<'_>,
        is_last: bool,
        event: &EventPart<'_>,
        fields: &Fields,
    ) -> Result<bool, Error> {
        let start = context.out.len();
        let data = event.data();
        if fields.kind == Kind::Created {
            self.release_but(context, Input::Finish, None)?;
            self.count(context.setup);
            self.begin();
        }
        self.is_active = true;
        self.outgoing.see(event, fields);
        let message = match self.find(data, fields) {
            None if matches!(fields.kind, Kind::PartAdded | Kind::TextDelta) => self.announce(data, fields)?,
            found => found,
        };
        if is_last {
            let but = message.filter(|_| fields.kind == Kind::TextDelta);
            let but = but.and_then(|message| Some((message, self.part(message, data, fields)?)));
            self.release_but(context, Input::Finish, but)?;
        }
        if fields.output_index.is_some() {
            self.give_way(context, message)?;
        }
        let incoming = Incoming { event, fields, is_last };
        if !self.one(context, incoming, message)? {
            context.scratch.leave_out(event);
        }
        if is_last {
            // This is the last event, so everything that is held must be sent.
            self.release_but(context, Input::Finish, None)?;
        }
        self.count(context.setup);
        Ok(context.out[start..] != event.raw[event.part.clone()])
    }
}

impl Protocol for Responses {
    /// Returns the number of bytes that are held back: text, and starts of messages.
    fn held(&self) -> usize {
        self.messages.iter().map(Message::held).sum()
    }

    /// Writes the held text.
    fn release(&mut self, context: &mut Context<'_>, input: Input<'_>) -> Result<(), Error> {
        self.release_but(context, input, None)?;
        self.count(context.setup);
        // The next event is not read, and may have content.
        self.promotion.close();
        Ok(())
    }

    fn make_way(&mut self, context: &mut Context<'_>, is_last: bool, _: &EventPart<'_>) -> Result<(), Error> {
        if self.is_active && is_last { self.release(context, Input::Finish) } else { Ok(()) }
    }

    fn restart(&mut self, _: &Setup) -> Result<(), Error> {
        self.begin();
        Ok(())
    }
}
