//! Tool results that are still being printed. C borrows the output of a call until the next one.

use std::ptr;
use std::sync::Arc;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::compressor::{aside_compressed, aside_compressor, write_compressed};
use super::types::*;
use super::{called, inside, is_inside};
use crate::compress::{Compressed, Compressor, Stream};
use crate::ffi::constants::*;
use crate::ffi::handle_guard::{HandleGuard, is_ready};
use crate::ffi::memory::{as_c_ptr, bytes, free, into_handle};
use crate::ffi::status::{fail, fail_no_handle, fail_null, fail_with, guard_handle, made_handle};

/// The output of one tool, compressed while it comes. From `aside_tool_stream_new()`; freed by
/// `aside_tool_stream_free()`.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_tool_stream {
    guard: HandleGuard<Streaming>,
}

/// A stream, until it is finished, and the output of its last call.
struct Streaming {
    compressor: Arc<Compressor>,
    stream: Option<Stream>,
    out: Vec<u8>,
}

/// Makes a stream for one tool's output, with `memory` bytes for it: at least four times the budget, and at least
/// 4,096. If the text fits into that, the result is that of one call, without a banner, and comes at the end. A longer
/// text without a budget is put out while it comes, without its repeats; with a budget it is put out at the end: head,
/// tail and error regions.
///
/// The stream holds at most 2.5 times `memory` between its calls, and the length of `*out`; inside a call 128 KiB and
/// usually 5 times `memory`, at most 26 times, if all lines are of one or two bytes.
///
/// Returns a stream that the caller owns: `aside_tool_stream_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_OPTION` (too little memory, an id that is not UTF-8, an input that is not JSON), `ASIDE_ERROR_BUSY`
/// inside a callback of the same compressor, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH` or
/// `ASIDE_ERROR_MEMORY`.
///
/// Threads: any thread may call this at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_new(
    compressor: *const aside_compressor,
    call: *const aside_invocation,
    memory: size_t,
) -> *mut aside_tool_stream {
    guard_handle(|| {
        // SAFETY: the caller promises a compressor that is NULL or there, and a struct as large as it says with texts
        // that are there.
        let (compressor, called) = unsafe {
            let Some(compressor) = compressor.as_ref() else {
                fail_no_handle("compressor");
                return ptr::null_mut();
            };
            if is_inside(&compressor.compressor) {
                fail(ASIDE_ERROR_BUSY);
                return ptr::null_mut();
            }
            let Ok(called) = called(call) else { return ptr::null_mut() };
            (compressor.compressor.clone(), called)
        };
        match Stream::new(compressor.clone(), called.tool_id, called.input, memory) {
            Ok(stream) => {
                let streaming = Streaming { compressor, stream: Some(stream), out: Vec::new() };
                into_handle(aside_tool_stream { guard: HandleGuard::new(streaming) })
            }
            Err(error) => {
                fail_with(ASIDE_ERROR_OPTION, error);
                ptr::null_mut()
            }
        }
    })
}

/// Frees a stream. Does nothing for NULL. Inside a callback of a filter that it has called nothing is freed
/// (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_free(stream: *mut aside_tool_stream) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(stream, |stream| stream.guard.close()) }
}

/// Runs `body` with a stream that is not finished, and points C to its output.
///
/// # Safety
/// `stream` is NULL or there; the outputs are NULL or may be written.
unsafe fn streaming(
    stream: *mut aside_tool_stream,
    out: *mut *const c_char,
    out_len: *mut size_t,
    body: impl FnOnce(&mut Option<Stream>, &mut Vec<u8>) -> aside_status,
) -> aside_status {
    if out.is_null() || out_len.is_null() {
        return fail_null("out or out_len");
    }
    // SAFETY: the caller's promise; only calls that have entered use the stream.
    unsafe {
        let Some(handle) = stream.as_ref() else { return fail_no_handle("stream") };
        handle.guard.enter(is_ready, |streaming| {
            let Streaming { compressor, stream, out: text } = streaming;
            if stream.is_none() {
                return fail_with(ASIDE_ERROR_ORDER, "the stream is finished");
            }
            inside(compressor, || {
                text.clear();
                let status = body(stream, text);
                if status == ASIDE_OK {
                    out.write_unaligned(as_c_ptr(text));
                    out_len.write_unaligned(text.len());
                }
                status
            })
        })
    }
}

/// Feeds the next `len` bytes of the output, cut anywhere. `*out` becomes what is decided, `*out_len` bytes, often
/// none: memory of the stream, valid until its next call. `buf` is not used after the call; it must not be memory of
/// the stream.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`,
/// `ASIDE_ERROR_PANIC`.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_feed(
    stream: *mut aside_tool_stream,
    buf: *const c_char,
    len: size_t,
    out: *mut *const c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a stream that is NULL or there, and outputs that may be written.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => streaming(stream, out, out_len, |stream, text| {
                if let Some(stream) = stream {
                    stream.feed(chunk, |bytes| text.extend_from_slice(bytes));
                }
                ASIDE_OK
            }),
            Err(status) => status,
        }
    }
}

/// Sets the exit code of the command, which is known when the command has ended: after the last byte, before
/// `aside_tool_stream_finish()`. Until then, a command without one counts as failed.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_set_exit_code(stream: *mut aside_tool_stream, code: i64) -> aside_status {
    // SAFETY: the caller promises a stream that is NULL or there; only calls that have entered use it.
    unsafe {
        let Some(handle) = stream.as_ref() else { return fail_no_handle("stream") };
        handle.guard.enter(is_ready, |streaming| match &mut streaming.stream {
            None => fail_with(ASIDE_ERROR_ORDER, "the stream is finished"),
            Some(stream) => {
                stream.set_exit_code(code);
                ASIDE_OK
            }
        })
    }
}

/// Ends the output. `*out` becomes the rest of the result, as for `aside_tool_stream_feed()`. `*report` becomes what
/// was done, without parts of its own: `aside_compressed_report()`, `aside_compressed_slice()`,
/// `aside_compressed_free()`; `report` may be NULL. The stream takes no more text after that.
///
/// Returns as `aside_tool_stream_feed()`, or `ASIDE_ERROR_MEMORY` if the report could not be allocated: then nothing is
/// written.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_finish(
    stream: *mut aside_tool_stream,
    out: *mut *const c_char,
    out_len: *mut size_t,
    report: *mut *mut aside_compressed,
) -> aside_status {
    // SAFETY: the caller promises a stream that is NULL or there, and outputs that may be written.
    let status = unsafe {
        streaming(stream, out, out_len, |stream, text| {
            let Some(stream) = stream.take() else { return ASIDE_OK };
            let said = stream.finish(|bytes| text.extend_from_slice(bytes));
            if report.is_null() {
                return ASIDE_OK;
            }
            write_compressed(Compressed { parts: Vec::new(), report: said }, report)
        })
    };
    if !report.is_null() {
        made_handle(status == ASIDE_OK);
    }
    status
}
