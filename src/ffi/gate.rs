//! The choice of the answers that are for a rewriter, for C: the HTTP facts are passed as bytes, and nothing is kept.

use std::mem::offset_of;

use libc::{c_char, size_t};

use super::bytes::aside_bytes;
use super::constants::*;
use super::memory::{Versioned, bytes, layout, read_sized};
use super::numbers::formats;
use super::status::{fail, fail_null, guard};
use crate::sse::{Exchange, RequestModel, request_hint, request_model, request_thinking, wants};

/// Runs the body of an entry without a handle.
fn status(body: impl FnOnce() -> Result<aside_status, aside_status>) -> aside_status {
    guard(|status| status, || body().unwrap_or_else(|status| status))
}

/// The HTTP facts about a request and its answer, as far as they are known. Set all of it to zero, then `size`; later versions
/// may add fields at the end. Texts are verbatim; `len` is 0 where there is none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_exchange {
    /// `sizeof(aside_exchange)` of the caller's header.
    pub size: size_t,
    /// The status of the answer: 200, say.
    pub status: u32,
    /// The formats that the rewriter reads, as `options.formats` of it: `ASIDE_FORMAT_` bits. 0: all.
    pub formats: aside_formats,
    /// The method of the request.
    pub method: aside_bytes,
    /// The path of the request, with or without a query. If it is empty, it is not known, and any path fits.
    pub path: aside_bytes,
    /// The value of the answer's `Content-Type`.
    pub content_type: aside_bytes,
    /// The value of the answer's `Content-Encoding`.
    pub content_encoding: aside_bytes,
}

impl Versioned for aside_exchange {
    const FIRST: usize = offset_of!(aside_exchange, content_encoding) + size_of::<aside_bytes>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_exchange 80: size 0, status 8, formats 12, method 16, path 32, content_type 48, content_encoding 64);
    assert!(aside_exchange::FIRST == 80);
};

/// Reads the caller's exchange.
///
/// # Safety
/// `exchange` is NULL or as large as it says; its texts are valid during `'a`.
unsafe fn exchange<'a>(exchange: *const aside_exchange) -> Result<Exchange<'a>, aside_status> {
    // SAFETY: the caller's promise; the struct is made of plain numbers, and of pointers that may be NULL.
    unsafe {
        let read = read_sized(exchange, "exchange")?;
        let text = |text: aside_bytes, what| bytes(text.at, text.len, what);
        Ok(Exchange::new()
            .status(read.status)
            .formats(formats(read.formats)?)
            .method(text(read.method, "exchange->method")?)
            .path(text(read.path, "exchange->path")?)
            .content_type(text(read.content_type, "exchange->content_type")?)
            .content_encoding(text(read.content_encoding, "exchange->content_encoding")?))
    }
}

/// Finds whether an answer is for a rewriter, and the kind of its body, before the body arrives. `exchange->method` is not
/// read.
///
/// An answer is for a rewriter if its status is 200; its encoding is absent, blank or `identity`; its media type is
/// `text/event-stream`, `application/json`, `application/x-ndjson`, `application/jsonl` or `text/plain`, with any parameters,
/// or absent; and its path ends in `/chat/completions`, `/completions`, `/responses`, `/messages`, `/api/chat` or `/api/generate`, of which
/// the longest that fits is of one of `exchange->formats`.
///
/// Returns `ASIDE_OK` and writes an `ASIDE_BODY_` value for `options.body` to `*body`. The host then removes the headers
/// `Content-Length`, `ETag`, `Content-MD5`, `Digest` and `Repr-Digest`, feeds the body, and calls `aside_rewriter_finish()`
/// at its end. Returns `ASIDE_NONE` if the answer is to pass unchanged; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` for an unknown bit, `ASIDE_ERROR_PANIC`.
///
/// Memory: it allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_wants(exchange: *const aside_exchange, body: *mut aside_body) -> aside_status {
    status(|| {
        // SAFETY: the caller promises a struct as large as it says, with texts that are valid.
        let exchange = unsafe { self::exchange(exchange)? };
        if body.is_null() {
            return Err(fail_null("body"));
        }
        let Some(found) = wants(&exchange) else { return Ok(ASIDE_NONE) };
        // SAFETY: it is not NULL, and the caller promises that it may be written.
        unsafe { body.write_unaligned(found.to_number()) };
        Ok(ASIDE_OK)
    })
}

/// Finds how a host should treat a request whose answer may be for a rewriter. Of `*exchange`, only `method`, `path` and
/// `formats` are read: the answer has not come yet.
///
/// Returns `ASIDE_OK` and writes an `ASIDE_HINT_` value to `*hint`. Returns `ASIDE_NONE` if the request is to stay as it
/// is: it is not a `POST`, or its path belongs to none of the formats; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` for an unknown bit, `ASIDE_ERROR_PANIC`.
///
/// Memory: it allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_request_hint(exchange: *const aside_exchange, hint: *mut aside_hint) -> aside_status {
    status(|| {
        // SAFETY: the caller promises a struct as large as it says, with texts that are valid.
        let exchange = unsafe { self::exchange(exchange)? };
        if hint.is_null() {
            return Err(fail_null("hint"));
        }
        let Some(found) = request_hint(&exchange) else { return Ok(ASIDE_NONE) };
        // SAFETY: it is not NULL, and the caller promises that it may be written.
        unsafe { hint.write_unaligned(found.to_number()) };
        Ok(ASIDE_OK)
    })
}

/// Finds the model that a request asks for, so that a host can choose a dialect: the first member `model` of the JSON
/// object `body`. `body` has all `len` bytes that have come so far: a host calls this after each piece of the body, with
/// all pieces again, until the model is found, and keeps 64 KiB at most. Text after the model is not read.
///
/// Returns `ASIDE_OK` and writes `*model_len` bytes of UTF-8 to `model`, without a NUL. Returns `ASIDE_MORE` while the model is
/// not known yet; `ASIDE_NONE` if there is none: the body is not a JSON object, or its model is not a string, is longer than
/// `room`, or is not UTF-8. `model` may be changed then. Returns `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_PANIC`.
/// `model` must not be memory of `body`; it may be NULL if `room` is 0.
///
/// Memory: it allocates nothing.
#[unsafe(no_mangle)]
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

/// Finds whether a request wants the thinking in its answer, for `aside_rewriter_options.thinking`. Of `*exchange`, only `path`
/// is read; `body` is the whole body of the request.
///
/// A request does not want the thinking if it has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or `"think":
/// false`, or if it is a Messages request without `thinking`, or with `thinking` that is `disabled`. Every other request, and a
/// body that is not a JSON object, wants it.
///
/// Returns `ASIDE_OK` and writes an `ASIDE_THINKING_` value to `*thinking`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` for an unknown bit, `ASIDE_ERROR_PANIC`.
///
/// Memory: it allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_request_thinking(
    exchange: *const aside_exchange,
    body: *const c_char,
    len: size_t,
    thinking: *mut aside_thinking,
) -> aside_status {
    status(|| {
        // SAFETY: the caller promises a struct as large as it says, with texts that are valid.
        let exchange = unsafe { self::exchange(exchange)? };
        // SAFETY: the caller promises as many bytes as it says.
        let body = unsafe { bytes(body, len, "body")? };
        if thinking.is_null() {
            return Err(fail_null("thinking"));
        }
        let found = request_thinking(&exchange, body);
        // SAFETY: it is not NULL, and the caller promises that it may be written.
        unsafe { thinking.write_unaligned(found.to_number()) };
        Ok(ASIDE_OK)
    })
}
