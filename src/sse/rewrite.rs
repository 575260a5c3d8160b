//! Rewrites one event, or one whole body, by its format.
//!
//! Laws: an event is sent unchanged if its format is not one of those that are read. Held text is sent before an event that it must
//! precede, so that each part of a text is written once and in order.

use std::mem;
use std::sync::Arc;

use super::buffers::{self, AnyFields, Buffers};
use super::choices::{Choices, Chunk, Layout, hide_choices};
use super::comments::Silencer;
use super::envelope::Envelope;
use super::event::{EventPart, LINE_END, OwedLineFeed, split_mark};
use super::format::Format;
use super::hide;
use super::messages::{self, Messages};
use super::normalise::Shapes;
use super::options::{Formats, Options};
use super::protocol::{Context, Protocol, Scratch};
use super::responses::{self, Responses};
use crate::answer::{Input, Promotes, Setup, Tools};
use crate::json::{self, Span};
use crate::memory::{self, TryBox, append};
use crate::{Dialect, Error, Start};

/// The maximum number of bytes that extra chunks may add to an event with many lines of data.
const MOST_ADDED: usize = 1 << 20;

/// Rewrites whole events and bodies.
pub struct Rewrite {
    pub options: Options,
    pub setup: Setup,
    choices: Choices,
    /// The code for these formats, which is created when the first event of a format arrives.
    messages: TryBox<Messages>,
    responses: TryBox<Responses>,
    /// Whether no event has been seen yet.
    fresh: bool,
    /// The line end of the last event with a whole line, and whether a line feed is owed after the last event.
    line_end: &'static [u8],
    line_feed: OwedLineFeed,
    envelope: Envelope,
    /// Removes the comments from the stream, if requested.
    silencer: TryBox<Silencer>,
}

impl Rewrite {
    pub fn new(dialect: &Dialect, options: &Options) -> Result<Rewrite, Error> {
        let setup = Setup::new(dialect, &options.answer, options.calls, options.normalise.contains(Shapes::CONTENT))?;
        // This returns the error of a dialect that does not have this start.
        setup.scanner()?;
        Ok(Rewrite {
            options: options.clone(),
            setup,
            choices: Choices::new(options),
            messages: TryBox::NONE,
            responses: TryBox::NONE,
            fresh: true,
            line_end: LINE_END,
            line_feed: OwedLineFeed::default(),
            envelope: Envelope::new(),
            silencer: Silencer::new(options)?,
        })
    }

    /// Sets the dialect and the start of the next stream. With `None`, the rewriter's own dialect, or the dialect's own start, is
    /// used.
    pub fn use_dialect(&mut self, dialect: Option<&Dialect>, start: Option<Start>) -> Result<(), Error> {
        self.setup.use_dialect(dialect, start)?;
        self.choices.forget_start();
        Ok(())
    }

    /// Starts the next stream after this prompt.
    pub fn start_from_prompt(&mut self, tail: &[u8]) -> Result<Start, Error> {
        let start = self.setup.start_from_prompt(tail)?;
        self.choices.forget_start();
        Ok(start)
    }

    /// Sets the tools of the next stream's request, if calls are wanted.
    pub fn use_tools(&mut self, tools: Option<Arc<Tools>>) {
        self.setup.use_tools(tools);
    }

    pub fn begin_stream(&mut self) {
        if self.setup.begin_stream() {
            self.choices.forget_start();
        }
        self.choices.begin_stream();
        if let Some(messages) = self.messages.get_mut() {
            messages.begin();
        }
        if let Some(responses) = self.responses.get_mut() {
            responses.begin();
        }
        self.fresh = true;
        (self.line_end, self.line_feed) = (LINE_END, OwedLineFeed::default());
        self.envelope.clear();
        if let Some(silencer) = self.silencer.get_mut() {
            silencer.begin_stream();
        }
    }

    /// Returns the number of bytes of text that are held back.
    pub fn held(&self) -> usize {
        let Rewrite { choices, messages, responses, .. } = self;
        messages.get().map_or(0, Protocol::held) + responses.get().map_or(0, Protocol::held) + choices.held()
    }

    /// Writes the text that is held back. With `Input::Finish`, the streams are over; with `Input::Flush`, they continue.
    pub fn write_held(&mut self, input: Input<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.with_buffers(|rewrite, buffers| rewrite.release(input, &mut buffers.scratch, out))
    }

    /// Calls a function with the buffers for the next event. Afterwards, the stream keeps the event's line end and any owed line feed.
    fn with_buffers<T>(
        &mut self,
        work: impl FnOnce(&mut Rewrite, &mut Buffers) -> Result<T, Error>,
    ) -> Result<T, Error> {
        buffers::with(|buffers| {
            buffers.event.line_end = self.line_end;
            let result = work(self, buffers);
            (self.line_end, self.line_feed) = (buffers.event.line_end, buffers.scratch.line_feed);
            result
        })
    }

    fn release(&mut self, input: Input<'_>, scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<(), Error> {
        let Rewrite { options, setup, choices, messages, responses, .. } = self;
        if Promotes::new(&options.answer, options.max_event_bytes()).is_any_wanted() && matches!(input, Input::Flush) {
            // This also notes in the code of every format that the next event is not read.
            messages.made_by(|| Messages::new(options))?;
            responses.made_by(|| Responses::new(options))?;
        }
        let context = &mut Context { setup, scratch, out };
        all(choices, messages, responses).try_for_each(|protocol| protocol.release(context, input))
    }

    /// Writes the byte order mark, if the stream begins with one here. Returns the bytes after it, and whether the stream
    /// begins here.
    fn pass_mark<'a>(&mut self, raw: &'a [u8], out: &mut Vec<u8>) -> Result<(&'a [u8], bool), Error> {
        let is_first = mem::take(&mut self.fresh);
        let (mark, rest) = split_mark(raw, is_first);
        if !mark.is_empty() {
            append(out, mark)?;
        }
        Ok((rest, is_first))
    }

    /// Returns whether an object is a line of Ollama.
    pub fn is_line(&self, data: &[u8]) -> bool {
        self.options.formats.contains(Formats::OLLAMA) && is_ollama(Format::of(data, self.options.formats))
    }

    /// Writes a line that is an object, with its changes. With `last`, the streams end with this line.
    pub fn line(&mut self, raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        self.with_buffers(|rewrite, buffers| rewrite.one_line(raw, last, buffers, out))
    }

    fn one_line(&mut self, raw: &[u8], last: bool, buffers: &mut Buffers, out: &mut Vec<u8>) -> Result<(), Error> {
        let (raw, is_first) = self.pass_mark(raw, out)?;
        if self.known(raw, last, buffers, out)? {
            return Ok(());
        }
        buffers.event.read_data(raw)?;
        let data = buffers.event.data(raw);
        // Only Ollama streams lines. For another format, events could not be written between lines.
        let format = match Format::of(data, self.options.formats) {
            Some(format) if !is_ollama(Some(format)) && format != Format::Error => Some(Format::Unknown),
            format => format,
        };
        if let Some(layout) = format.and_then(Layout::of) {
            self.choices.read(layout, data, &mut buffers.chunk)?;
            if is_first && buffers.chunk.is_whole() {
                // The line is a whole answer to a request without streaming.
                return self.one_body(raw, false, buffers, out);
            }
            self.learn(format, raw, buffers)?;
        } else {
            self.setup.stats.unread += u64::from(!matches!(format, None | Some(Format::Error)));
        }
        self.data(format, raw, 0..raw.len(), last, buffers, out)?;
        Ok(())
    }

    /// Writes a whole event with its changes. With `last`, the streams end with this event.
    #[inline]
    pub fn event(&mut self, raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        match self.silencer.get() {
            None => self.one_event(raw, last, out),
            Some(_) => self.without_comments(raw, last, out),
        }
    }

    /// Writes an event without its comments, and empty events in place of these, if requested.
    #[inline(never)]
    fn without_comments(&mut self, raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(silencer) = self.silencer.get_mut() else { return Ok(()) };
        let Some((rest, count)) = silencer.take_out(raw, self.fresh)? else { return self.one_event(raw, last, out) };
        // The last event is processed even if it is empty, because it releases held text.
        if !rest.is_empty() || last {
            self.one_event(&rest, last, out)?;
        }
        self.silencer.get_mut().map_or(Ok(()), |silencer| Ok(silencer.put_back(rest, count, out)?))
    }

    fn one_event(&mut self, raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let (raw, _) = self.pass_mark(raw, out)?;
        if self.line_feed.is(raw) {
            return Ok(());
        }
        self.with_buffers(|rewrite, buffers| match rewrite.known(raw, last, buffers, out)? {
            true => Ok(()),
            false => rewrite.new_event(raw, last, buffers, out),
        })
    }

    /// Writes an event that must be parsed.
    fn new_event(&mut self, raw: &[u8], last: bool, buffers: &mut Buffers, out: &mut Vec<u8>) -> Result<(), Error> {
        buffers.event.read(raw)?;
        let format = self.read(raw, buffers)?;
        if format.is_none() {
            let values = buffers.event.values(raw)?;
            if values.len() > 1 && values.iter().all(|(_, value)| is_data(&raw[value.clone()])) {
                return self.each_line(&values, raw, last, buffers, out);
            }
        }
        let completed = match &buffers.fields {
            AnyFields::Responses(fields) => {
                let responses = self.responses.made_by(|| Responses::new(&self.options))?;
                responses.complete(raw, &buffers.event, fields)?
            }
            _ => None,
        };
        if let Some(raw) = &completed {
            buffers.event.read(raw)?;
            buffers.fields = AnyFields::Responses(responses::Fields::read(buffers.event.data(raw)));
        }
        let is_copied = completed.is_none();
        let raw = completed.as_deref().unwrap_or(raw);
        self.learn(format, raw, buffers)?;
        let changes = self.data(format, raw, 0..raw.len(), last, buffers, out)?;
        self.setup.stats.changed += u64::from(!changes && !is_copied);
        Ok(())
    }

    /// Writes the event if it has the known envelope. Returns whether the event was written.
    fn known(&mut self, raw: &[u8], last: bool, buffers: &mut Buffers, out: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(format) = self.envelope.read(raw, &mut self.choices, buffers)? else { return Ok(false) };
        self.data(Some(format), raw, 0..raw.len(), last, buffers, out)?;
        Ok(true)
    }

    fn learn(&mut self, format: Option<Format>, raw: &[u8], buffers: &Buffers) -> memory::Result<()> {
        format.map_or(Ok(()), |format| self.envelope.learn(raw, format, buffers))
    }

    /// Writes an event with several lines of data, each of which is a JSON object. If something changes, each line becomes an
    /// event.
    fn each_line(
        &mut self,
        values: &[(usize, Span)],
        raw: &[u8],
        last: bool,
        buffers: &mut Buffers,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let start = out.len();
        let most = start + MOST_ADDED + 2 * raw.len();
        let mut changes = false;
        for (number, (line, value)) in values.iter().enumerate() {
            let line = if number == 0 { 0 } else { *line };
            let end = values.get(number + 1).map_or(raw.len(), |&(line, _)| line);
            if number > 0 {
                append(out, buffers.event.line_end)?;
            }
            if out.len() > most {
                changes = true;
                let input = if last { Input::Finish } else { Input::Flush };
                self.release(input, &mut buffers.scratch, out)?;
                append(out, &raw[line..])?;
                break;
            }
            buffers.event.select(value.clone());
            buffers.begin_data();
            let format = self.read(raw, buffers)?;
            changes |= self.data(format, raw, line..end, last && end == raw.len(), buffers, out)?;
        }
        if !changes {
            out.truncate(start);
            append(out, raw)?;
        }
        Ok(())
    }

    /// Reads the data of the event, or its selected line. Returns `None` if that is not a JSON object.
    fn read(&mut self, raw: &[u8], buffers: &mut Buffers) -> Result<Option<Format>, Error> {
        let Buffers { event, chunk, fields, .. } = buffers;
        let data = event.data(raw);
        // Ollama streams lines, so the format of an event with an object of Ollama is unknown.
        let format = self.format(data).map(|format| if is_ollama(Some(format)) { Format::Unknown } else { format });
        let Some(layout) = format.and_then(Layout::of) else {
            match format {
                Some(Format::Messages) => *fields = AnyFields::Messages(messages::Fields::read(data)),
                Some(Format::Responses) => *fields = AnyFields::Responses(responses::Fields::read(data)),
                Some(Format::Unknown) => self.setup.stats.unread += 1,
                _ => {}
            }
            return Ok(format);
        };
        let error = self.choices.read(layout, data, chunk)?;
        // If only chat is read, this object was taken for chat without looking at its format.
        let other = if error == Some(false) { self.other_format(data, chunk) } else { None };
        self.setup.stats.unread += u64::from(other == Some(Format::Unknown));
        Ok(match (error, other) {
            (None, _) => None,
            (Some(true), _) | (_, Some(Format::Error)) => Some(Format::Error),
            _ => format,
        })
    }

    /// Returns the format of the data, or `None` if the data is not a JSON object.
    fn format(&self, data: &[u8]) -> Option<Format> {
        match self.options.formats {
            // If only chat is read, the object need not be examined.
            Formats::CHAT => Some(Format::Chat),
            formats => Format::of(data, formats),
        }
    }

    /// Returns the format of an object that was read as chat and has no choices.
    fn other_format(&self, data: &[u8], chunk: &Chunk) -> Option<Format> {
        if chunk.is_empty() { Format::of(data, self.options.formats) } else { None }
    }

    /// Writes a part of an event whose data was read, with its changes. Returns whether anything changed.
    fn data(
        &mut self,
        format: Option<Format>,
        raw: &[u8],
        part: Span,
        last: bool,
        Buffers { event, chunk, fields, scratch, .. }: &mut Buffers,
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let Rewrite { options, setup, choices, messages, responses, .. } = self;
        let event = EventPart { raw, part, event };
        let ended = format == Some(Format::Error) || event.name() == b"error" || is_end(event.data());
        let start = out.len();
        let is_last = last || ended;
        // An error is numbered like the events before it.
        let owner = match format {
            Some(Format::Error) if responses.get().is_some_and(Responses::is_active) => Some(Format::Responses),
            Some(Format::Messages) if ended => None,
            _ => format,
        };
        let is_of_messages = owner == Some(Format::Messages);
        let is_of_responses = owner == Some(Format::Responses);
        let context = &mut Context { setup, scratch, out };
        if !is_of_messages && let Some(messages) = messages.get_mut() {
            messages.make_way(context, is_last, &event)?;
        }
        if !is_of_responses && let Some(responses) = responses.get_mut() {
            responses.make_way(context, is_last, &event)?;
        }
        if is_of_messages || is_of_responses {
            choices.make_way(context, is_last, &event)?;
        }
        let has_released = context.out.len() > start;
        let changes = match fields {
            AnyFields::Messages(fields) if is_of_messages => {
                messages.made_by(|| Messages::new(options))?.event(context, is_last, &event, fields)?
            }
            AnyFields::Responses(fields) => {
                responses.made_by(|| Responses::new(options))?.event(context, is_last, &event, fields)?
            }
            // An error, which may have the members of an event of Responses.
            _ if is_of_responses => {
                let fields = &responses::Fields::read(event.data());
                responses.made_by(|| Responses::new(options))?.event(context, is_last, &event, fields)?
            }
            _ => choices.event(context, is_last, &event, chunk)?,
        };
        let changes = changes | has_released;
        if let Some(silencer) = self.silencer.get_mut() {
            silencer.note(format, &event, ended)?;
        }
        setup.stats.events += u64::from(!event.data().is_empty());
        setup.stats.changed += u64::from(changes);
        if ended {
            setup.restart();
            all(choices, messages, responses).try_for_each(|protocol| protocol.restart(setup))?;
        }
        Ok(changes)
    }

    /// Writes a whole body, which is an answer that is not a stream, with its changes. `is_shaped` means that an earlier step
    /// has changed it.
    pub fn body(&mut self, raw: &[u8], is_shaped: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        self.with_buffers(|rewrite, buffers| rewrite.one_body(raw, is_shaped, buffers, out))
    }

    fn one_body(&mut self, raw: &[u8], is_shaped: bool, buffers: &mut Buffers, out: &mut Vec<u8>) -> Result<(), Error> {
        let format = self.format(raw);
        let Rewrite { options, setup, choices, messages, responses, .. } = self;
        setup.stats.events += 1;
        let layout = format.and_then(Layout::of);
        let start = out.len();
        let Buffers { chunk, scratch, .. } = buffers;
        let context = &mut Context { setup, scratch, out };
        let mut changes = match (format, layout) {
            (Some(Format::Messages), _) => messages.made_by(|| Messages::new(options))?.body(context, raw)?,
            (Some(Format::Responses), _) => responses.made_by(|| Responses::new(options))?.body(context, raw)?,
            (_, Some(layout)) => choices.body(context, layout, raw, chunk)?,
            _ => {
                context.setup.stats.unread += u64::from(format == Some(Format::Unknown));
                return Ok(append(context.out, raw)?);
            }
        };
        if options.drops_thinking() {
            changes |= hide_body(options.formats, start, context)?;
        }
        setup.stats.changed += u64::from(changes || is_shaped);
        if layout.is_some() {
            self.setup.stats.unread += u64::from(self.other_format(raw, chunk) == Some(Format::Unknown));
        }
        Ok(())
    }
}

/// Removes the thinking from the body that begins at `start` in the output. Returns whether there was thinking.
fn hide_body(formats: Formats, start: usize, context: &mut Context<'_>) -> Result<bool, Error> {
    let Context { scratch: Scratch { edits, .. }, out, .. } = context;
    let raw = memory::copy(&out[start..])?;
    edits.clear();
    match Format::of(&raw, formats) {
        Some(Format::Messages) => hide::blocks(&raw, &[b"content"], edits)?,
        Some(format) => Layout::of(format).map_or(Ok(()), |layout| hide_choices(&raw, layout, edits))?,
        None => {}
    }
    out.truncate(start);
    edits.apply(&raw, 0..raw.len(), Span::clone, out)?;
    Ok(!edits.list.is_empty())
}

/// Returns the code for a format, if an event of that format has arrived.
fn made<T: Protocol>(protocol: &mut TryBox<T>) -> Option<&mut dyn Protocol> {
    protocol.get_mut().map(|protocol| protocol as &mut dyn Protocol)
}

/// Returns the code for each format that has occurred, in the order in which held text is written.
fn all<'a>(
    choices: &'a mut Choices,
    messages: &'a mut TryBox<Messages>,
    responses: &'a mut TryBox<Responses>,
) -> impl Iterator<Item = &'a mut dyn Protocol> {
    [made(messages), made(responses), Some(choices as &mut dyn Protocol)].into_iter().flatten()
}

fn is_ollama(format: Option<Format>) -> bool {
    matches!(format, Some(Format::OllamaChat | Format::OllamaGenerate))
}

fn is_done(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]"
}

/// Returns whether no text follows data that is not JSON: it is `[DONE]`, or an error.
fn is_end(data: &[u8]) -> bool {
    is_done(data) || data.trim_ascii_start().starts_with(b"[ERROR]")
}

/// Returns whether this is the data of a whole event.
fn is_data(data: &[u8]) -> bool {
    json::is_json(data) || is_done(data)
}
