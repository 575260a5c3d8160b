//! Tests the option for comments: if comments are dropped, the result must be that of a stream without comments, and if they become
//! events, it must have one event more for each.

use aside::Dialect;
use aside::sse::{Body, Comments, Formats, Options, Rewriter, Thinking};
use samples::Random;
use support::rewriting::{at_every_cut, recordings, rewrite};

const COMMENTS: [&str; 4] = [": keep-alive\n\n", ":\n", ": a\n: b\n\n", ": c\n\n\n"];

/// Returns the recordings of streams, without comments of their own, and with the line ends of most servers.
fn streams() -> Vec<(String, String)> {
    let without = |stream: String| -> String {
        let stream = stream.replace("\r\n", "\n");
        stream.split_inclusive("\n\n").filter(|event| !event.starts_with(':')).collect()
    };
    recordings().into_iter().map(|(name, stream)| (name, without(stream))).collect()
}

/// Adds comments to a stream: between its events, and before the last line end of some events. Returns also their number.
fn commented(random: &mut Random, stream: &str) -> (String, usize) {
    let (mut all, mut count) = (String::new(), 0);
    for event in stream.split_inclusive("\n\n") {
        for comment in COMMENTS.iter().filter(|_| random.below(8) == 0) {
            all += comment;
            count += comment.matches(':').count();
        }
        match event.strip_suffix('\n').filter(|lines| lines.ends_with('\n') && random.below(8) == 0) {
            Some(lines) => {
                all += &format!("{lines}: inside\n\n");
                count += 1;
            }
            None => all += event,
        }
    }
    (all, count)
}

#[test]
fn without_comments_a_stream_is_as_if_it_never_had_any() {
    let random = &mut Random::new(1);
    let options = Options::new().body(Body::Events);
    let ways = [options.clone(), options.clone().calls(true), options.clone().thinking(Thinking::Drop)];
    for (name, stream) in streams() {
        let dialect = Dialect::find(&name).unwrap();
        let (with_comments, count) = commented(random, &stream);
        assert!(count > 0, "{name}");
        for options in &ways {
            let wanted = rewrite(&dialect, options, [&stream]);
            let options = options.clone().comments(Comments::Drop);
            assert_eq!(rewrite(&dialect, &options, [&with_comments]), wanted, "{name}");
            assert_eq!(rewrite(&dialect, &options, with_comments.bytes().map(|byte| [byte])), wanted, "{name}");
            let with_crlf = with_comments.replace('\n', "\r\n");
            let wanted = wanted.replace('\n', "\r\n");
            assert_eq!(rewrite(&dialect, &options, with_crlf.bytes().map(|byte| [byte])), wanted, "{name}");
        }
    }
}

#[test]
fn each_comment_becomes_an_event_without_text() {
    let dialect = Dialect::find("qwen3").unwrap();
    let chunk = |id: &str, delta: &str| {
        format!(
            "data: {{\"id\":\"{id}\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let options = Options::new().comments(Comments::Chunk).formats(Formats::CHAT);
    let stream = format!(
        ": a\n\n{}: b\n{}: c\n\ndata: [DONE]\n\n: d\n\n",
        chunk("c1", r#"{"content":"<thi"}"#),
        chunk("c1", r#"{"content":"nk>x</think>Hi"}"#)
    );
    let wanted = [
        chunk("", "{}"),
        chunk("c1", r#"{"content":""}"#),
        chunk("c1", "{}"),
        chunk("c1", r#"{"reasoning_content":"x"}"#),
        chunk("c1", r#"{"content":"Hi"}"#),
        chunk("c1", "{}"),
        "data: [DONE]\n\n".to_owned(),
    ];
    assert_eq!(at_every_cut(&dialect, &options, &stream), wanted.concat());
    // The format is unknown before the first event.
    let wanted = wanted[1..].concat();
    assert_eq!(at_every_cut(&dialect, &options.clone().formats(Formats::ALL), &stream), wanted);

    let text = |text: &str| {
        format!(
            "data: {{\"id\":\"t1\",\"object\":\"text_completion\",\"choices\":[{{\"index\":0,\"text\":\"{text}\",\"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
        )
    };
    let stream = format!("{}: a\n\n", text("Hi"));
    assert_eq!(at_every_cut(&dialect, &options.clone().formats(Formats::ALL), &stream), text("Hi") + &text(""));

    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    let stop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let stream = format!(": a\n\n{ping}: b\n\n{stop}");
    let options = options.formats(Formats::MESSAGES);
    assert_eq!(at_every_cut(&dialect, &options, &stream), format!("{ping}{ping}{ping}{stop}"));

    let event = "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n";
    let options = options.formats(Formats::RESPONSES);
    assert_eq!(at_every_cut(&dialect, &options, &format!(": a\n\n{event}: b\n\n")), event);
}

#[test]
fn the_events_for_comments_change_nothing_else() {
    let random = &mut Random::new(2);
    let is_empty = |event: &str| {
        event.ends_with(r#""delta":{},"finish_reason":null}]}"#)
            || event.ends_with(r#""text":"","logprobs":null,"finish_reason":null}]}"#)
            || event.ends_with(r#"{"type": "ping"}"#)
    };
    let others = |stream: &str| -> Vec<String> {
        stream.split("\n\n").filter(|event| !is_empty(event)).map(str::to_owned).collect()
    };
    for (name, stream) in streams() {
        let dialect = Dialect::find(&name).unwrap();
        let (with_comments, _) = commented(random, &stream);
        let options = Options::new().body(Body::Events).calls(true);
        let wanted = rewrite(&dialect, &options, [&stream]);
        let options = options.comments(Comments::Chunk);
        let out = rewrite(&dialect, &options, [&with_comments]);
        assert_eq!(rewrite(&dialect, &options, with_comments.bytes().map(|byte| [byte])), out, "{name}");
        assert!(!out.lines().any(|line| line.starts_with(':')), "{name}");
        assert_eq!(others(&out), others(&wanted), "{name}");
    }
}

#[test]
fn repair_makes_comments_that_are_left_out_too() {
    let dialect = Dialect::find("qwen3").unwrap();
    let options = Options::new().repair(true).comments(Comments::Drop);
    let chunk = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let stream = format!("data: : PROCESSING\n\ndata:\n\n{chunk}: a\n\n");
    assert_eq!(at_every_cut(&dialect, &options, &stream), chunk);
}

#[test]
fn held_text_is_sent_at_the_end_after_a_comment() {
    let dialect = Dialect::find("qwen3").unwrap();
    let chunk = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi <thi\"}}]}\n\n";
    for end in ["", ": a\n\n", ": a\n", ": a"] {
        let mut rewriter = Rewriter::new(&dialect, &Options::new().comments(Comments::Drop)).unwrap();
        let mut out = Vec::new();
        rewriter.feed(format!("{chunk}{end}"), &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("<thi") && !out.contains(": a"), "{end:?}: {out}");
    }
}
