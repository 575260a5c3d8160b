//! The lines that stay under a budget, with the cost of the markers between them. This code does not decide which lines stay:
//! `budget` does.

use std::ops::Range;

use super::{
    long_lines::{LINE_SHARE, shortened},
    region_order::Lines,
};
use crate::compress::{
    lines::{class::Class, headings, layout::Text},
    records::text::Record,
    text::{
        edit::{Edit, EditKind},
        marker::{self, Marker, Place},
    },
};

/// The longest marker line.
pub const LONGEST_MARKER: usize = 100;
/// The share of the budget for the names of records after markers.
const NAMES_SHARE: usize = 4;

/// Returns the headings of indented failure lines and diagnostics.
fn headings(text: Text<'_>, classes: &[Class], weak: &[Range<usize>], records: &[Record]) -> Vec<Option<u32>> {
    let mut of = vec![None; text.len()];
    for Record { lines, .. } in records.iter().filter(|record| record.has_heading) {
        of[lines.start + 1..lines.end].fill(Some(lines.start as u32));
    }
    if !records.is_empty() {
        return of;
    }
    let is_indented = |line: usize| text.line(line).starts_with(b" ") || text.line(line).starts_with(b"\t");
    let failures = (0..text.len()).filter(|&line| classes[line].has(Class::FAILURE) && !classes[line].has(Class::HELP));
    let problems = failures.chain(weak.iter().map(|lines| lines.start)).filter(|&line| is_indented(line));
    let problems: Vec<usize> = problems.collect();
    if !problems.is_empty() {
        let parents = headings::parents(text);
        for line in problems {
            of[line] = parents[line].and_then(|parent| headings::heading(text, parent));
        }
    }
    of
}

/// Returns the number of bytes of a record's name after a marker.
fn name_cost(record: &Record) -> usize {
    record.name.len().min(marker::LONGEST_NAME) + 8
}

/// The lines that were chosen so far.
pub struct Selection<'a> {
    pub text: Text<'a>,
    pub classes: &'a [Class],
    pub records: &'a [Record],
    /// The bytes that are reserved for the lines that name records after markers.
    names: usize,
    pub limit: usize,
    pub kept: Vec<bool>,
    /// The heading of each problem that has a heading.
    pub headings: Vec<Option<u32>>,
    /// The lines in the order in which they were kept, so that choices can be undone.
    pub order: Vec<usize>,
    /// The cost of the kept lines and the markers between them.
    pub spent: usize,
    /// The cost of a marker line.
    pub marker: usize,
}

impl<'a> Selection<'a> {
    pub fn new(
        text: Text<'a>,
        classes: &'a [Class],
        weak: &[Range<usize>],
        records: &'a [Record],
        limit: usize,
    ) -> Selection<'a> {
        // A marker for a part of the text is at most as long as a marker for the whole text. Usually only one marker names a number of
        // error regions, so the cost of that number is added once.
        let cost = |regions| {
            let at = text.numbered.map(|lines| Place::Lines(lines, lines + 1));
            let most = Marker::LeftOut { lines: text.len(), bytes: text.bytes.len(), regions, records: 0, at };
            most.to_string().len() + 1
        };
        let names = records.iter().map(name_cost).sum::<usize>().min(limit / NAMES_SHARE);
        Selection {
            text,
            classes,
            records,
            names,
            limit: limit - names,
            kept: vec![false; text.len()],
            headings: headings(text, classes, weak, records),
            order: Vec::new(),
            spent: cost(text.len()),
            marker: cost(0),
        }
    }

    pub fn lines(&self) -> Lines<'_> {
        Lines { text: self.text, classes: self.classes, headings: &self.headings }
    }

    fn longest_line(&self) -> usize {
        self.limit / LINE_SHARE
    }

    pub fn size(&self, line: usize) -> usize {
        if self.is_cut(line) { self.longest_line() + self.marker } else { self.text.span(line).len() }
    }

    /// Returns whether the line is so long that only its ends would be kept. The parts of a line that `long_lines` has shortened
    /// are never that long.
    pub fn is_cut(&self, line: usize) -> bool {
        self.text.span(line).len() > self.longest_line()
    }

    /// Returns the cost of keeping the line.
    pub fn price(&self, line: usize) -> usize {
        if self.kept[line] { 0 } else { self.size(line) }
    }

    pub fn cost(&self, lines: Range<usize>) -> usize {
        lines.map(|line| self.price(line)).sum()
    }

    /// Keeps these lines, and the headings of the problems in them, if the limit allows it. The parts of a line that was cut
    /// earlier are kept together.
    pub fn take(&mut self, lines: Range<usize>, limit: usize) -> bool {
        let (spent, mut at) = (self.spent, self.order.len());
        let first = at;
        self.add(lines);
        while let Some(&line) = self.order.get(at) {
            at += 1;
            if let Some(heading) = self.headings[line].map(|heading| heading as usize).filter(|&line| !self.kept[line])
            {
                self.add(heading..heading + 1);
            }
        }
        let fits = self.order.len() == first || self.spent <= limit;
        if !fits {
            self.take_back(first, spent);
        }
        fits
    }

    /// Keeps lines and counts their cost.
    fn add(&mut self, mut lines: Range<usize>) {
        lines.start -= self.text.cut_before(lines.start);
        lines.end += self.text.cut_after(lines.end - 1);
        let kept = &self.kept;
        let closed = lines.clone().filter(|&line| !kept[line] && (line == lines.start || kept[line - 1])).count();
        let left = lines.start > 0 && !kept[lines.start] && !kept[lines.start - 1];
        let right = lines.end < kept.len() && !kept[lines.end - 1] && !kept[lines.end];
        let markers = usize::from(left) + usize::from(right);
        let cost = self.cost(lines.clone());
        self.spent = (self.spent + cost + markers * self.marker).saturating_sub(closed * self.marker);
        self.order.extend(lines.clone().filter(|&line| !kept[line]));
        self.kept[lines].fill(true);
    }

    /// Undoes the choices made after this many lines, when this much was spent.
    pub fn take_back(&mut self, order: usize, spent: usize) {
        for line in self.order.drain(order..) {
            self.kept[line] = false;
        }
        self.spent = spent;
    }

    /// Keeps lines between kept lines if they are no longer than the marker that would replace them.
    pub fn close(&mut self) {
        let mut line = 0;
        while let Some(start) = (line..self.kept.len()).find(|&line| !self.kept[line]) {
            line = (start..self.kept.len()).find(|&line| self.kept[line]).unwrap_or(self.kept.len());
            if self.text.spans(start..line).len() <= self.marker {
                self.take(start..line, self.limit);
            }
        }
    }

    /// Drops all verdicts of success if a verdict of failure is not kept.
    pub fn no_false_green(&mut self) {
        let classes = self.classes;
        let has = |line: usize, class: Class| classes[line].has(class);
        if (0..self.text.len()).any(|line| !self.kept[line] && has(line, Class::FAILED_VERDICT)) {
            for line in 0..self.text.len() {
                if has(line, Class::PASSED_VERDICT) {
                    self.give_up(line);
                }
            }
        }
    }

    /// Leaves out a line, and as many lines after or before it as make room for a marker.
    fn give_up(&mut self, line: usize) {
        let (mut start, mut end) = (line, line + 1);
        while self.text.spans(start..end).len() < LONGEST_MARKER && end - start < self.kept.len() {
            if end < self.kept.len() { end += 1 } else { start -= 1 }
        }
        start -= self.text.cut_before(start);
        end += self.text.cut_after(end - 1);
        self.kept[start..end].fill(false);
    }

    /// Leaves out problems whose heading was left out.
    pub fn drop_orphans(&mut self) {
        for line in 0..self.kept.len() {
            if self.headings[line].is_some_and(|heading| self.kept[line] && !self.kept[heading as usize]) {
                self.give_up(line);
            }
        }
    }

    /// Leaves out markers that are next to each other or to lines that are left out, so that one marker counts all of these
    /// lines.
    pub fn join_omissions(&mut self) {
        let text = self.text;
        let is_marker = |line: usize| {
            matches!(Marker::parse(text.line(line)), Some(Marker::LeftOut { .. } | Marker::AsAbove { .. }))
        };
        let omits: Vec<bool> = (0..text.len()).map(|line| !self.kept[line] || is_marker(line)).collect();
        for pair in 1..text.len() {
            if omits[pair - 1] && omits[pair] {
                self.kept[pair - 1..=pair].fill(false);
            }
        }
    }

    /// Returns, for lines that are left out, the number of records that are wholly among them, and the text that names these
    /// records.
    fn names(&self, lines: &Range<usize>, of_all: usize) -> (usize, String) {
        let first = self.records.partition_point(|record| record.lines.start < lines.start);
        let gone = self.records[first..].iter().take_while(|record| record.lines.end <= lines.end);
        let room = self.names * gone.clone().map(name_cost).sum::<usize>() / of_all.max(1);
        let names: Vec<(&[u8], usize)> =
            gone.map(|record| (&self.text.bytes[record.name.clone()], record.lines.len())).collect();
        (names.len(), marker::names(&names, room))
    }

    pub fn edits(&self, regions: &[Range<usize>]) -> Vec<Edit> {
        let text = self.text;
        let mut edits = Vec::new();
        let is_gone = |record: &&Record| !self.kept[record.lines.clone()].contains(&true);
        let of_all = self.records.iter().filter(is_gone).map(name_cost).sum::<usize>().max(self.names);
        let mut line = 0;
        // The first region that begins at the current line or later.
        let mut region = 0;
        while line < text.len() {
            if self.kept[line] {
                let longest = self.longest_line();
                if self.is_cut(line) {
                    edits.extend(shortened(text, line, longest));
                }
                line += 1;
                continue;
            }
            let end = (line..text.len()).find(|&line| self.kept[line]).unwrap_or(text.len());
            while regions.get(region).is_some_and(|region| region.start < line) {
                region += 1;
            }
            let whole = regions[region..].iter().take_while(|region| region.end <= end).count();
            let (records, names) = self.names(&(line..end), of_all);
            let kind = EditKind::LeaveOut { regions: whole, records, names };
            edits.push(Edit { range: text.spans(line..end), kind });
            region += whole;
            line = end;
        }
        edits
    }
}
