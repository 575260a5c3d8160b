//! `aside hook` as an agent runs it: an event on standard input, its answer on standard output.

use std::process::{Command, Output};

use serde_json::{Value, json};
use support::program::{err, feed, out};

fn hook(event: &Value) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
    feed(command.args(["hook", "--budget", "2k"]), event.to_string().as_bytes())
}

fn log() -> String {
    format!("{}error: no such cart\n", "the same warning\n".repeat(400))
}

#[test]
fn claude_code_gets_a_result_of_the_same_shape() {
    let mut event = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": { "command": "make test", "description": "Run tests" },
        "tool_response": { "stdout": log(), "stderr": "", "interrupted": false, "isImage": false },
    });
    let answer: Value = serde_json::from_str(&out(&hook(&event))).unwrap();
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], "PostToolUse");
    let result = &specific["updatedToolOutput"];
    let stdout = result["stdout"].as_str().unwrap();
    assert!(stdout.len() <= 2048 && stdout.ends_with("[… 399 lines as above]\nerror: no such cart\n"), "{stdout}");
    assert_eq!(
        (&result["interrupted"], &result["isImage"], &result["stderr"]),
        (&json!(false), &json!(false), &json!(""))
    );
    // There is no answer to a result that stays unchanged, or that has no text.
    for response in [json!({ "stdout": "ok\n", "stderr": "" }), json!({ "filePath": "a.rs" }), json!(null)] {
        event["tool_response"] = response;
        let output = hook(&event);
        assert!(output.status.success() && output.stdout.is_empty(), "{}", err(&output));
    }
}

#[test]
fn gemini_cli_gets_a_text() {
    let event = json!({
        "session_id": "s", "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
        "tool_input": { "command": "make test" },
        "tool_response": { "llmContent": log(), "returnDisplay": "" },
    });
    let answer: Value = serde_json::from_str(&out(&hook(&event))).unwrap();
    let result = answer["hookSpecificOutput"]["tool_output"].as_str().unwrap();
    assert!(result.ends_with("[… 399 lines as above]\nerror: no such cart\n"), "{result}");
}

#[test]
fn a_budget_may_be_in_tokens() {
    let text: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    let event = json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": { "command": "make" }, "tool_response": text,
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
    let output = feed(command.args(["hook", "--budget-tokens", "4000"]), event.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&out(&output)).unwrap();
    let result = answer["hookSpecificOutput"]["updatedToolOutput"].as_str().unwrap();
    let tokens = aside::compress::estimated_tokens(result.as_bytes());
    // It is the only budget: 10k bytes of these lines would have fewer.
    assert!((3600..=4000).contains(&tokens), "{tokens}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
    let output = feed(command.args(["hook", "--budget-tokens", "9"]), event.to_string().as_bytes());
    assert!(output.status.code() == Some(2) && err(&output).contains("the least is 512"), "{}", err(&output));
}

#[test]
fn an_event_that_is_not_known_changes_nothing() {
    for event in [json!({ "hook_event_name": "PreToolUse" }), json!([])] {
        let output = hook(&event);
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), ""));
        assert!(err(&output).contains("PostToolUse or AfterTool"), "{}", err(&output));
    }
    let said = err(&hook(&json!({}))).to_owned();
    assert!(said.starts_with("aside hook: the event has no `hook_event_name`: "), "{said}");
}

/// The manual's settings name a command that makes results shorter.
#[test]
fn the_settings_of_the_manual_run() {
    let page = include_str!("../../docs/users.md");
    let (_, settings) = page.split_once("```json\n").unwrap();
    let settings: Value = serde_json::from_str(settings.split_once("```").unwrap().0).unwrap();
    let hook = &settings["hooks"]["PostToolUse"][0];
    assert_eq!(hook["matcher"], "Bash");
    let command = hook["hooks"][0]["command"].as_str().unwrap();
    let arguments = command.strip_prefix("aside ").unwrap().split(' ');
    let event = json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": { "command": "seq 50000" },
        "tool_response": { "stdout": (1..50_000).map(|n| format!("{n}\n")).collect::<String>(), "stderr": "" },
    });
    let output = feed(Command::new(env!("CARGO_BIN_EXE_aside")).args(arguments), event.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&out(&output)).unwrap();
    let stdout = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap();
    assert!(stdout.len() <= 10_240 && stdout.ends_with("49999\n"), "{stdout}");
}
