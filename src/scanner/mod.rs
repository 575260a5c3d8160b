//! The scanner: feed and finish over a compiled dialect. It must know neither TOML nor the C interface.
//!
//! This file is its surface. `engine` is what it remembers of its stream, and handles a chunk that completes no marker; so does
//! `pieces` inside the body of a tool span. All other chunks are taken apart by a `pull`, which returns one event after the
//! other: it reads on to the next marker (`read`) and reports what was found (`report`). Both work on the `window` of bytes that
//! are in no event yet. What a pull leaves to the next one is `pending`. `hold`, `spans` and `ledger` each own one part of the
//! stream's state.

mod attributes;
mod calls;
mod chunk;
mod counts;
mod engine;
mod error;
mod event;
#[cfg(test)]
mod explored;
mod hold;
mod ledger;
mod optional;
mod options;
mod pending;
mod pieces;
mod pull;
mod read;
mod report;
mod spans;
mod strip;
mod thoughts;
mod window;

use std::fmt;

use crate::{
    calls::body::{CallEnd, Piece},
    channel::{Channel, Start},
    dialect::{Dialect, compiled::Compiled},
};
use chunk::Chunk;
pub use chunk::Token;
pub use counts::{Budget, BudgetScope, BudgetUnit, Counts};
use engine::Engine;
pub(crate) use engine::SHORT;
pub(crate) use engine::Text;
pub use error::Error;
pub use event::{Attribute, Cause, Event, Kind};
pub use options::{CallsInThinking, ScannerOptions, StrayClose};
pub use thoughts::Thought;
use window::{EventRef, KindRef, Pull};

/// Splits one stream at a time by the rules of a dialect.
///
/// A scanner can be sent to another thread. Scanners share nothing that changes, so threads need no locks for them. `Clone` and
/// `try_clone` copy one in the middle of a stream.
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
    dialect: Dialect,
    engine: Engine,
}

impl Scanner {
    /// Makes a scanner with the default options.
    ///
    /// # Panics
    ///
    /// Panics if there is no memory for it. `with_options` returns an error instead.
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

    /// Feeds the next bytes of the stream, cut anywhere, and reports all that is decided.
    ///
    /// Only bytes that could still become a marker, or that begin a character, are held back: at most
    /// [`max_hold`](Scanner::max_hold).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::FinishPending`] if the events of a finish were not all pulled.
    #[doc(alias = "aside_scanner_feed")]
    #[doc(alias = "aside_scanner_feed_text")]
    #[inline]
    pub fn feed(&mut self, chunk: impl AsRef<[u8]>, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.feed_bytes(chunk.as_ref(), on_event)
    }

    #[inline]
    fn feed_bytes(&mut self, chunk: &[u8], mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        if let Some((_, offset)) = self.feed_loop(chunk) {
            on_event(self.event(Kind::Text, offset, chunk));
            return Ok(());
        }
        self.feed_any(chunk, on_event)
    }

    fn feed_any(&mut self, chunk: &[u8], mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        let text = if chunk.len() <= SHORT { self.feed_short(chunk) } else { self.feed_long(chunk) };
        match text.filter(|_| !chunk.is_empty()) {
            Some(text) => self.hear(&text, chunk, &mut on_event),
            None if chunk.len() > SHORT && self.is_holding() => return self.feed_parts(chunk, on_event),
            None => {
                let value = self.feed_value(chunk).map(|(piece, offset)| (piece, offset, chunk.len()));
                if let Some((piece, offset, len)) = value.or_else(|| self.feed_piece(chunk)) {
                    if len > 0 {
                        on_event(self.event(call_kind(&self.engine, &self.dialect.compiled, piece, 0), offset, chunk));
                    }
                    return Ok(());
                }
                let mut hear = |event: Event<'_>| {
                    on_event(event);
                    true
                };
                let (fed, is_done) = self.feed_pieces(chunk, &mut hear);
                // An empty chunk too delivers what is still due.
                if !is_done {
                    return self.events(&chunk[fed..]).for_each(on_event);
                }
            }
        }
        Ok(())
    }

    /// Returns whether the automaton has no state for where the stream stands, as inside the body of a tool span.
    #[cfg(feature = "c-api")]
    #[inline(always)]
    pub(crate) fn is_outside_table(&self) -> bool {
        self.engine.state.is_fallback()
    }

    /// Feeds a short chunk of ASCII inside of a value, or of framing. Returns which, and its offset. In all other cases it returns
    /// none and feeds nothing. Cannot panic.
    #[inline(always)]
    pub(crate) fn feed_value(&mut self, chunk: &[u8]) -> Option<(Piece, u64)> {
        self.engine.advance_in_value(&self.dialect.compiled, chunk)
    }

    /// Feeds a short chunk that is one piece inside the body of a tool span: value, framing or text. Returns which, its offset and
    /// its length, which is 0 if all is held. In all other cases it returns none and feeds nothing. Cannot panic.
    pub(crate) fn feed_piece(&mut self, chunk: &[u8]) -> Option<(Piece, u64, usize)> {
        self.engine.advance_in_piece(&self.dialect.compiled, chunk)
    }

    /// Feeds a chunk inside the body of a tool span, until `on_event` returns false or only `events` can tell what comes next.
    /// Returns how much was fed, and whether nothing is left of it.
    pub(crate) fn feed_pieces(&mut self, chunk: &[u8], on_event: &mut impl FnMut(Event<'_>) -> bool) -> (usize, bool) {
        if self.engine.advance_after_opener(&self.dialect.compiled, chunk) {
            return (chunk.len(), true);
        }
        let mut fed = 0;
        while let Some(part) = self.engine.advance_in_body(&self.dialect.compiled, &chunk[fed..]) {
            if part.len > 0 || part.piece != Piece::Text {
                let kind = call_kind(&self.engine, &self.dialect.compiled, part.piece, part.index);
                let bytes = part.place.bytes(&self.engine.hold, &chunk[fed..], part.len);
                if !on_event(self.event(kind, part.offset, bytes)) {
                    return (fed + part.fed, false);
                }
            }
            fed += part.fed;
            if part.is_last {
                return (fed, true);
            }
        }
        (fed, false)
    }

    /// Feeds a long chunk where something is held: first the bytes that decide that, and then the rest by itself.
    fn feed_parts(&mut self, chunk: &[u8], mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        let mut rest = chunk;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(self.first_part(rest).unwrap_or(rest.len()));
            let text = if part.len() <= SHORT { self.feed_short(part) } else { self.feed_long(part) };
            let Some(text) = text else { return self.events(rest).for_each(on_event) };
            self.hear(&text, part, &mut on_event);
            rest = after;
        }
        Ok(())
    }

    #[inline(always)]
    fn hear(&self, text: &Text, chunk: &[u8], on_event: &mut impl FnMut(Event<'_>)) {
        if text.len > 0 {
            on_event(self.event(Kind::Text, text.offset, self.bytes(text, chunk)));
        }
    }

    /// Returns an event of the innermost channel that has just been reported, and in which no token begins.
    #[inline(always)]
    fn event<'a>(&self, kind: Kind<'a>, offset: u64, bytes: &'a [u8]) -> Event<'a> {
        Event { kind, channel: self.channel(), offset, bytes, first_token: self.first_token(), tokens: 0 }
    }

    /// Returns how many tokens begin before the next byte to be reported.
    #[inline(always)]
    pub(crate) fn first_token(&self) -> u64 {
        self.engine.ledger.tokens()
    }

    /// Returns the innermost channel.
    #[inline(always)]
    pub(crate) fn channel(&self) -> Channel {
        self.engine.spans.channel()
    }

    /// Feeds a short chunk of ASCII in which nothing begins, as most tokens are. Returns channel and offset of its text. In all
    /// other cases it returns none and feeds nothing. Cannot panic.
    #[inline(always)]
    pub(crate) fn feed_loop(&mut self, chunk: &[u8]) -> Option<(Channel, u64)> {
        let offset = self.engine.advance_in_loop(&self.dialect.compiled, chunk)?;
        Some((self.channel(), offset))
    }

    /// Feeds a short chunk, of at most `SHORT` bytes, that completes no marker, and returns its text; the rest is held. In all
    /// other cases it returns none and feeds nothing. Cannot panic.
    #[inline(always)]
    pub(crate) fn feed_short(&mut self, chunk: &[u8]) -> Option<Text> {
        self.engine.advance_short(&self.dialect.compiled, chunk)
    }

    /// Feeds a long chunk in the same way, where nothing is held.
    #[inline(always)]
    pub(crate) fn feed_long(&mut self, chunk: &[u8]) -> Option<Text> {
        self.engine.advance_long(&self.dialect.compiled, chunk)
    }

    /// Returns whether something is held.
    #[inline(always)]
    pub(crate) fn is_holding(&self) -> bool {
        self.engine.is_holding()
    }

    /// Returns how much of a long chunk decides what is held, and is best fed by itself. None if nothing is held.
    #[inline(always)]
    pub(crate) fn first_part(&self, chunk: &[u8]) -> Option<usize> {
        self.engine.first_part(&self.dialect.compiled, chunk)
    }

    /// Returns the bytes of a text that `feed_short` or `feed_long` has returned for this chunk. Cannot panic.
    #[inline(always)]
    pub(crate) fn bytes<'a>(&'a self, text: &Text, chunk: &'a [u8]) -> &'a [u8] {
        let bytes = if text.is_held { self.engine.hold.all() } else { chunk };
        bytes.get(..text.len).unwrap_or_default()
    }

    /// Returns the configuration in which the stream stands.
    #[cfg(test)]
    pub(crate) fn config(&self) -> crate::matcher::automaton::Config {
        let mut scanner = self.clone();
        scanner.engine.leave(&self.dialect.compiled);
        scanner.engine.spans.config(&self.dialect.compiled.grammar)
    }

    /// Returns whether the stream stands in a body that is read by tables of calls.
    #[cfg(test)]
    pub(crate) fn is_in_body(&self) -> bool {
        self.engine.body().is_some()
    }

    /// Returns what `aside_scanner_quiet` returns. Cannot panic.
    #[cfg(feature = "c-api")]
    #[inline]
    pub(crate) fn quiet(&self) -> Option<(Channel, [u64; 4])> {
        self.engine.quiet(&self.dialect.compiled)
    }

    /// Does what `aside_scanner_skip` does. Cannot panic.
    #[cfg(feature = "c-api")]
    pub(crate) fn skip(&mut self, len: u64) -> bool {
        self.engine.skip(len)
    }

    /// Feeds bytes whose tokens are known.
    ///
    /// Markers that the dialect calls special (`special = true`) then count only where a special token begins, each event
    /// says which tokens begin in it ([`first_token`](Event::first_token), [`tokens`](Event::tokens)), and
    /// [`counts`](Scanner::counts) returns the tokens of each channel. In all else it does what `feed` does. A token without
    /// bytes is not counted.
    ///
    /// # Errors
    ///
    /// [`Error::TokenLengths`] if the tokens' lengths do not add up to the chunk's; otherwise as `feed`.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Kind, Scanner, Token};
    ///
    /// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
    /// // The model writes about a tag: no added token, but three tokens of text.
    /// let tokens = [Token::text(1), Token::text(5), Token::text(1)];
    /// scanner.feed_tokens("<think>", &tokens, |event| {
    ///     assert_eq!((event.kind, event.channel), (Kind::Text, Channel::Content));
    /// })?;
    /// assert_eq!(scanner.counts(Channel::Content).tokens, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "aside_scanner_feed_tokens")]
    #[inline]
    pub fn feed_tokens(
        &mut self,
        chunk: impl AsRef<[u8]>,
        tokens: &[Token],
        on_event: impl FnMut(Event<'_>),
    ) -> Result<(), Error> {
        self.feed_token_bytes(chunk.as_ref(), tokens, on_event)
    }

    fn feed_token_bytes(
        &mut self,
        chunk: &[u8],
        tokens: &[Token],
        mut on_event: impl FnMut(Event<'_>),
    ) -> Result<(), Error> {
        check_lengths(chunk, tokens)?;
        if let Some(event) = self.feed_whole_tokens(chunk, tokens) {
            on_event(event);
            return Ok(());
        }
        self.summed_token_events(chunk, tokens)?.for_each(on_event)
    }

    /// Feeds a chunk that is text to its end, where nothing is held. Returns channel and offset of the event. In all other
    /// cases it returns none and feeds nothing.
    #[inline]
    pub(crate) fn feed_whole_text(&mut self, chunk: &[u8]) -> Option<(Channel, u64)> {
        self.feed_loop(chunk).or_else(|| {
            let offset = self.engine.advance_whole(&self.dialect.compiled, chunk)?;
            Some((self.channel(), offset))
        })
    }

    /// Does the same for tokens whose lengths add up, and returns the event.
    #[inline]
    pub(crate) fn feed_whole_tokens<'a>(&mut self, chunk: &'a [u8], tokens: &[Token]) -> Option<Event<'a>> {
        // The first tokens make room for what is known of them.
        let (_, offset) = if self.engine.hold.has_marks() { self.feed_whole_text(chunk)? } else { return None };
        let tokens = tokens.iter().filter(|token| token.len() > 0).count() as u32;
        let event = Event { tokens, ..self.event(Kind::Text, offset, chunk) };
        self.engine.add_plain_tokens(tokens);
        Some(event)
    }

    /// Ends the stream: resolves what is held and closes what is open. The next feed begins a new stream.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[doc(alias = "aside_scanner_finish")]
    pub fn finish(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.finish_events().for_each(on_event)
    }

    /// Releases what is held as text of its channel. The stream goes on.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::FinishPending`] if the events of a finish were not all pulled.
    #[doc(alias = "aside_scanner_flush")]
    pub fn flush(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.flush_events().for_each(on_event)
    }

    /// Closes the thinking that is open: releases what is held as text, and ends the span with the cause
    /// [`Forced`](Cause::Forced). A tool span whose calls the dialect describes is closed too, and so is the call in it.
    ///
    /// It does nothing if the innermost span is neither of these, nor before the first byte of a stream whose prompt has
    /// opened one. A closer that comes next, with only blanks before it, is removed. The closer of a fence is not: it is text.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::FinishPending`] if the events of a finish were not all pulled.
    #[doc(alias = "aside_scanner_force_close")]
    pub fn force_close(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.force_close_events().for_each(on_event)
    }

    /// Reports what is held before a tool call that is not in the text. Like a call in the text, it ends the thinking if the
    /// dialect says so (`ends` of its tool spans). A closer that comes next, with only blanks before it, is removed.
    pub(crate) fn pass_call(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        if self.engine.is_ended_by_calls(&self.dialect.compiled) {
            self.force_close(on_event)?;
        } else {
            self.flush(on_event)?;
        }
        self.engine.expect_closer(&self.dialect.compiled);
        Ok(())
    }

    /// Feeds as [`feed`](Scanner::feed) does, one event at a time: the caller may stop after each.
    #[doc(alias = "aside_scanner_feed_into")]
    pub fn events<'a>(&'a mut self, chunk: &'a (impl AsRef<[u8]> + ?Sized)) -> Events<'a> {
        Events::new(self, Chunk::plain(chunk.as_ref()), Method::Feed)
    }

    /// Feeds as [`feed_tokens`](Scanner::feed_tokens) does, one event at a time. After a stop inside a token, the first token
    /// of the next call is the rest of that one.
    ///
    /// # Errors
    ///
    /// [`Error::TokenLengths`], [`Error::FinishPending`] and [`Error::OutOfMemory`]; nothing was fed then.
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

    /// Does what `token_events` does, for tokens whose lengths add up.
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
        Ok(Events::new(self, chunk, Method::Feed))
    }

    /// Ends the stream as [`finish`](Scanner::finish) does, one event at a time. The stream has ended once `next` has returned
    /// `None`.
    #[doc(alias = "aside_scanner_finish_into")]
    pub fn finish_events(&mut self) -> Events<'_> {
        Events::new(self, Chunk::EMPTY, Method::Finish)
    }

    /// Releases what is held as [`flush`](Scanner::flush) does, one event at a time.
    #[doc(alias = "aside_scanner_flush_into")]
    pub fn flush_events(&mut self) -> Events<'_> {
        Events::new(self, Chunk::EMPTY, Method::Flush)
    }

    /// Closes the thinking as [`force_close`](Scanner::force_close) does, one event at a time. The span is closed once its
    /// `Close` was returned.
    #[doc(alias = "aside_scanner_force_close_into")]
    pub fn force_close_events(&mut self) -> Events<'_> {
        Events::new(self, Chunk::EMPTY, Method::ForceClose)
    }

    /// Forgets the stream, its counts, the thoughts that were not taken, and every error. The next feed begins a new stream.
    #[doc(alias = "aside_scanner_reset")]
    pub fn reset(&mut self) {
        self.engine.reset(&self.dialect.compiled);
    }

    /// Returns a copy in the same state, in the middle of a stream too: for beams, and to try again from here. What is fed to
    /// one does not change the other. Thoughts that were not taken are in both.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[doc(alias = "aside_scanner_clone")]
    pub fn try_clone(&self) -> Result<Scanner, Error> {
        Ok(Scanner { dialect: self.dialect.clone(), engine: self.engine.try_clone()? })
    }

    /// Returns how much text of a channel was reported since the stream began. After a finish, these are the counts of the
    /// stream that has ended, until another begins. What is held is counted when it is reported.
    ///
    /// After `finish`, they show whether an answer was thinking to its end: `Thinking` has bytes, `Content` and `Tool` have
    /// none. Either the model broke off, or the stream was started in the thinking although that was off. A host that knows it
    /// was off can show the text as the answer.
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

    /// Says where the next stream starts, before its first byte: after a rendered prompt that ends with `tail`. Returns where
    /// that is.
    ///
    /// Of the tail, only what comes after the last turn marker of the dialect counts (`turns` in its file), or all of it if
    /// there is none. It is read as if the model had written it: the stream may start inside a span or inside a header, and a
    /// marker or framing that the prompt begins goes on in the stream.
    ///
    /// What the prompt leaves undecided is not open: a marker that is cut off, and an opener of a tool call that counts only if
    /// a call comes after it. The start is then what is open around it. If the stream decides that the opener counts, the first
    /// event opens its span.
    ///
    /// Spans that the prompt has opened are reported with the first byte, at offset 0 and without bytes. No other event and no
    /// offset has anything of the prompt. `finish`, `reset` and an empty `tail` go back to the scanner's own start.
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

    /// Returns the bytes that are held back now. They stand directly before the next chunk.
    #[doc(alias = "aside_scanner_held")]
    #[must_use]
    pub fn held(&self) -> &[u8] {
        self.engine.held_of_stream()
    }

    /// Returns the bytes that were held back when the last chunk came whose events are pulled one at a time. They stood directly
    /// before that chunk.
    #[doc(hidden)] // For the C interface and the tests.
    #[must_use]
    pub fn before(&self) -> &[u8] {
        self.engine.hold.before()
    }

    /// Returns the most bytes that are held back for what may come. Between two events of a chunk, a marker or a word of a
    /// tool call whose events are still due is held too.
    #[doc(alias = "aside_scanner_max_hold")]
    #[must_use]
    pub fn max_hold(&self) -> usize {
        self.dialect.max_hold()
    }

    /// Returns the offset of the next chunk: how many bytes were fed since the stream began.
    #[doc(alias = "aside_scanner_offset")]
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.engine.fed()
    }

    /// Takes the oldest whole thought that was not taken yet. None if there is none, or if
    /// [`ScannerOptions::collect`] was not set.
    #[doc(alias = "aside_scanner_take_thought")]
    pub fn take_thought(&mut self) -> Option<Thought> {
        self.engine.thoughts_mut()?.take()
    }

    /// Returns how many whole thoughts were lost because 1,024 others had not been taken.
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
    /// Panics if there is no memory for it. `try_clone` returns an error instead.
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

/// The scanner's method whose events are pulled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Feed,
    Flush,
    ForceClose,
    Finish,
}

/// The events of one method call of a scanner, pulled one at a time.
///
/// To drop it early is to stop the call. The bytes of the chunk after [`consumed`](Events::consumed) then go into the next
/// call, which first returns the events that are still due. A host that ends the stream need not feed them: every method then
/// does with the bytes that were consumed what it does at the end of any call. Events that were returned stay as they are, also
/// where the rest of the chunk has decided them.
///
/// ```
/// use aside::{Dialect, Kind, Scanner};
///
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// let chunk = b"<think>hm</think>Yes.";
/// let mut events = scanner.events(chunk);
/// while let Some(event) = events.next()? {
///     if matches!(event.kind, Kind::Close(_)) {
///         break;
///     }
/// }
/// let rest = &chunk[events.consumed()..];
/// drop(events);
/// assert_eq!(rest, b"Yes.");
/// scanner.feed(rest, |event| assert_eq!(event.bytes, b"Yes."))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is fed until the events are pulled"]
pub struct Events<'a> {
    pull: Pull<'a>,
    method: Method,
}

impl<'a> Events<'a> {
    fn new(scanner: &'a mut Scanner, chunk: Chunk<'a>, method: Method) -> Events<'a> {
        let Scanner { dialect, engine } = scanner;
        Events { pull: Pull::new(&dialect.compiled, engine, chunk), method }
    }

    /// Returns the next event, or `None` when all that is decided has been reported.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::FinishPending`] if the events of a finish were not all pulled.
    #[allow(clippy::should_implement_trait)] // An event lives until the next one is pulled, which `Iterator` cannot say.
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        let event = match self.method {
            Method::Finish => self.pull.next_of_finish(),
            _ if self.pull.engine.is_finishing => Err(Error::FinishPending),
            Method::Flush => self.pull.next_of_flush(),
            Method::ForceClose => self.pull.next_of_force_close(),
            Method::Feed => self.pull.next_of_feed(false),
        };
        let event = event.inspect_err(|_| self.pull.has_failed = true)?;
        Ok(event.map(|event| with_bytes(event, &self.pull)))
    }

    /// Returns how many bytes of the chunk must not be fed again: they are reported, held back, or of a marker or a word of a
    /// tool call whose last events are still due.
    #[doc(alias = "aside_scanner_consumed")]
    pub fn consumed(&mut self) -> usize {
        self.pull.consumed()
    }

    fn for_each(mut self, mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        while let Some(event) = self.next()? {
            on_event(event);
        }
        Ok(())
    }
}

impl fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("call", &self.method).finish_non_exhaustive()
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        if self.pull.consumed() > 0 && self.method == Method::Feed {
            self.pull.engine.end_tokens(self.pull.is_inside_token());
        }
    }
}

/// Fails unless the tokens' lengths add up to the chunk's.
pub(crate) fn check_lengths(chunk: &[u8], tokens: &[Token]) -> Result<(), Error> {
    let len = tokens.iter().map(|token| u64::from(token.len())).sum::<u64>();
    if len == chunk.len() as u64 { Ok(()) } else { Err(Error::TokenLengths) }
}

/// Returns what a piece of a call is for the host.
fn call_kind<'a>(engine: &'a Engine, compiled: &Compiled, piece: Piece, index: u64) -> Kind<'a> {
    match piece {
        Piece::Text => Kind::Text,
        Piece::Framing => Kind::Framing,
        Piece::Call { table } => {
            let rule = engine.spans.innermost().map_or(0, |span| span.rule);
            Kind::Call { rule: rule.into(), table: table.into(), index }
        }
        Piece::Name => Kind::CallName(None),
        Piece::NameOfHeader => {
            let tables = compiled.calls(engine.spans.region());
            let name = tables.and_then(|tables| engine.name_of_header(tables)).and_then(|(index, prefix)| {
                engine.attributes.get(index).and_then(|attribute| attribute.value.get(prefix..))
            });
            Kind::CallName(Some(name.unwrap_or_default()))
        }
        Piece::Id => Kind::CallId,
        Piece::Key => Kind::CallKey,
        Piece::Type => Kind::CallType,
        Piece::Value => Kind::CallValue,
        Piece::ValueEnd => Kind::CallValueEnd,
        Piece::End(end) => {
            let cause = match end {
                CallEnd::Marker => Cause::Marker,
                CallEnd::Implied => Cause::Implied,
                CallEnd::EndOfText => Cause::EndOfStream,
                CallEnd::Forced => Cause::Forced,
                CallEnd::Malformed => Cause::Malformed,
            };
            Kind::CallEnd { index, cause }
        }
    }
}

/// Returns the event with its bytes.
fn with_bytes<'a>(event: EventRef, pull: &'a Pull<'_>) -> Event<'a> {
    let EventRef { kind, channel, offset, len, place, tokens } = event;
    let bytes = place.bytes(&pull.engine.hold, pull.chunk.bytes, len);
    let kind = match kind {
        KindRef::Open { rule, tag } => Kind::Open { rule: rule.into(), tag: tag.into() },
        KindRef::Attribute(index) => match pull.engine.attribute(index) {
            Some(attribute) => Kind::Attribute(attribute),
            None => unreachable!("an attribute is reported before it is forgotten"),
        },
        KindRef::Text => Kind::Text,
        KindRef::Framing => Kind::Framing,
        KindRef::Close(cause) => Kind::Close(cause),
        KindRef::Reclassify => Kind::Reclassify,
        KindRef::Budget => Kind::Budget,
        KindRef::Call { piece, index } => call_kind(pull.engine, pull.compiled, piece, index),
    };
    let first_token = pull.engine.ledger.tokens() - u64::from(tokens);
    Event { kind, channel, offset, bytes, first_token, tokens }
}

#[cfg(test)]
mod tests {
    use samples::Random;

    use super::{Channel, Counts, Kind, Scanner, ScannerOptions, Start, StrayClose};
    use crate::Dialect;

    /// Channel, offset and bytes of what came; text that was cut is joined, and other events are told by their kind.
    #[derive(Debug, Default, PartialEq)]
    struct Recorded(Vec<(String, Channel, u64, Vec<u8>)>);

    impl Recorded {
        fn add(&mut self, kind: String, channel: Channel, offset: u64, bytes: &[u8]) {
            match self.0.last_mut() {
                Some((last, of, _, text)) if *last == kind && kind == "Text" && *of == channel => text.extend(bytes),
                _ => self.0.push((kind, channel, offset, bytes.to_vec())),
            }
        }

        fn event(&mut self, event: super::Event<'_>) {
            let kind = match &event.kind {
                Kind::Attribute(attribute) => format!("{:?}={:?}", attribute.name, attribute.value),
                kind => format!("{kind:?}"),
            };
            self.add(kind, event.channel, event.offset, event.bytes);
        }
    }

    /// Feeds as a host does that passes over what is quiet; `late`: `skip` comes after plain text. Returns how much passed.
    fn feed_quietly(scanner: &mut Scanner, recorded: &mut Recorded, chunks: &[&[u8]], late: bool) -> u64 {
        let (mut quiet, mut skipped, mut passed) = (None, 0, 0);
        for chunk in chunks {
            if let Some((channel, set)) = quiet
                && chunk.iter().all(|&byte| (set as [u64; 4])[usize::from(byte / 64)] >> (byte % 64) & 1 == 1)
            {
                recorded.add("Text".into(), channel, scanner.offset() + skipped, chunk);
                skipped += chunk.len() as u64;
                passed += chunk.len() as u64;
                continue;
            }
            if late && let Some((channel, offset)) = scanner.feed_whole_text(chunk) {
                recorded.add("Text".into(), channel, offset + skipped, chunk);
            } else {
                assert!(skipped == 0 || scanner.skip(skipped), "after {recorded:?}");
                skipped = 0;
                scanner.feed(chunk, |event| recorded.event(event)).unwrap();
            }
            quiet = scanner.quiet();
        }
        assert!(skipped == 0 || scanner.skip(skipped), "after {recorded:?}");
        passed
    }

    #[test]
    fn what_is_quiet_may_be_skipped() {
        let mut random = Random::new(11);
        let starts = [Start::Channel(Channel::Content), Start::Channel(Channel::Thinking), Start::Header];
        let mut passed = 0;
        for name in Dialect::names() {
            let dialect = Dialect::find(name).unwrap();
            let file = format!("{}/dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let file: toml::Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            let examples = file["example"].as_array().unwrap().iter().map(|example| example["input"].as_str().unwrap());
            let prose = "It is 42, and `so`:\n\n```\nlet a = b < c;\n```\n# Ja, schön < dort.\n - \"it\"'s\n~~~ 'a' = ";
            for input in examples {
                // Prose everywhere, between markers too.
                let words = input.split_inclusive(['>', '\n', ' ']);
                let mixed: String = words.map(|word| format!("{word}{}", &prose[..random.below(50)])).collect();
                for text in [input.as_bytes(), mixed.as_bytes(), format!("{input}{prose}{input}").as_bytes()] {
                    for start in [None, Some(starts[0]), Some(starts[1]), Some(starts[2])] {
                        let options = ScannerOptions::new().start(start);
                        let (Ok(mut plain), Ok(mut quiet)) =
                            (Scanner::with_options(&dialect, &options), Scanner::with_options(&dialect, &options))
                        else {
                            continue;
                        };
                        let mut at = 0;
                        let mut chunks = Vec::new();
                        while at < text.len() {
                            let end = text.len().min(at + 1 + random.below(6));
                            chunks.push(&text[at..end]);
                            at = end;
                        }
                        let (mut wanted, mut got) = (Recorded::default(), Recorded::default());
                        plain.feed(text, |event| wanted.event(event)).unwrap();
                        passed += feed_quietly(&mut quiet, &mut got, &chunks, random.below(2) == 0);
                        assert_eq!((quiet.offset(), quiet.held()), (plain.offset(), plain.held()), "{name}");
                        plain.finish(|event| wanted.event(event)).unwrap();
                        quiet.finish(|event| got.event(event)).unwrap();
                        assert_eq!(got, wanted, "{name}, cut into {:?}", chunks);
                        let counts = |scanner: &Scanner| Channel::ALL.map(|channel| scanner.counts(channel));
                        assert_eq!(counts(&quiet), counts(&plain), "{name}");
                        assert_ne!(counts(&quiet), [Counts::default(); 4], "{name}");
                    }
                }
            }
        }
        assert!(passed > 100_000, "{passed} bytes passed");
    }

    #[test]
    fn prose_is_in_the_table_wherever_an_example_leads() {
        let mut places = 0;
        for name in Dialect::names() {
            let dialect = Dialect::find(name).unwrap();
            let file = format!("{}/dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let file: toml::Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            for example in file["example"].as_array().unwrap() {
                let input = example["input"].as_str().unwrap().as_bytes();
                let start = example.get("start").map(|start| start.as_str().unwrap().parse().unwrap());
                for stray_close in [StrayClose::Dialect, StrayClose::Text, StrayClose::Drop] {
                    for end in 0..=input.len() {
                        let options = ScannerOptions::new().start(start).stray_close(stray_close);
                        let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
                        scanner.feed(&input[..end], |_| {}).unwrap();
                        scanner.feed(b"\n Then comes prose, as most text is.", |_| {}).unwrap();
                        // A value in a tag goes on. Where few streams are, the table has no code.
                        let is_rare = stray_close != StrayClose::Dialect && input[..end].contains(&b'`');
                        if scanner.held().is_empty() && !is_rare && !scanner.is_in_body() {
                            let shown = input[..end].escape_ascii();
                            assert!(
                                scanner.feed_whole_text(b"More").is_some(),
                                "{name}: not in the table after \"{shown}\""
                            );
                            places += 1;
                        }
                    }
                }
            }
        }
        assert!(places > 20_000, "{places}");
    }

    #[test]
    fn nothing_is_quiet_where_each_byte_counts() {
        let span = r#"channel = "thinking", open = ["<think>"], close = ["</think>"]"#;
        let dialect = Dialect::load(&format!("name = 'tags'\nspan = [{{ {span} }}]")).unwrap();
        let mut scanner = Scanner::new(&dialect);
        let refused = |scanner: &mut Scanner| {
            let offset = scanner.offset();
            scanner.quiet().is_none() && !scanner.skip(1) && scanner.offset() == offset
        };
        assert!(refused(&mut scanner), "before the first byte");
        scanner.feed(b"<think>a", |_| {}).unwrap();
        assert!(matches!(scanner.quiet(), Some((Channel::Thinking, set)) if set[0] >> b'<' & 1 == 0));
        assert!(!scanner.skip(u64::MAX) && !scanner.skip(1 << 63) && scanner.skip(2));
        assert_eq!(scanner.offset(), 10);
        scanner.feed(b"b<", |_| {}).unwrap();
        assert!(refused(&mut scanner), "with a byte held back");
        scanner.finish(|_| {}).unwrap();
        assert!(refused(&mut scanner), "after the end");
        let budget = crate::Budget::new(100, crate::BudgetUnit::Bytes, crate::BudgetScope::Span);
        for options in [ScannerOptions::new().budget(budget), ScannerOptions::new().collect(9)] {
            let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
            scanner.feed(b"<think>a", |_| {}).unwrap();
            assert!(refused(&mut scanner), "{options:?}");
        }
    }
}
