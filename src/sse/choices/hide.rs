//! Leaves out the thinking that a server has split itself, of the choices of a chunk, a line or a body.

use super::chunk::{REASONING, says};
use super::layout::Layout;
use crate::Error;
use crate::json::{Edits, Span, members, objects};
use crate::memory::{self, push};
use crate::sse::event::{Event, EventPart};
use crate::sse::hide::{is_thinking, listed};
use crate::sse::protocol::{Context, Scratch};

/// Removes the thinking from the chunk or line at the end of the output, from `start` on. Returns whether it had any.
pub fn chunk(layout: &Layout, start: usize, context: &mut Context<'_>) -> Result<bool, Error> {
    let Context { scratch: Scratch { edits, .. }, out, .. } = context;
    let raw = memory::copy(&out[start..])?;
    let mut event = Event::new();
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
    let mut choice = |choice: Span| {
        if layout.part.is_empty() {
            done = text(data, choice, layout, edits);
            return;
        }
        // A chunk may have a `message` next to its delta.
        members(data, choice, |name, _, value| {
            let is_text = (name == layout.part || name == layout.whole_part) && data[value.start] == b'{';
            if is_text && done.is_ok() {
                done = text(data, value, layout, edits);
            }
        });
    };
    if !layout.has_list {
        choice(0..data.len());
        return done;
    }
    members(data, 0..data.len(), |name, _, value| {
        if name == b"choices" {
            objects(data, value, &mut choice);
        }
    });
    done
}

/// Removes the thinking from the object that has the text of a choice.
fn text(data: &[u8], object: Span, layout: &Layout, edits: &mut Edits) -> memory::Result<()> {
    let (mut spans, mut thinking, mut content, mut memory) = (Vec::new(), Vec::new(), None, Ok(()));
    let mut has_calls = false;
    members(data, object, |name, key, value| {
        let says = says(data, &value);
        if memory.is_ok() && REASONING.contains(&name) && says {
            memory = push(&mut thinking, spans.len());
        }
        if name == layout.text.as_bytes() {
            content = Some(value.clone());
        }
        has_calls |= says && matches!(name, b"tool_calls" | b"function_call");
        if memory.is_ok() {
            memory = push(&mut spans, key.start..value.end);
        }
    });
    memory?;
    let list = content.clone().filter(|content| data[content.start] == b'[');
    if let Some(list) = list {
        let parts = listed(data, list.clone())?;
        let is_thinking = |at: usize| is_thinking(data, parts[at].clone());
        match (0..parts.len()).all(is_thinking) {
            true if !parts.is_empty() => edits.put(list, &[b"\"\""])?,
            _ => edits.remove(&parts, is_thinking)?,
        }
    }
    let Some(&first) = thinking.first() else { return Ok(()) };
    let mut thinking = &thinking[..];
    match content {
        // An answer of thinking alone gets empty content, like an answer of a model that does not think.
        Some(content) if data[content.clone()] == *b"null" && !has_calls => edits.put(content, &[b"\"\""])?,
        None if !has_calls => {
            edits.put(spans[first].clone(), &[b"\"", layout.text.as_bytes(), b"\":\"\""])?;
            thinking = &thinking[1..];
        }
        _ => {}
    }
    edits.remove(&spans, |at| thinking.contains(&at))
}
