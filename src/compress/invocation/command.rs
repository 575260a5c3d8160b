//! Which programs a command line runs, and which of them printed the output that is seen. Filters for one tool depend
//! on it, so a line that is not understood must name no program rather than a wrong one. Nothing is ever executed.
//!
//! `shell` cuts the line into simple commands. Wrappers such as `sudo` are taken off, and text inside `bash -c` is
//! parsed in turn, to a fixed depth.

use super::shell::{Operator, split};

/// How deep `bash -c "bash -c …"` is followed.
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
    /// Returns the one program whose output is seen. Returns `None` if more than one prints, or none does.
    #[doc(alias = "aside_command_line_parse")]
    #[must_use]
    pub fn parse(line: &str) -> Option<Command> {
        let mut all = Command::all(line)?;
        only_printing(&all).map(|at| all.swap_remove(at))
    }

    /// Returns every program of a line, in order; for a shell with `-c`, the programs that it runs. Returns `None` for
    /// lines that are not followed: those with `case`, and those with shells in shells more than eight deep.
    ///
    /// ```
    /// use aside::compress::Command;
    ///
    /// let runs = Command::all("cd app && A=1 cargo +nightly test | tail -5").unwrap();
    /// let seen: Vec<_> = runs.iter().map(|run| (run.name(), run.subcommand(), run.prints())).collect();
    /// assert_eq!(seen, [("cd", Some("app"), false), ("cargo", Some("test"), true), ("tail", None, false)]);
    /// ```
    #[doc(alias = "aside_command_line_parse")]
    #[doc(alias = "aside_command_line_command")]
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

    /// Returns whether the program's output is seen. That of `cd` and the like is not, nor output that goes to a file
    /// or into a program that writes something of its own.
    #[must_use]
    pub fn prints(&self) -> bool {
        self.prints
    }

    /// Returns whether the output went through `head`, `tail`, `tee`, `cat` or `grep`, so it may be only a part.
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

/// Returns the index of the program that prints. Returns `None` if several print, or none does.
pub(super) fn only_printing(runs: &[Command]) -> Option<usize> {
    let mut printing = (0..runs.len()).filter(|&at| runs[at].prints());
    let only = printing.next()?;
    printing.next().is_none().then_some(only)
}

/// A simple command without its wrappers.
struct InnerCommand {
    words: Vec<String>,
    /// What `bash -c` or `script -c` runs.
    script: Option<String>,
}

/// Where a command's output goes.
#[derive(Clone, Copy)]
struct CommandOutput {
    prints: bool,
    piped: bool,
}

/// Commands that print nothing if all goes well.
const SILENT: [&str; 12] =
    ["cd", "pushd", "export", "set", "source", ".", "umask", "mkdir", "true", ":", "for", "unset"];
/// Words of the shell before a command.
const KEYWORDS: [&str; 13] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "esac"];
/// Programs that pass lines on as they were.
const PASSING: [&str; 8] = ["head", "tail", "tee", "cat", "grep", "egrep", "fgrep", "less"];

/// Adds the programs of a line. `output` says where the line's output goes.
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
        let passes = |(run, takes): &(InnerCommand, bool)| {
            !takes && run.words.first().is_some_and(|head| PASSING.contains(&name(head)))
        };
        let writer = (1..=last).rev().find(|&at| !passes(&runs[at])).unwrap_or(0);
        for (at, (run, _)) in runs.into_iter().enumerate() {
            let prints = seen && at == writer;
            let output = CommandOutput { prints, piped: prints && (output.piped || writer < last) };
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

/// A program that runs the command in its arguments.
struct Wrapper {
    name: &'static str,
    /// If there are any, it is a wrapper only with one of these.
    subcommands: &'static [&'static str],
    /// The options that take a value.
    valued: &'static [&'static str],
    /// How many words of its own come before the command.
    own: usize,
}

const fn wrapper(
    name: &'static str,
    subcommands: &'static [&'static str],
    valued: &'static [&'static str],
    own: usize,
) -> Wrapper {
    Wrapper { name, subcommands, valued, own }
}

const WRAPPERS: [Wrapper; 29] = [
    wrapper(
        "sudo",
        &[],
        &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D", "-R", "-T", "--user", "--group", "--chdir"],
        0,
    ),
    wrapper("doas", &[], &["-u", "-C"], 0),
    wrapper("time", &[], &["-f", "-o", "--format", "--output"], 0),
    wrapper("env", &[], &["-u", "-C", "--unset", "--chdir"], 0),
    wrapper("nice", &[], &["-n", "--adjustment"], 0),
    wrapper("ionice", &[], &["-c", "-n", "-p", "--class", "--classdata"], 0),
    wrapper("nohup", &[], &[], 0),
    wrapper(
        "xargs",
        &[],
        &["-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s", "--max-args", "--max-procs", "--delimiter"],
        0,
    ),
    wrapper("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper("unbuffer", &[], &[], 0),
    wrapper("script", &[], &["-c", "--command", "-t", "-I", "-O", "-B", "-o"], 1),
    wrapper("timeout", &[], &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper("command", &[], &[], 0),
    wrapper("builtin", &[], &[], 0),
    wrapper("exec", &[], &["-a"], 0),
    wrapper("npx", &[], &["-p", "--package", "-c", "--call", "-w", "--workspace"], 0),
    wrapper("npm", &["exec", "x"], &["-p", "--package", "-c", "--call", "-C", "--prefix", "-w", "--workspace"], 0),
    wrapper("pnpm", &["exec", "dlx"], &["-C", "--dir", "--filter", "-F", "--package"], 0),
    wrapper("pnpx", &[], &["--package"], 0),
    wrapper("yarn", &["exec", "dlx"], &["--cwd", "-p", "--package"], 0),
    wrapper("bunx", &[], &["-p", "--package"], 0),
    wrapper("bun", &["x"], &["--cwd", "-p", "--package"], 0),
    wrapper(
        "uv",
        &["run"],
        &["--with", "--python", "-p", "--project", "--directory", "--package", "--extra", "--group", "--env-file"],
        0,
    ),
    wrapper("uvx", &[], &["--from", "--with", "--python", "-p"], 0),
    wrapper("poetry", &["run"], &["-C", "-P", "--directory", "--project"], 0),
    wrapper("pipenv", &["run"], &["--python", "--pypi-mirror"], 0),
    wrapper("pipx", &["run"], &["--spec", "--python", "--pip-args", "--index-url"], 0),
    wrapper("pdm", &["run"], &["-p", "--project"], 0),
    wrapper("bundle", &["exec"], &[], 0),
];
const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "dash", "ksh"];

/// Takes assignments, keywords and wrappers off. Also returns whether the command gets its input as arguments.
fn without_wrappers(words: &[String]) -> (InnerCommand, bool) {
    let mut rest = words;
    let mut takes = false;
    let done = |words: &[String], takes: bool| (InnerCommand { words: words.to_vec(), script: None }, takes);
    let script = |script: &String| (InnerCommand { words: Vec::new(), script: Some(script.clone()) }, false);
    loop {
        while rest.first().is_some_and(|word| is_assignment(word) || KEYWORDS.contains(&word.as_str())) {
            rest = &rest[1..];
        }
        let Some(head) = rest.first() else { return done(rest, takes) };
        let head = name(head);
        if SHELLS.contains(&head) {
            return match text_for_shell(&rest[1..]) {
                Some(text) => script(text),
                None => done(rest, takes),
            };
        }
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == head) else {
            return done(rest, takes);
        };
        let &Wrapper { subcommands, valued, own, .. } = wrapper;
        let mut inner = &rest[1..];
        if !subcommands.is_empty() {
            let at = skip_options(inner, valued, false);
            if inner.get(at).is_none_or(|word| !subcommands.contains(&word.as_str())) {
                return done(rest, takes);
            }
            inner = &inner[at + 1..];
        }
        let options = skip_options(inner, valued, head == "env" || head == "sudo");
        let option =
            inner[..options].iter().position(|word| matches!(word.as_str(), "-c" | "--command" | "--call" | "-qc"));
        if let Some(text) = option.filter(|_| matches!(head, "script" | "npx" | "npm")).and_then(|at| inner.get(at + 1))
        {
            return script(text);
        }
        if head == "uv" && inner[..options].iter().any(|word| word == "-m" || word == "--module") {
            // The module is the command.
            rest = &inner[options..];
            continue;
        }
        // `command -v x` and the like only look it up.
        if head == "command" && inner.first().is_some_and(|word| word == "-v" || word == "-V") {
            return done(rest, takes);
        }
        if inner.len() <= options + own {
            return done(rest, takes);
        }
        takes |= head == "xargs";
        rest = &inner[options + own..];
    }
}

/// Returns what a shell with `-c` runs: the first word that is not an option. After a script's name, `-c` belongs to
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
        // `-euo pipefail`
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

/// Returns how many words from the start are options and their values.
fn skip_options(words: &[String], valued: &[&str], assignments: bool) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return at + 1;
        }
        if valued.contains(&word.as_str()) {
            at += 2;
        } else if word.starts_with('-') && word.len() > 1 || assignments && is_assignment(word) {
            at += 1;
        } else {
            break;
        }
    }
    at.min(words.len())
}

/// Returns a program's name without its folder, its `.exe` and the version that it is fetched in (`jest@29`).
fn name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = name.find('@').filter(|&at| at > 0).map_or(name, |at| &name[..at]);
    name.strip_suffix(".exe").unwrap_or(name)
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
    let mut command = plain(name(&words.next().unwrap_or_default()));
    let mut words: Vec<String> = words.collect();
    if command == "python"
        && let Some(module) = words.iter().position(|word| word == "-m" || !word.starts_with('-'))
        && words[module] == "-m"
        && module + 1 < words.len()
    {
        command = plain(&words[module + 1]);
        words.drain(..module + 2);
    }
    let from = usize::from(command == "cargo" && words.first().is_some_and(|word| word.starts_with('+')));
    let at = from + skip_options(&words[from..], valued_options(&command), false);
    let mut subcommand = words.get(at);
    if matches!(command.as_str(), "npm" | "pnpm" | "yarn" | "bun") {
        let valued = valued_options(&command);
        let mut at = at;
        // `npm run x` is x, and so is `yarn workspace w run x`.
        while let Some(word) = words.get(at) {
            at += match word.as_str() {
                "run" | "run-script" => 1,
                "workspaces" if words.get(at + 1).is_some_and(|word| word == "foreach" || word == "run") => 2,
                "workspace" => 2,
                _ => break,
            };
            at += skip_options(words.get(at..).unwrap_or_default(), valued, false);
        }
        subcommand = words.get(at).or(subcommand);
    }
    let subcommand = subcommand.cloned();
    Command { name: command, subcommand, words, prints: output.prints, piped: output.piped }
}

/// Returns a program's usual name: without its version, and for a wrapper script of a project the name of the tool.
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
