//! The fuzz targets as libFuzzer's binaries see them. Their bodies are in `targets`, which the ordinary tests run too.

pub mod targets;

/// Reads the dialects, for which the time of one input may be too short.
pub fn read_dialects() {
    std::sync::LazyLock::force(&targets::scanner::PAIRS);
}

/// Loads the dialects that are built in, for the same reason.
pub fn load_built_in() {
    std::sync::LazyLock::force(&targets::abi::BUILT_IN);
}
