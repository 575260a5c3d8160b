//! The options of a scanner. A struct of any version can be read; the dialect decides every option that the caller does not set.

use libc::size_t;

use crate::ffi::constants::*;
use crate::ffi::memory::{Versioned, layout, read_sized};
use crate::ffi::numbers::value;
use crate::ffi::status::fail_with;
use crate::{Budget, ScannerOptions};

/// Options of a scanner. Set all of it to zero, then `size`; later versions may add fields at the end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_scanner_options {
    /// `sizeof(aside_scanner_options)` of the caller's header.
    pub size: size_t,
    /// The span that is open at the first byte.
    pub start: aside_start,
    /// The treatment of a closer of the thinking without an opener, after content.
    pub stray_close: aside_stray_close,
    /// Non-zero: collect whole thoughts for `aside_scanner_take_thought()`, and hold at most this many bytes of them at a
    /// time: text, types, and attributes, of which each counts as at least 48. If a thought does not fit, attributes are
    /// dropped first, then the type, and then the end of the text.
    pub collect: u64,
    /// The limit of the thinking, beyond which an `ASIDE_KIND_BUDGET` event is reported. 0 if `has_budget` is not 1.
    pub budget: u64,
    /// 1: there is a budget.
    pub has_budget: u32,
    /// The unit of the budget.
    pub budget_unit: aside_budget_unit,
    /// The scope of the budget.
    pub budget_scope: aside_budget_scope,
    /// 1: report tool calls with their names and arguments, as the kinds from `ASIDE_KIND_CALL` on, if the dialect says how
    /// they are written. 0: their bytes are text of the tool channel.
    pub calls: u32,
    /// The treatment of a tool call that begins inside the thinking.
    pub calls_in_thinking: aside_calls_in_thinking,
    /// The reading of a tag that is not the dialect's own at the beginning of a stream.
    pub leading_tags: aside_leading_tags,
}

impl Versioned for aside_scanner_options {
    const FIRST: usize = size_of::<size_t>();
}

// The layouts never change; tests/c/layout.c checks them in C.
#[cfg(target_pointer_width = "64")]
const _: () = {
    layout!(aside_scanner_options 56: size 0, start 8, stray_close 12, collect 16, budget 24, has_budget 32, budget_unit 36,
        budget_scope 40, calls 44, calls_in_thinking 48, leading_tags 52);
    assert!(aside_scanner_options::FIRST == 8);
};

/// Reads the caller's options, in any version of the struct.
///
/// # Safety
/// `options` is NULL or has as many bytes as its `size` says.
pub(super) unsafe fn options(options: *const aside_scanner_options) -> Result<ScannerOptions, aside_status> {
    if options.is_null() {
        return Ok(ScannerOptions::default());
    }
    // SAFETY: the caller meets this function's conditions, and the struct is made of plain numbers.
    let all = unsafe { read_sized(options, "options") }?;
    let stray_close = value(all.stray_close, "options.stray_close")?;
    let start = value(all.start, "options.start")?;
    let collect = (all.collect > 0).then(|| usize::try_from(all.collect).unwrap_or(usize::MAX));
    let calls = match all.calls {
        0 => false,
        1 => true,
        other => return Err(fail_with(ASIDE_ERROR_OPTION, format_args!("options.calls cannot be {other}"))),
    };
    let calls_in_thinking = value(all.calls_in_thinking, "options.calls_in_thinking")?;
    let leading_tags = value(all.leading_tags, "options.leading_tags")?;
    Ok(ScannerOptions { start, collect, budget: budget(&all)?, stray_close, leading_tags, calls, calls_in_thinking })
}

fn budget(options: &aside_scanner_options) -> Result<Option<Budget>, aside_status> {
    match options.has_budget {
        0 if options.budget == 0 => return Ok(None),
        0 => return Err(fail_with(ASIDE_ERROR_OPTION, "options.budget is set, and options.has_budget is not")),
        1 => {}
        other => return Err(fail_with(ASIDE_ERROR_OPTION, format_args!("options.has_budget cannot be {other}"))),
    }
    let unit = value(options.budget_unit, "options.budget_unit")?;
    let scope = value(options.budget_scope, "options.budget_scope")?;
    Ok(Some(Budget { limit: options.budget, unit, scope }))
}
