//! `aside hook --install` and `--remove` on settings as people have them, and the commands that `--wrap` proposes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use support::program::{at_home, empty, err, feed, out, run};

fn user(name: &str) -> PathBuf {
    let folder = empty(name);
    fs::create_dir(folder.join(".claude")).unwrap();
    folder
}

fn aside(user: &Path, arguments: &[&str]) -> Command {
    at_home(env!("CARGO_BIN_EXE_aside"), user, arguments)
}

fn hook(user: &Path, arguments: &[&str]) -> Output {
    run(&mut aside(user, &[&["hook"], arguments].concat()))
}

/// Settings in layouts that users choose. For some of them, a change cannot be undone exactly from the text alone.
const SETTINGS: [&str; 9] = [
    "{}\n",
    "{ }",
    "{\"hooks\":{}}",
    "{\n  \"hooks\": {\n    \"PostToolUse\": []\n  },\n  \"model\": \"opus\"\n}\n",
    "{\n    \"zeta\": 1,\n    \"alpha\": [1, 2,   3],\n    \"permissions\": { \"allow\": [\"Bash(ls:*)\"] }\n}",
    "{\n\t\"hooks\": {\n\t\t\"PostToolUse\": [\n\t\t\t{ \"matcher\": \"Edit\", \"hooks\": [{ \"type\": \"command\", \"command\": \"fmt\" }] }\n\t\t],\n\t\t\"Stop\": []\n\t}\n}\n",
    "{\r\n  \"model\": \"opus\"\r\n}\r\n",
    "{\"model\":\"opus\",\"hooks\":{\"PostToolUse\":[{\"matcher\":\"Edit\",\"hooks\":[{\"type\":\"command\",\"command\":\"fmt\"}]}]}}",
    "{\n  \"note\": \"an aside hook \\\"quoted\\\" \\u00e9\",\n  \"hooks\": { \"PreToolUse\": [] }\n}\n",
];

#[test]
fn settings_are_kept_and_come_back_exactly() {
    for (agent, folder, event) in [("claude", ".claude", "PostToolUse"), ("gemini", ".gemini", "AfterTool")] {
        for before in SETTINGS {
            let user = user("install");
            fs::create_dir_all(user.join(folder)).unwrap();
            let file = user.join(folder).join("settings.json");
            fs::write(&file, before).unwrap();
            // Nothing is written before the user agrees.
            let output = hook(&user, &["--install", agent]);
            assert_eq!((output.status.code(), fs::read_to_string(&file).unwrap().as_str()), (Some(1), before));
            assert!(out(&output).contains("\n+") && err(&output).contains("--yes"), "{}{}", out(&output), err(&output));
            let output = hook(&user, &["--install", agent, "--yes", "--budget", "4k"]);
            assert!(output.status.success(), "{before}: {}", err(&output));
            let after = fs::read_to_string(&file).unwrap();
            let settings: Value = serde_json::from_str(&after).unwrap_or_else(|error| panic!("{error}: {after}"));
            let groups = settings["hooks"][event].as_array().unwrap();
            assert_eq!(
                groups.last().unwrap()["hooks"][0],
                json!({ "type": "command", "command": "aside hook --budget 4096" })
            );
            // All earlier settings are still there, in their order, and the additions have the same layout.
            let mut rest = after.as_str();
            for word in
                before.split_whitespace().filter(|word| word.len() > 4 && !word.contains("[]") && !word.contains("{}"))
            {
                let word = word.trim_end_matches([',', ']', '}']);
                rest = rest.split_once(word).unwrap_or_else(|| panic!("{word} is not in {after}")).1;
            }
            assert!(!before.starts_with("{\n\t") || !after.contains("  "), "{after}");
            assert!(
                !before.contains('\r') || after.matches('\n').count() == after.matches("\r\n").count(),
                "{after:?}"
            );
            // Once more changes nothing.
            assert!(err(&hook(&user, &["--install", agent, "--yes", "--budget", "4k"])).contains("there already"));
            // Other options replace it.
            assert!(hook(&user, &["--install", agent, "--yes"]).status.success());
            let other = fs::read_to_string(&file).unwrap();
            assert!(other.matches("\"aside hook").count() == 1 && !other.contains("4096"), "{other}");
            assert!(hook(&user, &["--remove", agent, "--yes"]).status.success());
            assert_eq!(fs::read_to_string(&file).unwrap(), before);
            assert!(err(&hook(&user, &["--remove", agent, "--yes"])).contains("there is no hook of aside"));
        }
    }
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let user = user("install-new");
    assert!(hook(&user, &["--install", "gemini", "--yes"]).status.success());
    let file = user.join(".gemini/settings.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("{\n  \"hooks\": {\n    \"AfterTool\": [\n      {\n        \"matcher\": ")
            && text.ends_with("}\n"),
        "{text}"
    );
    assert!(hook(&user, &["--remove", "gemini", "--yes"]).status.success() && !file.exists());
    let project = hook(&user, &["--install", "claude", "--project", "--yes"]);
    assert!(out(&project).starts_with(".claude/settings.json\n"), "{}", out(&project));
}

/// Checks that a change that the user has made since stays.
#[test]
fn what_changed_since_stays() {
    for (agent, folder, before) in
        SETTINGS.into_iter().flat_map(|text| [("claude", ".claude", text), ("gemini", ".gemini", text)])
    {
        let user = user("install-since");
        let file = user.join(folder).join("settings.json");
        fs::create_dir_all(user.join(folder)).unwrap();
        fs::write(&file, before).unwrap();
        assert!(hook(&user, &["--install", agent, "--wrap", "--yes"]).status.success());
        let installed = fs::read_to_string(&file).unwrap();
        assert_eq!(installed.matches("\"aside hook").count(), 2, "{installed}");
        fs::write(&file, installed.replace("opus", "sonnet") + "\n").unwrap();
        assert!(hook(&user, &["--remove", agent, "--yes"]).status.success());
        let mut after: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let mut wanted: Value = serde_json::from_str(&before.replace("opus", "sonnet")).unwrap();
        // Lists that were empty may be removed.
        for settings in [&mut after, &mut wanted] {
            let hooks = settings.as_object_mut().unwrap();
            hooks
                .get_mut("hooks")
                .and_then(Value::as_object_mut)
                .into_iter()
                .for_each(|hooks| hooks.retain(|_, list| *list != json!([])));
            hooks.retain(|_, value| *value != json!({}));
        }
        assert_eq!(after, wanted, "{before}");
    }
    let user = user("install-unfit");
    assert!(err(&hook(&user, &["--install", "claude", "--yes", "--budget", "9"])).contains("the least is 1024"));
    assert!(!user.join(".claude/settings.json").exists());
    for text in ["{ // mine\n}", "[]", "{\"hooks\": []}", "{\"hooks\": {\"PostToolUse\": {}}}"] {
        fs::write(user.join(".claude/settings.json"), text).unwrap();
        let output = hook(&user, &["--install", "claude", "--yes"]);
        assert!(output.status.code() == Some(1) && err(&output).contains("JSON"), "{text}: {}", err(&output));
        assert_eq!(fs::read_to_string(user.join(".claude/settings.json")).unwrap(), text);
    }
}

/// Checks that a hook which its user has edited is recognised, and that the edits stay.
#[test]
fn an_edited_hook_keeps_its_edits() {
    let user = user("install-edited");
    let file = user.join(".claude/settings.json");
    let settings = |event: &str, matcher: &str, command: &str| {
        let hook = json!({ "type": "command", "command": command, "timeout": 30 });
        json!({ "hooks": { event: [{ "matcher": matcher, "hooks": [hook] }] } })
    };
    for (program, matcher) in [
        ("aside", "Bash"),
        ("/usr/bin/aside", "mcp__github__.*"),
        ("\"/opt/my hook tools/aside\"", "*"),
        ("$HOME/.cargo/bin/aside", ""),
    ] {
        let before = settings("PostToolUse", matcher, &format!("{program} hook --budget 4k"));
        fs::write(&file, before.to_string()).unwrap();
        assert!(hook(&user, &["--install", "claude", "--yes", "--budget", "8k"]).status.success());
        let after: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(after, settings("PostToolUse", matcher, &format!("{program} hook --budget 8192")));
        assert!(err(&hook(&user, &["--install", "claude", "--yes", "--budget", "8k"])).contains("there already"));
        assert!(hook(&user, &["--remove", "claude", "--yes"]).status.success());
        assert_eq!(serde_json::from_str::<Value>(&fs::read_to_string(&file).unwrap()).unwrap(), before);
    }
    // A hook at another event, or for tools whose results it does not read, does not count as installed.
    for (event, matcher) in [("PreToolUse", "Bash"), ("PostToolUse", "Edit|Write"), ("Stop", "")] {
        fs::write(&file, settings(event, matcher, "aside hook").to_string()).unwrap();
        assert!(hook(&user, &["--install", "claude", "--yes"]).status.success());
        let after: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let group =
            json!({ "matcher": "Bash|WebFetch|mcp__.*", "hooks": [{ "type": "command", "command": "aside hook" }] });
        assert_eq!(after, json!({ "hooks": { "PostToolUse": [group] } }), "{event} {matcher}");
    }
    for other in ["my-aside hook", "aside hooks", "echo aside hook", "aside squeeze", "bash -c 'aside hook'"] {
        fs::write(&file, settings("PostToolUse", "Bash", other).to_string()).unwrap();
        assert!(err(&hook(&user, &["--remove", "claude", "--yes"])).contains("there is no hook"), "{other}");
    }
}

#[test]
fn a_file_is_removed_only_if_it_was_not_there() {
    let user = user("install-empty");
    let file = user.join(".claude/settings.json");
    let twice = || {
        for option in ["--install", "--remove"] {
            let output = hook(&user, &[option, "claude", "--yes"]);
            assert!(output.status.success(), "{}", err(&output));
        }
    };
    for empty in ["", "\n"] {
        fs::write(&file, empty).unwrap();
        assert!(err(&hook(&user, &["--remove", "claude", "--yes"])).contains("there is no hook"));
        twice();
        assert_eq!(fs::read_to_string(&file).unwrap(), empty);
    }
    #[cfg(unix)]
    {
        let real = user.join("dotfiles/settings.json");
        fs::create_dir(user.join("dotfiles")).unwrap();
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("../dotfiles/settings.json", &file).unwrap();
        // A link to a file, to an empty one, and to none.
        for before in [Some("{\"model\": \"opus\"}\n"), Some(""), None] {
            match before {
                Some(before) => fs::write(&real, before).unwrap(),
                None => fs::remove_file(&real).unwrap(),
            }
            assert!(hook(&user, &["--install", "claude", "--yes"]).status.success());
            assert!(fs::read_to_string(&real).unwrap().contains("aside hook") && file.is_symlink());
            assert!(hook(&user, &["--remove", "claude", "--yes"]).status.success());
            assert_eq!((fs::read_to_string(&real).ok().as_deref(), file.is_symlink()), (before, true));
        }
    }
}

/// Returns the answer to a command that Claude Code is about to run.
fn propose(user: &Path, wrap: &str, command: &str, more: Value) -> Value {
    let mut event = json!({
        "session_id": "abc123", "cwd": user, "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": command, "description": "Run it", "timeout": 120_000 }, "tool_use_id": "toolu_01ABC123",
    });
    for (name, value) in more.as_object().unwrap() {
        event[name] = value.clone();
    }
    let output = feed(&mut aside(user, &["hook", wrap]), event.to_string().as_bytes());
    assert!(output.status.success(), "{}", err(&output));
    serde_json::from_str::<Value>(&out(&output)).unwrap_or_default()["hookSpecificOutput"].clone()
}

#[test]
#[cfg(unix)]
fn a_command_of_the_list_is_wrapped_and_asked_about() {
    let user = user("wrap");
    let list = "--wrap=cargo test,make,sh,cd,export";
    let more = json!({ "tool_input": { "command": "make -j4 all 2>&1 | tail -20 && cargo test 'it''s' \"$HOME\"", "timeout": 5 } });
    let answer = propose(&user, list, "", more.clone());
    assert_eq!(answer["permissionDecision"], "ask");
    let input = &answer["updatedInput"];
    assert_eq!(input["timeout"], 5);
    let line = more["tool_input"]["command"].as_str().unwrap();
    let wrapped = format!("aside squeeze --budget 10k --store -- bash -c '{}'", line.replace('\'', r"'\''"));
    assert_eq!(input["command"], wrapped);
    // The store of the proposed command has the bounds of the hook.
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "make" }, "cwd": user });
    let options = ["hook", "--wrap", "--store-size", "1m", "--store-days", "2"];
    let answer = out(&feed(&mut aside(&user, &options), event.to_string().as_bytes()));
    let proposed = "aside squeeze --budget 10k --store-size 1048576 --store-days 2 --store -- bash -c 'make'";
    assert!(answer.contains(proposed), "{answer}");
    // The proposed command has `--store` only with a budget that `aside squeeze --store` accepts.
    let refused = err(&run(&mut aside(&user, &["squeeze", "--budget", "1024", "--store", "--", "true"]))).to_owned();
    let (_, least) = refused.split_once("the least is ").unwrap_or_else(|| panic!("{refused}"));
    let least: usize = least.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
    for (budget, has_store) in [(least - 1, false), (least, true)] {
        let options = ["hook", "--wrap", "--budget", &budget.to_string()];
        let answer = out(&feed(&mut aside(&user, &options), event.to_string().as_bytes()));
        assert_eq!(answer.contains(" --store "), has_store, "{answer}");
    }
    // The smallest budget has no room for the line that names the whole text.
    let options = ["hook", "--wrap", "--budget", "1k", "--budget-tokens", "3k"];
    let answer = out(&feed(&mut aside(&user, &options), event.to_string().as_bytes()));
    assert!(answer.contains("aside squeeze --budget 1024 --budget-tokens 3000 -- bash -c 'make'"), "{answer}");
    for refused in [
        "cd app && make",
        "export A=1; make",
        "source env && make",
        ". env; make",
        "make &",
        "make & make",
        "(make)",
        "make $(id)",
        "make `id`",
        "make <<EOF\nx\nEOF",
        "make\nrm -r x",
        "cargo build",
        "cargo",
        "ls",
        "make; ls",
        "make | xargs rm",
        "",
        "A=1",
        "make 'x",
        "make \\\n all",
        "sudo make",
        "env make",
        "tail -20",
        "! make",
        "{ make; }",
        "make |& tail",
        "export",
        "eval make",
        "exec make",
        r"make $'\'' ; rm x #'",
    ] {
        assert_eq!(propose(&user, list, refused, json!({})), Value::Null, "{refused}");
    }
    for plain in [
        "make",
        "A=1 make",
        "make;",
        "make || make clean",
        "make > out 2>&1",
        "make &> out",
        "make 'a & b' | grep \"x (y)\"",
    ] {
        assert_eq!(propose(&user, list, plain, json!({}))["permissionDecision"], "ask", "{plain}");
    }
    for other in [
        json!({ "tool_name": "Edit" }),
        json!({ "permission_mode": "dontAsk" }),
        json!({ "permission_mode": "bypassPermissions" }),
        json!({ "tool_input": { "command": "make", "run_in_background": true } }),
    ] {
        assert_eq!(propose(&user, list, "make", other.clone()), Value::Null, "{other}");
    }
    // Gemini CLI uses different names.
    let event = json!({ "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "cwd": user, "timestamp": "2026-01-02T03:04:05Z",
        "tool_input": { "command": "make all", "description": "Build" } });
    let output = feed(&mut aside(&user, &["hook", list]), event.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&out(&output)).unwrap();
    let wrapped = "aside squeeze --budget 10k --store -- bash -c 'make all'";
    assert_eq!(
        (&answer["decision"], &answer["hookSpecificOutput"]),
        (
            &json!("ask"),
            &json!({ "hookEventName": "BeforeTool", "tool_input": { "command": wrapped, "description": "Build" } })
        )
    );
    // The list that `--install` writes if the user names none.
    assert_eq!(propose(&user, "--wrap", "cargo test --all", json!({}))["permissionDecision"], "ask");
    assert_eq!(propose(&user, "--wrap", "rm -r target", json!({})), Value::Null);
    // The proposed command has the output and the exit status of the model's command.
    let script = "i=0; while test $i -lt 900; do echo same; i=$(expr $i + 1); done; echo \"it is done\"; exit 7";
    fs::write(user.join("job"), script).unwrap();
    let answer = propose(&user, list, "sh 'job' | tail -n 999 && sh -c 'exit 7'", json!({}));
    let path = Path::new(env!("CARGO_BIN_EXE_aside")).parent().unwrap().display().to_string();
    let mut command = Command::new("bash");
    command.args(["-c", answer["updatedInput"]["command"].as_str().unwrap()]).current_dir(&user);
    let output = run(command
        .env("XDG_STATE_HOME", user.join("state"))
        .env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap())));
    assert_eq!(output.status.code(), Some(7), "{}", err(&output));
    assert!(
        out(&output).starts_with("[The whole text: aside recall ") && out(&output).ends_with("\nit is done\n"),
        "{}",
        out(&output)
    );
}

/// Checks that the agent's own rules judge the model's command: a command that they may refuse is not wrapped.
#[test]
fn a_command_that_a_rule_may_refuse_is_left_to_the_agent() {
    let user = user("wrap-rules");
    let list = "--wrap=cargo,make";
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        for (kind, rule, is_wrapped) in [
            ("deny", "Bash(make clean:*)", false),
            ("deny", "Bash(make:*)", false),
            ("ask", "Bash(make clean)", false),
            ("deny", "Bash", false),
            ("deny", "Bash(* clean)", false),
            ("ask", "Bash(A=1 make *)", false),
            ("deny", "Bash(cargo:*)", true),
            ("allow", "Bash(make:*)", true),
            ("deny", "Read(./.env)", true),
            ("deny", "Bash(make install *)", true),
        ] {
            fs::write(user.join(file), json!({ "permissions": { kind: [rule] } }).to_string()).unwrap();
            let answer = propose(&user, list, "A=1 make clean", json!({ "cwd": user.join("src/deep") }));
            assert_eq!(answer["permissionDecision"] == "ask", is_wrapped, "{kind} {rule}");
        }
        fs::write(user.join(file), "{ not JSON").unwrap();
        assert_eq!(propose(&user, list, "make clean", json!({})), Value::Null);
        fs::remove_file(user.join(file)).unwrap();
    }
    fs::create_dir_all(user.join(".gemini")).unwrap();
    for (settings, is_wrapped) in [
        (json!({ "tools": { "exclude": ["run_shell_command(make clean)"] } }), false),
        (json!({ "excludeTools": ["ShellTool(make)"] }), false),
        (json!({ "tools": { "exclude": ["run_shell_command(rm)"] } }), true),
    ] {
        fs::write(user.join(".gemini/settings.json"), settings.to_string()).unwrap();
        assert_eq!(
            propose(&user, list, "make clean", json!({}))["permissionDecision"] == "ask",
            is_wrapped,
            "{settings}"
        );
    }
    fs::create_dir(user.join(".gemini/policies")).unwrap();
    assert_eq!(propose(&user, list, "make clean", json!({})), Value::Null);
}
