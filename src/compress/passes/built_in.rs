//! The list of built-in filters, in the order of their registration. A filter that is not in this list never runs.

use super::{
    budget::Budget,
    file_filter,
    json_records::JsonRecords,
    long_lines::LongLines,
    minify::MinifyJson,
    pass::{Pass, Stage},
    passed_records::PassedRecords,
    paths::Paths,
    repeats::{Repeats, RepeatsAbove},
    terminal::{TERMINAL, Terminal},
    utf16::{UTF16, Utf16},
};

/// Returns the filters for texts of any tool, followed by the filters of `filters/`.
pub fn all() -> impl Iterator<Item = Box<dyn Pass>> {
    general().into_iter().chain(file_filter::built_in())
}

/// Returns the filters that run before the filters for one tool.
pub fn before_tools() -> impl Iterator<Item = Box<dyn Pass>> {
    general().into_iter().filter(|pass| pass.stage() == Stage::Terminal)
}

/// Returns the filter that minifies JSON, which runs only if a host asks for it. No other filter changes text that is protected
/// as JSON.
pub fn minify_json() -> Box<dyn Pass> {
    Box::new(MinifyJson)
}

/// Returns whether the filters with these ids only show a text as a reader would see it: decoded, or as on a terminal.
pub fn hides_nothing(ids: &[&str]) -> bool {
    !ids.is_empty() && ids.iter().all(|id| [UTF16, TERMINAL].contains(id))
}

fn general() -> Vec<Box<dyn Pass>> {
    vec![
        Box::new(Utf16),
        Box::new(Terminal),
        Box::new(Repeats),
        Box::new(RepeatsAbove),
        Box::new(LongLines),
        Box::new(Paths),
        Box::new(PassedRecords),
        Box::new(JsonRecords),
        Box::new(Budget),
    ]
}
