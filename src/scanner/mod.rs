//! The scanner, which splits a stream by a compiled dialect. It must not depend on TOML or the C interface.
//!
//! `stream` and `feed` are its interface, and `engine` is its state. `advance` feeds the parts of a chunk that do not complete
//! a marker; inside the body of a tool span, `pieces` does that. All other parts are read by a `pull`, which returns one event
//! after the other (`events`): it finds the next marker (`read`) and reports it (`report`). Both work on the `window` of bytes
//! that are in no event yet. `pending` is the work that a pull leaves to the next pull. `hold`, `spans` and `ledger` each own
//! one part of the stream's state.

mod advance;
mod attributes;
mod calls;
mod chunk;
mod counts;
mod engine;
mod error;
mod event;
mod events;
#[cfg(test)]
mod explored;
mod feed;
mod hold;
mod ledger;
mod optional;
mod options;
mod pending;
mod pieces;
mod pull;
mod read;
mod report;
mod spans;
mod stream;
mod strip;
#[cfg(test)]
mod tests;
mod text_spans;
mod thoughts;
mod window;

pub use chunk::Token;
pub use counts::{Budget, BudgetScope, BudgetUnit, Counts};
pub use error::Error;
pub use event::{Attribute, Cause, Event, Kind};
pub use events::Events;
pub use options::{CallsInThinking, EndReason, LeadingTags, ScannerOptions, StrayClose};
pub use stream::Scanner;
pub use text_spans::TextSpan;
pub(crate) use text_spans::reclassified;
pub use thoughts::Thought;

#[cfg(feature = "c-api")]
pub(crate) use advance::{Part, Take};
pub(crate) use chunk::check_lengths;
#[cfg(feature = "c-api")]
pub(crate) use engine::SHORT;
