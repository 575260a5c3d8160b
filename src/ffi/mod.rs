//! The C ABI: thin functions over the crate's own API, and the only unsafe code except the search by vectors. It must not
//! contain any logic: whatever C can do, Rust can.
//!
//! Every entry catches panics or cannot panic, checks its pointers, and takes integers where C has enumerations. The doc
//! comments are those of the headers in `include`, which `tests/header` writes.

#![allow(unsafe_code, non_camel_case_types)]

mod bytes;
mod call_writer;
#[cfg(feature = "compress")]
mod compress;
mod constants;
mod dialect;
mod gate;
mod handle_guard;
mod history;
mod memory;
mod numbers;
mod rewriter;
mod scanner;
mod simple;
mod status;
mod tools;
mod triggers;
mod version;
