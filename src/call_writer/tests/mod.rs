//! The writer as a whole.

mod differential;
mod linear;
mod rules;
mod table;
mod told;
