//! What is kept of a text that outgrows a stream's memory under a budget: its head, its tail and its error regions, with
//! exact markers between them.

use std::collections::VecDeque;

use super::{
    budget,
    draft::{Draft, Edit, How},
    failures::{self, Class},
    marker::Marker,
    text::{Layout, Text},
};

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

    /// The offset behind it.
    fn end(&self) -> usize {
        self.offset + self.bytes.len()
    }
}

/// Lines that are kept while a text goes by.
pub struct Keeper {
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
    /// What went by since the last line of an error region, and since the last failure line of those that had to go.
    gap: Gap,
    gap_of_gone: Gap,
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

/// The lines behind one that is kept, while they are together no longer than a marker: for them none could stand.
#[derive(Default)]
struct Gap {
    start: usize,
    lines: Vec<Line>,
}

impl Gap {
    fn add(&mut self, line: &Line) {
        if line.end() - self.start <= budget::LONGEST_MARKER {
            self.lines.push(line.clone());
        } else {
            self.lines.clear();
        }
    }

    /// This line is kept: gives those before it that have to be kept too.
    fn close(&mut self, line: &Line) -> Vec<Line> {
        let mut lines = std::mem::take(&mut self.lines);
        if line.offset - self.start > budget::LONGEST_MARKER {
            lines.clear();
        }
        self.start = line.end();
        lines
    }
}

impl Keeper {
    /// An eighth of the memory for the head, a half for the tail, three eighths for error regions and what is beside them.
    pub fn new(memory: usize) -> Keeper {
        Keeper {
            lines: 0,
            bytes: 0,
            failed_verdicts: 0,
            begun: 0,
            head: Bin::new(memory / 8),
            regions: Ends::new(memory / 8),
            near: Ends::new(memory / 16),
            tail: Bin::new(memory / 2),
            gap: Gap::default(),
            gap_of_gone: Gap::default(),
            beside: 0,
            passed: 0,
        }
    }

    /// A part of a line that is too long to be kept. The line counts where it ends.
    pub fn pass(&mut self, part: &[u8]) {
        self.bytes += part.len();
        self.lines += usize::from(part.ends_with(b"\n"));
    }

    /// The line of which parts were passed is over, without an end.
    pub fn end_line(&mut self) {
        self.lines += 1;
    }

    /// Takes whole lines; `said` stands before them and is none of them.
    pub fn take(&mut self, said: &[u8], lines: &[u8]) {
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
            let mut between = Vec::new();
            if class.must_stay() {
                between = self.gap.close(&kept);
            } else {
                self.gap.add(&kept);
            }
            if self.head.first(&kept) {
                continue;
            }
            self.keep_near(&kept);
            if class.must_stay() {
                for line in between.iter().chain([&kept]) {
                    self.keep_region(line);
                }
            }
            self.tail.latest(&kept);
        }
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
    pub fn result(&mut self, budget: usize) -> Vec<u8> {
        let mut lines: Vec<Line> = Vec::new();
        let (regions, near) = (&mut self.regions, &mut self.near);
        for bin in
            [&mut regions.first, &mut regions.last, &mut near.first, &mut near.last, &mut self.head, &mut self.tail]
        {
            lines.extend(bin.lines.drain(..));
        }
        lines.sort_by_key(|line| line.number);
        lines.dedup_by_key(|line| line.number);
        let class = Class::default();
        let end = Line { number: self.lines, offset: self.bytes, class, begun: self.begun, bytes: Box::default() };
        lines = widened(lines, &end);
        // No verdict of success without every verdict of failure.
        if lines.iter().filter(|line| line.class.has(Class::FAILED_VERDICT)).count() < self.failed_verdicts {
            lines.retain(|line| !line.class.has(Class::PASSED_VERDICT));
            lines = widened(lines, &end);
        }
        let mut draft = Draft::default();
        // Where a marker stands that counts error regions.
        let mut told = Vec::new();
        let mut last = None;
        for line in lines.iter().chain([&end]) {
            let gap = Missing::between(last, line);
            told.push((draft.bytes.len(), gap.regions));
            draft.gap(gap.lines, gap.bytes, gap.regions, gap.offset);
            draft.line(&line.bytes, line.offset);
            last = Some(line);
        }
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

/// What is not there between two lines that are kept.
struct Missing {
    lines: usize,
    bytes: usize,
    /// Error regions of which no line is left.
    regions: usize,
    offset: usize,
}

impl Missing {
    /// `last` is none where `line` is the first.
    fn between(last: Option<&Line>, line: &Line) -> Missing {
        let (number, offset, begun) = last.map_or((0, 0, 0), |last| (last.number + 1, last.end(), last.begun));
        let new = line.begun - begun;
        // A part of the last one is here.
        let regions = new - u32::from(new > 0 && line.class.has(Class::REGION));
        Missing { lines: line.number - number, bytes: line.offset - offset, regions: regions as usize, offset }
    }

    /// Whether it is shorter than its marker.
    fn is_short(&self) -> bool {
        let &Missing { lines, bytes, regions, .. } = self;
        bytes > 0 && Marker::LeftOut { lines, bytes, regions }.to_string().len() >= bytes
    }
}

/// The lines without those beside a gap that is shorter than its marker. `end` stands behind the last line.
fn widened(lines: Vec<Line>, end: &Line) -> Vec<Line> {
    let mut kept: Vec<Line> = Vec::with_capacity(lines.len());
    let is_short = |last: Option<&Line>, line: &Line| Missing::between(last, line).is_short();
    for line in lines {
        // Rather a line before the gap goes than one of a region behind it.
        while line.class.must_stay()
            && is_short(kept.last(), &line)
            && kept.pop_if(|last| !last.class.must_stay()).is_some()
        {}
        if !is_short(kept.last(), &line) {
            kept.push(line);
        }
    }
    // A text may be shorter than a marker once its controls are gone.
    while is_short(kept.last(), end) && kept.pop().is_some() {}
    kept
}
