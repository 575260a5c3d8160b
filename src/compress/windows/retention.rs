//! Keeps parts of a text that outgrows its memory under a budget: its head, its tail and its error regions, with exact markers
//! between them. Each line is read only once, so it must be kept or counted when it arrives.

use std::collections::HashSet;

use super::{
    long_line::LongLine,
    ring::{FirstAndLatest, Line, Ring},
};
use crate::compress::{
    invocation::input::Input,
    lines::{
        class::Class,
        failures,
        headings::{FARTHEST, indent, names_file},
        layout::{Layout, Text},
        weak::is_weak,
    },
    passes::{budget, long_lines::LINE_SHARE, selection},
    records::fields::Seen,
    text::{
        bytes::is_blank,
        edit::{Edit, EditKind},
        edited::EditedText,
        limit::Limit,
        marker::Marker,
    },
};

/// The lines that are kept while a text is read.
pub struct Retention {
    /// The longest line that is kept whole.
    longest: usize,
    /// The line that arrives in parts, if there is one.
    long: LongLine,
    lines: usize,
    bytes: usize,
    failed_verdicts: usize,
    /// The number of error regions that have begun.
    begun: u32,
    head: Ring,
    regions: FirstAndLatest,
    /// Lines before and after error regions, and failure lines of regions that had to be dropped.
    near: FirstAndLatest,
    /// Lines that may be diagnostics of a tool that is not known, if these are wanted, and rows that differ from the others.
    weak: FirstAndLatest,
    keeps_weak: bool,
    rows: Seen,
    tail: Ring,
    /// The last line that names a file, as long as every line after it is indented and not blank.
    heading: Option<Line>,
    /// The lines since the last line of an error region, and the lines since the last failure line of dropped regions.
    gap: Gap,
    gap_of_gone: Gap,
    /// The number of lines after the last region that are still to be kept, and the number of lines since then that were not
    /// kept.
    near_left: usize,
    passed: usize,
}

/// The lines after a kept line, as long as they are together no longer than a marker: a marker for them would not be shorter.
#[derive(Default)]
struct Gap {
    start: usize,
    lines: Vec<Line>,
}

impl Gap {
    fn add(&mut self, line: &Line) {
        if self.is_after(line) {
            return;
        }
        if line.end() - self.start <= selection::LONGEST_MARKER {
            self.lines.push(line.clone());
        } else {
            self.lines.clear();
        }
    }

    /// Ends the gap at a line that is kept. Returns the lines before it that have to be kept too.
    fn close(&mut self, line: &Line) -> Vec<Line> {
        if self.is_after(line) {
            return Vec::new();
        }
        let mut lines = std::mem::take(&mut self.lines);
        if line.offset - self.start > selection::LONGEST_MARKER {
            lines.clear();
        }
        self.start = line.end();
        lines
    }

    /// Returns whether the gap begins after the line: a heading is kept again with each of its problems.
    fn is_after(&self, line: &Line) -> bool {
        line.offset < self.start
    }
}

impl Retention {
    /// Divides the memory: an eighth for the head, three eighths for error regions and the lines around them, a sixteenth for lines
    /// that may be diagnostics (if these are wanted), and the rest for the tail.
    pub fn new(memory: usize, budget: usize, keeps_weak: bool) -> Retention {
        Retention {
            longest: (memory / 12).min(budget / LINE_SHARE),
            long: LongLine::default(),
            lines: 0,
            bytes: 0,
            failed_verdicts: 0,
            begun: 0,
            head: Ring::new(memory / 8),
            regions: FirstAndLatest::new(memory / 8),
            near: FirstAndLatest::new(memory / 16),
            weak: FirstAndLatest::new(memory / 32),
            keeps_weak,
            rows: Seen::default(),
            tail: Ring::new(memory / 2 - memory / 16),
            heading: None,
            gap: Gap::default(),
            gap_of_gone: Gap::default(),
            near_left: 0,
            passed: 0,
        }
    }

    /// Reads a part of a line that is too long to be kept. The line is counted when its last part arrives.
    pub fn take_part(&mut self, part: &[u8]) {
        if part.is_empty() {
            return;
        }
        self.long.add(part, self.longest);
        if part.ends_with(b"\n") {
            self.end_line();
        }
    }

    /// Ends the line that arrived in parts.
    pub fn end_line(&mut self) {
        let LongLine { bytes, cuts } = std::mem::take(&mut self.long);
        let layout = Layout::new(&bytes, failures::built_in());
        let text = Text::new(&bytes, &layout);
        let mut class = Class::default();
        (0..text.len()).for_each(|line| class.add(text.class(line)));
        class.remove(Class::PASSED_VERDICT);
        if class.must_stay() || failures::built_in().failing_words(&bytes, 0..bytes.len()).next().is_some() {
            [Class::FAILURE, Class::REGION, Class::START].into_iter().for_each(|what| class.add(what));
        }
        let line = LongLine { bytes: bytes.clone(), cuts };
        self.keep(line, &bytes, class, false);
    }

    /// Reads whole lines. `context` is a line before them that was read earlier.
    pub fn take(&mut self, context: &[u8], lines: &[u8]) {
        let all = [context, lines].concat();
        let layout = Layout::new(&all, failures::built_in());
        let text = Text::new(&all, &layout);
        for line in usize::from(!context.is_empty())..text.len() {
            let class = text.class(line);
            let is_weak = !class.must_stay()
                && !class.has(Class::HUNK)
                && (self.rows.is_rare(text.line(line))
                    || self.keeps_weak && is_weak(text.line(line), failures::built_in()));
            let mut kept = LongLine::default();
            kept.add(&text.bytes[text.span(line)], self.longest);
            self.keep(kept, text.line(line), class, is_weak);
        }
    }

    /// Keeps the next line in those lists to which it belongs. `text` is the whole line, without its line end.
    fn keep(&mut self, line: LongLine, text: &[u8], class: Class, is_weak: bool) {
        self.begun = self.begun.saturating_add(u32::from(class.has(Class::START)));
        let (bytes, cuts) = (line.bytes.into(), line.cuts.into());
        let (number, offset, begun) = (self.lines, self.bytes, self.begun);
        let mut kept = Line { number, offset, class, begun, heading: 0, bytes, cuts };
        let heading = self.heading_of(&mut kept, text, is_weak);
        self.failed_verdicts += usize::from(class.has(Class::FAILED_VERDICT));
        self.lines += 1;
        self.bytes = kept.end();
        let mut between = Vec::new();
        if class.must_stay() {
            between = self.gap.close(&kept);
        } else {
            self.gap.add(&kept);
        }
        if self.head.first(&kept) {
            return;
        }
        self.keep_near(&kept);
        if is_weak {
            for line in heading.iter().chain([&kept]) {
                self.weak.keep(line, |_| {});
            }
        }
        if class.must_stay() {
            for line in heading.iter().chain(&between).chain([&kept]) {
                self.keep_region(line);
            }
        }
        self.tail.latest(&kept);
    }

    /// Returns the heading of a line, if the line is a problem under a heading, and notes the heading in the line.
    fn heading_of(&mut self, line: &mut Line, text: &[u8], is_weak: bool) -> Option<Line> {
        if is_blank(text) {
            self.heading = None;
        } else if names_file(text) {
            self.heading = Some(line.clone());
        } else if indent(text) == 0 {
            self.heading = None;
        } else if is_weak || line.class.has(Class::FAILURE) {
            let heading = self.heading.clone().filter(|heading| indent(&heading.bytes) < indent(text));
            let distance = heading.as_ref().and_then(|heading| u16::try_from(line.number - heading.number).ok());
            line.heading = distance.filter(|&distance| usize::from(distance) <= FARTHEST).unwrap_or(0);
            return heading.filter(|_| line.heading > 0);
        }
        None
    }

    fn keep_region(&mut self, line: &Line) {
        self.regions.keep(line, |gone| {
            if !gone.class.has(Class::FAILURE) {
                self.gap_of_gone.add(gone);
                return;
            }
            for line in self.gap_of_gone.close(gone).iter().chain([gone]) {
                self.near.keep(line, |_| {});
            }
        });
    }

    /// Keeps the line if it is shortly after a region. If it is in a region, keeps the lines before it that the tail still has.
    fn keep_near(&mut self, line: &Line) {
        let (before, after) = budget::AROUND;
        if line.class.must_stay() {
            // Lines that were already kept after another region are not kept again.
            let new = before.min(self.passed);
            let from = self.tail.lines.len().saturating_sub(new);
            for line in self.tail.lines.range(from..) {
                self.near.keep(line, |_| {});
            }
            (self.near_left, self.passed) = (after, 0);
        } else if self.near_left > 0 {
            self.near.keep(line, |_| {});
            self.near_left -= 1;
        } else {
            self.passed += 1;
        }
    }

    /// Returns the kept lines with markers between them.
    pub fn kept(&mut self) -> Kept {
        let mut lines: Vec<Line> = Vec::new();
        for both in [&mut self.regions, &mut self.near, &mut self.weak] {
            lines.extend(both.first.lines.drain(..).chain(both.latest.lines.drain(..)));
        }
        lines.extend(self.head.lines.drain(..).chain(self.tail.lines.drain(..)));
        lines.sort_by_key(|line| line.number);
        lines.dedup_by_key(|line| line.number);
        // A problem whose heading was lost is left out, because its file would be unknown.
        let numbers: HashSet<usize> = lines.iter().map(|line| line.number).collect();
        lines.retain(|line| numbers.contains(&(line.number - usize::from(line.heading))));
        let class = Class::default();
        let (number, offset, begun) = (self.lines, self.bytes, self.begun);
        let end = Line { number, offset, class, begun, heading: 0, bytes: Box::default(), cuts: Box::default() };
        lines = widened(lines, &end);
        // If a verdict of failure was lost, all verdicts of success are left out.
        if lines.iter().filter(|line| line.class.has(Class::FAILED_VERDICT)).count() < self.failed_verdicts {
            lines.retain(|line| !line.class.has(Class::PASSED_VERDICT));
            lines = widened(lines, &end);
        }
        let mut text = EditedText::default();
        // The place of each marker, and the number of error regions that it counts.
        let mut marked = Vec::new();
        let mut last = None;
        for line in lines.iter().chain([&end]) {
            let gap = Omission::between(last, line);
            marked.push((text.bytes.len(), gap.regions));
            text.gap(gap.lines, gap.bytes, gap.regions, gap.offset);
            text.line(&line.bytes, line.offset, &line.cuts);
            last = Some(line);
        }
        Kept { text, marked }
    }
}

/// The kept lines with markers between them.
pub struct Kept {
    text: EditedText,
    /// The place of each marker, and the number of error regions that it counts.
    marked: Vec<(usize, usize)>,
}

impl Kept {
    /// Returns as many of the lines as a budget allows.
    pub fn within(&self, input: &Input, budget: Limit) -> Vec<u8> {
        let Kept { text: kept, marked } = self;
        let layout = Layout::new(&kept.bytes, failures::built_in());
        let (mut round, mut target) = (0, budget.target(&kept.bytes));
        while !budget.fits(&kept.bytes) && target > 0 {
            let text = Text::new(&kept.bytes, &layout);
            let mut edits = budget::edits(text, input, target);
            for Edit { range, kind } in &mut edits {
                if let EditKind::LeaveOut { regions, .. } = kind {
                    let first = marked.partition_point(|marked| marked.0 < range.start);
                    let inside = marked[first..].iter().take_while(|marked| marked.0 < range.end);
                    *regions += inside.map(|marked| marked.1).sum::<usize>();
                }
            }
            let next = kept.with(edits, 0);
            if budget.fits(&next.bytes) {
                return next.bytes;
            }
            target = budget.next_target(round, target, &next.bytes);
            round += 1;
        }
        kept.bytes.clone()
    }
}

/// The text that was not kept between two lines.
struct Omission {
    lines: usize,
    bytes: usize,
    /// Error regions of which no line is left.
    regions: usize,
    offset: usize,
}

impl Omission {
    /// Returns the missing text between two kept lines. `last` is `None` if `line` is the first.
    fn between(last: Option<&Line>, line: &Line) -> Omission {
        let (number, offset, begun) = last.map_or((0, 0, 0), |last| (last.number + 1, last.end(), last.begun));
        let new = line.begun - begun;
        // If `line` is in the last of these regions, a part of that region is kept.
        let regions = new - u32::from(new > 0 && line.class.has(Class::REGION));
        Omission { lines: line.number - number, bytes: line.offset - offset, regions: regions as usize, offset }
    }

    /// Returns whether the omitted text is shorter than its marker.
    fn is_short(&self) -> bool {
        let &Omission { lines, bytes, regions, .. } = self;
        bytes > 0 && Marker::LeftOut { lines, bytes, regions, records: 0, at: None }.to_string().len() >= bytes
    }
}

/// Returns the lines, without lines next to a gap that is shorter than its marker: the gap grows until its marker is shorter.
/// `end` is the place after the last line.
fn widened(lines: Vec<Line>, end: &Line) -> Vec<Line> {
    let mut kept: Vec<Line> = Vec::with_capacity(lines.len());
    let is_short = |last: Option<&Line>, line: &Line| Omission::between(last, line).is_short();
    for line in lines {
        // If the line after the gap is in a region, lines before the gap are dropped instead of it.
        while line.class.must_stay()
            && is_short(kept.last(), &line)
            && kept.pop_if(|last| !last.class.must_stay()).is_some()
        {}
        if !is_short(kept.last(), &line) {
            kept.push(line);
        }
    }
    // A gap at the end may be shorter than its marker, because controls were removed from the text.
    while is_short(kept.last(), end) && kept.pop().is_some() {}
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_that_goes_twice_leaves_the_gap_as_it_is() {
        let line = |offset: usize, text: &str| Line {
            number: offset,
            offset,
            class: Class::default(),
            begun: 0,
            heading: 0,
            bytes: text.as_bytes().into(),
            cuts: Box::default(),
        };
        let (heading, problem, between) = (line(0, "a.c:\n"), line(5, " bad\n"), line(10, " why\n"));
        let mut gap = Gap::default();
        gap.close(&problem);
        gap.add(&between);
        gap.add(&heading);
        assert!(gap.close(&heading).is_empty());
        let kept = gap.close(&line(15, " worse\n"));
        assert_eq!(kept.iter().map(|line| line.offset).collect::<Vec<_>>(), [10]);
    }
}
