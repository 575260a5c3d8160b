//! Handles one exchange: forwards a request to the server, and the answer to the client.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use aside::call_writer::Tools;
use aside::history::{self, Outcome};
use aside::sse::{Body, Exchange, Formats, Options, Rewriter, request_hint, wants};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, UPGRADE};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body as _, Incoming};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;

use crate::answer::{Answer, Left, Source};
use crate::choice::{Choice, Chooser};
use crate::config::{self, Config, Limits, Starts};
use crate::decode::{self, Decoded};
use crate::error::Error;
use crate::fault::{self, Fault, format_of};
use crate::guard::Guard;
use crate::headers;
use crate::log;
use crate::metrics::Metrics;
use crate::questions::{MODELS, Questions};
use crate::report::{End, Report};
use crate::request::{self, Asked, Broken, MOST_READ, RequestBody, Seen};
use crate::settings::Thinking;
use crate::socket::{Flushes, Idle};
use crate::upstream;

/// The fields of an event. A comment is a field with an empty name.
const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b""];

/// The client of a request.
pub struct Client {
    pub address: IpAddr,
    /// Whether the client uses a listener that only this machine can reach.
    pub is_local: bool,
    pub is_encrypted: bool,
    pub flushes: Arc<Flushes>,
}

/// The state that all exchanges share.
pub struct Exchanges {
    servers: Vec<Server>,
    pub guard: Guard,
    pub tls: Option<TlsAcceptor>,
    pub limits: Limits,
    pub metrics: Arc<Metrics>,
    /// The tools of a request without tools.
    no_tools: Arc<Tools>,
}

/// A server, and the data for reading its answers.
struct Server {
    models: Vec<String>,
    chooser: Chooser,
    starts: Starts,
    thinking: Thinking,
    formats: Formats,
    options: Options,
    replaces_comments: bool,
    history: Option<history::Server>,
}

/// The facts about an exchange that its request shows.
struct Known {
    path: String,
    /// Whether the answer may have to be split.
    is_split: bool,
    left: Left,
    report: Report,
}

/// The answer of a server that was reached, and data of the request.
struct Reached<'a> {
    server: &'a Server,
    answer: Response<Incoming>,
    seen: Arc<Seen>,
    upgraded: Option<hyper::upgrade::OnUpgrade>,
}

impl Exchanges {
    pub fn new(config: Config, metrics: Arc<Metrics>) -> Result<Exchanges, Error> {
        let limits = config.limits;
        let server = |server: config::Server| {
            let client = upstream::client(server.tls, limits.connect, limits.header);
            let questions = Questions { client, upstream: server.upstream, key: server.key, drafts: server.drafts };
            Ok(Server {
                models: server.models,
                chooser: Chooser::new(server.choice, questions)?,
                starts: server.starts,
                thinking: server.thinking,
                formats: server.formats,
                options: server.options,
                replaces_comments: server.replaces_comments,
                history: server.history,
            })
        };
        Ok(Exchanges {
            servers: config.servers.into_iter().map(server).collect::<Result<_, Error>>()?,
            guard: Guard { hosts: config.allowed_hosts, key: config.client_key },
            tls: config.tls,
            limits,
            metrics,
            no_tools: Arc::new(Tools::read("[]").map_err(|error| Error::new(error.to_string()))?),
        })
    }

    /// Asks the servers at the start, so that the log has the results.
    pub async fn begin(&self) {
        for server in &self.servers {
            server.chooser.begin().await;
        }
    }

    /// Returns a line for each server that cannot be reached now, with the reason.
    pub async fn not_ready(&self) -> Vec<String> {
        let statuses = self.of_all(|questions| async move { questions.status().await }).await;
        let faults = self.servers.iter().zip(statuses).filter_map(|(server, status)| {
            let name = &server.chooser.questions.upstream.authority;
            match status {
                None => Some(format!("{name} does not answer")),
                Some(status) => status.is_server_error().then(|| format!("{name} answers {status}")),
            }
        });
        faults.collect()
    }

    /// Asks all servers at once.
    async fn of_all<T: Send + 'static, F>(&self, ask: impl Fn(Arc<Questions>) -> F) -> Vec<Option<T>>
    where
        F: Future<Output = Option<T>> + Send + 'static,
    {
        let asked = self.servers.iter().map(|server| tokio::spawn(ask(Arc::clone(&server.chooser.questions))));
        let mut answers = Vec::new();
        for asked in asked.collect::<Vec<_>>() {
            answers.push(asked.await.ok().flatten());
        }
        answers
    }

    /// Answers a request with the server's answer, or with an answer of the proxy.
    pub async fn answer(&self, client: Client, mut request: Request<Incoming>) -> Response<Answer> {
        let path = request.uri().path().to_owned();
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
        let left = if is_http2 { Left::InTime } else { Left::Flushed(Arc::clone(&client.flushes)) };
        let mut known = Known { path, is_split: false, left, report };
        let answer = match self.check(&client, &mut request) {
            Err(fault) => Err(fault),
            Ok(()) if self.servers.len() > 1 && request.method() == Method::GET && known.path == MODELS => {
                self.models(request.headers()).await.map(Err)
            }
            Ok(()) => self.exchange(&client, request, &mut known).await.map(Ok),
        };
        let mut response = match answer {
            Ok(Ok(reached)) => self.pass(reached, known).await,
            Ok(Err(models)) => {
                known.report.end = End::Complete;
                self.own(fault::head(StatusCode::OK), models.to_string(), known)
            }
            Err(fault) => self.refuse(&fault, known),
        };
        if !response.headers().contains_key(&headers::REQUEST_ID) {
            response.headers_mut().insert(&headers::REQUEST_ID, id);
        }
        response
    }

    fn refuse(&self, fault: &Fault, mut known: Known) -> Response<Answer> {
        known.report.fields["error"] = fault.message.clone().into();
        known.report.end = fault.end;
        self.own(fault::head(fault.status), fault.body(known.report.format), known)
    }

    /// Returns an answer of the proxy.
    fn own(&self, head: Response<()>, body: String, known: Known) -> Response<Answer> {
        let mut report = known.report;
        report.status = Some(head.status());
        head.map(|()| Answer::new(Source::Own(Some(body.into())), known.left, self.limits.idle, Some(report)))
    }

    /// Returns the models of all servers, as the servers describe them.
    async fn models(&self, headers: &HeaderMap) -> Result<Value, Fault> {
        let lists = self.of_all(|questions| {
            let headers = headers.clone();
            async move { questions.models(&headers).await }
        });
        let lists = lists.await;
        if lists.iter().all(Option::is_none) {
            return Err(Fault::new(StatusCode::BAD_GATEWAY, "no server says which models it has"));
        }
        let mut all = Vec::new();
        for (server, list) in self.servers.iter().zip(lists) {
            let is_its_own = |model: &Value| {
                model["id"]
                    .as_str()
                    .is_some_and(|id| self.route(Some(id)).is_ok_and(|other| std::ptr::eq(server, other)))
            };
            match list {
                Some(list) => all.extend(list.into_iter().filter(is_its_own)),
                None => log::warn(
                    "a server does not say which models it has",
                    json!({"upstream": server.chooser.questions.upstream.authority.as_str()}),
                ),
            }
        }
        Ok(json!({"object": "list", "data": all}))
    }

    /// Returns the server of a model. For requests without a model, it is the first server.
    fn route(&self, model: Option<&str>) -> Result<&Server, Fault> {
        let Some(model) = model else { return Ok(&self.servers[0]) };
        let has = |server: &&Server| server.models.iter().any(|pattern| upstream::fits(pattern, model));
        self.servers.iter().find(has).ok_or_else(|| {
            Fault::new(
                StatusCode::NOT_FOUND,
                format!("no server has the model {model:?}; {MODELS} lists those that there are"),
            )
        })
    }

    async fn exchange(
        &self,
        client: &Client,
        mut request: Request<Incoming>,
        known: &mut Known,
    ) -> Result<Reached<'_>, Fault> {
        let upgrade = headers::remove_hop_by_hop(request.headers_mut());
        // After the answer, the client's connection is used by the other protocol.
        let upgraded = upgrade.as_ref().map(|_| hyper::upgrade::on(&mut request));
        let (mut head, body) = request.into_parts();
        let mut body = Err(body);
        let mut model = known.path.strip_prefix(MODELS).and_then(|path| path.strip_prefix('/')).map(str::to_owned);
        if self.servers.len() > 1 && head.method == Method::POST && !is_of_parts(&head.headers) {
            let whole = self.read(body).await?;
            model = request::model(&decode::text(&decode::encoding(&head.headers), whole.clone(), MOST_READ).await);
            body = Ok(whole);
        }
        let server = self.route(model.as_deref())?;
        let hint = Exchange::new().method(head.method.as_str()).path(&known.path).formats(server.formats);
        known.is_split = request_hint(&hint).is_some();
        let format = history::Format::of_path(&known.path);
        if let Some(options) = format.and_then(|format| server.history.as_ref()?.options(format)) {
            body = Ok(self.rewrite_history(options, &mut head.headers, self.read(body).await?).await?);
        }
        let questions = &server.chooser.questions;
        let authority = head.uri.authority().map(ToString::to_string);
        headers::forward(&mut head.headers, head.version, authority.as_deref(), client, known.is_split);
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let uri = path.starts_with('/').then(|| questions.upstream.uri(path)).flatten();
        head.uri = uri.ok_or_else(|| Fault::new(StatusCode::BAD_REQUEST, "the path of the request cannot be read"))?;
        head.version = Version::HTTP_11;
        head.extensions = http::Extensions::new();
        if let (true, Some(key)) = (self.guard.key.is_some() && head.method != Method::OPTIONS, &questions.key) {
            head.headers.insert(AUTHORIZATION, key.clone());
        }
        if let Some(protocol) = &upgrade {
            head.headers.insert(http::header::CONNECTION, http::HeaderValue::from_static("upgrade"));
            head.headers.insert(UPGRADE, protocol.clone());
        }
        let seen = Arc::new(Seen::new(Idle::new(self.limits.idle), decode::encoding(&head.headers)));
        let body = match body {
            Ok(whole) => {
                head.headers.insert(CONTENT_LENGTH, whole.len().into());
                seen.keep(&whole);
                RequestBody::Whole(Full::new(whole))
            }
            Err(body) => {
                RequestBody::Passing { body, seen: Arc::clone(&seen), left: self.limits.body, is_kept: known.is_split }
            }
        };
        let asking = questions.client.request(Request::from_parts(head, body));
        let answer = tokio::select! {
            answer = asking => answer,
            () = seen.idle.wait() => {
                return Err(if seen.waits.load(Ordering::Acquire) {
                    too_late()
                } else {
                    Fault::new(StatusCode::GATEWAY_TIMEOUT, "the model's server has not answered in time")
                });
            }
        };
        let answer = answer.map_err(|error| {
            known.report.fields["cause"] = upstream::reason(&error).into();
            if seen.is_too_long.load(Ordering::Acquire) {
                return self.too_long();
            }
            if let Some(broken) = *seen.broken.lock().unwrap_or_else(PoisonError::into_inner) {
                return Fault::of_broken(broken);
            }
            server.chooser.forget();
            upstream::fault(&error)
        })?;
        Ok(Reached { server, answer, seen, upgraded })
    }

    /// Checks the head of a request.
    fn check(&self, client: &Client, request: &mut Request<Incoming>) -> Result<(), Fault> {
        if request.method() == Method::CONNECT {
            return Err(Fault::new(StatusCode::METHOD_NOT_ALLOWED, "this proxy is for its servers alone"));
        }
        self.guard.check_host(request, client.is_local)?;
        let method = request.method().clone();
        self.guard.check_key(&method, request.headers_mut())?;
        let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.limits.body) { Err(self.too_long()) } else { Ok(()) }
    }

    /// Reads a body to its end, unless it was read before.
    async fn read(&self, body: Result<Bytes, Incoming>) -> Result<Bytes, Fault> {
        let body = match body {
            Ok(whole) => return Ok(whole),
            Err(body) => body,
        };
        let reading = Limited::new(body, self.most()).collect();
        match tokio::time::timeout(self.limits.idle, reading).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(self.too_long()),
            Ok(Err(error)) => Err(Fault::of_broken(Broken::of(&*error))),
            Err(_) => Err(too_late()),
        }
    }

    /// Returns the most bytes of a request.
    fn most(&self) -> usize {
        usize::try_from(self.limits.body).unwrap_or(usize::MAX)
    }

    fn too_long(&self) -> Fault {
        let message = format!("the request is longer than {} bytes (max-body of the proxy)", self.limits.body);
        Fault::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// Moves the thinking of earlier turns to the place where the server reads it. Returns the original body if nothing
    /// changes.
    async fn rewrite_history(
        &self,
        options: &history::Options,
        headers: &mut HeaderMap,
        body: Bytes,
    ) -> Result<Bytes, Fault> {
        let text = decode::text(&decode::encoding(headers), body.clone(), self.most()).await;
        let out = match history::rewrite(&text, options) {
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
                out
            }
            Err(error) => return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())),
        };
        if out == text {
            return Ok(body);
        }
        headers::remove_of_the_body(headers);
        headers.remove(CONTENT_ENCODING);
        Ok(out.into())
    }

    /// Turns the server's answer into the answer to the client.
    async fn pass(&self, reached: Reached<'_>, mut known: Known) -> Response<Answer> {
        let (mut head, body) = reached.answer.into_parts();
        head.version = Version::default();
        let status = head.status;
        let protocol = headers::remove_hop_by_hop(&mut head.headers);
        if status == StatusCode::SWITCHING_PROTOCOLS {
            return self.switch(head, body, known, protocol, reached.upgraded);
        }
        head.extensions = http::Extensions::new();
        if body.is_end_stream() {
            // hyper does not poll for the end of this body.
            known.report.end = End::Complete;
        }
        let split = self.split(&mut head.headers, status, body, &mut known, reached.server, &reached.seen).await;
        let (source, rewriter) = split.unwrap_or_else(|source| (source, None));
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

    /// Makes a rewriter for an answer that must be split. Returns the body if it need not be split.
    async fn split(
        &self,
        headers: &mut HeaderMap,
        status: StatusCode,
        body: Incoming,
        known: &mut Known,
        server: &Server,
        seen: &Seen,
    ) -> Result<(Source<Incoming>, Option<Rewriter>), Source<Incoming>> {
        if !known.is_split || status != StatusCode::OK {
            return Err(Source::Server(body));
        }
        let passes = |why: &str, what: &str| log::warn("an answer passes as it came", json!({"why": why, "it": what}));
        let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
        let exchange = Exchange::new().status(status.as_u16().into()).path(&known.path).formats(server.formats);
        let Some(body_kind) = wants(&exchange.content_type(kind)) else {
            passes("its content type is none that is read", &String::from_utf8_lossy(kind));
            return Err(Source::Server(body));
        };
        let encoding = decode::encoding(headers);
        let mut source = if decode::is_plain(&encoding) {
            Source::Server(body)
        } else {
            match Decoded::new(&encoding, body) {
                Ok(decoded) => Source::Decoded(decoded),
                Err(body) => {
                    passes("its encoding is not known", &encoding);
                    return Err(Source::Server(body));
                }
            }
        };
        let mut is_read = true;
        if body_kind == Body::Json {
            // The type is not clear, so the first bytes decide whether the answer is read.
            let (begun, first) = source.begin(self.limits.idle).await;
            (source, is_read) = (begun, is_answer(&first));
        }
        if !is_read {
            passes("it begins like no answer", &String::from_utf8_lossy(kind));
            if !decode::is_plain(&encoding) {
                headers::remove_of_the_body(headers);
                headers.remove(CONTENT_ENCODING);
            }
            return Err(source);
        }
        let path = (server.thinking == Thinking::Request).then_some(&*known.path);
        let asked = seen.read(path, self.limits.tools).await;
        let choice = server.chooser.choose(asked.model.as_deref()).await;
        let rewriter = self.rewriter(server, &choice, asked, body_kind, &known.path);
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
                passes("it cannot be split", &error.to_string());
                headers.remove(&headers::DIALECT);
                Ok((source, None))
            }
        }
    }

    fn rewriter(
        &self,
        server: &Server,
        choice: &Choice,
        asked: Asked,
        kind: Body,
        path: &str,
    ) -> Result<(Rewriter, Option<String>), aside::Error> {
        let mut options = server.options.clone().body(kind);
        if let Some(thinking) = asked.thinking {
            options = options.thinking(thinking);
        }
        // Before the first event, the path says of which format the events for comments are.
        let format = history::Format::of_path(path).filter(|_| server.replaces_comments);
        if let Some(formats) = format.and_then(|format| Formats::from_bits(format as u32)) {
            options = options.formats(formats);
        }
        let mut rewriter = Rewriter::new(&choice.dialect, &options)?;
        // If the dialect does not have this start, it came from a template that does not fit, and the dialect's own start is
        // right.
        let _ = rewriter.use_dialect(None, server.starts.of(asked.thinks, choice.start));
        // A prompt can make a model write any call, so without tools in the request no call is emitted.
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
            return self.refuse(&Fault::new(StatusCode::BAD_GATEWAY, message), known);
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

/// Returns the answer to a client that stopped within its request.
fn too_late() -> Fault {
    Fault::new(StatusCode::REQUEST_TIMEOUT, "the request has not come in time")
}

/// Returns whether a body is a form, such as one with a recording, which has the model in a part.
fn is_of_parts(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    kind.get(..10).is_some_and(|kind| kind.eq_ignore_ascii_case(b"multipart/"))
}

/// Returns whether a body with these first bytes may be JSON or a stream of events. Blanks, which keep a connection open, may
/// precede both.
fn is_answer(first: &[u8]) -> bool {
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    let text = first.trim_ascii_start();
    let field = text.split(|byte| matches!(byte, b':' | b'\n' | b'\r')).next().unwrap_or_default();
    let is_field = |name: &[u8]| field == name || text.len() == field.len() && name.starts_with(field);
    !first.is_empty() && (text.first().is_none_or(|byte| *byte == b'{') || FIELDS.iter().any(|name| is_field(name)))
}
