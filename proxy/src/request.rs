//! The body of a request to the server. A part of it is kept, to find the model, whether the model should think, and the tools
//! that it may call.

use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use aside::answer::Tools;
use aside::sse::{Exchange, RequestModel, Thinking, read_request, request_model};
use bytes::Bytes;
use http::{Request, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;

use crate::decode;
use crate::error::Error;
use crate::socket::Idle;

/// The maximum number of bytes of a request that are kept.
pub const MOST_READ: usize = 8 << 20;

/// The longest name of a model.
const MOST_MODEL: usize = 256;

/// The progress of a request, which the code for the answer and for the limits reads.
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
    /// The client has closed the connection.
    Left,
    /// The client's bytes break the rules of HTTP.
    Wrong,
}

impl Broken {
    /// Returns the reason for an error of the client's connection.
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

    /// Returns the request's data about its answer, as far as the request has arrived. If `path` is given, the data includes
    /// whether the client wants the thinking. A list of tools with more than `max_tools` bytes is an error.
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

/// The time for reading the rest of a request that was answered early.
const REST: Duration = Duration::from_secs(1);

/// The body of a request as the client sends it. If it is dropped before its end, the rest is still read for a while over HTTP/2.
/// Otherwise the stream would be reset, and clients that still send their request would lose the answer.
pub struct Sent {
    body: Option<Incoming>,
    is_http2: bool,
}

impl Sent {
    pub fn new(request: Request<Incoming>) -> Request<Sent> {
        let is_http2 = request.version() == Version::HTTP_2;
        request.map(|body| Sent { body: Some(body), is_http2 })
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.body.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if let Some(mut body) = self.body.take_if(|body| self.is_http2 && !body.is_end_stream())
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let rest = async move { while let Some(Ok(_)) = body.frame().await {} };
            runtime.spawn(async { tokio::time::timeout(REST, rest).await });
        }
    }
}

/// A body that is forwarded, or a body that was read and rewritten.
pub enum RequestBody {
    Passing { body: Sent, seen: Arc<Seen>, left: u64, is_kept: bool },
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
    pub tools: Option<Result<Arc<Tools>, String>>,
}

/// Returns the model that a request asks for.
pub fn model(body: &[u8]) -> Option<String> {
    match request_model(body, &mut [0; MOST_MODEL]) {
        RequestModel::Found(model) => Some(model.to_owned()),
        RequestModel::More | RequestModel::None => None,
    }
}

impl Asked {
    fn read(path: Option<&str>, max_tools: usize, body: &[u8]) -> Asked {
        let model = model(body);
        let request = read_request(&Exchange::new().path(path.unwrap_or_default()), body);
        let read = |tools| Tools::read_up_to(tools, Some(max_tools)).map_err(|error| error.to_string());
        let thinking = path.map(|_| request.thinking);
        Asked { model, thinks: request.thinks, thinking, tools: request.tools.map(read) }
    }
}

#[cfg(test)]
mod tests {
    use super::Asked;

    #[test]
    fn the_model_and_the_tools() {
        let asked = Asked::read(None, 1000, br#"{"model":"a\/b","tools":[{"name":"f"}]}"#);
        assert_eq!(asked.model.as_deref(), Some("a/b"));
        assert!(asked.tools.unwrap().unwrap().has("f"));
        assert!(Asked::read(None, 1000, br#"{"tools":null}"#).tools.is_none());
        assert!(Asked::read(None, 1000, br#"{"tools":{}}"#).tools.unwrap().is_err());
    }
}
