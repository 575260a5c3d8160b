//! Determines whether a command line shows the contents of files, or searches. A file may contain repeats for a reason, and a model
//! asked for the results of a search, so a filter must know about both before it leaves lines out.

use super::{command::Command, input::Input};

/// Programs that print files.
const READERS: [&str; 13] =
    ["cat", "bat", "sed", "head", "tail", "less", "more", "nl", "tac", "xxd", "od", "hexdump", "strings"];

/// Programs that search texts, or select lines from them.
const SEARCHERS: [&str; 15] =
    ["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "awk", "gawk", "find", "fd", "jq", "sort", "uniq", "diff"];
/// Programs that list things, and subcommands of git that show the contents of the repository.
const LISTERS: [&str; 7] = ["ls", "tree", "env", "printenv", "export", "declare", "ps"];
const OF_GIT: [&str; 6] = ["diff", "show", "blame", "annotate", "cat-file", "format-patch"];
/// Keys that only the input of a tool that reads or searches has.
const READS: [&str; 8] = ["path", "file_path", "file", "filename", "pattern", "query", "url", "uri"];
/// Programs that show logs, and words in the command lines of other programs that show logs or search.
const LOGS: [&str; 2] = ["journalctl", "dmesg"];
const WORDS: [&str; 3] = ["log", "logs", "grep"];

/// Returns whether any program whose output is visible shows the contents of files.
pub fn shows_files(input: &Input) -> bool {
    input.commands().iter().any(|run| run.prints() && reads_files(run))
}

/// Returns whether all programs whose output is visible are known, and none of them shows the contents of files or logs, searches
/// or lists.
pub fn only_runs(input: &Input) -> bool {
    let mut printing = input.commands().iter().filter(|run| run.prints()).peekable();
    printing.peek().is_some() && !printing.any(|run| reads_files(run) || searches(run) || lists(run))
}

/// Returns whether tools may be recognised by their output. If there is no command line, the keys of the tool's input show
/// whether the tool reads or searches.
pub fn may_have_sections(input: &Input) -> bool {
    match input.command() {
        Some(line) if !line.trim().is_empty() => only_runs(input),
        _ => !READS.iter().any(|key| input.has(key)),
    }
}

/// Returns whether any program whose output is visible shows the contents of files or logs, or searches.
pub fn reads_or_searches(input: &Input) -> bool {
    input.commands().iter().any(|run| run.prints() && (reads_files(run) || searches(run)))
}

/// Returns whether any visible output passed through `head`, `grep` and the like, so that it may be only a part.
pub fn is_piped(input: &Input) -> bool {
    input.commands().iter().any(|run| run.prints() && run.is_piped())
}

fn searches(run: &Command) -> bool {
    SEARCHERS.contains(&run.name())
        || LOGS.contains(&run.name())
        || run.words().iter().any(|word| WORDS.contains(&word.as_str()))
}

fn lists(run: &Command) -> bool {
    let shows = |subcommand: &str| OF_GIT.contains(&subcommand);
    LISTERS.contains(&run.name()) || run.name() == "git" && run.subcommand().is_some_and(shows)
}

fn reads_files(run: &Command) -> bool {
    let is_reader = |name: &str| READERS.contains(&name);
    match run.name() {
        // This is a command such as `find -exec cat {} +`.
        "find" => run.words().windows(2).any(|pair| pair[0].starts_with("-exec") && is_reader(&pair[1])),
        // This is a command such as `git show HEAD:file`.
        "git" => run.subcommand() == Some("show") && run.words().iter().any(|word| word.contains(':')),
        name => is_reader(name),
    }
}
