//! The parts of a tool's result as input and as output of a compressor, and the outcome of each.

use super::report::Report;
use crate::compress::{
    lines::protect::Format,
    text::{
        banner::has_banner,
        length::{Length, MIN_COMPRESSIBLE_LENGTH},
    },
};

/// A part of a tool's result. The compressor sees only its text; the host keeps whatever else belongs to the part.
///
/// ```
/// use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry};
///
/// let compressor = Compressor::new(&Registry::new());
/// let parts = [Part::Text(b"short"), Part::Other];
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("ls")), &parts);
/// assert_eq!(result.parts, [Outcome::Same, Outcome::Same]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text. It is usually UTF-8, but may be any bytes.
    Text(&'a [u8]),
    /// Anything else. It always stays unchanged.
    Other,
}

/// The outcome of a part.
///
/// ```
/// use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry};
///
/// let log = "the same line\n".repeat(100);
/// let compressor = Compressor::new(&Registry::new());
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
/// let shown = match &result.parts[0] {
///     Outcome::Same => log.as_bytes(),
///     Outcome::Text(text) => text,
///     Outcome::Gone => b"",
/// };
/// assert!(shown.ends_with("the same line\n[… 99 lines as above]\n".as_bytes()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The part stays unchanged.
    Same,
    /// The part becomes this text.
    Text(Vec<u8>),
    /// The part is removed, because another part represents it.
    Gone,
}

/// The result of a compression.
///
/// ```
/// use aside::compress::{Compressor, Input, Invocation, Part, Registry};
///
/// let compressor = Compressor::new(&Registry::new());
/// let log = "the same line\n".repeat(100);
/// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
/// assert_eq!((result.parts.len(), result.report.before), (1, 1400));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "the compressed parts are only here"]
#[non_exhaustive]
pub struct Compressed {
    /// The outcome of each part, in the order of the parts.
    pub parts: Vec<Outcome>,
    /// The report.
    pub report: Report,
}

impl<'a> Part<'a> {
    /// Returns the text of a text part.
    pub(crate) fn text(self) -> Option<&'a [u8]> {
        match self {
            Part::Text(text) => Some(text),
            Part::Other => None,
        }
    }
}

/// An input text, and facts about it that are known before any filter runs.
pub struct Original<'a> {
    pub bytes: &'a [u8],
    pub length: Length,
    pub format: Option<Format>,
    /// The text is a later part of a longer text.
    pub goes_on: bool,
}

impl<'a> Original<'a> {
    pub fn new(bytes: &'a [u8]) -> Original<'a> {
        Original { bytes, length: Length::of(bytes), format: Format::of(bytes), goes_on: false }
    }

    /// Returns whether the text is long enough to be changed at all.
    pub fn is_long(&self) -> bool {
        self.length.units >= MIN_COMPRESSIBLE_LENGTH
    }

    /// Returns whether the text stays whole if it fits: it is in a machine format, or was compressed before.
    pub fn is_sealed(&self) -> bool {
        self.format.is_some() || has_banner(self.bytes)
    }
}
