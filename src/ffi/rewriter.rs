//! Event streams for C: the handle of a rewriter and its functions. C borrows the output until the next call, so the output must
//! not move before that.

use std::mem::offset_of;
use std::ptr;

use libc::{c_char, size_t};

use super::answer::{aside_answer_options, options as answer_options};
use super::bytes::aside_bytes;
use super::constants::*;
use super::dialect::aside_dialect;
use super::handle_guard::{HandleGuard, is_ready, is_whole};
use super::memory::{Versioned, bytes, fill_sized, free, into_handle, layout, read_sized, size_of_given};
use super::numbers::{check_flags, formats, limit, shapes, start_from_prompt, value};
use super::status::{fail_no_handle, fail_null, fail_with, failed, guard_handle};
use super::tools::tools;
use crate::Start;
use crate::sse::{Options, Rewriter, Stats};

/// The largest buffer for output that a rewriter keeps from call to call: thousands of rewriters may wait for their next bytes.
const KEPT_OUT: usize = 1 << 18;

/// The state of one event stream that is rewritten. From `aside_rewriter_new()`; freed by `aside_rewriter_free()`.
pub struct aside_rewriter {
    guard: HandleGuard<Stream>,
}

/// Options of `aside_rewriter_new()`. Set all of it to zero, then `size`; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_rewriter_options {
    /// `sizeof(aside_rewriter_options)` of the caller's header.
    pub size: size_t,
    /// How each choice's text is read, and what is wanted of it: options of an answer. `id_prefix`, `budget`, `budget_unit`,
    /// `budget_scope`, `may_take_back` and `inline_calls` must be 0 in it. `promote_empty` and `keep_guessed` keep at most `max_event` bytes of
    /// thinking, and calls are read only with `calls`. NULL: the defaults of an answer.
    pub answer: *const aside_answer_options,
    /// The name of the field for the thinking.
    pub field: aside_field,
    /// The kind of body that is fed.
    pub body: aside_body,
    /// 1: nothing is split, and the output equals the input. 0: the text is split.
    pub off: u32,
    /// 1: make `tool_calls` from the calls that the model writes as text, if the dialect says how they are written, and change
    /// the `finish_reason` from `stop` to `tool_calls`. After the first call that the server itself makes in a choice, calls in
    /// the text of that choice stay in the text. A body, and Ollama's format, have whole calls only. 0: calls stay in the text.
    pub calls: u32,
    /// The length of the longest event or JSON body that is read, in bytes; a longer one is forwarded unchanged. 0: 16 MiB.
    pub max_event: u64,
    /// The formats of the answers that are read; an answer of a different format is forwarded unchanged. 0: all formats.
    pub formats: aside_formats,
    /// The form of the thinking in the items of OpenAI Responses.
    pub responses_as: aside_responses_as,
    /// 1: mend faults in a stream of events that make clients fail or lose text: empty `data:` lines, comments inside an event,
    /// an object over several lines, chunks without `choices`, and more. 0: leave the faults unchanged.
    pub repair: u32,
    /// 1: in chat completions, completions and Ollama's lines, send one chunk for each chunk of the server, the thinking before
    /// the content, for clients that count chunks, even if `repair` or `normalise` would make two chunks. 0: each chunk has text
    /// for one field.
    pub merge: u32,
    /// The differences between servers' answers that are removed. 0: none.
    pub normalise: aside_shapes,
    /// 1: label the thinking blocks of Messages and the reasoning items of Responses that the rewriter makes, so that they can
    /// be removed from a history. 0: their signatures are empty, and their ids begin with `rs_`.
    pub label: u32,
    /// The treatment of comments in a stream of events, for clients that fail on them.
    pub comments: aside_comments,
    /// Reserved: 0.
    pub reserved: u32,
}

/// The counts of a rewriter, from `aside_rewriter_get_stats()`. Set `size` before the call; later versions may add fields at
/// the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_rewriter_stats {
    /// `sizeof(aside_rewriter_stats)` of the caller's header.
    pub size: size_t,
    /// Events that have data, lines of JSON, and bodies that were read whole.
    pub events: u64,
    /// The number of `events` that were sent changed, or with chunks before them.
    pub changed: u64,
    /// Chunks and events that were written in addition to the server's.
    pub added: u64,
    /// Faults of the stream that the option `repair` has mended.
    pub repaired: u64,
    /// Events and bodies that were forwarded unread because they were longer than the option `max_event`.
    pub too_long: u64,
    /// JSON objects that were forwarded unread because they are neither in a format that is read nor an error.
    pub unread: u64,
    /// Answers whose thinking was to be sent as content too, and was too long for that.
    pub unpromoted: u64,
    /// Events that repeat a whole text and lack some of it, because that text was longer than `max_event`.
    pub truncated: u64,
    /// Bytes of text that were sent as thinking. Text that a server splits itself is not counted.
    pub thinking_bytes: u64,
    /// Bytes of text that were sent as content.
    pub content_bytes: u64,
    /// Bytes of text, and of an unfinished event or body, that are held now. A finish would return them.
    pub held: u64,
    /// Texts whose thinking the server splits itself.
    pub split_by_server: u64,
    /// 1 if the stream is forwarded unread because its first bytes are not text: it is compressed (gzip, zstd, zlib or Brotli), or
    /// not in UTF-8. Ask the server for `Accept-Encoding: identity`, or decode the body before it is fed. After the end of a
    /// stream, this describes that stream, until another begins. Otherwise 0.
    pub encoded: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// Tool calls in the text that were sent as calls. Calls that the server itself has made are not counted.
    pub calls: u64,
    /// Texts that a server repeats in Responses and that were split again, because their message differs from what was sent
    /// before, or was too long to be kept.
    pub contradicted: u64,
}

impl Versioned for aside_rewriter_stats {
    const FIRST: usize = offset_of!(aside_rewriter_stats, calls) + size_of::<u64>();
}

impl Versioned for aside_rewriter_options {
    const FIRST: usize = size_of::<size_t>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_rewriter_options 72: size 0, answer 8, field 16, body 20, off 24, calls 28, max_event 32, formats 40,
        responses_as 44, repair 48, merge 52, normalise 56, label 60, comments 64, reserved 68);
    assert!(aside_rewriter_options::FIRST == 8);
    layout!(aside_rewriter_stats 128: size 0, events 8, changed 16, added 24, repaired 32, too_long 40, unread 48, unpromoted 56,
        truncated 64, thinking_bytes 72, content_bytes 80, held 88, split_by_server 96, encoded 104,
        reserved 108, calls 112, contradicted 120);
    assert!(aside_rewriter_stats::FIRST == 120);
};

/// The contents of a rewriter's handle.
struct Stream {
    rewriter: Rewriter,
    /// The output of the last call, which C borrows.
    out: Vec<u8>,
    /// The option `max_tools`.
    max_tools: u64,
}

// A rewriter may be used by any thread, but only by one at a time.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Rewriter>();
};

/// Runs `body` as the only call inside the rewriter, if `may` accepts its state.
///
/// # Safety
/// `rewriter` is NULL or a rewriter that is not freed yet.
unsafe fn enter(
    rewriter: *const aside_rewriter,
    may: impl Fn(i32) -> bool,
    body: impl FnOnce(&mut Stream) -> aside_status,
) -> aside_status {
    if rewriter.is_null() {
        return fail_no_handle("rewriter");
    }
    // SAFETY: it is valid, and only calls inside the guard use the stream.
    unsafe { (*rewriter).guard.enter(may, body) }
}

/// Runs a method of the rewriter, which writes into the emptied output, and returns the output to C, which borrows it.
///
/// # Safety
/// `rewriter` is NULL or valid; `out` is NULL or may be written.
unsafe fn rewrite(
    rewriter: *mut aside_rewriter,
    out: *mut aside_bytes,
    operation: impl FnOnce(&mut Rewriter, &mut Vec<u8>) -> Result<(), crate::Error>,
) -> aside_status {
    if out.is_null() {
        return fail_null("out");
    }
    let body = |stream: &mut Stream| {
        stream.out.clear();
        if stream.out.capacity() > KEPT_OUT {
            stream.out = Vec::new();
        }
        if let Err(error) = operation(&mut stream.rewriter, &mut stream.out) {
            return failed(error);
        }
        // SAFETY: it is not NULL, and the caller promises that it may be written.
        unsafe { out.write_unaligned(aside_bytes::lend(&stream.out)) };
        ASIDE_OK
    };
    // SAFETY: the caller meets this function's conditions.
    unsafe { enter(rewriter, is_ready, body) }
}

/// Reads the caller's options, in any version of the struct, and its `max_tools`.
///
/// # Safety
/// `options` is NULL or has as many bytes as its `size` says, and so has its `answer`.
unsafe fn options(options: *const aside_rewriter_options) -> Result<(Options, u64), aside_status> {
    if options.is_null() {
        return Ok((Options::new(), 0));
    }
    // SAFETY: the caller meets this function's conditions, and the struct is made of plain numbers, and of a pointer that may be
    // NULL.
    let all = unsafe { read_sized(options, "options") }?;
    check_flags(&[
        ("off", all.off),
        ("calls", all.calls),
        ("repair", all.repair),
        ("merge", all.merge),
        ("label", all.label),
    ])?;
    if all.reserved != 0 {
        return Err(fail_with(ASIDE_ERROR_OPTION, "options.reserved is not 0"));
    }
    // SAFETY: the caller meets this function's conditions.
    let (answer, max_tools) = unsafe { answer_options(all.answer, true) }?;
    let options = Options::new()
        .answer(answer)
        .field(value(all.field, "options.field")?)
        .body(value(all.body, "options.body")?)
        .off(all.off == 1)
        .max_event(limit(all.max_event))
        .calls(all.calls == 1)
        .formats(formats(all.formats)?)
        .responses_as(value(all.responses_as, "options.responses_as")?)
        .repair(all.repair == 1)
        .merge(all.merge == 1)
        .normalise(shapes(all.normalise)?)
        .label(all.label == 1)
        .comments(value(all.comments, "options.comments")?);
    Ok((options, max_tools))
}

/// Makes a rewriter. Its input is the bytes of an answer: an event stream, lines of JSON, or a JSON body, in one of
/// `options.formats`. Its output is the same bytes, with the thinking moved out of the content to the place that the format has for
/// it: a separate field, item or block; with `options.calls`, the tool calls too. `options` may be NULL: all formats,
/// `reasoning_content`, and the dialect's own start. Neither the dialect nor the options are used after the call: the dialect may be freed before the
/// rewriter.
///
/// Returns a rewriter that the caller owns: `aside_rewriter_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect
/// does not have, and for `tools` that cannot be read; the message has the place of the fault) or `ASIDE_ERROR_MEMORY`.
///
/// Memory: if it runs out while `tools` is read, the process ends. While it writes an event, a rewriter borrows buffers from
/// the process, which keeps up to 256 sets of at most 40 kB.
///
/// Threads: any thread may call this at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_new(
    dialect: *const aside_dialect,
    options: *const aside_rewriter_options,
) -> *mut aside_rewriter {
    guard_handle(|| {
        // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
        let Some(dialect) = (unsafe { dialect.as_ref() }) else {
            fail_no_handle("dialect");
            return ptr::null_mut();
        };
        // SAFETY: NULL or as large as it says, as the caller promises.
        let Ok((options, max_tools)) = (unsafe { self::options(options) }) else {
            return ptr::null_mut();
        };
        let rewriter = match Rewriter::new(&dialect.dialect, &options) {
            Ok(rewriter) => rewriter,
            Err(error) => {
                failed(error);
                return ptr::null_mut();
            }
        };
        into_handle(aside_rewriter { guard: HandleGuard::new(Stream { rewriter, out: Vec::new(), max_tools }) })
    })
}

/// Frees a rewriter and its output. Does nothing for NULL. Bytes that are held back are lost: call `aside_rewriter_finish()`
/// before.
///
/// Threads: no other thread may be using this rewriter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_free(rewriter: *mut aside_rewriter) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(rewriter, |sse| sse.guard.close()) }
}

/// Sets the dialect and the start of the next stream, before its first byte. `dialect` may be NULL: the rewriter's own dialect.
/// `start` is an `ASIDE_START_` value, the span that is open at the first byte of each choice's text; `ASIDE_START_DEFAULT` is the
/// dialect's own start, whatever `options.answer->start` is. Use it if the request determines the model, or whether the model thinks, and
/// for results of `aside_dialect_find_for_template()`. Finishing or resetting the rewriter restores its own dialect and start. The
/// dialect may be freed after the call.
///
/// A dialect that was not found is NULL too: check for that before this call.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have),
/// `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` if the stream has begun (none of these changes anything);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error).
///
/// Threads: other threads may be using the dialect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_use_dialect(
    rewriter: *mut aside_rewriter,
    dialect: *const aside_dialect,
    start: aside_start,
) -> aside_status {
    // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
    let dialect = unsafe { dialect.as_ref() }.map(|handle| &handle.dialect);
    let body = |stream: &mut Stream| match value::<Option<Start>>(start, "start") {
        Ok(start) => stream.rewriter.use_dialect(dialect, start).map_or_else(failed, |()| ASIDE_OK),
        Err(status) => status,
    };
    // SAFETY: the caller promises a rewriter that is NULL or valid.
    unsafe { enter(rewriter, is_ready, body) }
}

/// Sets the `tools` of the next stream's request, before its first byte: `len` bytes of JSON, like `tools` of an answer's options. Use it for a
/// rewriter that serves one request after another; for a request without `tools`, pass `[]`. Finishing or resetting the rewriter
/// restores its own tools. `tools` is not used after the call; it must not be memory of the rewriter.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_OPTION` for tools that cannot be
/// read (the message has the place of the fault), `ASIDE_ERROR_ORDER` if the stream has begun (none of these changes anything);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error).
///
/// Memory: if it runs out while `tools` is read, the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_use_tools(
    rewriter: *mut aside_rewriter,
    tools: *const c_char,
    len: size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, and a rewriter that is NULL or valid.
    unsafe {
        enter(rewriter, is_ready, |stream| match self::tools(aside_bytes { at: tools, len }, stream.max_tools, "") {
            Ok(tools) => stream.rewriter.use_tools(tools).map_or_else(failed, |()| ASIDE_OK),
            Err(status) => status,
        })
    }
}

/// Sets the start of the next stream, for a model that continues a rendered prompt. The last `len` bytes of the prompt are `tail`,
/// which are read as by `aside_scanner_start_from_prompt()`. Call this before the first byte of the stream. Finishing or
/// resetting the rewriter restores its own start; a `len` of 0 undoes an earlier prompt. `tail` is not used after the call; it
/// must not be memory of the rewriter.
///
/// `*start` becomes an `ASIDE_START_` value, the span that is open at the first byte of each choice's text; `start` may be
/// NULL. It is written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` if the stream
/// has begun (none of these changes anything); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in
/// error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_start_from_prompt(
    rewriter: *mut aside_rewriter,
    tail: *const c_char,
    len: size_t,
    start: *mut aside_start,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a rewriter that is NULL or valid, and a start that is NULL or may be written.
    unsafe {
        start_from_prompt(tail, len, start, |tail, write| {
            enter(rewriter, is_ready, |stream| write(stream.rewriter.start_from_prompt(tail)))
        })
    }
}

/// Feeds the next `len` bytes, cut anywhere: one call for each read from the network. `*out` becomes the bytes to forward: all
/// events or lines that are whole, which may be none. `buf` may be NULL if `len` is 0, and is not used after the call; it must not
/// be memory of the rewriter.
///
/// `*out` is memory of the rewriter, valid until the next call with it. It is written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY` (none of these changes anything);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the rewriter stays in error). Bytes that cannot be read are forwarded unchanged; that
/// is not an error.
///
/// Memory: it grows with the largest event, up to a small multiple of `options.max_event`; by at most 1 MiB for the chunks that are
/// made from one event; and by the held bytes of each of at most 128 choices, up to twice `aside_dialect_max_hold()`. The output
/// may be 150 times as long as the input, if each event has many choices and a long `id`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_feed(
    rewriter: *mut aside_rewriter,
    buf: *const c_char,
    len: size_t,
    out: *mut aside_bytes,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a rewriter that is valid, and an output that may be written.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => rewrite(rewriter, out, |rewriter, out| rewriter.feed(chunk, out)),
            Err(status) => status,
        }
    }
}

/// Ends the stream. `*out` becomes the bytes that were held back: an event without the blank line after it, text that might
/// have become a marker. The rewriter is then reset, except for the counts of `aside_rewriter_get_stats()`, and the next feed
/// begins a new stream.
///
/// Returns the same as `aside_rewriter_feed()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_finish(rewriter: *mut aside_rewriter, out: *mut aside_bytes) -> aside_status {
    // SAFETY: the caller promises a rewriter that is valid, and an output that may be written.
    unsafe { rewrite(rewriter, out, |rewriter, out| rewriter.finish(out)) }
}

/// Resets the rewriter: drops the bytes that are held back, the counts, and every error except `ASIDE_ERROR_PANIC`. Memory that
/// C has borrowed from it is no longer valid.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_reset(rewriter: *mut aside_rewriter) -> aside_status {
    // SAFETY: the caller promises a rewriter that is NULL or valid, and only calls inside the guard use the stream.
    unsafe {
        let Some(handle) = rewriter.as_ref() else { return fail_no_handle("rewriter") };
        handle.guard.renew(|stream| {
            stream.rewriter.reset();
            stream.out = Vec::new();
        })
    }
}

/// Fills `*stats` with the rewriter's counts since it was made or last reset, and with the number of bytes that it holds now.
/// Set `stats->size` to `sizeof(aside_rewriter_stats)` before the call. This works after `ASIDE_ERROR_MEMORY` too.
///
/// Returns `ASIDE_OK`, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Memory: it allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_rewriter_get_stats(
    rewriter: *const aside_rewriter,
    stats: *mut aside_rewriter_stats,
) -> aside_status {
    // SAFETY: NULL, or the caller promises a struct that begins with its size.
    let size = match unsafe { size_of_given(stats, "stats") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    // SAFETY: NULL or valid, as the caller promises; `stats` may be written as far as its size says.
    unsafe {
        enter(rewriter, is_whole, |stream| {
            fill_sized(stats, size, record(&stream.rewriter.stats(), size));
            ASIDE_OK
        })
    }
}

/// Returns the counts as C's struct, with this size.
fn record(stats: &Stats, size: usize) -> aside_rewriter_stats {
    aside_rewriter_stats {
        size,
        events: stats.events,
        changed: stats.changed,
        added: stats.added,
        repaired: stats.repaired,
        too_long: stats.too_long,
        unread: stats.unread,
        unpromoted: stats.unpromoted,
        truncated: stats.truncated,
        thinking_bytes: stats.thinking_bytes,
        content_bytes: stats.content_bytes,
        held: stats.held,
        split_by_server: stats.split_by_server,
        encoded: stats.encoded.into(),
        reserved: 0,
        calls: stats.calls,
        contradicted: stats.contradicted,
    }
}
