//! The class of a line of a tool's output. Filters decide only by its flags which lines they may drop. A missing flag can lose
//! the line that matters to the reader, and a superfluous flag costs only some bytes.

/// The class of a line: a set of flags.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Class(u8);

impl Class {
    /// The line says that something failed.
    pub const FAILURE: Class = Class(1);
    /// The line is a verdict: it says that a whole run failed.
    pub const FAILED_VERDICT: Class = Class(2);
    /// The line is a verdict: it says that a whole run passed.
    pub const PASSED_VERDICT: Class = Class(4);
    /// The line is part of an error region.
    pub const REGION: Class = Class(8);
    /// The line is the first of an error region.
    pub const START: Class = Class(16);
    /// The line is text of a diff's hunk.
    pub const HUNK: Class = Class(32);
    /// The line is help text in an error region, about the usage of the program.
    pub const HELP: Class = Class(64);
    /// A rule of a tool's filter has decided that the line stays.
    pub const TAKEN: Class = Class(128);

    pub fn has(self, other: Class) -> bool {
        self.0 & other.0 != 0
    }

    pub fn has_all(self, other: Class) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn add(&mut self, other: Class) {
        self.0 |= other.0;
    }

    /// Returns the flags of both classes.
    pub const fn or(self, other: Class) -> Class {
        Class(self.0 | other.0)
    }

    pub fn remove(&mut self, other: Class) {
        self.0 &= !other.0;
    }

    /// Returns whether the line is never left out without a budget.
    pub fn must_stay(self) -> bool {
        self.0 & (Class::REGION.0 | Class::FAILED_VERDICT.0) != 0
    }
}
