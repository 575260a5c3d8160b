//! `aside proxy`: the proxy of the crate `aside-proxy`, with its settings from flags, a file and the environment.

use std::path::PathBuf;
use std::process::ExitCode;

use aside_proxy::{Config, Settings};
use clap::Args;

use crate::output::note;
use crate::stop::{Stop, without_number};

/// Runs a reverse proxy in front of a server that sends thinking and tool calls as content
///
/// Clients get the thinking and the calls in separate fields, while they arrive: in chat
/// completions, completions, Responses, Messages and Ollama's format, by the path of the
/// request. Everything else stays unchanged.
///
///     aside proxy --upstream http://127.0.0.1:8080
///
/// Each setting can be given as a flag, as a key of the file of --config (max-body = 1000000),
/// and as an environment variable (`ASIDE_PROXY_MAX_BODY`); the first of these counts. Without --dialect and --model, the model of
/// a request or the server determines the dialect.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    settings: Settings,

    /// A file of settings, in TOML
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Only checks the settings, and whether the addresses are free
    #[arg(long)]
    check_config: bool,
}

/// Reads all settings. The program calls this again at SIGHUP.
fn load(arguments: &Arguments) -> Result<Config, aside_proxy::Error> {
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut settings = Settings::from_environment(variables)?;
    if let Some(file) = &arguments.config {
        settings = Settings::from_file(file)?.over(&settings)?;
    }
    Config::new(&arguments.settings.over(&settings)?)
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let failed = |error: aside_proxy::Error| Stop::Failed(without_number(&error.to_string()));
    if arguments.check_config {
        load(arguments).and_then(|config| config.check()).map_err(failed)?;
        note("the settings are right");
        return Ok(ExitCode::SUCCESS);
    }
    aside_proxy::run(|| load(arguments)).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
