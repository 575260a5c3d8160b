//! The program `aside`: the library on the command line. Each subcommand has its own file; this one only chooses between them
//! and turns their results into an exit status.

mod check;
mod choose;
mod closed;
mod dialects;
mod files;
mod generate;
mod history;
mod hook;
mod output;
#[cfg(feature = "proxy")]
mod proxy;
mod recall;
mod resplit;
mod size;
mod split;
mod squeeze;
mod stop;

use std::process::ExitCode;

use clap::builder::Styles;
use clap::{CommandFactory, Parser, Subcommand};
use output::say;
use stop::Stop;

/// Splits what a language model writes into thinking, content and tool calls, and makes what tools print shorter before a model
/// reads it.
#[derive(Parser)]
#[command(name = "aside", version, propagate_version = true, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit status: 0 on success, 1 if something failed, 2 for options that are wrong. `aside squeeze -- COMMAND` \
    exits as COMMAND does."
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
    #[cfg(feature = "proxy")]
    Proxy(Box<proxy::Arguments>),
    Squeeze(squeeze::Arguments),
    Recall(recall::Arguments),
    Hook(hook::Arguments),
    Dialects(dialects::Arguments),
    Check(check::Arguments),
    Completions(generate::Completions),
    Man(generate::Man),
}

impl Subcommands {
    fn name(&self) -> &'static str {
        match self {
            Subcommands::Split(_) => "split",
            Subcommands::Resplit(_) => "resplit",
            Subcommands::History(_) => "history",
            #[cfg(feature = "proxy")]
            Subcommands::Proxy(_) => "proxy",
            Subcommands::Squeeze(_) => "squeeze",
            Subcommands::Recall(_) => "recall",
            Subcommands::Hook(_) => "hook",
            Subcommands::Dialects(_) => "dialects",
            Subcommands::Check(_) => "check",
            Subcommands::Completions(_) => "completions",
            Subcommands::Man(_) => "man",
        }
    }
}

fn main() -> ExitCode {
    if closed::is_stdout_closed() {
        say("aside: standard output is closed\n");
        return ExitCode::FAILURE;
    }
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) if error.use_stderr() => return refuse(error),
        // Help, or a version.
        Err(error) => error.exit(),
    };
    let name = command.name();
    let done = match command {
        Subcommands::Split(arguments) => split::run(&arguments),
        Subcommands::Resplit(arguments) => resplit::run(&arguments),
        Subcommands::History(arguments) => history::run(&arguments),
        #[cfg(feature = "proxy")]
        Subcommands::Proxy(arguments) => proxy::run(&arguments),
        Subcommands::Squeeze(arguments) => squeeze::run(&arguments),
        Subcommands::Recall(arguments) => recall::run(&arguments),
        Subcommands::Hook(arguments) => hook::run(&arguments),
        Subcommands::Dialects(arguments) => dialects::run(&arguments),
        Subcommands::Check(arguments) => check::run(&arguments),
        Subcommands::Completions(arguments) => generate::completions(&arguments),
        Subcommands::Man(arguments) => generate::man(&arguments),
    };
    let (message, code) = match done {
        Ok(code) => return code,
        // The reader of our output has seen enough (`| head -1`).
        Err(Stop::PipeClosed) => return ExitCode::SUCCESS,
        Err(Stop::Failed(message)) => (message, 1),
        Err(Stop::NotRun(message, code)) => (message, code),
        Err(Stop::Usage(message)) => (format!("{message}\nTry `aside {name} --help`."), 2),
    };
    say(&format!("aside {name}: {message}\n"));
    ExitCode::from(code)
}

/// Reports wrong arguments. The parser's own styles are left out, since they could not be distinguished from escape sequences
/// in an argument that the message quotes.
fn refuse(error: clap::Error) -> ExitCode {
    let error = Cli::command().styles(Styles::plain()).try_get_matches().err().unwrap_or(error);
    say(&error.render().ansi().to_string());
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_options_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
