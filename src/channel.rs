//! The channels of a stream, and the spans that may be open where it starts. Matcher, dialect and scanner all use channels, so
//! this file must depend on none of them.

use std::{fmt, str::FromStr};

use serde::Deserialize;

/// The purpose of a stretch of the stream.
///
/// ```
/// use aside::Channel;
///
/// assert_eq!(Channel::Thinking.as_str(), "thinking");
/// assert_eq!(Channel::ALL.map(|channel| channel as u8), [0, 1, 2, 3]);
/// ```
// Not `non_exhaustive`: a host must have a place for each channel, and the contract has these four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Channel {
    /// The answer.
    Content = 0,
    /// The model's thinking. APIs call its field `reasoning_content`, `reasoning` or `thinking`.
    Thinking = 1,
    /// The model's remarks to the user on the way to the answer.
    Narration = 2,
    /// A tool call, for the host's own tool parser.
    Tool = 3,
}

impl Channel {
    /// All channels, in the order of their numbers.
    pub const ALL: [Channel; 4] = [Channel::Content, Channel::Thinking, Channel::Narration, Channel::Tool];

    /// Returns the channel's name: `content`, `thinking`, `narration` or `tool`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        ["content", "thinking", "narration", "tool"][self as usize]
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The span that is open at byte 0 of a stream.
///
/// ```
/// use aside::{Channel, Start};
///
/// let start: Start = "thinking".parse()?;
/// assert_eq!(start, Start::Channel(Channel::Thinking));
/// assert_eq!(Start::Header.as_str(), "header");
/// # Ok::<(), aside::UnknownStart>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Start {
    /// A span of this channel. For `Content`, no span is open.
    Channel(Channel),
    /// A message header, in a dialect with headers.
    Header,
    /// No span; without its thinking, the text is a list of tool calls without markers, for a model that a grammar makes write such
    /// a list (`"tool_choice": "required"`). Only a [`Rewriter`](crate::sse::Rewriter) that looks for calls has this start.
    Calls,
}

impl Start {
    /// Returns the name that `parse` reads: the channel's name, `header` or `calls`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Start::Channel(channel) => channel.as_str(),
            Start::Header => "header",
            Start::Calls => "calls",
        }
    }
}

/// The error for a start's name that is none of the channels' names, `header` and `calls`.
///
/// ```
/// let error = "thought".parse::<aside::Start>().unwrap_err();
/// assert_eq!(error.to_string(), "`thought` is none of content, thinking, narration, tool, header, calls");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStart(String);

impl FromStr for Start {
    type Err = UnknownStart;

    fn from_str(name: &str) -> Result<Start, UnknownStart> {
        let channel = Channel::ALL.into_iter().find(|channel| channel.as_str() == name);
        match (channel, name) {
            (Some(channel), _) => Ok(Start::Channel(channel)),
            (None, "header") => Ok(Start::Header),
            (None, "calls") => Ok(Start::Calls),
            _ => Err(UnknownStart(name.into())),
        }
    }
}

impl TryFrom<String> for Start {
    type Error = UnknownStart;

    fn try_from(name: String) -> Result<Start, UnknownStart> {
        name.parse()
    }
}

impl fmt::Display for UnknownStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is none of content, thinking, narration, tool, header, calls", self.0.escape_debug())
    }
}

impl std::error::Error for UnknownStart {}
