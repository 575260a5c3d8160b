//! Writes a value between markers as JSON, by the types that its parameter may have.

use super::{output::Put, schema::Types, string};
use crate::{Error, json};

/// The characters that are blanks around a value.
pub const BLANKS: [char; 6] = [' ', '\t', '\n', '\x0B', '\x0C', '\r'];

/// Writes a value as JSON.
pub fn write(text: &str, types: Types, out: &mut impl Put) -> Result<(), Error> {
    match as_json(text, types) {
        Some(value) => out.put(value),
        None => string::quote(text, out),
    }
}

/// Returns the value as JSON, or `None` if it is a string, verbatim.
pub fn as_json(text: &str, types: Types) -> Option<&str> {
    let value = text.trim_matches(BLANKS);
    let types = types.or_all();
    if types == Types::STRING {
        return None;
    }
    let fits = match value.as_bytes().first()? {
        b'-' | b'0'..=b'9' => {
            is_number(value) && (types.has(Types::NUMBER) || types.has(Types::INTEGER) && is_integer(value))
        }
        b'{' => types.has(Types::OBJECT) && json::is_json(value.as_bytes()),
        b'[' => types.has(Types::ARRAY) && json::is_json(value.as_bytes()),
        _ => return word(value, types),
    };
    fits.then_some(value)
}

fn word(word: &str, types: Types) -> Option<&'static str> {
    let (value, type_) = constant(word)?;
    let is_pythons = word != value;
    (types.has(type_) && !(is_pythons && types.has(Types::STRING))).then_some(value)
}

/// Returns the JSON and the type of a word that is a constant of JSON or Python.
pub fn constant(word: &str) -> Option<(&'static str, Types)> {
    Some(match word {
        "true" | "True" => ("true", Types::BOOLEAN),
        "false" | "False" => ("false", Types::BOOLEAN),
        "null" | "None" => ("null", Types::NULL),
        _ => return None,
    })
}

/// Returns whether this is a JSON number.
pub fn is_number(text: &str) -> bool {
    matches!(text.as_bytes(), [b'-' | b'0'..=b'9', .., b'0'..=b'9'] | [b'0'..=b'9']) && json::is_json(text.as_bytes())
}

/// Returns whether this JSON number is an integer: it has no exponent, and no fraction other than zeros.
fn is_integer(number: &str) -> bool {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    whole.bytes().all(|byte| matches!(byte, b'-' | b'0'..=b'9')) && fraction.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, types: &[&str]) -> String {
        let mut out = String::new();
        write(text, types.iter().map(|name| Types::named(name)).fold(Types::UNKNOWN, Types::and), &mut out).unwrap();
        out
    }

    #[test]
    fn writes_a_value_by_its_types() {
        let cases: [(&str, &[&str], &str); 55] = [
            // If only a string is allowed, the text is a string, with its blanks.
            (" 42 ", &["string"], "\" 42 \""),
            ("null", &["string"], "\"null\""),
            ("", &["string"], "\"\""),
            // Numbers, which stay as they are written.
            ("42", &["integer"], "42"),
            (" \n\x0B42\t", &["integer"], "42"),
            ("-0", &["integer"], "-0"),
            ("1.00", &["integer"], "1.00"),
            ("1.5", &["integer"], "\"1.5\""),
            ("1e3", &["integer"], "\"1e3\""),
            ("1.0e3", &["integer"], "\"1.0e3\""),
            ("1.50", &["number"], "1.50"),
            ("1E+30", &["number"], "1E+30"),
            ("42", &["number"], "42"),
            ("123456789012345678901234567890.10", &["number"], "123456789012345678901234567890.10"),
            ("07", &["integer"], "\"07\""),
            ("07", &[], "\"07\""),
            ("+1", &["integer"], "\"+1\""),
            (".5", &["number"], "\".5\""),
            ("5.", &["number"], "\"5.\""),
            ("-", &["number"], "\"-\""),
            ("1 2", &["number"], "\"1 2\""),
            ("NaN", &["number"], "\"NaN\""),
            ("42", &["boolean"], "\"42\""),
            ("42", &["string", "integer"], "42"),
            (" x ", &["string", "integer"], "\" x \""),
            // Words of JSON and of Python.
            ("true", &["boolean"], "true"),
            ("True", &["boolean"], "true"),
            ("False", &["boolean", "null"], "false"),
            ("None", &["null", "integer"], "null"),
            ("null", &["string", "null"], "null"),
            ("None", &["string", "null"], "\"None\""),
            ("True", &["string", "boolean"], "\"True\""),
            ("true", &["string", "boolean"], "true"),
            ("true", &["null"], "\"true\""),
            ("null", &["boolean"], "\"null\""),
            ("TRUE", &["boolean"], "\"TRUE\""),
            // Objects and arrays.
            (" {\"a\": [1]} ", &["object"], "{\"a\": [1]}"),
            ("{\"a\": 01}", &["object"], "\"{\\\"a\\\": 01}\""),
            ("{\"a\": 1} x", &["object"], "\"{\\\"a\\\": 1} x\""),
            ("{}", &["array"], "\"{}\""),
            ("[1,\n2]", &["array"], "[1,\n2]"),
            ("[1]", &["object"], "\"[1]\""),
            ("[1]", &["string", "array"], "[1]"),
            ("[1", &["array"], "\"[1\""),
            ("{'a': 1}", &["object"], "\"{'a': 1}\""),
            // If the type is unknown, all types are allowed.
            ("42", &[], "42"),
            ("true", &[], "true"),
            ("null", &[], "null"),
            ("True", &[], "\"True\""),
            ("None", &[], "\"None\""),
            ("{\"a\": 1}", &[], "{\"a\": 1}"),
            ("x\ny", &[], "\"x\\ny\""),
            ("", &[], "\"\""),
            (" ", &["integer"], "\" \""),
            ("\"quoted\"", &[], "\"\\\"quoted\\\"\""),
        ];
        for (text, types, value) in cases {
            assert_eq!(written(text, types), value, "{text:?} as {types:?}");
        }
    }
}
