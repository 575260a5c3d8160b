//! Finds texts that look like markers, even of unknown families. No function here allocates.

use std::ops::Range;

/// The longest marker, in bytes.
const LONGEST: usize = 96;
/// The texts with which markers begin and end.
const BRACKETS: [(&str, &str); 5] = [("<", ">"), ("[", "]"), ("◁", "▷"), ("【", "】"), ("⟦", "⟧")];

/// Returns the markers of a text: `<…>` without blanks, words in capitals between brackets, and the like.
pub fn markers(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            match marker(&text[at..]) {
                Some(len) => {
                    at += len;
                    return Some(start..at);
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        None
    })
}

/// Returns the length of the marker that a text begins with.
pub fn marker(text: &str) -> Option<usize> {
    let (open, close) = BRACKETS.iter().find(|(open, _)| text.starts_with(open))?;
    let inside = &text[open.len()..];
    let end = inside.char_indices().take_while(|(at, _)| *at < LONGEST).find(|(_, char)| close.starts_with(*char))?.0;
    let name = &inside[..end];
    let is_name = match *open {
        "<" => !name.is_empty() && !name.contains(|char: char| char.is_whitespace() || "<({\"'`,;".contains(char)),
        "[" => {
            let is_capital = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || " _/-".contains(char);
            name.len() > 1 && (name.chars().all(is_capital) && name.contains(|char: char| char.is_ascii_uppercase()))
                || name.strip_prefix("unused").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        }
        _ => !name.is_empty() && !name.contains(char::is_whitespace),
    };
    is_name.then_some(open.len() + end + close.len())
}

/// Returns whether a text is spelt like a closer.
pub fn is_closer(text: &str) -> bool {
    ["</", "[/", "◁/", "<|/", "<｜/"].iter().any(|begin| text.starts_with(begin))
        || text.contains("END")
        || text.len() > 1 && text.bytes().all(|byte| byte == b']')
}

/// Returns the quoted texts at which a template splits other texts, or for which it searches them. Escapes are not decoded.
pub fn split_at(template: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(open) = template[at..].find(['\'', '"']).map(|open| at + open) {
            let quote = &template[open..=open];
            let inside = &template[open + 1..];
            let end = inside.find([quote.as_bytes()[0] as char, '\n']).unwrap_or(inside.len());
            at = open + 1;
            if !inside[end..].starts_with(quote) {
                continue;
            }
            at += end + 1;
            let (before, after) = (template[..open].trim_end(), template[at..].trim_start());
            let is_split = ["split(", "partition(", "find("].iter().any(|call| before.ends_with(call));
            let is_asked = ["in ", "not in "].iter().any(|word| after.starts_with(word));
            if (is_split || is_asked) && !inside[..end].trim().is_empty() {
                return Some(inside[..end].trim());
            }
        }
        None
    })
}
