//! Call writers for C: the input is a scanner's events, the output is the deltas of calls for a client. An event becomes one
//! delta at most, so that a function call returns it, and a host of any language needs no callback.

use std::ptr;

use libc::{c_char, size_t};

use super::bytes::{aside_bytes, optional_text};
use super::constants::*;
use super::dialect::aside_dialect;
use super::handle_guard::{HandleGuard, is_ready};
use super::memory::{Versioned, fill_sized, free, into_handle, layout, read_sized, size_of_given};
use super::numbers::{limit, value};
use super::scanner::{aside_event, call_event};
use super::status::{fail, fail_no_handle, fail_with, failed, guard_handle};
use super::tools::tools;
use crate::Event;
use crate::call_writer::{CallDelta, CallWriter, Options};
use crate::memory::{self, append_text, copy_text};

/// The largest buffer for a delta that a writer keeps from call to call: thousands of writers may wait for their next event.
const KEPT: usize = 4096;

/// The state of one stream's tool calls. From `aside_call_writer_new()`; freed by `aside_call_writer_free()`.
pub struct aside_call_writer {
    guard: HandleGuard<Stream>,
}

/// Options of `aside_call_writer_new()`. Set all of it to zero, then `size`; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_call_writer_options {
    /// `sizeof(aside_call_writer_options)` of the caller's header.
    pub size: size_t,
    /// The request's `tools`: a JSON array of objects with `name` and `parameters`, which may also be inside `function`,
    /// or with `name` and `input_schema`, as in Anthropic's Messages. Only calls of these are emitted, and their schemas have
    /// the types of the arguments. `[]`: no call is emitted. `at` is NULL: every call is emitted, and nothing is known of its
    /// arguments.
    pub tools: aside_bytes,
    /// The beginning of the id for a call to which the model gave no id; `index` of the call follows it. UTF-8. `at` is NULL:
    /// `call_`.
    pub id_prefix: aside_bytes,
    /// The most bytes of a call that are held because they cannot be sent yet: arguments until the name has come, a value
    /// until its type is known. 0: 1 MiB.
    pub max_held: u64,
    /// The most bytes of `tools` that are read; a longer list is an error. Reading a list may take some 40 times as much
    /// memory. 0: 4 MiB.
    pub max_tools: u64,
    /// The part of a call that is sent before the call is whole. At most `max_held` bytes of it are held.
    pub not_whole: aside_not_whole,
    /// The treatment of a call of a tool that is not in `tools`. For a call writer, which writes no text,
    /// `ASIDE_UNKNOWN_TOOL_TEXT` and `ASIDE_UNKNOWN_TOOL_DROP` are the same: the call has no delta, and the host may send its
    /// bytes as text.
    pub unknown_tool: aside_unknown_tool,
    /// Whether the end of a text that has ended by itself (`ASIDE_CAUSE_ENDED`) may end a call.
    pub implied_end: aside_implied_end,
    /// 1: mend arguments that can mean only one thing; the last delta of such a call has `is_repaired`. In JSON, a backslash
    /// that does not begin an escape is escaped. If the schema asks for an array or an object and not for a string, a string
    /// that contains it as JSON is decoded, and a Python literal between markers becomes JSON. 0: leave the arguments
    /// unchanged.
    pub repair_arguments: u32,
    /// The most calls of a stream that are emitted, such as 1 for `"parallel_tool_calls": false`. 0: all.
    pub max_calls: u64,
}

impl Versioned for aside_call_writer_options {
    const FIRST: usize = size_of::<size_t>();
}

/// The next part of a tool call for a client. Set `size` before the first call; later versions may add fields at the end.
/// All texts are UTF-8, in memory of the writer that is valid until the next call with it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_call_delta {
    /// `sizeof(aside_call_delta)` of the caller's header.
    pub size: size_t,
    /// The number of the call in the stream, from 0: `call` of its `ASIDE_KIND_CALL`. Calls that are not emitted count too.
    pub call: u64,
    /// The number of the call among those that are emitted, from 0: `index` of OpenAI's `tool_calls`.
    pub index: u64,
    /// In the first delta of a call its id, otherwise empty.
    pub id: aside_bytes,
    /// In the first delta of a call its name, otherwise empty.
    pub name: aside_bytes,
    /// The next part of the arguments, perhaps empty. The parts of all deltas, joined, are a JSON object if the call is whole.
    pub arguments: aside_bytes,
    /// In the last delta, the id of the call if the model wrote it after the first delta was sent; otherwise empty. It is for
    /// clients that get whole answers only.
    pub late_id: aside_bytes,
    /// 1: the first delta of the call. Otherwise 0.
    pub is_first: u32,
    /// 1: the last delta of the call. Otherwise 0.
    pub is_last: u32,
    /// In the last delta, why the call ended: as the scanner says, or `ASIDE_CAUSE_MALFORMED` if its arguments are not a JSON
    /// object. Otherwise 0.
    pub cause: aside_cause,
    /// In the last delta, 1 if the arguments are complete: the call ended by its marker or by the text after it. Otherwise 0:
    /// the arguments that were sent may not be JSON.
    pub is_whole: u32,
    /// In the last delta, 1 if the call broke a rule of its grammar and was repaired: the model may have meant other arguments.
    /// Otherwise 0.
    pub is_repaired: u32,
    /// 0.
    pub reserved: u32,
}

impl Versioned for aside_call_delta {
    const FIRST: usize = size_of::<aside_call_delta>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_call_writer_options 80: size 0, tools 8, id_prefix 24, max_held 40, max_tools 48, not_whole 56, unknown_tool 60,
        implied_end 64, repair_arguments 68, max_calls 72);
    assert!(aside_call_writer_options::FIRST == 8);
    layout!(aside_call_delta 112: size 0, call 8, index 16, id 24, name 40, arguments 56, late_id 72, is_first 88,
        is_last 92, cause 96, is_whole 100, is_repaired 104, reserved 108);
    assert!(aside_call_delta::FIRST == 112);
};

// A writer can be used by one thread after another.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<CallWriter>();
};

/// The contents of a writer's handle.
struct Stream {
    writer: CallWriter,
    joined: JoinedDelta,
}

/// The deltas of one event, joined: they belong to the same call, so they are one delta too. C borrows the texts.
#[derive(Default)]
struct JoinedDelta {
    call: u64,
    index: u64,
    is_first: bool,
    /// The cause, and whether the call is whole, and repaired.
    end: Option<(aside_cause, bool, bool)>,
    id: String,
    name: String,
    arguments: String,
    late_id: String,
}

impl JoinedDelta {
    fn clear(&mut self) {
        if self.arguments.capacity() > KEPT {
            self.arguments = String::new();
        }
        for text in [&mut self.id, &mut self.name, &mut self.arguments, &mut self.late_id] {
            text.clear();
        }
        (self.is_first, self.end) = (false, None);
    }

    fn add(&mut self, delta: &CallDelta<'_>) -> memory::Result<()> {
        (self.call, self.index) = (delta.call, delta.index);
        self.is_first |= delta.name.is_some();
        append_text(&mut self.id, delta.id.unwrap_or_default())?;
        append_text(&mut self.name, delta.name.unwrap_or_default())?;
        append_text(&mut self.arguments, delta.arguments)?;
        if let Some(end) = delta.end {
            append_text(&mut self.late_id, end.late_id.unwrap_or_default())?;
            self.end = Some((end.cause.to_number(), end.is_whole, end.is_repaired));
        }
        Ok(())
    }

    fn record(&self, size: size_t) -> aside_call_delta {
        let (cause, is_whole, is_repaired) = self.end.unwrap_or_default();
        aside_call_delta {
            size,
            call: self.call,
            index: self.index,
            id: aside_bytes::lend(self.id.as_bytes()),
            name: aside_bytes::lend(self.name.as_bytes()),
            arguments: aside_bytes::lend(self.arguments.as_bytes()),
            late_id: aside_bytes::lend(self.late_id.as_bytes()),
            is_first: self.is_first.into(),
            is_last: self.end.is_some().into(),
            cause,
            is_whole: is_whole.into(),
            is_repaired: is_repaired.into(),
            reserved: 0,
        }
    }
}

impl Stream {
    /// Feeds one event. Returns whether there is a delta.
    fn feed(&mut self, event: &Event<'_>) -> Result<bool, aside_status> {
        let Stream { writer, joined } = self;
        joined.clear();
        let mut has_delta = false;
        let mut joining = Ok(());
        let written = writer.event(event, |delta| {
            has_delta = true;
            if joining.is_ok() {
                joining = joined.add(&delta);
            }
        });
        written.map_err(failed)?;
        joining.map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
        Ok(has_delta)
    }
}

/// Reads the caller's options, in any version of the struct.
///
/// # Safety
/// `options` is NULL or has as many bytes as its `size` says; its texts are as long as it says.
unsafe fn options(options: *const aside_call_writer_options) -> Result<Options, aside_status> {
    if options.is_null() {
        return Ok(Options::default());
    }
    // SAFETY: the caller's promise; the struct is made of plain numbers and pointers that may be NULL.
    let all = unsafe { read_sized(options, "options") }?;
    let mut read = Options::default();
    // SAFETY: the caller's promise.
    let id_prefix = unsafe {
        read.tools = tools(all.tools, all.max_tools, "options.")?;
        optional_text(all.id_prefix, "options.id_prefix")?
    };
    if let Some(id_prefix) = id_prefix {
        read.id_prefix = copy_text(id_prefix).map_err(|_| fail(ASIDE_ERROR_MEMORY))?.into();
    }
    if let Some(max_held) = limit(all.max_held) {
        read.max_held = max_held;
    }
    if all.repair_arguments > 1 {
        return Err(fail_with(ASIDE_ERROR_OPTION, "options.repair_arguments is neither 0 nor 1"));
    }
    Ok(read
        .not_whole(value(all.not_whole, "options.not_whole")?)
        .unknown_tool(value(all.unknown_tool, "options.unknown_tool")?)
        .implied_end(value(all.implied_end, "options.implied_end")?)
        .repair_arguments(all.repair_arguments == 1)
        .max_calls(all.max_calls))
}

/// Makes a call writer, at the start of a stream: it makes JSON of the tool calls that a scanner of `dialect` reports,
/// for a client that reads OpenAI's `tool_calls`. Set `options.calls` of the scanner. `options` may be NULL: every call
/// is emitted. `dialect` and `options` are not used after the call: the dialect may be freed before the writer.
///
/// Returns a writer that the caller owns: `aside_call_writer_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for `tools` that are not JSON
/// or not a list of tools, or too long; the message says where) or `ASIDE_ERROR_MEMORY`.
///
/// Memory: if it runs out while `tools` is read, the process ends.
///
/// Threads: any thread may call this at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_call_writer_new(
    dialect: *const aside_dialect,
    options: *const aside_call_writer_options,
) -> *mut aside_call_writer {
    guard_handle(|| {
        // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
        let Some(dialect) = (unsafe { dialect.as_ref() }) else {
            fail_no_handle("dialect");
            return ptr::null_mut();
        };
        // SAFETY: NULL or as large as it says, as the caller promises.
        let Ok(options) = (unsafe { self::options(options) }) else {
            return ptr::null_mut();
        };
        let stream = Stream { writer: CallWriter::new(&dialect.dialect, options), joined: JoinedDelta::default() };
        into_handle(aside_call_writer { guard: HandleGuard::new(stream) })
    })
}

/// Frees a writer and the memory that C has borrowed from it. Does nothing for NULL.
///
/// Threads: no other thread may be using this writer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_call_writer_free(writer: *mut aside_call_writer) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(writer, |writer| writer.guard.close()) }
}

/// Feeds the next event of the scanner. `event` and `bytes` are the arguments of an `aside_event_fn`, and are not used after
/// the call; `event_size` is `sizeof(aside_event)` of the caller's header: at least 72, so that the event has the field `call`.
/// Feed all events of the stream, or at least those of the channel `ASIDE_CHANNEL_TOOL`, in their order; an event that belongs
/// to no call changes nothing. Set `delta->size` to `sizeof(aside_call_delta)` before.
///
/// Returns `ASIDE_OK` with `*delta` filled: send it to the client. `ASIDE_NONE`: there is nothing to send yet, and
/// `*delta` is not written. Below 0: `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`,
/// `ASIDE_ERROR_OPTION` for an unknown cause (nothing has changed after these); `ASIDE_ERROR_MEMORY`,
/// `ASIDE_ERROR_PANIC` (the writer stays in error).
///
/// A call that is not emitted, because `tools` does not have it or because it was cut before its arguments, has no delta from
/// its `ASIDE_KIND_CALL` to its `ASIDE_KIND_CALL_END`. A call that was emitted always has a last delta.
///
/// May be called from an `aside_event_fn`: a writer is another object than the scanner that is feeding.
///
/// Memory: it grows with the held bytes, at most `options.max_held`, and with the delta: JSON writes a byte as up to six.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_call_writer_feed(
    writer: *mut aside_call_writer,
    event: *const aside_event,
    event_size: size_t,
    bytes: *const c_char,
    delta: *mut aside_call_delta,
) -> aside_status {
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_of_given(delta, "delta") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    // SAFETY: NULL or a writer that is not freed yet, as the caller promises.
    let Some(writer) = (unsafe { writer.as_ref() }) else { return fail_no_handle("writer") };
    // SAFETY: the caller promises an event of that size and its bytes.
    let event = match unsafe { call_event(event, event_size, bytes) } {
        Ok(Some(event)) => event,
        Ok(None) => return ASIDE_NONE,
        Err(status) => return status,
    };
    // SAFETY: only calls that have entered use the stream; `delta` may be written as far as its size says.
    unsafe {
        writer.guard.enter(is_ready, |stream| match stream.feed(&event) {
            Ok(true) => {
                fill_sized(delta, size, stream.joined.record(size));
                ASIDE_OK
            }
            Ok(false) => ASIDE_NONE,
            Err(status) => status,
        })
    }
}

/// Resets the writer for the next stream: the call that is open, the numbers, and every error except `ASIDE_ERROR_PANIC`.
/// Call it after `aside_scanner_finish()` and `aside_scanner_reset()`. Memory that C has borrowed from the writer is no
/// longer valid.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_call_writer_reset(writer: *mut aside_call_writer) -> aside_status {
    // SAFETY: the caller promises a writer that is NULL or valid, and only calls that have entered use the stream.
    unsafe {
        let Some(writer) = writer.as_ref() else { return fail_no_handle("writer") };
        writer.guard.renew(|stream| {
            stream.writer.reset();
            stream.joined = JoinedDelta::default();
        })
    }
}
