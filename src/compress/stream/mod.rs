//! A tool's output as it comes, in bounded memory. A program may print for hours, so a stream must never hold more than
//! its memory, nor let the place where a chunk ends show in its result.

mod retention;
mod ring;

use std::{borrow::Cow, fmt, sync::Arc};

use crate::compress::{
    called::input::Input,
    lines::{
        class::Class,
        failures,
        layout::{Layout, Text},
        protect::may_be_protected,
        verdict::Said,
        weak::may_have_weak,
    },
    passes::terminal::TERMINAL,
    pipeline::{
        call::{Call, Original},
        compressor::Compressor,
        report::Report,
    },
    text::{
        banner::has_banner,
        controls::{has_controls, plain_lines},
        length::units,
    },
};
use crate::utf8::incomplete_tail;
use retention::Retention;

/// The smallest memory for a stream without a budget.
const MIN_MEMORY: usize = 4096;
/// The filters that pass lines on before the end is known.
const PASSING: [&str; 3] = [TERMINAL, "repeats", "repeats-above"];

/// Compresses a text that comes in chunks, in bounded memory.
///
/// While the text fits into the memory, the result is that of one call, without the banner, and comes at `finish`. A
/// longer text without a budget comes out as it goes, without its repeats. With a budget it comes at `finish`: its
/// head, its tail and its error regions, with exact markers between them. How the text was cut into chunks does not
/// matter.
///
/// ```
/// use std::sync::Arc;
/// use aside::compress::{Compressor, Input, Registry, Stream};
///
/// let compressor = Arc::new(Compressor::new(Registry::new()).budget(2000)?);
/// let mut stream = Stream::new(compressor, "bash", Input::of_command("make"), 16_000)?;
/// let mut result = Vec::new();
/// for line in 0..10_000 {
///     stream.feed(format!("compiling file {line}\n").as_bytes(), |bytes| result.extend_from_slice(bytes));
/// }
/// let report = stream.finish(|bytes| result.extend_from_slice(bytes));
/// assert!(result.len() <= 2000 && result.ends_with(b"compiling file 9999\n"));
/// assert_eq!(report.before, 198_890);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a stream holds text until `finish` is called"]
pub struct Stream {
    compressor: Arc<Compressor>,
    tool_id: String,
    input: Input,
    memory: usize,
    buffer: Vec<u8>,
    /// How many bytes at the front of the buffer are a reminder of what is open there. They are not part of the text.
    reminder_len: usize,
    mode: Mode,
    /// The buffer begins inside a line whose beginning has left it already.
    inside_line: bool,
    /// What came out says of the run.
    said: Said,
    report: Report,
}

/// The error of memory that is too small for a stream.
///
/// ```
/// use std::sync::Arc;
/// use aside::compress::{Compressor, Input, Registry, Stream};
///
/// let compressor = Arc::new(Compressor::new(Registry::new()));
/// let error = Stream::new(compressor, "bash", Input::of_command("make"), 100).unwrap_err();
/// assert!(error.to_string().starts_with("a stream needs at least 4096 bytes of memory"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryError {
    least: usize,
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a stream needs at least {} bytes of memory, and four times its budget if it has one", self.least)
    }
}

impl std::error::Error for MemoryError {}

/// What happens to the text.
enum Mode {
    /// The text fits so far.
    Whole,
    /// The text comes out as it came in.
    Unchanged,
    /// The text comes out without its repeats.
    Passing,
    /// The lines that matter are kept for the end.
    Keeping(Box<Retention>),
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stream = f.debug_struct("Stream");
        stream.field("tool_id", &self.tool_id).field("input", &self.input).field("memory", &self.memory);
        stream.field("buffered", &self.buffer.len()).field("report", &self.report).finish_non_exhaustive()
    }
}

impl Stream {
    /// Returns a stream for one tool's output, which holds at most `memory` bytes of text. With a budget, `memory` must
    /// be at least four times as large.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if `memory` is too small; it has the least that there must be.
    #[doc(alias = "aside_tool_stream_new")]
    pub fn new(compressor: Arc<Compressor>, tool_id: &str, input: Input, memory: usize) -> Result<Stream, MemoryError> {
        let least = compressor.limit().map_or(MIN_MEMORY, |budget| budget.saturating_mul(4));
        if memory < least {
            return Err(MemoryError { least });
        }
        let report = Report { tool_id: tool_id.to_owned(), ..Report::default() };
        let tool_id = tool_id.to_owned();
        Ok(Stream {
            compressor,
            tool_id,
            input,
            memory,
            buffer: Vec::new(),
            reminder_len: 0,
            mode: Mode::Whole,
            inside_line: false,
            said: Said::default(),
            report,
        })
    }

    /// Takes the next bytes. Calls `out` with the bytes that are decided.
    #[doc(alias = "aside_tool_stream_feed")]
    pub fn feed(&mut self, mut chunk: &[u8], mut out: impl FnMut(&[u8])) {
        loop {
            let room = self.memory + self.reminder_len - self.buffer.len();
            if chunk.len() <= room {
                self.buffer.extend_from_slice(chunk);
                return;
            }
            self.buffer.extend_from_slice(&chunk[..room]);
            chunk = &chunk[room..];
            self.choose();
            // Half of the memory stays, so that a window is read with what comes after it.
            while self.buffer.len() > self.memory / 2 + self.reminder_len {
                self.window(false, &mut out);
            }
        }
    }

    /// Ends the text: calls `out` with the rest, and returns what was done.
    #[doc(alias = "aside_tool_stream_finish")]
    pub fn finish(mut self, mut out: impl FnMut(&[u8])) -> Report {
        if matches!(self.mode, Mode::Whole) {
            let text = std::mem::take(&mut self.buffer);
            let original = Original::new(&text);
            self.report.before = original.length.units;
            let call = Call::new(&self.tool_id, &self.input);
            match self.compressor.part(&call, 0, &original, self.compressor.limit(), &mut self.report) {
                Some(shorter) => {
                    self.report.after = units(&shorter.text);
                    self.say(&shorter.text);
                    out(&shorter.text);
                }
                None => {
                    self.report.after = self.report.before;
                    self.say(&text);
                    out(&text);
                }
            }
            self.report.unexplained = self.said.is_unexplained(&self.input);
            return self.report;
        }
        while self.buffer.len() > self.reminder_len {
            self.window(true, &mut out);
        }
        if let (Mode::Keeping(retention), Some(budget)) = (&mut self.mode, self.compressor.limit()) {
            if self.inside_line {
                retention.end_line();
            }
            let result = retention.result(&self.input, budget);
            self.report.after += units(&result);
            if !self.report.filters.iter().any(|id| id == "budget") {
                self.report.filters.push("budget".to_owned());
            }
            self.say(&result);
            out(&result);
        }
        self.report.unexplained = self.said.is_unexplained(&self.input);
        self.report
    }

    /// Notes what a text that comes out says, if the command failed.
    fn say(&mut self, text: &[u8]) {
        if self.input.exit_code().is_some_and(|code| code != 0) {
            self.said.read(text);
        }
    }

    /// Decides what becomes of a text that has outgrown the memory.
    fn choose(&mut self) {
        if !matches!(self.mode, Mode::Whole) {
            return;
        }
        let is_protected = may_be_protected(&self.buffer) || has_banner(&self.buffer);
        self.mode = match self.compressor.limit() {
            None if is_protected => Mode::Unchanged,
            None => Mode::Passing,
            Some(_) => {
                self.report.cut_protected = is_protected;
                Mode::Keeping(Box::new(Retention::new(self.memory / 2, may_have_weak(&self.input))))
            }
        };
    }

    /// Takes the first lines out of the buffer, about a quarter of the memory, and filters them. `ends` says that no
    /// more text comes.
    fn window(&mut self, ends: bool, out: &mut impl FnMut(&[u8])) {
        let (end, reminder) = self.window_end();
        let rest = self.buffer.split_off(end);
        let all = std::mem::replace(&mut self.buffer, rest);
        let (context, window) = all.split_at(self.reminder_len);
        let goes_on = self.report.before > 0;
        self.report.before += units(window);
        let breaks_line = !window.ends_with(b"\n");
        // A line that is longer than the memory is not filtered.
        let head = if self.inside_line { memchr::memchr(b'\n', window).map_or(window.len(), |end| end + 1) } else { 0 };
        let (head, lines) = window.split_at(head);
        let lines_end = if breaks_line && !(ends && self.buffer.is_empty()) { line_start(lines) } else { lines.len() };
        let (lines, broken) = lines.split_at(lines_end);
        self.inside_line = breaks_line && (!broken.is_empty() || self.inside_line && head.len() == window.len());
        self.reminder_len = if self.inside_line { 0 } else { reminder.len() };
        self.buffer.splice(0..0, reminder.into_iter().take(self.reminder_len));
        let call = Call::new(&self.tool_id, &self.input);
        let is_failed = self.input.exit_code().is_some_and(|code| code != 0);
        match &mut self.mode {
            Mode::Whole => unreachable!("a window is cut when the text does not fit"),
            Mode::Unchanged => {
                self.report.after += units(window);
                if is_failed {
                    self.said.read(window);
                }
                out(window);
            }
            Mode::Passing => {
                let wanted = |id: &str| PASSING.contains(&id);
                let mut run =
                    |text| self.compressor.run(&call, &part_of(text, goes_on), None, &mut self.report, wanted).0;
                // Where there is a reminder, the window begins with a line.
                let mut edited = run(if context.is_empty() { lines } else { &all[..context.len() + lines.len()] });
                let mut from = context.len();
                if !edited.bytes.starts_with(context) {
                    // The cursor went up into it.
                    (edited, from) = (run(lines), 0);
                }
                for piece in [head, &edited.bytes[from..], broken].into_iter().filter(|piece| !piece.is_empty()) {
                    self.report.after += units(piece);
                    if is_failed {
                        self.said.read(piece);
                    }
                    out(piece);
                }
            }
            Mode::Keeping(retention) => {
                let wanted = |id: &str| id == TERMINAL;
                let (edited, _) = self.compressor.run(&call, &part_of(lines, goes_on), None, &mut self.report, wanted);
                retention.pass(head);
                retention.take(context, &edited.bytes);
                retention.pass(broken);
            }
        }
    }

    /// Returns where the window ends: after the last line end in the first quarter of the memory that is not inside an
    /// error region or hunk, if there is one. Also returns the reminder for the next window.
    fn window_end(&self) -> (usize, Vec<u8>) {
        let quarter = (self.reminder_len + self.memory / 4).min(self.buffer.len());
        if quarter == self.buffer.len() {
            return (quarter, Vec::new());
        }
        // Failures may be coloured.
        let has_controls = has_controls(&self.buffer);
        let plain = if has_controls { plain_lines(&self.buffer).into() } else { Cow::Borrowed(&self.buffer[..]) };
        let layout = Layout::new(&plain, failures::built_in());
        let text = Text::new(&plain, &layout);
        let last = bytecount::count(&self.buffer[..quarter], b'\n');
        let first = 1 + usize::from(self.reminder_len > 0);
        let is_free =
            |line: usize| line == text.len() || !(text.class(line).has(Class::REGION) || text.is_inside_hunk(line));
        let line = (first..=last).rev().find(|&line| is_free(line)).unwrap_or(last.max(first));
        let mut ends = memchr::memchr_iter(b'\n', &self.buffer).map(|end| end + 1);
        let end = ends.nth(line - 1).unwrap_or(self.buffer.len());
        // If a line is longer than that, a character may not be complete: it counts once, with its rest.
        (end - incomplete_tail(&self.buffer[..end]), reminder(text, line))
    }
}

/// The longest line that can be a reminder.
const LONGEST_REMINDER: usize = 256;

/// Returns one line that says what is open before this line: a header for what is left of a hunk, the line that began
/// an open section, or the last failure of an error region. With it, the lines after it are read as what they are.
fn reminder(text: Text<'_>, line: usize) -> Vec<u8> {
    if line >= text.len() {
        return Vec::new();
    }
    let reminder = match text.is_inside_hunk(line) {
        true => text.rest_of_hunk(line).unwrap_or_default(),
        false => {
            text.opening(line, failures::built_in()).map_or_else(Vec::new, |line| text.bytes[text.span(line)].into())
        }
    };
    if reminder.len() > LONGEST_REMINDER { Vec::new() } else { reminder }
}

/// Returns a part of a text whose beginning was not of a machine format. What the part itself begins with says nothing.
fn part_of(text: &[u8], goes_on: bool) -> Original<'_> {
    Original { format: None, goes_on, ..Original::new(text) }
}

/// Returns where the last line without a line end begins.
fn line_start(text: &[u8]) -> usize {
    memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)
}
