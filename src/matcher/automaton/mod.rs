//! The automaton: a table with which text, including markers, costs one look-up per byte.
//!
//! `table` reads text, with `accel` in states that loop. When a stream first enters a state, `build` fills the state's row with the
//! recogniser's effect of each byte, and `accelerate` finds out whether text loops in it. `config` has the configurations in which
//! a region may begin, `classes` the bytes with the same effect.

mod accel;
mod accelerate;
mod build;
mod classes;
mod config;
mod places;
mod show;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub use config::{Config, Stage};
pub use state::{Exit, Origin, StateInfo};
pub use table::Automaton;
