//! Splits whole texts into stretches for each kind of item, and compares these with the output of a stream.

use super::annotations::{Stretches, chars};
use super::calls::prefix;
use super::message::{ItemKind, Piece, SentDigest, TextConfig, TextPart};
use crate::answer::{self, CallPart, Input, Parts, Purpose, Setup};
use crate::json::Span;
use crate::memory::{self, append, push};
use crate::utf8::is_continuation;
use crate::{Channel, EndReason, Error, Kind};

/// A call in a text.
pub struct WholeCall {
    pub id: Vec<u8>,
    pub name: Vec<u8>,
    pub arguments: Vec<u8>,
}

/// A whole text that was split: for each kind of item, all of its text joined.
#[derive(Default)]
pub struct SplitText {
    pub order: Vec<(answer::Target, usize)>,
    pub thinking: Vec<u8>,
    pub content: Vec<u8>,
    pub calls: Vec<WholeCall>,
    /// The digest of these texts, for comparison with a stream's output.
    pub sent: SentDigest,
}

impl SplitText {
    pub fn read(parts: &Parts) -> Result<SplitText, Error> {
        let mut split = SplitText::default();
        split.sent.add(parts);
        for run in parts.runs() {
            let text = parts.text_of(run);
            match run.target() {
                answer::Target::Reasoning => append(&mut split.thinking, text)?,
                answer::Target::Content => append(&mut split.content, text)?,
                answer::Target::Calls => match (parts.call_part(run), split.calls.last_mut()) {
                    (Some(CallPart::Begin { id, name }), _) => {
                        let (id, name) = (memory::copy(id)?, memory::copy(name)?);
                        push(&mut split.calls, WholeCall { id, name, arguments: Vec::new() })?;
                    }
                    (Some(CallPart::Arguments(more)), Some(call)) => {
                        append(&mut call.arguments, more)?;
                        continue;
                    }
                    _ => continue,
                },
            }
            push(&mut split.order, (run.target(), text.len()))?;
        }
        Ok(split)
    }

    /// Divides the text into thinking and content as the stream did, if both together have the same length as there: a stream
    /// may learn too late that text already sent was of the other kind.
    pub fn lay_out<'a>(&mut self, pieces: impl Iterator<Item = &'a Piece> + Clone) -> Result<(), Error> {
        let len =
            |kind: ItemKind| pieces.clone().filter(|piece| piece.kind == kind).map(|piece| piece.len).sum::<usize>();
        let (thinking, content) = (len(ItemKind::Reasoning), len(ItemKind::Message));
        let all = self.thinking.len() + self.content.len();
        if thinking == self.thinking.len() || thinking + content != all {
            return Ok(());
        }
        let (mut old, mut joined) = ([0, 0], Vec::new());
        for &(target, len) in &self.order {
            let (at, text) = match target {
                answer::Target::Reasoning => (&mut old[0], &self.thinking),
                answer::Target::Content => (&mut old[1], &self.content),
                answer::Target::Calls => continue,
            };
            append(&mut joined, &text[take(at, text.len(), len, false)])?;
        }
        self.thinking.clear();
        self.content.clear();
        let mut at = 0;
        for piece in pieces {
            match piece.kind {
                ItemKind::Reasoning => append(&mut self.thinking, &joined[take(&mut at, all, piece.len, false)])?,
                ItemKind::Message => append(&mut self.content, &joined[take(&mut at, all, piece.len, false)])?,
                ItemKind::Verbatim | ItemKind::Call(_) => {}
            }
        }
        Ok(())
    }
}

/// A comparison of a whole text with the sent text of its part.
#[derive(Clone, Copy, PartialEq)]
pub enum Comparison {
    /// The text is the same, or the stream had none.
    Same,
    /// The text differs, but its output is the same except for white space.
    Known,
    /// Some content of the text may not have been sent.
    NewContent,
    /// Thinking or calls of the text may not have been sent.
    New,
}

impl Comparison {
    pub fn of(part: &TextPart, said: &[u8], split: &SplitText) -> Comparison {
        match &split.sent {
            _ if part.agrees(said) => Comparison::Same,
            sent if *sent == part.sent => Comparison::Known,
            sent if sent.has_only_content_more_than(&part.sent) => Comparison::NewContent,
            _ => Comparison::New,
        }
    }

    pub fn is_new(self) -> bool {
        matches!(self, Comparison::NewContent | Comparison::New)
    }
}

/// Splits a whole text of a message. With `may_answer`, unclosed thinking at its start becomes content.
pub fn split_text(
    setup: &mut Setup,
    id: &[u8],
    config: TextConfig,
    is_body: bool,
    end_reason: EndReason,
    may_answer: bool,
    said: &[u8],
) -> Result<SplitText, Error> {
    let stats = setup.stats;
    let mut text = config.start(setup)?;
    let mut parts = Parts::default();
    parts.begin(if is_body { Purpose::Body } else { Purpose::Stream });
    if !config.server.calls {
        setup.look_for_calls(&mut text, || prefix(id, config.number), is_body)?;
    }
    setup.scan(&mut text, Input::Feed(said), &mut parts)?;
    text.end_reason = end_reason;
    setup.scan(&mut text, Input::Finish, &mut parts)?;
    if may_answer && text.was_answer {
        setup.answer(&mut parts);
    }
    if !is_body {
        // The text was counted when it arrived in pieces.
        setup.stats = stats;
    }
    SplitText::read(&parts)
}

/// Returns the content of a whole text, and the comparison of the text with the stream's output for this part.
pub fn content_of(setup: &mut Setup, id: &[u8], part: &TextPart, said: &[u8]) -> Result<(Vec<u8>, Comparison), Error> {
    let split = split_text(setup, id, part.config, false, EndReason::Unknown, false, said)?;
    let comparison = Comparison::of(part, said, &split);
    Ok((split.content, comparison))
}

/// Returns the ranges of the content of a text.
pub fn content_stretches(
    setup: &Setup,
    config: TextConfig,
    said: &[u8],
    content: &[u8],
) -> Result<Vec<(u64, u64)>, Error> {
    for has_calls in [true, false] {
        let mut scanner = config.start(setup)?.scanner;
        let (mut found, mut left, mut taken) = (Stretches::default(), content, Ok(()));
        let mut take = |event: crate::Event<'_>| {
            let is_content = match event.channel {
                Channel::Content | Channel::Narration => event.kind == Kind::Text,
                Channel::Tool => has_calls,
                _ => false,
            };
            if is_content {
                left = left.strip_prefix(event.bytes).unwrap_or(b"");
            }
            if taken.is_ok() {
                taken = found.add(event.bytes, is_content);
            }
        };
        scanner.feed(said, &mut take)?;
        scanner.finish(&mut take)?;
        taken?;
        let len: u64 = found.list.iter().map(|(_, len)| len).sum();
        if left.is_empty() && len == chars(content) {
            return Ok(found.list);
        }
    }
    Ok(Vec::new())
}

/// Returns the number of bytes that are missing to the end of a character that this length of a text cuts.
pub fn cut_off(text: &[u8], len: usize) -> usize {
    let after = text.get(len..).unwrap_or_default();
    after.iter().take_while(|&&byte| is_continuation(byte)).count()
}

/// Returns the next `len` of `all` bytes from `at`, or the rest with `is_last`.
pub fn take(at: &mut usize, all: usize, len: usize, is_last: bool) -> Span {
    let start = *at;
    *at = if is_last { all } else { all.min(start.saturating_add(len)) };
    start..*at
}
