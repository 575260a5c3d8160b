//! Options that are words: the words that are allowed, and the value of the crate that each one means. The declarations of the
//! package have the same words.

use aside::call_writer::{ImpliedEnd, NotWhole, UnknownTool};
use aside::history::{Made, Missing, Outcome, Turns};
use aside::sse::{Body, Comments, Field, Formats, ResponsesAs, Shapes, Thinking};
use aside::{BudgetScope, BudgetUnit, CallsInThinking, EndReason, LeadingTags, Markers, StrayClose};

use crate::failure::Failure;

/// The words of an option, and their values.
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

pub const THINKING: &Words<Thinking> = &[("keep", Thinking::Keep), ("drop", Thinking::Drop)];

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

/// Returns the value of a word, or an error that lists the words of this option.
pub fn find<T: Copy>(option: &str, word: &str, words: &Words<T>) -> Result<T, Failure> {
    let found = words.iter().find(|(known, _)| *known == word).map(|&(_, value)| value);
    found.ok_or_else(|| unknown(option, word, &mut words.iter().map(|&(known, _)| known)))
}

/// Lists the words of an option. It is compiled once for all.
fn unknown(option: &str, word: &str, words: &mut dyn Iterator<Item = &'static str>) -> Failure {
    let known: Vec<_> = words.map(|known| format!("{known:?}")).collect();
    let (last, others) = known.split_last().expect("an option has words");
    Failure::value(format!("{option}: {word:?} is unknown: write {} or {last}", others.join(", ")))
}

/// Returns the shapes of these words, between commas.
pub fn shapes(words: &str) -> Result<Shapes, Failure> {
    let words = words.split(',').filter(|word| !word.is_empty());
    words.into_iter().try_fold(Shapes::NONE, |all, word| Ok(all | find("normalise", word, SHAPES)?))
}

/// Returns the formats of these words, between commas: all, if there is none.
pub fn formats(words: &str) -> Result<Formats, Failure> {
    if words.is_empty() {
        return Ok(Formats::default());
    }
    let formats = words.split(',').map(|word| find("formats", word, FORMATS)).collect::<Result<Vec<_>, _>>()?;
    Ok(formats.into_iter().reduce(|all, format| all | format).unwrap_or_default())
}
