//! Writes messages and parts of the server with the content that was sent: clients compare what is repeated with the deltas.

use super::fields::Object;
use super::outgoing::{ItemTarget, write_text};
use crate::json::{Edits, Span};
use crate::memory;

/// Writes a message of the server with this id, status and content, without the brackets of the list.
pub fn write_message(
    target: ItemTarget<'_>,
    data: &[u8],
    item: &Object,
    status: &[u8],
    content: &[u8],
    out: &mut Vec<u8>,
) -> memory::Result<()> {
    let mut edits = Edits::default();
    if let Some(id) = item.id.clone().filter(|_| target.pair > 1) {
        edits.replace(id, |out| target.write_id("", out))?;
    }
    if let Some(at) = item.status.clone() {
        edits.put(at, &[status])?;
    }
    if let Some(at) = item.content.clone() {
        edits.put(at, &[b"[", content, b"]"])?;
    }
    edits.apply(data, item.whole.clone(), Span::clone, out)
}

/// Writes a text part of the server with another text and these annotations, without the brackets of the list.
pub fn write_text_part(
    data: &[u8],
    part: &Object,
    text: &[u8],
    annotations: &[u8],
    out: &mut Vec<u8>,
) -> memory::Result<()> {
    let mut edits = Edits::default();
    if let Some(at) = part.text.clone() {
        edits.replace(at, |out| write_text(b"", text, out))?;
    }
    if let Some(at) = part.logprobs.clone() {
        edits.put(at, &[b"[]"])?;
    }
    if let Some(at) = part.annotations.clone() {
        edits.put(at, &[b"[", annotations, b"]"])?;
    }
    edits.apply(data, part.whole.clone(), Span::clone, out)
}
