//! Compresses tool results through the C functions: a registry, its compressor, calls and streams, with filters and caches
//! of a host that fail, lie, and call back. Each handle that was taken must be released once.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::LazyLock;

use support::c::{compress::*, *};

use super::super::Input;

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
        let (mut out, mut len, mut compressed) = (ptr::null(), 0, ptr::null_mut());
        if compressor.is_null() {
            return;
        }
        unsafe {
            let call = call(b"bash", b"", 0);
            assert_eq!(aside_compress(compressor, &call, ptr::null(), 0, &mut compressed), BUSY);
            aside_compressor_free(compressor);
            assert_eq!(aside_last_status(), BUSY);
            // It may be another call of the compressor's, that leaves the stream alone.
            let status = aside_tool_stream_feed(stream, ptr::null(), 0, &mut out, &mut len);
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

unsafe extern "C" fn matches(user: *mut c_void, _: *const u8, _: usize, _: *const u8, _: usize, _: *mut Reply) -> i32 {
    let host = unsafe { &*user.cast::<Host>() };
    if host.mischief & 16 != 0 {
        unsafe { host.meddle() };
    }
    i32::from(host.mischief & 32 == 0)
}

unsafe extern "C" fn apply(
    user: *mut c_void,
    text: *const u8,
    len: usize,
    _: *const u8,
    _: usize,
    reply: *mut Reply,
) -> i32 {
    unsafe { (*user.cast::<Host>()).answer(std::slice::from_raw_parts(text, len), reply) }
}

unsafe extern "C" fn observe(
    user: *mut c_void,
    _: *const u8,
    _: usize,
    _: *const u8,
    _: usize,
    reply: *mut Reply,
) -> i32 {
    let host = unsafe { &*user.cast::<Host>() };
    unsafe { host.meddle() };
    if host.mischief & 64 == 0 {
        return 0;
    }
    unsafe { assert_eq!(aside_reply_write(reply, b"no".as_ptr(), 2), OK) };
    -1
}

unsafe extern "C" fn lookup(
    user: *mut c_void,
    _: *const u8,
    _: usize,
    _: *const u8,
    _: usize,
    reply: *mut Reply,
    time: *mut u64,
) -> i32 {
    let text = LOG.repeat(20);
    unsafe {
        time.write(u64::MAX);
        (*user.cast::<Host>()).answer(&text, reply)
    }
}

unsafe extern "C" fn record(
    user: *mut c_void,
    _: *const u8,
    _: usize,
    _: *const u8,
    _: usize,
    text: *const u8,
    len: usize,
    _: u64,
    _: *mut Reply,
) -> i32 {
    let text = unsafe { std::slice::from_raw_parts(text, len) };
    std::hint::black_box(text.iter().fold(0u8, |sum, byte| sum ^ byte));
    let mischief = unsafe { (*user.cast::<Host>()).mischief };
    i32::from(mischief) - 40
}

/// How often a text is repeated. Miri takes too long for those that filters look at.
fn often(most: usize) -> usize {
    if cfg!(miri) { most.min(2) } else { most }
}

fn call(tool_id: &[u8], input: &[u8], now: u64) -> Invocation {
    Invocation { size: size_of::<Invocation>(), tool_id: Bytes::new(tool_id), input: Bytes::new(input), now }
}

/// Tools of a host's filter: the other calls' and theirs.
struct ToolIds([Bytes; 2]);

// They lead to what never changes.
unsafe impl Sync for ToolIds {}

static TOOL_IDS: ToolIds = ToolIds([Bytes { at: b"read".as_ptr(), len: 4 }, Bytes { at: b"bash".as_ptr(), len: 4 }]);

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
                        tool_ids: TOOL_IDS.0.as_ptr(),
                        tool_id_count: usize::from(call >> 4 & 3) % 3,
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

/// Makes a compressor of the registry, and has it compress.
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
        // What may stand behind the compressor's end.
        let mut outcomes = Vec::new();
        let mut finished = false;
        while !input.rest.is_empty() {
            match input.byte() {
                _ if outcomes.len() > 8 => break,
                0..90 if !world.compressor.get().is_null() => outcomes.extend(compress(input, world.compressor.get())),
                90..130 if world.stream.get().is_null() => {
                    let call = call(b"bash", b"{\"command\":\"make\"}", 0);
                    let memory = [4096, 16_384, 0, usize::MAX][input.below(4)];
                    let stream = aside_tool_stream_new(world.compressor.get(), &call, memory);
                    assert!(!stream.is_null() || [OPTION, NULL].contains(&aside_last_status()));
                    world.stream.set(stream);
                    finished = false;
                }
                130..180 if !world.stream.get().is_null() => {
                    let (mut out, mut len) = (ptr::null(), 0);
                    let text = input.until(0).repeat(often(1 + 4 * input.below(64)));
                    let status =
                        aside_tool_stream_feed(world.stream.get(), text.as_ptr(), text.len(), &mut out, &mut len);
                    assert_eq!(status, if finished { ORDER } else { OK });
                    if status == OK {
                        let out = std::slice::from_raw_parts(out, len);
                        std::hint::black_box(out.iter().fold(0u8, |sum, byte| sum ^ byte));
                    }
                }
                180..210 if !world.stream.get().is_null() => {
                    let (mut out, mut len, mut report) = (ptr::null(), 0, ptr::null_mut());
                    if input.byte().is_multiple_of(2) {
                        let status = aside_tool_stream_set_exit_code(world.stream.get(), i64::from(input.byte() % 3));
                        assert!([OK, NULL, ORDER].contains(&status), "{status}");
                    }
                    let status = aside_tool_stream_finish(world.stream.get(), &mut out, &mut len, &mut report);
                    assert_eq!(status, if finished { ORDER } else { OK });
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
                226..232 => command_line(input),
                232..240 => {
                    let text = input.until(0);
                    assert!((0..2).contains(&aside_is_protected(text.as_ptr(), text.len())));
                    let (mut out, mut len) = (ptr::null_mut(), 0);
                    let ids = [Bytes::new(b"a"), Bytes::new(text)];
                    let status = aside_format_banner(ids.as_ptr(), 2, u64::MAX, 0, &mut out, &mut len);
                    assert!([OK, OPTION].contains(&status));
                    if status == OK {
                        assert_eq!(out.cast::<u8>().add(len).read(), 0);
                        free(out);
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
    }
}

/// Parses a command line, and reads all that it has to borrow.
unsafe fn command_line(input: &mut Input<'_>) {
    static PIECES: LazyLock<Vec<Vec<u8>>> =
        LazyLock::new(|| samples::SHELL_PIECES.iter().map(|piece| piece.as_bytes().to_vec()).collect());
    let (line, mut count, none) = (input.text(&PIECES), 77, ptr::null_mut());
    unsafe {
        assert!(aside_command_line_parse(ptr::null(), 1).is_null() && aside_last_status() == NULL);
        assert!(aside_command_line_commands(none, &mut count).is_null() && count == 77);
        aside_command_line_free(none);
        let parsed = aside_command_line_parse(line.as_ptr(), line.len());
        assert_eq!(parsed.is_null(), std::str::from_utf8(&line).is_err());
        if parsed.is_null() {
            return assert_eq!(aside_last_status(), OPTION);
        }
        assert!(aside_command_line_commands(parsed, ptr::null_mut()).is_null() && aside_last_status() == NULL);
        let commands = aside_command_line_commands(parsed, &mut count);
        for command in std::slice::from_raw_parts(commands, count) {
            let words = std::slice::from_raw_parts(command.words, command.word_count);
            for text in [command.name, command.subcommand].iter().chain(words) {
                assert!(std::str::from_utf8(std::slice::from_raw_parts(text.at, text.len)).is_ok());
            }
            assert!(command.prints < 2 && command.piped < 2);
        }
        aside_command_line_free(parsed);
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
    let call = call([&b"bash"[..], b"read", b"\xFF"][usize::from(way >> 5 & 3).saturating_sub(1)], json, way.into());
    let mut compressed = ptr::null_mut();
    unsafe {
        let status = aside_compress(compressor, &call, given.as_ptr(), given.len(), &mut compressed);
        if json == b"{" || json == b"\xFF" || way >> 5 & 3 == 3 {
            assert_eq!((status, compressed.is_null()), (OPTION, true));
        } else if given.iter().any(|part| part.at.is_null() && part.len > 0) {
            assert_eq!((status, compressed.is_null()), (NULL, true));
        } else {
            assert_eq!(status, OK);
        }
    }
    (!compressed.is_null()).then_some((compressed, parts))
}

/// Reads all that an outcome has to borrow.
unsafe fn look(compressed: Handle, parts: &Parts) {
    let (mut text, mut len) = (ptr::null(), 0);
    unsafe {
        let mut report: Report = std::mem::zeroed();
        assert_eq!(aside_compressed_report(compressed, &mut report), SIZE);
        report.size = size_of::<Report>();
        assert_eq!(aside_compressed_report(compressed, &mut report), OK);
        assert!(report.after <= report.before);
        // A cache's hit stands for all parts together, so the first may be longer.
        let is_hit = report.hit.len > 0;
        let (mut before, mut after) = (0, 0);
        for (index, part) in parts.iter().enumerate() {
            let status = aside_compressed_part(compressed, index, &mut text, &mut len);
            assert!(status == NONE || status == OK && part.is_some());
            if status == OK {
                let original = part.as_ref().unwrap().len();
                assert!(is_hit || len < original, "{original} bytes became {len}");
                before += original;
                after += len;
                std::hint::black_box(std::slice::from_raw_parts(text, len).iter().fold(0u8, |sum, byte| sum ^ byte));
            }
        }
        assert!(!is_hit || after < before, "{before} bytes became {after}");
        assert_eq!(aside_compressed_part(compressed, parts.len(), &mut text, &mut len), RANGE);
        for failed in std::slice::from_raw_parts(report.failed, report.failed_count) {
            assert!(
                failed.iter().all(|text| std::str::from_utf8(std::slice::from_raw_parts(text.at, text.len)).is_ok())
            );
        }
        for part in std::slice::from_raw_parts(report.parts, report.part_count) {
            // A stream's original is not kept here.
            let Some(original) = parts.get(part.part).and_then(Option::as_ref) else { continue };
            let mut at = 0;
            for stretch in std::slice::from_raw_parts(part.stretches, part.stretch_count) {
                assert_eq!(stretch.start, at);
                let slice = |original: &[u8], len, out: &mut *const u8| {
                    let (start, text) = (stretch.start, original.as_ptr());
                    aside_compressed_slice(compressed, part.part, text, original.len(), start, len, out)
                };
                assert_eq!(slice(original, stretch.len, &mut text), OK);
                assert_eq!(text, original.as_ptr().add(at as usize));
                assert_eq!(slice(original, u64::MAX, &mut text), RANGE);
                assert_eq!(slice(&original[1..], 0, &mut text), ORIGINAL);
                assert!(stretch.change < 3 && (stretch.filter == NO_FILTER) == (stretch.change == 0));
                at += stretch.len;
            }
            assert_eq!(at, part.len);
        }
    }
}

/// Calls that are wrong and must say so.
unsafe fn misuse(compressor: Handle, stream: Handle) {
    let none = ptr::null_mut();
    let (mut out, mut len, mut compressed) = (ptr::null(), 7, ptr::null_mut());
    let mut call = call(b"bash", b"", 0);
    unsafe {
        assert!(aside_compressor_new(none, ptr::null()).is_null() && aside_last_status() == NULL);
        assert_eq!(aside_compress(none, &call, ptr::null(), 0, &mut compressed), NULL);
        assert_eq!(aside_tool_stream_feed(none, ptr::null(), 0, &mut out, &mut len), NULL);
        assert_eq!(aside_tool_stream_set_exit_code(none, 0), NULL);
        assert_eq!(aside_tool_stream_finish(none, &mut out, &mut len, ptr::null_mut()), NULL);
        assert_eq!(aside_tool_stream_finish(stream, ptr::null_mut(), &mut len, ptr::null_mut()), NULL);
        assert_eq!(aside_tool_stream_feed(stream, ptr::null(), 1, &mut out, &mut len), NULL);
        assert_eq!(aside_tool_stream_feed(stream, b"x".as_ptr(), usize::MAX, &mut out, &mut len), LENGTH);
        if !compressor.is_null() {
            assert_eq!(aside_compress(compressor, ptr::null(), ptr::null(), 0, &mut compressed), NULL);
            assert_eq!(aside_compress(compressor, &call, ptr::null(), 1, &mut compressed), NULL);
            assert_eq!(aside_compress(compressor, &call, ptr::null(), 0, ptr::null_mut()), NULL);
            assert!(aside_tool_stream_new(compressor, ptr::null(), 9999).is_null() && aside_last_status() == NULL);
            call.size = 8;
            assert_eq!(aside_compress(compressor, &call, ptr::null(), 0, &mut compressed), SIZE);
        }
        assert_eq!(aside_compressed_part(none, 0, &mut out, &mut len), NULL);
        assert_eq!(aside_compressed_report(none, ptr::null_mut()), NULL);
        assert_eq!(aside_compressed_slice(none, 0, b"x".as_ptr(), 1, 0, 1, &mut out), NULL);
        assert_eq!(aside_is_protected(ptr::null(), 1), NULL);
        assert_eq!(aside_format_banner(ptr::null(), 1, 0, 0, ptr::null_mut(), &mut len), NULL);
        assert!(out.is_null() && len == 7 && compressed.is_null(), "written on a failure");
        aside_compressed_free(none);
        aside_compressor_free(none);
        aside_tool_stream_free(none);
    }
}
