//! Tool results for C. A callback must never enter the compressor that called it, so this file keeps, for each thread, a list of
//! the compressors that it is inside. The doc comments of this folder become the comments of `aside_compress.h` and
//! `aside_unstable.h`.

mod compressor;
mod host;
mod registry;
mod tool_stream;
mod types;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use self::types::*;
use super::bytes::aside_bytes;
use super::constants::*;
use super::memory::{Versioned, bytes, fill_sized, read_sized, size_of_given};
use super::status::{fail, fail_panic, fail_with, guard};
use crate::compress::{Compressor, Input};

thread_local! {
    /// The compressors that calls of this thread are inside.
    static INSIDE: RefCell<Vec<*const Compressor>> = const { RefCell::new(Vec::new()) };
}

/// Returns whether this thread is inside a call of the compressor: the caller is then one of its callbacks.
fn is_inside(compressor: &Arc<Compressor>) -> bool {
    INSIDE.try_with(|inside| inside.borrow().contains(&Arc::as_ptr(compressor))).unwrap_or(false)
}

/// Runs `body` as the only call of this thread inside the compressor.
fn inside(compressor: &Arc<Compressor>, body: impl FnOnce() -> aside_status) -> aside_status {
    if is_inside(compressor) {
        return fail(ASIDE_ERROR_BUSY);
    }
    let _ = INSIDE.try_with(|inside| inside.borrow_mut().push(Arc::as_ptr(compressor)));
    let status = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(fail_panic);
    let _ = INSIDE.try_with(|inside| inside.borrow_mut().pop());
    status
}

/// # Safety
/// The same as for `bytes`.
unsafe fn text<'a>(text: aside_bytes, what: &str) -> Result<&'a str, aside_status> {
    // SAFETY: the caller meets this function's conditions.
    let bytes = unsafe { bytes(text.at, text.len, what) }?;
    std::str::from_utf8(bytes).map_err(|_| fail_with(ASIDE_ERROR_OPTION, format_args!("{what} is not UTF-8")))
}

/// # Safety
/// `at` points to `count` texts, or `count` is 0.
unsafe fn texts<'a>(at: *const aside_bytes, count: usize, what: &str) -> Result<Vec<&'a str>, aside_status> {
    // SAFETY: the caller meets this function's conditions.
    unsafe { array(at, count, what)?.map(|one| text(one, what)).collect() }
}

/// Reads the entries of the caller's array.
///
/// # Safety
/// `at` points to `count` entries, or `count` is 0; they stay valid during `'a`.
unsafe fn array<'a, T: Copy + 'a>(
    at: *const T,
    count: usize,
    what: &str,
) -> Result<impl Iterator<Item = T> + 'a, aside_status> {
    if at.is_null() && count > 0 {
        return Err(fail_with(ASIDE_ERROR_NULL, format_args!("{what} is NULL and there are some")));
    }
    if count.checked_mul(size_of::<T>()).is_none_or(|all| all > isize::MAX as usize) {
        return Err(fail(ASIDE_ERROR_LENGTH));
    }
    // SAFETY: the caller's promise; entries need not be aligned.
    Ok((0..count).map(move |index| unsafe { at.add(index).read_unaligned() }))
}

/// An invocation of the caller. It owns the input, which is parsed from JSON.
struct OwnedInvocation<'a> {
    tool_id: &'a str,
    input: Input,
    now: u64,
}

/// # Safety
/// `invocation` is NULL or as large as it says, with valid texts.
unsafe fn invoked<'a>(invocation: *const aside_invocation) -> Result<OwnedInvocation<'a>, aside_status> {
    // SAFETY: the caller meets this function's conditions.
    unsafe {
        let invocation = read_sized(invocation, "invocation")?;
        let tool_id = text(invocation.tool_id, "invocation->tool_id")?;
        let json = text(invocation.input, "invocation->input")?;
        let input = Input::from_json(if json.is_empty() { "null" } else { json })
            .map_err(|error| fail_with(ASIDE_ERROR_OPTION, format_args!("invocation->input: {error}")))?;
        Ok(OwnedInvocation { tool_id, input, now: invocation.now })
    }
}

/// Calls `make` with the size of the caller's struct, and writes the result into that struct.
///
/// # Safety
/// `to` is NULL or as large as its first field says, and may be written that far.
unsafe fn fill<T: Versioned>(
    to: *mut T,
    what: &str,
    make: impl FnOnce(usize) -> Result<T, aside_status>,
) -> aside_status {
    let filled = || {
        // SAFETY: every version begins with its size, and the caller promises that many bytes.
        unsafe {
            let size = size_of_given(to, what)?;
            fill_sized(to, size, make(size)?);
        }
        Ok(ASIDE_OK)
    };
    guard(|status| status, || filled().unwrap_or_else(|status| status))
}
