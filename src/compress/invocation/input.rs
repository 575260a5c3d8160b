//! A tool's input, which is JSON. The input of a terminal tool contains a command line, which is parsed at most once, and only if a
//! filter needs it.

use std::{fmt, sync::OnceLock};

use serde_json::Value;

use super::command::{Command, only_printing};

/// The input of a tool call. The input of a terminal tool contains `command`, and may contain `cwd` and `exit_code`. The input of
/// another tool may be any JSON value.
///
/// ```
/// use aside::compress::Input;
///
/// let input = Input::from_json(r#"{"command": "cargo test", "exit_code": 101}"#)?;
/// assert_eq!(input.command(), Some("cargo test"));
/// assert_eq!(input.exit_code(), Some(101));
/// assert_eq!(input.printing_command().unwrap().subcommand(), Some("test"));
/// # Ok::<(), aside::compress::InputError>(())
/// ```
#[derive(Debug)]
pub struct Input {
    value: Value,
    json: String,
    exit_code: Option<i64>,
    commands: OnceLock<Vec<Command>>,
}

/// The error if an input is not JSON.
///
/// ```
/// let error = aside::compress::Input::from_json("{").unwrap_err();
/// assert!(error.to_string().starts_with("the input is not JSON: "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError(String);

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the input is not JSON: {}", self.0)
    }
}

impl std::error::Error for InputError {}

impl Input {
    /// Reads any JSON value that is at most 127 levels deep.
    ///
    /// # Errors
    ///
    /// [`InputError`] if the text is not JSON, or too deep.
    pub fn from_json(json: &str) -> Result<Input, InputError> {
        let value: Value = serde_json::from_str(json).map_err(|error| InputError(error.to_string()))?;
        Ok(Input::new(value))
    }

    /// Returns the input of a terminal tool that ran this command line.
    #[must_use]
    pub fn of_command(command: &str) -> Input {
        Input::new(serde_json::json!({ "command": command }))
    }

    fn new(value: Value) -> Input {
        let exit_code = value.get("exit_code").and_then(Value::as_i64);
        Input { json: value.to_string(), value, exit_code, commands: OnceLock::new() }
    }

    /// Returns the input as JSON, without white space and with sorted keys, so that equal inputs have equal text.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Returns the command line (`command` in the input), if there is one.
    pub fn command(&self) -> Option<&str> {
        self.value.get("command")?.as_str()
    }

    /// Returns whether the input has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }

    /// Returns the folder that the command ran in.
    pub fn cwd(&self) -> Option<&str> {
        self.value.get("cwd")?.as_str()
    }

    /// Returns the command's exit code.
    pub fn exit_code(&self) -> Option<i64> {
        self.exit_code
    }

    /// Sets the exit code of a command that has ended since.
    pub(crate) fn set_exit_code(&mut self, code: i64) {
        self.exit_code = Some(code);
    }

    /// Returns the command that printed the output, as [`Command::parse`] finds it in the command line.
    pub fn printing_command(&self) -> Option<&Command> {
        let all = self.commands();
        only_printing(all).map(|at| &all[at])
    }

    /// Returns every command of the command line.
    pub(super) fn commands(&self) -> &[Command] {
        let parse = || self.command().and_then(Command::all).unwrap_or_default();
        self.commands.get_or_init(parse)
    }
}
