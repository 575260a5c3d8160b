//! A built-in filter. It returns its changes as edits, and makes a promise about them that every compression
//! checks, so that a mistake in a filter costs some compression and never a line that the reader needs.

use crate::compress::{
    invocation::input::Input,
    lines::{
        layout::{Text, Views},
        protect::Format,
    },
    text::edit::Edit,
};

/// The promise of a built-in filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The result is the same text in UTF-8. It may be longer than the original, which no other filter could read.
    Decode,
    /// The result is the text that a terminal shows. Lines without ESC, CR or BS are unchanged.
    Normalise,
    /// The change can be undone, which is checked at once: undoing it in the result returns the input.
    Refold,
    /// The result has lines of the input, unchanged and in order, and marker lines.
    Select,
    /// Whole elements of JSON, or the middle of its strings, are left out, and the result is JSON of the same form.
    Elements,
}

/// The stage of a compression in which a filter runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// First, on the raw text.
    Terminal,
    /// Filters for one tool: TOML files and hosts' filters, in the order of their registration.
    Tool,
    /// Filter files that apply to lines on which no rule of another filter file has decided.
    Fallback,
    /// Filters for every text.
    General,
    /// Folding. Under a budget, the result is used only if the text then fits.
    Fold,
    /// Filters that run only under a budget, and only if the text is still too long.
    Budget,
    /// Like `Budget`, but the result is used only if the text then fits.
    Structure,
    /// Like `Budget`, and the text always fits afterwards.
    Last,
}

/// A built-in filter.
pub trait Pass: Send + Sync {
    fn id(&self) -> &str;
    fn promise(&self) -> Promise;
    fn stage(&self) -> Stage;

    fn matches(&self, _tool_id: &str, _input: &Input) -> bool {
        true
    }

    /// Returns whether the filter is for this tool, without regard to its input.
    fn is_for_tool(&self, _tool_id: &str) -> bool {
        true
    }

    /// Returns patterns of the lines that open a section of the filter's tool, and of those that close it.
    fn opens(&self) -> Vec<&str> {
        Vec::new()
    }

    fn closes(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Returns whether a rule of the filter matches any of these views of a line.
    fn knows_any(&self, _views: &Views<'_>) -> bool {
        false
    }

    /// Returns whether the filter may change texts of a machine format.
    fn accepts(&self, _format: Format) -> bool {
        false
    }

    /// Returns the filter's changes. `limit` is the largest length of the text, if there is a budget.
    fn edits(&self, text: Text<'_>, input: &Input, limit: usize) -> Vec<Edit>;

    /// Returns the filter's changes, and the lines that the filter decided to keep: no fallback changes these lines.
    fn decisions(&self, text: Text<'_>, input: &Input, limit: usize) -> (Vec<Edit>, Vec<usize>) {
        (self.edits(text, input, limit), Vec::new())
    }

    /// Returns whether undoing the filter's decoding or folding returns the input.
    fn is_undone(&self, _old: &[u8], _new: &[u8]) -> bool {
        true
    }
}

/// Returns whether a filter or cache for `tools` is for this tool.
pub fn is_for(tool_ids: &[String], tool_id: &str) -> bool {
    tool_ids.is_empty() || tool_ids.iter().any(|id| id == tool_id)
}
