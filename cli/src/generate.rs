//! `aside completions` and `aside man`: files for shells and `man`, from the same description of the options that parses them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man as Page;

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
    /// Writes aside.1 and a page for each subcommand into this folder, which is made if it is not there
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
    let command = crate::Cli::command();
    if let Some(folder) = &arguments.folder {
        let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
        written.map_err(|error| Stop::io(&folder.display().to_string(), &error))?;
    } else {
        let mut page = Vec::new();
        Page::new(command).render(&mut page).map_err(|error| Stop::io("the page", &error))?;
        write_out(&page)?;
    }
    Ok(ExitCode::SUCCESS)
}
