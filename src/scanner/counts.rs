//! Counts the text of each channel, and keeps the budget of thinking. The counts must not depend on how the stream is cut.

use crate::channel::Channel;
use crate::utf8::{continuations, fit, is_continuation};

/// The counts of a channel's reported text since the stream began, returned by [`Scanner::counts`](crate::Scanner::counts).
/// Markers and framing are not counted.
///
/// ```
/// use aside::{Channel, Dialect, Scanner};
///
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// scanner.feed("<think>Möglich.</think>Ja.", |_| ())?;
/// let thinking = scanner.counts(Channel::Thinking);
/// assert_eq!((thinking.bytes, thinking.characters, thinking.spans), (9, 8, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Bytes of text.
    pub bytes: u64,
    /// Characters of text. In invalid UTF-8, each byte that does not continue a character counts as a character.
    pub characters: u64,
    /// Spans that were opened.
    pub spans: u64,
    /// Tokens fed by `feed_tokens` whose first byte is text of the channel.
    pub tokens: u64,
}

/// A limit for the thinking. The event [`Kind::Budget`](crate::Kind::Budget) reports that it is exceeded.
///
/// In the scope of a stream, content that turns out to have been thinking (`Reclassify`) counts too; the event is then reported
/// with the next thinking.
///
/// ```
/// use aside::{Budget, BudgetScope, BudgetUnit, Dialect, Kind, Scanner, ScannerOptions};
///
/// let budget = Budget::new(5, BudgetUnit::Characters, BudgetScope::Span);
/// let mut scanner = Scanner::with_options(&Dialect::find("qwen3")?, &ScannerOptions::new().budget(budget))?;
/// let mut exceeded_at = None;
/// scanner.feed("<think>Let me see.", |event| {
///     if event.kind == Kind::Budget {
///         exceeded_at = Some(event.offset);
///     }
/// })?;
/// assert_eq!(exceeded_at, Some(12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// The largest amount that is within the budget.
    pub limit: u64,
    /// The unit that is counted.
    pub unit: BudgetUnit,
    /// The scope. The count is 0 where the scope begins.
    pub scope: BudgetScope,
}

impl Budget {
    /// Returns a budget of `limit` bytes or characters, for each span or for the whole stream.
    #[must_use]
    pub const fn new(limit: u64, unit: BudgetUnit, scope: BudgetScope) -> Budget {
        Budget { limit, unit, scope }
    }
}

/// The unit of a budget.
///
/// ```
/// use aside::{Budget, BudgetScope, BudgetUnit};
///
/// let budget = Budget::new(16 << 10, BudgetUnit::Bytes, BudgetScope::Stream);
/// assert_eq!(budget.unit, BudgetUnit::Bytes);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetUnit {
    /// Bytes of text.
    Bytes,
    /// Characters of text.
    Characters,
}

/// The scope of a budget.
///
/// ```
/// use aside::{Budget, BudgetScope, BudgetUnit};
///
/// let budget = Budget::new(4000, BudgetUnit::Characters, BudgetScope::Span);
/// assert_eq!(budget.scope, BudgetScope::Span);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetScope {
    /// Each thinking span.
    Span,
    /// All thinking of the stream.
    Stream,
}

/// The counts of a stream by channel, except for its tokens.
#[derive(Clone, Default)]
pub struct ChannelCounts {
    bytes: [u64; 4],
    /// The number of bytes that are not the first byte of a character.
    continuations: [u64; 4],
    /// The number of spans, at most `u32::MAX`.
    spans: [u32; 4],
}

impl ChannelCounts {
    /// Returns the counts of a channel. `more` is the number of bytes of its text that were not added to `bytes` yet.
    pub fn counts(&self, channel: Channel, more: u64) -> Counts {
        let at = channel as usize;
        let bytes = self.bytes[at] + more;
        let characters = bytes - self.continuations[at];
        Counts { bytes, characters, spans: self.spans[at].into(), tokens: 0 }
    }

    pub fn add_text(&mut self, channel: Channel, bytes: &[u8]) {
        self.bytes[channel as usize] += bytes.len() as u64;
        self.continuations[channel as usize] += continuations(bytes);
    }

    pub fn add_plain(&mut self, channel: Channel, bytes: u64) {
        self.bytes[channel as usize] += bytes;
    }

    #[inline]
    pub fn add_continuations(&mut self, channel: Channel, bytes: &[u8]) {
        self.continuations[channel as usize] += continuations(bytes);
    }

    pub fn add_span(&mut self, channel: Channel) {
        let spans = &mut self.spans[channel as usize];
        *spans = spans.saturating_add(1);
    }

    /// Counts all content so far as thinking, or all thinking so far as content.
    pub fn reclassify(&mut self, to: Channel) {
        for counts in [&mut self.bytes, &mut self.continuations] {
            move_all(counts, to);
        }
        self.spans[other(to) as usize] = 0;
        // Thinking is a span, content is not.
        if to == Channel::Thinking {
            self.add_span(to);
        }
    }
}

/// Moves the count of the content to the thinking, or the count of the thinking to the content.
pub fn move_all(counts: &mut [u64; 4], to: Channel) {
    let moved = std::mem::take(&mut counts[other(to) as usize]);
    counts[to as usize] += moved;
}

/// Returns the channel that text had before it was reclassified as `to`.
fn other(to: Channel) -> Channel {
    if to == Channel::Thinking { Channel::Content } else { Channel::Thinking }
}

/// Tracks how much of the budget is left.
#[derive(Clone, Copy)]
pub struct BudgetTracker {
    budget: Budget,
    /// The count at the beginning of the budget's scope.
    from: u64,
    is_exceeded: bool,
}

impl BudgetTracker {
    pub fn new(budget: Budget) -> BudgetTracker {
        BudgetTracker { budget, from: 0, is_exceeded: false }
    }

    pub fn clear(&mut self) {
        *self = BudgetTracker::new(self.budget);
    }

    /// Begins a thinking span.
    pub fn begin_span(&mut self, counts: &ChannelCounts) {
        if self.budget.scope == BudgetScope::Span {
            self.from = self.used(counts);
            self.is_exceeded = false;
        }
    }

    /// Returns a lower bound of the bytes of thinking that are still within the budget, or `None` without a limit.
    pub fn left(&self, counts: &ChannelCounts, channel: Channel) -> Option<u64> {
        if channel != Channel::Thinking || self.is_exceeded {
            return None;
        }
        Some(self.budget.limit.saturating_sub(self.used(counts) - self.from))
    }

    /// Returns the number of bytes of a text that are within the budget.
    pub fn fitting(&self, counts: &ChannelCounts, channel: Channel, text: &[u8]) -> usize {
        let Some(left) = self.left(counts, channel) else { return text.len() };
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        match self.budget.unit {
            BudgetUnit::Bytes => fit(text, left).len(),
            BudgetUnit::Characters => {
                let starts = text.iter().enumerate().filter(|(_, byte)| !is_continuation(**byte));
                starts.map(|(at, _)| at).nth(left).unwrap_or(text.len())
            }
        }
    }

    pub fn exceed(&mut self) {
        self.is_exceeded = true;
    }

    fn used(&self, counts: &ChannelCounts) -> u64 {
        let counts = counts.counts(Channel::Thinking, 0);
        match self.budget.unit {
            BudgetUnit::Bytes => counts.bytes,
            BudgetUnit::Characters => counts.characters,
        }
    }
}
