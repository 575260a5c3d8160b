//! Functions that return the state of a scanner, and the reset. Only the reset affects the next feed.

use std::mem::offset_of;

use libc::size_t;

use super::handle::{aside_scanner, enter, read};
use crate::ffi::constants::*;
use crate::ffi::handle_guard::is_whole;
use crate::ffi::memory::{Versioned, fill_sized, layout, size_of_given};
use crate::ffi::status::{fail_no_handle, fail_with};
use crate::{Channel, Scanner};

/// The counts of a channel in a stream. Set `size` before each call; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_counts {
    /// `sizeof(aside_counts)` of the caller's header.
    pub size: size_t,
    /// Bytes of text. Markers and framing are not counted.
    pub bytes: u64,
    /// Characters of text; in invalid UTF-8, the bytes that do not continue a character.
    pub characters: u64,
    /// Spans that were opened.
    pub spans: u64,
    /// Tokens of `aside_scanner_feed_tokens()` whose first byte is text of the channel.
    pub tokens: u64,
    /// For `ASIDE_CHANNEL_THINKING`, the number of whole thoughts that were lost since the scanner was made or reset, because 1,024
    /// earlier ones had not been taken. 0 for other channels, and without `options.collect`.
    pub lost_thoughts: u64,
}

impl Versioned for aside_counts {
    const FIRST: usize = offset_of!(aside_counts, lost_thoughts) + size_of::<u64>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_counts 48: size 0, bytes 8, characters 16, spans 24, tokens 32, lost_thoughts 40);
    assert!(aside_counts::FIRST == 48);
};

/// Resets the scanner: drops the held bytes, thoughts not taken, and every error except `ASIDE_ERROR_PANIC`. Memory
/// that C has borrowed from it is no longer valid.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_reset(scanner: *mut aside_scanner) -> aside_status {
    // SAFETY: the caller promises a scanner that is NULL or valid, and only calls that have entered use the stream.
    unsafe {
        let Some(scanner) = scanner.as_ref() else { return fail_no_handle("scanner") };
        scanner.guard.renew(|stream| {
            stream.scanner.reset();
            stream.consumed = 0;
            stream.borrowed = None;
        })
    }
}

/// Returns the number of bytes of the last feed's buffer that are consumed. Returns 0 and sets a message for NULL, inside a
/// callback of the same scanner, and after `ASIDE_ERROR_PANIC`.
///
/// After a pause the rest of the buffer need not be fed: the stream then continues as if the buffer had ended after the
/// consumed bytes. Delivered events are final, even if bytes in the rest of the buffer decided them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_consumed(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { read(scanner, |stream| stream.consumed) }
}

/// Returns the number of bytes that are held back now, because they could still become part of a marker or of a character.
/// Returns 0 where `aside_scanner_consumed()` fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_held(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.held().len()) }
}

/// Returns the largest number of bytes that this scanner holds back. In a pause, a marker or a word of a call whose
/// events are pending is held too. Returns 0 where `aside_scanner_consumed()` fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_max_hold(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.max_hold()) }
}

/// Returns the offset in the stream of the next byte to be fed. Returns 0 where `aside_scanner_consumed()` fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_offset(scanner: *const aside_scanner) -> u64 {
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.offset()) }
}

/// Writes to `*counts` the counts of the text of a channel since the stream began. After the end of a stream, these are the counts
/// of that stream, until another begins. Held bytes count when they are reported. `channel` is an `aside_channel` value. Set
/// `counts->size` to `sizeof(aside_counts)` before the call.
///
/// After a stream the counts show whether the whole answer was thinking: `ASIDE_CHANNEL_THINKING` has bytes,
/// `ASIDE_CHANNEL_CONTENT` and `ASIDE_CHANNEL_TOOL` have none. Either the model broke off, or the stream was started in the
/// thinking although the thinking was off; a host that knows that it was off can show the text as the answer.
///
/// Returns `ASIDE_OK` with `*counts` filled, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE` (no such channel),
/// `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_counts(
    scanner: *const aside_scanner,
    channel: aside_channel,
    counts: *mut aside_counts,
) -> aside_status {
    // SAFETY: NULL or valid, as the caller promises; `counts` may be written as far as its size says.
    unsafe {
        fill_counts(channel, counts, |fill| {
            enter(scanner, is_whole, |stream| {
                fill(&stream.scanner);
                ASIDE_OK
            })
        })
    }
}

/// Checks the arguments of a function that returns counts, and calls `read` with a function that fills them from a scanner.
///
/// # Safety
/// `counts` is NULL or may be written as far as its size says.
pub(in crate::ffi) unsafe fn fill_counts(
    channel: aside_channel,
    counts: *mut aside_counts,
    read: impl FnOnce(&dyn Fn(&Scanner)) -> aside_status,
) -> aside_status {
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_of_given(counts, "counts") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    let Some(channel) = Channel::from_number(channel) else {
        return fail_with(ASIDE_ERROR_RANGE, format_args!("{channel} is not a channel"));
    };
    read(&|scanner| {
        let crate::Counts { bytes, characters, spans, tokens } = scanner.counts(channel);
        let lost_thoughts = if channel == Channel::Thinking { scanner.lost_thoughts() } else { 0 };
        // SAFETY: the caller meets this function's conditions.
        unsafe { fill_sized(counts, size, aside_counts { size, bytes, characters, spans, tokens, lost_thoughts }) };
    })
}
