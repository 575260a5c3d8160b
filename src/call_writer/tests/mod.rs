//! Tests of the whole writer.

mod client;
mod differential;
mod linear;
mod rules;
mod table;
