//! Decides for C which answers are for a rewriter: the HTTP facts are passed as bytes, and nothing is kept.

use std::mem::offset_of;

use libc::{c_char, size_t};

use super::bytes::aside_bytes;
use super::constants::*;
use super::memory::{Versioned, bytes, fill_sized, layout, read_sized, size_of_given};
use super::numbers::formats;
use super::status::{fail, fail_null, guard};
use crate::sse::{Exchange, RequestModel, read_request, request_hint, request_model, wants};

/// Runs the body of an entry without a handle.
fn status(body: impl FnOnce() -> Result<aside_status, aside_status>) -> aside_status {
    guard(|status| status, || body().unwrap_or_else(|status| status))
}

/// The HTTP facts about a request and its answer, as far as they are known. Set all of it to zero, then `size`; later versions
/// may add fields at the end. Texts are verbatim; the `len` of an absent text is 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_exchange {
    /// `sizeof(aside_exchange)` of the caller's header.
    pub size: size_t,
    /// The status of the answer, such as 200.
    pub status: u32,
    /// The formats that the rewriter reads, as in its `options.formats`: `ASIDE_FORMAT_` bits. 0: all.
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
/// `exchange` is NULL or as large as its size says; its texts are valid during `'a`.
unsafe fn exchange<'a>(exchange: *const aside_exchange) -> Result<Exchange<'a>, aside_status> {
    // SAFETY: the caller meets this function's conditions, and the struct is made of plain numbers, and of pointers that may be
    // NULL.
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
/// or absent; and its path ends in `/chat/completions`, `/completions`, `/responses`, `/messages`, `/api/chat` or `/api/generate`,
/// of which the longest that fits belongs to one of `exchange->formats`.
///
/// Returns `ASIDE_OK` and writes an `ASIDE_BODY_` value for `options.body` to `*body`. The host then removes the headers
/// `Content-Length`, `ETag`, `Content-MD5`, `Digest` and `Repr-Digest`, feeds the body, and calls `aside_rewriter_finish()`
/// at its end. Returns `ASIDE_NONE` if the answer must stay unchanged; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
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
/// `formats` are read: the answer has not arrived yet.
///
/// Returns `ASIDE_OK` and writes an `ASIDE_HINT_` value to `*hint`. Returns `ASIDE_NONE` if the request needs no change: it is not
/// a `POST`, or its path belongs to none of the formats; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`,
/// `ASIDE_ERROR_OPTION` for an unknown bit, `ASIDE_ERROR_PANIC`.
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
/// object `body`. `body` is all `len` bytes that have arrived so far: a host calls this after each piece of the body, each time
/// with all pieces so far, until the model is found, and keeps at most 64 KiB. Text after the model is not read.
///
/// Returns `ASIDE_OK` and writes `*model_len` bytes of UTF-8 to `model`, without a NUL. Returns `ASIDE_MORE` while the model is not
/// known yet; `ASIDE_NONE` if there is no model: the body is not a JSON object, or its model is not a string, is longer than
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
        // SAFETY: the caller promises the bytes that it names.
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

/// The facts of a request that concern its answer. Set `size` before each call; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_request {
    /// `sizeof(aside_request)` of the caller's header.
    pub size: size_t,
    /// Whether the model should think.
    pub thinks: aside_thinks,
    /// Whether the client wants the thinking in the answer, for `aside_rewriter_options.thinking`.
    pub thinking: aside_thinking,
    /// The JSON text of `tools`, for the options of an answer or a rewriter. It is a part of `body`. If the request offers no tools,
    /// it is `[]`, so that no call is reported.
    pub tools: aside_bytes,
}

impl Versioned for aside_request {
    const FIRST: usize = offset_of!(aside_request, tools) + size_of::<aside_bytes>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_request 32: size 0, thinks 8, thinking 12, tools 16);
    assert!(aside_request::FIRST == 32);
};

/// Reads the facts of a request that concern its answer. Of `*exchange`, only `path` is read; `body` is the whole body of the
/// request. An incomplete body, or one that is not a JSON object, decides nothing. Set `request->size` to `sizeof(aside_request)`
/// before the call.
///
/// The model should think or not, if one of these says so; the first one counts: a variable of the chat template
/// (`chat_template_kwargs`: `enable_thinking`, `thinking`, `thinking_mode`), `enable_thinking` or `think` as a boolean, the type
/// of `thinking`, an effort (`think`, `reasoning_effort`, also as a variable, and `reasoning.effort`), which is off as `none` or
/// `no_think`.
///
/// The client wants no thinking if the request has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or `"think":
/// false`, or if it is a Messages request whose `thinking` is absent or `disabled`.
///
/// Returns `ASIDE_OK` with `*request` filled; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` for
/// an unknown bit, `ASIDE_ERROR_PANIC`.
///
/// Memory: it allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_request_read(
    exchange: *const aside_exchange,
    body: *const c_char,
    len: size_t,
    request: *mut aside_request,
) -> aside_status {
    status(|| {
        // SAFETY: the caller promises a struct as large as it says, with texts that are valid, and the bytes that it names; every
        // version of the result begins with its size, and may be written as far as that says.
        unsafe {
            let exchange = self::exchange(exchange)?;
            let body = bytes(body, len, "body")?;
            let size = size_of_given(request, "request")?;
            let read = read_request(&exchange, body);
            let tools = aside_bytes::lend(read.tools.unwrap_or("[]").as_bytes());
            let (thinks, thinking) = (read.thinks.to_number(), read.thinking.to_number());
            fill_sized(request, size, aside_request { size, thinks, thinking, tools });
        }
        Ok(ASIDE_OK)
    })
}
