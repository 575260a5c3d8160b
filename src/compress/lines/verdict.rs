//! Whether what a text says of a run fits its exit code.

use super::class::Class;
use crate::compress::called::input::Input;

/// Whether a command failed of which the lines say only that it passed.
pub fn is_unexplained(input: &Input, mut classes: impl Iterator<Item = Class> + Clone) -> bool {
    let fails = |class: Class| class.has(Class::FAILURE) || class.has(Class::FAILED_VERDICT);
    input.exit_code().is_some_and(|code| code != 0)
        && classes.clone().any(|class| class.has(Class::PASSED_VERDICT))
        && !classes.any(fails)
}
