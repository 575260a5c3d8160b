//! The options of a scanner: all choices of a host beyond the dialect's rules.

use super::counts::Budget;
use crate::channel::Start;

/// Options of a scanner. By default, the dialect decides everything.
///
/// ```
/// use aside::{Channel, Dialect, Scanner, ScannerOptions, Start, StrayClose};
///
/// let options = ScannerOptions::new()
///     .start(Start::Channel(Channel::Thinking)) // the prompt ends with `<think>`
///     .collect(1 << 20)
///     .stray_close(StrayClose::Text);
/// let mut scanner = Scanner::with_options(&Dialect::find("qwen3")?, &options)?;
/// scanner.feed("hm</think>Yes.", |_| ())?;
/// assert_eq!(scanner.take_thought().unwrap().text, b"hm");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "options change nothing until a scanner is made with them"]
pub struct ScannerOptions {
    pub(crate) start: Option<Start>,
    pub(crate) collect: Option<usize>,
    pub(crate) budget: Option<Budget>,
    pub(crate) stray_close: StrayClose,
    pub(crate) leading_tags: LeadingTags,
    pub(crate) calls: bool,
    pub(crate) calls_in_thinking: CallsInThinking,
}

impl ScannerOptions {
    /// Returns the default options.
    pub fn new() -> ScannerOptions {
        ScannerOptions::default()
    }

    /// Sets the span that is open at byte 0. With `None`, the dialect decides.
    pub fn start(self, start: impl Into<Option<Start>>) -> ScannerOptions {
        ScannerOptions { start: start.into(), ..self }
    }

    /// Collects whole thoughts, for [`Scanner::take_thought`](crate::Scanner::take_thought).
    ///
    /// `bytes` limits the total size of all thoughts that were not taken yet: their texts, types and attributes. Each attribute
    /// counts as at least 48 bytes. The excess is cut off: first attributes, then the type, then the text.
    pub fn collect(self, bytes: impl Into<Option<usize>>) -> ScannerOptions {
        ScannerOptions { collect: bytes.into(), ..self }
    }

    /// Reports when the thinking exceeds this budget, by the event [`Kind::Budget`](crate::Kind::Budget).
    pub fn budget(self, budget: impl Into<Option<Budget>>) -> ScannerOptions {
        ScannerOptions { budget: budget.into(), ..self }
    }

    /// Reports tool calls with their names and arguments, by the kinds from [`Kind::Call`](crate::Kind::Call) on, if the
    /// dialect describes their form. Otherwise their bytes are text of the tool channel.
    pub fn calls(self, calls: bool) -> ScannerOptions {
        ScannerOptions { calls, ..self }
    }

    /// Sets the treatment of a tool call inside the thinking.
    pub fn calls_in_thinking(self, calls_in_thinking: CallsInThinking) -> ScannerOptions {
        ScannerOptions { calls_in_thinking, ..self }
    }

    /// Sets the treatment of a closer of the thinking in the content, after other text.
    pub fn stray_close(self, stray_close: StrayClose) -> ScannerOptions {
        ScannerOptions { stray_close, ..self }
    }

    /// Sets the treatment of a tag `<think>`, `<thinking>` or `<thought>` at the beginning of a stream, if the dialect does not have
    /// that tag.
    pub fn leading_tags(self, leading_tags: LeadingTags) -> ScannerOptions {
        ScannerOptions { leading_tags, ..self }
    }
}

/// The treatment of a tag `<think>`, `<thinking>` or `<thought>` at the beginning of a stream, perhaps after blanks, if the
/// dialect has other markers for the thinking.
///
/// ```
/// use aside::{Channel, Dialect, LeadingTags, Scanner, ScannerOptions};
///
/// let gemma = Dialect::find("gemma-4")?;
/// assert_eq!(gemma.strip("<thought>hm</thought>Yes.")?, b"Yes.");
/// let mut scanner = Scanner::with_options(&gemma, &ScannerOptions::new().leading_tags(LeadingTags::Text))?;
/// scanner.feed("<thought>hm</thought>Yes.", |_| ())?;
/// assert_eq!(scanner.counts(Channel::Content).bytes, 25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeadingTags {
    /// The tag opens the thinking, in every dialect for models: hosts and models write it in place of the dialect's marker. The
    /// tag's closer or the dialect's closer ends the thinking, whichever is first.
    #[default]
    Dialect,
    /// The tag is text. Use it if the host asks for such a tag in its prompt, and looks for the tag itself.
    Text,
}

/// The treatment of a closer of the thinking that has no opener and follows content.
///
/// ```
/// use aside::{Channel, Dialect, Scanner, ScannerOptions, StrayClose};
///
/// let qwen3 = Dialect::find("qwen3")?;
/// let mut scanner = Scanner::with_options(&qwen3, &ScannerOptions::new().stray_close(StrayClose::Text))?;
/// scanner.feed("It ends with </think>.", |_| ())?;
/// assert_eq!(scanner.counts(Channel::Content).bytes, 22);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrayClose {
    /// The dialect decides.
    #[default]
    Dialect,
    /// The closer is text. Use it if the host knows that its model does not think, and its users write about such markers.
    Text,
    /// Only the closer is removed: the text on both sides of it, including white space, stays content. Use it if the host's prompt
    /// has ended the thinking, and the model closes it again. This is the default after
    /// [`start_from_prompt`](crate::Scanner::start_from_prompt) with such a prompt.
    Drop,
}

/// The treatment of a tool call that begins inside the thinking.
///
/// ```
/// use aside::{CallsInThinking, Channel, Dialect, Scanner, ScannerOptions};
///
/// let qwen3 = Dialect::find("qwen3")?;
/// let options = ScannerOptions::new().calls_in_thinking(CallsInThinking::Never);
/// let mut scanner = Scanner::with_options(&qwen3, &options)?;
/// scanner.feed("<think>\nhm <tool_call>{\"name\": \"f\"}</tool_call> hm", |_| ())?;
/// assert_eq!(scanner.counts(Channel::Tool).bytes, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallsInThinking {
    /// The dialect decides: the call ends the thinking, interrupts it, or is part of its text.
    #[default]
    Dialect,
    /// Every tool opener in the thinking is text.
    Never,
    /// The dialect decides, and a rewriter reports a call at once. With `Dialect`, a rewriter waits until it is clear whether the
    /// model means the call: if text follows, the call is part of the thinking.
    Always,
}

/// The reason why a stream ends, as far as its host knows: the argument of [`Scanner::end_reason`](crate::Scanner::end_reason).
///
/// ```
/// use aside::{Channel, Dialect, EndReason, Scanner};
///
/// // By its name, this model starts in the thinking. It has answered without.
/// let mut scanner = Scanner::new(&Dialect::find("qwen3-thinking")?);
/// scanner.feed("The answer is 42.", |_| ())?;
/// scanner.end_reason(EndReason::Ended);
/// scanner.finish(|_| ())?;
/// assert_eq!(scanner.counts(Channel::Content).bytes, 17);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The reason is not known.
    #[default]
    Unknown,
    /// The model has ended its answer: `"finish_reason":"stop"`.
    Ended,
    /// The answer was cut off, by a limit or an error: `"finish_reason":"length"`.
    CutOff,
}
