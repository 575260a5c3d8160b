//! Converts numbers from C to the crate's own types. No number is trusted: an unknown number is a failure.

use std::fmt::{self, Display, Write};

use libc::{c_char, size_t};

use super::constants::*;
use super::memory::bytes;
use super::status::{fail_with, failed};
use crate::sse::{Formats, Shapes};
use crate::{Error, Start};

/// Returns the value of a number. `what` names the option, for the message.
pub(super) fn value<T: FromNumber>(number: u32, what: &str) -> Result<T, aside_status> {
    T::from_number(number).ok_or_else(|| {
        let family = UpperCase(T::TYPE);
        fail_with(ASIDE_ERROR_OPTION, format_args!("{what} {number} is not an {family}_ value"))
    })
}

/// Writes a name in capitals, without an allocation, because a failure must not allocate.
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

/// Checks options that are on or off, each with its name.
pub(super) fn check_flags(flags: &[(&str, u32)]) -> Result<(), aside_status> {
    match flags.iter().find(|(_, flag)| *flag > 1) {
        Some((name, _)) => Err(fail_with(ASIDE_ERROR_OPTION, format_args!("options.{name} is neither 0 nor 1"))),
        None => Ok(()),
    }
}

/// Reads the prompt after which a stream starts, and calls `set` with the prompt and with a function that writes the start.
///
/// # Safety
/// `tail` is NULL or has `len` bytes; `start` is NULL or may be written.
pub(super) unsafe fn start_from_prompt(
    tail: *const c_char,
    len: size_t,
    start: *mut aside_start,
    set: impl FnOnce(&[u8], &dyn Fn(Result<Start, Error>) -> aside_status) -> aside_status,
) -> aside_status {
    // SAFETY: the caller meets this function's conditions.
    let tail = match unsafe { bytes(tail, len, "tail") } {
        Ok(tail) => tail,
        Err(status) => return status,
    };
    set(tail, &|found| match found {
        Ok(found) => {
            // SAFETY: the caller meets this function's conditions.
            unsafe { write_start(found, start) };
            ASIDE_OK
        }
        Err(error) => failed(error),
    })
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
