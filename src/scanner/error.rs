//! Errors of a scanner. They are small and need no allocation, because running out of memory is one of them.

use std::{collections::TryReserveError, fmt};

use crate::memory::OutOfMemory;

/// The reason why a scanner could not be created, or could not continue.
///
/// ```
/// use aside::{Channel, Dialect, Error, Scanner, ScannerOptions, Start};
///
/// let options = ScannerOptions::new().start(Start::Channel(Channel::Narration));
/// let error = Scanner::with_options(&Dialect::find("qwen3")?, &options).unwrap_err();
/// assert_eq!(error, Error::NoSuchStart);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There was no memory for the scanner or its data. After this error in the middle of a stream, the scanner must be
    /// reset before it is used again.
    OutOfMemory,
    /// The dialect has no span of the channel in which the stream should start, or no headers for a start in a header.
    NoSuchStart,
    /// A `finish` was stopped before its last event. Finish the stream or reset the scanner before the next feed or flush.
    FinishPending,
    /// The lengths of the tokens do not add up to the length of the chunk.
    TokenLengths,
    /// The stream has begun. Its start must be set before its first byte.
    StreamBegun,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::OutOfMemory => "out of memory",
            Error::NoSuchStart => "the dialect has nothing of that kind to start in",
            Error::StreamBegun => "the stream has begun: its start is said before the first byte",
            Error::FinishPending => "finish was stopped half-way: call it again, or reset the scanner",
            Error::TokenLengths => "the tokens' lengths do not add up to the chunk's",
        })
    }
}

impl std::error::Error for Error {}

impl From<OutOfMemory> for Error {
    fn from(_: OutOfMemory) -> Error {
        Error::OutOfMemory
    }
}

impl From<TryReserveError> for Error {
    fn from(_: TryReserveError) -> Error {
        Error::OutOfMemory
    }
}
