//! Serves `/healthz`, `/readyz` and `/metrics` on a separate listener, because these pages are for operators and not for clients.

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};

use crate::exchange::Exchanges;

pub async fn answer(
    request: &Request<Incoming>,
    exchanges: &Exchanges,
    is_local: bool,
    drains: bool,
) -> Response<Full<Bytes>> {
    let path = exchanges.guard.check_host(request, is_local).map(|()| request.uri().path());
    let (status, kind, text) = match (request.method(), path) {
        (_, Err(fault)) => (fault.status, "text/plain", fault.message + "\n"),
        (&Method::GET | &Method::HEAD, Ok("/healthz")) => (StatusCode::OK, "text/plain", "ok\n".to_owned()),
        (&Method::GET | &Method::HEAD, Ok("/readyz")) => {
            let why = if drains { vec!["the proxy is ending".to_owned()] } else { exchanges.not_ready().await };
            let status = if why.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            (status, "text/plain", if why.is_empty() { "ok\n".to_owned() } else { why.join("\n") + "\n" })
        }
        (&Method::GET | &Method::HEAD, Ok("/metrics")) => {
            (StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", exchanges.metrics.text())
        }
        _ => (StatusCode::NOT_FOUND, "text/plain", "there are /healthz, /readyz and /metrics\n".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
