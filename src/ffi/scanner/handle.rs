//! The handle of a scanner: making and freeing it, where its streams start, and the way into it.

use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, size_t};

use super::borrowed::Borrowed;
use super::options::{aside_scanner_options, options as read_options};
use crate::ffi::constants::*;
use crate::ffi::dialect::aside_dialect;
use crate::ffi::handle_guard::{HandleGuard, READY, is_ready, is_whole};
use crate::ffi::memory::{bytes, free, into_handle};
use crate::ffi::numbers::{value, write_start};
use crate::ffi::status::{fail_no_handle, failed, guard_handle, made_handle};
use crate::{Error, Scanner};

// A scanner can be used by one thread after another.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Scanner>();
};

/// The state of one stream. From `aside_scanner_new()`; freed by `aside_scanner_free()`.
pub struct aside_scanner {
    pub(super) guard: HandleGuard<Stream>,
}

/// The contents of a scanner's handle, in this order: the fields that most feeds use are close together.
#[repr(C)]
pub(super) struct Stream {
    pub(super) consumed: usize,
    pub(super) scanner: Scanner,
    /// The memory that C borrows, made when first needed, so that an idle scanner stays small.
    pub(super) borrowed: Option<Box<Borrowed>>,
}

/// Runs `body` as the only call inside the scanner, if `may` accepts its state.
///
/// # Safety
/// `scanner` is NULL or a scanner that is not freed yet.
#[inline]
pub(super) unsafe fn enter(
    scanner: *const aside_scanner,
    may: impl Fn(i32) -> bool,
    body: impl FnOnce(&mut Stream) -> aside_status,
) -> aside_status {
    if scanner.is_null() {
        return fail_no_handle("scanner");
    }
    // SAFETY: it is valid, and only calls that have entered use the stream.
    unsafe { (*scanner).guard.enter(may, body) }
}

/// Reads a number from a scanner; 0 if the call may not enter.
///
/// # Safety
/// As of `enter`.
pub(super) unsafe fn read<T: Default>(scanner: *const aside_scanner, body: impl FnOnce(&Stream) -> T) -> T {
    let mut value = T::default();
    // SAFETY: the caller's promise.
    unsafe {
        enter(scanner, is_whole, |stream| {
            value = body(stream);
            ASIDE_OK
        })
    };
    value
}

/// Returns the stream and the caller's bytes, for the ways to feed that cannot panic: there is no `catch_unwind` around them.
/// None if anything is wrong, or there are no bytes, or more than `most`.
///
/// # Safety
/// `scanner` is NULL or a scanner that is not freed yet; a `buf` that is not NULL leads to `len` bytes. They are
/// used only while nobody else can be inside: the state must be BUSY while a callback runs.
#[inline(always)]
pub(super) unsafe fn ready<'a>(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    most: usize,
) -> Option<(&'a mut Stream, &'a [u8])> {
    // The length is compared first, because a long chunk makes this check twice, and the first time should cost little.
    if len.wrapping_sub(1) >= most || buf.is_null() {
        return None;
    }
    // SAFETY: a scanner that is not NULL is valid.
    if scanner.is_null() || unsafe { (*scanner).guard.state.load(Relaxed) } != READY {
        return None;
    }
    // SAFETY: both are valid, as was seen. The state is READY, so no call is inside.
    unsafe { Some(inside(scanner, buf, len)) }
}

/// Returns the stream and the caller's bytes, after `ready` has checked them.
///
/// # Safety
/// `ready` has returned the stream and the chunk in this call, and no `&mut Stream` from before is used again.
#[inline(always)]
pub(super) unsafe fn inside<'a>(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
) -> (&'a mut Stream, &'a [u8]) {
    // SAFETY: the caller's promise.
    unsafe { (&mut *(*scanner).guard.inner.get(), std::slice::from_raw_parts(buf.cast(), len)) }
}

/// Makes a handle of a scanner. `consumed` is the number of consumed bytes of the chunk in which the scanner was stopped.
fn scanner_into_handle(scanner: Result<Scanner, Error>, consumed: usize) -> *mut aside_scanner {
    match scanner {
        Ok(scanner) => {
            into_handle(aside_scanner { guard: HandleGuard::new(Stream { scanner, consumed, borrowed: None }) })
        }
        Err(error) => {
            failed(error);
            ptr::null_mut()
        }
    }
}

/// Makes a scanner, at the start of a stream. `options` may be NULL: the dialect decides, nothing is collected, and there is
/// no budget. `dialect` and `options` are not used after the call: the dialect may be freed before the scanner.
///
/// Returns a scanner that the caller owns: `aside_scanner_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have) or
/// `ASIDE_ERROR_MEMORY`.
///
/// Threads: any thread may call this at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_new(
    dialect: *const aside_dialect,
    options: *const aside_scanner_options,
) -> *mut aside_scanner {
    guard_handle(|| {
        // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
        let Some(dialect) = (unsafe { dialect.as_ref() }) else {
            fail_no_handle("dialect");
            return ptr::null_mut();
        };
        // SAFETY: NULL or as large as it says, as the caller promises.
        let Ok(options) = (unsafe { read_options(options) }) else {
            return ptr::null_mut();
        };
        scanner_into_handle(Scanner::with_options(&dialect.dialect, &options), 0)
    })
}

/// Makes a second scanner in the same state, also in the middle of a stream: for beam search, and for trying again from here.
/// Feeding one scanner does not change the other. Thoughts that were not taken are in both. The second scanner does not share
/// the memory that C has borrowed from the first.
///
/// Returns a scanner that the caller owns: `aside_scanner_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY` (also for a scanner that is in that error) or
/// `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_clone(scanner: *const aside_scanner) -> *mut aside_scanner {
    let mut clone = ptr::null_mut();
    // SAFETY: NULL or valid, as the caller promises.
    unsafe {
        enter(scanner, is_ready, |stream| {
            clone = scanner_into_handle(stream.scanner.try_clone(), stream.consumed);
            ASIDE_OK
        })
    };
    made_handle(!clone.is_null());
    clone
}

/// Frees a scanner and all memory that C has borrowed from it. Does nothing for NULL. Bytes that are held back are
/// lost: call `aside_scanner_finish()` before.
///
/// Inside a callback of the same scanner nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`): free it
/// after the call that feeds.
///
/// Threads: no other thread may be using this scanner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_free(scanner: *mut aside_scanner) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(scanner, |scanner| scanner.guard.close()) }
}

/// Sets the start of the next stream, before its first byte: after a rendered prompt that ends in the `len` bytes of
/// `tail`. The bytes after the dialect's last turn marker are read as if the model had written them, so that the stream
/// may start inside a span or a header, and framing that the prompt has begun continues in the stream. The events of
/// open spans are reported at offset 0, without bytes, when the first byte is fed. Finishing or resetting the scanner
/// restores its own start; so does a `len` of 0. `tail` is not used after the call; it must not be memory of the
/// scanner.
///
/// `*start` becomes an `ASIDE_START_` value, the span that is open at byte 0; `start` may be NULL. It is written on success
/// only. Undecided markers at the prompt's end are not open: a marker that is cut off, and an opener of a tool call that
/// counts only if a call comes after it. `*start` is then the span around it, and if the stream decides that the
/// opener counts, the first event opens its span.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` if the stream
/// has begun (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
///
/// Memory: the first such call allocates the memory that it needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_start_from_prompt(
    scanner: *mut aside_scanner,
    tail: *const c_char,
    len: size_t,
    start: *mut aside_start,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes.
    let tail = match unsafe { bytes(tail, len, "tail") } {
        Ok(tail) => tail,
        Err(status) => return status,
    };
    let body = |stream: &mut Stream| match stream.scanner.start_from_prompt(tail) {
        Ok(begins) => {
            // SAFETY: NULL, or the caller promises that it may be written.
            unsafe { write_start(begins, start) };
            ASIDE_OK
        }
        Err(error) => failed(error),
    };
    // SAFETY: a scanner that is valid, as the caller promises.
    unsafe { enter(scanner, is_ready, body) }
}

/// Writes the start of the current stream, or of the next one: as the prompt or the options say, or else as the dialect says.
/// `*start` becomes an `ASIDE_START_` value. `*is_guessed` becomes 1 if the dialect only guesses that its models start in the
/// thinking, and neither a prompt nor the options have confirmed the guess; otherwise 0. `start` and `is_guessed` may be NULL.
/// They are written on success only.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_start(
    scanner: *const aside_scanner,
    start: *mut aside_start,
    is_guessed: *mut u32,
) -> aside_status {
    let body = |stream: &mut Stream| {
        // SAFETY: NULL, or the caller promises that it may be written.
        unsafe { write_start(stream.scanner.start(), start) };
        if !is_guessed.is_null() {
            // SAFETY: not NULL, and the caller promises that it may be written.
            unsafe { is_guessed.write_unaligned(stream.scanner.is_start_guessed().into()) };
        }
        ASIDE_OK
    };
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { enter(scanner, is_whole, body) }
}

/// Sets the reason why the stream ends. Call it before the stream is finished: finishing clears the reason, as a reset does.
///
/// The reason matters for a stream that was guessed to start in the thinking (`aside_scanner_start()`). If an answer ended and
/// nothing in it has closed that thinking or written its opener, the thinking was the answer: finishing then reports
/// `ASIDE_KIND_RECLASSIFY` with the channel `ASIDE_CHANNEL_CONTENT`, before the span is closed.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_OPTION`, `ASIDE_ERROR_PANIC`; nothing has
/// changed after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_end_reason(
    scanner: *mut aside_scanner,
    reason: aside_end_reason,
) -> aside_status {
    let reason = match value(reason, "reason") {
        Ok(reason) => reason,
        Err(status) => return status,
    };
    let body = |stream: &mut Stream| {
        stream.scanner.end_reason(reason);
        ASIDE_OK
    };
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { enter(scanner, is_ready, body) }
}

/// Panics inside a scanner, so that tests can see the result in C. No release has it.
#[cfg(feature = "panic-hook")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_test_panic(scanner: *mut aside_scanner) -> aside_status {
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { enter(scanner, is_ready, |_| panic!("asked for by aside_test_panic")) }
}
