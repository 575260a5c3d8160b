//! Command lines, parsed as compressors do it, for hosts that choose filters themselves. Nothing is run.

use std::mem::offset_of;
use std::ptr;

use libc::{c_char, size_t};

use super::{fill, text};
use crate::compress::Command;
use crate::ffi::bytes::aside_bytes;
use crate::ffi::constants::*;
use crate::ffi::memory::{Versioned, as_c_array, free, into_handle, layout};
use crate::ffi::status::{fail_no_handle, guard_handle};

/// The commands of a command line. It never changes. From `aside_command_line_parse()`; freed by
/// `aside_command_line_free()`.
pub struct aside_command_line {
    commands: Vec<Command>,
    /// The words of each, as C borrows them.
    words: Vec<Vec<aside_bytes>>,
}

/// A command of a command line, from `aside_command_line_command()`. Set `size` before the call. Its texts are UTF-8, and
/// memory of the line, valid as long as that is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_command {
    /// `sizeof(aside_command)` of the caller's header.
    pub size: size_t,
    /// The program, without its folder and version: `git`; `pytest` of `python -m pytest`, `gradle` of `./gradlew`.
    pub name: aside_bytes,
    /// The first argument that is neither an option nor an option's value: `diff` of `git -C dir diff`; the script of
    /// `npm run`. Empty if there is none.
    pub subcommand: aside_bytes,
    /// All words after the program, without their quotes.
    pub words: *const aside_bytes,
    /// Their number.
    pub word_count: size_t,
    /// 1 if its output is seen. 0 for `cd` and the like, and if it goes to a file or into a program that writes
    /// something else.
    pub prints: u32,
    /// 1 if its output goes through `head`, `grep` and the like, so that it may be only a part. Otherwise 0.
    pub piped: u32,
}

impl Versioned for aside_command {
    const FIRST: usize = offset_of!(aside_command, piped) + size_of::<u32>();
}

// No layout ever changes; C checks the same in tests/c/layout.c.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_command 64: size 0, name 8, subcommand 24, words 40, word_count 48, prints 56, piped 60);
    assert!(aside_command::FIRST == 64);
};

/// Parses a command line as a shell would, for hosts that choose filters by it as the library does. Nothing is run.
/// `line` has `len` bytes of UTF-8.
///
/// Returns the commands, which the caller owns: `aside_command_line_free()`. NULL if that fails; `aside_last_status()`
/// is then `ASIDE_ERROR_NULL`, `ASIDE_ERROR_LENGTH`, `ASIDE_ERROR_OPTION` (not UTF-8) or `ASIDE_ERROR_MEMORY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_command_line_parse(line: *const c_char, len: size_t) -> *mut aside_command_line {
    guard_handle(|| {
        // SAFETY: the caller promises `len` bytes.
        match unsafe { text(aside_bytes { at: line, len }, "line") } {
            Ok(line) => into_handle(aside_command_line::new(line)),
            Err(_) => ptr::null_mut(),
        }
    })
}

impl aside_command_line {
    fn new(line: &str) -> aside_command_line {
        let commands = Command::all(line).unwrap_or_default();
        let lent = |word: &String| aside_bytes::lend(word.as_bytes());
        let words = commands.iter().map(|command| command.words().iter().map(lent).collect()).collect();
        aside_command_line { commands, words }
    }
}

/// Fills `*command` with the command number `index` of a line, from 0 in their order; for a shell with `-c` they are those
/// that it runs. Set `command->size` before. Wrappers (`sudo`, `timeout`, `npx` …), assignments and redirections are not
/// among them. There are none if the line is better left alone: with `case`, or with shells in shells more than eight deep.
///
/// Returns `ASIDE_OK`; `ASIDE_NONE` past the last command; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_command_line_command(
    line: *const aside_command_line,
    index: size_t,
    command: *mut aside_command,
) -> aside_status {
    // SAFETY: the caller promises a line that is NULL or valid, and a struct as large as it says.
    unsafe {
        let Some(line) = line.as_ref() else { return fail_no_handle("line") };
        fill(command, "command", |size| {
            let (run, words) = line.commands.get(index).zip(line.words.get(index)).ok_or(ASIDE_NONE)?;
            Ok(aside_command {
                size,
                name: aside_bytes::lend(run.name().as_bytes()),
                subcommand: aside_bytes::lend(run.subcommand().unwrap_or_default().as_bytes()),
                words: as_c_array(words),
                word_count: words.len(),
                prints: run.prints().into(),
                piped: run.is_piped().into(),
            })
        })
    }
}

/// Frees a command line and its commands. Does nothing for NULL.
///
/// Threads: no other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_command_line_free(line: *mut aside_command_line) {
    // SAFETY: the caller promises that it is NULL or not freed yet, and that this is its last use.
    unsafe { free(line, |_| false) }
}
