//! Feeds chunks: `advance` reads a chunk part by part, and a pull reads the rest. Most chunks are a single part, so the code for
//! that case must stay short.

use super::{
    advance::{Part, Take},
    chunk::{Token, check_lengths},
    engine::SHORT,
    error::Error,
    event::{Event, Kind},
    events::call_kind,
    stream::Scanner,
};
use crate::calls::body::Piece;

impl Scanner {
    /// Feeds the next bytes of the stream, cut anywhere, and reports all events that are decided.
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
    pub fn feed(&mut self, chunk: impl AsRef<[u8]>, mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        let chunk = chunk.as_ref();
        if let Some(part) = self.advance_in_loop(chunk) {
            on_event(self.event(&part, chunk));
            return Ok(());
        }
        let hear = |event: Event<'_>| {
            on_event(event);
            true
        };
        match chunk.len() <= SHORT {
            true => self.feed_at_once::<true>(chunk, hear),
            false => self.feed_at_once::<false>(chunk, hear),
        }
    }

    /// Feeds a chunk, which is short if `IS_SHORT`, for a host that never stops. Most chunks are fed as one part, and the code
    /// for long chunks must not slow down the code for short ones.
    #[inline(never)]
    fn feed_at_once<const IS_SHORT: bool>(
        &mut self,
        chunk: &[u8],
        mut on_event: impl FnMut(Event<'_>) -> bool,
    ) -> Result<(), Error> {
        if (chunk.len() <= SHORT) == IS_SHORT
            && let Some(part) = self.advance(chunk, Take::Whole)
        {
            if part.len > 0 {
                on_event(self.event(&part, chunk));
            }
            return Ok(());
        }
        self.push::<IS_SHORT>(chunk, 0, on_event).1
    }

    /// Feeds the rest of a chunk, which begins at `fed`, until `on_event` returns false. Returns the number of bytes of the chunk that
    /// are consumed.
    ///
    /// Outside bodies of calls, `HAS_PIECES` is false, so that the loop need not check the kind of a part.
    #[inline(never)]
    pub(crate) fn push<const HAS_PIECES: bool>(
        &mut self,
        chunk: &[u8],
        mut fed: usize,
        mut on_event: impl FnMut(Event<'_>) -> bool,
    ) -> (usize, Result<(), Error>) {
        let take = if HAS_PIECES { Take::Pieces } else { Take::Parts };
        while let Some(part) = self.advance(&chunk[fed..], take) {
            let goes_on = !part.has_event() || on_event(self.event(&part, &chunk[fed..]));
            fed += part.fed;
            if part.is_last {
                return (fed, Ok(()));
            }
            if !goes_on {
                return (fed + self.hold_due(&chunk[fed..]), Ok(()));
            }
        }
        if !HAS_PIECES {
            return self.push::<true>(chunk, fed, on_event);
        }
        let (done, result) = self.events(&chunk[fed..]).until(on_event);
        (fed + done, result)
    }

    /// Holds the first bytes of `rest` that must be held if the host stops before `rest`. Returns their number.
    fn hold_due(&mut self, rest: &[u8]) -> usize {
        if self.engine.body().is_some() { self.events(rest).consumed() } else { 0 }
    }

    /// Returns the event of a part of this chunk that was just fed. The part must have an event, and no token may begin in it.
    #[inline(always)]
    fn event<'a>(&'a self, part: &Part, chunk: &'a [u8]) -> Event<'a> {
        let kind = match part.piece {
            Piece::Text => Kind::Text,
            Piece::Value => Kind::CallValue,
            Piece::Framing => Kind::Framing,
            piece => call_kind(&self.engine, &self.dialect.compiled, piece, self.engine.last_call()),
        };
        let (bytes, first_token) = (self.bytes(part, chunk), self.first_token());
        Event { kind, channel: self.channel(), offset: part.offset, bytes, first_token, tokens: 0 }
    }

    /// Returns the bytes of a part of this chunk that was just fed. Cannot panic.
    #[inline(always)]
    pub(crate) fn bytes<'a>(&'a self, part: &Part, chunk: &'a [u8]) -> &'a [u8] {
        if part.is_held { self.engine.hold.last_reported(part.len) } else { chunk.get(..part.len).unwrap_or_default() }
    }

    /// Feeds bytes whose tokens are known.
    ///
    /// Markers that the dialect calls special (`special = true`) then count only where a special token begins. Each event has
    /// the tokens that begin in it ([`first_token`](Event::first_token), [`tokens`](Event::tokens)), and
    /// [`counts`](Scanner::counts) returns the tokens of each channel. Otherwise it is like `feed`. A token without bytes is
    /// not counted.
    ///
    /// # Errors
    ///
    /// [`Error::TokenLengths`] if the tokens' lengths do not add up to the chunk's, and the errors of `feed`.
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
        mut on_event: impl FnMut(Event<'_>),
    ) -> Result<(), Error> {
        let chunk = chunk.as_ref();
        check_lengths(chunk, tokens)?;
        if let Some(event) = self.feed_whole_tokens(chunk, tokens) {
            on_event(event);
            return Ok(());
        }
        self.summed_token_events(chunk, tokens)?.for_each(on_event)
    }

    /// Feeds a chunk that is text to its end, with tokens whose lengths add up, if nothing is held. Returns its event. In all
    /// other cases it returns `None` and feeds nothing.
    #[inline]
    pub(crate) fn feed_whole_tokens<'a>(&mut self, chunk: &'a [u8], tokens: &[Token]) -> Option<Event<'a>> {
        // The first tokens allocate memory for their marks.
        let part = if self.engine.hold.has_marks() { self.advance(chunk, Take::WholeText)? } else { return None };
        let tokens = tokens.iter().filter(|token| token.len() > 0).count() as u32;
        let event = Event {
            tokens,
            first_token: self.first_token(),
            kind: Kind::Text,
            channel: self.channel(),
            offset: part.offset,
            bytes: chunk,
        };
        self.engine.add_plain_tokens(tokens);
        Some(event)
    }
}
