//! Checks byte by byte whether bytes are a JSON value, where it ends, and which byte cannot belong to it. The contents of a string
//! are not checked, because control characters and invalid escapes do not affect where the string ends.

/// The maximum number of brackets inside each other.
const DEPTH: u8 = 64;
const WORDS: [&[u8]; 3] = [b"true", b"false", b"null"];

/// The position of the next byte in a value.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// Before a value; directly after `[`; directly after `{`.
    Value,
    FirstItem,
    FirstKey,
    /// After a comma in an object; after a key; after a value in brackets.
    Key,
    Colon,
    Next,
    Text {
        is_key: bool,
        is_escaped: bool,
    },
    // In a number: after its sign, a zero, other digits, the point, the digits of the fraction, the `e`, the sign of the
    // exponent, and the digits of the exponent.
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
    /// In the word with this number, after `len` letters.
    Word {
        word: u8,
        len: u8,
    },
    Over,
}

/// The role of a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// The byte belongs to the value, which continues.
    Inside,
    /// The byte is the last byte of the value.
    Last,
    /// The value has ended before the byte.
    After,
    /// The byte cannot continue any value.
    Fault,
}

/// A value that is read byte by byte.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Syntax {
    place: Place,
    depth: u8,
    /// A bit for each open bracket, the innermost last. A set bit means an object.
    objects: u64,
}

impl Syntax {
    pub const START: Syntax = Syntax { place: Place::Value, depth: 0, objects: 0 };

    /// Returns whether the next byte is in a string.
    #[inline]
    pub fn is_text(&self) -> bool {
        matches!(self.place, Place::Text { .. })
    }

    /// Returns whether the next byte is escaped. Outside strings, no byte is.
    #[inline]
    pub fn is_escaped(&mut self) -> Option<&mut bool> {
        match &mut self.place {
            Place::Text { is_escaped, .. } => Some(is_escaped),
            _ => None,
        }
    }

    /// Returns whether the next byte is in a string, and not escaped.
    #[inline]
    pub fn is_in_text(&self) -> bool {
        matches!(self.place, Place::Text { is_escaped: false, .. })
    }

    /// Returns the number of objects that are open.
    pub fn open_objects(&self) -> u8 {
        self.objects.count_ones() as u8
    }

    /// Returns whether the next byte is in a key of the outermost object.
    pub fn is_in_key_of_root(&self) -> bool {
        self.depth == 1 && matches!(self.place, Place::Text { is_key: true, .. })
    }

    /// Returns whether the value of a member of the outermost object is next.
    pub fn is_before_value_of_root(&self) -> bool {
        self.depth == 1 && self.is_object() && self.place == Place::Value
    }

    /// Returns whether the value is complete. A number may still continue.
    pub fn is_over(&self) -> bool {
        self.place == Place::Over
    }

    /// Reads the next byte. After a fault, or after the end, no more bytes may be read.
    pub fn step(&mut self, byte: u8) -> Seen {
        use Place::*;
        self.place = match (self.place, byte) {
            (Text { is_key, is_escaped: true }, _) => Text { is_key, is_escaped: false },
            (Text { is_key, .. }, b'\\') => Text { is_key, is_escaped: true },
            (Text { is_key: true, .. }, b'"') => Colon,
            (Text { .. }, b'"') => return self.end_value(),
            (Text { .. }, _) => return Seen::Inside,
            (Value | FirstItem | FirstKey | Key | Colon | Next, b' ' | b'\t' | b'\n' | b'\r') => return Seen::Inside,
            (Value | FirstItem, b'"') => Text { is_key: false, is_escaped: false },
            (Value | FirstItem, b'{' | b'[') => return self.open(byte == b'{'),
            (Value | FirstItem, b'-') => Minus,
            (Value | FirstItem | Minus, b'0') => Zero,
            (Value | FirstItem | Minus, b'1'..=b'9') => Digits,
            (Value | FirstItem, b't') => Word { word: 0, len: 1 },
            (Value | FirstItem, b'f') => Word { word: 1, len: 1 },
            (Value | FirstItem, b'n') => Word { word: 2, len: 1 },
            (FirstItem, b']') | (FirstKey, b'}') => return self.close(),
            (FirstKey | Key, b'"') => Text { is_key: true, is_escaped: false },
            (Colon, b':') => Value,
            (Next, b',') => match self.is_object() {
                true => Key,
                false => Value,
            },
            (Next, b'}') if self.is_object() => return self.close(),
            (Next, b']') if !self.is_object() => return self.close(),
            (Digits, b'0'..=b'9') => return Seen::Inside,
            (Zero | Digits, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Digits | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => Sign,
            (Exponent | Sign | Power, b'0'..=b'9') => Power,
            (Zero | Digits | Fraction | Power, _) => {
                return match self.end_value() {
                    Seen::Inside => self.step(byte),
                    _ => Seen::After,
                };
            }
            (Word { word, len }, _) if WORDS[usize::from(word)][usize::from(len)] == byte => {
                let len = len + 1;
                if usize::from(len) == WORDS[usize::from(word)].len() {
                    return self.end_value();
                }
                Word { word, len }
            }
            _ => return Seen::Fault,
        };
        Seen::Inside
    }

    fn is_object(&self) -> bool {
        self.objects & 1 == 1
    }

    fn open(&mut self, is_object: bool) -> Seen {
        if self.depth == DEPTH {
            return Seen::Fault;
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u64::from(is_object);
        self.place = if is_object { Place::FirstKey } else { Place::FirstItem };
        Seen::Inside
    }

    fn close(&mut self) -> Seen {
        self.depth -= 1;
        self.objects >>= 1;
        self.end_value()
    }

    fn end_value(&mut self) -> Seen {
        let is_outermost = self.depth == 0;
        self.place = if is_outermost { Place::Over } else { Place::Next };
        if is_outermost { Seen::Last } else { Seen::Inside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::is_json;

    /// Returns the number of bytes that belong to the value, and whether it has ended or must end there.
    fn read(text: &[u8]) -> (usize, Seen) {
        let mut syntax = Syntax::START;
        for (at, &byte) in text.iter().enumerate() {
            match syntax.step(byte) {
                Seen::Inside => {}
                Seen::Last => return (at + 1, Seen::Last),
                seen => return (at, seen),
            }
        }
        (text.len(), Seen::Inside)
    }

    #[test]
    fn knows_what_is_no_json_at_its_first_byte() {
        for (text, wanted) in [
            ("{\"a\": [1, -0.5e+3, true, null, \"x\\\"\"], \"b\": {}} x", (47, Seen::Last)),
            ("[]]", (2, Seen::Last)),
            ("12,", (2, Seen::After)),
            ("{\"a\": True}", (6, Seen::Fault)),
            ("{\"a\": NaN}", (6, Seen::Fault)),
            ("{\"a\": 1,}", (8, Seen::Fault)),
            ("[1,]", (3, Seen::Fault)),
            ("{'a': 1}", (1, Seen::Fault)),
            ("{a: 1}", (1, Seen::Fault)),
            ("{\"a\": 007}", (7, Seen::Fault)),
            ("{\"a\": 1 \"b\"}", (8, Seen::Fault)),
            ("{\"a\": \"say \"hi\"", (12, Seen::Fault)),
            ("{\"a\" 1}", (5, Seen::Fault)),
            ("{\"a\": 1.}", (8, Seen::Fault)),
            ("{\"a\": tru}", (9, Seen::Fault)),
            ("{\"a\": 1 /* one */}", (8, Seen::Fault)),
            ("{\"a\": [1}", (8, Seen::Fault)),
            ("{\"a\":\x0B1}", (5, Seen::Fault)),
            ("-", (1, Seen::Inside)),
        ] {
            assert_eq!(read(text.as_bytes()), wanted, "{text}");
        }
        assert_eq!(read(&[b'['; 65]), (64, Seen::Fault));
    }

    /// Checks every text of a few bytes: a text that ends is JSON, and no beginning of JSON has a fault.
    #[test]
    fn reads_what_the_whole_reader_reads() {
        const BYTES: &[u8] = b"{}[],:\"1.-0e an";
        let mut count = 0;
        for number in 0..BYTES.len().pow(5) {
            let text: Vec<u8> = (0..5).map(|at| BYTES[number / BYTES.len().pow(at) % BYTES.len()]).collect();
            let (len, seen) = read(&text);
            let rest_is_blank = text[len..].iter().all(|&byte| byte == b' ');
            // A number has no last byte that shows its end.
            let is_number = seen == Seen::Inside && text.last().is_some_and(u8::is_ascii_digit) && is_json(&text);
            let is_whole = rest_is_blank && matches!(seen, Seen::Last | Seen::After) || is_number;
            assert_eq!(is_whole, is_json(&text), "{}", text.escape_ascii());
            count += usize::from(is_whole);
        }
        assert!(count > 1000, "{count}");
    }
}
