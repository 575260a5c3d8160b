//! The hook in an agent's settings: `--install` adds it, `--remove` removes it. Both show the change first, and leave everything
//! else in the file unchanged.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::{Arguments, Settings, json_edit, line};
use crate::output::{note, write_out};
use crate::state;
use crate::stop::Stop;
use crate::words::written;

#[derive(Clone, Copy, ValueEnum)]
pub enum Agent {
    Claude,
    Gemini,
}

/// A hook to install.
struct Entry {
    event: &'static str,
    /// The tools for which the hook runs at the event.
    tools: &'static str,
    /// The words after the program in the hook's command.
    rest: String,
}

impl Entry {
    /// Returns whether a hook at this place runs at the entry's event, for at least one of its tools.
    fn is_at(&self, place: &Place) -> bool {
        let matcher = place.matcher.as_deref().unwrap_or_default();
        // A matcher is a regular expression. If it consists of plain names, they are the tools that it is for.
        let is_for = |name: &str| {
            let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
            !is_plain || name.is_empty() || name.starts_with("mcp_") || self.tools.split('|').any(|tool| tool == name)
        };
        place.event == self.event && matcher.split('|').any(is_for)
    }
}

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
        let entry = |event, tools, wrap| Entry { event, tools, rest: rest(settings, wrap) };
        let wrapped = settings.wrap.as_ref().map(|listed| entry(before, shell, Some(listed)));
        [entry(after, tools, None)].into_iter().chain(wrapped).collect()
    }
}

/// Returns the hook's command with these options, without the program.
fn rest(settings: &Settings, wrap: Option<&Vec<String>>) -> String {
    let mut words = vec!["hook".to_owned()];
    words.extend(wrap.map(|listed| format!("--wrap={}", listed.join(","))));
    words.extend(settings.budgets());
    words.extend(settings.bounds.options());
    words.extend(settings.no_store.then(|| "--no-store".to_owned()));
    written(&words.into_iter().map(OsString::from).collect::<Vec<_>>())
}

pub fn install(agent: Agent, arguments: &Arguments) -> Result<ExitCode, Stop> {
    let file = agent.file(arguments.project)?;
    let before = read(&file)?;
    let text = before.clone().filter(|text| !text.trim().is_empty());
    let mut text = text.unwrap_or_else(|| "{}\n".to_owned());
    let entries = agent.entries(&arguments.settings);
    remove_own(&mut text, &file, |place| !entries.iter().any(|entry| entry.is_at(place)))?;
    for entry in &entries {
        let count = own(&text, &file)?.len();
        let mut is_there = false;
        for at in 0..count {
            // A change moves the text after it, so the places are found again.
            let Some(place) = own(&text, &file)?.into_iter().nth(at).filter(|place| entry.is_at(place)) else {
                continue;
            };
            let command = format!("{} {}", place.program, entry.rest);
            if command != place.command {
                text.replace_range(place.at, &json_edit::rendered(&command, None));
            }
            is_there = true;
        }
        if !is_there {
            let command = &format!("aside {}", entry.rest);
            let group = Group { matcher: entry.tools, hooks: [Hook { r#type: "command", command }] };
            add(&mut text, entry.event, &group).ok_or_else(|| unfit(&file))?;
        }
    }
    if before.as_ref() == Some(&text) {
        note(&format!("{}: the hook is there already", file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    change(&file, before.as_deref(), Some(&text), arguments.yes)?;
    // The contents before the first change are stored, so that `--remove` can restore them, or remove a file that did not exist.
    let original = before.as_deref().and_then(|before| state::remembered(&file, before)).unwrap_or(before);
    state::remember(&file, original, text);
    Ok(ExitCode::SUCCESS)
}

pub fn remove(agent: Agent, arguments: &Arguments) -> Result<ExitCode, Stop> {
    let file = agent.file(arguments.project)?;
    let before = read(&file)?;
    let mut text = before.clone().unwrap_or_default();
    if text.trim().is_empty() || own(&text, &file)?.is_empty() {
        note(&format!("{}: there is no hook of aside", file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let restored = state::remembered(&file, &text);
    remove_own(&mut text, &file, |_| true)?;
    let after = restored.unwrap_or(Some(text));
    change(&file, before.as_deref(), after.as_deref(), arguments.yes)?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Option<String>, Stop> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
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
    event: String,
    matcher: Option<String>,
    command: String,
    /// The range of the command, as a JSON string.
    at: Range<usize>,
    /// The part of the command that names this program, as the user wrote it.
    program: String,
    /// For `hooks`, the event, the group and the hook: the range of the object or array that contains it, and its index there.
    levels: [(Range<usize>, usize); 4],
}

/// Returns the hooks of this program in a text of settings, in their order.
fn own(text: &str, file: &Path) -> Result<Vec<Place>, Stop> {
    let whole = json_edit::whole(text);
    let top = json_edit::items(text, &whole).filter(|_| text[whole.clone()].starts_with('{'));
    let top = top.ok_or_else(|| unfit(file))?;
    let inside = |at: &Range<usize>| json_edit::items(text, at).unwrap_or_default().into_iter().enumerate();
    let string = |at: &Range<usize>, name: &str| {
        let at = json_edit::member(text, at, name)?;
        Some((serde_json::from_str::<String>(&text[at.clone()]).ok()?, at))
    };
    let mut found = Vec::new();
    for (first, hooks) in top.into_iter().enumerate().filter(|(_, item)| item.name == "hooks") {
        for (second, event) in inside(&hooks.value) {
            for (third, group) in inside(&event.value) {
                let Some(list) = json_edit::member(text, &group.value, "hooks") else { continue };
                for (fourth, hook) in inside(&list) {
                    let Some((command, at)) = string(&hook.value, "command") else { continue };
                    let Some(program) = program(&command).map(str::to_owned) else { continue };
                    let containers = [whole.clone(), hooks.value.clone(), event.value.clone(), list.clone()];
                    let mut indexes = [first, second, third, fourth].into_iter();
                    let levels = containers.map(|at| (at, indexes.next().unwrap_or_default()));
                    let matcher = string(&group.value, "matcher").map(|(matcher, _)| matcher);
                    found.push(Place { event: event.name.clone(), matcher, command, at, program, levels });
                }
            }
        }
    }
    Ok(found)
}

/// Returns the part of a command that names this program, with its quotes, or `None` if the command does not run `aside hook`.
fn program(command: &str) -> Option<&str> {
    let [simple] = &line::commands(command)?[..] else { return None };
    let name = simple.words.first()?.rsplit(['/', '\\']).next()?;
    if !["aside", "aside.exe"].contains(&name) || simple.words.get(1)? != "hook" {
        return None;
    }
    // The program's path may contain blanks, and the word `hook`.
    let is_program = |part: &&str| {
        let [simple] = &line::commands(part).unwrap_or_default()[..] else { return false };
        simple.words.len() == 1
    };
    command.match_indices(" hook").map(|(at, _)| command[..at].trim_end()).find(is_program)
}

/// Removes hooks of this program, and also groups, events and `hooks` that would become empty.
fn remove_own(text: &mut String, file: &Path, is_unwanted: impl Fn(&Place) -> bool) -> Result<(), Stop> {
    while let Some(place) = own(text, file)?.into_iter().rfind(&is_unwanted) {
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

/// Shows the change of a file, asks the user, and writes it. If `after` is `None`, removes the file.
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
        None => fs::remove_file(target(file)),
    };
    done.map_err(|error| Stop::io(&name, &error))
}

/// Returns the file that a link leads to, even if the file does not exist.
fn target(file: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut file = file.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&file) else { break };
        file = file.parent().map_or(next.clone(), |folder| folder.join(next));
    }
    file
}

/// Replaces a file's text, or leaves the file as it was if the text cannot be written. The file may be a link, and keeps its mode.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let file = target(file);
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
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
    // For each pair of an old and a new line: the largest number of lines that both texts have in common, in order, from there
    // on.
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
