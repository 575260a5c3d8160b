//! The options of an answer: how its text is read, and which parts a host wants. They are in a separate file, because code below
//! the answer needs them too.

use std::borrow::Cow;
use std::sync::Arc;

use crate::ScannerOptions;
use crate::call_writer::{self, ImpliedEnd, NotWhole, Tools, UnknownTool};

/// Whether the thinking is sent.
///
/// ```
/// use aside::answer::{Answer, Options, Part, Thinking};
/// use aside::{Dialect, EndReason};
///
/// let mut answer = Answer::new(&Dialect::find("qwen3")?, &Options::new().thinking(Thinking::Inline))?;
/// let mut content = Vec::new();
/// let mut show = |part: Part<'_>| {
///     if let Part::Content(text) = part {
///         content.extend_from_slice(text);
///     }
/// };
/// answer.feed("<think>hm</think>Yes.", &mut show)?;
/// answer.finish(EndReason::Ended, &mut show)?;
/// assert_eq!(content, b"<think>hm</think>Yes.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Thinking {
    /// The thinking is sent.
    #[default]
    Keep = 0,
    /// The thinking is left out, whether it is split here or by the server. An answer that is only thinking ends with empty content,
    /// or is [promoted](Options::promote_empty).
    Drop = 1,
    /// The thinking stays in the content, with its markers: for hosts that pass the content to another parser. Calls are taken out of
    /// the text, unless [`inline_calls`](Options::inline_calls) is set, and so are markers of other channels. Thinking that a server
    /// has split itself is sent as thinking.
    Inline = 2,
}

/// Options of an answer.
///
/// ```
/// use aside::answer::{Answer, Options, Tools, UnknownTool};
/// use aside::Dialect;
///
/// let tools = Tools::read(r#"[{"name": "get_weather"}]"#)?;
/// let options = Options::new().tools(tools).unknown_tool(UnknownTool::Tell).id_prefix("call_7_");
/// let answer = Answer::new(&Dialect::find("qwen3")?, &options)?;
/// assert_eq!(answer.held(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "options change nothing until an answer is made with them"]
pub struct Options {
    /// How the text is read.
    pub(crate) scanner: ScannerOptions,
    /// The form of calls.
    pub(crate) writing: call_writer::Options,
    pub(crate) start_call: Option<Arc<str>>,
    pub(crate) thinking: Thinking,
    pub(crate) promote_empty: bool,
    pub(crate) keep_guessed: bool,
    pub(crate) may_take_back: bool,
    pub(crate) inline_calls: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            scanner: ScannerOptions::new(),
            writing: call_writer::Options::new(),
            start_call: None,
            thinking: Thinking::default(),
            promote_empty: false,
            keep_guessed: false,
            may_take_back: false,
            inline_calls: false,
        }
    }
}

impl Options {
    /// The default of [`max_held`](Options::max_held): 1 MiB. Memory is used for held bytes only, not for the limit.
    pub const MAX_HELD: usize = call_writer::Options::MAX_HELD;

    /// Returns the default options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets how the text is read: where it starts, its budget, and more. [`Start::Calls`](crate::Start)
    /// reads the text without its thinking as a list of calls without markers, as a grammar makes the model write it.
    pub fn scanner(self, scanner: ScannerOptions) -> Options {
        Options { scanner, ..self }
    }

    /// Reads the text, without its thinking, as the arguments of a call of this tool: if a request names a tool (`tool_choice`), a
    /// grammar makes the model write the arguments without markers.
    pub fn start_call<'a>(self, name: impl Into<Option<&'a str>>) -> Options {
        Options { start_call: name.into().map(Into::into), ..self }
    }

    /// Sets the tools of the request. A call of another tool is content, as [`unknown_tool`](Options::unknown_tool) says. With
    /// `None`, calls of any tool are reported, and nothing is known of their parameters. With an empty list, all calls are content:
    /// right for a request that offers no tools.
    pub fn tools(self, tools: impl Into<Option<Arc<Tools>>>) -> Options {
        Options { writing: self.writing.tools(tools), ..self }
    }

    /// Sets which part of a call is reported before the call is whole.
    pub fn not_whole(self, not_whole: NotWhole) -> Options {
        Options { writing: self.writing.not_whole(not_whole), ..self }
    }

    /// Sets the treatment of a call of a tool that is not among the [`tools`](Options::tools).
    pub fn unknown_tool(self, unknown_tool: UnknownTool) -> Options {
        Options { writing: self.writing.unknown_tool(unknown_tool), ..self }
    }

    /// Sets whether the end of a text that [has ended by itself](crate::EndReason::Ended) may end a call.
    pub fn implied_end(self, implied_end: ImpliedEnd) -> Options {
        Options { writing: self.writing.implied_end(implied_end), ..self }
    }

    /// Mends faulty arguments whose meaning is clear. The end of such a call reports it
    /// ([`Part::CallEnd`](super::Part::CallEnd)).
    ///
    /// - In a JSON string, a backslash that does not begin an escape is escaped.
    /// - Where the schema asks for an array or an object and not for a string, a string that holds one as JSON is decoded. In
    ///   JSON arguments this applies only to the members, not to values inside them, and only if the call's name precedes the
    ///   arguments.
    /// - Where the schema asks for an array or an object and not for a string, a Python literal between markers becomes JSON.
    ///
    /// ```
    /// use aside::Dialect;
    /// use aside::answer::{Answer, Options, Part, Tools};
    ///
    /// let tools = r#"[{"name": "f", "parameters": {"properties": {"list": {"type": "array"}, "path": {"type": "string"}}}}]"#;
    /// let options = Options::new().tools(Tools::read(tools)?).repair_arguments(true);
    /// let mut answer = Answer::new(&Dialect::find("qwen3")?, &options)?;
    /// let mut arguments = String::new();
    /// let call = r#"<tool_call>{"name": "f", "arguments": {"list": "[1]", "path": "C:\Dev"}}</tool_call>"#;
    /// answer.feed(call, |part| {
    ///     if let Part::Arguments { json, .. } = part {
    ///         arguments.push_str(json);
    ///     }
    /// })?;
    /// assert_eq!(arguments, r#"{"list": [1], "path": "C:\\Dev"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn repair_arguments(self, repair_arguments: bool) -> Options {
        Options { writing: self.writing.repair_arguments(repair_arguments), ..self }
    }

    /// Sets the maximum number of calls that are reported: 1 for a request that says `"parallel_tool_calls": false`. Later calls are
    /// content. The default and maximum is 1,024.
    pub fn max_calls(self, calls: impl Into<Option<u64>>) -> Options {
        Options { writing: self.writing.max_calls(calls), ..self }
    }

    /// Sets the maximum number of bytes of text that are held until it is clear whether they are a call, and the maximum number of
    /// bytes of a value that are held until its type is clear. With `None`, [`Options::MAX_HELD`].
    pub fn max_held(self, bytes: impl Into<Option<usize>>) -> Options {
        Options { writing: self.writing.max_held(bytes), ..self }
    }

    /// Sets the prefix of ids for calls without an id of the model: `call_` by default. The call's number follows the prefix. Ids are
    /// unique in a conversation only if each answer has another prefix.
    pub fn id_prefix(self, id_prefix: impl Into<Cow<'static, str>>) -> Options {
        Options { writing: self.writing.id_prefix(id_prefix), ..self }
    }

    /// Sets whether the thinking is reported.
    pub fn thinking(self, thinking: Thinking) -> Options {
        Options { thinking, ..self }
    }

    /// Reports the thinking of an answer as its content, if the answer ends by itself with no content and no call. For models that
    /// forget to close their thinking. At most 16 MiB of thinking are kept for this.
    pub fn promote_empty(self, promote_empty: bool) -> Options {
        Options { promote_empty, ..self }
    }

    /// Reports text that was only [guessed](crate::Scanner::is_start_guessed) to be thinking as thinking alone. By default, if an
    /// answer ends by itself in guessed thinking, with no marker in it, that text is reported as content too.
    pub fn keep_guessed(self, keep_guessed: bool) -> Options {
        Options { keep_guessed, ..self }
    }

    /// Allows [`Part::Moved`](super::Part::Moved), for a host that builds a whole message. Without it, reported text is never taken
    /// back: content that turns out to be thinking stays content, and thinking that turns out to be the answer is reported again as
    /// content.
    pub fn may_take_back(self, may_take_back: bool) -> Options {
        Options { may_take_back, ..self }
    }

    /// Leaves calls in the content, as the model wrote them: for hosts that pass the content to another parser. No call is
    /// reported, so the tools and the policies for calls have no effect. A call inside the thinking counts as a call, even if the
    /// model only mentions it; [`CallsInThinking::Never`](crate::CallsInThinking) leaves it in the thinking.
    ///
    /// ```
    /// use aside::Dialect;
    /// use aside::answer::{Answer, Options, Part};
    ///
    /// let mut answer = Answer::new(&Dialect::find("qwen3")?, &Options::new().inline_calls(true))?;
    /// let mut content = Vec::new();
    /// let text = "<think>hm</think><tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    /// answer.feed(text, |part| {
    ///     if let Part::Content(text) = part {
    ///         content.extend_from_slice(text);
    ///     }
    /// })?;
    /// assert_eq!(content, b"<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inline_calls(self, inline_calls: bool) -> Options {
        Options { inline_calls, ..self }
    }
}
