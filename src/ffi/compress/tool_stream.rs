//! Streams of tool results for C: the handle and its functions. C borrows the output of a function until the next function of the
//! same handle is called.

use std::ptr;
use std::sync::Arc;

use libc::{c_char, size_t};

use super::compressor::{aside_compressed, aside_compressor};
use super::types::*;
use super::{inside, invoked, is_inside};
use crate::compress::{Compressed, Compressor, Report, ToolStream};
use crate::ffi::bytes::aside_bytes;
use crate::ffi::constants::*;
use crate::ffi::handle_guard::{HandleGuard, is_ready};
use crate::ffi::memory::{bytes, free, into_handle};
use crate::ffi::status::{fail, fail_no_handle, fail_null, fail_with, guard_handle};

/// The output of one tool, compressed while it arrives. From `aside_tool_stream_new()`; freed by `aside_tool_stream_free()`.
pub struct aside_tool_stream {
    guard: HandleGuard<StreamState>,
}

/// The contents of a stream's handle.
struct StreamState {
    compressor: Arc<Compressor>,
    /// None once the stream is finished.
    stream: Option<ToolStream>,
    /// The report, from the end of the stream until C takes it.
    report: Option<Report>,
    /// The output of the last call, which C borrows.
    out: Vec<u8>,
}

/// Makes a stream for the output of one run of a tool, with `memory` bytes for it: at least four times the budget, and at least
/// 4,096. If the text fits into `memory`, the result is that of one call, without a banner, and is returned at the end. A longer
/// text without a budget is returned while it arrives, without its repeats; with a budget, its head, tail and error regions are
/// returned at the end.
///
/// Between calls, the stream holds its last output and at most 2.5 times `memory`. Inside a call, it needs 128 KiB plus usually 5
/// times `memory`; at most 26 times, if all lines have one or two bytes.
///
/// Returns a stream that the caller owns: `aside_tool_stream_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_OPTION` (too little memory, an id that is not UTF-8, an input that is not JSON), `ASIDE_ERROR_BUSY`
/// inside a callback of the same compressor, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH` or
/// `ASIDE_ERROR_MEMORY`.
///
/// Threads: any thread may call this at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_tool_stream_new(
    compressor: *const aside_compressor,
    invocation: *const aside_invocation,
    memory: size_t,
) -> *mut aside_tool_stream {
    guard_handle(|| {
        // SAFETY: the caller promises a compressor that is NULL or valid, and a struct as large as it says with texts
        // that are valid.
        let (compressor, invoked) = unsafe {
            let Some(compressor) = compressor.as_ref() else {
                fail_no_handle("compressor");
                return ptr::null_mut();
            };
            if is_inside(&compressor.compressor) {
                fail(ASIDE_ERROR_BUSY);
                return ptr::null_mut();
            }
            let Ok(invoked) = invoked(invocation) else { return ptr::null_mut() };
            (compressor.compressor.clone(), invoked)
        };
        match ToolStream::new(compressor.clone(), invoked.tool_id, invoked.input, memory) {
            Ok(stream) => {
                let stream = Some(stream.now(invoked.now));
                let streaming = StreamState { compressor, stream, report: None, out: Vec::new() };
                into_handle(aside_tool_stream { guard: HandleGuard::new(streaming) })
            }
            Err(error) => {
                fail_with(ASIDE_ERROR_OPTION, error);
                ptr::null_mut()
            }
        }
    })
}

/// Frees a stream. Does nothing for NULL. Inside a callback of one of its filters, nothing is freed (`aside_last_status()` is then
/// `ASIDE_ERROR_BUSY`).
///
/// Threads: no other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_tool_stream_free(stream: *mut aside_tool_stream) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(stream, |stream| stream.guard.close()) }
}

/// Runs `body` with a stream that is not finished. The output that C gets is valid until the next call with the stream.
///
/// # Safety
/// `stream` is NULL or valid; `out` is NULL or may be written.
unsafe fn streaming(
    stream: *mut aside_tool_stream,
    out: *mut aside_bytes,
    body: impl FnOnce(&mut Option<ToolStream>, &mut Option<Report>, &mut Vec<u8>),
) -> aside_status {
    if out.is_null() {
        return fail_null("out");
    }
    // SAFETY: the caller's promise; only calls inside the guard use the stream.
    unsafe {
        let Some(handle) = stream.as_ref() else { return fail_no_handle("stream") };
        handle.guard.enter(is_ready, |streaming| {
            let StreamState { compressor, stream, report, out: text } = streaming;
            if stream.is_none() {
                return fail_with(ASIDE_ERROR_ORDER, "the stream is finished");
            }
            inside(compressor, || {
                text.clear();
                body(stream, report, text);
                out.write_unaligned(aside_bytes::lend(text));
                ASIDE_OK
            })
        })
    }
}

/// Feeds the next `len` bytes of the output, cut anywhere. `*out` becomes the text that is decided, which is often empty. It is
/// memory of the stream, valid until its next call. It is written on success only. `buf` is not used after the call; it must not be
/// memory of the stream.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`,
/// `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_tool_stream_feed(
    stream: *mut aside_tool_stream,
    buf: *const c_char,
    len: size_t,
    out: *mut aside_bytes,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a stream that is NULL or valid, and an output that may be written.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => streaming(stream, out, |stream, _, text| {
                if let Some(stream) = stream {
                    stream.feed(chunk, |bytes| text.extend_from_slice(bytes));
                }
            }),
            Err(status) => status,
        }
    }
}

/// Sets the exit code of the command, which is known when the command has ended: after the last byte, before
/// `aside_tool_stream_finish()`. Until then, a command without an exit code counts as failed.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_tool_stream_set_exit_code(stream: *mut aside_tool_stream, code: i64) -> aside_status {
    // SAFETY: the caller promises a stream that is NULL or valid; only calls inside the guard use it.
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

/// Ends the output. `*out` becomes the rest of the result, as for `aside_tool_stream_feed()`. The stream accepts no more text after
/// that; `aside_tool_stream_report()` returns the report.
///
/// Returns the same as `aside_tool_stream_feed()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_tool_stream_finish(
    stream: *mut aside_tool_stream,
    out: *mut aside_bytes,
) -> aside_status {
    // SAFETY: the caller promises a stream that is NULL or valid, and an output that may be written.
    unsafe {
        streaming(stream, out, |stream, report, text| {
            *report = stream.take().map(|stream| stream.finish(|bytes| text.extend_from_slice(bytes)));
        })
    }
}

/// Returns the report of a stream that is finished. Call this at most once for a stream.
///
/// Returns the report, without parts, which the caller owns: `aside_compressed_report()`, `aside_compressed_free()`. It
/// may be freed after the stream. NULL if that fails; `aside_last_status()` is then `ASIDE_ERROR_ORDER` before the end of the
/// output, and if the report was already taken; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY` or
/// `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_tool_stream_report(stream: *mut aside_tool_stream) -> *mut aside_compressed {
    guard_handle(|| {
        let mut made = ptr::null_mut();
        // SAFETY: the caller promises a stream that is NULL or valid; only calls inside the guard use it.
        unsafe {
            let Some(handle) = stream.as_ref() else {
                fail_no_handle("stream");
                return made;
            };
            handle.guard.enter(is_ready, |streaming| match streaming.report.take() {
                Some(report) => {
                    made = into_handle(aside_compressed::new(Compressed { parts: Vec::new(), report }));
                    if made.is_null() { ASIDE_ERROR_MEMORY } else { ASIDE_OK }
                }
                None if streaming.stream.is_some() => fail_with(ASIDE_ERROR_ORDER, "the stream is not finished"),
                None => fail_with(ASIDE_ERROR_ORDER, "the report was taken before"),
            });
        }
        made
    })
}
