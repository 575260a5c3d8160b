//! Converts pointers from C to Rust values, and Rust values to pointers for C. No function here may abort the process: running out
//! of memory is a status.

use std::ptr;

use libc::{c_char, size_t};

use super::constants::*;
use super::status::{fail, fail_null, fail_with, guard};
use crate::memory;

/// The largest size that any version of a struct may have. A larger number is treated as uninitialised memory.
const STRUCT_MAX: usize = 4096;

/// Returns whether a caller's struct may have this size; `first` is the struct's size in the first version that had it. The
/// size of a struct with a `size_t` is a multiple of its alignment; any other size could cut a pointer in half.
pub(super) fn is_struct_size(size: size_t, first: usize) -> bool {
    (first..=STRUCT_MAX).contains(&size) && size.is_multiple_of(align_of::<size_t>())
}

/// A struct that begins with its size, so that later versions can add fields at its end.
pub(super) trait Versioned: Copy {
    /// The smallest size of a caller's struct: its size in 0.1.0, or, for options, whose fields may all be left out, the size of
    /// the field `size` alone. It never changes, however many fields are added.
    const FIRST: usize;
}

/// Checks at compile time the size of a struct and the places of all its fields; a field that is not listed does not compile.
macro_rules! layout {
    ($name:ident $size:literal: $($field:ident $at:literal),+) => {{
        let _ = |$name { $($field: _),+ }: $name| ();
        assert!(size_of::<$name>() == $size);
        $(assert!(std::mem::offset_of!($name, $field) == $at);)+
    }};
}
pub(super) use layout;

/// Returns the caller's bytes. The address may be NULL if the length is 0.
///
/// # Safety
/// A pointer that is not NULL points to `len` bytes that do not change during `'a`.
#[inline]
pub(super) unsafe fn bytes<'a>(at: *const c_char, len: size_t, what: &str) -> Result<&'a [u8], aside_status> {
    if at.is_null() {
        return if len == 0 {
            Ok(&[])
        } else {
            Err(fail_with(ASIDE_ERROR_NULL, format_args!("{what} is NULL and its length is not 0")))
        };
    }
    if len > isize::MAX as usize {
        return Err(fail(ASIDE_ERROR_LENGTH));
    }
    // SAFETY: not NULL and of a possible length; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(at.cast(), len) })
}

/// Returns the text of a TOML file. If it is not UTF-8, the failure has this status and names the line.
pub(super) fn file_text(toml: &[u8], status: aside_status) -> Result<&str, aside_status> {
    std::str::from_utf8(toml).map_err(|error| {
        let line = 1 + toml[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        fail_with(status, format_args!("line {line}: not UTF-8"))
    })
}

/// Returns a pointer for C to borrowed bytes: never NULL, and never a dangling address, even for no bytes.
#[inline]
pub(super) fn as_c_ptr(bytes: &[u8]) -> *const c_char {
    if bytes.is_empty() { c"".as_ptr() } else { bytes.as_ptr().cast() }
}

/// Returns a pointer for C to a borrowed array of structs, never NULL.
#[cfg(feature = "compress")]
pub(super) fn as_c_array<T>(entries: &[T]) -> *const T {
    static NOTHING: u64 = 0;
    const { assert!(align_of::<T>() <= align_of::<u64>()) };
    if entries.is_empty() { (&raw const NOTHING).cast() } else { entries.as_ptr() }
}

/// Returns the size that the caller's struct begins with, for `fill_sized`.
///
/// # Safety
/// `at` is NULL or points to a struct whose first field is its size.
pub(super) unsafe fn size_of_given<T: Versioned>(at: *const T, what: &str) -> Result<usize, aside_status> {
    if at.is_null() {
        return Err(fail_null(what));
    }
    // SAFETY: the caller's promise; it need not be aligned.
    let size = unsafe { at.cast::<size_t>().read_unaligned() };
    match is_struct_size(size, T::FIRST) {
        true => Ok(size),
        false => {
            Err(fail_with(ASIDE_ERROR_SIZE, format_args!("{what}->size is not that of any version of the struct")))
        }
    }
}

/// Reads the caller's struct, of any version: fields that the caller's version does not have become zero. Fields of a later
/// version must be zero.
///
/// # Safety
/// `from` is NULL or has as many bytes as its first field says, and all-zero is a valid `T`.
pub(super) unsafe fn read_sized<T: Versioned>(from: *const T, what: &str) -> Result<T, aside_status> {
    // SAFETY: the caller meets this function's conditions.
    let given = unsafe {
        let size = size_of_given(from, what)?;
        std::slice::from_raw_parts(from.cast::<u8>(), size)
    };
    if given.iter().skip(size_of::<T>()).any(|&byte| byte != 0) {
        return Err(fail_with(
            ASIDE_ERROR_OPTION,
            format_args!("{what} has a field set that this version does not know"),
        ));
    }
    // SAFETY: both have that many bytes; bytes that are not copied stay zero, and an all-zero `T` is valid.
    unsafe {
        let mut value = std::mem::zeroed::<T>();
        ptr::copy_nonoverlapping(given.as_ptr(), (&raw mut value).cast(), given.len().min(size_of::<T>()));
        Ok(value)
    }
}

/// Fills the fields that both versions of the struct have. Further fields of the caller's struct become 0.
///
/// # Safety
/// `size` came from `size_of_given`, and that many bytes may be written.
pub(super) unsafe fn fill_sized<T: Versioned>(to: *mut T, size: usize, value: T) {
    let known = size.min(size_of::<T>());
    // SAFETY: the caller meets this function's conditions.
    unsafe {
        ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), to.cast(), known);
        ptr::write_bytes(to.cast::<u8>().add(known), 0, size - known);
    }
}

/// Frees a handle that came from a Box. Does nothing for NULL, and fails while a call uses the handle.
///
/// # Safety
/// `handle` is NULL or not freed yet; if it is not busy, this is its last use.
pub(super) unsafe fn free<T>(handle: *mut T, is_busy: impl FnOnce(&T) -> bool) {
    guard(
        |_| (),
        || {
            // SAFETY: the caller meets this function's conditions.
            unsafe {
                match handle.as_ref() {
                    None => {}
                    Some(handle) if is_busy(handle) => _ = fail(ASIDE_ERROR_BUSY),
                    Some(_) => drop(Box::from_raw(handle)),
                }
            }
        },
    )
}

/// Makes a Box, or returns None if there is no memory, instead of aborting.
pub(super) fn try_box<T>(value: T) -> Option<Box<T>> {
    let boxed = memory::try_box(value).ok()?;
    // SAFETY: an array of one value has the value's layout, so a Box may own the memory.
    Some(unsafe { Box::from_raw(Box::into_raw(boxed).cast::<T>()) })
}

/// Returns a handle for C; NULL if there is no memory.
pub(super) fn into_handle<T>(handle: T) -> *mut T {
    match try_box(handle) {
        Some(handle) => Box::into_raw(handle),
        None => {
            fail(ASIDE_ERROR_MEMORY);
            ptr::null_mut()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The struct of 0.1.0.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Old {
        size: size_t,
        number: u64,
    }

    /// The struct in a later library, which has added a field.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct New {
        size: size_t,
        number: u64,
        later: u64,
    }

    impl Versioned for New {
        const FIRST: usize = offset_of!(New, number) + size_of::<u64>();
    }

    #[test]
    fn a_struct_of_an_older_header_is_read() {
        let old = Old { size: size_of::<Old>(), number: 42 };
        // SAFETY: the struct is as large as its size says.
        let read = unsafe { read_sized((&raw const old).cast::<New>(), "old") };
        assert_eq!(read, Ok(New { size: size_of::<Old>(), number: 42, later: 0 }));

        let smaller = Old { size: size_of::<Old>() - 1, ..old };
        // SAFETY: it is larger than its size says.
        let refused = unsafe { read_sized((&raw const smaller).cast::<New>(), "smaller") };
        assert_eq!(refused, Err(ASIDE_ERROR_SIZE));

        let part = New { size: size_of::<Old>() + size_of::<size_t>() / 2, number: 42, later: 7 };
        // SAFETY: it is larger than its size says.
        let refused = unsafe { read_sized(&raw const part, "part") };
        assert_eq!(refused, Err(ASIDE_ERROR_SIZE), "half of a field");
    }

    #[test]
    fn a_struct_of_an_older_header_is_filled_as_far_as_it_goes() {
        let size = size_of::<Old>();
        let mut room = [Old { size, number: 0 }, Old { size: 1, number: 1 }];
        let to = room.as_mut_ptr().cast::<New>();
        // SAFETY: there are as many bytes as the first field says.
        unsafe {
            assert_eq!(size_of_given(to, "old"), Ok(size));
            fill_sized(to, size, New { size, number: 42, later: 7 });
        }
        assert_eq!(room, [Old { size, number: 42 }, Old { size: 1, number: 1 }]);
    }

    #[test]
    fn the_fields_of_a_newer_header_become_0() {
        let value = New { size: size_of::<[New; 2]>(), number: 42, later: 7 };
        let mut room = [New { size: 1, number: 1, later: 1 }; 3];
        // SAFETY: there are three times as many bytes as one struct has.
        unsafe { fill_sized(room.as_mut_ptr(), value.size, value) };
        assert_eq!(room, [value, New { size: 0, number: 0, later: 0 }, New { size: 1, number: 1, later: 1 }]);
    }
}
