//! Handles one exchange: forwards a request to the server, and the answer to the client.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use aside::history::{self, Outcome};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, UPGRADE};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body as _, Incoming};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;

use crate::answer::{Answer, Left, Source};
use crate::config::{Config, Limits};
use crate::decode;
use crate::error::Error;
use crate::fault::{self, Fault, format_of};
use crate::guard::Guard;
use crate::headers::{self, Client};
use crate::log;
use crate::metrics::Metrics;
use crate::questions::{MODELS, Questions};
use crate::report::{End, Report};
use crate::request::{self, Broken, MOST_READ, RequestBody, Seen, Sent};
use crate::server::Server;
use crate::socket::Idle;
use crate::upstream;

/// The state that all exchanges share.
pub struct Exchanges {
    servers: Vec<Server>,
    pub guard: Guard,
    pub tls: Option<TlsAcceptor>,
    pub limits: Limits,
    pub metrics: Arc<Metrics>,
}

/// The facts about an exchange that its request shows.
struct Known {
    path: String,
    /// Whether the answer may have to be split.
    is_split: bool,
    left: Left,
    report: Report,
}

/// The answer of a server, with the data of its request that are needed for forwarding the answer.
struct Reached<'a> {
    server: &'a Server,
    answer: Response<Incoming>,
    seen: Arc<Seen>,
    upgraded: Option<hyper::upgrade::OnUpgrade>,
}

impl Exchanges {
    pub fn new(config: Config, metrics: Arc<Metrics>) -> Result<Exchanges, Error> {
        let limits = config.limits;
        Ok(Exchanges {
            servers: config.servers.into_iter().map(|server| Server::new(server, limits)).collect::<Result<_, _>>()?,
            guard: Guard { hosts: config.allowed_hosts, key: config.client_key },
            tls: config.tls,
            limits,
            metrics,
        })
    }

    /// Asks the servers when the proxy starts, so that the log has the results.
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
    pub async fn answer(&self, client: Client, request: Request<Incoming>) -> Response<Answer> {
        let mut request = Sent::new(request);
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
        self.servers.iter().find(|server| server.has(model)).ok_or_else(|| {
            Fault::new(
                StatusCode::NOT_FOUND,
                format!("no server has the model {model:?}; {MODELS} lists those that there are"),
            )
        })
    }

    async fn exchange(
        &self,
        client: &Client,
        mut request: Request<Sent>,
        known: &mut Known,
    ) -> Result<Reached<'_>, Fault> {
        let upgrade = headers::remove_hop_by_hop(request.headers_mut());
        // If the protocol changes after the answer, the new protocol uses the client's connection.
        let upgraded = upgrade.as_ref().map(|_| hyper::upgrade::on(&mut request));
        let (mut head, body) = request.into_parts();
        let mut body = Err(body);
        let mut model =
            known.path.strip_prefix(MODELS).and_then(|path| path.strip_prefix('/')).map(upstream::unescaped);
        if self.servers.len() > 1 && head.method == Method::POST && !is_of_parts(&head.headers) {
            let whole = self.read(body).await?;
            model = request::model(&decode::text(&decode::encoding(&head.headers), whole.clone(), MOST_READ).await);
            body = Ok(whole);
        }
        let server = self.route(model.as_deref())?;
        known.is_split = server.may_split(&head.method, &known.path);
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
        let (answer, seen) = self.send(server, head, body, known).await?;
        Ok(Reached { server, answer, seen, upgraded })
    }

    /// Sends a request to its server, and waits for the head of the answer.
    async fn send(
        &self,
        server: &Server,
        mut head: http::request::Parts,
        body: Result<Bytes, Sent>,
        known: &mut Known,
    ) -> Result<(Response<Incoming>, Arc<Seen>), Fault> {
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
        let asking = server.chooser.questions.client.request(Request::from_parts(head, body));
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
        });
        Ok((answer?, seen))
    }

    /// Checks the head of a request.
    fn check(&self, client: &Client, request: &mut Request<Sent>) -> Result<(), Fault> {
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
    async fn read(&self, body: Result<Bytes, Sent>) -> Result<Bytes, Fault> {
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

    /// Returns the maximum number of bytes of a request.
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
            // hyper does not ask for the end of an empty body, so the end is noted here.
            known.report.end = End::Complete;
        }
        let (source, rewriter) = if known.is_split && status == StatusCode::OK {
            reached.server.split(&known.path, &mut head.headers, body, &reached.seen, &mut known.report).await
        } else {
            (Source::Server(body), None)
        };
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

/// Returns the answer to a client that stopped in the middle of its request.
fn too_late() -> Fault {
    Fault::new(StatusCode::REQUEST_TIMEOUT, "the request has not come in time")
}

/// Returns whether a body is a form, such as a form with a sound recording. A form has the name of the model in one of its parts.
fn is_of_parts(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes());
    kind.get(..10).is_some_and(|kind| kind.eq_ignore_ascii_case(b"multipart/"))
}
