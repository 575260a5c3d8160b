//! Allocations that may fail. Streams are read inside a host's process, so running out of memory must be an error and never end the
//! process. Unlike the standard library's functions, these helpers reserve memory before they use it, and return an error if they
//! cannot.

use std::{borrow::Cow, collections::TryReserveError};

/// An allocation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl From<TryReserveError> for OutOfMemory {
    fn from(_: TryReserveError) -> OutOfMemory {
        OutOfMemory
    }
}

pub type Result<T> = std::result::Result<T, OutOfMemory>;

/// Appends to a list.
#[inline]
pub fn append<T: Copy>(list: &mut Vec<T>, more: &[T]) -> Result<()> {
    list.try_reserve(more.len())?;
    list.extend_from_slice(more);
    Ok(())
}

/// Appends several parts to a list, one after the other: all of them, or none.
pub fn append_all<T: Copy>(list: &mut Vec<T>, parts: &[&[T]]) -> Result<()> {
    list.try_reserve(parts.iter().map(|part| part.len()).sum())?;
    parts.iter().for_each(|part| list.extend_from_slice(part));
    Ok(())
}

/// Appends to a text.
pub fn append_text(text: &mut String, more: &str) -> Result<()> {
    text.try_reserve(more.len())?;
    text.push_str(more);
    Ok(())
}

/// Copies a text; the copy has no spare room.
pub fn copy_text(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len())?;
    copy.push_str(text);
    Ok(copy)
}

/// Returns bytes as text. Invalid UTF-8 becomes U+FFFD.
pub fn lossy(bytes: &[u8]) -> Result<Cow<'_, str>> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Ok(Cow::Borrowed(text));
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        append_text(&mut text, chunk.valid())?;
        append_text(&mut text, if chunk.invalid().is_empty() { "" } else { "\u{FFFD}" })?;
    }
    Ok(Cow::Owned(text))
}

/// Adds one entry to a list. The first entry gets no more room than it needs, because many lists never get a second one.
#[inline]
pub fn push<T>(list: &mut Vec<T>, entry: T) -> Result<()> {
    reserve_one(list)?;
    list.push(entry);
    Ok(())
}

/// Makes room for one more entry of a list, as `push` does.
#[inline]
pub fn reserve_one<T>(list: &mut Vec<T>) -> Result<()> {
    if list.len() == list.capacity() { grow(list) } else { Ok(()) }
}

#[cold]
fn grow<T>(list: &mut Vec<T>) -> Result<()> {
    let grown = if list.is_empty() { list.try_reserve_exact(1) } else { list.try_reserve(1) };
    Ok(grown?)
}

/// The maximum number of bytes of room that a list keeps when it is emptied for the next event of a stream. Larger events are rare.
const KEPT: usize = 4096;

/// Empties a list. Its room is freed if it is large, so that a large event does not keep memory until the end of the stream.
#[inline]
pub fn clear<T>(list: &mut Vec<T>) {
    if list.capacity() > KEPT / size_of::<T>().max(1) {
        give_back(list);
    } else {
        list.clear();
    }
}

#[cold]
fn give_back<T>(list: &mut Vec<T>) {
    *list = Vec::new();
}

/// Copies a list; the copy has no spare room.
pub fn copy<T: Copy>(list: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(list.len())?;
    copy.extend_from_slice(list);
    Ok(copy)
}

/// Returns a list of `len` times the same entry.
pub fn filled<T: Clone>(entry: T, len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len)?;
    list.resize(len, entry);
    Ok(list)
}

/// Boxes a value, as an array of one: an allocation for a vector can fail with an error, which is not possible for a box.
pub fn try_box<T>(value: T) -> Result<Box<[T; 1]>> {
    let mut list = Vec::new();
    list.try_reserve_exact(1)?;
    list.push(value);
    // The vector has room for exactly one value, so it is not moved.
    list.try_into().map_err(|_| OutOfMemory)
}

/// A value that is boxed when it is first needed. Most streams never need it, and stay small.
pub struct TryBox<T>(Option<Box<[T; 1]>>);

impl<T> TryBox<T> {
    pub const NONE: TryBox<T> = TryBox(None);

    pub fn new(value: T) -> Result<TryBox<T>> {
        Ok(TryBox(Some(try_box(value)?)))
    }

    /// Boxes a value, if there is one.
    pub fn of(value: Option<T>) -> Result<TryBox<T>> {
        value.map_or(Ok(TryBox::NONE), TryBox::new)
    }

    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref().map(|[value]| value)
    }

    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut().map(|[value]| value)
    }

    /// Takes the value out of its box.
    pub fn take(&mut self) -> Option<T> {
        self.0.take().map(|boxed| {
            let [value] = *boxed;
            value
        })
    }

    /// Returns the value, which `make` makes if there is none.
    #[inline]
    pub fn made_by(&mut self, make: impl FnOnce() -> T) -> Result<&mut T> {
        if self.0.is_none() {
            *self = TryBox::new(make())?;
        }
        self.get_mut().ok_or(OutOfMemory)
    }
}

impl<T> Default for TryBox<T> {
    fn default() -> TryBox<T> {
        TryBox::NONE
    }
}

impl<T: Default> TryBox<T> {
    /// Returns the value, which is its type's default if there is none.
    pub fn made(&mut self) -> Result<&mut T> {
        self.made_by(T::default)
    }
}
