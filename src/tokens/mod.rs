//! Finds the channels of a stream's tokens by their ids. An inference engine uses ids to decide where a grammar applies and how
//! long the thinking was, and sends text to its client. Both must agree, so the ids are turned into text, which a scanner reads.
//! This module uses the scanner, and only finds the tokens of each event.

mod vocabulary;

use std::{collections::VecDeque, fmt, sync::Arc};

use crate::{
    channel::{Channel, Start},
    dialect::Dialect,
    scanner::{Cause, Error, Event, Kind, Scanner, ScannerOptions, Token, reclassified},
};

pub use vocabulary::{TokenBytes, Vocabulary};

/// The role of a token in its channel.
///
/// ```
/// assert_eq!(aside::Role::Marker.as_str(), "marker");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Text of the channel. Everything between the markers of a tool call is text.
    Text,
    /// The token begins a marker, which opens or closes a span of the channel.
    Marker,
    /// White space or a marker that is removed.
    Framing,
}

impl Role {
    /// Returns `text`, `marker` or `framing`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        ["text", "marker", "framing"][self as usize]
    }
}

/// The state of one stream's token ids: the channel of each token, and whether and where the thinking has ended.
///
/// All results are the same as those of a [`Scanner`] that is fed the tokens' text. A token belongs to the channel of its first
/// byte. The time is proportional to the number of ids.
///
/// ```
/// use std::sync::Arc;
/// use aside::{Channel, Dialect, Role, TokenState, Vocabulary};
///
/// let tokens = [("<think>", true), ("</think>", true), ("<tool_call>", true), ("hm", false), ("\n\n", false), ("Yes", false)];
/// let vocabulary = Arc::new(Vocabulary::new(tokens));
/// let mut state = TokenState::new(&Dialect::find("qwen3")?, vocabulary, &[], None)?;
/// let mut seen = Vec::new();
/// state.push(&[0, 3, 3], |channel, role| seen.push((channel, role)))?;
/// assert!(!state.has_ended_thinking());
/// assert_eq!(state.find_end(&[3, 1, 4])?, Some(1));
/// state.push(&[1, 4, 5], |channel, role| seen.push((channel, role)))?;
/// assert!(state.has_ended_thinking());
/// assert_eq!(state.content_ids().collect::<Vec<_>>(), [4, 5]);
/// assert_eq!(state.count(Channel::Thinking), 2);
/// assert_eq!(seen[..2], [(Channel::Thinking, Role::Marker), (Channel::Thinking, Role::Text)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TokenState {
    scanner: Scanner,
    vocabulary: Arc<dyn TokenBytes>,
    reading: Reading,
    /// The number of bytes that were fed.
    fed: u64,
}

/// The effect of an event on tokens.
enum Decided {
    Token(Channel, Role),
    /// All content so far was thinking, or all thinking was content. The field is the right channel.
    Reclassified(Channel),
}

impl Decided {
    fn report(self, on_token: &mut impl FnMut(Channel, Role)) {
        if let Decided::Token(channel, role) = self {
            on_token(channel, role);
        }
    }
}

/// The state that results from the events so far.
#[derive(Clone, Default)]
struct Reading {
    /// The tokens that are in no event yet: their ids, and the offsets of their first bytes.
    waiting: VecDeque<(u64, u32)>,
    /// The number of open thinking spans.
    depth: u32,
    has_ended: bool,
    /// Whether all content so far was reclassified as thinking, and the closer that shows it is the next event.
    is_closing: bool,
    /// The ids after the end of the thinking, or the ids of the content if there was no thinking so far. `waiting` is not
    /// included.
    content: Vec<u32>,
    counts: [u64; 4],
}

impl TokenState {
    /// Makes the state of a stream that follows the ids of a prompt. `start` is the span that is open at the first token if
    /// there is no prompt; with `None`, the dialect decides.
    ///
    /// A prompt is read after its last turn marker, as by [`Scanner::start_from_prompt`]. Ids without such a marker are read
    /// as the beginning of the answer, from `start` on. If thinking is closed in them, it has ended.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchStart`] if the dialect has no such start, and [`Error::OutOfMemory`].
    pub fn new(
        dialect: &Dialect,
        vocabulary: Arc<dyn TokenBytes>,
        prompt: &[u32],
        start: Option<Start>,
    ) -> Result<TokenState, Error> {
        let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start))?;
        let mut text = Vec::new();
        for &id in prompt {
            vocabulary.read(id, &mut text);
        }
        let turn = dialect.compiled.own_turn(&text);
        let mut reading = Reading::default();
        let mut fed = 0;
        if turn.len() < text.len() {
            scanner.start_from_prompt(&text)?;
        } else {
            // The ids have no turn marker, so their text is part of the model's turn.
            scanner.feed(turn, |event| reading.take(&event, &mut |_| ()))?;
            fed = turn.len() as u64;
        }
        let has_ended = ends_thinking(dialect, turn, start)?;
        let reading = Reading { has_ended, counts: [0; 4], content: Vec::new(), ..reading };
        Ok(TokenState { scanner, vocabulary, reading, fed })
    }

    /// Reads the next ids of the stream. Calls `on_token` for each token that is decided now, in the order of the stream. These
    /// may be fewer tokens than were pushed, or more.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn push(&mut self, ids: &[u32], mut on_token: impl FnMut(Channel, Role)) -> Result<(), Error> {
        self.read(ids, &mut |decided| decided.report(&mut on_token))
    }

    fn read(&mut self, ids: &[u32], on_decided: &mut impl FnMut(Decided)) -> Result<(), Error> {
        let TokenState { scanner, vocabulary, reading, fed } = self;
        reading.waiting.try_reserve(ids.len())?;
        let (mut text, mut tokens) = (Vec::new(), Vec::new());
        tokens.try_reserve(ids.len())?;
        for &id in ids {
            let begin = text.len();
            let is_special = vocabulary.read(id, &mut text);
            let len = (text.len() - begin) as u32;
            reading.waiting.push_back((*fed, id));
            *fed += u64::from(len);
            tokens.extend(is_special.map(|special| if special { Token::special(len) } else { Token::text(len) }));
        }
        // Make room for all tokens that may become content.
        reading.content.try_reserve(reading.waiting.len())?;
        let mut take = |event: Event<'_>| reading.take(&event, on_decided);
        if tokens.is_empty() {
            scanner.feed(&text, &mut take)
        } else {
            scanner.feed_tokens(&text, &tokens, &mut take)
        }?;
        if scanner.has_closed() && !reading.has_ended && reading.depth == 0 {
            // A closer has arrived without open thinking.
            reading.has_ended = true;
        }
        Ok(())
    }

    /// Ends the stream and decides all tokens. Ids that are pushed after that begin another stream, at the dialect's start.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn finish(&mut self, mut on_token: impl FnMut(Channel, Role)) -> Result<(), Error> {
        self.end(&mut |decided| decided.report(&mut on_token))
    }

    fn end(&mut self, on_decided: &mut impl FnMut(Decided)) -> Result<(), Error> {
        let TokenState { scanner, reading, fed, .. } = self;
        let channel = scanner.channel();
        scanner.finish(|event| reading.take(&event, on_decided))?;
        // Only tokens without bytes are left.
        reading.settle(u64::MAX, channel, Role::Framing, on_decided);
        *fed = 0;
        Ok(())
    }

    /// Returns the channel and role of each of these ids, as if they were the rest of the stream. The state does not change. If a
    /// closer without an opener shows that all content before it was thinking, the ids before it are reported as thinking. For
    /// rollouts and training.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use aside::{Channel, Dialect, Role, TokenState, Vocabulary};
    ///
    /// let vocabulary = Arc::new(Vocabulary::new([("<think>", true), ("</think>", true), ("hm", false), ("Yes", false)]));
    /// let state = TokenState::new(&Dialect::find("qwen3")?, vocabulary, &[], None)?;
    /// let channels = state.channels(&[0, 2, 1, 3])?;
    /// assert_eq!(channels[1..3], [(Channel::Thinking, Role::Text), (Channel::Thinking, Role::Marker)]);
    /// assert_eq!(channels[3], (Channel::Content, Role::Text));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn channels(&self, ids: &[u32]) -> Result<Vec<(Channel, Role)>, Error> {
        let mut copy = self.try_clone()?;
        // The number of earlier ids that are not decided yet.
        let before = copy.reading.waiting.len();
        let mut found: Vec<(Channel, Role)> = Vec::new();
        found.try_reserve_exact(before + ids.len())?;
        let mut take = |decided| match decided {
            Decided::Token(channel, role) => found.push((channel, role)),
            Decided::Reclassified(to) => {
                found.iter_mut().for_each(|(channel, _)| *channel = reclassified(*channel, to));
            }
        };
        copy.read(ids, &mut take)?;
        copy.end(&mut take)?;
        found.drain(..before);
        Ok(found)
    }

    /// Returns whether the thinking has ended, at any time, and no thinking is open. It ends with a closer in the prompt or the
    /// stream, with a marker that ends it without a closer, or when the model begins to answer or to call a tool without thinking.
    #[must_use]
    pub fn has_ended_thinking(&self) -> bool {
        self.reading.has_ended && self.reading.depth == 0
    }

    /// Returns the index, among proposed next ids, of the id with which the thinking ends. The state does not change. For
    /// speculative decoding.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn find_end(&self, ids: &[u32]) -> Result<Option<usize>, Error> {
        let mut copy = self.try_clone()?;
        for (at, &id) in ids.iter().enumerate() {
            copy.push(&[id], |_, _| ())?;
            if copy.has_ended_thinking() {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Returns the ids that were pushed since the thinking has ended: the ids after its closer, or from the token on that ended it
    /// without a closer. If there was no thinking, these are all ids of the answer. While the thinking has not ended, there are
    /// none.
    pub fn content_ids(&self) -> impl Iterator<Item = u32> + '_ {
        let is_content = self.has_ended_thinking();
        let ids = self.reading.content.iter().copied().chain(self.reading.waiting.iter().map(|&(_, id)| id));
        ids.take_while(move |_| is_content)
    }

    /// Returns the number of decided tokens that are text of a channel.
    #[must_use]
    pub fn count(&self, channel: Channel) -> u64 {
        self.reading.counts[channel as usize]
    }

    /// Returns a copy, for streams that begin with the same tokens.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn try_clone(&self) -> Result<TokenState, Error> {
        let TokenState { vocabulary, reading, fed, .. } = self;
        Ok(TokenState {
            scanner: self.scanner.try_clone()?,
            vocabulary: vocabulary.clone(),
            reading: reading.clone(),
            fed: *fed,
        })
    }
}

impl fmt::Debug for TokenState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenState").field("has_ended_thinking", &self.has_ended_thinking()).finish_non_exhaustive()
    }
}

impl Reading {
    fn take(&mut self, event: &Event<'_>, on_decided: &mut impl FnMut(Decided)) {
        let end = event.offset + event.bytes.len() as u64;
        let role = match event.kind {
            Kind::Open { .. } | Kind::Close(_) => Role::Marker,
            Kind::Framing => Role::Framing,
            _ => Role::Text,
        };
        let is_thinking = event.channel == Channel::Thinking;
        match event.kind {
            Kind::Open { .. } if is_thinking => {
                self.depth += 1;
                if !self.has_ended {
                    self.content.clear();
                }
            }
            Kind::Open { .. } if event.channel == Channel::Tool && self.depth == 0 && !self.has_ended => {
                self.has_ended = true;
            }
            Kind::Reclassify => {
                self.reclassify(event.channel);
                on_decided(Decided::Reclassified(event.channel));
            }
            Kind::Text if event.channel == Channel::Content && self.depth == 0 && !self.has_ended => {
                self.has_ended = !is_blank(event.bytes);
            }
            // The marker is removed, and only blanks precede it, so no content precedes it.
            Kind::Framing if !self.has_ended && !is_blank(event.bytes) => self.content.clear(),
            _ => {}
        }
        self.settle(end, event.channel, role, on_decided);
        let closes = match event.kind {
            Kind::Open { .. } => event.channel == Channel::Content && self.depth == 0 && !self.has_ended,
            Kind::Close(cause) => is_thinking && cause != Cause::EndOfStream,
            Kind::Framing => std::mem::take(&mut self.is_closing),
            _ => false,
        };
        if let Kind::Close(_) = event.kind
            && is_thinking
        {
            self.depth = self.depth.saturating_sub(1);
        }
        if closes {
            self.end();
        }
    }

    /// Ends the thinking: the content begins with the first token that is not decided.
    fn end(&mut self) {
        self.has_ended = true;
        self.content.clear();
    }

    /// Reports the channel and role of each token that begins before an offset.
    fn settle(&mut self, end: u64, channel: Channel, role: Role, on_decided: &mut impl FnMut(Decided)) {
        while let Some(&(at, id)) = self.waiting.front()
            && at < end
        {
            self.waiting.pop_front();
            self.counts[channel as usize] += u64::from(role == Role::Text);
            let is_answer = channel == Channel::Content && role == Role::Text;
            if self.depth == 0 && (self.has_ended || is_answer) {
                self.content.push(id);
            }
            on_decided(Decided::Token(channel, role));
        }
    }

    fn reclassify(&mut self, to: Channel) {
        let from = if to == Channel::Thinking { Channel::Content } else { Channel::Thinking };
        self.counts[to as usize] += std::mem::take(&mut self.counts[from as usize]);
        self.is_closing = to == Channel::Thinking;
        self.content.clear();
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}

/// Returns whether the thinking has ended at the end of a prompt. `turn` is the prompt's text after its last turn marker. A
/// closer without an opener counts, because it means that the model must not think. With a start in the content, the thinking has
/// ended from the beginning.
fn ends_thinking(dialect: &Dialect, turn: &[u8], start: Option<Start>) -> Result<bool, Error> {
    let with = |start| Scanner::with_options(dialect, &ScannerOptions::new().start(start));
    let scanner = match with(start.or(Some(Start::Channel(Channel::Thinking)))) {
        Err(Error::NoSuchStart) => with(None),
        made => made,
    };
    // Content without thinking before it does not show that the model will not think.
    let mut reading = Reading { has_ended: start == Some(Start::Channel(Channel::Content)), ..Reading::default() };
    scanner?.feed(turn, |event| {
        if event.kind != Kind::Text {
            reading.take(&event, &mut |_| ());
        }
    })?;
    Ok(reading.has_ended && reading.depth == 0)
}
