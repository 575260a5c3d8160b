#![no_main]
use aside_fuzz::{read_dialects, targets::events};

libfuzzer_sys::fuzz_target!(init: { read_dialects() }, |data: &[u8]| events::run(data));
