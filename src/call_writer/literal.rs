//! Writes as JSON a value that the model has written as a literal of Python or of Gemma.

use super::{
    output::{Discard, Put},
    schema::{Schema, Types},
    string::{escape, put_character, quote},
    value::{self, BLANKS},
};
use crate::{
    Error,
    json::{Surrogates, hex},
};

/// The deepest nesting of brackets.
const DEPTH: u32 = 64;
/// The maximum number of bytes of a key without quotes.
const KEY: usize = 128;
/// The maximum number of bytes of a key that is looked up in a schema.
const LOOKED_UP: usize = 1024;

/// Writes a value as JSON. Returns false, and writes nothing, if the value cannot be read. `raw` is the quote around Gemma's
/// strings, or empty for a Python literal. With `is_python`, Python's constants count in Gemma's literals too, unless the schema has
/// another type.
pub fn write(
    text: &str,
    raw: &str,
    is_python: bool,
    schema: Option<Schema<'_>>,
    out: &mut impl Put,
) -> Result<bool, Error> {
    let reader = || Reader { is_python, ..Reader::new(text, raw) };
    let is_read = reader().whole(schema, &mut Discard)?;
    if !is_read {
        return Ok(false);
    }
    reader().whole(schema, out)
}

/// Writes a Python literal as JSON. Returns false if the text is not a literal, such as a word that is neither a number nor a
/// constant.
pub fn write_python(text: &str, out: &mut impl Put) -> Result<bool, Error> {
    Reader { is_strict: true, ..Reader::new(text, "") }.whole(None, out)
}

struct Reader<'a> {
    text: &'a str,
    raw: &'a str,
    at: usize,
    /// Whether a word without quotes must be a number or a constant.
    is_strict: bool,
    is_python: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, raw: &'a str) -> Reader<'a> {
        Reader { text, raw, at: 0, is_strict: false, is_python: false }
    }

    fn whole(mut self, schema: Option<Schema<'_>>, out: &mut impl Put) -> Result<bool, Error> {
        Ok(self.value(schema, 0, out)? && self.rest().is_empty())
    }

    /// Returns the rest of the text, without the blanks before it.
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start_matches(BLANKS);
        self.at = self.text.len() - rest.len();
        rest
    }

    /// Reads `byte` if it is next, and returns whether it was.
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.rest().as_bytes().first() == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Writes one value. Returns false if it cannot be read.
    fn value(&mut self, schema: Option<Schema<'_>>, depth: u32, out: &mut impl Put) -> Result<bool, Error> {
        let rest = self.rest();
        match rest.as_bytes().first() {
            None => Ok(false),
            Some(b'(' | b'[' | b'{') if depth == DEPTH => Ok(false),
            Some(b'(') => self.list(b')', schema, depth, out),
            Some(b'[') => self.list(b']', schema, depth, out),
            Some(b'{') => self.braces(schema, depth, out),
            _ if self.is_quoted(rest) => self.string(out),
            _ => self.word(schema, out),
        }
    }

    /// Returns whether a string begins here.
    fn is_quoted(&self, rest: &str) -> bool {
        rest.starts_with('"') || if self.raw.is_empty() { rest.starts_with('\'') } else { rest.starts_with(self.raw) }
    }

    fn list(&mut self, end: u8, schema: Option<Schema<'_>>, depth: u32, out: &mut impl Put) -> Result<bool, Error> {
        self.at += 1;
        out.put("[")?;
        if !self.takes(end) {
            let items = schema.map(Schema::items);
            loop {
                if !self.item(items, end, depth + 1, out)? {
                    return Ok(false);
                }
                let has_comma = self.takes(b',');
                if self.takes(end) {
                    break;
                }
                if !has_comma {
                    return Ok(false);
                }
                out.put(",")?;
            }
        }
        out.put("]")?;
        Ok(true)
    }

    /// Writes an item of a list. In lists, Gemma sometimes writes strings like Python: between two quotes, the second of which
    /// is before a comma or the list's end.
    fn item(&mut self, schema: Option<Schema<'_>>, end: u8, depth: u32, out: &mut impl Put) -> Result<bool, Error> {
        let inside = if self.raw.is_empty() { None } else { self.rest().strip_prefix('\'') };
        let text = inside.and_then(|inside| inside.split_once('\'')).filter(|(_, after)| {
            let next = after.trim_start_matches(BLANKS).bytes().next();
            next.is_some_and(|byte| byte == b',' || byte == end)
        });
        let Some((text, _)) = text else { return self.value(schema, depth, out) };
        self.at += text.len() + 2;
        quote(text, out).map(|()| true)
    }

    /// Writes an object, or a list for a Python set.
    fn braces(&mut self, schema: Option<Schema<'_>>, depth: u32, out: &mut impl Put) -> Result<bool, Error> {
        let open = self.at;
        self.at += 1;
        if self.takes(b'}') {
            out.put("{}")?;
            return Ok(true);
        }
        if self.raw.is_empty() && !(self.key(&mut Discard)?.is_some() && self.takes(b':')) {
            self.at = open;
            return self.list(b'}', schema, depth, out);
        }
        self.at = open + 1;
        out.put("{")?;
        loop {
            let Some(key) = self.key(out)? else { return Ok(false) };
            if !self.takes(b':') {
                return Ok(false);
            }
            out.put(":")?;
            let property = schema.filter(|_| key.len() <= LOOKED_UP).map(|schema| schema.property(&key));
            if !self.value(property, depth + 1, out)? {
                return Ok(false);
            }
            let has_comma = self.takes(b',');
            if self.takes(b'}') {
                break;
            }
            if !has_comma {
                return Ok(false);
            }
            out.put(",")?;
        }
        out.put("}")?;
        Ok(true)
    }

    /// Writes a key as a string, and returns its text for looking it up. Returns `None` if there is no key.
    fn key(&mut self, out: &mut impl Put) -> Result<Option<String>, Error> {
        let rest = self.rest();
        let mut key = KeyWriter { start: String::new(), out: JsonEscaper(out) };
        key.out.0.put("\"")?;
        if self.is_quoted(rest) {
            if !self.decode(&mut key)? {
                return Ok(None);
            }
        } else {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | 0x80..);
            let len = rest.bytes().take_while(|&byte| is_part(byte)).count();
            if len == 0 || len > KEY || self.is_strict && !value::is_number(&rest[..len]) {
                return Ok(None);
            }
            key.put(&rest[..len])?;
            self.at += len;
        }
        key.out.0.put("\"")?;
        Ok(Some(key.start))
    }

    fn string(&mut self, out: &mut impl Put) -> Result<bool, Error> {
        out.put("\"")?;
        Ok(self.decode(&mut JsonEscaper(out))? && out.put("\"").map(|()| true)?)
    }

    /// Writes the text of a string, without its quotes.
    fn decode(&mut self, out: &mut impl Put) -> Result<bool, Error> {
        let rest = self.rest();
        if !self.raw.is_empty() && rest.starts_with(self.raw) {
            let inside = &rest[self.raw.len()..];
            let Some(len) = inside.find(self.raw) else { return Ok(false) };
            self.at += len + 2 * self.raw.len();
            return out.put(&inside[..len]).map(|()| true);
        }
        let quote = rest.as_bytes()[0];
        let mut surrogates = Surrogates::default();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(len) = memchr::memchr2(quote, b'\\', rest.as_bytes()) else { return Ok(false) };
            if len > 0 {
                surrogates.end(|half| put_character(half, out))?;
                out.put(&rest[..len])?;
            }
            self.at += len + 1;
            if rest.as_bytes()[len] == quote {
                surrogates.end(|half| put_character(half, out))?;
                return Ok(true);
            }
            if !self.escape(&mut surrogates, out)? {
                return Ok(false);
            }
        }
    }

    /// Writes the character of an escape, whose backslash has been read. Python has other escapes than JSON; unknown ones are
    /// copied.
    fn escape(&mut self, surrogates: &mut Surrogates, out: &mut impl Put) -> Result<bool, Error> {
        let rest = &self.text[self.at..];
        let Some(character) = rest.chars().next() else { return Ok(false) };
        self.at += character.len_utf8();
        let digits = match character {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => {
                surrogates.end(|half| put_character(half, out))?;
                let decoded = match character {
                    'n' => "\n",
                    't' => "\t",
                    'r' => "\r",
                    'b' => "\x08",
                    'f' => "\x0C",
                    'a' => "\x07",
                    'v' => "\x0B",
                    '0' => "\0",
                    '\n' => "",
                    '\\' => "\\",
                    '\'' => "'",
                    '"' => "\"",
                    _ => {
                        out.put("\\")?;
                        &rest[..character.len_utf8()]
                    }
                };
                return out.put(decoded).map(|()| true);
            }
        };
        let Some(digits) = rest.as_bytes().get(1..=digits).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        else {
            return Ok(false);
        };
        let code = digits.iter().fold(0, |code, &digit| code << 4 | hex(digit));
        if code > 0x10_FFFF {
            return Ok(false);
        }
        self.at += digits.len();
        surrogates.put(code, |character| put_character(character, out))?;
        Ok(true)
    }

    /// Writes a word. The type of a Python word is clear from the word; for Gemma's, the schema decides.
    fn word(&mut self, schema: Option<Schema<'_>>, out: &mut impl Put) -> Result<bool, Error> {
        let rest = self.rest();
        let ends = |byte: u8| {
            matches!(byte, b',' | b')' | b']' | b'}') || self.raw.is_empty() && BLANKS.contains(&byte.into())
        };
        let word = &rest[..rest.bytes().position(ends).unwrap_or(rest.len())];
        self.at += word.len();
        if word.is_empty() {
            return Ok(false);
        }
        if !self.raw.is_empty() {
            let types = schema.map_or(Types::UNKNOWN, Schema::types);
            let constant = value::constant(word).filter(|_| self.is_python && types == Types::UNKNOWN);
            value::write(constant.map_or(word, |(constant, _)| constant), types, out)?;
        } else if value::is_number(word) {
            out.put(word)?;
        } else if let Some((constant, _)) = value::constant(word) {
            out.put(constant)?;
        } else if self.is_strict {
            return Ok(false);
        } else {
            quote(word, out)?;
        }
        Ok(true)
    }
}

/// A destination that escapes the text for a JSON string.
struct JsonEscaper<'a, P: Put>(&'a mut P);

impl<P: Put> Put for JsonEscaper<'_, P> {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        escape(text, self.0)
    }
}

/// Writes a key and keeps its beginning. If a key is too long to be looked up, the kept part is longer than the limit, so that the
/// look-up fails.
struct KeyWriter<'a, P: Put> {
    start: String,
    out: JsonEscaper<'a, P>,
}

impl<P: Put> Put for KeyWriter<'_, P> {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        if self.start.len() <= LOOKED_UP {
            let mut end = text.len().min(LOOKED_UP + 4);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            self.start.put(&text[..end])?;
        }
        self.out.put(text)
    }
}

#[cfg(test)]
mod tests {
    use super::write;
    use crate::call_writer::{document::Document, schema::Schema};

    fn written(text: &str, raw: &str, schema: &str) -> Option<String> {
        let (document, root) = Document::read(schema).unwrap();
        let mut out = String::new();
        let is_read = write(text, raw, false, Some(Schema::new(&document, root)), &mut out).unwrap();
        assert!(is_read || out.is_empty(), "{text}: {out}");
        is_read.then_some(out)
    }

    #[test]
    fn reads_what_python_writes() {
        let cases = [
            ("1", "1"),
            ("-1.5e3", "-1.5e3"),
            ("True", "true"),
            ("false", "false"),
            ("None", "null"),
            ("null", "null"),
            ("07", "\"07\""),
            ("paris", "\"paris\""),
            ("'a b'", "\"a b\""),
            ("\"a 'b'\"", "\"a 'b'\""),
            ("''", "\"\""),
            (r"'\n\t\r\b\f\a\v\0\\\'\x41\u00e9\U0001F9E0\q'", "\"\\n\\t\\r\\b\\f\\u0007\\u000b\\u0000\\\\'Aé🧠\\\\q\""),
            (r"'\ud83e\udde0\ud83e!'", "\"🧠\u{FFFD}!\""),
            ("'a\\\nb\nc'", "\"ab\\nc\""),
            (r"'\é'", "\"\\\\é\""),
            ("[1, 'a', True,]", "[1,\"a\",true]"),
            ("(1, 2)", "[1,2]"),
            ("()", "[]"),
            ("[]", "[]"),
            ("[ ]", "[]"),
            ("{}", "{}"),
            ("{ }", "{}"),
            ("{'a': 1, \"b\": [None], 'c': {'d': (1,)}, }", "{\"a\":1,\"b\":[null],\"c\":{\"d\":[1]}}"),
            ("{a: 1, 2: x}", "{\"a\":1,\"2\":\"x\"}"),
            ("{'a', 'b'}", "[\"a\",\"b\"]"),
            ("{'a'}", "[\"a\"]"),
            ("{1, 2}", "[1,2]"),
            ("{(1, 2), 'x'}", "[[1,2],\"x\"]"),
            ("{'a\\n\"': 'b'}", "{\"a\\n\\\"\":\"b\"}"),
            (" 'a' ", "\"a\""),
        ];
        for (text, json) in cases {
            assert_eq!(written(text, "", "{}").as_deref(), Some(json), "{text}");
            serde_json::from_str::<serde_json::Value>(json).unwrap();
        }
    }

    #[test]
    fn reads_nothing_that_is_no_value() {
        let texts = [
            "",
            " ",
            "'a",
            "'a' 'b'",
            "[1, 2",
            "[1 2]",
            "[1,,2]",
            "[,]",
            "{'a': 1",
            "{'a': }",
            "{'a' 1}",
            "{'a': 1, 'b'}",
            "{'a', 'b': 1}",
            "{(1, 2): 3}",
            r"'\x4'",
            r"'\u12g4'",
            r"'\U00110000'",
            "[1)",
            "a b",
            "f(x)",
            "'a\\",
        ];
        for text in texts {
            assert_eq!(written(text, "", "{}"), None, "{text}");
        }
        let deep = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(written(&deep(64), "", "{}"), Some(deep(64)));
        assert_eq!(written(&deep(65), "", "{}"), None);
    }

    #[test]
    fn reads_what_gemma_writes_by_its_schema() {
        let schema = r#"{"type": "object", "properties": {
            "s": {"type": "string"}, "n": {"type": "integer"}, "l": {"items": {"type": "string"}},
            "o": {"properties": {"s": {"type": "string"}}}
        }}"#;
        let cases = [
            ("{s:1,n:1}", "{\"s\":\"1\",\"n\":1}"),
            ("{l:[1,true,Q1Q],o:{s:null,n:null}}", "{\"l\":[\"1\",\"true\",\"1\"],\"o\":{\"s\":\"null\",\"n\":null}}"),
            ("{s:Qa\"}'b\\n\nQ}", "{\"s\":\"a\\\"}'b\\\\n\\n\"}"),
            ("{Qa bQ:\"x\\ty\", c : hello world }", "{\"a b\":\"x\\ty\",\"c\":\"hello world \"}"),
            ("{n:True}", "{\"n\":\"True\"}"),
            (
                "{l:['a' , 'b c','it\\'s','',\"d\",it's,'e]}",
                "{\"l\":[\"a\",\"b c\",\"'it\\\\'s'\",\"\",\"d\",\"it's\",\"'e\"]}",
            ),
            ("'a'", "\"'a'\""),
            ("{}", "{}"),
        ];
        for (text, json) in cases {
            assert_eq!(written(text, "Q", schema).as_deref(), Some(json), "{text}");
            serde_json::from_str::<serde_json::Value>(json).unwrap();
        }
        for text in ["Qa", "{a}", "{'a':1}", "{a:1,b}", "QaQ b"] {
            assert_eq!(written(text, "Q", schema), None, "{text}");
        }
    }
}
