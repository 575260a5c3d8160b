//! The JSON of a response template, with the lines of its values for messages.

use crate::file_error::FileError;
use crate::json::Value;

/// Reads a file.
pub fn read(text: &str) -> Result<Value<'_>, FileError> {
    Value::read(text.as_bytes()).map_err(|offset| {
        FileError::of_key("", "a response template is JSON, and this is not").on_line(line(text.as_bytes(), offset))
    })
}

/// Returns the line of the value at a path such as `fields.content`, counted from 1. If only the beginning of the path exists,
/// returns the line of that part's value.
pub fn line_of(json: &Value<'_>, path: &str) -> usize {
    let mut found = json.clone();
    for key in path.split('.') {
        let Some(inner) = found.get(key) else { break };
        found = inner;
    }
    line(found.text, found.span.start)
}

/// Returns the strings of a string or of an array of strings.
pub fn texts(value: &Value<'_>) -> Option<Vec<String>> {
    match value.list().ok()? {
        Some(list) => list.iter().map(Value::decoded).collect(),
        None => value.decoded().map(|text| vec![text]),
    }
}

/// Returns the line of a place in a text, counted from 1.
fn line(text: &[u8], at: usize) -> usize {
    text.iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
}
