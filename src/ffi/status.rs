//! How a failure leaves: its status is returned, its message waits in this thread for `aside_last_error`.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::CStr;
use std::fmt::{self, Display, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use libc::c_char;

use super::types::*;

/// A thread's last failure. It needs no destructor: to register one takes memory, and a process without any ends there.
struct Last {
    status: aside_status,
    /// A sentence, `short`, or the thread's `LONG`.
    message: *const c_char,
    is_long: bool,
    short: [u8; 256],
}

thread_local! {
    static LAST: RefCell<Last> =
        const { RefCell::new(Last { status: ASIDE_OK, message: c"".as_ptr(), is_long: false, short: [0; 256] }) };
    /// A message that has no room in `Last`.
    static LONG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A message and the NUL behind it, as far as there is memory.
#[derive(Default)]
struct Message(Vec<u8>);

impl Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len() + 1).map_err(|_| fmt::Error)?;
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// A message that must fit, with the NUL behind it.
struct Short<'a> {
    room: &'a mut [u8],
    len: usize,
}

impl Write for Short<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let place = self.room.get_mut(self.len..=end).ok_or(fmt::Error)?;
        place[..text.len()].copy_from_slice(text.as_bytes());
        place[text.len()] = 0;
        self.len = end;
        Ok(())
    }
}

/// Takes the NULs out of a message: a name that was not found may hold one, which would end it.
struct WithoutNul<W>(W);

impl<W: Write> Write for WithoutNul<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (index, part) in text.split('\0').enumerate() {
            if index > 0 {
                self.0.write_str("\u{fffd}")?;
            }
            self.0.write_str(part)?;
        }
        Ok(())
    }
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

/// Fails with the general sentence; allocates nothing.
#[cold]
pub(super) fn fail(status: aside_status) -> aside_status {
    LAST.with_borrow_mut(|last| (last.status, last.message, last.is_long) = (status, sentence(status).as_ptr(), false));
    status
}

/// Fails with a message of its own; allocates only where that is long. Without memory for it, the general sentence stays.
#[cold]
pub(super) fn fail_with(status: aside_status, message: impl Display) -> aside_status {
    fail(status);
    let fits = LAST.with_borrow_mut(|last| {
        last.short[0] = 0;
        let short = Short { room: &mut last.short, len: 0 };
        let fits = write!(WithoutNul(short), "{message}").is_ok();
        if fits {
            last.message = last.short.as_ptr().cast();
        }
        fits
    });
    let mut long = Message::default();
    if !fits && write!(WithoutNul(&mut long), "{message}").is_ok() {
        long.0.push(0);
        let at = long.0.as_ptr().cast();
        // A thread that is ending has no place for it any more.
        if LONG.try_with(|kept| kept.replace(long.0)).is_ok() {
            LAST.with_borrow_mut(|last| (last.message, last.is_long) = (at, true));
        }
    }
    status
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
    LAST.with_borrow(|last| last.status)
}

pub(super) fn last_message() -> *const c_char {
    LAST.with_borrow(|last| {
        // In a thread that is ending, the long one has been freed.
        let is_gone = last.is_long && LONG.try_with(|_| ()).is_err();
        if is_gone { sentence(last.status).as_ptr() } else { last.message }
    })
}

/// Runs the body of an entry that has no scanner; a panic becomes `otherwise` and a message.
pub(super) fn guard<T>(otherwise: impl FnOnce(aside_status) -> T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| otherwise(fail_panic(payload)))
}
