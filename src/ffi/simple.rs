//! The functions for whole texts: most hosts need only these, so none of them requires a handle other than the dialect.

use libc::{c_char, size_t};

use super::bytes::{aside_bytes, return_text};
use super::constants::*;
use super::dialect::aside_dialect;
use super::memory::{Versioned, bytes, is_struct_size, layout, read_sized};
use super::numbers::value;
use super::status::{fail, fail_no_handle, fail_null, fail_with};
use crate::{Dialect, JoinCall, JoinError, JoinOptions};

/// Returns the content of a whole text: the text for the reader, with ASCII white space trimmed at both ends. `text` has
/// `len` bytes.
///
/// The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
/// `aside_last_status()` is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY` or `ASIDE_ERROR_PANIC`.
/// `*out_len` is written on success only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_strip(
    dialect: *const aside_dialect,
    text: *const c_char,
    len: size_t,
    out_len: *mut size_t,
) -> *mut c_char {
    // SAFETY: the caller promises `len` bytes, a dialect that is NULL or valid, and a length that may be written.
    unsafe {
        make(dialect, out_len, |dialect| {
            let text = bytes(text, len, "text")?;
            dialect.strip(text).map_err(|_| fail(ASIDE_ERROR_MEMORY))
        })
    }
}

/// A tool call for `aside_join()`. Its texts are UTF-8. Later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_join_call {
    /// The name of the tool.
    pub name: aside_bytes,
    /// The arguments: a JSON object.
    pub arguments: aside_bytes,
    /// The call's id, which is written if the dialect has a place for one. `at` is NULL: no id.
    pub id: aside_bytes,
}

/// The parts that `aside_join()` joins. Set all of it to zero, then `size`; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_join_options {
    /// `sizeof(aside_join_options)` of the caller's header.
    pub size: size_t,
    /// The thinking; any bytes are allowed. Without thinking, no thinking block is written, unless the text starts inside one.
    pub thinking: aside_bytes,
    /// The content; any bytes are allowed.
    pub content: aside_bytes,
    /// The tool calls after the content. NULL if there are none.
    pub calls: *const aside_join_call,
    /// The number of calls.
    pub call_count: size_t,
    /// `sizeof(aside_join_call)` of the caller's header, if there are calls.
    pub call_size: size_t,
    /// The span that is open where the text begins; give the same start to the scanner that splits the text:
    /// `ASIDE_START_DEFAULT`, `ASIDE_START_CONTENT`, `ASIDE_START_HEADER`, or `ASIDE_START_THINKING`, for which no opener
    /// is written.
    pub start: aside_start,
    /// The treatment of a part that contains a marker: `ASIDE_MARKERS_REFUSE` or
    /// `ASIDE_MARKERS_ESCAPE`. Escaping changes a part only where it must, like `aside_escape()`. If that is not enough, U+200B is
    /// put before and after the part; in thinking in a code fence, lines that look like fences are broken, and a line end is added.
    /// The text then splits back into the escaped parts.
    pub markers: aside_markers,
}

impl Versioned for aside_join_options {
    const FIRST: usize = size_of::<size_t>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_join_call 48: name 0, arguments 16, id 32);
    layout!(aside_join_options 72: size 0, thinking 8, content 24, calls 40, call_count 48, call_size 56, start 64,
        markers 68);
};

/// Joins thinking, content and the tool calls after them into one text, as a model of the dialect writes them: the text
/// splits back into the same bytes. A scanner with `options.calls` reads the same calls back. Not every dialect writes the types of
/// values, so an answer needs the tools to make the same arguments. Calls are never escaped: if a value contains the text that
/// ends it, the call cannot be written.
///
/// The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
/// `aside_last_status()` is then `ASIDE_ERROR_JOIN` with a message that names the part and the byte, or the call and its part
/// that cannot be written, or the form that the dialect does not write (no text is joined from `ASIDE_START_NARRATION` and
/// `ASIDE_START_TOOL`); `ASIDE_ERROR_OPTION`, also for a start that the dialect does not have and a text of a call that is not
/// UTF-8; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. `*out_len`
/// is written on success only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_join(
    dialect: *const aside_dialect,
    options: *const aside_join_options,
    out_len: *mut size_t,
) -> *mut c_char {
    // SAFETY: the caller promises a dialect that is NULL or valid, options as large as their size says, with valid texts and calls,
    // and a length that may be written.
    unsafe {
        make(dialect, out_len, |dialect| {
            let given = read_sized(options, "options")?;
            let thinking = bytes(given.thinking.at, given.thinking.len, "options->thinking")?;
            let content = bytes(given.content.at, given.content.len, "options->content")?;
            let calls = calls(&given)?;
            let options = JoinOptions {
                calls: &calls,
                start: value(given.start, "start")?,
                markers: value(given.markers, "markers")?,
            };
            dialect.join(thinking, content, &options).map_err(not_joined)
        })
    }
}

/// Returns a text in which the dialect's markers are broken, so that a user's text can go into a prompt: U+200B (zero width
/// space, 3 bytes) follows the first character of each marker, turn markers included, and the text looks the same. A marker
/// that counts only at the first byte of a stream has U+200B before it, if the text begins with that marker. Escaping a text again
/// does not change it. `text` has `len` bytes; any bytes are allowed.
///
/// Escape a text as a whole: a marker that is split over two texts is not found. The host must remove special tokens that the
/// dialect does not name.
///
/// The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
/// `aside_last_status()` is then `ASIDE_ERROR_JOIN` if the dialect has a marker that nothing can break (a single
/// character, or one that contains U+200B), or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`,
/// `ASIDE_ERROR_PANIC`. `*out_len` is written on success only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_escape(
    dialect: *const aside_dialect,
    text: *const c_char,
    len: size_t,
    out_len: *mut size_t,
) -> *mut c_char {
    // SAFETY: the caller promises `len` bytes, a dialect that is NULL or valid, and a length that may be written.
    unsafe {
        make(dialect, out_len, |dialect| {
            let text = bytes(text, len, "text")?;
            dialect.escape(text).map_err(not_joined)
        })
    }
}

/// Returns to C the text that `body` makes with a dialect.
///
/// # Safety
/// `dialect` is NULL or valid; the length is NULL or may be written.
unsafe fn make(
    dialect: *const aside_dialect,
    out_len: *mut size_t,
    body: impl FnOnce(&Dialect) -> Result<Vec<u8>, aside_status>,
) -> *mut c_char {
    // SAFETY: the caller meets this function's conditions.
    unsafe {
        return_text(out_len, || match dialect.as_ref() {
            Some(dialect) => body(&dialect.dialect),
            None => Err(fail_no_handle("dialect")),
        })
    }
}

/// Returns the caller's calls.
///
/// # Safety
/// If `calls` is not NULL, it points to `call_count` calls of `call_size` bytes with valid texts, which do not change during `'a`.
unsafe fn calls<'a>(options: &aside_join_options) -> Result<Vec<JoinCall<'a>>, aside_status> {
    let aside_join_options { calls, call_count: count, call_size, .. } = *options;
    if count == 0 {
        return Ok(Vec::new());
    }
    if calls.is_null() {
        return Err(fail_null("options->calls"));
    }
    if !is_struct_size(call_size, size_of::<aside_join_call>()) {
        let message = "options->call_size is not that of any version of aside_join_call";
        return Err(fail_with(ASIDE_ERROR_SIZE, message));
    }
    if count > isize::MAX as usize / call_size {
        return Err(fail(ASIDE_ERROR_LENGTH));
    }
    let mut read = Vec::new();
    read.try_reserve_exact(count).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    for index in 0..count {
        let text = |text: aside_bytes, what| {
            // SAFETY: the caller meets this function's conditions.
            let text = unsafe { bytes(text.at, text.len, what) }?;
            let not_utf8 = |_| fail_with(ASIDE_ERROR_OPTION, format_args!("calls[{index}].{what}: not UTF-8"));
            std::str::from_utf8(text).map_err(not_utf8)
        };
        // SAFETY: the index is below the count, and each call has at least the fields that are read; it need not be aligned.
        let call = unsafe { calls.byte_add(index * call_size).read_unaligned() };
        let id = text(call.id, "id")?;
        let call_of = JoinCall::new(text(call.name, "name")?, text(call.arguments, "arguments")?);
        read.push(call_of.id((!call.id.at.is_null()).then_some(id)));
    }
    Ok(read)
}

fn not_joined(error: JoinError) -> aside_status {
    match error {
        JoinError::OutOfMemory => fail(ASIDE_ERROR_MEMORY),
        JoinError::NoSuchStart => fail_with(ASIDE_ERROR_OPTION, format_args!("start: {error}")),
        error => fail_with(ASIDE_ERROR_JOIN, error),
    }
}
