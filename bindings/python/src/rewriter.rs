//! The rewriter: the bytes of a server's answer in, the same bytes out with its text split into fields.

use aside::sse::Options;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};

use crate::answer::tools;
use crate::dialect::{DialectLike, start};
use crate::errors::{self, Exclusive};
use crate::text::{Form, Text, released};
use crate::words::{self, SeveralWords};

// Generated from src/ffi by tests/header: do not edit.
/// The counts of a rewriter since it was made or reset.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct Stats {
    /// Events that have data, lines of JSON, and bodies that were read whole.
    events: u64,
    /// The number of `events` that were sent changed, or with chunks before them.
    changed: u64,
    /// Chunks and events that were written in addition to the server's.
    added: u64,
    /// Faults of the stream that the option `repair` has mended.
    repaired: u64,
    /// Events and bodies that were forwarded unread because they were longer than the option `max_event`.
    too_long: u64,
    /// JSON objects that were forwarded unread because they are neither in a format that is read nor an error.
    unread: u64,
    /// Answers whose thinking was to be sent as content too, and was too long for that.
    unpromoted: u64,
    /// Events that repeat a whole text and lack some of it, because that text was longer than `max_event`.
    truncated: u64,
    /// Bytes of text that were sent as thinking. Text that a server splits itself is not counted.
    thinking_bytes: u64,
    /// Bytes of text that were sent as content.
    content_bytes: u64,
    /// Bytes of text, and of an unfinished event or body, that are held now. A finish would return them.
    held: u64,
    /// Texts whose thinking the server splits itself.
    split_by_server: u64,
    /// Whether the stream is forwarded unread because its first bytes are not text: it is compressed (gzip, zstd, zlib
    /// or Brotli), or not in UTF-8. Ask the server for `Accept-Encoding: identity`, or decode the body before it is
    /// fed. After the end of a stream, this describes that stream, until another begins.
    encoded: bool,
    /// Tool calls in the text that were sent as calls. Calls that the server itself has made are not counted.
    calls: u64,
    /// Texts that a server repeats in Responses and that were split again, because their message differs from what was
    /// sent before, or was too long to be kept.
    contradicted: u64,
}

impl From<aside::sse::Stats> for Stats {
    fn from(stats: aside::sse::Stats) -> Stats {
        Stats {
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
            contradicted: stats.contradicted,
        }
    }
}
// End of the generated part.

/// Splits the text of a server's answer into fields, as its bytes come: an event stream, lines, or one JSON body. One thread at a
/// time may use a rewriter; a second thread gets BusyError.
///
///     >>> from libaside import Rewriter
///     >>> rewriter = Rewriter("qwen3")
///     >>> rewriter.feed(b'{"choices":[{"message":{"content":"<think>hm</think>Yes."}}]}') + rewriter.finish()
///     b'{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}'
///
#[doc = include_str!("rewriter_options.txt")]
#[pyclass(frozen, module = "libaside")]
pub struct Rewriter {
    state: Exclusive<aside::sse::Rewriter>,
    max_tools: Option<usize>,
}

impl Rewriter {
    fn open(dialect: &aside::Dialect, options: Options, max_tools: Option<usize>) -> PyResult<Rewriter> {
        let rewriter = aside::sse::Rewriter::new(dialect, &options).map_err(errors::scanner)?;
        Ok(Rewriter { state: Exclusive::new(rewriter), max_tools })
    }
}

#[pymethods]
impl Rewriter {
    // Generated from src/ffi by tests/header: do not edit.
    #[new]
    #[pyo3(signature = (dialect, *, start = None, stray_close = "dialect", calls_in_thinking = "dialect",
        leading_tags = "dialect", thinking = "keep", not_whole = "tell", unknown_tool = "text",
        implied_end = "on", tools = None, start_call = None, max_tools = None, max_held = None,
        max_calls = None, repair_arguments = false, promote_empty = false, keep_guessed = false,
        field = "reasoning_content", body = "unknown", off = false, calls = false, max_event = None,
        formats = None, responses_as = "reasoning_text", repair = false, merge = false, normalise = None,
        label = false, comments = "keep"))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn new(
        dialect: DialectLike<'_>,
        start: Option<&str>,
        stray_close: &str,
        calls_in_thinking: &str,
        leading_tags: &str,
        thinking: &str,
        not_whole: &str,
        unknown_tool: &str,
        implied_end: &str,
        tools: Option<&Bound<'_, PyAny>>,
        start_call: Option<&str>,
        max_tools: Option<usize>,
        max_held: Option<usize>,
        max_calls: Option<u64>,
        repair_arguments: bool,
        promote_empty: bool,
        keep_guessed: bool,
        field: &str,
        body: &str,
        off: bool,
        calls: bool,
        max_event: Option<usize>,
        formats: Option<SeveralWords>,
        responses_as: &str,
        repair: bool,
        merge: bool,
        normalise: Option<SeveralWords>,
        label: bool,
        comments: &str,
    ) -> PyResult<Rewriter> {
        let tools = self::tools(tools, max_tools)?;
        let calls = calls || tools.is_some();
        let options = Options::new()
            .start(self::start(start)?)
            .stray_close(words::find("stray_close", stray_close)?)
            .calls_in_thinking(words::find("calls_in_thinking", calls_in_thinking)?)
            .leading_tags(words::find("leading_tags", leading_tags)?)
            .thinking(words::find("thinking", thinking)?)
            .not_whole(words::find("not_whole", not_whole)?)
            .unknown_tool(words::find("unknown_tool", unknown_tool)?)
            .implied_end(words::find("implied_end", implied_end)?)
            .tools(tools)
            .start_call(start_call)
            .max_held(max_held)
            .max_calls(max_calls)
            .repair_arguments(repair_arguments)
            .promote_empty(promote_empty)
            .keep_guessed(keep_guessed)
            .field(words::find("field", field)?)
            .body(words::find("body", body)?)
            .off(off)
            .calls(calls)
            .max_event(max_event)
            .formats(words::formats(formats.as_ref())?)
            .responses_as(words::find("responses_as", responses_as)?)
            .repair(repair)
            .merge(merge)
            .normalise(words::shapes(normalise.as_ref())?)
            .label(label)
            .comments(words::find("comments", comments)?);
        Rewriter::open(&dialect.find()?, options, max_tools)
    }
    // End of the generated part.

    /// Feed the next bytes of the answer, cut anywhere, and return the bytes to forward, which may be none. Takes any buffer.
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

    /// Read the next answer with a different dialect, or with the rewriter's own if `dialect` is None. `start` is the span that is
    /// open at the first byte of the answer's texts, or the dialect's own start if it is None.
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
        self.state.enter(|state| Ok(state.stats().into()))
    }

    fn __reduce__(&self) -> PyResult<Py<PyTuple>> {
        Err(pyo3::exceptions::PyTypeError::new_err("a rewriter cannot be pickled: it is in the middle of an answer"))
    }
}

fn feed(py: Python<'_>, rewriter: &mut aside::sse::Rewriter, bytes: &[u8], out: &mut Vec<u8>) -> PyResult<()> {
    released(py, bytes.len(), || rewriter.feed(bytes, out)).map_err(errors::scanner)
}
