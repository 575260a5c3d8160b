//! What is mended of arguments if a host asks for it: only where the schema asks for an array or an object, no text of the model could
//! mean another one, and nothing has to be guessed.

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

/// Returns the array or object that a value between markers means which is none as it stands: the text of a JSON string that is
/// one, or a literal of Python's. `None`: it means none of these types, or has nothing to mend.
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

/// Returns the array or object that a string means which is written as in Python, or as Gemma writes strings, between two `raw`.
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

/// Mends, in arguments that are JSON and come in pieces, the strings that stand where the schema asks for an array or an object. Only
/// members of the arguments are looked at, not what is inside of them.
#[derive(Debug, Default)]
pub struct DoublyEncoded {
    place: Place,
    /// Of the last member, as it stands.
    key: Vec<u8>,
    /// What has come of a string that may be an array or an object, without its first quote.
    value: String,
    types: Types,
    /// One was.
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
    /// In a value that stays as it is, inside of `depth` brackets.
    Other {
        depth: u32,
        is_text: bool,
        is_escaped: bool,
    },
    /// In a string that may be an array or an object.
    Held {
        is_escaped: bool,
    },
}

impl DoublyEncoded {
    /// Writes the next part of the arguments, of which `schema` is the schema. A string that is longer than `most` stays as it is.
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
