//! Ids of calls, of which no two of a response may be the same: a client puts each into a separate item.

use super::outgoing::{Outgoing, write_index};
use crate::Error;
use crate::memory;
use crate::sse::ids;

/// Returns the prefix of ids that the model does not write, for calls in the text with this number in this message.
pub fn prefix(id: &[u8], number: u64) -> Result<String, Error> {
    Ok(ids::prefix(ids::CALL, id, Some(number))?)
}

/// Returns the number that makes the id of a call unique in the response: 1, or one that is written after it.
pub fn unique(id: &[u8], outgoing: &mut Outgoing) -> Result<u64, Error> {
    let mut number = 1;
    let mut candidate = memory::copy(id)?;
    while outgoing.ids.has(&candidate) {
        number = (outgoing.ids.len() as u64 + 1).max(number + 1);
        candidate.truncate(id.len());
        write_number(number, &mut candidate)?;
    }
    outgoing.ids.add(&candidate)?;
    Ok(number)
}

/// Writes the number of an id after it, unless it is 1.
pub fn write_number(number: u64, id: &mut Vec<u8>) -> memory::Result<()> {
    if number == 1 { Ok(()) } else { write_index(b"_", number, id) }
}
