//! How each format of choices writes an answer: where the text stands, and what an extra chunk looks like.

use crate::sse::format::Format;

/// What is known of a format.
pub struct Layout {
    /// The member of a choice that has its text, in a chunk and in a body. If it has no name, the text stands in the choice
    /// itself.
    pub part: &'static [u8],
    pub whole_part: &'static [u8],
    /// The name of the text.
    pub text: &'static str,
    /// The text stays where there is none, as an empty string, since clients cannot do without it. Otherwise the field for the
    /// thinking takes its place.
    pub keeps_text: bool,
    /// Tool calls have a place. Otherwise they stay text.
    pub has_calls: bool,
    /// The members of a chunk that its extra chunks have too.
    pub envelope: &'static [&'static [u8]],
    pub extra: Extra,
}

/// What an extra chunk has, in this order, between the members of the envelope, the choice's index and its text.
pub struct Extra {
    pub begin: &'static [u8],
    pub before_index: &'static [u8],
    pub before_text: &'static [u8],
    pub end: &'static [u8],
}

impl Layout {
    pub const CHAT: &Layout = &Layout {
        part: b"delta",
        whole_part: b"message",
        text: "content",
        keeps_text: false,
        has_calls: true,
        envelope: &[b"id", b"object", b"created", b"model", b"system_fingerprint", b"service_tier", b"provider"],
        extra: Extra {
            begin: b"data: {",
            before_index: b"\"choices\":[{\"index\":",
            before_text: b",\"delta\":{",
            end: b"},\"finish_reason\":null}]}",
        },
    };

    const COMPLETIONS: &Layout = &Layout {
        part: b"",
        whole_part: b"",
        text: "text",
        keeps_text: true,
        has_calls: false,
        extra: Extra { before_text: b",", end: b",\"logprobs\":null,\"finish_reason\":null}]}", ..Layout::CHAT.extra },
        ..*Layout::CHAT
    };

    /// Returns the layout of a format, if that is one of choices.
    pub fn of(format: Format) -> Option<&'static Layout> {
        match format {
            Format::Chat => Some(Layout::CHAT),
            Format::Completions => Some(Layout::COMPLETIONS),
            Format::Responses | Format::Messages | Format::Ollama | Format::Error | Format::Unknown => None,
        }
    }

    /// Returns the value of a text that is not there.
    pub fn no_text(&self) -> &'static [u8] {
        if self.keeps_text { b"\"\"" } else { b"null" }
    }
}
