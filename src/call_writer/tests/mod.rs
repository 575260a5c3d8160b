//! The writer as a whole.

mod differential;
mod rules;
mod table;
mod told;
