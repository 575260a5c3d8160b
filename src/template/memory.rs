//! Texts and lists that return an error if memory is refused, instead of ending the process: a template may be
//! anybody's, and of any length.

use std::borrow::Cow;

/// An allocation was refused.
#[derive(Debug)]
pub struct OutOfMemory;

pub type Result<T> = std::result::Result<T, OutOfMemory>;

pub fn append(text: &mut String, more: &str) -> Result<()> {
    text.try_reserve(more.len()).map_err(|_| OutOfMemory)?;
    text.push_str(more);
    Ok(())
}

pub fn push<T>(list: &mut Vec<T>, entry: T) -> Result<()> {
    list.try_reserve(1).map_err(|_| OutOfMemory)?;
    list.push(entry);
    Ok(())
}

pub fn copy(text: &str) -> Result<String> {
    let mut copy = String::new();
    append(&mut copy, text)?;
    Ok(copy)
}

/// Returns a list of `len` times the same entry.
pub fn filled<T: Clone>(entry: T, len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).map_err(|_| OutOfMemory)?;
    list.resize(len, entry);
    Ok(list)
}

/// Decodes the escapes of a string literal. A text without escapes is not copied.
pub fn unescape(text: &str) -> Result<Cow<'_, str>> {
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::new();
    plain.try_reserve(text.len()).map_err(|_| OutOfMemory)?;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            char => char,
        });
    }
    Ok(Cow::Owned(plain))
}
