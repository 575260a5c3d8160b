//! Runs cases written after public reports, and real outputs in which the lines that a person needs are marked:
//! `../shared/cases/results-3`. The `README.md` there describes the keys. `tests/results` has cases of the same kinds that are part
//! of the project.

#![cfg(feature = "compress")]

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use aside::compress::*;
use regex_automata::meta::Regex;
use serde_json::Value;
use support::shared;

const MEMORY: usize = 64 << 10;

fn input(command: &str, exit_code: &Value) -> Input {
    Input::from_json(&serde_json::json!({ "command": command, "exit_code": exit_code }).to_string()).unwrap()
}

fn compressor(budget: &Value) -> Compressor {
    let compressor = Compressor::new(&Registry::new());
    match budget.as_u64() {
        Some(budget) => compressor.budget(budget as usize).unwrap(),
        None => compressor,
    }
}

fn whole(budget: &Value, input: Input, text: &[u8]) -> Vec<u8> {
    let result = compressor(budget).compress(&Invocation::new("bash", &input), &[Part::Text(text)]);
    assert_eq!(result.report.failed, []);
    match result.parts.into_iter().next() {
        Some(Outcome::Text(left)) => left,
        _ => text.to_vec(),
    }
}

fn stream(budget: &Value, input: Input, text: &[u8]) -> Vec<u8> {
    let mut stream = ToolStream::new(Arc::new(compressor(budget)), "bash", input, MEMORY).unwrap();
    let mut left = Vec::new();
    text.chunks(1000).for_each(|chunk| stream.feed(chunk, |bytes| left.extend_from_slice(bytes)));
    assert_eq!(stream.finish(|bytes| left.extend_from_slice(bytes)).failed, []);
    left
}

/// Returns the input of a case as bytes.
fn text(case: &Value) -> Vec<u8> {
    let text = case["input"].as_str().expect("a case has an input");
    match case["utf16"].as_bool() {
        Some(true) => "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// Returns the faults of a result.
fn faults(case: &Value, budget: &Value, mode: &str, text: &[u8], left: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |is_right: bool, fault: String| {
        if !is_right {
            faults.push(fault);
        }
    };
    let shown = String::from_utf8_lossy(left);
    let texts = |key: &str| -> Vec<String> {
        let texts = case[key].as_array().into_iter().flatten();
        texts.map(|text| text.as_str().expect("it is a text").to_owned()).collect()
    };
    for must in texts("must") {
        check(shown.contains(&must), format!("{must:?} is lost"));
    }
    for must_not in texts("must_not") {
        check(!shown.contains(&must_not), format!("{must_not:?} is left"));
    }
    if let Some(budget) = budget.as_u64() {
        check(left.len() as u64 <= budget, format!("{} bytes", left.len()));
    }
    let (max, share) = (&case["max"][0], case["max"][1].as_f64());
    // In a stream without a budget, only the repeats of a text that exceeds the memory are removed.
    if let Some(share) = share.filter(|_| max == budget && (mode.is_empty() || text.len() <= MEMORY)) {
        check(left.len() as f64 <= share * text.len() as f64, format!("{} bytes of {}", left.len(), text.len()));
    }
    if case["same"] == true {
        check(left == text, "it was changed".to_owned());
    }
    faults
}

#[test]
fn reported_cases_keep_what_they_must() {
    let Some(path) = shared("cases/results-3/cases.jsonl") else { return };
    let mut wrong = Vec::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let case: Value = line.parse().unwrap();
        let (id, text) = (case["id"].as_str().unwrap(), text(&case));
        let before = wrong.len();
        for budget in case["budgets"].as_array().unwrap() {
            for mode in case["modes"].as_array().unwrap().iter().filter_map(Value::as_str) {
                let input = input(case["command"].as_str().unwrap(), &case["exit_code"]);
                let left = if mode.is_empty() { whole } else { stream }(budget, input, &text);
                let faults = faults(&case, budget, mode, &text, &left);
                wrong.extend(faults.into_iter().map(|fault| format!("{id} at {budget} ({mode:?}): {fault}")));
            }
        }
        println!("{} {id}", if wrong.len() == before { "right" } else { "WRONG" });
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// Checks that the marked lines of real outputs stay in results of 4 kB, for the output alone and inside a longer log.
#[test]
fn real_outputs_keep_their_marked_lines() {
    let Some(folder) = shared("cases/results-3") else { return };
    let marks: BTreeMap<String, Vec<String>> =
        serde_json::from_str(&fs::read_to_string(folder.join("marks.json")).unwrap()).unwrap();
    let noise = |range: std::ops::Range<usize>| -> String {
        range.map(|n| format!("Step {n}: copied layer {:x} to the cache\n", n * 7919)).collect()
    };
    let (mut count, mut lost) = (0, Vec::new());
    for (name, marks) in marks {
        let read = |end: &str| fs::read(folder.join(format!("real/{name}.{end}"))).unwrap();
        let (text, command) = (read("raw"), String::from_utf8(read("cmd")).unwrap());
        let code: Value = String::from_utf8(read("code")).unwrap().trim().parse().unwrap();
        let inside = [noise(0..400).as_bytes(), &text, noise(400..600).as_bytes()].concat();
        for (text, command, place) in [(&text, command.trim(), "alone"), (&inside, "make ci", "inside a log")] {
            let left = whole(&4000.into(), input(command, &code), text);
            assert!(left.len() <= 4000, "{name} {place}: {} bytes", left.len());
            for mark in &marks {
                let pattern = Regex::new(mark).unwrap();
                let has = |text: &[u8]| text.split(|&byte| byte == b'\n').any(|line| pattern.is_match(line));
                // Some lines are marked as they are shown, without colours, and so are not found in the original.
                if has(text) {
                    count += 1;
                    if !has(&left) {
                        lost.push(format!("{name} {place}: {mark}"));
                    }
                }
            }
        }
    }
    println!("{} of {count} marked lines are left\n{}", count - lost.len(), lost.join("\n"));
    assert!(lost.len() * 20 <= count, "{} of {count} are lost:\n{}", lost.len(), lost.join("\n"));
}
