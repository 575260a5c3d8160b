//! The server: its address, the connection to it, and the answer if it cannot be reached.

use std::error::Error as _;
use std::path::Path;
use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer};

use crate::error::Error;
use crate::fault::Fault;
use crate::request::RequestBody;

/// The URL of the server: what comes before the path of a request.
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

    /// Returns the server's URL of a path, which begins with a slash.
    pub fn uri(&self, path: &str) -> Option<Uri> {
        let builder = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        builder.path_and_query(format!("{}{path}", self.prefix)).build().ok()
    }
}

pub type HttpClient = Client<HttpsConnector<HttpConnector>, RequestBody>;

/// Returns the certificates that the server's is checked with: those of a file, or the system's.
pub fn tls(upstream: &Upstream, file: Option<&Path>) -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = file {
        let fault = |why: &dyn std::fmt::Display| Error::new(format!("upstream-ca: {}: {why}", file.display()));
        let certificates = CertificateDer::pem_file_iter(file).map_err(|error| fault(&error))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| fault(&error))?;
            roots.add(certificate).map_err(|error| fault(&error))?;
        }
        if roots.is_empty() {
            return Err(fault(&"it has no certificate; PEM begins with -----BEGIN CERTIFICATE-----"));
        }
    } else if upstream.is_encrypted() {
        let system = rustls_native_certs();
        roots.add_parsable_certificates(system);
        if roots.is_empty() {
            return Err(Error::new(
                "the system has no certificates to check the server's with: name a file by upstream-ca",
            ));
        }
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::new(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn rustls_native_certs() -> Vec<CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}

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

/// Returns the answer if the server did not answer. Its address is the operator's, and is not in it.
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
    use super::Upstream;

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
