//! Reads one text: feeds the text's scanner, and turns the scanner's events into parts.

use super::around::{Around, Sink};
use super::bare::Bare;
use super::calls::{Calls, MOST_WAITING};
use super::parts::Parts;
use crate::memory::TryBox;
use crate::{Cause, Channel, EndReason, Error, Event, Kind, Scanner, Token};

/// The next input of a text.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// More bytes of the text.
    Feed(&'a [u8]),
    /// More bytes of the text, whose tokens are known.
    FeedTokens(&'a [u8], &'a [Token]),
    Flush,
    /// The host ends the thinking.
    ForceClose,
    /// A call that the server has made itself, which is not in the text.
    ServerCall,
    /// The end of the text.
    Finish,
}

/// The state of one text.
pub struct TextStream {
    pub scanner: Scanner,
    /// Whether the rest of the text is sent unchanged, because the text has finished, or because the server splits it and calls are
    /// not wanted.
    pub over: bool,
    /// The scanner of the content, if the server splits the text itself. It finds calls, and also thinking if the host wants to
    /// move thinking out of such content.
    pub split: TryBox<Scanner>,
    pub(super) moves_thinking: bool,
    /// Whether only blanks have arrived after the server's thinking. A closer after them belongs to the thinking: some servers leave
    /// it in the content.
    pub(super) is_behind_thinking: bool,
    /// Whether the server has itself made a call.
    pub has_own_calls: bool,
    /// Whether the text started in the thinking, and all of the thinking is the answer if the text has ended by itself.
    pub was_answer: bool,
    /// The reason why the text ends, if it is known before the end.
    pub end_reason: EndReason,
    /// The calls of the text, if calls are wanted and some text has arrived.
    pub(super) calls: TryBox<Calls>,
    /// The reader of calls without markers, which gets the text without its thinking.
    pub(super) bare: TryBox<Bare>,
    /// Whether each stretch of the text may begin a block.
    begins_blocks: bool,
    /// The bytes that wait around calls and before blocks.
    around: TryBox<Around>,
}

impl TextStream {
    /// Begins a text. `begins_blocks` means that each of its stretches may begin a block.
    pub fn new(scanner: Scanner, begins_blocks: bool) -> TextStream {
        TextStream {
            scanner,
            over: false,
            split: TryBox::NONE,
            moves_thinking: false,
            is_behind_thinking: false,
            has_own_calls: false,
            was_answer: false,
            end_reason: EndReason::Unknown,
            calls: TryBox::NONE,
            bare: TryBox::NONE,
            begins_blocks,
            around: TryBox::NONE,
        }
    }

    /// Resets everything except the scanner to the start of a stream.
    pub fn begin(&mut self) {
        (self.over, self.has_own_calls, self.was_answer) = (false, false, false);
        (self.split, self.calls, self.bare) = (TryBox::NONE, TryBox::NONE, TryBox::NONE);
        self.end_reason = EndReason::Unknown;
        self.around = TryBox::NONE;
    }

    /// Continues a text that was over, with a new scanner. The numbers of its calls continue.
    pub fn go_on(&mut self) {
        (self.over, self.was_answer, self.end_reason) = (false, false, EndReason::Unknown);
    }

    /// Returns whether the text is the content of a server that splits the thinking, and a leftover closer of the thinking can no
    /// longer follow, so that only calls are looked for.
    pub fn is_behind_server(&self) -> bool {
        self.split.get().is_some() && !self.is_behind_thinking
    }

    /// Returns whether the text has calls without markers.
    pub fn is_bare(&self) -> bool {
        self.bare.get().is_some()
    }

    /// Returns whether calls should be looked for in the text, and are not yet.
    pub(super) fn needs_calls(&self) -> bool {
        !self.has_own_calls && self.calls.get().is_none()
    }

    /// Returns whether a client may get calls of the text.
    pub fn looks_for_calls(&self) -> bool {
        self.calls.get().is_some_and(Calls::may_emit)
    }

    /// Stops looking for calls, because the server itself has made one.
    pub(super) fn give_up_calls(&mut self, waiting: &mut usize, parts: &mut Parts) -> Result<(), Error> {
        let nothing = &mut Around::new(self.begins_blocks);
        let around = self.around.get_mut().unwrap_or(nothing);
        let out = &mut Sink { parts, around, inline: None };
        if let Some(calls) = self.calls.get_mut() {
            *waiting -= calls.waiting();
            calls.give_up(out)?;
        }
        out.give_up_calls()?;
        (self.has_own_calls, self.calls, self.bare) = (true, TryBox::NONE, TryBox::NONE);
        Ok(())
    }

    /// Returns whether a call was emitted whole.
    pub fn has_emitted_call(&self) -> bool {
        self.calls.get().is_some_and(Calls::has_ended)
    }

    /// Returns the number of bytes of the text that are held back.
    pub fn held(&self) -> usize {
        let scanner = self.split.get().unwrap_or(&self.scanner);
        scanner.held().len()
            + self.bare.get().map_or(0, Bare::held)
            + self.calls.get().map_or(0, Calls::waiting)
            + self.around.get().map_or(0, Around::len)
    }

    /// Returns whether the end of the stream may report something.
    pub fn holds(&self) -> bool {
        let scanner = self.split.get().unwrap_or(&self.scanner);
        !scanner.held().is_empty()
            || self.around.get().is_some_and(|around| around.len() > 0)
            || self.calls.get().is_some_and(Calls::is_inside)
    }

    /// Reads the next input. With `is_inline`, the thinking stays in the content. `waiting` counts the bytes of calls that wait in
    /// all texts.
    pub(super) fn scan(
        &mut self,
        input: Input<'_>,
        is_inline: bool,
        waiting: &mut usize,
        parts: &mut Parts,
    ) -> Result<(), Error> {
        let TextStream {
            scanner,
            split,
            moves_thinking,
            is_behind_thinking,
            calls,
            bare,
            begins_blocks,
            around,
            was_answer,
            end_reason,
            ..
        } = self;
        let (mut calls, split, mut bare) = (calls.get_mut(), split.get_mut(), bare.get_mut());
        let is_split = split.is_some() && !*moves_thinking;
        let scanner = split.unwrap_or(scanner);
        *waiting -= calls.as_ref().map_or(0, |calls| calls.waiting());
        let room = MOST_WAITING.saturating_sub(*waiting);
        let looks_for = calls.as_ref().filter(|calls| calls.may_emit()).map(|calls| calls.dialect());
        let mut nothing;
        let around = match looks_for.is_some() || *begins_blocks {
            true => around.made_by(|| Around::new(*begins_blocks))?,
            false => {
                nothing = Around::new(false);
                &mut nothing
            }
        };
        if let Some(dialect) = looks_for {
            around.look_for_calls(dialect)?;
        }
        // A text that consists only of calls has no content in which the thinking could stay.
        let dialect = (is_inline && bare.is_none()).then(|| scanner.dialect().clone());
        let inline = dialect.as_ref().map(|dialect| {
            // Where headers begin the thinking, its closer also ends messages of content, and is not the thinking's there.
            let has_span = dialect.compiled.spans.iter().any(|span| span.channel == Channel::Thinking);
            let block = dialect.compiled.templates.thinking.as_ref().filter(|_| has_span);
            block.map_or(&b""[..], |block| block.close.trim_ascii())
        });
        let out = &mut Sink { parts, around, inline };
        let mut taken = Ok(());
        let take = |mut event: crate::Event<'_>| {
            if let Kind::CallEnd { cause: cause @ Cause::Ended, .. } = &mut event.kind
                && *end_reason != EndReason::Ended
            {
                *cause = Cause::EndOfStream;
            }
            *was_answer |= matches!((event.channel, &event.kind), (Channel::Content, Kind::Reclassify));
            if taken.is_ok() {
                taken = match &mut calls {
                    Some(calls) if let Some(bare) = &mut bare => {
                        let is_thinking = event.channel == Channel::Thinking && !is_split;
                        let is_text = event.kind == Kind::Text || event.channel == Channel::Tool || is_split;
                        match is_text && !is_thinking {
                            true => in_turn(|take| bare.feed(event.bytes, take), |event| calls.take(event, room, out)),
                            false => out.take(&event).map_err(Into::into),
                        }
                    }
                    _ if is_split && event.channel != Channel::Tool => {
                        let is_closer = matches!(event.kind, Kind::Framing | Kind::Close(_) | Kind::Reclassify);
                        let is_text = !event.bytes.trim_ascii().is_empty() && !is_closer;
                        *is_behind_thinking &= !is_text;
                        match *is_behind_thinking && is_closer {
                            true => Ok(()),
                            false => out.push_content(event.bytes).map_err(Into::into),
                        }
                    }
                    Some(calls) => calls.take(&event, room, out),
                    None => out.take(&event).map_err(Into::into),
                };
            }
        };
        match input {
            Input::Feed(text) => scanner.feed(text, take),
            Input::FeedTokens(text, tokens) => scanner.feed_tokens(text, tokens, take),
            Input::Flush => scanner.flush(take),
            Input::ForceClose => scanner.force_close(take),
            Input::ServerCall => scanner.pass_call(take),
            Input::Finish => {
                // The caller knows the real reason, and decides whether the text may end here.
                scanner.end_reason(EndReason::Ended);
                scanner.finish(take)
            }
        }?;
        taken?;
        if let (Some(bare), Some(calls)) = (bare, &mut calls) {
            let take = |event: &Event<'_>| calls.take(event, room, out);
            match input {
                Input::Feed(_) | Input::FeedTokens(..) | Input::ForceClose => {}
                Input::Flush | Input::ServerCall => in_turn(|take| bare.flush(take), take)?,
                Input::Finish => in_turn(|take| bare.finish(take), take)?,
            }
        }
        let may_be_answer = !matches!(input, Input::Finish) && scanner.may_be_answer();
        out.parts.may_be_answer = Some(*was_answer || may_be_answer);
        if let Some(calls) = calls {
            match input {
                Input::Feed(_) | Input::FeedTokens(..) | Input::ForceClose => {}
                Input::Flush => calls.release(out)?,
                Input::ServerCall | Input::Finish => calls.finish(room, out)?,
            }
            *waiting += calls.waiting();
        }
        match input {
            Input::Feed(_) | Input::FeedTokens(..) | Input::ForceClose => {}
            Input::Flush | Input::ServerCall => out.release()?,
            Input::Finish => out.finish()?,
        }
        Ok(())
    }
}

/// Calls `take` with each event of a scanner until one fails.
fn in_turn(
    scan: impl FnOnce(&mut dyn FnMut(&Event<'_>)) -> Result<(), Error>,
    mut take: impl FnMut(&Event<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut taken = Ok(());
    scan(&mut |event| {
        if taken.is_ok() {
            taken = take(event);
        }
    })?;
    taken
}
