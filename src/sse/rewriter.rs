//! The interface for a host, which feeds the bytes of a server's streams and gets the bytes for its clients.

use std::fmt;
use std::sync::Arc;

use super::event::EventFramer;
use super::options::{Body, Options};
use super::repair::{Repairer, Shaper};
use super::rewrite::Rewrite;
use crate::answer::{Input, Stats, Tools};
use crate::json::Braces;
use crate::memory::{TryBox, append};
use crate::{Dialect, Error, Start};

/// The current kind of the stream's bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Only blanks have arrived.
    Unknown,
    /// It is not yet decided whether the stream is text; this number of bytes has arrived after the blanks at its beginning.
    Begun(usize),
    Events,
    /// The rest of an event that is too long.
    LongEvent,
    /// JSON objects, each on a separate line.
    Lines,
    /// The rest of a line that is too long.
    LongLine,
    Json,
    /// Bytes that are not read: after a body, or in a body beyond the limit.
    Rest,
}

impl Mode {
    /// Returns the mode of a stream of which no byte has arrived.
    pub fn first(options: &Options) -> Mode {
        match options.body {
            _ if options.off => Mode::Rest,
            Body::Unknown | Body::Events | Body::Lines => Mode::Unknown,
            Body::Json => Mode::Json,
        }
    }
}

/// Splits the text of a chat completion into fields while its bytes arrive.
///
/// Use one rewriter for each answer, or one for several answers with [`finish`](Rewriter::finish) or [`reset`](Rewriter::reset)
/// between them. It can be sent to another thread. While it writes an event, it borrows buffers from
/// the process, which keeps up to 256 sets of at most 40 kB.
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
    pub(super) rewrite: Rewrite,
    pub(super) mode: Mode,
    pub(super) framer: EventFramer,
    /// Repairs the events, if requested.
    pub(super) repairer: TryBox<Repairer>,
    /// Puts the input into one shape, if requested without repair.
    pub(super) shaper: TryBox<Shaper>,
    pub(super) braces: Braces,
    /// The bytes so far of an unfinished event or body.
    pub(super) held: Vec<u8>,
    /// Whether a byte of the stream has arrived.
    pub(super) has_begun: bool,
    pub(super) is_encoded: bool,
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
            mode: Mode::first(options),
            framer: EventFramer::START,
            repairer: TryBox::of(options.repair.then(|| Repairer::new(options)))?,
            shaper: Shaper::new(options)?,
            braces: Braces::START,
            held: Vec::new(),
            has_begun: false,
            is_encoded: false,
        })
    }

    /// Sets the dialect of the next stream, such as one found by [`Dialect::find_for_template`], and its start: the span that
    /// is open at the first byte of each choice's text. With `None` as the dialect, the rewriter's own dialect is used; with
    /// `None` as the start, the dialect decides. Call this before the first byte. [`finish`](Rewriter::finish) and
    /// [`reset`](Rewriter::reset) restore the rewriter's own dialect and start.
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
    /// [`Error::OutOfMemory`]. In these cases, nothing has changed.
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
    /// another tool stays content. With `None`, calls become `tool_calls` whatever they call. [`finish`](Rewriter::finish) and
    /// [`reset`](Rewriter::reset) restore the rewriter's own tools.
    ///
    /// ```
    /// use aside::{Dialect, answer::Tools, sse::{Options, Rewriter}};
    ///
    /// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::new().calls(true))?;
    /// // A request that names no tools asks for no calls.
    /// let tools = Tools::read("[]")?;
    /// rewriter.use_tools(tools)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::StreamBegun`] if the stream has begun. In these cases, nothing has changed.
    #[doc(alias = "aside_rewriter_use_tools")]
    pub fn use_tools(&mut self, tools: impl Into<Option<Arc<Tools>>>) -> Result<(), Error> {
        self.before_stream()?;
        self.rewrite.use_tools(tools.into());
        Ok(())
    }

    /// Sets the start of the next stream, before its first byte, by the rendered prompt of the request, which ends with `tail`,
    /// as [`Scanner::start_from_prompt`](crate::Scanner::start_from_prompt) does. Returns that start.
    ///
    /// [`finish`](Rewriter::finish), [`reset`](Rewriter::reset) and an empty `tail` restore the rewriter's own start.
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
    /// [`Error::StreamBegun`] if the stream has begun, and [`Error::OutOfMemory`]. In these cases, nothing has changed.
    #[doc(alias = "aside_rewriter_start_from_prompt")]
    #[inline]
    pub fn start_from_prompt(&mut self, tail: impl AsRef<[u8]>) -> Result<Start, Error> {
        self.before_stream()?;
        self.rewrite.start_from_prompt(tail.as_ref())
    }

    fn before_stream(&self) -> Result<(), Error> {
        if self.has_begun { Err(Error::StreamBegun) } else { Ok(()) }
    }

    /// Reads the next bytes of the stream, cut anywhere, and appends to `out` all output that is final: each event as soon as
    /// it is whole.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]: the output in `out` is then incomplete, and the rewriter must be reset.
    #[doc(alias = "aside_rewriter_feed")]
    #[inline]
    pub fn feed(&mut self, chunk: impl AsRef<[u8]>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.feed_bytes(chunk.as_ref(), out)
    }

    /// Ends the stream: appends the bytes that were held back. An event without the blank line that ends it counts as whole.
    /// The next feed begins a new stream; the [`stats`](Rewriter::stats) stay.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]: the output in `out` is then incomplete, and the rewriter must be reset.
    #[doc(alias = "aside_rewriter_finish")]
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.repairs()
            && let Some(repairer) = self.repairer.get_mut()
        {
            let mended = repairer.finish(&self.held, |event| self.rewrite.event(event, false, out))?;
            self.rewrite.setup.stats.repaired += u64::from(mended);
            self.rewrite.write_held(Input::Finish, out)?;
            self.begin_stream();
            return Ok(());
        }
        match self.mode {
            Mode::Events if !self.held.is_empty() => self.held_event(true, out)?,
            Mode::Lines if !self.held.is_empty() => self.rewrite.line(&self.held, true, out)?,
            Mode::Events | Mode::Lines => self.rewrite.write_held(Input::Finish, out)?,
            _ => append(out, &self.held)?,
        }
        self.begin_stream();
        Ok(())
    }

    /// Drops the stream, every error and the [`stats`](Rewriter::stats). The next feed begins a new stream.
    #[doc(alias = "aside_rewriter_reset")]
    pub fn reset(&mut self) {
        self.begin_stream();
        self.is_encoded = false;
        self.rewrite.setup.stats = Stats::default();
    }

    /// Returns the counts since the start or the last reset, and the number of bytes held now.
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
        if let Some(shaper) = self.shaper.get_mut() {
            shaper.begin_stream();
        }
        self.has_begun = false;
        self.mode = Mode::first(&self.rewrite.options);
        self.framer = EventFramer::START;
        self.braces = Braces::START;
        // A buffer that grew for a large event must not stay large in later streams.
        self.held = Vec::new();
    }
}

impl fmt::Debug for Rewriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewriter")
            .field("options", &self.rewrite.options)
            .field("mode", &self.mode)
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}
