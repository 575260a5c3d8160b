//! The engine: the state that a scanner keeps of its stream, and the changes of that state. Feeding is done elsewhere: in
//! `advance` for chunks that complete no marker, and event by event by a `Pull` for all others.

use super::{
    attributes::Attributes,
    counts::{BudgetTracker, Counts},
    error::Error,
    event::Attribute,
    hold::HoldBuffer,
    ledger::Ledger,
    optional::Optional,
    options::{CallsInThinking, EndReason, LeadingTags, ScannerOptions, StrayClose},
    pending::Pending,
    spans::Spans,
    thoughts::Thoughts,
};
use crate::{
    calls::{body::MOST_NESTED, table::CallTables},
    channel::{Channel, Start},
    dialect::compiled::Compiled,
    matcher::{
        answer::JsonAnswer,
        automaton::{Origin, Stage, StateInfo},
        bytes::is_blank,
        code::CodeTracker,
        grammar::{Action, Pattern, flag},
        prose::{self, Before},
    },
    memory::TryBox,
};

/// A host may skip only to offsets below this one. No stream is that long, and later offsets cannot overflow.
#[cfg(feature = "c-api")]
const MOST_SKIPPED: u64 = 1 << 63;
/// Chunks up to this length are short: they are read byte by byte, and joined to the held bytes.
pub const SHORT: usize = 16;

/// The state of a stream.
///
/// Bytes that are in no event yet are the held bytes, and then the chunk. In order, they are: `text` bytes that were found to
/// be text, bytes held by the automaton's state or the recogniser, and bytes that were not read.
///
/// The fields that most feeds need are first, so that they share one or two lines of the processor's cache.
#[repr(C)]
pub struct Engine {
    pub ledger: Ledger,
    /// The state of the automaton while the matcher is in the table. Until the matcher leaves the table, `code`, `framing` and
    /// the flags of `spans` keep the values from when it entered.
    pub state: StateInfo,
    /// The number of bytes that were found to be text and are in no event yet. Between chunks, they are the beginning of a
    /// character.
    pub text: usize,
    pub before: Before,
    pub spans: Spans,
    pub hold: HoldBuffer,
    /// The unfinished work on the bytes after `text`.
    pub pending: Pending,
    pub code: CodeTracker,
    /// The code tracker of the text before a tool call, which continues after the call. Only for dialects that guard code.
    pub code_around: CodeTracker,
    /// The position in an answer in JSON. In such an answer, the matcher is not in the table.
    pub json: JsonAnswer,
    /// The number of the framing that may follow the last marker, or 0.
    pub framing: u16,
    /// Whether the content before the last marker ends in a word, and the length of that content.
    pub ends_in_word: bool,
    pub content_before: u64,
    /// The start of a stream if no prompt says otherwise.
    pub start: Start,
    /// The flag for the host's option `stray_close`.
    stray_close: u16,
    /// Whether streams start in the thinking only by a guess of the dialect.
    pub guesses_start: bool,
    /// Whether the open thinking was only guessed, and the text has not confirmed it.
    pub is_guess: bool,
    /// The reason that the host has given for the stream's end.
    pub end_reason: EndReason,
    /// The rule and tag of the last opener that the text only mentioned.
    pub mentioned: Option<(u8, u8)>,
    /// `flag::LEADING`, if tags of other families open the thinking at the beginning of a stream; otherwise 0.
    leading: u16,
    /// Whether a closer of the thinking has arrived.
    pub has_closed: bool,
    /// Whether the prompt is being read.
    pub is_in_prompt: bool,
    pub is_finishing: bool,
    /// Whether a byte of the stream has arrived.
    pub has_begun: bool,
    pub attributes: Attributes,
    pub optional: TryBox<Optional>,
}

impl Engine {
    /// Returns the state of a stream with this start, which replaces the start of the options.
    pub fn new(compiled: &Compiled, start: Start, options: &ScannerOptions) -> Result<Engine, Error> {
        let is_known = match start {
            Start::Header => compiled.grammar.header.is_some(),
            Start::Calls => false,
            Start::Channel(Channel::Content) => true,
            Start::Channel(channel) => compiled.started(channel).is_some(),
        };
        if !is_known {
            return Err(Error::NoSuchStart);
        }
        // Bytes that are held at the beginning of a chunk stay until its end. After them, the same number of bytes may have to be
        // held again, or a short chunk may be appended. Tags with attributes are rarely long: capacity for a long tag is reserved
        // when one arrives.
        let most = compiled.room + 1;
        let mut engine = Engine {
            ledger: Ledger::default(),
            state: StateInfo::FALLBACK,
            text: 0,
            before: prose::LINE,
            spans: Spans::new(compiled, 0),
            hold: HoldBuffer::new(most + most.max(SHORT))?,
            pending: Pending::Unread,
            code: CodeTracker::NEW,
            code_around: CodeTracker::NEW,
            json: JsonAnswer::NONE,
            framing: 0,
            ends_in_word: false,
            content_before: 0,
            start,
            stray_close: match options.stray_close {
                StrayClose::Dialect => 0,
                StrayClose::Text => flag::LITERAL,
                StrayClose::Drop => flag::DROPPED,
            },
            guesses_start: options.start.is_none() && start == Start::Channel(Channel::Thinking),
            is_guess: false,
            end_reason: EndReason::Unknown,
            mentioned: None,
            leading: if options.leading_tags == LeadingTags::Dialect { flag::LEADING } else { 0 },
            has_closed: false,
            is_in_prompt: false,
            is_finishing: false,
            has_begun: false,
            attributes: Attributes::NONE,
            optional: TryBox::NONE,
        };
        if options.collect.is_some() || options.budget.is_some() {
            let optional = engine.optional.made()?;
            optional.thoughts = TryBox::of(options.collect.map(Thoughts::new))?;
            optional.budget = TryBox::of(options.budget.map(BudgetTracker::new))?;
        }
        let never = options.calls_in_thinking == CallsInThinking::Never;
        // The position in a body is kept in `optional`, which is allocated here, so that streams need not allocate it.
        if options.calls || never || !compiled.calls.is_empty() {
            let calls = &mut engine.optional.made()?.calls;
            (calls.are_wanted, calls.never_in_thinking) = (options.calls, never);
            if compiled.calls.iter().flatten().any(CallTables::has_elements) {
                calls.elements = TryBox::new([0; MOST_NESTED as usize])?;
            }
        }
        engine.begin_stream(compiled);
        Ok(engine)
    }

    pub fn begin_stream(&mut self, compiled: &Compiled) {
        self.ledger.begin_stream(self.spans.channel());
        let header = if self.start == Start::Header { flag::HEADER } else { 0 };
        let first = flag::START | flag::LEAD | flag::FRESH | flag::BLANK | flag::ALONE;
        self.spans = Spans::new(compiled, first | header | self.stray_close | self.leading);
        self.state = StateInfo::FALLBACK;
        self.text = 0;
        self.before = prose::LINE;
        // The held bytes stay until the next chunk, because the host may still read the last events' bytes with `before`.
        self.hold.clear();
        self.pending = Pending::Unread;
        self.code = CodeTracker::NEW;
        self.code_around = CodeTracker::NEW;
        self.json = JsonAnswer::NONE;
        self.framing = 0;
        (self.ends_in_word, self.content_before) = (false, 0);
        self.mentioned = None;
        self.is_guess = false;
        self.end_reason = EndReason::Unknown;
        self.is_finishing = false;
        self.has_closed = false;
        self.has_begun = false;
        self.attributes.clear();
        if let Some(optional) = self.optional.get_mut() {
            optional.begin_stream();
        }
    }

    /// Notes that a marker follows. After it, a tag of another family does not open the thinking, unless the marker is in the
    /// prompt.
    pub fn pass_marker(&mut self, compiled: &Compiled) {
        let gained = if self.is_in_prompt { self.leading } else { 0 };
        self.spans.change(compiled, flag::LEADING, gained);
    }

    /// Notes whether the content before a marker ends in a word. Content of a prompt does not count.
    pub fn note_content(&mut self) {
        if self.spans.channel() != Channel::Content || self.is_in_prompt {
            return;
        }
        let content = self.counts(Channel::Content).bytes;
        if content != self.content_before {
            (self.content_before, self.ends_in_word) = (content, !is_blank(self.before));
        }
    }

    /// Notes the end of the prompt. If the prompt ended the thinking, a further closer of the thinking is removed, and the text
    /// before it stays content.
    pub fn end_prompt(&mut self, compiled: &Compiled) {
        self.is_in_prompt = false;
        if self.has_closed && self.stray_close == 0 && self.spans.channel() != Channel::Thinking {
            self.spans.change(compiled, 0, flag::DROPPED);
        }
    }

    /// Forgets the stream, its counts, and the thoughts that were not taken.
    pub fn reset(&mut self, compiled: &Compiled) {
        self.begin_stream(compiled);
        self.clear_counts();
        if let Some(thoughts) = self.thoughts_mut() {
            thoughts.clear();
        }
    }

    pub fn try_clone(&self) -> Result<Engine, Error> {
        let hold = self.hold.try_clone()?;
        let optional = TryBox::of(self.optional.get().map(Optional::try_clone).transpose()?)?;
        Ok(Engine { hold, optional, attributes: self.attributes.try_clone()?, ledger: self.ledger.clone(), ..*self })
    }

    /// Returns the channel, and the bytes that do not change the state at the stream's position, in any number and order. Cannot
    /// panic.
    #[cfg(feature = "c-api")]
    #[inline]
    pub fn quiet(&self, compiled: &Compiled) -> Option<(Channel, crate::matcher::bytes::ByteSet)> {
        let may_pass = self.ledger.table_until() == u64::MAX && !self.hold.has_marks() && self.text == 0;
        let quiet = compiled.automaton.self_loop(self.state.state()).filter(|_| may_pass)?;
        Some((self.spans.channel(), *quiet))
    }

    /// Counts `len` bytes that the host has skipped, the last of which is `last`. Returns whether they could be skipped. Cannot
    /// panic.
    #[cfg(feature = "c-api")]
    pub fn skip(&mut self, len: u64, last: u8) -> bool {
        let end = self.ledger.offset().checked_add(len).filter(|&end| end < MOST_SKIPPED);
        let is_quiet = self.ledger.table_until() == u64::MAX && !self.state.is_fallback();
        match end.filter(|_| len > 0 && is_quiet && !self.is_holding()) {
            Some(end) => {
                self.ledger.report_plain(end);
                self.before = last;
                true
            }
            None => len == 0,
        }
    }

    /// Leaves the table, or drops the recogniser, so that the bytes after the text are read again.
    pub fn leave(&mut self, compiled: &Compiled) {
        if !self.state.is_fallback() {
            self.leave_at(compiled, &compiled.automaton.origin(self.state.state()));
        }
        self.pending = Pending::Unread;
        self.ledger.set_table_until(0);
    }

    /// Leaves the table and restores the state at this origin, the position of the next byte to be read.
    pub fn leave_at(&mut self, compiled: &Compiled, origin: &Origin) {
        let region = compiled.grammar.region(self.spans.region());
        self.spans.lose(&compiled.grammar, origin.stage.lost(region));
        self.code = origin.code;
        self.framing = origin.framing;
        self.state = StateInfo::FALLBACK;
    }

    /// Returns whether an answer in JSON is open here, or may begin with the next byte.
    pub fn may_be_json(&self, compiled: &Compiled) -> bool {
        let is_content = self.spans.channel() == Channel::Content && compiled.grammar.guards_json;
        is_content && (self.json.is_open() || self.spans.flags() & flag::LEAD != 0)
    }

    /// Returns whether the next byte, `byte`, is in a string of an answer in JSON.
    pub fn in_json_string(&self, byte: u8) -> bool {
        self.spans.channel() == Channel::Content && self.json.in_string(byte)
    }

    /// Reads a byte of text in an answer in JSON. Such an answer may also begin with the byte, if it is the first of the content
    /// or of a code block. The code tracker must have read the byte already.
    pub fn pass_json(&mut self, compiled: &Compiled, byte: u8) {
        let begins_block = self.code.begins_json();
        if self.spans.channel() != Channel::Content || !compiled.grammar.guards_json {
            return;
        }
        if self.json.is_open() {
            self.json.pass(byte, self.code.in_block());
        } else if begins_block || self.spans.flags() & flag::LEAD != 0 && JsonAnswer::begins_with(byte) {
            self.json = JsonAnswer::after_bracket(begins_block);
        }
    }

    /// Sets the bytes that do not change the state at the position in an answer in JSON.
    pub fn settle_json(&mut self, compiled: &Compiled) {
        let number = self.spans.region();
        let region = compiled.grammar.region(number);
        let is_settled = !region.has_lines() || self.code.is_settled(region.lines);
        let has_begun = Stage::of(self.spans.flags(), region) == Stage::Settled && self.framing == 0;
        if let Some(in_string) = self.json.self_loop()
            && self.may_be_json(compiled)
            && is_settled
            && has_begun
            && !self.hold.has_marks()
        {
            let masks = compiled.json_loops[usize::from(number)];
            self.state = StateInfo::FALLBACK.with_loop_mask(masks[usize::from(in_string)]);
        }
    }

    /// Enters the table, if the table has a state for the stream's position. The table has no state where calls without an opener may
    /// begin, and none in an answer in JSON.
    pub fn enter_table(&mut self, compiled: &Compiled) {
        if self.spans.flags() & (flag::START | flag::HEADER) != 0
            && (self.ledger.offset() > 0 || self.optional.get().is_some_and(|optional| optional.prompt.is_settled))
        {
            self.spans.lose(&compiled.grammar, flag::START | flag::HEADER);
        }
        if self.may_be_bare(compiled) || self.json.is_open() {
            return;
        }
        let config = self.spans.config(&compiled.grammar);
        self.state = compiled.automaton.enter(&compiled.grammar, &config, &self.code, self.framing);
    }

    /// Updates the state, outside the table, for a byte that was found to be text.
    pub fn pass(&mut self, compiled: &Compiled, byte: u8) {
        let region = compiled.grammar.region(self.spans.region());
        if region.has_lines() {
            self.code.pass(byte, region.lines);
        }
        self.pass_json(compiled, byte);
        let cleared = if is_blank(byte) { 0 } else { region.cleared };
        self.spans.lose(&compiled.grammar, flag::FIRST | cleared);
        self.text += 1;
    }

    /// Returns the number of bytes after `text` that were read but are not decided, or belong to a later piece of a body.
    #[inline]
    pub fn undecided(&self) -> usize {
        let read = match &self.pending {
            Pending::Undecided(recogniser) => recogniser.len(),
            Pending::Marker { seen, .. } | Pending::Held(seen) => *seen,
            Pending::Unread | Pending::Due(_) => self.state.held(),
        };
        self.body().map_or(read, |body| read.max(body.due()))
    }

    pub fn counts(&self, channel: Channel) -> Counts {
        let tokens = self.optional.get().map_or(0, |optional| optional.tokens[channel as usize]);
        Counts { tokens, ..self.ledger.counts(channel, self.spans.channel()) }
    }

    /// Adds the tokens of a chunk that was one event of text.
    #[inline]
    pub fn add_plain_tokens(&mut self, tokens: u32) {
        self.ledger.add_tokens(tokens);
        if let Some(optional) = self.optional.get_mut() {
            optional.tokens[self.spans.channel() as usize] += u64::from(tokens);
        }
    }

    /// Returns the number of the last call.
    pub fn last_call(&self) -> u64 {
        self.optional.get().map_or(0, |optional| optional.calls.last())
    }

    pub fn in_token(&self) -> bool {
        self.optional.get().is_some_and(|optional| optional.in_token)
    }

    /// Ends a chunk whose tokens are known. `in_token` says whether it ended inside a token.
    pub fn end_tokens(&mut self, in_token: bool) {
        if let Some(optional) = self.optional.get_mut() {
            optional.in_token = in_token;
        }
    }

    /// Keeps, from now on, the token mark of each held byte.
    pub fn begin_tokens(&mut self) -> Result<(), Error> {
        self.optional.made()?;
        self.hold.begin_marks()
    }

    pub fn thoughts(&self) -> Option<&Thoughts> {
        self.optional.get()?.thoughts.get()
    }

    pub fn thoughts_mut(&mut self) -> Option<&mut Thoughts> {
        self.optional.get_mut()?.thoughts.get_mut()
    }

    /// Returns the start of the stream according to its prompt, if there is one.
    pub fn prompted_start(&self) -> Option<Start> {
        self.optional.get()?.prompt.start
    }

    /// Returns whether the stream starts in the thinking only by a guess of the dialect.
    pub fn is_start_guessed(&self) -> bool {
        self.guesses_start && self.prompted_start().is_none()
    }

    /// Returns whether the open thinking, or the thinking in which the stream will start, may turn out to be the answer: at its
    /// end, or by a marker.
    pub fn may_be_answer(&self, compiled: &Compiled) -> bool {
        if !self.has_begun {
            return self.is_start_guessed() || compiled.may_open_answer();
        }
        if self.spans.open().is_empty() {
            return self.spans.is_before_first() && compiled.may_open_answer();
        }
        self.spans.channel() == Channel::Thinking
            && self.spans.is_first()
            && (self.is_guess || compiled.grammar.region(self.spans.region()).is_answered)
    }

    /// Returns the number of held bytes that belong to a prompt, which are at the front.
    pub fn early(&self) -> usize {
        self.optional.get().map_or(0, |optional| optional.prompt.early)
    }

    /// Returns a lower bound of the bytes that are still within the budget, or `None` without a limit.
    pub fn left(&self) -> Option<usize> {
        let left = self.budget()?.left(self.ledger.channel_counts(), self.spans.channel())?;
        Some(usize::try_from(left).unwrap_or(usize::MAX))
    }

    pub fn budget(&self) -> Option<&BudgetTracker> {
        self.optional.get()?.budget.get()
    }

    pub fn budget_mut(&mut self) -> Option<&mut BudgetTracker> {
        self.optional.get_mut()?.budget.get_mut()
    }

    /// Adds a span to the counts.
    pub fn add_span(&mut self, channel: Channel) {
        self.ledger.add_span(channel);
        let budget = self.optional.get_mut().and_then(|optional| optional.budget.get_mut());
        if let Some(budget) = budget.filter(|_| channel == Channel::Thinking) {
            budget.begin_span(self.ledger.channel_counts());
        }
    }

    fn clear_counts(&mut self) {
        self.ledger.clear_counts();
        if let Some(optional) = self.optional.get_mut() {
            optional.clear_counts();
        }
    }

    /// Begins the counts and thoughts of a stream at its first byte.
    pub fn begin_counts(&mut self) -> Result<(), Error> {
        self.has_begun = true;
        self.clear_counts();
        let is_alone = self.spans.flags() & flag::ALONE != 0;
        match self.thoughts_mut() {
            Some(thoughts) if is_alone => thoughts.guess(),
            _ => Ok(()),
        }
    }

    /// Returns whether the innermost span is thinking that a tool call of the dialect ends.
    pub fn is_ended_by_calls(&self, compiled: &Compiled) -> bool {
        let ends = |pattern: &Pattern| match pattern.action {
            Action::Open { rule, ends, .. } | Action::FenceOpen { rule, ends } => {
                ends && compiled.spans[usize::from(rule)].channel == Channel::Tool
            }
            _ => false,
        };
        let region = compiled.grammar.region(self.spans.region());
        self.spans.channel() == Channel::Thinking && region.patterns.iter().any(ends)
    }

    /// Notes that the next closer of the thinking in the content must be removed, if only blanks precede it.
    pub fn expect_closer(&mut self, compiled: &Compiled) {
        if self.spans.channel() == Channel::Content {
            self.leave(compiled);
            // After a call, a closer cannot mean that all content before it was thinking.
            self.spans.change(compiled, flag::ALONE, flag::FRESH | flag::FORCED);
        }
    }

    /// Returns the number of bytes of the stream that have arrived, including held bytes.
    pub fn fed(&self) -> u64 {
        self.ledger.offset() + self.held_of_stream().len() as u64
    }

    /// Returns the held bytes, without those of the prompt.
    pub fn held_of_stream(&self) -> &[u8] {
        &self.hold.unreported()[self.early()..]
    }

    pub fn attribute(&self, index: usize) -> Option<Attribute<'_>> {
        let mut attribute = self.attributes.get(index)?;
        let early = self.optional.get().map_or(0, |optional| optional.prompt.marker);
        for range in [&mut attribute.raw_name, &mut attribute.raw_value] {
            *range = range.start.saturating_sub(early)..range.end.saturating_sub(early);
        }
        Some(attribute)
    }
}
