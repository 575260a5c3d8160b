//! Compares the verdicts in a text with the exit code of the run.

use super::{
    class::Class,
    failures,
    layout::{Layout, Text},
};
use crate::compress::invocation::input::Input;

/// The verdicts in the lines of a result: whether any says that a run passed, and whether any says that it failed.
#[derive(Clone, Copy, Default)]
pub struct Verdicts {
    passed: bool,
    failed: bool,
}

impl Verdicts {
    /// Adds the verdict of a line.
    pub fn add(&mut self, class: Class) {
        self.passed |= class.has(Class::PASSED_VERDICT);
        self.failed |= class.has(Class::FAILURE) || class.has(Class::FAILED_VERDICT);
    }

    /// Adds the verdicts of a text's lines.
    pub fn read(&mut self, bytes: &[u8]) {
        let layout = Layout::new(bytes, failures::built_in());
        let text = Text::new(bytes, &layout);
        (0..text.len()).for_each(|line| self.add(text.class(line)));
    }

    /// Adds the verdicts of another text of the same result.
    pub fn join(&mut self, other: Verdicts) {
        self.passed |= other.passed;
        self.failed |= other.failed;
    }

    /// Returns whether the command failed and the text says only that it passed.
    pub fn is_unexplained(self, input: &Input) -> bool {
        input.exit_code().is_some_and(|code| code != 0) && self.passed && !self.failed
    }
}
