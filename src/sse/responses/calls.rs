//! Ids of calls. No two calls of a response may have the same id, because clients distinguish items by their ids.

use super::outgoing::{Outgoing, write_index};
use crate::Error;
use crate::answer::ids;
use crate::memory;

/// Returns the prefix of the ids of calls for which the model writes no id, in the text with this number of this message.
pub fn prefix(id: &[u8], number: u64) -> Result<String, Error> {
    Ok(ids::prefix(ids::CALL, id, Some(number))?)
}

/// Returns the number that makes a call's id unique in the response: 1 if the id itself is unique, else a number to write after
/// it.
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

/// Writes a call's `number` after its id, unless the number is 1.
pub fn write_number(number: u64, id: &mut Vec<u8>) -> memory::Result<()> {
    if number == 1 { Ok(()) } else { write_index(b"_", number, id) }
}
