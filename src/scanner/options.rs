//! How a scanner is made.

use super::counts::Budget;
use crate::channel::Start;

/// How a scanner differs from its dialect's defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What is open at byte 0; the dialect's own start where there is none.
    pub start: Option<Start>,
    /// Collect whole thoughts, of which those not yet taken hold at most this many bytes together: text, types and attributes,
    /// of which each counts as 48 at least. What has no room is cut off, the text last.
    pub collect: Option<usize>,
    /// Report where the thinking exceeds this budget.
    pub budget: Option<Budget>,
    /// What becomes of a closer of the thinking that stands in the content after other text.
    pub stray_close: StrayClose,
}

/// What a scanner does with a closer of the thinking that has no opener and comes after content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrayClose {
    /// As the dialect says.
    #[default]
    Dialect,
    /// It is text: for a host that is sure that its model does not think, and whose users write about such markers.
    Text,
}
