//! The invocation of a tool. The command line shows which program printed a text, and so which filters may apply to it. The command
//! line is parsed and never executed, and unknown syntax selects no filter.

pub mod command;
pub mod files;
pub mod input;
pub mod shell;
mod wrappers;

use input::Input;

/// One run of a tool, whose result is to be compressed.
///
/// ```
/// use aside::compress::{Input, Invocation};
///
/// let input = Input::of_command("git status");
/// let invocation = Invocation::new("bash", &input).now(1_700_000_000);
/// assert_eq!((invocation.tool_id, invocation.now), ("bash", 1_700_000_000));
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use = "an invocation changes nothing until its result is compressed"]
#[non_exhaustive]
pub struct Invocation<'a> {
    /// The tool.
    pub tool_id: &'a str,
    /// The input of the tool.
    pub input: &'a Input,
    /// The time in seconds since 1970, for caches. The library does not read a clock.
    pub now: u64,
}

impl<'a> Invocation<'a> {
    /// Returns an invocation at the time 0, for hosts without caches.
    pub fn new(tool_id: &'a str, input: &'a Input) -> Invocation<'a> {
        Invocation { tool_id, input, now: 0 }
    }

    /// Sets the time, in seconds since 1970.
    pub fn now(self, now: u64) -> Invocation<'a> {
        Invocation { now, ..self }
    }
}
