//! The promises of filters, checked in every compression. A result that breaks a promise is dropped and reported: a mistake in a
//! filter must never reach the reader. Panics are caught here too.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::compress::{
    lines::{class::Class, layout::Text},
    text::{
        bytes::is_boundary,
        controls::has_controls,
        edit::{Edit, EditKind},
    },
};

/// Checks the promise of a filter that selects lines: it leaves out whole lines or the middle of one, in order, and no line of an
/// error region.
pub fn keeps_lines(text: Text<'_>, edits: &[Edit], regions_may_go: bool) -> Result<(), String> {
    let mut at = 0;
    for edit in edits {
        let range = &edit.range;
        if range.start < at || range.start >= range.end || range.end > text.bytes.len() {
            return Err(format!("edits out of order at byte {}", range.start));
        }
        at = range.end;
        let first = text.line_at(range.start);
        match edit.kind {
            EditKind::Replace(_) | EditKind::Elements(_) | EditKind::Members(_) | EditKind::OfString => {
                return Err("a select filter rewrote a line".into());
            }
            EditKind::Middle(_) => {
                let line = text.span(first);
                let inside = range.start >= line.start && range.end <= line.start + text.line(first).len();
                if !inside || !is_boundary(text.bytes, range.start) || !is_boundary(text.bytes, range.end) {
                    return Err(format!("line {} is not cut inside", first + 1));
                }
            }
            EditKind::LeaveOut { .. } | EditKind::AsAbove => {
                let end = text.line_at(range.end);
                if text.start(first) != range.start || text.start(end) != range.end {
                    return Err(format!("a part of line {} was left out", first + 1));
                }
                if !regions_may_go && (first..end).any(|line| text.class(line).must_stay()) {
                    return Err(format!("a line of an error region was left out after line {first}"));
                }
            }
        }
    }
    Ok(())
}

/// Checks the promise of a normaliser: it changes only text with controls, and its replacements have no controls.
pub fn normalises(bytes: &[u8], edits: &[Edit]) -> Result<(), String> {
    for edit in edits {
        let EditKind::Replace(text) = &edit.kind else { return Err("a normaliser left something out".to_owned()) };
        if !has_controls(&bytes[edit.range.clone()]) {
            return Err(format!("text without a control was changed at byte {}", edit.range.start));
        }
        if has_controls(text) {
            return Err(format!("a control was left at byte {}", edit.range.start));
        }
    }
    Ok(())
}

/// Checks that no verdict of success stays if a verdict of failure is left out.
pub fn no_false_green(text: Text<'_>, edits: &[Edit]) -> Result<(), String> {
    let mut gone = vec![false; text.len()];
    for edit in edits.iter().filter(|edit| !matches!(edit.kind, EditKind::Middle(_))) {
        gone[text.line_at(edit.range.start)..text.line_at(edit.range.end)].fill(true);
    }
    let has =
        |class: Class, is_gone: bool| (0..text.len()).any(|line| gone[line] == is_gone && text.class(line).has(class));
    if has(Class::FAILED_VERDICT, true) && has(Class::PASSED_VERDICT, false) {
        return Err("a verdict of failure went and one of success stayed".to_owned());
    }
    Ok(())
}

/// Runs a filter or cache. A panic in it becomes an error.
pub fn caught<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(format!("it panicked: {}", message(&*panic))))
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("?")
}
