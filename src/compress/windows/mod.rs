//! Processes a text that may be longer than memory allows: as a whole while it fits, and window by window otherwise. This code must
//! never hold more than its memory, and its result must not depend on where a chunk ends.

mod frames;
mod long_line;
mod retention;
mod ring;

use std::borrow::Cow;

use crate::compress::{
    invocation::Invocation,
    lines::{
        class::Class,
        failures,
        layout::{Layout, Text},
        protect::may_be_protected,
        verdict::Verdicts,
        weak::may_have_weak,
    },
    passes::{terminal::TERMINAL, utf16::UTF16},
    pipeline::{counter::Counter, filters::Pipeline, parts::Original, report::Report},
    text::{
        banner::has_banner,
        controls::{has_controls, plain_lines},
        length::Length,
        limit::Limit,
        utf16::{ByteOrder, Decoder},
    },
};
use crate::utf8::incomplete_tail;
use retention::Retention;

/// The smallest memory for a text without a budget.
const MIN_MEMORY: usize = 4096;
/// The number of bytes that are decoded at once.
const DECODED_AT_ONCE: usize = 64 << 10;
/// The filters that can be applied to a part of a text before its end is known.
const PASSING: [&str; 3] = [TERMINAL, "repeats", "repeats-above"];

/// Returns the least memory for a text with this budget: four times the budget, so that there is enough text to choose from.
pub fn least_memory(budget: Option<Limit>) -> usize {
    budget.map_or(MIN_MEMORY, |budget| budget.bytes.saturating_mul(4))
}

/// The filters for a text, its invocation, and its report.
pub struct Run<'a> {
    pub pipeline: &'a Pipeline,
    /// The host's count of tokens, unless the caller applies it to the result.
    pub counter: Option<&'a Counter>,
    pub invocation: &'a Invocation<'a>,
    pub report: &'a mut Report,
}

/// A text that arrives in chunks, in bounded memory.
pub struct BoundedText {
    memory: usize,
    budget: Option<Limit>,
    buffer: Vec<u8>,
    /// The number of bytes at the front of the buffer that are a reminder: one line of earlier text that shows which construct is
    /// open. These bytes were counted before.
    reminder_len: usize,
    mode: Mode,
    /// Whether the buffer begins inside a line whose beginning has already left the buffer.
    inside_line: bool,
    /// Whether the buffer differs from the text as it arrived: it was decoded, or overwritten frames of a line were dropped.
    is_changed: bool,
    /// Decodes the text, if it is UTF-16 and has outgrown the memory.
    decoder: Option<Decoder>,
    /// The verdicts in the output.
    verdicts: Verdicts,
}

/// The way in which the text is processed.
enum Mode {
    /// The text fits so far.
    Whole,
    /// The text is returned unchanged.
    Unchanged,
    /// The text is returned without its repeats.
    Passing,
    /// The lines that matter are kept, and returned at the end.
    Keeping(Box<Retention>),
}

impl BoundedText {
    /// Returns an empty text. `memory` is at least [`least_memory`].
    pub fn new(memory: usize, budget: Option<Limit>) -> BoundedText {
        BoundedText {
            memory,
            budget,
            buffer: Vec::new(),
            reminder_len: 0,
            mode: Mode::Whole,
            inside_line: false,
            is_changed: false,
            decoder: None,
            verdicts: Verdicts::default(),
        }
    }

    /// Reads the next bytes. Calls `out` with the bytes of the result that are final.
    pub fn feed(&mut self, run: &mut Run<'_>, mut chunk: &[u8], mut out: impl FnMut(&[u8])) {
        if self.decoder.is_none() {
            chunk = self.take(run, chunk, &mut out);
        }
        for part in chunk.chunks(DECODED_AT_ONCE) {
            // Without a decoder, `take` has read the whole chunk.
            let Some(decoder) = &mut self.decoder else { return };
            let text = decoder.decode(part);
            run.report.add_before(Length { bytes: part.len(), units: 0 });
            self.take(run, &text, &mut out);
        }
    }

    /// Reads bytes. If the text proves to be UTF-16, returns the bytes that must be decoded.
    fn take<'c>(&mut self, run: &mut Run<'_>, mut chunk: &'c [u8], mut out: impl FnMut(&[u8])) -> &'c [u8] {
        loop {
            let room = (self.memory + self.reminder_len).saturating_sub(self.buffer.len());
            if chunk.len() <= room {
                self.buffer.extend_from_slice(chunk);
                return &[];
            }
            self.buffer.extend_from_slice(&chunk[..room]);
            chunk = &chunk[room..];
            if self.begin_decoding(run) {
                return chunk;
            }
            if self.drop_frames(run) {
                continue;
            }
            self.choose(run);
            // Half of the memory stays filled, so that the lines of a window are classified together with the text after it.
            while self.buffer.len() > self.memory / 2 + self.reminder_len {
                self.window(run, false, &mut out);
            }
        }
    }

    /// Ends the text: calls `out` with the rest. Returns the verdicts in the output.
    pub fn finish(mut self, run: &mut Run<'_>, mut out: impl FnMut(&[u8])) -> Verdicts {
        if let Some(decoder) = &mut self.decoder {
            let rest = decoder.end();
            self.take(run, &rest, &mut out);
        }
        if matches!(self.mode, Mode::Whole) {
            let text = std::mem::take(&mut self.buffer);
            let original = Original::new(&text);
            self.add_before(run, original.length);
            let begun = std::mem::take(run.report);
            let is_changed = self.is_changed;
            let make = |limit: Option<Limit>| {
                let mut report = begun.clone();
                let result = if is_changed {
                    // The buffer is not the original text, so the report has no stretches of it.
                    let limit = limit.filter(|limit| !limit.fits(&text));
                    Some(run.pipeline.run(run.invocation, &original, limit, &mut report, |_| true).0.bytes)
                } else {
                    let shorter = run.pipeline.part(run.invocation, 0, &original, limit, &mut report);
                    shorter.map(|shorter| shorter.text)
                };
                (result, report)
            };
            let shown = |made: &(Option<Vec<u8>>, Report)| made.0.as_ref().unwrap_or(&text).clone();
            let mut failed = Vec::new();
            let (result, mut report) = Counter::within_any(run.counter, self.budget, &mut failed, make, shown);
            report.failed.append(&mut failed);
            *run.report = report;
            let result = result.unwrap_or(text);
            run.report.add_after(Length::of(&result));
            self.say(run, &result);
            out(&result);
            return self.verdicts;
        }
        while self.buffer.len() > self.reminder_len {
            self.window(run, true, &mut out);
        }
        if let (Mode::Keeping(retention), Some(budget)) = (&mut self.mode, self.budget) {
            if self.inside_line {
                retention.end_line();
            }
            let input = run.invocation.input;
            let kept = retention.kept();
            let result = match run.counter {
                Some(counter) => {
                    let make = |limit| kept.within(input, limit);
                    counter.within(budget, &mut run.report.failed, make, Vec::clone)
                }
                None => kept.within(input, budget),
            };
            run.report.add_after(Length::of(&result));
            if !run.report.filters.iter().any(|id| id == "budget") {
                run.report.filters.push("budget".to_owned());
            }
            self.say(run, &result);
            out(&result);
        }
        self.verdicts
    }

    /// Returns the number of held bytes.
    pub fn held(&self) -> usize {
        self.buffer.len()
    }

    /// Notes the verdicts of an output text at the end of the stream, if the command is known to have failed. Otherwise they are
    /// not needed.
    fn say(&mut self, run: &Run<'_>, text: &[u8]) {
        if run.invocation.input.exit_code().is_some_and(|code| code != 0) {
            self.verdicts.read(text);
        }
    }

    /// Counts text that has left the buffer. The bytes of decoded text were counted when they arrived.
    fn add_before(&self, run: &mut Run<'_>, length: Length) {
        let bytes = if self.decoder.is_some() { 0 } else { length.bytes };
        run.report.add_before(Length { bytes, ..length });
    }

    /// Decodes the buffer if it is the beginning of a text in UTF-16. Returns whether it was UTF-16.
    fn begin_decoding(&mut self, run: &mut Run<'_>) -> bool {
        if !matches!(self.mode, Mode::Whole) || self.is_changed {
            return false;
        }
        let Some(order) = ByteOrder::of(&self.buffer) else { return false };
        let decoder = self.decoder.insert(Decoder::new(order));
        run.report.add_before(Length { bytes: self.buffer.len(), units: 0 });
        self.buffer = decoder.decode(&self.buffer);
        self.is_changed = true;
        run.report.filters.push(UTF16.to_owned());
        true
    }

    /// Decides how to treat a text that has outgrown the memory.
    fn choose(&mut self, run: &mut Run<'_>) {
        if !matches!(self.mode, Mode::Whole) {
            return;
        }
        let is_protected = may_be_protected(&self.buffer) || has_banner(&self.buffer);
        self.mode = match self.budget {
            None if is_protected => Mode::Unchanged,
            None => Mode::Passing,
            Some(budget) => {
                run.report.cut_protected |= is_protected;
                let keeps_weak = may_have_weak(run.invocation.input);
                Mode::Keeping(Box::new(Retention::new(self.memory / 2, budget.bytes, keeps_weak)))
            }
        };
    }

    /// Drops the overwritten text of the last line, which has not ended. Returns whether this has freed half of the memory.
    fn drop_frames(&mut self, run: &mut Run<'_>) -> bool {
        let is_kept = match self.mode {
            Mode::Whole => may_be_protected(&self.buffer) || has_banner(&self.buffer),
            Mode::Unchanged => true,
            Mode::Passing | Mode::Keeping(_) => false,
        };
        let start = line_start(&self.buffer);
        if is_kept || self.buffer.len() - start < self.memory / 2 {
            return false;
        }
        let Some(shown) = frames::shown(&self.buffer[start..]) else { return false };
        if start + shown.len() > self.memory / 2 + self.reminder_len {
            return false;
        }
        let (all, left) = (Length::of(&self.buffer[start..]), Length::of(&shown));
        self.add_before(run, Length { bytes: all.bytes - left.bytes, units: all.units - left.units });
        if !run.report.filters.iter().any(|id| id == TERMINAL) {
            run.report.filters.push(TERMINAL.to_owned());
        }
        self.is_changed = true;
        self.buffer.truncate(start);
        self.buffer.extend(shown);
        true
    }

    /// Removes the first lines from the buffer, about a quarter of the memory, and filters them. `ends` means that no more text
    /// follows.
    fn window(&mut self, run: &mut Run<'_>, ends: bool, out: &mut impl FnMut(&[u8])) {
        let (end, reminder) = self.window_end();
        let rest = self.buffer.split_off(end);
        let all = std::mem::replace(&mut self.buffer, rest);
        let (context, window) = all.split_at(self.reminder_len);
        let goes_on = run.report.before > 0;
        self.add_before(run, Length::of(window));
        let breaks_line = !window.ends_with(b"\n");
        // A line that is longer than the memory is not filtered.
        let head = if self.inside_line { memchr::memchr(b'\n', window).map_or(window.len(), |end| end + 1) } else { 0 };
        let (head, lines) = window.split_at(head);
        let lines_end = if breaks_line && !(ends && self.buffer.is_empty()) { line_start(lines) } else { lines.len() };
        let (lines, broken) = lines.split_at(lines_end);
        self.inside_line = breaks_line && (!broken.is_empty() || self.inside_line && head.len() == window.len());
        self.reminder_len = if self.inside_line { 0 } else { reminder.len() };
        self.buffer.splice(0..0, reminder.into_iter().take(self.reminder_len));
        let may_have_failed = run.invocation.input.exit_code() != Some(0);
        match &mut self.mode {
            Mode::Whole => unreachable!("a window is cut when the text does not fit"),
            Mode::Unchanged => {
                run.report.add_after(Length::of(window));
                if may_have_failed {
                    self.verdicts.read(window);
                }
                out(window);
            }
            Mode::Passing => {
                let wanted = |id: &str| PASSING.contains(&id);
                let mut edit =
                    |text| run.pipeline.run(run.invocation, &part_of(text, goes_on), None, run.report, wanted).0;
                // If there is a reminder, the window begins with a whole line.
                let mut edited = edit(if context.is_empty() { lines } else { &all[..context.len() + lines.len()] });
                let mut from = context.len();
                if !edited.bytes.starts_with(context) {
                    // The text moves the cursor up into the reminder, so it is edited again without the reminder.
                    (edited, from) = (edit(lines), 0);
                }
                for piece in [head, &edited.bytes[from..], broken].into_iter().filter(|piece| !piece.is_empty()) {
                    run.report.add_after(Length::of(piece));
                    if may_have_failed {
                        self.verdicts.read(piece);
                    }
                    out(piece);
                }
            }
            Mode::Keeping(retention) => {
                let wanted = |id: &str| id == TERMINAL;
                let (edited, _) = run.pipeline.run(run.invocation, &part_of(lines, goes_on), None, run.report, wanted);
                retention.take_part(head);
                retention.take(context, &edited.bytes);
                retention.take_part(broken);
            }
        }
    }

    /// Returns the end of the window: after the last line end in the first quarter of the memory that is not inside an error region
    /// or hunk, if there is one. Also returns the reminder for the next window.
    fn window_end(&self) -> (usize, Vec<u8>) {
        let quarter = (self.reminder_len + self.memory / 4).min(self.buffer.len());
        if quarter == self.buffer.len() {
            return (quarter, Vec::new());
        }
        // Colours are removed, because they may hide failures from the patterns.
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
        // If a line is longer than the window, the last character may be incomplete: it is left to the next window.
        (end - incomplete_tail(&self.buffer[..end]), reminder(text, line))
    }
}

/// The longest line that can be a reminder.
const LONGEST_REMINDER: usize = 256;

/// Returns one line for the construct that is open before this line: a header for the rest of a hunk, the line that began
/// an open section, or the last failure of an error region. With it, the lines after it are classified correctly.
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

/// Returns a part of a text whose beginning was not of a machine format. The beginning of the part itself does not show the format.
fn part_of(text: &[u8], goes_on: bool) -> Original<'_> {
    Original { format: None, goes_on, ..Original::new(text) }
}

/// Returns the beginning of the last line, which has no line end.
fn line_start(text: &[u8]) -> usize {
    memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)
}
