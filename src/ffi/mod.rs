//! The C ABI: thin functions over the crate's own API, and the only unsafe code except for the search with vector instructions. It
//! must not contain any logic: whatever C can do, Rust can.
//!
//! Every entry catches panics or cannot panic, checks its pointers, and takes integers where C has enumerations. `tests/header`
//! writes the doc comments into the headers in `include`.

#![allow(unsafe_code, non_camel_case_types)]

mod answer;
mod bytes;
#[cfg(feature = "compress")]
mod compress;
mod constants;
mod dialect;
mod gate;
mod grammar;
mod handle_guard;
mod history;
mod memory;
mod numbers;
mod rewriter;
mod scanner;
mod simple;
mod status;
mod tools;
mod version;
