//! Wraps a command in `aside squeeze` before it runs. In Claude Code, this is the only way to shorten the output of a command
//! that fails, since no hook can change that result. Claude Code applies its rules to the command that the hook returns, not to
//! the model's. So the answer always makes the agent ask the user, and a command that a rule may refuse or ask about is not
//! wrapped.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Settings;
use super::install::claude_folder;
use super::line::{Command, commands};
use crate::squeeze::least_with_store;
use crate::stop::Stop;
use crate::words::quoted;

/// The commands that are wrapped if the user names none.
pub const COMMANDS: [&str; 18] = [
    "cargo build",
    "cargo check",
    "cargo clippy",
    "cargo test",
    "cmake --build",
    "ctest",
    "dotnet build",
    "dotnet test",
    "go build",
    "go test",
    "go vet",
    "gradle",
    "jest",
    "make",
    "mvn",
    "npm test",
    "pytest",
    "vitest",
];
/// Settings of Claude Code and Gemini CLI that apply to all users of a machine, who cannot change them.
const MANAGED: [&str; 3] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
    "/etc/gemini-cli/settings.json",
];
/// The names that rules use for the tool that runs commands.
const TOOLS: [&str; 3] = ["Bash", "run_shell_command", "ShellTool"];

/// Returns the answer to an event before a tool, or `None` if the command is not wrapped.
pub fn propose(event: &Value, settings: &Settings) -> Result<Option<Value>, Stop> {
    let Some(listed) = &settings.wrap else {
        return Err(Stop::Failed("the event is before a tool: run this with --wrap for it".to_owned()));
    };
    let input = &event["tool_input"];
    let line = input["command"].as_str().unwrap_or_default();
    // In these modes nobody is asked, and the answer would make the agent refuse the command.
    let can_ask = !["dontAsk", "bypassPermissions"].contains(&event["permission_mode"].as_str().unwrap_or_default());
    let in_background = ["run_in_background", "is_background"].iter().any(|name| input[*name] == true);
    let is_shell = event["tool_name"].as_str().is_some_and(|tool| TOOLS.contains(&tool));
    let is_wrapped = |commands: &Vec<Command>| {
        is_shell && !in_background && can_ask && commands.iter().all(|command| command.is_listed(listed))
    };
    let folder = Path::new(event["cwd"].as_str().unwrap_or("."));
    let Some(commands) = commands(line).filter(is_wrapped) else { return Ok(None) };
    if commands.is_empty() || is_ruled(&commands, line, folder) {
        return Ok(None);
    }
    let mut options = settings.budgets();
    if options.is_empty() {
        options.extend(["--budget".to_owned(), "10k".to_owned()]);
    }
    // Within the smallest budgets, there is no room for the line that names the whole text.
    let (least, least_tokens) = least_with_store(None);
    let has_room = settings.budget.is_none_or(|bytes| bytes >= least)
        && settings.budget_tokens.is_none_or(|tokens| tokens >= least_tokens);
    if !settings.no_store && has_room {
        options.extend(settings.bounds.options());
        options.push("--store".to_owned());
    }
    let mut input = input.clone();
    input["command"] = format!("aside squeeze {} -- bash -c {}", options.join(" "), quoted(line)).into();
    let reason = format!("aside shortens the output of: {line}");
    Ok(Some(match event["hook_event_name"].as_str() {
        Some("BeforeTool") => json!({
            "decision": "ask",
            "reason": reason,
            "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input },
        }),
        _ => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "ask",
            "permissionDecisionReason": reason,
            "updatedInput": input,
        } }),
    }))
}

/// Returns whether a rule of the agent may refuse a command or ask about it. A settings file that cannot be read may contain such
/// a rule. The project may be any folder that contains the folder in which the command runs.
fn is_ruled(commands: &[Command], line: &str, project: &Path) -> bool {
    let mut texts: Vec<String> = vec![line.to_owned()];
    for command in commands {
        texts.extend([command.words.join(" "), command.words().join(" ")]);
    }
    let root = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let home = std::env::home_dir();
    let around: Vec<PathBuf> = project.ancestors().map(PathBuf::from).chain(root).chain(home).collect();
    let folders =
        around.iter().flat_map(|folder| [folder.join(".claude"), folder.join(".gemini")]).chain(claude_folder());
    let folders: Vec<PathBuf> = folders.collect();
    // Gemini CLI's policies are written in a language that this program does not read.
    let policies =
        folders.iter().map(|folder| folder.join("policies")).chain([PathBuf::from("/etc/gemini-cli/policies")]);
    let mut files = folders
        .iter()
        .flat_map(|folder| ["settings.json", "settings.local.json"].map(|name| folder.join(name)))
        .chain(MANAGED.into_iter().map(PathBuf::from));
    policies.into_iter().any(|folder| folder.exists())
        || files.any(|file| match fs::read_to_string(file) {
            Ok(text) => serde_json::from_str::<Value>(&text).map_or(true, |settings| refuses(&settings, &texts)),
            Err(error) => error.kind() != ErrorKind::NotFound && error.kind() != ErrorKind::NotADirectory,
        })
}

/// Returns whether a rule for commands may match one of the texts, because the text begins with the rule's pattern up to the
/// first `*`.
fn refuses(settings: &Value, texts: &[String]) -> bool {
    let (permissions, tools) = (&settings["permissions"], &settings["tools"]);
    let rules = [&permissions["deny"], &permissions["ask"], &tools["exclude"], &settings["excludeTools"]];
    rules.into_iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str).any(|rule| {
        let (tool, pattern) = rule.split_once('(').unwrap_or((rule, ""));
        let start = pattern.trim_end_matches(')').split('*').next().unwrap_or_default().trim_end_matches([':', ' ']);
        tool.starts_with('*') || TOOLS.contains(&tool) && texts.iter().any(|text| text.starts_with(start))
    })
}
