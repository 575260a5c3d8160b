//! How far a scanner has come: what it holds, has counted and has collected, and how it is made as new.

use libc::size_t;
use safer_ffi::prelude::*;

use super::{Stream, enter, lent};
use crate::Channel;
use crate::ffi::gate::is_whole;
use crate::ffi::memory::{fill_sized, lend, lend_array, size_of_given};
use crate::ffi::status::{fail, fail_no_handle, fail_with};
use crate::ffi::types::*;

/// Reads a number out of a scanner; 0 where that cannot be.
///
/// # Safety
/// As of `enter`.
unsafe fn read<T: Default>(scanner: *const aside_scanner, body: impl FnOnce(&Stream) -> T) -> T {
    let mut value = T::default();
    // SAFETY: the caller's promise.
    unsafe {
        enter(scanner, is_whole, |stream| {
            value = body(stream);
            ASIDE_OK
        })
    };
    value
}

/// == The state of a scanner ==
///
/// Drops everything, and makes the scanner as new: what was held back, thoughts not taken, and every error but
/// `ASIDE_ERROR_PANIC`. Memory that it lent is no longer good.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_reset(scanner: *mut aside_scanner) -> aside_status {
    // SAFETY: the caller promises a scanner that is NULL or there, and only calls that are admitted use the stream.
    unsafe {
        let Some(scanner) = scanner.as_ref() else { return fail_no_handle("scanner") };
        scanner.gate.renew(|stream| {
            stream.scanner.reset();
            stream.consumed = 0;
            stream.lent = None;
        })
    }
}

/// How many bytes of the last feed's buffer are done. Inside a callback of the same scanner, and after
/// `ASIDE_ERROR_PANIC`, 0 with a message; the same for NULL.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_consumed(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.consumed) }
}

/// How many bytes are held back now, because they may still become part of a marker or of a character. 0 as
/// `aside_scanner_consumed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_held(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.held().len()) }
}

/// The most bytes that this scanner holds back for what may come. In a pause, a marker whose events are still due is held
/// too. 0 as `aside_scanner_consumed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_max_hold(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.max_hold()) }
}

/// The offset in the stream of the next byte to be fed. 0 as `aside_scanner_consumed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_offset(scanner: *const aside_scanner) -> u64 {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.offset()) }
}

/// How much of a channel's text was reported since the stream began; of the stream that was finished last, until
/// another begins. What is held back counts when it is reported. `channel` is `ASIDE_CONTENT`, `ASIDE_THINKING`,
/// `ASIDE_NARRATION` or `ASIDE_TOOL`. Set `counts->size` to `sizeof(aside_counts)` before.
///
/// After the stream is finished they tell an answer that was thinking to its end: `ASIDE_THINKING` has bytes, `ASIDE_CONTENT`
/// and `ASIDE_TOOL` have none. Either the model broke off, or the stream was started in the thinking although that was off; a
/// host that knows it was off can show the text as the answer.
///
/// Returns `ASIDE_OK` with `*counts` filled, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE` (no such channel),
/// `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_counts(
    scanner: *const aside_scanner,
    channel: u32,
    counts: *mut aside_counts,
) -> aside_status {
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_of_given(counts, "counts") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    let channel = match channel {
        ASIDE_CONTENT => Channel::Content,
        ASIDE_THINKING => Channel::Thinking,
        ASIDE_NARRATION => Channel::Narration,
        ASIDE_TOOL => Channel::Tool,
        other => return fail_with(ASIDE_ERROR_RANGE, format_args!("{other} is no channel")),
    };
    // SAFETY: NULL or there, as the caller promises; `counts` may be written as far as its size says.
    unsafe {
        enter(scanner, is_whole, |stream| {
            let crate::Counts { bytes, characters, spans, tokens } = stream.scanner.counts(channel);
            fill_sized(counts, size, aside_counts { size, bytes, characters, spans, tokens });
            ASIDE_OK
        })
    }
}

/// == Whole thoughts ==
///
/// Takes the oldest thought that has ended and was not taken yet, of a scanner that was made with `options.collect`.
/// Set `thought->size` to `sizeof(aside_thought)` before. The memory that `*thought` leads to is the scanner's; see
/// `aside_thought` for how long it is good.
///
/// Returns `ASIDE_OK` with `*thought` filled; `ASIDE_NONE` where there is none (`*thought` is not written, and the one
/// taken before is no longer good); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`,
/// `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_take_thought(
    scanner: *mut aside_scanner,
    thought: *mut aside_thought,
) -> aside_status {
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_of_given(thought, "thought") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    // SAFETY: NULL or there, as the caller promises; `thought` may be written as far as its size says.
    unsafe {
        enter(scanner, is_whole, |stream| match take(stream, size) {
            Ok(Some(taken)) => {
                fill_sized(thought, size, taken);
                ASIDE_OK
            }
            Ok(None) => ASIDE_NONE,
            Err(status) => status,
        })
    }
}

/// How many thoughts were lost since the start or the last reset, because 1,024 were waiting. 0 as
/// `aside_scanner_consumed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_lost_thoughts(scanner: *const aside_scanner) -> u64 {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.lost_thoughts()) }
}

/// Moves the oldest thought into lent memory and shows it as C sees it.
fn take(stream: &mut Stream, size: usize) -> Result<Option<aside_thought>, aside_status> {
    let lent = lent(&mut stream.lent)?;
    lent.pairs.clear();
    // Before it is taken: where there is no memory, it waits.
    let count = stream.scanner.next_thought().map_or(0, |thought| thought.attributes.len());
    lent.pairs.try_reserve(count).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    lent.thought = stream.scanner.take_thought();
    let Some(thought) = &lent.thought else {
        return Ok(None);
    };
    lent.pairs.extend(thought.attributes.iter().map(|(name, value)| aside_attribute {
        name: lend(name),
        name_len: name.len(),
        value: lend(value),
        value_len: value.len(),
    }));
    let thought_type = thought.thought_type.as_deref();
    Ok(Some(aside_thought {
        size,
        text: lend(&thought.text),
        text_len: thought.text.len(),
        offset: thought.offset,
        cause: thought.cause as u32,
        truncated: thought.truncated.into(),
        has_thought_type: thought_type.is_some().into(),
        has_confidence: thought.confidence.is_some().into(),
        thought_type: lend(thought_type.unwrap_or_default()),
        thought_type_len: thought_type.unwrap_or_default().len(),
        confidence: thought.confidence.unwrap_or(0.0),
        attributes: lend_array(&lent.pairs),
        attribute_count: lent.pairs.len(),
    }))
}
