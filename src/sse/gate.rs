//! Decides by HTTP metadata which answers a rewriter reads, and which requests lead to such answers, so that all hosts decide
//! alike. Nothing is allocated and nothing is remembered.

use super::options::{Body, Formats};
use crate::answer::Thinking;
use crate::json::{Reader, Value, unescape};

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

/// The known HTTP facts about a request and its answer, for [`wants`] and [`request_hint`].
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

/// The facts of a request that concern its answer, from [`read_request`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request<'a> {
    /// Whether the model should think; `None` if the request does not say, so that the model decides.
    pub thinks: Option<bool>,
    /// Whether the client wants the thinking in the answer, for [`Options::thinking`](super::Options::thinking).
    pub thinking: Thinking,
    /// The JSON text of `tools`, for [`Tools::read`](crate::answer::Tools::read); `None` if the request offers none.
    pub tools: Option<&'a str>,
}

/// Reads the facts of a request that concern its answer. Only the path of the exchange is read; `body` is the whole body of the
/// request. An incomplete body, or one that is not a JSON object, decides nothing.
///
/// The model should think or not, if one of these says so; the first one counts: a variable of the chat template
/// (`chat_template_kwargs`: `enable_thinking`, `thinking`, `thinking_mode`), `enable_thinking` or `think` as a boolean, the type
/// of `thinking`, an effort (`think`, `reasoning_effort`, also as a variable, and `reasoning.effort`), which is off as `none` or
/// `no_think`.
///
/// The client wants no thinking if the request has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or
/// `"think": false`, or if it is a Messages request whose `thinking` is absent or `disabled`.
///
/// ```
/// use aside::sse::{Exchange, Thinking, read_request};
///
/// let body = r#"{"model":"m","messages":[],"chat_template_kwargs":{"enable_thinking":false},"tools":[{"name":"f"}]}"#;
/// let request = read_request(&Exchange::new().path("/v1/chat/completions"), body);
/// assert_eq!((request.thinks, request.thinking), (Some(false), Thinking::Keep));
/// assert_eq!(request.tools, Some(r#"[{"name":"f"}]"#));
///
/// let request = read_request(&Exchange::new().path("/v1/messages"), r#"{"model":"m","messages":[]}"#);
/// assert_eq!((request.thinks, request.thinking, request.tools), (None, Thinking::Drop, None));
/// ```
#[doc(alias = "aside_request_read")]
#[must_use]
pub fn read_request<'a>(exchange: &Exchange<'_>, body: &'a (impl AsRef<[u8]> + ?Sized)) -> Request<'a> {
    let Some(request) = Value::read(body.as_ref()).ok().filter(Value::is_object) else { return Request::default() };
    let [template, thinking, reasoning, includes, switch, think, effort, tools] = request.find([
        b"chat_template_kwargs",
        b"thinking",
        b"reasoning",
        b"include_reasoning",
        b"enable_thinking",
        b"think",
        b"reasoning_effort",
        b"tools",
    ]);
    let [template_switch, template_thinking, template_mode, template_effort] =
        find(&template, [b"enable_thinking", b"thinking", b"thinking_mode", b"reasoning_effort"]);
    let [kind] = find(&thinking, [b"type"]);
    let [inner_effort, excludes] = find(&reasoning, [b"effort", b"exclude"]);

    let asks = word(&kind).map(|kind| kind != b"disabled");
    let mode = match word(&template_mode) {
        Some(b"enabled") => Some(true),
        Some(b"disabled") => Some(false),
        _ => None,
    };
    let efforts = [&think, &template_effort, &effort, &inner_effort];
    let is_effort = |value: &Option<Value<'_>>| word(value).map(|word| ![&b"none"[..], b"no_think"].contains(&word));
    let says = [boolean(&template_switch), boolean(&template_thinking), mode, boolean(&switch), boolean(&think), asks];
    let thinks = says.into_iter().flatten().next().or_else(|| efforts.into_iter().find_map(is_effort));

    let is_off = [boolean(&includes), boolean(&think), boolean(&excludes).map(|it| !it)].contains(&Some(false));
    let wants = thinking.is_some_and(|thinking| thinking.is_object()) && asks != Some(false);
    let is_left_out = is_off || format(exchange.path) == Some(Formats::MESSAGES) && !wants;
    let tools = tools.and_then(|tools| str::from_utf8(tools.json()).ok()).filter(|tools| *tools != "null");
    Request { thinks, thinking: if is_left_out { Thinking::Drop } else { Thinking::Keep }, tools }
}

/// Returns the members of these names of an object.
fn find<'a, const N: usize>(object: &Option<Value<'a>>, names: [&[u8]; N]) -> [Option<Value<'a>>; N] {
    object.as_ref().map_or([const { None }; N], |object| object.find(names))
}

fn boolean(value: &Option<Value<'_>>) -> Option<bool> {
    match value.as_ref()?.json() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// Returns the text of a string that is not empty and has no escapes.
fn word<'a>(value: &Option<Value<'a>>) -> Option<&'a [u8]> {
    value.as_ref()?.string().filter(|word| !word.is_empty())
}
