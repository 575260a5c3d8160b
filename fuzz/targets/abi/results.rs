//! Compresses tool results through the C functions: a registry, its compressor, calls and streams, with filters and caches
//! of a host that fail, lie, and call back. Each handle that was taken must be released once.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use super::super::Input;
use super::{BUSY, Handle, LENGTH, NONE, NULL, OK, OPTION, ORDER, SIZE, aside_last_status};

#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    at: *const u8,
    len: usize,
}

impl Bytes {
    /// What no call has written to.
    const UNTOUCHED: Bytes = Bytes { at: ptr::null(), len: 7 };

    fn new(bytes: &[u8]) -> Bytes {
        Bytes { at: bytes.as_ptr(), len: bytes.len() }
    }

    /// What the library has lent.
    unsafe fn lent<'a>(self) -> &'a [u8] {
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

#[repr(C)]
struct Reply {
    _opaque: [u8; 0],
}

type Release = unsafe extern "C" fn(*mut c_void);

#[repr(C)]
struct Filter {
    size: usize,
    id: Bytes,
    tool_ids: *const Bytes,
    tool_id_count: usize,
    matches: Option<unsafe extern "C" fn(*mut c_void, *const Invocation, *mut Reply) -> i32>,
    apply: Option<unsafe extern "C" fn(*mut c_void, *const Invocation, *const u8, usize, *mut Reply) -> i32>,
    release: Option<Release>,
    user: *mut c_void,
}

#[repr(C)]
struct Cache {
    size: usize,
    id: Bytes,
    tool_ids: *const Bytes,
    tool_id_count: usize,
    observe: Option<unsafe extern "C" fn(*mut c_void, *const Invocation, *mut Reply) -> i32>,
    lookup: Option<unsafe extern "C" fn(*mut c_void, *const Invocation, *mut Reply, *mut u64) -> i32>,
    record: Option<unsafe extern "C" fn(*mut c_void, *const Invocation, *const u8, usize, *mut Reply) -> i32>,
    release: Option<Release>,
    user: *mut c_void,
}

#[repr(C)]
struct CompressorOptions {
    size: usize,
    budget: u64,
    switch_off: Bytes,
    memory: u64,
}

#[repr(C)]
struct Invocation {
    size: usize,
    tool_id: Bytes,
    input: Bytes,
    now: u64,
}

#[repr(C)]
#[derive(Default)]
struct Stretch {
    size: usize,
    start: u64,
    len: u64,
    hash: u64,
    change: u32,
    filter: u32,
}

#[repr(C)]
#[derive(Default)]
struct PartReport {
    size: usize,
    part: usize,
    len: u64,
    hash: u64,
    stretch_count: usize,
}

#[repr(C)]
struct Failed {
    size: usize,
    texts: [Bytes; 2],
}

#[repr(C)]
struct Report {
    size: usize,
    before: u64,
    after: u64,
    before_units: u64,
    after_units: u64,
    filters: *const Bytes,
    filter_count: usize,
    failed_count: usize,
    part_count: usize,
    hit: Bytes,
    cut_protected: u32,
    unexplained: u32,
}

unsafe extern "C" {
    fn aside_free(memory: *mut c_void);
    fn aside_registry_new(built_in: u32) -> Handle;
    fn aside_registry_free(registry: Handle);
    fn aside_registry_add_toml(registry: Handle, toml: *const u8, len: usize) -> i32;
    fn aside_registry_add_filter(registry: Handle, filter: *const Filter) -> i32;
    fn aside_registry_add_cache(registry: Handle, cache: *const Cache) -> i32;
    fn aside_registry_add_last_run(registry: Handle, size: usize) -> i32;
    fn aside_registry_minify_json(registry: Handle) -> i32;
    fn aside_registry_remove(registry: Handle, id: *const u8, len: usize) -> i32;
    fn aside_filter_check(toml: *const u8, len: usize) -> i32;
    fn aside_reply_write(reply: *mut Reply, buf: *const u8, len: usize) -> i32;
    fn aside_compressor_new(registry: Handle, options: *const CompressorOptions) -> Handle;
    fn aside_compressor_free(compressor: Handle);
    fn aside_compress(c: Handle, invocation: *const Invocation, parts: *const Bytes, count: usize) -> Handle;
    fn aside_compressed_part(compressed: Handle, index: usize, text: *mut Bytes) -> i32;
    fn aside_compressed_failed(compressed: Handle, index: usize, failed: *mut Failed) -> i32;
    fn aside_compressed_part_report(compressed: Handle, index: usize, report: *mut PartReport) -> i32;
    fn aside_compressed_stretch(compressed: Handle, part: usize, index: usize, stretch: *mut Stretch) -> i32;
    fn aside_compressed_report(compressed: Handle, report: *mut Report) -> i32;
    fn aside_compressed_slice(
        compressed: Handle,
        part: usize,
        original: *const u8,
        original_len: usize,
        start: u64,
        len: u64,
        out: *mut Bytes,
    ) -> i32;
    fn aside_compressed_free(compressed: Handle);
    fn aside_is_protected(text: *const u8, len: usize) -> i32;
    fn aside_format_banner(
        ids: *const Bytes,
        count: usize,
        before: u64,
        after: u64,
        out_len: *mut usize,
    ) -> *mut c_void;
    fn aside_tool_stream_new(compressor: Handle, invocation: *const Invocation, memory: usize) -> Handle;
    fn aside_tool_stream_free(stream: Handle);
    fn aside_tool_stream_feed(stream: Handle, buf: *const u8, len: usize, out: *mut Bytes) -> i32;
    fn aside_tool_stream_set_exit_code(stream: Handle, code: i64) -> i32;
    fn aside_tool_stream_finish(stream: Handle, out: *mut Bytes) -> i32;
    fn aside_tool_stream_report(stream: Handle) -> Handle;
}

const RANGE: i32 = -1010;
const FILTER: i32 = -1013;
const ORIGINAL: i32 = -1014;

/// What the host's callbacks see of the sequence.
struct World {
    compressor: Cell<Handle>,
    stream: Cell<Handle>,
    released: Cell<usize>,
}

/// A filter or cache of the host.
struct Host {
    world: *const World,
    mischief: u8,
}

const LOG: &[u8] = b"one line and another\none line and another\nerror: it is broken\n  here\nall is well\n";

unsafe extern "C" fn release(user: *mut c_void) {
    let host = unsafe { Box::from_raw(user.cast::<Host>()) };
    let world = unsafe { &*host.world };
    world.released.set(world.released.get() + 1);
}

impl Host {
    /// What a callback does beside what it is for: the compressor that called it is busy, and so is the stream.
    unsafe fn meddle(&self) {
        let world = unsafe { &*self.world };
        let (compressor, stream) = (world.compressor.get(), world.stream.get());
        let mut out = Bytes::UNTOUCHED;
        if compressor.is_null() {
            return;
        }
        unsafe {
            let invocation = invocation(b"bash", b"");
            assert!(aside_compress(compressor, &invocation, ptr::null(), 0).is_null() && aside_last_status() == BUSY);
            aside_compressor_free(compressor);
            assert_eq!(aside_last_status(), BUSY);
            // It may be another call of the compressor's, that leaves the stream alone.
            let status = aside_tool_stream_feed(stream, ptr::null(), 0, &mut out);
            assert!([BUSY, NULL, ORDER].contains(&status), "{status}");
        }
    }

    unsafe fn answer(&self, text: &[u8], reply: *mut Reply) -> i32 {
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
}

/// What the callbacks are given, each byte of which must be there.
unsafe fn check(invocation: *const Invocation) {
    unsafe {
        let Invocation { size, tool_id, input, now } = invocation.read();
        assert_eq!((size, tool_id.lent(), now), (size_of::<Invocation>(), &b"bash"[..], NOW));
        assert!([&b"null"[..], b"{\"command\":\"make\"}"].contains(&input.lent()));
    }
}

unsafe extern "C" fn matches(user: *mut c_void, invocation: *const Invocation, _: *mut Reply) -> i32 {
    unsafe {
        check(invocation);
        let host = &*user.cast::<Host>();
        if host.mischief & 16 != 0 {
            host.meddle();
        }
        i32::from(host.mischief & 32 == 0)
    }
}

unsafe extern "C" fn apply(
    user: *mut c_void,
    invocation: *const Invocation,
    text: *const u8,
    len: usize,
    reply: *mut Reply,
) -> i32 {
    unsafe {
        check(invocation);
        (*user.cast::<Host>()).answer(std::slice::from_raw_parts(text, len), reply)
    }
}

unsafe extern "C" fn observe(user: *mut c_void, invocation: *const Invocation, _: *mut Reply) -> i32 {
    unsafe {
        check(invocation);
        (*user.cast::<Host>()).meddle();
    }
    0
}

unsafe extern "C" fn lookup(
    user: *mut c_void,
    invocation: *const Invocation,
    reply: *mut Reply,
    time: *mut u64,
) -> i32 {
    let text = LOG.repeat(20);
    unsafe {
        check(invocation);
        time.write(u64::MAX);
        (*user.cast::<Host>()).answer(&text, reply)
    }
}

unsafe extern "C" fn record(
    user: *mut c_void,
    invocation: *const Invocation,
    text: *const u8,
    len: usize,
    _: *mut Reply,
) -> i32 {
    let text = unsafe {
        check(invocation);
        std::slice::from_raw_parts(text, len)
    };
    std::hint::black_box(text.iter().fold(0u8, |sum, byte| sum ^ byte));
    let mischief = unsafe { (*user.cast::<Host>()).mischief };
    i32::from(mischief) - 40
}

/// How often a text is repeated. Miri takes too long for those that filters look at.
fn often(most: usize) -> usize {
    if cfg!(miri) { most.min(2) } else { most }
}

/// The time of every invocation.
const NOW: u64 = 1000;

fn invocation(tool_id: &[u8], input: &[u8]) -> Invocation {
    let (tool_id, input) = (Bytes::new(tool_id), Bytes::new(input));
    Invocation { size: size_of::<Invocation>(), tool_id, input, now: NOW }
}

pub fn run(input: &mut Input<'_>) {
    let world =
        World { compressor: Cell::new(ptr::null_mut()), stream: Cell::new(ptr::null_mut()), released: Cell::new(0) };
    unsafe {
        let way = input.byte();
        // To read all built-in filters takes long.
        let registry = aside_registry_new(u32::from(way == 255 && !cfg!(miri)));
        assert!(aside_registry_new(2 + u32::from(way)).is_null());
        let taken = register(input, registry, &world);
        if way < 20 {
            aside_registry_free(registry);
        } else {
            use_all(input, registry, &world);
        }
        assert_eq!(world.released.get(), taken, "released");
    }
}

/// Fills a registry. How many filters and caches of the host it has taken.
unsafe fn register(input: &mut Input<'_>, registry: Handle, world: &World) -> usize {
    let mut taken = 0;
    let user = |mischief| Box::into_raw(Box::new(Host { world, mischief })).cast::<c_void>();
    unsafe {
        while let call @ 0..220 = input.byte() {
            // A filter of a registry that has one of its id takes its place.
            let ids: [&[u8]; 8] = [b"a", b"b", b"c", b"", b"a\nb", b"\xFF", b"last-run", b"a"];
            let id = Bytes::new(ids[input.below(8)]);
            let size = [usize::MAX, 8, 0][input.below(32).min(2)];
            match call {
                _ if input.rest.is_empty() => break,
                0..80 => {
                    let user = user(input.byte());
                    let filter = Filter {
                        size: if size > 8 { size_of::<Filter>() } else { size },
                        id,
                        tool_ids: ptr::null(),
                        tool_id_count: 0,
                        matches: (call & 1 == 0).then_some(matches),
                        apply: (call % 8 > 0).then_some(apply),
                        release: Some(release),
                        user,
                    };
                    let status = aside_registry_add_filter(registry, &filter);
                    assert!([OK, OPTION, NULL, SIZE].contains(&status), "{status}");
                    taken += 1;
                    if status != OK {
                        release(user);
                    }
                }
                80..140 => {
                    let user = user(input.byte());
                    let cache = Cache {
                        size: if size > 8 { size_of::<Cache>() } else { size },
                        id,
                        tool_ids: &id,
                        tool_id_count: usize::from(call & 2 == 0),
                        observe: (call & 1 == 0).then_some(observe),
                        lookup: (call % 8 > 0).then_some(lookup),
                        record: Some(record),
                        release: Some(release),
                        user,
                    };
                    let status = aside_registry_add_cache(registry, &cache);
                    assert!([OK, OPTION, NULL, SIZE].contains(&status), "{status}");
                    taken += 1;
                    if status != OK {
                        release(user);
                    }
                }
                140..160 => {
                    let good = &b"id = \"a\"\n[[run]]\ncommand = [\"make\"]\n[[rule]]\ndrop = ['^one']\n"[..];
                    let toml = if call & 1 == 0 { good } else { input.until(0) };
                    let status = aside_registry_add_toml(registry, toml.as_ptr(), toml.len());
                    assert!(status == if toml == good { OK } else { status } && [OK, FILTER].contains(&status));
                    assert_eq!(aside_filter_check(toml.as_ptr(), toml.len()), FILTER);
                }
                160..180 => assert_eq!(aside_registry_add_last_run(registry, usize::from(call) << 4), OK),
                180..200 => assert_eq!(aside_registry_minify_json(registry), OK),
                200..210 => {
                    let status = aside_registry_remove(registry, id.at, id.len);
                    assert!([OK, NONE, OPTION].contains(&status), "{status}");
                }
                _ => {
                    let none = ptr::null_mut();
                    assert_eq!(aside_registry_add_filter(registry, ptr::null()), NULL);
                    assert_eq!(aside_registry_add_cache(none, ptr::null()), NULL);
                    assert_eq!(aside_registry_add_toml(registry, ptr::null(), 3), NULL);
                    assert_eq!(aside_registry_remove(registry, b"x".as_ptr(), usize::MAX), LENGTH);
                    assert_eq!(aside_registry_add_last_run(none, 1), NULL);
                    assert_eq!(aside_registry_minify_json(none), NULL);
                    assert_eq!(aside_filter_check(ptr::null(), 1), NULL);
                    aside_registry_free(none);
                }
            }
        }
    }
    taken
}

/// Makes a compressor of the registry, which is freed, and has it compress.
unsafe fn use_all(input: &mut Input<'_>, registry: Handle, world: &World) {
    unsafe {
        let way = input.byte();
        // Texts that are longer than the memory go window by window.
        let memory = u64::from(input.byte()) * 64;
        let budget = u64::from(way >> 1) * 32;
        let mut options = CompressorOptions { size: 7, budget, switch_off: Bytes::new(b"off: \xFF"), memory };
        assert!(aside_compressor_new(registry, &options).is_null() && aside_last_status() == SIZE);
        options.size = size_of::<CompressorOptions>();
        assert!(aside_compressor_new(registry, &options).is_null() && aside_last_status() == OPTION);
        options.switch_off.len = 3;
        let mut compressor = aside_compressor_new(registry, &options);
        if options.budget > 0 && options.budget < 1024 {
            assert!(compressor.is_null() && aside_last_status() == OPTION);
            compressor = aside_compressor_new(registry, ptr::null());
        }
        assert!(!compressor.is_null());
        world.compressor.set(compressor);
        // The registry may go at once, or last.
        let (first, last) = if way & 1 == 0 { (registry, ptr::null_mut()) } else { (ptr::null_mut(), registry) };
        aside_registry_free(first);
        // What may stand behind the compressor's end.
        let mut outcomes = Vec::new();
        let mut finished = false;
        while !input.rest.is_empty() {
            match input.byte() {
                _ if outcomes.len() > 8 => break,
                0..90 if !world.compressor.get().is_null() => outcomes.extend(compress(input, world.compressor.get())),
                90..130 if world.stream.get().is_null() => {
                    let invocation = invocation(b"bash", b"{\"command\":\"make\"}");
                    let memory = [4096, 16_384, 0, usize::MAX][input.below(4)];
                    let stream = aside_tool_stream_new(world.compressor.get(), &invocation, memory);
                    assert!(!stream.is_null() || [OPTION, NULL].contains(&aside_last_status()));
                    world.stream.set(stream);
                    finished = false;
                }
                130..180 if !world.stream.get().is_null() => {
                    let mut out = Bytes::UNTOUCHED;
                    let text = input.until(0).repeat(often(1 + 4 * input.below(64)));
                    let status = aside_tool_stream_feed(world.stream.get(), text.as_ptr(), text.len(), &mut out);
                    assert_eq!(status, if finished { ORDER } else { OK });
                    if status == OK {
                        std::hint::black_box(out.lent().iter().fold(0u8, |sum, byte| sum ^ byte));
                    }
                }
                180..210 if !world.stream.get().is_null() => {
                    let mut out = Bytes::UNTOUCHED;
                    if input.byte().is_multiple_of(2) {
                        let status = aside_tool_stream_set_exit_code(world.stream.get(), i64::from(input.byte() % 3));
                        assert!([OK, NULL, ORDER].contains(&status), "{status}");
                    }
                    if !finished {
                        assert!(aside_tool_stream_report(world.stream.get()).is_null() && aside_last_status() == ORDER);
                    }
                    let status = aside_tool_stream_finish(world.stream.get(), &mut out);
                    assert_eq!(status, if finished { ORDER } else { OK });
                    let report = aside_tool_stream_report(world.stream.get());
                    // It is taken once.
                    assert_eq!(report.is_null(), finished);
                    if !finished {
                        outcomes.push((report, Vec::new()));
                    }
                    finished = true;
                }
                210..220 => {
                    aside_tool_stream_free(world.stream.get());
                    world.stream.set(ptr::null_mut());
                }
                220..226 => {
                    aside_compressor_free(world.compressor.get());
                    world.compressor.set(ptr::null_mut());
                }
                226..236 => {
                    let text = input.until(0);
                    assert!((0..2).contains(&aside_is_protected(text.as_ptr(), text.len())));
                    let mut len = 0;
                    let ids = [Bytes::new(b"a"), Bytes::new(text)];
                    let out = aside_format_banner(ids.as_ptr(), 2, u64::MAX, 0, &mut len);
                    assert!(!out.is_null() || aside_last_status() == OPTION);
                    if !out.is_null() {
                        assert_eq!(out.cast::<u8>().add(len).read(), 0);
                        aside_free(out);
                    }
                }
                _ => misuse(world.compressor.get(), world.stream.get()),
            }
        }
        for (compressed, parts) in outcomes {
            look(compressed, &parts);
            aside_compressed_free(compressed);
        }
        aside_compressor_free(world.compressor.replace(ptr::null_mut()));
        aside_tool_stream_free(world.stream.replace(ptr::null_mut()));
        aside_registry_free(last);
    }
}

type Parts = Vec<Option<Vec<u8>>>;

/// One call with up to three parts, of which one may be no text.
unsafe fn compress(input: &mut Input<'_>, compressor: Handle) -> Option<(Handle, Parts)> {
    let way = input.byte();
    let part = |input: &mut Input<'_>| match input.byte() {
        0..20 => None,
        20..80 => Some(input.until(0).to_vec()),
        80..140 => Some(input.until(0).repeat(often(60))),
        call => Some(LOG.repeat(often(usize::from(call & 31)))),
    };
    let parts: Parts = (0..way & 3).map(|_| part(input)).collect();
    let none = Bytes { at: ptr::null(), len: usize::from(way == 255) };
    let given: Vec<Bytes> = parts.iter().map(|part| part.as_ref().map_or(none, |part| Bytes::new(part))).collect();
    let inputs: [&[u8]; 4] = [b"", b"{\"command\":\"make\"}", b"{", b"\xFF"];
    let json = inputs[usize::from(way >> 2 & 7).saturating_sub(4)];
    let invocation = invocation(b"bash", json);
    unsafe {
        let compressed = aside_compress(compressor, &invocation, given.as_ptr(), given.len());
        if json == b"{" || json == b"\xFF" {
            assert_eq!((aside_last_status(), compressed.is_null()), (OPTION, true));
        } else if given.iter().any(|part| part.at.is_null() && part.len > 0) {
            assert_eq!((aside_last_status(), compressed.is_null()), (NULL, true));
        } else {
            assert!(!compressed.is_null());
        }
        (!compressed.is_null()).then_some((compressed, parts))
    }
}

/// Reads all that an outcome has to borrow.
unsafe fn look(compressed: Handle, parts: &Parts) {
    let mut text = Bytes::UNTOUCHED;
    unsafe {
        let mut report: Report = std::mem::zeroed();
        assert_eq!(aside_compressed_report(compressed, &mut report), SIZE);
        report.size = size_of::<Report>();
        assert_eq!(aside_compressed_report(compressed, &mut report), OK);
        assert!(report.after <= report.before && report.after_units <= report.before_units);
        assert!(report.before_units <= report.before && report.after_units <= report.after);
        for id in std::slice::from_raw_parts(report.filters, report.filter_count) {
            assert!(str::from_utf8(id.lent()).is_ok());
        }
        // A cache's hit stands for all parts together, so the first may be longer.
        let is_hit = report.hit.len > 0;
        let (mut before, mut after) = (0, 0);
        for (index, part) in parts.iter().enumerate() {
            let status = aside_compressed_part(compressed, index, &mut text);
            assert!(status == NONE || status == OK && part.is_some());
            if status == OK {
                let original = part.as_ref().unwrap().len();
                assert!(is_hit || text.len < original, "{original} bytes became {}", text.len);
                before += original;
                after += text.len;
                std::hint::black_box(text.lent().iter().fold(0u8, |sum, byte| sum ^ byte));
            }
        }
        assert!(!is_hit || after < before, "{before} bytes became {after}");
        assert_eq!(aside_compressed_part(compressed, parts.len(), &mut text), RANGE);
        let mut failed = Failed { size: size_of::<Failed>(), texts: [Bytes::UNTOUCHED; 2] };
        for index in 0..report.failed_count {
            assert_eq!(aside_compressed_failed(compressed, index, &mut failed), OK);
            assert!(failed.texts.iter().all(|text| str::from_utf8(text.lent()).is_ok()));
        }
        assert_eq!(aside_compressed_failed(compressed, report.failed_count, &mut failed), RANGE);
        let mut part = PartReport { size: size_of::<PartReport>(), ..PartReport::default() };
        let mut stretch = Stretch { size: size_of::<Stretch>(), ..Stretch::default() };
        for index in 0..report.part_count {
            assert_eq!(aside_compressed_part_report(compressed, index, &mut part), OK);
            assert_eq!(aside_compressed_stretch(compressed, index, part.stretch_count, &mut stretch), RANGE);
            // A stream's original is not kept here.
            let Some(original) = parts.get(part.part).and_then(Option::as_ref) else { continue };
            let mut at = 0;
            for number in 0..part.stretch_count {
                assert_eq!(aside_compressed_stretch(compressed, index, number, &mut stretch), OK);
                assert_eq!(stretch.start, at);
                let slice = |original: &[u8], len, out: &mut Bytes| {
                    let (start, text) = (stretch.start, original.as_ptr());
                    aside_compressed_slice(compressed, part.part, text, original.len(), start, len, out)
                };
                assert_eq!(slice(original, stretch.len, &mut text), OK);
                assert_eq!((text.at, text.len as u64), (original.as_ptr().add(at as usize), stretch.len));
                assert_eq!(slice(original, u64::MAX, &mut text), RANGE);
                assert_eq!(slice(&original[1..], 0, &mut text), ORIGINAL);
                assert!(stretch.change < 3 && (stretch.filter == u32::MAX) == (stretch.change == 0));
                at += stretch.len;
            }
            assert_eq!(at, part.len);
        }
        assert_eq!(aside_compressed_part_report(compressed, report.part_count, &mut part), RANGE);
        assert_eq!(aside_compressed_stretch(compressed, report.part_count, 0, &mut stretch), RANGE);
    }
}

/// Calls that are wrong and must say so.
unsafe fn misuse(compressor: Handle, stream: Handle) {
    let none = ptr::null_mut();
    let (mut out, mut len) = (Bytes::UNTOUCHED, 7);
    let mut invocation = invocation(b"bash", b"");
    unsafe {
        let refused = |compressed: Handle, status| {
            assert!(compressed.is_null());
            assert_eq!(aside_last_status(), status);
        };
        refused(aside_compressor_new(none, ptr::null()), NULL);
        refused(aside_compress(none, &invocation, ptr::null(), 0), NULL);
        assert_eq!(aside_tool_stream_feed(none, ptr::null(), 0, &mut out), NULL);
        assert_eq!(aside_tool_stream_set_exit_code(none, 0), NULL);
        assert_eq!(aside_tool_stream_finish(none, &mut out), NULL);
        refused(aside_tool_stream_report(none), NULL);
        assert_eq!(aside_tool_stream_finish(stream, ptr::null_mut()), NULL);
        assert_eq!(aside_tool_stream_feed(stream, ptr::null(), 1, &mut out), NULL);
        assert_eq!(aside_tool_stream_feed(stream, b"x".as_ptr(), usize::MAX, &mut out), LENGTH);
        if !compressor.is_null() {
            refused(aside_compress(compressor, ptr::null(), ptr::null(), 0), NULL);
            refused(aside_compress(compressor, &invocation, ptr::null(), 1), NULL);
            refused(aside_tool_stream_new(compressor, ptr::null(), 9999), NULL);
            invocation.size = 8;
            refused(aside_compress(compressor, &invocation, ptr::null(), 0), SIZE);
        }
        assert_eq!(aside_compressed_part(none, 0, &mut out), NULL);
        assert_eq!(aside_compressed_report(none, ptr::null_mut()), NULL);
        assert_eq!(aside_compressed_failed(none, 0, ptr::null_mut()), NULL);
        assert_eq!(aside_compressed_part_report(none, 0, ptr::null_mut()), NULL);
        assert_eq!(aside_compressed_stretch(none, 0, 0, ptr::null_mut()), NULL);
        assert_eq!(aside_compressed_slice(none, 0, b"x".as_ptr(), 1, 0, 1, &mut out), NULL);
        assert_eq!(aside_is_protected(ptr::null(), 1), NULL);
        refused(aside_format_banner(ptr::null(), 1, 0, 0, &mut len), NULL);
        assert!(out.at.is_null() && out.len == 7 && len == 7, "written on a failure");
        aside_compressed_free(none);
        aside_compressor_free(none);
        aside_tool_stream_free(none);
    }
}
