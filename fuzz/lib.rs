//! The fuzz targets for libFuzzer's binaries. The code is in `targets`, which the ordinary tests run too.

pub mod targets;

// Not in `targets`, because the library's tests do not have the proxy's crate.
#[path = "targets/proxy.rs"]
pub mod proxy;

// Half of the findings are failed assertions of the library's own.
const _: () = assert!(cfg!(debug_assertions), "build with the profile of this crate");

/// Reads the dialects before the first input, because a single input's time limit may be too short for that.
pub fn read_dialects() {
    std::sync::LazyLock::force(&targets::scanner::PAIRS);
}

/// Loads the dialects for C before the first input, for the same reason.
pub fn load_handles() {
    std::sync::LazyLock::force(&targets::abi::HANDLES);
}
