//! Writes the values of a call's arguments, which are JSON, in the form of a dialect's table.

use super::{
    error::CallFault,
    text::{Role, Text},
};
use crate::{
    calls::table::{LiteralRule, MOST_OF_NAME, TagsRule},
    json::{self, Reader, Span},
    memory::{OutOfMemory, append},
};

/// The reason why arguments cannot be written.
pub enum WriteError {
    /// A fault in the value of the key that was written last.
    Value(CallFault),
    /// A fault in a key. The offset is an offset in the arguments.
    Key(CallFault),
    OutOfMemory,
}

impl From<OutOfMemory> for WriteError {
    fn from(_: OutOfMemory) -> WriteError {
        WriteError::OutOfMemory
    }
}

/// Calls `write` with each member of an object: its key, and the JSON of its value.
pub fn members(object: &str, mut write: impl FnMut(&str, &str) -> Result<(), WriteError>) -> Result<(), WriteError> {
    let mut result = Ok(());
    Reader::new(object.as_bytes()).object(|reader, key| {
        let value = reader.value()?;
        result = string(&object[key], WriteError::Key).and_then(|key| write(&key, &object[value]));
        result.is_ok().then_some(())
    });
    result
}

/// Calls `write` with the JSON of each item of a list.
fn items(list: &str, mut write: impl FnMut(&str) -> Result<(), WriteError>) -> Result<(), WriteError> {
    let mut result = Ok(());
    Reader::new(list.as_bytes()).array(|reader| {
        let value = reader.value()?;
        result = write(&list[value]);
        result.is_ok().then_some(())
    });
    result
}

/// Returns the text of a JSON string. `error` makes the error for half of a surrogate pair.
fn string(json: &str, error: fn(CallFault) -> WriteError) -> Result<String, WriteError> {
    let mut text = Vec::new();
    // The unescaped text is not longer than the string.
    text.try_reserve_exact(json.len()).map_err(|_| WriteError::OutOfMemory)?;
    json::unescape(&json.as_bytes()[1..json.len() - 1], |part| text.extend_from_slice(part));
    String::from_utf8(text).map_err(|_| error(CallFault::Surrogate))
}

/// Writes a value between markers: a string verbatim, anything else as JSON.
pub fn tagged(json: &str, text: &mut Text) -> Result<(), WriteError> {
    match json.as_bytes()[0] {
        b'"' => text.part(Role::Value, string(json, WriteError::Value)?.as_bytes())?,
        _ => text.part(Role::Value, json.as_bytes())?,
    };
    Ok(())
}

/// Writes a value as an element with its inner elements.
pub fn element(rule: &TagsRule, key: &str, json: &str, role: Role, text: &mut Text) -> Result<(), WriteError> {
    text.mark(&rule.key[0])?;
    text.part(role, key.as_bytes())?;
    text.mark(&rule.key[1])?;
    match json.as_bytes()[0] {
        b'{' => members(json, |key, value| element(rule, key, value, Role::InnerKey, text))?,
        b'[' => items(json, |item| element(rule, "item", item, Role::InnerKey, text))?,
        _ => tagged(json, text)?,
    }
    text.mark(&rule.value[1])?;
    text.mark(key.as_bytes())?;
    text.mark(b">")?;
    Ok(())
}

/// Returns the word for a value's type, which is written between key and value.
pub fn type_word<'a>(rule: &'a TagsRule, json: &str) -> &'a str {
    let word = |meaning: &str| rule.kind_words.iter().find(|(_, of)| **of == *meaning).map(|(word, _)| &**word);
    let kinds: &[&'static str] = match json.as_bytes()[0] {
        b'"' => &["string"],
        b'{' => &["object", "json"],
        b'[' => &["array", "json"],
        b't' | b'f' => &["boolean", "json"],
        b'n' => &["null", "json"],
        _ if json.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => &["number", "integer", "json"],
        _ => &["number", "json"],
    };
    kinds.iter().find_map(|kind| word(kind)).unwrap_or(kinds[0])
}

/// Writes the key of an argument in brackets.
pub fn literal_key(rule: &LiteralRule, key: &str, text: &mut Text) -> Result<(), WriteError> {
    let quote: &[u8] = if is_bare(key) { b"" } else { &rule.raw_quote };
    text.mark(quote)?;
    text.part(Role::Key, key.as_bytes())?;
    text.mark(quote)?;
    Ok(())
}

/// Writes a value in brackets.
pub fn literal(rule: &LiteralRule, json: &str, text: &mut Text) -> Result<(), WriteError> {
    let from = text.bytes.len();
    literal_inside(&rule.raw_quote, json, from, text)?;
    text.parts_since(Role::Value, from)?;
    Ok(())
}

/// Writes a value, which may be inside a list or an object of the argument, without noting a part. The argument's value begins at
/// `from`.
fn literal_inside(raw: &[u8], json: &str, from: usize, text: &mut Text) -> Result<(), WriteError> {
    let is_raw = !raw.is_empty();
    let mut separator: &[u8] = b"";
    match json.as_bytes()[0] {
        b'"' => return quoted(raw, json, from, text),
        b'{' => {
            text.mark(b"{")?;
            members(json, |key, value| {
                text.mark(std::mem::replace(&mut separator, b", "))?;
                if is_raw && is_bare(key) {
                    text.mark(key.as_bytes())?;
                } else {
                    quoted_text(raw, key, from, text)?;
                }
                text.mark(b":")?;
                literal_inside(raw, value, from, text)
            })?;
            text.mark(b"}")?;
        }
        b'[' => {
            text.mark(b"[")?;
            items(json, |item| {
                text.mark(std::mem::replace(&mut separator, b", "))?;
                literal_inside(raw, item, from, text)
            })?;
            text.mark(b"]")?;
        }
        b't' if !is_raw => text.mark(b"True")?,
        b'f' if !is_raw => text.mark(b"False")?,
        b'n' if !is_raw => text.mark(b"None")?,
        _ => text.mark(json.as_bytes())?,
    }
    Ok(())
}

fn quoted(raw: &[u8], json: &str, from: usize, text: &mut Text) -> Result<(), WriteError> {
    quoted_text(raw, &string(json, WriteError::Value)?, from, text)
}

fn quoted_text(raw: &[u8], string: &str, from: usize, text: &mut Text) -> Result<(), WriteError> {
    if raw.is_empty() {
        text.mark(b"\"")?;
        json::escape(string.as_bytes(), &mut text.bytes)?;
        text.mark(b"\"")?;
        return Ok(());
    }
    text.mark(raw)?;
    let at = text.bytes.len();
    text.mark(string.as_bytes())?;
    append(&mut text.bytes, raw)?;
    // A string with the raw quote in it would be read as several strings.
    match memchr::memmem::find(&text.bytes[at..], raw) {
        Some(len) if len < string.len() => Err(WriteError::Value(CallFault::Closer { offset: at + len - from })),
        _ => Ok(()),
    }
}

/// Returns whether a key is read without quotes.
pub fn is_bare(key: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte) || byte >= 0x80;
    (1..=MOST_OF_NAME).contains(&key.len()) && key.bytes().all(is_part)
}

/// Returns the text without the blanks around it, if it is a JSON object.
pub fn object(json: &str) -> Option<&str> {
    let mut reader = Reader::new(json.as_bytes());
    let is_object = reader.peek() == Some(b'{');
    let span: Span = reader.value()?;
    reader.end()?;
    is_object.then(|| &json[span])
}
