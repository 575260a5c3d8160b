#![no_main]
use aside_fuzz::targets::{events, scanner::PAIRS};
use std::sync::LazyLock;

libfuzzer_sys::fuzz_target!(
    // Before the first input, whose time is limited.
    init: {
        LazyLock::force(&PAIRS);
    },
    |data: &[u8]| events::run(data)
);
