//! Rewrites the streams of public reports with each option alone and with several: no text may be lost, no stream may get a new
//! fault, and neither a second pass nor a cut may make a difference.

use std::collections::BTreeMap;

use aside::Dialect;
use aside::sse::{Options, ResponsesAs, Shapes, Thinking};
use samples::Random;
use serde_json::{Value, json};
use support::messages::Server;
use support::rewriting::{at_every_cut, at_random_cuts, rewrite};

// ----------------------------------------------------------------------------------------------------------------- streams

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn delta(kind: &str, text: &str) -> Value {
    let member = kind.strip_suffix("_delta").unwrap();
    json!({"type": kind, (member): text})
}

/// Streams of Messages whose blocks have text of two kinds or no start.
fn messages() -> Vec<String> {
    let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
    let streams: [&dyn Fn(&mut Server); 5] = [
        &|server| {
            server.start(0, &thinking).delta(0, &delta("thinking_delta", "A")).text(0, "Hi.").stop(0);
        },
        &|server| {
            server.start(0, &thinking).delta(0, &delta("thinking_delta", "A")).text(0, "").text(0, "Hi.");
            server.delta(0, &delta("thinking_delta", "B")).stop(0).texts(1, &["Bye."]);
        },
        &|server| {
            server.delta(0, &delta("thinking_delta", "A")).delta(0, &delta("signature_delta", "s")).stop(0);
            server.texts(1, &["Hi."]);
        },
        &|server| {
            server.text_start(0).delta(0, &delta("thinking_delta", "A")).text(0, "Hi.").stop(0);
        },
        &|server| {
            server.delta(0, &delta("thinking_delta", "A")).text(1, "Hi.").stop(1).call(2);
        },
    ];
    let stream = |write: &&dyn Fn(&mut Server)| {
        let mut server = Server::default();
        write(server.begin());
        server.end("end_turn")
    };
    streams.iter().map(stream).collect()
}

/// A stream of Responses without events of these types.
fn responses_without(left_out: &[&str], text: &str) -> String {
    let item = |status: &str, content: &[Value]| json!({"id": "m", "type": "message", "role": "assistant", "status": status, "content": content});
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let whole = item("completed", &[part(text)]);
    let of_part = |kind: &str, name: &str, value: Value| json!({"type": kind, "item_id": "m", "output_index": 0, "content_index": 0, (name): value});
    let (start, end) = text.split_at(text.len() / 2);
    let events = [
        json!({"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", &[])}),
        of_part("response.content_part.added", "part", part("")),
        of_part("response.output_text.delta", "delta", start.into()),
        of_part("response.output_text.delta", "delta", end.into()),
        of_part("response.output_text.done", "text", text.into()),
        of_part("response.content_part.done", "part", part(text)),
        json!({"type": "response.output_item.done", "output_index": 0, "item": whole}),
        json!({"type": "response.completed", "response":
            {"id": "r", "object": "response", "status": "completed", "output": [whole]}}),
    ];
    let is_left_out = |event: &&Value| !left_out.contains(&event["type"].as_str().unwrap());
    events.iter().filter(is_left_out).map(event).collect()
}

const ADDED: &str = "response.output_item.added";
const PART_ADDED: &str = "response.content_part.added";
const DONE: [&str; 3] = ["response.output_text.done", "response.content_part.done", "response.output_item.done"];

/// Streams of Responses without some of the events around their text.
fn responses() -> Vec<String> {
    let [text_done, part_done, item_done] = DONE;
    let left_out: [&[&str]; 8] = [
        &[ADDED],
        &[PART_ADDED],
        &[ADDED, PART_ADDED],
        &[ADDED, PART_ADDED, text_done, part_done, item_done],
        &[ADDED, PART_ADDED, text_done, part_done],
        &[PART_ADDED, text_done, part_done],
        &[PART_ADDED, text_done],
        &[PART_ADDED, part_done],
    ];
    let texts = ["<think>\nA\n</think>\n\nHi.", "Hi."];
    left_out.iter().flat_map(|left_out| texts.map(|text| responses_without(left_out, text))).collect()
}

/// The streams with their names.
fn streams() -> Vec<(String, String)> {
    let own = messages().into_iter().chain(responses()).enumerate();
    let own = own.map(|(number, stream)| (format!("stream {number} of this test"), stream));
    let files = support::shared_files("cases/streams-2")
        .into_iter()
        .filter(|file| file.extension().is_some_and(|kind| kind == "sse"));
    let reported = files.map(|file| (file.display().to_string(), std::fs::read_to_string(&file).unwrap()));
    own.chain(reported).collect()
}

// ---------------------------------------------------------------------------------------------------------------- reading

fn values(stream: &str) -> Vec<Value> {
    stream.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()).collect()
}

fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap_or_default()
}

/// The text of a value: a string, or a list of parts.
fn text_of(value: &Value, member: &str) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text_of(&part[member], "text")).collect(),
        _ => String::new(),
    }
}

/// The thinking and the content of a stream.
fn texts(stream: &str) -> [String; 2] {
    let mut texts = [String::new(), String::new()];
    for event in values(stream) {
        match kind(&event) {
            "content_block_start" | "content_block_delta" => {
                for part in [&event["content_block"], &event["delta"]] {
                    texts[0] += part["thinking"].as_str().unwrap_or_default();
                    texts[1] += part["text"].as_str().unwrap_or_default();
                }
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                texts[0] += event["delta"].as_str().unwrap();
            }
            "response.output_text.delta" => texts[1] += event["delta"].as_str().unwrap(),
            _ => {}
        }
        for choice in event["choices"].as_array().into_iter().flatten() {
            let delta = &choice["delta"];
            let mut names = ["reasoning_content", "reasoning", "thinking"].iter().map(|name| &delta[*name]);
            texts[0] +=
                &text_of(names.find(|value| !text_of(value, "text").is_empty()).unwrap_or(&Value::Null), "text");
            texts[0] +=
                &text_of(&delta["content"].as_array().map_or(Value::Null, |list| list.clone().into()), "thinking");
            texts[1] += &text_of(&delta["content"], "text");
        }
    }
    texts
}

/// The types and the indexes of a stream's events, without repeats in a row.
fn outline(stream: &str) -> Vec<String> {
    let place = |event: Value| format!("{} {} {}", event["type"], event["index"], event["output_index"]);
    let mut places: Vec<String> = values(stream).into_iter().map(place).collect();
    places.dedup();
    places
}

/// A text without its markers and without blanks.
fn bare(text: &str) -> String {
    text.replace("<think>", "").replace("</think>", "").split_whitespace().collect()
}

// ----------------------------------------------------------------------------------------------------------------- faults

/// Returns the faults that a strict client finds in a stream.
fn faults(stream: &str) -> Vec<String> {
    let events = values(stream);
    let mut faults = Vec::new();
    let mut fault = |is: bool, what: &str| {
        if is {
            faults.push(what.to_owned());
        }
    };
    let (mut open, mut blocks) = (None::<(u64, String)>, 0);
    let mut items: BTreeMap<u64, String> = BTreeMap::new();
    let (mut parts, mut ended): (BTreeMap<(u64, u64), String>, _) = (BTreeMap::new(), Vec::new());
    for event in &events {
        let (kind, index) = (kind(event), event["index"].as_u64());
        let item = event["output_index"].as_u64().unwrap_or_default();
        let part = (item, event["content_index"].as_u64().or(event["summary_index"].as_u64()).unwrap_or_default());
        match kind {
            "content_block_start" => {
                fault(open.is_some(), "a start while a block is open");
                fault(index != Some(blocks), "a gap");
                open = index.zip(event["content_block"]["type"].as_str().map(str::to_owned));
                blocks += 1;
            }
            "content_block_delta" => {
                fault(open.as_ref().map(|open| open.0) != index, "a delta of no block");
                let wanted = match event["delta"]["type"].as_str().unwrap() {
                    "text_delta" => "text",
                    "thinking_delta" | "signature_delta" => "thinking",
                    _ => "tool_use",
                };
                fault(open.as_ref().is_some_and(|open| open.1 != wanted), "a delta of another kind");
            }
            "content_block_stop" => fault(open.take().map(|open| open.0) != index, "a stop of no block"),
            "message_delta" | "message_stop" => fault(open.is_some(), "no stop"),
            "response.output_item.added" => {
                fault(items.insert(item, String::new()).is_some(), "an item begins twice");
                fault(item as usize + 1 != items.len(), "an item out of its order");
            }
            "response.output_item.done" => {
                fault(!items.contains_key(&item), "the end of no item");
                fault(ended.contains(&item), "an item ends twice");
                fault(parts.keys().any(|(of, _)| *of == item), "a part does not end");
                ended.push(item);
            }
            "response.content_part.added" | "response.reasoning_summary_part.added" => {
                fault(!items.contains_key(&item) || ended.contains(&item), "a part of no item");
                fault(parts.insert(part, String::new()).is_some(), "a part begins twice");
            }
            "response.content_part.done" | "response.reasoning_summary_part.done" => {
                let text = parts.remove(&part);
                fault(text.is_none(), "the end of no part");
                fault(text.is_some_and(|text| event["part"]["text"] != *text), "a part with another text");
            }
            "response.output_text.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning_summary_text.delta" => match parts.get_mut(&part) {
                Some(text) => *text += event["delta"].as_str().unwrap(),
                None => fault(true, "a delta of no part"),
            },
            "response.output_text.done" | "response.reasoning_text.done" | "response.reasoning_summary_text.done" => {
                let text = parts.get(&part);
                fault(text.is_none(), "the end of no text");
                fault(text.is_some_and(|text| event["text"] != **text), "an end with another text");
            }
            "response.completed" => {
                fault(ended.len() < items.len(), "an item does not end");
                let output = event["response"]["output"].as_array();
                fault(output.is_some_and(|output| output.len() != items.len()), "another number of items");
            }
            _ => {}
        }
    }
    faults.sort();
    faults.dedup();
    faults
}

// ---------------------------------------------------------------------------------------------------------------- running

fn options() -> Vec<(&'static str, Options)> {
    let normalise = |shapes| Options::new().normalise(shapes);
    let all = || normalise(Shapes::ALL).repair(true).label(true);
    vec![
        ("none", Options::new()),
        ("field", normalise(Shapes::FIELD)),
        ("lists", normalise(Shapes::LISTS)),
        ("chunks", normalise(Shapes::CHUNKS)),
        ("content", normalise(Shapes::CONTENT)),
        ("all shapes", normalise(Shapes::ALL)),
        ("repair", Options::new().repair(true)),
        ("label", Options::new().label(true)),
        ("merge", Options::new().merge(true)),
        ("summary", Options::new().responses_as(ResponsesAs::Summary)),
        ("promote", Options::new().promote_empty(true)),
        ("merge, all shapes and repair", all().merge(true)),
        ("all", all()),
        ("drop", Options::new().thinking(Thinking::Drop)),
        ("drop and all", all().thinking(Thinking::Drop)),
    ]
}

#[test]
fn reported_streams_keep_their_text_and_get_no_fault() {
    let dialect = Dialect::find("qwen3").unwrap();
    let mut random = Random::announced("reported_streams_keep_their_text_and_get_no_fault");
    let mut failures = Vec::new();
    for (name, stream) in streams() {
        let before = faults(&stream);
        for (option, options) in options() {
            let what = format!("{name}, {option}");
            let drops = option.starts_with("drop");
            let got = if stream.len() < 2000 && ["none", "all", "drop and all"].contains(&option) {
                at_every_cut(&dialect, &options, &stream)
            } else {
                at_random_cuts(&dialect, &options, &stream, &mut random)
            };
            let after = faults(&got);
            let repairs = ["repair", "all", "drop and all", "merge, all shapes and repair"].contains(&option);
            let is_mended = repairs || stream.contains("\"response.");
            let new: Vec<_> = after.iter().filter(|fault| is_mended || !before.contains(fault)).collect();
            if !new.is_empty() {
                failures.push(format!("{what}: {new:?} in\n{got}"));
            }

            let [thinking, content] = texts(&got);
            if drops {
                let kept = rewrite(&dialect, &options.clone().thinking(Thinking::Keep), [stream.as_bytes()]);
                if !thinking.is_empty() || content != texts(&kept)[1] {
                    failures.push(format!("{what}: other text in\n{got}"));
                }
            } else if option != "promote" {
                let [before, text] = texts(&stream);
                let sorted = |text: String| {
                    let mut chars: Vec<char> = bare(&text).chars().collect();
                    chars.sort_unstable();
                    chars.into_iter().collect::<String>()
                };
                if sorted(thinking + &content) != sorted(before + &text) {
                    failures.push(format!("{what}: lost text in\n{got}"));
                }
            }
            if option != "drop" {
                let again = rewrite(&dialect, &options, [got.as_bytes()]);
                // Blanks that may belong to a marker may move to the next delta of the same text, so only texts and places are
                // compared here.
                let reads_content = ["content", "all shapes", "merge, all shapes and repair", "all", "drop and all"];
                let is_same = again == got
                    || reads_content.contains(&option)
                        && (texts(&again), outline(&again)) == (texts(&got), outline(&got));
                if !is_same {
                    let both = got.split("\n\n").zip(again.split("\n\n")).find(|(one, two)| one != two);
                    failures.push(format!("{what}: a second pass changes {both:?}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
