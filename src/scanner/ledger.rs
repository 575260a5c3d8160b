//! The ledger of a stream: the offset up to which it was reported, and the counts of each channel. Offsets only grow until the
//! stream ends.

use super::counts::{ChannelCounts, Counts};
use crate::channel::Channel;

/// The offset and the counts of a stream.
///
/// Text that only the automaton has read is added to the counts late: all of it belongs to one channel, and the number of its
/// bytes follows from the offset. Only continuation bytes of characters are counted at once.
#[repr(C)]
#[derive(Clone, Default)]
pub struct Ledger {
    /// The offset of the next byte to be reported.
    offset: u64,
    /// The number of tokens that begin before that offset.
    tokens: u64,
    /// The offset up to which the automaton alone may report text that completes no marker.
    table_until: u64,
    /// The offset up to which text is included in `counts`.
    counted: u64,
    counts: ChannelCounts,
}

impl Ledger {
    /// Begins a stream. The counts of the last stream stay until the first byte arrives.
    pub fn begin_stream(&mut self, channel: Channel) {
        self.count_plain(channel);
        (self.offset, self.tokens, self.table_until, self.counted) = (0, 0, 0, 0);
    }

    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of tokens that begin before the next byte to be reported.
    #[inline(always)]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Counts the tokens of reported bytes.
    pub fn add_tokens(&mut self, tokens: u32) {
        self.tokens += u64::from(tokens);
    }

    #[cfg(feature = "c-api")]
    #[inline]
    pub fn table_until(&self) -> u64 {
        self.table_until
    }

    pub fn set_table_until(&mut self, offset: u64) {
        self.table_until = offset;
    }

    /// Returns the offset after `len` bytes, if the automaton alone may report them.
    #[inline(always)]
    pub fn end_in_table(&self, len: usize) -> Option<u64> {
        Some(self.offset.wrapping_add(len as u64)).filter(|&end| end <= self.table_until)
    }

    /// Reports text that only the automaton has read, up to the offset `end`. Returns the offset of its beginning.
    #[inline(always)]
    pub fn report_plain(&mut self, end: u64) -> u64 {
        std::mem::replace(&mut self.offset, end)
    }

    /// Counts the continuation bytes of characters in text that only the automaton has read.
    #[inline]
    pub fn add_continuations(&mut self, channel: Channel, text: &[u8]) {
        self.counts.add_continuations(channel, text);
    }

    /// Reports bytes of any kind. Returns the offset of their beginning.
    pub fn report(&mut self, len: usize) -> u64 {
        let offset = self.offset;
        self.offset += len as u64;
        self.counted = self.offset;
        offset
    }

    /// Reports bytes that are not text, and first counts the text before them that only the automaton has read. Returns the
    /// offset of their beginning.
    pub fn report_other(&mut self, channel: Channel, len: usize) -> u64 {
        self.count_plain(channel);
        self.report(len)
    }

    /// Adds to the counts the text of an event that `report` has reported.
    pub fn add_text(&mut self, channel: Channel, text: &[u8]) {
        self.counts.add_text(channel, text);
    }

    /// Adds to the counts the text that only the automaton has read.
    #[inline]
    pub fn count_plain(&mut self, channel: Channel) {
        self.counts.add_plain(channel, self.offset - self.counted);
        self.counted = self.offset;
    }

    pub fn add_span(&mut self, channel: Channel) {
        self.counts.add_span(channel);
    }

    pub fn reclassify(&mut self, to: Channel) {
        self.counts.reclassify(to);
    }

    pub fn clear_counts(&mut self) {
        self.counts = ChannelCounts::default();
    }

    /// Returns the counts of a channel; `innermost` is the channel of the innermost span.
    pub fn counts(&self, channel: Channel, innermost: Channel) -> Counts {
        let more = if channel == innermost { self.offset - self.counted } else { 0 };
        self.counts.counts(channel, more)
    }

    /// Returns the counts up to the last text that was added.
    pub fn channel_counts(&self) -> &ChannelCounts {
        &self.counts
    }

    /// Sets the ledger to the start of a stream, with these counts.
    pub fn rewind(&mut self, counts: ChannelCounts) {
        *self = Ledger { counts, ..Ledger::default() };
    }
}
