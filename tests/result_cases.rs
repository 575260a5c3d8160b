//! Outputs of tools with what must be left of them: `tests/results/*.jsonl`. Each case is written after a kind of fault
//! and not after a log, is run as one call and as a stream of 64 KiB, and never comes out above its budget.
//!
//! A case has `command`, `exit_code` and `budget` (either may be missing), and `input`: pieces of text, of which
//! `{"times": n, "text": t}` repeats `t`. In it `{i}` counts from 0, `{j}` is that modulo 9, `{w}` a word with a number
//! and `{n}` a number. What is checked: `must` (whole lines), `must_not` (texts), `at_least` and `at_most` (patterns of
//! lines with counts), `heads` (no line of the second pattern before one of the first, nor after a marker alone),
//! `max` (bytes) and `same`.

#![cfg(feature = "compress")]

use std::sync::Arc;

use aside::compress::*;
use regex_automata::meta::Regex;
use samples::Random;
use serde_json::Value;

const FILES: [&str; 2] = [include_str!("results/cases.jsonl"), include_str!("results/own.jsonl")];
const MEMORY: usize = 64 << 10;
const WORDS: [&str; 20] = [
    "alpha", "beta", "gamma", "delta", "store", "cart", "index", "table", "frame", "queue", "cache", "node", "tree",
    "leaf", "page", "route", "token", "user", "order", "item",
];

/// Writes the input of a case.
fn render(pieces: &Value) -> String {
    let mut random = Random::new(7);
    let mut text = String::new();
    for piece in pieces.as_array().expect("an input is a list of pieces") {
        if let Some(piece) = piece.as_str() {
            text += piece;
            continue;
        }
        for i in 0..piece["times"].as_u64().expect("a piece has `times`") {
            let one = piece["text"].as_str().expect("a piece has `text`");
            let mut one = one.replace("{i}", &i.to_string()).replace("{j}", &(i % 9).to_string());
            while one.contains("{w}") {
                one = one.replacen("{w}", &format!("{}{}", random.pick(&WORDS), random.below(99)), 1);
            }
            while one.contains("{n}") {
                one = one.replacen("{n}", &random.below(999).to_string(), 1);
            }
            text += &one;
        }
    }
    text
}

/// Returns what is left of a text in one call, without the banner.
fn whole(case: &Value, text: &str) -> String {
    let input = input(case);
    let result = compressor(case).compress(&Call::new("bash", &input), &[Part::Text(text.as_bytes())]);
    assert_eq!(result.report.failed, [], "{}", case["id"]);
    match &result.parts[0] {
        // What a terminal shows has no banner if it is all that was done.
        Outcome::Text(left) if !left.starts_with(b"[Output compressed by ") => String::from_utf8_lossy(left).into(),
        Outcome::Text(left) => {
            assert!(left.len() <= limit(case), "{}: {} bytes", case["id"], left.len());
            String::from_utf8_lossy(left).split_once('\n').expect("a banner is a line").1.to_owned()
        }
        _ => text.to_owned(),
    }
}

fn stream(case: &Value, text: &str) -> String {
    let mut stream = Stream::new(Arc::new(compressor(case)), "bash", input(case), MEMORY).unwrap();
    let mut left = Vec::new();
    for chunk in text.as_bytes().chunks(1000) {
        stream.feed(chunk, |bytes| left.extend_from_slice(bytes));
    }
    let report = stream.finish(|bytes| left.extend_from_slice(bytes));
    assert_eq!(report.failed, [], "{}", case["id"]);
    String::from_utf8_lossy(&left).into()
}

fn input(case: &Value) -> Input {
    let mut input = serde_json::json!({ "command": case["command"] });
    if !case["exit_code"].is_null() {
        input["exit_code"] = case["exit_code"].clone();
    }
    Input::from_json(&input.to_string()).unwrap()
}

fn compressor(case: &Value) -> Compressor {
    let compressor = Compressor::new(Registry::new());
    match case["budget"].as_u64() {
        Some(budget) => compressor.budget(budget as usize).unwrap(),
        None => compressor,
    }
}

fn limit(case: &Value) -> usize {
    case["budget"].as_u64().map_or(usize::MAX, |budget| budget as usize)
}

/// Returns what is wrong with what is left.
fn faults(case: &Value, text: &str, left: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |is_right: bool, fault: String| {
        if !is_right {
            faults.push(fault);
        }
    };
    let lines: Vec<&str> = left.lines().collect();
    let list = |key: &str| case[key].as_array().cloned().unwrap_or_default();
    let pattern = |pattern: &str| Regex::new(pattern).unwrap_or_else(|error| panic!("{}: {error}", case["id"]));
    check(left.len() <= limit(case), format!("{} bytes", left.len()));
    for line in list("must") {
        check(lines.contains(&line.as_str().unwrap()), format!("{line} is lost"));
    }
    for text in list("must_not") {
        check(!left.contains(text.as_str().unwrap()), format!("{text} is left"));
    }
    for (key, is_least) in [("at_least", true), ("at_most", false)] {
        for (wanted, count) in case[key].as_object().into_iter().flatten() {
            let wanted_pattern = pattern(wanted);
            let found = lines.iter().filter(|line| wanted_pattern.is_match(line.as_bytes())).count();
            let count = count.as_u64().unwrap() as usize;
            check(if is_least { found >= count } else { found <= count }, format!("{wanted} {found} times"));
        }
    }
    if let [head, child] = &list("heads")[..] {
        let (head, child) = (pattern(head.as_str().unwrap()), pattern(child.as_str().unwrap()));
        let original: Vec<&str> = text.lines().collect();
        let head_of = |lines: &[&str], at: usize| {
            lines[..at].iter().rev().find(|line| head.is_match(line.as_bytes())).map(|line| (*line).to_owned())
        };
        // Lines may be alike under several headings, so they are followed in order.
        let mut at = 0;
        for (index, line) in lines.iter().enumerate() {
            let Some(found) = original[at..].iter().position(|other| other == line) else { continue };
            if Marker::parse(line.as_bytes()).is_some() {
                continue;
            }
            at += found;
            if child.is_match(line.as_bytes()) {
                let (kept, was) = (head_of(&lines, index), head_of(&original, at));
                let is_right = kept.is_some() && (kept == was || head_of_any(&original, line, &head, &kept));
                check(is_right, format!("{line:?} is under {kept:?}"));
            }
            at += 1;
        }
    }
    if let Some(max) = case["max"].as_u64() {
        check(left.len() <= max as usize, format!("{} bytes of {max}", left.len()));
    }
    if case["same"].as_bool() == Some(true) {
        check(left == text, "it was changed".to_owned());
    }
    faults
}

/// Whether the line is also under this heading.
fn head_of_any(original: &[&str], line: &str, head: &Regex, kept: &Option<String>) -> bool {
    let mut last = None;
    original.iter().any(|other| {
        if head.is_match(other.as_bytes()) {
            last = Some((*other).to_owned());
        }
        *other == line && last == *kept
    })
}

#[test]
fn each_case_keeps_what_it_must() {
    let only = std::env::var("ASIDE_CASE").unwrap_or_default();
    let mut wrong = Vec::new();
    let (mut count, mut ids) = (0, std::collections::HashSet::new());
    for line in FILES.iter().flat_map(|file| file.lines()) {
        let case: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let id = case["id"].as_str().expect("a case has an id").to_owned();
        assert!(ids.insert(id.clone()), "two cases are called {id}");
        if !id.contains(&only) {
            continue;
        }
        count += 1;
        let text = render(&case["input"]);
        let mut ways = vec![("whole", whole(&case, &text))];
        if case["stream"].as_bool() != Some(false) {
            ways.push(("stream", stream(&case, &text)));
        }
        for (way, left) in ways {
            if !only.is_empty() {
                println!("--- {id} {way}\n{left}");
            }
            wrong.extend(faults(&case, &text, &left).iter().map(|fault| format!("{id} ({way}): {fault}")));
        }
    }
    println!("{count} cases");
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}
