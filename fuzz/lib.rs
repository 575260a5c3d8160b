//! The fuzz targets as libFuzzer's binaries see them. Their bodies are in `targets`, which the ordinary tests run too.

pub mod targets;

// Not among the others, since the library's tests have no proxy.
#[path = "targets/proxy.rs"]
pub mod proxy;

// Half of what is found fails an assertion of the library's own.
const _: () = assert!(cfg!(debug_assertions), "build with the profile of this crate");

/// Reads the dialects, for which the time of one input may be too short.
pub fn read_dialects() {
    std::sync::LazyLock::force(&targets::scanner::PAIRS);
}

/// Loads the dialects for C, for the same reason.
pub fn load_handles() {
    std::sync::LazyLock::force(&targets::abi::HANDLES);
}
