//! A subcommand that this program was built without. The program still accepts its name, and prints how to get the subcommand.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::output::COMMAND;
use crate::stop::Stop;

#[derive(Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _all: Vec<OsString>,
}

pub fn run(_: &Arguments) -> Result<ExitCode, Stop> {
    let feature = if COMMAND.get().is_some_and(|name| name.ends_with("draft")) { "templates" } else { "proxy" };
    let how = format!("cargo install --locked --path cli --features {feature}");
    Err(Stop::NotRun(format!("this program was built without it; in a checkout of its sources: {how}"), 2))
}
