//! Runs `aside grammar` on a request's tools, in both languages, and with choices that cannot be met.

use std::fs;
use std::process::{Command, Output};
use support::program::{err, out, run, scratch};

const TOOLS: &str = r#"[{"name": "say", "parameters": {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}}}]"#;

fn grammar(dialect: &str, engine: &str, choice: &str) -> Output {
    let tools = scratch(&format!("tools-{dialect}-{engine}-{choice}.json"));
    fs::write(&tools, TOOLS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
    run(command.args(["grammar", "--dialect", dialect, "--for", engine, "--choice", choice, "--tools"]).arg(&tools))
}

#[test]
fn a_grammar_is_printed_with_its_limits() {
    let tag = grammar("seed-oss", "xgrammar", "required");
    let value: serde_json::Value = serde_json::from_str(&out(&tag)).unwrap();
    assert_eq!(value["type"], "structural_tag");
    assert!(out(&tag).contains("<parameter=text>") && out(&tag).contains("</function>"), "{}", out(&tag));
    assert_eq!(err(&tag), "aside grammar: say.text: `minLength` is not in the grammar\n");
    let auto: serde_json::Value = serde_json::from_str(&out(&grammar("qwen3", "xgrammar", "auto"))).unwrap();
    assert_eq!(auto["format"]["elements"][1]["excludes"], serde_json::json!(["<tool_call>"]));
    let lark = grammar("seed-oss", "lark", "say");
    assert!(out(&lark).starts_with("%llguidance {}\nstart: \"<seed:tool_call>\""), "{}", out(&lark));
}

#[test]
fn thinking_may_come_before_the_calls() {
    let tools = scratch("tools-thinking.json");
    fs::write(&tools, TOOLS).unwrap();
    let made = |start| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
        let words = ["grammar", "--dialect", "qwen3", "--for", "lark", "--choice", "say", "--start", start, "--tools"];
        run(command.args(words).arg(&tools))
    };
    let (content, thinking) = (out(&made("content")), out(&made("thinking")));
    assert!(content.contains("start: (\"<think>\" rule_0 (/[ \\n]{1,3}/)?)? \"<tool_call>\""), "{content}");
    assert!(thinking.contains("start: rule_0 (/[ \\n]{1,3}/)? \"<tool_call>\""), "{thinking}");
    assert!(thinking.contains("TEXT_0: ~/(?s:.*)(<\\/think>)(?s:.*)/ \"</think>\""), "{thinking}");
    let header = made("header");
    assert_eq!(header.status.code(), Some(2));
    assert!(err(&header).contains("--start: a grammar starts in the content"), "{}", err(&header));
}

#[test]
fn elements_keep_the_keys_of_a_tool_that_is_not_strict() {
    let tools = scratch("tools-not-strict.json");
    fs::write(&tools, TOOLS.replace("{\"name\"", "{\"strict\": false, \"name\"")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
    let made = run(command.args(["grammar", "--dialect", "minimax-m3", "--for", "lark", "--tools"]).arg(&tools));
    assert!(out(&made).contains("<text>"), "{}", out(&made));
}

#[test]
fn a_choice_that_cannot_be_met_is_explained() {
    let unknown = grammar("qwen3", "lark", "sing");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(err(&unknown).contains("no tool is named \"sing\""), "{}", err(&unknown));
    let thinking = grammar("inline-think", "lark", "auto");
    assert!(err(&thinking).contains("does not say how calls are written"), "{}", err(&thinking));
}
