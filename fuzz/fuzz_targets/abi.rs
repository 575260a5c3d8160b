#![no_main]
use aside_fuzz::{load_handles, read_dialects, targets::abi};

libfuzzer_sys::fuzz_target!(init: { read_dialects(); load_handles() }, |data: &[u8]| abi::run(data));
