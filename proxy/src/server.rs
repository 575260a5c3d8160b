//! A server, with the decision whether and how its answers are split.

use std::sync::Arc;

use aside::answer::Tools;
use aside::history;
use aside::sse::{Body, Exchange, Formats, Options, Rewriter, request_hint, wants};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Method, StatusCode};
use hyper::body::Incoming;
use serde_json::json;

use crate::answer::Source;
use crate::choice::{Choice, Chooser};
use crate::config::{self, Limits, Starts};
use crate::decode::{self, Decoded};
use crate::error::Error;
use crate::headers;
use crate::log;
use crate::questions::Questions;
use crate::report::Report;
use crate::request::{Asked, Seen};
use crate::settings::Thinking;
use crate::upstream;

/// The fields of an event. A comment is a field with an empty name.
const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b""];

/// A server, and the data for reading its answers.
pub struct Server {
    models: Vec<String>,
    pub chooser: Chooser,
    starts: Starts,
    thinking: Thinking,
    formats: Formats,
    options: Options,
    replaces_comments: bool,
    pub history: Option<history::Server>,
    limits: Limits,
    /// An empty list of tools, for requests without tools.
    no_tools: Arc<Tools>,
}

impl Server {
    pub fn new(server: config::Server, limits: Limits) -> Result<Server, Error> {
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
            limits,
            no_tools: Tools::read("[]").map_err(|error| Error::new(error.to_string()))?,
        })
    }

    /// Returns whether requests for a model go to this server.
    pub fn has(&self, model: &str) -> bool {
        self.models.iter().any(|pattern| upstream::fits(pattern, model))
    }

    /// Returns whether the answer to a request may have to be split.
    pub fn may_split(&self, method: &Method, path: &str) -> bool {
        request_hint(&Exchange::new().method(method.as_str()).path(path).formats(self.formats)).is_some()
    }

    /// Returns the source of an answer, and a rewriter for it, unless the answer must stay unchanged.
    pub async fn split(
        &self,
        path: &str,
        headers: &mut HeaderMap,
        body: Incoming,
        seen: &Seen,
        report: &mut Report,
    ) -> (Source<Incoming>, Option<Rewriter>) {
        let passes = |why: &str, what: &str| log::warn("an answer passes as it came", json!({"why": why, "it": what}));
        let kind =
            String::from_utf8_lossy(headers.get(CONTENT_TYPE).map_or(&b""[..], |kind| kind.as_bytes())).into_owned();
        let exchange = Exchange::new().status(StatusCode::OK.as_u16().into()).path(path).formats(self.formats);
        let Some(body_kind) = wants(&exchange.content_type(kind.as_bytes())) else {
            passes("its content type is none that is read", &kind);
            return (Source::Server(body), None);
        };
        let encoding = decode::encoding(headers);
        let mut source = if decode::is_plain(&encoding) {
            Source::Server(body)
        } else {
            match Decoded::new(&encoding, body) {
                Ok(decoded) => Source::Decoded(decoded),
                Err(body) => {
                    passes("its encoding is not known", &encoding);
                    return (Source::Server(body), None);
                }
            }
        };
        let mut is_read = true;
        if body_kind == Body::Json {
            // Other JSON may have this type too, so the first bytes decide whether the answer is read.
            let (begun, first) = source.begin(self.limits.idle).await;
            (source, is_read) = (begun, is_answer(&first));
        }
        if is_read || !decode::is_plain(&encoding) {
            headers::remove_of_the_body(headers);
            headers.remove(CONTENT_ENCODING);
        }
        if !is_read {
            passes("it begins like no answer", &kind);
            return (source, None);
        }
        let asked = seen.read((self.thinking == Thinking::Request).then_some(path), self.limits.tools).await;
        let choice = self.chooser.choose(asked.model.as_deref()).await;
        let name = choice.dialect.name();
        report.fields["dialect"] = name.into();
        report.fields["model"] = asked.model.clone().into();
        match self.rewriter(&choice, asked, body_kind, path) {
            Ok(rewriter) => {
                if let Ok(name) = name.parse() {
                    headers.insert(&headers::DIALECT, name);
                }
                (source, Some(rewriter))
            }
            Err(error) => {
                passes("it cannot be split", &error.to_string());
                (source, None)
            }
        }
    }

    fn rewriter(&self, choice: &Choice, asked: Asked, kind: Body, path: &str) -> Result<Rewriter, aside::Error> {
        let mut options = self.options.clone().body(kind);
        if let Some(thinking) = asked.thinking {
            options = options.thinking(thinking);
        }
        // The path decides the format of events for comments, because comments may precede the first event.
        let format = history::Format::of_path(path).filter(|_| self.replaces_comments);
        if let Some(formats) = format.and_then(|format| Formats::from_bits(format as u32)) {
            options = options.formats(formats);
        }
        let mut rewriter = Rewriter::new(&choice.dialect, &options)?;
        // An error means that the dialect does not have this start, which then came from a template that does not fit the
        // dialect. The dialect's own start is then used.
        let _ = rewriter.use_dialect(None, self.starts.of(asked.thinks, choice.start));
        // A prompt can make a model write any call, so without tools in the request no call is emitted.
        rewriter.use_tools(match asked.tools {
            Some(Ok(tools)) => tools,
            Some(Err(why)) => {
                log::warn("calls stay in the text", json!({"why": why}));
                Arc::clone(&self.no_tools)
            }
            None => Arc::clone(&self.no_tools),
        })?;
        Ok(rewriter)
    }
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
