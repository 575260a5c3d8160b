//! Structs of other versions of the headers: shorter ones without the last fields, and longer ones with bytes that this version
//! does not know. Each has exactly the memory of its size field, so that an access beyond it is detected.

use std::marker::PhantomData;
use std::ptr;

use support::c::{OK, SIZE};

use super::super::Input;

/// The largest size that any version of a struct may have.
pub const LARGEST: usize = 4096;

/// Returns the size of a struct in a caller's header: mostly that of this version, and otherwise any size, also sizes that no
/// struct has.
pub fn size<T>(input: &mut Input<'_>) -> usize {
    match input.byte() {
        0..208 => size_of::<T>(),
        byte @ 208..252 => 4 * usize::from(byte - 208),
        252 => LARGEST,
        253 => LARGEST + 1,
        254 => usize::MAX,
        255 => 7,
    }
}

/// A struct of any version.
pub struct Version<T> {
    bytes: Box<[u8]>,
    of: PhantomData<T>,
}

impl<T: Copy> Version<T> {
    /// Makes a struct of the size that is in its first field. Fields that this version does not know are 0.
    pub fn new(value: T) -> Version<T> {
        let size = unsafe { (&raw const value).cast::<usize>().read() };
        // If the size cannot be right, only the size field is read.
        let room = if (size_of::<usize>()..=LARGEST).contains(&size) { size } else { size_of::<usize>() };
        let mut bytes = vec![0; room].into_boxed_slice();
        let known = room.min(size_of::<T>());
        unsafe { ptr::copy_nonoverlapping((&raw const value).cast(), bytes.as_mut_ptr(), known) };
        Version { bytes, of: PhantomData }
    }

    /// Makes the same struct, and sometimes sets a byte that this version does not know.
    pub fn given(input: &mut Input<'_>, value: T) -> Version<T> {
        let mut given = Version::new(value);
        if let Some(last) = given.later().last_mut() {
            *last = input.byte() & 1;
        }
        given
    }

    pub fn at(&mut self) -> *mut T {
        self.bytes.as_mut_ptr().cast()
    }

    /// Returns the struct in this version's form. Missing fields are 0.
    pub fn get(&self) -> T {
        let known = self.bytes.len().min(size_of::<T>());
        unsafe {
            let mut value = std::mem::zeroed::<T>();
            ptr::copy_nonoverlapping(self.bytes.as_ptr(), (&raw mut value).cast(), known);
            value
        }
    }

    /// Returns the bytes that this version does not know.
    pub fn later(&mut self) -> &mut [u8] {
        let known = self.bytes.len().min(size_of::<T>());
        &mut self.bytes[known..]
    }

    /// Returns whether one of these bytes is set.
    pub fn has_more(&mut self) -> bool {
        self.later().iter().any(|&byte| byte != 0)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns whether a struct may have this size. `first` is its size in the first version that had it. The end of a struct may not
/// be inside a pointer.
pub fn is_version(size: usize, first: usize) -> bool {
    (first..=LARGEST).contains(&size) && size.is_multiple_of(align_of::<usize>())
}

/// Returns the struct that a call fills, or its status if it fails. Lets the call also fill a longer and a shorter struct.
pub fn filled<T: Copy + Default>(call: impl Fn(*mut T) -> i32) -> Result<T, i32> {
    let mut ours = Version::new(T::default());
    let status = call(ours.at());
    let sized = |size: usize| {
        let mut value = T::default();
        unsafe { (&raw mut value).cast::<usize>().write(size) };
        Version::new(value)
    };
    let mut longer = sized(size_of::<T>() + 8);
    longer.later().fill(7);
    assert_eq!(call(longer.at()), status);
    assert!(longer.later().iter().all(|&byte| byte == if status == OK { 0 } else { 7 }));
    let head = size_of::<usize>();
    assert_eq!(longer.bytes()[head..size_of::<T>()], ours.bytes()[head..]);
    for size in [size_of::<T>() - 1, 0, LARGEST + 1] {
        let mut other = sized(size);
        let before = other.bytes().to_vec();
        assert_eq!(call(other.at()), SIZE);
        assert_eq!(other.bytes(), before, "written on a failure");
    }
    if status == OK { Ok(ours.get()) } else { Err(status) }
}
