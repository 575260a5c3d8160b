//! The options of a rewriter. They stand apart from it, because the files that it is built on need them too.

use crate::{Start, StrayClose};

/// What the field for the thinking is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Field {
    /// `reasoning_content`, as most servers and clients say.
    #[default]
    ReasoningContent = 0,
    /// `reasoning`.
    Reasoning = 1,
    /// `thinking`.
    Thinking = 2,
}

impl Field {
    /// The name as it stands in the JSON.
    pub fn name(self) -> &'static str {
        ["reasoning_content", "reasoning", "thinking"][self as usize]
    }
}

/// What comes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Body {
    /// The first byte that is not blank says it: JSON begins with `{`, an event stream never does.
    #[default]
    Unknown = 0,
    /// An event stream (`text/event-stream`).
    Events = 1,
    /// One JSON object (`application/json`).
    Json = 2,
}

/// How a rewriter differs from the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What is open at the first byte of each choice's text; the dialect's own start where there is none.
    pub start: Option<Start>,
    /// Where the thinking goes.
    pub field: Field,
    /// What comes in.
    pub body: Body,
    /// The most bytes of an event, or of a JSON body, that are read; [`Options::MAX_EVENT`] where there is none.
    pub max_event: Option<usize>,
    /// Nothing is split: what comes in goes out.
    pub off: bool,
    /// What becomes of a closer of the thinking that stands in the content after other text.
    pub stray_close: StrayClose,
}

impl Options {
    /// The default of `max_event`: 16 MiB. Memory is used for what comes, not for what may.
    pub const MAX_EVENT: usize = 16 << 20;
}
