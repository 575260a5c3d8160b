//! The guard of C handles: it refuses a call from inside another call, and every call after a permanent failure.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::constants::*;
use super::status::{fail, fail_panic};

/// The state of a handle that no call is using and that has not failed permanently.
pub(super) const READY: i32 = 0;
/// The state of a handle that a call is using.
pub(super) const BUSY: i32 = 1;

/// The re-entrancy and poisoning guard of a handle, with the contents of the handle. The order of the fields matters: the state
/// of a scanner is close to those fields of the scanner that most feeds read.
#[repr(C)]
pub(super) struct HandleGuard<T> {
    /// `READY`, `BUSY`, or the status of the handle's permanent failure.
    pub(super) state: AtomicI32,
    pub(super) inner: UnsafeCell<T>,
}

impl<T> HandleGuard<T> {
    pub(super) fn new(inner: T) -> HandleGuard<T> {
        HandleGuard { state: AtomicI32::new(READY), inner: UnsafeCell::new(inner) }
    }

    /// Runs `body` as the only call that uses the handle, if `may` accepts the handle's state. If two threads try at once, only one
    /// succeeds, and it sees everything that the previous call has written.
    ///
    /// # Safety
    /// Only calls that passed this check use the contents.
    #[inline]
    pub(super) unsafe fn enter(
        &self,
        may: impl Fn(i32) -> bool,
        body: impl FnOnce(&mut T) -> aside_status,
    ) -> aside_status {
        // SAFETY: the caller meets this function's conditions.
        unsafe { self.run(may, body, |before| before) }
    }

    /// Runs `body` as `enter` does, for calls that reset the handle, and then clears the handle's error.
    ///
    /// # Safety
    /// The same as for `enter`.
    pub(super) unsafe fn renew(&self, body: impl FnOnce(&mut T)) -> aside_status {
        let body = |inner: &mut T| {
            body(inner);
            ASIDE_OK
        };
        // SAFETY: the caller meets this function's conditions.
        unsafe { self.run(is_whole, body, |_| READY) }
    }

    /// Runs `body` as `enter` does, and then sets the state that `after` returns for the previous state, unless `body` fails
    /// permanently.
    ///
    /// # Safety
    /// The same as for `enter`.
    #[inline]
    unsafe fn run(
        &self,
        may: impl Fn(i32) -> bool,
        body: impl FnOnce(&mut T) -> aside_status,
        after: impl FnOnce(i32) -> i32,
    ) -> aside_status {
        let before = match self.claim(may) {
            Ok(before) => before,
            Err(state) => return refuse(state),
        };
        // SAFETY: the state was not BUSY, so no call is inside, and it is BUSY until this one ends.
        let inner = unsafe { &mut *self.inner.get() };
        let status = catch_unwind(AssertUnwindSafe(|| body(inner))).unwrap_or_else(fail_panic);
        let lasts = status == ASIDE_ERROR_PANIC || status == ASIDE_ERROR_MEMORY;
        self.state.store(if lasts { status } else { after(before) }, Release);
        status
    }

    /// Makes the handle BUSY if no call uses it and `may` accepts its state. Returns the previous state, or, as the error, the
    /// state that was not accepted.
    #[inline]
    pub(super) fn claim(&self, may: impl Fn(i32) -> bool) -> Result<i32, i32> {
        self.state.fetch_update(Acquire, Relaxed, |state| (state != BUSY && may(state)).then_some(BUSY))
    }

    /// Returns whether a call uses the handle, for functions that free the handle. If no call uses it, later calls are refused, even
    /// from a callback that runs while the handle's objects are freed.
    pub(super) fn close(&self) -> bool {
        self.claim(|_| true).is_err()
    }
}

/// Fails with the error for a call that may not use a handle in this state.
#[cold]
pub(super) fn refuse(state: i32) -> aside_status {
    fail(if state == BUSY { ASIDE_ERROR_BUSY } else { state })
}

/// Returns whether a call that feeds may use the handle: the handle must not have failed permanently.
#[inline]
pub(super) fn is_ready(state: i32) -> bool {
    state == READY
}

/// Returns whether a call that only reads may enter: data from before memory ran out is still valid.
pub(super) fn is_whole(state: i32) -> bool {
    state == READY || state == ASIDE_ERROR_MEMORY
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// A handle that two threads use at once, as can happen in C.
    struct Shared(HandleGuard<u64>);

    // SAFETY: the test uses the value only through the guard, which is the subject of the test.
    unsafe impl Sync for Shared {}

    #[test]
    fn one_of_two_threads_gets_in() {
        const ENTRIES: u64 = 5_000_000;
        let shared = Shared(HandleGuard::new(0));
        let begin = Barrier::new(2);
        let count = || {
            let shared = &shared;
            begin.wait();
            let mut passed = 0;
            while passed < ENTRIES {
                let body = |number: &mut u64| {
                    *number += 1;
                    ASIDE_OK
                };
                // SAFETY: no other thread uses the number.
                match unsafe { shared.0.enter(is_ready, body) } {
                    ASIDE_OK => passed += 1,
                    status => assert_eq!(status, ASIDE_ERROR_BUSY),
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(count);
            scope.spawn(count);
        });
        assert_eq!(shared.0.inner.into_inner(), 2 * ENTRIES);
    }

    #[test]
    fn a_handle_that_is_closed_lets_nobody_in() {
        let guard = HandleGuard::new(0);
        // SAFETY: only this thread uses the handle.
        let inside = unsafe {
            guard.enter(is_ready, |_| {
                assert!(guard.close());
                guard.renew(|_| ())
            })
        };
        assert_eq!(inside, ASIDE_ERROR_BUSY);
        assert!(!guard.close());
        // SAFETY: only this thread uses the handle.
        assert_eq!(unsafe { guard.enter(|_| true, |_| ASIDE_OK) }, ASIDE_ERROR_BUSY);
    }

    #[test]
    fn a_failure_that_lasts_is_left_by_a_reset() {
        let guard = HandleGuard::new(0);
        // SAFETY: only this thread uses the handle.
        unsafe {
            assert_eq!(guard.enter(is_ready, |_| ASIDE_ERROR_MEMORY), ASIDE_ERROR_MEMORY);
            assert_eq!(guard.enter(is_ready, |_| ASIDE_OK), ASIDE_ERROR_MEMORY);
            assert_eq!(guard.enter(is_whole, |_| ASIDE_OK), ASIDE_OK);
            assert_eq!(guard.enter(is_ready, |_| ASIDE_OK), ASIDE_ERROR_MEMORY);
            assert_eq!(guard.renew(|_| ()), ASIDE_OK);
            assert_eq!(guard.enter(is_ready, |_| ASIDE_OK), ASIDE_OK);
            assert_eq!(guard.enter(is_ready, |_| ASIDE_ERROR_PANIC), ASIDE_ERROR_PANIC);
            assert_eq!(guard.renew(|_| ()), ASIDE_ERROR_PANIC);
        }
    }
}
