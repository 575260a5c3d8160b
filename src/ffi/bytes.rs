//! Texts that cross the boundary: a borrowed text is a pair of address and length; a text that the library allocates must be freed
//! with `aside_free()`, because on some systems the host's `free()` belongs to a different heap.

use std::ffi::c_void;
use std::ptr;

use libc::{c_char, size_t};

use super::constants::*;
use super::memory::{as_c_ptr, bytes, layout};
use super::status::{fail, fail_null, fail_with, guard};

/// A range of bytes. In a text that the library fills in, `at` is never NULL, and no NUL follows the last byte; in a text that
/// a caller passes, `at` may be NULL if `len` is 0. This struct never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_bytes {
    /// The first byte.
    pub at: *const c_char,
    /// The number of bytes.
    pub len: size_t,
}

// The layout never changes; tests/c/layout.c checks it in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_bytes 16: at 0, len 8);
};

impl aside_bytes {
    /// Returns borrowed bytes for C.
    #[inline]
    pub(super) fn lend(bytes: &[u8]) -> aside_bytes {
        aside_bytes { at: as_c_ptr(bytes), len: bytes.len() }
    }
}

/// Returns a text that the caller passes, or None if its address is NULL.
///
/// # Safety
/// `at` is NULL or has `len` bytes, which nobody changes during `'a`.
pub(super) unsafe fn optional_text<'a>(text: aside_bytes, what: &str) -> Result<Option<&'a str>, aside_status> {
    if text.at.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller meets this function's conditions.
    let text = unsafe { bytes(text.at, text.len, what) }?;
    match std::str::from_utf8(text) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(fail_with(ASIDE_ERROR_OPTION, format_args!("{what}: not UTF-8"))),
    }
}

/// Frees memory that a function of this library returned for `aside_free()`, such as `aside_strip()`. Does nothing for
/// NULL. Do not free such memory with `free()`: the library may have a separate heap.
///
/// Threads: any thread may call this at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_free(memory: *mut c_void) {
    guard(
        |_| (),
        || {
            // SAFETY: the caller promises NULL or memory from `return_text`, which calls `malloc`.
            unsafe { libc::free(memory) }
        },
    )
}

/// Returns to C the text that `body` makes, with a NUL after it, in memory for `aside_free`; NULL if that fails.
///
/// # Safety
/// `len` is NULL or may be written.
pub(super) unsafe fn return_text(
    len: *mut size_t,
    body: impl FnOnce() -> Result<Vec<u8>, aside_status>,
) -> *mut c_char {
    guard(
        |_| ptr::null_mut(),
        || {
            if len.is_null() {
                fail_null("out_len");
                return ptr::null_mut();
            }
            let Ok(text) = body() else { return ptr::null_mut() };
            // SAFETY: malloc returns NULL or room for the bytes and a NUL; the caller promises that the length may be written.
            unsafe {
                let copy = libc::malloc(text.len() + 1).cast::<u8>();
                if copy.is_null() {
                    fail(ASIDE_ERROR_MEMORY);
                    return ptr::null_mut();
                }
                ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len());
                copy.add(text.len()).write(0);
                len.write_unaligned(text.len());
                copy.cast()
            }
        },
    )
}
