//! The interface for hosts: reads one text of a model, and reports the parts of the text.

use std::sync::Arc;

use super::options::{Options, Thinking};
use super::parts::{CallPart, Parts, Purpose, Run, RunKind};
use super::promotion::{Promotes, Promotion};
use super::setup::Setup;
use super::stream::{Input, TextStream};
use crate::call_writer::Tools;
use crate::memory::copy_text;
use crate::scanner::check_lengths;
use crate::{Cause, Channel, Counts, Dialect, EndReason, Error, Start, Thought, Token};

/// The maximum number of bytes of thinking that are kept because they may turn out to be the answer.
const MOST_KEPT: usize = 16 << 20;

/// A part of an answer.
///
/// Joined, the texts of all `Thinking` parts are the thinking, those of all `Content` parts the content, and the `json` of all
/// `Arguments` of a call its arguments. A text may end inside a character, if the model's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part<'a> {
    /// The next text of the thinking.
    Thinking(&'a [u8]),
    /// The next text of the answer itself, with the model's narration.
    Content(&'a [u8]),
    /// A call begins.
    Call {
        /// The number of the call in the answer, from 0.
        index: u64,
        /// An id that no other call of the answer has.
        id: &'a str,
        /// Whether the id was made here: the model wrote none, or its id is taken or begins with the prefix of ids made here.
        is_made: bool,
        /// The name of the tool.
        name: &'a str,
    },
    /// The next part of a call's arguments. Joined, they are a JSON object if the call is whole.
    Arguments {
        /// The number of the call.
        index: u64,
        /// The JSON text.
        json: &'a str,
    },
    /// A call ends.
    CallEnd {
        /// The number of the call.
        index: u64,
        /// Whether the arguments are complete. Do not run a call that is not whole.
        is_whole: bool,
        /// Whether the call broke a rule of its grammar and was repaired: the model may have meant other arguments.
        is_repaired: bool,
        /// The reason for the end.
        cause: Cause,
        /// An id that the model wrote only after the call was reported. Use it in a whole message, and not for a client that got
        /// the call already.
        late_id: Option<&'a str>,
    },
    /// All text that was reported in one channel belongs at the end of the other channel's text: content that turned out to be
    /// thinking, because a closer of the thinking came without an opener, or thinking that turned out to be the answer. It is
    /// reported only with [`Options::may_take_back`]. With [`Thinking::Drop`], leave out the content that moves to the thinking.
    Moved {
        /// The channel that the text was reported in.
        from: Channel,
        /// The channel that the text belongs to.
        to: Channel,
    },
    /// The thinking exceeds its [budget](crate::ScannerOptions::budget) here.
    Budget,
}

/// Reads one text of a model, cut anywhere, and reports its parts.
///
/// An answer can be sent to another thread. Answers share no mutable data, so threads need no locks.
///
/// ```
/// use aside::answer::{Answer, Options, Part};
/// use aside::{Dialect, EndReason};
///
/// let mut answer = Answer::new(&Dialect::find("qwen3")?, &Options::new())?;
/// let mut content = Vec::new();
/// let mut show = |part: Part<'_>| {
///     if let Part::Content(text) = part {
///         content.extend_from_slice(text);
///     }
/// };
/// // No call has such a name, so this text is content.
/// answer.feed("<tool_call>{\"name\": 5}</tool_", &mut show)?;
/// answer.feed("call>", &mut show)?;
/// answer.finish(EndReason::Ended, &mut show)?;
/// assert_eq!(content, b"<tool_call>{\"name\": 5}</tool_call>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Answer {
    setup: Setup,
    text: TextStream,
    promotes: Promotes,
    promotion: Promotion,
    id_prefix: String,
    thinking: Thinking,
    may_take_back: bool,
    /// The parts of the last input.
    parts: Parts,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("scanner", &self.text.scanner).finish_non_exhaustive()
    }
}

impl Answer {
    /// Makes an answer of a model that writes this dialect.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchStart`] if the dialect has no such start, and [`Error::OutOfMemory`].
    #[doc(alias = "aside_answer_new")]
    pub fn new(dialect: &Dialect, options: &Options) -> Result<Answer, Error> {
        let setup = Setup::new(dialect, options, !options.inline_calls, false)?;
        let promotes = Promotes::new(options, MOST_KEPT);
        Ok(Answer {
            text: TextStream::new(setup.scanner()?, false),
            setup,
            promotes,
            promotion: promotes.of_stream(),
            id_prefix: copy_text(&options.writing.id_prefix)?,
            thinking: options.thinking,
            may_take_back: options.may_take_back,
            parts: Parts::default(),
        })
    }

    /// Sets the start of the text, before its first byte, by the rendered prompt, which ends with `tail`. Returns that start. It works
    /// like [`Scanner::start_from_prompt`](crate::Scanner::start_from_prompt).
    ///
    /// # Errors
    ///
    /// [`Error::StreamBegun`] if the text has begun, and [`Error::OutOfMemory`].
    #[doc(alias = "aside_answer_start_from_prompt")]
    pub fn start_from_prompt(&mut self, tail: impl AsRef<[u8]>) -> Result<Start, Error> {
        self.text.scanner.start_from_prompt(tail)
    }

    /// Sets the tools of the request, before the first byte of the text: for an answer that is used for several requests.
    ///
    /// # Errors
    ///
    /// [`Error::StreamBegun`] if the text has begun.
    #[doc(alias = "aside_answer_use_tools")]
    pub fn use_tools(&mut self, tools: impl Into<Option<Arc<Tools>>>) -> Result<(), Error> {
        if self.text.scanner.offset() > 0 {
            return Err(Error::StreamBegun);
        }
        self.setup.use_tools(tools.into());
        // A feed without bytes may have prepared the text for the calls of other tools.
        self.text.begin();
        Ok(())
    }

    /// Feeds the next bytes of the text, cut anywhere, and reports all parts that are decided.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]. The answer must then be reset.
    #[doc(alias = "aside_answer_feed")]
    pub fn feed(&mut self, bytes: impl AsRef<[u8]>, on_part: impl FnMut(Part<'_>)) -> Result<(), Error> {
        self.take(Input::Feed(bytes.as_ref()), on_part)
    }

    /// Feeds bytes whose tokens are known, like [`Scanner::feed_tokens`](crate::Scanner::feed_tokens).
    ///
    /// # Errors
    ///
    /// [`Error::TokenLengths`] if the tokens' lengths do not add up to that of the bytes, and the errors of `feed`.
    #[doc(alias = "aside_answer_feed_tokens")]
    pub fn feed_tokens(
        &mut self,
        bytes: impl AsRef<[u8]>,
        tokens: &[Token],
        on_part: impl FnMut(Part<'_>),
    ) -> Result<(), Error> {
        check_lengths(bytes.as_ref(), tokens)?;
        self.take(Input::FeedTokens(bytes.as_ref(), tokens), on_part)
    }

    /// Reports the held bytes as text: those that may begin a marker, and those of an undecided call. Calls in the thinking still wait
    /// for the text after them, which decides whether they are meant. The text continues.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[doc(alias = "aside_answer_flush")]
    pub fn flush(&mut self, on_part: impl FnMut(Part<'_>)) -> Result<(), Error> {
        self.take(Input::Flush, on_part)
    }

    /// Closes the open thinking or the open call, like [`Scanner::force_close`](crate::Scanner::force_close).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[doc(alias = "aside_answer_force_close")]
    pub fn force_close(&mut self, on_part: impl FnMut(Part<'_>)) -> Result<(), Error> {
        self.take(Input::ForceClose, on_part)
    }

    /// Ends the text, for this reason, and reports the parts that are left. The next feed begins a new text, with the answer's own
    /// start and tools.
    ///
    /// The reason matters if a call, or thinking that may be the answer, is open at the end. Only a text that
    /// [ended](EndReason::Ended) by itself may end a call that has no end, or turn out to be an answer without markers.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    #[doc(alias = "aside_answer_finish")]
    pub fn finish(&mut self, reason: EndReason, on_part: impl FnMut(Part<'_>)) -> Result<(), Error> {
        self.text.end_reason = reason;
        self.scan(Input::Finish)?;
        if reason == EndReason::Ended {
            self.promote()?;
        }
        self.report(on_part);
        self.begin();
        Ok(())
    }

    /// Forgets the text, its counts, and every error. The next feed begins a new text, with the answer's own start and tools.
    #[doc(alias = "aside_answer_reset")]
    pub fn reset(&mut self) {
        self.text.scanner.reset();
        self.begin();
    }

    /// Begins a new text.
    fn begin(&mut self) {
        self.setup.begin_stream();
        self.text.begin();
        self.promotion = self.promotes.of_stream();
    }

    /// Returns the number of bytes of the text that are held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.text.held()
    }

    /// Returns the counts of a channel's text, like [`Scanner::counts`](crate::Scanner::counts). They include thinking that was
    /// dropped, and text that was moved later.
    #[doc(alias = "aside_answer_counts")]
    #[must_use]
    pub fn counts(&self, channel: Channel) -> Counts {
        self.text.scanner.counts(channel)
    }

    /// Returns the scanner that reads the text.
    #[cfg(feature = "c-api")]
    pub(crate) fn scanner(&self) -> &crate::Scanner {
        &self.text.scanner
    }

    /// Removes and returns the oldest whole thought, like [`Scanner::take_thought`](crate::Scanner::take_thought).
    pub fn take_thought(&mut self) -> Option<Thought> {
        self.text.scanner.take_thought()
    }

    /// Reads the next input, and reports its parts.
    fn take(&mut self, input: Input<'_>, on_part: impl FnMut(Part<'_>)) -> Result<(), Error> {
        self.scan(input)?;
        self.report(on_part);
        Ok(())
    }

    /// Reads the next input, and collects its parts.
    fn scan(&mut self, input: Input<'_>) -> Result<(), Error> {
        let Answer { setup, text, parts, id_prefix, promotion, .. } = self;
        parts.begin(Purpose::Parts { may_take_back: self.may_take_back });
        setup.look_for_calls(text, || Ok(copy_text(id_prefix)?), false)?;
        setup.scan(text, input, parts)?;
        Ok(promotion.take(parts)?)
    }

    /// Adds the thinking to the parts as content, if it turned out to be the answer.
    fn promote(&mut self) -> Result<(), Error> {
        let Answer { parts, promotion, promotes, text, .. } = self;
        let kept = promotion.content();
        let was_answer = text.was_answer && promotes.is_guess_wanted || kept.is_none_or(|kept| !kept.is_empty());
        // Only thinking that was reported can be moved.
        let may_move = self.may_take_back && self.thinking == Thinking::Keep;
        match kept {
            _ if may_move && was_answer => parts.push_mark(RunKind::WasAnswer)?,
            Some(kept) if !may_move => parts.push_content(kept)?,
            _ => {}
        }
        Ok(())
    }

    /// Reports the collected parts.
    fn report(&self, mut on_part: impl FnMut(Part<'_>)) {
        let parts = &self.parts;
        for run in parts.runs() {
            if self.thinking != Thinking::Drop || run.kind != RunKind::Reasoning {
                on_part(part(parts, run));
            }
        }
    }
}

/// Returns a stretch as a part.
fn part<'a>(parts: &'a Parts, run: &Run) -> Part<'a> {
    let text = parts.text_of(run);
    // Names, ids and arguments come from strings.
    let string = |text| str::from_utf8(text).unwrap_or_default();
    match run.kind {
        RunKind::Reasoning => Part::Thinking(text),
        RunKind::Call { index, is_made, .. } => {
            let Some(CallPart::Begin { id, name }) = parts.call_part(run) else { return Part::Content(text) };
            Part::Call { index, id: string(id), is_made, name: string(name) }
        }
        RunKind::Arguments { index } => Part::Arguments { index, json: string(text) },
        RunKind::CallEnd { index, cause, is_whole, is_repaired } => {
            let late_id = (!text.is_empty()).then(|| string(text));
            Part::CallEnd { index, is_whole, is_repaired, cause, late_id }
        }
        RunKind::WasThinking => Part::Moved { from: Channel::Content, to: Channel::Thinking },
        RunKind::WasAnswer => Part::Moved { from: Channel::Thinking, to: Channel::Content },
        RunKind::Budget => Part::Budget,
        // Parts have no objects: their calls are reported piece by piece.
        RunKind::Content | RunKind::Object { .. } => Part::Content(text),
    }
}
