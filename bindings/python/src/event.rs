//! Events of a scanner as Python objects.

use aside::{Cause, Kind};
use pyo3::prelude::*;

use crate::text::Form;

/// An attribute of a tag that opened a span: its name and its decoded value.
#[pyclass(frozen, get_all, generic, module = "libaside")]
pub struct Attribute {
    /// The name, as `str` or `bytes` like the stream.
    name: Py<PyAny>,
    /// The value, with its entities decoded.
    value: Py<PyAny>,
}

#[pymethods]
impl Attribute {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Attribute(name={}, value={})", self.name.bind(py).repr()?, self.value.bind(py).repr()?))
    }
}

/// An event that a scanner reports. The `text` of all events of a stream, joined, is the stream.
///
/// `offset` counts bytes from the start of the stream, of UTF-8 if the stream is `str`. `cause` says why a span or a call
/// ended; `rule` is the number of the span in its dialect. `tokens` is the number of tokens of `feed_tokens` that begin inside the
/// event, and `first_token` the number that begin before it; both are 0 in a stream without tokens.
///
///     >>> from libaside import Scanner
///     >>> scanner = Scanner("qwen3")
///     >>> events = scanner.feed_tokens("<think>hm</think>", [7, 2, 8], [True, False, True])
///     >>> [(event.kind, event.text, event.first_token, event.tokens) for event in events]
///     [('open', '<think>', 0, 1), ('text', 'hm', 1, 1), ('close', '</think>', 2, 1)]
#[pyclass(frozen, get_all, generic, module = "libaside")]
pub struct Event {
    /// The kind of the event: `open`, `attribute`, `text`, `framing`, `close`, `reclassify`, `budget`, or a part of a call.
    kind: &'static str,
    /// The channel of the event: `content`, `thinking`, `narration` or `tool`.
    channel: &'static str,
    text: Py<PyAny>,
    offset: u64,
    cause: Option<&'static str>,
    rule: Option<u32>,
    /// Whether the end of a value, or of a call, was repaired: a value ended without its closer.
    is_repaired: bool,
    attribute: Option<Py<Attribute>>,
    first_token: u64,
    tokens: u32,
}

impl Event {
    pub fn new(py: Python<'_>, form: Form, event: &aside::Event<'_>) -> PyResult<Event> {
        let (cause, rule) = cause_and_rule(&event.kind);
        let attribute = match &event.kind {
            Kind::Attribute(attribute) => {
                let name = form.text(py, attribute.name)?.unbind();
                Some(Py::new(py, Attribute { name, value: form.text(py, attribute.value)?.unbind() })?)
            }
            _ => None,
        };
        let text = match event.kind {
            Kind::CallName(Some(name)) => name,
            _ => event.bytes,
        };
        Ok(Event {
            kind: event.kind.as_str(),
            channel: event.channel.as_str(),
            text: form.text(py, text)?.unbind(),
            offset: event.offset,
            cause,
            rule,
            is_repaired: is_repaired(&event.kind),
            attribute,
            first_token: event.first_token,
            tokens: event.tokens,
        })
    }
}

/// Returns the name of a cause as an identifier, as in `_libaside.pyi`.
pub fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::EndOfStream => "end_of_stream",
        cause => cause.as_str(),
    }
}

/// Returns the cause and the rule of a kind that has them.
fn cause_and_rule(kind: &Kind<'_>) -> (Option<&'static str>, Option<u32>) {
    match *kind {
        Kind::Open { rule, .. } | Kind::Call { rule, .. } => (None, Some(rule)),
        Kind::Close(cause) | Kind::CallEnd { cause, .. } => (Some(cause_name(cause)), None),
        _ => (None, None),
    }
}

/// Returns whether the end of a value, or of a call, was repaired.
fn is_repaired(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::CallValueEnd { is_repaired: true } | Kind::CallEnd { is_repaired: true, .. })
}

#[pymethods]
impl Event {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.text.bind(py).repr()?;
        Ok(format!("Event(kind={:?}, channel={:?}, text={text}, offset={})", self.kind, self.channel, self.offset))
    }
}
