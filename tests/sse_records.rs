//! Checks that each record of the output is JSON: a line of Ollama's, the data of an event, a body. JSON that is copied into a line
//! must not contain line feeds, even if the model or the server has written some.

use aside::Dialect;
use aside::sse::{Body, Options, ResponsesAs, Shapes, Thinking};
use serde_json::{Value, json};
use support::rewriting::{at_every_cut, at_random_cuts};

/// Returns the data of each event, or the object of each line.
#[track_caller]
fn records(output: &str) -> Vec<Value> {
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}\n{output}"));
    if output.starts_with('{') {
        return output.lines().filter(|line| !line.is_empty()).map(read).collect();
    }
    let mut records = Vec::new();
    for event in output.replace("\r\n", "\n").split("\n\n") {
        let fields = event.lines().map(|line| line.split_once(": ").unwrap_or_else(|| panic!("{line:?}: {output}")));
        let data: Vec<&str> = fields.filter(|(name, _)| *name == "data").map(|(_, value)| value).collect();
        if !data.is_empty() && data != ["[DONE]"] {
            records.push(read(&data.join("\n")));
        }
    }
    records
}

fn options() -> Vec<Options> {
    let plain = Options::new();
    vec![
        plain.clone(),
        plain.clone().repair(true),
        plain.clone().normalise(Shapes::ALL),
        plain.clone().calls(true),
        plain.clone().thinking(Thinking::Drop),
        plain.clone().responses_as(ResponsesAs::Summary),
        plain.promote_empty(true).merge(true),
    ]
}

#[test]
fn an_object_over_several_lines_stays_json() {
    let qwen3 = Dialect::find("qwen3").unwrap();
    let mut random = samples::Random::announced("an_object_over_several_lines_stays_json");
    let root = std::path::Path::new(support::ROOT).join("tests/sse");
    let files = support::files(&root).into_iter().chain(support::files(root.join("formats")));
    let files: Vec<_> = files.filter(|file| file.extension().is_some_and(|kind| kind == "sse")).collect();
    assert!(files.len() > 8, "{files:?}");
    for file in files {
        let plain = std::fs::read_to_string(&file).unwrap().replace("\r\n", "\n");
        let mut pretty = String::new();
        for line in plain.lines() {
            let object = line.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok());
            match object {
                Some(object) => {
                    let object = serde_json::to_string_pretty(&object).unwrap();
                    pretty.extend(object.lines().map(|line| format!("data: {line}\n")));
                }
                None => pretty += &format!("{line}\n"),
            }
        }
        for options in options() {
            for end in ["\n", "\r\n"] {
                let output = at_random_cuts(&qwen3, &options, &pretty.replace('\n', end), &mut random);
                let wanted = at_random_cuts(&qwen3, &options, &plain, &mut random);
                // An empty chunk is only removed if its data is one line, so empty chunks are not compared.
                let says = |record: &Value| record["choices"][0]["delta"] != json!({"content": ""});
                let [output, wanted] =
                    [output, wanted].map(|text| records(&text).into_iter().filter(says).collect::<Vec<_>>());
                // Indexes that llama.cpp omits are only added to events with one line of data.
                let is_same = output == wanted || file.ends_with("responses-llama.cpp.sse");
                assert!(is_same, "{} {options:?}\n{output:?}\n{wanted:?}", file.display());
            }
        }
    }
}

/// Arguments as models write them if they were trained on indented JSON.
const CALL: &str = "<tool_call>\n{\n  \"name\": \"f\",\n  \"arguments\": {\n    \"x\": \"a\\nb\",\r\n\t\"y\": [\n1,\r2\n]\n  }\n}\n</tool_call>";

/// Finds the arguments of all calls in a value, as objects or strings.
fn arguments(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "arguments" || name == "partial_json" => found.push(json!(text)),
                    Value::Object(_) if name == "arguments" || name == "input" => found.push(value.clone()),
                    _ => arguments(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| arguments(value, found)),
        _ => {}
    }
}

#[test]
fn a_call_with_arguments_over_several_lines_is_in_one_record() {
    let wanted = json!({"x": "a\nb", "y": [1, 2]});
    let events = |events: &[Value]| events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
    let chat = |key: &str, reason: Value| json!({"id": "c", "choices": [{"index": 0, key: {"content": CALL}, "finish_reason": reason}]});
    let block = json!({"type": "text", "text": CALL});
    let item = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": CALL, "annotations": []}]});
    let at = json!({"item_id": "msg_1", "output_index": 0, "content_index": 0});
    let with = |kind: &str, members: Value| {
        let mut event = at.clone();
        event["type"] = json!(kind);
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        event
    };
    let line = |done: bool| json!({"model": "m", "created_at": "t", "message": {"role": "assistant", "content": if done { "" } else { CALL }}, "done": done});
    let whole_line = json!({"model": "m", "created_at": "t", "message": {"role": "assistant", "content": CALL}, "done": true, "done_reason": "stop"});
    for (body, input) in [
        (Body::Lines, format!("{}\n{}\n", line(false), line(true))),
        (Body::Lines, format!("{}\n{whole_line}\n", line(false).to_string().replace("<tool_call>", "Wait. <tool_call>"))),
        (Body::Lines, format!("{whole_line}\n")),
        (Body::Json, whole_line.to_string()),
        (Body::Json, chat("message", json!("stop")).to_string()),
        (Body::Events, events(&[chat("delta", Value::Null), json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})])),
        (Body::Json, json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [block], "stop_reason": "end_turn"}).to_string()),
        (
            Body::Events,
            events(&[
                json!({"type": "message_start", "message": {"id": "msg_1"}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": CALL}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            ]),
        ),
        (Body::Json, json!({"id": "resp_1", "object": "response", "status": "completed", "output": [item]}).to_string()),
        (
            Body::Events,
            events(&[
                json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}}),
                with("response.content_part.added", json!({"part": {"type": "output_text", "text": "", "annotations": []}})),
                with("response.output_text.delta", json!({"delta": CALL})),
                with("response.output_text.done", json!({"text": CALL})),
                with("response.content_part.done", json!({"part": {"type": "output_text", "text": CALL, "annotations": []}})),
                json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
                json!({"type": "response.completed", "response": {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}}),
            ]),
        ),
    ] {
        let output = at_every_cut(&Dialect::find("qwen3").unwrap(), &Options::new().calls(true).body(body), &input);
        let read = if body == Body::Json { vec![serde_json::from_str(&output).unwrap()] } else { records(&output) };
        let mut found = Vec::new();
        read.iter().for_each(|record| arguments(record, &mut found));
        // The deltas of a stream are pieces of one string.
        let strings: String = found.iter().filter_map(Value::as_str).collect();
        let strings = serde_json::Deserializer::from_str(&strings).into_iter::<Value>().map(Result::unwrap);
        let objects = found.iter().filter(|value| value.as_object().is_some_and(|object| !object.is_empty())).cloned();
        let all: Vec<Value> = strings.chain(objects).collect();
        assert!(!all.is_empty() && all.iter().all(|arguments| *arguments == wanted), "{all:?}\n{input}\n{output}");
    }
}
