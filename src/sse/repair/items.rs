//! Mends the items of Responses: clients drop a turn whose reasoning has no `summary`.

use crate::json::{Edits, Span, members, values};
use crate::memory;

/// Notes the changes of an event of Responses.
pub fn mend(text: &[u8], edits: &mut Edits) -> memory::Result<()> {
    let mut result = Ok(());
    let mut put = |item: Span| {
        if result.is_ok() {
            result = mend_item(text, item, edits);
        }
    };
    members(text, 0..text.len(), |name, _, value| match name {
        b"item" => put(value),
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
    let (mut is_reasoning, mut summary) = (false, None);
    members(text, item.clone(), |name, _, value| match name {
        b"type" => is_reasoning = text[value] == *b"\"reasoning\"",
        b"summary" => summary = Some(value),
        _ => {}
    });
    match summary {
        None if is_reasoning => edits.put(item.end - 1..item.end - 1, &[b",\"summary\":[]"]),
        Some(summary) if is_reasoning && text[summary.clone()] == *b"null" => edits.put(summary, &[b"[]"]),
        _ => Ok(()),
    }
}
