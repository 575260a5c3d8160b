//! The report of one compression: which stretches of each original were kept, replaced or left out, and by which filter. A
//! report must account for every byte, so that a host can return omitted text.

use std::{fmt, ops::Range};

use twox_hash::XxHash3_64;

use crate::compress::text::{
    edited::{EditedText, SegmentKind},
    length::Length,
};

/// The change of a stretch of the original.
///
/// ```
/// use aside::compress::{Change, Compressor, Input, Invocation, Part, Registry};
///
/// let log = format!("{}done\n", "the same line\n".repeat(100));
/// let compressor = Compressor::new(&Registry::new());
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
/// let changes: Vec<Change> = result.report.parts[0].stretches.iter().map(|stretch| stretch.change).collect();
/// assert_eq!(changes, [Change::Kept, Change::LeftOut, Change::Kept]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum Change {
    /// The stretch is in the result, byte for byte.
    Kept = 0,
    /// Other bytes replace the stretch.
    Replaced = 1,
    /// The stretch is not in the result. A marker line may replace it.
    LeftOut = 2,
}

/// A stretch of an original. All stretches together, in their order, are the original.
///
/// ```
/// use aside::compress::{Change, Compressor, Input, Invocation, Part, Registry};
///
/// let log = format!("{}done\n", "the same line\n".repeat(100));
/// let compressor = Compressor::new(&Registry::new());
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
/// let gone = &result.report.parts[0].stretches[1];
/// assert_eq!((gone.range.clone(), gone.change), (14..1400, Change::LeftOut));
/// assert_eq!(result.report.filters[gone.filter.unwrap()], "repeats");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stretch {
    /// Offsets into the original.
    pub range: Range<usize>,
    /// The change of the stretch.
    pub change: Change,
    /// The filter that made the change, as an index into [`Report::filters`]. `None` for a kept stretch.
    pub filter: Option<usize>,
    /// XXH3 (64 bits, seed 0) of these bytes.
    pub hash: u64,
}

/// The changes of one text part.
///
/// ```
/// use aside::compress::{Compressor, Input, Invocation, Part, Registry};
///
/// let log = format!("{}done\n", "the same line\n".repeat(100));
/// let compressor = Compressor::new(&Registry::new());
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
/// let part = &result.report.parts[0];
/// assert_eq!((part.part, part.length), (0, log.len()));
/// assert_eq!(part.slice(log.as_bytes(), 1400..1405), Ok(&b"done\n"[..]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartReport {
    /// The part's index in the tool's result.
    pub part: usize,
    /// The length of the original in bytes.
    pub length: usize,
    /// XXH3 (64 bits, seed 0) of the original.
    pub hash: u64,
    /// The stretches of the original, in order and without gaps.
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

    /// Returns bytes of the original, so that a host can show omitted text. Refuses a text that is not the
    /// original.
    ///
    /// # Errors
    ///
    /// [`SliceError`] if the text is not the original, or if the range is not in it.
    #[doc(alias = "aside_compressed_slice")]
    pub fn slice<'a>(&self, original: &'a [u8], range: Range<usize>) -> Result<&'a [u8], SliceError> {
        if original.len() != self.length || XxHash3_64::oneshot(original) != self.hash {
            return Err(SliceError::OtherOriginal);
        }
        original.get(range).ok_or(SliceError::OutOfRange)
    }
}

/// The reason why a slice was refused.
///
/// ```
/// use aside::compress::{Compressor, Input, Invocation, Part, Registry, SliceError};
///
/// let log = format!("{}done\n", "the same line\n".repeat(100));
/// let compressor = Compressor::new(&Registry::new());
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
/// let error = result.report.slice(0, b"another text", 0..5).unwrap_err();
/// assert_eq!(error, SliceError::OtherOriginal);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SliceError {
    /// The text is not the original that the report describes.
    OtherOriginal,
    /// The range is not in the text.
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

/// A filter or cache that failed. A filter of the host that failed is not used again in that compression.
///
/// ```
/// use aside::compress::{Compressor, Filter, Filtered, Input, Invocation, Part, Registry};
///
/// struct Broken;
/// impl Filter for Broken {
///     fn id(&self) -> &str {
///         "broken"
///     }
///     fn apply(&self, _: &[u8], _: &Invocation<'_>) -> Result<Filtered, String> {
///         Err("no table".to_owned())
///     }
/// }
///
/// let mut registry = Registry::empty();
/// registry.add_filter(Box::new(Broken));
/// let text = "a line\n".repeat(200);
/// let input = Input::of_command("make");
/// let result = Compressor::new(&registry).compress(&Invocation::new("bash", &input), &[Part::Text(text.as_bytes())]);
/// let failed = &result.report.failed[0];
/// assert_eq!((failed.filter.as_str(), failed.reason.as_str()), ("broken", "no table"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failed {
    /// The id of the filter or cache.
    pub filter: String,
    /// The reason: an error that it returned, a panic, or the promise that it broke.
    pub reason: String,
}

/// A report on one compression.
///
/// ```
/// use aside::compress::{Compressor, Input, Invocation, Part, Registry};
///
/// let log = format!("{}done\n", "the same line\n".repeat(100));
/// let compressor = Compressor::new(&Registry::new());
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
/// assert_eq!((result.report.before, result.report.filters.len()), (1405, 1));
/// assert!(result.report.after < 200 && result.report.failed.is_empty());
/// ```
#[doc(alias = "aside_compressed_report")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The tool whose result was compressed.
    pub tool_id: String,
    /// The filters that changed something, in the order of their first change.
    pub filters: Vec<String>,
    /// The bytes of the text parts before the compression.
    pub before: usize,
    /// The bytes of the text parts after the compression, banners included.
    pub after: usize,
    /// The UTF-16 code units of the text parts before the compression. Banners show this number.
    pub before_units: usize,
    /// The UTF-16 code units of the text parts after the compression, banners included.
    pub after_units: usize,
    /// The cache that had the same output, if there was one.
    pub hit: Option<String>,
    /// Filters and caches that failed.
    pub failed: Vec<Failed>,
    /// Whether text of a machine format, or text that was compressed before, was cut because it did not fit into the budget.
    pub cut_protected: bool,
    /// Whether the exit code says that the command failed, but the remaining text says only that it passed.
    pub unexplained: bool,
    /// The parts that filters changed. It is empty for a stream that outgrew its memory.
    pub parts: Vec<PartReport>,
}

impl Report {
    /// Counts a text of the input.
    pub(crate) fn add_before(&mut self, length: Length) {
        self.before += length.bytes;
        self.before_units += length.units;
    }

    /// Counts a text of the result.
    pub(crate) fn add_after(&mut self, length: Length) {
        self.after += length.bytes;
        self.after_units += length.units;
    }

    /// Returns bytes of the original of a part, as [`PartReport::slice`] does. For a part that no filter changed, the report has no
    /// original.
    ///
    /// # Errors
    ///
    /// As [`PartReport::slice`]. If the report has no original of the part, the error is [`SliceError::OtherOriginal`].
    pub fn slice<'a>(&self, part: usize, original: &'a [u8], range: Range<usize>) -> Result<&'a [u8], SliceError> {
        let report = self.parts.iter().find(|report| report.part == part).ok_or(SliceError::OtherOriginal)?;
        report.slice(original, range)
    }
}
