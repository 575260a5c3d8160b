//! The input and output of the call writer, as data without rules.

use crate::{Cause, Error};

/// A part of a call, as the scanner's events report it.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// The name, whole.
    Name(&'a [u8]),
    /// An id, whole. If the head is the id, there are two of these pieces, around the name.
    Id(&'a [u8]),
    /// The key of a value, or the name of a nested element, whole.
    Key(&'a [u8]),
    /// The word for the type of the value that follows, whole.
    Type(&'a [u8]),
    /// The next bytes of a value, which end with a whole character.
    Value(&'a [u8]),
    /// The end of a value or of the innermost nested element. The bytes are the closer, or empty without one.
    ValueEnd(&'a [u8]),
    /// Other bytes of the call. They matter only inside a nested element whose type is string.
    Framing(&'a [u8]),
    /// The call ends.
    End(Cause),
}

/// The next part of a call for a client, in the form of OpenAI's `tool_calls`.
///
/// The first delta of a call has its id and name, the last one its end. The `arguments` of all deltas, joined, are a JSON
/// object if the call is whole.
#[derive(Clone, Copy, Debug)]
pub struct CallDelta<'a> {
    /// The number of the call in the stream, from 0. Calls that are not emitted count too.
    pub call: u64,
    /// The number of the call among those that are emitted, from 0.
    pub index: u64,
    /// The id, in the first delta.
    pub id: Option<&'a str>,
    /// The name, in the first delta.
    pub name: Option<&'a str>,
    /// The next part of the arguments.
    pub arguments: &'a str,
    /// The end of the call, in the last delta.
    pub end: Option<End<'a>>,
}

/// The end of a call that was emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End<'a> {
    /// The reason for the end: the scanner's, or [`Cause::Malformed`] if the arguments are not a JSON object.
    pub cause: Cause,
    /// Whether the arguments are complete: the call ended by its marker or by the text after it.
    pub is_whole: bool,
    /// Whether the call broke a rule of its grammar and was repaired: the model may have meant other arguments.
    pub is_repaired: bool,
    /// An id that the model wrote only after the first delta was sent. Use it for a client that gets the whole answer, and
    /// not for one that got the first delta.
    pub late_id: Option<&'a str>,
}

/// The receiver of deltas. If it fails, the function of the writer that called it fails too.
pub type Sink<'s> = dyn FnMut(CallDelta<'_>) -> Result<(), Error> + 's;
