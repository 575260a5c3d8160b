//! What was done in one call, down to the byte: which stretches of each original were kept, changed or left out.

use std::{fmt, ops::Range};

use twox_hash::XxHash3_64;

use crate::compress::text::edited::{EditedText, SegmentKind};

/// What became of a stretch of the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Change {
    /// It is in the result, byte for byte.
    Kept = 0,
    /// Other bytes stand for it.
    Replaced = 1,
    /// It is not there; a marker line may stand for it.
    LeftOut = 2,
}

/// A stretch of an original. All of them together, in order, are the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Offsets into the original.
    pub range: Range<usize>,
    /// What became of it.
    pub change: Change,
    /// Who did it: an index into [`Report::filters`]. `None` for what was kept.
    pub filter: Option<usize>,
    /// XXH3 (64 bits, seed 0) of these bytes.
    pub hash: u64,
}

/// What became of one text part that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartReport {
    /// The part's place in the result that came in.
    pub part: usize,
    /// Bytes of the original.
    pub length: usize,
    /// XXH3 (64 bits, seed 0) of the original.
    pub hash: u64,
    /// The original, tiled.
    pub stretches: Vec<Stretch>,
}

impl PartReport {
    pub(super) fn new(part: usize, original: &[u8], edited: &EditedText) -> PartReport {
        let mut stretches = Vec::with_capacity(edited.segments.len());
        for segment in edited.segments.iter().filter(|segment| !segment.original.is_empty()) {
            let (change, filter) = match segment.kind {
                SegmentKind::Kept => (Change::Kept, None),
                SegmentKind::Changed(filter) => (Change::Replaced, Some(filter as usize)),
                SegmentKind::LeftOut(filter, ..) => (Change::LeftOut, Some(filter as usize)),
            };
            let range = segment.original.clone();
            let hash = XxHash3_64::oneshot(&original[range.clone()]);
            stretches.push(Stretch { range, change, filter, hash });
        }
        PartReport { part, length: original.len(), hash: XxHash3_64::oneshot(original), stretches }
    }

    /// Bytes of the original, to give back what was left out. Refuses a text that is not the original.
    pub fn slice<'a>(&self, original: &'a [u8], range: Range<usize>) -> Result<&'a [u8], SliceError> {
        if original.len() != self.length || XxHash3_64::oneshot(original) != self.hash {
            return Err(SliceError::OtherOriginal);
        }
        original.get(range).ok_or(SliceError::OutOfRange)
    }
}

/// Why a slice was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceError {
    /// This text is not the one that the report is about.
    OtherOriginal,
    /// The range does not lie in the text.
    OutOfRange,
}

impl fmt::Display for SliceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SliceError::OtherOriginal => "this is not the text that the report is about",
            SliceError::OutOfRange => "the range does not lie in the text",
        })
    }
}

impl std::error::Error for SliceError {}

/// A filter or cache that failed in a call. A host's filter is not asked again in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Its id.
    pub filter: String,
    /// What went wrong: its own error, a panic, or the promise that it broke.
    pub reason: String,
}

/// What one call did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The tool whose result it was.
    pub tool_id: String,
    /// The filters that changed something, in the order of their first change.
    pub filters: Vec<String>,
    /// The text parts' length before, in UTF-16 code units.
    pub before: usize,
    /// And after, banners included.
    pub after: usize,
    /// The cache that had the same output, if one had.
    pub hit: Option<String>,
    /// Filters and caches that failed.
    pub failed: Vec<Failed>,
    /// Text of a machine format was cut: it outgrew a stream's memory and there was a budget.
    pub cut_protected: bool,
    /// The parts that were changed by filters. Empty for a stream that outgrew its memory.
    pub parts: Vec<PartReport>,
}

impl Report {
    /// Bytes of the original of a part; see [`PartReport::slice`]. A part that no filter changed is no original here.
    pub fn slice<'a>(&self, part: usize, original: &'a [u8], range: Range<usize>) -> Result<&'a [u8], SliceError> {
        let report = self.parts.iter().find(|report| report.part == part).ok_or(SliceError::OtherOriginal)?;
        report.slice(original, range)
    }
}
