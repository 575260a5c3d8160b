//! Rewrites event streams through the C functions: the output must be that of the Rust functions.

use std::ptr;

use aside::sse::{Body, Comments, Field, Formats, Options, RequestModel, ResponsesAs, Rewriter, Shapes, Stats};
use aside::{Error, Start, answer};
use support::Pair;
use support::c::*;

use super::super::Input;
use super::super::dictionary::words;
use super::answer::{TOOLS, tools_of, tools_read};
use super::version::{Version, filled, is_version, size};
use super::{BUILT_IN, chunk};

pub const STARTS: [u32; 8] = [
    START_DEFAULT,
    START_DEFAULT,
    START_CONTENT,
    START_THINKING,
    START_NARRATION,
    START_TOOL,
    START_HEADER,
    START_CALLS,
];

/// Returns the start with this number, or `None` if the dialect decides or the number is not a start.
pub fn start_of(number: u32) -> Option<Start> {
    let name =
        ["content", "thinking", "narration", "tool", "header", "calls"].get((number as usize).wrapping_sub(1))?;
    Some(name.parse().unwrap())
}

pub fn run(input: &mut Input<'_>) {
    let pair = BUILT_IN[usize::from(input.byte()) % BUILT_IN.len()];
    let (most, way) = (input.byte(), input.byte());
    let bits = u32::from(input.byte());
    let answer = AnswerOptions {
        id_prefix: Bytes::default(),
        budget: 0,
        budget_unit: 0,
        budget_scope: 0,
        may_take_back: input.one_of(&[0, 0, 0, 0, 0, 0, 0, 1]),
        inline_calls: input.one_of(&[0, 0, 0, 0, 0, 0, 0, 1]),
        ..super::answer::options(input, way, most)
    };
    let mut inner = Version::given(input, answer);
    let options = RewriterOptions {
        size: size::<RewriterOptions>(input),
        answer: if way & 31 == 31 { ptr::null() } else { inner.at() },
        field: input.one_of(&[FIELD_REASONING_CONTENT, FIELD_REASONING, FIELD_THINKING]),
        body: input.one_of(&[BODY_UNKNOWN, BODY_EVENTS, BODY_JSON, BODY_LINES]),
        off: input.one_of(&[0, 0, 0, 1]),
        calls: input.one_of(&[1, 1, 0]),
        max_event: u64::from(most >> 5) * 64,
        formats: match bits & 7 {
            0 => 0,
            1 => FORMAT_CHAT | FORMAT_COMPLETIONS | FORMAT_OLLAMA,
            2 => FORMAT_RESPONSES | FORMAT_MESSAGES,
            // No format has such bits.
            3 => [32, FORMAT_CHAT | 32, u32::MAX, FORMAT_ALL - 1][usize::from(most & 3)],
            _ => FORMAT_ALL,
        },
        responses_as: input.one_of(&[RESPONSES_AS_REASONING_TEXT, RESPONSES_AS_SUMMARY]),
        repair: bits >> 3 & 1,
        merge: bits >> 5 & 1,
        normalise: input.one_of(&[SHAPE_NONE, SHAPE_ALL, SHAPE_FIELD | SHAPE_LISTS, SHAPE_CHUNKS, SHAPE_CONTENT, 16]),
        label: input.one_of(&[0, 1]),
        comments: input.one_of(&[COMMENTS_KEEP, COMMENTS_KEEP, COMMENTS_DROP, COMMENTS_CHUNK, 3]),
        reserved: input.one_of(&[0, 0, 0, 0, 0, 0, 0, 1]),
    };
    let mut given = Version::given(input, options);
    let at = if most & 31 == 31 { ptr::null_mut() } else { given.at() };
    let mut max_tools = 0;
    let rust = match at.is_null() {
        true => Ok(Options::new()),
        false if given.has_more() || !is_version(options.size, size_of::<usize>()) => Err(()),
        false => {
            let options = given.get();
            let read = match options.answer.is_null() {
                true => Ok(answer::Options::new()),
                false => {
                    let (read, limit) = super::answer::read(&mut inner);
                    max_tools = limit;
                    let is_refused = inner.get().may_take_back > 0 || inner.get().inline_calls > 0;
                    read.and_then(|read| if is_refused { Err(()) } else { Ok(read) })
                }
            };
            read.and_then(|read| mirror(&options, read))
        }
    };
    let rust = rust.and_then(|options| Rewriter::new(&pair.library, &options).map_err(|_| ()));
    let name = &pair.reference.name;
    unsafe {
        let sse = aside_rewriter_new(aside_dialect_find(name.as_ptr(), name.len()), at);
        assert_eq!(!sse.is_null(), rust.is_ok(), "{}", aside_last_status());
        match rust {
            Ok(rust) => {
                calls(input, pair, sse, rust, max_tools);
                aside_rewriter_free(sse);
            }
            Err(()) => {
                let is_version = |size| is_version(size, size_of::<usize>());
                let wanted = if is_version(options.size) { OPTION } else { SIZE };
                let is_inner = aside_last_status() == SIZE && !is_version(inner.get().size);
                assert!(is_inner || aside_last_status() == wanted);
            }
        }
    }
}

/// Returns the options for Rust.
fn mirror(options: &RewriterOptions, answer: answer::Options) -> Result<Options, ()> {
    let is = |number: u32| match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(()),
    };
    let limit = |number: u64| (number > 0).then_some(number as usize);
    let fields = [Field::ReasoningContent, Field::Reasoning, Field::Thinking];
    let bodies = [Body::Unknown, Body::Events, Body::Json, Body::Lines];
    if options.reserved != 0 {
        return Err(());
    }
    Ok(Options::new()
        .answer(answer)
        .field(*fields.get(options.field as usize).ok_or(())?)
        .body(*bodies.get(options.body as usize).ok_or(())?)
        .off(is(options.off)?)
        .max_event(limit(options.max_event))
        .calls(is(options.calls)?)
        .formats(formats_of(options.formats).ok_or(())?)
        .responses_as(match is(options.responses_as)? {
            true => ResponsesAs::Summary,
            false => ResponsesAs::ReasoningText,
        })
        .repair(is(options.repair)?)
        .merge(is(options.merge)?)
        .normalise(Shapes::from_bits(options.normalise).ok_or(())?)
        .label(is(options.label)?)
        .comments(*[Comments::Keep, Comments::Drop, Comments::Chunk].get(options.comments as usize).ok_or(())?))
}

/// Returns the formats of these bits, or `None` if a bit belongs to no format.
fn formats_of(bits: u32) -> Option<Formats> {
    let all = [Formats::CHAT, Formats::COMPLETIONS, Formats::RESPONSES, Formats::MESSAGES, Formats::OLLAMA];
    let named = all.into_iter().filter(|format| bits & format.bits() != 0);
    match bits {
        0 | FORMAT_ALL => Some(Formats::ALL),
        1..32 => named.reduce(|one, other| one | other),
        _ => None,
    }
}

fn status_of<T>(result: &Result<T, Error>) -> i32 {
    match result {
        Ok(_) => OK,
        Err(Error::StreamBegun) => ORDER,
        Err(Error::NoSuchStart) => OPTION,
        Err(error) => panic!("{error}"),
    }
}

/// Sets the start, the dialect and the tools of the next stream.
unsafe fn begin(input: &mut Input<'_>, pair: &Pair, sse: Handle, rust: &mut Rewriter, max_tools: u64) {
    let mut start = 77;
    unsafe {
        match input.below(4) {
            0 => {
                let number = input.one_of(&STARTS);
                let got = aside_rewriter_use_dialect(sse, ptr::null_mut(), number);
                let used = |rust: &mut Rewriter| rust.use_dialect(None, start_of(number));
                assert_eq!(got, if number > START_CALLS { OPTION } else { status_of(&used(rust)) });
                assert_eq!(aside_rewriter_use_dialect(ptr::null_mut(), ptr::null_mut(), number), NULL);
            }
            1 => {
                let other = BUILT_IN[input.below(256) % BUILT_IN.len()];
                let (name, number) = (&other.reference.name, input.one_of(&STARTS));
                let got = aside_rewriter_use_dialect(sse, aside_dialect_find(name.as_ptr(), name.len()), number);
                let used = |rust: &mut Rewriter| rust.use_dialect(&other.library, start_of(number));
                assert_eq!(got, if number > START_CALLS { OPTION } else { status_of(&used(rust)) });
            }
            2 => {
                let text = tools_of(TOOLS[input.below(TOOLS.len())]);
                let got = aside_rewriter_use_tools(sse, text.at, text.len);
                let wanted = tools_read(text, max_tools).map(|tools| status_of(&rust.use_tools(tools)));
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

/// A function that returns its output in this way.
type Call<'a> = &'a dyn Fn(*mut Bytes) -> i32;

unsafe fn calls(input: &mut Input<'_>, pair: &Pair, sse: Handle, mut rust: Rewriter, max_tools: u64) {
    for _ in 0..64 {
        let mut wanted = Vec::new();
        let same = |call: Call<'_>, wanted: &[u8]| unsafe {
            let mut out = Bytes { at: ptr::null(), len: usize::MAX };
            assert_eq!(call(&mut out), OK);
            assert_eq!(out.get(), wanted);
        };
        let way = input.byte();
        match way {
            0..8 => return,
            8..40 => unsafe { begin(input, pair, sse, &mut rust, max_tools) },
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
                let stats: RewriterStats = filled(|at| aside_rewriter_get_stats(sse, at)).unwrap();
                is_counted(&stats, &rust.stats());
                assert_eq!(aside_rewriter_get_stats(sse, ptr::null_mut()), NULL);
                assert_eq!(aside_rewriter_get_stats(ptr::null_mut(), &mut RewriterStats::default()), NULL);
                gate(input);
                let mut out = Bytes { at: ptr::null(), len: 7 };
                assert_eq!(aside_rewriter_feed(ptr::null_mut(), ptr::null(), 0, &mut out), NULL);
                assert_eq!(aside_rewriter_feed(sse, ptr::null(), 1, &mut out), NULL);
                assert_eq!(aside_rewriter_feed(sse, b"x".as_ptr(), usize::MAX, &mut out), LENGTH);
                assert_eq!(aside_rewriter_feed(sse, b"x".as_ptr(), 1, ptr::null_mut()), NULL);
                assert_eq!(aside_rewriter_finish(ptr::null_mut(), &mut out), NULL);
                assert_eq!(aside_rewriter_finish(sse, ptr::null_mut()), NULL);
                assert!(out.at.is_null() && out.len == 7, "written on a failure");
                assert_eq!(aside_rewriter_use_tools(sse, ptr::null(), 1), NULL);
                assert_eq!(aside_rewriter_use_tools(sse, b"x".as_ptr(), usize::MAX), LENGTH);
                assert_eq!(aside_rewriter_start_from_prompt(sse, ptr::null(), 1, ptr::null_mut()), NULL);
                assert_eq!(aside_rewriter_reset(ptr::null_mut()), NULL);
                assert!(aside_rewriter_new(ptr::null_mut(), ptr::null()).is_null() && aside_last_status() == NULL);
                aside_rewriter_free(ptr::null_mut());
            },
        }
    }
}

fn is_counted(got: &RewriterStats, stats: &Stats) {
    // All fields have 8 bytes, except for `encoded` with 4 and the 4 reserved ones after it, which are 0.
    let wanted = [size_of::<RewriterStats>() as u64].into_iter().chain(stats.counts().map(|(_, count)| count));
    let wanted: Vec<u8> = wanted.flat_map(u64::to_ne_bytes).collect();
    assert_eq!(Version::new(*got).bytes(), wanted, "not {stats:?}");
}

/// Tests the functions that decide which answers a rewriter must read, with partly valid texts.
fn gate(input: &mut Input<'_>) {
    let bits = [input.byte().into(), 0, FORMAT_ALL, u32::MAX][usize::from(input.byte() & 31).saturating_sub(28)];
    let formats = formats_of(bits);
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
    let exchange = Exchange {
        size: size::<Exchange>(input),
        status,
        formats: bits,
        method: Bytes::of(&method),
        path: Bytes::of(&path),
        content_type: Bytes::of(&media_type),
        content_encoding: Bytes::of(&encoding),
    };
    let mut given = Version::given(input, exchange);
    let (mut found, mut hint, mut room, mut len) = (77, 77, [0; 8], 77);
    let rust = aside::sse::Exchange::new().status(status).method(&method).path(&path);
    let rust = rust.content_type(&media_type).content_encoding(&encoding);
    let wanted = formats.map(|formats| aside::sse::wants(&rust.formats(formats)).map(|body| body as u32));
    let hinted = formats.map(|formats| aside::sse::request_hint(&rust.formats(formats)).map(|hint| hint as u32));
    let refused = if !is_version(exchange.size, size_of::<Exchange>()) { SIZE } else { OPTION };
    let is_read = refused == OPTION && !given.has_more();
    let told = |value: Option<Option<u32>>| match value {
        Some(Some(value)) if is_read => (OK, value),
        Some(None) if is_read => (NONE, 77),
        _ => (refused, 77),
    };
    unsafe {
        assert_eq!((aside_rewriter_wants(given.at(), &mut found), found), told(wanted));
        assert_eq!((aside_request_hint(given.at(), &mut hint), hint), told(hinted));
        let mut good = Exchange { size: size_of::<Exchange>(), formats: FORMAT_ALL, ..exchange };
        assert_eq!(aside_rewriter_wants(ptr::null(), &mut found), NULL);
        assert_eq!(aside_rewriter_wants(&good, ptr::null_mut()), NULL);
        assert_eq!(aside_request_hint(ptr::null(), &mut hint), NULL);
        assert_eq!(aside_request_hint(&good, ptr::null_mut()), NULL);
        good.path.len = usize::MAX;
        assert_eq!(aside_rewriter_wants(&good, &mut found), LENGTH);
        good.path = Bytes { at: ptr::null(), len: 1 };
        assert_eq!(aside_request_hint(&good, &mut hint), NULL);
        let mut request: Request = std::mem::zeroed();
        (request.size, request.thinking) = (size_of::<Request>(), 77);
        let status = aside_request_read(given.at(), body.as_ptr(), body.len(), &mut request);
        match formats.filter(|_| is_read) {
            Some(_) => {
                let read = aside::sse::read_request(&rust, &body);
                let thinks = read.thinks.map_or(0, |thinks| if thinks { 1 } else { 2 });
                assert_eq!((status, request.thinking, request.thinks), (OK, read.thinking as u32, thinks));
                assert_eq!(request.tools.len, read.tools.unwrap_or("[]").len());
            }
            None => assert_eq!((status, request.thinking), (refused, 77)),
        }
        let status = aside_request_model(body.as_ptr(), body.len(), room.as_mut_ptr(), room.len(), &mut len);
        match aside::sse::request_model(&body, &mut [0; 8]) {
            RequestModel::Found(model) => assert_eq!((status, &room[..len]), (OK, model.as_bytes())),
            RequestModel::More => assert_eq!((status, len), (MORE, 77)),
            RequestModel::None => assert_eq!((status, len), (NONE, 77)),
        }
    }
}
