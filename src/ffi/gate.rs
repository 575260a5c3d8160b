//! Who may go into a handle: one call at a time, and none after a failure that lasts.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::status::{fail, fail_panic};
use super::types::*;

/// A handle's state: nobody is inside, and all is well.
pub(super) const READY: i32 = 0;
/// A handle's state: a call is under way.
pub(super) const BUSY: i32 = 1;

/// Runs `body` as the only call inside a handle, if `may` likes the state that it is in.
///
/// # Safety
/// What is in `inner` is used by calls that `state` admitted, and by nobody else.
#[inline]
pub(super) unsafe fn admit<T>(
    state: &AtomicI32,
    inner: &UnsafeCell<T>,
    may: impl FnOnce(i32) -> bool,
    body: impl FnOnce(&mut T) -> aside_status,
) -> aside_status {
    let before = state.load(Relaxed);
    if !may(before) {
        return fail(if before == BUSY { ASIDE_ERROR_BUSY } else { before });
    }
    state.store(BUSY, Relaxed);
    // SAFETY: the state was not BUSY, so no call is inside, and it is BUSY until this one ends.
    let inner = unsafe { &mut *inner.get() };
    let status = catch_unwind(AssertUnwindSafe(|| body(inner))).unwrap_or_else(fail_panic);
    let lasts = status == ASIDE_ERROR_PANIC || status == ASIDE_ERROR_MEMORY;
    state.store(if lasts { status } else { before }, Relaxed);
    status
}

/// For whoever frees a handle: whether a call is inside. If none is, none comes in any more, from what is released with the
/// handle either.
pub(super) fn close(state: &AtomicI32) -> bool {
    let is_busy = state.load(Relaxed) == BUSY;
    if !is_busy {
        state.store(BUSY, Relaxed);
    }
    is_busy
}

/// For calls that feed: no error may be left.
#[inline]
pub(super) fn is_ready(state: i32) -> bool {
    state == READY
}

/// For calls that look or take: what was there before memory ran out is still good.
pub(super) fn is_whole(state: i32) -> bool {
    state == READY || state == ASIDE_ERROR_MEMORY
}
