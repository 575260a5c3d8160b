//! The library's C interface. Its declarations are generated like the headers, so that a test gets the same results as a C program.

// The library is linked for its exported C functions.
use aside as _;

#[rustfmt::skip]
mod declarations;

pub use declarations::*;

impl Bytes {
    pub fn of(text: &[u8]) -> Bytes {
        Bytes { at: text.as_ptr(), len: text.len() }
    }

    /// # Safety
    /// The library has filled the struct, and the memory is still valid.
    pub unsafe fn get<'a>(self) -> &'a [u8] {
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl Event {
    /// Returns whether the event's bytes are not in the stream at its offset, as for attributes and for a name in a header.
    pub fn is_apart(&self) -> bool {
        self.kind == KIND_ATTRIBUTE || self.kind == KIND_CALL_NAME && self.len == 0
    }

    /// Returns the number of bytes of the event; for an attribute, of its name and its value.
    pub fn byte_count(&self) -> usize {
        if self.is_apart() { (self.name_len + self.value_len) as usize } else { self.len as usize }
    }
}

impl EventArray {
    /// Returns an array with room for this many events.
    pub fn new(events: &mut [Event]) -> EventArray {
        EventArray {
            events: events.as_mut_ptr(),
            event_size: size_of::<Event>(),
            capacity: events.len(),
            ..EventArray::default()
        }
    }
}

/// Returns whether a byte is in a set of `aside_scanner_quiet`.
pub fn is_in(set: &[u64; 4], byte: u8) -> bool {
    set[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
}
