//! Finds bytes that do not change the state of a body: most bytes of a string, a value, an element's text, text outside calls,
//! or a held word. A short chunk of such bytes, and any chunk in a string, is fed without a step. First a short chunk is searched
//! for bytes that might change the state; any such bytes are then examined. Every byte that might change the state must be listed in
//! this file. No function of this file can panic.

use memchr::memchr2;

use super::state::{Body, ElementContent, LiteralState, Piece, Role, State};
use crate::{
    calls::table::{BodyRule, CDATA_END, CallTable, CallTables, MOST_OF_WORD, TagsRule},
    matcher::bytes::{ByteSet, insert},
    utf8::{incomplete_tail, is_continuation},
};

/// The maximum number of bytes that are searched one by one.
const FEW: usize = 16;

/// A context in which most bytes do not change the state.
#[derive(Clone, Copy, PartialEq)]
pub enum Context {
    /// A string in `"`, outside escapes.
    Quotes,
    /// A string in `'`, outside escapes.
    SingleQuotes,
    RawQuotes,
    /// A value between tags.
    Value,
    /// The text of an element, once it is not blank.
    Element,
    /// Text outside calls.
    Opaque,
    /// A key between tags.
    Key,
}

impl Context {
    pub const ALL: [Context; 7] = [
        Context::Quotes,
        Context::SingleQuotes,
        Context::RawQuotes,
        Context::Value,
        Context::Element,
        Context::Opaque,
        Context::Key,
    ];

    /// Returns the ASCII bytes that do not change the state in this context. `may_end` has the bytes that may begin a closer.
    pub fn self_loop(self, tables: &CallTables, table: &CallTable, may_end: impl Fn(u8) -> bool) -> ByteSet {
        let first = |literal: &[u8], byte: u8| literal.first() == Some(&byte);
        let decides = |byte: u8| match (self, &table.body) {
            (Context::Quotes, _) => matches!(byte, b'"' | b'\\'),
            (Context::SingleQuotes, _) => matches!(byte, b'\'' | b'\\'),
            (Context::RawQuotes, BodyRule::Literal(rule)) => first(&rule.raw_quote, byte),
            (Context::Value, BodyRule::Tags(rule)) => {
                may_end_value(rule, &[byte]) || rule.has_cdata && first(CDATA_END, byte)
            }
            (Context::Element, BodyRule::Tags(rule)) => rule.nested.iter().any(|mark| first(mark, byte)),
            (Context::Opaque, _) => may_end(byte) || tables.begins.iter().any(|begin| first(begin, byte)),
            (Context::Key, BodyRule::Tags(rule)) => first(&rule.key[1], byte),
            _ => true,
        };
        let mut self_loop = [0; 4];
        (0..0x80).filter(|&byte| !decides(byte)).for_each(|byte| insert(&mut self_loop, byte));
        self_loop
    }
}

/// Returns whether the text begins with `literal` and `then`, or could be the beginning of both.
fn is_beginning(text: &[u8], literal: &[u8], then: &[u8]) -> bool {
    !literal.is_empty() && text.iter().zip(literal.iter().chain(then)).all(|(byte, of)| byte == of)
}

/// Returns whether a text may begin with the end of a value, or with framing before it.
fn may_end_value(rule: &TagsRule, text: &[u8]) -> bool {
    let begins_with = |end: &[u8]| {
        is_beginning(text, end, b"") || is_beginning(text, b"\n", end) || is_beginning(text, &rule.before_close, end)
    };
    rule.ends.iter().any(|end| begins_with(end))
}

/// Returns whether a string continues after a chunk; if so, it notes whether an escape is open.
fn keeps_string(quote: u8, is_escaped: &mut bool, chunk: &[u8]) -> bool {
    // For few bytes, the call would cost more than it saves.
    let find = |text: &[u8]| match text.len() {
        ..=FEW => text.iter().position(|&byte| byte == quote || byte == b'\\'),
        _ => memchr2(quote, b'\\', text),
    };
    let mut at = usize::from(*is_escaped);
    while let Some(found) = chunk.get(at..).and_then(find) {
        at += found;
        if chunk.get(at) == Some(&quote) {
            return false;
        }
        // The byte after a backslash does not end the string.
        at += 2;
    }
    *is_escaped = at > chunk.len();
    true
}

/// A self-loop: bytes that do not change the state of a body at its position.
#[derive(Clone, Copy)]
pub struct SelfLoop {
    pub context: Context,
    /// The role of the bytes; `None` if they are held.
    pub piece: Option<Piece>,
}

impl Body {
    /// Returns the self-loop at the body's position, with this many held bytes.
    pub fn self_loop(&self, held: usize) -> Option<SelfLoop> {
        let is_short = held > 0 && held < MOST_OF_WORD / 2;
        let (context, piece) = match self.state {
            State::Json { .. } if !self.json.is_text() => return None,
            State::Json { role: Role::Arguments } => (Context::Quotes, Piece::Value),
            State::Json { .. } | State::OtherKey { .. } => (Context::Quotes, Piece::Framing),
            State::Literal { state: LiteralState::Text { quote: b'"', .. } } => (Context::Quotes, Piece::Value),
            State::Literal { state: LiteralState::Text { .. } } => (Context::SingleQuotes, Piece::Value),
            State::Literal { state: LiteralState::Raw } => (Context::RawQuotes, Piece::Value),
            // With `is_line`, any byte changes the state, since no line begins after it.
            State::ValueText { is_line: false, .. } | State::CData => (Context::Value, Piece::Value),
            State::Element { content: ElementContent::Text } => (Context::Element, Piece::Value),
            State::Opaque { is_new: false } => (Context::Opaque, Piece::Text),
            // A short held word: only its closing literal ends it.
            State::TagKey if is_short => return Some(SelfLoop { context: Context::Key, piece: None }),
            State::MemberValue { role: Role::Name | Role::Id } if is_short => {
                return Some(SelfLoop { context: Context::Quotes, piece: None });
            }
            _ => return None,
        };
        (held == 0).then_some(SelfLoop { context, piece: Some(piece) })
    }

    /// Returns whether the next byte of a string is escaped, so that any byte changes the state.
    pub fn is_escaped(&self) -> bool {
        match self.state {
            State::Json { .. } => self.json.is_text() && !self.json.is_in_text(),
            State::OtherKey { is_escaped } | State::Literal { state: LiteralState::Text { is_escaped, .. } } => {
                is_escaped
            }
            _ => false,
        }
    }

    /// Reads a chunk that may have bytes that might change the state (`decides`), if none of these bytes does. Returns false, and
    /// reads nothing, if the state may change.
    pub fn pass(&mut self, table: &CallTable, chunk: &[u8], decides: impl Fn(u8) -> bool) -> bool {
        if incomplete_tail(chunk) > 0 {
            return false;
        }
        // The rest of the chunk, from each byte on that might change the state. A literal never begins inside a character.
        let may_begin = |byte: u8| decides(byte) && !is_continuation(byte);
        let tails = (0..chunk.len()).filter_map(|at| chunk.get(at..));
        let mut tails = tails.filter(|tail| tail.first().is_some_and(|&byte| may_begin(byte)));
        match (&mut self.state, &table.body) {
            (State::Json { .. }, _) => self.json.is_escaped().is_some_and(|it| keeps_string(b'"', it, chunk)),
            (State::OtherKey { is_escaped }, _) => keeps_string(b'"', is_escaped, chunk),
            (State::Literal { state: LiteralState::Text { quote, is_escaped } }, _) => {
                keeps_string(*quote, is_escaped, chunk)
            }
            (State::Literal { state: LiteralState::Raw }, BodyRule::Literal(rule)) => {
                !tails.any(|tail| is_beginning(tail, &rule.raw_quote, b""))
            }
            (State::ValueText { .. }, BodyRule::Tags(rule)) => !tails.any(|tail| may_end_value(rule, tail)),
            (State::CData, BodyRule::Tags(rule)) => !tails.any(|tail| is_beginning(tail, CDATA_END, &rule.value[1])),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::keeps_string;

    #[test]
    fn a_string_ends_at_the_first_quote_that_is_not_escaped() {
        let mut chunks = vec![Vec::new()];
        for len in 0..6 {
            let longer = chunks.iter().filter(|chunk| chunk.len() == len).flat_map(|chunk| {
                [b'a', b'"', b'\\'].map(|byte| chunk.iter().copied().chain([byte]).collect::<Vec<u8>>())
            });
            chunks.extend(longer.collect::<Vec<_>>());
        }
        // With the bytes before it, a chunk is longer than `FEW`, or as long.
        let long = |chunk: &Vec<u8>| [&b"\\\"aaaaaaaaaaa"[..], chunk].concat();
        for chunk in chunks.iter().cloned().chain(chunks.iter().map(long)) {
            for was_escaped in [false, true] {
                let step = |is_escaped: bool, &byte: &u8| match byte {
                    b'"' if !is_escaped => None,
                    _ => Some(byte == b'\\' && !is_escaped),
                };
                let wanted = chunk.iter().try_fold(was_escaped, step);
                let mut is_escaped = was_escaped;
                let keeps = keeps_string(b'"', &mut is_escaped, &chunk);
                assert_eq!(
                    keeps.then_some(is_escaped),
                    wanted,
                    "{:?}, {was_escaped}",
                    chunk.escape_ascii().to_string()
                );
            }
        }
    }
}
