//! Lines in bounded memory: the first or the latest lines of a text, up to a number of bytes.

use std::collections::VecDeque;

use crate::compress::{lines::class::Class, text::edited::Cut};

/// A line with its place in the text.
#[derive(Clone)]
pub struct Line {
    pub number: usize,
    pub offset: usize,
    pub class: Class,
    /// The number of error regions that have begun up to this line.
    pub begun: u32,
    /// The distance, in lines, to the heading with which the line is kept; 0 without a heading.
    pub heading: u16,
    pub bytes: Box<[u8]>,
    /// The parts left out of a long line.
    pub cuts: Box<[Cut]>,
}

impl Line {
    /// Returns the number of bytes that the line counts: the length of its text, but at least about the size of the struct, plus
    /// its omissions. Without this minimum, empty lines could use many times the memory.
    fn cost(&self) -> usize {
        const LEAST: usize = size_of::<Line>() - size_of::<Box<[Cut]>>();
        self.bytes.len().max(LEAST) + size_of_val(&*self.cuts)
    }

    /// Returns the offset after the line.
    pub fn end(&self) -> usize {
        self.offset + self.bytes.len() + self.cuts.iter().map(|cut| cut.gone).sum::<usize>()
    }
}

/// Lines that together take at most a number of bytes.
pub struct Ring {
    pub lines: VecDeque<Line>,
    used: usize,
    most: usize,
    full: bool,
}

impl Ring {
    pub fn new(most: usize) -> Ring {
        Ring { lines: VecDeque::new(), used: 0, most, full: false }
    }

    /// Keeps the line if there is room. After a line for which there was no room, no line is kept.
    pub fn first(&mut self, line: &Line) -> bool {
        self.full |= self.used + line.cost() > self.most;
        if !self.full {
            self.push(line);
        }
        !self.full
    }

    /// Keeps the line, and drops the oldest lines if there is no room.
    pub fn latest(&mut self, line: &Line) {
        self.push(line);
        while self.pop().is_some() {}
    }

    /// Removes and returns the oldest line if the lines exceed the limit.
    pub fn pop(&mut self) -> Option<Line> {
        let oldest = if self.used > self.most { self.lines.pop_front()? } else { return None };
        self.used -= oldest.cost();
        Some(oldest)
    }

    pub fn push(&mut self, line: &Line) {
        self.used += line.cost();
        self.lines.push_back(line.clone());
    }
}

/// The first lines, and the latest of the other lines.
pub struct FirstAndLatest {
    pub first: Ring,
    pub latest: Ring,
}

impl FirstAndLatest {
    /// Uses at most this many bytes for each of the two.
    pub fn new(most: usize) -> FirstAndLatest {
        FirstAndLatest { first: Ring::new(most), latest: Ring::new(most) }
    }

    /// Keeps the line. Calls `gone` with each line that is dropped.
    pub fn keep(&mut self, line: &Line, mut gone: impl FnMut(&Line)) {
        if self.first.first(line) {
            return;
        }
        self.latest.push(line);
        while let Some(oldest) = self.latest.pop() {
            gone(&oldest);
        }
    }
}
