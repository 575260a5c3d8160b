//! Mends values, if a host wants that: strings that hold an array or an object, where the schema asks for one. Escapes are
//! mended in `json`.

use super::{
    literal,
    output::Put,
    schema::{Schema, Types},
    string,
    value::{self, BLANKS},
};
use crate::{
    Error,
    json::{Seen, Syntax, Unescape, is_json},
    memory::{append_text, push},
};

/// The maximum number of bytes of a key that is looked up in a schema, with its escapes.
const LOOKED_UP: usize = 1024;

/// Reads a value between markers as an array or an object of these types: a JSON string is decoded, and a Python literal
/// becomes JSON. Returns `None` if the value is neither an array nor an object of these types, or needs no mending.
pub fn tagged(text: &str, types: Types) -> Result<Option<String>, Error> {
    let value = text.trim_matches(BLANKS);
    if !asks(types) || value::as_json(text, types).is_some() {
        return Ok(None);
    }
    if value.starts_with('"') {
        return if is_json(value.as_bytes()) { decoded(&value[1..value.len() - 1], types) } else { Ok(None) };
    }
    let mut mended = String::new();
    let is_read = literal::write_python(value, &mut mended)?;
    Ok(Some(mended).filter(|mended| is_read && is_wanted(mended, types)))
}

/// Returns the array or object of these types that a string holds. The string is written as in Python, or between two `raw`.
pub fn literal(text: &str, raw: &str, types: Types) -> Result<Option<String>, Error> {
    let mut written = String::new();
    if !asks(types) || !literal::write(text, raw, false, None, &mut written)? {
        return Ok(None);
    }
    let inside = written.strip_prefix('"').and_then(|inside| inside.strip_suffix('"'));
    inside.map_or(Ok(None), |inside| decoded(inside, types))
}

/// Decodes the inside of a JSON string. Returns the text if that is an array or an object of these types.
fn decoded(inside: &str, types: Types) -> Result<Option<String>, Error> {
    let (mut text, mut string) = (String::new(), Unescape::default());
    string::unescape(&mut string, inside, &mut text)?;
    string::end(&mut string, &mut text)?;
    let value = text.trim_matches(BLANKS);
    if !is_wanted(value, types) || !is_json(value.as_bytes()) {
        return Ok(None);
    }
    let mut copy = String::new();
    append_text(&mut copy, value)?;
    Ok(Some(copy))
}

/// Returns whether a parameter of these types may be an array or an object, but not a string.
fn asks(types: Types) -> bool {
    types.has(Types::ARRAY.and(Types::OBJECT)) && !types.has(Types::STRING)
}

fn is_wanted(value: &str, types: Types) -> bool {
    match value.as_bytes().first() {
        Some(b'[') => types.has(Types::ARRAY),
        Some(b'{') => types.has(Types::OBJECT),
        _ => false,
    }
}

/// Decodes strings in JSON arguments that arrive in pieces, where the schema asks for an array or an object. It reads the members
/// of the arguments, not values inside them. Text that is not JSON stays unchanged.
#[derive(Debug)]
pub struct DoublyEncoded {
    syntax: Syntax,
    is_broken: bool,
    /// The key of the last member, with its escapes.
    key: Vec<u8>,
    /// Whether the current string may hold an array or an object, so that it is held.
    is_held: bool,
    /// The part of that string that has arrived, without its first quote.
    value: String,
    types: Types,
    /// Whether a string was decoded.
    pub is_mended: bool,
}

impl Default for DoublyEncoded {
    fn default() -> DoublyEncoded {
        DoublyEncoded {
            syntax: Syntax::START,
            is_broken: false,
            key: Vec::new(),
            is_held: false,
            value: String::new(),
            types: Types::UNKNOWN,
            is_mended: false,
        }
    }
}

impl DoublyEncoded {
    /// Writes the next part of arguments with this schema. A string that is longer than `most` stays unchanged.
    pub fn feed(
        &mut self,
        text: &str,
        schema: Option<Schema<'_>>,
        most: usize,
        out: &mut impl Put,
    ) -> Result<(), Error> {
        let mut from = 0;
        for (at, byte) in text.bytes().enumerate() {
            if self.is_broken || self.syntax.is_over() {
                break;
            }
            let ends_string = byte == b'"' && self.syntax.is_in_text();
            if self.syntax.is_in_key_of_root() {
                if !ends_string && self.key.len() <= LOOKED_UP {
                    push(&mut self.key, byte)?;
                }
            } else if self.syntax.is_before_value_of_root() {
                if byte == b'"' {
                    self.types = self.types_of_key(schema)?;
                    self.is_held = asks(self.types);
                    if self.is_held {
                        out.put(&text[from..at])?;
                        from = at + 1;
                    }
                }
            } else if self.is_held && ends_string {
                append_text(&mut self.value, &text[from..at])?;
                from = at + 1;
                self.end_value(most, out)?;
            } else if !self.syntax.is_text() && byte == b'"' {
                // The next string may be a key.
                self.key.clear();
            }
            self.is_broken = self.syntax.step(byte) == Seen::Fault;
        }
        if !self.is_held {
            return out.put(&text[from..]);
        }
        append_text(&mut self.value, &text[from..])?;
        if self.value.len() > most { self.end(out) } else { Ok(()) }
    }

    /// Writes the held bytes unchanged.
    pub fn end(&mut self, out: &mut impl Put) -> Result<(), Error> {
        if self.is_held {
            self.is_held = false;
            out.put("\"")?;
            out.put(&self.value)?;
            self.value = String::new();
        }
        Ok(())
    }

    fn end_value(&mut self, most: usize, out: &mut impl Put) -> Result<(), Error> {
        let decoded = if self.value.len() > most { None } else { decoded(&self.value, self.types)? };
        if let Some(decoded) = decoded {
            (self.is_mended, self.is_held) = (true, false);
            self.value = String::new();
            return out.put(&decoded);
        }
        self.end(out)?;
        out.put("\"")
    }

    fn types_of_key(&self, schema: Option<Schema<'_>>) -> Result<Types, Error> {
        let (Some(schema), Ok(key)) = (schema, str::from_utf8(&self.key)) else { return Ok(Types::UNKNOWN) };
        if key.len() > LOOKED_UP {
            return Ok(Types::UNKNOWN);
        }
        let (mut decoded, mut string) = (String::new(), Unescape::default());
        string::unescape(&mut string, key, &mut decoded)?;
        string::end(&mut string, &mut decoded)?;
        Ok(schema.property(&decoded).types())
    }
}
