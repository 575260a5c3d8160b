//! Splits Anthropic Messages in place: from the sent blocks, a client must get the scanner's result for each received text block,
//! and everything else must stay unchanged. No cut may change a byte.

use aside::answer::ImpliedEnd;
use aside::sse::{Formats, Options};
use aside::{Channel, Dialect, Kind, Scanner, Start};
use samples::{Random, Texts};
use serde_json::{Value, json};
use support::messages::{Client, Server};
use support::rewriting::{at_every_cut, at_random_cuts, case, damaged, examples, pieces, rewrite, sorted};
use support::told::{Said, in_blocks, told};

fn qwen3() -> Dialect {
    Dialect::find("qwen3").unwrap()
}

/// Returns a dialect whose markers are in no recording, so that splitting is on but must not change anything.
fn foreign() -> Dialect {
    let text = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\u{1F512}\u{1F512}\"]\nclose = [\"\u{1F513}\"]";
    Dialect::load(text).unwrap()
}

fn options() -> Options {
    Options::new().formats(Formats::MESSAGES).keep_guessed(true).implied_end(ImpliedEnd::Off)
}

fn texts(blocks: &[(&str, &str)]) -> Vec<(String, String)> {
    blocks.iter().map(|(kind, text)| ((*kind).to_owned(), (*text).to_owned())).collect()
}

/// Returns what a client gets from a stream, checked to be the same at every cut.
fn got(dialect: &Dialect, options: &Options, stream: &str) -> Vec<(String, String)> {
    Client::read(&at_every_cut(dialect, options, stream)).texts()
}

// ------------------------------------------------------------------------------------------------------ shared cases

#[test]
fn the_shared_cases_become_what_they_must() {
    for formats in [Formats::MESSAGES, Formats::ALL] {
        let options = Options::new().formats(formats);
        for (raw, split) in
            [("anthropic.raw.sse", "anthropic.split.sse"), ("anthropic-body.raw.json", "anthropic-body.split.json")]
        {
            let wanted = case(split);
            assert_eq!(at_every_cut(&qwen3(), &options, &case(raw)), wanted, "{raw}");
            // Output that is already split must not change.
            assert_eq!(at_every_cut(&qwen3(), &options, &wanted), wanted, "{split}");
        }
    }
}

#[test]
fn the_examples_of_the_page_are_true() {
    let examples = examples("messages.md");
    assert_eq!(examples.len(), 2);
    for [input, output] in examples {
        assert_eq!(at_every_cut(&qwen3(), &options(), &input), output);
    }
}

#[test]
fn without_the_format_nothing_changes() {
    for formats in [Formats::CHAT, Formats::RESPONSES | Formats::OLLAMA] {
        for file in ["anthropic.raw.sse", "anthropic-body.raw.json"] {
            let raw = case(file);
            assert_eq!(at_every_cut(&qwen3(), &Options::new().formats(formats), &raw), raw, "{file}");
        }
    }
}

// ------------------------------------------------------------------------------------------------------------- streams

#[test]
fn damaged_streams_without_markers_keep_every_event() {
    for name in ["anthropic.raw.sse", "anthropic.split.sse"] {
        for stream in damaged(&case(name)) {
            // Events that are not read may be sent before the start of a text block.
            assert_eq!(sorted(&rewrite(&foreign(), &options(), [stream.as_bytes()])), sorted(&stream));
        }
    }
}

#[test]
fn each_change_of_kind_is_a_block_of_its_own() {
    for (pieces, wanted) in [
        (&["Hi"][..], &[("text", "Hi")][..]),
        (&["<think>\nwhy\n</think>\n\nHi"], &[("thinking", "why"), ("text", "Hi")]),
        (&["<thi", "nk>why</th", "ink>Hi", " you"], &[("thinking", "why"), ("text", "Hi you")]),
        // If the text has only markers, no block is sent, and if it has only thinking, no text block.
        (&["<think>", "</think>"], &[]),
        (&["<think>why"], &[("thinking", "why")]),
        // Bytes that only look like a marker are text.
        (&["<thi"], &[("text", "<thi")]),
        (&["a<", "b<th"], &[("text", "a<b<th")]),
    ] {
        for is_bare in [false, true] {
            let mut server = Server { is_bare, ..Server::default() };
            let stream = server.begin().texts(0, pieces).call(1).end("tool_use");
            let mut blocks = texts(wanted);
            blocks.extend(texts(&[("tool_use", "{\"a\":1}")]));
            assert_eq!(got(&qwen3(), &options(), &stream), blocks, "{stream}");
        }
    }
    let stream = Server::default().begin().texts(0, &["<think>a</think>b<think>c</think>d"]).end("end_turn");
    let wanted = texts(&[("thinking", "a"), ("text", "b"), ("thinking", "c"), ("text", "d")]);
    assert_eq!(got(&Dialect::find("think").unwrap(), &options(), &stream), wanted);
}

/// Returns the events of a stream, each on a line: its data without the braces around it.
fn shown(stream: &str) -> Vec<String> {
    stream.split("\n\n").filter(|event| !event.is_empty()).map(str::to_owned).collect()
}

#[test]
fn what_is_held_leaves_in_its_order() {
    // A ping may be sent before the held start, but unknown events may not.
    let mut server = Server::default();
    server.begin().text_start(0).send(&json!({"type": "ping"}));
    let kept = server.stream.len();
    server.send(&json!({"type": "news"}));
    let news = shown(&server.stream[kept..]);
    let stream = server.text(0, "Hi").stop(0).end("end_turn");
    let out = at_every_cut(&qwen3(), &options(), &stream);
    let events = shown(&stream);
    assert_eq!(shown(&out)[..4], [&events[0], &events[2], &events[1], &news[0]].map(String::clone));
    assert_eq!(shown(&out)[4..], events[4..]);

    // Comments and empty events keep the connection alive.
    let stream = Server::default().begin().text_start(0).stream.clone() + ": alive\n\ndata: {}\n\n";
    let out = at_every_cut(&qwen3(), &options(), &stream);
    assert!(out.find(": alive") < out.find("content_block_start") && out.contains("\"text\":\"\""), "{out}");

    // Held text and held starts are sent before an end of any kind.
    let mut server = Server::default();
    let open = server.begin().text_start(0).text(0, "a<thi").stream.clone();
    let bare = Server::default().begin().text_start(0).stream.clone();
    for end in [
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
        "data: {\"type\":\"error\",\"error\":{}}\n\n",
        "data: [DONE]\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
        "",
    ] {
        let out = at_every_cut(&qwen3(), &options(), &format!("{open}{end}"));
        let text = "event: content_block_delta\n\
            data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"<thi\"}}\n\n";
        assert!(out.ends_with(&format!("{text}{end}")), "{out}");
        assert_eq!(at_every_cut(&qwen3(), &options(), &format!("{bare}{end}")), format!("{bare}{end}"));
    }
}

#[test]
fn an_event_that_breaks_off_comes_last() {
    let whole = Server::default().begin().texts(0, &["a", "<think>why</think>b<"]).call(1).end("end_turn");
    let ends: Vec<usize> = whole.match_indices("\n\n").map(|(at, _)| at).collect();
    for end in ends {
        let cut = at_every_cut(&Dialect::find("think").unwrap(), &options(), &whole[..end]);
        assert_eq!(cut.matches("data: {").count(), cut.matches("event: ").count());
        assert!(support::client::events(&cut).iter().all(|event| serde_json::from_str::<Value>(&event.data).is_ok()));
        let said = |stream: &str| {
            let events = support::client::events(stream);
            let data = events.iter().map(|event| serde_json::from_str::<Value>(&event.data).unwrap());
            let text = |data: Value| {
                ["text", "thinking"].map(|name| data["delta"][name].as_str().unwrap_or_default().to_owned()).concat()
            };
            data.map(text).collect::<String>()
        };
        assert_eq!(said(&cut), said(&whole[..end]).replace("<think>", "").replace("</think>", ""), "{cut}");
    }
    // A start that is the last event keeps its text.
    let start = |text: &str| {
        let block = json!({"type": "text", "text": text});
        let stream = Server::default().begin().start(0, &block).stream.clone();
        at_every_cut(&qwen3(), &options(), stream.trim_end()) == stream.trim_end()
    };
    assert!(start("") && start("Hi") && start("<thi"));
}

#[test]
fn a_block_without_text_is_sent_as_it_came() {
    let stream = Server::default().begin().texts(0, &[]).texts(1, &["", ""]).texts(2, &["", "Hi", ""]).end("end_turn");
    assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
    // Larger starts, or more empty deltas, are not held: the start is sent.
    let mut server = Server::default();
    let block = json!({"type": "text", "text": "", "more": "x".repeat(20_000)});
    let stream = server.begin().start(0, &block).text(0, "").text(0, "Hi").stop(0).end("end_turn");
    assert_eq!(rewrite(&qwen3(), &options(), stream.as_bytes().chunks(7)), stream);
    let many: Vec<&str> = std::iter::repeat_n("", 1000).chain(["Hi"]).collect();
    let stream = server.begin().texts(0, &many).end("end_turn");
    assert_eq!(rewrite(&qwen3(), &options(), stream.as_bytes().chunks(7)), stream);
}

#[test]
fn a_start_with_text_is_split_too() {
    for (text, wanted) in [
        ("Hi", &[("text", "Hi there")][..]),
        ("<think>why</think>Hi", &[("thinking", "why"), ("text", "Hi there")]),
        ("<think>why", &[("thinking", "why there")]),
        ("Hi <thi", &[("text", "Hi <thi there")]),
        ("a<think>b</think>c", &[("text", "a"), ("thinking", "b"), ("text", "c there")]),
    ] {
        let block = json!({"type": "text", "text": text, "citations": null});
        let stream = Server::default().begin().start(0, &block).text(0, " there").stop(0).end("end_turn");
        let out = at_every_cut(&Dialect::find("think").unwrap(), &options(), &stream);
        assert_eq!(Client::read(&out).texts(), texts(wanted), "{out}");
        // Each text block has the members of the server's block.
        assert_eq!(out.matches("\"citations\":null").count(), wanted.iter().filter(|block| block.0 == "text").count());
        assert_eq!(wanted.len() > 1 || text != "Hi", out != stream);
    }
}

#[test]
fn other_members_stay_with_the_last_stretch() {
    let delta = "data: {\"type\":\"content_block_delta\", \"seq\":7,\"index\" : 0,\"delta\":{\"text\":\"a<think>b\",\"x\":[1 ],\"type\":\"text_delta\"}}";
    let start = Server::default().begin().text_start(0).stream.clone();
    let out = at_every_cut(&Dialect::find("think").unwrap(), &options(), &format!("{start}id: 5\n{delta}\n\n"));
    let wanted = "id: 5\n".to_owned()
        + &delta
            .replace("\"index\" : 0", "\"index\" : 1")
            .replace("\"text\":\"a<think>b\"", "\"thinking\":\"b\"")
            .replace("text_delta", "thinking_delta");
    assert!(out.ends_with(&format!("{wanted}\n\n")), "{out}");
    // If the new name would occur twice in the delta, the text gets a separate event.
    let delta = delta.replace("\"x\"", "\"thinking\"");
    let out = at_every_cut(&qwen3(), &options(), &format!("{start}{}\n\n", delta.replace("a<", "<")));
    assert!(out.ends_with("\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"b\"}}\n\n"), "{out}");
}

#[test]
fn lines_end_as_the_server_ends_them() {
    let stream = Server::default().begin().texts(0, &["<think>a</think>b"]).end("end_turn");
    let wanted = at_every_cut(&qwen3(), &options(), &stream);
    for end in ["\r\n", "\r"] {
        let out = at_every_cut(&qwen3(), &options(), &stream.replace('\n', end));
        assert_eq!(out, wanted.replace('\n', end));
    }
    // One event contains several, each on a line of data.
    let bare = Server { is_bare: true, ..Server::default() }.begin().texts(0, &["<think>a</think>b"]).end("end_turn");
    let joined = bare.trim_end().replace("\n\n", "\n") + "\n\n";
    let out = at_every_cut(&qwen3(), &options(), &joined);
    assert_eq!(Client::read(&out).texts(), texts(&[("thinking", "a"), ("text", "b")]));
    let plain = joined.replace("<think>", "").replace("</think>", "");
    assert_eq!(Client::read(&at_every_cut(&qwen3(), &options(), &plain)).texts(), texts(&[("text", "ab")]));
}

#[test]
fn a_server_that_splits_is_left_alone_from_its_thinking_on() {
    for kind in ["thinking", "redacted_thinking"] {
        let block = json!({"type": kind, "thinking": "", "data": "x"});
        let mut server = Server::default();
        server.begin().start(0, &block);
        if kind == "thinking" {
            server.delta(0, &json!({"type": "thinking_delta", "thinking": "<think>"}));
        }
        let stream = server.stop(0).texts(1, &["<think>", "a</thi", "nk>b"]).end("end_turn");
        assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
        // Also if the dialect starts inside the thinking.
        let options = options().start(Start::Channel(Channel::Thinking));
        assert_eq!(at_every_cut(&qwen3(), &options, &stream), stream);
    }
    // Blocks after a split block have the next free indexes.
    let mut server = Server::default();
    server.begin().texts(0, &["<think>a</think>b"]).start(1, &json!({"type": "thinking", "thinking": "c"})).stop(1);
    let stream = server.texts(2, &["<think>d"]).end("end_turn");
    let wanted = texts(&[("thinking", "a"), ("text", "b"), ("thinking", "c"), ("text", "<think>d")]);
    assert_eq!(got(&qwen3(), &options(), &stream), wanted);
}

#[test]
fn an_empty_thinking_is_no_split() {
    let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
    let deltas =
        [json!({"type": "thinking_delta", "thinking": ""}), json!({"type": "signature_delta", "signature": ""})];
    let mut server = Server::default();
    server.begin().start(0, &empty);
    deltas.iter().for_each(|delta| {
        server.delta(0, delta);
    });
    let stream = server.stop(0).texts(1, &["<think>a</think>b"]).end("end_turn");
    assert_eq!(got(&qwen3(), &options(), &stream), texts(&[("thinking", ""), ("thinking", "a"), ("text", "b")]));
    let body =
        json!({"type": "message", "content": [empty, {"type": "text", "text": "<think>a</think>b"}]}).to_string();
    let out: Value = serde_json::from_str(&at_every_cut(&qwen3(), &options(), &body)).unwrap();
    let kinds: Vec<&Value> = out["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["thinking", "thinking", "text"]);
    // A signature is one.
    let signed = json!({"type": "signature_delta", "signature": "x"});
    let mut server = Server::default();
    let stream = server.begin().start(0, &empty).delta(0, &signed).stop(0).texts(1, &["<think>a"]).end("end_turn");
    assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
}

#[test]
fn the_start_of_the_stream_is_that_of_its_first_text() {
    let options = options().start(Start::Channel(Channel::Thinking));
    let message =
        |server: &mut Server| server.begin().texts(0, &["why</think>Hi"]).texts(1, &["there"]).end("end_turn");
    let mut server = Server::default();
    let wanted = texts(&[("thinking", "why"), ("text", "Hi"), ("text", "there")]);
    assert_eq!(got(&qwen3(), &options, &message(&mut server)), wanted);
    // A second message is read like the first.
    let (first, second) = (message(&mut server), message(&mut server));
    let out = at_every_cut(&qwen3(), &options, &(first.clone() + &second));
    let (one, two) = out.split_at(out.rfind("event: message_start").unwrap());
    assert_eq!((Client::read(one).texts(), Client::read(two).texts()), (wanted.clone(), wanted.clone()));
    // Events after an error are a new message too.
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n";
    let out = at_every_cut(&qwen3(), &options, &format!("{error}{second}"));
    assert_eq!(Client::read(&out[error.len()..]).texts(), wanted);
}

#[test]
fn a_citation_belongs_to_the_content() {
    let citation = json!({"type": "citations_delta", "citation": {"type": "char_location"}});
    let mut server = Server::default();
    server.begin().text_start(0).text(0, "<think>why</think>Hi").delta(0, &citation).text(0, " you").stop(0);
    assert_eq!(got(&qwen3(), &options(), &server.end("end_turn")), texts(&[("thinking", "why"), ("text", "Hi you")]));
    // A citation inside the thinking gets a separate text block.
    server.begin().text_start(0).text(0, "<think>why").delta(0, &citation).text(0, " not</think>Hi").stop(0);
    let wanted = texts(&[("thinking", "why"), ("text", ""), ("thinking", " not"), ("text", "Hi")]);
    assert_eq!(got(&qwen3(), &options(), &server.end("end_turn")), wanted);
    server.begin().text_start(0).delta(0, &citation).text(0, "Hi").stop(0);
    let stream = server.end("end_turn");
    assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
}

/// Returns all text of a stream without its markers.
fn all_text(stream: &str) -> String {
    let mut text = String::new();
    for event in support::client::events(stream) {
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else { continue };
        for part in ["delta", "content_block"] {
            for member in ["text", "thinking"] {
                text += data[part][member].as_str().unwrap_or_default();
            }
        }
    }
    text.replace("<think>", "").replace("</think>", "")
}

#[test]
fn bad_shapes_lose_no_text() {
    let text = |index: &str, text: &str| {
        let delta = json!({"type": "text_delta", "text": text});
        format!("data: {{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{delta}}}\n\n")
    };
    let start = |index: &str| {
        format!(
            "data: {{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{{\"type\":\"text\",\"text\":\"s\"}}}}\n\n"
        )
    };
    let stop = |index: &str| format!("data: {{\"type\":\"content_block_stop\",\"index\":{index}}}\n\n");
    let marked = "<think>a</think>b<thi";
    // These events must stay unchanged.
    for index in ["-1", "1.5", "1e3", "99999999999999999999999", "null", "\"0\"", "[]"] {
        let stream = start(index) + &text(index, marked) + &text(index, marked) + &stop(index);
        assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
    }
    let odd = [
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"<think>\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":[]}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":[\"<think>\"]}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":null}\n\n",
        "data: {\"type\":\"content_block_stop\"}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":7}\n\n",
        "data: {\"type\":\"message_delta\"}\n\n",
        "data: {\"type\":\"message_start\",\"message\":[]}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0\n\n",
        "data: {\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"<think>\"}]}\n\n",
    ];
    for event in odd {
        assert_eq!(at_every_cut(&qwen3(), &options(), event), event);
    }
    // A block without a start, with the next index.
    let stream = text("0", marked) + &text("0", marked) + &stop("0") + &start("1") + &stop("1");
    assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
    // All events in random order.
    let mut events: Vec<String> = odd.iter().map(|&event| event.to_owned()).collect();
    for index in ["0", "0", "1", "2", "18446744073709551615", "-1"] {
        events.extend([start(index), text(index, "<think>a"), text(index, "</thi"), text(index, "nk>b"), stop(index)]);
        events.push(start(index).replace("text", "thinking"));
        events.push(start(index).replace("\"text\"", "\"tool_use\""));
    }
    events.push("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"c\"}}]}\n\n".into());
    events.push("data: {\"type\":\"error\",\"error\":{}}\n\n".into());
    let mut random = Random::announced("bad_shapes_lose_no_text");
    for options in [options(), Options::new().formats(Formats::ALL).calls(true), options().promote_empty(false)] {
        for _ in 0..400 {
            let stream: String = (0..1 + random.below(30)).map(|_| random.pick(&events).clone()).collect();
            let out = rewrite(&qwen3(), &options, [stream.as_bytes()]);
            let cuts = support::random_cuts(&mut random, stream.as_bytes(), 30);
            assert_eq!(rewrite(&qwen3(), &options, cuts), out, "{stream}");
            let sorted = |stream: &str| {
                let mut text: Vec<char> = all_text(stream).chars().filter(|c| "abcs".contains(*c)).collect();
                text.sort_unstable();
                text.into_iter().collect::<String>()
            };
            assert_eq!(sorted(&out), sorted(&stream), "{stream}\nbecame\n{out}");
        }
    }
}

#[test]
fn two_blocks_may_be_open_at_once() {
    let mut server = Server::default();
    server.begin().text_start(0).text(0, "<think>a").text_start(1).text(1, "<think>b").text(0, "</think>c");
    let stream = server.text(1, "</think>d").stop(1).stop(0).end("end_turn");
    let out = at_every_cut(&qwen3(), &options(), &stream);
    let mut blocks = [const { String::new() }; 4];
    for event in support::client::events(&out) {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        if let Some(index) = data["index"].as_u64() {
            for name in ["text", "thinking"] {
                blocks[index as usize] += data["delta"][name].as_str().unwrap_or_default();
            }
        }
    }
    assert_eq!(blocks, ["a", "b", "c", "d"]);
    // There are more open blocks than the rewriter follows, and the others stay unchanged.
    let mut server = Server::default();
    server.begin();
    for index in 0..300 {
        server.text_start(index).text(index, "<think>a");
    }
    for index in 0..300 {
        server.text(index, "</think>b").stop(index);
    }
    let stream = server.end("end_turn");
    let out = rewrite(&qwen3(), &options(), stream.as_bytes().chunks(1000));
    assert_eq!((all_text(&out).len(), out.matches("<think>").count()), (600, 300 - 128));
}

#[test]
fn many_blocks_one_after_the_other_have_dense_indexes() {
    let mut server = Server::default();
    server.begin();
    for index in 0..300 {
        server.texts(index, &["<think>a</think>b"]);
    }
    let client = Client::read(&rewrite(&qwen3(), &options(), server.end("end_turn").as_bytes().chunks(1000)));
    assert_eq!(client.blocks.len(), 600);
}

#[test]
fn a_few_bytes_do_not_become_many_blocks() {
    let text = "<think>a</think>b".repeat(5000);
    let stream = Server::default().begin().texts(0, &[&text, "<think>c"]).end("end_turn");
    let out = rewrite(&Dialect::find("think").unwrap(), &options(), [stream.as_bytes()]);
    assert!(out.len() < 2 * stream.len(), "{} of {}", out.len(), stream.len());
    let blocks = Client::read(&out).texts();
    assert_eq!(blocks.len(), 35);
    let of =
        |kind: &str| blocks.iter().filter(|block| block.0 == kind).map(|block| block.1.as_str()).collect::<String>();
    assert_eq!((of("thinking"), of("text")), ("a".repeat(5000) + "c", "b".repeat(5000)));
}

// ---------------------------------------------------------------------------------------------------------- recordings

/// Streams and bodies of the real API, if they are available.
fn recordings() -> Vec<String> {
    let files = support::shared_files("corpus/sse/anthropic");
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).chain([case("anthropic.raw.sse")]).collect()
}

/// Moves each ping that directly follows the start of a text block before the start.
fn with_pings_first(stream: &str) -> String {
    let mut events: Vec<&str> = stream.split_inclusive("\n\n").collect();
    for at in 1..events.len() {
        let is_text = events[at - 1].contains("content_block_start") && events[at - 1].contains("\"text\":\"\"");
        if is_text && (events[at].contains("{\"type\": \"ping\"}") || events[at].contains("{\"type\":\"ping\"}")) {
            events.swap(at - 1, at);
        }
    }
    events.concat()
}

#[test]
fn recordings_without_markers_pass_to_the_byte() {
    let mut random = Random::announced("recordings_without_markers_pass_to_the_byte");
    for stream in recordings() {
        // Some recordings are lines of JSON, which are made events here.
        let stream = match stream.starts_with('{') {
            true => stream.lines().map(|line| format!("data: {line}\n\n")).collect(),
            false => stream,
        };
        let (mut stream, mut wanted) = (stream.clone(), with_pings_first(&stream));
        if random.one_in(3) {
            (stream, wanted) = (stream.replace('\n', "\r\n"), wanted.replace('\n', "\r\n"));
        }
        for formats in [Formats::ALL, Formats::MESSAGES] {
            for options in [Options::new().formats(formats), Options::new().formats(formats).calls(true)] {
                let is = |chunks: Vec<&[u8]>| assert_eq!(rewrite(&foreign(), &options, chunks), wanted);
                support::cuts(stream.as_bytes()).for_each(is);
                for most in [7, 300, 2000] {
                    is(support::random_cuts(&mut random, stream.as_bytes(), most));
                }
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------ random streams

/// Returns the blocks into which the scanner splits a whole text.
fn split(dialect: &Dialect, start: Option<Start>, text: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut scanner = Scanner::with_options(dialect, &aside::ScannerOptions::new().start(start)).unwrap();
    let mut take = |event: aside::Event<'_>| {
        let kind = match event.channel {
            Channel::Thinking => "thinking",
            _ => "text",
        };
        if event.bytes.is_empty() || event.kind != Kind::Text && event.channel != Channel::Tool {
            return;
        }
        let text = std::str::from_utf8(event.bytes).unwrap();
        match blocks.last_mut() {
            Some(last) if last.0 == kind => last.1 += text,
            _ => blocks.push((kind.into(), text.into())),
        }
    };
    scanner.feed(text, &mut take).unwrap();
    scanner.finish(&mut take).unwrap();
    if text.is_empty() {
        blocks = texts(&[("text", "")]);
    }
    in_blocks(blocks, &"text".to_owned())
}

#[test]
fn blocks_are_what_the_scanner_says_of_each_text() {
    let mut random = Random::announced("blocks_are_what_the_scanner_says_of_each_text");
    for pair in support::Pair::all() {
        let samples = Texts::new(&pair.reference);
        for _ in 0..12 {
            let mut wanted = Vec::new();
            let mut server = Server { is_bare: random.one_in(4), ..Server::default() };
            server.begin();
            let mut has_text = false;
            for index in 0..1 + random.below(4) {
                if random.one_in(4) {
                    server.call(index);
                    wanted.extend(texts(&[("tool_use", "{\"a\":1}")]));
                    continue;
                }
                let len = random.below(60);
                let text = String::from_utf8_lossy(&samples.next(&mut random, len)).into_owned();
                let start = has_text.then_some(Start::Channel(Channel::Content));
                has_text = true;
                wanted.extend(split(&pair.library, start, &text));
                let most = *random.pick(&[1, 8, 60]);
                server.text_start(index);
                for piece in pieces(&mut random, &text, most) {
                    if random.one_in(8) {
                        server.send(&json!({"type": "ping"}));
                    }
                    server.text(index, &piece);
                }
                server.stop(index);
            }
            let stream = server.end("end_turn");
            let out = rewrite(&pair.library, &options(), [stream.as_bytes()]);
            for most in [1, 30, 500] {
                let cuts = support::random_cuts(&mut random, stream.as_bytes(), most);
                assert_eq!(rewrite(&pair.library, &options(), cuts), out, "{stream}");
            }
            let got = Client::read(&out).texts();
            assert_eq!(got, wanted, "{}: {stream}\nbecame\n{out}", pair.reference.name);
        }
    }
}

// --------------------------------------------------------------------------------------------------------------- calls

const TAGS: &str = include_str!("dialects/calls-tags.toml");

const F: &str = "<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":1}}</tool_call>";

fn tags() -> Dialect {
    Dialect::load(TAGS).unwrap()
}

fn wanting() -> Options {
    options().calls(true)
}

/// Returns the ids of the calls of a message.
fn ids(blocks: &[Value]) -> Vec<&str> {
    blocks.iter().filter_map(|block| block["id"].as_str()).collect()
}

#[test]
fn calls_become_blocks() {
    let think = |text: &str| format!("<think>why</think>{text}");
    for (pieces, wanted, reason) in [
        (vec![format!("Go.{F}")], &[("text", "Go."), ("tool_use", "{\"x\":1}")][..], "tool_use"),
        // If the text has only markers and calls, no text block is sent.
        (vec![think(F)], &[("thinking", "why"), ("tool_use", "{\"x\":1}")], "tool_use"),
        (vec![format!("{F}{F}")], &[("tool_use", "{\"x\":1}"), ("tool_use", "{\"x\":1}")], "tool_use"),
        (vec![format!("{F}Done.")], &[("tool_use", "{\"x\":1}"), ("text", "Done.")], "tool_use"),
        // The text arrives in pieces of one character.
        (think(F).chars().map(String::from).collect(), &[("thinking", "why"), ("tool_use", "{\"x\":1}")], "tool_use"),
        // A call that breaks off does not change the reason to stop, and a region without a call stays text.
        (vec![F[..40].to_owned()], &[("tool_use", &F[35..40])], "end_turn"),
        (vec!["<tool_call>no</tool_call>".to_owned()], &[("text", "<tool_call>no</tool_call>")], "end_turn"),
    ] {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let stream = Server::default().begin().texts(0, &pieces).end("end_turn");
        let client = Client::read(&at_every_cut(&tags(), &wanting(), &stream));
        assert_eq!((client.texts(), client.stop_reason.as_deref()), (texts(wanted), Some(reason)), "{stream}");
        let names = client.blocks.iter().filter(|block| block["type"] == "tool_use").all(|block| block["name"] == "f");
        assert!(names, "{:?}", client.blocks);
        // Without the option, calls are text.
        let plain = Client::read(&at_every_cut(&tags(), &options(), &stream)).texts();
        assert!(plain.iter().all(|block| block.0 != "tool_use"));
    }
    // Other reasons stay.
    let stream = Server::default().begin().texts(0, &[F]).end("max_tokens");
    assert_eq!(Client::read(&rewrite(&tags(), &wanting(), [stream.as_bytes()])).stop_reason.unwrap(), "max_tokens");
}

#[test]
fn arguments_stay_in_the_event_that_they_came_in() {
    let delta = |text: &str| {
        let delta = json!({"type": "text_delta", "text": text});
        format!("data: {{\"seq\":1, \"index\":0,\"delta\":{delta},\"type\":\"content_block_delta\"}}\n\n")
    };
    let start = Server::default().begin().text_start(0).stream.clone();
    let out = at_every_cut(&tags(), &wanting(), &format!("{start}{}{}", delta(&F[..36]), delta(&F[36..])));
    let (_, calls) = out.split_once("\"type\":\"tool_use\",").unwrap();
    let wanted = "\"id\":\"toolu_msg01A_0\",\"name\":\"f\",\"input\":{}}}\n\n\
        data: {\"seq\":1, \"index\":0,\"delta\":{\"partial_json\":\"{\",\"type\":\"input_json_delta\"},\"type\":\"content_block_delta\"}\n\n\
        data: {\"seq\":1, \"index\":0,\"delta\":{\"partial_json\":\"\\\"x\\\":1}\",\"type\":\"input_json_delta\"},\"type\":\"content_block_delta\"}\n\n";
    assert_eq!(calls, wanted);
}

#[test]
fn no_two_calls_of_a_message_have_one_id() {
    let with_id = "<tool_call>{\"name\":\"g\",\"id\":\"a\",\"arguments\":{}}</tool_call>";
    let stream =
        Server::default().begin().texts(0, &[F, with_id]).texts(1, &[F, with_id]).texts(2, &[F]).end("end_turn");
    let client = Client::read(&at_every_cut(&tags(), &wanting(), &stream));
    let wanted = ["toolu_msg01A_0", "a", "toolu_msg01A_2", "toolu_msg01A_3", "toolu_msg01A_4"];
    assert_eq!(ids(&client.blocks), wanted);
    // A message without an id, and the message after it.
    let stream = Server::default().texts(0, &[F]).texts(1, &[F]).end("end_turn");
    let out = at_every_cut(&tags(), &wanting(), &stream.repeat(2));
    let client = Client::read(&out[..out.len() / 2]);
    assert_eq!(ids(&client.blocks), ["toolu_0", "toolu_1"]);
    // At most 1,024 calls of a text are sent, and none of later texts.
    let text = "<function=g></function>".repeat(2000);
    let stream =
        Server::default().begin().texts(0, &[&format!("<tool_call>{text}</tool_call>")]).texts(1, &[F]).end("end_turn");
    let out = rewrite(&tags(), &wanting(), [stream.as_bytes()]);
    let mut all = ids(&Client::read(&out).blocks).into_iter().map(str::to_owned).collect::<Vec<_>>();
    all.sort_unstable();
    all.dedup();
    assert_eq!((all.len(), out.contains(&json!(F).to_string())), (1024, true));
}

#[test]
fn calls_of_the_server_end_the_search() {
    let stream = Server::default().begin().texts(0, &[F]).call(1).texts(2, &[F]).end("tool_use");
    let wanted = texts(&[("tool_use", "{\"x\":1}"), ("tool_use", "{\"a\":1}"), ("text", F)]);
    assert_eq!(got(&tags(), &wanting(), &stream), wanted);
    // The same holds for calls that the server makes while a text block is open.
    let mut server = Server::default();
    server.begin().text_start(0).text(0, "a<tool_call>{\"na").call(1).text(0, "me\":\"f\"}</tool_call>").stop(0);
    let out = at_every_cut(&tags(), &wanting(), &server.end("tool_use"));
    assert_eq!(
        (out.matches("\"type\":\"tool_use\"").count(), all_text(&out)),
        (1, "a<tool_call>{\"name\":\"f\"}</tool_call>".into())
    );
    // The server splits the thinking but not the calls.
    let mut server = Server::default();
    server.begin().start(0, &json!({"type": "thinking", "thinking": "why"})).stop(0);
    let stream = server.texts(1, &["<think>Go.", F]).end("end_turn");
    let wanted = texts(&[("thinking", "why"), ("text", "<think>Go."), ("tool_use", "{\"x\":1}")]);
    assert_eq!(got(&tags(), &wanting(), &stream), wanted);
}

/// Returns what a client gets from a message, in the reference's form.
fn said(blocks: &[Value], stop_reason: &str) -> Said {
    let mut said = Said::default();
    for block in blocks {
        let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        said.thinking += &text("thinking");
        said.content += &text("text");
        if block["type"] == "tool_use" {
            let input = block["input"].as_str().map_or_else(|| block["input"].to_string(), str::to_owned);
            said.calls.push([text("id"), text("name"), input]);
        }
    }
    said.finish = if stop_reason == "tool_use" { "tool_calls" } else { "stop" }.into();
    said
}

#[test]
fn deltas_without_text_interrupt_no_call() {
    let qwen3 = Dialect::find("qwen3").unwrap();
    // There are more empty deltas than are held until a content block begins.
    let mut texts = vec![""; 400];
    texts.insert(0, "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\":");
    texts.push(" 1}}</tool_call>");
    let stream = Server::default().begin().texts(0, &texts).end("end_turn");
    let client = Client::read(&rewrite(&qwen3, &wanting(), [stream.as_bytes()]));
    assert_eq!(client.blocks.len(), 1, "{:?}", client.blocks);
    assert_eq!((&client.blocks[0]["name"], &client.blocks[0]["input"]), (&json!("f"), &json!("{\"x\": 1}")));
}

#[test]
fn of_any_text_each_byte_is_told_once() {
    let mut random = Random::announced("of_any_text_each_byte_is_told_once");
    let mut count = 0;
    for pair in support::Pair::all().iter().filter(|pair| pair.has_calls()) {
        let samples = Texts::new(&pair.reference);
        for _ in 0..25 {
            let length = random.below(160);
            let text = String::from_utf8_lossy(&samples.next(&mut random, length)).into_owned();
            let mut wanted = told(pair, &aside::ScannerOptions::new(), None, text.as_bytes(), false).of_blocks();
            let most = *random.pick(&[1, 8, 60]);
            let texts = pieces(&mut random, &text, most);
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let stream = Server::default().begin().texts(0, &texts).end("end_turn");
            let out = at_random_cuts(&pair.library, &wanting(), &stream, &mut random);
            let client = Client::read(&out);
            let about = format!("{}: {text:?}\n{out}", pair.reference.name);
            wanted.check(&said(&client.blocks, &client.stop_reason.unwrap()), &about);
            count += wanted.calls.len();

            // In a body, calls whose arguments are not an object stay text.
            wanted = told(pair, &aside::ScannerOptions::new(), None, text.as_bytes(), true).of_blocks();
            let object =
                |call: &[String; 2]| serde_json::from_str::<Value>(&call[1]).is_ok_and(|input| input.is_object());
            if wanted.calls.iter().all(object) {
                let body =
                    json!({"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"});
                let out = rewrite(&pair.library, &wanting(), [body.to_string().as_bytes()]);
                let body: Value = serde_json::from_str(&out).unwrap();
                let mut got = said(body["content"].as_array().unwrap(), body["stop_reason"].as_str().unwrap());
                // The arguments are read as JSON and written again, so that blanks do not matter.
                for call in got
                    .calls
                    .iter_mut()
                    .map(|call| &mut call[2])
                    .chain(wanted.calls.iter_mut().map(|call| &mut call[1]))
                {
                    *call = serde_json::from_str::<Value>(call).unwrap().to_string();
                }
                wanted.check(&got, &format!("{}: a body, {text:?}\n{out}", pair.reference.name));
            }
        }
    }
    assert!(count > 100, "{count} calls");
}

// -------------------------------------------------------------------------------------------------------------- bodies

/// Returns the rewritten form of a body with these blocks.
fn body(dialect: &Dialect, options: &Options, blocks: &str, reason: &str) -> (String, String) {
    let body = |blocks: &str, reason: &str| {
        format!(
            "{{\"id\":\"msg_1\",\"type\":\"message\", \"content\" : {blocks} ,\"stop_reason\":\"{reason}\",\"usage\":{{}}}}"
        )
    };
    let out = at_every_cut(dialect, options, &body(blocks, reason));
    let (head, rest) = out.split_once(" \"content\" : ").unwrap();
    let (blocks, tail) = rest.rsplit_once(" ,\"stop_reason\":\"").unwrap();
    let (reason, _) = tail.split_once('"').unwrap();
    assert_eq!(out, body(blocks, reason));
    assert!(head.starts_with("{\"id\":\"msg_1\""));
    (blocks.to_owned(), reason.to_owned())
}

#[test]
fn a_body_becomes_what_its_stream_does() {
    let think = Dialect::find("think").unwrap();
    let is = |blocks: &str, wanted: &str| assert_eq!(body(&think, &options(), blocks, "end_turn").0, wanted);
    // The last text block has the other members of the server's block.
    is(
        r#"[{"text":"a<think>b</think>c","type":"text", "x":1}]"#,
        r#"[{"type":"text","text":"a"},{"type":"thinking","thinking":"b","signature":""},{"text":"c","type":"text", "x":1}]"#,
    );
    // A block with only markers is removed anywhere. A block without text stays.
    let block = r#"{"type":"text","text":"<think></think>"}"#;
    let other = r#"{"type":"image"}"#;
    is(&format!("[ {block} ]"), "[  ]");
    is(&format!("[{block} , {block}, {other} , {block},{block} , {other}]"), &format!("[{other} , {other}]"));
    is(&format!("[{other} , {block}, {block} ]"), &format!("[{other} ]"));
    for same in
        [r#"[{"type":"text","text":""}]"#, "[ ]", r#"[{"type":"text","text":7},"text",null,{"text":"<think>a"}]"#]
    {
        is(same, same);
    }
    // After the server's own thinking, texts stay unchanged.
    let own = r#"{"type":"thinking","thinking":"x"}"#;
    let text = r#"{"type":"text","text":"<think>a</think>b"}"#;
    let split = r#"{"type":"thinking","thinking":"a","signature":""},{"type":"text","text":"b"}"#;
    is(&format!("[{text},{own},{text}]"), &format!("[{split},{own},{text}]"));
    // The stream's start holds only for the first text.
    let options = options().start(Start::Channel(Channel::Thinking));
    let text = r#"{"type":"text","text":"a</think>b"}"#;
    let blocks = format!("[{text},{}]", r#"{"type":"text","text":"c"}"#);
    assert_eq!(body(&think, &options, &blocks, "end_turn").0, format!("[{split},{}]", r#"{"type":"text","text":"c"}"#));
    // There are more changes between thinking and text than separate blocks are allowed.
    let text = json!([{"type": "text", "text": "<think>a</think>b".repeat(3000)}]).to_string();
    let long = format!("{{\"type\":\"message\",\"content\":{text}}}");
    let out = rewrite(&think, &self::options(), [long.as_bytes()]);
    assert!(out.len() < long.len(), "{}", out.len());
    assert_eq!((out.matches("\"type\":\"text\"").count(), out.matches("\"type\":\"thinking\"").count()), (17, 17));
}

#[test]
fn calls_of_a_body_are_blocks_with_objects() {
    let text = |text: &str| json!({"type": "text", "text": text}).to_string();
    let call = r#"{"type":"tool_use","id":"toolu_msg1_0","name":"f","input":{"x":1}}"#;
    let is = |blocks: &str, wanted: &str, reason: &str| {
        let (blocks, is) = body(&tags(), &wanting(), blocks, "end_turn");
        assert_eq!((&*blocks, &*is), (wanted, reason));
    };
    is(&format!("[{}]", text(F)), &format!("[{call}]"), "tool_use");
    let both = format!("[{},{}]", text(&format!("Go.{F}")), text(F));
    let second = call.replace("_0", "_1");
    is(&both, &format!("[{},{call},{second}]", text("Go.")), "tool_use");
    // Calls whose arguments are not an object stay text, and so do calls that break off.
    for left in ["<tool_call>{\"name\":\"f\",\"arguments\":[1]}</tool_call>", &F[..40]] {
        is(&format!("[{}]", text(left)), &format!("[{}]", text(left)), "end_turn");
    }
    // After a call of the server's own, calls stay text.
    let own = r#"{"type":"tool_use","id":"t","name":"f","input":{}}"#;
    is(&format!("[{},{own},{}]", text(F), text(F)), &format!("[{call},{own},{}]", text(F)), "tool_use");
}

// ------------------------------------------------------------------------------------------- thinking without an answer

#[test]
fn thinking_without_an_answer_is_sent_once_more() {
    let promoting = options().promote_empty(true);
    let own = json!({"type": "thinking", "thinking": "w"});
    let mut server = Server::default();
    let of_server = server
        .begin()
        .start(0, &own)
        .delta(0, &json!({"type": "thinking_delta", "thinking": "hy"}))
        .stop(0)
        .end("end_turn");
    for (stream, wanted) in [
        (
            Server::default().begin().texts(0, &["<think>wh", "y"]).end("end_turn"),
            &[("thinking", "why"), ("text", "why")][..],
        ),
        (
            Server::default().begin().texts(0, &["<think>w"]).texts(1, &["<think>hy"]).end("end_turn"),
            &[("thinking", "w"), ("thinking", "hy"), ("text", "why")],
        ),
        (of_server, &[("thinking", "why"), ("text", "why")]),
        // The answer has something else to show, or nothing at all.
        (
            Server::default().begin().texts(0, &["<think>why</think>Hi"]).end("end_turn"),
            &[("thinking", "why"), ("text", "Hi")],
        ),
        (
            Server::default().begin().texts(0, &["<think>why"]).call(1).end("end_turn"),
            &[("thinking", "why"), ("tool_use", "{\"a\":1}")],
        ),
        (Server::default().begin().texts(0, &["<think></think>"]).end("end_turn"), &[]),
        // The answer did not end by itself.
        (Server::default().begin().texts(0, &["<think>why"]).end("max_tokens"), &[("thinking", "why")]),
    ] {
        let out = at_every_cut(&qwen3(), &promoting, &stream);
        assert_eq!(Client::read(&out).texts(), texts(wanted), "{out}");
        // A second message is read like the first.
        let twice = rewrite(&qwen3(), &promoting, [stream.repeat(2).as_bytes()]);
        assert_eq!(twice, out.repeat(2));
        if wanted.len() > 1 && wanted[0].1 == wanted[1].1 {
            assert_ne!(at_every_cut(&qwen3(), &options(), &stream), out);
        }
    }
    // The stream ends with an error or breaks off.
    let open = Server::default().begin().texts(0, &["<think>why"]).stream.clone();
    for end in ["", "data: {\"type\":\"error\",\"error\":{}}\n\n"] {
        assert_eq!(rewrite(&qwen3(), &promoting, [format!("{open}{end}").as_bytes()]).matches("why").count(), 1);
    }
}

#[test]
fn too_much_thinking_is_not_sent_twice() {
    let stream =
        Server::default().begin().texts(0, &["<think>", &"why ".repeat(60), &"why ".repeat(60)]).end("end_turn");
    for (most, unpromoted) in [(400, 1), (500, 0)] {
        let options = options().promote_empty(true).max_event(most);
        let mut rewriter = aside::sse::Rewriter::new(&qwen3(), &options).unwrap();
        let mut out = Vec::new();
        rewriter.feed(&stream, &mut out).unwrap();
        assert_eq!(rewriter.stats().unpromoted, unpromoted);
        let texts = Client::read(std::str::from_utf8(&out).unwrap()).texts();
        assert_eq!(texts.len(), 2 - unpromoted as usize, "{texts:?}");
    }
    // An event that is too long to be read may have been content.
    let mut server = Server::default();
    server.begin().text_start(0).text(0, "<think>why").text(0, &"x".repeat(500)).stop(0);
    let out = rewrite(&qwen3(), &options().promote_empty(true).max_event(400), [server.end("end_turn").as_bytes()]);
    assert_eq!(out.matches("why").count(), 1);
}

#[test]
fn thinking_of_a_body_is_its_answer_too() {
    let promoting = options().promote_empty(true);
    let text = |text: &str| json!({"type": "text", "text": text}).to_string();
    let thinking = |text: &str| format!(r#"{{"type":"thinking","thinking":"{text}","signature":""}}"#);
    let promoted = r#"{"type":"text","text":"why"}"#;
    let is = |blocks: &str, wanted: &str| assert_eq!(body(&qwen3(), &promoting, blocks, "end_turn").0, wanted);
    is(&format!("[{}]", text("<think>why")), &format!("[{},{promoted}]", thinking("why")));
    is(&format!("[{} ]", thinking("why")), &format!("[{} ,{promoted}]", thinking("why")));
    is(&format!("[{},{}]", thinking("why"), text("Hi")), &format!("[{},{}]", thinking("why"), text("Hi")));
    is("[]", "[]");
    let long = format!("[{}]", text("<think>why"));
    assert_eq!(body(&qwen3(), &promoting, &long, "max_tokens").0, format!("[{}]", thinking("why")));
}

// --------------------------------------------------------------------------------------------------------------- counts

#[test]
fn what_is_written_and_left_out_is_counted() {
    let count = |stream: &str| {
        let mut rewriter = aside::sse::Rewriter::new(&qwen3(), &options()).unwrap();
        rewriter.feed(stream, &mut Vec::new()).unwrap();
        let stats = rewriter.stats();
        ([stats.events, stats.changed, stats.added], [stats.thinking_bytes, stats.content_bytes, stats.split_by_server])
    };
    let stream = Server::default().begin().texts(0, &["<think>why</think>Hi"]).end("end_turn");
    // Three events change: the held start, the delta and the end. Four are added: a start, thinking, a signature and an end.
    assert_eq!(count(&stream), ([6, 3, 4], [3, 2, 0]));
    let mut server = Server::default();
    server.begin().start(0, &json!({"type": "thinking", "thinking": "hm"})).stop(0);
    assert_eq!(count(&server.texts(1, &["Hi"]).end("end_turn")), ([8, 0, 0], [0, 0, 1]));
}
