//! Splits a server's answer, an event stream, lines of JSON or one JSON body, from standard input to standard output:
//!
//!     cargo run --example resplit -- qwen3 < tests/sse/qwen3.sse
//!     curl --no-buffer … | cargo run --example resplit -- --formats messages --repair qwen3
//!     curl --no-buffer … | cargo run --example resplit -- --start thinking qwen3 reasoning
//!     curl --no-buffer … | cargo run --example resplit -- --calls --tools tools.json qwen3

use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;

use aside::call_writer::Tools;
use aside::sse::{Field, Formats, Options, ResponsesAs, Rewriter};
use aside::{Dialect, Start, StrayClose};

const HELP: &str = "\
Splits a server's answer, an event stream, lines of JSON or one JSON body: the thinking moves from
`content` to a field of its own, and with --calls tool calls to `tool_calls`; in formats that have
other places for them, to those.

Usage: resplit [OPTIONS] DIALECT [FIELD] < STREAM

  DIALECT          how the model marks its thinking (`split --list` names them)
  FIELD            the field for the thinking: reasoning_content (default), reasoning or thinking
  --start WHAT     what is open at the first byte of the text: content, thinking, narration, tool,
                   header; without it, as the dialect says
  --stray-close WHAT
                   what becomes of a closer of the thinking without an opener, after content:
                   dialect (default), what the dialect says; text, it stays, for a model that
                   does not think
  --calls          make `tool_calls` of the calls in the text, if the dialect has tables for them
  --tools FILE     the `tools` of the request, a JSON array: calls of other tools stay content;
                   without it, every call becomes `tool_calls`
  --formats LIST   the formats of answers that are split, with commas between them: chat (default),
                   completions, responses, messages, ollama, all
  --responses-as WHAT
                   what the thinking becomes in responses: reasoning_text (default), summary
  --repair         mend what makes clients fail in a stream of events
  --promote-empty  send the thinking once more as content if an answer has neither content nor a
                   call
  --merge          write one chunk for each that came, the thinking before the content
  --stats          say at the end, on standard error, what was counted
  --help, --version
";

/// What the arguments ask for.
struct Settings {
    dialect: Dialect,
    options: Options,
    start: Option<Start>,
    /// The file that has the request's tools.
    tools: Option<String>,
    stats: bool,
}

fn main() -> ExitCode {
    let settings = match parse(std::env::args().skip(1)) {
        Ok(Some(settings)) => settings,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("resplit: {error}\nTry `resplit --help`.");
            return ExitCode::from(2);
        }
    };
    match run(&settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("resplit: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns none if all that was asked for is printed.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Settings>, Box<dyn Error>> {
    let (mut names, mut start, mut options) = (Vec::new(), None, Options::new());
    let (mut calls, mut tools, mut stats) = (false, None, false);
    while let Some(argument) = arguments.next() {
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value.to_owned())),
            _ => (argument.as_str(), None),
        };
        match (option, value) {
            ("-h" | "--help", None) => {
                io::stdout().write_all(HELP.as_bytes())?;
                return Ok(None);
            }
            ("-V" | "--version", None) => {
                writeln!(io::stdout(), "resplit {}", env!("CARGO_PKG_VERSION"))?;
                return Ok(None);
            }
            ("--start", value) => {
                let value = value.or_else(|| arguments.next()).ok_or("--start: the value is missing")?;
                start = Some(value.parse()?);
            }
            ("--stray-close", value) => {
                let value = value.or_else(|| arguments.next()).ok_or("--stray-close: the value is missing")?;
                options = options.stray_close(match value.as_str() {
                    "dialect" => StrayClose::Dialect,
                    "text" => StrayClose::Text,
                    _ => return Err(format!("--stray-close: `{value}` is neither dialect nor text").into()),
                });
            }
            ("--formats", value) => {
                options = options.formats(formats(&value.or_else(|| arguments.next()).unwrap_or_default())?);
            }
            ("--responses-as", value) => {
                let value = value.or_else(|| arguments.next()).ok_or("--responses-as: the value is missing")?;
                options = options.responses_as(match value.as_str() {
                    "reasoning_text" => ResponsesAs::ReasoningText,
                    "summary" => ResponsesAs::Summary,
                    _ => return Err(format!("--responses-as: `{value}` is neither reasoning_text nor summary").into()),
                });
            }
            ("--repair", None) => options = options.repair(true),
            ("--promote-empty", None) => options = options.promote_empty(true),
            ("--merge", None) => options = options.merge(true),
            ("--stats", None) => stats = true,
            ("--calls", None) => calls = true,
            ("--tools", value) => {
                tools = Some(value.or_else(|| arguments.next()).ok_or("--tools: the value is missing")?);
            }
            _ if argument.starts_with('-') => return Err(format!("{argument}: there is no such option").into()),
            _ => names.push(argument),
        }
    }
    let (dialect, field) = match &names[..] {
        [dialect] => (dialect, Field::ReasoningContent),
        [dialect, field] => (dialect, known(field)?),
        [] => return Err("the dialect is missing".into()),
        [_, _, other, ..] => return Err(format!("{other}: there are too many arguments").into()),
    };
    if tools.is_some() && !calls {
        return Err("--tools goes with --calls".into());
    }
    let options = options.field(field).calls(calls);
    Ok(Some(Settings { dialect: Dialect::find(dialect)?, options, start, tools, stats }))
}

/// Returns the formats of a list of names.
fn formats(names: &str) -> Result<Formats, String> {
    let known = |name| {
        Ok(match name {
            "chat" => Formats::CHAT,
            "completions" => Formats::COMPLETIONS,
            "responses" => Formats::RESPONSES,
            "messages" => Formats::MESSAGES,
            "ollama" => Formats::OLLAMA,
            "all" => Formats::ALL,
            _ => return Err(format!("--formats: `{name}` is not a format")),
        })
    };
    let mut names = names.split(',');
    let first = known(names.next().unwrap_or_default())?;
    names.try_fold(first, |formats, name| Ok(formats | known(name)?))
}

fn known(name: &str) -> Result<Field, String> {
    let all = [Field::ReasoningContent, Field::Reasoning, Field::Thinking];
    let field = all.into_iter().find(|field| field.name() == name);
    field.ok_or_else(|| format!("{name}: the field is reasoning_content, reasoning or thinking"))
}

fn read_tools(file: &str) -> Result<Arc<Tools>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    Ok(Arc::new(Tools::read(&text).map_err(|error| format!("{file}: {error}"))?))
}

fn run(settings: &Settings) -> Result<(), Box<dyn Error>> {
    let options = settings.options.clone().tools(settings.tools.as_deref().map(read_tools).transpose()?);
    let mut rewriter = Rewriter::new(&settings.dialect, &options)?;
    // A gateway keeps its rewriters, and sets this for each answer, as its request says.
    rewriter.start_at(settings.start).map_err(|error| format!("{}: {error}", settings.dialect.name()))?;

    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut buffer = [0; 64 * 1024];
    let mut out = Vec::new();
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => rewriter.feed(&buffer[..len], &mut out)?,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        }
        // Written at once, so that the reader sees each event when it comes.
        output.write_all(&out)?;
        output.flush()?;
        out.clear();
    }
    rewriter.finish(&mut out)?;
    output.write_all(&out)?;
    if rewriter.is_encoded() {
        eprintln!("resplit: the stream is compressed, and has passed as it came: decode it first");
    }
    if settings.stats {
        eprintln!("{:#?}", rewriter.stats());
    }
    Ok(output.flush()?)
}
