//! The rewriter: the bytes of a server's answer in, the same bytes out with its text split into fields.

use aside::sse::{Body, Field, Formats, Options, ResponsesAs};
use aside::{CallsInThinking, StrayClose};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};

use crate::calls::tools;
use crate::dialect::{DialectLike, start};
use crate::errors::{self, Exclusive, guarded};
use crate::text::{Text, released};

/// The names of formats, as `formats` takes them.
const FORMATS: [(&str, Formats); 6] = [
    ("chat", Formats::CHAT),
    ("completions", Formats::COMPLETIONS),
    ("responses", Formats::RESPONSES),
    ("messages", Formats::MESSAGES),
    ("ollama", Formats::OLLAMA),
    ("all", Formats::ALL),
];

/// Returns the value of this name in a table, or an error that names those that there are.
fn named<T: Copy>(what: &str, name: &str, table: &[(&str, T)]) -> PyResult<T> {
    table.iter().find(|(known, _)| *known == name).map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<_> = table.iter().map(|&(known, _)| known).collect();
        errors::value(format!("{what}={name:?} is none of {}", known.join(", ")))
    })
}

/// One name, or several.
#[derive(FromPyObject)]
pub enum Names {
    One(String),
    Several(Vec<String>),
}

pub fn formats(names: &Names) -> PyResult<Formats> {
    let names = match names {
        Names::One(name) => std::slice::from_ref(name),
        Names::Several(names) => names,
    };
    let mut all: Option<Formats> = None;
    for name in names {
        let format = named("formats", name, &FORMATS)?;
        all = Some(all.map_or(format, |all| all | format));
    }
    all.ok_or_else(|| errors::value("formats is empty: name at least one"))
}

/// What a rewriter has read since it was made or reset.
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
}

/// Splits the text of a server's answer into fields, as its bytes come: an event stream, lines, or one JSON body. One thread at a
/// time may be inside a rewriter; another gets BusyError.
///
///     >>> from libaside import Rewriter
///     >>> rewriter = Rewriter("qwen3")
///     >>> rewriter.feed(b'{"choices":[{"message":{"content":"<think>hm</think>Yes."}}]}') + rewriter.finish()
///     b'{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}'
///
/// `formats` names the APIs whose answers are read: one of `chat`, `completions`, `responses`, `messages`, `ollama` and
/// `all`, or a list. `field` is where the thinking of a chat goes: `reasoning_content`, `reasoning` or `thinking`. `body` says
/// what comes: `unknown`, `events`, `json` or `lines`. The other options are those of the library's manual.
#[pyclass(frozen, module = "libaside")]
pub struct Rewriter {
    state: Exclusive<aside::sse::Rewriter>,
    max_tools: Option<usize>,
}

#[pymethods]
impl Rewriter {
    #[new]
    #[pyo3(signature = (dialect, *, start = None, field = "reasoning_content", body = "unknown", formats = None,
        responses_as = "reasoning_text", calls = false, tools = None, calls_in_thinking = true, repair = false,
        promote_empty = false, merge = false, stray_close = true, off = false, max_event = None, max_held = None,
        max_tools = None))]
    #[allow(clippy::too_many_arguments)] // They are keywords in Python.
    fn new(
        dialect: DialectLike<'_>,
        start: Option<&str>,
        field: &str,
        body: &str,
        formats: Option<Names>,
        responses_as: &str,
        calls: bool,
        tools: Option<&Bound<'_, PyAny>>,
        calls_in_thinking: bool,
        repair: bool,
        promote_empty: bool,
        merge: bool,
        stray_close: bool,
        off: bool,
        max_event: Option<usize>,
        max_held: Option<usize>,
        max_tools: Option<usize>,
    ) -> PyResult<Rewriter> {
        let tools = self::tools(tools, max_tools)?;
        let fields = [Field::ReasoningContent, Field::Reasoning, Field::Thinking].map(|field| (field.name(), field));
        let bodies =
            [("unknown", Body::Unknown), ("events", Body::Events), ("json", Body::Json), ("lines", Body::Lines)];
        let responses = [("reasoning_text", ResponsesAs::ReasoningText), ("summary", ResponsesAs::Summary)];
        let options = Options::new()
            .start(self::start(start)?)
            .field(named("field", field, &fields)?)
            .body(named("body", body, &bodies)?)
            .formats(formats.as_ref().map(self::formats).transpose()?.unwrap_or_default())
            .responses_as(named("responses_as", responses_as, &responses)?)
            .calls(calls || tools.is_some())
            .tools(tools)
            .calls_in_thinking(if calls_in_thinking { CallsInThinking::Dialect } else { CallsInThinking::Never })
            .repair(repair)
            .promote_empty(promote_empty)
            .merge(merge)
            .stray_close(if stray_close { StrayClose::Dialect } else { StrayClose::Text })
            .off(off)
            .max_event(max_event)
            .max_held(max_held);
        let rewriter = aside::sse::Rewriter::new(&dialect.find()?, &options).map_err(errors::scanner)?;
        Ok(Rewriter { state: Exclusive::new(rewriter), max_tools })
    }

    /// Feed the next bytes of the answer, cut anywhere, and return what is to be sent on: perhaps nothing yet. Takes any buffer.
    fn feed<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let mut state = self.state.enter()?;
        let mut out = Vec::new();
        match data.cast::<PyBytes>() {
            Ok(bytes) => feed(py, &mut state, bytes.as_bytes(), &mut out)?,
            // It may change while it is read, so it is copied.
            Err(_) => {
                let copy = PyMemoryView::from(data)?.call_method0("tobytes")?;
                feed(py, &mut state, copy.cast::<PyBytes>()?.as_bytes(), &mut out)?;
            }
        }
        Ok(PyBytes::new(py, &out))
    }

    /// End the answer and return what was held back. The next feed begins a new one.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut state = self.state.enter()?;
        let mut out = Vec::new();
        guarded(|| state.finish(&mut out).map_err(errors::scanner))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Forget the answer and the counts. The next feed begins a new one.
    fn reset(&self) -> PyResult<()> {
        self.state.enter()?.reset();
        Ok(())
    }

    /// Set what is open at the first byte of the next answer's texts; None, as the dialect says.
    #[pyo3(signature = (start))]
    fn start_at(&self, start: Option<&str>) -> PyResult<()> {
        let start = self::start(start)?;
        self.state.enter()?.start_at(start).map_err(errors::scanner)
    }

    /// Read the next answer by another dialect.
    #[pyo3(signature = (dialect, start = None))]
    fn use_dialect(&self, dialect: DialectLike<'_>, start: Option<&str>) -> PyResult<()> {
        let (dialect, start) = (dialect.find()?, self::start(start)?);
        self.state.enter()?.use_dialect(&dialect, start).map_err(errors::scanner)
    }

    /// Set the tools of the next answer's request.
    #[pyo3(signature = (tools))]
    fn use_tools(&self, tools: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let tools = self::tools(tools, self.max_tools)?;
        self.state.enter()?.use_tools(tools).map_err(errors::scanner)
    }

    /// Start the next answer's texts where a rendered prompt ends, and return what is open there.
    fn start_from_prompt(&self, tail: Text<'_>) -> PyResult<&'static str> {
        let tail = tail.bytes()?;
        Ok(self.state.enter()?.start_from_prompt(tail).map_err(errors::scanner)?.as_str())
    }

    /// What was read since the rewriter was made or reset.
    #[getter]
    fn stats(&self) -> PyResult<Stats> {
        let stats = self.state.enter()?.stats();
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
        })
    }

    /// Whether the answer passes unread because it is not text: compressed, or in another encoding than UTF-8.
    #[getter]
    fn is_encoded(&self) -> PyResult<bool> {
        Ok(self.state.enter()?.is_encoded())
    }

    fn __reduce__(&self) -> PyResult<Py<PyTuple>> {
        Err(pyo3::exceptions::PyTypeError::new_err("a rewriter cannot be pickled: it is in the middle of an answer"))
    }
}

fn feed(py: Python<'_>, rewriter: &mut aside::sse::Rewriter, bytes: &[u8], out: &mut Vec<u8>) -> PyResult<()> {
    guarded(|| released(py, bytes.len(), || rewriter.feed(bytes, out)).map_err(errors::scanner))
}
