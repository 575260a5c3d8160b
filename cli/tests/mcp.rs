//! `aside mcp` as an agent starts it, in the protocol's own words: `scripts/test-mcp` has the official client.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use support::program::{err, feed, out, scratch};

#[test]
fn a_session() {
    let state = scratch("mcp");
    let _ = fs::remove_dir_all(&state);
    let text: String = (1..=5000).map(|line| format!("line {line}\n")).collect();
    let folder = state.join("texts").to_str().unwrap().to_owned();
    let squeeze = ["squeeze", "--budget", "2k", "--store", &folder];
    let head = out(&feed(Command::new(env!("CARGO_BIN_EXE_aside")).args(squeeze), text.as_bytes()));
    let id = head.split_whitespace().find(|word| word.len() == 12 && word.parse::<u64>().is_ok()).unwrap().to_owned();
    let call = |number: usize, tool: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
    let asked = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        call(3, "recall", json!({ "id": id, "lines": "7-8" })),
        call(4, "recall", json!({ "id": "402186937015" })),
        call(5, "recall", json!({})),
        call(6, "list", json!({})),
        call(7, "write", json!({})),
        call(8, "recall", json!({ "id": id, "lines": 7, "find": null, "context": null })),
        call(9, "recall", json!({ "id": id, "lines": [5] })),
        call(10, "recall", json!({ "id": id, "find": "7", "context": "2" })),
        call(11, "recall", json!({ "id": 402_186_937_015_u64 })),
        call(12, "recall", json!({ "id": id, "find": 7 })),
        call(13, "recall", json!({ "id": id, "line": 7 })),
        call(14, "recall", json!({ "id": id, "lines": "7:2-4" })),
    ];
    let input: String = asked.iter().map(|message| format!("{message}\n")).collect();
    let output = feed(Command::new(env!("CARGO_BIN_EXE_aside")).args(["mcp", "--store", &folder]), input.as_bytes());
    assert!(output.status.success(), "{}", err(&output));
    let answers: Vec<Value> = out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer =
        |number: u64| answers.iter().find(|answer| answer["id"] == number).unwrap_or_else(|| panic!("{answers:?}"));
    let shown = |number: u64| {
        let result = &answer(number)["result"];
        (
            result["isError"].as_bool().unwrap_or_default(),
            result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(answer(1)["result"]["serverInfo"]["name"], "aside");
    let tools = answer(2)["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true) && tools.len() == 2, "{tools:?}");
    assert_eq!(shown(3), (false, "line 7\nline 8\n".to_owned()));
    assert!(shown(4).0 && shown(4).1.contains("No such file"), "{:?}", shown(4));
    assert!(shown(5).0 && shown(5).1.contains("twelve digits"), "{:?}", shown(5));
    assert!(
        !shown(6).0 && shown(6).1.starts_with(&format!("1 texts\n{id} 48893 bytes, 0 minutes ago")),
        "{:?}",
        shown(6)
    );
    assert_eq!(shown(8), (false, "line 7\n".to_owned()));
    for (number, says) in [
        (9, "`lines`: write a line as a number, or a string such as \"12-80\""),
        (10, "`context`: write a number, such as 2"),
        (11, "`id`: write the twelve digits as a string"),
        (12, "`find`: write the text to look for as a string"),
        (13, "there is no argument `line`: the arguments are id, lines, find, context"),
    ] {
        assert!(shown(number).0 && shown(number).1.contains(says), "{:?}", shown(number));
    }
    assert_eq!(shown(14), (false, "ine\n".to_owned()));
    assert!(answer(7)["error"]["message"].as_str().unwrap().contains("no tool `write`"));
}
