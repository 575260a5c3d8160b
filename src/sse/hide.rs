//! Removes thinking that a server has split itself from lists of blocks and items. Thinking that the rewriter itself splits is never
//! written. So the result is the same whether the server or the rewriter splits the thinking: the answer without its thinking.

use crate::json::{Edits, Value};
use crate::memory;

/// The types of thinking in Messages.
const THINKING: [&[u8]; 2] = [b"\"thinking\"", b"\"redacted_thinking\""];

/// Removes the blocks of thinking from the list at the end of a path of members.
pub fn blocks(data: &[u8], path: &[&[u8]], edits: &mut Edits) -> memory::Result<()> {
    list(data, path, is_thinking, edits)
}

/// Removes the items of reasoning from the list at the end of a path of members.
pub fn items(data: &[u8], path: &[&[u8]], edits: &mut Edits) -> memory::Result<()> {
    list(data, path, |item| is_of(item, &[b"\"reasoning\""]), edits)
}

fn list(data: &[u8], path: &[&[u8]], is_removed: impl Fn(&Value<'_>) -> bool, edits: &mut Edits) -> memory::Result<()> {
    let Some(list) = Value::of(data).at(path) else { return Ok(()) };
    let values = list.list()?.unwrap_or_default();
    edits.remove(values.iter().map(|value| &value.span), |at| is_removed(&values[at]))
}

/// Returns whether a block of Messages, or a part of content that is a list, is thinking.
pub fn is_thinking(value: &Value<'_>) -> bool {
    is_of(value, &THINKING)
}

fn is_of(value: &Value<'_>, kinds: &[&[u8]]) -> bool {
    value.at(&[b"type"]).is_some_and(|kind| kinds.contains(&kind.json()))
}
