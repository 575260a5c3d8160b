//! Rewrites one event, or one whole body, by its format.

use std::mem;
use std::sync::Arc;

use super::choices::{Choices, Layout};
use super::envelope::{Envelope, Readers};
use super::event::{BYTE_ORDER_MARK, Event, EventPart};
use super::format::Format;
use super::messages::Messages;
use super::options::{Formats, Options};
use super::protocol::{Context, Protocol, Scratch};
use super::responses::Responses;
use super::text::{Input, Setup};
use crate::call_writer::Tools;
use crate::json::{self, Span};
use crate::memory::{self, append};
use crate::{Dialect, Error, Start};

/// The most bytes that extra chunks add to an event that has the data of many.
const MOST_ADDED: usize = 1 << 20;

/// Rewrites whole events and bodies.
pub struct Rewrite {
    pub setup: Setup,
    choices: Choices,
    messages: Messages,
    responses: Responses,
    scratch: Scratch,
    formats: Formats,
    /// No event has been seen.
    fresh: bool,
    event: Event,
    envelope: Envelope,
}

impl Rewrite {
    pub fn new(dialect: &Dialect, options: &Options) -> Result<Rewrite, Error> {
        let setup = Setup::new(dialect, options);
        let choices = Choices::new(options, setup.scanner()?)?;
        Ok(Rewrite {
            setup,
            choices,
            messages: Messages::new(options),
            responses: Responses::new(options),
            scratch: Scratch::new(),
            formats: options.formats,
            fresh: true,
            event: Event::new(),
            envelope: Envelope::new(),
        })
    }

    /// Sets the dialect of the next stream, the rewriter's own if it is `None`, and its start, the dialect's own if it is `None`.
    pub fn use_dialect(&mut self, dialect: Option<&Dialect>, start: Option<Start>) -> Result<(), Error> {
        self.setup.use_dialect(dialect, start, self.choices.first())
    }

    /// Starts the next stream after this prompt.
    pub fn start_from_prompt(&mut self, tail: &[u8]) -> Result<Start, Error> {
        self.setup.start_from_prompt(tail, self.choices.first())
    }

    /// Sets the tools of the next stream's request, if calls are wanted.
    pub fn use_tools(&mut self, tools: Option<Arc<Tools>>) {
        self.setup.use_tools(tools);
    }

    pub fn begin_stream(&mut self) {
        let own = self.setup.begin_stream();
        self.choices.begin_stream(own);
        self.messages.begin();
        self.responses.begin();
        self.fresh = true;
        self.event = Event::new();
        self.envelope.clear();
        self.scratch.begin_event();
    }

    fn protocols(&self) -> [&dyn Protocol; 3] {
        [&self.messages, &self.responses, &self.choices]
    }

    fn protocols_mut(&mut self) -> [&mut dyn Protocol; 3] {
        [&mut self.messages, &mut self.responses, &mut self.choices]
    }

    /// Returns how many bytes of text are held back.
    pub fn held(&self) -> usize {
        self.protocols().iter().map(|protocol| protocol.held()).sum()
    }

    /// Writes what is held back as text. The streams go on.
    pub fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.begin_event();
        self.release(Input::Flush, out)
    }

    /// Writes what is held back, because the streams are over.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.begin_event();
        self.release(Input::Finish, out)
    }

    fn begin_event(&mut self) {
        self.scratch.begin_event();
        self.protocols_mut().into_iter().for_each(|protocol| protocol.begin_event());
    }

    fn release(&mut self, input: Input<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let Rewrite { setup, scratch, choices, messages, responses, .. } = self;
        let context = &mut Context { setup, scratch, out };
        messages.release(context, input)?;
        responses.release(context, input)?;
        choices.release(context, input)
    }

    /// Writes the byte order mark of a stream that begins with this. Returns what comes after it, and whether the stream begins.
    fn pass_mark<'a>(&mut self, raw: &'a [u8], out: &mut Vec<u8>) -> Result<(&'a [u8], bool), Error> {
        let is_first = mem::take(&mut self.fresh);
        match raw.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first) {
            Some(rest) => {
                append(out, BYTE_ORDER_MARK)?;
                Ok((rest, is_first))
            }
            None => Ok((raw, is_first)),
        }
    }

    /// Returns whether an object is a line of Ollama's.
    pub fn is_line(&self, data: &[u8]) -> bool {
        self.formats.contains(Formats::OLLAMA) && is_ollama(Format::of(data, self.formats))
    }

    /// Writes a line that is an object of its own, with its changes. With `last`, the streams are over after it.
    pub fn line(&mut self, raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let (raw, is_first) = self.pass_mark(raw, out)?;
        if let Some(format) = self.known(raw)? {
            self.scratch.begin_event();
            self.data(Some(format), raw, 0..raw.len(), last, out)?;
            return Ok(());
        }
        self.event.read_data(raw)?;
        self.begin_event();
        let format = Format::of(self.event.data(raw), self.formats);
        let layout = format.filter(|&format| is_ollama(Some(format))).and_then(Layout::of);
        if let Some(layout) = layout {
            self.choices.read(layout, self.event.data(raw))?;
            if is_first && self.choices.is_finished() {
                // The whole answer, of a request that asks for no stream.
                return self.body(raw, out);
            }
            self.learn(format, raw)?;
        } else {
            self.setup.stats.unread += u64::from(!matches!(format, None | Some(Format::Error)));
        }
        self.data(format, raw, 0..raw.len(), last, out)?;
        Ok(())
    }

    /// Writes a whole event with its changes. With `last`, the streams are over after it.
    pub fn event(&mut self, raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let (raw, _) = self.pass_mark(raw, out)?;
        if raw == b"\n" && (self.messages.takes_line_feed()? || self.responses.takes_line_feed()?) {
            return Ok(());
        }
        if let Some(format) = self.known(raw)? {
            self.scratch.begin_event();
            self.data(Some(format), raw, 0..raw.len(), last, out)?;
            return Ok(());
        }
        self.event.read(raw)?;
        self.begin_event();
        let format = self.read(raw)?;
        if format.is_none() {
            let values = self.event.values(raw)?;
            if values.len() > 1 && values.iter().all(|(_, value)| is_data(&raw[value.clone()])) {
                return self.each_line(&values, raw, last, out);
            }
        }
        self.learn(format, raw)?;
        self.data(format, raw, 0..raw.len(), last, out)?;
        Ok(())
    }

    /// Reads an event that has the envelope of the one before. Returns its format.
    fn known(&mut self, raw: &[u8]) -> memory::Result<Option<Format>> {
        let Rewrite { choices, messages, responses, event, envelope, .. } = self;
        envelope.read(raw, event, Readers { choices, messages, responses })
    }

    fn learn(&mut self, format: Option<Format>, raw: &[u8]) -> memory::Result<()> {
        let Rewrite { choices, messages, responses, event, envelope, .. } = self;
        format.map_or(Ok(()), |format| envelope.learn(raw, event, format, Readers { choices, messages, responses }))
    }

    /// Writes an event that has the data of several, one on each line. If something changes, each becomes an event.
    fn each_line(&mut self, values: &[(usize, Span)], raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        let most = start + MOST_ADDED + 2 * raw.len();
        let mut changes = false;
        for (number, (line, value)) in values.iter().enumerate() {
            let line = if number == 0 { 0 } else { *line };
            let end = values.get(number + 1).map_or(raw.len(), |&(line, _)| line);
            if number > 0 {
                append(out, self.event.line_end)?;
            }
            if out.len() > most {
                changes = true;
                let input = if last { Input::Finish } else { Input::Flush };
                self.release(input, out)?;
                append(out, &raw[line..])?;
                break;
            }
            self.event.select(value.clone());
            self.scratch.begin_data();
            self.choices.begin_event();
            let format = self.read(raw)?;
            changes |= self.data(format, raw, line..end, last && end == raw.len(), out)?;
        }
        if !changes {
            out.truncate(start);
            append(out, raw)?;
        }
        Ok(())
    }

    /// Reads the data of the event, or what is selected of it. `None` says that it is not a JSON object.
    fn read(&mut self, raw: &[u8]) -> Result<Option<Format>, Error> {
        let data = self.event.data(raw);
        // Ollama sends no events: its lines could not stand between them.
        let format = self.format(data).map(|format| if is_ollama(Some(format)) { Format::Unknown } else { format });
        let Some(layout) = format.and_then(Layout::of) else {
            match format {
                Some(Format::Messages) => self.messages.read(data),
                Some(Format::Responses) => self.responses.read(data),
                Some(Format::Unknown) => self.setup.stats.unread += 1,
                _ => {}
            }
            return Ok(format);
        };
        let error = self.choices.read(layout, data)?;
        self.setup.stats.unread += u64::from(error == Some(false) && self.is_unread(data));
        Ok(error.and_then(|error| if error { Some(Format::Error) } else { format }))
    }

    /// Returns the format of an object, or `None` if this is not one.
    fn format(&self, data: &[u8]) -> Option<Format> {
        match self.formats {
            // The rest of it does not matter.
            Formats::CHAT => Some(Format::Chat),
            formats => Format::of(data, formats),
        }
    }

    /// Returns whether what was read as an object with choices is of another format.
    fn is_unread(&self, data: &[u8]) -> bool {
        self.choices.is_empty() && Format::of(data, self.formats) == Some(Format::Unknown)
    }

    /// Writes data that was read, in a part of an event, with its changes. Returns whether there are any.
    fn data(
        &mut self,
        format: Option<Format>,
        raw: &[u8],
        part: Span,
        last: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let Rewrite { setup, scratch, event, choices, messages, responses, .. } = self;
        let event = EventPart { raw, part, event };
        let ended = format == Some(Format::Error) || event.name() == b"error" || is_done(event.data());
        let start = out.len();
        let is_last = last || ended;
        let own = match format {
            Some(Format::Messages) if !ended => 0,
            Some(Format::Responses) => 1,
            // An error is counted like the events before it.
            Some(Format::Error) if responses.is_active() => 1,
            _ => 2,
        };
        let protocols: [&mut dyn Protocol; 3] = [messages, responses, choices];
        let context = &mut Context { setup, scratch, out };
        for other in (0..protocols.len()).filter(|&other| other != own) {
            protocols[other].make_way(context, is_last, &event)?;
        }
        let has_released = context.out.len() > start;
        let changes = protocols[own].event(context, is_last, &event)? | has_released;
        setup.stats.events += u64::from(!event.data().is_empty());
        setup.stats.changed += u64::from(changes);
        if ended {
            setup.restart();
            protocols.into_iter().try_for_each(|protocol| protocol.restart(setup))?;
        }
        Ok(changes)
    }

    /// Writes a whole body, of an answer that is not a stream, with its changes.
    pub fn body(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let format = self.format(raw);
        let Rewrite { setup, scratch, choices, messages, responses, .. } = self;
        setup.stats.events += 1;
        let layout = format.and_then(Layout::of);
        let protocol: &mut dyn Protocol = match (format, layout) {
            (Some(Format::Messages), _) => messages,
            (Some(Format::Responses), _) => responses,
            (_, Some(layout)) => {
                choices.use_layout(layout);
                choices
            }
            _ => {
                setup.stats.unread += u64::from(format == Some(Format::Unknown));
                return Ok(append(out, raw)?);
            }
        };
        let changes = protocol.body(&mut Context { setup, scratch, out }, raw)?;
        setup.stats.changed += u64::from(changes);
        if layout.is_some() {
            self.setup.stats.unread += u64::from(self.is_unread(raw));
        }
        Ok(())
    }
}

fn is_ollama(format: Option<Format>) -> bool {
    matches!(format, Some(Format::OllamaChat | Format::OllamaGenerate))
}

fn is_done(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]"
}

/// Returns whether this is the data of a whole event.
fn is_data(data: &[u8]) -> bool {
    json::is_json(data) || is_done(data)
}
