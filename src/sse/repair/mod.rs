//! Mends events that make clients fail, before they are rewritten: data that is empty or not JSON, chunks without choices or
//! with another id, carriage returns, data after `[DONE]`. `chunk` mends the members of a chunk, `members` puts thinking that a
//! server splits into one shape, and `blocks` mends the blocks of a message. `shape` is for hosts that want the shape but no repair.
//!
//! Laws: an event without faults stays unchanged, except for line ends, which become `\n`. Mending or shaping twice changes
//! no more than doing it once. Only blank blocks, text that is there twice, and data after `[DONE]` are left out.

mod blocks;
mod calls;
mod chunk;
mod items;
mod members;
mod object;
mod shape;

use std::mem;

use memchr::{memchr, memchr2};

use self::blocks::{Before, Blocks};
use self::chunk::{Chunk, DELTA};
use self::members::Wanted;
use self::object::Object;
use super::event::split_mark;
use super::format::{self, Format};
use super::known::KnownEvent;
use super::options::{Formats, Options};
use super::responses;
use crate::Error;
use crate::json::{Edits, Span, Value, escape, is_object};
use crate::memory::{self, append, append_all, push};
pub use shape::Shaper;

/// The longest id that is kept. Ids of real servers have less than 100 bytes.
const LONGEST_ID: usize = 4096;

/// The fields of an event.
const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

/// The members of events of Responses that differ from event to event, and need no repair.
const VARYING: [&[u8]; 2] = [b"sequence_number", b"obfuscation"];

/// Mends the events of a stream.
pub struct Repairer {
    /// Whether no byte has arrived yet.
    fresh: bool,
    /// Whether the last byte was a `\r`, after which a `\n` does not end another line.
    cr: bool,
    /// Whether comments of an event have been sent, but not the blank line that ends them.
    comments: bool,
    /// Whether `[DONE]` has arrived.
    over: bool,
    /// Whether the current bytes belong to an event that is left out.
    drops: bool,
    /// The id of the first chunk, as JSON.
    id: Vec<u8>,
    chunk: Chunk,
    blocks: Blocks,
    /// The last event, if it needed no repair, and events that differ from it only in the text can need a repair only in that text.
    clean: KnownEvent,
    /// The positions of the data and the text in the current event, if only the text can need a repair.
    place: Option<(Span, Span)>,
    /// The lines of the current event that have its name, and the values of its lines of data.
    names: Vec<Span>,
    data: Vec<Span>,
    /// The values of the lines of the current event that have an error; only some servers write such lines.
    errors: Vec<Span>,
    joined: Vec<u8>,
    /// The changes of the current event's data.
    edits: Edits,
    value: Vec<u8>,
    event: Vec<u8>,
}

impl Repairer {
    pub fn new(options: &Options) -> Repairer {
        Repairer::of(Wanted::new(options))
    }

    fn of(wanted: Wanted) -> Repairer {
        Repairer {
            fresh: true,
            cr: false,
            comments: false,
            over: false,
            drops: false,
            id: Vec::new(),
            chunk: Chunk::new(wanted),
            blocks: Blocks::default(),
            clean: KnownEvent::default(),
            place: None,
            edits: Edits::default(),
            value: Vec::new(),
            names: Vec::new(),
            data: Vec::new(),
            errors: Vec::new(),
            joined: Vec::new(),
            event: Vec::new(),
        }
    }

    pub fn begin_stream(&mut self) {
        // Buffers that a large event has made large must not stay so in later streams.
        *self = Repairer::of(self.chunk.wanted());
    }

    /// Calls `pass` with the mended form of a comment, a blank line or a whole event. Returns whether it differs from `raw`.
    pub fn event(&mut self, raw: &[u8], mut pass: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<bool, Error> {
        if !self.over && !self.comments && self.clean.fits(raw, |_, _| Ok(()))? {
            self.cr = false;
            pass(raw)?;
            return Ok(false);
        }
        self.mend(raw, false, pass)
    }

    /// Ends the stream. `raw` is the rest of its bytes, which are not a whole event.
    pub fn finish(&mut self, raw: &[u8], mut pass: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<bool, Error> {
        let mended = self.mend(raw, true, &mut pass)?;
        Ok(self.release(pass)? || mended)
    }

    /// Calls `pass` with the events that wait, because no event can precede them any more. Returns whether there were any.
    pub fn release(&mut self, mut pass: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<bool, Error> {
        let mut blocks = mem::take(&mut self.blocks);
        let waits = blocks.waits();
        let done = blocks.release(&mut |before, value: &[u8]| self.pass_value(b"", &[], before, value, &mut pass));
        self.blocks = blocks;
        done.map(|()| waits)
    }

    fn mend(
        &mut self,
        raw: &[u8],
        last: bool,
        mut pass: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let (mut same, mut has_lines, mut written, mut is_last) = (true, false, 0, false);
        let held = self.blocks.blanks();
        let mut pass = |event: &[u8]| {
            same &= raw.get(written..).is_some_and(|rest| rest.starts_with(event));
            written += event.len();
            is_last = event == raw;
            pass(event)
        };
        self.place = None;
        let mut at = self.begin(raw);
        // This is a body, or an object over several lines.
        let text = raw[at..].trim_ascii_end();
        let is_object = text.starts_with(b"{") && is_object(text);
        let is_body = is_object && !format::is_event(text);
        while at < raw.len() {
            let end = memchr2(b'\r', b'\n', &raw[at..]).map_or(raw.len(), |len| at + len);
            let line = at..end;
            at = match raw[end..] {
                [b'\r', b'\n', ..] => end + 2,
                _ => end + 1,
            };
            has_lines |= !line.is_empty();
            match &raw[line.clone()] {
                [] => self.end(raw, true, &mut pass)?,
                bytes if bytes[0] == b':' || !self.over && (is_body || is_text(bytes, end < raw.len())) => {
                    self.comments = true;
                    self.release_blank(&mut pass)?;
                    self.write(&[&raw[line], b"\n"], &mut pass)?;
                }
                bytes if bytes.starts_with(b"error:") => {
                    push(&mut self.errors, line.start + b"error:".len()..line.end)?
                }
                bytes if is_bare(bytes) => push(&mut self.data, line)?,
                bytes if is_field(bytes, b"event") => push(&mut self.names, line)?,
                bytes if is_field(bytes, b"data") => {
                    let blank = bytes.get(b"data:".len()) == Some(&b' ');
                    let start = line.start + b"data:".len() + usize::from(blank);
                    push(&mut self.data, inner_data(raw, start.min(line.end)..line.end))?;
                }
                _ => {
                    let data = inner_data(raw, line.clone());
                    if data.start > line.start {
                        push(&mut self.data, data)?;
                    }
                }
            }
        }
        if last {
            self.end(raw, false, &mut pass)?;
        }
        let is_same = match self.blocks.blanks() {
            _ if self.blocks.has_left_out() => false,
            // This event waits. It counts as changed if events that the repair has added were sent.
            now if now > held => written == 0,
            _ if held > 0 => is_last,
            _ => same && written == raw.len(),
        };
        let place = self.place.take().filter(|_| is_same && raw.ends_with(b"\n"));
        self.clean.keep(raw, place, |name| !VARYING.contains(&name))?;
        // A blank line alone may be the second half of a line end, or the end of an event that had to wait for it.
        Ok(has_lines && !is_same)
    }

    /// Begins an event, or a comment, that is too long to be read.
    pub fn begin_long(&mut self, first: Option<&u8>, out: &mut Vec<u8>) -> memory::Result<()> {
        let is_comment = first == Some(&b':');
        self.drops = self.over && !is_comment;
        if self.comments && !is_comment {
            append(out, b"\n")?;
        }
        self.comments = is_comment;
        Ok(())
    }

    /// Sends bytes of an event that is too long to be read. Only line ends change.
    pub fn pass_long(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
        let mut at = self.begin(bytes);
        while at < bytes.len() && !self.drops {
            let end = memchr2(b'\r', b'\n', &bytes[at..]).map_or(bytes.len(), |len| at + len);
            append(out, &bytes[at..end])?;
            if end < bytes.len() {
                append(out, b"\n")?;
            }
            at = match bytes[end..] {
                [b'\r', b'\n', ..] => end + 2,
                _ => end + 1,
            };
        }
        Ok(())
    }

    /// Returns the number of the stream's next bytes that are not part of its lines.
    fn begin(&mut self, raw: &[u8]) -> usize {
        let Some(&last) = raw.last() else { return 0 };
        let (mark, _) = split_mark(raw, mem::take(&mut self.fresh));
        if !mark.is_empty() {
            self.cr = last == b'\r';
            return mark.len();
        }
        let second = self.cr && raw[0] == b'\n';
        self.cr = last == b'\r';
        usize::from(second)
    }

    /// Ends an event: at its blank line, or, if it is not `whole`, at the end of the stream.
    fn end(&mut self, raw: &[u8], whole: bool, mut pass: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        if mem::take(&mut self.comments) {
            pass(b"\n")?;
        }
        let (names, data, errors) =
            (mem::take(&mut self.names), mem::take(&mut self.data), mem::take(&mut self.errors));
        let mut joined = mem::take(&mut self.joined);
        let values = || data.iter().map(|data| &raw[data.clone()]);
        match &data[..] {
            [] => {}
            _ if self.over => {}
            [data] => {
                let value = &raw[data.clone()];
                self.value(raw, &names, value, whole, &mut pass)?;
                if value.starts_with(b"{") {
                    let text = self.text(value).map(|text| data.start + text.start..data.start + text.end);
                    self.place = text.map(|text| (data.clone(), text));
                }
            }
            _ => {
                for (number, value) in values().enumerate() {
                    append_all(&mut joined, &[if number > 0 { b" " } else { b"" }, value])?;
                }
                let is_event = |value: &&[u8]| trim(value, b" \t") == b"[DONE]" || is_object(value);
                let mut not_blank = values().filter(|value| !trim(value, b" \t").is_empty());
                if trim(&joined, b" \t").is_empty() || is_event(&&joined[..]) {
                    self.value(raw, &names, &joined, whole, &mut pass)?;
                } else if !whole || not_blank.all(|value| is_event(&value)) {
                    values().filter(is_event).try_for_each(|value| self.value(raw, &names, value, whole, &mut pass))?;
                } else {
                    self.release_blank(&mut pass)?;
                    self.begin_event(raw, &names)?;
                    values().try_for_each(|value| append_all(&mut self.event, &[b"data: ", value, b"\n"]))?;
                    self.end_event(&mut pass)?;
                }
            }
        }
        if !self.over {
            errors.iter().try_for_each(|error| self.error(raw[error.clone()].trim_ascii(), &mut pass))?;
        }
        (self.names, self.data, self.errors, self.joined) = (names, data, errors, joined);
        memory::clear(&mut self.errors);
        memory::clear(&mut self.names);
        memory::clear(&mut self.data);
        memory::clear(&mut self.joined);
        Ok(())
    }

    /// Returns the position of the text of an object, if no other part of an event of this form can ever need a change.
    fn text(&self, value: &[u8]) -> Option<Span> {
        match Format::of(value, Formats::ALL)? {
            Format::Messages => self.blocks.text(value),
            Format::Responses => responses::Fields::read(value).added(),
            _ => self.chunk.content(value),
        }
    }

    /// Sends an event with one line of data, or a comment in place of the event.
    fn value(
        &mut self,
        raw: &[u8],
        names: &[Span],
        value: &[u8],
        whole: bool,
        pass: &mut impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let value = trim(value, b" \t");
        match value {
            _ if self.over => return Ok(()),
            b"" => return self.comment(&[b":\n"], pass),
            [b':', ..] => return self.comment(&[b": ", trim_start(value, b": "), b"\n"], pass),
            b"[DONE]" => {
                self.release(&mut *pass)?;
                self.over = true;
                return self.write(&[b"data: [DONE]\n\n"], pass);
            }
            _ => {}
        }
        let Some(object) = Object::read(value, DELTA, &mut self.chunk)? else {
            if !whole {
                return Ok(());
            }
            self.release_blank(pass)?;
            self.begin_event(raw, names)?;
            append_all(&mut self.event, &[b"data: ", value, b"\n"])?;
            return self.end_event(pass);
        };
        if object.is_empty {
            let name = names.first().map_or(&b""[..], |line| raw[line.clone()].get(b"event:".len()..).unwrap_or(b""));
            return self.comment(&[b": ", name.trim_ascii(), b"\n"], pass);
        }
        if !object.is_chunk && !object.has_choices {
            if !object.is_of_message {
                if self.blocks.waits() && Format::of(value, Formats::ALL) == Some(Format::Error) {
                    self.release(&mut *pass)?;
                }
                self.release_blank(pass)?;
            }
            if !object.is_of_message && !object.is_of_responses {
                return self.pass_value(raw, names, Before::Own, value, pass);
            }
            let (mut edits, mut mended) = (mem::take(&mut self.edits), mem::take(&mut self.value));
            edits.clear();
            memory::clear(&mut mended);
            items::mend(value, &mut edits)?;
            edits.apply(value, 0..value.len(), Span::clone, &mut mended)?;
            if object.is_of_message {
                let mut blocks = mem::take(&mut self.blocks);
                let own = (raw, names);
                blocks.mend(own, &mended, |before, value| self.pass_value(raw, names, before, value, pass))?;
                self.blocks = blocks;
            } else {
                self.pass_value(raw, names, Before::Own, &mended, pass)?;
            }
            (self.edits, self.value) = (edits, mended);
            return Ok(());
        }
        if let Some(id) = &object.id
            && self.id.is_empty()
            && id.len() <= LONGEST_ID
        {
            append(&mut self.id, &value[id.clone()])?;
        }
        self.release_blank(pass)?;
        self.chunk.note_calls(value)?;
        let (mut edits, mut mended) = (mem::take(&mut self.edits), mem::take(&mut self.value));
        for &portion in self.chunk.portions(value) {
            edits.clear();
            memory::clear(&mut mended);
            if let Some(id) = object.id.as_ref().filter(|_| !self.id.is_empty()) {
                edits.put(id.clone(), &[&self.id])?;
            }
            if !object.has_choices {
                let end = value.len() - 1;
                edits.put(end..end, &[b",\"choices\":[]"])?;
            }
            if let Some(choices) = &object.null_choices {
                edits.put(choices.clone(), &[b"[]"])?;
            }
            self.chunk.mend(value, portion, &mut edits)?;
            edits.apply(value, 0..value.len(), Span::clone, &mut mended)?;
            self.pass_value(raw, names, Before::Own, &mended, pass)?;
        }
        (self.edits, self.value) = (edits, mended);
        Ok(())
    }

    /// Sends the blank block that waits, because the next event is not about a block.
    fn release_blank(&mut self, pass: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        if self.blocks.blanks() == 0 {
            return Ok(());
        }
        let mut blocks = mem::take(&mut self.blocks);
        let done = blocks.release_blank(&mut |before, value: &[u8]| self.pass_value(b"", &[], before, value, pass));
        self.blocks = blocks;
        done
    }

    /// Sends an event in place of a line with an error.
    fn error(&mut self, error: &[u8], pass: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.release(&mut *pass)?;
        let mut message = Vec::new();
        escape(error, &mut message)?;
        let parts: [&[u8]; 3] = match Value::read(error) {
            Ok(object) if object.at(&[b"error"]).is_some() => [b"", error, b""],
            Ok(_) => [b"{\"error\":", error, b"}"],
            Err(_) => [b"{\"error\":{\"message\":\"", &message, b"\"}}"],
        };
        let [begin, error, end] = parts;
        self.write(&[b"event: error\ndata: ", begin, error, end, b"\n\n"], pass)
    }

    /// Sends an event with this data.
    fn pass_value(
        &mut self,
        raw: &[u8],
        names: &[Span],
        before: Before<'_>,
        value: &[u8],
        pass: &mut impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        memory::clear(&mut self.event);
        match before {
            Before::Own => self.begin_event(raw, names)?,
            Before::Lines(lines) => append(&mut self.event, lines)?,
            Before::Name(Some(name)) => append_all(&mut self.event, &[b"event: ", name.as_bytes(), b"\n"])?,
            Before::Name(None) => {}
        }
        append_all(&mut self.event, &[b"data: ", value, b"\n"])?;
        self.end_event(pass)
    }

    /// Sends a comment in place of an event.
    fn comment(&mut self, line: &[&[u8]], pass: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.release_blank(pass)?;
        self.write(line, pass)?;
        pass(b"\n")
    }

    fn begin_event(&mut self, raw: &[u8], names: &[Span]) -> memory::Result<()> {
        memory::clear(&mut self.event);
        names.iter().try_for_each(|name| append_all(&mut self.event, &[&raw[name.clone()], b"\n"]))
    }

    fn end_event(&mut self, pass: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        append(&mut self.event, b"\n")?;
        pass(&self.event)
    }

    fn write(&mut self, parts: &[&[u8]], pass: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        memory::clear(&mut self.event);
        append_all(&mut self.event, parts)?;
        pass(&self.event)
    }
}

/// Returns whether a line has the field of this name.
fn is_field(line: &[u8], name: &[u8]) -> bool {
    line.strip_prefix(name).is_some_and(|rest| matches!(rest, [] | [b':', ..]))
}

/// Returns the data of a line whose field name was written twice, or with capital letters, blanks or no colon.
fn inner_data(raw: &[u8], data: Span) -> Span {
    let mut start = data.start;
    while let Some((name, rest)) = raw[start..data.end].trim_ascii_start().split_at_checked(b"data".len())
        && name.eq_ignore_ascii_case(b"data")
    {
        let rest = rest.trim_ascii_start();
        start = data.end - rest.strip_prefix(b":").unwrap_or(rest).len();
    }
    let text = raw[start..data.end].trim_ascii();
    if start > data.start && (text == b"[DONE]" || is_object(text)) { start..data.end } else { data }
}

/// Returns whether a line is data without the field name.
fn is_bare(line: &[u8]) -> bool {
    line.trim_ascii_end() == b"[DONE]" || line.starts_with(b"[ERROR]") || format::is_event(line)
}

/// Returns whether a line is text outside any event, such as a proxy's error. `has_end` means that the line is whole.
fn is_text(line: &[u8], has_end: bool) -> bool {
    let is_cut = !has_end && (line[0] == b'{' || FIELDS.iter().any(|name| name.starts_with(line)));
    let is_object = line[0] == b'{' && is_object(line);
    let is_plain = memchr(b':', line).is_none() && !FIELDS.contains(&line);
    !is_cut && (is_plain || is_object) && !line.trim_ascii().is_empty() && !is_bare(line)
}

fn trim_start<'a>(mut text: &'a [u8], bytes: &[u8]) -> &'a [u8] {
    while let [first, rest @ ..] = text
        && bytes.contains(first)
    {
        text = rest;
    }
    text
}

fn trim<'a>(text: &'a [u8], bytes: &[u8]) -> &'a [u8] {
    let mut text = trim_start(text, bytes);
    while let [rest @ .., last] = text
        && bytes.contains(last)
    {
        text = rest;
    }
    text
}
