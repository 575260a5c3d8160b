//! The options of a rewriter. They stand apart from it, because the files that it is built on need them too.

use crate::{Start, StrayClose};

/// Name of the field that the thinking goes to.
///
/// ```
/// use aside::sse::Field;
///
/// assert_eq!(Field::default().name(), "reasoning_content");
/// assert_eq!(Field::Reasoning.name(), "reasoning");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Returns the field's name in the JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["reasoning_content", "reasoning", "thinking"][self as usize]
    }
}

/// What comes in.
///
/// ```
/// use aside::{Dialect, sse::{Body, Options, Rewriter}};
///
/// // The response's header says `application/json`.
/// let rewriter = Rewriter::new(&Dialect::find("qwen3")?, &Options::new().body(Body::Json))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum Body {
    /// The first byte that is not blank decides: JSON begins with `{`, an event stream never does.
    #[default]
    Unknown = 0,
    /// An event stream (`text/event-stream`).
    Events = 1,
    /// One JSON object (`application/json`).
    Json = 2,
}

/// Options of a rewriter.
///
/// ```
/// use aside::{Dialect, sse::{Field, Options, Rewriter}};
///
/// let options = Options::new().field(Field::Reasoning).max_event(1 << 20);
/// let mut rewriter = Rewriter::new(&Dialect::find("qwen3")?, &options)?;
/// let mut out = Vec::new();
/// rewriter.feed("{\"choices\":[{\"message\":{\"content\":\"<think>hm</think>Yes.\"}}]}", &mut out)?;
/// assert_eq!(out, b"{\"choices\":[{\"message\":{\"reasoning\":\"hm\",\"content\":\"Yes.\"}}]}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "options change nothing until a rewriter is made with them"]
pub struct Options {
    pub(crate) start: Option<Start>,
    pub(crate) field: Field,
    pub(crate) body: Body,
    pub(crate) max_event: Option<usize>,
    pub(crate) off: bool,
    pub(crate) stray_close: StrayClose,
}

impl Options {
    /// The default of [`max_event`](Options::max_event): 16 MiB. Memory is used for what comes, not reserved in advance.
    pub const MAX_EVENT: usize = 16 << 20;

    /// Returns the default options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets what is open at the first byte of each choice's text. With `None`, the dialect's own start.
    pub fn start(self, start: impl Into<Option<Start>>) -> Options {
        Options { start: start.into(), ..self }
    }

    /// Sets the field that the thinking goes to.
    pub fn field(self, field: Field) -> Options {
        Options { field, ..self }
    }

    /// Sets what comes in.
    pub fn body(self, body: Body) -> Options {
        Options { body, ..self }
    }

    /// Sets the most bytes of an event, or of a JSON body, that are read. With `None`, [`Options::MAX_EVENT`].
    pub fn max_event(self, bytes: impl Into<Option<usize>>) -> Options {
        Options { max_event: bytes.into(), ..self }
    }

    /// Turns the rewriter off: all bytes go out as they came in.
    pub fn off(self, off: bool) -> Options {
        Options { off, ..self }
    }

    /// Sets what becomes of a closer of the thinking that stands in the content after other text.
    pub fn stray_close(self, stray_close: StrayClose) -> Options {
        Options { stray_close, ..self }
    }
}
