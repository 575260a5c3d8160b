//! Keeps the ends of a line that is too long to be kept whole, and text in its middle that reports a failure. The parts of the
//! line arrive one after the other, and this code must never hold much more text than it keeps.

use std::ops::Range;

use crate::compress::{
    passes::long_lines::{FEWEST_DIGITS, blobs, inner},
    text::{
        controls::{has_controls, written},
        edit::Inner,
        edited::Cut,
    },
};

/// The kept parts of a line.
#[derive(Default)]
pub struct LongLine {
    pub bytes: Vec<u8>,
    pub cuts: Vec<Cut>,
}

impl LongLine {
    /// Adds a part of the line. Encoded data is left out, and if the rest is longer than `most` bytes, only about that many stay.
    pub fn add(&mut self, part: &[u8], most: usize) {
        if has_controls(part) {
            self.bytes.extend(written(part));
        } else {
            self.bytes.extend_from_slice(part);
        }
        // A run of digits, a part of which was left out, continues even if only a few digits follow.
        let is_cut = |at: usize| self.cuts.iter().any(|cut| cut.at == at && cut.inner != Inner::Any);
        self.leave_out(blobs(self.text(), |at| if is_cut(at) { 1 } else { FEWEST_DIGITS }));
        if self.text().len() > most {
            self.leave_out(inner(self.text(), most).into_iter().map(|range| (range, Inner::Any)).collect());
        }
    }

    /// Returns the kept bytes, without the line end.
    pub fn text(&self) -> &[u8] {
        self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes)
    }

    /// Leaves out these parts, each with its earlier omissions.
    fn leave_out(&mut self, parts: Vec<(Range<usize>, Inner)>) {
        if parts.is_empty() {
            return;
        }
        let mut old = std::mem::take(&mut self.cuts).into_iter().peekable();
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut at = 0;
        for (range, inner) in parts {
            while let Some(cut) = old.next_if(|cut| cut.at < range.start) {
                self.cuts.push(Cut { at: cut.at - at + bytes.len(), ..cut });
            }
            bytes.extend_from_slice(&self.bytes[at..range.start]);
            at = range.end;
            let mut new = Cut { at: bytes.len(), gone: range.len(), inner };
            while let Some(cut) = old.next_if(|cut| cut.at <= range.end) {
                new.gone += cut.gone;
            }
            self.cuts.push(new);
        }
        self.cuts.extend(old.map(|cut| Cut { at: cut.at - at + bytes.len(), ..cut }));
        bytes.extend_from_slice(&self.bytes[at..]);
        self.bytes = bytes;
    }
}
