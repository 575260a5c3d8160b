//! What is wrong with a dialect file, by line and key.

use std::{fmt, ops::Range};

use super::schema::Model;
use crate::file_error::{self, FileError};

/// A dialect file that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectError(FileError);

impl DialectError {
    /// The line of the file, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// The key, with its table: `span.open`. Empty where the fault is in no key.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for DialectError {}

/// A fault found while compiling: where in the file, and what.
pub struct Fault {
    pub span: Range<usize>,
    pub message: String,
}

impl Fault {
    pub fn locate(self, text: &str) -> DialectError {
        DialectError(FileError::at(text, Some(self.span), self.message))
    }
}

pub fn read(text: &str) -> Result<Model, DialectError> {
    file_error::read(text).map_err(DialectError)
}
