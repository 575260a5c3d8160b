//! Splits, strips, joins and escapes whole texts. The interpreter's lock is released while they are read.

use aside::{JoinCall, JoinOptions};
use pyo3::prelude::*;

use crate::dialect::{DialectLike, json_of, start};
use crate::errors::{self, guarded};
use crate::scanner::{Split, Texts};
use crate::text::{Form, Text};
use crate::words;

/// Return the answer in a whole text: its content and narration, without markers. It is `str` if the text is, otherwise `bytes`.
///
///     >>> from libaside import strip
///     >>> strip("<think>hm</think>Yes.", "qwen3")
///     'Yes.'
#[pyfunction]
pub fn strip<'py>(py: Python<'py>, text: Text<'py>, dialect: DialectLike<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (dialect, bytes) = (dialect.find_after(&text)?, text.bytes()?);
    let content = guarded(|| py.detach(|| dialect.strip(bytes)).map_err(errors::scanner))?;
    text.form().text(py, &content)
}

/// Return the text of each channel of a whole text.
///
///     >>> from libaside import split
///     >>> split("<think>hm</think>Yes.", "qwen3").thinking
///     'hm'
#[pyfunction]
#[pyo3(signature = (text, dialect, *, start = None))]
pub fn split(py: Python<'_>, text: Text<'_>, dialect: DialectLike<'_>, start: Option<&str>) -> PyResult<Split> {
    let (dialect, bytes) = (dialect.find_after(&text)?, text.bytes()?);
    let options = aside::ScannerOptions::new().start(self::start(start)?);
    let texts = guarded(|| {
        py.detach(|| {
            let mut texts = Texts::default();
            let mut scanner = aside::Scanner::with_options(&dialect, &options)?;
            scanner.feed(bytes, |event| texts.take(&event))?;
            scanner.finish(|event| texts.take(&event))?;
            Ok(texts)
        })
        .map_err(errors::scanner)
    })?;
    texts.split(py, text.form(), None)
}

/// Return the parts of a whole text that are text of a channel: a list of triples of the channel, the beginning and the end,
/// counted in characters of a `str` or in bytes of `bytes`. Markers are in no part; adjacent texts of one channel are one part.
///
///     >>> from libaside import spans
///     >>> spans("<think>hm</think>Yes.", "qwen3")
///     [('thinking', 7, 9), ('content', 17, 21)]
#[pyfunction]
#[pyo3(signature = (text, dialect, *, start = None))]
pub fn spans<'py>(
    text: Text<'py>,
    dialect: DialectLike<'py>,
    start: Option<&str>,
) -> PyResult<Vec<(&'static str, usize, usize)>> {
    let (dialect, bytes) = (dialect.find_after(&text)?, text.bytes()?);
    let start = self::start(start)?;
    let found = guarded(|| dialect.spans(bytes, start).map_err(errors::scanner))?;
    Ok(places(bytes, text.form(), found))
}

/// Returns channels and places of spans, counted in bytes or in characters.
pub fn places(text: &[u8], form: Form, spans: Vec<aside::TextSpan>) -> Vec<(&'static str, usize, usize)> {
    // Characters are counted by the bytes that begin one.
    let is_counted = |byte: &&u8| form == Form::Bytes || **byte & 0xC0 != 0x80;
    let (mut at, mut counted) = (0, 0);
    let mut place = |to: usize| {
        counted += text[at..to].iter().filter(is_counted).count();
        at = to;
        counted
    };
    spans.into_iter().map(|span| (span.channel.as_str(), place(span.range.start), place(span.range.end))).collect()
}

/// Reads a call in a history: a dict with `name`, `arguments` (a dict or JSON) and perhaps `id`, or an entry of an OpenAI message's
/// `tool_calls`.
fn call(call: &Bound<'_, PyAny>) -> PyResult<(String, String, Option<String>)> {
    let inner = call.get_item("function").unwrap_or_else(|_| call.clone());
    let arguments = inner.get_item("arguments")?;
    let id = call.get_item("id").ok().and_then(|id| id.extract().ok());
    Ok((inner.get_item("name")?.extract()?, json_of(&arguments)?, id))
}

/// Return thinking, content and tool calls written with their markers, as a model of the dialect writes them: for a history that is
/// sent back to the model. The result splits back into its parts; if it would not, JoinError has the place of the fault. With
/// `markers="escape"`, markers in the parts are broken instead.
///
///     >>> from libaside import join
///     >>> join("Twice 21.", "It is 42.", dialect="qwen3")
///     '<think>\nTwice 21.\n</think>\n\nIt is 42.'
///
/// Each of `calls` is a dict with `name`, `arguments` (a dict, or JSON) and perhaps `id`, or an entry of a message's
/// `tool_calls`.
#[pyfunction]
#[pyo3(signature = (thinking, content, *, dialect, calls = None, markers = "refuse", start = None))]
pub fn join<'py>(
    py: Python<'py>,
    thinking: Text<'py>,
    content: Text<'py>,
    dialect: DialectLike<'py>,
    calls: Option<Vec<Bound<'py, PyAny>>>,
    markers: &str,
    start: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let markers = words::find("markers", markers)?;
    let calls: Vec<_> = calls.unwrap_or_default().iter().map(call).collect::<PyResult<_>>()?;
    let calls: Vec<_> =
        calls.iter().map(|(name, arguments, id)| JoinCall::new(name, arguments).id(id.as_deref())).collect();
    let options = JoinOptions::new().start(self::start(start)?).markers(markers).calls(&calls);
    let dialect = dialect.find()?;
    let mut form = None;
    let form = thinking.set_form(&mut form).and_then(|_| content.set_form(&mut form))?;
    let (thinking, content) = (thinking.bytes()?, content.bytes()?);
    let joined = guarded(|| py.detach(|| dialect.join(thinking, content, &options)).map_err(errors::join))?;
    form.text(py, &joined)
}

/// Return a text with every marker of the dialect broken, so that a prompt can contain it: a zero width space follows the
/// marker's first character.
///
///     >>> from libaside import escape
///     >>> escape("a < b, <think>", "qwen3")
///     'a < b, <\u200bthink>'
#[pyfunction]
pub fn escape<'py>(py: Python<'py>, text: Text<'py>, dialect: DialectLike<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (dialect, bytes) = (dialect.find_after(&text)?, text.bytes()?);
    let escaped = guarded(|| py.detach(|| dialect.escape(bytes)).map_err(errors::join))?;
    text.form().text(py, &escaped)
}
