//! Tool results for C. A callback must never get back into the compressor that called it: this file keeps, for each thread, the
//! compressors that it is inside of. The doc comments of this folder are those of `aside_compress.h`.

mod command_line;
mod compressor;
mod host;
mod registry;
mod tool_stream;
mod types;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use safer_ffi::prelude::*;

use self::types::*;
use super::bytes::aside_bytes;
use super::constants::*;
use super::memory::{bytes, read_sized};
use super::status::{fail, fail_panic, fail_with};
use crate::compress::{Compressor, Input};

thread_local! {
    /// The compressors that calls of this thread are inside of.
    static INSIDE: RefCell<Vec<*const Compressor>> = const { RefCell::new(Vec::new()) };
}

/// Whether this thread is inside a call of the compressor, so that a callback of its is asking.
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
/// As of `bytes`.
unsafe fn text<'a>(text: aside_bytes, what: &str) -> Result<&'a str, aside_status> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes(text.at, text.len, what) }?;
    std::str::from_utf8(bytes).map_err(|_| fail_with(ASIDE_ERROR_OPTION, format_args!("{what} is not UTF-8")))
}

/// # Safety
/// `at` leads to `count` texts, or `count` is 0.
unsafe fn texts<'a>(at: *const aside_bytes, count: usize, what: &str) -> Result<Vec<&'a str>, aside_status> {
    // SAFETY: the caller's promise.
    unsafe { array(at, count, what)?.map(|one| text(one, what)).collect() }
}

/// The entries of the caller's array.
///
/// # Safety
/// `at` leads to `count` entries, or `count` is 0; they stay during `'a`.
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

/// What the caller says of a call.
struct Called<'a> {
    tool_id: &'a str,
    input: Input,
    now: u64,
}

/// # Safety
/// `call` is NULL or as large as it says, with texts that are there.
unsafe fn called<'a>(call: *const aside_invocation) -> Result<Called<'a>, aside_status> {
    // SAFETY: the caller's promise.
    unsafe {
        let call = read_sized(call, "call")?;
        let tool_id = text(call.tool_id, "call->tool_id")?;
        let json = text(call.input, "call->input")?;
        let input = Input::from_json(if json.is_empty() { "null" } else { json })
            .map_err(|error| fail_with(ASIDE_ERROR_OPTION, format_args!("call->input: {error}")))?;
        Ok(Called { tool_id, input, now: call.now })
    }
}
