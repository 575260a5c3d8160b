//! Numbers from C as the crate's own types. No number is trusted: an unknown number is a failure.

use std::fmt::{self, Display, Write};

use super::constants::*;
use super::status::fail_with;
use crate::Start;
use crate::sse::{Formats, Shapes};

/// Returns the value of a number. `what` names the place of the number.
pub(super) fn value<T: FromNumber>(number: u32, what: &str) -> Result<T, aside_status> {
    T::from_number(number).ok_or_else(|| {
        let family = UpperCase(T::TYPE);
        fail_with(ASIDE_ERROR_OPTION, format_args!("{what} {number} is not an {family}_ value"))
    })
}

/// A name that is written in capitals, without an allocation, because a failure must not allocate.
struct UpperCase(&'static str);

impl Display for UpperCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| f.write_char(letter.to_ascii_uppercase()))
    }
}

/// Reads `ASIDE_FORMAT_` bits; 0 means all.
pub(super) fn formats(bits: aside_formats) -> Result<Formats, aside_status> {
    Formats::from_bits(bits).ok_or_else(|| {
        fail_with(ASIDE_ERROR_OPTION, format_args!("formats {bits} has a bit that is not an ASIDE_FORMAT_ value"))
    })
}

/// Reads `ASIDE_SHAPE_` bits.
pub(super) fn shapes(bits: aside_shapes) -> Result<Shapes, aside_status> {
    Shapes::from_bits(bits).ok_or_else(|| {
        fail_with(ASIDE_ERROR_OPTION, format_args!("normalise {bits} has a bit that is not an ASIDE_SHAPE_ value"))
    })
}

/// Returns a limit of the options; None for 0.
pub(super) fn limit(number: u64) -> Option<usize> {
    (number > 0).then(|| usize::try_from(number).unwrap_or(usize::MAX))
}

/// Writes the span that is open where a stream starts, for a caller that asked for it.
///
/// # Safety
/// `out` is NULL or may be written; it need not be aligned.
pub(super) unsafe fn write_start(start: Start, out: *mut aside_start) {
    if !out.is_null() {
        // SAFETY: not NULL, and the caller promises that it may be written.
        unsafe { out.write_unaligned(Some(start).to_number()) };
    }
}
