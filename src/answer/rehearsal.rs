//! Holds calls in the thinking. A model that thinks about a call may write the call and then continue to think: it only rehearses the
//! call. The scanner cannot know that, and ends the thinking at the opener. So calls wait here until the end of their run. A run is a
//! sequence of calls with only blanks between them. If other text follows, the run is thinking, and so is the text up to the closer.
//! The model means the calls if a marker follows, even if that is the closer of the thinking inside a call, or if the text ends.

use crate::memory::{self, append, clear, push};
use crate::{Cause, Channel, Error, Event, Kind};

/// The place in a text.
#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Content,
    /// In the thinking. `continued` means that the scanner reports the thinking as content, because a rehearsed call has ended
    /// the span.
    Thinking { continued: bool },
    /// Directly after thinking that has ended without its closer.
    Ended,
    /// In a run of calls.
    Run,
}

/// The meaning of an event for a run of calls.
#[derive(Clone, Copy, PartialEq)]
pub enum AroundCalls {
    /// The event opens a span of calls, not a message.
    Begin,
    /// The event closes a span of calls, but its bytes are a closer of the thinking: the model has stopped thinking.
    ThoughtEnds,
    Neither,
}

/// The waiting calls of one text.
#[derive(Default)]
pub struct Rehearsal {
    place: Place,
    text: Vec<u8>,
    /// The events of the run: the kind and channel of each, and the number of its bytes.
    events: Vec<(Kind<'static>, Channel, usize)>,
}

/// The destination of events.
type Take<'a> = dyn FnMut(&Event<'_>) -> Result<(), Error> + 'a;

impl Rehearsal {
    /// Returns the number of bytes that wait.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns whether `take` would only pass the event on: it is not thinking, and the thinking before it is over or has not begun.
    pub fn passes(&self, event: &Event<'_>) -> bool {
        self.place == Place::Content && event.channel != Channel::Thinking
    }

    /// Reads the next event, and calls `take` with all events that are decided. At most `room` bytes wait; a longer run is
    /// treated as calls that the model means.
    pub fn take(
        &mut self,
        event: &Event<'_>,
        around: AroundCalls,
        room: usize,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        if around == AroundCalls::Begin && matches!(self.place, Place::Ended | Place::Thinking { .. }) {
            self.place = Place::Run;
        }
        if self.place == Place::Run && around == AroundCalls::ThoughtEnds {
            self.finish(take)?;
            return take(event);
        }
        if self.place == Place::Run {
            return self.take_in_run(event, room, take);
        }
        match (&event.kind, event.channel) {
            (Kind::Close(Cause::Implied), Channel::Thinking) => self.place = Place::Ended,
            (Kind::Open { .. } | Kind::Text, Channel::Thinking) => self.place = Place::Thinking { continued: false },
            (Kind::Text, Channel::Content) if self.place == (Place::Thinking { continued: true }) => {
                return take(&Event { channel: Channel::Thinking, ..event.clone() });
            }
            // Blanks around markers, and events without bytes.
            (Kind::Framing | Kind::Attribute(_) | Kind::Budget, _) if event.bytes.trim_ascii().is_empty() => {}
            (_, Channel::Thinking) if !matches!(event.kind, Kind::Close(_)) => {}
            _ => self.place = Place::Content,
        }
        take(event)
    }

    fn take_in_run(&mut self, event: &Event<'_>, room: usize, take: &mut Take<'_>) -> Result<(), Error> {
        let blanks = event.bytes.len() - event.bytes.trim_ascii_start().len();
        let is_blank = blanks == event.bytes.len();
        match event.kind {
            _ if event.channel == Channel::Tool => self.keep(event, room, take),
            Kind::Text if !is_blank => {
                let (before, text) = event.bytes.split_at(blanks);
                if !before.is_empty() {
                    self.keep(&Event { bytes: before, ..event.clone() }, room, take)?;
                }
                let rest = Event { bytes: text, ..event.clone() };
                if self.place == Place::Run {
                    self.place = Place::Thinking { continued: event.channel == Channel::Content };
                    let run =
                        Event { kind: Kind::Text, channel: Channel::Thinking, bytes: &self.text, ..event.clone() };
                    take(&run)?;
                    self.clear();
                }
                self.take(&rest, AroundCalls::Neither, room, take)
            }
            // This event has no bytes, and does not end a run.
            Kind::Budget => take(event),
            Kind::Text | Kind::Framing if is_blank => self.keep(event, room, take),
            _ => {
                self.finish(take)?;
                self.take(event, AroundCalls::Neither, room, take)
            }
        }
    }

    /// Adds an event of a run.
    fn keep(&mut self, event: &Event<'_>, room: usize, take: &mut Take<'_>) -> Result<(), Error> {
        if self.text.len() + event.bytes.len() > room {
            self.finish(take)?;
            return take(event);
        }
        append(&mut self.text, event.bytes)?;
        let (kind, len) = (kept(&event.kind), event.bytes.len());
        match self.events.last_mut() {
            Some(last) if matches!(kind, Kind::Text | Kind::CallValue) && last.0 == kind && last.1 == event.channel => {
                last.2 += len;
            }
            _ => push(&mut self.events, (kind, event.channel, len))?,
        }
        Ok(())
    }

    /// Ends the run, whose calls the model means: `take` gets their events.
    pub fn finish(&mut self, take: &mut Take<'_>) -> Result<(), Error> {
        if self.place == Place::Run {
            self.place = Place::Content;
        }
        let mut rest = &self.text[..];
        for (kind, channel, len) in &self.events {
            let (bytes, after) = rest.split_at(*len);
            rest = after;
            take(&Event { channel: *channel, ..Event::of_call(kind.clone(), bytes) })?;
        }
        self.clear();
        Ok(())
    }

    /// Forgets the run, and calls `push` with its text, because no call is wanted any more.
    pub fn give_up(&mut self, push: impl FnOnce(&[u8]) -> memory::Result<()>) -> memory::Result<()> {
        self.place = Place::Content;
        push(&self.text)?;
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        clear(&mut self.text);
        clear(&mut self.events);
    }
}

/// Returns a kind without its borrowed bytes. Calls of a run do not need them: the name is in the text, and attributes of the
/// tag do not concern the call.
fn kept(kind: &Kind<'_>) -> Kind<'static> {
    match *kind {
        Kind::Open { rule, tag } => Kind::Open { rule, tag },
        Kind::Close(cause) => Kind::Close(cause),
        Kind::Call { rule, table, index } => Kind::Call { rule, table, index },
        Kind::CallEnd { index, cause, is_repaired } => Kind::CallEnd { index, cause, is_repaired },
        Kind::CallValueEnd { is_repaired } => Kind::CallValueEnd { is_repaired },
        Kind::CallName(_) => Kind::CallName(None),
        Kind::CallId => Kind::CallId,
        Kind::CallKey => Kind::CallKey,
        Kind::CallType => Kind::CallType,
        Kind::CallValue => Kind::CallValue,
        Kind::Text => Kind::Text,
        Kind::Framing | Kind::Attribute(_) | Kind::Reclassify | Kind::Budget => Kind::Framing,
    }
}
