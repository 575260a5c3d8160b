//! Runs outputs of tools with requirements on their results: `tests/results/*.jsonl`. Each case is written for a kind of fault, not
//! from a particular log. It is run as one call and as a stream of 64 KiB, and its result must stay within its budget.
//!
//! A case has a `command`, and may have an `exit_code` and a `budget`. Its `input` is a list of texts, in which `{"times": n,
//! "text": t}` repeats `t`. In `t`, `{i}` counts from 0, `{j}` is `{i}` modulo 9, `{w}` is a word with a number, and `{n}` is a
//! number. The checks are `must` (whole lines), `must_not` (texts), `at_least` and `at_most` (patterns of lines with counts),
//! `heads` (no line of the second pattern before a line of the first, nor after only a marker), `max` (bytes) and `same`.

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

/// Returns the result for a text in one call, without the banner.
fn whole(case: &Value, text: &str) -> String {
    let input = input(case);
    let result = compressor(case).compress(&Invocation::new("bash", &input), &[Part::Text(text.as_bytes())]);
    assert_eq!(result.report.failed, [], "{}", case["id"]);
    match &result.parts[0] {
        // If only the terminal's control characters were applied, the result has no banner.
        Outcome::Text(left) if !left.starts_with(b"[Output compressed by ") => String::from_utf8_lossy(left).into(),
        Outcome::Text(left) => {
            assert!(left.len() <= limit(case), "{}: {} bytes", case["id"], left.len());
            String::from_utf8_lossy(left).split_once('\n').expect("a banner is a line").1.to_owned()
        }
        _ => text.to_owned(),
    }
}

fn stream(case: &Value, text: &str) -> String {
    let mut stream = ToolStream::new(Arc::new(compressor(case)), "bash", input(case), MEMORY).unwrap();
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
    let compressor = Compressor::new(&Registry::new());
    match case["budget"].as_u64() {
        Some(budget) => compressor.budget(budget as usize).unwrap(),
        None => compressor,
    }
}

fn limit(case: &Value) -> usize {
    case["budget"].as_u64().map_or(usize::MAX, |budget| budget as usize)
}

/// Returns the faults of a result.
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
        // Several headings may have equal lines, so the lines are compared in order.
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

/// Returns whether the line is also under this heading.
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

/// Text that looks like the end of a successful run, and text that reports a failure.
const GREEN: &str = r"^test result: ok|[1-9]\d* pass(?:ed|ing)?\b|BUILD SUCCESS|^OK\b|^PASS\b|(?i:all (?:other )?(?:tests|checks) (?:were )?pass)|^Successfully |^Done in ";
const RED: &str = r"(?i:fail|error|fatal|panic|not ok|exception|traceback|cannot|could not|can't|unable|denied|missing|unknown|undefined|unexpected|invalid|conflict|rejected|refused|not found|no such|unmerged|abort|broken|problems?|violation|warning|critical|\*\*\*|exit(?:ed)? (?:code|status)|timed out)|[✗✘✖×●]|\^";

/// Returns failing outputs with their commands: the failing cases, and the failing tests of filter files between lines of passed
/// tests.
fn failing() -> Vec<Value> {
    let mut all: Vec<Value> = FILES.iter().flat_map(|file| file.lines()).map(|line| line.parse().unwrap()).collect();
    all.retain(|case| case["exit_code"].as_i64().is_some_and(|code| code != 0));
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("filters");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let file: Value = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for test in file["test"].as_array().into_iter().flatten().filter(|test| test["kind"] == "fail") {
            let noise = |count: u64| serde_json::json!({ "times": count, "text": "test {w}::{w}_{i} ... ok\n" });
            let good = "\ntest result: ok. 60 passed; 0 failed; 0 ignored\n";
            let id = format!("{} of {}", test["name"], path.file_name().unwrap().display());
            let input = serde_json::json!([noise(60), good, test["input"], noise(90), good]);
            all.push(serde_json::json!({ "id": id, "command": test["command"], "exit_code": 1, "input": input }));
        }
    }
    all
}

/// Checks that the result for a failed run does not say only that it passed, whatever the budget, and whether or not the exit
/// code is known.
#[test]
fn no_failed_run_looks_as_if_it_had_passed() {
    let (green, red) = (Regex::new(GREEN).unwrap(), Regex::new(RED).unwrap());
    let nothing = Regex::new(r"(?i)\b(?:0|no) (?:fail|error|warning|problem)\w*|fail(?:ed|ures)?[:=] ?0\b").unwrap();
    let is = |text: &str, pattern: &Regex| text.lines().any(|line| pattern.is_match(line.as_bytes()));
    let is_red = |text: &str| {
        let mut lines = text.lines().filter(|line| Marker::parse(line.as_bytes()).is_none());
        lines.any(|line| red.is_match(line.as_bytes()) && !nothing.is_match(line.as_bytes()))
    };
    let (mut count, mut wrong) = (0, Vec::new());
    // Each output is tested as the output of its command, of a command that runs it, and of an unknown command.
    let failing = failing().into_iter().flat_map(|case| {
        let commands = [case["command"].clone(), "make test".into(), "".into()];
        commands.map(|command| {
            let mut case = case.clone();
            case["command"] = command;
            case
        })
    });
    for case in failing {
        let text = render(&case["input"]);
        if !is_red(&text) {
            continue;
        }
        for budget in [1024, 2500, 10_000] {
            for code in [case["exit_code"].clone(), Value::Null] {
                let mut case = case.clone();
                (case["budget"], case["exit_code"]) = (budget.into(), code);
                for left in [whole(&case, &text), stream(&case, &text)] {
                    count += 1;
                    if is(&left, &green) && !is_red(&left) {
                        wrong.push(format!("{} at {budget}:\n{left}", case["id"]));
                    }
                }
            }
        }
    }
    assert!(count > 1800, "{count} results");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
