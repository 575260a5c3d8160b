//! A text on its way through the filters, tied to its original: which bytes were kept, changed or left out, and by whom.
//!
//! Filters say what they do as edits. Only this file carries them out, so the promise of a select filter (lines that
//! came in, unchanged and in order, or marker lines with exact counts) is kept by construction.

use std::ops::Range;

use super::{
    banner::{Length, units},
    marker::Marker,
    text::{Text, is_blank},
};
use crate::utf8::is_continuation;

/// One thing that a filter does to its text. Ranges are offsets into that text; edits are in order and do not overlap.
pub struct Edit {
    pub range: Range<usize>,
    pub how: How,
}

pub enum How {
    /// Other bytes take the place of these.
    Replace(Vec<u8>),
    /// Whole lines go; a marker says how many, and how many whole error regions.
    LeaveOut { regions: usize },
    /// Whole lines go that are further up as well.
    AsAbove,
    /// The middle of one line goes; its two ends stay on lines of their own.
    Middle,
}

impl Edit {
    pub fn leave_out(range: Range<usize>) -> Edit {
        Edit { range, how: How::LeaveOut { regions: 0 } }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Kept,
    /// By the filter of this number.
    Changed(u32),
    /// By the filter of this number; lines and bytes of the text that it saw.
    LeftOut(u32, usize, usize),
}

/// A stretch of the original and what stands for it.
#[derive(Clone, Debug)]
pub struct Tile {
    pub original: Range<usize>,
    pub output: Range<usize>,
    pub fate: Fate,
}

/// A text and the tiles that lead back to its original.
#[derive(Default)]
pub struct Draft {
    pub bytes: Vec<u8>,
    pub length: Length,
    pub tiles: Vec<Tile>,
    /// Stretches of the draft before this one that it took over, and where each begins here.
    pub taken: Vec<(Range<usize>, usize)>,
}

impl Draft {
    pub fn new(original: &[u8], length: Length) -> Draft {
        let whole = 0..original.len();
        Draft {
            bytes: original.to_vec(),
            length,
            tiles: vec![Tile { original: whole.clone(), output: whole, fate: Fate::Kept }],
            taken: Vec::new(),
        }
    }

    /// Adds text. No character goes over its end, so that lengths add up.
    fn append(&mut self, text: &[u8]) {
        self.append_measured(text, Length::of(text));
    }

    fn append_measured(&mut self, text: &[u8], length: Length) {
        self.bytes.extend_from_slice(text);
        self.length += length;
    }

    /// Lines and bytes that a range of the text stands for: a marker counts as what it replaced.
    pub fn count(&self, range: &Range<usize>) -> (usize, usize) {
        let first = self.tiles.partition_point(|tile| tile.output.end < range.start);
        let (mut lines, mut bytes) = (0, 0);
        for tile in &self.tiles[first..] {
            if tile.output.start > range.end {
                break;
            }
            let part = tile.output.start.max(range.start)..tile.output.end.min(range.end);
            match tile.fate {
                Fate::LeftOut(_, left_lines, left_bytes) => {
                    // What went without a marker belongs to a range that it lies inside of.
                    let inside = tile.output.is_empty() && part.start > range.start && part.start < range.end;
                    if part.start < part.end || inside {
                        lines += left_lines;
                        bytes += left_bytes;
                    }
                }
                _ if part.start < part.end => {
                    lines += bytecount::count(&self.bytes[part.clone()], b'\n');
                    bytes += part.len();
                    // The text's last line may have no end.
                    lines += usize::from(part.end == self.bytes.len() && self.bytes.last() != Some(&b'\n'));
                }
                _ => {}
            }
        }
        (lines, bytes)
    }

    /// Those of the edits that will be carried out.
    pub fn fitting(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        let is_blank = is_blank(&self.bytes);
        let fits = |edit: &Edit| self.marker(&edit.range, &edit.how, is_blank).is_some();
        edits.retain(|edit| matches!(edit.how, How::Replace(_)) || fits(edit));
        edits
    }

    /// The draft with a filter's edits carried out. An edit whose marker would be longer than what it stands for is
    /// passed over; blank lines go without a marker, unless there are no others: nothing else would show that there was text.
    pub fn with(&self, edits: Vec<Edit>, filter: u32) -> Draft {
        let is_blank = is_blank(&self.bytes);
        let mut next = Weaver {
            old: self,
            filter,
            tile: 0,
            torn: false,
            at: 0,
            draft: Draft {
                bytes: Vec::with_capacity(self.bytes.len()),
                tiles: Vec::with_capacity(self.tiles.len() + 2 * edits.len()),
                taken: Vec::with_capacity(edits.len() + 1),
                ..Draft::default()
            },
        };
        for edit in edits {
            debug_assert!(edit.range.start >= next.at && edit.range.end <= self.bytes.len());
            let (text, left) = match edit.how {
                How::Replace(text) => (text, None),
                how => match self.marker(&edit.range, &how, is_blank) {
                    Some((text, count)) => (text, Some(count)),
                    None => continue,
                },
            };
            next.keep(edit.range.start);
            next.replace(edit.range.end, &text, left);
        }
        next.keep(self.bytes.len());
        next.draft
    }

    /// The marker for a range, with its line end, and what it stands for. `None` if it would be longer. `is_all_blank`: so
    /// is the text.
    fn marker(&self, range: &Range<usize>, how: &How, is_all_blank: bool) -> Option<(Vec<u8>, (usize, usize))> {
        let gone = &self.bytes[range.clone()];
        let (lines, bytes) = self.count(range);
        if !matches!(how, How::Middle) && !is_all_blank && is_blank(gone) {
            return (!gone.is_empty()).then(|| (Vec::new(), (lines, bytes)));
        }
        let text = match *how {
            How::LeaveOut { regions } => Marker::LeftOut { lines, bytes, regions }.to_string(),
            How::AsAbove => Marker::AsAbove { lines }.to_string(),
            How::Middle => format!("\n{}\n", Marker::OfLine { bytes }),
            How::Replace(_) => unreachable!("a replacement has no marker"),
        };
        let end = if gone.ends_with(b"\n") { "\n" } else { "" };
        let text = [text.as_bytes(), end.as_bytes()].concat();
        let fits = text.len() <= gone.len() && (text.len() * 3 <= gone.len() || units(&text) <= units(gone));
        fits.then_some((text, (if matches!(how, How::Middle) { 0 } else { lines }, bytes)))
    }

    /// Adds a line of the original, for a draft that is built of what was kept.
    pub fn line(&mut self, bytes: &[u8], offset: usize) {
        let start = self.bytes.len();
        self.append(bytes);
        let tile = Tile { original: offset..offset + bytes.len(), output: start..self.bytes.len(), fate: Fate::Kept };
        self.tiles.push(tile);
    }

    /// Adds a marker for lines that are not there. It is no longer than they were.
    pub fn gap(&mut self, lines: usize, bytes: usize, regions: usize, offset: usize) {
        if bytes == 0 {
            return;
        }
        let start = self.bytes.len();
        self.append(format!("{}\n", Marker::LeftOut { lines, bytes, regions }).as_bytes());
        let fate = Fate::LeftOut(0, lines, bytes);
        self.tiles.push(Tile { original: offset..offset + bytes, output: start..self.bytes.len(), fate });
    }
}

/// Builds the next draft from left to right.
struct Weaver<'a> {
    old: &'a Draft,
    filter: u32,
    /// The first old tile that is not used up.
    tile: usize,
    /// A part of that tile, which cannot be split, is in the last new tile.
    torn: bool,
    /// Bytes of the old text that are used up.
    at: usize,
    draft: Draft,
}

impl Weaver<'_> {
    /// Takes the old text up to `end` over as it is.
    fn keep(&mut self, end: usize) {
        if self.at < end {
            self.draft.taken.push((self.at..end, self.draft.bytes.len()));
        }
        while let Some(tile) = self.old.tiles.get(self.tile) {
            if tile.output.start >= end && !(tile.output.is_empty() && tile.output.start == end) {
                break;
            }
            let upto = tile.output.end.min(end);
            let original = self.take(tile, upto);
            let text = &self.old.bytes[self.at..upto];
            let length = if self.old.length.is_of_bytes() { Length::of_bytes(text) } else { Length::of(text) };
            let whole = upto == tile.output.end && self.at <= tile.output.start;
            let fate = if whole || tile.fate == Fate::Kept { tile.fate } else { Fate::Changed(self.filter) };
            self.push(original, text, length, fate, !whole && tile.fate != Fate::Kept);
            self.at = upto;
            if upto == tile.output.end {
                self.tile += 1;
                self.torn = false;
            } else {
                break;
            }
        }
        self.at = end;
    }

    /// Puts `text` in the place of the old text up to `end`.
    fn replace(&mut self, end: usize, text: &[u8], left: Option<(usize, usize)>) {
        let mut original: Option<Range<usize>> = None;
        let mut rest = false;
        let mut joins = false;
        while let Some(tile) = self.old.tiles.get(self.tile) {
            if tile.output.start >= end {
                break;
            }
            let upto = tile.output.end.min(end);
            let piece = self.take(tile, upto);
            joins |= self.torn && original.is_none();
            original = Some(original.map_or(piece.clone(), |range| range.start..piece.end));
            self.at = upto;
            if upto < tile.output.end {
                rest = tile.fate != Fate::Kept;
                break;
            }
            self.tile += 1;
            self.torn = false;
        }
        let here = self.draft.tiles.last().map_or(0, |tile| tile.original.end);
        let fate = match left {
            Some((lines, bytes)) if !rest && !joins => Fate::LeftOut(self.filter, lines, bytes),
            _ => Fate::Changed(self.filter),
        };
        self.torn |= joins;
        self.push(original.unwrap_or(here..here), text, Length::of(text), fate, rest);
        self.at = end;
    }

    /// The part of the original that the old text from `at` to `upto`, all of one tile, stands for.
    fn take(&self, tile: &Tile, upto: usize) -> Range<usize> {
        if tile.fate == Fate::Kept {
            let base = tile.original.start;
            return base + (self.at - tile.output.start)..base + (upto - tile.output.start);
        }
        tile.original.clone()
    }

    /// Adds a tile; joins it with the last one where both hold parts of an old tile that cannot be split.
    fn push(&mut self, original: Range<usize>, text: &[u8], length: Length, fate: Fate, tears: bool) {
        let start = self.draft.bytes.len();
        self.draft.append_measured(text, length);
        let end = self.draft.bytes.len();
        match self.draft.tiles.last_mut() {
            Some(last) if self.torn => {
                last.original.end = last.original.end.max(original.end);
                last.output.end = end;
                last.fate = Fate::Changed(self.filter);
            }
            Some(last) if fate == Fate::Kept && last.fate == Fate::Kept && last.original.end == original.start => {
                last.original.end = original.end;
                last.output.end = end;
            }
            _ if original.is_empty() && start == end => {}
            _ => self.draft.tiles.push(Tile { original, output: start..end, fate }),
        }
        self.torn = tears;
    }
}

/// The edit that stands for a text that a host's filter gave back: all between the first and the last line that differ.
pub fn difference(old: &[u8], new: &[u8]) -> Option<Edit> {
    if old == new {
        return None;
    }
    let line_start = |at: usize| memchr::memrchr(b'\n', &old[..at]).map_or(0, |at| at + 1);
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let start = line_start(same);
    let rest = (old.len() - start).min(new.len() - start);
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    // The same tail, from the beginning of a line.
    let tail = &old[old.len() - tail..];
    let tail = memchr::memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1);
    let range = start..old.len() - tail;
    Some(Edit { range, how: How::Replace(new[start..new.len() - tail].to_vec()) })
}

/// Whether a select filter's edits keep its promise: whole lines in order, none of an error region.
pub fn keeps_lines(text: Text<'_>, edits: &[Edit], regions_may_go: bool) -> Result<(), String> {
    let mut at = 0;
    for edit in edits {
        let range = &edit.range;
        if range.start < at || range.start >= range.end || range.end > text.bytes.len() {
            return Err(format!("edits out of order at byte {}", range.start));
        }
        at = range.end;
        let first = text.line_at(range.start);
        match edit.how {
            How::Replace(_) => return Err("a select filter rewrote a line".into()),
            How::Middle => {
                let line = text.span(first);
                let inside = range.start > line.start && range.end < line.start + text.line(first).len();
                if !inside || !is_boundary(text.bytes, range.start) || !is_boundary(text.bytes, range.end) {
                    return Err(format!("line {} is not cut inside", first + 1));
                }
            }
            How::LeaveOut { .. } | How::AsAbove => {
                let end = text.line_at(range.end);
                if text.start(first) != range.start || text.start(end) != range.end {
                    return Err(format!("a part of line {} was left out", first + 1));
                }
                if !regions_may_go && (first..end).any(|line| text.class(line).must_stay()) {
                    return Err(format!("a line of an error region was left out behind line {first}"));
                }
            }
        }
    }
    Ok(())
}

/// Does no character begin before this place and go on behind it? Bytes that continue none are places too.
pub fn is_boundary(bytes: &[u8], at: usize) -> bool {
    let goes_on = |byte: &u8| is_continuation(*byte);
    let mut before = bytes[at.saturating_sub(3)..at].iter().rev();
    !bytes.get(at).is_some_and(goes_on) || before.find(|byte| !goes_on(byte)).is_none_or(|byte| *byte < 0xc0)
}
