//! What the benches share: the texts that they feed, and the ways to feed them.

pub mod logs;
mod random;
pub mod ways;
pub mod workloads;
