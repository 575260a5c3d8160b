//! Removes thinking that a server has split itself from the choices of a chunk, a line or a body.

use super::chunk::{REASONING, says};
use super::layout::Layout;
use crate::Error;
use crate::json::{Edits, Value};
use crate::memory::{self, push};
use crate::sse::event::{Event, EventPart};
use crate::sse::hide::is_thinking;
use crate::sse::protocol::{Context, Scratch};

/// Removes the thinking from the chunk or line that begins at `start` in the output. Returns whether there was
/// thinking.
pub fn chunk(layout: &Layout, start: usize, context: &mut Context<'_>) -> Result<bool, Error> {
    let Context { scratch: Scratch { edits, .. }, out, .. } = context;
    let raw = memory::copy(&out[start..])?;
    let mut event = Event::default();
    if layout.extra.is_event {
        event.read(&raw)?
    } else {
        event.read_data(&raw)?
    }
    let part = EventPart { raw: &raw, part: 0..raw.len(), event: &event };
    edits.clear();
    choices(part.data(), layout, edits)?;
    out.truncate(start);
    part.write(edits, out)?;
    Ok(!edits.list.is_empty())
}

/// Removes the thinking from the choices of a chunk, a line or a body.
pub fn choices(data: &[u8], layout: &Layout, edits: &mut Edits) -> memory::Result<()> {
    let mut done = Ok(());
    let mut choice = |choice: Value<'_>| {
        if layout.part.is_empty() {
            if done.is_ok() {
                done = text(&choice, layout, edits);
            }
            return;
        }
        // A chunk may have a `message` next to its delta.
        choice.walk(|name, _, value| {
            let is_text = (name == layout.part || name == layout.whole_part) && value.is_object();
            if is_text && done.is_ok() {
                done = text(&value, layout, edits);
            }
        });
    };
    let whole = Value::of(data);
    if !layout.has_list {
        choice(whole);
    } else if let Some(list) = whole.at(&[b"choices"]) {
        list.items(choice);
    }
    done
}

/// Removes the thinking from the object that has the text of a choice.
fn text(object: &Value<'_>, layout: &Layout, edits: &mut Edits) -> memory::Result<()> {
    let (mut spans, mut thinking, mut content, mut memory) = (Vec::new(), Vec::new(), None, Ok(()));
    let mut has_calls = false;
    object.walk(|name, key, value| {
        let says = says(value.text, &value.span);
        if memory.is_ok() && REASONING.contains(&name) && says {
            memory = push(&mut thinking, spans.len());
        }
        if name == layout.text.as_bytes() {
            content = Some(value.clone());
        }
        has_calls |= says && matches!(name, b"tool_calls" | b"function_call");
        if memory.is_ok() {
            memory = push(&mut spans, key.start..value.span.end);
        }
    });
    memory?;
    if let Some(list) = &content
        && let Some(parts) = list.list()?
    {
        match parts.iter().all(is_thinking) {
            true if !parts.is_empty() => edits.put(list.span.clone(), &[b"\"\""])?,
            _ => edits.remove(parts.iter().map(|part| &part.span), |at| is_thinking(&parts[at]))?,
        }
    }
    let Some(&first) = thinking.first() else { return Ok(()) };
    let mut thinking = &thinking[..];
    match content {
        // If all of an answer is thinking, its content becomes an empty string.
        Some(content) if content.is_null() && !has_calls => edits.put(content.span, &[b"\"\""])?,
        None if !has_calls => {
            edits.put(spans[first].clone(), &[b"\"", layout.text.as_bytes(), b"\":\"\""])?;
            thinking = &thinking[1..];
        }
        _ => {}
    }
    edits.remove(&spans, |at| thinking.contains(&at))
}
