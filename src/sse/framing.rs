//! Decides the kind of a stream by its first bytes, and finds the ends of its events, lines and bodies.
//!
//! Laws: only whole events, lines and bodies are read, so cuts make no difference. Bytes that are too long to be read, or are not
//! text, are sent unread.

use std::mem;

use memchr::{memchr, memrchr2};

use super::options::Body;
use super::repair::{Repairer, Shaper};
use super::rewrite::Rewrite;
use super::rewriter::{Mode, Rewriter};
use crate::Error;
use crate::answer::Input;
use crate::memory::{self, append};

/// The maximum number of bytes that are read to decide whether a stream is text. Compressed data has a byte among its first few that
/// text cannot have.
const FIRST: usize = 16;

impl Rewriter {
    pub(super) fn feed_bytes(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut rest = chunk;
        if !self.has_begun && !rest.is_empty() {
            self.has_begun = true;
            self.is_encoded = false;
        }
        while !rest.is_empty() {
            let used = match self.mode {
                Mode::Unknown => self.feed_unknown(rest, out)?,
                Mode::Begun(len) => self.feed_begun(len, rest[0], out)?,
                Mode::Events => self.feed_events(rest, out)?,
                Mode::LongEvent => self.feed_long_event(rest, out)?,
                Mode::Lines | Mode::LongLine => self.feed_lines(rest, out)?,
                Mode::Json => self.feed_json(rest, out)?,
                Mode::Rest => {
                    append(out, rest)?;
                    rest.len()
                }
            };
            rest = &rest[used..];
        }
        Ok(())
    }

    /// Sends line ends at once, because a server may write them to keep the connection open. Other blanks may begin a line.
    #[inline(never)]
    fn feed_unknown(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Result<usize, Error> {
        match rest[0] {
            b'\n' | b'\r' if self.repairs() && self.held.len() < self.max_event() => {
                // Blanks here are not part of an event, but may be part of a body.
                if self.rewrite.options.body == Body::Events {
                    self.held.clear();
                } else {
                    append(&mut self.held, &rest[..1])?;
                }
                Ok(1)
            }
            b'\n' | b'\r' => {
                append(out, &self.held)?;
                self.held.clear();
                append(out, &rest[..1])?;
                Ok(1)
            }
            b' ' | b'\t' if self.held.len() < self.max_event() => {
                append(&mut self.held, &rest[..1])?;
                Ok(1)
            }
            byte => {
                self.mode = match self.rewrite.options.body {
                    Body::Lines if byte == b'{' => Mode::Lines,
                    Body::Unknown | Body::Json if byte == b'{' => Mode::Json,
                    _ => Mode::Begun(0),
                };
                if matches!(self.mode, Mode::Begun(_)) && self.repairs() {
                    let lines = memrchr2(b'\n', b'\r', &self.held).map_or(0, |at| at + 1);
                    self.held.drain(..lines);
                }
                Ok(0)
            }
        }
    }

    /// Returns whether the events of this stream are repaired.
    pub(super) fn repairs(&self) -> bool {
        let is_of_events = match self.mode {
            Mode::Events | Mode::LongEvent => true,
            Mode::Unknown | Mode::Begun(_) => matches!(self.rewrite.options.body, Body::Unknown | Body::Events),
            Mode::Lines | Mode::LongLine | Mode::Json | Mode::Rest => false,
        };
        is_of_events && self.repairer.get().is_some()
    }

    /// Decides whether the stream is text by the bytes before the first colon or line end. If neither arrives soon, the stream is
    /// text.
    #[inline(never)]
    fn feed_begun(&mut self, len: usize, byte: u8, out: &mut Vec<u8>) -> Result<usize, Error> {
        if len == FIRST || matches!(byte, b':' | b'\n' | b'\r') {
            match self.rewrite.options.body {
                Body::Json if byte != b':' || !self.is_field() => self.pass_rest(out)?,
                Body::Lines => self.mode = Mode::Lines,
                Body::Unknown | Body::Events | Body::Json => {
                    self.mode = Mode::Events;
                    self.framer.end(&self.held);
                }
            }
            return Ok(0);
        }
        append(&mut self.held, &[byte])?;
        self.mode = Mode::Begun(len + 1);
        let first = &self.held[self.held.len() - (len + 1)..];
        let is_utf8 = match std::str::from_utf8(first) {
            Ok(_) => true,
            // The rest of a cut character may still arrive.
            Err(error) => error.error_len().is_none(),
        };
        if !is_utf8 || byte < b' ' && byte != b'\t' {
            self.is_encoded = true;
            self.pass_rest(out)?;
        }
        Ok(1)
    }

    /// Returns whether the held bytes are the name of an event's field, or empty, as before the colon of a comment.
    fn is_field(&self) -> bool {
        let name = self.held.trim_ascii_start();
        let name = name.strip_prefix("\u{feff}".as_bytes()).unwrap_or(name);
        [&b""[..], b"data", b"event", b"id", b"retry"].contains(&name)
    }

    /// Sends the rest of this stream unread.
    fn pass_rest(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.mode = Mode::Rest;
        append(out, &self.held)?;
        self.held.clear();
        Ok(())
    }

    fn feed_events(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Result<usize, Error> {
        let end = self.framer.end(rest);
        let used = end.unwrap_or(rest.len());
        if self.held.len() + used > self.max_event() {
            // The event is not read, so held text must be sent before the event.
            if let Some(repairer) = self.repairer.get_mut() {
                let mended = repairer.release(|event| self.rewrite.event(event, false, out))?;
                self.rewrite.setup.stats.repaired += u64::from(mended);
            }
            self.rewrite.write_held(Input::Flush, out)?;
            self.pass_long(&rest[..used], out)?;
            self.mode = if end.is_some() { Mode::Events } else { Mode::LongEvent };
        } else if end.is_none() {
            append(&mut self.held, rest)?;
        } else if self.held.is_empty() {
            // This event arrived whole, so the bytes that decided the kind of the stream are no longer needed.
            self.held = Vec::new();
            self.event(&rest[..used], false, out)?;
        } else {
            append(&mut self.held, &rest[..used])?;
            self.held_event(false, out)?;
        }
        Ok(used)
    }

    /// Writes the held event. With `last`, the stream ends with this event.
    pub(super) fn held_event(&mut self, last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        let held = mem::take(&mut self.held);
        self.event(&held, last, out)?;
        self.held = held;
        memory::clear(&mut self.held);
        Ok(())
    }

    /// Writes an event. Mending and shaping are in separate functions, so that they cost nothing for streams that need neither.
    #[inline]
    fn event(&mut self, raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        match (self.repairer.get_mut(), self.shaper.get_mut()) {
            (Some(repairer), _) => mended(&mut self.rewrite, repairer, raw, out),
            (None, Some(shaper)) => shaped(&mut self.rewrite, shaper, raw, last, out),
            (None, None) => self.rewrite.event(raw, last, out),
        }
    }

    /// Sends the beginning of an event that is too long to be read.
    #[inline(never)]
    fn pass_long(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(repairer) = self.repairer.get_mut() else { return Ok(self.pass(bytes, out)?) };
        self.rewrite.setup.stats.too_long += 1;
        repairer.begin_long(self.held.first().or(bytes.first()), out)?;
        repairer.pass_long(&self.held, out)?;
        repairer.pass_long(bytes, out)?;
        memory::clear(&mut self.held);
        Ok(())
    }

    #[inline(never)]
    fn feed_long_event(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Result<usize, Error> {
        let end = self.framer.end(rest);
        let used = end.unwrap_or(rest.len());
        if end.is_some() {
            self.mode = Mode::Events;
        }
        match self.repairer.get_mut() {
            Some(repairer) => repairer.pass_long(&rest[..used], out)?,
            None => append(out, &rest[..used])?,
        }
        Ok(used)
    }

    fn feed_lines(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Result<usize, Error> {
        let end = memchr(b'\n', rest).map(|at| at + 1);
        let used = end.unwrap_or(rest.len());
        if self.mode == Mode::LongLine {
            append(out, &rest[..used])?;
        } else if self.held.len() + used > self.max_event() {
            self.rewrite.write_held(Input::Flush, out)?;
            self.pass(&rest[..used], out)?;
            self.mode = Mode::LongLine;
        } else if end.is_some() && self.held.is_empty() {
            self.rewrite.line(&rest[..used], false, out)?;
        } else {
            append(&mut self.held, &rest[..used])?;
            if end.is_some() {
                self.rewrite.line(&self.held, false, out)?;
                memory::clear(&mut self.held);
            }
        }
        if end.is_some() {
            self.mode = Mode::Lines;
        }
        Ok(used)
    }

    fn feed_json(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Result<usize, Error> {
        if self.held.is_empty() && rest[0].is_ascii_whitespace() {
            append(out, &rest[..1])?;
            return Ok(1);
        }
        if self.held.is_empty() && rest[0] != b'{' {
            self.mode = Mode::Begun(0);
            return Ok(0);
        }
        let end = self.braces.end(rest);
        let used = end.unwrap_or(rest.len());
        if self.held.len() + used > self.max_event() {
            self.mode = Mode::Rest;
            self.pass(&rest[..used], out)?;
        } else {
            append(&mut self.held, &rest[..used])?;
            if end.is_some() && self.rewrite.options.body == Body::Unknown && self.rewrite.is_line(&self.held) {
                // More lines may follow. A whole answer ends with a line too.
                self.mode = Mode::Lines;
            } else if end.is_some() {
                self.mode = Mode::Rest;
                let body = match self.shaper.get_mut() {
                    Some(shaper) => shaper.body(&self.held)?,
                    None => &self.held,
                };
                self.rewrite.body(body, self.held != body, out)?;
                memory::clear(&mut self.held);
            }
        }
        Ok(used)
    }

    /// Sends the held bytes and `bytes` unread.
    fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
        self.rewrite.setup.stats.too_long += 1;
        append(out, &self.held)?;
        memory::clear(&mut self.held);
        append(out, bytes)
    }

    fn max_event(&self) -> usize {
        self.rewrite.options.max_event_bytes()
    }
}

/// Writes the shaped form of an event.
#[inline(never)]
fn shaped(rewrite: &mut Rewrite, shaper: &mut Shaper, raw: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Error> {
    let before = rewrite.setup.stats.changed;
    let changes = shaper.event(raw, last, |event, is_end| rewrite.event(event, last && is_end, out))?;
    let stats = &mut rewrite.setup.stats;
    stats.changed += u64::from(changes && stats.changed == before);
    Ok(())
}

/// Writes the mended form of a whole event.
#[inline(never)]
fn mended(rewrite: &mut Rewrite, repairer: &mut Repairer, raw: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let mended = repairer.event(raw, |event| rewrite.event(event, false, out))?;
    rewrite.setup.stats.repaired += u64::from(mended);
    Ok(())
}
