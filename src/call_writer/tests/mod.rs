//! The writer as a whole.

mod client;
mod differential;
mod linear;
mod rules;
mod table;
