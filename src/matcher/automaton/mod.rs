//! The automaton: a table in which text costs one look per byte, markers included.
//!
//! `build` fills the table by asking the recogniser for the effect of each byte in each state; `config` says in which states a
//! region begins, `classes` which bytes are alike, and `accelerate` where text loops. `table` reads, with `accel` where text
//! loops.

mod accel;
mod accelerate;
mod build;
mod classes;
mod config;
mod show;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub use config::{Config, Stage};
pub use state::{Exit, Origin, StateId, StateInfo};
pub use table::Automaton;
