//! Makes random calls of the C functions, misuse that is allowed among them. No call may end the process, no status may
//! come that the header does not promise there, and no byte of a stream may be lost or come twice.
//!
//! Input: which calls, with which arguments.

#[cfg(feature = "compress")]
mod results;
mod rewriter;
mod texts;

use std::ffi::c_void;
use std::ptr;
use std::sync::LazyLock;

use support::{Pair, c::*};

use super::Input;
use super::scanner::PAIRS;

/// The dialects that are built in; those of the tests are not.
pub static BUILT_IN: LazyLock<Vec<&Pair>> =
    LazyLock::new(|| PAIRS.iter().filter(|pair| aside::Dialect::find(&pair.reference.name).is_ok()).collect());

/// A scanner, and what it must know of its stream.
struct Slot {
    handle: Handle,
    /// All that was fed, and how much of it has come in events.
    stream: Vec<u8>,
    heard: usize,
    finishing: bool,
}

/// What a callback is given.
struct Heard {
    slot: *mut Slot,
    /// Events until it stops.
    patience: u8,
    /// What it tries on the scanner that is feeding.
    mischief: u8,
}

impl Slot {
    /// An event whose bytes, where it has some, are these.
    fn hear(&mut self, event: &Event, bytes: &[u8]) {
        assert!((1..=7).contains(&event.kind) && event.channel < 4 && event.cause < 4, "no such event");
        if event.kind == ATTRIBUTE {
            assert_eq!(event.len, 0);
            return;
        }
        assert!(event.len > 0 || event.kind != TEXT, "an empty text");
        if event.len > 0 {
            assert_eq!(event.offset as usize, self.heard);
        }
        assert_eq!(bytes, &self.stream[self.heard..self.heard + bytes.len()], "other bytes than were fed");
        self.heard += bytes.len();
    }

    /// After a call that did not fail.
    fn settle(&mut self, finish: bool, status: i32) {
        let paused = status != OK;
        unsafe {
            // In a pause, a whole marker may be there of which an event is still due.
            assert!(paused || aside_scanner_held(self.handle) <= aside_scanner_max_hold(self.handle));
            if finish && !paused {
                assert_eq!(self.heard, self.stream.len(), "bytes are lost");
                (self.heard, self.finishing) = (0, false);
                self.stream.clear();
            } else {
                self.finishing |= finish;
            }
            if !self.finishing {
                assert_eq!(aside_scanner_offset(self.handle), self.stream.len() as u64);
            }
        }
    }
}

unsafe extern "C" fn listen(user: *mut c_void, event: *const Event, bytes: *const u8) -> i32 {
    let (heard, event) = unsafe { (&mut *user.cast::<Heard>(), &*event) };
    let slot = unsafe { &mut *heard.slot };
    slot.hear(event, unsafe { std::slice::from_raw_parts(bytes, event.byte_count()) });
    let scanner = slot.handle;
    unsafe {
        match heard.mischief {
            1 => assert_eq!(aside_scanner_feed(scanner, b"x".as_ptr(), 1, Some(listen), user), BUSY),
            2 => {
                aside_scanner_free(scanner);
                assert_eq!(aside_last_status(), BUSY);
            }
            3 => assert_eq!(aside_scanner_reset(scanner), BUSY),
            4 => assert!(aside_scanner_clone(scanner).is_null() && aside_scanner_consumed(scanner) == 0),
            5 => assert_eq!(aside_scanner_finish(scanner, Some(listen), user), BUSY),
            6 => assert_eq!(aside_scanner_skip(scanner, 1), BUSY),
            7 => assert_eq!(aside_scanner_quiet(scanner, &mut [0; 4]), NOT_TEXT),
            _ => {}
        }
    }
    heard.patience = heard.patience.wrapping_sub(1);
    i32::from(heard.patience == 0)
}

pub fn run(data: &[u8]) {
    let mut input = Input { rest: data };
    let mut slots: Vec<Box<Slot>> = Vec::new();
    // A bound on the calls, so that an input of misuse alone ends.
    for _ in 0..2000 {
        if input.rest.is_empty() {
            break;
        }
        let call = input.byte();
        if call < 40 && slots.len() < 8 || slots.is_empty() {
            slots.extend(made(&mut input).map(Box::new));
            continue;
        }
        let at = input.below(slots.len());
        let slot = &mut slots[at];
        match call {
            0..160 => feed(&mut input, slot),
            160..176 => other(&mut input, slot, true),
            176..196 => other(&mut input, slot, false),
            196..204 => unsafe {
                assert_eq!(aside_scanner_reset(slot.handle), OK);
                slot.stream.clear();
                (slot.heard, slot.finishing) = (0, false);
            },
            204..212 => unsafe {
                let handle = aside_scanner_clone(slot.handle);
                assert!(!handle.is_null());
                let (stream, heard, finishing) = (slot.stream.clone(), slot.heard, slot.finishing);
                if slots.len() < 8 {
                    slots.push(Box::new(Slot { handle, stream, heard, finishing }));
                } else {
                    aside_scanner_free(handle);
                }
            },
            212..220 => unsafe {
                aside_scanner_free(slot.handle);
                slots.swap_remove(at);
            },
            220..226 => thought(slot.handle),
            226..230 => pass(&mut input, slot),
            230..236 => unsafe {
                let (tail, mut start) = (chunk(&mut input), 99);
                let status = aside_scanner_start_from_prompt(slot.handle, tail.as_ptr(), tail.len(), &mut start);
                // Only before the first byte.
                let begun = !slot.stream.is_empty() || slot.finishing;
                assert!(status == if begun { ORDER } else { OK } || status == ORDER, "{status}");
                assert_eq!(status == OK, start != 99);
            },
            236..240 => lookups(&mut input),
            240..243 => rewriter::run(&mut input),
            243..246 => texts::run(&mut input),
            #[cfg(feature = "compress")]
            246..249 => results::run(&mut input),
            _ => misuse(&mut input, slot),
        }
    }
    for slot in slots {
        unsafe { aside_scanner_free(slot.handle) };
    }
}

/// Memory of just that size, so that a byte too far is noticed.
fn chunk(input: &mut Input<'_>) -> Box<[u8]> {
    let len = input.below(64);
    input.bytes(len).into()
}

fn made(input: &mut Input<'_>) -> Option<Slot> {
    let choice = input.byte();
    let mut own: Handle = ptr::null_mut();
    let mut file = String::new();
    let dialect = unsafe {
        if choice < 30 {
            let rest = input.rest.len().min(choice as usize * 8);
            file = String::from_utf8_lossy(input.bytes(rest)).into_owned();
            if choice & 1 == 0 {
                file =
                    "name = \"own\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<t>\"]\nclose = [\"</t>\"]\n".into();
            }
            own = aside_dialect_load(file.as_ptr(), file.len());
            own
        } else {
            let name = &PAIRS[choice as usize % PAIRS.len()].reference.name;
            aside_dialect_find(name.as_ptr(), name.len())
        }
    };
    drop(file);
    let sizes = [size_of::<Options>(), 32, 0, 7, 4097, usize::MAX];
    let options = Options {
        size: sizes[(input.byte() as usize / 40).min(5)],
        start: u32::from(input.byte()) % 8,
        stray_close: u32::from(input.byte() % 3),
        collect: u64::from(input.byte()),
        budget: u64::from(input.byte()),
        has_budget: u32::from(input.byte()) % 3,
        budget_unit: u32::from(input.byte()) % 3,
        budget_scope: u32::from(input.byte()) % 3,
        // A number that is refused.
        calls: 2 * u32::from(input.byte() == 255),
    };
    unsafe {
        let given = if options.calls == 0 && choice & 2 == 0 { ptr::null() } else { &raw const options };
        // A size may promise no more than there is.
        let given = if options.size > size_of::<Options>() && options.size <= 4096 { ptr::null() } else { given };
        let handle = aside_scanner_new(dialect, given);
        aside_dialect_free(own);
        if handle.is_null() {
            assert!(aside_last_status() < 0 && *aside_last_error() != 0);
            return None;
        }
        Some(Slot { handle, stream: Vec::new(), heard: 0, finishing: false })
    }
}

fn feed(input: &mut Input<'_>, slot: &mut Slot) {
    let (way, text) = (input.byte(), chunk(input));
    if slot.finishing {
        let mut heard = Heard { slot, patience: 0, mischief: 0 };
        let user = (&raw mut heard).cast();
        let status = unsafe { aside_scanner_feed(slot.handle, text.as_ptr(), text.len(), Some(listen), user) };
        assert_eq!(status, ORDER);
        return;
    }
    let fed = slot.stream.len();
    slot.stream.extend_from_slice(&text);
    let (status, consumed) = match way % 3 {
        0 => array(slot, input.below(5) + 1, |scanner, array| unsafe {
            aside_scanner_feed_into(scanner, text.as_ptr(), text.len(), array)
        }),
        1 => called(slot, input, |scanner, user| unsafe {
            aside_scanner_feed(scanner, text.as_ptr(), text.len(), Some(listen), user)
        }),
        _ => {
            let mut tokens = Vec::new();
            let mut left = text.len() as u32;
            while left > 0 {
                let len = (1 + u32::from(input.byte()) % 9).min(left);
                tokens.push(Token { len, special: u32::from(input.byte()) & 1 });
                left -= len;
            }
            let (given, count) = (tokens.as_ptr(), tokens.len());
            if way % 2 == 0 {
                array(slot, input.below(5) + 1, |scanner, array| unsafe {
                    let (text, len) = (text.as_ptr(), text.len());
                    aside_scanner_feed_tokens_into(scanner, text, len, given, count, array)
                })
            } else {
                called(slot, input, |scanner, user| unsafe {
                    aside_scanner_feed_tokens(scanner, text.as_ptr(), text.len(), given, count, Some(listen), user)
                })
            }
        }
    };
    assert!(status == OK || status == STOPPED || status == MORE, "{status}");
    assert!(consumed <= text.len() && (status != OK || consumed == text.len()));
    // The rest is not fed: a host may drop it.
    slot.stream.truncate(fed + consumed);
    slot.settle(false, status);
}

/// Passes over the quiet bytes that a chunk begins with.
fn pass(input: &mut Input<'_>, slot: &mut Slot) {
    let (mut quiet, text) = ([0; 4], chunk(input));
    unsafe {
        if aside_scanner_quiet(slot.handle, &mut quiet) == NOT_TEXT {
            assert_eq!(quiet, [0; 4], "written, and nothing may pass");
            return;
        }
        assert_eq!(slot.heard, slot.stream.len(), "bytes may pass, but some are held back");
        let passed = text.iter().take_while(|&&byte| is_in(&quiet, byte)).count();
        assert_eq!(aside_scanner_skip(slot.handle, passed as u64), OK);
        slot.stream.extend_from_slice(&text[..passed]);
        slot.heard += passed;
    }
}

/// Finishes, or flushes and closes.
fn other(input: &mut Input<'_>, slot: &mut Slot, finish: bool) {
    let way = input.byte();
    let capacity = input.below(5) + 1;
    let (status, _) = match (finish, way % 4) {
        (true, 0) => called(slot, input, |s, user| unsafe { aside_scanner_finish(s, Some(listen), user) }),
        (true, _) => array(slot, capacity, |s, array| unsafe { aside_scanner_finish_into(s, array) }),
        (_, 0) => called(slot, input, |s, user| unsafe { aside_scanner_flush(s, Some(listen), user) }),
        (_, 1) => called(slot, input, |s, user| unsafe { aside_scanner_force_close(s, Some(listen), user) }),
        (_, 2) => array(slot, capacity, |s, array| unsafe { aside_scanner_force_close_into(s, array) }),
        _ => array(slot, capacity, |s, array| unsafe { aside_scanner_flush_into(s, array) }),
    };
    if !finish && slot.finishing {
        assert_eq!(status, ORDER);
        return;
    }
    assert!(status == OK || status == STOPPED || status == MORE, "{status}");
    slot.settle(finish, status);
}

/// A call with a callback: its status, and how much it has consumed.
fn called(slot: &mut Slot, input: &mut Input<'_>, call: impl FnOnce(Handle, *mut c_void) -> i32) -> (i32, usize) {
    let handle = slot.handle;
    let mut heard = Heard { slot, patience: input.byte(), mischief: input.byte() % 24 };
    let status = call(handle, (&raw mut heard).cast());
    (status, unsafe { aside_scanner_consumed(handle) })
}

/// The same with an array of so many events.
fn array(slot: &mut Slot, capacity: usize, call: impl FnOnce(Handle, *mut EventArray) -> i32) -> (i32, usize) {
    let mut events = vec![Event::default(); capacity].into_boxed_slice();
    let mut fed = EventArray::new(&mut events);
    let status = call(slot.handle, &mut fed);
    if status < 0 {
        return (status, 0);
    }
    let offset = fed.offset as usize;
    let (held, attributes) = unsafe { (fed.held.get(), fed.attributes.get()) };
    // The end of a prompt may have been held too: it is before the stream.
    let of_stream = held.len().min(offset);
    assert!(
        slot.stream[..offset].ends_with(&held[held.len() - of_stream..]),
        "held is not what stood before the chunk"
    );
    for event in &events[..fed.count] {
        let (from, len) = (event.offset as usize, event.len as usize);
        if event.kind == ATTRIBUTE {
            slot.hear(event, &attributes[event.text_at as usize..][..event.byte_count()]);
        } else {
            assert!(from >= offset - of_stream || len == 0, "bytes that the caller no longer has");
            assert!(from + len <= offset + fed.consumed, "bytes that are not done");
            let bytes = slot.stream[from..from + len].to_vec();
            slot.hear(event, &bytes);
        }
    }
    (status, fed.consumed)
}

fn thought(scanner: Handle) {
    let mut thought = Thought {
        size: size_of::<Thought>(),
        text: Bytes::NONE,
        offset: 0,
        flags: [0; 4],
        thought_type: Bytes::NONE,
        confidence: 0.0,
        attribute_count: 0,
    };
    unsafe {
        let status = aside_scanner_take_thought(scanner, &mut thought);
        assert!(status == OK || status == NONE, "{status}");
        if status == OK {
            let mut borrowed = vec![thought.text.get(), thought.thought_type.get()];
            let mut attribute = Attribute { size: size_of::<Attribute>(), name: Bytes::NONE, value: Bytes::NONE };
            for index in 0..thought.attribute_count {
                assert_eq!(aside_scanner_thought_attribute(scanner, index, &mut attribute), OK);
                borrowed.extend([attribute.name.get(), attribute.value.get()]);
            }
            let status = aside_scanner_thought_attribute(scanner, thought.attribute_count, &mut attribute);
            assert_eq!(status, RANGE);
            // All of it is there to be read.
            std::hint::black_box(borrowed.iter().copied().flatten().fold(0u8, |sum, byte| sum ^ byte));
        }
    }
}

/// NULL, or a dialect that starts somewhere.
unsafe fn has_start(dialect: Handle) {
    assert_eq!(unsafe { aside_dialect_start(dialect) } == 0, dialect.is_null());
}

fn lookups(input: &mut Input<'_>) {
    let (way, text) = (input.byte(), chunk(input));
    let (mut dialects, mut len) = ([ptr::null_mut(); 2], 0);
    unsafe {
        // The last two read other dialects than `PAIRS`, which takes Miri too long.
        match if cfg!(miri) { way % 2 } else { way % 4 } {
            0 => has_start(aside_dialect_find(text.as_ptr(), text.len())),
            1 => has_start(aside_dialect_find_for_model(text.as_ptr(), text.len())),
            2 => {
                let size = size_of::<TemplateMatch>();
                let dialects = dialects.as_mut_ptr();
                let mut found = TemplateMatch { size, dialects, capacity: 2, count: 0, start: 0, reserved: 0 };
                let dialect = aside_dialect_find_for_template(text.as_ptr(), text.len(), &mut found);
                assert!(!dialect.is_null() || [UNKNOWN, AMBIGUOUS].contains(&aside_last_status()));
                assert!(dialect.is_null() || found.count == 1 && *dialects == dialect && found.start > 0);
            }
            _ => {
                let name = aside_dialect_name_at(way as usize, &mut len);
                assert!(name.is_null() || *name.add(len) == 0);
                let dialect = aside_dialect_find(name.cast(), len);
                let out = aside_strip(dialect, text.as_ptr(), text.len(), &mut len);
                assert_eq!(out.is_null(), dialect.is_null());
                aside_free(out);
            }
        }
    }
}

/// Calls that are wrong and must say so, and change nothing.
fn misuse(input: &mut Input<'_>, slot: &mut Slot) {
    let (scanner, none) = (slot.handle, ptr::null_mut::<c_void>());
    let (mut events, mut counts) = ([Event::default()], [0; 6]);
    let mut array = EventArray::new(&mut events);
    unsafe {
        match input.below(13) {
            0 => assert_eq!(aside_scanner_feed(none, b"x".as_ptr(), 1, Some(listen), none), NULL),
            1 => assert_eq!(aside_scanner_feed(scanner, ptr::null(), 1, Some(listen), none), NULL),
            2 => assert_eq!(aside_scanner_feed(scanner, b"x".as_ptr(), usize::MAX, Some(listen), none), LENGTH),
            3 => assert_eq!(aside_scanner_feed(scanner, b"x".as_ptr(), 1, None, none), NULL),
            4 => assert_eq!(aside_scanner_finish(scanner, None, none), NULL),
            5 => assert_eq!(aside_scanner_feed_into(scanner, b"x".as_ptr(), 1, ptr::null_mut()), NULL),
            6 => {
                let sizes = [0, 1, 8, 31, 4097, usize::MAX];
                array.event_size = sizes[input.below(6)];
                assert_eq!(aside_scanner_flush_into(scanner, &mut array), SIZE);
                (array.event_size, array.capacity) = (size_of::<Event>(), 0);
                assert_eq!(aside_scanner_finish_into(scanner, &mut array), SIZE);
                (array.size, array.capacity) = (sizes[input.below(6)], 1);
                assert_eq!(aside_scanner_finish_into(scanner, &mut array), SIZE);
            }
            7 => {
                assert_eq!(aside_scanner_counts(scanner, 0, &mut counts), SIZE);
                assert_eq!(aside_scanner_quiet(scanner, ptr::null_mut()), NOT_TEXT);
                assert_eq!(aside_scanner_skip(none, 1), NULL);
                assert_eq!(aside_scanner_skip(scanner, u64::MAX), ORDER);
            }
            8 => {
                counts[0] = 48;
                assert_eq!(aside_scanner_counts(scanner, 4, &mut counts), RANGE);
                assert_eq!(aside_scanner_counts(scanner, 1, &mut counts), OK);
                assert!(counts[1] >= counts[2]);
            }
            9 => assert_eq!(aside_scanner_take_thought(scanner, ptr::null_mut()), NULL),
            10 => {
                let token = Token { len: 3, special: 1 };
                let status = aside_scanner_feed_tokens(scanner, b"x".as_ptr(), 1, &token, 1, Some(listen), none);
                assert!(status == LENGTH || status == ORDER, "{status}");
            }
            11 => {
                aside_scanner_free(none);
                aside_dialect_free(none);
                assert!(aside_scanner_new(none, ptr::null()).is_null() && aside_last_status() == NULL);
            }
            _ => assert_eq!(aside_abi_version(), 1),
        }
    }
}
