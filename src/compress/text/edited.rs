//! A source map: a text that filters have edited, with the stretch of the original that each of its stretches represents.
//!
//! Only this file carries out edits. This guarantees that the lines that a filter keeps stay unchanged and in order, and that the
//! counts in marker lines are exact.

use std::{ops::Range, sync::Arc};

use super::{
    bytes::is_blank,
    edit::{Edit, EditKind, Inner},
    length::{Length, units},
    marker::{Marker, Place},
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SegmentKind {
    /// The stretch is unchanged.
    Kept,
    /// The filter with this number changed the stretch.
    Changed(u32),
    /// The filter with this number left the stretch out. The numbers count the lines and bytes of the text that the filter read.
    LeftOut(u32, usize, usize),
}

/// A stretch of the original and its replacement.
#[derive(Clone, Debug)]
pub struct Segment {
    pub original: Range<usize>,
    pub output: Range<usize>,
    pub kind: SegmentKind,
}

/// A text, and the segments that map it to its original.
#[derive(Default)]
pub struct EditedText {
    pub bytes: Vec<u8>,
    pub length: Length,
    pub segments: Vec<Segment>,
    /// Stretches of the previous version that are unchanged in this version, each with the place where it begins here.
    pub taken: Vec<(Range<usize>, usize)>,
    /// The ends of the original's lines, if markers show line numbers.
    original_ends: Option<Arc<[usize]>>,
    /// Whether each line is JSON, so that markers must be JSON strings.
    is_json_lines: bool,
}

impl EditedText {
    pub fn new(original: &[u8], length: Length) -> EditedText {
        let whole = 0..original.len();
        EditedText {
            bytes: original.to_vec(),
            length,
            segments: vec![Segment { original: whole.clone(), output: whole, kind: SegmentKind::Kept }],
            taken: Vec::new(),
            original_ends: None,
            is_json_lines: false,
        }
    }

    /// Makes markers JSON strings, for a text of JSON lines.
    pub fn quote_markers(&mut self) {
        self.is_json_lines = true;
    }

    /// Makes markers say which lines of the original they replace.
    pub fn number_lines(&mut self) {
        self.original_ends = Some(memchr::memchr_iter(b'\n', &self.bytes).map(|end| end + 1).collect());
    }

    /// Returns the number of lines of the original, if markers have line numbers.
    pub fn numbered(&self) -> Option<usize> {
        self.original_ends.as_ref().map(|ends| ends.len() + 1)
    }

    /// Returns the place of a range in the original, if markers show places.
    fn place(&self, range: &Range<usize>) -> Option<Place> {
        let ends = self.original_ends.as_ref()?;
        let inside = |at: usize, is_end: bool| {
            let segment = match is_end {
                true => self.segments.partition_point(|segment| segment.output.start < at).checked_sub(1)?,
                false => self.segments.partition_point(|segment| segment.output.end <= at),
            };
            let Segment { original, output, kind } = self.segments.get(segment)?;
            Some(match (kind, is_end) {
                (SegmentKind::Kept, _) => original.start + (at - output.start),
                (_, true) => original.end,
                (_, false) => original.start,
            })
        };
        let line = |at: usize| ends.partition_point(|&end| end <= at);
        let (first, last) = (inside(range.start, false)?, inside(range.end, true)?);
        let last = last.max(first + 1) - 1;
        let (line, end) = (line(first), line(last));
        let start = line.checked_sub(1).map_or(0, |before| ends[before]);
        // The last line may have no end.
        let reaches_end = ends.get(line).is_none_or(|&end| last + 2 >= end);
        let is_part = line == end && (first > start || !reaches_end);
        Some(match is_part {
            true => Place::Bytes { line: line + 1, first: first - start + 1, last: last - start + 1 },
            false => Place::Lines(line + 1, end + 1),
        })
    }

    /// Adds text. The text must end with a whole character, so that lengths can be added.
    fn append(&mut self, text: &[u8]) {
        self.append_measured(text, Length::of(text));
    }

    fn append_measured(&mut self, text: &[u8], length: Length) {
        self.bytes.extend_from_slice(text);
        self.length += length;
    }

    /// Returns the number of lines and bytes of the original that a range of the text represents. For a marker, the text that it
    /// replaced is counted.
    pub fn count(&self, range: &Range<usize>) -> (usize, usize) {
        let first = self.segments.partition_point(|segment| segment.output.end < range.start);
        let (mut lines, mut bytes) = (0, 0);
        for segment in &self.segments[first..] {
            if segment.output.start > range.end {
                break;
            }
            let part = segment.output.start.max(range.start)..segment.output.end.min(range.end);
            match segment.kind {
                SegmentKind::LeftOut(_, left_lines, left_bytes) => {
                    // Text that was removed without a marker belongs to the range around it.
                    let inside = segment.output.is_empty() && part.start > range.start && part.start < range.end;
                    if part.start < part.end || inside {
                        lines += left_lines;
                        bytes += left_bytes;
                    }
                }
                _ if part.start < part.end => {
                    lines += bytecount::count(&self.bytes[part.clone()], b'\n');
                    bytes += part.len();
                    // The last line of the text counts too, even if it has no line end.
                    lines += usize::from(part.end == self.bytes.len() && self.bytes.last() != Some(&b'\n'));
                }
                _ => {}
            }
        }
        (lines, bytes)
    }

    /// Returns the edits that will be carried out.
    pub fn fitting(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        let is_blank = is_blank(&self.bytes);
        let fits = |edit: &Edit| self.marker(&edit.range, &edit.kind, is_blank).is_some();
        edits.retain(|edit| matches!(edit.kind, EditKind::Replace(_)) || fits(edit));
        edits
    }

    /// Carries out a filter's edits. An edit is skipped if its marker would be longer than the text that it replaces. Blank lines
    /// are removed without a marker, unless the whole text is blank: then only a marker can show that there was text.
    pub fn with(&self, edits: Vec<Edit>, filter: u32) -> EditedText {
        let is_blank = is_blank(&self.bytes);
        let mut next = Rewriter {
            old: self,
            filter,
            segment: 0,
            torn: false,
            at: 0,
            new: EditedText {
                bytes: Vec::with_capacity(self.bytes.len()),
                segments: Vec::with_capacity(self.segments.len() + 2 * edits.len()),
                taken: Vec::with_capacity(edits.len() + 1),
                original_ends: self.original_ends.clone(),
                is_json_lines: self.is_json_lines,
                ..EditedText::default()
            },
        };
        for edit in edits {
            debug_assert!(edit.range.start >= next.at && edit.range.end <= self.bytes.len());
            let (text, left) = match edit.kind {
                EditKind::Replace(text) => (text, None),
                kind => match self.marker(&edit.range, &kind, is_blank) {
                    Some((text, count)) => (text, Some(count)),
                    None => continue,
                },
            };
            next.keep(edit.range.start);
            next.replace(edit.range.end, &text, left);
        }
        next.keep(self.bytes.len());
        next.new
    }

    /// Returns the marker for a range, with its line end, and the lines and bytes that it replaces. Returns `None` if the marker
    /// would be longer. `is_all_blank` means that the whole text is blank.
    fn marker(&self, range: &Range<usize>, kind: &EditKind, is_all_blank: bool) -> Option<(Vec<u8>, (usize, usize))> {
        let gone = &self.bytes[range.clone()];
        let (lines, bytes) = self.count(range);
        let is_of_lines = matches!(kind, EditKind::LeaveOut { .. } | EditKind::AsAbove);
        if is_of_lines && !is_all_blank && is_blank(gone) {
            return (!gone.is_empty()).then(|| (Vec::new(), (lines, bytes)));
        }
        let at = self.place(range);
        let text = match *kind {
            EditKind::LeaveOut { regions, records, ref names } => {
                let marker = |records| Marker::LeftOut { lines, bytes, regions, records, at }.to_string();
                let named = if records > 0 { marker(records) + "\n" + names } else { marker(0) };
                if named.len() < gone.len() { named } else { marker(0) }
            }
            EditKind::Elements(elements) => format!("\"{}\"", Marker::Elements { elements, bytes, at }),
            EditKind::Members(elements) => format!("\"{}\": null", Marker::Elements { elements, bytes, at }),
            EditKind::OfString => Marker::OfString { bytes, at }.to_string(),
            EditKind::AsAbove => Marker::AsAbove { lines, at }.to_string(),
            EditKind::Middle(inner) => format!("\n{}\n", inner.marker(bytes, at)),
            EditKind::Replace(_) => unreachable!("a replacement has no marker"),
        };
        let end = if gone.ends_with(b"\n") { "\n" } else { "" };
        let quote = if self.is_json_lines && is_of_lines { "\"" } else { "" };
        let text = format!("{quote}{text}{quote}{end}").into_bytes();
        let fits = text.len() <= gone.len() && (text.len() * 3 <= gone.len() || units(&text) <= units(gone));
        let lines = if matches!(kind, EditKind::Middle(_) | EditKind::OfString) { 0 } else { lines };
        fits.then_some((text, (lines, bytes)))
    }

    /// Adds a line of the original without these parts, for a text that is built from kept lines.
    pub fn line(&mut self, mut bytes: &[u8], mut offset: usize, cuts: &[Cut]) {
        let mut done = 0;
        for cut in cuts {
            let (piece, rest) = bytes.split_at(cut.at - done);
            self.piece(piece, offset);
            offset += piece.len();
            let start = self.bytes.len();
            self.append(format!("\n{}\n", cut.inner.marker(cut.gone, None)).as_bytes());
            let kind = SegmentKind::LeftOut(0, 0, cut.gone);
            self.segments.push(Segment { original: offset..offset + cut.gone, output: start..self.bytes.len(), kind });
            offset += cut.gone;
            (bytes, done) = (rest, cut.at);
        }
        self.piece(bytes, offset);
    }

    fn piece(&mut self, bytes: &[u8], offset: usize) {
        let start = self.bytes.len();
        self.append(bytes);
        let segment = Segment {
            original: offset..offset + bytes.len(),
            output: start..self.bytes.len(),
            kind: SegmentKind::Kept,
        };
        self.segments.push(segment);
    }

    /// Adds a marker for lines that were not kept. They must be longer than the marker.
    pub fn gap(&mut self, lines: usize, bytes: usize, regions: usize, offset: usize) {
        if bytes == 0 {
            return;
        }
        let start = self.bytes.len();
        self.append(format!("{}\n", Marker::LeftOut { lines, bytes, regions, records: 0, at: None }).as_bytes());
        let kind = SegmentKind::LeftOut(0, lines, bytes);
        self.segments.push(Segment { original: offset..offset + bytes, output: start..self.bytes.len(), kind });
    }
}

/// A part that was left out of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The position of the part in the remaining bytes.
    pub at: usize,
    /// The number of bytes of the part.
    pub gone: usize,
    pub inner: Inner,
}

/// Writes the next version of a text, from left to right.
struct Rewriter<'a> {
    old: &'a EditedText,
    filter: u32,
    /// The index of the first old segment that is not completely read.
    segment: usize,
    /// Whether that segment cannot be split, and a part of it is already in the last new segment.
    torn: bool,
    /// The number of bytes of the old text that were read.
    at: usize,
    new: EditedText,
}

impl Rewriter<'_> {
    /// Copies the old text up to `end`.
    fn keep(&mut self, end: usize) {
        if self.at < end {
            self.new.taken.push((self.at..end, self.new.bytes.len()));
        }
        while let Some(segment) = self.old.segments.get(self.segment) {
            if segment.output.start >= end && !(segment.output.is_empty() && segment.output.start == end) {
                break;
            }
            let upto = segment.output.end.min(end);
            let original = self.take(segment, upto);
            let text = &self.old.bytes[self.at..upto];
            let length = if self.old.length.is_of_bytes() { Length::of_bytes(text) } else { Length::of(text) };
            let whole = upto == segment.output.end && self.at <= segment.output.start;
            let kind = if whole || segment.kind == SegmentKind::Kept {
                segment.kind
            } else {
                SegmentKind::Changed(self.filter)
            };
            self.push(original, text, length, kind, !whole && segment.kind != SegmentKind::Kept);
            self.at = upto;
            if upto == segment.output.end {
                self.segment += 1;
                self.torn = false;
            } else {
                break;
            }
        }
        self.at = end;
    }

    /// Replaces the old text up to `end` by `text`.
    fn replace(&mut self, end: usize, text: &[u8], left: Option<(usize, usize)>) {
        let mut original: Option<Range<usize>> = None;
        let mut rest = false;
        let mut joins = false;
        while let Some(segment) = self.old.segments.get(self.segment) {
            if segment.output.start >= end {
                break;
            }
            let upto = segment.output.end.min(end);
            let piece = self.take(segment, upto);
            joins |= self.torn && original.is_none();
            original = Some(original.map_or(piece.clone(), |range| range.start..piece.end));
            self.at = upto;
            if upto < segment.output.end {
                rest = segment.kind != SegmentKind::Kept;
                break;
            }
            self.segment += 1;
            self.torn = false;
        }
        let here = self.new.segments.last().map_or(0, |segment| segment.original.end);
        let kind = match left {
            Some((lines, bytes)) if !rest && !joins => SegmentKind::LeftOut(self.filter, lines, bytes),
            _ => SegmentKind::Changed(self.filter),
        };
        self.torn |= joins;
        self.push(original.unwrap_or(here..here), text, Length::of(text), kind, rest);
        self.at = end;
    }

    /// Returns the part of the original that the old text from `at` to `upto` represents. The whole range must be in one segment.
    fn take(&self, segment: &Segment, upto: usize) -> Range<usize> {
        if segment.kind == SegmentKind::Kept {
            let base = segment.original.start;
            return base + (self.at - segment.output.start)..base + (upto - segment.output.start);
        }
        segment.original.clone()
    }

    /// Adds a segment. Joins it with the last segment if both contain parts of an old segment that cannot be split.
    fn push(&mut self, original: Range<usize>, text: &[u8], length: Length, kind: SegmentKind, tears: bool) {
        let start = self.new.bytes.len();
        self.new.append_measured(text, length);
        let end = self.new.bytes.len();
        match self.new.segments.last_mut() {
            Some(last) if self.torn => {
                last.original.end = last.original.end.max(original.end);
                last.output.end = end;
                last.kind = SegmentKind::Changed(self.filter);
            }
            Some(last)
                if kind == SegmentKind::Kept
                    && last.kind == SegmentKind::Kept
                    && last.original.end == original.start =>
            {
                last.original.end = original.end;
                last.output.end = end;
            }
            _ if original.is_empty() && start == end => {}
            _ => self.new.segments.push(Segment { original, output: start..end, kind }),
        }
        self.torn = tears;
    }
}
