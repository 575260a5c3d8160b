//! The guard of C handles: it refuses a call from inside another one, and any call after a failure that lasts.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::constants::*;
use super::status::{fail, fail_panic};

/// The state of a handle that no call is inside of, and that is in no error.
pub(super) const READY: i32 = 0;
/// The state of a handle that a call is inside of.
pub(super) const BUSY: i32 = 1;

/// The re-entrancy and poisoning guard of a handle, with what the handle holds. The order matters: a scanner's state is read
/// together with what comes first in it.
#[repr(C)]
pub(super) struct HandleGuard<T> {
    /// `READY`, `BUSY` or the failure that it is in. Atomic so that a second thread's mistake is a status.
    pub(super) state: AtomicI32,
    pub(super) inner: UnsafeCell<T>,
}

impl<T> HandleGuard<T> {
    pub(super) fn new(inner: T) -> HandleGuard<T> {
        HandleGuard { state: AtomicI32::new(READY), inner: UnsafeCell::new(inner) }
    }

    /// Runs `body` as the only call inside the handle, if `may` accepts its state.
    ///
    /// # Safety
    /// What is inside is used by calls that the state let in, and by nobody else.
    #[inline]
    pub(super) unsafe fn enter(
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

    /// Runs `body` as `enter` does, for calls that reset the handle: after it, the handle is in no error any more.
    ///
    /// # Safety
    /// As of `enter`.
    pub(super) unsafe fn renew(&self, body: impl FnOnce(&mut T)) -> aside_status {
        let body = |inner: &mut T| {
            body(inner);
            ASIDE_OK
        };
        // SAFETY: the caller's promise.
        let status = unsafe { self.enter(is_whole, body) };
        if status == ASIDE_OK {
            self.state.store(READY, Relaxed);
        }
        status
    }

    /// Returns whether a call is inside, for what frees the handle. If none is, none can enter any more, not even from what is
    /// released with the handle.
    pub(super) fn close(&self) -> bool {
        let is_busy = self.state.load(Relaxed) == BUSY;
        if !is_busy {
            self.state.store(BUSY, Relaxed);
        }
        is_busy
    }
}

/// Fails a call that may not enter a handle in this state.
#[cold]
pub(super) fn refuse(state: i32) -> aside_status {
    fail(if state == BUSY { ASIDE_ERROR_BUSY } else { state })
}

/// Lets in calls that feed: there must be no error.
#[inline]
pub(super) fn is_ready(state: i32) -> bool {
    state == READY
}

/// Lets in calls that look or take: what was there before memory ran out is still valid.
pub(super) fn is_whole(state: i32) -> bool {
    state == READY || state == ASIDE_ERROR_MEMORY
}
