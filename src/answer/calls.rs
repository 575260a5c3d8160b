//! Turns the scanner's events of a choice's text into tool calls and content. A client must get each byte of a tool region once,
//! in a call or as content, and text that was sent cannot be withdrawn. So the text of a region waits here until one of its calls
//! is emitted, or until it is clear that none of them will be emitted. Other text is sent before the end of the answer.

use std::mem;
use std::sync::Arc;

use super::around::Sink;
use super::ids::{self, Taken};
use super::options::Options;
use super::rehearsal::{AroundCalls, Rehearsal};
use crate::call_writer::{self, CallDelta, CallState, CallWriter, NotWhole, Tools, UnknownTool};
use crate::calls::table::HeadRule;
use crate::json::{Span, decimal};
use crate::memory::{append, append_text, copy_text, push};
use crate::{CallsInThinking, Channel, Dialect, Error, Event, Kind};

/// The maximum number of bytes of calls that wait in all choices together.
pub const MOST_WAITING: usize = 4 << 20;

/// Memory for waiting text that is kept from one region to the next.
const KEPT: usize = 4096;

/// The maximum number of calls of a choice that are emitted; later calls are text. Otherwise a few bytes of text, `f()`, could become
/// many times as many bytes of chunks, and the number of ids would be unlimited.
const MOST_CALLS: u64 = 1024;

/// The host's options for calls.
pub struct Settings {
    /// The form of calls, with the tools of the stream's request.
    pub writing: call_writer::Options,
    /// The tools for streams whose tools the host does not set.
    pub default_tools: Option<Arc<Tools>>,
    /// The name of the call, if each text is the arguments of one call.
    pub start_call: Option<Arc<str>>,
    /// Whether calls in the thinking wait until it is known whether the model means them.
    pub may_rehearse: bool,
}

impl Settings {
    pub fn new(options: &Options) -> Settings {
        // Each text gets a separate prefix.
        let writing = options.writing.without_prefix();
        // A host may lower the limit, but not raise it.
        let max_calls = if writing.max_calls == 0 { MOST_CALLS } else { writing.max_calls.min(MOST_CALLS) };
        Settings {
            default_tools: writing.tools.clone(),
            start_call: options.start_call.clone(),
            may_rehearse: options.scanner.calls_in_thinking != CallsInThinking::Always,
            writing: writing.max_calls(max_calls),
        }
    }
}

/// The form in which calls are emitted.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// Each call piece by piece, unless the host wants whole calls.
    Deltas,
    /// Each call as a whole, for an answer that is not a stream.
    Whole,
    /// Each call as a whole, with an object as its arguments.
    Objects { is_body: bool },
}

/// The calls of one choice.
pub struct Calls {
    writer: CallWriter,
    /// The calls in the thinking that the model may only be rehearsing.
    rehearsal: Option<Rehearsal>,
    region: Region,
    emitter: Emitter,
    /// Whether a call may be emitted: the request has tools.
    may_emit: bool,
    max_held: usize,
    form: Form,
    /// Whether a call that is too long to wait is sent piece by piece, although it should be sent whole.
    may_stop_holding: bool,
}

/// The region that is being read: a tool span.
#[derive(Default)]
struct Region {
    /// Whether a call of the region may be emitted.
    is_open: bool,
    /// Whether the region is the body of a message with a header, which is not part of the text.
    is_message: bool,
    /// Whether the message's header does not name a call, so that the body is for a tool of the server.
    is_of_server: bool,
    /// Whether a call of the region was emitted. Text outside calls is then sent at once, and markers are not sent.
    has_emitted: bool,
    /// Whether the waiting text has exceeded its limit. From then on, until a call is emitted, text outside calls no longer
    /// waits.
    is_full: bool,
    /// The length of the region's opener, if the waiting text ends with it.
    opener: usize,
    /// The waiting text.
    text: Vec<u8>,
    /// Stretches of the waiting text that belong to calls that will not be emitted.
    dropped: Vec<Span>,
    call: OpenCall,
}

/// The state of the call that is being read.
#[derive(Clone, Copy, Default, PartialEq)]
enum OpenCall {
    #[default]
    None,
    /// The bytes of the call wait, from this position in the waiting text on.
    Waits(usize),
    Emitted,
    /// The call will not be emitted.
    Dropped,
}

/// Hands calls to the client, each with a unique id.
struct Emitter {
    id_prefix: String,
    /// The length of ids that are made here, if they are only letters and digits.
    id_len: Option<u8>,
    /// The ids that the model has written.
    ids: Taken,
    form: Form,
    /// Whether a call was emitted whole.
    has_ended: bool,
}

impl Calls {
    /// Returns the state for a choice whose calls are written as in `dialect`. Ids that the model does not write begin with
    /// `id_prefix`, or are `id_len` letters and digits.
    pub fn new(
        settings: &Settings,
        dialect: &Dialect,
        id_prefix: &str,
        id_len: Option<u8>,
        form: Form,
    ) -> Result<Calls, Error> {
        let options = settings.writing.clone().id_prefix(copy_text(id_prefix)?);
        let may_stop_holding = options.not_whole == NotWhole::Text && form == Form::Deltas;
        let may_be_told = |tools: &Arc<Tools>| !tools.is_empty() || options.unknown_tool != UnknownTool::Text;
        let may_emit = options.tools.as_ref().is_none_or(may_be_told);
        let max_held = options.max_held;
        let mut writer = CallWriter::new(dialect, options);
        // The text of a call waits here within a limit, so the writer needs no limit.
        writer.hold_without_limit(form != Form::Deltas);
        Ok(Calls {
            writer,
            rehearsal: (settings.may_rehearse && may_emit).then(Rehearsal::default),
            region: Region::default(),
            emitter: Emitter {
                id_prefix: copy_text(id_prefix)?,
                id_len,
                ids: Taken::default(),
                form,
                has_ended: false,
            },
            may_emit,
            max_held,
            form,
            may_stop_holding,
        })
    }

    /// Returns whether a call was emitted and has ended as it should.
    pub fn has_ended(&self) -> bool {
        self.emitter.has_ended
    }

    /// Returns whether a call may still be sent to the client.
    pub fn may_emit(&self) -> bool {
        self.may_emit && !self.writer.dialect().compiled.calls.is_empty()
    }

    /// Returns the dialect in which the calls are written.
    pub fn dialect(&self) -> &Dialect {
        self.writer.dialect()
    }

    /// Returns the number of bytes of the text that wait: here, or in the writer, or in both.
    pub fn waiting(&self) -> usize {
        let rehearsed = self.rehearsal.as_ref().map_or(0, Rehearsal::len);
        rehearsed + self.region.len().max(self.writer.held())
    }

    /// Returns whether the end of the stream would report something.
    pub fn is_inside(&self) -> bool {
        self.region.is_open || self.rehearsal.as_ref().is_some_and(|rehearsal| rehearsal.len() > 0)
    }

    /// Reads the next event of the scanner. At most `room` bytes may wait.
    pub fn take(&mut self, event: &Event<'_>, room: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        let room = self.own_room(room);
        let Some(mut rehearsal) = self.rehearsal.take_if(|rehearsal| !rehearsal.passes(event)) else {
            return self.take_decided(event, room, out);
        };
        let dialect = self.writer.dialect();
        let around = match event.kind {
            Kind::Open { rule, .. } if event.channel == Channel::Tool => {
                let is_span = (rule as usize) < dialect.compiled.spans.len();
                if is_span && call_writer::has_tables(dialect, rule) {
                    AroundCalls::Begin
                } else {
                    AroundCalls::Neither
                }
            }
            Kind::Close(_) if event.channel == Channel::Tool && !event.bytes.is_empty() => {
                // The closer of a message must not count as the closer of a span, so the regions of messages are left out. The
                // first region is the content outside all spans.
                let of_spans = dialect.compiled.calls.iter().take(1 + dialect.compiled.spans.len()).flatten();
                let mut closers = of_spans.flat_map(|tables| &tables.closes);
                match closers.any(|close| is_form_of(close, event.bytes)) {
                    true => AroundCalls::Neither,
                    false => AroundCalls::ThoughtEnds,
                }
            }
            _ => AroundCalls::Neither,
        };
        let mut take = |event: &Event<'_>| self.take_decided(event, room, out);
        let taken = rehearsal.take(event, around, room, &mut take);
        self.rehearsal = Some(rehearsal);
        taken
    }

    /// Returns the number of bytes that may wait here.
    fn own_room(&self, room: usize) -> usize {
        // The waiting text of a body is limited by the length of the body.
        let is_body = matches!(self.form, Form::Whole | Form::Objects { is_body: true });
        if is_body { usize::MAX } else { room.min(self.max_held) }
    }

    /// Ends the text: waiting calls in the thinking are meant, and a call that is not emitted yet will not be.
    pub fn finish(&mut self, room: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        if let Some(mut rehearsal) = self.rehearsal.take() {
            let room = self.own_room(room);
            rehearsal.finish(&mut |event| self.take_decided(event, room, out))?;
            self.rehearsal = Some(rehearsal);
        }
        self.release(out)
    }

    /// Reads the next event that is not part of a rehearsal.
    fn take_decided(&mut self, event: &Event<'_>, room: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        if event.channel != Channel::Tool {
            return Ok(out.take(event)?);
        }
        let region = &mut self.region;
        let opener = mem::take(&mut region.opener);
        match event.kind {
            Kind::Open { rule, .. } => {
                region.close(out)?;
                let dialect = self.writer.dialect();
                let has_tables = call_writer::has_tables(dialect, rule);
                region.is_open = has_tables && self.may_emit;
                region.is_message = has_tables && rule as usize == dialect.compiled.spans.len();
                region.is_of_server = region.is_message && named_by_header(dialect).is_some();
                region.take_marker(event.bytes, room, out)?;
                region.opener = region.text.len();
                Ok(())
            }
            Kind::Close(_) => {
                region.take_marker(event.bytes, room, out)?;
                region.close(out)
            }
            Kind::Attribute(ref field) => {
                let head = named_by_header(self.writer.dialect());
                let names_call = |head: &HeadRule| {
                    let is_name = head.name_from.as_deref().is_some_and(|name| name.as_bytes() == field.name);
                    is_name && head.prefix_len(field.value).is_some()
                };
                region.is_of_server &= !head.is_some_and(names_call);
                Ok(())
            }
            Kind::Text if region.is_of_server && out.inline.is_none() => Ok(out.push_thinking(event.bytes)?),
            // This text belongs to no call.
            Kind::Text => {
                region.release(out)?;
                Ok(out.push_content(event.bytes)?)
            }
            Kind::Call { .. } if region.is_open => {
                // If the opener also begins the call, it belongs to the call.
                let begin = if event.bytes.is_empty() { opener } else { 0 };
                region.call = OpenCall::Waits(region.text.len() - begin);
                self.part(event, room, out)
            }
            _ if region.call == OpenCall::None => region.take(event.bytes, room, out),
            _ => self.part(event, room, out),
        }
    }

    /// Sends all waiting bytes as text, since no call will be emitted.
    pub fn give_up(&mut self, out: &mut Sink<'_>) -> Result<(), Error> {
        if let Some(rehearsal) = &mut self.rehearsal {
            rehearsal.give_up(|text| out.push_content(text))?;
        }
        self.release(out)
    }

    /// Releases the waiting text: a call that is not emitted yet will not be. Calls in the thinking continue to wait.
    pub fn release(&mut self, out: &mut Sink<'_>) -> Result<(), Error> {
        if let OpenCall::Waits(_) = self.region.call {
            self.writer.drop_call();
            self.region.call = OpenCall::Dropped;
        }
        self.region.release(out)
    }

    /// Reads a part of a call. Whether the call is emitted must not depend on how the text was cut: it is dropped if it is still
    /// undecided when the first byte beyond the limit arrives.
    fn part(&mut self, event: &Event<'_>, room: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        self.writer.limit(room);
        if !matches!(self.region.call, OpenCall::Waits(_)) {
            return self.feed(event, room, out);
        }
        let mut event = event.clone();
        while let OpenCall::Waits(start) = self.region.call {
            let left = room.saturating_sub(self.region.len());
            if event.bytes.len() <= left {
                break;
            }
            // Parts of other kinds arrive whole.
            if matches!(event.kind, Kind::CallValue | Kind::Framing) {
                let (first, rest) = event.bytes.split_at(left);
                self.feed(&Event { bytes: first, ..event.clone() }, room, out)?;
                event.bytes = rest;
                if !matches!(self.region.call, OpenCall::Waits(_)) {
                    break;
                }
            }
            if self.may_stop_holding {
                self.write(out, CallWriter::stop_holding)?;
                if self.region.call == OpenCall::Emitted {
                    break;
                }
            }
            self.region.is_full = true;
            match start {
                0 => self.release(out)?,
                // Text before the call is sent first.
                start => self.region.release_to(start, out)?,
            }
        }
        self.feed(&event, room, out)
    }

    /// Runs `write` on the call writer, and sends the deltas that it reports.
    fn write(
        &mut self,
        out: &mut Sink<'_>,
        write: impl FnOnce(&mut CallWriter, &mut call_writer::Sink<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Calls { writer, region, emitter, .. } = self;
        write(writer, &mut |delta| emitter.take(&delta, region, out))
    }

    fn feed(&mut self, event: &Event<'_>, room: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        self.write(out, |writer, sink| writer.take(event, sink))?;
        let Calls { writer, region, .. } = self;
        if region.call == OpenCall::Dropped {
            // The limit left no room even for the first byte of the call.
            writer.drop_call();
        }
        if writer.is_removed() && matches!(region.call, OpenCall::Waits(_)) {
            region.begin_emitting(out)?;
        }
        let is_over = writer.state() == CallState::Idle;
        match region.call {
            OpenCall::Waits(start) if is_over || writer.state() == CallState::Dropped => {
                region.call = OpenCall::Dropped;
                region.note_dropped(start..region.text.len())?;
                region.take_dropped(event.bytes, room, out)?;
            }
            OpenCall::Waits(_) => append(&mut region.text, event.bytes)?,
            OpenCall::Dropped => region.take_dropped(event.bytes, room, out)?,
            OpenCall::Emitted | OpenCall::None => {}
        }
        if is_over {
            region.call = OpenCall::None;
        }
        Ok(())
    }
}

/// Returns whether a marker is this closer, perhaps in another case of its letters, with a suffix, or cut short.
fn is_form_of(closer: &[u8], marker: &[u8]) -> bool {
    let stem = closer.strip_suffix(b">").unwrap_or(closer);
    let len = stem.len().min(marker.len());
    stem[..len].eq_ignore_ascii_case(&marker[..len])
}

/// Returns the dialect's rule for calls that are named in a header.
fn named_by_header(dialect: &Dialect) -> Option<&HeadRule> {
    let compiled = &dialect.compiled;
    compiled.calls(compiled.body(Channel::Tool))?.named_by_header().map(|(_, table)| &table.head)
}

impl Region {
    /// Returns the number of bytes that the waiting text uses.
    fn len(&self) -> usize {
        self.text.len() + size_of::<Span>() * self.dropped.len()
    }

    /// Reads the marker around the region.
    fn take_marker(&mut self, bytes: &[u8], room: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        if self.is_message { Ok(()) } else { self.take(bytes, room, out) }
    }

    /// Reads bytes that are removed if a call of the region is emitted: markers and framing.
    fn take(&mut self, bytes: &[u8], room: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        if self.has_emitted {
            return Ok(());
        }
        self.is_full |= self.len() + bytes.len() > room;
        if self.is_full || !self.is_open {
            self.release(out)?;
            return Ok(out.push_content(bytes)?);
        }
        Ok(append(&mut self.text, bytes)?)
    }

    /// Reads bytes of a call that will not be emitted.
    fn take_dropped(&mut self, bytes: &[u8], room: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        if self.has_emitted {
            self.release(out)?;
            return Ok(out.push_content(bytes)?);
        }
        let start = self.text.len();
        self.take(bytes, room, out)?;
        self.note_dropped(start.min(self.text.len())..self.text.len())
    }

    /// Notes that a stretch of the waiting text belongs to a call that will not be emitted.
    fn note_dropped(&mut self, span: Span) -> Result<(), Error> {
        debug_assert!(span.start <= span.end && span.end <= self.text.len(), "a stretch of another text");
        match self.dropped.last_mut() {
            _ if span.is_empty() => {}
            Some(last) if last.end == span.start => last.end = span.end,
            _ => push(&mut self.dropped, span)?,
        }
        Ok(())
    }

    /// Releases the text that waits before an emitted call: calls that were not emitted are sent as text, and the rest is
    /// removed.
    fn begin_emitting(&mut self, out: &mut Sink<'_>) -> Result<(), Error> {
        self.dropped.iter().try_for_each(|span| out.push_content(&self.text[span.clone()]))?;
        self.clear();
        (self.has_emitted, self.call) = (true, OpenCall::Emitted);
        Ok(())
    }

    /// Sends all waiting bytes as text.
    fn release(&mut self, out: &mut Sink<'_>) -> Result<(), Error> {
        out.push_content(&self.text)?;
        self.clear();
        Ok(())
    }

    /// Releases the text that waits before the open call.
    fn release_to(&mut self, start: usize, out: &mut Sink<'_>) -> Result<(), Error> {
        out.push_content(&self.text[..start])?;
        self.text.drain(..start);
        self.dropped.clear();
        self.call = OpenCall::Waits(0);
        Ok(())
    }

    /// Ends the region.
    fn close(&mut self, out: &mut Sink<'_>) -> Result<(), Error> {
        self.release(out)?;
        *self = Region { text: mem::take(&mut self.text), ..Region::default() };
        Ok(())
    }

    fn clear(&mut self) {
        self.text.clear();
        self.dropped.clear();
        if self.text.capacity() > KEPT {
            (self.text, self.dropped) = (Vec::new(), Vec::new());
        }
    }
}

impl Emitter {
    /// Sends a delta of a call.
    fn take(&mut self, delta: &CallDelta<'_>, region: &mut Region, out: &mut Sink<'_>) -> Result<(), Error> {
        self.has_ended |= delta.end.is_some_and(|end| end.is_whole);
        if let (Some(id), Some(name)) = (delta.id, delta.name) {
            region.begin_emitting(out)?;
            let (id, is_made) = self.id(id, delta.index)?;
            if let Form::Objects { .. } = self.form {
                // This form has one delta, with the whole call.
                return Ok(out.push_object(delta.index, &id, name, delta.arguments)?);
            }
            out.push_call(delta.index, &id, is_made, name)?;
        }
        out.push_arguments(delta.index, delta.arguments)?;
        let Some(mut end) = delta.end else { return Ok(()) };
        end.late_id = end.late_id.filter(|id| !self.is_taken(id));
        if let Some(id) = end.late_id {
            self.ids.add(id.as_bytes())?;
        }
        Ok(out.parts.push_end(delta.index, &end)?)
    }

    /// Returns whether an id of the model belongs to another call, or begins like the ids made here, so that a later call could
    /// get the same id.
    fn is_taken(&self, id: &str) -> bool {
        id.starts_with(&self.id_prefix) || self.ids.has(id.as_bytes())
    }

    /// Returns a unique id for a call of the answer, and whether it was made here.
    fn id(&mut self, id: &str, number: u64) -> Result<(String, bool), Error> {
        if !self.is_taken(id) {
            self.ids.add(id.as_bytes())?;
            return Ok((copy_text(id)?, false));
        }
        let mut made = copy_text(&self.id_prefix)?;
        append_text(&mut made, decimal(number, &mut [0; 20]))?;
        let Some(len) = self.id_len else { return Ok((made, true)) };
        loop {
            let short = copy_text(ids::short(&made, usize::from(len), &mut [0; 11]))?;
            if !self.ids.has(short.as_bytes()) {
                self.ids.add(short.as_bytes())?;
                return Ok((short, true));
            }
            append_text(&mut made, "_")?;
        }
    }
}
