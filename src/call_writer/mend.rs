//! Mends values if a host asks for it: those that the schema wants to be an array or an object, and that can mean only one. Escapes
//! are mended where JSON is checked.

use super::{
    literal,
    output::Put,
    schema::{Schema, Types},
    string,
    value::{self, BLANKS},
};
use crate::{
    Error,
    json::{Unescape, is_json},
    memory::{append_text, push},
};

/// The most bytes of a key that is looked up in a schema, with its escapes.
const LOOKED_UP: usize = 1024;

/// Returns the array or object of these types that a value between markers means: what a JSON string holds, or a Python literal as
/// JSON. `None`: it means none, or needs no mending.
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

/// Returns the array or object of these types that a string holds. The string is written as in Python, or stands between two `raw`.
pub fn literal(text: &str, raw: &str, types: Types) -> Result<Option<String>, Error> {
    let mut written = String::new();
    if !asks(types) || !literal::write(text, raw, None, &mut written)? {
        return Ok(None);
    }
    let inside = written.strip_prefix('"').and_then(|inside| inside.strip_suffix('"'));
    inside.map_or(Ok(None), |inside| decoded(inside, types))
}

/// Returns the text of a JSON string without its quotes, if that is an array or an object of these types.
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

/// Returns whether a parameter of these types takes an array or an object, and no string.
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

/// Decodes strings in JSON arguments that come in pieces, where the schema asks for an array or an object. It reads the members of
/// the arguments, not what is inside them.
#[derive(Debug, Default)]
pub struct DoublyEncoded {
    place: Place,
    /// The key of the last member, with its escapes.
    key: Vec<u8>,
    /// What has come of a string that may hold an array or an object, without its first quote.
    value: String,
    types: Types,
    /// A string was decoded.
    pub is_mended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// Before a key.
    #[default]
    Key,
    InKey {
        is_escaped: bool,
    },
    /// Before a value.
    Value,
    /// In a value that stays as it is, inside `depth` brackets.
    Other {
        depth: u32,
        is_text: bool,
        is_escaped: bool,
    },
    /// In a string that may hold an array or an object.
    Held {
        is_escaped: bool,
    },
}

impl DoublyEncoded {
    /// Writes the next part of arguments with this schema. A string that is longer than `most` stays as it is.
    pub fn feed(
        &mut self,
        text: &str,
        schema: Option<Schema<'_>>,
        most: usize,
        out: &mut impl Put,
    ) -> Result<(), Error> {
        let mut from = 0;
        for (at, byte) in text.bytes().enumerate() {
            self.place = match (self.place, byte) {
                (Place::Key, b'"') => {
                    self.key.clear();
                    Place::InKey { is_escaped: false }
                }
                (Place::InKey { is_escaped: false }, b'"') => Place::Value,
                (Place::InKey { is_escaped }, byte) => {
                    if self.key.len() <= LOOKED_UP {
                        push(&mut self.key, byte)?;
                    }
                    Place::InKey { is_escaped: !is_escaped && byte == b'\\' }
                }
                (Place::Value, b':' | b' ' | b'\t' | b'\n' | b'\r') => Place::Value,
                (Place::Value, b'"') => {
                    self.types = self.types_of_key(schema)?;
                    if asks(self.types) {
                        out.put(&text[from..at])?;
                        from = at + 1;
                        Place::Held { is_escaped: false }
                    } else {
                        Place::Other { depth: 0, is_text: true, is_escaped: false }
                    }
                }
                (Place::Value, byte) => {
                    let depth = u32::from(matches!(byte, b'[' | b'{'));
                    Place::Other { depth, is_text: false, is_escaped: false }
                }
                (Place::Other { depth, is_text, is_escaped: false }, b'"') => {
                    if is_text && depth == 0 {
                        Place::Key
                    } else {
                        Place::Other { depth, is_text: !is_text, is_escaped: false }
                    }
                }
                (Place::Other { depth, is_text: true, is_escaped }, byte) => {
                    Place::Other { depth, is_text: true, is_escaped: !is_escaped && byte == b'\\' }
                }
                (Place::Other { depth: 0, .. }, b',' | b'}' | b']') => Place::Key,
                (Place::Other { depth: 1, .. }, b'}' | b']') => Place::Key,
                (Place::Other { depth, .. }, b'}' | b']') => {
                    Place::Other { depth: depth - 1, is_text: false, is_escaped: false }
                }
                (Place::Other { depth, .. }, b'{' | b'[') => {
                    Place::Other { depth: depth.saturating_add(1), is_text: false, is_escaped: false }
                }
                (Place::Held { is_escaped: false }, b'"') => {
                    append_text(&mut self.value, &text[from..at])?;
                    from = at + 1;
                    self.end_value(most, out)?;
                    Place::Key
                }
                (Place::Held { is_escaped }, byte) => Place::Held { is_escaped: !is_escaped && byte == b'\\' },
                (place, _) => place,
            };
        }
        let Place::Held { is_escaped } = self.place else { return out.put(&text[from..]) };
        append_text(&mut self.value, &text[from..])?;
        if self.value.len() > most {
            self.end(out)?;
            self.place = Place::Other { depth: 0, is_text: true, is_escaped };
        }
        Ok(())
    }

    /// Writes what is held, as it came.
    pub fn end(&mut self, out: &mut impl Put) -> Result<(), Error> {
        if let Place::Held { .. } = self.place {
            out.put("\"")?;
            out.put(&self.value)?;
            self.value = String::new();
        }
        Ok(())
    }

    fn end_value(&mut self, most: usize, out: &mut impl Put) -> Result<(), Error> {
        let decoded = if self.value.len() > most { None } else { decoded(&self.value, self.types)? };
        if let Some(decoded) = decoded {
            self.is_mended = true;
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
