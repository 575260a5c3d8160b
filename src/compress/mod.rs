//! Shortens tool results before a model reads them, without hiding the line that matters.
//!
//! A [`Compressor`] has a [`Registry`] of filters and caches. Built-in filters return their changes as edits, which are checked and
//! then carried out in one place, so that each byte of a result can be traced back to the original (`docs/compress.md` describes
//! the order of the steps).
//!
//! If memory runs out in this half of the library, the process ends.

mod compressor;
mod invocation;
mod lines;
mod passes;
mod pipeline;
mod records;
mod stream;
mod text;
mod windows;

pub use compressor::{BudgetError, Compressor, MIN_BUDGET, MIN_BUDGET_TOKENS};
pub use invocation::{
    Invocation,
    command::Command,
    input::{Input, InputError},
};
pub use lines::protect::{Format, is_protected};
pub use pipeline::{
    file_tests::check_filter,
    host::{Cache, Filter, Filtered, Hit},
    last_run::LastRun,
    parts::{Compressed, Outcome, Part},
    registry::Registry,
    report::{Change, Failed, PartReport, Report, SliceError, Stretch},
};
pub use stream::{MemoryError, ToolStream};
pub use text::{
    banner::{SWITCH_OFF, format_banner},
    length::{MIN_COMPRESSIBLE_LENGTH, units},
    marker::{Marker, Place},
    tokens::estimated_tokens,
};
