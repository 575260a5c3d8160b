//! Whole tool results: the compressor, and a result with its report. A result never changes, so that C may borrow all of it.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::registry::aside_registry;
use super::types::*;
use super::{array, called, inside, is_inside, text, texts};
use crate::compress::{
    Call, Compressed, Compressor, MIN_BUDGET, Outcome, Part, SliceError, format_banner, is_protected,
};
use crate::ffi::bytes::{aside_bytes, return_text};
use crate::ffi::constants::*;
use crate::ffi::handle_guard::{is_ready, refuse};
use crate::ffi::memory::{as_c_array, as_c_ptr, bytes, fill_sized, free, read_sized, size_of_given, try_box};
use crate::ffi::status::{fail, fail_no_handle, fail_null, fail_with, guard, guard_handle, made_handle};

/// Makes tool results shorter. It never changes, except for its caches. From `aside_compressor_new()`; freed by
/// `aside_compressor_free()`.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_compressor {
    pub(super) compressor: Arc<Compressor>,
}

/// What came out of one call, and its report. It never changes. From `aside_compress()` or
/// `aside_tool_stream_finish()`; freed by `aside_compressed_free()`.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_compressed {
    compressed: Compressed,
    borrowed: Borrowed,
}

/// What C borrows from a report.
struct Borrowed {
    filters: Vec<aside_bytes>,
    failed: Vec<aside_failed>,
    parts: Vec<aside_part_report>,
    /// Where the parts' stretches are.
    _stretches: Vec<Vec<aside_stretch>>,
}

/// Makes a compressor of a registry, which it consumes: `registry` must not be used after that, nor freed. `options`
/// may be NULL: no budget, and no limit to a text.
///
/// Returns a compressor that the caller owns: `aside_compressor_free()`. NULL if that fails, and the registry is still
/// the caller's; `aside_last_status()` is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`,
/// `ASIDE_ERROR_BUSY` or `ASIDE_ERROR_OPTION` (a budget that is too small, or a sentence that is not UTF-8).
///
/// Threads: no other thread may be using the registry.
#[ffi_export]
pub unsafe extern "C" fn aside_compressor_new(
    registry: *mut aside_registry,
    options: *const aside_compressor_options,
) -> *mut aside_compressor {
    guard_handle(|| {
        if registry.is_null() {
            fail_no_handle("registry");
            return ptr::null_mut();
        }
        let mut budget = 0;
        let mut memory = 0;
        let mut switch_off = "";
        // SAFETY: the caller promises a struct as large as it says, and texts that are there.
        unsafe {
            if !options.is_null() {
                let Ok(options) = read_sized(options, "options") else {
                    return ptr::null_mut();
                };
                budget = usize::try_from(options.budget).unwrap_or(usize::MAX);
                memory = usize::try_from(options.memory).unwrap_or(usize::MAX);
                let Ok(sentence) = text(options.switch_off, "options.switch_off") else { return ptr::null_mut() };
                switch_off = sentence;
            }
            if budget != 0 && budget < MIN_BUDGET {
                fail_with(ASIDE_ERROR_OPTION, format_args!("options.budget is below {MIN_BUDGET}"));
                return ptr::null_mut();
            }
            let state = (*registry).guard.state.load(Relaxed);
            if !is_ready(state) {
                refuse(state);
                return ptr::null_mut();
            }
        }
        // SAFETY: it came from a Box, no call is inside, and the caller promises that this is its last use.
        let registry = unsafe { Box::from_raw(registry) }.guard.inner.into_inner();
        let mut compressor = Compressor::new(registry);
        if budget > 0 {
            compressor = compressor.budget(budget).expect("it is large enough");
        }
        if memory > 0 {
            compressor = compressor.memory(memory);
        }
        if !switch_off.is_empty() {
            compressor = compressor.switch_off(switch_off);
        }
        Box::into_raw(Box::new(aside_compressor { compressor: Arc::new(compressor) }))
    })
}

/// Frees a compressor. Does nothing for NULL. Streams that were made from it go on.
///
/// Inside a callback of its filters and caches nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_compressor_free(compressor: *mut aside_compressor) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(compressor, |compressor| is_inside(&compressor.compressor)) }
}

/// Compresses the parts of one tool's result: `count` texts, in order. A part whose `at` is NULL is not text, and is
/// skipped. Neither `*call` nor the parts are used after the call.
///
/// `*out` becomes the outcome of each part, and a report, which the caller owns: `aside_compressed_free()`. It is
/// written on success only. Failures of filters and caches are in the report and do not fail the call.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for an id that is not UTF-8 or an input that is not JSON;
/// `ASIDE_ERROR_BUSY` inside a callback of the same compressor; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
#[ffi_export]
pub unsafe extern "C" fn aside_compress(
    compressor: *const aside_compressor,
    call: *const aside_invocation,
    parts: *const aside_bytes,
    count: size_t,
    out: *mut *mut aside_compressed,
) -> aside_status {
    let status = guard(
        |status| status,
        || {
            // SAFETY: the caller promises a compressor that is NULL or there, a struct as large as it says, and texts
            // that are there.
            unsafe {
                let Some(compressor) = compressor.as_ref() else { return fail_no_handle("compressor") };
                if out.is_null() {
                    return fail_null("out");
                }
                let called = match called(call) {
                    Ok(called) => called,
                    Err(status) => return status,
                };
                let part = |part: aside_bytes| match part.at.is_null() {
                    true if part.len == 0 => Ok(Part::Other),
                    _ => bytes(part.at, part.len, "a part").map(Part::Text),
                };
                let parts: Vec<Part<'_>> =
                    match array(parts, count, "parts").and_then(|parts| parts.map(part).collect()) {
                        Ok(parts) => parts,
                        Err(status) => return status,
                    };
                inside(&compressor.compressor, || {
                    let call = Call::new(called.tool_id, &called.input).now(called.now);
                    let compressed = compressor.compressor.compress(&call, &parts);
                    write_compressed(compressed, out)
                })
            }
        },
    );
    made_handle(status == ASIDE_OK);
    status
}

impl aside_compressed {
    fn new(compressed: Compressed) -> aside_compressed {
        let report = &compressed.report;
        let stretches: Vec<Vec<aside_stretch>> = report
            .parts
            .iter()
            .map(|part| {
                let stretch = |stretch: &crate::compress::Stretch| aside_stretch {
                    start: stretch.range.start as u64,
                    len: stretch.range.len() as u64,
                    hash: stretch.hash,
                    change: stretch.change.to_number(),
                    filter: stretch.filter.map_or(ASIDE_NO_FILTER, |filter| filter as i32),
                };
                part.stretches.iter().map(stretch).collect()
            })
            .collect();
        let part = |(part, stretches): (&crate::compress::PartReport, &Vec<aside_stretch>)| aside_part_report {
            part: part.part,
            len: part.length as u64,
            hash: part.hash,
            stretches: as_c_array(stretches),
            stretch_count: stretches.len(),
        };
        let failed = |failed: &crate::compress::Failed| aside_failed {
            id: aside_bytes::lend(failed.filter.as_bytes()),
            reason: aside_bytes::lend(failed.reason.as_bytes()),
        };
        let borrowed = Borrowed {
            filters: report.filters.iter().map(|id| aside_bytes::lend(id.as_bytes())).collect(),
            failed: report.failed.iter().map(failed).collect(),
            parts: report.parts.iter().zip(&stretches).map(part).collect(),
            _stretches: stretches,
        };
        aside_compressed { compressed, borrowed }
    }
}

/// Boxes a result for C.
///
/// # Safety
/// `out` may be written.
pub(super) unsafe fn write_compressed(compressed: Compressed, out: *mut *mut aside_compressed) -> aside_status {
    let Some(compressed) = try_box(aside_compressed::new(compressed)) else { return fail(ASIDE_ERROR_MEMORY) };
    // SAFETY: the caller's promise.
    unsafe { out.write_unaligned(Box::into_raw(compressed)) };
    ASIDE_OK
}

/// Shows what becomes of the part number `index`. `*text` and `*len` are written if it changes: memory of
/// `compressed`, valid as long as that is, without a NUL at its end. A length of 0 means that the part is removed,
/// because another one says the same.
///
/// Returns `ASIDE_OK` if the part changes; `ASIDE_NONE` if it stays as it is; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE`.
#[ffi_export]
pub unsafe extern "C" fn aside_compressed_part(
    compressed: *const aside_compressed,
    index: size_t,
    text: *mut *const c_char,
    len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises that it is NULL or there.
    let Some(compressed) = (unsafe { compressed.as_ref() }) else { return fail_no_handle("compressed") };
    if text.is_null() || len.is_null() {
        return fail_null("text or len");
    }
    let result: &[u8] = match compressed.compressed.parts.get(index) {
        None => return fail(ASIDE_ERROR_RANGE),
        Some(Outcome::Same) => return ASIDE_NONE,
        Some(Outcome::Text(result)) => result,
        Some(Outcome::Gone) => &[],
    };
    // SAFETY: neither is NULL, and the caller promises that they may be written.
    unsafe {
        text.write_unaligned(as_c_ptr(result));
        len.write_unaligned(result.len());
    }
    ASIDE_OK
}

/// Fills `*report` with what was done. Set `report->size` before.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_PANIC`.
#[ffi_export]
pub unsafe extern "C" fn aside_compressed_report(
    compressed: *const aside_compressed,
    report: *mut aside_report,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises that it is NULL or there.
            let Some(aside_compressed { compressed, borrowed }) = (unsafe { compressed.as_ref() }) else {
                return fail_no_handle("compressed");
            };
            // SAFETY: every version begins with its size, and the caller promises that many bytes.
            let size = match unsafe { size_of_given(report, "report") } {
                Ok(size) => size,
                Err(status) => return status,
            };
            let filled = aside_report {
                size,
                before: compressed.report.before as u64,
                after: compressed.report.after as u64,
                filters: as_c_array(&borrowed.filters),
                filter_count: borrowed.filters.len(),
                failed: as_c_array(&borrowed.failed),
                failed_count: borrowed.failed.len(),
                parts: as_c_array(&borrowed.parts),
                part_count: borrowed.parts.len(),
                hit: aside_bytes::lend(compressed.report.hit.as_deref().unwrap_or_default().as_bytes()),
                cut_protected: compressed.report.cut_protected.into(),
                unexplained: compressed.report.unexplained.into(),
            };
            // SAFETY: it is as large as its size says.
            unsafe { fill_sized(report, size, filled) };
            ASIDE_OK
        },
    )
}

/// Finds `len` bytes at `start` of a part's original, to show what was left out. `original` is the text of
/// the part number `part` as it came in: `original_len` bytes. `*out` becomes a pointer into it.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORIGINAL` if this is another text, or no filter changed that part;
/// `ASIDE_ERROR_RANGE`, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`.
#[ffi_export]
pub unsafe extern "C" fn aside_compressed_slice(
    compressed: *const aside_compressed,
    part: size_t,
    original: *const c_char,
    original_len: size_t,
    start: u64,
    len: u64,
    out: *mut *const c_char,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises that it is NULL or there, and the original's bytes.
            let (compressed, original) = unsafe {
                match (compressed.as_ref(), bytes(original, original_len, "original")) {
                    (None, _) => return fail_no_handle("compressed"),
                    (_, Err(status)) => return status,
                    (Some(compressed), Ok(original)) => (compressed, original),
                }
            };
            if out.is_null() {
                return fail_null("out");
            }
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            let range = place(start)..place(start.saturating_add(len));
            match compressed.compressed.report.slice(part, original, range) {
                Ok(slice) => {
                    // SAFETY: not NULL, and the caller promises that it may be written.
                    unsafe { out.write_unaligned(as_c_ptr(slice)) };
                    ASIDE_OK
                }
                Err(SliceError::OtherOriginal) => fail(ASIDE_ERROR_ORIGINAL),
                Err(SliceError::OutOfRange) => fail_with(ASIDE_ERROR_RANGE, SliceError::OutOfRange),
            }
        },
    )
}

/// Frees what came out of a call, and all memory that C has borrowed from it. Does nothing for NULL.
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_compressed_free(compressed: *mut aside_compressed) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(compressed, |_| false) }
}

/// Returns whether a text is of a machine format and so passes unchanged: 1 or 0; a status below 0 if `text` cannot be
/// read.
#[ffi_export]
pub unsafe extern "C" fn aside_is_protected(text: *const c_char, len: size_t) -> i32 {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises `len` bytes.
            match unsafe { bytes(text, len, "text") } {
                Ok(text) => is_protected(text).into(),
                Err(status) => status,
            }
        },
    )
}

/// Returns the first line of a compressed text, without a line end: by which filters, from how many UTF-16 code units to
/// how many.
///
/// The text has `*out_len` bytes and a NUL after them; the caller owns it: `aside_free()`. NULL if that fails;
/// `aside_last_status()` is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` (an id that is not
/// UTF-8), `ASIDE_ERROR_MEMORY` or `ASIDE_ERROR_PANIC`. `*out_len` is written on success only.
#[ffi_export]
pub unsafe extern "C" fn aside_format_banner(
    filter_ids: *const aside_bytes,
    count: size_t,
    before: u64,
    after: u64,
    out_len: *mut size_t,
) -> *mut c_char {
    // SAFETY: the caller promises ids that are there, and a length that may be written.
    unsafe {
        return_text(out_len, || {
            let ids = texts(filter_ids, count, "filter_ids")?;
            let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            Ok(format_banner(&ids, number(before), number(after)).into_bytes())
        })
    }
}
