//! Decodes bytes that arrive in pieces as text. Invalid UTF-8 becomes U+FFFD, and the number of replacements must not depend on
//! the cuts.

use std::str;

use crate::utf8::incomplete_tail;

/// Holds the beginning of a character whose rest has not arrived. The scanner never cuts valid characters, so this is only
/// needed for invalid UTF-8.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decoder {
    held: [u8; 3],
    len: usize,
}

/// A stretch of text.
#[derive(Clone, Copy, Debug)]
pub enum Stretch<'a> {
    Str(&'a str),
    Char(char),
}

impl Stretch<'_> {
    /// Returns the stretch as a string, which is written to `room` if it is a single character.
    pub fn as_str<'r>(&'r self, room: &'r mut [u8; 4]) -> &'r str {
        match self {
            Stretch::Str(text) => text,
            Stretch::Char(character) => character.encode_utf8(room),
        }
    }
}

impl Decoder {
    /// Returns the next stretch of `bytes` and removes it, or `None` at their end.
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Stretch<'a>> {
        if bytes.is_empty() {
            return None;
        }
        if self.len > 0 {
            return self.join(bytes);
        }
        let whole = &bytes[..bytes.len() - incomplete_tail(bytes)];
        if whole.is_empty() {
            self.hold(bytes);
            *bytes = &[];
            return None;
        }
        let (text, taken) = match str::from_utf8(whole) {
            Ok(text) => (text, text.len()),
            Err(error) => match whole.split_at(error.valid_up_to()) {
                (&[], _) => {
                    *bytes = &bytes[error.error_len().unwrap_or(whole.len())..];
                    return Some(Stretch::Char(char::REPLACEMENT_CHARACTER));
                }
                (valid, _) => (str::from_utf8(valid).unwrap_or_default(), valid.len()),
            },
        };
        *bytes = &bytes[taken..];
        Some(Stretch::Str(text))
    }

    /// Ends the text. If the beginning of a character is held, it becomes U+FFFD.
    pub fn end(&mut self) -> Option<char> {
        let is_cut = self.len > 0;
        self.len = 0;
        is_cut.then_some(char::REPLACEMENT_CHARACTER)
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.held[..bytes.len()].copy_from_slice(bytes);
        self.len = bytes.len();
    }

    /// Completes the held character with the first bytes of `bytes`.
    fn join(&mut self, bytes: &mut &[u8]) -> Option<Stretch<'static>> {
        let mut joined = [0; 7];
        let more = bytes.len().min(4);
        joined[..self.len].copy_from_slice(&self.held[..self.len]);
        joined[self.len..self.len + more].copy_from_slice(&bytes[..more]);
        let joined = &joined[..self.len + more];
        if incomplete_tail(joined) == joined.len() {
            *bytes = &bytes[more..];
            self.hold(joined);
            return None;
        }
        let chunk = joined.utf8_chunks().next()?;
        let (character, taken) = match chunk.valid().chars().next() {
            Some(character) => (character, character.len_utf8()),
            None => (char::REPLACEMENT_CHARACTER, chunk.invalid().len()),
        };
        *bytes = &bytes[taken - self.len..];
        self.len = 0;
        Some(Stretch::Char(character))
    }
}

#[cfg(test)]
mod tests {
    use super::Decoder;

    fn decoded<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let (mut decoder, mut text) = (Decoder::default(), String::new());
        for mut piece in pieces {
            while let Some(stretch) = decoder.next(&mut piece) {
                text.push_str(stretch.as_str(&mut [0; 4]));
            }
        }
        text.extend(decoder.end());
        text
    }

    #[test]
    fn reads_as_the_whole_text_is_read_however_it_is_cut() {
        let texts: [&[u8]; 9] = [
            "aé日🧠z".as_bytes(),
            b"\xE2\x82A",
            b"\xF0\x9F\x98A\xF0\x9F\xF0\x9F",
            b"\xC0\x80\xED\xA0\x80a",
            b"\x80\x80\xFF\xF5b",
            b"\xE2\x82",
            b"\xE2\xE2\x82\xAC",
            b"\xF0\x9F\x98\xE2\x82\xAC\x98",
            b"",
        ];
        for text in texts {
            let whole = String::from_utf8_lossy(text);
            assert_eq!(decoded([text]), whole, "{text:x?}");
            assert_eq!(decoded(text.chunks(1)), whole, "{text:x?}, byte by byte");
            for cut in 0..text.len() {
                let (head, tail) = text.split_at(cut);
                assert_eq!(decoded([head, tail]), whole, "{text:x?} cut at {cut}");
            }
        }
    }
}
