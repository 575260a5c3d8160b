//! Runs the cases of tool calls in tests/calls: outputs of models and of other parsers'
//! tests, with the calls, the content and the thinking that a client must receive. Each output is read whole, byte by byte and at
//! every split into two.

use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

use aside::ScannerOptions;
use aside::answer::Tools;
use support::Pair;
use support::calls::{Call, calls};
use support::told::{Told, told};

/// Texts longer than this are not cut everywhere.
const MOST: usize = 4096;

/// Inputs whose expected result contradicts a rule of dialect files.
const CONTRADICTING: &[&str] = &[
    // An opener that is repeated before any thinking is removed with its framing.
    "<|channel><|channel>thought\n<channel|>Hello, world!\nWhat's up?",
];

#[derive(Deserialize)]
struct Case {
    dialect: String,
    input: String,
    start: Option<String>,
    tools: Option<Vec<Value>>,
    calls: Vec<CaseCall>,
    content: String,
    thinking: String,
    source: String,
}

#[derive(Deserialize)]
struct CaseCall {
    name: String,
    arguments: Value,
    id: Option<String>,
    cause: Option<String>,
}

impl CaseCall {
    /// The arguments are compared as JSON, or as text if the call is cut off or broken.
    fn call(&self) -> Call {
        let arguments = self.arguments.as_str().map_or_else(|| self.arguments.to_string(), str::to_owned);
        Call { name: self.name.clone(), arguments, id: self.id.clone(), cause: self.cause.clone(), is_repaired: false }
    }
}

impl Case {
    fn difference(&self, got: &[Call], told: &Told) -> Option<String> {
        let wanted: Vec<Call> = self.calls.iter().map(CaseCall::call).collect();
        let is_same = wanted.len() == got.len() && wanted.iter().zip(got).all(|(wanted, got)| got.is(wanted));
        let different = if !is_same {
            format!("calls: wanted {wanted:?}\n  got {got:?}")
        } else if told.content != self.content {
            format!("content: wanted {:?}\n  got {:?}", self.content, told.content)
        } else if told.thinking != self.thinking {
            format!("thinking: wanted {:?}\n  got {:?}", self.thinking, told.thinking)
        } else {
            return None;
        };
        Some(format!("{}, {}: {:?}\n  {different}", self.dialect, self.source, self.input))
    }
}

fn cases(name: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(Path::new(support::ROOT).join("tests/calls").join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn run(name: &str) {
    let cases = cases(name);
    assert!(!cases.is_empty(), "{name}: no case");
    let pairs: Vec<Pair> = reference::all().into_iter().map(Pair::new).collect();
    let mut wrong = Vec::new();
    for case in &cases {
        let pair = pairs.iter().find(|pair| pair.reference.name == case.dialect);
        let pair = pair.unwrap_or_else(|| panic!("there is no dialect {}", case.dialect));
        let tools = case.tools.as_ref().map(|tools| Tools::read(&Value::from(tools.clone()).to_string()).unwrap());
        let start = case.start.as_deref();
        let text = case.input.as_bytes();
        let read = |chunks: &[&[u8]]| calls(pair, start, tools.as_ref(), chunks);
        let whole = read(&[text]);
        let options = ScannerOptions::new().start(start.map(|start| start.parse().unwrap()));
        let difference = case.difference(&whole, &told(pair, &options, tools.clone(), text, false));
        match CONTRADICTING.contains(&case.input.as_str()) {
            true => assert!(difference.is_some()),
            false => wrong.extend(difference),
        }
        let events = reference::read_with_calls(&pair.reference, text, start);
        pair.check_calls(start, &support::bytes(text), &events);
        assert_eq!(read(&support::bytes(text)), whole, "{}, by bytes: {:?}", case.dialect, case.input);
        for at in 1..text.len().min(MOST) {
            let chunks = [&text[..at], &text[at..]];
            pair.check_calls(start, &chunks, &events);
            assert_eq!(read(&chunks), whole, "{}, cut at {at}: {:?}", case.dialect, case.input);
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases are not right:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn whole_cases() {
    run("cases.jsonl");
}

#[test]
fn malformed_cases() {
    run("malformed.jsonl");
}
