//! Files and standard input, with errors that name them.

use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::Path;

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

    /// Opens a file. Without one, or with `-`, it is standard input, which must not be a terminal that nobody asked for.
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

    /// Returns the number of bytes that were read. At the end there are none.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Stop> {
        loop {
            match self.source.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result.map_err(|error| Stop::io(&self.name, &error)),
            }
        }
    }
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
