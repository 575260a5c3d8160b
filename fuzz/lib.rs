//! The fuzz targets as libFuzzer's binaries see them. Their bodies are in `targets`, which the ordinary tests run too.

/// Where the project is.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[path = "../tests/reference/mod.rs"]
mod reference;
#[path = "../tests/support/mod.rs"]
mod support;
pub mod targets;

/// Reads the dialects, for which the time of one input may be too short.
pub fn read_dialects() {
    std::sync::LazyLock::force(&targets::scanner::PAIRS);
}

/// Loads the dialects that are built in, for the same reason.
pub fn load_built_in() {
    std::sync::LazyLock::force(&targets::abi::BUILT_IN);
}
