//! The C ABI: thin functions over the crate's own API, and the only unsafe code but for the search by vectors.
//! `include/aside.h` is made from here.
//!
//! Every entry catches panics or cannot panic, checks its pointers, and takes integers where C has enumerations.

#![allow(unsafe_code, non_camel_case_types)]

#[cfg(feature = "compress")]
mod compress;
mod dialect;
mod gate;
mod memory;
mod scanner;
mod sse;
mod status;
mod types;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use status::{fail, fail_no_handle, fail_null, fail_with, guard};
use types::*;

use crate::{Dialect, JoinError, JoinOptions, OnMarker};

/// == One call ==
///
/// The content of a whole text: what a reader is meant to see of it, ASCII white space trimmed at both ends. `text` has
/// `len` bytes.
///
/// `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes and a NUL behind them.
/// Both are written on success only.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_strip(
    dialect: *const aside_dialect,
    text: *const c_char,
    len: size_t,
    out: *mut *mut c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a dialect that is NULL or there, and outputs that may be written.
    unsafe {
        make(dialect, out, out_len, |dialect| {
            let text = memory::bytes(text, len, "text")?;
            crate::strip(dialect, text).map_err(|_| fail(ASIDE_ERROR_MEMORY))
        })
    }
}

/// Puts thinking and content into one text, as a model of the dialect writes them: the text splits back into the same,
/// byte for byte. `thinking` has `thinking_len` bytes and `content` has `content_len`; any bytes will do. Without
/// thinking no block of it is written, unless the text starts inside one.
///
/// `start` is what is open where the text begins, and must be given to the scanner that splits it:
/// `ASIDE_START_DEFAULT`, `ASIDE_START_CONTENT`, `ASIDE_START_HEADER`, or `ASIDE_START_THINKING`, where no opener is
/// written. `markers` says what happens where a part holds what would be read as a marker: `ASIDE_MARKERS_REFUSE` or
/// `ASIDE_MARKERS_ESCAPE`. Escaping changes a part only where it must, as `aside_escape()` does; where that is not enough,
/// U+200B stands before and behind the part, and thinking in a code fence gets its lines of fences broken and a line
/// end. The text then splits back into the escaped parts.
///
/// `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes and a NUL behind them.
/// Both are written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_JOIN` with a message that names the part and the byte, or says what the dialect does not
/// write: no text is joined from `ASIDE_START_NARRATION` and `ASIDE_START_TOOL`; `ASIDE_ERROR_OPTION`, also for a start
/// that the dialect does not have; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_join(
    dialect: *const aside_dialect,
    thinking: *const c_char,
    thinking_len: size_t,
    content: *const c_char,
    content_len: size_t,
    start: u32,
    markers: u32,
    out: *mut *mut c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises so many bytes of each, a dialect that is NULL or there, and outputs that may be written.
    unsafe {
        make(dialect, out, out_len, |dialect| {
            let thinking = memory::bytes(thinking, thinking_len, "thinking")?;
            let content = memory::bytes(content, content_len, "content")?;
            let options = JoinOptions { start: scanner::start(start)?, markers: self::markers(markers)? };
            crate::join(dialect, thinking, content, &options).map_err(not_joined)
        })
    }
}

/// A text without the dialect's markers, for a prompt that a user's text goes into: behind the first character of each
/// marker, those where a turn begins among them, stands U+200B (zero width space, 3 bytes), so that it reads the same and
/// is no marker. A marker that counts at the first byte of a stream alone gets it in front, where the text begins with it.
/// A text that was escaped is not changed again. Escape a text whole: a marker that is put together from two texts is seen
/// in neither. Special tokens that the dialect does not name are the host's to keep out. `text` has `len` bytes; any bytes
/// will do.
///
/// `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes and a NUL behind them.
/// Both are written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_JOIN` where the dialect has a marker that nothing can break (a single character, or
/// one that holds U+200B); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_escape(
    dialect: *const aside_dialect,
    text: *const c_char,
    len: size_t,
    out: *mut *mut c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a dialect that is NULL or there, and outputs that may be written.
    unsafe {
        make(dialect, out, out_len, |dialect| {
            let text = memory::bytes(text, len, "text")?;
            crate::escape(dialect, text).map_err(not_joined)
        })
    }
}

/// Gives C the text that `body` makes with a dialect.
///
/// # Safety
/// `dialect` is NULL or there; the outputs are NULL or may be written.
unsafe fn make(
    dialect: *const aside_dialect,
    out: *mut *mut c_char,
    out_len: *mut size_t,
    body: impl FnOnce(&Dialect) -> Result<Vec<u8>, aside_status>,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller's promise.
            let Some(dialect) = (unsafe { dialect.as_ref() }) else {
                return fail_no_handle("dialect");
            };
            if out.is_null() || out_len.is_null() {
                return fail_null("out or out_len");
            }
            match body(&dialect.dialect) {
                // SAFETY: neither is NULL, and the caller promises that they may be written.
                Ok(text) => unsafe { memory::give(&text, out, out_len) },
                Err(status) => status,
            }
        },
    )
}

fn markers(number: u32) -> Result<OnMarker, aside_status> {
    match number {
        ASIDE_MARKERS_REFUSE => Ok(OnMarker::Refuse),
        ASIDE_MARKERS_ESCAPE => Ok(OnMarker::Escape),
        other => Err(fail_with(ASIDE_ERROR_OPTION, format_args!("markers {other} is no ASIDE_MARKERS_ value"))),
    }
}

fn not_joined(error: JoinError) -> aside_status {
    match error {
        JoinError::OutOfMemory => fail(ASIDE_ERROR_MEMORY),
        JoinError::NoSuchStart => fail_with(ASIDE_ERROR_OPTION, format_args!("start: {error}")),
        error => fail_with(ASIDE_ERROR_JOIN, error),
    }
}

/// == Errors and versions ==
///
/// The message of the last failure in this thread: UTF-8 with a NUL at its end, never NULL, empty where nothing has
/// failed. It has at most 2,047 bytes: a longer one is cut and ends in `…`. Success leaves it alone. Good until the next
/// failure in this thread.
///
/// Where a function fails because a handle is NULL that the failure before did not make (a misspelled dialect, say), the
/// message of that failure stays: it says why there is no handle. The status becomes `ASIDE_ERROR_NULL`.
///
/// Threads: any, at any time; each has a message of its own. Memory: no message takes any.
#[ffi_export]
pub unsafe extern "C" fn aside_last_error() -> *const c_char {
    status::last_message()
}

/// The status of the last failure in this thread: why a function failed that returns NULL or 0. `ASIDE_OK` where nothing
/// has failed.
///
/// Threads: any, at any time; each has a status of its own.
#[ffi_export]
pub unsafe extern "C" fn aside_last_status() -> aside_status {
    status::last_status()
}

/// The general sentence of a status, for any number: with a NUL at its end, never NULL, never freed.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_status_text(status: aside_status) -> *const c_char {
    status::sentence(status).as_ptr()
}

/// The version of the library that runs, as `ASIDE_VERSION` is the version of this header: "MAJOR.MINOR.PATCH" with a
/// NUL at its end, never freed.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of the binary interface that the library has. A program fits where this is `ASIDE_ABI_VERSION`: it grows
/// only when something that was there changes.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_abi_version() -> u32 {
    ASIDE_ABI_VERSION
}

/// Carries the version in its name and does nothing. Whoever calls it by `ASIDE_VERSION_SYMBOL` does not link with a
/// library that is older than this header: such a one has no function of that name. `aside.hpp` does so. Later libraries
/// with the same binary interface keep it.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_version_0_1_0() {}
