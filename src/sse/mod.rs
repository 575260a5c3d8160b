//! Event streams: the bytes of an OpenAI-style answer in, the same bytes out with its text split into fields.
//!
//! A server that does not tell a model's thinking from its answer sends both as `content`. A [`Rewriter`] stands between
//! such a server and its clients. What comes off the socket goes through [`Rewriter::feed`], one call for each read; what
//! comes out has the thinking as `reasoning_content`. Which bytes are thinking is decided by the dialect: there is one
//! scanner for each choice. Tool calls in the text become `tool_calls` if the host wants that ([`Options::calls`]).

// `event` cuts the stream into events, `repair` mends them where that is asked for, and `rewrite` hands each to the code of its
// format: `choices` for what is made of choices.
// That finds the text of an event, has `text` split it, and notes the changes as `edits`: what is not split must go out as it
// came in, to the byte.

mod choices;
mod edits;
mod envelope;
mod event;
mod format;
mod gate;
mod ids;
mod messages;
mod options;
mod promotion;
mod protocol;
mod repair;
mod responses;
mod rewrite;
mod stats;
mod text;

use std::fmt;
use std::sync::Arc;

use memchr::{memchr, memrchr2};

use crate::call_writer::Tools;
use crate::memory::{self, TryBox, append};
use crate::{Dialect, Error, Start};
use event::EventFramer;
pub use gate::{Exchange, Hint, RequestModel, request_hint, request_model, wants};
pub use options::{Body, Field, Formats, Options, ResponsesAs};
use repair::Repairer;
use rewrite::Rewrite;
pub use stats::Stats;

/// At most this many bytes decide whether a stream is a text. In a compressed stream, one of the first few cannot be a text's.
const FIRST: usize = 16;

/// What the bytes of the stream are now.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Nothing but blanks has come.
    Unknown,
    /// This many bytes have come after blanks, and none of them has decided yet whether this is a text.
    Begun(usize),
    Events,
    /// An event that is too long, up to its end.
    LongEvent,
    /// JSON objects, each on a line of its own.
    Lines,
    /// A line that is too long, up to its end.
    LongLine,
    Json,
    /// Bytes that are not read: after a body, or after the limit in one.
    Rest,
}

/// Finds the end of a JSON object whose bytes come in pieces.
#[derive(Clone, Copy)]
struct Braces {
    depth: usize,
    string: bool,
    escaped: bool,
}

impl Braces {
    const START: Braces = Braces { depth: 0, string: false, escaped: false };

    /// Returns how many of the next bytes belong to the object, or `None` if it goes on after them.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.string => self.escaped = true,
                b'"' => self.string = !self.string,
                _ if self.string => {}
                b'{' => self.depth += 1,
                b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Splits the text of a chat completion into fields, as its bytes come.
///
/// Use one rewriter for each answer, or one for several answers with [`finish`](Rewriter::finish) or [`reset`](Rewriter::reset)
/// between them. It can be sent to another thread.
///
/// ```
/// use aside::{Dialect, sse::{Options, Rewriter}};
///
/// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::default())?;
/// let mut out = Vec::new();
/// for read in [
///     "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"<think>\\nhm\"}}]}\n",
///     "\ndata: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"</think>\\n\\nYes.\"}}]}\n\n",
///     "data: [DONE]\n\n",
/// ] {
///     rewriter.feed(read, &mut out)?; // then send `out`, and clear it
/// }
/// rewriter.finish(&mut out)?;
/// assert_eq!(String::from_utf8(out)?, "\
/// data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n\
/// data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"}}]}\n\n\
/// data: [DONE]\n\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Rewriter {
    rewrite: Rewrite,
    options: Options,
    mode: Mode,
    framer: EventFramer,
    /// Mends the events, if that is asked for.
    repairer: TryBox<Repairer>,
    braces: Braces,
    /// The bytes of the event or body that have come.
    held: Vec<u8>,
    /// A byte of the stream has come.
    has_begun: bool,
    is_encoded: bool,
}

impl Rewriter {
    /// Makes a rewriter at the start of a stream.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchStart`] if the dialect has no such start, and [`Error::OutOfMemory`].
    #[doc(alias = "aside_rewriter_new")]
    pub fn new(dialect: &Dialect, options: &Options) -> Result<Rewriter, Error> {
        Ok(Rewriter {
            rewrite: Rewrite::new(dialect, options)?,
            options: options.clone(),
            mode: first_mode(options),
            framer: EventFramer::START,
            repairer: if options.repair { TryBox::new(Repairer::new())? } else { TryBox::NONE },
            braces: Braces::START,
            held: Vec::new(),
            has_begun: false,
            is_encoded: false,
        })
    }

    /// Reads the next stream by another dialect, such as the one that [`Dialect::find_for_template`] finds for a model's chat
    /// template, and sets where that stream starts: what is open at the first byte of each choice's text. With `None` as the
    /// dialect, the stream is read by the rewriter's own dialect; with `None` as the start, it starts where the dialect says.
    /// Call this before the first byte. [`finish`](Rewriter::finish) and [`reset`](Rewriter::reset) restore the rewriter's own
    /// dialect and start.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Start, sse::{Options, Rewriter}};
    ///
    /// let mut rewriter = Rewriter::new(&Dialect::find("any")?, &Options::default())?;
    /// let template = std::fs::read_to_string("tests/templates/qwen3-thinking.jinja")?;
    /// let (dialect, start) = Dialect::find_for_template(&template)?;
    /// rewriter.use_dialect(&dialect, start)?;
    ///
    /// // The request says that this model thinks; only the start is another.
    /// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::new())?;
    /// rewriter.use_dialect(None, Start::Channel(Channel::Thinking))?;
    /// let mut out = Vec::new();
    /// rewriter.feed("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hm\"}}]}\n\n", &mut out)?;
    /// assert_eq!(out, b"data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchStart`] if the dialect has no such start, [`Error::StreamBegun`] if the stream has begun, and
    /// [`Error::OutOfMemory`]. Nothing has changed then.
    #[doc(alias = "aside_rewriter_use_dialect")]
    pub fn use_dialect<'a>(
        &mut self,
        dialect: impl Into<Option<&'a Dialect>>,
        start: impl Into<Option<Start>>,
    ) -> Result<(), Error> {
        self.before_stream()?;
        self.rewrite.use_dialect(dialect.into(), start.into())
    }

    /// Sets the tools of the next stream's request, before its first byte, if calls are wanted ([`Options::calls`]): a call of
    /// another tool stays content. With `None`, calls become `tool_calls` whatever they call.
    /// [`finish`](Rewriter::finish) and [`reset`](Rewriter::reset) go back to the rewriter's own tools.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use aside::{Dialect, call_writer::Tools, sse::{Options, Rewriter}};
    ///
    /// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::new().calls(true))?;
    /// // A request that names no tools asks for no calls.
    /// let tools = Tools::read("[]")?;
    /// rewriter.use_tools(Arc::new(tools))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::StreamBegun`] if the stream has begun. Nothing has changed then.
    #[doc(alias = "aside_rewriter_use_tools")]
    pub fn use_tools(&mut self, tools: impl Into<Option<Arc<Tools>>>) -> Result<(), Error> {
        self.before_stream()?;
        self.rewrite.use_tools(tools.into());
        Ok(())
    }

    /// Says where the next stream starts, before its first byte: each choice's text comes after a rendered prompt that ends
    /// with `tail`, read as [`Scanner::start_from_prompt`](crate::Scanner::start_from_prompt) reads it. Returns where that is.
    ///
    /// [`finish`](Rewriter::finish), [`reset`](Rewriter::reset) and an empty `tail` go back to the rewriter's own start.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Start, sse::{Options, Rewriter}};
    ///
    /// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::default())?;
    /// let start = rewriter.start_from_prompt("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")?;
    /// assert_eq!(start, Start::Channel(Channel::Thinking));
    /// let mut out = Vec::new();
    /// rewriter.feed("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Greet.\"}}]}\n\n", &mut out)?;
    /// assert_eq!(out, b"data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"Greet.\"}}]}\n\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::StreamBegun`] if the stream has begun, and [`Error::OutOfMemory`]. Nothing has changed then.
    #[doc(alias = "aside_rewriter_start_from_prompt")]
    #[inline]
    pub fn start_from_prompt(&mut self, tail: impl AsRef<[u8]>) -> Result<Start, Error> {
        self.before_stream()?;
        self.rewrite.start_from_prompt(tail.as_ref())
    }

    fn before_stream(&self) -> Result<(), Error> {
        if self.has_begun { Err(Error::StreamBegun) } else { Ok(()) }
    }

    /// Takes the next bytes of the stream, cut anywhere, and appends to `out` all that is decided: each event as soon as it
    /// is whole.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]: not all is in `out` then, and the rewriter must be reset.
    #[doc(alias = "aside_rewriter_feed")]
    #[inline]
    pub fn feed(&mut self, chunk: impl AsRef<[u8]>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.feed_bytes(chunk.as_ref(), out)
    }

    fn feed_bytes(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
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

    /// Ends the stream: appends what was held back. An event without the blank line that ends it counts as whole. The next feed
    /// begins a new stream; the [`stats`](Rewriter::stats) stay.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]: not all is in `out` then, and the rewriter must be reset.
    #[doc(alias = "aside_rewriter_finish")]
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.repairs()
            && let Some(repairer) = self.repairer.get_mut()
        {
            let mended = repairer.finish(&self.held, |event| self.rewrite.event(event, false, out))?;
            self.rewrite.setup.stats.repaired += u64::from(mended);
            self.rewrite.finish(out)?;
            self.begin_stream();
            return Ok(());
        }
        match self.mode {
            Mode::Events if !self.held.is_empty() => self.rewrite.event(&self.held, true, out)?,
            Mode::Lines if !self.held.is_empty() => self.rewrite.line(&self.held, true, out)?,
            Mode::Events | Mode::Lines => self.rewrite.finish(out)?,
            _ => append(out, &self.held)?,
        }
        self.begin_stream();
        Ok(())
    }

    /// Forgets the stream, every error and the [`stats`](Rewriter::stats). The next feed begins a new stream.
    #[doc(alias = "aside_rewriter_reset")]
    pub fn reset(&mut self) {
        self.begin_stream();
        self.is_encoded = false;
        self.rewrite.setup.stats = Stats::default();
    }

    /// Returns what has been counted since the start or the last reset, and how much is held now.
    #[doc(alias = "aside_rewriter_get_stats")]
    #[must_use]
    pub fn stats(&self) -> Stats {
        let held = self.held.len() + self.rewrite.held();
        Stats { held: held as u64, encoded: self.is_encoded, ..self.rewrite.setup.stats }
    }

    fn begin_stream(&mut self) {
        self.rewrite.begin_stream();
        if let Some(repairer) = self.repairer.get_mut() {
            repairer.begin_stream();
        }
        self.has_begun = false;
        self.mode = first_mode(&self.options);
        self.framer = EventFramer::START;
        self.braces = Braces::START;
        // One large event must not cost memory in every stream after it.
        self.held = Vec::new();
    }

    /// Line ends pass at once, because a server may send them to keep the connection open. Other blanks may begin a line.
    #[inline(never)]
    fn feed_unknown(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Result<usize, Error> {
        match rest[0] {
            b'\n' | b'\r' if self.repairs() && self.held.len() < self.max_event() => {
                // They are not part of an event, but may be one of a body.
                if self.options.body == Body::Events {
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
                self.mode = match self.options.body {
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

    /// Returns whether this is a stream whose events are mended.
    fn repairs(&self) -> bool {
        let is_of_events = match self.mode {
            Mode::Events | Mode::LongEvent => true,
            Mode::Unknown | Mode::Begun(_) => matches!(self.options.body, Body::Unknown | Body::Events),
            Mode::Lines | Mode::LongLine | Mode::Json | Mode::Rest => false,
        };
        is_of_events && self.repairer.get().is_some()
    }

    /// The bytes before the first colon or line end decide whether this is a text. If neither comes soon, it is one.
    #[inline(never)]
    fn feed_begun(&mut self, len: usize, byte: u8, out: &mut Vec<u8>) -> Result<usize, Error> {
        if len == FIRST || matches!(byte, b':' | b'\n' | b'\r') {
            match self.options.body {
                Body::Json => self.pass_rest(out)?,
                Body::Lines => self.mode = Mode::Lines,
                Body::Unknown | Body::Events => {
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
            // The end of a character may still come.
            Err(error) => error.error_len().is_none(),
        };
        if !is_utf8 || byte < b' ' && byte != b'\t' {
            self.is_encoded = true;
            self.pass_rest(out)?;
        }
        Ok(1)
    }

    /// Passes the rest of this stream unread.
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
            // Its text is not read: what is held back must not come after it.
            self.rewrite.flush(out)?;
            self.pass_long(&rest[..used], out)?;
            self.mode = if end.is_some() { Mode::Events } else { Mode::LongEvent };
        } else if end.is_none() {
            append(&mut self.held, rest)?;
        } else if self.held.is_empty() {
            event(&mut self.rewrite, &mut self.repairer, &rest[..used], out)?;
        } else {
            append(&mut self.held, &rest[..used])?;
            event(&mut self.rewrite, &mut self.repairer, &self.held, out)?;
            memory::clear(&mut self.held);
        }
        Ok(used)
    }

    /// Passes the beginning of an event that is too long.
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
            self.rewrite.flush(out)?;
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
            if end.is_some() && self.options.body == Body::Unknown && self.rewrite.is_line(&self.held) {
                // More lines may come. A whole answer ends with its line too.
                self.mode = Mode::Lines;
            } else if end.is_some() {
                self.mode = Mode::Rest;
                self.rewrite.body(&self.held, out)?;
                memory::clear(&mut self.held);
            }
        }
        Ok(used)
    }

    /// Passes what was held and the bytes that follow it, unread.
    fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
        self.rewrite.setup.stats.too_long += 1;
        append(out, &self.held)?;
        memory::clear(&mut self.held);
        append(out, bytes)
    }

    fn max_event(&self) -> usize {
        self.options.max_event.unwrap_or(Options::MAX_EVENT)
    }
}

impl fmt::Debug for Rewriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewriter")
            .field("options", &self.options)
            .field("mode", &self.mode)
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}

/// Writes a whole event.
#[inline]
fn event(rewrite: &mut Rewrite, repairer: &mut TryBox<Repairer>, raw: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    match repairer.get_mut() {
        Some(repairer) => mended(rewrite, repairer, raw, out),
        None => rewrite.event(raw, false, out),
    }
}

/// Writes what a whole event becomes when it is mended. It stands apart, so that it costs streams nothing that are not mended.
#[inline(never)]
fn mended(rewrite: &mut Rewrite, repairer: &mut Repairer, raw: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let mended = repairer.event(raw, |event| rewrite.event(event, false, out))?;
    rewrite.setup.stats.repaired += u64::from(mended);
    Ok(())
}

fn first_mode(options: &Options) -> Mode {
    match options.body {
        _ if options.off => Mode::Rest,
        Body::Unknown | Body::Events | Body::Lines => Mode::Unknown,
        Body::Json => Mode::Json,
    }
}
