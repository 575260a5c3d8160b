//! `aside completions` and `aside man`: files for shells and `man`, made from the definitions of the options.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, bold, roman};
use serde::Deserialize;

use crate::output::write_out;
use crate::stop::Stop;

/// Writes a completion script for a shell
///
/// For bash: aside completions bash > ~/.local/share/bash-completion/completions/aside
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Writes the manual page of the program, or all pages into a folder
///
/// To read it: aside man | man -l -
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Man {
    /// Writes aside.1 and a page for each subcommand into this folder, which is created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub fn completions(arguments: &Completions) -> Result<ExitCode, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Cli::command(), "aside", &mut script);
    write_out(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(arguments: &Man) -> Result<ExitCode, Stop> {
    let mut command = crate::Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.folder else {
        write_out(&page(command).1)?;
        return Ok(ExitCode::SUCCESS);
    };
    let failed = |error| Stop::io(&folder.display().to_string(), &error);
    fs::create_dir_all(folder).map_err(failed)?;
    for command in command.get_subcommands().chain([&command]) {
        let (name, page) = page(command.clone());
        fs::write(folder.join(name), page).map_err(failed)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The sections of a page that are not made from the options.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sections {
    examples: Vec<String>,
    files: Vec<[String; 2]>,
    environment: Vec<[String; 2]>,
}

/// Returns the name of a manual page's file, and the page.
fn page(command: Command) -> (String, Vec<u8>) {
    let name = command.get_display_name().unwrap_or("aside").to_owned();
    let mut pages: HashMap<String, Sections> = toml::from_str(include_str!("pages.toml")).unwrap_or_default();
    let sections = pages.remove(&name).unwrap_or_default();
    let mut roff = Roff::new();
    if !sections.examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]).control("EX", []);
        for example in sections.examples {
            roff.text([roman(format!("    {example}"))]);
        }
        roff.control("EE", []);
    }
    for (title, entries) in [("FILES", sections.files), ("ENVIRONMENT", sections.environment)] {
        if !entries.is_empty() {
            roff.control("SH", [title]);
        }
        for [name, what] in entries {
            roff.control("TP", []).text([bold(name)]).text([roman(what)]);
        }
    }
    let page = Page::new(command);
    let mut text = Vec::new();
    // Writing to a vector cannot fail.
    let _ = page.render(&mut text).and_then(|()| roff.to_writer(&mut text));
    (page.get_filename(), text)
}
