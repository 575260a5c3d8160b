//! Splits the answer of a chat completion, an event stream or one JSON body, from standard input to standard output:
//!
//!     cargo run --example resplit -- qwen3 < tests/sse/qwen3.sse
//!     curl --no-buffer … | cargo run --example resplit -- --start thinking qwen3 reasoning
//!     curl --no-buffer … | cargo run --example resplit -- --calls --tools tools.json qwen3

use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;

use aside::call_writer::Tools;
use aside::sse::{Field, Options, Rewriter};
use aside::{Dialect, Start, StrayClose};

const HELP: &str = "\
Splits the answer of a chat completion, an event stream or one JSON body: the thinking moves from
`content` to a field of its own, and with --calls tool calls to `tool_calls`.

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
  --help, --version
";

/// What the arguments ask for.
struct Settings {
    dialect: Dialect,
    field: Field,
    start: Option<Start>,
    stray_close: StrayClose,
    calls: bool,
    /// The file that has the request's tools.
    tools: Option<String>,
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
    let (mut names, mut start, mut stray_close) = (Vec::new(), None, StrayClose::Dialect);
    let (mut calls, mut tools) = (false, None);
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
                stray_close = match value.as_str() {
                    "dialect" => StrayClose::Dialect,
                    "text" => StrayClose::Text,
                    _ => return Err(format!("--stray-close: `{value}` is neither dialect nor text").into()),
                };
            }
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
    Ok(Some(Settings { dialect: Dialect::find(dialect)?, field, start, stray_close, calls, tools }))
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
    let options = Options::new()
        .field(settings.field)
        .stray_close(settings.stray_close)
        .calls(settings.calls)
        .tools(settings.tools.as_deref().map(read_tools).transpose()?);
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
    Ok(output.flush()?)
}
