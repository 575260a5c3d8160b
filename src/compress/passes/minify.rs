//! Removes the white space between the tokens of JSON, and inside strings that contain JSON themselves. Numbers stay as they were
//! written. This is the only filter for protected text, and a host must ask for it.

use serde::de::IgnoredAny;

use super::pass::{Pass, Promise, Stage};
use crate::compress::{
    invocation::input::Input,
    lines::{layout::Text, protect::Format},
    text::edit::{Edit, EditKind},
};

/// A pass that removes white space from JSON.
pub struct MinifyJson;

impl Pass for MinifyJson {
    fn id(&self) -> &str {
        "minify-json"
    }

    fn promise(&self) -> Promise {
        Promise::Refold
    }

    fn stage(&self) -> Stage {
        Stage::Tool
    }

    fn accepts(&self, format: Format) -> bool {
        format == Format::Json
    }

    fn edits(&self, text: Text<'_>, _: &Input, _: usize) -> Vec<Edit> {
        if Format::of(text.bytes) != Some(Format::Json) {
            return Vec::new();
        }
        let kind = EditKind::Replace(minify(text.bytes));
        vec![Edit { range: 0..text.bytes.len(), kind }]
    }

    fn is_undone(&self, old: &[u8], new: &[u8]) -> bool {
        same_tokens(old, new)
    }
}

/// Returns the minified text. The text must be valid JSON.
fn minify(json: &[u8]) -> Vec<u8> {
    squeeze(json, true)
}

/// Removes white space; with `into_strings`, also inside strings that contain JSON, one level deep.
fn squeeze(json: &[u8], into_strings: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    for token in tokens(json) {
        match inner(token).filter(|_| into_strings) {
            Some(text) => {
                let squeezed = String::from_utf8(squeeze(text.as_bytes(), false)).expect("white space was left out");
                let written = serde_json::to_vec(&squeezed).expect("a string can be written");
                out.extend_from_slice(if written.len() < token.len() { &written } else { token });
            }
            None => out.extend_from_slice(token),
        }
    }
    out
}

/// Returns whether two JSON texts have the same tokens, as minifying promises.
fn same_tokens(old: &[u8], new: &[u8]) -> bool {
    let mut old = tokens(old);
    let mut new = tokens(new);
    loop {
        match (old.next(), new.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => match (inner(a), inner(b)) {
                (Some(a), Some(b)) if tokens(a.as_bytes()).eq(tokens(b.as_bytes())) => {}
                _ => return false,
            },
            _ => return false,
        }
    }
}

/// Returns the text of a string token if it is a JSON object or array.
fn inner(token: &[u8]) -> Option<String> {
    let first = token.strip_prefix(b"\"")?.iter().find(|byte| !b" \\nrt".contains(byte))?;
    if !b"{[".contains(first) {
        return None;
    }
    let text: String = serde_json::from_slice(token).ok()?;
    let is_json = text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(&text).is_ok();
    is_json.then_some(text)
}

/// Returns the tokens: strings, punctuation, and runs of other characters that are not white space.
fn tokens(json: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += json[at..].iter().position(|byte| !b" \t\r\n".contains(byte))?;
        let start = at;
        if json[at] == b'"' {
            at += 1;
            while let Some(found) = memchr::memchr2(b'"', b'\\', &json[at..]) {
                at += found + 1;
                if json[at - 1] == b'"' {
                    return Some(&json[start..at]);
                }
                at = (at + 1).min(json.len());
            }
            at = json.len();
            return Some(&json[start..]);
        }
        // A token of punctuation has one byte, so that tokens do not depend on the white space between them.
        at += match json[at] {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => json[at..].iter().position(|byte| b" \t\r\n{}[],:\"".contains(byte)).unwrap_or(json.len() - at),
        };
        Some(&json[start..at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_and_strings_are_looked_into() {
        let json = br#"{ "a" : 1.000e+05 , "b" : [ true , null ], "c": "{ \"x\": [1, 2] }", "d": "{ no" }"#;
        let small = br#"{"a":1.000e+05,"b":[true,null],"c":"{\"x\":[1,2]}","d":"{ no"}"#;
        assert_eq!(minify(json), small);
        assert!(same_tokens(json, small));
        assert!(!same_tokens(json, br#"{"a":100000,"b":[true,null],"c":"{\"x\":[1,2]}","d":"{ no"}"#));
        assert!(!same_tokens(br#"{"c":"{ \"x\": 1 }"}"#, br#"{"c":"{\"x\":2}"}"#));
    }
}
