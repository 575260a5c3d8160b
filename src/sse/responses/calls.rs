//! Ids of calls. Clients tell calls apart by them, so no two calls of a response may have the same.

use twox_hash::XxHash3_64;

use super::outgoing::{Outgoing, write_index};
use crate::Error;
use crate::json::decimal;
use crate::memory::{self, append_text, push};

/// How much of a message's id the ids of its calls have.
const ID_LEN: usize = 24;

/// Returns how ids begin that the model does not write, of calls in the text with this number, which is of this message.
pub fn prefix(id: &[u8], number: u64) -> Result<String, Error> {
    let mut prefix = String::new();
    append_text(&mut prefix, "call_")?;
    let letters = id.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let skip = letters.clone().count().saturating_sub(ID_LEN);
    for &letter in letters.skip(skip) {
        append_text(&mut prefix, char::from(letter).encode_utf8(&mut [0; 4]))?;
    }
    append_text(&mut prefix, "_")?;
    append_text(&mut prefix, decimal(number, &mut [0; 20]))?;
    append_text(&mut prefix, "_")?;
    Ok(prefix)
}

/// Returns the number that tells the id of a call from those before it in the response: 1, or one that is written after it.
pub fn unique(id: &[u8], outgoing: &mut Outgoing) -> Result<u64, Error> {
    let mut number = 1;
    let mut candidate = memory::copy(id)?;
    while outgoing.ids.contains(&XxHash3_64::oneshot(&candidate)) {
        number = (outgoing.ids.len() as u64 + 1).max(number + 1);
        candidate.truncate(id.len());
        write_number(number, &mut candidate)?;
    }
    push(&mut outgoing.ids, XxHash3_64::oneshot(&candidate))?;
    Ok(number)
}

/// Writes the number of an id after it, unless it is 1.
pub fn write_number(number: u64, id: &mut Vec<u8>) -> memory::Result<()> {
    if number == 1 { Ok(()) } else { write_index(b"_", number, id) }
}
