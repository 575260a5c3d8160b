//! Distinguishes a marker that a text only mentions from a real one, by the bytes around it. Models explain tags and tokens,
//! and quote tags while they think. With tokens, the decision is exact; these rules are for hosts without tokens.

use super::bytes::is_blank;

/// The last byte of the text since the last marker, or a line break if there is no such text. For a character of several bytes, only
/// two facts are kept: whether it is an opening quote or bracket, which counts as `(`, and whether it is a letter of a script without
/// blanks.
pub type Before = u8;

/// A Chinese, Japanese or Korean letter.
const WIDE: Before = 0xFF;
/// Another character of several bytes.
const OTHER: Before = 0x80;

/// The beginning of a line.
pub const LINE: Before = b'\n';

/// Returns whether the byte is a blank within a line.
pub fn is_space(byte: u8) -> bool {
    is_blank(byte) && !is_line_end(byte)
}

/// Returns whether the byte ends a line.
pub fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns whether the byte is a mark around quoted or emphasised words.
pub fn is_mark(byte: u8) -> bool {
    is_quote(byte) || is_emphasis(byte)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn is_emphasis(byte: u8) -> bool {
    matches!(byte, b'*' | b'_')
}

/// Returns whether these bytes are a tag without blanks and attributes that begins with `front`: `<` or `</`.
pub fn is_word_tag(front: &[u8], tag: impl IntoIterator<Item = u8>) -> bool {
    let mut tag = tag.into_iter();
    let has_front = front.iter().all(|byte| tag.next() == Some(*byte));
    let first = tag.next();
    let mut rest = tag.skip_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'));
    has_front
        && first.is_some_and(|first| first.is_ascii_alphabetic())
        && rest.next() == Some(b'>')
        && rest.next().is_none()
}

/// Returns the context at the end of this text, if `before` was the context at its beginning.
#[inline(always)]
pub fn after(before: Before, text: &[u8]) -> Before {
    match text {
        [.., last] if last.is_ascii() => *last,
        [.., _] => after_character(text),
        [] => before,
    }
}

/// Returns the context after a character of several bytes.
#[inline(never)]
fn after_character(text: &[u8]) -> Before {
    match text {
        // “ ‘ „ ‚ ‹
        [.., 0xE2, 0x80, 0x9C | 0x98 | 0x9E | 0x9A | 0xB9]
        // 「 『 【 《 〈
        | [.., 0xE3, 0x80, 0x8C | 0x8E | 0x90 | 0x8A | 0x88]
        // （ «
        | [.., 0xEF, 0xBC, 0x88] | [.., 0xC2, 0xAB] => b'(',
        // Kana, ideographs, Hangul.
        [.., 0xE3, 0x81..=0xBF, 0x80..=0xBF]
        | [.., 0xE4..=0xEC, 0x80..=0xBF, 0x80..=0xBF]
        | [.., 0xED, 0x80..=0x9F, 0x80..=0xBF] => WIDE,
        _ => OTHER,
    }
}

/// Returns whether an opener after `before` may only be mentioned, so that the byte after the opener decides.
pub fn may_be_prose(before: Before) -> bool {
    may_be_in_sentence(before) || is_opening(before) || is_emphasis(before)
}

/// Returns whether a word of a sentence may follow `before`.
pub fn may_be_in_sentence(before: Before) -> bool {
    is_space(before) || before == WIDE
}

fn is_opening(before: Before) -> bool {
    is_quote(before) || matches!(before, b'(' | b'[' | b'{')
}

/// Returns whether this is the first byte of a Korean syllable. Korean writes its particles directly after a word.
fn is_korean(byte: u8) -> bool {
    matches!(byte, 0xEA..=0xED)
}

/// Returns whether the text only mentions an opener, according to the bytes before and after it.
pub fn is_prose(before: Before, next: u8) -> bool {
    let ends_word = is_space(next)
        || is_quote(next)
        || matches!(
            next,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'.' | b',' | b';' | b':' | b'!' | b'?' | b'-' | b'/'
        );
    // The first byte of a letter or of punctuation.
    let is_wide = matches!(next, 0xE3..=0xED | 0xEF);
    is_space(before) && (ends_word || is_korean(next))
        || before == WIDE && is_wide
        || is_opening(before) && !is_line_end(next)
        || is_emphasis(before) && next == before
}

/// Returns whether the text only mentions an opener that is a token, as `is_prose` does for a tag. After a blank, the token is
/// only mentioned if a quote mark follows, or the sentence continues. Returns `None` if more text is needed.
pub fn is_token_in_prose(before: Before, next: &[u8], at_end: bool) -> Option<bool> {
    match next {
        [next, ..] if is_quote(*next) || is_space(before) && is_korean(*next) => Some(true),
        _ if is_space(before) => is_in_sentence(next, at_end),
        [next, ..] => Some(is_prose(before, *next)),
        [] => at_end.then_some(false),
    }
}

/// Returns whether a marker that begins with this byte is a token and not a word.
pub fn begins_token(byte: u8) -> bool {
    matches!(byte, b'<' | b'[') || !byte.is_ascii()
}

/// Returns whether a sentence continues after a closer: punctuation, or a blank and a letter, follows. Returns `None` if more
/// text is needed.
pub fn continues_sentence(next: &[u8], at_end: bool) -> Option<bool> {
    match next {
        [b'.' | b',' | b';' | b':' | b'!' | b'?' | b')' | b']' | b'}', ..] => Some(true),
        [blank, ..] if !is_space(*blank) => Some(false),
        [_, letter, ..] => Some(letter.is_ascii_alphabetic()),
        _ => at_end.then_some(false),
    }
}

/// Returns whether the text only mentions a token: punctuation, or a space and a letter, follows. Returns `None` if more text is
/// needed.
pub fn is_in_sentence(next: &[u8], at_end: bool) -> Option<bool> {
    match next {
        [b'.' | b',' | b';' | b':' | b')', ..] => Some(true),
        [space, ..] if *space != b' ' => Some(false),
        [_, letter, ..] => Some(letter.is_ascii_alphabetic() || !letter.is_ascii()),
        _ => at_end.then_some(false),
    }
}

/// Returns whether the text quotes a closer after `before`: it is between two equal marks, and no letter or digit follows the
/// second mark, which would then begin a quotation in the answer. Returns `None` if more text is needed.
pub fn is_quoted(before: Before, next: &[u8], at_end: bool) -> Option<bool> {
    match next {
        [mark, _, ..] | [mark] if *mark != before => Some(false),
        [_, then, ..] => Some(!then.is_ascii_alphanumeric()),
        [_] => at_end.then_some(true),
        [] => at_end.then_some(false),
    }
}
