//! Rewrites the history of a request, for C: a function reads one body, returns one body, and keeps nothing.

use libc::{c_char, size_t};

use super::bytes::return_text;
use super::constants::*;
use super::dialect::{aside_dialect, c_name_of, find};
use super::memory::{Versioned, bytes, file_text, fill_sized, layout, read_sized, size_of_given};
use super::numbers::{limit, value};
use super::status::{fail, fail_null, fail_with, guard};
use crate::history::{Format, Name, Options, Report, Server, rewrite};

/// The options of `aside_history_rewrite()`. Set all of it to zero, then `size` and `format`; or let
/// `aside_history_server_find()` fill in the options of a server. Later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_history_options {
    /// `sizeof(aside_history_options)` of the caller's header.
    pub size: size_t,
    /// With `ASIDE_HISTORY_NAME_TEXT`, the dialect whose markers are written. Otherwise not read.
    pub dialect: *const aside_dialect,
    /// The length of the longest body that is read, in bytes; a longer body is returned unchanged. 0: 32 MiB.
    pub max_body: u64,
    /// The format of the request: `ASIDE_FORMAT_CHAT`, `ASIDE_FORMAT_RESPONSES` or `ASIDE_FORMAT_MESSAGES`.
    pub format: aside_formats,
    /// The place of the thinking of an earlier turn.
    pub name: aside_history_name,
    /// The turns whose thinking stays.
    pub turns: aside_history_turns,
    /// The change to an assistant message without thinking.
    pub missing: aside_history_missing,
    /// The treatment of blocks and items that a rewriter made and the server did not.
    pub made: aside_history_made,
    /// Reserved: 0.
    pub reserved: u32,
}

impl Versioned for aside_history_options {
    const FIRST: usize = size_of::<aside_history_options>();
}

/// The report of `aside_history_rewrite()`. Set `size` before the call; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_history_report {
    /// `sizeof(aside_history_report)` of the caller's header.
    pub size: size_t,
    /// The number of messages or items that were changed or removed.
    pub changed: u64,
    /// The number of messages or items with thinking that cannot be written into their text. The thinking stays where it is,
    /// unless `ASIDE_HISTORY_MADE_REMOVE` removes it.
    pub refused: u64,
    /// The number of messages or items with thinking that is signed, encrypted or in a form that is not known. The thinking
    /// stays where it is.
    pub unread: u64,
    /// Whether the body was read, or why it was returned unchanged.
    pub outcome: aside_history_outcome,
    /// 1: thinking was turned off in the request, see `ASIDE_HISTORY_MADE_REMOVE`. 0: it was not.
    pub thinking_off: u32,
}

impl Versioned for aside_history_report {
    const FIRST: usize = size_of::<aside_history_report>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_history_options 48: size 0, dialect 8, max_body 16, format 24, name 28, turns 32, missing 36, made 40,
        reserved 44);
    layout!(aside_history_report 40: size 0, changed 8, refused 16, unread 24, outcome 32, thinking_off 36);
};

fn format(number: aside_formats) -> Result<Format, aside_status> {
    match number {
        ASIDE_FORMAT_CHAT => Ok(Format::Chat),
        ASIDE_FORMAT_RESPONSES => Ok(Format::Responses),
        ASIDE_FORMAT_MESSAGES => Ok(Format::Messages),
        _ => Err(fail_with(
            ASIDE_ERROR_OPTION,
            format_args!(
                "format {number}: requests have ASIDE_FORMAT_CHAT, ASIDE_FORMAT_RESPONSES or ASIDE_FORMAT_MESSAGES"
            ),
        )),
    }
}

/// Returns the caller's options.
///
/// # Safety
/// `options` is NULL or as large as its size says; its dialect is NULL or valid.
unsafe fn read(options: *const aside_history_options) -> Result<Options, aside_status> {
    // SAFETY: the caller meets this function's conditions, and the struct is made of plain numbers and a pointer that may be NULL.
    let given = unsafe { read_sized(options, "options") }?;
    if given.reserved != 0 {
        return Err(fail_with(ASIDE_ERROR_OPTION, "options->reserved is not 0"));
    }
    let name = match given.name {
        ASIDE_HISTORY_NAME_AS_IS => Name::AsIs,
        ASIDE_HISTORY_NAME_REASONING_CONTENT => Name::ReasoningContent,
        ASIDE_HISTORY_NAME_REASONING => Name::Reasoning,
        ASIDE_HISTORY_NAME_THINKING => Name::Thinking,
        ASIDE_HISTORY_NAME_REASONING_DETAILS => Name::ReasoningDetails,
        ASIDE_HISTORY_NAME_PARTS => Name::Parts,
        ASIDE_HISTORY_NAME_REASONING_TEXT => Name::ReasoningText,
        ASIDE_HISTORY_NAME_SUMMARY => Name::Summary,
        // SAFETY: the caller promises a dialect that is NULL or valid.
        ASIDE_HISTORY_NAME_TEXT => match unsafe { given.dialect.as_ref() } {
            Some(dialect) => Name::Text(dialect.dialect.clone()),
            None => return Err(fail_null("options->dialect")),
        },
        other => {
            let message = format_args!("name {other} is not an ASIDE_HISTORY_NAME_ value");
            return Err(fail_with(ASIDE_ERROR_OPTION, message));
        }
    };
    Ok(Options {
        name,
        turns: value(given.turns, "turns")?,
        missing: value(given.missing, "missing")?,
        made: value(given.made, "made")?,
        max_body: limit(given.max_body),
        ..Options::new(format(given.format)?)
    })
}

/// Returns the body of a request with the thinking of earlier turns where the server reads it. `body` is all `len` bytes of
/// the request. Everything that the options do not name stays unchanged, byte for byte; a body that cannot be read is returned
/// unchanged, and `*report` says why. `report` may be NULL. Rewriting the result again changes nothing.
///
/// The host must then set `Content-Length` again, and any digest or signature of the body.
///
/// The result has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
/// `aside_last_status()` is then `ASIDE_ERROR_NULL`, also if the dialect is missing, `ASIDE_ERROR_OPTION`, `ASIDE_ERROR_SIZE`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY` or `ASIDE_ERROR_PANIC`. `*report` and `*out_len` are written on success only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_history_rewrite(
    options: *const aside_history_options,
    body: *const c_char,
    len: size_t,
    report: *mut aside_history_report,
    out_len: *mut size_t,
) -> *mut c_char {
    let rewrite = || {
        // SAFETY: the caller promises options as large as they say, with a dialect that is valid.
        let options = unsafe { read(options) }?;
        // SAFETY: the caller promises the bytes that it names.
        let body = unsafe { bytes(body, len, "body") }?;
        let size = match report.is_null() {
            true => None,
            // SAFETY: not NULL, and the caller promises as many bytes as its size says.
            false => Some(unsafe { size_of_given(report, "report") }?),
        };
        let (out, done) = rewrite(body, &options).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
        let Report { outcome, changed, refused, unread, thinking_off } = done;
        let (outcome, thinking_off) = (outcome.to_number(), u32::from(thinking_off));
        if let Some(size) = size {
            let done = aside_history_report { size, changed, refused, unread, outcome, thinking_off };
            // SAFETY: the caller promises that it may be written as far as its size says.
            unsafe { fill_sized(report, size, done) };
        }
        Ok(out)
    };
    // SAFETY: the caller promises that the length is NULL or may be written.
    unsafe { return_text(out_len, rewrite) }
}

/// Finds the format of the requests to a path, with or without a query: the path ends in `/chat/completions`, `/responses` or
/// `/messages`. `path` has `len` bytes.
///
/// Returns `ASIDE_OK` and writes `ASIDE_FORMAT_CHAT`, `ASIDE_FORMAT_RESPONSES` or `ASIDE_FORMAT_MESSAGES` to `*format`. Returns
/// `ASIDE_NONE` for any other path; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_history_format(
    path: *const c_char,
    len: size_t,
    format: *mut aside_formats,
) -> aside_status {
    let find = || {
        // SAFETY: the caller promises the bytes that it names.
        let path = unsafe { bytes(path, len, "path") }?;
        if format.is_null() {
            return Err(fail_null("format"));
        }
        let Some(found) = Format::of_path(path) else { return Ok(ASIDE_NONE) };
        // SAFETY: it is not NULL, and the caller promises that it may be written.
        unsafe { format.write_unaligned(found as aside_formats) };
        Ok(ASIDE_OK)
    };
    guard(|status| status, || find().unwrap_or_else(|status| status))
}

/// Fills the caller's options with the options of a server.
///
/// # Safety
/// `options` is NULL or as large as its size says, and may be written.
unsafe fn fill(
    options: *mut aside_history_options,
    number: aside_formats,
    server: impl FnOnce() -> Result<Server, aside_status>,
) -> aside_status {
    let fill = || {
        // SAFETY: the caller meets this function's conditions.
        let size = unsafe { size_of_given(options, "options") }?;
        let format = format(number)?;
        let server = server()?;
        let Some(found) = server.options(format) else { return Ok(ASIDE_NONE) };
        let dialect = match &found.name {
            // A server file can name only built-in dialects.
            Name::Text(dialect) => find(dialect.name().as_bytes())?,
            _ => std::ptr::null(),
        };
        let filled = aside_history_options {
            size,
            dialect,
            max_body: 0,
            format: number,
            name: found.name.to_number(),
            turns: found.turns.to_number(),
            missing: found.missing.to_number(),
            made: found.made.to_number(),
            reserved: 0,
        };
        // SAFETY: the caller promises that it may be written as far as its size says.
        unsafe { fill_sized(options, size, filled) };
        Ok(ASIDE_OK)
    };
    guard(|status| status, || fill().unwrap_or_else(|status| status))
}

/// Fills `*options` for a built-in server and requests of a format. `name` has `len` bytes and needs no NUL. Set
/// `options->size` before the call.
///
/// Returns `ASIDE_OK`; `ASIDE_NONE` if requests of that format need no change, and `*options` is unchanged; `ASIDE_ERROR_UNKNOWN`
/// with a message that names the known servers; `ASIDE_ERROR_OPTION` for a format without a history; `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_PANIC`.
///
/// Memory: if it runs out, the process ends. A host calls this before it serves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_history_server_find(
    name: *const c_char,
    len: size_t,
    format: aside_formats,
    options: *mut aside_history_options,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, and options that may be written as far as their size says.
    unsafe {
        fill(options, format, || {
            let name = bytes(name, len, "name")?;
            Server::find(&String::from_utf8_lossy(name)).map_err(|error| fail_with(ASIDE_ERROR_UNKNOWN, error))
        })
    }
}

/// Fills `*options` from the text of a server file, for requests of a format. `toml` has `len` bytes and needs no NUL.
/// Set `options->size` before the call.
///
/// Returns the same as `aside_history_server_find()`, and `ASIDE_ERROR_DIALECT`, with a message that names the line and the
/// key, if the file has an error.
///
/// Memory: if it runs out, the process ends. A host calls this before it serves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_history_server_load(
    toml: *const c_char,
    len: size_t,
    format: aside_formats,
    options: *mut aside_history_options,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, and options that may be written as far as their size says.
    unsafe {
        fill(options, format, || {
            let text = file_text(bytes(toml, len, "toml")?, ASIDE_ERROR_DIALECT)?;
            Server::load(text).map_err(|error| fail_with(ASIDE_ERROR_DIALECT, error))
        })
    }
}

/// Returns the name of the built-in server number `index`, in sorted order, from 0: UTF-8 with a NUL at its end. `*len` becomes
/// its length without the NUL; `len` may be NULL.
///
/// The memory lives as long as the library. NULL past the last name, which is not a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_history_server_name_at(index: size_t, len: *mut size_t) -> *const c_char {
    match Server::c_name(index) {
        // SAFETY: `len` is NULL or may be written, as the caller promises.
        Some(name) => unsafe { c_name_of(name.to_bytes_with_nul(), len) },
        None => std::ptr::null(),
    }
}
