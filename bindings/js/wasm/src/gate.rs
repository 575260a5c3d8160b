//! Decides from the HTTP facts of a request and its answer whether a rewriter is needed.

use aside::Words;
use aside::sse::{self, Exchange, RequestModel};

use crate::failure::Failure;
use crate::host::Host;
use crate::words;

/// The longest name of a model that is read.
const LONGEST_MODEL: usize = 1024;

/// Writes the kind of an answer's body for a rewriter, or nothing if the body must stay unread.
pub fn wants(host: &mut Host, status: u32) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let [path, content_type, content_encoding, formats] = std::array::from_fn(|_| arguments.text());
    let exchange = Exchange::new()
        .status(status)
        .formats(words::formats(&formats)?)
        .path(&path)
        .content_type(&content_type)
        .content_encoding(&content_encoding);
    let body = sse::wants(&exchange);
    host.output.optional(body.and_then(Words::word));
    Ok(0)
}

/// Returns 1 if the request must ask for an answer that is not compressed.
pub fn request_hint(host: &mut Host) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let [path, method, formats] = std::array::from_fn(|_| arguments.text());
    let exchange = Exchange::new().formats(words::formats(&formats)?).method(&method).path(&path);
    Ok(i32::from(sse::request_hint(&exchange).is_some()))
}

/// Writes the model that a request's body asks for. Returns 1 if more of the body is needed to know the model.
pub fn request_model(host: &mut Host) -> Result<i32, Failure> {
    let body = host.arguments().bytes();
    let mut room = [0; LONGEST_MODEL];
    let (model, is_cut) = match sse::request_model(&body, &mut room) {
        RequestModel::Found(model) => (Some(model), 0),
        RequestModel::More => (None, 1),
        RequestModel::None => (None, 0),
    };
    host.output.optional(model);
    Ok(is_cut)
}

/// Writes whether the client of a request wants the thinking, and its tools. Returns 1 if the model should think, 2 if it should
/// not, and 0 if the request does not say.
pub fn read_request(host: &mut Host) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let (path, body) = (arguments.text(), arguments.bytes());
    let request = sse::read_request(&Exchange::new().path(&path), &body);
    host.output.optional(request.thinking.word());
    host.output.optional(Some(request.tools.unwrap_or("[]")));
    Ok(request.thinks.map_or(0, |thinks| if thinks { 1 } else { 2 }))
}
