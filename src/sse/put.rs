//! Appends to a vector, and returns an error where memory runs out instead of ending the process.

use crate::Error;

/// Appends bytes.
pub fn put(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Error> {
    out.try_reserve(bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// Appends several stretches of bytes, in their order.
pub fn put_all(out: &mut Vec<u8>, parts: &[&[u8]]) -> Result<(), Error> {
    parts.iter().try_for_each(|part| put(out, part))
}
