//! Files and standard input, with errors that name them.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::Path;

use aside::Dialect;
use aside::compress::Registry;
use aside::history::Server;

use crate::closed;
use crate::stop::Stop;

/// The number of bytes that are read at once.
pub const READ: usize = 64 * 1024;

/// An input and its name in messages.
pub struct Input {
    source: Box<dyn Read>,
    name: String,
}

impl Input {
    pub fn new(source: impl Read + 'static, name: &str) -> Input {
        Input { source: Box::new(source), name: name.to_owned() }
    }

    /// Opens a file; if there is none, or if it is `-`, opens standard input. If there is no file, standard input must not be a
    /// terminal.
    pub fn open(file: Option<&Path>) -> Result<Input, Stop> {
        match file {
            None if io::stdin().is_terminal() => {
                Err(Stop::Usage("there is no FILE: name one, or write - to type the text".to_owned()))
            }
            Some(path) if path != "-" => {
                let name = path.display().to_string();
                let source = File::open(path).map_err(|error| Stop::io(&name, &error))?;
                Ok(Input::new(source, &name))
            }
            _ if closed::is_stdin_closed() => Err(Stop::Failed("standard input is closed".to_owned())),
            _ => Ok(Input::new(io::stdin().lock(), "standard input")),
        }
    }

    /// Reads into the buffer. Returns the number of bytes, which is 0 at the end.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Stop> {
        loop {
            match self.source.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result.map_err(|error| Stop::io(&self.name, &error)),
            }
        }
    }
}

/// Returns the error for a file that an option cannot read. If the file is of a different kind, the error names the option for
/// that kind.
pub fn wrong_kind(file: &Path, text: &str, error: impl Display) -> Stop {
    match kind_of(text) {
        Some(what) => Stop::in_file(file, what),
        None => Stop::in_file(file, error),
    }
}

/// Returns a sentence that names the option for a file with this text.
pub fn kind_of(text: &str) -> Option<&'static str> {
    let kinds = [
        (Dialect::load(text).is_ok(), "this is a dialect file, for aside split --dialect-file"),
        (Registry::new().add_toml(text).is_ok(), "this is a filter file, for aside squeeze --filter"),
        (Server::load(text).is_ok(), "this is a server file, for aside history --server-file"),
        (
            Dialect::from_response_template(text).is_ok(),
            "this is a response template, for aside split --response-template",
        ),
    ];
    kinds.iter().find(|(is_kind, _)| *is_kind).map(|(_, what)| *what)
}

/// Returns the text of a chat template.
pub fn read_template(path: &Path) -> Result<String, Stop> {
    let text = read_text(path)?;
    if ["{{", "{%"].iter().any(|begin| text.contains(begin)) {
        return Ok(text);
    }
    Err(Stop::Usage(format!("{}: this is not a Jinja template: it has neither `{{{{` nor `{{%`", path.display())))
}

/// Returns the text of a file that must be UTF-8: TOML, JSON, a template.
pub fn read_text(path: &Path) -> Result<String, Stop> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| Stop::io(&name.to_string(), &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
        Stop::Failed(format!("{name}: line {line}: not UTF-8"))
    })
}
