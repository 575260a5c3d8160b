//! The handle of a scanner: creating and freeing it, the start of its streams, and locking it for a call.

use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, size_t};

use super::borrowed::Borrowed;
use super::options::{aside_scanner_options, options as read_options};
use crate::ffi::constants::*;
use crate::ffi::dialect::aside_dialect;
use crate::ffi::handle_guard::{HandleGuard, READY, is_ready, is_whole};
use crate::ffi::memory::{free, into_handle};
use crate::ffi::numbers::{start_from_prompt, value, write_start};
use crate::ffi::status::{fail_no_handle, failed, guard_handle, made_handle};
use crate::{Error, Scanner};

// A scanner may be used by any thread, but only by one at a time.
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
    /// The memory that C borrows. It is allocated when it is first needed, so that an idle scanner stays small.
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
    // SAFETY: it is valid, and only calls inside the guard use the stream.
    unsafe { (*scanner).guard.enter(may, body) }
}

/// Reads a number from a scanner; 0 if the call may not use the scanner.
///
/// # Safety
/// The same as for `enter`.
pub(super) unsafe fn read<T: Default>(scanner: *const aside_scanner, body: impl FnOnce(&Stream) -> T) -> T {
    let mut value = T::default();
    // SAFETY: the caller meets this function's conditions.
    unsafe {
        enter(scanner, is_whole, |stream| {
            value = body(stream);
            ASIDE_OK
        })
    };
    value
}

/// Returns the stream and the caller's bytes, for the ways to feed that cannot panic: there is no `catch_unwind` around them.
/// None if an argument is wrong, if there are no bytes, or if there are more than `most`.
///
/// # Safety
/// `scanner` is NULL or a scanner that is not freed yet; a `buf` that is not NULL points to `len` bytes. The results are used only
/// while no other call can enter: the state must be BUSY while a callback runs.
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
    // SAFETY: both were checked above. The state is READY, so no call is inside.
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
    // SAFETY: the caller meets this function's conditions.
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

/// Sets the start of the next stream, for a model that continues a rendered prompt. The last `len` bytes of the prompt are `tail`.
/// Call this before the first byte of the stream. The bytes after the dialect's last turn marker are read as if the model had
/// written them, so that the stream may start inside a span or a header, and framing that the prompt has begun continues in the
/// stream. The events of open spans are reported at offset 0, without bytes, when the first byte is fed. Finishing or resetting
/// the scanner restores its own start, and a `len` of 0 restores it too. `tail` is not used after the call; it must not be memory
/// of the scanner.
///
/// `*start` becomes an `ASIDE_START_` value, the span that is open at byte 0; `start` may be NULL. It is written on success
/// only. An undecided marker at the prompt's end opens no span: an incomplete marker, or an opener of a tool call that counts only
/// if a call follows. `*start` is then the span around the marker, and if the stream decides that the opener counts, the first
/// event opens its span.
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
    // SAFETY: the caller promises `len` bytes, a scanner that is NULL or valid, and a start that is NULL or may be written.
    unsafe {
        start_from_prompt(tail, len, start, |tail, write| {
            enter(scanner, is_ready, |stream| write(stream.scanner.start_from_prompt(tail)))
        })
    }
}

/// Writes the start of the current stream, or of the next one, which the prompt, the options or else the dialect determine.
/// `*start` becomes an `ASIDE_START_` value. `*is_guessed` becomes 1 if the dialect only guesses that its models start in the
/// thinking, and neither a prompt nor the options have confirmed the guess; otherwise 0. `start` and `is_guessed` may be NULL. They
/// are written on success only.
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
/// The reason matters if the stream was only guessed to start in the thinking (`aside_scanner_start()`). If the model ended its
/// answer, and the text has neither a closer nor an opener of the thinking, the thinking was the answer: finishing then reports
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

/// Panics inside a scanner, so that tests can observe the result in C. Releases do not contain this function.
#[cfg(feature = "panic-hook")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_test_panic(scanner: *mut aside_scanner) -> aside_status {
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { enter(scanner, is_ready, |_| panic!("asked for by aside_test_panic")) }
}
