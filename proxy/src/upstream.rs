//! The server: its address, the connection to it, and the answer for the client if the server cannot be reached.

use std::error::Error as _;
use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;

use crate::error::Error;
use crate::fault::Fault;
use crate::request::RequestBody;

/// The URL of the server, to which the path of a request is added.
#[derive(Clone, Debug)]
pub struct Upstream {
    scheme: Scheme,
    pub authority: Authority,
    prefix: String,
}

impl Upstream {
    pub fn new(url: &str) -> Result<Upstream, Error> {
        let wrong = |why: &str| Error::new(format!("upstream: {url:?} {why}; write it as http://127.0.0.1:8080"));
        let uri: Uri = url.parse().map_err(|_| wrong("is not a URL"))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
        let scheme = scheme.ok_or_else(|| wrong("does not begin with http:// or https://"))?;
        let authority = parts.authority.ok_or_else(|| wrong("has no host"))?;
        if authority.as_str().contains('@') {
            return Err(Error::new(
                "upstream: a URL with a password would be seen by other programs; clients send the key",
            ));
        }
        let path = parts.path_and_query.unwrap_or(PathAndQuery::from_static("/"));
        if path.query().is_some() {
            return Err(wrong("has a query"));
        }
        let prefix = path.path().trim_end_matches('/').to_owned();
        if prefix.ends_with("/v1") {
            return Err(Error::new(format!("upstream: {url:?} ends in /v1, which clients add: leave it out")));
        }
        Ok(Upstream { scheme, authority, prefix })
    }

    pub fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// Returns the URL for a path, which begins with a slash.
    pub fn uri(&self, path: &str) -> Option<Uri> {
        let builder = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        builder.path_and_query(format!("{}{path}", self.prefix)).build().ok()
    }
}

/// Returns whether a model fits a pattern, in which `*` means any text. Case does not matter.
pub fn fits(pattern: &str, model: &str) -> bool {
    let (pattern, model) = (pattern.to_lowercase(), model.to_lowercase());
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == model };
    let (between, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inner = model.strip_prefix(first).and_then(|model| model.strip_suffix(last));
    let next = |text: &str, part: &str| text.find(part).map(|at| at + part.len());
    inner.is_some_and(|text| between.split('*').try_fold(text, |text, part| Some(&text[next(text, part)?..])).is_some())
}

/// Undoes the escapes of a part of a path.
pub fn unescaped(path: &str) -> String {
    let (mut text, mut rest) = (Vec::new(), path.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        text.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&text).into_owned()
}

pub type HttpClient = Client<HttpsConnector<HttpConnector>, RequestBody>;

pub fn client(tls: ClientConfig, connecting: Duration, max_header: usize) -> HttpClient {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(connecting));
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(http);
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(Duration::from_secs(60));
    builder.http1_max_buf_size(max_header.max(8192));
    builder.build(connector)
}

/// Returns the proxy's answer if the server did not answer. It does not contain the server's address, which is only for
/// operators.
pub fn fault(error: &legacy::Error) -> Fault {
    let why = reason(error);
    if why.contains("timed out") || why.contains("deadline") {
        return Fault::new(StatusCode::GATEWAY_TIMEOUT, "the model's server cannot be reached in time");
    }
    let message = if error.is_connect() {
        if why.contains("certificate") {
            "the certificate of the model's server is not trusted"
        } else {
            "the model's server cannot be reached"
        }
    } else {
        "the model's server has closed the connection, or sent something that is not HTTP, before an answer"
    };
    Fault::new(StatusCode::BAD_GATEWAY, message)
}

/// Returns an error with its causes.
pub fn reason(error: &legacy::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Upstream, fits};

    #[test]
    fn patterns_of_models() {
        for (pattern, model, wanted) in [
            ("*", "", true),
            ("Qwen3-8B", "qwen3-8b", true),
            ("qwen3*", "qwen3-8b", true),
            ("qwen3*", "Qwen/Qwen3-8B", false),
            ("*qwen3*", "Qwen/Qwen3-8B", true),
            ("*/qwen*b", "Qwen/Qwen3-8B", true),
            ("a*b*c*d", "a-c-b-d", false),
            ("a*b*c*d", "a-b-c-c-d", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(fits(pattern, model), wanted, "{pattern} {model}");
        }
    }

    #[test]
    fn urls() {
        let upstream = Upstream::new("https://host:1/a/").unwrap();
        assert_eq!(upstream.uri("/v1/models?x=1").unwrap(), "https://host:1/a/v1/models?x=1");
        for (url, why) in [
            ("host:8080", "does not begin with http"),
            ("ftp://host", "does not begin with http"),
            ("http://host/v1", "leave it out"),
            ("http://host/?a", "has a query"),
            ("http://me:secret@host", "clients send the key"),
            ("http://a b", "is not a URL"),
        ] {
            let error = Upstream::new(url).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{error}");
        }
    }
}
