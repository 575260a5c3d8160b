#![no_main]
use aside_fuzz::targets::scanner::{PAIRS, run};
use std::sync::LazyLock;

libfuzzer_sys::fuzz_target!(
    // Before the first input, whose time is limited.
    init: {
        LazyLock::force(&PAIRS);
    },
    |data: &[u8]| run(data)
);
