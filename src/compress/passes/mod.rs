//! The built-in filters. Each reads a text and returns edits, under a promise that its caller checks. A filter must neither write
//! a result itself nor depend on the order of the other filters.

pub mod budget;
pub mod built_in;
pub mod file_filter;
pub mod json_records;
pub mod long_lines;
pub mod minify;
pub mod pass;
pub mod passed_records;
pub mod paths;
pub mod region_order;
pub mod repeats;
pub mod screen;
pub mod selection;
pub mod terminal;
pub mod utf16;
mod watch;
