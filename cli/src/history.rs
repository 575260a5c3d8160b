//! `aside history`: rewrites the history of a request as a filter. It is an example for hosts that rewrite the requests of
//! their clients.

use std::path::PathBuf;
use std::process::ExitCode;

use aside::Dialect;
use aside::history::{self, Options, Outcome, Report, Server, rewrite};
use clap::{Args, ValueEnum};

use crate::files::{Input, READ, read_text, wrong_kind};
use crate::names;
use crate::output::{Output, note, say};
use crate::stop::Stop;

/// Rewrites a request: moves the thinking of earlier turns to the place where the server reads it
///
/// The request is one JSON body of chat completions, Anthropic Messages or OpenAI Responses. Everything else stays unchanged.
#[derive(Args)]
pub struct Arguments {
    /// The request; without FILE, or with -, standard input
    file: Option<PathBuf>,

    /// The format of the request
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Format::Chat)]
    format: Format,

    /// The server that gets the request, for the options of that server; the options below override them
    #[arg(long, value_name = "NAME", group = "source", value_parser = names::SERVERS, hide_possible_values = true)]
    server: Option<String>,

    /// The file of a server of your own, in TOML
    #[arg(long, value_name = "FILE", group = "source")]
    server_file: Option<PathBuf>,

    /// The place of the thinking of an earlier turn in its message
    #[arg(long, value_name = "NAME", value_enum)]
    name: Option<Name>,

    /// With --name text, the dialect of the model; `aside dialects` lists the names
    #[arg(long, value_name = "NAME", required_if_eq("name", "text"), value_parser = names::DIALECTS, hide_possible_values = true)]
    dialect: Option<String>,

    /// The turns whose thinking stays
    #[arg(long, value_name = "WHICH", value_enum)]
    turns: Option<Turns>,

    /// The change to an assistant message without thinking
    #[arg(long, value_name = "WHAT", value_enum)]
    missing: Option<Missing>,

    /// The treatment of blocks and items that a rewriter made and the server did not
    #[arg(long, value_name = "WHAT", value_enum)]
    made: Option<Made>,

    /// Reports the changes on standard error at the end
    #[arg(long)]
    report: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Chat,
    Messages,
    Responses,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Name {
    AsIs,
    ReasoningContent,
    Reasoning,
    Thinking,
    ReasoningDetails,
    Parts,
    ReasoningText,
    Summary,
    /// The text of the message, with the markers of --dialect
    Text,
}

#[derive(Clone, Copy, ValueEnum)]
enum Turns {
    All,
    /// Since the last message of the user
    SinceUser,
    None,
}

#[derive(Clone, Copy, ValueEnum)]
enum Missing {
    Leave,
    /// An empty string or block
    Empty,
    Remove,
}

#[derive(Clone, Copy, ValueEnum)]
enum Made {
    Keep,
    Remove,
}

impl Arguments {
    fn options(&self) -> Result<Options, Stop> {
        let format = match self.format {
            Format::Chat => history::Format::Chat,
            Format::Messages => history::Format::Messages,
            Format::Responses => history::Format::Responses,
        };
        let server = match (&self.server, &self.server_file) {
            (Some(name), _) => Some(Server::find(name).map_err(|error| Stop::Usage(error.to_string()))?),
            (None, Some(file)) => {
                let text = read_text(file)?;
                Some(Server::load(&text).map_err(|error| wrong_kind(file, &text, error))?)
            }
            (None, None) => None,
        };
        // The server needs no change to requests of this format.
        let mut options = server.as_ref().and_then(|server| server.options(format)).cloned();
        let mut options = options.take().unwrap_or_else(|| Options::new(format)).max_body(usize::MAX);
        if let Some(name) = self.name {
            options = options.name(self.name(name)?);
        }
        if let Some(turns) = self.turns {
            options = options.turns(match turns {
                Turns::All => history::Turns::All,
                Turns::SinceUser => history::Turns::SinceUser,
                Turns::None => history::Turns::None,
            });
        }
        if let Some(missing) = self.missing {
            options = options.missing(match missing {
                Missing::Leave => history::Missing::Leave,
                Missing::Empty => history::Missing::Empty,
                Missing::Remove => history::Missing::Remove,
            });
        }
        if let Some(made) = self.made {
            options = options.made(match made {
                Made::Keep => history::Made::Keep,
                Made::Remove => history::Made::Remove,
            });
        }
        Ok(options)
    }

    fn name(&self, name: Name) -> Result<history::Name, Stop> {
        Ok(match name {
            Name::AsIs => history::Name::AsIs,
            Name::ReasoningContent => history::Name::ReasoningContent,
            Name::Reasoning => history::Name::Reasoning,
            Name::Thinking => history::Name::Thinking,
            Name::ReasoningDetails => history::Name::ReasoningDetails,
            Name::Parts => history::Name::Parts,
            Name::ReasoningText => history::Name::ReasoningText,
            Name::Summary => history::Name::Summary,
            Name::Text => {
                let dialect = Dialect::find(self.dialect.as_deref().unwrap_or_default());
                history::Name::Text(dialect.map_err(|error| Stop::Usage(error.to_string()))?)
            }
        })
    }
}

/// Returns a report as lines: the name of each number, as in JSON, and its value.
fn report_text(report: &Report, why: Option<&str>) -> String {
    let Report { changed, refused, unread, thinking_off, .. } = report;
    [
        format!(
            "outcome: {}\n",
            why.map_or("the request was read".to_owned(), |why| format!("not read, because {why}"))
        ),
        format!("changed: {changed} (messages or items)\n"),
        format!("refused: {refused} (with thinking that cannot be written into the text)\n"),
        format!("unread: {unread} (with thinking that is signed, encrypted or in a form that is not known)\n"),
        format!("thinking_off: {}\n", if *thinking_off { "yes (in this request)" } else { "no" }),
    ]
    .concat()
}

/// Runs the subcommand: reads, rewrites and writes a request, as a gateway does.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let options = arguments.options()?;
    let mut input = Input::open(arguments.file.as_deref())?;
    let (mut body, mut buffer) = (Vec::new(), vec![0; READ]);
    loop {
        let len = input.read(&mut buffer)?;
        if len == 0 {
            break;
        }
        body.extend_from_slice(&buffer[..len]);
    }
    let (body, report) = rewrite(&body, &options).map_err(|error| Stop::Failed(error.to_string()))?;
    let mut output = Output::new();
    output.write(&body)?;
    output.finish()?;
    let why = match report.outcome {
        Outcome::Read => None,
        Outcome::TooLong => Some("it is too long"),
        Outcome::NotUtf8 => Some("it is not UTF-8"),
        Outcome::NotRequest => Some("it is not a request of this format"),
        Outcome::Repeated => Some("a member is there twice"),
        Outcome::Stored => Some("the server has the history"),
        _ => Some("it cannot be read"),
    };
    if let Some(why) = why {
        note(&format!("the request has passed as it came: {why}"));
    }
    if arguments.report {
        say(&report_text(&report, why));
    }
    Ok(ExitCode::SUCCESS)
}
