//! Functions on bytes that need not be valid UTF-8. A tool's output can be any bytes, and yet no cut may split a character.

use crate::utf8::is_continuation;

/// Returns whether the bytes are only white space.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Returns the ASCII letters of a line. Messages with the same letters differ at most in their numbers.
pub fn letters(line: &[u8]) -> Vec<u8> {
    line.iter().copied().filter(u8::is_ascii_alphabetic).collect()
}

/// Returns whether no character begins before this offset and ends after it. A stray continuation byte is not part of a character.
pub fn is_boundary(bytes: &[u8], at: usize) -> bool {
    let goes_on = |byte: &u8| is_continuation(*byte);
    let mut before = bytes[at.saturating_sub(3)..at].iter().rev();
    !bytes.get(at).is_some_and(goes_on) || before.find(|byte| !goes_on(byte)).is_none_or(|byte| *byte < 0xc0)
}
