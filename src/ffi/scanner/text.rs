//! Feeding chunks that are only text, and skipping them, for hosts where every call is expensive. No function here may report an
//! event, so only plain text may be fed.

use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, size_t};

use super::feed::feed;
use super::handle::{aside_scanner, enter};
use super::sink::{Input, Sink};
use crate::ffi::constants::*;
use crate::ffi::handle_guard::{READY, is_ready};
use crate::ffi::status::fail_with;
use crate::scanner::{Part, Take};

/// Feeds `buf` if all of it is text of one channel and nothing else happens, as with most tokens: the cheapest way to
/// feed, for hosts where even an event array is expensive. Otherwise it feeds nothing: pass the same `buf` to
/// `aside_scanner_feed_into()` or `aside_scanner_feed()`. A feed of this kind is one event `ASIDE_KIND_TEXT`, at the
/// offset that `aside_scanner_offset()` had before.
///
/// Returns the channel (an `ASIDE_CHANNEL_` value, 0 or above), or `ASIDE_NOT_TEXT` if nothing was fed, also after an error,
/// which the other two functions report.
///
/// Memory: nothing is allocated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_feed_text(scanner: *mut aside_scanner, buf: *const c_char, len: size_t) -> i32 {
    // SAFETY: the caller promises `len` bytes, and a scanner that is valid.
    unsafe { feed(scanner, buf, len, WholeText) }
}

/// A sink for chunks that are only text; a feed returns their channel.
#[derive(Clone, Copy)]
struct WholeText;

impl Sink for WholeText {
    const TAKE: Take = Take::WholeText;

    #[inline(always)]
    unsafe fn is_sound(self) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn part(self, scanner: *mut aside_scanner, _: &[u8], _: Part) -> aside_status {
        // SAFETY: the caller's promise: the scanner is valid.
        unsafe { (*(*scanner).guard.inner.get()).scanner.channel() as i32 }
    }

    unsafe fn events(self, _: *mut aside_scanner, _: Input<'_>, _: usize) -> aside_status {
        ASIDE_NOT_TEXT
    }
}

/// Writes the set of bytes that change nothing in the current state of the stream, so that a host for which calls are expensive
/// need not call for each token. A chunk of these bytes only, which are all ASCII, is text of one channel, and does not change
/// the state. The host may skip any number of such chunks, and adds up their lengths; each of them would be one event
/// `ASIDE_KIND_TEXT` with all its bytes. The host feeds the first chunk that has any other byte, and then calls this again, because
/// any feed may change the set.
///
/// `bytes` is a set of four numbers: byte `b` is in it if `bytes[b / 64] >> b % 64 & 1` is 1. The scanner does not know of
/// skipped chunks until `aside_scanner_skip()` is called with their total length and last byte.
///
/// Returns the channel (`ASIDE_CHANNEL_CONTENT` and the others, 0 or above) with `bytes` filled, or `ASIDE_NOT_TEXT` if every
/// chunk has to be fed, and nothing is written: before the first byte, with bytes held back or events pending, with a
/// budget for this channel, in text that is collected, after tokens were fed, and after an error.
///
/// Memory: nothing is allocated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_quiet(scanner: *const aside_scanner, bytes: *mut u64) -> i32 {
    if scanner.is_null() || bytes.is_null() {
        return ASIDE_NOT_TEXT;
    }
    // SAFETY: the caller promises a valid scanner, which no call uses while it is READY, and four numbers.
    unsafe {
        if (*scanner).guard.state.load(Relaxed) == READY
            && let Some((channel, quiet)) = (*(*scanner).guard.inner.get()).scanner.quiet()
        {
            bytes.cast::<[u64; 4]>().write_unaligned(quiet);
            return channel as i32;
        }
    }
    ASIDE_NOT_TEXT
}

/// Notes that `len` bytes were skipped, as `aside_scanner_quiet()` allows: offset and counts continue as if the bytes had been
/// fed. `last` is the last skipped byte (0 to 255), because it may decide whether a tag after it is a marker. Call this before any
/// other function of this scanner, except for `aside_scanner_quiet()`, and for the functions that return held bytes and take
/// thoughts.
///
/// Returns `ASIDE_OK`, for a `len` of 0 in any state; `ASIDE_ERROR_ORDER` if no such chunk can have been skipped, and for more
/// bytes than any stream has; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. After an error
/// nothing has changed. Only the host knows whether the bytes were in the set, and were reported as text of that channel.
///
/// Memory: nothing is allocated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_skip(scanner: *mut aside_scanner, len: u64, last: u32) -> aside_status {
    // SAFETY: NULL or valid, as the caller promises.
    unsafe {
        enter(scanner, is_ready, |stream| match stream.scanner.skip(len, last as u8) {
            true => ASIDE_OK,
            false => fail_with(ASIDE_ERROR_ORDER, "no bytes can have been skipped at this point of the stream"),
        })
    }
}
