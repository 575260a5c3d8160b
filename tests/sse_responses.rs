//! Splits OpenAI Responses in place: a client that counts the items and joins the deltas of each must get the scanner's result for
//! the text, and the same result from the whole items at the end. Everything else must stay unchanged, and no cut may change a
//! byte.

use std::collections::BTreeMap;
use std::path::Path;

use aside::answer::Tools;
use aside::sse::{Formats, Options, ResponsesAs, Rewriter};
use aside::{Channel, Dialect, Start};
use samples::Random;
use serde_json::{Value, json};
use support::rewriting::{at_every_cut, at_random_cuts, case, pieces, rewrite};
use support::told::in_blocks;

fn qwen3() -> Dialect {
    Dialect::find("qwen3").unwrap()
}

/// Returns a dialect whose markers are in no recording, so that splitting is on but must not change anything.
fn foreign() -> Dialect {
    let text = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\u{1F512}\u{1F512}\"]\nclose = [\"\u{1F513}\"]";
    Dialect::load(text).unwrap()
}

fn options() -> Options {
    Options::new().formats(Formats::RESPONSES).keep_guessed(true)
}

// -------------------------------------------------------------------------------------------------------------- servers

/// A server's stream, written event by event.
struct Server {
    stream: String,
    sequence: usize,
    is_named: bool,
    is_counted: bool,
    line_end: &'static str,
    items: Vec<Value>,
}

impl Server {
    fn new() -> Server {
        let mut server = Server {
            stream: String::new(),
            sequence: 0,
            is_named: true,
            is_counted: true,
            line_end: "\n",
            items: Vec::new(),
        };
        server.begin();
        server
    }

    fn begin(&mut self) {
        self.send(
            json!({"type": "response.created", "response": {"id": "resp_1", "object": "response", "output": []}}),
        );
    }

    fn send(&mut self, mut data: Value) -> &mut Server {
        if self.is_counted {
            data["sequence_number"] = self.sequence.into();
            self.sequence += 1;
        }
        let (name, end) = (data["type"].as_str().unwrap(), self.line_end);
        let name = if self.is_named { format!("event: {name}{end}") } else { String::new() };
        self.stream += &format!("{name}data: {data}{end}{end}");
        self
    }

    fn added(&mut self, index: usize, item: &Value) -> &mut Server {
        self.send(json!({"type": "response.output_item.added", "output_index": index, "item": item}))
    }

    /// Begins a message.
    fn message(&mut self, index: usize) -> &mut Server {
        let item = message(index, "in_progress", &[]);
        self.added(index, &item)
    }

    fn part(&mut self, kind: &str, index: usize, content: usize, part: &Value) -> &mut Server {
        let kind = format!("response.content_part.{kind}");
        self.send(json!({"type": kind, "item_id": format!("msg_{index}"), "output_index": index, "content_index": content, "part": part}))
    }

    fn delta(&mut self, index: usize, content: usize, text: &str) -> &mut Server {
        self.send(
            json!({"type": "response.output_text.delta", "item_id": format!("msg_{index}"), "output_index": index,
            "content_index": content, "delta": text, "logprobs": [], "obfuscation": "xy"}),
        )
    }

    fn text_done(&mut self, index: usize, content: usize, text: &str) -> &mut Server {
        self.send(json!({"type": "response.output_text.done", "item_id": format!("msg_{index}"), "output_index": index,
            "content_index": content, "text": text, "logprobs": []}))
    }

    fn item_done(&mut self, index: usize, item: Value) -> &mut Server {
        self.send(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        self.items.push(item);
        self
    }

    /// Writes all events of a text part.
    fn text<T: AsRef<str>>(&mut self, index: usize, content: usize, deltas: &[T]) -> Value {
        self.part("added", index, content, &text(""));
        let mut whole = String::new();
        for delta in deltas {
            whole += delta.as_ref();
            self.delta(index, content, delta.as_ref());
        }
        self.text_done(index, content, &whole);
        self.part("done", index, content, &text(&whole));
        text(&whole)
    }

    /// Writes all events of a message with one part.
    fn whole<T: AsRef<str>>(&mut self, index: usize, deltas: &[T]) -> &mut Server {
        self.message(index);
        let part = self.text(index, 0, deltas);
        self.item_done(index, message(index, "completed", &[part]))
    }

    /// Writes all events of a call of the server's own.
    fn call(&mut self, index: usize) -> &mut Server {
        let call = |status: &str, arguments: &str| {
            let id = format!("fc_{index}");
            json!({"id": id, "type": "function_call", "status": status, "arguments": arguments, "call_id": "call_1", "name": "f"})
        };
        self.added(index, &call("in_progress", ""));
        let id = format!("fc_{index}");
        self.send(json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": index, "delta": "{}"}));
        self.send(json!({"type": "response.function_call_arguments.done", "item_id": id, "output_index": index, "arguments": "{}", "name": "f"}));
        self.item_done(index, call("completed", "{}"))
    }

    fn end(&mut self, status: &str) -> String {
        let response = json!({"id": "resp_1", "object": "response", "status": status, "output": self.items});
        self.send(json!({"type": format!("response.{status}"), "response": response}));
        self.stream.clone()
    }
}

fn message(index: usize, status: &str, content: &[Value]) -> Value {
    json!({"id": format!("msg_{index}"), "type": "message", "status": status, "content": content, "role": "assistant"})
}

fn text(text: &str) -> Value {
    json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
}

/// Returns a stream of one message with these deltas.
fn one(deltas: &[&str]) -> String {
    Server::new().whole(0, deltas).end("completed")
}

// -------------------------------------------------------------------------------------------------------------- clients

fn events(stream: &str) -> Vec<Value> {
    let mut events = Vec::new();
    let stream = stream.replace("\r\n", "\n").replace('\r', "\n");
    for block in stream.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let mut name = None;
        let mut data = Vec::new();
        for line in block.lines() {
            if let Some(value) = line.strip_prefix("event: ") {
                name = Some(value);
            } else if let Some(value) = line.strip_prefix("data: ") {
                data.push(value);
            }
        }
        if data.is_empty() || data == ["[DONE]"] {
            continue;
        }
        let event: Value = serde_json::from_str(&data.join("\n")).unwrap_or_else(|error| panic!("{error}: {block}"));
        assert!(name.is_none_or(|name| name == event["type"]), "{block}");
        events.push(event);
    }
    events
}

/// The items that a client gets from a stream, which it reads as strictly as any SDK.
#[derive(Default)]
struct Client {
    items: Vec<Value>,
    is_done: Vec<bool>,
    last: Option<Value>,
}

impl Client {
    fn read(stream: &str) -> Client {
        let mut client = Client::default();
        let mut sequence = None;
        for event in events(stream) {
            if let Some(number) = event["sequence_number"].as_u64() {
                assert!(sequence.is_none_or(|last: u64| last + 1 == number), "{event} in {stream}");
                sequence = Some(number);
            }
            client.event(&event, stream);
        }
        client
    }

    fn event(&mut self, event: &Value, stream: &str) {
        let why = || format!("{event}\nin {stream}");
        let kind = event["type"].as_str().unwrap().strip_prefix("response.").unwrap_or("error");
        let index = event["output_index"].as_u64().map(|index| index as usize);
        if kind == "output_item.added" {
            assert_eq!(index, Some(self.items.len()), "{}", why());
            self.items.push(event["item"].clone());
            self.is_done.push(false);
            return;
        }
        let Some(index) = index else {
            if matches!(kind, "completed" | "incomplete" | "failed") {
                assert!(self.last.is_none());
                self.last = Some(event["response"].clone());
            }
            return;
        };
        assert!(!self.is_done[index], "{}", why());
        let item = &mut self.items[index];
        if kind == "output_item.done" {
            // The finished item must have the text of its deltas.
            let mut wanted = event["item"].clone();
            if let Some(status) = item.get("status") {
                wanted["status"] = status.clone();
            }
            assert_eq!(*item, wanted, "{}", why());
            *item = event["item"].clone();
            self.is_done[index] = true;
            return;
        }
        assert_eq!(item["id"], event["item_id"], "{}", why());
        let list = if event["summary_index"].is_null() { "content" } else { "summary" };
        let place = event["content_index"].as_u64().or(event["summary_index"].as_u64()).map(|place| place as usize);
        match (kind, place) {
            ("content_part.added" | "reasoning_summary_part.added", Some(place)) => {
                assert_eq!(place, item[list].as_array().unwrap().len(), "{}", why());
                item[list].as_array_mut().unwrap().push(event["part"].clone());
            }
            ("content_part.done" | "reasoning_summary_part.done", Some(place)) => {
                assert_eq!(item[list][place], event["part"], "{}", why());
            }
            ("output_text.delta" | "reasoning_text.delta" | "reasoning_summary_text.delta", Some(place)) => {
                let text = item[list][place]["text"].as_str().unwrap().to_owned();
                item[list][place]["text"] = (text + event["delta"].as_str().unwrap()).into();
            }
            ("output_text.done" | "reasoning_text.done" | "reasoning_summary_text.done", Some(place)) => {
                assert_eq!(item[list][place]["text"], event["text"], "{}", why());
            }
            ("output_text.annotation.added", Some(place)) => {
                item[list][place]["annotations"].as_array_mut().unwrap().push(event["annotation"].clone());
            }
            ("refusal.delta", Some(place)) => {
                let text = item[list][place]["refusal"].as_str().unwrap().to_owned();
                item[list][place]["refusal"] = (text + event["delta"].as_str().unwrap()).into();
            }
            ("function_call_arguments.delta", None) => {
                let text = item["arguments"].as_str().unwrap().to_owned();
                item["arguments"] = (text + event["delta"].as_str().unwrap()).into();
            }
            ("function_call_arguments.done", None) => assert_eq!(item["arguments"], event["arguments"], "{}", why()),
            _ => {}
        }
    }

    /// Checks that the items in the last event agree with the events before it, and returns the items.
    fn whole(stream: &str) -> Vec<Value> {
        let client = Client::read(stream);
        assert!(client.is_done.iter().all(|done| *done), "{stream}");
        assert_eq!(client.last.unwrap()["output"], Value::from(client.items.clone()), "{stream}");
        client.items
    }
}

/// Returns items as pairs of a type and a text.
fn said(items: &[Value]) -> Vec<(String, String)> {
    let texts = |list: &Value| -> String {
        let text = |part: &Value| part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default().to_owned();
        list.as_array().into_iter().flatten().map(text).collect()
    };
    let one = |item: &Value| {
        let kind = item["type"].as_str().unwrap();
        let said = match kind {
            "function_call" => format!("{}({})", item["name"].as_str().unwrap(), item["arguments"].as_str().unwrap()),
            _ => texts(&item["summary"]) + &texts(&item["content"]),
        };
        (kind.to_owned(), said)
    };
    items.iter().map(one).collect()
}

fn ids(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

fn pairs(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
    wanted.iter().map(|(kind, said)| ((*kind).to_owned(), (*said).to_owned())).collect()
}

/// Returns a body with the items that a stream ends with.
fn body(stream: &str) -> String {
    events(stream).last().unwrap()["response"].to_string()
}

// ---------------------------------------------------------------------------------------------------------------- cases

#[test]
fn cases_come_out_to_the_byte() {
    for formats in [Formats::RESPONSES, Formats::ALL] {
        let options = Options::new().formats(formats);
        let summary = options.clone().responses_as(ResponsesAs::Summary);
        for (raw, split, options) in [
            ("responses.raw.sse", "responses.split.sse", &options),
            ("responses.raw.sse", "responses-summary.split.sse", &summary),
            ("responses-body.raw.json", "responses-body.split.json", &options),
        ] {
            let wanted = case(split);
            assert_eq!(at_every_cut(&qwen3(), options, &case(raw)), wanted, "{raw}");
            // Output that is already split must not change.
            assert_eq!(at_every_cut(&qwen3(), options, &wanted), wanted, "{split}");
            if split.ends_with("sse") {
                Client::whole(&wanted);
            }
        }
    }
}

/// Checks streams without the events that begin the item or its part.
#[test]
fn an_item_that_the_server_does_not_begin_is_begun() {
    let whole = one(&["<think>a", "</think>b"]);
    let wanted = at_every_cut(&qwen3(), &options(), &whole);
    let without = |names: &[&str]| -> String {
        let kept = whole.split_inclusive("\n\n").filter(|event| !names.iter().any(|name| event.contains(name)));
        kept.collect()
    };
    for names in [&["output_item.added"][..], &["output_item.added", "content_part.added"]] {
        let out = at_every_cut(&qwen3(), &options(), &without(names));
        assert_eq!(body(&out), body(&wanted), "{names:?}");
        let kinds = |stream: &str| -> Vec<String> {
            events(stream).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(kinds(&out), kinds(&wanted), "{names:?}");
        // The sequence numbers increase by one.
        let numbers = |stream: &str| -> Vec<Value> {
            events(stream).iter().map(|event| event["sequence_number"].clone()).collect()
        };
        assert_eq!(numbers(&out), numbers(&wanted), "{names:?}");
    }
}

/// Checks the events that begin the item and the part, if they arrive after its first text.
#[test]
fn an_item_that_the_server_begins_late_is_begun_once() {
    let whole = one(&["<think>a", "</think>b"]);
    let mut late: Vec<&str> = whole.split_inclusive("\n\n").collect();
    let at = |late: &[&str], name: &str| late.iter().position(|event| event.contains(name)).unwrap();
    for name in ["content_part.added", "output_item.added"] {
        let from = at(&late, name);
        let event = late.remove(from);
        late.insert(at(&late, "output_text.delta") + 1, event);
    }
    let out = at_every_cut(&qwen3(), &options(), &late.concat());
    let count = |name: &str| events(&out).iter().filter(|event| event["type"] == name).count();
    assert_eq!((count("response.output_item.added"), count("response.content_part.added")), (2, 2));
    let wanted = at_every_cut(&qwen3(), &options(), &whole);
    assert_eq!(body(&out), body(&wanted));
}

#[test]
fn an_item_that_cannot_be_begun_for_want_of_room_passes() {
    let whole = one(&["<think>a", "</think>b"]);
    let without = whole.split_inclusive("\n\n").filter(|event| !event.contains("output_item.added"));
    let without: String = without.collect();
    // The limits begin with the longest event, and increase up to the added start, which has to be kept.
    let lengths = without.split_inclusive("\n\n").map(str::len);
    let longest = lengths.filter(|len| *len < 250).max().unwrap();
    for max_event in longest..longest + 200 {
        let out = at_every_cut(&qwen3(), &options().max_event(max_event), &without);
        let is_begun = out.contains("output_item.added");
        assert!(is_begun || out == without, "{max_event}: {out}");
        for line in out.lines().filter_map(|line| line.strip_prefix("data: ")) {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{max_event}: {line}");
        }
    }
}

#[test]
fn recordings_pass_to_the_byte() {
    let files = support::shared_files("corpus/sse/openai-responses");
    let recordings = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    let own = ["responses.raw.sse", "responses-body.raw.json", "responses.split.sse"].map(case);
    let mut random = Random::announced("recordings_pass_to_the_byte");
    for stream in recordings.chain(own) {
        for formats in [Formats::RESPONSES, Formats::ALL] {
            for options in
                [Options::new().formats(formats), Options::new().formats(formats).calls(true).promote_empty(true)]
            {
                assert_eq!(at_random_cuts(&foreign(), &options, &stream, &mut random), stream);
            }
            assert_eq!(at_every_cut(&foreign(), &Options::new().formats(formats), &stream), stream);
        }
    }
}

// -------------------------------------------------------------------------------------------------------------- streams

#[test]
fn each_change_of_kind_is_an_item_of_its_own() {
    let (think, say) = ("reasoning", "message");
    for (deltas, wanted, names) in [
        (&["Hi"][..], &[(say, "Hi")][..], &["msg_0"][..]),
        (&["<think>\nwhy\n</think>\n\nHi"], &[(think, "why"), (say, "Hi")], &["rs_msg_0", "msg_0"]),
        (&["<thi", "nk>why</th", "ink>Hi", " you"], &[(think, "why"), (say, "Hi you")], &["rs_msg_0", "msg_0"]),
        (
            &["", "<think>", "", "why", "", "</think>", "", "Hi", ""],
            &[(think, "why"), (say, "Hi")],
            &["rs_msg_0", "msg_0"],
        ),
        (&["<think>why"], &[(think, "why")], &["rs_msg_0"]),
        (&["<think></think>"], &[], &[]),
        (&["", ""], &[(say, "")], &["msg_0"]),
        (&[], &[(say, "")], &["msg_0"]),
        (&["if a <"], &[(say, "if a <")], &["msg_0"]),
        (
            &["A<think>b</think>C<think>d</think>", "E"],
            &[(say, "A"), (think, "b"), (say, "C"), (think, "d"), (say, "E")],
            &["msg_0", "rs_msg_0_2", "msg_0_2", "rs_msg_0_3", "msg_0_3"],
        ),
    ] {
        for responses_as in [ResponsesAs::ReasoningText, ResponsesAs::Summary] {
            let options = options().responses_as(responses_as);
            let stream = Server::new().whole(0, deltas).call(1).end("completed");
            let out = at_every_cut(&qwen3(), &options, &stream);
            let items = Client::whole(&out);
            let mut expected = pairs(wanted);
            expected.push(("function_call".to_owned(), "f({})".to_owned()));
            assert_eq!(said(&items), expected, "{deltas:?}");
            assert_eq!(ids(&items)[..names.len()], *names, "{deltas:?}");
            // The same in a body.
            let body = at_every_cut(&qwen3(), &options, &body(&stream));
            assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["output"], Value::from(items), "{deltas:?}");
        }
    }
}

#[test]
fn a_start_is_held_until_text_is_decided() {
    let mut rewriter = Rewriter::new(&qwen3(), &options()).unwrap();
    let mut feed = |stream: &str| {
        let mut out = Vec::new();
        rewriter.feed(stream, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let mut server = Server::new();
    feed(&std::mem::take(&mut server.stream));
    server.message(0).part("added", 0, 0, &text(""));
    let start = std::mem::take(&mut server.stream);
    assert_eq!(feed(&start), "");
    // Events that belong to no item may be sent before the held start.
    assert_eq!(feed(": ping\n\n"), ": ping\n\n");
    let progress = server.send(json!({"type": "response.in_progress", "response": {}})).stream.clone();
    assert_eq!(feed(&progress), progress.replace("\"sequence_number\":3", "\"sequence_number\":1"));
    server.stream.clear();
    server.delta(0, 0, "Hi");
    let out = feed(&server.stream);
    let numbers: Vec<u64> = events(&out).iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 3, 4]);
    assert!(out.ends_with(&server.stream), "{out}");
}

#[test]
fn the_end_and_an_error_release_what_is_held() {
    for end in [
        "",
        "data: [DONE]\n\n",
        "event: error\ndata: {\"type\":\"error\",\"message\":\"no\",\"sequence_number\":4}\n\n",
    ] {
        let mut server = Server::new();
        server.message(0).part("added", 0, 0, &text("")).delta(0, 0, "a <thi");
        let stream = server.stream.clone() + end;
        let out = at_every_cut(&qwen3(), &options(), &stream);
        let number = if end.contains("error") { end.replace(":4}", ":5}") } else { end.to_owned() };
        assert!(out.ends_with(&number), "{out}");
        assert_eq!(said(&Client::read(&out).items), pairs(&[("message", "a <thi")]));
        let mut server = Server::new();
        server.message(0).part("added", 0, 0, &text(""));
        let stream = server.stream.clone() + end;
        let out = at_every_cut(&qwen3(), &options(), &stream);
        assert_eq!(out.replace(":3}", ":4}"), stream.replace(":3}", ":4}"));
    }
}

/// Checks that an error ends the texts of all formats, whatever its own format is.
#[test]
fn an_error_releases_what_chat_holds() {
    let chat = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a <\"}}]}\n\n";
    let begun = "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n";
    let error = "event: error\ndata: {\"type\":\"error\",\"message\":\"no\"}\n\n";
    let out = rewrite(&qwen3(), &options().formats(Formats::ALL), [begun, chat, error].map(str::as_bytes));
    let held = "{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"<\"},\"finish_reason\":null}]}";
    assert!(out.ends_with(&format!("data: {held}\n\n{error}")), "{out}");
}

#[test]
fn an_item_that_is_cut_off_is_incomplete() {
    let mut server = Server::new();
    server.message(0);
    let part = server.text(0, 0, &["<think>wh"]);
    server.item_done(0, message(0, "incomplete", &[part]));
    let items = Client::whole(&at_every_cut(&qwen3(), &options(), &server.end("incomplete")));
    assert_eq!(items[0]["status"], "incomplete");
    assert_eq!(said(&items), pairs(&[("reasoning", "wh")]));
    // The message was cut off, but the thinking before it was complete.
    let mut server = Server::new();
    server.message(0);
    let part = server.text(0, 0, &["<think>why</think>", "H"]);
    server.item_done(0, message(0, "incomplete", &[part]));
    let items = Client::whole(&at_every_cut(&qwen3(), &options(), &server.end("incomplete")));
    assert_eq!([&items[0]["status"], &items[1]["status"]], ["completed", "incomplete"]);
    // The server does not close the message.
    let mut server = Server::new();
    server.message(0).part("added", 0, 0, &text("")).delta(0, 0, "<think>wh");
    server.items.push(message(0, "incomplete", &[text("<think>wh")]));
    let items = Client::whole(&at_every_cut(&qwen3(), &options(), &server.end("incomplete")));
    assert_eq!(items[0]["status"], "incomplete");
}

#[test]
fn unknown_fields_stay_with_the_last_stretch() {
    let out = at_every_cut(&qwen3(), &options(), &one(&["<think>why</think>Hi", " <think>", "so"]));
    let deltas: Vec<Value> = events(&out).into_iter().filter(|event| !event["delta"].is_null()).collect();
    let of = |name: &str| deltas.iter().map(|delta| delta[name].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>();
    assert_eq!(of("delta"), ["why", "Hi", " ", "so"]);
    assert_eq!(of("obfuscation"), ["", "xy", "xy", "xy"]);
    assert_eq!(deltas[3]["logprobs"], Value::Null);
}

#[test]
fn names_numbers_and_line_ends_are_as_the_server_writes_them() {
    for (is_named, is_counted, line_end) in
        [(false, true, "\n"), (true, false, "\r\n"), (false, false, "\r"), (true, true, "\r\n")]
    {
        let mut server =
            Server { is_named, is_counted, line_end, stream: String::new(), sequence: 7, items: Vec::new() };
        server.begin();
        let stream = server.whole(0, &["<think>", "why</think>", "Hi"]).call(1).whole(2, &["Bye"]).end("completed");
        let out = at_every_cut(&qwen3(), &options(), &stream);
        assert_eq!(said(&Client::whole(&out))[1..3], pairs(&[("message", "Hi"), ("function_call", "f({})")]));
        assert_eq!(out.matches(line_end).count(), out.matches(['\r', '\n']).count() / line_end.len(), "{out:?}");
        assert_eq!(out.contains("event:"), is_named);
        assert_eq!(out.contains("sequence_number"), is_counted);
        assert!(!is_counted || out.contains("\"sequence_number\":7"), "{out}");
        assert_eq!(at_every_cut(&foreign(), &options(), &stream), stream);
    }
}

#[test]
fn parts_of_one_message() {
    let refusal = json!({"type": "refusal", "refusal": "No"});
    let mut server = Server::new();
    server.message(0);
    let first = server.text(0, 0, &["<think>why</think>"]);
    let second = server.text(0, 1, &["A", "<think>", "b", "</think>C"]);
    server.part("added", 0, 2, &json!({"type": "refusal", "refusal": ""}));
    server.send(json!({"type": "response.refusal.delta", "item_id": "msg_0", "output_index": 0, "content_index": 2, "delta": "No"}));
    server.part("done", 0, 2, &refusal);
    let last = server.text(0, 3, &["D<think>e"]);
    server.item_done(0, message(0, "completed", &[first, second, refusal, last]));
    let items = Client::whole(&at_every_cut(&qwen3(), &options(), &server.end("completed")));
    let wanted = [("reasoning", "why"), ("message", "A"), ("reasoning", "b"), ("message", "CNoD"), ("reasoning", "e")];
    assert_eq!(said(&items), pairs(&wanted));
}

#[test]
fn only_the_first_text_starts_in_the_thinking() {
    let options = options().start(Start::Channel(Channel::Thinking));
    let mut server = Server::new();
    let stream = server.whole(0, &["why</think>Hi"]).whole(1, &["Bye"]).end("completed");
    let wanted = pairs(&[("reasoning", "why"), ("message", "Hi"), ("message", "Bye")]);
    let items = Client::whole(&at_every_cut(&qwen3(), &options, &stream));
    assert_eq!(said(&items), wanted);
    let body = at_every_cut(&qwen3(), &options, &body(&stream));
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["output"], Value::from(items));
    // The next response must be treated in the same way.
    let out = at_every_cut(&qwen3(), &options, &(stream.clone() + "data: [DONE]\n\n" + &stream));
    let (first, second) = out.split_once("data: [DONE]\n\n").unwrap();
    assert_eq!(first, second);
}

#[test]
fn a_server_that_splits_is_left_alone() {
    let mut server = Server::new();
    let reasoning = |content: &[Value]| json!({"id": "rs_1", "type": "reasoning", "summary": [], "content": content});
    server.added(0, &reasoning(&[]));
    server.send(json!({"type": "response.reasoning_text.delta", "item_id": "rs_1", "output_index": 0, "content_index": 0, "delta": "why"}));
    server.item_done(0, reasoning(&[json!({"type": "reasoning_text", "text": "why"})]));
    let stream = server.whole(1, &["A<think>b</think>"]).end("completed");
    assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
    assert_eq!(at_every_cut(&qwen3(), &options(), &body(&stream)), body(&stream));
    // A server whose reasoning items are empty is not left alone.
    let mut server = Server::new();
    server.added(0, &reasoning(&[])).item_done(0, reasoning(&[]));
    let out = at_every_cut(&qwen3(), &options(), &server.whole(1, &["<think>b</think>A"]).end("completed"));
    assert_eq!(said(&Client::whole(&out)), pairs(&[("reasoning", ""), ("reasoning", "b"), ("message", "A")]));
}

#[test]
fn annotations_keep_their_characters() {
    let cite = |start: usize, end: usize| json!({"type": "url_citation", "url": "u", "title": "t", "start_index": start, "end_index": end});
    let whole = "<think>wäe</think>Ä é fin";
    let first = whole.chars().position(|c| c == 'é').unwrap();
    let annotations = json!([cite(7, 9), cite(first, first + 1), {"type": "file_path", "file_id": "f"}]);
    let part =
        |text: &str| json!({"type": "output_text", "annotations": annotations, "logprobs": [{"a": 1}], "text": text});
    let mut server = Server::new();
    server.message(0).part("added", 0, 0, &text("")).delta(0, 0, whole);
    server
        .text_done(0, 0, whole)
        .part("done", 0, 0, &part(whole))
        .item_done(0, message(0, "completed", &[part(whole)]));
    let stream = server.end("completed");
    let out = at_every_cut(&qwen3(), &options(), &stream);
    let wanted = json!({"type": "output_text", "annotations": [cite(2, 3), {"type": "file_path", "file_id": "f"}], "logprobs": [], "text": "Ä é fin"});
    let events = events(&out);
    assert_eq!(events[events.len() - 3]["part"], wanted);
    assert_eq!(events[events.len() - 2]["item"]["content"][0], wanted);
    assert_eq!(events[events.len() - 1]["response"]["output"][1]["content"][0], wanted);
    let body = at_every_cut(&qwen3(), &options(), &body(&stream));
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["output"][1]["content"][0], wanted);
    // In separate events.
    let add = |annotation: Value| {
        json!({"type": "response.output_text.annotation.added", "item_id": "msg_0", "output_index": 0, "content_index": 0,
            "annotation_index": 0, "annotation": annotation})
    };
    let mut server = Server::new();
    server.message(0).part("added", 0, 0, &text("")).delta(0, 0, "<think>wäe</think>").delta(0, 0, "Ä é fin");
    server.send(add(cite(7, 9))).send(add(cite(first, first + 1)));
    let part = json!({"type": "output_text", "annotations": [cite(7, 9), cite(first, first + 1)], "logprobs": [], "text": whole});
    server.text_done(0, 0, whole).part("done", 0, 0, &part).item_done(0, message(0, "completed", &[part]));
    let items = Client::whole(&at_every_cut(&qwen3(), &options(), &server.end("completed")));
    assert_eq!(items[1]["content"][0]["annotations"], json!([cite(2, 3)]));
}

/// Returns the number of repeated texts that were split again, of a stream that is fed at once and byte by byte.
fn contradicted(stream: &str, max_event: usize) -> u64 {
    let counted = |chunk: usize| {
        let mut rewriter = Rewriter::new(&qwen3(), &options().max_event(max_event)).unwrap();
        let mut out = Vec::new();
        stream.as_bytes().chunks(chunk).for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
        rewriter.finish(&mut out).unwrap();
        rewriter.stats().contradicted
    };
    assert_eq!(counted(1), counted(stream.len()));
    counted(1)
}

/// Rewrites a stream whose deltas have one text and whose later events have a different one. Returns the texts of
/// `output_text.done`, `content_part.done` and `output_item.done`, and the items at the end. All four are counted if `is_counted`.
fn disagreeing(deltas: &[&str], whole: &str, is_counted: bool) -> ([Value; 3], Vec<(String, String)>) {
    let mut server = Server::new();
    server.message(0).part("added", 0, 0, &text(""));
    for delta in deltas {
        server.delta(0, 0, delta);
    }
    server.text_done(0, 0, whole).part("done", 0, 0, &text(whole));
    server.item_done(0, message(0, "completed", &[text(whole)]));
    let stream = server.end("completed");
    assert_eq!(contradicted(&stream, 1 << 20), if is_counted { 4 } else { 0 });
    let events = events(&at_every_cut(&qwen3(), &options(), &stream));
    let last = |kind: &str| events.iter().rfind(|event| event["type"] == format!("response.{kind}")).cloned();
    let part = last("content_part.done").unwrap_or_default()["part"]["text"].clone();
    let item = last("output_item.done").unwrap_or_default()["item"]["content"][0]["text"].clone();
    let again = [last("output_text.done").unwrap_or_default()["text"].clone(), part, item];
    (again, said(last("completed").unwrap()["response"]["output"].as_array().unwrap()))
}

#[test]
fn a_whole_text_that_disagrees_is_split_by_itself() {
    // Only the content differs.
    let (again, items) = disagreeing(&["<think>so</think>Hi"], "<think>so</think>Other", true);
    assert_eq!(again, [json!("Other"), json!("Other"), json!("Other")]);
    assert_eq!(items, pairs(&[("reasoning", "so"), ("message", "Other")]));
    let (again, items) = disagreeing(&["<think>so"], "<think>so</think>Other", false);
    assert_eq!(again, [json!("Other"), json!("Other"), json!("Other")]);
    assert_eq!(items, pairs(&[("reasoning", "so"), ("message", "Other")]));
    // The server trims the text, so the text of the deltas is repeated; or leaves the thinking out.
    for (whole, wanted, is_counted) in [("<think>so</think>Hi", " Hi ", false), ("Hi", "Hi", true)] {
        let (again, _) = disagreeing(&["<think>\nso\n\n</think>\n\n", " Hi "], whole, is_counted);
        assert_eq!(again, [json!(wanted), json!(wanted), json!(wanted)]);
    }
    // These events have no place for thinking that was not sent before.
    let whole = "<think>so</think>Other";
    let (again, items) = disagreeing(&["Hi"], whole, true);
    assert_eq!(again, [json!(whole), json!(whole), json!(whole)]);
    assert_eq!(items, pairs(&[("reasoning", "so"), ("message", "Other")]));
    // A whole text that continues the deltas is read to its end before the item is closed.
    let (again, items) = disagreeing(&["<think>so</think>", "Hi"], "<think>so</think>Hi <think>hm</think>you", false);
    assert_eq!(again, [json!("you"), json!("you"), json!("you")]);
    assert_eq!(items, pairs(&[("reasoning", "so"), ("message", "Hi "), ("reasoning", "hm"), ("message", "you")]));
}

#[test]
fn a_response_with_another_id_is_split_by_itself() {
    let mut server = Server::new();
    server.message(0).delta(0, 0, "<think>hm").item_done(0, message(0, "completed", &[text("<think>hm")]));
    server.items[0]["id"] = "other".into();
    server.items[0]["content"][0]["text"] = "<think>hm</think>Yes.".into();
    let out = at_every_cut(&qwen3(), &options(), &server.end("completed"));
    let last = events(&out).pop().unwrap();
    assert_eq!(
        said(last["response"]["output"].as_array().unwrap()),
        pairs(&[("reasoning", "hm"), ("message", "Yes.")])
    );
}

#[test]
fn text_that_only_comes_whole_is_split() {
    for is_short in [false, true] {
        let mut server = Server::new();
        let whole = "<think>so</think>Hi";
        server.message(0);
        if !is_short {
            server.part("added", 0, 0, &text("")).text_done(0, 0, whole).part("done", 0, 0, &text(whole));
        }
        server.item_done(0, message(0, "completed", &[text(whole)]));
        let out = at_every_cut(&qwen3(), &options(), &server.end("completed"));
        assert_eq!(
            said(events(&out).last().unwrap()["response"]["output"].as_array().unwrap()),
            pairs(&[("reasoning", "so"), ("message", "Hi")])
        );
    }
    // A text without markers stays unchanged.
    let mut server = Server::new();
    server.message(0).part("added", 0, 0, &text("")).text_done(0, 0, "Hi").part("done", 0, 0, &text("Hi"));
    let stream = server.item_done(0, message(0, "completed", &[text("Hi")])).end("completed");
    assert_eq!(at_every_cut(&qwen3(), &options(), &stream), stream);
}

#[test]
fn memory_is_bounded() {
    let mut server = Server::new();
    server.message(0).part("added", 0, 0, &text("")).delta(0, 0, "<think>");
    for _ in 0..40 {
        server.delta(0, 0, "0123456789é");
    }
    server.delta(0, 0, "</think>Hi");
    let mut rewriter = Rewriter::new(&qwen3(), &options().max_event(700)).unwrap();
    let mut out = Vec::new();
    rewriter.feed(&server.stream, &mut out).unwrap();
    let events = events(&String::from_utf8(out).unwrap());
    let deltas: String = events
        .iter()
        .filter(|event| event["type"] == "response.reasoning_text.delta")
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(deltas, "0123456789é".repeat(40));
    let done = events.iter().find(|event| event["type"] == "response.reasoning_text.done").unwrap();
    assert!(deltas.starts_with(done["text"].as_str().unwrap()) && done["text"].as_str().unwrap().len() < 400);
    assert_eq!(rewriter.stats().truncated, 3);
}

#[test]
fn repeated_texts_that_were_too_long_to_be_kept_are_counted() {
    let long = "0123456789".repeat(80);
    let mut server = Server::new();
    let stream =
        server.whole(0, &["<think>hm</think>", &long]).whole(1, &["<think>so</think>", &long]).end("completed");
    // There is no room for the part and the item of the second message, so its text is split again in two events.
    assert_eq!((contradicted(&stream, 1 << 20), contradicted(&stream, 2400)), (0, 2));
}

#[test]
fn many_changes_in_one_delta_are_joined() {
    let many = "<think>a</think>b".repeat(100);
    let stream = one(&[&many]);
    let out = at_every_cut(&qwen3(), &options(), &stream);
    let items = Client::whole(&out);
    assert_eq!(items.len(), 34);
    let of =
        |kind: &str| -> String { said(&items).iter().filter(|item| item.0 == kind).map(|item| &item.1[..]).collect() };
    assert_eq!([of("reasoning"), of("message")], ["a".repeat(100), "b".repeat(100)]);
    let body = at_every_cut(&qwen3(), &options(), &body(&stream));
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["output"], Value::from(items));
}

// ---------------------------------------------------------------------------------------------------------------- calls

#[test]
fn calls_become_items() {
    let call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";
    let options = options().calls(true);
    for (deltas, wanted) in [
        (vec![format!("Hm {call}")], &[("message", "Hm"), ("function_call", "f({\"a\": 1})")][..]),
        (
            vec![format!("<think>why</think>{call}"), format!("{call}Yes")],
            &[
                ("reasoning", "why"),
                ("function_call", "f({\"a\": 1})"),
                ("function_call", "f({\"a\": 1})"),
                ("message", "Yes"),
            ],
        ),
        (pieces(&mut Random::new(1), call, 3), &[("function_call", "f({\"a\": 1})")]),
    ] {
        let stream = Server::new().whole(0, &deltas).whole(1, &deltas).end("completed");
        let out = at_every_cut(&qwen3(), &options, &stream);
        let items = Client::whole(&out);
        assert_eq!(said(&items), pairs(&[wanted, wanted].concat()), "{deltas:?}");
        let mut ids: Vec<&Value> =
            items.iter().flat_map(|item| [&item["id"], &item["call_id"]]).filter(|id| !id.is_null()).collect();
        let all = ids.len();
        ids.sort_by_key(|id| id.to_string());
        ids.dedup();
        assert_eq!(ids.len(), all, "{items:?}");
        let body = at_every_cut(&qwen3(), &options, &body(&stream));
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["output"], Value::from(items));
    }
    // After a call of the server's own, calls in the text stay text.
    let stream = Server::new().call(0).whole(1, &[call]).end("completed");
    assert_eq!(at_every_cut(&qwen3(), &options, &stream), stream);
    assert_eq!(at_every_cut(&qwen3(), &options, &body(&stream)), body(&stream));
}

/// A client that groups its tools in namespaces, such as Codex, gets the namespace and the name back, whatever name the model
/// writes.
#[test]
fn a_call_names_the_namespace_of_its_tool() {
    let tools = json!([
        {"type": "namespace", "name": "mcp__time", "description": "Time", "tools": [
            {"type": "function", "name": "now", "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}}},
            {"type": "function", "name": "get", "parameters": {"type": "object", "properties": {}}}
        ]},
        {"type": "namespace", "name": "mcp__web__", "tools": [{"type": "function", "name": "get"}]},
        {"type": "function", "name": "plain", "parameters": {"type": "object", "properties": {}}}
    ]);
    let options = options().calls(true).tools(Tools::read(&tools.to_string()).unwrap());
    for (written, namespace, name) in [
        ("mcp__time__now", Some("mcp__time"), "now"),
        ("mcp__time.now", Some("mcp__time"), "now"),
        ("now", Some("mcp__time"), "now"),
        ("mcp__web__get", Some("mcp__web__"), "get"),
        ("mcp__time__get", Some("mcp__time"), "get"),
        ("plain", None, "plain"),
    ] {
        let call =
            format!("<tool_call>\n<function={written}>\n<parameter=zone>\n1\n</parameter>\n</function>\n</tool_call>");
        let stream = Server::new().whole(0, &pieces(&mut Random::new(1), &call, 3)).end("completed");
        let out = at_every_cut(&qwen3(), &options, &stream);
        let items = Client::whole(&out);
        let got = |item: &Value| (item["namespace"].as_str().map(str::to_owned), item["name"].clone());
        assert_eq!(
            items.iter().map(got).collect::<Vec<_>>(),
            [(namespace.map(str::to_owned), json!(name))],
            "{written}"
        );
        let added = events(&out).into_iter().find(|event| event["type"] == "response.output_item.added").unwrap();
        assert_eq!(got(&added["item"]), got(&items[0]), "{written}");
        let body = at_every_cut(&qwen3(), &options, &body(&stream));
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["output"], Value::from(items));
    }
    // Two namespaces have this tool, so its own name calls neither.
    let call = "<tool_call>\n<function=get>\n</function>\n</tool_call>";
    let out = rewrite(&qwen3(), &options, [Server::new().whole(0, &[call]).end("completed").as_bytes()]);
    assert_eq!(said(&Client::whole(&out)), pairs(&[("message", call)]));
    // Other formats have no namespaces.
    let call = "<tool_call>{\"name\": \"mcp__time.now\", \"arguments\": {}}</tool_call>";
    let body = json!({"choices": [{"message": {"content": call}, "finish_reason": "stop"}]}).to_string();
    let out: Value = serde_json::from_str(&rewrite(&qwen3(), &options.formats(Formats::CHAT), [body])).unwrap();
    let function = &out["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(*function, json!({"name": "mcp__time__now", "arguments": "{}"}));
}

// -------------------------------------------------------------------------------------------------------- promote_empty

#[test]
fn thinking_alone_is_said_again() {
    let options = options().promote_empty(true);
    let stream = one(&["<think>", "So it", " is"]);
    let out = at_every_cut(&qwen3(), &options, &stream);
    let items = Client::whole(&out);
    assert_eq!(said(&items), pairs(&[("reasoning", "So it is"), ("message", "So it is")]));
    assert_eq!(ids(&items), ["rs_msg_0", "msg_0"]);
    let body = at_every_cut(&qwen3(), &options, &body(&stream));
    assert_eq!(said(serde_json::from_str::<Value>(&body).unwrap()["output"].as_array().unwrap()), said(&items));
    // The id of an empty message is already used.
    let stream = Server::new().whole(0, &["<think>a"]).whole::<&str>(1, &[]).end("completed");
    let items = Client::whole(&at_every_cut(&qwen3(), &options, &stream));
    assert_eq!(ids(&items), ["rs_msg_0", "msg_1", "msg_0"]);
    let body = at_every_cut(&qwen3(), &options, &self::body(&stream));
    assert_eq!(ids(serde_json::from_str::<Value>(&body).unwrap()["output"].as_array().unwrap()), ids(&items));
    // The thinking is not promoted if there is other output, or if the answer was cut off.
    for stream in [
        one(&["<think>a</think>b"]),
        Server::new().whole(0, &["<think>a"]).call(1).end("completed"),
        Server::new().whole(0, &["<think>a"]).end("incomplete"),
        one(&["<think></think>"]),
    ] {
        let plain = rewrite(&qwen3(), &self::options(), [stream.as_bytes()]);
        assert_eq!(rewrite(&qwen3(), &options, [stream.as_bytes()]), plain);
        let body = self::body(&stream);
        assert_eq!(
            rewrite(&qwen3(), &options, [body.as_bytes()]),
            rewrite(&qwen3(), &self::options(), [body.as_bytes()])
        );
    }
    // An event that is too long to be read may contain anything.
    let long = format!("data: {}\n\nevent: response.output_text.done", json!({"type": "x", "a": "b".repeat(5000)}));
    let stream = one(&["<think>a"]).replace("event: response.output_text.done", &long);
    let items = Client::whole(&rewrite(&qwen3(), &options.clone().max_event(4000), [stream.as_bytes()]));
    assert_eq!(said(&items), pairs(&[("reasoning", "a")]));
    // No more thinking is kept than fits into one event.
    for (times, wanted) in [(10, 0), (20, 1)] {
        let mut server = Server::new();
        server.message(0).part("added", 0, 0, &text("")).delta(0, 0, "<think>");
        for _ in 0..times {
            server.delta(0, 0, &"a".repeat(60));
        }
        let stream = server.end("completed");
        let mut rewriter = Rewriter::new(&qwen3(), &options.clone().max_event(2000)).unwrap();
        let mut out = Vec::new();
        rewriter.feed(&stream, &mut out).unwrap();
        assert_eq!(rewriter.stats().unpromoted, wanted);
        let out = String::from_utf8(out).unwrap();
        let added = events(&out).iter().filter(|event| event["type"] == "response.output_item.added").count();
        assert_eq!(added as u64, 2 - wanted, "{out}");
    }
}

// --------------------------------------------------------------------------------------------------------------- random

#[test]
fn random_streams_are_split_as_their_texts_are() {
    let mut random = Random::announced("random_streams_are_split_as_their_texts_are");
    let dialects = ["qwen3", "deepseek-r1", "any", "think"].map(|name| Dialect::find(name).unwrap());
    let words = [
        "<think>",
        "</think>",
        "<thi",
        "</",
        "\n",
        "a",
        " é",
        "<",
        "🙂",
        "think>",
        "so",
        "<think>\n",
        "\n</think>\n\n",
    ];
    for round in 0..600 {
        let dialect = random.pick(&dialects);
        let mut server = Server::new();
        (server.is_named, server.is_counted) = (random.below(3) > 0, random.below(3) > 0);
        let responses_as = if random.below(2) == 0 { ResponsesAs::Summary } else { ResponsesAs::ReasoningText };
        let options = options().responses_as(responses_as).calls(random.below(2) == 0);
        let (mut texts, mut index) = (Vec::new(), 0);
        for _ in 0..1 + random.below(3) {
            if random.below(3) == 0 {
                server.call(index);
                index += 1;
            }
            server.message(index);
            let mut parts = Vec::new();
            for content in 0..1 + random.below(2) {
                let whole: String = (0..random.below(12)).map(|_| *random.pick(&words)).collect();
                let deltas = pieces(&mut random, &whole, 9);
                parts.push(server.text(index, content, &deltas));
                texts.push(whole);
            }
            server.item_done(index, message(index, "completed", &parts));
            index += 1;
        }
        let stream = server.end("completed");
        let out = at_random_cuts(dialect, &options, &stream, &mut random);
        let items = Client::whole(&out);
        let mut names = ids(&items);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), items.len(), "{stream}");
        let joined = |kind: &str| -> String {
            said(&items).iter().filter(|item| item.0 == kind).map(|item| &item.1[..]).collect()
        };
        let (mut thinking, mut content) = (String::new(), String::new());
        for (number, text) in texts.iter().enumerate() {
            let start = (number > 0).then_some(Start::Channel(Channel::Content));
            let scanner_options = aside::ScannerOptions::new().start(start);
            let mut scanner = aside::Scanner::with_options(dialect, &scanner_options).unwrap();
            let mut stretches: Vec<(Channel, String)> = Vec::new();
            let mut take = |event: aside::Event<'_>| {
                let text = String::from_utf8_lossy(event.bytes);
                match stretches.last_mut() {
                    _ if event.kind != aside::Kind::Text => {}
                    Some(last) if last.0 == event.channel => last.1 += &text,
                    _ => stretches.push((event.channel, text.into())),
                }
            };
            scanner.feed(text, &mut take).unwrap();
            scanner.finish(&mut take).unwrap();
            for (channel, text) in in_blocks(stretches, &Channel::Content) {
                match channel {
                    Channel::Thinking => thinking += &text,
                    Channel::Content => content += &text,
                    _ => {}
                }
            }
        }
        let got = [joined("reasoning"), joined("message")];
        assert_eq!(got, [thinking, content], "round {round}: {stream}\nbecame\n{out}");
    }
}

#[test]
fn streams_without_order_keep_their_text() {
    let mut random = Random::announced("streams_without_order_keep_their_text");
    let mut events: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for index in 0..3 {
        let id = format!("msg_{index}");
        let place = |kind: &str, more: Value| {
            let mut event = json!({"type": kind, "item_id": id, "output_index": index, "content_index": 0});
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event
        };
        let list = events.entry(index).or_default();
        list.push(json!({"type": "response.output_item.added", "output_index": index, "item": message(index, "in_progress", &[])}));
        list.push(place("response.content_part.added", json!({"part": text("")})));
        list.push(place("response.content_part.added", json!({"part": {"type": "refusal", "refusal": ""}})));
        for said in ["<think>a", "</think>b", "c<th", "", "<think>s", "</think>"] {
            list.push(place("response.output_text.delta", json!({"delta": said})));
            list.push(place("response.output_text.delta", json!({"delta": said})));
        }
        list.push(json!({"type": "response.output_text.delta", "delta": "c"}));
        list.push(place("response.output_text.done", json!({"text": "<think>a</think>b"})));
        list.push(place("response.content_part.done", json!({"part": text("<think>a</think>b")})));
        list.push(json!({"type": "response.output_item.done", "output_index": index, "item": message(index, "completed", &[text("a<think>b")])}));
        list.push(json!({"type": "response.output_item.done", "output_index": index, "item": 7}));
        list.push(json!({"type": "response.completed", "response": {"output": [message(index, "completed", &[text("<think>a</think>b")]), 7, null]}}));
        list.push(json!({"type": "response.refusal.delta", "output_index": index, "item_id": id, "content_index": 1, "delta": "no"}));
        list.push(json!({"type": "response.created", "response": {}}));
    }
    let all: Vec<Value> = events.into_values().flatten().collect();
    // Returns all letters in the deltas, without markers.
    let letters = |stream: &str| {
        let mut joined = String::new();
        for event in self::events(stream) {
            let kind = event["type"].as_str().unwrap();
            if kind.ends_with("text.delta") {
                joined += event["delta"].as_str().unwrap();
            }
        }
        let mut letters: Vec<char> = joined.chars().filter(|c| "abcs".contains(*c)).collect();
        letters.sort_unstable();
        letters.into_iter().collect::<String>()
    };
    for options in [options(), options().calls(true).promote_empty(true)] {
        for _ in 0..1500 {
            let stream: String =
                (0..1 + random.below(25)).map(|_| format!("data: {}\n\n", random.pick(&all))).collect();
            let out = at_random_cuts(&qwen3(), &options, &stream, &mut random);
            let (before, after) = (letters(&stream), letters(&out));
            for letter in "abcs".chars() {
                let count = |text: &str| text.matches(letter).count();
                assert!(count(&after) >= count(&before), "{stream}\nbecame\n{out}");
            }
        }
    }
}

// ----------------------------------------------------------------------------------------------------------------- docs

#[test]
fn the_page_shows_what_happens() {
    let page = std::fs::read_to_string(Path::new(support::ROOT).join("docs/responses.md")).unwrap();
    let blocks: Vec<&str> = page.split("```json\n").skip(1).map(|rest| rest.split_once("\n```").unwrap().0).collect();
    assert_eq!(blocks.len(), 2);
    assert_eq!(at_every_cut(&qwen3(), &options(), blocks[0]), blocks[1]);
}
