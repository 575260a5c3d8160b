//! Rewrites event streams through the C functions: what comes out must be what the Rust functions return.

use std::ptr;

use aside::StrayClose;
use aside::sse::{Body, Field, Options, Rewriter};

use super::super::Input;
use super::{BUILT_IN, Handle, LENGTH, NULL, OK, aside_dialect_find, aside_last_status, chunk};

#[repr(C)]
struct SseOptions {
    size: usize,
    start: u32,
    field: u32,
    body: u32,
    off: u32,
    max_event: u64,
    stray_close: u32,
    calls: u32,
}

unsafe extern "C" {
    fn aside_sse_new(dialect: Handle, options: *const SseOptions) -> Handle;
    fn aside_sse_free(sse: Handle);
    fn aside_sse_feed(sse: Handle, buf: *const u8, len: usize, out: *mut *const u8, out_len: *mut usize) -> i32;
    fn aside_sse_finish(sse: Handle, out: *mut *const u8, out_len: *mut usize) -> i32;
    fn aside_sse_reset(sse: Handle) -> i32;
    fn aside_sse_too_long(sse: Handle) -> u64;
}

pub fn run(input: &mut Input<'_>) {
    let choices = input.byte();
    let pair = BUILT_IN[usize::from(choices) % BUILT_IN.len()];
    let name = &pair.reference.name;
    let most = input.byte();
    let stray = input.byte();
    let options = SseOptions {
        size: [size_of::<SseOptions>(), 32, 24, 7, 0][usize::from(most & 15).saturating_sub(11)],
        start: 0,
        field: u32::from(choices >> 2 & 3),
        body: u32::from(choices >> 4 & 3),
        off: u32::from(choices >> 6),
        max_event: u64::from(most >> 4) * 64,
        stray_close: u32::from(stray % 3),
        calls: u32::from(stray >> 7),
    };
    // An older header's options end before `stray_close` and `calls`; newer ones have more after these two.
    let has_stray = options.size > 32;
    let good = options.size >= 24
        && options.field < 3
        && options.body < 3
        && options.off < 2
        && (!has_stray || options.stray_close < 2);
    // An older header's options end before `max_event`.
    let rust = Options::new()
        .field([Field::ReasoningContent, Field::Reasoning, Field::Thinking][options.field as usize % 3])
        .body([Body::Unknown, Body::Events, Body::Json][options.body as usize % 3])
        .off(options.off == 1)
        .max_event((options.max_event > 0 && options.size > 24).then_some(options.max_event as usize))
        .calls(has_stray && options.calls == 1)
        .stray_close(if has_stray && options.stray_close == 1 { StrayClose::Text } else { StrayClose::Dialect });
    unsafe {
        let sse = aside_sse_new(aside_dialect_find(name.as_ptr(), name.len()), &options);
        assert_eq!(!sse.is_null(), good, "{}", aside_last_status());
        if good {
            calls(input, sse, Rewriter::new(&pair.library, &rust).unwrap());
            aside_sse_free(sse);
        }
    }
}

/// One way that a call gives its output.
type Call<'a> = &'a dyn Fn(*mut *const u8, *mut usize) -> i32;

unsafe fn calls(input: &mut Input<'_>, sse: Handle, mut rust: Rewriter) {
    for _ in 0..64 {
        let mut wanted = Vec::new();
        let same = |call: Call<'_>, wanted: &[u8]| unsafe {
            let (mut out, mut len) = (ptr::null(), usize::MAX);
            assert_eq!(call(&mut out, &mut len), OK);
            assert_eq!(std::slice::from_raw_parts(out, len), wanted);
        };
        let way = input.byte();
        match way {
            0..8 => return,
            8..200 => {
                let mut text = chunk(input);
                if !way.is_multiple_of(3) {
                    let content = serde_json::Value::from(String::from_utf8_lossy(&text));
                    let event = format!(
                        "data: {{\"choices\":[{{\"index\":{},\"delta\":{{\"content\":{content}}}}}]}}\n\n",
                        way & 1
                    );
                    text = event.into_bytes().into();
                }
                rust.feed(&text, &mut wanted).unwrap();
                same(&|out, len| unsafe { aside_sse_feed(sse, text.as_ptr(), text.len(), out, len) }, &wanted);
            }
            200..220 => {
                rust.finish(&mut wanted).unwrap();
                same(&|out, len| unsafe { aside_sse_finish(sse, out, len) }, &wanted);
            }
            220..230 => {
                rust.reset();
                assert_eq!(unsafe { aside_sse_reset(sse) }, OK);
            }
            _ => unsafe {
                let (mut out, mut len) = (ptr::null(), 7);
                assert_eq!(aside_sse_too_long(sse), rust.too_long());
                assert_eq!(aside_sse_too_long(ptr::null_mut()), 0);
                assert_eq!(aside_sse_feed(ptr::null_mut(), ptr::null(), 0, &mut out, &mut len), NULL);
                assert_eq!(aside_sse_feed(sse, ptr::null(), 1, &mut out, &mut len), NULL);
                assert_eq!(aside_sse_feed(sse, b"x".as_ptr(), usize::MAX, &mut out, &mut len), LENGTH);
                assert_eq!(aside_sse_feed(sse, b"x".as_ptr(), 1, ptr::null_mut(), &mut len), NULL);
                assert_eq!(aside_sse_finish(sse, &mut out, ptr::null_mut()), NULL);
                assert!(out.is_null() && len == 7, "written on a failure");
                assert_eq!(aside_sse_reset(ptr::null_mut()), NULL);
                aside_sse_free(ptr::null_mut());
            },
        }
    }
}
