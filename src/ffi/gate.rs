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

/// What a handle holds. In this order: a scanner's state is looked at together with what comes first in it.
#[repr(C)]
pub(super) struct Gate<T> {
    /// `READY`, `BUSY` or the failure that it is in. Atomic so that a second thread's mistake is a status.
    pub(super) state: AtomicI32,
    pub(super) inner: UnsafeCell<T>,
}

impl<T> Gate<T> {
    pub(super) fn new(inner: T) -> Gate<T> {
        Gate { state: AtomicI32::new(READY), inner: UnsafeCell::new(inner) }
    }

    /// Runs `body` as the only call inside the handle, if `may` likes the state that it is in.
    ///
    /// # Safety
    /// What is inside is used by calls that the state admitted, and by nobody else.
    #[inline]
    pub(super) unsafe fn admit(
        &self,
        may: impl FnOnce(i32) -> bool,
        body: impl FnOnce(&mut T) -> aside_status,
    ) -> aside_status {
        let before = self.state.load(Relaxed);
        if !may(before) {
            return refuse(before);
        }
        self.state.store(BUSY, Relaxed);
        // SAFETY: the state was not BUSY, so no call is inside, and it is BUSY until this one ends.
        let inner = unsafe { &mut *self.inner.get() };
        let status = catch_unwind(AssertUnwindSafe(|| body(inner))).unwrap_or_else(fail_panic);
        let lasts = status == ASIDE_ERROR_PANIC || status == ASIDE_ERROR_MEMORY;
        self.state.store(if lasts { status } else { before }, Relaxed);
        status
    }

    /// The same for what makes it as new, after which it is in no error any more.
    ///
    /// # Safety
    /// As of `admit`.
    pub(super) unsafe fn renew(&self, body: impl FnOnce(&mut T)) -> aside_status {
        let body = |inner: &mut T| {
            body(inner);
            ASIDE_OK
        };
        // SAFETY: the caller's promise.
        let status = unsafe { self.admit(is_whole, body) };
        if status == ASIDE_OK {
            self.state.store(READY, Relaxed);
        }
        status
    }

    /// For whoever frees a handle: whether a call is inside. If none is, none comes in any more, from what is released with the
    /// handle either.
    pub(super) fn close(&self) -> bool {
        let is_busy = self.state.load(Relaxed) == BUSY;
        if !is_busy {
            self.state.store(BUSY, Relaxed);
        }
        is_busy
    }
}

/// A call does not come in where a handle is in this state.
#[cold]
pub(super) fn refuse(state: i32) -> aside_status {
    fail(if state == BUSY { ASIDE_ERROR_BUSY } else { state })
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
