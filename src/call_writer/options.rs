//! The options for calls: the tools, the number of calls, and the part that is sent of a call that may break off.

use std::{borrow::Cow, sync::Arc};

use super::tools::Tools;

/// The part of a call that is sent before the call is whole.
///
/// A call that was repaired counts as not whole, except with `Tell`.
///
/// ```
/// use aside::answer::{Answer, NotWhole, Options, Part};
/// use aside::{Dialect, EndReason};
///
/// let text = r#"<tool_call>{"name": "f", "arguments": {"x": 1"#;
/// let mut answer = Answer::new(&Dialect::find("qwen3")?, &Options::new().not_whole(NotWhole::Hold))?;
/// let mut content = Vec::new();
/// let mut show = |part: Part<'_>| match part {
///     Part::Content(text) => content.extend_from_slice(text),
///     part => panic!("{part:?} is not content"),
/// };
/// answer.feed(text, &mut show)?;
/// answer.finish(EndReason::CutOff, &mut show)?;
/// assert_eq!(content, text.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotWhole {
    /// The arguments are sent as they arrive. If a call breaks off, the client keeps what it got, and the call's end reports
    /// it.
    #[default]
    Tell,
    /// Nothing is sent before the call is whole, and then all of it at once. A call that does not become whole, or is too long
    /// to be held ([`Options::max_held`]), is not emitted: it is text.
    Hold,
    /// Like `Hold`, except that a call that becomes too long to be held is sent as it arrives from then on. It can then no longer
    /// become text.
    Text,
}

/// The treatment of a call of a tool that the request does not list.
///
/// ```
/// use aside::{Dialect, answer::{Tools, UnknownTool}, sse::{Options, Rewriter}};
///
/// let options = Options::new().calls(true).tools(Tools::read("[]")?).unknown_tool(UnknownTool::Drop);
/// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &options)?;
/// let mut out = Vec::new();
/// let body = r#"{"choices":[{"message":{"content":"Hi.<tool_call>{\"name\": \"f\"}</tool_call>"},"finish_reason":"stop"}]}"#;
/// rewriter.feed(body, &mut out)?;
/// assert_eq!(out, br#"{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownTool {
    /// The call is not emitted: it is text.
    #[default]
    Text,
    /// The call is not emitted, and its text is removed.
    Drop,
    /// The call is emitted like any other, as if its tool had no schema.
    Tell,
}

/// Whether the end of a text that has ended by itself may end a call.
///
/// ```
/// use aside::answer::{Answer, Options, Part};
/// use aside::{Dialect, EndReason};
///
/// // The server takes `</tool_call>` for a stop string, and strips it.
/// let text = "<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n";
/// let mut answer = Answer::new(&Dialect::find("glm-4.5")?, &Options::new())?;
/// let mut was_whole = None;
/// let mut take = |part: Part<'_>| {
///     if let Part::CallEnd { is_whole, .. } = part {
///         was_whole = Some(is_whole);
///     }
/// };
/// answer.feed(text, &mut take)?;
/// answer.finish(EndReason::Ended, &mut take)?;
/// assert_eq!(was_whole, Some(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImpliedEnd {
    /// If a call is written as keys and values between markers, and the text ends after a value, the call is whole, and its end
    /// is [implied](crate::Cause::Implied).
    #[default]
    On,
    /// A call that the end of the text cuts is never whole.
    Off,
}

/// Options of a call writer.
#[derive(Clone, Debug)]
#[must_use = "options change nothing until a call writer is made with them"]
pub struct Options {
    pub(crate) tools: Option<Arc<Tools>>,
    pub(crate) id_prefix: Cow<'static, str>,
    pub(crate) max_held: usize,
    pub(crate) not_whole: NotWhole,
    pub(crate) unknown_tool: UnknownTool,
    /// 0 means no limit.
    pub(crate) max_calls: u64,
    pub(crate) implied_end: ImpliedEnd,
    pub(crate) repair_arguments: bool,
}

impl Options {
    /// The default of [`max_held`](Options::max_held): 1 MiB. Memory is used for held bytes only, not for the limit.
    pub const MAX_HELD: usize = 1 << 20;

    /// Returns the default options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Returns the same options without their prefix of ids. Allocates nothing.
    pub(crate) fn without_prefix(&self) -> Options {
        Options { tools: self.tools.clone(), id_prefix: Cow::Borrowed(""), ..*self }
    }

    /// Sets the tools of the request. With `None`, calls of any tool are reported, and nothing is known of their parameters.
    pub fn tools(self, tools: impl Into<Option<Arc<Tools>>>) -> Options {
        Options { tools: tools.into(), ..self }
    }

    /// Sets the prefix of ids for calls without an id of the model: `call_` by default. The call's number among the reported
    /// calls follows the prefix. Ids are unique in a conversation only if each answer has another prefix.
    pub fn id_prefix(self, id_prefix: impl Into<Cow<'static, str>>) -> Options {
        Options { id_prefix: id_prefix.into(), ..self }
    }

    /// Sets the maximum number of bytes of a call that are held because they cannot be sent yet: a value until its type is known,
    /// arguments until the name has arrived. With `None`, [`Options::MAX_HELD`].
    pub fn max_held(self, bytes: impl Into<Option<usize>>) -> Options {
        Options { max_held: bytes.into().unwrap_or(Options::MAX_HELD), ..self }
    }

    /// Sets which part of a call is sent before the call is whole.
    pub fn not_whole(self, not_whole: NotWhole) -> Options {
        Options { not_whole, ..self }
    }

    /// Sets the treatment of a call of a tool that is not among the [`tools`](Options::tools).
    pub fn unknown_tool(self, unknown_tool: UnknownTool) -> Options {
        Options { unknown_tool, ..self }
    }

    /// Sets the maximum number of calls of a stream that are emitted: 1 for a request that says `"parallel_tool_calls": false`. Later
    /// calls are text. With `None`, all are emitted.
    pub fn max_calls(self, calls: impl Into<Option<u64>>) -> Options {
        Options { max_calls: calls.into().unwrap_or(0), ..self }
    }

    /// Sets whether the end of a text that [has ended by itself](crate::Cause::Ended) may end a call.
    pub fn implied_end(self, implied_end: ImpliedEnd) -> Options {
        Options { implied_end, ..self }
    }

    /// Mends faulty arguments whose meaning is clear, as [`answer::Options::repair_arguments`](crate::answer::Options::repair_arguments)
    /// says.
    pub fn repair_arguments(self, repair_arguments: bool) -> Options {
        Options { repair_arguments, ..self }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tools: None,
            id_prefix: Cow::Borrowed("call_"),
            max_held: Options::MAX_HELD,
            not_whole: NotWhole::default(),
            unknown_tool: UnknownTool::default(),
            max_calls: 0,
            implied_end: ImpliedEnd::default(),
            repair_arguments: false,
        }
    }
}
