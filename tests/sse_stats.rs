//! Tests the counts of a rewriter: they must be the same for every cut of a stream, and the number of held bytes must be that of
//! the bytes that a finish sends.

use aside::Dialect;
use aside::sse::{Formats, Options, Rewriter, Stats};

fn qwen3() -> Dialect {
    Dialect::find("qwen3").unwrap()
}

fn content(index: u32, text: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":{}}}}}]}}\n\n", serde_json::json!(text))
}

fn counted(options: &Options, chunks: &[&[u8]]) -> Stats {
    let (mut rewriter, mut out) = (Rewriter::new(&qwen3(), options).unwrap(), Vec::new());
    chunks.iter().for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
    rewriter.finish(&mut out).unwrap();
    rewriter.stats()
}

/// Returns the counts after the end of a stream, checked to be the same for every cut.
fn stats(options: &Options, stream: &str) -> Stats {
    let stream = stream.as_bytes();
    let whole = counted(options, &[stream]);
    for chunks in support::cuts(stream) {
        assert_eq!(counted(options, &chunks), whole, "{}", support::shown(&chunks));
    }
    whole
}

#[test]
fn a_stream_is_counted() {
    let split = "data: {\"choices\":[{\"index\":1,\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n";
    let stream = [
        ": keepalive\n\n",
        &content(0, "<think>\nhmm"),
        &content(0, "</think>\n\nYes"),
        &content(0, " and no."),
        split,
        split,
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "data: {\"choices\":[],\"usage\":{}}\n\n",
        "data: {\"error\":null,\"object\":\"else\"}\n\n",
        "data: no JSON\n\n",
        &content(0, " a <"),
        "data: [DONE]\n\n",
    ]
    .concat();
    assert_eq!(stats(&Options::new(), &stream).unread, 1, "the ping belongs to Messages");
    let stats = stats(&Options::new().formats(Formats::CHAT), &stream);
    assert_eq!(stats.events, 11);
    // Four events change: the thinking, the blanks after it, the text that may begin a marker, and the end, before which the held
    // text is added.
    assert_eq!((stats.changed, stats.added), (4, 1));
    assert_eq!((stats.thinking_bytes, stats.content_bytes), (3, "Yes and no. a <".len() as u64));
    assert_eq!((stats.unread, stats.split_by_server, stats.too_long, stats.held), (2, 1, 0, 0));
    assert!(!stats.encoded);
}

#[test]
fn json_of_no_format_is_unread() {
    let ping = "data: {\"type\":\"ping\"}\n\n";
    let strange = "data: {\"candidates\":[]}\n\n";
    let error = "data: {\"error\":{\"message\":\"no\"}}\n\n";
    for (formats, wanted) in [(Formats::CHAT, 2), (Formats::MESSAGES, 1), (Formats::ALL, 1)] {
        let stream = [ping, strange, error].concat();
        assert_eq!(stats(&Options::new().formats(formats), &stream).unread, wanted, "{formats:?}");
    }
    assert_eq!(stats(&Options::new(), "{\"candidates\":[]}").unread, 1);
    assert_eq!(stats(&Options::new(), "{\"error\":{\"message\":\"no\"}}").unread, 0);
}

#[test]
fn a_body_is_one_event() {
    let body =
        r#"{"choices":[{"message":{"content":"<think>hm</think>Yes."}},{"message":{"reasoning":"a","content":"b"}}]}"#;
    let stats = stats(&Options::new(), body);
    assert_eq!((stats.events, stats.changed, stats.added, stats.unread), (1, 1, 0, 0));
    assert_eq!((stats.thinking_bytes, stats.content_bytes, stats.split_by_server), (2, 4, 1));
}

#[test]
fn thinking_that_was_content_at_first_is_counted_as_what_it_was_sent_as() {
    let streamed = stats(&Options::new(), &content(0, "hm</think>Yes."));
    assert_eq!((streamed.thinking_bytes, streamed.content_bytes), (0, 6));
    let body = stats(&Options::new(), r#"{"choices":[{"message":{"content":"hm</think>Yes."}}]}"#);
    assert_eq!((body.thinking_bytes, body.content_bytes), (2, 4));
    // The body starts inside the thinking only by a guess.
    let guessing = Dialect::find("qwen3-thinking").unwrap();
    let mut rewriter = Rewriter::new(&guessing, &Options::new()).unwrap();
    let answer = r#"{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}"#;
    rewriter.feed(answer, &mut Vec::new()).unwrap();
    rewriter.finish(&mut Vec::new()).unwrap();
    let stats = rewriter.stats();
    assert_eq!((stats.thinking_bytes, stats.content_bytes), (0, 4));
}

#[test]
fn what_is_held_is_what_a_finish_would_send() {
    let mut rewriter = Rewriter::new(&qwen3(), &Options::new().calls(true)).unwrap();
    let mut out = Vec::new();
    let mut held = |bytes: &str| {
        rewriter.feed(bytes, &mut out).unwrap();
        rewriter.stats().held
    };
    assert_eq!(held(" "), 1);
    assert_eq!(held("da"), 3);
    assert_eq!(held(&content(0, "<think>hm</think>a <")[3..]), 0, "it was no line of data");
    assert_eq!(held(&content(0, "<think>hm</think>a <")), 2, "a blank may stand before a call");
    assert_eq!(held(&content(1, "</thi")), 7);
    assert_eq!(held("data: {\"choi"), 19);
    rewriter.finish(&mut out).unwrap();
    assert_eq!(rewriter.stats().held, 0);
    rewriter.feed(content(0, "<tool_call>\n{\"name\": \"f"), &mut out).unwrap();
    assert!(rewriter.stats().held > 20);
    rewriter.reset();
    assert_eq!(rewriter.stats(), Stats::default());
}

#[test]
fn a_finish_keeps_the_counts_and_a_reset_does_not() {
    let mut rewriter = Rewriter::new(&qwen3(), &Options::new().max_event(80)).unwrap();
    let mut out = Vec::new();
    for round in 1..=3 {
        rewriter.feed(content(0, "hm"), &mut out).unwrap();
        rewriter.feed(content(0, &"long".repeat(30)), &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        let stats = rewriter.stats();
        assert_eq!((stats.events, stats.too_long, stats.content_bytes), (round, round, 2 * round));
    }
    rewriter.reset();
    assert_eq!(rewriter.stats(), Stats::default());
}

#[test]
fn calls_are_counted() {
    let call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
    let own = "data: {\"choices\":[{\"index\":1,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\
               \"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n";
    let stream = [&content(0, &format!("Now {call}")), own, &content(0, call), "data: [DONE]\n\n"].concat();
    assert_eq!(stats(&Options::new().calls(true), &stream).calls, 2, "the server's own is not counted");
    assert_eq!(stats(&Options::new(), &stream).calls, 0);
    let text = serde_json::json!({"type": "text", "text": call});
    let body =
        serde_json::json!({"type": "message", "role": "assistant", "content": [text], "stop_reason": "end_turn"});
    assert_eq!(stats(&Options::new().calls(true).formats(Formats::MESSAGES), &body.to_string()).calls, 1);
}

/// Returns the recorded answers of all formats.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let files = support::files(format!("{}/tests/sse/formats", support::ROOT));
    let raw = files.into_iter().filter(|file| file.to_string_lossy().contains(".raw."));
    raw.map(|file| (file.display().to_string(), std::fs::read(file).unwrap())).collect()
}

#[test]
fn all_formats_count() {
    let recordings = recordings();
    assert!(recordings.len() >= 7);
    for (name, stream) in recordings {
        let options = Options::new().formats(Formats::ALL);
        let whole = counted(&options, &[&stream]);
        assert!(whole.events > 0 && whole.changed > 0, "{name}: {whole:?}");
        assert!(whole.thinking_bytes > 0 && whole.content_bytes > 0, "{name}: {whole:?}");
        assert_eq!((whole.unread, whole.held, whole.too_long), (0, 0, 0), "{name}: {whole:?}");
        for chunks in support::cuts(&stream) {
            assert_eq!(counted(&options, &chunks), whole, "{name}: {}", support::shown(&chunks));
        }
    }
}

#[test]
fn nothing_is_held_if_a_finish_sends_nothing_and_the_other_way_round() {
    for (name, stream) in recordings() {
        for at in 0..=stream.len() {
            let options = Options::new().formats(Formats::ALL);
            let (mut rewriter, mut out) = (Rewriter::new(&qwen3(), &options).unwrap(), Vec::new());
            rewriter.feed(&stream[..at], &mut out).unwrap();
            let (held, sent) = (rewriter.stats().held, out.len());
            rewriter.finish(&mut out).unwrap();
            let left = out[sent..].escape_ascii();
            assert_eq!(held > 0, out.len() > sent, "{name}: {held} are held at {at}, and {left} comes");
        }
    }
}
