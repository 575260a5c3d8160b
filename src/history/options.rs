//! The options of a rewrite.

use serde::Deserialize;

use crate::{Dialect, sse};

/// The format of a request.
///
/// ```
/// use aside::history::Format;
///
/// assert_eq!(Format::of_path("/v1/messages?beta=true"), Some(Format::Messages));
/// assert_eq!(Format::of_path("/v1/models"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[repr(u32)]
pub enum Format {
    /// Chat completions of OpenAI (`/chat/completions`).
    Chat = 1,
    /// OpenAI Responses (`/responses`).
    Responses = 4,
    /// Anthropic Messages (`/messages`).
    Messages = 8,
}

impl Format {
    /// Returns the format of the requests to a path, which may have a query.
    #[doc(alias = "aside_history_format")]
    #[must_use]
    pub fn of_path(path: impl AsRef<[u8]>) -> Option<Format> {
        let formats = [Format::Chat, Format::Responses, Format::Messages];
        let path = path.as_ref();
        let is_its_path = |format: &Format| {
            let formats = sse::Formats::from_bits(*format as u32).unwrap_or_default();
            let request = sse::Exchange::new().method("POST").path(path).formats(formats);
            !path.is_empty() && sse::request_hint(&request).is_some()
        };
        formats.into_iter().find(is_its_path)
    }
}

/// The place of the thinking of an earlier turn in its message. A name that the format does not have changes nothing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Name {
    /// The thinking stays where it is.
    #[default]
    AsIs,
    /// Chat: the member `reasoning_content`.
    ReasoningContent,
    /// Chat: the member `reasoning`.
    Reasoning,
    /// Chat: the member `thinking`.
    Thinking,
    /// Chat: the member `reasoning_details`, a list with one entry of the type `reasoning.text`.
    ReasoningDetails,
    /// Chat: a part of the type `thinking` at the beginning of the content, which becomes a list.
    Parts,
    /// Responses: the `content` of a reasoning item, as `reasoning_text`.
    ReasoningText,
    /// Responses: the `summary` of a reasoning item, as `summary_text`.
    Summary,
    /// All formats: the text of the message, with the markers of this dialect, as [`Dialect::join`] writes them. If `join`
    /// refuses that, because a part has text that would be read as a marker, the message stays unchanged, and
    /// [`Report::refused`](super::Report::refused) counts it. It refuses all messages of a dialect whose messages begin with a
    /// header, such as `harmony`.
    ///
    /// Content that is `null` or missing becomes a text. In a content that is a list, the thinking goes into the first part, if
    /// that is text, or into a new one before it. In Responses, it goes into the assistant message that follows, or into a new
    /// one. Only thinking without a signature is moved there.
    Text(Dialect),
}

/// The turns whose thinking stays in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[repr(u32)]
pub enum Turns {
    /// All turns.
    #[default]
    All = 0,
    /// The turns since the last message of the user, which is the current loop of tool calls. Many chat templates keep the same
    /// turns. In Messages, a message of the user with results of tools alone is part of that loop.
    SinceUser = 1,
    /// None: all thinking is removed.
    None = 2,
}

/// The change to an assistant message without thinking. Thinking is missing if there is none, if it is `null` or empty, and if it
/// belongs to a turn whose thinking is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[repr(u32)]
pub enum Missing {
    /// None: existing thinking stays.
    #[default]
    Leave = 0,
    /// An empty string under [`Name::ReasoningContent`], [`Name::Reasoning`] or [`Name::Thinking`]; in Messages, an empty
    /// thinking block at the beginning. There is no other place for it.
    Empty = 1,
    /// The member, block or item of empty thinking is removed.
    Remove = 2,
}

/// The treatment of blocks and items that a [`Rewriter`](crate::sse::Rewriter) made in an earlier answer, or another program in the
/// same way: the server that gets the request did not make them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[repr(u32)]
pub enum Made {
    /// They stay unchanged.
    #[default]
    Keep = 0,
    /// For servers that check them. In Messages, thinking blocks with no signature, an empty one, or one that begins with
    /// `aside:1:` are removed. If the last assistant message of a loop of tool calls loses the thinking that it begins with,
    /// and the request says `"thinking": {"type": "enabled"}`, that becomes `{"type":"disabled"}`: the server would refuse the
    /// request. In Responses, made items lose their `id`, and references to them are removed.
    Remove = 1,
}

/// Options of [`rewrite`](super::rewrite).
///
/// ```
/// use aside::history::{Format, Missing, Name, Options, Turns};
///
/// let options = Options::new(Format::Chat)
///     .name(Name::ReasoningContent)
///     .turns(Turns::SinceUser)
///     .missing(Missing::Empty);
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use = "options change nothing until they are given to `rewrite`"]
pub struct Options {
    /// The format of the request.
    pub format: Format,
    /// The place of the thinking.
    pub name: Name,
    /// The turns whose thinking stays.
    pub turns: Turns,
    /// The change to an assistant message without thinking.
    pub missing: Missing,
    /// The treatment of blocks and items that the server did not make.
    pub made: Made,
    /// The most bytes of a body that is read.
    pub max_body: Option<usize>,
}

impl Options {
    /// The default of [`max_body`](Options::max_body): 32 MiB.
    pub const MAX_BODY: usize = 32 << 20;

    /// Returns the default options for requests of a format: they change nothing.
    pub fn new(format: Format) -> Options {
        Options {
            format,
            name: Name::AsIs,
            turns: Turns::All,
            missing: Missing::Leave,
            made: Made::Keep,
            max_body: None,
        }
    }

    /// Sets the place of the thinking.
    pub fn name(self, name: Name) -> Options {
        Options { name, ..self }
    }

    /// Sets the turns whose thinking stays.
    pub fn turns(self, turns: Turns) -> Options {
        Options { turns, ..self }
    }

    /// Sets the change to an assistant message without thinking.
    pub fn missing(self, missing: Missing) -> Options {
        Options { missing, ..self }
    }

    /// Sets the treatment of blocks and items that the server did not make.
    pub fn made(self, made: Made) -> Options {
        Options { made, ..self }
    }

    /// Sets the most bytes of a body that is read; longer bodies are returned unchanged. With `None`, [`Options::MAX_BODY`].
    pub fn max_body(self, bytes: impl Into<Option<usize>>) -> Options {
        Options { max_body: bytes.into(), ..self }
    }
}
