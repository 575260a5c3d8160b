//! Mends event streams: the output must be that of a simple program for whole streams (`repair_reference.py`), byte for byte and at
//! every cut. The rewriter splits the text after mending.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use aside::Dialect;
use aside::sse::{Body, Formats, Options, Rewriter};
use samples::Random;
use support::rewriting::rewrite_bytes;

// ----------------------------------------------------------------------------------------------------------- the reference

/// Returns the mended form of streams, as `repair_reference.py` defines it, or `None` if there is no Python here.
fn references(streams: &[String]) -> Option<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/repair_reference.py");
    let mut python = Command::new("python3");
    let python = python.arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = python else {
        let _ = writeln!(std::io::stderr(), "skipped: no python3");
        return None;
    };
    let mut input = Vec::new();
    for stream in streams {
        input.extend((stream.len() as u32).to_le_bytes());
        input.extend(stream.bytes());
    }
    // The program reads all input before it writes anything.
    python.stdin.take().unwrap().write_all(&input).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let (mut rest, mut mended) = (&output.stdout[..], Vec::new());
    while let Some((size, after)) = rest.split_first_chunk::<4>() {
        let (stream, after) = after.split_at(u32::from_le_bytes(*size) as usize);
        mended.push(String::from_utf8(stream.to_vec()).unwrap());
        rest = after;
    }
    assert_eq!(mended.len(), streams.len());
    Some(mended)
}

// ------------------------------------------------------------------------------------------------------------- running

fn foreign() -> Dialect {
    let text = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\u{1F512}\u{1F512}\"]\nclose = [\"\u{1F513}\"]";
    Dialect::load(text).unwrap()
}

fn events() -> Options {
    Options::new().body(Body::Events).repair(true)
}

/// Returns options for recordings of all servers: all events are mended, but only chat is split.
fn chat_events() -> Options {
    events().formats(Formats::CHAT)
}

#[track_caller]
fn same(wanted: &str, got: &[u8], stream: &str) {
    if wanted.as_bytes() != got {
        let got = got.escape_ascii();
        panic!("{}\n  wanted {}\n  got    {got}", stream.escape_debug(), wanted.as_bytes().escape_ascii());
    }
}

/// Checks a stream at every cut in two, or at some cuts if it is long, and byte by byte. Checks also that a second pass does not
/// change mended events.
#[track_caller]
fn check(options: &Options, stream: &str, wanted: &str) {
    let bytes = stream.as_bytes();
    let foreign = foreign();
    let qwen3 = Dialect::find("qwen3").unwrap();
    // Only chat, because in Messages the starts of text blocks would be held with every dialect.
    let chat = options.clone().formats(Formats::CHAT);
    let off = options.clone().repair(false);
    let split = String::from_utf8(rewrite_bytes(&qwen3, &off, &[wanted.as_bytes()])).unwrap();
    for chunks in support::cuts(bytes) {
        same(wanted, &rewrite_bytes(&foreign, &chat, &chunks), stream);
        same(&split, &rewrite_bytes(&qwen3, options, &chunks), stream);
    }
    same(wanted, &rewrite_bytes(&foreign, &chat, &[wanted.as_bytes()]), "what is mended");
}

// ----------------------------------------------------------------------------------------------------------------- tests

const CHUNK: &str = r#"{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hm"}}]}"#;

/// Returns the events that make clients fail, and their repaired form.
fn table() -> Vec<(String, String)> {
    let chunk = format!("data: {CHUNK}\n\n");
    let changes = [
        ("", ""),
        // Empty data, and comments.
        ("data:\n\n", ":\n\n"),
        ("data\n\n", ":\n\n"),
        ("data: \t \n\n", ":\n\n"),
        ("data: : keepalive\n\n", ": keepalive\n\n"),
        ("data::\n\n", ": \n\n"),
        ("data: ::: a : b\n\n", ": a : b\n\n"),
        // Lines for resuming a stream, and unknown lines.
        ("id: 7\n\n", ""),
        ("retry: 10\nid\n\n", ""),
        ("event: ping\n\n", ""),
        ("id: 7\ndata: 1\nretry: 5\n\n", "data: 1\n\n"),
        ("what: 7\n data: 2\ndata2: 3\nevents: a\ndata: 1\n\n", "data: 1\n\n"),
        // Lines without a field: text, JSON, and data whose name was lost.
        ("Internal Server Error\n\n", "Internal Server Error\n\n"),
        ("one\r\ndata: 1\r\ntwo\r\n\r\n", "one\ntwo\n\ndata: 1\n\n"),
        ("{\"a\":1}\n\n", "{\"a\":1}\n\n"),
        ("{\n \"a\": [\n  1\n ]\n}\n\n", "{\n \"a\": [\n  1\n ]\n}\n\n"),
        ("{\"object\":\"chat.completion\",\"choices\":[]}\n\n", "{\"object\":\"chat.completion\",\"choices\":[]}\n\n"),
        ("{\"choices\":[]}\n\n", "data: {\"choices\":[]}\n\n"),
        ("{\"choices\":[]}\n{\"type\":\"ping\"}\n\n", "data: {\"choices\":[]}\n\ndata: {\"type\":\"ping\"}\n\n"),
        ("event: ping\n{\"type\":\"ping\"}\n\n", "event: ping\ndata: {\"type\":\"ping\"}\n\n"),
        ("{\"error\":{\"message\":\"no\"}}\n\n", "data: {\"error\":{\"message\":\"no\"}}\n\n"),
        ("[ERROR] no: 1\n\n", "data: [ERROR] no: 1\n\n"),
        // Errors of older builds of llama.cpp.
        (
            "error: {\"code\":500,\"message\":\"no\"}\n\n",
            "event: error\ndata: {\"error\":{\"code\":500,\"message\":\"no\"}}\n\n",
        ),
        ("error:{\"error\": {}}\r\n\r\n", "event: error\ndata: {\"error\": {}}\n\n"),
        ("error: a \"b\"\n\n", "event: error\ndata: {\"error\":{\"message\":\"a \\\"b\\\"\"}}\n\n"),
        ("data: 1\nerror: 2\n\n", "data: 1\n\nevent: error\ndata: {\"error\":2}\n\n"),
        // Line ends.
        ("data: 1\r\rdata: 2\r\n\r\ndata: 3\n\r\n\r:a\r\n\r\n", "data: 1\n\ndata: 2\n\ndata: 3\n\n:a\n\n"),
        ("\n\r\n\r\r\ndata: 1\n\n\n\n\r\r\n", "data: 1\n\n"),
        ("\r\n \t\n\tdata: 0\ndata: 1\n\n", "data: 1\n\n"),
        // Data over several lines.
        ("data: {\"a\":\ndata: 1,\ndata:  \"b\":[]}\n\n", "data: {\"a\": 1,  \"b\":[]}\n\n"),
        ("data: {\"a\":\"x\ndata: y\"}\n\n", "data: {\"a\":\"x y\"}\n\n"),
        ("data:one\ndata\ndata:  two \n\n", "data: one\ndata: \ndata:  two \n\n"),
        ("data:\ndata:{\"a\":1}\ndata:\n\n", "data: {\"a\":1}\n\n"),
        ("data: {\"a\":1}\ndata:{\"b\":2} \n\n", "data: {\"a\":1}\n\ndata: {\"b\":2}\n\n"),
        ("event: x\ndata: {\"a\":1}\ndata: {}\nevent: y\n\n", "event: x\nevent: y\ndata: {\"a\":1}\n\n: x\n\n"),
        ("data: {\"a\":1}\ndata:\ndata: [DONE]\ndata: {}\n\ndata: 1\n\n", "data: {\"a\":1}\n\ndata: [DONE]\n\n"),
        ("data:\ndata: \n\n", ":\n\n"),
        ("data: [1]\ndata: [2]\n\n", "data: [1]\ndata: [2]\n\n"),
        // A byte order mark.
        ("\u{FEFF}data: 1\n\n\u{FEFF}data: 2\n\n", "data: 1\n\n"),
        ("\u{FEFF}\n:a\ndata: 1\n\n", ":a\n\ndata: 1\n\n"),
        ("\u{FEFF}:a\r\ndata: 1\r\n\r\n", ":a\n\ndata: 1\n\n"),
        ("\u{FEFF}", ""),
        // Chunks without choices.
        (
            "data: {\"object\":\"chat.completion.chunk\",\"usage\":{\"n\":{}} } \n\n",
            "data: {\"object\":\"chat.completion.chunk\",\"usage\":{\"n\":{}} ,\"choices\":[]}\n\n",
        ),
        (
            "data: {\"object\":\"chat.completion.chunk\",\"choic\\u0065s\":null}\n\n",
            "data: {\"object\":\"chat.completion.chunk\",\"choic\\u0065s\":[]}\n\n",
        ),
        ("data: {\"object\":\"chat.completion\"}\n\n", "data: {\"object\":\"chat.completion\"}\n\n"),
        ("data: {\"error\":{\"message\":\"no\"}}\n\n", "data: {\"error\":{\"message\":\"no\"}}\n\n"),
        // Empty objects.
        ("event: ping\ndata: {}\n\n", ": ping\n\n"),
        ("data: { }\n\n", ": \n\n"),
        ("event\ndata: {}\n\n", ": \n\n"),
        ("event: ping\ndata: {\"type\": \"ping\"}\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        // Other ids.
        (
            "data: {\"choices\":[],\"id\":\"\"}\n\ndata: {\"choices\":[{\"id\":\"no\"}],\"id\" : \"a\"}\n\ndata: {\"x\":\"id\",\"id\" : \"b\" ,\"choices\":[{\"id\":\"b\"}]}\n\n",
            "data: {\"choices\":[],\"id\":\"\"}\n\ndata: {\"choices\":[{\"id\":\"no\"}],\"id\" : \"a\"}\n\ndata: {\"x\":\"id\",\"id\" : \"a\" ,\"choices\":[{\"id\":\"b\"}]}\n\n",
        ),
        (
            "data: {\"id\":\"x\"}\n\ndata: {\"id\":\"a\",\"choices\":null}\n\ndata: {\"id\":\"b\",\"object\":\"chat.completion.chunk\"}\n\ndata: {\"id\":\"x\"}\n\n",
            "data: {\"id\":\"x\"}\n\ndata: {\"id\":\"a\",\"choices\":[]}\n\ndata: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\ndata: {\"id\":\"x\"}\n\n",
        ),
        // Reasons to finish.
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[]},\"finish_reason\":\"tool_calls\"}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[]},\"finish_reason\":\"stop\"}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":2,\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\ndata: {\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\": \"stop\"}]}\n\n",
            "data: {\"choices\":[{\"index\":2,\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\ndata: {\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\": \"tool_calls\"}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":3,\"delta\":{\"function_call\":{\"name\":\"f\"}},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"choices\":[{\"index\":3,\"delta\":{\"function_call\":{\"name\":\"f\"}},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"index\":3,\"delta\":{},\"finish_reason\":\"function_call\"}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"function_call\":null},\"finish_reason\":\"function_call\"}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"function_call\":null},\"finish_reason\":\"stop\"}]}\n\n",
        ),
        // Thinking and content in one chunk.
        (
            "event: e\ndata: {\"usage\":{\"n\":1},\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\", \"content\":\"It\",\"x\":1,\"reasoning\" : \"B\"},\"finish_reason\":\"length\"}]}\n\n",
            "event: e\ndata: {\"usage\":null,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"reasoning\" : \"B\"},\"finish_reason\":null}]}\n\nevent: e\ndata: {\"usage\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It\",\"x\":1},\"finish_reason\":null}]}\n\nevent: e\ndata: {\"usage\":{\"n\":1},\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It\",\"reasoning\":\"\"}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It\",\"reasoning\":\"\"}}]}\n\n",
        ),
        // Null, an empty finish reason, and a finish reason in a chunk with text.
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":null,\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":null}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"logprobs\":{\"x\":1},\"finish_reason\":\"stop\"}],\"usage\":{\"n\":1}}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"logprobs\":{\"x\":1},\"finish_reason\":null}],\"usage\":null}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"n\":1}}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[{}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{}}]}\n\ndata: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[{}]}\n\n",
        ),
        // A field name that was written twice, or otherwise.
        (
            "Data: {\"a\":1}\n\n data : {\"a\":1}\n\ndata {\"a\":1}\n\ndataset: 1\n\n",
            "data: {\"a\":1}\n\ndata: {\"a\":1}\n\ndata: {\"a\":1}\n\n",
        ),
        ("data: data: {\"a\":1}\ndata:\ndata:\n\ndata: data: [DONE]\ndata:\n\n", "data: {\"a\":1}\n\ndata: [DONE]\n\n"),
        ("data: data: no\n\n", "data: data: no\n\n"),
        // Calls: the same index for all, no index, arguments that are not a string. Calls that are right stay.
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"1\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"2\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"3\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"1\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"2\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"3\"}}]}}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"1\"}},{\"function\":{\"arguments\":\"2\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"g\",\"arguments\":\"3\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":null,\"id\":\"a\"}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"1\"}},{\"index\":0,\"function\":{\"arguments\":\"2\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"name\":\"g\",\"arguments\":\"3\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\"}]}}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{\"x\": \"\\\"y\"}}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": \\\"\\\\\\\"y\\\"}\"}}]}}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1\"}},{\"index\":1,\"function\":{\"arguments\":\"2\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"vary\",\"function\":{\"arguments\":\"3\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1\"}},{\"index\":1,\"function\":{\"arguments\":\"2\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"vary\",\"function\":{\"arguments\":\"3\"}}]}}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":\"0\",\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":null}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":-1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":[1]}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0.0,\"function\":{\"arguments\":\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"[1]\"}}]}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"\"}}]}}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0}]},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0}]},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"},\"finish_reason\":\"tool_calls\"}]}\n\n",
        ),
        (
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":{\"x\":1}}}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":1}\"}}\n\n",
        ),
        (
            "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"arguments\":{\"x\":1}}}\n\ndata: {\"type\":\"response.function_call_arguments.done\",\"arguments\":{\"x\":1}}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"arguments\":\"{\\\"x\\\":1}\"}}\n\ndata: {\"type\":\"response.function_call_arguments.done\",\"arguments\":\"{\\\"x\\\":1}\"}\n\n",
        ),
        // A message that begins twice; blocks of blanks, of which one is left out if another follows.
        (
            "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\ndata: {\"type\":\"message_stop\"}\n\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n",
            "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\ndata: {\"type\":\"message_stop\"}\n\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n",
        ),
        (
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\n\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        ),
        (
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\"}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\"}\n\n",
        ),
        (
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"ping\"}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" \"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"ping\"}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" \"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
        ),
        (
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\n\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\n\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n",
        ),
        // Reasoning items of Responses without a summary.
        (
            "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\"}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"reasoning\",\"summary\":null},{\"type\":\"message\"}]}}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\",\"summary\":[]}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"reasoning\",\"summary\":[]},{\"type\":\"message\"}]}}\n\n",
        ),
        // Blocks of Messages: an index twice, a delta without a start, a start before the stop, an end before the stop.
        (
            "event: m\ndata: {\"type\":\"content_block_start\",\"index\":0}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\": 0 }\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\"}}\n\nevent: m\ndata: {\"type\":\"content_block_start\",\"index\":7}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\"}\n\n",
            "event: m\ndata: {\"type\":\"content_block_start\",\"index\":0}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\": 1 }\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\nevent: m\ndata: {\"type\":\"content_block_start\",\"index\":2}\n\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\ndata: {\"type\":\"message_delta\"}\n\n",
        ),
        (
            "event: m\ndata: {\"type\":\"content_block_delta\",\"index\":4,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":5,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"b\"}}\n\ndata: {\"type\":\"message_start\"}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: m\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"b\"}}\n\ndata: {\"type\":\"message_start\"}\n\n",
        ),
        // Calls whose arguments are mixed: the events of a block wait until the block before has ended.
        (
            "event: s\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\nevent: t\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"g\"}}\n\nevent: a\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":\"}}\n\nevent: b\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: c\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\nevent: d\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"}\"}}\n\nevent: e\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: f\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
            "event: s\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\nevent: a\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":\"}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: c\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: t\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"g\"}}\n\nevent: b\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\nevent: d\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"}\"}}\n\nevent: f\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
        ),
        (
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\"}}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\ndata: {\"type\":\"message_delta\"}\n\n",
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\ndata: {\"type\":\"message_delta\"}\n\n",
        ),
        // Events after the end.
        (
            "event: x\ndata: [DONE] \n\ndata: {\"a\":1}\n\n:a\ndata: 1\n\nid: 7\n\n: b\n",
            "data: [DONE]\n\n:a\n\n: b\n\n",
        ),
        // Comments.
        (":a\n:b\n\n:c\ndata: 1\n:d\nevent: x\n: e\n\n", ":a\n:b\n\n:c\n:d\n: e\n\nevent: x\ndata: 1\n\n"),
        (":a\r\n:b\r\n\r\n:c\rdata: 1\r\r", ":a\n:b\n\n:c\n\ndata: 1\n\n"),
        // Incomplete events.
        ("data: 1", ""),
        ("data: 1\n", ""),
        ("data: 1\r\n", ""),
        ("data: [1]\n", ""),
        ("data: {\"a\":1}", "data: {\"a\":1}\n\n"),
        ("event: x\ndata: {\"a\":1}\r", "event: x\ndata: {\"a\":1}\n\n"),
        ("data: {\"a\":\ndata:1}", "data: {\"a\": 1}\n\n"),
        ("data: {\"a\":1\n", ""),
        ("data: 1\ndata: 2\n", ""),
        ("data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\n"),
        ("data: {\"a\":1}\ndata: {\"b\"", "data: {\"a\":1}\n\n"),
        ("data: [DONE]", "data: [DONE]\n\n"),
        ("data:", ":\n\n"),
        ("data: {}", ": \n\n"),
        (":a", ":a\n\n"),
        (":a\ndata: 1", ":a\n\n"),
        ("da", ""),
        ("Internal Server Error", "Internal Server Error\n\n"),
        ("{\"a\":1}", "{\"a\":1}\n\n"),
        ("{\"choices\":[]}", "data: {\"choices\":[]}\n\n"),
        ("{\"choices\"", ""),
        ("[DONE]", "data: [DONE]\n\n"),
        ("error: {}", "event: error\ndata: {\"error\":{}}\n\n"),
        (" ", ""),
        ("\n", ""),
    ];
    let mut table: Vec<(String, String)> =
        changes.iter().map(|&(stream, wanted)| (stream.to_owned(), wanted.to_owned())).collect();
    // The changes of events other than chunks, between two chunks.
    for (stream, wanted) in changes {
        if stream.ends_with("\n\n") && !stream.contains("DONE") && !stream.contains("\"id\"") {
            let stream = stream.trim_start_matches('\u{FEFF}');
            table.push((format!("{chunk}{stream}{chunk}"), format!("{chunk}{wanted}{chunk}")));
        }
    }
    table
}

#[test]
fn what_makes_clients_fail_is_mended() {
    for (stream, wanted) in table() {
        check(&events(), &stream, &wanted);
        // Without the setting that the input is events, a stream that begins with an object may be a body.
        if !stream.starts_with('{') {
            check(&Options::new().repair(true), &stream, &wanted);
        }
    }
}

#[test]
fn the_reference_says_the_same_of_what_is_mended() {
    let (streams, wanted): (Vec<_>, Vec<_>) = table().into_iter().unzip();
    let Some(references) = references(&streams) else { return };
    for ((stream, wanted), reference) in streams.iter().zip(&wanted).zip(references) {
        same(&reference, wanted.as_bytes(), stream);
    }
}

#[test]
fn without_the_option_nothing_changes() {
    for (stream, _) in table() {
        let out = rewrite_bytes(&foreign(), &chat_events().repair(false), &[stream.as_bytes()]);
        same(&stream, &out, &stream);
    }
}

#[test]
fn bodies_and_lines_stay() {
    let body = "\r\n\n {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\r\n\"usage\":{}}\r\n\r\n";
    for kind in [Body::Unknown, Body::Json, Body::Lines] {
        let options = Options::new().repair(true).body(kind);
        for chunks in [vec![body.as_bytes()], support::bytes(body.as_bytes())] {
            same(body, &rewrite_bytes(&foreign(), &options, &chunks), body);
        }
    }
    // A compressed body is not an event stream.
    let gzip = b"\x1F\x8B\x08\r\r\n\0data: \n\n";
    assert_eq!(rewrite_bytes(&foreign(), &events(), &[gzip]), gzip);
    let off = events().off(true);
    assert_eq!(rewrite_bytes(&foreign(), &off, &[b"data:\r\r"]), b"data:\r\r");
}

#[test]
fn bytes_that_are_no_text_stay() {
    let stream = b":\xFF\ndata: {\"id\":\"\xFF\",\"choices\":[]}\r\rdata:\xFE\rdata:\r\rdata: {\"choices\":[],\"id\":\"\xFE\"}\n\n";
    let wanted = b":\xFF\n\ndata: {\"id\":\"\xFF\",\"choices\":[]}\n\ndata: \xFE\ndata: \n\ndata: {\"choices\":[],\"id\":\"\xFF\"}\n\n";
    for chunks in support::cuts(stream) {
        assert_eq!(rewrite_bytes(&foreign(), &events(), &chunks), wanted);
    }
}

#[test]
fn a_comment_leaves_when_its_line_ends() {
    let mut rewriter = Rewriter::new(&foreign(), &events()).unwrap();
    let mut out = Vec::new();
    for (chunk, wanted) in [
        (":a\n", ":a\n"),
        (":b\r", ":b\n"),
        ("\n", ""),
        ("\r", "\n"),
        ("\n: c\ndata: 1", ": c\n"),
        ("\n:d\n", ""),
        ("\n", ":d\n\ndata: 1\n\n"),
        ("data: [DONE]\n\n: e\n", "data: [DONE]\n\n: e\n"),
        ("data: 1\n\n", "\n"),
    ] {
        rewriter.feed(chunk, &mut out).unwrap();
        same(wanted, &out, chunk);
        out.clear();
    }
    // A finish and a reset begin a new stream.
    for reset in [false, true] {
        match reset {
            false => rewriter.finish(&mut out).unwrap(),
            true => rewriter.reset(),
        }
        rewriter.feed("\u{FEFF}data:\n\ndata: {\"id\":\"b\",\"choices\":[]}\n\ndata: [DONE]\n\n", &mut out).unwrap();
        same(":\n\ndata: {\"id\":\"b\",\"choices\":[]}\n\ndata: [DONE]\n\n", &out, "a new stream");
        out.clear();
    }
}

#[test]
fn events_that_are_too_long_pass_unread() {
    let long = format!("data:{}\r\n", "x".repeat(60));
    let stream = format!(":a\r\n{long}{long}\r\ndata:\r\n\r\n:{long}\r\ndata: [DONE]\n\n{long}\n:{long}\ndata:1\n\n");
    let short = long.replace("\r\n", "\n");
    let wanted = format!(":a\n\n{short}{short}\n:\n\n:{short}\ndata: [DONE]\n\n:{short}\n");
    let options = events().max_event(50);
    let bytes = stream.as_bytes();
    let whole = rewrite_bytes(&foreign(), &options, &[bytes]);
    same(&wanted, &whole, &stream);
    for chunks in support::cuts(bytes) {
        same(&wanted, &rewrite_bytes(&foreign(), &options, &chunks), &stream);
    }
}

#[test]
fn what_is_mended_or_left_out_is_counted() {
    let stream = "\u{FEFF}data: 1\r\n\r\n: a\n\ndata: 2\n\n\n:b\r\n:c\ndata: 3\n:d\n\nid: 7\n\ndata: [DONE]\n\ndata: 4\n\ndata: 5";
    for chunks in [vec![stream.as_bytes()], support::bytes(stream.as_bytes())] {
        let mut rewriter = Rewriter::new(&foreign(), &events()).unwrap();
        let mut out = Vec::new();
        chunks.iter().for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
        rewriter.finish(&mut out).unwrap();
        // The first event, the comment `b`, the event with a comment inside, the id, and the text after the end.
        assert_eq!(rewriter.stats().repaired, 6, "{}", out.escape_ascii());
        rewriter.reset();
        assert_eq!(rewriter.stats().repaired, 0);
    }
    // A block that begins with blanks is held, which is not counted as mending.
    let start =
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let delta =
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n";
    for (stream, wanted) in
        [(format!("{start}{delta}"), 0), (format!("{start}: a\n\n"), 0), (format!("{start}{start}"), 1)]
    {
        let mut rewriter = Rewriter::new(&foreign(), &chat_events()).unwrap();
        let mut out = Vec::new();
        rewriter.feed(&stream, &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        assert_eq!(rewriter.stats().repaired, wanted, "{stream}");
    }
}

/// Returns a stream of lines that servers send, some of them wrong.
fn random_stream(random: &mut Random) -> String {
    const LINES: &[&str] = &[
        "data:",
        "data",
        "data: ",
        "data: : keepalive",
        "data::",
        "data: {}",
        "data: { }",
        "data: [DONE]",
        "data:[DONE]",
        "data: not JSON",
        "data: {\"a\":",
        "data: 1}",
        "data: \"b\":2}",
        "data:{\"a\":1}",
        "data:  {\"a\": [1, {}]} \t",
        "data: {\"error\":{\"message\":\"no\"}}",
        "data: null",
        "data: [1]",
        ":",
        ": a",
        ":b:",
        "id: 7",
        "id",
        "retry: 5",
        "event: ping",
        "event:x",
        "event",
        "event:  two ",
        "events: no",
        "dat",
        "data2: no",
        "error: {\"code\":500}",
        "error: no",
        "error",
        "[DONE]",
        "[ERROR] no",
        "{\"a\":1}",
        "{\"choices\":[]}",
        "{\"type\":\"ping\"}",
        "Bad Gateway",
        " data: no",
        " ",
        "\t",
        "data: {\"type\":\"ping\"}",
        "data: {\"choices\":[],\"id\":\"\"}",
        "data: {\"id\":null,\"choices\":null}",
        "data: {\"object\":\"chat.completion.chunk\",\"id\":\"u\",\"usage\":{\"id\":\"v\"}}",
        "data: {\"object\":\"chat.completion.chunk\"}",
        "data: {\"object\":\"chat.completion\",\"id\":\"n\"}",
        "data: {\"id\":\"w\",\"choices\":[{\"id\":\"x\",\"index\":0,\"delta\":{\"content\":\"<think>\"}}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\\\"id\\\":m \\u00e9\"}}],\"id\" : \"y\" ,\"n\":[\"id\"]}",
        "data: {\"id\":\"z\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"</think>\\n\"}},{\"index\":1,\"delta\":{\"content\":\"é<\"}}]}",
        "data: {\"id\":\"w\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a <\"},\"finish_reason\":\"stop\"}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\",\"reasoning\":\"b\"},\"finish_reason\":\"tool_calls\"}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\"}]},\"finish_reason\":null}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"function_call\":{\"name\":\"f\"}},\"finish_reason\":\"stop\"}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"function_call\"}]}",
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
        "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"a\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"b\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}",
        "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"g\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"}\"}}",
        "data: {\"type\":\"content_block_stop\",\"index\":0}",
        "data: {\"type\":\"content_block_stop\",\"index\":1}",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}",
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"n\"}}",
        "data: {\"type\":\"message_stop\"}",
        "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\" \"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\n\"}}",
        "data: {\"type\":\"content_block_stop\",\"index\":2}",
        "data: data: {\"a\":1}",
        "data:  data:data: [DONE]",
        "data: data: no",
        " Data: {\"a\":1}",
        "data {\"b\":2}",
        "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":\"1\",\"id\":\"v\",\"function\":{\"name\":\"f\",\"arguments\":null}}]},\"finish_reason\":\"stop\"}]}",
        "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":{\"a\":1}}}",
        "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"arguments\":{\"a\":\"b\"}}}",
        "data: {\"choices\":[{\"index\":0,\"delta\":null,\"finish_reason\":\"stop\"}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}",
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"role\":\"assistant\"},\"finish_reason\":\"stop\",\"logprobs\":{}}],\"usage\":{}}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"y\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"id\":\"z\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\": \"\\\"\"}}}, { }]}}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"1\"}}],\"reasoning\":\"b\",\"content\":\"c\"}}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":null,\"function\":{\"name\":\"g\"}},{\"index\":0,\"id\":\"w\"},{\"index\":1}]}}]}",
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"function_call\":{\"name\":\"f\",\"arguments\":{}}},\"finish_reason\":\"\"},{\"delta\":null}]}",
        "data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"reasoning\",\"id\":\"r\"}}",
        "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"message\"},{\"type\":\"reasoning\",\"summary\":null}]}}",
    ];
    let mut stream = String::from(if random.one_in(6) { "\u{FEFF}" } else { "" });
    let own = *random.pick(&["\n", "\n", "\r\n", "\r"]);
    for _ in 0..random.below(14) {
        let mixed = random.one_in(8);
        let mut end = || if mixed { *random.pick(&["\n", "\r\n", "\r"]) } else { own };
        let end_of_line = end();
        let end_of_event = end();
        stream += *random.pick(LINES);
        stream += end_of_line;
        if !random.one_in(3) {
            stream += end_of_event;
        }
    }
    if random.one_in(3) {
        stream += *random.pick(LINES);
    }
    stream
}

/// Streams of many servers, if they are available, and the project's own.
fn recordings() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kinds = support::shared_files("corpus/sse");
    let files = kinds.iter().filter(|kind| kind.is_dir()).flat_map(support::files);
    let files = support::files(root.join("tests/sse")).into_iter().chain(files);
    files.filter_map(|file| Some((file.clone(), std::fs::read_to_string(&file).ok()?))).collect()
}

#[test]
fn random_streams_are_mended_as_the_reference_says() {
    let mut random = Random::announced("random_streams_are_mended_as_the_reference_says");
    let streams: Vec<String> = (0..1000).map(|_| random_stream(&mut random)).collect();
    let Some(wanted) = references(&streams) else { return };
    let again = references(&wanted).unwrap();
    for ((stream, wanted), again) in streams.iter().zip(&wanted).zip(again) {
        let options = events().max_event(random.one_in(2).then_some(1 << 20));
        same(wanted, again.as_bytes(), "what is mended, by the reference");
        check(&options, stream, wanted);
    }
}

#[test]
fn recordings_are_mended_as_the_reference_says() {
    let mut random = Random::announced("recordings_are_mended_as_the_reference_says");
    let (files, streams): (Vec<_>, Vec<_>) = recordings().into_iter().unzip();
    let Some(wanted) = references(&streams) else { return };
    for ((file, stream), wanted) in files.iter().zip(&streams).zip(wanted) {
        let name = file.display().to_string();
        let chunks = [vec![stream.as_bytes()], support::bytes(stream.as_bytes())];
        let cuts = (0..8).map(|_| support::random_cuts(&mut random, stream.as_bytes(), 400)).collect::<Vec<_>>();
        for chunks in chunks.into_iter().chain(cuts) {
            same(&wanted, &rewrite_bytes(&foreign(), &chat_events(), &chunks), &name);
        }
        same(&wanted, &rewrite_bytes(&foreign(), &chat_events(), &[wanted.as_bytes()]), &name);
    }
}
