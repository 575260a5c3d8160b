//! Tells a tag of which a text only speaks from one that is meant, by the bytes around it. Models explain tags, and quote them while
//! they think. Tokens decide exactly; these rules are for hosts that have none.

use super::bytes::is_blank;

/// The last byte of the text since the last marker, or a line break where there is none. An opening quote or bracket of more than
/// a byte counts as `(`.
pub type Before = u8;

/// The beginning of a line.
pub const LINE: Before = b'\n';

/// Quotes that open, and brackets, of more than a byte.
const OPENING: [&[u8]; 12] = [
    "“".as_bytes(),
    "‘".as_bytes(),
    "„".as_bytes(),
    "‚".as_bytes(),
    "«".as_bytes(),
    "‹".as_bytes(),
    "「".as_bytes(),
    "『".as_bytes(),
    "（".as_bytes(),
    "【".as_bytes(),
    "《".as_bytes(),
    "〈".as_bytes(),
];

fn is_space(byte: u8) -> bool {
    is_blank(byte) && !is_line_end(byte)
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns whether it is a quote mark.
pub fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Returns whether these are the bytes of a tag without blanks and attributes.
pub fn is_word_tag(tag: impl IntoIterator<Item = u8>) -> bool {
    let mut tag = tag.into_iter();
    let (begin, first) = (tag.next(), tag.next());
    let mut rest = tag.skip_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'));
    begin == Some(b'<')
        && first.is_some_and(|first| first.is_ascii_alphabetic())
        && rest.next() == Some(b'>')
        && rest.next().is_none()
}

/// Returns what comes before the end of this text, if `before` came before the text.
#[inline(always)]
pub fn after(before: Before, text: &[u8]) -> Before {
    match text.last() {
        Some(last) if last.is_ascii() => *last,
        Some(_) => after_character(text),
        None => before,
    }
}

#[cold]
#[inline(never)]
fn after_character(text: &[u8]) -> Before {
    let is_opening = OPENING.iter().any(|mark| text.ends_with(mark));
    if is_opening { b'(' } else { text.last().copied().unwrap_or(LINE) }
}

/// Returns whether an opener after `before` may be one that the text only speaks of. The byte after it decides.
pub fn may_be_prose(before: Before) -> bool {
    is_space(before) || is_opening(before)
}

fn is_opening(before: Before) -> bool {
    is_quote(before) || matches!(before, b'(' | b'[' | b'{')
}

/// Returns whether the text only speaks of an opener between these bytes.
pub fn is_prose(before: Before, next: u8) -> bool {
    let ends_word = is_space(next)
        || is_quote(next)
        || matches!(
            next,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'.' | b',' | b';' | b':' | b'!' | b'?' | b'-' | b'/'
        );
    is_space(before) && ends_word || is_opening(before) && !is_line_end(next)
}

/// Returns whether the text quotes a closer after `before`: the same quote mark comes before and after it, and no letter or
/// digit comes then, with which a quotation in the answer would begin. None where only more text can tell.
pub fn is_quoted(before: Before, next: &[u8], at_end: bool) -> Option<bool> {
    match next {
        [mark, _, ..] | [mark] if *mark != before => Some(false),
        [_, then, ..] => Some(!then.is_ascii_alphanumeric()),
        [_] => at_end.then_some(true),
        [] => at_end.then_some(false),
    }
}
