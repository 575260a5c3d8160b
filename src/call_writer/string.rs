//! Into JSON strings and out of them, while they stream.

use super::output::Put;
use crate::Error;

/// Writes text as the inside of a JSON string: only what must be is escaped.
pub fn escape(text: &str, out: &mut impl Put) -> Result<(), Error> {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        let mut unicode = *b"\\u0000";
        let escaped = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\t' => "\\t",
            b'\r' => "\\r",
            0x08 => "\\b",
            0x0C => "\\f",
            _ => {
                unicode[4] = b"0123456789abcdef"[usize::from(byte >> 4)];
                unicode[5] = b"0123456789abcdef"[usize::from(byte & 0xF)];
                std::str::from_utf8(&unicode).unwrap_or_default()
            }
        };
        if from < at {
            out.put(&text[from..at])?;
        }
        out.put(escaped)?;
        from = at + 1;
    }
    if from < text.len() { out.put(&text[from..]) } else { Ok(()) }
}

/// Writes text as a JSON string.
pub fn quote(text: &str, out: &mut impl Put) -> Result<(), Error> {
    out.put("\"")?;
    escape(text, out)?;
    out.put("\"")
}

/// Two halves of a character that is written as a pair of surrogates. Half a pair becomes U+FFFD.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surrogates {
    high: Option<u32>,
}

impl Surrogates {
    /// Writes the character of an escape, or keeps the first half of one.
    pub fn put(&mut self, code: u32, out: &mut impl Put) -> Result<(), Error> {
        if let (Some(high), 0xDC00..0xE000) = (self.high, code) {
            self.high = None;
            let code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00);
            return out.put_char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.end(out)?;
        if (0xD800..0xDC00).contains(&code) {
            self.high = Some(code);
            return Ok(());
        }
        out.put_char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Writes half a pair after which its other half did not come.
    pub fn end(&mut self, out: &mut impl Put) -> Result<(), Error> {
        if self.high.take().is_some() { out.put_char(char::REPLACEMENT_CHARACTER) } else { Ok(()) }
    }
}

/// Decodes the inside of a JSON string. Escapes that JSON does not have, and raw control characters, stay as they are.
#[derive(Clone, Debug, Default)]
pub struct Unescape {
    surrogates: Surrogates,
    /// An escape whose rest has not come, from its backslash on: `\`, or `\u` and up to three digits.
    escape: [u8; 6],
    len: usize,
    /// The closing quote has come.
    is_over: bool,
}

impl Unescape {
    /// Decodes what follows. After the closing quote nothing counts.
    pub fn feed(&mut self, text: &str, out: &mut impl Put) -> Result<(), Error> {
        let (bytes, mut at) = (text.as_bytes(), 0);
        while at < bytes.len() && !self.is_over {
            if self.len == 0 {
                let plain = memchr::memchr2(b'\\', b'"', &bytes[at..]).unwrap_or(bytes.len() - at);
                if plain > 0 {
                    self.surrogates.end(out)?;
                    out.put(&text[at..at + plain])?;
                    at += plain;
                    continue;
                }
                if bytes[at] == b'"' {
                    self.is_over = true;
                    return self.surrogates.end(out);
                }
            } else if !(if self.len == 1 { bytes[at].is_ascii() } else { bytes[at].is_ascii_hexdigit() }) {
                self.give_up(out)?;
                continue;
            }
            self.escape[self.len] = bytes[at];
            self.len += 1;
            at += 1;
            self.decode(out)?;
        }
        Ok(())
    }

    /// Ends the string. What is held of an escape stays as it is.
    pub fn end(&mut self, out: &mut impl Put) -> Result<(), Error> {
        self.give_up(out)?;
        self.surrogates.end(out)
    }

    /// Writes the escape, if it is whole.
    fn decode(&mut self, out: &mut impl Put) -> Result<(), Error> {
        let decoded = match self.escape[..self.len] {
            [b'\\'] | [b'\\', b'u', ..] if self.len < 6 => return Ok(()),
            [b'\\', b'u', ref digits @ ..] => {
                let code = digits.iter().fold(0, |code, &digit| code << 4 | hex(digit));
                self.len = 0;
                return self.surrogates.put(code, out);
            }
            [b'\\', b'b'] => "\x08",
            [b'\\', b'f'] => "\x0C",
            [b'\\', b'n'] => "\n",
            [b'\\', b'r'] => "\r",
            [b'\\', b't'] => "\t",
            [b'\\', b'"'] => "\"",
            [b'\\', b'\\'] => "\\",
            [b'\\', b'/'] => "/",
            _ => return self.give_up(out),
        };
        self.len = 0;
        self.surrogates.end(out)?;
        out.put(decoded)
    }

    /// Writes what was held as an escape as it stands.
    fn give_up(&mut self, out: &mut impl Put) -> Result<(), Error> {
        let held = &self.escape[..self.len];
        self.len = 0;
        if held.is_empty() {
            return Ok(());
        }
        self.surrogates.end(out)?;
        out.put(std::str::from_utf8(held).unwrap_or_default())
    }
}

/// The value of a hexadecimal digit.
pub fn hex(digit: u8) -> u32 {
    (digit as char).to_digit(16).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Unescape, quote};

    fn unescaped<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let (mut unescape, mut out) = (Unescape::default(), String::new());
        for piece in pieces {
            unescape.feed(piece, &mut out).unwrap();
        }
        unescape.end(&mut out).unwrap();
        out
    }

    #[test]
    fn decodes_a_string_however_it_is_cut() {
        let cases = [
            (r#"a\n\t\r\b\f\"\\\/z""#, "a\n\t\r\x08\x0C\"\\/z"),
            (r#"\u0041\u00e9\u65E5""#, "Aé日"),
            (r#"\ud83e\udde0!""#, "🧠!"),
            (r#"\ud83e!\udde0\ud83e\n\ud83e\ud83e\udde0\ud83e""#, "\u{FFFD}!\u{FFFD}\u{FFFD}\n\u{FFFD}🧠\u{FFFD}"),
            // What JSON does not have stays.
            (r#"\q\u12\u12G4\é\x41""#, r"\q\u12\u12G4\é\x41"),
            ("raw\ttab\nand \x01 control\"", "raw\ttab\nand \x01 control"),
            // The string ends there, whatever follows.
            (r#"a" b"#, "a"),
            (r#"\u00" b"#, r"\u00"),
            (r#"\u12\"a"#, "\\u12\"a"),
            // It is cut.
            (r"a\", r"a\"),
            (r"a\ud83e\u00", "a\u{FFFD}\\u00"),
            ("a\\u004", "a\\u004"),
            ("", ""),
        ];
        for (text, decoded) in cases {
            assert_eq!(unescaped([text]), decoded, "{text}");
            assert_eq!(unescaped(text.split_inclusive(|_| true)), decoded, "{text}, by characters");
            for (cut, _) in text.char_indices() {
                let (head, tail) = text.split_at(cut);
                assert_eq!(unescaped([head, tail]), decoded, "{text} cut at {cut}");
            }
        }
    }

    #[test]
    fn escapes_what_json_demands_and_nothing_else() {
        let mut all: String = (0..0x80u8).map(char::from).collect();
        all += "é日🧠\u{2028}\u{FFFD}";
        let mut quoted = String::new();
        quote(&all, &mut quoted).unwrap();
        assert_eq!(quoted, serde_json::to_string(&all).unwrap());
        assert_eq!(unescaped([&quoted[1..]]), all);
    }
}
