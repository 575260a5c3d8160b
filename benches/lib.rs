//! What the benches share: the texts that they feed, and the ways to feed them.

pub mod logs;
#[path = "../tests/support/random.rs"]
mod random;
pub mod ways;
pub mod workloads;
