//! Code that the benches share: the texts that they feed, the ways to feed them, and how they are timed.

pub mod calls;
pub mod frames;
pub mod logs;
pub mod many;
pub mod openers;
pub mod timing;
pub mod ways;
pub mod workloads;
