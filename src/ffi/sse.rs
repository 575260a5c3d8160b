//! Event streams for C. The doc comments of this file are comments of `aside.h`.

use std::ptr;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::gate::{Gate, is_ready, is_whole};
use super::memory::{bytes, free, hand_out, lend, read_sized};
use super::scanner::{failed, start, start_number, stray_close};
use super::status::{fail_no_handle, fail_null, fail_with, guard_handle};
use super::types::*;
use crate::Start;
use crate::sse::{Body, Field, Options, Rewriter};

const _: () = {
    assert!(Field::ReasoningContent as u32 == ASIDE_FIELD_REASONING_CONTENT);
    assert!(Field::Reasoning as u32 == ASIDE_FIELD_REASONING);
    assert!(Field::Thinking as u32 == ASIDE_FIELD_THINKING);
    assert!(Body::Unknown as u32 == ASIDE_BODY_UNKNOWN);
    assert!(Body::Events as u32 == ASIDE_BODY_EVENTS);
    assert!(Body::Json as u32 == ASIDE_BODY_JSON);
};

/// Room for output that a rewriter keeps from call to call; thousands of them may wait for their next bytes.
const KEPT_OUT: usize = 1 << 18;

/// What a rewriter's handle holds behind its state.
pub(super) struct Stream {
    rewriter: Rewriter,
    /// What the last call gave, for C to look into.
    out: Vec<u8>,
}

// A rewriter may go from thread to thread.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Rewriter>();
};

/// Runs `body` as the only call inside the rewriter, if `may` likes the state that it is in.
///
/// # Safety
/// `sse` is NULL or a rewriter that is still there.
unsafe fn enter(
    sse: *const aside_sse,
    may: impl FnOnce(i32) -> bool,
    body: impl FnOnce(&mut Stream) -> aside_status,
) -> aside_status {
    if sse.is_null() {
        return fail_no_handle("sse");
    }
    // SAFETY: it is there, and only calls that are admitted use the stream.
    unsafe { (*sse).gate.admit(may, body) }
}

/// Calls the rewriter with its empty output, and lends what that holds then.
///
/// # Safety
/// `sse` is NULL or there; the outputs are NULL or may be written.
unsafe fn rewrite(
    sse: *mut aside_sse,
    out: *mut *const c_char,
    out_len: *mut size_t,
    call: impl FnOnce(&mut Rewriter, &mut Vec<u8>) -> Result<(), crate::Error>,
) -> aside_status {
    if out.is_null() || out_len.is_null() {
        return fail_null("out or out_len");
    }
    let body = |stream: &mut Stream| {
        stream.out.clear();
        if stream.out.capacity() > KEPT_OUT {
            stream.out = Vec::new();
        }
        if let Err(error) = call(&mut stream.rewriter, &mut stream.out) {
            return failed(error);
        }
        // SAFETY: neither is NULL, and the caller promises that they may be written.
        unsafe {
            out.write_unaligned(lend(&stream.out));
            out_len.write_unaligned(stream.out.len());
        }
        ASIDE_OK
    };
    // SAFETY: the caller's promise.
    unsafe { enter(sse, is_ready, body) }
}

/// Calls the rewriter with where its next stream starts, an `ASIDE_START_` value.
///
/// # Safety
/// As of `enter`.
unsafe fn before_stream(
    sse: *mut aside_sse,
    start: u32,
    call: impl FnOnce(&mut Rewriter, Option<Start>) -> Result<(), crate::Error>,
) -> aside_status {
    let body = |stream: &mut Stream| match self::start(start) {
        Ok(start) => call(&mut stream.rewriter, start).map_or_else(failed, |()| ASIDE_OK),
        Err(status) => status,
    };
    // SAFETY: the caller's promise.
    unsafe { enter(sse, is_ready, body) }
}

/// The caller's options, whichever version of the struct they are.
///
/// # Safety
/// `options` is NULL or has as many bytes as its `size` says.
unsafe fn options(options: *const aside_sse_options) -> Result<Options, aside_status> {
    let mut all = aside_sse_options {
        size: 0,
        start: ASIDE_START_DEFAULT,
        field: 0,
        body: 0,
        off: 0,
        max_event: 0,
        stray_close: ASIDE_STRAY_CLOSE_DIALECT,
        reserved: 0,
    };
    if !options.is_null() {
        // SAFETY: the caller's promise; the struct is made of plain numbers.
        all = unsafe { read_sized(options, "options") }?;
    }
    let field = match all.field {
        ASIDE_FIELD_REASONING_CONTENT => Field::ReasoningContent,
        ASIDE_FIELD_REASONING => Field::Reasoning,
        ASIDE_FIELD_THINKING => Field::Thinking,
        other => {
            return Err(fail_with(ASIDE_ERROR_OPTION, format_args!("options.field {other} is no ASIDE_FIELD_ value")));
        }
    };
    let body = match all.body {
        ASIDE_BODY_UNKNOWN => Body::Unknown,
        ASIDE_BODY_EVENTS => Body::Events,
        ASIDE_BODY_JSON => Body::Json,
        other => {
            return Err(fail_with(ASIDE_ERROR_OPTION, format_args!("options.body {other} is no ASIDE_BODY_ value")));
        }
    };
    if all.off > 1 {
        return Err(fail_with(ASIDE_ERROR_OPTION, "options.off is neither 0 nor 1"));
    }
    if all.reserved != 0 {
        return Err(fail_with(ASIDE_ERROR_OPTION, "options.reserved is not 0"));
    }
    let stray_close = stray_close(all.stray_close)?;
    let max_event = (all.max_event > 0).then(|| usize::try_from(all.max_event).unwrap_or(usize::MAX));
    Ok(Options { start: start(all.start)?, field, body, max_event, off: all.off == 1, stray_close })
}

/// == Event streams ==
///
/// Makes a rewriter: the bytes of an OpenAI-style answer go in, an event stream or a JSON body, and the same bytes come
/// out with the thinking moved from `content` to a field of its own. `options` may be NULL: `reasoning_content`, and the
/// start that the dialect says. Neither is used after the call: the dialect may be freed before the rewriter.
///
/// Returns a rewriter that the caller owns: `aside_sse_free()`. NULL where that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have) or
/// `ASIDE_ERROR_MEMORY`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_new(
    dialect: *const aside_dialect,
    options: *const aside_sse_options,
) -> *mut aside_sse {
    guard_handle(|| {
        // SAFETY: NULL or a dialect that is still there, as the caller promises.
        let Some(dialect) = (unsafe { dialect.as_ref() }) else {
            fail_no_handle("dialect");
            return ptr::null_mut();
        };
        // SAFETY: NULL or as large as it says, as the caller promises.
        let Ok(options) = (unsafe { self::options(options) }) else {
            return ptr::null_mut();
        };
        let rewriter = match Rewriter::new(&dialect.dialect, &options) {
            Ok(rewriter) => rewriter,
            Err(error) => {
                failed(error);
                return ptr::null_mut();
            }
        };
        hand_out(aside_sse { gate: Gate::new(Stream { rewriter, out: Vec::new() }) })
    })
}

/// Frees a rewriter and what it lent. NULL is left alone. What it held back is lost: `aside_sse_finish()` first.
///
/// Threads: no other thread may be using this rewriter.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_free(sse: *mut aside_sse) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(sse, |sse| sse.gate.close()) }
}

/// Says where the next stream starts, before its first byte: what is open at the first byte of each choice's text, an
/// `ASIDE_START_` value. For a host that learns it from the request: one rewriter then serves a model with thinking on and
/// off. Finishing or resetting the rewriter goes back to its own start.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have),
/// `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` where the stream has begun (nothing has changed after these);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error).
///
/// Threads: one at a time for one rewriter.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_start_at(sse: *mut aside_sse, start: u32) -> aside_status {
    // SAFETY: the caller promises a rewriter that is NULL or there.
    unsafe { before_stream(sse, start, |rewriter, start| rewriter.start_at(start)) }
}

/// Reads the next stream by another dialect, and says where it starts, before its first byte: an `ASIDE_START_` value, where
/// `ASIDE_START_DEFAULT` is that dialect's own start. What `aside_dialect_find_for_template()` finds goes here. Finishing or
/// resetting the rewriter goes back to its own dialect and start. The dialect may be freed after the call.
///
/// Returns as `aside_sse_start_at()`.
///
/// Threads: one at a time for one rewriter; the dialect may be used by any threads meanwhile.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_use_dialect(
    sse: *mut aside_sse,
    dialect: *const aside_dialect,
    start: u32,
) -> aside_status {
    // SAFETY: NULL or a dialect that is still there, as the caller promises.
    let Some(dialect) = (unsafe { dialect.as_ref() }) else { return fail_null("dialect") };
    // SAFETY: the caller promises a rewriter that is NULL or there.
    unsafe { before_stream(sse, start, |rewriter, start| rewriter.use_dialect(&dialect.dialect, start)) }
}

/// Says where the next stream starts, before its first byte: the text of each choice goes on behind a rendered prompt that
/// ends in the `len` bytes of `tail`, read as by `aside_scanner_start_from_prompt()`. Finishing or resetting the rewriter goes
/// back to its own start; a `len` of 0 takes back what an earlier prompt said. `tail` is not used after the call; it must not
/// be memory that the rewriter lent.
///
/// `*start` becomes an `ASIDE_START_` value, what is open at the first byte of each choice's text; `start` may be NULL. It is
/// written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` where the stream has
/// begun (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error).
///
/// Threads: one at a time for one rewriter.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_start_from_prompt(
    sse: *mut aside_sse,
    tail: *const c_char,
    len: size_t,
    start: *mut u32,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes.
    let tail = match unsafe { bytes(tail, len, "tail") } {
        Ok(tail) => tail,
        Err(status) => return status,
    };
    let body = |stream: &mut Stream| match stream.rewriter.start_from_prompt(tail) {
        Ok(begins) => {
            if !start.is_null() {
                // SAFETY: not NULL, and the caller promises that it may be written.
                unsafe { start.write_unaligned(start_number(begins)) };
            }
            ASIDE_OK
        }
        Err(error) => failed(error),
    };
    // SAFETY: a rewriter that is NULL or there, as the caller promises.
    unsafe { enter(sse, is_ready, body) }
}

/// Takes the next `len` bytes, cut anywhere: one call for each read from the network. `*out` becomes `*out_len` bytes to
/// send on: all events that are whole, perhaps none. `buf` may be NULL where `len` is 0, and is not used after the call; it
/// must not be memory that the rewriter lent.
///
/// `*out` is never NULL and has no NUL at its end; it is memory of the rewriter, good until the next call with it. Both
/// are written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY` (nothing has changed after these);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error). What cannot be read passes as it came and is
/// no error.
///
/// Threads: one at a time for one rewriter. Memory: it grows with the largest event, up to a small multiple of
/// `options.max_event`, and by 1 MiB at most for chunks that one event becomes; by what is held back of each of at most 128
/// choices, up to twice `aside_dialect_max_hold()`; and `*out` is what came out, which may be 150 times what went in, where
/// each event has many choices and a long `id`.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_feed(
    sse: *mut aside_sse,
    buf: *const c_char,
    len: size_t,
    out: *mut *const c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a rewriter that is there, and outputs that may be written.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => rewrite(sse, out, out_len, |rewriter, out| rewriter.feed(chunk, out)),
            Err(status) => status,
        }
    }
}

/// Ends the stream. `*out` becomes what was held back: an event without the blank line behind it, text that might have
/// become a marker. The rewriter is then as new, but for what `aside_sse_too_long()` and `aside_sse_encoded()` say, and the
/// next feed begins a new stream.
///
/// Returns as `aside_sse_feed()`.
///
/// Threads: one at a time for one rewriter.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_finish(
    sse: *mut aside_sse,
    out: *mut *const c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises a rewriter that is there, and outputs that may be written.
    unsafe { rewrite(sse, out, out_len, |rewriter, out| rewriter.finish(out)) }
}

/// Drops everything, and makes the rewriter as new: what was held back, the count, and every error but
/// `ASIDE_ERROR_PANIC`. Memory that it lent is no longer good.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one rewriter.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_reset(sse: *mut aside_sse) -> aside_status {
    // SAFETY: the caller promises a rewriter that is NULL or there, and only calls that are admitted use the stream.
    unsafe {
        let Some(sse) = sse.as_ref() else { return fail_no_handle("sse") };
        sse.gate.renew(|stream| {
            stream.rewriter.reset();
            stream.out = Vec::new();
        })
    }
}

/// How many events and bodies passed unread since the start or the last reset, because they were longer than
/// `options.max_event`. 0 with a message for NULL, after `ASIDE_ERROR_PANIC`, and while a call is under way.
///
/// Threads: one at a time for one rewriter.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_too_long(sse: *const aside_sse) -> u64 {
    let mut count = 0;
    // SAFETY: NULL or there, as the caller promises.
    unsafe {
        enter(sse, is_whole, |stream| {
            count = stream.rewriter.too_long();
            ASIDE_OK
        })
    };
    count
}

/// Whether the stream passes unread because its first bytes are no text: it is compressed (gzip, zstd, zlib or Brotli), or in
/// another encoding than UTF-8. 1 or 0, of the stream that was finished last until another begins. Ask the server for
/// `Accept-Encoding: identity`, or decode the body before it is fed. 0 with a message for NULL, after `ASIDE_ERROR_PANIC`, and
/// while a call is under way.
///
/// Threads: one at a time for one rewriter.
#[ffi_export]
pub unsafe extern "C" fn aside_sse_encoded(sse: *const aside_sse) -> i32 {
    let mut is_encoded = false;
    // SAFETY: NULL or there, as the caller promises.
    unsafe {
        enter(sse, is_whole, |stream| {
            is_encoded = stream.rewriter.is_encoded();
            ASIDE_OK
        })
    };
    is_encoded.into()
}
