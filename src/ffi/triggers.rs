//! The texts of a dialect around a tool call, for C. The texts are made at the first request for them, and belong to the dialect.

use libc::size_t;

use super::bytes::aside_bytes;
use super::constants::*;
use super::dialect::aside_dialect;
use super::memory::{Versioned, fill_sized, layout, size_of_given};
use super::status::{fail_no_handle, failed, guard};
use crate::memory::{append_text, push};
use crate::{Error, ToolTrigger};

/// The texts around one call of a tool, from `aside_dialect_tool_trigger()`: `begin`, the tool's name, `after_name`, the arguments,
/// `end`. Set `size` before the call; later versions may add fields at the end. The texts belong to the dialect and are valid as
/// long as the dialect.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_tool_trigger {
    /// `sizeof(aside_tool_trigger)` of the caller's header.
    pub size: size_t,
    /// The text that a model writes only if a call follows; `begin` starts with it.
    pub trigger: aside_bytes,
    /// The text before the name.
    pub begin: aside_bytes,
    /// The text between the name and the arguments.
    pub after_name: aside_bytes,
    /// The text after the arguments.
    pub end: aside_bytes,
    /// The form of the arguments.
    pub arguments: aside_tool_arguments,
    /// Reserved: 0.
    pub reserved: u32,
    /// The text before a key. This text and the next three are empty for `ASIDE_TOOL_ARGUMENTS_JSON`.
    pub key_begin: aside_bytes,
    /// The text after a key.
    pub key_end: aside_bytes,
    /// The text before a value.
    pub value_begin: aside_bytes,
    /// The text after a value.
    pub value_end: aside_bytes,
    /// The tags in these texts, with a blank between each two. A tag that is a special token of the model must be left in the
    /// model's text, or the call cannot be read.
    pub preserved: aside_bytes,
}

impl Versioned for aside_tool_trigger {
    const FIRST: usize = size_of::<aside_tool_trigger>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_tool_trigger 160: size 0, trigger 8, begin 24, after_name 40, end 56, arguments 72, reserved 76, key_begin 80,
        key_end 96, value_begin 112, value_end 128, preserved 144);
    assert!(aside_tool_trigger::FIRST == 160);
};

/// Fills `*trigger` with the texts that the model writes around a tool call, according to the table of calls with this number in
/// the dialect's file, from 0; the first is the model's usual form. A server that makes a model write its calls by a grammar builds
/// the grammar from these texts and the tools' schemas. Tables of calls without an opener do not count. If a form needs an id, the
/// id is 0.
///
/// Returns `ASIDE_OK`; `ASIDE_NONE` past the last one, and `*trigger` is not written; `ASIDE_ERROR_NULL`, `ASIDE_ERROR_SIZE`,
/// `ASIDE_ERROR_MEMORY`, `ASIDE_ERROR_PANIC`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aside_dialect_tool_trigger(
    dialect: *const aside_dialect,
    index: size_t,
    trigger: *mut aside_tool_trigger,
) -> aside_status {
    guard(
        |status| status,
        || {
            // SAFETY: NULL or a dialect that is not freed yet, as the caller promises.
            let Some(dialect) = (unsafe { dialect.as_ref() }) else {
                return fail_no_handle("dialect");
            };
            // SAFETY: every version begins with its size, and the caller promises that many bytes.
            let size = match unsafe { size_of_given(trigger, "trigger") } {
                Ok(size) => size,
                Err(status) => return status,
            };
            match triggers(dialect).map(|all| all.get(index)) {
                Ok(Some(found)) => {
                    // SAFETY: the caller promises that it may be written as far as its size says.
                    unsafe { fill_sized(trigger, size, lend(found, size)) };
                    ASIDE_OK
                }
                Ok(None) => ASIDE_NONE,
                Err(error) => failed(error),
            }
        },
    )
}

fn triggers(dialect: &aside_dialect) -> Result<&[(ToolTrigger, String)], Error> {
    if let Some(made) = dialect.triggers.get() {
        return Ok(made);
    }
    let mut made = Vec::new();
    for texts in dialect.dialect.tool_triggers()? {
        let mut preserved = String::new();
        for tag in &texts.preserved {
            let blank = if preserved.is_empty() { "" } else { " " };
            append_text(&mut preserved, blank)?;
            append_text(&mut preserved, tag)?;
        }
        push(&mut made, (texts, preserved))?;
    }
    // If another thread was first, its texts are returned, which are equal.
    Ok(dialect.triggers.get_or_init(|| made))
}

fn lend((texts, preserved): &(ToolTrigger, String), size: size_t) -> aside_tool_trigger {
    let lent = |text: &String| aside_bytes::lend(text.as_bytes());
    aside_tool_trigger {
        size,
        trigger: lent(&texts.trigger),
        begin: lent(&texts.begin),
        after_name: lent(&texts.after_name),
        end: lent(&texts.end),
        arguments: texts.arguments.to_number(),
        reserved: 0,
        key_begin: lent(&texts.key_begin),
        key_end: lent(&texts.key_end),
        value_begin: lent(&texts.value_begin),
        value_end: lent(&texts.value_end),
        preserved: lent(preserved),
    }
}
