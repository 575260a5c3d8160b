//! Rewrites the history of requests.

use aside::Words;
use aside::history::{self, Format, Name, Options, Server};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dialect::{Dialect, DialectLike};
use crate::errors::{self, guarded};
use crate::text::Text;
use crate::words;

/// The report of `rewrite_history`.
#[pyclass(frozen, get_all, module = "libaside")]
pub struct HistoryReport {
    /// The number of messages or items that were changed or removed.
    changed: u64,
    /// The number of messages or items with thinking that cannot be written into their text.
    refused: u64,
    /// The number of messages or items with thinking that is signed, encrypted or in a form that is not known.
    unread: u64,
    /// `read`, or why the body was returned unchanged: `too_long`, `not_utf8`, `not_request`, `repeated` or `stored`.
    outcome: &'static str,
    /// Whether thinking was turned off in the request: see `made`.
    thinking_off: bool,
}

/// Return the body of a request with the thinking of earlier turns where the server reads it, and a report. The body is `str` or
/// `bytes`, and so is the result. All that the options do not name stays unchanged. The sender of the result must set
/// `Content-Length` again.
///
///     >>> from libaside import rewrite_history
///     >>> body = '{"messages": [{"role": "assistant", "reasoning_content": "Twice 21."}]}'
///     >>> rewrite_history(body, format="chat", name="reasoning")[0]
///     '{"messages": [{"role": "assistant", "reasoning": "Twice 21."}]}'
///
/// `history_server` returns the options of a server. This may change in any version.
#[pyfunction]
#[pyo3(signature = (
    body, *, format, name = "as_is", dialect = None, turns = "all", missing = "leave", made = "keep", max_body = None
))]
#[allow(clippy::too_many_arguments)] // Python's keywords.
pub fn rewrite_history<'py>(
    py: Python<'py>,
    body: Text<'py>,
    format: &str,
    name: &str,
    dialect: Option<DialectLike<'py>>,
    turns: &str,
    missing: &str,
    made: &str,
    max_body: Option<usize>,
) -> PyResult<(Bound<'py, PyAny>, HistoryReport)> {
    let dialect = dialect.map(|dialect| dialect.find()).transpose()?;
    let name = Name::from_word(name, dialect).ok_or_else(|| match name {
        "text" => errors::value("name=\"text\" needs a dialect, whose markers are written"),
        _ => words::unknown("name", name, Name::WORDS.into_iter()),
    })?;
    let options = Options::new(words::find("format", format)?)
        .name(name)
        .turns(words::find("turns", turns)?)
        .missing(words::find("missing", missing)?)
        .made(words::find("made", made)?)
        .max_body(max_body);
    let bytes = body.bytes()?;
    let (out, report) = guarded(|| py.detach(|| history::rewrite(bytes, &options)).map_err(|_| errors::memory()))?;
    let outcome = report.outcome.word().unwrap_or_default();
    let history::Report { changed, refused, unread, thinking_off, .. } = report;
    Ok((body.form().text(py, &out)?, HistoryReport { changed, refused, unread, outcome, thinking_off }))
}

/// Return the format of the requests to a path, or None if their history is not rewritten. This may change in any version.
///
///     >>> from libaside import history_format
///     >>> history_format("/v1/chat/completions")
///     'chat'
#[pyfunction]
pub fn history_format(path: &str) -> Option<&'static str> {
    Format::of_path(path).and_then(Words::word)
}

/// Return the options for a built-in server and requests of a format, as keywords for `rewrite_history`, or None if they need
/// no change. This may change in any version.
///
///     >>> from libaside import history_server
///     >>> history_server("vllm", "chat")["name"]
///     'reasoning'
#[pyfunction]
pub fn history_server<'py>(py: Python<'py>, name: &str, format: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    keywords(py, &Server::find(name).map_err(|error| errors::value(error.to_string()))?, format)
}

/// Return the options of the server that a server file describes, as `history_server` does; `toml` is the text of the file.
/// This may change in any version.
///
///     >>> from libaside import load_history_server
///     >>> file = 'name = "mine"\n[chat]\nname = "thinking"\nsources = ["its manual"]'
///     >>> load_history_server(file, "chat")["name"]
///     'thinking'
#[pyfunction]
pub fn load_history_server<'py>(py: Python<'py>, toml: &str, format: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    keywords(py, &Server::load(toml).map_err(|error| errors::file(&error))?, format)
}

/// Return the names of the built-in servers. This may change in any version.
///
///     >>> from libaside import history_servers
///     >>> "vllm" in history_servers()
///     True
#[pyfunction]
pub fn history_servers() -> Vec<&'static str> {
    Server::names().collect()
}

fn keywords<'py>(py: Python<'py>, server: &Server, format: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(options) = server.options(words::find("format", format)?) else { return Ok(None) };
    let keywords = PyDict::new(py);
    keywords.set_item("format", format)?;
    if let Name::Text(dialect) = &options.name {
        keywords.set_item("dialect", Dialect::from(dialect.clone()))?;
    }
    keywords.set_item("name", options.name.word())?;
    keywords.set_item("turns", options.turns.word())?;
    keywords.set_item("missing", options.missing.word())?;
    keywords.set_item("made", options.made.word())?;
    Ok(Some(keywords))
}
