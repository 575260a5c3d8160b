//! The events of a scanner, the only form of its reports. Their bytes, joined, must be the stream.

use std::ops::Range;

use crate::channel::Channel;

/// A stretch of the stream with its kind, or an attribute of the last marker.
///
/// Every byte of the stream is in exactly one event: the bytes of all events, joined, are the stream.
///
/// ```
/// use aside::{Dialect, Scanner};
///
/// let stream = "<think>\nhm\n</think>\n\nYes.";
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// let mut joined = Vec::new();
/// scanner.feed(stream, |event| {
///     assert_eq!(event.offset, joined.len() as u64);
///     joined.extend_from_slice(event.bytes);
/// })?;
/// assert_eq!(joined, stream.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The kind of the event, with its data.
    pub kind: Kind<'a>,
    /// The channel of the event's span. Framing has the channel of the text around it.
    pub channel: Channel,
    /// The number of bytes between the start of the stream and the event. An attribute has the offset of its marker.
    pub offset: u64,
    /// The bytes. They are in the caller's chunk, or in the scanner if some were held back. Text never cuts a character of
    /// valid UTF-8.
    pub bytes: &'a [u8],
    /// The number of tokens, of those fed with [`feed_tokens`](crate::Scanner::feed_tokens), that begin before the event. For
    /// an attribute, it is the same as for the next event.
    pub first_token: u64,
    /// The number of tokens that begin in the event's bytes, so that each token with bytes belongs to exactly one event. In bytes
    /// that were fed without tokens, no token begins.
    pub tokens: u32,
}

impl<'a> Event<'a> {
    /// Returns an event of the tool channel, of which only the kind and the bytes are known.
    pub(crate) fn of_call(kind: Kind<'a>, bytes: &'a [u8]) -> Event<'a> {
        Event { kind, channel: Channel::Tool, offset: 0, bytes, first_token: 0, tokens: 0 }
    }
}

/// The kind of an event.
///
/// ```
/// use aside::{Cause, Dialect, Kind, Scanner};
///
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// let (mut spans, mut causes) = (0, Vec::new());
/// scanner.feed("<think>\nhm\n</think>\n\nYes.", |event| match event.kind {
///     Kind::Open { .. } => spans += 1,
///     Kind::Close(cause) => causes.push(cause),
///     _ => {} // text, framing, and kinds that later versions add
/// })?;
/// assert_eq!((spans, causes), (1, vec![Cause::Marker]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind<'a> {
    /// A span begins.
    Open {
        /// The index of the span's `[[span]]` in the dialect's file. For a header, the number of spans.
        rule: u32,
        /// The number of the opener in its rule. [`Dialect::opener`](crate::Dialect::opener) returns its text.
        tag: u32,
    },
    /// An attribute of the last `Open`. The event has no bytes.
    Attribute(Attribute<'a>),
    /// Text of the channel. It is never empty.
    Text,
    /// White space, or a marker, that is removed without opening or closing a span.
    Framing,
    /// The span ends. The bytes are the marker that ends it, if there is one.
    Close(Cause),
    /// All content so far was thinking, or all thinking so far was content; the event has the right channel. Content becomes
    /// thinking at a closer of the thinking without an opener. Thinking becomes content if the stream ends in thinking that was
    /// only guessed ([`Scanner::end_reason`](crate::Scanner::end_reason)), or if the closer of a wrapper of the answer ends the
    /// thinking. The event has no bytes, and is reported at most once in a stream.
    Reclassify,
    /// The thinking exceeds its budget here. The event has no bytes, is between two characters, and is reported once for each
    /// span or stream.
    Budget,
    /// A tool call begins. This and the kinds below are reported only with
    /// [`ScannerOptions::calls`](crate::ScannerOptions::calls). The bytes are the call's beginning, or empty if the opener of
    /// the span was also the beginning.
    Call {
        /// The rule of the span's `Open`.
        rule: u32,
        /// The number of the call's table in that span.
        table: u32,
        /// The number of the call in the stream, from 0.
        index: u64,
    },
    /// The whole name of the call: the event's bytes, or this member if the name is the value of a header's field.
    CallName(Option<&'a [u8]>),
    /// The id of the call. It is reported whole, unless the whole head is the id: then in two parts, with the name between them.
    CallId,
    /// A whole key of the arguments. It is not reported for arguments that are JSON.
    CallKey,
    /// The whole word for the type of the next value.
    CallType,
    /// A value, or the arguments as JSON, verbatim. It is reported in pieces that do not cut a character.
    CallValue,
    /// The value ends. The bytes are its closer, if it has one. It is not reported for arguments that are JSON.
    CallValueEnd {
        /// Whether the value ended without its closer, or with a misspelt closer.
        is_repaired: bool,
    },
    /// The call ends. The bytes are its last marker, if it has one.
    CallEnd {
        /// The number of the call.
        index: u64,
        /// The cause of the end.
        cause: Cause,
        /// Whether the end of one of the call's values was repaired, so that the model may have meant a different value.
        is_repaired: bool,
    },
}

impl Kind<'_> {
    /// Returns the kind's name: `open`, `attribute`, `text`, `framing`, `close`, `reclassify`, `budget`; for parts of a call,
    /// `call`, `call_name`, `call_id`, `call_key`, `call_type`, `call_value`, `call_value_end` or `call_end`.
    ///
    /// ```
    /// assert_eq!(aside::Kind::Text.as_str(), "text");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Kind::Open { .. } => "open",
            Kind::Attribute(_) => "attribute",
            Kind::Text => "text",
            Kind::Framing => "framing",
            Kind::Close(_) => "close",
            Kind::Reclassify => "reclassify",
            Kind::Budget => "budget",
            Kind::Call { .. } => "call",
            Kind::CallName(_) => "call_name",
            Kind::CallId => "call_id",
            Kind::CallKey => "call_key",
            Kind::CallType => "call_type",
            Kind::CallValue => "call_value",
            Kind::CallValueEnd { .. } => "call_value_end",
            Kind::CallEnd { .. } => "call_end",
        }
    }
}

/// The cause of the end of a span or a call.
///
/// ```
/// use aside::{Cause, Dialect, Kind, Scanner};
///
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// scanner.feed("<think>The model was cut off", |_| ())?;
/// let mut cause = None;
/// scanner.finish(|event| {
///     if let Kind::Close(why) = event.kind {
///         cause = Some(why);
///     }
/// })?;
/// assert_eq!(cause, Some(Cause::EndOfStream));
/// assert_eq!(Cause::EndOfStream.as_str(), "end of stream");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Cause {
    /// The closing marker arrived, or the tag closed itself.
    Marker = 0,
    /// A span began that ends this one.
    Implied = 1,
    /// The stream ended.
    EndOfStream = 2,
    /// The host closed the span with [`Scanner::force_close`](crate::Scanner::force_close).
    Forced = 3,
    /// The text of a call broke its grammar. Spans never have this cause.
    Malformed = 4,
    /// The answer ended by itself inside a call, as the host has reported by
    /// [`Scanner::end_reason`](crate::Scanner::end_reason). Spans never have this cause.
    Ended = 5,
}

impl Cause {
    /// Returns `marker`, `implied`, `end of stream`, `forced`, `malformed` or `ended`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        ["marker", "implied", "end of stream", "forced", "malformed", "ended"][self as usize]
    }
}

/// A field of a marker: an attribute of a tag, or a field of a header.
///
/// ```
/// use aside::{Dialect, Kind, Scanner};
///
/// let mut scanner = Scanner::new(&Dialect::find("thought-stream")?);
/// let mut attributes = Vec::new();
/// scanner.feed(r#"<thinking type="plan &amp; check">hm</thinking>"#, |event| {
///     if let Kind::Attribute(attribute) = event.kind {
///         attributes.push((attribute.name.to_vec(), attribute.value.to_vec()));
///     }
/// })?;
/// assert_eq!(attributes, [(b"type".to_vec(), b"plan & check".to_vec())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attribute<'a> {
    /// The name as it is in the tag. The name of a header's field is the one in the dialect's file.
    pub name: &'a [u8],
    /// The value, with its character references decoded.
    pub value: &'a [u8],
    /// The range of the name in the marker. It is empty for the bare last word of a header.
    pub raw_name: Range<usize>,
    /// The range of the value in the marker, not decoded.
    pub raw_value: Range<usize>,
}
