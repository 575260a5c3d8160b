//! Scanners for C: the state that keeps misuse out, and both forms of feeding. The doc comments of this file are
//! comments of `aside.h`.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use libc::{c_char, c_void, size_t};
use safer_ffi::prelude::*;

use super::memory::{STRUCT_MAX, bytes, fill_sized, free, lend, read_sized, size_to_fill, try_box};
use super::status::{fail, fail_null, fail_panic, fail_with, guard};
use super::types::*;
use crate::scanner::{Calm, SHORT, check_lengths};
use crate::{
    Budget, BudgetScope, BudgetUnit, Cause, Channel, Error, Event, Events, Kind, Options, Scanner, Start, Thought,
    Token,
};

/// `aside_scanner.state`: nobody is inside, and all is well.
pub(super) const READY: i32 = 0;
/// `aside_scanner.state`: a call is under way.
pub(super) const BUSY: i32 = 1;

/// An `aside_event_fn` that is not NULL.
type EventFn = unsafe extern "C" fn(*mut c_void, *const aside_event, *const c_char) -> i32;

/// With this much attribute text in an event array's call, the call pauses: what a scanner holds stays bounded.
const ATTRIBUTES_LIMIT: usize = 64 * 1024;
/// The fields of an event up to `len`: no version of the struct was ever smaller.
const EVENT_MIN: usize = 32;

const _: () = {
    assert!(Channel::Content as u32 == ASIDE_CONTENT);
    assert!(Channel::Thinking as u32 == ASIDE_THINKING);
    assert!(Channel::Narration as u32 == ASIDE_NARRATION);
    assert!(Channel::Tool as u32 == ASIDE_TOOL);
    assert!(Cause::Marker as u32 == ASIDE_CAUSE_MARKER);
    assert!(Cause::Implied as u32 == ASIDE_CAUSE_IMPLIED);
    assert!(Cause::EndOfStream as u32 == ASIDE_CAUSE_END);
    assert!(Cause::Forced as u32 == ASIDE_CAUSE_FORCED);
    // An array of one is read as an array of the other.
    assert!(size_of::<Token>() == size_of::<aside_token>() && align_of::<Token>() == align_of::<aside_token>());
};

/// What a scanner's handle holds. In this order: what most feeds need lies together.
#[repr(C)]
pub(super) struct Gated {
    /// `READY`, `BUSY` or the failure that it is in. Atomic so that a second thread's mistake is a status.
    state: AtomicI32,
    stream: UnsafeCell<Stream>,
}

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
        return fail_null("scanner");
    }
    // SAFETY: it is there. Only the state and the cell are borrowed: whoever is inside has the stream.
    unsafe { admit(&(*scanner).gated.state, &(*scanner).gated.stream, may, body) }
}

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

/// For calls that feed: no error may be left.
#[inline]
pub(super) fn is_ready(state: i32) -> bool {
    state == READY
}

/// For calls that look or take: what was there before memory ran out is still good.
pub(super) fn is_whole(state: i32) -> bool {
    state == READY || state == ASIDE_ERROR_MEMORY
}

/// Reads a number out of a scanner; 0 where that cannot be.
///
/// # Safety
/// As of `enter`.
unsafe fn read<T: Default>(scanner: *const aside_scanner, body: impl FnOnce(&Stream) -> T) -> T {
    let mut value = T::default();
    // SAFETY: the caller's promise.
    unsafe {
        enter(scanner, is_whole, |stream| {
            value = body(stream);
            ASIDE_OK
        })
    };
    value
}

#[cold]
pub(super) fn failed(error: Error) -> aside_status {
    match error {
        Error::OutOfMemory => fail(ASIDE_ERROR_MEMORY),
        Error::FinishPending => fail(ASIDE_ERROR_ORDER),
        Error::TokenLengths => fail_with(ASIDE_ERROR_LENGTH, error),
        Error::StreamBegun => fail_with(ASIDE_ERROR_ORDER, error),
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
    if scanner.is_null() || unsafe { (*scanner).gated.state.load(Relaxed) } != READY {
        return None;
    }
    if buf.is_null() || len.wrapping_sub(1) >= most {
        return None;
    }
    // SAFETY: both are there. The state is READY, so no call is inside.
    unsafe { Some((&mut *(*scanner).gated.stream.get(), std::slice::from_raw_parts(buf.cast(), len))) }
}

/// What an array's call says of a feed that had no attributes.
#[inline]
fn fed_text(count: usize, consumed: usize, offset: u64, held: &[u8]) -> aside_fed {
    let attributes = c"".as_ptr();
    aside_fed { count, consumed, offset, held: lend(held), held_len: held.len(), attributes, attributes_len: 0 }
}

/// An event of text as C sees it.
#[inline]
fn text_record(channel: Channel, offset: u64, len: usize) -> aside_event {
    aside_event {
        kind: ASIDE_TEXT,
        channel: channel as u32,
        cause: 0,
        rule: 0,
        offset,
        len: len as u64,
        tag: 0,
        text_at: 0,
        name_len: 0,
        value_len: 0,
        raw_name_at: 0,
        raw_name_len: 0,
        raw_value_at: 0,
        raw_value_len: 0,
    }
}

/// An event as C sees it, all but an attribute's names and values.
#[inline]
fn record(event: &Event<'_>) -> aside_event {
    let mut record = text_record(event.channel, event.offset, event.bytes.len());
    match &event.kind {
        Kind::Text => {}
        Kind::Open { rule, tag } => {
            record.kind = ASIDE_OPEN;
            record.rule = *rule;
            record.tag = *tag;
        }
        Kind::Framing => record.kind = ASIDE_FRAMING,
        Kind::Reclassify => record.kind = ASIDE_RECLASSIFY,
        Kind::Budget => record.kind = ASIDE_BUDGET,
        Kind::Close(cause) => {
            record.kind = ASIDE_CLOSE;
            record.cause = *cause as u32;
        }
        Kind::Attribute(attribute) => {
            // The limit for a tag is a u32 itself, and no decoded value is longer than its raw form.
            record.kind = ASIDE_ATTRIBUTE;
            record.name_len = attribute.name.len() as u32;
            record.value_len = attribute.value.len() as u32;
            record.raw_name_at = attribute.raw_name.start as u32;
            record.raw_name_len = attribute.raw_name.len() as u32;
            record.raw_value_at = attribute.raw_value.start as u32;
            record.raw_value_len = attribute.raw_value.len() as u32;
        }
    }
    record
}

/// Forgets attribute texts of before.
#[inline]
fn clear(place: &mut Option<Box<Lent>>) {
    if let Some(lent) = place {
        lent.attributes.clear();
    }
}

/// Appends an attribute's name and value to the lent text; gives where they begin and the whole text.
fn append<'a>(place: &'a mut Option<Box<Lent>>, name: &[u8], value: &[u8]) -> Result<(usize, &'a [u8]), aside_status> {
    let text = &mut lent(place)?.attributes;
    let at = text.len();
    text.try_reserve(name.len() + value.len()).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    text.extend_from_slice(name);
    text.extend_from_slice(value);
    Ok((at, text))
}

/// Calls `callback` for each event until it stops or there are none.
///
/// # Safety
/// `callback` is a function of that type, and `user` is what it expects.
#[inline]
unsafe fn deliver(
    events: &mut Events<'_>,
    place: &mut Option<Box<Lent>>,
    callback: EventFn,
    user: *mut c_void,
) -> aside_status {
    loop {
        let event = match events.next() {
            Ok(Some(event)) => event,
            Ok(None) => return ASIDE_OK,
            Err(error) => return failed(error),
        };
        let record = record(&event);
        let text = match &event.kind {
            Kind::Attribute(attribute) => {
                clear(place);
                match append(place, attribute.name, attribute.value) {
                    Ok((_, text)) => text,
                    Err(status) => return status,
                }
            }
            _ => event.bytes,
        };
        // SAFETY: the caller's promise; record and text outlive the call.
        if unsafe { callback(user, &record, lend(text)) } != 0 {
            return ASIDE_STOPPED;
        }
    }
}

/// The caller's array of events, whose entries are as large as the caller's header says.
struct Slots {
    at: *mut u8,
    capacity: usize,
    size: usize,
}

impl Slots {
    fn new(at: *mut aside_event, capacity: usize, size: usize) -> Result<Slots, aside_status> {
        if at.is_null() {
            return Err(fail_null("events"));
        }
        if capacity == 0 {
            return Err(fail_with(ASIDE_ERROR_SIZE, "capacity is 0: such a call could never go on"));
        }
        if !(EVENT_MIN..=STRUCT_MAX).contains(&size) {
            return Err(fail_with(ASIDE_ERROR_SIZE, "event_size is not sizeof(aside_event) of any version"));
        }
        if capacity.checked_mul(size).is_none_or(|all| all > isize::MAX as usize) {
            return Err(fail_with(ASIDE_ERROR_SIZE, "capacity times event_size is above PTRDIFF_MAX"));
        }
        Ok(Slots { at: at.cast(), capacity, size })
    }

    /// # Safety
    /// `index` is below the capacity, and the array is as large as its caller said.
    #[inline]
    unsafe fn write(&self, index: usize, event: &aside_event) {
        let whole = size_of::<aside_event>();
        // SAFETY: the slot is inside the array; at most its size is written.
        unsafe {
            let slot = self.at.add(index * self.size);
            if self.size == whole {
                slot.cast::<aside_event>().write_unaligned(*event);
            } else {
                ptr::copy_nonoverlapping(ptr::from_ref(event).cast(), slot, self.size.min(whole));
                // A later version's fields: 0 is what they say where they say nothing.
                ptr::write_bytes(slot.add(self.size.min(whole)), 0, self.size.saturating_sub(whole));
            }
        }
    }
}

/// Writes events until the array is full or there are none; gives how many.
///
/// # Safety
/// The array is as large as its caller said.
#[inline]
unsafe fn fill(
    events: &mut Events<'_>,
    place: &mut Option<Box<Lent>>,
    slots: &Slots,
) -> Result<(aside_status, usize), aside_status> {
    let mut count = 0;
    let mut attributes = 0;
    while count < slots.capacity && attributes < ATTRIBUTES_LIMIT {
        let Some(event) = events.next().map_err(failed)? else {
            return Ok((ASIDE_OK, count));
        };
        let mut record = record(&event);
        if let Kind::Attribute(attribute) = &event.kind {
            let (at, text) = append(place, attribute.name, attribute.value)?;
            record.text_at = at as u32;
            attributes = text.len();
        }
        // SAFETY: `count` is below the capacity.
        unsafe { slots.write(count, &record) };
        count += 1;
    }
    Ok((ASIDE_MORE, count))
}

// A scanner may go from thread to thread.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Scanner>();
};

/// What a call works on.
enum Work<'a> {
    Feed(&'a [u8]),
    /// The tokens' lengths add up to the chunk's.
    FeedTokens(&'a [u8], &'a [Token]),
    Finish,
    Flush,
    ForceClose,
}

impl Work<'_> {
    /// Tokens that are text and nothing else: most are. Gives channel and offset of the event, and its bytes.
    #[inline]
    fn plain(&self, scanner: &mut Scanner) -> Option<(Channel, u64, &[u8])> {
        let Work::FeedTokens(chunk, tokens) = self else { return None };
        let (channel, offset) = scanner.plain_tokens(chunk, tokens)?;
        Some((channel, offset, chunk))
    }

    #[inline]
    fn start<'a>(&'a self, scanner: &'a mut Scanner) -> Result<Events<'a>, Error> {
        Ok(match self {
            Work::Feed(chunk) => scanner.events(chunk),
            Work::FeedTokens(chunk, tokens) => scanner.summed_token_events(chunk, tokens)?,
            Work::Finish => scanner.finish_events(),
            Work::Flush => scanner.flush_events(),
            Work::ForceClose => scanner.force_close_events(),
        })
    }
}

/// The callback form of all of it.
///
/// # Safety
/// `scanner` is NULL or there; `callback` fits `user`.
#[inline]
unsafe fn with_callback(
    scanner: *mut aside_scanner,
    work: Work<'_>,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    let Some(callback) = callback else {
        return fail_null("callback");
    };
    let body = |stream: &mut Stream| {
        if let Some((channel, offset, text)) = work.plain(&mut stream.scanner) {
            stream.consumed = text.len();
            // SAFETY: the caller's promise; the record and the bytes outlive the call.
            let verdict = unsafe { callback(user, &text_record(channel, offset, text.len()), lend(text)) };
            return if verdict == 0 { ASIDE_OK } else { ASIDE_STOPPED };
        }
        let mut events = match work.start(&mut stream.scanner) {
            Ok(events) => events,
            Err(error) => return failed(error),
        };
        // SAFETY: the caller's promise.
        let status = unsafe { deliver(&mut events, &mut stream.lent, callback, user) };
        stream.consumed = events.consumed();
        status
    };
    // SAFETY: the caller's promise.
    unsafe { enter(scanner, is_ready, body) }
}

/// The event array form of all of it.
///
/// # Safety
/// `scanner` is NULL or there; `events` has `capacity` times `event_size` bytes; `out` is NULL or may be written.
#[inline]
unsafe fn into_array(
    scanner: *mut aside_scanner,
    work: Work<'_>,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    if out.is_null() {
        return fail_null("out");
    }
    let slots = match Slots::new(events, capacity, event_size) {
        Ok(slots) => slots,
        Err(status) => return status,
    };
    let body = |stream: &mut Stream| {
        if let Some((channel, offset, text)) = work.plain(&mut stream.scanner) {
            stream.consumed = text.len();
            // SAFETY: the capacity is at least 1; `out` is not NULL, and the caller promises that it may be written.
            unsafe {
                slots.write(0, &text_record(channel, offset, text.len()));
                out.write_unaligned(fed_text(1, text.len(), offset, &[]));
            }
            return ASIDE_OK;
        }
        clear(&mut stream.lent);
        let offset = stream.scanner.offset();
        let mut events = match work.start(&mut stream.scanner) {
            Ok(events) => events,
            Err(error) => return failed(error),
        };
        // SAFETY: the caller promises that the array is as large as it says.
        let filled = unsafe { fill(&mut events, &mut stream.lent, &slots) };
        stream.consumed = events.consumed();
        drop(events);
        let (status, count) = match filled {
            Ok(filled) => filled,
            Err(status) => return status,
        };
        let held = stream.scanner.before();
        let attributes = stream.lent.as_ref().map_or(&[][..], |lent| &lent.attributes);
        let fed = aside_fed {
            count,
            consumed: stream.consumed,
            offset,
            held: lend(held),
            held_len: held.len(),
            attributes: lend(attributes),
            attributes_len: attributes.len(),
        };
        // SAFETY: not NULL, and the caller promises that it may be written.
        unsafe { out.write_unaligned(fed) };
        status
    };
    // SAFETY: the caller's promise.
    unsafe { enter(scanner, is_ready, body) }
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

/// The caller's options, whichever version of the struct they are.
///
/// # Safety
/// `options` is NULL or has as many bytes as its `size` says.
unsafe fn options(options: *const aside_options) -> Result<Options, aside_status> {
    if options.is_null() {
        return Ok(Options::default());
    }
    // SAFETY: the caller's promise; the struct is made of plain numbers.
    let all = unsafe { read_sized(options, size_of::<size_t>(), "options") }?;
    if all.reserved != 0 || all.reserved2 != 0 {
        return Err(fail_with(ASIDE_ERROR_OPTION, "options.reserved or reserved2 is not 0"));
    }
    let start = start(all.start)?;
    let collect = (all.collect > 0).then(|| usize::try_from(all.collect).unwrap_or(usize::MAX));
    Ok(Options { start, collect, budget: budget(&all)? })
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

/// Gives a scanner to C.
fn hand_out(scanner: Result<Scanner, Error>) -> *mut aside_scanner {
    let scanner = match scanner {
        Ok(scanner) => scanner,
        Err(error) => {
            failed(error);
            return ptr::null_mut();
        }
    };
    let stream = UnsafeCell::new(Stream { scanner, consumed: 0, lent: None });
    match try_box(aside_scanner { gated: Gated { state: AtomicI32::new(READY), stream } }) {
        Some(scanner) => Box::into_raw(scanner),
        None => {
            fail(ASIDE_ERROR_MEMORY);
            ptr::null_mut()
        }
    }
}

/// == Scanners ==
///
/// Makes a scanner, at the start of a stream. `options` may be NULL: as the dialect says, nothing collected. Neither
/// is used after the call: the dialect may be freed before the scanner.
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
    guard(
        |_| ptr::null_mut(),
        || {
            // SAFETY: NULL or a dialect that is still there, as the caller promises.
            let Some(dialect) = (unsafe { dialect.as_ref() }) else {
                fail_null("dialect");
                return ptr::null_mut();
            };
            // SAFETY: NULL or as large as it says, as the caller promises.
            let Ok(options) = (unsafe { self::options(options) }) else {
                return ptr::null_mut();
            };
            hand_out(Scanner::with_options(&dialect.dialect, &options))
        },
    )
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
            clone = hand_out(stream.scanner.try_clone());
            ASIDE_OK
        })
    };
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
    unsafe { free(scanner, |scanner| scanner.gated.state.load(Relaxed) == BUSY) }
}

/// Says where the next stream starts, before its first byte: behind a rendered prompt that ends in the `len` bytes of
/// `tail`. Of those, what stands behind the dialect's last turn marker counts; it is read as if the model had written
/// it, so that the stream may start inside a span or a header, and framing of which the prompt has a part goes on in the
/// stream. Spans that are open open at offset 0, without bytes, when the first byte is fed. Finishing or resetting the
/// scanner goes back to its own start; so does a `len` of 0. `tail` is not used after the call.
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

/// Feeds the next `len` bytes of the stream, cut anywhere, and calls `callback` for each event that they settle. `buf`
/// may be NULL where `len` is 0; such a call delivers only what is still due after a pause. `buf` must not change during
/// the call and is not used after it; it must not be memory that the scanner lent.
///
/// Returns `ASIDE_OK`: all of `buf` is done. `ASIDE_STOPPED`: the callback paused; feed what is left, from
/// `buf + aside_scanner_consumed(scanner)` on, and events that are still due come first. Below 0: `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_ORDER` (nothing has changed after these);
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC` (the scanner stays in error).
///
/// Threads: one at a time for one scanner. Memory: none is allocated, collecting and attributes apart.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_feed(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and a callback that fits. The state is BUSY while the
    // callback runs, and `stream` is not used behind it.
    unsafe {
        if let Some(call) = callback
            && let Some((stream, chunk)) = ready(scanner, buf, len, SHORT)
            && let Some((_, offset)) = stream.scanner.short_text(chunk)
        {
            stream.consumed = len;
            return call_back(scanner, chunk, call, user, offset);
        }
        feed_any(scanner, buf, len, callback, user)
    }
}

/// `aside_scanner_feed` of all but short plain text. From here to `feed_by_engine`, all are of C's kind, which cannot unwind,
/// and have the same arguments: so the way there is a jump, and short text saves no registers for it.
///
/// # Safety
/// As of `aside_scanner_feed`.
#[inline(never)]
unsafe extern "C" fn feed_any(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller's promises.
    unsafe {
        match len > SHORT {
            true => feed_long(scanner, buf, len, callback, user),
            false => feed_calm(scanner, buf, len, callback, user),
        }
    }
}

/// The same of longer chunks.
///
/// # Safety
/// As of `aside_scanner_feed`.
#[inline(never)]
unsafe extern "C" fn feed_long(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and a callback that fits. The state is BUSY while the
    // callback runs, and `stream` is not used behind it.
    unsafe {
        if let Some(call) = callback
            && let Some((stream, chunk)) = ready(scanner, buf, len, isize::MAX as usize)
            && let Some((_, offset)) = stream.scanner.long_text(chunk)
        {
            stream.consumed = len;
            return call_back(scanner, chunk, call, user, offset);
        }
        feed_calm(scanner, buf, len, callback, user)
    }
}

/// The same of chunks that are not one plain text.
///
/// # Safety
/// As of `aside_scanner_feed`.
#[inline(never)]
unsafe extern "C" fn feed_calm(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and a callback that fits. The state is BUSY while the
    // callback runs, and `stream` is fetched anew behind it.
    unsafe {
        if let Some(call) = callback
            && let Some((stream, chunk)) = ready(scanner, buf, len, isize::MAX as usize)
            && let Some(calm) = stream.scanner.calm(chunk)
        {
            if calm.held > 0 {
                let held = stream.scanner.held_text(calm.held);
                if call_back(scanner, held, call, user, calm.offset) != ASIDE_OK {
                    return stop_behind_held(scanner, calm.held);
                }
            }
            let stream = &mut *(*scanner).gated.stream.get();
            stream.scanner.take(chunk, &calm);
            stream.consumed = len;
            let text = calm.text(chunk);
            return if text.is_empty() { ASIDE_OK } else { call_back(scanner, text, call, user, calm.text_offset()) };
        }
        feed_by_engine(scanner, buf, len, callback, user)
    }
}

/// The same where only the engine can tell; what is wrong comes here too.
///
/// # Safety
/// As of `aside_scanner_feed`.
#[inline(never)]
unsafe extern "C" fn feed_by_engine(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and a callback that fits.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => with_callback(scanner, Work::Feed(chunk), callback, user),
            Err(status) => status,
        }
    }
}

/// The callback has stopped behind the held text of a calm chunk. `held`: how many bytes that was.
///
/// # Safety
/// The scanner is there.
#[cold]
unsafe fn stop_behind_held(scanner: *mut aside_scanner, held: usize) -> aside_status {
    // SAFETY: the caller's promise.
    unsafe {
        enter(scanner, is_ready, |stream| {
            stream.consumed = 0;
            stream.scanner.take_held(held);
            ASIDE_STOPPED
        })
    }
}

/// Calls the callback with a text of the innermost channel.
///
/// # Safety
/// The scanner is there, and READY; `callback` fits `user`. A `&mut Stream` from before is not used again.
#[inline(never)]
unsafe fn call_back(
    scanner: *mut aside_scanner,
    text: &[u8],
    callback: EventFn,
    user: *mut c_void,
    offset: u64,
) -> aside_status {
    // SAFETY: the caller's promise; the record and the text outlive the call.
    unsafe {
        let channel = (*(*scanner).gated.stream.get()).scanner.channel();
        (*scanner).gated.state.store(BUSY, Relaxed);
        let verdict = callback(user, &text_record(channel, offset, text.len()), text.as_ptr().cast());
        (*scanner).gated.state.store(READY, Relaxed);
        if verdict == 0 { ASIDE_OK } else { ASIDE_STOPPED }
    }
}

/// Ends the stream: settles what is held back, closes what is open. After `ASIDE_OK` the scanner is as new, and the
/// next feed begins a new stream at offset 0.
///
/// Returns as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again until it says `ASIDE_OK`: a feed in between
/// fails with `ASIDE_ERROR_ORDER`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_finish(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and a callback that fits.
    unsafe { with_callback(scanner, Work::Finish, callback, user) }
}

/// Releases what is held back as text of its channel, and keeps the state: the stream goes on. For a host that must
/// show everything now; a marker of which a part was flushed is no marker any more.
///
/// Returns as `aside_scanner_feed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_flush(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and a callback that fits.
    unsafe { with_callback(scanner, Work::Flush, callback, user) }
}

/// `aside_scanner_feed()` for bytes whose tokens are known: `tokens` has `count` of them, and their lengths add up to
/// `len`. Markers that a dialect calls special then count only where a special token begins them, so that a marker typed
/// as ordinary text stays text, and `aside_scanner_counts()` tells the tokens of each channel. Feeds with and without
/// tokens may be mixed.
///
/// Returns as `aside_scanner_feed()`; `ASIDE_ERROR_LENGTH` also where the lengths do not add up: nothing has changed
/// then. After `ASIDE_STOPPED` call it again with what is left of the buffer and the tokens that are not wholly done, the
/// first of them with the length that is left of it.
///
/// Threads: one at a time for one scanner. Memory: the first such call makes room for what it must remember.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_feed_tokens(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    count: size_t,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes and `count` tokens, a scanner that is there, and a callback that fits.
    unsafe {
        match feed_of_tokens(buf, len, tokens, count) {
            Ok(work) => with_callback(scanner, work, callback, user),
            Err(status) => status,
        }
    }
}

/// The caller's bytes with their tokens.
///
/// # Safety
/// As of `bytes` and `tokens`.
#[inline]
unsafe fn feed_of_tokens<'a>(
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    count: size_t,
) -> Result<Work<'a>, aside_status> {
    // SAFETY: the caller's promise.
    let (chunk, tokens) = unsafe { (bytes(buf, len, "buf")?, self::tokens(tokens, count)?) };
    check_lengths(chunk, tokens).map_err(failed)?;
    Ok(Work::FeedTokens(chunk, tokens))
}

/// The caller's tokens. NULL is good where there are none.
///
/// # Safety
/// A pointer that is not NULL leads to `count` tokens that nobody changes during `'a`.
unsafe fn tokens<'a>(tokens: *const aside_token, count: usize) -> Result<&'a [Token], aside_status> {
    if tokens.is_null() {
        return if count == 0 { Ok(&[]) } else { Err(fail_null("tokens")) };
    }
    if count > isize::MAX as usize / size_of::<Token>() || !tokens.is_aligned() {
        return Err(fail_with(ASIDE_ERROR_LENGTH, "no array of tokens can be there"));
    }
    // SAFETY: not NULL, aligned and of a possible length; the layouts are the same, and any numbers will do.
    Ok(unsafe { std::slice::from_raw_parts(tokens.cast(), count) })
}

/// Closes the thinking that is open: releases what is held back as text, and ends the span with `ASIDE_CAUSE_FORCED`.
/// Where the innermost span is no thinking, nothing happens; nor before the first byte, where a prompt has opened one.
/// A closer that comes next, with only blanks before it, is removed (a fence's is not: it is text). For a host that ends
/// a thinking which has become too long.
///
/// Returns as `aside_scanner_feed()`. After `ASIDE_STOPPED` call it again; a feed in between goes on with the thinking,
/// if the close has not been delivered.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_force_close(
    scanner: *mut aside_scanner,
    callback: aside_event_fn,
    user: *mut c_void,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and a callback that fits.
    unsafe { with_callback(scanner, Work::ForceClose, callback, user) }
}

/// == Scanners, without a callback ==
///
/// `aside_scanner_feed()` for hosts where a callback is dear: writes the events into `events`, which has room for
/// `capacity` (at least 1) of `event_size` bytes each. `event_size` is `sizeof(aside_event)` of the caller's header; a
/// library of another version fills what both know, and zeroes the rest. Events have no pointers: `aside_fed` says
/// where their bytes are.
///
/// Returns `ASIDE_OK`: all of `buf` is done. `ASIDE_MORE`: the array is full, or nearly 64 KiB of attributes have come;
/// take the events, then call again with what is left of `buf`, `out->consumed` bytes further on (nothing left: with
/// `len` 0). Below 0 as `aside_scanner_feed()`, and `ASIDE_ERROR_SIZE`; `*out` is not written then, what is in `events`
/// means nothing, and `aside_scanner_consumed()` says how far it came.
///
/// Threads: one at a time for one scanner. Memory: none is allocated, collecting and attributes apart.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_feed_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and an array as large as it says.
    unsafe {
        if may_write(events, capacity, event_size, out)
            && let Some((stream, chunk)) = ready(scanner, buf, len, SHORT)
            && let Some((channel, offset)) = stream.scanner.short_text(chunk)
        {
            stream.consumed = len;
            write_text(events, out, channel, offset, len);
            return ASIDE_OK;
        }
        feed_any_into(scanner, buf, len, events, capacity, event_size, out)
    }
}

/// Are these outputs that an event can be written to without a closer look?
#[inline(always)]
fn may_write(events: *mut aside_event, capacity: size_t, event_size: size_t, out: *mut aside_fed) -> bool {
    // A power of two, which is cheaper to compare with; far more than any array has.
    const MOST: usize = 1 << (usize::BITS - 8);
    const { assert!(MOST <= isize::MAX as usize / size_of::<aside_event>()) };
    let is_ours = event_size == size_of::<aside_event>() && capacity.wrapping_sub(1) < MOST;
    is_ours && !events.is_null() && !out.is_null()
}

/// Writes what a feed comes to that is one text.
///
/// # Safety
/// Both may be written.
#[inline(always)]
unsafe fn write_text(events: *mut aside_event, out: *mut aside_fed, channel: Channel, offset: u64, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        events.write_unaligned(text_record(channel, offset, len));
        out.write_unaligned(fed_text(1, len, offset, &[]));
    }
}

/// `aside_scanner_feed_into` of all but short plain text. From here to `feed_by_engine_into` it is as from `feed_any` on.
///
/// # Safety
/// As of `aside_scanner_feed_into`.
#[inline(never)]
unsafe extern "C" fn feed_any_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller's promises.
    unsafe {
        match len > SHORT {
            true => feed_long_into(scanner, buf, len, events, capacity, event_size, out),
            false => feed_calm_into(scanner, buf, len, events, capacity, event_size, out),
        }
    }
}

/// The same of longer chunks.
///
/// # Safety
/// As of `aside_scanner_feed_into`.
#[inline(never)]
unsafe extern "C" fn feed_long_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes and a scanner that is there; `may_write` says that the outputs may be written.
    unsafe {
        if may_write(events, capacity, event_size, out)
            && let Some((stream, chunk)) = ready(scanner, buf, len, isize::MAX as usize)
            && let Some((channel, offset)) = stream.scanner.long_text(chunk)
        {
            stream.consumed = len;
            write_text(events, out, channel, offset, len);
            return ASIDE_OK;
        }
        feed_calm_into(scanner, buf, len, events, capacity, event_size, out)
    }
}

/// The same of chunks that are not one plain text.
///
/// # Safety
/// As of `aside_scanner_feed_into`.
#[inline(never)]
unsafe extern "C" fn feed_calm_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // Two events need room for two: with less, the pause between them is for the engine.
    let has_room = |calm: &Calm| capacity > 1 || calm.held == 0 || calm.len == 0;
    // SAFETY: the caller promises `len` bytes and a scanner that is there; `may_write` says that the outputs may be written,
    // `has_room` that there is a place for each event.
    unsafe {
        if may_write(events, capacity, event_size, out)
            && let Some((stream, chunk)) = ready(scanner, buf, len, isize::MAX as usize)
            && let Some(calm) = stream.scanner.calm(chunk).filter(has_room)
        {
            stream.scanner.take(chunk, &calm);
            stream.consumed = len;
            let channel = stream.scanner.channel();
            let mut count = 0;
            for (offset, text) in [(calm.offset, calm.held), (calm.text_offset(), calm.len)] {
                if text > 0 {
                    events.add(count).write_unaligned(text_record(channel, offset, text));
                    count += 1;
                }
            }
            let held = if calm.before > 0 { stream.scanner.before() } else { &[] };
            out.write_unaligned(fed_text(count, len, calm.offset + calm.before as u64, held));
            return ASIDE_OK;
        }
        feed_by_engine_into(scanner, buf, len, events, capacity, event_size, out)
    }
}

/// The same where only the engine can tell; what is wrong comes here too.
///
/// # Safety
/// As of `aside_scanner_feed_into`.
#[inline(never)]
unsafe extern "C" fn feed_by_engine_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is there, and an array as large as it says.
    unsafe {
        match bytes(buf, len, "buf") {
            Ok(chunk) => into_array(scanner, Work::Feed(chunk), events, capacity, event_size, out),
            Err(status) => status,
        }
    }
}

/// The cheapest way to feed, for hosts where even an event array is dear: takes `buf` if all of it is text of one
/// channel and nothing else happens, as with most tokens. Otherwise nothing is fed, and the same `buf` goes to
/// `aside_scanner_feed_into()` or `aside_scanner_feed()`. They give the same events: such a feed is one event
/// `ASIDE_TEXT`, at the offset that `aside_scanner_offset()` had before.
///
/// Returns the channel (`ASIDE_CONTENT` and the others, 0 or above), or `ASIDE_NOT_TEXT` where nothing was fed: also
/// where something is wrong, of which the other two say what.
///
/// Threads: one at a time for one scanner. Memory: none is allocated.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_feed_text(scanner: *mut aside_scanner, buf: *const c_char, len: size_t) -> i32 {
    // SAFETY: the caller promises `len` bytes, and a scanner that is there.
    unsafe {
        if let Some((stream, chunk)) = ready(scanner, buf, len, isize::MAX as usize)
            && let Some((channel, _)) = stream.scanner.plain_text(chunk)
        {
            stream.consumed = len;
            return channel as i32;
        }
    }
    ASIDE_NOT_TEXT
}

/// Which bytes change nothing where the stream now stands, so that a host for which a call is dear need not make one for
/// each token. A chunk that is made of these bytes alone, all of them ASCII, is text of one channel, and the stream stands
/// behind it where it stood. The host may pass over such chunks, as many as come, and adds up their lengths: what it would
/// be told of each is one event `ASIDE_TEXT` with all its bytes. The first chunk with another byte it feeds, and asks
/// again: with any feed the bytes may change.
///
/// `bytes` is a set: byte `b` is in it where `bytes[b / 64] >> b % 64 & 1` is 1; there are four numbers. Passed chunks
/// are not the scanner's until `aside_scanner_skip()` has said how long they are together.
///
/// Returns the channel (`ASIDE_CONTENT` and the others, 0 or above) with `bytes` filled, or `ASIDE_NOT_TEXT` where every
/// chunk has to be fed, and nothing is written: before the first byte, with bytes held back or events due, with a budget
/// for this channel, in text that is collected, once tokens have come, and where something is wrong.
///
/// Threads: one at a time for one scanner. Memory: none is allocated.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_quiet(scanner: *const aside_scanner, bytes: *mut u64) -> i32 {
    if scanner.is_null() || bytes.is_null() {
        return ASIDE_NOT_TEXT;
    }
    // SAFETY: the caller promises a scanner that is there, in which nobody is while it is READY, and four numbers.
    unsafe {
        if (*scanner).gated.state.load(Relaxed) == READY
            && let Some((channel, quiet)) = (*(*scanner).gated.stream.get()).scanner.quiet()
        {
            bytes.cast::<[u64; 4]>().write_unaligned(quiet);
            return channel as i32;
        }
    }
    ASIDE_NOT_TEXT
}

/// Says that chunks of `len` bytes in all have passed outside that `aside_scanner_quiet()` allowed: offset and counts go
/// on as if they had been fed. Call it before any other call for this scanner, but for `aside_scanner_feed_text()`: what
/// that takes may come before.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_ORDER` where no such chunk can have passed, and for more bytes than any stream has;
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`. After an error nothing has changed.
/// Whether the bytes were those that it said, and were told as text of that channel, nobody but the host can see.
///
/// Threads: one at a time for one scanner. Memory: none is allocated.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_skip(scanner: *mut aside_scanner, len: u64) -> aside_status {
    // SAFETY: NULL or there, as the caller promises.
    unsafe {
        enter(scanner, is_ready, |stream| match stream.scanner.skip(len) {
            true => ASIDE_OK,
            false => fail_with(ASIDE_ERROR_ORDER, "where the stream stands, no bytes can have passed outside"),
        })
    }
}

/// `aside_scanner_finish()` into an array, as `aside_scanner_feed_into()`. All bytes of its events are in `out->held`.
/// After `ASIDE_MORE` call it again until it says `ASIDE_OK`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_finish_into(
    scanner: *mut aside_scanner,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and an array as large as it says.
    unsafe { into_array(scanner, Work::Finish, events, capacity, event_size, out) }
}

/// `aside_scanner_flush()` into an array, as `aside_scanner_feed_into()`. All bytes of its events are in `out->held`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_flush_into(
    scanner: *mut aside_scanner,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and an array as large as it says.
    unsafe { into_array(scanner, Work::Flush, events, capacity, event_size, out) }
}

/// `aside_scanner_feed_tokens()` into an array, as `aside_scanner_feed_into()`. After `ASIDE_MORE` call it again with
/// what is left of the buffer and the tokens that are not wholly done, the first of them with the length that is left.
///
/// Threads: one at a time for one scanner. Memory: the first such call makes room for what it must remember.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_feed_tokens_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    count: size_t,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes and `count` tokens, a scanner that is there, and an array as large as it
    // says.
    unsafe {
        match feed_of_tokens(buf, len, tokens, count) {
            Ok(work) => into_array(scanner, work, events, capacity, event_size, out),
            Err(status) => status,
        }
    }
}

/// `aside_scanner_force_close()` into an array, as `aside_scanner_feed_into()`. All bytes of its events are in
/// `out->held`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_force_close_into(
    scanner: *mut aside_scanner,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and an array as large as it says.
    unsafe { into_array(scanner, Work::ForceClose, events, capacity, event_size, out) }
}

/// == The state of a scanner ==
///
/// Drops everything, and makes the scanner as new: what was held back, thoughts not taken, and every error but
/// `ASIDE_ERROR_PANIC`. Memory that it lent is no longer good.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_reset(scanner: *mut aside_scanner) -> aside_status {
    // SAFETY: the caller promises a scanner that is NULL or there; inside, it is not NULL.
    unsafe {
        let status = enter(scanner, is_whole, |stream| {
            stream.scanner.reset();
            stream.consumed = 0;
            stream.lent = None;
            ASIDE_OK
        });
        if status == ASIDE_OK {
            (*scanner).gated.state.store(READY, Relaxed);
        }
        status
    }
}

/// How many bytes of the last feed's buffer are done. Inside a callback of the same scanner, and after
/// `ASIDE_ERROR_PANIC`, 0 with a message; the same for NULL.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_consumed(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.consumed) }
}

/// How many bytes are held back now, because they may still become part of a marker or of a character. 0 as
/// `aside_scanner_consumed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_held(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.held().len()) }
}

/// The most bytes that this scanner holds back for what may come. In a pause, a marker whose events are still due is held
/// too. 0 as `aside_scanner_consumed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_max_hold(scanner: *const aside_scanner) -> size_t {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.max_hold()) }
}

/// The offset in the stream of the next byte to be fed. 0 as `aside_scanner_consumed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_offset(scanner: *const aside_scanner) -> u64 {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.offset()) }
}

/// How much of a channel's text was reported since the stream began; of the stream that was finished last, until
/// another begins. What is held back counts when it is reported. `channel` is `ASIDE_CONTENT`, `ASIDE_THINKING`,
/// `ASIDE_NARRATION` or `ASIDE_TOOL`. Set `counts->size` to `sizeof(aside_counts)` before.
///
/// Returns `ASIDE_OK` with `*counts` filled, `ASIDE_ERROR_NULL`, `ASIDE_ERROR_RANGE` (no such channel),
/// `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_counts(
    scanner: *const aside_scanner,
    channel: u32,
    counts: *mut aside_counts,
) -> aside_status {
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_to_fill(counts, "counts") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    let channel = match channel {
        ASIDE_CONTENT => Channel::Content,
        ASIDE_THINKING => Channel::Thinking,
        ASIDE_NARRATION => Channel::Narration,
        ASIDE_TOOL => Channel::Tool,
        other => return fail_with(ASIDE_ERROR_RANGE, format_args!("{other} is no channel")),
    };
    // SAFETY: NULL or there, as the caller promises; `counts` may be written as far as its size says.
    unsafe {
        enter(scanner, is_whole, |stream| {
            let crate::Counts { bytes, characters, spans, tokens } = stream.scanner.counts(channel);
            fill_sized(counts, size, aside_counts { size, bytes, characters, spans, tokens });
            ASIDE_OK
        })
    }
}

/// == Whole thoughts ==
///
/// Takes the oldest thought that has ended and was not taken yet, of a scanner that was made with `options.collect`.
/// Set `thought->size` to `sizeof(aside_thought)` before. The memory that `*thought` leads to is the scanner's; see
/// `aside_thought` for how long it is good.
///
/// Returns `ASIDE_OK` with `*thought` filled; `ASIDE_NONE` where there is none (`*thought` is not written, and the one
/// taken before is no longer good); `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_MEMORY`,
/// `ASIDE_ERROR_PANIC`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_take_thought(
    scanner: *mut aside_scanner,
    thought: *mut aside_thought,
) -> aside_status {
    // SAFETY: every version begins with its size, and the caller promises that many bytes.
    let size = match unsafe { size_to_fill(thought, "thought") } {
        Ok(size) => size,
        Err(status) => return status,
    };
    // SAFETY: NULL or there, as the caller promises; `thought` may be written as far as its size says.
    unsafe {
        enter(scanner, is_whole, |stream| match take(stream, size) {
            Ok(Some(taken)) => {
                fill_sized(thought, size, taken);
                ASIDE_OK
            }
            Ok(None) => ASIDE_NONE,
            Err(status) => status,
        })
    }
}

/// How many thoughts were lost since the start or the last reset, because 1,024 were waiting. 0 as
/// `aside_scanner_consumed()`.
///
/// Threads: one at a time for one scanner.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_lost_thoughts(scanner: *const aside_scanner) -> u64 {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { read(scanner, |stream| stream.scanner.lost_thoughts()) }
}

/// Moves the oldest thought into lent memory and shows it as C sees it.
fn take(stream: &mut Stream, size: usize) -> Result<Option<aside_thought>, aside_status> {
    let lent = lent(&mut stream.lent)?;
    lent.pairs.clear();
    lent.thought = stream.scanner.take_thought();
    let Some(thought) = &lent.thought else {
        return Ok(None);
    };
    lent.pairs.try_reserve(thought.attributes.len()).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    lent.pairs.extend(thought.attributes.iter().map(|(name, value)| aside_attribute {
        name: lend(name),
        name_len: name.len(),
        value: lend(value),
        value_len: value.len(),
    }));
    let thought_type = thought.thought_type.as_deref();
    Ok(Some(aside_thought {
        size,
        text: lend(&thought.text),
        text_len: thought.text.len(),
        offset: thought.offset,
        cause: thought.cause as u32,
        truncated: thought.truncated.into(),
        has_thought_type: thought_type.is_some().into(),
        has_confidence: thought.confidence.is_some().into(),
        thought_type: lend(thought_type.unwrap_or_default()),
        thought_type_len: thought_type.unwrap_or_default().len(),
        confidence: thought.confidence.unwrap_or(0.0),
        attributes: lent.pairs.as_ptr(),
        attribute_count: lent.pairs.len(),
    }))
}

/// Panics inside a scanner, so that tests can see what C gets then. No release has it.
#[cfg(feature = "panic-hook")]
#[ffi_export]
pub unsafe extern "C" fn aside_test_panic(scanner: *mut aside_scanner) -> aside_status {
    // SAFETY: NULL or there, as the caller promises.
    unsafe { enter(scanner, is_ready, |_| panic!("asked for by aside_test_panic")) }
}
