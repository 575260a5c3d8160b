//! The reasons for which a subcommand ends early, so that all exit statuses are decided in one place.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;

pub enum Stop {
    /// The reader of standard output has closed the pipe.
    PipeClosed,
    Failed(String),
    /// A command cannot be run. The code is the one that a shell would return.
    NotRun(String, u8),
    /// The arguments are wrong.
    Usage(String),
}

impl Stop {
    /// Returns the error for a file, or standard input or output, that cannot be used.
    pub fn io(what: &str, error: &io::Error) -> Stop {
        if error.kind() == ErrorKind::BrokenPipe {
            return Stop::PipeClosed;
        }
        Stop::Failed(format!("{what}: {}", reason(error)))
    }

    /// Returns the error for a file with a faulty text.
    pub fn in_file(file: &Path, why: impl Display) -> Stop {
        Stop::Failed(format!("{}: {why}", file.display()))
    }
}

/// Returns the text of an error in the form that other tools use.
pub fn reason(error: &io::Error) -> String {
    without_number(&error.to_string())
}

/// Returns a text without the system's error number, such as `(os error 2)`.
pub fn without_number(text: &str) -> String {
    let Some((before, (_, after))) =
        text.split_once(" (os error ").and_then(|(before, rest)| Some((before, rest.split_once(')')?)))
    else {
        return text.to_owned();
    };
    format!("{before}{after}")
}
