//! Splits a language model's output, as it streams, into thinking, content, narration and tool calls; and makes what tools
//! print shorter before a model reads it.

#![deny(unsafe_code, missing_docs)]

mod calls;
mod channel;
#[cfg(feature = "compress")]
pub mod compress;
mod dialect;
mod distance;
mod ffi;
mod file_error;
mod join;
mod matcher;
mod scanner;
pub mod sse;
mod tables_only;
mod template;
mod utf8;

pub use channel::{Channel, Start, UnknownStart};
pub use dialect::{Dialect, KnownModel, UnknownDialect, UnknownModel};
pub use file_error::FileError;
pub use join::{JoinError, JoinOptions, OnMarker};
pub use scanner::{
    Attribute, Budget, BudgetScope, BudgetUnit, Cause, Counts, Error, Event, Events, Kind, Options, Scanner,
    StrayClose, Thought, Token,
};
pub use template::UnknownTemplate;
