//! Tests which answers and requests a rewriter must read.

use aside::sse::{
    Body, Exchange, Formats, Hint, RequestModel, Thinking, read_request, request_hint, request_model, wants,
};
use samples::Random;

fn one(path: &str) -> Vec<Formats> {
    let all = [Formats::CHAT, Formats::COMPLETIONS, Formats::RESPONSES, Formats::MESSAGES, Formats::OLLAMA];
    let exchange = Exchange::new().status(200).method("POST").path(path).content_type("application/json");
    let fits = |formats: &Formats| request_hint(&exchange.formats(*formats)).is_some();
    let fitting: Vec<Formats> = all.into_iter().filter(fits).collect();
    for formats in all {
        let exchange = exchange.formats(formats);
        assert_eq!(wants(&exchange).is_some(), fitting.contains(&formats), "{path}");
        assert_eq!(wants(&exchange), wants(&exchange.content_encoding("identity")));
    }
    // All formats, by their names or by default.
    let named = all.into_iter().reduce(|all, format| all | format).unwrap();
    for exchange in [exchange, exchange.formats(Formats::ALL), exchange.formats(named)] {
        assert_eq!(request_hint(&exchange), (!fitting.is_empty()).then_some(Hint::Identity), "{path}");
        assert_eq!(wants(&exchange).is_some(), !fitting.is_empty(), "{path}");
    }
    fitting
}

#[test]
fn the_longest_end_of_a_path_decides() {
    for (path, format) in [
        ("/v1/chat/completions", Formats::CHAT),
        ("/chat/completions?a=/messages", Formats::CHAT),
        ("/openai/deployments/m/chat/completions?api-version=1", Formats::CHAT),
        ("/v1/completions", Formats::COMPLETIONS),
        ("/v1/responses", Formats::RESPONSES),
        ("/v1/messages?beta=true", Formats::MESSAGES),
        ("/api/chat", Formats::OLLAMA),
        ("/ollama/api/generate", Formats::OLLAMA),
    ] {
        assert_eq!(one(path), [format], "{path}");
    }
    for path in [
        "/v1/messages/count_tokens",
        "/v1/messages/",
        "/v1/chat/completions/c1",
        "/v1/embeddings?to=/v1/messages",
        "/messages2",
        "/v1/subcompletions",
        "/v1/CHAT/COMPLETIONS",
        "/chat",
        "/",
    ] {
        assert_eq!(one(path), [], "{path}");
    }
    assert_eq!(one("").len(), 5);
    assert_eq!(one("?a=b").len(), 5);
}

#[test]
fn formats_are_all_unless_some_are_named() {
    let named = Formats::CHAT | Formats::COMPLETIONS | Formats::RESPONSES | Formats::MESSAGES | Formats::OLLAMA;
    assert_eq!(named.bits(), 31);
    for bits in 1..32 {
        assert_eq!(Formats::from_bits(bits).map(Formats::bits), Some(bits));
    }
    for bits in [0, 0x7fff_ffff] {
        assert_eq!(Formats::from_bits(bits), Some(Formats::default()));
    }
    assert!(Formats::ALL.contains(named) && Formats::default() == Formats::ALL);
    for bits in [32, 33, 0x7fff_fffe, 0x8000_0000, 0x8000_0001, u32::MAX] {
        assert_eq!(Formats::from_bits(bits), None, "{bits}");
    }
}

#[test]
fn a_hint_is_for_a_post_alone() {
    for method in ["GET", "post", "POST ", "", "PUT", "OPTIONS"] {
        assert_eq!(request_hint(&Exchange::new().path("/v1/messages").method(method)), None, "{method}");
    }
}

#[test]
fn a_body_is_known_by_its_media_type() {
    for (content_type, body) in [
        ("text/event-stream", Some(Body::Events)),
        ("Text/Event-Stream; charset=utf-8", Some(Body::Events)),
        ("\t application/json ;", Some(Body::Json)),
        ("application/x-ndjson", Some(Body::Lines)),
        ("application/jsonl;x", Some(Body::Lines)),
        ("text/event-stream-x", None),
        ("application/json-patch+json", None),
        ("application/problem+json", None),
        ("text/html; text/event-stream", None),
        ("application/json, text/html", None),
        ("", Some(Body::Json)),
        (";", Some(Body::Json)),
        ("text/plain; charset=utf-8", Some(Body::Json)),
    ] {
        let exchange = Exchange::new().status(200).path("/v1/messages").content_type(content_type);
        assert_eq!(wants(&exchange.formats(Formats::MESSAGES)), body, "{content_type}");
    }
}

#[test]
fn other_statuses_and_encodings_pass() {
    let exchange = |status| Exchange::new().status(status).content_type("application/json");
    for status in [0, 100, 199, 201, 204, 206, 304, 400, 429, 500, u32::MAX] {
        assert_eq!(wants(&exchange(status)), None, "{status}");
    }
    for (encoding, wanted) in [
        ("", true),
        (" \t", true),
        ("identity", true),
        (" Identity ", true),
        ("IDENTITY", true),
        ("gzip", false),
        ("br, identity", false),
        ("identity, gzip", false),
        ("identity;q=1", false),
        ("aws-chunked", false),
    ] {
        let body = wants(&exchange(200).content_encoding(encoding));
        assert_eq!(body.is_some(), wanted, "{encoding}");
    }
}

/// Returns the model after the whole body, and the number of bytes after which it is known.
fn model(body: &[u8], room: usize) -> (Option<String>, usize) {
    let mut room = vec![0; room];
    let mut known = None;
    for len in 0..=body.len() {
        let model = match request_model(&body[..len], &mut room) {
            RequestModel::More => {
                assert_eq!(known, None, "{} was known before", body[..len].escape_ascii());
                continue;
            }
            RequestModel::None => (None, len),
            RequestModel::Found(model) => (Some(model.to_owned()), len),
        };
        // Later bytes must not change it.
        let known = known.get_or_insert_with(|| model.clone());
        assert_eq!(known.0, model.0, "{}", body[..len].escape_ascii());
    }
    known.unwrap_or((Some("more".to_owned()), usize::MAX))
}

#[test]
fn the_first_model_counts_as_soon_as_it_is_known() {
    for (body, name, known) in [
        (r#"{"model":"m"}"#, Some("m"), 12),
        (r#" { "model" : "m" , "model":"n"}"#, Some("m"), 16),
        (r#"{"a":[{"model":"no"},"}",{}],"b":{"model":[1e5,-0.5,null]},"model":"qwen3"} rest"#, Some("qwen3"), 74),
        (r#"{"mod\u0065l":"a\/b\ud83d\ude00\u00e9"}"#, Some("a/b😀é"), 38),
        (r#"{"modelx":"a","":"b","model":""}"#, Some(""), 31),
        (r#"{"a":true,"model":null,"model":"m"}"#, None, 19),
        (r#"{"model":7}"#, None, 10),
        (r#"{"model":{"model":"m"}}"#, None, 10),
        (r#"{"model":"\ud83d"}"#, None, 17),
        (r#"{}"#, None, 2),
        (r#"{"a":"model"}"#, None, 13),
        (r#"["model","m"]"#, None, 1),
        (r#""model":"m""#, None, 1),
        (r#"{"model" "m"}"#, None, 10),
        (r#"{"a":tru7,"model":"m"}"#, None, 9),
        (r#"{"a":1.x,"model":"m"}"#, None, 8),
        (r#"{"a":-"#, Some("more"), usize::MAX),
        (r#"{"a":"\u12"#, Some("more"), usize::MAX),
        (r#"{"a":"\u1x"#, None, 10),
        (r#"{"a":"\"#, Some("more"), usize::MAX),
        (r#"{"a":"\x"#, None, 8),
        (r#"{"a":[1}"#, None, 8),
        (r#"{"a":1,}"#, None, 8),
        (r#"{"model":"qwen"#, Some("more"), usize::MAX),
        ("", Some("more"), usize::MAX),
        (" \n", Some("more"), usize::MAX),
        ("\u{feff}{\"model\":\"m\"}", None, 1),
    ] {
        assert_eq!(model(body.as_bytes(), 64), (name.map(str::to_owned), known), "{body}");
    }
    assert_eq!(model(b"{\"model\":\"\xff\"}", 64).0, None);
    let deep = [&b"{\"a\":"[..], &b"[".repeat(1000), &b"]".repeat(1000), b",\"model\":\"m\"}"].concat();
    assert_eq!(model(&deep, 64).0, None);
}

/// Changes a few bytes of requests: the result must not depend on later bytes, and a JSON parser must find the same model.
#[test]
fn broken_requests_are_told_at_the_byte_that_breaks_them() {
    let mut random = Random::announced("broken_requests_are_told_at_the_byte_that_breaks_them");
    let pieces: &[&[u8]] = &[
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\\",
        b"u",
        b"0",
        b"e",
        b"-",
        b".",
        b" ",
        b"null",
        b"\"model\":\"m\"",
    ];
    for _ in 0..20_000 {
        let mut body = br#"{"a":[true,-1.5e3,{"b":"\u00e9"}],"model":"q\/3","z":null}"#.to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(body.len());
            let end = (at + random.below(3)).min(body.len());
            body.splice(at..end, pieces[random.below(pieces.len())].iter().copied());
        }
        let (found, _) = model(&body, 64);
        if let Ok(value) = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&body)
            && body.windows(7).filter(|window| *window == b"\"model\"").count() < 2
        {
            let wanted = value.get("model").and_then(|model| model.as_str());
            assert_eq!(found.as_deref(), wanted, "{}", body.escape_ascii());
        }
    }
}

#[test]
fn a_model_that_has_no_room_is_none() {
    let body = r#"{"model":"abc\u00e9"}"#.as_bytes();
    assert_eq!(model(body, 5).0.as_deref(), Some("abcé"));
    for room in 0..5 {
        assert_eq!(model(body, room).0, None, "{room}");
    }
    assert_eq!(model(b"{\"model\":\"\"}", 0).0.as_deref(), Some(""));
}

#[test]
fn a_request_says_whether_it_wants_the_thinking() {
    let wants = |path: &str, body: &str| read_request(&Exchange::new().path(path), body).thinking == Thinking::Keep;
    for (path, body, is_wanted) in [
        ("/v1/chat/completions", "{}", true),
        ("/v1/chat/completions", r#"{"include_reasoning":false}"#, false),
        ("/v1/chat/completions", r#"{"include_reasoning":false,"include_reasoning":true}"#, true),
        ("/v1/chat/completions", r#"{"reasoning":{"effort":"low","exclude":true}}"#, false),
        ("/v1/chat/completions", r#"{"reasoning":{"exclude":false}}"#, true),
        ("/v1/chat/completions", r#"{"reasoning":[{"exclude":true}],"a":{"think":false}}"#, true),
        ("/api/chat", r#"{"think":false}"#, false),
        ("/api/chat", r#"{"thi\u006ek":false}"#, false),
        ("/api/generate", r#"{"think":"high"}"#, true),
        ("/v1/messages?beta=true", "{}", false),
        ("/v1/messages", r#"{"thinking":null}"#, false),
        ("/v1/messages", r#"{"thinking":{"type":"disabled"}}"#, false),
        ("/v1/messages", r#"{"thinking":{"type":"adaptive"}}"#, true),
        ("/v1/messages/count_tokens", "{}", true),
        ("", "{}", true),
        // Half a body has no model, and neither has a value other than an object.
        ("/v1/messages", r#"{"model":"m""#, true),
        ("/v1/messages", "{} {}", true),
        ("/api/chat", "[]", true),
    ] {
        assert_eq!(wants(path, body), is_wanted, "{path} {body}");
    }
}

#[test]
fn a_request_says_whether_the_model_should_think() {
    for (body, wanted) in [
        ("{}", None),
        (r#"{"chat_template_kwargs":{"enable_thinking":false},"enable_thinking":true}"#, Some(false)),
        (r#"{"chat_template_kwargs":{"enable_thinking":"no","thinking":true}}"#, Some(true)),
        (r#"{"enable_thinking":false}"#, Some(false)),
        (r#"{"thinking":{"type":"disabled"},"reasoning_effort":"high"}"#, Some(false)),
        (r#"{"thinking":{"type":"enabled","budget_tokens":9}}"#, Some(true)),
        (r#"{"reasoning_effort":"none"}"#, Some(false)),
        (r#"{"reasoning":{"effort":"low","summary":null}}"#, Some(true)),
        (r#"{"think":true}"#, Some(true)),
        (r#"{"think":"none"}"#, Some(false)),
        (r#"{"think":true,"reasoning_effort":"none"}"#, Some(true)),
        (r#"{"chat_template_kwargs":{"thinking_mode":"disabled"}}"#, Some(false)),
        (r#"{"chat_template_kwargs":{"reasoning_effort":"no_think"},"reasoning_effort":"high"}"#, Some(false)),
        (r#"{"reasoning_effort":"","reasoning":{"effort":"none"}}"#, Some(false)),
        (r#"{"think":1,"reasoning":[],"thinking":7,"chat_template_kwargs":null}"#, None),
        (r#"{"enable_thinking":true"#, None),
    ] {
        assert_eq!(read_request(&Exchange::new(), body).thinks, wanted, "{body}");
    }
}

#[test]
fn a_request_offers_tools() {
    for (body, wanted) in [
        ("{}", None),
        (r#"{"tools":null}"#, None),
        (r#"{"tools": [ {"name":"f"} ] ,"a":1}"#, Some(r#"[ {"name":"f"} ]"#)),
        (r#"{"tools":{}}"#, Some("{}")),
        (r#"{"tools":[]"#, None),
    ] {
        assert_eq!(read_request(&Exchange::new(), body).tools, wanted, "{body}");
    }
}
