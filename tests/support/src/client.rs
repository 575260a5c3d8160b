//! Reads an event stream as clients do, and computes the result that they must get from the rewritten stream.

use crate::Pair;
use reference::What;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An event as a standard client reads it.
#[derive(Debug)]
pub struct Seen {
    /// All lines except data and comments.
    pub lines: Vec<String>,
    pub data: String,
}

pub fn events(stream: &str) -> Vec<Seen> {
    let plain = stream.strip_prefix('\u{FEFF}').unwrap_or(stream).replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    for block in plain.split_inclusive("\n\n") {
        let (mut lines, mut data) = (Vec::new(), Vec::new());
        for line in block.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix("data:") {
                Some(value) => data.push(value.strip_prefix(' ').unwrap_or(value)),
                None if line.starts_with(':') => {}
                None => lines.push(line.to_owned()),
            }
        }
        if !lines.is_empty() || !data.is_empty() {
            events.push(Seen { lines, data: data.join("\n") });
        }
    }
    events
}

pub fn comments(stream: &str) -> Vec<&str> {
    stream.trim_start_matches('\u{FEFF}').split(['\r', '\n']).filter(|line| line.starts_with(':')).collect()
}

/// The pieces of text, each with whether it is reasoning.
pub type Runs = Vec<(bool, String)>;

pub fn push(runs: &mut Runs, reasoning: bool, text: &str) {
    match runs.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.0 == reasoning => last.1 += text,
        _ => runs.push((reasoning, text.to_owned())),
    }
}

/// Returns the reference's result for a whole text. In a stream, content that turns out to be thinking stays content.
pub fn split(pair: &Pair, text: &str, start: Option<&str>, is_body: bool) -> Runs {
    let events = reference::read(&pair.reference, text.as_bytes(), start);
    let is_closer = |event: &reference::Event| event.what == What::Reclassify && event.channel == "thinking";
    let closer = events.iter().position(is_closer).unwrap_or(0);
    let mut runs = Runs::new();
    for (at, event) in events.iter().enumerate() {
        if event.what == What::Text || event.channel == "tool" {
            let text = std::str::from_utf8(&event.bytes).unwrap();
            push(&mut runs, event.channel == "thinking" || is_body && at < closer, text);
        }
    }
    runs
}

/// Returns what a client has received of each choice at the end of the stream.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    pub runs: Runs,
    pub roles: usize,
    pub finished: bool,
}

pub fn client(events: &[Seen], field: &str) -> BTreeMap<u64, Said> {
    let mut said: BTreeMap<u64, Said> = BTreeMap::new();
    for event in events {
        let Ok(value) = serde_json::from_str::<Value>(&event.data) else { continue };
        for choice in value["choices"].as_array().unwrap_or(&Vec::new()) {
            let said = said.entry(choice["index"].as_u64().unwrap()).or_default();
            let delta = &choice["delta"];
            let text = |name: &str| delta[name].as_str().unwrap_or_default().to_owned();
            assert!(text(field).is_empty() || text("content").is_empty(), "two fields in one chunk: {value}");
            let before = said.runs.clone();
            push(&mut said.runs, true, &text(field));
            push(&mut said.runs, false, &text("content"));
            assert!(!said.finished || said.runs == before, "text behind the finish: {value}");
            if delta["role"].is_string() {
                said.roles += 1;
            }
            said.finished |= choice["finish_reason"].is_string();
        }
    }
    said
}

/// Compares what clients get from the input and from the output: the text must be split as by the reference, and everything else
/// must be equal and in order.
pub fn check(pair: &Pair, start: Option<&str>, field: &str, input: &str, output: &str) {
    assert_eq!(comments(input), comments(output));
    let (sent, got) = (events(input), events(output));
    let (before, after) = (client(&sent, "none"), client(&got, field));
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (index, before) in before {
        let after = &after[&index];
        let text: String = before.runs.iter().map(|(_, text)| text.as_str()).collect();
        // A choice without any text has no result, even if the dialect starts in a span.
        let wanted = split(pair, &text, start, false);
        let name = &pair.reference.name;
        assert_eq!(after.runs, wanted, "{name} choice {index} of\n{input}\nbecame\n{output}");
        assert_eq!((after.roles, after.finished), (before.roles, before.finished), "{input}\nbecame\n{output}");
    }
    let mut got = got.iter();
    for sent in &sent {
        let wanted = others(sent, field);
        loop {
            let event = got.next().unwrap_or_else(|| panic!("lost: {sent:?}\n{input}\nbecame\n{output}"));
            if event.lines == sent.lines && others(event, field) == wanted {
                break;
            }
            let more = more(event, field);
            if let Ok(value) = serde_json::from_str::<Value>(&sent.data) {
                assert!(
                    ["id", "object", "model"].iter().all(|key| more.get(key) == value.get(key)),
                    "{more}\n{sent:?}"
                );
            }
        }
    }
    // Text of an unfinished choice is sent at the end.
    let done = sent.last().is_some_and(|event| event.data == "[DONE]");
    for event in got {
        assert!(!done, "more behind the end:\n{input}\nbecame\n{output}");
        more(event, field);
    }
}

/// Returns the chunk that may be added for an event: it has text, and no data that could be counted twice.
fn more(event: &Seen, field: &str) -> Value {
    let more: Value = serde_json::from_str(&event.data).unwrap_or_else(|_| panic!("{event:?}"));
    let choice = &more["choices"][0];
    let says = |name: &str| choice["delta"][name].as_str().is_some_and(|text| !text.is_empty());
    assert!(says(field) != says("content"), "{more}");
    assert!(choice["finish_reason"].is_null() && more.get("usage").is_none(), "{more}");
    assert!(event.lines.iter().all(|line| line.starts_with("event: ")), "{event:?}");
    more
}

/// Returns an event's data without the members that are split.
pub fn others(event: &Seen, field: &str) -> Value {
    let Ok(mut value) = serde_json::from_str::<Value>(&event.data) else { return json!(event.data) };
    for choice in value["choices"].as_array_mut().into_iter().flatten() {
        if let Some(delta) = choice["delta"].as_object_mut() {
            for key in ["content", "role", field] {
                delta.remove(key);
            }
        }
    }
    value
}
