//! Runs `aside hook` as an agent would: an event on standard input, its answer on standard output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use support::program::{at_home, empty, err, feed, out, run};

/// Returns the program as a user starts it.
fn aside(user: &Path, arguments: &[&str]) -> Command {
    at_home(env!("CARGO_BIN_EXE_aside"), user, arguments)
}

/// Runs the hook without a store, which the tests of results do not need.
fn hook(event: &Value) -> Output {
    // Tests run at the same time, so each has a folder with its name.
    let test = std::thread::current();
    let user = empty(test.name().unwrap_or("hook"));
    feed(&mut aside(&user, &["hook", "--budget", "2k", "--no-store"]), event.to_string().as_bytes())
}

/// Returns an event of Claude Code in the form of its manual.
fn after(tool: &str, input: Value, response: Value) -> Value {
    json!({
        "session_id": "abc123", "transcript_path": "/home/u/.claude/projects/p/s.jsonl", "cwd": "/home/u/p",
        "permission_mode": "default", "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input,
        "tool_response": response, "tool_use_id": "toolu_01ABC123",
    })
}

fn bash(command: &str, stdout: &str) -> Value {
    let response = json!({ "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false });
    after("Bash", json!({ "command": command, "description": "Run it" }), response)
}

/// Returns the kept texts of a user's results.
fn texts(user: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(user.join("state/aside/texts")).into_iter().flatten();
    files.map(|file| file.unwrap().path()).collect()
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
    // There is no answer to a result that stays unchanged, that has no text, or that is an image.
    let image = json!({ "stdout": format!("data:image/png;base64,{}", "iVBORw0K".repeat(999)), "isImage": true });
    for response in [json!({ "stdout": "ok\n", "stderr": "" }), json!({ "filePath": "a.rs" }), json!(null), image] {
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
    let user = empty("hook-tokens");
    let output = feed(&mut aside(&user, &["hook", "--budget-tokens", "4000"]), event.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&out(&output)).unwrap();
    let result = answer["hookSpecificOutput"]["updatedToolOutput"].as_str().unwrap();
    let tokens = aside::compress::estimated_tokens(result.as_bytes());
    // The budget in tokens is the only one: 10k bytes of these lines would be fewer tokens.
    assert!((3600..=4000).contains(&tokens), "{tokens}");
    // An agent shows its model the output of a hook that exits with 2.
    for (wrong, says) in [
        (&["--budget-tokens", "9"][..], "the least is 512"),
        (&["--budget", "ten"], "not a size"),
        (&["--budget", "9"], "the least is 1024"),
        (&["--budgets"], "unexpected argument"),
        (&["--install", "nobody"], "invalid value"),
    ] {
        let output = feed(&mut aside(&user, &[&["hook"], wrong].concat()), event.to_string().as_bytes());
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), ""), "{wrong:?}");
        assert_eq!(err(&output).matches(says).count(), 1, "{}", err(&output));
    }
}

#[test]
fn an_event_that_is_not_known_changes_nothing() {
    for event in [json!({ "hook_event_name": "PostToolBatch" }), json!([])] {
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
    assert_eq!(hook["matcher"], "Bash|WebFetch|mcp__.*");
    let command = hook["hooks"][0]["command"].as_str().unwrap();
    let arguments = command.strip_prefix("aside ").unwrap().split(' ');
    let event = json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": { "command": "seq 50000" },
        "tool_response": { "stdout": (1..50_000).map(|n| format!("{n}\n")).collect::<String>(), "stderr": "" },
    });
    let mut command = aside(&empty("hook-manual"), &[]);
    let output = feed(command.args(arguments), event.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&out(&output)).unwrap();
    let stdout = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap();
    assert!(stdout.len() <= 10_240 && stdout.ends_with("49999\n"), "{stdout}");
}

#[test]
fn the_whole_text_of_a_result_can_be_read_again() {
    let user = empty("hook-store");
    let text: String = (1..=9000).map(|line| format!("line {line} of a build\n")).collect();
    let run_hook = |arguments: &[&str], text: &str| {
        let output =
            feed(&mut aside(&user, &[&["hook"], arguments].concat()), bash("make", text).to_string().as_bytes());
        assert!(output.status.success(), "{}", err(&output));
        let answer: Value = serde_json::from_str(&out(&output)).unwrap_or_default();
        let stdout = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap_or_default();
        (stdout.to_owned(), err(&output).to_owned())
    };
    for budget in ["1024", "2k", "10k"] {
        let (result, _) = run_hook(&["--budget", budget], &text);
        let (head, rest) = result.split_once('\n').unwrap();
        let (counts, id) =
            head.strip_prefix("[Shortened by aside: ").unwrap().split_once(". Whole text: aside recall ").unwrap();
        assert_eq!(counts, format!("{} → {} bytes", text.len(), result.len()), "{head}");
        assert!(
            result.len() <= budget.replace('k', "").parse::<usize>().unwrap() * if budget == "1024" { 1 } else { 1024 }
        );
        let id = id.strip_suffix(" LINES]").unwrap();
        let marker = rest.lines().find(|line| line.contains("left out: lines ")).unwrap();
        let lines = marker.rsplit_once(' ').unwrap().1.trim_end_matches(']');
        let recalled = out(&run(aside(&user, &["recall", id]).arg(lines)));
        let first: usize = lines.split('-').next().unwrap().parse().unwrap();
        assert!(recalled.starts_with(&format!("line {first} of a build\n")), "{marker}: {recalled}");
    }
    assert_eq!(texts(&user).len(), 3);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&user.join("state/aside/texts")), mode(&user.join("state/aside"))), (0o700, 0o700));
        assert!(texts(&user).iter().all(|text| mode(text) == 0o600) && mode(&user.join("state/aside/counts")) == 0o600);
    }
    // A text that stays unchanged is not stored. With `--no-store`, no text is stored.
    run_hook(&[], "ok\n");
    let (result, _) = run_hook(&["--no-store"], &text);
    assert!(result.starts_with("[Output compressed by ") && !result.contains(": lines "), "{result}");
    assert_eq!(texts(&user).len(), 3);
    // The bounds are numbers.
    run_hook(&["--store-size", &text.len().to_string()], &text);
    assert_eq!(texts(&user).len(), 1);
    let old = fs::File::options().write(true).open(&texts(&user)[0]).unwrap();
    old.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3 * 24 * 60 * 60)).unwrap();
    run_hook(&["--store-days", "4"], &text);
    assert_eq!(texts(&user).len(), 2);
    run_hook(&["--store-days", "2"], &text);
    assert_eq!(texts(&user).len(), 2);
    // Results of `aside recall` and of `aside squeeze` are not shortened again.
    for command in ["aside recall 402186937015 1-200", "aside squeeze --store -- bash -c 'make'"] {
        let output = feed(&mut aside(&user, &["hook"]), bash(command, &text).to_string().as_bytes());
        assert_eq!(out(&output), "", "{command}");
    }
    // A store that fails is reported and has no other effect.
    fs::remove_dir_all(user.join("state")).unwrap();
    fs::write(user.join("state"), "a file").unwrap();
    let (result, said) = run_hook(&[], &text);
    assert!(result.starts_with("[Output compressed by ") && result.len() <= 10_240, "{result}");
    assert_eq!(said.matches("the whole text is not kept: the store: ").count(), 1, "{said}");
}

/// Checks the forms of results that agents document, with an answer of the same form.
#[test]
fn the_results_of_other_tools() {
    let page = log();
    for (tool, response, place) in [
        (
            "WebFetch",
            json!({ "bytes": 9000, "code": 200, "codeText": "OK", "result": page, "durationMs": 1, "url": "https://example.com" }),
            "/result",
        ),
        ("mcp__github__get_job_logs", json!([{ "type": "text", "text": page }]), "/0/text"),
        (
            "mcp__github__get_job_logs",
            json!({ "content": [{ "type": "image", "data": "aGk=" }, { "type": "text", "text": page }] }),
            "/content/1/text",
        ),
        ("mcp__github__get_job_logs", json!(page), ""),
        ("Bash", json!({ "stdout": "", "stderr": page, "interrupted": false }), "/stderr"),
    ] {
        let answer: Value = serde_json::from_str(&out(&hook(&after(tool, json!({}), response.clone())))).unwrap();
        let mut made = answer["hookSpecificOutput"]["updatedToolOutput"].clone();
        let text = made.pointer_mut(place).unwrap();
        assert!(text.as_str().unwrap().ends_with("[… 399 lines as above]\nerror: no such cart\n"), "{tool}: {text}");
        *text = page.clone().into();
        assert_eq!(made, response, "{tool}");
    }
    let event = |tool: &str, content: Value| {
        json!({ "hook_event_name": "AfterTool", "tool_name": tool, "tool_input": {}, "timestamp": "2026-01-02T03:04:05Z",
            "tool_response": { "llmContent": content, "returnDisplay": "" } })
    };
    let image = json!({ "inlineData": { "mimeType": "image/png", "data": "aGk=" } });
    for (tool, content, is_shorter) in [
        ("web_fetch", json!(page), true),
        ("mcp_github_get_job_logs", json!([{ "text": page }]), true),
        ("mcp__github__get_job_logs", json!([{ "text": page }, image]), false),
        ("read_file", json!(page), false),
    ] {
        let output = hook(&event(tool, content));
        assert_eq!(out(&output).contains(r"error: no such cart\n"), is_shorter, "{tool}: {}", out(&output));
    }
}

/// Checks that the whole output is shortened if the event has the beginning of the output and the name of a file.
#[test]
fn a_long_output_of_claude_code_is_read_from_its_file() {
    let user = empty("hook-persisted");
    let whole = format!("{}error: no such cart\n", (0..5000).map(|n| format!("step {n}\n")).collect::<String>());
    fs::write(user.join("whole.txt"), &whole).unwrap();
    let mut event = bash("make", &whole[..30_000]);
    event["tool_response"]["persistedOutputPath"] = user.join("whole.txt").to_str().into();
    event["tool_response"]["persistedOutputSize"] = whole.len().into();
    let answer: Value =
        serde_json::from_str(&out(&feed(&mut aside(&user, &["hook"]), event.to_string().as_bytes()))).unwrap();
    let made = &answer["hookSpecificOutput"]["updatedToolOutput"];
    let stdout = made["stdout"].as_str().unwrap();
    assert!(stdout.len() <= 10_240 && stdout.ends_with("error: no such cart\n"), "{stdout}");
    assert!(made.get("persistedOutputPath").is_none() && made.get("persistedOutputSize").is_none(), "{made}");
    assert_eq!(fs::read_to_string(&texts(&user)[0]).unwrap(), whole);
}

#[test]
fn what_the_hook_has_done_is_counted() {
    let user = empty("hook-stats");
    let run_hook =
        |event: &Value| out(&feed(&mut aside(&user, &["hook", "--budget", "2k"]), event.to_string().as_bytes()));
    let result = run_hook(&bash("make", &log()));
    run_hook(&bash("make", "ok\n"));
    assert_eq!(
        run_hook(&after("Read", json!({ "file_path": "/a" }), json!({ "type": "text", "file": { "content": log() } }))),
        ""
    );
    run_hook(&after("mcp__a__b\tc", json!({}), json!([{ "type": "text", "text": "short" }])));
    let id = result.split("aside recall ").nth(1).unwrap()[..12].to_owned();
    for _ in 0..2 {
        assert!(run(aside(&user, &["recall", &id, "1-2"]).arg("--find").arg("warning")).status.success());
    }
    let answer: Value = serde_json::from_str(&result).unwrap();
    let shown = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap().len();
    let table = out(&run(&mut aside(&user, &["hook", "--stats"])));
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let (before, after) = ((log().len() + 3).to_string(), (shown + 3).to_string());
    assert!(rows.contains(&vec!["Bash", "2", &before, &after, "2"]), "{table}");
    assert!(rows.contains(&vec!["mcp__a__b", "c", "1", "5", "5", "0"]), "{table}");
    assert!(table.contains("Read ") && table.contains("       1 left alone"), "{table}");
}

/// Runs the hook with a store. Returns the texts of its answer.
fn shortened(user: &Path, budget: &str, event: &str) -> Value {
    let output = feed(&mut aside(user, &["hook", "--budget", budget]), event.as_bytes());
    assert!(output.status.success(), "{}", err(&output));
    let answer: Value = serde_json::from_str(&out(&output)).unwrap_or_default();
    answer["hookSpecificOutput"]["updatedToolOutput"].clone()
}

/// Returns what `aside recall` shows for the id in a result.
fn recalled(user: &Path, result: &str, lines: &str) -> String {
    let id = &result.split("aside recall ").nth(1).unwrap()[..12];
    out(&run(&mut aside(user, &["recall", id, lines]))).to_owned()
}

#[test]
fn one_budget_is_for_all_texts_of_a_result() {
    let user = empty("hook-many-texts");
    let block = |n: usize| (0..200).map(|line| format!("block {n}, line {line}\n")).collect::<String>();
    let image = json!({ "type": "image", "data": "aGk=" });
    let mut content: Vec<Value> = (0..40).map(|n| json!({ "type": "text", "text": block(n) })).collect();
    content.insert(3, image.clone());
    let event = after("mcp__a__b", json!({}), json!({ "content": content })).to_string();
    let result = shortened(&user, "10k", &event);
    let left = result["content"].as_array().unwrap();
    assert!(left.len() == 2 && left[1] == image, "{left:?}");
    let text = left[0]["text"].as_str().unwrap();
    assert!(text.len() <= 10_240 && text.ends_with("block 39, line 199\n"), "{text}");
    assert_eq!(recalled(&user, text, "201"), "block 1, line 0\n");
    // Short texts that are too long together.
    let content: Vec<Value> = (0..100).map(|n| json!({ "type": "text", "text": &block(n)[..900] })).collect();
    let result = shortened(&user, "10k", &after("mcp__a__b", json!({}), json!(content)).to_string());
    assert!(result.as_array().unwrap().len() == 1 && result.to_string().len() < 11_000, "{result}");
    let mut event = bash("make", &block(1));
    event["tool_response"]["stderr"] = block(2).into();
    let result = shortened(&user, "1k", &event.to_string());
    let texts = ["stdout", "stderr"].map(|name| result[name].as_str().unwrap());
    assert!(texts[0].len() + texts[1].len() <= 1024 && texts[0].ends_with("block 2, line 199\n"), "{texts:?}");
    // Two texts that fit stay separate.
    let result = shortened(&user, "6k", &event.to_string());
    assert!(result["stderr"].as_str().unwrap().ends_with("block 2, line 199\n"), "{result}");
}

/// Checks that a marker in a line or in JSON names what it replaces, and that `aside recall` shows that.
#[test]
fn every_marker_says_what_to_ask_for() {
    let user = empty("hook-places");
    let records: Vec<Value> = (0..300).map(|n| json!({ "id": n, "name": format!("cart {n}"), "open": true })).collect();
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let long = format!("a head\nx {}y\n", "some words of a line ".repeat(900));
    let (one, pretty) = (json!(records).to_string(), serde_json::to_string_pretty(&records).unwrap());
    let (one, pretty) = (one.as_str(), pretty.as_str());
    let string = json!(long.repeat(2)).to_string();
    for text in [one, pretty, lines.as_str(), long.as_str(), string.as_str()] {
        let result = shortened(&user, "4k", &bash("./report", text).to_string());
        let shown = result["stdout"].as_str().unwrap();
        let marker = shown.split("[… ").nth(1).unwrap().split_once(']').unwrap().0;
        let (what, place) = marker.split_once(": line").unwrap_or_else(|| panic!("{shown}"));
        let bytes: String = what.split(" byte").next().unwrap().rsplit(' ').next().unwrap().replace(',', "");
        let gone = recalled(&user, shown, place.split_once(' ').unwrap().1);
        // A text of lines has a last line end, which is not part of the omitted text.
        let gone = if place.contains(':') { gone.trim_end_matches('\n') } else { &gone };
        assert!(
            gone.len().abs_diff(bytes.parse().unwrap()) <= 60 || gone.contains("[the next of "),
            "{marker}: {}",
            gone.len()
        );
        assert!(text.contains(gone.split("\n[the next").next().unwrap()), "{marker}");
    }
}

/// Checks events that are not valid JSON, or whose strings are not valid Unicode.
#[test]
fn half_a_character_in_an_event() {
    let user = empty("hook-halves");
    let lines: String = (0..900).map(|line| format!("line {line}\\n")).collect();
    for half in [r"\ud83d", r"\ude00", r"\ud83d\ud83d"] {
        let event = format!(
            r#"{{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {{"command": "echo {half}"}},
                "tool_response": {{"stdout": "{half}é {lines}the end{half}", "stderr": ""}}}}"#
        );
        let output = feed(&mut aside(&user, &["hook", "--budget", "2k"]), event.as_bytes());
        let answer = out(&output);
        assert!(output.status.success() && answer.contains("é line 0\\n"), "{}", err(&output));
        assert!(
            answer.contains(&format!("\\n{half}é line 0")) && answer.contains(&format!("the end{half}\"")),
            "{answer}"
        );
    }
    let kept = fs::read(&texts(&user)[0]).unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains('\u{e03d}') && kept.len() > 8000);
    let event = format!("\u{feff}{}", bash("make", &log()));
    assert!(shortened(&user, "2k", &event)["stdout"].as_str().unwrap().ends_with("error: no such cart\n"));
}
