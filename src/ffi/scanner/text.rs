//! Feeding chunks that are text and nothing else, and passing over them.

use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::enter;
use super::feed::feed;
use super::sink::{Sink, Work};
use crate::Scanner;
use crate::ffi::gate::{READY, is_ready};
use crate::ffi::status::fail_with;
use crate::ffi::types::*;
use crate::scanner::Text;

/// The cheapest way to feed, for hosts where even an event array is dear: takes `buf` if all of it is text of one
/// channel and nothing else happens, as with most tokens. Otherwise nothing is fed, and the same `buf` goes to
/// `aside_scanner_feed_into()` or `aside_scanner_feed()`. They give the same events: such a feed is one event
/// `ASIDE_TEXT`, at the offset that `aside_scanner_offset()` had before.
///
/// Returns the channel (`ASIDE_CONTENT` and the others, 0 or above), or `ASIDE_NOT_TEXT` where nothing was fed: also
/// where something is wrong, of which the other two say what.
///
/// Threads: one at a time for one scanner. Memory: none is allocated.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_feed_text(scanner: *mut aside_scanner, buf: *const c_char, len: size_t) -> i32 {
    // SAFETY: the caller promises `len` bytes, and a scanner that is there.
    unsafe { feed(scanner, buf, len, WholeText) }
}

/// Takes chunks that are text to their end, of which it says the channel.
#[derive(Clone, Copy)]
struct WholeText;

impl Sink for WholeText {
    const IN_PARTS: bool = false;

    #[inline(always)]
    fn is_sound(self) -> bool {
        true
    }

    #[inline(always)]
    fn advance_short(scanner: &mut Scanner, chunk: &[u8]) -> Option<Text> {
        let (_, offset) = scanner.feed_whole_text(chunk)?;
        Some(Text { offset, is_held: false, len: chunk.len() })
    }

    #[inline(always)]
    fn advance_long(scanner: &mut Scanner, chunk: &[u8]) -> Option<Text> {
        WholeText::advance_short(scanner, chunk)
    }

    #[inline(always)]
    unsafe fn text(self, scanner: *mut aside_scanner, _: &[u8], _: Text) -> aside_status {
        // SAFETY: the caller's promise: the scanner is there.
        unsafe { (*(*scanner).gate.inner.get()).scanner.channel() as i32 }
    }

    unsafe fn events(self, _: *mut aside_scanner, _: Work<'_>, _: usize) -> aside_status {
        ASIDE_NOT_TEXT
    }

    unsafe fn rest(self, _: *mut aside_scanner, _: *const c_char, _: size_t, _: usize) -> aside_status {
        ASIDE_NOT_TEXT
    }
}

/// Which bytes change nothing where the stream now stands, so that a host for which a call is dear need not make one for
/// each token. A chunk that is made of these bytes alone, all of them ASCII, is text of one channel, and the stream stands
/// behind it where it stood. The host may pass over such chunks, as many as come, and adds up their lengths: what it would
/// be told of each is one event `ASIDE_TEXT` with all its bytes. The first chunk with another byte it feeds, and asks
/// again: with any feed the bytes may change.
///
/// `bytes` is a set: byte `b` is in it where `bytes[b / 64] >> b % 64 & 1` is 1; there are four numbers. Passed chunks
/// are not the scanner's until `aside_scanner_skip()` has said how long they are together.
///
/// Returns the channel (`ASIDE_CONTENT` and the others, 0 or above) with `bytes` filled, or `ASIDE_NOT_TEXT` where every
/// chunk has to be fed, and nothing is written: before the first byte, with bytes held back or events due, with a budget
/// for this channel, in text that is collected, once tokens have come, and where something is wrong.
///
/// Threads: one at a time for one scanner. Memory: none is allocated.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_quiet(scanner: *const aside_scanner, bytes: *mut u64) -> i32 {
    if scanner.is_null() || bytes.is_null() {
        return ASIDE_NOT_TEXT;
    }
    // SAFETY: the caller promises a scanner that is there, in which nobody is while it is READY, and four numbers.
    unsafe {
        if (*scanner).gate.state.load(Relaxed) == READY
            && let Some((channel, quiet)) = (*(*scanner).gate.inner.get()).scanner.quiet()
        {
            bytes.cast::<[u64; 4]>().write_unaligned(quiet);
            return channel as i32;
        }
    }
    ASIDE_NOT_TEXT
}

/// Says that chunks of `len` bytes in all have passed outside that `aside_scanner_quiet()` allowed: offset and counts go
/// on as if they had been fed. Call it before any other call for this scanner, but for `aside_scanner_feed_text()` and
/// `aside_scanner_quiet()`, and for those that ask what is held and take thoughts.
///
/// Returns `ASIDE_OK`, for a `len` of 0 anywhere; `ASIDE_ERROR_ORDER` where no such chunk can have passed, and for more
/// bytes than any stream has; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. After an
/// error nothing has changed. Whether the bytes were those that it said, and were told as text of that channel, nobody but
/// the host can see.
///
/// Threads: one at a time for one scanner. Memory: none is allocated.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_skip(scanner: *mut aside_scanner, len: u64) -> aside_status {
    // SAFETY: NULL or there, as the caller promises.
    unsafe {
        enter(scanner, is_ready, |stream| match stream.scanner.skip(len) {
            true => ASIDE_OK,
            false => fail_with(ASIDE_ERROR_ORDER, "where the stream stands, no bytes can have passed outside"),
        })
    }
}
