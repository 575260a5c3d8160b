//! Which answers are for a rewriter, for C: what HTTP says comes as bytes, and nothing is kept.

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::constants::*;
use super::memory::bytes;
use super::numbers::formats;
use super::status::{fail, fail_null, guard};
use crate::sse::{RequestModel, Response, request_hint, request_model, wants};

/// Runs the body of an entry without a handle.
fn status(body: impl FnOnce() -> Result<aside_status, aside_status>) -> aside_status {
    guard(|status| status, || body().unwrap_or_else(|status| status))
}

/// Finds whether an answer is for a rewriter, and what its body is, before the body comes. `status` is the answer's;
/// `content_type` and `content_encoding` are the values of these headers as they came, NULL and 0 where there is none.
/// `path` is that of the request, with or without a query; if it is empty or NULL, any path fits. `formats` has
/// `ASIDE_FORMAT_` bits, as `options.formats`.
///
/// An answer is for a rewriter if its status is 200; its encoding is absent, blank or `identity`; its media type is
/// `text/event-stream`, `application/json`, `application/x-ndjson` or `application/jsonl`, with any parameters; and its
/// path ends in `/chat/completions`, `/completions`, `/responses`, `/messages`, `/api/chat` or `/api/generate`, of which
/// the longest that fits is of one of `formats`.
///
/// Returns `ASIDE_OK` and writes an `ASIDE_BODY_` value for `options.body` to `*body`. The host then removes the headers
/// `Content-Length`, `ETag`, `Content-MD5`, `Digest` and `Repr-Digest`, feeds the body, and calls `aside_rewriter_finish()`
/// at its end. Returns `ASIDE_NONE` if the answer is to pass as it is; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`,
/// `ASIDE_ERROR_OPTION` for an unknown bit, `ASIDE_ERROR_PANIC`.
///
/// Memory: it allocates nothing.
#[ffi_export]
pub unsafe extern "C" fn aside_rewriter_wants(
    status: u32,
    path: *const c_char,
    path_len: size_t,
    content_type: *const c_char,
    content_type_len: size_t,
    content_encoding: *const c_char,
    content_encoding_len: size_t,
    formats: aside_formats,
    body: *mut aside_body,
) -> aside_status {
    self::status(|| {
        // SAFETY: the caller promises as many bytes as it says.
        let (path, media_type, encoding) = unsafe {
            (
                bytes(path, path_len, "path")?,
                bytes(content_type, content_type_len, "content_type")?,
                bytes(content_encoding, content_encoding_len, "content_encoding")?,
            )
        };
        let formats = self::formats(formats)?;
        if body.is_null() {
            return Err(fail_null("body"));
        }
        let response = Response::new(status).path(path).content_type(media_type).content_encoding(encoding);
        let Some(found) = wants(&response, formats) else { return Ok(ASIDE_NONE) };
        // SAFETY: it is not NULL, and the caller promises that it may be written.
        unsafe { body.write_unaligned(found.to_number()) };
        Ok(ASIDE_OK)
    })
}

/// Finds what a host does with a request whose answer may be for a rewriter. `method` is its method; `path` and `formats`
/// are as for `aside_rewriter_wants()`.
///
/// Returns `ASIDE_OK` and writes an `ASIDE_HINT_` value to `*hint`. Returns `ASIDE_NONE` if the request is to stay as it
/// is: it is not a `POST`, or its path is another; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` for an
/// unknown bit, `ASIDE_ERROR_PANIC`.
///
/// Memory: it allocates nothing.
#[ffi_export]
pub unsafe extern "C" fn aside_request_hint(
    path: *const c_char,
    path_len: size_t,
    method: *const c_char,
    method_len: size_t,
    formats: aside_formats,
    hint: *mut aside_hint,
) -> aside_status {
    status(|| {
        // SAFETY: the caller promises as many bytes as it says.
        let (path, method) = unsafe { (bytes(path, path_len, "path")?, bytes(method, method_len, "method")?) };
        let formats = self::formats(formats)?;
        if hint.is_null() {
            return Err(fail_null("hint"));
        }
        let Some(found) = request_hint(path, method, formats) else { return Ok(ASIDE_NONE) };
        // SAFETY: it is not NULL, and the caller promises that it may be written.
        unsafe { hint.write_unaligned(found.to_number()) };
        Ok(ASIDE_OK)
    })
}

/// Finds the model that a request asks for, to choose a dialect by: the first member `model` of the JSON object that
/// `body` is. `body` has all `len` bytes that have come so far: a host calls this after each piece, with all of them
/// again, until it knows, and keeps 64 KiB at most. What comes after the model is not read.
///
/// Returns `ASIDE_OK` and writes `*model_len` bytes of UTF-8 to `model`, without a NUL. Returns `ASIDE_MORE` while it
/// cannot be told; `ASIDE_NONE` if there is none: the body is not a JSON object, or its model is not a string, is longer than
/// `room`, or is not UTF-8. `model` may be changed then. Returns `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`,
/// `ASIDE_ERROR_PANIC`. `model` must not be memory of `body`; it may be NULL if `room` is 0.
///
/// Memory: it allocates nothing.
#[ffi_export]
pub unsafe extern "C" fn aside_request_model(
    body: *const c_char,
    len: size_t,
    model: *mut c_char,
    room: size_t,
    model_len: *mut size_t,
) -> aside_status {
    status(|| {
        // SAFETY: the caller promises as many bytes as it says.
        let body = unsafe { bytes(body, len, "body")? };
        if model_len.is_null() || model.is_null() && room > 0 {
            return Err(fail_null("model or model_len"));
        }
        if room > isize::MAX as usize {
            return Err(fail(ASIDE_ERROR_LENGTH));
        }
        let place = match room {
            0 => &mut [],
            // SAFETY: it is not NULL, and the caller promises that many bytes, which nothing else uses.
            room => unsafe { std::slice::from_raw_parts_mut(model.cast::<u8>(), room) },
        };
        match request_model(body, place) {
            RequestModel::Found(name) => {
                // SAFETY: it is not NULL, and the caller promises that it may be written.
                unsafe { model_len.write_unaligned(name.len()) };
                Ok(ASIDE_OK)
            }
            RequestModel::More => Ok(ASIDE_MORE),
            RequestModel::None => Ok(ASIDE_NONE),
        }
    })
}
