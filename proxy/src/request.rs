//! The body of a request to the server. A part of it is kept, to find the model, whether the model should think, and the tools
//! that it may call.

use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use aside::call_writer::Tools;
use aside::sse::{Exchange, RequestModel, Thinking, request_model, request_thinking};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::decode;
use crate::error::Error;
use crate::socket::Idle;

/// The most bytes of a request that are kept.
pub const MOST_READ: usize = 8 << 20;

/// The longest name of a model.
const MOST_MODEL: usize = 256;

/// The progress of a request, for the code of the answer and of the limits.
#[derive(Debug)]
pub struct Seen {
    pub idle: Idle,
    pub is_too_long: AtomicBool,
    /// Whether the server waits for more of the request, which the client has not sent yet.
    pub waits: AtomicBool,
    /// The reason why the request broke off, if it did.
    pub broken: Mutex<Option<Broken>>,
    encoding: String,
    kept: Mutex<Vec<u8>>,
}

/// The reason why a request broke off.
#[derive(Clone, Copy, Debug)]
pub enum Broken {
    /// The client has left.
    Left,
    /// The client's bytes break the rules of HTTP.
    Wrong,
}

impl Broken {
    /// Returns the reason that an error of the client's connection shows.
    pub fn of(error: &(dyn std::error::Error + 'static)) -> Broken {
        let cause = std::iter::successors(Some(error), |error| error.source());
        let kinds = cause.filter_map(|error| error.downcast_ref::<std::io::Error>()).map(std::io::Error::kind);
        let is_wrong = |kind| matches!(kind, ErrorKind::InvalidInput | ErrorKind::InvalidData);
        if kinds.into_iter().any(is_wrong) { Broken::Wrong } else { Broken::Left }
    }
}

impl Seen {
    pub fn new(idle: Idle, encoding: String) -> Seen {
        let (is_too_long, waits) = (AtomicBool::new(false), AtomicBool::new(false));
        Seen { idle, is_too_long, waits, broken: Mutex::default(), encoding, kept: Mutex::default() }
    }

    /// Returns the request's data about its answer, as far as the request has arrived. With a path, the data includes whether
    /// the client wants the thinking. A list of tools of more than `max_tools` bytes is an error.
    pub async fn read(&self, path: Option<&str>, max_tools: usize) -> Asked {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        Asked::read(path, max_tools, &decode::text(&self.encoding, kept.into(), MOST_READ).await)
    }

    pub fn keep(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST_READ.saturating_sub(kept.len()).min(bytes.len());
        kept.extend_from_slice(&bytes[..room]);
    }
}

/// A body that is forwarded, or a body that was read and rewritten.
pub enum RequestBody {
    Passing { body: Incoming, seen: Arc<Seen>, left: u64, is_kept: bool },
    Whole(Full<Bytes>),
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let (body, seen, left, is_kept) = match self.get_mut() {
            RequestBody::Whole(body) => return Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            RequestBody::Passing { body, seen, left, is_kept } => (body, seen, left, *is_kept),
        };
        let frame = Pin::new(body).poll_frame(cx);
        seen.waits.store(frame.is_pending(), Ordering::Release);
        let frame = ready!(frame);
        seen.idle.moved();
        if let Some(Err(error)) = &frame {
            *seen.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(Broken::of(error));
        }
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let Some(rest) = left.checked_sub(data.len() as u64) else {
                seen.is_too_long.store(true, Ordering::Release);
                return Poll::Ready(Some(Err(Box::new(Error::new("the request is longer than max-body")))));
            };
            *left = rest;
            if is_kept {
                seen.keep(data);
            }
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            RequestBody::Passing { body, .. } => body.is_end_stream(),
            RequestBody::Whole(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            RequestBody::Passing { body, .. } => body.size_hint(),
            RequestBody::Whole(body) => body.size_hint(),
        }
    }
}

/// The properties of a request that concern its answer.
#[derive(Debug, Default)]
pub struct Asked {
    pub model: Option<String>,
    /// Whether the model should think, if the request has a setting for that.
    pub thinks: Option<bool>,
    /// Whether the client wants the thinking, if a path was given.
    pub thinking: Option<Thinking>,
    /// The tools that the model may call, or the reason why they cannot be read.
    pub tools: Option<Result<Tools, String>>,
}

/// The fields that are read. A field of an unexpected type is ignored.
#[derive(Deserialize, Default)]
struct Fields<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    chat_template_kwargs: Option<&'a RawValue>,
    #[serde(borrow)]
    enable_thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_effort: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    think: Option<&'a RawValue>,
}

/// Returns the model that a request asks for.
pub fn model(body: &[u8]) -> Option<String> {
    match request_model(body, &mut [0; MOST_MODEL]) {
        RequestModel::Found(model) => Some(model.to_owned()),
        RequestModel::More | RequestModel::None => None,
    }
}

fn value<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

impl Asked {
    fn read(path: Option<&str>, max_tools: usize, body: &[u8]) -> Asked {
        let model = model(body);
        // A request that is not complete has no effect here.
        let fields: Fields<'_> = serde_json::from_slice(body).unwrap_or_default();
        let tools = fields.tools.filter(|tools| tools.get() != "null");
        let read =
            |tools: &RawValue| Tools::read_up_to(tools.get(), Some(max_tools)).map_err(|error| error.to_string());
        let tools = tools.map(read);
        let thinking = path.map(|path| request_thinking(&Exchange::new().path(path), body));
        Asked { model, thinks: thinks(&fields), thinking, tools }
    }
}

/// Returns whether the model should think. Variables of the chat template have precedence over the fields that servers map to
/// them.
fn thinks(fields: &Fields<'_>) -> Option<bool> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Template<'a> {
        #[serde(borrow)]
        enable_thinking: Option<&'a RawValue>,
        #[serde(borrow)]
        thinking: Option<&'a RawValue>,
    }
    /// `thinking` of Messages, and `reasoning` of Responses.
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct How {
        r#type: Option<String>,
        effort: Option<String>,
    }
    let template: Template<'_> = value(fields.chat_template_kwargs).unwrap_or_default();
    let said = value(template.enable_thinking).or_else(|| value(template.thinking));
    let said = said.or_else(|| value(fields.enable_thinking)).or_else(|| value(fields.think));
    if said.is_some() {
        return said;
    }
    let kind = value::<How>(fields.thinking).and_then(|how| how.r#type).filter(|kind| !kind.is_empty());
    if let Some(kind) = kind {
        return Some(kind != "disabled");
    }
    let effort = value::<String>(fields.think).or_else(|| value(fields.reasoning_effort));
    let effort = effort.or_else(|| value::<How>(fields.reasoning)?.effort).filter(|effort| !effort.is_empty());
    effort.map(|effort| effort != "none")
}

#[cfg(test)]
mod tests {
    use super::Asked;

    fn thinks(body: &str) -> Option<bool> {
        Asked::read(None, 1000, body.as_bytes()).thinks
    }

    #[test]
    fn whether_it_is_to_think() {
        for (body, wanted) in [
            ("{}", None),
            (r#"{"chat_template_kwargs":{"enable_thinking":false},"enable_thinking":true}"#, Some(false)),
            (r#"{"chat_template_kwargs":{"enable_thinking":"no","thinking":true}}"#, Some(true)),
            (r#"{"enable_thinking":false}"#, Some(false)),
            (r#"{"thinking":{"type":"disabled"},"reasoning_effort":"high"}"#, Some(false)),
            (r#"{"thinking":{"type":"enabled","budget_tokens":9}}"#, Some(true)),
            (r#"{"reasoning_effort":"none"}"#, Some(false)),
            (r#"{"reasoning":{"effort":"low","summary":null}}"#, Some(true)),
            (r#"{"think":true}"#, Some(true)),
            (r#"{"think":"none"}"#, Some(false)),
            (r#"{"think":1,"reasoning":[],"thinking":7,"chat_template_kwargs":null}"#, None),
            (r#"{"enable_thinking":true"#, None),
        ] {
            assert_eq!(thinks(body), wanted, "{body}");
        }
    }

    #[test]
    fn the_model_and_the_tools() {
        let asked = Asked::read(None, 1000, br#"{"model":"a\/b","tools":[{"name":"f"}]}"#);
        assert_eq!(asked.model.as_deref(), Some("a/b"));
        assert!(asked.tools.unwrap().unwrap().has("f"));
        assert!(Asked::read(None, 1000, br#"{"tools":null}"#).tools.is_none());
        assert!(Asked::read(None, 1000, br#"{"tools":{}}"#).tools.unwrap().is_err());
    }
}
