//! The definition of right results: applies a dialect to a whole text with the plainest possible code. Tests compare the
//! library with it.
//!
//! The reference is written only from the specification, and reads the dialect's file itself. It must share no code with the
//! library that it judges, so this crate does not depend on `aside`. It may be slow: it has the whole text, and may read each
//! byte many times.

mod calls;
mod code;
mod events;
mod file;
mod markers;
mod prompt;
mod read;

pub use events::{
    Call, END, Event, FORCED, IMPLIED, MALFORMED, MARKER, Part, Thought, What, attributes, blank, causes, channel,
    joined, joined_with_calls, texts, thoughts, trimmed,
};
pub use file::{
    Call as CallTable, CallFraming, CallId, Dialect, Dropped, DroppedTable, Example, ExampleCall, ExampleThought,
    Framing, Header, ModelPattern, Route, Span, StartedPattern, Tag, ThoughtKeys, Torn, Values, all, find,
};
pub use markers::Stray;
pub use prompt::{own_turn, read_behind};
pub use read::{
    Options, events, events_with, read, read_ended, read_tokens, read_tokens_with_calls, read_with_calls,
    read_with_stray,
};
