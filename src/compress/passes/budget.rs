//! Chooses the lines that stay under a budget: verdicts of failure and error regions first, then the tail, then the head. It keeps
//! whole lines, with markers that count missing text exactly. If a verdict of failure does not fit, no verdict of success stays.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    pass::{Pass, Promise, Stage},
    region_order::{Order, shape},
    selection::Selection,
};
use crate::compress::{
    invocation::{files::reads_or_searches, input::Input},
    lines::{
        class::Class,
        failures,
        layout::Text,
        verdict::Verdicts,
        weak::{may_have_weak, weak},
    },
    records::{self, streams},
    text::edit::Edit,
};

/// The tail gets an eighth of the budget before the error regions are chosen; the head gets a tenth after the regions, if that much is
/// left.
const TAIL_SHARE: usize = 8;
const HEAD_SHARE: usize = 10;
/// The number of lines before and after an error region that are kept too, because patterns do not find every line of a region, and
/// their share of the budget.
pub const AROUND: (usize, usize) = (4, 8);
const AROUND_SHARE: usize = 6;
/// The share of the free budget up to which a kept region is not shortened, and the bounds of this length in bytes.
const LEAST_SHARE: usize = 16;
const LEAST_OF_REGION: (usize, usize) = (160, 600);
/// The number of messages that a shortened region keeps even beyond its cap. Short messages directly before or after kept lines
/// are not limited to this number.
const MESSAGES: usize = 2;
const SHORT_MESSAGE: usize = 80;
/// The maximum number of lines of a short region. Such a region is kept whole, or only its first line is kept.
const SHORT_REGION: usize = 6;
/// The share of the budget within which the last regions are kept whole.
const END_SHARE: usize = 2;
/// The shares of the budget for lines that may be diagnostics: the first if there are error regions, the second if the run failed and
/// no line is known as a failure line.
const WEAK_SHARE: usize = 8;
const UNKNOWN_SHARE: usize = 2;
/// If a command failed, and the kept lines that may explain the failure take less than the first share of the budget, lines that
/// are unlike all others get the second share of the free budget, before the rest of the tail.
const LITTLE_SHARE: usize = 4;
const NOVEL_SHARE: usize = 2;
/// The share of the free budget for rows that differ from the others.
const RARE_ROWS_SHARE: usize = 2;
/// A record of at most this many bytes is kept whole or left out whole.
const SMALL_RECORD: usize = 600;
/// If this many records do not fit, no more records are tried.
const MOST_MISSES: usize = 32;

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
    let is_list = regions.is_empty() || input.exit_code() == Some(0) || reads_or_searches(input);
    let records = if is_list { records::text::find(text, failures::built_in()) } else { Vec::new() };
    let mut selection = Selection::new(text, &classes, &weak, &records, limit);
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
    if is_list && !is_failed && records.is_empty() {
        selection.rare();
    }
    selection.records();
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
    if streams::has_records(text) {
        streams::mark(text, &mut classes);
    }
    // A line of progress is not kept as a failure: it only counts the tests that failed, and later lines name them.
    for (line, class) in classes.iter_mut().enumerate().filter(|(_, class)| class.has(Class::REGION)) {
        if failures::built_in().is_progress(text.line(line)) {
            *class = Class::default();
        }
    }
    classes
}

/// Returns the error regions without their help text: each region reaches from a line with the flag `START` to the next such
/// line, or to the end of its lines.
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

/// Returns the cost of all regions if each is shortened to at most a cap. An item of `sizes` has the size of a region and the size of
/// the region's first line.
fn total(sizes: &[(usize, usize)], cap: usize, marker: usize) -> usize {
    let cost = |size, first| if size <= cap { size } else { cap.max(first) + marker };
    sizes.iter().map(|&(size, first)| cost(size, first) + marker).sum()
}

impl Selection<'_> {
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
        self.first_block(weak, limit);
        let order = Order::of(self.lines(), weak);
        // The first diagnostic under each heading is kept before the second diagnostic under any heading.
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

    /// Keeps the whole block of lines around the first of many diagnostics: it may have explanations that the later diagnostics
    /// do not repeat.
    fn first_block(&mut self, weak: &[Range<usize>], limit: usize) {
        let Some(first) = weak.first().filter(|_| weak.len() > SHORT_REGION) else { return };
        let from = (0..first.start).rev().find(|&line| self.text.is_blank(line)).map_or(0, |line| line + 1);
        let to = (first.end..self.text.len()).find(|&line| self.text.is_blank(line)).unwrap_or(first.end);
        if self.cost(from..to) <= limit.saturating_sub(self.spent) / LITTLE_SHARE {
            self.take(from..to, limit);
        }
    }

    /// Returns the number of kept bytes in error regions and in lines that may be diagnostics.
    fn said(&self, regions: &[Range<usize>], weak: &[Range<usize>]) -> usize {
        let lines = regions.iter().chain(weak).flat_map(|lines| lines.clone());
        lines.filter(|&line| self.kept[line]).map(|line| self.size(line)).sum()
    }

    /// Keeps lines whose shape no other line has, beginning with the last.
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

    /// Keeps rows that differ from the others.
    fn rare(&mut self) {
        let limit = self.spent + self.limit.saturating_sub(self.spent) / RARE_ROWS_SHARE;
        for line in records::text::rare_rows(self.text, failures::built_in()) {
            if !self.kept[line] && !self.take(line..line + 1, limit) {
                break;
            }
        }
    }

    /// Keeps records. The longest records are shortened first. If small records do not fit either, each of them is kept whole or
    /// left out whole.
    fn records(&mut self) {
        let sizes: Vec<usize> = self.records.iter().map(|record| self.cost(record.lines.clone())).collect();
        let free = self.limit.saturating_sub(self.spent);
        let most = sizes.iter().copied().max().unwrap_or(0);
        let sum =
            |cap: usize| sizes.iter().map(|&size| if size <= cap { size } else { cap + self.marker }).sum::<usize>();
        let (mut low, mut high) = (SMALL_RECORD.max(free / LEAST_SHARE), most.max(1));
        while low + 1 < high {
            let middle = low.midpoint(high);
            if sum(middle) <= free { low = middle } else { high = middle }
        }
        let mut misses = 0;
        for at in records::text::order(self.text, self.records) {
            misses += usize::from(!self.region(&self.records[at].lines, low, self.limit));
            if misses > MOST_MISSES {
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

    /// Keeps lines, beginning with the last, until the next line would exceed the share.
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
        // The first lines of regions under headings are kept before the rest of any such region.
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

    /// Keeps the first line of the first region; the first line of the last region, with as much of that region as the plain end
    /// of the text would show; and the regions at the end whole, as far as their share allows.
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

    /// Keeps the lines before and after error regions of which at least a part is kept, beginning with the last region.
    fn around(&mut self, regions: &[Range<usize>], share: usize) {
        let limit = (self.spent + share).min(self.limit);
        let (before, after) = AROUND;
        for region in regions.iter().rev() {
            if !region.clone().any(|line| self.kept[line]) {
                continue;
            }
            let is_progress = |&line: &usize| failures::built_in().is_progress(self.text.line(line));
            let from = region.start.saturating_sub(before);
            let lines = (from..region.start).rev().find(is_progress).map_or(from, |line| line + 1)..region.start;
            let end = (region.end + after).min(self.kept.len());
            if !lines.is_empty() && !self.take(lines, limit) || region.end < end && !self.take(region.end..end, limit) {
                break;
            }
        }
    }

    /// Keeps a region's first line, its messages, and as much of its two ends as the cap allows. If that does not fit, the region
    /// is left out.
    fn region(&mut self, region: &Range<usize>, cap: usize, limit: usize) -> bool {
        if self.cost(region.clone()) <= cap {
            return self.take(region.clone(), limit);
        }
        if region.len() <= SHORT_REGION {
            return self.take(region.start..region.start + 1, limit);
        }
        let mut chosen = vec![false; region.len()];
        chosen[0] = true;
        let mut used = self.price(region.start);
        for (nth, (rank, line)) in self.ranked(region).into_iter().enumerate() {
            let at = line - region.start;
            let beside = usize::from(chosen[at - 1]) + usize::from(chosen.get(at + 1) == Some(&true));
            let cost = (self.price(line) + self.marker).saturating_sub(beside * self.marker);
            // Messages may exceed the cap, because a region without its message is of little use.
            let most = if self.price(line) <= SHORT_MESSAGE { MESSAGES * (1 + beside) } else { MESSAGES };
            if used + cost <= cap || rank == 0 && nth < most {
                used += cost;
                chosen[at] = true;
            }
        }
        let (order, spent) = (self.order.len(), self.spent);
        let mut at = 0;
        for run in chosen.chunk_by(|one, next| one == next) {
            let lines = region.start + at..region.start + at + run.len();
            at += run.len();
            if run[0] && !self.take(lines, limit) {
                self.take_back(order, spent);
                return false;
            }
        }
        true
    }

    /// Returns the lines of a region after its first line, with their ranks, in the order in which they are kept: messages, then
    /// the other lines. Within a rank, the outer lines are kept before the inner ones.
    fn ranked(&self, region: &Range<usize>) -> Vec<(u8, usize)> {
        let failures = failures::built_in();
        let mut ranks: [Vec<usize>; 5] = Default::default();
        let mut is_message =
            self.text.line(region.start).ends_with(b":") && self.classes[region.start].has(Class::FAILURE);
        for line in region.start + 1..region.end {
            let class = self.classes[line];
            let text = self.text.unstamped(line, failures);
            let rank = match () {
                _ if class.has(Class::FAILURE) || is_message => 0,
                _ if class.has(Class::HUNK) => 2,
                _ => failures.rank(text),
            };
            is_message = class.has(Class::FAILURE) && text.ends_with(b":");
            ranks[usize::from(rank)].push(line);
        }
        let from_ends = |(rank, lines): (usize, &Vec<usize>)| {
            let last = lines.len();
            let order = (0..last).map(move |at| if at % 2 == 0 { at / 2 } else { last - 1 - at / 2 });
            order.map(|at| (rank as u8, lines[at])).collect::<Vec<_>>()
        };
        ranks.iter().enumerate().flat_map(from_ends).collect()
    }
}
