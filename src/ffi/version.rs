//! The version of the library, which a program checks, so that it never runs with an incompatible library.

use libc::c_char;

/// The version of the binary interface that this header describes; compare with `aside_abi_version()`.
pub const ASIDE_ABI_VERSION: u32 = 1;

/// Returns the version of the loaded library, "MAJOR.MINOR.PATCH" with a NUL at its end, valid as long as the library.
/// `ASIDE_VERSION` is the version of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the version of the library's binary interface. A program fits the library if the version is `ASIDE_ABI_VERSION`:
/// the version grows only when an existing part of the interface changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_abi_version() -> u32 {
    ASIDE_ABI_VERSION
}

/// Does nothing; its name contains the version. A program that calls it, as `ASIDE_VERSION_SYMBOL`, does not link with a library
/// that is older than this header, because such a library has no function of that name. `aside.hpp` calls it. Later libraries with
/// the same binary interface keep it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_version_0_1_0() {}

/// Returns the version of `aside_unstable.h`. It grows with each change of that header that a program could notice. The version
/// that this header describes is 1.
#[unsafe(no_mangle)]
pub extern "C" fn aside_unstable_version() -> u32 {
    1
}
