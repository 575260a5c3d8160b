//! How bytes become markers.

pub mod automaton;
pub mod bytes;
pub mod code;
mod finder;
pub mod grammar;
pub mod recogniser;

pub use automaton::Automaton;
