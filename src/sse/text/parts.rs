//! The result for the text of one event: stretches for different fields, in their order, and functions that write them as
//! values of the fields. A call's arguments are JSON already, but clients expect them in a string.

use std::mem;

use crate::json::{Span, decimal, escape, join_lines};
use crate::memory::{self, append, append_all, push};
use crate::sse::options::Field;
use crate::{Channel, Event, Kind};

/// A field for text.
#[derive(Clone, Copy, PartialEq)]
pub enum Target {
    Reasoning,
    Content,
    Calls,
}

impl Target {
    pub const ALL: [Target; 3] = [Target::Reasoning, Target::Content, Target::Calls];

    /// Returns the field's name; `field` is the field for the thinking.
    pub fn name(self, field: Field) -> &'static str {
        match self {
            Target::Reasoning => field.name(),
            Target::Content => "content",
            Target::Calls => "tool_calls",
        }
    }
}

/// The kind of a stretch.
#[derive(Clone, Copy, PartialEq)]
enum RunKind {
    Reasoning,
    Content,
    /// The id and the name of the call with this number. The name begins at this position in the text.
    Call {
        index: u64,
        name: usize,
    },
    Arguments {
        index: u64,
    },
    /// A whole call: its id, then its name and its arguments, an object, from these positions on.
    Object {
        index: u64,
        name: usize,
        arguments: usize,
    },
}

/// A stretch of text for one field.
pub struct Run {
    kind: RunKind,
    text: Span,
}

impl Run {
    pub fn target(&self) -> Target {
        match self.kind {
            RunKind::Reasoning => Target::Reasoning,
            RunKind::Content => Target::Content,
            RunKind::Call { .. } | RunKind::Arguments { .. } | RunKind::Object { .. } => Target::Calls,
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
    /// Whether the stretches are the whole text of a body. In a stream, content may have been sent already, so content never
    /// becomes thinking.
    is_body: bool,
}

impl Parts {
    pub fn clear(&mut self) {
        memory::clear(&mut self.text);
        memory::clear(&mut self.runs);
        (self.counts, self.is_body) = (Counts::default(), false);
        self.may_be_answer = None;
    }

    /// Clears everything for the text of a body or of a stream.
    pub fn begin(&mut self, is_body: bool) {
        self.clear();
        self.is_body = is_body;
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

    /// Returns whether content can become thinking, because none of it has been sent.
    pub(super) fn takes_back(&self) -> bool {
        self.is_body
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
            RunKind::Reasoning | RunKind::Content | RunKind::Object { .. } => None,
        }
    }

    /// Returns the id, the name and the arguments of a stretch that is a whole call with an object as its arguments.
    pub fn object(&self, run: &Run) -> Option<[&[u8]; 3]> {
        let RunKind::Object { name, arguments, .. } = run.kind else { return None };
        let Span { start, end } = run.text;
        Some([&self.text[start..name], &self.text[name..arguments], &self.text[arguments..end]])
    }

    /// Returns whether there is something for a field.
    pub fn has(&self, target: Target) -> bool {
        self.runs.iter().any(|run| run.target() == target)
    }

    /// Adds an event that is not part of an emitted call. Text of a tool call is kept as the model wrote it, for the host's
    /// parser.
    pub fn take(&mut self, event: &Event<'_>) -> memory::Result<()> {
        if event.kind == Kind::Reclassify && event.channel == Channel::Thinking && self.is_body {
            // All content so far was thinking.
            for run in self.runs.iter_mut().filter(|run| run.kind == RunKind::Content) {
                run.kind = RunKind::Reasoning;
            }
            self.counts.thinking += mem::take(&mut self.counts.content);
        }
        match event.channel {
            Channel::Thinking if event.kind == Kind::Text => self.push_thinking(event.bytes),
            Channel::Tool => self.push_content(event.bytes),
            Channel::Content | Channel::Narration if event.kind == Kind::Text => self.push_content(event.bytes),
            _ => Ok(()),
        }
    }

    pub fn push_thinking(&mut self, bytes: &[u8]) -> memory::Result<()> {
        self.push(RunKind::Reasoning, bytes)
    }

    pub fn push_content(&mut self, bytes: &[u8]) -> memory::Result<()> {
        self.push(RunKind::Content, bytes)
    }

    /// Adds the beginning of a call.
    pub fn push_call(&mut self, index: u64, id: &str, name: &str) -> memory::Result<()> {
        let start = self.text.len();
        self.counts.calls += 1;
        append_all(&mut self.text, &[id.as_bytes(), name.as_bytes()])?;
        let kind = RunKind::Call { index, name: start + id.len() };
        push(&mut self.runs, Run { kind, text: start..self.text.len() })
    }

    pub fn push_arguments(&mut self, index: u64, arguments: &str) -> memory::Result<()> {
        self.push(RunKind::Arguments { index }, arguments.as_bytes())
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
            RunKind::Call { .. } | RunKind::Arguments { .. } | RunKind::Object { .. } => {}
        }
        match self.runs.last_mut() {
            Some(run) if run.kind == kind => {
                run.text.end = self.text.len();
                Ok(())
            }
            _ => push(&mut self.runs, Run { kind, text: start..self.text.len() }),
        }
    }

    /// Writes the value of a field: its text in `runs`. `is_whole` means an answer that is not a stream, in which calls
    /// have no number.
    pub fn write(&self, runs: &[Run], target: Target, is_whole: bool, out: &mut Vec<u8>) -> memory::Result<()> {
        let mut runs = runs.iter().filter(|run| run.target() == target);
        if target == Target::Calls {
            return self.write_calls(runs, is_whole, out);
        }
        append(out, b"\"")?;
        runs.try_for_each(|run| escape(self.text_of(run), out))?;
        append(out, b"\"")
    }

    /// Writes a list of the whole calls that `runs` have, on one line.
    pub fn write_objects(&self, runs: &[Run], out: &mut Vec<u8>) -> memory::Result<()> {
        let start = out.len();
        let mut before = &b"["[..];
        for run in runs {
            let (RunKind::Object { index, .. }, Some([id, name, arguments])) = (run.kind, self.object(run)) else {
                continue;
            };
            append_all(out, &[before, b"{\"id\":\""])?;
            escape(id, out)?;
            append_all(out, &[b"\",\"function\":{\"index\":", decimal(index, &mut [0; 20]).as_bytes()])?;
            append(out, b",\"name\":\"")?;
            escape(name, out)?;
            append_all(out, &[b"\",\"arguments\":", arguments, b"}}"])?;
            before = b",";
        }
        join_lines(&mut out[start..]);
        append(out, b"]")
    }

    /// Writes a list of calls. Stretches of one call become one entry, since clients that look for the entries of a call take
    /// the first one.
    fn write_calls<'a>(
        &self,
        runs: impl Iterator<Item = &'a Run>,
        is_whole: bool,
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        let mut open = None;
        append(out, b"[")?;
        for run in runs {
            let index = match run.kind {
                RunKind::Call { index, .. } | RunKind::Arguments { index } => index,
                RunKind::Reasoning | RunKind::Content | RunKind::Object { .. } => continue,
            };
            if open != Some(index) {
                let before = if open.is_some() { &b"\"}},{"[..] } else { b"{" };
                append(out, before)?;
                open = Some(index);
                if !is_whole {
                    append_all(out, &[b"\"index\":", decimal(index, &mut [0; 20]).as_bytes(), b","])?;
                }
                if let RunKind::Call { name, .. } = run.kind {
                    append(out, b"\"id\":\"")?;
                    escape(&self.text[run.text.start..name], out)?;
                    append(out, b"\",\"type\":\"function\",\"function\":{\"name\":\"")?;
                    escape(&self.text[name..run.text.end], out)?;
                    append(out, b"\",\"arguments\":\"")?;
                    continue;
                }
                append(out, b"\"function\":{\"arguments\":\"")?;
            }
            escape(self.text_of(run), out)?;
        }
        append_all(out, &[if open.is_some() { b"\"}}" } else { b"" }, b"]"])
    }
}
