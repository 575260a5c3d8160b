//! Decides by HTTP metadata which answers a rewriter reads, and which requests lead to such answers, so that all hosts decide
//! alike. Nothing is allocated and nothing is remembered.

use super::normalise::Thinking;
use super::options::{Body, Formats};
use crate::json::{Reader, Span, name, unescape};

/// Ends of paths, with the format of each. The longest end that fits decides.
const PATHS: [(&[u8], Formats); 6] = [
    (b"/chat/completions", Formats::CHAT),
    (b"/completions", Formats::COMPLETIONS),
    (b"/responses", Formats::RESPONSES),
    (b"/messages", Formats::MESSAGES),
    (b"/api/chat", Formats::OLLAMA),
    (b"/api/generate", Formats::OLLAMA),
];

/// The kind of body of each media type. Answers without a type, or with `text/plain`, are read like JSON.
const TYPES: [(&[u8], Body); 6] = [
    (b"text/event-stream", Body::Events),
    (b"application/json", Body::Json),
    (b"text/plain", Body::Json),
    (b"", Body::Json),
    (b"application/x-ndjson", Body::Lines),
    (b"application/jsonl", Body::Lines),
];

/// The HTTP facts about a request and its answer, as far as they are known, for [`wants`] and [`request_hint`].
///
/// ```
/// use aside::sse::{Exchange, wants};
///
/// let exchange = Exchange::new().status(200).path("/v1/chat/completions");
/// let exchange = exchange.content_type("text/event-stream; charset=utf-8");
/// assert!(wants(&exchange).is_some());
/// assert!(wants(&exchange.content_encoding("gzip")).is_none());
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "an exchange does nothing until it is read"]
pub struct Exchange<'a> {
    status: u32,
    formats: Formats,
    method: &'a [u8],
    path: &'a [u8],
    content_type: &'a [u8],
    content_encoding: &'a [u8],
}

impl<'a> Exchange<'a> {
    /// Returns an exchange about which nothing is known, for a rewriter of all formats.
    pub fn new() -> Exchange<'a> {
        Exchange::default()
    }

    /// Sets the status of the answer.
    pub fn status(self, status: u32) -> Exchange<'a> {
        Exchange { status, ..self }
    }

    /// Sets the formats that the rewriter reads. The default is [`Formats::ALL`].
    pub fn formats(self, formats: Formats) -> Exchange<'a> {
        Exchange { formats, ..self }
    }

    /// Sets the method of the request.
    pub fn method(self, method: &'a (impl AsRef<[u8]> + ?Sized)) -> Exchange<'a> {
        Exchange { method: method.as_ref(), ..self }
    }

    /// Sets the path of the request, with or without a query. An empty path means that it is not known, and fits any format.
    pub fn path(self, path: &'a (impl AsRef<[u8]> + ?Sized)) -> Exchange<'a> {
        Exchange { path: path.as_ref(), ..self }
    }

    /// Sets the value of the answer's `Content-Type`.
    pub fn content_type(self, content_type: &'a (impl AsRef<[u8]> + ?Sized)) -> Exchange<'a> {
        Exchange { content_type: content_type.as_ref(), ..self }
    }

    /// Sets the value of the answer's `Content-Encoding`.
    pub fn content_encoding(self, content_encoding: &'a (impl AsRef<[u8]> + ?Sized)) -> Exchange<'a> {
        Exchange { content_encoding: content_encoding.as_ref(), ..self }
    }
}

/// Returns the kind of an answer's body, or `None` if a rewriter of these formats does not read the answer: its status is not
/// 200, its body is compressed, or its media type or path belongs to none of the formats. The method is not read.
///
/// A host that rewrites the answer removes `Content-Length`, `ETag`, `Content-MD5`, `Digest` and `Repr-Digest`, since they
/// describe the server's body, and calls [`finish`](super::Rewriter::finish) at the end of the body.
///
/// ```
/// use aside::sse::{Body, Exchange, Formats, wants};
///
/// let exchange = Exchange::new().status(200).path("/api/chat").content_type("application/x-ndjson");
/// assert_eq!(wants(&exchange), Some(Body::Lines));
/// assert_eq!(wants(&exchange.formats(Formats::CHAT)), None);
/// assert_eq!(wants(&exchange.path("/api/tags")), None);
/// ```
#[doc(alias = "aside_rewriter_wants")]
#[must_use]
pub fn wants(exchange: &Exchange<'_>) -> Option<Body> {
    let Exchange { status, formats, path, content_type, content_encoding, .. } = *exchange;
    let encoding = content_encoding.trim_ascii();
    let is_plain = encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity");
    if status != 200 || !is_plain || !fits(path, formats) {
        return None;
    }
    let media_type = before(content_type, b';').trim_ascii();
    TYPES.iter().find(|(name, _)| media_type.eq_ignore_ascii_case(name)).map(|&(_, body)| body)
}

/// The change that a host should make to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Hint {
    /// The host sends `Accept-Encoding: identity` to the server, because a rewriter cannot read a compressed answer.
    Identity = 1,
}

/// Returns the change that a host should make to a request, or `None` if a rewriter of these formats will not read the answer.
/// Only the method and the path are read, since there is no answer yet.
///
/// ```
/// use aside::sse::{Exchange, Hint, request_hint};
///
/// let request = Exchange::new().method("POST").path("/v1/messages?beta=true");
/// assert_eq!(request_hint(&request), Some(Hint::Identity));
/// assert_eq!(request_hint(&request.path("/v1/messages/count_tokens")), None);
/// assert_eq!(request_hint(&request.method("GET")), None);
/// ```
#[doc(alias = "aside_request_hint")]
#[must_use]
pub fn request_hint(exchange: &Exchange<'_>) -> Option<Hint> {
    (exchange.method == b"POST" && fits(exchange.path, exchange.formats)).then_some(Hint::Identity)
}

/// Returns whether a path belongs to one of the formats.
fn fits(path: &[u8], formats: Formats) -> bool {
    before(path, b'?').is_empty() || format(path).is_some_and(|format| formats.contains(format))
}

/// Returns the format of a path.
fn format(path: &[u8]) -> Option<Formats> {
    let path = before(path, b'?');
    let ends = PATHS.iter().filter(|(end, _)| path.ends_with(end));
    ends.max_by_key(|(end, _)| end.len()).map(|&(_, format)| format)
}

/// Returns the text before the first `byte`.
fn before(text: &[u8], byte: u8) -> &[u8] {
    text.split(|&other| other == byte).next().unwrap_or_default()
}

/// The model that a request asks for, as far as the received part of its body shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestModel<'a> {
    /// Its name.
    Found(&'a str),
    /// The model cannot be determined before more of the body has arrived.
    More,
    /// The body has no model, or its value cannot be used.
    None,
}

/// Finds the model that a request asks for, in the part of its body that has arrived so far. The name is written into `room`.
///
/// The model is the string `"model"` of the object; if there are several, the first one counts. There is no model if the value is
/// not a string, does not fit, or is not UTF-8, or if the body is not a JSON object. Text after the model is not read.
///
/// ```
/// use aside::sse::{RequestModel, request_model};
///
/// let body = r#"{"stream":true,"model":"Qwen\/Qwen3-8B","messages":[]}"#;
/// let mut room = [0; 256];
/// assert_eq!(request_model(&body[..30], &mut room), RequestModel::More);
/// assert_eq!(request_model(body, &mut room), RequestModel::Found("Qwen/Qwen3-8B"));
/// assert_eq!(request_model("[]", &mut room), RequestModel::None);
/// ```
#[doc(alias = "aside_request_model")]
pub fn request_model(body: impl AsRef<[u8]>, room: &mut [u8]) -> RequestModel<'_> {
    let body = body.as_ref();
    let mut reader = Reader::new(body);
    // The value of `"model"`, if it has arrived.
    let mut model = None;
    // Reading stops at the model.
    let _ = reader.object(|reader, key| {
        if decode(&body[key], &mut [0; 8]) != Some("model") {
            return reader.value().map(|_| ());
        }
        match reader.peek()? {
            b'"' => model = Some(reader.value()?),
            _ => model = Some(0..0),
        }
        None
    });
    match model {
        Some(model) => decode(&body[model], room).map_or(RequestModel::None, RequestModel::Found),
        None if reader.is_cut() => RequestModel::More,
        None => RequestModel::None,
    }
}

/// Writes the text of a quoted JSON string into `room`, and returns it, or `None` if it does not fit or is not a string of
/// UTF-8.
fn decode<'a>(string: &[u8], room: &'a mut [u8]) -> Option<&'a str> {
    let raw = string.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut len = 0;
    unescape(raw, |part| {
        if let Some(place) = room.get_mut(len..len + part.len()) {
            place.copy_from_slice(part);
        }
        len += part.len();
    });
    str::from_utf8(room.get(..len)?).ok()
}

/// Returns whether a request wants the thinking in its answer, for [`Options::thinking`](super::Options::thinking). Only the path
/// of the exchange is read; `body` is the whole body of the request.
///
/// A request wants no thinking if it has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or `"think": false`, or
/// if it is a Messages request whose `thinking` is absent or `disabled`. Any other request wants it, even if its body is not a
/// JSON object.
///
/// ```
/// use aside::sse::{Exchange, Thinking, request_thinking};
///
/// let request = Exchange::new().method("POST").path("/v1/messages");
/// assert_eq!(request_thinking(&request, r#"{"model":"m","messages":[]}"#), Thinking::Drop);
/// let body = r#"{"model":"m","thinking":{"type":"enabled","budget_tokens":1024},"messages":[]}"#;
/// assert_eq!(request_thinking(&request, body), Thinking::Keep);
/// let request = request.path("/api/chat");
/// assert_eq!(request_thinking(&request, r#"{"model":"m","think":false}"#), Thinking::Drop);
/// ```
#[doc(alias = "aside_request_thinking")]
#[must_use]
pub fn request_thinking(exchange: &Exchange<'_>, body: impl AsRef<[u8]>) -> Thinking {
    let body = body.as_ref();
    let is_of_messages = format(exchange.path) == Some(Formats::MESSAGES);
    let (mut includes, mut excludes, mut thinks, mut asks) = (true, false, true, false);
    let mut reader = Reader::new(body);
    let read = reader.object(|reader, key| {
        match name(body, &key, &mut [0; 24]) {
            b"include_reasoning" => includes = body[reader.value()?] != *b"false",
            b"think" => thinks = body[reader.value()?] != *b"false",
            b"reasoning" => excludes = member(body, reader, b"exclude")?.is_some_and(|value| body[value] == *b"true"),
            b"thinking" => {
                let is_object = reader.peek() == Some(b'{');
                let kind = member(body, reader, b"type")?;
                asks = is_object && kind.is_none_or(|kind| body[kind] != *b"\"disabled\"");
            }
            _ => {
                reader.value()?;
            }
        }
        Some(())
    });
    match read.and_then(|()| reader.end()) {
        Some(()) if !includes || excludes || !thinks || is_of_messages && !asks => Thinking::Drop,
        _ => Thinking::Keep,
    }
}

/// Reads a value. If it is an object, returns the value of its member `wanted`.
fn member(text: &[u8], reader: &mut Reader<'_>, wanted: &[u8]) -> Option<Option<Span>> {
    if reader.peek() != Some(b'{') {
        return reader.value().map(|_| None);
    }
    let mut found = None;
    reader.object(|reader, key| {
        let value = reader.value()?;
        if name(text, &key, &mut [0; 24]) == wanted {
            found = Some(value);
        }
        Some(())
    })?;
    Some(found)
}
