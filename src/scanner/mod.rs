//! The scanner: feed and finish over a compiled dialect. It must know neither TOML nor the C interface.
//!
//! `stream` and `feed` are its interface, and `engine` is its memory of the stream. A chunk goes up the ladder (`advance`),
//! which feeds the parts that do not complete a marker; inside the body of a tool span `pieces` does. All other chunks are
//! taken apart by a `pull`, which returns one event after the other (`events`): it reads on to the next marker (`read`) and
//! reports it (`report`). Both work on the `window` of bytes that are in no event yet. The work that a pull leaves to the next
//! one is `pending`. `hold`, `spans` and `ledger` each own one part of the stream's state.

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
#[cfg(feature = "c-api")]
pub(crate) use chunk::check_lengths;
#[cfg(feature = "c-api")]
pub(crate) use engine::SHORT;
