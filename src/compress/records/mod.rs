//! Records: the like things of which many results consist. They are elements of JSON, lines of JSON, rows of a table or a log, the
//! files of a diff or a search, sections and blocks. Of many records, one that differs from the others is worth most, so the choice
//! among them is made here once, for all of these forms.

pub mod fields;
pub mod json;
pub mod streams;
pub mod text;
