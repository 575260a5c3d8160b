//! Works on whole texts and dialects through the C functions: strip, join, escape, families and openers.

use std::ptr;

use aside::{JoinError, Markers};
use support::c::*;

use super::super::Input;
use super::super::dictionary::words;
use super::rewriter::start_of;
use super::version::{LARGEST, Version, is_version, size};
use super::{BUILT_IN, chunk};

/// Returns the memory that a call returned, or its status if it failed. A failed call must not write anything.
pub fn owned(call: impl FnOnce(*mut usize) -> *mut u8) -> Result<Vec<u8>, i32> {
    let mut len = 7;
    let out = call(&mut len);
    if out.is_null() {
        assert_eq!(len, 7, "written on a failure");
        return Err(unsafe { aside_last_status() });
    }
    unsafe {
        let text = std::slice::from_raw_parts(out, len + 1);
        assert_eq!(text[len], 0);
        let text = text[..len].to_vec();
        aside_free(out.cast());
        Ok(text)
    }
}

/// Joins texts and calls. C must return the same as Rust, or the status of Rust's error.
unsafe fn join(input: &mut Input<'_>, dialect: Handle, rust: &aside::Dialect, texts: [&[u8]; 2], way: u8) {
    let parts = ["f", "g:1", "", "{}", "{\"k\": \"v\", \"a\": [1, null]}", "{\"k\": ", "7", "</tool_call>"];
    let few: Vec<[&str; 3]> = (0..way / 64).map(|_| [0, 3, 5].map(|from| parts[(from + input.below(8)) % 8])).collect();
    let call = |[name, arguments, id]: &[&str; 3]| JoinCall {
        name: Bytes::of(name.as_bytes()),
        arguments: Bytes::of(arguments.as_bytes()),
        id: if way & 8 == 0 { Bytes::default() } else { Bytes::of(id.as_bytes()) },
    };
    let whole = size_of::<JoinCall>();
    let call_size = match input.byte() {
        0..200 => whole,
        byte => [0, 16, whole - 1, whole + 1, whole + 8, LARGEST, LARGEST + 1, usize::MAX][usize::from(byte & 7)],
    };
    // Room for exactly these calls, in structs of that size. Fields that a later version adds to a call are not a failure.
    let stride = if is_version(call_size, whole) { call_size } else { whole };
    let mut room = vec![0xAA_u8; few.len() * stride].into_boxed_slice();
    for (call, place) in few.iter().map(call).zip(room.chunks_mut(stride)) {
        unsafe { ptr::copy_nonoverlapping((&raw const call).cast(), place.as_mut_ptr(), whole) };
    }
    let options = JoinOptions {
        size: size::<JoinOptions>(input),
        thinking: Bytes::of(texts[0]),
        content: Bytes::of(texts[1]),
        calls: if way & 63 == 62 { ptr::null() } else { room.as_ptr().cast() },
        call_count: few.len(),
        call_size,
        start: input.one_of(&[START_DEFAULT, START_CONTENT, START_THINKING, START_NARRATION, START_TOOL, START_HEADER]),
        markers: input.one_of(&[MARKERS_REFUSE, MARKERS_ESCAPE]),
    };
    let mut given = Version::given(input, options);
    let got = owned(|len| unsafe { aside_join(dialect, given.at(), len) });
    // The part of the struct that this version reads.
    let read = given.get();
    let refused = match read {
        _ if !is_version(options.size, size_of::<usize>()) => SIZE,
        _ if given.has_more() => OPTION,
        _ if read.call_count > 0 && read.calls.is_null() => NULL,
        _ if read.call_count > 0 && !is_version(read.call_size, whole) => SIZE,
        _ if read.start > START_HEADER || read.markers > MARKERS_ESCAPE => OPTION,
        _ => OK,
    };
    if refused != OK {
        return assert_eq!(got, Err(refused));
    }
    let text = |text: Bytes| if text.at.is_null() { &[] } else { unsafe { text.get() } };
    let call = |[name, arguments, id]: &[&'static str; 3]| {
        aside::JoinCall::new(name, arguments).id((way & 8 != 0).then_some(*id))
    };
    let calls: Vec<aside::JoinCall<'_>> = few.iter().take(read.call_count).map(call).collect();
    let markers = if read.markers == MARKERS_ESCAPE { Markers::Escape } else { Markers::Refuse };
    let options = aside::JoinOptions::new().start(start_of(read.start)).markers(markers).calls(&calls);
    let wanted = rust.join(text(read.thinking), text(read.content), &options);
    let status = |error| if matches!(error, JoinError::NoSuchStart) { OPTION } else { JOIN };
    assert_eq!(got, wanted.map_err(status));
}

pub fn run(input: &mut Input<'_>) {
    let (which, way) = (input.byte(), input.byte());
    let pair = BUILT_IN[usize::from(which) % BUILT_IN.len()];
    let (name, rust) = (&pair.reference.name, &pair.library);
    let (one, two) = (chunk(input, words(pair)), chunk(input, words(pair)));
    unsafe {
        let dialect = aside_dialect_find(name.as_ptr(), name.len());
        match way % 6 {
            0 => {
                let got = owned(|len| aside_strip(dialect, one.as_ptr(), one.len(), len));
                assert_eq!(got.unwrap(), rust.strip(&one).unwrap());
            }
            1 => {
                let got = owned(|len| aside_escape(dialect, one.as_ptr(), one.len(), len));
                assert_eq!(got, rust.escape(&one).map_err(|_| JOIN));
            }
            2 | 4 => join(input, dialect, rust, [&one, &two], way),
            3 => {
                let (rule, tag) = (u32::from(one.first().copied().unwrap_or(255)) % 9, u32::from(way / 5) % 9);
                let mut len = 7;
                for text in [
                    aside_dialect_name(dialect, &mut len),
                    aside_dialect_family(dialect, rule, &mut len),
                    aside_dialect_opener(dialect, rule, tag, &mut len),
                ] {
                    assert!(!text.is_null() || aside_last_status() == RANGE);
                    assert!(text.is_null() || std::ffi::CStr::from_ptr(text.cast()).to_str().is_ok());
                }
                assert_eq!(aside_dialect_max_hold(dialect), rust.max_hold());
                let format = [GRAMMAR_FORMAT_XGRAMMAR, GRAMMAR_FORMAT_LARK][usize::from(way / 5) % 2];
                let (tools, choice) = (b"[{\"name\": \"f\"}]", ["auto", "required", "f", "g"][rule as usize % 4]);
                let start = tag % 7;
                let got = owned(|len| {
                    let (tools, choice) = (Bytes::of(tools), Bytes::of(choice.as_bytes()));
                    aside_dialect_grammar(dialect, format, tools.at, tools.len, choice.at, choice.len, start, len)
                });
                let format = [aside::GrammarFormat::Xgrammar, aside::GrammarFormat::Lark][format as usize];
                let (tools, choice) = (str::from_utf8(tools).unwrap(), aside::ToolChoice::named(choice));
                let wanted = rust.grammar(format, tools, choice, start_of(start));
                assert_eq!(got, wanted.map(|one| one.text.into_bytes()).map_err(|_| OPTION));
            }
            _ => {
                let none = ptr::null_mut();
                let (text, len) = (one.as_ptr(), one.len());
                assert_eq!(owned(|out| aside_strip(none, text, len, out)), Err(NULL));
                assert_eq!(owned(|_| aside_escape(dialect, text, len, ptr::null_mut())), Err(NULL));
                assert_eq!(owned(|_| aside_strip(dialect, text, len, ptr::null_mut())), Err(NULL));
                assert_eq!(owned(|out| aside_escape(dialect, ptr::null(), 1, out)), Err(NULL));
                let far = usize::MAX;
                assert_eq!(owned(|out| aside_escape(dialect, text, far, out)), Err(LENGTH));
                let good = JoinOptions { content: Bytes::of(&one), ..JoinOptions::default() };
                let joined = |options: JoinOptions| owned(|out| aside_join(dialect, &options, out));
                assert_eq!(joined(JoinOptions { thinking: Bytes { at: text, len: far }, ..good }), Err(LENGTH));
                assert_eq!(joined(JoinOptions { content: Bytes { at: ptr::null(), len: 2 }, ..good }), Err(NULL));
                let call = JoinCall::default();
                let calls = JoinOptions { calls: &call, call_count: far, call_size: size_of::<JoinCall>(), ..good };
                assert_eq!(joined(calls), Err(LENGTH));
                assert_eq!(owned(|out| aside_join(dialect, ptr::null(), out)), Err(NULL));
                assert_eq!(owned(|out| aside_join(none, &good, out)), Err(NULL));
                assert_eq!(owned(|_| aside_join(dialect, &good, ptr::null_mut())), Err(NULL));
                assert!(aside_dialect_name(none, ptr::null_mut()).is_null() && aside_dialect_max_hold(none) == 0);
                assert!(aside_dialect_opener(none, 0, 0, ptr::null_mut()).is_null() && aside_last_status() == NULL);
                assert!(aside_dialect_family(none, 0, ptr::null_mut()).is_null() && aside_last_status() == NULL);
            }
        }
    }
}
