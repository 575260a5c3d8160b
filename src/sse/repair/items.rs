//! Mends the items of Responses, and the arguments in its events and in those of Messages. Clients drop a turn whose reasoning
//! has no `summary`, and expect arguments as a string.

use super::calls::arguments;
use crate::json::{Edits, Value};
use crate::memory;

/// Notes the changes of an event.
pub fn mend(text: &[u8], edits: &mut Edits) -> memory::Result<()> {
    let mut result = Ok(());
    let mut put = |item: Value<'_>| {
        if result.is_ok() {
            result = mend_item(&item, edits);
        }
    };
    let event = Value::of(text);
    let [item, delta, response] = event.find([b"item", b"delta", b"response"]);
    [Some(event), item, delta].into_iter().flatten().for_each(&mut put);
    if let Some(output) = response.and_then(|response| response.at(&[b"output"])) {
        output.items(put);
    }
    result
}

fn mend_item(item: &Value<'_>, edits: &mut Edits) -> memory::Result<()> {
    let [kind, summary, given, piece] = item.find([b"type", b"summary", b"arguments", b"partial_json"]);
    arguments(item.text, given.or(piece).map(|given| given.span).as_ref(), edits)?;
    let end = item.span.end - 1;
    match summary {
        _ if kind.is_none_or(|kind| kind.json() != b"\"reasoning\"") => Ok(()),
        None => edits.put(end..end, &[b",\"summary\":[]"]),
        Some(summary) if summary.is_null() => edits.put(summary.span, &[b"[]"]),
        Some(_) => Ok(()),
    }
}
