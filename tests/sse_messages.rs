//! Anthropic Messages, split in place: what a client puts together from the blocks that go out is what the scanner says of each
//! text block that came in, and all else is as it was. No cut may change a byte.

use std::path::Path;

use aside::sse::{Formats, Options};
use aside::{Channel, Dialect, Kind, Scanner, Start};
use samples::{Random, Texts};
use serde_json::{Value, json};
use support::messages::{Client, Server};
use support::rewriting::{at_every_cut, case, pieces, rewrite};

fn qwen3() -> Dialect {
    Dialect::find("qwen3").unwrap()
}

/// A dialect whose marker is in no recording: splitting is on, and must not be seen.
fn foreign() -> Dialect {
    let text = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\u{1F512}\u{1F512}\"]\nclose = [\"\u{1F513}\"]";
    Dialect::from_toml(text).unwrap()
}

fn options() -> Options {
    Options::new().formats(Formats::MESSAGES)
}

fn texts(blocks: &[(&str, &str)]) -> Vec<(String, String)> {
    blocks.iter().map(|(kind, text)| ((*kind).to_owned(), (*text).to_owned())).collect()
}

/// What a client gets of a stream, checked to be the same at every cut.
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
            // What is split already stays so.
            assert_eq!(at_every_cut(&qwen3(), &options, &wanted), wanted, "{split}");
        }
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
fn each_change_of_kind_is_a_block_of_its_own() {
    for (pieces, wanted) in [
        (&["Hi"][..], &[("text", "Hi")][..]),
        (&["<think>\nwhy\n</think>\n\nHi"], &[("thinking", "why"), ("text", "Hi")]),
        (&["<thi", "nk>why</th", "ink>Hi", " you"], &[("thinking", "why"), ("text", "Hi you")]),
        // Markers alone leave no block, and neither does a thinking without content leave one of text.
        (&["<think>", "</think>"], &[]),
        (&["<think>why"], &[("thinking", "why")]),
        // What only looked like a marker is text.
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

/// The events of a stream, each on a line: its data without the braces around it.
fn shown(stream: &str) -> Vec<String> {
    stream.split("\n\n").filter(|event| !event.is_empty()).map(str::to_owned).collect()
}

#[test]
fn what_is_held_leaves_in_its_order() {
    // A ping passes the start, and what is unknown does not.
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

    // Text that may be the beginning of a marker, and starts, leave before an end of any kind.
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
    // A start that is the last event keeps its text in it.
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
    // More than is kept: the start goes first.
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
        // Each block of content has what the server's has.
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
    // A member that the new name would double: the text gets an event of its own.
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
    // Several events in one, each on a line of data.
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
        // Even where the dialect begins in the thinking.
        let options = options().start(Start::Channel(Channel::Thinking));
        assert_eq!(at_every_cut(&qwen3(), &options, &stream), stream);
    }
    // Blocks after one that was split have the next free indexes.
    let mut server = Server::default();
    server.begin().texts(0, &["<think>a</think>b"]).start(1, &json!({"type": "thinking", "thinking": "c"})).stop(1);
    let stream = server.texts(2, &["<think>d"]).end("end_turn");
    let wanted = texts(&[("thinking", "a"), ("text", "b"), ("thinking", "c"), ("text", "<think>d")]);
    assert_eq!(got(&qwen3(), &options(), &stream), wanted);
}

#[test]
fn the_start_of_the_stream_is_that_of_its_first_text() {
    let options = options().start(Start::Channel(Channel::Thinking));
    let message =
        |server: &mut Server| server.begin().texts(0, &["why</think>Hi"]).texts(1, &["there"]).end("end_turn");
    let mut server = Server::default();
    let wanted = texts(&[("thinking", "why"), ("text", "Hi"), ("text", "there")]);
    assert_eq!(got(&qwen3(), &options, &message(&mut server)), wanted);
    // A second message begins again.
    let (first, second) = (message(&mut server), message(&mut server));
    let out = at_every_cut(&qwen3(), &options, &(first.clone() + &second));
    let (one, two) = out.split_at(out.rfind("event: message_start").unwrap());
    assert_eq!((Client::read(one).texts(), Client::read(two).texts()), (wanted.clone(), wanted.clone()));
    // And so does what comes after an error.
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
    // In the thinking, it has a block for itself.
    server.begin().text_start(0).text(0, "<think>why").delta(0, &citation).text(0, " not</think>Hi").stop(0);
    let wanted = texts(&[("thinking", "why"), ("text", ""), ("thinking", " not"), ("text", "Hi")]);
    assert_eq!(got(&qwen3(), &options(), &server.end("end_turn")), wanted);
    server.begin().text_start(0).delta(0, &citation).text(0, "Hi").stop(0);
    let stream = server.end("end_turn");
    assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
}

/// All text of a stream, without its markers.
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
    // What must pass to the byte.
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
    // A block whose start was left out, with the index that is next.
    let stream = text("0", marked) + &text("0", marked) + &stop("0") + &start("1") + &stop("1");
    assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
    // Everything in any order.
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
    // More of them than are known: the rest passes.
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

/// Streams and bodies of the API itself, where they are there.
fn recordings() -> Vec<String> {
    let folder = Path::new(support::ROOT).join("../shared/corpus/sse/anthropic");
    let files = if folder.is_dir() { support::files(folder) } else { Vec::new() };
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).chain([case("anthropic.raw.sse")]).collect()
}

/// Puts each ping before the start of a text block that it comes right after.
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
        // Lines of JSON are not events yet: each becomes one.
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
                for at in 0..stream.len().min(1500) {
                    is(vec![&stream.as_bytes()[..at], &stream.as_bytes()[at..]]);
                }
                is(support::bytes(stream.as_bytes()));
                for most in [7, 300, 2000] {
                    is(support::random_cuts(&mut random, stream.as_bytes(), most));
                }
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------ random streams

/// The blocks that a whole text is, as the scanner says, or `None` if that depends on how it comes.
fn split(dialect: &Dialect, start: Option<Start>, text: &str) -> Option<Vec<(String, String)>> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut depends = false;
    let mut scanner = Scanner::with_options(dialect, &aside::Options::new().start(start)).unwrap();
    let mut take = |event: aside::Event<'_>| {
        depends |= event.kind == Kind::Reclassify;
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
    (!depends).then_some(blocks)
}

#[test]
fn blocks_are_what_the_scanner_says_of_each_text() {
    let mut random = Random::announced("blocks_are_what_the_scanner_says_of_each_text");
    for pair in support::Pair::all() {
        let samples = Texts::new(&pair.reference);
        for _ in 0..12 {
            let mut wanted = Some(Vec::new());
            let mut server = Server { is_bare: random.one_in(4), ..Server::default() };
            server.begin();
            let mut has_text = false;
            for index in 0..1 + random.below(4) {
                if random.one_in(4) {
                    server.call(index);
                    wanted = wanted.map(|wanted| [wanted, texts(&[("tool_use", "{\"a\":1}")])].concat());
                    continue;
                }
                let len = random.below(60);
                let text = String::from_utf8_lossy(&samples.next(&mut random, len)).into_owned();
                let start = has_text.then_some(Start::Channel(Channel::Content));
                has_text = true;
                let blocks = split(&pair.library, start, &text);
                wanted = wanted.zip(blocks).map(|(wanted, blocks)| [wanted, blocks].concat());
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
            if let Some(wanted) = wanted {
                assert_eq!(got, wanted, "{}: {stream}\nbecame\n{out}", pair.reference.name);
            }
        }
    }
}
