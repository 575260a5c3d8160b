//! The words of options: the names of their values in the program, in files of settings, and in languages without enumerations.

use crate::answer::{ImpliedEnd, NotWhole, Thinking, UnknownTool};
use crate::history::{Format, Made, Missing, Outcome, Turns};
use crate::sse::{Body, Comments, Field, Formats, ResponsesAs, Shapes};
use crate::{
    BudgetScope, BudgetUnit, CallsInThinking, Channel, EndReason, GrammarFormat, LeadingTags, Markers, StrayClose,
};

/// A type whose values have words, such as the values of an option.
///
/// ```
/// use aside::{Words, sse::Comments};
///
/// assert_eq!(Comments::from_word("drop"), Some(Comments::Drop));
/// assert_eq!(Comments::Chunk.word(), Some("chunk"));
/// assert_eq!(Comments::from_word("hide"), None);
/// ```
pub trait Words: Copy + PartialEq + 'static {
    /// The words, each with its value.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the value of a word, or `None` if the word is unknown.
    #[must_use]
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|&(_, value)| value)
    }

    /// Returns the word of this value, or `None` if it has none, such as a set of several formats.
    #[must_use]
    fn word(self) -> Option<&'static str> {
        Self::WORDS.iter().find(|(_, value)| *value == self).map(|&(word, _)| word)
    }
}

impl Words for Format {
    const WORDS: &'static [(&'static str, Self)] =
        &[("chat", Format::Chat), ("responses", Format::Responses), ("messages", Format::Messages)];
}

// Generated from src/ffi by tests/header: do not edit.
impl Words for Channel {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("content", Channel::Content),
        ("thinking", Channel::Thinking),
        ("narration", Channel::Narration),
        ("tool", Channel::Tool),
    ];
}

impl Words for CallsInThinking {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("dialect", CallsInThinking::Dialect),
        ("never", CallsInThinking::Never),
        ("always", CallsInThinking::Always),
    ];
}

impl Words for StrayClose {
    const WORDS: &'static [(&'static str, Self)] =
        &[("dialect", StrayClose::Dialect), ("text", StrayClose::Text), ("drop", StrayClose::Drop)];
}

impl Words for EndReason {
    const WORDS: &'static [(&'static str, Self)] =
        &[("unknown", EndReason::Unknown), ("ended", EndReason::Ended), ("cut_off", EndReason::CutOff)];
}

impl Words for NotWhole {
    const WORDS: &'static [(&'static str, Self)] =
        &[("tell", NotWhole::Tell), ("hold", NotWhole::Hold), ("text", NotWhole::Text)];
}

impl Words for UnknownTool {
    const WORDS: &'static [(&'static str, Self)] =
        &[("text", UnknownTool::Text), ("drop", UnknownTool::Drop), ("tell", UnknownTool::Tell)];
}

impl Words for GrammarFormat {
    const WORDS: &'static [(&'static str, Self)] =
        &[("xgrammar", GrammarFormat::Xgrammar), ("lark", GrammarFormat::Lark)];
}

impl Words for ImpliedEnd {
    const WORDS: &'static [(&'static str, Self)] = &[("on", ImpliedEnd::On), ("off", ImpliedEnd::Off)];
}

impl Words for LeadingTags {
    const WORDS: &'static [(&'static str, Self)] = &[("dialect", LeadingTags::Dialect), ("text", LeadingTags::Text)];
}

impl Words for BudgetUnit {
    const WORDS: &'static [(&'static str, Self)] =
        &[("bytes", BudgetUnit::Bytes), ("characters", BudgetUnit::Characters)];
}

impl Words for BudgetScope {
    const WORDS: &'static [(&'static str, Self)] = &[("span", BudgetScope::Span), ("stream", BudgetScope::Stream)];
}

impl Words for Markers {
    const WORDS: &'static [(&'static str, Self)] = &[("refuse", Markers::Refuse), ("escape", Markers::Escape)];
}

impl Words for Field {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("reasoning_content", Field::ReasoningContent),
        ("reasoning", Field::Reasoning),
        ("thinking", Field::Thinking),
    ];
}

impl Words for Body {
    const WORDS: &'static [(&'static str, Self)] =
        &[("unknown", Body::Unknown), ("events", Body::Events), ("json", Body::Json), ("lines", Body::Lines)];
}

impl Words for Formats {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("chat", Formats::CHAT),
        ("completions", Formats::COMPLETIONS),
        ("responses", Formats::RESPONSES),
        ("messages", Formats::MESSAGES),
        ("ollama", Formats::OLLAMA),
        ("all", Formats::ALL),
    ];
}

impl Words for Shapes {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Shapes::NONE),
        ("field", Shapes::FIELD),
        ("lists", Shapes::LISTS),
        ("chunks", Shapes::CHUNKS),
        ("content", Shapes::CONTENT),
        ("all", Shapes::ALL),
    ];
}

impl Words for Thinking {
    const WORDS: &'static [(&'static str, Self)] =
        &[("keep", Thinking::Keep), ("drop", Thinking::Drop), ("inline", Thinking::Inline)];
}

impl Words for ResponsesAs {
    const WORDS: &'static [(&'static str, Self)] =
        &[("reasoning_text", ResponsesAs::ReasoningText), ("summary", ResponsesAs::Summary)];
}

impl Words for Comments {
    const WORDS: &'static [(&'static str, Self)] =
        &[("keep", Comments::Keep), ("drop", Comments::Drop), ("chunk", Comments::Chunk)];
}

impl Words for Turns {
    const WORDS: &'static [(&'static str, Self)] =
        &[("all", Turns::All), ("since_user", Turns::SinceUser), ("none", Turns::None)];
}

impl Words for Missing {
    const WORDS: &'static [(&'static str, Self)] =
        &[("leave", Missing::Leave), ("empty", Missing::Empty), ("remove", Missing::Remove)];
}

impl Words for Made {
    const WORDS: &'static [(&'static str, Self)] = &[("keep", Made::Keep), ("remove", Made::Remove)];
}

impl Words for Outcome {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("read", Outcome::Read),
        ("too_long", Outcome::TooLong),
        ("not_utf8", Outcome::NotUtf8),
        ("not_request", Outcome::NotRequest),
        ("repeated", Outcome::Repeated),
        ("stored", Outcome::Stored),
    ];
}
// End of the generated part.
