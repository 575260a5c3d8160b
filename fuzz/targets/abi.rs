//! Makes random calls of the C functions, misuse that is allowed among them. No call may end the process, no status may
//! come that the header does not promise there, and no byte of a stream may be lost or come twice.
//!
//! Input: which calls, with which arguments.

mod call_writer;
#[cfg(feature = "compress")]
mod results;
mod rewriter;
mod texts;

use std::any::Any;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::LazyLock;

use support::{Pair, ROOT, c::*};

use self::call_writer::Writer;
use super::Input;
use super::dictionary::words;
use super::scanner::{FILES, PAIRS};

/// The dialects that are built in; those of the tests are not.
static BUILT_IN: LazyLock<Vec<&Pair>> =
    LazyLock::new(|| PAIRS.iter().filter(|pair| aside::Dialect::find(&pair.reference.name).is_ok()).collect());

/// The dialects of `PAIRS` as C has them: the built-in ones, and those of the tests, which are never freed.
pub static HANDLES: LazyLock<Vec<usize>> = LazyLock::new(|| (0..PAIRS.len()).map(handle).collect());

fn handle(index: usize) -> usize {
    let (name, rules) = (&PAIRS[index].reference.name, rules(index));
    unsafe {
        let mut handle = aside_dialect_find(name.as_ptr(), name.len());
        if handle.is_null() {
            assert_eq!(aside_dialect_load(rules.as_ptr(), rules.len(), &mut handle), OK);
        }
        handle as usize
    }
}

/// A dialect's file without its examples.
fn rules(index: usize) -> &'static str {
    FILES[index].split("[[example]]").next().unwrap()
}

/// Lines of dialect files.
static LINES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let lines = (0..PAIRS.len()).flat_map(|index| rules(index).lines()).filter(|line| !line.starts_with('#'));
    let lines: BTreeSet<&str> = lines.collect();
    lines.into_iter().map(|line| format!("{line}\n").into_bytes()).collect()
});

/// Names of dialects and of models.
static NAMES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let models = std::fs::read_to_string(format!("{ROOT}/tests/field/names.tsv")).unwrap();
    let models = models.lines().filter_map(|row| row.split('\t').next().map(str::to_owned));
    let dialects = aside::Dialect::names().map(str::to_owned);
    dialects.chain(models).map(String::into_bytes).collect()
});

/// A scanner, and what it must know of its stream.
struct Slot {
    handle: Handle,
    /// Those of its dialect.
    words: &'static [Vec<u8>],
    writer: Option<Writer>,
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
    /// A check that failed. No panic may leave a callback.
    failure: Option<Box<dyn Any + Send>>,
}

impl Slot {
    /// An event whose bytes, where it has some, are these.
    fn hear(&mut self, event: &Event, bytes: &[u8]) {
        assert!((1..=CALL_END).contains(&event.kind) && event.channel < 4 && event.cause < 5, "no such event");
        if let Some(writer) = &mut self.writer {
            writer.hear(event, bytes);
        }
        if event.is_apart() {
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

    /// A new stream begins.
    fn begin(&mut self) {
        self.stream.clear();
        (self.heard, self.finishing) = (0, false);
        if let Some(writer) = &mut self.writer {
            writer.reset();
        }
    }

    /// After a call that did not fail.
    fn settle(&mut self, finish: bool, status: i32) {
        let paused = status != OK;
        unsafe {
            // In a pause, a whole marker may be there of which an event is still due.
            assert!(paused || aside_scanner_held(self.handle) <= aside_scanner_max_hold(self.handle));
            if finish && !paused {
                assert_eq!(self.heard, self.stream.len(), "bytes are lost");
                assert!(self.writer.as_ref().is_none_or(|writer| !writer.is_open()), "a call has no end");
                self.begin();
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
    let bytes = unsafe { std::slice::from_raw_parts(bytes, event.byte_count()) };
    match catch_unwind(AssertUnwindSafe(|| heard.hear(event, bytes, user))) {
        Ok(answer) => answer,
        Err(failure) => {
            heard.failure = Some(failure);
            1
        }
    }
}

impl Heard {
    /// Fails if a check inside the callback has.
    fn fails(self) {
        if let Some(failure) = self.failure {
            resume_unwind(failure);
        }
    }

    /// Hears an event, and tries what must not be possible meanwhile.
    fn hear(&mut self, event: &Event, bytes: &[u8], user: *mut c_void) -> i32 {
        let slot = unsafe { &mut *self.slot };
        slot.hear(event, bytes);
        let scanner = slot.handle;
        unsafe {
            match self.mischief {
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
                8 => assert_eq!(aside_scanner_feed_text(scanner, b"x".as_ptr(), 1), NOT_TEXT),
                9 => assert_eq!(aside_scanner_flush(scanner, Some(listen), user), BUSY),
                10 => assert_eq!(aside_scanner_force_close(scanner, Some(listen), user), BUSY),
                11 => assert_eq!(aside_scanner_start_from_prompt(scanner, ptr::null(), 0, ptr::null_mut()), BUSY),
                12 => assert_eq!(aside_scanner_counts(scanner, CHANNEL_TOOL, &mut [40, 0, 0, 0, 0]), BUSY),
                13 => assert_eq!(aside_scanner_lost_thoughts(scanner), 0),
                _ => {}
            }
        }
        self.patience = self.patience.wrapping_sub(1);
        i32::from(self.patience == 0)
    }
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
            196..204 => {
                assert_eq!(unsafe { aside_scanner_reset(slot.handle) }, OK);
                slot.begin();
            }
            204..212 => unsafe {
                let handle = aside_scanner_clone(slot.handle);
                assert!(!handle.is_null());
                // No second writer can know the first half of a call.
                let (stream, writer) = (slot.stream.clone(), None);
                let (words, heard, finishing) = (slot.words, slot.heard, slot.finishing);
                if slots.len() < 8 {
                    slots.push(Box::new(Slot { handle, words, writer, stream, heard, finishing }));
                } else {
                    aside_scanner_free(handle);
                }
            },
            212..220 => drop(slots.swap_remove(at)),
            220..226 => thought(slot.handle),
            226..230 => pass(&mut input, slot),
            230..236 => unsafe {
                let (tail, mut start) = (chunk(&mut input, slot.words), 99);
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
}

impl Drop for Slot {
    fn drop(&mut self) {
        unsafe { aside_scanner_free(self.handle) };
    }
}

/// Memory of just that size, so that a byte too far is noticed.
fn chunk(input: &mut Input<'_>, words: &[Vec<u8>]) -> Box<[u8]> {
    input.text(words).into()
}

fn made(input: &mut Input<'_>) -> Option<Slot> {
    let (choice, at) = (input.byte(), usize::from(input.byte()));
    let mut own = ptr::null_mut();
    let (pair, dialect) = unsafe {
        match choice {
            // One that is soon loaded, and lines that are seldom one.
            255 => {
                let file = b"name = \"own\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<t>\"]\nclose = [\"</t>\"]\n";
                assert_eq!(aside_dialect_load(file.as_ptr(), file.len(), &mut own), OK);
                (&PAIRS[at % PAIRS.len()], own)
            }
            250.. => {
                let file = chunk(input, &LINES);
                let status = aside_dialect_load(file.as_ptr(), file.len(), &mut own);
                assert!([OK, DIALECT].contains(&status), "{status}");
                (&PAIRS[at % PAIRS.len()], own)
            }
            _ => {
                let index = at % PAIRS.len();
                (&PAIRS[index], HANDLES[index] as Handle)
            }
        }
    };
    // Of headers as they were before a field came, and of none.
    let sizes = [size_of::<ScannerOptions>(), 48, 44, 32, 0, 7, 4097, usize::MAX];
    let way = input.byte();
    let size = sizes[usize::from(way >> 2).saturating_sub(56)];
    let has_budget = [0, 0, 0, 1, 1, 2][usize::from(input.byte()) % 6];
    let budget = u64::from(input.byte());
    let options = ScannerOptions {
        size,
        start: input.one_of(&[
            START_DEFAULT,
            START_DEFAULT,
            START_CONTENT,
            START_THINKING,
            START_NARRATION,
            START_TOOL,
            START_HEADER,
        ]),
        stray_close: input.one_of(&[STRAY_CLOSE_DIALECT, STRAY_CLOSE_TEXT]),
        collect: u64::from(input.byte()),
        budget: if has_budget == 0 && way != 255 { 0 } else { budget },
        has_budget,
        budget_unit: input.one_of(&[BUDGET_UNIT_BYTES, BUDGET_UNIT_CHARACTERS]),
        budget_scope: input.one_of(&[BUDGET_SCOPE_SPAN, BUDGET_SCOPE_STREAM]),
        calls: input.one_of(&[1, 1, 1, 0]),
        calls_in_thinking: input.one_of(&[
            CALLS_IN_THINKING_DIALECT,
            CALLS_IN_THINKING_DIALECT,
            CALLS_IN_THINKING_NEVER,
        ]),
        reserved: u32::from(way == 254),
    };
    unsafe {
        let given = if way & 3 == 0 { ptr::null() } else { &raw const options };
        let handle = aside_scanner_new(dialect, given);
        let writer = if way & 3 > 1 { Writer::made(input, dialect) } else { None };
        // Objects that were made from it stay usable.
        aside_dialect_free(own);
        if handle.is_null() {
            assert!(aside_last_status() < 0 && *aside_last_error() != 0);
            return None;
        }
        Some(Slot { handle, words: words(pair), writer, stream: Vec::new(), heard: 0, finishing: false })
    }
}

fn feed(input: &mut Input<'_>, slot: &mut Slot) {
    let (way, text) = (input.byte(), chunk(input, slot.words));
    if slot.finishing {
        let mut heard = Heard { slot, patience: 0, mischief: 0, failure: None };
        let user = (&raw mut heard).cast();
        let status = unsafe { aside_scanner_feed(slot.handle, text.as_ptr(), text.len(), Some(listen), user) };
        assert_eq!(status, ORDER);
        return;
    }
    let mut rest = &text[..];
    // A bound on the pauses: the rest is dropped then.
    for _ in 0..64 {
        let (status, consumed) = feed_once(input, slot, way % 8, rest);
        rest = &rest[consumed..];
        // Some hosts drop the rest at the first pause.
        if status == OK || way & 128 == 0 {
            break;
        }
    }
}

/// Feeds bytes until the first pause. Returns the status, and how many are done.
fn feed_once(input: &mut Input<'_>, slot: &mut Slot, way: u8, text: &[u8]) -> (i32, usize) {
    let fed = slot.stream.len();
    slot.stream.extend_from_slice(text);
    let size = size_of::<Event>();
    let (status, consumed) = match way {
        0 | 1 => array(slot, input.below(5) + 1, |scanner, events, capacity, out| unsafe {
            aside_scanner_feed_into(scanner, text.as_ptr(), text.len(), events, capacity, size, out)
        }),
        2..5 => called(slot, input, |scanner, user| unsafe {
            aside_scanner_feed(scanner, text.as_ptr(), text.len(), Some(listen), user)
        }),
        5 => feed_text(slot, text),
        _ => {
            let mut tokens = Vec::new();
            let mut left = text.len() as u32;
            while left > 0 {
                let len = (1 + u32::from(input.byte()) % 9).min(left);
                tokens.push(Token { len, special: u32::from(input.byte()) & 1 });
                left -= len;
            }
            let (given, count) = (tokens.as_ptr(), tokens.len());
            if way == 6 {
                array(slot, input.below(5) + 1, |scanner, events, capacity, out| unsafe {
                    let (text, len) = (text.as_ptr(), text.len());
                    aside_scanner_feed_tokens_into(scanner, text, len, given, count, events, capacity, size, out)
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
    slot.stream.truncate(fed + consumed);
    slot.settle(false, status);
    (status, consumed)
}

/// Feeds what is only text, and otherwise the same to a callback, as a host does.
fn feed_text(slot: &mut Slot, text: &[u8]) -> (i32, usize) {
    let (fed, twin) = (slot.stream.len() - text.len(), unsafe { aside_scanner_clone(slot.handle) });
    let channel = unsafe { aside_scanner_feed_text(slot.handle, text.as_ptr(), text.len()) };
    if channel == NOT_TEXT {
        unsafe {
            aside_scanner_free(twin);
            assert_eq!(aside_scanner_offset(slot.handle), fed as u64, "fed, and not said");
        }
        let mut heard = Heard { slot, patience: 0, mischief: 0, failure: None };
        let (user, at) = ((&raw mut heard).cast(), text.as_ptr());
        let status = unsafe { aside_scanner_feed(slot.handle, at, text.len(), Some(listen), user) };
        heard.fails();
        return (status, unsafe { aside_scanner_consumed(slot.handle) });
    }
    assert_eq!(slot.heard, fed, "text was fed, and some is held back");
    is_one_text(twin, text, channel);
    slot.heard += text.len();
    (OK, text.len())
}

/// Feeds bytes to a scanner, for which they must be one event, and frees it.
fn is_one_text(twin: Handle, text: &[u8], channel: i32) {
    let (mut events, mut fed) = ([Event::default(); 4], Fed::NOTHING);
    let (size, capacity) = (size_of::<Event>(), events.len());
    unsafe {
        let offset = aside_scanner_offset(twin);
        let to = events.as_mut_ptr();
        let status = aside_scanner_feed_into(twin, text.as_ptr(), text.len(), to, capacity, size, &mut fed);
        assert_eq!((status, fed.count), (OK, usize::from(!text.is_empty())), "{}", text.escape_ascii());
        let event = events[0];
        let told = (event.kind, event.channel as i32, event.offset, event.len);
        assert!(text.is_empty() || told == (TEXT, channel, offset, text.len() as u64), "{told:?}");
        aside_scanner_free(twin);
    }
}

/// Passes over the quiet bytes that a chunk begins with.
fn pass(input: &mut Input<'_>, slot: &mut Slot) {
    let (mut quiet, text) = ([0; 4], chunk(input, slot.words));
    unsafe {
        let channel = aside_scanner_quiet(slot.handle, &mut quiet);
        if channel == NOT_TEXT {
            assert_eq!(quiet, [0; 4], "written, and nothing may pass");
            return;
        }
        assert_eq!(slot.heard, slot.stream.len(), "bytes may pass, but some are held back");
        let passed = text.iter().take_while(|&&byte| is_in(&quiet, byte)).count();
        is_one_text(aside_scanner_clone(slot.handle), &text[..passed], channel);
        assert_eq!(aside_scanner_skip(slot.handle, passed as u64), OK);
        slot.stream.extend_from_slice(&text[..passed]);
        slot.heard += passed;
    }
}

/// Finishes, or flushes and closes.
fn other(input: &mut Input<'_>, slot: &mut Slot, finish: bool) {
    let way = input.byte();
    let capacity = input.below(5) + 1;
    let size = size_of::<Event>();
    let (status, _) = match (finish, way % 4) {
        (true, 0) => called(slot, input, |s, user| unsafe { aside_scanner_finish(s, Some(listen), user) }),
        (true, _) => array(slot, capacity, |s, events, capacity, out| unsafe {
            aside_scanner_finish_into(s, events, capacity, size, out)
        }),
        (_, 0) => called(slot, input, |s, user| unsafe { aside_scanner_flush(s, Some(listen), user) }),
        (_, 1) => called(slot, input, |s, user| unsafe { aside_scanner_force_close(s, Some(listen), user) }),
        (_, 2) => array(slot, capacity, |s, events, capacity, out| unsafe {
            aside_scanner_force_close_into(s, events, capacity, size, out)
        }),
        _ => array(slot, capacity, |s, events, capacity, out| unsafe {
            aside_scanner_flush_into(s, events, capacity, size, out)
        }),
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
    let mut heard = Heard { slot, patience: input.byte(), mischief: input.byte() % 24, failure: None };
    let status = call(handle, (&raw mut heard).cast());
    heard.fails();
    (status, unsafe { aside_scanner_consumed(handle) })
}

/// The same with an array of so many events.
fn array(
    slot: &mut Slot,
    capacity: usize,
    call: impl FnOnce(Handle, *mut Event, usize, *mut Fed) -> i32,
) -> (i32, usize) {
    let mut events = vec![Event::default(); capacity].into_boxed_slice();
    let mut fed = Fed::NOTHING;
    let status = call(slot.handle, events.as_mut_ptr(), capacity, &mut fed);
    if status < 0 {
        return (status, 0);
    }
    let offset = fed.offset as usize;
    let held = unsafe { std::slice::from_raw_parts(fed.held, fed.held_len) };
    let attributes = unsafe { std::slice::from_raw_parts(fed.attributes, fed.attributes_len) };
    // The end of a prompt may have been held too: it is before the stream.
    let of_stream = held.len().min(offset);
    assert!(
        slot.stream[..offset].ends_with(&held[held.len() - of_stream..]),
        "held is not what stood before the chunk"
    );
    for event in &events[..fed.count] {
        let (from, len) = (event.offset as usize, event.len as usize);
        if event.is_apart() && event.byte_count() > 0 {
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
        text: ptr::null(),
        text_len: 0,
        offset: 0,
        flags: [0; 4],
        thought_type: ptr::null(),
        thought_type_len: 0,
        confidence: 0.0,
        attributes: ptr::null(),
        attribute_count: 0,
    };
    unsafe {
        let status = aside_scanner_take_thought(scanner, &mut thought);
        assert!(status == OK || status == NONE, "{status}");
        if status == OK {
            let text = std::slice::from_raw_parts(thought.text, thought.text_len);
            let kind = std::slice::from_raw_parts(thought.thought_type, thought.thought_type_len);
            let mut borrowed = vec![text, kind];
            for pair in std::slice::from_raw_parts(thought.attributes, thought.attribute_count) {
                let [name, name_len, value, value_len] = *pair;
                borrowed.push(std::slice::from_raw_parts(name as *const u8, name_len));
                borrowed.push(std::slice::from_raw_parts(value as *const u8, value_len));
            }
            // All of it is there to be read.
            std::hint::black_box(borrowed.iter().copied().flatten().fold(0u8, |sum, byte| sum ^ byte));
        }
        aside_scanner_lost_thoughts(scanner);
    }
}

/// NULL, or a dialect that starts somewhere.
unsafe fn has_start(dialect: Handle) {
    assert_eq!(unsafe { aside_dialect_start(dialect) } == 0, dialect.is_null());
}

fn lookups(input: &mut Input<'_>) {
    let way = input.byte();
    let (mut found, mut start, mut len) = ([ptr::null_mut(); 2], 0, 0);
    unsafe {
        // The last ones read other dialects than `PAIRS`, which takes Miri too long.
        match if cfg!(miri) { way % 3 } else { way % 6 } {
            0 => {
                let name = chunk(input, &NAMES);
                has_start(aside_dialect_find(name.as_ptr(), name.len()));
            }
            1 => {
                let name = chunk(input, &NAMES);
                has_start(aside_dialect_find_for_model(name.as_ptr(), name.len()));
            }
            2 => {
                assert_eq!(CStr::from_ptr(aside_version()), VERSION);
                aside_version_0_1_0();
                assert_eq!(aside_abi_version(), 1);
                let status = i32::from(input.byte()) - 20;
                for status in [status, status - 1000] {
                    assert!(!CStr::from_ptr(aside_status_text(status)).is_empty());
                }
            }
            3 => {
                let pair = BUILT_IN[input.below(256) % BUILT_IN.len()];
                let text = [chunk(input, words(pair)), chunk(input, words(pair))].concat();
                let variables = [&b"{\"enable_thinking\": true}"[..], b"{\"a\": ", b"[]", b"", b"\xFF"];
                let variables = variables[input.below(5)];
                let (found, start) = (found.as_mut_ptr(), &mut start);
                aside_dialect_find_for_template(text.as_ptr(), text.len(), found, 2, start);
                let (at, len) = (variables.as_ptr(), variables.len());
                aside_dialect_find_for_template_with(text.as_ptr(), text.len(), at, len, found, 2, start);
            }
            4 => {
                let names = chunk(input, &NAMES);
                let status = aside_dialect_preload(names.as_ptr(), names.len());
                assert!([OK, UNKNOWN].contains(&status), "{status}");
            }
            _ => {
                let name = aside_dialect_name_at(way as usize, &mut len);
                assert_eq!(name.is_null(), usize::from(way) >= aside_dialect_count());
                assert!(name.is_null() || *name.add(len) == 0);
                let dialect = aside_dialect_find(name.cast(), len);
                let text = chunk(input, &NAMES);
                let mut out = ptr::null_mut();
                let status = aside_strip(dialect, text.as_ptr(), text.len(), &mut out, &mut len);
                assert_eq!(status == OK, !dialect.is_null());
                free(out);
            }
        }
    }
}

/// Calls that are wrong and must say so, and change nothing.
fn misuse(input: &mut Input<'_>, slot: &mut Slot) {
    let (scanner, none) = (slot.handle, ptr::null_mut::<c_void>());
    let (mut event, mut counts) = (Event::default(), [0; 5]);
    unsafe {
        let out = ptr::null_mut();
        match input.below(14) {
            0 => assert_eq!(aside_scanner_feed(none, b"x".as_ptr(), 1, Some(listen), none), NULL),
            1 => assert_eq!(aside_scanner_feed(scanner, ptr::null(), 1, Some(listen), none), NULL),
            2 => assert_eq!(aside_scanner_feed(scanner, b"x".as_ptr(), usize::MAX, Some(listen), none), LENGTH),
            3 => assert_eq!(aside_scanner_feed(scanner, b"x".as_ptr(), 1, None, none), NULL),
            4 => assert_eq!(aside_scanner_finish(scanner, None, none), NULL),
            5 => assert_eq!(aside_scanner_feed_into(scanner, b"x".as_ptr(), 1, &mut event, 1, 64, out), NULL),
            6 => {
                let mut fed = Fed::NOTHING;
                let sizes = [0, 1, 8, 31, 4097, usize::MAX];
                let size = sizes[input.below(6)];
                assert_eq!(aside_scanner_flush_into(scanner, &mut event, 1, size, &mut fed), SIZE);
                assert_eq!(aside_scanner_finish_into(scanner, &mut event, 0, 64, &mut fed), SIZE);
            }
            7 => {
                assert_eq!(aside_scanner_counts(scanner, 0, &mut counts), SIZE);
                assert_eq!(aside_scanner_quiet(scanner, ptr::null_mut()), NOT_TEXT);
                assert_eq!(aside_scanner_skip(none, 1), NULL);
                assert_eq!(aside_scanner_skip(scanner, u64::MAX), ORDER);
            }
            8 => {
                counts[0] = 40;
                assert_eq!(aside_scanner_counts(scanner, 4, &mut counts), RANGE);
                let mut bytes = 0;
                for channel in [CHANNEL_CONTENT, CHANNEL_THINKING, CHANNEL_NARRATION, CHANNEL_TOOL] {
                    assert_eq!(aside_scanner_counts(scanner, channel, &mut counts), OK);
                    assert!(counts[1] >= counts[2]);
                    bytes += counts[1];
                }
                // After the end of a stream they are its counts still.
                assert!(bytes <= slot.heard as u64 || slot.heard == 0);
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
            12 => {
                assert_eq!(aside_scanner_feed_text(none, b"x".as_ptr(), 1), NOT_TEXT);
                assert_eq!(aside_scanner_feed_text(scanner, ptr::null(), 1), NOT_TEXT);
                assert_eq!(aside_scanner_feed_text(scanner, b"x".as_ptr(), usize::MAX), NOT_TEXT);
                assert_eq!(aside_scanner_force_close(scanner, None, none), NULL);
                assert_eq!(aside_scanner_start_from_prompt(scanner, ptr::null(), 1, ptr::null_mut()), NULL);
            }
            _ => call_writer::misuse(slot.writer.as_ref()),
        }
    }
}
