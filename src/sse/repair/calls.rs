//! Mends the calls of a chunk. Some servers write index 0 for all calls of an answer, or no index. Some write the arguments as
//! an object or as null, although clients expect pieces of a string.

use crate::json::{Edits, Reader, Span, decimal, whole_number, write_string};
use crate::memory::{self, copy, push};
use crate::sse::choices::says;

/// The maximum number of calls of an answer that are remembered, and the longest id.
const CALLS: usize = 128;
const LONGEST_ID: usize = 256;

/// A call that has begun.
struct Call {
    /// The id of the call as JSON; empty if it has none.
    id: Vec<u8>,
    /// The index of the call in the server's chunks, and the index that is sent.
    server: Option<u64>,
    own: u64,
}

/// The calls of a choice, in their order.
#[derive(Default)]
pub struct Calls {
    all: Vec<Call>,
}

/// The facts about an entry in a list of calls.
#[derive(Default)]
struct Entry {
    start: usize,
    is_empty: bool,
    id: Option<Span>,
    /// The position of `index`, and its value if it is a whole number.
    index: Option<(Span, Option<u64>)>,
    has_name: bool,
    arguments: Option<Span>,
}

impl Calls {
    /// Notes the changes of a list of calls.
    pub fn mend(&mut self, text: &[u8], list: Span, edits: &mut Edits) -> memory::Result<()> {
        let mut result = Ok(());
        // This was parsed before, but may be something other than a list.
        let _ = Reader::at(text, list.start).array(|reader| {
            if reader.peek()? != b'{' {
                return reader.value().map(drop);
            }
            let entry = Entry::read(text, reader)?;
            if !entry.is_empty {
                result = self.entry(text, &entry, edits);
            }
            result.is_ok().then_some(())
        });
        result
    }

    fn entry(&mut self, text: &[u8], entry: &Entry, edits: &mut Edits) -> memory::Result<()> {
        arguments(text, entry.arguments.as_ref(), edits)?;
        let server = entry.index.as_ref().and_then(|(_, index)| *index);
        let id = entry.id.as_ref().map_or(&b""[..], |id| &text[id.clone()]);
        let Some(own) = self.own(id, server, entry.has_name)? else { return Ok(()) };
        let digits = &mut [0; 20];
        let own_digits = decimal(own, digits).as_bytes();
        match &entry.index {
            Some(_) if server == Some(own) => Ok(()),
            Some((at, _)) => edits.put(at.clone(), &[own_digits]),
            None => edits.put(entry.start + 1..entry.start + 1, &[b"\"index\":", own_digits, b","]),
        }
    }

    /// Returns the new index of the call that an entry belongs to, or `None` if there are too many calls.
    fn own(&mut self, id: &[u8], server: Option<u64>, has_name: bool) -> memory::Result<Option<u64>> {
        let is_same = |call: &&Call| server.is_none() || call.server == server;
        let of_index = || self.all.iter().rfind(is_same);
        let known = match id {
            b"" if server.is_none() && has_name => None,
            b"" => of_index(),
            _ => {
                self.all.iter().filter(is_same).rfind(|call| call.id == id).or_else(|| of_index().filter(|_| !has_name))
            }
        };
        if let Some(known) = known {
            return Ok(Some(known.own));
        }
        if self.all.len() == CALLS || id.len() > LONGEST_ID {
            return Ok(None);
        }
        let is_free = |own: &u64| self.all.iter().all(|call| call.own != *own);
        let next = self.all.iter().map(|call| call.own.saturating_add(1)).max().unwrap_or(0);
        let own = server.filter(is_free).unwrap_or(next);
        push(&mut self.all, Call { id: copy(id)?, server, own })?;
        Ok(Some(own))
    }
}

impl Entry {
    fn read(text: &[u8], reader: &mut Reader<'_>) -> Option<Entry> {
        let mut entry = Entry { start: reader.offset(), is_empty: true, ..Entry::default() };
        reader.members(|reader, name, _| {
            entry.is_empty = false;
            match name {
                b"function" if reader.peek() == Some(b'{') => {
                    reader.members(|reader, name, _| {
                        let value = reader.value()?;
                        match name {
                            b"name" => entry.has_name = says(text, &value),
                            b"arguments" => entry.arguments = Some(value),
                            _ => {}
                        }
                        Some(())
                    })?;
                }
                b"id" => entry.id = Some(reader.value()?).filter(|id| says(text, id)),
                b"index" => {
                    let value = reader.value()?;
                    entry.index = Some((value.clone(), whole_number(&text[value])));
                }
                _ => {
                    reader.value()?;
                }
            }
            Some(())
        })?;
        Some(entry)
    }
}

/// Changes arguments that are not a string into a string.
pub fn arguments(text: &[u8], arguments: Option<&Span>, edits: &mut Edits) -> memory::Result<()> {
    let Some(at) = arguments.filter(|at| text[at.start] != b'"') else { return Ok(()) };
    let value = if text[at.clone()] == *b"null" { &b""[..] } else { &text[at.clone()] };
    edits.replace(at.clone(), |out| write_string(value, out))
}
