//! `aside proxy`: the proxy of the crate `aside-proxy`, with its settings from flags, a file and the environment.

use std::path::PathBuf;
use std::process::ExitCode;

use aside_proxy::{Config, Settings};
use clap::Args;

use crate::output::say;
use crate::stop::Stop;

/// Runs a reverse proxy in front of a server that sends thinking and tool calls as content
///
/// Clients get the thinking and the calls in separate fields, while they arrive: in chat
/// completions, completions, Responses, Messages and Ollama's format, by the path of the
/// request. Everything else passes unchanged.
///
///     aside proxy --upstream http://127.0.0.1:8080
///
/// Each setting can be given as a flag, as a key of the file of --config (max-body = 1000000),
/// and as an environment variable (`ASIDE_PROXY_MAX_BODY`); the first of these counts. Without
/// --dialect and --model, the model of a request says the dialect, or the server does.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    settings: Settings,

    /// A file of settings, in TOML
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Checks the settings, and that the addresses are free, and serves nothing
    #[arg(long)]
    check_config: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let failed = |error: aside_proxy::Error| Stop::Failed(error.to_string());
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut settings = Settings::from_environment(variables).map_err(failed)?;
    if let Some(file) = &arguments.config {
        settings = Settings::from_file(file).map_err(failed)?.over(&settings).map_err(failed)?;
    }
    let config = Config::new(&arguments.settings.over(&settings).map_err(failed)?).map_err(failed)?;
    if arguments.check_config {
        config.check().map_err(failed)?;
        say("aside proxy: the settings are right\n");
        return Ok(ExitCode::SUCCESS);
    }
    aside_proxy::run(config).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
