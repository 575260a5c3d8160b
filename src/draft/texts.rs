//! Compares texts: their common beginning or end, and the places of markers. This code does not depend on templates.

use std::ops::Range;

use crate::template::marks;
pub use crate::template::marks::{is_closer, marker};
pub use crate::template::said::shared_start;

/// Words in names that concern thinking: names of markers, and of variables that switch thinking on.
pub const OF_THINKING: [&str; 3] = ["think", "thought", "reason"];

/// The maximum number of texts at which a template splits other texts, and the longest of these, in bytes.
const MOST: usize = 64;
const LONGEST: usize = 96;

/// Returns the length of the common end of two texts, in bytes of whole characters.
pub fn shared_end(one: &str, other: &str) -> usize {
    let pairs = one.chars().rev().zip(other.chars().rev());
    pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}

/// Returns the markers of a text.
pub fn markers(text: &str) -> Vec<Range<usize>> {
    marks::markers(text).collect()
}

/// Returns whether a text that looks like a marker begins here, even if a name or a key is inside it.
pub fn begins_marker(text: &str, at: usize) -> bool {
    let inside = marks::markers(text).any(|marker| marker.start < at && at < marker.end);
    !inside && (text[at..].starts_with(['<', '◁', '【', '⟦']) || marker(&text[at..]).is_some())
}

/// Returns the place at or before `at` that is not inside a marker of the text.
pub fn before_marker(text: &str, at: usize) -> usize {
    let inside = markers(text).into_iter().find(|marker| marker.start < at && at < marker.end);
    inside.map_or(at, |marker| marker.start)
}

/// Splits a text into the blanks at its beginning, the text between blanks, and the blanks at its end.
pub fn trimmed(text: &str) -> (&str, &str, &str) {
    let begin = text.len() - text.trim_start().len();
    let end = text.trim_end().len().max(begin);
    (&text[..begin], &text[begin..end], &text[end..])
}

/// Returns the opener that belongs to a closer, as families spell them.
pub fn opener_of(close: &str) -> Option<String> {
    for (mark, instead) in [("</", "<"), ("[/", "["), ("◁/", "◁"), ("<|/", "<|"), ("<｜/", "<｜")] {
        if let Some(rest) = close.strip_prefix(mark) {
            return Some([instead, rest].concat());
        }
    }
    if let Some(name) = close.strip_prefix('<').and_then(|rest| rest.strip_suffix("|>"))
        && !name.starts_with(['|', '/'])
    {
        return Some(["<|", name, ">"].concat());
    }
    if close.len() > 1 && close.bytes().all(|byte| byte == b']') {
        return Some("[".repeat(close.len()));
    }
    const WORDS: [(&str, &str); 8] = [
        ("END", "START"),
        ("END", "BEGIN"),
        ("end", "begin"),
        ("end", "start"),
        ("suffix", "prefix"),
        ("close", "open"),
        ("stop", "start"),
        ("CLOSE", "OPEN"),
    ];
    WORDS.iter().find(|(end, _)| close.contains(end)).map(|(end, begin)| close.replacen(end, begin, 1))
}

/// Returns the first marker of a text, if only blanks come before it.
pub fn leading_marker(text: &str) -> Option<&str> {
    let text = text.trim_start();
    marker(text).map(|len| &text[..len])
}

/// Returns the markers at which a template splits a text, each once.
pub fn split_at(template: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in marks::split_at(template).filter(|text| text.len() <= LONGEST) {
        if found.len() < MOST && !found.iter().any(|known| known == text) {
            found.push(text.to_owned());
        }
    }
    found
}
