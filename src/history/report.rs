//! The report of a rewrite, for a host that counts or logs it.

/// The report of a rewrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Whether the body was read, and the reason if it was not.
    pub outcome: Outcome,
    /// The number of messages, or items of Responses, that were changed or removed.
    pub changed: u64,
    /// The number of messages, or items, whose thinking cannot be written into their text. That thinking stays at its place,
    /// unless [`Made::Remove`](super::Made::Remove) removes it. See [`Name::Text`](super::Name::Text).
    pub refused: u64,
    /// The number of messages with thinking in an unknown form, or that is signed or encrypted. That thinking stays at its
    /// place.
    pub unread: u64,
    /// Whether thinking was turned off in the request. See [`Made::Remove`](super::Made::Remove).
    pub thinking_off: bool,
}

/// Whether the body of a request was read, and the reason if it was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Outcome {
    /// The body was read. It may still be unchanged.
    #[default]
    Read = 0,
    /// The body is longer than [`max_body`](super::Options::max_body).
    TooLong = 1,
    /// The body is not UTF-8.
    NotUtf8 = 2,
    /// The body is not a JSON object with a list of messages or items, or its nesting is deeper than 128.
    NotRequest = 3,
    /// The body, a message, an item or a part has a member twice. Servers differ in which of the two they read.
    Repeated = 4,
    /// The history is stored at the server: the request has `previous_response_id` or `conversation`.
    Stored = 5,
}
