//! The program `aside`: the library on the command line. Each subcommand has its own file; this file only chooses a subcommand
//! and turns its result into an exit status.

#[cfg(not(all(feature = "proxy", feature = "templates")))]
mod absent;
mod check;
mod choose;
mod closed;
mod dialects;
#[cfg(feature = "templates")]
mod draft;
mod files;
mod generate;
mod grammar;
mod history;
mod hook;
#[cfg(feature = "proxy")]
mod mcp;
mod names;
mod output;
#[cfg(feature = "proxy")]
mod proxy;
mod recall;
mod resplit;
mod size;
mod split;
mod squeeze;
mod state;
mod stop;
mod words;

use std::process::ExitCode;

#[cfg(not(feature = "templates"))]
use absent as draft;
#[cfg(not(feature = "proxy"))]
use absent as mcp;
#[cfg(not(feature = "proxy"))]
use absent as proxy;
use clap::builder::Styles;
use clap::{CommandFactory, Parser, Subcommand};
use output::{COMMAND, note, say};
use stop::Stop;

/// Splits the text of a language model into thinking, content and tool calls, and shortens the output of tools before a model reads
/// it.
#[derive(Parser)]
#[command(name = "aside", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 on success, 1 if something failed, 2 for options that are wrong, but 1 from `aside hook`. \
    `aside squeeze -- COMMAND` exits as COMMAND does."
)]
struct Cli {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    Split(split::Arguments),
    Resplit(resplit::Arguments),
    History(history::Arguments),
    /// Runs a reverse proxy (in a program built with `--features proxy`)
    #[cfg(not(feature = "proxy"))]
    Proxy(proxy::Arguments),
    #[cfg(feature = "proxy")]
    Proxy(Box<proxy::Arguments>),
    Squeeze(squeeze::Arguments),
    Recall(recall::Arguments),
    Hook(Box<hook::Arguments>),
    /// Serves kept texts to an agent, over MCP (in a program built with `--features proxy`)
    #[cfg(not(feature = "proxy"))]
    Mcp(mcp::Arguments),
    #[cfg(feature = "proxy")]
    Mcp(mcp::Arguments),
    Dialects(dialects::Arguments),
    Check(check::Arguments),
    Grammar(grammar::Arguments),
    /// Drafts a dialect file from a chat template (in a program built with `--features templates`)
    #[cfg(not(feature = "templates"))]
    Draft(draft::Arguments),
    #[cfg(feature = "templates")]
    Draft(draft::Arguments),
    Completions(generate::Completions),
    Man(generate::Man),
}

fn main() -> ExitCode {
    let asked = std::env::args_os().nth(1).filter(|name| Cli::command().find_subcommand(name).is_some());
    let name =
        COMMAND.get_or_init(|| asked.map_or("aside".to_owned(), |name| format!("aside {}", name.to_string_lossy())));
    if closed::is_stdout_closed() {
        note("standard output is closed");
        return ExitCode::FAILURE;
    }
    let done = match Cli::try_parse() {
        Ok(cli) => run(cli.command),
        Err(error) if error.use_stderr() => refuse(error),
        // The user asked for help or a version.
        Err(error) => error.exit(),
    };
    let (message, code) = match done {
        Ok(code) => return code,
        // The reader of the output has closed the pipe (`| head -1`).
        Err(Stop::PipeClosed) => return ExitCode::SUCCESS,
        Err(Stop::Failed(message)) => (message, 1),
        Err(Stop::NotRun(message, code)) => (message, code),
        // For a hook, the exit status 2 would make an agent show the message to its model.
        Err(Stop::Usage(message)) => {
            (format!("{message}\nTry `{name} --help`."), if name == "aside hook" { 1 } else { 2 })
        }
    };
    note(&message);
    ExitCode::from(code)
}

fn run(command: Subcommands) -> Result<ExitCode, Stop> {
    match command {
        Subcommands::Split(arguments) => split::run(&arguments),
        Subcommands::Resplit(arguments) => resplit::run(&arguments),
        Subcommands::History(arguments) => history::run(&arguments),
        Subcommands::Proxy(arguments) => proxy::run(&arguments),
        Subcommands::Squeeze(arguments) => squeeze::run(&arguments),
        Subcommands::Recall(arguments) => recall::run(&arguments),
        Subcommands::Hook(arguments) => hook::run(&arguments),
        Subcommands::Mcp(arguments) => mcp::run(&arguments),
        Subcommands::Dialects(arguments) => dialects::run(&arguments),
        Subcommands::Check(arguments) => check::run(&arguments),
        Subcommands::Grammar(arguments) => grammar::run(&arguments),
        Subcommands::Draft(arguments) => draft::run(&arguments),
        Subcommands::Completions(arguments) => generate::completions(&arguments),
        Subcommands::Man(arguments) => generate::man(&arguments),
    }
}

/// Reports wrong arguments with the parser's message. The parser's styles are left out, because escape sequences in a quoted
/// argument would look like them.
fn refuse(error: clap::Error) -> Result<ExitCode, Stop> {
    let error = Cli::command().styles(Styles::plain()).try_get_matches().err().unwrap_or(error);
    let text = error.render().ansi().to_string();
    let Some(message) = text.strip_prefix("error: ") else {
        // If there is no subcommand, the message is the help.
        say(&text);
        return Ok(ExitCode::from(2));
    };
    let (message, _) = message.split_once("\n\nFor more information").unwrap_or((message, ""));
    Err(Stop::Usage(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_options_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
