//! `aside grammar`: a grammar that makes a model write the calls of a dialect.

use std::path::PathBuf;
use std::process::ExitCode;

use aside::{Dialect, GrammarError, GrammarFormat, Start, ToolChoice};
use clap::Args;

use crate::choose::start;
use crate::files::read_text;
use crate::names;
use crate::output::{note, write_out};
use crate::stop::Stop;

/// Prints a grammar that makes a model write calls of tools in the form of its dialect
///
/// The grammar is written to standard output. The parts of the tools' schemas that it cannot express are listed on standard
/// error.
#[derive(Args)]
pub struct Arguments {
    /// The dialect of the model; `aside dialects` lists the names
    #[arg(long, value_name = "NAME", value_parser = names::DIALECTS, hide_possible_values = true)]
    dialect: String,

    /// The `tools` of a request, as JSON
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,

    /// The form of the grammar: xgrammar for a structural tag, as JSON; lark for a Lark grammar, which llguidance reads
    #[arg(long = "for", value_name = "ENGINE", value_parser = names::words::<GrammarFormat>())]
    engine: GrammarFormat,

    /// auto: free text with calls in it; required: only calls; the name of a tool: one call of that tool
    #[arg(long, value_name = "CHOICE", default_value = "auto")]
    choice: String,

    /// Where the text begins: content or header, before the thinking, which may come; or thinking [default: after the thinking]
    #[arg(long, value_name = "WHERE", value_parser = start)]
    start: Option<Start>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let dialect = Dialect::find(&arguments.dialect).map_err(|unknown| Stop::Usage(unknown.to_string()))?;
    let tools = read_text(&arguments.tools)?;
    let grammar = dialect.grammar(arguments.engine, &tools, ToolChoice::named(&arguments.choice), arguments.start);
    let grammar = grammar.map_err(|error| match error {
        GrammarError::NoSuchStart => Stop::Usage(format!("--start: {error}")),
        _ => Stop::in_file(&arguments.tools, error),
    })?;
    write_out(grammar.text.as_bytes())?;
    grammar.limits.iter().for_each(|limit| note(limit));
    Ok(ExitCode::SUCCESS)
}
