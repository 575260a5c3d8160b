//! The ways to feed a scanner: the Rust API, the C ABI with a callback, and the C ABI with an event array. Each function feeds a
//! whole workload, with a new scanner for every message, and returns the number of bytes in the events. Two more functions look up
//! a dialect through C.

use std::ffi::{c_char, c_void};
use std::hint::black_box;
use std::ptr;

use aside::{Dialect, Event, Scanner};

use crate::workloads::Workload;

pub type Way = fn(&str, &Workload) -> usize;

pub const WAYS: [(&str, Way); 3] = [("rust", rust), ("callback", callback), ("array", array)];

#[inline(never)]
fn rust(dialect: &str, workload: &Workload) -> usize {
    let dialect = Dialect::find(dialect).expect("a dialect of this crate");
    let mut bytes = 0;
    let mut look = |event: Event<'_>| bytes += black_box(event.bytes).len();
    for message in &workload.messages {
        let mut scanner = Scanner::new(&dialect);
        for chunk in message.chunks() {
            scanner.feed(chunk, &mut look).expect("nothing to fail");
        }
        scanner.finish(&mut look).expect("nothing to fail");
    }
    bytes
}

// The C functions are declared by hand here, so that they are not inlined.

#[repr(C)]
#[derive(Clone, Copy)]
struct CEvent {
    kind_channel_cause_rule: [u32; 4],
    offset: u64,
    len: u64,
    rest: [u32; 12],
}

#[repr(C)]
struct EventArray {
    size: usize,
    events: *mut CEvent,
    event_size: usize,
    capacity: usize,
    count: usize,
    consumed: usize,
    offset: u64,
    held: [usize; 2],
    attributes: [usize; 2],
}

#[repr(C)]
struct COptions {
    size: usize,
    start: [u32; 2],
    numbers: [u64; 2],
    budget: [u32; 3],
    calls: u32,
    rest: [u32; 2],
}

type Callback = unsafe extern "C" fn(*mut c_void, *const CEvent, *const c_char) -> i32;

unsafe extern "C" {
    fn aside_dialect_find(name: *const c_char, len: usize) -> *const c_void;
    fn aside_dialect_find_for_model(model: *const c_char, len: usize) -> *const c_void;
    fn aside_dialect_find_for_template(text: *const c_char, len: usize, found: *mut c_void) -> *const c_void;
    fn aside_dialect_load(toml: *const c_char, len: usize) -> *mut c_void;
    fn aside_dialect_free(dialect: *mut c_void);
    fn aside_scanner_new(dialect: *const c_void, options: *const c_void) -> *mut c_void;
    fn aside_scanner_free(scanner: *mut c_void);
    fn aside_scanner_feed(s: *mut c_void, buf: *const c_char, len: usize, callback: Callback, user: *mut c_void)
    -> i32;
    fn aside_scanner_finish(s: *mut c_void, callback: Callback, user: *mut c_void) -> i32;
    fn aside_scanner_feed_into(s: *mut c_void, buf: *const c_char, len: usize, array: *mut EventArray) -> i32;
    fn aside_scanner_finish_into(s: *mut c_void, array: *mut EventArray) -> i32;
}

unsafe extern "C" fn look(user: *mut c_void, event: *const CEvent, _: *const c_char) -> i32 {
    // SAFETY: `user` is the sum of the function below, and the event is valid until this function returns.
    unsafe { *user.cast::<u64>() += (*event).len };
    0
}

#[inline(never)]
fn callback(dialect: &str, workload: &Workload) -> usize {
    let mut bytes = 0u64;
    let user = (&raw mut bytes).cast();
    // SAFETY: the conditions of the header hold: borrowed memory outlives each call, and each scanner is freed once.
    unsafe {
        let dialect = aside_dialect_find(dialect.as_ptr().cast(), dialect.len());
        for message in &workload.messages {
            let scanner = aside_scanner_new(dialect, ptr::null());
            for chunk in message.chunks() {
                aside_scanner_feed(scanner, chunk.as_ptr().cast(), chunk.len(), look, user);
            }
            aside_scanner_finish(scanner, look, user);
            aside_scanner_free(scanner);
        }
    }
    bytes as usize
}

#[inline(never)]
fn array(dialect: &str, workload: &Workload) -> usize {
    const MORE: i32 = 2;
    const ROOM: usize = 32;
    let mut bytes = 0u64;
    // Not inlined, because a callback cannot be inlined.
    let look: Callback = black_box(look);
    let mut read = |events: &[CEvent]| {
        for event in events {
            // SAFETY: the pointers to the sum and to the event are valid.
            unsafe { look((&raw mut bytes).cast(), event, ptr::null()) };
        }
    };
    let mut events = [CEvent { kind_channel_cause_rule: [0; 4], offset: 0, len: 0, rest: [0; 12] }; ROOM];
    let mut array = EventArray {
        size: size_of::<EventArray>(),
        events: events.as_mut_ptr(),
        event_size: size_of::<CEvent>(),
        capacity: ROOM,
        count: 0,
        consumed: 0,
        offset: 0,
        held: [0; 2],
        attributes: [0; 2],
    };
    // SAFETY: the conditions of the header hold: array and outputs have the given sizes, and each scanner is freed once.
    unsafe {
        let dialect = aside_dialect_find(dialect.as_ptr().cast(), dialect.len());
        for message in &workload.messages {
            let scanner = aside_scanner_new(dialect, ptr::null());
            for mut chunk in message.chunks() {
                loop {
                    let (buf, len) = (chunk.as_ptr().cast(), chunk.len());
                    let status = aside_scanner_feed_into(scanner, buf, len, &raw mut array);
                    read(std::slice::from_raw_parts(array.events, array.count));
                    if status != MORE {
                        break;
                    }
                    chunk = &chunk[array.consumed..];
                }
            }
            while aside_scanner_finish_into(scanner, &raw mut array) == MORE {
                read(std::slice::from_raw_parts(array.events, array.count));
            }
            read(std::slice::from_raw_parts(array.events, array.count));
            aside_scanner_free(scanner);
        }
    }
    bytes as usize
}

/// A scanner of the C interface, which is a separate object on the heap.
pub struct Handle(*mut c_void);

// SAFETY: by the header, a scanner may be used in different threads, one at a time.
unsafe impl Send for Handle {}

impl Handle {
    pub fn new(dialect: &str) -> Handle {
        // SAFETY: the length is that of the name, and the options may be NULL.
        let handle = unsafe {
            let dialect = aside_dialect_find(dialect.as_ptr().cast(), dialect.len());
            aside_scanner_new(dialect, ptr::null())
        };
        assert!(!handle.is_null(), "a scanner of {dialect}");
        Handle(handle)
    }

    /// Returns a scanner for a dialect that is not built in. `calls` sets the option of this name.
    pub fn of_file(toml: &str, calls: bool) -> Handle {
        let size = size_of::<COptions>();
        let options =
            COptions { size, start: [0; 2], numbers: [0; 2], budget: [0; 3], calls: calls.into(), rest: [0; 2] };
        // SAFETY: the length is that of the text, the options have the size in their first field, and a scanner may outlive its
        // dialect.
        let handle = unsafe {
            let dialect = aside_dialect_load(toml.as_ptr().cast(), toml.len());
            let handle = aside_scanner_new(dialect, (&raw const options).cast());
            aside_dialect_free(dialect);
            handle
        };
        assert!(!handle.is_null(), "a scanner of {toml}");
        Handle(handle)
    }

    /// Feeds with a callback. Returns the number of bytes in the events.
    #[inline]
    pub fn feed(&mut self, chunk: &[u8]) -> usize {
        let mut bytes = 0u64;
        // SAFETY: the conditions of the header hold, and the sum outlives the call.
        unsafe { aside_scanner_feed(self.0, chunk.as_ptr().cast(), chunk.len(), look, (&raw mut bytes).cast()) };
        bytes as usize
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the scanner is only freed here.
        unsafe { aside_scanner_free(self.0) }
    }
}

/// Looks up a dialect by the name of a model. Returns whether one is found.
#[inline]
pub fn knows_model(model: &str) -> bool {
    // SAFETY: the length is that of the name.
    unsafe { !aside_dialect_find_for_model(model.as_ptr().cast(), model.len()).is_null() }
}

/// Looks up a dialect by a chat template. Returns whether one is found.
#[inline]
pub fn knows_template(text: &str) -> bool {
    // SAFETY: the length is that of the text, and `match` may be NULL.
    unsafe { !aside_dialect_find_for_template(text.as_ptr().cast(), text.len(), ptr::null_mut()).is_null() }
}
