//! The calls for a whole text at once: what most hosts need, so none of them asks for a handle but the dialect.

use std::ptr;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::constants::*;
use super::dialect::aside_dialect;
use super::memory::{bytes, layout, write_copy};
use super::numbers;
use super::status::{fail, fail_no_handle, fail_null, fail_with, guard};
use crate::{Dialect, JoinCall, JoinError, JoinOptions, OnMarker};

/// Writes the content of a whole text to `*out`: what a reader is meant to see, with ASCII white space trimmed at both
/// ends. `text` has `len` bytes.
///
/// `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes, and a NUL after them.
/// Both are written on success only.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
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
            let text = bytes(text, len, "text")?;
            dialect.strip(text).map_err(|_| fail(ASIDE_ERROR_MEMORY))
        })
    }
}

/// Joins thinking and content into one text, as a model of the dialect writes them: the text splits back into the same
/// bytes. `thinking` has `thinking_len` bytes and `content` has `content_len`; any bytes are allowed. Without thinking
/// no block for it is written, unless the text starts inside one.
///
/// `start` is what is open where the text begins, and must be given to the scanner that splits it:
/// `ASIDE_START_DEFAULT`, `ASIDE_START_CONTENT`, `ASIDE_START_HEADER`, or `ASIDE_START_THINKING`, for which no opener
/// is written. `markers` says what to do if a part contains what would be read as a marker: `ASIDE_MARKERS_REFUSE` or
/// `ASIDE_MARKERS_ESCAPE`. Escaping changes a part only where it must, as `aside_escape()` does; where that is not
/// enough, U+200B is put before and after the part, and thinking in a code fence gets its lines of fences broken and a
/// line end. The text then splits back into the escaped parts.
///
/// `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes, and a NUL after them.
/// Both are written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_JOIN` with a message that names the part and the byte, or says what the dialect
/// does not write: no text is joined from `ASIDE_START_NARRATION` and `ASIDE_START_TOOL`; `ASIDE_ERROR_OPTION`, also
/// for a start that the dialect does not have; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`,
/// `ASIDE_ERROR_PANIC`.
#[ffi_export]
pub unsafe extern "C" fn aside_join(
    dialect: *const aside_dialect,
    thinking: *const c_char,
    thinking_len: size_t,
    content: *const c_char,
    content_len: size_t,
    start: aside_start,
    markers: aside_markers,
    out: *mut *mut c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller's promise is that of the function called, which reads none of no calls.
    unsafe {
        aside_join_with_calls(
            dialect,
            thinking,
            thinking_len,
            content,
            content_len,
            ptr::null(),
            0,
            start,
            markers,
            out,
            out_len,
        )
    }
}

/// A tool call for `aside_join_with_calls()`. Its texts are UTF-8.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_join_call {
    /// The name of the tool.
    pub name: *const c_char,
    /// The length of the name.
    pub name_len: size_t,
    /// The arguments: a JSON object.
    pub arguments: *const c_char,
    /// The length of the arguments.
    pub arguments_len: size_t,
    /// The call's id, which is written where the dialect has a place for one. NULL: none.
    pub id: *const c_char,
    /// The length of the id.
    pub id_len: size_t,
}

// No layout ever changes; C checks the same in tests/c/layout.c.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_join_call 48: name 0, name_len 8, arguments 16, arguments_len 24, id 32, id_len 40);
};

/// Joins thinking, content and the tool calls after them into one text, as `aside_join()`. `calls` has `count` entries; it
/// may be NULL if there are none. A scanner with `options.calls` reads the calls back as they are; types are not in the
/// text of all dialects, so a call writer that has the tools makes the same arguments. Calls are never escaped: where a value
/// holds the text that ends it, no text means the call.
///
/// Returns as `aside_join()`; `ASIDE_ERROR_JOIN` also for a call that cannot be written: the message says which call, and
/// which part of it. `ASIDE_ERROR_OPTION` also for a text of a call that is not UTF-8.
#[ffi_export]
pub unsafe extern "C" fn aside_join_with_calls(
    dialect: *const aside_dialect,
    thinking: *const c_char,
    thinking_len: size_t,
    content: *const c_char,
    content_len: size_t,
    calls: *const aside_join_call,
    count: size_t,
    start: aside_start,
    markers: aside_markers,
    out: *mut *mut c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises that many bytes of each and that many calls, a dialect that is NULL or there, and outputs
    // that may be written.
    unsafe {
        make(dialect, out, out_len, |dialect| {
            let thinking = bytes(thinking, thinking_len, "thinking")?;
            let content = bytes(content, content_len, "content")?;
            let calls = self::calls(calls, count)?;
            let options = JoinOptions { start: numbers::start(start)?, markers: self::markers(markers)? };
            dialect.join_with_calls(thinking, content, &calls, &options).map_err(not_joined)
        })
    }
}

/// Writes a text without the dialect's markers to `*out`, for a prompt that a user's text goes into: U+200B (zero
/// width space, 3 bytes) is put after the first character of each marker, turn markers included, so that it reads the
/// same and is not a marker. A marker that counts only at the first byte of a stream gets it in front, if the text
/// begins with that marker. A text that was escaped is not changed again. `text` has `len` bytes; any bytes are
/// allowed.
///
/// Escape a text whole: a marker that is put together from two texts is seen in neither. The host must keep out special
/// tokens that the dialect does not name.
///
/// `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes, and a NUL after them.
/// Both are written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_JOIN` if the dialect has a marker that nothing can break (a single character, or
/// one that contains U+200B); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
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
            let text = bytes(text, len, "text")?;
            dialect.escape(text).map_err(not_joined)
        })
    }
}

/// Writes for C the text that `body` makes with a dialect.
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
                Ok(text) => unsafe { write_copy(&text, out, out_len) },
                Err(status) => status,
            }
        },
    )
}

/// The caller's calls. NULL is allowed if there are none.
///
/// # Safety
/// A pointer that is not NULL leads to `count` calls, whose texts are as long as they say, and nobody changes them during `'a`.
unsafe fn calls<'a>(calls: *const aside_join_call, count: size_t) -> Result<Vec<JoinCall<'a>>, aside_status> {
    if calls.is_null() && count > 0 {
        return Err(fail_null("calls"));
    }
    if count > isize::MAX as usize / size_of::<aside_join_call>() {
        return Err(fail(ASIDE_ERROR_LENGTH));
    }
    let mut read = Vec::new();
    read.try_reserve_exact(count).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    for index in 0..count {
        let text = |at, len, what| {
            // SAFETY: the caller's promise.
            let text = unsafe { bytes(at, len, what) }?;
            let not_utf8 = |_| fail_with(ASIDE_ERROR_OPTION, format_args!("calls[{index}].{what}: not UTF-8"));
            std::str::from_utf8(text).map_err(not_utf8)
        };
        // SAFETY: the index is below the count; it need not be aligned.
        let call = unsafe { calls.add(index).read_unaligned() };
        let name = text(call.name, call.name_len, "name")?;
        let arguments = text(call.arguments, call.arguments_len, "arguments")?;
        let id = text(call.id, call.id_len, "id")?;
        read.push(JoinCall::new(name, arguments).id((!call.id.is_null()).then_some(id)));
    }
    Ok(read)
}

fn markers(number: u32) -> Result<OnMarker, aside_status> {
    match number {
        ASIDE_MARKERS_REFUSE => Ok(OnMarker::Refuse),
        ASIDE_MARKERS_ESCAPE => Ok(OnMarker::Escape),
        other => Err(fail_with(ASIDE_ERROR_OPTION, format_args!("markers {other} is not an ASIDE_MARKERS_ value"))),
    }
}

fn not_joined(error: JoinError) -> aside_status {
    match error {
        JoinError::OutOfMemory => fail(ASIDE_ERROR_MEMORY),
        JoinError::NoSuchStart => fail_with(ASIDE_ERROR_OPTION, format_args!("start: {error}")),
        error => fail_with(ASIDE_ERROR_JOIN, error),
    }
}
