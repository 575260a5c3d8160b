//! One request on its way to the server, and the answer on its way back.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use aside::call_writer::Tools;
use aside::history::{self, Outcome};
use aside::sse::{Exchange, Formats, Options, Rewriter, request_hint, wants};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, UPGRADE};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::json;

use crate::answer::{Answer, Left, Source};
use crate::choice::{Choice, Chooser};
use crate::config::{Config, Limits, Starts};
use crate::decode::Decoded;
use crate::error::Error;
use crate::fault::{Fault, format_of};
use crate::headers;
use crate::log;
use crate::metrics::Metrics;
use crate::questions::Questions;
use crate::report::{End, Report};
use crate::request::{Asked, RequestBody, Seen};
use crate::settings::Thinking;
use crate::socket::{Flushes, Idle};
use crate::upstream::{self, HttpClient, Upstream};

/// Who asks.
pub struct Client {
    pub address: IpAddr,
    pub flushes: Arc<Flushes>,
}

/// The state that all exchanges share.
pub struct Exchanges {
    upstream: Upstream,
    client: HttpClient,
    pub chooser: Chooser,
    starts: Starts,
    thinking: Thinking,
    formats: Formats,
    options: Options,
    history: Option<history::Server>,
    pub limits: Limits,
    metrics: Arc<Metrics>,
    /// Those of a request without tools.
    no_tools: Arc<Tools>,
}

/// The facts about an exchange that are known from its request on.
struct Known {
    path: String,
    /// Whether the answer may be one to split.
    is_split: bool,
    left: Left,
    report: Report,
}

impl Exchanges {
    pub fn new(config: Config, metrics: Arc<Metrics>) -> Result<Exchanges, Error> {
        let client = upstream::client(config.tls, config.limits.connect, config.limits.header);
        let questions = Questions { client: client.clone(), upstream: config.upstream.clone(), key: config.key };
        Ok(Exchanges {
            upstream: config.upstream,
            client,
            chooser: Chooser::new(config.choice, questions)?,
            starts: config.starts,
            thinking: config.thinking,
            formats: config.formats,
            options: config.options,
            history: config.history,
            limits: config.limits,
            metrics,
            no_tools: Arc::new(Tools::read("[]").map_err(|error| Error::new(error.to_string()))?),
        })
    }

    /// Answers a request: with what the server answers, or with what the proxy has to say in its place.
    pub async fn answer(&self, client: Client, mut request: Request<Incoming>) -> Response<Answer> {
        let path = request.uri().path().to_owned();
        let hint = request_hint(&Exchange::new().method(request.method().as_str()).path(&path).formats(self.formats));
        let id = headers::request_id(request.headers_mut());
        let fields = json!({
            "id": id.to_str().ok(),
            "method": request.method().as_str(),
            "path": path,
            "client": client.address.to_string(),
            "trace": headers::trace(request.headers()),
        });
        let report = Report::new(Arc::clone(&self.metrics), format_of(&path), fields);
        let is_http2 = request.version() == Version::HTTP_2;
        let left = if is_http2 { Left::InTime } else { Left::Flushed(client.flushes) };
        let known = Known { path, is_split: hint.is_some(), left, report };
        let mut response = match self.exchange(client.address, request, known).await {
            Ok(response) => response,
            Err((fault, mut known)) => {
                known.report.fields["error"] = fault.message.clone().into();
                self.own(&fault, known)
            }
        };
        if !response.headers().contains_key(&headers::REQUEST_ID) {
            response.headers_mut().insert(&headers::REQUEST_ID, id);
        }
        response
    }

    /// Returns an answer of the proxy's own.
    fn own(&self, fault: &Fault, known: Known) -> Response<Answer> {
        let mut report = known.report;
        let body = Bytes::from(fault.body(report.format));
        report.status = Some(fault.status);
        report.end = if fault.status.is_client_error() { End::Refused } else { End::ServerNotReached };
        fault.head().map(|()| Answer::new(Source::Own(Some(body)), known.left, self.limits.idle, Some(report)))
    }

    async fn exchange(
        &self,
        client: IpAddr,
        mut request: Request<Incoming>,
        mut known: Known,
    ) -> Result<Response<Answer>, (Fault, Known)> {
        let uri = match self.check(&request) {
            Ok(uri) => uri,
            Err(fault) => return Err((fault, known)),
        };
        let upgrade = headers::remove_hop_by_hop(request.headers_mut());
        // The client's connection is the other protocol's from the answer on.
        let upgraded = upgrade.as_ref().map(|_| hyper::upgrade::on(&mut request));
        let (mut head, body) = request.into_parts();
        let authority = head.uri.authority().map(ToString::to_string);
        headers::forward(&mut head.headers, head.version, authority.as_deref(), client, known.is_split);
        head.uri = uri;
        head.version = Version::HTTP_11;
        head.extensions = http::Extensions::new();
        if let Some(protocol) = &upgrade {
            head.headers.insert(http::header::CONNECTION, http::HeaderValue::from_static("upgrade"));
            head.headers.insert(UPGRADE, protocol.clone());
        }
        let seen = Arc::new(Seen::new(Idle::new(self.limits.idle)));
        let body = match self.rewrite_history(&known.path, &mut head.headers, body, &seen).await {
            Ok(body) => body,
            Err(fault) => return Err((fault, known)),
        };
        let body = body.unwrap_or_else(|body| RequestBody::Passing {
            body,
            seen: Arc::clone(&seen),
            left: self.limits.body,
            is_kept: known.is_split,
        });
        let asking = self.client.request(Request::from_parts(head, body));
        let answer = tokio::select! {
            answer = asking => answer,
            () = seen.idle.wait() => {
                return Err((Fault::new(StatusCode::GATEWAY_TIMEOUT, "the model's server has not answered in time"), known));
            }
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                if seen.is_too_long.load(Ordering::Acquire) {
                    return Err((self.too_long(), known));
                }
                self.chooser.forget();
                known.report.fields["cause"] = upstream::reason(&error).into();
                return Err((upstream::fault(&error), known));
            }
        };
        Ok(self.pass(answer, known, &seen, upgraded).await)
    }

    /// Returns the server of a request, if it has one.
    fn check(&self, request: &Request<Incoming>) -> Result<http::Uri, Fault> {
        if request.method() == Method::CONNECT {
            return Err(Fault::new(StatusCode::METHOD_NOT_ALLOWED, "this proxy is for one server alone"));
        }
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let uri = path.starts_with('/').then(|| self.upstream.uri(path)).flatten();
        let uri = uri.ok_or_else(|| Fault::new(StatusCode::BAD_REQUEST, "the path of the request cannot be read"))?;
        let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.limits.body) {
            return Err(self.too_long());
        }
        Ok(uri)
    }

    fn too_long(&self) -> Fault {
        let message = format!("the request is longer than {} bytes (max-body of the proxy)", self.limits.body);
        Fault::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// Puts the thinking of earlier turns where the server reads it. Returns the body as it is if its requests need no change.
    async fn rewrite_history(
        &self,
        path: &str,
        headers: &mut HeaderMap,
        body: Incoming,
        seen: &Seen,
    ) -> Result<Result<RequestBody, Incoming>, Fault> {
        let options = history::Format::of_path(path).and_then(|format| self.history.as_ref()?.options(format));
        let Some(options) = options.filter(|_| is_plain(headers)) else { return Ok(Err(body)) };
        let most = usize::try_from(self.limits.body).unwrap_or(usize::MAX);
        let reading = tokio::time::timeout(self.limits.idle, Limited::new(body, most).collect());
        let body = match reading.await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => return Err(self.too_long()),
            Ok(Err(_)) => return Err(Fault::new(StatusCode::BAD_REQUEST, "the request has broken off")),
            Err(_) => return Err(Fault::new(StatusCode::REQUEST_TIMEOUT, "the request has not come in time")),
        };
        let out = match history::rewrite(&body, options) {
            Ok((out, report)) => {
                if report.outcome != Outcome::Read {
                    log::warn(
                        "the history of a request has passed as it came",
                        json!({"why": format!("{:?}", report.outcome)}),
                    );
                } else if report.refused > 0 {
                    log::warn(
                        "thinking cannot be written into the text of its messages",
                        json!({"messages": report.refused}),
                    );
                }
                Bytes::from(out)
            }
            Err(error) => return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())),
        };
        if out != body {
            headers::remove_of_the_body(headers);
        }
        headers.insert(CONTENT_LENGTH, out.len().into());
        seen.keep(&out);
        seen.idle.moved();
        Ok(Ok(RequestBody::Whole(Full::new(out))))
    }

    /// Makes the server's answer the client's.
    async fn pass(
        &self,
        answer: Response<Incoming>,
        mut known: Known,
        seen: &Seen,
        upgraded: Option<hyper::upgrade::OnUpgrade>,
    ) -> Response<Answer> {
        let (mut head, body) = answer.into_parts();
        head.version = Version::default();
        let status = head.status;
        let protocol = headers::remove_hop_by_hop(&mut head.headers);
        if status == StatusCode::SWITCHING_PROTOCOLS {
            return self.switch(head, body, known, protocol, upgraded);
        }
        head.extensions = http::Extensions::new();
        let split = self.split(&mut head.headers, status, body, &mut known, seen).await;
        let (source, rewriter) = split.unwrap_or_else(|body| (Source::Server(body), None));
        known.report.status = Some(status);
        let answer = Answer::new(source, known.left, self.limits.idle, Some(known.report));
        Response::from_parts(
            head,
            match rewriter {
                Some(rewriter) => answer.split(rewriter),
                None => answer,
            },
        )
    }

    /// Makes a rewriter for an answer, if it is one to split. Returns the body if it is not.
    async fn split(
        &self,
        headers: &mut HeaderMap,
        status: StatusCode,
        body: Incoming,
        known: &mut Known,
        seen: &Seen,
    ) -> Result<(Source<Incoming>, Option<Rewriter>), Incoming> {
        let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
        let exchange = Exchange::new().status(status.as_u16().into()).path(&known.path).formats(self.formats);
        let Some(kind) = wants(&exchange.content_type(kind)).filter(|_| known.is_split) else { return Err(body) };
        let encodings = headers.get_all(CONTENT_ENCODING).iter().filter_map(|encoding| encoding.to_str().ok());
        let encoding = encodings.collect::<Vec<_>>().join(", ");
        let source = if is_plain(headers) {
            Source::Server(body)
        } else {
            match Decoded::new(&encoding, body) {
                Ok(decoded) => Source::Decoded(decoded),
                Err(body) => {
                    log::warn("an answer passes as it came: its encoding is not known", json!({"encoding": encoding}));
                    return Err(body);
                }
            }
        };
        let asked = seen.read((self.thinking == Thinking::Request).then_some(&known.path));
        let choice = self.chooser.choose(asked.model.as_deref()).await;
        let rewriter = self.rewriter(&choice, asked, kind);
        headers::remove_of_the_body(headers);
        headers.remove(CONTENT_ENCODING);
        if let Ok(name) = choice.dialect.name().parse() {
            headers.insert(&headers::DIALECT, name);
        }
        known.report.fields["dialect"] = choice.dialect.name().into();
        match rewriter {
            Ok((rewriter, model)) => {
                known.report.fields["model"] = model.into();
                Ok((source, Some(rewriter)))
            }
            Err(error) => {
                log::warn("an answer passes as it came", json!({"error": error.to_string()}));
                headers.remove(&headers::DIALECT);
                Ok((source, None))
            }
        }
    }

    fn rewriter(
        &self,
        choice: &Choice,
        asked: Asked,
        kind: aside::sse::Body,
    ) -> Result<(Rewriter, Option<String>), aside::Error> {
        let mut options = self.options.clone().body(kind);
        if let Some(thinking) = asked.thinking {
            options = options.thinking(thinking);
        }
        let mut rewriter = Rewriter::new(&choice.dialect, &options)?;
        // A start that this dialect does not have is one of a template that it does not fit: the dialect's own is right.
        let _ = rewriter.use_dialect(None, self.starts.of(asked.thinks, choice.start));
        // A prompt can make a model write any call: without tools in the request, none is one.
        let tools = match asked.tools {
            Some(Ok(tools)) => Arc::new(tools),
            Some(Err(why)) => {
                log::warn("calls stay in the text", json!({"why": why}));
                Arc::clone(&self.no_tools)
            }
            None => Arc::clone(&self.no_tools),
        };
        rewriter.use_tools(tools)?;
        Ok((rewriter, asked.model))
    }

    /// Joins the two connections of an exchange that has switched protocols, such as a WebSocket.
    fn switch(
        &self,
        mut head: http::response::Parts,
        body: Incoming,
        known: Known,
        protocol: Option<http::HeaderValue>,
        upgraded: Option<hyper::upgrade::OnUpgrade>,
    ) -> Response<Answer> {
        let (Some(client), Some(protocol)) = (upgraded, protocol) else {
            let message = "the model's server has changed to a protocol that was not asked for";
            return self.own(&Fault::new(StatusCode::BAD_GATEWAY, message), known);
        };
        head.headers.insert(http::header::CONNECTION, http::HeaderValue::from_static("upgrade"));
        head.headers.insert(UPGRADE, protocol);
        let mut answer = Response::from_parts(head, body);
        let server = hyper::upgrade::on(&mut answer);
        tokio::spawn(async move {
            let (Ok(client), Ok(server)) = tokio::join!(client, server) else { return };
            let (mut client, mut server) = (TokioIo::new(client), TokioIo::new(server));
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        });
        let Known { left, mut report, .. } = known;
        report.status = Some(answer.status());
        report.end = End::Complete;
        answer.map(|_| Answer::new(Source::Own(None), left, self.limits.idle, Some(report)))
    }
}

/// Returns whether a body is not compressed.
fn is_plain(headers: &HeaderMap) -> bool {
    let plain = |encoding: &[u8]| encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity");
    headers.get_all(CONTENT_ENCODING).iter().all(|encoding| plain(encoding.as_bytes().trim_ascii()))
}
