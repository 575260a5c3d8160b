//! Changes of an event's values, which may be on several lines of data.

use memchr::memchr;

use crate::json::{Edits, Member, Span, decimal};
use crate::memory::{self, append, push};

/// Notes a change of text that may be on several lines of data. Other lines of the event may be between them.
pub fn put(
    edits: &mut Edits,
    data: &[u8],
    span: Span,
    write: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
) -> memory::Result<()> {
    if memchr(b'\n', &data[span.clone()]).is_none() && !span.is_empty() {
        return edits.replace(span, write);
    }
    let mut write = Some(write);
    let mut at = span.start;
    for line in data[span].split(|&byte| byte == b'\n') {
        if !line.is_empty() {
            edits.replace(at..at + line.len(), |out| write.take().map_or(Ok(()), |write| write(out)))?;
        }
        at += line.len() + 1;
    }
    Ok(())
}

/// Notes a change of a number.
pub fn put_number(edits: &mut Edits, data: &[u8], at: &Span, number: u64) -> memory::Result<()> {
    put(edits, data, at.clone(), |out| append(out, decimal(number, &mut [0; 20]).as_bytes()))
}

/// Notes a change of a string, unless the string already has the new value. `write` includes the quotes.
pub fn put_string(
    edits: &mut Edits,
    data: &[u8],
    at: &Span,
    write: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
) -> memory::Result<()> {
    let start = edits.text.len();
    write(&mut edits.text)?;
    if edits.text[start..] == data[at.clone()] {
        edits.text.truncate(start);
        return Ok(());
    }
    push(&mut edits.list, (at.clone(), start..edits.text.len()))
}

/// Notes that a member of an object is left out, with a comma next to it.
pub fn remove(edits: &mut Edits, data: &[u8], member: &Member) -> memory::Result<()> {
    let blank = |byte: &&u8| byte.is_ascii_whitespace();
    let (mut start, mut end) = (member.key.start, member.value.end);
    let after = end + data[end..].iter().take_while(blank).count();
    let before = start - data[..start].iter().rev().take_while(blank).count();
    if before > 0 && data[before - 1] == b',' {
        start = before - 1;
    } else if data.get(after) == Some(&b',') {
        end = after + 1;
    }
    put(edits, data, start..end, |_| Ok(()))
}
