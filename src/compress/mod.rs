//! Tool results made shorter before a model reads them, without hiding the line that matters.
//!
//! A [`Compressor`] has a [`Registry`] of filters and caches. Built-in filters say what they do as edits to a draft
//! (`docs/compress.md` has the order of a call); only `draft` carries edits out, so each
//! byte of a result leads back to its original.
//!
//! Where memory runs out in this half of the library, the process ends.

mod banner;
mod budget;
mod built_in;
mod cache;
mod check;
mod command;
mod compressor;
mod controls;
mod diff;
mod draft;
mod failures;
mod filter;
mod input;
mod keeper;
mod long;
mod marker;
mod minify;
mod paths;
mod patterns;
mod protect;
mod registry;
mod repeats;
mod report;
mod run;
mod shell;
mod stream;
mod terminal;
mod text;
mod tool;

pub use banner::{MIN_COMPRESSIBLE_LENGTH, SWITCH_OFF, format_banner, units};
pub use cache::LastRun;
pub use check::check_filter;
pub use command::Invocation;
pub use compressor::{BudgetError, Call, Compressed, Compressor, MIN_BUDGET, Outcome, Part};
pub use filter::{Cache, Filter, Filtered, Hit};
pub use input::{Input, InputError};
pub use marker::Marker;
pub use protect::{Format, is_protected};
pub use registry::Registry;
pub use report::{Change, Failed, PartReport, Report, SliceError, Stretch};
pub use stream::{MemoryError, Stream};
