//! The screen of a terminal, as far as a log needs it: a cursor that moves up, left and to given places, and text that is
//! overwritten and erased. Whatever the controls of a text are, work and memory must be linear in its length.

use memchr::{memchr, memchr3};

use crate::compress::text::{
    controls::{BS, Cell, ESC, INVALID, characters, number, sequence_end, without_colours},
    edit::{Edit, EditKind},
};

/// The farthest that a cursor moves to the right, and below the top of its page.
const MOST_COLUMNS: usize = 1000;
const MOST_ROWS: usize = 500;

/// A cell that a tab covers, other than the tab's first cell.
const TAB_REST: Cell = 0x4000_0000;

/// The content of a row.
enum RowContent {
    /// The line of the text that made the row, unchanged.
    Line,
    /// A text without its colours.
    Text(Vec<u8>),
    Cells(Vec<Cell>),
}

struct Row {
    /// The beginning of the line that made this row.
    start: usize,
    content: RowContent,
    /// Whether the cursor moved back in the row, so that spaces at its end may hide earlier text.
    overwritten: bool,
}

impl Row {
    fn new(start: usize, content: RowContent) -> Row {
        Row { start, content, overwritten: false }
    }

    /// Writes the visible text of the row. If the row was overwritten, the spaces at its end are left out.
    fn show(&self, bytes: &[u8], text: &mut Vec<u8>) {
        let start = text.len();
        match &self.content {
            RowContent::Line => {
                let end = memchr(b'\n', &bytes[self.start..]).map_or(bytes.len(), |end| self.start + end);
                text.extend_from_slice(&bytes[self.start..end]);
                return;
            }
            RowContent::Text(own) => text.extend_from_slice(own),
            RowContent::Cells(cells) => show(cells, text),
        }
        if self.overwritten {
            let shown = text[start..].iter().rposition(|&byte| byte != b' ').map_or(0, |at| at + 1);
            text.truncate(start + shown);
        }
    }
}

/// The place where a program cleared the screen.
struct Page {
    /// The first row of the new page.
    row: usize,
    /// The offset of the control sequence.
    at: usize,
    /// The end of the line that contains the sequence.
    next: usize,
}

/// The screen of a terminal that a text is printed on.
pub struct Screen<'a> {
    bytes: &'a [u8],
    rows: Vec<Row>,
    row: usize,
    column: usize,
    /// The first row that the cursor can reach.
    page: usize,
    /// Whether the terminal showed other text above the first row. Once the cursor has moved up into that text, `above` empty
    /// rows represent it.
    goes_on: bool,
    above: usize,
    saved: Option<(usize, usize)>,
    /// The offset after the last sequence that moved the cursor to the page's beginning.
    home: usize,
    /// The last row that scrolls, if a program has set one. Text that it writes below is a status that is always overwritten.
    bottom: Option<usize>,
    below: bool,
    /// Stretches of the text whose rows depend on each other, because the cursor moved between them. Each stretch becomes one
    /// edit.
    groups: Vec<(usize, usize)>,
    /// The number of cells that were filled with spaces so far. If it exceeds the number of bytes of the text, the caller gives up,
    /// because no real program does that.
    pub filled: usize,
    /// Whether a program inserted or deleted rows. Its later output is not interpreted.
    pub moves_rows: bool,
    /// The places where the screen was cleared.
    pages: Vec<Page>,
    /// The text before this offset is not shown any more.
    pub shown_from: usize,
}

impl<'a> Screen<'a> {
    pub fn new(bytes: &'a [u8], goes_on: bool) -> Screen<'a> {
        let mut rows = Vec::with_capacity(bytes.len() / 40 + 1);
        rows.push(Row::new(0, RowContent::Line));
        Screen {
            bytes,
            rows,
            row: 0,
            column: 0,
            page: 0,
            goes_on,
            above: 0,
            saved: None,
            home: 0,
            bottom: None,
            below: false,
            groups: Vec::new(),
            filled: 0,
            moves_rows: false,
            pages: Vec::new(),
            shown_from: 0,
        }
    }

    /// Returns whether the line at `start` is the first in its row.
    fn is_fresh(&self, start: usize) -> bool {
        let row = &self.rows[self.row];
        row.start == start && matches!(row.content, RowContent::Line)
    }

    /// Prints a line if its only controls are colours and a carriage return at its end, as in most lines with controls. Returns
    /// whether the line was printed.
    pub fn coloured(&mut self, start: usize, end: usize) -> bool {
        let text = self.is_fresh(start).then(|| without_colours(&self.bytes[start..end])).flatten();
        let Some(text) = text else { return false };
        self.rows[self.row].content = RowContent::Text(text);
        true
    }

    /// Prints a line without controls.
    pub fn plain(&mut self, start: usize, end: usize, next: usize) {
        if self.row + 1 == self.rows.len() && self.is_fresh(start) {
            return;
        }
        self.touch(start, next);
        self.print(start, end);
    }

    /// Notes that the line at `start` writes to the cursor's row, which an earlier line may have made.
    fn touch(&mut self, start: usize, next: usize) {
        let row = &self.rows[self.row];
        if row.start == start {
            return;
        }
        let from = row.start;
        self.join(from, next);
    }

    /// Makes the text from `from` to `to` one stretch, which becomes one edit.
    fn join(&mut self, from: usize, to: usize) {
        let mut group = (from, to);
        while let Some(last) = self.groups.pop_if(|last| last.1 > group.0) {
            group = (last.0.min(group.0), last.1.max(group.1));
        }
        self.groups.push(group);
    }

    pub fn line_feed(&mut self, next: usize) {
        self.below = false;
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Row::new(next, RowContent::Line));
        }
        self.column = 0;
    }

    /// Adds a row at the bottom, which the line at `start` made.
    fn add_row(&mut self, start: usize, next: usize) {
        self.filled += 1;
        self.rows.push(Row::new(start, RowContent::Cells(Vec::new())));
        self.join(start, next);
    }

    /// Returns the cursor's row as cells. The row of the line that is being printed is empty at first.
    fn cells(&mut self, line: usize) -> &mut Vec<Cell> {
        let row = self.row;
        let start = self.rows[row].start;
        let text = match &self.rows[row].content {
            RowContent::Cells(_) => None,
            RowContent::Text(text) => Some(&text[..]),
            RowContent::Line if start < line => {
                let end = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |found| start + found);
                Some(&self.bytes[start..end])
            }
            RowContent::Line => Some(&b""[..]),
        };
        if let Some(text) = text {
            let mut cells = Vec::new();
            for cell in characters(text) {
                put(&mut cells, cell);
            }
            self.rows[row].content = RowContent::Cells(cells);
        }
        match &mut self.rows[row].content {
            RowContent::Cells(cells) => cells,
            _ => unreachable!("they were just made"),
        }
    }

    /// Writes the characters of the text from `at` to `end`, which has no control sequences.
    fn print(&mut self, at: usize, end: usize) {
        let bytes = self.bytes;
        let mut column = self.column;
        let line = at;
        let mut filled = 0;
        let cells = self.cells(line);
        for cell in characters(&bytes[at..end]) {
            if cell == 0x07 {
                continue;
            }
            if cells.len() < column {
                filled += column - cells.len();
                cells.resize(column, u32::from(b' '));
            }
            let width = if cell == u32::from(b'\t') { 8 - column % 8 } else { 1 };
            for step in 0..width {
                let cell = if step == 0 { cell } else { TAB_REST };
                match cells.get_mut(column) {
                    // A tab moves over existing text and does not overwrite it.
                    Some(_) if width > 1 => {}
                    Some(old) => *old = cell,
                    None => cells.push(cell),
                }
                column += 1;
            }
        }
        self.column = column;
        self.filled += filled;
    }

    /// Carries out the controls of a line.
    pub fn interpret(&mut self, start: usize, end: usize, next: usize) {
        let bytes = self.bytes;
        let mut at = start;
        // If the line has made the cursor's row, the line is printed into an empty row. Otherwise it is printed into the existing
        // row.
        if self.rows[self.row].start == start {
            self.rows[self.row].content = RowContent::Cells(Vec::new());
        }
        self.touch(start, next);
        while at < end && self.filled <= bytes.len() {
            let stop = memchr3(ESC, b'\r', BS, &bytes[at..end]).map_or(end, |found| at + found);
            if stop > at && !self.below {
                self.touch(start, next);
                self.print(at, stop);
            }
            if stop == end {
                break;
            }
            at = match bytes[stop] {
                b'\r' => {
                    self.column = 0;
                    self.rows[self.row].overwritten |= stop + 1 < end;
                    stop + 1
                }
                BS => {
                    self.column = self.column.saturating_sub(1);
                    self.rows[self.row].overwritten = true;
                    stop + 1
                }
                _ => self.escape(stop, start, end, next),
            };
        }
    }

    /// Carries out the sequence at `at`. Returns the offset after it.
    fn escape(&mut self, at: usize, start: usize, end: usize, next: usize) -> usize {
        let bytes = &self.bytes[..end];
        let stop = sequence_end(bytes, at);
        match bytes[at..stop] {
            [_, b'[', ref parameters @ .., last] if (0x40..0x7f).contains(&last) => {
                self.control(parameters, last, at, start, next);
                if last == b'H' && (self.row, self.column) == (self.page, 0) {
                    self.home = stop;
                }
            }
            [_, b'7'] => self.saved = Some((self.row, self.column)),
            [_, b'8'] => self.restore(next),
            [_, b'M'] => self.up(1, next),
            [_, kind @ (b'D' | b'E')] => {
                if self.row + 1 == self.rows.len() {
                    self.add_row(start, next);
                }
                self.row += 1;
                if kind == b'E' {
                    self.column = 0;
                }
            }
            [_, b'c'] => {
                (self.bottom, self.below) = (None, false);
                self.clear(at, start, next);
            }
            _ => {}
        }
        stop
    }

    /// Carries out a control sequence, which begins at `at`.
    fn control(&mut self, parameters: &[u8], last: u8, at: usize, start: usize, next: usize) {
        if parameters.first().is_some_and(|byte| b"<=>?".contains(byte)) {
            return;
        }
        let mut numbers = parameters.split(|&byte| byte == b';').map(number);
        let first = numbers.next().flatten();
        let second = numbers.next().flatten();
        let count = first.unwrap_or(1).max(1);
        if matches!(last, b'H' | b'f' | b'd') {
            self.below = self.bottom.is_some_and(|bottom| count > bottom);
        }
        match last {
            b'r' => (self.bottom, self.below) = (second.filter(|&bottom| bottom > 0), false),
            b'u' => self.restore(next),
            _ if self.below => {}
            b'A' => self.up(count, next),
            b'F' => {
                self.up(count, next);
                self.column = 0;
            }
            b'B' => self.row = (self.row + count).min(self.rows.len() - 1),
            b'E' => {
                self.row = (self.row + count).min(self.rows.len() - 1);
                self.column = 0;
            }
            b'C' | b'a' => self.column = (self.column + count).min(self.column.max(MOST_COLUMNS)),
            b'D' => self.column = self.column.saturating_sub(count),
            b'G' | b'`' => self.column = (count - 1).min(MOST_COLUMNS),
            b'H' | b'f' => {
                if self.page == 0 {
                    self.new_page(start, next);
                }
                self.go_to_row(count, start, next);
                self.column = (second.unwrap_or(1).max(1) - 1).min(MOST_COLUMNS);
            }
            b'd' => self.go_to_row(count, start, next),
            b's' => self.saved = Some((self.row, self.column)),
            b'J' => match first.unwrap_or(0) {
                0 if self.home == at => self.clear(at, start, next),
                0 => self.erase_below(start, next),
                2 | 3 => self.clear(at, start, next),
                _ => {}
            },
            b'K' => {
                self.touch(start, next);
                let column = self.column;
                let cells = self.cells(start);
                match first.unwrap_or(0) {
                    0 => cells.truncate(column),
                    1 => {
                        let upto = (column + 1).min(cells.len());
                        cells[..upto].fill(u32::from(b' '));
                        self.filled += upto;
                    }
                    2 => cells.clear(),
                    _ => {}
                }
            }
            b'X' => {
                self.touch(start, next);
                let column = self.column;
                let cells = self.cells(start);
                let upto = (column + count).min(cells.len());
                if column < upto {
                    cells[column..upto].fill(u32::from(b' '));
                    self.filled += upto - column;
                }
            }
            b'P' | b'@' => {
                self.touch(start, next);
                let column = self.column;
                let cells = self.cells(start);
                if column < cells.len() {
                    let count = count.min(if last == b'P' { cells.len() - column } else { MOST_COLUMNS });
                    let blanks = if last == b'P' { 0 } else { count };
                    let gone = column..column + count - blanks;
                    cells.splice(gone, std::iter::repeat_n(u32::from(b' '), blanks));
                    // Cells that are moved count as filled, so that the work is linear.
                    self.filled += self.cells(start).len() - column;
                }
            }
            b'L' | b'M' | b'S' | b'T' => self.moves_rows = true,
            _ => {}
        }
    }

    fn up(&mut self, count: usize, next: usize) {
        if self.goes_on && self.page == 0 && self.above == 0 && count > self.row {
            self.above = MOST_ROWS;
            self.rows.splice(0..0, (0..MOST_ROWS).map(|_| Row::new(0, RowContent::Cells(Vec::new()))));
            self.row += MOST_ROWS;
            self.saved = self.saved.map(|(row, column)| (row + MOST_ROWS, column));
            self.join(0, next);
        }
        self.row = self.row.saturating_sub(count).max(self.page);
    }

    fn restore(&mut self, next: usize) {
        self.below = false;
        match self.saved {
            Some((row, column)) => (self.row, self.column) = (row.clamp(self.page, self.rows.len() - 1), column),
            // The position may have been saved in the text before this one, which is not available here.
            None => {
                self.up(usize::MAX, next);
                self.column = 0;
            }
        }
    }

    fn go_to_row(&mut self, row: usize, start: usize, next: usize) {
        let row = self.page.max(self.above) + row.min(MOST_ROWS) - 1;
        while self.rows.len() <= row {
            self.add_row(start, next);
        }
        self.row = row;
    }

    /// Clears the screen, by the sequence at `at`.
    fn clear(&mut self, at: usize, start: usize, next: usize) {
        self.new_page(start, next);
        self.pages.pop_if(|page| page.row == self.row);
        self.pages.push(Page { row: self.row, at, next });
    }

    /// Returns the number of times that the screen was cleared.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Returns the text of a page. Page 0 is the screen before it was first cleared.
    pub fn page(&self, page: usize) -> Vec<u8> {
        let from = page.checked_sub(1).map_or(0, |before| self.pages[before].row);
        let to = self.pages.get(page).map_or(self.rows.len(), |page| page.row);
        let mut text = Vec::new();
        for row in self.rows[from..to].iter().filter(|row| row.start < self.bytes.len()) {
            row.show(self.bytes, &mut text);
            text.push(b'\n');
        }
        text
    }

    /// Drops all pages before a page. Nothing may be printed after that.
    pub fn forget_before(&mut self, page: usize) {
        let Page { row, at, next } = self.pages[page - 1];
        self.rows.drain(..row);
        self.above = 0;
        let until = self.groups.partition_point(|group| group.0 < next);
        let to = self.groups[..until].iter().map(|group| group.1).fold(next, usize::max);
        self.groups.splice(..until, [(0, to)]);
        self.shown_from = at;
    }

    /// Begins an empty page below all rows.
    fn new_page(&mut self, start: usize, next: usize) {
        let last = self.rows.len() - 1;
        self.row = last;
        let is_empty = match &self.rows[last].content {
            RowContent::Cells(cells) => cells.is_empty(),
            RowContent::Text(text) => text.is_empty(),
            RowContent::Line => self.rows[last].start == start,
        };
        if !is_empty {
            self.add_row(start, next);
            self.row = last + 1;
        }
        self.page = self.row;
        self.column = 0;
    }

    fn erase_below(&mut self, start: usize, next: usize) {
        self.touch(start, next);
        let column = self.column;
        self.cells(start).truncate(column);
        if self.row + 1 < self.rows.len() {
            let from = self.rows[self.row].start;
            self.join(from, next);
            self.rows.truncate(self.row + 1);
        }
    }

    /// Returns edits that turn the text into the contents of the screen.
    pub fn edits(mut self) -> Vec<Edit> {
        let bytes = self.bytes;
        // Rows that represent text above this text stay only if something was written to them.
        let own = self.rows.split_off(self.above.min(self.rows.len()));
        self.rows.retain(
            |row| matches!(&row.content, RowContent::Cells(cells) if cells.iter().any(|&cell| cell != u32::from(b' '))),
        );
        self.rows.extend(own);
        // Reserve memory for the largest possible number of edits and no more, because with short lines the edits need many times
        // the memory of the text.
        let mut edits =
            Vec::with_capacity(self.rows.iter().filter(|row| !matches!(row.content, RowContent::Line)).count());
        let mut rows = std::mem::take(&mut self.rows).into_iter().peekable();
        let mut groups = std::mem::take(&mut self.groups).into_iter().peekable();
        while let Some(row) = rows.next() {
            if let Some(&(from, to)) = groups.peek().filter(|group| row.start >= group.0) {
                groups.next();
                let mut text = Vec::new();
                let mut shown = vec![row];
                while let Some(row) = rows.next_if(|row| row.start < to || (row.start == to && to == bytes.len())) {
                    shown.push(row);
                }
                let ends = bytes[from..to].ends_with(b"\n");
                for (index, row) in shown.iter().enumerate() {
                    if index > 0 {
                        text.push(b'\n');
                    }
                    row.show(bytes, &mut text);
                }
                if to == bytes.len() {
                    text.truncate(text.trim_ascii_end().len());
                }
                if ends && (to < bytes.len() || !text.is_empty()) {
                    text.push(b'\n');
                }
                edits.push(Edit { range: from..to, kind: EditKind::Replace(text) });
            } else if !matches!(row.content, RowContent::Line) && row.start < bytes.len() {
                let mut text = Vec::new();
                row.show(bytes, &mut text);
                let end = memchr(b'\n', &bytes[row.start..]).map_or(bytes.len(), |end| row.start + end);
                if text != bytes[row.start..end] {
                    edits.push(Edit { range: row.start..end, kind: EditKind::Replace(text) });
                }
            }
        }
        edits
    }
}

fn put(cells: &mut Vec<Cell>, cell: Cell) {
    cells.push(cell);
    if cell == u32::from(b'\t') {
        while !cells.len().is_multiple_of(8) {
            cells.push(TAB_REST);
        }
    }
}

/// Writes cells as text.
fn show(cells: &[Cell], text: &mut Vec<u8>) {
    let mut at = 0;
    while at < cells.len() {
        let cell = cells[at];
        at += 1;
        if cell == u32::from(b'\t') {
            let stop = (at - 1) / 8 * 8 + 8;
            if cells.get(at..stop.min(cells.len())).is_some_and(|rest| rest.iter().all(|&cell| cell == TAB_REST)) {
                text.push(b'\t');
                at = stop.min(cells.len());
            } else {
                text.push(b' ');
            }
        } else if cell == TAB_REST {
            text.push(b' ');
        } else if cell & INVALID != 0 {
            text.push(cell as u8);
        } else if let Some(c) = char::from_u32(cell) {
            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}
