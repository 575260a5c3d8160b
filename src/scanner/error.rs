//! Why a scanner could not be made, or could not go on.

use std::{collections::TryReserveError, fmt};

/// Why a scanner could not be made, or could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There was no memory for the scanner or for what it keeps. A scanner that returns this in mid-stream must be reset before
    /// it goes on.
    OutOfMemory,
    /// The dialect has no span of the channel to start in, or no headers.
    NoSuchStart,
    /// The stream's `finish` was stopped half-way; it must be finished, or the scanner reset, before a feed or flush.
    FinishPending,
    /// The lengths of the tokens, added up, are not the chunk's.
    TokenLengths,
    /// The stream has begun: where it starts is said before its first byte.
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

impl From<TryReserveError> for Error {
    fn from(_: TryReserveError) -> Error {
        Error::OutOfMemory
    }
}
