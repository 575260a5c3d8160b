//! Failures for C: a function returns the status, and the message stays in this thread for `aside_last_error`. Reporting a
//! failure must never allocate, because memory may have run out. A failure that requests can cause must not be expensive either, so
//! the message for an unknown model is written only when it is read.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::CStr;
use std::fmt::{self, Display, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use libc::c_char;

use super::constants::*;
use crate::{Error, UnknownModel};

/// A thread's last failure. A message is written into a buffer of the thread, which needs neither an allocation nor a destructor,
/// whose registration would allocate.
struct LastError {
    status: aside_status,
    said: Said,
    /// Whether the failed function should have returned a handle. If the caller then passes NULL as the handle, that second failure
    /// has no new information.
    is_of_handle: bool,
}

/// The message.
enum Said {
    Sentence(&'static CStr),
    /// The message is in `ROOM`.
    Written,
    /// The message for an unknown model, which is not written yet.
    Model(UnknownModel),
}

// A destructor would have to be registered in each thread, which allocates.
const _: () = assert!(!std::mem::needs_drop::<LastError>());

/// The maximum number of bytes of a message with its NUL. A longer message is cut and ends in `…`.
const MOST: usize = 2048;

thread_local! {
    static LAST: RefCell<LastError> =
        const { RefCell::new(LastError { status: ASIDE_OK, said: Said::Sentence(c""), is_of_handle: false }) };
    static ROOM: RefCell<[u8; MOST]> = const { RefCell::new([0; MOST]) };
}

/// A message that is being written, with room for the ellipsis and the NUL.
struct Message<'a> {
    room: &'a mut [u8; MOST],
    len: usize,
}

impl Message<'_> {
    const CUT: &'static str = "…";
    const FULL: usize = MOST - Message::CUT.len() - 1;

    fn append(&mut self, text: &str) {
        self.room[self.len..][..text.len()].copy_from_slice(text.as_bytes());
        self.len += text.len();
    }
}

impl Write for Message<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let most = text.len().min(Message::FULL - self.len);
        let fits = (0..=most).rfind(|&at| text.is_char_boundary(at)).unwrap_or(0);
        self.append(&text[..fits]);
        if fits == text.len() {
            return Ok(());
        }
        self.append(Message::CUT);
        Err(fmt::Error)
    }
}

/// A writer that leaves out NULs, because a name that was not found may contain a NUL, which would end the message.
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

/// Returns the general sentence of a status.
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
        ASIDE_ERROR_AMBIGUOUS => c"several dialects fit equally well",
        _ => c"unknown status",
    }
}

/// Fails with the general sentence; allocates nothing.
#[cold]
pub(super) fn fail(status: aside_status) -> aside_status {
    failed_and_said(status, Said::Sentence(sentence(status)))
}

fn failed_and_said(status: aside_status, said: Said) -> aside_status {
    LAST.with_borrow_mut(|last| *last = LastError { status, said, is_of_handle: false });
    status
}

/// Fails with a specific message, which is cut if it is long. Allocates nothing, unless formatting the message does.
#[cold]
pub(super) fn fail_with(status: aside_status, message: impl Display) -> aside_status {
    write_message(message);
    failed_and_said(status, Said::Written)
}

/// Fails because no dialect is known for a model. The message is written only when it is read: most hosts then use a different
/// dialect, and never read the message.
#[cold]
pub(super) fn fail_unknown_model(error: UnknownModel) -> aside_status {
    failed_and_said(ASIDE_ERROR_UNKNOWN, Said::Model(error))
}

fn write_message(message: impl Display) {
    ROOM.with_borrow_mut(|room| {
        let mut written = Message { room, len: 0 };
        // Writing returns an error if the message is cut, which is ignored.
        _ = write!(WithoutNul(&mut written), "{message}");
        written.room[written.len] = 0;
    });
}

#[cold]
pub(super) fn fail_null(what: &str) -> aside_status {
    fail_with(ASIDE_ERROR_NULL, format_args!("{what} is NULL"))
}

/// Fails because a handle is NULL. If the last failure is the reason why there is no handle, its message stays.
#[cold]
pub(super) fn fail_no_handle(what: &str) -> aside_status {
    let is_known = LAST.with_borrow_mut(|last| {
        if last.is_of_handle {
            last.status = ASIDE_ERROR_NULL;
        }
        last.is_of_handle
    });
    if is_known { ASIDE_ERROR_NULL } else { fail_null(what) }
}

#[cold]
pub(super) fn fail_panic(payload: Box<dyn Any + Send>) -> aside_status {
    let said = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(said), _) => said,
        (_, Some(said)) => said.as_str(),
        _ => "no message",
    };
    let status = fail_with(ASIDE_ERROR_PANIC, format_args!("panic inside the library: {said}"));
    // The payload's destructor could panic again, outside every guard.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    status
}

/// Fails with the status for an error of the library's functions.
#[cold]
pub(super) fn failed(error: Error) -> aside_status {
    match error {
        Error::OutOfMemory => fail(ASIDE_ERROR_MEMORY),
        Error::TokenLengths => fail_with(ASIDE_ERROR_LENGTH, error),
        Error::FinishPending | Error::StreamBegun => fail_with(ASIDE_ERROR_ORDER, error),
        Error::NoSuchStart => fail_with(ASIDE_ERROR_OPTION, format_args!("start: {error}")),
    }
}

/// Runs the body of an entry that has no scanner; a panic becomes `otherwise` and a message.
pub(super) fn guard<T>(otherwise: impl FnOnce(aside_status) -> T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| otherwise(fail_panic(payload)))
}

/// Runs the body of an entry that returns a handle; NULL if it panics.
pub(super) fn guard_handle<T>(body: impl FnOnce() -> *mut T) -> *mut T {
    let handle = guard(|_| ptr::null_mut(), body);
    made_handle(!handle.is_null());
    handle
}

/// Notes whether a function that should make a handle has failed to make it. A failure for lack of memory does not count, because
/// it does not concern the arguments of that function.
pub(super) fn made_handle(made: bool) {
    LAST.with_borrow_mut(|last| last.is_of_handle = !made && last.status != ASIDE_ERROR_MEMORY);
}

/// Returns the message of the last failure in this thread: UTF-8 with a NUL at its end, never NULL, empty if nothing
/// has failed. It has at most 2,047 bytes: a longer one is cut and ends in `…`. Success does not change it. Valid until
/// the next failure in this thread.
///
/// If a function fails because a handle is NULL, and the failure before it is the reason why there is no handle (such as a
/// misspelled dialect), the message of that failure stays. The status becomes `ASIDE_ERROR_NULL`.
///
/// Memory: no message needs an allocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_last_error() -> *const c_char {
    guard(|_| message(), message)
}

/// Returns the message of the last failure, and writes it first if it was not written yet.
fn message() -> *const c_char {
    LAST.with_borrow_mut(|last| {
        if let Said::Model(error) = &last.said {
            write_message(error);
            last.said = Said::Written;
        }
        match last.said {
            Said::Sentence(sentence) => sentence.as_ptr(),
            _ => ROOM.with_borrow(|room| room.as_ptr().cast()),
        }
    })
}

/// Returns the status of the last failure in this thread: why a function returned NULL. `ASIDE_OK` if nothing has
/// failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_last_status() -> aside_status {
    LAST.with_borrow(|last| last.status)
}

/// Returns the general sentence of a status, for any number: with a NUL at its end, never NULL, valid as long as the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_status_text(status: aside_status) -> *const c_char {
    sentence(status).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: never NULL, and there is a NUL at its end.
        unsafe { CStr::from_ptr(aside_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_message_is_cut_at_a_character_where_it_is_long() {
        for length in [MOST - 5, MOST - 4, MOST - 3, MOST, 10 * MOST] {
            for text in ["x".repeat(length), "é".repeat(length / 2 + 1), format!("x{}", "🧠".repeat(length / 4 + 1))]
            {
                fail_with(ASIDE_ERROR_DIALECT, &text);
                let said = message();
                assert!(said.len() < MOST && (said == text || said.len() > MOST - 8));
                let whole = said.strip_suffix('…').unwrap_or(&said);
                assert!(text.starts_with(whole) && (said == text) == (text.len() <= Message::FULL));
            }
        }
        fail_with(ASIDE_ERROR_DIALECT, "a\0b");
        assert_eq!((message(), unsafe { aside_last_status() }), ("a\u{fffd}b".into(), ASIDE_ERROR_DIALECT));
        fail(ASIDE_ERROR_MEMORY);
        assert_eq!(message(), "out of memory");
    }
}
