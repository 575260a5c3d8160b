//! Compresses tool results through the C functions: a registry, its compressors, calls and streams, with filters and caches of a
//! host that fail, lie and call back. Each accepted filter and cache must be released once.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;

use aside::compress::{MIN_BUDGET, MIN_COMPRESSIBLE_LENGTH, units};
use support::c::*;

use super::super::Input;
use super::version::{Version, filled, is_version, size};

/// The objects that the host's callbacks use.
struct World {
    /// NULL after it is freed.
    registry: Cell<Handle>,
    /// All compressors that were made of the registry; NULL for freed ones.
    compressors: RefCell<Vec<Handle>>,
    /// The number of a compressor that was made of the registry's current contents.
    twin: Cell<Option<usize>>,
    /// The numbers of the compressors that are inside a call, the innermost one last, with their invocations.
    running: RefCell<Vec<(usize, Invoked)>>,
    stream: Cell<Option<Stream>>,
    /// Whether the stream is inside a call.
    in_stream: Cell<bool>,
    /// How many filters and caches of the host were accepted, and how many are released.
    taken: Cell<usize>,
    released: Cell<usize>,
}

/// The expected argument of a callback, for an invocation.
#[derive(Clone, Copy)]
struct Invoked {
    tool_id: &'static [u8],
    json: &'static [u8],
    now: u64,
}

/// The output of a tool that is still being printed.
#[derive(Clone, Copy)]
struct Stream {
    handle: Handle,
    /// The number of its compressor.
    number: usize,
    invoked: Invoked,
    is_finished: bool,
    is_reported: bool,
}

/// A filter or cache of the host.
struct Host {
    world: *const World,
    mischief: u8,
}

const LOG: &[u8] = b"one line and another\none line and another\nerror: it is broken\n  here\nall is well\n";

/// A value to which no call has written.
const UNTOUCHED: Bytes = Bytes { at: ptr::null(), len: 7 };

unsafe extern "C" fn release(user: *mut c_void) {
    let host = unsafe { Box::from_raw(user.cast::<Host>()) };
    let world = unsafe { &*host.world };
    world.released.set(world.released.get() + 1);
}

/// Counts tokens. By the length of the text, the count is right, 0 or too large, or counting fails.
unsafe extern "C" fn count(user: *mut c_void, _: *const u8, len: usize, reply: Handle) -> i64 {
    match len % 16 {
        _ if user.is_null() => -1,
        0 => 0,
        1 => i64::MAX,
        2 => {
            unsafe { aside_reply_write(reply, b"no tokenizer".as_ptr(), 12) };
            -1
        }
        _ => (len / 4) as i64,
    }
}

unsafe extern "C" fn release_count(user: *mut c_void) {
    let Some(world) = (unsafe { user.cast::<World>().as_ref() }) else { return };
    world.released.set(world.released.get() + 1);
}

impl World {
    /// Makes a call of a compressor, whose callbacks must get this invocation.
    fn run<T>(&self, number: usize, invoked: Invoked, call: impl FnOnce() -> T) -> T {
        self.running.borrow_mut().push((number, invoked));
        let made = call();
        self.running.borrow_mut().pop();
        made
    }

    fn is_running(&self, number: usize) -> bool {
        self.running.borrow().iter().any(|&(running, _)| running == number)
    }

    /// Makes a call of the stream, which is busy during the call.
    fn run_stream<T>(&self, stream: Stream, call: impl FnOnce() -> T) -> T {
        let before = self.in_stream.replace(true);
        let made = self.run(stream.number, stream.invoked, call);
        self.in_stream.set(before);
        made
    }

    /// Frees the registry. A compressor with the same contents keeps them.
    fn free_registry(&self) {
        let released = self.released.get();
        unsafe { aside_registry_free(self.registry.replace(ptr::null_mut())) };
        let twin = self.twin.get().and_then(|number| self.compressors.borrow().get(number).copied());
        assert!(twin.is_none_or(<*mut c_void>::is_null) || self.released.get() == released, "released, and in use");
    }
}

impl Host {
    /// Tries other functions inside a callback: the compressors that are inside a call are busy, and so is the stream.
    unsafe fn meddle(&self) {
        let world = unsafe { &*self.world };
        let compressors = world.compressors.borrow().clone();
        let mut out = UNTOUCHED;
        for (number, &compressor) in compressors.iter().enumerate().filter(|(_, compressor)| !compressor.is_null()) {
            let invoked = Invoked { tool_id: b"bash", json: b"null", now: 7 };
            unsafe {
                let invocation = invocation(invoked.tool_id, b"", invoked.now);
                let make = || aside_compress(compressor, &invocation, ptr::null(), 0);
                if world.is_running(number) {
                    assert!(make().is_null() && aside_last_status() == BUSY);
                    aside_compressor_free(compressor);
                    assert_eq!(aside_last_status(), BUSY);
                    let stream = aside_tool_stream_new(compressor, &invocation, 1 << 20);
                    assert!(stream.is_null() && aside_last_status() == BUSY);
                } else if world.running.borrow().len() < 3 {
                    // Another compressor may be used.
                    let compressed = world.run(number, invoked, make);
                    assert!(!compressed.is_null());
                    aside_compressed_free(compressed);
                }
            }
        }
        if let Some(stream) = world.stream.get() {
            let wanted = match stream {
                _ if world.in_stream.get() => BUSY,
                Stream { is_finished: true, .. } => ORDER,
                _ if world.is_running(stream.number) => BUSY,
                _ => OK,
            };
            unsafe {
                assert_eq!(aside_tool_stream_feed(stream.handle, ptr::null(), 0, &mut out), wanted);
                if world.in_stream.get() {
                    assert_eq!(aside_tool_stream_finish(stream.handle, &mut out), BUSY);
                    assert_eq!(aside_tool_stream_set_exit_code(stream.handle, 1), BUSY);
                    assert!(aside_tool_stream_report(stream.handle).is_null() && aside_last_status() == BUSY);
                    aside_tool_stream_free(stream.handle);
                    assert_eq!(aside_last_status(), BUSY);
                }
            }
        }
        // The registry is a separate object: it may change, make compressors, and be freed.
        let registry = world.registry.get();
        if self.mischief & 128 != 0 && !registry.is_null() {
            unsafe {
                let compressor = aside_compressor_new(registry, ptr::null());
                assert!(!compressor.is_null());
                aside_compressor_free(compressor);
            }
            if self.mischief & 8 != 0 {
                world.free_registry();
            }
        }
    }

    unsafe fn answer(&self, text: &[u8], reply: Handle) -> i32 {
        let write = |bytes: &[u8]| unsafe { assert_eq!(aside_reply_write(reply, bytes.as_ptr(), bytes.len()), OK) };
        match self.mischief % 8 {
            0 => unsafe { self.meddle() },
            1 => {
                write(&text[..text.len() / 3]);
                write(&text[text.len() / 2..]);
                return 1;
            }
            2 => {
                write(b"no\xFF");
                return -1;
            }
            3 => return i32::MIN,
            4 => return 1,
            5 => {
                write(text);
                write(text);
                return 1;
            }
            6 => unsafe {
                assert_eq!(aside_reply_write(reply, ptr::null(), 1), NULL);
                assert_eq!(aside_reply_write(reply, b"x".as_ptr(), usize::MAX), LENGTH);
                assert_eq!(aside_reply_write(ptr::null_mut(), b"x".as_ptr(), 1), NULL);
            },
            _ => return 7,
        }
        0
    }

    /// Checks the argument of a callback, all of whose bytes must be readable.
    unsafe fn check(&self, invocation: *const Invocation) {
        let Invocation { size, tool_id, input, now } = unsafe { invocation.read() };
        let world = unsafe { &*self.world };
        let (_, told) = *world.running.borrow().last().expect("a callback outside of any call");
        assert_eq!((size, now), (size_of::<Invocation>(), told.now));
        assert_eq!(unsafe { (tool_id.get(), input.get()) }, (told.tool_id, told.json));
    }
}

unsafe extern "C" fn matches(user: *mut c_void, invocation: *const Invocation, _: Handle) -> i32 {
    let host = unsafe { &*user.cast::<Host>() };
    unsafe { host.check(invocation) };
    if host.mischief & 16 != 0 {
        unsafe { host.meddle() };
    }
    i32::from(host.mischief & 32 == 0)
}

unsafe extern "C" fn apply(
    user: *mut c_void,
    invocation: *const Invocation,
    text: *const u8,
    len: usize,
    reply: Handle,
) -> i32 {
    let host = unsafe { &*user.cast::<Host>() };
    unsafe {
        host.check(invocation);
        host.answer(std::slice::from_raw_parts(text, len), reply)
    }
}

unsafe extern "C" fn observe(user: *mut c_void, invocation: *const Invocation, reply: Handle) -> i32 {
    let host = unsafe { &*user.cast::<Host>() };
    unsafe {
        host.check(invocation);
        host.meddle();
    }
    if host.mischief & 64 == 0 {
        return 0;
    }
    unsafe { assert_eq!(aside_reply_write(reply, b"no".as_ptr(), 2), OK) };
    -1
}

unsafe extern "C" fn lookup(user: *mut c_void, invocation: *const Invocation, reply: Handle, time: *mut u64) -> i32 {
    let host = unsafe { &*user.cast::<Host>() };
    unsafe {
        host.check(invocation);
        time.write(u64::MAX);
        host.answer(&LOG.repeat(20), reply)
    }
}

unsafe extern "C" fn record(
    user: *mut c_void,
    invocation: *const Invocation,
    text: *const u8,
    len: usize,
    _: Handle,
) -> i32 {
    let host = unsafe { &*user.cast::<Host>() };
    unsafe { host.check(invocation) };
    read(Bytes { at: text, len });
    i32::from(host.mischief) - 40
}

/// Reads all borrowed memory, which must be valid.
fn read(text: Bytes) {
    std::hint::black_box(unsafe { text.get() }.iter().fold(0u8, |sum, byte| sum ^ byte));
}

/// Returns how often a text is repeated. In Miri, it is not repeated, because texts that are long enough for filters take too long.
fn often(most: usize) -> usize {
    if cfg!(miri) { most.min(2) } else { most }
}

fn invocation(tool_id: &[u8], input: &[u8], now: u64) -> Invocation {
    Invocation { size: size_of::<Invocation>(), tool_id: Bytes::of(tool_id), input: Bytes::of(input), now }
}

/// Inputs of tools, as callbacks are given them; the last two are refused.
const INPUTS: [(&[u8], Option<&[u8]>); 8] = [
    (b"", Some(b"null")),
    (b"{\"command\":\"make\"}", Some(b"{\"command\":\"make\"}")),
    (b" {\"exit_code\": 2,\n\"command\": \"make\"}", Some(b"{\"command\":\"make\",\"exit_code\":2}")),
    (b"{\"cwd\":\"/\",\"command\":\"ls\"}", Some(b"{\"command\":\"ls\",\"cwd\":\"/\"}")),
    (b"[1, \"a\"]", Some(b"[1,\"a\"]")),
    (b"0", Some(b"0")),
    (b"{", None),
    (b"\xFF", None),
];

/// Makes an invocation. Returns also the expected argument of callbacks, or an error if the invocation is refused.
fn invoked(input: &mut Input<'_>) -> (Version<Invocation>, Result<Invoked, i32>) {
    let (way, at) = (input.byte(), input.byte());
    let (given, json) = INPUTS[usize::from(if at < 200 { at % 6 } else { at % 8 })];
    let tool_id = [&b"bash"[..], b"read", b"\xFF"][usize::from(way & 31).saturating_sub(29)];
    let invocation = Invocation {
        size: size::<Invocation>(input),
        tool_id: Bytes::of(tool_id),
        input: Bytes::of(given),
        now: u64::from(way >> 5),
    };
    let mut version = Version::given(input, invocation);
    let told = match json {
        _ if !is_version(invocation.size, size_of::<Invocation>()) => Err(SIZE),
        Some(json) if tool_id != b"\xFF" && !version.has_more() => Ok(Invoked { tool_id, json, now: invocation.now }),
        _ => Err(OPTION),
    };
    (version, told)
}

/// The tool ids of a host's filter: those of other calls, and those of the calls here.
struct ToolIds([Bytes; 2]);

// The pointers lead to data that never changes.
unsafe impl Sync for ToolIds {}

static TOOL_IDS: ToolIds = ToolIds([Bytes { at: b"read".as_ptr(), len: 4 }, Bytes { at: b"bash".as_ptr(), len: 4 }]);

pub fn run(input: &mut Input<'_>) {
    let way = input.byte();
    unsafe {
        // Reading all built-in filters takes too long.
        let registry = aside_registry_new(u32::from(way == 255 && !cfg!(miri)));
        assert!(!registry.is_null());
        assert!(aside_registry_new(2 + u32::from(way)).is_null() && aside_last_status() == OPTION);
        let world = World {
            registry: Cell::new(registry),
            compressors: RefCell::default(),
            twin: Cell::new(None),
            running: RefCell::default(),
            stream: Cell::new(None),
            in_stream: Cell::new(false),
            taken: Cell::new(0),
            released: Cell::new(0),
        };
        register(input, &world);
        if way >= 20 {
            use_all(input, &world);
        }
        world.free_registry();
        assert_eq!(world.released.get(), world.taken.get(), "released");
    }
}

/// Fills the registry.
unsafe fn register(input: &mut Input<'_>, world: &World) {
    let user = |mischief| {
        world.taken.set(world.taken.get() + 1);
        Box::into_raw(Box::new(Host { world, mischief })).cast::<c_void>()
    };
    let registry = world.registry.get();
    world.twin.set(None);
    unsafe {
        while let call @ 0..220 = input.byte() {
            // A filter replaces the registry's filter with the same id.
            let ids: [&[u8]; 8] = [b"a", b"b", b"c", b"", b"a\nb", b"\xFF", b"last-run", b"a"];
            let id = Bytes::of(ids[input.below(8)]);
            match call {
                _ if input.rest.is_empty() => break,
                0..80 => {
                    let filter = Filter {
                        size: size::<Filter>(input),
                        id,
                        tool_ids: TOOL_IDS.0.as_ptr(),
                        tool_id_count: usize::from(call >> 4 & 3) % 3,
                        matches: (call & 1 == 0).then_some(matches),
                        apply: (call % 8 > 0).then_some(apply),
                        release: Some(release),
                        user: user(input.byte()),
                    };
                    let mut given = Version::given(input, filter);
                    let status = aside_registry_add_filter(registry, given.at());
                    let is_good = is_version(filter.size, size_of::<Filter>());
                    assert!(if is_good { [OK, OPTION, NULL].contains(&status) } else { status == SIZE }, "{status}");
                    assert!(status != OK || filter.apply.is_some() && !given.has_more());
                    if status != OK {
                        release(filter.user);
                    }
                }
                80..140 => {
                    let cache = Cache {
                        size: size::<Cache>(input),
                        id,
                        tool_ids: &id,
                        tool_id_count: usize::from(call & 2 == 0),
                        observe: (call & 1 == 0).then_some(observe),
                        lookup: (call % 8 > 0).then_some(lookup),
                        record: (call % 8 < 7).then_some(record),
                        release: Some(release),
                        user: user(input.byte()),
                    };
                    let mut given = Version::given(input, cache);
                    let status = aside_registry_add_cache(registry, given.at());
                    let is_good = is_version(cache.size, size_of::<Cache>());
                    assert!(if is_good { [OK, OPTION, NULL].contains(&status) } else { status == SIZE }, "{status}");
                    let has_all = cache.lookup.is_some() && cache.record.is_some();
                    assert!(status != OK || has_all && !given.has_more());
                    if status != OK {
                        release(cache.user);
                    }
                }
                140..160 => {
                    let good = &b"id = \"a\"\n[[run]]\ncommand = [\"make\"]\n[[rule]]\ndrop = ['^one']\n"[..];
                    let toml = if call & 1 == 0 { good } else { input.until(0) };
                    let status = aside_registry_add_toml(registry, toml.as_ptr(), toml.len());
                    assert!(status == if toml == good { OK } else { status } && [OK, FILTER].contains(&status));
                }
                160..180 => assert_eq!(aside_registry_add_last_run(registry, usize::from(call) << 4), OK),
                180..200 => assert_eq!(aside_registry_minify_json(registry), OK),
                _ => {
                    let none = ptr::null_mut();
                    assert_eq!(aside_registry_add_filter(registry, ptr::null()), NULL);
                    let (filter, cache) =
                        (Filter { id, apply: Some(apply), ..Filter::default() }, Cache { id, ..Cache::default() });
                    assert!([NULL, OPTION].contains(&aside_registry_add_filter(none, &filter)));
                    let far = Filter { tool_ids: &id, tool_id_count: usize::MAX, ..filter };
                    assert_eq!(aside_registry_add_filter(registry, &far), LENGTH);
                    assert_eq!(aside_registry_add_cache(registry, &cache), NULL);
                    assert_eq!(aside_registry_add_cache(none, ptr::null()), NULL);
                    assert_eq!(aside_registry_add_toml(registry, ptr::null(), 3), NULL);
                    assert_eq!(aside_registry_add_last_run(none, 1), NULL);
                    assert_eq!(aside_registry_minify_json(none), NULL);
                    aside_registry_free(none);
                }
            }
        }
    }
}

/// Makes a compressor with the registry's current contents. The registry stays unchanged.
unsafe fn make(input: &mut Input<'_>, world: &World) {
    let sentences: [&[u8]; 4] = [b"off: ", b"", b"off:\r\n", b"off: \xFF"];
    let way = input.byte();
    // No budget, budgets that are too small, and valid ones.
    let budgets = [0, 1, MIN_BUDGET - 1, MIN_BUDGET, 3000, 1 << 14];
    let options = CompressorOptions {
        size: size::<CompressorOptions>(input),
        budget: budgets[usize::from(way >> 3) % budgets.len()] as u64,
        switch_off: Bytes::of(sentences[usize::from(way & 7).saturating_sub(4)]),
        // Longer texts are read window by window.
        memory: u64::from(input.byte()) * 64,
        budget_tokens: [0, 511, 512, 4000][usize::from(way >> 6)],
        count: if way & 32 == 0 { None } else { Some(count) },
        release: Some(release_count),
        user: ptr::from_ref(world).cast_mut().cast(),
    };
    let mut given = Version::given(input, options);
    let at = if way == 255 { ptr::null_mut() } else { given.at() };
    let read = if at.is_null() { CompressorOptions::default() } else { given.get() };
    let registry = world.registry.get();
    unsafe {
        let is_small = read.budget > 0 && read.budget < MIN_BUDGET as u64 || (1..512).contains(&read.budget_tokens);
        let is_utf8 = read.switch_off.len == 0 || std::str::from_utf8(read.switch_off.get()).is_ok();
        let wanted = match read.size {
            _ if registry.is_null() => NULL,
            size if !is_version(size, size_of::<usize>()) => SIZE,
            _ if is_small || !is_utf8 || !at.is_null() && given.has_more() => OPTION,
            _ => OK,
        };
        let released = world.released.get();
        let mut compressor = aside_compressor_new(registry, at);
        assert_eq!(if compressor.is_null() { aside_last_status() } else { OK }, wanted);
        // A shorter struct may not have the pointer, or not the function that releases it.
        let is_owned = read.count.is_some() && read.release.is_some() && !read.user.is_null();
        world.taken.set(world.taken.get() + usize::from(is_owned && !compressor.is_null()));
        if compressor.is_null() {
            compressor = aside_compressor_new(registry, ptr::null());
            assert_eq!(compressor.is_null(), registry.is_null());
        }
        if !compressor.is_null() {
            world.twin.set(Some(world.compressors.borrow().len()));
            world.compressors.borrow_mut().push(compressor);
        }
        assert_eq!(world.released.get(), released);
    }
}

/// Makes compressors of the registry, and uses them.
unsafe fn use_all(input: &mut Input<'_>, world: &World) {
    unsafe {
        make(input, world);
        // Objects that may outlive the compressors.
        let mut outcomes = Vec::new();
        while !input.rest.is_empty() {
            let call = input.byte();
            let count = world.compressors.borrow().len();
            let number = input.below(4) % count;
            let compressor = world.compressors.borrow()[number];
            match call {
                _ if outcomes.len() > 8 => break,
                0..90 if !compressor.is_null() => outcomes.extend(compress(input, world, number, compressor)),
                90..120 if world.stream.get().is_none() => begin(input, world, number, compressor),
                120..200 => {
                    if let Some(stream) = world.stream.get() {
                        outcomes.extend(go_on(input, world, stream, call));
                    }
                }
                200..206 => {
                    if let Some(stream) = world.stream.take() {
                        aside_tool_stream_free(stream.handle);
                    }
                }
                206..212 => {
                    world.compressors.borrow_mut()[number] = ptr::null_mut();
                    aside_compressor_free(compressor);
                }
                212..218 if count < 4 => make(input, world),
                218..222 if !world.registry.get().is_null() => register(input, world),
                222..226 => world.free_registry(),
                _ => misuse(compressor, world.stream.get().map_or(ptr::null_mut(), |stream| stream.handle)),
            }
        }
        // The outcomes outlive the objects that made them.
        for compressor in world.compressors.take() {
            aside_compressor_free(compressor);
        }
        if let Some(stream) = world.stream.take() {
            aside_tool_stream_free(stream.handle);
        }
        for (compressed, parts) in outcomes {
            look(compressed, parts.as_ref());
            aside_compressed_free(compressed);
        }
    }
}

/// Begins a stream, if the memory is enough for it.
unsafe fn begin(input: &mut Input<'_>, world: &World, number: usize, compressor: Handle) {
    let (mut invocation, told) = invoked(input);
    let memory = [4096, 16_384, 1 << 17, 0, usize::MAX][input.below(5)];
    unsafe {
        let handle = aside_tool_stream_new(compressor, invocation.at(), memory);
        match told {
            Ok(invoked) if !handle.is_null() => {
                assert!(memory > 0);
                let stream = Stream { handle, number, invoked, is_finished: false, is_reported: false };
                world.stream.set(Some(stream));
            }
            _ => {
                assert!(handle.is_null());
                let wanted = if compressor.is_null() { NULL } else { told.map_or_else(|status| status, |_| OPTION) };
                assert_eq!(aside_last_status(), wanted);
            }
        }
    }
}

/// Feeds a stream, ends it, or takes its report, in any order.
unsafe fn go_on(input: &mut Input<'_>, world: &World, stream: Stream, call: u8) -> Option<(Handle, Option<Parts>)> {
    let Stream { handle, is_finished, is_reported, .. } = stream;
    let wanted = if is_finished { ORDER } else { OK };
    let mut out = UNTOUCHED;
    unsafe {
        match call {
            120..160 => {
                let text = input.until(0).repeat(often(1 + 4 * input.below(64)));
                let feed = || aside_tool_stream_feed(handle, text.as_ptr(), text.len(), &mut out);
                assert_eq!(world.run_stream(stream, feed), wanted);
            }
            160..170 => assert_eq!(aside_tool_stream_set_exit_code(handle, i64::from(input.byte() % 3)), wanted),
            170..185 => {
                assert_eq!(world.run_stream(stream, || aside_tool_stream_finish(handle, &mut out)), wanted);
                world.stream.set(Some(Stream { is_finished: true, ..stream }));
            }
            _ => {
                let report = aside_tool_stream_report(handle);
                assert_eq!(report.is_null(), !is_finished || is_reported);
                if report.is_null() {
                    assert_eq!(aside_last_status(), ORDER);
                    return None;
                }
                world.stream.set(Some(Stream { is_reported: true, ..stream }));
                return Some((report, None));
            }
        }
    }
    match wanted {
        OK if !out.at.is_null() => read(out),
        _ => assert_eq!(out.len, 7, "written on a failure"),
    }
    None
}

type Parts = Vec<Option<Vec<u8>>>;

/// Makes a call with up to three parts, one of which may be something other than text.
unsafe fn compress(
    input: &mut Input<'_>,
    world: &World,
    number: usize,
    compressor: Handle,
) -> Option<(Handle, Option<Parts>)> {
    let way = input.byte();
    let part = |input: &mut Input<'_>| match input.byte() {
        0..20 => None,
        20..80 => Some(input.until(0).to_vec()),
        80..140 => Some(input.until(0).repeat(often(60))),
        call => Some(LOG.repeat(often(usize::from(call & 31)))),
    };
    let parts: Parts = (0..way & 3).map(|_| part(input)).collect();
    let none = Bytes { at: ptr::null(), len: usize::from(way == 255) };
    let given: Vec<Bytes> = parts.iter().map(|part| part.as_ref().map_or(none, |part| Bytes::of(part))).collect();
    let (mut invocation, told) = invoked(input);
    let at = invocation.at();
    let make = || unsafe { aside_compress(compressor, at, given.as_ptr(), given.len()) };
    let is_missing = given.iter().any(|part| part.at.is_null() && part.len > 0);
    let wanted = match told {
        Ok(_) if is_missing => NULL,
        Ok(_) => OK,
        Err(status) => status,
    };
    let compressed = match told {
        Ok(invoked) => world.run(number, invoked, make),
        Err(_) => make(),
    };
    assert_eq!(if compressed.is_null() { unsafe { aside_last_status() } } else { OK }, wanted);
    (wanted == OK).then_some((compressed, Some(parts)))
}

/// Reads all memory that can be borrowed from an outcome. The outcome of a stream has no parts.
unsafe fn look(compressed: Handle, parts: Option<&Parts>) {
    let mut text = UNTOUCHED;
    let originals = parts.map_or(&[][..], |parts| parts);
    unsafe {
        let report: Report = filled(|at| aside_compressed_report(compressed, at)).unwrap();
        assert!(report.after <= report.before && report.after_units <= report.before_units);
        assert!(report.before_units <= report.before && report.after_units <= report.after);
        assert!(report.cut_protected < 2 && report.unexplained < 2);
        read(report.hit);
        let filters = std::slice::from_raw_parts(report.filters, report.filter_count);
        assert!(filters.iter().all(|id| std::str::from_utf8(id.get()).is_ok_and(|id| !id.is_empty())));
        let (mut before, mut after, mut units_before, mut units_after) = (0, 0, 0, 0);
        for (index, part) in originals.iter().enumerate() {
            let status = aside_compressed_part(compressed, index, &mut text);
            assert!(status == NONE || status == OK && part.is_some());
            let Some(original) = part else { continue };
            let result = if status == OK { text.get() } else { original };
            // A hit in a cache replaces all parts together, so the first part may be longer then.
            if status == OK && report.hit.len == 0 {
                assert!(original.len() >= MIN_COMPRESSIBLE_LENGTH, "{} bytes are few", original.len());
                assert!(text.len < original.len(), "{} bytes became {}", original.len(), text.len);
            }
            (before, after) = (before + original.len(), after + result.len());
            (units_before, units_after) = (units_before + units(original), units_after + units(result));
        }
        let counted = [report.before, report.before_units, report.after, report.after_units];
        assert!(parts.is_none() || counted == [before, units_before, after, units_after].map(|count| count as u64));
        for index in [originals.len(), originals.len() + 1, usize::MAX] {
            assert_eq!(aside_compressed_part(compressed, index, &mut text), RANGE);
        }
        let failed = |index| filled::<Failed>(|at| aside_compressed_failed(compressed, index, at));
        for index in 0..report.failed_count {
            let Failed { id, reason, .. } = failed(index).ok().unwrap();
            assert!([id, reason].iter().all(|text| std::str::from_utf8(text.get()).is_ok_and(|text| !text.is_empty())));
        }
        assert_eq!(failed(report.failed_count).err(), Some(RANGE));
        assert_eq!(failed(usize::MAX).err(), Some(RANGE));
        for index in 0..report.part_count {
            look_at_part(compressed, index, &report, originals);
        }
        let part = |index| filled::<PartReport>(|at| aside_compressed_part_report(compressed, index, at));
        for index in [report.part_count, usize::MAX] {
            assert_eq!(part(index).err(), Some(RANGE));
            let stretch = filled::<Stretch>(|at| aside_compressed_stretch(compressed, index, 0, at));
            assert_eq!(stretch.err(), Some(RANGE));
        }
    }
}

/// Checks that a part's stretches cover the original in order.
unsafe fn look_at_part(compressed: Handle, index: usize, report: &Report, originals: &[Option<Vec<u8>>]) {
    unsafe {
        let part: PartReport = filled(|at| aside_compressed_part_report(compressed, index, at)).unwrap();
        let stretch = |number| filled::<Stretch>(|at| aside_compressed_stretch(compressed, index, number, at));
        // A stream's original is not kept here.
        let original = originals.get(part.part).and_then(Option::as_ref);
        let mut at = 0;
        for number in 0..part.stretch_count {
            let stretch = stretch(number).ok().unwrap();
            assert_eq!(stretch.start, at);
            assert!(stretch.change <= CHANGE_LEFT_OUT);
            assert_eq!(stretch.filter == NO_FILTER, stretch.change == CHANGE_KEPT);
            assert!(stretch.filter < report.filter_count as i32);
            if let Some(original) = original {
                let mut text = UNTOUCHED;
                let slice = |original: &[u8], len, text: &mut Bytes| {
                    let (start, at) = (stretch.start, original.as_ptr());
                    aside_compressed_slice(compressed, part.part, at, original.len(), start, len, text)
                };
                assert_eq!(slice(original, u64::MAX, &mut text), RANGE);
                assert_eq!(slice(&original[1..], 0, &mut text), ORIGINAL);
                assert!(text.at.is_null() && text.len == 7, "written on a failure");
                assert_eq!(slice(original, stretch.len, &mut text), OK);
                assert_eq!((text.at, text.len as u64), (original.as_ptr().add(at as usize), stretch.len));
            }
            at += stretch.len;
        }
        assert_eq!(at, part.len);
        assert!(original.is_none_or(|original| original.len() as u64 == at));
        for number in [part.stretch_count, usize::MAX] {
            assert_eq!(stretch(number).err(), Some(RANGE));
        }
    }
}

/// Makes wrong calls, which must fail.
unsafe fn misuse(compressor: Handle, stream: Handle) {
    let none = ptr::null_mut();
    let mut out = UNTOUCHED;
    let call = invocation(b"bash", b"", 0);
    unsafe {
        let refused = |handle: Handle, status| {
            assert!(handle.is_null());
            assert_eq!(aside_last_status(), status);
        };
        refused(aside_compressor_new(none, ptr::null()), NULL);
        refused(aside_compress(none, &call, ptr::null(), 0), NULL);
        refused(aside_tool_stream_new(none, &call, 9999), NULL);
        assert_eq!(aside_tool_stream_feed(none, ptr::null(), 0, &mut out), NULL);
        assert_eq!(aside_tool_stream_set_exit_code(none, 0), NULL);
        assert_eq!(aside_tool_stream_finish(none, &mut out), NULL);
        refused(aside_tool_stream_report(none), NULL);
        assert_eq!(aside_tool_stream_finish(stream, ptr::null_mut()), NULL);
        assert_eq!(aside_tool_stream_feed(stream, b"x".as_ptr(), 1, ptr::null_mut()), NULL);
        assert_eq!(aside_tool_stream_feed(stream, ptr::null(), 1, &mut out), NULL);
        assert_eq!(aside_tool_stream_feed(stream, b"x".as_ptr(), usize::MAX, &mut out), LENGTH);
        if !compressor.is_null() {
            refused(aside_compress(compressor, ptr::null(), ptr::null(), 0), NULL);
            refused(aside_compress(compressor, &call, ptr::null(), 1), NULL);
            refused(aside_compress(compressor, &call, &out, usize::MAX), LENGTH);
            refused(aside_tool_stream_new(compressor, ptr::null(), 9999), NULL);
        }
        assert_eq!(aside_compressed_part(none, 0, &mut out), NULL);
        assert_eq!(aside_compressed_report(none, &mut Report::default()), NULL);
        assert_eq!(aside_compressed_failed(none, 0, &mut Failed::default()), NULL);
        assert_eq!(aside_compressed_part_report(none, 0, &mut PartReport::default()), NULL);
        assert_eq!(aside_compressed_stretch(none, 0, 0, &mut Stretch::default()), NULL);
        assert_eq!(aside_compressed_slice(none, 0, b"x".as_ptr(), 1, 0, 1, &mut out), NULL);
        assert!(out.at.is_null() && out.len == 7, "written on a failure");
        aside_compressed_free(none);
        aside_compressor_free(none);
        aside_tool_stream_free(none);
        aside_free(none);
    }
}
