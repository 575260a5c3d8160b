//! A host's options for calls: the tools, the number of calls, and the part that is sent of a call that may break off. The
//! rewriter has the same options.

use std::{borrow::Cow, sync::Arc};

use super::tools::Tools;

/// The part of a call that is sent before the call is whole.
///
/// A call that was [repaired](super::End::is_repaired) counts as not whole, except with `Tell`.
///
/// ```
/// use aside::{Dialect, Event, Scanner, ScannerOptions, call_writer::{CallWriter, NotWhole, Options}};
///
/// let qwen3 = Dialect::find("qwen3")?;
/// let mut writer = CallWriter::new(&qwen3, Options::new().not_whole(NotWhole::Hold));
/// let mut scanner = Scanner::with_options(&qwen3, &ScannerOptions::new().calls(true))?;
/// let mut deltas = 0;
/// let mut count = |event: Event<'_>| writer.event(&event, |_| deltas += 1).expect("memory");
/// scanner.feed(r#"<tool_call>{"name": "f", "arguments": {"x": 1"#, &mut count)?;
/// scanner.finish(&mut count)?;
/// assert_eq!(deltas, 0);
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
    /// As `Hold`, but a call that becomes too long to be held is from then on sent as it arrives. It can then no longer become
    /// text.
    Text,
}

/// The treatment of a call of a tool that the request does not list.
///
/// ```
/// use std::sync::Arc;
///
/// use aside::{Dialect, call_writer::{Tools, UnknownTool}, sse::{Options, Rewriter}};
///
/// let options = Options::new().calls(true).tools(Arc::new(Tools::read("[]")?)).unknown_tool(UnknownTool::Drop);
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
/// use aside::{Dialect, EndReason, Event, Scanner, ScannerOptions, call_writer::{CallWriter, Options}};
///
/// // The server takes `</tool_call>` for a stop string, and strips it.
/// let text = "<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n";
/// let glm = Dialect::find("glm-4.5")?;
/// let mut writer = CallWriter::new(&glm, Options::new());
/// let mut scanner = Scanner::with_options(&glm, &ScannerOptions::new().calls(true))?;
/// let mut is_whole = None;
/// let mut take = |event: Event<'_>| writer.event(&event, |delta| is_whole = delta.end.map(|end| end.is_whole)).expect("memory");
/// scanner.feed(text, &mut take)?;
/// scanner.end_reason(EndReason::Ended);
/// scanner.finish(&mut take)?;
/// assert_eq!(is_whole, Some(true));
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
///
/// ```
/// use std::sync::Arc;
///
/// use aside::{Dialect, call_writer::{CallWriter, Options, Tools}};
///
/// let tools = Tools::read(r#"[{"name": "get_weather"}]"#)?;
/// let options = Options::new().tools(Arc::new(tools)).id_prefix("call_7_").max_held(64 << 10);
/// let writer = CallWriter::new(&Dialect::find("qwen3")?, options);
/// assert_eq!(writer.emitted(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    /// Sets the tools of the request. With `None`, calls of any tool are reported, and nothing is known of their parameters.
    pub fn tools(self, tools: impl Into<Option<Arc<Tools>>>) -> Options {
        Options { tools: tools.into(), ..self }
    }

    /// Sets the prefix of ids for calls without an id of the model: `call_` by default. The call's number among the reported
    /// calls follows the prefix. Ids are unique in a conversation only if each answer has another prefix.
    pub fn id_prefix(self, id_prefix: impl Into<Cow<'static, str>>) -> Options {
        Options { id_prefix: id_prefix.into(), ..self }
    }

    /// Sets the most bytes of a call that are held because they cannot be sent yet: a value until its type is known, arguments
    /// until the name has arrived. With `None`, [`Options::MAX_HELD`].
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

    /// Sets the most calls of a stream that are emitted: 1 for a request that says `"parallel_tool_calls": false`. Later calls
    /// are text. With `None`, all are emitted.
    pub fn max_calls(self, calls: impl Into<Option<u64>>) -> Options {
        Options { max_calls: calls.into().unwrap_or(0), ..self }
    }

    /// Sets whether the end of a text that [has ended by itself](crate::Cause::Ended) may end a call.
    pub fn implied_end(self, implied_end: ImpliedEnd) -> Options {
        Options { implied_end, ..self }
    }

    /// Mends faulty arguments whose meaning is clear. The end of such a call reports it
    /// ([`End::is_repaired`](super::End::is_repaired)).
    ///
    /// - In a JSON string, a backslash that does not begin an escape is escaped.
    /// - Where the schema asks for an array or an object and not for a string, a string that holds one as JSON is decoded. In
    ///   JSON arguments this applies only to the members, not to values inside them, and only if the call's name precedes the
    ///   arguments.
    /// - Where the schema asks for an array or an object and not for a string, a Python literal between markers becomes JSON.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use aside::{Dialect, Scanner, ScannerOptions, call_writer::{CallWriter, Options, Tools}};
    ///
    /// let tools = r#"[{"name": "f", "parameters": {"properties": {"list": {"type": "array"}, "path": {"type": "string"}}}}]"#;
    /// let qwen3 = Dialect::find("qwen3")?;
    /// let options = Options::new().tools(Arc::new(Tools::read(tools)?)).repair_arguments(true);
    /// let mut writer = CallWriter::new(&qwen3, options);
    /// let mut scanner = Scanner::with_options(&qwen3, &ScannerOptions::new().calls(true))?;
    /// let mut arguments = String::new();
    /// let call = r#"<tool_call>{"name": "f", "arguments": {"list": "[1]", "path": "C:\Dev"}}</tool_call>"#;
    /// scanner.feed(call, |event| {
    ///     writer.event(&event, |delta| arguments.push_str(delta.arguments)).expect("memory");
    /// })?;
    /// assert_eq!(arguments, r#"{"list": [1], "path": "C:\\Dev"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
