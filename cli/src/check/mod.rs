//! `aside check`: for those who write a dialect or a filter file. Runs the examples or tests of the file.

mod calls;
mod dialect;
mod kinds;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use aside::compress::check_filter;
use clap::Args;

use crate::files::read_text;
use crate::output::{say, write_out};
use crate::stop::Stop;

/// Runs the examples of dialect files and the tests of filter files, and says what differs
///
/// The examples of a dialect are run whole and cut everywhere. A file with an `id` is a filter, any other a dialect.
#[derive(Args)]
pub struct Arguments {
    /// Dialect files and filter files, in TOML
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        match one(file) {
            Ok(true) => {}
            Ok(false) => code = ExitCode::FAILURE,
            Err(Stop::Failed(message)) => {
                say(&format!("aside check: {message}\n"));
                code = ExitCode::FAILURE;
            }
            Err(stop) => return Err(stop),
        }
    }
    Ok(code)
}

/// Checks a file. Returns whether all is as it says.
fn one(file: &Path) -> Result<bool, Stop> {
    let (name, text) = (file.display().to_string(), read_text(file)?);
    let is_filter = toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("id"));
    let (report, is_right) = match is_filter {
        true => match check_filter(&text) {
            Ok(()) => (format!("{name}: every test passes\n"), true),
            Err(error) => (format!("{name}: {error}\n"), false),
        },
        false => dialect::check(&name, &text).map_err(Stop::Failed)?,
    };
    write_out(report.as_bytes())?;
    Ok(is_right)
}
