//! Feeding into an array of events, for hosts where callbacks are expensive. No pointer is written into the array.

use std::mem::offset_of;
use std::ptr;

use libc::{c_char, size_t};

use super::borrowed::{Borrowed, append, clear};
use super::event::{aside_event, check_event_size, record, text_record};
use super::feed::feed;
use super::handle::{Stream, aside_scanner, enter};
use super::sink::{Input, Sink, kind};
use super::token::{aside_token, feed_of_tokens};
use crate::ffi::bytes::aside_bytes;
use crate::ffi::constants::*;
use crate::ffi::handle_guard::is_ready;
use crate::ffi::memory::{Versioned, layout, read_sized};
use crate::ffi::status::{fail_null, fail_with, failed};
use crate::scanner::{Part, Take};
use crate::{Events, Kind};

/// The array that a call fills with events, and its other results. Set all of it to zero, then `size`, `events`, `event_size` and
/// `capacity`, once for all calls; later versions may add fields at the end. The fields after `capacity` are filled by the library,
/// on success and on `ASIDE_MORE` only.
///
/// The bytes of an event begin at `buf[event.offset - offset]`, and there are `event.len` of them. If `event.offset` is
/// below `offset`, the event begins in bytes that an earlier call had held back: in the last `offset - event.offset` bytes
/// of `held`. The rest of the event, if any, is at the start of `buf`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_event_array {
    /// `sizeof(aside_event_array)` of the caller's header.
    pub size: size_t,
    /// Room for `capacity` events, each `event_size` bytes after the one before. The library does not keep the pointer.
    pub events: *mut aside_event,
    /// `sizeof(aside_event)` of the caller's header: at least 32. A library of a different version fills the fields that both have,
    /// and sets the rest to 0.
    pub event_size: size_t,
    /// The number of events for which there is room, at least 1.
    pub capacity: size_t,
    /// The number of events that were written.
    pub count: size_t,
    /// The number of bytes of `buf` that are consumed and must not be fed again.
    pub consumed: size_t,
    /// The offset in the stream of `buf[0]`.
    pub offset: u64,
    /// The bytes directly before `buf[0]` that had been held back: memory of the scanner, valid until the next call with
    /// this scanner. After `aside_scanner_start_from_prompt()`, they may begin with bytes of the prompt, which belong to no event.
    pub held: aside_bytes,
    /// Names and decoded values of the attributes, at `event.text_at`: memory of the scanner, valid until the next call
    /// with this scanner.
    pub attributes: aside_bytes,
}

impl Versioned for aside_event_array {
    const FIRST: usize = offset_of!(aside_event_array, attributes) + size_of::<aside_bytes>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_event_array 88: size 0, events 8, event_size 16, capacity 24, count 32, consumed 40, offset 48, held 56,
        attributes 72);
    assert!(aside_event_array::FIRST == 88);
};

/// The number of bytes of attribute text at which a call with an event array pauses, so that a scanner's memory stays bounded.
const ATTRIBUTES_LIMIT: usize = 64 * 1024;

/// The fields that a call fills, in the order of the struct.
#[repr(C)]
struct Report {
    count: size_t,
    consumed: size_t,
    offset: u64,
    held: aside_bytes,
    attributes: aside_bytes,
}

const _: () = assert!(
    offset_of!(aside_event_array, count) + size_of::<Report>() == size_of::<aside_event_array>()
        && offset_of!(Report, attributes)
            == offset_of!(aside_event_array, attributes) - offset_of!(aside_event_array, count)
);

impl Report {
    /// Returns the report of a call that had no attributes.
    #[inline(always)]
    fn without_attributes(count: usize, consumed: usize, offset: u64, held: &[u8]) -> Report {
        Report { count, consumed, offset, held: aside_bytes::lend(held), attributes: aside_bytes::lend(&[]) }
    }
}

/// The caller's array.
#[derive(Clone, Copy)]
struct Array(*mut aside_event_array);

impl Array {
    /// Returns the room for events.
    ///
    /// # Safety
    /// The array is NULL or as large as its size says.
    unsafe fn slots(self) -> Result<Slots, aside_status> {
        // SAFETY: the caller meets this function's conditions, and the struct is made of plain numbers and pointers that may be
        // NULL.
        let aside_event_array { events, event_size, capacity, .. } = unsafe { read_sized(self.0, "array") }?;
        if events.is_null() {
            return Err(fail_null("array->events"));
        }
        if capacity == 0 {
            return Err(fail_with(ASIDE_ERROR_SIZE, "array->capacity is 0: such a call could never finish"));
        }
        check_event_size(event_size)?;
        if capacity.checked_mul(event_size).is_none_or(|all| all > isize::MAX as usize) {
            return Err(fail_with(ASIDE_ERROR_SIZE, "capacity times event_size is above PTRDIFF_MAX"));
        }
        Ok(Slots { events, event_size, capacity })
    }

    /// Fills the fields after `capacity`.
    ///
    /// # Safety
    /// The array has all the fields of this version; they need not be aligned.
    #[inline(always)]
    unsafe fn report(self, report: Report) {
        const AT: usize = offset_of!(aside_event_array, count);
        // SAFETY: the caller's promise; the report has the fields from there on.
        unsafe { self.0.byte_add(AT).cast::<Report>().write_unaligned(report) };
    }
}

/// Room for events, with entries of the size in the caller's header.
struct Slots {
    events: *mut aside_event,
    event_size: size_t,
    capacity: size_t,
}

impl Slots {
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
                // The fields of a later version become 0, which means that they are not set.
                ptr::write_bytes(slot.add(self.event_size.min(whole)), 0, self.event_size.saturating_sub(whole));
            }
        }
    }

    /// Writes events until the array is full or no event is left. Returns the number of written events.
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
    // The sink accepts only whole parts, because bytes that were held when the call began must not change while the events are
    // read.
    const TAKE: Take = Take::Whole;

    #[inline(always)]
    unsafe fn is_sound(self) -> bool {
        // A bound that no array reaches; a power of two is cheaper to compare with.
        const MOST: usize = 1 << (usize::BITS - 8);
        const { assert!(MOST <= isize::MAX as usize / size_of::<aside_event>()) };
        if self.0.is_null() {
            return false;
        }
        // SAFETY: not NULL, and the caller promises the fields that are read: the size is examined first.
        unsafe {
            (&raw const (*self.0).size).read_unaligned() == size_of::<aside_event_array>()
                && (&raw const (*self.0).event_size).read_unaligned() == size_of::<aside_event>()
                && (&raw const (*self.0).capacity).read_unaligned().wrapping_sub(1) < MOST
                && !(&raw const (*self.0).events).read_unaligned().is_null()
        }
    }

    #[inline(always)]
    unsafe fn part(self, scanner: *mut aside_scanner, chunk: &[u8], part: Part) -> aside_status {
        // SAFETY: the caller's promise: the scanner is valid, and so is the array with room for an event.
        unsafe {
            let scanner = &(*(*scanner).guard.inner.get()).scanner;
            let held = if part.is_held { scanner.before() } else { &[] };
            if part.len > 0 {
                let record = text_record(scanner.channel(), part.offset, part.len, scanner.first_token());
                let events = (&raw const (*self.0).events).read_unaligned();
                events.write_unaligned(aside_event { kind: kind(part.piece), ..record });
            }
            let offset = part.offset + held.len() as u64;
            self.report(Report::without_attributes(usize::from(part.len > 0), chunk.len(), offset, held));
        }
        ASIDE_OK
    }

    #[inline(never)]
    unsafe fn events(self, scanner: *mut aside_scanner, input: Input<'_>, fed: usize) -> aside_status {
        // SAFETY: the caller promises an array that is NULL or as large as its size says.
        let slots = match unsafe { self.slots() } {
            Ok(slots) => slots,
            Err(status) => return status,
        };
        let body = |stream: &mut Stream| {
            if let Input::FeedTokens(chunk, tokens) = input
                && let Some(event) = stream.scanner.feed_whole_tokens(chunk, tokens)
            {
                let len = event.bytes.len();
                stream.consumed = len;
                // SAFETY: the capacity is at least 1, and the array has all fields.
                unsafe {
                    slots.write(0, &record(&event));
                    self.report(Report::without_attributes(1, len, event.offset, &[]));
                }
                return ASIDE_OK;
            }
            clear(&mut stream.borrowed);
            let offset = stream.scanner.offset();
            let mut events = match input.start(&mut stream.scanner) {
                Ok(events) => events,
                Err(error) => return failed(error),
            };
            // SAFETY: the caller promises that the array is as large as it says.
            let filled = unsafe { slots.fill(&mut events, &mut stream.borrowed) };
            stream.consumed = fed + events.consumed();
            drop(events);
            let (status, count) = match filled {
                Ok(filled) => filled,
                Err(status) => return status,
            };
            let attributes = stream.borrowed.as_ref().map_or(&[][..], |borrowed| &borrowed.attributes);
            let attributes = aside_bytes::lend(attributes);
            let report = Report::without_attributes(count, stream.consumed, offset, stream.scanner.before());
            // SAFETY: the array has all fields.
            unsafe { self.report(Report { attributes, ..report }) };
            status
        };
        // SAFETY: the caller meets this function's conditions.
        unsafe { enter(scanner, is_ready, body) }
    }
}

/// Feeds like `aside_scanner_feed()`, for hosts where callbacks are expensive: writes the events into `array->events`, and next to
/// them the data that the host needs to find their bytes. Events have no pointers.
///
/// Returns `ASIDE_OK`: all of `buf` is consumed. `ASIDE_MORE`: the array is full, or `array->attributes` has reached 64 KiB (or
/// more, with a long last attribute); read the events, then call again with the rest of `buf`, `array->consumed` bytes further on
/// (if it is empty, with `len` 0). Below 0: the errors of `aside_scanner_feed()`, and `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION` for
/// an array with a field that this version does not know; then no field of `array` is written, the contents of `array->events` are
/// meaningless, and `aside_scanner_consumed()` returns the number of consumed bytes.
///
/// Memory: nothing is allocated, except for collected thoughts, headers, and tags with attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_feed_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    array: *mut aside_event_array,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, a scanner that is valid, and an array as large as its size says.
    unsafe { feed(scanner, buf, len, Array(array)) }
}

/// Finishes like `aside_scanner_finish()`, into an array like `aside_scanner_feed_into()`. All bytes of its events are in
/// `array->held`. After `ASIDE_MORE` call it again until it returns `ASIDE_OK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_finish_into(
    scanner: *mut aside_scanner,
    array: *mut aside_event_array,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is valid, and an array as large as its size says.
    unsafe { Array(array).events(scanner, Input::Finish, 0) }
}

/// Flushes like `aside_scanner_flush()`, into an array like `aside_scanner_feed_into()`. All bytes of its events are in
/// `array->held`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_flush_into(
    scanner: *mut aside_scanner,
    array: *mut aside_event_array,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is valid, and an array as large as its size says.
    unsafe { Array(array).events(scanner, Input::Flush, 0) }
}

/// Feeds like `aside_scanner_feed_tokens()`, into an array like `aside_scanner_feed_into()`. After `ASIDE_MORE` call it again with
/// the rest of the buffer and the tokens that are not completely consumed, the first of them with its remaining length.
///
/// Memory: the first such call allocates the memory that it needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_feed_tokens_into(
    scanner: *mut aside_scanner,
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    count: size_t,
    array: *mut aside_event_array,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes and `count` tokens, a scanner that is valid, and an array as large as its size says.
    unsafe {
        match feed_of_tokens(buf, len, tokens, count) {
            Ok(input) => Array(array).events(scanner, input, 0),
            Err(status) => status,
        }
    }
}

/// Closes the thinking like `aside_scanner_force_close()`, into an array like `aside_scanner_feed_into()`. All bytes of its events
/// are in `array->held`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_scanner_force_close_into(
    scanner: *mut aside_scanner,
    array: *mut aside_event_array,
) -> aside_status {
    // SAFETY: the caller promises a scanner that is valid, and an array as large as its size says.
    unsafe { Array(array).events(scanner, Input::ForceClose, 0) }
}
