#![no_main]
use std::sync::LazyLock;

use aside_fuzz::{read_dialects, targets::events};

libfuzzer_sys::fuzz_target!(init: { read_dialects(); LazyLock::force(&events::PIECES) }, |data: &[u8]| events::run(data));
