//! The text of JSON strings: only this file writes and decodes escapes. The same code reads whole strings and strings in pieces. A
//! surrogate without its other half is valid in JSON, but not in UTF-8; it must be preserved.

use std::convert::Infallible;
use std::ops::Range;

use memchr::{memchr, memchr2};

use crate::memory::{self, append};

/// A part of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Part<'a> {
    /// A stretch of the text, which stays unchanged.
    Same(Range<usize>),
    /// An escape, or its character. Half a surrogate pair, which UTF-8 cannot represent, is written as the three bytes that UTF-8's
    /// scheme would have for its number: these are not valid UTF-8, but `escape` recognises them.
    Other(&'a [u8]),
}

/// Writes text as the inside of a string, and escapes only the characters that must be escaped.
pub fn escape(text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    escape_with(text, |part| match part {
        Part::Same(span) => append(out, &text[span]),
        Part::Other(escape) => append(out, escape),
    })
}

/// Writes text as a string, with its quotation marks.
pub fn write_string(text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    append(out, b"\"")?;
    escape(text, out)?;
    append(out, b"\"")
}

/// Passes the parts of a text to `put`, escaped as the inside of a string.
#[inline]
pub fn escape_with<E>(text: &[u8], mut put: impl FnMut(Part<'_>) -> Result<(), E>) -> Result<(), E> {
    let (mut from, mut at) = (0, 0);
    while at < text.len() {
        let mut len = 1;
        let mut unit = u16::from(text[at]);
        let short: &[u8] = match text[at] {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0x08 => b"\\b",
            0x0C => b"\\f",
            0..=0x1F => b"",
            0xED if matches!(text[at + 1..], [0xA0..=0xBF, 0x80..=0xBF, ..]) => {
                unit = 0xD000 | u16::from(text[at + 1] & 0x3F) << 6 | u16::from(text[at + 2] & 0x3F);
                len = 3;
                b""
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if from < at {
            put(Part::Same(from..at))?;
        }
        match short {
            [] => put(Part::Other(&escape_of_unit(unit)))?,
            _ => put(Part::Other(short))?,
        }
        at += len;
        from = at;
    }
    if from < at { put(Part::Same(from..at)) } else { Ok(()) }
}

/// Returns the escape of a unit of UTF-16.
pub fn escape_of_unit(unit: u16) -> [u8; 6] {
    let digit = |shift: u16| b"0123456789abcdef"[usize::from(unit >> shift & 0xF)];
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

/// Passes the text of a string without its quotes to `put`, in parts.
pub fn unescape(raw: &[u8], mut part: impl FnMut(&[u8])) {
    let mut put = |text: Part<'_>| {
        match text {
            Part::Same(span) => part(&raw[span]),
            Part::Other(text) => part(text),
        }
        Ok::<(), Infallible>(())
    };
    let mut string = Unescape::default();
    let Ok(()) = string.feed(raw, &mut put);
    let Ok(()) = string.end(&mut put);
}

/// The first half of a surrogate pair, while its second half has not arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surrogates {
    high: Option<u32>,
}

impl Surrogates {
    /// Passes the character of an escape to `put`, or keeps the first half of a surrogate pair.
    pub fn put<E>(&mut self, code: u32, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let code = match (self.high, code) {
            (Some(high), 0xDC00..0xE000) => {
                self.high = None;
                0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
            }
            _ => {
                self.end(&mut put)?;
                code
            }
        };
        match char::from_u32(code) {
            Some(character) => put(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None if code < 0xDC00 => {
                self.high = Some(code);
                Ok(())
            }
            None => put(&half(code)),
        }
    }

    /// Passes the kept half of a surrogate pair to `put`, because the other half did not follow.
    pub fn end<E>(&mut self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.high.take().map_or(Ok(()), |high| put(&half(high)))
    }
}

/// Returns a surrogate in the scheme of UTF-8.
fn half(code: u32) -> [u8; 3] {
    [0xED, 0x80 | (code >> 6 & 0x3F) as u8, 0x80 | (code & 0x3F) as u8]
}

/// Decodes the escapes of a string whose text arrives in pieces, cut anywhere except inside a character. Escapes that JSON does not
/// have, and raw control characters, stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct Unescape {
    surrogates: Surrogates,
    /// An incomplete escape, from its backslash on: `\`, or `\u` and up to three digits.
    held: [u8; LONGEST],
    len: usize,
    /// Whether the closing quote has been read.
    is_over: bool,
}

/// The bytes of the longest escape.
const LONGEST: usize = 6;

/// An escape at the beginning of a text.
enum Escape {
    /// The escape encodes this ASCII character.
    Short(u8),
    /// The escape encodes this UTF-16 unit.
    Unit(u32),
    /// JSON has no such escape: these bytes are text.
    None(usize),
    /// More bytes are needed.
    Cut,
}

impl Escape {
    /// Reads an escape. The text begins with a backslash.
    #[inline]
    fn read(text: &[u8]) -> Escape {
        Escape::Short(match text.get(1) {
            None => return Escape::Cut,
            Some(&itself @ (b'"' | b'\\' | b'/')) => itself,
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'u') => {
                let digits = text[2..].iter().take(4).take_while(|digit| digit.is_ascii_hexdigit());
                let (count, code) = digits.fold((0, 0), |(count, code), &digit| (count + 1, code << 4 | hex(digit)));
                return match count {
                    4 => Escape::Unit(code),
                    count if 2 + count == text.len() => Escape::Cut,
                    count => Escape::None(2 + count),
                };
            }
            Some(other) => return Escape::None(1 + usize::from(other.is_ascii())),
        })
    }
}

impl Unescape {
    /// Passes the next text to `put`, in parts. Text after the closing quote is ignored.
    #[inline]
    pub fn feed<E>(&mut self, text: &[u8], mut put: impl FnMut(Part<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut at = 0;
        while at < text.len() && !self.is_over {
            if self.len > 0 {
                at += self.join(&text[at..], &mut put)?;
                continue;
            }
            let len = memchr2(b'\\', b'"', &text[at..]).unwrap_or(text.len() - at);
            if len > 0 {
                self.end_pair(&mut put)?;
                put(Part::Same(at..at + len))?;
                at += len;
            } else if text[at] == b'"' {
                self.is_over = true;
                self.end_pair(&mut put)?;
            } else {
                match self.escape(&text[at..], &mut put)? {
                    Some(len) => at += len,
                    None => at += self.hold(&text[at..]),
                }
            }
        }
        Ok(())
    }

    /// Ends the string. The held part of an escape stays unchanged.
    pub fn end<E>(&mut self, mut put: impl FnMut(Part<'_>) -> Result<(), E>) -> Result<(), E> {
        self.end_pair(&mut put)?;
        let held = &self.held[..std::mem::take(&mut self.len)];
        if held.is_empty() { Ok(()) } else { put(Part::Other(held)) }
    }

    /// Continues the held escape. Returns the number of bytes of `text` that were read.
    #[inline(never)]
    fn join<E>(&mut self, text: &[u8], put: &mut impl FnMut(Part<'_>) -> Result<(), E>) -> Result<usize, E> {
        let held = self.len;
        let more = text.len().min(LONGEST - held);
        let mut joined = self.held;
        joined[held..held + more].copy_from_slice(&text[..more]);
        let joined = &joined[..held + more];
        let len = match self.escape(joined, put)? {
            Some(len) => {
                self.len = 0;
                len
            }
            None => self.hold(joined),
        };
        Ok(len - held)
    }

    /// Holds the beginning of an escape. Returns its length.
    fn hold(&mut self, escape: &[u8]) -> usize {
        self.held[..escape.len()].copy_from_slice(escape);
        self.len = escape.len();
        self.len
    }

    /// Passes the character of the escape at the beginning of `text` to `put`. Returns the escape's length, or `None` if more
    /// bytes are needed.
    #[inline]
    fn escape<E>(&mut self, text: &[u8], put: &mut impl FnMut(Part<'_>) -> Result<(), E>) -> Result<Option<usize>, E> {
        match Escape::read(text) {
            Escape::Short(character) => {
                self.end_pair(put)?;
                put(Part::Other(&[character])).map(|()| Some(2))
            }
            Escape::Unit(code) => {
                self.surrogates.put(code, |character| put(Part::Other(character)))?;
                Ok(Some(LONGEST))
            }
            Escape::None(len) => {
                self.end_pair(put)?;
                put(Part::Other(&text[..len])).map(|()| Some(len))
            }
            Escape::Cut => Ok(None),
        }
    }

    /// Passes the half of a surrogate pair to `put`, if one is held.
    #[inline]
    fn end_pair<E>(&mut self, put: &mut impl FnMut(Part<'_>) -> Result<(), E>) -> Result<(), E> {
        self.surrogates.end(|half| put(Part::Other(half)))
    }
}

/// Returns the value of a hexadecimal digit.
pub fn hex(digit: u8) -> u32 {
    (digit as char).to_digit(16).unwrap_or(0)
}

/// Adds the text of a string to `text`. `inside` is the string without its quotes.
pub fn append_decoded(text: &mut Vec<u8>, inside: &[u8]) -> memory::Result<()> {
    // No text is longer than its JSON.
    text.try_reserve(inside.len())?;
    unescape(inside, |part| text.extend_from_slice(part));
    Ok(())
}

/// Returns the text of a string with its quotes. `decoded` is a buffer for the text of a string with escapes.
pub fn decode<'a>(string: &'a [u8], decoded: &'a mut Vec<u8>) -> memory::Result<&'a [u8]> {
    let inside = &string[1..string.len() - 1];
    if memchr(b'\\', inside).is_none() {
        return Ok(inside);
    }
    memory::clear(decoded);
    append_decoded(decoded, inside)?;
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        unescape(raw, |part| text.extend_from_slice(part));
        text
    }

    #[test]
    fn strings_come_back_as_they_were() {
        for char in (0..=0x10FFFF).filter_map(char::from_u32) {
            let plain = char.to_string();
            let mut raw = Vec::new();
            escape(plain.as_bytes(), &mut raw).unwrap();
            assert_eq!(text(&raw), plain.as_bytes(), "{char:?}");
            let quoted = format!("\"{}\"", std::str::from_utf8(&raw).unwrap());
            assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), plain);
            let units: String = plain.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            assert_eq!(text(units.as_bytes()), plain.as_bytes(), "{units}");
        }
        assert_eq!(text(br#"a\"\\\/\b\f\n\r\tz"#), b"a\"\\/\x08\x0C\n\r\tz");
    }

    #[test]
    fn a_surrogate_alone_survives() {
        for raw in [
            "\\ud83d",
            "\\ude00",
            "a\\udfffb",
            "\\ud83dx",
            "\\ud83d\\u0041",
            "\\ud83d\\ud83d",
            "\\ude00\\ud83d",
            "\\ud800\\n",
        ] {
            let mut again = Vec::new();
            escape(&text(raw.as_bytes()), &mut again).unwrap();
            assert_eq!(again.escape_ascii().to_string().replace("\\\\", "\\"), raw.replace("\\u0041", "A"));
        }
        // Bytes that only look like half a surrogate pair, because they are cut short, stay unchanged.
        let mut again = Vec::new();
        escape(b"\xED\xA0", &mut again).unwrap();
        assert_eq!(again, b"\xED\xA0");
    }

    /// Returns the text of a string that arrives in pieces; half a surrogate pair becomes U+FFFD.
    fn joined<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let (mut unescape, mut out) = (Unescape::default(), Vec::new());
        let mut put = |piece: &str, part: Part<'_>| {
            match part {
                Part::Same(span) => out.extend_from_slice(piece[span].as_bytes()),
                Part::Other(text) => out.extend_from_slice(std::str::from_utf8(text).unwrap_or("\u{FFFD}").as_bytes()),
            }
            Ok::<(), Infallible>(())
        };
        for piece in pieces {
            let Ok(()) = unescape.feed(piece.as_bytes(), |part| put(piece, part));
        }
        let Ok(()) = unescape.end(|part| put("", part));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn undoes_a_string_however_it_is_cut() {
        let cases = [
            (r#"a\n\t\r\b\f\"\\\/z""#, "a\n\t\r\x08\x0C\"\\/z"),
            (r#"\u0041\u00e9\u65E5""#, "Aé日"),
            (r#"\ud83e\udde0!""#, "🧠!"),
            (r#"\ud83e!\udde0\ud83e\n\ud83e\ud83e\udde0\ud83e""#, "\u{FFFD}!\u{FFFD}\u{FFFD}\n\u{FFFD}🧠\u{FFFD}"),
            // Escapes that JSON does not have are copied.
            (r#"\q\u12\u12G4\é\x41""#, r"\q\u12\u12G4\é\x41"),
            ("raw\ttab\nand \x01 control\"", "raw\ttab\nand \x01 control"),
            // The string ends at the quote, whatever follows.
            (r#"a" b"#, "a"),
            (r#"\u00" b"#, r"\u00"),
            (r#"\u12\"a"#, "\\u12\"a"),
            // The text ends inside the string.
            (r"a\", r"a\"),
            (r"a\ud83e\u00", "a\u{FFFD}\\u00"),
            ("a\\u004", "a\\u004"),
            ("", ""),
        ];
        for (text, wanted) in cases {
            assert_eq!(joined([text]), wanted, "{text}");
            assert_eq!(joined(text.split_inclusive(|_| true)), wanted, "{text}, by characters");
            for (cut, _) in text.char_indices() {
                let (head, tail) = text.split_at(cut);
                assert_eq!(joined([head, tail]), wanted, "{text} cut at {cut}");
            }
        }
    }

    #[test]
    fn escapes_what_json_demands_and_nothing_else() {
        let mut all: String = (0..0x80u8).map(char::from).collect();
        all += "é日🧠\u{2028}\u{FFFD}";
        let mut escaped = Vec::new();
        escape(all.as_bytes(), &mut escaped).unwrap();
        let escaped = String::from_utf8(escaped).unwrap();
        assert_eq!(format!("\"{escaped}\""), serde_json::to_string(&all).unwrap());
        assert_eq!(joined([&*escaped]), all);
    }
}
