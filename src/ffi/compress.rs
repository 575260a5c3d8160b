//! Tool results for C: registry, compressor, result with its report, streams, hosts' filters and caches. The doc comments of
//! this file are comments of `aside.h`.

use std::cell::{RefCell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use libc::{c_char, c_void, size_t};
use safer_ffi::prelude::*;

use super::memory::{bytes, fill_sized, free, give, lend, read_sized, size_to_fill};
use super::scanner::{BUSY, READY, admit, is_ready};
use super::status::{fail, fail_null, fail_panic, fail_with, guard};
use super::types::*;
use crate::compress::{
    Cache, Call, Change, Compressed, Compressor, Filter, Filtered, Hit, Input, Invocation, LastRun, MIN_BUDGET,
    MIN_COMPRESSIBLE_LENGTH, Outcome, Part, Registry, Report, SliceError, Stream, check_filter, format_banner,
    is_protected,
};

/// Texts shorter than this, in UTF-16 code units, are never touched.
pub const ASIDE_MIN_COMPRESSIBLE_LENGTH: u32 = 1024;

/// The smallest budget of a compressor, in bytes.
pub const ASIDE_MIN_BUDGET: u32 = 1024;

/// `stretch.change`: it is in the result, byte for byte.
pub const ASIDE_KEPT: u32 = 0;

/// `stretch.change`: other bytes stand for it.
pub const ASIDE_REPLACED: u32 = 1;

/// `stretch.change`: it is not there; a marker line may stand for it.
pub const ASIDE_LEFT_OUT: u32 = 2;

/// `stretch.filter` of what was kept.
pub const ASIDE_NO_FILTER: u32 = 0xffff_ffff;

const _: () = {
    assert!(MIN_COMPRESSIBLE_LENGTH == ASIDE_MIN_COMPRESSIBLE_LENGTH as usize);
    assert!(MIN_BUDGET == ASIDE_MIN_BUDGET as usize);
    assert!(Change::Kept as u32 == ASIDE_KEPT);
    assert!(Change::Replaced as u32 == ASIDE_REPLACED);
    assert!(Change::LeftOut as u32 == ASIDE_LEFT_OUT);
};

/// Filters and caches on their way into a compressor. From `aside_registry_new()`; freed by `aside_registry_free()`, or
/// taken over by `aside_compressor_new()`. One thread at a time may use it.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_registry {
    state: AtomicI32,
    registry: UnsafeCell<Registry>,
}

/// Makes tool results shorter. It never changes, its caches apart: any number of threads may use one at once. From
/// `aside_compressor_new()`; freed by `aside_compressor_free()`.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_compressor {
    compressor: Arc<Compressor>,
}

/// What came out of one call, and its report. It never changes. From `aside_compress()` or `aside_tool_stream_finish()`;
/// freed by `aside_compressed_free()`.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_compressed {
    compressed: Compressed,
    lent: Lent,
}

/// The output of one tool, compressed as it comes. From `aside_tool_stream_new()`; freed by `aside_tool_stream_free()`. One
/// thread at a time may use it.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_tool_stream {
    state: AtomicI32,
    streaming: UnsafeCell<Streaming>,
}

/// The commands of a command line. It never changes. From `aside_command_line_parse()`; freed by
/// `aside_command_line_free()`.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_command_line {
    commands: Vec<aside_command>,
    /// Where the commands' words are.
    _words: Vec<Vec<aside_bytes>>,
    _runs: Vec<Invocation>,
}

/// What a host's callback says, beside the number that it returns: `aside_reply_write()`. It belongs to the library and is
/// good until the callback returns.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_reply {
    text: Vec<u8>,
}

/// Some bytes. `at` may be NULL where `len` is 0.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_bytes {
    /// The first byte.
    pub at: *const c_char,
    /// How many there are.
    pub len: size_t,
}

/// Options of a compressor. Set all of it to zero, then `size`; fields may be added at the end in later versions.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_compressor_options {
    /// `sizeof(aside_compressor_options)` of the caller's header.
    pub size: size_t,
    /// How many bytes the text parts of a result may have together, banners and markers included; at least
    /// `ASIDE_MIN_BUDGET`. 0: no budget. Text that is never touched stays whole all the same.
    pub budget: u64,
    /// The banner's last sentence, UTF-8: how a user of this host switches compression off. Without bytes: a general one.
    pub switch_off: aside_bytes,
}

/// One tool call whose result is to be compressed. Set all of it to zero, then `size`.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_call {
    /// `sizeof(aside_call)` of the caller's header.
    pub size: size_t,
    /// The tool's id, UTF-8.
    pub tool_id: aside_bytes,
    /// What the tool was called with: JSON. A terminal tool's has `command`, and may have `cwd` and `exit_code`. Without
    /// bytes: null.
    pub input: aside_bytes,
    /// The time in seconds since 1970, for caches. The library has no clock of its own.
    pub now: u64,
}

/// Whether a host's filter is for this call: 1 or 0; below 0 for a failure, as of `apply`. `input` is JSON, UTF-8.
pub type aside_matches_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        tool_id: *const c_char,
        tool_id_len: size_t,
        input: *const c_char,
        input_len: size_t,
        reply: *mut aside_reply,
    ) -> i32,
>;

/// Makes a text shorter. Return 1 with the shorter text in `reply`; 0 if there is nothing to do; below 0 for a failure,
/// with its reason in `reply`: the report has it, and the other filters go on.
pub type aside_apply_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        text: *const c_char,
        text_len: size_t,
        input: *const c_char,
        input_len: size_t,
        reply: *mut aside_reply,
    ) -> i32,
>;

/// Sees every call of a cache's tools, before any cache looks up. `input` is JSON with sorted keys and no white space:
/// equal inputs are equal bytes. Return 0; below 0 for a failure, with its reason in `reply`.
pub type aside_observe_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        tool_id: *const c_char,
        tool_id_len: size_t,
        input: *const c_char,
        input_len: size_t,
        reply: *mut aside_reply,
    ) -> i32,
>;

/// The recorded result of a call. Return 1 with its raw text in `reply` and its time in `*timestamp`; 0 if there is none;
/// below 0 for a failure, with its reason in `reply`.
pub type aside_lookup_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        tool_id: *const c_char,
        tool_id_len: size_t,
        input: *const c_char,
        input_len: size_t,
        reply: *mut aside_reply,
        timestamp: *mut u64,
    ) -> i32,
>;

/// Records a result: its raw text parts, joined with line feeds. Return 0; below 0 for a failure, with its reason in
/// `reply`.
pub type aside_record_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        tool_id: *const c_char,
        tool_id_len: size_t,
        input: *const c_char,
        input_len: size_t,
        text: *const c_char,
        text_len: size_t,
        now: u64,
        reply: *mut aside_reply,
    ) -> i32,
>;

/// Called once, when nothing needs `user` any more: in whichever thread frees the last that did.
pub type aside_release_fn = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// A host's own filter. Set all of it to zero, then `size`. It promises only that what it calls compressed is shorter; that is
/// checked. Its callbacks run in the threads that compress, several at once if the host does so. They may use the library,
/// but for the compressor that called them: that says `ASIDE_ERROR_BUSY`. No C++ exception and no `longjmp` may leave them.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_filter {
    /// `sizeof(aside_filter)` of the caller's header.
    pub size: size_t,
    /// Its name in banners and reports: UTF-8 without control characters, at least one byte.
    pub id: aside_bytes,
    /// Ids of the tools whose results it is for.
    pub tool_ids: *const aside_bytes,
    /// How many. 0: all tools.
    pub tool_id_count: size_t,
    /// Whether it is for a call. NULL: always.
    pub matches: aside_matches_fn,
    /// Makes a text shorter. Not NULL.
    pub apply: aside_apply_fn,
    /// May be NULL.
    pub release: aside_release_fn,
    /// Given to each callback.
    pub user: *mut c_void,
}

/// A host's own cache: remembers results. It is trusted only where the fresh text is the recorded one. Set all of it to
/// zero, then `size`. For its callbacks holds what `aside_filter` says.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_cache {
    /// `sizeof(aside_cache)` of the caller's header.
    pub size: size_t,
    /// Its name in reports, as of a filter.
    pub id: aside_bytes,
    /// Ids of the tools whose results it is for.
    pub tool_ids: *const aside_bytes,
    /// How many. 0: all tools.
    pub tool_id_count: size_t,
    /// Sees every call. May be NULL.
    pub observe: aside_observe_fn,
    /// Gives a recorded result. Not NULL.
    pub lookup: aside_lookup_fn,
    /// Records one. Not NULL.
    pub record: aside_record_fn,
    /// May be NULL.
    pub release: aside_release_fn,
    /// Given to each callback.
    pub user: *mut c_void,
}

/// A command of a command line. Its texts are UTF-8.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_command {
    /// The program, without its folder and version: `git`; `pytest` of `python -m pytest`, `gradle` of `./gradlew`.
    pub name: aside_bytes,
    /// The first argument that is no option nor an option's value: `diff` of `git -C dir diff`; the script of `npm run`.
    /// Without bytes where there is none.
    pub subcommand: aside_bytes,
    /// All words behind the program, their quotes taken off.
    pub words: *const aside_bytes,
    /// How many there are.
    pub word_count: size_t,
    /// 1 where its output is seen: not of `cd` and the like, nor where it goes to a file or into a program that writes
    /// something of its own. Otherwise 0.
    pub prints: u32,
    /// 1 where its output goes through `head`, `grep` and the like, so that it may be only a part. Otherwise 0.
    pub piped: u32,
}

/// A stretch of an original. All of them together, in order, are the original.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_stretch {
    /// Its offset in the original.
    pub start: u64,
    /// Its length.
    pub len: u64,
    /// XXH3 (64 bits, seed 0) of its bytes.
    pub hash: u64,
    /// `ASIDE_KEPT`, `ASIDE_REPLACED` or `ASIDE_LEFT_OUT`.
    pub change: u32,
    /// Who did it: an index into `report.filters`; `ASIDE_NO_FILTER` for what was kept.
    pub filter: u32,
}

/// What became of a text part that filters changed.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_part_report {
    /// The part's place in the result that came in.
    pub part: size_t,
    /// Bytes of the original.
    pub len: u64,
    /// XXH3 (64 bits, seed 0) of the original.
    pub hash: u64,
    /// The original, tiled.
    pub stretches: *const aside_stretch,
    /// How many there are.
    pub stretch_count: size_t,
}

/// A filter or cache that failed in a call and was passed over.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_failed {
    /// Its id.
    pub id: aside_bytes,
    /// What went wrong.
    pub reason: aside_bytes,
}

/// What one call did. Set `size` before. What the pointers lead to is memory of the `aside_compressed`, good as long as that
/// is; fields may be added at the end in later versions.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_report {
    /// `sizeof(aside_report)` of the caller's header.
    pub size: size_t,
    /// The text parts' length before, in UTF-16 code units.
    pub before: u64,
    /// And after, banners included.
    pub after: u64,
    /// The filters that changed something, in the order of their first change.
    pub filters: *const aside_bytes,
    /// How many there are.
    pub filter_count: size_t,
    /// Filters and caches that failed.
    pub failed: *const aside_failed,
    /// How many there are.
    pub failed_count: size_t,
    /// The parts that filters changed. None for a stream that outgrew its memory.
    pub parts: *const aside_part_report,
    /// How many there are.
    pub part_count: size_t,
    /// The cache that had the same output; without bytes if none had.
    pub hit: aside_bytes,
    /// 1 where text of a machine format was cut, because it outgrew a stream's memory and there was a budget; otherwise 0.
    pub cut_protected: u32,
    /// 0.
    pub reserved: u32,
}

/// What a report lends to C.
struct Lent {
    filters: Vec<aside_bytes>,
    failed: Vec<aside_failed>,
    parts: Vec<aside_part_report>,
    /// Where the parts' stretches are.
    _stretches: Vec<Vec<aside_stretch>>,
}

/// A stream, until it is finished, and what its last call gave.
struct Streaming {
    compressor: Arc<Compressor>,
    stream: Option<Stream>,
    out: Vec<u8>,
}

thread_local! {
    /// The compressors that calls of this thread are inside of.
    static INSIDE: RefCell<Vec<*const Compressor>> = const { RefCell::new(Vec::new()) };
}

/// Whether this thread is inside a call of the compressor, so that a callback of its is asking.
fn is_inside(compressor: &Arc<Compressor>) -> bool {
    INSIDE.try_with(|inside| inside.borrow().contains(&Arc::as_ptr(compressor))).unwrap_or(false)
}

/// Runs `body` as the only call of this thread inside the compressor.
fn inside(compressor: &Arc<Compressor>, body: impl FnOnce() -> aside_status) -> aside_status {
    if is_inside(compressor) {
        return fail(ASIDE_ERROR_BUSY);
    }
    let _ = INSIDE.try_with(|inside| inside.borrow_mut().push(Arc::as_ptr(compressor)));
    let status = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(fail_panic);
    let _ = INSIDE.try_with(|inside| inside.borrow_mut().pop());
    status
}

/// # Safety
/// As of `bytes`.
unsafe fn text<'a>(text: aside_bytes, what: &str) -> Result<&'a str, aside_status> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes(text.at, text.len, what) }?;
    std::str::from_utf8(bytes).map_err(|_| fail_with(ASIDE_ERROR_OPTION, format_args!("{what} is not UTF-8")))
}

/// # Safety
/// `at` leads to `count` texts, or `count` is 0.
unsafe fn texts<'a>(at: *const aside_bytes, count: usize, what: &str) -> Result<Vec<&'a str>, aside_status> {
    // SAFETY: the caller's promise.
    unsafe { array(at, count, what)?.map(|one| text(one, what)).collect() }
}

/// The entries of the caller's array.
///
/// # Safety
/// `at` leads to `count` entries, or `count` is 0; they stay during `'a`.
unsafe fn array<'a, T: Copy + 'a>(
    at: *const T,
    count: usize,
    what: &str,
) -> Result<impl Iterator<Item = T> + 'a, aside_status> {
    if at.is_null() && count > 0 {
        return Err(fail_with(ASIDE_ERROR_NULL, format_args!("{what} is NULL and there are some")));
    }
    if count.checked_mul(size_of::<T>()).is_none_or(|all| all > isize::MAX as usize) {
        return Err(fail(ASIDE_ERROR_LENGTH));
    }
    // SAFETY: the caller's promise; entries need not be aligned.
    Ok((0..count).map(move |index| unsafe { at.add(index).read_unaligned() }))
}

fn shown(bytes: &[u8]) -> aside_bytes {
    aside_bytes { at: lend(bytes), len: bytes.len() }
}

/// The name of a host's filter or cache. It stands in banners, so it has one line.
///
/// # Safety
/// As of `bytes`.
unsafe fn id(id: aside_bytes) -> Result<String, aside_status> {
    // SAFETY: the caller's promise.
    let id = unsafe { text(id, "id") }?;
    if id.is_empty() || id.chars().any(char::is_control) {
        return Err(fail_with(ASIDE_ERROR_OPTION, "an id has at least one character, and no control characters"));
    }
    Ok(id.to_owned())
}

/// What all of a host's callbacks belong to.
struct Owner {
    user: *mut c_void,
    release: aside_release_fn,
}

// SAFETY: the header says that callbacks run in any thread, and so whatever `user` leads to must stand it.
unsafe impl Send for Owner {}
// SAFETY: the same.
unsafe impl Sync for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the host's own function with the host's own pointer, once.
            unsafe { release(self.user) };
        }
    }
}

struct HostFilter {
    id: String,
    tool_ids: Vec<String>,
    matches: aside_matches_fn,
    apply: unsafe extern "C" fn(*mut c_void, *const c_char, size_t, *const c_char, size_t, *mut aside_reply) -> i32,
    owner: Owner,
}

/// What a callback returned and said beside it; below 0 it failed, and what it said is the reason.
fn answer(call: impl FnOnce(*mut aside_reply) -> i32) -> Result<(i32, Vec<u8>), String> {
    let mut reply = aside_reply { text: Vec::new() };
    let code = call(&raw mut reply);
    match reply.text {
        text if code >= 0 => Ok((code, text)),
        text if text.is_empty() => Err(format!("it returned {code}")),
        text => Err(String::from_utf8_lossy(&text).into_owned()),
    }
}

impl Filter for HostFilter {
    fn id(&self) -> &str {
        &self.id
    }

    fn tool_ids(&self) -> &[String] {
        &self.tool_ids
    }

    fn matches(&self, tool_id: &str, input: &Input) -> Result<bool, String> {
        let (tool, json) = (tool_id.as_bytes(), input.json().as_bytes());
        let Some(matches) = self.matches else { return Ok(true) };
        // SAFETY: the host's own function with the host's own pointer; what it is given outlives the call.
        let (code, _) =
            answer(|reply| unsafe { matches(self.owner.user, lend(tool), tool.len(), lend(json), json.len(), reply) })?;
        Ok(code > 0)
    }

    fn apply(&self, text: &[u8], input: &Input) -> Result<Filtered, String> {
        let json = input.json().as_bytes();
        // SAFETY: the host's own function with the host's own pointer; what it is given outlives the call.
        let (code, text) = answer(|reply| unsafe {
            (self.apply)(self.owner.user, lend(text), text.len(), lend(json), json.len(), reply)
        })?;
        Ok(Filtered { text, compressed: code > 0 })
    }
}

type Lookup =
    unsafe extern "C" fn(*mut c_void, *const c_char, size_t, *const c_char, size_t, *mut aside_reply, *mut u64) -> i32;
type Record = unsafe extern "C" fn(
    *mut c_void,
    *const c_char,
    size_t,
    *const c_char,
    size_t,
    *const c_char,
    size_t,
    u64,
    *mut aside_reply,
) -> i32;

struct HostCache {
    id: String,
    tool_ids: Vec<String>,
    observe: aside_observe_fn,
    lookup: Lookup,
    record: Record,
    owner: Owner,
}

impl Cache for HostCache {
    fn id(&self) -> &str {
        &self.id
    }

    fn tool_ids(&self) -> &[String] {
        &self.tool_ids
    }

    fn observe(&self, tool_id: &str, input: &Input) -> Result<(), String> {
        let (tool, json) = (tool_id.as_bytes(), input.json().as_bytes());
        let Some(observe) = self.observe else { return Ok(()) };
        // SAFETY: the host's own function with the host's own pointer; what it is given outlives the call.
        answer(|reply| unsafe { observe(self.owner.user, lend(tool), tool.len(), lend(json), json.len(), reply) })?;
        Ok(())
    }

    fn lookup(&self, tool_id: &str, input: &Input) -> Result<Option<Hit>, String> {
        let (tool, json) = (tool_id.as_bytes(), input.json().as_bytes());
        let mut timestamp = 0;
        // SAFETY: the host's own function with the host's own pointer; what it is given outlives the call.
        let (code, text) = answer(|reply| unsafe {
            let at = &raw mut timestamp;
            (self.lookup)(self.owner.user, lend(tool), tool.len(), lend(json), json.len(), reply, at)
        })?;
        Ok((code > 0).then_some(Hit { text, timestamp }))
    }

    fn record(&self, tool_id: &str, input: &Input, text: &[u8], now: u64) -> Result<(), String> {
        let (tool, json) = (tool_id.as_bytes(), input.json().as_bytes());
        // SAFETY: the host's own function with the host's own pointer; what it is given outlives the call.
        answer(|reply| unsafe {
            let (user, text_at) = (self.owner.user, lend(text));
            (self.record)(user, lend(tool), tool.len(), lend(json), json.len(), text_at, text.len(), now, reply)
        })?;
        Ok(())
    }
}

/// == Tool results: what a compressor is made of ==
///
/// A registry with every built-in filter (`built_in` 1), or with nothing (0). It has no cache.
///
/// Returns a registry that the caller owns, until `aside_compressor_new()` takes it: `aside_registry_free()`. NULL where
/// `built_in` is neither.
///
/// Threads: any, at any time. Memory: in all of this half of the library, if it runs out, the process ends.
#[ffi_export]
pub unsafe extern "C" fn aside_registry_new(built_in: u32) -> *mut aside_registry {
    guard(
        |_| ptr::null_mut(),
        || {
            let registry = match built_in {
                0 => Registry::empty(),
                1 => Registry::new(),
                _ => {
                    fail_with(ASIDE_ERROR_OPTION, "built_in is neither 0 nor 1");
                    return ptr::null_mut();
                }
            };
            let registry = UnsafeCell::new(registry);
            Box::into_raw(Box::new(aside_registry { state: AtomicI32::new(READY), registry }))
        },
    )
}

/// Frees a registry that no compressor has taken. NULL is left alone.
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_registry_free(registry: *mut aside_registry) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(registry, |registry| registry.state.load(Relaxed) == BUSY) }
}

/// Changes a registry.
///
/// # Safety
/// `registry` is NULL or there.
unsafe fn change(registry: *mut aside_registry, body: impl FnOnce(&mut Registry) -> aside_status) -> aside_status {
    // SAFETY: the caller's promise; only through `admit` is the registry used.
    unsafe {
        match registry.as_ref() {
            Some(registry) => admit(&registry.state, &registry.registry, is_ready, body),
            None => fail_null("registry"),
        }
    }
}

/// A filter file's text.
///
/// # Safety
/// As of `bytes`.
unsafe fn filter_file<'a>(toml: *const c_char, len: size_t) -> Result<&'a str, aside_status> {
    // SAFETY: the caller's promise.
    let toml = unsafe { bytes(toml, len, "toml") }?;
    std::str::from_utf8(toml).map_err(|error| {
        let line = 1 + toml[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        fail_with(ASIDE_ERROR_FILTER, format_args!("line {line}: not UTF-8"))
    })
}

/// Adds a filter from the text of a filter file (TOML, UTF-8). One of the same id makes place for it. Its tests are read, not
/// run: `aside_filter_check()`.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_FILTER` with a message that names line and key; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`,
/// `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one registry.
#[ffi_export]
pub unsafe extern "C" fn aside_registry_add_toml(
    registry: *mut aside_registry,
    toml: *const c_char,
    len: size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, and a registry that is NULL or there.
    unsafe {
        match filter_file(toml, len) {
            Ok(toml) => change(registry, |registry| match registry.add_toml(toml) {
                Ok(()) => ASIDE_OK,
                Err(error) => fail_with(ASIDE_ERROR_FILTER, error),
            }),
            Err(status) => status,
        }
    }
}

/// Adds a host's filter. One of the same id makes place for it. `*filter` and the texts that it leads to are not used after
/// the call; the callbacks and `user` are, until `release` is called.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for a text that is not UTF-8 or no id; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`. After a failure `release` is not called.
///
/// Threads: one at a time for one registry.
#[ffi_export]
pub unsafe extern "C" fn aside_registry_add_filter(
    registry: *mut aside_registry,
    filter: *const aside_filter,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises a struct as large as it says, texts that are there, and a registry that is NULL
            // or there.
            unsafe {
                let host = match read_sized(filter, size_of::<aside_filter>(), "filter") {
                    Ok(host) => host,
                    Err(status) => return status,
                };
                let Some(apply) = host.apply else { return fail_null("filter->apply") };
                let tool_ids = match texts(host.tool_ids, host.tool_id_count, "filter->tool_ids") {
                    Ok(ids) => ids.into_iter().map(str::to_owned).collect(),
                    Err(status) => return status,
                };
                let id = match id(host.id) {
                    Ok(id) => id,
                    Err(status) => return status,
                };
                change(registry, |registry| {
                    let owner = Owner { user: host.user, release: host.release };
                    registry.add_filter(Box::new(HostFilter { id, tool_ids, matches: host.matches, apply, owner }));
                    ASIDE_OK
                })
            }
        },
    )
}

/// Adds a host's cache. One of the same id makes place for it. What is used after the call, and what is returned: as of
/// `aside_registry_add_filter()`.
///
/// Threads: one at a time for one registry.
#[ffi_export]
pub unsafe extern "C" fn aside_registry_add_cache(
    registry: *mut aside_registry,
    cache: *const aside_cache,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises a struct as large as it says, texts that are there, and a registry that is NULL
            // or there.
            unsafe {
                let host = match read_sized(cache, size_of::<aside_cache>(), "cache") {
                    Ok(host) => host,
                    Err(status) => return status,
                };
                let (Some(lookup), Some(record)) = (host.lookup, host.record) else {
                    return fail_null("cache->lookup or cache->record");
                };
                let tool_ids = match texts(host.tool_ids, host.tool_id_count, "cache->tool_ids") {
                    Ok(ids) => ids.into_iter().map(str::to_owned).collect(),
                    Err(status) => return status,
                };
                let id = match id(host.id) {
                    Ok(id) => id,
                    Err(status) => return status,
                };
                change(registry, |registry| {
                    let owner = Owner { user: host.user, release: host.release };
                    let observe = host.observe;
                    registry.add_cache(Box::new(HostCache { id, tool_ids, observe, lookup, record, owner }));
                    ASIDE_OK
                })
            }
        },
    )
}

/// Adds the library's own cache, `last-run`: the last result of each call, in at most `size` bytes.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one registry.
#[ffi_export]
pub unsafe extern "C" fn aside_registry_add_last_run(registry: *mut aside_registry, size: size_t) -> aside_status {
    // SAFETY: the caller promises a registry that is NULL or there.
    unsafe {
        change(registry, |registry| {
            registry.add_cache(Box::new(LastRun::new(size)));
            ASIDE_OK
        })
    }
}

/// Adds the filter `minify-json`, the only one for text that is protected.
///
/// Returns as `aside_registry_add_last_run()`.
///
/// Threads: one at a time for one registry.
#[ffi_export]
pub unsafe extern "C" fn aside_registry_minify_json(registry: *mut aside_registry) -> aside_status {
    // SAFETY: the caller promises a registry that is NULL or there.
    unsafe {
        change(registry, |registry| {
            registry.minify_json();
            ASIDE_OK
        })
    }
}

/// Takes out the filter or cache of this id.
///
/// Returns `ASIDE_OK`; `ASIDE_NONE` where there is none; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION`,
/// `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one registry.
#[ffi_export]
pub unsafe extern "C" fn aside_registry_remove(
    registry: *mut aside_registry,
    id: *const c_char,
    len: size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, and a registry that is NULL or there.
    unsafe {
        match text(aside_bytes { at: id, len }, "id") {
            Ok(id) => change(registry, |registry| if registry.remove(id) { ASIDE_OK } else { ASIDE_NONE }),
            Err(status) => status,
        }
    }
}

/// Reads a filter file and runs its own tests, of which it must have one of each kind.
///
/// Returns as `aside_registry_add_toml()`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_filter_check(toml: *const c_char, len: size_t) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises `len` bytes.
            match unsafe { filter_file(toml, len) } {
                Ok(toml) => match check_filter(toml) {
                    Ok(()) => ASIDE_OK,
                    Err(error) => fail_with(ASIDE_ERROR_FILTER, error),
                },
                Err(status) => status,
            }
        },
    )
}

/// Appends to what a callback says: the shorter text, the recorded text, or the reason of a failure.
///
/// Returns `ASIDE_OK`, `ASIDE_ERROR_NULL` or `ASIDE_ERROR_LENGTH`.
///
/// Threads: the one in which the callback runs.
#[ffi_export]
pub unsafe extern "C" fn aside_reply_write(reply: *mut aside_reply, buf: *const c_char, len: size_t) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises `len` bytes, and a reply that is NULL or there; nobody else uses it now.
            unsafe {
                match (reply.as_mut(), bytes(buf, len, "buf")) {
                    (None, _) => fail_null("reply"),
                    (_, Err(status)) => status,
                    (Some(reply), Ok(buf)) => {
                        reply.text.extend_from_slice(buf);
                        ASIDE_OK
                    }
                }
            }
        },
    )
}

/// == Tool results: one call ==
///
/// Makes a compressor of a registry, which it takes over: `registry` must not be used any more, nor freed. `options` may be
/// NULL: no budget.
///
/// Returns a compressor that the caller owns: `aside_compressor_free()`. NULL where that fails, and the registry is still
/// the caller's; `aside_last_status()` is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`,
/// `ASIDE_ERROR_BUSY` or `ASIDE_ERROR_OPTION` (a budget that is too small, or a sentence that is not UTF-8).
///
/// Threads: no other thread may be using the registry.
#[ffi_export]
pub unsafe extern "C" fn aside_compressor_new(
    registry: *mut aside_registry,
    options: *const aside_compressor_options,
) -> *mut aside_compressor {
    guard(
        |_| ptr::null_mut(),
        || {
            if registry.is_null() {
                fail_null("registry");
                return ptr::null_mut();
            }
            let mut budget = 0;
            let mut switch_off = "";
            // SAFETY: the caller promises a struct as large as it says, and texts that are there.
            unsafe {
                if !options.is_null() {
                    let Ok(options) = read_sized(options, size_of::<aside_compressor_options>(), "options") else {
                        return ptr::null_mut();
                    };
                    budget = usize::try_from(options.budget).unwrap_or(usize::MAX);
                    let Ok(sentence) = text(options.switch_off, "options.switch_off") else { return ptr::null_mut() };
                    switch_off = sentence;
                }
                if budget != 0 && budget < MIN_BUDGET {
                    fail_with(ASIDE_ERROR_OPTION, format_args!("options.budget is below {MIN_BUDGET}"));
                    return ptr::null_mut();
                }
                let state = (*registry).state.load(Relaxed);
                if !is_ready(state) {
                    fail(if state == BUSY { ASIDE_ERROR_BUSY } else { state });
                    return ptr::null_mut();
                }
            }
            // SAFETY: it came from a Box, no call is inside, and the caller promises that this is its last use.
            let registry = unsafe { Box::from_raw(registry) }.registry.into_inner();
            let mut compressor = Compressor::new(registry);
            if budget > 0 {
                compressor = compressor.with_budget(budget).expect("it is large enough");
            }
            if !switch_off.is_empty() {
                compressor = compressor.with_switch_off(switch_off);
            }
            Box::into_raw(Box::new(aside_compressor { compressor: Arc::new(compressor) }))
        },
    )
}

/// Frees a compressor. NULL is left alone. Streams that were made from it go on.
///
/// Inside a callback of its filters and caches nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_compressor_free(compressor: *mut aside_compressor) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(compressor, |compressor| is_inside(&compressor.compressor)) }
}

/// What the caller says of a call.
struct Called<'a> {
    tool_id: &'a str,
    input: Input,
    now: u64,
}

/// # Safety
/// `call` is NULL or as large as it says, with texts that are there.
unsafe fn called<'a>(call: *const aside_call) -> Result<Called<'a>, aside_status> {
    // SAFETY: the caller's promise.
    unsafe {
        let call = read_sized(call, size_of::<aside_call>(), "call")?;
        let tool_id = text(call.tool_id, "call->tool_id")?;
        let json = text(call.input, "call->input")?;
        let input = Input::from_json(if json.is_empty() { "null" } else { json })
            .map_err(|error| fail_with(ASIDE_ERROR_OPTION, format_args!("call->input: {error}")))?;
        Ok(Called { tool_id, input, now: call.now })
    }
}

/// Compresses the parts of one tool's result: `count` texts, in order. A part whose `at` is NULL is something else than text
/// and passed over. Neither `*call` nor the parts are used after the call.
///
/// `*out` becomes the outcome of each part, and a report, which the caller owns: `aside_compressed_free()`. It is written on
/// success only. What filters and caches fail in stands in the report and is no failure of the call.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for an id that is not UTF-8 or an input that is not JSON; `ASIDE_ERROR_BUSY`
/// inside a callback of the same compressor; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`,
/// `ASIDE_ERROR_PANIC`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_compress(
    compressor: *const aside_compressor,
    call: *const aside_call,
    parts: *const aside_bytes,
    count: size_t,
    out: *mut *mut aside_compressed,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises a compressor that is NULL or there, a struct as large as it says, and texts
            // that are there.
            unsafe {
                let Some(compressor) = compressor.as_ref() else { return fail_null("compressor") };
                if out.is_null() {
                    return fail_null("out");
                }
                let called = match called(call) {
                    Ok(called) => called,
                    Err(status) => return status,
                };
                let part = |part: aside_bytes| match part.at.is_null() {
                    true if part.len == 0 => Ok(Part::Other),
                    _ => bytes(part.at, part.len, "a part").map(Part::Text),
                };
                let parts: Vec<Part<'_>> =
                    match array(parts, count, "parts").and_then(|parts| parts.map(part).collect()) {
                        Ok(parts) => parts,
                        Err(status) => return status,
                    };
                inside(&compressor.compressor, || {
                    let call = Call { tool_id: called.tool_id, input: &called.input, now: called.now };
                    let compressed = compressor.compressor.compress(&call, &parts);
                    out.write_unaligned(Box::into_raw(Box::new(aside_compressed::new(compressed))));
                    ASIDE_OK
                })
            }
        },
    )
}

impl aside_compressed {
    fn new(compressed: Compressed) -> aside_compressed {
        let report = &compressed.report;
        let stretches: Vec<Vec<aside_stretch>> = report
            .parts
            .iter()
            .map(|part| {
                let stretch = |stretch: &crate::compress::Stretch| aside_stretch {
                    start: stretch.range.start as u64,
                    len: stretch.range.len() as u64,
                    hash: stretch.hash,
                    change: stretch.change as u32,
                    filter: stretch.filter.map_or(ASIDE_NO_FILTER, |filter| filter as u32),
                };
                part.stretches.iter().map(stretch).collect()
            })
            .collect();
        let part = |(part, stretches): (&crate::compress::PartReport, &Vec<aside_stretch>)| aside_part_report {
            part: part.part,
            len: part.length as u64,
            hash: part.hash,
            stretches: stretches.as_ptr(),
            stretch_count: stretches.len(),
        };
        let failed = |failed: &crate::compress::Failed| aside_failed {
            id: shown(failed.filter.as_bytes()),
            reason: shown(failed.reason.as_bytes()),
        };
        let lent = Lent {
            filters: report.filters.iter().map(|id| shown(id.as_bytes())).collect(),
            failed: report.failed.iter().map(failed).collect(),
            parts: report.parts.iter().zip(&stretches).map(part).collect(),
            _stretches: stretches,
        };
        aside_compressed { compressed, lent }
    }
}

/// What becomes of the part number `index`. `*text` and `*len` are written where it changes: memory of `compressed`, good as
/// long as that is, without a NUL at its end. A length of 0 says that the part goes, because another says what it said.
///
/// Returns `ASIDE_OK` where the part changes; `ASIDE_NONE` where it stays as it is; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_compressed_part(
    compressed: *const aside_compressed,
    index: size_t,
    text: *mut *const c_char,
    len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises that it is NULL or there.
    let Some(compressed) = (unsafe { compressed.as_ref() }) else { return fail_null("compressed") };
    if text.is_null() || len.is_null() {
        return fail_null("text or len");
    }
    let result: &[u8] = match compressed.compressed.parts.get(index) {
        None => return fail(ASIDE_ERROR_RANGE),
        Some(Outcome::Same) => return ASIDE_NONE,
        Some(Outcome::Text(result)) => result,
        Some(Outcome::Gone) => &[],
    };
    // SAFETY: neither is NULL, and the caller promises that they may be written.
    unsafe {
        text.write_unaligned(lend(result));
        len.write_unaligned(result.len());
    }
    ASIDE_OK
}

/// What was done: fills `*report`, whose `size` is set before.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_compressed_report(
    compressed: *const aside_compressed,
    report: *mut aside_report,
) -> aside_status {
    // SAFETY: the caller promises that it is NULL or there.
    let Some(aside_compressed { compressed, lent }) = (unsafe { compressed.as_ref() }) else {
        return fail_null("compressed");
    };
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_to_fill(report, "report") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    let filled = aside_report {
        size,
        before: compressed.report.before as u64,
        after: compressed.report.after as u64,
        filters: lent.filters.as_ptr(),
        filter_count: lent.filters.len(),
        failed: lent.failed.as_ptr(),
        failed_count: lent.failed.len(),
        parts: lent.parts.as_ptr(),
        part_count: lent.parts.len(),
        hit: shown(compressed.report.hit.as_deref().unwrap_or_default().as_bytes()),
        cut_protected: compressed.report.cut_protected.into(),
        reserved: 0,
    };
    // SAFETY: it is as large as its size says.
    unsafe { fill_sized(report, size, filled) };
    ASIDE_OK
}

/// `len` bytes at `start` of a part's original, to give back what was left out. `original` is the text of the part number
/// `part` as it came in: `original_len` bytes. `*out` becomes a pointer into it.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORIGINAL` where this is another text, or no filter changed that part;
/// `ASIDE_ERROR_RANGE`, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_compressed_slice(
    compressed: *const aside_compressed,
    part: size_t,
    original: *const c_char,
    original_len: size_t,
    start: u64,
    len: u64,
    out: *mut *const c_char,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises that it is NULL or there, and the original's bytes.
            let (compressed, original) = unsafe {
                match (compressed.as_ref(), bytes(original, original_len, "original")) {
                    (None, _) => return fail_null("compressed"),
                    (_, Err(status)) => return status,
                    (Some(compressed), Ok(original)) => (compressed, original),
                }
            };
            if out.is_null() {
                return fail_null("out");
            }
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            let range = place(start)..place(start.saturating_add(len));
            match compressed.compressed.report.slice(part, original, range) {
                Ok(slice) => {
                    // SAFETY: not NULL, and the caller promises that it may be written.
                    unsafe { out.write_unaligned(lend(slice)) };
                    ASIDE_OK
                }
                Err(SliceError::OtherOriginal) => fail(ASIDE_ERROR_ORIGINAL),
                Err(SliceError::OutOfRange) => fail_with(ASIDE_ERROR_RANGE, SliceError::OutOfRange),
            }
        },
    )
}

/// Frees what came out of a call, and all that it lent. NULL is left alone.
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_compressed_free(compressed: *mut aside_compressed) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(compressed, |_| false) }
}

/// Whether a text is of a machine format and so passes untouched: 1 or 0; a status below 0 where `text` cannot be read.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_is_protected(text: *const c_char, len: size_t) -> i32 {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises `len` bytes.
            match unsafe { bytes(text, len, "text") } {
                Ok(text) => is_protected(text).into(),
                Err(status) => status,
            }
        },
    )
}

/// The line that a compressed text begins with, without a line end: by which filters, from how many UTF-16 code units to how
/// many.
///
/// `*out` becomes memory from `malloc()` that the caller frees with `free()`: `*out_len` bytes and a NUL behind them. Both are
/// written on success only.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` (an id that is not UTF-8),
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_format_banner(
    filter_ids: *const aside_bytes,
    count: size_t,
    before: u64,
    after: u64,
    out: *mut *mut c_char,
    out_len: *mut size_t,
) -> aside_status {
    guard(
        |status| status,
        || {
            if out.is_null() || out_len.is_null() {
                return fail_null("out or out_len");
            }
            // SAFETY: the caller promises ids that are there, and outputs that may be written.
            unsafe {
                let ids = match texts(filter_ids, count, "filter_ids") {
                    Ok(ids) => ids,
                    Err(status) => return status,
                };
                let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                let banner = format_banner(&ids, number(before), number(after));
                give(banner.as_bytes(), out, out_len)
            }
        },
    )
}

/// == Tool results: command lines ==
///
/// Takes a command line apart as a shell would, for hosts that choose filters by it as the library does. Nothing is run.
/// `line` has `len` bytes of UTF-8.
///
/// Returns the commands, which the caller owns: `aside_command_line_free()`. NULL where that fails; `aside_last_status()` is
/// then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH` or `ASIDE_ERROR_OPTION` (not UTF-8).
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_command_line_parse(line: *const c_char, len: size_t) -> *mut aside_command_line {
    guard(
        |_| ptr::null_mut(),
        || {
            // SAFETY: the caller promises `len` bytes.
            match unsafe { text(aside_bytes { at: line, len }, "line") } {
                Ok(line) => Box::into_raw(Box::new(aside_command_line::new(line))),
                Err(_) => ptr::null_mut(),
            }
        },
    )
}

impl aside_command_line {
    fn new(line: &str) -> aside_command_line {
        let runs = Invocation::all(line).unwrap_or_default();
        let words: Vec<Vec<aside_bytes>> =
            runs.iter().map(|run| run.words().iter().map(|word| shown(word.as_bytes())).collect()).collect();
        let command = |(run, words): (&Invocation, &Vec<aside_bytes>)| aside_command {
            name: shown(run.command().as_bytes()),
            subcommand: shown(run.subcommand().unwrap_or_default().as_bytes()),
            words: words.as_ptr(),
            word_count: words.len(),
            prints: run.prints().into(),
            piped: run.is_piped().into(),
        };
        let commands = runs.iter().zip(&words).map(command).collect();
        aside_command_line { _runs: runs, _words: words, commands }
    }
}

/// The commands of a line, in their order; for a shell with `-c` those that it runs. Wrappers (`sudo`, `timeout`, `npx` …),
/// assignments and redirections are not among them. None where the line is better left alone: with `case`, or with shells in
/// shells more than eight deep.
///
/// Returns the first of `*count` commands: memory of `line`, good as long as that is. NULL where `line` or `count` is.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_command_line_commands(
    line: *const aside_command_line,
    count: *mut size_t,
) -> *const aside_command {
    // SAFETY: the caller promises that it is NULL or there.
    let line = unsafe { line.as_ref() };
    let (Some(line), false) = (line, count.is_null()) else {
        fail_null("line or count");
        return ptr::null();
    };
    // SAFETY: not NULL, and the caller promises that it may be written.
    unsafe { count.write_unaligned(line.commands.len()) };
    line.commands.as_ptr()
}

/// Frees a command line and the commands that it lent. NULL is left alone.
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_command_line_free(line: *mut aside_command_line) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(line, |_| false) }
}

/// == Tool results: as they come ==
///
/// Makes a stream for one tool's output, with `memory` bytes for it: at least four times the budget, and at least 4,096. While
/// the text fits into that, the result is that of one call, without a banner, and comes at the end. A longer text without
/// a budget comes out as it goes, less its repeats; with one it comes at the end: head, tail and error regions.
///
/// Returns a stream that the caller owns: `aside_tool_stream_free()`. NULL where that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_OPTION` (too little memory, an id that is not UTF-8, an input that is not JSON), `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_SIZE` or `ASIDE_ERROR_LENGTH`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_new(
    compressor: *const aside_compressor,
    call: *const aside_call,
    memory: size_t,
) -> *mut aside_tool_stream {
    guard(
        |_| ptr::null_mut(),
        || {
            // SAFETY: the caller promises a compressor that is NULL or there, and a struct as large as it says with texts
            // that are there.
            let (compressor, called) = unsafe {
                let Some(compressor) = compressor.as_ref() else {
                    fail_null("compressor");
                    return ptr::null_mut();
                };
                let Ok(called) = called(call) else { return ptr::null_mut() };
                (compressor.compressor.clone(), called)
            };
            match Stream::new(compressor.clone(), called.tool_id, called.input, memory) {
                Ok(stream) => {
                    let streaming = Streaming { compressor, stream: Some(stream), out: Vec::new() };
                    let streaming = UnsafeCell::new(streaming);
                    Box::into_raw(Box::new(aside_tool_stream { state: AtomicI32::new(READY), streaming }))
                }
                Err(error) => {
                    fail_with(ASIDE_ERROR_OPTION, error);
                    ptr::null_mut()
                }
            }
        },
    )
}

/// Frees a stream. NULL is left alone. Inside a callback of a filter that it has called nothing is freed
/// (`aside_last_status()` is then `ASIDE_ERROR_BUSY`).
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_free(stream: *mut aside_tool_stream) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(stream, |stream| stream.state.load(Relaxed) == BUSY) }
}

/// Runs `body` with a stream that is not finished, and lends what it put out.
///
/// # Safety
/// `stream` is NULL or there; the outputs are NULL or may be written.
unsafe fn streaming(
    stream: *mut aside_tool_stream,
    out: *mut *const c_char,
    out_len: *mut size_t,
    body: impl FnOnce(&mut Option<Stream>, &mut Vec<u8>),
) -> aside_status {
    if out.is_null() || out_len.is_null() {
        return fail_null("out or out_len");
    }
    // SAFETY: the caller's promise; only through `admit` is the stream used.
    unsafe {
        let Some(handle) = stream.as_ref() else { return fail_null("stream") };
        admit(&handle.state, &handle.streaming, is_ready, |streaming| {
            let Streaming { compressor, stream, out: text } = streaming;
            if stream.is_none() {
                return fail_with(ASIDE_ERROR_ORDER, "the stream is finished");
            }
            inside(compressor, || {
                text.clear();
                body(stream, text);
                out.write_unaligned(lend(text));
                out_len.write_unaligned(text.len());
                ASIDE_OK
            })
        })
    }
}

/// Takes the next `len` bytes of the output, cut anywhere. `*out` becomes what is decided, `*out_len` bytes, often none:
/// memory of the stream, good until its next call. `buf` is not used after the call.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` after the end; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`,
/// `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one stream.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_feed(
    stream: *mut aside_tool_stream,
    buf: *const c_char,
    len: size_t,
    out: *mut *const c_char,
    out_len: *mut size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a stream that is NULL or there, and outputs that may be written.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => streaming(stream, out, out_len, |stream, text| {
                if let Some(stream) = stream {
                    stream.feed(chunk, |bytes| text.extend_from_slice(bytes));
                }
            }),
            Err(status) => status,
        }
    }
}

/// Ends the output. `*out` becomes the rest of the result, as of `aside_tool_stream_feed()`. `*report` becomes what was done,
/// without parts of its own: `aside_compressed_report()`, `aside_compressed_slice()`, `aside_compressed_free()`; `report` may
/// be NULL. The stream takes no more text then.
///
/// Returns as `aside_tool_stream_feed()`.
///
/// Threads: one at a time for one stream.
#[ffi_export]
pub unsafe extern "C" fn aside_tool_stream_finish(
    stream: *mut aside_tool_stream,
    out: *mut *const c_char,
    out_len: *mut size_t,
    report: *mut *mut aside_compressed,
) -> aside_status {
    let mut said = Report::default();
    // SAFETY: the caller promises a stream that is NULL or there, and outputs that may be written.
    unsafe {
        let status = streaming(stream, out, out_len, |stream, text| {
            if let Some(stream) = stream.take() {
                said = stream.finish(|bytes| text.extend_from_slice(bytes));
            }
        });
        if status == ASIDE_OK && !report.is_null() {
            let compressed = aside_compressed::new(Compressed { parts: Vec::new(), report: said });
            report.write_unaligned(Box::into_raw(Box::new(compressed)));
        }
        status
    }
}
