//! Whole thoughts, for hosts that collect them. C borrows a thought that the scanner no longer has, so that feeding never moves
//! it.

use std::mem::offset_of;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::borrowed::{aside_attribute, borrowed};
use super::handle::{Stream, aside_scanner, enter, read};
use crate::ffi::constants::*;
use crate::ffi::handle_guard::is_whole;
use crate::ffi::memory::{Versioned, as_c_array, as_c_ptr, fill_sized, layout, size_of_given};
use crate::ffi::status::fail;

/// A whole thought. Set `size` before each call; later versions may add fields at the end. The pointers lead to memory
/// of the scanner, valid until the next `aside_scanner_take_thought()`, `aside_scanner_reset()` or
/// `aside_scanner_free()` of this scanner. Feeding does not change it.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_thought {
    /// `sizeof(aside_thought)` of the caller's header.
    pub size: size_t,
    /// The text. Never NULL, no NUL at its end.
    pub text: *const c_char,
    /// The length of the text.
    pub text_len: size_t,
    /// The offset in the stream of the marker that opened it.
    pub offset: u64,
    /// Why it ended. `ASIDE_CAUSE_END_OF_STREAM`: it was cut off.
    pub cause: aside_cause,
    /// 1 if `options.collect` was too small for all of it, otherwise 0.
    pub truncated: u32,
    /// 1 if the marker had a type, otherwise 0.
    pub has_thought_type: u32,
    /// 1 if the marker had a confidence, otherwise 0.
    pub has_confidence: u32,
    /// The type. Never NULL, no NUL at its end.
    pub thought_type: *const c_char,
    /// The length of the type.
    pub thought_type_len: size_t,
    /// The confidence, from 0 to 1; 0 if there is none.
    pub confidence: f64,
    /// The marker's attributes, in order. Never NULL.
    pub attributes: *const aside_attribute,
    /// How many there are.
    pub attribute_count: size_t,
}

impl Versioned for aside_thought {
    const FIRST: usize = offset_of!(aside_thought, attribute_count) + size_of::<size_t>();
}

// No layout ever changes; C checks the same in tests/c/layout.c.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_thought 88: size 0, text 8, text_len 16, offset 24, cause 32, truncated 36, has_thought_type 40,
        has_confidence 44, thought_type 48, thought_type_len 56, confidence 64, attributes 72, attribute_count 80);
    assert!(aside_thought::FIRST == 88);
};

/// Takes the oldest thought that has ended and was not taken yet, from a scanner that was made with `options.collect`.
/// Set `thought->size` to `sizeof(aside_thought)` before. The memory that `*thought` leads to belongs to the scanner;
/// `aside_thought` says how long it is valid.
///
/// Returns `ASIDE_OK` with `*thought` filled; `ASIDE_NONE` if there is none (`*thought` is not written, and the one
/// taken before is no longer valid); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`,
/// `ASIDE_ERROR_PANIC`.
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

/// Returns how many thoughts were lost since the start or the last reset, because 1,024 were waiting. 0 as
/// `aside_scanner_consumed()`.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_lost_thoughts(scanner: *const aside_scanner) -> u64 {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.lost_thoughts()) }
}

/// Moves the oldest thought into memory that C borrows, and returns it as C sees it.
fn take(stream: &mut Stream, size: usize) -> Result<Option<aside_thought>, aside_status> {
    let borrowed = borrowed(&mut stream.borrowed)?;
    borrowed.pairs.clear();
    // Before it is taken: where there is no memory, it waits.
    let count = stream.scanner.next_thought().map_or(0, |thought| thought.attributes.len());
    borrowed.pairs.try_reserve(count).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    borrowed.thought = stream.scanner.take_thought();
    let Some(thought) = &borrowed.thought else {
        return Ok(None);
    };
    borrowed.pairs.extend(thought.attributes.iter().map(|(name, value)| aside_attribute {
        name: as_c_ptr(name),
        name_len: name.len(),
        value: as_c_ptr(value),
        value_len: value.len(),
    }));
    let thought_type = thought.thought_type.as_deref();
    Ok(Some(aside_thought {
        size,
        text: as_c_ptr(&thought.text),
        text_len: thought.text.len(),
        offset: thought.offset,
        cause: thought.cause.to_number(),
        truncated: thought.truncated.into(),
        has_thought_type: thought_type.is_some().into(),
        has_confidence: thought.confidence.is_some().into(),
        thought_type: as_c_ptr(thought_type.unwrap_or_default()),
        thought_type_len: thought_type.unwrap_or_default().len(),
        confidence: thought.confidence.unwrap_or(0.0),
        attributes: as_c_array(&borrowed.pairs),
        attribute_count: borrowed.pairs.len(),
    }))
}
