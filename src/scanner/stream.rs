//! The scanner's public methods, except those that feed bytes at once (`feed`).

use std::fmt;

use super::{
    chunk::{Chunk, Token, check_lengths},
    counts::Counts,
    engine::Engine,
    error::Error,
    event::Event,
    events::{Events, Method},
    options::{EndReason, ScannerOptions},
    pull,
    thoughts::Thought,
};
use crate::{
    channel::{Channel, Start},
    dialect::Dialect,
};

/// Splits one stream at a time by the rules of a dialect.
///
/// A scanner can be sent to another thread. Scanners share nothing that changes, except rows of their dialect's table, for which no
/// thread waits. `Clone` and `try_clone` copy a scanner in the middle of a stream.
///
/// ```
/// use aside::{Channel, Dialect, Kind, Scanner};
///
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// let mut answer = Vec::new();
/// for chunk in ["<thi", "nk>\nhm", "\n</think>\n", "\nYes."] {
///     scanner.feed(chunk, |event| {
///         if event.kind == Kind::Text && event.channel == Channel::Content {
///             answer.extend_from_slice(event.bytes);
///         }
///     })?;
/// }
/// scanner.finish(|_| ())?;
/// assert_eq!(answer, b"Yes.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[repr(C)]
pub struct Scanner {
    pub(super) dialect: Dialect,
    pub(super) engine: Engine,
}

impl Scanner {
    /// Makes a scanner with the default options.
    ///
    /// # Panics
    ///
    /// Panics if there is no memory. `with_options` returns an error instead.
    #[doc(alias = "aside_scanner_new")]
    #[must_use]
    pub fn new(dialect: &Dialect) -> Scanner {
        match Scanner::with_options(dialect, &ScannerOptions::default()) {
            Ok(scanner) => scanner,
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes a scanner with these options.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchStart`] if the dialect has no such start, and [`Error::OutOfMemory`].
    #[doc(alias = "aside_scanner_new")]
    pub fn with_options(dialect: &Dialect, options: &ScannerOptions) -> Result<Scanner, Error> {
        let engine = Engine::new(&dialect.compiled, options.start.unwrap_or(dialect.start()), options)?;
        Ok(Scanner { dialect: dialect.clone(), engine })
    }

    /// Returns the number of tokens that begin before the next byte to be reported.
    #[inline(always)]
    pub(crate) fn first_token(&self) -> u64 {
        self.engine.ledger.tokens()
    }

    /// Returns the innermost channel.
    #[inline(always)]
    pub(crate) fn channel(&self) -> Channel {
        self.engine.spans.channel()
    }

    /// Returns the stream's current configuration.
    #[cfg(test)]
    pub(crate) fn config(&self) -> crate::matcher::automaton::Config {
        let mut scanner = self.clone();
        scanner.engine.leave(&self.dialect.compiled);
        scanner.engine.spans.config(&self.dialect.compiled.grammar)
    }

    /// Returns whether the stream is in a body that tables of calls describe, or in an answer in JSON.
    #[cfg(test)]
    pub(crate) fn is_outside_table(&self) -> bool {
        self.engine.body().is_some() || self.engine.json.is_open()
    }

    /// Returns the result for `aside_scanner_quiet`. Cannot panic.
    #[cfg(feature = "c-api")]
    #[inline]
    pub(crate) fn quiet(&self) -> Option<(Channel, [u64; 4])> {
        self.engine.quiet(&self.dialect.compiled)
    }

    /// Does the work of `aside_scanner_skip`. Cannot panic.
    #[cfg(feature = "c-api")]
    pub(crate) fn skip(&mut self, len: u64, last: u8) -> bool {
        self.engine.skip(len, last)
    }

    /// Returns whether a closer of the thinking has arrived in this stream, even if no thinking was open.
    pub(crate) fn has_closed(&self) -> bool {
        self.engine.has_closed
    }

    /// Returns whether the open thinking may turn out to be the answer.
    pub(crate) fn may_be_answer(&self) -> bool {
        self.engine.may_be_answer(&self.dialect.compiled)
    }

    /// Ends the stream: resolves the held bytes and closes open spans. The next feed begins a new stream.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[doc(alias = "aside_scanner_finish")]
    pub fn finish(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.finish_events().for_each(on_event)
    }

    /// Sets the reason why the stream ends. Call it before [`finish`](Scanner::finish), which clears the reason, as `reset` does.
    ///
    /// The reason matters if the start in the thinking was [guessed](Scanner::is_start_guessed). If the answer
    /// [ended](EndReason::Ended) by itself without a closer or an opener of the thinking, the thinking was the answer:
    /// `finish` then reports [`Kind::Reclassify`](crate::Kind::Reclassify) with the channel `Content` before it closes the
    /// span.
    #[doc(alias = "aside_scanner_end_reason")]
    pub fn end_reason(&mut self, reason: EndReason) {
        self.engine.end_reason = reason;
    }

    /// Releases the held bytes as text of their channel. The stream continues.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::FinishPending`] if the events of a finish were not all pulled.
    #[doc(alias = "aside_scanner_flush")]
    pub fn flush(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.flush_events().for_each(on_event)
    }

    /// Closes the open thinking: releases the held bytes as text, and ends the span with the cause
    /// [`Cause::Forced`](crate::Cause::Forced). A tool span whose calls the dialect describes is closed too, with its open
    /// call.
    ///
    /// If the innermost span is neither of these, nothing happens. Nothing happens either before the first byte of a stream whose
    /// prompt has opened a span. A closer that follows, with only blanks before it, is removed. The closer of a fence is not
    /// removed: it is text.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::FinishPending`] if the events of a finish were not all pulled.
    #[doc(alias = "aside_scanner_force_close")]
    pub fn force_close(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.force_close_events().for_each(on_event)
    }

    /// Reports the held bytes, because a tool call follows that is not part of the text. Like a call in the text, such a call
    /// ends the thinking if the dialect's tool spans do (`ends`). A closer that follows, with only blanks before it, is removed.
    pub(crate) fn pass_call(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        if self.engine.is_ended_by_calls(&self.dialect.compiled) {
            self.force_close(on_event)?;
        } else {
            self.flush(on_event)?;
        }
        self.engine.expect_closer(&self.dialect.compiled);
        Ok(())
    }

    /// Feeds like [`feed`](Scanner::feed), one event at a time: the caller may stop after each.
    #[doc(alias = "aside_scanner_feed_into")]
    pub fn events<'a>(&'a mut self, chunk: &'a (impl AsRef<[u8]> + ?Sized)) -> Events<'a> {
        self.pull(Chunk::plain(chunk.as_ref()), Method::Feed)
    }

    /// Feeds like [`feed_tokens`](Scanner::feed_tokens), one event at a time. After a stop inside a token, the first token of
    /// the next call is the rest of that token.
    ///
    /// # Errors
    ///
    /// [`Error::TokenLengths`], [`Error::FinishPending`] and [`Error::OutOfMemory`]; in these cases nothing was fed.
    #[doc(alias = "aside_scanner_feed_tokens_into")]
    pub fn token_events<'a>(
        &'a mut self,
        chunk: &'a (impl AsRef<[u8]> + ?Sized),
        tokens: &'a [Token],
    ) -> Result<Events<'a>, Error> {
        let chunk = chunk.as_ref();
        check_lengths(chunk, tokens)?;
        self.summed_token_events(chunk, tokens)
    }

    /// Feeds like `token_events`, for tokens whose lengths are known to add up.
    pub(crate) fn summed_token_events<'a>(
        &'a mut self,
        chunk: &'a [u8],
        tokens: &'a [Token],
    ) -> Result<Events<'a>, Error> {
        if self.engine.is_finishing {
            return Err(Error::FinishPending);
        }
        self.engine.begin_tokens()?;
        let chunk = Chunk::of_tokens(chunk, tokens, self.engine.in_token());
        Ok(self.pull(chunk, Method::Feed))
    }

    /// Ends the stream like [`finish`](Scanner::finish), one event at a time. The stream has ended once `next` has returned
    /// `None`.
    #[doc(alias = "aside_scanner_finish_into")]
    pub fn finish_events(&mut self) -> Events<'_> {
        self.pull(Chunk::EMPTY, Method::Finish)
    }

    /// Releases the held bytes like [`flush`](Scanner::flush), one event at a time.
    #[doc(alias = "aside_scanner_flush_into")]
    pub fn flush_events(&mut self) -> Events<'_> {
        self.pull(Chunk::EMPTY, Method::Flush)
    }

    /// Closes the thinking like [`force_close`](Scanner::force_close), one event at a time. The span is closed once its `Close`
    /// was returned.
    #[doc(alias = "aside_scanner_force_close_into")]
    pub fn force_close_events(&mut self) -> Events<'_> {
        self.pull(Chunk::EMPTY, Method::ForceClose)
    }

    fn pull<'a>(&'a mut self, chunk: Chunk<'a>, method: Method) -> Events<'a> {
        Events::new(&self.dialect.compiled, &mut self.engine, chunk, method)
    }

    /// Forgets the stream, its counts, the thoughts that were not taken, and every error. The next feed begins a new stream.
    #[doc(alias = "aside_scanner_reset")]
    pub fn reset(&mut self) {
        self.engine.reset(&self.dialect.compiled);
    }

    /// Returns a copy in the same state, even in the middle of a stream: for beams, and for retries from here. Feeding one
    /// scanner does not change the other. Thoughts that were not taken are in both.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[doc(alias = "aside_scanner_clone")]
    pub fn try_clone(&self) -> Result<Scanner, Error> {
        Ok(Scanner { dialect: self.dialect.clone(), engine: self.engine.try_clone()? })
    }

    /// Returns the counts of a channel's text since the stream began. After a finish, these are the counts of the stream that
    /// has ended, until another begins. Held bytes are counted when they are reported.
    ///
    /// After `finish`, the counts show whether an answer was only thinking: `Thinking` has bytes, `Content` and `Tool` have none.
    /// Either the model broke off, or the stream was started in the thinking although thinking was off. A host that knows that
    /// thinking was off can show the text as the answer.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Scanner};
    ///
    /// let mut scanner = Scanner::new(&Dialect::find("qwen3-thinking")?); // but the request has turned it off
    /// scanner.feed("The answer is 42.", |_| ())?;
    /// scanner.finish(|_| ())?;
    /// let bytes = |channel| scanner.counts(channel).bytes;
    /// assert_eq!((bytes(Channel::Thinking), bytes(Channel::Content), bytes(Channel::Tool)), (17, 0, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "aside_scanner_counts")]
    #[must_use]
    pub fn counts(&self, channel: Channel) -> Counts {
        self.engine.counts(channel)
    }

    /// Sets the start of the next stream from `tail`, the end of the rendered prompt, and returns the start. Call it before the
    /// first byte of the stream.
    ///
    /// Only the text after the dialect's last turn marker in the tail (`turns` in its file) is read, or all of the tail if
    /// there is none. It is read as if the model had written it: the stream may start inside a span or inside a header, and a
    /// marker or framing that the prompt begins continues in the stream.
    ///
    /// A marker at the prompt's end that is still undecided does not count for the start: an incomplete marker, or an opener of a
    /// tool call that counts only if a call follows. If the stream decides that the opener counts, the first event opens its span.
    ///
    /// Spans that the prompt has opened are reported with the first byte, at offset 0 and without bytes. No other event and no
    /// offset includes anything of the prompt. `finish`, `reset` and an empty `tail` restore the scanner's own start.
    ///
    /// # Errors
    ///
    /// [`Error::StreamBegun`] if the stream has begun, [`Error::FinishPending`] if the events of a finish were not all pulled,
    /// and [`Error::OutOfMemory`].
    ///
    /// ```
    /// use aside::{Channel, Dialect, Kind, Scanner, Start};
    ///
    /// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
    /// let start = scanner.start_from_prompt("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")?;
    /// assert_eq!(start, Start::Channel(Channel::Thinking));
    /// let mut thinking = Vec::new();
    /// scanner.feed("Greet.\n</think>\n\nHello.", |event| {
    ///     if event.kind == Kind::Text && event.channel == Channel::Thinking {
    ///         thinking.extend_from_slice(event.bytes);
    ///     }
    /// })?;
    /// assert_eq!(thinking, b"Greet.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "aside_scanner_start_from_prompt")]
    #[inline]
    pub fn start_from_prompt(&mut self, tail: impl AsRef<[u8]>) -> Result<Start, Error> {
        self.start_after(tail.as_ref())
    }

    fn start_after(&mut self, tail: &[u8]) -> Result<Start, Error> {
        if self.engine.is_finishing {
            return Err(Error::FinishPending);
        }
        if self.engine.has_begun {
            return Err(Error::StreamBegun);
        }
        let compiled = &*self.dialect.compiled;
        if tail.is_empty() {
            self.engine.begin_stream(compiled);
            return Ok(self.engine.start);
        }
        pull::begin_after(&mut self.engine, compiled, compiled.own_turn(tail))
    }

    /// Returns the start of the next stream: that of the prompt or the options, or else the dialect's start.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Scanner, Start};
    ///
    /// let mut scanner = Scanner::new(&Dialect::find("deepseek-r1")?);
    /// assert_eq!(scanner.start(), Start::Channel(Channel::Thinking));
    /// assert!(scanner.is_start_guessed());
    /// scanner.start_from_prompt("<｜Assistant｜><think>\n")?;
    /// assert!(!scanner.is_start_guessed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "aside_scanner_start")]
    #[must_use]
    pub fn start(&self) -> Start {
        self.engine.prompted_start().unwrap_or(self.engine.start)
    }

    /// Returns whether the next stream's start in the thinking is a guess of the dialect, without a prompt or an option that
    /// confirms it.
    #[must_use]
    pub fn is_start_guessed(&self) -> bool {
        self.engine.is_start_guessed()
    }

    /// Returns the bytes that are held back now. They directly precede the next chunk.
    #[doc(alias = "aside_scanner_held")]
    #[must_use]
    pub fn held(&self) -> &[u8] {
        self.engine.held_of_stream()
    }

    /// Returns the bytes that were held back before the last chunk that was fed by `events` or `token_events`. They directly
    /// preceded that chunk.
    #[doc(hidden)] // For the C interface and the tests.
    #[must_use]
    pub fn before(&self) -> &[u8] {
        self.engine.hold.before()
    }

    /// Returns the maximum number of bytes that are held back. Between two events of a chunk, a marker or a word of a tool call
    /// whose events are still due is held in addition.
    #[doc(alias = "aside_scanner_max_hold")]
    #[must_use]
    pub fn max_hold(&self) -> usize {
        self.dialect.max_hold()
    }

    /// Returns the offset of the next chunk: the number of bytes that were fed since the stream began.
    #[doc(alias = "aside_scanner_offset")]
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.engine.fed()
    }

    /// Removes and returns the oldest whole thought that was not taken yet. Returns `None` if there is none, or if
    /// [`ScannerOptions::collect`] was not set.
    #[doc(alias = "aside_scanner_take_thought")]
    pub fn take_thought(&mut self) -> Option<Thought> {
        self.engine.thoughts_mut()?.take()
    }

    /// Returns the number of whole thoughts that were lost because 1,024 others had not been taken.
    #[must_use]
    pub fn lost_thoughts(&self) -> u64 {
        self.engine.thoughts().map_or(0, |thoughts| thoughts.lost())
    }

    /// Returns the dialect that the scanner was made with.
    #[must_use]
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }
}

impl Clone for Scanner {
    /// # Panics
    ///
    /// Panics if there is no memory for the copy. `try_clone` returns an error instead.
    fn clone(&self) -> Scanner {
        match self.try_clone() {
            Ok(scanner) => scanner,
            Err(error) => panic!("{error}"),
        }
    }
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("dialect", &self.dialect.name())
            .field("channel", &self.channel())
            .field("offset", &self.offset())
            .field("held", &format_args!("\"{}\"", self.held().escape_ascii()))
            .finish_non_exhaustive()
    }
}
