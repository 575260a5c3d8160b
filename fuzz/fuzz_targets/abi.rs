#![no_main]
use aside_fuzz::{load_built_in, read_dialects, targets::abi};

libfuzzer_sys::fuzz_target!(init: { read_dialects(); load_built_in() }, |data: &[u8]| abi::run(data));
