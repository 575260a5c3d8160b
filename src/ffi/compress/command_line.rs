//! Command lines, parsed as compressors do it, for hosts that choose filters themselves. Nothing is run.

use std::ptr;

use libc::{c_char, size_t};
use safer_ffi::prelude::*;

use super::text;
use crate::compress::Invocation;
use crate::ffi::bytes::aside_bytes;
use crate::ffi::memory::{as_c_array, free, layout};
use crate::ffi::status::{fail_no_handle, fail_null, guard_handle};

/// The commands of a command line. It never changes. From `aside_command_line_parse()`; freed by
/// `aside_command_line_free()`.
#[derive_ReprC]
#[repr(opaque)]
pub struct aside_command_line {
    commands: Vec<aside_command>,
    /// Where the commands' words are.
    _words: Vec<Vec<aside_bytes>>,
    _runs: Vec<Invocation>,
}

/// A command of a command line. Its texts are UTF-8.
#[derive_ReprC]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_command {
    /// The program, without its folder and version: `git`; `pytest` of `python -m pytest`, `gradle` of `./gradlew`.
    pub name: aside_bytes,
    /// The first argument that is neither an option nor an option's value: `diff` of `git -C dir diff`; the script of
    /// `npm run`. Empty if there is none.
    pub subcommand: aside_bytes,
    /// All words after the program, without their quotes.
    pub words: *const aside_bytes,
    /// How many there are.
    pub word_count: size_t,
    /// 1 if its output is seen. 0 for `cd` and the like, and if it goes to a file or into a program that writes
    /// something of its own.
    pub prints: u32,
    /// 1 if its output goes through `head`, `grep` and the like, so that it may be only a part. Otherwise 0.
    pub piped: u32,
}

// No layout ever changes; C checks the same in tests/c/layout.c.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_command 56: name 0, subcommand 16, words 32, word_count 40, prints 48, piped 52);
};

/// Parses a command line as a shell would, for hosts that choose filters by it as the library does. Nothing is run.
/// `line` has `len` bytes of UTF-8.
///
/// Returns the commands, which the caller owns: `aside_command_line_free()`. NULL if that fails; `aside_last_status()`
/// is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH` or `ASIDE_ERROR_OPTION` (not UTF-8).
#[ffi_export]
pub unsafe extern "C" fn aside_command_line_parse(line: *const c_char, len: size_t) -> *mut aside_command_line {
    guard_handle(|| {
        // SAFETY: the caller promises `len` bytes.
        match unsafe { text(aside_bytes { at: line, len }, "line") } {
            Ok(line) => Box::into_raw(Box::new(aside_command_line::new(line))),
            Err(_) => ptr::null_mut(),
        }
    })
}

impl aside_command_line {
    fn new(line: &str) -> aside_command_line {
        let runs = Invocation::all(line).unwrap_or_default();
        let words: Vec<Vec<aside_bytes>> = runs
            .iter()
            .map(|run| run.words().iter().map(|word| aside_bytes::lend(word.as_bytes())).collect())
            .collect();
        let command = |(run, words): (&Invocation, &Vec<aside_bytes>)| aside_command {
            name: aside_bytes::lend(run.command().as_bytes()),
            subcommand: aside_bytes::lend(run.subcommand().unwrap_or_default().as_bytes()),
            words: as_c_array(words),
            word_count: words.len(),
            prints: run.prints().into(),
            piped: run.is_piped().into(),
        };
        let commands = runs.iter().zip(&words).map(command).collect();
        aside_command_line { _runs: runs, _words: words, commands }
    }
}

/// Returns the commands of a line, in order; for a shell with `-c` those that it runs. Wrappers (`sudo`, `timeout`,
/// `npx` …), assignments and redirections are not among them. There are none if the line is better left alone: with
/// `case`, or with shells in shells more than eight deep.
///
/// Returns the first of `*count` commands: memory of `line`, valid as long as that is. NULL if `line` or `count` is.
#[ffi_export]
pub unsafe extern "C" fn aside_command_line_commands(
    line: *const aside_command_line,
    count: *mut size_t,
) -> *const aside_command {
    // SAFETY: the caller promises that it is NULL or there.
    let line = unsafe { line.as_ref() };
    let Some(line) = line else {
        fail_no_handle("line");
        return ptr::null();
    };
    if count.is_null() {
        fail_null("count");
        return ptr::null();
    }
    // SAFETY: not NULL, and the caller promises that it may be written.
    unsafe { count.write_unaligned(line.commands.len()) };
    as_c_array(&line.commands)
}

/// Frees a command line and its commands. Does nothing for NULL.
///
/// Threads: no other thread may be using it.
#[ffi_export]
pub unsafe extern "C" fn aside_command_line_free(line: *mut aside_command_line) {
    // SAFETY: the caller promises that it is NULL or still there, and that this is its last use.
    unsafe { free(line, |_| false) }
}
