//! Answers of OpenAI Responses. Their output is a list of items, each of which begins, grows and ends in events of its own, and
//! comes once more as a whole. Thinking in the text of a message must become an item before it, so all later items move: what is
//! sent must be such that a client which counts items and puts them together finds the same in both.

mod calls;
mod fields;
mod message;
mod outgoing;
mod place;
mod whole;

use std::mem;

use super::edits::{Edits, decode};
use super::event::EventPart;
use super::options::Options;
use super::promotion::Promotion;
use super::text::{CallPart, Input, Parts, Setup, Target};
use crate::Error;
use crate::json::Span;
use crate::memory::{self, append, push};
use calls::{prefix, unique, write_number};
use fields::{Fields, Kind, Object, inside};
use message::{Carrier, EventWriter, Message, OpenItem, TextConfig, TextPart};
use outgoing::{Outgoing, put, put_number, put_string, write_text};
use place::Annotations;
use whole::{Comparison, Items};

/// The most messages of a response whose text is split.
const MESSAGES: usize = 128;

/// The most parts of a message whose text is split.
const PARTS: usize = 128;

/// At most this many stretches of an event have events of their own. The rest is joined: one stretch of thinking, then one of
/// content.
const ALONE: usize = 32;

/// Memory for one event that is kept for the next.
const KEPT: usize = 1 << 16;

/// What was done with an event.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Written,
    /// Nothing of it is written.
    Dropped,
    /// It is held with the message in this place.
    Held(usize),
}

impl Outcome {
    fn of(is_written: bool) -> Outcome {
        if is_written { Outcome::Written } else { Outcome::Dropped }
    }
}

/// An event of the server.
#[derive(Clone, Copy)]
struct Incoming<'a> {
    event: &'a EventPart<'a>,
    fields: &'a Fields,
    /// Nothing comes after it.
    is_last: bool,
}

/// The stream of one response, or of several, one after the other.
pub struct Responses {
    outgoing: Outgoing,
    messages: Vec<Message>,
    /// How much thinking may be kept, if it may have to be the answer: as much as there is room for.
    promotes: Option<usize>,
    promotion: Promotion,
    /// Events of a response have come.
    pub is_active: bool,
    /// The server splits the thinking itself.
    is_split: bool,
    /// The server makes calls of its own.
    has_own_calls: bool,
    /// What was done with the last event, if it ends with `\r`.
    last_outcome: Outcome,
    /// How many stretches of the event may still have events of their own.
    alone: usize,
    parts: Parts,
    edits: Edits,
    decoded: Vec<u8>,
}

impl Responses {
    pub fn new(options: &Options) -> Responses {
        let promotes = options.promote_empty.then_some(usize::MAX);
        Responses {
            outgoing: Outgoing::new(options),
            messages: Vec::new(),
            promotes,
            promotion: Promotion::new(promotes),
            is_active: false,
            is_split: false,
            has_own_calls: false,
            last_outcome: Outcome::Written,
            alone: ALONE,
            parts: Parts::default(),
            edits: Edits::default(),
            decoded: Vec::new(),
        }
    }

    /// Forgets the response.
    pub fn restart(&mut self) {
        self.outgoing = self.outgoing.fresh();
        self.end_response();
        self.is_active = false;
    }

    fn end_response(&mut self) {
        self.messages.clear();
        self.promotion = Promotion::new(self.promotes);
        (self.is_split, self.has_own_calls) = (false, false);
    }

    pub fn begin_event(&mut self) {
        self.alone = ALONE;
        self.last_outcome = Outcome::Written;
    }

    /// Returns how many bytes are held back: text, and starts of messages.
    pub fn held(&self) -> usize {
        self.messages.iter().map(Message::held).sum()
    }

    /// Takes the `\n` of a line end whose `\r` ended an event that was not written.
    pub fn takes_line_feed(&mut self) -> Result<bool, Error> {
        let last = mem::replace(&mut self.last_outcome, Outcome::Written);
        if let Outcome::Held(message) = last
            && let Some(message) = self.messages.get_mut(message)
        {
            message.hold_line_feed()?;
        }
        Ok(last != Outcome::Written)
    }

    /// Writes what is held back.
    pub fn release(&mut self, setup: &mut Setup, input: Input<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.release_but(setup, input, None, out)?;
        self.count(setup);
        // What comes now is not read, and may be content.
        self.promotion.close();
        Ok(())
    }

    fn release_but(
        &mut self,
        setup: &mut Setup,
        input: Input<'_>,
        but: Option<(usize, usize)>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        for message in 0..self.messages.len() {
            for part in 0..self.messages[message].parts.len() {
                if but != Some((message, part)) {
                    self.release_part(setup, input, message, part, out)?;
                }
            }
            if but.is_none_or(|(other, _)| other != message) {
                self.release_start(message, out)?;
            }
        }
        Ok(())
    }

    fn release_part(
        &mut self,
        setup: &mut Setup,
        input: Input<'_>,
        message: usize,
        part: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let here = &mut self.messages[message].parts[part];
        let Some(text) = &mut here.text else { return Ok(()) };
        self.parts.clear();
        setup.scan(text, input, &mut self.parts)?;
        let is_over = matches!(input, Input::Finish);
        if is_over {
            here.text = None;
        }
        self.write_runs(message, part, None, out)?;
        if is_over {
            let Responses { messages, outgoing, edits, .. } = self;
            messages[message].release_part_start(part, &mut EventWriter { outgoing, edits, out })?;
        }
        Ok(())
    }

    /// Writes the start of a message that is held, unless it is known already that something is taken out of its text.
    fn release_start(&mut self, message: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let Responses { messages, outgoing, edits, .. } = self;
        let message = &mut messages[message];
        let writer = &mut EventWriter { outgoing, edits, out };
        if !message.may_release_start() {
            return Ok(());
        }
        message.open_message(None, 0, writer)?;
        for part in 0..message.parts.len() {
            message.open_message(Some(part), message.parts[part].index, writer)?;
        }
        Ok(())
    }

    fn count(&mut self, setup: &mut Setup) {
        setup.stats.added += mem::take(&mut self.outgoing.added);
        setup.stats.truncated += mem::take(&mut self.outgoing.truncated);
    }

    /// Writes an event with its changes, or holds it. With `last`, nothing comes after it. Returns whether there are changes.
    pub fn event(
        &mut self,
        setup: &mut Setup,
        last: bool,
        event: &EventPart<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let start = out.len();
        let data = event.data();
        let fields = Fields::read(data);
        self.edits.clear();
        if fields.kind == Kind::Created {
            self.release_but(setup, Input::Finish, None, out)?;
            self.count(setup);
            self.restart();
        }
        self.is_active = true;
        self.outgoing.see(event, &fields);
        let message = self.find(data, &fields);
        if last {
            let but = message.filter(|_| fields.kind == Kind::TextDelta);
            let but = but.and_then(|message| Some((message, self.part(message, data, &fields)?)));
            self.release_but(setup, Input::Finish, but, out)?;
        }
        if fields.output_index.is_some() {
            self.make_way(message, out)?;
        }
        let incoming = Incoming { event, fields: &fields, is_last: last };
        let outcome = self.one(setup, incoming, message, out)?;
        if event.raw[..event.part.end].ends_with(b"\r") {
            self.last_outcome = outcome;
        }
        if last {
            // What this event has begun must not stay away.
            self.release_but(setup, Input::Finish, None, out)?;
        }
        self.count(setup);
        if event.raw.len() > KEPT {
            (self.edits, self.decoded, self.parts) = (Edits::default(), Vec::new(), Parts::default());
        }
        Ok(out[start..] != event.raw[event.part.clone()])
    }

    /// Returns the message that an event is of.
    fn find(&self, data: &[u8], fields: &Fields) -> Option<usize> {
        let index = Fields::number(&fields.output_index, data);
        let id = fields.item_id.as_ref().map(|id| inside(data, id));
        self.messages.iter().rposition(|message| match index {
            Some(index) => message.index == index,
            None => id.is_some_and(|id| message.id == id),
        })
    }

    /// Returns the text part that an event is of.
    fn part(&self, message: usize, data: &[u8], fields: &Fields) -> Option<usize> {
        let index = Fields::number(&fields.content_index, data)?;
        self.messages[message].parts.iter().position(|part| part.index == index)
    }

    /// Makes way for an event of another item than the messages whose start is held.
    fn make_way(&mut self, item: Option<usize>, out: &mut Vec<u8>) -> Result<(), Error> {
        for message in 0..self.messages.len() {
            if Some(message) != item {
                self.release_start(message, out)?;
                if self.messages[message].keeps_place() {
                    self.messages[message].give_up_place(&mut self.outgoing);
                }
            }
        }
        Ok(())
    }

    /// Writes an event, drops it, or holds it with a message.
    fn one(
        &mut self,
        setup: &mut Setup,
        incoming: Incoming<'_>,
        message: Option<usize>,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let item = fields.item.clone().map(|at| Object::read(data, at));
        match (fields.kind, message) {
            (Kind::ItemAdded, None) => {
                if let Some(item) = &item
                    && item.is_message(data)
                    && self.hold_message(data, item, incoming)?
                {
                    return Ok(Outcome::Held(self.messages.len() - 1));
                }
                if item.is_some_and(|item| !item.is(data, b"message") && !item.is(data, b"reasoning")) {
                    self.see_other(setup, out)?;
                }
            }
            (Kind::Reasoning, None) => {
                let text = fields.delta.as_ref().or(fields.text.as_ref());
                if text.is_some_and(|text| text.len() > 2) {
                    self.see_reasoning(setup, out)?;
                }
            }
            (Kind::ItemDone, None) if item.is_some_and(|item| item.has_reasoning(data)) => {
                self.see_reasoning(setup, out)?;
            }
            (Kind::Ended, _) => return self.ended(setup, incoming, out).map(|()| Outcome::Written),
            (_, Some(message)) if !self.messages[message].is_over => {
                return self.of_message(setup, incoming, message, out);
            }
            (_, Some(message)) => {
                let Responses { messages, outgoing, edits, .. } = self;
                let content = Fields::number(&fields.content_index, data);
                messages[message].pass(event, fields, content, &mut EventWriter { outgoing, edits, out })?;
                return Ok(Outcome::Written);
            }
            _ => {}
        }
        let Responses { messages, outgoing, edits, .. } = self;
        if let Some(index) = &fields.output_index {
            if let Some(number) = index.number(data) {
                let place = outgoing.places.of(number)?;
                if place != number {
                    put_number(edits, data, &index.value, place)?;
                }
            }
        } else if messages.iter().any(Message::holds_start) {
            // It overtakes what is held.
            outgoing.renumbers = true;
        }
        outgoing.pass(event, fields, edits, None, out)?;
        Ok(Outcome::Written)
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

    /// Takes note that the server splits the thinking itself.
    fn see_reasoning(&mut self, setup: &mut Setup, out: &mut Vec<u8>) -> Result<(), Error> {
        if mem::replace(&mut self.is_split, true) {
            return Ok(());
        }
        setup.stats.split_by_server += 1;
        for message in 0..self.messages.len() {
            for part in 0..self.messages[message].parts.len() {
                self.release_part(setup, Input::Finish, message, part, out)?;
                let part = &mut self.messages[message].parts[part];
                part.config.is_split |= !part.has_ended;
            }
        }
        Ok(())
    }

    /// Takes note of an item that is neither a message nor thinking. Calls are left to a server that makes some itself.
    fn see_other(&mut self, setup: &mut Setup, out: &mut Vec<u8>) -> Result<(), Error> {
        self.promotion.close();
        if mem::replace(&mut self.has_own_calls, true) || !setup.has_calls() {
            return Ok(());
        }
        for message in 0..self.messages.len() {
            for part in 0..self.messages[message].parts.len() {
                let here = &mut self.messages[message].parts[part];
                let Some(text) = &mut here.text else { continue };
                self.parts.clear();
                setup.give_up_calls(text, &mut self.parts)?;
                self.write_runs(message, part, None, out)?;
            }
        }
        Ok(())
    }

    /// Writes an event of a message that is not over.
    fn of_message(
        &mut self,
        setup: &mut Setup,
        incoming: Incoming<'_>,
        message: usize,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Error> {
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
            return self.item_done(setup, incoming, message, &item, out);
        }
        let known = self.part(message, data, fields);
        let part = match (known, content) {
            (Some(_), _) if fields.kind == Kind::PartAdded => None,
            (Some(part), _) => Some(part),
            (None, Some(content)) if is_text => self.begin_part(setup, message, content)?,
            (None, _) => None,
        };
        if let Some(part) = part.filter(|_| is_text) {
            match fields.kind {
                Kind::PartAdded => {
                    if self.messages[message].hold_part(part, event, &mut self.outgoing)? {
                        return Ok(Outcome::Held(message));
                    }
                    // It cannot be held, so it goes on.
                    let Responses { messages, outgoing, edits, .. } = self;
                    messages[message].open_message(
                        Some(part),
                        content.unwrap_or(0),
                        &mut EventWriter { outgoing, edits, out },
                    )?;
                }
                Kind::TextDelta if !self.messages[message].parts[part].has_ended => {
                    return self.delta(setup, incoming, message, part, out);
                }
                Kind::TextDone if !self.messages[message].parts[part].has_ended => {
                    return self.text_done(setup, incoming, message, part, out);
                }
                Kind::PartDone if !self.messages[message].parts[part].is_over => {
                    return self.part_done(setup, incoming, message, part, out);
                }
                Kind::Annotation if self.messages[message].parts[part].digest.len > 0 => {
                    let Responses { messages, outgoing, edits, .. } = self;
                    let is_kept =
                        messages[message].annotate(part, event, fields, &mut EventWriter { outgoing, edits, out })?;
                    outgoing.renumbers |= !is_kept;
                    return Ok(Outcome::of(is_kept));
                }
                _ => {}
            }
        }
        // Something other than text, or out of its order.
        self.promotion.close();
        let Responses { messages, outgoing, edits, .. } = self;
        let (message, writer) = (&mut messages[message], &mut EventWriter { outgoing, edits, out });
        message.open_message(None, content.unwrap_or(0), writer)?;
        if let Some(content) = content {
            message.note_verbatim(content)?;
        }
        if let (Kind::PartDone, Some(object)) = (fields.kind, &object) {
            message.keep_done(&data[object.whole.clone()], writer.outgoing)?;
        }
        message.pass(event, fields, content, writer)?;
        Ok(Outcome::Written)
    }

    /// Begins a text part of a message. There is none if there are too many.
    fn begin_part(&mut self, setup: &mut Setup, message: usize, content: u64) -> Result<Option<usize>, Error> {
        let parts = &mut self.messages[message].parts;
        if parts.len() == PARTS {
            return Ok(None);
        }
        let number = self.outgoing.texts;
        self.outgoing.texts += 1;
        let config = TextConfig { number, is_split: self.is_split, is_without_calls: self.has_own_calls };
        let text = if self.is_split && !setup.has_calls() { None } else { Some(config.start(setup)?) };
        push(parts, TextPart::new(content, config, text))?;
        Ok(Some(parts.len() - 1))
    }

    /// Writes a delta of a text.
    fn delta(
        &mut self,
        setup: &mut Setup,
        incoming: Incoming<'_>,
        message: usize,
        part: usize,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let Some(delta) = fields.delta.clone() else { return Ok(Outcome::Written) };
        let mut decoded = mem::take(&mut self.decoded);
        let said = decode(&data[delta], &mut decoded)?;
        let here = &mut self.messages[message];
        self.parts.clear();
        if said.is_empty() && !incoming.is_last {
            let Responses { messages, outgoing, edits, .. } = self;
            let here = &mut messages[message];
            self.decoded = decoded;
            if here.open == OpenItem::Reasoning || here.open == OpenItem::Call {
                outgoing.renumbers = true;
                return Ok(Outcome::Dropped);
            }
            if !here.is_part_open(part) && here.hold_empty(part, event, outgoing)? {
                return Ok(Outcome::Held(message));
            }
            let index = here.parts[part].index;
            let writer = &mut EventWriter { outgoing, edits, out };
            here.open_message(Some(part), index, writer)?;
            here.pass(event, fields, Some(index), writer)?;
            return Ok(Outcome::Written);
        }
        let id = &here.id;
        let here = &mut here.parts[part];
        here.take(said);
        match &mut here.text {
            Some(text) => {
                let number = here.config.number;
                if !said.is_empty() {
                    setup.look_for_calls(text, || prefix(id, number), false)?;
                    setup.scan(text, Input::Feed(said), &mut self.parts)?;
                }
                if incoming.is_last {
                    setup.scan(text, Input::Finish, &mut self.parts)?;
                    here.text = None;
                }
            }
            None => self.parts.push_content(said)?,
        }
        let is_same = match self.parts.runs() {
            [run] => run.target() == Target::Content && self.parts.text_of(run) == said,
            [] => said.is_empty(),
            _ => false,
        };
        let is_undecided = self.parts.runs().is_empty() && here.holds_all();
        here.is_changed |= !is_same && !is_undecided;
        let is_written = if said.is_empty() && self.parts.runs().is_empty() {
            let Responses { messages, outgoing, edits, .. } = self;
            let here = &mut messages[message];
            let (index, writer) = (here.parts[part].index, &mut EventWriter { outgoing, edits, out });
            here.open_message(Some(part), index, writer)?;
            here.pass(event, fields, Some(index), writer)?;
            true
        } else {
            self.write_runs(message, part, Some(Carrier { event, fields, is_same }), out)?
        };
        self.decoded = decoded;
        self.outgoing.renumbers |= !is_written;
        Ok(Outcome::of(is_written))
    }

    /// Writes what the scanner has reported: the last stretch in the carrier, if there is one. Returns whether that is written.
    fn write_runs(
        &mut self,
        message: usize,
        part: usize,
        carrier: Option<Carrier<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let parts = mem::take(&mut self.parts);
        self.messages[message].parts[part].sent.add(&parts);
        let runs = parts.runs();
        let (single, joined) = runs.split_at(runs.len().min(self.alone));
        self.alone -= single.len();
        let mut is_written = false;
        for (number, run) in single.iter().enumerate() {
            let carrier = carrier.as_ref().filter(|_| number + 1 == runs.len());
            match parts.call_part(run) {
                Some(call) => self.call(message, part, &call, out)?,
                None => {
                    self.text(message, part, run.target(), parts.text_of(run), carrier, out)?;
                    is_written |= carrier.is_some();
                }
            }
        }
        for target in [Target::Reasoning, Target::Content] {
            let mut text = Vec::new();
            for run in joined.iter().filter(|run| run.target() == target) {
                append(&mut text, parts.text_of(run))?;
            }
            if !text.is_empty() {
                self.text(message, part, target, &text, None, out)?;
            }
        }
        for call in joined.iter().filter_map(|run| parts.call_part(run)) {
            self.call(message, part, &call, out)?;
        }
        self.parts = parts;
        Ok(is_written)
    }

    fn text(
        &mut self,
        message: usize,
        part: usize,
        target: Target,
        text: &[u8],
        carrier: Option<&Carrier<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let is_thinking = target == Target::Reasoning;
        match is_thinking {
            false => self.promotion.close(),
            true if self.promotion.is_closed() => {}
            // It shares the room of the texts that events say again.
            true if self.outgoing.take_room(text) < text.len() => self.promotion.give_up(),
            true => self.promotion.take_thinking(text)?,
        }
        let Responses { messages, outgoing, edits, .. } = self;
        let (message, writer) = (&mut messages[message], &mut EventWriter { outgoing, edits, out });
        match is_thinking {
            true => message.reasoning(part, text, carrier, writer),
            false => message.content(part, text, carrier, writer),
        }
    }

    fn call(&mut self, message: usize, part: usize, call: &CallPart<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.promotion.close();
        let Responses { messages, outgoing, edits, .. } = self;
        let message = &mut messages[message];
        match *call {
            CallPart::Begin { id, name } => {
                let number = unique(id, outgoing)?;
                let mut id = memory::copy(id)?;
                write_number(number, &mut id)?;
                message.open_call(part, id, name, number, &mut EventWriter { outgoing, edits, out })
            }
            CallPart::Arguments(text) if message.open == OpenItem::Call => {
                message.arguments(text, &mut EventWriter { outgoing, edits, out })
            }
            CallPart::Arguments(_) => Ok(()),
        }
    }

    /// Ends the text of a part. `said` is the whole of it, as the server says.
    fn end_text(
        &mut self,
        setup: &mut Setup,
        message: usize,
        part: usize,
        said: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let here = &mut self.messages[message];
        let id = &here.id;
        let here = &mut here.parts[part];
        if mem::replace(&mut here.has_ended, true) {
            return Ok(());
        }
        self.parts.clear();
        let is_new = here.digest.len == 0 && !said.is_empty();
        if is_new {
            here.take(said);
        }
        match &mut here.text {
            Some(text) => {
                if is_new {
                    let number = here.config.number;
                    setup.look_for_calls(text, || prefix(id, number), false)?;
                    setup.scan(text, Input::Feed(said), &mut self.parts)?;
                }
                setup.scan(text, Input::Finish, &mut self.parts)?;
            }
            None if is_new => self.parts.push_content(said)?,
            None => {}
        }
        here.text = None;
        let is_same = matches!(self.parts.runs(), [run] if run.target() == Target::Content);
        if is_new && is_same && self.parts.text() == said {
            // There were no deltas, and none are needed.
            here.sent.add(&self.parts);
            self.promotion.close();
            let Responses { messages, outgoing, edits, .. } = self;
            return messages[message].take_whole(part, said, &mut EventWriter { outgoing, edits, out });
        }
        here.is_changed |= is_new;
        self.write_runs(message, part, None, out)?;
        if self.messages[message].parts[part].digest.len == 0 {
            let Responses { messages, outgoing, edits, .. } = self;
            let (message, writer) = (&mut messages[message], &mut EventWriter { outgoing, edits, out });
            message.open_message(Some(part), message.parts[part].index, writer)?;
        }
        Ok(())
    }

    /// Returns what the open message has of a whole text. `None`: all of it.
    fn text_of_open(
        &mut self,
        setup: &mut Setup,
        message: usize,
        part: usize,
        said: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let Responses { messages, outgoing, .. } = self;
        let message = &messages[message];
        let here = &message.parts[part];
        if here.agrees(said) {
            if !here.is_changed {
                return Ok(None);
            }
            return Ok(Some(memory::copy(message.text_of_open(outgoing))?));
        }
        let (content, comparison) = whole::content_of(setup, &message.id, here, said)?;
        Ok(match comparison {
            Comparison::New => None,
            Comparison::NewContent => Some(content),
            Comparison::Same | Comparison::Known => {
                let before = message.len_before(part);
                let before = before + whole::cut_off(&content, before);
                Some(memory::copy(content.get(before..).unwrap_or_default())?)
            }
        })
    }

    /// Returns whether a whole text has something that has not been sent of its part.
    fn is_new(&self, setup: &mut Setup, message: usize, part: usize, said: &[u8]) -> Result<bool, Error> {
        let message = &self.messages[message];
        let here = &message.parts[part];
        Ok(!said.is_empty() && !here.agrees(said) && whole::content_of(setup, &message.id, here, said)?.1.is_new())
    }

    /// Returns whether a part is open for an event that says its text again. It is opened if that says something new.
    fn open_for(
        &mut self,
        setup: &mut Setup,
        message: usize,
        part: usize,
        said: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        if !self.messages[message].is_part_open(part) {
            if !self.is_new(setup, message, part, said)? {
                return Ok(false);
            }
            self.promotion.close();
            let Responses { messages, outgoing, edits, .. } = self;
            let (message, writer) = (&mut messages[message], &mut EventWriter { outgoing, edits, out });
            message.open_message(Some(part), message.parts[part].index, writer)?;
        }
        Ok(true)
    }

    /// Writes the event that says the text of a part again.
    fn text_done(
        &mut self,
        setup: &mut Setup,
        incoming: Incoming<'_>,
        message: usize,
        part: usize,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let Some(at) = &fields.text else { return Ok(Outcome::Written) };
        let mut decoded = Vec::new();
        let said = decode(&data[at.clone()], &mut decoded)?;
        self.end_text(setup, message, part, said, out)?;
        if !self.open_for(setup, message, part, said, out)? {
            self.outgoing.renumbers = true;
            return Ok(Outcome::Dropped);
        }
        let text = self.text_of_open(setup, message, part, said)?;
        let Responses { messages, outgoing, edits, .. } = self;
        if let Some(text) = text
            && text != said
        {
            put_string(edits, data, at, |out| write_text(b"", &text, out))?;
            if let Some(logprobs) = &fields.logprobs {
                put(edits, data, logprobs.value.clone(), |out| append(out, b"[]"))?;
            }
        }
        let message = &messages[message];
        let index = message.parts[part].index;
        message.pass(event, fields, Some(index), &mut EventWriter { outgoing, edits, out })?;
        Ok(Outcome::Written)
    }

    /// Writes the event that says a part again.
    fn part_done(
        &mut self,
        setup: &mut Setup,
        incoming: Incoming<'_>,
        message: usize,
        part: usize,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let object = fields.part.clone().map(|at| Object::read(data, at)).unwrap_or_default();
        let mut decoded = Vec::new();
        let said = match &object.text {
            Some(text) => decode(&data[text.clone()], &mut decoded)?,
            None => b"",
        };
        self.end_text(setup, message, part, said, out)?;
        let is_open = self.open_for(setup, message, part, said, out)?;
        let mut json = Vec::new();
        if is_open {
            let text = self.text_of_open(setup, message, part, said)?;
            let here = &self.messages[message];
            let mut stretches = Vec::new();
            let mut place = Annotations::Before(0);
            let has_annotations = object.annotations.as_ref().is_some_and(|list| list.len() > 2);
            if let Some(text) = &text
                && has_annotations
            {
                let (content, _) = whole::content_of(setup, &here.id, &here.parts[part], said)?;
                stretches = whole::stretches(setup, here.parts[part].config, said, &content)?;
                let before = content.strip_suffix(&text[..]).or_else(|| content.get(..here.len_before(part)));
                let (before, len) = (before.unwrap_or_default(), place::chars(text));
                place = Annotations::In { stretches: &stretches, skip: place::chars(before), len };
            }
            whole::write_part(data, &object, said, text.as_deref().unwrap_or(said), place, &mut json)?;
            drop(stretches);
        }
        let Responses { messages, outgoing, edits, .. } = self;
        let message = &mut messages[message];
        if is_open {
            if json != data[object.whole.clone()] {
                put(edits, data, object.whole, |out| append(out, &json))?;
            }
            let index = message.parts[part].index;
            message.pass(event, fields, Some(index), &mut EventWriter { outgoing, edits, out })?;
        }
        message.end_part(part, outgoing);
        if is_open {
            message.keep_done(&json, outgoing)?;
            return Ok(Outcome::Written);
        }
        outgoing.renumbers = true;
        Ok(Outcome::Dropped)
    }

    /// Writes the event that says a message again.
    fn item_done(
        &mut self,
        setup: &mut Setup,
        incoming: Incoming<'_>,
        message: usize,
        item: &Object,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        let mut texts = Vec::new();
        // Whether it says something that has not been sent, and of which text that is.
        let (mut is_new, mut new_text) = (false, None);
        let here = &self.messages[message];
        if let Some(content) = &item.content {
            let (mut index, mut memory) = (0, Ok(()));
            fields::values(data, content.clone(), |at| {
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
                None => self.begin_part(setup, message, index)?,
            };
            let Some(part) = part else { continue };
            let said = decode(&data[text], &mut decoded)?;
            if known.is_some() || !said.is_empty() {
                self.end_text(setup, message, part, said, out)?;
            }
            if self.is_new(setup, message, part, said)? {
                (is_new, new_text) = (true, Some(part));
            }
        }
        for part in 0..self.messages[message].parts.len() {
            self.end_text(setup, message, part, b"", out)?;
        }
        let status = item.status.clone().map_or(&b"\"completed\""[..], |at| &data[at]);
        if is_new {
            self.promotion.close();
        }
        let Responses { messages, outgoing, edits, .. } = self;
        let here = &mut messages[message];
        if is_new && here.open != OpenItem::Message {
            let index = new_text.map_or(0, |part| here.parts[part].index);
            here.open_message(new_text, index, &mut EventWriter { outgoing, edits, out })?;
        } else if here.open != OpenItem::Message {
            let is_empty = here.holds_start() && here.parts.iter().all(|part| part.digest.len == 0);
            if !is_empty {
                here.close(status, &mut EventWriter { outgoing, edits, out })?;
                here.give_up_place(outgoing);
                here.end(outgoing);
                outgoing.renumbers = true;
                return Ok(Outcome::Dropped);
            }
            here.open_message(None, 0, &mut EventWriter { outgoing, edits, out })?;
        }
        let place = here.place;
        if here.pieces.is_some() {
            let mut items = Items::new(setup, outgoing, false);
            items.is_partial = true;
            items.add(data, item, here.index, Some(here))?;
            let found = items.list.iter().find(|(out, _)| *out == place).map(|(_, at)| at.clone());
            let json = mem::take(&mut items.json);
            if let Some(at) = found
                && json[at.clone()] != data[item.whole.clone()]
            {
                put(edits, data, item.whole.clone(), |out| append(out, &json[at]))?;
            }
        } else if !is_new {
            here.put_done(data, item, edits)?;
        }
        here.pass(event, fields, None, &mut EventWriter { outgoing, edits, out })?;
        here.end(outgoing);
        Ok(Outcome::Written)
    }

    /// Writes the event that ends the response, with all of its items.
    fn ended(&mut self, setup: &mut Setup, incoming: Incoming<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let Incoming { event, fields, .. } = incoming;
        let data = event.data();
        self.release_but(setup, Input::Finish, None, out)?;
        let response = fields.response.clone().map(|at| Object::read(data, at)).unwrap_or_default();
        let is_complete = fields.name.as_ref().is_some_and(|name| inside(data, name) == b"response.completed");
        let is_complete = is_complete && response.status.as_ref().is_none_or(|at| inside(data, at) == b"completed");
        let Responses { messages, outgoing, edits, .. } = self;
        for message in
            messages.iter_mut().filter(|message| matches!(message.open, OpenItem::Reasoning | OpenItem::Call))
        {
            let status = if is_complete { &b"\"completed\""[..] } else { b"\"incomplete\"" };
            message.close(status, &mut EventWriter { outgoing, edits, out })?;
        }
        let mut promoted = None;
        // Its id is free.
        let thought = messages.iter().rfind(|message| message.is_thinking_alone());
        let thinking = if is_complete { self.promotion.content() } else { Some(&b""[..]) };
        setup.stats.unpromoted += u64::from(thinking.is_none());
        let thinking = thinking.unwrap_or_default();
        if let (false, Some(message), Some(last)) = (thinking.is_empty(), thought, messages.last()) {
            let place = outgoing.places.insert(last.index);
            outgoing.promote(outgoing::Target { out: place, id: &message.id, pair: 1 }, thinking, out)?;
            promoted = Some(place);
        }
        if let Some(output) = response.output {
            let mut items = Items::new(setup, outgoing, false);
            let mut index = 0;
            let mut added = Ok(());
            fields::values(data, output.clone(), |at| {
                let object = Object::read(data, at);
                let id = object.id.as_ref().map(|id| inside(data, id));
                let record = messages.iter().rfind(|message| Some(&message.id[..]) == id);
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
                put(edits, data, output, |out| append(out, &list))?;
            }
        }
        outgoing.pass(event, fields, edits, None, out)?;
        self.end_response();
        self.outgoing.end_response();
        Ok(())
    }

    /// Writes a whole body, of an answer that is not a stream, with its changes. Returns whether there are any.
    pub fn body(&mut self, setup: &mut Setup, raw: &[u8], out: &mut Vec<u8>) -> Result<bool, Error> {
        let response = Object::read(raw, 0..raw.len());
        let Some(output) = response.output.clone() else {
            append(out, raw)?;
            return Ok(false);
        };
        let mut outgoing = self.outgoing.fresh();
        let mut items = Items::new(setup, &mut outgoing, true);
        items.promotion = Promotion::new(self.promotes);
        let (mut index, mut added) = (0, Ok(()));
        fields::values(raw, output.clone(), |at| {
            let object = Object::read(raw, at);
            if added.is_ok() {
                added = items.add(raw, &object, index, None);
            }
            index += 1;
        });
        added?;
        let is_complete = response.status.is_none_or(|at| inside(raw, &at) == b"completed");
        let thinking = memory::copy(items.promotion.content().unwrap_or_default())?;
        if is_complete && !thinking.is_empty() {
            let place = items.outgoing.places.insert(index);
            let id = mem::take(&mut items.id);
            items.promote(&id, place, &thinking)?;
        }
        let is_changed = items.is_changed;
        self.edits.clear();
        if is_changed {
            let mut list = Vec::new();
            items.write_list(&mut list)?;
            self.edits.replace(output, |out| append(out, &list))?;
        }
        self.edits.apply(raw, 0..raw.len(), Span::clone, out)?;
        self.edits = Edits::default();
        Ok(is_changed)
    }
}
