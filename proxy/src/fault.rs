//! The proxy's own answers, for requests without an answer of the server. Their bodies have the form of errors of the requested
//! API, so that clients show the message.

use aside::sse::{Exchange, Formats, request_hint};
use http::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde_json::json;

use crate::report::End;
use crate::request::Broken;

/// The formats with their names in logs and metrics.
const NAMES: [(Formats, &str); 5] = [
    (Formats::CHAT, "chat"),
    (Formats::COMPLETIONS, "completions"),
    (Formats::RESPONSES, "responses"),
    (Formats::MESSAGES, "messages"),
    (Formats::OLLAMA, "ollama"),
];

/// Returns the name of a path's format, or `other`.
pub fn format_of(path: &str) -> &'static str {
    let asks = |format| request_hint(&Exchange::new().method("POST").path(path).formats(format)).is_some();
    NAMES.iter().find(|&&(format, _)| asks(format)).map_or("other", |&(_, name)| name)
}

/// An answer of the proxy in place of the server's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub status: StatusCode,
    pub message: String,
    /// The way in which the exchange ends, which shows whether client, server or proxy caused the fault.
    pub end: End,
}

impl Fault {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Fault {
        let end = if status.is_client_error() { End::Refused } else { End::ServerNotReached };
        Fault { status, message: message.into(), end }
    }

    /// Returns the answer to a request that broke off.
    pub fn of_broken(broken: Broken) -> Fault {
        let fault = Fault::new(StatusCode::BAD_REQUEST, "the request has broken off");
        match broken {
            Broken::Left => Fault { end: End::ClientLeft, ..fault },
            Broken::Wrong => fault,
        }
    }

    /// Returns the body, in the form that errors have in this format.
    pub fn body(&self, format: &str) -> String {
        let message = &self.message;
        let is_clients = self.status.is_client_error();
        let body = match format {
            "messages" => {
                let kind = match self.status {
                    StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
                    StatusCode::GATEWAY_TIMEOUT => "timeout_error",
                    StatusCode::UNAUTHORIZED => "authentication_error",
                    StatusCode::FORBIDDEN => "permission_error",
                    StatusCode::NOT_FOUND => "not_found_error",
                    _ if is_clients => "invalid_request_error",
                    _ => "api_error",
                };
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            "ollama" => json!({"error": message}),
            _ => {
                let kind = if is_clients { "invalid_request_error" } else { "server_error" };
                let code = match self.status {
                    StatusCode::UNAUTHORIZED => Some("invalid_api_key"),
                    StatusCode::NOT_FOUND => Some("model_not_found"),
                    _ => None,
                };
                json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            }
        };
        body.to_string()
    }
}

/// Returns an answer without its body, which is JSON.
pub fn head(status: StatusCode) -> Response<()> {
    let mut head = Response::new(());
    *head.status_mut() = status;
    head.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::UNAUTHORIZED {
        head.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    head
}

#[cfg(test)]
mod tests {
    use super::{Fault, StatusCode, format_of};

    #[test]
    fn the_shape_is_that_of_the_api() {
        let fault = Fault::new(StatusCode::BAD_GATEWAY, "no \"server\"");
        let of = |path| fault.body(format_of(path));
        assert_eq!(
            of("/v1/chat/completions"),
            r#"{"error":{"code":null,"message":"no \"server\"","param":null,"type":"server_error"}}"#
        );
        assert_eq!(of("/v1/messages"), r#"{"error":{"message":"no \"server\"","type":"api_error"},"type":"error"}"#);
        assert_eq!(of("/api/chat"), r#"{"error":"no \"server\""}"#);
        assert_eq!(of("/elsewhere"), of("/v1/responses"));
        assert_eq!((format_of("/v1/completions"), format_of("/v1/models")), ("completions", "other"));
    }
}
