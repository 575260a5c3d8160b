//! Feeding into an array of events.

use std::ptr;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::feed::{Work, append, clear, feed_of_tokens, record, text_record};
use super::{Lent, Stream, enter, failed, inside, ready};
use crate::ffi::gate::is_ready;
use crate::ffi::memory::{STRUCT_MAX, bytes, lend};
use crate::ffi::status::{fail_null, fail_with};
use crate::ffi::types::*;
use crate::scanner::SHORT;
use crate::{Channel, Events, Kind};

/// With this much attribute text in an event array's call, the call pauses: what a scanner holds stays bounded.
const ATTRIBUTES_LIMIT: usize = 64 * 1024;
/// The fields of an event up to `len`: no version of the struct was ever smaller.
const EVENT_MIN: usize = 32;

/// What an array's call says of a feed that had no attributes.
#[inline]
fn fed_text(count: usize, consumed: usize, offset: u64, held: &[u8]) -> aside_fed {
    let attributes = c"".as_ptr();
    aside_fed { count, consumed, offset, held: lend(held), held_len: held.len(), attributes, attributes_len: 0 }
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

/// == Scanners, without a callback ==
///
/// `aside_scanner_feed()` for hosts where a callback is dear: writes the events into `events`, which has room for
/// `capacity` (at least 1) of `event_size` bytes each. `event_size` is `sizeof(aside_event)` of the caller's header; a
/// library of another version fills what both know, and zeroes the rest. Events have no pointers: `aside_fed` says
/// where their bytes are.
///
/// Returns `ASIDE_OK`: all of `buf` is done. `ASIDE_MORE`: the array is full, or `out->attributes` has reached 64 KiB (it is
/// longer where the last attribute is); take the events, then call again with what is left of `buf`, `out->consumed` bytes
/// further on (nothing left: with `len` 0). Below 0 as `aside_scanner_feed()`, and `ASIDE_ERROR_SIZE`; `*out` is not
/// written then, what is in `events` means nothing, and `aside_scanner_consumed()` says how far it came.
///
/// Threads: one at a time for one scanner. Memory: none is allocated, but for collecting, headers, and tags with attributes.
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
        {
            if let Some((channel, offset)) = stream.scanner.short_text(chunk) {
                stream.consumed = len;
                write_text(events, out, (channel, offset, len), len, &[]);
                return ASIDE_OK;
            }
            return match stream.scanner.is_holding() {
                true => feed_joined_into(scanner, buf, len, events, capacity, event_size, out),
                false => feed_fresh_into(scanner, buf, len, events, capacity, event_size, out),
            };
        }
        feed_long_into(scanner, buf, len, events, capacity, event_size, out)
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

/// Writes what a feed comes to that is one text at most. `held`: what was held before, with which the text then begins.
///
/// # Safety
/// Both may be written.
#[inline(always)]
unsafe fn write_text(
    events: *mut aside_event,
    out: *mut aside_fed,
    (channel, offset, len): (Channel, u64, usize),
    consumed: usize,
    held: &[u8],
) {
    // SAFETY: the caller's promise.
    unsafe {
        if len > 0 {
            events.write_unaligned(text_record(channel, offset, len));
        }
        out.write_unaligned(fed_text(usize::from(len > 0), consumed, offset + held.len() as u64, held));
    }
}

/// `aside_scanner_feed_into` of longer chunks, and of what is wrong. From here to `feed_by_engine_into` it is as from
/// `feed_long` on in `callback`.
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
        {
            if let Some((channel, offset)) = stream.scanner.long_text(chunk) {
                stream.consumed = len;
                write_text(events, out, (channel, offset, len), len, &[]);
                return ASIDE_OK;
            }
            // A text that begins in what is held has to be copied by its reader, a long one for nothing: it is told in two.
            let is_holding = stream.scanner.is_holding();
            if (capacity > 1 || !is_holding)
                && let Some((channel, offset, text)) = stream.scanner.long_part(chunk)
            {
                stream.consumed = len;
                let held = if is_holding { stream.scanner.before() } else { &[] };
                let own = offset + held.len() as u64;
                let mut count = 0;
                for (offset, len) in [(offset, held.len()), (own, text - held.len())] {
                    if len > 0 {
                        events.add(count).write_unaligned(text_record(channel, offset, len));
                        count += 1;
                    }
                }
                out.write_unaligned(fed_text(count, len, own, held));
                return ASIDE_OK;
            }
        }
        feed_by_engine_into(scanner, buf, len, events, capacity, event_size, out)
    }
}

/// The same of short chunks that are not one plain text, where nothing is held that is calm.
///
/// # Safety
/// `ready` gives the stream and the chunk; `may_write` said that the outputs may be written.
#[inline(never)]
unsafe extern "C" fn feed_fresh_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller's promise.
    unsafe {
        let (stream, chunk) = inside(scanner, buf, len);
        if let Some(text) = stream.scanner.fresh_text(chunk) {
            stream.consumed = len;
            write_text(events, out, text, len, &[]);
            return ASIDE_OK;
        }
        feed_by_engine_into(scanner, buf, len, events, capacity, event_size, out)
    }
}

/// The same where something is held, which the text then begins with.
///
/// # Safety
/// As of `feed_fresh_into`.
#[inline(never)]
unsafe extern "C" fn feed_joined_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller's promise.
    unsafe {
        let (stream, chunk) = inside(scanner, buf, len);
        if let Some((channel, offset, text)) = stream.scanner.joined_text(chunk) {
            let text = (channel, offset, text.len());
            stream.consumed = len;
            write_text(events, out, text, len, stream.scanner.before());
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
