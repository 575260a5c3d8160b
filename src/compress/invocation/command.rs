//! Finds the programs that a command line runs, and the program that printed the visible output. Filters for one tool depend on the
//! result, so for a line that is not understood, the result must be "no program" and not a wrong program. The line is never executed.
//!
//! `shell` cuts the line into simple commands. `wrappers` removes wrappers such as `sudo`. Text inside `bash -c` is parsed in turn,
//! to a fixed depth.

use super::{
    shell::{Operator, split},
    wrappers::{Wrapped, name, skip_options, wrapped},
};

/// The depth to which `bash -c "bash -c …"` is followed.
const DEEPEST: usize = 8;

/// A command of a command line: a program and its arguments.
///
/// ```
/// use aside::compress::Command;
///
/// let run = Command::parse("cd app && sudo -u bob git -C lib diff --stat | head -20").unwrap();
/// assert_eq!((run.name(), run.subcommand()), ("git", Some("diff")));
/// assert!(run.has_flag("--stat") && run.is_piped());
/// assert!(Command::parse("ls -l && cat notes").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    name: String,
    subcommand: Option<String>,
    words: Vec<String>,
    prints: bool,
    piped: bool,
}

impl Command {
    /// Returns the one program whose output is visible. Returns `None` if several programs print, or none does.
    #[must_use]
    pub fn parse(line: &str) -> Option<Command> {
        let mut all = Command::all(line)?;
        only_printing(&all).map(|at| all.swap_remove(at))
    }

    /// Returns every program of a line, in order; for a shell with `-c`, the programs that the shell runs. Returns `None` for
    /// lines with `case`, and for lines with shells in shells more than eight deep.
    ///
    /// ```
    /// use aside::compress::Command;
    ///
    /// let runs = Command::all("cd app && A=1 cargo +nightly test | tail -5").unwrap();
    /// let seen: Vec<_> = runs.iter().map(|run| (run.name(), run.subcommand(), run.prints())).collect();
    /// assert_eq!(seen, [("cd", Some("app"), false), ("cargo", Some("test"), true), ("tail", None, false)]);
    /// ```
    #[must_use]
    pub fn all(line: &str) -> Option<Vec<Command>> {
        let mut all = Vec::new();
        collect(line, CommandOutput { prints: true, piped: false }, DEEPEST, &mut all)?;
        Some(all)
    }

    /// Returns the program's name without its folder: `git`, `pytest` for `python -m pytest`, `gradle` for `./gradlew`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the first argument that is neither an option nor an option's value, such as `diff` of `git -C dir diff`.
    /// For `npm run` it is the script's name.
    #[must_use]
    pub fn subcommand(&self) -> Option<&str> {
        self.subcommand.as_deref()
    }

    /// Returns all words after the program's name.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns whether the program's output is visible. It is not visible for `cd` and the like, if it is redirected to a file,
    /// or if it is piped into a program that prints different text.
    #[must_use]
    pub fn prints(&self) -> bool {
        self.prints
    }

    /// Returns whether the output passed through `head`, `tail` or `grep`, so that it may be only a part.
    #[must_use]
    pub fn is_piped(&self) -> bool {
        self.piped
    }

    /// Returns whether an option was given: `--name`, `--name=value`, or `-n` alone or in a bundle as `-an`.
    #[must_use]
    pub fn has_flag(&self, flag: &str) -> bool {
        let mut options = self.words.iter().take_while(|word| *word != "--");
        let letter = flag.strip_prefix('-').filter(|rest| rest.len() == 1 && !rest.starts_with('-'));
        options.any(|word| {
            let bundle = word.strip_prefix('-').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_alphabetic()));
            word == flag
                || word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
                || letter.is_some_and(|letter| bundle.is_some_and(|bundle| bundle.contains(letter)))
        })
    }
}

/// Returns the index of the only program that prints. Returns `None` if several print, or none does.
pub(super) fn only_printing(runs: &[Command]) -> Option<usize> {
    let mut printing = (0..runs.len()).filter(|&at| runs[at].prints());
    let only = printing.next()?;
    printing.next().is_none().then_some(only)
}

/// A simple command without its wrappers.
struct InnerCommand {
    words: Vec<String>,
    /// The script that `bash -c` or `ssh host '…'` runs.
    script: Option<String>,
}

/// The destination of a command's output.
#[derive(Clone, Copy)]
struct CommandOutput {
    prints: bool,
    piped: bool,
}

/// Commands that print nothing on success.
const SILENT: [&str; 12] =
    ["cd", "pushd", "export", "set", "source", ".", "umask", "mkdir", "true", ":", "for", "unset"];
/// Words of the shell before a command.
const KEYWORDS: [&str; 13] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "esac"];
/// Programs that print all lines of their input, or some of them, unchanged.
const PASSING: [&str; 3] = ["tee", "cat", "less"];
const CUTTING: [&str; 5] = ["head", "tail", "grep", "egrep", "fgrep"];

/// Adds the programs of a line. `output` is the destination of the line's output.
fn collect(line: &str, output: CommandOutput, depth: usize, all: &mut Vec<Command>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let commands = split(line)?;
    let mut rest = &commands[..];
    while !rest.is_empty() {
        let last = rest.iter().position(|command| command.operator != Operator::Pipe).unwrap_or(rest.len() - 1);
        let (pipeline, after) = rest.split_at(last + 1);
        rest = after;
        let seen = output.prints && !pipeline[last].redirected;
        let runs: Vec<(InnerCommand, bool)> = pipeline.iter().map(|command| without_wrappers(&command.words)).collect();
        let is_one_of = |at: usize, names: &[&str]| {
            let (run, takes) = &runs[at];
            !takes && run.words.first().is_some_and(|head| names.contains(&name(head)))
        };
        let cuts = |at: usize| is_one_of(at, &CUTTING);
        let writer = (1..=last).rev().find(|&at| !is_one_of(at, &PASSING) && !cuts(at)).unwrap_or(0);
        let is_cut = (writer + 1..=last).any(cuts);
        for (at, (run, _)) in runs.into_iter().enumerate() {
            let prints = seen && at == writer;
            let output = CommandOutput { prints, piped: prints && (output.piped || is_cut) };
            match (run.script, run.words.first()) {
                (Some(script), _) => collect(&script, output, depth, all)?,
                (None, Some(head)) if SILENT.contains(&head.as_str()) => {
                    all.push(resolve(run.words, CommandOutput { prints: false, piped: false }));
                }
                (None, Some(_)) => all.push(resolve(run.words, output)),
                (None, None) => {}
            }
        }
    }
    Some(())
}

const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "dash", "ksh"];

/// Removes assignments, keywords and wrappers. Also returns whether the command gets its input as arguments, from `xargs`.
fn without_wrappers(words: &[String]) -> (InnerCommand, bool) {
    let mut rest = words;
    let mut takes = false;
    let script = |script: &str| (InnerCommand { words: Vec::new(), script: Some(script.to_owned()) }, false);
    loop {
        while rest.first().is_some_and(|word| is_assignment(word) || KEYWORDS.contains(&word.as_str())) {
            rest = &rest[1..];
        }
        let head = rest.first().map_or("", |head| name(head));
        if SHELLS.contains(&head)
            && let Some(text) = text_for_shell(&rest[1..])
        {
            return script(text);
        }
        if plain(head) == "python"
            && let Some(module) = rest.iter().skip(1).position(|word| word == "-m" || !word.starts_with('-'))
            && rest[module + 1] == "-m"
            && module + 2 < rest.len()
        {
            // The name of the Python module is the command.
            rest = &rest[module + 2..];
            continue;
        }
        match wrapped(rest) {
            Some(Wrapped::Script(text)) => return script(text),
            Some(Wrapped::Words(inner)) => {
                takes |= head == "xargs";
                rest = inner;
            }
            None => return (InnerCommand { words: rest.to_vec(), script: None }, takes),
        }
    }
}

/// Returns the script that a shell with `-c` runs: the first word that is not an option. After a script's name, `-c` belongs to
/// the script.
fn text_for_shell(words: &[String]) -> Option<&String> {
    let mut is_given = false;
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.len() > 1 && word.starts_with(['-', '+'])) {
        at += 1;
        if word == "--" {
            break;
        }
        let is_bundle = !word.starts_with("--");
        is_given |= is_bundle && word.starts_with('-') && word.contains('c');
        // The value of `o` at the end of a bundle is the next word, as in `-euo pipefail`.
        at += usize::from(is_bundle && word.ends_with(['o', 'O']) || word == "--rcfile" || word == "--init-file");
    }
    words.get(at).filter(|_| is_given)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.as_bytes()[0].is_ascii_digit()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns the command's options before the subcommand that take a value.
fn valued_options(command: &str) -> &'static [&'static str] {
    match command {
        "git" => &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"],
        "cargo" => &["-C", "-Z", "--config", "--color", "--manifest-path"],
        "npm" | "pnpm" | "yarn" | "bun" => &["-C", "--dir", "--prefix", "-w", "--workspace", "--filter", "-F", "--cwd"],
        "go" => &["-C"],
        "docker" | "podman" => &["-H", "--host", "-c", "--context", "-l", "--log-level", "--config"],
        "kubectl" | "helm" => &["-n", "--namespace", "--context", "--kube-context", "--kubeconfig", "--cluster", "-s"],
        "make" | "gmake" | "ninja" => &["-C", "-f", "-I", "-o", "-W", "--directory", "--file"],
        "gradle" => &["-p", "-b", "-c", "-I", "--project-dir", "--build-file", "--init-script"],
        "mvn" => &["-f", "-pl", "-P", "-s", "-T", "--file", "--projects", "--settings"],
        "uv" | "poetry" => &["-C", "-P", "--directory", "--project"],
        "pip" => &["--python", "--proxy", "--log", "--cache-dir"],
        "apt" | "apt-get" => &["-o", "-t", "-c"],
        _ => &[],
    }
}

/// Finds the usual names of a command's program and subcommand.
fn resolve(words: Vec<String>, output: CommandOutput) -> Command {
    let mut words = words.into_iter();
    let command = plain(name(&words.next().unwrap_or_default()));
    let words: Vec<String> = words.collect();
    let from = usize::from(command == "cargo" && words.first().is_some_and(|word| word.starts_with('+')));
    let at = from + skip_options(&words[from..], valued_options(&command));
    let mut subcommand = words.get(at);
    if matches!(command.as_str(), "npm" | "pnpm" | "yarn" | "bun") {
        let valued = valued_options(&command);
        let mut at = at;
        // The subcommand of `npm run x` is `x`, and so is that of `yarn workspace w run x`.
        while let Some(word) = words.get(at) {
            at += match word.as_str() {
                "run" | "run-script" => 1,
                "workspaces" if words.get(at + 1).is_some_and(|word| word == "foreach" || word == "run") => 2,
                "workspace" => 2,
                _ => break,
            };
            at += skip_options(words.get(at..).unwrap_or_default(), valued);
        }
        subcommand = words.get(at).or(subcommand);
    }
    let subcommand = subcommand.cloned();
    Command { name: command, subcommand, words, prints: output.prints, piped: output.piped }
}

/// Returns a program's usual name: without its version, or the name of the tool if it is a project's wrapper script.
fn plain(name: &str) -> String {
    const VERSIONED: [&str; 10] = ["python", "pip", "gcc", "g++", "clang", "clang++", "node", "ruby", "pypy", "php"];
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    match name {
        "gradlew" | "gradlew.bat" => "gradle".into(),
        "mvnw" | "mvnw.cmd" => "mvn".into(),
        "py" | "pypy3" => "python".into(),
        "pip3" => "pip".into(),
        _ if VERSIONED.contains(&bare) => if bare == "pypy" { "python" } else { bare }.into(),
        _ => name.into(),
    }
}
