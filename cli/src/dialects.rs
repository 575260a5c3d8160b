//! `aside dialects`: the list of dialects, and the properties of one.

use std::fmt::Write;
use std::process::ExitCode;

use aside::Dialect;
use clap::Args;

use crate::names;
use crate::output::write_out;
use crate::stop::Stop;

/// Lists the dialects, or describes one of them
///
/// The list has a line for each dialect: its name, the span that is open at the first byte, and its other names. With names, or with
/// MODEL, it describes only these dialects, with their markers and the maximum number of bytes that are held back.
#[derive(Args)]
pub struct Arguments {
    /// The names of the dialects to show
    #[arg(value_parser = names::DIALECTS, hide_possible_values = true)]
    names: Vec<String>,

    /// Shows the dialect of this model instead: Qwen/Qwen3-32B, gpt-oss:20b, a file's path
    #[arg(long, value_name = "MODEL", conflicts_with = "names", value_parser = names::MODELS, hide_possible_values = true)]
    model: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let mut text = String::new();
    if let Some(model) = &arguments.model {
        let dialect = Dialect::find_for_model(model).map_err(|unknown| Stop::Usage(unknown.to_string()))?;
        facts(&dialect, &mut text);
    } else if arguments.names.is_empty() {
        list(&mut text);
    } else {
        for (number, name) in arguments.names.iter().enumerate() {
            let dialect = Dialect::find(name).map_err(|unknown| Stop::Usage(unknown.to_string()))?;
            text += if number > 0 { "\n" } else { "" };
            facts(&dialect, &mut text);
        }
    }
    write_out(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn list(text: &mut String) {
    let _ = writeln!(text, "{:22}{:10}other names", "dialect", "start");
    for (name, start, aliases) in Dialect::listed() {
        let line = format!("{name:22}{start:10}{}", aliases.join(" "), start = start.as_str());
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// Describes a dialect, with a line for each property.
fn facts(dialect: &Dialect, text: &mut String) {
    let _ = writeln!(text, "{}", dialect.name());
    let mut line = |what: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "  {what:14}{value}");
        }
    };
    line("other names", dialect.aliases().join(", "));
    line("start", dialect.start().as_str().to_owned());
    line("holds", format!("at most {} bytes", dialect.max_hold()));
    let mut rule = 0;
    while let Some(family) = dialect.family(rule) {
        let mut openers = Vec::new();
        while let Some(opener) = dialect.opener(rule, openers.len() as u32) {
            openers.push(format!("{opener:?}"));
        }
        line("rule", format!("{rule}: {family} {}", openers.join(" ")).trim_end().to_owned());
        rule += 1;
    }
}
