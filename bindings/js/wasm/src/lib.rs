//! The WebAssembly of the JavaScript package and of the Go module without cgo: functions that take numbers instead of the crate's
//! types, with texts in linear memory. This crate has no logic that belongs in the library. `ffi.rs` lists the functions; their
//! callers are `../src/core.js` and `../../go/wasm/engine.go`.

#![deny(unsafe_code)]

#[cfg(feature = "streams")]
mod answers;
mod arguments;
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
#[cfg(feature = "streams")]
mod texts;
#[cfg(feature = "tools")]
mod tools;
#[cfg(feature = "streams")]
mod whole;
#[cfg(feature = "streams")]
mod words;
