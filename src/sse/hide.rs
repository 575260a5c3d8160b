//! Leaves out the thinking that a server has split itself, of lists of blocks and items. Thinking that is split here is not written in
//! the first place.

use crate::json::{Edits, Span, members, values};
use crate::memory::{self, push};

/// The types of thinking in Messages.
const THINKING: [&[u8]; 2] = [b"\"thinking\"", b"\"redacted_thinking\""];

/// Removes the blocks of thinking from the list at the end of a path of members.
pub fn blocks(data: &[u8], path: &[&[u8]], edits: &mut Edits) -> memory::Result<()> {
    list(data, path, |at| is_thinking(data, at), edits)
}

/// Removes the items of reasoning from the list at the end of a path of members.
pub fn items(data: &[u8], path: &[&[u8]], edits: &mut Edits) -> memory::Result<()> {
    list(data, path, |at| is_of(data, at, &[b"\"reasoning\""]), edits)
}

fn list(data: &[u8], path: &[&[u8]], is_removed: impl Fn(Span) -> bool, edits: &mut Edits) -> memory::Result<()> {
    let mut at = 0..data.len();
    for &key in path {
        let mut found = None;
        members(data, at, |name, _, value| {
            if name == key {
                found = Some(value);
            }
        });
        let Some(value) = found else { return Ok(()) };
        at = value;
    }
    if data[at.start] != b'[' {
        return Ok(());
    }
    let values = listed(data, at)?;
    edits.remove(&values, |at| is_removed(values[at].clone()))
}

/// Lists the values of an array.
pub fn listed(data: &[u8], array: Span) -> memory::Result<Vec<Span>> {
    let (mut list, mut memory) = (Vec::new(), Ok(()));
    values(data, array, |value| {
        if memory.is_ok() {
            memory = push(&mut list, value);
        }
    });
    memory.map(|()| list)
}

/// Returns whether a block of Messages, or a part of content that is a list, is thinking.
pub fn is_thinking(data: &[u8], value: Span) -> bool {
    is_of(data, value, &THINKING)
}

fn is_of(data: &[u8], value: Span, kinds: &[&[u8]]) -> bool {
    let mut is = false;
    members(data, value, |name, _, value| {
        if name == b"type" {
            is = kinds.contains(&&data[value]);
        }
    });
    is
}
