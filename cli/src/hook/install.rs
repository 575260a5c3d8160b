//! The hook in an agent's settings: `--install` adds it, `--remove` takes it away. Each shows what it changes first, and leaves what is
//! there as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::{Arguments, STORE_DAYS, STORE_SIZE, Settings, json_edit};
use crate::output::{note, write_out};
use crate::state;
use crate::stop::Stop;
use crate::words::written;

#[derive(Clone, Copy, ValueEnum)]
pub enum Agent {
    Claude,
    Gemini,
}

/// An event of an agent, the tools for which the hook runs at it, and its command.
type Entry = (&'static str, &'static str, String);

#[derive(Serialize)]
struct Group<'a> {
    matcher: &'a str,
    hooks: [Hook<'a>; 1],
}

#[derive(Serialize)]
struct Hook<'a> {
    r#type: &'a str,
    command: &'a str,
}

/// Returns the folder of Claude Code's settings for the user.
pub fn claude_folder() -> Option<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".claude"));
    std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(home)
}

impl Agent {
    fn file(self, is_of_project: bool) -> Result<PathBuf, Stop> {
        let folder = match (self, is_of_project) {
            (Agent::Claude, true) => Some(PathBuf::from(".claude")),
            (Agent::Gemini, true) => Some(PathBuf::from(".gemini")),
            (Agent::Claude, false) => claude_folder(),
            (Agent::Gemini, false) => std::env::home_dir().map(|home| home.join(".gemini")),
        };
        let folder = folder.ok_or_else(|| Stop::Failed("there is no home folder".to_owned()))?;
        Ok(folder.join("settings.json"))
    }

    fn entries(self, settings: &Settings) -> Vec<Entry> {
        let [(after, tools), (before, shell)] = match self {
            Agent::Claude => [("PostToolUse", "Bash|WebFetch|mcp__.*"), ("PreToolUse", "Bash")],
            Agent::Gemini => [("AfterTool", "run_shell_command|web_fetch|mcp_.*"), ("BeforeTool", "run_shell_command")],
        };
        let wrapped = settings.wrap.as_ref().map(|listed| (before, shell, command(settings, Some(listed))));
        [(after, tools, command(settings, None))].into_iter().chain(wrapped).collect()
    }
}

/// Returns the hook's command with these options.
fn command(settings: &Settings, wrap: Option<&Vec<String>>) -> String {
    let mut words = vec!["aside".to_owned(), "hook".to_owned()];
    words.extend(wrap.map(|listed| format!("--wrap={}", listed.join(","))));
    let changed = |value: usize, default: usize| (value != default).then_some(value);
    for (name, value) in [
        ("--budget", settings.budget),
        ("--budget-tokens", settings.budget_tokens),
        ("--store-size", changed(settings.store_size, STORE_SIZE)),
        ("--store-days", changed(settings.store_days, STORE_DAYS)),
    ] {
        words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value.to_string()]));
    }
    words.extend(settings.no_store.then(|| "--no-store".to_owned()));
    written(&words.into_iter().map(OsString::from).collect::<Vec<_>>())
}

pub fn install(agent: Agent, arguments: &Arguments) -> Result<ExitCode, Stop> {
    let file = agent.file(arguments.project)?;
    let before = read(&file)?;
    let entries = agent.entries(&arguments.settings);
    let mut text = before.clone().unwrap_or_else(|| "{}\n".to_owned());
    let found: BTreeSet<String> = own(&text, &file)?.into_iter().map(|place| place.command).collect();
    if found == entries.iter().map(|(_, _, command)| command.clone()).collect() {
        note(&format!("{}: the hook is there already", file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    remove_own(&mut text, &file)?;
    for (event, matcher, command) in &entries {
        let group = Group { matcher, hooks: [Hook { r#type: "command", command }] };
        add(&mut text, event, &group).ok_or_else(|| unfit(&file))?;
    }
    change(&file, before.as_deref(), Some(&text), arguments.yes)?;
    // So that `--remove` can restore all of it, even where there was no file.
    let original = before.as_deref().and_then(|before| state::remembered(&file, before)).unwrap_or(before);
    state::remember(&file, original, text);
    Ok(ExitCode::SUCCESS)
}

pub fn remove(agent: Agent, arguments: &Arguments) -> Result<ExitCode, Stop> {
    let file = agent.file(arguments.project)?;
    let before = read(&file)?;
    let mut text = before.clone().unwrap_or_default();
    if before.is_none() || own(&text, &file)?.is_empty() {
        note(&format!("{}: there is no hook of aside", file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let restored = state::remembered(&file, &text);
    remove_own(&mut text, &file)?;
    let after = restored.unwrap_or(Some(text));
    change(&file, before.as_deref(), after.as_deref(), arguments.yes)?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Option<String>, Stop> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Stop::io(&file.display().to_string(), &error)),
    }
}

fn unfit(file: &Path) -> Stop {
    Stop::in_file(
        file,
        "these are not settings in JSON without comments. docs/tool-results.md shows what to add by hand",
    )
}

/// A hook of this program in a text of settings.
struct Place {
    command: String,
    /// Where `hooks`, its event, its group and the hook itself are: what each is in, and which item of that it is.
    levels: [(Range<usize>, usize); 4],
}

/// Returns the hooks of this program in a text of settings, in their order.
fn own(text: &str, file: &Path) -> Result<Vec<Place>, Stop> {
    let whole = json_edit::whole(text);
    let top = json_edit::items(text, &whole).filter(|_| text[whole.clone()].starts_with('{'));
    let top = top.ok_or_else(|| unfit(file))?;
    let inside = |at: &Range<usize>| json_edit::items(text, at).unwrap_or_default().into_iter().enumerate();
    let mut found = Vec::new();
    for (first, hooks) in top.into_iter().enumerate().filter(|(_, item)| item.name == "hooks") {
        for (second, event) in inside(&hooks.value) {
            for (third, group) in inside(&event.value) {
                let Some(list) = json_edit::member(text, &group.value, "hooks") else { continue };
                for (fourth, hook) in inside(&list) {
                    let command = json_edit::member(text, &hook.value, "command");
                    let command =
                        command.and_then(|at| serde_json::from_str::<String>(&text[at]).ok()).unwrap_or_default();
                    if command == "aside hook" || command.starts_with("aside hook ") {
                        let containers = [whole.clone(), hooks.value.clone(), event.value.clone(), list.clone()];
                        let mut indexes = [first, second, third, fourth].into_iter();
                        let levels = containers.map(|at| (at, indexes.next().unwrap_or_default()));
                        found.push(Place { command, levels });
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Removes the hooks of this program, with the groups, events and `hooks` that have nothing else.
fn remove_own(text: &mut String, file: &Path) -> Result<(), Stop> {
    while let Some(place) = own(text, file)?.pop() {
        let is_alone = |at: &Range<usize>| json_edit::items(text, at).is_none_or(|items| items.len() == 1);
        let mut levels = place.levels.iter().rev();
        let largest = levels.by_ref().find(|(at, _)| !is_alone(at)).or(place.levels.first());
        let Some((at, index)) = largest.cloned() else { break };
        json_edit::remove(text, &at, index);
    }
    Ok(())
}

/// Adds a group of hooks to an event.
fn add(text: &mut String, event: &str, group: &Group) -> Option<()> {
    let whole = json_edit::whole(text);
    let fits = |at: &Range<usize>, begin| text[at.clone()].starts_with(begin);
    let Some(hooks) = json_edit::member(text, &whole, "hooks") else {
        json_edit::add(text, &whole, Some("hooks"), &BTreeMap::from([(event, [group])]));
        return Some(());
    };
    if !fits(&hooks, '{') {
        return None;
    }
    match json_edit::member(text, &hooks, event) {
        None => json_edit::add(text, &hooks, Some(event), &[group]),
        Some(groups) if fits(&groups, '[') => json_edit::add(text, &groups, None, group),
        Some(_) => return None,
    }
    Some(())
}

/// Shows a change of a file, asks, and writes it. Without a text after it, the file is removed.
fn change(file: &Path, before: Option<&str>, after: Option<&str>, is_agreed: bool) -> Result<(), Stop> {
    let name = file.display().to_string();
    write_out(format!("{name}\n{}", difference(before.unwrap_or_default(), after.unwrap_or_default())).as_bytes())?;
    if !is_agreed {
        if !io::stdin().is_terminal() {
            return Err(Stop::Failed("nothing is written: --yes writes it without asking".to_owned()));
        }
        let _ = write!(io::stderr(), "Write this? [y/N] ");
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map_err(|error| Stop::io("standard input", &error))?;
        if !answer.trim_start().starts_with(['y', 'Y']) {
            return Err(Stop::Failed("nothing is written".to_owned()));
        }
    }
    let done = match after {
        Some(text) => replace(file, text),
        None => fs::remove_file(file),
    };
    done.map_err(|error| Stop::io(&name, &error))
}

/// Replaces a file's text, or leaves the file as it was if the text cannot be written. The file may be a link, and keeps its mode.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let temporary = file.with_extension(format!("json.{}", std::process::id()));
    let written = fs::write(&temporary, text).and_then(|()| {
        if let Ok(known) = fs::metadata(&file) {
            fs::set_permissions(&temporary, known.permissions())?;
        }
        fs::rename(&temporary, &file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Returns the lines that differ, after `-` and `+`, with three lines around them.
fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    // The length of the longest common part of what follows two lines.
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for (one, line) in old.iter().enumerate().rev() {
        for (other, candidate) in new.iter().enumerate().rev() {
            common[one][other] = match line == candidate {
                true => common[one + 1][other + 1] + 1,
                false => common[one + 1][other].max(common[one][other + 1]),
            };
        }
    }
    let (mut one, mut other, mut lines) = (0, 0, Vec::new());
    while one < old.len() || other < new.len() {
        if one < old.len() && other < new.len() && old[one] == new[other] {
            lines.push((' ', old[one]));
            (one, other) = (one + 1, other + 1);
        } else if one < old.len() && (other == new.len() || common[one + 1][other] >= common[one][other + 1]) {
            lines.push(('-', old[one]));
            one += 1;
        } else {
            lines.push(('+', new[other]));
            other += 1;
        }
    }
    let is_near = |at: usize| lines[at.saturating_sub(3)..lines.len().min(at + 4)].iter().any(|(sign, _)| *sign != ' ');
    (0..lines.len()).filter(|&at| is_near(at)).map(|at| format!("{}{}\n", lines[at].0, lines[at].1)).collect()
}
