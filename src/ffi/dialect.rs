//! Dialects for C: finding, loading, listing. A built-in dialect is never freed, so no host needs to count its uses.

use std::sync::OnceLock;
use std::{iter, ptr};

use libc::{c_char, size_t};

use super::constants::*;
use super::memory::{Versioned, bytes, file_text, fill_sized, layout, read_sized, try_box};
use super::status::{fail, fail_no_handle, fail_null, fail_unknown_model, fail_with, guard, guard_handle};
use crate::memory::{self, push};
use crate::{Dialect, FileError, Start, dialect};

/// A dialect, which defines the byte sequences that are markers, and their effect. It never changes. From
/// `aside_dialect_find()` (built in: never freed) or `aside_dialect_load()` (freed by `aside_dialect_free()`).
pub struct aside_dialect {
    pub(super) dialect: crate::Dialect,
    /// The name, with a NUL at its end, like the labels.
    name: Vec<u8>,
    labels: Vec<RuleLabels>,
    built_in: bool,
}

/// The labels of one rule: its family, and the texts of its tags.
struct RuleLabels {
    family: Vec<u8>,
    openers: Vec<Vec<u8>>,
}

/// The handles of the built-in dialects, in the order of `Dialect::names`: one for each dialect and start, made at the first
/// request for it, and never freed.
static HANDLES: [[OnceLock<aside_dialect>; STARTS]; dialect::COUNT] =
    [const { [const { OnceLock::new() }; STARTS] }; dialect::COUNT];

/// The number of starts that a dialect may have.
const STARTS: usize = ASIDE_START_HEADER as usize + 1;

fn with_nul(name: &str) -> memory::Result<Vec<u8>> {
    let mut text = Vec::new();
    text.try_reserve_exact(name.len() + 1)?;
    text.extend_from_slice(name.as_bytes());
    text.push(0);
    Ok(text)
}

fn make(dialect: Dialect, built_in: bool) -> memory::Result<aside_dialect> {
    let mut labels = Vec::new();
    for rule in 0.. {
        let Some(family) = dialect.family(rule) else { break };
        let mut openers = Vec::new();
        for tag in 0.. {
            let Some(opener) = dialect.opener(rule, tag) else { break };
            push(&mut openers, with_nul(opener)?)?;
        }
        push(&mut labels, RuleLabels { family: with_nul(family)?, openers })?;
    }
    Ok(aside_dialect { name: with_nul(dialect.name())?, labels, dialect, built_in })
}

pub(super) fn find(name: &[u8]) -> Result<&'static aside_dialect, aside_status> {
    handle(place_of(name)?, None)
}

/// Returns the place of a built-in dialect in `Dialect::names`.
fn place_of(name: &[u8]) -> Result<usize, aside_status> {
    dialect::find(name).map_err(|error| fail_with(ASIDE_ERROR_UNKNOWN, error))
}

fn find_for_model(model: &[u8]) -> Result<&'static aside_dialect, aside_status> {
    let (place, start) = dialect::find_for_model(model).map_err(fail_unknown_model)?;
    handle(place, start)
}

/// Loads a built-in dialect and makes all its handles that a search can return.
fn preload(name: &[u8]) -> Result<(), aside_status> {
    let place = place_of(name)?;
    let starts = dialect::starts(place).map(Some);
    iter::once(None).chain(starts).try_for_each(|start| handle(place, start).map(|_| ()))
}

/// Finds the dialect of a template, and fills the caller's match.
///
/// # Safety
/// `found` is NULL or as large as its size says, and its `dialects` has room for `capacity` dialects.
unsafe fn find_for_template(
    template: &[u8],
    found: *mut aside_template_match,
) -> Result<&'static aside_dialect, aside_status> {
    let given = match found.is_null() {
        true => None,
        // SAFETY: the caller meets this function's conditions, and the struct is made of plain numbers and a pointer that may be
        // NULL.
        false => Some(unsafe { read_sized(found, "found") }?),
    };
    if given.is_some_and(|given| given.reserved != 0) {
        return Err(fail_with(ASIDE_ERROR_OPTION, "found->reserved is not 0"));
    }
    if given.is_some_and(|given| given.dialects.is_null() && given.capacity > 0) {
        return Err(fail_null("found->dialects"));
    }
    let write = |index: usize, dialect: &'static aside_dialect| match given {
        // SAFETY: not NULL, and the caller promises room for `capacity` of them; they need not be aligned.
        Some(given) if index < given.capacity => unsafe { given.dialects.add(index).write_unaligned(dialect) },
        _ => {}
    };
    let report = |count: usize, start: aside_start| {
        if let Some(given) = given {
            // SAFETY: the caller promises that it may be written as far as its size says.
            unsafe { fill_sized(found, given.size, aside_template_match { count, start, ..given }) };
        }
    };
    match Dialect::find_for_template(&memory::lossy(template).map_err(|_| fail(ASIDE_ERROR_MEMORY))?) {
        Ok((dialect, start)) => {
            let dialect = find(dialect.name().as_bytes())?;
            write(0, dialect);
            report(1, Some(start).to_number());
            Ok(dialect)
        }
        Err(error) if error.is_out_of_memory() => Err(fail(ASIDE_ERROR_MEMORY)),
        Err(error) if error.candidates().is_empty() => Err(fail_with(ASIDE_ERROR_UNKNOWN, error)),
        Err(error) => {
            for (index, name) in error.candidates().iter().enumerate() {
                write(index, find(name.as_bytes())?);
            }
            report(error.candidates().len(), ASIDE_START_DEFAULT);
            Err(fail_with(ASIDE_ERROR_AMBIGUOUS, error))
        }
    }
}

/// Returns the handle of the built-in dialect at a place of `Dialect::names`, with this start, or the dialect's own start for
/// None.
#[inline]
fn handle(place: usize, start: Option<Start>) -> Result<&'static aside_dialect, aside_status> {
    let handle = &HANDLES[place][Some(Dialect::built_in_start(place, start)).to_number() as usize];
    handle.get().map_or_else(|| make_handle(place, start, handle), Ok)
}

#[cold]
fn make_handle(
    place: usize,
    start: Option<Start>,
    handle: &'static OnceLock<aside_dialect>,
) -> Result<&'static aside_dialect, aside_status> {
    let made = make(Dialect::built_in(place, start), true).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    // If another thread was first, its handle is returned, which is equal.
    Ok(handle.get_or_init(|| made))
}

/// Makes the handle of a dialect from a file's text, which `read` parses.
fn load(file: &[u8], read: fn(&str) -> Result<Dialect, FileError>) -> Result<Box<aside_dialect>, aside_status> {
    let text = file_text(file, ASIDE_ERROR_DIALECT)?;
    let dialect = read(text).map_err(|error| fail_with(ASIDE_ERROR_DIALECT, error))?;
    let made = make(dialect, false).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    try_box(made).ok_or_else(|| fail(ASIDE_ERROR_MEMORY))
}

/// Returns a name in C's form. It ends with a NUL, which `*len` does not count.
///
/// # Safety
/// `len` is NULL or may be written.
pub(super) unsafe fn c_name_of(name: &[u8], len: *mut size_t) -> *const c_char {
    if !len.is_null() {
        // SAFETY: the caller's promise; it need not be aligned.
        unsafe { len.write_unaligned(name.len() - 1) };
    }
    name.as_ptr().cast()
}

/// Finds a built-in dialect by its name or an alias. `name` has `len` bytes and needs no NUL.
///
/// Returns the dialect, the same pointer each time. It lives as long as the library: never free it. NULL if there is
/// none (`aside_last_status()` is `ASIDE_ERROR_UNKNOWN`, and the message names the nearest ones), if `name` is NULL, or
/// if there is no memory for the handle (`ASIDE_ERROR_MEMORY`).
///
/// Memory: the first call for a dialect loads it; if memory runs out while it is loaded, the process ends. A dialect that
/// `aside_dialect_preload()` has loaded needs no memory, and neither does an unknown name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_find(name: *const c_char, len: size_t) -> *const aside_dialect {
    guard_handle(|| {
        if name.is_null() {
            fail_null("name");
            return ptr::null_mut();
        }
        // SAFETY: the caller promises `len` bytes.
        match unsafe { bytes(name, len, "name") }.and_then(find) {
            Ok(dialect) => ptr::from_ref(dialect).cast_mut(),
            Err(_) => ptr::null_mut(),
        }
    })
    .cast_const()
}

/// Finds the built-in dialect that a model writes, by the model's name: on a hub, in a registry or an interface, or a
/// file's path, in upper or lower case (`Qwen/Qwen3-32B-AWQ`, `deepseek-r1:14b`, `openai/gpt-oss-120b:free`). `model`
/// has `len` bytes and needs no NUL.
///
/// Returns the same as `aside_dialect_find()`. If the start of this model differs from the dialect's own, because its prompt opens
/// the thinking or does not, this handle differs from the one that `aside_dialect_find()` returns: scanners that are made from it
/// have the model's start. `aside_dialect_start()` returns that start. For a model that writes tool calls and no thinking, the
/// dialect of the calls is found.
///
/// Returns NULL if no dialect is known for the model, or several fit equally well (`aside_last_status()` is
/// `ASIDE_ERROR_UNKNOWN`). The message then names the dialects that fit, or the nearest known models with their dialects,
/// or says that the model is known to write no thinking in its text, and no dialect of its calls is known.
///
/// Memory: the same as for `aside_dialect_find()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_find_for_model(model: *const c_char, len: size_t) -> *const aside_dialect {
    guard_handle(|| {
        if model.is_null() {
            fail_null("model");
            return ptr::null_mut();
        }
        // SAFETY: the caller promises `len` bytes.
        match unsafe { bytes(model, len, "model") }.and_then(find_for_model) {
            Ok(dialect) => ptr::from_ref(dialect).cast_mut(),
            Err(_) => ptr::null_mut(),
        }
    })
    .cast_const()
}

/// The result of `aside_dialect_find_for_template()`. Set all of it to zero, then `size`, and `dialects` with `capacity` if you
/// want to see all dialects that fit; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_template_match {
    /// `sizeof(aside_template_match)` of the caller's header.
    pub size: size_t,
    /// Room for `capacity` dialects; NULL if `capacity` is 0. The first `capacity` dialects that fit equally well, sorted by
    /// name, are written here. Like the dialects of `aside_dialect_find()`, they are never freed.
    pub dialects: *mut *const aside_dialect,
    /// The number of dialects for which `dialects` has room.
    pub capacity: size_t,
    /// Filled: how many dialects fit equally well, also if there is room for fewer.
    pub count: size_t,
    /// Filled: where generation starts after the template's generation prompt, if one dialect is found; otherwise
    /// `ASIDE_START_DEFAULT`.
    pub start: aside_start,
    /// Reserved: 0.
    pub reserved: u32,
}

impl Versioned for aside_template_match {
    const FIRST: usize = size_of::<aside_template_match>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_template_match 40: size 0, dialects 8, capacity 16, count 24, start 32, reserved 36);
    assert!(aside_template_match::FIRST == 40);
};

/// Finds the built-in dialect that a chat template (Jinja, UTF-8) is written for, by the markers that the template writes
/// and the framing around them. The template is read, never rendered. `text` has `len` bytes and needs no NUL. `found` may
/// be NULL.
///
/// Returns the dialect, like `aside_dialect_find()`; `found->start` is then where generation starts after the template's generation
/// prompt, with the branches that are taken by default. If several dialects fit whose differences do not concern the template, the
/// first by name is found.
///
/// NULL if there is none; `aside_last_status()` is then `ASIDE_ERROR_AMBIGUOUS` if several fit and the template does not
/// distinguish them: the message names them, and `*found` is filled with them. `ASIDE_ERROR_UNKNOWN` if the template has the
/// markers of no dialect, or a marker that the nearest dialect lacks: the message names the marker and the dialect.
/// `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_OPTION`, `ASIDE_ERROR_MEMORY`. `*found` is not
/// written after these.
///
/// The results for the last 64 templates of up to 64 KiB are cached, so that a host may ask with each request.
///
/// Memory: if it runs out, the status is `ASIDE_ERROR_MEMORY`, except in the first call, which reads the dialects: then the process
/// ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_find_for_template(
    text: *const c_char,
    len: size_t,
    found: *mut aside_template_match,
) -> *const aside_dialect {
    guard_handle(|| {
        // SAFETY: the caller promises `len` bytes, and a match as large as its size says, with room for its `capacity`.
        match unsafe { bytes(text, len, "text").and_then(|text| find_for_template(text, found)) } {
            Ok(dialect) => ptr::from_ref(dialect).cast_mut(),
            Err(_) => ptr::null_mut(),
        }
    })
    .cast_const()
}

/// Makes a dialect from the text of a dialect file (TOML, UTF-8). `toml` has `len` bytes and needs no NUL; it is not
/// used after the call.
///
/// Returns a dialect that the caller owns: `aside_dialect_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_DIALECT` with a message that names the line and the key; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`;
/// `ASIDE_ERROR_MEMORY` if there is no memory for the handle.
///
/// Memory: if it runs out while the text is read, the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_load(toml: *const c_char, len: size_t) -> *mut aside_dialect {
    guard_handle(|| {
        // SAFETY: the caller promises `len` bytes.
        match unsafe { bytes(toml, len, "toml") }.and_then(|toml| load(toml, Dialect::load)) {
            Ok(dialect) => Box::into_raw(dialect),
            Err(_) => ptr::null_mut(),
        }
    })
}

/// Makes a dialect from a response template (JSON, UTF-8): the `response_template` of a model's `tokenizer_config.json`, which
/// describes how its text is divided. `json` is the template or that file; it has `len` bytes and needs no NUL, and is not used
/// after the call.
///
/// Returns a dialect that the caller owns: `aside_dialect_free()`. NULL if that fails; `aside_last_status()` is then
/// `ASIDE_ERROR_DIALECT` with a message that names the part of the template and its pattern; `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_LENGTH`; `ASIDE_ERROR_MEMORY` if there is no memory for the handle.
///
/// Memory: if it runs out while the text is read, the process ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_from_response_template(json: *const c_char, len: size_t) -> *mut aside_dialect {
    guard_handle(|| {
        // SAFETY: the caller promises `len` bytes.
        match unsafe { bytes(json, len, "json") }.and_then(|json| load(json, Dialect::from_response_template)) {
            Ok(dialect) => Box::into_raw(dialect),
            Err(_) => ptr::null_mut(),
        }
    })
}

/// Loads built-in dialects, so that finding them later, by name or by model, allocates nothing. A host calls it once,
/// before it serves. `names` has `len` bytes and needs no NUL: names or aliases with blanks between them (`"qwen3
/// harmony"`). If it contains no name, or is NULL with a `len` of 0, all built-in dialects are loaded.
///
/// Returns `ASIDE_OK`; `ASIDE_ERROR_UNKNOWN` for a name that is not known: the dialects before it are loaded, and the
/// message names the nearest ones; `ASIDE_ERROR_MEMORY` if there is no memory for a handle; `ASIDE_ERROR_NULL`,
/// `ASIDE_ERROR_LENGTH`.
///
/// Memory: all built-in dialects need about 20 MB, and half a second to load; if memory runs out while they are loaded, the process
/// ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_preload(names: *const c_char, len: size_t) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: the caller promises `len` bytes.
            let names = match unsafe { bytes(names, len, "names") } {
                Ok(names) => names.trim_ascii(),
                Err(status) => return status,
            };
            let loaded = if names.is_empty() {
                Dialect::names().try_for_each(|name| preload(name.as_bytes()))
            } else {
                let names = names.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
                names.into_iter().try_for_each(preload)
            };
            loaded.err().unwrap_or(ASIDE_OK)
        },
    )
}

/// Frees a dialect from `aside_dialect_load()`. Scanners that were made from it remain usable. Does nothing for NULL and for
/// built-in dialects.
///
/// Threads: no other thread may be using this handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_free(dialect: *mut aside_dialect) {
    guard(
        |_| (),
        || {
            // SAFETY: the caller promises that it is NULL or a dialect that is not freed yet; a loaded one came from a
            // Box, and this call is its last use.
            unsafe {
                if !dialect.is_null() && !(*dialect).built_in {
                    drop(Box::from_raw(dialect));
                }
            }
        },
    )
}

/// Returns the name of a dialect, UTF-8, with a NUL at its end. `*len` becomes its length without the NUL; `len` may be
/// NULL.
///
/// The memory belongs to the dialect and is valid as long as the dialect. NULL if `dialect` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_name(dialect: *const aside_dialect, len: *mut size_t) -> *const c_char {
    // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
    match unsafe { dialect.as_ref() } {
        // SAFETY: `len` is NULL or may be written, as the caller promises.
        Some(dialect) => unsafe { c_name_of(&dialect.name, len) },
        None => {
            fail_no_handle("dialect");
            ptr::null()
        }
    }
}

/// Returns the family of a rule of the dialect, as `ASIDE_KIND_OPEN` events number the rules: the family that the span or
/// header has in the file, or else the dialect's name. UTF-8, with a NUL at its end. `*len` becomes its length without the NUL;
/// `len` may be NULL.
///
/// The memory belongs to the dialect and is valid as long as the dialect. NULL if `dialect` is NULL, or if there is no such rule
/// (`aside_last_status()` is `ASIDE_ERROR_RANGE`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_family(
    dialect: *const aside_dialect,
    rule: u32,
    len: *mut size_t,
) -> *const c_char {
    // SAFETY: the caller's promises.
    unsafe { c_word_of(dialect, rule, |labels| Some(&labels.family), len) }
}

/// Returns the text that an `ASIDE_KIND_OPEN` event's rule and tag identify, as the dialect's file has it: the literal, the
/// tag's name, the fence's info string, the beginning of the header (the first one, if a header begins with none). UTF-8,
/// with a NUL at its end. `*len` becomes its length without the NUL; `len` may be NULL.
///
/// The memory belongs to the dialect and is valid as long as the dialect. NULL if `dialect` is NULL, or if there is no such rule or
/// tag (`aside_last_status()` is `ASIDE_ERROR_RANGE`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_opener(
    dialect: *const aside_dialect,
    rule: u32,
    tag: u32,
    len: *mut size_t,
) -> *const c_char {
    // SAFETY: the caller's promises.
    unsafe { c_word_of(dialect, rule, |labels| labels.openers.get(tag as usize), len) }
}

/// Returns a word of a rule in C's form.
///
/// # Safety
/// `dialect` is NULL or a dialect that is not freed yet, and `len` is NULL or may be written.
unsafe fn c_word_of(
    dialect: *const aside_dialect,
    rule: u32,
    pick: impl FnOnce(&RuleLabels) -> Option<&Vec<u8>>,
    len: *mut size_t,
) -> *const c_char {
    // SAFETY: the caller meets this function's conditions.
    match unsafe { dialect.as_ref() } {
        Some(dialect) => match dialect.labels.get(rule as usize).and_then(pick) {
            // SAFETY: the caller meets this function's conditions.
            Some(word) => unsafe { c_name_of(word, len) },
            None => {
                fail(ASIDE_ERROR_RANGE);
                ptr::null()
            }
        },
        None => {
            fail_no_handle("dialect");
            ptr::null()
        }
    }
}

/// Returns the largest number of bytes that a scanner of this dialect holds back. 0 if `dialect` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_max_hold(dialect: *const aside_dialect) -> size_t {
    // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
    match unsafe { dialect.as_ref() } {
        Some(dialect) => dialect.dialect.max_hold(),
        None => {
            fail_no_handle("dialect");
            0
        }
    }
}

/// Returns the start of a stream of this dialect if `aside_scanner_options.start` is `ASIDE_START_DEFAULT`, as a different
/// `ASIDE_START_` value. For a dialect from `aside_dialect_find_for_model()` it is the start of that model. `ASIDE_START_DEFAULT`
/// if `dialect` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_start(dialect: *const aside_dialect) -> aside_start {
    // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
    match unsafe { dialect.as_ref() } {
        Some(dialect) => Some(dialect.dialect.start()).to_number(),
        None => {
            fail_no_handle("dialect");
            ASIDE_START_DEFAULT
        }
    }
}

/// Returns the name of the built-in dialect number `index`, in sorted order, from 0: UTF-8 with a NUL at its end.
/// `*len` becomes its length without the NUL; `len` may be NULL.
///
/// The memory lives as long as the library. NULL past the last name, which is not a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_name_at(index: size_t, len: *mut size_t) -> *const c_char {
    match dialect::c_name(index) {
        // SAFETY: `len` is NULL or may be written, as the caller promises.
        Some(name) => unsafe { c_name_of(name.to_bytes_with_nul(), len) },
        None => ptr::null(),
    }
}
