//! What a tool was called with: JSON, and for a terminal tool the command line in it.

use std::{fmt, sync::OnceLock};

use serde_json::Value;

use super::command::{Invocation, only_printing};

/// A tool call's input. Terminal tools have `command`, and may have `cwd` and `exit_code`; others whatever they have.
///
/// ```
/// use aside::compress::Input;
///
/// let input = Input::from_json(r#"{"command": "cargo test", "exit_code": 101}"#)?;
/// assert_eq!(input.command(), Some("cargo test"));
/// assert_eq!(input.exit_code(), Some(101));
/// assert_eq!(input.invocation().unwrap().subcommand(), Some("test"));
/// # Ok::<(), aside::compress::InputError>(())
/// ```
#[derive(Debug)]
pub struct Input {
    value: Value,
    json: String,
    invocations: OnceLock<Vec<Invocation>>,
}

/// An input that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError(String);

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the input is no JSON: {}", self.0)
    }
}

impl std::error::Error for InputError {}

impl Input {
    /// Reads any JSON value, to a depth of 127.
    pub fn from_json(json: &str) -> Result<Input, InputError> {
        let value: Value = serde_json::from_str(json).map_err(|error| InputError(error.to_string()))?;
        Ok(Input::new(value))
    }

    /// The input of a terminal tool that ran this command line.
    pub fn of_command(command: &str) -> Input {
        Input::new(serde_json::json!({ "command": command }))
    }

    fn new(value: Value) -> Input {
        Input { json: value.to_string(), value, invocations: OnceLock::new() }
    }

    /// The input as JSON, without white space and with sorted keys: equal inputs give equal text.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The command line, if there is one.
    pub fn command(&self) -> Option<&str> {
        self.value.get("command")?.as_str()
    }

    /// The folder that it ran in.
    pub fn cwd(&self) -> Option<&str> {
        self.value.get("cwd")?.as_str()
    }

    /// What it exited with.
    pub fn exit_code(&self) -> Option<i64> {
        self.value.get("exit_code")?.as_i64()
    }

    /// The program that printed the output: `Invocation::parse` of the command line, which is read once.
    pub fn invocation(&self) -> Option<&Invocation> {
        let all = self.invocations();
        only_printing(all).map(|at| &all[at])
    }

    /// Every program of the command line.
    pub(super) fn invocations(&self) -> &[Invocation] {
        let parse = || self.command().and_then(Invocation::all).unwrap_or_default();
        self.invocations.get_or_init(parse)
    }
}
