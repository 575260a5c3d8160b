//! The options of a rewriter. They are in a separate file, because code below the rewriter needs them too.

use std::sync::Arc;

use super::normalise::Shapes;
use crate::answer::{self, ImpliedEnd, NotWhole, Thinking, Tools, UnknownTool};
use crate::{CallsInThinking, LeadingTags, ScannerOptions, Start, StrayClose};

/// The name of the field for the thinking.
///
/// ```
/// use aside::sse::Field;
///
/// assert_eq!(Field::default().name(), "reasoning_content");
/// assert_eq!(Field::Reasoning.name(), "reasoning");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Field {
    /// `reasoning_content`, the name that most servers and clients use.
    #[default]
    ReasoningContent = 0,
    /// `reasoning`.
    Reasoning = 1,
    /// `thinking`.
    Thinking = 2,
}

impl Field {
    /// Returns the field's name in the JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["reasoning_content", "reasoning", "thinking"][self as usize]
    }
}

/// The kind of body that is fed.
///
/// ```
/// use aside::{Dialect, sse::{Body, Options, Rewriter}};
///
/// // The response's header says `application/json`.
/// let rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::new().body(Body::Json))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Body {
    /// The first byte that is not blank decides: JSON begins with `{`, and an event stream never does. If the first object is a
    /// line of Ollama, and Ollama is among the [`Formats`], the body is read as lines.
    #[default]
    Unknown = 0,
    /// An event stream (`text/event-stream`).
    Events = 1,
    /// One JSON object (`application/json`), or an event stream if the body begins with a field of an event.
    Json = 2,
    /// JSON objects, each on a separate line (`application/x-ndjson`), as Ollama streams.
    Lines = 3,
}

/// The formats of answers that are read. Answers of other formats are sent unchanged.
///
/// ```
/// use aside::sse::Formats;
///
/// let formats = Formats::CHAT | Formats::MESSAGES;
/// assert!(formats.contains(Formats::CHAT) && !formats.contains(Formats::OLLAMA));
/// assert_eq!(Formats::default(), Formats::ALL);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Formats(u32);

impl Formats {
    /// Chat completions of OpenAI (`/chat/completions`).
    pub const CHAT: Formats = Formats(1);
    /// Legacy completions of OpenAI (`/completions`).
    pub const COMPLETIONS: Formats = Formats(2);
    /// OpenAI Responses (`/responses`).
    pub const RESPONSES: Formats = Formats(4);
    /// Anthropic Messages (`/messages`).
    pub const MESSAGES: Formats = Formats(8);
    /// Ollama's own API (`/api/chat` and `/api/generate`).
    pub const OLLAMA: Formats = Formats(16);
    /// All formats, including those that later versions add.
    pub const ALL: Formats = Formats(i32::MAX as u32);

    /// The bits of the formats that have a name.
    const KNOWN: u32 = 31;

    /// Returns the formats of these bits, as C writes them, or `None` if a bit is unknown. Both 0 and the bits of
    /// [`Formats::ALL`] mean all formats.
    #[must_use]
    pub fn from_bits(bits: u32) -> Option<Formats> {
        match bits {
            0 => Some(Formats::ALL),
            bits if bits == Formats::ALL.0 => Some(Formats::ALL),
            bits => (bits & !Formats::KNOWN == 0).then_some(Formats(bits)),
        }
    }

    /// Returns the bits of these formats, as C writes them.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns whether all of `formats` are among these.
    #[must_use]
    pub fn contains(self, formats: Formats) -> bool {
        self.0 & formats.0 == formats.0
    }
}

impl Default for Formats {
    fn default() -> Formats {
        Formats::ALL
    }
}

impl std::ops::BitOr for Formats {
    type Output = Formats;

    fn bitor(self, other: Formats) -> Formats {
        Formats(self.0 | other.0)
    }
}

/// The form of the thinking in the items of OpenAI Responses.
///
/// ```
/// use aside::sse::{Formats, Options, ResponsesAs};
///
/// let options = Options::new().formats(Formats::RESPONSES).responses_as(ResponsesAs::Summary);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum ResponsesAs {
    /// The thinking is the `content` of a reasoning item, as `reasoning_text`: right for clients that send items back.
    #[default]
    ReasoningText = 0,
    /// The thinking is the item's `summary`, as `summary_text`: for clients that show only summaries, such as the AI SDK.
    Summary = 1,
}

/// The treatment of comments in a stream of events, which servers send to keep a connection open.
///
/// ```
/// use aside::{Dialect, sse::{Comments, Options, Rewriter}};
///
/// let options = Options::new().comments(Comments::Drop);
/// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &options)?;
/// let mut out = Vec::new();
/// rewriter.feed(": keep-alive\n\ndata: {\"choices\":[]}\n\n", &mut out)?;
/// assert_eq!(out, b"data: {\"choices\":[]}\n\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Comments {
    /// Comments are sent.
    #[default]
    Keep = 0,
    /// Comments are left out.
    Drop = 1,
    /// Each comment becomes an event without text: a chunk in chat and legacy completions, a `ping` in Messages. A comment is
    /// left out in Responses, which has no such event, and before the first event unless [`Formats`] names one format.
    Chunk = 2,
}

/// Options of a rewriter.
///
/// ```
/// use aside::{Dialect, sse::{Field, Options, Rewriter}};
///
/// let options = Options::new().field(Field::Reasoning).max_event(1 << 20);
/// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &options)?;
/// let mut out = Vec::new();
/// rewriter.feed("{\"choices\":[{\"message\":{\"content\":\"<think>hm</think>Yes.\"}}]}", &mut out)?;
/// assert_eq!(out, b"{\"choices\":[{\"message\":{\"reasoning\":\"hm\",\"content\":\"Yes.\"}}]}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "options change nothing until a rewriter is made with them"]
pub struct Options {
    /// How each text is read.
    pub(crate) answer: answer::Options,
    pub(crate) field: Field,
    pub(crate) body: Body,
    pub(crate) max_event: Option<usize>,
    pub(crate) off: bool,
    pub(crate) calls: bool,
    pub(crate) formats: Formats,
    pub(crate) responses_as: ResponsesAs,
    pub(crate) repair: bool,
    pub(crate) comments: Comments,
    pub(crate) merge: bool,
    pub(crate) label: bool,
    pub(crate) normalise: Shapes,
}

impl Options {
    /// The default of [`max_event`](Options::max_event): 16 MiB. Memory is used as data arrives, and not reserved in advance.
    pub const MAX_EVENT: usize = 16 << 20;

    /// The default of [`max_held`](Options::max_held): 1 MiB. Memory is used for held bytes only, not for the limit.
    pub const MAX_HELD: usize = answer::Options::MAX_HELD;

    /// Returns the default options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets how each choice's text is read, and what is wanted of it. The methods of this type for single options of an answer, such
    /// as [`tools`](Options::tools), change these. The ids, the budget, `may_take_back` and `inline_calls` of an answer have no effect
    /// here.
    pub fn answer(self, answer: answer::Options) -> Options {
        Options { answer, ..self }
    }

    /// Changes how the text is read.
    fn scanner(mut self, change: impl FnOnce(ScannerOptions) -> ScannerOptions) -> Options {
        self.answer.scanner = change(self.answer.scanner);
        self
    }

    /// Sets the span that is open at the first byte of each choice's text. With `None`, the dialect decides.
    pub fn start(self, start: impl Into<Option<Start>>) -> Options {
        self.scanner(|scanner| scanner.start(start))
    }

    /// Reads each choice's text, without its thinking, as the arguments of a call of this tool: if a request names a tool
    /// (`tool_choice`), a grammar makes the model write the arguments without markers. It needs [`calls`](Options::calls). For a list
    /// of calls, use [`Start::Calls`].
    ///
    /// ```
    /// use aside::{Dialect, sse::{Options, Rewriter}};
    ///
    /// let options = Options::new().calls(true).start_call("get_weather");
    /// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &options)?;
    /// let mut out = Vec::new();
    /// let body = r#"{"id":"c1","choices":[{"message":{"content":"{\"city\": \"Oslo\"}"},"finish_reason":"stop"}]}"#;
    /// rewriter.feed(body, &mut out)?;
    /// assert_eq!(
    ///     String::from_utf8(out)?,
    ///     r#"{"id":"c1","choices":[{"message":{"content":null,"tool_calls":[{"id":"call_c1_0_0","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Oslo\"}"}}]},"finish_reason":"tool_calls"}]}"#,
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_call<'a>(self, name: impl Into<Option<&'a str>>) -> Options {
        Options { answer: self.answer.start_call(name), ..self }
    }

    /// Sets the field for the thinking in chat and legacy completions. In Ollama's format it is always `thinking`, the only
    /// field that Ollama's clients know.
    pub fn field(self, field: Field) -> Options {
        Options { field, ..self }
    }

    /// Sets the kind of body that is fed.
    pub fn body(self, body: Body) -> Options {
        Options { body, ..self }
    }

    /// Sets the length of the longest event or JSON body that is read. With `None`, [`Options::MAX_EVENT`].
    pub fn max_event(self, bytes: impl Into<Option<usize>>) -> Options {
        Options { max_event: bytes.into(), ..self }
    }

    /// Returns the length of the longest event or JSON body that is read.
    pub(super) fn max_event_bytes(&self) -> usize {
        self.max_event.unwrap_or(Options::MAX_EVENT)
    }

    /// Returns whether the thinking is left out.
    pub(super) fn drops_thinking(&self) -> bool {
        self.answer.thinking == Thinking::Drop
    }

    /// Turns the rewriter off: all bytes are sent unchanged.
    pub fn off(self, off: bool) -> Options {
        Options { off, ..self }
    }

    /// Sets the treatment of a closer of the thinking in the content, after other text.
    pub fn stray_close(self, stray_close: StrayClose) -> Options {
        self.scanner(|scanner| scanner.stray_close(stray_close))
    }

    /// Sets the treatment of a tag `think`, `thinking` or `thought` at the beginning of each text, if the dialect does not have
    /// that tag.
    pub fn leading_tags(self, leading_tags: LeadingTags) -> Options {
        self.scanner(|scanner| scanner.leading_tags(leading_tags))
    }

    /// Makes `tool_calls` of the calls that the model writes as text, if the dialect describes their form. If the server itself
    /// sends a call in a choice, the rewriter looks for no more calls in that choice.
    ///
    /// ```
    /// use aside::{Dialect, answer::Tools, sse::{Options, Rewriter}};
    ///
    /// let tools = Tools::read(r#"[{"type": "function", "function": {"name": "f"}}]"#)?;
    /// let dialect = Dialect::load(
    ///     r#"
    ///     name = "mine"
    ///     [[span]]
    ///     channel = "tool"
    ///     open = ["<tool_call>"]
    ///     close = ["</tool_call>"]
    ///     [[span.call]]
    ///     body = "object"
    ///     "#,
    /// )?;
    /// let mut rewriter = Rewriter::new(&dialect, &Options::new().calls(true).tools(tools))?;
    /// let mut out = Vec::new();
    /// rewriter.feed(
    ///     r#"{"id":"c1","choices":[{"message":{"content":"<tool_call>{\"name\": \"f\"}</tool_call>"},"finish_reason":"stop"}]}"#,
    ///     &mut out,
    /// )?;
    /// assert_eq!(
    ///     String::from_utf8(out)?,
    ///     r#"{"id":"c1","choices":[{"message":{"content":null,"tool_calls":[{"id":"call_c1_0_0","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn calls(self, calls: bool) -> Options {
        Options { calls, ..self }
    }

    /// Sets the tools of the request: a call of another tool stays content. With `None`, calls become `tool_calls` whatever they
    /// call. A gateway should treat a request that names no tools like one with an empty list. A rewriter that serves several
    /// requests gets the tools of each by [`Rewriter::use_tools`](super::Rewriter::use_tools).
    pub fn tools(self, tools: impl Into<Option<Arc<Tools>>>) -> Options {
        Options { answer: self.answer.tools(tools), ..self }
    }

    /// Sets the treatment of a tool call inside the thinking.
    pub fn calls_in_thinking(self, calls_in_thinking: CallsInThinking) -> Options {
        self.scanner(|scanner| scanner.calls_in_thinking(calls_in_thinking))
    }

    /// Sets the maximum number of bytes of a choice's text that are held until it is clear whether a tool call is for the client, and
    /// the maximum number of bytes of a value that are held until its type is clear. With `None`, [`Options::MAX_HELD`]. In all
    /// choices together, at most 4 MiB of text are held.
    pub fn max_held(self, bytes: impl Into<Option<usize>>) -> Options {
        Options { answer: self.answer.max_held(bytes), ..self }
    }

    /// Sets which part of a call is sent before the call is whole. Bodies and streams of Ollama have only whole calls.
    ///
    /// ```
    /// use aside::{Dialect, answer::NotWhole, sse::{Options, Rewriter}};
    ///
    /// let options = Options::new().calls(true).not_whole(NotWhole::Hold);
    /// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &options)?;
    /// let mut out = Vec::new();
    /// let chunk = r#"data: {"choices":[{"index":0,"delta":{"content":"<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": "}}]}"#;
    /// rewriter.feed(format!("{chunk}\n\n"), &mut out)?;
    /// assert!(!String::from_utf8_lossy(&out).contains("tool_calls"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn not_whole(self, not_whole: NotWhole) -> Options {
        Options { answer: self.answer.not_whole(not_whole), ..self }
    }

    /// Sets the treatment of a call of a tool that is not among the [`tools`](Options::tools).
    pub fn unknown_tool(self, unknown_tool: UnknownTool) -> Options {
        Options { answer: self.answer.unknown_tool(unknown_tool), ..self }
    }

    /// Sets the maximum number of calls of a choice that become `tool_calls`: 1 for a request that says `"parallel_tool_calls":
    /// false`. Later calls stay content. The default and maximum is 1,024.
    pub fn max_calls(self, calls: impl Into<Option<u64>>) -> Options {
        Options { answer: self.answer.max_calls(calls), ..self }
    }

    /// Sets whether the end of a text that has ended by itself (`"finish_reason":"stop"`) may end a call.
    pub fn implied_end(self, implied_end: ImpliedEnd) -> Options {
        Options { answer: self.answer.implied_end(implied_end), ..self }
    }

    /// Mends faulty arguments whose meaning is clear, as [`answer::Options::repair_arguments`] does.
    pub fn repair_arguments(self, repair_arguments: bool) -> Options {
        Options { answer: self.answer.repair_arguments(repair_arguments), ..self }
    }

    /// Sets the formats of answers that are read; answers of other formats are sent unchanged. The default is [`Formats::ALL`].
    pub fn formats(self, formats: Formats) -> Options {
        Options { formats, ..self }
    }

    /// Sets the form of the thinking in the items of OpenAI Responses.
    pub fn responses_as(self, responses_as: ResponsesAs) -> Options {
        Options { responses_as, ..self }
    }

    /// Mends faults in a stream of events that make clients fail: empty data, comments inside events, objects over several
    /// lines, chunks without choices, and more.
    pub fn repair(self, repair: bool) -> Options {
        Options { repair, ..self }
    }

    /// Sets the treatment of comments, for clients that fail on them. It applies to streams of events.
    pub fn comments(self, comments: Comments) -> Options {
        Options { comments, ..self }
    }

    /// Repeats the thinking of an answer as its content, if the answer ends by itself with no content and no call. For models
    /// that forget to close their thinking. At most [`max_event`](Options::max_event) bytes of thinking are kept for this.
    pub fn promote_empty(self, promote_empty: bool) -> Options {
        Options { answer: self.answer.promote_empty(promote_empty), ..self }
    }

    /// Sends text that was only [guessed](crate::Scanner::is_start_guessed) to be thinking as thinking alone. By default, if an answer
    /// ends by itself in guessed thinking that has no marker, a stream repeats that text as its content, and a body has the text only
    /// as content; up to [`max_event`](Options::max_event) bytes are kept for this. For hosts that do not show the thinking, or that
    /// never want it twice.
    pub fn keep_guessed(self, keep_guessed: bool) -> Options {
        Options { answer: self.answer.keep_guessed(keep_guessed), ..self }
    }

    /// Labels the thinking blocks of Messages and the reasoning items of Responses that the rewriter makes: the signature of a
    /// block is `aside:1:` and some letters in place of an empty one, and the id of an item begins with `rs_aside_1_` in place of
    /// `rs_`. A label proves nothing; [`Made::Remove`](crate::history::Made::Remove) recognises it in a later request.
    ///
    /// ```
    /// use aside::{Dialect, sse::{Options, Rewriter}};
    ///
    /// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::new().label(true))?;
    /// let mut out = Vec::new();
    /// rewriter.feed(r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"<think>a</think>b"}]}"#, &mut out)?;
    /// assert!(String::from_utf8(out)?.contains(r#"{"type":"thinking","thinking":"a","signature":"aside:1:"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn label(self, label: bool) -> Options {
        Options { label, ..self }
    }

    /// Writes the result of each chunk of a stream as one chunk, the thinking before the content, for clients that count
    /// chunks. It applies to chat, legacy completions and Ollama, and also where [`repair`](Options::repair) or
    /// [`normalise`](Options::normalise) would make two chunks of one.
    pub fn merge(self, merge: bool) -> Options {
        Options { merge, ..self }
    }

    /// Sets which shapes of servers' answers are changed into one shape. The default is [`Shapes::NONE`].
    pub fn normalise(self, normalise: Shapes) -> Options {
        Options { normalise, ..self }
    }

    /// Sets whether the thinking is sent. [`read_request`](super::read_request) finds whether a request wants it.
    pub fn thinking(self, thinking: Thinking) -> Options {
        Options { answer: self.answer.thinking(thinking), ..self }
    }
}
