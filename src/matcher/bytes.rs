//! Classes of single bytes: blanks, and the bytes of names in tags, headers and code fences.

/// A set of bytes: bit `byte % 64` of the number at `byte / 64`.
pub type ByteSet = [u64; 4];

/// Returns whether the byte is in the set.
pub fn contains(set: &ByteSet, byte: u8) -> bool {
    set[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
}

/// Adds the byte to the set.
pub fn insert(set: &mut ByteSet, byte: u8) {
    set[usize::from(byte / 64)] |= 1 << (byte % 64);
}

/// Returns whether the byte is a space, tab, line feed, vertical tab, form feed or carriage return.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns whether the byte is white space in a tag. This is HTML's white space, without the vertical tab.
pub fn is_tag_space(byte: u8) -> bool {
    is_blank(byte) && byte != 0x0B
}

/// Returns whether the byte may be the first of an attribute's name.
pub fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b':'
}

/// Returns whether the byte may be in an attribute's name, after the first byte.
pub fn is_name(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || byte == b'.' || byte == b'-'
}

/// Returns whether the byte may be in the suffix after the colon of a tag's name.
pub fn is_suffix(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Returns whether the byte may be in the name of a code fence's language.
pub fn is_language(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'#' | b'-')
}

/// Returns whether both are the same bytes, in any ASCII case if `fold` is set.
pub fn same(fold: bool, a: &[u8], b: &[u8]) -> bool {
    if fold { a.eq_ignore_ascii_case(b) } else { a == b }
}

/// Returns the text without the blanks around it.
pub fn trim(text: &[u8]) -> &[u8] {
    trim_start(trim_end(text))
}

/// Returns the text without the blanks at its end.
pub fn trim_end(text: &[u8]) -> &[u8] {
    &text[..text.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1)]
}

/// Returns the text without the blanks at its beginning.
pub fn trim_start(text: &[u8]) -> &[u8] {
    &text[text.iter().position(|&byte| !is_blank(byte)).unwrap_or(text.len())..]
}
