//! What goes into a call of the compressor, and what comes out: a tool call, the parts of its result, and what becomes of each.

use super::report::Report;
use crate::compress::{
    called::input::Input,
    lines::protect::{self, Format},
    text::{
        banner::has_banner,
        length::{Length, MIN_COMPRESSIBLE_LENGTH},
    },
};

/// One tool call whose result is to be compressed.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The tool.
    pub tool_id: &'a str,
    /// What it was called with.
    pub input: &'a Input,
    /// The time in seconds since 1970, for caches. The library has no clock of its own.
    pub now: u64,
}

impl<'a> Call<'a> {
    /// A call at the time 0, for hosts without caches.
    pub fn new(tool_id: &'a str, input: &'a Input) -> Call<'a> {
        Call { tool_id, input, now: 0 }
    }
}

/// A part of a tool's result. Whatever else belongs to a part stays with the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text; UTF-8 as a rule, any bytes in fact.
    Text(&'a [u8]),
    /// Anything else: passed over.
    Other,
}

/// What becomes of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It stays as it is.
    Same,
    /// It becomes this text.
    Text(Vec<u8>),
    /// It goes: another part says what it said.
    Gone,
}

/// The result of a call, a part for a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compressed {
    /// What becomes of each part.
    pub parts: Vec<Outcome>,
    /// What was done.
    pub report: Report,
}

impl<'a> Part<'a> {
    /// The text of a text part.
    pub(in crate::compress) fn text(self) -> Option<&'a [u8]> {
        match self {
            Part::Text(text) => Some(text),
            Part::Other => None,
        }
    }
}

/// A text that came in, and what is known of it before any filter.
pub struct Original<'a> {
    pub bytes: &'a [u8],
    pub length: Length,
    pub format: Option<Format>,
    /// It is a later part of a text.
    pub goes_on: bool,
}

impl<'a> Original<'a> {
    pub fn new(bytes: &'a [u8]) -> Original<'a> {
        Original { bytes, length: Length::of(bytes), format: protect::format(bytes), goes_on: false }
    }

    /// Whether filters may change it: it is long enough, and was not compressed before.
    pub fn is_touched(&self) -> bool {
        self.length.units >= MIN_COMPRESSIBLE_LENGTH && !has_banner(self.bytes)
    }
}
