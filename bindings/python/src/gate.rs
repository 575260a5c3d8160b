//! Decides from the HTTP facts of a request and its answer whether a rewriter is needed.

use aside::Words;
use aside::sse::{self, Exchange, RequestModel};
use pyo3::prelude::*;

use crate::words::{self, SeveralWords};

/// The longest name of a model that is read.
const LONGEST_MODEL: usize = 1024;

/// Return the kind of an answer's body for a rewriter of these formats, `events`, `json` or `lines`, or None if the answer is not for
/// a rewriter: its status is not 200, it is compressed, or its media type or path belongs to none of the formats. Without `formats`,
/// an answer of any format is read.
///
///     >>> from libaside import wants
///     >>> wants(200, "/v1/chat/completions", "text/event-stream; charset=utf-8")
///     'events'
///     >>> wants(200, "/v1/chat/completions", "text/event-stream", "gzip")
#[pyfunction]
#[pyo3(signature = (status, path, content_type, content_encoding = None, formats = None))]
pub fn wants(
    status: u32,
    path: &str,
    content_type: Option<&str>,
    content_encoding: Option<&str>,
    formats: Option<SeveralWords>,
) -> PyResult<Option<&'static str>> {
    let exchange = Exchange::new()
        .status(status)
        .formats(words::formats(formats.as_ref())?)
        .path(path)
        .content_type(content_type.unwrap_or_default())
        .content_encoding(content_encoding.unwrap_or_default());
    let body = sse::wants(&exchange);
    Ok(body.and_then(Words::word))
}

/// Return `identity` if a request's answer is for a rewriter of these formats: the request must then ask for an answer that is not
/// compressed (`Accept-Encoding: identity`). Otherwise return None.
///
///     >>> from libaside import request_hint
///     >>> request_hint("/v1/chat/completions", "POST")
///     'identity'
#[pyfunction]
#[pyo3(signature = (path, method, formats = None))]
pub fn request_hint(path: &str, method: &str, formats: Option<SeveralWords>) -> PyResult<Option<&'static str>> {
    let exchange = Exchange::new().formats(words::formats(formats.as_ref())?).method(method).path(path);
    Ok(sse::request_hint(&exchange).map(|_| "identity"))
}

/// Return the model that the JSON of a request asks for, or None if it names none.
///
///     >>> from libaside import request_model
///     >>> request_model(b'{"model": "Qwen/Qwen3-8B", "messages": []}')
///     'Qwen/Qwen3-8B'
#[pyfunction]
pub fn request_model(body: &[u8]) -> Option<String> {
    match sse::request_model(body, &mut [0; LONGEST_MODEL]) {
        RequestModel::Found(model) => Some(model.to_owned()),
        _ => None,
    }
}

/// The facts of a request that concern its answer, from `read_request`.
#[pyclass(frozen, get_all)]
pub struct Request {
    /// Whether the model should think; None if the request does not say.
    thinks: Option<bool>,
    /// Whether the client wants the thinking in the answer, `keep` or `drop`, for `thinking` of a Rewriter.
    thinking: &'static str,
    /// The JSON text of the request's `tools`, for `tools` of an Answer or a Rewriter; `[]` if it offers none.
    tools: String,
}

/// Read the facts of a request that concern its answer. `path` is the request's path, and `body` its whole body. An incomplete body,
/// or one that is not a JSON object, decides nothing.
///
/// The model should think or not, if one of these says so; the first one counts: a variable of the chat template
/// (`chat_template_kwargs`: `enable_thinking`, `thinking`, `thinking_mode`), `enable_thinking` or `think` as a boolean, the type of
/// `thinking`, an effort (`think`, `reasoning_effort`, also as a variable, and `reasoning.effort`), which is off as `none` or
/// `no_think`. The client wants no thinking if the request has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or
/// `"think": false`, or if it is a Messages request whose `thinking` is absent or `disabled`.
///
///     >>> from libaside import read_request
///     >>> request = read_request("/v1/messages", b'{"model": "qwen3", "messages": []}')
///     >>> request.thinks, request.thinking, request.tools
///     (None, 'drop', '[]')
#[pyfunction]
pub fn read_request(path: &str, body: &[u8]) -> Request {
    let request = sse::read_request(&Exchange::new().path(path), body);
    let word = request.thinking.word();
    Request {
        thinks: request.thinks,
        thinking: word.unwrap_or("keep"),
        tools: request.tools.unwrap_or("[]").to_owned(),
    }
}
