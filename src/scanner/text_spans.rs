//! Finds the channels of a whole text as ranges, for a host that keeps the text and marks parts of it, such as the parts that
//! count in a training loss.

use std::ops::Range;

use super::{Error, Event, Kind, Scanner, ScannerOptions};
use crate::{
    channel::{Channel, Start},
    dialect::Dialect,
    memory::push,
};

/// A range of a whole text that is text of one channel.
///
/// ```
/// use aside::{Channel, Dialect, TextSpan};
///
/// let spans = Dialect::find("qwen3")?.spans("<think>hm</think>Yes.", None)?;
/// assert_eq!(spans[0], TextSpan { channel: Channel::Thinking, range: 7..9 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSpan {
    /// The channel.
    pub channel: Channel,
    /// The range of bytes in the text.
    pub range: Range<usize>,
}

impl Dialect {
    /// Returns the parts of a whole text that are text of a channel, in their order. Markers and framing are not included;
    /// neighbouring parts of the same channel are joined. The bytes of a channel's parts, joined, are the text that a [`Scanner`]
    /// reports for the channel. `start` is the span that is open at byte 0; with `None`, the dialect decides.
    ///
    /// ```
    /// use aside::{Channel, Dialect};
    ///
    /// let text = "<think>hm</think>Yes.";
    /// let spans = Dialect::find("qwen3")?.spans(text, None)?;
    /// let parts: Vec<_> = spans.into_iter().map(|span| (span.channel, &text[span.range])).collect();
    /// assert_eq!(parts, [(Channel::Thinking, "hm"), (Channel::Content, "Yes.")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchStart`] if the dialect has no such start, and [`Error::OutOfMemory`].
    #[inline]
    pub fn spans(&self, text: impl AsRef<[u8]>, start: Option<Start>) -> Result<Vec<TextSpan>, Error> {
        spans(self, text.as_ref(), start)
    }
}

fn spans(dialect: &Dialect, text: &[u8], start: Option<Start>) -> Result<Vec<TextSpan>, Error> {
    let mut found: Vec<TextSpan> = Vec::new();
    let mut failed = None;
    let mut take = |event: Event<'_>| match event.kind {
        Kind::Text => {
            // The whole text is in memory, so an offset in it fits into a `usize`.
            let begin = event.offset as usize;
            let span = TextSpan { channel: event.channel, range: begin..begin + event.bytes.len() };
            failed = failed.take().or(push(&mut found, span).err());
        }
        Kind::Reclassify => {
            found.iter_mut().for_each(|span| span.channel = reclassified(span.channel, event.channel));
        }
        _ => {}
    };
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start))?;
    scanner.feed(text, &mut take)?;
    scanner.finish(&mut take)?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    found.dedup_by(|next, span| {
        let is_one = next.channel == span.channel && next.range.start == span.range.end;
        if is_one {
            span.range.end = next.range.end;
        }
        is_one
    });
    Ok(found)
}

/// Returns the channel of earlier text after a [`Kind::Reclassify`] with the channel `to`.
pub(crate) fn reclassified(channel: Channel, to: Channel) -> Channel {
    match channel {
        Channel::Content | Channel::Thinking => to,
        other => other,
    }
}
