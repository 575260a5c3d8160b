//! Sends streams of all formats through the proxy: the bytes are those of the rewriter, wherever the server cuts them, and they are
//! sent without delay.

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use aside::answer::Tools;
use aside::sse::{Body, Options, Rewriter, Shapes};
use aside::{Dialect, Start};
use common::{
    CHAT, EXPECTED, Request, begin_events, chat, chunk, connect, event, front, post, read, run, said, send, server,
    settings, spoken,
};
use std::io::Write;
use std::net::TcpStream;

/// Sends a body in chunks of these lengths, over and over, each in a separate write.
fn cut(stream: &mut TcpStream, body: &[u8], lengths: &[usize]) {
    let mut rest = body;
    for &len in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at(len.min(rest.len()));
        if !chunk(stream, piece) {
            return;
        }
        rest = after;
    }
    let _ = stream.write_all(b"0\r\n\r\n");
}

#[test]
fn each_piece_leaves_at_once() {
    let (saw, seen) = mpsc::channel::<()>();
    let seen = Mutex::new(seen);
    let proxy = front(move |_, stream| {
        begin_events(stream, "");
        for text in ["a", "b", "c"] {
            chunk(stream, event(text).as_bytes());
            // The server sends no more until the client has received this.
            seen.lock().unwrap().recv_timeout(Duration::from_secs(10)).expect("the piece before is held back");
        }
        chunk(stream, b"data: [DONE]\n\n");
        stream.write_all(b"0\r\n\r\n").is_ok()
    });
    let mut stream = connect(proxy.address);
    stream.write_all(&post(CHAT, "", "{}")).unwrap();
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    for text in ["\"a\"", "\"b\"", "\"c\""] {
        while !String::from_utf8_lossy(&all).contains(text) {
            let len = stream.read(&mut buffer).unwrap();
            assert!(len > 0, "the stream ends");
            all.extend_from_slice(&buffer[..len]);
        }
        saw.send(()).unwrap();
    }
}

/// A recorded stream, and the path of its request.
struct Recording {
    file: PathBuf,
    path: &'static str,
    kind: &'static str,
    bytes: Vec<u8>,
}

/// Finds recordings below a folder. The names of folders and files show the format.
fn recordings(folder: &Path, all: &mut Vec<Recording>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let file = entry.unwrap().path();
        if file.is_dir() {
            recordings(&file, all);
            continue;
        }
        if file.extension().is_none_or(|kind| !["sse", "ndjson", "json", "jsonl"].iter().any(|known| kind == *known)) {
            continue;
        }
        let name = file.to_string_lossy().into_owned();
        let path = match () {
            () if name.contains("ollama") => "/api/chat",
            () if name.contains("messages") || name.contains("anthropic") => "/v1/messages",
            () if name.contains("responses") => "/v1/responses",
            () if name.contains("completions") => "/v1/completions",
            () => CHAT,
        };
        let bytes = fs::read(&file).unwrap();
        let kind = match () {
            () if name.contains("ndjson") || path == "/api/chat" => "application/x-ndjson",
            () if bytes.starts_with(b"{") => "application/json",
            () => "text/event-stream",
        };
        all.push(Recording { file, path, kind, bytes });
    }
}

/// Writes answers of models, a JSON object with a `text` in each line, as streams of chat.
fn transcripts(folder: &Path, all: &mut Vec<Recording>) {
    let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    for file in files {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let transcript: serde_json::Value = serde_json::from_str(line).unwrap();
            let letters: Vec<char> = transcript["text"].as_str().unwrap().chars().collect();
            let mut stream: String = letters.chunks(30).map(|piece| event(&String::from_iter(piece))).collect();
            stream += "data: [DONE]\n\n";
            all.push(Recording { file: file.clone(), path: CHAT, kind: "text/event-stream", bytes: stream.into() });
        }
    }
}

/// Returns the rewriter's output for a recording, with the proxy's options.
fn rewritten(recording: &Recording, options: &Options) -> Vec<u8> {
    let body = match recording.kind {
        "application/x-ndjson" => Body::Lines,
        "application/json" => Body::Json,
        _ => Body::Events,
    };
    let mut rewriter = Rewriter::new(&Dialect::find("qwen3").unwrap(), &options.clone().body(body)).unwrap();
    rewriter.use_tools(Tools::read("[]").unwrap()).unwrap();
    rewriter.use_dialect(None, None::<Start>).unwrap();
    let mut out = Vec::new();
    rewriter.feed(&recording.bytes, &mut out).unwrap();
    rewriter.finish(&mut out).unwrap();
    out
}

#[test]
fn recordings_are_rewritten_to_the_byte() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    recordings(&root.join("tests/sse"), &mut all);
    let shipped = all.len();
    for folder in ["corpus/sse", "cases/formats", "cases/streams-2", "cases/faults-3"] {
        recordings(&root.join("../shared").join(folder), &mut all);
    }
    let recorded = all.len();
    transcripts(&root.join("../shared/corpus/transcripts"), &mut all);
    assert!(shipped > 10, "{shipped} recordings are shipped");
    let all = Arc::new(all);
    for mends in [false, true] {
        let served = Arc::clone(&all);
        let upstream = server(move |request: &Request, stream| {
            let number: usize = request.all("x-number")[0].parse().unwrap();
            let recording = &served[number];
            let kind = recording.kind;
            let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
            let lengths: &[usize] =
                if recording.bytes.len() < 8000 { &[1, 7, 2, 30, 3] } else { &[4099, 1, 509, 16_384] };
            cut(stream, &recording.bytes, lengths);
            true
        });
        let asked = aside_proxy::Settings { repair: Some(mends), normalise: Some(mends), ..settings(upstream) };
        let proxy = run(&asked);
        let shapes = if mends { Shapes::ALL } else { Shapes::NONE };
        let options = Options::new().calls(true).repair(mends).normalise(shapes);
        let mut changed = 0;
        for (number, recording) in all.iter().enumerate() {
            let answer = send(proxy.address, &post(recording.path, &format!("x-number: {number}\r\n"), "{}")).unwrap();
            let wanted = rewritten(recording, &options);
            changed += usize::from(wanted != recording.bytes);
            let file = recording.file.display();
            assert!(answer.is_whole && answer.body == wanted, "{file}: {}", String::from_utf8_lossy(&answer.body));
            assert_eq!(answer.all("x-aside-dialect"), ["qwen3"], "{file}");
        }
        assert!(changed > 10, "{changed} of {} streams are rewritten", all.len());
        println!("{recorded} recordings, {} streams, {changed} changed, 0 differ", all.len());
    }
}

#[test]
fn what_a_server_compresses_is_undone() {
    use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZstdEncoder};
    use tokio::io::AsyncWriteExt;

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let text = spoken();
    // Each event is flushed, as servers flush them.
    macro_rules! compressed {
        ($encoder:ident) => {
            runtime.block_on(async {
                let (mut encoder, mut pieces, mut sent) = ($encoder::new(Vec::new()), Vec::new(), 0);
                for event in text.split_inclusive("\n\n") {
                    encoder.write_all(event.as_bytes()).await.unwrap();
                    encoder.flush().await.unwrap();
                    pieces.push(encoder.get_ref()[sent..].to_vec());
                    sent = encoder.get_ref().len();
                }
                encoder.shutdown().await.unwrap();
                pieces.push(encoder.get_ref()[sent..].to_vec());
                pieces
            })
        };
    }
    for (name, pieces) in
        [("gzip", compressed!(GzipEncoder)), ("br", compressed!(BrotliEncoder)), ("zstd", compressed!(ZstdEncoder))]
    {
        // First the stream is cut off after some of its pieces; then the whole stream is sent.
        for count in [2, pieces.len()] {
            let (pieces, all) = (pieces.clone(), pieces.len());
            let (saw, seen) = mpsc::channel::<()>();
            let seen = Mutex::new(seen);
            let proxy = front(move |request, stream| {
                assert_eq!(request.all("accept-encoding"), ["identity"]);
                begin_events(stream, &format!("content-encoding: {name}\r\netag: \"1\"\r\n"));
                for piece in &pieces[..count] {
                    chunk(stream, piece);
                }
                if count < all {
                    // The bytes sent so far must reach the client before the stream continues or breaks off.
                    let _ = seen.lock().unwrap().recv_timeout(Duration::from_secs(5));
                    return false;
                }
                stream.write_all(b"0\r\n\r\n").is_ok()
            });
            let mut stream = connect(proxy.address);
            stream.write_all(&post(CHAT, "accept-encoding: gzip, br\r\n", "{}")).unwrap();
            let (mut all_bytes, mut buffer) = (Vec::new(), [0; 4096]);
            if count < all {
                while !String::from_utf8_lossy(&all_bytes).contains("Twice") {
                    let len = stream.read(&mut buffer).expect(name);
                    assert!(len > 0, "{name}: the stream ends");
                    all_bytes.extend_from_slice(&buffer[..len]);
                }
                saw.send(()).unwrap();
                let end = stream.read_to_end(&mut all_bytes);
                assert!(end.is_err() || !all_bytes.ends_with(b"0\r\n\r\n"), "{name}: a clean end");
                continue;
            }
            let answer = read(&stream).unwrap();
            assert!(answer.all("content-encoding").is_empty() && answer.all("etag").is_empty(), "{}", answer.head);
            assert_eq!((said(answer.text()).as_str(), answer.is_whole), (EXPECTED, true), "{name}");
        }
    }
}

#[test]
fn an_encoding_that_is_not_known_passes() {
    let proxy = front(|_, stream| {
        begin_events(stream, "content-encoding: deflate\r\n");
        chunk(stream, b"\x78\x9c???");
        stream.write_all(b"0\r\n\r\n").is_ok()
    });
    let answer = chat(proxy.address);
    assert_eq!((answer.all("content-encoding"), answer.body.as_slice()), (vec!["deflate"], &b"\x78\x9c???"[..]));
    assert!(answer.all("x-aside-dialect").is_empty());
}

#[test]
fn the_request_says_its_tools() {
    let called = "<think>\nf it.\n</think>\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";
    let upstream = server(move |_, stream| {
        let body =
            serde_json::json!({"id": "c1", "choices": [{"message": {"content": called}, "finish_reason": "stop"}]});
        common::answer(stream, "200 OK", common::JSON, &body.to_string())
    });
    let list = r#"[{"type":"function","function":{"name":"f"}}]"#;
    let proxy = run(&aside_proxy::Settings { max_tools: Some(list.len()), ..settings(upstream) });
    let message = message(&proxy, &format!("{{\"tools\":{list}}}"));
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"a": 1}"#);
    assert_eq!((&message["reasoning_content"], &message["content"]), (&"f it.".into(), &serde_json::Value::Null));
    // A request without the tool does not get a call, and neither does a request with a list that is too long.
    for request in ["{}".to_owned(), format!("{{\"tools\":{}}}", list.replace(':', ": "))] {
        let message = self::message(&proxy, &request);
        assert!(message["tool_calls"].is_null() && message["content"].as_str().unwrap().contains("<tool_call>"));
    }
}

#[test]
fn the_request_says_whether_to_think() {
    let upstream = server(|_, stream| {
        let body = r#"{"choices":[{"message":{"content":"hm"},"finish_reason":"length"}]}"#;
        common::answer(stream, "200 OK", common::JSON, body)
    });
    let proxy = run(&aside_proxy::Settings { on: Some(aside_proxy::StartAt::Thinking), ..settings(upstream) });
    assert_eq!(message(&proxy, r#"{"enable_thinking":true}"#)["reasoning_content"], "hm");
    assert_eq!(message(&proxy, r#"{"enable_thinking":false}"#)["content"], "hm");
    assert_eq!(message(&proxy, "{}")["content"], "hm");
}

#[test]
fn the_request_says_whether_it_wants_the_thinking() {
    let upstream = server(|_, stream| {
        let body = r#"{"choices":[{"message":{"content":"<think>hm</think>Yes."},"finish_reason":"stop"}]}"#;
        common::answer(stream, "200 OK", common::JSON, body)
    });
    for (thinking, wanted) in [(None, "hm"), (Some(aside_proxy::Thinking::Request), "")] {
        let proxy = run(&aside_proxy::Settings { thinking, ..settings(upstream) });
        let hidden = message(&proxy, r#"{"include_reasoning":false}"#);
        assert_eq!(hidden["reasoning_content"].as_str().unwrap_or_default(), wanted);
        assert_eq!(hidden["content"], "Yes.");
        assert_eq!(message(&proxy, "{}")["reasoning_content"], "hm");
    }
}

/// Requests an answer that is not a stream, and returns its message.
fn message(proxy: &common::Running, body: &str) -> serde_json::Value {
    let answer = send(proxy.address, &post(CHAT, "", body)).unwrap();
    serde_json::from_slice::<serde_json::Value>(&answer.body).unwrap()["choices"][0]["message"].clone()
}
