//! Holds a fault in a dialect before its place in the file has been turned into a line and a key: compiling knows places,
//! and only the reader of the file knows its lines.

use std::ops::Range;

use crate::file_error::FileError;

/// A fault found while compiling: its place in the file, and its message.
pub struct Fault {
    pub span: Range<usize>,
    pub message: String,
}

impl Fault {
    /// Names the line and the key of the fault.
    pub fn locate(self, text: &str) -> FileError {
        FileError::at(text, Some(self.span), self.message)
    }
}
