//! `aside history`: rewrites the history of a request as a filter. It is an example for hosts that rewrite the requests of
//! their clients.

use std::path::PathBuf;
use std::process::ExitCode;

use aside::Dialect;
use aside::history::{Format, Made, Missing, Name, Options, Outcome, Report, Server, Turns, rewrite};
use clap::Args;

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
    #[arg(long, value_name = "NAME", value_parser = names::words::<Format>(), default_value = "chat")]
    format: Format,

    /// The server that gets the request, for the options of that server; the options below override them
    #[arg(long, value_name = "NAME", group = "source", value_parser = names::SERVERS, hide_possible_values = true)]
    server: Option<String>,

    /// The file of a server of your own, in TOML
    #[arg(long, value_name = "FILE", group = "source")]
    server_file: Option<PathBuf>,

    /// The place of the thinking of an earlier turn in its message
    #[arg(long, value_name = "NAME", value_parser = Name::WORDS)]
    name: Option<String>,

    /// With --name text, the dialect of the model; `aside dialects` lists the names
    #[arg(long, value_name = "NAME", required_if_eq("name", "text"), value_parser = names::DIALECTS, hide_possible_values = true)]
    dialect: Option<String>,

    /// The turns whose thinking stays; since_user are those since the last message of the user
    #[arg(long, value_name = "WHICH", value_parser = names::words::<Turns>())]
    turns: Option<Turns>,

    /// The change to an assistant message without thinking; empty adds an empty string or block
    #[arg(long, value_name = "WHAT", value_parser = names::words::<Missing>())]
    missing: Option<Missing>,

    /// The treatment of blocks and items that a rewriter made and the server did not
    #[arg(long, value_name = "WHAT", value_parser = names::words::<Made>())]
    made: Option<Made>,

    /// Reports the changes on standard error at the end
    #[arg(long)]
    report: bool,
}

impl Arguments {
    fn options(&self) -> Result<Options, Stop> {
        let server = match (&self.server, &self.server_file) {
            (Some(name), _) => Some(Server::find(name).map_err(|error| Stop::Usage(error.to_string()))?),
            (None, Some(file)) => {
                let text = read_text(file)?;
                Some(Server::load(&text).map_err(|error| wrong_kind(file, &text, error))?)
            }
            (None, None) => None,
        };
        // The server needs no change to requests of this format.
        let mut options = server.as_ref().and_then(|server| server.options(self.format)).cloned();
        let mut options = options.take().unwrap_or_else(|| Options::new(self.format)).max_body(usize::MAX);
        if let Some(name) = &self.name {
            let dialect = self.dialect.as_deref().map(Dialect::find).transpose();
            let dialect = dialect.map_err(|error| Stop::Usage(error.to_string()))?;
            options = options.name(Name::from_word(name, dialect).expect("other words are refused"));
        }
        options.turns = self.turns.unwrap_or(options.turns);
        options.missing = self.missing.unwrap_or(options.missing);
        options.made = self.made.unwrap_or(options.made);
        Ok(options)
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
