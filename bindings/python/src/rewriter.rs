//! The rewriter: the bytes of a server's answer in, the same bytes out with its text split into fields.

use aside::sse::Options;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};

use crate::calls::tools;
use crate::dialect::{DialectLike, start};
use crate::errors::{self, Exclusive};
use crate::text::{Form, Text, released};
use crate::words::{self, SeveralWords};

/// The counts of a rewriter since it was made or reset.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct Stats {
    events: u64,
    changed: u64,
    added: u64,
    repaired: u64,
    too_long: u64,
    unread: u64,
    unpromoted: u64,
    truncated: u64,
    thinking_bytes: u64,
    content_bytes: u64,
    held: u64,
    split_by_server: u64,
    /// Whether the answer is sent on unread because it is not text: compressed, or in another encoding than UTF-8.
    encoded: bool,
    /// The number of tool calls in the text that were sent as calls; calls that the server itself has made are not counted.
    calls: u64,
}

/// Splits the text of a server's answer into fields, as its bytes come: an event stream, lines, or one JSON body. One thread at
/// a time may be inside a rewriter; another gets BusyError.
///
///     >>> from libaside import Rewriter
///     >>> rewriter = Rewriter("qwen3")
///     >>> rewriter.feed(b'{"choices":[{"message":{"content":"<think>hm</think>Yes."}}]}') + rewriter.finish()
///     b'{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}'
///
/// `formats` names the APIs whose answers are read: one of `chat`, `completions`, `responses`, `messages`, `ollama` and
/// `all`, or a list; without it, all are read. `field` is where the thinking of a chat goes: `reasoning_content`, `reasoning`
/// or `thinking`. `body` is the kind of body that is fed: `unknown`, `events`, `json` or `lines`. With
/// `calls_in_thinking="never"`, tool openers inside the thinking are text, and with `"always"` a call there is reported at once, which otherwise waits until it
/// is known whether it is meant; with `stray_close="text"`, so is a closer of the
/// thinking after other content, and `stray_close="drop"` removes it alone. With `leading_tags="text"`, a tag of another family
/// at the beginning of a text is text. They are `"dialect"` by default: the dialect says. `max_tools` is the most bytes of
/// `tools` as JSON. `not_whole`, `unknown_tool`, `implied_end`, `max_calls` and `repair_arguments` work as for a Scanner; with
/// `unknown_tool="drop"`, a call of a tool that is not in `tools` is removed. `start_call` is the name of a tool: the text,
/// without its thinking, is the arguments of a call of it, as a grammar makes a model write them without markers (a named tool
/// as `tool_choice`); for a list of calls there is `start="calls"`. `normalise` names the shapes of servers' answers of which
/// one is made, a word or a list: `field` (the server's thinking is sent in `field`), `lists` (content that is a list becomes a
/// string), `chunks` (a chunk with thinking and content becomes two), `content` (content after thinking that the server has
/// split is split too) or `all`. With `thinking="drop"`, no thinking is sent; `request_thinking` reads that from a request.
/// With `label`, thinking blocks and reasoning items that are made are labelled, so that `rewrite_history` recognises them. The
/// other options are those of the library's manual.
#[pyclass(frozen, module = "libaside")]
pub struct Rewriter {
    state: Exclusive<aside::sse::Rewriter>,
    max_tools: Option<usize>,
}

#[pymethods]
impl Rewriter {
    #[new]
    #[pyo3(signature = (dialect, *, start = None, field = "reasoning_content", body = "unknown", formats = None,
        responses_as = "reasoning_text", calls = false, tools = None, calls_in_thinking = "dialect", repair = false,
        promote_empty = false, merge = false, stray_close = "dialect", leading_tags = "dialect", off = false,
        max_event = None, max_held = None, max_tools = None, keep_guessed = false, not_whole = "tell",
        unknown_tool = "text", implied_end = "on", max_calls = None, repair_arguments = false, start_call = None,
        normalise = None, thinking = "keep", label = false, comments = "keep"))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn new(
        dialect: DialectLike<'_>,
        start: Option<&str>,
        field: &str,
        body: &str,
        formats: Option<SeveralWords>,
        responses_as: &str,
        calls: bool,
        tools: Option<&Bound<'_, PyAny>>,
        calls_in_thinking: &str,
        repair: bool,
        promote_empty: bool,
        merge: bool,
        stray_close: &str,
        leading_tags: &str,
        off: bool,
        max_event: Option<usize>,
        max_held: Option<usize>,
        max_tools: Option<usize>,
        keep_guessed: bool,
        not_whole: &str,
        unknown_tool: &str,
        implied_end: &str,
        max_calls: Option<u64>,
        repair_arguments: bool,
        start_call: Option<&str>,
        normalise: Option<SeveralWords>,
        thinking: &str,
        label: bool,
        comments: &str,
    ) -> PyResult<Rewriter> {
        let tools = self::tools(tools, max_tools)?;
        let options = Options::new()
            .start(self::start(start)?)
            .field(words::find("field", field, words::FIELD)?)
            .body(words::find("body", body, words::BODY)?)
            .formats(words::formats(formats.as_ref())?)
            .responses_as(words::find("responses_as", responses_as, words::RESPONSES_AS)?)
            .calls(calls || tools.is_some())
            .tools(tools)
            .calls_in_thinking(words::find("calls_in_thinking", calls_in_thinking, words::CALLS_IN_THINKING)?)
            .repair(repair)
            .promote_empty(promote_empty)
            .merge(merge)
            .stray_close(words::find("stray_close", stray_close, words::STRAY_CLOSE)?)
            .leading_tags(words::find("leading_tags", leading_tags, words::LEADING_TAGS)?)
            .off(off)
            .max_event(max_event)
            .max_held(max_held)
            .keep_guessed(keep_guessed)
            .not_whole(words::find("not_whole", not_whole, words::NOT_WHOLE)?)
            .unknown_tool(words::find("unknown_tool", unknown_tool, words::UNKNOWN_TOOL)?)
            .implied_end(words::find("implied_end", implied_end, words::IMPLIED_END)?)
            .max_calls(max_calls)
            .repair_arguments(repair_arguments)
            .start_call(start_call)
            .normalise(words::shapes(normalise.as_ref())?)
            .thinking(words::find("thinking", thinking, words::THINKING)?)
            .comments(words::find("comments", comments, words::COMMENTS)?)
            .label(label);
        let rewriter = aside::sse::Rewriter::new(&dialect.find()?, &options).map_err(errors::scanner)?;
        Ok(Rewriter { state: Exclusive::new(rewriter), max_tools })
    }

    /// Feed the next bytes of the answer, cut anywhere, and return the bytes to be sent on: perhaps none yet. Takes any buffer.
    fn feed<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.state.enter(|state| {
            let mut out = Vec::new();
            match data.cast::<PyBytes>() {
                Ok(bytes) => feed(py, state, bytes.as_bytes(), &mut out)?,
                // The buffer may change while it is read, so it is copied.
                Err(_) => {
                    let copy = PyMemoryView::from(data)?.call_method0("tobytes")?;
                    feed(py, state, copy.cast::<PyBytes>()?.as_bytes(), &mut out)?;
                }
            }
            Form::Bytes.text(py, &out)
        })
    }

    /// End the answer and return the bytes that were held back. The next feed begins a new answer.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state.enter(|state| {
            let mut out = Vec::new();
            state.finish(&mut out).map_err(errors::scanner)?;
            Form::Bytes.text(py, &out)
        })
    }

    /// Forget the answer and the counts. The next feed begins a new answer.
    fn reset(&self) -> PyResult<()> {
        self.state.enter(|state| {
            state.reset();
            Ok(())
        })
    }

    /// Read the next answer by another dialect, or by the rewriter's own if it is None, from another start: the span that is
    /// open at the first byte of the answer's texts, or the dialect's own if it is None.
    ///
    ///     >>> from libaside import Rewriter
    ///     >>> rewriter = Rewriter("qwen3")
    ///     >>> rewriter.use_dialect(None, start="thinking")
    ///     >>> rewriter.feed(b'{"choices":[{"message":{"content":"hm</think>Yes."}}]}') + rewriter.finish()
    ///     b'{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}'
    #[pyo3(signature = (dialect, *, start = None))]
    fn use_dialect(&self, dialect: Option<DialectLike<'_>>, start: Option<&str>) -> PyResult<()> {
        let dialect = dialect.map(|dialect| dialect.find()).transpose()?;
        let start = self::start(start)?;
        self.state.enter(|state| state.use_dialect(dialect.as_ref(), start).map_err(errors::scanner))
    }

    /// Set the tools of the next answer's request.
    #[pyo3(signature = (tools))]
    fn use_tools(&self, tools: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let tools = self::tools(tools, self.max_tools)?;
        self.state.enter(|state| state.use_tools(tools).map_err(errors::scanner))
    }

    /// Start the next answer's texts where a rendered prompt ends, and return the span that is open there.
    fn start_from_prompt(&self, tail: Text<'_>) -> PyResult<&'static str> {
        let tail = tail.bytes()?;
        let start = self.state.enter(|state| state.start_from_prompt(tail).map_err(errors::scanner))?;
        Ok(start.as_str())
    }

    /// The counts since the rewriter was made or reset.
    #[getter]
    fn stats(&self) -> PyResult<Stats> {
        let stats = self.state.enter(|state| Ok(state.stats()))?;
        Ok(Stats {
            events: stats.events,
            changed: stats.changed,
            added: stats.added,
            repaired: stats.repaired,
            too_long: stats.too_long,
            unread: stats.unread,
            unpromoted: stats.unpromoted,
            truncated: stats.truncated,
            thinking_bytes: stats.thinking_bytes,
            content_bytes: stats.content_bytes,
            held: stats.held,
            split_by_server: stats.split_by_server,
            encoded: stats.encoded,
            calls: stats.calls,
        })
    }

    fn __reduce__(&self) -> PyResult<Py<PyTuple>> {
        Err(pyo3::exceptions::PyTypeError::new_err("a rewriter cannot be pickled: it is in the middle of an answer"))
    }
}

fn feed(py: Python<'_>, rewriter: &mut aside::sse::Rewriter, bytes: &[u8], out: &mut Vec<u8>) -> PyResult<()> {
    released(py, bytes.len(), || rewriter.feed(bytes, out)).map_err(errors::scanner)
}
