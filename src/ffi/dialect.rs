//! Dialects for C: finding, loading, listing. The doc comments of this file are comments of `aside.h`.

use std::ptr;
use std::sync::OnceLock;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::memory::{bytes, file_text};
use super::scanner::start_number;
use super::status::{fail, fail_null, fail_with, guard};
use super::types::*;
use crate::{Dialect, Start};

/// A built-in dialect: its name with a NUL behind it, and the handle, made when it is first asked for.
struct BuiltIn {
    name: Vec<u8>,
    handle: OnceLock<aside_dialect>,
}

/// In the order of `Dialect::names`. Never freed, so that its handles stay good.
fn built_in() -> &'static [BuiltIn] {
    static TABLE: OnceLock<Vec<BuiltIn>> = OnceLock::new();
    TABLE.get_or_init(|| {
        Dialect::names().map(|name| BuiltIn { name: with_nul(name), handle: OnceLock::new() }).collect()
    })
}

fn with_nul(name: &str) -> Vec<u8> {
    [name.as_bytes(), b"\0"].concat()
}

fn make(dialect: Dialect, built_in: bool) -> aside_dialect {
    let words = (0..).map_while(|rule| {
        let openers = (0..).map_while(|tag| dialect.opener(rule, tag).map(with_nul));
        Some(Words { family: with_nul(dialect.family(rule)?), openers: openers.collect() })
    });
    aside_dialect { name: with_nul(dialect.name()), words: words.collect(), dialect, built_in }
}

fn find(name: &[u8]) -> Result<&'static aside_dialect, aside_status> {
    let name = String::from_utf8_lossy(name);
    handle(&Dialect::find(&name).map_err(|error| fail_with(ASIDE_ERROR_UNKNOWN, error))?)
}

fn find_for_model(model: &[u8]) -> Result<&'static aside_dialect, aside_status> {
    let model = String::from_utf8_lossy(model);
    handle(&Dialect::find_for_model(&model).map_err(|error| fail_with(ASIDE_ERROR_UNKNOWN, error))?)
}

/// The dialects that fit a template equally well, and where generation starts if that is one.
fn find_for_template(template: &[u8]) -> Result<(Vec<&'static aside_dialect>, Option<Start>), aside_status> {
    match Dialect::find_for_template(&String::from_utf8_lossy(template)) {
        Ok((dialect, start)) => Ok((vec![handle(&dialect)?], Some(start))),
        Err(error) if error.candidates().is_empty() => Err(fail_with(ASIDE_ERROR_UNKNOWN, error)),
        Err(error) => {
            let dialects = error.candidates().iter().map(|name| find(name.as_bytes())).collect::<Result<_, _>>();
            Ok((dialects?, None))
        }
    }
}

/// The handle of a built-in dialect.
fn handle(dialect: &Dialect) -> Result<&'static aside_dialect, aside_status> {
    let place = Dialect::names().position(|name| name == dialect.name());
    let built_in = place.and_then(|place| built_in().get(place)).ok_or_else(|| fail(ASIDE_ERROR_UNKNOWN))?;
    Ok(built_in.handle.get_or_init(|| make(dialect.clone(), true)))
}

fn load(toml: &[u8]) -> Result<Box<aside_dialect>, aside_status> {
    let toml = file_text(toml, ASIDE_ERROR_DIALECT)?;
    let dialect = Dialect::from_toml(toml).map_err(|error| fail_with(ASIDE_ERROR_DIALECT, error))?;
    Ok(Box::new(make(dialect, false)))
}

/// Lends a name that has a NUL behind it.
///
/// # Safety
/// `len` is NULL or may be written.
unsafe fn lend_name(name: &[u8], len: *mut size_t) -> *const c_char {
    if !len.is_null() {
        // SAFETY: the caller's promise; it need not be aligned.
        unsafe { len.write_unaligned(name.len() - 1) };
    }
    name.as_ptr().cast()
}

/// == Dialects ==
///
/// Finds a built-in dialect by its name or an alias of it. `name` has `len` bytes and needs no NUL.
///
/// Returns the dialect, the same pointer each time. It lives as long as the library: never free it. NULL where there is
/// none (`aside_last_status()` is `ASIDE_ERROR_UNKNOWN`, and the message names the nearest ones), or where `name` is
/// NULL.
///
/// Threads: any, at any time. Memory: the first call for a name reads the dialect; if memory runs out there, the
/// process ends.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_find(name: *const c_char, len: size_t) -> *const aside_dialect {
    guard(
        |_| ptr::null(),
        || {
            if name.is_null() {
                fail_null("name");
                return ptr::null();
            }
            // SAFETY: the caller promises `len` bytes.
            match unsafe { bytes(name, len, "name") }.and_then(find) {
                Ok(dialect) => dialect,
                Err(_) => ptr::null(),
            }
        },
    )
}

/// Finds the built-in dialect that a model writes, by the model's name: of a hub, a registry or an interface, or a file's
/// path, in any case (`Qwen/Qwen3-32B-AWQ`, `deepseek-r1:14b`, `openai/gpt-oss-120b:free`). `model` has `len` bytes and
/// needs no NUL.
///
/// Returns as `aside_dialect_find()`. NULL where no dialect is known for the model, or several fit equally well
/// (`aside_last_status()` is `ASIDE_ERROR_UNKNOWN`, and the message says which of both, and names them).
///
/// Threads: any, at any time. Memory: if it runs out here, the process ends.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_find_for_model(model: *const c_char, len: size_t) -> *const aside_dialect {
    guard(
        |_| ptr::null(),
        || {
            if model.is_null() {
                fail_null("model");
                return ptr::null();
            }
            // SAFETY: the caller promises `len` bytes.
            match unsafe { bytes(model, len, "model") }.and_then(find_for_model) {
                Ok(dialect) => dialect,
                Err(_) => ptr::null(),
            }
        },
    )
}

/// Finds the built-in dialects that a chat template (Jinja, UTF-8) is written for, by the markers in its text; it is not
/// run. `text` has `len` bytes and needs no NUL.
///
/// Returns how many dialects fit equally well. 1: it is found, and `*start` becomes an `ASIDE_START_` value: where
/// generation starts behind the template's generation prompt. More: the text does not tell them apart, and `*start` is
/// left alone. 0: it has the markers of none (`aside_last_status()` is `ASIDE_ERROR_UNKNOWN`), or another failure
/// (`ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`).
///
/// The first `capacity` of them, sorted by name, are written to `dialects`; as those of `aside_dialect_find()` they are
/// never freed. `dialects` may be NULL where `capacity` is 0; `start` may be NULL.
///
/// Threads: any, at any time. Memory: if it runs out here, the process ends.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_find_for_template(
    text: *const c_char,
    len: size_t,
    dialects: *mut *const aside_dialect,
    capacity: size_t,
    start: *mut u32,
) -> size_t {
    guard(
        |_| 0,
        || {
            if dialects.is_null() && capacity > 0 {
                fail_null("dialects");
                return 0;
            }
            // SAFETY: the caller promises `len` bytes.
            let Ok((found, begins)) = unsafe { bytes(text, len, "text") }.and_then(find_for_template) else {
                return 0;
            };
            for (index, dialect) in found.iter().take(capacity).enumerate() {
                // SAFETY: the caller promises room for `capacity` of them.
                unsafe { dialects.add(index).write_unaligned(*dialect) };
            }
            if let (Some(begins), false) = (begins, start.is_null()) {
                // SAFETY: not NULL, and the caller promises that it may be written.
                unsafe { start.write_unaligned(start_number(begins)) };
            }
            found.len()
        },
    )
}

/// Makes a dialect from the text of a dialect file (TOML, UTF-8). `toml` has `len` bytes and needs no NUL; it is not
/// used after the call.
///
/// `*out` is the new dialect, which the caller owns: `aside_dialect_free()`. It is written on success only.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_DIALECT` with a message that names line and key; `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_LENGTH`.
///
/// Threads: any, at any time. Memory: if it runs out here, the process ends.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_load(
    toml: *const c_char,
    len: size_t,
    out: *mut *mut aside_dialect,
) -> aside_status {
    guard(
        |status| status,
        || {
            if out.is_null() {
                return fail_null("out");
            }
            // SAFETY: the caller promises `len` bytes.
            match unsafe { bytes(toml, len, "toml") }.and_then(load) {
                Ok(dialect) => {
                    // SAFETY: not NULL, and the caller promises that it may be written.
                    unsafe { out.write_unaligned(Box::into_raw(dialect)) };
                    ASIDE_OK
                }
                Err(status) => status,
            }
        },
    )
}

/// Frees a dialect from `aside_dialect_load()`. Scanners that were made from it go on: they keep what they need. NULL
/// and built-in dialects are left alone.
///
/// Threads: no other thread may be using this handle.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_free(dialect: *mut aside_dialect) {
    guard(
        |_| (),
        || {
            // SAFETY: the caller promises that it is NULL or a dialect that is still there; a loaded one came from a
            // Box, and this call is its last use.
            unsafe {
                if !dialect.is_null() && !(*dialect).built_in {
                    drop(Box::from_raw(dialect));
                }
            }
        },
    )
}

/// The name of a dialect, UTF-8, with a NUL at its end. `*len` becomes its length without the NUL; `len` may be NULL.
///
/// Returns memory of the dialect, good as long as that is. NULL where `dialect` is NULL.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_name(dialect: *const aside_dialect, len: *mut size_t) -> *const c_char {
    // SAFETY: NULL or a dialect that is still there, as the caller promises.
    match unsafe { dialect.as_ref() } {
        // SAFETY: `len` is NULL or may be written, as the caller promises.
        Some(dialect) => unsafe { lend_name(&dialect.name, len) },
        None => {
            fail_null("dialect");
            ptr::null()
        }
    }
}

/// The family of a rule of the dialect, as `ASIDE_OPEN` events number them: what the span or header names in the file
/// as its family, or else the dialect's name. UTF-8, with a NUL at its end. `*len` becomes its length without the NUL;
/// `len` may be NULL.
///
/// Returns memory of the dialect, good as long as that is. NULL where `dialect` is NULL, or where there is no such rule
/// (`aside_last_status()` is `ASIDE_ERROR_RANGE`).
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_family(
    dialect: *const aside_dialect,
    rule: u32,
    len: *mut size_t,
) -> *const c_char {
    // SAFETY: the caller's promises.
    unsafe { lend_word(dialect, rule, |words| Some(&words.family), len) }
}

/// What an `ASIDE_OPEN` event's rule and tag stand for, as the dialect's file has it: the literal, the tag's name, the
/// fence's info string, the beginning of the header (the first one, where a header begins with none). UTF-8, with a NUL
/// at its end. `*len` becomes its length without the NUL; `len` may be NULL.
///
/// Returns memory of the dialect, good as long as that is. NULL where `dialect` is NULL, or where there is no such rule
/// or tag (`aside_last_status()` is `ASIDE_ERROR_RANGE`).
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_opener(
    dialect: *const aside_dialect,
    rule: u32,
    tag: u32,
    len: *mut size_t,
) -> *const c_char {
    // SAFETY: the caller's promises.
    unsafe { lend_word(dialect, rule, |words| words.openers.get(tag as usize), len) }
}

/// Lends a word of a rule.
///
/// # Safety
/// `dialect` is NULL or a dialect that is still there, and `len` is NULL or may be written.
unsafe fn lend_word(
    dialect: *const aside_dialect,
    rule: u32,
    pick: impl FnOnce(&Words) -> Option<&Vec<u8>>,
    len: *mut size_t,
) -> *const c_char {
    // SAFETY: the caller's promise.
    match unsafe { dialect.as_ref() } {
        Some(dialect) => match dialect.words.get(rule as usize).and_then(pick) {
            // SAFETY: the caller's promise.
            Some(word) => unsafe { lend_name(word, len) },
            None => {
                fail(ASIDE_ERROR_RANGE);
                ptr::null()
            }
        },
        None => {
            fail_null("dialect");
            ptr::null()
        }
    }
}

/// The most bytes that a scanner of this dialect holds back for what may come. 0 where `dialect` is NULL.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_max_hold(dialect: *const aside_dialect) -> size_t {
    // SAFETY: NULL or a dialect that is still there, as the caller promises.
    match unsafe { dialect.as_ref() } {
        Some(dialect) => dialect.dialect.max_hold(),
        None => {
            fail_null("dialect");
            0
        }
    }
}

/// How many dialects are built in.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_count() -> size_t {
    guard(|_| 0, || built_in().len())
}

/// The name of the built-in dialect number `index`, sorted, from 0: UTF-8 with a NUL at its end. `*len` becomes its
/// length without the NUL; `len` may be NULL.
///
/// Returns memory that lives as long as the library. NULL where `index` is not below `aside_dialect_count()`.
///
/// Threads: any, at any time.
#[ffi_export]
pub unsafe extern "C" fn aside_dialect_name_at(index: size_t, len: *mut size_t) -> *const c_char {
    guard(
        |_| ptr::null(),
        || match built_in().get(index) {
            // SAFETY: `len` is NULL or may be written, as the caller promises.
            Some(built_in) => unsafe { lend_name(&built_in.name, len) },
            None => {
                fail(ASIDE_ERROR_RANGE);
                ptr::null()
            }
        },
    )
}
