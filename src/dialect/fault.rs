//! A fault in a dialect, with its place as an offset in the file. The compiler knows only offsets; the reader of the file
//! turns them into a line and a key.

use std::ops::Range;

use crate::file_error::FileError;

/// A fault found while compiling: its place in the file, and its message.
pub struct Fault {
    pub span: Range<usize>,
    pub message: String,
}

impl Fault {
    /// Turns the offset into the line and the key of the fault.
    pub fn locate(self, text: &str) -> FileError {
        FileError::at(text, Some(self.span), self.message)
    }
}
