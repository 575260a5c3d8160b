//! Records: the similar items of which many results consist, such as elements of JSON, lines of JSON, rows of a table or a log,
//! the files of a diff or a search, sections and blocks. A record that differs from the others is the most informative. This
//! folder chooses among records, for all of these forms.

pub mod fields;
pub mod json;
pub mod streams;
pub mod text;
