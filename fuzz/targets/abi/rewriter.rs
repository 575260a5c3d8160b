//! Rewrites event streams through the C functions: what comes out must be what the Rust functions return.

use std::ptr;

use aside::StrayClose;
use aside::sse::{Body, Field, Formats, Options, RequestModel, ResponsesAs, Rewriter, Stats};

use super::super::Input;
use super::{
    BUILT_IN, Handle, LENGTH, MORE, NONE, NULL, OK, OPTION, SIZE, aside_dialect_find, aside_last_status, chunk,
};

#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    at: *const u8,
    len: usize,
}

impl Bytes {
    const NONE: Bytes = Bytes { at: ptr::null(), len: 0 };
    /// What no call has written to.
    const UNTOUCHED: Bytes = Bytes { at: ptr::null(), len: 7 };

    fn new(bytes: &[u8]) -> Bytes {
        Bytes { at: bytes.as_ptr(), len: bytes.len() }
    }
}

#[repr(C)]
struct Exchange {
    size: usize,
    status: u32,
    formats: u32,
    method: Bytes,
    path: Bytes,
    content_type: Bytes,
    content_encoding: Bytes,
}

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
    tools: Bytes,
    max_held: u64,
    calls_in_thinking: u32,
    formats: u32,
    responses_as: u32,
    repair: u32,
    promote_empty: u32,
    merge: u32,
}

/// Its size, and the counts in the order of the header; the last is whether the stream is encoded.
type SseStats = [u64; 14];

unsafe extern "C" {
    fn aside_rewriter_new(dialect: Handle, options: *const SseOptions) -> Handle;
    fn aside_rewriter_free(sse: Handle);
    fn aside_rewriter_feed(sse: Handle, buf: *const u8, len: usize, out: *mut Bytes) -> i32;
    fn aside_rewriter_finish(sse: Handle, out: *mut Bytes) -> i32;
    fn aside_rewriter_reset(sse: Handle) -> i32;
    fn aside_rewriter_get_stats(sse: Handle, stats: *mut SseStats) -> i32;
    fn aside_rewriter_wants(exchange: *const Exchange, body: *mut u32) -> i32;
    fn aside_request_hint(exchange: *const Exchange, hint: *mut u32) -> i32;
    fn aside_request_model(body: *const u8, len: usize, model: *mut u8, room: usize, model_len: *mut usize) -> i32;
}

pub fn run(input: &mut Input<'_>) {
    let choices = input.byte();
    let pair = BUILT_IN[usize::from(choices) % BUILT_IN.len()];
    let name = &pair.reference.name;
    let most = input.byte();
    let stray = input.byte();
    // Six more bits, of which most inputs that were found before have none.
    let more = stray >> 2 & 31;
    let options = SseOptions {
        size: [if more > 0 { size_of::<SseOptions>() } else { 40 }, 32, 24, 7, 0]
            [usize::from(most & 15).saturating_sub(11)],
        start: 0,
        field: u32::from(choices >> 2 & 3),
        body: u32::from(choices >> 4 & 3),
        off: u32::from(choices >> 6),
        max_event: u64::from(most >> 4) * 64,
        stray_close: u32::from(stray % 3),
        calls: u32::from(stray >> 7),
        tools: Bytes::NONE,
        max_held: 0,
        calls_in_thinking: 0,
        formats: u32::from(more) * 2,
        responses_as: u32::from(more & 1),
        repair: u32::from(more >> 1 & 1),
        promote_empty: u32::from(more >> 2 & 1),
        merge: u32::from(more >> 3 & 1),
    };
    // An older header's options end before `stray_close` and `calls`, or before what comes after these two.
    let has_stray = options.size > 32;
    let has_more = options.size > 40;
    let good = options.size >= 24
        && options.field < 3
        && options.off < 2
        && (!has_stray || options.stray_close < 2)
        && (!has_more || Formats::from_bits(options.formats).is_some());
    // An older header's options end before `max_event`.
    let rust = Options::new()
        .field([Field::ReasoningContent, Field::Reasoning, Field::Thinking][options.field as usize % 3])
        .body([Body::Unknown, Body::Events, Body::Json, Body::Lines][options.body as usize])
        .off(options.off == 1)
        .max_event((options.max_event > 0 && options.size > 24).then_some(options.max_event as usize))
        .calls(has_stray && options.calls == 1)
        .formats(Formats::from_bits(options.formats).filter(|_| has_more).unwrap_or_default())
        .responses_as(match options.responses_as {
            1 if has_more => ResponsesAs::Summary,
            _ => ResponsesAs::ReasoningText,
        })
        .repair(has_more && options.repair == 1)
        .promote_empty(has_more && options.promote_empty == 1)
        .merge(has_more && options.merge == 1)
        .stray_close(if has_stray && options.stray_close == 1 { StrayClose::Text } else { StrayClose::Dialect });
    unsafe {
        let sse = aside_rewriter_new(aside_dialect_find(name.as_ptr(), name.len()), &options);
        assert_eq!(!sse.is_null(), good, "{}", aside_last_status());
        if good {
            calls(input, sse, Rewriter::new(&pair.library, &rust).unwrap());
            aside_rewriter_free(sse);
        }
    }
}

/// One way that a call gives its output.
type Call<'a> = &'a dyn Fn(*mut Bytes) -> i32;

unsafe fn calls(input: &mut Input<'_>, sse: Handle, mut rust: Rewriter) {
    for _ in 0..64 {
        let mut wanted = Vec::new();
        let same = |call: Call<'_>, wanted: &[u8]| unsafe {
            let mut out = Bytes::UNTOUCHED;
            assert_eq!(call(&mut out), OK);
            assert_eq!(std::slice::from_raw_parts(out.at, out.len), wanted);
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
                same(&|out| unsafe { aside_rewriter_feed(sse, text.as_ptr(), text.len(), out) }, &wanted);
            }
            200..220 => {
                rust.finish(&mut wanted).unwrap();
                same(&|out| unsafe { aside_rewriter_finish(sse, out) }, &wanted);
            }
            220..230 => {
                rust.reset();
                assert_eq!(unsafe { aside_rewriter_reset(sse) }, OK);
            }
            _ => unsafe {
                let mut out = Bytes::UNTOUCHED;
                let mut stats = [7; 14];
                stats[0] = size_of::<SseStats>() as u64;
                assert_eq!(aside_rewriter_get_stats(sse, &mut stats), OK);
                assert_eq!(stats, counted(&rust.stats()));
                stats[0] -= 1;
                assert_eq!(aside_rewriter_get_stats(sse, &mut stats), SIZE);
                assert_eq!(aside_rewriter_get_stats(sse, ptr::null_mut()), NULL);
                gate(input);
                assert_eq!(aside_rewriter_feed(ptr::null_mut(), ptr::null(), 0, &mut out), NULL);
                assert_eq!(aside_rewriter_feed(sse, ptr::null(), 1, &mut out), NULL);
                assert_eq!(aside_rewriter_feed(sse, b"x".as_ptr(), usize::MAX, &mut out), LENGTH);
                assert_eq!(aside_rewriter_feed(sse, b"x".as_ptr(), 1, ptr::null_mut()), NULL);
                assert_eq!(aside_rewriter_finish(sse, ptr::null_mut()), NULL);
                assert!(out.at.is_null() && out.len == 7, "written on a failure");
                assert_eq!(aside_rewriter_reset(ptr::null_mut()), NULL);
                aside_rewriter_free(ptr::null_mut());
            },
        }
    }
}

fn counted(stats: &Stats) -> SseStats {
    [
        size_of::<SseStats>() as u64,
        stats.events,
        stats.changed,
        stats.added,
        stats.repaired,
        stats.too_long,
        stats.unread,
        stats.unpromoted,
        stats.truncated,
        stats.thinking_bytes,
        stats.content_bytes,
        stats.held,
        stats.split_by_server,
        // A little-endian number and 0 after it.
        u64::from(u32::from(stats.encoded)),
    ]
}

/// Asks which answers are for a rewriter, of texts that are half right.
fn gate(input: &mut Input<'_>) {
    let bits = u32::from(input.byte() & 63);
    let formats = Formats::from_bits(bits);
    let status = if input.byte() & 7 == 0 { 404 } else { 200 };
    let mut text = |known: &[&str]| {
        let way = input.byte();
        let mut text = known[usize::from(way & 15) % known.len()].as_bytes().to_vec();
        if way >= 192 {
            text.extend_from_slice(&chunk(input));
        }
        text
    };
    let path = text(&["/v1/chat/completions", "/completions", "/responses?", "/messages", "/api/chat", "", "/"]);
    let media_type = text(&["text/event-stream", " APPLICATION/json ;", "application/jsonl", "text/plain", ""]);
    let encoding = text(&["", "identity", " ", "gzip"]);
    let method = text(&["POST", "GET"]);
    let body = text(&["{\"model\":\"a\\u0062\"", "{\"a\":[1,\"", "{}", "{\"model\":"]);
    let (mut found, mut hint, mut room, mut len) = (77, 77, [0; 8], 77);
    let rust = aside::sse::Exchange::new().status(status).method(&method).path(&path);
    let rust = rust.content_type(&media_type).content_encoding(&encoding);
    let wanted = formats.map(|formats| aside::sse::wants(&rust.formats(formats)).map(|body| body as u32));
    let hinted = formats.map(|formats| aside::sse::request_hint(&rust.formats(formats)).map(|hint| hint as u32));
    let exchange = Exchange {
        size: size_of::<Exchange>(),
        status,
        formats: bits,
        method: Bytes::new(&method),
        path: Bytes::new(&path),
        content_type: Bytes::new(&media_type),
        content_encoding: Bytes::new(&encoding),
    };
    let told = |value: Option<Option<u32>>| match value {
        Some(Some(value)) => (OK, value),
        Some(None) => (NONE, 77),
        None => (OPTION, 77),
    };
    unsafe {
        assert_eq!((aside_rewriter_wants(&exchange, &mut found), found), told(wanted));
        assert_eq!((aside_request_hint(&exchange, &mut hint), hint), told(hinted));
        let status = aside_request_model(body.as_ptr(), body.len(), room.as_mut_ptr(), room.len(), &mut len);
        match aside::sse::request_model(&body, &mut [0; 8]) {
            RequestModel::Found(model) => assert_eq!((status, &room[..len]), (OK, model.as_bytes())),
            RequestModel::More => assert_eq!((status, len), (MORE, 77)),
            RequestModel::None => assert_eq!((status, len), (NONE, 77)),
        }
    }
}
