//! The result for some input of a text: stretches of thinking, content and calls, in their order.

use std::mem;

use crate::Cause;
use crate::call_writer::End;
use crate::json::Span;
use crate::memory::{self, append, append_all, push};

/// A field for text.
#[derive(Clone, Copy, PartialEq)]
pub enum Target {
    Reasoning,
    Content,
    Calls,
}

impl Target {
    pub const ALL: [Target; 3] = [Target::Reasoning, Target::Content, Target::Calls];
}

/// The kind of a stretch.
#[derive(Clone, Copy, PartialEq)]
pub enum RunKind {
    Reasoning,
    Content,
    /// The id and the name of the call with this number. The name begins at this position in the text.
    Call {
        index: u64,
        name: usize,
        is_made: bool,
    },
    Arguments {
        index: u64,
    },
    /// A whole call: its id, and after it the name and the arguments (an object), which begin at these positions.
    Object {
        index: u64,
        name: usize,
        arguments: usize,
    },
    /// The end of the call with this number, and an id that the model wrote only after the call was reported.
    CallEnd {
        index: u64,
        cause: Cause,
        is_whole: bool,
        is_repaired: bool,
    },
    /// All content so far was thinking.
    WasThinking,
    /// All thinking so far was the answer.
    WasAnswer,
    /// The thinking exceeds its budget here.
    Budget,
}

/// A stretch of text for one field.
pub struct Run {
    pub kind: RunKind,
    text: Span,
}

impl Run {
    pub fn target(&self) -> Target {
        match self.kind {
            RunKind::Reasoning | RunKind::WasThinking | RunKind::WasAnswer | RunKind::Budget => Target::Reasoning,
            RunKind::Content => Target::Content,
            _ => Target::Calls,
        }
    }
}

/// The part of a call that a stretch has.
pub enum CallPart<'a> {
    Begin { id: &'a [u8], name: &'a [u8] },
    Arguments(&'a [u8]),
}

/// The number of bytes of thinking and of content in some stretches, and the number of calls that begin in them.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub thinking: u64,
    pub content: u64,
    pub calls: u64,
}

/// Stretches of text. Two successive stretches are for different fields or calls.
#[derive(Default)]
pub struct Parts {
    text: Vec<u8>,
    runs: Vec<Run>,
    counts: Counts,
    /// Whether the thinking of the text that was read last may turn out to be its answer; `None` if no text was read.
    pub may_be_answer: Option<bool>,
    /// The use of the stretches.
    purpose: Purpose,
}

/// The use of stretches, which decides whether content may become thinking, and whether the ends of calls are included.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Purpose {
    /// The stretches are sent in a stream. Content may have been sent already, so content never becomes thinking.
    #[default]
    Stream,
    /// The stretches are the whole text of a body.
    Body,
    /// The stretches are reported as parts of an answer, with the ends of calls. `may_take_back` means that reported content may
    /// become thinking.
    Parts { may_take_back: bool },
}

impl Parts {
    pub fn clear(&mut self) {
        memory::clear(&mut self.text);
        memory::clear(&mut self.runs);
        (self.counts, self.purpose) = (Counts::default(), Purpose::Stream);
        self.may_be_answer = None;
    }

    /// Clears everything for text with this purpose.
    pub fn begin(&mut self, purpose: Purpose) {
        self.clear();
        self.purpose = purpose;
    }

    /// Turns all thinking into content. Returns its length.
    pub(super) fn answer(&mut self) -> u64 {
        for run in self.runs.iter_mut().filter(|run| run.kind == RunKind::Reasoning) {
            run.kind = RunKind::Content;
        }
        let moved = mem::take(&mut self.counts.thinking);
        self.counts.content += moved;
        moved
    }

    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the whole text, with the ids and names of calls.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    pub fn text_of(&self, run: &Run) -> &[u8] {
        &self.text[run.text.clone()]
    }

    /// Returns whether content can become thinking.
    pub(super) fn takes_back(&self) -> bool {
        matches!(self.purpose, Purpose::Body | Purpose::Parts { may_take_back: true })
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the part of a call that a stretch has.
    pub fn call_part(&self, run: &Run) -> Option<CallPart<'_>> {
        match run.kind {
            RunKind::Call { name, .. } => {
                Some(CallPart::Begin { id: &self.text[run.text.start..name], name: &self.text[name..run.text.end] })
            }
            RunKind::Arguments { .. } => Some(CallPart::Arguments(self.text_of(run))),
            _ => None,
        }
    }

    /// Returns the id, the name and the arguments of a stretch that is a whole call with an object as its arguments.
    pub fn object(&self, run: &Run) -> Option<[&[u8]; 3]> {
        let RunKind::Object { name, arguments, .. } = run.kind else { return None };
        let Span { start, end } = run.text;
        Some([&self.text[start..name], &self.text[name..arguments], &self.text[arguments..end]])
    }

    /// Returns whether a field gets any text.
    pub fn has(&self, target: Target) -> bool {
        self.runs.iter().any(|run| run.target() == target)
    }

    /// Notes that the thinking exceeds its budget here, if the purpose includes such marks.
    pub fn push_budget(&mut self) -> memory::Result<()> {
        if matches!(self.purpose, Purpose::Parts { .. }) { self.push_mark(RunKind::Budget) } else { Ok(()) }
    }

    /// Turns all content so far into thinking, if the purpose allows that.
    pub fn content_was_thinking(&mut self) -> memory::Result<()> {
        match self.purpose {
            Purpose::Body => {
                for run in self.runs.iter_mut().filter(|run| run.kind == RunKind::Content) {
                    run.kind = RunKind::Reasoning;
                }
                self.counts.thinking += mem::take(&mut self.counts.content);
                Ok(())
            }
            Purpose::Parts { may_take_back: true } => self.push_mark(RunKind::WasThinking),
            Purpose::Stream | Purpose::Parts { may_take_back: false } => Ok(()),
        }
    }

    /// Adds a stretch without text.
    pub fn push_mark(&mut self, kind: RunKind) -> memory::Result<()> {
        let end = self.text.len();
        push(&mut self.runs, Run { kind, text: end..end })
    }

    pub fn push_thinking(&mut self, bytes: &[u8]) -> memory::Result<()> {
        self.push(RunKind::Reasoning, bytes)
    }

    pub fn push_content(&mut self, bytes: &[u8]) -> memory::Result<()> {
        self.push(RunKind::Content, bytes)
    }

    /// Adds the beginning of a call.
    pub fn push_call(&mut self, index: u64, id: &str, is_made: bool, name: &str) -> memory::Result<()> {
        let start = self.text.len();
        self.counts.calls += 1;
        append_all(&mut self.text, &[id.as_bytes(), name.as_bytes()])?;
        let kind = RunKind::Call { index, name: start + id.len(), is_made };
        push(&mut self.runs, Run { kind, text: start..self.text.len() })
    }

    pub fn push_arguments(&mut self, index: u64, arguments: &str) -> memory::Result<()> {
        self.push(RunKind::Arguments { index }, arguments.as_bytes())
    }

    /// Adds the end of a call, if the purpose includes the ends of calls.
    pub fn push_end(&mut self, index: u64, end: &End<'_>) -> memory::Result<()> {
        if !matches!(self.purpose, Purpose::Parts { .. }) {
            return Ok(());
        }
        let start = self.text.len();
        append(&mut self.text, end.late_id.unwrap_or_default().as_bytes())?;
        let End { cause, is_whole, is_repaired, .. } = *end;
        let kind = RunKind::CallEnd { index, cause, is_whole, is_repaired };
        push(&mut self.runs, Run { kind, text: start..self.text.len() })
    }

    /// Adds a whole call, whose arguments are an object.
    pub fn push_object(&mut self, index: u64, id: &str, name: &str, arguments: &str) -> memory::Result<()> {
        let start = self.text.len();
        self.counts.calls += 1;
        append_all(&mut self.text, &[id.as_bytes(), name.as_bytes(), arguments.as_bytes()])?;
        let kind = RunKind::Object { index, name: start + id.len(), arguments: start + id.len() + name.len() };
        push(&mut self.runs, Run { kind, text: start..self.text.len() })
    }

    fn push(&mut self, kind: RunKind, bytes: &[u8]) -> memory::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let start = self.text.len();
        append(&mut self.text, bytes)?;
        match kind {
            RunKind::Reasoning => self.counts.thinking += bytes.len() as u64,
            RunKind::Content => self.counts.content += bytes.len() as u64,
            _ => {}
        }
        match self.runs.last_mut() {
            Some(run) if run.kind == kind => {
                run.text.end = self.text.len();
                Ok(())
            }
            _ => push(&mut self.runs, Run { kind, text: start..self.text.len() }),
        }
    }
}
