//! How a failure leaves: its status is returned, its message waits in this thread for `aside_last_error`.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libc::c_char;

use super::types::*;

struct Last {
    status: aside_status,
    message: Cow<'static, CStr>,
}

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(Last { status: ASIDE_OK, message: Cow::Borrowed(c"") }) };
}

/// The general sentence of each status.
pub(super) fn sentence(status: aside_status) -> &'static CStr {
    match status {
        ASIDE_OK => c"done",
        ASIDE_STOPPED => c"stopped by the callback",
        ASIDE_MORE => c"the array of events or attributes is full: call again",
        ASIDE_NONE => c"nothing to take",
        ASIDE_ERROR_NULL => c"a pointer is NULL",
        ASIDE_ERROR_LENGTH => c"a length cannot be right: above PTRDIFF_MAX, or not what the tokens add up to",
        ASIDE_ERROR_UNKNOWN => c"no such dialect",
        ASIDE_ERROR_DIALECT => c"the dialect has an error",
        ASIDE_ERROR_OPTION => c"an option has a wrong value",
        ASIDE_ERROR_SIZE => c"a size or capacity cannot be right",
        ASIDE_ERROR_BUSY => c"the handle is in use: called from its own callback, or from two threads at once",
        ASIDE_ERROR_ORDER => c"a call in the wrong order",
        ASIDE_ERROR_MEMORY => c"out of memory",
        ASIDE_ERROR_RANGE => c"the index is not below the count",
        ASIDE_ERROR_PANIC => c"the library has a defect, and this handle met it",
        ASIDE_ERROR_JOIN => c"the text cannot be joined or escaped",
        ASIDE_ERROR_FILTER => c"the filter has an error",
        ASIDE_ERROR_ORIGINAL => c"this is not the text that the report is about",
        _ => c"unknown status",
    }
}

fn keep(status: aside_status, message: Cow<'static, CStr>) -> aside_status {
    // A thread that is ending has no place for the message any more; the status is what counts.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Last { status, message });
    status
}

/// Fails with the general sentence; allocates nothing.
#[cold]
pub(super) fn fail(status: aside_status) -> aside_status {
    keep(status, Cow::Borrowed(sentence(status)))
}

/// Fails with a message of its own.
#[cold]
pub(super) fn fail_with(status: aside_status, message: impl Display) -> aside_status {
    // A name that was not found may hold a NUL, which would end the message.
    let message = message.to_string().replace('\0', "\u{fffd}");
    keep(status, Cow::Owned(CString::new(message).unwrap_or_default()))
}

#[cold]
pub(super) fn fail_null(what: &str) -> aside_status {
    fail_with(ASIDE_ERROR_NULL, format_args!("{what} is NULL"))
}

#[cold]
pub(super) fn fail_panic(payload: Box<dyn Any + Send>) -> aside_status {
    let said = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(said), _) => said,
        (_, Some(said)) => said.as_str(),
        _ => "no message",
    };
    let status = fail_with(ASIDE_ERROR_PANIC, format_args!("panic inside the library: {said}"));
    // Its destructor could panic again, outside of every guard.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    status
}

pub(super) fn last_status() -> aside_status {
    LAST.try_with(|last| last.borrow().status).unwrap_or(ASIDE_OK)
}

pub(super) fn last_message() -> *const c_char {
    LAST.try_with(|last| last.borrow().message.as_ptr()).unwrap_or(c"".as_ptr())
}

/// Runs the body of an entry that has no scanner; a panic becomes `otherwise` and a message.
pub(super) fn guard<T>(otherwise: impl FnOnce(aside_status) -> T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| otherwise(fail_panic(payload)))
}
