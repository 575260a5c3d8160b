//! Why a subcommand ends before its input does, so that each exit status is decided in one place.

use std::io::{self, ErrorKind};

pub enum Stop {
    /// Nobody reads standard output any more.
    PipeClosed,
    Failed(String),
    /// A command cannot be run. The code is that of a shell.
    NotRun(String, u8),
    /// The arguments are wrong.
    Usage(String),
}

impl Stop {
    /// Returns the stop for a file, or standard input or output, that cannot be used.
    pub fn io(what: &str, error: &io::Error) -> Stop {
        if error.kind() == ErrorKind::BrokenPipe {
            return Stop::PipeClosed;
        }
        let text = error.to_string();
        // As other tools say it: without ` (os error 2)`.
        let reason = text.split(" (os error").next().unwrap_or_default();
        Stop::Failed(format!("{what}: {reason}"))
    }
}
