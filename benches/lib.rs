//! Code for all benches: the texts, the ways to feed them, and the timing.

pub mod calls;
pub mod frames;
pub mod logs;
pub mod many;
pub mod openers;
pub mod timing;
pub mod ways;
pub mod workloads;
