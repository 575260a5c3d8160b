//! Tests streams of Responses in which the server leaves out the indexes of the events, as llama.cpp does: they must be rewritten
//! like streams with indexes.

use aside::Dialect;
use aside::sse::{Formats, Options};
use serde_json::{Map, Value};
use support::rewriting::{at_every_cut, case};

fn rewritten(stream: &str) -> String {
    at_every_cut(&Dialect::find("qwen3").unwrap(), &Options::new().formats(Formats::RESPONSES), stream)
}

fn events(stream: &str) -> Vec<Map<String, Value>> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: {"));
    data.map(|rest| serde_json::from_str(&format!("{{{rest}")).unwrap()).collect()
}

/// Removes the indexes from all events.
fn unplaced(stream: &str) -> String {
    let lines = stream.lines().map(|line| match line.strip_prefix("data: {") {
        Some(rest) => {
            let mut event: Map<String, Value> = serde_json::from_str(&format!("{{{rest}")).unwrap();
            event.remove("output_index");
            event.remove("content_index");
            format!("data: {}\n", Value::Object(event))
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn events_without_places_become_those_with_them() {
    let stream = case("responses.raw.sse");
    assert_eq!(events(&rewritten(&unplaced(&stream))), events(&rewritten(&stream)));
    // The same with a second response, whose items are counted from 0 again.
    let two = stream.repeat(2);
    assert_eq!(events(&rewritten(&unplaced(&two))), events(&rewritten(&two)));
}

#[test]
fn a_recording_of_llama_cpp_is_split() {
    let events = events(&rewritten(&case("responses-llama.cpp.sse")));
    let joined = |kind: &str| -> String {
        let of_kind = events.iter().filter(|event| event["type"] == kind);
        of_kind.map(|event| event["delta"].as_str().unwrap()).collect()
    };
    assert_eq!(joined("response.reasoning_text.delta"), "Twice 21 – é.");
    assert_eq!(joined("response.output_text.delta"), "It is 42.");
    for event in &events {
        let kind = event["type"].as_str().unwrap();
        let wanted = match kind {
            "response.output_item.added" | "response.output_item.done" => (true, false),
            _ => (kind.contains("_text.") || kind.contains("content_part."), true),
        };
        assert!(!wanted.0 || event.contains_key("output_index"), "{event:?}");
        assert!(!wanted.0 || !wanted.1 || event.contains_key("content_index"), "{event:?}");
    }
}

/// Checks that no index is added if no item without an index came before.
#[test]
fn events_of_no_known_item_are_copied() {
    let stream = "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n\
                  data: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"f\",\"delta\":\"{}\"}\n\n";
    assert_eq!(rewritten(stream), stream);
}
