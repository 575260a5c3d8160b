//! Options that are words: the allowed words, and the crate's value for each. The package's declarations list the same words.

use aside::answer::{ImpliedEnd, NotWhole, Thinking, UnknownTool};
use aside::history::{Made, Missing, Outcome, Turns};
use aside::sse::{Body, Comments, Field, Formats, ResponsesAs, Shapes};
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

/// Returns the value of a word, or an error that lists the words of this option.
pub fn find<T: Copy>(option: &str, word: &str, words: &Words<T>) -> Result<T, Failure> {
    Ok(words[place(option, word, &mut words.iter().map(|&(known, _)| known))?].1)
}

/// Returns the place of a word among the words of an option. It is compiled once for all.
fn place(option: &str, word: &str, words: &mut dyn Iterator<Item = &'static str>) -> Result<usize, Failure> {
    let words: Vec<_> = words.collect();
    if let Some(place) = words.iter().position(|known| *known == word) {
        return Ok(place);
    }
    let known: Vec<_> = words.iter().map(|known| format!("{known:?}")).collect();
    let (last, others) = known.split_last().expect("an option has words");
    Err(Failure::value(format!("{option}: {word:?} is unknown: write {} or {last}", others.join(", "))))
}

/// Returns the shapes that these words, separated by commas, name.
pub fn shapes(words: &str) -> Result<Shapes, Failure> {
    let words = words.split(',').filter(|word| !word.is_empty());
    words.into_iter().try_fold(Shapes::NONE, |all, word| Ok(all | find("normalise", word, SHAPES)?))
}

/// Returns the formats that these words, separated by commas, name: all formats, if there is no word.
pub fn formats(words: &str) -> Result<Formats, Failure> {
    if words.is_empty() {
        return Ok(Formats::default());
    }
    let formats = words.split(',').map(|word| find("formats", word, FORMATS)).collect::<Result<Vec<_>, _>>()?;
    Ok(formats.into_iter().reduce(|all, format| all | format).unwrap_or_default())
}
