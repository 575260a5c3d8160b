//! Escapes and unescapes JSON strings as text, by the functions of the crate's `json` for bytes.

use std::str;

use super::output::Put;
use crate::Error;
use crate::json::{Part, Unescape, escape_with};

/// Writes text as the inside of a JSON string.
pub fn escape(text: &str, out: &mut impl Put) -> Result<(), Error> {
    escape_with(text.as_bytes(), |part| put(part, text, out))
}

/// Writes text as a JSON string.
pub fn quote(text: &str, out: &mut impl Put) -> Result<(), Error> {
    out.put("\"")?;
    escape(text, out)?;
    out.put("\"")
}

/// Decodes and writes the next text of a JSON string. Half a pair of surrogates becomes U+FFFD.
pub fn unescape(string: &mut Unescape, text: &str, out: &mut impl Put) -> Result<(), Error> {
    string.feed(text.as_bytes(), |part| put(part, text, out))
}

/// Writes the held bytes at the end of a JSON string.
pub fn end(string: &mut Unescape, out: &mut impl Put) -> Result<(), Error> {
    string.end(|part| put(part, "", out))
}

fn put(part: Part<'_>, text: &str, out: &mut impl Put) -> Result<(), Error> {
    match part {
        Part::Same(span) => out.put(&text[span]),
        Part::Other(bytes) => put_character(bytes, out),
    }
}

/// Writes the character of an escape.
pub fn put_character(bytes: &[u8], out: &mut impl Put) -> Result<(), Error> {
    out.put(str::from_utf8(bytes).unwrap_or("\u{FFFD}"))
}
