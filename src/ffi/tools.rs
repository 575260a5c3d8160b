//! The tools of a request for answers and rewriters, as JSON from C. The JSON is parsed at once, so that C may free it
//! after the call.

use std::sync::Arc;

use super::bytes::aside_bytes;
use super::constants::*;
use super::memory::bytes;
use super::numbers::limit;
use super::status::fail_with;
use crate::answer::Tools;

/// Reads the JSON text of a request's tools, of at most `most` bytes (0: 4 MiB); None for NULL. `of` precedes the name in
/// messages.
///
/// # Safety
/// A pointer that is not NULL points to `len` bytes that do not change during the call.
pub(super) unsafe fn tools(given: aside_bytes, most: u64, of: &str) -> Result<Option<Arc<Tools>>, aside_status> {
    // SAFETY: the caller meets this function's conditions.
    let text = unsafe { bytes(given.at, given.len, "tools") }?;
    if given.at.is_null() {
        return Ok(None);
    }
    let not_utf8 = |_| fail_with(ASIDE_ERROR_OPTION, format_args!("{of}tools: not UTF-8"));
    let text = std::str::from_utf8(text).map_err(not_utf8)?;
    let tools = Tools::read_up_to(text, limit(most))
        .map_err(|error| fail_with(ASIDE_ERROR_OPTION, format_args!("{of}{error}")))?;
    Ok(Some(tools))
}
