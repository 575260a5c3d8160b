//! The proxy's own answers when there is none of the server's. Their bodies have the shape of the errors of the API that was asked, so
//! that clients show the message.

use aside::sse::{Exchange, Formats, request_hint};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use serde_json::json;

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

/// An answer of the proxy in the server's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub status: StatusCode,
    pub message: String,
}

impl Fault {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Fault {
        Fault { status, message: message.into() }
    }

    /// Returns the body, in the shape of a format's errors.
    pub fn body(&self, format: &str) -> String {
        let message = &self.message;
        let is_clients = self.status.is_client_error();
        let body = match format {
            "messages" => {
                let kind = match self.status {
                    StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
                    StatusCode::GATEWAY_TIMEOUT => "timeout_error",
                    _ if is_clients => "invalid_request_error",
                    _ => "api_error",
                };
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            "ollama" => json!({"error": message}),
            _ => {
                let kind = if is_clients { "invalid_request_error" } else { "server_error" };
                json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
            }
        };
        body.to_string()
    }

    /// Returns the answer without its body.
    pub fn head(&self) -> Response<()> {
        let mut head = Response::new(());
        *head.status_mut() = self.status;
        head.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        head
    }
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
