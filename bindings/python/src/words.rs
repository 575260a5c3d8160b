//! Arguments that are words: the allowed words, and the crate's value for each. The stub lists the same words.

use aside::answer::{ImpliedEnd, NotWhole, Thinking, UnknownTool};
use aside::history::{Made, Missing, Outcome, Turns};
use aside::sse::{Body, Comments, Field, Formats, ResponsesAs, Shapes};
use aside::{BudgetScope, BudgetUnit, CallsInThinking, EndReason, GrammarFormat, LeadingTags, Markers, StrayClose};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors;

/// The words of an argument, and their values.
pub type Words<T> = [(&'static str, T)];

// Generated from src/ffi by tests/header: do not edit.
pub const CALLS_IN_THINKING: &Words<CallsInThinking> =
    &[("dialect", CallsInThinking::Dialect), ("never", CallsInThinking::Never), ("always", CallsInThinking::Always)];

pub const STRAY_CLOSE: &Words<StrayClose> =
    &[("dialect", StrayClose::Dialect), ("text", StrayClose::Text), ("drop", StrayClose::Drop)];

pub const END_REASON: &Words<EndReason> =
    &[("unknown", EndReason::Unknown), ("ended", EndReason::Ended), ("cut_off", EndReason::CutOff)];

pub const NOT_WHOLE: &Words<NotWhole> = &[("tell", NotWhole::Tell), ("hold", NotWhole::Hold), ("text", NotWhole::Text)];

pub const UNKNOWN_TOOL: &Words<UnknownTool> =
    &[("text", UnknownTool::Text), ("drop", UnknownTool::Drop), ("tell", UnknownTool::Tell)];

pub const GRAMMAR_FORMAT: &Words<GrammarFormat> =
    &[("xgrammar", GrammarFormat::Xgrammar), ("lark", GrammarFormat::Lark)];

pub const IMPLIED_END: &Words<ImpliedEnd> = &[("on", ImpliedEnd::On), ("off", ImpliedEnd::Off)];

pub const LEADING_TAGS: &Words<LeadingTags> = &[("dialect", LeadingTags::Dialect), ("text", LeadingTags::Text)];

pub const BUDGET_UNIT: &Words<BudgetUnit> = &[("bytes", BudgetUnit::Bytes), ("characters", BudgetUnit::Characters)];

pub const BUDGET_SCOPE: &Words<BudgetScope> = &[("span", BudgetScope::Span), ("stream", BudgetScope::Stream)];

pub const MARKERS: &Words<Markers> = &[("refuse", Markers::Refuse), ("escape", Markers::Escape)];

pub const FIELD: &Words<Field> =
    &[("reasoning_content", Field::ReasoningContent), ("reasoning", Field::Reasoning), ("thinking", Field::Thinking)];

pub const BODY: &Words<Body> =
    &[("unknown", Body::Unknown), ("events", Body::Events), ("json", Body::Json), ("lines", Body::Lines)];

pub const FORMATS: &Words<Formats> = &[
    ("chat", Formats::CHAT),
    ("completions", Formats::COMPLETIONS),
    ("responses", Formats::RESPONSES),
    ("messages", Formats::MESSAGES),
    ("ollama", Formats::OLLAMA),
    ("all", Formats::ALL),
];

pub const SHAPES: &Words<Shapes> = &[
    ("none", Shapes::NONE),
    ("field", Shapes::FIELD),
    ("lists", Shapes::LISTS),
    ("chunks", Shapes::CHUNKS),
    ("content", Shapes::CONTENT),
    ("all", Shapes::ALL),
];

pub const THINKING: &Words<Thinking> =
    &[("keep", Thinking::Keep), ("drop", Thinking::Drop), ("inline", Thinking::Inline)];

pub const RESPONSES_AS: &Words<ResponsesAs> =
    &[("reasoning_text", ResponsesAs::ReasoningText), ("summary", ResponsesAs::Summary)];

pub const COMMENTS: &Words<Comments> =
    &[("keep", Comments::Keep), ("drop", Comments::Drop), ("chunk", Comments::Chunk)];

pub const HISTORY_TURNS: &Words<Turns> =
    &[("all", Turns::All), ("since_user", Turns::SinceUser), ("none", Turns::None)];

pub const HISTORY_MISSING: &Words<Missing> =
    &[("leave", Missing::Leave), ("empty", Missing::Empty), ("remove", Missing::Remove)];

pub const HISTORY_MADE: &Words<Made> = &[("keep", Made::Keep), ("remove", Made::Remove)];

pub const HISTORY_OUTCOME: &Words<Outcome> = &[
    ("read", Outcome::Read),
    ("too_long", Outcome::TooLong),
    ("not_utf8", Outcome::NotUtf8),
    ("not_request", Outcome::NotRequest),
    ("repeated", Outcome::Repeated),
    ("stored", Outcome::Stored),
];
// End of what is generated.

/// Returns the value of a word, or an error that lists the words of this argument.
pub fn find<T: Copy>(argument: &str, word: &str, words: &Words<T>) -> PyResult<T> {
    words.iter().find(|(known, _)| *known == word).map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(known, _)| format!("{known:?}")).collect();
        let (last, others) = known.split_last().expect("an argument has words");
        errors::value(format!("{argument}={word:?} is unknown: write {} or {last}", others.join(", ")))
    })
}

/// An argument that is a word, or several.
pub enum SeveralWords {
    One(String),
    Several(Vec<String>),
}

impl FromPyObject<'_, '_> for SeveralWords {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<SeveralWords> {
        if let Ok(word) = value.cast::<PyString>() {
            return Ok(SeveralWords::One(word.to_str()?.to_owned()));
        }
        let words = value.extract().map_err(|_| errors::wrong_type("a word or a list of words is wanted", &value))?;
        Ok(SeveralWords::Several(words))
    }
}

/// Returns the shapes of these words: none, if the argument is left out.
pub fn shapes(words: Option<&SeveralWords>) -> PyResult<Shapes> {
    let words = match words {
        None => &[],
        Some(SeveralWords::One(word)) => std::slice::from_ref(word),
        Some(SeveralWords::Several(words)) => &words[..],
    };
    words.iter().try_fold(Shapes::NONE, |all, word| Ok(all | find("normalise", word, SHAPES)?))
}

/// Returns the formats of these words: all, if the argument is left out.
pub fn formats(words: Option<&SeveralWords>) -> PyResult<Formats> {
    let words = match words {
        None => return Ok(Formats::default()),
        Some(SeveralWords::One(word)) => std::slice::from_ref(word),
        Some(SeveralWords::Several(words)) => words,
    };
    let formats = words.iter().map(|word| find("formats", word, FORMATS)).collect::<PyResult<Vec<_>>>()?;
    let formats = formats.into_iter().reduce(|all, format| all | format);
    formats.ok_or_else(|| errors::value("formats is empty: name at least one, or leave it out for all"))
}
