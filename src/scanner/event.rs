//! What a scanner reports.

use std::ops::Range;

use crate::channel::Channel;

/// A stretch of the stream and what it is, or an attribute of the marker before.
///
/// The bytes of all events but attributes, joined, are the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Of a span's own events; of framing, that of the text around it.
    pub channel: Channel,
    /// Bytes since the start of the stream. An attribute has its marker's.
    pub offset: u64,
    /// In the caller's chunk, or in the scanner where bytes had been held back. Never cuts a character of valid UTF-8.
    pub bytes: &'a [u8],
}

/// What an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A span begins.
    Open {
        /// The index of its `[[span]]` in the dialect's file; the number of spans for a header.
        rule: u32,
        /// Which of the rule's opening literals or names it was; `Dialect::opener` has the words.
        tag: u32,
    },
    /// An attribute of the `Open` before; carries no bytes.
    Attribute(Attribute<'a>),
    /// Text of the channel; never empty.
    Text,
    /// White space or a marker that is removed without opening or closing a span.
    Framing,
    /// The span ends. The bytes are the marker's, or none.
    Close(Cause),
    /// All content so far was thinking: the closer of a thinking came, without an opener before it. Carries no bytes,
    /// and comes once in a stream at most.
    Reclassify,
    /// The thinking goes beyond its budget here. Carries no bytes, stands between two characters, and comes once for
    /// each span or stream.
    Budget,
}

/// Why a span or a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cause {
    /// Its closing marker came, or its tag closed itself.
    Marker = 0,
    /// Another span began that ends it.
    Implied = 1,
    /// The stream ended.
    EndOfStream = 2,
    /// The host closed it, by `Scanner::force_close`.
    Forced = 3,
    /// The call's text broke its grammar. No span ends so.
    Malformed = 4,
}

impl Cause {
    /// `marker`, `implied`, `end of stream`, `forced` or `malformed`.
    pub fn as_str(self) -> &'static str {
        ["marker", "implied", "end of stream", "forced", "malformed"][self as usize]
    }
}

/// A field of a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// As the tag wrote it, or as the dialect calls a header's field.
    pub name: &'a [u8],
    /// Decoded.
    pub value: &'a [u8],
    /// Where the name stands in the marker; empty for a header's bare last word.
    pub raw_name: Range<usize>,
    /// Where the value stands in the marker, as it was written.
    pub raw_value: Range<usize>,
}
