//! Filters and caches of the host. Their callbacks run in any thread, and may fail but never unwind.

use std::fmt::Display;
use std::mem::offset_of;

use libc::{c_char, c_void, size_t};

use super::types::aside_invocation;
use super::{text, texts};
use crate::compress::{Cache, Filter, Filtered, Hit, Invocation};
use crate::ffi::bytes::aside_bytes;
use crate::ffi::constants::*;
use crate::ffi::memory::{Versioned, as_c_ptr, bytes, layout};
use crate::ffi::status::{fail_null, fail_with, guard};

/// The reply of a host's callback, in addition to its return value: write it with `aside_reply_write()`. It belongs to the
/// library and is valid until the callback returns.
pub struct aside_reply {
    text: Vec<u8>,
}

/// Decides whether a host's filter is for the result of an invocation: return 1 or 0; below 0 for a failure, as for `apply`. In
/// each of these callbacks, `*invocation` is valid until the callback returns.
pub type aside_matches_fn = Option<
    unsafe extern "C" fn(user: *mut c_void, invocation: *const aside_invocation, reply: *mut aside_reply) -> i32,
>;

/// Makes a text shorter. Return 1 with the shorter text in `reply`; 0 if there is nothing to do; below 0 for a failure,
/// with its reason in `reply`: the report has the reason, and the other filters are still used.
pub type aside_apply_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        invocation: *const aside_invocation,
        text: *const c_char,
        text_len: size_t,
        reply: *mut aside_reply,
    ) -> i32,
>;

/// Called with every invocation of a cache's tools, before any cache looks it up. Return 0; below 0 for a failure, with its reason
/// in `reply`.
pub type aside_observe_fn = Option<
    unsafe extern "C" fn(user: *mut c_void, invocation: *const aside_invocation, reply: *mut aside_reply) -> i32,
>;

/// Looks up the recorded result of an invocation. Return 1 with its raw text in `reply` and its time in `*timestamp`, in
/// seconds since 1970; 0 if there is none; below 0 for a failure, with its reason in `reply`.
pub type aside_lookup_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        invocation: *const aside_invocation,
        reply: *mut aside_reply,
        timestamp: *mut u64,
    ) -> i32,
>;

/// Records the result of an invocation: its raw text parts, joined with line feeds. Return 0; below 0 for a failure, with
/// its reason in `reply`.
pub type aside_record_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        invocation: *const aside_invocation,
        text: *const c_char,
        text_len: size_t,
        reply: *mut aside_reply,
    ) -> i32,
>;

/// Counts the tokens of a text, for a budget in tokens. Return the number; below 0 for a failure, with its reason in `reply`. Runs
/// in the threads that compress, several at the same time if the host does so. No C++ exception and no `longjmp` may leave it.
pub type aside_count_fn = Option<
    unsafe extern "C" fn(user: *mut c_void, text: *const c_char, text_len: size_t, reply: *mut aside_reply) -> i64,
>;

/// Called once, when `user` is no longer needed: in the thread that frees the last object with it. It must not use the object that
/// is being freed.
pub type aside_release_fn = Option<unsafe extern "C" fn(user: *mut c_void)>;

/// A filter of the host. Set all of it to zero, then `size`; later versions may add fields at the end. The only promise of a
/// filter is that a compressed text is shorter, which is checked. Its callbacks run in the threads that compress, several at the
/// same time if the host does so. They may use the library, except for the compressor that called them, which returns
/// `ASIDE_ERROR_BUSY`. No C++ exception and no `longjmp` may leave them, and no thread may end inside them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_filter {
    /// `sizeof(aside_filter)` of the caller's header.
    pub size: size_t,
    /// The name of the filter in banners and reports: UTF-8 without control characters, at least one byte.
    pub id: aside_bytes,
    /// Ids of the tools whose results it is for.
    pub tool_ids: *const aside_bytes,
    /// The number of ids. 0: all tools.
    pub tool_id_count: size_t,
    /// Decides whether the filter is for the result of an invocation. NULL: always.
    pub matches: aside_matches_fn,
    /// Makes a text shorter. Not NULL.
    pub apply: aside_apply_fn,
    /// May be NULL.
    pub release: aside_release_fn,
    /// Passed to each callback.
    pub user: *mut c_void,
}

impl Versioned for aside_filter {
    const FIRST: usize = offset_of!(aside_filter, user) + size_of::<*mut c_void>();
}

/// A cache of the host: it remembers results. A recorded result is used only if its text equals the fresh text. Set all of it to
/// zero, then `size`; later versions may add fields at the end. The rules of `aside_filter` for callbacks apply here too.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_cache {
    /// `sizeof(aside_cache)` of the caller's header.
    pub size: size_t,
    /// The name of the cache in reports, with the same rules as for a filter.
    pub id: aside_bytes,
    /// Ids of the tools whose results it is for.
    pub tool_ids: *const aside_bytes,
    /// The number of ids. 0: all tools.
    pub tool_id_count: size_t,
    /// Called with every invocation. May be NULL.
    pub observe: aside_observe_fn,
    /// Returns a recorded result. Not NULL.
    pub lookup: aside_lookup_fn,
    /// Records a result. Not NULL.
    pub record: aside_record_fn,
    /// May be NULL.
    pub release: aside_release_fn,
    /// Passed to each callback.
    pub user: *mut c_void,
}

impl Versioned for aside_cache {
    const FIRST: usize = offset_of!(aside_cache, user) + size_of::<*mut c_void>();
}

// No layout ever changes; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_filter 72: size 0, id 8, tool_ids 24, tool_id_count 32, matches 40, apply 48, release 56, user 64);
    layout!(aside_cache 80: size 0, id 8, tool_ids 24, tool_id_count 32, observe 40, lookup 48, record 56,
        release 64, user 72);
    assert!(aside_filter::FIRST == 72);
    assert!(aside_cache::FIRST == 80);
};

/// Reads the name of a host's filter or cache, and the ids of the tools whose results it is for. `what` is the word for the object in
/// error messages. The name is shown in banners, so it must be one line.
///
/// # Safety
/// The same as for `bytes` and `texts`.
pub(super) unsafe fn ids(
    id: aside_bytes,
    tool_ids: *const aside_bytes,
    count: usize,
    what: &str,
) -> Result<(String, Vec<String>), aside_status> {
    // SAFETY: the caller meets this function's conditions.
    let (tool_ids, id) = unsafe { (texts(tool_ids, count, what)?, text(id, "id")?) };
    if id.is_empty() || id.chars().any(char::is_control) {
        return Err(fail_with(ASIDE_ERROR_OPTION, "an id has at least one character, and no control characters"));
    }
    Ok((id.to_owned(), tool_ids.into_iter().map(str::to_owned).collect()))
}

/// The host's pointer that all its callbacks get.
pub(super) struct Owner {
    pub(super) user: *mut c_void,
    pub(super) release: aside_release_fn,
}

// SAFETY: the header says that callbacks run in any thread, so the data that `user` points to must allow it.
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

type Apply = unsafe extern "C" fn(*mut c_void, *const aside_invocation, *const c_char, size_t, *mut aside_reply) -> i32;
type Lookup = unsafe extern "C" fn(*mut c_void, *const aside_invocation, *mut aside_reply, *mut u64) -> i32;
type Record = Apply;
type CountTokens = unsafe extern "C" fn(*mut c_void, *const c_char, size_t, *mut aside_reply) -> i64;

/// A filter of the host.
pub(super) struct HostFilter {
    pub(super) id: String,
    pub(super) tool_ids: Vec<String>,
    pub(super) matches: aside_matches_fn,
    pub(super) apply: Apply,
    pub(super) owner: Owner,
}

/// A cache of the host.
pub(super) struct HostCache {
    pub(super) id: String,
    pub(super) tool_ids: Vec<String>,
    pub(super) observe: aside_observe_fn,
    pub(super) lookup: Lookup,
    pub(super) record: Record,
    pub(super) owner: Owner,
}

/// Returns an invocation in C's form; its texts stay borrowed.
fn lend(invocation: &Invocation<'_>) -> aside_invocation {
    aside_invocation {
        size: size_of::<aside_invocation>(),
        tool_id: aside_bytes::lend(invocation.tool_id.as_bytes()),
        input: aside_bytes::lend(invocation.input.json().as_bytes()),
        now: invocation.now,
    }
}

/// A function of the host that counts tokens.
pub(super) struct HostCount {
    pub(super) count: CountTokens,
    pub(super) owner: Owner,
}

impl HostCount {
    pub(super) fn count(&self, text: &[u8]) -> Result<usize, String> {
        // SAFETY: the host's own function with the host's own pointer; its arguments outlive the call.
        let (count, _) = answer(|reply| unsafe { (self.count)(self.owner.user, as_c_ptr(text), text.len(), reply) })?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }
}

/// Calls a callback, and returns its number and its reply. Below 0 it failed, and the reply is the reason.
fn answer<T: Copy + Default + Display + PartialOrd>(
    callback: impl FnOnce(*mut aside_reply) -> T,
) -> Result<(T, Vec<u8>), String> {
    let mut reply = aside_reply { text: Vec::new() };
    let code = callback(&raw mut reply);
    match reply.text {
        text if code >= T::default() => Ok((code, text)),
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

    fn matches(&self, invocation: &Invocation<'_>) -> Result<bool, String> {
        let Some(matches) = self.matches else { return Ok(true) };
        let lent = lend(invocation);
        // SAFETY: the host's own function with the host's own pointer; its arguments outlive the call.
        let (code, _) = answer(|reply| unsafe { matches(self.owner.user, &raw const lent, reply) })?;
        Ok(code > 0)
    }

    fn apply(&self, text: &[u8], invocation: &Invocation<'_>) -> Result<Filtered, String> {
        let lent = lend(invocation);
        // SAFETY: the host's own function with the host's own pointer; its arguments outlive the call.
        let (code, text) = answer(|reply| unsafe {
            (self.apply)(self.owner.user, &raw const lent, as_c_ptr(text), text.len(), reply)
        })?;
        Ok(Filtered { text, compressed: code > 0 })
    }
}

impl Cache for HostCache {
    fn id(&self) -> &str {
        &self.id
    }

    fn tool_ids(&self) -> &[String] {
        &self.tool_ids
    }

    fn observe(&self, invocation: &Invocation<'_>) -> Result<(), String> {
        let Some(observe) = self.observe else { return Ok(()) };
        let lent = lend(invocation);
        // SAFETY: the host's own function with the host's own pointer; its arguments outlive the call.
        answer(|reply| unsafe { observe(self.owner.user, &raw const lent, reply) })?;
        Ok(())
    }

    fn lookup(&self, invocation: &Invocation<'_>) -> Result<Option<Hit>, String> {
        let (lent, mut timestamp) = (lend(invocation), 0);
        // SAFETY: the host's own function with the host's own pointer; its arguments outlive the call.
        let (code, text) =
            answer(|reply| unsafe { (self.lookup)(self.owner.user, &raw const lent, reply, &raw mut timestamp) })?;
        Ok((code > 0).then_some(Hit { text, timestamp }))
    }

    fn record(&self, invocation: &Invocation<'_>, text: &[u8]) -> Result<(), String> {
        let lent = lend(invocation);
        // SAFETY: the host's own function with the host's own pointer; its arguments outlive the call.
        answer(|reply| unsafe { (self.record)(self.owner.user, &raw const lent, as_c_ptr(text), text.len(), reply) })?;
        Ok(())
    }
}

/// Appends to a callback's reply: the shorter text, the recorded text, or the reason of a failure.
///
/// Returns `ASIDE_OK`, `ASIDE_ERROR_NULL` or `ASIDE_ERROR_LENGTH`.
///
/// Threads: only the thread in which the callback runs may call this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_reply_write(reply: *mut aside_reply, buf: *const c_char, len: size_t) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises `len` bytes, and a reply that is NULL or valid; no other thread uses the reply.
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
