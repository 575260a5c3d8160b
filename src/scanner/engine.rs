//! The engine: all that a scanner remembers of its stream, and the feeding of chunks that complete no marker. Nearly all chunks
//! are such ones, so these functions must not allocate, must not panic, and are measured in instructions. All else is done by a
//! `Pull`, event by event.

use super::{
    attributes::Attributes,
    counts::{BudgetTracker, Counts},
    error::Error,
    event::Attribute,
    hold::HoldBuffer,
    ledger::Ledger,
    optional::Optional,
    options::{CallsInThinking, ScannerOptions, StrayClose},
    pending::Pending,
    spans::Spans,
    thoughts::Thoughts,
};
use crate::{
    channel::{Channel, Start},
    dialect::compiled::Compiled,
    matcher::{
        automaton::{Origin, StateId, StateInfo},
        bytes::is_blank,
        code::CodeTracker,
        grammar::{Action, Pattern, flag},
    },
    memory::TryBox,
    utf8::{incomplete_tail, is_continuation},
};

/// The offset up to which a host may skip. No stream is as long, and offsets cannot overflow after it.
#[cfg(feature = "c-api")]
const MOST_SKIPPED: u64 = 1 << 63;
/// Chunks up to this length are looked at as a whole. To stop at the first byte that matters would cost more than it saves.
const LONGEST_PASSED: usize = 256;
/// Chunks up to this length are short: they are looked at byte by byte, and joined to what is held.
pub const SHORT: usize = 16;

/// The state of a stream.
///
/// The bytes that are in no event yet are those that are held, and after them the chunk. They are, in this order:
/// `text` bytes that have turned out to be text, those that the automaton's state or the recogniser holds, and those that were
/// not read.
///
/// The fields that most feeds need come first, so that they are in one or two lines of the processor's cache.
#[repr(C)]
pub struct Engine {
    pub ledger: Ledger,
    /// The state of the automaton while the matcher is in the table. Until it leaves the table, `code`, `framing` and the flags
    /// of `spans` stay as they were when it entered.
    pub state: StateInfo,
    /// The number of bytes that have turned out to be text and are in no event yet. Between chunks, they begin a character.
    pub text: usize,
    pub spans: Spans,
    pub hold: HoldBuffer,
    /// What comes after `text`.
    pub pending: Pending,
    pub code: CodeTracker,
    /// The tracker of the text around a tool call, which goes on after the call. Only in dialects that guard code.
    pub code_around: CodeTracker,
    /// The framing that may follow the last marker, as a number of the grammar's framings, or 0.
    pub framing: u16,
    /// Where a stream starts if no prompt says otherwise.
    pub start: Start,
    /// The flag that says what the host has made of a stray closer.
    stray_close: u16,
    pub is_finishing: bool,
    /// A byte has come.
    pub has_begun: bool,
    pub attributes: Attributes,
    pub optional: TryBox<Optional>,
}

/// A text of the innermost channel, in the chunk or in the held bytes. It may be empty.
#[derive(Clone, Copy)]
pub struct Text {
    pub offset: u64,
    /// Whether it stands at the front of the held bytes, reported ones included. Otherwise it stands at the front of the chunk.
    pub is_held: bool,
    pub len: usize,
}

impl Engine {
    /// Returns the state of a stream that starts there, whatever start the options have.
    pub fn new(compiled: &Compiled, start: Start, options: &ScannerOptions) -> Result<Engine, Error> {
        let is_known = match start {
            Start::Header => compiled.grammar.header.is_some(),
            Start::Channel(Channel::Content) => true,
            Start::Channel(channel) => compiled.started(channel).is_some(),
        };
        if !is_known {
            return Err(Error::NoSuchStart);
        }
        // Bytes that are held when a chunk comes stay until it ends. As many more may then have to be held, or a short chunk be
        // joined to them. Tags with attributes may be very long but rarely are: room for a long one is made when it comes.
        let most = compiled.room + 1;
        let mut engine = Engine {
            ledger: Ledger::default(),
            state: StateInfo::FALLBACK,
            text: 0,
            spans: Spans::new(compiled, 0),
            hold: HoldBuffer::new(most + most.max(SHORT))?,
            pending: Pending::Unread,
            code: CodeTracker::NEW,
            code_around: CodeTracker::NEW,
            framing: 0,
            start,
            stray_close: match options.stray_close {
                StrayClose::Dialect => 0,
                StrayClose::Text => flag::LITERAL,
                StrayClose::Drop => flag::DROPPED,
            },
            is_finishing: false,
            has_begun: false,
            attributes: Attributes::NONE,
            optional: TryBox::NONE,
        };
        if options.collect.is_some() || options.budget.is_some() {
            let optional = engine.optional.made()?;
            optional.thoughts = options.collect.map(Thoughts::new);
            optional.budget = options.budget.map(BudgetTracker::new);
        }
        let never = options.calls_in_thinking == CallsInThinking::Never;
        // Where a body stands is kept there: no stream allocates for it.
        if options.calls || never || !compiled.calls.is_empty() {
            let calls = &mut engine.optional.made()?.calls;
            (calls.are_wanted, calls.never_in_thinking) = (options.calls, never);
        }
        engine.begin_stream(compiled);
        Ok(engine)
    }

    pub fn begin_stream(&mut self, compiled: &Compiled) {
        self.ledger.begin_stream(self.spans.channel());
        let header = if self.start == Start::Header { flag::HEADER } else { 0 };
        let first = flag::START | flag::LEAD | flag::FRESH | flag::BLANK | flag::ALONE;
        self.spans = Spans::new(compiled, first | header | self.stray_close);
        self.state = StateInfo::FALLBACK;
        self.text = 0;
        // The bytes stay until the next chunk, because the last events may still be read in `before`.
        self.hold.clear();
        self.pending = Pending::Unread;
        self.code = CodeTracker::NEW;
        self.code_around = CodeTracker::NEW;
        self.framing = 0;
        self.is_finishing = false;
        self.has_begun = false;
        self.attributes.clear();
        if let Some(optional) = self.optional.get_mut() {
            optional.begin_stream();
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
        let optional = match self.optional.get() {
            Some(optional) => TryBox::new(optional.try_clone()?)?,
            None => TryBox::NONE,
        };
        Ok(Engine { hold, optional, attributes: self.attributes.try_clone()?, ledger: self.ledger.clone(), ..*self })
    }

    /// Feeds a short chunk of ASCII that loops in the automaton's state, as most tokens do. Returns the offset of its text. In
    /// all other cases it returns none and feeds nothing. Cannot panic.
    #[inline(always)]
    pub fn advance_in_loop(&mut self, compiled: &Compiled, chunk: &[u8]) -> Option<u64> {
        // This is checked first: the other order keeps more registers in use.
        if !loops(compiled.automaton.loop_sets(), self.state.loop_mask(), chunk) {
            return None;
        }
        let end = self.ledger.end_in_table(chunk.len())?;
        Some(self.ledger.report_plain(end))
    }

    /// Feeds a short chunk that leads from state to state of the automaton. Returns its text, with what was held before it; the
    /// rest of the chunk is held. If a marker is complete, or if the automaton cannot decide, it returns none and feeds
    /// nothing. Cannot panic.
    #[inline(always)]
    pub fn advance_short(&mut self, compiled: &Compiled, chunk: &[u8]) -> Option<Text> {
        let from = self.state;
        let before = from.held() + self.text;
        self.ledger.end_in_table(before + chunk.len())?;
        let (to, is_ascii) = compiled.automaton.walk(from.state(), chunk)?;
        let to = compiled.automaton.info(to);
        if before == 0 {
            return self.take_chunk(chunk, to, is_ascii);
        }
        // The whole chunk is appended to what is held, so that its text is one stretch.
        if self.hold.has_marks() || !self.hold.append_few(chunk) {
            return None;
        }
        let mut len = before + chunk.len() - to.held();
        self.state = to;
        if from.is_wide() || self.text > 0 || !is_ascii {
            len -= self.hold_character(to);
            self.ledger.add_continuations(self.spans.channel(), self.hold.all().get(..len)?);
        }
        self.hold.report(len);
        let offset = self.ledger.report_plain(self.ledger.offset() + len as u64);
        Some(Text { offset, is_held: true, len })
    }

    /// Feeds a long chunk in the same way, where nothing is held.
    #[inline(always)]
    pub fn advance_long(&mut self, compiled: &Compiled, chunk: &[u8]) -> Option<Text> {
        if self.is_holding() {
            return None;
        }
        self.ledger.end_in_table(chunk.len())?;
        let (to, is_ascii) = self.lead(compiled, chunk)?;
        self.take_chunk(chunk, compiled.automaton.info(to), is_ascii)
    }

    /// Returns whether something is held, while the matcher is in the table.
    #[inline(always)]
    pub fn is_holding(&self) -> bool {
        self.state.held() + self.text > 0
    }

    /// Takes a chunk that leads to a state, where nothing is held.
    #[inline(always)]
    fn take_chunk(&mut self, chunk: &[u8], mut to: StateInfo, is_ascii: bool) -> Option<Text> {
        let mut len = chunk.len();
        if !is_ascii || to.held() > 0 {
            // No event cuts a character.
            let tail = if is_ascii || to.held() > 0 { 0 } else { incomplete_tail(chunk) };
            let (text, rest) = chunk.split_at_checked(len.checked_sub(to.held() + tail)?)?;
            if !rest.is_empty() && (self.hold.has_marks() || !self.hold.keep_few(rest)) {
                return None;
            }
            if tail > 0 {
                (self.text, to) = (tail, to.without_loop());
            }
            if !is_ascii {
                self.ledger.add_continuations(self.spans.channel(), text);
            }
            len = text.len();
        }
        self.state = to;
        let offset = self.ledger.report_plain(self.ledger.offset() + len as u64);
        Some(Text { offset, is_held: false, len })
    }

    /// Keeps the beginning of a character at the end of what is held. Returns how many bytes it has.
    #[inline(never)]
    fn hold_character(&mut self, to: StateInfo) -> usize {
        self.text = if to.held() == 0 { incomplete_tail(self.hold.all()) } else { 0 };
        if self.text > 0 {
            self.state = to.without_loop();
        }
        self.text
    }

    /// Feeds a chunk that is text to its end, where nothing is held. Returns the offset of its text. In all other cases it
    /// returns none and feeds nothing. Cannot panic.
    #[inline]
    pub fn advance_whole(&mut self, compiled: &Compiled, chunk: &[u8]) -> Option<u64> {
        if chunk.is_empty() || self.is_holding() {
            return None;
        }
        self.ledger.end_in_table(chunk.len())?;
        let (to, is_ascii) = match chunk.len() <= SHORT {
            true => compiled.automaton.walk(self.state.state(), chunk)?,
            false => self.lead(compiled, chunk)?,
        };
        let to = compiled.automaton.info(to);
        let is_whole = to.held() == 0 && (is_ascii || incomplete_tail(chunk) == 0);
        if is_whole { self.take_chunk(chunk, to, is_ascii).map(|text| text.offset) } else { None }
    }

    /// Returns the state that a long chunk leads to, if it leads from state to state, and whether it is ASCII.
    #[inline(always)]
    fn lead(&self, compiled: &Compiled, chunk: &[u8]) -> Option<(StateId, bool)> {
        if chunk.len() <= LONGEST_PASSED
            && let Some(passed) = compiled.automaton.pass(self.state.state(), chunk)
        {
            return Some(passed);
        }
        self.run_long(compiled, chunk)
    }

    #[inline(never)]
    fn run_long(&self, compiled: &Compiled, chunk: &[u8]) -> Option<(StateId, bool)> {
        let run = compiled.automaton.run(self.state.state(), chunk);
        run.exit.is_none().then_some((run.state, chunk.is_ascii()))
    }

    /// Returns how much of a long chunk decides what is held, and is best fed by itself: nothing is held after it. None if
    /// nothing is held, and for short chunks.
    #[inline(always)]
    pub fn first_part(&self, compiled: &Compiled, chunk: &[u8]) -> Option<usize> {
        if chunk.len() <= SHORT || !self.is_holding() {
            return None;
        }
        self.first_part_of_long(compiled, chunk)
    }

    #[inline(never)]
    fn first_part_of_long(&self, compiled: &Compiled, chunk: &[u8]) -> Option<usize> {
        if self.text > 0 {
            // At most three bytes of a character are missing.
            let rest = chunk.iter().take(3).take_while(|&&byte| is_continuation(byte)).count();
            return Some(rest).filter(|&rest| rest > 0);
        }
        let len = compiled.automaton.first_free(self.state.state(), chunk)?;
        Some(len).filter(|&len| incomplete_tail(chunk.get(..len).unwrap_or_default()) == 0)
    }

    /// Returns the set of bytes that change nothing where the stream stands, in any number and order, and the channel. Cannot
    /// panic.
    #[cfg(feature = "c-api")]
    #[inline]
    pub fn quiet(&self, compiled: &Compiled) -> Option<(Channel, crate::matcher::bytes::ByteSet)> {
        let may_pass = self.ledger.table_until() == u64::MAX && !self.hold.has_marks() && self.text == 0;
        let quiet = compiled.automaton.self_loop(self.state.state()).filter(|_| may_pass)?;
        Some((self.spans.channel(), *quiet))
    }

    /// Accounts for `len` such bytes that the host has passed on itself. Plain text may have been fed after them. Returns
    /// whether that is possible. Cannot panic.
    #[cfg(feature = "c-api")]
    pub fn skip(&mut self, len: u64) -> bool {
        let end = self.ledger.offset().checked_add(len).filter(|&end| end < MOST_SKIPPED);
        let is_quiet = self.ledger.table_until() == u64::MAX && !self.state.is_fallback();
        match end.filter(|_| is_quiet && !self.is_holding()) {
            Some(end) => {
                self.ledger.report_plain(end);
                true
            }
            None => len == 0,
        }
    }

    /// Leaves the table or the recogniser, so that the bytes after the text are read again.
    pub fn leave(&mut self, compiled: &Compiled) {
        if !self.state.is_fallback() {
            self.leave_at(compiled, compiled.automaton.origin(self.state.state()));
        }
        self.pending = Pending::Unread;
        self.ledger.set_table_until(0);
    }

    /// Leaves the table at this origin, where the next byte to be read stands.
    pub fn leave_at(&mut self, compiled: &Compiled, origin: &Origin) {
        let region = compiled.grammar.region(self.spans.region());
        self.spans.lose(&compiled.grammar, origin.stage.lost(region));
        self.code = origin.code;
        self.framing = origin.framing;
        self.state = StateInfo::FALLBACK;
    }

    /// Enters the table, if it has a state for where the stream stands. It has none where calls without an opener may begin.
    pub fn enter_table(&mut self, compiled: &Compiled) {
        if self.spans.flags() & (flag::START | flag::HEADER) != 0
            && (self.ledger.offset() > 0 || self.optional.get().is_some_and(|optional| optional.prompt.is_settled))
        {
            self.spans.lose(&compiled.grammar, flag::START | flag::HEADER);
        }
        if self.may_be_bare(compiled) {
            return;
        }
        let config = self.spans.config(&compiled.grammar);
        self.state = compiled.automaton.enter(&config, &self.code, self.framing);
    }

    /// Takes a byte that has turned out to be text, outside of the table.
    pub fn pass(&mut self, compiled: &Compiled, byte: u8) {
        let region = compiled.grammar.region(self.spans.region());
        if region.has_lines() {
            self.code.pass(byte, region.lines);
        }
        let cleared = if is_blank(byte) { 0 } else { region.cleared };
        self.spans.lose(&compiled.grammar, flag::FIRST | cleared);
        self.text += 1;
    }

    /// Returns how many bytes after `text` were read and are not decided, or not reported because a body has more than one
    /// piece in them.
    #[inline]
    pub fn undecided(&self) -> usize {
        let read = match &self.pending {
            Pending::Undecided(recogniser) => recogniser.len(),
            Pending::Opener { seen, .. } | Pending::Held(seen) => *seen,
            Pending::Unread | Pending::Due(_) => self.state.held(),
        };
        self.body().map_or(read, |body| read.max(body.due()))
    }

    pub fn counts(&self, channel: Channel) -> Counts {
        let tokens = self.optional.get().map_or(0, |optional| optional.tokens[channel as usize]);
        Counts { tokens, ..self.ledger.counts(channel, self.spans.channel()) }
    }

    /// Adds the tokens of a chunk that was one text.
    #[inline]
    pub fn add_plain_tokens(&mut self, tokens: u32) {
        self.ledger.add_tokens(tokens);
        if let Some(optional) = self.optional.get_mut() {
            optional.tokens[self.spans.channel() as usize] += u64::from(tokens);
        }
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

    /// Keeps, from now on, what is known of the token of each held byte.
    pub fn begin_tokens(&mut self) -> Result<(), Error> {
        self.optional.made()?;
        self.hold.begin_marks()
    }

    pub fn thoughts(&self) -> Option<&Thoughts> {
        self.optional.get()?.thoughts.as_ref()
    }

    pub fn thoughts_mut(&mut self) -> Option<&mut Thoughts> {
        self.optional.get_mut()?.thoughts.as_mut()
    }

    /// Returns how many bytes at the front of what is held belong to a prompt.
    pub fn early(&self) -> usize {
        self.optional.get().map_or(0, |optional| optional.prompt.early)
    }

    /// Returns how many bytes, at least, may come within the budget. None if nothing limits them.
    pub fn left(&self) -> Option<usize> {
        let left = self.budget()?.left(self.ledger.channel_counts(), self.spans.channel())?;
        Some(usize::try_from(left).unwrap_or(usize::MAX))
    }

    pub fn budget(&self) -> Option<&BudgetTracker> {
        self.optional.get()?.budget.as_ref()
    }

    pub fn budget_mut(&mut self) -> Option<&mut BudgetTracker> {
        self.optional.get_mut()?.budget.as_mut()
    }

    /// Adds a span to the counts.
    pub fn add_span(&mut self, channel: Channel) {
        self.ledger.add_span(channel);
        let budget = self.optional.get_mut().and_then(|optional| optional.budget.as_mut());
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

    /// Begins counts and thoughts with the first byte of a stream.
    pub fn begin_counts(&mut self) -> Result<(), Error> {
        self.has_begun = true;
        self.clear_counts();
        let is_alone = self.spans.flags() & flag::ALONE != 0;
        match self.thoughts_mut() {
            Some(thoughts) if is_alone => thoughts.guess(),
            _ => Ok(()),
        }
    }

    /// Returns whether the innermost span is a thinking that a tool call of the dialect ends.
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

    /// Removes a closer of the thinking if it comes next in the content, with only blanks before it.
    pub fn expect_closer(&mut self, compiled: &Compiled) {
        if self.spans.channel() == Channel::Content {
            self.leave(compiled);
            // There was a call, so no closer can say that all before it was thinking.
            self.spans.change(compiled, flag::ALONE, flag::FRESH | flag::FORCED);
        }
    }

    /// Returns how many bytes of the stream have come, held ones included.
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

/// Returns whether a short chunk loops in a state.
///
/// It looks at four or eight bytes from each end, some of them twice. Each four are looked at by themselves, so that hardly any
/// register has to be saved for them. Of fewer than four bytes it looks at the first, the middle and the last one.
#[inline(always)]
pub(super) fn loops(sets: &[u32; 256], mask: u32, chunk: &[u8]) -> bool {
    let set = |byte: u8| sets[usize::from(byte)];
    let loops = |four: &[u8; 4]| four.iter().fold(0, |all, &byte| all | set(byte)) & mask == 0;
    if let (Some(first), Some(last)) = (chunk.first_chunk(), chunk.last_chunk()) {
        if chunk.len() > SHORT || !loops(first) || !loops(last) {
            return false;
        }
        return match (chunk.first_chunk::<8>(), chunk.last_chunk::<8>()) {
            (Some([_, _, _, _, first @ ..]), Some([last @ .., _, _, _, _])) => loops(first) && loops(last),
            _ => true,
        };
    }
    let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { return false };
    (set(*first) | set(chunk[chunk.len() / 2]) | set(*last)) & mask == 0
}
