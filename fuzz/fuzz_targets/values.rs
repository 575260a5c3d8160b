#![no_main]
use std::sync::LazyLock;

use aside_fuzz::targets::values;

libfuzzer_sys::fuzz_target!(init: { LazyLock::force(&values::SUBJECTS) }, |data: &[u8]| values::run(data));
