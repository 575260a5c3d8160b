//! Memory of a scanner that C may read between calls. The memory must not move or change before the call that the header names
//! for it.

use crate::Thought;
use crate::ffi::constants::*;
use crate::ffi::memory::try_box;
use crate::ffi::status::fail;
use crate::memory::append_all;

/// Memory that C may read between calls.
#[derive(Default)]
pub(super) struct Borrowed {
    pub(super) attributes: Vec<u8>,
    pub(super) thought: Option<Thought>,
}

/// Returns the memory that C borrows, and allocates it at its first use. The argument is only this field, so that the scanner can
/// be in use at the same time.
pub(super) fn borrowed(place: &mut Option<Box<Borrowed>>) -> Result<&mut Borrowed, aside_status> {
    if place.is_none() {
        *place = try_box(Borrowed::default());
    }
    place.as_deref_mut().ok_or_else(|| fail(ASIDE_ERROR_MEMORY))
}

/// Drops the attribute texts of earlier calls.
#[inline]
pub(super) fn clear(place: &mut Option<Box<Borrowed>>) {
    if let Some(borrowed) = place {
        borrowed.attributes.clear();
    }
}

/// Appends an attribute's name and value to the borrowed text. Returns the place where they begin, and the whole text.
pub(super) fn append<'a>(
    place: &'a mut Option<Box<Borrowed>>,
    name: &[u8],
    value: &[u8],
) -> Result<(usize, &'a [u8]), aside_status> {
    let text = &mut borrowed(place)?.attributes;
    let at = text.len();
    append_all(text, &[name, value]).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    Ok((at, text))
}
