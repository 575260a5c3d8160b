//! A text cut into lines, and the class of each line. Lines are classified once for each version of a text, and lines that did not
//! change are not classified again, because reading lines takes most of the time of a compression.

use std::{cell::OnceCell, ops::Range, sync::Arc};

use super::{
    class::Class,
    failures::{Failures, LineMatch},
    hunks,
    labels::Labels,
    regions,
};
use crate::compress::text::{bytes, edited::EditedText, marker::Marker};

/// The ends of a text's lines, and their classes.
#[derive(Default)]
pub struct Layout {
    /// The offset after each line, its line end included.
    ends: Vec<usize>,
    /// The result of the patterns for each line. It does not depend on other lines, so it stays valid if the line moves.
    found: Vec<LineMatch>,
    classes: Vec<Class>,
    /// Whether the text may have hunks of a diff.
    has_hunks: bool,
    /// The labels, which are found when they are first needed. Omissions by filters do not change them.
    labels: OnceCell<Arc<Labels>>,
}

impl Layout {
    pub fn new(bytes: &[u8], failures: &Failures) -> Layout {
        let mut layout = Layout::default();
        layout.read(bytes, bytes.len(), failures);
        layout.classify(bytes, failures);
        layout
    }

    /// Returns the layout of the next version of the text. Lines that did not change are not examined again.
    pub fn next(&self, text: &EditedText, failures: &Failures) -> Layout {
        let bytes = &text.bytes;
        let mut layout = Layout {
            ends: Vec::with_capacity(self.ends.len() + text.taken.len()),
            found: Vec::with_capacity(self.ends.len() + text.taken.len()),
            classes: Vec::new(),
            has_hunks: self.has_hunks,
            labels: self.labels.clone(),
        };
        let old_start = |line: usize| if line == 0 { 0 } else { self.ends[line - 1] };
        let mut line = 0;
        for (old, new) in &text.taken {
            let moved = |offset: usize| offset - old.start + new;
            line += self.ends[line..].partition_point(|&end| end <= old.start);
            let begins_line = *new == 0 || bytes[new - 1] == b'\n';
            if old_start(line) < old.start || old_start(line) == old.start && !begins_line {
                line += 1;
            }
            let mut end = line + self.ends[line..].partition_point(|&end| end <= old.end);
            // A last line without a line end becomes a different line if text follows it.
            if end > line && moved(old_start(end)) < bytes.len() && bytes[moved(old_start(end)) - 1] != b'\n' {
                end -= 1;
            }
            if line < end {
                layout.read(bytes, moved(old_start(line)), failures);
                layout.ends.extend(self.ends[line..end].iter().map(|&end| moved(end)));
                layout.found.extend_from_slice(&self.found[line..end]);
                line = end;
            }
        }
        layout.read(bytes, bytes.len(), failures);
        layout.classify(bytes, failures);
        layout
    }

    /// Marks lines that a filter decided to leave unchanged.
    pub fn take(&mut self, lines: &[usize]) {
        for &line in lines {
            self.found[line].class.add(Class::TAKEN);
            self.classes[line].add(Class::TAKEN);
        }
    }

    /// Sets the number of the tool that printed each line.
    pub fn set_tools(&mut self, tools: &[u16]) {
        self.found.iter_mut().zip(tools).for_each(|(found, &tool)| found.tool = tool);
    }

    /// Adds the lines up to this offset, which is a line's beginning or the text's end.
    fn read(&mut self, bytes: &[u8], upto: usize, failures: &Failures) {
        let from = self.ends.last().copied().unwrap_or(0);
        if from == upto {
            return;
        }
        let first = self.ends.len();
        // Reserve memory for the exact number of ends, because for a text of short lines the ends need most of the memory.
        self.ends.reserve(bytecount::count(&bytes[from..upto], b'\n') + 1);
        self.ends.extend(memchr::memchr_iter(b'\n', &bytes[from..upto]).map(|at| from + at + 1));
        if self.ends.last() != Some(&upto) {
            self.ends.push(upto);
        }
        self.found.resize(self.ends.len(), LineMatch::default());
        failures.mark_candidates(bytes, from..upto, &self.ends[first..], &mut self.found[first..]);
        self.has_hunks |= hunks::may_have_hunks(&bytes[from..upto]);
    }

    fn classify(&mut self, bytes: &[u8], failures: &Failures) {
        self.classes = vec![Class::default(); self.ends.len()];
        if self.has_hunks {
            hunks::mark_hunks(bytes, &self.ends, &mut self.classes);
        }
        regions::classify(failures, bytes, &self.ends, &mut self.found, &mut self.classes);
    }
}

/// A text for filters, as bytes and as lines. Lines are counted from 0.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    pub bytes: &'a [u8],
    layout: &'a Layout,
    /// Whether the text is a later part of a longer text.
    pub goes_on: bool,
    /// The lines that a filter for a tool applies to.
    pub scope: Scope,
    /// The number of lines of the original, if markers show line numbers.
    pub numbered: Option<usize>,
}

/// Some lines of a text.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    /// Output of the tool with this number.
    Tool(u16),
    /// Output of any tool that is known by its signature.
    AnyTool,
}

impl<'a> Text<'a> {
    pub fn new(bytes: &'a [u8], layout: &'a Layout) -> Text<'a> {
        Text { bytes, layout, goes_on: false, scope: Scope::All, numbered: None }
    }

    /// Returns whether a filter for a tool applies to this line.
    pub fn is_in_scope(self, line: usize) -> bool {
        match self.scope {
            Scope::All => true,
            Scope::Tool(number) => self.layout.found[line].tool == number,
            Scope::AnyTool => self.layout.found[line].tool != 0,
        }
    }

    /// Returns the number of lines.
    pub fn len(self) -> usize {
        self.layout.ends.len()
    }

    /// Returns the range of a line, its line end included.
    pub fn span(self, line: usize) -> Range<usize> {
        self.start(line)..self.layout.ends[line]
    }

    /// Returns the range of some lines.
    pub fn spans(self, lines: Range<usize>) -> Range<usize> {
        self.start(lines.start)..self.start(lines.end)
    }

    /// Returns the offset at which a line begins. For the number of lines, returns the text's end.
    pub fn start(self, line: usize) -> usize {
        if line == 0 { 0 } else { self.layout.ends[line - 1] }
    }

    /// Returns a line without its line end.
    #[inline]
    pub fn line(self, line: usize) -> &'a [u8] {
        let line = &self.bytes[self.span(line)];
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    /// Returns a line without its line end, and without a machine's prefix, such as a time.
    pub fn unstamped(self, line: usize, failures: &Failures) -> &'a [u8] {
        failures.without_prefix(self.line(line))
    }

    /// Returns whether one of the first lines begins with a prefix that a machine added, such as a time.
    pub fn is_stamped(self, failures: &Failures) -> bool {
        const FIRST: usize = 64;
        (0..self.len().min(FIRST)).any(|line| self.unstamped(line, failures).len() < self.line(line).len())
    }

    /// Returns the lines of the text, each also without the prefixes of machines and programs.
    pub fn said(self, failures: &'a Failures) -> Said<'a> {
        let is_stamped = self.is_stamped(failures);
        let unstamped = |line| if is_stamped { self.unstamped(line, failures) } else { self.line(line) };
        let find = || Labels::of(self.len(), unstamped, failures).into();
        Said { text: self, failures, is_stamped, labels: self.layout.labels.get_or_init(find) }
    }

    pub fn class(self, line: usize) -> Class {
        self.layout.classes[line]
    }

    /// Returns whether the line is text of a hunk whose header is further up.
    pub fn is_inside_hunk(self, line: usize) -> bool {
        self.class(line).has(Class::HUNK) && !self.line(line).starts_with(b"@@")
    }

    /// Returns a header for the rest of the hunk that the line is inside.
    pub fn rest_of_hunk(self, line: usize) -> Option<Vec<u8>> {
        let header = (0..line).rev().find(|&line| !self.is_inside_hunk(line))?;
        hunks::rest_of_hunk((header..line).map(|line| &self.bytes[self.span(line)]))
    }

    /// If the line continues an error region, returns the earlier line that decides this: the first line of the region's open
    /// section, or the region's last failure.
    pub fn opening(self, line: usize, failures: &Failures) -> Option<usize> {
        if !self.class(line).has(Class::REGION) {
            return None;
        }
        let region = (0..line).rev().take_while(|&line| self.class(line).has(Class::REGION));
        let first = region.clone().last()?;
        let mut open = None;
        for line in first..line {
            open = open
                .filter(|&(_, section)| !failures.block_and_end(section, failures.without_prefix(self.line(line))).1);
            open = open.or_else(|| Some((line, self.layout.found[line].begin?)));
        }
        let mut failure = region.filter(|&line| self.class(line).has(Class::FAILURE));
        let goes_on = || if self.class(line).has(Class::START) { None } else { failure.next() };
        open.map(|(begin, _)| begin).or_else(goes_on)
    }

    /// Returns the line that contains a byte. For the text's end, returns the number of lines.
    pub fn line_at(self, offset: usize) -> usize {
        self.layout.ends.partition_point(|&end| end <= offset)
    }

    /// Returns the number of lines directly before this one that are parts of the same original line, whose middle was left out.
    pub fn cut_before(self, line: usize) -> usize {
        let marks =
            |line: usize, back: usize| line > back && line - back + 1 < self.len() && self.is_middle(line - back);
        let step = |line: usize| if marks(line, 0) { 1 } else { 2 * usize::from(marks(line, 1)) };
        line - parts(line, |line| line - step(line))
    }

    /// Returns the number of lines directly after this one that are parts of the same original line.
    pub fn cut_after(self, line: usize) -> usize {
        let marks = |line: usize| line > 0 && line + 1 < self.len() && self.is_middle(line);
        let step = |line: usize| if marks(line) { 1 } else { 2 * usize::from(marks(line + 1)) };
        parts(line, |line| line + step(line)) - line
    }

    /// Returns whether the line is the marker for the middle of a line.
    fn is_middle(self, line: usize) -> bool {
        Marker::parse(self.line(line)).is_some_and(Marker::is_inside_line)
    }

    pub fn is_blank(self, line: usize) -> bool {
        bytes::is_blank(self.line(line))
    }
}

/// The lines of a text, with and without the prefixes of machines and programs.
pub struct Said<'a> {
    text: Text<'a>,
    failures: &'a Failures,
    /// Whether one of the first lines begins with a prefix that a machine added.
    is_stamped: bool,
    labels: &'a Labels,
}

impl<'a> Said<'a> {
    /// Returns the line. If it has a machine's prefix, also returns the line without that; and if it has a label, also the line
    /// without both.
    pub fn views(&self, line: usize) -> Views<'a> {
        let whole = self.text.line(line);
        if !self.is_stamped && self.labels.is_empty() {
            return Views { lines: [whole; 3], count: 1 };
        }
        let unstamped = if self.is_stamped { self.text.unstamped(line, self.failures) } else { whole };
        let unlabelled = self.labels.without(unstamped);
        let mut views = Views { lines: [whole; 3], count: 1 };
        for view in [unstamped, unlabelled] {
            if view.len() < views.lines[views.count - 1].len() {
                views.lines[views.count] = view;
                views.count += 1;
            }
        }
        views
    }
}

/// The possible outputs of a tool in a line: the whole line, and the rest of the line after the prefixes of machines and
/// programs.
pub struct Views<'a> {
    lines: [&'a [u8]; 3],
    count: usize,
}

impl<'a> Views<'a> {
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.lines.into_iter().take(self.count)
    }
}

/// Follows the parts of a line that was cut, for as many markers as the library writes into one line.
fn parts(line: usize, step: impl Fn(usize) -> usize) -> usize {
    const MOST: usize = 6;
    let next = |&line: &usize| Some(step(line)).filter(|&next| next != line);
    std::iter::successors(Some(line), next).take(MOST + 1).last().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::{
        lines::failures,
        text::{
            edit::{Edit, EditKind},
            length::Length,
        },
    };

    #[test]
    fn the_next_layout_is_that_of_the_next_text() {
        let failures = failures::built_in();
        let text = b"plain\nerror: x\n  note\n\nfailures:\n\nFAILED";
        let edited = EditedText::new(text, Length::of(text));
        let layout = Layout::new(text, failures);
        for start in 0..=text.len() {
            for end in start..=text.len() {
                for new in ["", "x", "y\n", "\nerror: z\n", "\n[… 9 bytes of this line]\n"] {
                    let kind = EditKind::Replace(new.into());
                    let next = edited.with(vec![Edit { range: start..end, kind }], 0);
                    let (known, fresh) = (layout.next(&next, failures), Layout::new(&next.bytes, failures));
                    let shown = String::from_utf8_lossy(&next.bytes);
                    assert_eq!(known.ends, fresh.ends, "{shown}");
                    assert!(known.classes == fresh.classes, "{shown}");
                    assert_eq!(next.length.units, Length::of(&next.bytes).units);
                }
            }
        }
    }
}
