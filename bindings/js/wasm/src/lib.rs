//! The WebAssembly of the JavaScript package and of Go's without cgo: the crate's types as functions of numbers, with texts in
//! linear memory. No logic is here that the crate should have. `ffi.rs` lists the functions; the other sides are `../src/core.js`
//! and `../../go/wasm/engine.go`.

#![deny(unsafe_code)]

#[cfg(feature = "streams")]
mod calls;
#[cfg(feature = "streams")]
mod dialects;
mod failure;
mod ffi;
#[cfg(feature = "streams")]
mod gate;
#[cfg(feature = "streams")]
mod history;
mod host;
#[cfg(feature = "streams")]
mod options;
mod output;
#[cfg(feature = "streams")]
mod rewriters;
#[cfg(feature = "streams")]
mod scanners;
mod slab;
#[cfg(feature = "tools")]
mod tools;
#[cfg(feature = "streams")]
mod whole;
#[cfg(feature = "streams")]
mod words;
