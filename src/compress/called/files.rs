//! Whether a command line shows what is in files. What a program reads from a file may repeat itself for a reason, so a
//! filter must know before it leaves a repeat out.

use super::{command::Invocation, input::Input};

/// Programs that print files.
const READERS: [&str; 13] =
    ["cat", "bat", "sed", "head", "tail", "less", "more", "nl", "tac", "xxd", "od", "hexdump", "strings"];

/// Whether any program whose output is seen shows what is in files.
pub fn shows_files(input: &Input) -> bool {
    input.invocations().iter().any(|run| run.prints() && reads_files(run))
}

fn reads_files(run: &Invocation) -> bool {
    let is_reader = |name: &str| READERS.contains(&name);
    match run.command() {
        // find -exec cat {} +
        "find" => run.words().windows(2).any(|pair| pair[0].starts_with("-exec") && is_reader(&pair[1])),
        // git show HEAD:file
        "git" => run.subcommand() == Some("show") && run.words().iter().any(|word| word.contains(':')),
        name => is_reader(name),
    }
}
