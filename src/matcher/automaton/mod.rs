//! The automaton: a table with which text, including markers, costs one look-up per byte.
//!
//! `build` fills the table with the recogniser's effect of each byte in each state; `config` finds the states in which a region
//! begins, `classes` the bytes with the same effect, and `accelerate` the states in which text loops. `table` reads text, with
//! `accel` in states that loop.

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
