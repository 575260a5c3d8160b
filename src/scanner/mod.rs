//! The scanner: feed and finish over a compiled dialect. It knows no TOML and no FFI.
//!
//! This file is its surface. `engine` is what it remembers of its stream, and the way of a chunk that completes no marker.
//! All other chunks are taken apart by a `call`, which returns one event after the other: it reads on to the next marker
//! (`read`) and reports what was found (`report`). Both work on the `window` of bytes that are in no event yet. What a call
//! leaves to the next one is `pending`. `hold`, `spans` and `ledger` each keep one part of the stream true.

mod attributes;
mod call;
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
mod read;
mod report;
mod spans;
mod thoughts;
mod try_box;
mod window;

use crate::{
    channel::{Channel, Start},
    dialect::Dialect,
};
use chunk::Chunk;
pub use chunk::Token;
pub use counts::{Budget, BudgetScope, BudgetUnit, Counts};
use engine::Engine;
pub(crate) use engine::SHORT;
pub(crate) use engine::Text;
pub use error::Error;
pub use event::{Attribute, Cause, Event, Kind};
pub use options::{Options, StrayClose};
pub use thoughts::Thought;
use window::{Call, EventRef, KindRef};

/// One stream's state over one dialect. It belongs to one thread at a time; scanners share nothing that changes.
///
/// ```
/// use aside::{Channel, Dialect, Kind, Scanner};
///
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// let mut answer = Vec::new();
/// for chunk in ["<thi", "nk>\nhm", "\n</think>\n", "\nYes."] {
///     scanner.feed(chunk.as_bytes(), |event| {
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
    /// A scanner with the dialect's defaults.
    ///
    /// # Panics
    ///
    /// Where there is no memory for it; `with_options` returns an error instead.
    pub fn new(dialect: &Dialect) -> Scanner {
        match Scanner::with_options(dialect, &Options::default()) {
            Ok(scanner) => scanner,
            Err(error) => panic!("{error}"),
        }
    }

    /// A scanner that starts elsewhere, collects thoughts, or has a budget.
    pub fn with_options(dialect: &Dialect, options: &Options) -> Result<Scanner, Error> {
        let engine = Engine::new(&dialect.compiled, options.start.unwrap_or(dialect.start()), options)?;
        Ok(Scanner { dialect: dialect.clone(), engine })
    }

    /// Feeds the next bytes of the stream, cut anywhere, and reports all that is decided.
    #[inline]
    pub fn feed(&mut self, chunk: &[u8], mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        if let Some((channel, offset)) = self.feed_loop(chunk) {
            on_event(Event { kind: Kind::Text, channel, offset, bytes: chunk });
            return Ok(());
        }
        self.feed_any(chunk, on_event)
    }

    fn feed_any(&mut self, chunk: &[u8], mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        let text = if chunk.len() <= SHORT { self.feed_short(chunk) } else { self.feed_long(chunk) };
        match text.filter(|_| !chunk.is_empty()) {
            Some(text) => self.hear(&text, chunk, &mut on_event),
            None if chunk.len() > SHORT && self.is_holding() => return self.feed_parts(chunk, on_event),
            // An empty chunk too delivers what is still due.
            None => return self.events(chunk).for_each(on_event),
        }
        Ok(())
    }

    /// Feeds a long chunk where something is held: what decides that is fed first, and the rest by itself.
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
            let bytes = self.bytes(text, chunk);
            on_event(Event { kind: Kind::Text, channel: self.channel(), offset: text.offset, bytes });
        }
    }

    /// The innermost channel.
    #[inline(always)]
    pub(crate) fn channel(&self) -> Channel {
        self.engine.spans.channel()
    }

    /// Feeds a short chunk of ASCII in which nothing begins: most tokens. Returns channel and offset of its text; in all
    /// other cases none, and nothing is fed. Cannot panic.
    #[inline(always)]
    pub(crate) fn feed_loop(&mut self, chunk: &[u8]) -> Option<(Channel, u64)> {
        let offset = self.engine.advance_in_loop(&self.dialect.compiled, chunk)?;
        Some((self.channel(), offset))
    }

    /// Feeds a short chunk, of at most `SHORT` bytes, that completes no marker, and returns its text; the rest is held. In all
    /// other cases none, and nothing is fed. Cannot panic.
    #[inline(always)]
    pub(crate) fn feed_short(&mut self, chunk: &[u8]) -> Option<Text> {
        self.engine.advance_short(&self.dialect.compiled, chunk)
    }

    /// Feeds a long chunk in the same way, where nothing is held.
    #[inline(always)]
    pub(crate) fn feed_long(&mut self, chunk: &[u8]) -> Option<Text> {
        self.engine.advance_long(&self.dialect.compiled, chunk)
    }

    /// Whether something is held.
    #[inline(always)]
    pub(crate) fn is_holding(&self) -> bool {
        self.engine.is_holding()
    }

    /// How much of a long chunk decides what is held, and is best fed by itself; none where nothing is held.
    #[inline(always)]
    pub(crate) fn first_part(&self, chunk: &[u8]) -> Option<usize> {
        self.engine.first_part(&self.dialect.compiled, chunk)
    }

    /// The bytes of a text that `feed_short` or `feed_long` has returned for this chunk. Cannot panic.
    #[inline(always)]
    pub(crate) fn bytes<'a>(&'a self, text: &Text, chunk: &'a [u8]) -> &'a [u8] {
        let bytes = if text.is_held { self.engine.hold.all() } else { chunk };
        bytes.get(..text.len).unwrap_or_default()
    }

    /// The configuration in which the stream stands.
    #[cfg(test)]
    pub(crate) fn config(&self) -> crate::matcher::automaton::Config {
        let mut scanner = self.clone();
        scanner.engine.leave(&self.dialect.compiled);
        scanner.engine.spans.config(&self.dialect.compiled.grammar)
    }

    /// See `aside_scanner_quiet` and `aside_scanner_skip`, which these are for. They cannot panic.
    #[inline]
    pub(crate) fn quiet(&self) -> Option<(Channel, [u64; 4])> {
        self.engine.quiet(&self.dialect.compiled)
    }

    pub(crate) fn skip(&mut self, len: u64) -> bool {
        self.engine.skip(len)
    }

    /// Feeds bytes whose tokens are known. A dialect's markers that are special (`special = true`) then count only where
    /// a special token begins them, and `counts` tells the tokens of each channel. Elsewhere it is as `feed`. The
    /// tokens' lengths add up to the chunk's; one of no bytes counts nowhere.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Kind, Scanner, Token};
    ///
    /// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
    /// // The model writes about a tag: no added token, but three tokens of text.
    /// let tokens = [Token::text(1), Token::text(5), Token::text(1)];
    /// scanner.feed_tokens(b"<think>", &tokens, |event| {
    ///     assert_eq!((event.kind, event.channel), (Kind::Text, Channel::Content));
    /// })?;
    /// assert_eq!(scanner.counts(Channel::Content).tokens, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn feed_tokens(
        &mut self,
        chunk: &[u8],
        tokens: &[Token],
        mut on_event: impl FnMut(Event<'_>),
    ) -> Result<(), Error> {
        check_lengths(chunk, tokens)?;
        if let Some((channel, offset)) = self.feed_whole_tokens(chunk, tokens) {
            on_event(Event { kind: Kind::Text, channel, offset, bytes: chunk });
            return Ok(());
        }
        self.summed_token_events(chunk, tokens)?.for_each(on_event)
    }

    /// Feeds a chunk that is text to its end, where nothing is held: channel and offset of the event. None, and nothing fed,
    /// in all other cases.
    #[inline]
    pub(crate) fn feed_whole_text(&mut self, chunk: &[u8]) -> Option<(Channel, u64)> {
        self.feed_loop(chunk).or_else(|| {
            let offset = self.engine.advance_whole(&self.dialect.compiled, chunk)?;
            Some((self.channel(), offset))
        })
    }

    /// The same of tokens whose lengths add up.
    #[inline]
    pub(crate) fn feed_whole_tokens(&mut self, chunk: &[u8], tokens: &[Token]) -> Option<(Channel, u64)> {
        // The first tokens make room for what is known of them.
        let text = if self.engine.hold.has_marks() { self.feed_whole_text(chunk)? } else { return None };
        self.engine.add_plain_tokens(tokens.iter().filter(|token| token.len() > 0).count() as u64);
        Some(text)
    }

    /// Ends the stream: resolves what is held, closes what is open. The scanner is then as new.
    pub fn finish(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.finish_events().for_each(on_event)
    }

    /// Releases what is held as text of its channel, and keeps the state.
    pub fn flush(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.flush_events().for_each(on_event)
    }

    /// Closes the thinking that is open: releases what is held as text, and ends the span with the cause `Forced`. Where
    /// the innermost span is no thinking, it does nothing; nor before the first byte, where a prompt has opened one. A
    /// closer that comes next, with only blanks before it, is removed (a fence's is not: it is text).
    pub fn force_close(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.force_close_events().for_each(on_event)
    }

    /// Reports what is held where a tool call stands that is not in the text. As one in the text does, it ends the thinking
    /// if the dialect says so (`ends` of its tool spans); a closer that comes next, with only blanks before it, is removed.
    pub(crate) fn pass_call(&mut self, on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        if self.engine.is_ended_by_calls(&self.dialect.compiled) {
            self.force_close(on_event)?;
        } else {
            self.flush(on_event)?;
        }
        self.engine.expect_closer(&self.dialect.compiled);
        Ok(())
    }

    /// `feed`, one event at a time, so that the caller may stop between two.
    pub fn events<'a>(&'a mut self, chunk: &'a [u8]) -> Events<'a> {
        Events::new(self, Chunk::plain(chunk), Mode::Feed)
    }

    /// `feed_tokens`, one event at a time. Where it was stopped inside a token, the first token of the next call is the
    /// rest of that one.
    pub fn token_events<'a>(&'a mut self, chunk: &'a [u8], tokens: &'a [Token]) -> Result<Events<'a>, Error> {
        check_lengths(chunk, tokens)?;
        self.summed_token_events(chunk, tokens)
    }

    /// `token_events` of tokens whose lengths add up.
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
        Ok(Events::new(self, chunk, Mode::Feed))
    }

    /// `finish`, one event at a time. The stream is not ended before `next` has given `None`.
    pub fn finish_events(&mut self) -> Events<'_> {
        Events::new(self, Chunk::EMPTY, Mode::Finish)
    }

    /// `flush`, one event at a time.
    pub fn flush_events(&mut self) -> Events<'_> {
        Events::new(self, Chunk::EMPTY, Mode::Flush)
    }

    /// `force_close`, one event at a time. The span is not closed before its `Close` was given.
    pub fn force_close_events(&mut self) -> Events<'_> {
        Events::new(self, Chunk::EMPTY, Mode::ForceClose)
    }

    /// Forgets the stream, its counts, and the thoughts that were not taken. The scanner is then as new.
    pub fn reset(&mut self) {
        self.engine.reset(&self.dialect.compiled);
    }

    /// Another scanner in the same state, in mid-stream too: for beams, and for trying again from here. What is fed to
    /// one does not change the other. Thoughts that were not taken are in both.
    pub fn try_clone(&self) -> Result<Scanner, Error> {
        Ok(Scanner { dialect: self.dialect.clone(), engine: self.engine.try_clone()? })
    }

    /// How much of a channel's text was reported since the stream began, or of the stream that was finished last where no
    /// other has begun. What is held counts when it is reported.
    ///
    /// After `finish` they tell an answer that was thinking to its end: `Thinking` has bytes, `Content` and `Tool` have none.
    /// Either the model broke off, or the stream was started in the thinking although that was off; a host that knows it was
    /// off can show the text as the answer.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Scanner};
    ///
    /// let mut scanner = Scanner::new(&Dialect::find("qwen3-thinking")?); // but the request has turned it off
    /// scanner.feed(b"The answer is 42.", |_| ())?;
    /// scanner.finish(|_| ())?;
    /// let bytes = |channel| scanner.counts(channel).bytes;
    /// assert_eq!((bytes(Channel::Thinking), bytes(Channel::Content), bytes(Channel::Tool)), (17, 0, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn counts(&self, channel: Channel) -> Counts {
        self.engine.counts(channel)
    }

    /// Says where the next stream starts, before its first byte: behind a rendered prompt that ends in `tail`. Of that,
    /// what stands behind the last turn marker of the dialect counts (`turns` in its file; all of it where there is none);
    /// markers of earlier turns do not. It is read as if the model had written it: the stream may start inside a span, or
    /// inside a header, and framing or a marker of which the prompt has a part goes on in the stream.
    ///
    /// The spans that are open open with the first byte, at offset 0 and without bytes; offsets and events have nothing
    /// of the prompt. `finish` and `reset` go back to the scanner's own start; so does an empty `tail`.
    ///
    /// Returns where the stream starts. Fails where the stream has begun, or with `OutOfMemory`.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Kind, Scanner, Start};
    ///
    /// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
    /// let start = scanner.start_from_prompt(b"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")?;
    /// assert_eq!(start, Start::Channel(Channel::Thinking));
    /// let mut thinking = Vec::new();
    /// scanner.feed(b"Greet.\n</think>\n\nHello.", |event| {
    ///     if event.kind == Kind::Text && event.channel == Channel::Thinking {
    ///         thinking.extend_from_slice(event.bytes);
    ///     }
    /// })?;
    /// assert_eq!(thinking, b"Greet.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_from_prompt(&mut self, tail: &[u8]) -> Result<Start, Error> {
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
        call::begin_after(&mut self.engine, compiled, compiled.own_turn(tail))
    }

    /// What is held back now. It stands directly before the next chunk.
    pub fn held(&self) -> &[u8] {
        self.engine.held_of_stream()
    }

    /// What was held back when the last call that gives events one by one began; it stood directly before that call's
    /// chunk.
    pub fn before(&self) -> &[u8] {
        self.engine.hold.before()
    }

    /// The most bytes that are held back for what may come. In a pause, a marker whose events are still due is held too.
    pub fn max_hold(&self) -> usize {
        self.dialect.max_hold()
    }

    /// Bytes since the start of the stream: the offset of the next chunk.
    pub fn offset(&self) -> u64 {
        self.engine.fed()
    }

    /// The oldest whole thought that was not taken yet, where collecting is on.
    pub fn take_thought(&mut self) -> Option<Thought> {
        self.engine.thoughts_mut()?.take()
    }

    /// The one that `take_thought` would give.
    pub(crate) fn next_thought(&self) -> Option<&Thought> {
        self.engine.thoughts()?.first()
    }

    /// Whole thoughts that were not kept, because 1,024 were waiting.
    pub fn lost_thoughts(&self) -> u64 {
        self.engine.thoughts().map_or(0, |thoughts| thoughts.lost())
    }

    /// The dialect that it was made with.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }
}

impl Clone for Scanner {
    /// # Panics
    ///
    /// Where there is no memory for it; `try_clone` returns an error instead.
    fn clone(&self) -> Scanner {
        match self.try_clone() {
            Ok(scanner) => scanner,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Which call the events are of.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Feed,
    Flush,
    ForceClose,
    Finish,
}

/// The events of one call, pulled one by one. Dropped early, it is stopped: what is left of the chunk behind `consumed`
/// goes into the next call, where events still due come first.
#[must_use = "nothing is fed until the events are pulled"]
pub struct Events<'a> {
    call: Call<'a>,
    mode: Mode,
}

impl<'a> Events<'a> {
    fn new(scanner: &'a mut Scanner, chunk: Chunk<'a>, mode: Mode) -> Events<'a> {
        let Scanner { dialect, engine } = scanner;
        Events { call: Call::new(&dialect.compiled, engine, chunk), mode }
    }

    /// The next event; `None` when all that is decided has been reported.
    #[allow(clippy::should_implement_trait)] // An event lives until the next one is pulled, which `Iterator` cannot say.
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        let event = match self.mode {
            Mode::Finish => self.call.next_of_finish()?,
            _ if self.call.engine.is_finishing => return Err(Error::FinishPending),
            Mode::Flush => self.call.next_of_flush()?,
            Mode::ForceClose => self.call.next_of_force_close()?,
            Mode::Feed => self.call.next_of_feed(false)?,
        };
        Ok(event.map(|event| with_bytes(event, &self.call)))
    }

    /// Bytes of the chunk that are done and must not be fed again: reported, held back, or of a marker whose last
    /// events are still due.
    pub fn consumed(&mut self) -> usize {
        self.call.consumed()
    }

    fn for_each(mut self, mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
        while let Some(event) = self.next()? {
            on_event(event);
        }
        Ok(())
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        if self.call.consumed() > 0 && self.mode == Mode::Feed {
            self.call.engine.end_tokens(self.call.is_inside_token());
        }
    }
}

/// The tokens' lengths add up to the chunk's.
pub(crate) fn check_lengths(chunk: &[u8], tokens: &[Token]) -> Result<(), Error> {
    let len = tokens.iter().map(|token| u64::from(token.len())).sum::<u64>();
    if len == chunk.len() as u64 { Ok(()) } else { Err(Error::TokenLengths) }
}

/// Gives an event its bytes.
fn with_bytes<'a>(event: EventRef, call: &'a Call<'_>) -> Event<'a> {
    let EventRef { kind, channel, offset, len, place } = event;
    let bytes = place.bytes(&call.engine.hold, call.chunk.bytes, len);
    let kind = match kind {
        KindRef::Open { rule, tag } => Kind::Open { rule: rule.into(), tag: tag.into() },
        KindRef::Attribute(index) => match call.engine.attribute(index) {
            Some(attribute) => Kind::Attribute(attribute),
            None => unreachable!("an attribute is reported before it is forgotten"),
        },
        KindRef::Text => Kind::Text,
        KindRef::Framing => Kind::Framing,
        KindRef::Close(cause) => Kind::Close(cause),
        KindRef::Reclassify => Kind::Reclassify,
        KindRef::Budget => Kind::Budget,
    };
    Event { kind, channel, offset, bytes }
}

/// The content of a whole text, without ASCII white space at both ends.
///
/// ```
/// let dialect = aside::Dialect::find("thinking-tags")?;
/// assert_eq!(aside::strip(&dialect, b"<thought>hm</thought>\nYes.")?, b"Yes.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn strip(dialect: &Dialect, text: &[u8]) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    content.try_reserve_exact(text.len())?;
    let mut keep = |event: Event<'_>| match event.kind {
        Kind::Text if event.channel == Channel::Content => content.extend_from_slice(event.bytes),
        Kind::Reclassify => content.clear(),
        _ => {}
    };
    let mut scanner = Scanner::with_options(dialect, &Options::default())?;
    scanner.feed(text, &mut keep)?;
    scanner.finish(&mut keep)?;
    content.truncate(thoughts::trim_end(&content).len());
    content.drain(..content.len() - thoughts::trim_start(&content).len());
    Ok(content)
}

#[cfg(test)]
mod tests {
    use samples::Random;

    use super::{Channel, Counts, Kind, Options, Scanner, Start, StrayClose};
    use crate::Dialect;

    /// Channel, offset and bytes of what came; text that was cut is joined, and other events are told by their kind.
    #[derive(Debug, Default, PartialEq)]
    struct Heard(Vec<(String, Channel, u64, Vec<u8>)>);

    impl Heard {
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

    /// Feeds as a host does that passes over what is quiet; `late`: `skip` comes behind plain text. Gives how much passed.
    fn feed_quietly(scanner: &mut Scanner, heard: &mut Heard, chunks: &[&[u8]], late: bool) -> u64 {
        let (mut quiet, mut skipped, mut passed) = (None, 0, 0);
        for chunk in chunks {
            if let Some((channel, set)) = quiet
                && chunk.iter().all(|&byte| (set as [u64; 4])[usize::from(byte / 64)] >> (byte % 64) & 1 == 1)
            {
                heard.add("Text".into(), channel, scanner.offset() + skipped, chunk);
                skipped += chunk.len() as u64;
                passed += chunk.len() as u64;
                continue;
            }
            if late && let Some((channel, offset)) = scanner.feed_whole_text(chunk) {
                heard.add("Text".into(), channel, offset + skipped, chunk);
            } else {
                assert!(skipped == 0 || scanner.skip(skipped), "behind {heard:?}");
                skipped = 0;
                scanner.feed(chunk, |event| heard.event(event)).unwrap();
            }
            quiet = scanner.quiet();
        }
        assert!(skipped == 0 || scanner.skip(skipped), "behind {heard:?}");
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
                        let options = Options { start, ..Options::default() };
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
                        let (mut wanted, mut got) = (Heard::default(), Heard::default());
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
                for stray_close in [StrayClose::Dialect, StrayClose::Text] {
                    for end in 0..=input.len() {
                        let options = Options { start, stray_close, ..Options::default() };
                        let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
                        scanner.feed(&input[..end], |_| {}).unwrap();
                        scanner.feed(b"\n Then comes prose, as most text is.", |_| {}).unwrap();
                        // A value in a tag goes on. Where few streams are, the table has no code.
                        let is_rare = stray_close == StrayClose::Text && input[..end].contains(&b'`');
                        if scanner.held().is_empty() && !is_rare {
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
        let dialect = Dialect::from_toml(&format!("name = 'tags'\nspan = [{{ {span} }}]")).unwrap();
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
        assert!(refused(&mut scanner), "behind the end");
        let budget = crate::Budget { limit: 100, unit: crate::BudgetUnit::Bytes, scope: crate::BudgetScope::Span };
        for options in
            [Options { budget: Some(budget), ..Options::default() }, Options { collect: Some(9), ..Options::default() }]
        {
            let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
            scanner.feed(b"<think>a", |_| {}).unwrap();
            assert!(refused(&mut scanner), "{options:?}");
        }
    }
}
