//! The edits that a filter requests. Each is a range of the filter's text and the change to that range. Filters never write a
//! result themselves, so that every change can be checked before it is made, and traced back to the original afterwards.

use std::ops::Range;

use super::marker::{Marker, Place};

/// A change that a filter asks for. Edits are in the order of their ranges, and do not overlap.
pub struct Edit {
    /// Offsets into the text that the filter read.
    pub range: Range<usize>,
    pub kind: EditKind,
}

/// The change to an edit's range.
pub enum EditKind {
    /// Replaces the range by other bytes.
    Replace(Vec<u8>),
    /// Leaves out whole lines. A marker counts them, and the whole error regions and records among them. A line after the marker has
    /// the names of the records, if there is room.
    LeaveOut { regions: usize, records: usize, names: String },
    /// Leaves out elements of a JSON array, or lines of JSON, and puts a string in their place.
    Elements(usize),
    /// Leaves out members of a JSON object, and puts a member in their place.
    Members(usize),
    /// Leaves out a part from the middle of a JSON string.
    OfString,
    /// Leaves out whole lines that are also further up.
    AsAbove,
    /// Leaves out a part from the middle of one line. The text before the part and the text after it stay, each on a separate line.
    Middle(Inner),
}

/// The kind of text that is left out of the middle of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// Any bytes.
    Any,
    Base64,
    Hex,
}

impl Inner {
    /// Returns the marker for this many bytes at a place.
    pub fn marker(self, bytes: usize, at: Option<Place>) -> Marker {
        match self {
            Inner::Any => Marker::OfLine { bytes, at },
            Inner::Base64 => Marker::Base64 { bytes, at },
            Inner::Hex => Marker::Hex { bytes, at },
        }
    }
}

impl Edit {
    pub fn leave_out(range: Range<usize>) -> Edit {
        Edit { range, kind: EditKind::LeaveOut { regions: 0, records: 0, names: String::new() } }
    }
}

/// Returns the edit that turns `old` into `new`, which a host's filter returned. Its range is everything between the first and the
/// last line that differ.
pub fn difference(old: &[u8], new: &[u8]) -> Option<Edit> {
    if old == new {
        return None;
    }
    let line_start = |at: usize| memchr::memrchr(b'\n', &old[..at]).map_or(0, |at| at + 1);
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let start = line_start(same);
    let rest = (old.len() - start).min(new.len() - start);
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    // The common end of both texts, shortened so that it begins with a whole line.
    let tail = &old[old.len() - tail..];
    let tail = memchr::memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1);
    let range = start..old.len() - tail;
    Some(Edit { range, kind: EditKind::Replace(new[start..new.len() - tail].to_vec()) })
}
