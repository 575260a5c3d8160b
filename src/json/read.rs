//! Finds the positions of values in a JSON text. The reader is strict and returns ranges, because text that is not rewritten
//! must stay byte for byte. It does not recurse, so that hostile input cannot exhaust the stack, and it accepts bytes that are
//! not UTF-8 inside strings.

use std::ops::Range;

use super::string::unescape;

pub type Span = Range<usize>;

/// The positions of a member's key, with its quotes, and of its value.
#[derive(Clone)]
pub struct Member<At = Span> {
    pub key: At,
    pub value: At,
}

impl<At> Member<At> {
    /// Returns the member with each position replaced by what `place` returns for it.
    pub fn moved<To>(&self, place: impl Fn(&At) -> To) -> Member<To> {
        Member { key: place(&self.key), value: place(&self.value) }
    }
}

impl Member {
    pub fn span(&self) -> Span {
        self.key.start..self.value.end
    }

    /// Returns the value, if it is a whole number.
    pub fn number(&self, data: &[u8]) -> Option<u64> {
        whole_number(&data[self.value.clone()])
    }
}

/// The deepest nesting of values. One bit for each open value says whether it is an object.
const DEPTH: u32 = u128::BITS;

/// Reads a JSON text from front to back. If one of its functions returns `None`, the text is not JSON, and the reader must not
/// be used any more.
pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether reading failed because the text ended.
    is_cut: bool,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a [u8]) -> Reader<'a> {
        Reader { text, at: 0, is_cut: false }
    }

    /// Returns a reader that begins at this place in the text.
    pub fn at(text: &'a [u8], at: usize) -> Reader<'a> {
        Reader { at, ..Reader::new(text) }
    }

    /// Returns the first byte of the next token.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.byte()
    }

    /// Returns the next byte, blank or not.
    fn byte(&mut self) -> Option<u8> {
        let byte = self.text.get(self.at);
        if byte.is_none() {
            self.is_cut = true;
        }
        byte.copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Reads `byte` if it is the next byte, and returns whether it was.
    fn takes(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.takes(byte).then_some(())
    }

    /// Returns the position of the reader. After a failure, this is near the place where the text stops being JSON.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns, after a failure, whether the text may be the beginning of JSON.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Succeeds if no text is left.
    pub fn end(&mut self) -> Option<()> {
        self.peek().is_none().then_some(())
    }

    /// Reads an object. `member` gets each key, with its quotes, and reads the value.
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, Span) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.takes(b'}') {
            return Some(());
        }
        loop {
            let key = self.key()?;
            member(self, key)?;
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads an object. `member` gets each name, without its escapes, and each key, with its quotes, and reads the value.
    pub fn members(&mut self, mut member: impl FnMut(&mut Self, &[u8], Span) -> Option<()>) -> Option<()> {
        let text = self.text;
        self.object(|reader, key| member(reader, name(text, &key, &mut [0; 24]), key))
    }

    /// Reads an object, and returns the values of the members of these names. Of two members of one name, the last counts. The names must
    /// be at most 24 bytes long.
    pub fn find<const N: usize>(&mut self, wanted: [&[u8]; N]) -> Option<[Option<Span>; N]> {
        let mut found = [const { None }; N];
        self.members(|reader, name, _| {
            let at = wanted.iter().position(|wanted| *wanted == name);
            let value = reader.value()?;
            if let Some(at) = at {
                found[at] = Some(value);
            }
            Some(())
        })?;
        Some(found)
    }

    /// Reads an array. `item` reads each of its values.
    pub fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.takes(b']') {
            return Some(());
        }
        loop {
            item(self)?;
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads any value.
    pub fn value(&mut self) -> Option<Span> {
        self.peek()?;
        let start = self.at;
        let (mut objects, mut depth) = (0u128, 0);
        loop {
            let opened = match self.next()? {
                b'{' | b'[' => true,
                b'"' => {
                    self.string()?;
                    false
                }
                b't' => self.word(b"rue")?,
                b'f' => self.word(b"alse")?,
                b'n' => self.word(b"ull")?,
                first => self.number(first)?,
            };
            if opened {
                if depth == DEPTH {
                    return None;
                }
                depth += 1;
                let object = self.text[self.at - 1] == b'{';
                objects = objects << 1 | u128::from(object);
                if !self.takes(if object { b'}' } else { b']' }) {
                    if object {
                        self.key()?;
                    }
                    continue;
                }
                objects >>= 1;
                depth -= 1;
            }
            // A value has ended, and the values around it may have ended too.
            loop {
                if depth == 0 {
                    return Some(start..self.at);
                }
                match (self.next()?, objects & 1 == 1) {
                    (b',', object) => {
                        if object {
                            self.key()?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        objects >>= 1;
                        depth -= 1;
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Reads a string.
    pub fn text(&mut self) -> Option<Span> {
        self.expect(b'"')?;
        let start = self.at - 1;
        self.string()?;
        Some(start..self.at)
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Option<Span> {
        self.expect(b'"')?;
        let start = self.at - 1;
        self.string()?;
        let key = start..self.at;
        self.expect(b':')?;
        Some(key)
    }

    /// Reads the rest of a string after its opening quote.
    fn string(&mut self) -> Option<()> {
        loop {
            let byte = self.byte()?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'\\' => {
                    let escape = self.byte()?;
                    self.at += 1;
                    match escape {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                        b'u' => {
                            for _ in 0..4 {
                                self.byte()?.is_ascii_hexdigit().then_some(())?;
                                self.at += 1;
                            }
                        }
                        _ => return None,
                    }
                }
                0..=0x1F => return None,
                _ => {}
            }
        }
    }

    /// Reads the rest of `true`, `false` or `null`, which opens no bracket.
    fn word(&mut self, rest: &[u8]) -> Option<bool> {
        let left = &self.text[self.at..];
        if !left.starts_with(rest) {
            self.is_cut |= rest.starts_with(left);
            return None;
        }
        self.at += rest.len();
        Some(false)
    }

    /// Reads the rest of a number, which opens no bracket.
    fn number(&mut self, first: u8) -> Option<bool> {
        match if first == b'-' { self.digit()? } else { first } {
            b'0' => {}
            b'1'..=b'9' => while self.digit().is_some() {},
            _ => return None,
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(false)
    }

    fn digit(&mut self) -> Option<u8> {
        let digit = self.byte().filter(u8::is_ascii_digit)?;
        self.at += 1;
        Some(digit)
    }

    fn digits(&mut self) -> Option<()> {
        self.digit()?;
        while self.digit().is_some() {}
        Some(())
    }
}

/// Returns whether the text is exactly one value.
pub fn is_json(text: &[u8]) -> bool {
    let mut reader = Reader::new(text);
    reader.value().is_some() && reader.end().is_some()
}

/// Returns whether the text is exactly one object.
pub fn is_object(text: &[u8]) -> bool {
    Reader::new(text).peek() == Some(b'{') && is_json(text)
}

/// Returns a key without its quotes and escapes. The result is empty for a key longer than `room`, because no wanted key is that
/// long.
pub fn name<'a>(text: &'a [u8], key: &Span, room: &'a mut [u8; 24]) -> &'a [u8] {
    let raw = &text[key.start + 1..key.end - 1];
    if !raw.contains(&b'\\') {
        return raw;
    }
    let mut len = 0;
    unescape(raw, |part| {
        if let Some(place) = room.get_mut(len..len + part.len()) {
            place.copy_from_slice(part);
        }
        len += part.len();
    });
    room.get(..len).unwrap_or_default()
}

/// Returns a number that is written only with digits, like an index.
pub fn whole_number(digits: &[u8]) -> Option<u64> {
    let add = |number: u64, digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_whole_parser_reads_and_nothing_else() {
        let good: [&str; 14] = [
            "0",
            "-0",
            "10.5e+3",
            "1E9",
            "\"\"",
            "\"\\u00e9\\ud800\\\"/\\/\"",
            "[]",
            "{}",
            "[[],{},[1,2]]",
            "null",
            " \t\r\n{ \"a\" : [ true , false ] , \"b\" : { \"c\" : null } } ",
            "123456789012345678901234567890",
            "{\"a\":1,\"a\":2}",
            "[{\"\":{}}]",
        ];
        let bad: [&str; 30] = [
            "",
            " ",
            "01",
            "-",
            "+1",
            ".5",
            "1.",
            "1e",
            "1e+",
            "tru",
            "nul",
            "True",
            "\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\",
            "\"\n\"",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "{",
            "{\"a\"",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "[1}",
            "{\"a\":1]",
            "1 2",
        ];
        for text in good {
            // A lone surrogate is valid JSON, but not every parser can decode it to a string, so the value is ignored.
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{text}");
            assert!(is_json(text.as_bytes()), "{text}");
            // The beginning of a text is not a whole value, except for numbers.
            for cut in (1..text.trim_end().len()).filter(|_| !text.as_bytes()[0].is_ascii_digit()) {
                let head = &text.as_bytes()[..cut];
                let whole = std::str::from_utf8(head)
                    .is_ok_and(|head| serde_json::from_str::<serde::de::IgnoredAny>(head).is_ok());
                assert_eq!(is_json(head), whole, "{text} cut at {cut}");
            }
        }
        for text in bad {
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_err(), "{text}");
            assert!(!is_json(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth| [b"[".repeat(depth), b"]".repeat(depth)].concat();
        assert!(is_json(&nested(128)));
        assert!(!is_json(&nested(129)));
        assert!(!is_json(&nested(100_000)));
        assert!(!is_json(&b"{\"a\":".repeat(100_000)));
    }
}
