//! The counts of a host's streams, in all formats: events that were read, events that were changed, and events that should have
//! been read but were sent unread.

/// Counts of a rewriter's streams since it was created, or since the last [`reset`](crate::sse::Rewriter::reset). A finish does not
/// reset them.
///
/// ```
/// use aside::{Dialect, sse::{Options, Rewriter}};
///
/// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::new())?;
/// let mut out = Vec::new();
/// rewriter.feed("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"<think>hm</think>Yes. <\"}}]}\n\n", &mut out)?;
/// let stats = rewriter.stats();
/// assert_eq!((stats.events, stats.changed, stats.added), (1, 1, 1));
/// assert_eq!((stats.thinking_bytes, stats.content_bytes, stats.held), (2, 5, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Events with data, lines of JSON, and bodies that were read whole.
    pub events: u64,
    /// The number of `events` that were changed, or sent with chunks before them.
    pub changed: u64,
    /// Chunks and events that were written in addition to the server's.
    pub added: u64,
    /// Events, and separate comments, that were mended or left out.
    pub repaired: u64,
    /// Events and bodies that were sent unread because they were too long.
    pub too_long: u64,
    /// JSON objects that were sent unread because they are neither in a format that is read nor an error.
    pub unread: u64,
    /// Answers without content whose thinking was too long to be sent as content.
    pub unpromoted: u64,
    /// Events that should repeat a whole text but lack some of it, because the text was too long to be kept.
    pub truncated: u64,
    /// Texts that a server repeats in Responses and that were split again, because their message differs from what was sent before, or
    /// was too long to be kept.
    pub contradicted: u64,
    /// Bytes of text that were sent as thinking. Text that a server splits itself is not counted.
    pub thinking_bytes: u64,
    /// Bytes of text that were sent as content.
    pub content_bytes: u64,
    /// Bytes of text, and of an unfinished event or body, that are held now. A finish reads the event or
    /// body, and sends the text.
    pub held: u64,
    /// Texts whose thinking the server splits itself.
    pub split_by_server: u64,
    /// Whether the stream is sent unread because its first bytes are not text: it is compressed (gzip, zstd, zlib or Brotli),
    /// or its encoding is not UTF-8. After a finish, this describes the stream that has ended, until another begins.
    ///
    /// In that case, send `Accept-Encoding: identity` to the server, or decode the body before it is fed.
    pub encoded: bool,
    /// Tool calls in the text that were sent as calls. Calls that a server sends itself are not counted.
    pub calls: u64,
}

impl Stats {
    /// Returns the counts with their names, for logs and metrics. `encoded` is 1 or 0.
    #[must_use]
    pub fn counts(&self) -> [(&'static str, u64); 15] {
        [
            ("events", self.events),
            ("changed", self.changed),
            ("added", self.added),
            ("repaired", self.repaired),
            ("too_long", self.too_long),
            ("unread", self.unread),
            ("unpromoted", self.unpromoted),
            ("truncated", self.truncated),
            ("thinking_bytes", self.thinking_bytes),
            ("content_bytes", self.content_bytes),
            ("held", self.held),
            ("split_by_server", self.split_by_server),
            ("encoded", self.encoded.into()),
            ("calls", self.calls),
            ("contradicted", self.contradicted),
        ]
    }
}
