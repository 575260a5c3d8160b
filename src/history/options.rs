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
#[serde(rename_all = "snake_case")]
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
    /// Returns the format of requests to this path, which may have a query.
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

/// The place in a message for the thinking of an earlier turn. A place that the request's format does not have changes nothing.
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
    /// refuses a message, because a part has text that would be read as a marker, the message stays unchanged, and
    /// [`Report::refused`](super::Report::refused) counts it. For dialects with headers, such as `harmony`, all messages are
    /// refused.
    ///
    /// Content that is `null` or missing becomes a text. If the content is a list, the thinking is put into its first part, if
    /// that is text, or into a new part before it. In Responses, it is put into the assistant message that follows, or into a
    /// new one. Signed thinking is not moved.
    Text(Dialect),
}

impl Name {
    /// The words of all names.
    pub const WORDS: [&'static str; 9] = [
        "as_is",
        "reasoning_content",
        "reasoning",
        "thinking",
        "reasoning_details",
        "parts",
        "reasoning_text",
        "summary",
        "text",
    ];

    /// Returns the name of a word, or `None` if the word is unknown, or is `text` and there is no dialect.
    ///
    /// ```
    /// use aside::history::Name;
    ///
    /// assert!(matches!(Name::from_word("summary", None), Some(Name::Summary)));
    /// assert!(Name::from_word("text", None).is_none());
    /// ```
    #[must_use]
    pub fn from_word(word: &str, dialect: Option<Dialect>) -> Option<Name> {
        use Name::*;
        let names = [AsIs, ReasoningContent, Reasoning, Thinking, ReasoningDetails, Parts, ReasoningText, Summary];
        names.into_iter().chain(dialect.map(Text)).find(|name| name.word() == word)
    }

    /// Returns the word of this name.
    #[must_use]
    pub fn word(&self) -> &'static str {
        Name::WORDS[match self {
            Name::AsIs => 0,
            Name::ReasoningContent => 1,
            Name::Reasoning => 2,
            Name::Thinking => 3,
            Name::ReasoningDetails => 4,
            Name::Parts => 5,
            Name::ReasoningText => 6,
            Name::Summary => 7,
            Name::Text(_) => 8,
        }]
    }
}

/// The turns whose thinking stays in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[repr(u32)]
pub enum Turns {
    /// All turns.
    #[default]
    All = 0,
    /// The turns since the last message of the user, which are the current loop of tool calls. Many chat templates keep the
    /// same turns. In Messages, a user's message with only results of tools is part of that loop.
    SinceUser = 1,
    /// No turn: all thinking is removed.
    None = 2,
}

/// The change to an assistant message without thinking: the thinking is missing, `null` or empty, or is removed because of its
/// turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[repr(u32)]
pub enum Missing {
    /// The message stays unchanged.
    #[default]
    Leave = 0,
    /// Empty thinking is added: an empty string under [`Name::ReasoningContent`], [`Name::Reasoning`] or [`Name::Thinking`]; in
    /// Messages, an empty thinking block at the beginning. Under other names, nothing is added.
    Empty = 1,
    /// The member, block or item with empty thinking is removed.
    Remove = 2,
}

/// The treatment of blocks and items in an earlier answer that a [`Rewriter`](crate::sse::Rewriter) or a similar program made, and
/// not the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[repr(u32)]
pub enum Made {
    /// The blocks and items stay unchanged.
    #[default]
    Keep = 0,
    /// The blocks and items are removed, for servers that check them. In Messages, these are thinking blocks whose signature is
    /// missing, empty, or begins with `aside:1:`. If the last assistant message of a loop of tool calls thereby loses thinking at
    /// its beginning, and the request has `"thinking": {"type": "enabled"}`, the value is replaced by `{"type":"disabled"}`,
    /// because the server would refuse the request. In Responses, the items stay but lose their `id`, and references to them are
    /// removed.
    Remove = 1,
}

/// The treatment of tools in namespaces, and of earlier calls of them, in requests of Responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[repr(u32)]
pub enum Namespaces {
    /// The tools and calls stay unchanged.
    #[default]
    Keep = 0,
    /// Each tool is listed by itself, under its [flat name](crate::answer::Tools), for servers that know only functions. Earlier calls and
    /// the choice of a tool have that name, and no namespace.
    Flat = 1,
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
    /// The treatment of blocks and items that a rewriter made and the server did not.
    pub made: Made,
    /// The treatment of tools in namespaces.
    pub namespaces: Namespaces,
    /// The length of the longest body that is read, in bytes.
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
            namespaces: Namespaces::Keep,
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

    /// Sets the treatment of blocks and items that a rewriter made and the server did not.
    pub fn made(self, made: Made) -> Options {
        Options { made, ..self }
    }

    /// Sets the treatment of tools in namespaces.
    pub fn namespaces(self, namespaces: Namespaces) -> Options {
        Options { namespaces, ..self }
    }

    /// Sets the length of the longest body that is read, in bytes; longer bodies are returned unchanged. `None` means
    /// [`Options::MAX_BODY`].
    pub fn max_body(self, bytes: impl Into<Option<usize>>) -> Options {
        Options { max_body: bytes.into(), ..self }
    }
}
