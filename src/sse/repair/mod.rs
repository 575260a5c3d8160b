//! Mends events that make clients fail, before they are rewritten: data that is empty or not JSON, chunks without choices or with
//! another id, carriage returns, data after `[DONE]`. `chunk` mends the members of a chunk, `members` puts thinking that a server
//! splits into one shape, and `blocks` mends the blocks of a message. Everything else must stay unchanged, and mending twice must
//! change nothing more. If only the shape is wanted, `shape` leaves everything else in the events unchanged.

mod blocks;
mod chunk;
mod clean;
mod members;
mod object;
mod shape;

use std::mem;

use memchr::memchr2;

use self::blocks::Blocks;
use self::chunk::{Chunk, DELTA};
use self::clean::Clean;
use self::members::Wanted;
use self::object::Object;
use super::event::split_mark;
use super::options::Options;
use crate::Error;
use crate::json::{Edits, Span, is_object};
use crate::memory::{self, append, append_all, push};
pub use shape::Shaper;

/// The longest id that is kept. Real ones have less than 100 bytes.
const LONGEST_ID: usize = 4096;

/// Mends the events of a stream.
pub struct Repairer {
    /// Whether no byte has arrived yet.
    fresh: bool,
    /// Whether the last byte was a `\r`, after which a `\n` does not end another line.
    cr: bool,
    /// Comments of an event have been sent, and the blank line that ends them has not.
    comments: bool,
    /// Whether `[DONE]` has arrived.
    over: bool,
    /// Whether the current bytes belong to an event that is left out.
    drops: bool,
    /// The first id of a chunk, as it was written.
    id: Vec<u8>,
    chunk: Chunk,
    blocks: Blocks,
    clean: Clean,
    /// The position of the content in the current event, if nothing else in the event may need a repair.
    content: Option<Span>,
    /// The lines of the current event that have its name, and the values of those that have its data.
    names: Vec<Span>,
    data: Vec<Span>,
    joined: Vec<u8>,
    /// The changes of the current event's data, and the data with them.
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
            clean: Clean::default(),
            content: None,
            edits: Edits::default(),
            value: Vec::new(),
            names: Vec::new(),
            data: Vec::new(),
            joined: Vec::new(),
            event: Vec::new(),
        }
    }

    pub fn begin_stream(&mut self) {
        // One large event must not cost memory in every stream after it.
        *self = Repairer::of(self.chunk.wanted());
    }

    /// Passes on the mended form of bytes that the framer has cut off: a comment, a blank line or a whole event. Returns
    /// whether that differs from them.
    pub fn event(&mut self, raw: &[u8], mut pass: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<bool, Error> {
        if !self.over && !self.comments && self.clean.fits(raw) {
            self.cr = false;
            pass(raw)?;
            return Ok(false);
        }
        self.mend(raw, false, pass)
    }

    /// Ends the stream. `raw` are its last bytes, which are not a whole event.
    pub fn finish(&mut self, raw: &[u8], pass: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<bool, Error> {
        self.mend(raw, true, pass)
    }

    fn mend(
        &mut self,
        raw: &[u8],
        last: bool,
        mut pass: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let (mut same, mut has_lines, mut written) = (true, false, 0);
        let mut pass = |event: &[u8]| {
            same &= raw.get(written..).is_some_and(|rest| rest.starts_with(event));
            written += event.len();
            pass(event)
        };
        self.content = None;
        let mut at = self.begin(raw);
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
                [b':', ..] => {
                    self.comments = true;
                    self.write(&[&raw[line], b"\n"], &mut pass)?;
                }
                bytes if is_field(bytes, b"event") => push(&mut self.names, line)?,
                bytes if is_field(bytes, b"data") => {
                    let blank = bytes.get(b"data:".len()) == Some(&b' ');
                    let start = line.start + b"data:".len() + usize::from(blank);
                    push(&mut self.data, start.min(line.end)..line.end)?;
                }
                _ => {}
            }
        }
        if last {
            self.end(raw, false, &mut pass)?;
        }
        let is_same = same && written == raw.len();
        let content = self.content.take().filter(|_| is_same && raw.ends_with(b"\n"));
        self.clean.note(raw, content)?;
        // A blank line may be the second half of a line end, or end an event that had to wait for it.
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

    /// Passes bytes of such an event unread. Only line ends change.
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

    /// Ends an event at its blank line, or (it is not `whole` then) at the end of the stream.
    fn end(&mut self, raw: &[u8], whole: bool, mut pass: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        if mem::take(&mut self.comments) {
            pass(b"\n")?;
        }
        let (names, data) = (mem::take(&mut self.names), mem::take(&mut self.data));
        let mut joined = mem::take(&mut self.joined);
        let values = || data.iter().map(|data| &raw[data.clone()]);
        match &data[..] {
            [] => {}
            _ if self.over => {}
            [data] => {
                let value = &raw[data.clone()];
                self.value(raw, &names, value, whole, &mut pass)?;
                if value.starts_with(b"{") {
                    let content = self.chunk.content(value);
                    self.content = content.map(|content| data.start + content.start..data.start + content.end);
                }
            }
            _ => {
                for (number, value) in values().enumerate() {
                    append_all(&mut joined, &[if number > 0 { b" " } else { b"" }, value])?;
                }
                if values().all(is_object) {
                    values().try_for_each(|value| self.value(raw, &names, value, whole, &mut pass))?;
                } else if is_object(&joined) {
                    self.value(raw, &names, &joined, whole, &mut pass)?;
                } else if whole {
                    self.begin_event(raw, &names)?;
                    values().try_for_each(|value| append_all(&mut self.event, &[b"data: ", value, b"\n"]))?;
                    self.end_event(&mut pass)?;
                }
            }
        }
        (self.names, self.data, self.joined) = (names, data, joined);
        memory::clear(&mut self.names);
        memory::clear(&mut self.data);
        memory::clear(&mut self.joined);
        Ok(())
    }

    /// Passes on an event with data of one line, or the comment that it becomes.
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
            b"" => return self.comment(&[b":\n"], pass),
            [b':', ..] => return self.comment(&[b": ", trim_start(value, b": "), b"\n"], pass),
            b"[DONE]" => {
                self.over = true;
                return self.write(&[b"data: [DONE]\n\n"], pass);
            }
            _ => {}
        }
        let Some(object) = Object::read(value, DELTA, &mut self.chunk)? else {
            if !whole {
                return Ok(());
            }
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
                return self.pass_value(raw, names, None, value, pass);
            }
            let mut blocks = mem::take(&mut self.blocks);
            let done = blocks.mend(value, |kind, value| self.pass_value(raw, names, kind, value, pass));
            self.blocks = blocks;
            return done;
        }
        if let Some(id) = &object.id
            && self.id.is_empty()
            && id.len() <= LONGEST_ID
        {
            append(&mut self.id, &value[id.clone()])?;
        }
        self.chunk.note_calls()?;
        let (mut edits, mut mended) = (mem::take(&mut self.edits), mem::take(&mut self.value));
        for &portion in self.chunk.portions() {
            edits.clear();
            memory::clear(&mut mended);
            if let Some(id) = object.id.as_ref().filter(|_| !self.id.is_empty()) {
                edits.put(id.clone(), &[&self.id])?;
            }
            if !object.has_choices {
                let end = value.len() - 1;
                edits.put(end..end, &[b",\"choices\":[]"])?;
            }
            self.chunk.mend(value, portion, &mut edits)?;
            edits.apply(value, 0..value.len(), Span::clone, &mut mended)?;
            self.pass_value(raw, names, None, &mended, pass)?;
        }
        (self.edits, self.value) = (edits, mended);
        Ok(())
    }

    /// Passes on an event with this data. With `kind`, it is one that the server has left out, of this type.
    fn pass_value(
        &mut self,
        raw: &[u8],
        names: &[Span],
        kind: Option<&str>,
        value: &[u8],
        pass: &mut impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match kind.filter(|_| !names.is_empty()) {
            Some(kind) => {
                memory::clear(&mut self.event);
                append_all(&mut self.event, &[b"event: ", kind.as_bytes(), b"\n"])?;
            }
            None if kind.is_some() => memory::clear(&mut self.event),
            None => self.begin_event(raw, names)?,
        }
        append_all(&mut self.event, &[b"data: ", value, b"\n"])?;
        self.end_event(pass)
    }

    /// Passes on a comment in the place of an event.
    fn comment(&mut self, line: &[&[u8]], pass: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
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
