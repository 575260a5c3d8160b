//! The HTTP facts of a request and its answer: whether a rewriter has something to do.

use aside::sse::{self, Exchange, RequestModel};
use pyo3::prelude::*;

use crate::words::{self, SeveralWords};

/// The longest name of a model that is read.
const LONGEST_MODEL: usize = 1024;

/// Return the kind of an answer's body for a rewriter of these formats, `events`, `json` or `lines`, or None if the answer must
/// pass unread: another status than 200, a compressed body, another media type, or the path of another API. Without `formats`,
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
    Ok(words::BODY.iter().find(|&&(_, known)| Some(known) == body).map(|&(word, _)| word))
}

/// Return `identity` if a request's answer is for a rewriter of these formats, so that the request must ask for an answer that is
/// not compressed (`Accept-Encoding: identity`); else None.
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

/// Return whether a request wants the thinking in its answer, `keep` or `drop`, for `thinking` of a Rewriter. `path` is that of the
/// request, and `body` its whole body. It does not if it has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or
/// `"think": false`, or if it is a Messages request without `thinking`, or with `thinking` that is `disabled`.
///
///     >>> from libaside import request_thinking
///     >>> request_thinking("/v1/messages", b'{"model": "qwen3", "messages": []}')
///     'drop'
#[pyfunction]
pub fn request_thinking(path: &str, body: &[u8]) -> &'static str {
    let thinking = sse::request_thinking(&Exchange::new().path(path), body);
    words::THINKING.iter().find(|&&(_, known)| known == thinking).map_or("keep", |&(word, _)| word)
}
