//! A tool's output as it comes, in bounded memory.

use std::{borrow::Cow, collections::VecDeque, fmt, sync::Arc};

use super::{
    banner::{has_banner, units},
    budget,
    compressor::{Call, Compressor, Original},
    draft::{Draft, Edit, Fate, How, Tile},
    failures::{self, Class},
    input::Input,
    marker::Marker,
    protect::may_be_protected,
    report::Report,
    terminal::{has_controls, plain_lines},
    text::{Layout, Text},
};
use crate::utf8::incomplete_tail;

/// The smallest memory for a stream without a budget.
const MIN_MEMORY: usize = 4096;
/// The filter that lines go through before they are kept.
const TERMINAL: &str = "terminal";
/// The filters that pass lines on before the end is known.
const PASSING: [&str; 3] = [TERMINAL, "repeats", "repeats-above"];

/// Compresses a text that comes in chunks, with `memory` bytes for it.
///
/// While the text fits into the memory, the result is that of one call, without the banner, and comes at `finish`. A longer
/// text without a budget comes out as it goes, less its repeats. With a budget it comes at `finish`: its head, its tail and its error
/// regions, with exact markers between them. How the text was cut into chunks does not matter.
///
/// ```
/// use std::sync::Arc;
/// use aside::compress::{Compressor, Input, Registry, Stream};
///
/// let compressor = Arc::new(Compressor::new(Registry::new()).with_budget(2000)?);
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
pub struct Stream {
    compressor: Arc<Compressor>,
    tool_id: String,
    input: Input,
    memory: usize,
    buffer: Vec<u8>,
    /// So many bytes at the front of the buffer are a reminder of what is open there.
    said: usize,
    way: Way,
    /// The buffer begins inside a line whose beginning has gone its way already.
    inside_line: bool,
    report: Report,
}

/// Memory that is too small for a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryError {
    least: usize,
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a stream needs at least {} bytes of memory: four times its budget", self.least)
    }
}

impl std::error::Error for MemoryError {}

/// What happens to the text.
enum Way {
    /// It fits so far.
    Whole,
    /// It comes out as it came in.
    Unchanged,
    /// It comes out less its repeats.
    Passing,
    /// Its best lines are kept for the end.
    Keeping(Box<Keeper>),
}

impl Stream {
    /// A stream of one tool's output. With a budget, `memory` is at least four times as large.
    pub fn new(compressor: Arc<Compressor>, tool_id: &str, input: Input, memory: usize) -> Result<Stream, MemoryError> {
        let least = compressor.budget().map_or(MIN_MEMORY, |budget| budget.saturating_mul(4));
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
            said: 0,
            way: Way::Whole,
            inside_line: false,
            report,
        })
    }

    /// Takes the next bytes. Calls `out` with what is decided.
    pub fn feed(&mut self, mut chunk: &[u8], mut out: impl FnMut(&[u8])) {
        loop {
            let room = self.memory + self.said - self.buffer.len();
            if chunk.len() <= room {
                self.buffer.extend_from_slice(chunk);
                return;
            }
            self.buffer.extend_from_slice(&chunk[..room]);
            chunk = &chunk[room..];
            self.choose();
            // Half of the memory stays, so that windows see what comes behind them.
            while self.buffer.len() > self.memory / 2 + self.said {
                self.window(false, &mut out);
            }
        }
    }

    /// The text is over: calls `out` with the rest, and says what was done. A stream takes no more text then.
    pub fn finish(mut self, mut out: impl FnMut(&[u8])) -> Report {
        if matches!(self.way, Way::Whole) {
            let text = std::mem::take(&mut self.buffer);
            let original = Original::new(&text);
            self.report.before = original.length.units;
            let call = Call::new(&self.tool_id, &self.input);
            match self.compressor.part(&call, 0, &original, self.compressor.budget(), &mut self.report) {
                Some((result, _)) => {
                    let banner = memchr::memchr(b'\n', &result).map_or(0, |end| end + 1);
                    self.report.after = units(&result[banner..]);
                    out(&result[banner..]);
                }
                None => {
                    self.report.after = self.report.before;
                    out(&text);
                }
            }
            return self.report;
        }
        while self.buffer.len() > self.said {
            self.window(true, &mut out);
        }
        if let (Way::Keeping(keeper), Some(budget)) = (&mut self.way, self.compressor.budget()) {
            // A last line without an end that was passed over.
            keeper.lines += usize::from(self.inside_line);
            let result = keeper.result(budget);
            self.report.after += units(&result);
            if !self.report.filters.iter().any(|id| id == "budget") {
                self.report.filters.push("budget".to_owned());
            }
            out(&result);
        }
        self.report
    }

    /// The text has outgrown the memory: what becomes of it?
    fn choose(&mut self) {
        if !matches!(self.way, Way::Whole) {
            return;
        }
        let is_protected = may_be_protected(&self.buffer);
        self.way = match self.compressor.budget() {
            _ if has_banner(&self.buffer) => Way::Unchanged,
            None if is_protected => Way::Unchanged,
            None => Way::Passing,
            Some(_) => {
                self.report.cut_protected = is_protected;
                Way::Keeping(Box::new(Keeper::new(self.memory / 2)))
            }
        };
    }

    /// Lets the first lines of the buffer go their way: about a quarter of the memory. `ends`: no text comes behind it.
    fn window(&mut self, ends: bool, out: &mut impl FnMut(&[u8])) {
        let (end, reminder) = self.window_end();
        let rest = self.buffer.split_off(end);
        let all = std::mem::replace(&mut self.buffer, rest);
        let (said, window) = all.split_at(self.said);
        self.report.before += units(window);
        let breaks_line = !window.ends_with(b"\n");
        // A line that is longer than the memory is not looked into.
        let head = if self.inside_line { memchr::memchr(b'\n', window).map_or(window.len(), |end| end + 1) } else { 0 };
        let (head, lines) = window.split_at(head);
        let lines_end = if breaks_line && !(ends && self.buffer.is_empty()) { line_start(lines) } else { lines.len() };
        let (lines, broken) = lines.split_at(lines_end);
        self.inside_line = breaks_line && (!broken.is_empty() || self.inside_line && head.len() == window.len());
        self.said = if self.inside_line { 0 } else { reminder.len() };
        self.buffer.splice(0..0, reminder.into_iter().take(self.said));
        let call = Call::new(&self.tool_id, &self.input);
        match &mut self.way {
            Way::Whole => unreachable!("a window is cut when the text does not fit"),
            Way::Unchanged => {
                self.report.after += units(window);
                out(window);
            }
            Way::Passing => {
                let wanted = |id: &str| PASSING.contains(&id);
                let mut run = |text| self.compressor.run(&call, &Original::new(text), None, &mut self.report, wanted).0;
                // Where there is a reminder, the window begins with a line.
                let mut draft = run(if said.is_empty() { lines } else { &all[..said.len() + lines.len()] });
                let mut from = said.len();
                if !draft.bytes.starts_with(said) {
                    // The cursor went up into it.
                    (draft, from) = (run(lines), 0);
                }
                for piece in [head, &draft.bytes[from..], broken].into_iter().filter(|piece| !piece.is_empty()) {
                    self.report.after += units(piece);
                    out(piece);
                }
            }
            Way::Keeping(keeper) => {
                let wanted = |id: &str| id == TERMINAL;
                let (draft, _) = self.compressor.run(&call, &Original::new(lines), None, &mut self.report, wanted);
                keeper.pass(head);
                keeper.take(said, &draft.bytes);
                keeper.pass(broken);
            }
        }
    }

    /// Behind the last line end in the first quarter of the memory that no error region or hunk goes over, if there is one;
    /// and what the next window has to be reminded of.
    fn window_end(&self) -> (usize, Vec<u8>) {
        let quarter = (self.said + self.memory / 4).min(self.buffer.len());
        if quarter == self.buffer.len() {
            return (quarter, Vec::new());
        }
        // Failures may be coloured.
        let has_controls = has_controls(&self.buffer);
        let plain = if has_controls { plain_lines(&self.buffer).into() } else { Cow::Borrowed(&self.buffer[..]) };
        let layout = Layout::new(&plain, failures::built_in());
        let text = Text::new(&plain, &layout);
        let last = bytecount::count(&self.buffer[..quarter], b'\n');
        let first = 1 + usize::from(self.said > 0);
        let is_free =
            |line: usize| line == text.len() || !(text.class(line).has(Class::REGION) || text.is_inside_hunk(line));
        let line = (first..=last).rev().find(|&line| is_free(line)).unwrap_or(last.max(first));
        let mut ends = memchr::memchr_iter(b'\n', &self.buffer).map(|end| end + 1);
        let end = ends.nth(line - 1).unwrap_or(self.buffer.len());
        // Where a line is longer than that, a character may not be over: it counts once, with its rest.
        (end - incomplete_tail(&self.buffer[..end]), reminder(text, line))
    }
}

/// No line that is longer is said again.
const LONGEST_REMINDER: usize = 256;

/// What is open before a line, said in one: a header for what is left of a hunk, the line that began an open section, or
/// the last failure of an error region. So the lines behind it are taken for what they are.
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

/// Where the last line begins that has no end.
fn line_start(text: &[u8]) -> usize {
    memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)
}

/// The lines without those beside a gap that is shorter than its marker. `end`: how many lines and bytes there were.
fn widened(lines: Vec<Line>, end: (usize, usize)) -> Vec<Line> {
    let mut kept: Vec<Line> = Vec::with_capacity(lines.len());
    let is_short = |last: Option<&Line>, (number, offset): (usize, usize)| {
        let (lines, bytes) = last.map_or((0, 0), |last| (last.number + 1, last.offset + last.bytes.len()));
        let marker = Marker::LeftOut { lines: number - lines, bytes: offset - bytes, regions: 0 };
        offset > bytes && marker.to_string().len() >= offset - bytes
    };
    for line in lines {
        let place = (line.number, line.offset);
        // Rather a line before the gap goes than one of a region behind it.
        while line.class.must_stay()
            && is_short(kept.last(), place)
            && kept.pop_if(|last| !last.class.must_stay()).is_some()
        {}
        if !is_short(kept.last(), place) {
            kept.push(line);
        }
    }
    // A text may be shorter than a marker once its controls are gone.
    while is_short(kept.last(), end) && kept.pop().is_some() {}
    kept
}

/// A line with its place in the text.
#[derive(Clone)]
struct Line {
    number: usize,
    offset: usize,
    class: Class,
    /// How many error regions have begun, up to here.
    begun: u32,
    bytes: Box<[u8]>,
}

impl Line {
    /// What it counts: its text, or where that is short, the struct. Otherwise empty lines would fill many times the memory.
    fn cost(&self) -> usize {
        self.bytes.len().max(size_of::<Line>())
    }
}

/// Lines that are kept while a text goes by.
struct Keeper {
    lines: usize,
    bytes: usize,
    failed_verdicts: usize,
    /// How many error regions have begun.
    begun: u32,
    head: Bin,
    regions: Ends,
    /// Lines beside error regions, and failure lines of regions that had to go.
    near: Ends,
    tail: Bin,
    /// How many lines more are beside the last region, and how many have passed since that were not.
    beside: usize,
    passed: usize,
}

/// Lines up to so many bytes.
struct Bin {
    lines: VecDeque<Line>,
    used: usize,
    most: usize,
    full: bool,
}

impl Bin {
    fn new(most: usize) -> Bin {
        Bin { lines: VecDeque::new(), used: 0, most, full: false }
    }

    /// Keeps the line if there is still room, and none after that.
    fn first(&mut self, line: &Line) -> bool {
        self.full |= self.used + line.cost() > self.most;
        if !self.full {
            self.push(line);
        }
        !self.full
    }

    /// Keeps the line in the place of the oldest ones.
    fn latest(&mut self, line: &Line) {
        self.push(line);
        while self.pop().is_some() {}
    }

    /// Takes the oldest line, if there are more than have room.
    fn pop(&mut self) -> Option<Line> {
        let oldest = if self.used > self.most { self.lines.pop_front()? } else { return None };
        self.used -= oldest.cost();
        Some(oldest)
    }

    fn push(&mut self, line: &Line) {
        self.used += line.cost();
        self.lines.push_back(line.clone());
    }
}

/// The first lines, and the latest of those that have no room there.
struct Ends {
    first: Bin,
    last: Bin,
}

impl Ends {
    /// `most`: bytes for each of them.
    fn new(most: usize) -> Ends {
        Ends { first: Bin::new(most), last: Bin::new(most) }
    }

    /// Keeps the line; `gone` sees each that has to go.
    fn keep(&mut self, line: &Line, mut gone: impl FnMut(&Line)) {
        if self.first.first(line) {
            return;
        }
        self.last.push(line);
        while let Some(oldest) = self.last.pop() {
            gone(&oldest);
        }
    }
}

impl Keeper {
    /// An eighth of the memory for the head, a half for the tail, three eighths for error regions and what is beside them.
    fn new(memory: usize) -> Keeper {
        Keeper {
            lines: 0,
            bytes: 0,
            failed_verdicts: 0,
            begun: 0,
            head: Bin::new(memory / 8),
            regions: Ends::new(memory / 8),
            near: Ends::new(memory / 16),
            tail: Bin::new(memory / 2),
            beside: 0,
            passed: 0,
        }
    }

    /// A part of a line that is too long to be kept. The line counts where it ends.
    fn pass(&mut self, part: &[u8]) {
        self.bytes += part.len();
        self.lines += usize::from(part.ends_with(b"\n"));
    }

    /// Takes whole lines; `said` stands before them and is none of them.
    fn take(&mut self, said: &[u8], lines: &[u8]) {
        let all = [said, lines].concat();
        let layout = Layout::new(&all, failures::built_in());
        let text = Text::new(&all, &layout);
        for line in usize::from(!said.is_empty())..text.len() {
            let bytes = text.bytes[text.span(line)].into();
            let class = text.class(line);
            self.begun = self.begun.saturating_add(u32::from(class.has(Class::START)));
            let kept = Line { number: self.lines, offset: self.bytes, class, begun: self.begun, bytes };
            self.failed_verdicts += usize::from(class.has(Class::FAILED_VERDICT));
            self.lines += 1;
            self.bytes += kept.bytes.len();
            if self.head.first(&kept) {
                continue;
            }
            self.keep_near(&kept);
            if class.must_stay() {
                self.regions.keep(&kept, |gone| {
                    if gone.class.has(Class::FAILURE) {
                        self.near.keep(gone, |_| {});
                    }
                });
            }
            self.tail.latest(&kept);
        }
    }

    /// Keeps the line if it is beside a region; if it is the first of one, the lines before it, which the tail still has.
    fn keep_near(&mut self, line: &Line) {
        let (before, behind) = budget::AROUND;
        if line.class.must_stay() {
            // Fewer where those behind the region before have been kept.
            let new = before.min(self.passed);
            let from = self.tail.lines.len().saturating_sub(new);
            for line in self.tail.lines.range(from..) {
                self.near.keep(line, |_| {});
            }
            (self.beside, self.passed) = (behind, 0);
        } else if self.beside > 0 {
            self.near.keep(line, |_| {});
            self.beside -= 1;
        } else {
            self.passed += 1;
        }
    }

    /// The kept lines with markers between them, made to fit the budget.
    fn result(&mut self, budget: usize) -> Vec<u8> {
        let mut lines: Vec<Line> = Vec::new();
        let (regions, near) = (&mut self.regions, &mut self.near);
        for bin in
            [&mut regions.first, &mut regions.last, &mut near.first, &mut near.last, &mut self.head, &mut self.tail]
        {
            lines.extend(bin.lines.drain(..));
        }
        lines.sort_by_key(|line| line.number);
        lines.dedup_by_key(|line| line.number);
        let end = (self.lines, self.bytes);
        lines = widened(lines, end);
        // No verdict of success without every verdict of failure.
        if lines.iter().filter(|line| line.class.has(Class::FAILED_VERDICT)).count() < self.failed_verdicts {
            lines.retain(|line| !line.class.has(Class::PASSED_VERDICT));
            lines = widened(lines, end);
        }
        let mut draft = Draft::default();
        // Where a marker stands that counts error regions.
        let mut told = Vec::new();
        let (mut number, mut offset, mut begun) = (0, 0, 0);
        for line in lines {
            let new = line.begun - begun;
            // A part of the last one is here.
            let regions = new - u32::from(new > 0 && line.class.has(Class::REGION));
            told.push((draft.bytes.len(), regions as usize));
            draft.gap(line.number - number, line.offset - offset, regions as usize, offset);
            number = line.number + 1;
            offset = line.offset + line.bytes.len();
            begun = line.begun;
            draft.line(&line.bytes, line.offset);
        }
        let regions = (self.begun - begun) as usize;
        told.push((draft.bytes.len(), regions));
        draft.gap(self.lines - number, self.bytes - offset, regions, offset);
        let layout = Layout::new(&draft.bytes, failures::built_in());
        let mut target = budget;
        while draft.bytes.len() > budget && target > 0 {
            let text = Text::new(&draft.bytes, &layout);
            let mut edits = budget::edits(text, target);
            for Edit { range, how } in &mut edits {
                if let How::LeaveOut { regions } = how {
                    let first = told.partition_point(|told| told.0 < range.start);
                    let inside = told[first..].iter().take_while(|told| told.0 < range.end);
                    *regions += inside.map(|told| told.1).sum::<usize>();
                }
            }
            let next = draft.with(edits, 0);
            if next.bytes.len() <= budget {
                draft = next;
                break;
            }
            target -= (target / 16).max(1);
        }
        draft.bytes
    }
}

impl Draft {
    /// Adds a line of the original.
    fn line(&mut self, bytes: &[u8], offset: usize) {
        let start = self.bytes.len();
        self.append(bytes);
        let tile = Tile { original: offset..offset + bytes.len(), output: start..self.bytes.len(), fate: Fate::Kept };
        self.tiles.push(tile);
    }

    /// Adds a marker for lines that are not there.
    fn gap(&mut self, lines: usize, bytes: usize, regions: usize, offset: usize) {
        if bytes == 0 {
            return;
        }
        let start = self.bytes.len();
        let marker = |regions| format!("{}\n", Marker::LeftOut { lines, bytes, regions });
        let full = Some(marker(regions)).filter(|marker| marker.len() <= bytes);
        self.append(full.unwrap_or_else(|| marker(0)).as_bytes());
        let fate = Fate::LeftOut(0, lines, bytes);
        self.tiles.push(Tile { original: offset..offset + bytes, output: start..self.bytes.len(), fate });
    }
}
