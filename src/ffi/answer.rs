//! Answers for C: they return the parts of a text as an array that the answer owns, so that no language needs a callback.

use std::ptr;

use libc::{c_char, size_t};

use super::bytes::{aside_bytes, optional_text};
use super::constants::*;
use super::dialect::aside_dialect;
use super::handle_guard::{HandleGuard, is_ready, is_whole};
use super::memory::{Versioned, bytes, free, into_handle, layout, read_sized};
use super::numbers::{check_flags, limit, start_from_prompt, value};
use super::scanner::{aside_counts, aside_token, fill_counts, tokens};
use super::status::{fail, fail_no_handle, fail_null, fail_with, failed, guard_handle};
use super::tools::tools;
use crate::answer::{Answer, Options, Part};
use crate::memory::{self, copy_text, push};
use crate::{Budget, ScannerOptions};

/// A model's answer that is being read: a text in, its parts out. From `aside_answer_new()`; freed by `aside_answer_free()`.
pub struct aside_answer {
    guard: HandleGuard<Stream>,
}

/// Options of `aside_answer_new()`. Set all of it to zero, then `size`; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_answer_options {
    /// `sizeof(aside_answer_options)` of the caller's header.
    pub size: size_t,
    /// The span that is open at the first byte.
    pub start: aside_start,
    /// The treatment of a closer of the thinking without an opener, after content.
    pub stray_close: aside_stray_close,
    /// The treatment of a tool call that begins inside the thinking.
    pub calls_in_thinking: aside_calls_in_thinking,
    /// The reading of a tag that is not the dialect's own at the beginning of the text.
    pub leading_tags: aside_leading_tags,
    /// Whether the thinking is reported.
    pub thinking: aside_thinking,
    /// The part of a call that is reported before the call is whole. At most `max_held` bytes of it are held.
    pub not_whole: aside_not_whole,
    /// The treatment of a call of a tool that is not in `tools`.
    pub unknown_tool: aside_unknown_tool,
    /// Whether the end of a text that has ended by itself (`ASIDE_END_REASON_ENDED`) may end a call.
    pub implied_end: aside_implied_end,
    /// The request's `tools`: a JSON array of objects with `name` and `parameters`, which may also be inside `function`, or with
    /// `name` and `input_schema`, as in Anthropic's Messages. Their schemas have the types of the arguments. `[]`: all calls are
    /// content, which is right for a request without tools. NULL: every call is reported, and the types of its arguments are not
    /// known.
    pub tools: aside_bytes,
    /// The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a request names a tool
    /// (`tool_choice`), a grammar makes the model write the arguments without markers. NULL: the text is read as usual.
    pub start_call: aside_bytes,
    /// The beginning of the id that is made for a call without one; `index` of the call follows it. UTF-8. Ids are unique in a conversation
    /// only if each answer has a different beginning. NULL: `call_`.
    pub id_prefix: aside_bytes,
    /// The maximum number of bytes of `tools` that are read; a longer list is an error. Reading a list may need about 40 times its
    /// length in memory. 0: 4 MiB.
    pub max_tools: u64,
    /// The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that are held
    /// until its type is clear, at most 4 MiB of text. 0: 1 MiB.
    pub max_held: u64,
    /// The maximum number of calls that are reported, such as 1 for `"parallel_tool_calls": false`; later calls are content. 0:
    /// 1,024, the maximum.
    pub max_calls: u64,
    /// The limit of the thinking, beyond which `ASIDE_PART_KIND_BUDGET` is reported. 0: there is no limit.
    pub budget: u64,
    /// The unit of the budget.
    pub budget_unit: aside_budget_unit,
    /// The scope of the budget.
    pub budget_scope: aside_budget_scope,
    /// 1: mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a backslash that does not begin an
    /// escape is escaped. If the schema asks for an array or an object and not for a string, a string that contains it as JSON is decoded,
    /// and a Python literal between markers becomes JSON. 0: leave the arguments unchanged.
    pub repair_arguments: u32,
    /// 1: report the thinking as content if the text ends by itself and has neither content nor a call. At most 16 MiB of thinking
    /// are kept for this. 0: such a text has no content.
    pub promote_empty: u32,
    /// 1: leave guessed thinking unchanged. 0: report thinking as content too, if the dialect only guessed that the text starts in the
    /// thinking, and the text ends by itself in the thinking, without a marker that confirms the guess.
    pub keep_guessed: u32,
    /// 1: report `ASIDE_PART_KIND_MOVED` if reported text belongs to the other channel, for a host that builds a whole message.
    /// 0: content that turns out to be thinking stays content, and thinking that turns out to be the answer is reported again as
    /// content.
    pub may_take_back: u32,
    /// 1: leave calls in the content, as the model wrote them, for a host that passes the content to another parser; `tools`,
    /// `start_call`, `id_prefix` and the policies for calls then have no effect. 0: report calls.
    pub inline_calls: u32,
    /// Reserved: 0.
    pub reserved: u32,
}

impl Versioned for aside_answer_options {
    const FIRST: usize = size_of::<size_t>();
}

/// A part of an answer. This struct never changes. Fields that a kind does not name are 0 or empty. All texts are in memory of the
/// answer, valid until the next call with it; names, ids and arguments are UTF-8.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_part {
    /// The kind of the part.
    pub kind: aside_part_kind,
    /// `ASIDE_PART_KIND_CALL_END`: why the call ended, or `ASIDE_CAUSE_MALFORMED` if its arguments are not a JSON object.
    pub cause: aside_cause,
    /// `ASIDE_PART_KIND_MOVED`: the channel in which the text was reported.
    pub from: aside_channel,
    /// `ASIDE_PART_KIND_MOVED`: the channel to which the text belongs.
    pub to: aside_channel,
    /// `ASIDE_PART_KIND_CALL`: 1 if the library made the id: the model wrote none, or its id is taken or begins with
    /// `options.id_prefix`.
    pub is_made: u32,
    /// `ASIDE_PART_KIND_CALL_END`: 1 if the arguments are complete. Do not run a call that is not whole.
    pub is_whole: u32,
    /// `ASIDE_PART_KIND_CALL_END`: 1 if the call broke a rule of its grammar and was repaired: the model may have meant other arguments.
    pub is_repaired: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// Parts of calls: the number of the call in the answer, from 0.
    pub index: u64,
    /// The text of `ASIDE_PART_KIND_THINKING` and `ASIDE_PART_KIND_CONTENT`, the name of `ASIDE_PART_KIND_CALL`, the JSON of `ASIDE_PART_KIND_ARGUMENTS`.
    pub text: aside_bytes,
    /// `ASIDE_PART_KIND_CALL`: an id that no other call of the answer has. `ASIDE_PART_KIND_CALL_END`: an id that the model wrote only after
    /// the call was reported; use it in a whole message, and not for a client that got the call already.
    pub id: aside_bytes,
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_answer_options 152: size 0, start 8, stray_close 12, calls_in_thinking 16, leading_tags 20, thinking 24,
        not_whole 28, unknown_tool 32, implied_end 36, tools 40, start_call 56, id_prefix 72, max_tools 88, max_held 96,
        max_calls 104, budget 112, budget_unit 120, budget_scope 124, repair_arguments 128, promote_empty 132,
        keep_guessed 136, may_take_back 140, inline_calls 144, reserved 148);
    assert!(aside_answer_options::FIRST == 8);
    layout!(aside_part 72: kind 0, cause 4, from 8, to 12, is_made 16, is_whole 20, is_repaired 24, reserved 28, index 32,
        text 40, id 56);
};

// An answer may be used by any thread, but only by one at a time.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Answer>();
};

/// The contents of an answer's handle.
struct Stream {
    answer: Answer,
    /// The option `max_tools`.
    max_tools: u64,
    /// The parts of the last call, which C borrows.
    parts: Parts,
}

#[derive(Default)]
struct Parts(Vec<aside_part>);

// SAFETY: the texts are in memory of the answer, which is in the same handle.
unsafe impl Send for Parts {}

/// Returns a part for C. Its texts are borrowed.
fn record(part: &Part<'_>) -> aside_part {
    let mut record = aside_part {
        kind: part.to_number(),
        cause: 0,
        from: 0,
        to: 0,
        is_made: 0,
        is_whole: 0,
        is_repaired: 0,
        reserved: 0,
        index: 0,
        text: aside_bytes::lend(b""),
        id: aside_bytes::lend(b""),
    };
    match *part {
        Part::Thinking(text) | Part::Content(text) => record.text = aside_bytes::lend(text),
        Part::Call { index, id, is_made, name } => {
            (record.index, record.is_made) = (index, is_made.into());
            (record.text, record.id) = (aside_bytes::lend(name.as_bytes()), aside_bytes::lend(id.as_bytes()));
        }
        Part::Arguments { index, json } => (record.index, record.text) = (index, aside_bytes::lend(json.as_bytes())),
        Part::CallEnd { index, is_whole, is_repaired, cause, late_id } => {
            (record.index, record.cause) = (index, cause.to_number());
            (record.is_whole, record.is_repaired) = (is_whole.into(), is_repaired.into());
            record.id = aside_bytes::lend(late_id.unwrap_or_default().as_bytes());
        }
        Part::Moved { from, to } => (record.from, record.to) = (from.to_number(), to.to_number()),
        Part::Budget => {}
    }
    record
}

/// Reads the caller's options, in any version of the struct, and its `max_tools`. If they belong to a rewriter (`are_rewriters`),
/// options that only an answer has must be 0.
///
/// # Safety
/// `options` is NULL or has as many bytes as its `size` says; its texts are as long as it says.
pub(super) unsafe fn options(
    options: *const aside_answer_options,
    are_rewriters: bool,
) -> Result<(Options, u64), aside_status> {
    if options.is_null() {
        return Ok((Options::new(), 0));
    }
    // SAFETY: the caller meets this function's conditions, and the struct is made of plain numbers and pointers that may be NULL.
    let all = unsafe { read_sized(options, "options") }?;
    check_flags(&[
        ("repair_arguments", all.repair_arguments),
        ("promote_empty", all.promote_empty),
        ("keep_guessed", all.keep_guessed),
        ("may_take_back", all.may_take_back),
        ("inline_calls", all.inline_calls),
    ])?;
    if all.reserved != 0 {
        return Err(fail_with(ASIDE_ERROR_OPTION, "options.reserved is not 0"));
    }
    let only_answers = [
        ("id_prefix", !all.id_prefix.at.is_null()),
        ("budget", all.budget > 0 || all.budget_unit > 0 || all.budget_scope > 0),
        ("may_take_back", all.may_take_back > 0),
        ("inline_calls", all.inline_calls > 0),
    ];
    if let Some((name, _)) = only_answers.iter().find(|(_, is_set)| are_rewriters && *is_set) {
        return Err(fail_with(ASIDE_ERROR_OPTION, format_args!("options.answer: a rewriter does not take {name}")));
    }
    let (unit, scope) =
        (value(all.budget_unit, "options.budget_unit")?, value(all.budget_scope, "options.budget_scope")?);
    let scanner = ScannerOptions::new()
        .start(value::<Option<_>>(all.start, "options.start")?)
        .stray_close(value(all.stray_close, "options.stray_close")?)
        .calls_in_thinking(value(all.calls_in_thinking, "options.calls_in_thinking")?)
        .leading_tags(value(all.leading_tags, "options.leading_tags")?)
        .budget((all.budget > 0).then_some(Budget { limit: all.budget, unit, scope }));
    // SAFETY: the caller meets this function's conditions.
    let (tools, start_call, id_prefix) = unsafe {
        (
            tools(all.tools, all.max_tools, "options.")?,
            optional_text(all.start_call, "options.start_call")?,
            optional_text(all.id_prefix, "options.id_prefix")?,
        )
    };
    let mut options = Options::new()
        .scanner(scanner)
        .thinking(value(all.thinking, "options.thinking")?)
        .not_whole(value(all.not_whole, "options.not_whole")?)
        .unknown_tool(value(all.unknown_tool, "options.unknown_tool")?)
        .implied_end(value(all.implied_end, "options.implied_end")?)
        .tools(tools)
        .start_call(start_call)
        .max_held(limit(all.max_held))
        .max_calls(all.max_calls)
        .repair_arguments(all.repair_arguments == 1)
        .promote_empty(all.promote_empty == 1)
        .keep_guessed(all.keep_guessed == 1)
        .may_take_back(all.may_take_back == 1)
        .inline_calls(all.inline_calls == 1);
    if let Some(id_prefix) = id_prefix {
        options = options.id_prefix(copy_text(id_prefix).map_err(|_| fail(ASIDE_ERROR_MEMORY))?);
    }
    Ok((options, all.max_tools))
}

/// Runs `body` as the only call inside the answer, if `may` accepts its state.
///
/// # Safety
/// `answer` is NULL or an answer that is not freed yet.
unsafe fn enter(
    answer: *const aside_answer,
    may: impl Fn(i32) -> bool,
    body: impl FnOnce(&mut Stream) -> aside_status,
) -> aside_status {
    // SAFETY: the caller meets this function's conditions, and only calls inside the guard use the stream.
    unsafe {
        let Some(answer) = answer.as_ref() else { return fail_no_handle("answer") };
        answer.guard.enter(may, body)
    }
}

/// Runs a method of the answer, and returns the parts that it reports to C, which borrows them.
///
/// # Safety
/// `answer` is NULL or valid; `parts` and `count` are NULL or may be written.
unsafe fn read(
    answer: *mut aside_answer,
    parts: *mut *const aside_part,
    count: *mut size_t,
    operation: impl FnOnce(&mut Answer, &mut dyn FnMut(Part<'_>)) -> Result<(), crate::Error>,
) -> aside_status {
    if parts.is_null() || count.is_null() {
        return fail_null(if parts.is_null() { "parts" } else { "count" });
    }
    let body = |stream: &mut Stream| {
        let Stream { answer, parts: Parts(list), .. } = stream;
        memory::clear(list);
        let mut pushed = Ok(());
        let read = operation(answer, &mut |part| {
            if pushed.is_ok() {
                pushed = push(list, record(&part));
            }
        });
        if let Err(error) = read {
            return failed(error);
        }
        if pushed.is_err() {
            return fail(ASIDE_ERROR_MEMORY);
        }
        // SAFETY: they are not NULL, and the caller promises that they may be written.
        unsafe {
            parts.write_unaligned(list.as_ptr());
            count.write_unaligned(list.len());
        }
        ASIDE_OK
    };
    // SAFETY: the caller meets this function's conditions.
    unsafe { enter(answer, is_ready, body) }
}

/// Makes an answer: it reads one text of a model as it streams, and reports thinking, content and tool calls with JSON arguments, as
/// parts without markers. Every byte of the text is in exactly one part, in a call that is reported, or is a marker or framing around
/// these: what turns out not to be a call is content, in its place. `options` may be NULL. `dialect` and `options` are not used after
/// the call: the dialect may be freed before the answer.
///
/// Returns an answer that the caller owns: `aside_answer_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not
/// have, and for `tools` that are not JSON or not a list of tools, or too long; the message has the place of the fault) or
/// `ASIDE_ERROR_MEMORY`.
///
/// Memory: if it runs out while `tools` is read, the process ends.
///
/// Threads: any thread may call this at any time.
///
/// ```c
/// aside_answer *answer = aside_answer_new(aside_dialect_find("qwen3", 5), NULL);
/// const aside_part *parts;
/// size_t count;
/// if (aside_answer_feed(answer, chunk, len, &parts, &count) == ASIDE_OK) {
///     for (size_t i = 0; i < count; i++) {
///         if (parts[i].kind == ASIDE_PART_KIND_CONTENT) fwrite(parts[i].text.at, 1, parts[i].text.len, stdout);
///     }
/// }
/// ```
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_new(
    dialect: *const aside_dialect,
    options: *const aside_answer_options,
) -> *mut aside_answer {
    guard_handle(|| {
        // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
        let Some(dialect) = (unsafe { dialect.as_ref() }) else {
            fail_no_handle("dialect");
            return ptr::null_mut();
        };
        // SAFETY: NULL or as large as it says, as the caller promises.
        let Ok((options, max_tools)) = (unsafe { self::options(options, false) }) else {
            return ptr::null_mut();
        };
        match Answer::new(&dialect.dialect, &options) {
            Ok(answer) => {
                let stream = Stream { answer, max_tools, parts: Parts::default() };
                into_handle(aside_answer { guard: HandleGuard::new(stream) })
            }
            Err(error) => {
                failed(error);
                ptr::null_mut()
            }
        }
    })
}

/// Frees an answer and the memory that C has borrowed from it. Does nothing for NULL.
///
/// Threads: no other thread may be using this answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_free(answer: *mut aside_answer) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(answer, |answer| answer.guard.close()) }
}

/// Sets the start of the text, for a model that continues a rendered prompt. The last `len` bytes of the prompt are `tail`, which
/// are read as by `aside_scanner_start_from_prompt()`. Call this before the first byte of the text. Finishing or resetting the
/// answer restores its own start; a `len` of 0 undoes an earlier prompt. `tail` is not used after the call; it must not be memory
/// of the answer.
///
/// `*start` becomes an `ASIDE_START_` value, the span that is open at the first byte; `start` may be NULL. It is written on success
/// only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` if the text has begun
/// (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the answer stays in error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_start_from_prompt(
    answer: *mut aside_answer,
    tail: *const c_char,
    len: size_t,
    start: *mut aside_start,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, an answer that is NULL or valid, and a start that is NULL or may be written.
    unsafe {
        start_from_prompt(tail, len, start, |tail, write| {
            enter(answer, is_ready, |stream| write(stream.answer.start_from_prompt(tail)))
        })
    }
}

/// Sets the `tools` of the request, before the first byte of the text: `len` bytes of JSON, like `options.tools`. Use it for an answer
/// that serves one request after another; for a request without `tools`, pass `[]`. Finishing or resetting the answer restores its own
/// tools. `tools` is not used after the call; it must not be memory of the answer.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_OPTION` for tools that cannot be
/// read (the message has the place of the fault), `ASIDE_ERROR_ORDER` if the text has begun (nothing has changed after these);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the answer stays in error).
///
/// Memory: if it runs out while `tools` is read, the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_use_tools(
    answer: *mut aside_answer,
    tools: *const c_char,
    len: size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, and an answer that is NULL or valid.
    unsafe {
        enter(answer, is_ready, |stream| match self::tools(aside_bytes { at: tools, len }, stream.max_tools, "") {
            Ok(tools) => stream.answer.use_tools(tools).map_or_else(failed, |()| ASIDE_OK),
            Err(status) => status,
        })
    }
}

/// Feeds the next `len` bytes of the text, cut anywhere. `*parts` and `*count` become the parts that are decided, which may be none.
/// `buf` may be NULL if `len` is 0, and is not used after the call; it must not be memory of the answer.
///
/// `*parts` and their texts are memory of the answer, valid until the next call with it. They are written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY` (nothing has changed after these);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the answer stays in error).
///
/// Memory: it grows with the chunk, and with the held bytes: twice `aside_dialect_max_hold()`, and `options.max_held` while a call is
/// open. A byte of an argument becomes up to six bytes of JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_feed(
    answer: *mut aside_answer,
    buf: *const c_char,
    len: size_t,
    parts: *mut *const aside_part,
    count: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, an answer that is valid, and results that may be written.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => read(answer, parts, count, |answer, on_part| answer.feed(chunk, on_part)),
            Err(status) => status,
        }
    }
}

/// Feeds `len` bytes whose `token_count` tokens are known, as `aside_scanner_feed_tokens()` does.
///
/// Returns the same as `aside_answer_feed()`, and `ASIDE_ERROR_LENGTH` if the lengths of the tokens do not add up to `len` (nothing has
/// changed).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_feed_tokens(
    answer: *mut aside_answer,
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    token_count: size_t,
    parts: *mut *const aside_part,
    count: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes and that many tokens, an answer that is valid, and results that may be written.
    unsafe {
        let chunk = match bytes(buf, len, "buf") {
            Ok(chunk) => chunk,
            Err(status) => return status,
        };
        match self::tokens(tokens, token_count) {
            Ok(tokens) => read(answer, parts, count, |answer, on_part| answer.feed_tokens(chunk, tokens, on_part)),
            Err(status) => status,
        }
    }
}

/// Reports the held bytes as text: those that may begin a marker, and those of an undecided call. Calls in the thinking still wait for
/// the text after them, which decides whether they are meant. The text continues.
///
/// Returns the same as `aside_answer_feed()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_flush(
    answer: *mut aside_answer,
    parts: *mut *const aside_part,
    count: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises an answer that is valid, and results that may be written.
    unsafe { read(answer, parts, count, |answer, on_part| answer.flush(on_part)) }
}

/// Closes the open thinking, or the open call, as `aside_scanner_force_close()` does. A call without markers stays open.
///
/// Returns the same as `aside_answer_feed()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_force_close(
    answer: *mut aside_answer,
    parts: *mut *const aside_part,
    count: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises an answer that is valid, and results that may be written.
    unsafe { read(answer, parts, count, |answer, on_part| answer.force_close(on_part)) }
}

/// Ends the text, for this reason, and reports the parts that are left. The answer is then reset, except for its counts, and the next
/// feed begins a new text. The reason matters if a call, or thinking that may be the answer, is open at the end: only a text that ended
/// by itself (`ASIDE_END_REASON_ENDED`) may end a call that has no end, or turn out to be an answer without markers.
///
/// Returns the same as `aside_answer_feed()`, and `ASIDE_ERROR_OPTION` for an unknown reason (nothing has changed).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_finish(
    answer: *mut aside_answer,
    reason: aside_end_reason,
    parts: *mut *const aside_part,
    count: *mut size_t,
) -> aside_status {
    let reason = match value(reason, "reason") {
        Ok(reason) => reason,
        Err(status) => return status,
    };
    // SAFETY: the caller promises an answer that is valid, and results that may be written.
    unsafe { read(answer, parts, count, |answer, on_part| answer.finish(reason, on_part)) }
}

/// Resets the answer: drops the bytes that are held back, the counts, and every error except `ASIDE_ERROR_PANIC`. Memory that C has
/// borrowed from it is no longer valid.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_reset(answer: *mut aside_answer) -> aside_status {
    // SAFETY: the caller promises an answer that is NULL or valid, and only calls inside the guard use the stream.
    unsafe {
        let Some(answer) = answer.as_ref() else { return fail_no_handle("answer") };
        answer.guard.renew(|stream| {
            stream.answer.reset();
            stream.parts = Parts::default();
        })
    }
}

/// Returns the number of bytes of the text that are held back. Returns 0 and sets a message for NULL, if another call with the answer
/// has not ended, and after `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_held(answer: *const aside_answer) -> size_t {
    let mut held = 0;
    let body = |stream: &mut Stream| {
        held = stream.answer.held();
        ASIDE_OK
    };
    // SAFETY: an answer that is NULL or valid, as the caller promises.
    unsafe { enter(answer, is_whole, body) };
    held
}

/// Writes to `*counts` the counts of the text of a channel, as `aside_scanner_counts()` does: also those of thinking that was dropped,
/// and of text that was moved later. After the end of a text, these are the counts of that text, until another begins. Set
/// `counts->size` to `sizeof(aside_counts)` before the call.
///
/// Returns `ASIDE_OK` with `*counts` filled, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE` (no such channel), `ASIDE_ERROR_SIZE`,
/// `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_answer_counts(
    answer: *const aside_answer,
    channel: aside_channel,
    counts: *mut aside_counts,
) -> aside_status {
    // SAFETY: an answer that is NULL or valid, and counts that are NULL or as large as their size says, as the caller promises.
    unsafe {
        fill_counts(channel, counts, |fill| {
            enter(answer, is_whole, |stream| {
                fill(stream.answer.scanner());
                ASIDE_OK
            })
        })
    }
}
