//! Registries of filters and caches. A compressor copies the registry
//! that it is made from, so that compressors need no lock.

use std::ptr;

use libc::{c_char, size_t};

use super::host::{HostCache, HostFilter, Owner, aside_cache, aside_filter, ids};
use crate::compress::{LastRun, Registry};
use crate::ffi::constants::*;
use crate::ffi::handle_guard::{HandleGuard, is_ready};
use crate::ffi::memory::{bytes, file_text, free, into_handle, read_sized};
use crate::ffi::status::{fail_no_handle, fail_null, fail_with, guard, guard_handle};

/// Filters and caches for compressors. From `aside_registry_new()`; freed by `aside_registry_free()`.
pub struct aside_registry {
    pub(super) guard: HandleGuard<Registry>,
}

/// Makes a registry with every built-in filter (`built_in` 1), or with nothing (0). It has no cache.
///
/// Returns a registry that the caller owns: `aside_registry_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_OPTION` (`built_in` is neither 0 nor 1) or `ASIDE_ERROR_MEMORY`.
///
/// Threads: any thread may call this at any time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_registry_new(built_in: u32) -> *mut aside_registry {
    guard_handle(|| {
        let registry = match built_in {
            0 => Registry::empty(),
            1 => Registry::new(),
            _ => {
                fail_with(ASIDE_ERROR_OPTION, "built_in is neither 0 nor 1");
                return ptr::null_mut();
            }
        };
        into_handle(aside_registry { guard: HandleGuard::new(registry) })
    })
}

/// Frees a registry. Does nothing for NULL. Compressors that were made from it remain usable.
///
/// Threads: no other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_registry_free(registry: *mut aside_registry) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(registry, |registry| registry.guard.close()) }
}

/// Changes a registry.
///
/// # Safety
/// `registry` is NULL or valid.
unsafe fn change(registry: *mut aside_registry, body: impl FnOnce(&mut Registry) -> aside_status) -> aside_status {
    // SAFETY: the caller's promise; only calls that have entered use the registry.
    unsafe {
        match registry.as_ref() {
            Some(registry) => registry.guard.enter(is_ready, body),
            None => fail_no_handle("registry"),
        }
    }
}

/// Reads a filter file's text.
///
/// # Safety
/// The same as for `bytes`.
unsafe fn filter_file<'a>(toml: *const c_char, len: size_t) -> Result<&'a str, aside_status> {
    // SAFETY: the caller meets this function's conditions.
    file_text(unsafe { bytes(toml, len, "toml") }?, ASIDE_ERROR_FILTER)
}

/// Adds a filter from the text of a filter file (TOML, UTF-8). It replaces a filter with the same id. Its tests are read but not
/// run: the program runs them (`aside check FILE`).
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_FILTER` with a message that names the line and the key; `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_registry_add_toml(
    registry: *mut aside_registry,
    toml: *const c_char,
    len: size_t,
) -> aside_status {
    // SAFETY: the caller promises `len` bytes, and a registry that is NULL or valid.
    unsafe {
        match filter_file(toml, len) {
            Ok(toml) => change(registry, |registry| match registry.add_toml(toml) {
                Ok(()) => ASIDE_OK,
                Err(error) => fail_with(ASIDE_ERROR_FILTER, error),
            }),
            Err(status) => status,
        }
    }
}

/// Adds a filter of the host. It replaces a filter with the same id. `*filter` and its texts are not used after the call; the
/// callbacks and `user` are used until `release` is called.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_OPTION` for a text that is not UTF-8 or an id that is not allowed;
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`. After a
/// failure `release` is not called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_registry_add_filter(
    registry: *mut aside_registry,
    filter: *const aside_filter,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises a struct as large as it says, texts that are valid, and a registry that is NULL or valid.
            unsafe {
                let host = match read_sized(filter, "filter") {
                    Ok(host) => host,
                    Err(status) => return status,
                };
                let Some(apply) = host.apply else { return fail_null("filter->apply") };
                let (id, tool_ids) = match ids(host.id, host.tool_ids, host.tool_id_count, "filter->tool_ids") {
                    Ok(ids) => ids,
                    Err(status) => return status,
                };
                change(registry, |registry| {
                    let owner = Owner { user: host.user, release: host.release };
                    registry.add_filter(Box::new(HostFilter { id, tool_ids, matches: host.matches, apply, owner }));
                    ASIDE_OK
                })
            }
        },
    )
}

/// Adds a cache of the host. It replaces a cache with the same id. Lifetimes and results are those of
/// `aside_registry_add_filter()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_registry_add_cache(
    registry: *mut aside_registry,
    cache: *const aside_cache,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises a struct as large as it says, texts that are valid, and a registry that is NULL or valid.
            unsafe {
                let host = match read_sized(cache, "cache") {
                    Ok(host) => host,
                    Err(status) => return status,
                };
                let (Some(lookup), Some(record)) = (host.lookup, host.record) else {
                    return fail_null("cache->lookup or cache->record");
                };
                let (id, tool_ids) = match ids(host.id, host.tool_ids, host.tool_id_count, "cache->tool_ids") {
                    Ok(ids) => ids,
                    Err(status) => return status,
                };
                change(registry, |registry| {
                    let owner = Owner { user: host.user, release: host.release };
                    let observe = host.observe;
                    registry.add_cache(Box::new(HostCache { id, tool_ids, observe, lookup, record, owner }));
                    ASIDE_OK
                })
            }
        },
    )
}

/// Adds the library's own cache, `last-run`: the last result of each invocation, in at most `size` bytes. The size of an entry is
/// that of its tool id, input and text, plus 256 bytes. The oldest entries are dropped to make room.
///
/// Returns `ASIDE_OK`, or `ASIDE_ERROR_NULL`, `ASIDE_ERROR_BUSY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_registry_add_last_run(registry: *mut aside_registry, size: size_t) -> aside_status {
    // SAFETY: the caller promises a registry that is NULL or valid.
    unsafe {
        change(registry, |registry| {
            registry.add_cache(Box::new(LastRun::new(size)));
            ASIDE_OK
        })
    }
}

/// Adds the filter `minify-json`, the only filter that changes protected text.
///
/// Returns the same as `aside_registry_add_last_run()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_registry_minify_json(registry: *mut aside_registry) -> aside_status {
    // SAFETY: the caller promises a registry that is NULL or valid.
    unsafe {
        change(registry, |registry| {
            registry.minify_json();
            ASIDE_OK
        })
    }
}
