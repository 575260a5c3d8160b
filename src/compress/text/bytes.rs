//! Questions about bytes that may be of no valid encoding: a tool's output can hold anything, and no cut may tear a character.

use crate::utf8::is_continuation;

/// Nothing but white space.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Does no character begin before this place and go on behind it? Bytes that continue none are places too.
pub fn is_boundary(bytes: &[u8], at: usize) -> bool {
    let goes_on = |byte: &u8| is_continuation(*byte);
    let mut before = bytes[at.saturating_sub(3)..at].iter().rev();
    !bytes.get(at).is_some_and(goes_on) || before.find(|byte| !goes_on(byte)).is_none_or(|byte| *byte < 0xc0)
}
