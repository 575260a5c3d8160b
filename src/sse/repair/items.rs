//! Mends the items of Responses, and the arguments in its events and in those of Messages. Clients drop a turn whose reasoning
//! has no `summary`, and expect arguments as a string.

use super::calls::arguments;
use crate::json::{Edits, Span, members, values};
use crate::memory;

/// Notes the changes of an event.
pub fn mend(text: &[u8], edits: &mut Edits) -> memory::Result<()> {
    let mut result = Ok(());
    let mut put = |item: Span| {
        if result.is_ok() {
            result = mend_item(text, item, edits);
        }
    };
    put(0..text.len());
    members(text, 0..text.len(), |name, _, value| match name {
        b"item" | b"delta" => put(value),
        b"response" => members(text, value, |name, _, value| {
            if name == b"output" {
                values(text, value, &mut put);
            }
        }),
        _ => {}
    });
    result
}

fn mend_item(text: &[u8], item: Span, edits: &mut Edits) -> memory::Result<()> {
    let (mut is_reasoning, mut summary, mut given) = (false, None, None);
    members(text, item.clone(), |name, _, value| match name {
        b"type" => is_reasoning = text[value] == *b"\"reasoning\"",
        b"summary" => summary = Some(value),
        b"arguments" | b"partial_json" => given = Some(value),
        _ => {}
    });
    arguments(text, given.as_ref(), edits)?;
    match summary {
        None if is_reasoning => edits.put(item.end - 1..item.end - 1, &[b",\"summary\":[]"]),
        Some(summary) if is_reasoning && text[summary.clone()] == *b"null" => edits.put(summary, &[b"[]"]),
        _ => Ok(()),
    }
}
