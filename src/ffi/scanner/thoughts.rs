//! Whole thoughts, for hosts that collect them. C borrows a thought that was moved out of the scanner, so that feeding never moves
//! it.

use std::mem::offset_of;

use libc::size_t;

use super::borrowed::borrowed;
use super::handle::{Stream, aside_scanner, enter};
use crate::ffi::bytes::aside_bytes;
use crate::ffi::constants::*;
use crate::ffi::handle_guard::is_whole;
use crate::ffi::memory::{Versioned, fill_sized, layout, size_of_given};
use crate::ffi::status::fail;

/// A whole thought. Set `size` before each call; later versions may add fields at the end. Its texts are memory of the
/// scanner, valid until the next `aside_scanner_take_thought()`, `aside_scanner_reset()` or `aside_scanner_free()` of this
/// scanner. Feeding does not change them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_thought {
    /// `sizeof(aside_thought)` of the caller's header.
    pub size: size_t,
    /// The text.
    pub text: aside_bytes,
    /// The offset in the stream of the opening marker.
    pub offset: u64,
    /// Why the thought ended. `ASIDE_CAUSE_END_OF_STREAM`: it was cut off.
    pub cause: aside_cause,
    /// 1 if `options.collect` was too small for the whole thought, otherwise 0.
    pub truncated: u32,
    /// 1 if the marker had a type, otherwise 0.
    pub has_thought_type: u32,
    /// 1 if the marker had a confidence, otherwise 0.
    pub has_confidence: u32,
    /// The type; empty if there is none.
    pub thought_type: aside_bytes,
    /// The confidence, from 0 to 1; 0 if there is none.
    pub confidence: f64,
    /// The number of attributes of the marker: `aside_scanner_thought_attribute()` returns each.
    pub attribute_count: size_t,
}

impl Versioned for aside_thought {
    const FIRST: usize = offset_of!(aside_thought, attribute_count) + size_of::<size_t>();
}

/// An attribute of a thought. Set `size` before each call; later versions may add fields at the end. Its texts are valid
/// as long as the texts of the thought.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_attribute {
    /// `sizeof(aside_attribute)` of the caller's header.
    pub size: size_t,
    /// The name of the attribute.
    pub name: aside_bytes,
    /// The decoded value of the attribute.
    pub value: aside_bytes,
}

impl Versioned for aside_attribute {
    const FIRST: usize = offset_of!(aside_attribute, value) + size_of::<aside_bytes>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_thought 80: size 0, text 8, offset 24, cause 32, truncated 36, has_thought_type 40, has_confidence 44,
        thought_type 48, confidence 64, attribute_count 72);
    assert!(aside_thought::FIRST == 80);
    layout!(aside_attribute 40: size 0, name 8, value 24);
    assert!(aside_attribute::FIRST == 40);
};

/// Returns a text for C. It is not inlined: the optimiser would read the length of a text before it knows that the text exists,
/// which is harmless, but which valgrind reports as a fault.
#[inline(never)]
fn place(text: &[u8]) -> aside_bytes {
    aside_bytes::lend(text)
}

/// Removes the oldest thought that has ended from a scanner that was made with `options.collect`, and writes it to
/// `*thought`. Set `thought->size` to `sizeof(aside_thought)` before the call. The texts of `*thought` belong to the scanner;
/// `aside_thought` says how long they are valid.
///
/// Returns `ASIDE_OK` with `*thought` filled; `ASIDE_NONE` if no thought is waiting (`*thought` is not written, and the previous
/// thought is no longer valid); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`,
/// `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_take_thought(
    scanner: *mut aside_scanner,
    thought: *mut aside_thought,
) -> aside_status {
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_of_given(thought, "thought") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    // SAFETY: NULL or valid, as the caller promises; `thought` may be written as far as its size says.
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

/// Fills `*attribute` with an attribute of the thought that `aside_scanner_take_thought()` took last: the one with this
/// `index`, in the order of the marker, from 0. Set `attribute->size` to `sizeof(aside_attribute)` before the call.
///
/// Returns `ASIDE_OK` with `*attribute` filled; `ASIDE_ERROR_RANGE` if `index` is not below `attribute_count` of that
/// thought, or if no thought is taken; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Memory: nothing is allocated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_thought_attribute(
    scanner: *const aside_scanner,
    index: size_t,
    attribute: *mut aside_attribute,
) -> aside_status {
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_of_given(attribute, "attribute") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    let body = |stream: &mut Stream| {
        let thought = stream.borrowed.as_ref().and_then(|borrowed| borrowed.thought.as_ref());
        let Some((name, value)) = thought.and_then(|thought| thought.attributes.get(index)) else {
            return fail(ASIDE_ERROR_RANGE);
        };
        let found = aside_attribute { size, name: aside_bytes::lend(name), value: aside_bytes::lend(value) };
        // SAFETY: the caller promises that it may be written as far as its size says.
        unsafe { fill_sized(attribute, size, found) };
        ASIDE_OK
    };
    // SAFETY: NULL or valid, as the caller promises.
    unsafe { enter(scanner, is_whole, body) }
}

/// Moves the oldest thought into memory that C borrows, and returns it as C's struct.
fn take(stream: &mut Stream, size: usize) -> Result<Option<aside_thought>, aside_status> {
    let borrowed = borrowed(&mut stream.borrowed)?;
    borrowed.thought = stream.scanner.take_thought();
    let Some(thought) = &borrowed.thought else {
        return Ok(None);
    };
    let thought_type = thought.thought_type.as_deref();
    Ok(Some(aside_thought {
        size,
        text: aside_bytes::lend(&thought.text),
        offset: thought.offset,
        cause: thought.cause.to_number(),
        truncated: thought.truncated.into(),
        has_thought_type: thought_type.is_some().into(),
        has_confidence: thought.confidence.is_some().into(),
        thought_type: place(thought_type.unwrap_or_default()),
        confidence: thought.confidence.unwrap_or(0.0),
        attribute_count: thought.attributes.len(),
    }))
}
