//! The writer as a whole.

mod differential;
mod table;
mod told;
