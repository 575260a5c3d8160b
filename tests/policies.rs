//! Tests a host's policies for calls: how much of a call is sent before it is whole, calls of other tools, the number of calls, the
//! effect of the text's end, mended arguments, and calls without markers. In each format, in streams at every cut and in bodies,
//! nothing may be lost except what the policy drops, and the finish reason must be that of a call only if a call was sent.

use aside::call_writer::{CallWriter, ImpliedEnd, NotWhole, Tools, UnknownTool};
use aside::sse::{Options, Rewriter};
use aside::{Cause, Dialect, EndReason, Event, Kind, Scanner, ScannerOptions, Start, call_writer};
use serde_json::{Value, json};

const TOOLS: &str = r#"[
    {"type": "function", "function": {"name": "f", "parameters": {"properties": {
        "x": {"type": "integer"}, "list": {"type": "array"}, "map": {"type": ["object", "null"]}, "text": {"type": "string"}
    }}}},
    {"name": "g"}
]"#;

const WHOLE: &str = r#"<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>"#;
const UNKNOWN: &str = r#"<tool_call>{"name": "no", "arguments": {"x": 1}}</tool_call>"#;
const CUT: &str = r#"<tool_call>{"name": "f", "arguments": {"x": 1"#;
const BROKEN: &str = r#"<tool_call>{"name": "f", "arguments": {"x": True}}</tool_call>"#;
const TWO: &str = r#"<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call><tool_call>{"name": "g", "arguments": {}}</tool_call>"#;
/// The last two markers of this call are missing.
const NO_END: &str = "<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n";

fn wanting() -> Options {
    Options::new().calls(true).tools(Tools::read(TOOLS).unwrap())
}

fn rewritten(dialect: &str, options: &Options, input: &str, len: usize) -> String {
    let mut rewriter = Rewriter::new(&Dialect::find(dialect).unwrap(), options).unwrap();
    let mut out = Vec::new();
    for chunk in input.as_bytes().chunks(len) {
        rewriter.feed(chunk, &mut out).unwrap();
    }
    rewriter.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A client's view of an answer.
#[derive(Debug, Default, PartialEq)]
struct Said {
    content: String,
    /// Names and arguments.
    calls: Vec<(String, String)>,
    finish: String,
}

fn said(content: &str, calls: &[(&str, &str)], finish: &str) -> Said {
    let calls = calls.iter().map(|&(name, arguments)| (name.to_owned(), arguments.to_owned())).collect();
    Said { content: content.into(), calls, finish: finish.into() }
}

impl Said {
    fn add(&mut self, text: &Value) {
        self.content += text.as_str().unwrap_or_default();
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Chat,
    Ollama,
    Messages,
    Responses,
}

impl Format {
    const ALL: [Format; 4] = [Format::Chat, Format::Ollama, Format::Messages, Format::Responses];

    /// Returns the finish reasons of an answer without a call and of an answer with one.
    fn reasons(self) -> [&'static str; 2] {
        match self {
            Format::Chat => ["stop", "tool_calls"],
            Format::Ollama => ["stop", "stop"],
            Format::Messages => ["end_turn", "tool_use"],
            Format::Responses => ["completed", "completed"],
        }
    }

    fn body(self, text: &str) -> String {
        match self {
            Format::Chat => {
                let message = json!({"role": "assistant", "content": text});
                json!({"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            }
            Format::Ollama => {
                json!({"model": "m", "created_at": "2", "message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop"})
            }
            Format::Messages => {
                json!({"id": "m1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}],
                    "stop_reason": "end_turn"})
            }
            Format::Responses => {
                let part = json!({"type": "output_text", "text": text, "annotations": []});
                json!({"id": "r1", "object": "response", "status": "completed",
                    "output": [{"type": "message", "id": "i1", "status": "completed", "role": "assistant", "content": [part]}]})
            }
        }
        .to_string()
    }

    fn stream(self, pieces: &[&str]) -> String {
        let data = |value: Value| format!("data: {value}\n\n");
        let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
        let whole: String = pieces.concat();
        match self {
            Format::Chat => {
                let chunk = |delta: Value, finish: Value| {
                    data(json!({"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
                };
                let texts = pieces.iter().map(|text| chunk(json!({"content": text}), Value::Null));
                texts.collect::<String>() + &chunk(json!({}), "stop".into()) + "data: [DONE]\n\n"
            }
            Format::Ollama => {
                let line = |text: &str, is_done: bool| {
                    let message = json!({"role": "assistant", "content": text});
                    let mut line = json!({"model": "m", "created_at": "2", "message": message, "done": is_done});
                    if is_done {
                        line["done_reason"] = "stop".into();
                    }
                    format!("{line}\n")
                };
                pieces.iter().map(|text| line(text, false)).collect::<String>() + &line("", true)
            }
            Format::Messages => {
                let mut out = event(
                    json!({"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant", "content": []}}),
                );
                out += &event(
                    json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                );
                for text in pieces {
                    out += &event(
                        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
                    );
                }
                out += &event(json!({"type": "content_block_stop", "index": 0}));
                out += &event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
                out + &event(json!({"type": "message_stop"}))
            }
            Format::Responses => {
                let part = json!({"type": "output_text", "text": whole, "annotations": []});
                let item = json!({"type": "message", "id": "i1", "status": "completed", "role": "assistant", "content": [part]});
                let mut out = event(json!({"type": "response.output_item.added", "output_index": 0,
                    "item": {"type": "message", "id": "i1", "status": "in_progress", "role": "assistant", "content": []}}));
                let place = |kind: &str| json!({"type": kind, "item_id": "i1", "output_index": 0, "content_index": 0});
                let mut added = place("response.content_part.added");
                added["part"] = json!({"type": "output_text", "text": "", "annotations": []});
                out += &event(added);
                for text in pieces {
                    let mut delta = place("response.output_text.delta");
                    delta["delta"] = (*text).into();
                    out += &event(delta);
                }
                let mut done = place("response.output_text.done");
                done["text"] = whole.clone().into();
                out += &event(done);
                let mut done = place("response.content_part.done");
                done["part"] = item["content"][0].clone();
                out += &event(done);
                out += &event(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
                out + &event(json!({"type": "response.completed",
                    "response": {"id": "r1", "object": "response", "status": "completed", "output": [item]}}))
            }
        }
    }

    /// Reads a body.
    fn read_body(self, output: &str) -> Said {
        let body: Value = serde_json::from_str(output).unwrap_or_else(|error| panic!("{error}: {output}"));
        let mut said = Said::default();
        match self {
            Format::Chat | Format::Ollama => {
                let (message, finish) = match self {
                    Format::Chat => (&body["choices"][0]["message"], &body["choices"][0]["finish_reason"]),
                    _ => (&body["message"], &body["done_reason"]),
                };
                said.add(&message["content"]);
                said.finish = finish.as_str().unwrap().into();
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    said.calls.push(called(&call["function"]["name"], &call["function"]["arguments"]));
                }
            }
            Format::Messages => {
                said.finish = body["stop_reason"].as_str().unwrap().into();
                for block in body["content"].as_array().unwrap() {
                    match block["type"].as_str().unwrap() {
                        "text" => said.add(&block["text"]),
                        "tool_use" => said.calls.push(called(&block["name"], &block["input"])),
                        _ => {}
                    }
                }
            }
            Format::Responses => said = of_response(&body),
        }
        said
    }

    /// Reads a stream as a client does.
    fn read_stream(self, output: &str) -> Said {
        let mut said = Said::default();
        let values = output.lines().filter_map(|line| {
            let line = line.strip_prefix("data: ").unwrap_or(line);
            serde_json::from_str::<Value>(line).ok()
        });
        let values: Vec<Value> = values.collect();
        match self {
            Format::Chat => {
                for value in &values {
                    let choice = &value["choices"][0];
                    said.add(&choice["delta"]["content"]);
                    for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
                        let at = call["index"].as_u64().unwrap() as usize;
                        if said.calls.len() <= at {
                            said.calls.resize(at + 1, Default::default());
                        }
                        said.calls[at].0 += call["function"]["name"].as_str().unwrap_or_default();
                        said.calls[at].1 += call["function"]["arguments"].as_str().unwrap_or_default();
                    }
                    if let Some(reason) = choice["finish_reason"].as_str() {
                        said.finish = reason.into();
                    }
                }
            }
            Format::Ollama => {
                for value in &values {
                    let one = value.clone();
                    let mut line = one.clone();
                    line["done_reason"] = one["done_reason"].as_str().unwrap_or_default().into();
                    let line = self.read_body(&line.to_string());
                    said.content += &line.content;
                    said.calls.extend(line.calls);
                    said.finish = line.finish;
                }
            }
            Format::Messages => {
                for value in &values {
                    match value["type"].as_str().unwrap() {
                        "content_block_start" if value["content_block"]["type"] == "tool_use" => {
                            let name = value["content_block"]["name"].as_str().unwrap();
                            said.calls.push((name.into(), String::new()));
                        }
                        "content_block_delta" => {
                            said.add(&value["delta"]["text"]);
                            if let Some(json) = value["delta"]["partial_json"].as_str() {
                                said.calls.last_mut().unwrap().1 += json;
                            }
                        }
                        "message_delta" => said.finish = value["delta"]["stop_reason"].as_str().unwrap().into(),
                        _ => {}
                    }
                }
            }
            Format::Responses => {
                let mut deltas = Said::default();
                for value in &values {
                    match value["type"].as_str().unwrap() {
                        "response.output_text.delta" => deltas.add(&value["delta"]),
                        "response.function_call_arguments.delta" => {
                            deltas.calls.last_mut().unwrap().1 += value["delta"].as_str().unwrap();
                        }
                        "response.output_item.added" if value["item"]["type"] == "function_call" => {
                            deltas.calls.push((value["item"]["name"].as_str().unwrap().into(), String::new()));
                        }
                        "response.completed" => said = of_response(&value["response"]),
                        _ => {}
                    }
                }
                deltas.finish.clone_from(&said.finish);
                assert_eq!(deltas, said, "what the deltas say and what the end says: {output}");
            }
        }
        said
    }
}

fn called(name: &Value, arguments: &Value) -> (String, String) {
    let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
    (name.as_str().unwrap().into(), arguments)
}

fn of_response(response: &Value) -> Said {
    let mut said = Said { finish: response["status"].as_str().unwrap().into(), ..Said::default() };
    for item in response["output"].as_array().unwrap() {
        match item["type"].as_str().unwrap() {
            "message" => item["content"].as_array().unwrap().iter().for_each(|part| said.add(&part["text"])),
            "function_call" => said.calls.push(called(&item["name"], &item["arguments"])),
            _ => {}
        }
    }
    said
}

/// Removes the blanks from arguments. Formats that write arguments as objects, not as strings, may use other blanks.
fn plain(mut said: Said) -> Said {
    for (_, arguments) in &mut said.calls {
        if let Ok(value) = serde_json::from_str::<Value>(arguments) {
            *arguments = value.to_string();
        }
    }
    said
}

/// Returns what clients receive for a text as a body and as a stream, checked to be the same at every cut.
fn both(format: Format, options: &Options, text: &str) -> [Said; 2] {
    let body = plain(format.read_body(&rewritten("qwen3", options, &format.body(text), usize::MAX)));
    let mut streams = [1, 3, usize::MAX].into_iter().map(|len| {
        let pieces: Vec<&str> = text.as_bytes().chunks(len).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
        plain(format.read_stream(&rewritten("qwen3", options, &format.stream(&pieces), 7)))
    });
    let first = streams.next().unwrap();
    streams.for_each(|other| assert_eq!(other, first, "{format:?}: {text}"));
    [body, first]
}

const F: &[(&str, &str)] = &[("f", r#"{"x":1}"#)];

#[test]
fn a_call_that_is_not_whole_is_told_or_is_text() {
    for format in Format::ALL {
        let [stop, called] = format.reasons();
        for not_whole in [NotWhole::Tell, NotWhole::Hold, NotWhole::Text] {
            let options = wanting().not_whole(not_whole);
            for text in [CUT, BROKEN] {
                let [body, stream] = both(format, &options, text);
                // Bodies and Ollama's format have only whole calls.
                assert_eq!(body, said(text, &[], stop), "{format:?} {not_whole:?}");
                if not_whole != NotWhole::Tell || format == Format::Ollama {
                    assert_eq!(stream, said(text, &[], stop), "{format:?} {not_whole:?}");
                }
            }
            let text = format!("Now.{WHOLE}{CUT}");
            let [body, stream] = both(format, &options, &text);
            assert_eq!(body, said(&format!("Now.{CUT}"), F, called), "{format:?} {not_whole:?}");
            if not_whole != NotWhole::Tell {
                assert_eq!(stream, body, "{format:?} {not_whole:?}");
            }
        }
    }
    // The call is sent up to the place where the text ends.
    let [_, stream] = both(Format::Chat, &wanting(), CUT);
    assert_eq!(stream, said("", &[("f", r#"{"x": 1"#)], "stop"));
}

#[test]
fn what_is_longer_than_may_be_held_is_text_or_leaves_as_it_comes() {
    let long = format!(r#"<tool_call>{{"name": "g", "arguments": {{"x": "{}"}}}}"#, "a".repeat(500));
    let arguments = format!(r#"{{"x":"{}"}}"#, "a".repeat(500));
    let options = wanting().max_held(300);
    let [_, stream] = both(Format::Chat, &options.clone().not_whole(NotWhole::Hold), &long);
    assert_eq!(stream, said(&long, &[], "stop"));
    let [body, stream] = both(Format::Chat, &options.clone().not_whole(NotWhole::Text), &long);
    assert_eq!((&stream, &body), (&said("", &[("g", &arguments)], "tool_calls"), &stream));
    let cut = &long[..450];
    let [_, stream] = both(Format::Chat, &options.clone().not_whole(NotWhole::Text), cut);
    assert_eq!(stream, said("", &[("g", &cut[cut.find("{\"x\"").unwrap()..])], "stop"));
    // A short call is held with either policy.
    for not_whole in [NotWhole::Hold, NotWhole::Text] {
        let [_, stream] = both(Format::Chat, &options.clone().not_whole(not_whole), &long[..200]);
        assert_eq!(stream, said(&long[..200], &[], "stop"));
    }
}

#[test]
fn nothing_of_a_held_call_leaves_before_it_is_whole() {
    let dialect = Dialect::find("qwen3").unwrap();
    let mut rewriter = Rewriter::new(&dialect, &wanting().not_whole(NotWhole::Hold)).unwrap();
    let stream = Format::Chat.stream(&[WHOLE.strip_suffix("}</tool_call>").unwrap(), "}", "</tool_call>"]);
    let mut events = stream.split_inclusive("\n\n");
    let mut out = Vec::new();
    rewriter.feed(events.next().unwrap(), &mut out).unwrap();
    assert!(!String::from_utf8_lossy(&out).contains("tool_calls"), "{}", String::from_utf8_lossy(&out));
    rewriter.feed(events.next().unwrap(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(Format::Chat.read_stream(&out).calls, [("f".to_owned(), r#"{"x": 1}"#.to_owned())], "all of it at once");
}

#[test]
fn a_call_of_another_tool_is_text_or_gone_or_told() {
    for format in Format::ALL {
        let [stop, called] = format.reasons();
        let no: &[(&str, &str)] = &[("no", r#"{"x":1}"#)];
        for (unknown_tool, alone) in [
            (UnknownTool::Text, said(UNKNOWN, &[], stop)),
            (UnknownTool::Drop, said("", &[], stop)),
            (UnknownTool::Tell, said("", no, called)),
        ] {
            let options = wanting().unknown_tool(unknown_tool);
            let [body, stream] = both(format, &options, UNKNOWN);
            assert_eq!([&body, &stream], [&alone, &alone], "{format:?} {unknown_tool:?}");
            let [body, stream] = both(format, &options, &format!("Now.{UNKNOWN}{WHOLE}"));
            let calls = if unknown_tool == UnknownTool::Tell { [no, F].concat() } else { F.to_vec() };
            let wanted = said(&format!("Now.{}", alone.content), &calls, called);
            assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?} {unknown_tool:?}");
            // With an empty list of tools, all tools are unknown.
            let none = options.tools(Tools::read("[]").unwrap());
            let [body, stream] = both(format, &none, UNKNOWN);
            assert_eq!([&body, &stream], [&alone, &alone], "{format:?} {unknown_tool:?}");
        }
        // Only the text that belongs to the call is dropped, and the text around it stays.
        let options = wanting().unknown_tool(UnknownTool::Drop);
        let [body, stream] = both(format, &options, &UNKNOWN.replace("1}}", "1}] and"));
        let wanted = said("] and", &[], stop);
        assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?}");
    }
}

#[test]
fn so_many_calls_are_told_and_later_ones_are_text() {
    let second = r#"<tool_call>{"name": "g", "arguments": {}}</tool_call>"#;
    for format in Format::ALL {
        let [_, called] = format.reasons();
        let wanted = said(second, F, called);
        let [body, stream] = both(format, &wanting().max_calls(1), TWO);
        assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?}");
        let both_told = said("", &[F[0], ("g", "{}")], called);
        for most in [None, Some(0), Some(2)] {
            let [body, stream] = both(format, &wanting().max_calls(most), TWO);
            assert_eq!([&body, &stream], [&both_told, &both_told], "{format:?}");
        }
        // A call that was not sent does not count for the limit.
        let [body, stream] =
            both(format, &wanting().max_calls(1).not_whole(NotWhole::Hold), &format!("{BROKEN}{WHOLE}"));
        let wanted = said(BROKEN, F, called);
        assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?}");
    }
}

#[test]
fn the_end_of_an_answer_ends_a_call_between_two_values() {
    for format in Format::ALL {
        let [stop, called] = format.reasons();
        let [body, stream] = both(format, &wanting(), NO_END);
        let whole = said("", F, called);
        assert_eq!(body, whole, "{format:?}");
        // In these two formats, the text of a stream ends before its finish reason arrives.
        if matches!(format, Format::Chat | Format::Ollama) {
            assert_eq!(stream, whole, "{format:?}");
        }
        let off = wanting().implied_end(ImpliedEnd::Off).not_whole(NotWhole::Hold);
        let [body, stream] = both(format, &off, NO_END);
        let text = said(NO_END, &[], stop);
        assert_eq!([&body, &stream], [&text, &text], "{format:?}");
        // The text's end does not complete a call inside a value, before the first value, in JSON or inside a marker.
        let inside = &NO_END[..NO_END.len() - 4];
        let before = "<tool_call>\n<function=f>\n";
        let marker = format!("{NO_END}</func");
        for text in [inside, before, CUT, &marker] {
            let [body, stream] = both(format, &wanting().not_whole(NotWhole::Hold), text);
            let wanted = said(text, &[], stop);
            assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?}: {text}");
        }
    }
    // An end by a limit does not complete a call either.
    let length = |text: &str| text.replace("\"stop\"", "\"length\"");
    let body = rewritten("qwen3", &wanting(), &length(&Format::Chat.body(NO_END)), 7);
    assert_eq!(Format::Chat.read_body(&body), said(NO_END, &[], "length"));
    let stream = rewritten("qwen3", &wanting(), &length(&Format::Chat.stream(&[NO_END])), 7);
    assert_eq!(Format::Chat.read_stream(&stream), said("", &[("f", r#"{"x":1"#)], "length"));
}

/// A call of a call writer: its name, its arguments, and for its end whether it is whole, the cause, and whether it was repaired.
type Written = (String, String, Option<(bool, Cause, bool)>);

/// Returns the calls that a call writer writes for a text.
fn written(options: call_writer::Options, text: &str, reason: EndReason) -> Vec<Written> {
    let dialect = Dialect::find("qwen3").unwrap();
    let run = |len: usize| {
        let mut writer = CallWriter::new(&dialect, options.clone());
        let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
        let mut calls: Vec<Written> = Vec::new();
        let mut take = |event: Event<'_>| {
            let taken = writer.event(&event, |delta| {
                if let Some(name) = delta.name {
                    assert_eq!(delta.index, calls.len() as u64);
                    calls.push((name.into(), String::new(), None));
                }
                let call = calls.last_mut().unwrap();
                call.1 += delta.arguments;
                call.2 = delta.end.map(|end| (end.is_whole, end.cause, end.is_repaired));
            });
            taken.unwrap();
        };
        for chunk in text.as_bytes().chunks(len) {
            scanner.feed(chunk, &mut take).unwrap();
        }
        scanner.end_reason(reason);
        scanner.finish(&mut take).unwrap();
        calls
    };
    let whole = run(usize::MAX);
    for len in [1, 2, 5] {
        assert_eq!(run(len), whole, "in pieces of {len}: {text}");
    }
    whole
}

fn writing() -> call_writer::Options {
    call_writer::Options::new().tools(Tools::read(TOOLS).unwrap())
}

#[test]
fn a_writer_does_the_same() {
    let ended = EndReason::Ended;
    let told = |name: &str, arguments: &str, end| vec![(name.to_owned(), arguments.to_owned(), Some(end))];
    assert_eq!(written(writing(), CUT, ended), told("f", r#"{"x": 1"#, (false, Cause::EndOfStream, false)));
    for not_whole in [NotWhole::Hold, NotWhole::Text] {
        assert_eq!(written(writing().not_whole(not_whole), CUT, ended), []);
        assert_eq!(written(writing().not_whole(not_whole), BROKEN, ended), []);
        let whole = told("f", r#"{"x": 1}"#, (true, Cause::Marker, false));
        assert_eq!(written(writing().not_whole(not_whole), WHOLE, ended), whole);
    }
    // The held bytes are `{"x": 1}`.
    for (most, hold, text) in [(8, 1, 1), (7, 0, 1)] {
        let options = writing().max_held(most);
        assert_eq!(written(options.clone().not_whole(NotWhole::Hold), WHOLE, ended).len(), hold, "{most}");
        assert_eq!(written(options.not_whole(NotWhole::Text), WHOLE, ended).len(), text, "{most}");
    }
    assert_eq!(written(writing(), UNKNOWN, ended), []);
    assert_eq!(written(writing().unknown_tool(UnknownTool::Drop), UNKNOWN, ended), []);
    let whole = told("no", r#"{"x": 1}"#, (true, Cause::Marker, false));
    assert_eq!(written(writing().unknown_tool(UnknownTool::Tell), UNKNOWN, ended), whole);
    assert_eq!(written(writing().max_calls(1), TWO, ended).len(), 1);
    assert_eq!(written(writing(), TWO, ended).len(), 2);
    let implied = told("f", r#"{"x":1}"#, (true, Cause::Implied, false));
    assert_eq!(written(writing(), NO_END, ended), implied);
    let cut = told("f", r#"{"x":1"#, (false, Cause::EndOfStream, false));
    for reason in [EndReason::Unknown, EndReason::CutOff] {
        assert_eq!(written(writing(), NO_END, reason), cut);
    }
    assert_eq!(written(writing().implied_end(ImpliedEnd::Off), NO_END, ended), cut);
}

#[test]
fn a_scanner_says_that_an_answer_ended_in_a_call() {
    let dialect = Dialect::find("qwen3").unwrap();
    for (reason, wanted) in [(EndReason::Ended, Cause::Ended), (EndReason::CutOff, Cause::EndOfStream)] {
        let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
        let mut ends = Vec::new();
        let mut take = |event: Event<'_>| match event.kind {
            Kind::CallEnd { cause, .. } | Kind::Close(cause) => ends.push(cause),
            _ => {}
        };
        scanner.feed(CUT, &mut take).unwrap();
        scanner.end_reason(reason);
        scanner.finish(&mut take).unwrap();
        assert_eq!(ends, [wanted, Cause::EndOfStream]);
    }
}

#[test]
fn arguments_are_mended_where_nothing_has_to_be_guessed() {
    let json = |arguments: &str| format!(r#"<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>"#);
    let tag = |key: &str, value: &str| {
        format!("<tool_call>\n<function=f>\n<parameter={key}>\n{value}\n</parameter>\n</function>\n</tool_call>")
    };
    // Arguments that are mended, and the results.
    let cases = [
        (json(r#"{"text": "C:\Dev\_x \é"}"#), r#"{"text": "C:\\Dev\\_x \\é"}"#),
        (json("{\"text\": \"a\\\nb\"}"), r#"{"text": "a\\\nb"}"#),
        (json(r#"{"list": "[1, \"a\"]", "x": 1}"#), r#"{"list": [1, "a"], "x": 1}"#),
        (json(r#"{"x": 1, "li\u0073t" : " [] " }"#), r#"{"x": 1, "li\u0073t" : [] }"#),
        (json(r#"{"map": "{\"list\": \"[1]\"}"}"#), r#"{"map": {"list": "[1]"}}"#),
        (tag("list", r#""[1, \"a\"]""#), r#"{"list":[1, "a"]}"#),
        (tag("list", "['a', True, None, (1, 2)]"), r#"{"list":["a",true,null,[1,2]]}"#),
        (tag("map", "{'a': {'b': 1.5}}"), r#"{"map":{"a":{"b":1.5}}}"#),
    ];
    for (text, wanted) in &cases {
        let calls = written(writing().repair_arguments(true), text, EndReason::Ended);
        let end = Some((true, Cause::Marker, true));
        assert_eq!(calls, [("f".to_owned(), (*wanted).to_owned(), end)], "{text}");
        // Without the option, the call is not mended.
        let calls = written(writing(), text, EndReason::Ended);
        assert_ne!((&*calls[0].1, calls[0].2.unwrap().2), (*wanted, true), "{text}");
        // A host that does not want incomplete calls does not get mended ones either.
        assert_eq!(written(writing().repair_arguments(true).not_whole(NotWhole::Hold), text, EndReason::Ended), []);
    }
    // Arguments that stay the same with and without the option.
    let same = [
        json(r#"{"text": "[1]", "x": 1}"#),
        json(r#"{"list": "not a list"}"#),
        json(r#"{"list": "{}"}"#),
        json(r#"{"map": {"list": "[1]"}, "list": [{"list": "[1]"}]}"#),
        json(r#"{"other": "[1]"}"#),
        json(r#"{"text": "\u12G4"}"#),
        json(r#"{"list": "[1"#),
        json(r#"{"list": ["\n\"\\"]}"#),
        json("{}"),
        tag("text", "['a']"),
        tag("list", "[see notes]"),
        tag("list", "{'a': 1}"),
        tag("map", "{a: 1}"),
        tag("x", "'1'"),
        tag("other", "['a']"),
    ];
    for text in &same {
        let mended = written(writing().repair_arguments(true), text, EndReason::Ended);
        assert_eq!(mended, written(writing(), text, EndReason::Ended), "{text}");
        assert!(mended.iter().all(|call| !call.2.unwrap().2), "{text}");
    }
    // A string that is longer than the limit for held bytes stays.
    let (text, _) = &cases[2];
    let calls = written(writing().repair_arguments(true).max_held(9), text, EndReason::Ended);
    assert_eq!(calls[0].1, r#"{"list": "[1, \"a\"]", "x": 1}"#);
    // The same with the rewriter.
    for format in Format::ALL {
        let [_, called] = format.reasons();
        let [body, stream] = both(format, &wanting().repair_arguments(true), &json(r#"{"list": "[1]"}"#));
        let wanted = said("", &[("f", r#"{"list":[1]}"#)], called);
        assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?}");
    }
}

#[test]
fn a_grammar_makes_calls_without_markers() {
    let list = r#"[{"name": "f", "parameters": {"x": 1}}, {"name": "g", "arguments": {}}]"#;
    for format in Format::ALL {
        let [stop, called] = format.reasons();
        let options = wanting().start(Start::Calls);
        for text in [list.to_owned(), format!(" \n{list}\n"), format!("<think>\nhm\n</think>\n\n{list}")] {
            let [body, stream] = both(format, &options, &text);
            let wanted = said("", &[F[0], ("g", "{}")], called);
            assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?}: {text}");
        }
        for text in ["Sorry, I cannot.", "[1, 2]", r#"{"a": 1}"#, "<tool_call> is a marker."] {
            let [body, stream] = both(format, &options, text);
            let wanted = said(text, &[], stop);
            assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?}: {text}");
        }
        let named = wanting().start_call("f");
        for text in [r#"{"x": 1}"#, "\n{\"x\": 1}\n", "<think>\nhm\n</think>\n\n{\"x\": 1}"] {
            let [body, stream] = both(format, &named, text);
            let wanted = said("", F, called);
            assert_eq!([&body, &stream], [&wanted, &wanted], "{format:?}: {text}");
        }
        let [body, _] = both(format, &named, r#"{"x": 1"#);
        assert_eq!(body, said(r#"{"x": 1"#, &[], stop), "{format:?}");
        let [body, stream] = both(format, &named, "No.");
        assert_eq!([&body, &stream], [&said("No.", &[], stop), &said("No.", &[], stop)], "{format:?}");
    }
    // The same rewriter serves another request next.
    let mut rewriter = Rewriter::new(&Dialect::find("qwen3").unwrap(), &wanting()).unwrap();
    for (start, wanted) in
        [(Some(Start::Calls), said("", &[F[0], ("g", "{}")], "tool_calls")), (None, said(list, &[], "stop"))]
    {
        let mut out = Vec::new();
        rewriter.use_dialect(None, start).unwrap();
        rewriter.feed(Format::Chat.body(list), &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        assert_eq!(plain(Format::Chat.read_body(&String::from_utf8(out).unwrap())), wanted);
    }
    // If calls are not wanted, they are text, and a scanner cannot be made with this start.
    let [body, stream] = both(Format::Chat, &Options::new().start(Start::Calls), list);
    assert_eq!([&body, &stream], [&said(list, &[], "stop"), &said(list, &[], "stop")]);
    let dialect = Dialect::find("qwen3").unwrap();
    let refused = Scanner::with_options(&dialect, &ScannerOptions::new().start(Start::Calls));
    assert!(matches!(refused, Err(aside::Error::NoSuchStart)));
    let error = Dialect::load(
        "name = \"mine\"\nstart = \"calls\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<a>\"]\nclose = [\"</a>\"]",
    )
    .unwrap_err()
    .to_string();
    assert!(error.contains("has no calls to start in"), "{error}");
    assert_eq!("calls".parse(), Ok(Start::Calls));
}

/// Checks that in completions, calls always stay text, for all options of the host.
#[test]
fn completions_have_no_calls() {
    let options = wanting().not_whole(NotWhole::Hold).unknown_tool(UnknownTool::Drop).max_calls(1);
    let body = json!({"id": "c1", "object": "text_completion", "choices": [{"index": 0, "text": format!("{UNKNOWN}{TWO}"), "finish_reason": "stop"}]});
    assert_eq!(rewritten("qwen3", &options, &body.to_string(), 7), body.to_string());
}
