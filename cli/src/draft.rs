//! `aside draft`: writes a dialect file from a chat template, for a model without a dialect.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use aside::{ChatTemplate, Dialect, Draft};
use clap::Args;

use crate::check::dialect::check;
use crate::files::read_text;
use crate::output::{note, say, write_out};
use crate::stop::Stop;

/// Drafts a dialect file from a chat template, for a model that has no dialect
///
/// The template is rendered for conversations that differ in one thing: the differences show the text around thoughts, answers
/// and calls. The file is written to standard output. Its examples are the rendered turns, which are run as by `aside check`. A
/// fact that no turn shows is a doubt: a comment in the file, and a line on standard error. Correct the file, and check it again.
///
/// The exit status is 1 if the template cannot be drafted, or if the draft reads an example differently from the template.
#[derive(Args)]
pub struct Arguments {
    /// A chat template (Jinja), a tokenizer_config.json, the folder of a checkpoint, or a GGUF file; - reads standard input
    #[arg(value_name = "FILE")]
    source: PathBuf,

    /// The name of the dialect [default: that of the file or folder]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let template = read(&arguments.source)?;
    let template = match &arguments.name {
        Some(name) => ChatTemplate { name: Some(name.clone()), ..template },
        None => template,
    };
    let draft = drafted(&template, &arguments.source)?;
    let name = draft.dialect.name();
    let (report, is_right) = check(name, &draft.toml).map_err(Stop::Failed)?;
    write_out(draft.toml.as_bytes())?;
    for doubt in &draft.doubts {
        note(doubt);
    }
    if !is_right {
        say(&report);
    }
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Drafts a dialect from a template that was read.
pub fn drafted(template: &ChatTemplate, source: &Path) -> Result<Draft, Stop> {
    Dialect::draft(template).map_err(|error| Stop::in_file(source, error))
}

/// Reads a template from any of the sources that users have.
pub fn read(source: &Path) -> Result<ChatTemplate, Stop> {
    if source.is_dir() {
        return of_checkpoint(source);
    }
    let template = if source == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|error| Stop::io("standard input", &error))?;
        ChatTemplate::read(&bytes[..])
    } else {
        let file = File::open(source).map_err(|error| Stop::io(&source.display().to_string(), &error))?;
        ChatTemplate::read(std::io::BufReader::new(file))
    };
    let template = template.map_err(|error| Stop::in_file(source, error))?;
    Ok(if source == Path::new("-") { template } else { template.named(&source.to_string_lossy()) })
}

/// Reads the template of a checkpoint, which may be in a separate file.
fn of_checkpoint(folder: &Path) -> Result<ChatTemplate, Stop> {
    let (config, jinja) = (folder.join("tokenizer_config.json"), folder.join("chat_template.jinja"));
    let mut template = ChatTemplate::default();
    if config.exists() {
        let read = ChatTemplate::from_tokenizer_config(&read_text(&config)?);
        template = read.map_err(|error| Stop::in_file(&config, error))?;
    }
    let json = folder.join("chat_template.json");
    if jinja.exists() {
        template.text = read_text(&jinja)?;
    } else if template.text.is_empty() && json.exists() {
        let read = ChatTemplate::from_tokenizer_config(&read_text(&json)?);
        template.text = read.map_err(|error| Stop::in_file(&json, error))?.text;
    }
    if template.text.is_empty() {
        return Err(Stop::in_file(
            folder,
            "it has no chat_template.jinja, and no tokenizer_config.json with a chat_template",
        ));
    }
    let name = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    Ok(template.named(&name.to_string_lossy()))
}
