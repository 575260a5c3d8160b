//! `aside split`: shows a model's output, by channel, as it arrives.

mod hint;
mod summary;
mod view;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use aside::answer::{self, Answer};
use aside::{Channel, EndReason, Scanner, ScannerOptions};
use clap::Args;

use crate::choose;
use crate::files::{Input, READ};
use crate::names::words;
use crate::output::{note, say, write_raw};
use crate::size;
use crate::stop::Stop;
use hint::Hint;
use summary::Summary;
use view::{Show, View};

/// Splits the text of a language model into its channels, as it arrives
///
/// A terminal shows thinking dimmed, and the text's control characters written out, as \u{1b}; a pipe, or NO_COLOR, gets a line
/// such as [thinking] before each part. Counts follow on standard error, so that standard output has only the text. Without a
/// dialect, the markers of all families are looked for (the dialect any).
#[derive(Args)]
pub struct Arguments {
    /// The model's output; without FILE, or with -, standard input
    file: Option<PathBuf>,

    #[command(flatten)]
    dialect: choose::Source,

    /// Shows tool calls one by one, each with its name and its arguments as JSON; with --events, their names, keys and values
    /// as events. For dialects that say how calls are written
    #[arg(long, conflicts_with = "only")]
    calls: bool,

    /// Feeds the scanner N bytes at a time: 7, 4k. The result is the same for every N
    #[arg(long, value_name = "N", value_parser = chunk)]
    chunk: Option<usize>,

    /// Writes only the bytes of that channel, unchanged even on a terminal
    #[arg(long, value_name = "CHANNEL", value_parser = words::<Channel>(), conflicts_with = "events")]
    only: Option<Channel>,

    /// Why the text ends. If the model was only guessed to start in the thinking, and the text has no marker, this decides whether
    /// the text is thinking. ended: the model has ended the text, so it is the answer. cut_off: a limit or an error has ended it, so
    /// it is thinking
    #[arg(long, value_name = "WHY", value_parser = words::<EndReason>(), default_value = "unknown")]
    finish: EndReason,

    /// Writes one JSON object per event and line; bytes that are not UTF-8 are written as text_hex
    #[arg(long)]
    events: bool,
}

fn chunk(text: &str) -> Result<usize, String> {
    match size::parse(text) {
        Ok(len @ 1..=READ) => Ok(len),
        _ => Err(format!("not a number from 1 to {READ}")),
    }
}

/// Runs the subcommand: reads a text, feeds it to a scanner, and shows the events.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let chosen = arguments.dialect.choose()?;
    let mut input = Input::open(arguments.file.as_deref())?;
    let options = ScannerOptions::new()
        .start(chosen.start)
        .stray_close(chosen.stray_close)
        .leading_tags(chosen.leading_tags)
        .calls(arguments.calls);
    let mut scanner = Scanner::with_options(&chosen.dialect, &options)
        .map_err(|error| Stop::Usage(format!("{}: {error}", chosen.dialect.name())))?;
    if !chosen.is_given && io::stderr().is_terminal() {
        let name = chosen.dialect.name();
        note(&format!("no dialect was given, so `{name}` is taken; see --dialect and --model"));
    }
    let show = match (arguments.only, arguments.events) {
        (Some(channel), _) => Show::Only(channel),
        (None, true) => Show::Events,
        (None, false) if has_styles() => Show::Styled,
        (None, false) => Show::Labelled,
    };
    // Calls are shown as an answer reports them. The scanner is still used for counting.
    let mut answer = match (&show, arguments.calls) {
        (Show::Styled | Show::Labelled, true) => {
            let options = answer::Options::new().scanner(options).may_take_back(true);
            Some(Answer::new(&chosen.dialect, &options).map_err(failed)?)
        }
        _ => None,
    };
    let mut view = View::new(show, io::stdout().is_terminal(), &chosen.dialect);
    let mut summary = Summary::default();
    let mut hint = Hint::new(&chosen.dialect);

    // The buffer has room for whole feeds of N bytes, so that only the last feed of a read can be shorter.
    let feed = arguments.chunk.unwrap_or(READ);
    let mut buffer = vec![0; feed * (READ / feed).max(1)];
    loop {
        let len = input.read(&mut buffer)?;
        if len == 0 {
            break;
        }
        for chunk in buffer[..len].chunks(feed) {
            let fed = scanner.feed(chunk, |event| {
                summary.add(&event);
                hint.add(&event);
                if answer.is_none() {
                    view.show(&event);
                }
            });
            fed.map_err(failed)?;
            if let Some(answer) = &mut answer {
                answer.feed(chunk, |part| view.add(part)).map_err(failed)?;
            }
        }
        write_raw(&view.out)?;
        view.out.clear();
    }
    scanner.end_reason(arguments.finish);
    let finished = scanner.finish(|event| {
        summary.add(&event);
        hint.add(&event);
        if answer.is_none() {
            view.show(&event);
        }
    });
    finished.map_err(failed)?;
    if let Some(answer) = &mut answer {
        answer.finish(arguments.finish, |part| view.add(part)).map_err(failed)?;
    }

    view.end();
    write_raw(&view.out)?;
    if arguments.only.is_none() {
        say(&summary.text(&scanner));
        hint.text().iter().for_each(|hint| note(hint));
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(error: aside::Error) -> Stop {
    Stop::Failed(error.to_string())
}

fn has_styles() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}
