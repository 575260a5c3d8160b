//! Finds the ends of a stream's events, and the contents of their lines. The caller keeps the bytes, since most of them are
//! sent unchanged.
//!
//! Laws: the ends do not depend on the cuts of the stream. An event without edits is written byte for byte.

use std::mem;
use std::ops::Range;

use memchr::{memchr, memchr2};

use crate::Error;
use crate::json::{self, Edits};
use crate::memory::{self, append, append_all, push};

/// The line end where none was read yet.
pub const LINE_END: &[u8] = b"\n";

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the byte order mark at the beginning of these bytes, or nothing, and the bytes after it. `is_first` means that the
/// bytes begin a stream.
pub fn split_mark(raw: &[u8], is_first: bool) -> (&[u8], &[u8]) {
    raw.split_at(if is_first && raw.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 })
}

/// Cuts a stream into events, each with the blank line that ends it. A comment before an event's first line becomes a separate piece,
/// so that it is sent at once. If the `\r` of a line end ended the event, its `\n` becomes a separate piece too.
pub struct EventFramer {
    /// Whether the current line has no byte yet.
    blank: bool,
    /// Whether the current line is the event's first line and is a comment.
    comment: bool,
    first: bool,
    /// Whether the last byte was the `\r` that ended the previous line of this event.
    cr: bool,
}

impl EventFramer {
    pub const START: EventFramer = EventFramer { blank: true, comment: false, first: true, cr: false };

    /// Returns the number of the stream's next bytes that belong to the event, or `None` if it continues after them.
    pub fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut from = 0;
        while let Some(len) = memchr2(b'\r', b'\n', &bytes[from..]) {
            let at = from + len;
            let second = len == 0 && self.cr && bytes[at] == b'\n';
            self.begin_line(&bytes[from..at]);
            from = at + 1;
            if second {
                self.cr = false;
                continue;
            }
            if self.blank || self.comment {
                *self = EventFramer::START;
                return Some(from);
            }
            *self = EventFramer { first: false, cr: bytes[at] == b'\r', ..EventFramer::START };
        }
        self.begin_line(&bytes[from..]);
        None
    }

    fn begin_line(&mut self, bytes: &[u8]) {
        if let Some(&byte) = bytes.first() {
            self.comment |= self.blank && self.first && byte == b':';
            self.blank = false;
            self.cr = false;
        }
    }
}

/// The fields of an event. One value is used for many events, so that its memory is reused.
pub struct Event {
    /// The value of `event:`.
    pub name: Range<usize>,
    /// The line end of the event's first line, or of the last event if this one has no whole line. Comments and lone blank
    /// lines do not count, because their `\r\n` may be cut in two.
    pub line_end: &'static [u8],
    /// For each line of `data:`, the position of its value in the data and in the event.
    lines: Vec<(usize, usize)>,
    /// The data, if it has more than one line.
    joined: Vec<u8>,
    /// The data, if it has one line.
    single: Range<usize>,
}

impl Default for Event {
    fn default() -> Event {
        Event { name: 0..0, line_end: LINE_END, lines: Vec::new(), joined: Vec::new(), single: 0..0 }
    }
}

impl Event {
    /// Forgets the event, except its line end.
    pub fn clear(&mut self) {
        (self.name, self.single) = (0..0, 0..0);
        memory::clear(&mut self.lines);
        memory::clear(&mut self.joined);
    }

    pub fn read(&mut self, raw: &[u8]) -> Result<(), Error> {
        self.clear();
        let mut at = 0;
        while at < raw.len() {
            let end = memchr2(b'\r', b'\n', &raw[at..]).map_or(raw.len(), |len| at + len);
            let line_end: &[u8] = match raw[end..] {
                [b'\r', b'\n', ..] => b"\r\n",
                [b'\r', ..] => b"\r",
                [b'\n', ..] => b"\n",
                _ => b"",
            };
            if at == 0 && !line_end.is_empty() && !matches!(raw[0], b'\r' | b'\n' | b':') {
                self.line_end = line_end;
            }
            self.read_line(raw, at..end)?;
            at = end + line_end.len().max(1);
        }
        Ok(())
    }

    /// Reads a line that consists only of data and its line end. The event must be empty.
    pub fn read_data(&mut self, raw: &[u8]) -> Result<(), Error> {
        let data = raw.strip_suffix(b"\n").unwrap_or(raw);
        if data.len() < raw.len() {
            self.line_end = if data.ends_with(b"\r") { b"\r\n" } else { b"\n" };
        }
        push(&mut self.lines, (0, 0))?;
        self.single = 0..data.strip_suffix(b"\r").unwrap_or(data).len();
        Ok(())
    }

    fn read_line(&mut self, raw: &[u8], line: Range<usize>) -> Result<(), Error> {
        let colon = memchr(b':', &raw[line.clone()]).map_or(line.end, |len| line.start + len);
        let mut value = (colon + 1).min(line.end)..line.end;
        if raw[value.clone()].first() == Some(&b' ') {
            value.start += 1;
        }
        match &raw[line.start..colon] {
            b"event" => self.name = value,
            b"data" => {
                match self.lines.len() {
                    0 => self.single = value.clone(),
                    1 => append(&mut self.joined, &raw[self.single.clone()])?,
                    _ => {}
                }
                if !self.lines.is_empty() {
                    append(&mut self.joined, b"\n")?;
                }
                push(&mut self.lines, (self.joined.len(), value.start))?;
                if self.lines.len() > 1 {
                    append(&mut self.joined, &raw[value])?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads an event whose name, only line of data and line end are known. The event must be empty.
    pub fn set(&mut self, name: Range<usize>, data: Range<usize>, line_end: &'static [u8]) -> memory::Result<()> {
        push(&mut self.lines, (0, data.start))?;
        (self.name, self.single, self.line_end) = (name, data, line_end);
        Ok(())
    }

    /// Returns the range of the data, if it has one line.
    pub fn single(&self) -> Option<Range<usize>> {
        (self.lines.len() == 1).then(|| self.single.clone())
    }

    /// Returns, for each `data:` of an event with several, the beginning of its line and the range of its value. Blank values
    /// are left out.
    pub fn values(&self, raw: &[u8]) -> Result<Vec<(usize, Range<usize>)>, Error> {
        let mut values = Vec::new();
        for (number, &(at, start)) in self.lines.iter().enumerate() {
            let next = self.lines.get(number + 1).map_or(self.joined.len(), |&(next, _)| next - 1);
            let value = start..start + (next - at);
            if !raw[value.clone()].trim_ascii().is_empty() {
                let name = if raw[..start].ends_with(b":") { "data:" } else { "data: " };
                push(&mut values, (start - name.len(), value))?;
            }
        }
        Ok(values)
    }

    /// Makes the value of one line the whole data.
    pub fn select(&mut self, value: Range<usize>) {
        self.lines.clear();
        self.lines.push((0, value.start));
        self.single = value;
    }

    /// Returns the values of `data:`, joined by line feeds.
    pub fn data<'a>(&'a self, raw: &'a [u8]) -> &'a [u8] {
        if self.lines.len() > 1 { &self.joined } else { &raw[self.single.clone()] }
    }

    /// Returns the range in the event of a stretch of the data. The stretch must not be empty or end with a line end.
    pub fn place(&self, span: &Range<usize>) -> Range<usize> {
        if let [(start, raw)] = self.lines[..] {
            return span.start - start + raw..span.end - start + raw;
        }
        let place = |at: usize| {
            let line = self.lines.partition_point(|&(start, _)| start <= at) - 1;
            let (start, raw) = self.lines[line];
            raw + (at - start)
        };
        place(span.start)..place(span.end - 1) + 1
    }
}

/// The `\n` that arrives separately after an event that was left out and ended with `\r`. The `\n` is left out too.
#[derive(Clone, Copy, Default)]
pub struct OwedLineFeed(bool);

impl OwedLineFeed {
    /// Notes that an event with the bytes `raw` is left out.
    pub fn leave_out(&mut self, raw: &[u8]) {
        self.0 = raw.ends_with(b"\r");
    }

    /// Returns whether `raw` is the expected `\n`. Afterwards, no `\n` is expected.
    pub fn is(&mut self, raw: &[u8]) -> bool {
        mem::take(&mut self.0) && raw == b"\n"
    }
}

/// An event, or one line of data of an event that has several.
pub struct EventPart<'a> {
    /// The whole event.
    pub raw: &'a [u8],
    pub part: Range<usize>,
    pub event: &'a Event,
}

impl<'a> EventPart<'a> {
    pub fn name(&self) -> &'a [u8] {
        &self.raw[self.event.name.clone()]
    }

    pub fn data(&self) -> &'a [u8] {
        self.event.data(self.raw)
    }

    /// Returns whether the event has one value of `data:` and nothing else.
    pub fn is_data_alone(&self) -> bool {
        let Some(data) = self.event.single() else { return false };
        let after = &self.raw[data.end..];
        self.part == (0..self.raw.len())
            && matches!(&self.raw[..data.start], b"data: " | b"data:" | b"")
            && after.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
    }

    /// Returns the bytes that a copy of this part needs at its end: a blank line if the part is not the last one, and the `\n`
    /// if the event's final `\r\n` was cut in two.
    pub fn missing_end(&self) -> &'static [u8] {
        match self.part.end == self.raw.len() {
            true if self.raw.ends_with(b"\r\n\r") => b"\n",
            true => b"",
            false => self.event.line_end,
        }
    }

    /// Writes the part with its changes, and with the event's name if the name is in another part.
    pub fn write(&self, edits: &mut Edits, out: &mut Vec<u8>) -> memory::Result<()> {
        if !self.name().is_empty() && !self.part.contains(&self.event.name.start) {
            append_all(out, &[b"event: ", self.name(), self.event.line_end])?;
        }
        json::join_lines(&mut edits.text);
        edits.apply(self.raw, self.part.clone(), |span| self.event.place(span), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut framer = EventFramer::START;
        let (mut events, mut event) = (Vec::new(), Vec::new());
        for mut chunk in chunks.iter().copied() {
            while let Some(end) = framer.end(chunk) {
                event.extend_from_slice(&chunk[..end]);
                events.push(std::mem::take(&mut event));
                chunk = &chunk[end..];
            }
            event.extend_from_slice(chunk);
        }
        events.push(event);
        events
    }

    #[test]
    fn events_end_at_blank_lines_and_comments_before_them_at_their_own() {
        let stream = b"a\nb\n\n:c\n:d\r\ne\r\n:f\r\n\r\n\n\rg\r\rh\n\r\ni\r\n\ndata";
        let wanted: [&[u8]; 13] = [
            b"a\nb\n\n",
            b":c\n",
            b":d\r",
            b"\n",
            b"e\r\n:f\r\n\r",
            b"\n",
            b"\n",
            b"\r",
            b"g\r\r",
            b"h\n\r",
            b"\n",
            b"i\r\n\n",
            b"data",
        ];
        assert_eq!(cut(&[stream]), wanted);
        assert_eq!(cut(&stream.chunks(1).collect::<Vec<_>>()), wanted);
        for first in 0..stream.len() {
            for second in first..stream.len() {
                assert_eq!(
                    cut(&[&stream[..first], &stream[first..second], &stream[second..]]),
                    wanted,
                    "{first} {second}"
                );
            }
        }
    }

    #[test]
    fn lines_are_read_as_the_standard_says() {
        let mut event = Event::default();
        let raw = b"id: 7\r\nevent: one\r\ndata:{\r\n:data: no\r\ndata: \"a\":\r\ndata\r\n data: no\r\ndata:  1}\r\nevent:two";
        event.read(raw).unwrap();
        assert_eq!(event.data(raw), b"{\n\"a\":\n\n 1}");
        assert_eq!(&raw[event.name.clone()], b"two");
        assert_eq!(event.line_end, b"\r\n");
        for (span, wanted) in [
            (0..1, &b"{"[..]),
            (2..5, b"\"a\""),
            (9..10, b"1"),
            (10..11, b"}"),
            (5..10, b":\r\ndata\r\n data: no\r\ndata:  1"),
        ] {
            assert_eq!(&raw[event.place(&span)], wanted, "{span:?}");
        }
        event.read(b"event").unwrap();
        assert_eq!((event.data(b"event"), event.name.clone(), event.line_end), (&b""[..], 5..5, &b"\r\n"[..]));
    }
}
