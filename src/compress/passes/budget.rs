//! Chooses what stays under a budget: verdicts of failure and error regions first, then the tail, then the head. It
//! keeps whole lines, with markers that say exactly what is missing. If a verdict of failure must go, no verdict of
//! success stays.

use std::ops::Range;

use super::{
    long_lines::{LINE_SHARE, middle},
    pass::{Pass, Promise, Stage},
};
use crate::compress::{
    called::input::Input,
    lines::{class::Class, layout::Text},
    text::{
        edit::{Edit, EditKind},
        marker::Marker,
    },
};

/// The longest marker line.
pub const LONGEST_MARKER: usize = 100;
/// The tail has an eighth of the budget whatever the regions take; the head has a tenth if they leave it.
const TAIL_SHARE: usize = 8;
const HEAD_SHARE: usize = 10;
/// How many lines before and after an error region are kept too, since no pattern knows them all, and their share of
/// the budget.
pub const AROUND: (usize, usize) = (4, 8);
const AROUND_SHARE: usize = 6;
/// A quarter of a region that is cut is for failure lines in its middle.
const FAILURES_SHARE: usize = 4;

/// Leaves out what does not fit into a budget.
pub struct Budget;

impl Pass for Budget {
    fn id(&self) -> &str {
        "budget"
    }

    fn promise(&self) -> Promise {
        Promise::Select
    }

    fn stage(&self) -> Stage {
        Stage::Last
    }

    fn edits(&self, text: Text<'_>, _: &Input, limit: usize) -> Vec<Edit> {
        edits(text, limit)
    }
}

/// Returns edits after which the text has at most `limit` bytes.
pub fn edits(text: Text<'_>, limit: usize) -> Vec<Edit> {
    let mut selection = Selection::new(text, limit);
    let regions = regions(text);
    selection.verdicts();
    selection.tail(limit / TAIL_SHARE);
    selection.regions(&regions);
    selection.around(&regions, limit / AROUND_SHARE);
    selection.close();
    selection.head(limit / HEAD_SHARE);
    selection.tail(limit);
    selection.head(limit);
    selection.no_false_green();
    selection.join_omissions();
    selection.edits(&regions)
}

/// Returns the error regions without their help text: each goes from a first line to the next one, or to the end of the
/// lines that belong to it.
fn regions(text: Text<'_>) -> Vec<Range<usize>> {
    let mut regions: Vec<Range<usize>> = Vec::new();
    for line in (0..text.len()).filter(|&line| !text.class(line).has(Class::HELP)) {
        let class = text.class(line);
        match regions.last_mut() {
            Some(last) if last.end == line && class.has(Class::REGION) && !class.has(Class::START) => last.end += 1,
            _ if class.has(Class::REGION) => regions.push(line..line + 1),
            _ => {}
        }
    }
    regions
}

struct Selection<'a> {
    text: Text<'a>,
    limit: usize,
    kept: Vec<bool>,
    /// What the kept lines and the markers between them cost.
    spent: usize,
    /// What a marker line costs.
    marker: usize,
}

impl<'a> Selection<'a> {
    fn new(text: Text<'a>, limit: usize) -> Selection<'a> {
        // A marker for less than the whole text is shorter. As a rule, one of them counts error regions.
        let cost = |regions| {
            let most = Marker::LeftOut { lines: text.len(), bytes: text.bytes.len(), regions };
            most.to_string().len() + 1
        };
        Selection { text, limit, kept: vec![false; text.len()], spent: cost(text.len()), marker: cost(0) }
    }

    fn longest_line(&self) -> usize {
        self.limit / LINE_SHARE
    }

    fn size(&self, line: usize) -> usize {
        if self.is_cut(line) { self.longest_line() + self.marker } else { self.text.span(line).len() }
    }

    /// Whether the line would be too long if it were kept whole. What `long_lines` left of a line is shorter, so if a
    /// longer line is next to a marker of that kind, a tool printed the marker.
    fn is_cut(&self, line: usize) -> bool {
        self.text.span(line).len() > self.longest_line()
    }

    /// Returns what it would cost to keep the line.
    fn price(&self, line: usize) -> usize {
        if self.kept[line] { 0 } else { self.size(line) }
    }

    fn cost(&self, lines: Range<usize>) -> usize {
        lines.map(|line| self.price(line)).sum()
    }

    /// Keeps these lines if the limit allows it. The parts of a line that was cut before stay together.
    fn take(&mut self, mut lines: Range<usize>, limit: usize) -> bool {
        lines.start -= self.text.cut_before(lines.start);
        lines.end += self.text.cut_after(lines.end - 1);
        let kept = &self.kept;
        let closed = lines.clone().filter(|&line| !kept[line] && (line == lines.start || kept[line - 1])).count();
        let left = lines.start > 0 && !kept[lines.start] && !kept[lines.start - 1];
        let right = lines.end < kept.len() && !kept[lines.end - 1] && !kept[lines.end];
        let markers = usize::from(left) + usize::from(right);
        let cost = self.cost(lines.clone());
        let spent = (self.spent + cost + markers * self.marker).saturating_sub(closed * self.marker);
        if cost > 0 && spent > limit {
            return false;
        }
        self.spent = spent;
        self.kept[lines].fill(true);
        true
    }

    /// Keeps every verdict of failure, or the last ones if there are too many.
    fn verdicts(&mut self) {
        for line in (0..self.text.len()).rev() {
            if self.text.class(line).has(Class::FAILED_VERDICT) && !self.take(line..line + 1, self.limit / 2) {
                break;
            }
        }
    }

    /// Keeps lines from the end, until the next one would cost more than is allowed.
    fn tail(&mut self, share: usize) {
        let limit = (self.spent + share).min(self.limit);
        for line in (0..self.text.len()).rev() {
            if !self.kept[line] && !self.take(line..line + 1, limit) {
                break;
            }
        }
    }

    fn head(&mut self, share: usize) {
        let limit = (self.spent + share).min(self.limit);
        for line in 0..self.text.len() {
            if !self.kept[line] && !self.take(line..line + 1, limit) {
                break;
            }
        }
    }

    /// Keeps error regions. If there is not enough room, the longest lose from their middle, then whole regions go; the
    /// first and the last stay longest.
    fn regions(&mut self, regions: &[Range<usize>]) {
        let Some(last) = regions.last() else { return };
        let sizes = regions.iter().map(|region| (self.cost(region.clone()), self.price(region.start)));
        let sizes: Vec<(usize, usize)> = sizes.filter(|&(size, _)| size > 0).collect();
        let free = self.limit.saturating_sub(self.spent);
        // What all regions cost if none may be larger than a cap.
        let total = |cap: usize| -> usize {
            let cost = |size, first| if size <= cap { size } else { cap.max(first) + self.marker };
            sizes.iter().map(|&(size, first)| cost(size, first) + self.marker).sum()
        };
        let (mut low, mut high) = (0, sizes.iter().map(|&(size, _)| size).max().unwrap_or(0));
        if total(high) > free {
            while low + 1 < high {
                let middle = low.midpoint(high);
                if total(middle) <= free { low = middle } else { high = middle }
            }
        } else {
            low = high;
        }
        self.region(&regions[0], low);
        self.region(last, low);
        for region in regions.iter().rev() {
            self.region(region, low);
        }
    }

    /// Keeps lines around error regions, those of the last region first.
    fn around(&mut self, regions: &[Range<usize>], share: usize) {
        let limit = (self.spent + share).min(self.limit);
        let (before, after) = AROUND;
        for region in regions.iter().rev() {
            let lines = region.start.saturating_sub(before)..region.start;
            let end = (region.end + after).min(self.kept.len());
            if !lines.is_empty() && !self.take(lines, limit) || region.end < end && !self.take(region.end..end, limit) {
                break;
            }
        }
    }

    /// Keeps a region's first line, its failure lines, and as much of its two ends as the cap allows.
    fn region(&mut self, region: &Range<usize>, cap: usize) {
        if self.cost(region.clone()) <= cap {
            self.take(region.clone(), self.limit);
            return;
        }
        let mut used = 0;
        for line in (region.start + 1..region.end).rev() {
            let cost = self.price(line) + self.marker;
            if self.text.class(line).has(Class::FAILURE) && used + cost <= cap / FAILURES_SHARE {
                used += if self.take(line..line + 1, self.limit) { cost } else { 0 };
            }
        }
        let cap = cap - used;
        let sizes = |from: usize, to: usize, half: usize, this: &Self, back: bool| {
            let mut used = 0;
            let mut count = 0;
            while from + count < to {
                let line = if back { to - 1 - count } else { from + count };
                used += this.price(line);
                if used > half {
                    break;
                }
                count += 1;
            }
            count
        };
        let head = sizes(region.start, region.end, cap / 2, self, false).max(1);
        let first = self.price(region.start);
        let rest = cap.saturating_sub(first.max(cap / 2));
        let tail = sizes(region.start + head, region.end, rest, self, true);
        if self.take(region.start..region.start + head, self.limit) && tail > 0 {
            self.take(region.end - tail..region.end, self.limit);
        }
    }

    /// Keeps lines between kept ones if they are no longer than the marker in their place.
    fn close(&mut self) {
        let mut line = 0;
        while let Some(start) = (line..self.kept.len()).find(|&line| !self.kept[line]) {
            line = (start..self.kept.len()).find(|&line| self.kept[line]).unwrap_or(self.kept.len());
            if self.text.spans(start..line).len() <= self.marker {
                self.take(start..line, self.limit);
            }
        }
    }

    /// If a verdict of failure is not kept, keeps no verdict of success.
    fn no_false_green(&mut self) {
        let text = self.text;
        let has = |line: usize, class: Class| text.class(line).has(class);
        if (0..self.text.len()).any(|line| !self.kept[line] && has(line, Class::FAILED_VERDICT)) {
            for line in 0..self.text.len() {
                if has(line, Class::PASSED_VERDICT) {
                    self.give_up(line);
                }
            }
        }
    }

    /// Leaves a line out, and enough lines after or before it for a marker.
    fn give_up(&mut self, line: usize) {
        let (mut start, mut end) = (line, line + 1);
        while self.text.spans(start..end).len() < LONGEST_MARKER && end - start < self.kept.len() {
            if end < self.kept.len() { end += 1 } else { start -= 1 }
        }
        start -= self.text.cut_before(start);
        end += self.text.cut_after(end - 1);
        self.kept[start..end].fill(false);
    }

    /// Leaves out markers next to lines that go, or next to each other. One marker then counts them all.
    fn join_omissions(&mut self) {
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

    fn edits(&self, regions: &[Range<usize>]) -> Vec<Edit> {
        let text = self.text;
        let mut edits = Vec::new();
        let mut line = 0;
        // The first region that has not begun before the current line.
        let mut region = 0;
        while line < text.len() {
            if self.kept[line] {
                let longest = self.longest_line();
                if self.is_cut(line) {
                    edits.push(middle(text, line, longest / 2, longest / 2 - 8));
                }
                line += 1;
                continue;
            }
            let end = (line..text.len()).find(|&line| self.kept[line]).unwrap_or(text.len());
            while regions.get(region).is_some_and(|region| region.start < line) {
                region += 1;
            }
            let whole = regions[region..].iter().take_while(|region| region.end <= end).count();
            edits.push(Edit { range: text.spans(line..end), kind: EditKind::LeaveOut { regions: whole } });
            region += whole;
            line = end;
        }
        edits
    }
}
