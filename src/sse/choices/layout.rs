//! The layout of each format with choices: the position of the text, and the form of an extra chunk.

use crate::sse::format::Format;
use crate::sse::options::Field;

/// The form of tool calls.
#[derive(Clone, Copy, PartialEq)]
pub enum CallForm {
    /// The format has no tool calls, so calls in the text stay text.
    Text,
    /// The arguments are strings, and are sent piece by piece.
    Deltas,
    /// The arguments are objects, so that each call is sent whole.
    Objects,
}

/// The description of a format.
pub struct Layout {
    /// Whether an answer has a list of choices. If it has none, the whole object is the only choice.
    pub has_list: bool,
    /// The name of the object in a choice that has the text, in a chunk and in a body. Empty if the text is in the choice
    /// itself.
    pub part: &'static [u8],
    pub whole_part: &'static [u8],
    /// The name of the member with the text.
    pub text: &'static str,
    /// Whether a text that becomes empty is sent as an empty string, because clients need the member. If not, the field
    /// for the thinking replaces the member.
    pub keeps_text: bool,
    /// The field for the thinking, if clients of this format know only one; `None` if the host chooses.
    pub field: Option<Field>,
    pub calls: CallForm,
    /// The name of the member with the finish reason.
    pub reason: &'static [u8],
    /// The members of a chunk from which ids of calls can be made; the first that exists is used.
    pub ids: [&'static [u8]; 2],
    /// Whether each chunk has the role, and not only the first one.
    pub repeats_role: bool,
    /// The members of a chunk that are copied into its extra chunks.
    pub envelope: &'static [&'static [u8]],
    pub extra: Extra,
}

/// The members of an extra chunk, in this order, between the members of the envelope, the choice's index and its text.
pub struct Extra {
    pub begin: &'static [u8],
    pub before_index: &'static [u8],
    pub before_text: &'static [u8],
    pub end: &'static [u8],
    /// Whether the chunk is an event, which ends with a blank line. If not, it is a line.
    pub is_event: bool,
}

impl Layout {
    pub const CHAT: &Layout = &Layout {
        has_list: true,
        part: b"delta",
        whole_part: b"message",
        text: "content",
        keeps_text: false,
        field: None,
        calls: CallForm::Deltas,
        reason: b"finish_reason",
        ids: [b"id", b"created"],
        repeats_role: false,
        envelope: &[b"id", b"object", b"created", b"model", b"system_fingerprint", b"service_tier", b"provider"],
        extra: Extra {
            begin: b"data: {",
            before_index: b"\"choices\":[{\"index\":",
            before_text: b",\"delta\":{",
            end: b"},\"finish_reason\":null}]}",
            is_event: true,
        },
    };

    const COMPLETIONS: &Layout = &Layout {
        part: b"",
        whole_part: b"",
        text: "text",
        keeps_text: true,
        calls: CallForm::Text,
        extra: Extra { before_text: b",", end: b",\"logprobs\":null,\"finish_reason\":null}]}", ..Layout::CHAT.extra },
        ..*Layout::CHAT
    };

    const OLLAMA_CHAT: &Layout = &Layout {
        has_list: false,
        part: b"message",
        whole_part: b"message",
        text: "content",
        keeps_text: true,
        field: Some(Field::Thinking),
        calls: CallForm::Objects,
        reason: b"done_reason",
        ids: [b"created_at", b"model"],
        repeats_role: true,
        envelope: &[b"model", b"created_at"],
        extra: Extra {
            begin: b"{",
            before_index: b"\"message\":{",
            before_text: b"",
            end: b"},\"done\":false}",
            is_event: false,
        },
    };

    const OLLAMA_GENERATE: &Layout = &Layout {
        part: b"",
        whole_part: b"",
        text: "response",
        calls: CallForm::Text,
        repeats_role: false,
        extra: Extra { before_index: b"", end: b",\"done\":false}", ..Layout::OLLAMA_CHAT.extra },
        ..*Layout::OLLAMA_CHAT
    };

    /// All layouts.
    pub const ALL: [&Layout; 4] = [Layout::CHAT, Layout::COMPLETIONS, Layout::OLLAMA_CHAT, Layout::OLLAMA_GENERATE];

    /// Returns the layout of a format, or `None` if answers of that format have no choices.
    pub fn of(format: Format) -> Option<&'static Layout> {
        match format {
            Format::Chat => Some(Layout::CHAT),
            Format::Completions => Some(Layout::COMPLETIONS),
            Format::OllamaChat => Some(Layout::OLLAMA_CHAT),
            Format::OllamaGenerate => Some(Layout::OLLAMA_GENERATE),
            Format::Responses | Format::Messages | Format::Error | Format::Unknown => None,
        }
    }

    /// Returns the value that is written for an absent text.
    pub fn no_text(&self) -> &'static [u8] {
        if self.keeps_text { b"\"\"" } else { b"null" }
    }
}
