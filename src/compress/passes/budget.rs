//! Chooses the lines that stay under a budget: verdicts of failure and error regions first, then the tail, then the head. It keeps
//! whole lines, with markers that count missing text exactly. If a verdict of failure does not fit, no verdict of success stays.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    long_lines::{LINE_SHARE, shortened},
    pass::{Pass, Promise, Stage},
    region_order::{Lines, Order, shape},
};
use crate::compress::{
    invocation::input::Input,
    lines::{
        class::Class,
        failures, headings,
        layout::Text,
        records,
        verdict::Verdicts,
        weak::{may_have_weak, weak},
    },
    text::{
        edit::{Edit, EditKind},
        marker::Marker,
    },
};

/// The longest marker line.
pub const LONGEST_MARKER: usize = 100;
/// The tail gets an eighth of the budget however much the regions take; the head gets a tenth if the regions leave it.
const TAIL_SHARE: usize = 8;
const HEAD_SHARE: usize = 10;
/// The number of lines before and after an error region that are kept too, because patterns do not find every line of a region, and
/// their share of the budget.
pub const AROUND: (usize, usize) = (4, 8);
const AROUND_SHARE: usize = 6;
/// A quarter of a region that is cut is for failure lines in its middle.
const FAILURES_SHARE: usize = 4;
/// A region that is kept has at least this share of the free budget, within these bounds.
const LEAST_SHARE: usize = 16;
const LEAST_OF_REGION: (usize, usize) = (160, 600);
/// A region of at most this many lines is kept whole, or only its first line is.
const SHORT_REGION: usize = 6;
/// The share of the regions at the end, which are kept whole, in the free budget.
const END_SHARE: usize = 2;
/// The share of lines that may be diagnostics, next to error regions, and in a failed run without any known failure line.
const WEAK_SHARE: usize = 8;
const UNKNOWN_SHARE: usize = 2;
/// If a command failed, and the lines that are known to explain it take less than this share of the budget, lines that are unlike
/// all others come before the tail, with this share of the rest.
const LITTLE_SHARE: usize = 4;
const NOVEL_SHARE: usize = 2;

/// A pass that leaves out lines that do not fit into a budget.
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

    fn edits(&self, text: Text<'_>, input: &Input, limit: usize) -> Vec<Edit> {
        edits(text, input, limit)
    }
}

/// Returns edits after which the text has at most `limit` bytes.
pub fn edits(text: Text<'_>, input: &Input, limit: usize) -> Vec<Edit> {
    let classes = classes(text);
    let regions = regions(&classes);
    let weak = if may_have_weak(input) { weak(text, failures::built_in()) } else { Vec::new() };
    let mut selection = Selection::new(text, &classes, &weak, limit);
    let has_verdict = |class: &Class| class.has(Class::FAILED_VERDICT) || class.has(Class::PASSED_VERDICT);
    let is_failed = input.exit_code().is_some_and(|code| code != 0);
    let mut verdicts = Verdicts::default();
    classes.iter().for_each(|class| verdicts.add(*class));
    if verdicts.is_unexplained(input) {
        selection.last_line();
    }
    if is_failed && regions.is_empty() && !classes.iter().any(has_verdict) {
        selection.weak(&weak, limit / UNKNOWN_SHARE);
    }
    selection.verdicts();
    selection.tail(limit / TAIL_SHARE);
    selection.regions(&regions);
    selection.around(&regions, limit / AROUND_SHARE);
    selection.weak(&weak, if regions.is_empty() { limit } else { limit / WEAK_SHARE });
    if is_failed && selection.said(&regions, &weak) < limit / LITTLE_SHARE {
        selection.novel();
    }
    selection.close();
    selection.head(limit / HEAD_SHARE);
    selection.tail(limit);
    selection.head(limit);
    selection.no_false_green();
    selection.drop_orphans();
    selection.join_omissions();
    selection.edits(&regions)
}

/// Returns the class of each line, also in a stream of records.
fn classes(text: Text<'_>) -> Vec<Class> {
    let mut classes: Vec<Class> = (0..text.len()).map(|line| text.class(line)).collect();
    if records::has_records(text) {
        records::mark(text, &mut classes);
    }
    classes
}

/// Returns the error regions without their help text: each reaches from a first line to the next one, or to the end of the lines
/// that belong to it.
fn regions(classes: &[Class]) -> Vec<Range<usize>> {
    let mut regions: Vec<Range<usize>> = Vec::new();
    for (line, class) in classes.iter().enumerate().filter(|(_, class)| !class.has(Class::HELP)) {
        match regions.last_mut() {
            Some(last) if last.end == line && class.has(Class::REGION) && !class.has(Class::START) => last.end += 1,
            _ if class.has(Class::REGION) => regions.push(line..line + 1),
            _ => {}
        }
    }
    regions
}

/// Returns the headings of indented failure lines and diagnostics.
fn headings(text: Text<'_>, classes: &[Class], weak: &[Range<usize>]) -> Vec<Option<u32>> {
    let mut of = vec![None; text.len()];
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

/// Returns the cost of all regions if none may be larger than a cap. Each item has the size of a region and the size of its first
/// line.
fn total(sizes: &[(usize, usize)], cap: usize, marker: usize) -> usize {
    let cost = |size, first| if size <= cap { size } else { cap.max(first) + marker };
    sizes.iter().map(|&(size, first)| cost(size, first) + marker).sum()
}

struct Selection<'a> {
    text: Text<'a>,
    classes: &'a [Class],
    limit: usize,
    kept: Vec<bool>,
    /// The heading of each problem that has one.
    headings: Vec<Option<u32>>,
    /// The lines in the order in which they were kept, so that steps can be taken back.
    order: Vec<usize>,
    /// The cost of the kept lines and the markers between them.
    spent: usize,
    /// The cost of a marker line.
    marker: usize,
}

impl<'a> Selection<'a> {
    fn new(text: Text<'a>, classes: &'a [Class], weak: &[Range<usize>], limit: usize) -> Selection<'a> {
        // No marker for a part of the text is longer than one for the whole text. Usually, only one marker counts error regions.
        let cost = |regions| {
            let at = text.numbered.map(|lines| (lines, lines + 1));
            let most = Marker::LeftOut { lines: text.len(), bytes: text.bytes.len(), regions, at };
            most.to_string().len() + 1
        };
        Selection {
            text,
            classes,
            limit,
            kept: vec![false; text.len()],
            headings: headings(text, classes, weak),
            order: Vec::new(),
            spent: cost(text.len()),
            marker: cost(0),
        }
    }

    fn lines(&self) -> Lines<'_> {
        Lines { text: self.text, classes: self.classes, headings: &self.headings }
    }

    fn longest_line(&self) -> usize {
        self.limit / LINE_SHARE
    }

    fn size(&self, line: usize) -> usize {
        if self.is_cut(line) { self.longest_line() + self.marker } else { self.text.span(line).len() }
    }

    /// Returns whether the line would be too long if it were kept whole. A line shortened by `long_lines` is shorter, so if a
    /// longer line is next to a marker of that kind, a tool printed the marker.
    fn is_cut(&self, line: usize) -> bool {
        self.text.span(line).len() > self.longest_line()
    }

    /// Returns the cost of keeping the line.
    fn price(&self, line: usize) -> usize {
        if self.kept[line] { 0 } else { self.size(line) }
    }

    fn cost(&self, lines: Range<usize>) -> usize {
        lines.map(|line| self.price(line)).sum()
    }

    /// Keeps these lines if the limit allows it, and with them the headings of problems. The parts of a line that was
    /// cut before stay together.
    fn take(&mut self, lines: Range<usize>, limit: usize) -> bool {
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
    fn take_back(&mut self, order: usize, spent: usize) {
        for line in self.order.drain(order..) {
            self.kept[line] = false;
        }
        self.spent = spent;
    }

    /// Keeps the last line that is not blank.
    fn last_line(&mut self) {
        if let Some(line) = (0..self.text.len()).rev().find(|&line| !self.text.is_blank(line)) {
            self.take(line..line + 1, self.limit);
        }
    }

    /// Keeps lines that may be diagnostics of a tool that is not known.
    fn weak(&mut self, weak: &[Range<usize>], share: usize) {
        if weak.iter().all(|lines| self.cost(lines.clone()) == 0) {
            return;
        }
        let limit = (self.spent + share).min(self.limit);
        let order = Order::of(self.lines(), weak);
        // If headings compete, each gets its first line before any gets a second one.
        let mut headed = HashSet::new();
        let waits: Vec<bool> = weak
            .iter()
            .map(|lines| self.headings[lines.start].is_some_and(|heading| !headed.insert(heading)))
            .collect();
        for is_late in [false, true] {
            for (group, share) in order.steps() {
                let most = self.spent + limit.saturating_sub(self.spent) / share;
                for &at in group.iter().filter(|&&at| waits[at] == is_late) {
                    let lines = &weak[at];
                    if !self.take(lines.clone(), most) {
                        self.take(lines.start..lines.start + 1, most);
                    }
                }
            }
        }
    }

    /// Returns the number of kept bytes in lines that say, or may say, what failed.
    fn said(&self, regions: &[Range<usize>], weak: &[Range<usize>]) -> usize {
        let lines = regions.iter().chain(weak).flat_map(|lines| lines.clone());
        lines.filter(|&line| self.kept[line]).map(|line| self.size(line)).sum()
    }

    /// Keeps lines whose shape no other line has, from the end.
    fn novel(&mut self) {
        let limit = self.spent + self.limit.saturating_sub(self.spent) / NOVEL_SHARE;
        let shapes: Vec<u64> = (0..self.text.len()).map(|line| shape(self.text.line(line))).collect();
        let mut counts: HashMap<u64, usize> = HashMap::new();
        shapes.iter().for_each(|shape| *counts.entry(*shape).or_default() += 1);
        for line in (0..shapes.len()).rev() {
            let is_novel = counts[&shapes[line]] == 1 && !self.text.is_blank(line) && !self.is_cut(line);
            if is_novel && !self.kept[line] && !self.take(line..line + 1, limit) {
                break;
            }
        }
    }

    /// Keeps every verdict of failure, or the last ones if there are too many.
    fn verdicts(&mut self) {
        for line in (0..self.text.len()).rev() {
            if self.classes[line].has(Class::FAILED_VERDICT) && !self.take(line..line + 1, self.limit / 2) {
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

    /// Keeps error regions. If there is not enough room, the longest regions lose text from their middle, but keep their messages.
    /// Regions that still do not fit are left out whole.
    fn regions(&mut self, regions: &[Range<usize>]) {
        let sizes = |this: &Self, of: &mut dyn Iterator<Item = usize>| -> Vec<(usize, usize)> {
            of.map(|at| (this.cost(regions[at].clone()), this.price(regions[at].start)))
                .filter(|size| size.0 > 0)
                .collect()
        };
        let free = self.limit.saturating_sub(self.spent);
        let all = sizes(self, &mut (0..regions.len()));
        let whole = |sizes: &[(usize, usize)]| sizes.iter().map(|size| size.0).max().unwrap_or(0);
        if total(&all, whole(&all), self.marker) <= free {
            for region in regions.iter().rev() {
                self.take(region.clone(), self.limit);
            }
            return;
        }
        self.ends(regions);
        let free = self.limit.saturating_sub(self.spent);
        let order = Order::of(self.lines(), regions);
        let originals = sizes(self, &mut order.originals());
        let (mut low, mut high) = (0, whole(&originals));
        if total(&originals, high, self.marker) > free {
            while low + 1 < high {
                let middle = low.midpoint(high);
                if total(&originals, middle, self.marker) <= free { low = middle } else { high = middle }
            }
        } else {
            low = high;
        }
        let cap = low.max((free / LEAST_SHARE).clamp(LEAST_OF_REGION.0, LEAST_OF_REGION.1));
        // If headings compete, each gets its first problem before any gets a third one.
        let headed: Vec<bool> = regions.iter().map(|region| low < high && self.is_headed(region)).collect();
        for round in 0..2 {
            let mut is_done = vec![false; regions.len()];
            for (group, share) in order.steps() {
                let limit = self.spent + self.limit.saturating_sub(self.spent) / share;
                for &at in group {
                    if is_done[at] || round > 0 && !headed[at] {
                        continue;
                    }
                    let region = &regions[at];
                    let cap = if round == 0 && headed[at] { 0 } else { cap };
                    is_done[at] = self.region(region, cap, limit);
                    if !is_done[at] && order.ends.contains(&at) {
                        self.take(region.start..region.start + 1, limit);
                    }
                }
                self.complete(group, regions, limit);
            }
        }
    }

    /// Keeps the first line of the first region; the first line of the last region, with as much of that region as the plain end of
    /// the text would show; and the regions before it whole, as far as their share allows.
    fn ends(&mut self, regions: &[Range<usize>]) {
        let (Some(first), Some(last)) = (regions.first(), regions.last()) else { return };
        self.take(first.start..first.start + 1, self.limit);
        let share = (self.spent + self.limit) / END_SHARE;
        let free = self.limit.saturating_sub(self.spent + self.price(last.start) + 2 * self.marker);
        let mut used = self.text.bytes.len() - self.text.start(last.end);
        let is_shown = |&line: &usize| {
            used += self.size(line);
            used <= free
        };
        let shown = last.clone().rev().take_while(is_shown).count();
        if shown > 0 && self.take(last.start..last.start + 1, self.limit) {
            self.take(last.end - shown..last.end, self.limit);
        }
        for region in regions.iter().rev() {
            if self.is_headed(region) || !self.take(region.clone(), share) {
                break;
            }
        }
    }

    /// Returns whether a line of the region is under a heading outside it.
    fn is_headed(&self, region: &Range<usize>) -> bool {
        let is_outside = |heading: u32| !region.contains(&(heading as usize));
        region.clone().any(|line| self.headings[line].is_some_and(is_outside))
    }

    /// Keeps the other lines of short regions whose first line is kept, as far as that fits.
    fn complete(&mut self, group: &[usize], regions: &[Range<usize>], limit: usize) {
        for region in group.iter().map(|&at| &regions[at]) {
            if region.len() <= SHORT_REGION && self.kept[region.start] {
                self.take(region.clone(), limit);
            }
        }
    }

    /// Keeps lines around error regions that are kept at least in part, beginning with the last region.
    fn around(&mut self, regions: &[Range<usize>], share: usize) {
        let limit = (self.spent + share).min(self.limit);
        let (before, after) = AROUND;
        for region in regions.iter().rev() {
            if !region.clone().any(|line| self.kept[line]) {
                continue;
            }
            let lines = region.start.saturating_sub(before)..region.start;
            let end = (region.end + after).min(self.kept.len());
            if !lines.is_empty() && !self.take(lines, limit) || region.end < end && !self.take(region.end..end, limit) {
                break;
            }
        }
    }

    /// Keeps a region's first line, its failure lines, and as much of its two ends as the cap allows. Keeps nothing if
    /// that does not fit.
    fn region(&mut self, region: &Range<usize>, cap: usize, limit: usize) -> bool {
        if self.cost(region.clone()) <= cap {
            return self.take(region.clone(), limit);
        }
        if region.len() <= SHORT_REGION {
            return self.take(region.start..region.start + 1, limit);
        }
        let mut failures = Vec::new();
        let mut used = 0;
        for line in (region.start + 1..region.end).rev() {
            let cost = self.price(line) + self.marker;
            if self.classes[line].has(Class::FAILURE) && used + cost <= cap / FAILURES_SHARE {
                used += cost;
                failures.push(line);
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
        // The head gets the rest of the budget after the tail.
        let used = self.cost(region.end - tail..region.end);
        let head = head.max(sizes(region.start, region.end - tail, cap.saturating_sub(used), self, false));
        let (order, spent) = (self.order.len(), self.spent);
        let mut fits = self.take(region.start..region.start + head, limit);
        fits = fits && (tail == 0 || self.take(region.end - tail..region.end, limit));
        fits = fits && failures.iter().all(|&line| self.take(line..line + 1, limit));
        if !fits {
            self.take_back(order, spent);
        }
        fits
    }

    /// Keeps lines between kept ones if they are no longer than the marker that would replace them.
    fn close(&mut self) {
        let mut line = 0;
        while let Some(start) = (line..self.kept.len()).find(|&line| !self.kept[line]) {
            line = (start..self.kept.len()).find(|&line| self.kept[line]).unwrap_or(self.kept.len());
            if self.text.spans(start..line).len() <= self.marker {
                self.take(start..line, self.limit);
            }
        }
    }

    /// Drops all verdicts of success if a verdict of failure is not kept.
    fn no_false_green(&mut self) {
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

    /// Leaves out problems whose heading was left out.
    fn drop_orphans(&mut self) {
        for line in 0..self.kept.len() {
            if self.headings[line].is_some_and(|heading| self.kept[line] && !self.kept[heading as usize]) {
                self.give_up(line);
            }
        }
    }

    /// Leaves out markers that are next to lines that go, or next to each other. One marker then counts all of these lines.
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
            edits.push(Edit { range: text.spans(line..end), kind: EditKind::LeaveOut { regions: whole } });
            region += whole;
            line = end;
        }
        edits
    }
}
