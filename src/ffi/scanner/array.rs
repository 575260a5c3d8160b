//! Feeding into an array of events, for hosts where callbacks are expensive. No pointer is written into the array.

use std::ptr;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::borrowed::{Borrowed, append, clear};
use super::event::{aside_event, record, text_record};
use super::feed::feed;
use super::handle::{Stream, aside_scanner, enter};
use super::sink::{Sink, Work};
use super::token::{aside_token, feed_of_tokens};
use crate::ffi::constants::*;
use crate::ffi::handle_guard::is_ready;
use crate::ffi::memory::{STRUCT_MAX, as_c_ptr, layout};
use crate::ffi::status::{fail_null, fail_with, failed};
use crate::scanner::Text;
use crate::{Events, Kind};

/// What a call with an event array reports next to the events. Filled by the library, on success and on `ASIDE_MORE`
/// only.
///
/// The bytes of an event begin at `buf[event.offset - offset]`, and there are `event.len` of them. If `event.offset` is
/// below `offset`, the event begins in bytes that an earlier call had held back: these are the last ones of `held`. The
/// rest of it, if any, is at the start of `buf`.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_fed {
    /// How many events were written.
    pub count: size_t,
    /// How many bytes of `buf` are done: they are fed, and must not be fed again.
    pub consumed: size_t,
    /// The offset in the stream of `buf[0]`.
    pub offset: u64,
    /// The bytes directly before `buf[0]` that had been held back. Never NULL; memory of the scanner, valid until the
    /// next call with this scanner. After `aside_scanner_start_from_prompt()` it may begin with bytes of the prompt,
    /// which are in no event.
    pub held: *const c_char,
    /// Its length.
    pub held_len: size_t,
    /// Names and decoded values of the attributes, at `event.text_at`. Never NULL; memory of the scanner, valid until
    /// the next call with this scanner.
    pub attributes: *const c_char,
    /// Its length.
    pub attributes_len: size_t,
}

// No layout ever changes; C checks the same in tests/c/layout.c.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_fed 56: count 0, consumed 8, offset 16, held 24, held_len 32, attributes 40, attributes_len 48);
};

/// With this much attribute text in an event array's call, the call pauses: what a scanner holds stays bounded.
const ATTRIBUTES_LIMIT: usize = 64 * 1024;
/// The fields of an event up to `len`: no version of the struct was ever smaller.
const EVENT_MIN: usize = 32;

/// What an array's call says of a feed that had no attributes.
#[inline]
fn fed_text(count: usize, consumed: usize, offset: u64, held: &[u8]) -> aside_fed {
    let attributes = c"".as_ptr();
    aside_fed { count, consumed, offset, held: as_c_ptr(held), held_len: held.len(), attributes, attributes_len: 0 }
}

/// The caller's array of events, whose entries are as large as the caller's header says, and the report of the call.
#[derive(Clone, Copy)]
struct Array {
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
}

impl Array {
    /// Refuses what no events can be written to.
    fn check(&self) -> Result<(), aside_status> {
        if self.out.is_null() {
            return Err(fail_null("out"));
        }
        if self.events.is_null() {
            return Err(fail_null("events"));
        }
        if self.capacity == 0 {
            return Err(fail_with(ASIDE_ERROR_SIZE, "capacity is 0: such a call could never go on"));
        }
        if !(EVENT_MIN..=STRUCT_MAX).contains(&self.event_size) {
            return Err(fail_with(ASIDE_ERROR_SIZE, "event_size is not sizeof(aside_event) of any version"));
        }
        if self.capacity.checked_mul(self.event_size).is_none_or(|all| all > isize::MAX as usize) {
            return Err(fail_with(ASIDE_ERROR_SIZE, "capacity times event_size is above PTRDIFF_MAX"));
        }
        Ok(())
    }

    /// # Safety
    /// `index` is below the capacity, and the array is as large as its caller said.
    #[inline]
    unsafe fn write(&self, index: usize, event: &aside_event) {
        let whole = size_of::<aside_event>();
        // SAFETY: the slot is inside the array; at most its size is written.
        unsafe {
            let slot = self.events.cast::<u8>().add(index * self.event_size);
            if self.event_size == whole {
                slot.cast::<aside_event>().write_unaligned(*event);
            } else {
                ptr::copy_nonoverlapping(ptr::from_ref(event).cast(), slot, self.event_size.min(whole));
                // A later version's fields: 0 is what they say where they say nothing.
                ptr::write_bytes(slot.add(self.event_size.min(whole)), 0, self.event_size.saturating_sub(whole));
            }
        }
    }

    /// Writes events until the array is full or there are none. Returns how many.
    ///
    /// # Safety
    /// The array is as large as its caller said.
    #[inline]
    unsafe fn fill(
        &self,
        events: &mut Events<'_>,
        place: &mut Option<Box<Borrowed>>,
    ) -> Result<(aside_status, usize), aside_status> {
        let mut count = 0;
        let mut attributes = 0;
        while count < self.capacity && attributes < ATTRIBUTES_LIMIT {
            let Some(event) = events.next().map_err(failed)? else {
                return Ok((ASIDE_OK, count));
            };
            let mut record = record(&event);
            let named = match &event.kind {
                Kind::Attribute(attribute) => Some((attribute.name, attribute.value)),
                Kind::CallName(Some(name)) => Some((&[][..], *name)),
                _ => None,
            };
            if let Some((name, value)) = named {
                let (at, text) = append(place, name, value)?;
                record.text_at = at as u32;
                attributes = text.len();
            }
            // SAFETY: `count` is below the capacity.
            unsafe { self.write(count, &record) };
            count += 1;
        }
        Ok((ASIDE_MORE, count))
    }
}

impl Sink for Array {
    // What was held when the call began must stay as it was for whoever reads the events.
    const IN_PARTS: bool = false;

    #[inline(always)]
    fn is_sound(self) -> bool {
        // A power of two, which is cheaper to compare with; far more than any array has.
        const MOST: usize = 1 << (usize::BITS - 8);
        const { assert!(MOST <= isize::MAX as usize / size_of::<aside_event>()) };
        let is_ours = self.event_size == size_of::<aside_event>() && self.capacity.wrapping_sub(1) < MOST;
        is_ours && !self.events.is_null() && !self.out.is_null()
    }

    #[inline(always)]
    unsafe fn text(self, scanner: *mut aside_scanner, kind: aside_kind, chunk: &[u8], text: Text) -> aside_status {
        // SAFETY: the caller's promise: the scanner is there, and both outputs may be written.
        unsafe {
            let scanner = &(*(*scanner).guard.inner.get()).scanner;
            let held = if text.is_held { scanner.before() } else { &[] };
            if text.len > 0 {
                let record = text_record(scanner.channel(), text.offset, text.len);
                self.events.write_unaligned(aside_event { kind, ..record });
            }
            let offset = text.offset + held.len() as u64;
            self.out.write_unaligned(fed_text(usize::from(text.len > 0), chunk.len(), offset, held));
        }
        ASIDE_OK
    }

    #[inline(never)]
    unsafe fn events(self, scanner: *mut aside_scanner, work: Work<'_>, fed: usize) -> aside_status {
        if let Err(status) = self.check() {
            return status;
        }
        let body = |stream: &mut Stream| {
            if let Some((chunk, text)) = work.advance(&mut stream.scanner) {
                stream.consumed = chunk.len();
                // SAFETY: the capacity is at least 1; `out` is not NULL, and the caller promises that it may be written.
                unsafe {
                    self.write(0, &text_record(stream.scanner.channel(), text.offset, text.len));
                    self.out.write_unaligned(fed_text(1, chunk.len(), text.offset, &[]));
                }
                return ASIDE_OK;
            }
            clear(&mut stream.borrowed);
            let offset = stream.scanner.offset();
            let mut events = match work.start(&mut stream.scanner) {
                Ok(events) => events,
                Err(error) => return failed(error),
            };
            // SAFETY: the caller promises that the array is as large as it says.
            let filled = unsafe { self.fill(&mut events, &mut stream.borrowed) };
            stream.consumed = fed + events.consumed();
            drop(events);
            let (status, count) = match filled {
                Ok(filled) => filled,
                Err(status) => return status,
            };
            let held = stream.scanner.before();
            let attributes = stream.borrowed.as_ref().map_or(&[][..], |borrowed| &borrowed.attributes);
            let fed = aside_fed {
                count,
                consumed: stream.consumed,
                offset,
                held: as_c_ptr(held),
                held_len: held.len(),
                attributes: as_c_ptr(attributes),
                attributes_len: attributes.len(),
            };
            // SAFETY: not NULL, and the caller promises that it may be written.
            unsafe { self.out.write_unaligned(fed) };
            status
        };
        // SAFETY: the caller's promise.
        unsafe { enter(scanner, is_ready, body) }
    }
}

/// Feeds as `aside_scanner_feed()`, for hosts where callbacks are expensive: writes the events into `events`, which has
/// room for `capacity` (at least 1) of `event_size` bytes each. `event_size` is `sizeof(aside_event)` of the caller's
/// header; a library of another version fills what both know, and zeroes the rest. Events have no pointers: `aside_fed`
/// says where their bytes are.
///
/// Returns `ASIDE_OK`: all of `buf` is done. `ASIDE_MORE`: the array is full, or `out->attributes` has reached 64 KiB
/// (it is longer if the last attribute is); take the events, then call again with what is left of `buf`,
/// `out->consumed` bytes further on (if nothing is left, with `len` 0). Below 0 as `aside_scanner_feed()`, and
/// `ASIDE_ERROR_SIZE`; `*out` is not written then, the contents of `events` mean nothing, and
/// `aside_scanner_consumed()` returns how far it came.
///
/// Memory: none is allocated, except for collecting, headers, and tags with attributes.
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
    unsafe { feed(scanner, buf, len, Array { events, capacity, event_size, out }) }
}

/// Finishes as `aside_scanner_finish()`, into an array as `aside_scanner_feed_into()`. All bytes of its events are in
/// `out->held`. After `ASIDE_MORE` call it again until it returns `ASIDE_OK`.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_finish_into(
    scanner: *mut aside_scanner,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and an array as large as it says.
    unsafe { Array { events, capacity, event_size, out }.events(scanner, Work::Finish, 0) }
}

/// Flushes as `aside_scanner_flush()`, into an array as `aside_scanner_feed_into()`. All bytes of its events are in
/// `out->held`.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_flush_into(
    scanner: *mut aside_scanner,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and an array as large as it says.
    unsafe { Array { events, capacity, event_size, out }.events(scanner, Work::Flush, 0) }
}

/// Feeds as `aside_scanner_feed_tokens()`, into an array as `aside_scanner_feed_into()`. After `ASIDE_MORE` call it
/// again with what is left of the buffer and the tokens that are not wholly done, the first of them with the length
/// that is left.
///
/// Memory: the first such call allocates what it must remember.
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
            Ok(work) => Array { events, capacity, event_size, out }.events(scanner, work, 0),
            Err(status) => status,
        }
    }
}

/// Closes the thinking as `aside_scanner_force_close()`, into an array as `aside_scanner_feed_into()`. All bytes of its
/// events are in `out->held`.
#[ffi_export]
pub unsafe extern "C" fn aside_scanner_force_close_into(
    scanner: *mut aside_scanner,
    events: *mut aside_event,
    capacity: size_t,
    event_size: size_t,
    out: *mut aside_fed,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is there, and an array as large as it says.
    unsafe { Array { events, capacity, event_size, out }.events(scanner, Work::ForceClose, 0) }
}
