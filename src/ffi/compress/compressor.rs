//! Whole tool results: the compressor, and a result with its report. A result never changes, so C may borrow all of it.

use std::ptr;
use std::sync::Arc;

use libc::{c_char, c_void, size_t};

use super::host::{HostCount, Owner, aside_count_fn, aside_release_fn};
use super::registry::aside_registry;
use super::types::*;
use super::{array, fill, inside, invoked, is_inside, text};
use crate::compress::{Compressed, Compressor, Invocation, MIN_BUDGET, MIN_BUDGET_TOKENS, Outcome, Part, SliceError};
use crate::ffi::bytes::aside_bytes;
use crate::ffi::constants::*;
use crate::ffi::handle_guard::is_ready;
use crate::ffi::memory::{Versioned, as_c_array, bytes, free, into_handle, layout, read_sized};
use crate::ffi::status::{fail, fail_no_handle, fail_null, fail_with, guard, guard_handle};

/// Makes tool results shorter. It never changes, except for its caches. From `aside_compressor_new()`; freed by
/// `aside_compressor_free()`.
pub struct aside_compressor {
    pub(super) compressor: Arc<Compressor>,
}

/// Options of a compressor. Set all of it to zero, then `size`; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_compressor_options {
    /// `sizeof(aside_compressor_options)` of the caller's header.
    pub size: size_t,
    /// The largest number of bytes that the text parts of a result may have together, banners and markers included; at
    /// least 1,024. 0: no budget. Text that is never changed stays whole in any
    /// case, and every other text part may have 1,024 bytes: 100 parts may have 100 KiB together, however small the budget is. The
    /// built-in filter `budget` enforces the budget; without that filter, only a stream that outgrows its memory does.
    pub budget: u64,
    /// The banner's last sentence, UTF-8, which says how a user of this host switches compression off. If empty: a general
    /// sentence.
    pub switch_off: aside_bytes,
    /// The longest text, in bytes, that is processed as a whole. A longer text is read window by window, as in a stream with that
    /// much memory: its repeats are removed, or, under a budget, everything except its head, its tail and its error regions;
    /// filters for a tool do not read it, and the report has no stretches of it. A value below 4,096, or below four times the
    /// budget, is raised to that. 0: a text of any length is worked on as a whole, which needs several times its length in
    /// memory.
    pub memory: u64,
    /// The largest number of tokens that the text parts of a result may have together, at least 512, estimated from the shape of
    /// the text; for nine of ten texts, the estimate is within 15 %. It also sets a budget of 6 bytes for each token. If `budget`
    /// is set too, both apply. 0: no budget in tokens.
    pub budget_tokens: u64,
    /// Counts tokens in place of the estimate, which still chooses the lines that are kept. It is called at most 8 times for one
    /// result, with all its text parts as one text. If it fails, the estimate is used; if no result has few enough tokens, the
    /// result with the fewest is returned. In both cases the report has a failure of `count`. May be NULL.
    pub count: aside_count_fn,
    /// Called once if `count` is set, when `user` is no longer needed, unless `aside_compressor_new()` failed. May be NULL.
    pub release: aside_release_fn,
    /// Passed to `count` and `release`.
    pub user: *mut c_void,
}

impl Versioned for aside_compressor_options {
    const FIRST: usize = size_of::<size_t>();
}

// No layout ever changes; C checks the same in tests/c/layout.c.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_compressor_options 72: size 0, budget 8, switch_off 16, memory 32, budget_tokens 40, count 48,
        release 56, user 64);
    assert!(aside_compressor_options::FIRST == 8);
};

/// The result of one call or stream, and its report. It is immutable. From `aside_compress()` or
/// `aside_tool_stream_report()`; freed by `aside_compressed_free()`.
pub struct aside_compressed {
    compressed: Compressed,
    /// The ids of the report's filters, in the form that C borrows.
    filters: Vec<aside_bytes>,
}

impl aside_compressed {
    pub(super) fn new(compressed: Compressed) -> aside_compressed {
        let filters = compressed.report.filters.iter().map(|id| aside_bytes::lend(id.as_bytes())).collect();
        aside_compressed { compressed, filters }
    }
}

/// Makes a compressor with the filters and caches that a registry has now. The caller still owns the registry: it may be freed at
/// once, or be changed and used for further compressors. All these compressors share its caches and the host's callbacks; `release`
/// is called when the registry, the compressors and their streams are all freed. `options` may be NULL: no budget, and no limit to
/// a text.
///
/// Returns a compressor that the caller owns: `aside_compressor_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_OPTION` (a budget that
/// is too small, or a sentence that is not UTF-8) or `ASIDE_ERROR_MEMORY`.
///
/// Threads: no other thread may be using the registry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressor_new(
    registry: *const aside_registry,
    options: *const aside_compressor_options,
) -> *mut aside_compressor {
    guard_handle(|| {
        // SAFETY: the caller promises a registry that is NULL or valid, a struct as large as its size says, and valid texts.
        let made = unsafe { new_compressor(registry, options) };
        let handle = |compressor| into_handle(aside_compressor { compressor: Arc::new(compressor) });
        made.map_or(ptr::null_mut(), handle)
    })
}

/// # Safety
/// The registry is NULL or valid; `options` is NULL or as large as it says, with a valid text.
unsafe fn new_compressor(
    registry: *const aside_registry,
    options: *const aside_compressor_options,
) -> Result<Compressor, aside_status> {
    let (mut budget, mut budget_tokens, mut memory, mut switch_off, mut count) = (0, 0, 0, "", None);
    // SAFETY: the caller's promise; only calls that have entered use the registry.
    unsafe {
        let Some(registry) = registry.as_ref() else { return Err(fail_no_handle("registry")) };
        if !options.is_null() {
            let options = read_sized(options, "options")?;
            count = options.count.map(|count| (count, options.user, options.release));
            let number = |option| usize::try_from(option).unwrap_or(usize::MAX);
            (budget, budget_tokens) = (number(options.budget), number(options.budget_tokens));
            memory = number(options.memory);
            switch_off = text(options.switch_off, "options.switch_off")?;
        }
        if budget != 0 && budget < MIN_BUDGET {
            return Err(fail_with(ASIDE_ERROR_OPTION, format_args!("options.budget is below {MIN_BUDGET}")));
        }
        if budget_tokens != 0 && budget_tokens < MIN_BUDGET_TOKENS {
            let message = format_args!("options.budget_tokens is below {MIN_BUDGET_TOKENS}");
            return Err(fail_with(ASIDE_ERROR_OPTION, message));
        }
        let mut made = None;
        let status = registry.guard.enter(is_ready, |registry| {
            made = Some(Compressor::new(registry));
            ASIDE_OK
        });
        let mut compressor = made.ok_or(status)?;
        if budget > 0 {
            compressor = compressor.budget(budget).expect("it is large enough");
        }
        if budget_tokens > 0 {
            compressor = compressor.budget_tokens(budget_tokens).expect("it is large enough");
        }
        if let Some((count, user, release)) = count {
            let host = HostCount { count, owner: Owner { user, release } };
            compressor = compressor.count_tokens(move |text| host.count(text));
        }
        if memory > 0 {
            compressor = compressor.memory(memory);
        }
        if !switch_off.is_empty() {
            compressor = compressor.switch_off(switch_off);
        }
        Ok(compressor)
    }
}

/// Frees a compressor. Does nothing for NULL. Streams that were made from it remain usable.
///
/// Inside a callback of its filters and caches, nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
///
/// Threads: no other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressor_free(compressor: *mut aside_compressor) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(compressor, |compressor| is_inside(&compressor.compressor)) }
}

/// Compresses the parts of one tool's result: `count` texts, in order. A part whose `at` is NULL is not text, and is
/// skipped. Neither `*invocation` nor the parts are used after the call.
///
/// Returns the outcome of each part and a report, which the caller owns: `aside_compressed_free()`. Failures of filters
/// and caches are in the report and do not fail the call. NULL if the call fails; `aside_last_status()` is then
/// `ASIDE_ERROR_OPTION` for an id that is not UTF-8 or an input that is not JSON; `ASIDE_ERROR_BUSY` inside a callback of
/// the same compressor; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_MEMORY` or
/// `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compress(
    compressor: *const aside_compressor,
    invocation: *const aside_invocation,
    parts: *const aside_bytes,
    count: size_t,
) -> *mut aside_compressed {
    guard_handle(|| {
        // SAFETY: the caller promises a compressor that is NULL or valid, a struct as large as its size says, and valid texts.
        unsafe {
            let Some(compressor) = compressor.as_ref() else {
                fail_no_handle("compressor");
                return ptr::null_mut();
            };
            let Ok(invoked) = invoked(invocation) else { return ptr::null_mut() };
            let part = |part: aside_bytes| match part.at.is_null() {
                true if part.len == 0 => Ok(Part::Other),
                _ => bytes(part.at, part.len, "a part").map(Part::Text),
            };
            let parts = array(parts, count, "parts").and_then(|parts| parts.map(part).collect::<Result<Vec<_>, _>>());
            let Ok(parts) = parts else { return ptr::null_mut() };
            let mut made = ptr::null_mut();
            inside(&compressor.compressor, || {
                let invocation = Invocation::new(invoked.tool_id, &invoked.input).now(invoked.now);
                made = into_handle(aside_compressed::new(compressor.compressor.compress(&invocation, &parts)));
                ASIDE_OK
            });
            made
        }
    })
}

/// Returns the new text of the part number `index`. `*text` is written if the part changes; it points to memory of `compressed` and
/// is valid as long as `compressed`. An empty text removes the part, because another part has the same text.
///
/// Returns `ASIDE_OK` if the part changes; `ASIDE_NONE` if it stays unchanged; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressed_part(
    compressed: *const aside_compressed,
    index: size_t,
    text: *mut aside_bytes,
) -> aside_status {
    // SAFETY: the caller promises that it is NULL or valid.
    let Some(handle) = (unsafe { compressed.as_ref() }) else { return fail_no_handle("compressed") };
    if text.is_null() {
        return fail_null("text");
    }
    let result: &[u8] = match handle.compressed.parts.get(index) {
        None => return fail(ASIDE_ERROR_RANGE),
        Some(Outcome::Same) => return ASIDE_NONE,
        Some(Outcome::Text(result)) => result,
        Some(Outcome::Gone) => &[],
    };
    // SAFETY: it is not NULL, and the caller promises that it may be written.
    unsafe { text.write_unaligned(aside_bytes::lend(result)) };
    ASIDE_OK
}

/// Fills `*report`. Set `report->size` before the call.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressed_report(
    compressed: *const aside_compressed,
    report: *mut aside_report,
) -> aside_status {
    // SAFETY: the caller promises a handle that is NULL or valid, and a struct as large as it says.
    unsafe {
        let Some(handle) = compressed.as_ref() else { return fail_no_handle("compressed") };
        let done = &handle.compressed.report;
        fill(report, "report", |size| {
            Ok(aside_report {
                size,
                before: done.before as u64,
                after: done.after as u64,
                before_units: done.before_units as u64,
                after_units: done.after_units as u64,
                filters: as_c_array(&handle.filters),
                filter_count: handle.filters.len(),
                failed_count: done.failed.len(),
                part_count: done.parts.len(),
                hit: aside_bytes::lend(done.hit.as_deref().unwrap_or_default().as_bytes()),
                cut_protected: done.cut_protected.into(),
                unexplained: done.unexplained.into(),
            })
        })
    }
}

/// Fills `*failed` with the filter or cache number `index` of those that failed: `failed_count` of the report. Set `failed->size`
/// before the call.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_RANGE` past the last one; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressed_failed(
    compressed: *const aside_compressed,
    index: size_t,
    failed: *mut aside_failed,
) -> aside_status {
    // SAFETY: the caller promises a handle that is NULL or valid, and a struct as large as it says.
    unsafe {
        let Some(handle) = compressed.as_ref() else { return fail_no_handle("compressed") };
        fill(failed, "failed", |size| {
            let one = at(&handle.compressed.report.failed, index)?;
            let (id, reason) = (one.filter.as_bytes(), one.reason.as_bytes());
            Ok(aside_failed { size, id: aside_bytes::lend(id), reason: aside_bytes::lend(reason) })
        })
    }
}

/// Fills `*report` with the report on one of the parts that filters changed: number `index` of the report's `part_count`.
/// Set `report->size` before the call.
///
/// Returns the same as `aside_compressed_failed()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressed_part_report(
    compressed: *const aside_compressed,
    index: size_t,
    report: *mut aside_part_report,
) -> aside_status {
    // SAFETY: the caller promises a handle that is NULL or valid, and a struct as large as it says.
    unsafe {
        let Some(handle) = compressed.as_ref() else { return fail_no_handle("compressed") };
        fill(report, "report", |size| {
            let part = at(&handle.compressed.report.parts, index)?;
            let (len, stretch_count) = (part.length as u64, part.stretches.len());
            Ok(aside_part_report { size, part: part.part, len, hash: part.hash, stretch_count })
        })
    }
}

/// Fills `*stretch` with the stretch number `index` of a part's original. `part_index` is the index that
/// `aside_compressed_part_report()` takes. Set `stretch->size` before the call.
///
/// Returns the same as `aside_compressed_failed()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressed_stretch(
    compressed: *const aside_compressed,
    part_index: size_t,
    index: size_t,
    stretch: *mut aside_stretch,
) -> aside_status {
    // SAFETY: the caller promises a handle that is NULL or valid, and a struct as large as it says.
    unsafe {
        let Some(handle) = compressed.as_ref() else { return fail_no_handle("compressed") };
        fill(stretch, "stretch", |size| {
            let one = at(&at(&handle.compressed.report.parts, part_index)?.stretches, index)?;
            Ok(aside_stretch {
                size,
                start: one.range.start as u64,
                len: one.range.len() as u64,
                hash: one.hash,
                change: one.change.to_number(),
                filter: one.filter.map_or(ASIDE_NO_FILTER, |filter| filter as i32),
            })
        })
    }
}

/// Returns the entry with this index.
fn at<T>(entries: &[T], index: usize) -> Result<&T, aside_status> {
    entries.get(index).ok_or_else(|| fail(ASIDE_ERROR_RANGE))
}

/// Finds `len` bytes at `start` of a part's original, to show omitted text. `original` is the unchanged text of the part number
/// `part` (`part` of its `aside_part_report`): `original_len` bytes. `*out` becomes a range of it.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORIGINAL` if `original` is a different text, or no filter changed that part;
/// `ASIDE_ERROR_RANGE`, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressed_slice(
    compressed: *const aside_compressed,
    part: size_t,
    original: *const c_char,
    original_len: size_t,
    start: u64,
    len: u64,
    out: *mut aside_bytes,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises that it is NULL or valid, and the original's bytes.
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
                    unsafe { out.write_unaligned(aside_bytes::lend(slice)) };
                    ASIDE_OK
                }
                Err(SliceError::OtherOriginal) => fail(ASIDE_ERROR_ORIGINAL),
                Err(SliceError::OutOfRange) => fail_with(ASIDE_ERROR_RANGE, SliceError::OutOfRange),
            }
        },
    )
}

/// Frees the result of a call, and all memory that C has borrowed from it. Does nothing for NULL.
///
/// Threads: no other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_compressed_free(compressed: *mut aside_compressed) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(compressed, |_| false) }
}
