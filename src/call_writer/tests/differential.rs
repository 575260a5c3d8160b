//! Compares this writer with the slow reference for the shared cases. The test needs `../shared` and python3, and is skipped
//! without them.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{
    super::Piece,
    client::{Call, Source, in_characters, options, uncut, write},
    table::table,
};
use crate::Cause;

#[test]
fn writes_what_the_reference_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = root.join("../shared");
    if !shared.join("spec/calls-reference").is_dir() {
        let _ = writeln!(std::io::stderr(), "skipped: ../shared/spec/calls-reference is not here");
        return;
    }
    let cuts = std::env::var("ASIDE_CUTS").unwrap_or_else(|_| "1".into());
    let mut command = Command::new("python3");
    command.arg(root.join("tests/calls/events.py")).args([&*shared.to_string_lossy(), &cuts]);
    let Ok(mut child) = command.current_dir(root).stdout(Stdio::piped()).spawn() else {
        let _ = writeln!(std::io::stderr(), "skipped: no python3");
        return;
    };
    let (mut texts, mut calls, mut excused, mut wrong) = (0, 0, 0, Vec::new());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert!(case["error"].is_null(), "{case}");
        let (expected, got) = compare(&case);
        texts += 1;
        calls += got.len();
        if expected == got {
            continue;
        }
        let is_right = |call| {
            let of_call = |calls: &[Call]| calls.iter().find(|one| one.call == call).cloned();
            let (expected, got) = (of_call(&expected), of_call(&got));
            expected == got || excuse(&case, call, expected.as_ref(), got.as_ref()).is_some()
        };
        if (0..all_calls(&case)).all(is_right) {
            excused += 1;
        } else {
            wrong.push(format!("{}: {}\n  expected {expected:?}\n  got      {got:?}", case["dialect"], case["text"]));
        }
    }
    assert!(child.wait().unwrap().success());
    println!("{texts} texts, {calls} calls, {excused} excused");
    assert!(texts > 600 && calls > 500, "{texts} texts, {calls} calls");
    assert!(wrong.is_empty(), "{} of {texts}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the reason why the reference may differ for a call, if there is one: there the reference deviates from the
/// specification.
fn excuse(case: &Value, call: u64, expected: Option<&Call>, got: Option<&Call>) -> Option<&'static str> {
    let events = case["events"].as_array().unwrap();
    let begin = events.iter().position(|event| event["kind"] == "call" && event["index"] == call).unwrap();
    let end = begin + events[begin..].iter().position(|event| event["kind"] == "call_end").unwrap();
    let events = &events[begin..=end];
    if matches!(events[events.len() - 1]["cause"].as_str(), Some("marker" | "implied")) {
        return None;
    }
    let last = events.iter().rev().find(|event| event["kind"] != "framing" && event["kind"] != "call_end");
    if events[0]["table"]["body"] == "literal" && last.is_some_and(|last| last["kind"] == "value") {
        return Some("a held value goes out as a string without its end: the reference reads it as if it were whole");
    }
    let (expected, is_emitted) = (expected?.arguments.as_str(), got.is_some());
    if expected.ends_with("\":") && got.is_none_or(|got| expected.starts_with(&got.arguments)) {
        return Some("a key leaves with the first byte of its value: the reference writes it at once");
    }
    if !is_emitted && "null".starts_with(expected.trim_start_matches('"')) {
        return Some("no byte of the arguments had left: `null` is held until it is clear that it is `{}`");
    }
    if events[0]["table"]["nested"] == true && got.is_some_and(|got| expected == format!("{}\"", got.arguments)) {
        return Some("nothing of the element is held: the reference opens a string for it");
    }
    None
}

fn all_calls(case: &Value) -> u64 {
    case["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "call").count() as u64
}

/// Returns the calls that the reference finds in a text, and those of this writer.
fn compare(case: &Value) -> (Vec<Call>, Vec<Call>) {
    let events = case["events"].as_array().unwrap();
    let begins: Vec<usize> = (0..events.len()).filter(|&at| events[at]["kind"] == "call").collect();
    let tables: Vec<_> = begins.iter().map(|&at| table(&events[at]["table"])).collect();
    let mut sources = Vec::new();
    for (number, &at) in begins.iter().enumerate() {
        let end = begins.get(number + 1).copied().unwrap_or(events.len());
        let pieces = events[at + 1..end].iter().filter_map(piece).collect();
        let call = events[at]["index"].as_u64().unwrap();
        sources.push(Source { table: &tables[number], call, pieces });
    }
    let tools = case["tools"].as_array().map(|_| case["tools"].to_string());
    let options = options(tools.as_deref());
    let mut got = write(&options, &sources, uncut);
    assert_eq!(got, write(&options, &sources, in_characters), "cut: {}", case["text"]);
    for call in &mut got {
        call.id = call.late_id.take().unwrap_or(std::mem::take(&mut call.id));
    }
    let expected = case["calls"].as_array().unwrap().iter().enumerate().map(|(number, call)| {
        let ended = events.iter().find(|event| event["kind"] == "call_end" && event["index"] == call["index"]);
        Call {
            call: call["index"].as_u64().unwrap(),
            id: call["id"].as_str().map_or_else(|| format!("id_{number}"), Into::into),
            late_id: None,
            name: call["name"].as_str().unwrap().into(),
            arguments: call["arguments"].as_str().unwrap().into(),
            cause: Some(cause(&ended.unwrap()["cause"])),
            is_whole: call["cause"].is_null(),
        }
    });
    (expected.collect(), got)
}

fn piece(event: &Value) -> Option<Piece<'_>> {
    let text = event["text"].as_str().unwrap().as_bytes();
    Some(match event["kind"].as_str().unwrap() {
        "name" => Piece::Name(event["name"].as_str().map_or(text, str::as_bytes)),
        "id" => Piece::Id(text),
        "key" => Piece::Key(text),
        "type" => Piece::Type(text),
        "value" => Piece::Value(text),
        "value_end" => Piece::ValueEnd(text),
        "framing" => Piece::Framing(text),
        "call_end" => Piece::End(cause(&event["cause"])),
        // Other events are between the calls.
        _ => return None,
    })
}

fn cause(name: &Value) -> Cause {
    let all = [Cause::Marker, Cause::Implied, Cause::EndOfStream, Cause::Forced, Cause::Malformed];
    all.into_iter().find(|cause| cause.as_str() == name).unwrap()
}
