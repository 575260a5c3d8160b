//! Rewrites event streams through the C functions: what comes out must be what the Rust functions return.

use std::ptr;
use std::sync::Arc;

use aside::call_writer::Tools;
use aside::sse::{Body, Field, Formats, Options, RequestModel, ResponsesAs, Rewriter, Stats};
use aside::{CallsInThinking, Error, Start, StrayClose};
use support::Pair;
use support::c::*;

use super::super::Input;
use super::super::dictionary::words;
use super::call_writer::TOOLS;
use super::{BUILT_IN, chunk};

const STARTS: [u32; 7] =
    [START_DEFAULT, START_DEFAULT, START_CONTENT, START_THINKING, START_NARRATION, START_TOOL, START_HEADER];

fn start_of(number: u32) -> Option<Start> {
    let name = ["content", "thinking", "narration", "tool", "header"].get((number as usize).wrapping_sub(1))?;
    Some(name.parse().unwrap())
}

fn tools_of(text: Option<&str>) -> Result<Option<Arc<Tools>>, ()> {
    text.map(|text| Tools::read(text).map(Arc::new)).transpose().map_err(|_| ())
}

pub fn run(input: &mut Input<'_>) {
    let pair = BUILT_IN[usize::from(input.byte()) % BUILT_IN.len()];
    let (most, way) = (input.byte(), input.byte());
    let bits = u32::from(input.byte());
    let tools = TOOLS[usize::from(way) % TOOLS.len()];
    let options = RewriterOptions {
        // Of older headers, which had fewer fields, and of none.
        size: [size_of::<RewriterOptions>(), 40, 32, 24, 8, 7, 0][usize::from(most & 31).saturating_sub(25)],
        start: input.one_of(&STARTS),
        field: input.one_of(&[FIELD_REASONING_CONTENT, FIELD_REASONING, FIELD_THINKING]),
        body: input.one_of(&[BODY_UNKNOWN, BODY_EVENTS, BODY_JSON, BODY_LINES]),
        off: input.one_of(&[0, 0, 0, 1]),
        max_event: u64::from(most >> 5) * 64,
        stray_close: input.one_of(&[STRAY_CLOSE_DIALECT, STRAY_CLOSE_TEXT]),
        calls: input.one_of(&[1, 1, 0]),
        tools: tools.map_or(ptr::null(), str::as_ptr),
        tools_len: tools.map_or(0, str::len),
        max_held: u64::from(way >> 5) * 32,
        calls_in_thinking: input.one_of(&[CALLS_IN_THINKING_DIALECT, CALLS_IN_THINKING_NEVER]),
        formats: match bits & 7 {
            0 => 0,
            1 => FORMAT_CHAT | FORMAT_COMPLETIONS | FORMAT_OLLAMA,
            2 => FORMAT_RESPONSES | FORMAT_MESSAGES,
            3 => 32,
            _ => FORMAT_ALL,
        },
        responses_as: input.one_of(&[RESPONSES_AS_REASONING_TEXT, RESPONSES_AS_SUMMARY]),
        repair: bits >> 3 & 1,
        promote_empty: bits >> 4 & 1,
        merge: bits >> 5 & 1,
        // All lists that are given are shorter.
        max_tools: u64::from(bits >> 6 & 1) * 1024,
    };
    let rust = mirror(&options, tools);
    let rust = rust.and_then(|options| Rewriter::new(&pair.library, &options).map_err(|_| ()));
    let name = &pair.reference.name;
    unsafe {
        let sse = aside_rewriter_new(aside_dialect_find(name.as_ptr(), name.len()), &options);
        assert_eq!(!sse.is_null(), rust.is_ok(), "{}", aside_last_status());
        if let Ok(rust) = rust {
            calls(input, pair, sse, rust);
            aside_rewriter_free(sse);
        }
    }
}

/// The options as Rust has them. A field that the struct's size leaves out is 0.
fn mirror(options: &RewriterOptions, tools: Option<&str>) -> Result<Options, ()> {
    let size = options.size;
    if size < 8 {
        return Err(());
    }
    let part = |end: usize, number: u32| if size >= end { number } else { 0 };
    let is = |end: usize, number: u32| match part(end, number) {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(()),
    };
    let limit = |end: usize, number: u64| (size >= end && number > 0).then_some(number as usize);
    let start = part(12, options.start);
    let fields = [Field::ReasoningContent, Field::Reasoning, Field::Thinking];
    let bodies = [Body::Unknown, Body::Events, Body::Json, Body::Lines];
    let formats = match part(72, options.formats) {
        0 => Formats::CHAT,
        bits => Formats::from_bits(bits).ok_or(())?,
    };
    if start > START_HEADER {
        return Err(());
    }
    Ok(Options::new()
        .start(start_of(start))
        .field(*fields.get(part(16, options.field) as usize).ok_or(())?)
        .body(*bodies.get(part(20, options.body) as usize).ok_or(())?)
        .off(is(24, options.off)?)
        .max_event(limit(32, options.max_event))
        .stray_close(if is(36, options.stray_close)? { StrayClose::Text } else { StrayClose::Dialect })
        .calls(is(40, options.calls)?)
        .tools(if size >= 56 { tools_of(tools)? } else { None })
        .max_held(limit(64, options.max_held))
        .calls_in_thinking(match is(68, options.calls_in_thinking)? {
            true => CallsInThinking::Never,
            false => CallsInThinking::Dialect,
        })
        .formats(formats)
        .responses_as(match is(76, options.responses_as)? {
            true => ResponsesAs::Summary,
            false => ResponsesAs::ReasoningText,
        })
        .repair(is(80, options.repair)?)
        .promote_empty(is(84, options.promote_empty)?)
        .merge(is(88, options.merge)?))
}

fn status_of<T>(result: &Result<T, Error>) -> i32 {
    match result {
        Ok(_) => OK,
        Err(Error::StreamBegun) => ORDER,
        Err(Error::NoSuchStart) => OPTION,
        Err(error) => panic!("{error}"),
    }
}

/// Sets where the next stream starts, and by which dialect and for which tools it is read.
unsafe fn begin(input: &mut Input<'_>, pair: &Pair, sse: Handle, rust: &mut Rewriter) {
    let mut start = 77;
    unsafe {
        match input.below(4) {
            0 => {
                let number = input.one_of(&STARTS);
                let got = aside_rewriter_start_at(sse, number);
                let wanted = if number > START_HEADER { OPTION } else { status_of(&rust.start_at(start_of(number))) };
                assert_eq!(got, wanted);
            }
            1 => {
                let other = BUILT_IN[input.below(256) % BUILT_IN.len()];
                let (name, number) = (&other.reference.name, input.one_of(&STARTS));
                let got = aside_rewriter_use_dialect(sse, aside_dialect_find(name.as_ptr(), name.len()), number);
                let used = |rust: &mut Rewriter| rust.use_dialect(&other.library, start_of(number));
                assert_eq!(got, if number > START_HEADER { OPTION } else { status_of(&used(rust)) });
                assert_eq!(aside_rewriter_use_dialect(sse, ptr::null_mut(), number), NULL);
            }
            2 => {
                let text = TOOLS[input.below(TOOLS.len())];
                let got =
                    aside_rewriter_use_tools(sse, text.map_or(ptr::null(), str::as_ptr), text.map_or(0, str::len));
                let wanted = tools_of(text).map(|tools| status_of(&rust.use_tools(tools)));
                assert_eq!(got, wanted.unwrap_or(OPTION));
            }
            _ => {
                let tail = chunk(input, words(pair));
                let got = aside_rewriter_start_from_prompt(sse, tail.as_ptr(), tail.len(), &mut start);
                let wanted = rust.start_from_prompt(&tail);
                assert_eq!((got, start != 77), (status_of(&wanted), wanted.is_ok()));
                assert!(wanted.is_err() || start_of(start) == wanted.ok());
            }
        }
    }
}

/// One way that a call gives its output.
type Call<'a> = &'a dyn Fn(*mut *const u8, *mut usize) -> i32;

unsafe fn calls(input: &mut Input<'_>, pair: &Pair, sse: Handle, mut rust: Rewriter) {
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
            8..40 => unsafe { begin(input, pair, sse, &mut rust) },
            40..200 => {
                let mut text = chunk(input, words(pair));
                if !way.is_multiple_of(3) {
                    let content = serde_json::Value::from(String::from_utf8_lossy(&text));
                    let event = format!(
                        "data: {{\"choices\":[{{\"index\":{},\"delta\":{{\"content\":{content}}}}}]}}\n\n",
                        way & 1
                    );
                    text = event.into_bytes().into();
                }
                rust.feed(&text, &mut wanted).unwrap();
                same(&|out, len| unsafe { aside_rewriter_feed(sse, text.as_ptr(), text.len(), out, len) }, &wanted);
            }
            200..220 => {
                rust.finish(&mut wanted).unwrap();
                same(&|out, len| unsafe { aside_rewriter_finish(sse, out, len) }, &wanted);
            }
            220..230 => {
                rust.reset();
                assert_eq!(unsafe { aside_rewriter_reset(sse) }, OK);
            }
            _ => unsafe {
                let (mut out, mut len) = (ptr::null(), 7);
                assert_eq!(aside_rewriter_too_long(sse), rust.too_long());
                assert_eq!(aside_rewriter_encoded(sse) == 1, rust.is_encoded());
                assert_eq!(aside_rewriter_encoded(ptr::null_mut()), 0);
                let mut stats = [7; 13];
                stats[0] = size_of::<SseStats>() as u64;
                assert_eq!(aside_rewriter_get_stats(sse, &mut stats), OK);
                assert_eq!(stats, counted(&rust.stats()));
                stats[0] -= 1;
                assert_eq!(aside_rewriter_get_stats(sse, &mut stats), SIZE);
                assert_eq!(aside_rewriter_get_stats(sse, ptr::null_mut()), NULL);
                gate(input);
                assert_eq!(aside_rewriter_too_long(ptr::null_mut()), 0);
                assert_eq!(aside_rewriter_feed(ptr::null_mut(), ptr::null(), 0, &mut out, &mut len), NULL);
                assert_eq!(aside_rewriter_feed(sse, ptr::null(), 1, &mut out, &mut len), NULL);
                assert_eq!(aside_rewriter_feed(sse, b"x".as_ptr(), usize::MAX, &mut out, &mut len), LENGTH);
                assert_eq!(aside_rewriter_feed(sse, b"x".as_ptr(), 1, ptr::null_mut(), &mut len), NULL);
                assert_eq!(aside_rewriter_finish(sse, &mut out, ptr::null_mut()), NULL);
                assert!(out.is_null() && len == 7, "written on a failure");
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
    ]
}

/// Asks which answers are for a rewriter, of texts that are half right.
fn gate(input: &mut Input<'_>) {
    let bits = u32::from(input.byte() & 63);
    let formats = if bits == 0 { Some(Formats::CHAT) } else { Formats::from_bits(bits) };
    let status = if input.byte() & 7 == 0 { 404 } else { 200 };
    let mut text = |known: &[&str]| {
        let way = input.byte();
        let mut text = known[usize::from(way & 15) % known.len()].as_bytes().to_vec();
        if way >= 192 {
            text.extend_from_slice(&input.text(&[]));
        }
        text
    };
    let path = text(&["/v1/chat/completions", "/completions", "/responses?", "/messages", "/api/chat", "", "/"]);
    let media_type = text(&["text/event-stream", " APPLICATION/json ;", "application/jsonl", "text/plain", ""]);
    let encoding = text(&["", "identity", " ", "gzip"]);
    let method = text(&["POST", "GET"]);
    let body = text(&["{\"model\":\"a\\u0062\"", "{\"a\":[1,\"", "{}", "{\"model\":"]);
    let (mut found, mut hint, mut room, mut len) = (77, 77, [0; 8], 77);
    let response = aside::sse::Response::new(status).path(&path).content_type(&media_type).content_encoding(&encoding);
    let wanted = formats.map(|formats| aside::sse::wants(&response, formats).map(|body| body as u32));
    let hinted = formats.map(|formats| aside::sse::request_hint(&path, &method, formats).map(|hint| hint as u32));
    let told = |value: Option<Option<u32>>| match value {
        Some(Some(value)) => (OK, value),
        Some(None) => (NONE, 77),
        None => (OPTION, 77),
    };
    unsafe {
        let (at, size) = (media_type.as_ptr(), media_type.len());
        let coding = encoding.as_ptr();
        let status =
            aside_rewriter_wants(status, path.as_ptr(), path.len(), at, size, coding, encoding.len(), bits, &mut found);
        assert_eq!((status, found), told(wanted));
        let status = aside_request_hint(path.as_ptr(), path.len(), method.as_ptr(), method.len(), bits, &mut hint);
        assert_eq!((status, hint), told(hinted));
        let status = aside_request_model(body.as_ptr(), body.len(), room.as_mut_ptr(), room.len(), &mut len);
        match aside::sse::request_model(&body, &mut [0; 8]) {
            RequestModel::Found(model) => assert_eq!((status, &room[..len]), (OK, model.as_bytes())),
            RequestModel::More => assert_eq!((status, len), (MORE, 77)),
            RequestModel::None => assert_eq!((status, len), (NONE, 77)),
        }
    }
}
