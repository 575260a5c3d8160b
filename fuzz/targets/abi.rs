//! Calls the C functions at random, also with misuse that the header allows. No call may end the process, each status must be one
//! that the header allows there, and no byte of a stream may be lost or reported twice.
//!
//! The input determines the calls and their arguments.

mod answer;
mod history;
#[cfg(feature = "compress")]
mod results;
mod rewriter;
mod texts;
mod version;

use std::any::Any;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::mem::offset_of;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::LazyLock;

use aside::Dialect;
use support::{Pair, ROOT, c::*};

use self::version::{LARGEST, Version, filled, is_version, size};
use super::Input;
use super::dictionary::words;
use super::scanner::{FILES, PAIRS};

/// The built-in dialects, without those of the tests.
static BUILT_IN: LazyLock<Vec<&Pair>> =
    LazyLock::new(|| PAIRS.iter().filter(|pair| Dialect::find(&pair.reference.name).is_ok()).collect());

/// C handles of the dialects of `PAIRS`: of the built-in dialects and of those of the tests. They are never freed.
pub static HANDLES: LazyLock<Vec<usize>> = LazyLock::new(|| (0..PAIRS.len()).map(handle).collect());

fn handle(index: usize) -> usize {
    let (name, rules) = (&PAIRS[index].reference.name, rules(index));
    unsafe {
        let mut handle = aside_dialect_find(name.as_ptr(), name.len());
        if handle.is_null() {
            handle = aside_dialect_load(rules.as_ptr(), rules.len());
            assert!(!handle.is_null());
        }
        handle as usize
    }
}

/// Returns a dialect's file without its examples.
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
    let dialects = Dialect::names().map(str::to_owned);
    dialects.chain(models).map(String::into_bytes).collect()
});

/// A scanner, and its expected state.
struct Slot {
    handle: Handle,
    /// The words of its dialect.
    words: &'static [Vec<u8>],
    /// The sizes of an event and of the struct of an array in its host's header.
    sizes: [usize; 2],
    stream: Stream,
    /// The texts of the thought that was taken last: the pointers, and copies of the bytes.
    taken: Vec<(Bytes, Vec<u8>)>,
}

/// The state of a stream as a host sees it.
#[derive(Clone, Default)]
struct Stream {
    /// All bytes that were fed, and how many of them were in events.
    fed: Vec<u8>,
    heard: usize,
    /// The beginnings of the tokens in the fed bytes, and whether the last token continues in the next bytes.
    begins: Vec<usize>,
    in_token: bool,
    /// How many tokens begin in the events. None if some events were of a header without this field.
    told: Option<u64>,
    /// The events since the last call: for each, the range of its bytes and the number of tokens that begin in it.
    last: Vec<(Range<usize>, u32)>,
    /// How many calls have begun, and the number of the open call.
    calls: u32,
    open_call: Option<u32>,
    /// The prompt may have begun a call, which is then the first one.
    is_prompted: bool,
    finishing: bool,
}

impl Stream {
    fn begin() -> Stream {
        Stream { told: Some(0), ..Stream::default() }
    }

    /// Records the tokens that begin in the consumed bytes. The first one may continue a token of an earlier call.
    fn note(&mut self, tokens: &[Token], done: usize) {
        if done == 0 {
            return;
        }
        let (mut goes_on, fed) = (std::mem::take(&mut self.in_token), self.fed.len() - done);
        let mut start = 0;
        for token in tokens {
            if start >= done {
                break;
            }
            if token.len > 0 && !goes_on {
                self.begins.push(fed + start);
            }
            goes_on = false;
            start += token.len as usize;
            self.in_token = start > done;
        }
    }

    /// Checks the numbers of an event that are in its first `known` bytes.
    fn count(&mut self, event: &Event, known: usize) {
        let number = match event.kind {
            KIND_CALL => {
                assert_eq!(self.open_call.replace(self.calls), None, "a call in a call");
                self.calls += 1;
                self.calls - 1
            }
            KIND_CALL_END if self.open_call.is_none() && self.calls == 0 && self.is_prompted => {
                self.calls = 1;
                0
            }
            KIND_CALL_END => self.open_call.take().expect("the end of a call that has not begun"),
            _ => 0,
        };
        assert!(known < offset_of!(Event, tokens) || event.call == number, "the call {}, not {number}", event.call);
        if known < size_of::<Event>() {
            self.told = None;
            return;
        }
        assert_eq!(event.first_token, self.told.unwrap_or(event.first_token), "not the tokens before the event");
        self.last.push((self.heard..self.heard + event.len as usize, event.tokens));
        self.told = Some(event.first_token + u64::from(event.tokens));
    }
}

/// The argument of a callback.
struct Heard {
    slot: *mut Slot,
    /// The number of events until it stops.
    patience: u8,
    /// The function that it calls on the feeding scanner.
    mischief: u8,
    /// The message of a failed check, because no panic may leave a callback.
    failure: Option<Box<dyn Any + Send>>,
}

impl Slot {
    /// Checks an event with these bytes, if it has any. The host may read its first `known` bytes.
    fn hear(&mut self, event: &Event, known: usize, bytes: &[u8]) {
        assert!((1..=KIND_CALL_END).contains(&event.kind) && event.channel < 4 && event.cause < 5, "no such event");
        self.stream.count(event, known);
        if event.is_apart() {
            assert_eq!((event.len, event.tokens), (0, 0));
            return;
        }
        assert!(event.len > 0 || event.kind != KIND_TEXT, "an empty text");
        let Stream { fed, heard, .. } = &mut self.stream;
        if event.len > 0 {
            assert_eq!(event.offset as usize, *heard);
        }
        assert_eq!(bytes, &fed[*heard..*heard + bytes.len()], "other bytes than were fed");
        *heard += bytes.len();
    }

    /// Begins a new stream.
    fn begin(&mut self) {
        self.stream = Stream::begin();
    }

    /// Checks the state after a call that did not fail.
    fn settle(&mut self, finish: bool, status: i32) {
        let paused = status != OK;
        let Stream { fed, heard, begins, told, open_call, .. } = &self.stream;
        for (bytes, tokens) in &self.stream.last {
            let wanted = begins.iter().filter(|begin| bytes.contains(begin)).count();
            assert_eq!(*tokens as usize, wanted, "tokens that begin in {bytes:?}");
        }
        unsafe {
            // During a pause, a whole marker may be held whose event is still pending.
            assert!(paused || aside_scanner_held(self.handle) <= aside_scanner_max_hold(self.handle));
            if finish && !paused {
                assert_eq!(*heard, fed.len(), "bytes are lost");
                let tokens = begins.len() as u64;
                assert_eq!(told.unwrap_or(tokens), tokens, "tokens are lost");
                assert_eq!(*open_call, None, "a call has no end");
                self.counts();
                self.begin();
            } else {
                self.stream.finishing |= finish;
                self.stream.last.clear();
            }
            if !self.stream.finishing {
                assert_eq!(aside_scanner_offset(self.handle), self.stream.fed.len() as u64);
            }
        }
    }

    /// Checks that the counts of all channels together do not exceed the bytes of the events.
    fn counts(&self) {
        let (mut bytes, mut tokens) = (0, 0);
        for channel in [CHANNEL_CONTENT, CHANNEL_THINKING, CHANNEL_NARRATION, CHANNEL_TOOL] {
            let counts: Counts = filled(|at| unsafe { aside_scanner_counts(self.handle, channel, at) }).unwrap();
            assert!(counts.bytes >= counts.characters);
            assert!(counts.lost_thoughts == 0 || channel == CHANNEL_THINKING);
            bytes += counts.bytes;
            tokens += counts.tokens;
        }
        // Before the first byte of a stream, the counts are those of the last stream.
        let Stream { fed, heard, begins, .. } = &self.stream;
        assert!(fed.is_empty() || bytes <= *heard as u64 && tokens <= begins.len() as u64);
    }

    /// Checks that the thought that was taken last has not changed.
    fn keeps_thought(&self) {
        for (at, text) in &self.taken {
            assert_eq!(unsafe { at.get() }, text);
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
    /// Fails if a check inside the callback has failed.
    fn fails(self) {
        if let Some(failure) = self.failure {
            resume_unwind(failure);
        }
    }

    /// Receives an event, and calls functions that must fail during a callback.
    fn hear(&mut self, event: &Event, bytes: &[u8], user: *mut c_void) -> i32 {
        assert_eq!(event.text_at, 0, "a place in no array");
        let slot = unsafe { &mut *self.slot };
        slot.hear(event, size_of::<Event>(), bytes);
        let scanner = slot.handle;
        let mut events = [Event::default()];
        let mut array = EventArray::new(&mut events);
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
                6 => assert_eq!(aside_scanner_skip(scanner, 1, 97), BUSY),
                7 => assert_eq!(aside_scanner_quiet(scanner, [0; 4].as_mut_ptr()), NOT_TEXT),
                8 => assert_eq!(aside_scanner_feed_text(scanner, b"x".as_ptr(), 1), NOT_TEXT),
                9 => assert_eq!(aside_scanner_flush(scanner, Some(listen), user), BUSY),
                10 => assert_eq!(aside_scanner_force_close(scanner, Some(listen), user), BUSY),
                11 => assert_eq!(aside_scanner_start_from_prompt(scanner, ptr::null(), 0, ptr::null_mut()), BUSY),
                12 => assert_eq!(aside_scanner_counts(scanner, CHANNEL_TOOL, &mut Counts::default()), BUSY),
                13 => assert_eq!(aside_scanner_take_thought(scanner, &mut Thought::default()), BUSY),
                14 => assert_eq!(aside_scanner_thought_attribute(scanner, 0, &mut Attribute::default()), BUSY),
                15 => assert_eq!(aside_scanner_feed_into(scanner, b"x".as_ptr(), 1, &mut array), BUSY),
                16 => assert_eq!(aside_scanner_finish_into(scanner, &mut array), BUSY),
                17 => assert_eq!(aside_scanner_flush_into(scanner, &mut array), BUSY),
                18 => assert_eq!(aside_scanner_force_close_into(scanner, &mut array), BUSY),
                19 => {
                    let token = Token { len: 1, special: 1 };
                    let (text, function) = (b"x".as_ptr(), Some(listen as _));
                    assert_eq!(aside_scanner_feed_tokens(scanner, text, 1, &token, 1, function, user), BUSY);
                    assert_eq!(aside_scanner_feed_tokens_into(scanner, text, 1, &token, 1, &mut array), BUSY);
                }
                20 => assert_eq!(aside_scanner_held(scanner) + aside_scanner_max_hold(scanner), 0),
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
    // The number of calls is limited, so that an input with only misuse ends.
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
                slot.keeps_thought();
                assert_eq!(unsafe { aside_scanner_reset(slot.handle) }, OK);
                slot.begin();
                slot.taken.clear();
                has_no_attribute(slot.handle);
            }
            204..212 => unsafe {
                let handle = aside_scanner_clone(slot.handle);
                assert!(!handle.is_null());
                has_no_attribute(handle);
                let (stream, taken) = (slot.stream.clone(), Vec::new());
                let (words, sizes) = (slot.words, slot.sizes);
                if slots.len() < 8 {
                    slots.push(Box::new(Slot { handle, words, sizes, stream, taken }));
                } else {
                    aside_scanner_free(handle);
                }
            },
            212..220 => drop(slots.swap_remove(at)),
            220..226 => thought(&mut input, slot),
            226..230 => pass(&mut input, slot),
            230..236 => unsafe {
                let (tail, mut start) = (chunk(&mut input, slot.words), 99);
                let status = aside_scanner_start_from_prompt(slot.handle, tail.as_ptr(), tail.len(), &mut start);
                // A prompt is only possible before the first byte.
                let begun = !slot.stream.fed.is_empty() || slot.stream.finishing;
                assert!(status == if begun { ORDER } else { OK } || status == ORDER, "{status}");
                assert_eq!(status == OK, start != 99);
                if status == OK {
                    slot.stream.is_prompted = !tail.is_empty();
                }
            },
            236..238 => unsafe {
                let (mut start, mut is_guessed) = (99, 99);
                assert_eq!(aside_scanner_start(slot.handle, &mut start, &mut is_guessed), OK);
                assert!(start <= START_HEADER && is_guessed <= u32::from(start == START_THINKING));
                let reason = input.one_of(&[END_REASON_UNKNOWN, END_REASON_ENDED, END_REASON_CUT_OFF, 3]);
                let status = aside_scanner_end_reason(slot.handle, reason);
                assert_eq!(status, if reason > END_REASON_CUT_OFF { OPTION } else { OK });
                // The stream of this slot is compared with a stream without options.
                assert_eq!(aside_scanner_end_reason(slot.handle, END_REASON_UNKNOWN), OK);
            },
            238..240 => lookups(&mut input),
            240..243 => rewriter::run(&mut input),
            243..245 => texts::run(&mut input),
            245 => history::run(&mut input),
            #[cfg(feature = "compress")]
            246..249 => results::run(&mut input),
            249..252 => answer::run(&mut input),
            _ => misuse(&mut input, slot),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // After a failed check, the thought is not compared.
        if !std::thread::panicking() {
            self.keeps_thought();
        }
        unsafe { aside_scanner_free(self.handle) };
    }
}

/// Returns memory of exactly this size, so that an access one byte beyond it is detected.
fn chunk(input: &mut Input<'_>, words: &[Vec<u8>]) -> Box<[u8]> {
    input.text(words).into()
}

fn made(input: &mut Input<'_>) -> Option<Slot> {
    let (choice, at) = (input.byte(), usize::from(input.byte()));
    let mut own = ptr::null_mut();
    let (pair, dialect) = unsafe {
        match choice {
            // A short file that can be loaded, and lines that are rarely a valid file.
            255 => {
                let file = b"name = \"own\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<t>\"]\nclose = [\"</t>\"]\n";
                own = aside_dialect_load(file.as_ptr(), file.len());
                assert!(!own.is_null());
                (&PAIRS[at % PAIRS.len()], own)
            }
            250.. => {
                let file = chunk(input, &LINES);
                own = aside_dialect_load(file.as_ptr(), file.len());
                assert!(!own.is_null() || aside_last_status() == DIALECT);
                let is_one = std::str::from_utf8(&file).is_ok_and(|file| Dialect::load(file).is_ok());
                assert_eq!(!own.is_null(), is_one);
                (&PAIRS[at % PAIRS.len()], own)
            }
            _ => {
                let index = at % PAIRS.len();
                (&PAIRS[index], HANDLES[index] as Handle)
            }
        }
    };
    let way = input.byte();
    let sizes = sizes(input);
    let has_budget = [0, 0, 0, 1, 1, 2][usize::from(input.byte()) % 6];
    let budget = u64::from(input.byte());
    let options = ScannerOptions {
        size: size::<ScannerOptions>(input),
        start: input.one_of(&[
            START_DEFAULT,
            START_DEFAULT,
            START_CONTENT,
            START_THINKING,
            START_NARRATION,
            START_TOOL,
            START_HEADER,
        ]),
        stray_close: input.one_of(&[STRAY_CLOSE_DIALECT, STRAY_CLOSE_TEXT, STRAY_CLOSE_DROP]),
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
            CALLS_IN_THINKING_ALWAYS,
        ]),
        leading_tags: if way == 254 { 2 } else { input.one_of(&[LEADING_TAGS_DIALECT, LEADING_TAGS_TEXT]) },
    };
    let mut given = Version::given(input, options);
    unsafe {
        let at = if way & 3 == 0 { ptr::null_mut() } else { given.at() };
        let handle = aside_scanner_new(dialect, at);
        let status = aside_last_status();
        // Objects that were made from it stay usable.
        aside_dialect_free(own);
        let is_good = at.is_null() || is_version(options.size, size_of::<usize>()) && !given.has_more();
        assert!(handle.is_null() || is_good);
        if handle.is_null() {
            let wanted = match is_good {
                _ if dialect.is_null() => NULL,
                false if !is_version(options.size, size_of::<usize>()) => SIZE,
                _ => OPTION,
            };
            assert_eq!(status, wanted);
            assert!(*aside_last_error() != 0);
            return None;
        }
        has_no_attribute(handle);
        Some(Slot { handle, words: words(pair), sizes, stream: Stream::begin(), taken: Vec::new() })
    }
}

/// Returns the sizes of an event and of the struct of an array in a host's header: mostly those of this version.
fn sizes(input: &mut Input<'_>) -> [usize; 2] {
    let (events, array) = (input.byte(), input.byte());
    let few = [32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 264, LARGEST];
    let event = if events < 200 { size_of::<Event>() } else { few[usize::from(events & 15)] };
    let more = [0, 8, 16, LARGEST - size_of::<EventArray>()];
    [event, size_of::<EventArray>() + if array < 200 { 0 } else { more[usize::from(array & 3)] }]
}

fn feed(input: &mut Input<'_>, slot: &mut Slot) {
    let (way, text) = (input.byte(), chunk(input, slot.words));
    if slot.stream.finishing {
        let mut heard = Heard { slot, patience: 0, mischief: 0, failure: None };
        let user = (&raw mut heard).cast();
        let status = unsafe { aside_scanner_feed(slot.handle, text.as_ptr(), text.len(), Some(listen), user) };
        assert_eq!(status, ORDER);
        return;
    }
    let mut rest = &text[..];
    let mut tokens = if way % 8 < 6 { Vec::new() } else { tokens(input, rest.len()) };
    // The number of pauses is limited. After them, the rest is dropped.
    for _ in 0..64 {
        let (status, consumed) = feed_once(input, slot, way % 8, rest, &tokens);
        rest = &rest[consumed..];
        let mut done = consumed as u32;
        while done > 0 && !tokens.is_empty() {
            let part = done.min(tokens[0].len);
            tokens[0].len -= part;
            done -= part;
            if tokens[0].len == 0 {
                tokens.remove(0);
            }
        }
        // Some hosts drop the rest at the first pause.
        if status == OK || way & 128 == 0 {
            break;
        }
    }
}

/// Returns tokens with this total number of bytes, some of them empty.
fn tokens(input: &mut Input<'_>, len: usize) -> Vec<Token> {
    let (mut tokens, mut left) = (Vec::new(), len as u32);
    while left > 0 {
        let len = match input.byte() {
            250.. => 0,
            byte => (1 + u32::from(byte) % 9).min(left),
        };
        tokens.push(Token { len, special: u32::from(input.byte()) & 1 });
        left -= len;
    }
    tokens
}

/// Feeds bytes until the first pause. Returns the status and the number of consumed bytes.
fn feed_once(input: &mut Input<'_>, slot: &mut Slot, way: u8, text: &[u8], tokens: &[Token]) -> (i32, usize) {
    let fed = slot.stream.fed.len();
    slot.stream.fed.extend_from_slice(text);
    let (given, count) = (tokens.as_ptr(), tokens.len());
    let (status, consumed) = match way {
        0 | 1 => array(slot, input.below(5) + 1, |scanner, array| unsafe {
            aside_scanner_feed_into(scanner, text.as_ptr(), text.len(), array)
        }),
        2..5 => called(slot, input, |scanner, user| unsafe {
            aside_scanner_feed(scanner, text.as_ptr(), text.len(), Some(listen), user)
        }),
        5 => feed_text(slot, text),
        6 => array(slot, input.below(5) + 1, |scanner, array| unsafe {
            aside_scanner_feed_tokens_into(scanner, text.as_ptr(), text.len(), given, count, array)
        }),
        _ => called(slot, input, |scanner, user| unsafe {
            aside_scanner_feed_tokens(scanner, text.as_ptr(), text.len(), given, count, Some(listen), user)
        }),
    };
    assert!(status == OK || status == STOPPED || status == MORE, "{status}");
    assert!(consumed <= text.len() && (status != OK || consumed == text.len()));
    slot.stream.fed.truncate(fed + consumed);
    slot.stream.note(tokens, consumed);
    slot.settle(false, status);
    (status, consumed)
}

/// Feeds chunks as plain text, and those that are not plain text with a callback, as a host does.
fn feed_text(slot: &mut Slot, text: &[u8]) -> (i32, usize) {
    let (fed, twin) = (slot.stream.fed.len() - text.len(), unsafe { aside_scanner_clone(slot.handle) });
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
    assert_eq!(slot.stream.heard, fed, "text was fed, and some is held back");
    is_one_text(twin, text, channel, slot.stream.told);
    slot.stream.heard += text.len();
    (OK, text.len())
}

/// Feeds bytes to a scanner and frees it. The bytes must be one event after this number of tokens.
fn is_one_text(twin: Handle, text: &[u8], channel: i32, told: Option<u64>) {
    let mut events = [Event::default(); 4];
    let mut array = EventArray::new(&mut events);
    unsafe {
        let offset = aside_scanner_offset(twin);
        let status = aside_scanner_feed_into(twin, text.as_ptr(), text.len(), &mut array);
        assert_eq!((status, array.count), (OK, usize::from(!text.is_empty())), "{}", text.escape_ascii());
        let event = events[0];
        let is_it = (event.kind, event.channel as i32, event.offset, event.len)
            == (KIND_TEXT, channel, offset, text.len() as u64);
        let first = told.unwrap_or(event.first_token);
        assert!(text.is_empty() || is_it && (event.first_token, event.tokens) == (first, 0));
        aside_scanner_free(twin);
    }
}

/// Passes over the quiet bytes at the beginning of a chunk.
fn pass(input: &mut Input<'_>, slot: &mut Slot) {
    let (mut quiet, text) = ([0; 4], chunk(input, slot.words));
    unsafe {
        let channel = aside_scanner_quiet(slot.handle, quiet.as_mut_ptr());
        if channel == NOT_TEXT {
            assert_eq!(quiet, [0; 4], "written, and nothing may pass");
            return;
        }
        assert_eq!(slot.stream.heard, slot.stream.fed.len(), "bytes may pass, but some are held back");
        let passed = text.iter().take_while(|&&byte| is_in(&quiet, byte)).count();
        is_one_text(aside_scanner_clone(slot.handle), &text[..passed], channel, slot.stream.told);
        let last = text[..passed].last().copied().unwrap_or_default();
        assert_eq!(aside_scanner_skip(slot.handle, passed as u64, last.into()), OK);
        slot.stream.fed.extend_from_slice(&text[..passed]);
        slot.stream.note(&[], passed);
        slot.stream.heard += passed;
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
    if !finish && slot.stream.finishing {
        assert_eq!(status, ORDER);
        return;
    }
    assert!(status == OK || status == STOPPED || status == MORE, "{status}");
    slot.settle(finish, status);
}

/// Makes a call with a callback. Returns its status and the number of consumed bytes.
fn called(slot: &mut Slot, input: &mut Input<'_>, call: impl FnOnce(Handle, *mut c_void) -> i32) -> (i32, usize) {
    let handle = slot.handle;
    let mut heard = Heard { slot, patience: input.byte(), mischief: input.byte() % 32, failure: None };
    let status = call(handle, (&raw mut heard).cast());
    heard.fails();
    (status, unsafe { aside_scanner_consumed(handle) })
}

/// Makes the same call with an array of this many events, in the slot's sizes.
fn array(slot: &mut Slot, capacity: usize, call: impl FnOnce(Handle, *mut EventArray) -> i32) -> (i32, usize) {
    let [event_size, array_size] = slot.sizes;
    let mut room = vec![0xAA_u8; capacity * event_size].into_boxed_slice();
    let mut array = Version::new(EventArray {
        size: array_size,
        events: room.as_mut_ptr().cast(),
        event_size,
        capacity,
        ..EventArray::default()
    });
    let before = array.bytes().to_vec();
    let status = call(slot.handle, array.at());
    if status < 0 {
        assert_eq!(array.bytes(), before, "written on a failure");
        return (status, 0);
    }
    let EventArray { count, consumed, offset, held, attributes, .. } = array.get();
    let (held, attributes) = unsafe { (held.get(), attributes.get()) };
    assert!(count <= capacity && !array.has_more());
    let offset = offset as usize;
    // The held bytes may include the end of the prompt, which is before the stream.
    let of_stream = held.len().min(offset);
    assert!(
        slot.stream.fed[..offset].ends_with(&held[held.len() - of_stream..]),
        "held is not the text before the chunk"
    );
    for entry in room.chunks(event_size).take(count) {
        let known = event_size.min(size_of::<Event>());
        assert!(entry[known..].iter().all(|&byte| byte == 0), "a field that no version has");
        let mut event = Event::default();
        unsafe { ptr::copy_nonoverlapping(entry.as_ptr(), (&raw mut event).cast(), known) };
        if known < offset_of!(Event, raw_name_at) {
            // The pointers to its texts are in fields that this header does not have.
            (event.text_at, event.name_len, event.value_len) = (0, 0, 0);
        }
        let (from, len) = (event.offset as usize, event.len as usize);
        if event.is_apart() && event.byte_count() > 0 {
            slot.hear(&event, known, &attributes[event.text_at as usize..][..event.byte_count()]);
        } else {
            assert!(from >= offset - of_stream || len == 0, "bytes that the caller no longer has");
            assert!(from + len <= offset + consumed, "bytes that are not done");
            let bytes = slot.stream.fed[from..from + len].to_vec();
            slot.hear(&event, known, &bytes);
        }
    }
    (status, consumed)
}

/// Checks that no attribute is returned for a scanner without a taken thought. Otherwise, another thought's memory would be
/// returned.
fn has_no_attribute(scanner: Handle) {
    assert_eq!(filled::<Attribute>(|at| unsafe { aside_scanner_thought_attribute(scanner, 0, at) }).err(), Some(RANGE));
}

fn thought(input: &mut Input<'_>, slot: &mut Slot) {
    slot.keeps_thought();
    let mut thought = Version::new(Thought { size: size::<Thought>(input), ..Thought::default() });
    thought.later().fill(7);
    let (before, size) = (thought.bytes().to_vec(), thought.get().size);
    unsafe {
        let status = aside_scanner_take_thought(slot.handle, thought.at());
        if status != OK {
            assert_eq!(status, if is_version(size, size_of::<Thought>()) { NONE } else { SIZE });
            assert_eq!(thought.bytes(), before, "written on a failure");
        }
        if status == NONE {
            slot.taken.clear();
            has_no_attribute(slot.handle);
        }
        if status != OK {
            return;
        }
        assert!(!thought.has_more());
        let thought = thought.get();
        let mut texts = vec![thought.text, thought.thought_type];
        let attribute = |index| filled::<Attribute>(|at| aside_scanner_thought_attribute(slot.handle, index, at));
        for index in 0..thought.attribute_count {
            let Attribute { name, value, .. } = attribute(index).ok().unwrap();
            texts.extend([name, value]);
        }
        for index in [thought.attribute_count, thought.attribute_count + 1, usize::MAX] {
            assert_eq!(attribute(index).err(), Some(RANGE));
        }
        assert!(
            thought.cause < 4 && thought.truncated < 2 && thought.has_thought_type < 2 && thought.has_confidence < 2
        );
        assert!((0.0..=1.0).contains(&thought.confidence));
        slot.taken = texts.into_iter().map(|text| (text, text.get().to_vec())).collect();
    }
}

/// Checks that a handle is NULL or a dialect with a start.
unsafe fn has_start(dialect: Handle) {
    assert_eq!(unsafe { aside_dialect_start(dialect) } == START_DEFAULT, dialect.is_null());
}

fn lookups(input: &mut Input<'_>) {
    let way = input.byte();
    unsafe {
        // The last functions read other dialects than `PAIRS`, which takes too long in Miri.
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
                let version = CStr::from_ptr(aside_version().cast()).to_str().unwrap();
                assert_eq!(version.split('.').filter(|part| part.parse::<u32>().is_ok()).count(), 3, "{version}");
                aside_version_0_1_0();
                assert_eq!((aside_abi_version(), aside_unstable_version()), (ABI_VERSION as u32, 1));
                let status = i32::from(input.byte()) - 20;
                for status in [status, status - 1000] {
                    assert!(!CStr::from_ptr(aside_status_text(status).cast()).is_empty());
                }
            }
            3 => template(input),
            4 => {
                let names = chunk(input, &NAMES);
                let status = aside_dialect_preload(names.as_ptr(), names.len());
                assert!([OK, UNKNOWN].contains(&status), "{status}");
            }
            _ => {
                let mut len = 0;
                let name = aside_dialect_name_at(way as usize, &mut len);
                assert_eq!(name.is_null(), usize::from(way) >= Dialect::names().count());
                assert!(name.is_null() || *name.add(len) == 0);
                let dialect = aside_dialect_find(name, len);
                let text = chunk(input, &NAMES);
                let out = aside_strip(dialect, text.as_ptr(), text.len(), &mut len);
                assert_eq!(out.is_null(), dialect.is_null());
                aside_free(out.cast());
            }
        }
    }
}

/// Finds a dialect by a template, with any struct for the result.
fn template(input: &mut Input<'_>) {
    // A handle that belongs to no dialect.
    const UNTOUCHED: Handle = ptr::dangling_mut::<u64>().cast();
    let pair = BUILT_IN[input.below(256) % BUILT_IN.len()];
    let mut text = [chunk(input, words(pair)), chunk(input, words(pair))].concat();
    let (way, capacity) = (input.byte(), input.below(4));
    if way < 64 {
        // Two dialects have this marker.
        text.extend_from_slice("{{ '[unused16]◁think▷' }}".as_bytes());
    }
    let wanted = Dialect::find_for_template(&String::from_utf8_lossy(&text));
    let mut room = vec![UNTOUCHED; capacity].into_boxed_slice();
    let given = TemplateMatch {
        size: size::<TemplateMatch>(input),
        dialects: if way & 15 == 1 { ptr::null_mut() } else { room.as_mut_ptr() },
        capacity,
        count: 77,
        start: 77,
        reserved: u32::from(way & 15 == 2),
    };
    let mut found = Version::given(input, given);
    let before = found.bytes().to_vec();
    let at = if way & 15 == 3 { ptr::null_mut() } else { found.at() };
    unsafe {
        let dialect = aside_dialect_find_for_template(text.as_ptr(), text.len(), at);
        let status = if dialect.is_null() { aside_last_status() } else { OK };
        let refused = match given {
            _ if at.is_null() => OK,
            _ if !is_version(given.size, size_of::<TemplateMatch>()) => SIZE,
            _ if found.has_more() || given.reserved != 0 => OPTION,
            _ if given.dialects.is_null() && capacity > 0 => NULL,
            _ => OK,
        };
        let names: Vec<&str> = match &wanted {
            _ if refused != OK => Vec::new(),
            Ok((dialect, _)) => vec![dialect.name()],
            Err(error) => error.candidates().to_vec(),
        };
        let several = if names.is_empty() { UNKNOWN } else { AMBIGUOUS };
        assert_eq!(status, if refused != OK { refused } else { wanted.as_ref().map_or(several, |_| OK) });
        has_start(dialect);
        // The array gets as many dialects as fit, and no more.
        let name = |dialect| CStr::from_ptr(aside_dialect_name(dialect, ptr::null_mut()).cast()).to_str().unwrap();
        let written = if at.is_null() { 0 } else { capacity.min(names.len()) };
        assert!(room[..written].iter().map(|&dialect| name(dialect)).eq(names[..written].iter().copied()));
        assert!(room[written..].iter().all(|&dialect| dialect == UNTOUCHED));
        if names.is_empty() || at.is_null() {
            assert_eq!(found.bytes(), before, "written on a failure");
            return;
        }
        let TemplateMatch { count, start, .. } = found.get();
        let begins = wanted.as_ref().ok().map(|&(_, begins)| begins);
        assert_eq!((count, rewriter::start_of(start)), (names.len(), begins));
        assert!(start <= START_HEADER);
    }
}

/// Makes wrong calls, which must fail without an effect.
fn misuse(input: &mut Input<'_>, slot: &mut Slot) {
    let (scanner, none) = (slot.handle, ptr::null_mut::<c_void>());
    let mut events = [Event::default()];
    let good = EventArray::new(&mut events);
    unsafe {
        match input.below(14) {
            0 => assert_eq!(aside_scanner_feed(none, b"x".as_ptr(), 1, Some(listen), none), NULL),
            1 => assert_eq!(aside_scanner_feed(scanner, ptr::null(), 1, Some(listen), none), NULL),
            2 => assert_eq!(aside_scanner_feed(scanner, b"x".as_ptr(), usize::MAX, Some(listen), none), LENGTH),
            3 => assert_eq!(aside_scanner_feed(scanner, b"x".as_ptr(), 1, None, none), NULL),
            4 => assert_eq!(aside_scanner_finish(scanner, None, none), NULL),
            5 => {
                let mut array = EventArray { events: ptr::null_mut(), ..good };
                for at in [ptr::null_mut(), &raw mut array] {
                    assert_eq!(aside_scanner_feed_into(scanner, b"x".as_ptr(), 1, at), NULL);
                    assert_eq!(aside_scanner_finish_into(scanner, at), NULL);
                }
                assert_eq!(aside_scanner_feed_into(scanner, ptr::null(), 1, &mut array), NULL);
                assert_eq!(aside_scanner_feed_into(scanner, b"x".as_ptr(), usize::MAX, &mut array), LENGTH);
            }
            6 => wrong_arrays(input, scanner, good),
            7 => {
                let mut short =
                    Version::new(Counts { size: [0, 7, 8, 40, 47, 4097][input.below(6)], ..Counts::default() });
                assert_eq!(aside_scanner_counts(scanner, CHANNEL_CONTENT, short.at()), SIZE);
                assert_eq!(aside_scanner_quiet(scanner, ptr::null_mut()), NOT_TEXT);
                assert_eq!(aside_scanner_skip(none, 1, 97), NULL);
                assert_eq!(aside_scanner_skip(scanner, u64::MAX, 97), ORDER);
            }
            8 => {
                assert_eq!(filled::<Counts>(|at| aside_scanner_counts(scanner, 4, at)).err(), Some(RANGE));
                assert_eq!(aside_scanner_counts(none, CHANNEL_TOOL, &mut Counts::default()), NULL);
                slot.counts();
            }
            9 => {
                assert_eq!(aside_scanner_take_thought(scanner, ptr::null_mut()), NULL);
                assert_eq!(aside_scanner_take_thought(none, &mut Thought::default()), NULL);
                assert_eq!(aside_scanner_thought_attribute(scanner, 0, ptr::null_mut()), NULL);
                assert_eq!(aside_scanner_thought_attribute(none, 0, &mut Attribute::default()), NULL);
                slot.keeps_thought();
            }
            10 => {
                let token = Token { len: 3, special: 1 };
                let status = aside_scanner_feed_tokens(scanner, b"x".as_ptr(), 1, &token, 1, Some(listen), none);
                assert_eq!(status, LENGTH);
                let mut array = good;
                assert_eq!(aside_scanner_feed_tokens_into(scanner, b"x".as_ptr(), 1, &token, 1, &mut array), LENGTH);
                let (no_tokens, far) = (ptr::null(), usize::MAX);
                assert_eq!(aside_scanner_feed_tokens_into(scanner, b"x".as_ptr(), 1, no_tokens, 1, &mut array), NULL);
                assert_eq!(aside_scanner_feed_tokens_into(scanner, ptr::null(), 0, &token, far, &mut array), LENGTH);
                assert_eq!((array.count, array.consumed, array.offset), (0, 0, 0));
            }
            11 => {
                aside_scanner_free(none);
                aside_dialect_free(none);
                aside_free(none);
                assert!(aside_scanner_new(none, ptr::null()).is_null() && aside_last_status() == NULL);
            }
            12 => {
                assert_eq!(aside_scanner_feed_text(none, b"x".as_ptr(), 1), NOT_TEXT);
                assert_eq!(aside_scanner_feed_text(scanner, ptr::null(), 1), NOT_TEXT);
                assert_eq!(aside_scanner_feed_text(scanner, b"x".as_ptr(), usize::MAX), NOT_TEXT);
                assert_eq!(aside_scanner_force_close(scanner, None, none), NULL);
                assert_eq!(aside_scanner_start_from_prompt(scanner, ptr::null(), 1, ptr::null_mut()), NULL);
            }
            _ => {
                for (toml, len, wanted) in [(ptr::null(), 1, NULL), (b"x".as_ptr(), usize::MAX, LENGTH)] {
                    assert!(aside_dialect_load(toml, len).is_null() && aside_last_status() == wanted);
                    let read = aside_dialect_from_response_template(toml, len);
                    assert!(read.is_null() && aside_last_status() == wanted);
                    let found = aside_dialect_find_for_template(toml, len, ptr::null_mut());
                    assert!(found.is_null() && aside_last_status() == wanted);
                    assert_eq!(aside_dialect_preload(toml, len), wanted);
                }
                assert!(aside_dialect_load(ptr::null(), 0).is_null() && aside_last_status() == DIALECT);
            }
        }
    }
}

/// Arrays to which no call may write.
unsafe fn wrong_arrays(input: &mut Input<'_>, scanner: Handle, good: EventArray) {
    let sizes = [0, 1, 8, 31, 4097, usize::MAX, 36, 124];
    let (wrong, far) = (sizes[input.below(8)], isize::MAX as usize / size_of::<Event>() + 1);
    for (array, wanted) in [
        (EventArray { event_size: wrong, ..good }, SIZE),
        (EventArray { capacity: 0, ..good }, SIZE),
        (EventArray { capacity: far, ..good }, SIZE),
        (EventArray { capacity: usize::MAX, ..good }, SIZE),
        (EventArray { size: wrong, ..good }, SIZE),
        (EventArray { size: size_of::<EventArray>() - 1, ..good }, SIZE),
        (EventArray { size: size_of::<EventArray>() + 8 + 8 * input.below(2), ..good }, OPTION),
    ] {
        let mut array = Version::new(array);
        array.later().fill(1);
        let before = array.bytes().to_vec();
        let token = Token { len: 1, special: 0 };
        unsafe {
            assert_eq!(aside_scanner_feed_into(scanner, b"x".as_ptr(), 1, array.at()), wanted);
            assert_eq!(aside_scanner_feed_tokens_into(scanner, b"x".as_ptr(), 1, &token, 1, array.at()), wanted);
            assert_eq!(aside_scanner_flush_into(scanner, array.at()), wanted);
            assert_eq!(aside_scanner_force_close_into(scanner, array.at()), wanted);
            assert_eq!(aside_scanner_finish_into(scanner, array.at()), wanted);
        }
        assert_eq!(array.bytes(), before, "written on a failure");
    }
}
