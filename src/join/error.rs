//! The reasons why a text cannot be joined, for a host that shows them or acts on them.

use std::{collections::TryReserveError, fmt};

use crate::{channel::Channel, memory::OutOfMemory, scanner::Error};

/// The reason why a text cannot be joined or escaped.
///
/// ```
/// use aside::{Channel, Dialect, JoinError, JoinOptions};
///
/// let error = Dialect::find("qwen3")?.join("It says </think> here.", "", &JoinOptions::new()).unwrap_err();
/// assert_eq!(error, JoinError::Marker { part: Channel::Thinking, offset: 8 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// A part would not be split back into the same text.
    Marker {
        /// The part: `Thinking` or `Content`.
        part: Channel,
        /// The index in the part of the first byte that would be read as something else, such as a marker or framing. If the marker
        /// after the part would not be read as a marker, it is the part's length.
        offset: usize,
    },
    /// A call would not be read back unchanged.
    Call {
        /// The index of the call.
        call: usize,
        /// The part of the call that is at fault.
        part: CallPart,
        /// The fault of the call.
        fault: CallFault,
    },
    /// The dialect does not describe how text of this channel, or a text that starts inside this channel, is written.
    NotWritten(Channel),
    /// This marker of the dialect cannot be broken by escaping: it is a single character, or contains U+200B.
    Unbreakable(Box<str>),
    /// The dialect has no span of the channel in which the text should start, or no headers for a start in a header.
    NoSuchStart,
    /// There was no memory for the text.
    OutOfMemory,
}

/// A part of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallPart {
    /// The name.
    Name,
    /// The id.
    Id,
    /// The arguments as a whole.
    Arguments,
    /// The key of an argument.
    Key(Box<str>),
    /// The value of the argument with this key.
    Value(Box<str>),
}

/// The fault of a part of a call. Offsets count bytes of the part as it is written. If the dialect writes strings verbatim,
/// that is the text of a string without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallFault {
    /// The part is not a JSON object.
    NotObject,
    /// The part has half of a surrogate pair, which can be written in JSON but not in UTF-8.
    Surrogate,
    /// The part has the text that ends a value.
    Closer {
        /// The beginning of that text.
        offset: usize,
    },
    /// The part has text that ends a value even without its closer: a key, the end of a call, or a misspelt closer.
    Stop {
        /// The place where the value would end.
        offset: usize,
    },
    /// The part would be read as something else.
    Misread {
        /// The first byte that would be misread.
        offset: usize,
    },
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Marker { part, offset } => {
                write!(
                    f,
                    "the {part} would not split back into the same: byte {offset} of it is read as something else"
                )
            }
            JoinError::Call { call, part, fault } => write!(f, "call {call}: {part} {fault}"),
            JoinError::NotWritten(channel) => write!(f, "the dialect does not say how {channel} is written"),
            JoinError::Unbreakable(marker) => write!(f, "nothing can break the marker {marker:?}"),
            JoinError::NoSuchStart => Error::NoSuchStart.fmt(f),
            JoinError::OutOfMemory => Error::OutOfMemory.fmt(f),
        }
    }
}

impl fmt::Display for CallPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallPart::Name => f.write_str("the name"),
            CallPart::Id => f.write_str("the id"),
            CallPart::Arguments => f.write_str("the JSON text of the arguments"),
            CallPart::Key(key) => write!(f, "the key {key:?}"),
            CallPart::Value(key) => write!(f, "the value of {key:?}"),
        }
    }
}

impl fmt::Display for CallFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallFault::NotObject => f.write_str("is not an object"),
            CallFault::Surrogate => f.write_str("has half of a surrogate pair, which the dialect cannot write"),
            CallFault::Closer { offset } => write!(f, "has, at byte {offset}, the text that ends a value"),
            CallFault::Stop { offset } => write!(f, "has, at byte {offset}, what ends a value without its closer"),
            CallFault::Misread { offset } => {
                write!(f, "would not be read back as it is: byte {offset} of it is read as something else")
            }
        }
    }
}

impl std::error::Error for JoinError {}

impl From<OutOfMemory> for JoinError {
    fn from(_: OutOfMemory) -> JoinError {
        JoinError::OutOfMemory
    }
}

impl From<TryReserveError> for JoinError {
    fn from(_: TryReserveError) -> JoinError {
        JoinError::OutOfMemory
    }
}

impl From<Error> for JoinError {
    fn from(error: Error) -> JoinError {
        if error == Error::NoSuchStart { JoinError::NoSuchStart } else { JoinError::OutOfMemory }
    }
}
