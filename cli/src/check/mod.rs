//! `aside check`, for authors of dialect and filter files: runs the examples or tests of the file.

mod calls;
pub mod dialect;
mod kinds;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use aside::compress::check_filter;
use clap::Args;

#[cfg(feature = "templates")]
use crate::files::read_template;
use crate::files::{kind_of, read_text};
use crate::output::{note, write_out};
use crate::stop::Stop;

/// Runs the examples of dialect files and the tests of filter files, and reports the differences
///
/// The examples of a dialect are run whole and cut everywhere. A file with an `id` is a filter, a JSON object a response template, any
/// other a dialect.
#[derive(Args)]
pub struct Arguments {
    /// Dialect files and filter files, in TOML, and response templates
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// A chat template of the dialect's models: lists the text of its turns that the dialect does not recognise
    #[cfg(feature = "templates")]
    #[arg(long, value_name = "FILE")]
    template: Vec<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        match one(file) {
            Ok(true) => {}
            Ok(false) => code = ExitCode::FAILURE,
            Err(Stop::Failed(message)) => {
                note(&message);
                code = ExitCode::FAILURE;
            }
            Err(stop) => return Err(stop),
        }
        #[cfg(feature = "templates")]
        for template in &arguments.template {
            if !has_turns_of(file, template)? {
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// Compares a dialect with a chat template. Returns whether there are no differences.
#[cfg(feature = "templates")]
fn has_turns_of(file: &Path, template: &Path) -> Result<bool, Stop> {
    let dialect = aside::Dialect::load(&read_text(file)?).map_err(|error| Stop::in_file(file, error))?;
    let found =
        dialect.compare_with_template(&read_template(template)?).map_err(|error| Stop::in_file(template, error))?;
    let mut report = String::new();
    for difference in &found {
        report += &format!("{}: in the turns of {}: {difference}\n", file.display(), template.display());
    }
    if found.is_empty() {
        report = format!("{}: reads the turns of {}\n", file.display(), template.display());
    }
    write_out(report.as_bytes())?;
    Ok(found.is_empty())
}

/// Checks a file. Returns whether its examples or tests pass.
fn one(file: &Path) -> Result<bool, Stop> {
    let (name, text) = (file.display().to_string(), read_text(file)?);
    let is_filter = toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("id"));
    if text.trim_start().starts_with('{') {
        let read = aside::Dialect::from_response_template(&text);
        let report = read.as_ref().map_or_else(ToString::to_string, |_| "the response template is read".to_owned());
        write_out(format!("{name}: {report}\n").as_bytes())?;
        return Ok(read.is_ok());
    }
    let (report, is_right) = match is_filter {
        true => match check_filter(&text) {
            Ok(()) => (format!("{name}: every test passes\n"), true),
            Err(error) => (format!("{name}: {error}\n"), false),
        },
        false => dialect::check(&name, &text).map_err(|error| {
            // If the file is of another kind, that is reported instead of the many errors that it has as a dialect file.
            kind_of(&text).map_or(Stop::Failed(error), |what| Stop::in_file(file, what))
        })?,
    };
    write_out(report.as_bytes())?;
    Ok(is_right)
}
