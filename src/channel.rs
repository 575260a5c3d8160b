//! Whom a stretch of a stream is for, and what may be open where a stream starts. The lowest floor: matcher, dialect and
//! scanner all speak of channels.

use std::{fmt, str::FromStr};

use serde::Deserialize;

/// Whom a stretch of the stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Channel {
    /// What the model says.
    Content = 0,
    /// What it thinks; APIs call the field `reasoning_content`, `reasoning` or `thinking`.
    Thinking = 1,
    /// What it tells the user on the way to the answer.
    Narration = 2,
    /// A tool call, for the host's own tool parser.
    Tool = 3,
}

impl Channel {
    /// All of them, in the order of their numbers.
    pub const ALL: [Channel; 4] = [Channel::Content, Channel::Thinking, Channel::Narration, Channel::Tool];

    /// The channel's name: `content`, `thinking`, `narration` or `tool`.
    pub fn as_str(self) -> &'static str {
        ["content", "thinking", "narration", "tool"][self as usize]
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What is open at byte 0 of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Start {
    /// A span of this channel. For `Content`, no span is open.
    Channel(Channel),
    /// A message header, of a dialect that has them.
    Header,
}

impl Start {
    /// The name that `parse` reads: a channel's, or `header`.
    pub fn as_str(self) -> &'static str {
        match self {
            Start::Channel(channel) => channel.as_str(),
            Start::Header => "header",
        }
    }
}

/// A name that is neither a channel's nor `header`.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownStart(String);

impl FromStr for Start {
    type Err = UnknownStart;

    fn from_str(name: &str) -> Result<Start, UnknownStart> {
        let channel = Channel::ALL.into_iter().find(|channel| channel.as_str() == name);
        match (channel, name) {
            (Some(channel), _) => Ok(Start::Channel(channel)),
            (None, "header") => Ok(Start::Header),
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
        write!(f, "`{}` is none of content, thinking, narration, tool, header", self.0.escape_debug())
    }
}

impl std::error::Error for UnknownStart {}
