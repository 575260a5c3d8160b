//! Scanners for C: making and freeing them, where they start, and the way into them. The doc comments of this folder are
//! comments of `aside.h`.

mod array;
mod callback;
mod feed;
mod progress;
mod sink;
mod text;

use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::gate::{Gate, READY, is_ready};
use super::memory::{bytes, free, hand_out, read_sized, try_box};
use super::status::{fail, fail_no_handle, fail_with, guard_handle, made_handle};
use super::types::*;
use crate::{
    Budget, BudgetScope, BudgetUnit, Cause, Channel, Error, Options, Scanner, Start, StrayClose, Thought, Token,
};

const _: () = {
    assert!(Channel::Content as u32 == ASIDE_CONTENT);
    assert!(Channel::Thinking as u32 == ASIDE_THINKING);
    assert!(Channel::Narration as u32 == ASIDE_NARRATION);
    assert!(Channel::Tool as u32 == ASIDE_TOOL);
    assert!(Cause::Marker as u32 == ASIDE_CAUSE_MARKER);
    assert!(Cause::Implied as u32 == ASIDE_CAUSE_IMPLIED);
    assert!(Cause::EndOfStream as u32 == ASIDE_CAUSE_END);
    assert!(Cause::Forced as u32 == ASIDE_CAUSE_FORCED);
    assert!(Cause::Malformed as u32 == ASIDE_CAUSE_MALFORMED);
    // An array of one is read as an array of the other.
    assert!(size_of::<Token>() == size_of::<aside_token>() && align_of::<Token>() == align_of::<aside_token>());
};

// A scanner may go from thread to thread.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Scanner>();
};

/// What a scanner's handle holds. In this order: what most feeds need lies together.
#[repr(C)]
pub(super) struct Stream {
    consumed: usize,
    scanner: Scanner,
    /// Made when first needed: an idle scanner stays small.
    lent: Option<Box<Lent>>,
}

/// Memory that C may look into between calls.
#[derive(Default)]
struct Lent {
    attributes: Vec<u8>,
    thought: Option<Thought>,
    pairs: Vec<aside_attribute>,
}

/// Runs `body` as the only call inside the scanner, if `may` likes the state that it is in.
///
/// # Safety
/// `scanner` is NULL or a scanner that is still there.
#[inline]
unsafe fn enter(
    scanner: *const aside_scanner,
    may: impl FnOnce(i32) -> bool,
    body: impl FnOnce(&mut Stream) -> aside_status,
) -> aside_status {
    if scanner.is_null() {
        return fail_no_handle("scanner");
    }
    // SAFETY: it is there, and only calls that are admitted use the stream.
    unsafe { (*scanner).gate.admit(may, body) }
}

#[cold]
pub(super) fn failed(error: Error) -> aside_status {
    match error {
        Error::OutOfMemory => fail(ASIDE_ERROR_MEMORY),
        Error::TokenLengths => fail_with(ASIDE_ERROR_LENGTH, error),
        Error::FinishPending | Error::StreamBegun => fail_with(ASIDE_ERROR_ORDER, error),
        Error::NoSuchStart => fail_with(ASIDE_ERROR_OPTION, format_args!("start: {error}")),
    }
}

/// The memory to lend, made at its first use. A function of the field, so that the scanner can be in use meanwhile.
fn lent(place: &mut Option<Box<Lent>>) -> Result<&mut Lent, aside_status> {
    if place.is_none() {
        *place = try_box(Lent::default());
    }
    place.as_deref_mut().ok_or_else(|| fail(ASIDE_ERROR_MEMORY))
}

/// The stream and the caller's bytes, for the ways to feed that cannot panic: there is no `catch_unwind` around them. None
/// where anything is wrong, or there are no bytes, or more than `most`.
///
/// # Safety
/// `scanner` is NULL or a scanner that is still there; a `buf` that is not NULL leads to `len` bytes. What is given is
/// used only while nobody else can be inside: the state must be BUSY while a callback runs.
#[inline(always)]
unsafe fn ready<'a>(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    most: usize,
) -> Option<(&'a mut Stream, &'a [u8])> {
    // SAFETY: a scanner that is not NULL is there.
    if scanner.is_null() || unsafe { (*scanner).gate.state.load(Relaxed) } != READY {
        return None;
    }
    if buf.is_null() || len.wrapping_sub(1) >= most {
        return None;
    }
    // SAFETY: both are there, as was seen. The state is READY, so no call is inside.
    unsafe { Some(inside(scanner, buf, len)) }
}

/// The same where it has been seen that all is well.
///
/// # Safety
/// `ready` has given the stream and the chunk in this call, and no `&mut Stream` from before is used again.
#[inline(always)]
unsafe fn inside<'a>(scanner: *mut aside_scanner, buf: *const c_char, len: size_t) -> (&'a mut Stream, &'a [u8]) {
    // SAFETY: the caller's promise.
    unsafe { (&mut *(*scanner).gate.inner.get(), std::slice::from_raw_parts(buf.cast(), len)) }
}

/// An `ASIDE_START_` value.
pub(super) fn start(number: u32) -> Result<Option<Start>, aside_status> {
    Ok(match number {
        ASIDE_START_DEFAULT => None,
        ASIDE_START_CONTENT => Some(Start::Channel(Channel::Content)),
        ASIDE_START_THINKING => Some(Start::Channel(Channel::Thinking)),
        ASIDE_START_NARRATION => Some(Start::Channel(Channel::Narration)),
        ASIDE_START_TOOL => Some(Start::Channel(Channel::Tool)),
        ASIDE_START_HEADER => Some(Start::Header),
        other => return Err(fail_with(ASIDE_ERROR_OPTION, format_args!("start {other} is no ASIDE_START_ value"))),
    })
}

/// An `ASIDE_STRAY_CLOSE_` value.
pub(super) fn stray_close(number: u32) -> Result<StrayClose, aside_status> {
    match number {
        ASIDE_STRAY_CLOSE_DIALECT => Ok(StrayClose::Dialect),
        ASIDE_STRAY_CLOSE_TEXT => Ok(StrayClose::Text),
        other => Err(fail_with(ASIDE_ERROR_OPTION, format_args!("stray_close {other} is no ASIDE_STRAY_CLOSE_ value"))),
    }
}

/// The number of a start.
pub(super) fn start_number(start: Start) -> u32 {
    match start {
        Start::Channel(Channel::Content) => ASIDE_START_CONTENT,
        Start::Channel(Channel::Thinking) => ASIDE_START_THINKING,
        Start::Channel(Channel::Narration) => ASIDE_START_NARRATION,
        Start::Channel(Channel::Tool) => ASIDE_START_TOOL,
        Start::Header => ASIDE_START_HEADER,
    }
}

/// The caller's options, whichever version of the struct they are.
///
/// # Safety
/// `options` is NULL or has as many bytes as its `size` says.
unsafe fn options(options: *const aside_options) -> Result<Options, aside_status> {
    if options.is_null() {
        return Ok(Options::default());
    }
    // SAFETY: the caller's promise; the struct is made of plain numbers.
    let all = unsafe { read_sized(options, "options") }?;
    if all.reserved != 0 {
        return Err(fail_with(ASIDE_ERROR_OPTION, "options.reserved is not 0"));
    }
    let stray_close = stray_close(all.stray_close)?;
    let start = start(all.start)?;
    let collect = (all.collect > 0).then(|| usize::try_from(all.collect).unwrap_or(usize::MAX));
    Ok(Options { start, collect, budget: budget(&all)?, stray_close })
}

fn budget(options: &aside_options) -> Result<Option<Budget>, aside_status> {
    let unknown =
        |field: &str, value: u32| Err(fail_with(ASIDE_ERROR_OPTION, format_args!("options.{field} cannot be {value}")));
    match options.has_budget {
        0 if options.budget == 0 => return Ok(None),
        0 => return Err(fail_with(ASIDE_ERROR_OPTION, "options.budget is set, and options.has_budget is not")),
        1 => {}
        other => return unknown("has_budget", other),
    }
    let unit = match options.budget_unit {
        ASIDE_BUDGET_BYTES => BudgetUnit::Bytes,
        ASIDE_BUDGET_CHARACTERS => BudgetUnit::Characters,
        other => return unknown("budget_unit", other),
    };
    let scope = match options.budget_scope {
        ASIDE_BUDGET_SPAN => BudgetScope::Span,
        ASIDE_BUDGET_STREAM => BudgetScope::Stream,
        other => return unknown("budget_scope", other),
    };
    Ok(Some(Budget { limit: options.budget, unit, scope }))
}

/// Gives a scanner to C. `consumed`: of the chunk that it was stopped in.
fn give_scanner(scanner: Result<Scanner, Error>, consumed: usize) -> *mut aside_scanner {
    match scanner {
        Ok(scanner) => hand_out(aside_scanner { gate: Gate::new(Stream { scanner, consumed, lent: None }) }),
        Err(error) => {
            failed(error);
            ptr::null_mut()
        }
    }
}

/// == Scanners ==
///
/// Makes a scanner, at the start of a stream. `options` may be NULL: as the dialect says, nothing collected, no
/// budget. Neither is used after the call: the dialect may be freed before the scanner.
///
/// Returns a scanner that the caller owns: `aside_scanner_free()`. NULL where that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` (also for a start that the dialect does not have) or
/// `ASIDE_ERROR_MEMORY`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_new(
    dialect: *const aside_dialect,
    options: *const aside_options,
) -> *mut aside_scanner {
    guard_handle(|| {
        // SAFETY: NULL or a dialect that is still there, as the caller promises.
        let Some(dialect) = (unsafe { dialect.as_ref() }) else {
            fail_no_handle("dialect");
            return ptr::null_mut();
        };
        // SAFETY: NULL or as large as it says, as the caller promises.
        let Ok(options) = (unsafe { self::options(options) }) else {
            return ptr::null_mut();
        };
        give_scanner(Scanner::with_options(&dialect.dialect, &options), 0)
    })
}

/// Makes a second scanner in the same state, in mid-stream too: for beams, and for trying again from here. What is fed
/// to one does not change the other. Thoughts that were not taken are in both. What the first one lent is not the
/// second one's.
///
/// Returns a scanner that the caller owns: `aside_scanner_free()`. NULL where that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY` (also of a scanner that is in that error) or
/// `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for the first scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_clone(scanner: *const aside_scanner) -> *mut aside_scanner {
    let mut clone = ptr::null_mut();
    // SAFETY: NULL or there, as the caller promises.
    unsafe {
        enter(scanner, is_ready, |stream| {
            clone = give_scanner(stream.scanner.try_clone(), stream.consumed);
            ASIDE_OK
        })
    };
    made_handle(!clone.is_null());
    clone
}

/// Frees a scanner and all that it lent. NULL is left alone. What it held back is lost: `aside_scanner_finish()` first.
///
/// Inside a callback of the same scanner nothing is freed (`aside_last_status()` is then `ASIDE_ERROR_BUSY`): free it
/// behind the call that feeds.
///
/// Threads: no other thread may be using this scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_free(scanner: *mut aside_scanner) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(scanner, |scanner| scanner.gate.close()) }
}

/// Says where the next stream starts, before its first byte: behind a rendered prompt that ends in the `len` bytes of
/// `tail`. Of those, what stands behind the dialect's last turn marker counts; it is read as if the model had written
/// it, so that the stream may start inside a span or a header, and framing of which the prompt has a part goes on in the
/// stream. Spans that are open open at offset 0, without bytes, when the first byte is fed. Finishing or resetting the
/// scanner goes back to its own start; so does a `len` of 0. `tail` is not used after the call; it must not be memory that the
/// scanner lent.
///
/// `*start` becomes an `ASIDE_START_` value, what is open at byte 0; `start` may be NULL. It is written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` where the
/// stream has begun (nothing has changed after these); `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one scanner. Memory: the first such call makes room for what it must remember.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_start_from_prompt(
    scanner: *mut aside_scanner,
    tail: *const c_char,
    len: size_t,
    start: *mut u32,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes.
    let tail = match unsafe { bytes(tail, len, "tail") } {
        Ok(tail) => tail,
        Err(status) => return status,
    };
    let body = |stream: &mut Stream| match stream.scanner.start_from_prompt(tail) {
        Ok(begins) => {
            if !start.is_null() {
                // SAFETY: not NULL, and the caller promises that it may be written.
                unsafe { start.write_unaligned(start_number(begins)) };
            }
            ASIDE_OK
        }
        Err(error) => failed(error),
    };
    // SAFETY: a scanner that is there, as the caller promises.
    unsafe { enter(scanner, is_ready, body) }
}

/// Panics inside a scanner, so that tests can see what C gets then. No release has it.
#[cfg(feature = "panic-hook")]
#[ffi_export]
pub unsafe extern "C" fn aside_test_panic(scanner: *mut aside_scanner) -> aside_status {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { enter(scanner, is_ready, |_| panic!("asked for by aside_test_panic")) }
}
