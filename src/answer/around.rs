//! Decides which text around calls is sent. Models write blanks between calls, close a region twice, and end their turn with a
//! token that the server did not remove. These texts are not part of an answer, and clients refuse a block that has only blanks.
//! So blanks are held here until the text after them arrives, and are removed if that is a call.
//!
//! | before | blanks come | a token comes | other text comes | a call comes |
//! |---|---|---|---|---|
//! | nothing, or thinking | they wait | it waits | the waiting bytes are sent, then the text | the waiting bytes are removed |
//! | content | they wait | it is text | the waiting bytes are sent, then the text | the waiting bytes are removed |
//! | a call | they are removed | it is removed | it is sent | |
//!
//! A token is framing listed in [`Tokens`]. In a choice with content before and after the calls, the first blanks that were removed
//! are sent before the later content. If calls are not wanted, tokens are text, and blanks wait only where a block would begin with
//! them.

use super::parts::{Parts, Target};
use crate::calls::table::{BodyRule, CallTable};
use crate::matcher::bytes::{ByteSet, contains, insert};
use crate::memory::{self, TryBox, append};
use crate::{Channel, Dialect, Event, Kind};

/// The maximum number of bytes that wait. More bytes are sent as text.
const MOST: usize = 4096;

/// The shortest closer or opener that is framing. An answer may begin with shorter ones.
const SHORTEST: usize = 4;

/// The maximum number of blanks in a section without a call.
const MOST_IN_SECTION: usize = 64;

/// Tokens of all families that end a text, a turn or a model's part of a turn, one on a line. A text may have a token of a family
/// other than the dialect's.
const END_TOKENS: &str = include_str!("end_tokens.txt");

/// The framing around calls, besides blanks: closers of the dialect's tool spans, calls and values; sections without a call; and
/// tokens that end or begin a turn.
struct Tokens {
    dialect: Dialect,
    /// The first bytes of all tokens.
    first: ByteSet,
}

/// The result of examining the beginning of a text.
#[derive(Clone, Copy, PartialEq)]
enum Beginning {
    Text,
    /// The text begins with an incomplete token.
    Partial,
    /// The text begins with a token of this length.
    Token(usize),
}

impl Tokens {
    fn new(dialect: &Dialect) -> Tokens {
        let mut tokens = Tokens { dialect: dialect.clone(), first: [0; 4] };
        let mut first = [0; 4];
        tokens.all().chain(tokens.openers()).for_each(|literal| insert(&mut first, literal[0]));
        tokens.first = first;
        tokens
    }

    /// Returns the closers of tool spans, calls and values, without those that are so short that a text may begin with them.
    fn closers(&self) -> impl Iterator<Item = &[u8]> {
        let tables = self.dialect.compiled.calls.iter().flatten();
        let all = tables.flat_map(|tables| {
            tables.closes.iter().map(|close| &close[..]).chain(tables.tables.iter().flat_map(closers_of))
        });
        all.filter(|close| close.len() >= SHORTEST)
    }

    fn openers(&self) -> impl Iterator<Item = &[u8]> {
        let blocks = &self.dialect.compiled.templates.calls;
        blocks.iter().map(|block| &block.open[..]).filter(|open| open.len() >= SHORTEST)
    }

    fn all(&self) -> impl Iterator<Item = &[u8]> {
        let turns = self.dialect.compiled.turns.iter().map(|turn| &turn[..]);
        self.closers().chain(turns).chain(END_TOKENS.lines().map(str::as_bytes))
    }

    /// Examines the beginning of a text, which must not be empty. With `at_end`, nothing follows the text.
    fn beginning(&self, text: &[u8], at_end: bool) -> Beginning {
        if !contains(&self.first, text[0]) {
            return Beginning::Text;
        }
        let mut longest = 0;
        let mut is_partial = false;
        for token in self.all() {
            match text.starts_with(token) {
                true => longest = longest.max(token.len()),
                false => is_partial |= token.starts_with(text),
            }
        }
        for open in self.openers() {
            let Some(rest) = text.strip_prefix(open) else {
                is_partial |= open.starts_with(text);
                continue;
            };
            let close = rest.trim_ascii_start();
            if rest.len() - close.len() > MOST_IN_SECTION {
                continue;
            }
            for closer in self.closers() {
                match close.starts_with(closer) {
                    true => longest = longest.max(text.len() - close.len() + closer.len()),
                    false => is_partial |= closer.starts_with(close),
                }
            }
        }
        match longest {
            _ if is_partial && !at_end => Beginning::Partial,
            0 => Beginning::Text,
            _ => Beginning::Token(longest),
        }
    }
}

/// Returns the closers of a table's calls, and of their values.
fn closers_of(table: &CallTable) -> [&[u8]; 2] {
    match &table.body {
        BodyRule::Tags(rule) => [&table.end, &rule.value[1]],
        _ => [&table.end, b""],
    }
}

/// The bytes that wait around the calls of one text, and the kind of text that was sent last.
pub struct Around {
    tokens: TryBox<Tokens>,
    /// Whether each stretch that is sent may begin a block.
    begins_blocks: bool,
    waiting: Vec<u8>,
    /// The number of bytes at the beginning of `waiting` that are blanks and whole tokens.
    known: usize,
    /// Waiting blanks of the thinking, where a block would begin with them.
    thinking: Vec<u8>,
    last: Option<Target>,
    /// Whether content has been sent.
    has_content: bool,
    /// The first blanks that were removed around calls since that content. They are sent if more content follows, so that its
    /// words stay separate.
    between: Vec<u8>,
    /// Whether `between` is complete, so that no later blanks are added to it.
    has_between: bool,
}

impl Around {
    pub fn new(begins_blocks: bool) -> Around {
        Around {
            tokens: TryBox::NONE,
            begins_blocks,
            waiting: Vec::new(),
            known: 0,
            thinking: Vec::new(),
            last: None,
            has_content: false,
            between: Vec::new(),
            has_between: false,
        }
    }

    /// Begins to look for framing around calls.
    pub fn look_for_calls(&mut self, dialect: &Dialect) -> memory::Result<()> {
        self.tokens.made_by(|| Tokens::new(dialect)).map(drop)
    }

    /// Resets the state to the start of a text.
    pub fn begin(&mut self) {
        *self = Around::new(self.begins_blocks);
    }

    /// Removes the first `len` bytes that wait. The first blanks among them are kept in `between`.
    fn take_away(&mut self, len: usize) -> memory::Result<()> {
        let Around { waiting, between, has_between, .. } = self;
        let framing = &waiting[..len];
        let has_room = self.has_content && !self.begins_blocks && between.len() + len <= MOST;
        match framing.trim_ascii().is_empty() {
            true if has_room && !*has_between => append(between, framing)?,
            true => {}
            false => *has_between |= !between.is_empty(),
        }
        waiting.drain(..len);
        Ok(())
    }

    /// Returns the number of bytes that wait.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.thinking.len()
    }
}

/// Returns whether an event is thinking or belongs to it: a marker, blanks after it, or a closer without an opener, which is framing
/// of the content.
fn is_of_thinking(event: &Event<'_>, closer: &[u8]) -> bool {
    let is_around = |bytes: &[u8]| bytes.trim_ascii().is_empty() || bytes.eq_ignore_ascii_case(closer);
    event.channel == Channel::Thinking || event.kind == Kind::Framing && is_around(event.bytes)
}

/// The destination of a text's stretches. It makes blanks and tokens around calls wait.
pub struct Sink<'a> {
    pub parts: &'a mut Parts,
    pub around: &'a mut Around,
    /// The closer of the thinking, if the thinking stays in the content with its markers.
    pub inline: Option<&'a [u8]>,
}

impl Sink<'_> {
    /// Reads an event that is not part of an emitted call.
    pub fn take(&mut self, event: &Event<'_>) -> memory::Result<()> {
        match (event.channel, &event.kind) {
            (_, Kind::Budget) => self.parts.push_budget(),
            _ if self.inline.is_some_and(|closer| is_of_thinking(event, closer)) => self.push_content(event.bytes),
            (Channel::Thinking, Kind::Reclassify) => {
                self.settle(true)?;
                self.let_go()?;
                if self.parts.takes_back() {
                    self.around.last = Some(Target::Reasoning);
                }
                self.parts.content_was_thinking()
            }
            (Channel::Thinking, Kind::Text) => self.push_thinking(event.bytes),
            // Text of a call is kept as the model wrote it, for the host's parser.
            (Channel::Tool, _) | (Channel::Content | Channel::Narration, Kind::Text) => self.push_content(event.bytes),
            _ => Ok(()),
        }
    }

    /// Returns whether no text waits, because no calls are looked for and no stretch may begin a block.
    fn waits_for_nothing(&self) -> bool {
        self.around.tokens.get().is_none() && !self.around.begins_blocks
    }

    pub fn push_thinking(&mut self, bytes: &[u8]) -> memory::Result<()> {
        if bytes.is_empty() || self.waits_for_nothing() {
            return self.parts.push_thinking(bytes);
        }
        match self.around.last {
            // The waiting bytes follow content, so they do not begin a block.
            Some(Target::Content) if self.around.begins_blocks => self.let_go()?,
            _ => self.settle(true)?,
        }
        let is_blank = bytes.trim_ascii_start().is_empty();
        let mut bytes = bytes;
        if self.is_behind_call() {
            bytes = bytes.trim_ascii_start();
        } else if is_blank && self.around.begins_blocks && self.around.last != Some(Target::Reasoning) {
            let Around { thinking, .. } = self.around;
            if thinking.len() + bytes.len() <= MOST {
                return append(thinking, bytes);
            }
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.around.last = Some(Target::Reasoning);
        self.parts.push_thinking(&self.around.thinking)?;
        memory::clear(&mut self.around.thinking);
        self.parts.push_thinking(bytes)
    }

    pub fn push_content(&mut self, mut bytes: &[u8]) -> memory::Result<()> {
        if self.waits_for_nothing() {
            return self.parts.push_content(bytes);
        }
        let is_looking = self.around.tokens.get().is_some();
        while !bytes.is_empty() {
            if self.around.last == Some(Target::Content) {
                // Blanks at the end of the text wait, since a call may follow.
                let text = if is_looking { bytes.trim_ascii_end().len() } else { bytes.len() };
                let (text, blanks) = bytes.split_at(text);
                if !text.is_empty() {
                    self.let_go()?;
                    self.parts.push_content(text)?;
                }
                return self.wait(blanks);
            }
            // Bytes that wait are examined one by one, so that it does not matter where the text was cut.
            let (first, rest) = bytes.split_at(1);
            bytes = rest;
            self.wait(first)?;
            self.settle(false)?;
        }
        Ok(())
    }

    /// Appends bytes to the waiting ones.
    fn wait(&mut self, mut bytes: &[u8]) -> memory::Result<()> {
        while !bytes.is_empty() {
            let room = MOST - self.around.waiting.len();
            if room == 0 {
                self.let_go()?;
                continue;
            }
            let (first, rest) = bytes.split_at(room.min(bytes.len()));
            append(&mut self.around.waiting, first)?;
            bytes = rest;
        }
        Ok(())
    }

    /// Decides for as many of the waiting bytes as possible whether they are text.
    fn settle(&mut self, at_end: bool) -> memory::Result<()> {
        loop {
            let is_behind_call = self.is_behind_call();
            let Around { tokens, waiting, known, .. } = &mut *self.around;
            let new = &waiting[*known..];
            let Some(&first) = new.first() else { return Ok(()) };
            let beginning = match tokens.get() {
                _ if first.is_ascii_whitespace() => Beginning::Token(1),
                Some(tokens) => tokens.beginning(new, at_end),
                None => Beginning::Text,
            };
            match beginning {
                Beginning::Partial => return Ok(()),
                Beginning::Token(len) if is_behind_call => self.around.take_away(len)?,
                Beginning::Token(len) => *known += len,
                Beginning::Text => return self.text_came(),
            }
        }
    }

    /// Sends the waiting bytes, because they turned out to be text. Blanks at their end continue to wait, because a call may
    /// follow.
    fn text_came(&mut self) -> memory::Result<()> {
        let Around { tokens, waiting, .. } = &*self.around;
        let text = if tokens.get().is_some() { waiting.trim_ascii_end().len() } else { waiting.len() };
        let blanks = memory::copy(&waiting[text..])?;
        self.around.waiting.truncate(text);
        self.let_go()?;
        self.wait(&blanks)
    }

    /// Sends all waiting bytes as content.
    fn let_go(&mut self) -> memory::Result<()> {
        if self.around.waiting.is_empty() {
            return Ok(());
        }
        let Around { between, waiting, known, last, has_content, has_between, .. } = &mut *self.around;
        self.parts.push_content(between)?;
        self.parts.push_content(waiting)?;
        between.clear();
        memory::clear(waiting);
        (*known, *last, *has_content, *has_between) = (0, Some(Target::Content), true, false);
        Ok(())
    }

    /// Releases the waiting bytes, if they do not begin a block of blanks.
    pub fn release(&mut self) -> memory::Result<()> {
        self.settle(true)?;
        let Around { begins_blocks, waiting, last, .. } = &*self.around;
        let is_alone = *begins_blocks && last.is_some_and(|last| last != Target::Content);
        if is_alone && waiting.trim_ascii().is_empty() { Ok(()) } else { self.let_go() }
    }

    /// Releases the waiting bytes at the end of the text. Blanks that would be a block by themselves are removed.
    pub fn finish(&mut self) -> memory::Result<()> {
        self.release()?;
        if self.around.last.is_none() {
            self.parts.push_thinking(&self.around.thinking)?;
        }
        self.around.begin();
        Ok(())
    }

    /// Releases the waiting bytes, and stops looking for calls.
    pub fn give_up_calls(&mut self) -> memory::Result<()> {
        self.release()?;
        self.around.tokens = TryBox::NONE;
        Ok(())
    }

    fn is_behind_call(&self) -> bool {
        self.around.last == Some(Target::Calls)
    }

    /// Notes that a call is emitted, so the waiting bytes were framing.
    fn begin_call(&mut self) -> memory::Result<()> {
        self.settle(true)?;
        self.around.take_away(self.around.waiting.len())?;
        let Around { between, has_between, known, thinking, last, .. } = &mut *self.around;
        memory::clear(thinking);
        (*known, *last, *has_between) = (0, Some(Target::Calls), !between.is_empty());
        Ok(())
    }

    /// Adds the beginning of a call.
    pub fn push_call(&mut self, index: u64, id: &str, is_made: bool, name: &str) -> memory::Result<()> {
        self.begin_call()?;
        self.parts.push_call(index, id, is_made, name)
    }

    pub fn push_arguments(&mut self, index: u64, arguments: &str) -> memory::Result<()> {
        self.parts.push_arguments(index, arguments)
    }

    /// Adds a whole call, whose arguments are an object.
    pub fn push_object(&mut self, index: u64, id: &str, name: &str, arguments: &str) -> memory::Result<()> {
        self.begin_call()?;
        self.parts.push_object(index, id, name, arguments)
    }
}
